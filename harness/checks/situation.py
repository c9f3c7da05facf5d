"""What a host check may look at, and how it says what it found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from analysis.record import CheckStatus, Finding

from ..host import Counters, Cpu, GapLook, HostState, format_cpus
from ..meters.counters import CounterLook


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The host before a session, and what the trial is going to ask of it.

    `state` and `counters` were read for `cpus`, those that will be measured (all when empty);
    `free_bytes` is the room where the trial goes (None: unknown), `runs_path` that folder; `gaps` is
    what a look at the measured CPUs saw, `events` which events can be counted; None when nobody
    looked. `energy` says that energy is going to be recorded. `groups` are the controllers of the
    cgroups that the trial's runs have, None when they have none, or before a trial; `ungrouped` that
    the campaign asks for none, `limits` what it limits. `others_logged_in` counts users besides the
    caller, None where nobody can tell.
    """

    state: HostState
    counters: Counters
    cpus: tuple[int, ...]
    fifo: bool = False
    aslr: bool = True
    free_bytes: int | None = None
    needed_bytes: int = 0
    runs_path: str | None = None
    gaps: GapLook | None = None
    groups: tuple[str, ...] | None = None
    ungrouped: bool = False
    limits: Mapping[str, int] = field(default_factory=dict)
    events: CounterLook | None = None
    energy: bool = False
    others_logged_in: int | None = None

    @property
    def measured(self) -> tuple[Cpu, ...]:
        """The online CPUs that are measured."""
        return self.state.topology.only(self.cpus)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the measured CPUs, as asked for where the kernel shows none."""
        return tuple(cpu.number for cpu in self.measured) or self.cpus

    @property
    def others(self) -> tuple[int, ...]:
        """The online CPUs that share no core with a measured one: where other work may go."""
        taken = {n for cpu in self.measured for n in (cpu.number, *(cpu.siblings or ()))}
        return tuple(n for n in self.state.topology.numbers if n not in taken)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The counters at two moments, `elapsed_s` apart, of the measured `cpus`."""

    before: Counters
    after: Counters
    elapsed_s: float
    cpus: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One host check: its name, why it matters to a timing, and its functions.

    `before` judges a host that is about to measure, `between` what happened from one moment to
    another (None where nothing can happen).
    """

    name: str
    reason: str
    before: Callable[[Situation], Finding]
    between: Callable[[Interval], Finding] | None = None


def found(
    check: str, status: CheckStatus, what: str, where: str | None = None, fix: str | None = None
) -> Finding:
    """Make a finding; `harness.checks` adds the check's reason."""
    return Finding(check=check, status=status, what=what, where=where, fix=fix)


def read(path: str, value: object) -> str:
    """Write where a value was read: the path and the value itself."""
    return f"{path} = {value}"


def named(cpus: tuple[int, ...]) -> str:
    """Name CPUs in a sentence: ``cpu3``, or ``cpus 2-3``."""
    return f"cpu{cpus[0]}" if len(cpus) == 1 else f"cpus {format_cpus(cpus)}"


def ghz(khz: int) -> str:
    """Write a frequency in GHz."""
    return f"{khz / 1e6:.2f} GHz"
