"""From a loaded campaign to an ended trial: start a new one, or go on with an old one."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.record import (
    CAMPAIGN,
    OUTPUTS,
    PLAIN_SCHEMA,
    REPEATING_SCHEMA,
    Appended,
    Manifest,
    asked_since,
    utc_now,
)
from analysis.version import VERSION

from ..campaign import RULE, Build, Campaign, identity_of, resolved_text
from ..errors import FairtrialError
from ..launch import Interrupted, Interrupts, SideCommands, base_environment, hashes, resolve_all
from ..store import Store, clear_unused, new_trial_name, rows_done, storing
from .ending import Ending
from .files.metric_files import files_to_set_aside, set_aside
from .files.spools import kept_bytes, remove_discarded
from .preparation import Prepared, on_housekeeping_cpus, planned_runs, prepare
from .reserving import reserve
from .resuming.begun import Begun
from .resuming.programs import programs_again
from .resuming.resumption import (
    campaign_drift,
    check_plan,
    environment_drift,
    host_drift,
    record,
    refuse,
    refuse_another_rule,
    refuse_other_units,
    settle,
)
from .session import TrialRun
from .watcher import Watcher


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line adds to a campaign. `folder` holds the trials.

    `passing` says that the campaign file will not last: the copy in the trial is the campaign.
    `share` lets others read a new trial, as the campaign's key does. `name` is that of a new trial,
    where it is not made from the campaign's and the time; `wait_s` is for how long other trials on
    its CPUs are waited for. `node` is the host's name in the fleet that a new trial belongs to; `built`
    says that the programs are there, built once for all hosts of it. `after_session` is called when a
    session is stored.
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
    after_session: Callable[[], object] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Means:
    """What a trial is executed with, and held while it lasts."""

    campaign: Campaign
    prepared: Prepared
    environment: Mapping[str, str]
    commands: SideCommands
    interrupts: Interrupts
    watcher: Watcher
    after_session: Callable[[], object] | None

    def execute(self, store: Store, executables: Mapping[tuple[str, str], Path]) -> Ending:
        """Execute what is left of an open trial."""
        trial = TrialRun(
            campaign=self.campaign,
            store=store,
            prepared=self.prepared,
            environment=self.environment,
            executables=executables,
            commands=self.commands,
            interrupts=self.interrupts,
            watcher=self.watcher,
            after_session=self.after_session or (lambda: None),
        )
        self.watcher.begin(store.manifest.needed, store.counted, store.manifest.sessions)
        return trial.execute()

    def build(self, store: Store, builds: Iterable[Build]) -> None:
        """Build some variants."""
        chosen = list(builds)
        for number, build in enumerate(chosen, 1):
            self.watcher.say(f"build   {build.variant}")
            store.update(stage=f"building {build.variant} ({number} of {len(chosen)})")
            self.commands.build(
                build,
                self.environment,
                store.path / OUTPUTS,
                timeout_s=self.campaign.protocol.build_timeout_s,
            )
        store.update(stage=None)

    def executables(self) -> dict[tuple[str, str], Path]:
        """Find what the cells execute."""
        return resolve_all(self.campaign, self.environment)

    def set_aside(self, store: Store, executables: Mapping[tuple[str, str], Path]) -> None:
        """Give another name to what lies in the place of the metrics' files."""
        found = set_aside(self.campaign, executables, store.path)
        if found is not None:
            store.append_findings("before", [found])
            self.watcher.findings([found])


def start(campaign: Campaign, options: Options, watcher: Watcher) -> Ending:
    """Execute a campaign as a new trial.

    Raises
    ------
    FairtrialError
        If it cannot be started or had to stop; what was measured is kept.
    """
    sessions = options.sessions or campaign.protocol.sessions
    with _ready(campaign, options, sessions, watcher) as means:
        executables: dict[tuple[str, str], Path] = {}
        builds = () if options.built else campaign.builds
        if not builds:  # say what is missing before a folder is made
            executables = means.executables()
        files_to_set_aside(campaign, executables)  # refuses inputs
        manifest = _manifest(campaign, means.prepared, sessions, options)
        resolved = resolved_text(campaign)
        if options.name is not None and (options.folder / options.name).is_dir():
            clear_unused(options.folder / options.name)
        store = Store.create(
            manifest,
            options.folder,
            campaign.text,
            resolved,
            share=options.share or campaign.share,
        )
        watcher.opened(store.path, campaign, means.prepared)
        try:
            if builds:
                means.build(store, builds)
                executables = means.executables()
            store.update(targets=hashes(executables.values()))
            means.set_aside(store, executables)
        except (FairtrialError, Interrupted) as error:
            return _broken_off(store, error)
        return means.execute(store, executables)


def resume(begun: Begun, options: Options, watcher: Watcher) -> Ending:
    """Go on with an unfinished trial, or append sessions to a finished one.

    Raises
    ------
    FairtrialError
        If it has drifted, or if it had to stop again.
    """
    path, manifest, campaign = begun.path, begun.manifest, begun.campaign
    sessions = begun.sessions
    if manifest.status == "complete" and sessions == manifest.sessions:
        refuse(path, campaign_drift(path, manifest, campaign), complete=True)
        reason = "it was complete already"
        asked = asked_since(manifest.judge, campaign.judge, utc_now())
        if asked != manifest.judge:
            Store.note(path, judge=asked)
            named = ", ".join(campaign.judge)
            reason += (
                f", and judges {named} from now on" if named else ", and names no metric any more"
            )
        done = manifest.needed
        return Ending(
            trial=path,
            status="complete",
            reason=reason,
            done=done,
            planned=done,
            failed=rows_done(path, manifest).failed,
            session_ends=manifest.session_ends,
            given_up=manifest.given_up,
            repeating=manifest.repeating,
        )
    options = dataclasses.replace(options, folder=path.parent)
    with _ready(campaign, options, sessions, watcher, kept_bytes(path / OUTPUTS)) as means:
        with means.interrupts.at_once():  # a long trial is read for a while
            store = Store.reopen(path)
        try:
            _accept(store, means, manifest, accept=options.accept_drift)
            executables = programs_again(
                campaign,
                means.environment,
                store,
                functools.partial(means.build, store) if not options.built else _leave,
                accept=options.accept_drift,
            )
            earlier = store.environments()
            if earlier:
                now = means.prepared.describe(executables, means.environment)
                drifts = environment_drift(earlier[-1], now | {"inputs": None})  # held before
                settle(store, drifts, accept=options.accept_drift)
            means.set_aside(store, executables)
            with storing(path / OUTPUTS):
                remove_discarded(path / OUTPUTS, store.done)
        except Interrupted as stop:
            return _broken_off(store, stop, manifest)
        except BaseException:
            store.put_back(manifest)
            raise
        store.update(
            status="running",
            reason=None,
            must_raise=None,
            finished=None,
            files={},
            sessions=sessions,
            planned=planned_runs(campaign, sessions),
            appended=_appended(store, manifest, sessions),
        )
        watcher.opened(store.path, campaign, means.prepared)
        return means.execute(store, executables)


def _leave(_builds: Iterable[Build]) -> None:
    """Build nothing: what is missing is then missed."""


def _appended(store: Store, manifest: Manifest, sessions: int) -> tuple[Appended, ...]:
    """Note sessions that are put behind those of a complete trial: its answer may have been seen.

    One that is killed before it is given them, or before its end was recorded, has all its runs too.
    """
    whole = manifest.status == "complete" or store.counted >= manifest.needed
    if not whole or sessions == manifest.sessions:
        return manifest.appended
    new = Appended(at=utc_now(), first=manifest.sessions + 1, last=sessions)
    return (*manifest.appended, new)


def _accept(store: Store, means: _Means, manifest: Manifest, *, accept: bool) -> None:
    """Hold campaign, host, inputs and plan against the trial; record what differs, if accepted."""
    campaign, prepared = means.campaign, means.prepared
    host, host_id = _host(prepared)
    refuse_another_rule(store.path, manifest, campaign)
    metrics = _metrics(campaign, prepared)
    refuse_other_units(store.path, manifest.metrics, metrics)
    drifts = campaign_drift(store.path, manifest, campaign)
    drifts += host_drift(manifest, host, host_id, prepared.state.cpu_model)
    earlier = store.environments()
    if earlier:
        then = {"inputs": earlier[-1].get("inputs")}
        drifts += environment_drift(then, {"inputs": prepared.inputs()})
    if not accept:
        refuse(store.path, drifts)
    with means.interrupts.at_once():
        check_plan(store, campaign)
    record(store, drifts)
    # What was accepted is what later resumptions are held against.
    store.update(
        campaign_sha256=identity_of(campaign, manifest.campaign_identity),
        host=host,
        host_id=host_id,
        cpu_model=prepared.state.cpu_model,
        stop=campaign.protocol.stop,
        metrics=metrics | dict(manifest.metrics),
        judge=asked_since(manifest.judge, campaign.judge, utc_now()),
    )


@contextlib.contextmanager
def _ready(
    campaign: Campaign, options: Options, sessions: int, watcher: Watcher, kept: int = 0
) -> Iterator[_Means]:
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
            energy = contextlib.closing(prepared.energy)
            away = on_housekeeping_cpus(prepared)
            with prepared.host, prepared.grouping, energy, away:
                commands = SideCommands(prepared.cpus.housekeeping, interrupts)
                try:
                    yield _Means(
                        campaign=campaign,
                        prepared=prepared,
                        environment=base_environment(campaign.isolation, os.environ),
                        commands=commands,
                        interrupts=interrupts,
                        watcher=watcher,
                        after_session=options.after_session,
                    )
                finally:
                    commands.close()


def _broken_off(
    store: Store, error: FairtrialError | Interrupted, before: Manifest | None = None
) -> Ending:
    """Close a trial that ended before its first run, or that was resumed in vain."""
    if isinstance(error, Interrupted):
        if before is not None and before.status == "complete":
            store.put_back(before)  # it lacks nothing
        else:
            store.finish("interrupted", f"signal {error.number}")
        return Ending(
            trial=store.path,
            status="interrupted",
            reason=f"signal {error.number}",
            done=store.counted,
            planned=store.manifest.needed,
            failed=store.failed,
            session_ends=store.manifest.session_ends,
            given_up=store.manifest.given_up,
            repeating=store.manifest.repeating,
        )
    with contextlib.suppress(FairtrialError):
        store.finish("stopped", error.what.splitlines()[0])
    raise error


def _host(prepared: Prepared) -> tuple[str, str]:
    """Give the host's name and the hash of its machine id."""
    return prepared.state.hostname or "unknown", prepared.host.machine_id() or "unknown"


def _metrics(campaign: Campaign, prepared: Prepared) -> dict[str, Mapping[str, str]]:
    """Give the metrics that outputs are parsed for, and those that counters and energy of this host are."""
    parsed = {
        rule.name: {"unit": rule.unit, "better": rule.better}
        for cell in campaign.cells
        for rule in cell.metrics
    }
    events = {} if prepared.events is None else prepared.events.metrics
    return {**parsed, **events, **prepared.energy.metrics}


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
        judge=asked_since((), campaign.judge, started),
    )
