"""Repositories of git for the tests of bisect, made in a folder of the test."""

from __future__ import annotations

import copy
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.bisect.commits import commits_between
from harness.bisect.recipe import recipe_of
from harness.bisect.workshop import Workshop
from harness.campaign.resolve import load_campaign
from harness.launch.matching import Interrupts

PROGRAM = '#include <stdio.h>\nint main(void) {{ puts("{} " __FILE__); return 0; }}\n'
CAMPAIGN = """\
name: app
variants: {plain: {opt: -O1}, other: {opt: -O0}}
baseline: plain
build:
  - ["cc", "{opt}", "-g", "-o", "app-{variant}", "app.c"]
benchmarks:
  run: {command: ["./app-{variant}"]}
protocol: {sessions: 2, runs: 3, warmup: 0, build_timeout: 60s}
"""


class Repository:
    """A repository of one test; commits have fixed authors and times."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        self.hours = 0

    def git(self, *words: str, **variables: str) -> str:
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *words],
            cwd=self.path,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.path.parent),
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_AUTHOR_NAME": "A. Author",
                "GIT_AUTHOR_EMAIL": "a@example.org",
                "GIT_COMMITTER_NAME": "A. Author",
                "GIT_COMMITTER_EMAIL": "a@example.org",
                **variables,
            },
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
        return os.fsdecode(done.stdout).strip()

    def commit(self, subject: str, files: dict[str, str | None], **variables: str) -> str:
        for name, text in files.items():
            place = self.path / name
            if text is None:
                place.unlink()
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
            if text.startswith("#!"):
                place.chmod(0o755)
        self.git("add", "-A", "--", *files)
        self.hours += 1
        stamp = f"2026-11-{1 + self.hours // 24:02d}T{self.hours % 24:02d}:00:00+00:00"
        dates = {"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp}
        self.git("commit", "-q", "--allow-empty", "-m", subject, **(dates | variables))
        branch = (self.path / ".git/HEAD").read_text().split()[1]
        return (self.path / ".git" / branch).read_text().strip()

    def bytes_of_git(self) -> dict[str, str]:
        """Give a digest of everything in .git, by its path."""
        root = self.path / ".git"
        return {
            str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }


@pytest.fixture(autouse=True)
def _own_home(tmp_path, monkeypatch):
    """Let git see no configuration of the machine, and keep builds in the test's folder."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.fixture
def make_repository(tmp_path):
    return lambda name="repository": Repository(tmp_path / name)


@pytest.fixture(scope="session")
def five_commits(tmp_path_factory):
    """A small C program with five commits: one of documentation alone, one that does not build."""
    made = Repository(tmp_path_factory.mktemp("five") / "repository")
    made.commit("begin", {"app.c": PROGRAM.format("one"), "campaign.yaml": CAMPAIGN})
    made.commit("only words", {"README": "words\n"})
    made.commit("broken", {"app.c": "int main(void) { return }\n"})
    made.commit("mended", {"app.c": PROGRAM.format("two")})
    made.commit("back", {"app.c": PROGRAM.format("one")})
    return made


@pytest.fixture
def repository(five_commits, tmp_path):
    """Give a copy of them, in the test's folder."""
    made = copy.copy(five_commits)
    made.path = shutil.copytree(five_commits.path, tmp_path / "repository", symlinks=True)
    return made


@pytest.fixture
def open_workshop(tmp_path):
    """Open the workshop of a repository's whole first-parent line, and give commits with it."""
    opened = []

    def open_one(repository, *, good=None, folder=None, campaign="campaign.yaml", **chosen):
        first = good or repository.git("rev-list", "--first-parent", "HEAD").splitlines()[-1]
        commits = commits_between(repository.path, first, "HEAD")
        recipe = recipe_of(load_campaign(repository.path / campaign), commits, **chosen)
        workshop = Workshop(commits, recipe, Interrupts(), folder=folder or tmp_path / "work")
        workshop.__enter__()
        opened.append(workshop)
        return workshop, commits.commits, recipe

    yield open_one
    for workshop in opened:
        workshop.__exit__(None, None, None)
