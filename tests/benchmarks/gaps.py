"""What the look before each session costs, and what it sees of a CPU.

python tests/benchmarks/gaps.py [--rounds 12] [--seconds 0.2]

For each usable CPU, ordinary and (where it may be had) of the real-time class: the time beyond the one
that was asked for, the share that others took, how many gaps there were, and the longest. The last line looks
at all CPUs at once. Medians of the rounds, whose order is shuffled.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time

from harness.host.activity import look_for_gaps
from harness.host.state import GapLook


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=0.2)
    args = parser.parse_args()
    usable = tuple(sorted(os.sched_getaffinity(0)))
    cells = [((cpu,), priority) for cpu in usable for priority in (0, 1)] + [(usable, 0)]
    seen: dict[tuple[tuple[int, ...], int], list[tuple[float, GapLook]]] = {c: [] for c in cells}
    for _ in range(args.rounds):
        for cell in random.sample(cells, len(cells)):
            begin = time.monotonic()
            look = look_for_gaps(cell[0], args.seconds, priority=cell[1])
            seen[cell].append((time.monotonic() - begin - args.seconds, look))
    print(f"load {os.getloadavg()[0]:.1f} on {len(usable)} CPUs")
    for (cpus, priority), looks in seen.items():
        kind = "real-time" if priority else "ordinary"
        name = f"cpu {','.join(map(str, cpus))} {kind}"
        worst = [look.worst for _, look in looks if look.worst is not None]
        if not worst:
            print(f"{name:<24} {looks[0][1].problem}")
            continue
        median = statistics.median
        print(
            f"{name:<24} +{1e3 * median(cost for cost, _ in looks):.0f} ms, lost "
            f"{100 * median(one.share for one in worst):.2f} %, {median(o.count for o in worst):.0f} "
            f"gaps, longest {1e3 * median(one.longest_s for one in worst):.2f} ms"
        )


if __name__ == "__main__":
    main()
