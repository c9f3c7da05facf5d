"""From a stored profile to its answer: which functions' time differs, with what certainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from ..data.trial import Trial, read_trial
from ..errors import UsageError
from ..record.profiles import StoredProfile, read_profile
from ..stats.arguments import checks_arguments
from ..stats.samples import Array
from .session_profiles import FunctionName, FunctionNames, SessionTable, Side, table_of
from .why_counters import (
    MARGIN,
    by_evidence,
    corrected,
    counting_variance,
    interval_of,
    judged_counters,
    row_of,
)
from .why_page import story_of
from .why_result import (
    FEWEST_SAMPLES,
    FEWEST_SESSIONS,
    LEAST_SHARE,
    Opposite,
    Presence,
    Row,
    Why,
    Withheld,
    cautions_of,
)

# --- The parts of the time on the processors: functions of 1 % and more, all others
# together, and what no sample shows.


OTHERS, UNSEEN = "others", "kernel, not seen"
_EXPECTED = (
    7  # samples; that there is none where so many are expected happens once in e^7 = 1097 times
)
_PAIRS = 3  # of opposite rows, at most


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """Rows that add up to the total: `functions`, and `rest`, which are no functions; `further` are in the others.

    `differences` has the difference of each function in `functions` by session.
    """

    functions: tuple[Row, ...]
    rest: tuple[Row, ...]
    further: int
    differences: dict[FunctionName, Array]

    @property
    def family(self) -> list[Row]:
        """All rows that are corrected together, the functions first."""
        return [*self.functions, *self.rest]

    @classmethod
    def of(cls, table: SessionTable, confidence: float) -> Parts:
        """Divide a table; each part has the interval of its own."""
        sides = table.baseline, table.candidate
        least = counting_variance(*sides)
        shares = np.stack([side.shares.mean(axis=0) for side in sides])
        large = np.flatnonzero((shares >= LEAST_SHARE).any(axis=0))
        small = np.setdiff1d(np.arange(len(table.names)), large)
        before, after = (side.functions for side in sides)
        functions = tuple(
            row_of(
                before[:, k],
                after[:, k],
                confidence,
                least,
                function=table.names[k].function,
                object=table.names[k].object,
                presence=_presence(*sides, k),
                was=table.was.get(table.names[k]),
            )
            for k in large.tolist()
        )
        rest = []
        if small.size:
            both = before[:, small].sum(axis=1), after[:, small].sum(axis=1)
            rest.append(row_of(*both, confidence, least, function=OTHERS))
        if any(side.unseen.any() for side in sides):
            unseen = table.baseline.unseen, table.candidate.unseen
            rest.append(row_of(*unseen, confidence, function=UNSEEN))
        return cls(
            functions=functions,
            rest=tuple(rest),
            further=int(small.size),
            differences={table.names[k]: after[:, k] - before[:, k] for k in large.tolist()},
        )


def _presence(baseline: Side, candidate: Side, function: int) -> Presence:
    """Tell whether a variant has no sample of a function where chance alone hardly leaves none."""
    before, after = (int(side.counts[:, function].sum()) for side in (baseline, candidate))
    ratio = float(candidate.samples.sum() / baseline.samples.sum())
    if after == 0 and before * ratio >= _EXPECTED:
        return "gone"
    return "new" if before == 0 and after / ratio >= _EXPECTED else "both"


def opposite_of(
    rows: Sequence[Row], parts: Parts, stored: StoredProfile, benchmark: str, confidence: float
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
        both = [parts.differences[FunctionName(row.function, row.object)] for row in (one, other)]
        total = both[0] + both[1]
        low, high, _ = interval_of(total, confidence)
        found.append(
            Opposite(
                rows=(one.name, other.name),
                difference_ms=float(total.mean()),
                low_ms=low,
                high_ms=high,
                in_one_chain=together,
            )
        )
    return tuple(found[:_PAIRS])


def _in_one_chain(stored: StoredProfile, benchmark: str, one: Row, other: Row) -> bool:
    names = FunctionNames.of(stored, benchmark)
    wanted = [
        {FunctionName(name, row.object) for name in (row.function, row.was) if name is not None}
        for row in (one, other)
    ]
    for cell in stored.cells:
        if cell.benchmark != benchmark:
            continue
        called = [names.name_of(each.symbol, each.object) for each in cell.functions]
        for chain in cell.chains or ():
            frames = {called[frame] for frame in chain.frames}
            if all(not frames.isdisjoint(those) for those in wanted):
                return True
    return False


OFF_CPU, ASLEEP, CPU_WAIT = "off-CPU", "asleep", "waiting for a CPU"


@checks_arguments
def explain(
    profile: StoredProfile | str | Path,
    *,
    benchmark: str,
    renames: Mapping[str, str] | None = None,
    confidence: float = 0.95,
    any_total: bool = False,
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
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must lie between 0 and 1, not {confidence!r}")
    stored = profile if isinstance(profile, StoredProfile) else read_profile(Path(profile))
    return explain_by(
        stored,
        read_trial(stored.timed),
        benchmark=benchmark,
        renames=renames,
        confidence=confidence,
        any_total=any_total,
    )


def explain_by(
    stored: StoredProfile,
    trial: Trial,
    *,
    benchmark: str,
    renames: Mapping[str, str] | None = None,
    confidence: float = 0.95,
    any_total: bool = False,
) -> Why:
    """Answer as `explain` does, where the timed trial is read already."""
    profile, risk = stored.profile, 1 - confidence
    table = table_of(stored, trial, benchmark, renames or {})
    total = row_of(table.baseline.on_cpu, table.candidate.on_cpu, confidence, function="total")
    withheld = _withheld(table, total, risk, any_total=any_total)
    parts = Parts.of(table, confidence)
    told = corrected(parts.family, risk, names=withheld is None)
    rows = sorted(told[: len(parts.functions)], key=by_evidence)
    rest = {row.function: row for row in told[len(rows) :]}
    off = row_of(*_off_cpu(table), confidence, function=OFF_CPU)
    apart = _waits(table, confidence)
    counters, waits = judged_counters(
        _of_runs(trial),
        benchmark,
        profile.baseline,
        profile.variant,
        confidence=confidence,
        waits=apart or (off,),
    )
    asleep, cpu_wait = waits if apart else (None, None)
    hidden = withheld == "total-not-resolved"
    opposite = () if hidden else opposite_of(rows, parts, stored, benchmark, confidence)
    answer = Why(
        trial=profile.trial,
        path=str(stored.timed.parent),
        benchmark=benchmark,
        baseline=profile.baseline,
        variant=profile.variant,
        sessions=len(table.sessions),
        timed_runs=profile.timed_runs,
        profiled_runs=profile.profiled_runs,
        samples_baseline=int(table.baseline.samples.sum()),
        samples_candidate=int(table.candidate.samples.sum()),
        event=profile.event,
        frequency_hz=profile.frequency_hz,
        kernel=profile.kernel,
        chains=profile.chains,
        runtimes={
            side: found
            for side in (profile.baseline, profile.variant)
            if (found := profile.runtimes.get(f"{benchmark}/{side}")) is not None
        },
        confidence=confidence,
        total=total,
        rows=() if hidden else tuple(rows),
        others=None if hidden else rest.get(OTHERS),
        further=0 if hidden else parts.further,
        kernel_not_seen=rest.get(UNSEEN),
        off_cpu=off if apart else waits[0],
        asleep=asleep,
        cpu_wait=cpu_wait,
        family=len(told),
        gone=() if hidden else tuple(row.name for row in rows if row.presence == "gone"),
        new=() if hidden else tuple(row.name for row in rows if row.presence == "new"),
        renames=dict(renames or {}),
        opposite=opposite,
        counters=counters,
        story=story_of(
            counters,
            waits,
            risk=risk,
            negligible_ms=MARGIN * float(table.baseline.wall.mean()),
        ),
        withheld=withheld,
        verdict_was=profile.verdict_was.get(benchmark),
    )
    return replace(answer, cautions=tuple(cautions_of(answer, stored, table)))


def _of_runs(trial: Trial) -> Trial:
    """Give the trial without the numbers of its builds: how long a compiler took explains no run."""
    builds = {name for name in trial.manifest.metrics if trial.is_of_builds(name)}
    metrics = {name: one for name, one in trial.manifest.metrics.items() if name not in builds}
    columns = {name: one for name, one in trial.metrics.items() if name not in builds}
    return replace(trial, metrics=columns, manifest=replace(trial.manifest, metrics=metrics))


def _withheld(table: SessionTable, total: Row, risk: float, *, any_total: bool) -> Withheld | None:
    if not any_total and (total.pvalue is None or total.pvalue > risk):
        return "total-not-resolved"
    if len(table.sessions) < FEWEST_SESSIONS:
        return "few-sessions"
    if min(int(side.samples.sum()) for side in (table.baseline, table.candidate)) < FEWEST_SAMPLES:
        return "few-samples"
    return None


def _off_cpu(table: SessionTable) -> tuple[Array, Array]:
    return (
        table.baseline.wall - table.baseline.on_cpu,
        table.candidate.wall - table.candidate.on_cpu,
    )


def _waits(table: SessionTable, confidence: float) -> tuple[Row, Row] | None:
    """Give the time asleep and that without a processor; None where the kernel does not say."""
    waiting = table.baseline.waiting, table.candidate.waiting
    if not all(np.isfinite(side).all() for side in waiting):
        return None
    before, after = _off_cpu(table)
    return (
        row_of(before - waiting[0], after - waiting[1], confidence, function=ASLEEP),
        row_of(*waiting, confidence, function=CPU_WAIT),
    )
