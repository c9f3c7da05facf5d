"""The condition of a gate: what fails a build."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal, cast

from ..errors import UsageError

Kind = Literal["slower", "worse", "faster"]
_FORM = re.compile(r"(slower|worse|faster)\s*([<>])\s*([0-9]{1,9}(?:\.[0-9]{1,12})?)\s*%")
_SIGNS = {"slower": ">", "worse": ">", "faster": "<"}


@dataclass(frozen=True, slots=True)
class Condition:
    """A claim that the gate tries to prove and to rule out: the speedup lies below a limit.

    ``slower>N%`` and ``worse>N%`` are one claim, and the metric need be no time: the candidate takes
    more than 1 + N/100 times what the baseline takes, or gives less than the baseline's value
    divided by that. ``faster<N%`` claims less than a wanted gain: the speedup is not as large as
    1 + N/100.
    """

    kind: Kind
    percent: float

    @property
    def text(self) -> str:
        """How the condition is written."""
        return f"{self.kind}{_SIGNS[self.kind]}{self.percent:.12g}%"

    @property
    def log_limit(self) -> float:
        """The logarithm of the limit."""
        factor = math.log1p(self.percent / 100)
        return factor if self.kind == "faster" else -factor

    @property
    def limit(self) -> float:
        """The speedup below which the condition holds: 1/1.02 of ``slower>2%``."""
        factor = 1 + self.percent / 100
        return factor if self.kind == "faster" else 1 / factor


def parse_condition(text: str) -> Condition:
    """Read a condition: ``slower>N%``, ``worse>N%`` or ``faster<N%``; blanks do not matter."""
    found = _FORM.fullmatch(text.strip())
    if found is None or _SIGNS[found[1]] != found[2]:
        raise UsageError(
            "this is no condition of a gate",
            text,
            "write 'slower>2%', 'worse>2%' or 'faster<5%', in quotes: > and < mean files to a shell",
        )
    return Condition(cast("Kind", found[1]), float(found[3]))
