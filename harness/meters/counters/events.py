"""The events that a campaign may name, and what the kernel calls them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

HARDWARE, SOFTWARE, CACHE = 0, 1, 3  # perf_type_id

# perf_hw_cache_id, then what is done there and how it ended: id | operation << 8 | result << 16.
_CACHES = {"L1-dcache": 0, "L1-icache": 1, "LLC": 2, "dTLB": 3, "iTLB": 4}
_OPERATIONS = {"load": 0, "store": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
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


def _hardware(config: int, what: str, *, never_zero: bool = False) -> Event:
    return Event(kind=HARDWARE, config=config, what=what, never_zero=never_zero)


def _software(
    config: int, what: str, *, needs_kernel: bool = False, never_zero: bool = False
) -> Event:
    return Event(
        kind=SOFTWARE,
        config=config,
        what=what,
        needs_kernel=needs_kernel,
        never_zero=never_zero,
    )


def _cache(name: str, operation: str, *, missed: bool, what: str) -> Event:
    config = _CACHES[name] | _OPERATIONS[operation] << 8 | int(missed) << 16
    return Event(kind=CACHE, config=config, what=what)


EVENTS: Final[Mapping[str, Event]] = {
    "instructions": _hardware(
        1, "instructions that were carried out to their end", never_zero=True
    ),
    "cycles": _hardware(0, "cycles of the core, at whatever frequency it ran", never_zero=True),
    "ref-cycles": _hardware(9, "cycles at a constant frequency, while the core was not halted"),
    "bus-cycles": _hardware(6, "cycles of the bus"),
    "branches": _hardware(4, "branches that were carried out", never_zero=True),
    "branch-misses": _hardware(5, "branches that were guessed wrong"),
    "cache-references": _hardware(2, "accesses to the last cache, as the processor defines them"),
    "cache-misses": _hardware(3, "those that it could not serve"),
    "stalled-cycles-frontend": _hardware(7, "cycles in which no instruction could be fetched"),
    "stalled-cycles-backend": _hardware(8, "cycles in which none could be carried out"),
    "L1-dcache-loads": _cache(
        "L1-dcache", "load", missed=False, what="loads that asked the first data cache"
    ),
    "L1-dcache-load-misses": _cache(
        "L1-dcache", "load", missed=True, what="loads that it could not serve"
    ),
    "L1-dcache-stores": _cache(
        "L1-dcache", "store", missed=False, what="stores that went to the first data cache"
    ),
    "L1-icache-load-misses": _cache(
        "L1-icache", "load", missed=True, what="fetches that the first instruction cache missed"
    ),
    "LLC-loads": _cache("LLC", "load", missed=False, what="loads that asked the last cache"),
    "LLC-load-misses": _cache("LLC", "load", missed=True, what="loads that it could not serve"),
    "LLC-stores": _cache("LLC", "store", missed=False, what="stores that went to the last cache"),
    "LLC-store-misses": _cache("LLC", "store", missed=True, what="stores that it missed"),
    "dTLB-loads": _cache("dTLB", "load", missed=False, what="loads that asked the data TLB"),
    "dTLB-load-misses": _cache("dTLB", "load", missed=True, what="loads that it could not serve"),
    "iTLB-load-misses": _cache(
        "iTLB", "load", missed=True, what="fetches that the instruction TLB missed"
    ),
    "task-clock": Event(
        kind=SOFTWARE,
        config=1,
        unit="s",
        what="time on a processor, all threads and children together",
        never_zero=True,
    ),
    "page-faults": _software(2, "page faults of either kind", never_zero=True),
    "minor-faults": _software(5, "page faults that needed no disk", never_zero=True),
    "major-faults": _software(6, "page faults that needed the disk"),
    "context-switches": _software(
        3, "how often the processor was given to somebody else", needs_kernel=True
    ),
    "cpu-migrations": _software(4, "moves to another processor", needs_kernel=True),
    "alignment-faults": _software(7, "accesses that the kernel had to put together"),
    "emulation-faults": _software(8, "instructions that the kernel had to emulate"),
}
