"""What a fleet costs: generating, merging and judging the trials of many hosts.

So many trials of 1,000 runs (4 benchmarks x 2 variants x 5 sessions x 25 runs) are written, put together with
``fairtrial merge`` and judged with ``fairtrial verdict``, each command a process of its own. Execute it
by hand; the second number is of runs a host::

    python tests/benchmarks/fleet.py [HOSTS] [RUNS]

Figures to reach with 1,000 hosts: merged and judged in 2 minutes, in less than 1 GB.
"""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import MISSING, fields
from pathlib import Path

from analysis.record.manifest import manifest_text
from analysis.record.run_numbers import Measurement
from analysis.record.shapes import encode, encode_checked
from analysis.record.trial_files import (
    CAMPAIGN,
    ENVIRONMENT,
    FINDINGS,
    MEASUREMENTS,
    PLAN,
    Manifest,
)

VARIANTS, BENCHMARKS, SESSIONS = ("old", "new"), ("text", "logs", "random", "web"), 5


def write(folder: Path, host: int, runs: int) -> None:
    """Write the finished trial of a host, with shifts of its own and of its sessions."""
    rng = random.Random(host)
    folder.mkdir(parents=True)
    effect = -0.1 + rng.gauss(0, 0.02) + (0.2 if host == 7 else 0.0)
    cells = [(bench, variant) for bench in BENCHMARKS for variant in VARIANTS]
    each = runs // (len(cells) * SESSIONS)
    defaults = {f.name: None for f in fields(Measurement) if f.default is MISSING}
    position = 0
    plan, rows = [], []
    for session in range(1, SESSIONS + 1):
        shift = {cell: rng.gauss(0, 0.005) for cell in cells}
        for block in range(1, each + 1):
            for bench, variant in cells:
                planned = {
                    "position": position,
                    "session": session,
                    "block": block,
                    "benchmark": bench,
                    "variant": variant,
                    "warmup": False,
                }
                wall = 20_000_000 * 2.718281828 ** (
                    (effect if variant == "new" else 0.0)
                    + shift[bench, variant]
                    + rng.gauss(0, 0.01)
                )
                measured = {
                    "segment": 0,
                    "started_at": "2026-11-22T10:00:00.000000Z",
                    "start_ns": 1_000_000_000 + position * 25_000_000,
                    "wall_ns": round(wall),
                    "user_s": wall / 1e9 * 0.9,
                    "system_s": wall / 1e9 * 0.1,
                    "max_rss_bytes": 50 << 20,
                    "cpus": [3],
                    "outcome": "ok",
                    "exit_code": 0,
                    "metrics": {},
                }
                plan.append(encode(planned))
                rows.append(encode_checked(defaults | planned | measured))
                position += 1
    environment = {
        "session": 1,
        "host": {"name": f"node{host:04}", "machine_id_sha256": f"{host:064x}"},
        "cpu": {"model": "a processor", "governor": "powersave" if host == 7 else "performance"},
        "kernel": {"release": "6.1.0"},
        "targets": {f"{b}/{v}": {"path": f"/bin/{v}", "sha256": "1" * 64} for b, v in cells},
    }
    files = {
        CAMPAIGN: b"name: fleet\n",
        ENVIRONMENT: encode(environment) + b"\n",
        PLAN: b"\n".join(plan) + b"\n",
        MEASUREMENTS: b"\n".join(rows) + b"\n",
        FINDINGS: b"",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    known = {
        "trial": f"fleet-node{host:04}",
        "tool_version": "0.1.0",
        "campaign_name": "fleet",
        "campaign_sha256": "0" * 64,
        "campaign_path": "fleet.yaml",
        "baseline": "old",
        "variants": VARIANTS,
        "benchmarks": BENCHMARKS,
        "metrics": {},
        "seed": host,
        "sessions": SESSIONS,
        "runs": each,
        "warmup": 0,
        "planned": position,
        "host": f"node{host:04}",
        "host_id": f"{host:064x}",
        "cpu_model": "a processor",
        "targets": {},
        "started": "2026-11-22T10:00:00.000000Z",
        "finished": "2026-11-22T11:00:00.000000Z",
        "status": "complete",
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
    }
    manifest = Manifest(**known)
    (folder / "manifest.json").write_bytes(manifest_text(manifest))


def timed(*words: str) -> tuple[float, float, float, str]:
    """Execute a command; give its seconds, those on a CPU, peak memory in MB, and what it printed."""
    script = (
        "import resource, sys; from harness.cli import main; code = main(sys.argv[1:], sys.stdout, "
        "sys.stderr); used = resource.getrusage(resource.RUSAGE_SELF); "
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr); sys.exit(code)"
    )
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(done.stderr)
    cpu, memory = map(float, done.stderr.split()[-2:])
    return seconds, cpu, memory, done.stdout


def size(folder: Path) -> tuple[int, int]:
    """Count files and their bytes."""
    found = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return len(found), sum(found)


def main(hosts: int, runs: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        start = time.perf_counter()
        for host in range(hosts):
            write(root / "trials" / f"node{host:04}", host, runs)
        written = time.perf_counter() - start
        files, total = size(root / "trials")
        print(f"{hosts} trials x {runs} runs: {files} files, {total / 1e6:.0f} MB")
        print(f"generated in {written:.1f} s")
        trials = sorted(str(path) for path in (root / "trials").iterdir())
        seconds, cpu, memory, _ = timed("merge", *trials, "-o", str(root / "fleet"), "--json")
        print(f"{'merge:':<16}{seconds:6.1f} s  {cpu:6.1f} s CPU  {memory:5.0f} MB")
        spent, worked = seconds, cpu
        for command in ("verdict", "verdict --json"):
            name, *more = command.split()
            seconds, cpu, memory, out = timed(name, str(root / "fleet"), *more)
            told = f"{len(json.loads(out)['hosts'])} hosts" if more else out.splitlines()[0]
            print(
                f"{command + ':':<16}{seconds:6.1f} s  {cpu:6.1f} s CPU  {memory:5.0f} MB  {told}"
            )
            spent, worked = (spent, worked) if more else (spent + seconds, worked + cpu)
        print(f"merged and judged in {spent:.1f} s, {worked:.1f} s of a CPU")


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(given[0] if given else 1000, given[1] if len(given) > 1 else 1000)
