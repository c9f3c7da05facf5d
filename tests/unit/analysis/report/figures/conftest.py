"""Subjects of trials whose laws are known."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.importers.reader import Reading
from analysis.report.subject import subject_of

BENCHES = ("a", "b", "c")
FACTORS = {"base": 1.0, "fast": 0.5, "same": 1.0, "slow": 1.3}


@pytest.fixture(scope="module")
def measured(synthetic, tmp_path_factory, once):
    """Write a trial of lognormal runs and judge it; variants are those of FACTORS by name."""

    def judged(variants=("base", "fast"), *, runs=48, sessions=6, benches=BENCHES, **asked):
        rng = np.random.default_rng(5)
        names = variants if isinstance(variants, dict) else {v: FACTORS[v] for v in variants}
        times = {
            name: {
                bench: (0.02 * (k + 1) * factor * np.exp(rng.normal(0, 0.02, runs))).tolist()
                for k, bench in enumerate(benches)
            }
            for name, factor in names.items()
        }
        built = synthetic(times, sessions=sessions)
        trial = built.write(tmp_path_factory.mktemp("trials") / "runs" / "one")
        return subject_of([str(trial)], Reading(), explain=False, **asked)

    return once(judged)


@pytest.fixture
def files(tmp_path):
    """Judge two matrix files, which say nothing of sessions."""

    def judged(runs=20):
        rng = np.random.default_rng(6)
        for name, factor in (("new", 0.8), ("old", 1.0)):
            rows = [
                ",".join(
                    [f"b{k}", *map(repr, (factor * np.exp(rng.normal(0, 0.02, runs))).tolist())]
                )
                for k in range(3)
            ]
            (tmp_path / f"{name}.csv").write_text("\n".join(rows) + "\n")
        sources = [str(tmp_path / f"{name}.csv") for name in ("new", "old")]
        return subject_of(sources, Reading(better="lower"), explain=False)

    return judged
