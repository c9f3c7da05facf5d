"""Whoever asks git does so alike: no program of a repository, no network, no lock, no other repository."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from analysis.errors import FairtrialError
from analysis.history.nights.commit_order import repository_of
from harness.bisect.git_calls import git
from harness.host.commits import commits_of_programs


def by_bisect(folder: Path) -> None:
    git(folder, "rev-parse", "HEAD")


def by_history(folder: Path) -> None:
    repository_of([folder])


def by_a_trial(folder: Path) -> None:
    commits_of_programs({("b", "v"): folder / "program"})


@pytest.mark.parametrize("ask", [by_bisect, by_history, by_a_trial])
def test_git_is_asked_alone(ask, tmp_path, monkeypatch):
    told = tmp_path / "told"
    (tmp_path / "bin").mkdir()
    stub = tmp_path / "bin" / "git"
    stub.write_text(f'#!/bin/sh\n{{ echo "words $*"; env; }} > {told}\nexit 1\n')
    stub.chmod(0o755)
    (tmp_path / ".git").mkdir()
    (tmp_path / "program").write_text("")
    monkeypatch.setenv("PATH", f"{stub.parent}:/usr/bin:/bin")
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
