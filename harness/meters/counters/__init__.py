"""Counters of processor and kernel: their names, what they are on this host, what they gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .events import EVENTS as EVENTS, Event as Event
    from .look import (
        Answer as Answer,
        CountedEvent as CountedEvent,
        CounterLook as CounterLook,
        MissingEvent as MissingEvent,
        look_of as look_of,
    )
    from .plan import PARANOID as PARANOID, CounterPlan as CounterPlan, plan_of as plan_of
    from .pmu import DEVICES as DEVICES, Pmus as Pmus
    from .raw import RawEvent as RawEvent, RawEventError as RawEventError, parse_raw as parse_raw
    from .resolving import (
        Refused as Refused,
        Resolved as Resolved,
        resolve_event as resolve_event,
    )
    from .tally import CounterTally as CounterTally
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "events": "EVENTS Event",
            "look": "Answer CountedEvent CounterLook MissingEvent look_of",
            "plan": "PARANOID CounterPlan plan_of",
            "pmu": "DEVICES Pmus",
            "raw": "RawEvent RawEventError parse_raw",
            "resolving": "Refused Resolved resolve_event",
            "tally": "CounterTally",
        },
    )
