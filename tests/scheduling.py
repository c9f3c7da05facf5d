"""Which worker of xdist executes which test: what is made once together, and who died with which test."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    if not item.config.pluginmanager.hasplugin("xdist"):
        return
    if item.get_closest_marker("host"):
        item.add_marker(pytest.mark.xdist_group("host"))
    elif not item.get_closest_marker("xdist_group") and _takes_of_its_module(item):
        item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def _takes_of_its_module(item: pytest.Item) -> bool:
    """Tell whether a test takes what its module makes once: each worker would make it again."""
    known = getattr(item, "_fixtureinfo", None)  # pytest says it nowhere else
    made = known.name2fixturedefs.values() if known is not None else ()
    return any(one.scope == "module" for definitions in made for one in definitions)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Say in the ids of tests their groups, by which they are handed out.

    xdist 3.8 writes them where pytest 9.2 no longer reads them: no group was kept together.
    """
    if not getattr(config.option, "loadgroup", False):  # which only workers have
        return
    for item in items:
        groups = "_".join(sorted({mark.args[0] for mark in item.iter_markers("xdist_group")}))
        if groups and not item.nodeid.endswith(f"@{groups}"):
            item._id = type(item._id).parse(f"{item.nodeid}@{groups}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand tests out by group, and survive the death of a worker.

    xdist 3.8 ends in an error of its own when it sends to a worker that has just died, or to one that
    came for it and has not collected yet; and it gives the test that killed one to the next one.
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler.loadgroup import LoadGroupScheduling

    class Scheduling(LoadGroupScheduling):
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

    return Scheduling(config, log)
