"""How often one program under two names has a function named, and how often a planted one is the first row.

Authority: Student's t over independent sessions and Holm's bound, at 5 % over all rows. Programs are drawn anew each
time: shares of 60 functions, times and shares that vary between sessions, and three ways in which a sample falls.
Negative controls: no correction for the number of rows, and no least error of counting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy.stats import binom

from analysis.stats.arguments import stream
from analysis.why import parts as dividing
from analysis.why.intervals import by_evidence, corrected
from analysis.why.names import FunctionName
from analysis.why.parts import Parts
from analysis.why.result import Row
from analysis.why.session_table import SessionTable, Side

pytestmark = pytest.mark.calibration

FUNCTIONS, RUNS, MS = 60, 3, 30.0
NAMES = tuple(FunctionName(f"f{k:02}", "app") for k in range(FUNCTIONS))
Draw = Callable[[np.random.Generator, np.ndarray, int], np.ndarray]


def independent(rng: np.random.Generator, shares: np.ndarray, samples: int) -> np.ndarray:
    """Let each sample fall on its own."""
    return rng.multinomial(samples, shares)


def in_pieces(rng: np.random.Generator, shares: np.ndarray, samples: int) -> np.ndarray:
    """Let samples fall at a fixed rate on runs that execute one function after the other."""
    found = np.zeros(FUNCTIONS, dtype=np.int64)
    ends = np.cumsum(shares)
    for _ in range(RUNS):
        each = samples // RUNS
        places = (np.arange(each) + rng.random()) / each
        found += np.bincount(
            np.searchsorted(ends, places).clip(max=FUNCTIONS - 1), minlength=FUNCTIONS
        )
    return found


def wandering(rng: np.random.Generator, shares: np.ndarray, samples: int) -> np.ndarray:
    """Let shares differ by 20 % from session to session, as caches and pages have it."""
    moved = shares * np.exp(0.2 * rng.standard_normal(FUNCTIONS))
    return rng.multinomial(samples, moved / moved.sum())


LAWS: dict[str, Draw] = {"independent": independent, "in pieces": in_pieces, "wandering": wandering}
SHAPES = (
    (4, 60),
    (4, 300),
    (6, 48),
    (6, 300),
    (12, 150),
)  # sessions, samples a session and variant


def side(
    rng: np.random.Generator, law: Draw, shares: np.ndarray, sessions: int, samples: int, ms: float
) -> Side:
    counts = np.array([law(rng, shares, samples) for _ in range(sessions)])
    times = ms * np.exp(0.03 * rng.standard_normal(sessions))
    return Side(
        counts=counts,
        samples=counts.sum(axis=1),
        runs=np.full(sessions, RUNS),
        sampled=times,
        unseen=np.zeros(sessions),
        wall=times,
        waiting=np.zeros(sessions),
    )


def family(
    rng: np.random.Generator,
    law: Draw,
    sessions: int,
    samples: int,
    slower: tuple[int, float] = (0, 0.0),
) -> list[Row]:
    """Give the rows of a program against itself, or against one in which a function takes so much longer."""
    shares = rng.dirichlet(np.full(FUNCTIONS, 0.3))
    place, more = slower
    after = MS * shares
    after[place] += more
    total = float(after.sum())
    table = SessionTable(
        names=NAMES,
        sessions=tuple(range(1, sessions + 1)),
        left_out=(),
        baseline=side(rng, law, shares, sessions, samples, MS),
        candidate=side(rng, law, after / total, sessions, samples, total),
        was={},
        unused=(),
    )
    return Parts.of(table, 0.95).family


def named(rows: Sequence[Row]) -> bool:
    return any(row.named for row in corrected([*rows], 0.05, names=True))


def alarms(law: str, sessions: int, samples: int, trials: int, label: str, judge=named) -> int:
    """Count the trials of one program under two names in which anything is named."""
    return sum(
        judge(family(stream(31, "why", label, law, str(k)), LAWS[law], sessions, samples))
        for k in range(trials)
    )


def uncorrected(rows: Sequence[Row]) -> bool:
    return any(row.pvalue is not None and row.pvalue <= 0.05 for row in rows)


def at_most(count: int, trials: int, share: float) -> bool:
    """Tell whether so many are compatible with a share, at 99 %."""
    return count <= binom.ppf(0.99, trials, share)


@pytest.mark.parametrize(("sessions", "samples"), SHAPES)
@pytest.mark.parametrize("law", LAWS)
def test_one_program_under_two_names_has_no_function_named(law, sessions, samples):
    label = f"{sessions}/{samples}"
    assert at_most(alarms(law, sessions, samples, 1500, label), 1500, 0.05)


@pytest.mark.parametrize("law", LAWS)
def test_without_the_correction_names_are_false(law):
    assert alarms(law, 6, 300, 200, "no holm", uncorrected) > 40


def test_without_the_least_error_of_counting_more_names_are_false(monkeypatch):
    trials = 1500
    assert at_most(alarms("independent", 4, 60, trials, "counting"), trials, 0.05)
    monkeypatch.setattr(dividing, "counting_variance", lambda *_: 0.0)
    assert not at_most(alarms("independent", 4, 60, trials, "counting"), trials, 0.05)


@pytest.mark.spot_check
def test_spot_check_of_false_names_with_its_negative_control():
    assert at_most(alarms("independent", 6, 300, 60, "spot"), 60, 0.05)
    assert alarms("independent", 6, 300, 20, "spot", uncorrected) > 5


@pytest.mark.parametrize(("sessions", "samples", "share"), [(6, 300, 0.95), (12, 150, 0.95)])
def test_a_function_that_takes_4_ms_more_is_the_first_row(sessions, samples, share):
    trials, found = 300, 0
    for k in range(trials):
        rng = stream(31, "why", "planted", f"{sessions}/{samples}/{k}")
        place = int(rng.integers(FUNCTIONS))
        rows = corrected(
            family(rng, independent, sessions, samples, (place, 4.0)), 0.05, names=True
        )
        first = min(rows, key=by_evidence)
        found += first.named and first.function == NAMES[place].function
    assert found >= binom.ppf(0.01, trials, share)
