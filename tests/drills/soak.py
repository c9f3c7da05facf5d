"""Very many real runs in one session: does the memory of orchestrator and launcher stay flat?

The claim is that the last quarter of the runs needs no more memory than the second one: what
grows with every run would show, what is set up in the first quarter does not.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from arena import Arena, Process, closing
from invariants import of_a_finished_trial
from kills import launchers
from row import Row

GROWTH = 1.05
_SLACK_MB = 1.0
Sample = tuple[int, float, float]  # rows, MB of the orchestrator, MB of the largest launcher


def resident_mb(pid: int) -> float:
    """Give the resident memory of a process, 0 when it has gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * 4096 / 1e6


def quarters(samples: Sequence[Sample], runs: int) -> dict[str, tuple[float, float]]:
    """Give the median memory of each process in the second and in the last quarter of the runs."""
    found = {}
    for k, name in ((1, "orchestrator"), (2, "launcher")):
        second, last = (
            [sample[k] for sample in samples if a <= sample[0] / runs <= b and sample[k]]
            for a, b in ((0.25, 0.5), (0.75, 1.0))
        )
        if second and last:
            found[name] = (statistics.median(second), statistics.median(last))
    return found


def growth(samples: Sequence[Sample], runs: int) -> list[str]:
    """Say whose memory is larger in the last quarter than in the second, and who was not seen."""
    found = quarters(samples, runs)
    unseen = {"orchestrator", "launcher"} - found.keys()
    return [f"memory: too few looks at the {name}" for name in sorted(unseen)] + [
        f"memory of the {name}: {second:.1f} MB in the second quarter, {last:.1f} MB in the last"
        for name, (second, last) in found.items()
        if last > GROWTH * second + _SLACK_MB
    ]


def sampled(arena: Arena, process: Process, runs: int) -> list[Sample]:
    """Look at the memory some four hundred times until the trial ends."""
    samples: list[Sample] = []
    looked, row_size = 0, 1
    while process.poll() is None:
        time.sleep(0.05)
        trial = arena.trial()
        measurements = trial / "measurements.jsonl" if trial else None
        if measurements is None or not measurements.exists():
            continue
        with measurements.open("rb") as file:
            row_size = max(row_size, len(file.readline()))
        rows = measurements.stat().st_size // row_size
        if rows - looked >= max(1, runs // 400):
            looked = rows
            theirs = max((resident_mb(pid) for pid in launchers(process)), default=0.0)
            samples.append((rows, resident_mb(process.pid), theirs))
    return samples


def drill(seed: int, count: int) -> list[Row]:
    """Execute `count` runs of ``/bin/true``; `seed` is that of their order."""
    with tempfile.TemporaryDirectory(prefix="fairtrial-drill-") as folder:
        arena = Arena(
            Path(folder),
            seed=seed,
            benchmarks={"true": {"command": ["/bin/true"]}},
            protocol={"sessions": 1, "runs": count // 2, "warmup": 0},
        )
        with closing(arena):
            began = time.monotonic()
            process = arena.start(*arena.way_on())
            samples = sampled(arena, process, count)
            seconds = time.monotonic() - began
            arena.hold(process.wait(), (0,))
            arena.bury()
            trial = arena.trial()
            wrong = of_a_finished_trial(trial) if trial else ["there is no trial"]
            runs = len(arena.rows())
        failed = [*arena.violations, *wrong, *growth(samples, count)]
    sizes = (f"{name} {a:.1f} -> {b:.1f}" for name, (a, b) in quarters(samples, count).items())
    return [
        Row(
            drill="soak",
            tried=count,
            runs=runs,
            wrong=sum(text.startswith("row") for text in wrong),
            left=arena.left,
            failed={text: 1 for text in failed},
            note=f"MB in the second and the last quarter: {', '.join(sizes)}; "
            f"{count / seconds:.0f} runs a second",
        )
    ]
