"""What `fairtrial why` refuses before it executes anything, and in what words: no perf is needed for it."""

from __future__ import annotations

import fcntl

import pytest


@pytest.fixture(scope="module")
def plain(make_lab, tmp_path_factory):
    """Give a lab with a trial of one run of each of two scripts, whose verdict calls nothing slower."""
    lab = make_lab(tmp_path_factory.mktemp("plain") / "lab")
    lab.virtual = None  # `why` asks for the host of the trial
    for name in ("base", "cand"):
        lab.script(name, "#!/bin/sh\n:\n")
    path = lab.write_campaign(
        variants={"base": {}, "cand": {}},
        baseline="base",
        benchmarks={"one": {"command": ["./{variant}"]}},
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
        (("why", "{trial}:cand", "--rename", "a=b=c"), "must be OLD=NEW"),
        (("why", "{trial}"), "no candidate slower than the baseline"),
    ],
)
def test_wrong_words_are_told(plain, words, says):
    done = plain.run_fairtrial(*(word.format(trial="runs/t") for word in words))
    assert done.returncode == 2, done.stderr
    assert says in " ".join(done.stderr.split())


def refused(lab, code, says):
    done = lab.run_fairtrial("why", "runs/t:cand", "--any")
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert says in " ".join(done.stderr.split())
    assert not (lab.folder / "runs" / "t.why").exists()


def test_a_changed_program_is_refused_and_a_trial_that_is_being_measured_is_not_disturbed(plain):
    program = plain.folder / "cand"
    content = program.read_bytes()
    program.write_bytes(content + b"\n")
    refused(plain, 3, "cand has changed")
    program.write_bytes(content)
    with (plain.folder / "runs" / "t" / "measurements.jsonl").open() as rows:
        fcntl.flock(rows, fcntl.LOCK_EX)
        refused(plain, 5, "another process is writing this trial")
