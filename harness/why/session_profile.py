"""One session's profile: its programs executed again under one perf, and the samples of each cell.

They are executed by the trial's own launcher, which perf starts, so that they are pinned, limited and padded as
those of the trial. Runs follow one another, and both clocks are CLOCK_MONOTONIC: a sample belongs to the run in whose
time it was taken. So what a program starts, threads and processes alike, counts for it, and the launcher's own work does not.
"""

from __future__ import annotations

import bisect
import contextlib
import os
import random
import re
import stat
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analysis.errors import StoreError
from analysis.record.profiles import SampledCell

from ..errors import HostError, LauncherDiedError, LaunchError
from ..launch.client import LauncherClient
from ..launch.sinks import sink_of
from ..trial.measure import request_of
from ..trial.plan import padding
from ..trial.run_files import clear
from .demangling import demangled
from .perf_tool import Perf, complaint, plain_environment
from .sample_counts import CellCounts
from .script_reader import Began, Lost, Sample, read_script

if TYPE_CHECKING:
    from ..campaign.model import Cell
    from ..trial.context import TrialContext

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

    def after_session(self, context: TrialContext, session: int) -> None:
        """Profile a session; its rows come to `cells`.

        Raises
        ------
        HostError
            If perf does not start, or does not read what it wrote.
        LaunchError
            If a program, or a hook, does not end as it must.
        """
        context.watcher.say(f"profile session {session}")
        data, errors = self.folder / DATA, self.folder / _ERRORS
        processes: set[int] = set()
        try:
            try:
                context.set_up(session)
                with context.with_services(session):
                    launcher, windows = self._execute(context, session, data, errors)
            finally:
                context.clean_up(session)
                context.commands.sweep()
            self.cells += self._read(data, launcher, windows, session, processes)
        except BaseException:
            with contextlib.suppress(Exception):
                processes |= {one.pid for one in self._script(data) if isinstance(one, Began)}
            raise
        finally:
            _remove_maps(processes, {cell.cwd for cell in context.campaign.cells})
            for name in (DATA, _ERRORS, _STDOUT, _STDERR, _LOG):
                (self.folder / name).unlink(missing_ok=True)
        context.interrupts.check()

    # ---- the runs

    def _execute(
        self, context: TrialContext, session: int, data: Path, errors: Path
    ) -> tuple[int, list[_Window]]:
        """Execute the programs; give the launcher's process, and when which of them ended as it must."""
        windows: list[_Window] = []
        failed: dict[tuple[str, str], str] = {}
        prepared = context.prepared
        [sink_of(cell.stdout) for cell in context.campaign.cells]  # before it starts
        with errors.open("wb") as complaints:
            try:
                launcher = LauncherClient(
                    context.campaign.isolation,
                    prepared.cpus.targets,
                    context.interrupts,
                    contained=False,  # in a namespace of their own perf would not find their maps
                    groups=prepared.grouping.groups,
                    under=self.perf.recording(data, self.frequency_hz, self.chains),
                    complaints=complaints.fileno(),
                )
            except LauncherDiedError as died:
                said = complaint(errors.read_bytes()) or died.what
                what = f"perf did not start the programs: {said}"
                raise HostError(what, self.perf.path, "try it: perf record -- true") from died
        with contextlib.closing(launcher):
            for number, cell in enumerate(self._order(context, session)):
                with context.services.around(cell.variant):
                    now = context.services.filled(cell)
                    window = self._run(context, launcher, now, session, number)
                if isinstance(window, str):
                    failed[cell.benchmark, cell.variant] = window
                else:
                    windows.append(window)
        good = {one.cell for one in windows}
        for (benchmark, variant), why in failed.items():
            if (benchmark, variant) not in good:
                mark = context.campaign.cell(benchmark, variant).command.mark
                what = f"no profiled run of {benchmark} / {variant} ended as it must: {why}"
                raise LaunchError(
                    what, mark, "look at the rows of its timed runs; mend the program"
                )
        return launcher.pid, windows

    def _order(self, context: TrialContext, session: int) -> Iterator[Cell]:
        seed = context.store.manifest.seed
        order = random.Random(f"{seed}/why/{session}")
        cells = [
            context.cell_of(cell.benchmark, cell.variant, session)
            for cell in context.campaign.cells
        ]
        for _ in range(self.runs):
            order.shuffle(cells)
            yield from cells

    def _run(
        self, context: TrialContext, launcher: LauncherClient, cell: Cell, session: int, number: int
    ) -> _Window | str:
        """Execute a program once; give when, or how else than it must it ended."""
        context.interrupts.check()
        request = request_of(
            context, cell, self.folder / _STDOUT, self.folder / _STDERR, self._telling(context)
        )
        variables = {
            "FAIRTRIAL_BENCHMARK": cell.benchmark,
            "FAIRTRIAL_VARIANT": cell.variant,
            "FAIRTRIAL_SESSION": str(session),
            "FAIRTRIAL_POSITION": str(number),
        }
        pad = padding(
            context.store.manifest.seed, session, -1 - number, context.campaign.isolation.padding
        )
        clear(cell)
        try:
            for command in cell.before:
                context.hook("before", command, self.folder / _LOG, variables)
            done = launcher.execute(request, _ticking(context), padding=pad)
            for command in cell.after:
                context.hook("after", command, self.folder / _LOG, variables)
        finally:
            clear(cell)
        if done.killed is not None:
            return done.killed
        if done.exit_code not in cell.expect.exit_codes:
            context.interrupts.settle_after(done.signal, done.exit_code)
            return f"signal {done.signal}" if done.signal else f"exit code {done.exit_code}"
        start = int(done.numbers["start_ns"])
        return _Window(start, start + done.wall_ns, (cell.benchmark, cell.variant))

    def _telling(self, context: TrialContext) -> Mapping[str, str]:
        """Give the variables by which interpreters tell perf names; of Python's chains are needed to find them."""
        given = context.environment.get("NODE_OPTIONS", "")
        node = given if _NODE in given.split() else f"{given} {_NODE}".strip()
        return {"NODE_OPTIONS": node} | ({} if self.chains is None else _PYTHON)

    # ---- the samples

    def _read(
        self,
        data: Path,
        launcher: int,
        windows: list[_Window],
        session: int,
        processes: set[int],
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
        symbols = {symbol for cell in counts.values() for symbol, _ in _all_functions(cell)}
        names = demangled(symbols)
        return [
            counts[cell].row((session, *cell), number, max(lost), names, chains=chains)
            for cell, number in runs.items()
        ]

    def _script(self, data: Path) -> Iterator[Sample | Lost | Began]:
        last = [""]
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
                yield from read_script(_noting(process.stdout, last))
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait()
        if process.returncode != 0:
            said = complaint((self.folder / _ERRORS).read_bytes())
            what = f"perf does not read what it wrote: {said or f'exit code {process.returncode}'}"
            raise HostError(what, self.perf.path, "look whether the disk is full, then try again")
        if last[0] and not last[0].endswith("\n"):
            raise StoreError("what perf reads of its file is cut off", self.perf.path, "try again")


def _noting(lines: Iterable[str], last: list[str]) -> Iterator[str]:
    for line in lines:
        last[0] = line
        yield line


def _all_functions(cell: CellCounts) -> Iterator[tuple[str, str]]:
    yield from cell.functions
    for chain in cell.chains:
        yield from chain


def _ticking(context: TrialContext) -> Callable[[], str | None]:
    def look() -> str | None:
        context.watcher.tick()
        return None

    return look


def _remove_maps(processes: Iterable[int], folders: Iterable[Path]) -> None:
    """Remove the maps that these processes wrote for perf, and the logs that node writes beside its own."""
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
