"""`fairtrial resample` and `fairtrial biplot` as people call them: files, trials, and faults."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.data.matrix import PerformanceMatrix
from tests.unit.analysis.commands.conftest import executed as fairtrial

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests" / "data" / "sample-0.2.0"
MEDIANS = ROOT / "tests" / "golden" / "irving_bigdata" / "medians.csv"
A = "x,1.00,1.02,1.01,1.03,0.99\ny,2.00,2.03,2.01,2.05,1.98\n"
B = "x,1.10,1.12,1.11,1.13,1.09\ny,2.20,2.23,2.21,2.26,2.18\n"
QUICK = ("--better", "lower", "--resamples", "300")


@pytest.fixture
def files(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text(A)
    (tmp_path / "b.csv").write_text(B)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answer(*words):
    code, out, err = fairtrial(*words, "--json")
    assert code == 0, err
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_no_place_for_compiled_kernels(lab, monkeypatch):
    """A package that cannot be written to, and a home that does not exist: it compiles and says so."""
    (lab.folder / "a.csv").write_text(A)
    (lab.folder / "b.csv").write_text(B)
    before = set((ROOT / "analysis").rglob("*.nb?"))
    kept = lab.run_fairtrial("resample", "a.csv", "b.csv", *QUICK)
    homeless = {"HOME": "/dev/null/home"}  # not even root can make it
    known = ("FAIRTRIAL_CACHE", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR")
    rest = {key: value for key, value in lab.environment.items() if key not in known}
    monkeypatch.setattr(lab, "environment", {**rest, **homeless})
    done = lab.run_fairtrial("resample", "a.csv", "b.csv", *QUICK, fresh=True)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()  # on a busy machine a line about work may come before the note
    (said,) = (line for line in lines if not line.startswith("resample: "))
    assert said.startswith("note  the statistics are compiled on every use, because /dev/null/home")
    assert said.endswith("cannot be written (Not a directory); name a folder in $FAIRTRIAL_CACHE")
    assert done.stdout.startswith("a is 1.1")
    assert done.stdout == kept.stdout
    assert set((ROOT / "analysis").rglob("*.nb?")) == before


@pytest.mark.usefixtures("files")
def test_options_reach_the_methods():
    options = ("--mean", "harmonic", "--centre", "mean", "--alternative", "candidate")
    options += ("--unit", "run", "--interval", "corrected", "--sides", "lower", "--seed", "7")
    call = ("resample", "a.csv", "b.csv", *QUICK, *options, "--confidence", "0.9")
    data = answer(*call)
    wanted = {
        "mean": "harmonic",
        "centre": "mean",
        "alternative": "candidate",
        "unit": "run",
        "seed": 7,
        "resamples": 300,
    }
    assert {key: data[key] for key in wanted} == wanted
    interval = data["interval"]
    assert (interval["interval"], interval["sides"]) == ("corrected", "lower")
    assert (interval["confidence"], interval["high"]) == (0.9, None)
    assert answer(*call) == data


def test_rounds_that_two_files_share_are_pointed_out(tmp_path):
    for name, blocks in (("a", [1, 2, 3]), ("b", [3, 4, 5])):
        found = PerformanceMatrix.from_samples(
            name,
            {"x": [1.0, 1.1, 1.2], "y": [2.0, 2.1, 2.2]},
            better="lower",
            blocks={"x": blocks, "y": blocks},
        )
        (tmp_path / f"{name}.json").write_text(json.dumps(found.to_dict()))
    call = ("resample", tmp_path / "a.json", tmp_path / "b.json", *QUICK)
    said = [text for text in answer(*call)["cautions"] if "of the other file" in text]
    assert [text.startswith("a: 1 round of this file bears an id") for text in said] == [True]
    assert "of the other file" not in str(answer(*call, "--unit", "run"))


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("a.csv", "none.csv", *QUICK), 2, "neither a matrix file nor a variant"),
        (("a.csv", "b.csv", *QUICK, "--plot", "p.gif"), 2, "not in '.gif'"),
        (("a.csv", "b.csv", *QUICK, "--seed", "-1"), 2, "must not be negative"),
        (("a.csv", "b.csv", *QUICK, "--confidence", "1"), 2, "between 0.5 and 1"),
        (("a.csv", "b.csv", "--better", "lower", "--resamples", "0"), 2, "between 2 and"),
        (("a.csv", "b.csv", "--better", "lower", "--resamples", "1000000000"), 2, "between 2 and"),
        (("a.csv", "bad.csv", *QUICK), 6, "bad.csv:1:5"),
    ],
)
def test_faults(files, arguments, code, words):
    (files / "bad.csv").write_text("x,1,-2\n")
    found, out, err = fairtrial("resample", *arguments)
    assert (found, out) == (code, "")
    assert words in err
    assert not list(files.glob("p.*"))


# ---- biplot


def test_biplot_takes_the_medians_of_files_of_one_name(files):
    (files / "t").mkdir()
    Path("t/a.csv").write_text("x,0.50,1.01,9.00\ny,2.01,1.00,7.00\n")  # the medians of the other
    both = answer("biplot", "a.csv", "b.csv", "t/a.csv", "--better", "lower")
    assert both["systems"] == ["a.csv", "b.csv", "t/a.csv"]  # two are called a
    assert both["scores"][0] == pytest.approx(both["scores"][2])


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("none",), 2, "no such trial or file"),
        (("x" * 300,), 2, "File name too long"),
        (("a.csv",), 6, "a.csv:1: the first line holds measurements"),
        ((f"{SAMPLE}:gzip-1",), 2, "one variant is one system"),
        ((MEDIANS, "--plot", "."), 2, "a picture ends in"),
    ],
)
@pytest.mark.usefixtures("files")
def test_biplot_faults(arguments, code, words):
    found, out, err = fairtrial("biplot", *arguments)
    assert (found, out) == (code, "")
    assert words in err
