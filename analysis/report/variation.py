"""Where the variation of one trial comes from: what `fairtrial sources` says, as a chapter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..data.fleet import open_fleet, trials_apart
from ..diagnose.modes import sources
from ..errors import InsufficientDataError, UsageError
from ..pages.model import Block, CommandLine, Section, Table, merged, page_of, section
from ..record.fleet import is_fleet
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
    asked = [] if confidence == _USUAL else ["--confidence", f"{confidence:g}"]
    return chapter_of(
        replace(found, cautions=merged(told, found.cautions)),
        subject.anchor("variation"),
        subject.command("sources", *asked, of=[str(trial.path)]),
    )


def chapter_of(found: Sources, anchor: str, command: str) -> Chapter:
    """Set the sources as a chapter; `command` gives them alone."""
    page = page_of(found)

    def own(block: Block) -> Block:
        """Name a table so that those of two metrics differ."""
        if isinstance(block, Section):
            return replace(block, blocks=tuple(map(own, block.blocks)))
        return replace(block, name=f"{anchor}-{block.name}") if isinstance(block, Table) else block

    def sections() -> tuple[Section, ...]:
        doubts = section(*(one.text for one in page.cautions), title="What this cannot show")
        return (
            *(replace(one, blocks=tuple(map(own, one.blocks))) for one in page.sections),
            *((doubts,) if page.cautions else ()),
            section(CommandLine(command), title="The same alone"),
        )

    return Chapter(
        name="variation", anchor=anchor, title="Where the variation comes from", sections=sections
    )
