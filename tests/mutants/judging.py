"""Judge mutants: write one into the private copy, execute its tests, take it away again.

A kill counts only if the test passes in the same way without the mutant (tried once for each test).
"""

from __future__ import annotations

import difflib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.mutants.choosing_tests import Mentions, chosen
from tests.mutants.coverage_map import CoverageMap
from tests.mutants.drawing import Mutant
from tests.mutants.private_tree import PrivateTree, enclosure

SERVER = Path(__file__).with_name("server.py")
TIMES = 10.0  # the limit of a run: so often the seconds of its tests, beside those for starting
UNMAPPED_S = 10.0  # taken for the seconds of a test that the map does not hold
COMPILE_S = 400.0  # more, where machine code is made anew


class Judge:
    """A server of test runs in a private copy; `with` ends it."""

    def __init__(self, private: PrivateTree, start_s: float) -> None:
        self._private, self._map, self._start_s = private, CoverageMap(), start_s
        self._mentions = Mentions(private.root)
        self._kernels = set((private.work / "kernels").iterdir())
        self._good: set[str] = set()  # tests that passed here without any mutant
        self._bad: set[str] = set()  # and those that did not
        self._writes = 0
        environment = private.environment() | {"MUTANTS_LOG": str(private.work / "last.log")}
        if enclosure(private.work):
            environment["MUTANTS_ENCLOSED"] = "yes"
        self._server = subprocess.Popen(
            private.command(private.python, SERVER), cwd=private.root, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        if self._answer() != "ready":
            raise RuntimeError("the server of the test runs did not start")

    def __enter__(self) -> Judge:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._server:
            self._server.kill()

    def knows(self, known: CoverageMap) -> None:
        """Take another part of the map for what comes next."""
        self._map = known

    def judge(self, mutant: Mutant, stage: str) -> dict[str, Any]:
        """Give the record of a mutant and a stage: what became of it, by which test, how long it took."""
        began = time.monotonic()
        while True:
            outcome = self._once(mutant, stage)
            if outcome["result"] not in {"killed", "timeout"} or self._is_confirmed(
                mutant, outcome
            ):
                break
        outcome.pop("tests", None)
        return {**described(self._private.root, mutant), "stage": stage, **outcome,
                "seconds": round(time.monotonic() - began, 1)}  # fmt: skip

    def judge_again(self, mutant: Mutant, test: str) -> dict[str, Any] | None:
        """Ask the one test that killed a mutant in another tree; None where that is not enough.

        The test may be gone here, or may let the mutant live: then all others are to be asked.
        """
        began = time.monotonic()
        if not (self._private.root / test.partition("::")[0]).is_file():
            return None
        path = self._private.root / mutant.path
        source = path.read_bytes()
        self._write(path, mutant.site.applied(source))
        try:
            outcome = self._run(mutant, [test])
        finally:
            self._write(path, source, as_it_was=True)
            self._forget_kernels()
        if outcome["result"] not in {"killed", "timeout"}:
            return None
        if test not in self._good:
            sound = self._run(mutant, [test])
            if sound["result"] != "survived" or not sound["ran"]:
                return None
            self._good.add(test)
        return {**described(self._private.root, mutant), "stage": "again", **outcome, "left": 0,
                "seconds": round(time.monotonic() - began, 1)}  # fmt: skip

    def _once(self, mutant: Mutant, stage: str) -> dict[str, Any]:
        runs, left = chosen(mutant, stage, self._map, self._mentions, self._bad)
        outcome: dict[str, Any] = {"result": "no test", "by": "", "ran": 0, "left": left}
        path = self._private.root / mutant.path
        source = path.read_bytes()
        for tests in runs:
            self._write(path, mutant.site.applied(source))
            try:
                found = self._run(mutant, tests)
            finally:
                self._write(path, source, as_it_was=True)
                self._forget_kernels()
            ran = outcome["ran"] + found["ran"]
            outcome = {**found, "ran": ran, "left": left, "tests": tests}
            if found["result"] != "survived":
                break
        return outcome

    def _is_confirmed(self, mutant: Mutant, outcome: dict[str, Any]) -> bool:
        """Tell whether what killed passes without the mutant; if not, that test judges no more."""
        culprit = outcome["by"].removesuffix(" (collected)")
        tests = [test for test in outcome["tests"] if test.startswith(culprit)] or outcome["tests"]
        if set(tests) <= self._good:
            return True
        if self._run(mutant, tests)["result"] == "survived":
            self._good |= set(tests)
            return True
        self._bad |= set(tests)
        print(
            f"judges no more, for it fails here without a mutant, too: {outcome['by']}", flush=True
        )
        return False

    def _run(self, mutant: Mutant, tests: Sequence[str]) -> dict[str, Any]:
        known = self._map.tests
        took = sum(known[test].seconds if test in known else UNMAPPED_S for test in tests)
        limit = self._start_s + TIMES * took
        limit += COMPILE_S * self._mentions.has_compiled(mutant.path)
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps({"tests": list(tests), "limit": limit}) + "\n")
        self._server.stdin.flush()
        answer: dict[str, Any] = self._answer()
        return answer

    def _answer(self) -> Any:
        assert self._server.stdout is not None
        line = self._server.stdout.readline()
        if not line:
            raise RuntimeError("the server of the test runs ended")
        return json.loads(line)

    def _write(self, path: Path, content: bytes, *, as_it_was: bool = False) -> None:
        """Write a file so that no bytecode of another content is taken for its own."""
        stamp = path.stat().st_mtime_ns
        if not as_it_was:
            self._writes += 1
            self._stamp = stamp
            stamp += self._writes * 2_000_000_000
        path.write_bytes(content)
        stamp = self._stamp if as_it_was else stamp
        os.utime(path, ns=(stamp, stamp))

    def _forget_kernels(self) -> None:
        for folder in set((self._private.work / "kernels").iterdir()) - self._kernels:
            shutil.rmtree(folder, ignore_errors=True)


def described(root: Path, mutant: Mutant) -> dict[str, Any]:
    """Give what a record says of a mutant, with the key by which another tree has it, too."""
    site, source = mutant.site, (root / mutant.path).read_bytes()
    return {
        "mutant": mutant.name, "key": site.key, "room": mutant.room, "path": mutant.path,
        "line": site.line, "function": site.function, "operator": site.operator,
        "statement": site.statement, "diff": _diff(source, site.applied(source)),
    }  # fmt: skip


def _diff(before: bytes, after: bytes) -> str:
    lines = difflib.unified_diff(
        before.decode().splitlines(),
        after.decode().splitlines(),
        "before",
        "after",
        lineterm="",
        n=0,
    )
    return "\n".join(list(lines)[2:])
