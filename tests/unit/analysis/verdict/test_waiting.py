"""What a verdict and a diagnosis say of runs that waited for a CPU.

The authority is the definition in docs/concepts.md, counted here by hand, and Fisher's exact test as R
gives it (15 of 48 against 3 of 48: p = 0.0034).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.diagnose.examine import diagnose_trial
from analysis.verdict.cautions import waiting_cautions
from analysis.verdict.judging import judge
from tests.planted import filled, frame

TESTS = Path(__file__).resolve().parents[3]
REPEATS = TESTS / "golden" / "schemas" / "2" / "trial"


@pytest.fixture
def planted():
    """Give a trial of two variants, 48 runs each, of which so many were disturbed."""

    def make(*disturbed, unknown=0, **about):
        rng = np.random.default_rng(20261122)
        empty = frame(rng, sessions=6, runs=8, variants=2)
        trial = filled(empty, 0.01 * rng.standard_normal(len(empty)) - 4)
        flags = np.zeros(len(trial), dtype=np.int64)
        for variant, count in enumerate(disturbed):
            flags[np.flatnonzero(trial.variant == variant)[:count]] = 1
        flags[np.flatnonzero(trial.variant == 1)[-unknown:] if unknown else []] = -1
        none = np.full(len(trial), -1)
        judged = np.ones(len(trial), dtype=np.bool_)
        changes = {"repeats": none, "disturbed": flags, "chosen": judged, **about}
        return replace(trial, **changes)

    return make


def told(trial, metric="wall"):
    cautions = waiting_cautions(trial, trial.manifest.variants, metric)
    return {one.code: one.text for one in cautions}


def test_disturbed_runs_are_counted_by_variant(planted):
    assert told(planted(2, 3)) == {
        "waited-for-cpu": "5 of 96 runs waited for a CPU and are judged like the others: v1 3 of 48, "
        "v0 2 of 48"
    }


def test_what_is_unknown_is_said_as_unknown(planted):
    text = told(planted(2, 0, unknown=10))["waited-for-cpu"]
    assert text.endswith("v0 2 of 48, v1 0 of 38; of 10 more it is not known")


def test_a_variant_of_which_nothing_is_known_is_not_counted(planted):
    text = told(planted(2, 0, unknown=48))["waited-for-cpu"]
    assert text.endswith("like the others: v0 2 of 48; of 48 more it is not known")


def test_nothing_is_said_of_a_quiet_trial_nor_of_one_that_does_not_know(planted):
    assert told(planted(0, 0)) == {}
    trial = planted(0, 0)
    assert told(replace(trial, disturbed=trial.repeats)) == {}


def test_variants_that_waited_unequally_are_named(planted):
    found = told(planted(3, 15))
    assert found["waited-unequally"].startswith(
        "15 of 48 judged runs of v1 waited for a CPU, and 3 of 48 of v0"
    )
    assert "waited-unequally" not in told(planted(3, 6))  # p = 0.49


def test_the_verdict_says_it_once(planted):
    verdict = judge(planted(3, 15))
    codes = [one.code for one in verdict.cautions]
    assert codes.count("waited-for-cpu") == codes.count("waited-unequally") == 1


def test_runs_that_left_processes_are_counted_by_variant(planted):
    trial = planted(0, 0)
    left = np.where((trial.variant == 1) & (np.arange(len(trial)) % 2 == 0), 2.0, 0.0)
    cautions = judge(replace(trial, numbers={**trial.numbers, "orphans": left})).cautions
    (found,) = (one for one in cautions if one.code == "processes-left")
    assert found.text.startswith(f"{np.count_nonzero(left)} runs ended and left processes running")
    assert found.short.on({"v0"}) is None
    assert all(one.code != "processes-left" for one in judge(trial).cautions)


def test_it_is_said_of_what_waiting_goes_into(planted):
    trial = planted(3, 15)
    printed = {"unit": "s", "better": "lower"}
    counted = {"unit": "1", "better": "lower", "source": "counters"}
    metrics = {"latency": printed, "page-faults": counted, "energy_package_j": printed}
    trial = replace(trial, manifest=replace(trial.manifest, metrics=metrics))
    for metric in ("wall", "latency", "energy_package_j"):
        assert told(trial, metric).keys() == {"waited-for-cpu", "waited-unequally"}
    for metric in ("user", "max_rss", "peak_memory_tree", "tree_cpu", "page-faults"):
        assert told(trial, metric) == {}
    # a program's own metric of a name that a later version measures
    own = replace(trial, manifest=replace(trial.manifest, metrics={"tree_cpu": printed}))
    assert told(own, "tree_cpu")


def test_a_trial_with_repeats_says_what_they_came_to():
    trial = read_trial(REPEATS)
    rows = trial.disturbed == 1
    planned = rows & (trial.repeats < 0) & ~trial.warmup
    assert told(trial)["waited-for-cpu"] == (
        f"{planned.sum()} of 40 runs waited for a CPU (gzip-1 7 of 20, gzip-6 6 of 20), "
        f"after 20 repeats still {(rows & trial.candidates).sum()}"
    )


def test_the_diagnosis_counts_them_in_their_cells_with_the_share_of_their_time():
    trial = read_trial(REPEATS)
    found = [one for one in diagnose_trial(trial).findings if one.code == "waited-for-cpu"]
    assert [(one.benchmark, one.variant, one.size) for one in found] == [
        ("text", "gzip-6", 3.0),
        ("text", "gzip-1", 4.0),
        ("logs", "gzip-6", 3.0),
        ("logs", "gzip-1", 3.0),
    ]
    mine = ~trial.warmup & (trial.benchmark == 0) & (trial.variant == 0)
    share = trial.waited_ns[mine].sum() / trial.numbers["wall_ns"][mine].sum()
    assert found[0].text == (
        "3 of 10 runs waited for a CPU, after 5 repeats still 1; "
        f"waiting was {100 * share:.2g} % of the time of all runs"
    )
    late = {"launcher_on_cpu_ns": trial.numbers["launcher_on_cpu_ns"] + 10**9}
    below = diagnose_trial(replace(trial, numbers={**trial.numbers, **late})).findings
    assert "3 of 10 runs waited for a CPU, after 5 repeats still 1" in {x.text for x in below}


def test_the_diagnosis_says_nothing_where_it_is_not_known(planted):
    trial = planted(0, 0)
    found = diagnose_trial(replace(trial, disturbed=trial.repeats))
    assert "waited-for-cpu" not in {one.code for one in found.findings}
