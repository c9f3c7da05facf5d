"""The kinds of figures: what each shows, and where it is drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ...registry import load
from ...words import shown

if TYPE_CHECKING:
    from ...methods.biplot.fit import Biplot
    from ...plots.drawing import Sheet
    from ..subject import Subject
    from .result import Drawing

__all__ = ["KINDS", "Kind", "draw", "draw_table", "kind_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind.

    Attributes
    ----------
    module : str
        What draws it, with a function ``draw_KIND``.
    each : bool
        Whether it shows one benchmark, which is to be named where there are several.
    shows : str
        In a few words.
    """

    module: str
    each: bool
    shows: str


_SUITE = {
    "forest": (
        "analysis.report.figures.forest",
        "speedups with their intervals, session values and margin",
    ),
    "ranks": (
        "analysis.report.figures.ranking",
        "variants by rank, with bars that join what is not told apart",
    ),
    "curve": (
        "analysis.report.figures.reliability",
        "HPT's reliability for each speedup under test",
    ),
    "box": ("analysis.report.figures.suite", "five numbers of each benchmark and variant"),
    "biplot": (
        "analysis.report.figures.suite",
        "which systems are alike, and which benchmarks tell them apart",
    ),
    "cd": (
        "analysis.report.figures.ranking",
        "Friedman's mean ranks, their critical difference, its false alarms",
    ),
}
_EACH = {
    "strip": (
        "analysis.report.figures.runs",
        "every run of a benchmark as a dot, a line for each session",
    ),
    "order": (
        "analysis.report.figures.order",
        "the runs of a benchmark in their order, session by session",
    ),
    "ecdf": ("analysis.report.figures.distributions", "the share of runs done by a time"),
    "shift": ("analysis.report.figures.distributions", "the speedup at each decile of the runs"),
    "lag": ("analysis.report.figures.dependence", "each run against the run before"),
    "qq": ("analysis.report.figures.dependence", "the runs against a normal law"),
    "modes": (
        "analysis.report.figures.modes",
        "a mixture of normal laws over the histogram of the runs",
    ),
    "causes": (
        "analysis.report.figures.causes",
        "the runs by mode: in their order, and against what separates the modes",
    ),
}
KINDS: dict[str, Kind] = {
    **{
        name: Kind(module=module, each=False, shows=shows)
        for name, (module, shows) in _SUITE.items()
    },
    **{
        name: Kind(module=module, each=True, shows=shows) for name, (module, shows) in _EACH.items()
    },
}


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
    from ...plots.drawing import look
    from ...plots.paper import thin_ticks

    kind = kind_of(name)
    function: Any = getattr(load(kind.module), f"draw_{name}")
    named: tuple[str, ...] = (_benchmark(name, subject, benchmark),) if kind.each else ()
    with look(sheet):
        drawing: Drawing = function(subject, sheet, *named)
        thin_ticks(drawing.figure)
    return replace(drawing, title=shown(drawing.title), alt=shown(drawing.alt))


def draw_table(found: Biplot, sheet: Sheet) -> Drawing:
    """Draw a biplot of systems that were read without a verdict, such as a table of medians."""
    from ...plots.drawing import look
    from ...plots.paper import thin_ticks
    from .suite import drawing_of

    with look(sheet):
        drawing = drawing_of(found, sheet, "biplot")
        thin_ticks(drawing.figure)
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
