"""From a loaded campaign to an ended trial: start a new one, or go on with an old one.

An old one is gone on with when it is still the same experiment, with the same programs.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import ne
from pathlib import Path
from typing import Any

from analysis.errors import CampaignError, FairtrialError, StoreError, UsageError
from analysis.record.environment import diff
from analysis.record.manifest import WARMUP, about_quantile, read_manifest, utc_now
from analysis.record.shapes import opened
from analysis.record.trial_files import (
    BUILD_METRICS,
    CAMPAIGN,
    MANIFEST,
    OUTPUTS,
    PLAIN_SCHEMA,
    REPEATING_SCHEMA,
    RESOLVED,
    Appended,
    Finding,
    LooksPlan,
    Manifest,
    judged_since,
)
from analysis.version import VERSION

from ..campaign.distributions import quantiles_of
from ..campaign.model import Campaign
from ..campaign.resolve import campaign_name, load_campaign
from ..campaign.schema import (
    BEFORE,
    RULE,
    first_defaults,
    identity_of,
    resolved_text,
    stored_defaults,
)
from ..launch.commands import SideCommands, base_environment
from ..launch.matching import Interrupted, Interrupts
from ..launch.usage import can_reset_peaks, folder_with_peaks, service_metrics
from .builds import drift, fits, refuse, settle
from .ending import Ending, refuse_comparison, refuse_imported
from .folder import clear_unused, holds_only_a_start, is_written_now, storing, written_by_another
from .plan import PlannedSession, planned_runs, reserve
from .preparation import Prepared, Watcher, on_housekeeping_cpus, prepare
from .progress import Trials, trials_in
from .run_files import files_to_set_aside, kept_bytes, remove_discarded
from .session import TrialRun
from .writer import Store, new_trial_name, rows_done


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
    if campaign.seed != manifest.seed and not text:
        what = f"the seed has changed: it was {manifest.seed}, now it is {campaign.seed}"
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
        for run in PlannedSession(campaign, seed, session, node, left)
    )
    # counted before it is compared: a session may have any number
    differs = planned_runs(campaign, sessions, left) != count or any(
        map(ne, store.planned(), planned)
    )
    if not count:  # it was broken off before its first session, and says already what that would be
        differs = not fits(store.manifest, campaign)
    if differs:
        raise StoreError(
            "the stored plan is not the one that this campaign gives: its benchmarks, variants, "
            "runs, warm-ups, order or seed have changed, or the file was edited",
            str(store.path / "plan.jsonl"),
            "go back to the campaign.yaml in the trial's folder, or start a new trial",
        )


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
    seed = manifest.seed if seed is None else seed  # it may not be the file's
    return Begun(
        path=path,
        manifest=manifest,
        campaign=load_campaign(file, seed=seed, **defaults_of(path, manifest)),
        sessions=max(manifest.sessions, sessions or 0) + more,
        passed_over=trials_in(folder, name).unreadable if named is None else (),
    )


def defaults_of(path: Path, manifest: Manifest) -> dict[str, Any]:
    """Give the defaults with which a trial began, and those of the person who began it, as `load_campaign` takes them."""
    if manifest.campaign_identity == 1:
        return {"defaults": {**BEFORE, **first_defaults()}, "own": {}}
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
        table, own = stored_defaults(data)
    except (OSError, ValueError, StoreError) as error:
        reason = getattr(error, "what", None) or getattr(error, "strerror", None) or str(error)
        what = f"the defaults with which the trial began cannot be read: {reason}"
        fix = "restore the file from a copy, or start a new trial"
        raise StoreError(what, str(path / RESOLVED), fix) from error
    return {"defaults": {**BEFORE, **table}, "own": own}


def resume(begun: Begun, options: Options, watcher: Watcher) -> Ending:
    """Go on with an unfinished trial, or append sessions to a finished one."""
    path, manifest, campaign = begun.path, begun.manifest, begun.campaign
    sessions = begun.sessions
    if manifest.status == "complete" and sessions == manifest.sessions:
        refuse(path, campaign_drift(path, manifest, campaign), campaign, complete=True)
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
            campaign_path=str(campaign.source),
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
            settle(store, drifts, trial.campaign, accept=options.accept_drift)
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
        refuse(store.path, drifts, campaign)
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


def begins_there(folder: Path, campaign: str) -> bool:
    """Tell whether a new trial of a campaign may begin in a folder: nothing was measured there."""
    if not os.path.lexists(folder):
        return True
    try:
        if not holds_only_a_start(folder):
            return False
        if (folder / MANIFEST).exists():
            manifest = read_manifest(folder)
            return manifest.origin == "measured" and manifest.campaign_name == campaign
        # killed while it was made: the manifest comes last, the campaign's text before it
        place = folder / CAMPAIGN
        if not place.exists() or not place.stat().st_size:
            kept = (path for path in folder.rglob("*") if not path.is_dir())
            return not any(path.parent != folder or path.stat().st_size for path in kept)
        return campaign_name(place) == campaign
    except (OSError, StoreError, CampaignError):
        return False  # whoever reads it as a trial says why


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line adds to a campaign. `folder` holds the trials.

    With `passing` the campaign file will not last: the copy in the trial is the campaign. `share` lets
    others read a new trial; `name` is that of a new trial, else made from the campaign's and the time.
    Other trials on its CPUs are waited for `wait_s` seconds. `node` is the host's name in the fleet of a
    new trial, whose programs are `built` once for all hosts.
    """

    folder: Path
    strict: bool = False
    accept_drift: bool = False
    sessions: int | None = None
    passing: bool = False
    share: bool = False
    name: str | None = None
    wait_s: float = 0.0
    node: str | None = None
    built: bool = False
    after_session: Callable[[TrialRun, int], object] | None = None


def start(campaign: Campaign, options: Options, watcher: Watcher) -> Ending:
    """Execute a campaign as a new trial."""
    sessions = options.sessions or campaign.protocol.sessions
    with readied(campaign, options, sessions, watcher) as trial:
        return opened_new(trial, options, sessions) or trial.execute()


def opened_new(
    trial: TrialRun, options: Options, sessions: int, looks_plan: LooksPlan | None = None
) -> Ending | None:
    """Make the folder of a new trial and its programs; give an ending where it comes to no run."""
    campaign, watcher = trial.campaign, trial.watcher
    builds = () if options.built else trial.builds.once
    if not builds:  # say what is missing before a folder is made
        trial.builds.find_programs(of_sessions=False)
    files_to_set_aside(campaign, trial.executables)  # refuses inputs
    manifest = _manifest(campaign, trial.prepared, sessions, options)
    if options.name is not None and (options.folder / options.name).is_dir():
        clear_unused(options.folder / options.name)
    store = trial.store = Store.create(
        dataclasses.replace(manifest, looks_plan=looks_plan),
        options.folder,
        campaign.text,
        resolved_text(campaign),
        share=options.share or campaign.share,
    )
    watcher.opened(store.path, campaign, trial.prepared)
    try:
        if builds:
            trial.builds.build_once(builds)
            trial.builds.find_programs(of_sessions=False)
        store.update(targets=trial.builds.lasting())
        trial.set_aside_files()
    except (FairtrialError, Interrupted) as error:
        return _broken_off(store, error)
    return None


@contextlib.contextmanager
def readied(
    campaign: Campaign, options: Options, sessions: int, watcher: Watcher, kept: int = 0
) -> Iterator[TrialRun]:
    """Hold signals, host and CPUs; give them back at the end."""
    with Interrupts() as interrupts:
        cpus, lock = reserve(campaign, interrupts, watcher.say, options.wait_s)
        with lock:
            prepared = prepare(
                campaign,
                options.folder,
                sessions,
                interrupts,
                cpus,
                strict=options.strict,
                kept_bytes=kept,
            )
            away, limit = on_housekeeping_cpus(prepared), campaign.isolation.output_limit_bytes
            with prepared.host, contextlib.closing(prepared.grouping), away:
                commands = SideCommands(prepared.cpus.housekeeping, interrupts, limit)
                with contextlib.closing(commands):
                    yield TrialRun(
                        campaign=campaign,
                        prepared=prepared,
                        environment=base_environment(campaign.isolation, os.environ),
                        commands=commands,
                        interrupts=interrupts,
                        watcher=watcher,
                        after_session=options.after_session,
                    )


def _broken_off(
    store: Store, error: FairtrialError | Interrupted, before: Manifest | None = None
) -> Ending:
    """Close a trial that ended before its first run, or that was resumed in vain."""
    if isinstance(error, Interrupted):
        if before is not None and before.status == "complete":
            store.put_back(before)  # it lacks nothing
        else:
            store.finish("interrupted", f"signal {error.number}")
        reason = f"signal {error.number}"
        return Ending.of(
            store.path, store.manifest, store.rows, status="interrupted", reason=reason
        )
    with contextlib.suppress(FairtrialError):
        store.finish("stopped", error.what.splitlines()[0])
    raise error


def _host(prepared: Prepared) -> tuple[str, str]:
    return prepared.state.hostname or "unknown", prepared.host.machine_id() or "unknown"


def _metrics(campaign: Campaign, prepared: Prepared) -> dict[str, Mapping[str, str]]:
    """Give the metrics that outputs are parsed for, their quantiles, and those that builds, counters, energy and services are."""
    parsed = {
        rule.name: {
            "unit": rule.unit,
            "better": rule.better,
            **({"when": "build"} if rule.when == "build" else {}),
            **({WARMUP: str(rule.warmup_iterations)} if rule.warmup_iterations else {}),
        }
        for cell in campaign.cells
        for rule in cell.metrics
    }
    quantiles = {
        name: about_quantile(rule.unit, rule.better, rule.name, share)
        for cell in campaign.cells
        for name, rule, share in quantiles_of(cell.metrics)
        if name not in parsed
    }
    events = {} if prepared.events is None else prepared.events.metrics
    builds = BUILD_METRICS if campaign.builds else {}
    grouping = prepared.grouping
    grouped = bool(campaign.services) and folder_with_peaks(grouping.groups) is not None
    services = service_metrics(campaign, resets=can_reset_peaks(), grouped=grouped)
    known = {**builds, **parsed, **quantiles, **events, **prepared.energy.metrics}
    return known | {name: about for name, about in services.items() if name not in known}


def _manifest(campaign: Campaign, prepared: Prepared, sessions: int, options: Options) -> Manifest:
    trial = options.name or new_trial_name(campaign.name)
    stored = options.folder.absolute() / trial / CAMPAIGN
    host, host_id = _host(prepared)
    started = utc_now()
    return Manifest(
        schema=REPEATING_SCHEMA if campaign.protocol.repeating else PLAIN_SCHEMA,
        trial=trial,
        tool_version=VERSION,
        campaign_name=campaign.name,
        campaign_sha256=identity_of(campaign),
        campaign_identity=RULE,
        campaign_path=str(stored if options.passing else campaign.source),
        baseline=campaign.baseline,
        variants=campaign.variants,
        benchmarks=campaign.benchmarks,
        metrics=_metrics(campaign, prepared),
        seed=campaign.seed,
        sessions=sessions,
        runs=campaign.protocol.runs,
        warmup=campaign.protocol.warmup,
        planned=planned_runs(campaign, sessions),
        host=host,
        host_id=host_id,
        cpu_model=prepared.state.cpu_model,
        node=options.node,
        targets={},
        started=started,
        finished=None,
        status="running",
        reason=None,
        files={},
        stop=campaign.protocol.stop,
        judge=judged_since((), campaign.judge, started),
    )
