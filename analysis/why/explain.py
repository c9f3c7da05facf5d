"""From a stored profile to its answer: which functions' time differs, with what certainty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..data.trial import Trial, read_trial
from ..errors import UsageError
from ..record.profiles import StoredProfile, read_profile
from ..stats.arguments import door
from ..stats.samples import Array
from .cautions import cautions_of
from .counters import MARGIN, judged_counters
from .intervals import by_evidence, corrected, row_of
from .parts import OTHERS, UNSEEN, Parts, opposite_of
from .result import FEWEST_SAMPLES, FEWEST_SESSIONS, Row, Why, Withheld
from .session_table import SessionTable, table_of
from .story import story_of

OFF_CPU, ASLEEP, CPU_WAIT = "off-CPU", "asleep", "waiting for a CPU"


@door
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
