"""Make means.json from the nightly runs of the Go benchmarks, which are not part of this project.

python tests/golden/go_nights/make_means.py PATH/go_bent_even.csv.xz
"""

from __future__ import annotations

import csv
import json
import lzma
import math
import sys
from collections import defaultdict
from pathlib import Path

SOURCE = (
    "golang/perf, cmd/benchseries/testdata (BSD-3-Clause): 13 nights of one machine, toolchain Base, "
    "the same commit every night. Mean logarithm of ns/op over the odd and over the even runs of each "
    "night, for the benchmarks that have all 25 runs every night"
)


def means(path: str) -> dict[str, object]:
    runs: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["toolchain"] == "Base":
                cell = runs[row["benchmark"]][row["stamp"]]
                cell[int(row["run"])] = math.log(float(row["ns_per_op"]))
    nights = sorted({stamp for cells in runs.values() for stamp in cells})
    whole = sorted(
        bench
        for bench, cells in runs.items()
        if all(len(cells.get(night, ())) == 25 for night in nights)
    )

    def mean(cell: dict[int, float], odd: int) -> float:
        chosen = [value for run, value in cell.items() if run % 2 == odd]
        return round(math.fsum(chosen) / len(chosen), 7)

    return {
        "source": SOURCE,
        "nights": nights,
        "benchmarks": whole,
        "means": [
            [[mean(runs[bench][night], odd) for bench in whole] for odd in (1, 0)]
            for night in nights
        ],
    }


if __name__ == "__main__":
    found = means(sys.argv[1])
    Path(__file__).with_name("means.json").write_text(json.dumps(found, separators=(",", ":")))
