"""Made-up profiles beside trials, as `fairtrial why` leaves them: a tree of calls, six sessions, timed runs.

Loaded by name (`tests.profiled`); `build` is the writer of small trials of ``tests/unit/analysis/conftest.py``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from analysis.record.manifest import read_manifest
from analysis.record.profiles import (
    TIMED,
    JudgedThen,
    Profile,
    SampledCell,
    SampledChain,
    SampledFunction,
    profiles_of,
    write_profile,
)

SESSIONS, RUNS = 6, 3
PER_MS = 30  # samples of a cell in a session for each millisecond
# chains of callers, the outermost first, each ``symbol@object``; milliseconds of baseline and candidate
CALLS: Mapping[tuple[str, ...], tuple[float, float]] = {
    ("_start@app", "main@app"): (0.4, 0.4),
    ("_start@app", "main@app", "read_lines@app"): (1.5, 1.5),
    ("_start@app", "main@app", "read_lines@app", "getline@libc.so.6"): (3.2, 3.1),
    ("_start@app", "main@app", "read_lines@app", "getline@libc.so.6", "vfs_read@kernel"): (2.1, 2.2),
    ("_start@app", "main@app", "sort_keys@app"): (0.3, 0.3),
    ("_start@app", "main@app", "sort_keys@app", "msort_with_tmp@libc.so.6"): (9.1, 7.0),
    (
        "_start@app",
        "main@app",
        "sort_keys@app",
        "msort_with_tmp@libc.so.6",
        "qsort_cmp.isra.0@app",
    ): (2.0, 8.6),
    ("_start@app", "main@app", "sum_keys@app"): (4.8, 4.8),
    ("_start@app", "main@app", "emit@app"): (5.5, 5.5),
    ("finish_task_switch@kernel",): (0.9, 1.0),
    ("_start@app", "main@app", "rare@app"): (0.02, 0.02),
}  # fmt: skip
Calls = Mapping[tuple[str, ...], tuple[float, float]]


def profile_beside(
    trial: Path,
    build: Callable[..., Any],
    *,
    variant: str,
    benchmarks: Sequence[str] | None = None,
    calls: Calls = CALLS,
    chains: str | None = "fp",
    seed: int = 1,
    **changes: Any,
) -> Path:
    """Write the profile of a candidate beside a trial, and give its folder; `changes` are of ``profile.json``."""
    manifest = read_manifest(trial)
    chosen = tuple(benchmarks or manifest.benchmarks)
    rng = random.Random(seed)
    folder = profiles_of(trial) / variant
    pair = (manifest.baseline, variant)
    cells = [
        _cell(session, bench, name, side, calls, rng, chains=chains is not None)
        for session in range(1, SESSIONS + 1)
        for bench in chosen
        for side, name in enumerate(pair)
    ]
    times: dict[str, dict[str, list[float]]] = {}
    for side, name in enumerate(pair):
        total = sum(ms[side] for ms in calls.values()) / 1000
        times[name] = {
            bench: [
                total * level * (1 + rng.gauss(0, 0.005))
                for level in (1 + rng.gauss(0, 0.01) for _ in range(SESSIONS))
                for _ in range(RUNS)
            ]
            for bench in chosen
        }
    timed = build(times, baseline=manifest.baseline, sessions=SESSIONS)
    own = {"trial": TIMED, "host": manifest.host, "host_id": manifest.host_id}
    timed.manifest = replace(timed.manifest, **own)
    timed.write(folder / TIMED)
    profile = Profile(
        trial=manifest.trial,
        campaign_sha256=manifest.campaign_sha256,
        host_id=manifest.host_id,
        cpu_model=manifest.cpu_model,
        tool_version=manifest.tool_version,
        perf_version="6.1.187",
        event="cpu-clock",
        frequency_hz=4999,
        kernel="seen",
        chains=chains,
        baseline=manifest.baseline,
        variant=variant,
        benchmarks=chosen,
        sessions=SESSIONS,
        timed_runs=RUNS,
        profiled_runs=3,
        seed=1,
        programs={f"{bench}/{name}": "a" * 64 for bench in chosen for name in pair},
        started="2026-11-27T10:00:00Z",
        finished="2026-11-27T10:00:21Z",
        verdict_was={
            bench: JudgedThen(outcome="slower", speedup=0.87, low=0.84, high=0.9, metric="wall")
            for bench in chosen
        },
    )
    write_profile(folder, replace(profile, **changes), cells)
    return folder


def _cell(
    session: int, bench: str, variant: str, side: int, calls: Calls, rng: random.Random, *, chains: bool
) -> SampledCell:  # fmt: skip
    names = dict.fromkeys(name for chain in calls for name in chain)
    place = {name: k for k, name in enumerate(names)}
    counts = dict.fromkeys(names, 0)
    found = []
    for chain, ms in calls.items():
        count = max(0, round(rng.gauss(ms[side] * PER_MS, 0.5 * (ms[side] * PER_MS) ** 0.5)))
        counts[chain[-1]] += count
        if count:
            found.append(SampledChain(frames=tuple(place[one] for one in chain), samples=count))
    return SampledCell(
        session=session,
        benchmark=bench,
        variant=variant,
        runs=3,
        samples=sum(counts.values()),
        lost=0,
        functions=tuple(
            SampledFunction(
                symbol=name.rpartition("@")[0], object=name.rpartition("@")[2], samples=n
            )
            for name, n in counts.items()
        ),
        chains=tuple(found) if chains else None,
    )
