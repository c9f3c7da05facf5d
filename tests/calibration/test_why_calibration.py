"""How often one program under two names has a function named, and how often a planted one is the first row.

Authority: Student's t over independent sessions and Holm's bound, at 5 % over all rows. Programs are drawn anew each
time: shares of 60 functions, times and shares that vary between sessions, and three ways in which a sample falls.
Negative controls: no correction for the number of rows, no least error of counting, and metrics each by itself.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

from analysis.diagnose import explain as dividing
from analysis.diagnose.explain import (
    by_evidence,
    corrected,
    judged_counters,
    parts_of,
    row_of,
)
from analysis.diagnose.session_profiles import FunctionName, SessionTable, Side
from analysis.diagnose.why_result import Counter, Row, story_of
from analysis.stats.arguments import stream
from tests.calibration.made_pairs import at_most

pytestmark = pytest.mark.calibration
planted = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "planted.py")))

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
    functions, others = parts_of(table, 0.95)
    return [*(row for row, _ in functions.values()), *others]


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


@pytest.mark.parametrize(("sessions", "samples"), [(6, 300), (12, 150)])
def test_a_function_that_takes_4_ms_more_is_the_first_row_and_its_interval_holds_4(
    sessions, samples
):
    trials, found, held = 300, 0, 0
    for k in range(trials):
        rng = stream(31, "why", "planted", f"{sessions}/{samples}/{k}")
        place = int(rng.integers(FUNCTIONS))
        rows = corrected(
            family(rng, independent, sessions, samples, (place, 4.0)), 0.05, names=True
        )
        first = min(rows, key=by_evidence)
        found += first.named and first.function == NAMES[place].function
        planted_row = next(row for row in rows if row.function == NAMES[place].function)
        held += planted_row.low_ms <= 4.0 <= planted_row.high_ms
    assert found >= binom.ppf(0.01, trials, 0.95)
    assert held >= binom.ppf(0.01, trials, 0.95)


def told(k: int) -> tuple[Sequence[Counter], str | None]:
    """Judge the counters of one program under two names: seven metrics that vary by session and run."""
    rng = stream(31, "why", "counters", str(k))
    frame = planted.frame(rng, sessions=6, runs=3, variants=2)

    def noise(of_sessions: float, of_runs: float) -> np.ndarray:
        moved = of_sessions * rng.standard_normal((2, 6))[frame.variant, frame.session - 1]
        return np.exp(moved + of_runs * rng.standard_normal(len(frame)))

    counts = {name: 1e8 * noise(0.01, 0.01) for name in ("instructions", "cycles", "cache-misses")}
    on_cpu = 0.03 * noise(0.02, 0.02)
    made = planted.filled(
        frame,
        np.log(on_cpu + 0.002 * noise(0.2, 0.2)),
        metrics=counts,
        user_s=on_cpu,
        system_s=0.003 * noise(0.05, 0.05),
        minor_faults=np.round(200 * noise(0.02, 0.02)),
    )
    source = {name: {**one, "source": "counters"} for name, one in made.manifest.metrics.items()}
    made = replace(made, manifest=replace(made.manifest, metrics=source))
    off = 1e3 * (made.values("wall") - on_cpu)
    sides = [
        np.array([off[(frame.variant == v) & (frame.session == s)].mean() for s in range(1, 7)])
        for v in (0, 1)
    ]
    waits = [row_of(*sides, 0.95, function="off-CPU")]
    counters, rows = judged_counters(made, "b0", "v0", "v1", confidence=0.95, waits=waits)
    return counters, story_of(counters, rows, risk=0.05)


def test_one_program_under_two_names_has_no_story():
    trials = 300
    answers = [told(k) for k in range(trials)]
    assert at_most(sum(story is not None for _, story in answers), trials, 0.05)
    words = [any(one.word in ("faster", "slower") for one in counters) for counters, _ in answers]
    assert at_most(sum(words), trials, 0.05)
    # the negative control: each by itself
    alone = [any(one.pvalue <= 0.05 for one in counters) for counters, _ in answers]
    assert not at_most(sum(alone), trials, 0.1)
