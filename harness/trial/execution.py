"""From a loaded campaign to an ended trial: start a new one, or go on with an old one."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import CampaignError, FairtrialError, StoreError
from analysis.record.manifest import about_quantile, read_manifest, stored_warmup, utc_now
from analysis.record.trial_files import (
    BUILD_METRICS,
    CAMPAIGN,
    MANIFEST,
    PLAIN_SCHEMA,
    REPEATING_SCHEMA,
    LooksPlan,
    Manifest,
    judged_since,
)
from analysis.version import VERSION

from ..campaign.distributions import quantiles_of
from ..campaign.model import Campaign
from ..campaign.resolve import campaign_name
from ..campaign.schema import RULE, identity_of, resolved_text
from ..launch.commands import SideCommands, base_environment
from ..launch.matching import Interrupted, Interrupts
from ..launch.usage import can_reset_peaks, folder_with_peaks, service_metrics
from .ending import Ending
from .folder import clear_unused, holds_only_a_start
from .plan import planned_runs, reserve
from .preparation import Prepared, Watcher, on_housekeeping_cpus, prepare
from .run_files import files_to_set_aside
from .session import TrialRun
from .writer import Store, new_trial_name


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
            **stored_warmup(rule.warmup_iterations),
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
