"""Sessions that are added to a trial one by one, by somebody who decides after each what is measured next.

Each is an ordinary session: host, programs and plan are looked at as by a resumption, since other things are
built and measured between two of them.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import StoreError
from analysis.record.manifest import read_manifest
from analysis.record.shapes import records_of
from analysis.record.trial_files import MANIFEST, OUTPUTS, PLAN, LooksPlan, PlannedRun

from ..trial.ending import Ending
from ..trial.execution import Options, begins_there, carry_out, opened_new, readied
from ..trial.locks import is_written_now, written_by_another
from ..trial.plan import planned_runs
from ..trial.preparation import Watcher
from ..trial.resume import AS_BEGUN, noted_appended, reopened
from ..trial.run_files import kept_bytes
from ..trial.writer import rows_done

if TYPE_CHECKING:
    from ..campaign.model import Campaign


def whole_sessions(trial: Path) -> int:
    """Count the sessions of a trial of which every planned run stands; 0 where there is no trial yet.

    Raises
    ------
    StoreError
        If the trial is damaged.
    """
    if not (trial / MANIFEST).exists():
        return 0
    manifest = read_manifest(trial)
    done = rows_done(trial, manifest).outcomes
    given_up = {(one.session, one.benchmark, one.variant) for one in manifest.given_up}
    left: Counter[int] = Counter()
    for run, _ in records_of(trial / PLAN, PlannedRun):
        cell = (run.session, run.benchmark, run.variant)
        left[run.session] += run.position not in done and cell not in given_up
    open_sessions = [session for session, count in left.items() if count]
    return min(open_sessions) - 1 if open_sessions else max(left, default=0)


def add_session(
    campaign: Campaign, options: Options, watcher: Watcher, looks_plan: LooksPlan | None = None
) -> Ending:
    """Measure one more session of the trial `options.name`, or finish the one that was broken off.

    The trial is begun where nothing was measured. With a `looks_plan`, which a new trial keeps, the sessions
    stand in that plan; without one each is noted as appended. Of `options` the number of sessions does not count.

    Raises
    ------
    HostError
        If a required check of the host fails.
    DriftError
        If host, programs or campaign are not those with which the trial began.
    StoreError
        If the trial cannot be written, or another process writes it.
    """
    assert options.name is not None, "its place is chosen by whoever adds to it"
    path = options.folder / options.name
    if begins_there(path, campaign.name):
        with readied(campaign, options, 1, watcher) as context:
            return opened_new(context, options, 1, looks_plan) or carry_out(context, options)
    if is_written_now(path):
        raise written_by_another(path)
    manifest = read_manifest(path)
    if manifest.looks_plan is None and looks_plan is not None:
        what = "its sessions stand in no plan of looks, and further ones would"
        raise StoreError(what, str(path), "move it away")
    whole = whole_sessions(path)
    sessions = max(manifest.sessions, whole + 1)
    kept = kept_bytes(path / OUTPUTS)
    with readied(campaign, options, sessions, watcher, kept) as context:
        ended = reopened(context, path, manifest, options)
        if ended is not None:
            return ended
        store = context.store
        in_plan = manifest.looks_plan is not None
        store.update(
            **AS_BEGUN,
            sessions=sessions,
            planned=planned_runs(campaign, sessions),
            appended=() if in_plan else noted_appended(store, manifest, sessions),
        )
        watcher.opened(store.path, campaign, context.prepared)
        return carry_out(context, options)
