"""The subcommand ``study``."""

from __future__ import annotations

import json

import numpy as np
import pytest

from analysis.errors import FairtrialError

from .conftest import execute


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "p.csv"
    rows = np.exp(np.random.default_rng(1).normal(0, 0.02, (6, 40)))
    path.write_text(
        "".join(f"b{k}," + ",".join(map(repr, r.tolist())) + "\n" for k, r in enumerate(rows))
    )
    return str(path)


def test_the_command(file):
    words = ("--better", "lower", "--simulations", "4", "--resamples", "99")
    code, text = execute("study", "power", file, *words, "--shift", "5", "--shifted", "0,6")
    assert code == 0
    assert "power to tell 1.05x on some of 6 benchmarks, 5 runs each" in text
    data = json.loads(execute("study", "type1", file, *words, "--runs", "3,4", "--json")[1])
    assert [cell["runs"] for cell in data["cells"]] == [3] * 4 + [4] * 4
    data = json.loads(execute("study", "coverage", file, *words, "--runs", "3", "--json")[1])
    assert data["confidence"] == 0.95
    assert (len(data["cells"]), len(data["over_benchmarks"])) == (5, 2)


def test_power_at_several_numbers_of_runs_as_published_with_its_curve(file, tmp_path):
    picture = tmp_path / "power.svg"
    words = ("--better", "lower", "--simulations", "4", "--resamples", "99", "--json")
    more = ("--runs", "3,5", "--shifted", "0,6", "--shift-by", "1.0", "--without-replacement")
    code, text = execute("study", "power", file, *words, *more, "--plot", str(picture))
    data = json.loads(text)
    assert code == 0
    assert [cell["runs"] for cell in data["cells"]] == [3] * 8 + [5] * 8
    assert (data["shift"], data["shift_by"], data["replace"]) == (None, 1.0, False)
    assert {c["rate"] for c in data["cells"] if c["shifted"] == 6 and c["test"] == "welch"} == {1.0}
    assert "power to tell" in picture.read_text()


def test_draws_from_two_matrices(file, tmp_path):
    picture = tmp_path / "draws.svg"
    words = ("--better", "lower", "--simulations", "4", "--resamples", "99", "--plot", str(picture))
    code, text = execute("study", "draw", file, file, *words)
    assert code == 0
    assert "rejects at 0.01  rejects at 0.05" in text
    assert "HPT 0.95-speedup" in picture.read_text()
    more = ("--alpha", "0.1", "--speedup", "1.01", "--runs", "3", "--without-replacement", "--json")
    data = json.loads(execute("study", "draw", file, file, *words, *more)[1])
    assert (data["method"], data["alternative"], data["speedup"]) == (
        "draw-study",
        "candidate",
        1.01,
    )
    assert (data["alphas"], data["confidence"], data["runs"]) == ([0.1], 0.9, 3)
    assert not data["replace"]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("type1", "--shift", "1"), "--shift is for 'study power'"),
        (
            ("coverage", "--alternative", "candidate"),
            "--alternative is for 'study power, type1 and draw'",
        ),
        (("power", "--mean", "harmonic"), "--mean is for 'study coverage'"),
        (("type1", "--shift-by", "1"), "--shift-by is for 'study power'"),
        (("power", "--shift-by", "1", "--shift", "1"), "two ways to shift"),
        (("coverage", "--plot", "x.svg"), "--plot is for 'study power, type1 and draw'"),
        (("power", "--plot", "x.gif"), "a picture ends in"),
        (("power", "--runs", "21", "--without-replacement"), "42 runs would be drawn"),
        (("draw",), "BASELINE"),
        (("draw", "{file}", "--runs", "3,5"), "one number of runs"),
        (("draw", "{file}", "--shift", "1"), "--shift is for 'study power'"),
        (("draw", "{file}", "--speedup", "0"), "speedup"),
        (("power", "{file}"), "both sides from one matrix"),
        (("power", "--alpha", "0.1,0.2"), "one level"),
        (("power", "--speedup", "2"), "--speedup is for 'study draw'"),
        (("power", "--simulations", "0"), "simulations must lie between 1"),
        (("power", "--alpha", "0.7"), r"not 0\.3 \(alpha 0\.7\)"),
        (("coverage", "--alpha", "0.7"), r"not 0\.3 \(alpha 0\.7\)"),
        (("power", "--shift=-200"), r"not -1\.0 \(a shift of -200 %\)"),
    ],
)
def test_what_the_command_refuses(file, words, what):
    more = [word.format(file=file) for word in words[1:]]
    with pytest.raises(FairtrialError, match=what):
        execute("study", words[0], file, *more, "--better", "lower")
