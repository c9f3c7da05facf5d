"""How long a campaign takes on one host, from what earlier trials of it took."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from analysis.record import is_fleet, read_fleet, trial_place

from ..campaign import Campaign
from ..errors import StoreError
from ..screen import read_progress
from ..trial import expected_seconds, trials_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Seconds of the whole plan and of its longest run; None where they are unknown."""

    total_s: float | None = None
    longest_s: float | None = None


def estimate_of(campaign: Campaign, runs: Path) -> Estimate:
    """Look at the earlier trials of a campaign, those of fleets among them, the newest first.

    Parameters
    ----------
    campaign : Campaign
        What is going to be executed.
    runs : Path
        The folder of trials and fleets.
    """
    longest = [cell.timeout_s for cell in campaign.cells]
    most = max((each for each in longest if each is not None), default=None)
    for trial in _earlier(campaign.name, runs):
        with contextlib.suppress(StoreError):  # 'fairtrial status' tells which cannot be read
            known = read_progress(trial).seconds
            total = expected_seconds(campaign, campaign.protocol.sessions, known)
            if total is not None:
                return Estimate(total_s=total, longest_s=max(known.values()))
    return Estimate(longest_s=None if None in longest else most)


def _earlier(campaign: str, runs: Path) -> Iterator[Path]:
    with contextlib.suppress(StoreError):
        yield from (path for path, _ in trials_in(runs, campaign).found)
    with contextlib.suppress(OSError):
        for folder in sorted(runs.glob(f"{campaign}-*"), reverse=True):
            if not is_fleet(folder):
                continue
            with contextlib.suppress(StoreError):
                fleet = read_fleet(folder)
                yield from (trial_place(folder, host) for host in fleet.hosts)
