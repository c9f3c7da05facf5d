"""From an event's name to what the kernel takes for it on this host."""

from __future__ import annotations

from dataclasses import dataclass

from ..perf import EventAttributes
from .events import EVENTS, SOFTWARE
from .pmu import PmuError, Pmus
from .raw import parse_raw

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

    def attributes(
        self, *, counting: bool, user_only: bool, pinned: bool = False
    ) -> EventAttributes:
        """Give what the event is opened with: for counting runs, or to see whether it can be had."""
        config, config1, config2, config3 = self.words
        return EventAttributes(
            kind=self.kind,
            config=config,
            config1=config1,
            config2=config2,
            config3=config3,
            disabled=counting or pinned,
            inherit=counting,
            on_exec=counting,
            pinned=pinned,
            user_only=user_only,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """One event that this host does not have, known before the kernel is asked."""

    name: str
    unit: str
    what: str
    where: str | None = None
    fix: str | None = None


def resolve_event(name: str, raw: str | None, pmus: Pmus) -> Resolved | Refused:
    """Find one event on a host.

    Parameters
    ----------
    name : str
        That of `EVENTS`, or any for a raw one.
    raw : str or None
        A raw event, as `parse_raw` takes it.
    pmus : Pmus
        The host's.
    """
    unit = EVENTS[name].unit if raw is None else "1"
    try:
        return _raw(name, raw, pmus) if raw is not None else _listed(name, pmus)
    except PmuError as error:
        return Refused(name=name, unit=unit, what=error.what, where=error.where, fix=error.fix)


def _raw(name: str, raw: str, pmus: Pmus) -> Resolved:
    found = pmus.encoded(parse_raw(raw))
    return Resolved(
        name=name, unit="1", kind=found.kind, words=found.words, on_processor=found.on_processor
    )


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
