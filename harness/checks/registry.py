"""The host checks: each a pure function of what `harness.host.Host` read -> `Finding`.

The checks stand in ``power``, ``cpu`` and ``kernel``; here are their registry
and the three questions that a session asks: what is found before, what happened in between, and
what of that must stop the trial. fairtrial changes no host setting: a finding names the command.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from analysis.record import Finding

from ..campaign import CheckPolicy
from ..host import Counters, HostState
from . import cpu, kernel, power
from .situation import Before, Between, Interval, Situation

__all__ = ["CHECKS", "CHECK_NAMES", "Check", "check_before", "check_between", "judge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One host check: its name, why it matters to a timing, and its functions.

    `before` judges a host that is about to measure, `between` what happened from one moment to
    another (None where nothing can happen).
    """

    name: str
    reason: str
    before: Before
    between: Between | None = None


CHECKS: tuple[Check, ...] = (
    Check(
        name="governor",
        reason="any other governor changes the frequency with the load, so a run's time depends on "
        "what ran before it",
        before=power.governor,
        between=power.governor_between,
    ),
    Check(
        name="turbo",
        reason="a boosted frequency lasts as long as heat and neighbours allow: the same work takes "
        "different times",
        before=power.turbo,
        between=power.turbo_between,
    ),
    Check(
        name="smt",
        reason="two threads of one core share its caches and execution units; a neighbour can cost "
        "tens of percent",
        before=cpu.smt,
    ),
    Check(
        name="frequency",
        reason="a limit below the hardware's is usually a power profile, and may be lifted in the "
        "middle of a trial",
        before=power.frequency,
    ),
    Check(
        name="aslr",
        reason="one fixed address layout can favour one variant by some percent; random layouts "
        "average that out",
        before=kernel.aslr,
    ),
    Check(
        name="thp",
        reason="whether a program gets large pages changes its speed, and depends on the state of "
        "memory, not on the program",
        before=kernel.thp,
    ),
    Check(
        name="numa",
        reason="memory on another node is slower, and moving it there costs faults during the run",
        before=cpu.numa,
    ),
    Check(
        name="swap",
        reason="a page that comes back from the disk costs as much as a million instructions",
        before=kernel.swap,
        between=kernel.swap_between,
    ),
    Check(
        name="load",
        reason="other programs take processor time, cache and memory bandwidth from the run",
        before=cpu.load,
        between=cpu.load_between,
    ),
    Check(
        name="steal",
        reason="time that a hypervisor takes counts in the wall time, and nothing in the program "
        "explains it",
        before=cpu.steal,
        between=cpu.steal_between,
    ),
    Check(
        name="throttle",
        reason="a processor that is slowed down for heat or by a quota measures its cooling, not "
        "the program",
        before=power.throttle,
        between=power.throttle_between,
    ),
    Check(
        name="temperature",
        reason="a processor near its limit slows down, and later runs suffer more than early ones",
        before=power.temperature,
        between=power.temperature_between,
    ),
    Check(
        name="irq",
        reason="each interrupt stops the program and replaces part of its cache",
        before=cpu.irq,
        between=cpu.irq_between,
    ),
    Check(
        name="isolation",
        reason="on a CPU of its own a program is not descheduled for others",
        before=cpu.isolation,
    ),
    Check(
        name="perf_rate",
        reason="a profiler that samples the whole host interrupts the measured program too",
        before=kernel.perf_rate,
    ),
    Check(
        name="virtual",
        reason="inside a virtual machine or under a quota the processor is shared with others that "
        "cannot be seen",
        before=cpu.virtual,
    ),
    Check(
        name="clock",
        reason="a slow clock adds its own cost to every short run, and steps are coarser",
        before=kernel.clock,
    ),
    Check(
        name="kernel_log",
        reason="after a hardware error, a hang or a kill for lack of memory, the timings around it "
        "are in doubt",
        before=kernel.kernel_log,
        between=kernel.kernel_log_between,
    ),
    Check(
        name="disk",
        reason="a full disk ends the trial, and a nearly full one slows writing down",
        before=kernel.disk,
    ),
    Check(
        name="battery",
        reason="on battery or in a saving profile, firmware holds the processor back",
        before=power.battery,
    ),
    Check(
        name="energy",
        reason="it only tells whether energy could be read: no timing depends on it",
        before=power.energy,
    ),
    Check(
        name="rt_throttle",
        reason="the kernel stops real-time work that uses up its share of a period, in mid-run",
        before=cpu.rt_throttle,
    ),
)

CHECK_NAMES: tuple[str, ...] = tuple(check.name for check in CHECKS)


def check_before(
    state: HostState,
    counters: Counters,
    *,
    cpus: tuple[int, ...],
    fifo: bool = False,
    aslr: bool = True,
    runs_dir_free: int | None = None,
    needed_bytes: int = 0,
    runs_path: str | None = None,
) -> tuple[Finding, ...]:
    """Check a host that is about to measure, or that `fairtrial doctor` looks at.

    Parameters
    ----------
    state, counters : HostState, Counters
        What `Host.read` and `Host.counters` gave for `cpus`.
    cpus : tuple of int
        The CPUs that will be measured; empty for all of them.
    fifo, aslr : bool, optional
        Whether the campaign asks for SCHED_FIFO, and whether it leaves ASLR on.
    runs_dir_free, needed_bytes : int, optional
        Free bytes where the trial goes (None: unknown), and how many it may need.
    runs_path : str, optional
        That folder's name, for the message.

    Returns
    -------
    tuple of Finding
        One for each check, in the order of `CHECK_NAMES`.
    """
    situation = Situation(
        state=state,
        counters=counters,
        cpus=cpus,
        fifo=fifo,
        aslr=aslr,
        free_bytes=runs_dir_free,
        needed_bytes=needed_bytes,
        runs_path=runs_path,
    )
    return tuple(replace(check.before(situation), reason=check.reason) for check in CHECKS)


def check_between(
    before: Counters, after: Counters, elapsed_s: float, *, cpus: tuple[int, ...]
) -> tuple[Finding, ...]:
    """Check what happened on the host from `before` to `after`, `elapsed_s` seconds later.

    Both must have been read for `cpus`. Only checks of what can happen take part.
    """
    interval = Interval(before=before, after=after, elapsed_s=elapsed_s, cpus=cpus)
    return tuple(
        replace(check.between(interval), reason=check.reason)
        for check in CHECKS
        if check.between is not None
    )


def judge(
    findings: tuple[Finding, ...], policy: CheckPolicy | None, *, strict: bool
) -> tuple[Finding, ...]:
    """Give the findings that must stop the trial.

    A "fail" of a required check stops always. With `strict`, a "warn" of a required check stops
    too, and so does an "unknown": who requires a check strictly cannot go on without its answer.
    With no `policy` (``doctor`` without a campaign) every check counts as required for "fail" and
    "warn", and "unknown" never stops.
    """
    required = CHECK_NAMES if policy is None else policy.require
    fatal = {"fail"}
    if strict:
        fatal.add("warn")
        if policy is not None:
            fatal.add("unknown")
    return tuple(f for f in findings if f.check in required and f.status in fatal)
