from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.data.trial import read_trial
from analysis.errors import InsufficientDataError, UsageError
from analysis.record import StopRule
from analysis.verdict.judging import judge
from analysis.verdict.result import Verdict

Build = Callable[..., Any]
SCALES = {"text": 0.08, "logs": 3e-4, "a-benchmark-with-a-very-long-name-indeed": 1.5}
SCALES |= {"tiny": 4e-6, "five": 0.2, "six": 0.7}


def times(runs: int = 6, **factors: float) -> dict[str, dict[str, list[float]]]:
    rng = random.Random(20261121)
    return {
        variant.replace("_", "-"): {
            bench: [scale * factor * rng.uniform(1, 1.02) for _ in range(runs)]
            for bench, scale in SCALES.items()
        }
        for variant, factor in factors.items()
    }


def judged(made: Any, path: Path, **options: Any) -> Verdict:
    return judge(read_trial(made.write(path)), **options)


def test_three_variants(synthetic: Build, tmp_path: Path) -> None:
    data = times(gzip_6=1.0, gzip_1=0.4, gzip_9=2.5)
    result = judged(synthetic(data, sessions=2, warmup=1), tmp_path)
    assert [one.variant for one in result.candidates] == ["gzip-1", "gzip-9"]
    fast, slow = result.candidates
    assert {row.outcome for row in fast.benchmarks} == {"faster"}
    assert {row.outcome for row in slow.benchmarks} == {"slower"}
    row = fast.benchmarks[0]
    assert (row.runs_candidate, row.runs_baseline) == (6, 6)
    assert row.median_baseline is not None
    assert row.median_candidate is not None
    assert row.speedup == row.median_baseline / row.median_candidate
    assert fast.speedup == pytest.approx(2.5, rel=0.02)
    assert fast.hpt is not None
    assert fast.hpt.outcome == "candidate"
    assert slow.hpt is not None
    assert slow.hpt.outcome == "baseline"
    assert (result.warmups, result.runs, result.failed, result.sessions) == (36, 108, 0, 2)
    assert result.spreads == ()


def test_its_text(synthetic: Build, tmp_path: Path) -> None:
    data = times(gzip_6=1.0, gzip_1=0.4, gzip_6_again=1.0)
    text = str(judged(synthetic(data, sessions=2, warmup=1), tmp_path))
    flat = " ".join(text.split())
    assert text.startswith("synthetic on lab07 · wall time, lower is better · baseline gzip-6")
    answer = r"gzip-1 2\.(49|50|51)x over the suite: faster, reliability 0\.984 faster on 6 of 6"
    assert re.search(answer, flat)
    assert "gzip-1 is faster than gzip-6 over these 6 benchmarks: HPT reliability 0.984" in flat
    assert "(1 - p, not the chance of being right)" in flat
    assert "a-benchmark-wi…g-name-indeed" in text
    for unit in (" ms", " µs", " s"):
        assert unit in text
    assert f"fairtrial hpt {tmp_path}:gzip-1 {tmp_path}:gzip-6" in text.splitlines()[-1]
    assert max(len(line) for line in text.splitlines()[:-1]) <= 100
    assert text.index("over the suite") < text.index("cautions")


def test_json_is_plain(synthetic: Build, tmp_path: Path) -> None:
    result = judged(synthetic(times(a=1.0, b=0.5)), tmp_path)
    data = result.to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["candidates"][0]["hpt"]["outcome"] == "candidate"


def test_one_session_is_a_caution_and_more_are_another(synthetic: Build, tmp_path: Path) -> None:
    one = judged(synthetic(times(a=1.0, b=0.5)), tmp_path / "one")
    assert any("all runs stem from one session" in text for text in one.cautions)
    three = judged(synthetic(times(a=1.0, b=0.5), sessions=3), tmp_path / "three")
    assert not any("all runs stem from one session" in text for text in three.cautions)
    assert any("as if they were" in text for text in three.cautions)


def test_one_variant_has_nothing_to_compare(synthetic: Build, tmp_path: Path) -> None:
    result = judged(synthetic({"only": {"x": [1.0, 2.0, 3.0, 4.0, 5.0]}}), tmp_path)
    assert result.candidates == ()
    spread = result.spreads[0]
    assert (spread.minimum, spread.low_quartile, spread.median) == (1.0, 2.0, 3.0)
    assert (spread.high_quartile, spread.maximum, spread.runs) == (4.0, 5.0, 5)
    text = str(result)
    assert text.count("there is nothing to compare") == 1
    assert result.to_dict()["caution_codes"] == ["one-variant"]
    assert "cautions" not in text
    assert "3.00 s  2.00 s to 4.00 s  1.00 s to 5.00 s     5" in text


def test_failed_runs_and_missing_cells_are_cautions(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(times(a=1.0, b=0.5))
    made.rows = [
        replace(row, outcome="timeout", signal=9)
        if row.benchmark == "text" and row.variant == "b"
        else row
        for row in made.rows
    ]
    made.rows[0] = replace(made.rows[0], outcome="exit", exit_code=3)
    result = judged(made, tmp_path)
    assert result.failed == 7
    assert str(result.cautions[0]) == (
        "7 runs failed (1 exit, 6 timeout) and are left out: text / b (6), text / a (1)"
    )
    assert "b: no run that counts of text" in map(str, result.cautions)
    assert not any("because only" in text for text in result.cautions)
    # said of the whole trial, not of either variant again
    codes = [caution.code for caution in result.cautions]
    assert codes.count("failed-left-out") == 1
    assert codes.count("benchmark-missing") == 1
    row = result.candidates[0].benchmarks[0]
    assert (row.runs_candidate, row.median_candidate, row.speedup) == (0, None, None)
    assert row.outcome == "undecided"
    assert result.candidates[0].hpt is not None
    assert len(result.candidates[0].hpt.benchmarks) == 5
    assert "not measured" in str(result)


def test_a_variant_that_never_worked(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(times(a=1.0, b=0.5, c=0.7))
    made.rows = [
        replace(row, outcome="exit", exit_code=127) if row.variant == "b" else row
        for row in made.rows
    ]
    result = judged(made, tmp_path)
    assert result.candidates[0].hpt is None
    assert result.candidates[1].hpt is not None
    assert "b has no run that counts" in map(str, result.cautions)
    assert "the suite was not compared" in str(result)


def test_a_baseline_that_never_worked(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(times(a=1.0, b=0.5))
    made.rows = [
        replace(row, outcome="exit", exit_code=127) if row.variant == "a" else row
        for row in made.rows
    ]
    result = judged(made, tmp_path)
    assert result.candidates[0].hpt is None
    assert result.candidates[0].speedup is None
    assert str(result).endswith("measure more:\n  fairtrial run campaign.yaml")


def test_nothing_worked(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(times(a=1.0, b=0.5))
    made.rows = [replace(row, outcome="exit", exit_code=127) for row in made.rows]
    with pytest.raises(InsufficientDataError, match="no run that counts"):
        judged(made, tmp_path)


@pytest.mark.parametrize("runs", [1, 2])
def test_one_or_two_runs_decide_no_benchmark(synthetic: Build, tmp_path: Path, runs: int) -> None:
    result = judged(synthetic(times(runs, a=1.0, b=0.5)), tmp_path)
    assert {row.outcome for row in result.candidates[0].benchmarks} == {"undecided"}
    told = "stage one was skipped" if runs == 1 else "too few runs for any winner"
    assert any(told in text for text in result.cautions)


def test_a_running_trial_is_judged_by_what_is_there(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(times(a=1.0, b=0.5), status="running")
    made.rows = made.rows[:40]
    result = judged(made, tmp_path)
    assert not result.finished
    assert "still-running" in [caution.code for caution in result.cautions]
    assert "40 of 72 planned runs are there" in map(str, result.cautions)
    assert str(result).endswith(f"how far it is:\n  fairtrial status {tmp_path}")


def test_other_metrics_have_their_direction_and_words(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(times(a=1.0, b=0.5), metrics={"rate": {"unit": "items/s", "better": "higher"}})
    made.rows = [
        replace(row, metrics={"rate": (1e9 / row.wall_ns,)}, max_rss_bytes=row.wall_ns + (20 << 20))
        for row in made.rows
    ]
    path = made.write(tmp_path)
    rate = judge(read_trial(path), metric="rate")
    assert {row.outcome for row in rate.candidates[0].benchmarks} == {"faster"}
    assert rate.candidates[0].speedup == pytest.approx(2, rel=0.02)
    memory = judge(read_trial(path), metric="max_rss")
    assert memory.candidates[0].benchmarks[0].outcome == "better"
    assert memory.candidates[0].benchmarks[0].word == "faster"  # a program reads one vocabulary
    assert "b is better than a" in " ".join(str(memory).split())
    assert "MiB" in str(memory)
    assert str(memory).endswith("--metric max_rss")
    with pytest.raises(UsageError, match="no metric 'heat'"):
        judge(read_trial(path), metric="heat")


def test_cautions_are_said_once(synthetic: Build, tmp_path: Path) -> None:
    result = judged(synthetic(times(a=1.0, b=0.5, c=0.7)), tmp_path)
    assert len(set(result.cautions)) == len(result.cautions)
    assert sum("tested in both directions" in text for text in result.cautions) == 1


def test_what_is_known_of_the_whole_trial_is_not_said_of_each_variant(
    synthetic: Build, tmp_path: Path
) -> None:
    made = synthetic(times(a=1.0, b=0.5, c=0.7), warmup=1)
    rule = StopRule(width=0.05, min_runs=3, max_runs=6)
    made.manifest = replace(made.manifest, stop=rule)
    failed = {"text", "logs"}
    made.rows = [
        replace(row, outcome="exit", exit_code=3)
        if row.benchmark in failed and row.block == 2
        else row
        for row in made.rows
    ]
    trial = read_trial(made.write(tmp_path))
    of_the_trial = {"warm-up-left-out", "failed-left-out", "sequential"}
    assert {caution.code for caution in trial.matrix("b").cautions} == of_the_trial
    codes = [caution.code for caution in judge(trial).cautions]
    assert (codes.count("warm-up-left-out"), codes.count("failed-left-out")) == (0, 1)
    assert codes.count("sequential") == 1


def test_what_the_method_says_of_some_candidates_names_them(
    synthetic: Build, tmp_path: Path
) -> None:
    made = synthetic(times(a=1.0, b=0.5, c=0.7, d=0.8))
    made.rows = [
        replace(row, outcome="exit", exit_code=3)
        if (row.benchmark, row.variant) in {("text", "b"), ("text", "c"), ("text", "d")}
        or (row.benchmark, row.variant) == ("logs", "d")
        else row
        for row in made.rows
    ]
    result = judged(made, tmp_path, confidence=0.99)
    found = {c.about: str(c) for c in result.cautions if c.code == "level-out-of-reach"}
    # the same code, and about no benchmark: but its numbers are not the same for every candidate
    assert {about: text.split(":")[0] for about, text in found.items()} == {
        ("b", "c"): "b, c",
        ("d",): "d",
    }
    assert "with 5 benchmarks" in found["b", "c"]
    assert "with 4 benchmarks" in found[("d",)]


def test_memory_at_the_launchers_floor_is_only_a_bound(synthetic: Build, tmp_path: Path) -> None:
    # Source: the kernel hands the spawner's peak on to the child, so ru_maxrss <= floor is censored.
    trial = synthetic({"base": {"one": [1.0] * 5}, "other": {"one": [1.0] * 5}})
    trial.rows = [
        replace(row, max_rss_bytes=9_000_000 + n, max_rss_floor_bytes=10_000_000)
        for n, row in enumerate(trial.rows)
    ]
    found = judge(read_trial(trial.write(tmp_path / "floored")), metric="max_rss")
    (row,) = found.candidates[0].benchmarks
    assert row.floored == ("candidate", "baseline")
    assert row.speedup is None
    assert found.candidates[0].hpt is None
    assert "<= " in str(found)
    trial.rows = [replace(row, max_rss_floor_bytes=1_000_000) for row in trial.rows]
    above = judge(read_trial(trial.write(tmp_path / "above")), metric="max_rss")
    assert above.candidates[0].benchmarks[0].speedup is not None
    assert "<= " not in str(above)


def test_one_candidate_may_be_judged_alone(synthetic: Build, tmp_path: Path) -> None:
    # first use, B: `verdict runs/X:VARIANT` said that there was no such trial
    made = synthetic(times(a=1.0, b=0.5, c=0.7))
    trial = read_trial(made.write(tmp_path))
    whole, alone = judge(trial), judge(trial, candidate="b")
    assert [one.variant for one in alone.candidates] == ["b"]
    assert alone.candidates[0] == whole.candidates[0]
    assert alone.runs == whole.runs * 2 // 3
    with pytest.raises(UsageError, match="'a' is the baseline"):
        judge(trial, candidate="a")
    with pytest.raises(UsageError, match="no variant 'x'"):
        judge(trial, candidate="x")


def test_a_cell_with_a_zero_is_not_measured_and_the_others_are_judged(
    synthetic: Build, tmp_path: Path
) -> None:
    # first use, A13: one run of one cell without user time refused the whole suite
    made = synthetic(times(a=1.0, b=0.5))
    hit = next(
        k for k, row in enumerate(made.rows) if (row.benchmark, row.variant) == ("text", "b")
    )
    made.rows[hit] = replace(made.rows[hit], user_s=0.0)
    trial = read_trial(made.write(tmp_path))
    result = judge(trial, metric="user")
    rows = {row.benchmark: row for row in result.candidates[0].benchmarks}
    assert (rows["text"].median_candidate, rows["text"].speedup) == (None, None)
    assert rows["text"].median_baseline is not None
    assert {row.word for name, row in rows.items() if name != "text"} == {"faster"}
    (said,) = (one for one in result.cautions if one.code == "not-positive")
    assert said.about == ("b", "text")
    assert "0 or less" in said
    assert re.search(r"text .* not measured", str(result))
    assert not any(one.code == "not-positive" for one in judge(trial).cautions)


def test_a_variant_of_zeros_only_is_said_to_be_left_out(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(times(a=1.0, b=0.5))
    made.rows = [replace(row, user_s=0.0) if row.variant == "b" else row for row in made.rows]
    result = judge(read_trial(made.write(tmp_path)), metric="user")
    assert result.candidates[0].word == "undecided"
    (said,) = (one for one in result.cautions if one.code == "variant-left-out")
    assert "every benchmark of 'b' has a run whose user is 0 or less" in said


def test_one_benchmark_is_answered_without_contradiction(synthetic: Build, tmp_path: Path) -> None:
    # first use, A15: "slower" stood above "no reliability above 0.5 is possible", and a rank table
    data = {"old": {"x": [1.0, 1.01, 1.02, 1.03, 1.04]}, "new": {"x": [2.0, 2.1, 2.2, 2.3, 2.4]}}
    result = judged(synthetic(data), tmp_path)
    text = str(result)
    assert result.candidates[0].word == result.candidates[0].benchmarks[0].word == "slower"
    assert "level-out-of-reach" not in {caution.code for caution in result.cautions}
    assert "is possible" not in text
    assert "fairtrial resample" in text.splitlines()[-1]
