"""How long the sources of variation of a large trial take, and what of it is modes.

A trial in memory: 40 benchmarks x 3 sessions x 100 runs with 12 factors beside its order, 2,000 orders
each, in a fresh process; the processor's time is given beside the clock's. Execute it by hand::

    python tests/benchmarks/variance_sources.py

Figure to reach: 30 s.
"""

from __future__ import annotations

import importlib.util
import resource
import time
from pathlib import Path
from types import ModuleType

import numpy as np

from analysis.diagnose.modes import sources
from analysis.methods.variance_sources.fit import within_trials as without_modes


def planted() -> ModuleType:
    """Load the module that makes trials for tests."""
    path = Path(__file__).parents[1] / "planted.py"
    spec = importlib.util.spec_from_file_location("planted", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    trial = planted().unrelated(
        np.random.default_rng(1), factors=12, sessions=3, runs=100, benchmarks=40
    )
    for what, answer in (("components and factors", without_modes), ("with modes", sources)):
        clock, busy = time.perf_counter(), time.process_time()
        found = answer(trial, permutations=2000, rng=np.random.default_rng(2))
        text = str(found)
        clock, busy = time.perf_counter() - clock, time.process_time() - busy
        factors = len({one.factor for one in found.factors})
        print(
            f"{what}: {clock:.1f} s ({busy:.1f} s of processors), {len(trial):,} runs, {factors} "
            f"factors, {len(found.factors)} tests, {len(text):,} characters"
        )
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
