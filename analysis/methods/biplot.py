"""Biplot of systems x benchmarks: principal components, scores, loadings and correlations.

[1]_, section 11: the principal components of the table of medians, with the systems' scores as
points and the benchmarks' loadings as arrows in one picture. The paper takes the covariance matrix
of the values as they are, in which the slowest benchmark weighs most; logarithms are the default
here, so that equal ratios weigh equally.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, section 11.
.. [2] K. R. Gabriel, "The biplot graphic display of matrices with application to principal
   component analysis", Biometrika 58(3), 1971.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TextIO

import numpy as np
from numpy.typing import ArrayLike

from ..data.host_record import not_judged
from ..data.matrix import PerformanceMatrix
from ..data.pair import trial_cautions
from ..data.trial_cautions import constant_cautions
from ..errors import AnalysisError, InsufficientDataError, UsageError
from ..importers.reader import is_file, open_trial, read_each, trial_and_variant
from ..option_groups import Drawn, Source, metric_of, show
from ..options import command
from ..pages import model as pages, number_format as figures
from ..pages.result import Result, plain
from ..plots.axes import SMALL, Axes, Key, Picture, Scale as AxisScale, Sheet, Tick, quantity_ticks
from ..plots.chart import arranged, write_picture
from ..plots.marks import Box, Placed, Wanted, placed, wide
from ..stats.arguments import checks_arguments, chosen, numbers
from ..stats.samples import Array, read_only
from ..words import Name

if TYPE_CHECKING:
    from ..data.matrix_file import SystemsTable

Scale = Literal["log", "covariance", "correlation"]

SCALES = {
    "log": "logarithms, centred",
    "covariance": "values as they are, centred (covariance, as published)",
    "correlation": "values divided by their spread (correlation)",
}
_SAME = 1e-12  # values, or loadings, within this of each other, relatively, are one
_COMPONENTS, _ROWS, _CORRELATED = 8, 30, 9  # that a screen shows

REFERENCES = (
    "S. Irving et al., Computer comparisons in the presence of performance variation, Frontiers of "
    "Computer Science 2018, section 11",
    "K. R. Gabriel, The biplot graphic display of matrices with application to principal component "
    "analysis, Biometrika 58(3), 1971",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Biplot(Result):
    """Principal components of a table of systems x benchmarks.

    Arrays are read-only. `systems`, `benchmarks`: Names of the rows and columns. `scale`: What was
    analysed, `log`, `covariance` or `correlation`. `scores` (systems, components): The systems'
    coordinates, in the unit of what was analysed. `loadings` (benchmarks, components): The
    components as unit vectors; the loading of each that is largest in size is positive. `explained`,
    `sds` (components,): The components' shares of the variance, which sum to 1, and the standard
    deviations of the scores (divisor n - 1). `rank`: How many components hold variance; in JSON,
    `scores` and `loadings` of those behind them are null: nothing varies along them, so they have no
    axis. `correlations` (benchmarks, benchmarks): Of the values as given; nan, in JSON null, for a
    benchmark that does not vary.
    """

    method: ClassVar[str] = "biplot"
    derived: ClassVar[tuple[str, ...]] = ("conclusion",)

    systems: tuple[str, ...]
    benchmarks: tuple[str, ...]
    scale: Scale
    scores: Array
    loadings: Array
    explained: Array
    sds: Array
    rank: int
    correlations: Array
    references: tuple[str, ...] = REFERENCES

    @property
    def conclusion(self) -> str:
        """How much the first two components hold, and what the first one follows."""
        n, p = len(self.systems), len(self.benchmarks)
        held, follows = f"PC1 holds {_share(self.explained[0])}", self._strongest(0)
        if self.rank > 1:
            both = float(self.explained[:2].sum())
            held += f" and PC2 {_share(self.explained[1])} (together {_share(both)})"
            follows += f", PC2 {self._strongest(1)}"
        over = f"{n} systems over {figures.counted(p, 'benchmark')}, by {SCALES[self.scale]}"
        return f"{held} of the variance of {over}; PC1 follows {follows}"

    def body(self) -> dict[str, Any]:
        """Give the fields, and last the conclusion; components beyond the rank have no axis to tell."""
        found = Result.body(self)
        found["conclusion"] = found.pop("conclusion")
        for row in (*found["scores"], *found["loadings"]):
            row[self.rank :] = [None] * len(row[self.rank :])
        return found

    def _strongest(self, component: int) -> str:
        """Name the benchmarks with the largest loadings that make half of the component."""
        column = self.loadings[:, component]
        order = np.argsort(-np.abs(column), kind="stable")
        count = int(np.searchsorted(np.cumsum(column[order] ** 2), 0.5)) + 1
        named = [f"{self.benchmarks[k]:.20} ({column[k]:+.2f})" for k in order[:count]]
        if count <= 3:
            return " and ".join([", ".join(named[:-1]), named[-1]] if count > 1 else named)
        return f"{count} benchmarks, most of all {named[0]}"

    def screen(self) -> pages.Page:
        """Set the biplot, the shares of its components, and all coordinates."""
        n, benchmarks = len(self.systems), figures.counted(len(self.benchmarks), "benchmark")
        alt = (
            f"The systems {figures.listed(self.systems)} as points and the benchmarks "
            f"{figures.listed(self.benchmarks)} as arrows in the plane of the first two components; "
            "bars next to it show the variance that each component explains. The tables below give the "
            "coordinates"
        )
        shares = pages.table_of(
            "components",
            (("share of the variance", self.explained), ("together", np.cumsum(self.explained))),
            ("<", lambda row: row[0]),
            *((f"PC{k + 1}", lambda row, k=k: float(row[1][k]), lambda share: f"{100 * share:.2f} %") for k in range(min(self.rank, _COMPONENTS))),
        )  # fmt: skip
        return pages.page(
            self,
            f"biplot of {n} systems over {benchmarks}",
            self.conclusion,
            pages.Figure(name="biplot", alt=alt, draw=partial(biplot_picture, self)),
            shares,
            _coordinates("system", self.systems, "scores", self.scores, self.rank),
            _coordinates("benchmark", self.benchmarks, "loadings", self.loadings, self.rank),
            *([_correlated(self)] if len(self.benchmarks) > 1 else []),
        )


def _share(share: float) -> str:
    """Round a share; what is not all, or not nothing, is not written as such."""
    text = f"{100 * share:.1f}"
    if text == "0.0" and share > 0:
        return "less than 0.1 %"
    if text == "100.0" and share < 1 - 1e-12:
        text = f"{100 * share:.2f}"
        return "more than 99.99 %" if text == "100.00" else f"{text} %"
    return f"{text.removesuffix('.0')} %"


@checks_arguments
def biplot(
    values: ArrayLike, systems: Sequence[str], benchmarks: Sequence[str], *, scale: Scale = "log"
) -> Biplot:
    """Find the principal components of a table of systems x benchmarks.

    Parameters
    ----------
    values : array_like, shape (systems, benchmarks)
        One value for each system and benchmark, such as the median of its runs.
    systems, benchmarks : sequence of str
        Their names, each once.
    scale : {"log", "covariance", "correlation"}
        What is analysed, always centred by benchmark: the logarithms; the values as they are, as
        published; or the values divided by their standard deviation.

    Returns
    -------
    Biplot
        ``.scores`` (systems x components), ``.loadings`` (benchmarks x components, each of length
        1, the one largest in size positive), ``.explained`` (shares of the variance) and
        ``.correlations`` of the benchmarks' values. There are min(systems, benchmarks) components;
        those beyond ``.rank`` hold no variance and their loadings mean nothing.

    Raises
    ------
    UsageError
        If `scale` is unknown, or the names do not fit the values.
    InsufficientDataError
        If there are fewer than two systems, or no benchmark.
    AnalysisError
        If a value is missing, not finite, or not positive where logarithms are taken; if a
        benchmark does not vary where it is divided by its spread; if nothing varies.

    Notes
    -----
    Variances and covariances divide by n - 1, n the number of systems. `correlations` are those of
    Table 18: Pearson's, of the values as given, whatever the scale.
    """
    chosen("scale", scale, tuple(SCALES))
    rows, columns = _names("systems", systems), _names("benchmarks", benchmarks)
    table = _checked(values, rows, columns, positive=scale == "log")
    largest = np.abs(table).max(axis=0)
    size = np.where(largest > 0, largest, 1.0)
    same = np.ptp(table / size, axis=0) <= _SAME
    if same.all():
        what = "no benchmark differs between the systems: there is nothing to show"
        raise AnalysisError(what, fix="look whether the same file was given twice")
    constant = [name for name, flag in zip(columns, same, strict=True) if flag]
    if scale == "correlation" and constant:
        more = f" ({len(constant) - 1} more)" if len(constant) > 1 else ""
        what = f"benchmark {constant[0]!r} has one value on all systems, and correlation divides by the spread"
        fix = "leave it out, or take scale 'log' or 'covariance'"
        raise AnalysisError(f"{what}{more}", fix=fix)
    # squares of huge or tiny values leave the range
    unit = float(largest.max()) if scale == "covariance" else 1.0
    x = np.log(table) if scale == "log" else table / (unit if scale == "covariance" else size)
    rounding = np.abs(x).max(axis=0) * np.finfo(np.float64).eps
    x = x - x.mean(axis=0)
    x[:, same] = rounding[same] = 0.0
    if scale == "correlation":
        spreads = x.std(axis=0, ddof=1)
        x, rounding = x / spreads, rounding / spreads
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    # centring takes one dimension; what rounding leaves of it, and of others, is no variance
    noise = float(np.linalg.norm(rounding)) * math.sqrt(len(rows))
    least = max(s[0] * np.finfo(np.float64).eps, noise)
    rank = max(1, int((s[: len(rows) - 1] > least).sum()))
    s[rank:] = 0.0
    components, signs = _oriented(vt)
    squares = (s / s[0]) ** 2
    explained = squares / squares.sum()
    loadings = components.T + 0.0  # no negative zeros
    z = table / size
    z = z - z.mean(axis=0)
    z[:, same] = np.nan
    z /= np.sqrt((z**2).sum(axis=0))
    r = np.clip(z.T @ z, -1, 1)
    np.fill_diagonal(r, np.where(same, np.nan, 1.0))
    found = Biplot(
        systems=rows,
        benchmarks=columns,
        scale=scale,
        scores=read_only(u * signs * s * unit + 0.0),
        loadings=read_only(loadings),
        explained=read_only(explained),
        sds=read_only(s / math.sqrt(len(rows) - 1) * unit),
        rank=rank,
        correlations=read_only(np.asarray((r + r.T) / 2)),
    )
    return replace(found, cautions=_cautions(found, constant))


def _names(kind: str, names: Sequence[str]) -> tuple[str, ...]:
    found = tuple(map(Name, names))
    if twice := [name for k, name in enumerate(found) if name in found[:k]]:
        raise UsageError(f"{kind} must have names of their own, and {twice[0]!r} is there twice")
    return found


def _checked(
    values: ArrayLike, systems: tuple[str, ...], benchmarks: tuple[str, ...], *, positive: bool
) -> Array:
    table = numbers(values, "the values", dimensions=None, wrong=AnalysisError)
    n, p = len(systems), len(benchmarks)
    if table.shape != (n, p):
        what = f"values of shape {table.shape} do not fit {n} systems x {p} benchmarks"
        raise UsageError(what)
    if not benchmarks:
        raise InsufficientDataError("there is no benchmark", n=0, needed=1)
    if n < 2:
        what = f"a biplot shows how systems differ, and there {'is one' if systems else 'is none'}"
        raise InsufficientDataError(what, fix="give 3 or more systems", n=n, needed=2)
    for i, j in np.argwhere(~(np.isfinite(table) & ((table > 0) | (not positive)))):
        where = f"system {systems[i]!r}, benchmark {benchmarks[j]!r}"
        fix = "give a finite value, or leave the system or the benchmark out"
        fix = "logarithms need positive finite values" if positive else fix
        raise AnalysisError(f"the value is {float(table[i, j])!r}", where, fix)
    return table


def _oriented(components: Array) -> tuple[Array, Array]:
    """Turn each component (a row) so that its largest loading is positive; also give the signs.

    Loadings that differ from the largest by rounding only are made as large, so that the first of
    them decides on every machine.
    """
    sizes = np.abs(components)
    largest = sizes.max(axis=1, keepdims=True)
    level = np.where(sizes >= largest * (1 - _SAME), np.copysign(largest, components), components)
    first = np.abs(level).argmax(axis=1)[:, None]
    signs = np.where(np.take_along_axis(level, first, axis=1) < 0, -1.0, 1.0)
    return level * signs, signs[:, 0]


def _cautions(found: Biplot, constant: Sequence[str]) -> tuple[pages.Caution, ...]:
    """Say what decides the components, what the number of systems can show, and what single values hide."""
    benchmarks, scale, shares = found.benchmarks, found.scale, found.explained
    squares, n, p = found.loadings[:, 0] ** 2, len(found.systems), len(benchmarks)
    top, least = int(squares.argmax()), ""
    fix = "the systems differ most on it: look whether it belongs to the others"
    if scale == "covariance":
        fix = "unscaled, the benchmark whose values spread most decides, and that is often just the"
        fix += " slowest: scale 'log' lets equal ratios weigh equally"
    if n > 2 and p > 1:
        from scipy.special import stdtrit

        quantile = float(stdtrit(n - 2, 0.975))
        least = f"{quantile / math.sqrt(n - 2 + quantile**2):.3f}"
    same = figures.listed([f"{name:.30}" for name in constant], 3)
    alone = f"'{benchmarks[top]:.40}' alone makes {100 * squares[top]:.0f} % of PC1: {fix}"
    texts = {
        "one-benchmark-dominates": p > 2 and squares[top] > 0.5 and (alone, benchmarks[top]),
        "unit-decides": scale == "covariance"
        and "covariances are in the units of the values: all benchmarks must share one",
        "picture-holds-little": shares[:2].sum() < 0.7
        and f"a picture of PC1 and PC2 shows {100 * shares[:2].sum():.0f} % of the variance: "
        "points that lie together there may lie apart",
        "two-systems": n == 2
        and "two systems lie on a line whatever they are: there is one component, and every "
        "correlation is 1 or -1",
        "correlations-by-chance": least != ""
        and f"from {n} systems: a correlation between -{least} and {least} is no evidence of one "
        "(level 0.05, one pair)",
        "more-benchmarks-than-systems": least != ""
        and p >= n
        and f"{p} benchmarks and {n} systems: at most {n - 1} components hold variance, so that "
        "some of it is shared by construction",
        "benchmark-constant": constant
        and (f"the same value on all systems, and so no arrow: {same}", *constant),
        "one-value-each": "each system and benchmark has one value: the picture does not show how "
        "much it would change in another measurement",
    }
    return pages.cautions_of(texts)


def _coordinates(
    kind: str, names: Sequence[str], what: str, table: Array, rank: int
) -> pages.Section:
    count, order = min(rank, 2), list(range(len(names)))
    if len(order) > _ROWS:  # those that lie farthest from the middle of the picture
        far = np.hypot(table[:, 0], table[:, count - 1])
        order = sorted(np.argsort(-far, kind="stable")[:_ROWS].tolist())
    write = [_form(table[:, k], 3 if what == "loadings" else None) for k in range(count)]
    rows = pages.table_of(
        what,
        order,
        (f"@{kind}", lambda i: names[i]),
        *((f"PC{k + 1}", lambda i, k=k: float(table[i, k]), write[k]) for k in range(count)),
    )
    more = len(names) - len(order)
    rest = [f"and {more} {kind}s nearer to the middle (--json gives all)"] if more else []
    return pages.section(rows, *rest, title=what)


def _form(values: Array, decimals: int | None) -> Callable[[float], str]:
    """Write values with as many decimals; None: with four digits of the largest value."""
    if decimals is None:
        # all are 0 where the variance is below the smallest number
        top = math.floor(math.log10(float(np.abs(values).max()) or 1.0))
        if not -4 <= top < 7:
            return "{:+.3e}".format
        decimals = max(0, 3 - top)
    return lambda value: f"{round(value, decimals) + 0.0:+.{decimals}f}"


def _correlated(result: Biplot) -> pages.Section:
    names, r = result.benchmarks, result.correlations
    if len(names) <= _CORRELATED:
        columns = pages.columns_of("<", *map(Name, names))
        rows: list[tuple[pages.Cell, ...]] = []
        for name, row in zip(names, plain(r), strict=True):
            rows.append((Name(name), *(pages.value_of(x, "{:.2f}".format) for x in row)))
        every = pages.Table(name="correlations", columns=columns, rows=tuple(rows))
        return pages.section(every, title="correlations of the benchmarks")
    pairs = [(float(r[i, j]), i, j) for i, j in zip(*np.triu_indices(len(names), 1), strict=True)]
    pairs = [pair for pair in pairs if not math.isnan(pair[0])]
    if not pairs:
        return pages.section("correlations: fewer than two benchmarks vary")
    ends = (
        (label, pages.Value(f"{x:+.2f}", x), f"{names[i]:.24} and {names[j]:.24}")
        for label, pick in (("least", min), ("most", max))
        for x, i, j in (pick(pairs, key=itemgetter(0)),)
    )
    middle = np.median([pair[0] for pair in pairs])
    title = f"correlations of the {len(pairs):,} pairs of benchmarks: median {middle:.2f}"
    return pages.section(pages.facts("correlations", *ends), title=title)


# --- The biplot as a picture: systems as points, benchmarks as arrows, and the names that find room.


_SYSTEMS, _BENCHMARKS = 40, 30  # named at most; the others are drawn without a name
_BROAD = 120.0  # mm of width, from which on the shares of components stand next to it
_FEWEST = 3  # systems that can lie otherwise than on a line
_BARS, _MANY = 6, 12  # components with a bar: next to a biplot, and in a figure of their own
_ROOM = 0.13  # of the extent, around it
_FAR = 14  # points, from which on a thin line leads from a name to its place
_DISTANCES = (5.0, 9.0, 15.0, 23.0, 33.0, 46.0)  # points from the place to its name


def biplot_picture(result: Biplot, sheet: Sheet | None = None) -> Picture:
    """Draw a biplot of the first two components, and next to it the explained variance.

    On a `sheet` for a paper nothing is said above it, and a narrow one leaves out the shares of
    further components. Arrows have the direction and relative length of the loadings; one factor fits
    them to the points. A name without room is left out, the innermost first, and counted.
    """
    if len(result.systems) < _FEWEST:
        what = "a biplot of two systems is a line, whatever they are: there is nothing to see"
        fix = "give 3 or more systems; 'fairtrial plot forest' shows the speedups of two"
        raise InsufficientDataError(what, fix=fix, n=len(result.systems), needed=_FEWEST)
    title, height = "", 157.5
    broad = sheet is None or sheet.width >= _BROAD
    if sheet is None:
        sheet = Sheet(width=233.7)
        arrows = figures.counted(len(result.benchmarks), "benchmark")
        title = f"{len(result.systems)} systems (points) over {arrows} (arrows) · {SCALES[result.scale]}"
    else:
        height = sheet.width * (0.62 if broad else 0.95)
    plane = _Plane(result, sheet)
    row = [plane.axes, *([_shares(result)] if broad else [])]
    return arranged(sheet, [row], height, widths=(4.2, 1) if broad else (1,), title=title)


def shares_picture(result: Biplot, sheet: Sheet) -> Picture:
    """Draw the components' shares of the variance alone, with a line of their sums."""
    axes = _shares(result, _MANY if sheet.width >= _BROAD else _BARS)
    together = (100 * np.cumsum(result.explained[: len(axes.x_ticks)])).tolist()
    places = [tick.value for tick in axes.x_ticks]
    axes.curve(places, together, "ink curve")
    axes.spots(places, together, "ink", r=1.6)
    axes.keys = [Key("each", "c5", "square"), Key("together", "ink curve")]
    return arranged(sheet, [[axes]], sheet.width * (0.45 if sheet.width >= _BROAD else 0.7))


def _shares(result: Biplot, most: int = _BARS) -> Axes:
    shares = (100 * result.explained[: min(max(result.rank, 2), most)]).tolist()
    more = result.rank - len(shares)
    axes = Axes(x=AxisScale(0.4, max(len(shares), 2) + 0.6), y=AxisScale(0, 108))
    axes.x_ticks = [Tick(float(k), f"{k}") for k in range(1, len(shares) + 1)]
    axes.y_ticks = [Tick(float(share), f"{share}") for share in range(0, 101, 20)]
    axes.x_label = "component" + (f" ({more} more)" if more > 0 else "")
    axes.y_label = "variance explained, %"
    for k, share in enumerate(shares, 1):
        axes.band(k - 0.35, k + 0.35, 0, share, "c5")
        axes.text(k, share, f"{share:.1f}", "ink small", anchor="middle", dy=-5)
    return axes


class _Plane:
    """Points and arrows in one unit; what needs lengths is drawn when the area has its place."""

    def __init__(self, result: Biplot, sheet: Sheet) -> None:
        self.result, self.sheet = result, sheet
        self.points = _planar(result.scores)
        self.unit = float(np.abs(self.points).max())
        self.points = self.points / self.unit
        tips = _planar(result.loadings[:, : result.rank])
        self.tips = tips * (np.hypot(*self.points.T).max() / np.hypot(*tips.T).max() * 0.85)
        every = np.vstack([self.points, self.tips, [[0, 0]]])
        self.low, self.high = every.min(axis=0), every.max(axis=0)
        shares = [result.explained[k] if k < result.rank else 0.0 for k in range(2)]
        held = [f"{100 * share:.1f} % of the" if share > 0 else "no" for share in shares]
        labels = [f"PC{k} ({text} variance)" for k, text in enumerate(held, 1)]
        self.axes = Axes(x_label=labels[0], y_label=labels[1], title=" ", then=self.draw)
        self.axes.title_css = "baseline small"
        self.set_scales(1.0, 1.0)

    def set_scales(self, width: float, height: float) -> float:
        """Take one unit on both axes, so that angles and distances are what they look like."""
        reach = np.maximum(self.high - self.low, 1e-9) * (1 + 2 * _ROOM)
        each = float(max(reach[0] / width, reach[1] / height))
        middle = (self.low + self.high) / 2
        for side, at, length in zip("xy", middle.tolist(), (width, height), strict=True):
            scale = AxisScale(at - each * length / 2, at + each * length / 2)
            setattr(self.axes, side, scale)
            setattr(self.axes, f"{side}_ticks", self.ticks(scale))
        return each

    def ticks(self, scale: AxisScale) -> list[Tick]:
        """Give round numbers in the scores' unit; its power of ten is left out while they are chosen."""
        unit = self.unit
        head = unit / 10.0 ** math.floor(math.log10(unit)) if 1e-300 < unit < 1e300 else 1.0
        rounds = quantity_ticks(AxisScale(scale.low * head, scale.high * head), "1", 7)
        return [Tick(one.value / head, f"{one.value / head * unit:.4g}") for one in rounds]

    def draw(self, axes: Axes, box: Box) -> None:
        """Draw arrows below points below names."""
        each = self.set_scales(box.right - box.left, box.bottom - box.top)
        axes.level(0, "one hair")
        axes.upright(0, "one hair")
        named = _farthest(self.tips, _BENCHMARKS)
        others = np.setdiff1d(np.arange(len(self.tips)), named)
        axes.segments(0, 0, self.tips[others, 0], self.tips[others, 1], "faintest hair")
        for k in named:
            length = float(np.hypot(*self.tips[k]))
            if length > 0:
                back, aside = self.tips[k] / length, self.tips[k][::-1] / length * (-1, 1)
                base, half = self.tips[k] - back * min(length, 6 * each), 2.1 * each * aside
                axes.line(0, 0, float(base[0]), float(base[1]), "c1 rim")
                corners = np.array([self.tips[k], base + half, base - half])
                axes.curve(corners[:, 0], corners[:, 1], "c1", closed=True)
        axes.spots(self.points[:, 0], self.points[:, 1], "c0 edged", r=2.7)
        self.names(axes, box, each, [k for k in named if np.hypot(*self.tips[k]) > 0])

    def names(self, axes: Axes, box: Box, each: float, arrows: Sequence[int]) -> None:
        """Write the names where they cover neither points nor each other, as far as there is room."""
        size = SMALL * self.sheet.font_size

        def at(place: Array) -> tuple[float, float]:
            return (
                box.left + (float(place[0]) - axes.x.low) / each,
                box.bottom - (float(place[1]) - axes.y.low) / each,
            )

        middle = at(np.zeros(2))
        points, tips = [at(one) for one in self.points], [at(self.tips[k]) for k in arrows]
        taken = [Box(x - 3, y - 3, x + 3, y + 3) for x, y in points]
        along = [
            Box(x - 1, y - 1, x + 1, y + 1)
            for tip in tips
            for share in np.linspace(0.4, 1, 9).tolist()
            for x, y in [tuple(m + share * (t - m) for m, t in zip(middle, tip, strict=True))]
        ]
        left = []
        groups = (
            ("points", self.result.systems, _farthest(self.points, _SYSTEMS), points, "c0", len(points)),
            ("arrows", self.result.benchmarks, arrows, dict(zip(arrows, tips, strict=True)), "arrows", len(self.tips)),
        )  # fmt: skip
        for kind, names, those, places, css, count in groups:
            wanted = [
                Wanted(
                    f"{names[k]:.22}", *places[k], -rank,
                    (places[k][0] - middle[0], places[k][1] - middle[1]) if kind == "arrows" else None,
                )
                for rank, k in enumerate(those)
            ]  # fmt: skip
            drawn = 0
            for strict in (True, False):  # without room next to the arrows, a name lies on one
                found = placed(
                    wanted, frame=box, taken=[*taken, *(along if strict else ())], size=size,
                    measure=lambda text: wide(text, size, self.sheet.font_family), distances=_DISTANCES,
                )  # fmt: skip
                for one, name in zip(found, wanted, strict=True):
                    if one is None:
                        continue
                    drawn += 1
                    taken.append(one.box)
                    self.name(box, each, one, name, f"{css} small hollow")
                wanted = [name for one, name in zip(found, wanted, strict=True) if one is None]
            if count > drawn:
                left.append(f"{kind} without a name: {count - drawn}")
        axes.title = "; ".join(left)

    def name(self, box: Box, each: float, one: Placed, wanted: Wanted, css: str) -> None:
        """Write a name; a thin line leads to its place if that is far."""
        axes, own = self.axes, one.box

        def back(x: float, y: float) -> tuple[float, float]:
            return axes.x.low + (x - box.left) * each, axes.y.low + (box.bottom - y) * each

        near = min(max(wanted.x, own.left), own.right), min(max(wanted.y, own.top), own.bottom)
        if math.dist(near, (wanted.x, wanted.y)) > _FAR:
            axes.line(*back(*near), *back(wanted.x, wanted.y), "ink hair faint")
        axes.text(*back(own.left, (own.top + own.bottom) / 2), one.text, css)


def _planar(table: Array) -> Array:
    """Give the first two columns; zeros stand for a second that is missing."""
    flat = np.zeros((table.shape[0], 2))
    flat[:, : min(2, table.shape[1])] = table[:, :2]
    return flat


def _farthest(places: Array, most: int) -> list[int]:
    """Give the indices of those farthest out, farthest first; an arrow may have no length."""
    far = np.hypot(*places.T)
    return [int(k) for k in np.argsort(-far, kind="stable")[:most]]


# --- The command: one value for each system and benchmark is read, and shown.


@command("biplot", after="study", summary="systems and benchmarks in one picture")
def execute(
    *, source: Source, sources: list[str], scale: Scale, drawn: Drawn, json: bool, out: TextIO
) -> int:
    """Show which systems are alike, and which benchmarks tell them apart.

    Give two or more matrix files or variants of trials (runs/NAME:VARIANT); each is one system
    with its medians; or one trial (runs/NAME) with all its variants; or one .csv or .txt table with
    headings, a row for each system and a column for each benchmark.

    Options
    -------
    sources SOURCE...
        a system: a matrix file, or a variant of a trial (runs/NAME:VARIANT); or one trial, or one
        table
    --scale {log,covariance,correlation}  = log
        logarithms, so that equal ratios weigh equally (default); the values as they are, as
        published; or the values divided by their spread
    """
    picture = drawn.picture()
    result, metric = systems_of(source, sources, scale)
    if picture is not None:
        write_picture(biplot_picture(result), picture, title="biplot", alt=result.conclusion)
    show(result, out, as_json=json, metric=metric)
    return 0


def systems_of(asked: Source, sources: Sequence[str], scale: Scale) -> tuple[Biplot, str | None]:
    """Read the systems that the sources name, and find their principal components; with the metric to name."""
    table, metric = _read(asked, sources)
    result = biplot(table.values, table.systems, table.benchmarks, scale=scale)
    return replace(result, cautions=(*table.cautions, *result.cautions)), metric


def _read(asked: Source, sources: Sequence[str]) -> tuple[SystemsTable, str | None]:
    if len(sources) > 1:
        each = read_each(sources, asked.reading())
        return _medians(each, sources), metric_of(*each)
    (source,) = sources
    try:
        Path(source).exists()
    except (OSError, ValueError) as error:  # such as a name too long
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"this cannot be read: {reason}", source) from None
    named = trial_and_variant(source)
    if named is not None and named[1] is None:
        try:
            trial = open_trial(named[0], asked.level, asked.better, decimal=asked.decimal)
        except AnalysisError:  # headings that no reader of runs knows are a table's own
            if is_file(source):
                with contextlib.suppress(AnalysisError):
                    return _table(Path(source), asked), None
            raise
        variants = trial.manifest.variants
        metric = asked.metric or trial.default_metric
        matrices = [trial.matrix(name, metric, skip_zeros=True) for name in variants]
        found = _medians(matrices, variants)
        texts = not_judged(trial.unnamed) if asked.metric is None else ()
        known = pages.merged(texts, constant_cautions(trial), found.cautions)
        return replace(found, cautions=known), metric_of(*matrices)
    if is_file(source):
        return _table(Path(source), asked), None
    if named is not None:
        what = "one variant is one system, and a biplot shows how systems differ"
        fix = "name its trial alone for all its variants, or two sources or more"
        raise UsageError(what, source, fix)
    raise UsageError(
        "there is no such trial or file", source, "name a trial, or a table of systems"
    )


def _table(path: Path, asked: Source) -> SystemsTable:
    from ..data.matrix_file import read_systems

    for option in asked.not_for_tables():
        what = f"{option} is not for a table of systems: a row is a system, a cell is its value"
        fix = "leave it out, or name two sources or more, a file for each system"
        raise UsageError(what, str(path), fix)
    return read_systems(path, asked.decimal)


def _medians(matrices: Sequence[PerformanceMatrix], sources: Sequence[str]) -> SystemsTable:
    from ..data.matrix_file import SystemsTable

    first, *others = matrices
    for matrix, field in itertools.product(others, ("better", "unit")):
        one, other = getattr(first, field), getattr(matrix, field)
        if one != other:
            what = f"{first.name!r} and {matrix.name!r} differ in {field!r}: {one!r} and {other!r}"
            raise AnalysisError(what, fix="show values of one kind")
    common = set(first.benchmarks).intersection(*(m.benchmarks for m in others))
    benchmarks = tuple(bench for bench in first.benchmarks if bench in common)
    if not benchmarks:
        what = f"these {len(matrices)} systems have no benchmark in common"
        raise AnalysisError(what, ", ".join(sources[:4]))
    lacking = [*dict.fromkeys(b for m in matrices for b in m.benchmarks if b not in common)]
    cautions = [caution.of(matrix.name) for matrix in matrices for caution in matrix.cautions]
    cautions += trial_cautions(matrices)
    if lacking:
        text = f"left out, because not every system has it: {figures.listed(lacking, 5)}"
        cautions.append(pages.Caution("benchmarks-not-of-all", text, tuple(lacking)))
    names = [matrix.name for matrix in matrices]
    if len(set(names)) < len(names):
        names = [*sources]  # such as two trials with one variant's name
    return SystemsTable(
        systems=tuple(names),
        benchmarks=benchmarks,
        values=[matrix.select(benchmarks).medians().tolist() for matrix in matrices],
        cautions=pages.merged(cautions),
    )
