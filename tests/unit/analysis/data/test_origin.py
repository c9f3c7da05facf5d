"""One variant twice, and two trials, are said by every comparison.

Authority: first use of the first version, A8 and B: `hpt` and `speedup-test` across two trials gave
no caution, and a variant was "1.000 times as fast" as itself.
"""

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.data.pair import match
from analysis.methods.hpt.compare import hpt
from analysis.methods.hpt.speedup import hpt_speedup
from analysis.methods.resampling.bootstrap import bootstrap_speedup
from analysis.methods.resampling.distribution import compare_distributions
from analysis.methods.resampling.randomization import randomization_test
from analysis.methods.speedup_test.compare import speedup_test_suite
from analysis.plan.runs import plan_runs

BOTH = {"one-variant-twice", "two-trials"}


def rng():
    return np.random.default_rng(1)


COMPARISONS = {
    "hpt": hpt,
    "hpt_speedup": hpt_speedup,
    "speedup_test_suite": lambda a, b: speedup_test_suite(candidate=a, baseline=b),
    "randomization_test": lambda a, b: randomization_test(a, b, resamples=50, rng=rng()),
    "bootstrap_speedup": lambda a, b: bootstrap_speedup(a, b, resamples=50, rng=rng()),
    "plan_runs": lambda a, b: plan_runs(a, b, simulations=100, grid=(3,), rng=rng()),
}


def matrix(name="new", *, factor=1.0, trial=None, benchmarks=("x", "y")):
    runs = factor * np.array([1.0, 1.1, 1.2, 1.3, 1.15, 1.05])
    ids = {bench: [1, 1, 1, 2, 2, 2] for bench in benchmarks}
    return PerformanceMatrix.from_samples(
        name,
        {bench: runs + k for k, bench in enumerate(benchmarks)},
        better="lower",
        sessions=ids,
        blocks={bench: [1, 2, 3, 4, 5, 6] for bench in benchmarks},
        trial=trial,
    )


def codes(result):
    return BOTH & {caution.code for caution in result.cautions}


@pytest.mark.parametrize("compare", COMPARISONS.values(), ids=COMPARISONS)
def test_every_comparison_says_it(compare):
    mine = matrix(trial="/runs/a")
    assert codes(compare(mine, mine)) == {"one-variant-twice"}
    assert codes(compare(mine, matrix("old", factor=1.2, trial="/runs/b"))) == {"two-trials"}
    assert codes(compare(mine, matrix("old", factor=1.2, trial="/runs/a"))) == set()
    assert codes(compare(matrix(), matrix("old", factor=1.2))) == set()


def test_only_a_variant_against_itself_is_one_variant_twice():
    (said,) = match(matrix(), matrix()).cautions
    assert "'new' is compared with itself" in said
    # two variants of one trial may measure the same, such as sizes
    assert not match(matrix(trial="/runs/a"), matrix("old", trial="/runs/a")).cautions
    assert not match(matrix(), matrix(factor=1 + 1e-12)).cautions


def test_ids_of_two_trials_are_kept_apart():
    both = match(matrix(trial="/runs/a"), matrix("old", factor=1.2, trial="/runs/b"))
    for kind in ("sessions", "blocks"):
        ours, theirs = (
            {label for row in getattr(side, kind) for label in row.tolist()}
            for side in (both.candidate, both.baseline)
        )
        assert not ours & theirs
    (said,) = both.cautions
    assert said.about == ("a", "b")
    pooled = [c for c in hpt(both.candidate, both.baseline).cautions if c.code == "sessions-pooled"]
    assert "all 4 sessions" in pooled[0]  # first use: "the runs of all 3 sessions" of two trials
    alike = match(matrix(trial="/r/a/x"), matrix("old", factor=2, trial="/r/b/x")).cautions
    assert alike[0].about == ("/r/a/x", "/r/b/x")


def test_distributions_may_show_one_system_twice_but_say_two_trials():
    mine, other = matrix(trial="/runs/a"), matrix("old", factor=1.2, trial="/runs/b")
    assert codes(compare_distributions((mine, mine), resamples=50, rng=rng())) == set()
    assert codes(compare_distributions((mine, other), resamples=50, rng=rng())) == {"two-trials"}


def test_the_trial_goes_with_a_selection():
    assert matrix(trial="/runs/a").select(["y"]).trial == "/runs/a"


def test_a_long_name_is_said_to_its_fortieth_sign():
    def told(name):
        (said,) = match(matrix(name), matrix(name)).cautions
        return str(said)

    assert f"'{'v' * 40}' is compared" in told("v" * 40)
    assert "v" * 40 not in told("v" * 41)
