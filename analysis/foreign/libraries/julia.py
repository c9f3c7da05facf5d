"""BenchmarkTools.jl's JSON (``BenchmarkTools.save``): the samples of each trial, in groups.

A file is ``[versions, [value, ...]]``, a value ``["Trial", {...}]`` or ``["BenchmarkGroup", {"data":
...}]``, whose types had ``BenchmarkTools.`` before them in old files. ``times`` are nanoseconds of one
evaluation, each the mean of ``evals`` of them, with the garbage collector's share, which ``gctimes``
tell apart; most versions sort them. Estimates (of ``median`` or ``minimum``), ratios and judgements are
summaries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import count_of, fail, json_of, mentions, structure_of, texts_of, values_of

__all__ = ["knows", "read"]

_NS = 1e-9
_FIX = "save the results of run(...) as they are, not their median or minimum"
_SUMMARIES = ("TrialEstimate", "TrialRatio", "TrialJudgement")


def knows(opened: Opened) -> bool:
    """Tell by the versions that begin the file."""
    data = structure_of(opened)
    if data is None:
        return mentions(opened, "Julia", "BenchmarkTools")
    return (
        isinstance(data, list)
        and len(data) == 2
        and isinstance(data[0], dict)
        and "BenchmarkTools" in data[0]
        and isinstance(data[1], list)
    )


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each trial: its times, and those of the garbage collector where it worked.

    Raises
    ------
    AnalysisError
        If the file is damaged, or holds no trial.
    """
    data = json_of(opened)
    values = data[1] if isinstance(data, list) and len(data) == 2 else None
    if not isinstance(values, list):
        raise fail(opened, "it holds no values", "write it again with BenchmarkTools.save")
    cells: list[ForeignCell] = []
    summaries = []
    for kind, about, names, at in _values(values):
        if kind == "Trial":
            cells += _cells(opened, about, names, at)
        elif kind in _SUMMARIES:
            summaries.append(kind)
    if not cells:
        what = f"it holds a {summaries[0]}, no samples" if summaries else "it holds no trial"
        raise fail(opened, what, _FIX)
    return ForeignFile(
        format="julia",
        source=opened.source,
        cells=tuple(cells),
        losses=tuple(_losses(cells)),
        notes=(Loss(code="left-out", text=f"{len(summaries)} summaries are left out: no samples"),)
        if summaries
        else (),
    )


def _values(values: Sequence[object]) -> Iterator[tuple[str, dict[str, Any], tuple[str, ...], str]]:
    """Give all values of all groups: type, fields, names of the groups and its own, place."""
    numbered = len(values) > 1
    waiting = [
        (value, (f"{k + 1}",) if numbered else (), f"[1][{k}]") for k, value in enumerate(values)
    ]
    while waiting:
        value, names, at = waiting.pop(0)
        if not (isinstance(value, list) and len(value) == 2 and isinstance(value[1], dict)):
            continue  # nothing that BenchmarkTools writes
        kind = str(value[0]).removeprefix("BenchmarkTools.")
        yield kind, value[1], names, at
        inner = value[1].get("data")
        if kind == "BenchmarkGroup" and isinstance(inner, dict):
            waiting[:0] = [
                (one, (*names, key), f"{at}[1].data.{key}") for key, one in inner.items()
            ]


def _cells(
    opened: Opened, trial: dict[str, Any], names: tuple[str, ...], at: str
) -> Iterator[ForeignCell]:
    pair = trial.get("params")
    given = pair[1] if isinstance(pair, list) and len(pair) == 2 else None
    params = given if isinstance(given, dict) else {}
    path = "/".join(names) or opened.stem
    for key, metric in (("times", "time"), ("gctimes", "gctime")):
        listed = trial.get(key)
        if not isinstance(listed, list) or not listed:
            if metric == "time":
                raise fail(opened, "the trial has no times", "is the file damaged?", at=at)
            continue
        values = values_of(opened, listed, f"{at}[1].{key}", factor=_NS)
        if metric == "gctime" and not any(values):
            continue
        yield ForeignCell(
            benchmark=path,
            metric=metric,
            processes=(values,),
            known=True,
            inner=count_of(params.get("evals")),
            keys=texts_of(params)
            | ({"group": "/".join(names[:-1])} if names[1:] else {})
            | {"name": path},
        )


def _losses(cells: Sequence[ForeignCell]) -> Iterator[Loss]:
    inner = [cell.inner or 1 for cell in cells]
    told = f"{min(inner)}" if min(inner) == max(inner) else f"{min(inner)} to {max(inner)}"
    yield Loss(
        code="one-process",
        text=f"samples of {told} evaluations, all from one process: variation between processes cannot "
        "be estimated",
    )
    yield Loss(
        code="order-unknown",
        text="samples are sorted: their order of measurement is not in the file",
    )
    yield Loss(code="no-sessions", text="when a trial was executed is not in the file")
    yield Loss(code="warm-ups-unknown", text="warm-ups are not in the file")
    yield Loss(code="failed-unknown", text="BenchmarkTools keeps no failed benchmarks")
