"""The command ``plot``: one figure, its data beside it, and what is refused before the work."""

from __future__ import annotations

import io
import json
import os
import shlex
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from analysis.registry import FIGURES
from harness.cli import main

from .conftest import executed

ROOT = Path(__file__).resolve().parents[4]


execute = partial(executed, "plot")


@pytest.fixture
def trial(synthetic, tmp_path):
    rng = np.random.default_rng(1)
    data = {
        name: {b: (factor * np.exp(rng.normal(0, 0.01, 18))).tolist() for b in ("x", "y")}
        for name, factor in (("old", 1.0), ("new", 0.5), ("slow", 1.6))
    }
    return synthetic(data, sessions=6).write(tmp_path / "runs" / "one")


def test_options_of_judging_are_those_of_the_report(trial, tmp_path):
    code, out, _ = execute(
        "forest", trial, "-o", tmp_path / "f.svg", "--variant", "new", "--confidence", "0.9"
    )
    assert code == 0
    assert "90\N{NO-BREAK SPACE}% interval" in out or "90 % interval" in out
    assert "slow" not in out


def test_json_has_the_sentence_and_the_files(trial, tmp_path):
    code, out, _ = execute("forest", trial, "-o", tmp_path / "f.svg", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["written"] == [str(tmp_path / "f.svg"), str(tmp_path / "f.csv")]
    words = execute("forest", trial, "-o", tmp_path / "f.svg")[1]
    assert " ".join(words.split()).endswith(" ".join(told["text"].split()))


def test_data_go_where_no_regular_file_is_as_they_are(trial, tmp_path):
    # seen: root's /dev/null became a file with the data
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDWR)
    code, _, err = execute("forest", trial, "-o", tmp_path / "f.svg", "--data", tmp_path / "pipe")
    assert (code, err) == (0, "")
    assert os.read(reader, 9).startswith(b"candidate")
    os.close(reader)


def test_a_figure_of_one_benchmark_is_judged_among_all(trial, tmp_path):
    code, out, _ = execute("ecdf", trial, "--benchmark", "y", "-o", tmp_path / "e.svg")
    assert code == 0
    assert "wall on y" in out
    code, _, err = execute("ecdf", trial, "-o", tmp_path / "e.svg")
    assert code == 2
    assert "shows one benchmark, and there are 2" in err


def test_a_biplot_takes_systems_as_its_own_command_does(tmp_path):
    (tmp_path / "t.csv").write_text("system,p,q\na,1,2\nb,2,2.5\nc,4,1\n")
    code, out, err = execute("biplot", tmp_path / "t.csv", "-o", tmp_path / "b.svg")
    assert (code, err) == (0, "")
    assert "of 3 systems over 2 benchmarks" in " ".join(out.split())
    assert (tmp_path / "b.csv").read_text().startswith("kind,name,pc1,pc2\nsystem,a,")
    # seen: the table was replaced by the picture's numbers
    code, _, err = execute("biplot", tmp_path / "t.csv", "-o", tmp_path / "t.svg")
    assert (code, "this file is read" in err) == (2, True)
    (tmp_path / "t.csv").write_text("system,p,q\na,1,2\nb,2,2.5\n")
    code, _, err = execute("biplot", tmp_path / "t.csv", "-o", tmp_path / "b.svg")
    assert code == 6
    assert "3 or more systems" in err


def test_shares_of_a_table_by_the_scale_that_is_asked_for(tmp_path):
    table = ROOT / "tests" / "golden" / "irving_bigdata" / "medians.csv"
    code, out, err = execute("shares", table, "-o", tmp_path / "s.svg", "--scale", "covariance")
    assert (code, err) == (0, "")
    assert "(together 99.98 %)" in out
    # R: summary(prcomp(medians))$importance; printed in 001 section 11: more than 99.7 %
    rows = [line.split(",") for line in (tmp_path / "s.csv").read_text().splitlines()]
    assert rows[0] == ["component", "share", "together"]
    assert float(rows[2][2]) == pytest.approx(0.9997628781918632, abs=1e-12)
    code, out, _ = execute("shares", table, "-o", tmp_path / "s.svg")
    assert code == 0
    assert "by logarithms" in out
    code, _, err = execute("forest", table, "-o", tmp_path / "s.svg", "--scale", "log")
    assert code == 2
    assert "--scale is for the kinds biplot and shares" in err


def test_a_biplot_of_systems_without_a_common_benchmark_is_refused(tmp_path):
    files = [tmp_path / f"{name}.csv" for name in "pqr"]
    for path in files:
        path.write_text(f"{path.stem},1,2,3\n")
    code, out, err = execute("biplot", *files, "--better", "lower", "-o", tmp_path / "b.svg")
    assert (code, out) == (6, "")
    assert "these 3 systems have no benchmark in common" in err
    assert all(str(path) in err for path in files)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("pie {trial} -o {to}/f.svg", "no kind of figure 'pie'"),
        ("forest {trial} -o {to}/none/f.svg", "no folder"),
        ("forest {trial} -o {to}/f.svg --data {to}/none/f.csv", "no folder"),
        ("forest {trial} -o {to}/f.svg --data {to}/f.svg", "two files would be written here"),
        ("forest {trial} {trial} {trial} -o {to}/f.svg", "one trial or two sides"),
        ("qq {trial} --benchmark x --benchmark y -o {to}/f.svg", "one benchmark"),
    ],
)
def test_what_is_refused(words, said, trial, tmp_path):
    code, out, err = execute(*shlex.split(words.format(trial=trial, to=tmp_path)))
    assert (code, out) == (2, "")
    assert said in err
    assert not list(tmp_path.glob("f.*"))


@pytest.mark.parametrize(("text", "mm"), [("85mm", 85), ("8.5cm", 85), ("85", 85), ("4in", 101.6)])
def test_lengths(text, mm, trial, tmp_path):
    code, _, _ = execute("box", trial, "-o", tmp_path / "f.svg", "--width", text)
    assert code == 0
    root = ElementTree.parse(tmp_path / "f.svg").getroot()
    assert float(root.get("width").removesuffix("pt")) == pytest.approx(mm / 25.4 * 72)


def test_the_help_names_every_kind(capsys):
    assert execute("--help")[0] == 0
    text = " ".join(capsys.readouterr().out.split())
    assert all(f"{name}: {kind.shows}" in text for name, kind in FIGURES.items())


# ---- the documentation


def page():
    return (ROOT / "docs" / "report.md").read_text().partition("\n## Figures for papers\n")[2]


def commands():
    return [
        line.split("  ")[0]
        for block in page().split("```")[1::2]
        for line in block.splitlines()
        if line.startswith("fairtrial ")
    ]


def test_the_page_has_every_kind_and_no_other():
    rows = [line.split("`")[1] for line in page().splitlines() if line.startswith("| `")]
    assert [name for name in rows if not name.startswith("-")] == list(FIGURES)


@pytest.mark.parametrize("line", commands())
def test_each_command_of_the_page(line, tmp_path, monkeypatch, trial):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("analysis.report.figures.ENDINGS", (".pdf",))
    words = shlex.split(line.replace("runs/NAME", str(trial)).replace("NAME", "x"))
    assert words[0] == "fairtrial"
    out, err = io.StringIO(), io.StringIO()
    assert main(words[1:], out, err) == 0, err.getvalue()
    assert any(path.suffix in {".svg", ".pdf", ".png"} for path in tmp_path.rglob("*.*"))
