"""From a stored profile to its answer: which functions' time differs, with what certainty.

In addition to the metrics that the trial has, the numbers of every run are judged that are no metrics elsewhere: page
faults and switches; and instructions per cycle, where both were counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit

from ..data.columns import MetricColumn
from ..data.matrix import PerformanceMatrix
from ..data.trial import Trial, read_trial
from ..errors import InsufficientDataError
from ..methods.multilevel.compare import lines_of_metrics
from ..methods.multilevel.design import whole_matrix
from ..methods.multilevel.law import word_of
from ..record.profiles import StoredProfile, cell_name, read_profile
from ..record.run_numbers import METRIC_NUMBERS
from ..stats.arguments import between, checks_arguments
from ..stats.classical import student_pvalue
from ..stats.multiplicity import adjusted
from ..stats.samples import Array
from .session_profiles import FunctionName, SessionTable, Side, names_of, table_of
from .why_result import (
    CYCLES,
    FEWEST_SAMPLES,
    FEWEST_SESSIONS,
    INSTRUCTIONS,
    LEAST_SHARE,
    PER_CYCLE,
    Counter,
    Opposite,
    Presence,
    Row,
    Why,
    Withheld,
    cautions_of,
    story_of,
)

# --- A difference over sessions with its interval, and the correction for how many functions are looked at.
#
# t over sessions: the n differences of a row have a mean and a standard error, n - 1 degrees of
# freedom. Of a function the error is never smaller than what counting whole samples leaves unknown.
#
# A function that each profiled run executes once, in one piece that lasts lambda samples, is hit
# floor(lambda) times or once more: with variance f (1 - f) for the fraction f of lambda, 1/6 in the
# mean over f. Over r runs the sum has r / 6, and a sample stands for `step` milliseconds, so that a
# session's difference has a variance of at least r / 6 (step_baseline^2 + step_candidate^2). Without
# it, functions of a few samples a session would have equal differences in four or six sessions by
# chance, an error near 0, and names that are false.

_ONE_PIECE = 1 / 6  # variance of the count of a piece of any length


def counting_variance(baseline: Side, candidate: Side) -> float:
    """Give the least variance that counting gives a session's difference of a function, in ms squared."""
    each = [_ONE_PIECE * side.runs * side.step**2 for side in (baseline, candidate)]
    return float(np.mean(each[0] + each[1]))


def interval_of(
    differences: Array, confidence: float, least: float = 0.0
) -> tuple[float | None, float | None, float | None]:
    """Give low, high and p of the mean of the differences of n sessions, each of the variance `least` at least.

    All are None with one session; the p is None as well where there is no spread and a difference.
    """
    n = differences.size
    if n < 2:
        return None, None, None
    mean = float(differences.mean())
    error = math.sqrt(max(float(differences.var(ddof=1)), least) / n)
    reach = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
    p = None if error == 0 and mean != 0 else student_pvalue(mean, error, n - 1.0, "two-sided")
    return mean - reach, mean + reach, p


def row_of(
    baseline: Array,
    candidate: Array,
    confidence: float,
    least: float = 0.0,
    **known: Any,  # noqa: ANN401 - fields of a Row
) -> Row:
    """Make a row of both variants' times by session, in milliseconds."""
    low, high, p = interval_of(candidate - baseline, confidence, least)
    before, after = float(baseline.mean()), float(candidate.mean())
    return Row(
        baseline_ms=before,
        candidate_ms=after,
        difference_ms=after - before,
        low_ms=low,
        high_ms=high,
        pvalue=p,
        **known,
    )


def holm(pvalues: list[float | None]) -> list[float | None]:
    """Correct the p-values of one family by Holm's method; an unknown one counts, as 1, and stays unknown."""
    found = adjusted([1.0 if p is None else p for p in pvalues], "holm").tolist()
    return [None if p is None else one for p, one in zip(pvalues, found, strict=True)]


def corrected(rows: list[Row], risk: float, *, names: bool) -> list[Row]:
    """Give the rows of one family with their adjusted p-values, named where `names` may be and they hold."""
    return [
        replace(row, pvalue_adjusted=p, named=names and p is not None and p <= risk)
        for row, p in zip(rows, holm([row.pvalue for row in rows]), strict=True)
    ]


def by_evidence(row: Row) -> tuple[float, float, str, str]:
    """Order rows: the smallest p first, then the largest difference, then the name."""
    p = math.inf if row.pvalue is None else row.pvalue
    return p, -abs(row.difference_ms), row.function, row.object


# numbers of every run that no verdict asks for; the counter that counts the same, if a campaign names it
_FURTHER = {
    "minor_faults": ("minor-faults", "page-faults"),
    "major_faults": ("major-faults",),
    "voluntary_switches": (),
    "involuntary_switches": (),
}
MARGIN = 0.01  # the largest difference that counts as none, as in a verdict


def judged_counters(
    trial: Trial,
    benchmark: str,
    baseline: str,
    variant: str,
    *,
    confidence: float,
    waits: Sequence[Row] = (),
) -> tuple[tuple[Counter, ...], tuple[Row, ...]]:
    """Judge a benchmark's candidate by all metrics of its timed runs.

    Words and adjusted p-values are Holm's over all of them together with the rows `waits`; "equivalent" is two
    one-sided tests at half the risk, within 1 %. Gives the counters by evidence, and these rows with theirs.
    """
    risk = 1 - confidence
    known = _with_further(trial)

    def sides_of(metric: str) -> Iterator[PerformanceMatrix]:
        for name in (variant, baseline):
            whole = whole_matrix(known.matrix(name, metric, carry_zeros=True))
            if benchmark not in whole.benchmarks:
                raise InsufficientDataError(f"no run of {benchmark!r} has {metric}", n=0, needed=1)
            yield replace(whole, iterations=None, run_of=None).select([benchmark])

    metrics = (*METRIC_NUMBERS, *known.manifest.metrics)
    lines = [*lines_of_metrics(metrics, sides_of, confidence=confidence, margin=MARGIN)]
    different = holm([*(one.pvalue for one in lines), *(row.pvalue for row in waits)])
    equal = adjusted([one.pvalue_equivalent for one in lines], "holm").tolist()
    counters = []
    for line, p, q in zip(lines, different, equal, strict=False):
        assert p is not None
        info = known.metric(line.metric)
        ratios = line.speedup, line.low, line.high
        if info.better == "lower":
            ratios = 1 / line.speedup, 1 / line.high, 1 / line.low
        counter = Counter(
            metric=line.metric,
            unit=info.unit,
            better=info.better,
            word=word_of(line.speedup - 1, equivalent=q <= risk / 2, differs=p <= risk),
            ratio=ratios[0],
            low=ratios[1],
            high=ratios[2],
            pvalue=line.pvalue,
            pvalue_adjusted=p,
        )
        counters.append(counter)
    counters.sort(key=lambda one: (one.pvalue, one.metric))
    theirs = zip(waits, different[len(lines) :], strict=True)
    return tuple(counters), tuple(replace(row, pvalue_adjusted=p) for row, p in theirs)


def _with_further(trial: Trial) -> Trial:
    """Give the trial with further metrics, made of what its runs hold.

    Numbers of its builds are left out: how long a compiler took explains no run.
    """
    stored = trial.manifest.metrics
    metrics: dict[str, Any] = {k: one for k, one in stored.items() if trial.kind(k).of != "build"}
    columns = {k: one for k, one in trial.metrics.items() if k not in stored or k in metrics}

    def add(name: str, values: Array, **about: str) -> None:
        there = np.isfinite(values)
        if name not in metrics and there.any():
            metrics[name] = {"unit": "1", "better": "lower", **about}
            offsets = np.concatenate([[0], np.cumsum(there)])
            columns[name] = MetricColumn(values=values[there], offsets=offsets)

    for name, counters in _FURTHER.items():
        if not any(one in metrics for one in counters):
            add(name, trial.numbers[name])
    if all(trial.kind(name).counted for name in (INSTRUCTIONS, CYCLES)):
        counts, cycles = (columns[name].per_run() for name in (INSTRUCTIONS, CYCLES))
        ratio = counts / np.where(cycles > 0, cycles, math.nan)
        add(PER_CYCLE, ratio, better="higher", source="counters")
    return replace(trial, metrics=columns, manifest=replace(trial.manifest, metrics=metrics))


# --- The parts of the time on the processors: functions of 1 % and more, all others together, and
# what no sample shows.

OTHERS, UNSEEN = "others", "kernel, not seen"
_EXPECTED = 7  # samples: where 7 are expected, none comes once in e^7 = 1097 times
_PAIRS = 3  # of opposite rows, at most


def parts_of(
    table: SessionTable, confidence: float
) -> tuple[dict[FunctionName, tuple[Row, Array]], list[Row]]:
    """Divide a table into rows that add up to the total: functions with their differences by session, and what is none."""
    sides = table.baseline, table.candidate
    least = counting_variance(*sides)
    shares = np.stack([side.shares.mean(axis=0) for side in sides])
    large = np.flatnonzero((shares >= LEAST_SHARE).any(axis=0))
    small = np.setdiff1d(np.arange(len(table.names)), large)
    before, after = (side.functions for side in sides)
    functions = {}
    for k in large.tolist():
        name = table.names[k]
        known = {"presence": _presence(*sides, k), "was": table.was.get(name)}
        row = row_of(before[:, k], after[:, k], confidence, least, **name._asdict(), **known)
        functions[name] = row, after[:, k] - before[:, k]
    rest = []
    if small.size:
        both = before[:, small].sum(axis=1), after[:, small].sum(axis=1)
        rest.append(row_of(*both, confidence, least, function=OTHERS))
    if any(side.unseen.any() for side in sides):
        unseen = table.baseline.unseen, table.candidate.unseen
        rest.append(row_of(*unseen, confidence, function=UNSEEN))
    return functions, rest


def _presence(baseline: Side, candidate: Side, function: int) -> Presence:
    """Tell whether a variant has no sample of a function where chance alone hardly leaves none."""
    before, after = (int(side.counts[:, function].sum()) for side in (baseline, candidate))
    ratio = float(candidate.samples.sum() / baseline.samples.sum())
    if after == 0 and before * ratio >= _EXPECTED:
        return "gone"
    return "new" if before == 0 and after / ratio >= _EXPECTED else "both"


def opposite_of(
    rows: Sequence[Row],
    functions: Mapping[FunctionName, tuple[Row, Array]],
    stored: StoredProfile,
    benchmark: str,
    confidence: float,
) -> tuple[Opposite, ...]:
    """Give named rows with rows of the other sign that may carry a part of their cost, and the sums.

    The other row's own interval must lie on the other side of 0. Where chains were recorded, both must stand in one.
    """
    pairs = [
        (one, other)
        for one, other in product(rows, rows)
        if one.named
        and one.difference_ms * other.difference_ms < 0
        and other.pvalue is not None
        and other.pvalue <= 1 - confidence
        and not (other.named and rows.index(other) < rows.index(one))
        and one.presence == other.presence == "both"  # else it may have been renamed
    ]
    found = []
    for one, other in pairs:
        together = None
        if stored.profile.chains is not None:
            together = _in_one_chain(stored, benchmark, one, other)
            if not together:
                continue
        both = [functions[FunctionName(row.function, row.object)] for row in (one, other)]
        total = both[0][1] + both[1][1]
        low, high, _ = interval_of(total, confidence)
        found.append(Opposite((one.name, other.name), float(total.mean()), low, high, together))
    return tuple(found[:_PAIRS])


def _in_one_chain(stored: StoredProfile, benchmark: str, one: Row, other: Row) -> bool:
    name_of = names_of(stored, benchmark)
    wanted = [
        {FunctionName(name, row.object) for name in (row.function, row.was) if name is not None}
        for row in (one, other)
    ]
    for cell in stored.cells:
        if cell.benchmark != benchmark:
            continue
        called = [name_of(each.symbol, each.object) for each in cell.functions]
        for chain in cell.chains or ():
            frames = {called[frame] for frame in chain.frames}
            if all(not frames.isdisjoint(those) for those in wanted):
                return True
    return False


OFF_CPU, ASLEEP, CPU_WAIT = "off-CPU", "asleep", "waiting for a CPU"
_OF_PROFILE = "trial baseline variant timed_runs profiled_runs event frequency_hz kernel chains"


@checks_arguments
def explain(
    profile: StoredProfile | str | Path,
    *,
    benchmark: str,
    renames: Mapping[str, str] | None = None,
    confidence: float = 0.95,
    any_total: bool = False,
    timed: Trial | None = None,
) -> Why:
    """Say where the time on the processors differs, function by function.

    Parameters
    ----------
    profile : StoredProfile, str or Path
        The folder of a profile, such as ``runs/NAME.why/VARIANT``, or what was read of it.
    benchmark : str
        One of the profile's.
    renames : mapping of str to str, optional
        Old to new names of functions, to be taken for one: nobody guesses them.
    confidence : float
        Of each interval, and of all names together.
    any_total : bool
        Give functions also where the total difference is not resolved in these sessions.
    timed : Trial, optional
        Its timed runs, where they are read already.

    Returns
    -------
    Why

    Raises
    ------
    UsageError
        If the profile does not have the benchmark, a rename does not fit its functions, or `confidence` does not lie
        between 0 and 1.
    InsufficientDataError
        If no session has samples and timed runs of both variants.
    StoreError
        If there is no profile, or it or its timed trial is damaged.
    """
    between("confidence", confidence)
    stored = profile if isinstance(profile, StoredProfile) else read_profile(Path(profile))
    trial = read_trial(stored.timed) if timed is None else timed
    about, risk = stored.profile, 1 - confidence
    table = table_of(stored, trial, benchmark, renames or {})
    total = row_of(table.baseline.on_cpu, table.candidate.on_cpu, confidence, function="total")
    withheld = _withheld(table, total, risk, any_total=any_total)
    functions, others = parts_of(table, confidence)
    family = [*(row for row, _ in functions.values()), *others]
    known = corrected(family, risk, names=withheld is None)
    rows = sorted(known[: len(functions)], key=by_evidence)
    rest = {row.function: row for row in known[len(rows) :]}
    off = row_of(table.baseline.off_cpu, table.candidate.off_cpu, confidence, function=OFF_CPU)
    apart = _waits(table, confidence)
    sides = about.baseline, about.variant
    counters, waits = judged_counters(
        trial, benchmark, *sides, confidence=confidence, waits=apart or (off,)
    )
    asleep, cpu_wait = waits if apart else (None, None)
    hidden = withheld == "total-not-resolved"
    negligible = MARGIN * float(table.baseline.wall.mean())
    opposite = () if hidden else opposite_of(rows, functions, stored, benchmark, confidence)
    answer = Why(
        **{name: getattr(about, name) for name in _OF_PROFILE.split()},
        path=str(stored.timed.parent),
        benchmark=benchmark,
        sessions=len(table.sessions),
        samples_baseline=int(table.baseline.samples.sum()),
        samples_candidate=int(table.candidate.samples.sum()),
        runtimes={
            side: found
            for side in sides
            if (found := about.runtimes.get(cell_name(benchmark, side))) is not None
        },
        confidence=confidence,
        total=total,
        rows=() if hidden else tuple(rows),
        others=None if hidden else rest.get(OTHERS),
        further=0 if hidden else len(table.names) - len(functions),
        kernel_not_seen=rest.get(UNSEEN),
        off_cpu=off if apart else waits[0],
        asleep=asleep,
        cpu_wait=cpu_wait,
        family=len(known),
        gone=() if hidden else tuple(row.name for row in rows if row.presence == "gone"),
        new=() if hidden else tuple(row.name for row in rows if row.presence == "new"),
        renames=dict(renames or {}),
        opposite=opposite,
        counters=counters,
        story=story_of(counters, waits, risk=risk, negligible_ms=negligible),
        withheld=withheld,
        verdict_was=about.verdict_was.get(benchmark),
    )
    return replace(answer, cautions=tuple(cautions_of(answer, stored, table)))


def _withheld(table: SessionTable, total: Row, risk: float, *, any_total: bool) -> Withheld | None:
    if not any_total and (total.pvalue is None or total.pvalue > risk):
        return "total-not-resolved"
    if len(table.sessions) < FEWEST_SESSIONS:
        return "few-sessions"
    if min(int(side.samples.sum()) for side in (table.baseline, table.candidate)) < FEWEST_SAMPLES:
        return "few-samples"
    return None


def _waits(table: SessionTable, confidence: float) -> tuple[Row, Row] | None:
    """Give the time asleep and that without a processor; None where the kernel does not say."""
    waiting = table.baseline.waiting, table.candidate.waiting
    if not all(np.isfinite(side).all() for side in waiting):
        return None
    before, after = table.baseline.off_cpu, table.candidate.off_cpu
    return (
        row_of(before - waiting[0], after - waiting[1], confidence, function=ASLEEP),
        row_of(*waiting, confidence, function=CPU_WAIT),
    )
