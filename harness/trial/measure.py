"""One planned run -> one `Measurement`: hooks, launcher, output, clocks, and what the host shows."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
import os
import time
from collections.abc import Callable, Mapping
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import StoreError
from analysis.record.run_numbers import MOST_REPEATS, Measurement, is_disturbed, together, waited_ns
from analysis.record.shapes import label_of
from analysis.record.trial_files import OUTPUTS, Finding, PlannedRun, warning

from ..campaign.model import SEEN_SINKS, Cell, Command
from ..errors import LauncherDiedError, LaunchError, counted
from ..host.activity import Surroundings
from ..host.variables import Concealed
from ..launch.client import LauncherClient, sink_of
from ..launch.commands import (
    HOOKS_LAUNCHER_DIED,
    CommandFailedError,
    HooksLauncherDiedError,
    ServiceFailedError,
)
from ..launch.exchange import Execution, LaunchRequest, Standstill, limit_numbers
from ..launch.matching import floods
from ..launch.running import DEATH_S
from ..launch.usage import (
    HookLeftovers,
    ServiceMeter,
    Used,
    can_reset_peaks,
    disturbed as services_disturbed,
    folder_with_peaks,
)
from . import run_files as metric_files
from .metering import counters_of
from .outcomes import Examined, examine, examine_after, finding_of_standstill, repeats_of
from .plan import padding
from .run_files import RunValues, Spools

if TYPE_CHECKING:
    from .preparation import TrialContext

_STEP_NS = 500_000_000


class ClockWatch:
    """Compares three clocks with what they said before; they are arguments so that tests can lie."""

    def __init__(
        self,
        wall: Callable[[], int] = time.time_ns,
        monotonic: Callable[[], int] = time.monotonic_ns,
        boot: Callable[[], int] = lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME),
    ) -> None:
        self._wall, self._monotonic, self._boot = wall, monotonic, boot
        self._offsets = self._read()

    def _read(self) -> tuple[int, int]:
        now = self._boot()
        return self._wall() - now, now - self._monotonic()

    def findings(self) -> tuple[Finding, ...]:
        """Give what happened to the clocks since the last call."""
        before, self._offsets = self._offsets, self._read()
        step, slept = (new - old for new, old in zip(self._offsets, before, strict=True))
        found = (
            warning(
                "clock",
                f"the wall clock was set by {step / 1e9:+.1f} s during the session",
                "CLOCK_REALTIME against CLOCK_BOOTTIME",
                "let NTP slew the clock instead of stepping it",
                "started_at jumps; durations are monotonic and stay right",
            ),
            warning(
                "clock",
                f"the host slept for {slept / 1e9:.1f} s during the session",
                "CLOCK_BOOTTIME against CLOCK_MONOTONIC",
                "forbid it: systemd-inhibit --what=sleep fairtrial run ...",
                "a host that wakes up is cold: caches, frequencies and temperatures",
            ),
        )
        return tuple(compress(found, (abs(step) > _STEP_NS, slept > _STEP_NS)))


def written(ns: int) -> str:
    """Write a time of the wall clock as rows have it (RFC 3339, UTC)."""
    return f"{_second(ns // 1_000_000_000)}.{ns % 1_000_000_000:09d}Z"


@functools.lru_cache(maxsize=1)
def _second(second: int) -> str:
    """Write a second; hundreds of short runs begin within one."""
    return f"{datetime.datetime.fromtimestamp(second, datetime.UTC):%Y-%m-%dT%H:%M:%S}"


PADDING_VARIABLE = "FAIRTRIAL_PADDING"
_WATCH_S = 0.25
_FIRST_LOOK_S = 0.02
_TIME_CAP = "time-cap"
_SERVICE_DIED = "service-died"
_LOW_DISK_BYTES = 1024 * 1024
_DEATHS = 2  # of the launchers of a run


def request_of(
    trial: TrialContext,
    cell: Cell,
    stdout: Path,
    stderr: Path,
    further: Mapping[str, str] | None = None,
) -> LaunchRequest:
    """Give what a launcher executes for a cell; what it writes goes to these files, if it is looked at.

    `further` variables stand before those of the campaign.
    """
    merged = {**trial.environment, **(further or {}), **cell.env}
    merged.pop(PADDING_VARIABLE, None)  # of a fairtrial around this one, say
    return LaunchRequest(
        path=str(trial.executables[cell.benchmark, cell.variant]),
        argv=cell.command.argv,
        env={os.fsencode(name): os.fsencode(text) for name, text in merged.items()},
        padded=os.fsencode(PADDING_VARIABLE),
        cwd=cell.cwd,
        stdin=cell.stdin,
        stdout=stdout if cell.stdout in SEEN_SINKS else sink_of(cell.stdout),
        stderr=None if cell.stderr == "discard" else stderr,
        limits=limit_numbers(trial.campaign.isolation.limits),
        timeout_s=cell.timeout_s,
        grace_s=trial.campaign.protocol.grace_s,
    )


class CapReached(Exception):  # noqa: N818 - a planned end, not an error
    """A hard cap in runs or in time was reached: that of the campaign's key `key`."""

    def __init__(self, key: str, what: str) -> None:
        super().__init__(what)
        self.key = key


class Measurer:
    """Executes the planned runs of a session's segment under one launcher; a context manager that ends it.

    `client` is the launcher; one that dies is replaced. `stored` are the positions of rows since it was last
    looked at where it runs.
    """

    def __init__(self, trial: TrialContext, session: int, segment: int) -> None:
        self._trial, self._session, self._segment = trial, session, segment
        self._campaign, self._prepared = trial.campaign, trial.prepared
        self._cpus = trial.prepared.cpus.targets
        self._tally = trial.prepared.tally()
        groups = trial.prepared.grouping.groups if trial.campaign.services else None
        self._service_meter = ServiceMeter(
            trial.services, resets=can_reset_peaks(), groups=folder_with_peaks(groups)
        )
        self._leftovers = HookLeftovers(trial.commands.left)
        self._outputs = trial.store.path / OUTPUTS
        isolation = trial.campaign.isolation
        self._limit = isolation.output_limit_bytes
        self._spools = Spools(self._outputs, isolation.kept_outputs_bytes)
        self._values = RunValues(trial.store.path, self._spools)
        self._surroundings = Surroundings(trial.prepared.host, self._cpus or ())
        self._requests: dict[tuple[str, str], tuple[Cell, LaunchRequest]] = {}
        given = isolation.set_environment  # these stand in the campaign
        outer = {k: text for k, text in trial.environment.items() if k not in given}
        self._conceal = Concealed(outer).text
        [sink_of(cell.stdout) for cell in trial.campaign.cells]  # before it starts
        self.client = self._started()
        self._placement = self.client.placement
        self.stored: list[int] = []

    def _started(self) -> LauncherClient:
        prepared, interrupts = self._prepared, self._trial.interrupts
        return LauncherClient(
            self._campaign.isolation, self._cpus, interrupts, **prepared.launching
        )

    def __enter__(self) -> Measurer:
        return self

    def __exit__(self, *_: object) -> None:
        """End the launcher; it sweeps before it exits."""
        self.client.close()

    def finish(self) -> list[Finding]:
        """Remove what was caught last; say what was not kept, and what was strange."""
        self._spools.close()
        dropped = self._spools.finding()
        strange = () if self._tally is None else self._tally.findings()
        left, findings = self._leftovers.findings(), self._values.findings()
        return [*strange, *left, *findings, *(() if dropped is None else (dropped,))]

    def hold(self) -> None:
        """Look whether the launcher still runs where and how it did at its start: once a block.

        A program with the rights for it may change its launcher, and all later ones inherit that. What was
        changed is put back; where that is not permitted a new launcher takes its place. The rows since
        the last look are named.
        """
        rows, self.stored = self.stored, []
        before, now = self._placement, self.client.placement
        if before is None or now is None or now == before or not rows:
            return
        self.client.place(before)
        what = "it was put back"
        if self.client.placement != before:
            self.client.close()
            self.client = self._started()
            what = "a new launcher took its place"
            if (found := self.client.placement) != before:
                self._placement = found  # said once
                what = "it cannot be put back, and stays"
        finding = warning(
            "placement",
            f"the launcher was changed while it measured: {before.changes(now)}; {what}. Runs of the "
            f"rows from position {rows[0]} to {rows[-1]} may have inherited that, whatever the rows say",
            "affinity, nice and scheduling of the launcher, looked at once a block",
            "find out which program changes its parent; measure those rows again",
            "a program inherits where it runs, and how it is scheduled, from its launcher",
        )
        self._trial.look([finding], self._session)

    def measure(self, run: PlannedRun) -> Measurement:
        """Execute one run; again where its launcher died, or something stood still meanwhile."""
        cell = self._trial.cell_of(run.benchmark, run.variant, run.session)
        began = time.time_ns()
        deaths = suspended = 0
        try:
            while deaths < _DEATHS and suspended <= MOST_REPEATS:
                try:
                    found = self._measured(run, cell, suspended)
                    if isinstance(found, Measurement):
                        return found
                    suspended += 1
                    finding = finding_of_standstill(run, found, again=suspended <= MOST_REPEATS)
                    self._trial.look([finding], self._session)
                except LauncherDiedError as died:  # that of hooks is a CommandFailedError
                    deaths += 1
                    self.client.close()
                    what = f"{run.benchmark} / {run.variant}: {died.what}"
                    reason = (
                        "the run may have killed it: it is executed once more, under a new launcher"
                    )
                    self._trial.look([warning("launcher", what, reason=reason)], self._session)
                    self.client = self._started()
                with contextlib.suppress(CommandFailedError):  # nothing is kept of this run
                    self._hooks("after", cell.after, run)
            # who kills its launcher twice does it, and not the machine
            detail = "killed its launcher"
            if deaths < _DEATHS:
                detail = f"stopped and continued in each of {suspended} tries"
            lost = Examined(outcome="signal", detail=detail)
            pad = self._padding(run)
            return self._row(run, lost, began_ns=began, suspended=suspended, padding_bytes=pad)
        finally:
            metric_files.clear(cell)  # whatever it wrote has been read, or is not wanted

    def _padding(self, run: PlannedRun) -> int:
        again = repeats_of(run)  # which stands where the run stood: everything of it is the same
        place = run.position if again is None else again
        seed, setting = self._trial.store.manifest.seed, self._campaign.isolation.padding
        return padding(seed, run.session, place, setting)

    def _measured(self, run: PlannedRun, cell: Cell, suspended: int) -> Measurement | Standstill:
        """Execute a run once, while the services that it needs run; give what stood still meanwhile where nothing of it is kept."""
        services, began = self._trial.services, time.time_ns()
        try:
            try:
                services.before_run(run.variant)
            except ServiceFailedError as error:
                failed = Examined(outcome="service-failed", detail=f"{error.where}: {error.what}")
                return self._row(run, failed, began_ns=began, suspended=suspended)
            return self._beside_services(run, services.filled(cell), suspended)
        finally:
            services.after_run(run.variant)

    def _beside_services(
        self, run: PlannedRun, cell: Cell, suspended: int
    ) -> Measurement | Standstill:
        began = time.time_ns()
        try:
            before_s = self._hooks("before", cell.before, run)
        except CommandFailedError as error:
            examined = self._blamed(run, _hook_failed(error))
            return self._row(run, examined, began_ns=began, suspended=suspended)
        pad = self._padding(run)
        kept = metric_files.clear(cell)
        request = self._request(cell)
        self._surroundings.begin()
        self._leftovers.begin()
        self._service_meter.begin(run.variant)
        self._trial.energy.begin()
        execution = self.client.execute(
            request,
            self._watch(cell, request, warmup=run.warmup),
            _FIRST_LOOK_S if run.warmup else _WATCH_S,
            padding=pad,
            count=self._counts(run),
        )
        spent = self._trial.energy.end()
        used = self._service_meter.end(run.variant)
        self._leftovers.end()
        planned = self._prepared.cpus.services
        serving = self._trial.services.serving(run.variant)
        cpus = {cpu for label in serving for cpu in planned.get(label, ())}
        around = self._surroundings.end(tuple(sorted(cpus)))
        if execution.killed == _TIME_CAP:
            seconds = self._campaign.protocol.max_time_s
            what = f"the time cap of {seconds:g} s was reached in a run, now discarded"
            raise CapReached("protocol.max_time", what)
        if execution.survivors:
            raise LaunchError(
                f"{counted(execution.survivors, 'process', 'processes')} of {cell.benchmark} / {cell.variant} could not be "
                "killed; runs that share the host with them would not be a measurement",
                cell.command.mark,
                "end them by hand (ps -ef), then continue with --resume",
            )
        stood = execution.standstill
        # SIGCONT in every try, and nothing that was ever seen to stand: the program sends it itself
        if stood is not None and (stood.seconds or suspended < MOST_REPEATS):
            return stood
        if execution.killed is None and execution.exit_code not in cell.expect.exit_codes:
            # a run that was signalled together with us is discarded, and leaves no output
            self._trial.interrupts.settle_after(execution.signal, execution.exit_code)
        examined = self._blamed(run, self._examine(cell, run, execution, request, kept))
        after_s = None
        try:
            after_s = self._hooks("after", cell.after, run)
            examined = examine_after(cell, examined, kept, self._trial.matching())
        except CommandFailedError as error:
            examined = self._blamed(run, _hook_failed(error))
        energy = self._trial.energy.metrics(spent, execution.wall_ns)  # nothing of a discarded run
        if examined.outcome == "ok":
            self._values.follow(cell, examined.metrics)
        services = self._service_meter.metrics(used)
        examined = dataclasses.replace(examined, metrics={**services, **examined.metrics, **energy})
        return self._row(
            run,
            examined,
            execution,
            suspended=suspended,
            disturbed=_disturbed(execution, used),
            padding_bytes=pad,
            before_s=before_s,
            after_s=after_s,
            **around,
        )

    def _blamed(self, run: PlannedRun, found: Examined) -> Examined:
        """Give what came of a run, or of its hooks; where one of its services has died, that instead."""
        patience_s = 0.0 if found.outcome == "ok" else DEATH_S
        died = self._trial.services.died(run.variant, patience_s)
        return found if died is None else Examined(outcome="service-failed", detail=died)

    def _counts(self, run: PlannedRun) -> bool:
        counting = self._campaign.counters
        return counting is not None and counting.counts(run.block)

    def _hooks(self, when: str, commands: tuple[Command, ...], run: PlannedRun) -> float | None:
        if not commands:
            return None
        log = self._spools.log
        variables = {
            "FAIRTRIAL_BENCHMARK": run.benchmark,
            "FAIRTRIAL_VARIANT": run.variant,
            "FAIRTRIAL_SESSION": str(run.session),
            "FAIRTRIAL_POSITION": str(run.position),
        }
        total = 0.0
        try:
            for command in commands:
                total += self._trial.hook(when, command, log, variables)
        except CommandFailedError as error:
            kept = self._outputs / f"{label_of(run.position, warmup=run.warmup)}.{when}.log"
            self._spools.caught(log)
            there = self._spools.keep(log, kept.name, self._limit)
            fix = f"read {kept}" if there else "its log was not kept (isolation.kept_outputs)"
            raise type(error)(error.what, error.where, fix) from error
        log.unlink(missing_ok=True)
        return total

    def _request(self, cell: Cell) -> LaunchRequest:
        key = (cell.benchmark, cell.variant)
        known = self._requests.get(key)
        if known is None or known[0].command != cell.command or known[0].env != cell.env:
            made = request_of(self._trial, cell, self._spools.stdout, self._spools.stderr)
            known = self._requests[key] = (cell, made)  # a service may have another port now
        return known[1]

    def _out(self, cell: Cell) -> Path | None:
        return self._spools.stdout if cell.stdout in SEEN_SINKS else None

    def _watch(
        self, cell: Cell, request: LaunchRequest, *, warmup: bool
    ) -> Callable[[], str | None]:
        """Look after a run from fairtrial's CPU: output that floods, threads, the screen."""
        trial, host = self._trial, self._prepared.host
        spools = (self._out(cell), request.stderr)
        single = warmup and self._cpus is not None and len(self._cpus) == 1

        def look() -> str | None:
            trial.watcher.tick()
            self._trial.energy.tick()
            if trial.deadline is not None and time.monotonic() >= trial.deadline:
                return _TIME_CAP
            if trial.services.died(cell.variant) is not None:
                return _SERVICE_DIED
            if single:  # only during warm-up runs: nothing looks at a measured one
                counts = (host.thread_count(pid) for pid in self.client.targets())
                threads = max((count for count in counts if count), default=0)
                if threads > 1:
                    trial.note_threads(cell, threads)
            return "output-limit" if any(floods(path, self._limit) for path in spools) else None

        return look

    def _examine(
        self,
        cell: Cell,
        run: PlannedRun,
        execution: Execution,
        request: LaunchRequest,
        kept: frozenset[Path],
    ) -> Examined:
        out, err = self._out(cell), request.stderr
        for path in (out, err):
            if path is not None:
                self._spools.caught(path)
        examined = examine(
            cell,
            execution,
            *(out, err, self._limit),
            kept=kept,
            conceal=self._conceal,
            matching=self._trial.matching(),
            memory_limited="memory" in self._campaign.isolation.limits,
        )
        if examined.outcome != "ok":
            space = os.statvfs(self._outputs)
            if space.f_bavail * space.f_frsize < _LOW_DISK_BYTES:
                what = "the disk is full: the run under way failed and is not counted"
                fix = "free some space, then continue with --resume"
                raise StoreError(what, str(self._outputs), fix)
        for path, sink, name in ((out, cell.stdout, "stdout"), (err, cell.stderr, "stderr")):
            if path is not None and (sink == "keep" or examined.outcome != "ok"):
                self._spools.keep(
                    path, f"{label_of(run.position, warmup=run.warmup)}.{name}", self._limit
                )
        return examined

    def _row(
        self,
        run: PlannedRun,
        examined: Examined,
        done: Execution | None = None,
        *,
        began_ns: int = 0,
        suspended: int = 0,
        **known: Any,  # noqa: ANN401 - further fields of the row
    ) -> Measurement:
        cpus, counting = self._cpus, self._campaign.counters
        counted: Mapping[str, tuple[float, ...]] = {}
        if self._tally is not None and done is not None:
            counted = counters_of(self._tally, done, wanted=self._counts(run))
        stored, samples = self._values.stored(run, examined.metrics, examined.distributions)
        apart = done is not None and counting is not None and counting.apart
        return Measurement(
            position=run.position,
            session=run.session,
            segment=self._segment,
            block=run.block,
            benchmark=run.benchmark,
            variant=run.variant,
            warmup=run.warmup,
            repeats=repeats_of(run),
            started_at=written(done.started_ns if done else began_ns),
            cpus=cpus,
            frequency_khz=self._prepared.host.frequency_khz(cpus[0]) if cpus else None,
            temperature_c=self._prepared.host.temperature_c(),
            suspended=suspended,
            outcome=examined.outcome,
            detail=None if examined.detail is None else self._conceal(examined.detail),
            metrics={**stored, **counted},
            samples=samples,
            # an event that is open slows a run, whether or not it tells anything in the end
            counted=done is not None and done.counters is not None if apart else None,
            stdout_bytes=examined.stdout_bytes,
            stdout_sha256=examined.stdout_sha256,
            exit_code=done.exit_code if done else None,
            signal=done.signal if done else None,
            oom=done.out_of_memory if done else None,
            **known,
            **(done.numbers if done else {}),
        )


def _hook_failed(error: CommandFailedError) -> Examined:
    """Say why a hook failed, without what it wrote: that stays in its log."""
    died = f"{HOOKS_LAUNCHER_DIED}: " if isinstance(error, HooksLauncherDiedError) else ""
    why = f"{died}{error.where}: {error.what.splitlines()[0]}; {error.fix}"
    return Examined(outcome="hook-failed", detail=why)


def _disturbed(execution: Execution, used: Mapping[str, Used]) -> bool | None:
    parts = ("run_delay_ns", "launcher_delay_ns", "launcher_on_cpu_ns")
    waited = waited_ns(*(execution.numbers.get(name) for name in parts))
    wall_ns = execution.wall_ns
    return together([is_disturbed(wall_ns, waited), *services_disturbed(wall_ns, used)])
