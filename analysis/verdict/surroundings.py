"""What else is known of a trial: how its runs look, and whether the method was tried on this machine.

The one place where a verdict looks beyond the runs that it compares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..data import Trial
from ..report import Caution, Result

__all__ = ["Surroundings", "surroundings_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Surroundings:
    """What stands beside the answer; `cautions` name the benchmarks and variants they touch."""

    diagnosis: Result | None = None
    certificate: dict[str, Any] | None = None
    cautions: tuple[Caution, ...] = ()


def surroundings_of(trial: Trial, metric: str) -> Surroundings:
    """Look at the trial's findings and at the certificates beside it.

    Parameters
    ----------
    trial : Trial
        The trial that is judged; nothing is written into it.
    metric : str
        What is judged.
    """
    del trial, metric  # neither is read yet: unknown, and said to be
    return Surroundings()
