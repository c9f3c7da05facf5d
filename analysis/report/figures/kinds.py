"""The kinds of figures: what each shows, and where it is drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ...registry import load
from ...words import shown

if TYPE_CHECKING:
    from ...methods.resampling.biplot import Biplot
    from ...plots.chart import Sheet
    from ..subject import Subject
    from .panels import Drawing

__all__ = ["KINDS", "Kind", "draw", "draw_table", "kind_of"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind.

    `module` has its function ``draw_KIND``; `shows` says in a few words what; `each` whether it shows
    one benchmark, which is to be named where there are several.
    """

    module: str
    shows: str
    each: bool = False


_SUITE = {
    "forest": Kind("analysis.report.figures.ranking", "speedups with their intervals, session values and margin"),
    "ranks": Kind("analysis.report.figures.ranking", "variants by rank, with bars that join what is not told apart"),
    "curve": Kind("analysis.report.figures.suite", "HPT's reliability for each speedup under test"),
    "box": Kind("analysis.report.figures.suite", "five numbers of each benchmark and variant"),
    "biplot": Kind("analysis.report.figures.suite", "which systems are alike, and which benchmarks tell them apart"),
    "shares": Kind("analysis.report.figures.suite", "the share of the variance that each component of the biplot explains"),
    "means": Kind("analysis.report.figures.normality", "densities of means of ever larger samples, from 10 to 280 runs"),
    "cd": Kind("analysis.report.figures.ranking", "Friedman's mean ranks, their critical difference, its false alarms"),
}  # fmt: skip
_EACH = {
    "strip": Kind("analysis.report.figures.panels", "every run of a benchmark as a dot, a line for each session"),
    "order": Kind("analysis.report.figures.panels", "the runs of a benchmark in their order, session by session"),
    "ecdf": Kind("analysis.report.figures.distributions", "the share of runs done by a time"),
    "shift": Kind("analysis.report.figures.distributions", "the speedup at each decile of the runs"),
    "iterations": Kind("analysis.report.figures.iterations", "all iterations of each run, and which of them are judged"),
    "lag": Kind("analysis.report.figures.distributions", "each run against the run before"),
    "density": Kind("analysis.report.figures.normality", "a kernel density of the runs against the fitted normal law"),
    "qq": Kind("analysis.report.figures.distributions", "the runs against a normal law"),
    "modes": Kind("analysis.report.figures.distributions", "a mixture of normal laws over the histogram of the runs"),
    "causes": Kind(
        "analysis.report.figures.distributions", "the runs by mode: in their order, and against what separates the modes"
    ),
}  # fmt: skip
KINDS = _SUITE | {name: replace(kind, each=True) for name, kind in _EACH.items()}


def kind_of(name: str) -> Kind:
    """Look a kind up.

    Raises
    ------
    UsageError
        If there is none of that name.
    """
    if name not in KINDS:
        raise UsageError(
            f"there is no kind of figure {name!r}", fix=f"take one of {', '.join(KINDS)}"
        )
    return KINDS[name]


def draw(name: str, subject: Subject, sheet: Sheet, *, benchmark: str | None = None) -> Drawing:
    """Draw one figure.

    Parameters
    ----------
    name : str
        The kind.
    subject : Subject
        What was judged.
    sheet : Sheet
        Its width and letters.
    benchmark : str, optional
        Of a kind that shows one; not needed where there is only one.

    Raises
    ------
    UsageError
        If the kind or the benchmark is unknown, or a benchmark is to be named.
    AnalysisError
        If these sources have nothing that the kind shows.
    """
    kind = kind_of(name)
    function: Any = getattr(load(kind.module), f"draw_{name}")
    named: tuple[str, ...] = (_benchmark(name, subject, benchmark),) if kind.each else ()
    drawing: Drawing = function(subject, sheet, *named)
    return replace(drawing, title=shown(drawing.title), alt=shown(drawing.alt))


def draw_table(found: Biplot, sheet: Sheet, kind: str = "biplot") -> Drawing:
    """Draw a biplot, or its shares, of systems that were read without a verdict, such as a table of medians."""
    from .suite import drawing_of, shares_of

    drawing = (drawing_of if kind == "biplot" else shares_of)(found, sheet, kind)
    return replace(drawing, alt=shown(drawing.alt))


def _benchmark(kind: str, subject: Subject, benchmark: str | None) -> str:
    known = ", ".join(subject.order)
    if benchmark is None:
        if len(subject.order) == 1:
            return subject.order[0]
        raise UsageError(
            f"a figure of kind {kind} shows one benchmark, and there are {len(subject.order)}",
            fix=f"add --benchmark with one of {known}",
        )
    if benchmark not in subject.order:
        raise UsageError(f"there is no benchmark {benchmark!r}", fix=f"known here: {known}")
    return benchmark
