"""A campaign on this host: the order of its runs, its CPUs, and the room that it needs on the disk.

The order of session k depends only on (seed, k), and on the node of a fleet.
"""

from __future__ import annotations

import hashlib
import math
import os
import random
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import StoreError
from analysis.record.trial_files import PlannedRun

from ..campaign.model import SEEN_SINKS, Campaign, Isolation, Order
from ..errors import HostError
from ..host.activity import Host
from ..host.placement import CpuPlan, choose_cpus, with_services
from ..host.state import CounterLook, GapLook, HostState, Situation
from .folder import CpuLock, cpus_in_use

if TYPE_CHECKING:
    from ..launch.matching import Interrupts

_Pair = tuple[str, str]

PADDING_LIMIT = 4096  # bytes; one page moves the initial stack through all its alignments


@dataclass(frozen=True, slots=True)
class PlannedSession:
    """The planned runs of one session (from 1) in their order, made anew at each pass over them.

    A session may have millions of runs: they are never held all at once. Warm-ups come first, in block 0.
    On a node of a fleet the order is the node's own: one order on all hosts would be one sample.
    Variants that `left` are in no session behind the one that it says.
    """

    campaign: Campaign
    seed: int
    session: int
    node: str | None = None
    left: Mapping[str, int] = field(default_factory=dict)

    def __iter__(self) -> Iterator[PlannedRun]:
        protocol, session = self.campaign.protocol, self.session
        pairs = [
            (cell.benchmark, cell.variant)
            for cell in self.campaign.cells
            if session <= self.left.get(cell.variant, session)
        ]
        stream = "order" if self.node is None else f"order/{self.node}"
        rng = random.Random(f"{self.seed}/{stream}/{session}")
        if protocol.order == "drawn-start":
            turn = random.Random(f"{self.seed}/{stream}/turn/{session}").randrange(2)
        else:  # in step with what has a period of two sessions
            turn = random.Random(f"{self.seed}/{stream}/turn").randrange(2) + session
        rounds = protocol.warmups(session) - protocol.warmups(session - 1)
        warmups = ((0, pair) for _, pair in _rounds(pairs, rounds, protocol.order, rng, turn))
        measured = _rounds(pairs, protocol.runs, protocol.order, rng, turn)
        begin = planned_runs(self.campaign, session - 1, self.left)
        for position, (block, pair) in enumerate(chain(warmups, measured), begin):
            yield PlannedRun(
                position=position,
                session=session,
                block=block,
                benchmark=pair[0],
                variant=pair[1],
                warmup=block == 0,
            )


def planned_runs(campaign: Campaign, sessions: int, left: Mapping[str, int] | None = None) -> int:
    """Count the planned runs of that many sessions, warm-ups included; `left` as in `PlannedSession`."""
    passes, left = campaign.protocol.passes, left or {}
    return sum(passes(min(sessions, left.get(cell.variant, sessions))) for cell in campaign.cells)


def _rounds(
    pairs: list[_Pair], count: int, order: Order, rng: random.Random, turn: int
) -> Iterator[tuple[int, _Pair]]:
    """Give `count` rounds of all cells, numbered from 1, in the campaign's order.

    Where `order` says so they go forwards and backwards by turns; `turn` says which way the first one goes.
    """
    if order == "sequential":
        yield from ((block, pair) for pair in pairs for block in range(1, count + 1))
        return
    for block in range(1, count + 1):
        cells = pairs
        if order == "shuffled":
            cells = rng.sample(pairs, len(pairs))
        elif order in ("alternating", "drawn-start") and (turn + block) % 2:
            cells = pairs[::-1]
        yield from ((block, pair) for pair in cells)


def padding(seed: int, session: int, position: int, setting: str | int) -> int:
    """Give the bytes of environment padding of one run: fixed, or random for each run."""
    if isinstance(setting, int):
        return setting
    # a hash, not a generator: seeding one would cost more than all else between two runs
    data = f"{seed}/padding/{session}/{position}".encode()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest()) % PADDING_LIMIT


_ROW_BYTES = 1200  # a row of measurements and one of the plan, generously
_MARGIN_BYTES = 16 * 1024 * 1024


def free_space(folder: Path) -> int:
    """Make the folder of trials, if it is missing; give the free bytes there."""
    os.umask(mask := os.umask(0o077))  # there is no other way to ask for it
    if mask & stat.S_IRWXU:
        what = f"the umask {mask:03o} takes the rights of new files from their owner too"
        fix = "set another one, such as 'umask 077'; the measured programs inherit it"
        raise StoreError(what, str(folder), fix)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"fairtrial")
        return shutil.disk_usage(folder).free
    except OSError as error:
        what = f"trials cannot be written there: {error.strerror}"
        fix = "choose a folder that you may write, and that has room, with --dir DIR"
        raise StoreError(what, str(folder), fix) from error


def room_needed(campaign: Campaign, sessions: int, *, kept_bytes: int = 0) -> int:
    """Give the bytes that a trial may need: its rows, and what is kept of runs should all of them fail."""
    passes, isolation = campaign.protocol.passes_at_most(sessions), campaign.isolation
    rows = len(campaign.cells) * passes
    sinks = sum(
        sink in SEEN_SINKS for cell in campaign.cells for sink in (cell.stdout, cell.stderr)
    )
    sinks += sum(bool(cell.metrics) for cell in campaign.cells)  # the values may be kept
    written = passes * sinks * isolation.output_limit_bytes
    kept = max(0, min(isolation.kept_outputs_bytes, written) - kept_bytes)
    return rows * _ROW_BYTES + _MARGIN_BYTES + kept


def cpus_for(campaign: Campaign, state: HostState) -> CpuPlan:
    """Choose the CPUs of a campaign on this host, away from those of other trials."""
    setting, usable = campaign.isolation.cpus, state.usable
    if setting == "auto":
        busy = cpus_in_use() or ()
        free = tuple(cpu for cpu in usable if cpu not in busy)
        usable = free if len(free) >= 2 else usable  # else there is nothing to choose from
    plan = choose_cpus(setting, state.topology, usable=usable, isolated=state.isolated)
    wishes = {one.label: (one.cpus, one.share_cpus) for one in campaign.services}
    return with_services(plan, wishes, state.topology, usable)


def look_at_cpus(
    campaign: Campaign | None,
    host: Host,
    cpus: tuple[int, ...] | None,
    seconds: float,
    *,
    ours: tuple[int, ...] = (),
) -> GapLook:
    """Look how much of the CPUs others take, in the scheduling class of the campaign's targets.

    A CPU on which another trial measures is left alone.
    """
    others = set(cpus_in_use() or ()) - set(ours)
    taken = [cpu for cpu in cpus or () if cpu in others]
    if taken:
        return GapLook(problem=f"another trial measures on cpu{taken[0]}: it is not disturbed")
    isolation = campaign.isolation if campaign else Isolation()
    fifo = isolation.scheduling == "fifo"
    return host.gaps(
        cpus, seconds, priority=isolation.priority if fifo else 0, nice=isolation.nice or 0
    )


def situation_of(
    campaign: Campaign | None,
    host: Host,
    cpus: tuple[int, ...],
    folder: Path,
    *,
    needed_bytes: int = 0,
    gaps: GapLook | None = None,
    groups: tuple[str, ...] | None = None,
    events: CounterLook | None = None,
) -> Situation:
    """Read the host as it is now, for a trial that would be stored below `folder`."""
    counters = host.counters(cpus)  # first: who compares counters waits for them, not for the rest
    isolation = campaign.isolation if campaign else Isolation()
    place = folder.absolute()
    # Path.is_dir() raises where nothing may be searched
    existing = next(path for path in (place, *place.parents) if os.path.isdir(path))  # noqa: PTH112
    return Situation(
        state=host.read(cpus),
        counters=counters,
        cpus=cpus,
        fifo=isolation.scheduling == "fifo",
        aslr=isolation.aslr,
        free_bytes=shutil.disk_usage(existing).free,
        needed_bytes=needed_bytes,
        runs_path=str(folder),
        gaps=gaps,
        groups=groups,
        ungrouped=isolation.containment == "none",
        limits=isolation.limits,
        events=events,
        energy=campaign is not None and campaign.energy,
        others_logged_in=host.others_logged_in(),
    )


_CHOICES = 10  # of "auto", where other trials begin at the same time
_LOOK_S = 1.0
_SAY_S = 5.0


def reserve(
    campaign: Campaign, interrupts: Interrupts, say: Callable[[str], None], wait_s: float = 0.0
) -> tuple[CpuPlan, CpuLock]:
    """Choose the CPUs of a campaign and lock them.

    Where ``cpus: auto`` meets a trial that began at the same time it chooses again, as long as
    there are others. Waiting comes before the checks: while another trial measures they would
    find its load. It is said at once, and after 5, 10, 20, ... seconds.
    """
    began = time.monotonic()
    choices, say_at = _CHOICES, 0.0
    plan = _chosen(campaign)
    while True:
        try:
            return plan, CpuLock(plan.reserved)
        except HostError as held:
            before, plan = plan, _chosen(campaign)
            choices -= 1
            if plan.reserved != before.reserved and choices > 0:
                continue
            waited = time.monotonic() - began
            left = wait_s - waited
            if left <= 0:
                raise
            if waited >= say_at:
                limit = "" if math.isinf(wait_s) else f", for at most {wait_s:g} s"
                so_far = f", {waited:.0f} s so far" if say_at else limit
                other = held.what.replace("another trial measures", "another trial", 1)
                say(f"waiting for {other}{so_far}")
                say_at = max(_SAY_S, 2 * say_at)
            interrupts.sleep(min(_LOOK_S, left))


def _chosen(campaign: Campaign) -> CpuPlan:
    with Host() as host:
        return cpus_for(campaign, host.read())
