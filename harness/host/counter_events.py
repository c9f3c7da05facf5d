"""The events that a campaign may name: those with names, and raw ones as perf(1) writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

HARDWARE, SOFTWARE, _CACHE = 0, 1, 3  # perf_type_id

# perf_hw_cache_id, then what is done there and how it ended.
_L1D, _L1I, _LLC, _DTLB, _ITLB = range(5)
_LOAD, _STORE, _MISS = 0 << 8, 1 << 8, 1 << 16


class Event(NamedTuple):
    """One event of the closed list.

    `kind` and `config` are the kernel's type and number. `unit` is that of the metric, "1" for a
    count. An event that `needs_kernel` counts falsely 0 where the kernel's part may not be counted;
    one that is `never_zero` moves in every run, so that 0 says that it does not count.
    """

    kind: int
    config: int
    what: str
    unit: str = "1"
    needs_kernel: bool = False
    never_zero: bool = False

    @property
    def on_processor(self) -> bool:
        """Whether one of the processor's few counters is needed for it."""
        return self.kind != SOFTWARE


EVENTS: Final[Mapping[str, Event]] = {
    "instructions": Event(
        HARDWARE, 1, "instructions that were carried out to their end", never_zero=True
    ),
    "cycles": Event(
        HARDWARE, 0, "cycles of the core, at whatever frequency it ran", never_zero=True
    ),
    "ref-cycles": Event(
        HARDWARE, 9, "cycles at a constant frequency, while the core was not halted"
    ),
    "bus-cycles": Event(HARDWARE, 6, "cycles of the bus"),
    "branches": Event(HARDWARE, 4, "branches that were carried out", never_zero=True),
    "branch-misses": Event(HARDWARE, 5, "branches that were guessed wrong"),
    "cache-references": Event(
        HARDWARE, 2, "accesses to the last cache, as the processor defines them"
    ),
    "cache-misses": Event(HARDWARE, 3, "those that it could not serve"),
    "stalled-cycles-frontend": Event(
        HARDWARE, 7, "cycles in which no instruction could be fetched"
    ),
    "stalled-cycles-backend": Event(HARDWARE, 8, "cycles in which none could be carried out"),
    "L1-dcache-loads": Event(_CACHE, _L1D | _LOAD, "loads that asked the first data cache"),
    "L1-dcache-load-misses": Event(_CACHE, _L1D | _LOAD | _MISS, "loads that it could not serve"),
    "L1-dcache-stores": Event(_CACHE, _L1D | _STORE, "stores that went to the first data cache"),
    "L1-icache-load-misses": Event(
        _CACHE, _L1I | _LOAD | _MISS, "fetches that the first instruction cache missed"
    ),
    "LLC-loads": Event(_CACHE, _LLC | _LOAD, "loads that asked the last cache"),
    "LLC-load-misses": Event(_CACHE, _LLC | _LOAD | _MISS, "loads that it could not serve"),
    "LLC-stores": Event(_CACHE, _LLC | _STORE, "stores that went to the last cache"),
    "LLC-store-misses": Event(_CACHE, _LLC | _STORE | _MISS, "stores that it missed"),
    "dTLB-loads": Event(_CACHE, _DTLB | _LOAD, "loads that asked the data TLB"),
    "dTLB-load-misses": Event(_CACHE, _DTLB | _LOAD | _MISS, "loads that it could not serve"),
    "iTLB-load-misses": Event(
        _CACHE, _ITLB | _LOAD | _MISS, "fetches that the instruction TLB missed"
    ),
    "task-clock": Event(
        SOFTWARE,
        1,
        "time on a processor, all threads and children together",
        unit="s",
        never_zero=True,
    ),
    "page-faults": Event(SOFTWARE, 2, "page faults of either kind", never_zero=True),
    "minor-faults": Event(SOFTWARE, 5, "page faults that needed no disk", never_zero=True),
    "major-faults": Event(SOFTWARE, 6, "page faults that needed the disk"),
    "context-switches": Event(
        SOFTWARE, 3, "how often the processor was given to somebody else", needs_kernel=True
    ),
    "cpu-migrations": Event(SOFTWARE, 4, "moves to another processor", needs_kernel=True),
    "alignment-faults": Event(SOFTWARE, 7, "accesses that the kernel had to put together"),
    "emulation-faults": Event(SOFTWARE, 8, "instructions that the kernel had to emulate"),
}


_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_NUMBER: Final = re.compile(r"0[xX][0-9A-Fa-f]{1,16}|[0-9]{1,20}")
_FORM: Final = "write it as PMU/event=0x3c,umask=0x1/, as 'perf list --details' does"
_LARGEST: Final = 2**64 - 1


class RawEventError(ValueError):
    """A text that is no such event; `what` continues 'the event ...', `fix` mends it."""

    def __init__(self, what: str, fix: str = _FORM) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix


class RawEvent(NamedTuple):
    """What is counted, by the names of one PMU: `terms` are (name, value), None for a bare name."""

    pmu: str
    terms: tuple[tuple[str, int | None], ...]


def parse_raw(text: str) -> RawEvent:
    """Read an event of one PMU."""
    pmu, slash, rest = text.strip().partition("/")
    inside, closed, behind = rest.rpartition("/")
    if not slash or not closed:
        raise RawEventError("is not PMU/.../ with two slashes")
    if behind:
        raise RawEventError(
            f"has '{behind}' behind its last slash",
            "delete that: whether the kernel's part is counted depends on what is permitted",
        )
    if not _NAME.fullmatch(pmu):
        raise RawEventError("names no PMU before its first slash")
    return RawEvent(pmu=pmu, terms=parse_terms(inside))


def parse_terms(text: str) -> tuple[tuple[str, int | None], ...]:
    """Read the terms between the slashes, or those of a file in a PMU's folder ``events``."""
    terms: dict[str, int | None] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not _NAME.fullmatch(name):
            raise RawEventError(f"has the term '{part.strip()}', which has no name")
        if equals and not _NUMBER.fullmatch(value):
            raise RawEventError(f"gives '{name}' the value '{value}', which is not a number")
        if name in terms:
            raise RawEventError(f"has the term '{name}' twice", "delete one of them")
        number = None if not equals else int(value, 16 if value[:2].lower() == "0x" else 10)
        if number is not None and number > _LARGEST:
            raise RawEventError(f"gives '{name}' a value of more than 64 bits")
        terms[name] = number
    return tuple(terms.items())
