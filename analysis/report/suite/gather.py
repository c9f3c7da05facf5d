"""Gathers the chapter's values from the subject."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from ...pages.number_format import said
from ...verdict.ranking import RANKS_ALARM
from ..spoken import Span
from .boxes import columns_of
from .plane import plane_of
from .ranks import ranks_of
from .result import Suite

if TYPE_CHECKING:
    from ..subject import Subject

__all__ = ["gather"]


def gather(subject: Subject) -> Suite | None:
    """Give the chapter; None where there is one benchmark only, or none with boxes."""
    columns = columns_of(subject)
    if not columns or max(len(one.rows) for one in columns) < 2:
        return None
    timed = all(one.multilevel is None or one.multilevel.timed for one in subject.candidates)
    better, worse = said("faster", timed=timed), said("slower", timed=timed)
    many = len(subject.matrices) > 2
    plane, ranks = (plane_of(subject), ranks_of(subject)) if subject.candidates else ("", "")
    missing = [text for text in (plane, ranks) if isinstance(text, str) and text]
    if not many and missing:
        missing = ["A biplot and a ranking need three variants or more."]
    ranked = not isinstance(ranks, str)
    return Suite(
        anchor=subject.anchor("suite"),
        title="The suite as a whole",
        baseline=subject.baseline,
        margin=subject.verdict.margin,
        better=better,
        worse=worse,
        reading=_reading(subject, better=better, worse=worse),
        boxes=columns,
        left_out=_left_out(subject),
        plane=None if isinstance(plane, str) else plane,
        ranks=None if isinstance(ranks, str) else ranks,
        missing=tuple(missing),
        friedman=f"A critical-difference diagram is drawn on request only. {RANKS_ALARM}."
        if ranked
        else "",
        commands=_commands(subject) if ranked else (),
    )


def _reading(subject: Subject, *, better: str, worse: str) -> tuple[Span, ...]:
    ends = "fastest and the slowest" if better == "faster" else "best and the worst"
    rest = (
        f", right is {better} and left is {worse}. A box holds the middle half of a benchmark's runs, "
        f"the line in it is their median, and the whiskers end at the {ends} run; one without an end "
        "goes on beyond the scale."
    )
    if not subject.candidates:
        return (Span(f"Runs as ratios to their benchmark's median{rest}"),)
    base = Span(subject.baseline, foreign=True)
    grey = (Span(" Grey: "), base, Span(" itself."))
    return (Span("Runs as ratios to the median of "), base, Span(rest), *grey)


def _left_out(subject: Subject) -> tuple[str, ...]:
    """Name the benchmarks of which runs are 0: they have no ratio."""
    zeros = {
        bench
        for matrix in subject.matrices.values()
        if matrix.with_zeros is not None
        for bench in matrix.with_zeros.benchmarks
    }
    return tuple(bench for bench in subject.order if bench in zeros)


def _commands(subject: Subject) -> tuple[str, ...]:
    source = subject.sources[0]
    metric = [] if subject.verdict.usual else ["--metric", subject.verdict.metric]
    return tuple(
        shlex.join([*words, *metric])
        for words in (
            ("fairtrial", "verdict", source, "--rank"),
            ("fairtrial", "plot", "cd", source, "-o", "cd.svg"),
        )
    )
