"""What all results inherit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from analysis.report import Caution, Result


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn(Result):
    method: ClassVar[str] = "drawn"
    values: NDArray[np.float64]


def test_results_of_arrays_are_not_equal_because_their_cautions_are():
    said = (Caution("noted", "so"),)
    one, other = (Drawn(values=np.array([value]), cautions=said) for value in (1.0, 2.0))
    assert one != other
    assert len({one, other}) == 2
