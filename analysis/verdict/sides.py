"""The sides of a comparison: the variants asked for, their runs, and how often they were looked at."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ..data.iterations import printed_counts, session_quantiles
from ..data.trial import Trial, cut_rows
from ..data.trial_cautions import SINGLE
from ..errors import InsufficientDataError, UsageError
from ..methods.multilevel.compare import multilevel
from ..methods.multilevel.law import Looks
from ..pages import number_format as figures
from ..pages.model import Caution, ShortSentence
from ..stats.multiplicity import Correction
from ..words import command_line

if TYPE_CHECKING:
    from ..data.fleet import OpenedFleet
    from ..data.matrix import PerformanceMatrix
    from ..methods.multilevel.result import Multilevel
    from ..record.trial_files import Manifest
    from ..stats.samples import Flags


class VariantSide(NamedTuple):
    """One variant of a trial.

    `matrix` holds its runs that count, None without any, and `cautions` what to know about them.
    `floored` names the benchmarks whose values are only an upper bound, the launcher's floor. `against` gives the matrix
    that is compared with a variant of fewer values; None where it is one for all.
    """

    name: str
    matrix: PerformanceMatrix | None
    floored: tuple[str, ...]
    cautions: tuple[Caution, ...] = ()
    against: Callable[[str], PerformanceMatrix | None] | None = None


def comparable(
    candidate: VariantSide, baseline: VariantSide
) -> tuple[PerformanceMatrix, PerformanceMatrix] | None:
    """Give both sides with the benchmarks that can be compared; None without any.

    Where a side's values are the launcher's floor, they say nothing of the program.
    """
    ours, theirs = (
        one.matrix if one.against is None else one.against(other.name)
        for one, other in ((candidate, baseline), (baseline, candidate))
    )
    if ours is None or theirs is None:
        return None
    bounds = {*candidate.floored, *baseline.floored}
    if bounds:
        ours, theirs = (without(matrix, bounds) for matrix in (ours, theirs))
    return (ours, theirs) if named_in(ours).keys() & named_in(theirs) else None


def without(matrix: PerformanceMatrix, names: Collection[str]) -> PerformanceMatrix:
    """Leave benchmarks out, also those that have runs of 0, and those whose runs all failed."""
    kept = matrix.select([bench for bench in matrix.benchmarks if bench not in names])
    kept = replace(
        kept,
        failed={b: n for b, n in matrix.failed.items() if b not in names},
        failed_by_session={b: n for b, n in matrix.failed_by_session.items() if b not in names},
    )
    zeros = matrix.with_zeros
    if zeros is None:
        return kept
    left = [bench for bench in zeros.benchmarks if bench not in names]
    return replace(kept, with_zeros=zeros.select(left) if left else None)


def only(matrix: PerformanceMatrix, names: Collection[str] | None) -> PerformanceMatrix:
    """Leave out all other benchmarks, if any are named."""
    if names is None:
        return matrix
    return without(matrix, {*named_in(matrix), *matrix.failed}.difference(names))


def named_in(matrix: PerformanceMatrix) -> dict[str, None]:
    """Name the benchmarks of a side in their order, also those that have runs of 0."""
    zeros = () if matrix.with_zeros is None else matrix.with_zeros.benchmarks
    return dict.fromkeys((*matrix.benchmarks, *zeros))


def all_failed(trial: Trial, variant: str) -> bool:
    """Tell whether every run of a variant failed; without any run nobody knows.

    Of a variant that was left out everywhere, because no warm-up of it was ok, the warm-ups are all there is.
    """
    manifest = trial.manifest
    if variant not in manifest.variants:  # whoever reads it says so
        return False
    mine = trial.candidates & trial.of_variant(variant)
    if not mine.any():
        never = {
            one.benchmark for one in manifest.given_up if one.never_ok and one.variant == variant
        }
        return bool(never) and never == set(manifest.benchmarks)
    return not bool((mine & trial.measured).any())


def ever_succeeded(trial: Trial, variant: str) -> bool:
    """Tell whether a run of a variant succeeded, a warm-up too."""
    return bool((trial.of_variant(variant) & (trial.outcome == 0)).any())


def _left_without(trial: Trial, metric: str, runs: Flags) -> int:
    """Give the iterations of the longest of these runs if a number of them left none of any run; else 0."""
    judged = trial.judged_iterations(metric)
    if judged is None or judged.setting in (0, "auto"):
        return 0
    there = printed_counts(trial, metric)[runs]
    return int(there.max(initial=0)) if (judged.left_out[runs] >= there).all() else 0


def sides_of(
    trial: Trial, metric: str, variants: Sequence[str], benchmarks: Sequence[str] | None
) -> dict[str, VariantSide]:
    """Give these variants of a trial by their names."""
    sides = {variant: _side(trial, variant, metric, benchmarks) for variant in variants}
    if all(one.matrix is None for one in sides.values()):
        what = f"the trial has no run that counts with a value of {metric!r}"
        fix = f"{command_line(('fairtrial', 'status', str(trial.path)))} says "
        if longest := _left_without(trial, metric, trial.measured):
            what = f"no run has an iteration of {metric!r} behind those left out as warm-up"
            fix = f"leave fewer out with --warmup-iterations: the longest run has {figures.counted(longest, 'iteration')}"
        elif trial.warmup.all() and not trial.outcome.any():
            only = "only warm-up runs, which do not count" if trial.warmup.size else "no run yet"
            what, fix = f"the trial has {only}", f"{fix}how to go on"
        elif trial.measured.any() and not np.isfinite(trial.values(metric)[trial.measured]).any():
            fix = "its host recorded it for no run (fairtrial doctor may say why): name another --metric"
            if trial.manifest.metrics.get(metric, {}).get("source") == "quantiles":
                fix = "its runs have too few values for this quantile: name another --metric"
        else:
            fix += "which runs failed, and how"
        raise InsufficientDataError(what, str(trial.path), fix, n=0, needed=1)
    if trial.manifest.origin == "imported":
        there = [one.matrix for one in sides.values() if one.matrix is not None]
        refuse_single(there, trial.cautions, str(trial.path))
    quantiles, pair = session_quantiles(trial, metric), cache(partial(replace, trial))

    def against(own: str, other: str) -> PerformanceMatrix | None:
        return _side(pair(compared=frozenset({own, other})), own, metric, benchmarks).matrix

    if quantiles is None or quantiles.compared_at in ({}, quantiles.sizes):
        return sides
    return {name: one._replace(against=partial(against, name)) for name, one in sides.items()}


def refuse_single(
    matrices: Sequence[PerformanceMatrix], cautions: Iterable[Caution], where: str
) -> None:
    """Refuse other tools' files with one value of each benchmark and variant."""
    for one in matrices:
        if (
            one.failed
            or one.with_zeros is not None
            or max(map(len, one.iterations or one.samples)) > 1
        ):
            return
    keeps = [one.text for one in cautions if one.code == SINGLE] or ["measure each several times"]
    raise InsufficientDataError(
        "there is one value of each benchmark, and nothing says how far a second one would lie from it",
        where,
        f"{keeps[0]}; many such files are a series: fairtrial history FOLDER",
        n=1,
        needed=2,
    )


def _side(trial: Trial, variant: str, metric: str, benchmarks: Sequence[str] | None) -> VariantSide:
    floored = trial.below_floor(variant, metric)
    try:
        matrix = trial.matrix(variant, metric, carry_zeros=True)
    except InsufficientDataError as error:
        mine = trial.measured & trial.of_variant(variant)
        why = f" ({error.what})" if (trial.values(metric)[mine] <= 0).any() else ""
        short = ShortSentence.of("nothing is known of {}: it has no run that counts", variant)
        if _left_without(trial, metric, mine):
            why = f" (none has an iteration of {metric} behind the warm-up)"
            short = ShortSentence.of(
                "nothing is known of {}: no iteration of it is behind the warm-up", variant
            )
        text = f"{variant} has no run that counts{why}"
        caution = Caution("variant-left-out", text, (variant,), short)
        return VariantSide(name=variant, matrix=None, floored=floored, cautions=(caution,))
    found = [
        c if c.code == "no-iterations" else c.of(variant)
        for c in matrix.cautions
        if not (floored and c.code == "floored")
    ]
    if floored:
        text = (
            f"{variant}: {metric} of {figures.listed(floored, 3)} is only the launcher's floor: "
            "not compared"
        )
        short = ShortSentence.of("{} of {} is not compared: it is the launcher's", metric, floored)
        found.append(Caution("floored", text, (variant, *floored), short))
    kept: PerformanceMatrix | None = None
    if benchmarks is None or named_in(matrix).keys() & benchmarks:
        # its cautions are said once, with the trial's; the methods need not say them again
        kept = replace(only(matrix, benchmarks), cautions=())
    return VariantSide(name=variant, matrix=kept, floored=floored, cautions=tuple(found))


def candidates_in(trial: Trial, asked: Sequence[str] | None) -> tuple[str, ...]:
    """Name the variants that are judged, the baseline among them."""
    manifest = trial.manifest
    if asked is None:  # what was measured in place of a neighbour stands for it
        return tuple(name for name in manifest.variants if name not in manifest.same_program)
    others = [name for name in manifest.variants if name != manifest.baseline]
    if len(asked) == 0:
        fix = f"known: {', '.join(map(format, others))}"
        raise UsageError("no variant is named", str(trial.path), fix)
    for name in asked:
        if name not in others:
            what = (
                f"{name!r} is the baseline: there is nothing to compare it with"
                if name == manifest.baseline
                else f"the trial has no variant {name!r}"
            )
            fix = f"candidates here: {', '.join(map(format, others)) or 'none'}"
            raise UsageError(what, str(trial.path), fix)
    return tuple(name for name in manifest.variants if name in {*asked, manifest.baseline})


def known_names(what: str, asked: Sequence[str] | None, there: Sequence[str], where: str) -> None:
    """Refuse names that are not there; what is not asked for is no matter."""
    fix = f"known: {', '.join(map(format, there))}"
    if asked is not None and len(asked) == 0:
        raise UsageError(f"no {what} is named", where, fix)
    for name in asked or ():
        if name not in there:
            raise UsageError(f"there is no {what} {name!r}", where, fix)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a trial, of a fleet or of two sides, with the meanings of `judge`.

    `usual`: Whether the metric is the one that is judged where nobody names one.
    """

    metric: str
    confidence: float
    benchmarks: Sequence[str] | None
    variants: Sequence[str] | None = None
    margin: float = 0.0
    correction: Correction = "none"
    weights: Mapping[str, float] | None = None
    looks: int | None = None
    always_valid: bool = False
    explain: bool = False
    certificate: str | Path | None = None
    unnamed: Sequence[str] = ()
    usual: bool = True

    @classmethod
    def of(
        cls,
        asked: Trial | OpenedFleet,
        metric: str | None,
        **rules: Any,  # noqa: ANN401 - the further fields
    ) -> Question:
        """Ask for a metric; where none is named for the usual one, whatever other ones benchmarks declare."""
        if metric is not None:
            return cls(metric, usual=asked.is_usual(metric), **rules)
        return cls(asked.default_metric, unnamed=asked.unnamed, **rules)

    def chosen_in(self, trial: Trial) -> tuple[str, ...]:
        """Name the variants of a trial that are judged, the baseline among them."""
        chosen = candidates_in(trial, self.variants)
        self.refuse_unknown(trial.manifest.benchmarks, str(trial.path))
        return chosen

    def refuse_unknown(self, there: Sequence[str], where: str) -> None:
        """Refuse benchmarks and weights of what is not there, or not chosen."""
        known_names("benchmark", self.benchmarks, there, where)
        known_names(
            "benchmark to weigh",
            [*self.weights] if self.weights else None,
            self.benchmarks or there,
            where,
        )

    def compare(
        self,
        candidate: PerformanceMatrix,
        baseline: PerformanceMatrix,
        looks: Looks | int = 1,
        beside: Sequence[Multilevel] = (),
    ) -> Multilevel:
        """Compare two sides by their sessions; of what has no run on either there is nothing to weigh."""
        there = {*candidate.benchmarks, *baseline.benchmarks}
        return multilevel(
            candidate,
            baseline,
            confidence=self.confidence,
            margin=self.margin,
            correction=self.correction,
            weights={name: w for name, w in (self.weights or {}).items() if name in there},
            looks=looks,
            beside=beside,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCounts:
    """Sessions with runs that count, runs that count, warm-up runs, failed runs.

    `session_runs`: The fewest and the most runs of a cell in a session; None where sessions are unknown.
    """

    sessions: int
    session_runs: tuple[int, int] | None
    runs: int
    warmups: int = 0
    failed: int = 0


def counts_of(trial: Trial, metric: str, sides: Collection[VariantSide]) -> RunCounts:
    """Count the runs of a trial's variants, and what of them the sides hold."""
    variants = [one.name for one in sides]
    mine = np.isin(trial.variant, [trial.manifest.variants.index(name) for name in variants])
    return replace(
        counted(trial.sessions, [one.matrix for one in sides if one.matrix is not None]),
        runs=int((trial.judged(metric) & mine).sum()),
        warmups=int((trial.warmup & mine).sum()),
        failed=sum(not run.warmup and run.variant in variants for run in trial.failed),
    )


def summed(each: Sequence[RunCounts]) -> RunCounts:
    """Count the runs of several trials together."""
    known = [count for one in each for count in one.session_runs or ()]
    return RunCounts(
        sessions=sum(one.sessions for one in each),
        session_runs=(min(known), max(known)) if known else None,
        runs=sum(one.runs for one in each),
        warmups=sum(one.warmups for one in each),
        failed=sum(one.failed for one in each),
    )


def counted(sessions: int, matrices: Sequence[PerformanceMatrix]) -> RunCounts:
    """Count the runs that sides hold."""
    counts = [
        int(count)
        for matrix in matrices
        if matrix.sessions is not None
        for row in matrix.sessions
        for count in np.unique(row, return_counts=True)[1]
    ]
    return RunCounts(
        sessions=sessions,
        session_runs=(min(counts), max(counts)) if counts else None,
        runs=sum(runs for matrix in matrices for runs in matrix.runs),
    )


_EARLIEST = datetime.datetime(1, 1, 1, tzinfo=datetime.UTC)
_LATEST = datetime.datetime(9999, 12, 31, tzinfo=datetime.UTC)


def looks_at(manifests: Sequence[Manifest], looks: int | None, *, always_valid: bool) -> Looks:
    """Give the look that a comparison of one trial's variants, or of two trials, is.

    Two trials can be compared since the later one began: what was appended to the other before is no
    look. After that each append to either is one, at as many sessions as the shorter then had. A trial that
    was looked at by a plan is judged by it; two, if one of them was, by what risks less.
    """
    planned = _planned(manifests, looks, always_valid=always_valid)
    if len(manifests) == 1 and planned:
        return planned[0]
    if looks is not None or always_valid or not manifests:
        return Looks.of(1 if looks is None else looks, always_valid=always_valid)
    if len(manifests) == 1:  # its appends stand in their order, whatever its clock said
        return Looks.growing(manifests[0].sessions_at_looks)
    begun = max(_time(one.started, _EARLIEST) for one in manifests)
    counts = [[x for x in one.appended if _time(x.at, _LATEST) >= begun] for one in manifests]
    have = [
        those[0].first - 1 if those else manifest.sessions
        for those, manifest in zip(counts, manifests, strict=True)
    ]
    seen = [min(have)]
    events = ((_time(x.at, _LATEST), k, x.last) for k, those in enumerate(counts) for x in those)
    for _, k, last in sorted(events):
        have[k] = last
        seen.append(min(have))
    return _surest([Looks.growing(seen), *planned])


def looks_at_hosts(manifests: Sequence[Manifest], looks: int | None) -> Looks:
    """Give the look that a verdict on the hosts of a fleet is."""
    planned = _planned(manifests, looks, always_valid=False)
    if looks is not None:
        return Looks.planned(looks)
    rounds = 1 + max(len(one.appended) for one in manifests)
    return _surest([Looks.growing([len(manifests)] * rounds), *planned])


def _planned(
    manifests: Sequence[Manifest], looks: int | None, *, always_valid: bool
) -> tuple[Looks, ...]:
    """Give the looks of the trials that were looked at by a plan; nothing else may be asked of them."""
    found = []
    for one in manifests:
        if one.looks_plan is None:
            continue
        if looks is not None or always_valid:
            asked = "--always-valid" if always_valid else f"--looks {looks}"
            raise UsageError(
                f"{asked}: the looks at this trial were planned when it began, and some were taken",
                one.trial,
                f"leave {asked} out: it is judged by its plan, whose looks together risk what one would",
            )
        found.append(Looks.of_plan(one.looks_plan, one.sessions))
    return tuple(found)


def _surest(several: Sequence[Looks]) -> Looks:
    """Choose the look that risks least."""
    return min(several, key=lambda one: one.alpha(0.95))


def _time(text: str, unknown: datetime.datetime) -> datetime.datetime:
    """Read a time of a manifest; one that nobody can read is taken so that an append is a look."""
    try:
        found = datetime.datetime.fromisoformat(text)
    except ValueError:
        return unknown
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)


# --- How long each variant's runs took: what a table shows next to the judged difference.
#
# A mean is the one that a verdict rests on: of the logarithms, within each session and then over
# sessions, so that the ratio of two means is the speedup. What may be 0, such as the kernel's
# account of short runs, has arithmetic means instead, by sessions too.


_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantTimes:
    """The times of one variant on one benchmark; what the trial does not know is None.

    `mean`: Geometric mean of the sessions' geometric means of wall time, in seconds. `spread`: Relative
    standard deviation of the runs within a session, exp(sd of logs) - 1; None where no session has two runs.
    `user`, `system`: Processor time of a run, arithmetic mean of the sessions' means, in seconds. `minimum`,
    `maximum`: Of the runs' wall times, in seconds. `max_rss`: Peak memory of a run, likewise a mean, in bytes;
    None where it is the launcher's. `runs`, `sessions`: Runs that count, and sessions that have any. `failed`: Runs
    that failed, without warm-ups; `cut`: of these, those that their time limit ended, which count with it.
    """

    renamed: ClassVar[Mapping[str, str]] = {"minimum": "min", "maximum": "max"}

    mean: float | None = None
    spread: float | None = None
    user: float | None = None
    system: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    max_rss: float | None = None
    runs: int = 0
    sessions: int = 0
    failed: int = 0
    cut: int = 0


def times_of(trial: Trial) -> dict[str, VariantTimes]:
    """Give the times of each variant of a trial's first benchmark, in the trial's order.

    A variant without any run of it, successful or not, is left out. Warm-ups, failed runs, the
    replaced rows of repeated runs, and runs that are there for their counters alone go into no mean.
    """
    failed = trial.candidates & (trial.outcome != 0) & ~trial.apart("wall")
    cut, _, limits = cut_rows(trial, "wall")
    used = trial.judged("wall") | cut
    found: dict[str, VariantTimes] = {}
    for name in trial.manifest.variants:
        mine = trial.of_variant(name) & (trial.benchmark == 0)
        rows, lost = np.flatnonzero(used & mine), int((failed & mine).sum())
        if not (rows.size or lost):
            continue
        kinds = ("wall_ns", "user_s", "system_s", "max_rss_bytes")
        numbers = {key: trial.numbers[key][rows] for key in kinds}
        floored = trial.below_floor(name, "max_rss")
        sessions = trial.session[rows]
        walls = np.where(cut[rows], limits[rows], numbers["wall_ns"] / 1e9)
        # without runs, or where some are unknown or 0, there is no geometric mean
        mean, spread = _arithmetic(walls, sessions), None
        if walls.size and np.isfinite(walls).all() and (walls > 0).all():
            means, spread = _means(np.log(walls), sessions)
            mean = float(np.exp(means.mean()))
        known = walls[np.isfinite(walls)]
        found[name] = VariantTimes(
            mean=mean,
            spread=spread,
            user=_arithmetic(numbers["user_s"], sessions),
            system=_arithmetic(numbers["system_s"], sessions),
            minimum=float(known.min()) if known.size else None,
            maximum=float(known.max()) if known.size else None,
            max_rss=None if floored else _arithmetic(numbers["max_rss_bytes"], sessions),
            runs=int((~cut[rows]).sum()),
            sessions=int(np.unique(sessions).size),
            failed=lost,
            cut=int(cut[rows].sum()),
        )
    return found


def means_of(trial: Trial, metric: str) -> dict[str, float]:
    """Give each variant's mean of another metric, such as a counter: arithmetic, by sessions, in the metric's unit.

    Variants without a value are left out, and those whose memory is the launcher's. Raises UsageError if the trial has no such metric.
    """
    values, used = trial.values(metric), trial.judged(metric) & (trial.benchmark == 0)
    names = [name for name in trial.manifest.variants if not trial.below_floor(name, metric)]
    rows = {name: used & trial.of_variant(name) for name in names}
    found = {name: _arithmetic(values[row], trial.session[row]) for name, row in rows.items()}
    return {name: mean for name, mean in found.items() if mean is not None}


def session_seconds(trial: Trial, sessions: int) -> float:
    """Add up how many seconds the first sessions took, each from its first run's start to its last one's end."""
    total = 0.0
    for session in range(1, sessions + 1):
        rows = trial.session == session
        if rows.any():
            ends = trial.start_ns[rows] + np.nan_to_num(trial.numbers["wall_ns"][rows])
            total += float(ends.max() - trial.start_ns[rows].min()) / 1e9
    return total


def _means(logs: _Floats, groups: NDArray[Any]) -> tuple[_Floats, float | None]:
    """Give each group's mean, and the relative standard deviation inside of groups."""
    _, where, counts = np.unique(groups, return_inverse=True, return_counts=True)
    means = np.bincount(where, weights=logs) / counts
    free = logs.size - counts.size
    if free < 1:
        return means, None
    variance = float(np.sum((logs - means[where]) ** 2)) / free
    return means, float(np.expm1(np.sqrt(variance)))


def _arithmetic(values: _Floats, sessions: _Integers) -> float | None:
    """Give the mean of the sessions' means; None where some value is unknown, or there is none."""
    if not values.size or not np.isfinite(values).all():
        return None
    _, where, counts = np.unique(sessions, return_inverse=True, return_counts=True)
    return float((np.bincount(where, weights=values) / counts).mean())


# --- One variant by itself: its geometric mean, and the interval that its sessions give. Logs of the
# session means are independent draws of what a session gives, every session weighing the same;
# Student's t on them is the interval. One session has its blocks instead, and speaks of itself only.

_ROUNDING = 1e-12  # logs that differ by less are equal
_LOGS = -744.0, 709.0  # an interval's ends are cut where no number holds them


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantSummary:
    """One variant on one benchmark."""

    variant: str
    benchmark: str
    mean: float
    low: float | None
    high: float | None
    unit: str
    sessions: int
    runs: int
    minimum: float
    median: float
    maximum: float
    spread: float | None


def by_themselves(matrix: PerformanceMatrix, confidence: float) -> tuple[VariantSummary, ...]:
    """Give each benchmark's interval of one variant, values in the matrix's unit."""
    return tuple(_by_itself(matrix, k, confidence) for k in range(len(matrix.benchmarks)))


def _by_itself(matrix: PerformanceMatrix, k: int, confidence: float) -> VariantSummary:
    values = matrix.samples[k]
    logs = np.log(values)
    sessions = np.zeros(values.size) if matrix.sessions is None else matrix.sessions[k]
    means, inside = _means(logs, sessions)
    unit, drawn = "session", means
    if means.size == 1:
        unit, drawn = "run", logs
        if matrix.blocks is not None:
            unit, drawn = "block", _means(logs, matrix.blocks[k])[0]
    centre = float(means.mean())
    half = _half_width(drawn, confidence)
    ends = None if half is None else np.exp(np.clip((centre - half, centre + half), *_LOGS))
    low, high = (None, None) if ends is None else ends.tolist()
    return VariantSummary(
        variant=matrix.name,
        benchmark=matrix.benchmarks[k],
        mean=float(np.exp(centre)),
        low=low,
        high=high,
        unit=unit,
        sessions=means.size,
        runs=values.size,
        minimum=float(values.min()),
        median=float(np.median(values)),
        maximum=float(values.max()),
        spread=inside,
    )


def _half_width(drawn: _Floats, confidence: float) -> float | None:
    if drawn.size < 2:
        return None
    sd = float(drawn.std(ddof=1))
    t = -float(stdtrit(drawn.size - 1, (1 - confidence) / 2))
    return min(t * sd / float(np.sqrt(drawn.size)), 300.0) if sd >= _ROUNDING else 0.0
