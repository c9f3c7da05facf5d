"""How often several benchmarks together have an interval without a change, and how often the cause is named wrongly.

Authority: with Holm's correction no interval of any series is without a change with 1 - risk (Bonferroni's bound over
series, each by narrowest significance pursuit); with Benjamini's and Hochberg's the expected share of named series
that have such an interval is at most the risk (Benjamini and Yekutieli 2005). Negative controls: no correction, and
Holm's own levels, which let series that changed err again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from analysis.history.changes import changes_at, looked_at
from analysis.history.judged import History
from analysis.history.judging import judge_nights
from analysis.stats.arguments import stream
from analysis.stats.multiplicity import Correction, holm_steps
from tests.calibration.made_pairs import at_most
from tests.unit.analysis.history.judged.made_nights import nights_of, series

pytestmark = pytest.mark.calibration

RISK = 0.05
LAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "t3": lambda rng, n: rng.standard_t(3, size=n),
    "lognormal": lambda rng, n: np.exp(rng.normal(size=n)),
}


def suite(
    label: str,
    number: int,
    benchmarks: int,
    nights: int,
    changed: int,
    at: int,
    law: str = "normal",
) -> list[np.ndarray]:
    """Make series of which the first few change by six standard deviations at one night."""
    rng = stream(34, label, str(number))
    made = [0.01 * LAWS[law](rng, nights) for _ in range(benchmarks)]
    for x in made[:changed]:
        x[at:] += 0.06
    return made


def judged(logs: list[np.ndarray], correction: Correction | None) -> History:
    made = (series(x, f"b{k:02d}", paired=False) for k, x in enumerate(logs))
    return judge_nights(nights_of(*made), correction=correction, independent=True)


def false_ones(history: History, changed: int, at: int) -> tuple[int, int]:
    """Count the series that are named, and those of them with an interval that holds no change."""
    named = [(k, one) for k, one in enumerate(history.series) if one.intervals]
    wrong = sum(
        any(k >= changed or not i.first_value < at <= i.last_value for i in one.intervals)
        for k, one in named
    )
    return len(named), wrong


@pytest.mark.parametrize(
    ("law", "changed"), [("normal", 0), ("normal", 6), ("t3", 3), ("lognormal", 0)]
)
def test_with_holm_hardly_any_suite_has_a_false_interval(law: str, changed: int) -> None:
    suites = 300
    wrong = sum(
        false_ones(judged(suite(f"holm {law}", k, 6, 100, changed, 12, law), None), changed, 12)[1]
        > 0
        for k in range(suites)
    )
    assert at_most(wrong, suites, RISK)


@pytest.mark.spot_check
def test_spot_check_of_suites_with_its_negative_control() -> None:
    asked: tuple[Correction, ...] = ("holm", "none")
    wrong = {
        correction: sum(
            false_ones(judged(suite("spot", k, 6, 40, 0, 0), correction), 0, 0)[1] > 0
            for k in range(20)
        )
        for correction in asked
    }
    assert at_most(wrong["holm"], 20, RISK)
    assert not at_most(wrong["none"], 20, RISK)


def test_without_a_correction_many_suites_have_one() -> None:
    suites = 150
    wrong = sum(
        false_ones(judged(suite("none", k, 6, 100, 0, 0), "none"), 0, 0)[1] > 0
        for k in range(suites)
    )
    assert not at_most(wrong, suites, RISK)


def test_the_levels_of_holms_steps_would_let_changed_series_err_again() -> None:
    suites, at = 600, 12
    wrong = 0
    for k in range(suites):
        logs = suite("steps", k, 10, 100, 0, at)
        for x, size in zip(logs, np.linspace(0.015, 0.03, 10), strict=True):
            x[at:] += size  # larger ones all have the least p-value, and Holm's steps are one
        seen = [looked_at(x, corrected=False) for x in logs]
        steps = holm_steps([one.pvalue for one in seen])
        found = [changes_at(one, RISK / step) for one, step in zip(seen, steps, strict=True)]
        wrong += any(not i.first <= at <= i.last for one in found for i in one.intervals)
    assert not at_most(wrong, suites, RISK)


@pytest.mark.parametrize("changed", [0, 12, 24])
def test_with_benjamini_and_hochberg_the_share_of_false_ones_is_small(changed: int) -> None:
    suites, at = 100, 30
    shares = []
    for k in range(suites):
        history = judged(suite("bh", k, 24, 60, changed, at), None)
        assert history.correction == "bh"
        named, wrong = false_ones(history, changed, at)
        shares.append(wrong / max(named, 1))
        assert named >= changed * 0.9
    error = np.std(shares, ddof=1) / np.sqrt(suites)
    assert np.mean(shares) <= RISK + 2.33 * error


@pytest.mark.parametrize(
    ("program", "host", "expected"),
    [(0.05, 0.0, {"program"}), (0.0, 0.05, {"host"}), (0.05, 0.05, {"both"}), (0.0, 0.0, set())],
)
def test_the_cause_is_named_rightly(program: float, host: float, expected: set[str]) -> None:
    trials, at, wrong, found = 200, 40, 0, 0
    for k in range(trials):
        rng = stream(35, f"{program} {host}", str(k))
        late = np.arange(80) >= at
        own = rng.normal(0, 0.01, 80) + host * late
        paired = rng.normal(0, 0.01, 80) + program * late
        history = judge_nights(nights_of(series(paired, own=own)), independent=True)
        told = {one.cause for one in history.series[0].intervals}
        told |= {one.cause for one in history.host_intervals}
        wrong += not told <= expected
        found += told >= expected
    # the two families, of candidates and of baselines, have the risk each
    assert at_most(wrong, trials, 2 * RISK)
    # a false interval of the other family that overlaps takes the word away
    assert at_most(trials - found, trials, RISK)


def test_a_drift_of_the_host_stays_out_of_paired_series_and_not_out_of_plain_ones() -> None:
    trials, changed = 60, {True: 0, False: 0}
    for k in range(trials):
        rng = stream(36, "drift", str(k))
        own = rng.normal(0, 0.01, 80) + np.linspace(0, 0.08, 80)
        noise = rng.normal(0, 0.01, 80)
        for paired in changed:
            logs = noise if paired else own + noise
            made = series(logs, paired=paired, own=own)
            history = judge_nights(nights_of(made), independent=True)
            changed[paired] += bool(history.series[0].intervals)
    assert at_most(changed[True], trials, RISK)
    assert changed[False] > 0.9 * trials
