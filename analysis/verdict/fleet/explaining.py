"""What the published methods say of a fleet: each host is one session, and the answer stays the hosts'."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ...data import PerformanceMatrix
from ...data.fleets import OpenedFleet, joined_trial
from ...report import Caution, figures
from ..judging import claimed_by_hpt
from ..panel import Panel, ask
from ..result import CandidateVerdict
from ..sides import comparable, sides_of

__all__ = ["explained"]

_NAMED = 3


def explained(
    candidates: Sequence[CandidateVerdict],
    opened: OpenedFleet,
    *,
    judged: Collection[str],
    metric: str,
    benchmarks: Sequence[str] | None,
) -> tuple[tuple[CandidateVerdict, ...], Caution]:
    """Ask the published methods about each candidate that was compared.

    They know no hosts. All runs of the hosts that are judged are read once more, together: this is
    the only part of the verdict on a fleet whose memory grows with its runs.

    Parameters
    ----------
    candidates : sequence of CandidateVerdict
        As judged over hosts.
    opened : OpenedFleet
        The fleet.
    judged : collection of str
        Its hosts that are in the answer.
    metric, benchmarks
        As for `judge_fleet`.

    Returns
    -------
    tuple of CandidateVerdict, Caution
        The same candidates with their panels, and how the methods took the hosts.
    """
    hosts = tuple(one for one in opened.fleet.hosts if one.host in judged)
    joined = joined_trial(replace(opened, fleet=replace(opened.fleet, hosts=hosts)))
    base = joined.manifest.baseline
    names = [one.variant for one in candidates]
    sides = sides_of(joined, metric, (base, *names), benchmarks)
    both = {name: comparable(sides[name], sides[base]) for name in names}
    found = tuple(replace(one, panel=_panel(one, both)) for one in candidates)
    listed = figures.listed([one.host for one in hosts], _NAMED)
    told = Caution(
        "hosts-as-sessions",
        f"the published methods, and pictures of single runs, take each of {len(hosts)} hosts "
        f"({listed}) as one session, in this order; the answer does not",
    )
    return found, told


def _panel(
    one: CandidateVerdict,
    both: Mapping[str, tuple[PerformanceMatrix, PerformanceMatrix] | None],
) -> Panel | None:
    sides = both[one.variant]
    if one.multilevel is None or sides is None:
        return None
    best = claimed_by_hpt(one.multilevel, sides, one.multilevel.confidence)
    return ask(one.multilevel, *sides, best=best)
