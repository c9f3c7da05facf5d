"""What a fleet costs: generating, merging and judging the trials of many hosts.

So many trials of 1,000 runs (4 benchmarks x 2 variants x 5 sessions x 25 runs) are written, put together with
``fairtrial merge`` and judged with ``fairtrial verdict``, each command a process of its own. Execute it
by hand; the second number is of runs a host::

    python tests/benchmarks/fleet.py [HOSTS] [RUNS]

Figures to reach with 1,000 hosts: merged and judged in 2 minutes, in less than 1 GB.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from large_trials import Row, run_of, write_trial

from analysis.record.shapes import encode
from analysis.record.trial_files import CAMPAIGN, ENVIRONMENT, FINDINGS

VARIANTS, BENCHMARKS, SESSIONS = ("old", "new"), ("text", "logs", "random", "web"), 5


def write(folder: Path, host: int, runs: int) -> None:
    """Write the finished trial of a host, with shifts of its own and of its sessions."""
    rng = random.Random(host)
    effect = -0.1 + rng.gauss(0, 0.02) + (0.2 if host == 7 else 0.0)
    cells = [(bench, variant) for bench in BENCHMARKS for variant in VARIANTS]
    shifts: dict[tuple[str, str, int], float] = {}

    def measured(planned: Row) -> Row:
        key = planned["benchmark"], planned["variant"], planned["session"]
        if key not in shifts:
            shifts[key] = rng.gauss(0, 0.005)
        log = (effect if key[1] == "new" else 0.0) + shifts[key] + rng.gauss(0, 0.01)
        wall = 20_000_000 * 2.718281828**log
        more = {"max_rss_bytes": 50 << 20, "cpus": [3], "exit_code": 0, "metrics": {}}
        return run_of(planned["position"], wall, **more)

    environment = {
        "session": 1,
        "host": {"name": f"node{host:04}", "machine_id_sha256": f"{host:064x}"},
        "cpu": {"model": "a processor", "governor": "powersave" if host == 7 else "performance"},
        "kernel": {"release": "6.1.0"},
        "targets": {f"{b}/{v}": {"path": f"/bin/{v}", "sha256": "1" * 64} for b, v in cells},
    }
    write_trial(
        folder,
        (BENCHMARKS, VARIANTS, SESSIONS, runs // (len(cells) * SESSIONS)),
        measured,
        files={
            CAMPAIGN: b"name: fleet\n",
            ENVIRONMENT: encode(environment) + b"\n",
            FINDINGS: b"",
        },
        trial=f"fleet-node{host:04}",
        campaign_name="fleet",
        seed=host,
        host=f"node{host:04}",
        host_id=f"{host:064x}",
        cpu_model="a processor",
        finished="2026-11-22T11:00:00.000000Z",
    )


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
