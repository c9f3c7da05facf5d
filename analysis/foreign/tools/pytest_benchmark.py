"""pytest-benchmark's JSON: rounds of one process, each already divided by its iterations.

``stats.data`` holds the rounds; it is there with ``--benchmark-json``, and in autosaved files only
with ``--benchmark-save-data``.
"""

from __future__ import annotations

import re
from typing import Any

from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import fail, json_of, looks_like_json, values_of

__all__ = ["knows", "read"]


def knows(opened: Opened) -> bool:
    """Tell by the file's own keys."""
    head = opened.head()
    return looks_like_json(opened) and (
        re.search(r'"machine_info"\s*:', head) is not None
        and re.search(r'"(commit_info|benchmarks)"\s*:', head) is not None
        and '"runs"' not in head.split('"stats"')[0]
    )


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark: one process with its rounds.

    Raises
    ------
    AnalysisError
        If the file is damaged, or holds summaries only.
    """
    data = json_of(opened)
    given = data.get("benchmarks") if isinstance(data, dict) else None
    if not isinstance(given, list) or not given:
        raise fail(opened, "there is no benchmark in the file", "was every test deselected?")
    cells = tuple(_cell(opened, one, f"benchmarks[{k}]") for k, one in enumerate(given))
    inner = [cell.inner or 1 for cell in cells]
    told = f"{min(inner)}" if min(inner) == max(inner) else f"{min(inner)} to {max(inner)}"
    machine = data.get("machine_info")
    cpu = machine.get("cpu") if isinstance(machine, dict) else None
    facts = {}
    if isinstance(machine, dict) and isinstance(machine.get("node"), str):
        facts["host"] = machine["node"]
    if isinstance(cpu, dict) and isinstance(cpu.get("brand_raw"), str):
        facts["cpu_model"] = cpu["brand_raw"]
    return ForeignFile(
        format="pytest-benchmark",
        source=opened.source,
        cells=cells,
        losses=(
            Loss(
                code="one-process",
                text=f"rounds of {told} iterations, all from one process: variation between "
                "processes cannot be estimated",
            ),
            Loss(
                code="warm-ups-unknown",
                text="how many warm-up rounds there were is not in the file",
            ),
        ),
        facts=facts,
    )


def _cell(opened: Opened, bench: Any, at: str) -> ForeignCell:  # noqa: ANN401 - JSON
    stats = bench.get("stats") if isinstance(bench, dict) else None
    if not isinstance(stats, dict):
        raise fail(opened, "a benchmark has no stats", "is the file damaged?", at=at)
    rounds = stats.get("data")
    if not isinstance(rounds, list) or not rounds:
        raise fail(
            opened,
            "the benchmark holds a summary only, no rounds",
            "export with --benchmark-json=FILE, or save with --benchmark-save-data",
            at=at,
        )
    name = bench.get("fullname") or bench.get("name")
    if not isinstance(name, str):
        raise fail(opened, "a benchmark has no name", "is the file damaged?", at=at)
    keys = {"fullname": name, "name": str(bench.get("name")), "group": str(bench.get("group"))}
    for more in ("params", "extra_info"):
        found = bench.get(more)
        if isinstance(found, dict):
            keys |= {str(key): str(value) for key, value in found.items()}
    inner = stats.get("iterations")
    return ForeignCell(
        benchmark=name,
        processes=(values_of(opened, rounds, f"{at}.stats.data"),),
        known=True,
        inner=inner if isinstance(inner, int) else None,
        failed=None,
        keys=keys,
    )
