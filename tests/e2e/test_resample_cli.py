"""`fairtrial resample` and `fairtrial biplot` as people call them: files, trials, and faults."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "runs" / "sample"
MEDIANS = ROOT / "tests" / "golden" / "irving_bigdata" / "medians.csv"
A = "x,1.00,1.02,1.01,1.03,0.99\ny,2.00,2.03,2.01,2.05,1.98\n"
B = "x,1.10,1.12,1.11,1.13,1.09\ny,2.20,2.23,2.21,2.26,2.18\n"
QUICK = ("--better", "lower", "--resamples", "300")


@pytest.fixture
def files(lab):
    (lab.folder / "a.csv").write_text(A)
    (lab.folder / "b.csv").write_text(B)
    return lab


def answer(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_answer_comes_first_and_the_picture_beside_it(files):
    done = files.run_fairtrial("resample", "a.csv", "b.csv", *QUICK, "--plot", "p.svg")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("a is 1.1")
    assert "cautions" in lines
    for word in ("single runs", "minimum", "within one session only", "seed 0"):
        assert word in done.stdout
    # a compilation, and nothing else, may be announced
    assert not done.stderr or done.stderr.startswith("compiling the numeric kernels")
    assert (files.folder / "p.svg").read_text().rstrip().endswith("</svg>")


def test_options_reach_the_methods(files):
    options = ("--mean", "harmonic", "--centre", "mean", "--alternative", "candidate")
    options += ("--unit", "run", "--interval", "corrected", "--sides", "lower", "--seed", "7")
    call = ("resample", "a.csv", "b.csv", *QUICK, *options, "--confidence", "0.9", "--json")
    data = answer(files.run_fairtrial(*call))
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
    assert answer(files.run_fairtrial(*call)) == data


def test_a_trial_knows_its_rounds_and_its_baseline(lab):
    shutil.copytree(SAMPLE, lab.folder / "t")
    data = answer(lab.run_fairtrial("resample", "t:gzip-1", "--resamples", "300", "--json"))
    assert data["baseline"] == "gzip-6"
    assert data["unit"] == "block"
    assert "labels swapped within" in data["unit_words"]
    assert data["unit_counts"] == "10 with both variants"


def test_rounds_of_two_trials_are_never_the_same(lab):
    shutil.copytree(SAMPLE, lab.folder / "t")
    shutil.copytree(SAMPLE, lab.folder / "u")
    call = ("resample", "t:gzip-1", "u:gzip-6", "--resamples", "300", "--json")
    data = answer(lab.run_fairtrial(*call))
    assert data["unit_counts"] == "10 with the candidate only, 10 with the baseline only"
    assert any("no session holds both" in text for text in data["cautions"])


def test_one_run_gives_a_test_and_says_that_there_is_no_interval(lab):
    (lab.folder / "a.csv").write_text("x,1\ny,2\nz,3\n")
    (lab.folder / "b.csv").write_text("x,2\ny,3\nz,4\n")
    done = lab.run_fairtrial("resample", "a.csv", "b.csv", *QUICK)
    assert done.returncode == 0
    assert "no interval: there is one run" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("a.csv", "none.csv", *QUICK), 2, "neither a matrix file nor a variant"),
        (("a.csv", *QUICK), 2, "BASELINE is missing"),
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
    (files.folder / "bad.csv").write_text("x,1,-2\n")
    (files.folder / "other.csv").write_text("w,1,2\n")
    done = files.run_fairtrial("resample", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(files.folder.glob("p.*"))


def test_help_costs_no_numeric_library(lab):
    import subprocess
    import sys

    code = (
        "import sys; from harness.cli import main\n"
        "try: main([sys.argv[1], '--help'], sys.stdout, sys.stderr)\n"
        "except SystemExit: pass\n"
        "assert not {'numpy', 'numba', 'matplotlib', 'scipy'} & set(sys.modules)\n"
    )
    for command in ("resample", "biplot"):
        subprocess.run(
            [sys.executable, "-c", code, command], check=True, capture_output=True, timeout=60
        )


# ---- biplot


def test_biplot_of_a_table(lab):
    call = ("biplot", MEDIANS, "--scale", "covariance")
    data = answer(lab.run_fairtrial(*call, "--json"))
    assert data["explained"][0] == pytest.approx(0.95143, abs=1e-5)
    done = lab.run_fairtrial(*call, "--plot", "b.png")
    assert done.stdout.startswith("PC1 holds 95.1 % and PC2 4.8 %")
    assert done.stderr == ""
    assert (lab.folder / "b.png").read_bytes().startswith(b"\x89PNG")


def test_biplot_of_a_trial_of_variants_and_of_files(files):
    shutil.copytree(SAMPLE, files.folder / "t")
    whole = answer(files.run_fairtrial("biplot", "t", "--json"))
    assert whole["systems"] == ["gzip-6", "gzip-1"]
    pair = answer(files.run_fairtrial("biplot", "t:gzip-6", "t:gzip-1", "--json"))
    assert pair["scores"] == whole["scores"]
    shutil.copy(files.folder / "a.csv", files.folder / "t" / "a.csv")
    both = answer(
        files.run_fairtrial("biplot", "a.csv", "b.csv", "t/a.csv", "--better", "lower", "--json")
    )
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
        (("t:gzip-1",), 2, "one variant is one system"),
        (("a.csv", "a.csv", "--better", "lower"), 2, "stands there twice"),
        ((MEDIANS, "--plot", "."), 2, "a picture ends in"),
    ],
)
def test_biplot_faults(files, arguments, code, words):
    shutil.copytree(SAMPLE, files.folder / "t")
    done = files.run_fairtrial("biplot", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
