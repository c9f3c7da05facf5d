"""Writes expected.json with the analysis that is imported: executed once, with version 0.2.0.

PYTHONPATH=/path/to/0.2.0 python tests/golden/equal_numbers/record.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.hosts import over_hosts
from analysis.verdict.gate import gate
from analysis.version import VERSION

NUMBERS = (
    *("speedup", "low", "high", "error", "freedom", "pvalue", "pvalue_equivalent"),
    *("pvalue_adjusted", "pvalue_equivalent_adjusted", "outcome"),
)
DESIGNS = {  # sessions and runs of each benchmark, whether sides share sessions, whether they have any
    "separate, 2 sessions": ([(2, 3)] * 3, False, True),
    "separate, 6 sessions": ([(6, 2)] * 8, False, True),
    "separate, each benchmark its own": ([(5, 1), (3, 1), (5, 1)], False, True),
    "separate, one benchmark": ([(4, 2)], False, True),
    "paired": ([(5, 2)] * 4, True, True),
    "one session, runs": ([(1, 7), (1, 4)], True, False),
}


def drawn(seed, cells, *, first=0, known=True, sd=0.01, name="new"):
    rng = np.random.default_rng(seed)
    rows, ids = {}, {}
    for k, (sessions, runs) in enumerate(cells):
        ids[f"b{k}"] = np.repeat(np.arange(sessions), runs) + first
        level = sd * rng.standard_normal(sessions)[ids[f"b{k}"] - first]
        rows[f"b{k}"] = np.exp(0.004 * k + level + sd * rng.standard_normal(ids[f"b{k}"].size))
    more = {"sessions": ids} if known else {}
    return PerformanceMatrix.from_samples(name, rows, better="lower", **more)


def sides(seed, cells, shared, known):
    new = drawn(seed, cells, known=known)
    first = 0 if shared else 100
    return new, drawn(seed + 1, cells, first=first, known=known, sd=0.02, name="old")


def told(lines):
    found = [line.to_dict() for line in lines if line is not None]
    return [{name: line[name] for name in NUMBERS if name in line} for line in found]


def computed():
    """Give the numbers of all designs, of their gates, and of fleets of such hosts."""
    found = {}
    for seed, (name, design) in enumerate(DESIGNS.items()):
        result = multilevel(*sides(100 * seed, *design))
        lines = gate(result, "slower>1%").to_dict()["candidates"][0]["benchmarks"]
        hosts = {f"h{k}": multilevel(*sides(100 * seed + 10 * k, *design)) for k in range(1, 4)}
        like = over_hosts(hosts)
        found[name] = {
            "lines": told((*result.benchmarks, result.these, result.similar)),
            "gate": [[line["pvalue_condition"], line["outcome"]] for line in lines],
            "hosts like these": told((*like.benchmarks, like.these, like.similar)),
            "on these hosts": told((*like.hosts.benchmarks, like.hosts.these, like.hosts.similar)),
            "disagreements": [[d.host, d.benchmark, d.pvalue] for d in like.hosts.disagreements],
        }
    new, old = (drawn(7 + k, [(1, 6)], first=9 * k, name=n) for k, n in enumerate(("new", "old")))
    found["confounded"] = multilevel(new, old).occasions
    return found


if __name__ == "__main__":
    source = f"tests/golden/equal_numbers/record.py with fairtrial {VERSION}"
    text = json.dumps({"source": source, "designs": computed()}, indent=1)
    Path(__file__).with_name("expected.json").write_text(text + "\n")
    sys.stdout.write(f"{source}\n")
