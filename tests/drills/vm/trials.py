"""What the checks inside the machine have in hand: trials, and lines that the outside reads."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
EMPTY = "/app/empty"
MB = 1_000_000
USER = 1000
_numbers = itertools.count(1)


def told(check, ok, **what):
    print("DRILL " + json.dumps({"check": check, "ok": bool(ok), "told": what}), flush=True)


def python(code, *arguments):
    return [
        sys.executable,
        "-S",
        "-E",
        "-c",
        code.replace("{", "{{").replace("}", "}}"),
        *arguments,
    ]


def enter(group, user):
    def before_exec():
        if group is not None:
            (group / "cgroup.procs").write_text("0")
        if user:
            os.setgroups([])
            os.setgid(USER)
            os.setuid(USER)

    return before_exec


class Trial:
    """One campaign, executed by the command: its rows, its environment, what it said."""

    def __init__(
        self,
        benchmarks,
        *,
        group=None,
        user=False,
        runs=1,
        start_only=False,
        command=(),
        **sections,
    ):
        self.folder = Path(f"/tmp/trial-{next(_numbers)}")
        self.folder.mkdir()
        campaign = {
            "name": "c",
            "variants": {"a": {}},
            "benchmarks": {name: {"command": argv} for name, argv in benchmarks.items()},
            "protocol": {"sessions": 1, "runs": runs, "warmup": 0},
            "isolation": {"cpus": "none"},
            "checks": {"probe": "0s"},
        } | sections
        (self.folder / "c.yaml").write_text(json.dumps(campaign))
        if user:
            os.chown(self.folder, USER, USER)
        environment = {**os.environ, "HOME": "/tmp"}
        self.process = subprocess.Popen(
            [*command, sys.executable, "-m", "harness", "run", "c.yaml"],
            cwd=self.folder,
            env=environment,
            preexec_fn=enter(group, user),  # noqa: PLW1509 - there are no threads
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        if not start_only:
            self.out, self.err = self.process.communicate(timeout=600)
            self.code = self.process.returncode

    def lines(self, name):
        found = list(self.folder.glob(f"runs/*/{name}"))
        return [json.loads(line) for line in found[0].read_text().splitlines()] if found else []

    def row(self, benchmark):
        return next(
            row for row in self.lines("measurements.jsonl") if row["benchmark"] == benchmark
        )

    @property
    def entry(self):
        return self.lines("environment.jsonl")[0]["process"]["cgroup"]

    @property
    def said(self):
        return self.err.strip().splitlines()[-3:]
