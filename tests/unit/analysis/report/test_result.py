"""What all results inherit."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.report import Caution, Result, plain


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn(Result):
    method: ClassVar[str] = "drawn"
    values: NDArray[np.float64]


def test_results_of_arrays_are_not_equal_because_their_cautions_are():
    said = (Caution("noted", "so"),)
    one, other = (Drawn(values=np.array([value]), cautions=said) for value in (1.0, 2.0))
    assert one != other
    assert len({one, other}) == 2


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, np.float64("inf")])
def test_what_json_has_no_number_for_is_null(number):
    assert plain((number, 1.5)) == [None, 1.5]
    result = Drawn(values=np.array([number, 2.0]))
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["values"] == [None, 2.0]
