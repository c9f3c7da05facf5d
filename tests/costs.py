"""What the tests cost, by kind and one by one: ``pytest --costs``, or ``--costs=FILE`` to keep it as JSON.

CPU is that of the process which executes a test, its threads and whatever it started and waited
for; what a test makes for others counts for the one that asked first. Each worker of xdist tells
its own, also what importing and collecting took.
"""

from __future__ import annotations

import json
import os
import resource
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.forks import Forks

KEY = "cost"
DEAREST = 50
_TOLD_S = 2.0  # a group or a test that takes less may come last


class Cost(NamedTuple):
    """Seconds: of the clock, of this process's CPU, and of its children's."""

    wall: float
    own: float
    children: float

    @property
    def cpu(self) -> float:
        return self.own + self.children

    def __sub__(self, other: Cost) -> Cost:
        return Cost(*(a - b for a, b in zip(self, other, strict=True)))

    def plus(self, other: Sequence[float]) -> Cost:
        return Cost(*(a + b for a, b in zip(self, other, strict=True)))


NOTHING = Cost(0.0, 0.0, 0.0)


def now() -> Cost:
    """Read this process's clocks."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = children.ru_utime + children.ru_stime + Forks.spent
    return Cost(time.perf_counter(), time.process_time(), ended)


def kind(test: str) -> str:
    """Give the folder below ``tests`` that names a test's kind."""
    folders = test.partition("::")[0].split("/")[1:-1]
    return "/".join(folders[: 2 if folders[:1] in (["unit"], ["e2e"]) else 1]) or "tests"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--costs", metavar="FILE", nargs="?", const="", help="what the tests cost, by kind"
    )


def pytest_configure(config: pytest.Config) -> None:
    path = config.option.costs
    if path and not path.endswith(".json"):  # pytest would take the file of a test for it
        raise pytest.UsageError(f"--costs={path}: the file's name must end in .json")
    if path is not None:
        config.pluginmanager.register(Costs(config), "costs-of-tests")


class Costs:
    """In a worker, or where there is none: what is measured. Else: what the workers told."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._open: Cost | None = None
        self._tests: dict[str, Cost] = defaultdict(lambda: NOTHING)
        self._groups: dict[str, float] = defaultdict(float)
        self._collected: list[Cost] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        self._open = now()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Iterator[None]:  # once for set-up, call and tear-down
        report: Any = yield
        if self._open is not None:
            then, self._open = self._open, now()
            # a list of its own: pytest gives all three reports the same one
            report.user_properties = [*item.user_properties, (KEY, tuple(self._open - then))]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name == KEY:
                test = report.nodeid  # without the group that stands behind it
                group = test
                if test.rfind("@") > test.rfind("]"):
                    test, _, group = test.rpartition("@")
                cost = Cost(*value)  # type: ignore[misc]
                self._tests[test] = self._tests[test].plus(cost)
                self._groups[group] += cost.cpu

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items:
            started = time.clock_gettime(time.CLOCK_BOOTTIME) - _started()
            mine = now()._replace(wall=started)
            if hasattr(session.config, "workeroutput"):
                session.config.workeroutput[KEY] = tuple(mine)
            else:
                self._collected.append(mine)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        if KEY in (getattr(node, "workeroutput", None) or {}):
            self._collected.append(Cost(*node.workeroutput[KEY]))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("what the tests cost")
        terminalreporter.write_line(table(self._tests, self._collected))
        path = self._config.option.costs
        if path:
            rows = {name: tuple(cost) for name, cost in sorted(self._tests.items())}
            groups = {k: round(v, 1) for k, v in sorted(self._groups.items()) if v >= _TOLD_S}
            told = {"collected": self._collected, "tests": rows, "groups": groups}
            Path(path).write_text(json.dumps(told))


def _started() -> float:
    """Give the second since boot at which this process began."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return int(fields[19]) / os.sysconf("SC_CLK_TCK")


def table(tests: dict[str, Cost], collected: Sequence[Cost]) -> str:
    """Print seconds by kind of test, and the dearest ones."""
    kinds: dict[str, list[Cost]] = defaultdict(list)
    for name, cost in tests.items():
        kinds[kind(name)].append(cost)
    rows = [(name, costs) for name, costs in sorted(kinds.items())]
    rows.append((f"imports, collection ({len(collected)} processes)", list(collected)))
    lines = [f"{'':42} {'tests':>6} {'CPU s':>8} {'children':>9} {'wall s':>8}"]
    whole, count = NOTHING, 0
    for name, costs in rows:
        total = NOTHING
        for cost in costs:
            total = total.plus(cost)
        shown = len(costs) if costs is not collected and "processes" not in name else 0
        whole, count = whole.plus(total), count + shown
        lines.append(_row(name, shown, total))
    lines += [_row("all", count, whole), "", f"the {DEAREST} dearest, CPU s (wall s)"]
    dearest = sorted(tests.items(), key=lambda one: -one[1].cpu)[:DEAREST]
    lines += [f"{cost.cpu:8.2f} ({cost.wall:6.2f})  {name}" for name, cost in dearest]
    return "\n".join(lines)


def _row(name: str, tests: int, cost: Cost) -> str:
    return f"{name:42} {tests or '':>6} {cost.cpu:8.1f} {cost.children:9.1f} {cost.wall:8.1f}"
