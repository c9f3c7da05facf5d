"""Trials and fleets of many shapes, written as docs/trial-format.md has them.

Nothing of the product is imported: both installations read files that neither has written. All
draws are of a seed that the trial's name gives, so that a further trial changes no other.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

HASHES = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("same", "old", "new")}
ENVIRONMENT = {
    "segment": 0,
    "at": "2024-05-01T04:12:00.497918Z",
    "containment": "pid",
    "host": {"name": "lab07", "machine_id_sha256": "abc", "boot_id": "b-1", "virtual": None},
    "cpu": {"model": "Model CPU", "microcode": "0x1", "online": "0-7", "cores": 8, "smt": "off"},
    "memory": {"total_bytes": 16 << 30, "thp": "madvise"},
    "kernel": {"release": "6.1.0", "architecture": "x86_64", "aslr": 2},
    "tools": {"fairtrial": "0.2.0", "python": "3.11.7", "packages": {"numpy": "2.4.6"}},
    "variables": {"PATH": "/usr/bin:/bin"},
    "moment": {"uptime_s": 8241.29, "load_1min": 0.16},
    "inputs": {},
}


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What a made trial is like; times are seconds, `effects` the variants' speedups.

    `noise` is of the logarithms of runs, `between` of those of sessions; `tick` rounds times to a
    clock's step; `slow_mode` is the share of runs in a second mode; `drift` is what the last run of
    a session takes more than the first. `fails` gives the share of failed runs of (benchmark,
    variant); `metrics` the direction of metrics that were parsed, each with `iterations` values.
    """

    variants: tuple[str, ...] = ("old", "new")
    effects: tuple[float, ...] = (1.0, 1.2)
    benchmarks: tuple[str, ...] = ("text", "logs", "random")
    sessions: int = 6
    runs: int = 4
    warmup: int = 1
    noise: float = 0.01
    between: float = 0.004
    tick: float = 1e-9
    slow_mode: float = 0.0
    drift: float = 0.0
    fails: dict[tuple[str, str], float] = field(default_factory=dict)
    metrics: dict[str, str] = field(default_factory=dict)
    iterations: int = 1
    same_program: bool = False
    host: str = "lab07"
    manifest: dict[str, Any] = field(default_factory=dict)
    environment: dict[int, dict[str, Any]] = field(default_factory=dict)
    keep_rows: int | None = None


SHAPES = {
    "pair": Shape(),
    "again": Shape(effects=(1.0, 1.19), manifest={"seed": 2}),
    "reverse": Shape(effects=(1.0, 0.8)),
    "close": Shape(effects=(1.0, 1.004), sessions=4),
    "equal": Shape(effects=(1.0, 1.0), sessions=8, noise=0.002, between=0.0005),
    "three": Shape(
        variants=("old", "new", "newer"),
        effects=(1.0, 1.1, 1.3),
        benchmarks=("a", "b", "c", "d"),
        sessions=4,
        runs=3,
    ),
    "same": Shape(
        variants=("a", "b"), effects=(1.0, 1.0), sessions=8, runs=5, same_program=True, between=0.0
    ),
    "single": Shape(sessions=1, runs=20),
    "two-sessions": Shape(sessions=2, runs=5),
    "small": Shape(sessions=2, runs=3, benchmarks=("text",)),
    "tiny": Shape(sessions=1, runs=1, warmup=0),
    "one-benchmark": Shape(benchmarks=("text",), sessions=5),
    "one-variant": Shape(variants=("old",), effects=(1.0,)),
    "many": Shape(benchmarks=tuple(f"bench-{k:02d}" for k in range(12)), sessions=3, runs=3),
    "failing": Shape(fails={("text", "new"): 0.3, ("logs", "old"): 0.1}),
    "always-failing": Shape(fails={("text", "new"): 1.0}),
    "metrics": Shape(
        metrics={"ops": "higher", "latency": "lower"}, manifest={"judged": ["ops", "wall"]}
    ),
    "iterations": Shape(metrics={"step": "lower"}, iterations=6, sessions=3),
    "modes": Shape(slow_mode=0.4, sessions=4, runs=15, benchmarks=("text", "logs")),
    "drift": Shape(drift=0.2, sessions=3, runs=12, benchmarks=("text", "logs")),
    "coarse": Shape(tick=0.01, sessions=4),
    "constant": Shape(noise=0.0, between=0.0),
    "changed": Shape(
        environment={4: {"kernel": {"release": "6.2.0"}, "memory": {"thp": "always"}}}
    ),
    "unfinished": Shape(manifest={"status": "running", "finished": None}, keep_rows=60),
    "interrupted": Shape(
        manifest={"status": "interrupted", "reason": "signal SIGINT"}, keep_rows=80
    ),
    "appended": Shape(
        manifest={"appended": [{"first": 4, "last": 6, "at": "2024-05-02T04:12:00Z"}]}
    ),
}
FLEETS = {
    "fleet": ({"lab1": 1.2, "lab2": 1.22, "lab3": 1.18, "lab4": 1.21}, ()),
    "fleet-apart": ({"lab1": 1.2, "lab2": 0.9, "lab3": 1.3}, ()),
    "fleet-missing": ({"lab1": 1.1, "lab2": 1.12, "lab3": 1.13}, ("lab3",)),
    "fleet-two": ({"lab1": 1.1, "lab2": 1.1}, ()),
}


def write_made_trials(folder: Path) -> None:
    """Write every trial and fleet of this module below `folder`."""
    for name, shape in SHAPES.items():
        write_trial(folder / name, shape, name)
    for name, (effects, absent) in FLEETS.items():
        _write_fleet(folder / name, effects, absent)
    _damage(folder)


def write_trial(path: Path, shape: Shape, name: str) -> None:
    """Write the trial `name` of this shape into the new folder `path`."""
    draw = random.Random(name)
    plan = _plan(shape, draw)
    rows = [_row(planned, shape, draw) for planned in plan][: shape.keep_rows]
    sessions = sorted({row["session"] for row in rows})
    files = {
        "environment.jsonl": b"".join(_line(_environment(k, shape)) for k in sessions),
        "plan.jsonl": b"".join(map(_line, plan)),
        "measurements.jsonl": b"".join(map(_checked, _with_sessions(rows, shape, name))),
        "findings.jsonl": _line(_finding(1)) + _line(_finding(2)),
        "campaign.yaml": _campaign(shape).encode(),
    }
    path.mkdir(parents=True)
    for file, content in files.items():
        (path / file).write_bytes(content)
    manifest = _manifest(shape, name, plan)
    if manifest["status"] != "running":
        manifest["files"] = {
            file: hashlib.sha256(content).hexdigest() for file, content in files.items()
        }
    (path / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


def _plan(shape: Shape, draw: random.Random) -> list[dict[str, Any]]:
    plan: list[dict[str, Any]] = []
    cells = [(bench, variant) for bench in shape.benchmarks for variant in shape.variants]
    for session in range(1, shape.sessions + 1):
        for block in range(1 - shape.warmup, shape.runs + 1):
            for bench, variant in draw.sample(cells, len(cells)):
                plan.append(
                    {
                        "position": len(plan),
                        "session": session,
                        "block": max(block, 0),
                        "benchmark": bench,
                        "variant": variant,
                        "warmup": block < 1,
                    }
                )
    return plan


def _row(planned: dict[str, Any], shape: Shape, draw: random.Random) -> dict[str, Any]:
    bench, variant = planned["benchmark"], planned["variant"]
    seconds = 0.02 * (1 + shape.benchmarks.index(bench))
    seconds /= shape.effects[shape.variants.index(variant)]
    seconds *= math.exp(draw.gauss(0, shape.noise)) * (1.5 if planned["warmup"] else 1.0)
    seconds *= 1 + shape.drift * planned["block"] / shape.runs
    if draw.random() < shape.slow_mode:
        seconds *= 1.3
    failed = draw.random() < shape.fails.get((bench, variant), 0.0)
    metrics = {
        metric: [_metric(seconds, better, draw) for _ in range(shape.iterations)]
        for metric, better in shape.metrics.items()
    }
    return {
        **{key: planned[key] for key in ("position", "session")},
        "segment": 0,
        **{key: planned[key] for key in ("block", "benchmark", "variant", "warmup")},
        "started_at": f"2024-05-01T04:12:{planned['position'] % 60:02d}.000000000Z",
        "start_ns": 1_000_000_000 + planned["position"] * 10**8,
        "wall_ns": round(seconds / shape.tick) * round(shape.tick * 1e9),
        "spawn_ns": 90_000 + draw.randrange(9000),
        "user_s": round(seconds * 0.9, 6),
        "system_s": round(seconds * 0.1, 6),
        "max_rss_bytes": (50 << 20) + 4096 * draw.randrange(200),
        "max_rss_floor_bytes": 10 << 20,
        "minor_faults": 100 + draw.randrange(10),
        "major_faults": 0,
        "voluntary_switches": 1,
        "involuntary_switches": draw.randrange(3),
        "cpus": [3],
        "frequency_khz": None,
        "temperature_c": 40.0 + draw.randrange(5),
        "steal_s": 0.0,
        "padding_bytes": draw.randrange(4096),
        "outcome": "exit" if failed else "ok",
        "exit_code": 1 if failed else 0,
        "signal": None,
        "detail": "exit code 1, expected 0" if failed else None,
        "metrics": {} if failed else metrics,
        "stdout_bytes": 1000,
        "stdout_sha256": HASHES["same"],
        "orphans": 0,
        "before_s": None,
        "after_s": None,
    }


def _metric(seconds: float, better: str, draw: random.Random) -> float:
    value = seconds * math.exp(draw.gauss(0, 0.01))
    return 1 / value if better == "higher" else value * 1e3


def _with_sessions(rows: list[dict[str, Any]], shape: Shape, name: str) -> list[dict[str, Any]]:
    """Shift all runs of a cell in a session by what sessions differ; draws of their own."""
    draw, shifts = random.Random(f"{name} sessions"), {}
    for row in rows:
        cell = (row["session"], row["benchmark"], row["variant"])
        shift = shifts.setdefault(cell, math.exp(draw.gauss(0, shape.between)))
        step = round(shape.tick * 1e9)
        row["wall_ns"] = max(step, round(row["wall_ns"] * shift / step) * step)
    return rows


def _environment(session: int, shape: Shape) -> dict[str, Any]:
    record = {"session": session, **ENVIRONMENT}
    record["host"] = ENVIRONMENT["host"] | {"name": shape.host, "machine_id_sha256": shape.host}
    for number, changes in shape.environment.items():
        if session >= number:
            for section, values in changes.items():
                record[section] = record[section] | values
    record["targets"] = {
        f"{bench}/{variant}": {
            "path": f"/opt/{variant}/bin/run",
            "sha256": _target(variant, shape),
            "kind": "elf",
        }
        for bench in shape.benchmarks
        for variant in shape.variants
    }
    return record


def _target(variant: str, shape: Shape) -> str:
    return HASHES["same"] if shape.same_program else hashlib.sha256(variant.encode()).hexdigest()


def _finding(session: int) -> dict[str, Any]:
    return {
        "at": "2024-05-01T04:12:00.000000Z",
        "session": session,
        "when": "before",
        "check": "governor",
        "status": "warning",
        "what": "the governor is 'powersave'",
        "where": "/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor",
        "fix": "cpupower frequency-set -g performance",
        "reason": "the frequency follows the load",
    }


def _campaign(shape: Shape) -> str:
    campaign: dict[str, Any] = {
        "name": "made",
        "seed": 1,
        "variants": {name: {"place": f"/opt/{name}"} for name in shape.variants},
        "baseline": shape.variants[0],
        "benchmarks": {name: {"command": ["{place}/bin/run", name]} for name in shape.benchmarks},
        "protocol": {"sessions": shape.sessions, "runs": shape.runs, "warmup": shape.warmup},
    }
    return json.dumps(campaign, indent=1) + "\n"


def _manifest(shape: Shape, name: str, plan: list[dict[str, Any]]) -> dict[str, Any]:
    changes = dict(shape.manifest)
    judged = changes.pop("judged", None)
    manifest = {
        "schema": 1,
        "trial": f"made-{name}-20240501-041200",
        "tool_version": "0.2.0",
        "campaign_name": "made",
        "campaign_sha256": hashlib.sha256(_campaign(shape).encode()).hexdigest(),
        "campaign_path": "/opt/made/campaign.yaml",
        "baseline": shape.variants[0],
        "variants": list(shape.variants),
        "benchmarks": list(shape.benchmarks),
        "metrics": {
            metric: {"unit": "1/s" if better == "higher" else "ms", "better": better}
            for metric, better in shape.metrics.items()
        },
        "seed": 1,
        "sessions": shape.sessions,
        "runs": shape.runs,
        "warmup": shape.warmup,
        "planned": len(plan),
        "host": shape.host,
        "host_id": shape.host,
        "cpu_model": "Model CPU",
        "targets": {
            f"/opt/{variant}/bin/run": _target(variant, shape) for variant in shape.variants
        },
        "started": "2024-05-01T04:12:00.161270Z",
        "finished": "2024-05-01T04:22:00.989612Z",
        "status": "complete",
        "reason": None,
        "files": {},
    }
    if judged is not None:
        manifest["judge"] = [{"at": "2024-05-01T04:12:00Z", "metrics": judged}]
    return manifest | changes


def _write_fleet(path: Path, effects: dict[str, float], absent: tuple[str, ...]) -> None:
    path.mkdir(parents=True)
    shape = Shape(sessions=4, runs=3)
    for host, effect in effects.items():
        if host not in absent:
            own = replace(shape, effects=(1.0, effect), host=host, manifest={"host_id": host})
            write_trial(path / host, own, f"{path.name}-{host}")
    fleet = {
        "schema": 1,
        "campaign": "made",
        "identity": hashlib.sha256(_campaign(shape).encode()).hexdigest(),
        "submitted_at": None,
        "script": None,
        "hosts": [{"host": host, "jobs": [], "trial": host} for host in effects],
    }
    (path / "fleet.json").write_text(json.dumps(fleet, indent=2) + "\n")


def _damage(folder: Path) -> None:
    """Write trials of which something is broken: a row, the last line, the manifest, the schema."""
    shape = Shape(sessions=2)
    for name in ("no-manifest", "newer-schema", "changed-file"):
        write_trial(folder / name, shape, name)
    running = replace(shape, manifest={"status": "running", "finished": None})  # without hashes
    for name in ("damaged-row", "torn"):
        write_trial(folder / name, running, name)
    rows = folder / "damaged-row" / "measurements.jsonl"
    rows.write_bytes(rows.read_bytes().replace(b'"wall_ns":2', b'"wall_ns":3', 1))
    torn = folder / "torn" / "measurements.jsonl"
    torn.write_bytes(torn.read_bytes()[:-100])
    (folder / "no-manifest" / "manifest.json").write_text("{")
    manifest = folder / "newer-schema" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"schema": 1', '"schema": 99'))
    changed = folder / "changed-file" / "campaign.yaml"
    changed.write_text(changed.read_text() + "# changed\n")


def _line(data: dict[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"


def _checked(row: dict[str, Any]) -> bytes:
    body = _line(row)[:-1]
    return body[:-1] + b',"crc32":%d}\n' % zlib.crc32(body)
