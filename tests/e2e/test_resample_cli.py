"""`fairtrial resample` and `fairtrial biplot` as people call them: files, trials, and faults."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.data.matrix import PerformanceMatrix
from harness.cli import main

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


def fairtrial(*words):
    """Execute the command in this process: its exit code, and what it writes."""
    out, err = io.StringIO(), io.StringIO()
    code = main([str(word) for word in words], out, err)
    return code, out.getvalue(), err.getvalue()


def answer(*words):
    code, out, err = fairtrial(*words, "--json")
    assert code == 0, err
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_the_installed_command(lab):
    (lab.folder / "a.csv").write_text(A)
    (lab.folder / "b.csv").write_text(B)
    done = lab.run_fairtrial("resample", "a.csv", "b.csv", *QUICK, "--plot", "p.svg")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("a is 1.1")
    assert "cautions" in lines
    for word in ("single runs", "minimum", "within one session only", "seed 0"):
        assert word in " ".join(done.stdout.split())
    assert not done.stderr
    assert (lab.folder / "p.svg").read_text().rstrip().endswith("</svg>")


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


def test_a_trial_knows_its_rounds_and_its_baseline():
    data = answer("resample", f"{SAMPLE}:gzip-1", "--resamples", "300")
    assert data["baseline"] == "gzip-6"
    assert data["unit"] == "block"
    assert "labels swapped within" in data["unit_words"]
    assert data["unit_counts"] == "10 with both variants"
    assert not any("of the other file" in text for text in data["cautions"])


def test_rounds_of_two_trials_are_never_the_same(tmp_path):
    shutil.copytree(SAMPLE, tmp_path / "u")
    data = answer("resample", f"{SAMPLE}:gzip-1", f"{tmp_path}/u:gzip-6", "--resamples", "300")
    assert data["unit_counts"] == "10 with the candidate only, 10 with the baseline only"
    assert any("no session holds both" in text for text in data["cautions"])


def test_rounds_that_two_files_share_are_pointed_out(tmp_path):
    def write(name, blocks):
        found = PerformanceMatrix.from_samples(
            name,
            {"x": [1.0, 1.1, 1.2], "y": [2.0, 2.1, 2.2]},
            better="lower",
            blocks={"x": blocks, "y": blocks},
        )
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(found.to_dict()))
        return path

    a, same, apart = write("a", [1, 2, 3]), write("b", [3, 4, 5]), write("c", [7, 8, 9])
    call = ("--better", "lower", "--resamples", "300")
    data = answer("resample", a, same, *call)
    said = [text for text in data["cautions"] if "of the other file" in text]
    assert len(said) == 1
    assert said[0].startswith("a: 1 round of this file bears an id")
    for arguments in ((a, apart, *call), (a, same, *call, "--unit", "run")):
        assert not any(
            "of the other file" in text for text in answer("resample", *arguments)["cautions"]
        )


def test_further_systems(files):
    call = ("resample", "a.csv", "b.csv", *QUICK, "--also", "c.csv", "--also", "a.csv")
    (files / "c.csv").write_text(A.replace("1.0", "1.2"))
    data = answer(*call)
    assert [s["name"] for s in data["distributions"]["systems"]] == ["a", "b", "c", "a"]
    assert (data["candidate"], data["baseline"]) == ("a", "b")


def test_one_run_gives_a_test_and_says_that_there_is_no_interval(files):
    (files / "a.csv").write_text("x,1\ny,2\nz,3\n")
    (files / "b.csv").write_text("x,2\ny,3\nz,4\n")
    code, out, _ = fairtrial("resample", "a.csv", "b.csv", *QUICK)
    assert code == 0
    assert "no interval: there is one run" in out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("a.csv", "none.csv", *QUICK), 2, "neither a matrix file nor a variant"),
        (("none.csv", *QUICK), 2, "neither a matrix file nor a variant"),
        ((SAMPLE, SAMPLE), 2, "a trial holds several variants"),
        (("a.csv", "b.csv"), 2, "add --better lower"),
        (("a.csv", "b.csv", *QUICK, "--plot", "p.gif"), 2, "not in '.gif'"),
        (("a.csv", "b.csv", *QUICK, "--plot", "none/p.svg"), 2, "there is no folder 'none'"),
        (("a.csv", "b.csv", *QUICK, "--unit", "session"), 2, "needs to know each run's session"),
        (("a.csv", "b.csv", *QUICK, "--seed", "-1"), 2, "must not be negative"),
        (("a.csv", "b.csv", *QUICK, "--confidence", "1"), 2, "between 0.5 and 1"),
        (("a.csv", "b.csv", "--better", "lower", "--resamples", "0"), 2, "between 2 and"),
        (("a.csv", "b.csv", "--better", "lower", "--resamples", "1000000000"), 2, "between 2 and"),
        (("a.csv", "bad.csv", *QUICK), 6, "bad.csv:1:5"),
        (("a.csv", "other.csv", *QUICK), 6, "no benchmark in common"),
    ],
)
def test_faults(files, arguments, code, words):
    (files / "bad.csv").write_text("x,1,-2\n")
    (files / "other.csv").write_text("w,1,2\n")
    found, out, err = fairtrial("resample", *arguments)
    assert (found, out) == (code, "")
    assert words in err
    assert not list(files.glob("p.*"))


def test_help_costs_no_numeric_library():
    code = (
        "import sys; from harness.cli import main\n"
        "for name in sys.argv[1:]: main([name, '--help'], sys.stdout, sys.stderr)\n"
        "assert not {'numpy', 'numba', 'matplotlib', 'scipy'} & set(sys.modules)\n"
    )
    call = [sys.executable, "-c", code, "resample", "biplot"]
    done = subprocess.run(call, check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.count("usage: ") == 2


# ---- biplot


def test_biplot_of_a_table(tmp_path):
    call = ("biplot", MEDIANS, "--scale", "covariance")
    assert answer(*call)["explained"][0] == pytest.approx(0.95143, abs=1e-5)
    code, out, err = fairtrial(*call, "--plot", tmp_path / "b.png")
    assert (code, err) == (0, "")
    assert out.startswith("PC1 holds 95.1 % and PC2 4.8 %")
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")


def test_biplot_of_a_trial_of_variants_and_of_files(files):
    whole = answer("biplot", SAMPLE)
    assert whole["systems"] == ["gzip-6", "gzip-1"]
    pair = answer("biplot", f"{SAMPLE}:gzip-6", f"{SAMPLE}:gzip-1")
    assert pair["scores"] == whole["scores"]
    (files / "t").mkdir()
    shutil.copy("a.csv", "t/a.csv")
    both = answer("biplot", "a.csv", "b.csv", "t/a.csv", "--better", "lower")
    assert both["systems"] == ["a.csv", "b.csv", "t/a.csv"]  # two are called a
    assert both["scores"][0] == pytest.approx(both["scores"][2])


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("none",), 2, "no such trial or file"),
        (("x" * 300,), 2, "File name too long"),
        (("a.csv", "b.csv"), 2, "add --better lower"),
        (("a.csv",), 6, "a.csv:1: the first line holds measurements"),
        ((MEDIANS, "--better", "lower"), 2, "not for a table of systems"),
        ((f"{SAMPLE}:gzip-1",), 2, "one variant is one system"),
        (("a.csv", "a.csv", "--better", "lower"), 2, "is there twice"),
        ((MEDIANS, "--plot", "."), 2, "a picture ends in"),
    ],
)
@pytest.mark.usefixtures("files")
def test_biplot_faults(arguments, code, words):
    found, out, err = fairtrial("biplot", *arguments)
    assert (found, out) == (code, "")
    assert words in err
