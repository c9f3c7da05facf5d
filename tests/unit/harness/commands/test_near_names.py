"""What was meant by a mistyped command, option or trial.

Authority: `difflib.get_close_matches` with a cutoff of 0.6; first use: `verdct` was answered by 28 names
in a line of 400 characters.
"""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest

from harness.cli import main
from harness.commands.run import nearest, nearest_trial

SAMPLE = Path(__file__).parents[3] / "data" / "sample-0.2.0"


def execute(*words):
    out, err = io.StringIO(), io.StringIO()
    code = main(words, out, err)
    assert out.getvalue() == ""
    return code, err.getvalue()


def test_the_nearest_name_is_given_and_nothing_where_none_is_like_it():
    assert nearest("verdct", ["gate", "verdict"]) == "verdict"
    assert nearest("frobnicate", ["gate", "verdict"]) is None
    assert nearest("x", []) is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["verdct"], "no command 'verdct': did you mean verdict?\n"),
        (["help", "verdct"], "no command 'verdct': did you mean verdict?\n"),
        (["COMPARE", "a"], "no command 'COMPARE'\n"),
        (["verdict", "--metrc", "user"], "verdict: no option '--metrc': did you mean --metric?\n"),
        # which takes the word after it from what is required: the cause is told, not the effect
        (["run", "--sesions", "3"], "run: no option '--sesions': did you mean --sessions?\n"),
        (["run", "--reumse"], "run: no option '--reumse': did you mean --resume?\n"),
        (["hpt", "--speedpu=2"], "hpt: no option '--speedpu': did you mean --speedup?\n"),
        (["status", "--frob"], "status: no option '--frob'\n  fix: fairtrial status --help "),
        (["--verbos"], "no option '--verbos'"),
        (["-q", "verdict"], "no option '-q'\n  fix: options stand behind their command"),
        (["init", "a", "b"], "init: there is a word too many: 'b'\n  fix: "),
    ],
)
def test_a_mistyped_word_is_answered_with_what_was_meant(words, said):
    code, err = execute(*words)
    assert code == 2
    assert said in err
    assert max(map(len, err.splitlines())) <= 100


def test_an_unknown_command_is_told_the_groups_and_never_all_commands():
    code, err = execute("nonsense")
    assert (code, err.splitlines()[0]) == (2, "no command 'nonsense'")
    for group in ("measure", "judge", "understand", "share", "--help"):
        assert group in err
    assert "resample" not in err
    assert max(map(len, err.splitlines())) <= 80


def test_options_that_a_help_does_not_show_are_known_and_not_proposed():
    assert "did you mean --confidence?" in execute("verdict", "--confidenc2")[1]


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Be in a folder with two trials, and a folder that is none."""
    monkeypatch.chdir(tmp_path)
    for name in ("sample", "night"):
        shutil.copytree(SAMPLE, tmp_path / "runs" / name)
    (tmp_path / "runs" / "sampla").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("runs/sampel", "runs/sample"),
        ("runs/sampel/", "runs/sample"),
        ("runs/sampel:gzip-1", "runs/sample:gzip-1"),
        ("./runs/nigth", "./runs/night"),
        ("runs/sample", None),  # it is there
        ("runs/sample:gzip-9", None),  # the trial is, and its variant another question
        ("runs/frobnicate", None),
        ("absent/sampel", None),
        ("runs/", None),
        ("a\0b", None),
        ("runs/" + "x" * 5000, None),
    ],
)
def test_a_trial_that_is_not_there_is_the_nearest_of_its_folder(runs, text, meant):
    assert nearest_trial(text) == meant


def test_the_current_folder_may_hold_the_trials(runs, monkeypatch):
    monkeypatch.chdir(runs / "runs")
    assert nearest_trial("nigth") == "night"


@pytest.mark.parametrize(
    "words",
    [
        ("verdict", "runs/sampel"),
        ("gate", "slower>2%", "runs/sampel"),
        ("status", "runs/sampel"),
        ("report", "runs/sampel", "--format", "txt"),
        ("diagnose", "runs/sampel"),
        ("diff", "runs/sample", "runs/sampel"),
        ("bundle", "runs/sampel", "-o", "x.zip"),
        ("merge", "runs/sample", "runs/sampel", "-o", "x"),
        ("plot", "forest", "runs/sampel", "-o", "x.svg"),
        ("export", "runs/sampel", "-o", "x.csv"),
        ("mixture", "runs/sampel"),
        ("sources", "runs/sampel"),
        ("cancel", "runs/sampel"),
    ],
)
def test_every_command_says_which_trial_was_meant(runs, words):
    code, err = execute(*words)
    assert code in {2, 5, 6}
    assert err == "no trial 'runs/sampel': did you mean runs/sample?\n"


def test_a_trial_that_is_like_none_is_told_as_before(runs):
    assert "did you mean" not in execute("verdict", "runs/frobnicate")[1]


def test_an_error_about_something_else_keeps_its_words(runs):
    # two trials together are no name of one
    (runs / "runs" / "night" / "plan.jsonl").unlink()
    _, err = execute("merge", "runs/sample", "runs/night", "-o", "x")
    assert "did you mean" not in err
