"""What ``run`` says where it goes on, and at its end. Authority: the page of the first minute, section 3."""

from __future__ import annotations

import dataclasses
import io
import json
import shlex
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.record.trial_files import Appended
from harness.cli import main
from harness.commands.run import going_on_text, nearest, nearest_trial
from harness.errors import about_exactly, took
from harness.trial.ending import Ending, failed_runs, failures_text, runs_with_warmups
from harness.trial.progress import listed, read_progress
from harness.trial.writer import Store

AGAIN = ("fairtrial", "run", "campaign.yaml", "--resume", "--trial", "runs/c-20261121-0412")


@pytest.fixture
def begun(make_campaign, make_manifest, monkeypatch):
    """Make a trial of six sessions of 60 runs, of which `done` are there."""

    def make(done, *, status="interrupted", sessions=6, appended=(), left_s=170.0):
        campaign = make_campaign(("x", "y", "z"), ("a", "b"), runs=10, warmup=0)
        campaign = dataclasses.replace(
            campaign, protocol=dataclasses.replace(campaign.protocol, sessions=6)
        )
        manifest = make_manifest(
            runs=10, warmup=0, sessions=6, planned=360, status=status, appended=appended
        )
        far = SimpleNamespace(done=done)
        monkeypatch.setattr("harness.trial.progress.read_progress", lambda _: far)
        monkeypatch.setattr("harness.trial.progress.time_left", lambda *_: left_s)
        return SimpleNamespace(path=None, manifest=manifest, campaign=campaign, sessions=sessions)

    return make


def test_a_trial_that_goes_on_says_where_and_how_long(begun):
    said = going_on_text(begun(209))
    assert said == "going on at run 210 of 360 (session 4 of 6), about 2 min 50 s"
    assert going_on_text(begun(0, left_s=None)) == "going on at run 1 of 360 (session 1 of 6)"
    assert going_on_text(begun(359)).startswith("going on at run 360 of 360 (session 6 of 6)")


def test_added_sessions_say_which_look_they_are(begun):
    whole = begun(360, status="complete", sessions=10, left_s=300.0)
    assert going_on_text(whole) == (
        "adding sessions 7 to 10: 240 runs, about 5 min; look 2 at this trial"
    )
    earlier = (Appended(at="2026-11-21T04:12:00Z", first=5, last=6),)
    again = begun(360, status="complete", sessions=7, appended=earlier, left_s=50.0)
    assert going_on_text(again) == ("adding session 7: 60 runs, about 50 s; look 3 at this trial")
    more = going_on_text(begun(209, sessions=8))
    assert more.startswith("going on at run 210 of 480 (session 4 of 8)")
    assert more.endswith("; sessions 7 to 8 are added")


def test_of_a_complete_trial_nothing_goes_on(begun):
    assert going_on_text(begun(360, status="complete")) is None


# --- the end -------------------------------------------------------------------------------------


def ending(tmp_path, **changes):
    known = {
        "trial": tmp_path / "c-1",
        "status": "complete",
        "reason": None,
        "done": 360,
        "planned": 360,
        "failed": 0,
    }
    return Ending(**known | changes)


def test_the_end_says_runs_time_failures_and_one_command(tmp_path):
    short = ending(Path(), trial=Path("runs/c-0412"), failed=2, warmups=24)
    short = dataclasses.replace(short, failed_how={"logs / gzip-9": {"timeout": 2}})
    lines = short.lines(AGAIN, took_s=410.2)
    assert lines == [
        "done: 360 runs (24 warm-up) in 6 min 50 s, 2 failed (logs / gzip-9: timeout)",
        "note  'fairtrial status runs/c-0412' says where their output is",
        "next  fairtrial verdict runs/c-0412",
    ]
    clean = ending(Path(), trial=Path("runs/c-0412"))
    assert clean.lines(AGAIN, took_s=410.2) == [
        "done: 360 runs in 6 min 50 s    runs/c-0412",
        "next  fairtrial verdict runs/c-0412",
    ]


def test_a_resumed_trial_says_how_much_was_measured_now(tmp_path):
    (head, *_) = ending(tmp_path).head(took_s=170.0, fresh=151)
    assert head.startswith("done: 360 runs, 151 of them now in 2 min 50 s")


def test_what_was_stopped_names_the_command_that_goes_on(tmp_path):
    lines = ending(tmp_path, status="interrupted", done=209).lines(AGAIN)
    assert " ".join(lines).startswith("stopped by you after 209 of 360 runs; all 209 are kept")
    assert lines[-1] == ("next  fairtrial run campaign.yaml --resume --trial runs/c-20261121-0412")


def test_nothing_to_do_says_how_there_would_be_more(tmp_path):
    lines = ending(tmp_path, reason="it was complete already", already=True).lines(AGAIN)
    assert lines[0] == "complete already: 360 of 360"
    # seen: an option alone, and of a long name no trial
    again = " ".join(" ".join(lines[1:]).replace("\\", "").split())
    assert again == f"next {' '.join(AGAIN)} --sessions +4 adds sessions"


@pytest.mark.parametrize("name", ["g" * 200, "ひ" * 50, "a b" * 30, "x"])
def test_hostile_names_stay_within_80_columns(tmp_path, name):
    how = {f"{name}{k} / {name}": {"timeout": 1, "exit": 2} for k in range(6)}
    made = ending(tmp_path, trial=Path("runs/c"), failed=18, failed_warmups=3, failed_how=how)
    lines = made.lines(AGAIN, took_s=1.0)
    assert max(map(len, lines)) <= 80
    assert " and 3 more cells)" in " ".join(" ".join(lines).split())


@pytest.mark.parametrize(
    ("failed", "warmups", "text"),
    [
        (13, 1, "12 failed, and 1 warm-up"),
        (2, 0, "2 failed"),
        (1, 1, "1 warm-up failed"),
        (2, 2, "2 warm-ups failed"),
        (1500, 20, "1,480 failed, and 20 warm-ups"),
    ],
)
def test_failures_are_counted_apart_from_warm_ups(failed, warmups, text):
    assert failed_runs(failed, warmups) == text


def test_runs_are_counted_with_their_warm_ups():
    assert runs_with_warmups(144, 24) == "144 runs (24 warm-up)"
    assert runs_with_warmups(1, 0) == "1 run"


def test_failed_cells_say_how():
    assert failures_text({"logs / gzip-9": {"timeout": 2}}) == "logs / gzip-9: timeout"
    assert failures_text({"a / b": {"exit": 1}, "c / d": {"exit": 2, "signal": 1}}) == (
        "c / d: 2 exit, 1 signal; a / b: 1 exit"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.42, "0.4 s"), (45.3, "45 s"), (60, "1 min"), (410.2, "6 min 50 s"), (7500, "2 h 5 min")],
)
def test_a_time_that_has_passed_is_said_in_words(seconds, text):
    assert took(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.1, "about 1 s"), (42.3, "about 42 s"), (172.0, "about 2 min 50 s"), (1234, "about 21 min")],
)
def test_an_estimate_is_no_more_exact_than_it_can_be(seconds, text):
    assert about_exactly(seconds) == text


# --- status --------------------------------------------------------------------------------------


@pytest.fixture
def store(make_manifest, tmp_path):
    made = Store.create(make_manifest(), tmp_path, b"")
    yield made
    made.release()


def progress(store, **changes):
    return dataclasses.replace(read_progress(store.path), **changes)


def test_trials_are_listed_a_line_each(store):
    def one(**changes):
        return progress(store, **changes)

    lines = listed(
        [
            one(
                trial="compressors-20261121-0412",
                done=209,
                planned=360,
                elapsed_s=231.0,
                left_s=169.0,
            ),
            one(trial="night-20261120-0200", state="killed", done=90, planned=300),
            one(trial="sample-20261121-0843", state="complete", done=144, planned=144),
        ]
    )
    assert lines == [
        "compressors-20261121-0412  measuring  209 of 360  3:51, about 2:49 left",
        "night-20261120-0200        killed     90 of 300",
        "sample-20261121-0843       complete   144 of 144",
    ]


@pytest.mark.parametrize("name", ["n" * 255, "ひ" * 80, "a" * 34])
def test_a_list_of_hostile_trials_stays_within_80_columns(store, name):
    lines = listed([progress(store, trial=name, state="stopped", reason="no room " * 30)])
    assert max(map(len, lines)) <= 80


# --- What ``run`` says before a trial and behind it. Authority: the commands that it names


SAMPLE = Path(__file__).resolve().parents[4] / "tests" / "data" / "sample-0.2.0"


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Execute nothing: every trial is interrupted at once."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.yaml").write_text(
        "name: sample\nvariants: {a: {}}\nbenchmarks: {x: {command: ['true']}}\n"
        "isolation: {cpus: none}\n"
    )
    ending = Ending(trial=tmp_path, status="interrupted", reason=None, done=1, planned=4, failed=0)
    monkeypatch.setattr("harness.trial.execution.start", lambda *_: ending)

    def execute(*words):
        out, err = io.StringIO(), io.StringIO()
        return main(["run", "c.yaml", *words], out, err), err.getvalue()

    return execute


def continued(err):
    return shlex.split(err[err.rindex("next  ") :].replace("\\\n", ""))[1:]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--seed", "0"],  # the trial keeps it
        ["--dir", "my runs"],
        ["--resume", "--dir", "my runs", "--trial", "my runs/t"],
        ["--resume", "--trial", "t", "--seed", "5"],
    ],
)
def test_the_command_that_goes_on_names_the_trial(run, tmp_path, words):
    code, err = run(*words)
    assert code == 130
    assert continued(err) == ["fairtrial", "run", "c.yaml", "--resume", "--trial", str(tmp_path)]


def test_a_trial_is_named_with_its_folder_or_not(run):
    # seen: a new trial began in ./sample-1, although --dir said runs/
    code, err = run("--resume", "--dir=-my runs", "--trial", "sample-1")
    assert code == 2
    assert "fix: leave out --dir: '--trial=-my runs/sample-1'" in err


@pytest.mark.parametrize("there", [True, False])
def test_a_new_trial_says_how_to_go_on_with_an_unfinished_one(run, tmp_path, there):
    old = tmp_path / "runs" / "sample-1"
    shutil.copytree(SAMPLE, old)
    manifest = json.loads((old / "manifest.json").read_text())
    kept, moved = str(old / "campaign.yaml"), str(tmp_path / "c.yaml")
    campaign = kept if there else moved
    manifest |= {"status": "interrupted", "campaign_path": kept if there else "/absent/c.yaml"}
    (old / "manifest.json").write_text(json.dumps(manifest))
    said = run("--dir", str(tmp_path / "runs"))[1]
    text = " ".join(said.replace("\\\n", "").split())
    assert f"note {old} of this campaign is unfinished; this is a new trial" in text
    assert f"next fairtrial run {campaign} --resume --trial {old} " in text
    assert ("goes on with it" if there else "once the campaign is as it was: ") in text


# --- What was meant by a mistyped command, option or trial
#
# Authority: `difflib.get_close_matches` with a cutoff of 0.6; first use: `verdct` was answered by 28 names
# in a line of 400 characters.


NEAR_NAMES_SAMPLE = Path(__file__).parents[3] / "data" / "sample-0.2.0"


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
        (["init", "a/b"], "a/b: there is no folder 'a'\n  fix: make it"),
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
        shutil.copytree(NEAR_NAMES_SAMPLE, tmp_path / "runs" / name)
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
