"""A series of variants in one trial: places, steps, pooling, words.

Authority: scipy's one-sample t on the contrasts, written out; exact small tables; a plain sum of squares for the
probability of places. Negative controls: a series without a step, and the order of runs within sessions.
"""

import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from analysis.data.columns import OUTCOMES
from analysis.data.trial import Trial, read_trial
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.history.ordered import OrderedVariants, one_programs, ordered_variants, starts_of
from analysis.history.places import Rounding, contrasts_of, steps_of
from analysis.stats.arguments import stream
from analysis.verdict.judging import judge

TIMEOUT = OUTCOMES.index("timeout")
NAMES = tuple(f"c-{k}" for k in range(1, 9))


def noise(label: str, sessions: int = 6, variants: int = 8) -> np.ndarray:
    return stream(30, "ordered", label).normal(size=(sessions, variants))


def test_a_place_is_a_t_test_on_its_contrasts() -> None:
    table = noise("t") + noise("host", variants=1) * 10
    found = contrasts_of(table, range(1, 8))
    for k in range(1, 8):
        contrast = table[:, k:].mean(axis=1) - table[:, :k].mean(axis=1)
        theirs = stats.ttest_1samp(contrast, 0.0)
        low, high = theirs.confidence_interval(0.95)
        assert found.difference[k - 1] == pytest.approx(contrast.mean(), rel=1e-9)
        assert found.pvalue[k - 1] == pytest.approx(theirs.pvalue, rel=1e-9)
        half = found.half(0.05)[k - 1]
        assert (contrast.mean() - half, contrast.mean() + half) == pytest.approx(
            (low, high), rel=1e-9
        )


def test_equivalence_is_two_one_sided_t_tests() -> None:
    table = 0.01 * noise("tost")
    found = contrasts_of(table, [3])
    contrast = table[:, 3:].mean(axis=1) - table[:, :3].mean(axis=1)
    both = [
        stats.ttest_1samp(contrast, sign * 0.02, alternative=side).pvalue
        for sign, side in ((-1, "greater"), (1, "less"))
    ]
    assert found.pvalue_equivalent(0.02)[0] == pytest.approx(max(both), rel=1e-9)


def test_the_probability_of_places_is_that_of_one_step() -> None:
    table = noise("posterior", 4, 5)
    table[:, 3:] += 1.0
    weights = []
    for k in range(1, 5):
        step = (np.arange(5) >= k).astype(float)
        design = np.column_stack([np.kron(np.eye(4), np.ones((5, 1))), np.tile(step, 4)])
        rest = table.ravel() - design @ np.linalg.lstsq(design, table.ravel(), rcond=None)[0]
        weights.append((rest @ rest) ** (-(4 * 4 - 1) / 2))
    found = contrasts_of(table, range(1, 5)).probability
    assert found == pytest.approx(np.array(weights) / sum(weights), rel=1e-6)


def test_a_small_table_by_hand() -> None:
    # contrasts at place 1: 3 and 5; t = 4 / 1, p of t(1)
    found = contrasts_of(np.array([[0.0, 3.0, 3.0], [0.0, 5.0, 5.0]]), [1, 2])
    assert found.difference.tolist() == [4.0, 2.0]
    assert found.error[0] == pytest.approx(1.0)
    assert found.pvalue[0] == pytest.approx(1 - 2 * math.atan(4.0) / math.pi)
    assert found.likeliest == 0
    assert found.probability[0] == pytest.approx(1 / (1 + 13**-1.5))  # rss 4/3 and 52/3
    assert found.likely() == (0, 0)


def test_what_does_not_vary_has_no_p_and_no_step() -> None:
    found = contrasts_of(np.zeros((3, 4)), [1, 2, 3])
    assert np.isnan(found.pvalue).all()
    assert np.isnan(found.least)
    assert steps_of(np.zeros((3, 4)), [1, 2, 3], 0.05, 0.05) == ()


def test_two_steps_are_found_and_sized_between_each_other() -> None:
    table = 0.001 * noise("two", 6, 12)
    table[:, 4:] += 0.05
    table[:, 9:] -= 0.02
    one, other = steps_of(table, range(1, 12), 0.05, 0.05)
    assert (one.at, one.first, one.last) == (4, 4, 4)
    assert (other.at, other.first, other.last) == (9, 9, 9)
    assert one.difference == pytest.approx(0.05, abs=0.002)
    assert other.difference == pytest.approx(-0.02, abs=0.002)
    sized = table[:, 4:9].mean(axis=1) - table[:, :4].mean(axis=1)
    assert one.difference == pytest.approx(sized.mean(), rel=1e-9)


def test_no_step_no_word() -> None:  # negative control
    assert steps_of(noise("none"), range(1, 8), 0.05, 0.05) == ()


# ---- of trials


Maker = Callable[..., Trial]


@pytest.fixture
def made(tmp_path: Path, synthetic: Callable[..., Any]) -> Maker:
    """Make a trial of eight variants: `steps` in per cent by number, of the first benchmark alone."""

    numbers = itertools.count()

    def make(
        steps: Mapping[int, float],
        *,
        benchmarks: Sequence[str] = ("text",),
        sd: float = 0.002,
        sessions: int = 6,
        extra: Mapping[str, bytes] | None = None,
        without: Sequence[str] = (),
        rate: bool = False,
        **manifest: object,
    ) -> Trial:
        rng = stream(30, "ordered trial", json.dumps([*steps.items()]))
        host = np.exp(0.1 * rng.normal(size=sessions))
        times: dict[str, dict[str, list[float]]] = {}
        for k, name in enumerate(NAMES):
            level = math.prod(1 + size / 100 for at, size in steps.items() if k >= at)
            times[name] = {
                bench: [
                    float(
                        host[run // 3]
                        * (level if bench == benchmarks[0] else 1.0)
                        * math.exp(sd * z)
                    )
                    for run, z in enumerate(rng.normal(size=3 * sessions))
                ]
                for bench in benchmarks
                if name not in without
            }
        one = synthetic(times, sessions=sessions, **manifest)
        one.extra.update(extra or {})
        if rate:
            one.rows[:] = [replace(row, metrics={"rate": (row.wall_ns / 1e9,)}) for row in one.rows]
        return read_trial(one.write(tmp_path / f"t{next(numbers)}"))

    return make


def series(trial: Trial, **options: Any) -> OrderedVariants:
    return ordered_variants(trial, variants=NAMES, **options)


def test_a_step_is_named_with_its_size(made: Maker) -> None:
    found = series(made({4: 3.0}))
    (line,) = found.benchmarks
    (step,) = line.steps
    assert (step.variant, step.after, step.upto, step.word) == ("c-5", "c-4", "c-5", "slower")
    assert step.low < 1 / 1.03 < step.high
    assert line.outcome == "step"
    assert found.suite is None
    assert str(found).startswith("From c-5 on it takes 3")
    assert found.sentence.startswith("from c-5 on it takes 3")


def test_p_is_bonferronis_over_places_and_holms_over_benchmarks(made: Maker) -> None:
    found = series(made({4: 0.3}, benchmarks=("text", "logs"), sd=0.01))
    for line in found.benchmarks:
        p = min(one.pvalue for one in line.places)
        assert line.pvalue == pytest.approx(min(1.0, 7 * p))
        assert line.best.pvalue == p
    raw = sorted(line.pvalue for line in found.benchmarks)
    told = sorted(line.pvalue_adjusted for line in found.benchmarks)
    assert told[0] == pytest.approx(min(1.0, 2 * raw[0]))


def test_the_suite_is_the_mean_over_benchmarks(made: Maker) -> None:
    found = series(made({4: 3.0}, benchmarks=("text", "logs")))
    assert found.suite is not None
    assert found.suite.steps[0].variant == "c-5"
    assert found.suite.steps[0].speedup == pytest.approx(1.03**-0.5, abs=0.002)
    assert {one.name: one.outcome for one in found.benchmarks} == {
        "text": "step",
        "logs": "equivalent",
    }
    assert "over these 2 benchmarks" in found.sentence


def test_a_benchmark_that_is_called_suite_is_one(made: Maker) -> None:
    found = series(made({4: 3.0}, benchmarks=("suite", "logs")))
    assert [one.name for one in found.benchmarks] == ["suite", "logs"]
    assert found.benchmarks[0].steps[0].speedup == pytest.approx(1 / 1.03, abs=0.002)
    assert found.suite.steps[0].speedup == pytest.approx(1.03**-0.5, abs=0.002)


def test_no_step_within_the_margin_is_equivalent(made: Maker) -> None:
    found = series(made({}))
    assert found.benchmarks[0].outcome == "equivalent"
    assert "the same time, within 1 %" in found.sentence
    assert "may-cancel" in [one.code for one in found.cautions]


def test_undecided_says_where_it_may_lie_and_how_to_go_on(made: Maker) -> None:
    found = series(made({}, sd=0.1))
    assert found.benchmarks[0].outcome == "undecided"
    assert found.sentence.startswith("no step found among 8 variants: if one is at c-")
    there = {"campaign_path": __file__}
    assert found.next[0] == f"fairtrial status {found.trial}"  # the campaign is not here
    assert "--resume" in replace(found, **there).next[0]
    found = series(made({4: 3.0}))
    (line,) = found.benchmarks
    step = replace(line.steps[0], after_commit="a", upto_commit="b")
    found = replace(found, benchmarks=(replace(line, steps=(step,)),))
    assert found.next[0] == f"fairtrial verdict {found.trial}:c-5 {found.trial}:c-4"
    assert replace(found, **there).next[0].startswith("fairtrial bisect a b --campaign ")


@pytest.mark.parametrize("cut", [0, 2, 7], ids="c-{}".format)
def test_where_a_limit_ended_a_run_nothing_is_decided(made: Maker, cut: int) -> None:
    # authority: rules-2, section 2: its true length could overturn each word; other benchmarks keep theirs
    trial = made({4: 3.0}, benchmarks=("text", "logs"))
    clean = {one.name: one for one in (*series(trial).benchmarks, series(trial).suite) if one}
    assert [one.outcome for one in clean.values()] == ["step", "equivalent", "step"]
    for bench, kept in (("text", "logs"), ("logs", "text")):
        place = trial.manifest.benchmarks.index(bench), trial.manifest.variants.index(NAMES[cut])
        outcome = trial.outcome.copy()
        outcome[np.flatnonzero((trial.benchmark == place[0]) & (trial.variant == place[1]))[4]] = (
            TIMEOUT
        )
        found = series(replace(trial, outcome=outcome))
        told = {one.name: one for one in (*found.benchmarks, found.suite) if one}
        for name in (bench, "suite"):
            assert (told[name].outcome, told[name].steps) == ("undecided", ())
        assert told[kept].outcome == clean[kept].outcome
        assert [one.text for one in found.cautions if one.code == "cut-off"] == [
            f"runs were stopped at their limit: {bench} undecided"
        ]
        outcome[outcome == TIMEOUT] = OUTCOMES.index(
            "exit"
        )  # the negative control: a run that failed otherwise is left out
        assert series(replace(trial, outcome=outcome)).suite.outcome == "step"


def test_a_small_step_may_be_one_of_layout(made: Maker) -> None:
    found = series(made({4: 0.7}, sd=0.0005), margin=0.001)
    assert found.benchmarks[0].outcome == "step"
    assert "build-noise" in [one.code for one in found.cautions]


@pytest.mark.parametrize(("built", "told"), [(NAMES, False), (NAMES[1:], True)])
def test_where_each_session_builds_all_of_a_series_layouts_are_in_the_interval(
    made: Maker, built: tuple[str, ...], told: bool
) -> None:
    builds = [{"variant": name, "each": "session"} for name in built]
    trial = made({4: 0.7}, sd=0.0005, extra={"resolved.json": resolved(series=True, builds=builds)})
    found = ordered_variants(trial, margin=0.001)
    assert found.benchmarks[0].outcome == "step"
    assert ("build-noise" in [one.code for one in found.cautions]) is told


def test_a_metric_of_which_more_is_better_turns_round(made: Maker) -> None:
    metrics = {"rate": {"unit": "1/s", "better": "higher"}}
    turned = made({4: 3.0}, rate=True, metrics=metrics)
    (step,) = series(turned, metric="rate").benchmarks[0].steps
    assert step.word == "faster"
    assert step.speedup == pytest.approx(1.03, abs=0.003)


def test_runs_that_were_not_shuffled_are_told(made: Maker) -> None:
    assert "order-not-shuffled" in [one.code for one in series(made({})).cautions]
    shuffled = made({}, extra={"resolved.json": resolved()})
    assert "order-not-shuffled" not in [one.code for one in series(shuffled).cautions]


def test_a_variant_without_values_is_left_out_and_said(made: Maker) -> None:
    found = series(made({4: 3.0}, without=("c-3",)))
    assert found.benchmarks[0].left_out == ("c-3",)
    assert "variant-incomplete" in [one.code for one in found.cautions]
    assert found.benchmarks[0].steps[0].variant == "c-5"


def test_what_is_no_series_is_refused(made: Maker) -> None:
    trial = made({})
    with pytest.raises(UsageError, match="does not call its variants a series"):
        ordered_variants(trial)
    with pytest.raises(UsageError, match="no variant 'd'"):
        ordered_variants(trial, variants=["c-1", "d"])
    with pytest.raises(UsageError, match="two variants or more"):
        ordered_variants(trial, variants=["c-1"])
    with pytest.raises(UsageError, match="no benchmark 'x'"):
        series(trial, benchmarks=["x"])
    for wrong in ({"risk": 0.0}, {"margin": -1.0}, {"correction": "half"}):
        with pytest.raises(UsageError):
            series(trial, **wrong)
    with pytest.raises(InsufficientDataError, match="two sessions"):
        series(made({}, sessions=1))


def test_the_campaign_says_what_is_a_series(made: Maker) -> None:
    trial = made({4: 3.0}, extra={"resolved.json": resolved(series=True)})
    assert ordered_variants(trial).variants == NAMES


# ---- one program


def resolved(commands: Mapping[str, Sequence[str]] | None = None, **settings: object) -> bytes:
    cells = [
        {
            "variant": v,
            "benchmark": "text",
            "command": {"argv": [*(commands or {}).get(v, [f"b/{v}/app"])]},
            "cwd": ".",
        }
        for v in NAMES
    ]
    campaign = {"variants": [*NAMES], "cells": cells, "protocol": {"order": "shuffled"}, **settings}
    return json.dumps({"campaign": campaign}).encode()


def environment(
    hashes: Sequence[str],
    kind: str = "elf",
    libraries: Sequence[str] | None = None,
    built: str = "campaign",
) -> bytes:
    targets = {
        f"text/{v}": {
            "sha256": h,
            "kind": kind,
            "built": built,
            "interpreter": {"ld": "1"},
            "libraries": {"lib": {"path": f"b/{v}/lib", "sha256": (libraries or ["2"] * 8)[k]}},
        }
        for k, (v, h) in enumerate(zip(NAMES, hashes, strict=True))
    }
    return b"".join(
        json.dumps({"session": k, "segment": 0, "targets": targets}).encode() + b"\n"
        for k in (1, 2)
    )


SAME = ["a"] * 4 + ["b"] * 4


def test_byte_identical_neighbours_are_one_place(made: Maker) -> None:
    extra = {"resolved.json": resolved(series=True), "environment.jsonl": environment(SAME)}
    found = ordered_variants(made({4: 3.0}, extra=extra))
    assert found.pooled == (NAMES[:4], NAMES[4:])
    (line,) = found.benchmarks
    assert [one.variant for one in line.places] == ["c-5"]
    assert line.pvalue == line.places[0].pvalue  # one place: nothing to correct
    assert "8 of 8 variants are the same program" in str(found).replace("\n      ", " ")


def test_one_program_in_all_is_refused(made: Maker) -> None:
    extra = {"resolved.json": resolved(series=True), "environment.jsonl": environment(["a"] * 8)}
    with pytest.raises(AnalysisError, match="are one program"):
        ordered_variants(made({}, extra=extra))


@pytest.mark.parametrize(
    ("extra", "why"),
    [
        (
            {"environment.jsonl": environment(SAME, "script")},
            "a script finds its modules beside itself",
        ),
        ({"environment.jsonl": environment(SAME, libraries=list("12345678"))}, "other libraries"),
        ({"environment.jsonl": environment(SAME, built="session")}, "each session builds them"),
        ({"environment.jsonl": b""}, "nobody knows the hashes"),
        (
            {"resolved.json": resolved({v: ["app", v] for v in NAMES}, series=True)},
            "other arguments",
        ),
        ({"resolved.json": b"{}"}, "nobody knows the commands"),
    ],
)
def test_what_may_differ_is_not_pooled(made: Maker, extra: dict[str, bytes], why: str) -> None:
    whole = {"resolved.json": resolved(series=True), "environment.jsonl": environment(SAME)} | extra
    assert series(made({4: 3.0}, extra=whole)).pooled == (), why


def test_one_command_and_one_program_are_one_also_of_a_script(made: Maker) -> None:
    whole = {
        "resolved.json": resolved({v: ["app"] for v in NAMES}, series=True),
        "environment.jsonl": environment(SAME, "script"),
    }
    assert len(series(made({4: 3.0}, extra=whole)).pooled) == 2


def test_places_are_where_programs_begin() -> None:
    groups = (("a", "b"), ("c",), ("d", "e"))
    assert starts_of(groups, "abcde") == (2, 3)
    assert starts_of(groups, "acde") == (1, 2)
    assert one_programs(Path("nowhere"), ["a", "b"], [], {}) == (("a",), ("b",))


def test_what_was_measured_once_is_pooled_and_not_missed(made: Maker) -> None:
    same = {"c-2": "c-1", "c-6": "c-5"}
    found = series(made({4: 3.0}, without=(*same,), same_program=same))
    assert found.pooled == (("c-1", "c-2"), ("c-5", "c-6"))
    (line,) = found.benchmarks
    assert line.left_out == ()
    assert [one.variant for one in line.places] == ["c-3", "c-4", "c-5", "c-7", "c-8"]
    assert line.steps[0].variant == "c-5"


# ---- of counts


COUNTED = Rounding(exact=True)


def counts(levels: Sequence[int], sessions: int = 6) -> np.ndarray:
    return np.tile(np.log(levels), (sessions, 1))


def test_counts_that_no_variant_varies_in_have_the_p_of_an_identity() -> None:
    """Around the step cells are sessions times variants; elsewhere a side holds two numbers, and sessions count."""
    found = contrasts_of(counts([100, 100, 100, 200, 200, 200]), range(1, 6), COUNTED)
    alone, around = 2 * 4.0**-6, 2 * 4.0**-18
    assert found.pvalue.tolist() == pytest.approx([alone, alone, around, alone, alone])
    table = counts([100, 100, 100, 200, 200, 200])
    (step,) = steps_of(table, range(1, 6), 0.05, 0.05, COUNTED)
    assert (step.at, step.first, step.last) == (3, 3, 3)
    assert (step.difference, step.half) == pytest.approx((math.log(2), 0.0))
    assert steps_of(table, range(1, 6), 0.05, 0.05) == ()  # of a clock nothing is known


def test_two_steps_of_counts_are_found_and_two_sessions_are_too_few() -> None:
    table = counts([5, 5, 7, 7, 7, 9, 9])
    found = steps_of(table, range(1, 7), 0.05, 0.05, COUNTED)
    assert [one.at for one in found] == [2, 5]
    assert steps_of(table[:2], range(1, 7), 0.05, 0.05, COUNTED) == ()


@pytest.mark.parametrize(
    ("levels", "same"), [([7] * 4, True), ([1000, 1000, 1004, 1004], True), ([7, 7, 8, 8], False)]
)
def test_counts_within_the_margin_are_equivalent(levels: list[int], same: bool) -> None:
    for sessions, enough in ((2, False), (3, True)):
        found = contrasts_of(counts(levels, sessions), range(1, 4), COUNTED)
        assert found.same(math.log(1.01)) == (same and enough)
    assert np.isnan(contrasts_of(counts([7] * 4), range(1, 4), COUNTED).pvalue).all()


@pytest.mark.parametrize("unit", ["B", "s"])
def test_a_series_of_sizes_has_its_step(
    synthetic: Callable[..., Any], tmp_path: Path, unit: str
) -> None:
    sizes = {name: {"text": [1.0] * 12} for name in NAMES}
    one = synthetic(sizes, sessions=4, metrics={"size": {"unit": unit, "better": "lower"}})
    one.rows = [
        replace(row, metrics={"size": (100.0 if row.variant < "c-4" else 200.0,)})
        for row in one.rows
    ]
    found = ordered_variants(
        read_trial(one.write(tmp_path / "t")), variants=NAMES, metric="size"
    ).benchmarks[0]
    assert found.outcome == ("step" if unit == "B" else "undecided")
    assert [step.variant for step in found.steps] == (["c-4"] if unit == "B" else [])


@pytest.mark.parametrize("unit", ["s", "B"])
@pytest.mark.parametrize("far", [0, 2])
def test_a_series_of_two_is_judged_as_the_two_are(
    synthetic: Callable[..., Any], tmp_path: Path, unit: str, far: int
) -> None:
    """By the floor of what is rounded, and where no run shows the step by that step too."""
    two, scale = ("old", "new"), 100 if unit == "s" else 1
    made = synthetic(
        {name: dict.fromkeys(("a", "b"), [1.0] * 4) for name in two},
        sessions=2,
        metrics={"x": {"unit": unit, "better": "lower"}},
    )
    ticks = {  # of a the sessions nearly agree, of b no run shows the step
        ("a", "old"): itertools.cycle([10, 10 + far, 11, 11 + far]),
        ("a", "new"): itertools.cycle([12, 12 + far, 13, 13 + far]),
        ("b", "old"): itertools.cycle([10, 10, 10, 11]),
        ("b", "new"): itertools.repeat(13),
    }
    made.rows = [
        replace(row, metrics={"x": (next(ticks[row.benchmark, row.variant]) / scale,)})
        for row in made.rows
    ]
    trial = read_trial(made.write(tmp_path / "t"))
    found = ordered_variants(trial, variants=two, metric="x")
    answer = judge(trial, metric="x").compared[0]
    told = *answer.benchmarks, answer.these
    for one, line in zip((*found.benchmarks, found.suite), told, strict=True):
        (place,) = one.places
        assert (place.low, place.high) == pytest.approx((line.low, line.high))
        assert place.pvalue == pytest.approx(line.pvalue)
        assert one.pvalue_equivalent == pytest.approx(line.pvalue_equivalent)
