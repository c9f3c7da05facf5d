"""How much room on the disk a trial may need."""

from __future__ import annotations

from ..campaign import Campaign

_ROW_BYTES = 1200  # a row of measurements and one of the plan, generously
_MARGIN_BYTES = 16 * 1024 * 1024


def room_needed(campaign: Campaign, sessions: int, *, kept_bytes: int = 0) -> int:
    """Give the bytes that a trial may need: its rows, and what is kept of runs should all of them fail.

    Parameters
    ----------
    campaign : Campaign
        What is going to be executed.
    sessions : int
        How many sessions are planned.
    kept_bytes : int, optional
        What is kept already of the runs of a trial that is gone on with.
    """
    rows = len(campaign.cells) * campaign.protocol.passes_at_most(sessions)
    kept = max(0, _kept_at_most(campaign, sessions) - kept_bytes)
    return rows * _ROW_BYTES + _MARGIN_BYTES + kept


def _kept_at_most(campaign: Campaign, sessions: int) -> int:
    """Give the most bytes that may be kept of what the planned runs write."""
    sinks = sum(sink != "discard" for cell in campaign.cells for sink in (cell.stdout, cell.stderr))
    runs = campaign.protocol.passes_at_most(sessions)
    isolation = campaign.isolation
    return min(isolation.kept_outputs_bytes, runs * sinks * isolation.output_limit_bytes)
