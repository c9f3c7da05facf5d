"""What counting adds to the time of a run: four events of the kernel, one, and none.

One launcher has four events, another one; both execute the same static program with and without them.
Rounds are interleaved and shuffled on one CPU; every figure is the median over the rounds of a difference
or ratio within one round, with quartiles. Events of the kernel are there on every machine; those of
a processor cost more where it has to be written to at each switch.

    python tests/benchmarks/counters.py [--rounds 24] [--fifo]      needs cc

With --fifo (root) everything is in the real-time class, where other programs do not enter. About a minute.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from harness.campaign.model import Isolation
from harness.host.counters import plan_of
from harness.host.state import Tree
from harness.launch.client import LauncherClient
from harness.launch.exchange import LaunchRequest
from harness.launch.matching import Interrupts

HERE = Path(__file__).parent
FOUR = ("page-faults", "task-clock", "minor-faults", "major-faults")
AWAKE_S = 0.025  # a launcher that stays awake after a run keeps the CPU from the other one so long
PROGRAMS = {"empty": ("0", 60), "10 ms": ("10000", 12)}  # spins for so many µs; runs of a batch


def spin(place: Path) -> str:
    subprocess.run(
        ["cc", "-O2", "-static", "-o", place / "spin", HERE / "c" / "spin.c"], check=True
    )
    return str(place / "spin")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--fifo", action="store_true")
    args = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))
    cpu, others = cpus[-1], set(cpus[:-1])
    os.sched_setaffinity(0, others or set(cpus))
    isolation = Isolation(scheduling="fifo" if args.fifo else "other")
    plans = {
        names: plan_of([(name, None) for name in names], Tree(Path("/")), (cpu,))
        for names in (FOUR, FOUR[:1])
    }
    with tempfile.TemporaryDirectory() as folder, Interrupts() as interrupts:
        program = spin(Path(folder))
        launchers = {
            names: LauncherClient(
                isolation, (cpu,), interrupts, stays=bool(others), counters=plan.message
            )
            for names, plan in plans.items()
        }
        answers = [one for launcher in launchers.values() for one in launcher.counters]
        assert not any(one.number for one in answers), f"not every event can be had: {answers}"
        env = {os.fsencode(name): os.fsencode(text) for name, text in os.environ.items()}
        for title, (argument, runs) in PROGRAMS.items():
            request = LaunchRequest(path=program, argv=(program, argument), env=env, cwd=Path("/"))

            def batch(names: tuple[str, ...], *, count: bool, request=request, runs=runs) -> float:
                launcher = launchers[names]
                launcher.execute(request, count=count)  # opens the events, or closes them
                walls = [launcher.execute(request, count=count).wall_ns for _ in range(runs)]
                time.sleep(AWAKE_S)
                return statistics.median(walls) / 1000

            report(title, rounds(args.rounds, batch))
        for launcher in launchers.values():
            launcher.close()


def rounds(number: int, batch) -> dict[str, list[tuple[float, float]]]:
    """Give (without, with) of each round, in µs; "none" is without twice."""
    found: dict[str, list[tuple[float, float]]] = {"none": [], "one event": [], "four events": []}
    for _ in range(number):
        jobs = [(FOUR, False), (FOUR, False), (FOUR, True), (FOUR[:1], False), (FOUR[:1], True)]
        order = random.sample(range(len(jobs)), len(jobs))
        times = {k: batch(jobs[k][0], count=jobs[k][1]) for k in order}
        found["none"].append((times[0], times[1]))
        found["four events"].append((times[0], times[2]))
        found["one event"].append((times[3], times[4]))
    return found


def report(title: str, found: dict[str, list[tuple[float, float]]]) -> None:
    base = statistics.median(off for off, _ in found["four events"])
    print(f"{title}: {base:.0f} µs without counters, {len(found['none'])} rounds")
    for name, pairs in found.items():
        added = statistics.quantiles([on - off for off, on in pairs], n=4)
        ratio = statistics.quantiles([on / off for off, on in pairs], n=4)
        print(
            f"  {name:<12} adds {added[1]:6.1f} µs [{added[0]:.1f}, {added[2]:.1f}]"
            f"   ratio {ratio[1]:.4f} [{ratio[0]:.4f}, {ratio[2]:.4f}]"
        )


if __name__ == "__main__":
    main()
