"""The Speedup-Test's figures of a suite: weights, gains, proportions, cautions and the text."""

import math
import warnings

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import AnalysisError, SidesWarning, UsageError
from analysis.methods.speedup_test.compare import speedup_test, speedup_test_suite
from analysis.methods.speedup_test.original import report_text
from analysis.methods.speedup_test.result import SpeedupSuite, proportion
from analysis.pages.as_text import render
from analysis.pages.model import Caution

Rows = dict[str, list[float]]


def matrix(name: str, rows: Rows, **options: object) -> PerformanceMatrix:
    return PerformanceMatrix.from_samples(name, rows, **({"better": "lower"} | options))


def sides(count: int = 6, runs: int = 12, seed: int = 5) -> tuple[Rows, Rows]:
    """Give times: every second benchmark becomes 20 % faster, the others 10 % slower."""
    rng = np.random.default_rng(seed)
    old = {f"b{k}": (rng.normal(10 + k, 0.3, runs)).tolist() for k in range(count)}
    new = {
        name: (np.array(row) * (0.8 if k % 2 == 0 else 1.1)).tolist()
        for k, (name, row) in enumerate(old.items())
    }
    return old, new


def suite(**options: object) -> SpeedupSuite:
    old, new = sides()
    return speedup_test_suite(baseline=matrix("old", old), candidate=matrix("new", new), **options)


def test_gain_and_speedup_over_all_and_over_the_accelerated() -> None:
    old, new = sides()
    done = suite()
    before = np.array([np.mean(row) for row in old.values()])
    after = np.array([np.mean(row) for row in new.values()])
    assert done.gain["mean"] == pytest.approx(1 - after.sum() / before.sum(), rel=1e-12)
    assert done.speedup["mean"] == pytest.approx(before.sum() / after.sum(), rel=1e-12)
    for centre in ("min", "mean", "median"):
        assert done.gain_accelerated[centre] == pytest.approx(0.2, rel=1e-12)
        assert done.speedup_accelerated[centre] == pytest.approx(1.25, rel=1e-12)
    assert (done.proportion_mean.accelerated, done.proportion_mean.total) == (3, 6)


def test_each_centre_has_its_own_accelerated_ones() -> None:
    # a: the shapes differ, so its median cannot be concluded; b: not normal, so its mean cannot.
    rng = np.random.default_rng(3)
    spiky = np.concatenate([rng.normal(10, 0.1, 11), [14.0]])
    old = {"a": rng.normal(10, 1, 25).tolist(), "b": spiky.tolist()}
    new = {"a": [5 + (v - 10) / 50 for v in old["a"]], "b": (spiky - 2).tolist()}
    done = speedup_test_suite(baseline=matrix("old", old), candidate=matrix("new", new))
    assert [row.mean.significant for row in done.benchmarks] == [True, None]
    assert [row.median.significant for row in done.benchmarks] == [None, True]
    assert done.speedup_accelerated["mean"] == pytest.approx(done.benchmarks[0].speedup_mean)
    assert done.speedup_accelerated["median"] == pytest.approx(done.benchmarks[1].speedup_median)
    assert done.speedup_accelerated["min"] == pytest.approx(done.speedup["min"])  # either


def test_no_accelerated_benchmark_gives_no_figures() -> None:
    old, new = sides()
    done = speedup_test_suite(baseline=matrix("old", new), candidate=matrix("old", new))
    assert done.gain == {"min": 0.0, "mean": 0.0, "median": 0.0}
    assert set(done.gain_accelerated.values()) == {None}
    assert set(done.speedup_accelerated.values()) == {None}
    assert done.proportion_mean.needed_benchmarks is None
    assert done.proportion_mean.low == 0.0
    assert "-" in str(done)
    del old


def test_weights() -> None:
    old, new = sides(2)
    both = {"baseline": matrix("old", old), "candidate": matrix("new", new)}
    equal, fraction, custom = (
        speedup_test_suite(**both, weights=weights)
        for weights in ("equal", "fraction", {"b0": 3, "b1": 1.0})
    )
    assert equal.coefficients["mean"] == {"b0": 1.0, "b1": 1.0}
    assert equal.weights["min"] == {"b0": 0.5, "b1": 0.5}
    assert custom.weighting == "custom"
    assert custom.coefficients["median"] == {"b0": 3.0, "b1": 1.0}
    assert custom.weights["median"] == {"b0": 0.75, "b1": 0.25}
    before, after = ([np.median(row) for row in rows.values()] for rows in (old, new))
    assert custom.gain["median"] == pytest.approx(
        1 - (3 * after[0] + after[1]) / (3 * before[0] + before[1]), rel=1e-12
    )
    assert sum(fraction.weights["min"].values()) == pytest.approx(1, rel=1e-15)
    assert fraction.weights["median"]["b0"] == pytest.approx(before[0] / sum(before), rel=1e-12)
    assert fraction.speedup["median"] == pytest.approx(
        sum(b * b for b in before) / sum(a * b for a, b in zip(after, before, strict=True)),
        rel=1e-12,
    )
    assert any("squares" in text for text in fraction.cautions)
    # a common factor of the coefficients is nothing
    scaled = speedup_test_suite(**both, weights={"b0": 300, "b1": 100})
    assert scaled.gain == pytest.approx(custom.gain, rel=1e-12)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ("time", "'equal', 'fraction'"),
        ({"b0": 1.0}, "no weight for 'b1'"),
        ({f"b{k}": 1.0 for k in range(7)}, "no benchmark 'b6'"),
        ({f"b{k}": 0.0 for k in range(6)}, "weight of 'b0'"),
        ({f"b{k}": math.inf for k in range(6)}, "weight of 'b0'"),
    ],
)
def test_wrong_weights_are_refused(weights: object, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        suite(weights=weights)


def test_a_level_for_each_benchmark() -> None:
    levels = {f"b{k}": 0.9 for k in range(6)} | {"b0": None, "b1": 0.99}
    done = suite(confidence=levels)
    assert [row.required for row in done.benchmarks] == [None, 0.99, 0.9, 0.9, 0.9, 0.9]
    assert done.benchmarks[0].mean.searched
    assert done.proportion_mean.confidence == 0.95
    assert suite(confidence=0.8).proportion_mean.confidence == 0.8
    assert suite(confidence=None).proportion_mean.confidence == 0.95
    assert suite(confidence=levels, proportion_confidence=0.5).proportion_mean.confidence == 0.5
    with pytest.raises(UsageError, match="no confidence for 'b5'"):
        suite(confidence={f"b{k}": 0.9 for k in range(5)})
    with pytest.raises(UsageError, match="between 0 and 1"):
        suite(confidence=dict.fromkeys(levels, 2.0))


def test_ragged_suites_keep_their_order() -> None:
    rng = np.random.default_rng(9)
    old = {f"b{k}": rng.normal(5, 0.2, 3 + 7 * (k % 3)).tolist() for k in range(9)}
    new = {f"b{k}": rng.normal(4.9, 0.2, 35 if k % 2 else 4).tolist() for k in range(9)}
    done = speedup_test_suite(
        baseline=matrix("old", old), candidate=matrix("new", new), confidence=None
    )
    assert [row.name for row in done.benchmarks] == list(old)
    for row in done.benchmarks:
        alone = speedup_test(old[row.name], new[row.name], confidence=None)
        assert (row.mean, row.median) == (alone.mean, alone.median)
        assert (row.runs_baseline, row.runs_candidate) == (len(old[row.name]), len(new[row.name]))


def test_rates_are_judged_by_their_reciprocals() -> None:
    old, new = sides()
    before, after = [
        matrix(
            name, {b: [1 / v for v in row] for b, row in rows.items()}, better="higher", unit="1/s"
        )
        for name, rows in (("old", old), ("new", new))
    ]
    by_rate, by_time = speedup_test_suite(baseline=before, candidate=after), suite()
    for ours, theirs in zip(by_rate.benchmarks, by_time.benchmarks, strict=True):
        assert ours.speedup_mean == pytest.approx(theirs.speedup_mean, rel=1e-12)
        assert ours.mean.significant == theirs.mean.significant
    assert "reciprocals" in by_rate.cautions[0]
    with pytest.raises(AnalysisError, match="differ"):
        speedup_test_suite(baseline=before, candidate=matrix("new", new))


def test_cautions_of_a_suite() -> None:
    old, new = sides()
    new["only here"] = [1.0, 2.0]
    ids = {name: ["s1"] * len(row) for name, row in old.items()}
    ours = {name: ["s1"] * len(row) for name, row in new.items()}
    done = speedup_test_suite(
        baseline=matrix(
            "old", old, sessions=ids, cautions=[Caution("noted", "a warm-up was counted")]
        ),
        candidate=matrix("new", new, sessions=ours),
    )
    text = "\n".join(map(str, done.cautions))
    assert "only here" in done.cautions[0]
    for words in ("a warm-up was counted", "one session", "31 to 47 %", "leave the slowdowns out"):
        assert words in text
    assert "searched" not in text
    assert "47 to 50 %" in " ".join(map(str, suite(confidence=None).cautions))
    assert "all runs stem from one session" not in "\n".join(map(str, suite().cautions))


def test_what_cannot_be_concluded_is_counted() -> None:
    rng = np.random.default_rng(8)
    spiky = [*rng.normal(10, 0.1, 11).tolist(), 14.0]
    old = {"few": [10.0, 10.1], "spiky": spiky, "fine": rng.normal(10, 1, 12).tolist()}
    large = {"skewed": (9 + rng.exponential(1, 60)).tolist()}
    new = {"skewed": rng.normal(10, 0.1, 60).tolist()}
    done = speedup_test_suite(
        baseline=matrix("old", old | large), candidate=matrix("new", old | new)
    )
    (stopped,) = [one for one in done.cautions if one.code == "mean-not-concluded"]
    assert stopped.about == ("few", "spiky")
    assert str(stopped) == (
        "a check did not hold, so that nothing can be concluded about the mean of 2 of 4 "
        "benchmarks: few, spiky"
    )
    text = "\n".join(map(str, done.cautions))
    assert "about the median" not in text
    for word, why in (("mean", "do not look normal"), ("median", "differ by more than a shift")):
        assert (
            f"the confidence for the {word} is approximate on 1 of 4 benchmarks, because their "
            f"large samples {why}: skewed"
        ) in text


def test_the_text() -> None:
    text = " ".join(str(suite()).split())
    assert "385 benchmarks would give ± 0.05" in text
    assert "only if these 6 were chosen" in text
    assert "overall, by median" in render(suite().screen(), width=96)  # 80 columns fold its cell
    long = {"a-very-long-benchmark-name-" * 3: [1.0] * 500, "b": [1.0, 1.5, 2.0]}
    for confidence in (0.95, None, dict.fromkeys(long, 0.9) | {"b": None}):
        wide = speedup_test_suite(
            baseline=matrix("old" * 40, long),
            candidate=matrix("new" * 40, long),
            confidence=confidence,
        )
        lines = [line for line in str(wide).splitlines() if line.strip() not in long]
        assert max(map(len, lines)) <= 80  # a caution names a benchmark in full
    assert "each at the best level" in str(suite(confidence=None))


def test_the_text_of_one_benchmark_and_of_odd_gains() -> None:
    one = matrix("old", {"a": [1.0, 1.2, 1.1]})
    assert "only if this one was chosen at random" in " ".join(str(suite_of(one, one)).split())
    assert "invalid if b the experimented set" in report_text("one", suite_of(one, one))
    slower = matrix("new", {"a": [1.0, 1.2, 1.100001]})
    assert "-0.00 %" not in str(suite_of(one, slower))
    awful = suite_of(one, matrix("new", {"a": [1e8, 1e8 + 1, 1e8]}))
    assert "-1.000e+10 %" in str(awful)


def test_the_title_of_a_page_names_the_benchmark_if_it_has_a_name() -> None:
    one = matrix("old", {"a": [1.0, 1.2, 1.1]})
    assert suite_of(one, one).benchmarks[0].screen().title == "Speedup-Test: a"
    assert speedup_test([1.0, 1.2, 1.1], [1.0, 1.2, 1.1]).screen().title == "Speedup-Test"


def suite_of(old: PerformanceMatrix, new: PerformanceMatrix, **options: object) -> SpeedupSuite:
    return speedup_test_suite(baseline=old, candidate=new, **options)


def test_large_and_small_units_of_a_suite() -> None:
    old, new = sides()
    usual = suite(weights="fraction")
    for unit in (2.0**1019, 2.0**-1000):
        scaled = [
            matrix(name, {b: [v * unit for v in row] for b, row in rows.items()})
            for name, rows in (("old", old), ("new", new))
        ]
        done = suite_of(*scaled, weights="fraction")
        assert (done.gain, done.speedup) == (usual.gain, usual.speedup)
        assert done.coefficients == usual.coefficients
    heavy = suite(weights={name: 1e308 for name in old})
    assert heavy.gain == pytest.approx(suite().gain, rel=1e-12)


def test_what_no_number_can_hold_is_refused() -> None:
    one, tiny = [1.0, 1.1, 1.2], [1e-308, 1.1e-308, 1.2e-308]
    with pytest.raises(AnalysisError, match="b: its times lie too far apart"):
        suite_of(matrix("old", {"a": one, "b": [1e308]}), matrix("new", {"a": one, "b": tiny}))
    rates = matrix("old", {"a": [1e-310]}, better="higher")
    with pytest.raises(AnalysisError, match="a: 1e-310 is too small a rate"):
        suite_of(rates, rates)
    both = {"a": [v * 1e307 for v in (4.0, 4.1, 4.2)], "b": tiny}
    faster = both | {"a": [v * 1e307 for v in (1.0, 1.1, 1.2)]}
    with pytest.raises(AnalysisError, match="times and weights"):
        suite_of(matrix("o", both), matrix("n", faster), weights={"a": 1e-308, "b": 1e308})


def test_proportions_at_their_ends() -> None:
    for a, b in ((0, 5), (5, 5), (1, 1), (0, 1)):
        done = proportion(a, b)
        assert done.needed_benchmarks is None
        assert not done.accurate
        assert 0 <= done.low <= done.low_plain <= done.share <= done.high_plain <= done.high <= 1
    # Yates' correction is min(1/2, |a - b/2|): nothing at one half
    half = proportion(5, 10)
    assert (half.low, half.high) == (half.low_plain, half.high_plain)
    # a - a^2 / b must be above 5, not 5: 10 of 20 gives exactly 5
    assert not proportion(10, 20).accurate
    assert proportion(11, 22).accurate


@pytest.mark.parametrize(
    "wrong",
    [
        {"accelerated": 3, "total": 2},
        {"accelerated": -1, "total": 2},
        {"accelerated": 0, "total": 0},
        {"accelerated": 1, "total": 2, "confidence": 1.0},
        {"accelerated": 1, "total": 2, "precision": 0.0},
    ],
)
def test_impossible_proportions_are_refused(wrong: dict) -> None:
    with pytest.raises(UsageError):
        proportion(wrong.pop("accelerated"), wrong.pop("total"), **wrong)


def test_slowdowns_of_a_suite_are_counted() -> None:
    old, _ = sides()
    new = {name: [0.8 * value for value in row] for name, row in old.items()}
    slow = speedup_test_suite(baseline=matrix("new", new), candidate=matrix("old", old))
    fast = speedup_test_suite(baseline=matrix("old", old), candidate=matrix("new", new))
    assert slow.slower["median"] == fast.proportion_median.accelerated > 0
    assert slow.proportion_median.accelerated == fast.slower["median"] == 0
    said = " ".join(str(slow).split())
    assert f"slower with the sides swapped on {slow.slower['mean']} by the mean" in said
    assert "two-directions" in {caution.code for caution in slow.cautions}
    assert "swapped" not in str(fast)
    assert "two-directions" not in {caution.code for caution in fast.cautions}
    assert slow.to_dict()["slower"] == slow.slower


def test_sides_by_their_places_are_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # first use: every other method takes the candidate first
    monkeypatch.setattr("analysis.methods.speedup_test.compare._warned", [])
    old, new = sides()
    pair = matrix("old", old), matrix("new", new)
    with pytest.warns(SidesWarning, match=r"write speedup_test_suite\(baseline=old, candidate=new"):
        placed = speedup_test_suite(*pair)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        speedup_test_suite(*pair)  # said already
        named = speedup_test_suite(candidate=pair[1], baseline=pair[0])
    assert placed.to_dict() == named.to_dict()
