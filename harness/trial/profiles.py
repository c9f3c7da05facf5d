"""One session's profile: its programs executed again under one perf, and the samples of each cell.

They are executed by the trial's own launcher, which perf starts, so that they are pinned, limited and padded as
those of the trial. Runs follow one another, and both clocks are CLOCK_MONOTONIC: a sample belongs to the run in whose
time it was taken. So what a program starts, threads and processes alike, counts for it, and the launcher's own work does not.
"""

from __future__ import annotations

import bisect
import contextlib
import fcntl
import functools
import os
import random
import re
import shutil
import stat
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from analysis.errors import FairtrialError, StoreError, UsageError
from analysis.record.manifest import read_manifest, sync_place, utc_now
from analysis.record.profiles import (
    TIMED,
    JudgedThen,
    Profile,
    SampledCell,
    cell_name,
    profiles_of,
    write_profile,
)
from analysis.record.shapes import opened
from analysis.record.trial_files import CAMPAIGN, Finding, Manifest
from analysis.version import VERSION

from ..campaign.model import Campaign, Cell
from ..campaign.resolve import load_campaign
from ..campaign.schema import identity_of
from ..errors import HostError, LauncherDiedError, LaunchError
from ..host.activity import Host
from ..launch.client import LauncherClient, sink_of
from ..launch.commands import base_environment, hashes, resolve_all
from ..launch.matching import Interrupted
from .builds import target_drift
from .execution import Options, campaign_drift, defaults_of, host_drift, start
from .folder import LEFT, is_written_now, remove_left, storing, written_by_another
from .measure import request_of
from .perf import (
    Began,
    CellCounts,
    Lost,
    Perf,
    Sample,
    complaint,
    demangled,
    find_perf,
    plain_environment,
    read_script,
    runtime_of,
)
from .plan import padding
from .preparation import Watcher
from .run_files import clear
from .session import TrialRun

# --- The place of a variant's profile: written next to the old one, and put in its place when it is whole.


_PART, _OLD = LEFT, ".old"


@contextlib.contextmanager
def new_profile(trial: Path, variant: str) -> Iterator[Path]:
    """Give a folder for a profile; at the end it takes the place of the variant's earlier one.

    What a killed start left is removed, or put back where it was an earlier profile. Whatever ends the block early
    leaves nothing but that earlier profile.

    Raises StoreError if another process records a profile of this variant, or the folder cannot be written.
    """
    profiles = profiles_of(trial)
    place, part = profiles / variant, profiles / f".{variant}{_PART}"
    mode = stat.S_IMODE(trial.stat().st_mode)
    with contextlib.ExitStack() as held:
        with storing(profiles), _locked(profiles, mode):
            _tidy(profiles, part)
            part.mkdir(mode=mode)
            held.enter_context(_locked(part, mode))
        try:
            yield part
            with storing(place):
                _replace(place, part)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            with contextlib.suppress(OSError), _locked(profiles, mode):
                profiles.rmdir()  # unless another variant's profile is there
            raise


@contextlib.contextmanager
def _locked(folder: Path, mode: int, kind: int = fcntl.LOCK_EX) -> Iterator[None]:
    """Hold a folder for this process while the block lasts; it is made where it is not there, or goes meanwhile."""
    while True:
        folder.mkdir(mode=mode, exist_ok=True)
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, kind)
            if os.path.lexists(folder) and os.path.samestat(folder.stat(), os.fstat(fd)):
                yield
                return
        finally:
            os.close(fd)


def _tidy(profiles: Path, ours: Path) -> None:
    """Remove what starts left that were killed; put back an earlier profile whose successor did not come."""
    for path in sorted(profiles.iterdir()):
        if path.name.startswith(".") and path.name.endswith(_PART):
            try:
                with _locked(path, 0o700, fcntl.LOCK_EX | fcntl.LOCK_NB):
                    if (path / TIMED).exists() and is_written_now(path / TIMED):
                        raise written_by_another(path / TIMED)
                    remove_left(path)
            except BlockingIOError:
                if path == ours:
                    what = "another process records a profile of this variant"
                    raise StoreError(what, str(profiles), "wait until it is done") from None
        elif path.name.startswith(".") and path.name.endswith(_OLD):
            place = profiles / path.name[1 : -len(_OLD)]
            if os.path.lexists(place):
                remove_left(path)
            else:
                path.rename(place)


def _replace(place: Path, part: Path) -> None:
    old = place.with_name(f".{place.name}{_OLD}")
    sync_place(part)
    if os.path.lexists(place):
        place.rename(old)
    part.rename(place)
    sync_place(place.parent)
    shutil.rmtree(old, ignore_errors=True)


DATA = "perf.data"
MAPS = Path("/tmp")  # noqa: S108 - where perf looks for them
_ERRORS, _STDOUT, _STDERR, _LOG = "perf.stderr", "run.stdout", "run.stderr", "hook.log"
_PYTHON = {"PYTHONPERFSUPPORT": "1"}
_NODE = "--perf-basic-prof"
_NODE_LOG = re.compile(r"isolate-0x[0-9a-f]+-(\d+)-.*v8\.log")


class _Window(NamedTuple):
    start_ns: int
    end_ns: int
    cell: tuple[str, str]


@dataclass(slots=True, kw_only=True)
class SessionProfiler:
    """Profiles each session of a trial after its timed runs; `folder` holds what is there meanwhile."""

    perf: Perf
    folder: Path
    frequency_hz: int
    chains: str | None
    runs: int
    cells: list[SampledCell] = field(default_factory=list)

    def after_session(self, trial: TrialRun, session: int) -> None:
        """Profile a session; its rows come to `cells`.

        Raises HostError if perf does not start, or does not read what it wrote; LaunchError if a program, or a hook,
        does not end as it must.
        """
        trial.watcher.say(f"profile session {session}")
        data, errors = self.folder / DATA, self.folder / _ERRORS
        processes: set[int] = set()
        try:
            try:
                trial.set_up(session)
                with trial.with_services(session):
                    launcher, windows = self._execute(trial, session, data, errors)
            finally:
                trial.clean_up(session)
                trial.commands.sweep()
            self.cells += self._read(data, launcher, windows, session, processes)
        except BaseException:
            with contextlib.suppress(Exception):
                processes |= {one.pid for one in self._script(data) if isinstance(one, Began)}
            raise
        finally:
            _remove_maps(processes, {cell.cwd for cell in trial.campaign.cells})
            for name in (DATA, _ERRORS, _STDOUT, _STDERR, _LOG):
                (self.folder / name).unlink(missing_ok=True)
        trial.interrupts.check()

    # ---- the runs

    def _execute(
        self, trial: TrialRun, session: int, data: Path, errors: Path
    ) -> tuple[int, list[_Window]]:
        """Execute the programs; give the launcher's process, and when which of them ended as it must."""
        windows: list[_Window] = []
        failed: dict[tuple[str, str], str] = {}
        prepared = trial.prepared
        [sink_of(cell.stdout) for cell in trial.campaign.cells]  # before it starts
        with errors.open("wb") as complaints:
            try:
                launcher = LauncherClient(
                    trial.campaign.isolation,
                    prepared.cpus.targets,
                    trial.interrupts,
                    contained=False,  # in a namespace of their own perf would not find their maps
                    groups=prepared.grouping.groups,
                    under=self.perf.recording(data, self.frequency_hz, self.chains),
                    complaints=complaints.fileno(),
                )
            except LauncherDiedError as died:
                found = complaint(errors.read_bytes()) or died.what
                what = f"perf did not start the programs: {found}"
                raise HostError(what, self.perf.path, "try it: perf record -- true") from died
        with contextlib.closing(launcher):
            for number, cell in enumerate(self._order(trial, session)):
                with trial.services.around(cell.variant):
                    now = trial.services.filled(cell)
                    window = self._run(trial, launcher, now, session, number)
                if isinstance(window, str):
                    failed[cell.benchmark, cell.variant] = window
                else:
                    windows.append(window)
        good = {one.cell for one in windows}
        for (benchmark, variant), why in failed.items():
            if (benchmark, variant) not in good:
                mark = trial.campaign.cell(benchmark, variant).command.mark
                what = f"no profiled run of {benchmark} / {variant} ended as it must: {why}"
                raise LaunchError(what, mark, "ask again, or for other benchmarks with --benchmark")
        return launcher.pid, windows

    def _order(self, trial: TrialRun, session: int) -> Iterator[Cell]:
        order = random.Random(f"{trial.store.manifest.seed}/why/{session}")
        cells = [trial.cell_of(one.benchmark, one.variant, session) for one in trial.campaign.cells]
        for _ in range(self.runs):
            order.shuffle(cells)
            yield from cells

    def _run(
        self, trial: TrialRun, launcher: LauncherClient, cell: Cell, session: int, number: int
    ) -> _Window | str:
        """Execute a program once; give when, or how else than it must it ended."""
        trial.interrupts.check()
        # how interpreters tell perf names; of Python's chains are needed to find them
        given = trial.environment.get("NODE_OPTIONS", "")
        node = given if _NODE in given.split() else f"{given} {_NODE}".strip()
        telling = {"NODE_OPTIONS": node} | ({} if self.chains is None else _PYTHON)
        request = request_of(trial, cell, self.folder / _STDOUT, self.folder / _STDERR, telling)
        variables = {
            "FAIRTRIAL_BENCHMARK": cell.benchmark,
            "FAIRTRIAL_VARIANT": cell.variant,
            "FAIRTRIAL_SESSION": str(session),
            "FAIRTRIAL_POSITION": str(number),
        }
        seed, most = trial.store.manifest.seed, trial.campaign.isolation.padding
        pad = padding(seed, session, -1 - number, most)
        clear(cell)
        try:
            for command in cell.before:
                trial.hook("before", command, self.folder / _LOG, variables)
            done = launcher.execute(request, trial.watcher.tick, padding=pad)
            for command in cell.after:
                trial.hook("after", command, self.folder / _LOG, variables)
        finally:
            clear(cell)
        if done.killed is not None:
            return done.killed
        if done.exit_code not in cell.expect.exit_codes:
            trial.interrupts.settle_after(done.signal, done.exit_code)
            return f"signal {done.signal}" if done.signal else f"exit code {done.exit_code}"
        start = int(done.numbers["start_ns"])
        return _Window(start, start + done.wall_ns, (cell.benchmark, cell.variant))

    # ---- the samples

    def _read(
        self, data: Path, launcher: int, windows: list[_Window], session: int, processes: set[int]
    ) -> list[SampledCell]:
        """Give the rows of a session; `processes` gets those that its programs were."""
        starts = [one.start_ns for one in windows]
        counts: defaultdict[tuple[str, str], CellCounts] = defaultdict(CellCounts)
        lost = [0, 0]
        chains = self.chains is not None
        for one in self._script(data):
            if isinstance(one, Sample):
                place = bisect.bisect_right(starts, one.ns) - 1
                if place >= 0 and one.ns <= windows[place].end_ns and one.pid != launcher:
                    counts[windows[place].cell].add(one.frames, chains=chains)
            elif isinstance(one, Lost):
                lost[one.total] += one.samples
            else:
                processes.add(one.pid)
        runs = Counter(one.cell for one in windows)
        names = demangled(symbol for cell in counts.values() for symbol, _ in cell.all_functions)
        return [
            counts[cell].row((session, *cell), number, max(lost), names, chains=chains)
            for cell, number in runs.items()
        ]

    def _script(self, data: Path) -> Iterator[Sample | Lost | Began]:
        last = ""

        def noted(lines: Iterable[str]) -> Iterator[str]:
            nonlocal last
            for line in lines:
                last = line
                yield line

        with (self.folder / _ERRORS).open("wb") as errors:
            process = subprocess.Popen(
                self.perf.script(data),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=plain_environment(),
                cwd="/",
                text=True,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,  # a terminal's Ctrl-C is for us
            )
        try:
            assert process.stdout is not None
            with process.stdout:
                yield from read_script(noted(process.stdout))
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait()
        if process.returncode != 0:
            found = complaint((self.folder / _ERRORS).read_bytes())
            what = f"perf does not read what it wrote: {found or f'exit code {process.returncode}'}"
            raise HostError(what, self.perf.path, "look whether the disk is full, then try again")
        ended = self.chains is None or not last.strip() or "PERF_RECORD_" in last
        if last and not (ended and last.endswith("\n")):  # a blank line ends a chain
            raise StoreError("what perf reads of its file is cut off", self.perf.path, "try again")


def _remove_maps(processes: Iterable[int], folders: Iterable[Path]) -> None:
    """Remove the maps that these processes wrote for perf, and the logs that node writes with its own maps."""
    wanted = set(processes)
    for pid in wanted:
        path = MAPS / f"perf-{pid}.map"
        with contextlib.suppress(OSError):
            found = path.lstat()
            if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
                path.unlink()
    for folder in folders:
        with contextlib.suppress(OSError):
            for path in folder.iterdir():
                match = _NODE_LOG.fullmatch(path.name)
                if match is not None and int(match.group(1)) in wanted:
                    path.unlink()


# --- Whether a trial's programs may be executed once more to explain it: its names, host,
# campaign and programs.


_ANEW = "measure a new trial, and ask that one"


def refuse_changed(
    campaign: Campaign,
    trial: Path,
    variants: Sequence[str],
    benchmarks: Sequence[str],
    host: Host | None = None,
) -> None:
    """Refuse to explain a trial by programs that are not those that it measured.

    The programs are those of `variants`, which are candidates, and of the baseline; what a session builds anew is not
    held against anything. `host` is this one where none is given.

    Raises HostError if host, campaign or a program is another one than that of the trial; LaunchError if a program is
    not there; StoreError if the trial is being measured; UsageError if the trial has no such candidate or benchmark,
    or was not measured.
    """
    if is_written_now(trial):  # it is being measured, and would be disturbed
        raise written_by_another(trial)
    manifest = read_manifest(trial)
    if manifest.origin != "measured":
        what = f"this trial is {manifest.origin}: its programs cannot be executed again"
        raise UsageError(what, str(trial), "name a trial that was measured on this host")
    candidates = [name for name in manifest.variants if name != manifest.baseline]
    for kind, asked, there in (
        ("candidate", variants, candidates),
        ("benchmark", benchmarks, manifest.benchmarks),
    ):
        odd = [name for name in asked if name not in there]
        if odd or not asked:
            what = f"the trial has no {kind} '{odd[0]}'" if odd else f"no {kind} is named"
            fix = f"name one of: {', '.join(there)}" if there else "name another trial"
            raise UsageError(what, str(trial), fix)
    with host or Host() as shown:
        state, number = shown.read(), shown.machine_id() or "unknown"
    _refuse(
        host_drift(manifest, state.hostname or "unknown", number, state.cpu_model),
        "ask for it on the host of the trial",
    )
    _refuse(
        campaign_drift(trial, manifest, campaign),
        f"put the campaign back as it was (a copy is {trial / CAMPAIGN}), or {_ANEW}",
    )
    wanted = {manifest.baseline, *variants} - set(campaign.built_each_session)
    cells = tuple(
        cell for cell in campaign.cells if cell.variant in wanted and cell.benchmark in benchmarks
    )
    environment = base_environment(campaign.isolation, os.environ)
    now = hashes(resolve_all(replace(campaign, cells=cells), environment).values())
    then = {path: digest for path, digest in manifest.targets.items() if path in now}
    _refuse(target_drift(then, now), f"build it as it was then, or {_ANEW}")


def _refuse(findings: list[Finding], fix: str) -> None:
    if findings:
        more = "" if len(findings) == 1 else f" (and {len(findings) - 1} more)"
        raise HostError(f"{findings[0].what}{more}", findings[0].where, fix)


# --- The campaign of a trial as it was measured: the trial's copy, read where its file lay.


_NONE_TO_EXECUTE = {
    "imported": "it was imported from files of another tool, which say no command",
    "merged": "it was put together from others: name one of those",
}


def campaign_then(trial: Path, manifest: Manifest) -> Campaign:
    """Load the campaign of a trial; whoever has changed its file since changes nothing here.

    It is the trial's copy; where the trial went on under a change that was accepted, it is the file, if that still
    holds the campaign of then.

    Raises UsageError if the trial was not measured here: it has nothing that could be executed again; HostError if
    the folder is gone at which the campaign's paths start.
    """
    why = _NONE_TO_EXECUTE.get(manifest.origin)
    if why is not None:
        fix = "--stored shows what was found where it was measured"
        raise UsageError(f"nothing of this trial can be executed again: {why}", str(trial), fix)
    source = Path(manifest.campaign_path)
    if not source.parent.is_dir():
        what = f"the campaign's folder is gone, where its programs lie: {source.parent}"
        raise HostError(what, str(trial), "put it back, or measure a new trial and ask that one")
    known = defaults_of(trial, manifest)
    with opened(trial / CAMPAIGN) as file:
        data = file.read()
    loaded = functools.partial(load_campaign, source, seed=manifest.seed, **known)
    found = loaded(text=data)
    if identity_of(found, manifest.campaign_identity) != manifest.campaign_sha256:
        with contextlib.suppress(FairtrialError):
            accepted = loaded()
            if identity_of(accepted, manifest.campaign_identity) == manifest.campaign_sha256:
                return accepted
    return found


# --- From a trial to the profile of one of its variants: a small trial of its own, profiled after
# each session.

Chains = Literal["fp", "dwarf"]
DEFAULT_HZ = 4999
DWARF_HZ = 999  # each sample brings 16 KB of its stack along
SESSIONS, TIMED_RUNS, PROFILED_RUNS = 6, 3, 3
_WARMUP = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRequest:
    """What is to be recorded: a candidate against the trial's baseline, on some of its benchmarks.

    In each of `sessions` every program is timed `timed` times without perf and then executed `profiled` times under it.
    `frequency_hz` None means the usual one of the `chains`; `verdict_was` is stored as it is.
    """

    variant: str
    benchmarks: tuple[str, ...]
    sessions: int = SESSIONS
    timed: int = TIMED_RUNS
    profiled: int = PROFILED_RUNS
    frequency_hz: int | None = None
    chains: Chains | None = None
    verdict_was: Mapping[str, JudgedThen] = field(default_factory=dict)

    @property
    def wanted_hz(self) -> int:
        """The frequency that is asked for, in samples a second."""
        return self.frequency_hz or (DWARF_HZ if self.chains == "dwarf" else DEFAULT_HZ)


def record_profile(
    campaign: Campaign, trial: Path, request: ProfileRequest, options: Options, watcher: Watcher
) -> Path:
    """Record the profile of a variant next to its trial, which does not change; give the profile's folder.

    `campaign` is the trial's, loaded with its seed; of `options` those count that are about a host. What is
    built in each session is built again, all else must be there as it was.

    Raises HostError if there is no perf that works here, or host, campaign or programs are not those of the trial;
    UsageError if the trial has no such variant or benchmark, or was not measured; StoreError if the profile cannot be
    written, or another process records it; Interrupted if a signal asked to stop: nothing is left of the profile.
    """
    manifest = read_manifest(trial)
    if min(request.sessions, request.timed, request.profiled, request.wanted_hz) < 1:
        what = "sessions, runs and frequency of a profile are 1 or more"
        raise UsageError(what, None, "name whole numbers above 0")
    refuse_changed(campaign, trial, (request.variant,), request.benchmarks)
    asked = of_two(campaign, manifest, request)
    perf = find_perf()
    wanted, most = request.wanted_hz, perf.most_hz  # the kernel takes its most at most
    frequency = wanted if most is None else min(wanted, max(1, most))
    started = utc_now()
    with new_profile(trial, request.variant) as folder:
        profiler = SessionProfiler(
            perf=perf,
            folder=folder,
            frequency_hz=frequency,
            chains=request.chains,
            runs=request.profiled,
        )
        timed = replace(
            options,
            folder=folder,
            name=TIMED,
            sessions=request.sessions,
            built=False,
            accept_drift=False,
            node=manifest.node,
            after_session=profiler.after_session,
        )
        ending = start(asked, timed, watcher)
        if ending.status == "interrupted":
            raise Interrupted(int((ending.reason or "signal 2").rpartition(" ")[2]))
        if ending.status != "complete":
            what = f"the timed runs were not measured to their end: {ending.reason}"
            fix = "ask again, or for other benchmarks with --benchmark"
            raise StoreError(what, str(trial), fix)
        cells = tuple(profiler.cells)
        same = ("trial", "campaign_sha256", "host_id", "cpu_model", "baseline", "seed")
        of_request = ("variant", "benchmarks", "sessions", "chains", "verdict_was")
        found = resolve_all(asked, base_environment(asked.isolation, os.environ))
        known = read_manifest(folder / TIMED).targets
        write_profile(
            folder,
            Profile(
                **{name: getattr(manifest, name) for name in same},
                **{name: getattr(request, name) for name in of_request},
                tool_version=VERSION,
                perf_version=perf.version,
                event=perf.event,
                frequency_hz=frequency,
                kernel=perf.kernel,
                timed_runs=request.timed,
                profiled_runs=request.profiled,
                programs={  # but of what each session builds
                    cell_name(benchmark, variant): known[str(path)]
                    for (benchmark, variant), path in found.items()
                    if variant not in asked.built_each_session and str(path) in known
                },
                program_names={  # as perf shows them: links followed
                    cell_name(*cell): path.resolve().name for cell, path in found.items()
                },
                runtimes=_runtimes(cells, request.chains),
                started=started,
                finished=utc_now(),
            ),
            cells,
        )
    return profiles_of(trial) / request.variant


def of_two(campaign: Campaign, manifest: Manifest, request: ProfileRequest) -> Campaign:
    """Give the campaign of the profile's timed runs: baseline and candidate on the benchmarks that are asked for."""
    variants = (manifest.baseline, request.variant)
    sessions = {"sessions": request.sessions, "runs": request.timed, "warmup": _WARMUP}
    endless: dict[str, Any] = {"stop": None, "max_runs": None, "max_time_s": None}
    return replace(
        campaign,
        baseline=manifest.baseline,
        variants=variants,
        benchmarks=request.benchmarks,
        cells=tuple(
            campaign.cell(benchmark, variant)
            for benchmark in request.benchmarks
            for variant in variants
        ),
        builds=tuple(  # what was built once is there: nothing of the trial's is built anew
            build
            for build in campaign.builds
            if build.each == "session" and build.variant in variants
        ),
        hooks=replace(campaign.hooks, finish=()),  # a trial's end is none of its own
        commit={name: text for name, text in campaign.commit.items() if name in variants},
        seed=manifest.seed,
        protocol=replace(campaign.protocol, **(endless | sessions)),
    )


def _runtimes(cells: Iterable[SampledCell], chains: str | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for cell in cells:
        what, name = runtime_of(cell, chains), cell_name(cell.benchmark, cell.variant)
        if what is not None and found.get(name, "not-seen").startswith("not-seen"):
            found[name] = what
    return found
