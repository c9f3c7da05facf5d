"""Whoever asks git does so alike: no program of a repository, no network, no lock, no other repository."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from analysis.errors import FairtrialError, UsageError
from analysis.history.nights import repository_of
from harness.bisect.commits import commits_between
from harness.host.executables import commits_of_programs


def by_bisect(folder: Path) -> None:
    commits_between(folder, "HEAD~1", "HEAD")


def by_history(folder: Path) -> None:
    repository_of([folder])


def by_a_trial(folder: Path) -> None:
    (found,) = commits_of_programs({("b", "v"): folder / "program"}).values()
    raise UsageError(str(found.unknown), None, found.fix)


def fix_of(ask, folder: Path) -> str | None:
    try:
        ask(folder)
    except FairtrialError as error:
        return error.fix
    return None


def in_a_repository(folder: Path, monkeypatch, script: str) -> None:
    """Have a program lie in a repository, and a git that is this script."""
    stub = folder / "bin" / "git"
    stub.parent.mkdir()
    stub.write_text(f"#!/bin/sh\n{script}\n")
    stub.chmod(0o755)
    (folder / ".git").mkdir(exist_ok=True)
    (folder / "program").write_text("")
    monkeypatch.setenv("PATH", f"{stub.parent}:/usr/bin:/bin")


WAYS = pytest.mark.parametrize("ask", [by_bisect, by_history, by_a_trial])


@WAYS
def test_git_is_asked_alone(ask, tmp_path, monkeypatch):
    told = tmp_path / "told"
    in_a_repository(tmp_path, monkeypatch, f'{{ echo "words $*"; env; }} > {told}; exit 1')
    monkeypatch.setenv("GIT_DIR", "/elsewhere")  # as a hook sets it that starts fairtrial
    with contextlib.suppress(FairtrialError):
        ask(tmp_path)
    words, *lines = told.read_text().splitlines()
    assert "-c core.hooksPath=/dev/null -c core.fsmonitor=false" in words
    variables = dict(line.partition("=")[::2] for line in lines)
    assert "GIT_DIR" not in variables
    for name, value in {
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }.items():
        assert variables.get(name) == value, name


@WAYS
def test_an_answer_that_is_cut_off_is_none(ask, tmp_path, monkeypatch):
    in_a_repository(tmp_path, monkeypatch, "printf '/some/where\\n12345'")
    with pytest.raises(FairtrialError, match="cut off"):
        ask(tmp_path)


@WAYS
@pytest.mark.parametrize("odd", ["", " two"])
def test_the_repository_of_another_user_is_refused_with_gits_remedy(
    ask, odd, tmp_path, monkeypatch
):
    """Authority: git, which takes each repository for another user's where its own tests say so."""
    real = shutil.which("git")
    work = tmp_path / f"work{odd}"
    work.mkdir()
    subprocess.run([real, "init", "-q", work], check=True)
    in_a_repository(
        work, monkeypatch, f'GIT_TEST_ASSUME_DIFFERENT_OWNER=1 HOME={tmp_path} exec {real} "$@"'
    )
    fix = str(fix_of(ask, work))
    assert fix.startswith("git config --global --add safe.directory ")
    alone = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    subprocess.run(["/bin/sh", "-c", fix], check=True, env=alone)
    assert "safe.directory" not in str(fix_of(ask, work))
