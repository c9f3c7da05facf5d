"""Reads the clock on CPUs as fast as it can and counts when it could not: a script of its own.

Started with ``-I -S`` it imports the standard library only, has no other thread, and is pinned and
scheduled as a target would be. Arguments: CPUs with commas, nanoseconds, FIFO priority or 0, niceness.
Prints one JSON list: an object a CPU, or what was refused. What is learnt by it says `gaps`.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time

GAP_NS = 2_000  # reading the clock takes a twentieth of that: what takes longer was not ours
_SLICE_NS = 500_000_000


def look(cpu: int, ns: int, priority: int, nice: int) -> dict[str, int | str]:
    """Look for `ns` nanoseconds, in slices: between them it sees whether anybody still waits."""
    try:
        os.sched_setaffinity(0, {cpu})
        if nice:
            os.setpriority(os.PRIO_PROCESS, 0, nice)
        if priority:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except OSError as error:
        return {"cpu": cpu, "refused": str(error.strerror)}
    parent = os.getppid()
    clock = time.monotonic_ns
    looked = lost = gaps = longest = 0
    while looked < ns and os.getppid() == parent:
        begin = last = clock()
        end = begin + min(_SLICE_NS, ns - looked)
        while last < end:
            now = clock()
            passed = now - last
            if passed > GAP_NS:
                lost += passed
                gaps += 1
                longest = max(longest, passed)
            last = now
        looked += last - begin
    return {"cpu": cpu, "looked": looked, "lost": lost, "gaps": gaps, "longest": longest}


def look_at(cpus: list[int], ns: int, priority: int, nice: int) -> list[dict[str, int | str]]:
    """Look at all CPUs at the same time, each by a process of its own."""
    if len(cpus) == 1:
        return [look(cpus[0], ns, priority, nice)]
    pipes = []
    for cpu in cpus:
        source, sink = os.pipe()
        if os.fork() == 0:
            os.close(source)
            os.write(sink, json.dumps(look(cpu, ns, priority, nice)).encode())
            os._exit(0)
        os.close(sink)
        pipes.append(source)
    found = []
    for source in pipes:
        with open(source, "rb") as file:  # noqa: PTH123 - a descriptor has no path
            found.append(json.loads(file.read()))
    return found


if __name__ == "__main__":
    gc.disable()
    numbers = [int(text) for text in sys.argv[1].split(",")]
    os.write(1, json.dumps(look_at(numbers, *map(int, sys.argv[2:5]))).encode())
