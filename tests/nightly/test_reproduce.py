"""Artifacts of others, checked and measured again by the installed command."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import shutil
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

handmade = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "handmade_bundle.py")))

processes = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "processes.py")))


def measured(lab, **sections):
    """Measure a campaign of two sessions; give its trial."""
    path = lab.write_campaign(protocol={"sessions": 2, "runs": 2, "warmup": 1}, **sections)
    done = lab.run_fairtrial("run", path, "-q")
    assert done.returncode == 0, done.stderr
    return lab.trial()


def packed(lab, trial, *, edit=lambda _: None, **changes):
    """Pack the trial by hand, with whatever was edited, and consistent hashes."""
    files = handmade.files_of(trial, "t") | {"analyses/a.json": b"{}"}
    edit(files)
    words = ["verdict", "trials/t", "--json"]
    analysis = {"name": "verdict", "command": words, "seed": None, "result": "analyses/a.json"}
    told = {"sources": [handmade.source_of("t", trial.name)], "analyses": [analysis], **changes}
    return handmade.write_bundle(lab.folder / "artifact.zip", handmade.sealed(files, **told))


def tree(folder):
    return {(str(path), path.lstat().st_mtime_ns) for path in folder.rglob("*")}


def test_nothing_of_an_artifact_is_executed_or_left_without_consent(lab, marked):
    trial, marks = marked
    artifact = packed(lab, trial)
    before = tree(lab.folder)
    checked = lab.run_fairtrial("reproduce", artifact)
    assert checked.returncode == 1, checked.stderr  # what it stores is no verdict
    shown = lab.run_fairtrial("reproduce", "--rerun", artifact)
    assert shown.returncode == 2
    assert shown.stdout.count("echo x >>") == 6  # build, three hooks, run: each is shown
    for what in ("build of", "setup", "before each run", "run of one:a", "cleanup", "finish"):
        assert what in shown.stdout
    assert "nothing was executed" in shown.stderr
    assert "--yes-execute" in shown.stderr
    told = lab.run_fairtrial("reproduce", "--rerun", artifact, "--json", "--sessions", 1)
    plan = json.loads(told.stdout)
    assert (told.returncode, plan["consent"], plan["trials"][0]["sessions"]) == (2, False, 1)
    assert not marks.exists()
    assert tree(lab.folder) == before


@pytest.fixture
def marked(lab, marked_once):
    """Give a trial whose every command leaves a mark outside of all folders, and where marks would be."""
    trial, marks = marked_once
    marks.unlink(missing_ok=True)
    return trial, marks


@pytest.fixture(scope="module")
def marked_once(make_lab, tmp_path_factory):
    lab = make_lab(tmp_path_factory.mktemp("marked") / "lab")
    mark = lab.sh(f"echo x >> {lab.folder}/marks")
    trial = measured(
        lab,
        benchmarks={"one": {"command": mark}, "two": {"command": mark}},
        build=[mark],
        hooks={"setup": [mark], "before": [mark], "cleanup": [mark], "finish": [mark]},
    )
    assert (lab.folder / "marks").exists()
    return trial, lab.folder / "marks"


@pytest.mark.parametrize(
    "words",
    [
        ["run", "campaigns/t/campaign.yaml"],
        ["compare", "touch marks", "true"],
        ["report", "trials/t", "-o", "../../marks"],
        ["reproduce", "--rerun", "--yes-execute", "x"],
        ["merge", "trials/t", "trials/t", "-o", "x"],
        ["verdict", "../../../../etc"],
    ],
)
def test_an_artifact_that_asks_for_more_than_reading_is_refused(lab, sample_artifact, words):
    analysis = {"name": "a", "command": words, "seed": None, "result": "analyses/a.json"}
    artifact = sample_artifact(analyses=[analysis])
    before = tree(lab.folder)
    refused = lab.run_fairtrial("reproduce", artifact, "-C", "new")
    assert refused.returncode == 5
    assert words[0] in refused.stderr
    assert tree(lab.folder) == before


@pytest.fixture
def sample_artifact(lab):
    """Pack the sample trial by hand."""

    def make(*, edit=lambda _: None, **changes):
        files = handmade.files_of(handmade.SAMPLE) | {"analyses/a.json": b"{}"}
        edit(files)
        return handmade.write_bundle(lab.folder / "artifact.zip", handmade.sealed(files, **changes))

    return make


def test_code_that_lies_in_an_artifact_is_not_imported(lab, sample_artifact):
    evil = f"open({str(lab.folder / 'marks')!r}, 'w')\n".encode()
    verdict = {"name": "a", "command": ["verdict", "trials/sample"], "seed": None}
    for name in ("harness/__init__.py", "sitecustomize.py", "numpy.py", "matplotlibrc"):
        artifact = sample_artifact(
            edit=lambda files, name=name: files.update({name: evil}),
            analyses=[verdict | {"result": "analyses/a.json"}],
        )
        done = lab.run_fairtrial("reproduce", artifact)
        assert done.returncode == 5
        assert name in done.stderr
    inside = sample_artifact(
        edit=lambda files: files.update({"trials/sample/sitecustomize.py": evil}),
        analyses=[verdict | {"result": "analyses/a.json"}],
    )
    assert lab.run_fairtrial("reproduce", inside).returncode == 1
    assert not (lab.folder / "marks").exists()


def test_a_rerun_executes_compares_and_leaves_the_received_as_it_was(lab, marked):
    trial, marks = marked
    artifact = packed(lab, trial)
    received = artifact.read_bytes()
    done = lab.run_fairtrial(
        "reproduce", "--rerun", artifact, "--sessions", 2, "--yes-execute", "--json"
    )
    answer = json.loads(done.stdout)
    assert done.returncode == answer["exit_code"] in {0, 1, 7}, done.stderr
    assert answer["word"] in {"reproduced", "partly", "not", "cannot tell"}
    assert "echo x >>" in done.stderr  # what was consented to is said
    assert marks.exists()
    assert artifact.read_bytes() == received
    folder = lab.folder / "artifact-rerun"
    (trial,) = (folder / "runs").iterdir()
    lab.assert_complete_once_each(trial, planned=24)
    assert answer["trials"][0]["new"] == str(trial.resolve())
    comparison = answer["trials"][0]["comparison"]
    assert comparison["same_campaign"] is True
    assert [one["variant"] for one in comparison["candidates"]] == ["b"]
    sums = subprocess.run(
        ["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=folder, check=False, capture_output=True
    )
    assert sums.returncode == 0, sums.stdout
    # an ordinary trial, and one answer of both
    assert lab.run_fairtrial("verdict", trial).returncode == 0
    assert lab.run_fairtrial("diff", folder / "trials/t", trial).returncode == 0
    assert (folder / "rerun.md").read_text().startswith("### artifact.zip, measured again")
    assert json.loads((folder / "rerun.json").read_text()) == answer


def test_a_second_rerun_needs_another_folder(lab, marked):
    artifact = packed(lab, marked[0])
    (lab.folder / "artifact-rerun").mkdir()
    refused = lab.run_fairtrial("reproduce", "--rerun", artifact, "--yes-execute")
    assert refused.returncode == 2
    assert "there already" in refused.stderr
    done = lab.run_fairtrial(
        "reproduce", "--rerun", artifact, "--yes-execute", "--sessions", 1, "-o", "other"
    )
    assert done.returncode == 7  # one session tells nothing of other sessions
    assert "cannot tell" in done.stdout
    assert list((lab.folder / "artifact-rerun").iterdir()) == []
    # what it says to do next is done as it is said
    for said in re.findall(r"(?m)^fairtrial (run .*|diff .*)$", done.stdout):
        again = lab.run_fairtrial(*shlex.split(said))
        assert again.returncode == 0, again.stderr
    (trial,) = (lab.folder / "other" / "runs").iterdir()
    (added,) = re.findall(r"--sessions \+(\d+)", done.stdout)  # as many as its data ask for
    assert lab.manifest(trial)["sessions"] == 1 + int(added)


def test_a_campaign_that_is_not_the_measured_one_is_refused(lab, marked):
    def other(files):
        name = "campaigns/t/campaign.yaml"
        campaign = json.loads(files[name])
        campaign["hooks"]["setup"] = [lab.sh(f"touch {lab.folder}/evil")]
        files[name] = json.dumps(campaign).encode()

    artifact = packed(lab, marked[0], edit=other)
    before = tree(lab.folder)
    refused = lab.run_fairtrial("reproduce", "--rerun", artifact, "--yes-execute")
    assert refused.returncode == 5
    assert "not the campaign" in refused.stderr
    assert tree(lab.folder) == before


def test_a_missing_program_is_named_with_its_hash_and_nothing_else_is_executed(lab):
    lab.script("tool", "#!/bin/sh\n:\n")
    trial = measured(lab, benchmarks={"one": {"command": ["./tool"]}})
    artifact = packed(lab, trial)
    shown = lab.run_fairtrial("reproduce", "--rerun", artifact)
    assert "./tool: missing; SHA-256" in shown.stdout
    done = lab.run_fairtrial("reproduce", "--rerun", artifact, "--yes-execute")
    assert done.returncode == 4
    assert "tool" in done.stderr
    assert not list((lab.folder / "artifact-rerun").glob("runs/*"))


def test_an_interrupted_rerun_keeps_its_trial_and_says_130(lab):
    trial = measured(lab, benchmarks={"one": {"command": lab.sh(lab.waiting)}})
    (lab.folder / "reached").unlink(missing_ok=True)
    artifact = packed(lab, trial)
    lab.hold()
    process = lab.start_fairtrial("reproduce", "--rerun", artifact, "--yes-execute")
    lab.wait_until_reached(process)
    process.send_signal(signal.SIGINT)
    code, told = lab.ended(process)
    assert code == 130, told
    (begun,) = (lab.folder / "artifact-rerun" / "runs").iterdir()
    assert lab.manifest(begun)["status"] == "interrupted"
    assert not list(lab.folder.glob("artifact-rerun/rerun.*"))


def test_an_empty_home_and_no_surroundings_are_enough(lab, marked, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    trial = marked[0]
    (lab.folder / "trials").mkdir()
    (lab.folder / "trials" / "t").symlink_to(trial)
    said = lab.run_fairtrial("verdict", "trials/t", "--json").stdout
    artifact = packed(
        lab, trial, edit=lambda files: files.update({"analyses/a.json": said.encode()})
    )
    lab.environment = {"HOME": str(home), "PATH": os.defpath}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = lab.run_fairtrial("reproduce", artifact, "--json", "-q", cwd=elsewhere)
    answer = json.loads(done.stdout)
    assert done.stderr == ""
    assert answer["analyses"][0]["standing"] == "same bytes"
    assert list(elsewhere.iterdir()) == []


def test_options_that_cannot_stand_together_are_refused(lab, sample_artifact):
    artifact = sample_artifact(analyses=[])
    for args, said in (
        (["--yes-execute"], "goes with --rerun"),
        (["--sessions", "2"], "goes with --rerun"),
        (["--trial", "t"], "goes with --rerun"),
        (["--rerun", "--timeout", "3"], "goes without --rerun"),
        *(([f"--timeout={seconds}"], "above 0") for seconds in ("0", "-1", "nan", "inf")),
        (["--rerun", "--confidence", "1.5"], "between 0 and 1"),
        (["--rerun", "--trial", "none"], "no trial 'none'"),
        (["--json", "--md"], "not allowed with"),
        (["--max-entries", "0"], "at least 1"),
        (["--max-bytes", "lots"], "not a number of bytes"),
    ):
        refused = lab.run_fairtrial("reproduce", artifact, *args)
        assert refused.returncode == 2, args
        assert said in refused.stderr


def test_what_is_no_artifact_is_refused(lab):
    (lab.folder / "text.zip").write_text("no zip")
    assert lab.run_fairtrial("reproduce", "text.zip").returncode == 5
    assert lab.run_fairtrial("reproduce", "none.zip").returncode == 2
    assert lab.run_fairtrial("reproduce", ".").returncode == 2


def test_limits_are_those_of_the_options(lab, sample_artifact):
    artifact = sample_artifact()
    refused = lab.run_fairtrial("reproduce", artifact, "--max-entries", 5)
    assert refused.returncode == 5
    assert "--max-entries" in refused.stderr
    refused = lab.run_fairtrial("reproduce", artifact, "--max-bytes", "1k")
    assert refused.returncode == 5
    assert "--max-bytes" in refused.stderr


def test_a_killed_check_leaves_the_named_folder_whole_or_not_at_all(lab, sample_artifact):
    def large(files):
        files |= {f"sources/x/{k}": bytes(1000) for k in range(1000)}

    artifact = sample_artifact(edit=large, analyses=[])
    whole = artifact.read_bytes()

    def unpacked():
        return sum(len(list(place.iterdir())) for place in lab.folder.glob(".new.*/sources/x"))

    def killed(reached):
        process = lab.start_fairtrial("reproduce", artifact, "-C", "new")
        processes.wait_until(lambda: process.poll() is not None or reached(process), "it is there")
        process.kill()
        process.wait()

    for reached in (
        lambda process: "checking" in process.err_path.read_text(),
        lambda _: unpacked() > 50,
        lambda _: unpacked() > 900,
        lambda _: (lab.folder / "new").exists(),
    ):
        killed(reached)
        if (lab.folder / "new").exists():
            sums = ["sha256sum", "--quiet", "-c", "SHA256SUMS"]
            assert subprocess.run(sums, cwd=lab.folder / "new", check=False).returncode == 0
            shutil.rmtree(lab.folder / "new")
    assert artifact.read_bytes() == whole


@pytest.fixture
def endless(lab, sample_artifact):
    """Begin to check an artifact whose one result takes for ever; give the process, and its command's."""
    seed = 10**9 + os.getpid()
    words = ["resample", "trials/sample:gzip-1", "trials/sample:gzip-6", "--json"]
    words += ["--resamples", "10000000", "--seed", str(seed)]
    analysis = {"name": "a", "command": words, "seed": seed, "result": "analyses/a.json"}
    artifact = sample_artifact(analyses=[analysis])
    (lab.folder / "tmp").mkdir()
    lab.environment["TMPDIR"] = str(lab.folder / "tmp")

    def start(*words):
        process = lab.start_fairtrial("reproduce", artifact, *words)
        (child,) = processes.wait_until(lambda: processes.processes_with(str(seed)), "it computes")
        return process, child

    return start


@pytest.mark.parametrize(
    ("number", "times"),
    [(signal.SIGINT, 1), (signal.SIGINT, 3), (signal.SIGTERM, 1), (signal.SIGHUP, 1)],
)
def test_a_signal_ends_the_commands_and_removes_the_folder(lab, endless, number, times):
    process, child = endless()
    for _ in range(times):
        process.send_signal(number)
    assert lab.ended(process)[0] == 130
    assert not processes.command_line(child)
    assert list((lab.folder / "tmp").iterdir()) == []


def test_after_a_kill_nothing_computes_on_and_the_next_call_removes_the_folder(
    lab, endless, sample_artifact
):
    process, child = endless()
    process.kill()
    process.wait()
    processes.wait_until(lambda: not processes.command_line(child), "the command ends")
    (left,) = (lab.folder / "tmp").iterdir()
    other = sample_artifact(analyses=[])
    done = lab.run_fairtrial("reproduce", other)
    assert done.returncode == 0, done.stderr
    assert not left.exists()
    assert list((lab.folder / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "fix"), [(["--timeout", 2], "2 s"), (["--max-memory", 1000], "memory")]
)
def test_a_limit_ends_what_takes_for_ever_and_says_so(lab, endless, words, fix):
    process, child = endless(*words)
    code, told = lab.ended(process)
    assert code == 7, told
    said = " ".join(process.out_path.read_text().split())
    assert fix in said
    assert "a limit was reached" in said
    assert not processes.command_line(child)
    assert list((lab.folder / "tmp").iterdir()) == []


def test_no_space_is_said_and_nothing_is_left(lab, sample_artifact):
    artifact = sample_artifact(analyses=[])
    before = tree(lab.folder)
    for words in (["-C", "new"], ["--rerun", "--yes-execute"]):
        # no file may grow beyond it, as on a full disk
        refused = lab.run_fairtrial("reproduce", artifact, *words, largest_file=20000)
        assert refused.returncode == 5, refused.stderr
        assert "cannot be written" in refused.stderr
    assert tree(lab.folder) == before
