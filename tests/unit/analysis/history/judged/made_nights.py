"""Nights that no trial was read for."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from analysis.history.judged import History
from analysis.history.judging import judge_nights
from analysis.history.night_values import Night, Nights, NightSeries

FIRST = datetime(2026, 9, 24, 2, tzinfo=UTC)
KERNEL = {"kernel": {"release": "6.8"}}


def noise(count: int, seed: int = 1, sd: float = 0.01) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.0, sd, count)


def stepped(size: float = 0.05, at: int = 30, count: int = 60, seed: int = 1) -> np.ndarray:
    """Give nights that are slower by `size` from the night numbered `at` on."""
    return noise(count, seed) + size * (np.arange(count) >= at)


def series(
    logs: Sequence[float],
    benchmark: str = "text",
    *,
    variant: str = "tip",
    paired: bool = True,
    own: Sequence[float] | None = None,
    commits: Sequence[str | None] | None = None,
    facts: Mapping[int, object] | None = None,
    skipped: Sequence[int] = (),
    ended: str | None = None,
    **more: object,
) -> NightSeries:
    """Give a series of one night a day, without the days `skipped`; `facts`: From which night on the host is another."""
    days = [day for day in range(len(logs) + len(skipped)) if day not in skipped]
    nights = []
    known = KERNEL
    for k, (log, day) in enumerate(zip(logs, days, strict=True)):
        known = (facts or {}).get(k, known)
        moment = FIRST + timedelta(days=day)
        nights.append(
            Night(
                trial=f"nightly-{moment:%Y%m%d}",
                path=f"runs/nightly-{moment:%Y%m%d}",
                started_at=moment.isoformat(),
                log=float(log),
                baseline_log=None if not paired else float(0.0 if own is None else own[k]),
                sessions=6,
                commit=None if commits is None else commits[k],
                host_facts=known,
            )
        )
    return NightSeries(
        **{
            "benchmark": benchmark,
            "variant": variant,
            "paired": paired,
            "metric": "wall",
            "unit": "s",
            "better": "lower",
            "campaign": "compressors",
            "baseline": "v1.0" if paired else None,
            "values": tuple(nights),
            "ends": ended,
        }
        | more
    )


def nights_of(*some: NightSeries) -> Nights:
    return Nights(place="runs", hosts=("lab3",), series=some)


# ---- The nights of the example in docs/history.md.


NIGHTS = 61
COMMITS = tuple(hashlib.sha1(f"night {k}".encode()).hexdigest() for k in range(NIGHTS))
HOST = {"kernel": {"release": "6.12"}}


def example(**asked: object) -> History:
    """Judge four benchmarks: one becomes slower, one faster; the host changes in the night numbered 24."""
    rng = np.random.default_rng(12)
    late = np.arange(NIGHTS)
    made = []
    for name, step, at in (
        ("text", 0.031, 35),
        ("logs", 0, 0),
        ("json", -0.048, 20),
        ("table", 0, 0),
    ):
        logs = rng.normal(0, 0.008, NIGHTS) + step * (late >= at) - 0.02
        own = rng.normal(0, 0.008, NIGHTS) - (0.06 * (late >= 24) if name == "logs" else 0)
        made.append(
            series(logs, name, own=own, commits=COMMITS, facts={24: HOST}, skipped=(31, 32))
        )
    return judge_nights(nights_of(*made), asked=("runs",), **asked)
