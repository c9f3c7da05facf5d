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
from typing import get_args

import numpy as np

from ...data.host_record import not_judged, question_of, settings_of
from ...data.trial import Trial
from ...data.trial_cautions import always_said
from ...errors import AnalysisError, UsageError
from ...pages.model import Caution, cautions_of, merged
from ...stats.arguments import checks_arguments, counted
from ...stats.samples import Array, Integers
from ...stats.variance_components import one_way, random_effects
from .covariates import CovariateRuns, Iterations, pooled
from .factor_orders import LEAST_RUNS
from .factors import factors_of
from .result import Component, Source, Sources


def design_cautions(trials: Sequence[Trial], runs: CovariateRuns) -> tuple[Caution, ...]:
    """Say what the trials cannot show, whatever their runs look like."""
    sessions = int(np.unique(runs.session).size)
    return cautions_of(
        {
            "one-session": sessions == 1
            and "all runs are of one session: what differs between sessions cannot be seen",
            "few-sessions": 1 < sessions < 5  # below, a variance between them is hardly known
            and f"from {sessions} sessions, the part of the variance between them is known roughly "
            "at best",
            "layout-not-recorded": any(map(_layout_hidden, trials))
            and "the kernel chose a new memory layout for each run (aslr: on) and it is not "
            "recorded: nothing is said of it, and padding does not tell it",
            "order-of-file": any(trial.manifest.origin == "imported" for trial in trials)
            and "the runs of another tool are taken in the order of its file; nothing is known to "
            "have been randomized",
            "sequential": any(trial.manifest.sequential for trial in trials)
            and "the number of runs depends on the values: a stopping rule ended sessions",
        }
    )


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
    ``run``. Where runs consist of iterations, the runs' variance is freed of what the mean of so many
    iterations would vary anyway.
    """
    found: list[Component] = []
    for k, variant in enumerate(runs.variants):
        rows = np.flatnonzero(runs.variant == k)
        if np.unique(runs.benchmark[rows]).size > 1:
            variances = _together(runs, rows)
            if variances is not None:
                found += _lines(variances, None, variant)
        for bench, name, mine in runs.cells():
            if name == variant:
                found += _lines(_of_cell(runs, mine), bench, variant)
    return tuple(found)


def nested(values: Array, chain: Mapping[str, Integers]) -> dict[str, tuple[int, float]]:
    """Give the variances of groups within groups, and of what is left ("rest")."""
    codes = _told_apart(values.size, chain)
    counts = {name: _count(code) for name, code in codes.items()}

    def parts(variances: Mapping[str, float], rest: float) -> dict[str, tuple[int, float]]:
        found = {name: (count, variances[name]) for name, count in counts.items()}
        return {**found, "rest": (values.size, rest)}

    if float(np.ptp(values)) < _ROUNDING:
        return parts(dict.fromkeys(counts, 0.0), 0.0)
    if not codes:
        return parts({}, float(values.var(ddof=1)) if values.size > 1 else 0.0)
    *_, smallest = codes
    if len(codes) == 1:
        fit = one_way(values, codes[smallest])
        return parts({smallest: fit.between}, 0.0 if fit.within is None else fit.within)
    if sum(counts.values()) > _MOST_LEVELS:  # its part stays in what is left
        return nested(values, {name: code for name, code in codes.items() if name != smallest})
    means = np.bincount(codes[smallest], weights=values) / np.bincount(codes[smallest])
    if float(np.abs(values - means[codes[smallest]]).max()) < _ROUNDING:
        # the groups of the groups of the smallest level
        first = np.unique(codes[smallest], return_index=True)[1]
        above = {name: code[first] for name, code in codes.items() if name != smallest}
        upper = nested(means, above)
        return {
            **{name: part for name, part in upper.items() if name != "rest"},
            smallest: upper["rest"],
            "rest": (values.size, 0.0),
        }
    several = random_effects(values, codes)
    if several is None:
        raise AnalysisError(
            f"the components of {', '.join(codes)} could not be estimated: the search did not settle",
            fix="look at fewer trials at once",
        )
    return parts(several.variances, several.variances["rest"])


def _count(code: Integers) -> int:
    return int(np.unique(code).size)


def _told_apart(size: int, chain: Mapping[str, Integers]) -> dict[str, Integers]:
    """Keep the levels that the values can tell: more groups than the one before, fewer than values."""
    kept: dict[str, Integers] = {}
    before = 1
    for name, code in chain.items():
        groups, dense = np.unique(code, return_inverse=True)
        if before < groups.size < size:
            kept[name] = dense.reshape(-1).astype(np.int64)
            before = groups.size
    return kept


def _of_cell(runs: CovariateRuns, rows: Integers) -> dict[Source, tuple[int, float]]:
    chain = {"host": runs.host[rows], "trial": runs.trial[rows], "session": runs.session[rows]}
    found = nested(runs.logs[rows], chain)
    return _with_iterations(found, runs.iterations, rows)


def _together(runs: CovariateRuns, rows: Integers) -> dict[Source, tuple[int, float]] | None:
    """Fit all benchmarks of a variant in one model; None where that cannot be done."""
    logs = runs.logs[rows]
    if float(np.ptp(logs)) < _ROUNDING:
        return None
    session, bench = runs.session[rows], runs.benchmark[rows]
    codes: dict[str, Integers] = {"benchmark": np.unique(bench, return_inverse=True)[1]}
    codes |= _told_apart(
        rows.size, {"host": runs.host[rows], "trial": runs.trial[rows], "session": session}
    )
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
    found["rest"] = (rows.size, fit.variances["rest"])
    return _with_iterations(found, runs.iterations, rows)


def _with_iterations(
    found: Mapping[str, tuple[int, float]], iterations: Iterations | None, rows: Integers
) -> dict[Source, tuple[int, float]]:
    """Divide what is left into runs and their iterations."""
    told: dict[str, tuple[int, float]] = {k: v for k, v in found.items() if k != "rest"}
    count, rest = found["rest"]
    inside = None if iterations is None else _within_runs(iterations, rows)
    if inside is None:
        told["run"] = (count, rest)
    else:
        size, variance, per_run = inside
        told["run"] = (count, max(rest - variance / per_run, 0.0))
        told["iteration"] = (size, variance)
    return {name: told[name] for name in _ORDER if name in told}


def _within_runs(iterations: Iterations, rows: Integers) -> tuple[int, float, float] | None:
    """Give how many iterations these runs have, their variance, and how many a run has."""
    place = np.full(int(max(iterations.run.max(), rows.max())) + 1, -1)
    place[rows] = np.arange(rows.size)
    mine = place[iterations.run]
    logs, run = iterations.logs[mine >= 0], mine[mine >= 0]
    counts = np.bincount(run, minlength=rows.size)
    if logs.size <= rows.size:
        return None
    means = np.bincount(run, weights=logs, minlength=rows.size) / counts
    variance = float(((logs - means[run]) ** 2).sum()) / (logs.size - rows.size)
    return int(logs.size), variance, float(1 / np.mean(1 / counts))


def _lines(
    variances: Mapping[Source, tuple[int, float]], bench: str | None, variant: str
) -> Iterator[Component]:
    total = sum(variance for _, variance in variances.values())
    for source, (levels, variance) in variances.items():
        yield Component(
            benchmark=bench,
            variant=variant,
            source=source,
            levels=levels,
            sd=math.sqrt(variance),
            share=variance / total if total > 0 else None,
        )


LEAST_ORDERS = 99  # fewer make no p-value below 0.01


@checks_arguments
def sources(
    trial_or_trials: Trial | Sequence[Trial],
    *,
    metric: str | None = None,
    permutations: int = 2000,
    confidence: float = 0.95,
    rng: np.random.Generator,
    seed: int | None = None,
    workers: int | None = None,
) -> Sources:
    """Tell where the values of one trial, or of several of the same programs, differ.

    Variance components first, then for each suspected factor an effect on the logarithms of the runs
    of one benchmark and variant, within sessions, with its interval and p-values.

    Parameters
    ----------
    trial_or_trials : Trial or sequence of Trial
        Trials of one metric; several may be of several hosts.
    metric : str, optional
        What is to be explained; by default the first that the campaign's `judge` names, else the wall
        time (of an imported trial its first).
    permutations : int
        How many other orders each factor is held against, 99 or more.
    confidence : float
        Of the intervals; 1 minus it is the family-wise risk.
    rng : numpy.random.Generator
        What draws the orders.
    seed : int, optional
        The seed that `rng` was made from, for the record.
    workers : int, optional
        Processes at the same time; they change no number. Without it a ``joblib.parallel_config``
        around the call decides on their number and kind; without either there is one.

    Returns
    -------
    Sources
        With `components`, `factors` and `modes`.

    Raises
    ------
    UsageError
        If there is no trial, one stands there twice, or has no such metric; if a number is out of range.
    InsufficientDataError
        If no run counts, or no benchmark has enough of them.
    AnalysisError
        If the trials differ in the metric's unit, or nothing varies.

    Notes
    -----
    A *randomized* factor (padding, position, the run before) is held against all orders of the runs
    within their session, as the plan drew it: its p-value is exact, whatever the noise. An *observed*
    one is held against circular shifts within the session, after a trend and the runs' first
    autocorrelation are removed from both; a permutation would take two series that are each similar to
    themselves for similar to each other. One that belongs to sessions as a whole is held against their
    orders, where there are enough of them. P-values are (k + 1) / (N + 1) [1]_; adjusted ones step
    down by the largest surprise among all factors of all benchmarks and variants [2]_.

    References
    ----------
    .. [1] B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", 2010.
    .. [2] P. H. Westfall, S. S. Young, "Resampling-Based Multiple Testing", 1993.
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
    unasked = [] if metric else [name for trial in trials for name in trial.unasked]
    runs = pooled(trials, response)
    root = int(rng.integers(2**63))
    enough = runs.logs.size >= LEAST_RUNS  # that few are alike tells nothing of a coarse clock
    if enough and float(np.ptp(runs.logs)) < _ROUNDING:
        raise AnalysisError(
            f"{response} is the same in all {runs.logs.size} runs: nothing varies",
            ", ".join(runs.trials[:3]),
            "look at another metric, or at programs whose times are measured more finely",
        )
    factors, told = factors_of(
        runs, permutations=permutations, confidence=confidence, root=root, workers=workers
    )
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
            [not_judged([*dict.fromkeys(unasked)])] if unasked else (),
            *(always_said(trial) for trial in trials),
            runs.cautions,
            told,
            design_cautions(trials, runs),
        ),
    )
