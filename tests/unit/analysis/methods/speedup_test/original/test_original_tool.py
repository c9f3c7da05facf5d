from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.errors import UsageError
from analysis.methods.speedup_test.compare import speedup_test_suite
from analysis.methods.speedup_test.original import (
    COLUMNS,
    UNAVAILABLE,
    LeftOut,
    SpeedupConfig,
    read_speedup_config,
    report_text,
    results_text,
    speedup_test_config,
    warning_text,
    warnings_of,
)
from analysis.methods.speedup_test.result import (
    CENTRES,
    KOLMOGOROV,
    SHAPIRO,
    WILCOXON,
    Decision,
    Outcome,
    Side,
    SpeedupSuite,
    SpeedupTest,
    Step,
    Swapped,
    proportion,
)
from analysis.pages.model import Caution


def step(test: str, outcome: Outcome, sample: Side | None = None, risk: float = 0.05) -> Step:
    return Step(
        test=test,
        hypothesis="something holds",
        sample=sample,
        statistic=None if outcome == "not tested" else 0.5,
        pvalue=None if outcome == "not tested" else 0.5,
        risk=risk,
        outcome=outcome,
        consequence="why it is so",
    )


def decision(
    significant: bool | None,
    confidence: float | None = 0.95,
    *steps: Step,
    searched: bool = False,
) -> Decision:
    return Decision(
        significant=significant,
        confidence=confidence,
        pvalue=0.01,
        steps=steps or (step(WILCOXON, "rejected"),),
        needed_runs=None,
        searched=searched,
        swapped=Swapped(significant=False, confidence=confidence, pvalue=0.99),
    )


YES = decision(True)
NONE_FOUND = decision(False, None, searched=True)


def benchmark(name: str, mean: Decision = YES, median: Decision = YES, **speedups: float):
    of = {"speedup_min": 1.97058, "speedup_mean": 1.27558, "speedup_median": 1.1296} | speedups
    times = {f"{kind}_{side}": 1.0 for kind in TIMES for side in ("baseline", "candidate")}
    return SpeedupTest(
        name=name,
        runs_baseline=5,
        runs_candidate=5,
        mean=mean,
        median=median,
        required=0.95,
        cautions=(),
        **of,
        **times,
    )


TIMES = ("minimum", "mean", "median")


def suite(*tests: SpeedupTest, coefficient: float = 1.0) -> SpeedupSuite:
    each = {test.name: coefficient for test in tests}
    equal = {test.name: 1 / len(tests) for test in tests}
    figures = dict(zip(CENTRES, (0.3707425, -0.0001, 0.5), strict=True))
    return SpeedupSuite(
        baseline="initial",
        candidate="optimised",
        benchmarks=tests,
        weighting="equal",
        coefficients=dict.fromkeys(CENTRES, each),
        weights=dict.fromkeys(CENTRES, equal),
        gain=figures,
        speedup={"min": 1.5891, "mean": 0.0123456, "median": 2.0},
        gain_accelerated=figures,
        speedup_accelerated=figures,
        proportion_mean=proportion(3, 4),
        proportion_median=proportion(17, 30, confidence=0.9, precision=0.1),
        cautions=(),
    )


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


# ---- .out


def test_columns_of_the_results() -> None:
    text = results_text(suite(benchmark("First benchmark")))
    assert text == (
        '"Name","SpeedupMin","SpeedupMean","IsMeanSignificant","MeanConfLevel","SpeedupMedian",'
        '"IsMedianSignificant","MedianConfLevel","CoefMin","CoefMean","CoefMedian"\n'
        '"First benchmark",1.971,1.276,TRUE,0.95,1.13,TRUE,0.95,1,1,1\n'
    )
    assert tuple(rows(text)[0]) == COLUMNS


def test_what_is_unknown_is_na() -> None:
    (row,) = rows(results_text(suite(benchmark("a", NONE_FOUND, decision(None)))))
    assert (row["IsMeanSignificant"], row["MeanConfLevel"]) == ("FALSE", "NA")
    assert (row["IsMedianSignificant"], row["MedianConfLevel"]) == ("NA", "0.95")


def test_levels_keep_their_digits() -> None:
    (row,) = rows(results_text(suite(benchmark("a", decision(True, 0.9999999)))))
    assert row["MeanConfLevel"] == "0.9999999"


@pytest.mark.parametrize("name", ['with "quotes", and commas', "naïve 測試", "=1+1", " "])
def test_names_come_back_from_the_results(name: str) -> None:
    assert [row["Name"] for row in rows(results_text(suite(benchmark(name))))] == [name]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (1.1296, "1.13"),
        (0.9996, "1"),
        (0.1, "0.1"),
        (0.0123456, "0.01235"),
        (1.23456e-9, "1.235e-09"),
        (123456.789, "123456.789"),
        (1e12, "1000000000000"),
    ],
)
def test_speedups_have_three_decimals_or_four_digits(value: float, text: str) -> None:
    (row,) = rows(results_text(suite(benchmark("a", speedup_min=value))))
    assert row["SpeedupMin"] == text


def test_coefficients_keep_their_digits() -> None:
    (row,) = rows(results_text(suite(benchmark("a"), coefficient=0.000832639467)))
    assert row["CoefMean"] == "0.000832639"


def test_benchmark_without_a_name_is_a_bug() -> None:
    with pytest.raises(ValueError, match="has a name"):
        results_text(suite(replace(benchmark("a"), name=None)))


# ---- .warning


def test_no_warnings() -> None:
    text = warning_text("bench.cfg", (), {"one": ()})
    assert text == "Warnings regarding analysis of bench.cfg\n\n0 warning(s).\n"


def test_warnings_benchmark_by_benchmark() -> None:
    out = LeftOut(name="bad", line=3, reasons=("File 'x' is not readable: gone",))
    text = warning_text("bench.cfg", (out,), {"one": ("first\nmore", "second"), "two": ()})
    assert text.split("\n\n") == [
        "Warnings regarding analysis of bench.cfg",
        "bad :",
        "File 'x' is not readable: gone",
        UNAVAILABLE,
        "one :",
        "first\nmore",
        "second",
        "4 warning(s).\n",
    ]


def heads(test: SpeedupTest, runs: tuple[int, int] = (5, 5)) -> list[str]:
    sized = replace(test, runs_baseline=runs[0], runs_candidate=runs[1])
    return [text.splitlines()[0] for text in warnings_of(sized)]


def normality(baseline: Outcome, candidate: Outcome) -> SpeedupTest:
    steps = (step(SHAPIRO, baseline, "baseline"), step(SHAPIRO, candidate, "candidate"))
    return benchmark("a", decision(None, 0.95, *steps))


def test_benchmark_without_doubts_has_no_warning() -> None:
    assert heads(benchmark("a")) == []
    assert heads(normality("not rejected", "not rejected")) == []


SMALL_MEAN = "{} too small for applying the Student's t-test (speedup of the mean)."
SMALL_MEDIAN = "{} too small for applying the Wilcoxon-Mann-Whitney's test (speedup of the median)."


def test_small_samples_that_do_not_look_normal() -> None:
    both = normality("rejected", "rejected")
    assert heads(both) == [SMALL_MEAN.format("Sample1"), SMALL_MEAN.format("Sample2")]
    assert heads(both, (30, 30)) == heads(both)
    assert heads(normality("not rejected", "rejected")) == [SMALL_MEAN.format("Sample2")]
    (text,) = warnings_of(normality("not rejected", "not tested"))
    assert text.endswith("executions times.\n(not tested: why it is so)")


APART = (
    " The indicated confidence level for the speedup of the {} execution time may not be accurate."
)


def test_large_samples_that_do_not_look_normal() -> None:
    doubt = APART.format("average")
    rejected = normality("rejected", "rejected")
    assert heads(rejected, (31, 30)) == [
        f"Sample1 data are not normally distributed.{doubt}",
        SMALL_MEAN.format("Sample2"),
    ]
    assert heads(normality("not rejected", "rejected"), (31, 31)) == [
        f"Sample2 data are not normally distributed.{doubt}"
    ]
    assert heads(normality("not rejected", "not tested"), (31, 31)) == [
        f"Sample2 data may not be normally distributed.{doubt}"
    ]


def test_samples_of_another_shape() -> None:
    small = benchmark("a", median=decision(None, 0.95, step(KOLMOGOROV, "rejected")))
    assert heads(small) == [SMALL_MEDIAN.format("Sample1"), SMALL_MEDIAN.format("Sample2")]
    assert heads(small, (31, 30)) == [SMALL_MEDIAN.format("Sample2")]
    assert heads(small, (31, 31)) == [
        f"The two samples do not fit the location shift model.{APART.format('median')}"
    ]
    assert (
        heads(benchmark("a", median=decision(True, 0.95, step(KOLMOGOROV, "not rejected")))) == []
    )


def test_searches_without_a_level() -> None:
    sentence = (
        "Unable to find a confidence level greater than 50% to guarantee the statistical "
        "significance of {} speedup."
    )
    assert heads(benchmark("a", NONE_FOUND, NONE_FOUND)) == [
        sentence.format("mean"),
        sentence.format("median"),
    ]
    assert heads(benchmark("a", decision(None), decision(False))) == []  # a level was asked for


# ---- .report


def test_report_has_the_originals_lines() -> None:
    text = report_text("./bench.cfg", suite(benchmark("one"), benchmark("two")))
    lines = text.splitlines()
    assert lines[0] == "Analysis report of ./bench.cfg"
    for line in (
        "Sample1: initial; Sample2: optimised",
        "Overall gain (ExecutionTime=min) = 0.371",
        "Overall gain (ExecutionTime=mean) = 0",
        "Overall speedup (ExecutionTime=min) = 1.589",
        "Overall speedup (ExecutionTime=mean) = 0.01235",
        "The observed proportion of accelerated benchmarks (speedup of the mean) a/b = 3/4 = 0.75",
        "The confidence level for computing proportion confidence interval is 0.95.",
        "Proportion confidence interval (speedup of the mean) = [0.219; 0.987]",
        "Proportion confidence interval (speedup of the median) = [0.403; 0.718]",
    ):
        assert line in lines
    at = [lines.index(line) for line in ("Result", "Decision of each benchmark", "one", "two")]
    assert at == sorted(at)
    assert lines[at[0] + 2].startswith("optimised against initial: the speedup of the mean is")
    for place in at[2:]:
        assert lines[place + 1].startswith("speedup of the mean 1.276x: significant at 0.95")
    doubts = [
        line for line in lines if "this confidence interval of the proportion may not" in line
    ]
    assert len(doubts) == 1  # 17/30 fulfils the condition
    needed = [line for line in lines if "needed number" in line]
    assert ["289" in needed[0], "r=0.05" in needed[0], "r=0.1" in needed[1]] == [True] * 3
    assert sum(line.startswith("Remark:") for line in lines) == 2


def test_report_keeps_its_layout_whatever_a_terminal_shows() -> None:
    told = replace(benchmark("two  blanks"), cautions=(Caution("noted", "so it is"),))
    text = report_text("./bench.cfg", suite(told))
    assert "\ntwo  blanks\nspeedup of the mean" in text
    assert text.endswith(
        """
the way to it, median, at risk 0.05
  Wilcoxon-Mann-Whitney  both  W = 0.5000  p = 0.500  rejected
      why it is so
cautions
  [1] so it is
"""
    )


# --- A configuration judged as the original does: whose level counts, and whose coefficients


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("slow").write_text("2.8\n2.05\n1.26\n1.88\n2.24\n")
    Path("fast").write_text("1.05\n0.26\n0.88\n1.24\n1.8\n")

    def configure(*rows: str) -> SpeedupConfig:
        Path("b.cfg").write_text("".join(f"{row}\n" for row in rows))
        return read_speedup_config("b.cfg")

    return configure


def codes(cautions: tuple[Caution, ...]) -> list[str]:
    return [caution.code for caution in cautions]


def test_a_level_of_the_configuration_comes_first(read) -> None:
    config = read("own,slow,fast,0.8,", "none,slow,fast,,")
    asked, sought = (speedup_test_config(config, confidence=level) for level in (0.9, None))
    assert [test.required for test in asked.benchmarks] == [0.8, 0.9]
    assert [test.required for test in sought.benchmarks] == [0.8, None]
    assert asked.proportion_median.confidence == 0.9
    assert sought.proportion_mean.confidence == 0.95


@pytest.mark.parametrize(
    ("ends", "weighting", "found", "code"),
    [
        ((",", ","), None, ("equal", [1.0, 1.0]), None),
        ((",", ","), "custom", ("equal", [1.0, 1.0]), "no-coefficients"),
        ((",3", ",2"), None, ("custom", [3.0, 2.0]), None),
        ((",3", ",NA"), None, ("custom", [3.0, 1.0]), "coefficient-missing"),
        ((",3", ",NA"), "custom", ("custom", [3.0, 1.0]), "coefficient-missing"),
        ((",3", ",NA"), "equal", ("equal", [1.0, 1.0]), None),
    ],
)
def test_coefficients(read, ends, weighting, found, code) -> None:
    suite = speedup_test_config(
        read(*(f"b{k},slow,fast,{end}" for k, end in enumerate(ends))), weighting=weighting
    )
    assert (suite.weighting, list(suite.coefficients["mean"].values())) == found
    about_them = {"no-coefficients", "coefficient-missing"} & set(codes(suite.cautions))
    assert about_them == ({code} if code else set())
    missing = [caution for caution in suite.cautions if caution.code == "coefficient-missing"]
    assert [caution.about for caution in missing] == [("b1",)] * len(missing)


def test_what_the_configuration_lacks_is_told_before_all_else(read) -> None:
    config = read("one,slow,fast,95,7", "two,gone,fast,,", "three,slow,none,,")
    suite = speedup_test_config(config, confidence=0.9, precision=0.1, compatible=True)
    assert codes(suite.cautions)[:2] == ["benchmarks-left-out", "level-ignored"]
    assert suite.cautions[0].about == ("two", "three")
    plain = speedup_test_suite(
        baseline=config.baseline,
        candidate=config.candidate,
        confidence=0.9,
        weights={"one": 7},
        precision=0.1,
    )
    assert suite.cautions[2:] == plain.cautions
    assert suite.to_dict() | {"cautions": (), "caution_codes": ()} == plain.to_dict() | {
        "cautions": (),
        "caution_codes": (),
    }


def test_wrong_arguments_are_refused(read) -> None:
    config = read("one,slow,fast,,")
    with pytest.raises(UsageError, match="confidence"):
        speedup_test_config(config, confidence=1.0)
    with pytest.raises(UsageError, match="precision"):
        speedup_test_config(config, precision=0.0)
