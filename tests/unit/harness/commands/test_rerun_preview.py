"""Only the campaign that was measured is executed, and only in its folder. The trial is the authority."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.errors import StoreError
from harness.campaign.resolve import load_campaign
from harness.campaign.schema import identity_of, resolved_text
from harness.cli import main
from harness.commands.rerun_preview import intent_of, received_campaign
from harness.errors import HostError
from harness.trial.ending import Ending

TEXT = {
    "name": "c",
    "seed": 5,
    "variants": {"a": {"level": 1}, "b": {"level": 2}},
    "baseline": "a",
    "build": [["make", "LEVEL={level}"]],
    "benchmarks": {
        "one": {"command": ["./tool", "-{level}", "data/in"], "env": {"MODE": "x y"}},
        "two": {"command": ["gzip", "-c"], "stdin": "data/in", "stdout": "discard"},
    },
    "hooks": {"setup": [["sh", "prepare.sh"]], "before": [["sync"]], "finish": [["true"]]},
    "protocol": {"sessions": 4, "runs": 2, "warmup": 1},
}


@pytest.fixture
def bundle(tmp_path):
    """Make an unpacked bundle of a campaign and a trial that says it was measured with it."""

    def make(text=TEXT, *, then=None, seed=5, **manifest):
        root = tmp_path / "root"
        home, trial = root / "campaigns" / "t", root / "trials" / "t"
        (home / "data").mkdir(parents=True)
        trial.mkdir(parents=True)
        (home / "data" / "in").write_text("abc")
        (home / "prepare.sh").write_text("true")
        file = home / "campaign.yaml"
        file.write_text(json.dumps(text))
        campaign = load_campaign(file, seed=seed)
        resolved = resolved_text(campaign)
        (trial / "resolved.json").write_bytes(resolved)
        told = {
            "schema": 1,
            "trial": "t",
            "tool_version": "0.2.0",
            "campaign_name": "c",
            "campaign_sha256": identity_of(campaign),
            "campaign_identity": 2,
            "campaign_path": "/home/them/c/campaign.yaml",
            "baseline": "a",
            "variants": ["a", "b"],
            "benchmarks": ["one", "two"],
            "metrics": {},
            "seed": seed,
            "sessions": 4,
            "runs": 2,
            "warmup": 1,
            "planned": 48,
            "host": "h",
            "host_id": "x",
            "targets": {"/home/them/c/tool": "1" * 64, shutil.which("gzip"): "2" * 64},
            "arguments": {"/home/them/c/data/in": hashlib.sha256(b"abc").hexdigest()},
            "started": "2026-11-21T08:00:00Z",
            "finished": "2026-11-21T08:02:00Z",
            "status": "complete",
            "files": {"resolved.json": hashlib.sha256(resolved).hexdigest()},
        } | manifest
        (trial / "manifest.json").write_text(json.dumps(told))
        if then is not None:
            file.write_text(json.dumps(then))
        return root, file, trial

    return make


def received(root, file, trial, *, redacted=False):
    return received_campaign(file, trial, root.resolve(), redacted=redacted)


def test_the_campaign_that_was_measured_is_taken(bundle):
    assert received(*bundle()).name == "c"


def test_a_seed_of_the_command_line_is_the_trials(bundle):
    assert received(*bundle(seed=77)).seed == 77


@pytest.mark.parametrize(
    "change",
    [
        {"build": [["make", "install"]]},
        {"hooks": {"setup": [["rm", "-rf", "x"]]}},
        {"benchmarks": {**TEXT["benchmarks"], "one": {"command": ["./evil"]}}},
        {"protocol": {"sessions": 4, "runs": 3, "warmup": 1}},
        {"isolation": {"environment": {"set": {"LD_PRELOAD": "./evil.so"}}}},
    ],
)
@pytest.mark.parametrize("redacted", [False, True])
def test_another_campaign_is_refused(bundle, change, redacted):
    text = {**TEXT, **change}
    if "build" in change or "hooks" in change or "benchmarks" in change:
        text = {k: v for k, v in text.items() if v is not None}
    with pytest.raises(StoreError, match="measured; nothing was executed") as refused:
        received(*bundle(then=text), redacted=redacted)
    assert refused.value.exit_code == 5


def test_layout_and_comments_are_no_other_campaign(bundle):
    root, file, trial = bundle()
    file.write_text("# a comment\n" + json.dumps(TEXT, indent=3))
    assert received(root, file, trial).name == "c"


def test_a_redacted_campaign_is_held_against_the_redacted_content(bundle):
    # names were replaced in both alike, so the identity is that of the original
    root, file, trial = bundle(campaign_sha256="0" * 64)
    assert received(root, file, trial, redacted=True).name == "c"
    with pytest.raises(StoreError, match="not the campaign"):
        received(root, file, trial)


def test_resolved_content_that_was_edited_is_refused(bundle):
    root, file, trial = bundle()
    stored = json.loads((trial / "resolved.json").read_text())
    stored["campaign"]["cells"][0]["command"]["argv"] = ["./harmless"]
    text = json.dumps(stored).encode()
    (trial / "resolved.json").write_bytes(text)
    manifest = json.loads((trial / "manifest.json").read_text())
    manifest["files"]["resolved.json"] = hashlib.sha256(text).hexdigest()
    (trial / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match="cells"):
        received(root, file, trial)


@pytest.mark.parametrize("origin", ["imported", "merged"])
def test_a_trial_that_no_campaign_measured_is_refused(bundle, origin):
    with pytest.raises(StoreError, match=origin):
        received(*bundle(origin=origin))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"cwd": "/"}, "in /"),
        ({"cwd": "../../.."}, "one / a"),
        ({"metrics": {"m": {"from": "/home/you/.profile", "regex": "(.*)", "unit": "s", "better": "lower"}}}, "removed"),
    ],
)  # fmt: skip
def test_a_campaign_that_works_outside_is_refused(bundle, change, named):
    one = {**TEXT["benchmarks"]["one"], **change}
    text = {**TEXT, "benchmarks": {**TEXT["benchmarks"], "one": one}}
    with pytest.raises(StoreError, match="outside of its folder") as refused:
        received(*bundle(text))
    assert named in refused.value.what


def test_a_link_out_of_the_folder_is_outside(bundle, tmp_path):
    one = {**TEXT["benchmarks"]["one"], "cwd": "away"}
    root, file, trial = bundle({**TEXT, "benchmarks": {**TEXT["benchmarks"], "one": one}})
    (file.parent / "away").symlink_to(tmp_path)
    with pytest.raises(StoreError, match="outside of its folder"):
        received(root, file, trial)


def test_everything_that_would_be_executed_is_said(bundle):
    root, file, trial = bundle()
    intent = intent_of(received(root, file, trial), trial, root.resolve(), sessions=None)
    assert [(step.kind, step.argv) for step in intent.steps] == [
        ("build", ("make", "LEVEL=1")),
        ("build", ("make", "LEVEL=2")),
        ("setup", ("sh", "prepare.sh")),
        ("before each run", ("sync",)),
        ("run", ("./tool", "-1", "data/in")),
        ("run", ("./tool", "-2", "data/in")),
        ("run", ("gzip", "-c")),
        ("finish", ("true",)),
    ]
    by_argv = {step.argv: step for step in intent.steps}
    assert by_argv["sync",].of == ("one:a", "one:b", "two:a", "two:b")
    assert by_argv["gzip", "-c"].stdin == "campaigns/t/data/in"
    assert by_argv["./tool", "-1", "data/in"].variables == {"MODE": "x y"}
    assert {step.cwd for step in intent.steps} == {"campaigns/t"}
    text = str(intent)
    assert "MODE='x y' ./tool -1 data/in" in text
    assert "gzip -c < campaigns/t/data/in" in text
    assert "all of your environment variables" in text
    assert (intent.sessions, intent.runs, intent.seconds) == (4, 48, 120.0)
    assert json.loads(json.dumps(asdict(intent)))["steps"][0]["argv"] == ["make", "LEVEL=1"]


def test_a_build_of_each_session_is_said_to_be_one_with_its_placeholder(bundle):
    build = {"each": "session", "run": [["make", "LEVEL={level}", "SEED={layout_seed}"]]}
    text = {
        **TEXT,
        "build": build | {"artifacts": ["tool-{variant}", "/usr/lib/their-{variant}.so"]},
    }
    one = {**TEXT["benchmarks"]["one"], "env": {"SEED": "{layout_seed}"}}
    text["benchmarks"] = {**TEXT["benchmarks"], "one": one}
    root, file, trial = bundle(text)
    intent = intent_of(received(root, file, trial), trial, root.resolve(), sessions=None)
    built, run = intent.steps[0], next(step for step in intent.steps if step.kind == "run")
    assert built.kind == "build before each session"
    assert built.argv == ("make", "LEVEL=1", "SEED={layout_seed}")
    assert run.variables == {"SEED": "{layout_seed}"}
    page = str(intent)
    assert "    build before each session of a, in campaigns/t\n" in page
    assert "\0" not in page + json.dumps(asdict(intent))
    assert intent.reads == ("/usr/lib/their-a.so", "/usr/lib/their-b.so")


@pytest.mark.parametrize(
    "build",
    [
        {"run": [["make", "LEVEL={level}"]], "each": "session"},
        {"run": [["make", "LEVEL={level}"]], "artifacts": ["/etc/passwd"]},
    ],
)
@pytest.mark.parametrize("redacted", [False, True])
def test_when_it_is_built_and_what_is_hashed_are_what_was_measured(bundle, build, redacted):
    with pytest.raises(StoreError, match="measured; nothing was executed"):
        received(*bundle(then={**TEXT, "build": build}), redacted=redacted)


def test_files_behind_the_commands_are_told_with_their_hashes(bundle):
    root, file, trial = bundle()
    intent = intent_of(received(root, file, trial), trial, root.resolve(), sessions=2)
    found = {program.name: program for program in intent.programs}
    inside = {"campaigns/t/data/in", "campaigns/t/prepare.sh"}
    assert set(found) == {"make", "sh", "sync", "./tool", "gzip", "true", *inside}
    tool = found["./tool"]  # no binary came with it, and a build makes it
    assert (tool.place, tool.sha256, tool.measured_sha256) == ("made by the build", None, "1" * 64)
    assert found["gzip"].place == "this machine"
    assert found["gzip"].sha256 != found["gzip"].measured_sha256 == "2" * 64
    data = found["campaigns/t/data/in"]
    assert (data.place, data.bytes) == ("bundle", 3)
    assert data.sha256 == data.measured_sha256 == hashlib.sha256(b"abc").hexdigest()
    assert found["campaigns/t/prepare.sh"].bytes == 4
    assert intent.seconds == 60.0
    assert "the same as was measured" in str(data)


def test_a_binary_that_nothing_makes_is_missing_with_its_hash(bundle):
    text = {key: value for key, value in TEXT.items() if key != "build"}
    root, file, trial = bundle(text)
    intent = intent_of(received(root, file, trial), trial, root.resolve(), sessions=None)
    (tool,) = (one for one in intent.programs if one.name == "./tool")
    assert (tool.place, tool.measured_sha256) == ("missing", "1" * 64)
    assert "missing; SHA-256 111111111111… was measured" in str(tool)


def test_what_is_read_from_outside_is_said(bundle):
    two = {**TEXT["benchmarks"]["two"], "stdin": "/etc/hostname"}
    root, file, trial = bundle({**TEXT, "benchmarks": {**TEXT["benchmarks"], "two": two}})
    intent = intent_of(received(root, file, trial), trial, root.resolve(), sessions=None)
    assert intent.reads == ("/etc/hostname",)
    assert "/etc/hostname, which is not in the bundle" in str(intent)


def test_what_a_terminal_would_obey_is_shown(bundle):
    one = {**TEXT["benchmarks"]["one"], "command": ["sh", "-c", "echo \u202e\u2028x\necho y"]}
    root, file, trial = bundle({**TEXT, "benchmarks": {**TEXT["benchmarks"], "one": one}})
    text = str(intent_of(received(root, file, trial), trial, root.resolve(), sessions=None))
    assert "\u202e" not in text
    assert "U+202E" in text
    assert "\u240a" in text  # a second line of a command is no line of ours


def test_arguments_that_can_be_no_files_are_told_all_the_same(bundle):
    long = "a" * 300
    one = {**TEXT["benchmarks"]["one"], "command": [f"./{long}", long, "", f"--x={long}/{long}"]}
    root, file, trial = bundle({**TEXT, "benchmarks": {**TEXT["benchmarks"], "one": one}})
    intent = intent_of(received(root, file, trial), trial, root.resolve(), sessions=None)
    assert any(step.argv[0] == f"./{long}" for step in intent.steps)
    assert {one.place for one in intent.programs if one.name == f"./{long}"} == {
        "made by the build"
    }


@pytest.fixture
def reproduce(bundle, monkeypatch, tmp_path):
    """Measure an artifact again of which nothing is executed; give what was started too."""
    root, file, trial = bundle()
    monkeypatch.chdir(tmp_path)
    one = SimpleNamespace(name="t", path=trial, campaign=file)
    there = SimpleNamespace(trials=[one], folder=root.resolve(), redacted=False)
    started = []

    def start(campaign, options, view):
        started.append((campaign.name, options.sessions))
        return Ending(trial=trial, status="complete", reason=None, done=1, planned=1, failed=0)

    def answer(name, folder, pairs, out, **_):
        out.write(f"{name} in {folder}: {len(pairs)} compared\n")
        return 1

    monkeypatch.setattr("analysis.commands.share.unpack_artifact", lambda *_, **__: there)
    monkeypatch.setattr("analysis.commands.share.write_rerun", answer)
    monkeypatch.setattr("harness.trial.execution.start", start)

    def execute(*words):
        out, err = io.StringIO(), io.StringIO()
        code = main(["reproduce", "a.zip", "--rerun", *words], out, err)
        return code, out.getvalue(), err.getvalue(), started

    return execute


def test_without_consent_it_is_shown_and_nothing_is_executed(reproduce):
    code, out, err, started = reproduce()
    assert (code, started) == (2, [])
    assert out.startswith(
        "this would be executed in the new folder a-rerun, with your rights:\nt: "
    )
    assert "        gzip -c < campaigns/t/data/in\n" in out
    assert "nothing was executed" in err


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_what_was_consented_to_is_said_and_the_comparison_is_the_answer(reproduce, quiet):
    code, out, err, started = reproduce("--yes-execute", "--into", "new", "--sessions", "3", *quiet)
    assert (code, out, started) == (1, "a.zip in new: 1 compared\n", [("c", 3)])
    lines = err.splitlines()
    at = lines.index("executing in new, with your rights:")
    assert lines[at + 1].startswith("t: 3 sessions of 4")
    assert ("checking a.zip" in lines) == (not quiet)


def test_what_could_not_begin_leaves_no_folder_for_the_same_command_to_find(reproduce, monkeypatch):
    def locked(_campaign, options, _view):
        raise HostError(f"waited {options.wait_s:g} s for the host", None, "wait longer")

    monkeypatch.setattr("harness.trial.execution.start", locked)
    Path("new").mkdir()  # as what is unpacked makes it
    code, _, err, _ = reproduce("--yes-execute", "-C", "new", "--wait-for-lock=2")
    assert (code, Path("new").exists()) == (HostError.exit_code, False)
    assert "waited 2 s" in err
