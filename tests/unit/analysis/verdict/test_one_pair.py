"""One table for one pair: its lines are the answers of the methods; t by R and by the printed Table 8."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.hpt.page import hpt_report
from analysis.methods.resampling.report import resampling_report
from analysis.stats.arguments import stream
from analysis.verdict.one_pair import pair_table
from tests.unit.analysis.commands.conftest import executed

SPLASH = Path(__file__).parents[3] / "golden" / "hpt_splash2"
CALL = (str(SPLASH / "scores_x_over_1.76.csv"), str(SPLASH / "scores_y.csv"))
QUICK = ("--better", "higher", "--resamples", "200", "--seed", "3")


@pytest.fixture(scope="module")
def splash() -> tuple[PerformanceMatrix, ...]:
    return tuple(PerformanceMatrix.read(path, better="higher") for path in CALL)


def test_each_line_is_the_answer_of_its_method(splash: Sequence[PerformanceMatrix]) -> None:
    table = pair_table(*splash, compared=True, confidence=0.9, resamples=200, seed=3)
    best, logs, *means = table.lines
    report = hpt_report(*splash, confidence=0.9)
    assert (best.rule, best.speedup) == ("hpt", report.best.value)
    assert (best.confidence, best.pvalue) == (report.plain.confidence, report.plain.pvalue)
    paired = report.context.paired_t[1]
    assert (logs.low, logs.high) == (paired.low, paired.high)
    assert [line.mean for line in means] == ["geometric", "harmonic", "arithmetic"]
    for line in means:
        alone = resampling_report(
            *splash, mean=line.mean, confidence=0.9, resamples=200, rng=stream(3, "resample")
        )
        assert alone.interval is not None
        assert line.speedup == alone.test.ratio
        assert line.confidence == 1 - alone.test.pvalue < 1  # p is never 0
        assert (line.low, line.high) == (alone.interval.low, alone.interval.high)
    # 2.146 times 1 / 1.76, and the two other means
    assert [round(line.speedup or 0, 3) for line in means] == [1.219, 1.131, 1.310]


def test_t_of_splash_2_is_that_of_r(splash: Sequence[PerformanceMatrix]) -> None:
    # t.test(log(a / b)) on the medians, R 4.2.2
    line = pair_table(*splash, means=("geometric",), compared=True, resamples=50).lines[1]
    assert line.pvalue == pytest.approx(0.102058043772903, rel=1e-11)
    assert line.low == pytest.approx(0.956106644211756, rel=1e-10)
    assert line.high == pytest.approx(1.550282474835583, rel=1e-10)
    assert line.speedup == pytest.approx(1.217470892709697, rel=1e-12)


def test_the_command_prints_one_table() -> None:
    code, out, _ = executed("resample", *CALL, *QUICK, "--compare")
    assert code == 0
    text = " ".join(out.split())
    for words in ("HPT, 0.95-speedup", "t on log ratios", "geometric", "[0.9561, 1.551]"):
        assert words in text
    assert "harmonic" not in text
    data = json.loads(executed("resample", *CALL, *QUICK, "--mean", "all", "--json")[1])
    assert data["method"] == "resample-compare"
    assert [line["rule"] for line in data["lines"]] == ["resampling"] * 3
    assert (data["seed"], data["resamples"]) == (3, 200)
    lower = json.loads(
        executed("resample", *CALL, *QUICK, "--compare", "--sides", "lower", "--json")[1]
    )
    assert lower["lines"][2]["high"] is None


def test_one_run_each_has_no_interval(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(
            "x,1\ny,2\nz,4\n" if name == "a" else "x,2\ny,3\nz,4\n"
        )
    sides = [str(tmp_path / f"{name}.csv") for name in "ab"]
    code, text, _ = executed("resample", *sides, "--better", "lower", "--compare")
    assert code == 0
    assert "no bootstrap interval: " in text
    assert "none" in text


@pytest.mark.parametrize("words", [("--plot", "p.svg"), ("--also", CALL[0])])
def test_what_is_no_part_of_a_table(words: tuple[str, str], tmp_path: Path) -> None:
    code, out, err = executed("resample", *CALL, *QUICK, "--compare", *words)
    assert (code, out) == (2, "")
    assert f"{words[0]} is no part of the table" in err


# ---- one source alone


def test_one_source_alone_is_described() -> None:
    code, out, _ = executed("resample", CALL[0], "--resamples", "300")
    assert code == 0
    text = " ".join(out.split())
    assert "the geometric mean of one pass (one run of each of 14 benchmarks)" in text
    assert "IQR" in text
    data = json.loads(
        executed("resample", CALL[0], "--resamples", "300", "--seed", "4", "--json")[1]
    )
    (system,) = data["distributions"]["systems"]
    assert data["seed"] == 4
    # no pass lies outside of the passes of all smallest and of all largest runs
    assert system["lowest"] <= system["minimum"] <= system["median"] <= system["highest"]
    both = json.loads(
        executed("resample", CALL[0], "--also", CALL[1], "--resamples", "99", "--json")[1]
    )
    assert len(both["distributions"]["systems"]) == 2


@pytest.mark.parametrize(
    "words",
    [
        *(("--plot", "p.svg"), ("--compare",), ("--mean", "all")),
        # seen: each was taken, and changed nothing
        *(("--interval", "bca"), ("--sides", "lower"), ("--confidence", "0.9")),
        *(("--centre", "median"), ("--alternative", "candidate"), ("--unit", "run")),
    ],
)
def test_what_takes_two_sources(words: tuple[str, ...]) -> None:
    code, out, err = executed("resample", CALL[0], *words)
    assert (code, out) == (2, "")
    assert words[0] in err


# ---- which benchmarks count


@pytest.mark.parametrize("command", ["hpt", "resample", "speedup-test"])
def test_benchmarks_are_chosen_and_left_out(command: str) -> None:
    more = ("--resamples", "50") if command == "resample" else ()
    said = (command, *CALL, "--better", "higher", "--json", *more)

    def names(*words: str) -> list[str]:
        rows = json.loads(executed(*said, *words)[1])["benchmarks"]
        return [row if isinstance(row, str) else row["name"] for row in rows]

    every = names()
    assert len(every) == 14
    assert names("--exclude", "radix", "--exclude", "fft") == [
        name for name in every if name not in {"radix", "fft"}
    ]
    assert names("--benchmark", "radix", "--benchmark", "fft") == ["fft", "radix"]
    assert names("--benchmark", "radix", "--benchmark", "fft", "--exclude", "fft") == ["radix"]
    for option in ("--benchmark", "--exclude"):
        code, out, err = executed(*said, option, "radx")
        assert (code, out) == (2, "")
        assert f"{option}: there is no benchmark 'radx'" in err
        assert "known here: barnes, cholesky" in err
    code, _, err = executed(*said, "--benchmark", "fft", "--exclude", "fft")
    assert (code, "leave no benchmark" in err) == (2, True)


def test_mixture_of_some_benchmarks() -> None:
    call = ("mixture", *CALL, "--better", "higher", "--resamples", "0", "--json")

    def found(*words: str) -> tuple[list[str], bool]:
        data = json.loads(executed(*call, *words)[1])
        return [row["benchmark"] for row in data["benchmarks"]], data["detailed"]

    assert len(found("--exclude", "radix")[0]) == 13
    assert found("--benchmark", "radix", "--benchmark", "fft") == (["fft", "radix"], False)
    assert found("--benchmark", "radix") == (["radix"], True)
    assert executed(*call, "--benchmark", "radx")[0] == 2


def test_a_configuration_and_two_metrics_refuse_them(tmp_path: Path) -> None:
    config = tmp_path / "b.cfg"
    (tmp_path / "s").write_text("1\n2\n3\n")
    config.write_text("Name,Sample1,Sample2,ConfLevel,Coef\nb,s,s,,\n")
    code, _, err = executed("speedup-test", str(config), "--exclude", "b")
    assert (code, "--exclude is not for configurations" in err) == (2, True)
    code, _, err = executed("mixture", *CALL, "--and", "max_rss", "--exclude", "radix")
    assert (code, "several metrics are fitted on one benchmark" in err) == (2, True)
