"""Fleets as nights: the mean over hosts of the mean over sessions; the same hosts every night."""

import math

import pytest

from analysis.data.trial import read_trial
from analysis.history.judging import host_changes
from analysis.history.nights import read_nights
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.hosts import over_hosts


def test_the_value_of_a_fleet_is_the_verdicts_over_hosts(fleet_night, tmp_path):
    # authority: the estimate of `over_hosts`, the verdict on a fleet
    folders = [fleet_night(k, {"n1": 1.0, "n2": 1.1 + k / 10, "n3": 0.9}) for k in (1, 2)]
    found = read_nights([tmp_path / "runs"])
    for k, folder in enumerate(folders):
        results = {}
        for host in ("n1", "n2", "n3"):
            trial = read_trial(folder / host)
            results[host] = multilevel(trial.matrix("tip"), trial.matrix("v1"))
        whole = over_hosts(results)
        for line in whole.benchmarks:
            (series,) = [s for s in found.series if s.benchmark == line.name]
            assert series.logs[k] == pytest.approx(-math.log(line.speedup), abs=1e-12)
            assert series.values[k].sessions == 6
    assert found.hosts == ("n1", "n2", "n3")
    assert found.series[0].values[0].trial == "fleet-01"
    # a program that is not one on all hosts is unknown; here it is
    assert found.series[0].values[0].program_sha256 == f"{1:064}"


def test_other_hosts_end_a_series(fleet_night, tmp_path):
    fleet_night(1, {"n1": 1.0, "n2": 1.0})
    fleet_night(2, {"n2": 1.0, "n1": 1.0})  # in another order they are the same
    fleet_night(3, {"n1": 1.0, "n3": 1.0})
    old, new = [s for s in read_nights([tmp_path / "runs"]).series if s.benchmark == "x"]
    assert (old.ends, old.changed) == ("hosts", "the fleet's hosts are n1, n3; they were n1, n2")
    assert (len(old.values), len(new.values)) == (2, 1)


def test_a_fleet_that_lacks_a_host_is_left_out_and_ends_nothing(fleet_night, tmp_path):
    fleet_night(1, {"n1": 1.0, "n2": 1.0})
    fleet_night(2, {"n1": 1.0, "n2": None})
    fleet_night(3, {"n1": 1.0, "n2": 1.0})
    found = read_nights([tmp_path / "runs"])
    assert [s.ends for s in found.series] == [None, None]
    ((name, why),) = found.left_out
    assert (name, why.startswith("its host n2 has no value: ")) == ("fleet-02", True)


def test_changes_of_the_hosts_of_a_fleet_name_them(fleet_night, night, tmp_path):
    fleet_night(1, {"n1": 1.0, "n2": 1.0})
    fleet_night(2, {"n1": 1.0, "n2": 1.0}, environment={"kernel": {"release": "7"}})
    first, second = read_nights([tmp_path / "runs"]).series[0].values
    assert [change.what for change in host_changes(first, second)] == [
        "on n1: kernel.release changed from 6.1 to 7",
        "on n2: kernel.release changed from 6.1 to 7",
    ]
    # the same again is no change
    assert host_changes(first, first) == ()


def test_a_baseline_is_held_on_each_host(fleet_night, tmp_path):
    fleet_night(1, {"n1": 1.0, "n2": 1.0})
    fleet_night(2, {"n1": 1.0, "n2": 1.0}, programs={"v1": "2" * 64})
    old, _ = [s for s in read_nights([tmp_path / "runs"]).series if s.benchmark == "x"]
    assert old.ends == "baseline"
    assert "on n1, n2" in old.changed
