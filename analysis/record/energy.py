"""What a trial says of energy: its two metrics, and the idle power that the second one leaves out.

The counters belong to whole processor packages and move about once a millisecond, so a run must last
a while to have an energy of its own; what the machine uses without it is measured around sessions.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

ENERGY = "energy_package_j"  # of all packages, while a run lasts
NET_ENERGY = "energy_net_j"  # without the idle power, times the run's wall time
ENERGY_METRICS = (ENERGY, NET_ENERGY)

RESOLUTION_S = 0.1  # a hundred moves of the counter: each end of a run is known to one of them
STEADY = 0.05  # by how much of it the idle power after a session may differ from that before

When = Literal["before", "after"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IdlePower:
    """The power of all packages while no run lasted, before or after those of a session's segment.

    `watts` is its mean over `seconds`, `error_w` the standard error of that mean.
    """

    session: int
    segment: int
    when: When
    watts: float
    error_w: float
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


def is_steady(before: IdlePower, after: IdlePower) -> bool:
    """Tell whether two idle powers are one, so that it may be taken from what lies between them."""
    return abs(after.watts - before.watts) <= STEADY * before.watts
