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

from analysis.stats import steady_state as module
from analysis.stats.arguments import stream
from analysis.stats.steady_state import steady_state
from tests.calibration.made_pairs import at_least

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


def on_ticks(spread: float, n: int, kind: str, processes: int) -> int:
    """Count the right words of independent iterations of 100 ticks, or of what begins 5 % slower."""
    right = 0
    for k in range(processes):
        rng = np.random.default_rng([44, 8, round(100 * spread), n, len(kind), k])
        logs = spread / 100 * rng.standard_normal(n)
        logs[: n // 5] += np.log(1.05) * (kind == "warm-up")
        right += steady_state(np.rint(100 * np.exp(logs))).state == kind
    return right


TICKS = [
    (spread, n, kind)
    for spread in (0.25, 0.5, 0.7, 1.0, 2.0)
    for n in (200, 1000, 2000)
    for kind in ("flat", "warm-up")
]


@pytest.mark.parametrize(
    ("spread", "n", "kind", "processes"),
    [
        pytest.param(0.5, 1000, "flat", 12, marks=pytest.mark.spot_check),
        *((*cell, 200 if cell[1] < 2000 else 100) for cell in TICKS),
    ],
)
def test_words_are_right_on_a_printed_clock(
    spread: float, n: int, kind: str, processes: int
) -> None:
    """rules-2, section 8; the negative control takes the readings as they are printed."""
    assert at_least(on_ticks(spread, n, kind, processes), processes, 0.98)
    if (spread, n, kind) == (0.5, 1000, "flat"):
        with mock.patch.object(module, "off_ticks", lambda values: values):
            assert on_ticks(spread, n, kind, processes) < 0.75 * processes


def by_first_differences(values: np.ndarray) -> str:
    """Call a process restless where an iteration differs from the one before by more than three sd."""
    steps = np.diff(np.log(values))
    return "flat" if (np.abs(steps) <= 3 * steps.std()).all() else "changes"


@pytest.mark.spot_check
def test_spot_check_of_words_with_their_negative_controls() -> None:
    for like in ("v8", "savina"):
        for kind in made.KINDS:
            right, _ = words(10, 400, kind, like)
            assert right >= 8, (kind, like)
    naive = sum(
        by_first_differences(made.process(stream(31, "naive", str(k)), 400, "flat", "savina")[0])
        != "flat"
        for k in range(10)
    )
    assert naive > 5
    with mock.patch.object(module, "PRICE", 0.5):  # as good as no penalty
        right, _ = words(10, 400, "flat", "savina")
    assert right < 8
