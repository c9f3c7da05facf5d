"""Bisections that are killed, or asked for what there is not: nothing is lost, and the next step is said."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

made = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "bisect_lab.py")))

STEP = 17
COSTS = [0.100 if k < STEP else 0.105 for k in range(25)]
HELD = "[ ! -e {here}/hold ] || : > {here}/reached; while [ -e {here}/hold ]; do sleep 0.02; done"


def words_of(lab, count=24, *more):
    return (
        *("bisect", f"HEAD~{count}", "HEAD", "--campaign", "app/campaign.yaml"),
        *("--work-dir", "work", "--wait-for-lock", *more),
    )


def rows(folder, trial):
    """Count the rows of a trial of a bisection; `trial` may be a pattern."""
    return sum(
        len(path.read_bytes().splitlines()) for path in folder.glob(f"{trial}/measurements.jsonl")
    )


def kill_when(lab, processes, process, reached, what):
    """Kill a bisection with -9 as soon as `reached` says so."""

    def there():
        assert process.poll() is None, process.err_path.read_text()
        return reached()

    processes.wait_until(there, what, 60)
    process.kill()
    process.wait()
    lab.release()


@pytest.fixture
def slow_git(lab):
    """Put a git before the real one that waits in a clone while there is a file `hold`."""
    place = lab.folder / "bin"
    place.mkdir()
    held = HELD.format(here=place)
    real = shutil.which("git")
    text = f'#!/bin/sh\nfor word; do [ "$word" = clone ] && {{ {held}; }}; done\nexec {real} "$@"\n'
    lab.script("bin/git", text)
    lab.environment = lab.environment | {"PATH": f"{place}:{lab.environment['PATH']}"}


@pytest.mark.usefixtures("slow_git")
def test_a_bisection_that_is_killed_five_times_gives_the_answer_and_measures_nothing_twice(
    lab, processes
):
    shas = made.repository(lab.folder / "app", COSTS)
    build = ["sh", "-c", f"{HELD.format(here=lab.folder)}; cc -O1 -o app app.c"]
    made.campaign(lab.folder / "app", build=[build])
    before = {path: path.read_bytes() for path in (lab.folder / "app").rglob("*") if path.is_file()}

    def started():
        known = list(lab.folder.glob("runs/bisect-*"))
        resume = [f"--resume={known[0].relative_to(lab.folder)}"] if known else []
        return lab.start_fairtrial(*words_of(lab), *resume)

    (lab.folder / "bin" / "hold").touch()
    kill_when(lab, processes, started(), (lab.folder / "bin" / "reached").exists, "it clones")
    (lab.folder / "bin" / "hold").unlink()
    folder = made.bisection(lab)
    assert made.listed(folder) == []
    lab.hold()
    kill_when(lab, processes, started(), (lab.folder / "reached").exists, "it builds")
    for trial in ("step0", "search/*", "proof-1"):
        process = started()
        kill_when(lab, processes, process, lambda t=trial: rows(folder, t) >= 5, f"{trial} runs")
        assert rows(folder, trial) >= 5
    done = lab.run_fairtrial(*words_of(lab), f"--resume={folder.relative_to(lab.folder)}", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["upto"] for one in found["culprits"]] == [shas[STEP]]
    listed = made.listed(folder)
    assert len(listed) == len(set(listed)) == found["sessions"]
    for trial in made.trials(folder):
        lab.assert_complete_once_each(trial)
    assert sum(lab.manifest(trial)["sessions"] for trial in made.trials(folder)) == len(listed)
    made.nothing_is_left(lab)
    now = {path: path.read_bytes() for path in (lab.folder / "app").rglob("*") if path.is_file()}
    assert now == before


def test_ctrl_c_removes_the_clone_and_says_how_to_go_on(lab, processes):
    made.repository(lab.folder / "app", COSTS)
    made.campaign(lab.folder / "app")
    process = lab.start_fairtrial(*words_of(lab))
    processes.wait_until(
        lambda: any(rows(path, "step0") >= 5 for path in lab.folder.glob("runs/bisect-*")),
        "step 0 is measured",
        60,
    )
    os.kill(process.pid, signal.SIGINT)
    code, said = lab.ended(process)
    folder = made.bisection(lab).relative_to(lab.folder)
    assert code == 130
    assert "stopped by you after" in said
    assert f"fairtrial bisect --resume {folder}" in " ".join(said.split()).replace("\\ ", "")
    made.nothing_is_left(lab)
    done = lab.run_fairtrial("bisect", "--resume", folder, "--wait-for-lock")
    assert done.returncode == 0, done.stderr


def test_two_bisections_do_not_write_one_folder(lab, processes):
    made.repository(lab.folder / "app", COSTS)
    held = ["sh", "-c", f"{HELD.format(here=lab.folder)}; cc -O1 -o app app.c"]
    made.campaign(lab.folder / "app", build=[held])
    lab.hold()
    process = lab.start_fairtrial(*words_of(lab))
    lab.wait_until_reached(process)
    folder = made.bisection(lab)
    done = lab.run_fairtrial(*words_of(lab), f"--resume={folder}")
    assert done.returncode == 5
    assert f"another process is writing this bisection (process {process.pid})" in " ".join(
        done.stderr.split()
    )
    process.send_signal(signal.SIGTERM)
    assert lab.ended(process)[0] == 130


# --- what cannot be bisected ------------------------------------------------------------------------


@pytest.fixture
def small(lab):
    """Give a lab with three commits of different programs."""
    lab.shas = made.repository(lab.folder / "app", [0.1, 0.2, 0.3])
    made.campaign(lab.folder / "app")
    return lab


def test_a_dirty_work_tree_is_told_and_no_matter(small):
    (small.folder / "app" / "app.c").write_text("broken, and not committed\n")
    done = small.run_fairtrial(*words_of(small, 2), "--looks", "2,9", "--sessions-max", "2")
    assert done.returncode == 7, done.stderr
    assert "changes that are not committed" in " ".join(done.stderr.split())
    assert (small.folder / "app" / "app.c").read_text() == "broken, and not committed\n"


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (["cc", "-O1", "-o", "other", "app.c"], "app"),
        (["sh", "-c", "echo the reason >&2; exit 2"], "build step 1 failed with exit code 2"),
    ],
)
def test_ends_that_do_not_build_end_it_with_4(small, build, says):
    made.campaign(small.folder / "app", build=[build])
    done = small.run_fairtrial(*words_of(small, 2), "--json")
    assert done.returncode == 4, done.stderr
    found = json.loads(done.stdout)
    assert (found["answer"], found["sessions"]) == ("not-built", 0)
    assert says in found["skipped"][0]["why"]
    made.nothing_is_left(small)


def test_a_build_that_does_not_end_is_ended(small):
    made.campaign(small.folder / "app", build=[["sleep", "1000"]], build_timeout="1s")
    done = small.run_fairtrial(*words_of(small, 2), "--json")
    assert done.returncode == 4, done.stderr
    assert "1 s" in json.loads(done.stdout)["skipped"][0]["why"]
    made.nothing_is_left(small)


def test_an_unknown_metric_is_refused_before_anything_is_built(small):
    done = small.run_fairtrial(*words_of(small, 2), "--metric", "wrk")
    assert done.returncode == 2
    assert "the runs have no metric 'wrk'" in done.stderr
    assert "known: work" in done.stderr
    assert not (small.folder / "work").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("bisect",), "GOOD and BAD are missing"),
        (("bisect", "--resume", "absent"), "there is no bisection"),
        (("bisect", "--resume"), "there is no bisection to go on with"),
        (("bisect", "a", "b", "--looks", "12,6"), "must be numbers of sessions that grow"),
        (("bisect", "a", "b", "--risk", "2"), "must be a number from 0 to below 1"),
    ],
)
def test_wrong_words_are_refused(small, words, says):
    done = small.run_fairtrial(*words, "--campaign", "app/campaign.yaml")
    assert done.returncode in (2, 5)
    assert says in done.stderr


def test_a_required_check_that_fails_ends_it_with_3(small):
    path = made.campaign(small.folder / "app")
    content = json.loads(path.read_text()) | {"isolation": {"cpus": [4000]}}
    path.write_text(json.dumps(content))
    done = small.run_fairtrial(*words_of(small, 2))
    assert done.returncode == 3, done.stderr
    made.nothing_is_left(small)


_DISK = """\
mount -t tmpfs -o size=40m none runs || exit 99
head -c 38m /dev/zero > runs/ballast
"$@" > said-first 2>&1; echo $? > first
rm runs/ballast
"$@" "--resume=$(echo runs/bisect-*)" > said-second 2>&1; echo $? > second
cp -r runs/. kept
"""


def test_a_full_disk_loses_nothing(small):
    """What is built is kept, and it goes on once there is room."""
    unshare = ("unshare", "-Urm")  # where a mount that would grow is refused
    tried = subprocess.run([*unshare, "true"], check=False, capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"no namespace with mounts is to be had here: {tried.stderr.strip()}")
    for name in ("runs", "kept"):
        (small.folder / name).mkdir()
    (small.folder / "disk.sh").write_text(_DISK)
    more = ("--looks", "2,9", "--sessions-max", "2")
    prefix = (*unshare, "sh", "disk.sh")
    path = small.folder / "app" / "campaign.yaml"
    content = json.loads(path.read_text())
    content["isolation"]["kept_outputs"] = "1MB"
    path.write_text(json.dumps(content))
    small.run_fairtrial(*words_of(small, 2), *more, prefix=prefix)
    assert (small.folder / "first").read_text() == "5\n"
    said = " ".join((small.folder / "said-first").read_text().split())
    assert "are free, and this trial may need" in said
    assert (small.folder / "second").read_text() == "7\n", (
        small.folder / "said-second"
    ).read_text()
    (folder,) = (small.folder / "kept").iterdir()
    assert len(made.listed(folder)) == 2
    made.nothing_is_left(small)
