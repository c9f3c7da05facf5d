"""Gathers the chapter's values from the subject."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .citations import citations_of, used
from .paragraph import paragraph_of
from .provenance import commands_of, hashes_of, notes_of, seeds_of, versions_of
from .raw import raw_runs
from .result import Paper

if TYPE_CHECKING:
    from ..subject import Subject

__all__ = ["gather"]


def gather(subject: Subject) -> Paper:
    """Give the chapter; what is the same for all metrics stands with the first only."""
    first = not subject.prefix
    cited = citations_of(used(subject)) if first else ()
    return Paper(
        anchor=subject.anchor("paper"),
        title="For a paper" if first else f"For a paper: {subject.verdict.metric}",
        paragraph=paragraph_of(subject, {one.key: k for k, one in enumerate(cited, 1)}),
        citations=cited,
        commands=commands_of(subject),
        notes=notes_of(subject) if first else (),
        seeds=seeds_of(subject) if first else (),
        versions=versions_of(subject) if first else (),
        hashes=hashes_of(subject) if first else (),
        raw=raw_runs(subject),
    )
