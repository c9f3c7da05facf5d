"""How much the launcher adds to what it measures, and what a run costs in all.

Rounds are interleaved on one CPU, and every figure is the median over the rounds of a ratio within
one round, so that a drifting machine cancels out. The floor is a C loop of posix_spawn and wait4.

    python tests/benchmarks/launch_path.py [--rounds 15]      needs cc; hyperfine if it is there
"""

from __future__ import annotations

import argparse
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
from harness.campaign import Isolation
from harness.launch.interrupts import Interrupts
from harness.launch.exchange import Request
from harness.launch.client import LauncherClient
ballast = bytearray(os.urandom(1 << 20) * int(sys.argv[2]))
others = os.sched_getaffinity(0) - {int(sys.argv[1])}
os.sched_setaffinity(0, others or os.sched_getaffinity(0))  # as a session does
launcher = LauncherClient(Isolation(), (int(sys.argv[1]),), Interrupts())
env = {os.fsencode(k): os.fsencode(v) for k, v in os.environ.items()}
for line in sys.stdin:
    argv, count = json.loads(line)
    request = Request(path=argv[0], argv=tuple(argv), env=env, cwd=Path("/"))
    walls = [launcher.execute(request).wall_ns for _ in range(count)]
    print(statistics.median(walls) / 1e9, flush=True)
"""

CAMPAIGN = """
name: empty
variants: {{a: {{}}, b: {{}}, c: {{}}, d: {{}}, e: {{}}}}
benchmarks: {{empty: {{command: ["{program}"], stdout: discard, stderr: discard}}}}
protocol: {{sessions: 1, runs: {runs}, warmup: 0}}
isolation: {{cpus: {cpu}}}
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


def floor(program: str, cpu: int) -> Method:
    def measure(argv: list[str], count: int) -> float:
        command = ["taskset", "-c", str(cpu), program, str(count), *argv]
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


def fairtrial(cpu: int, megabytes: int) -> Method:
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


def wall_table(cpu: int, rounds: int, place: Path, rng: random.Random) -> None:
    floor_program, spin = compile_programs(place)
    methods = {
        "floor": floor(floor_program, cpu),
        "fairtrial": fairtrial(cpu, 1),
        "fairtrial + 300 MB": fairtrial(cpu, 300),
    }
    if shutil.which("hyperfine"):
        methods["hyperfine -N"] = hyperfine(cpu, place)
    print("wall time reported, ratio to the C floor: median over rounds [quartiles]")
    for label, argv, count in (
        ("empty", [spin], 200),
        ("10 ms", [spin, "10000"], 20),
        ("100 ms", [spin, "100000"], 5),
    ):
        found: dict[str, list[float]] = {name: [] for name in methods}
        for _ in range(rounds):
            seen = {n: methods[n](argv, count) for n in rng.sample(sorted(methods), len(methods))}
            for name, value in seen.items():
                found[name].append(value / seen["floor"])
            found["floor"][-1] = seen["floor"]
        print(f"  {label}: floor {statistics.median(found['floor']) * 1e6:.0f} us")
        for name in methods:
            if name != "floor":
                print(f"    {name:<20} {_spread(found[name])}")
        pairs = zip(found["fairtrial + 300 MB"], found["fairtrial"], strict=True)
        print(f"    {'300 MB / without':<20} {_spread([big / small for big, small in pairs])}")


def cost_table(cpu: int, rounds: int, place: Path, rng: random.Random) -> None:
    """Whole cost of a run: the slope of the command's time from few runs to many."""
    spin = str(place / "spin")

    def ours(interval: str) -> Callable[[int], float]:
        def seconds(runs: int) -> float:
            campaign = place / "campaign.yaml"
            campaign.write_text(CAMPAIGN.format(program=spin, runs=runs // 5, cpu=cpu))
            command = [sys.executable, "-c", COMMAND, interval, "run", str(campaign), "-q"]
            begin = time.perf_counter()
            subprocess.run([*command, "--dir", str(place / "runs")], check=True)
            return time.perf_counter() - begin

        return seconds

    def theirs(runs: int) -> float:
        command = ["taskset", "-c", str(cpu), "hyperfine", "-N", "--style", "none"]
        begin = time.perf_counter()
        subprocess.run([*command, "--runs", str(runs), spin], check=True, capture_output=True)
        return time.perf_counter() - begin

    ways = {"group sync": ours("1"), "sync per run": ours("0")}
    if shutil.which("hyperfine"):
        ways["hyperfine -N"] = theirs
    few, many = 100, 1600
    costs: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name in rng.sample(sorted(ways), len(ways)):
            costs[name].append((ways[name](many) - ways[name](few)) / (many - few))
    print("whole cost of one run of the empty program")
    for name, values in costs.items():
        text = f"    {name:<20} {statistics.median(values) * 1e6:7.0f} us"
        if "hyperfine -N" in costs:
            pairs = zip(values, costs["hyperfine -N"], strict=True)
            text += f"   ratio to hyperfine -N {_spread([ours / his for ours, his in pairs])}"
        print(text)


def _spread(values: list[float]) -> str:
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.3f} [{low:.3f}, {high:.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--seed", type=int, default=20261121)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    print(f"CPU {args.cpu}, {args.rounds} rounds, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        wall_table(args.cpu, args.rounds, Path(folder), rng)
        cost_table(args.cpu, max(3, args.rounds // 3), Path(folder), rng)


if __name__ == "__main__":
    main()
