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


_HERE = "analysis.report.figures"
_SUITE = {
    "forest": "speedups with their intervals, session values and margin",
    "curve": "HPT's reliability for each speedup under test",
    "box": "five numbers of each benchmark and variant",
    "biplot": "which systems are alike, and which benchmarks tell them apart",
    "shares": "the share of the variance that each component of the biplot explains",
    "means": "densities of means of ever larger samples, from 10 to 280 runs",
}
_RUNS = {
    "strip": "every run of a benchmark as a dot, a line for each session",
    "ecdf": "the share of runs done by a time",
    "shift": "the speedup at each decile of the runs",
    "density": "a kernel density of the runs against the fitted normal law",
    "qq": "the runs against a normal law",
    "modes": "a mixture of normal laws over the histogram of the runs",
}
_ITERATIONS = "all iterations of each run, and which of them are judged"
KINDS = {
    **{name: Kind(f"{_HERE}.suite", shows) for name, shows in _SUITE.items()},
    **{name: Kind(f"{_HERE}.runs", shows, each=True) for name, shows in _RUNS.items()},
    "iterations": Kind(f"{_HERE}.iterations", _ITERATIONS, each=True),
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
    kind = kind_of(name)
    function: Any = getattr(load(kind.module), f"draw_{name}")
    named: tuple[str, ...] = (_benchmark(name, subject, benchmark),) if kind.each else ()
    drawing: Drawing = function(subject, sheet, *named)
    title = ": ".join((*named, kind.shows))
    return replace(
        drawing, name=subject.anchor(name, *named), title=shown(title), alt=shown(drawing.alt)
    )


def draw_table(found: Biplot, sheet: Sheet, kind: str = "biplot") -> Drawing:
    """Draw a biplot, or its shares, of systems that were read without a verdict, such as a table of medians."""
    from .suite import biplot_of, shares_of

    drawing = (biplot_of if kind == "biplot" else shares_of)(found, sheet)
    return replace(drawing, name=kind, title=KINDS[kind].shows, alt=shown(drawing.alt))


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
