"""Which worker executes which test, and when: what is made once together, one at a time on the host, after a death."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler.loadgroup import LoadGroupScheduling

from tests.forks import LISTENS, start_server
from tests.own_network import has_left

KINDS = re.compile(r"\btests/(e2e|golden|contract)\b")
# CPU seconds of the groups and tests of two seconds or more: `groups` in what --costs=FILE.json writes
DEAREST: dict[str, float] = json.loads(Path(__file__).with_name("dearest.json").read_text())


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Start the warm process of all workers, where many tests may ask for it, while they collect."""
    if not getattr(config.option, "tx", None) or not KINDS.search(" ".join(config.args)):
        return
    folder = tempfile.mkdtemp(prefix="warm-")
    listens = f"{folder}/socket"
    if len(listens) > 100:  # more is no address of a socket
        shutil.rmtree(folder)
        return
    server = start_server("--product", "--listen", listens)
    os.environ[LISTENS] = listens

    def end() -> None:
        server.communicate()
        shutil.rmtree(folder)

    config.add_cleanup(end)


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Send of a test that passed one report and not five: a third of what xdist takes goes with them."""
    if session.config.getoption("costs", None) is not None:  # which reads them all
        return
    for plugin in session.config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":
            plugin.sendevent = partial(_send, plugin.sendevent)


def _send(send: Callable[..., None], name: str, **about: Any) -> None:
    report = about.get("data", {}) if name == "testreport" else {}
    passed_beside = report.get("outcome") == "passed" and report["when"] != "call"
    if not passed_beside and name not in {"logstart", "logfinish"}:
        send(name, **about)


def pytest_itemcollected(item: pytest.Item) -> None:
    if not item.config.pluginmanager.hasplugin("xdist"):
        return
    if item.get_closest_marker("host"):
        item.add_marker(pytest.mark.xdist_group("host"))
    elif not item.get_closest_marker("xdist_group") and _takes_of_its_module(item):
        item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let tests of what a host has once wait for those of other suites, which share its network with us."""
    if not item.get_closest_marker("host") or has_left():
        return (yield)
    lock = os.open("/tmp", os.O_RDONLY)  # everybody has it, and nobody needs to make it
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return (yield)
    finally:
        os.close(lock)


def _takes_of_its_module(item: pytest.Item) -> bool:
    """Tell whether a test takes what its module makes once: each worker would make it again."""
    known = getattr(item, "_fixtureinfo", None)  # pytest says it nowhere else
    made = known.name2fixturedefs.values() if known is not None else ()
    return any(one.scope == "module" for definitions in made for one in definitions)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Say in the ids of tests their groups, by which they are handed out, the dearest first.

    xdist 3.8 writes them where pytest 9.2 no longer reads them: no group was kept together.
    """
    if not getattr(config.option, "loadgroup", False):  # which only workers have
        return
    groups_of = {item: _groups(item) for item in items}
    items.sort(key=lambda item: -DEAREST.get(groups_of[item] or item.nodeid, 0.0))
    for item, groups in groups_of.items():
        if groups and not item.nodeid.endswith(f"@{groups}"):
            item._id = type(item._id).parse(f"{item.nodeid}@{groups}")


def _groups(item: pytest.Item) -> str:
    return "_".join(sorted({mark.args[0] for mark in item.iter_markers("xdist_group")}))


class _Collected(list[str]):
    """The tests of a worker in their order, each with its place known."""

    def __init__(self, tests: Sequence[str]) -> None:
        super().__init__(tests)
        self._places = {test: place for place, test in enumerate(tests)}

    def index(self, test: str, *_bounds: Any) -> int:
        return self._places[test]


class Scheduling(LoadGroupScheduling):
    """Hand tests out by group, survive the death of a worker, and forget what has ended.

    xdist 3.8 ends in an error of its own when it sends to a worker that has just died, or to one that
    came for it and has not collected yet; and it gives the test that killed one to the next one. It also
    looks at all that a worker ever had whenever a test ends, and for its number among all tests.
    """

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        if node in self.registered_collections:
            self.registered_collections[node] = _Collected(collection)

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        test = self.registered_collections[node][item_index]
        mine = self.assigned_work[node]
        scope = self._split_scope(test)
        mine[scope][test] = True
        if all(mine[scope].values()):
            del mine[scope]
        self._reschedule(node)

    def _assign_work_unit(self, node: Any) -> None:
        with suppress(OSError):  # it died: what it was given comes back when that is known
            super()._assign_work_unit(node)

    def _reschedule(self, node: Any) -> None:
        if node in self.registered_collections:
            super()._reschedule(node)

    def remove_node(self, node: Any) -> str | None:
        workload = self.assigned_work[node]
        crashed: str | None = super().remove_node(node)
        for unit in workload.values():
            if crashed in unit:
                unit[crashed] = True
        for scope in [scope for scope, unit in workload.items() if all(unit.values())]:
            self.workqueue.pop(scope, None)
        return crashed


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling | None:
    if config.getvalue("dist") != "loadgroup":
        return None
    config.option.loadscopereorder = False  # xdist would begin with the groups of most tests
    return Scheduling(config, log)
