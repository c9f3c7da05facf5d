"""Calibrating on a trial: rates of false alarms, and checks of session values.

Swapping the labels of whole sessions gives such methods their 5 % by construction, whatever the data
are, so that their false alarms cannot be counted. What they suppose of the differences between two
identical variants, one a session, is tested instead: normality by Shapiro and Wilk, independence by
the likeness of neighbours, given all orders or many, and by the number of runs about the median.
One Benjamini-Hochberg over all of them.

References
----------
.. [1] A. Wald, J. Wolfowitz, "On a test whether two samples are from the same population", Annals of
   Mathematical Statistics 11, 1940.
.. [2] Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal
   Statistical Society B 57, 1995.
.. [3] J. von Neumann, "Distribution of the ratio of the mean square successive difference to the
   variance", Annals of Mathematical Statistics 12, 1941.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..data.host_record import HostNote, most_lost
from ..data.trial import Trial
from ..errors import InsufficientDataError, StoreError, UsageError
from ..pages import number_format as figures
from ..pages.model import Caution, cautions_of, merged
from ..record.environment import whole_targets
from ..record.profiles import cell_name
from ..record.shapes import ShapeError, opened, parse, records_of
from ..record.trial_files import ENVIRONMENT, RESOLVED, EnvironmentShape
from ..stats import classical as wilk
from ..stats.arguments import checks_arguments, named, stream
from ..stats.classical import least_shift
from ..stats.samples import Array
from . import certificate as certificates
from .certificate import Certificate, MethodRate
from .rates import BlockPairs, Rng, pairs_of, rates_of

FEWEST = 5  # sessions; below, no departure could be seen
_ORDERS = 9_999  # orders drawn at random where not all are listed
_EQUAL = 1e-12
_FEW_BENCHMARKS = 5
_CELL = "cwd", "stdin", "inputs", "env", "stdout", "command", "before", "after"
_HOW = (
    "measure an A/A campaign: write two variants with the same command, "
    "'variants: {one: {}, two: {}}', and no key of theirs in the commands; "
    "or name two that are one program for you: --pair A,B"
)


def checks_of(
    values: Mapping[str, ArrayLike], *, risk: float, rng: Rng
) -> tuple[certificates.SessionCheck, ...]:
    """Test the session values of each benchmark, and adjust all p-values together."""
    root = int(rng.integers(2**63))
    found: list[tuple[str, certificates.Supposed, float]] = []
    for bench, given in values.items():
        row = np.asarray(given, dtype=np.float64)
        if row.size < FEWEST or np.ptp(row) <= _EQUAL:
            continue
        normal = float(wilk.shapiro_wilk(row[None, :])[1][0])
        found.append((bench, "normality", normal))
        found.append((bench, "neighbours", lag_pvalue(row, stream(root, bench))))
        if (text := runs_pvalue(row, risk)) is not None:
            found.append((bench, "runs", text))
    adjusted = _adjusted([p for _, _, p in found])
    return tuple(
        certificates.SessionCheck(bench, test, p, q, departs=bool(q <= risk))
        for (bench, test, p), q in zip(found, adjusted, strict=True)
    )


def lag_pvalue(values: Array, rng: np.random.Generator) -> float:
    """Give the two-sided p of the likeness of neighbours, given the values in any order.

    The statistic is von Neumann's: the sum of squared steps [3]_. It is the lag-1 correlation with its
    ends mended, so that a steady drift is the extreme that it should be.
    """
    centred = values - values.mean()
    centred = centred / np.abs(centred).max()
    listed = centred.size <= 7
    if listed:
        orders = centred[np.array(list(itertools.permutations(range(centred.size))))]
    else:
        orders = rng.permuted(np.tile(centred, (_ORDERS, 1)), axis=1)
    null = -(np.diff(orders, axis=1) ** 2).sum(axis=1)
    seen = -float((np.diff(centred) ** 2).sum())
    more = int((null >= seen - _EQUAL).sum())
    less = int((null <= seen + _EQUAL).sum())
    if listed:
        return min(1.0, 2 * min(more, less) / len(null))
    return min(1.0, 2 * (min(more, less) + 1) / (len(null) + 1))


def runs_pvalue(values: Array, risk: float) -> float | None:
    """Give the two-sided p of the number of runs about the median, by its exact law."""
    above = values[values != np.median(values)] > np.median(values)
    n, m = int(above.sum()), int((~above).sum())
    if min(n, m) < 2:
        return None
    law = _law_of_runs(n, m)
    if 2 * min(law[min(law)], law[max(law)]) > risk:
        return None
    seen = int((above[1:] != above[:-1]).sum()) + 1
    few = math.fsum(p for k, p in law.items() if k <= seen)
    many = math.fsum(p for k, p in law.items() if k >= seen)
    return min(1.0, 2 * min(few, many))


def _law_of_runs(n: int, m: int) -> dict[int, float]:
    total, law = math.comb(n + m, n), {}
    for count in range(2, n + m + 1):
        k, rest = (count - 1) // 2, count // 2 - 1  # of an even count both sides have as many runs
        ways = math.comb(n - 1, k) * math.comb(m - 1, rest)
        ways += math.comb(n - 1, rest) * math.comb(m - 1, k)
        if ways:
            law[count] = ways / total
    return law


def _adjusted(pvalues: Sequence[float]) -> list[float]:
    count, least = len(pvalues), 1.0
    adjusted = [1.0] * count
    order = sorted(range(count), key=lambda k: pvalues[k])
    for rank, where in zip(range(count, 0, -1), reversed(order), strict=True):
        least = adjusted[where] = min(least, pvalues[where] * count / rank)
    return adjusted


@checks_arguments
def calibrate_trial(
    trial: Trial,
    *,
    pair: tuple[str, str] | None = None,
    methods: Sequence[str] | None = None,
    metric: str | None = None,
    confidence: float = 0.95,
    power: float = 0.8,
    rng: np.random.Generator,
    seed: int | None = None,
    workers: int | None = None,
) -> Certificate:
    """Count how often each method calls one of two identical variants the better.

    Parameters
    ----------
    trial : Trial
        From `read_trial`.
    pair : tuple of str, optional
        Two variants that execute the same program. By default the first two that the trial shows to be
        identical: program, arguments, variables, working directory and input.
    methods : sequence of str, optional
        Those of `METHOD_NAMES` that are wanted; all by default.
    metric : str, optional
        ``wall``, another metric that every run has, or one parsed from output; by default the first that
        the campaign's `judge` names, else ``wall`` (of an imported trial its first).
    confidence : float
        Of the tests, and of the intervals of their rates; between 0.5 and 1.
    power : float
        Of finding the detectable effect; between 0.5 and 1.
    rng : numpy.random.Generator
        The source of randomness; one number is drawn from it.
    seed : int, optional
        What `rng` was made of; stored only.
    workers : int, optional
        Processes at the same time; they change no number. Without it a ``joblib.parallel_config``
        around the call decides on their number and kind; without either there is one.

    Returns
    -------
    Certificate

    Raises
    ------
    UsageError
        If an argument is unknown or out of range.
    InsufficientDataError
        If no two variants are identical, or no benchmark has two blocks with runs of both.
    AnalysisError
        If a value is not finite.

    Notes
    -----
    Hypothesis: within each session the labels of the two variants are exchangeable. Each relabelling
    swaps them in whole sessions, so that what a session does to one variant stays what it is; every
    method answers each relabelling, and each answer that names a winner is a false alarm. Values that
    are 0 or less leave their benchmark out, with a caution.
    """
    for name, value in (("confidence", confidence), ("power", power)):
        if not 0.5 < value < 1:
            raise UsageError(f"{name} must lie between 0.5 and 1, not {value!r}")
    asked = (methods,) if isinstance(methods, str) else methods
    known = certificates.METHOD_NAMES
    wanted = named("method", known if asked is None else asked, known)
    ours, theirs = identical_pair(trial, pair)
    metric = trial.default_metric if metric is None else metric
    info = trial.metric(metric)
    sides = [trial.matrix(name, metric, skip_zeros=True) for name in (ours, theirs)]
    pairs = pairs_of(*sides)
    root = int(rng.integers(2**63))
    own, how = stream(root, "rates"), partial(rates_of, confidence=confidence, workers=workers)
    rates, alarms, relabellings = how(pairs, methods=frozenset(wanted), rng=own)
    risk = float(round(1 - confidence, 12))
    sign = -1.0 if info.better == "lower" else 1.0
    lost = most_lost(trial.path)
    by_session = dict(zip(pairs.benchmarks, pairs.differences(), strict=True))
    benchmarks = (
        certificates.CalibratedBenchmark(
            name=bench,
            sessions=row.size if pairs.whole else 1,
            runs=int(runs.size),
            speedup=math.exp(sign * float(row.mean())),
            spread=float(row.std(ddof=1)) if row.size > 1 else None,
            detectable=_detectable(row, risk, power),
            alarms=alarms[bench],
        )
        for (bench, row), runs in zip(by_session.items(), pairs.ours, strict=True)
    )
    return Certificate(
        trial=trial.manifest.trial,
        metric=metric,
        unit=info.unit,
        better=info.better,
        variants=(ours, theirs),
        chosen="identical" if pair is None else "asked",
        machine=certificates.machine_of(trial),
        design=certificates.design_of(trial),
        measured=trial.manifest.started,
        created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        confidence=confidence,
        power=power,
        seed=seed,
        relabelled="session" if pairs.whole else "block",
        relabellings=relabellings,
        methods=rates,
        benchmarks=tuple(benchmarks),
        detectable=_detectable(pairs.suite_differences(), risk, power),
        # of one session there is nothing to check
        checks=checks_of(by_session if pairs.whole else {}, risk=risk, rng=stream(root, "checks")),
        lost_share=None if lost is None or lost.value is None else lost.value / 100,
        cautions=merged(
            trial.cautions,
            *(side.cautions for side in sides),
            _cautions(trial, pairs, pair, rates, lost if trial.kind(metric).waits else None),
        ),
    )


def _detectable(row: Array, risk: float, power: float) -> float | None:
    """Give the smallest speedup that the t test on such differences tells with this power."""
    if row.size < 2:
        return None
    error = float(row.std(ddof=1)) / math.sqrt(row.size)
    log_speedup = float(least_shift(power, row.size - 1, risk)) * error
    return math.exp(log_speedup) if log_speedup < 100 else None


def _cautions(
    trial: Trial,
    pairs: BlockPairs,
    pair: tuple[str, str] | None,
    rates: Sequence[MethodRate],
    lost: HostNote | None,
) -> tuple[Caution, ...]:
    many, left = figures.counted(len(pairs.benchmarks), "benchmark"), pairs.left_out
    weak = tuple(one.name for one in rates if one.concluded is not None and one.concluded < 0.5)
    seldom = "few alarms say little there"
    loud = lost if lost is not None and lost.status in ("warn", "fail") else None
    table = {
        "identity-not-shown": pair is not None
        and not {pair, pair[::-1]} & set(identical_variants(trial))
        and (
            f"the trial does not show that {pair[0]!r} and {pair[1]!r} execute the same program: if "
            "they do not, true differences count as false alarms",
            *pair,
        ),
        "one-session-swapped": not pairs.whole
        and "within one session only blocks can be swapped: what another session would change, and "
        "makes run-level tests err, cannot be seen",
        "sessions-not-checked": pairs.whole
        and pairs.groups < FEWEST
        and f"{pairs.groups} sessions are too few to test whether session values are normal and "
        f"independent: that needs {FEWEST}",
        "few-benchmarks-calibrated": len(pairs.benchmarks) < _FEW_BENCHMARKS
        and any(one.level == "benchmark" for one in rates)
        and f"rates over {many} are rough: their intervals are wide",
        "runs-without-partner": left
        and f"{figures.counted(left, 'run')} left out: the other variant has none in the block",
        "seldom-concluded": weak
        and (f"{figures.listed(weak)} could not conclude in most comparisons: {seldom}", *weak),
        "cpu-lost": loud
        and f"{loud.what.partition(';')[0]}{'' if loud.session is None else f' before session {loud.session}'}: these "
        "rates are those of a host that is not quiet",
    }
    return cautions_of(table)


def identical_variants(trial: Trial) -> tuple[tuple[str, str], ...]:
    """Name the pairs of variants that are the same on every benchmark."""
    cells, programs = _identical_cells(trial.path), _programs(trial.path)
    variants, benchmarks = trial.manifest.variants, trial.manifest.benchmarks
    first = trial.manifest.baseline
    order = [first, *(name for name in variants if name != first)]

    def same(a: str, b: str) -> bool:
        return all(
            (here := cells.get((bench, a))) is not None
            and here == cells.get((bench, b))
            and (program := programs.get(cell_name(bench, a)))
            and program == programs.get(cell_name(bench, b))
            and None not in program.values()
            for bench in benchmarks
        )

    return tuple((a, b) for k, a in enumerate(order) for b in order[k + 1 :] if same(a, b))


def identical_pair(trial: Trial, pair: tuple[str, str] | None) -> tuple[str, str]:
    """Give the pair that is asked for, or the first that is identical."""
    where, variants = str(trial.path), trial.manifest.variants
    if pair is None:
        found = identical_variants(trial)
        if not found:
            what = "no two variants of the trial are identical"
            raise InsufficientDataError(what, where, _HOW, n=0, needed=1)
        return found[0]
    if wrong := [name for name in pair if name not in variants]:
        fix = f"known here: {', '.join(map(format, variants))}"
        raise UsageError(f"the trial has no variant {wrong[0]!r}", where, fix)
    if pair[0] == pair[1]:
        what = f"{pair[0]!r} stands on both sides of the pair"
        fix = "name two variants that execute the same program: their runs are compared"
        raise UsageError(what, where, fix)
    return pair


def _identical_cells(trial: Path) -> Mapping[tuple[str, str], Any]:
    """Give what each cell executes, of the resolved campaign; nothing where there is none."""
    try:
        with opened(trial / RESOLVED) as file:
            data = parse(file.read().strip())
        rows = data["campaign"]["cells"]
        return {
            (row["benchmark"], row["variant"]): json.dumps([row[x] for x in _CELL], sort_keys=True)
            for row in rows
        }
    except (OSError, StoreError, ShapeError, KeyError, TypeError):
        return {}  # a trial of the first version does not say it


def _programs(trial: Path) -> Mapping[str, Mapping[tuple[int, int], str | None]]:
    found: dict[str, dict[tuple[int, int], str | None]] = {}
    try:
        for record, row in records_of(trial / ENVIRONMENT, EnvironmentShape):
            for name, target in whole_targets(row.get("targets")).items():
                when = record.session, record.segment
                found.setdefault(name, {})[when] = target.get("sha256")
    except StoreError:
        pass  # a torn last line; of an ended trial the hashes are verified before
    return found
