"""Make r_values.json anew: synthetic pairs of samples, and what R 4.2.2 says about them.

Execute it by hand, with R installed::

    python tests/golden/speedup_test/make_r_values.py
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
SEED = 20261121
SIZES = (
    *((3, 3), (3, 5), (4, 9), (5, 5), (6, 30), (8, 8), (11, 12), (12, 11), (20, 20), (30, 30)),
    *((30, 31), (31, 30), (31, 31), (49, 49), (49, 50), (50, 49), (50, 50), (99, 101), (99, 100)),
    *((100, 100), (100, 101), (19, 500), (20, 500), (500, 3), (500, 500)),
)
PROPORTIONS = [
    (a, b, confidence)
    for a, b in (
        *((0, 1), (1, 1), (0, 7), (1, 2), (3, 4), (4, 4), (5, 11), (6, 12), (17, 30), (16, 31)),
        *((1, 29), (28, 29), (60, 120), (119, 120), (999, 1000)),
    )
    for confidence in (0.5, 0.9, 0.95, 0.99)
]


def pairs() -> list[tuple[str, list[float], list[float]]]:
    """Draw the pairs: every kind in turn over the sizes, rounded so that the file stays small."""
    rng = np.random.default_rng(SEED)
    done = []
    for place, (n, m) in enumerate(SIZES):
        shift, shifted = rng.lognormal(0, 0.1, n).round(4), rng.lognormal(0, 0.1, m).round(4)
        both = min(n, m)
        shift[:both] = shifted[:both] + 0.3
        kinds = {
            "noise": (rng.lognormal(0.01, 0.05, n).round(6), rng.lognormal(0, 0.05, m).round(6)),
            "faster": (rng.normal(10.6, 0.5, n).round(5), rng.normal(10.3, 0.4, m).round(5)),
            "ties": (rng.normal(10.3, 0.5, n).round(1), rng.normal(10.1, 0.5, m).round(1)),
            "heavy ties": (rng.integers(1, 4, n) * 1.0, rng.integers(1, 4, m) * 1.0),
            "shift": (shift, shifted),
            "tiny": (rng.normal(1.03e-9, 5e-11, n).round(14), rng.normal(1e-9, 5e-11, m).round(14)),
            "huge": (rng.normal(1.02e9, 5e7, n).round(-3), rng.normal(1e9, 3e7, m).round(-3)),
            "skewed": (
                (1 + rng.exponential(0.1, n)).round(5),
                (1 + rng.exponential(0.08, m)).round(5),
            ),
            "spreads": (rng.normal(1, 0.001, n).round(6), rng.normal(1, 0.05, m).round(6)),
            "constant baseline": (np.full(n, 2.3), rng.normal(2.2, 0.1, m).round(4)),
            "constant candidate": (rng.normal(2.2, 0.1, n).round(4), np.full(m, 2.1)),
            "both constant": (np.full(n, 2.3), np.full(m, 2.3 - 0.2 * (place % 2))),
        }
        large = n + m > 300
        for k, (kind, (x, y)) in enumerate(kinds.items()):
            # large pairs of three kinds only, the others of half of the kinds each
            if (k in (0, 2, 6)) if large else (k + place) % 2 == 0:
                done.append((kind, x.tolist(), y.tolist()))
    return done


def by_r(samples: list[tuple[str, list[float], list[float]]]) -> list[dict[str, float | None]]:
    """Give R's values of each pair."""
    with tempfile.TemporaryDirectory() as folder:
        inputs, outputs = Path(folder) / "samples", Path(folder) / "results"
        lines = [" ".join(float(v).hex() for v in side) for _, x, y in samples for side in (x, y)]
        inputs.write_text("\n".join(lines) + "\n")
        subprocess.run(
            ["Rscript", "--vanilla", str(HERE / "protocol.R"), str(inputs), str(outputs)],
            check=True,
        )
        names, *rows = (line.split() for line in outputs.read_text().splitlines())
    return [
        {
            name: None if word in ("NA", "NaN") else float(word)
            for name, word in zip(names, row, strict=True)
        }
        for row in rows
    ]


def main() -> None:
    """Write the file."""
    samples = pairs()
    values = by_r(samples)
    cells = ";".join(f"p({a},{b},{c})" for a, b, c in PROPORTIONS)
    code = (
        "p<-function(a,b,c)for(y in c(TRUE,FALSE))cat(sprintf('%.17g',suppressWarnings("
        f"prop.test(a,b,conf.level=c,correct=y)$conf.int)),'');{cells}"
    )
    done = subprocess.run(
        ["Rscript", "--vanilla", "-e", code], check=True, capture_output=True, text=True
    )
    ends = np.array(done.stdout.split(), dtype=float).reshape(-1, 4).tolist()
    made = {
        "command": "Rscript --vanilla protocol.R SAMPLES RESULTS; prop.test(a, b, conf.level=, correct=)",
        "R": "4.2.2",
        "proportions": [[*case, *row] for case, row in zip(PROPORTIONS, ends, strict=True)],
        "pairs": [
            {"kind": kind, "x": x, "y": y, "r": row}
            for (kind, x, y), row in zip(samples, values, strict=True)
        ],
    }
    lines = ",\n  ".join(json.dumps(pair) for pair in made.pop("pairs"))
    text = json.dumps(made)[:-1] + f',\n "pairs": [\n  {lines}\n ]\n}}\n'
    (HERE / "r_values.json").write_text(text)


if __name__ == "__main__":
    main()
