"""`fairtrial sources TABLE` as people call it: files, options, pictures, progress and faults."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from analysis.methods.variance_sources import predictions
from harness.cli import main
from tests.unit.harness.commands.conftest import Terminal


@pytest.fixture(scope="module", autouse=True)
def few_trees():
    """Predict with few trees: which prediction it is, unit tests say."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(predictions, "MOST_TREES", 8)
        yield


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write a table of 52 systems in ten families, with three runs each."""
    draw = np.random.default_rng(5)
    family = np.arange(52) % 10
    clock = draw.uniform(1, 4, 10)[family]
    lines = ['run1,run2,run3,family,clock,os,constant,id,"CPU(s), orderable"']
    for k in range(52):
        runs = ",".join(f"{10 * clock[k] + one:.4f}" for one in draw.normal(size=3))
        os = "" if k % 11 == 0 else f"os{draw.integers(3)}"
        lines.append(f"{runs},f{family[k]},{clock[k]:.3f},{os},x,i{k},{k % 5}")
    path = tmp_path_factory.mktemp("table") / "systems.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def table(written, monkeypatch):
    monkeypatch.chdir(written.parent)
    return written


IGNORE = ("--ignore", "constant,id,CPU(s), orderable,run2,run3")
ONCE = ("--test-share", "0.3")  # ten folds: the picture below
FAMILIES = ("--response", "run1", "--group", "family", *IGNORE, *ONCE, "--seed", 3)
RUNS = ("--response", "run1,run2,run3", "--ignore", "constant,id", *ONCE)


def fairtrial(*words, err=None):
    out, err = io.StringIO(), err or io.StringIO()
    code = main(["sources", *map(str, words)], out, err)
    return code, out.getvalue(), err.getvalue()


def answer(*words):
    code, out, err = fairtrial(*words, "--json")
    assert code == 0, err
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


@pytest.fixture(scope="module")
def answers(written):
    """Give two answers, each found once: of one response in families, and of its runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(written.parent)
        return answer(written, *FAMILIES), answer(written, *RUNS)


def test_one_response_and_headings_that_hold_commas(answers):
    found, _ = answers
    assert found["method"] == "sources"
    assert found["correlation"] > 0.8
    assert found["correlation_grouped"] is not None
    assert found["ceiling"] is None
    assert [set(one) for one in found["importance"]] == [{"factor", "mean", "sd"}] * 2
    assert {one["factor"] for one in found["importance"]} == {"clock", "os"}
    assert found["components"] == found["factors"] == found["modes"] == []
    assert "ceiling-unknown" in found["caution_codes"]


def test_runs_give_performance_variation_and_the_ceiling(answers):
    _, found = answers
    assert [one["kind"] for one in found["systems"]] == ["performance", "variation"]
    assert found["correlation_grouped"] is None
    assert 0.9 < found["ceiling"] < 1
    assert found["ceiling"] == found["systems"][0]["ceiling"]["correlation"]
    assert "families-unknown" in found["caution_codes"]


def test_the_seed_decides(table, answers):
    assert answer(table, *FAMILIES) == answers[0]
    assert answers[0]["seed"] == 3
    assert answer(table, *FAMILIES[:-1], 4)["correlation"] != answers[0]["correlation"]


def test_the_picture_the_interval_and_the_line_that_moves_on_a_terminal_only(table):
    words = (table, "--response", "run1", *IGNORE, "--confidence", "0.5", "--plot", "p.svg")
    code, out, shown = fairtrial(*words, err=Terminal())
    assert code == 0
    assert out.startswith("For systems held out at random, predicted and measured run1")
    assert "50 % interval" in out
    picture = (table.parent / "p.svg").read_text()
    assert "what predictions rest on (no causes)" in picture
    assert "For systems held out at random" in picture
    first = "predicting the response 2 of 3 steps"
    opening = "reading and looking"
    assert shown == f"\r{opening}\r{first}\r{' ' * len(first)}\r"  # no time passes


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--response", "run"), 2, "did you mean 'run"),
        (("--response", "run1"), 6, "'constant' is constant"),
        (("--response", "run1"), 6, "--ignore 'constant,id'"),
        (("--response", "run1", "--group", "constant", "--ignore", "id"), 6, "one level only"),
        (("--response", "run1", "--resamples", "9"), 2, "is for trials"),
        (("--response", "run1", "--metric", "wall"), 2, "is for trials"),
        (("--group", "family"), 2, "is for tables"),
        (("--response", "run1", "--runs", "3", *IGNORE), 2, "--variation COLUMN"),
        (("--response", ","), 2, "no response is named"),
        (("--response", "run1", "--plot", "p.gif"), 2, "a picture ends in"),
        (("--response", "run1", "--confidence", "2", *IGNORE), 2, "between 0 and 1"),
    ],
)
def test_what_cannot_be_answered_is_said_with_its_exit_code(table, words, code, said):
    found, out, err = fairtrial(table, *words)
    assert (found, out) == (code, "")
    assert said in err


def test_two_tables_and_files_that_are_none(table, tmp_path):
    assert fairtrial(table, table, "--response", "run1")[0] == 2
    assert fairtrial(tmp_path / "none.csv", "--response", "x")[0] == 2
    (tmp_path / "short.csv").write_text("a,b\n1,2\n2,3\n")
    code, _, err = fairtrial(tmp_path / "short.csv", "--response", "a")
    assert code == 6
    assert "2 rows have the response 'a'" in err


# ---- as the published study has it


@pytest.fixture
def suite(tmp_path, monkeypatch):
    """Write 60 systems with three runs of two benchmarks, and the flags that these were compiled with."""
    draw = np.random.default_rng(7)
    lines = ["gcc 1,gcc 2,gcc 3,mcf_1,mcf_2,mcf_3,clock,flags"]
    for k in range(60):
        clock, fast = 2 + k % 10, k % 3 == 0
        runs = clock * (1.5 if fast else 1) * np.exp(draw.normal(0, 0.01, 6))
        lines.append(",".join(f"{run:.5f}" for run in runs) + f",{clock},-O3{' -fast' * fast}")
    (tmp_path / "suite.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    return "suite.csv"


PUBLISHED = ("--benchmarks", "gcc,mcf", "--flags", "flags", "--test-share", "0.3")


def test_a_suite_with_flags_and_one_split(suite):
    found = answer(suite, *PUBLISHED, "--resamples", "200")
    performance, variation = found["systems"]
    assert performance["response"] == "geometric mean of gcc, mcf"
    assert variation["response"] == "log(sd / mean) of gcc, mcf"
    assert (performance["test_share"], performance["resamples"]) == (0.3, 200)
    assert performance["random"]["rows"] == 18
    assert {one["factor"] for one in performance["influence"]} == {"clock", "-fast"}
    assert sum(one["share"] for one in performance["influence"]) == pytest.approx(1)
    assert found["caution_codes"].count("flags-left-out") == 1  # -O3 stands in all rows


def test_its_words_and_its_picture(suite):
    code, out, err = fairtrial(suite, *PUBLISHED, "--plot", "p.svg")
    assert (code, err) == (0, "")
    assert "For systems held out at random (30 %, once)" in out
    assert "relative influence" in out
    picture = Path("p.svg").read_text()
    assert "standard deviation, % of the mean" in picture
    assert picture.count(">the systems<") == 2


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--benchmarks", "gcc", "--response", "clock"), 2, "--response does not go with"),
        (("--benchmarks", "gcc", "--runs", "3"), 2, "--runs does not go with --benchmarks"),
        (("--response", "clock", "--resamples", "9"), 2, "--resamples is for trials"),
        (("--benchmarks", "gcc", "--test-share", "30"), 2, "must lie between 0 and 1"),
        (("--benchmarks", "gcc", "--test-share", "0.1"), 6, "6 of 60 rows are held out"),
        (("--benchmarks", "gcc", "--flags", "clock"), 6, "holds numbers, and no flags"),
        (("--benchmarks", ","), 2, "no benchmark is named"),
    ],
)
def test_what_is_refused_of_a_suite(suite, words, code, said):
    found, out, err = fairtrial(suite, *words, "--ignore", "mcf_1,mcf_2,mcf_3")
    assert (found, out) == (code, "")
    assert said in err
    assert "\n" in err
