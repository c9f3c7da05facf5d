"""What is read is handed on as values: nobody changes it, or compares it by chance."""

from dataclasses import fields

import numpy as np
import pytest

from analysis.data.columns import FailedRun, MetricColumn
from analysis.data.matrix import PerformanceMatrix
from analysis.data.pair import Match
from analysis.data.trial import Trial

WITH_ARRAYS = (Trial, PerformanceMatrix, Match, MetricColumn)


@pytest.mark.parametrize("kind", [*WITH_ARRAYS, FailedRun])
def test_it_is_frozen_and_has_no_place_for_more(kind: type) -> None:
    assert kind.__dataclass_params__.frozen
    assert "__slots__" in vars(kind)
    assert all(field.kw_only for field in fields(kind))


@pytest.mark.parametrize("kind", WITH_ARRAYS)
def test_what_holds_arrays_is_equal_to_itself_only(kind: type) -> None:
    # arrays have no one answer to ==
    assert kind.__eq__ is object.__eq__


def test_two_columns_are_two() -> None:
    one, two = (MetricColumn(values=np.ones(2), offsets=np.arange(3)) for _ in range(2))
    assert one == one
    assert one != two
