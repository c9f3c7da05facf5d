"""Profiles and their timed trials, made in memory: so many milliseconds in each function."""

import runpy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from analysis.data.trial import Trial
from analysis.record.profiles import (
    JudgedThen,
    Profile,
    SampledCell,
    SampledFunction,
    StoredProfile,
)

planted = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[3] / "planted.py")))
FOLDER = Path("runs/t.why/v1")
PROFILE = Profile(
    trial="t",
    campaign_sha256="0",
    host_id="host",
    cpu_model=None,
    tool_version="1",
    perf_version="6.1",
    event="cpu-clock",
    frequency_hz=999,
    kernel="seen",
    chains=None,
    baseline="v0",
    variant="v1",
    benchmarks=("b0",),
    sessions=6,
    timed_runs=3,
    profiled_runs=3,
    seed=1,
    programs={},
    started="2026-11-27T10:00:00Z",
    finished="2026-11-27T10:01:00Z",
    verdict_was={
        "b0": JudgedThen(outcome="slower", speedup=0.9, low=0.85, high=0.95, metric="wall")
    },
)
Counts = Mapping[str, int]  # "symbol" or "symbol/file" -> samples


def cell(session: int, variant: str, counts: Counts, **more: Any) -> SampledCell:
    """Give a line of samples; a symbol without a file lies in `app`."""
    functions = tuple(
        SampledFunction(symbol=symbol, object=file or "app", samples=n)
        for name, n in counts.items()
        for symbol, _, file in (name.partition("/"),)
    )
    known = {
        "session": session,
        "benchmark": "b0",
        "variant": variant,
        "runs": 3,
        "samples": sum(counts.values()),
        "lost": 0,
        "functions": functions,
    }
    return SampledCell(**known | more)


def timed(
    base_ms: Sequence[float],
    slow_ms: Sequence[float],
    *,
    system: float = 0.1,
    waits_ms: tuple[float, float] = (1.0, 1.0),
    runs: int = 3,
    metrics: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    jitter: float = 0.0,
    **numbers: tuple[float, float],
) -> Trial:
    """Give a trial whose runs of a session all have the on-CPU time of that session, in milliseconds.

    A share `system` of it is the kernel's; wall time is `waits_ms` more. `metrics` and `numbers` are by variant.
    """
    rng = np.random.default_rng(5)
    frame = planted.frame(rng, sessions=len(base_ms), runs=runs, variants=2)
    both = np.array([base_ms, slow_ms], dtype=np.float64)
    on_cpu = both[frame.variant, frame.session - 1] / 1e3
    on_cpu = on_cpu * np.exp(jitter * rng.standard_normal(len(frame)))
    waits = np.array(waits_ms)[frame.variant] / 1e3
    waits = waits + 1e-6 * rng.standard_normal(len(frame))
    printed = {
        name: np.array(values, dtype=np.float64)[frame.variant, frame.session - 1]
        for name, values in (metrics or {}).items()
    }
    columns = {name: np.array(values)[frame.variant] for name, values in numbers.items()}
    return planted.filled(
        frame,
        np.log(on_cpu + waits),
        metrics=printed,
        user_s=on_cpu * (1 - system),
        system_s=on_cpu * system,
        **columns,
    )


def stored(
    base: Sequence[Counts],
    slow: Sequence[Counts],
    *,
    more: Mapping[str, Any] | None = None,
    **head: Any,
) -> StoredProfile:
    """Give a profile of these counts a session; `more` goes into each cell, `head` into ``profile.json``."""
    cells = [
        cell(session, variant, counts, **(more or {}))
        for session, pair in enumerate(zip(base, slow, strict=True), 1)
        for variant, counts in zip(("v0", "v1"), pair, strict=True)
    ]
    head = {"sessions": len(base), **head}
    return StoredProfile(
        profile=replace(PROFILE, **head), cells=tuple(cells), timed=FOLDER / "timed"
    )


def drawn(
    rng: np.random.Generator,
    shares: Sequence[float],
    slow_shares: Sequence[float] | None = None,
    *,
    sessions: int = 6,
    samples: int = 300,
) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
    """Draw multinomial counts of functions f0, f1, ... for both variants."""
    sides = []
    for probabilities in (shares, shares if slow_shares is None else slow_shares):
        table = rng.multinomial(samples, np.array(probabilities) / np.sum(probabilities), sessions)
        sides.append([{f"f{k}": int(n) for k, n in enumerate(row)} for row in table])
    return sides[0], sides[1]
