"""Where the variation within trials comes from: components of variance, and suspected factors.

References
----------
.. [1] H. D. Patterson, R. Thompson, "Recovery of inter-block information when block sizes are unequal",
   Biometrika 58, 1971.
.. [2] A. R. Gilmour, R. Thompson, B. R. Cullis, "Average Information REML", Biometrics 51, 1995.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, get_args

import numpy as np

from ...data.host_record import not_judged, question_of, settings_of
from ...data.trial import Trial
from ...data.trial_cautions import constant_cautions
from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...pages import number_format as figures
from ...pages.model import Caution, cautions_of, merged
from ...stats.arguments import counted, stream
from ...stats.samples import Array, Flags, Integers
from ...stats.variance_components import one_way, random_effects
from ...stats.workers import Progress, in_order
from .covariates import AS_LEVELS, Covariate, CovariateRuns, Iterations, as_levels, pooled
from .factor_orders import (
    LEAST_IN_ROW,
    LEAST_RUNS,
    CellRuns,
    CovariateColumns,
    Directions,
    Fits,
    Shifts,
    Shuffles,
    between_sessions,
    cell_of,
    columns_of,
    pvalue,
    stepped_down,
    surprise,
)
from .result import ELSEWHERE, Component, Factor, Source, Sources


def design_cautions(trials: Sequence[Trial], runs: CovariateRuns) -> tuple[Caution, ...]:
    """Say what the trials cannot show, whatever their runs look like."""
    sessions = int(np.unique(runs.session).size)
    table = {
        "one-session": sessions == 1
        and "all runs are of one session: what differs between sessions cannot be seen",
        "few-sessions": 1 < sessions < 5  # below, a variance between them is hardly known
        and f"from {sessions} sessions, the part of the variance between them is known roughly at best",
        "layout-not-recorded": any(map(_layout_hidden, trials))
        and "the kernel chose a new memory layout for each run (aslr: on), and nothing records it: nothing "
        "is said of it, and padding does not show it",
        "order-of-file": any(trial.manifest.origin == "imported" for trial in trials)
        and "the runs of another tool are taken in the order of its file; nothing is known to have been "
        "randomized",
        "sequential": any(trial.manifest.sequential for trial in trials)
        and "the number of runs depends on the values: a stopping rule ended sessions",
    }
    return cautions_of(table)


def _layout_hidden(trial: Trial) -> bool:
    """Tell whether addresses were random: ``aslr`` is on unless the campaign says otherwise."""
    if trial.manifest.origin == "imported":
        return False
    isolation = settings_of(trial.path).get("isolation")
    return not (isinstance(isolation, dict) and isolation.get("aslr") in (False, "off"))


_ORDER: tuple[Source, ...] = get_args(Source)
_MOST_LEVELS = 4000  # of all effects together: what the likelihood takes
_ROUNDING = 1e-12  # logs nearer to each other are one value


def components_of(runs: CovariateRuns) -> tuple[Component, ...]:
    """Give the components of each benchmark and variant, and of all benchmarks of a variant together.

    The model of a logarithm is a mean and independent random effects, one for each source that the data
    can tell from the others; their variances are those of the largest restricted likelihood, in closed
    form of the ratio for one source [1]_, by average information for several [2]_. What is left is
    ``run``. Where runs consist of iterations, the runs' variance is freed of what the mean of their
    iterations would vary anyway.
    """
    found: list[Component] = []
    for k, variant in enumerate(runs.variants):
        rows = np.flatnonzero(runs.variant == k)
        if np.unique(runs.benchmark[rows]).size > 1:
            together = _together(runs, rows)
            if together is not None:
                found += _lines(runs, together, rows, None, variant)
        for bench, name, mine in runs.cells():
            if name == variant:
                chain = {name: getattr(runs, name)[mine] for name in ("host", "trial", "session")}
                found += _lines(runs, nested(runs.logs[mine], chain), mine, bench, variant)
    return tuple(found)


def nested(values: Array, chain: Mapping[str, Integers]) -> dict[str, tuple[int, float]]:
    """Give the variances of groups within groups, and of what is left ("rest")."""
    codes = _separable(values.size, chain)
    counts = {name: _count(code) for name, code in codes.items()}

    def parts(variances: Mapping[str, float], rest: float) -> dict[str, tuple[int, float]]:
        found = {name: (count, variances[name]) for name, count in counts.items()}
        return {**found, "rest": (values.size, rest)}

    if float(np.ptp(values)) < _ROUNDING:
        return parts(dict.fromkeys(counts, 0.0), 0.0)
    if not codes:
        return parts({}, float(values.var(ddof=1)) if values.size > 1 else 0.0)
    *above, smallest = codes
    code, further = codes[smallest], {name: codes[name] for name in above}
    if not above:
        fit = one_way(values, code)
        return parts({smallest: fit.between}, 0.0 if fit.within is None else fit.within)
    if sum(counts.values()) > _MOST_LEVELS:  # its part stays in what is left
        return nested(values, further)
    means = np.bincount(code, weights=values) / np.bincount(code)
    if float(np.abs(values - means[code]).max()) < _ROUNDING:
        # the groups of the groups of the smallest level
        first = np.unique(code, return_index=True)[1]
        upper = nested(means, {name: one[first] for name, one in further.items()})
        left = upper.pop("rest")
        return {**upper, smallest: left, "rest": (values.size, 0.0)}
    several = random_effects(values, codes)
    if several is None:
        what = f"the components of {', '.join(codes)} could not be estimated: the search did not settle"
        raise AnalysisError(what, fix="look at fewer trials at once")
    return parts(several.variances, several.variances["rest"])


def _count(code: Integers) -> int:
    return int(np.unique(code).size)


def _separable(size: int, chain: Mapping[str, Integers]) -> dict[str, Integers]:
    """Keep the levels that the values can tell: more groups than the one before, fewer than values."""
    kept: dict[str, Integers] = {}
    before = 1
    for name, code in chain.items():
        groups, dense = np.unique(code, return_inverse=True)
        if before < groups.size < size:
            kept[name] = dense.reshape(-1).astype(np.int64)
            before = groups.size
    return kept


def _together(runs: CovariateRuns, rows: Integers) -> dict[str, tuple[int, float]] | None:
    """Fit all benchmarks of a variant in one model; None where that cannot be done."""
    logs = runs.logs[rows]
    if float(np.ptp(logs)) < _ROUNDING:
        return None
    session, bench = runs.session[rows], runs.benchmark[rows]
    codes: dict[str, Integers] = {"benchmark": np.unique(bench, return_inverse=True)[1]}
    chain = {name: getattr(runs, name)[rows] for name in ("host", "trial", "session")}
    codes |= _separable(rows.size, chain)
    cells = np.unique(bench * (int(session.max()) + 1) + session, return_inverse=True)[1]
    if "session" in codes and _count(codes["session"]) < _count(cells) < rows.size:
        codes["benchmark:session"] = cells
    block = runs.block[rows]
    if (block >= 0).all() and _count(session) < _count(block) < rows.size:
        codes["block"] = np.unique(block, return_inverse=True)[1]
    for name in ("block", "benchmark:session"):  # the largest, where there are too many
        if sum(map(_count, codes.values())) > _MOST_LEVELS:
            codes.pop(name, None)
    fit = random_effects(logs, {name: code.astype(np.int64) for name, code in codes.items()})
    if fit is None:
        return None
    found = {name: (_count(code), fit.variances[name]) for name, code in codes.items()}
    return found | {"rest": (rows.size, fit.variances["rest"])}


def _within_runs(iterations: Iterations, rows: Integers) -> tuple[int, float, float] | None:
    """Give how many iterations these runs have, their variance, and how many a run has."""
    every, of = iterations
    place = np.full(int(max(of.max(), rows.max())) + 1, -1)
    place[rows] = np.arange(rows.size)
    mine = place[of]
    logs, run = every[mine >= 0], mine[mine >= 0]
    counts = np.bincount(run, minlength=rows.size)
    if logs.size <= rows.size:
        return None
    means = np.bincount(run, weights=logs, minlength=rows.size) / counts
    variance = float(((logs - means[run]) ** 2).sum()) / (logs.size - rows.size)
    return int(logs.size), variance, float(1 / np.mean(1 / counts))


def _lines(
    runs: CovariateRuns,
    found: Mapping[str, tuple[int, float]],
    rows: Integers,
    bench: str | None,
    variant: str,
) -> Iterator[Component]:
    """Give the components of some runs; what is left is divided into runs and their iterations."""
    parts = dict(found)
    count, rest = parts["run"] = parts.pop("rest")
    inside = None if runs.iterations is None else _within_runs(runs.iterations, rows)
    if inside is not None:
        many, variance, per_run = inside
        parts["run"] = (count, max(rest - variance / per_run, 0.0))
        parts["iteration"] = (many, variance)
    sources = [name for name in _ORDER if name in parts]
    total = sum(parts[name][1] for name in sources)
    for source in sources:
        levels, variance = parts[source]
        size: dict[str, Any] = {"sd": math.sqrt(variance)}
        size["share"] = variance / total if total > 0 else None
        yield Component(benchmark=bench, variant=variant, source=source, levels=levels, **size)


# --- Every suspected factor of every benchmark and variant: effect, interval, p-value.
#
# A count c of a run that took w may go with w as c = rate x w, whatever made it long: it accumulates. It may
# not grow at all, as the page faults of a start: then its rate c / w falls with w. Neither shows that the count
# has to do with the run's length. A rate and a count that both go with it, in one direction, do.


_LARGEST = 700.0  # of a logarithm


def spread_within(column: Array, known: Flags, sessions: tuple[Integers, ...]) -> float:
    """Give the standard deviation of a column within sessions."""
    squares, freedom = 0.0, 0
    for mine in sessions:
        there = column[mine[known[mine]]]
        if there.size > 1:
            squares += float(((there - there.mean()) ** 2).sum())
            freedom += there.size - 1
    return math.sqrt(squares / freedom) if freedom else 0.0


def _ratio(log: float) -> float:
    return math.exp(min(max(log, -_LARGEST), _LARGEST))


def witnesses(covariate: Covariate, shifts: Shifts) -> tuple[Directions, ...] | None:
    """Prepare a rate and its count, each over its mean: they differ by the logarithm of the run's time.

    None where the count is constant: its rate is only the run's time; nothing of what is no rate.
    """
    if covariate.count is None:
        return ()
    count = replace(covariate, values=covariate.count, count=None)
    if columns_of(count) is None:
        return None
    found = []
    for one in (covariate, count):
        known = np.isfinite(one.values)
        column = np.where(known, one.values, 0.0) / float(one.values[known].mean())
        found.append(shifts.prepared(column[:, None], known))
    rate, of_count = found
    return None if rate is None or of_count is None else (rate, of_count)


def beside_its_count(both: Sequence[Directions], fits: Sequence[Fits]) -> Fits:
    """Give the smaller of the two shares where both go with the runs in one direction, else 0."""
    shares = [_signed(one, fit.along) / fit.length for one, fit in zip(both, fits, strict=True)]
    found = float(_common(*shares)[0])
    # a count that grows with the run, and one that stays
    drawn = [_drawn(*one) for one in zip(both, fits, (1.0, -1.0), strict=True)]
    larger = max(drawn, key=lambda shares: int((shares >= found).sum()))
    return replace(fits[0], found=found, drawn=larger)


def _signed(one: Directions, values: Array) -> Array:
    """Turn values along a direction so that more of the column is positive."""
    return np.asarray(values * float(np.sign(one.back[0, 0])))


def _drawn(one: Directions, fits: Fits, sign: float) -> Array:
    """Give the common share of one witness in other orders, and of the other, which follows the runs."""
    own = _signed(one, fits.signed)
    size = 1 / abs(float(one.back[0, 0]))
    product = own * size * fits.lengths
    squares = size**2 + 2 * sign * product + fits.lengths**2
    with np.errstate(divide="ignore", invalid="ignore"):
        other = (product + sign * fits.lengths**2) / (fits.lengths * np.sqrt(squares))
    return _common(own, np.nan_to_num(other))


def _common(a: Array, b: Array) -> Array:
    return np.asarray(np.where(a * b > 0, np.minimum(np.abs(a), np.abs(b)) ** 2, 0.0))


class _Suspect(NamedTuple):
    """A factor that a cell can tell something of; of a rate with the directions of it and of its count."""

    covariate: Covariate
    columns: CovariateColumns
    directions: tuple[Directions, ...] = ()


class _Tested(NamedTuple):
    """What is found of a factor before it is adjusted; no surprise where the design cannot tell."""

    factor: Factor
    surprise: tuple[float, Array] | None


class FactorQuestion(NamedTuple):
    """Against how many other orders factors are held, how sure intervals are, and the root of all streams."""

    permutations: int
    confidence: float
    root: int

    def stream(self, what: str, cell: CellRuns, *factor: str) -> np.random.Generator:
        """Give the stream of a cell, or of one of its factors."""
        return stream(self.root, what, cell.benchmark, cell.variant, *factor)


def factors_of(
    runs: CovariateRuns, asked: FactorQuestion, workers: int | None = None
) -> tuple[tuple[Factor, ...], tuple[Caution, ...]]:
    """Test every covariate of every benchmark and variant, and adjust for all of them together."""
    cells, short = [], []
    for benchmark, variant, rows in runs.cells():
        cell = cell_of(runs, benchmark, variant, rows)
        if cell is None:
            short.append(f"{benchmark} / {variant}")
        else:
            cells.append(cell)
    if not cells:
        most = max((rows.size for _, _, rows in runs.cells()), default=0)
        what = f"no benchmark has {LEAST_RUNS} runs that differ, in sessions of two or more"
        fix = f"measure more: protocol: {{sessions: 3, runs: {LEAST_RUNS}}} is a beginning"
        where = ", ".join(runs.trials[:3])
        raise InsufficientDataError(what, where, fix, n=most, needed=LEAST_RUNS)
    # each covariate, and once more with whole numbers as categories
    forms = ((one, as_levels(one)) for one in runs.covariates.values())
    suspects = [one for both in forms for one in both if one is not None]
    by_cell = in_order(
        partial(_of_cell, asked=asked),
        ((cell, [one.of(cell.rows) for one in suspects]) for cell in cells),
        workers=workers,
        prefer="processes",
    )
    found = [one for of_cell in by_cell for one in of_cell]
    raised = iter(stepped_down([one.surprise for one in found if one.surprise is not None]))
    factors = tuple(
        one.factor
        if one.surprise is None
        else replace(one.factor, pvalue_adjusted=max(next(raised), one.factor.pvalue or 0.0))
        for one in found
    )
    return factors, _cautions(runs, factors, short)


def _of_cell(
    which: tuple[CellRuns, list[Covariate]], _going_on: Progress, *, asked: FactorQuestion
) -> list[_Tested]:
    cell, suspects = which
    shuffles = Shuffles(cell, asked.permutations, asked.stream("shuffles", cell))
    shifts = Shifts(cell, asked.permutations, asked.stream("shifts", cell))
    drawn: list[_Suspect] = []
    seen: list[_Suspect] = []
    apart: list[_Suspect] = []
    for covariate in suspects:
        columns = _columns(covariate)
        if columns is None:
            continue
        randomized = covariate.kind == "randomized"
        orders = shuffles if randomized else shifts
        if covariate.of_session or not columns.vary_within(cell.sessions):
            apart.append(_Suspect(covariate, columns))
            continue
        found = orders.prepared(columns.table, columns.known, either=columns.either)
        room = (cell.rows.size - len(cell.sessions)) // 2  # more directions would explain anything
        if found is None or (not found.either and found.basis.shape[1] > room):
            continue  # nothing is left without its trend, or it has a level for every few runs
        both = witnesses(covariate, shifts)
        if both is None:
            continue  # the count is constant: its rate is nothing but the run's time
        (drawn if randomized else seen).append(_Suspect(covariate, columns, (found, *both)))
    tested: list[_Tested | None] = []
    for those, orders in ((drawn, shuffles), (seen, shifts)):
        fits = iter(orders.fits([direction for one in those for direction in one.directions]))
        for one in those:
            mine = [next(fits) for _ in one.directions]
            tested.append(_tested(cell, one, mine, asked.confidence))
    tested += (_between(cell, one, asked) for one in apart)
    return [one for one in tested if one is not None]


def _columns(covariate: Covariate) -> CovariateColumns | None:
    columns = columns_of(covariate)
    if columns is None or not covariate.name.endswith(AS_LEVELS):
        return columns
    # of two whole numbers the number itself has been taken as two levels already
    two = np.unique(covariate.values[columns.known]).size == 2
    return None if two else columns


def _tested(cell: CellRuns, one: _Suspect, fits: Sequence[Fits], confidence: float) -> _Tested:
    (found, *both), (own, *others) = one.directions, fits
    known = beside_its_count(both, others) if both else own
    spread = spread_within(one.columns.table[:, 0], one.columns.known, cell.sessions)
    sure: dict[str, Any] = {"spread": spread, "fits": own, "confidence": confidence}
    factor = _factor(cell, one, found, own.along, **sure)
    return _Tested(replace(factor, pvalue=pvalue(known)), surprise(known, own))


def _between(cell: CellRuns, one: _Suspect, asked: FactorQuestion) -> _Tested | None:
    if one.columns.either:  # windows of a circle are for runs: sessions are too few for all of them
        return None
    rng = asked.stream("sessions", cell, one.covariate.name)
    known = between_sessions(cell, one.columns, asked.permutations, rng)
    if known is None:
        return None
    found, along, spread, fits = known
    fits = None if one.covariate.name == "session" else fits
    sure: dict[str, Any] = {"spread": spread, "fits": fits, "confidence": asked.confidence}
    factor = _factor(cell, one, found, along, **sure)
    if fits is not None:
        return _Tested(replace(factor, pvalue=pvalue(fits)), surprise(fits))
    if factor.effect_of != "levels":  # a slope through so few sessions is none
        factor = replace(factor, effect=None, lowest=None, highest=None)
    return _Tested(factor, None)


def _factor(
    cell: CellRuns,
    one: _Suspect,
    found: Directions,
    along: Array,
    *,
    spread: float,
    fits: Fits | None,
    confidence: float,
) -> Factor:
    """Compare the level with the highest values to that with the lowest, or a step of one deviation."""
    columns, covariate = one.columns, one.covariate
    lowest: str | None
    highest: str | None
    if columns.effect_of == "sd":
        step, lowest, highest = np.array([spread]), None, None
    elif columns.either:
        best = int(np.abs(along).argmax())
        more = float(along[best]) > 0
        step = np.zeros(along.size)
        step[best] = 1.0 if more else -1.0
        lowest, highest = ELSEWHERE, columns.labels[best]
        if not more:
            lowest, highest = highest, lowest
    else:
        fitted = columns.places @ (found.back.T @ along)
        top, bottom = int(fitted.argmax()), int(fitted.argmin())
        step = columns.places[top] - columns.places[bottom]
        lowest, highest = columns.labels[bottom], columns.labels[top]
    turned = found.back @ step
    log = float(turned @ along)
    low = high = None
    if fits is not None:
        far = float(np.quantile(fits.drawn, confidence, method="higher"))
        left = max(1 - fits.found, 0.0) * fits.length**2
        half = math.inf
        if far < 1 - 1e-9:  # a share that is nearer to 1 leaves nothing
            half = math.sqrt(float(turned @ turned) * left * far / (1 - far))
        low, high = _ratio(log - half), _ratio(log + half)
    return Factor(
        benchmark=cell.benchmark,
        variant=cell.variant,
        factor=covariate.name,
        kind=covariate.kind,
        effect=_ratio(log),
        effect_of=columns.effect_of,
        low=low,
        high=high,
        lowest=lowest,
        highest=highest,
        runs=int(columns.known.sum()),
        pvalue=None,
        pvalue_adjusted=None,
        known_before=covariate.known_before,
        causal=covariate.kind == "randomized",
        may_follow=covariate.may_follow,
    )


def _varies(runs: CovariateRuns, covariate: Covariate) -> bool:
    values = covariate.values if covariate.count is None else covariate.count
    return any(
        np.unique(values[rows][np.isfinite(values[rows])]).size > 1 for _, _, rows in runs.cells()
    )


def _cautions(
    runs: CovariateRuns, factors: Sequence[Factor], short: Sequence[str]
) -> tuple[Caution, ...]:
    looked = {one.factor for one in factors}
    constant: list[str] = []
    untested: list[str] = []
    for name, one in runs.covariates.items():
        if name not in looked:
            (untested if _varies(runs, one) else constant).append(one.name)
    untold = dict.fromkeys(one.factor for one in factors if one.pvalue is None)
    apart = [name for name in untold if name != "session"]
    sessions = figures.counted(int(np.unique(runs.session).size), "session")
    few = (
        f"too few runs that differ ({LEAST_RUNS} in sessions of two or more are needed) to look for "
        f"factors: {figures.listed(short)}"
    )
    hidden = (
        f"not tested: {figures.listed(untested, 12)}; what is only seen of the runs needs sessions of "
        f"{LEAST_IN_ROW} runs of a cell, no more levels than half of the runs, and values that are no "
        "straight line in time"
    )
    level = (
        f"cannot tell: in {sessions}, nothing separates what differs between sessions only from the sessions "
        f"themselves: {figures.listed(apart, 12)}"
    )
    same = f"not tested, because they do not vary: {figures.listed(constant, 12)}"
    table = {
        "cells-too-short": short and (few, *short),
        "factor-constant": constant and (same, *constant),
        "factor-untested": untested and (hidden, *untested),
        "session-level-factor": apart and (level, *apart),
    }
    return cautions_of(table)


LEAST_ORDERS = 99  # fewer make no p-value below 0.01


def within_trials(
    trial_or_trials: Trial | Sequence[Trial],
    *,
    metric: str | None = None,
    permutations: int = 2000,
    confidence: float = 0.95,
    rng: np.random.Generator,
    seed: int | None = None,
    workers: int | None = None,
) -> Sources:
    """Divide the variance, and hold every suspected factor against other orders.

    The arguments are those of `analysis.diagnose.modes.sources`, which adds the modes.
    """
    trials = [trial_or_trials] if isinstance(trial_or_trials, Trial) else list(trial_or_trials)
    if not trials:
        raise UsageError("there is no trial", fix="name runs/NAME")
    names = [trial.manifest.trial for trial in trials]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"the trial {twice} is there twice", fix="name each trial once")
    if not 0.5 <= confidence < 1:
        raise UsageError(f"confidence must lie between 0.5 and 1, and is {confidence:g}")
    counted("permutations", permutations, least=LEAST_ORDERS)
    response = metric or question_of(trials)
    unnamed = [] if metric else [name for trial in trials for name in trial.unnamed]
    runs = pooled(trials, response)
    root = int(rng.integers(2**63))
    enough = runs.logs.size >= LEAST_RUNS  # that few are alike tells nothing of a coarse clock
    if enough and float(np.ptp(runs.logs)) < _ROUNDING:
        what = f"{response} is the same in all {runs.logs.size} runs: nothing varies"
        fix = "look at another metric, or at programs whose times are measured more finely"
        raise AnalysisError(what, ", ".join(runs.trials[:3]), fix)
    factors, known = factors_of(runs, FactorQuestion(permutations, confidence, root), workers)
    return Sources(
        of=tuple(names),
        response=response,
        unit=trials[0].metric(response).unit,
        confidence=confidence,
        permutations=permutations,
        seed=seed,
        components=components_of(runs),
        factors=factors,
        cautions=merged(
            not_judged([*dict.fromkeys(unnamed)]),
            *(constant_cautions(trial) for trial in trials),
            runs.cautions,
            known,
            design_cautions(trials, runs),
        ),
    )
