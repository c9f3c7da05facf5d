"""The command ``report``: what may be named, which form is written, and what is refused before the work."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from analysis.registry import FIGURES
from analysis.report import subject
from harness.cli import main
from tests.unit.analysis.commands.conftest import executed
from tests.unit.harness.commands.conftest import Terminal

BENCHES = [f"b{k}" for k in range(3)]


execute = partial(executed, "report")


@pytest.fixture
def trial(synthetic, tmp_path):
    rng = np.random.default_rng(1)
    data = {
        name: {b: (factor * np.exp(rng.normal(0, 0.01, 12))).tolist() for b in BENCHES}
        for name, factor in (("old", 1.0), ("new", 0.5))
    }
    return synthetic(data, sessions=4).write(tmp_path / "runs" / "one")


@pytest.fixture
def never(monkeypatch):
    """Fail if anything is read: what is refused is refused before the work."""
    monkeypatch.setattr(subject, "open_trial", lambda _path: pytest.fail("a trial was read"))


ENDINGS = {
    "r.html": ("html", "<!doctype html>"),
    "r.HTM": ("html", "<!doctype html>"),
    "r.md": ("md", "###"),
    "r.tex": ("latex", "% Needs"),
    "r.json": ("json", "{"),
    "r.csv": ("csv", "table,row,column,text,value"),
    "r.txt": ("txt", "new is 2.00 times as fast as old "),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_the_ending_says_the_form_and_standard_output_has_the_same(name, trial, tmp_path):
    form, begin = ENDINGS[name]
    code, out, err = execute(trial, "-o", tmp_path / name)
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == str(tmp_path / name)
    text = (tmp_path / name).read_text("utf-8")
    assert text.startswith(begin)
    assert not list(tmp_path.glob(".*"))  # nothing half-written is left
    if form != "html":
        code, out, err = execute(trial, "--format", form)
        assert (code, out) == (0, text)
        assert ("numbers.tex" in err) == (form == "latex")


def test_a_form_goes_to_any_file_and_to_a_dash(trial, tmp_path):
    execute(trial, "--format", "json", "-o", tmp_path / "r.x")
    assert (tmp_path / "r.x").read_text("utf-8") == execute(trial, "--format", "json", "-o", "-")[1]


def test_a_page_goes_to_standard_output_only_if_that_is_asked_for(trial, never, monkeypatch):
    code, out, err = execute(trial, "--format", "html")
    assert (code, out) == (2, "")
    assert "add -o report.html" in err
    monkeypatch.undo()
    code, out, err = execute(trial, "--format", "html", "-o", "-")
    assert (code, err) == (0, "")
    assert out.startswith("<!doctype html>")


def test_json_is_the_whole_report_and_names_what_was_written(trial, tmp_path):
    code, out, err = execute(trial, "--json")
    assert (code, err) == (0, "")
    whole = json.loads(out)
    assert out == execute(trial, "--format", "json")[1]
    (tmp_path / "tables").mkdir()
    for name, files in (
        ("r.html", {"r.html"}),
        ("r.tex", {"r.tex", "numbers.tex"}),
        ("tables", {f"tables/{one}.csv" for one in ("speedups-1", "cautions")}),
    ):
        code, out, err = execute(trial, "-o", tmp_path / name, "--json")
        told = json.loads(out)
        assert {str(tmp_path / one) for one in files} <= set(told["written"])
        assert all(Path(one).is_file() for one in told.pop("written"))
        assert (code, err, told) == (0, "", whole)
    code, out, _ = execute(trial, "--json", "--plots", tmp_path / "plots")
    assert {str(one) for one in (tmp_path / "plots").iterdir()} == set(json.loads(out)["written"])
    code, out, err = execute(trial, "--json", "--format", "txt")
    assert (code, out) == (2, "")
    assert "--json and --format txt both write to the standard output" in err


def test_the_setting_of_pictures_is_for_pictures(trial, never, tmp_path):
    code, _, err = execute(trial, "-o", tmp_path / "r.html", "--width", "85mm")  # it was ignored
    assert (code, "add --plots DIR" in err) == (2, True)


def test_latex_comes_with_its_numbers(trial, tmp_path):
    code, out, _ = execute(trial, "-o", tmp_path / "paper.tex")
    assert code == 0
    assert out.splitlines() == [str(tmp_path / "paper.tex"), str(tmp_path / "numbers.tex")]
    assert r"\newcommand{\ftSpeedupNewOnBZero}{" in (tmp_path / "numbers.tex").read_text()
    assert "name another file" in execute(trial, "-o", tmp_path / "numbers.tex")[2]


def test_a_folder_takes_a_file_for_each_table(trial, tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    code, out, _ = execute(trial, "-o", folder)
    assert code == 0
    names = sorted(path.name for path in folder.iterdir())
    assert sorted(out.split()) == [str(folder / name) for name in names]
    assert {"speedups-1.csv", "cautions.csv"} <= set(names)
    rows = list(csv.DictReader(io.StringIO((folder / "speedups-1.csv").read_text("utf-8"))))
    assert [row["name"] for row in rows][-1] == "others like them"
    assert float(rows[0]["speedup"]) == pytest.approx(float(rows[0]["speedup (text)"]), rel=0.01)


def test_csv_is_guarded_against_formulas_when_that_is_asked_for(synthetic, tmp_path):
    times = {"=cmd|x": [1.0, 1.1, 0.9, 1.05], "b": [2.0, 2.1, 2.2, 1.9]}
    data = {"@old": times, "new": times}
    trial = synthetic(data, sessions=2).write(tmp_path / "t")
    (tmp_path / "tables").mkdir()
    form = ["--format", "csv"]
    for words in (form, [*form, "--guard"], ["-o", tmp_path / "tables", "--guard"]):
        _, out, _ = execute(trial, *words)
        texts = [out] if "-o" not in words else [Path(p).read_text() for p in out.split()]
        cells = {cell for text in texts for row in csv.reader(io.StringIO(text)) for cell in row}
        assert any(cell.startswith(("=", "@")) for cell in cells) == ("--guard" not in words)
        assert ("'=cmd|x" in cells) == ("--guard" in words)
    assert "+" not in {cell[:1] for cell in cells}


def test_names_of_100_letters_are_short_in_latex_and_whole_in_markdown_and_csv(synthetic, tmp_path):
    names = [f"{k}{'x' * 98}{k}" for k in range(3)]
    data = {
        v + "v" * 99: {name: [f, 1.1 * f, 0.9 * f, 1.05 * f] for name in names}
        for f, v in ((1.0, "o"), (0.8, "n"), (0.7, "m"))
    }
    trial = synthetic(data, sessions=2).write(tmp_path / "t")
    _, tex, _ = execute(trial, "--format", "latex")
    rows = [line for line in tex.splitlines() if line.endswith("\\\\")]
    titles = re.findall(r"\\(?:caption|(?:sub)*section\*)\{[^{}]*\}", tex)
    assert any("0xxxxxxxxxxx" in row for row in rows)
    assert not [line for line in (*rows, *titles[1:]) if re.search("x{30}|v{30}", line)]
    md = execute(trial, "--format", "md")[1].splitlines()
    assert {line.split(" | ")[0][2:] for line in md if line[:1] == "|"} >= set(names)
    table = csv.DictReader(io.StringIO(execute(trial, "--format", "csv")[1]))
    assert {row["row"] for row in table if row["table"] == "speedups-1"} >= set(names)


REFUSED = [
    (["-o", "{tmp}/no/r.html"], "there is no folder"),
    (["-o", "{tmp}/r.zip"], "unknown format '.zip'"),
    (["-o", "{tmp}/r"], "no ending names the format"),
    (["--plots", "{tmp}/d", "--sources"], "--sources is a part of the report"),
    (["-o", "{tmp}", "--format", "html"], "this is a folder"),
    (["-o", "{tmp}/" + "n" * 300 + ".html"], "cannot be written: File name too long"),
    ([], "needs a file or a format"),
    (["-o", "-"], "needs a file or a format"),
    (["--format", "json", "--guard"], "--guard is for csv"),
    (["-o", "{tmp}/r.html", "--guard"], "--guard is for csv"),
    (["--format", "txt", "--weight", "b0"], "--weight takes NAME=W"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED, ids=lambda part: str(part)[:20])
def test_what_cannot_be_written_is_refused_before_the_work(words, said, trial, tmp_path, never):
    code, out, err = execute(trial, *(word.format(tmp=tmp_path) for word in words))
    assert (code, out) == (2, "")
    assert said in err


def test_a_folder_that_may_not_be_written_is_refused_before_the_work(
    trial, tmp_path, never, monkeypatch
):
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path) != tmp_path)
    code, _, err = execute(trial, "-o", tmp_path / "r.html")
    assert code == 2
    assert "nothing may be written in the folder" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["one", "two", "three"], "not on 3 sources"),
        (["nowhere"], "there is no such trial"),
        (["{runs}/one", "--metric", "nothing"], "the trial has no metric 'nothing'"),
        (["{runs}/one", "--variant", "old"], "'old' is the baseline"),
        (["{runs}/one", "--benchmark", "b9"], "there is no benchmark 'b9'"),
        (["{runs}/one", "--better", "higher"], "in this trial lower values are better"),
        (["{runs}/one:new", "{runs}/one:old", "--variant", "new"], "--variant is for one trial"),
        (["{runs}/one:new", "{runs}/one:old", "--certificate", "x"], "--certificate is for one"),
        (["{runs}/one", "{runs}/one"], "a trial holds several variants"),
    ],
)
def test_wrong_sources_and_options_are_refused(words, said, trial, tmp_path):
    named = [word.format(runs=trial.parent) for word in words]
    code, out, err = execute(*named, "-o", tmp_path / "r.html")
    assert code == (5 if "no such trial" in said else 2)
    assert out == ""
    assert said in err
    assert not (tmp_path / "r.html").exists()


def test_a_damaged_trial_is_refused_and_the_old_report_stays(trial, tmp_path):
    place = tmp_path / "r.html"
    place.write_text("yesterday's")
    rows = trial / "measurements.jsonl"
    rows.write_text(rows.read_text().replace('"ok"', '"no"', 1))
    code, out, err = execute(trial, "-o", place)
    assert (code, out) == (5, "")
    assert "measurements.jsonl" in err
    assert place.read_text() == "yesterday's"


def test_the_newest_trial_is_meant_where_none_is_named(trial, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = execute("--format", "txt")
    assert code == 0
    assert out.startswith("new is 2.00 times as fast as old")


def test_two_sides_and_one_variant_of_a_trial(synthetic, tmp_path):
    new, slow = [0.5, 0.501, 0.5, 0.502], [1.6, 1.61, 1.602, 1.6]
    data = {"old": {"x": [1.0, 1.01, 0.99, 1.0]}, "new": {"x": new}, "slow": {"x": slow}}
    trial = synthetic(data, sessions=2).write(tmp_path / "t")
    _, both, _ = execute(f"{trial}:new", f"{trial}:slow", "--format", "txt")
    assert both.startswith("new is 3.2 times as fast as slow on x (3.1 to 3.3)\n\n")
    _, one, _ = execute(f"{trial}:new", "--format", "txt")
    assert "than old on x" in one
    assert "slow" not in one


def test_one_file_of_runs_is_a_system_alone(tmp_path):
    file = tmp_path / "runs.csv"
    file.write_text("a,1.0,1.1,0.9\nb,2.0,2.1,2.2\n")
    code, out, err = execute(file, "--format", "txt", "--better", "lower")
    assert (code, err) == (0, "")
    assert out.startswith("runs was measured alone: there is nothing to compare\n\n")
    assert "one side only" not in out
    assert "0.997" in out  # (1.0 * 1.1 * 0.9) ** (1 / 3)
    assert json.loads(execute(file, "--format", "json")[1])["brief"][0]["candidates"] == []
    assert "0.997" not in execute(file, "--format", "txt", "--benchmark", "b")[1]


def test_two_files_need_a_direction_as_everywhere(tmp_path):
    names = []
    for name, factor in (("x", 1), ("y", 2)):
        names.append(tmp_path / f"{name}.csv")
        names[-1].write_text(f"a,{1.0 * factor},{1.1 * factor}\nb,{2.0 * factor},{2.1 * factor}\n")
    code, _, err = execute(*names, "--format", "txt")
    assert code == 2
    assert "--better" in err
    code, out, _ = execute(*names, "--format", "txt", "--better", "lower")
    assert code == 0
    assert "x against y" in out


def test_several_metrics_stand_one_after_the_other(trial):
    found = json.loads(execute(trial, "--format", "json", "--metric", "wall,user,wall")[1])
    assert found["metrics"] == ["wall", "user"]
    assert [brief["metric"] for brief in found["brief"]] == ["wall", "user"]


def test_an_unfinished_trial_is_reported_with_its_caution(synthetic, tmp_path):
    data = {v: {b: [1.0, 1.1, 1.05, 0.99] for b in BENCHES} for v in ("old", "new")}
    trial = synthetic(data, sessions=2, status="running", finished=None).write(tmp_path / "t")
    code, out, _ = execute(trial, "--format", "md")
    assert code == 0
    assert "running" in out.partition("**Cautions**")[2]
    assert " more caution" in execute(trial, "--format", "txt")[1]


def test_options_of_judging_reach_the_verdict(trial):
    words = (trial, "--format", "json", "--benchmark", "b2")
    asked = json.loads(execute(*words, "--confidence", "0.9")[1])["brief"][0]
    assert asked["level"] == {"text": "90\N{NO-BREAK SPACE}%", "value": pytest.approx(0.9)}
    assert [row["name"] for row in asked["candidates"][0]["rows"]] == ["b2"]
    looks = json.loads(execute(*words, "--looks", "2")[1])["brief"][0]
    assert looks["level"]["value"] == pytest.approx(0.975)


def test_a_person_is_told_what_is_under_way_and_a_file_is_not(trial):
    words = ["report", str(trial), "--format", "txt"]
    err = Terminal()
    assert main(words, io.StringIO(), err) == 0
    said = [text.strip() for text in err.getvalue().split("\r") if text.strip()]
    assert said[0] == "reading and judging"
    assert any(text.startswith("explaining: bootstrap (4 of 6)") for text in said)
    assert any(text.startswith("writing the report: ") for text in said)
    assert err.getvalue().endswith(" \r")  # nothing of it stays
    quiet = io.StringIO()
    assert main(words, io.StringIO(), quiet) == 0
    assert quiet.getvalue() == ""


def test_the_pictures_need_no_report(trial, tmp_path, monkeypatch):
    asked = []

    def write_all(_subject, folder, _sheet, **_):
        asked.append(folder)
        return (Path("f.svg"),)

    monkeypatch.setattr("analysis.report.figures.write_all", write_all)
    code, out, _ = execute(trial, "--plots", tmp_path / "p")
    assert (code, out, asked) == (0, "f.svg\n", [tmp_path / "p"])


def test_a_terminal_is_told_which_picture_is_drawn_and_the_page_stands_first(
    trial, tmp_path, monkeypatch
):
    monkeypatch.setattr("analysis.report.figures.ENDINGS", (".svg",))
    err, quiet = Terminal(), io.StringIO()
    words = ["report", str(trial), "-o", str(tmp_path / "r.html"), "--plots", str(tmp_path / "p")]
    words += ["--benchmark", "b0"]
    out = io.StringIO()
    assert main(words, out, err) == 0
    count = len(out.getvalue().splitlines()) // 2  # a picture and its data
    assert re.search(r"\rfigure 1 of \d+", err.getvalue())
    assert count > 1
    assert out.getvalue().splitlines()[0] == str(tmp_path / "r.html")
    assert sorted(out.getvalue().splitlines()[1:]) == sorted(map(str, (tmp_path / "p").iterdir()))
    assert main(words, io.StringIO(), quiet) == 0
    assert "figure 1 of" not in quiet.getvalue()


def test_a_metric_that_is_0_everywhere_has_a_page(synthetic, tmp_path):
    """No method can be asked: the page says so, and is no bug."""
    data = {name: {b: [1.0, 1.1, 0.9, 1.2] for b in ("x", "y")} for name in ("old", "new")}
    made = synthetic(data, sessions=2)
    made.rows[:] = [replace(row, user_s=0.0) for row in made.rows]
    path = made.write(tmp_path / "t")
    code, _, err = execute(path, "-o", tmp_path / "r.html", "--metric", "user")
    assert (code, err) == (0, "")
    assert "every benchmark has runs of 0" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize("spread", [1e-9, 1e4, 1e8])
def test_an_interval_of_any_width_has_a_page(synthetic, tmp_path, spread):
    """Two runs a side give intervals over thirty powers of ten, or of no width at all."""
    data = {
        "old": {"x": [1.0, 1.0 + spread], "y": [1.0, 1.0 + spread]},
        "new": {"x": [1.0 + spread, 1.0], "y": [2.0, 2.0]},
    }
    path = synthetic(data, sessions=1).write(tmp_path / "t")
    code, _, err = execute(path, "-o", tmp_path / "r.html")
    assert (code, err) == (0, "")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, of what is not drawn then
def test_sessions_at_both_ends_of_the_range_of_numbers_have_a_page(tmp_path):
    cells = [(b, k, s) for b in "xy" for k in (0, 1) for s in range(6) for _ in range(3)]
    rows = [f"{b},{('old', 'new')[k]},{s},1e{(152, -157)[(s + k) % 2]}" for b, k, s in cells]
    (tmp_path / "r.csv").write_text("\n".join(["benchmark,variant,session,value", *rows]))
    words = ("--better", "lower", "-o", tmp_path / "r.html")
    assert execute(tmp_path / "r.csv", *words)[::2] == (0, "")


# --- The command ``plot``: one figure, its data beside it, and what is refused before the work


ROOT = Path(__file__).resolve().parents[4]


plot_execute = partial(executed, "plot")


@pytest.fixture
def plot_trial(synthetic, tmp_path):
    rng = np.random.default_rng(1)
    data = {
        name: {b: (factor * np.exp(rng.normal(0, 0.01, 18))).tolist() for b in ("x", "y")}
        for name, factor in (("old", 1.0), ("new", 0.5), ("slow", 1.6))
    }
    return synthetic(data, sessions=6).write(tmp_path / "runs" / "one")


def test_options_of_judging_are_those_of_the_report(plot_trial, tmp_path):
    words = ("-o", tmp_path / "f.svg", "--variant", "new", "--confidence", "0.9")
    code, out, _ = plot_execute("forest", plot_trial, *words)
    assert code == 0
    assert "90\N{NO-BREAK SPACE}% interval" in out or "90 % interval" in out
    assert "slow" not in out


def test_json_has_the_sentence_and_the_files(plot_trial, tmp_path):
    code, out, _ = plot_execute("forest", plot_trial, "-o", tmp_path / "f.svg", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["written"] == [str(tmp_path / "f.svg"), str(tmp_path / "f.csv")]
    words = plot_execute("forest", plot_trial, "-o", tmp_path / "f.svg")[1]
    assert " ".join(words.split()).endswith(" ".join(told["text"].split()))


def test_data_go_where_no_regular_file_is_as_they_are(plot_trial, tmp_path):
    # seen: root's /dev/null became a file with the data
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDWR)
    words = ("-o", tmp_path / "f.svg", "--data", tmp_path / "pipe")
    code, _, err = plot_execute("forest", plot_trial, *words)
    assert (code, err) == (0, "")
    assert os.read(reader, 9).startswith(b"candidate")
    os.close(reader)


def test_a_figure_of_one_benchmark_is_judged_among_all(plot_trial, tmp_path):
    code, out, _ = plot_execute("ecdf", plot_trial, "--benchmark", "y", "-o", tmp_path / "e.svg")
    assert code == 0
    assert "wall on y" in out
    code, _, err = plot_execute("ecdf", plot_trial, "-o", tmp_path / "e.svg")
    assert code == 2
    assert "shows one benchmark, and there are 2" in err


def test_a_biplot_takes_systems_as_its_own_command_does(tmp_path):
    (tmp_path / "t.csv").write_text("system,p,q\na,1,2\nb,2,2.5\nc,4,1\n")
    code, out, err = plot_execute("biplot", tmp_path / "t.csv", "-o", tmp_path / "b.svg")
    assert (code, err) == (0, "")
    assert "of 3 systems over 2 benchmarks" in " ".join(out.split())
    assert (tmp_path / "b.csv").read_text().startswith("kind,name,pc1,pc2\nsystem,a,")
    # seen: the table was replaced by the picture's numbers
    code, _, err = plot_execute("biplot", tmp_path / "t.csv", "-o", tmp_path / "t.svg")
    assert (code, "this file is read" in err) == (2, True)
    (tmp_path / "t.csv").write_text("system,p,q\na,1,2\nb,2,2.5\n")
    code, _, err = plot_execute("biplot", tmp_path / "t.csv", "-o", tmp_path / "b.svg")
    assert code == 6
    assert "3 or more systems" in err


def test_shares_of_a_table_by_the_scale_that_is_asked_for(tmp_path):
    table = ROOT / "tests" / "golden" / "irving_bigdata" / "medians.csv"
    words = ("-o", tmp_path / "s.svg", "--scale", "covariance")
    code, out, err = plot_execute("shares", table, *words)
    assert (code, err) == (0, "")
    assert "(together 99.98 %)" in out
    # R: summary(prcomp(medians))$importance; printed in 001 section 11: more than 99.7 %
    rows = [line.split(",") for line in (tmp_path / "s.csv").read_text().splitlines()]
    assert rows[0] == ["component", "share", "together"]
    assert float(rows[2][2]) == pytest.approx(0.9997628781918632, abs=1e-12)
    code, out, _ = plot_execute("shares", table, "-o", tmp_path / "s.svg")
    assert code == 0
    assert "by logarithms" in out
    code, _, err = plot_execute("forest", table, "-o", tmp_path / "s.svg", "--scale", "log")
    assert code == 2
    assert "--scale is for the kinds biplot and shares" in err


def test_a_biplot_of_systems_without_a_common_benchmark_is_refused(tmp_path):
    files = [tmp_path / f"{name}.csv" for name in "pqr"]
    for path in files:
        path.write_text(f"{path.stem},1,2,3\n")
    code, out, err = plot_execute("biplot", *files, "--better", "lower", "-o", tmp_path / "b.svg")
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
def test_what_is_refused(words, said, plot_trial, tmp_path):
    code, out, err = plot_execute(*shlex.split(words.format(trial=plot_trial, to=tmp_path)))
    assert (code, out) == (2, "")
    assert said in err
    assert not list(tmp_path.glob("f.*"))


@pytest.mark.parametrize(("text", "mm"), [("85mm", 85), ("8.5cm", 85), ("85", 85), ("4in", 101.6)])
def test_lengths(text, mm, plot_trial, tmp_path):
    code, _, _ = plot_execute("box", plot_trial, "-o", tmp_path / "f.svg", "--width", text)
    assert code == 0
    root = ElementTree.parse(tmp_path / "f.svg").getroot()
    assert float(root.get("width").removesuffix("pt")) == pytest.approx(mm / 25.4 * 72)


def test_the_help_names_every_kind(capsys):
    assert plot_execute("--help")[0] == 0
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
def test_each_command_of_the_page(line, tmp_path, monkeypatch, plot_trial):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("analysis.report.figures.ENDINGS", (".pdf",))
    words = shlex.split(line.replace("runs/NAME", str(plot_trial)).replace("NAME", "x"))
    assert words[0] == "fairtrial"
    out, err = io.StringIO(), io.StringIO()
    assert main(words[1:], out, err) == 0, err.getvalue()
    assert any(path.suffix in {".svg", ".pdf", ".png"} for path in tmp_path.rglob("*.*"))


# --- Where only bisections lie in a folder, every command that wants trials there names them


@pytest.mark.parametrize(
    "words",
    [("verdict", "runs"), ("verdict",), ("status", "runs"), ("history", "runs"), ("report",)],
)
def test_the_newest_bisection_is_named(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("bisect-a-20261101-010101-aa00", "bisect-b-20261102-010101-aa00"):
        folder = tmp_path / "runs" / name
        (folder / "step0").mkdir(parents=True)
        (folder / "bisect.json").write_text("{}")
    err = io.StringIO()
    code = 5 if words in (("verdict", "runs"), ("status", "runs")) else 2
    assert main(list(words), io.StringIO(), err) == code
    assert "fairtrial status runs/bisect-b-20261102-010101-aa00" in err.getvalue()
