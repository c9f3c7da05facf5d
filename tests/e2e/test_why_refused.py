"""What `fairtrial why` refuses before it executes anything, and in what words: no perf is needed for it."""

from __future__ import annotations

import fcntl
import json
import shutil

import pytest


@pytest.fixture
def small(lab):
    """Give a lab with a trial of two scripts."""
    for name in ("base", "cand"):
        lab.script(name, "#!/bin/sh\n:\n")
    path = lab.write_campaign(
        variants={"base": {}, "cand": {}},
        baseline="base",
        benchmarks={"one": {"command": ["./{variant}"]}},
        protocol={"sessions": 1, "runs": 1, "warmup": 0},
        checks={"probe": "0s"},
    )
    assert lab.run_fairtrial("run", path, "-q").returncode == 0
    lab.path = lab.trial()
    return lab


def refused(lab, code, *says, words=()):
    files = {path: path.read_bytes() for path in lab.path.rglob("*") if path.is_file()}
    done = lab.run_fairtrial("why", f"{lab.path}:cand", "--sessions", 1, "--any", *words)
    assert done.returncode == code, done.stderr
    for text in says:
        assert text in " ".join(done.stderr.split())
    assert done.stdout == ""
    assert not lab.path.with_name(lab.path.name + ".why").exists()
    assert {path: path.read_bytes() for path in lab.path.rglob("*") if path.is_file()} == files


def test_a_changed_program_is_refused(small):
    program = small.folder / "cand"
    program.write_bytes(program.read_bytes() + b"\n")
    refused(small, 3, "cand has changed", "fix: build it as it was then")
    if shutil.which("valgrind"):
        refused(small, 3, "cand has changed", words=("--instructions",))
    program.unlink()
    refused(small, 4, "not found")


def test_another_host_is_refused(small):
    path = small.path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"host_id": "other"}))
    refused(small, 3, "the host has changed", "on the host of the trial")


def test_a_trial_that_is_being_measured_is_not_disturbed(small):
    with (small.path / "measurements.jsonl").open() as rows:
        fcntl.flock(rows, fcntl.LOCK_EX)
        refused(small, 5, "another process is writing this trial")


def test_without_valgrind_the_remedy_is_told(small, monkeypatch):
    monkeypatch.setitem(small.environment, "PATH", str(small.folder))
    words = ("--instructions",)
    refused(small, 3, "not installed", "apt install valgrind", words=words)


@pytest.fixture(scope="module")
def plain(make_lab, tmp_path_factory):
    """Give a lab with a trial of one run, whose verdict calls nothing slower."""
    lab = make_lab(tmp_path_factory.mktemp("plain") / "lab")
    path = lab.write_campaign(
        variants={"base": {}, "cand": {}},
        baseline="base",
        protocol={"sessions": 1, "runs": 1, "warmup": 0},
    )
    done = lab.run_fairtrial("run", path, "--resume", "--trial", "runs/t", "-q")
    assert done.returncode == 0, done.stderr
    return lab


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("why", "absent"), "this is no trial"),
        (("why", "{trial}:nobody"), "the trial has no variant 'nobody'"),
        (("why", "{trial}:base"), "'base' is the baseline"),
        (("why", "{trial}:cand", "--benchmark", "nothing"), "there is no benchmark 'nothing'"),
        (("why", "{trial}:cand", "--stored"), "nothing is stored"),
        (("why", "{trial}:cand", "--stored", "--sessions", "3"), "--stored executes none"),
        (("why", "{trial}", "--stored", "--instructions"), "not allowed with"),
        (("why", "{trial}:cand", "--rename", "a=b=c"), "must be OLD=NEW"),
        (("why", "{trial}"), "no candidate slower than the baseline"),
    ],
)
def test_wrong_words_are_told(plain, words, says):
    done = plain.run_fairtrial(*(word.format(trial="runs/t") for word in words))
    assert done.returncode == 2, done.stderr
    assert says in " ".join(done.stderr.split())
