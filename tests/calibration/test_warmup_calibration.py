"""How often a simulated process is called what it is, and a flat one otherwise.

Authority: the simulation (`iteration_noise`): the word is right in 90 % or more of each kind, and a flat process is
called otherwise in 5 % or less, each as a binomial bound at 99 %. Negative controls: a price of a change
that is a sixteenth of ours, and a threshold on first differences. `PRICE` was chosen on other draws of the same simulation.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from scipy.stats import binom

from analysis.stats import steady_state as module
from analysis.stats.arguments import stream
from analysis.stats.steady_state import steady_state

made = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("iteration_noise.py"))))
pytestmark = pytest.mark.calibration


def words(processes: int, n: int, kind: str, like: str) -> tuple[int, list[int]]:
    """Count the right words; also give how far the first steady iteration is from where it was put."""
    right, off = 0, []
    for k in range(processes):
        values, begin = made.process(stream(31, like, kind, str(n), str(k)), n, kind, like)
        found = steady_state(values)
        right += found.state == made.WORD.get(kind, kind)
        off.append(abs(found.first - begin))
    return right, off


def at_least(right: int, processes: int, share: float) -> bool:
    """Tell whether so many right ones are compatible with a share, at 99 %."""
    return right >= binom.ppf(0.01, processes, share)


@pytest.mark.parametrize("like", ["v8", "savina"])
@pytest.mark.parametrize("n", [200, 1000, 2000, 10_000])
@pytest.mark.parametrize("kind", made.KINDS)
def test_words_are_right(kind: str, n: int, like: str) -> None:
    processes = 400 if n < 2000 else 200 if n == 2000 else 100
    right, off = words(processes, n, kind, like)
    flat = made.WORD.get(kind, kind) == "flat"
    assert at_least(right, processes, 0.95 if flat else 0.90), (kind, n, like, right)
    if kind in ("warm-up", "slowdown"):
        # what is left of the beginning is a hundredth of the iterations or less in nine of ten
        assert np.quantile(off, 0.9) <= max(5, n // 100)


def by_first_differences(values: np.ndarray) -> str:
    """Call a process restless where an iteration differs from the one before by more than three sd."""
    steps = np.diff(np.log(values))
    return "flat" if (np.abs(steps) <= 3 * steps.std()).all() else "changes"


@pytest.mark.spot_check
def test_spot_check_of_words_with_their_negative_controls() -> None:
    for like in ("v8", "savina"):
        for kind in made.KINDS:
            right, _ = words(20, 400, kind, like)
            assert right >= 17, (kind, like)
    naive = sum(
        by_first_differences(made.process(stream(31, "naive", str(k)), 400, "flat", "savina")[0])
        != "flat"
        for k in range(20)
    )
    assert naive > 10
    with mock.patch.object(module, "PRICE", 0.5):  # as good as no penalty
        right, _ = words(20, 400, "flat", "savina")
    assert right < 17
