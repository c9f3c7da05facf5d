"""Counters of processor and kernel: what is asked of a launcher, what it could open, and what the runs gave."""

from __future__ import annotations

import errno
import os
import re
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from analysis.record.trial_files import Finding, warning
from analysis.words import quoted

from .counter_events import EVENTS, SOFTWARE, RawEvent, RawEventError, parse_raw, parse_terms
from .state import PARANOID, CountedEvent, CounterLook, MissingEvent, Tree, format_cpus

# --- The system call perf_event_open(2): what it gets.


_SIZE = 136  # PERF_ATTR_SIZE_VER8; an older kernel takes more bytes as long as they are 0
_HEAD = struct.Struct("<IIQQQQQIIQQ")  # up to config2
_CONFIG3_AT = 128
_TIMES = 0b11  # of read_format: the times enabled and running stand behind the value

# The bits of the flags, as little-endian machines number them.
_DISABLED, _INHERIT, _PINNED = 1 << 0, 1 << 1, 1 << 2
_EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR, _ENABLE_ON_EXEC = 1 << 5, 1 << 6, 1 << 12


def event_attributes(
    kind: int,
    words: tuple[int, int, int, int],
    *,
    disabled: bool = False,
    inherit: bool = False,
    on_exec: bool = False,
    pinned: bool = False,
    user_only: bool = False,
) -> bytes:
    """Give ``struct perf_event_attr`` of an event (`kind`: the PMU's type, `words`: config to config3).

    `inherit` counts the processes and threads that the counted one starts too, `on_exec` from the
    exec of each on; `user_only` leaves out what kernel and hypervisor do; `pinned` takes a place on
    the processor all the time or none. A read gives three numbers of 8 bytes: the value, and for how
    many ns the event was enabled and counted.
    """
    flags = (
        disabled * _DISABLED
        | inherit * _INHERIT
        | pinned * _PINNED
        | user_only * (_EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR)
        | on_exec * _ENABLE_ON_EXEC
    )
    # kind, size, config, period, sample type, read format, flags, wake-up, breakpoint, config1, 2
    laid = bytearray(_SIZE)
    _HEAD.pack_into(laid, 0, kind, _SIZE, words[0], 0, 0, _TIMES, flags, 0, 0, *words[1:3])
    struct.pack_into("<Q", laid, _CONFIG3_AT, words[3])
    return bytes(laid)


_ENABLE = 0x2400
# The number of the system call, and that of the ioctl that enables an event, of little-endian
# machines of 64 bits, by the name that uname gives.
MACHINES: Mapping[str, tuple[int, int]] = {
    "x86_64": (298, _ENABLE),
    "aarch64": (241, _ENABLE),
    "riscv64": (241, _ENABLE),
    "loongarch64": (241, _ENABLE),
    "ppc64le": (319, 0x20002400),
}


# --- The kernel's units that count (PMUs), and what they take for an event's name on this host.

DEVICES: Final = "/sys/bus/event_source/devices"

_WORDS: Final = ("config", "config1", "config2", "config3")
_PLACE: Final = re.compile(
    r"(config[123]?):([0-9]{1,2}(?:-[0-9]{1,2})?(?:,[0-9]{1,2}(?:-[0-9]{1,2})?)*)"
)


class PmuError(ValueError):
    """An event that no PMU here counts: what, where it was looked, and what to do."""

    def __init__(self, what: str, where: str, fix: str | None = None) -> None:
        super().__init__(what)
        self.what, self.where, self.fix = what, where, fix


class Pmus:
    """The PMUs of a host, read through its `Tree`; those of `cpus` count where targets are pinned."""

    def __init__(self, tree: Tree, cpus: tuple[int, ...] | None) -> None:
        self._tree = tree
        self._cpus = cpus

    @property
    def names(self) -> tuple[str, ...]:
        """All PMUs."""
        return self._tree.names(DEVICES) or ()

    @property
    def cores(self) -> tuple[str, ...]:
        """Those of the processors' cores: several where it has cores of several kinds."""
        kinds = tuple(name for name in self.names if self._of_cores(name) is not None)
        return kinds or (("cpu",) if "cpu" in self.names else ())

    def of_the_targets(self) -> int | None:
        """Give the type of the PMU that events without one must name; None where there is one kind."""
        kinds = self.cores
        if len(kinds) < 2:
            return None
        for name in kinds:
            if self._holds_the_targets(name):
                return self._type(name)
        there = ", ".join(
            f"{name}: CPUs {format_cpus(self._of_cores(name) or ())}" for name in kinds
        )
        raise PmuError(
            "the processor has cores of several kinds, and the runs may change from one to another, "
            "where it would not be counted on",
            f"{DEVICES} ({there})",
            "name CPUs of one kind in isolation.cpus",
        )

    def resolved(self, name: str, event: RawEvent) -> Resolved:
        """Give what the kernel takes for an event, whose metric has that name."""
        place = f"{DEVICES}/{event.pmu}"
        if event.pmu not in self.names:
            known = ", ".join(self.names) or "none"
            raise PmuError(f"there is no PMU '{event.pmu}' on this host", f"{DEVICES}: {known}")
        if self._tree.cpus(f"{place}/cpumask") is not None:
            what = f"the PMU '{event.pmu}' counts for the whole machine, not for one program"
            raise PmuError(what, f"{place}/cpumask")
        cores = self._of_cores(event.pmu)
        if cores is not None and len(self.cores) > 1 and not self._holds_the_targets(event.pmu):
            what = (
                f"the PMU '{event.pmu}' counts on CPUs {format_cpus(cores)} only, and the runs may"
            )
            fix = "name CPUs of that kind in isolation.cpus"
            raise PmuError(f"{what} be executed elsewhere", f"{place}/cpus", fix)
        words = dict.fromkeys(_WORDS, 0)
        for term, value in self._without_names(place, event):
            self._put(words, place, term, value)
        return Resolved(
            name=name,
            unit="1",
            kind=self._type(event.pmu),
            words=(words["config"], words["config1"], words["config2"], words["config3"]),
            on_processor=event.pmu in self.cores,
        )

    def _of_cores(self, name: str) -> tuple[int, ...] | None:
        return self._tree.cpus(f"{DEVICES}/{name}/cpus")

    def _holds_the_targets(self, name: str) -> bool:
        return bool(self._cpus) and set(self._cpus or ()) <= set(self._of_cores(name) or ())

    def _type(self, name: str) -> int:
        number = self._tree.number(f"{DEVICES}/{name}/type")
        if number is None:
            raise PmuError(f"the PMU '{name}' does not say its type", f"{DEVICES}/{name}/type")
        return number

    def _without_names(self, place: str, event: RawEvent) -> list[tuple[str, int]]:
        """Put the terms that the kernel lists under a name in place of that name."""
        found: dict[str, int] = {}
        for name, value in event.terms:
            listed = None if value is not None else self._tree.text(f"{place}/events/{name}")
            if listed is None:
                found[name] = 1 if value is None else value
                continue
            try:
                terms = parse_terms(listed)
            except RawEventError as error:
                what = f"the event '{name}' {error.what}, and needs more terms"
                raise PmuError(what, f"{place}/events/{name} = {listed}") from None
            found |= {term: 1 if number is None else number for term, number in terms}
        return list(found.items())

    def _put(self, words: dict[str, int], place: str, name: str, value: int) -> None:
        if name in _WORDS:
            words[name] |= value
            return
        layout = self._tree.text(f"{place}/format/{name}")
        word, spans = _layout(layout)
        if not spans:
            folders = [self._tree.names(f"{place}/{part}") or () for part in ("format", "events")]
            known = ", ".join(one for names in folders for one in names)
            what = f"the PMU '{place.rpartition('/')[2]}' has no term and no event '{name}'"
            raise PmuError(what, f"{place}/format, {place}/events: {known or 'none'}")
        left = value
        for low, high in spans:
            width = high - low + 1
            words[word] |= (left & ((1 << width) - 1)) << low
            left >>= width
        if left:
            what = f"{value:#x} does not fit into the term '{name}'"
            raise PmuError(what, f"{place}/format/{name} = {layout}")


def _layout(text: str | None) -> tuple[str, list[tuple[int, int]]]:
    """Read where a term lies: the word, and from which bit to which; no bits where the kernel does not say."""
    match = None if text is None else _PLACE.fullmatch(text)
    if match is None:
        return "", []
    pairs = [span.partition("-") for span in match[2].split(",")]
    spans = [(int(low), int(high or low)) for low, _, high in pairs]
    return match[1], spans if all(low <= high < 64 for low, high in spans) else []


_KIND_AT = 32  # a PMU's type stands above the config of an event that is the same on all kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """One event as this host counts it; `name` is that of the metric.

    `on_processor` says that it needs one of the processor's counters, `needs_kernel` that it counts
    falsely 0 without the kernel's part, `may_be_still` that 0 in every run is nothing strange.
    """

    name: str
    unit: str
    kind: int
    words: tuple[int, int, int, int]
    on_processor: bool
    needs_kernel: bool = False
    may_be_still: bool = False


def resolve_event(name: str, raw: str | None, pmus: Pmus) -> Resolved | MissingEvent:
    """Find one event on a host; it may be known to be missing before the kernel is asked."""
    try:
        return _listed(name, pmus) if raw is None else pmus.resolved(name, parse_raw(raw))
    except PmuError as error:
        return MissingEvent(name, error.what, error.where, error.fix)


def _listed(name: str, pmus: Pmus) -> Resolved:
    event = EVENTS[name]
    above = pmus.of_the_targets() if event.on_processor else None
    return Resolved(
        name=name,
        unit=event.unit,
        kind=event.kind,
        words=(event.config | (above or 0) << _KIND_AT, 0, 0, 0),
        on_processor=event.on_processor,
        needs_kernel=event.needs_kernel,
        may_be_still=event.kind == SOFTWARE and not event.never_zero,
    )


# --- What is asked of a launcher, and which of it this host can count.


WATCHDOG = "/proc/sys/kernel/nmi_watchdog"
# Counts nothing, and stays with the launcher; anybody who may count at all may open it.
_OURS = event_attributes(SOFTWARE, (9, 0, 0, 0), disabled=True, user_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterPlan:
    """The events that are wanted, in order, and what the host shows that explains a refusal.

    `paranoid` is the kernel's setting, `watchdog` whether one counter is taken by the kernel's own;
    `has_processor` whether the processor's counters are shown at all, `virtual` the hypervisor.
    With `share` events may take turns on too few counters. `machine` is what uname calls it.
    """

    events: tuple[Resolved | MissingEvent, ...]
    share: bool = False
    paranoid: int | None = None
    watchdog: bool = False
    has_processor: bool = False
    virtual: str | None = None
    machine: str

    @property
    def resolved(self) -> tuple[Resolved, ...]:
        """The events that the kernel is asked for."""
        return tuple(one for one in self.events if isinstance(one, Resolved))

    @property
    def message(self) -> dict[str, Any] | None:
        """What the launcher gets; None where there is nothing that it could open.

        `ours` is an event that no run inherits. Each other one has a list of ways to open it, the best first: with the kernel's part, and without
        where that counts rightly. Each way says how runs are counted, and how to try whether
        events fit on the processor together, as the first of a group and as another.
        """
        machine = MACHINES.get(self.machine)
        if machine is None or not self.resolved:
            return None
        return {
            "call": machine[0],
            "enable": machine[1],
            "share": self.share,
            "ours": _OURS,
            "events": [
                {"on_processor": one.on_processor, "ways": _ways(one)} for one in self.resolved
            ],
        }


def plan_of(
    events: Iterable[tuple[str, str | None]],
    tree: Tree,
    cpus: tuple[int, ...] | None,
    *,
    share: bool = False,
    virtual: str | None = None,
) -> CounterPlan:
    """Find events on a host."""
    pmus = Pmus(tree, cpus)
    return CounterPlan(
        events=tuple(resolve_event(name, raw, pmus) for name, raw in events),
        share=share,
        paranoid=tree.number(PARANOID),
        watchdog=tree.number(WATCHDOG) == 1,
        # a tree that shows no PMUs at all tells nothing of them: the kernel is asked
        has_processor=bool(pmus.cores) or not tree.exists(DEVICES),
        virtual=virtual,
        machine=os.uname().machine,
    )


def _ways(event: Resolved) -> list[dict[str, bytes]]:
    """Give the attributes with which the launcher counts an event, and tries whether it fits."""
    opened = partial(event_attributes, event.kind, event.words)
    return [
        {
            "count": opened(disabled=True, inherit=True, on_exec=True, user_only=user_only),
            "first": opened(disabled=True, pinned=True, user_only=user_only),
            "other": opened(user_only=user_only),
        }
        for user_only in ((False,) if event.needs_kernel else (False, True))
    ]


_USER_LEVEL, _KERNEL_LEVEL = 2, 1  # the highest level that lets anybody count so much


class EventAnswer(NamedTuple):
    """What a launcher says of one event: the errno, the way that worked, whether it found a place."""

    number: int
    way: int
    fits: bool


def look_of(
    plan: CounterPlan, answers: Sequence[EventAnswer] | None, *, asked: bool = True
) -> CounterLook:
    """Say of each event of a plan what became of it."""
    counted: list[CountedEvent] = []
    missing: list[MissingEvent] = []
    answered = iter(answers or ())
    placed: list[str] = []
    for one in plan.events:
        if isinstance(one, MissingEvent):
            missing.append(one)
            continue
        answer = next(answered, None)
        if answer is None:
            kind = f"a machine of the kind '{plan.machine}'"
            what = f"how events are opened on {kind} is not known here"
            missing.append(MissingEvent(one.name, what))
        elif answer.number or not answer.fits:
            missing.append(_missing(one, answer, plan, placed))
        else:
            placed += [one.name] if one.on_processor else []
            counted.append(CountedEvent(one.name, one.unit, user_only=answer.way > 0))
    return CounterLook(
        counted=tuple(counted), missing=tuple(missing), wanted=asked, paranoid=plan.paranoid
    )


def _missing(
    event: Resolved, answer: EventAnswer, plan: CounterPlan, before: list[str]
) -> MissingEvent:
    if not answer.number:
        return _no_place(event, plan, before)
    if answer.number in (errno.EACCES, errno.EPERM):
        return _not_allowed(event, plan)
    if answer.number == errno.ENOSYS:
        what = "the kernel counts no events (it was built without CONFIG_PERF_EVENTS)"
        return MissingEvent(event.name, what)
    if answer.number in (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP, errno.EINVAL):
        return _not_there(event, answer, plan)
    what = f"the kernel does not open it: {os.strerror(answer.number)}"
    fix = "raise the limit on open files: ulimit -n 1024" if answer.number == errno.EMFILE else None
    return MissingEvent(event.name, what, fix=fix)


def _not_there(event: Resolved, answer: EventAnswer, plan: CounterPlan) -> MissingEvent:
    where = f"perf_event_open: {errno.errorcode[answer.number]}"
    if not event.on_processor:
        return MissingEvent(event.name, "the kernel does not count it for a program", where)
    if plan.has_processor:
        fix = "'perf list' shows what it counts; others can be written as {raw: cpu/event=.../, name: ...}"
        return MissingEvent(event.name, "this processor does not count it", where, fix)
    inside = plan.virtual not in {None, "none"}
    what = "this machine shows no hardware counters"
    what += f": it is a virtual machine ({plan.virtual})" if inside else " (a virtual machine?)"
    fix = "measure on the machine itself, or have the hypervisor pass its counters on (a vPMU)"
    return MissingEvent(event.name, what, f"{where}; no processor in {DEVICES}", fix)


def _not_allowed(event: Resolved, plan: CounterPlan) -> MissingEvent:
    level = plan.paranoid
    where = f"{PARANOID} = {'not readable' if level is None else level}"
    enough = _KERNEL_LEVEL if event.needs_kernel else _USER_LEVEL
    capability = f"sudo setcap cap_perfmon=ep {quoted(str(Path(sys.executable).resolve()))}"
    fix = f"sudo sysctl kernel.perf_event_paranoid={enough}, or: {capability}"
    what = "counting is not permitted to you"
    if level is not None and level <= enough:
        what += ", although the kernel would permit it: a container's rules?"
        fix = "docker run --cap-add PERFMON, with a seccomp profile that allows perf_event_open"
    elif event.needs_kernel:
        what = "it needs the right to count in the kernel; without that it would falsely read 0"
    return MissingEvent(event.name, what, where, fix)


def _no_place(event: Resolved, plan: CounterPlan, before: list[str]) -> MissingEvent:
    others = f" after {', '.join(before)}" if before else ""
    taken = "; the kernel's watchdog takes one" if plan.watchdog else ""
    fix = "count fewer events at a time, or let them take turns with 'multiplex: allow'"
    if plan.watchdog:
        fix += "; sudo sysctl kernel.nmi_watchdog=0 frees one"
    what = f"the processor has no counter left for it{others}{taken}"
    where = f"{WATCHDOG} = 1" if plan.watchdog else "counters.multiplex = refuse"
    return MissingEvent(event.name, what, where, fix)


_REASON = "a counter that is not what it says would be judged as a property of the program"
_NS = 1e9
_WHOLE = 0.9999  # of the time: the two are read one after the other
# A run that was counted from its exec on misses less of its processor time than these together: where
# processes of a run share a busy processor, the time of their events was a sixth less (their values were
# whole). Of a run that is no longer counted next to nothing is left.
_LOST_NS = 200_000
_LOST_SHARE = 0.5
_LEAST_SHARE = 0.1  # and has this much, however long its start lasted

Moved = tuple[int, int, int]  # the value, and for how many ns it was enabled and counted


@dataclass(slots=True)
class _Seen:
    runs: int = 0
    unread: int = 0  # no answer, never on the processor, or a value that cannot be
    cut: int = 0  # the kernel ended it before the run did
    shared: int = 0  # there for a part of the time
    least: float = 1.0  # of the shares of time
    zeros: int = 0


class CounterTally:
    """Makes metrics of what a launcher read, run after run."""

    def __init__(self, plan: CounterPlan, look: CounterLook) -> None:
        had = {one.name for one in look.counted}
        self._events = [event if event.name in had else None for event in plan.resolved]
        self._share = plan.share
        self._seen = {name: _Seen() for name in had}

    def metrics(
        self, moved: Sequence[Moved | None] | None, *, cpu_s: float = 0.0, spawn_ns: int = 0
    ) -> dict[str, tuple[float, ...]]:
        """Give the metrics of one run, without those that are not known.

        A program that changes its user at the exec, or that may not be read, is counted no further
        for who has no rights: what was counted until then is no value. It shows in the time for which
        an event was enabled, which is that of the run on processors.

        Where an event had a counter for a part of the time it is scaled up to the whole, value x
        enabled / counted, if events may share; otherwise it is not known.
        """
        spent_ns = cpu_s * _NS
        least_ns = max(spent_ns * (1 - _LOST_SHARE) - spawn_ns - _LOST_NS, spent_ns * _LEAST_SHARE)
        found: dict[str, tuple[float, ...]] = {}
        if moved is None:
            return found
        for event, one in zip(self._events, moved, strict=True):
            value = None if event is None else self._value(event, one, least_ns)
            if event is not None and value is not None:
                found[event.name] = (value / _NS if event.unit == "s" else value,)
        return found

    def unread(self) -> None:
        """Note a run that should have been counted, but the launcher could read no event of it."""
        for seen in self._seen.values():
            seen.runs += 1
            seen.unread += 1

    def _value(self, event: Resolved, moved: Moved | None, least_ns: float) -> float | None:
        seen = self._seen[event.name]
        seen.runs += 1
        # a value that went back is not what a run did: from its exec on an event only grows
        if moved is None or moved[2] <= 0 or moved[0] < 0:
            seen.unread += 1
            return None
        value, enabled, running = moved
        if enabled < least_ns:
            seen.cut += 1
            return None
        if running < enabled * _WHOLE:
            seen.shared += 1
            seen.least = min(seen.least, running / enabled)
            if not self._share:
                return None
        if value == 0:
            seen.zeros += 1
            if _always_moves(event):
                return None
        return value if running >= enabled * _WHOLE else value * enabled / running

    def findings(self) -> tuple[Finding, ...]:
        """Say what was strange: events that were not counted, shared a counter, or never moved."""
        return tuple(one for event in self._events if event is not None for one in self._of(event))

    def _of(self, event: Resolved) -> Iterator[Finding]:
        seen, name = self._seen[event.name], event.name
        still = bool(seen.zeros) and seen.zeros == seen.runs
        unread = seen.unread + (seen.zeros if _always_moves(event) and not still else 0)
        of, without = f"of {seen.runs} runs", "these rows are without it"
        part = f"{name} had a counter for a part of the time only in {seen.shared} {of} (least: {seen.least:.0%})"
        for there, what, fix in (
            (
                unread,
                f"{name} was not counted in {unread} {of}: {without}",
                "see what else counts on this host: perf, a profiler, another trial",
            ),
            (
                seen.cut,
                f"{name} was counted for a small part of {seen.cut} {of}: {without}",
                "the kernel ends it where a program changes its user (setuid), or may not be read, and you "
                "lack CAP_PERFMON: measure as root, or another program",
            ),
            (
                seen.shared and not self._share,
                f"{part}: {without}",
                "stop what else counts on this host, count fewer events, or write 'multiplex: allow'",
            ),
            (
                seen.shared and self._share,
                f"{part}: its values there are scaled up, and estimates",
                "count fewer events",
            ),
            (
                still and not event.may_be_still,
                f"{name} read 0 in all {seen.runs} runs: it does not seem to be counted on this machine",
                "compare with 'perf stat'; a virtual machine may show counters that never move",
            ),
        ):
            if there:
                yield warning("counters", what, "counters", fix, _REASON)


def _always_moves(event: Resolved) -> bool:
    return event.name in EVENTS and EVENTS[event.name].never_zero
