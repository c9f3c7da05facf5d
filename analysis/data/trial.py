"""A trial directory, read into columns, refused where it cannot be trusted, and its runs as matrices.

A running or killed trial may end in a torn line; anything else that does not hold together is an
error that names the file and the line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import AnalysisError, InsufficientDataError, UsageError
from ..pages import number_format as figures
from ..pages.model import Caution, Page, ShortSentence, plain, section
from ..pages.result import short
from ..record.manifest import WARMUP_ASKED, needed, read_manifest, warmup_of
from ..record.run_numbers import limit_of
from ..record.trial_files import (
    ENERGY,
    MEASUREMENTS,
    NET_ENERGY,
    PLAN,
    RESOLUTION_S,
    STEADY,
    IdlePower,
    is_steady,
)
from ..stats.arguments import checks_arguments
from ..stats.samples import Array, Flags, Integers, read_only
from .columns import (
    OUTCOMES,
    FailedRun,
    build_columns,
    compare_with_plan,
    judged_rows,
    read_measurements,
    read_plan,
    verify_files,
)
from .iterations import (
    JudgedIterations,
    QuantileBasis,
    iteration_cautions,
    judged_counts,
    judged_iterations,
    judged_values,
    of_cells,
    printed_counts,
    session_quantiles,
    values_of,
)
from .matrix import CutOff, PerformanceMatrix, check_positive, failures_of_rows
from .metrics import Kind, apart_of, floor_of, info_of, kind_of
from .runs import Runs, level_caution, missing_samples, stored_runs
from .trial_cautions import cautions_of_trial

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Trial(Runs):
    """A trial: its runs (`Runs` has the columns), and what each metric makes of them."""

    @property
    def finished(self) -> bool:
        """Whether the manifest does not say ``running``: else the trial runs, or its runner was killed."""
        return self.manifest.status != "running"

    @property
    def waited_ns(self) -> Array:
        """How long each run waited for a CPU that somebody else had; nan where it is not known.

        What is left of its wall time without this and its on-CPU time is sleep, input and output, and what a
        hypervisor took; it may be negative.
        """
        numbers = self.numbers
        late = numbers["launcher_delay_ns"] - numbers["launcher_on_cpu_ns"]
        return numbers["run_delay_ns"] + late

    def failures(self) -> tuple[FailedRun, ...]:
        """Give the runs whose outcome is not ``ok``, warm-ups included, in order."""
        return self.failed

    metric = info_of
    apart = apart_of
    values = values_of
    at_floor = floor_of

    def kind(self, metric: str) -> Kind:
        """Give what is known of metrics of this kind."""
        return kind_of(self.manifest, metric)

    def judged(self, metric: str) -> Flags:
        """Tell which runs count for a metric: those `measured` that are meant to have a value of it."""
        return self.measured & ~apart_of(self, metric)

    def quantile_basis(self, metric: str) -> QuantileBasis | None:
        """Say of what the values that a matrix has of a metric are a quantile; None of a metric that is none."""
        found = session_quantiles(self, metric)
        return None if found is None else found.basis

    def judged_iterations(self, metric: str) -> JudgedIterations | None:
        """Give the iterations of each run that are judged of a metric that was parsed from output; else None."""
        return judged_iterations(self, metric)

    def below_floor(self, variant: str, metric: str) -> tuple[str, ...]:
        """List the benchmarks whose median of `metric` only says "at most the launcher's floor"."""
        floored, mine = floor_of(self, metric), self.measured & self.of_variant(variant)
        rows = {
            name: mine & (self.benchmark == k) for k, name in enumerate(self.manifest.benchmarks)
        }
        return tuple(name for name, row in rows.items() if row.any() and floored[row].mean() >= 0.5)

    def __repr__(self) -> str:
        manifest = self.manifest
        found = section(
            f"{len(self)} runs of {len(manifest.benchmarks)} benchmarks x {len(manifest.variants)} variants in "
            f"{self.sessions} sessions on {manifest.host}, {manifest.status}; baseline {manifest.baseline}"
        )
        return short(self, Page(title=manifest.trial, sections=(found,), cautions=self.cautions))

    def matrix(
        self,
        variant: str,
        metric: str = "wall",
        *,
        skip_zeros: bool = False,
        carry_zeros: bool = False,
    ) -> PerformanceMatrix:
        """Give the runs of one variant as a matrix.

        Warm-ups and failed runs are left out, and the matrix's cautions count them. Of a run that was
        repeated, because it was disturbed, the judged row is taken. A run's value
        of a metric with several iterations is their mean; the matrix keeps them as `iterations`. Of a
        quantile each session has one value, where `quantile_basis` says so.
        Block ids are unique in the trial.

        Parameters
        ----------
        variant : str
            One of the manifest's variants.
        metric : str
            ``wall``, another metric that every run has, or one parsed from output.
        skip_zeros : bool
            Leave out a benchmark if some run's value is 0 or less, such as the kernel's account
            of a short run's user time; a caution says so. Otherwise such a value is refused.
        carry_zeros : bool
            Put benchmarks with runs of 0 into the matrix's `with_zeros`, for the one method that
            can use them (`analysis.multilevel`); all of them may stand there.

        Raises
        ------
        UsageError
            If the variant or the metric is unknown.
        InsufficientDataError
            If no run of the variant counts, or every benchmark is left out.
        AnalysisError
            If a value is not positive.
        """
        info_of(self, metric)  # an unknown one is refused first
        if variant not in self.manifest.variants:
            what = f"the trial has no variant {variant!r}"
            fix = f"known here: {', '.join(map(format, self.manifest.variants))}"
            raise UsageError(what, str(self.path), fix)
        mine, values = self.of_variant(variant), values_of(self, metric)
        apart = np.zeros(len(self), dtype=np.bool_)
        quantiles = session_quantiles(self, metric)
        basis = None if quantiles is None else quantiles.basis
        if quantiles is not None and quantiles.column is not None and quantiles.apart is not None:
            values, apart = quantiles.column.per_run(), quantiles.apart
        used = mine & self.measured & np.isfinite(values)
        require_steady(self, metric, used)
        rows, carried, zeros = _chosen(
            self, values, used, skip_zeros=skip_zeros, carry_zeros=carry_zeros
        )
        if not (rows or carried):
            raise _nothing(self, variant, metric, basis, zeros)
        judged, judging = judged_iterations(self, metric), self.measured & ~apart_of(self, metric)
        emptied = 0
        if judged is not None and judged.setting not in (0, "auto"):
            there = printed_counts(self, metric)
            emptied = int((mine & judging & (there > 0) & (judged.left_out >= there)).sum())
        chosen = (rows, carried) if carried else (rows,)
        parts = [_matrix(self, variant, metric, those, values) for those in chosen]
        iterated = {**rows, **carried}
        if basis is not None and basis.level == "session":  # all its runs make it, not the first
            printed = mine & judging & (printed_counts(self, metric) > 0)
            place = self.manifest.benchmarks.index
            iterated = {x: np.flatnonzero(printed & (self.benchmark == place(x))) for x in iterated}
        cells = of_cells(judged, variant, iterated)
        sizes = [row.size for row in rows.values()]
        below = sizes
        if judged is not None and not apart.any():
            counts = judged_counts(self, metric)
            below = [int(counts[row].sum()) for row in rows.values()]
        cautions = (
            *_counted(self, mine, metric, basis, missing=judging & ~apart & ~np.isfinite(values)),
            *iteration_cautions(cells, emptied=emptied, metric=metric),
            *_told(self, metric, judged, zeros, used),
            *energy_cautions(self, metric, used),
            *level_caution(sizes, below),
        )
        whole, *aside = (replace(one, cautions=cautions).at_level(self.level) for one in parts)
        for bench, found in zip(whole.benchmarks, whole.samples, strict=True):
            check_positive(found, f"{variant}, benchmark {bench!r}")
        return replace(whole, judged_iterations=cells, with_zeros=next(iter(aside), None))


@checks_arguments
def read_trial(path: str | Path) -> Trial:
    """Read a trial directory.

    Parameters
    ----------
    path : str or Path
        The directory, such as ``runs/NAME``.

    Raises
    ------
    StoreError
        If it is no trial, has a newer schema, or is damaged: a file that changed after the trial
        ended, a line with a wrong checksum before the last one, two rows for one position, a run
        that is not the planned one.
    """
    path = Path(path)
    manifest = read_manifest(path)
    # Only a trial that is no longer running has checksums of its files; until then its last line
    # may be half written.
    cautions = list(verify_files(path, manifest))
    plan = read_plan(path / PLAN, manifest, cautions)
    columns = read_measurements(path / MEASUREMENTS, manifest, cautions)
    arrays = columns.arrays()
    if manifest.origin != "imported":  # another tool's runs were not planned here
        compare_with_plan(arrays, plan, manifest, path / MEASUREMENTS)
    planned = max(int(plan[0].size), manifest.planned)
    cautions += cautions_of_trial(path, manifest, arrays, planned)
    stored = stored_runs(path, columns.stored, arrays)
    cautions += missing_samples(stored, manifest)
    chosen = read_only(judged_rows(arrays["position"], arrays["repeats"], arrays["disturbed"]))
    used = chosen & ~arrays["warmup"] & (arrays["outcome"] == 0)
    fields = arrays | columns.further(path / MEASUREMENTS)
    fields["metrics"] |= build_columns(path, manifest, arrays, used)
    return Trial(
        path=path,
        manifest=manifest,
        cautions=tuple(cautions),
        planned_runs=planned,
        stored=stored,
        warmup_iterations=WARMUP_ASKED.get(),
        chosen=chosen,
        **fields,
    )


# --- The runs of one variant, chosen and counted: how a trial becomes a matrix.


def _chosen(
    runs: Runs, values: Array, used: Flags, *, skip_zeros: bool, carry_zeros: bool
) -> tuple[dict[str, Integers], dict[str, Integers], dict[str, int]]:
    """Give each benchmark's rows, those with runs of 0 that are kept aside, and the runs of 0 left out."""
    rows: dict[str, Integers] = {}
    carried: dict[str, Integers] = {}
    zeros: dict[str, int] = {}
    for k, bench in enumerate(runs.manifest.benchmarks):
        row = np.flatnonzero(used & (runs.benchmark == k))
        none = int((values[row] <= 0).sum()) if skip_zeros or carry_zeros else 0
        if carry_zeros and none and (values[row] >= 0).all():
            carried[bench] = row
        elif none:
            zeros[bench] = none
        elif row.size:
            rows[bench] = row
    return rows, carried, zeros


def _nothing(
    runs: Runs, variant: str, metric: str, basis: QuantileBasis | None, zeros: Mapping[str, int]
) -> InsufficientDataError:
    what = f"no run of {variant!r} has a value of {metric!r} that counts"
    fix = "measure more, or look at the failed runs"
    if zeros:
        what = f"every benchmark of {variant!r} has a run whose {metric} is 0 or less"
        fix = "compare another metric, or make the runs longer"
    elif runs.manifest.origin == "imported" and metric not in runs.manifest.metrics:
        fix = f"name another metric: {', '.join(map(format, runs.manifest.metrics))}"
    elif basis is not None and (runs.of_variant(variant) & runs.measured).any():
        fix = f"it needs {needed(basis.share)} judged values of {basis.metric} in a run: let runs print more, or measure more"
    return InsufficientDataError(what, str(runs.path), fix, n=0, needed=1)


def _matrix(
    runs: Runs, variant: str, metric: str, rows: Mapping[str, Integers], values: Array
) -> PerformanceMatrix:
    info, mine = info_of(runs, metric), runs.of_variant(variant)
    ids = None
    # of imported runs most stand in none: that is block 0
    if runs.manifest.origin != "imported" or (runs.block[runs.measured] > 0).all():
        ids = runs.session * (int(runs.block.max()) + 1) + runs.block
    below = None
    if judged_iterations(runs, metric) is not None:
        counts = judged_counts(runs, metric)
        several = any(counts[row].sum() > row.size for row in rows.values())
        # what stands in files is read where somebody asks for it
        if several and (runs.level == "iteration" or not runs.stored.get(metric)):
            below = [judged_values(runs, metric, row) for row in rows.values()]
    counting = runs.candidates
    for one in runs.manifest.given_up:
        # of a cell that was left out, because no warm-up was ok, the warm-ups failed, and are all there is
        if one.never_ok and not one.runs:
            cell = runs.of_variant(one.variant) & (runs.session == one.session)
            cell &= runs.benchmark == runs.manifest.benchmarks.index(one.benchmark)
            counting |= cell & runs.warmup & (runs.position >= 0)
    lost = np.flatnonzero(mine & counting & (runs.outcome != 0))
    lost = lost[np.argsort(runs.benchmark[lost], kind="stable")]  # as the campaign has them
    failed, failed_by_session = failures_of_rows(
        [runs.manifest.benchmarks[k] for k in runs.benchmark[lost].tolist()],
        runs.session[lost].tolist(),
    )
    quantiles = session_quantiles(runs, metric)
    sizes = {} if quantiles is None else {name: quantiles.of(row) for name, row in rows.items()}
    return PerformanceMatrix(
        name=variant,
        benchmarks=tuple(rows),
        samples=tuple(read_only(values[row]) for row in rows.values()),
        better=info.better,
        unit=info.unit,
        blocks=None if ids is None else tuple(read_only(ids[row]) for row in rows.values()),
        sessions=tuple(read_only(runs.session[row]) for row in rows.values()),
        iterations=None if below is None else tuple(read_only(one) for one, _ in below),
        run_of=None if below is None else tuple(read_only(place) for _, place in below),
        metric=metric,
        trial=str(runs.path.resolve()),
        failed=failed,
        cut=_cut(runs, metric, mine, ids),
        failed_by_session=failed_by_session,
        values_of={name: one for name, one in sizes.items() if one is not None},
        session_order=_order(runs),
        outermost=runs.outermost,
        of_builds=kind_of(runs.manifest, metric).of == "build",
    )


def cut_rows(runs: Runs, metric: str) -> tuple[Flags, Array, Array]:
    """Find the runs that their limit ended: flags, limits and lower bounds of a metric, nan where it need not grow.

    What they used until then is a lower bound of what they would have used.
    """
    timeout = runs.outcome == OUTCOMES.index("timeout")
    cut = runs.candidates & timeout & ~apart_of(runs, metric)
    limits, values = runs.numbers["wall_ns"] / 1e9, values_of(runs, metric)
    texts = {one.position: one.detail for one in runs.failed} if cut.any() else {}
    for row in np.flatnonzero(cut).tolist():
        limits[row] = limit_of(texts.get(int(runs.position[row])), float(limits[row]))
    if runs.manifest.origin == "imported" and info_of(runs, metric).better == "lower":
        return cut, limits, values  # what its reader stores of such a run is a lower bound
    if metric == "wall" and metric not in runs.manifest.metrics:
        return cut, limits, limits
    grows = kind_of(runs.manifest, metric).grows
    return cut, limits, values if grows else np.full(len(runs), np.nan)


def _cut(
    runs: Runs, metric: str, mine: Flags, blocks: NDArray[np.int64] | None
) -> dict[str, CutOff]:
    cut, limits, values = cut_rows(runs, metric)
    found = {}
    for k, name in enumerate(runs.manifest.benchmarks):
        if (rows := np.flatnonzero(cut & mine & (runs.benchmark == k))).size:
            limit = None if np.isnan(limits[rows]).any() else float(limits[rows].min())
            ids = (runs.session[rows], None if blocks is None else blocks[rows])
            known = (values[rows], *ids) if (values[rows] > 0).all() else ()
            found[name] = CutOff(rows.size, limit, *known)
    return found


def _order(runs: Runs) -> tuple[int, ...] | None:
    """Give the sessions of a merged trial by when its parts began; () where time tells no order."""
    if {"sessions-of-hosts", "hosts-as-sessions"} & {caution.code for caution in runs.cautions}:
        return ()
    try:
        parts = sorted(
            runs.manifest.merged_from,
            key=lambda part: (datetime.fromisoformat(part.started), part.first),
        )
    except (TypeError, ValueError):  # no time, or one without the other's zone
        return ()
    order = [n for part in parts for n in range(part.first, part.last + 1)]
    later = sorted(set(np.unique(runs.session).tolist()) - set(order))  # gone on with since
    return (*order, *later) if order else None


# --- What the matrix does not show.


def _counted(
    runs: Runs, mine: Flags, metric: str, basis: QuantileBasis | None, *, missing: Flags
) -> Iterator[Caution]:
    """Count the runs that are left out; those `missing` have no value though they should."""
    few = "" if basis is None else f", which needs {needed(basis.share)} values of {basis.metric}"
    apart = runs.measured & apart_of(runs, metric)
    if kind_of(runs.manifest, metric).of == "build":
        apart = np.zeros_like(apart)
    by_design = "run left out by design: counters are read in some blocks, times in the others"
    for code, which, text in (
        ("warm-up-left-out", runs.warmup, "warm-up run left out"),
        ("failed-left-out", runs.candidates & (runs.outcome != 0), "failed run left out"),
        ("metric-missing", missing, f"run without {metric}{few}"),
        ("counted-left-out", apart, by_design),
    ):
        if count := int((mine & which).sum()):
            noun, run, rest = text.partition("run")
            yield Caution(code, f"{count} {noun}{run}{'s' * (count > 1)}{rest}")


def _told(
    runs: Runs, metric: str, judged: JudgedIterations | None, zeros: Mapping[str, int], used: Flags
) -> Iterator[Caution]:
    """Say that a warm-up changes nothing, which benchmarks have no value, and how the values came about."""
    asked, builds = runs.warmup_iterations is not None, kind_of(runs.manifest, metric).of == "build"
    several = judged is not None and printed_counts(runs, metric).max(initial=0) > 1
    said_of_it = asked or bool(warmup_of(runs.manifest.metrics.get(metric, {})))
    if said_of_it and (builds or not several):  # every run or build has one value
        of = "is a number of builds" if builds else "has one value a run"
        option = "--warmup-iterations" if asked else "warmup_iterations"
        text = f"{option} changes nothing: {metric} {of}, and has no iterations"
        yield Caution("no-iterations", text, short=ShortSentence.of(plain(text)))
    names = runs.manifest.benchmarks
    there = {names[k] for k in np.unique(runs.benchmark[used]).tolist()}
    if absent := tuple(name for name in names if name not in there and name not in zeros):
        yield Caution("benchmark-missing", f"no run that counts of {', '.join(absent)}", absent)
    if zeros:
        words = ", ".join(f"{bench} ({n})" for bench, n in zeros.items())
        text = (
            f"{metric} counts as not measured where it is 0 or less in some runs, because ratios "
            f"need positive values: {words}"
        )
        short = ShortSentence.of("not measured, as runs are 0: {}", tuple(zeros))
        yield Caution("not-positive", text, tuple(zeros), short)
    if runs.manifest.sequential:
        rule = runs.manifest.stop
        words = "" if rule is None else f", width {rule.width:g}"
        text = f"sequential (stopping rule{words}): the number of runs depends on the values"
        yield Caution("sequential", text)
    if floored := int((used & floor_of(runs, metric)).sum()):
        text = f"{floored} values of {metric} say only 'at most the launcher's floor'"
        yield Caution("floored", text)


# --- What the energies of runs can tell, and when none of them can be judged.
#
# The counters move about once a millisecond, so each end of a run is known to one such step and its energy
# to 0.4 of what a millisecond takes (the difference of two uniform errors: 1/sqrt(6)). From 0.1 s on that is
# below half a percent of it. The sum over k runs of a shorter program has sqrt(k) times that error and k times
# the energy: it is known like that of one run sqrt(k) times as long.


def require_steady(runs: Runs, metric: str, used: Flags) -> None:
    """Refuse a net energy where the idle power before and after runs is not one."""
    if metric != NET_ENERGY or not kind_of(runs.manifest, metric).energy:
        return
    unsteady = [
        (before, after)
        for before, after in _around(runs, used).values()
        if after is not None and not is_steady(before, after)
    ]
    if not unsteady:
        return
    before, after = max(
        unsteady,
        key=lambda pair: abs(pair[1].watts / pair[0].watts - 1) if pair[0].watts else math.inf,
    )
    others = f", and {len(unsteady) - 1} more" if len(unsteady) > 1 else ""
    raise AnalysisError(
        f"{NET_ENERGY} cannot be judged: idle, the machine used {before.watts:.2f} W before session "
        f"{before.session} and {after.watts:.2f} W after it, more than {STEADY:.0%} apart{others}",
        str(runs.path),
        f"judge {ENERGY}, or measure again on a machine that has settled",
    )


def energy_cautions(runs: Runs, metric: str, used: Flags) -> Iterator[Caution]:
    """Say what the energies of some runs cannot tell."""
    if not kind_of(runs.manifest, metric).energy or not used.any():
        return
    wall = runs.numbers["wall_ns"] / 1e9
    short = used & (wall < RESOLUTION_S)
    if short.any():
        cells = np.stack([runs.benchmark[short], runs.session[short]])
        _, cell, count = np.unique(cells, axis=1, return_inverse=True, return_counts=True)
        # together a session's runs are known like one that lasts so long
        alike = float((np.bincount(cell.reshape(-1), weights=wall[short]) / np.sqrt(count)).min())
        text = f"one by one; the mean {metric} of a session's runs is known"
        if alike < RESOLUTION_S * (1 - 1e-9):  # a hundred runs of 10 ms are enough
            text = (
                f"({metric}), and so is the mean of a session's runs, which is known like one run of {alike:.2g} "
                "s: let the program repeat its work, or measure more runs a session"
            )
        some = figures.counted(int(short.sum()), "run")
        yield Caution(
            "short-for-energy",
            f"{some} of less than {RESOLUTION_S:g} s: too short to be known {text}",
            tuple(runs.manifest.benchmarks[k] for k in np.unique(runs.benchmark[short])),
        )
    if metric == NET_ENERGY:
        yield from _idle(runs, used, wall)


def _idle(runs: Runs, used: Flags, wall: Any) -> Iterator[Caution]:  # noqa: ANN401 - an array
    """Say how well the idle power is known, and what that makes of the net energy."""
    around = _around(runs, used)
    alone = sorted({session for (session, _), (_, after) in around.items() if after is None})
    if alone:
        yield Caution(
            "idle-unconfirmed",
            f"the idle power after session {', '.join(map(str, alone))} was not measured, so it is unknown whether "
            "it stayed at the value that was subtracted",
        )
    error = np.full(len(runs), np.nan)
    for (session, segment), (before, after) in around.items():
        drift = 0.0 if after is None else abs(after.watts - before.watts) / 2
        mine = used & (runs.session == session) & (runs.segment == segment)
        error[mine] = math.hypot(before.error_w, drift)
    joules, values = error * wall, values_of(runs, NET_ENERGY)
    worst: dict[str, float] = {}
    for number, name in enumerate(runs.manifest.benchmarks):
        rows = used & (runs.benchmark == number) & np.isfinite(joules)
        if rows.any():
            middle = abs(float(np.median(values[rows])))
            worst[name] = float(np.max(joules[rows])) / middle if middle > 0 else math.inf
    if worst:
        name = max(worst, key=lambda bench: worst[bench])
        share = f"{worst[name]:.2g}" if math.isinf(worst[name]) else f"{worst[name] * 100:.2g} %"
        yield Caution(
            "idle-uncertainty",
            f"the idle power is known to {float(np.nanmax(error)):.2g} W: up to {share} of {NET_ENERGY} ({name}), "
            "the same way in all runs of a session",
            (name,),
        )


def _around(runs: Runs, used: Flags) -> dict[tuple[int, int], tuple[IdlePower, IdlePower | None]]:
    """Find the idle powers before and after the segments of these runs, by session and segment."""
    known = {(one.session, one.segment, one.when): one for one in runs.manifest.idle_power}
    places = np.unique(np.stack([runs.session[used], runs.segment[used]]), axis=1).T.tolist()
    return {
        (session, segment): (before, known.get((session, segment, "after")))
        for session, segment in places
        if (before := known.get((session, segment, "before"))) is not None
    }
