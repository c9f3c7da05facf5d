"""pytest-benchmark's JSON: rounds of one process, each already divided by its iterations.

``stats.data`` holds the rounds; it is there with ``--benchmark-json``, and in autosaved files only
with ``--benchmark-save-data``. A test that failed after its benchmark stands there like any other, and
nothing tells it apart; one whose benchmark itself raised is not in the file. ``options.warmup`` says
nothing of what a pedantic benchmark did.
"""

from __future__ import annotations

import re
from typing import Any

from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import (
    count_of,
    fail,
    json_of,
    mentions,
    structure_of,
    text_of,
    texts_of,
    values_of,
)

__all__ = ["knows", "read"]

_CSV = re.compile(r"^name,.*(?:\bmin,max,mean,stddev\b|\boutliers\b|\brounds,iterations\b)")
_CPU_TIMERS = ("process_time", "thread_time", "clock")


def knows(opened: Opened) -> bool:
    """Tell by the file's own keys, or by the headings of its CSV."""
    data = structure_of(opened)
    if data is None:
        return bool(_CSV.match(opened.head())) or (
            mentions(opened, "machine_info")
            and (mentions(opened, "stats") or not mentions(opened, "runs"))
        )
    benchmarks = data.get("benchmarks") if isinstance(data, dict) else None
    if not isinstance(benchmarks, list):
        return False
    return any(
        isinstance(one, dict) and isinstance(one.get("stats"), dict) for one in benchmarks
    ) or (not benchmarks and "machine_info" in data)


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark: one process with its rounds.

    Raises
    ------
    AnalysisError
        If the file is damaged, or holds summaries only.
    """
    if structure_of(opened) is None and _CSV.match(opened.head()):
        raise fail(
            opened,
            "pytest-benchmark's CSV holds summaries only, no rounds",
            "export with --benchmark-json=FILE, or save with --benchmark-save-data",
        )
    data = json_of(opened)
    given = data.get("benchmarks") if isinstance(data, dict) else None
    if not isinstance(given, list) or not given:
        raise fail(opened, "there is no benchmark in the file", "was every test deselected?")
    shared = _shared(data)
    cells = tuple(
        _cell(opened, one, f"benchmarks[{k}]", text_of(data.get("datetime")), shared)
        for k, one in enumerate(given)
    )
    inner = [cell.inner or 1 for cell in cells]
    told = f"{min(inner)}" if min(inner) == max(inner) else f"{min(inner)} to {max(inner)}"
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
            Loss(code="no-sessions", text="all rounds stem from one occasion"),
            Loss(
                code="warm-ups-unknown",
                text="how many warm-up rounds there were is not in the file",
            ),
            Loss(
                code="failed-unknown",
                text="a test that failed after its benchmark stands there like any other; one that "
                "failed within it is not in the file",
            ),
        ),
        facts=_facts(data.get("machine_info")),
    )


def _facts(machine: object) -> dict[str, str]:
    if not isinstance(machine, dict):
        return {}
    cpu = machine.get("cpu")
    brand = cpu.get("brand_raw", cpu.get("brand")) if isinstance(cpu, dict) else None
    found = {"host": machine.get("node"), "cpu_model": brand}
    return {name: text for name, text in found.items() if isinstance(text, str)}


def _shared(data: dict[str, Any]) -> dict[str, str]:
    """Give the keys that all benchmarks of the file have: the commit."""
    told = data.get("commit_info")
    found = (
        {"commit": told.get("id"), "branch": told.get("branch")} if isinstance(told, dict) else {}
    )
    return texts_of(found)


def _cell(
    opened: Opened,
    bench: Any,  # noqa: ANN401 - JSON
    at: str,
    session: str | None,
    shared: dict[str, str],
) -> ForeignCell:
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
    options = bench.get("options")
    timer = text_of(options.get("timer")) if isinstance(options, dict) else None
    own = {"fullname": name, "name": bench.get("name"), "group": bench.get("group"), "timer": timer}
    return ForeignCell(
        benchmark=name,
        metric="cpu_time" if timer in _CPU_TIMERS else "time",
        processes=(values_of(opened, rounds, f"{at}.stats.data"),),
        known=True,
        inner=count_of(stats.get("iterations")),
        session=session,
        keys=shared
        | texts_of(bench.get("extra_info"))
        | texts_of(bench.get("params"))
        | texts_of(own),
    )
