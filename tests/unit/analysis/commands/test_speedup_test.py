from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import AnalysisError, UsageError
from harness.commands.command_parser import parser_for

HEADING = "Name,Sample1,Sample2,ConfLevel,Coef\n"
ENDINGS = [".out", ".report", ".status", ".warning"]
SLOW = [2.799, 2.046, 1.259, 1.877, 2.244]
FAST = [1.046, 0.259, 0.877, 1.244, 1.799]
ODD = [2.02, 2.25, 2.3, 2.251, 2.01]  # Shapiro's p is 0.07


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name, values in (("slow", SLOW), ("fast", FAST), ("odd", ODD)):
        Path(name).write_text("".join(f"{value}\n" for value in values))
    configure()
    return folder


def configure(*ends: str, name: str = "b.cfg", heading: str = HEADING) -> None:
    """Write a configuration of benchmarks b0, b1 ..., each with its level and coefficient."""
    rows = [f"b{k},slow,fast,{end}\n" for k, end in enumerate(ends or [",", ","])]
    Path(name).write_text(heading + "".join(rows))


def execute(*words: str) -> str:
    args = parser_for("speedup-test").read(["speedup-test", *words])
    out = io.StringIO()
    assert args.run(args, out, io.StringIO()) == 0
    return out.getvalue()


def judged(*words: str) -> dict[str, Any]:
    return json.loads(execute(*words, "--json"))


def results(prefix: str = "b.cfg") -> list[dict[str, str]]:
    with Path(f"{prefix}.out").open(newline="") as file:
        return list(csv.DictReader(file))


def column(name: str) -> list[str]:
    return [row[name] for row in results()]


# ---- levels


@pytest.mark.parametrize(
    ("levels", "words", "required", "proportion"),
    [
        ((",", "0.8,", "NA,"), ["--conf-level", "0.9"], [0.9, 0.8, 0.9], 0.9),
        ((",", "0.8,"), [], [None, 0.8], 0.95),  # what nobody names is searched
        ((",", "0.8,"), ["--search"], [None, 0.8], 0.95),
        ((",", "0.8,"), ["--conf-level", "search"], [None, 0.8], 0.95),
        (("0.9,", "0.9,"), [], [0.9, 0.9], 0.95),  # that of the file is not that of the proportion
    ],
)
def test_level_of_the_file_comes_before_the_command_line(levels, words, required, proportion):
    configure(*levels)
    data = judged("b.cfg", *words)
    assert [row["required"] for row in data["benchmarks"]] == required
    assert data["proportion_mean"]["confidence"] == proportion
    assert column("MeanConfLevel") == [str(level or 0.98) for level in required]


def test_trials_and_matrices_have_095(files: tuple[str, str]) -> None:
    data = judged(*files, "--better", "lower")
    assert data["benchmarks"][0]["required"] == data["proportion_mean"]["confidence"] == 0.95
    data = judged(*files, "--better", "lower", "--confidence", "0.8")
    assert data["benchmarks"][0]["required"] == data["proportion_mean"]["confidence"] == 0.8
    data = judged(*files, "--better", "lower", "--search")
    assert data["benchmarks"][0]["required"] is None
    assert data["proportion_mean"]["confidence"] == 0.95


def test_cannot_conclude_is_na_and_is_no_failed_search() -> None:
    Path("b.cfg").write_text("one,odd,fast,,\n")
    execute("b.cfg", "--conf-level", "0.9")
    assert (column("IsMeanSignificant"), column("MeanConfLevel")) == (["NA"], ["0.9"])
    text = Path("b.cfg.warning").read_text()
    assert "Sample1 too small for applying the Student's t-test" in text
    assert "Unable to find" not in text


def test_a_slower_candidate_finds_no_level() -> None:
    Path("b.cfg").write_text("one,fast,slow,,\n")
    execute("b.cfg")
    assert (column("IsMeanSignificant"), column("MeanConfLevel")) == (["FALSE"], ["NA"])
    text = Path("b.cfg.warning").read_text()
    assert "significance of mean speedup." in text
    assert "significance of median speedup." in text
    assert "2 warning(s)." in text


# ---- weights and precision


def test_coefficients_of_the_file() -> None:
    configure(",2.5", ",1")
    data = judged("b.cfg")
    assert data["weighting"] == "custom"
    assert column("CoefMin") == column("CoefMedian") == ["2.5", "1"]
    assert judged("b.cfg", "--weight", "custom")["weights"] == data["weights"]
    assert not any("Coef" in caution for caution in data["cautions"])


def test_missing_coefficients_are_1_and_are_told() -> None:
    configure(",2.5", *[",NA"] * 5)
    data = judged("b.cfg")
    assert column("CoefMean") == ["2.5", *["1"] * 5]
    assert data["cautions"][0] == "without a Coef of its own, 1 was taken: b1, b2, b3 and 2 more"


def test_no_coefficients_at_all_are_equal_weights() -> None:
    data = judged("b.cfg")
    assert (data["weighting"], column("CoefMean")) == ("equal", ["1", "1"])
    assert not any("Coef" in caution for caution in data["cautions"])
    data = judged("b.cfg", "--weight", "custom")
    assert data["weighting"] == "equal"
    assert "gives no Coef" in data["cautions"][0]


def test_weights_of_the_command_line() -> None:
    Path("b.cfg").write_text("one,slow,fast,,7\ntwo,odd,fast,,9\n")
    assert judged("b.cfg", "--weight", "equal")["weighting"] == "equal"
    assert column("CoefMin") == ["1", "1"]
    assert judged("b.cfg", "--weight", "fraction")["weighting"] == "fraction"
    least = [min(SLOW), min(ODD)]
    assert float(column("CoefMin")[0]) == pytest.approx(least[0] / sum(least), rel=1e-5)
    assert column("CoefMin") != column("CoefMean") != column("CoefMedian")


def test_precision() -> None:
    Path("b.cfg").write_text("one,slow,fast,,\ntwo,fast,slow,,\n")
    needed = [
        judged("b.cfg", *words)["proportion_mean"]["needed_benchmarks"]
        for words in ([], ["--precision", "0.1"])
    ]
    assert needed == [385, 97]
    with pytest.raises(UsageError, match="precision"):
        execute("b.cfg", "--precision", "0")


# ---- what is printed


def test_without_a_prefix_trials_and_matrices_write_nothing(
    files: tuple[str, str], here: Path
) -> None:
    before = sorted(here.iterdir())
    text = execute(*files, "--better", "lower")
    assert "new against old" in text
    assert "written:" not in text
    assert sorted(here.iterdir()) == before
    text = execute(*files, "--better", "lower", "-o", "x")
    assert text.endswith("written: x.out, x.report, x.status, x.warning\n")
    assert Path("x.report").read_text().startswith("Analysis report of new against old\n")


def test_steps() -> None:
    assert "Shapiro-Wilk" not in execute("b.cfg")
    short, long = execute("b.cfg", "--steps"), execute("b.cfg", "--verbose")
    assert short == long
    assert short.count("Kolmogorov-Smirnov") == 2


def test_left_out_benchmarks_are_told_first() -> None:
    Path("b.cfg").write_text("one,slow,fast,,\ntwo,gone,fast,,\n")
    first = judged("b.cfg")["cautions"][0]
    assert first.startswith("1 benchmark of the configuration was left out: 'two' (line 2): File ")
    assert column("Name") == ["one"]
    Path("b.cfg").write_text("one,slow,fast,,\ntwo,gone,fast,,\nthree,gone,slow,,\n")
    first = judged("b.cfg")["cautions"][0]
    assert first.startswith("2 benchmarks of the configuration were left out: the first is 'two'")


# ---- which input it is


def test_a_configuration_by_any_name(here: Path) -> None:
    for name in ("config.csv", "noending", "bench.txt"):
        configure(name=name)
        execute(name)
        assert [path.name for path in sorted(here.glob(f"{name}.*"))] == [name + e for e in ENDINGS]
    configure(",", name="bare.csv", heading="")
    execute("bare.csv")
    assert results("bare.csv")[0]["Name"] == "b0"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["gone.cfg"], "there is no such file"),
        (["runs/gone:new"], "neither a matrix file nor a variant"),
        (["new.csv"], "BASELINE is missing"),
        (["b.cfg", "new.csv"], "a configuration names both sides itself"),
        (["new.csv", "b.cfg"], "a configuration names both sides itself"),
        (["b.cfg", "--metric", "wall"], "--metric is not for configurations"),
        (["b.cfg", "--better", "lower"], "--better is not for configurations"),
        (["b.cfg", "--layout", "columns"], "--layout columns is not for configurations"),
        (["new.csv", "old.csv", "--better", "lower", "--weight", "custom"], "coefficients of a"),
        (["new.csv", "old.csv"], "which direction is better"),
        (["b.cfg", "-o", ""], "not a prefix of file names"),
        (["b.cfg", "-o", "here/"], "not a prefix of file names"),
        (["b.cfg", "-o", "gone/x"], "there is no folder 'gone'"),
        (["b.cfg", "-o", "slow/x"], "there is no folder 'slow'"),
        (["b.cfg", "-o", "taken"], "'taken.out' is a directory"),
        (["b.cfg", "-o", "x" * 300], "File name too long"),
        (["b.cfg", "-o", "x" * 245], "File name too long"),
        (["x" * 300], "File name too long"),
    ],
)
@pytest.mark.usefixtures("files")
def test_wrong_usage_writes_nothing(here: Path, words: list[str], says: str) -> None:
    (here / "taken.out").mkdir()
    before = sorted(here.iterdir())
    with pytest.raises(UsageError) as error:
        execute(*words)
    assert says in str(error.value)
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize(
    ("level", "says"),
    [
        ("95", "write 0.95 for 95 %"),
        ("1", "not between 0 and 1"),
        ("0", "not between 0 and 1"),
        ("nan", "not between 0 and 1"),
        ("high", "'high' is not a number"),
    ],
)
def test_wrong_levels(level: str, says: str) -> None:
    with pytest.raises(UsageError) as error:
        execute("b.cfg", "--conf-level", level)
    assert says in str(error.value)


# ---- writing


def test_a_failed_analysis_writes_its_status_and_leaves_the_rest(here: Path) -> None:
    execute("b.cfg")
    old = {ending: Path(f"b.cfg{ending}").read_text() for ending in ENDINGS}
    Path("slow").write_text("none\n")
    with pytest.raises(AnalysisError, match="each of the 2 benchmarks was left out"):
        execute("b.cfg")
    new = {ending: Path(f"b.cfg{ending}").read_text() for ending in ENDINGS}
    assert [ending for ending in ENDINGS if old[ending] == new[ending]] == [".out", ".report"]
    assert new[".status"].startswith("error: b.cfg: each of the 2 benchmarks")
    assert new[".warning"].endswith("4 warning(s).\n")


def test_results_that_cannot_be_put_in_place(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    execute("b.cfg")
    before = {path.name: path.read_bytes() for path in here.glob("b.cfg.*")}
    configure(",2", ",3")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(UsageError, match="cannot be written: No space left"):
        execute("b.cfg")
    assert {path.name: path.read_bytes() for path in here.glob("b.cfg.*")} == before


@pytest.fixture
def files(here: Path) -> tuple[str, str]:
    for name, scale in (("new", 1.0), ("old", 2.0)):
        lines = [f"b{k},{scale},{scale * 1.01},{scale * 1.02},{scale * 1.03}" for k in range(5)]
        Path(f"{name}.csv").write_text("\n".join(lines))
    return "new.csv", "old.csv"


def test_variants_of_a_trial(synthetic: Callable[..., Any], tmp_path: Path) -> None:
    data = {"old": {"b": SLOW}, "new": {"b": FAST}}
    trial = str(synthetic(data).write(tmp_path / "runs" / "one"))
    found = judged(f"{trial}:new", f"{trial}:old")
    assert (found["candidate"], found["baseline"]) == ("new", "old")
    assert found["speedup"]["min"] == pytest.approx(4.861, abs=1e-3)
    assert judged(f"{trial}:new") == found
    assert judged(trial) == found  # its only candidate
    with pytest.raises(UsageError, match="several variants"):
        execute(trial, trial)
