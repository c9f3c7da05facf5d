"""The energy of a session's runs: the idle power before and after them, and what each of them used."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from analysis.record import (
    ENERGY,
    NET_ENERGY,
    STEADY,
    Finding,
    IdlePower,
    is_steady,
)
from analysis.record.energy import When

from ...launch import Interrupts
from ...meters.energy import IDLE_S, EnergyMeter, Spent, measure_idle
from ...store import Store
from ...wording import counted
from ..watcher import Watcher

_WHERE = "energy"  # the campaign's key
_READ = "docs/energy.md says what can be done"
_LATE = f"the time cap comes before {IDLE_S:.0f} s have passed"
_REASON = (
    "the packages' energy is the machine's: what it uses without the program is no part of a run"
)


class SessionEnergy:
    """Measures energy around and in sessions, where the campaign asks for it and it can be had.

    Parameters
    ----------
    meter : EnergyMeter
        Without counters nothing is measured, and nothing waits.
    store : Store
        Takes the idle powers, and what was found.
    interrupts : Interrupts
        End a wait.
    watcher : Watcher
        Hears of what was found.
    deadline : float or None
        The monotonic time that no wait may pass.
    """

    def __init__(
        self,
        meter: EnergyMeter,
        store: Store,
        interrupts: Interrupts,
        watcher: Watcher,
        deadline: float | None,
    ) -> None:
        self._meter = meter
        self._store = store
        self._interrupts = interrupts
        self._watcher = watcher
        self._deadline = deadline
        self._idle: IdlePower | None = None
        self._works = False
        self._unknown: Counter[str] = Counter()
        self._said = False

    @contextlib.contextmanager
    def around(self, session: int, segment: int) -> Iterator[None]:
        """Measure the idle power before and after the runs of a session's segment."""
        if not self._meter.available:
            yield
            return
        before = self._measure_idle(session, segment, "before")
        self._idle = before if isinstance(before, IdlePower) else None
        # counters that are gone, or stand still, are found here: then no run is asked
        self._works = self._idle is not None or before == _LATE
        if isinstance(before, str):
            lost = f"{NET_ENERGY} is" if self._works else f"{ENERGY} and {NET_ENERGY} are"
            what = f"{lost} not known of the runs of session {session}: {before}"
            self._tell(session, "before", what, _READ)
        try:
            yield
        finally:
            self._works = False
            self._tell_unknown(session)
        if self._idle is None:
            return
        after = self._measure_idle(session, segment, "after")
        if isinstance(after, str):
            what = f"the idle power after the runs of session {session} is not known: {after}"
            self._tell(session, "after", what, _READ)
        elif not is_steady(self._idle, after):
            what = (
                f"the machine used {self._idle.watts:.2f} W idle before the runs of session {session} "
                f"and {after.watts:.2f} W after them, more than {STEADY:.0%} apart: its {NET_ENERGY} "
                "is not judged"
            )
            fix = (
                f"end what else runs, let the machine settle, and measure again; or judge {ENERGY}"
            )
            self._tell(session, "after", what, fix)

    def begin(self) -> None:
        """Begin a run."""
        if self._works:
            self._meter.begin()

    def tick(self) -> None:
        """Look, while a run lasts, whether the counters have to be read."""
        if self._works:
            self._meter.tick()

    def ticking(self, tick: Callable[[], None]) -> Callable[[], None]:
        """Give what is called a few times a second while a run lasts: `tick`, and this one's."""
        if not self._meter.available:
            return tick

        def both() -> None:
            tick()
            self.tick()

        return both

    def end(self) -> Spent | None:
        """End a run; give what was used meanwhile, None where nobody reads it."""
        return self._meter.end() if self._works else None

    def metrics(self, spent: Spent | None, wall_ns: int) -> Mapping[str, tuple[float, ...]]:
        """Give the metrics of a run that took so long, without those that are not known."""
        if spent is None:
            return {}
        if spent.joules is None:
            self._unknown[spent.why or "the counters do not say"] += 1
            return {}
        if self._idle is None:
            return {ENERGY: (spent.joules,)}
        net = spent.joules - self._idle.watts * wall_ns / 1e9
        return {ENERGY: (spent.joules,), NET_ENERGY: (net,)}

    def _measure_idle(self, session: int, segment: int, when: When) -> IdlePower | str:
        """Measure and store the idle power; give why it is not known otherwise."""
        if self._deadline is not None and time.monotonic() + IDLE_S > self._deadline:
            return _LATE
        if not self._said:
            self._said = True
            self._watcher.say(
                f"energy  before and after each session {IDLE_S:.0f} s pass without a run, to know what "
                "the machine uses then"
            )
        self._store.sync()  # not while it is measured
        found = measure_idle(self._meter, self._interrupts.sleep)
        if isinstance(found, str):
            return found
        idle = IdlePower(
            session=session,
            segment=segment,
            when=when,
            watts=found.watts,
            error_w=found.error_w,
            seconds=found.seconds,
        )
        self._store.update(idle_power=(*self._store.manifest.idle_power, idle))
        return idle

    def _tell_unknown(self, session: int) -> None:
        """Say of how many runs the energy is not known."""
        for why, runs in self._unknown.items():
            what = f"the energy of {counted(runs, 'run')} of session {session} is not known: {why}"
            self._tell(session, "after", what, _READ)
        self._unknown.clear()

    def _tell(self, session: int, when: When, what: str, fix: str) -> None:
        finding = Finding(
            check="energy", status="warn", what=what, where=_WHERE, fix=fix, reason=_REASON
        )
        self._store.append_findings(when, [finding], session)
        self._watcher.findings([finding])
