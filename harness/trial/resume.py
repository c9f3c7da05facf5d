"""Which trial to go on with, whether it is still the same experiment, and with the same programs."""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from operator import ne
from pathlib import Path
from typing import Any

from analysis.errors import StoreError, UsageError
from analysis.record.environment import diff
from analysis.record.manifest import read_manifest, utc_now
from analysis.record.shapes import opened
from analysis.record.trial_files import (
    CAMPAIGN,
    MANIFEST,
    OUTPUTS,
    RESOLVED,
    Appended,
    Finding,
    Manifest,
    judged_since,
)

from ..campaign.model import Campaign
from ..campaign.resolve import campaign_name, load_campaign
from ..campaign.schema import (
    BEFORE,
    RULE,
    Table,
    first_defaults,
    identity_of,
    stored_defaults,
    stored_own_defaults,
)
from ..launch.matching import Interrupted
from .builds import drift, refuse, settle
from .ending import Ending, refuse_comparison, refuse_imported
from .execution import Options, _broken_off, _host, _metrics, readied
from .folder import is_written_now, storing, written_by_another
from .plan import plan_session, planned_runs
from .preparation import Watcher
from .progress import Trials, trials_in
from .run_files import kept_bytes, remove_discarded
from .session import TrialRun
from .writer import Store, rows_done


def trial_to_resume(folder: Path, campaign: str, named: Path | None) -> tuple[Path, Manifest]:
    """Choose the newest unfinished trial of the campaign, or the one that was named.

    Where all are finished it is the newest: it may be given more sessions.
    """
    if named is None:
        trials = trials_in(folder, campaign)
    else:
        manifest = read_manifest(named)
        if manifest.origin == "merged":
            names = ", ".join(part.trial for part in manifest.merged_from)
            raise StoreError(
                f"this trial was put together from others ({names}): nothing can be measured into it",
                str(named),
                "measure a new trial, or go on with one of those, and put them together again with "
                "'fairtrial merge'",
            )
        refuse_imported(named, manifest)
        refuse_comparison(named, manifest)
        trials = Trials(found=((named, manifest),))
    measured = [item for item in trials.found if item[1].origin == "measured"]
    found = [item for item in measured if item[1].looks_plan is None]
    if measured and not found:
        refuse_comparison(*measured[0])
    if not found:
        damaged = "".join(f"\n  {error.where}: {error.what}" for error in trials.unreadable)
        what = f"there is no trial of campaign '{campaign}' to resume{damaged}"
        fix = "leave out --resume to start one, or name its folder with --dir or --trial"
        raise UsageError(what, str(folder), fix)
    unfinished = [item for item in found if item[1].status != "complete"]
    path, manifest = (unfinished or found)[0]
    if is_written_now(path):
        raise written_by_another(path)
    return path, manifest


def campaign_drift(path: Path, manifest: Manifest, campaign: Campaign) -> list[Finding]:
    """Compare the campaign's identity; the difference is that of the two texts."""
    now = identity_of(campaign, manifest.campaign_identity)
    if now == manifest.campaign_sha256:
        return []
    with opened(path / CAMPAIGN) as file:
        old = file.read().decode("utf-8", errors="replace").splitlines()
    new = campaign.text.decode("utf-8", errors="replace").splitlines()
    lines = difflib.unified_diff(old, new, "as the trial began", "now", lineterm="", n=1)
    text = "\n".join(f"    {line}" for line in lines)
    what = f"the campaign has changed:\n{text}" if text else "the campaign has changed"
    return [drift(what, manifest.campaign_sha256, now)]


def host_drift(manifest: Manifest, host: str, host_id: str, cpu_model: str | None) -> list[Finding]:
    """Compare what makes a host: its machine id and its processor."""
    drifts = []
    if host_id != manifest.host_id:
        what = f"the host has changed: it was {manifest.host}, now it is {host}"
        if host == manifest.host:
            what = f"the host has changed: it is another one of the name {host}, with another machine id"
        drifts.append(drift(what, manifest.host_id, host_id))
    if cpu_model != manifest.cpu_model:
        what = f"the processor has changed: it was {manifest.cpu_model}, now it is {cpu_model}"
        drifts.append(drift(what, manifest.cpu_model, cpu_model))
    return drifts


def environment_drift(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Finding]:
    """Compare two environment records; only what may not change under a trial counts.

    That is another machine, processor or program (with its libraries), and another kernel.
    """
    return [
        drift(change.what, change.old, change.new)
        for change in diff(dict(old), dict(new))
        if change.identity or change.key == "kernel.release"
    ]


def check_plan(store: Store, campaign: Campaign) -> None:
    """Hold the stored plan against the one that the campaign and seed give."""
    seed, node, left = store.manifest.seed, store.manifest.node, store.manifest.left
    count = sessions = 0
    for run in store.planned():
        count, sessions = count + 1, max(sessions, run.session)
    planned = (
        run
        for session in range(1, sessions + 1)
        for run in plan_session(campaign, seed, session, node, left)
    )
    # counted before it is compared: a session may have any number
    differs = planned_runs(campaign, sessions, left) != count or any(
        map(ne, store.planned(), planned)
    )
    if not count:  # it was broken off before its first session, and says already what that would be
        differs = not _fits(store.manifest, campaign)
    if differs:
        raise StoreError(
            "the stored plan is not the one that this campaign gives: its benchmarks, variants, "
            "runs, warm-ups, order or seed have changed, or the file was edited",
            str(store.path / "plan.jsonl"),
            "go back to the campaign.yaml in the trial's folder, or start a new trial",
        )


def _fits(manifest: Manifest, campaign: Campaign) -> bool:
    """Tell whether a campaign can give a trial's plan: who changes that cannot go on with it."""
    then = (manifest.benchmarks, manifest.variants, manifest.runs, manifest.warmup)
    protocol = campaign.protocol
    return then == (campaign.benchmarks, campaign.variants, protocol.runs, protocol.warmup)


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A trial to go on with, and its campaign as the version that began it would read it now.

    `sessions` is how many there are to be in all; `passed_over` says which folders may hold a
    newer trial of the campaign that cannot be read.
    """

    path: Path
    manifest: Manifest
    campaign: Campaign
    sessions: int
    passed_over: tuple[StoreError, ...] = ()


def trial_begun(
    file: Path,
    folder: Path,
    *,
    named: Path | None = None,
    sessions: int | None = None,
    more: int = 0,
    seed: int | None = None,
) -> Begun:
    """Find the trial to go on with, and read the campaign file under the defaults of then."""
    if (file / MANIFEST).is_file():
        refuse_imported(file, read_manifest(file))  # else the message is of a missing file
    name = campaign_name(file)
    path, manifest = trial_to_resume(folder, name, named)
    defaults, own = defaults_of(path, manifest)
    return Begun(
        path=path,
        manifest=manifest,
        campaign=load_campaign(
            file,
            seed=manifest.seed if seed is None else seed,  # it may not be the file's
            defaults=defaults,
            own=own,
        ),
        sessions=max(manifest.sessions, sessions or 0) + more,
        passed_over=trials_in(folder, name).unreadable if named is None else (),
    )


def defaults_of(path: Path, manifest: Manifest) -> tuple[Table, Table]:
    """Give the defaults with which a trial began, and those of the person who began it."""
    if manifest.campaign_identity == 1:
        return {**BEFORE, **first_defaults()}, {}
    if manifest.campaign_identity > RULE:
        raise StoreError(
            f"the campaign's identity is made by rule {manifest.campaign_identity}, and {RULE} is "
            "the newest known here",
            str(path / MANIFEST),
            "use the fairtrial version that wrote it, or a newer one",
        )
    try:
        with opened(path / RESOLVED) as file:
            data = file.read()
        digest = hashlib.sha256(data).hexdigest()
        if manifest.files.get(RESOLVED, digest) != digest:  # of a killed trial none is known
            raise ValueError("it has changed since the trial ended")
        table = {**BEFORE, **stored_defaults(data)}
        return table, stored_own_defaults(data)
    except (OSError, ValueError, StoreError) as error:
        reason = getattr(error, "what", None) or getattr(error, "strerror", None) or str(error)
        what = f"the defaults with which the trial began cannot be read: {reason}"
        fix = "restore the file from a copy, or start a new trial"
        raise StoreError(what, str(path / RESOLVED), fix) from error


def resume(begun: Begun, options: Options, watcher: Watcher) -> Ending:
    """Go on with an unfinished trial, or append sessions to a finished one."""
    path, manifest, campaign = begun.path, begun.manifest, begun.campaign
    sessions = begun.sessions
    if manifest.status == "complete" and sessions == manifest.sessions:
        drifts = campaign_drift(path, manifest, campaign)
        refuse(path, drifts, complete=True, fits=_fits(manifest, campaign))
        reason, judges = "it was complete already", None
        asked = judged_since(manifest.judge, campaign.judge, utc_now())
        if asked != manifest.judge:
            Store.note(path, judge=asked)
            named = ", ".join(campaign.judge)
            judges = f"judges {named} from now on" if named else "names no metric any more"
            reason += f", and {judges}"
        rows, done = rows_done(path, manifest), manifest.needed
        known = {"status": "complete", "reason": reason, "judges": judges, "already": True}
        return Ending.of(path, manifest, rows, done=done, **known)
    options = dataclasses.replace(options, folder=path.parent)
    with readied(campaign, options, sessions, watcher, kept_bytes(path / OUTPUTS)) as trial:
        ended = reopened(trial, path, manifest, options)
        if ended is not None:
            return ended
        store = trial.store
        store.update(
            **AS_BEGUN,
            sessions=sessions,
            planned=planned_runs(campaign, sessions, manifest.left),
            appended=_noted_appended(store, manifest, sessions),
        )
        watcher.opened(store.path, campaign, trial.prepared)
        return trial.execute()


AS_BEGUN: Mapping[str, Any] = {
    "status": "running",
    "reason": None,
    "must_raise": None,
    "finished": None,
    "files": {},
}


def reopened(trial: TrialRun, path: Path, manifest: Manifest, options: Options) -> Ending | None:
    """Open a trial to go on with it, as far as it is still the same; give an ending where it is not."""
    with trial.interrupts.at_once():  # a long trial is read for a while
        store = trial.store = Store.reopen(path)
    try:
        _accept(trial, manifest, accept=options.accept_drift)
        trial.builds.programs_again(builds=not options.built, accept=options.accept_drift)
        trial.builds.builds_again(accept=options.accept_drift)
        earlier = store.environments()
        if earlier:
            with trial.interrupts.at_once():
                now = trial.prepared.describe(trial.executables, trial.environment)
            services = trial.described_services()
            then = earlier[-1]  # inputs were held before
            drifts = environment_drift(then, now | {"inputs": None, "services": services})
            settle(store, drifts, accept=options.accept_drift)
        trial.set_aside_files()
        with storing(path / OUTPUTS):
            remove_discarded(path / OUTPUTS, store.rows.outcomes)
    except Interrupted as stop:
        return _broken_off(store, stop, manifest)
    except BaseException:
        store.put_back(manifest)
        raise
    return None


def _noted_appended(store: Store, manifest: Manifest, sessions: int) -> tuple[Appended, ...]:
    """Note sessions that are put behind those of a complete trial: its answer may have been seen.

    One that is killed before it is given them, or before its end was recorded, has all its runs too.
    """
    if manifest.looks_plan is not None:  # they stand in a plan
        return ()
    whole = manifest.status == "complete" or store.rows.counted >= manifest.needed
    if not whole or sessions == manifest.sessions:
        return manifest.appended
    new = Appended(at=utc_now(), first=manifest.sessions + 1, last=sessions)
    return (*manifest.appended, new)


def _accept(trial: TrialRun, manifest: Manifest, *, accept: bool) -> None:
    """Hold campaign, host, inputs and plan against the trial; record what differs, if accepted."""
    campaign, prepared, store = trial.campaign, trial.prepared, trial.store
    host, host_id = _host(prepared)
    if manifest.repeating != campaign.protocol.repeating:
        began = "repeat" if manifest.repeating else "keep"
        raise StoreError(
            f"the trial began with 'disturbed: {began}', and the campaign now says "
            f"'disturbed: {campaign.protocol.disturbed}': what becomes of disturbed runs is fixed before "
            "the first of them",
            str(store.path),
            f"write 'disturbed: {began}' again, or start a new trial",
        )
    metrics = _metrics(campaign, prepared)
    for name in manifest.metrics.keys() & metrics.keys():
        before, after = (
            f"{one[name]['unit']}, {one[name]['better']} is better"
            for one in (manifest.metrics, metrics)
        )
        if before != after:
            raise StoreError(
                f"the metric '{name}' was in {before}, and the campaign now says {after}: its rows would "
                "not be separated",
                str(store.path),
                "give the metric another name, or start a new trial",
            )
    drifts = campaign_drift(store.path, manifest, campaign)
    drifts += host_drift(manifest, host, host_id, prepared.state.cpu_model)
    earlier = store.environments()
    if earlier:
        then = {"inputs": earlier[-1].get("inputs")}
        with trial.interrupts.at_once():
            drifts += environment_drift(then, {"inputs": prepared.inputs()})
    if not accept:
        refuse(store.path, drifts, fits=_fits(manifest, campaign))
    with trial.interrupts.at_once():
        check_plan(store, campaign)
    store.append_findings("resume", drifts)
    # What was accepted is what later resumptions are held against.
    store.update(
        campaign_sha256=identity_of(campaign, manifest.campaign_identity),
        host=host,
        host_id=host_id,
        cpu_model=prepared.state.cpu_model,
        stop=campaign.protocol.stop,
        metrics=metrics | dict(manifest.metrics),
        judge=judged_since(manifest.judge, campaign.judge, utc_now()),
    )
