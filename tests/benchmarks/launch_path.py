"""How much fairtrial adds to what it measures, and what a run costs in all.

Rounds are interleaved and shuffled on one CPU, and every figure is the median over the rounds of a
ratio within one round, so that a drifting machine cancels out. The floor is a C loop of posix_spawn
and wait4, which spawns with the same variables and attributes; a second row has one variable and none.
"fairtrial" is the command with all that it does between two runs: its rows are read; "auto" gives each run a cgroup
and a namespace where it may, "none" does not.

    python tests/benchmarks/launch_path.py [--rounds 16] [--fifo]      needs cc; hyperfine if it is there

With --fifo (root) everything is in the real-time class, where other programs do not enter: they stand
still meanwhile. There the launcher, of the same priority as its targets, would leave a run's cgroup only
when that has ended, which no trial does: so cgroups are left out. Some five minutes.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
Method = Callable[[list[str], int], float]

# A helper process: answers "argv count" lines with the median wall time in seconds. It holds
# `ballast` bytes, so that the orchestrator's size can be part of the experiment.
SERVER = """
import json, os, statistics, sys
from pathlib import Path
from harness.campaign.model import Isolation
from harness.launch.matching import Interrupts
from harness.launch.client import LauncherClient
from harness.launch.exchange import LaunchRequest
ballast = bytearray(os.urandom(1 << 20) * int(sys.argv[2]))
others = os.sched_getaffinity(0) - {int(sys.argv[1])}
os.sched_setaffinity(0, others or os.sched_getaffinity(0))  # as a session does
launcher = LauncherClient(Isolation(), (int(sys.argv[1]),), Interrupts(), stays=bool(others))
env = {os.fsencode(k): os.fsencode(v) for k, v in os.environ.items()}
for line in sys.stdin:
    argv, count = json.loads(line)
    request = LaunchRequest(path=argv[0], argv=tuple(argv), env=env, cwd=Path("/"))
    walls = [launcher.execute(request).wall_ns for _ in range(count)]
    print(statistics.median(walls) / 1e9, flush=True)
"""

CAMPAIGN = """
name: figures
variants: {{a: {{}}, b: {{}}}}
benchmarks: {{one: {{command: {command}, stdout: discard, stderr: discard}}}}
protocol: {{sessions: 1, runs: {runs}, warmup: 1}}
isolation: {{cpus: {cpu}, containment: {containment}}}
checks: {{probe: 0s}}
"""

# The real command, with the interval between syncs as an argument.
COMMAND = """
import sys, harness.trial.session
harness.trial.session._SYNC_S = float(sys.argv.pop(1))
from harness.cli import console
console()
"""


def compile_programs(place: Path) -> tuple[str, str]:
    for name in ("floor", "spin"):
        static = ["-static"] if name == "spin" else []
        source = HERE / "c" / f"{name}.c"
        subprocess.run(["cc", "-O2", *static, "-o", place / name, source], check=True)
    return str(place / "floor"), str(place / "spin")


def floor(program: str, mode: str, cpu: int) -> Method:
    def measure(argv: list[str], count: int) -> float:
        command = ["taskset", "-c", str(cpu), program, mode, str(count), *argv]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return statistics.median(int(line) for line in text.split()) / 1e9

    return measure


def hyperfine(cpu: int, place: Path) -> Method:
    def measure(argv: list[str], count: int) -> float:
        export = place / "hyperfine.json"
        command = ["taskset", "-c", str(cpu), "hyperfine", "-N", "--style", "none"]
        command += ["--runs", str(count), "--export-json", str(export), " ".join(argv)]
        subprocess.run(command, check=True, capture_output=True)
        return statistics.median(json.loads(export.read_text())["results"][0]["times"])

    return measure


def executed(
    place: Path, cpu: int, argv: list[str], runs: int, *, sync_s: str = "1", containment: str
) -> float:
    """Execute a campaign of so many runs of each of its two variants; give the command's seconds."""
    campaign = place / "campaign.yaml"
    text = CAMPAIGN.format(command=json.dumps(argv), runs=runs, cpu=cpu, containment=containment)
    campaign.write_text(text)
    shutil.rmtree(place / "runs", ignore_errors=True)
    command = [sys.executable, "-c", COMMAND, sync_s, "run", str(campaign), "-q", "--wait-for-lock"]
    begin = time.perf_counter()
    subprocess.run([*command, "--dir", str(place / "runs")], check=True)
    return time.perf_counter() - begin


def fairtrial(cpu: int, place: Path, containment: str) -> Method:
    def measure(argv: list[str], count: int) -> float:
        executed(place, cpu, argv, max(2, count // 2), containment=containment)
        (rows,) = place.glob("runs/*/measurements.jsonl")
        parsed = [json.loads(line) for line in rows.read_text().splitlines()]
        return statistics.median(row["wall_ns"] for row in parsed if not row["warmup"]) / 1e9

    return measure


def served(cpu: int, megabytes: int) -> Method:
    command = [sys.executable, "-c", SERVER, str(cpu), str(megabytes)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdin is not None
    assert server.stdout is not None
    question, answer = server.stdin, server.stdout

    def measure(argv: list[str], count: int) -> float:
        question.write(json.dumps([argv, count]) + "\n")
        question.flush()
        return float(answer.readline())

    return measure


def rounds_of(
    methods: dict[str, Method], argv: list[str], count: int, rounds: int, rng: random.Random
) -> dict[str, list[float]]:
    """Let the methods take turns, shuffled anew in each round."""
    found: dict[str, list[float]] = {name: [] for name in methods}
    for _ in range(rounds):
        for name in rng.sample(sorted(methods), len(methods)):
            found[name].append(methods[name](argv, count))
    return found


def wall_table(cpu: int, rounds: int, place: Path, rng: random.Random, ways: list[str]) -> None:
    floor_program, spin = compile_programs(place)
    methods = {
        "floor, same": floor(floor_program, "same", cpu),
        "floor, one variable": floor(floor_program, "one", cpu),
        **{f"fairtrial, {way}": fairtrial(cpu, place, way) for way in ways},
    }
    if shutil.which("hyperfine"):
        methods["hyperfine -N"] = hyperfine(cpu, place)
    print("wall time reported: median over rounds of the ratio within each [quartiles]")
    for label, argv, count in (
        ("empty", [spin], 160),
        ("10 ms", [spin, "10000"], 24),
        ("100 ms", [spin, "100000"], 6),
    ):
        found = rounds_of(methods, argv, count, rounds, rng)
        print(f"  {label}: floor {statistics.median(found['floor, same']) * 1e6:.0f} us")
        for above in [name for name in methods if not name.startswith("floor")]:
            for below in [name for name in methods if not name.startswith("fairtrial")]:
                if above != below:
                    text = _spread(_ratios(found[above], found[below]))
                    print(f"    {above + ' / ' + below:<40} {text}")


def ballast_table(cpu: int, rounds: int, place: Path, rng: random.Random) -> None:
    """Whether the size of fairtrial itself is seen by its targets."""
    methods = {"small": served(cpu, 1), "300 MB": served(cpu, 300)}
    print("wall time reported by a launcher whose orchestrator holds 300 MB, to one without")
    for label, argv, count in (("empty", [], 160), ("10 ms", ["10000"], 24)):
        found = rounds_of(methods, [str(place / "spin"), *argv], count, rounds, rng)
        print(f"    {label:<32} {_spread(_ratios(found['300 MB'], found['small']))}")


def cost_table(cpu: int, rounds: int, place: Path, rng: random.Random, ways: list[str]) -> None:
    """Whole cost of a run: the slope of the command's time from few runs to many."""
    spin = str(place / "spin")

    def costing(runs: int, **how: str) -> float:
        return executed(place, cpu, [spin], runs // 2, **how)

    def theirs(runs: int) -> float:
        command = ["taskset", "-c", str(cpu), "hyperfine", "-N", "--style", "none"]
        begin = time.perf_counter()
        subprocess.run([*command, "--runs", str(runs), spin], check=True, capture_output=True)
        return time.perf_counter() - begin

    commands: dict[str, Callable[[int], float]] = {
        f"{sync}, {way}": functools.partial(costing, sync_s=sync_s, containment=way)
        for way in ways
        for sync, sync_s in (("group sync", "1"), ("sync per run", "0"))
    }
    if shutil.which("hyperfine"):
        commands["hyperfine -N"] = theirs
    few, many = 100, 1600
    costs: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name in rng.sample(sorted(commands), len(commands)):
            costs[name].append((commands[name](many) - commands[name](few)) / (many - few))
    print("whole cost of one run of the empty program, with its row in the journal")
    for name, values in costs.items():
        text = f"    {name:<40} {statistics.median(values) * 1e6:7.0f} us"
        if "hyperfine -N" in costs:
            text += f"   ratio to hyperfine -N {_spread(_ratios(values, costs['hyperfine -N']))}"
        print(text)


def _ratios(above: list[float], below: list[float]) -> list[float]:
    return [one / other for one, other in zip(above, below, strict=True)]


def _spread(values: list[float]) -> str:
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.3f} [{low:.3f}, {high:.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--fifo", action="store_true", help="in the real-time class, as root")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    if args.fifo:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))  # inherited by all that follow
    how = "real-time class" if args.fifo else "ordinary class"
    print(f"CPU {args.cpu}, {args.rounds} rounds, load {os.getloadavg()[0]:.1f}, {how}")
    with tempfile.TemporaryDirectory() as folder:
        ways = ["none"] if args.fifo else ["auto", "none"]
        wall_table(args.cpu, args.rounds, Path(folder), rng, ways)
        ballast_table(args.cpu, args.rounds, Path(folder), rng)
        cost_table(args.cpu, max(4, args.rounds // 4), Path(folder), rng, ways)


if __name__ == "__main__":
    main()
