"""How a run failed, in words."""

from __future__ import annotations

from signal import Signals
from typing import TYPE_CHECKING

from ..pages import number_format as figures
from ..words import shown

if TYPE_CHECKING:
    from ..data.columns import FailedRun

__all__ = ["brief_outcome", "outcome_words"]

_WORDS = {
    "hook-failed": "its hook failed",
    "service-failed": "its service failed",
    "timeout": "killed by its timeout",
    "output-limit": "wrote too much",
    "output-mismatch": "wrote another output than expected",
    "unparsable": "a metric could not be read from its output",
}


def brief_outcome(run: FailedRun) -> str:
    """Say in a word or two how a run failed: ``SIGSEGV``, ``exit 3``, ``timeout``."""
    if run.outcome == "signal":
        return _signal(run.signal)
    if run.outcome == "exit":
        return "exit ?" if run.exit_code is None else f"exit {run.exit_code}"
    return shown(run.outcome.replace("-", " "))


def outcome_words(run: FailedRun, wall_s: float | None) -> str:
    """Say how a run failed and after what time: ``ended by SIGSEGV after 8.5 ms``.

    Parameters
    ----------
    run : FailedRun
        The run.
    wall_s : float or None
        How long it took, in seconds; None if that is not known.
    """
    if run.outcome == "signal":
        said = f"ended by {_signal(run.signal)}"
    elif run.outcome == "exit":
        code = "unknown" if run.exit_code is None else f"{run.exit_code}"
        said = f"exit code {code}"
    else:
        said = _WORDS.get(run.outcome, shown(run.outcome))
    return said if wall_s is None else f"{said} after {figures.quantity(wall_s, 's')}"


def _signal(number: int | None) -> str:
    if number is None:
        return "a signal"
    try:
        return Signals(number).name
    except ValueError:  # such as a real-time signal
        return f"signal {number}"
