"""hyperfine's ``--export-json``: every run of every command, each a process of its own.

Times of failed runs stand among the others; they are told apart by ``exit_codes``, where null stands
for a run that a signal ended. ``times`` may be absent in newer schemas. User and system times are
means only. CSV and Markdown exports hold no runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import fail, json_of, looks_like_json, value_of

__all__ = ["knows", "read"]

_HEADER = re.compile(r"^command,mean,stddev,median,user,system,min,max")


def knows(opened: Opened) -> bool:
    """Tell by the keys of the first result, or by the header of the CSV export."""
    head = opened.head()
    if _HEADER.match(head):
        return True
    return (
        looks_like_json(opened)
        and re.search(r'"results"\s*:\s*\[', head) is not None
        and re.search(r'"command"\s*:', head) is not None
        and re.search(r'"mean"\s*:', head) is not None
    )


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each command's times, and one for its memory where it was measured.

    Raises
    ------
    AnalysisError
        If the file is damaged, or has summaries only.
    """
    if _HEADER.match(opened.head()):
        raise fail(
            opened,
            "hyperfine's CSV holds summaries only, no runs",
            "export with --export-json FILE instead",
        )
    data = json_of(opened)
    results = data.get("results") if isinstance(data, dict) else None
    if not isinstance(results, list) or not results:
        raise fail(opened, "there is no result in the file", "export it again with --export-json")
    cells = [cell for k, one in enumerate(results) for cell in _cells(opened, one, f"results[{k}]")]
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
    if codes is None:
        codes = [0] * len(times)
    if not isinstance(codes, list) or len(codes) != len(times):
        raise fail(
            opened, "there is not one exit code for each time", "is the file damaged?", at=at
        )
    good = [k for k, code in enumerate(codes) if code == 0]
    parameters = {str(name): str(value) for name, value in (result.get("parameters") or {}).items()}
    # a parameter list of these two names says which is which; so do our own exports
    named = {"benchmark", "variant"} <= parameters.keys()
    shared: dict[str, Any] = {
        "benchmark": parameters["benchmark"] if named else opened.stem,
        "variant": parameters["variant"] if named else result["command"],
        "known": True,
        "inner": 1,
        "failed": len(times) - len(good) if "exit_codes" in result else None,
        "keys": {"command": result["command"]} | parameters,
    }
    yield ForeignCell(
        processes=tuple((value_of(opened, times[k], f"{at}.times[{k}]"),) for k in good), **shared
    )
    memory = result.get("memory_usage_byte")
    if isinstance(memory, list) and len(memory) == len(times):
        yield ForeignCell(
            metric="max_rss",
            unit="B",
            processes=tuple(
                (value_of(opened, memory[k], f"{at}.memory_usage_byte[{k}]"),) for k in good
            ),
            **shared,
        )
