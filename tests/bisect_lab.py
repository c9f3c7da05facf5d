"""Repositories for the tests of bisect: commits of a small C program whose cost is known."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess

from analysis.record.profiles import is_profiles

PRINTS = """\
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(void) {{
  struct timespec now;
  double noise = 0;
  clock_gettime(CLOCK_MONOTONIC, &now);
  srand((unsigned) now.tv_nsec ^ (unsigned) getpid());
  for (int i = 0; i < 12; i++) noise += rand() / (double) RAND_MAX - 0.5;
  printf("version {number}\\nwork %.9f s\\n", {cost} * (1 + 0.003 * noise));
  return 0;
}}
"""
# on virtual times
TAKES = "#!/bin/sh\n# version {number}\necho takes {cost} s\n"
COPIES = [["sh", "-c", "! grep broken app.c && install -m 755 app.c app"]]
WORK = {"work": {"regex": "work ([0-9.]+) s", "unit": "s", "better": "lower"}}


def git(folder, *words):
    """Execute git with a fixed author and date: the same commits each time."""
    dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "2026-03-01T12:00:00Z")
    return subprocess.run(
        ["git", "-c", "user.name=A. Author", "-c", "user.email=a@example.org", *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", **dates},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def repository(folder, costs, *, source=PRINTS, broken=(), docs=()):
    """Make a repository with a commit for each cost; `broken` do not compile, `docs` change no program."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    shas = []
    for number, cost in enumerate(costs):
        if number in docs:
            (folder / "README").write_text(f"words {number}\n")
        else:
            text = source.format(number=number, cost=cost)
            (folder / "app.c").write_text(f"broken {number}" if number in broken else text)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", f"change {number}")
        shas.append(git(folder, "rev-parse", "HEAD"))
    return shas


def campaign(folder, *, build=None, metrics=WORK, judge="work", **protocol):
    """Write a campaign into a repository, which does not track it."""
    benchmark = {"command": ["./app"]} | ({"metrics": metrics} if metrics else {})
    content = {
        "name": "app",
        "variants": {"plain": {}},
        "build": build or [["cc", "-O1", "-o", "app", "app.c"]],
        "benchmarks": {"run": benchmark},
        "judge": judge,
        "protocol": {"sessions": 1, "runs": 2, "warmup": 0, "build_timeout": "60s", **protocol},
        "isolation": {"cpus": "none"},
        "checks": {"probe": "0s"},
    }
    path = folder / "campaign.yaml"
    path.write_text(json.dumps(content))
    return path


def bytes_of(folder):
    """Hash every file of a user's repository."""
    return {
        path.relative_to(folder): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def bisection(lab):
    """Give the one bisection of a lab."""
    (path,) = lab.folder.glob("runs/bisect-*")
    return path


def listed(folder):
    """Give the sessions that a bisection lists: trial, number, places."""
    lines = (folder / "sessions.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    return [(row["trial"], row["session"], tuple(row["places"])) for row in rows]


def trials(folder):
    """Give the folders of a bisection's trials; what a profile timed beside one of them is none."""
    found = [path.parent for path in sorted(folder.glob("**/manifest.json"))]
    return [trial for trial in found if not any(is_profiles(one) for one in trial.parents)]


def nothing_is_left(lab):
    """Check that no clone is left in the folder of builds."""
    assert not list(lab.folder.glob("work/**/.git")), "a clone is left"


def has_compiler():
    """Tell whether C programs can be compiled here."""
    return shutil.which("cc") is not None
