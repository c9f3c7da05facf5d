"""Puts a report together: every chapter takes what it says from the subject."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..announcing import doing
from ..pages.model import merged
from ..registry import CHAPTERS, load
from ..verdict.cautions import host_cautions_in, shown_cautions
from .brief import brief_of
from .model import Report

if TYPE_CHECKING:
    from ..pages.model import Caution
    from ..verdict.result import Verdict
    from .chapter import Chapter
    from .subject import Subject

__all__ = ["assemble"]

_ASKED = "variation"  # what takes its time, and is there when it is asked for


def assemble(subjects: Sequence[Subject], *, sources: bool = False) -> Report:
    """Ask all chapters.

    Parameters
    ----------
    subjects : sequence of Subject
        One for each metric of the same sources.
    sources : bool
        Whether the sources of variation are among them.

    Raises
    ------
    UsageError
        If these were asked for, and the report is not on one trial.
    """
    first = subjects[0]
    names = [name for name in CHAPTERS if sources or name != _ASKED]
    chapters = tuple(chapter for subject in subjects for chapter in _chapters(subject, names))
    return Report(
        title=first.title,
        headline=next((one.headline for one in chapters if one.headline), first.title),
        metrics=tuple(subject.verdict.metric for subject in subjects),
        briefs=tuple(map(brief_of, subjects)),
        chapters=chapters,
        names=tuple(dict.fromkeys(name for subject in subjects for name in _names(subject))),
        cautions=merged(*(subject.verdict.cautions for subject in subjects)),
        shown=merged(*(_first(subject.verdict) for subject in subjects)),
    )


def _first(verdict: Verdict) -> tuple[Caution, ...]:
    return (*host_cautions_in(verdict.cautions), *shown_cautions(verdict).cautions)


def _names(subject: Subject) -> Iterator[str]:
    yield subject.baseline
    yield from (one.variant for one in subject.candidates)
    yield from subject.order


def _chapters(subject: Subject, names: Sequence[str]) -> Iterator[Chapter]:
    """Ask each chapter in turn; one that has nothing to say of these sources gives None.

    What belongs to the trial and not to a metric stands on the page once, with the first.
    """
    for number, name in enumerate(names, 1):
        doing(f"writing the report: {name} ({number} of {len(names)})")
        room = load(CHAPTERS[name])
        if subject.prefix and not getattr(room, "EACH_METRIC", True):
            continue
        found: Chapter | None = room.chapter(subject)
        if found is not None:
            yield found
