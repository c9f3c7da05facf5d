"""What a mixture report is asked to do, checked before anything is computed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from ....errors import UsageError
from ..counts import MOST_COMPONENTS, MOST_STARTS

__all__ = ["MixtureOptions"]

_MOST_RESAMPLES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MixtureOptions:
    """How samples are fitted, tested and compared.

    Attributes
    ----------
    max_components, starts, resolution, scale
        As in `fit_mixture`. `resolution` also is the tick of the jitter.
    resamples : int
        Of the fit test, and refits of halves behind evidence and intervals; 0 leaves them all out.
    jitter : bool
        Whether the fit test spreads ties over the clock's tick.
    below : tuple of float
        The values a for which P[X < a] is wanted, in the unit of the values.
    quantiles : tuple of float
        The levels of the wanted quantiles, each between 0 and 1, both excluded.
    shift : float
        A run X beats a run Y when X < Y + shift; in the unit of the values. Where higher is better,
        when X > Y - shift.
    confidence : float
        Of the intervals.
    workers : int or None
        Threads of the fit test; None takes the cores that the process may use.

    Raises
    ------
    UsageError
        If a number is out of its range.
    """

    max_components: int = 9
    starts: int = 1
    resolution: float | None = None
    scale: Literal["linear", "log"] = "linear"
    resamples: int = 500
    jitter: bool = False
    below: tuple[float, ...] = ()
    quantiles: tuple[float, ...] = ()
    shift: float = 0.0
    confidence: float = 0.95
    workers: int | None = None

    def __post_init__(self) -> None:
        _whole("max-components", self.max_components, 1, MOST_COMPONENTS)
        _whole("starts", self.starts, 1, MOST_STARTS)
        _whole("resamples", self.resamples, 0, _MOST_RESAMPLES)
        if self.workers is not None:
            _whole("workers", self.workers, 1, 1024)
        if self.scale not in ("linear", "log"):
            raise UsageError(f"the scale is linear or log, not {self.scale!r}")
        if self.resolution is not None and not (
            math.isfinite(self.resolution) and self.resolution > 0
        ):
            raise UsageError(f"the resolution must be a positive number, not {self.resolution!r}")
        if not 0 < self.confidence < 1:
            raise UsageError(
                f"the confidence must lie between 0 and 1, and is {self.confidence}",
                fix="0.95 is usual",
            )
        if not math.isfinite(self.shift):
            raise UsageError(f"the shift must be a finite number, and is {self.shift}")
        for level in self.quantiles:
            if not 0 < level < 1:
                raise UsageError(
                    f"a quantile's level must lie between 0 and 1, and is {level}",
                    fix="0.9 asks for the value that 90 % of the runs stay below",
                )
        for limit in self.below:
            if not math.isfinite(limit):
                raise UsageError(f"the value for P[X < a] must be finite, and is {limit}")

    def to_dict(self) -> dict[str, Any]:
        """Give the options that shape the numbers as JSON types; the number of threads does not."""
        data = {name: getattr(self, name) for name in self.__slots__ if name != "workers"}
        return {key: list(v) if isinstance(v, tuple) else v for key, v in data.items()}


def _whole(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise UsageError(f"{name} must lie between {least} and {most:,}, and is {value}")
