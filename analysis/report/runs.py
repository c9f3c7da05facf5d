"""The runs of one benchmark, by variant, session and block, and what pictures show of them.

The page and the figures for papers draw the same numbers: they are computed here.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from .. import plots
from ..errors import FairtrialError
from ..methods.mixture.fit import fit_mixture
from ..methods.mixture.goodness import ks_fit
from ..methods.mixture.modality import dip_test
from ..plots.axes import Scale, Tick, quantity_scale, ratio_scale
from ..plots.labels import apart, text_width
from ..stats.arguments import stream
from ..stats.classical import normal_positions
from ..stats.quantiles import Shift, shift_of
from ..stats.samples import bandwidth_of, kernel_density, lag_pairs

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix
    from ..diagnose.result import FarRun
    from ..methods.multilevel.result import Multilevel
    from ..plots.marks import Mark
    from .subject import Subject

__all__ = [
    "Area",
    "Cell",
    "Failed",
    "Frame",
    "Grounds",
    "Label",
    "Modes",
    "Place",
    "across",
    "bounded_ratios",
    "cells_of",
    "densities",
    "distribution",
    "failed_of",
    "far_places",
    "frame_of",
    "labels_of",
    "mean_of",
    "modes_of",
    "normal_quantiles",
    "numbers_within",
    "pairs_in_order",
    "peak",
    "placed_names",
    "ran_together",
    "row_scales",
    "session_means",
    "shares",
    "shift_between",
    "up_labels",
    "upright_labels",
]

# --- Axes of a benchmark's pictures: scales, ticks that keep apart, names that meet no curve.


Place = tuple[float, float]  # shares of width and height, from the left and from the bottom
_FAR = 4.0  # variants that differ by more have an axis each, of the same ratio
_ROOM = 1.07
_FARTHEST = 1e100  # a speedup beyond stands at the edge
_SPACE = 7.0  # pixels between two labels
_EDGE = 0.08  # a label so near to an edge stands inside of it
_PICTURE = 268.0  # pixels of the narrowest picture: print has three in a row
_BESIDE = 14.0  # pixels beside a name
_HALF = 0.05  # of the height, half a line of text
_LEFT, _RIGHT = (0.72, 0.9, 0.3), (0.8, 0.62, 0.4, 0.2)
_LINE = 0.13  # of the height, from one line of text to the next


class Area(TypedDict):
    """Where a drawing lies in its picture, in pixels."""

    top: float
    height: float


class Grounds:
    """What many pictures of a page have in common: drawn once, and used again by all others."""

    def __init__(self, anchor: str) -> None:
        self._anchor = anchor
        self._names: dict[tuple[Mark, ...], str] = {}

    def of(self, *marks: Mark) -> Mark:
        """Give marks, or a reference where the same ones were given before."""
        if marks in self._names:
            return plots.again(self._names[marks])
        name = self._names[marks] = f"{self._anchor}-ground-{len(self._names) + 1}"
        return plots.shared(name, marks)


class Label(NamedTuple):
    """A text at a place on an axis, or at a curve; `anchor` says which end of it stands there."""

    text: str
    at: float
    anchor: str = "middle"
    up: float = 0.0
    style: str = ""


_place = attrgetter("at")


def row_scales(cells: Mapping[str, Cell], centres: Mapping[str, float]) -> Mapping[str, Scale]:
    """Give each variant's axis: the same one, or of the same ratio where variants are far apart.

    Linear where a run is 0 or less.
    """
    ends = {name: cell.ends for name, cell in cells.items()}
    lows, highs = zip(*ends.values(), strict=True)
    together = quantity_scale((min(lows), max(highs)), log=min(lows) > 0)
    known = [centre for centre in centres.values() if centre > 0]
    if not together.log or len(known) < 2 or max(known) / min(known) <= _FAR:
        return dict.fromkeys(cells, together)
    half = math.sqrt(max(high / low for low, high in ends.values())) * _ROOM
    middles = {name: math.sqrt(low) * math.sqrt(high) for name, (low, high) in ends.items()}
    return {name: Scale(at / half, at * half, log=True) for name, at in middles.items()}


def shares(values: Floats, scale: Scale) -> Floats:
    """Give the places of many values on an axis, the nearer edge of those outside."""
    low, high = scale.low, scale.high
    if scale.log:
        values, low, high = np.log(values), math.log(low), math.log(high)
    return np.clip((values - low) / (high - low), 0.0, 1.0)


def bounded_ratios(
    points: Sequence[float], ends: Iterable[float], margin: float, steepest: float = 3.0
) -> Scale:
    """Give the log scale of speedups that shows all points; of far ends only a part.

    Where an interval is much wider than the points lie apart, the points would be one: it leaves the
    scale then, at `steepest` times the farthest point's distance from 1, or at 15 %.
    """
    points = [min(max(point, 1 / _FARTHEST), _FARTHEST) for point in points]
    reach = max([0.15, *(steepest * abs(math.log(p)) for p in points)])
    low, high = math.exp(-reach), math.exp(reach)
    return ratio_scale([*points, *(min(max(end, low), high) for end in ends)], margin)


def labels_of(ticks: Sequence[Tick], scale: Scale, room: float = _PICTURE) -> list[Label]:
    """Give the labels of an axis from left to right that keep apart where it has `room` pixels.

    1 stays before all others, then the last, which bears the unit. Near an edge a label stands inside.
    """
    found = []
    for tick in _ranked(ticks, scale):
        at, wide = scale.at(tick.value), (text_width(tick.text) + _SPACE) / room
        anchor = "start" if at < _EDGE else "end" if at > 1 - _EDGE else "middle"
        left = at - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        found.append((left, left + wide, Label(tick.text, at, anchor)))
    return sorted(apart(found), key=_place)


def upright_labels(ticks: Sequence[Tick], scale: Scale, least: float) -> list[Label]:
    """Give the labels of an upright axis that are `least` of its height apart, as `labels_of` does."""
    labels = (Label(tick.text, scale.at(tick.value)) for tick in _ranked(ticks, scale))
    return sorted(apart((label.at, label.at + least, label) for label in labels), key=_place)


def _ranked(ticks: Sequence[Tick], scale: Scale) -> list[Tick]:
    """Put first what must stay."""
    inside = [tick for tick in ticks if scale.holds(tick.value)]
    return sorted(reversed(inside), key=lambda tick: tick.text != "1×")


def up_labels(ticks: Sequence[Label], height: float) -> Iterator[Mark]:
    """Give the marks of an upright axis's labels, left of it."""
    for tick in ticks:
        y = max(10.0, height * (1 - tick.at) + 4)  # below what stands above the row
        yield plots.label(0, y, tick.text, "", anchor="end", dx=-8)


def placed_names(
    ours: Sequence[Place], theirs: Sequence[Place], names: tuple[str, str], style: str
) -> list[Label]:
    """Place both names: left of the left curve and right of the right one, where there is room.

    Both curves rise. A name that finds no room is left out: it stands in the heading, and the colour
    (`style` is the candidate's) tells the curves.
    """
    curves, styles = (ours, theirs), (style, "baseline")
    middles = [sum(across(curve, share) for share in (0.25, 0.5, 0.75)) for curve in curves]
    left, right = (0, 1) if middles[0] <= middles[1] else (1, 0)
    found: list[Label] = []
    for which, sides in ((left, "left between right"), (right, "right between left")):
        tries = (
            _placed(side, curves[which], curves[1 - which], names[which], found)
            for side in sides.split()
        )
        if label := next((label for label in tries if label is not None), None):
            found.append(label._replace(style=styles[which]))
    return found


def _placed(
    side: str, own: Sequence[Place], other: Sequence[Place], name: str, taken: Sequence[Label]
) -> Label | None:
    """Try one side of a name's own curve: away from the other one, towards it, or beyond both."""
    needed = _wide(name)
    between = side == "between"
    right = side == "right" or (between and across(own, 0.5) <= across(other, 0.5))
    # a curve rises: beside a line of text it is farthest right at the text's upper edge
    half = _HALF if right else -_HALF
    for share in _RIGHT if right else _LEFT:
        edge = [across(curve, share + half) for curve in (own, other)]
        if between:
            at, end = edge[0], across(other, share - half)
        else:
            at, end = (max(edge), 1.0) if right else (min(edge), 0.0)
        room = end - at if right else at - end
        if room >= needed and _free(at if right else at - needed, needed, share, taken):
            return Label(name, at, "start" if right else "end", share)
    return None


def _wide(name: str) -> float:
    """Give the share of the narrowest picture's width that a name takes at most."""
    return (text_width(name, bold=True) + _BESIDE) / _PICTURE


def _free(left: float, wide: float, share: float, taken: Sequence[Label]) -> bool:
    """Tell whether a name's place meets none that is taken."""
    for label in taken:
        other_wide = _wide(label.text)
        other = label.at if label.anchor == "start" else label.at - other_wide
        if abs(share - label.up) < _LINE and left < other + other_wide and other < left + wide:
            return False
    return True


def across(curve: Sequence[Place], share: float) -> float:
    """Give where a distribution function reaches a share."""
    place = bisect_left(curve, share, key=lambda corner: corner[1])
    return curve[min(place, len(curve) - 1)][0]


# --- Modes and densities of runs, and the components of a mixture where it fits.


_PLACES = 48
_FLAT = 0.004  # shares that no eye tells from 0
_LEAST_FOR_DENSITY = 5  # runs of which a density is drawn
_FIT = 30  # runs of which a mixture is fitted
_MOST = 2000  # and at most: the test fits 200 samples of as many values again
_FIRST, _RESAMPLES = 40, 200  # samples that are drawn for a test: most fits show with a few
_RISK = 0.05


class Modes(NamedTuple):
    """What is known of a cell's modes, by a mixture of several Gaussians that fits its logs, if any."""

    dip: float  # p of one mode, by the dip test
    at: tuple[float, ...] = ()  # the mixture's modes, in the values' unit
    parts: tuple[tuple[float, float, float], ...] = ()  # its components' weight, mean, sd, of logs


def modes_of(cell: Cell, seed: int, name: str) -> Modes | None:
    """Ask the dip test, and fit a mixture to the logs; None of few, many, equal or zero runs."""
    values = cell.values
    if not _FIT <= values.size <= _MOST or not cell.positive:
        return None
    try:
        dip = dip_test(np.log(values), rng=stream(seed, "parts-dip", name)).pvalue
        fitted = fit_mixture(values, scale="log")
        if fitted.weights.size < 2:  # a single Gaussian adds nothing to the density: no long test
            return Modes(dip)
        for count in (_FIRST, _RESAMPLES):  # of both the first draws are the same
            draws = stream(seed, "parts-fit", name)
            test = ks_fit(values, fitted, resamples=count, rng=draws, workers=1)
            farther = int((test.distances >= test.statistic).sum())
            if farther + 1 > _RISK * (_RESAMPLES + 1):  # so it fits, whatever the others are
                break
    except FairtrialError:  # equal values, or a clock too coarse: nothing to draw
        return None
    if test.rejected(_RISK):
        return Modes(dip)
    triples = zip(fitted.weights.tolist(), fitted.means.tolist(), fitted.sds.tolist(), strict=True)
    return Modes(dip, tuple(fitted.modes().tolist()), tuple(triples))


def densities(
    cells: Mapping[str, Cell], scales: Mapping[str, Scale], modes: Mapping[str, Modes]
) -> tuple[Mapping[str, list[Place]], Mapping[str, list[list[Place]]]]:
    """Give each variant's density on its axis, and beside it the components of its mixture.

    Across in shares of the highest density of all; empty of few runs, or equal ones. Components are
    drawn of variants whose modes were looked at, where there are several.
    """
    heights = {name: _density(cell, scales[name]) for name, cell in cells.items()}
    parts = {
        name: _components(modes[name], scales[name]) if name in modes else [] for name in cells
    }
    every = [*heights.values(), *(part for some in parts.values() for part in some)]
    top = max((float(height.max()) for height in every if height.size), default=0.0)
    return (
        {name: _seen(height, top) for name, height in heights.items()},
        {name: [_seen(part, top) for part in some] for name, some in parts.items()},
    )


def _density(cell: Cell, scale: Scale) -> Floats:
    """Give the heights of a density on an axis; none of few or equal runs."""
    values = np.log(cell.values) if scale.log else cell.values
    width = bandwidth_of(values) if values.size >= _LEAST_FOR_DENSITY else 0.0
    if not width > 0:
        return np.empty(0)
    at = _grid(scale)
    # a curve narrower than the grid would vanish between its places
    return kernel_density(values, at, max(width, (at[-1] - at[0]) / _PLACES))


def _components(modes: Modes, scale: Scale) -> list[Floats]:
    """Give the heights of a mixture's components on a log axis, where there are several."""
    if len(modes.parts) < 2 or not scale.log:
        return []
    at = _grid(scale)
    narrow = (at[1] - at[0]) / 2  # what is narrower than the grid would vanish between its places
    return [
        weight
        * np.exp(-0.5 * ((at - mean) / (wide := max(sd, narrow))) ** 2)
        / (wide * math.sqrt(2 * math.pi))
        for weight, mean, sd in modes.parts
    ]


def _grid(scale: Scale) -> Floats:
    low, high = scale.low, scale.high
    if scale.log:
        low, high = math.log(low), math.log(high)
    return np.linspace(low, high, _PLACES)


def _seen(heights: Floats, top: float) -> list[Place]:
    """Give a curve without its flat ends."""
    high = np.flatnonzero(heights > _FLAT * top)
    if not high.size:
        return []
    first, last = max(0, int(high[0]) - 1), min(heights.size, int(high[-1]) + 2)
    ups = np.linspace(0, 1, heights.size)[first:last]
    return list(zip((heights[first:last] / top).tolist(), ups.tolist(), strict=True))


def peak(values: Floats) -> float | None:
    """Give the value near which most runs lie; None of few runs, or equal ones."""
    if values.size < _LEAST_FOR_DENSITY:
        return None
    log = bool((values > 0).all())
    of = np.log(values) if log else values
    width = bandwidth_of(of)
    if not width > 0:
        return float(values[0]) if values.min() == values.max() else None
    at = np.linspace(of.min(), of.max(), 4 * _PLACES)
    where = float(at[kernel_density(of, at, width).argmax()])
    return math.exp(where) if log else where


Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_LEAST = 3  # runs that are held against a normal law
_ROUNDING = 1e-12  # runs whose logs differ by less are equal
_GAP, _GAPS = 0.0115, 0.06  # a gap between panels, and all of them together at most


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cell:
    """One variant's runs of a benchmark, in the order in which they were measured."""

    values: Floats
    labels: tuple[str, ...]  # the sessions; one, "", where they are not known
    session: Integers  # the place of each run's session in `labels`
    block: NDArray[Any] | None = None  # the id of each run's block; None where blocks are not known

    def of(self, place: int) -> Floats:
        """Give the runs of one session."""
        found: Floats = self.values[self.session == place]
        return found

    @property
    def by_session(self) -> tuple[Floats, ...]:
        """The runs of each session."""
        return tuple(self.of(k) for k in range(len(self.labels)))

    @property
    def positive(self) -> bool:
        """Whether every run has a logarithm."""
        return bool(self.values.min() > 0)

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest run."""
        return float(self.values.min()), float(self.values.max())


def mean_of(runs: Floats, *, log: bool) -> float:
    """Give the geometric mean, or the arithmetic one where the axis is linear."""
    return float(np.exp(np.log(runs).mean())) if log else float(runs.mean())


class Failed(NamedTuple):
    """A measured run that failed: its session's label, and its block as `Cell.block` has it."""

    session: str
    block: int


def cells_of(subject: Subject, benchmark: str) -> dict[str, Cell]:
    """Give each variant's runs of a benchmark, the baseline's first; of runs of 0 too."""
    return {
        name: _cell(one, one.benchmarks.index(benchmark))
        for name, matrix in subject.matrices.items()
        for one in (matrix, matrix.with_zeros)
        if one is not None and benchmark in one.benchmarks
    }


def failed_of(subject: Subject) -> Mapping[tuple[str, str], tuple[Failed, ...]]:
    """Give the failed measured runs of each benchmark and variant; none where no trial says so."""
    found: dict[tuple[str, str], tuple[Failed, ...]] = {}
    trial = subject.trial
    if trial is None:
        return found
    most = int(trial.block.max()) + 1 if len(trial) else 1
    blocks = dict(zip(trial.position.tolist(), trial.block.tolist(), strict=True))
    for run in trial.failures():
        if not run.warmup:
            failed = Failed(str(run.session), run.session * most + blocks.get(run.position, 0))
            cell = (run.benchmark, run.variant)
            found[cell] = (*found.get(cell, ()), failed)
    return found


def _cell(matrix: PerformanceMatrix, k: int) -> Cell:
    values = matrix.samples[k]
    unknown = np.full(values.size, "")
    labels, session = _numbered(unknown if matrix.sessions is None else matrix.sessions[k])
    block = None if matrix.blocks is None else matrix.blocks[k]
    return Cell(values=values, labels=labels, session=session, block=block)


def _numbered(given: NDArray[Any]) -> tuple[tuple[str, ...], Integers]:
    """Give sessions their numbers: whole ones in their order, names as they are first met."""
    if given.dtype.kind in "iu":
        labels, session = np.unique(given, return_inverse=True)
        return tuple(map(str, labels.tolist())), session.reshape(-1).astype(np.int64)
    names = given.tolist()
    places = {name: k for k, name in enumerate(dict.fromkeys(names))}
    return tuple(places), np.array([places[name] for name in names], dtype=np.int64)


def _whole(given: NDArray[Any]) -> Integers:
    """Give ids as whole numbers: names by their order."""
    return given.astype(np.int64) if given.dtype.kind in "iu" else _numbered(given)[1]


class Frame(NamedTuple):
    """Panels and places of one benchmark, as shares of a picture's width."""

    labels: tuple[str, ...]  # of the panels; one "" where sessions are not known
    spans: tuple[tuple[float, float], ...]  # the panels' edges
    together: bool  # whether variants ran in the same sessions; else a panel holds one of each
    panel: Mapping[str, Integers]  # of each session of a variant, in the order of its labels
    across: Mapping[str, Floats]  # the place of each run
    failed: Mapping[str, Sequence[float]]  # and of failed ones


def frame_of(
    cells: Mapping[str, Cell], failures: Mapping[str, Sequence[Failed]], *, together: bool = True
) -> Frame:
    """Lay out the runs of a benchmark's variants: a panel for each session, in it left to right by block.

    Sessions of one label are the same ones where variants ran `together`.
    """
    failures = {name: runs for name, runs in failures.items() if together and runs}
    labels = _labels(cells, failures, together=together)
    place = {label: k for k, label in enumerate(labels)}
    panel = {
        name: np.array([place[label] if together else k for k, label in enumerate(cell.labels)])
        for name, cell in cells.items()
    }
    gap = min(_GAP, _GAPS / len(labels))
    wide = (1 + gap) / len(labels)
    spans = tuple((k * wide, k * wide + wide - gap) for k in range(len(labels)))
    edges = np.array(spans)

    where = {name: panel[name][cell.session] for name, cell in cells.items()}
    blocks = {name: _whole(cell.block) for name, cell in cells.items() if cell.block is not None}
    lost = {
        name: np.array([(place[run.session], run.block) for run in runs])
        for name, runs in failures.items()
    }
    pairs = {name: np.column_stack((where[name], block)) for name, block in blocks.items()}
    own = [np.unique(block) for block in blocks.values()]
    overlap = bool(own) and np.unique(np.concatenate(own)).size < sum(map(np.size, own))
    every = np.concatenate([*pairs.values(), *lost.values()]) if pairs else np.empty((0, 2))
    if len(pairs) == len(cells) and (together or len(cells) == 1 or overlap):
        # a slot for each block that any variant has in a panel
        met = np.unique(every, axis=0)
        counts = np.bincount(met[:, 0], minlength=len(labels))
        first = np.cumsum(counts) - counts
        slot_of = {(p, b): k - int(first[p]) for k, (p, b) in enumerate(met.tolist())}
        slots, late = (
            {name: np.array([slot_of[p, b] for p, b in of.tolist()]) for name, of in some.items()}
            for some in (pairs, lost)
        )
    else:  # or for each run, and failed ones in the last
        found = [np.bincount(of, minlength=len(labels)) for of in where.values()]
        counts = np.maximum(1, np.max(found, axis=0))
        slots = {name: numbers_within(cell.session) for name, cell in cells.items()}
        late = {name: counts[of[:, 0]] - 1 for name, of in lost.items()}

    def within(at: Integers, slot: Integers) -> Floats:
        left, right = edges[at, 0], edges[at, 1]
        return np.asarray(left + (right - left) * (slot + 0.5) / counts[at])

    return Frame(
        labels=labels,
        spans=spans,
        together=together,
        panel=panel,
        across={name: within(where[name], slots[name]) for name in cells},
        failed={name: within(of[:, 0], late[name]).tolist() for name, of in lost.items()},
    )


def _labels(
    cells: Mapping[str, Cell], failures: Mapping[str, Sequence[Failed]], *, together: bool
) -> tuple[str, ...]:
    if not together:
        most = max(len(cell.labels) for cell in cells.values())
        return ("",) if most == 1 else tuple(str(k + 1) for k in range(most))
    met = dict.fromkeys(label for cell in cells.values() for label in cell.labels)
    met |= dict.fromkeys(run.session for runs in failures.values() for run in runs)
    return tuple(sorted(met, key=int)) if all(label.isdecimal() for label in met) else tuple(met)


def numbers_within(session: Integers) -> Integers:
    """Give each run's number within its session, from 0."""
    order = np.argsort(session, kind="stable")
    found = np.empty_like(order)
    found[order] = np.arange(order.size) - np.searchsorted(session[order], session[order])
    return found


def ran_together(subject: Subject) -> bool:
    """Tell whether variants ran in the same sessions."""
    results = (one.multilevel for one in subject.candidates)
    apart = any(one.design in ("separate", "confounded") for one in results if one is not None)
    return subject.trial is not None or not apart


# ---- what pictures show of runs


def session_means(
    cell: Cell, frame: Frame, variant: str, *, log: bool
) -> list[tuple[float, float, float]]:
    """Give each session's mean behind its panel's edges."""
    panels = frame.panel[variant].tolist()
    means = [mean_of(runs, log=log) for runs in cell.by_session]
    return [(*frame.spans[k], mean) for k, mean in zip(panels, means, strict=True)]


def far_places(cell: Cell, far: Sequence[FarRun]) -> Iterator[int]:
    """Give the places, in a cell, of runs that are far from the others of their session."""
    for run in far:
        if str(run.session) in cell.labels:
            mine = np.flatnonzero(cell.session == cell.labels.index(str(run.session)))
            if run.run <= mine.size:
                yield int(mine[run.run - 1])


def distribution(cell: Cell) -> Floats:
    """Give the runs from the least on, each with the share of runs up to it."""
    count = cell.values.size
    return np.column_stack((np.sort(cell.values), np.arange(1, count + 1) / count))


def pairs_in_order(cell: Cell) -> Floats:
    """Give each run behind the one before it in its session."""
    return lag_pairs(cell.values, cell.session)


def normal_quantiles(cell: Cell) -> Floats:
    """Give what a normal law expects, and the runs less their session's mean: of logs where possible.

    Both in standard deviations; none of too few or equal runs.
    """
    values = np.log(cell.values) if cell.positive else cell.values
    counts = np.bincount(cell.session, minlength=len(cell.labels))
    means = np.bincount(cell.session, weights=values) / np.maximum(counts, 1)
    rest = np.sort((values - means[cell.session])[counts[cell.session] > 1])
    if rest.size < _LEAST:
        return np.empty((0, 2))
    sd = float(np.sqrt((rest**2).sum() / max(1, rest.size - int((counts > 1).sum()))))
    if not sd > _ROUNDING:
        return np.empty((0, 2))
    return np.column_stack((normal_positions(rest.size), rest / sd))


def shift_between(result: Multilevel, ours: Cell, theirs: Cell) -> Shift | None:
    """Give the log speedups at quantiles; of sessions that both sides have where these are paired."""
    paired = result.design in ("paired", "hosts")
    sides = [ours.by_session, theirs.by_session]
    if paired:
        common = [label for label in ours.labels if label in theirs.labels]
        sides = [
            tuple(side.of(side.labels.index(label)) for label in common) for side in (ours, theirs)
        ]
    if result.better == "lower":
        sides.reverse()
    return shift_of(*sides, paired=paired, confidence=1 - result.look_alpha)
