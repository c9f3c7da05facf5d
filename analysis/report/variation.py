"""Where the variation of one trial comes from: what `fairtrial sources` says, as a chapter."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ..data.fleet import open_fleet, trials_apart
from ..diagnose.modes import sources
from ..errors import InsufficientDataError, UsageError
from ..pages.model import Block, CommandLine, Figure, Section, Sentence, Table, merged, page_of
from ..record.fleet import is_fleet
from ..record.manifest import asked_words
from ..stats.arguments import stream
from .page import Chapter

if TYPE_CHECKING:
    from ..methods.variance_sources.result import Sources
    from .subject import Subject

__all__ = ["chapter", "chapter_of"]

_SEED = 0  # that of the command, which gives the same numbers
_USUAL = 0.95


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None where there are too few runs for it.

    Raises
    ------
    UsageError
        If the report is not on one trial or fleet.
    """
    trial = subject.trial
    if trial is None:
        raise UsageError(
            "the sources of variation are those of one trial",
            " ".join(subject.sources),
            "leave out --sources, or name one trial: fairtrial sources takes several",
        )
    # the trial of a fleet takes each host as one session; the sources of variation have both
    fleet = is_fleet(trial.path)
    trials, told = trials_apart(open_fleet(trial.path)) if fleet else ((trial,), ())
    metric, confidence = subject.verdict.metric, subject.verdict.confidence
    try:
        found = sources(
            trials,
            metric=metric,
            confidence=confidence,
            rng=stream(_SEED, "sources"),
            seed=_SEED,
        )
    except InsufficientDataError:
        return None
    options = [] if subject.verdict.usual else ["--metric", metric]
    options += asked_words()
    options += [] if confidence == _USUAL else ["--confidence", f"{confidence:g}"]
    return chapter_of(
        replace(found, cautions=merged(told, found.cautions)),
        subject.anchor("variation"),
        shlex.join(["fairtrial", "sources", str(trial.path), *options]),
    )


def chapter_of(found: Sources, anchor: str, command: str) -> Chapter:
    """Set the sources as a chapter; `command` gives them alone."""

    def sections() -> tuple[Section, ...]:
        page = page_of(found)
        doubts = tuple(Sentence(caution.text) for caution in page.cautions)
        return (
            *(Section(tuple(_blocks(one, anchor)), one.title) for one in page.sections),
            *((Section(doubts, "What this cannot show"),) if doubts else ()),
            Section((CommandLine(command),), "The same alone"),
        )

    return Chapter(
        name="variation",
        folder="variation",
        anchor=anchor,
        title="Where the variation comes from",
        values={"found": found, "command": command},
        sections=sections,
        drawn=lambda: {"sections": sections()},
    )


def _blocks(section: Section, anchor: str) -> Iterator[Block]:
    """Give a section's blocks, pictures in words; two metrics may have a table of one name."""
    for block in section.blocks:
        if isinstance(block, Table):
            yield replace(block, name=f"{anchor}-{block.name}")
        elif isinstance(block, Figure):
            yield Sentence(block.alt)
        elif isinstance(block, Section):
            yield from (Sentence(block.title),) if block.title else ()
            yield from _blocks(block, anchor)
        else:
            yield block
