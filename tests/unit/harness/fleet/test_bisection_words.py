"""What the command line of a bisection's job may say. Authority: the command `bisect` itself, and git."""

from __future__ import annotations

import io
import os
import shlex
import subprocess

import pytest

from harness.cli import main
from harness.fleet import submission

TEXT = """\
name: app
variants: {tip: {}}
benchmarks: {parse: {command: ["./app"]}, print: {command: ["./app"]}}
"""


def git(folder, *words):
    done = subprocess.run(
        ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", *words],
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
    )
    return done.stdout.strip()


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "app").write_text("#!/bin/sh\n")
    (folder / "app").chmod(0o755)
    (folder / "campaign.yaml").write_text(TEXT)
    git(folder, "add", "-A")
    for number in range(3):
        git(folder, "commit", "-q", "--allow-empty", "-m", str(number))
    return folder


@pytest.fixture
def submit(place, played, monkeypatch):
    monkeypatch.setattr(submission, "Scheduler", lambda: played)

    def execute(*words, hosts=("--hosts", "lab1", "--time", "10")):
        out, err = io.StringIO(), io.StringIO()
        given = ["submit", str(place / "campaign.yaml"), *hosts, "--dry-run", *words]
        return main(given, out, err), out.getvalue(), err.getvalue()

    return execute


def test_names_of_commits_are_looked_up_when_it_is_submitted(place, submit):
    options = "--benchmark parse --margin 0.02"
    code, out, err = submit("--bisect", "HEAD~2", "HEAD", f"--bisect-options={options}")
    assert code == 0, err
    (line,) = [line for line in out.splitlines() if " bisect " in line and "--resume" in line]
    words = shlex.split(line.rstrip("& "))
    start = words.index("bisect")
    good, bad = (git(place, "rev-parse", name) for name in ("HEAD~2", "HEAD"))
    assert words[start : start + 3] == ["bisect", good, bad]
    assert words[start + 3 : start + 7] == ["--benchmark", "parse", "--margin", "0.02"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--benchmark nothing", "nothing"),
        ("--margn 0.02", "--margn"),
        ("--margin x", "margin"),
        ("--resume", "--resume is said by submit"),
        ("--campaign other.yaml", "--campaign is said by submit"),
        ("--dry-run", "--dry-run is said by submit"),
        ("--dir x", "--dir is said by submit"),
        ("--work-dir here", "every node has its own here"),
        ("--benchmark 'parse", "cannot be split into options"),
    ],
)
def test_options_are_held_against_those_of_bisect_before_anything_is_submitted(
    submit, options, said
):
    code, out, err = submit("--bisect", "HEAD~2", "HEAD", f"--bisect-options={options}")
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())


def test_good_must_come_before_bad_and_options_need_a_search(submit):
    code, _, err = submit("--bisect", "HEAD", "HEAD~2")
    assert code == 2, err
    code, _, err = submit("--bisect-options=--margin 0.02")
    assert code == 2
    assert "add --bisect GOOD BAD" in err


def test_a_fleet_that_goes_on_takes_no_other_search(place, fleet, submit):
    out, err = io.StringIO(), io.StringIO()
    code = main(["submit", str(fleet), "--resume", "--bisect", "a", "b"], out, err)
    assert code == 2
    assert "--bisect does not go with --resume" in err.getvalue()
