"""hyperfine's ``--export-json``: every run of every command, each a process of its own.

Times of failed runs stand among the others; they are told apart by ``exit_codes``, where null stands
for a run that a signal ended. ``times`` may be absent in newer schemas. User and system times are
means only. CSV, Markdown and the other exports hold no runs, nor does what it prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import fail, json_of, mentions, structure_of, texts_of, value_of

__all__ = ["knows", "read"]

_SUMMARY = re.compile(
    r"^command,mean,stddev,median,user,system,min,max"  # CSV
    r"|^\|\s*Command\s*\|\s*Mean \["  # Markdown, Org
    r"|^\|===\s*\n\|\s*Command\s*\n\|\s*Mean \["  # AsciiDoc
    r"|^Benchmark (?:#?\d+): .*\n\s+Time \(",  # the terminal
    re.MULTILINE,
)


def knows(opened: Opened) -> bool:
    """Tell by the keys of the results, or by the headings of an export without runs."""
    data = structure_of(opened)
    if data is None:
        return bool(_SUMMARY.search(opened.head())) or mentions(
            opened, "results", "command", "mean"
        )
    results = data.get("results") if isinstance(data, dict) else None
    if not isinstance(results, list):
        return False
    return data == {"results": []} or any(
        isinstance(one, dict) and "command" in one and ("times" in one or "mean" in one)
        for one in results
    )


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each command's times, and one for its memory where it was measured.

    Raises
    ------
    AnalysisError
        If the file is damaged, or has summaries only.
    """
    if _SUMMARY.search(opened.head()) and structure_of(opened) is None:
        raise fail(
            opened,
            "this export of hyperfine holds summaries only, no runs",
            "export with --export-json FILE instead",
        )
    data = json_of(opened)
    results = data.get("results") if isinstance(data, dict) else None
    if not isinstance(results, list) or not results:
        raise fail(opened, "there is no result in the file", "export it again with --export-json")
    cells = [cell for k, one in enumerate(results) for cell in _cells(opened, one, f"results[{k}]")]
    if not any(cell.values or cell.failed for cell in cells):
        raise fail(opened, "no command has a run", "measure again with --export-json")
    return ForeignFile(
        format="hyperfine",
        source=opened.source,
        cells=tuple(cells),
        variant_rule="the command",
        losses=(
            Loss(
                code="no-order",
                text="hyperfine executes one command after the other: what changed between them "
                "cannot be told from what the commands differ in",
            ),
            Loss(code="no-sessions", text="all runs stem from one occasion"),
            Loss(
                code="warm-ups-unknown", text="whether there were warm-up runs is not in the file"
            ),
            Loss(
                code="cpu-time-means",
                text="user and system times are means over all runs, so they are not read",
            ),
        ),
    )


def _cells(opened: Opened, result: Any, at: str) -> Iterator[ForeignCell]:  # noqa: ANN401 - JSON
    if not isinstance(result, dict) or not isinstance(result.get("command"), str):
        raise fail(opened, "a result has no command", "is the file damaged?", at=at)
    times = result.get("times")
    if not isinstance(times, list):
        raise fail(
            opened,
            "the result holds a summary only, no 'times'",
            "export with --export-json and without leaving the times out",
            at=at,
        )
    codes = result.get("exit_codes")
    told = codes is not None
    if not told:
        codes = [0] * len(times)
    if not isinstance(codes, list) or len(codes) != len(times):
        raise fail(
            opened, "there is not one exit code for each time", "is the file damaged?", at=at
        )
    good = [k for k, code in enumerate(codes) if code == 0 and not isinstance(code, bool)]
    shared: dict[str, Any] = {
        "benchmark": opened.stem,
        "variant": result["command"],
        "known": True,
        "inner": 1,
        "failed": len(times) - len(good) if told else None,
        "keys": {"command": result["command"]} | texts_of(result.get("parameters")),
    }
    yield ForeignCell(
        processes=tuple((value_of(opened, times[k], f"{at}.times[{k}]"),) for k in good), **shared
    )
    memory = result.get("memory_usage_byte")
    if isinstance(memory, list) and len(memory) == len(times) and None not in memory:
        yield ForeignCell(
            metric="max_rss",
            unit="B",
            processes=tuple(
                (value_of(opened, memory[k], f"{at}.memory_usage_byte[{k}]"),) for k in good
            ),
            **shared,
        )
