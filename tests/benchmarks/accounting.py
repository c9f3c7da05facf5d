"""What the account of a run costs, and how well it closes under load.

Cost: the calls that a run adds, outside its clock, beside a program that has just ended. Closing: single-threaded programs
that spin for 10 ms while others want the same CPU; wall = on a CPU + waited + other, and `other` is
what nobody accounts for.

    python tests/benchmarks/accounting.py [--runs 300] [--others 3]      needs cc; the real-time class as root
"""

from __future__ import annotations

import argparse
import os
import select
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from harness.campaign.model import Isolation
from harness.launch.client import LauncherClient
from harness.launch.exchange import LaunchRequest
from harness.launch.in_launcher.cgroups import Account
from harness.launch.matching import Interrupts

HERE = Path(__file__).parent


def cost_us(spin: str, runs: int) -> list[float]:
    """Give the time of all calls of one account, run by run; the programs end before it is taken."""
    account, taken = Account(), []
    for _ in range(runs):
        begin = time.perf_counter_ns()
        account.begin()
        first = time.perf_counter_ns() - begin
        pid = os.posix_spawn(spin, [spin], {})
        pidfd = os.pidfd_open(pid)
        poller = select.poll()
        poller.register(pidfd, select.POLLIN)
        poller.poll()
        begin = time.perf_counter_ns()
        account.end(pid)
        account.numbers(10**6, 10**5, 0.0)
        taken.append((first + time.perf_counter_ns() - begin) / 1000)
        os.wait4(pid, 0)
        os.close(pidfd)
    return taken


def closing_ms(spin: str, cpu: int, runs: int, others: int) -> list[tuple[float, float]]:
    """Give (other, waited) of runs of 10 ms, in ms, while so many programs spin on their CPU."""
    neighbours = [
        subprocess.Popen(["taskset", "-c", str(cpu), spin, "3600000000"]) for _ in range(others)
    ]
    free = os.sched_getaffinity(0)
    os.sched_setaffinity(0, free - {cpu} or free)
    launcher = LauncherClient(Isolation(), (cpu,), Interrupts(), stays=len(free) > 1)
    request = LaunchRequest(path=spin, argv=(spin, "10000"), env={}, cwd=Path("/"))
    found = []
    try:
        for _ in range(runs):
            run = launcher.execute(request).numbers
            if run["on_cpu_ns"] is None:
                continue
            waited = run["run_delay_ns"] + run["launcher_delay_ns"] - run["launcher_on_cpu_ns"]
            other = run["wall_ns"] - run["on_cpu_ns"] - waited
            found.append((other / 1e6, waited / 1e6))
    finally:
        launcher.close()
        for process in neighbours:
            process.kill()
            process.wait()
        os.sched_setaffinity(0, free)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--others", type=int, default=3)
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    args = parser.parse_args()
    print(f"CPU {args.cpu}, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        spin = str(Path(folder) / "spin")
        subprocess.run(["cc", "-O2", "-static", "-o", spin, HERE / "c" / "spin.c"], check=True)
        for others in (0, args.others):
            runs = closing_ms(spin, args.cpu, args.runs, others)
            closed = sum(abs(other) < 0.5 for other, _ in runs) / len(runs)
            middle = statistics.median(other for other, _ in runs)
            waited = statistics.median(waited for _, waited in runs)
            print(
                f"beside {others} others: {closed:.1%} of {len(runs)} runs close within 0.5 ms, "
                f"other {middle:.3f} ms, waited {waited:.2f} ms (medians)"
            )
        os.sched_setaffinity(0, {args.cpu})
        taken = cost_us(spin, args.runs)
        print(f"cost of one account: {statistics.median(taken):.1f} us, ordinary class")
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        except PermissionError:
            return
        low, middle, high = statistics.quantiles(cost_us(spin, args.runs), n=4)
        print(f"cost of one account: {middle:.1f} us [{low:.1f}, {high:.1f}], real-time class")


if __name__ == "__main__":
    main()
