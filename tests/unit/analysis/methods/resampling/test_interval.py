"""The bootstrap interval: its arguments, its edges, its streams, and what it tells its reader."""

import dataclasses
import json
import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, example, given, settings, strategies as st

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.methods.resampling.assignments import ask, known_coverage
from analysis.methods.resampling.bootstrap import bootstrap_speedup
from analysis.methods.resampling.draws import compare, draw, standard_error
from analysis.methods.resampling.kernel import resampled_means, resampled_spreads
from tests.examples import examples

KINDS = ("percentile", "corrected", "bca", "studentized")


def matrix(name: str, rows: dict, better: str = "lower", **ids: object) -> PerformanceMatrix:
    return PerformanceMatrix.from_samples(name, rows, better=better, **ids)


def suite(
    seed: int = 1, n: int = 4, m: int = 6, ratio: float = 1.3, **ids: object
) -> tuple[PerformanceMatrix, PerformanceMatrix]:
    rng = np.random.default_rng(seed)
    names = [f"bench{i}" for i in range(n)]
    known = {kind: dict.fromkeys(names, values) for kind, values in ids.items()}
    return tuple(
        matrix(
            name, dict(zip(names, factor * rng.lognormal(0, 0.05, (n, m)), strict=True)), **known
        )
        for name, factor in (("new", 1.0), ("old", ratio))
    )


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sides", ["two", "lower", "upper"])
def test_open_ends(kind: str, sides: str) -> None:
    found = bootstrap_speedup(*suite(), interval=kind, sides=sides, resamples=500, rng=rng())
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (found.high == math.inf) == (sides == "lower") == (data["high"] is None)
    assert (found.low == 0) == (sides == "upper") == (data["low"] is None)
    two = bootstrap_speedup(
        *suite(), interval=kind, confidence=0.9, resamples=500, rng=rng()
    )  # its ends are the bounds at 0.95
    if sides == "lower":
        assert found.low == pytest.approx(two.low, rel=1e-12)
    if sides == "upper":
        assert found.high == pytest.approx(two.high, rel=1e-12)


def test_to_dict_holds_a_summary_of_the_replicates() -> None:
    found = bootstrap_speedup(*suite(), resamples=300, rng=rng())
    data = found.to_dict()
    assert data["replicates"]["count"] == 300
    assert data["replicates"]["quantiles"]["0.5"] == np.median(found.replicates)
    added = {"schema", "method", "tool_version", "caution_codes", "word"}
    assert set(data) == {f.name for f in dataclasses.fields(found)} - {"timed"} | added
    assert data["method"] == "bootstrap-speedup"
    assert len(json.dumps(data)) < 10_000


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"mean": "cubic"}, "mean must be"),
        ({"centre": "mode"}, "centre must be"),
        ({"interval": "basic"}, "interval must be 'percentile', 'corrected'"),
        ({"sides": "left"}, "sides must be 'two', 'lower' or 'upper'"),
        ({"confidence": 1.0}, "confidence must lie between"),
        ({"confidence": 0.5}, "confidence must lie between"),
        ({"confidence": math.nan}, "confidence must lie between"),
        ({"resamples": 1}, "resamples must lie between 2 and 10,000,000"),
        ({"resamples": 1e4}, "resamples must be a whole number"),
        ({"unit": "month"}, "unit must be"),
        ({"unit": "session"}, "needs to know each run's session"),
        ({"interval": "studentized", "centre": "median"}, "standard error, and that of a median"),
    ],
)
def test_wrong_arguments(wrong: dict, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        bootstrap_speedup(*suite(), **wrong, rng=rng())


def test_one_run_everywhere_is_too_little() -> None:
    with pytest.raises(InsufficientDataError, match="there is one run on each") as caught:
        bootstrap_speedup(*suite(m=1), rng=rng())
    assert (caught.value.n, caught.value.needed) == (1, 2)
    with pytest.raises(InsufficientDataError, match="there is one run on each benchmark of a side"):
        bootstrap_speedup(suite()[0], suite(m=1)[1], rng=rng())  # it was "slower", with an interval


@pytest.mark.parametrize("kind", KINDS)
def test_one_run_in_a_stratum(kind: str) -> None:
    a = matrix("a", {"x": [1.0, 1.1, 1.2], "y": [2.0]})
    b = matrix("b", {"x": [1.5, 1.6, 1.4], "y": [2.2, 2.3]})
    if kind == "percentile":
        found = bootstrap_speedup(a, b, interval=kind, rng=rng())
        assert any("1 of 4 samples hold one run" in text for text in found.cautions)
        return
    with pytest.raises(InsufficientDataError, match="benchmark 'y'") as caught:
        bootstrap_speedup(a, b, interval=kind, rng=rng())
    assert caught.value.needed == 2


@pytest.mark.parametrize(
    ("sizes", "said"), [((2, 1, 2), "benchmark 'b1': "), ((1, 2, 1), "benchmark 'b0' and 1 more: ")]
)
def test_only_benchmarks_with_one_run_are_said_to_have_too_few(
    sizes: tuple[int, ...], said: str
) -> None:
    a = matrix("a", {f"b{i}": [1.0, 1.1, 1.2][:size] for i, size in enumerate(sizes)})
    b = matrix("b", {f"b{i}": [1.5, 1.6] for i in range(len(sizes))})
    with pytest.raises(InsufficientDataError) as caught:
        bootstrap_speedup(a, b, interval="bca", rng=rng())
    assert str(caught.value).startswith(said)
    assert (caught.value.n, caught.value.needed) == (1, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_constant_samples(kind: str) -> None:
    a = matrix("a", {"x": [0.1] * 7, "y": [2.0, 2.1, 2.3, 2.2]})
    b = matrix("b", {"x": [0.3] * 3, "y": [2.2, 2.5, 2.4]})
    found = bootstrap_speedup(a, b, interval=kind, rng=rng())
    assert found.low < found.ratio < found.high
    flat = bootstrap_speedup(a.select(["x"]), b.select(["x"]), interval=kind, rng=rng())
    assert flat.low == flat.ratio == flat.high == pytest.approx(3)
    assert any("has no width" in text for text in flat.cautions)
    assert "a is faster than b over this benchmark" in str(flat)


def test_equal_sides_are_undecided() -> None:
    a, b = suite(ratio=1.0)
    text = str(bootstrap_speedup(a, b, rng=rng()))
    assert text.startswith("undecided over these 4 benchmarks whether new is faster than old")
    assert "holds 1" in text
    slow = bootstrap_speedup(b, suite(ratio=0.5)[1], rng=rng())
    assert "is slower than" in str(slow)


def test_units_without_a_time_are_better_not_faster() -> None:
    a, b = (
        PerformanceMatrix.from_samples(
            x.name, dict(zip(x.benchmarks, x.samples, strict=True)), better="lower", unit="J"
        )
        for x in suite()
    )
    assert "new is better than old" in str(bootstrap_speedup(a, b, rng=rng()))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mean", ["geometric", "harmonic", "arithmetic"])
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_scale_does_not_matter(kind: str, mean: str, scale: float) -> None:
    a, b = suite()
    scaled = [
        matrix(x.name, {n: v * scale for n, v in zip(x.benchmarks, x.samples, strict=True)})
        for x in (a, b)
    ]
    kwargs = {"interval": kind, "mean": mean, "resamples": 400}
    one = bootstrap_speedup(a, b, **kwargs, rng=rng())
    other = bootstrap_speedup(*scaled, **kwargs, rng=rng())
    assert (other.low, other.high) == pytest.approx((one.low, one.high), rel=1e-9)


@pytest.mark.parametrize("mean", ["geometric", "harmonic", "arithmetic"])
@pytest.mark.parametrize("centre", ["runs", "mean", "median"])
def test_benchmarks_of_very_different_scales(mean: str, centre: str) -> None:
    a, b = suite(n=3)
    scales = (1e-200, 1.0, 1e200)
    rows = [
        matrix(x.name, {n: v * s for n, v, s in zip(x.benchmarks, x.samples, scales, strict=True)})
        for x in (a, b)
    ]
    found = bootstrap_speedup(*rows, mean=mean, centre=centre, resamples=400, rng=rng())
    assert 1 < found.low <= found.ratio <= found.high < 2


def test_same_seed_same_answer_and_another_seed_another() -> None:
    for kind, centre in (("percentile", "runs"), ("studentized", "mean"), ("bca", "median")):
        one, two, other = (
            bootstrap_speedup(*suite(), interval=kind, centre=centre, resamples=700, rng=rng(s))
            for s in (5, 5, 6)
        )
        assert np.array_equal(one.replicates, two.replicates)
        assert (one.low, one.high) == (two.low, two.high)
        assert not np.array_equal(one.replicates, other.replicates)


@pytest.mark.parametrize("centre", ["runs", "median"])
def test_another_benchmark_changes_no_draw_of_the_others(centre: str) -> None:
    a, b = suite(n=1, m=5)
    still = [matrix(x.name, {"constant": [1.0] * 9, "bench0": x.samples[0]}) for x in (a, b)]
    alone = bootstrap_speedup(a, b, centre=centre, resamples=6000, rng=rng())
    beside = bootstrap_speedup(*still, centre=centre, resamples=6000, rng=rng())
    assert np.log(alone.replicates / alone.ratio) == pytest.approx(
        2 * np.log(beside.replicates / beside.ratio), abs=1e-12
    )


@pytest.mark.parametrize("kind", ["percentile", "studentized"])
@pytest.mark.parametrize("m", [2, 7, 30, 65])
def test_more_resamples_go_on_with_the_same_ones(kind: str, m: int) -> None:
    few, many = (
        bootstrap_speedup(*suite(m=m), interval=kind, resamples=size, rng=rng())
        for size in (1000, 9000)
    )
    assert np.array_equal(few.replicates, many.replicates[:1000])


@pytest.mark.parametrize("m", [1, 2, 3, 7, 8, 10, 14, 30, 64, 65, 100, 5000])
def test_both_kernels_draw_the_same_runs(m: int) -> None:
    values = rng(m).normal(size=m)
    values -= values.mean()
    states = [np.array([1, 2, 3, m], dtype=np.uint64) for _ in range(2)]
    means, others, squares = np.empty((3, 4000))
    resampled_means(values, states[0], means)
    resampled_spreads(values, states[1], others, squares)
    assert means == pytest.approx(others, abs=1e-12)
    assert np.array_equal(*states)
    error = values.std() / math.sqrt(m)
    assert abs(means.mean()) <= 5 * error / math.sqrt(4000)
    assert means.std() == pytest.approx(error, rel=0.08)
    assert squares.mean() == pytest.approx((values**2).mean(), rel=0.2 if m < 10 else 0.1)


def test_every_run_is_drawn_equally_often() -> None:
    # 30 values whose sums tell how often each was drawn, in base 64: two draws a look, and a rest
    for m in (3, 10, 30, 31):
        seen = np.zeros(m)
        for i in range(m):
            values = np.zeros(m)
            values[i] = 1.0
            means = np.empty(20_000)
            resampled_means(values, np.array([7, i, 11, 13], dtype=np.uint64), means)
            seen[i] = means.mean() * m
        assert np.abs(seen - 1).max() < 5 * math.sqrt((1 - 1 / m) / 20_000)


@pytest.mark.parametrize(
    ("mean", "centre"),
    [
        (mean, centre)
        for mean in ("geometric", "harmonic", "arithmetic")
        for centre in ("runs", "mean")
    ],
)
def test_the_standard_error_is_the_delta_methods(mean: str, centre: str) -> None:
    # by numeric derivatives of the log ratio by each benchmark's centre
    a, b = suite(m=5, blocks=range(5))
    bent = matrix("b", {n: v**2 for n, v in zip(b.benchmarks, b.samples, strict=True)})
    form = compare(ask(a, bent, "run", mean, centre))
    variance = 0.0
    for side, _ in form.sides:
        for i, z in enumerate(side.values):
            step = np.zeros((len(side.values), 2))
            step[i] = 1e-6 * side.centres[i], -1e-6 * side.centres[i]
            up, down = side.shift(step)
            slope = (up - down) / (step[i, 0] - step[i, 1])
            variance += slope**2 * z.var(ddof=1) / z.size
    assert standard_error(form) == pytest.approx(math.sqrt(variance), rel=1e-6)
    drawn = draw(form, 1, 4000, errors=True)
    assert drawn.errors is not None
    assert np.median(drawn.errors) == pytest.approx(drawn.shifts.std(), rel=0.3)


def test_the_standard_error_of_rounds_is_that_of_their_means() -> None:
    a, b = suite(m=8, blocks=range(8))
    logs = [np.array([np.log(v) for v in x.samples]).mean(axis=0) for x in (a, b)]
    form = compare(ask(a, b, "block", "geometric", "runs"))
    expected = (logs[1] - logs[0]).std(ddof=1) / math.sqrt(8)
    assert standard_error(form) == pytest.approx(expected, rel=1e-12)
    # apart: rounds of one side only
    far = matrix(
        "b",
        dict(zip(b.benchmarks, b.samples, strict=True)),
        blocks=dict.fromkeys(b.benchmarks, range(100, 108)),
    )
    form = compare(ask(a, far, "block", "geometric", "runs"))
    expected = math.sqrt(sum(x.var(ddof=1) / 8 for x in logs))
    assert standard_error(form) == pytest.approx(expected, rel=1e-12)
    drawn = draw(form, 3, 4000, errors=True)
    assert drawn.shifts.std() == pytest.approx(expected * math.sqrt(7 / 8), rel=0.06)
    assert drawn.errors is not None
    assert np.median(drawn.errors) == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mean", ["geometric", "harmonic", "arithmetic"])
def test_whole_units_with_every_interval(kind: str, mean: str) -> None:
    a, b = suite(m=9, blocks=range(9), sessions=[1, 1, 1, 2, 2, 2, 3, 3, 3])
    shifted = {
        n: v * np.repeat([1.0, 1.2, 1.1], 3) for n, v in zip(a.benchmarks, a.samples, strict=True)
    }
    a = dataclasses.replace(a, samples=tuple(shifted.values()))
    rounds = bootstrap_speedup(a, b, mean=mean, interval=kind, rng=rng())
    assert rounds.unit == "block"
    assert "9 with both variants" in str(rounds)
    assert rounds.low < rounds.ratio < rounds.high
    runs = bootstrap_speedup(a, b, mean=mean, interval=kind, unit="run", rng=rng())
    assert runs.unit == "run"
    by_sessions = [text for text in runs.cautions if "(unit 'session')" in text]
    assert len(by_sessions) == 1
    assert any("sessions" in text and "too sure" in text for text in runs.cautions)


def test_sessions() -> None:
    a, b = suite(m=12, sessions=[1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6])
    found = bootstrap_speedup(a, b, unit="session", rng=rng())
    assert found.unit == "session"
    assert not any("shifts between sessions are not covered" in text for text in found.cautions)
    one = suite(m=12, sessions=[1] * 12)
    with pytest.raises(InsufficientDataError, match="there is one session only"):
        bootstrap_speedup(*one, unit="session", rng=rng())


def test_too_few_units_for_a_studentized_end() -> None:
    a, b = suite(m=4, sessions=[1, 1, 2, 2])
    with pytest.raises(InsufficientDataError, match="studentized end is infinite") as caught:
        bootstrap_speedup(a, b, unit="session", interval="studentized", rng=rng())
    assert caught.value.n == 2


def test_rounds_that_lack_a_benchmark_are_drawn_anew() -> None:
    a = matrix("a", {"x": [1.0, 1.1, 1.2, 1.3], "y": [2.0]}, blocks={"x": [1, 2, 3, 4], "y": [2]})
    b = matrix(
        "b", {"x": [1.5, 1.6, 1.4, 1.3], "y": [2.2, 2.3]}, blocks={"x": [1, 2, 3, 4], "y": [2, 3]}
    )
    found = bootstrap_speedup(a, b, rng=rng())
    assert found.unit == "block"
    assert np.isfinite(found.replicates).all()
    assert any("were drawn again" in text for text in found.cautions)
    with pytest.raises(AnalysisError, match="holds all runs of a benchmark"):
        bootstrap_speedup(a, b, interval="bca", rng=rng())


FAR = st.builds(
    lambda exponent, digits: digits * 10.0**exponent, st.floats(-307, 307), st.floats(1, 9)
)


@settings(deadline=None, max_examples=examples(60))
@example(
    [([1.0, 1.0], [1.0, 1e207])], "geometric", "runs", "bca"
)  # the cube of a ratio was no number
@given(
    st.lists(
        st.tuples(st.lists(FAR, min_size=2, max_size=5), st.lists(FAR, min_size=2, max_size=5)),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(["geometric", "harmonic", "arithmetic"]),
    st.sampled_from(["runs", "mean", "median"]),
    st.sampled_from(KINDS),
)
def test_values_at_the_ends_of_doubles_give_an_interval_or_an_error_and_no_warning(
    rows, mean, centre, kind
) -> None:
    assume((centre, kind) != ("median", "studentized"))  # there is none
    ours, theirs = (
        matrix(name, {f"b{i}": row[k] for i, row in enumerate(rows)})
        for k, name in enumerate(("new", "old"))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = bootstrap_speedup(
                ours, theirs, mean=mean, centre=centre, interval=kind, resamples=50, rng=rng()
            )
        except AnalysisError:
            return
    assert 0 < found.low <= found.high < math.inf


def test_the_acceleration_knows_no_scale() -> None:
    """Authority: equation 14.15 is homogeneous: units that are worth 1e150 times as much change nothing."""
    a, b = suite()
    near = bootstrap_speedup(a, b, interval="bca", resamples=500, rng=rng(2))
    far = matrix("new", {name: 1e-150 * a.values(name) for name in a.benchmarks})
    found = bootstrap_speedup(far, b, interval="bca", resamples=500, rng=rng(2))
    assert found.low / 1e150 == pytest.approx(near.low, rel=1e-9)
    assert found.high / 1e150 == pytest.approx(near.high, rel=1e-9)


def test_replicates_all_on_one_side_have_no_bca() -> None:
    # 2 resamples: often both on one side
    few = bootstrap_speedup(*suite(), resamples=2, rng=rng(3))
    assert (few.replicates > few.ratio).all() or (few.replicates < few.ratio).all()
    with pytest.raises(AnalysisError, match="one side of the observed ratio"):
        bootstrap_speedup(*suite(), interval="bca", resamples=2, rng=rng(3))


@pytest.mark.parametrize("factor", [1e-9, 1e-3, 1e3, 1e9])
def test_replicates_that_tie_with_the_ratio_do_so_at_any_ratio(factor: float) -> None:
    # of three runs one resample in five has their mean again, but for rounding
    a = matrix("a", {"x": [1.03, 1.37, 1.11]})
    b = matrix("b", {"x": [1.7, 1.7]})
    far = matrix("b", {n: v * factor for n, v in zip(b.benchmarks, b.samples, strict=True)})
    near, found = (
        bootstrap_speedup(a, side, interval="bca", centre="mean", resamples=500, rng=rng())
        for side in (b, far)
    )
    assert (found.low, found.high) == pytest.approx(
        (near.low * factor, near.high * factor), rel=1e-9
    )


def test_few_resamples_are_said() -> None:
    found = bootstrap_speedup(*suite(), resamples=100, rng=rng())
    assert any("the ends are rough; take 400 or more" in text for text in found.cautions)
    found = bootstrap_speedup(*suite(), resamples=400, rng=rng())
    assert not any("rough" in text for text in found.cautions)
    # 10 beyond each end of 75 % leave 60 between them: 79 values have 80 gaps
    for resamples, rough in ((78, True), (79, False)):
        found = bootstrap_speedup(*suite(), resamples=resamples, confidence=0.75, rng=rng())
        assert any("the ends are rough" in text for text in found.cautions) == rough


def test_cautions_of_the_data_are_handed_on() -> None:
    a, b = suite()
    more = matrix("old", {**dict(zip(b.benchmarks, b.samples, strict=True)), "extra": [1.0, 2.0]})
    found = bootstrap_speedup(a, more, rng=rng())
    assert found.benchmarks == a.benchmarks
    assert any("extra" in text for text in found.cautions)


def test_known_coverage_is_read_from_a_cell_that_is_no_larger() -> None:
    found = bootstrap_speedup(*suite(n=12, m=3), rng=rng())
    known = known_coverage(
        "percentile",
        centre="runs",
        design="runs",
        benchmarks=13,
        runs=3.2,
        confidence=0.95,
        two_sided=True,
    )
    assert known is not None
    assert (known.benchmarks, known.runs) == (12, 3)
    assert found.known_coverage == known.coverage == min(share for _, share in known.others)
    assert 0.84 < known.coverage < 0.88
    told = found.cautions[0]
    assert told.code == "known-coverage"
    homo, het = (dict(known.others)[noise] for noise in ("homo", "het"))
    assert str(told) == (
        "known coverage: nominal 0.95 percentile intervals held the true ratio in "
        f"{het:.3f} (noise of 0.3 to 10 % by benchmark), {homo:.3f} (noise of 3 % on every "
        "benchmark) of 2,000 simulated suites, each with 12 benchmarks x 3 runs on each side; the "
        "table's largest cell with no more than here"
    )


@pytest.mark.parametrize("interval", ["percentile", "corrected", "bca", "studentized"])
@pytest.mark.parametrize("design", ["runs", "units", "pairs"])
@pytest.mark.parametrize("centre", ["runs", "median"])
def test_known_coverage_never_promises_what_more_runs_would_give(
    interval: str, design: str, centre: str
) -> None:
    # 6 units were told the coverage of 7: 0.9035, and held 0.884
    told = 0
    for benchmarks in (1, 2, 11, 28, 40):
        for m in (1, 1.5, *range(2, 33)):
            known = known_coverage(
                interval,
                centre=centre,
                design=design,
                benchmarks=benchmarks,
                runs=m,
                confidence=0.95,
                two_sided=True,
            )
            assert known is None or (known.runs <= m and known.benchmarks <= benchmarks)
            assert known is None or m >= 2
            told += known is not None
    assert told > 100 or (interval, centre) == ("studentized", "median")


def in_sessions(sessions: int, rounds: int = 4) -> tuple[PerformanceMatrix, PerformanceMatrix]:
    noise = rng(3)
    names = ("b0", "b1")
    where = dict.fromkeys(names, np.repeat(np.arange(sessions), rounds))
    order = dict.fromkeys(names, np.tile(np.arange(rounds), sessions))
    sides = (
        PerformanceMatrix.from_samples(
            name,
            {bench: noise.lognormal(0, 0.05, sessions * rounds) for bench in names},
            better="lower",
            blocks=order,
            sessions=where,
        )
        for name in ("new", "old")
    )
    return next(sides), next(sides)


@pytest.mark.parametrize("unit", ["run", "block"])
@pytest.mark.parametrize("interval", ["percentile", "studentized"])
def test_units_of_several_sessions_are_not_told_the_coverage_of_independent_ones(
    unit: str, interval: str
) -> None:
    # told 0.9515, held 0.667: five sessions with shifts of their own, drawn by rounds
    found = bootstrap_speedup(*in_sessions(5), unit=unit, interval=interval, rng=rng())
    assert found.known_coverage is None
    assert "held the truth" not in found.conclusion
    told = next(caution for caution in found.cautions if caution.code == "coverage-unknown")
    assert "stem from 5 sessions" in told
    assert "take unit 'session'" in told
    # and what was simulated for percentile intervals is not said of another kind
    assert ("percentile" in " ".join(map(str, found.cautions))) == (interval == "percentile")


@pytest.mark.parametrize(("sessions", "unit"), [(1, "block"), (4, "block"), (5, "session")])
def test_five_sessions_with_both_sides_are_what_is_drawn(sessions: int, unit: str) -> None:
    found = bootstrap_speedup(*in_sessions(sessions), rng=rng())
    assert found.unit == unit
    assert (found.known_coverage is None) == (sessions == 4)
    assert ("larger-units-vary-more" in {c.code for c in found.cautions}) <= (unit == "block")


def test_a_confidence_that_was_not_simulated_is_said() -> None:
    found = bootstrap_speedup(*suite(), confidence=0.83, rng=rng())
    assert found.known_coverage is None
    assert "real coverage is not known" in found.conclusion
    assert "the table of simulated coverages has none" in found.cautions[0]
    one_sided = bootstrap_speedup(*suite(), confidence=0.95, sides="lower", rng=rng())
    assert one_sided.known_coverage is not None


def test_medians_are_told_that_the_widening_is_not_theirs() -> None:
    found = bootstrap_speedup(*suite(), interval="corrected", centre="median", rng=rng())
    assert any("the widening belongs to means" in text for text in found.cautions)


@pytest.mark.parametrize("ratio", [1e-5, 1.0001, 25.0, 3e6])
def test_numbers_are_written_with_the_width_in_view(ratio: float) -> None:
    found = bootstrap_speedup(*suite(ratio=ratio, m=30), rng=rng())
    text = found.conclusion
    assert "nan" not in text
    low, high = text.split("interval [")[1].split("]")[0].split(", ")
    assert float(low) < float(high)
    assert float(low) == pytest.approx(found.low, rel=0.02)
