"""Draw the iterations of 20 processes of one JavaScript program, and list what they are called.

``python docs/draw_warmup.py binarytrees_v8.csv.xz`` takes the measurements of Barrett et al. (columns `process`,
`iteration`, `seconds`), which are not part of this repository, writes ``docs/warmup.svg`` and prints a table of
words and levels; docs/iterations.md has the words.
"""

from __future__ import annotations

import csv
import io
import lzma
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from analysis.plots.axes import Sheet, quantity_scale
from analysis.plots.chart import arranged, write_picture
from analysis.report.run_figures import RunIterations, panel_of
from analysis.stats.steady_state import steady_state

PICTURE = Path(__file__).resolve().with_name("warmup.svg")
_ACROSS = 4


def main(source: str) -> None:
    """Write the picture, print the table."""
    runs: dict[int, list[float]] = defaultdict(list)
    with lzma.open(source) as file:
        for row in csv.DictReader(io.TextIOWrapper(file)):
            runs[int(row["process"])].append(float(row["seconds"]))
    scale = quantity_scale((0.485, 0.525))
    panels = []
    for number, seconds in runs.items():
        values = np.array(seconds)
        found = steady_state(values)
        axes = panel_of([RunIterations(values, found.first)], "c0", scale, "s")
        axes.title = f"{number}: {found.state}"
        axes.y_texts = not (number - 1) % _ACROSS
        panels.append(axes)
        levels = "; ".join(f"{one.first + 1} to {one.end}: {one.value:.4f}" for one in found.levels)
        said = f"{found.first}" if found.steady else "none"
        sys.stdout.write(f"| {number} | {found.state} | {said} | {levels} |\n")
    rows = [panels[k : k + _ACROSS] for k in range(0, len(panels), _ACROSS)]
    picture = arranged(Sheet(width=178.0), rows, 150.0)
    said = "Seconds of each of 2,000 iterations in 20 processes, with the word of each process."
    write_picture(picture, PICTURE, title="warm-up of 20 processes", alt=said)


if __name__ == "__main__":
    main(sys.argv[1])
