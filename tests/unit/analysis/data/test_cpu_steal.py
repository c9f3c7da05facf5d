"""What each CPU lost in each run, from rows to columns.

Authority: docs/trial-format.md: a CPU that lost nothing is not there, null and an absent key are unknown.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from analysis.data.columns import MOST_CPUS, CpuSteal
from analysis.data.fleet import _numbers
from analysis.data.trial import read_trial
from analysis.errors import StoreError


def of(*given):
    steal = CpuSteal()
    for one in given:
        steal.add({} if one == "absent" else {"cpu_steal_s": one})
    return steal.columns()


def test_zero_unknown_and_lost_are_told_apart():
    found = of({}, {"1": 0.02}, None, {"1": 0.01, "12": 0.5}, "absent")
    assert found.keys() == {"cpu_steal_s.1", "cpu_steal_s.12"}
    assert np.array_equal(found["cpu_steal_s.1"], [0, 0.02, np.nan, 0.01, np.nan], equal_nan=True)
    assert np.array_equal(found["cpu_steal_s.12"], [0, 0, np.nan, 0.5, np.nan], equal_nan=True)


def test_where_no_cpu_lost_anything_there_is_no_column():
    assert of({}, {}, None) == {}
    assert of() == {}


def test_of_hundreds_of_cpus_those_that_lost_most_are_kept():
    lost = {str(cpu): 0.01 * cpu for cpu in range(1, 257)}
    found = of(lost, {})
    assert list(found) == [f"cpu_steal_s.{cpu}" for cpu in range(257 - MOST_CPUS, 257)]


@dataclass
class Host:
    """A trial of one run, as far as its numbers are asked for."""

    numbers: dict[str, np.ndarray]

    def __len__(self) -> int:
        return 1


def test_a_cpu_that_one_host_alone_names_is_unknown_on_the_others():
    """CPU 1 of one host has nothing to do with CPU 1 of another that lost nothing."""
    one = Host({"steal_s": np.array([0.5]), "cpu_steal_s.1": np.array([0.5])})
    other = Host({"steal_s": np.array([0.5])})
    found = _numbers([one, other])
    assert np.array_equal(found["steal_s"], [0.5, 0.5])
    assert np.array_equal(found["cpu_steal_s.1"], [0.5, np.nan], equal_nan=True)


@pytest.mark.parametrize("bad", [{"1": "x"}, {"a": 0.1}, {"1": None}, {"1": True, "-1": 0.5}])
def test_another_shape_is_an_error_with_its_line(synthetic, tmp_path, bad):
    built = synthetic({"a": {"x": [1.0, 2.0]}})
    built.rows[1] = replace(built.rows[1], cpu_steal_s={"0": 0.1})
    good = read_trial(built.write(tmp_path / "good"))
    assert np.array_equal(good.numbers["cpu_steal_s.0"], [np.nan, 0.1], equal_nan=True)
    built.rows[1] = replace(built.rows[1], cpu_steal_s=bad)
    with pytest.raises(StoreError, match=r"measurements\.jsonl:2.*not one of schema"):
        read_trial(built.write(tmp_path / "bad"))
