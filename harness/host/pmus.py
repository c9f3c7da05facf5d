"""The kernel's units that count (PMUs), and what they take for an event's name on this host."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from .counter_events import EVENTS, SOFTWARE, RawEvent, RawEventError, parse_raw, parse_terms
from .state import MissingEvent
from .tree import Tree, format_cpus

# --- The system call perf_event_open(2): what it is told.


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


class PerfNumbers(NamedTuple):
    """The numbers of a kind of machine: of the system call, and of the ioctl that enables an event."""

    call: int
    enable: int = 0x2400


# Little-endian ones of 64 bits, by the name that uname gives.
MACHINES: Mapping[str, PerfNumbers] = {
    "x86_64": PerfNumbers(call=298),
    "aarch64": PerfNumbers(call=241),
    "riscv64": PerfNumbers(call=241),
    "loongarch64": PerfNumbers(call=241),
    "ppc64le": PerfNumbers(call=319, enable=0x20002400),
}


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
        """Put a term's value where the PMU's folder ``format`` says, from the lowest bit on."""
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
    """Read where a term lies: the word, and from which bit to which; no bits where that is not told."""
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

    def attributes(self, *, counting: bool, user_only: bool, pinned: bool = False) -> bytes:
        """Give what the event is opened with: for counting runs, or to see whether it can be had."""
        return event_attributes(
            self.kind,
            self.words,
            disabled=counting or pinned,
            inherit=counting,
            on_exec=counting,
            pinned=pinned,
            user_only=user_only,
        )


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
