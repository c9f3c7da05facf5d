"""The runs of a trial as series by cell and session, and the tests of each cell with how large each finding is.

A series is what one cell (benchmark and variant) measured in one session, in order. All tests within
sessions take ranks within the series, so that no shift between sessions, no law of the values and no
monotone scale enters them: under exchangeable runs, the hypothesis of each, every order of the ranks is
equally likely. Means and variances of the statistics are those over all orders of the ranks, exact with
ties; sums over the sessions of a cell are held against the normal, chi-squared or Kolmogorov's law,
whose tails are heavier than those of the statistics (docs/methods/diagnosis.md has the measured levels).

References
----------
.. [1] J. Worms, S. Touati, "Modelling program's performance with Gaussian mixtures for parametric
       statistics", IEEE Trans. Multi-Scale Computing Systems, 2018, section 6.4.
.. [2] J. A. Hartigan, P. M. Hartigan, "The dip test of unimodality", Annals of Statistics 13, 1985.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, kolmogorov, ndtr

from ..data.matrix import PerformanceMatrix
from ..data.trial import Trial
from ..errors import AnalysisError, InsufficientDataError, UsageError
from ..stats.samples import Array as Floats, Integers

if TYPE_CHECKING:
    from ..methods.mixture.model import Mixture

LEAST = 10  # runs of a cell in all its sessions, or it is not tested
_FEWEST = 3  # runs of a series that say something about their order


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunTable:
    """One entry a run in each array of shape (runs,), in the order of execution.

    `benchmark`, `variant` and `session` number the names in the fields below; `block` is the round of all
    cells within its session, from 0, -1 where it is not known; `start_s` seconds since the session's
    first run, nan where not known. `ordered` tells whether the order of runs of different cells is
    known, `in_order` that of the runs of one cell: not where another tool's file lists them.
    """

    benchmarks: tuple[str, ...]
    variants: tuple[str, ...]
    sessions: tuple[int | str, ...]
    values: Floats
    benchmark: Integers
    variant: Integers
    session: Integers
    block: Integers
    start_s: Floats
    ordered: bool
    in_order: bool = True

    @property
    def logs(self) -> Floats:
        """Natural logarithms; nan where a value is 0 or less."""
        found = np.full(self.values.shape, np.nan)
        positive = self.values > 0
        found[positive] = np.log(self.values[positive])
        return found


def of_trial(trial: Trial, metric: str, variants: Sequence[str] | None = None) -> RunTable:
    """Give the runs of a trial that count: measured, ended ok, with a value of the metric."""
    names = trial.manifest.variants
    for name in variants or ():
        if name not in names:
            known = f"known here: {', '.join(map(format, names))}"
            raise UsageError(f"the trial has no variant {name!r}", str(trial.path), known)
    values = trial.values(metric)
    used = trial.measured & np.isfinite(values)
    if variants is not None:
        used &= np.isin(trial.variant, [names.index(name) for name in variants])
    rows = np.flatnonzero(used)
    if not rows.size:
        what = f"no run has a value of {metric!r} that counts"
        fix = "measure more, or look at the failed runs"
        raise InsufficientDataError(what, str(trial.path), fix, n=0, needed=1)
    labels, session = np.unique(trial.session[rows], return_inverse=True)
    starts = trial.start_ns[rows]
    start_s = np.full(rows.size, np.nan)
    for k in range(labels.size):
        mine = np.flatnonzero((session == k) & (starts >= 0))
        # the clock orders runs of one boot only; what goes back tells nothing
        if mine.size and (np.diff(starts[mine]) >= 0).all():
            start_s[mine] = (starts[mine] - starts[mine[0]]) / 1e9
    measured = trial.manifest.origin != "imported"
    return RunTable(
        benchmarks=trial.manifest.benchmarks,
        variants=names,
        sessions=tuple(int(label) for label in labels),
        values=values[rows],
        benchmark=trial.benchmark[rows],
        variant=trial.variant[rows],
        session=session.astype(np.int64).reshape(-1),
        block=np.where(trial.block[rows] > 0, trial.block[rows] - 1, -1),
        start_s=start_s,
        ordered=measured,
        in_order=measured,
    )


def of_matrix(matrix: PerformanceMatrix) -> RunTable:
    """Give the runs of a matrix; their order is known within each benchmark only."""
    labels = matrix.sessions, matrix.blocks
    ids = (None if each is None else [row.tolist() for row in each] for each in labels)
    return _of_one_variant(matrix.name, matrix.benchmarks, matrix.samples, *ids)


def of_values(values: Floats, sessions: Sequence[int] | None) -> RunTable:
    """Give values of one cell, each of the session named, or all of one."""
    ids = None if sessions is None else [list(sessions)]
    return _of_one_variant("values", ("runs",), (values,), ids, None)


_Ids = Sequence[Sequence[int | str]] | None


def _of_one_variant(
    name: str, benchmarks: tuple[str, ...], samples: Sequence[Floats], sessions: _Ids, blocks: _Ids
) -> RunTable:
    counts = [values.size for values in samples]
    benchmark = np.repeat(np.arange(len(counts)), counts)
    zeros = np.zeros_like(benchmark)
    labels, session = ((1,), zeros) if sessions is None else _numbered(sessions)
    block = zeros - 1
    if blocks is not None:
        _, named = _numbered(blocks)
        for k in np.unique(session):
            mine = session == k
            block[mine] = np.unique(named[mine], return_inverse=True)[1].reshape(-1)
    return RunTable(
        benchmarks=benchmarks,
        variants=(name,),
        sessions=labels,
        values=np.concatenate(samples),
        benchmark=benchmark,
        variant=zeros,
        session=session,
        block=block,
        start_s=np.full(benchmark.size, np.nan),
        ordered=False,
    )


def _numbered(rows: Sequence[Sequence[int | str]]) -> tuple[tuple[int | str, ...], Integers]:
    """Give ids their places, in the order in which they are first met."""
    flat = [label for row in rows for label in row]
    places = {label: k for k, label in enumerate(dict.fromkeys(flat))}
    return tuple(places), np.array([places[label] for label in flat], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Series of C cells in S sessions, of at most R runs, of the runs of `table`.

    `benchmark` and `variant`, of shape (C,), are the cell. Of shape (C, S, R) are `row`, the place of
    each run in the table, -1 where there is none; `values`, nan where there is none; and `scores`,
    midranks within the series less their mean: 0 where there is no run, and throughout a series that is
    too short or has one value only. Of shape (C, S) are `counts`, the runs of each series, and
    `squares`, the sums of the squared scores.
    """

    table: RunTable
    benchmark: Integers
    variant: Integers
    row: Integers
    values: Floats
    counts: Integers
    scores: Floats
    squares: Floats

    @property
    def present(self) -> NDArray[np.bool_]:
        """Where there is a run."""
        return self.row >= 0

    @property
    def cells(self) -> list[dict[str, Any]]:
        """The benchmark and the variant of each cell."""
        benchmarks, variants = self.table.benchmarks, self.table.variants
        both = zip(self.benchmark.tolist(), self.variant.tolist(), strict=True)
        return [{"benchmark": benchmarks[b], "variant": variants[v]} for b, v in both]

    @property
    def runs(self) -> Integers:
        """The runs of each cell, shape (C,)."""
        found: Integers = self.counts.sum(axis=1)
        return found

    @property
    def logs(self) -> Floats:
        """The logarithms of the values, shape (C, S, R); nan where there is none."""
        return np.where(self.present, self.table.logs[self.row], np.nan)

    def scaled(self) -> Floats:
        """Scores with variance 1 within each series (0 where all are equal), shape (C, S, R)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.sqrt(self.counts / self.squares)
        scale[~np.isfinite(scale)] = 0.0
        return self.scores * scale[:, :, None]


def series_of(table: RunTable) -> Series:
    """Arrange the runs of a table by cell and session."""
    sessions = len(table.sessions)
    cells, cell = np.unique(
        table.benchmark * len(table.variants) + table.variant, return_inverse=True
    )
    group = cell.reshape(-1) * sessions + table.session
    order = np.argsort(group, kind="stable")
    counts = np.bincount(group, minlength=cells.size * sessions)
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    place = np.arange(order.size) - np.repeat(starts, counts)
    shape = (cells.size, sessions, int(counts.max()))
    row = np.full(shape, -1, dtype=np.int64)
    row.reshape(cells.size * sessions, -1)[group[order], place] = order
    values = np.where(row >= 0, table.values[row], np.nan)
    counts = counts.reshape(shape[:2])
    ranks = midranks_along(np.where(row >= 0, values, np.inf))
    centred = ranks - ((counts + 1) / 2)[:, :, None]
    scores = np.where((row >= 0) & (counts >= _FEWEST)[:, :, None], centred, 0.0)
    benchmark, variant = np.divmod(cells, len(table.variants))
    squares = (scores**2).sum(axis=2)
    return Series(table, benchmark, variant, row, values, counts, scores, squares)


def midranks_along(values: Floats) -> Floats:
    """Rank along the last axis from 1, equal values by their mean rank; what is absent is infinite."""
    size = values.shape[-1]
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    new = np.ones(values.shape, dtype=np.bool_)
    new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    last = np.ones(values.shape, dtype=np.bool_)
    last[..., :-1] = new[..., 1:]
    at = np.arange(size)
    first = np.maximum.accumulate(np.where(new, at, 0), axis=-1)
    final = np.minimum.accumulate(np.where(last, at, size)[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + final) / 2 + 1, axis=-1)
    return ranks


def middle_of(values: Floats) -> Floats:
    """Give the median along the last axis of what is known; nan where nothing is."""
    ordered = np.sort(values, axis=-1)
    last = np.maximum(np.isfinite(values).sum(axis=-1) - 1, 0)
    low = np.take_along_axis(ordered, (last // 2)[..., None], axis=-1)[..., 0]
    high = np.take_along_axis(ordered, ((last + 1) // 2)[..., None], axis=-1)[..., 0]
    return low / 2 + high / 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellTests:
    """One test on each of C cells; each array has the shape (C,), p-values are nan where not possible.

    `session` and `place`, of a test that looks for one change: the session in which it is, and the
    first run after it.
    """

    code: str
    pvalues: Floats
    session: NDArray[np.int64] | None = None
    place: NDArray[np.int64] | None = None


def within_sessions(series: Series) -> tuple[CellTests, ...]:
    """Test every cell of 10 runs or more."""
    tests = (
        CellTests(code="order", pvalues=two_sided(_order(series))),
        CellTests(code="lag-1", pvalues=two_sided(_over_sessions(*lag_moments(series, 1)))),
        CellTests(code="ljung-box", pvalues=_ljung_box(series)),
        CellTests(code="runs-test", pvalues=_median_runs(series)),
        _change_point(series),
        CellTests(code="warm-up", pvalues=two_sided(_first(series))),
    )
    for test in tests:
        test.pvalues[series.runs < LEAST] = np.nan
    return tests


def two_sided(z: Floats) -> Floats:
    """Give the p-values of standard normal statistics, never 0."""
    found: Floats = np.clip(2 * ndtr(-np.abs(z)), np.finfo(np.float64).tiny, 1.0)
    return found


def _over_sessions(statistic: Floats, mean: Floats, variance: Floats) -> Floats:
    """Add up series to one standard normal value a cell; nan where nothing varies."""
    total = np.nansum(variance, axis=1)
    apart = np.nansum(statistic - mean, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, apart / np.sqrt(total), np.nan)


def _order(series: Series) -> Floats:
    """Correlate ranks with their order (Spearman), over all sessions."""
    n = series.counts[:, :, None]
    place = np.where(series.present, np.arange(series.row.shape[2]) - (n - 1) / 2, 0.0)
    statistic = (series.scores * place).sum(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = series.squares * (place**2).sum(axis=2) / (series.counts - 1)
    variance = np.where(series.squares > 0, variance, 0.0)  # what says nothing has no part
    return _over_sessions(statistic, np.zeros_like(statistic), variance)


def lag_moments(series: Series, lag: int) -> tuple[Floats, Floats, Floats]:
    """Give the sum of products at a lag, its mean and its variance over all orders (shape (C, S)).

    Wald and Wolfowitz (1943) for lag 1; here by counting which pairs of products share a run.
    """
    a, n = series.scores, series.counts.astype(np.float64)
    statistic = (a[:, :, lag:] * a[:, :, :-lag]).sum(axis=2)
    s2, s4 = series.squares, (a**4).sum(axis=2)
    products = np.maximum(n - lag, 0)
    shared = 2 * np.maximum(n - 2 * lag, 0)
    apart = products**2 - products - shared
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = -products * s2 / (n * (n - 1))
        alone = products * (s2**2 - s4) / (n * (n - 1))
        variance = alone + shared * (2 * s4 - s2**2) / (n * (n - 1) * (n - 2)) - mean**2
        far = apart * (3 * s2**2 - 6 * s4) / (n * (n - 1) * (n - 2) * (n - 3))
    variance = variance + np.where((n > 3) & (apart > 0), far, 0.0)
    usable = (n > lag + 1) & (n > 3) & (s2 > 0)
    statistic, mean = np.where(usable, statistic, 0.0), np.where(usable, mean, 0.0)
    return statistic, mean, np.where(usable, np.maximum(variance, 0.0), 0.0)


def autocorrelation(series: Series, lag: int) -> Floats:
    """Estimate each cell's rank autocorrelation within sessions, less its mean by chance."""
    statistic, mean, _ = lag_moments(series, lag)
    share = np.maximum(series.counts - lag, 0) / np.maximum(series.counts, 1)
    scale = (series.squares * share).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(scale > 0, (statistic - mean).sum(axis=1) / scale, np.nan)


def _ljung_box(series: Series) -> Floats:
    """Apply a portmanteau test: the squared standardised sums of products of several lags."""
    lags = min(5, max(1, (series.row.shape[2] - 1) // 3))
    found = np.full(series.counts.shape[0], np.nan)
    if lags < 2:
        return found
    z = np.array([_over_sessions(*lag_moments(series, lag)) for lag in range(1, lags + 1)])
    freedom = np.isfinite(z).sum(axis=0)
    tested = freedom >= 2
    found[tested] = chdtrc(freedom[tested], np.nansum(z**2, axis=0)[tested])
    np.clip(found, np.finfo(np.float64).tiny, 1.0, out=found)
    return found


def _median_runs(series: Series) -> Floats:
    """Count runs above and below the median (Wald and Wolfowitz 1940), values equal to it left out."""
    with np.errstate(invalid="ignore"):
        middle = middle_of(series.values)
        side = np.where(series.present, np.sign(series.values - middle[:, :, None]), 0.0)
    above, below = (side > 0).sum(axis=2), (side < 0).sum(axis=2)
    at = np.where(side != 0, np.arange(side.shape[2]), -1)
    latest = np.maximum.accumulate(at, axis=2)
    filled = np.where(latest >= 0, np.take_along_axis(side, np.maximum(latest, 0), axis=2), 0.0)
    changes = (filled[:, :, 1:] * filled[:, :, :-1] < 0).sum(axis=2)
    n = (above + below).astype(np.float64)
    usable = (above > 0) & (below > 0) & (n > 3)
    with np.errstate(divide="ignore", invalid="ignore"):
        pairs = 2.0 * above * below
        mean = np.where(usable, pairs / n, 0.0)
        variance = np.where(usable, pairs * (pairs - n) / (n**2 * (n - 1)), 0.0)
        total = variance.sum(axis=1)
        apart = np.abs(np.where(usable, changes - mean, 0.0).sum(axis=1))
        z = np.where(total > 0, np.maximum(apart - 0.5, 0.0) / np.sqrt(total), np.nan)
    return two_sided(z)


def _change_point(series: Series) -> CellTests:
    """Look for one shift within a session: the largest partial sum of ranks (Pettitt 1979).

    Held against Kolmogorov's law, in each session of 10 runs or more; of several sessions the
    smallest p-value counts, times their number.
    """
    n = series.counts
    usable = (n >= LEAST) & (series.squares > 0)
    sums = np.abs(np.cumsum(series.scores, axis=2))
    with np.errstate(divide="ignore", invalid="ignore"):
        height = sums.max(axis=2) / np.sqrt(n * series.squares / (n - 1))
    p = np.where(usable, kolmogorov(np.where(usable, height, 0.0)), np.inf)
    which = p.argmin(axis=1)
    cells = np.arange(which.size)
    tested = usable.sum(axis=1)
    least = np.where(tested > 0, p[cells, which], 1.0) * tested
    found = np.where(tested > 0, np.clip(least, np.finfo(np.float64).tiny, 1.0), np.nan)
    place = sums.argmax(axis=2)[cells, which] + 1
    return CellTests(code="change-point", pvalues=found, session=which, place=place)


def _first(series: Series) -> Floats:
    first = series.scores[:, :, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(series.squares > 0, series.squares / series.counts, 0.0)
    return _over_sessions(first, np.zeros_like(first), variance)


def session_shift(series: Series) -> CellTests:
    """Test whether the sessions of each cell have one level (Kruskal and Wallis 1952, with ties).

    The hypothesis: all runs of the cell are exchangeable, over sessions too. A cell needs 10 runs,
    and two runs in each of two sessions.
    """
    cells, sessions, size = series.values.shape
    n = series.counts.astype(np.float64)
    flat = np.where(series.present, series.values, np.inf).reshape(cells, sessions * size)
    ranks = midranks_along(flat).reshape(series.values.shape)
    runs = n.sum(axis=1)
    centred = np.where(series.present, ranks - ((runs + 1) / 2)[:, None, None], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(n > 0, centred.sum(axis=2) / n, 0.0)
        among = (n * means**2).sum(axis=1)
        statistic = (runs - 1) * among / (centred**2).sum(axis=(1, 2))
    freedom = (n > 0).sum(axis=1) - 1
    tested = (runs >= LEAST) & ((n >= 2).sum(axis=1) >= 2) & np.isfinite(statistic)
    found = np.full(cells, np.nan)
    found[tested] = chdtrc(freedom[tested], statistic[tested])
    np.clip(found, np.finfo(np.float64).tiny, 1.0, out=found)
    return CellTests(code="session-shift", pvalues=found)


_FAR = 6.0  # robust standard deviations from the median of its series: a far run
NORMAL = 1.4826  # median absolute deviation to standard deviation, of a normal law


@dataclass(frozen=True, slots=True, eq=False)
class Description:
    """Figures of the C cells of `series`, each of shape (C,); nan where unknown.

    `spread` is the standard deviation of logs within sessions, pooled, `session_sd` that of session
    levels beyond what runs explain (0 where none is seen); `lag_1` the autocorrelation of ranks within
    sessions; `effective` how many independent runs would give the mean of all runs the same standard
    error; `ties` the share of runs whose value another run of the cell has too; `resolution` the
    smallest difference of two values, where there are ties. `far`, of shape (C, S, R), marks the runs
    more than six robust standard deviations from the median of their series.
    """

    series: Series
    spread: Floats
    session_sd: Floats
    lag_1: Floats
    effective: Floats
    ties: Floats
    resolution: Floats
    far: NDArray[np.bool_]


def described(series: Series) -> Description:
    """Describe all cells."""
    logs, (ties, resolution) = series.logs, _readings(series)
    factor, lag_1 = np.ones(ties.shape), np.full(ties.shape, np.nan)
    if series.table.in_order:
        factor, lag_1 = _repetition(series), autocorrelation(series, 1)
    spread, session_sd, effective = _levels(series, factor)
    apart = np.abs(logs - middle_of(logs)[:, :, None])
    scale = NORMAL * middle_of(apart.reshape(apart.shape[0], 1, -1))
    with np.errstate(invalid="ignore"):
        far = (scale > 0)[:, :, None] & (apart > _FAR * scale[:, :, None])
    return Description(series, spread, session_sd, lag_1, effective, ties, resolution, far)


def _levels(series: Series, factor: Floats) -> tuple[Floats, Floats, Floats]:
    """Estimate components of variance between and within sessions, by analysis of variance."""
    n, logs = series.counts.astype(np.float64), series.logs
    runs, sessions = n.sum(axis=1), (n > 0).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(n > 0, np.where(series.present, logs, 0.0).sum(axis=2) / n, 0.0)
        overall = (n * means).sum(axis=1) / runs
        inside = np.where(series.present, logs - means[:, :, None], 0.0)
        within = (inside**2).sum(axis=(1, 2)) / (runs - sessions)
        among = np.where(n > 0, n * (means - overall[:, None]) ** 2, 0.0).sum(axis=1)
        among = among / (sessions - 1)
        typical = (runs - (n**2).sum(axis=1) / runs) / (sessions - 1)
        shift = np.maximum(among - factor * within, 0.0) / typical
        single = sessions < 2
        share = (n**2).sum(axis=1) / runs**2  # 1/S where sessions have as many runs
        error = np.where(single, 0.0, shift) * share + factor * within / runs
        effective = (np.where(single, 0.0, shift) + within) / error
    effective = np.where((within > 0) & np.isfinite(effective), np.minimum(effective, runs), np.nan)
    session_sd = np.where(single | ~np.isfinite(shift), np.nan, np.sqrt(np.abs(shift)))
    return np.where(runs > sessions, np.sqrt(within), np.nan), session_sd, effective


def _repetition(series: Series) -> Floats:
    """Give by how much autocorrelation multiplies the variance of a session's mean (1: not at all).

    Lags are counted while they are surely positive, so that independent runs count in full.
    """
    found = np.ones(series.counts.shape[0])
    going = np.ones(found.shape, dtype=np.bool_)
    size = series.row.shape[2]
    typical = np.maximum(series.counts.max(axis=1), 1)
    for lag in range(1, min(10, size - 2) + 1):
        statistic, mean, variance = lag_moments(series, lag)
        total = variance.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (statistic - mean).sum(axis=1) / np.sqrt(total)
        going &= np.nan_to_num(z) > 2.0  # standard errors from 0
        if not going.any():
            break
        rho = np.nan_to_num(autocorrelation(series, lag))
        found += np.where(going, 2 * np.maximum(1 - lag / typical, 0) * rho, 0.0)
    return found


def _readings(series: Series) -> tuple[Floats, Floats]:
    cells = series.counts.shape[0]
    ordered = np.sort(series.values.reshape(cells, -1), axis=1)  # nan comes last
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.diff(ordered, axis=1)
    same = np.pad(steps == 0, ((0, 0), (1, 1)))
    ties = (same[:, 1:] | same[:, :-1]).sum(axis=1) / series.runs
    least = np.where((steps > 0) & np.isfinite(steps), steps, np.inf).min(axis=1, initial=np.inf)
    return ties, np.where((ties > 0) & np.isfinite(least), least, np.nan)


def size_of(test: CellTests, cell: int, figures: Description) -> float | None:
    """Give the size of a finding of one cell."""
    if test.code in ("lag-1", "ljung-box", "runs-test"):
        found = float(figures.lag_1[cell])
    elif test.code == "session-shift":
        found = math.expm1(min(float(figures.session_sd[cell]), 700.0))
    else:
        found = _relative(test, cell, figures.series)
    return found if math.isfinite(found) else None


def _relative(test: CellTests, cell: int, series: Series) -> float:
    rows = [row[row >= 0] for row in series.row[cell]]
    logs, first = series.table.logs, test.code == "warm-up"
    if test.code == "change-point" and test.session is not None and test.place is not None:
        mine = logs[rows[int(test.session[cell])]]
        cut = int(test.place[cell])
        return _apart(mine[:cut], mine[cut:])
    early, late = [np.empty(0)], [np.empty(0)]
    for row in rows:
        if row.size >= 2:
            relative, half = logs[row] - np.median(logs[row]), row.size // 2
            early.append(relative[1:] if first else relative[:half])
            late.append(relative[:1] if first else relative[-half:])
    times = 1.0 if first else 2.0  # halves lie half a session apart
    return _apart(np.concatenate(early), np.concatenate(late), times)


def _apart(before: Floats, after: Floats, times: float = 1.0) -> float:
    if not (before.size and after.size):
        return math.nan
    return math.expm1(min(times * float(np.median(after) - np.median(before)), 700.0))


# --- The modes of runs by their values alone: two speeds, or more.
#
# A mixture often has more modes than the runs have speeds. So neighbours are joined until a test rejects
# that they are one mode ([1]_, section 6.4; [2]_), and what holds few runs is joined with its neighbour, or
# left aside if it lies far from all.

Labels = NDArray[np.int8]
LEAST_OF_MODE = 10  # runs
_COMPONENTS = 6
_RISK = 0.05
_RESAMPLES, _SMOOTHED = 999, 199
_PLACES = 256  # between two modes, where the valley is looked for
_HINT = 0.5  # a dip's p-value without any hint of two modes
_MOST = 2000  # values that are tested; of more, this number of evenly spaced ones
_BEYOND = 4.0  # widths of the next mode: what lies further belongs to none


def modes_by_values(values: Floats, rng: np.random.Generator) -> Labels | None:
    """Tell of each run to which mode it belongs."""
    if values.size < 2 * LEAST_OF_MODE or values.min() == values.max():
        return None
    from ..methods.mixture.fit import fit_mixture  # takes half a second, for what is rare

    x = np.log(values) if values.min() > 0 else values
    try:
        mixture = fit_mixture(x, max_components=_COMPONENTS)
    except AnalysisError:  # too coarse a clock for any mixture
        return None
    groups = [one for one in np.split(np.sort(x), _valleys(x, mixture)) if one.size]
    groups = _joined(_without_few(groups), rng)
    if len(groups) < 2:
        return None
    labels = np.full(values.size, -1, dtype=np.int8)
    for k, group in enumerate(groups):
        labels[(x >= group[0]) & (x <= group[-1])] = k
    return labels


def _valleys(x: Floats, mixture: Mixture) -> list[int]:
    ordered, modes = np.sort(x), mixture.modes()
    found = []
    for left, right in itertools.pairwise(modes):
        places = np.linspace(left, right, _PLACES)
        found.append(int(np.searchsorted(ordered, places[int(mixture.pdf(places).argmin())])))
    return found


def _without_few(groups: list[Floats]) -> list[Floats]:
    """Join what holds few runs with its neighbour, or leave it out where that is far."""
    kept = list(groups)
    while len(kept) > 1 and min(one.size for one in kept) < LEAST_OF_MODE:
        at = min(range(len(kept)), key=lambda k: kept[k].size)
        neighbours = (k for k in (at - 1, at + 1) if 0 <= k < len(kept))
        near = min(neighbours, key=lambda k: _gap(kept, at, k))
        low, high = np.quantile(kept[near], (0.1, 0.9)).tolist()
        if _gap(kept, at, near) <= _BEYOND * (high - low) or kept[near].size < LEAST_OF_MODE:
            both = slice(min(at, near), max(at, near) + 1)
            kept[both] = [np.concatenate(kept[both])]
        else:
            del kept[at]
    return kept


def _gap(groups: list[Floats], one: int, other: int) -> float:
    low, high = sorted((one, other))
    return float(groups[high][0] - groups[low][-1])


def _joined(groups: list[Floats], rng: np.random.Generator) -> list[Floats]:
    """Join the neighbours that are most likely one mode, until all differ."""
    kept = list(groups)
    chances = [_one_mode(left, right, rng) for left, right in itertools.pairwise(kept)]
    while chances and max(chances) > _RISK:
        at = int(np.argmax(chances))
        kept[at : at + 2] = [np.concatenate(kept[at : at + 2])]
        del chances[at]
        for k in (at - 1, at):
            if 0 <= k < len(chances):
                chances[k] = _one_mode(kept[k], kept[k + 1], rng)
    return kept


def _one_mode(left: Floats, right: Floats, rng: np.random.Generator) -> float:
    """Give the p-value of "these two are one mode", by the dip; where it sees few, by the bandwidth.

    Either test may reject at half the risk.
    """
    from ..methods.mixture.modality import bandwidth_test, dip_test

    both = np.concatenate((left, right))
    if both[0] == both[-1]:
        return 1.0
    if both.size > _MOST:
        both = both[np.linspace(0, both.size - 1, _MOST).round().astype(np.intp)]
    dip = dip_test(both, resamples=_RESAMPLES, rng=rng).pvalue
    if 2 * dip <= _RISK or dip > _HINT:
        return min(1.0, 2 * dip)
    return min(1.0, 2 * min(dip, bandwidth_test(both, resamples=_SMOOTHED, rng=rng).pvalue))
