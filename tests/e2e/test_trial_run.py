"""Executions that keep nothing: one cell with its output, and one block to learn its time."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def path(lab):
    hooks = {"finish": {"shell": "echo finish >> told"}, "setup": {"shell": "echo setup >> told"}}
    return lab.write_campaign(
        benchmarks={
            "text": {"command": lab.sh("echo one >> ran; echo out; echo err >&2")},
            "logs": {"command": lab.sh("echo two >> ran; sleep 0.2; exit 3")},
        },
        build={"shell": "echo {variant} >> built"},
        hooks=hooks,
        protocol={"sessions": 3, "runs": 5, "warmup": 2, "max_runs": 1},
    )


def lines(lab, name):
    return (lab.folder / name).read_text().split()


def test_only_one_cell_is_executed_and_nothing_is_stored(lab, path):
    done = lab.run_fairtrial("run", path, "--only", "text:b")
    assert done.returncode == 0, done.stderr
    assert lines(lab, "ran") == ["one", "one"]  # a warm-up and a run
    assert (lines(lab, "built"), lines(lab, "told")) == (["b"], ["setup"])  # nobody is notified
    assert not (lab.folder / "runs").exists()
    said = done.stdout.splitlines()
    assert said[0].startswith("warm-up text / b: ok  ")
    assert said[1].startswith("run     text / b: ok  ")
    assert said[2:] == [
        *("stdout, 4 bytes:", "    out", "stderr, 4 bytes:", "    err"),
        "this was a trial run: nothing is stored",
    ]


def test_a_cell_that_fails_gives_1_and_its_reason(lab, path):
    done = lab.run_fairtrial("run", path, "--only", "logs:a")
    assert done.returncode == 1
    assert "run     logs / a: exit" in done.stdout
    assert "exit code 3, expected 0" in done.stdout


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("txt:a", "did you mean 'text'?"),
        ("text:c", "known here: a, b"),
        ("text", "write --only BENCHMARK:VARIANT"),
    ],
)
def test_a_cell_that_is_not_there_is_refused(lab, path, named, said):
    done = lab.run_fairtrial("run", path, "--only", named)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (lab.folder / "ran").exists()


def test_a_build_that_fails_names_no_log_that_is_gone(lab, path):
    lab.write_campaign(build={"shell": "echo no; exit 2"})
    done = lab.run_fairtrial("run", path, "--only", "one:a")
    assert done.returncode == 4
    assert "build step 1 of 'a' failed" in done.stderr
    assert "fix:" not in done.stderr


def test_a_probe_executes_the_first_block_and_estimates(lab, path):
    # first use: before the first trial the expected time was "unknown"
    plain = lab.run_fairtrial("run", path, "--dry-run")
    assert "time    unknown before the first trial" in plain.stdout
    assert "nothing was executed." in plain.stdout
    assert not (lab.folder / "ran").exists()
    done = lab.run_fairtrial("run", path, "--dry-run", "--probe")
    assert done.returncode == 0, done.stderr
    assert sorted(lines(lab, "ran")) == ["one", "one", "two", "two"]  # each of four cells once
    assert ", from the first block\n" in done.stdout
    last = done.stdout.splitlines()[-1]
    assert last == "executed: the first block, 4 runs (2 failed); nothing of it is kept"
    assert not (lab.folder / "runs").exists()
    probed = json.loads(lab.run_fairtrial("run", path, "--dry-run", "--probe", "--json").stdout)
    assert probed["seconds"] > 2 * 3 * 7 * 0.2  # two cells sleep so long in each of 21 rounds
    assert probed["executed"].startswith("the first block")


@pytest.mark.parametrize(
    "words", [["--probe"], ["--only", "text:a", "--resume"], ["--only", "text:a", "--dry-run"]]
)
def test_what_cannot_stand_together_is_refused(lab, path, words):
    assert lab.run_fairtrial("run", path, *words).returncode == 2
    assert not (lab.folder / "ran").exists()
