"""Histories of made-up nights for the tests of their page: what happens in them is known.

Load this file with ``runpy.run_path``.
"""

from __future__ import annotations

import math
import runpy
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from analysis.history.changes import Step, changes
from analysis.history.judged import (
    History,
    HistoryInterval,
    HostChange,
    HostInterval,
    Segment,
    SeriesHistory,
)
from analysis.history.night_values import Night
from analysis.pages.model import Caution, Next

hostile = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("hostile.py"))))
BEGIN = datetime(2026, 9, 24, 2, tzinfo=UTC)
MISSING = (11, 12, 40)  # days without a trial


def series(
    name: str,
    nights: int = 61,
    steps: Sequence[tuple[int, float]] = (),
    *,
    seed: int = 1,
    level: float = -0.05,
    noise: float = 0.01,
    begin: int = 0,
    missing: Sequence[int] = MISSING,
    paired: bool = True,
    **more: Any,
) -> SeriesHistory:
    """Give a series whose level changes by `steps`: the number of a night and by how much."""
    days = [day for day in range(begin, begin + nights + len(missing)) if day not in missing]
    days = days[:nights]
    logs = np.random.default_rng(seed).normal(0, noise, nights) + level
    for night, size in steps:
        logs[night:] += size
    found = changes(logs)
    gaps = [0, *(b - a - 1 for a, b in pairwise(days))]
    values = tuple(
        Night(
            trial=f"app-{BEGIN + timedelta(days=day):%Y%m%d}",
            path=f"runs/app-{day}",
            started_at=(BEGIN + timedelta(days=day)).isoformat(),
            log=float(log),
            speedup=math.exp(-log) if paired else None,
            metric_value=None if paired else math.exp(log),
            sessions=6,
            commit=f"{7919 * day + 1:040x}"[::-1],
            missing=gap,
        )
        for day, log, gap in zip(days, logs, gaps, strict=True)
    )
    told: dict[str, Any] = {
        "benchmark": name,
        "variant": "tip",
        "metric": "wall",
        "unit": "s",
        "better": "lower",
        "campaign": "compressors",
        "baseline": "v1.0" if paired else None,
        "ends": None,
        "changed": None,
        "intervals": tuple(
            _interval(values, one.first - 1, one.last, place, step, one.pvalue, paired=paired)
            for one, place, step in zip(found.intervals, found.places, found.steps, strict=True)
        ),
    }
    return SeriesHistory(
        **(told | more),
        paired=paired,
        begins=values[0].trial,
        values=values,
        autocorrelation=found.autocorrelation,
        inflation=found.inflation,
        level=0.05,
        least_p=found.least_p,
        p_star=found.p_star,
        pvalue=found.pvalue,
        pvalue_adjusted=found.pvalue,
        segments=tuple(
            _segment(values, a, b, float(logs[a:b].mean()), paired=paired)
            for a, b in pairwise([0, *found.places, nights])
        ),
    )


def _interval(
    values: Sequence[Night],
    first: int,
    last: int,
    place: int,
    step: Step,
    pvalue: float,
    *,
    paired: bool,
) -> HistoryInterval:
    return HistoryInterval(
        first=values[first].trial,
        last=values[last].trial,
        first_value=first,
        last_value=last,
        pvalue=pvalue,
        place=values[place].trial,
        place_value=place,
        speedup_before=None,
        speedup_behind=None,
        step=step,
        missing=sum(one.missing for one in values[first + 1 : last + 1]),
        cause="program" if paired else "host-or-program",
        good=values[first].commit,
        bad=values[last].commit,
    )


def _segment(values: Sequence[Night], a: int, b: int, log: float, *, paired: bool) -> Segment:
    return Segment(
        first=values[a].trial,
        last=values[b - 1].trial,
        first_value=a,
        last_value=b - 1,
        nights=b - a,
        speedup=math.exp(-log) if paired else None,
        metric_value=None if paired else math.exp(log),
    )


def history(*found: SeriesHistory, **more: Any) -> History:
    """Give a history of these series."""
    nights = sorted({(value.started_at, value.trial) for one in found for value in one.values})
    told: dict[str, Any] = {
        "place": "runs",
        "host": ("lab3",),
        "campaign": "compressors",
        "metric": "wall",
        "unit": "s",
        "better": "lower",
        "baseline": "v1.0",
        "first_at": nights[0][0] if nights else None,
        "last_at": nights[-1][0] if nights else None,
        "nights": len(nights),
        "missing": 0,
        "risk": 0.05,
        "correction": "holm",
        "series": found,
    }
    return History(**(told | more))


def usual(name: str = "{}", words: str = "") -> History:
    """Give a history in which everything happens that a page can show; `name` and `words` go into its texts."""
    texts = {one: name.format(one) for one in ("text", "logs", "json", "table", "random", "v1.0")}
    base = {"baseline": texts["v1.0"], "variant": name.format("tip")}
    found = (
        series(texts["text"], steps=[(35, 0.03)], **base),
        series(texts["logs"], seed=2, **base),
        series(texts["json"], steps=[(20, 0.05), (42, -0.04)], seed=3, **base),
        series(
            texts["table"], 30, seed=4, ends="baseline",
            changed=f"the baseline's program changed{words}", **base,
        ),
        series(texts["table"], 28, seed=5, begin=33, level=0.0, **base),
        series(texts["random"], 5, seed=6, begin=57, missing=(), **base),
    )  # fmt: skip
    nights = found[1].values
    kernel = f"kernel: 6.8 became 6.12{words}"
    host = HostInterval(
        benchmark=texts["logs"],
        baseline=texts["v1.0"],
        first=nights[18].trial,
        last=nights[26].trial,
        first_value=18,
        last_value=26,
        pvalue=1e-4,
        place=nights[22].trial,
        place_value=22,
        step=Step(speedup=1.062, low=1.05, high=1.07, level=0.999),
        missing=0,
        cause="host",
        environment=(kernel,),
    )
    changed = HostChange(trial=nights[22].trial, started_at=nights[22].started_at, what=(kernel,))
    return history(
        *found,
        baseline=texts["v1.0"],
        campaign=name.format("compressors"),
        host=(name.format("lab3"),),
        missing=3,
        host_intervals=(host,),
        host_changes=(changed,),
        left_out=((name.format("app-1"), f"interrupted before its first session was complete{words}"),),
        cautions=tuple(
            Caution(f"code-{k}", f"{texts['text']}: neighbouring nights resemble each other{words}")
            for k in range(5)
        ),
        following=(
            Next(("fairtrial", "bisect", "4f0c2a1", "9b77e02", "--benchmark", texts["text"]), "names it"),
        ),
    )  # fmt: skip


def plain() -> History:
    """Give a history without a baseline, in which one benchmark becomes faster."""
    return history(
        series("text", steps=[(30, -0.1)], paired=False, level=0.3), baseline=None, cut=3
    )


def large(benchmarks: int, nights: int) -> History:
    """Give many benchmarks of many nights; every third becomes slower."""
    return history(
        *(
            series(f"bench-{k:03}", nights, [(nights // 2, 0.03)] if k % 3 == 0 else (), seed=k)
            for k in range(benchmarks)
        )
    )


# what the page is looked at for
NAME = (f"{hostile.ALL} ".replace("{", "{{").replace("}", "}}")) + "{}" + "n" * 120
KINDS = {
    "usual": usual,
    "hostile": lambda: usual(NAME, f" {hostile.ALL}"),
    "without a baseline": plain,
    "40 benchmarks": lambda: large(40, 60),
    "five nights": lambda: history(series("text", 5)),
}
