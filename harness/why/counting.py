"""The instructions of each function, counted by callgrind: exact, and slow. What it writes is read here.

A program that forks hands its counts so far to its child, which would be counted twice: they are written out, and
set back, before each fork. Source: valgrind's manual, "Callgrind Format Specification" and the option ``--dump-before``.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.record.run_numbers import Measurement
from analysis.record.shapes import records_of
from analysis.record.trial_files import MEASUREMENTS

from ..errors import HostError, LaunchError
from ..launch.interrupts import Interrupted
from ..trial.execution import Options, start
from .demangling import demangled

if TYPE_CHECKING:
    from ..campaign.model import Campaign, Cell
    from ..trial.context import TrialContext
    from ..trial.preparation import Watcher

UNKNOWN = "[unknown]"  # a function without a name, as perf writes it
_COST = re.compile(
    r"[-+*0-9]\S* (\d{1,19})\s*$", re.A
)  # of a line of the program, which may be relative
_TOTAL = re.compile(r"totals: (\d{1,19})\n", re.A)
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_FORKS = ("fork", "__libc_fork")
_PATIENCE_S = 30.0
_SLOWER = 100  # times, at most, that a program takes under callgrind
_TOO_TIGHT = frozenset(
    {"memory", "as", "data", "rss", "cpu"}
)  # limits that are the program's, not valgrind's

# a function's name and its file without the folder -> instructions of itself, without those that it called
Counts = Counter[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Valgrind:
    """The program, and its version as it tells it."""

    path: Path
    version: str

    def around(self, argv: Iterable[str], folder: Path) -> tuple[str, ...]:
        """Give the arguments that execute a command under callgrind, with a file of counts a process in `folder`.

        The folder's name must not hold ``%``, which valgrind would read.
        """
        return (
            str(self.path),
            "-q",
            "--tool=callgrind",
            "--trace-children=yes",
            f"--callgrind-out-file={folder}/counts.%p",
            "--compress-strings=no",
            "--compress-pos=no",
            *(f"--dump-before={name}" for name in _FORKS),
            "--",
            *argv,
        )


def find_valgrind(search: str | None = None) -> Valgrind:
    """Find valgrind along `search` (default: PATH).

    Raises
    ------
    HostError
        If it is not installed, or cannot be executed: with how to have it.
    """
    found = shutil.which("valgrind", path=search)
    fix = "install it: apt install valgrind, or leave --instructions out"
    if found is None:
        raise HostError("instructions are counted by valgrind, which is not installed", None, fix)
    try:
        told = subprocess.run(
            [found, "--version"],
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=True,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise HostError(f"valgrind cannot be executed: {error}", found, fix) from None
    return Valgrind(path=Path(found), version=told.stdout.strip().removeprefix("valgrind-"))


def counts_in(folder: Path) -> Counts:
    """Add up the files of all processes of one execution, by names that people read.

    Raises
    ------
    HostError
        If there is none, or one is not whole: its last line is the total, which its functions' sum must be.
    """
    found: Counts = Counter()
    paths = sorted(folder.glob("counts.*"))
    for path in paths:
        with path.open(encoding="utf-8", errors="replace") as file:
            costs, total = _own_costs(file)
        if total != costs.total():
            raise _not_whole(f"{path.name} is cut off or damaged")
        found.update(costs)
    if not paths:
        raise _not_whole("it wrote nothing")
    readable = demangled(name for name, _ in found)  # what valgrind itself could not read
    counts: Counts = Counter()
    for (name, place), instructions in found.items():
        counts[readable.get(name, name), place] += instructions
    return counts


def _not_whole(what: str) -> HostError:
    fix = "look whether the disk of TMPDIR is full, then try again"
    return HostError(f"what valgrind counted cannot be read: {what}", None, fix)


def _own_costs(lines: Iterable[str]) -> tuple[Counts, int | None]:
    """Give the costs of functions themselves, and the total that ends them; below ``calls=`` is what was called."""
    costs: Counts = Counter()
    function, place, called, total = UNKNOWN, UNKNOWN, False, None
    for line in lines:
        if (cost := _COST.match(line)) is not None:
            if not called:
                costs[function, place] += int(cost[1])
            called = False
        elif (told := _TOTAL.match(line)) is not None:
            total = int(told[1])
        elif line.startswith("fn="):
            function = _named(line[3:].strip())
        elif line.startswith("ob="):
            place = line[3:].strip().rpartition("/")[2] or UNKNOWN
        elif line.startswith("calls="):
            called = True
    return costs, total


def _named(name: str) -> str:
    """Give a name; an address, which a change of the program moves, is none."""
    return UNKNOWN if not name or name == "???" or _ADDRESS.fullmatch(name) else name


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedTwice:
    """What two executions of one cell came to."""

    first: Counts
    second: Counts


def count_instructions(
    campaign: Campaign, *, valgrind: Valgrind, watcher: Watcher, wait_s: float = 0.0
) -> dict[tuple[str, str], CountedTwice]:
    """Count the instructions of each cell of a campaign in two executions; by benchmark and variant.

    Its builds are executed; what is there already must have none.
    They are executed as the campaign says, hooks of sessions and runs included, with a hundred times its time
    limits, and nothing of it is kept.

    Raises
    ------
    LaunchError
        If an execution fails; with what it says.
    Interrupted
        If a signal came.
    """
    with tempfile.TemporaryDirectory(prefix="fairtrial-") as place:
        folders = {
            (cell.benchmark, cell.variant): Path(place, f"cell-{number}")
            for number, cell in enumerate(campaign.cells)
        }
        for folder in folders.values():
            folder.mkdir()
        found: dict[tuple[str, str], list[Counts]] = {cell: [] for cell in folders}

        def take(_context: TrialContext, _session: int) -> None:
            for cell, folder in folders.items():
                found[cell].append(counts_in(folder))
                for path in folder.iterdir():
                    path.unlink()

        under = _under_callgrind(campaign, valgrind, folders)
        options = Options(
            folder=Path(place),
            passing=True,
            wait_s=wait_s,
            after_session=take,
        )
        ending = start(under, options, watcher)
        if ending.status == "interrupted":
            raise Interrupted(None)
        _refuse_failed(ending.trial)
    return {cell: CountedTwice(first=one, second=two) for cell, (one, two) in found.items()}


def _under_callgrind(
    campaign: Campaign, valgrind: Valgrind, folders: Mapping[tuple[str, str], Path]
) -> Campaign:
    """Give the campaign of one run of each cell in each of two sessions, under callgrind."""

    def counted(cell: Cell) -> Cell:
        argv = valgrind.around(cell.command.argv, folders[cell.benchmark, cell.variant])
        limit = None if cell.timeout_s is None else _SLOWER * cell.timeout_s
        command = replace(cell.command, argv=argv)
        return replace(cell, command=command, timeout_s=limit, metrics=())

    protocol = replace(
        campaign.protocol,
        sessions=2,
        runs=1,
        warmup=0,
        pause_s=0.0,
        give_up=None,
        never_ok="go_on",
        disturbed="keep",
    )
    kept = {k: most for k, most in campaign.isolation.limits.items() if k not in _TOO_TIGHT}
    return replace(
        campaign,
        cells=tuple(map(counted, campaign.cells)),
        protocol=protocol,
        isolation=replace(
            campaign.isolation, limits=kept, padding=0
        ),  # its length costs instructions
        checks=replace(campaign.checks, require=(), probe_s=0.0),
        counters=None,
        energy=False,
        judge=(),
        series=False,
    )


def _refuse_failed(trial: Path) -> None:
    """Refuse counts of runs that did not end well."""
    for row, _ in records_of(trial / MEASUREMENTS, Measurement):
        if row.outcome != "ok":
            what = f"{row.benchmark} / {row.variant} fails under callgrind: {row.detail}"
            fix = "execute it by hand: valgrind --tool=callgrind COMMAND; without --instructions it is sampled"
            raise LaunchError(what, None, fix)
