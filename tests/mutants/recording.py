"""Execute tests in the private copy and record which test executes which line, and how long it takes.

Executed by path with the copy's interpreter: ``recording.py FOLDER WAY TEST...``. `FOLDER` gets
``coverage`` (lines by context, children of a test included) and ``tests.json`` (outcome and CPU
seconds of each); `WAY` is ``traced``, or ``plain``, which records no lines.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coverage import Coverage

_CHILD = """
[run]
source = {root}/harness, {root}/analysis
parallel = true
data_file = {folder}/coverage
context = ${{PYTEST_CURRENT_TEST-nothing}}
disable_warnings = no-data-collected, module-not-imported, module-not-measured
patch = _exit
"""


class Recorder:
    """The plugin: tells coverage whose lines come next, and keeps outcomes and seconds."""

    def __init__(self, coverage: Coverage | None) -> None:
        self.coverage = coverage
        self.tests: dict[str, list[str | float]] = {}

    def _in(self, item: pytest.Item, when: str) -> Iterator[None]:
        if self.coverage is not None:
            self.coverage.switch_context(f"{item.nodeid} ({when})")
        began = sum(os.times()[:4])
        yield
        known = self.tests.setdefault(item.nodeid, ["passed", 0.0])
        known[1] = round(float(known[1]) + sum(os.times()[:4]) - began, 3)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        yield from self._in(item, "setup")

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        yield from self._in(item, "call")

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        yield from self._in(item, "teardown")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.tests.setdefault(report.nodeid, ["passed", 0.0])[0] = str(report.outcome)


def main(folder: Path, way: str, tests: list[str]) -> int:
    coverage = None
    if way == "traced":
        from coverage import Coverage

        root = Path.cwd()
        settings = folder / "coveragerc"
        settings.write_text(_CHILD.format(root=root, folder=folder))
        sources = [str(root / half) for half in ("harness", "analysis")]
        file = str(folder / "coverage")
        coverage = Coverage(data_file=file, config_file=False, source=sources, messages=False)
        coverage.start()
        os.environ["COVERAGE_PROCESS_START"] = str(settings)
    recorder = Recorder(coverage)
    words = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:cov", "-p", "no:xdist"]
    code = pytest.main([*words, "--tb=line", *tests], plugins=[recorder])
    if coverage is not None:
        coverage.stop()
        coverage.save()
        coverage.combine([str(folder)], keep=False)
        coverage.save()
    (folder / "tests.json").write_text(json.dumps(recorder.tests))
    return int(code)


if __name__ == "__main__":
    sys.path.pop(0)  # this folder: its modules are no part of what is tested
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
