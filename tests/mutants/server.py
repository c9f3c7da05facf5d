"""Execute tests in the private copy, again and again, each time in a fork of this process.

What is imported here is imported once: pytest and the packages that the product stands on, nothing
of the product. Executed by path with the copy's interpreter; reads a JSON line for each run, writes
one: ``{"tests": [...], "limit": seconds}`` gives ``{"result": ..., "by": ..., "ran": ...}``.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

_BEFORE = (
    *("numpy", "numpy.random", "scipy.stats", "scipy.optimize", "scipy.special", "scipy.linalg"),
    *("numba", "yaml", "psutil", "jinja2", "rich.console", "matplotlib.figure", "joblib"),
    *("hypothesis", "hypothesis.strategies", "hypothesis.extra.numpy", "jsonschema"),
    *("unittest.mock", "xml.etree.ElementTree", "html.parser", "sqlite3", "zipfile", "tarfile"),
)
_MOST_BYTES = 4 << 30
# what is imported above is not rewritten for better messages, which nobody reads here
_WORDS = (
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
    "-q",
    "-x",
    "--tb=no",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:randomly",
    "-p",
    "no:cov",
    "-p",
    "no:xdist",
)


class Chosen:
    """The plugin: keeps the tests that were asked for, in that order, and who fails first."""

    def __init__(self, tests: list[str]) -> None:
        self.order = {test: k for k, test in enumerate(tests)}
        self.failed = ""
        self.ran = 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.order]
        items.sort(key=lambda item: self.order[item.nodeid])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed = self.failed or f"{report.nodeid} (collected)"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.ran += report.when == "call"
        if report.failed:
            self.failed = self.failed or report.nodeid


def main() -> None:
    sys.path[0] = str(Path.cwd())  # as with `python -m pytest`; not this folder
    for name in filter(_mentioned(), _BEFORE):
        with suppress(ImportError):
            importlib.import_module(name)
    log = Path(os.environ["MUTANTS_LOG"])
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(one_run(asked["tests"], asked["limit"], log)), flush=True)


def _mentioned() -> Callable[[str], bool]:
    """Give what tells whether the tree has to do with the package of a module."""
    paths = [p for part in ("harness", "analysis", "tests") for p in Path(part).rglob("*.py")]
    words = set(re.findall(r"\w+", " ".join(path.read_text("utf-8") for path in paths)))
    return lambda name: name.partition(".")[0] in words


def one_run(tests: list[str], limit: float, log: Path) -> dict[str, Any]:
    """Execute tests until one fails, in a child whose whole offspring ends with it."""
    reading, writing = os.pipe()
    began = time.monotonic()
    child = os.fork()
    if not child:
        os.close(reading)
        _child(tests, log, writing)
    os.close(writing)
    ended = _awaited(child, began + limit)
    _end_offspring(child)
    os.set_blocking(reading, False)  # whoever is left may hold the other end
    said = b""
    with suppress(BlockingIOError):
        said = os.read(reading, 1 << 16)
    os.close(reading)
    took = round(time.monotonic() - began, 2)
    if ended:
        return {"result": "timeout", "by": ended, "ran": 0, "seconds": took}
    if not said:
        return {
            "result": "killed",
            "by": "the process of the tests died",
            "ran": 0,
            "seconds": took,
        }
    return {**json.loads(said), "seconds": took}


def _child(tests: list[str], log: Path, writing: int) -> None:
    os.setsid()
    with log.open("wb") as stream:
        for number in (1, 2):
            os.dup2(stream.fileno(), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    chosen = Chosen(tests)
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    try:
        code = int(pytest.main([*_WORDS, *files], plugins=[chosen]))
        # 5: no test was left, since the mutant changed their names
        good = code in {0, 5} and not chosen.failed
        by = "" if good else chosen.failed or f"pytest ended with {code}"
        result = {"result": "survived" if good else "killed", "by": by, "ran": chosen.ran}
        os.write(writing, json.dumps(result).encode())
    except BaseException:  # noqa: BLE001 - whatever it is, it stands in the log
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _awaited(child: int, until: float) -> str:
    """Wait for the child; say why it was not waited for longer."""
    pause = 0.01
    while True:
        with suppress(ChildProcessError):
            done, _ = os.waitpid(child, os.WNOHANG)
            if done:
                return ""
        if time.monotonic() > until:
            return "the limit of time"
        if _bytes(child) > _MOST_BYTES:
            return "the limit of memory"
        time.sleep(pause)
        pause = min(0.2, pause * 1.2)


def _bytes(process: int) -> int:
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _empty(folder: Path) -> None:
    for left in folder.iterdir():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _end_offspring(child: int) -> None:
    """End what the tests left behind: all there is, where nobody else's processes are seen."""
    with suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    if b"mount --bind" in Path("/proc/1/cmdline").read_bytes() and os.environ.get(
        "MUTANTS_ENCLOSED"
    ):
        with suppress(OSError):
            os.kill(-1, signal.SIGKILL)
        _empty(Path(os.environ["TMPDIR"]))
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


if __name__ == "__main__":
    main()
