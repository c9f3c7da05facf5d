"""What a reader should know of the design before trusting what varies with what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...data import Trial, settings_of
from ...report import Caution
from .runs import Runs

__all__ = ["design_cautions"]

_FEW_SESSIONS = 5  # below, a variance between them is known roughly at best


def design_cautions(trials: Sequence[Trial], runs: Runs) -> Iterator[Caution]:
    """Say what the trials cannot show, whatever their runs look like."""
    sessions = int(np.unique(runs.session).size)
    if sessions == 1:
        yield Caution(
            "one-session",
            "all runs are of one session: what differs between sessions cannot be seen",
        )
    elif sessions < _FEW_SESSIONS:
        yield Caution(
            "few-sessions",
            f"from {sessions} sessions, the part of the variance between them is known roughly at best",
        )
    if any(_layout_hidden(trial) for trial in trials):
        yield Caution(
            "layout-not-recorded",
            "the kernel chose the memory layout anew for each run (aslr: on) and it is not recorded: "
            "nothing is said of it, and padding does not tell it",
        )
    if any(trial.manifest.origin == "imported" for trial in trials):
        yield Caution(
            "order-of-file",
            "the runs of another tool are taken in the order of its file; nothing is known to have "
            "been randomized",
        )
    if any(trial.manifest.sequential for trial in trials):
        yield Caution(
            "sequential", "the number of runs depends on the values: a stopping rule ended sessions"
        )


def _layout_hidden(trial: Trial) -> bool:
    """Tell whether addresses were random: ``aslr`` is on unless the campaign says otherwise."""
    if trial.manifest.origin == "imported":
        return False
    isolation = settings_of(trial.path).get("isolation")
    return not (isinstance(isolation, dict) and isolation.get("aslr") in (False, "off"))
