"""What many nights hold: for each benchmark and variant a series of values, one a night."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import median
from typing import Any, Final

from ...pages.model import Caution
from ...record.run_numbers import Better

NIGHTS_MOST: Final = 400  # of one reading: the newest
_GAPS_LEAST = 3  # from so many on it is known how often a series is measured
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """One value of a series: what one trial, one fleet, or one imported file says.

    `trial`: Its name. `path`: Where it lies, as given. `started_at`: When its first session began
    (RFC 3339); None where nobody knows. `log`: The mean over its sessions of the candidate's log
    less the baseline's, larger = slower, whichever direction of the metric is better; without a
    baseline the mean log of the metric itself, turned likewise. Of a fleet it is the mean over its
    hosts. `baseline_log`: The mean log of the baseline itself; None without one. `sessions`: How many
    complete sessions it rests on. `program_sha256`, `commit`: Of the candidate; None where they are
    unknown, or not one over the sessions or hosts. `baseline_sha256`, `baseline_commit`: The same of
    the baseline. `host_facts`: The sections host, cpu, memory and kernel of the environment record of
    the first session, and `targets` with the baseline's own alone: a record that `diff` of
    `record.environment_changes` compares with another night's. Of a fleet ``{"hosts": {name: record}}``.
    `cut`: Whether a time limit ended runs of the candidate, and of the baseline.
    """

    trial: str
    path: str
    started_at: str | None
    log: float
    baseline_log: float | None = None
    sessions: int = 1
    program_sha256: str | None = None
    commit: str | None = None
    baseline_sha256: str | None = None
    baseline_commit: str | None = None
    host_facts: Mapping[str, Any] = field(default_factory=dict)
    cut: tuple[bool, bool] = (False, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NightSeries:
    """Values that may be compared, in the order of time: nothing is compared across two series.

    `paired`: Whether values are differences from a baseline; without, host and program cannot be told
    apart. `campaign`, `baseline`: Their names; "" and None where there are none. `ended`: Why the
    next series of this benchmark and variant begins ("campaign", "command", "inputs", "baseline",
    "hosts"); None for the newest. `changed`: The same in a sentence. `missing` counts, for each
    night, those that are missing before it, by the usual distance between two; 0 where nobody can
    tell.
    """

    benchmark: str
    variant: str
    paired: bool
    metric: str
    unit: str
    better: Better
    campaign: str = ""
    baseline: str | None = None
    nights: tuple[Night, ...]
    ended: str | None = None
    changed: str | None = None

    @property
    def logs(self) -> tuple[float, ...]:
        """The values, oldest first; larger = slower."""
        return tuple(night.log for night in self.nights)

    @property
    def baseline_logs(self) -> tuple[float, ...] | None:
        """The values of the baseline itself; None where a night has none."""
        logs = [night.baseline_log for night in self.nights]
        known = tuple(log for log in logs if log is not None)
        return known if len(known) == len(logs) else None

    @property
    def missing(self) -> tuple[int, ...]:
        """How many nights are missing before each night."""
        return missing_before([night.started_at for night in self.nights])


@dataclass(frozen=True, slots=True, kw_only=True)
class Nights:
    """All series that were read.

    `place`: What was read, in a few words: the folder, or how many trials. `hosts`: The names of the
    hosts, each once. `series`: By benchmark and variant in the campaign's order; the newest of one
    benchmark and variant stands last. `left_out`: Trials that have no value, with why. `cut`: How
    many nights beyond the newest 400 were not read. `cautions`: What a reader should know.
    """

    place: str
    hosts: tuple[str, ...] = ()
    series: tuple[NightSeries, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    cut: int = 0
    cautions: tuple[Caution, ...] = ()


def moment_of(text: str | None) -> datetime | None:
    """Read a time (RFC 3339) or a date; without a zone it is one of UTC. None for anything else."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def missing_before(starts: Sequence[str | None]) -> tuple[int, ...]:
    """Count the nights that are missing before each, by the usual distance of two starts.

    The usual distance is the median. Only where it is between half a day and eight days can a night
    be missed: other trials were not made at regular times.
    """
    moments = [moment_of(start) for start in starts]
    gaps = [
        None if old is None or new is None else (new - old).total_seconds()
        for old, new in itertools.pairwise(moments)
    ]
    known = [gap for gap in gaps if gap is not None]
    usual = median(known) if len(known) >= _GAPS_LEAST else 0.0
    if not 0.5 * _DAY_S <= usual <= 8 * _DAY_S:
        return (0,) * len(starts)
    more = (0 if gap is None else max(0, round(gap / usual) - 1) for gap in gaps)
    return (0, *more)[: len(starts)]
