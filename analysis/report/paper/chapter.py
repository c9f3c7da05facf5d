"""For a paper, and for whoever repeats the work: the method in words, commands, hashes, the runs themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ...pages.model import CommandLine, Section, Sentence, Table, columns_of
from ...words import shown
from ..chapter import Chapter
from ..spoken import spoken_text
from .paragraph import citations_of, paragraph_of, works_used
from .provenance import commands_of, facts_of, notes_of, raw_runs

if TYPE_CHECKING:
    from ..subject import Subject

__all__ = ["chapter", "embedded"]

_UNSAFE = re.compile("[<>&]")
_FILE = re.compile(r"[^A-Za-z0-9_.-]+")
_KINDS = {"seeds": "seed", "versions": "version", "hashes": "SHA-256"}


def chapter(subject: Subject) -> Chapter:
    """Give the chapter; what is the same for all metrics stands with the first only."""
    first, metric = not subject.prefix, subject.verdict.metric
    anchor = subject.anchor("paper")
    cited = citations_of(works_used(subject)) if first else []
    values: dict[str, Any] = {
        "paragraph": paragraph_of(subject, {one["key"]: k for k, one in enumerate(cited, 1)}),
        "citations": cited,
        "commands": commands_of(subject),
        "notes": list(notes_of(subject)) if first else [],
        **(facts_of(subject) if first else {kind: [] for kind in _KINDS}),
        "raw": raw_runs(subject),
    }
    return Chapter(
        name="paper",
        folder="paper",
        anchor=anchor,
        title="For a paper" if first else f"For a paper: {metric}",
        values=values,
        sections=lambda: tuple(_sections(values)),
        drawn=lambda: {
            "raw_id": f"{anchor}-values",
            "file": f"{_FILE.sub('-', metric)}-runs.json",
            "embedded": embedded(values["raw"]),
        },
    )


def embedded(data: Mapping[str, Any]) -> Markup:
    """Write JSON that can stand in a ``script`` element: nothing in it ends that element.

    Every ``<``, ``>`` and ``&`` is written by its number, and so is what is not ASCII.
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return Markup(_UNSAFE.sub(lambda sign: f"\\u{ord(sign.group()):04x}", text))  # noqa: S704 - no markup is left


def _sections(values: Mapping[str, Any]) -> Iterator[Section]:
    yield Section((Sentence(spoken_text(values["paragraph"])),), "Method")
    again = (CommandLine(shown(line)) for line in values["commands"])
    yield Section((*again, *map(Sentence, values["notes"])), "To do it again")
    rows = tuple(
        (kind, shown(fact["name"]), "unknown" if fact["text"] is None else shown(fact["text"]))
        for key, kind in _KINDS.items()
        for fact in values[key]
    )
    if rows:
        table = Table(name="provenance", columns=columns_of("<kind", "<of", "<value"), rows=rows)
        yield Section((table,), "Seeds, versions, hashes")
    if cited := values["citations"]:
        lines = (Sentence(f"[{k}] {one['text']}") for k, one in enumerate(cited, 1))
        yield Section(tuple(lines), "To cite")
