"""How often a program that hangs is called faster, or passes a gate, where its time limit ends it.

Authority: rules-2, section 2: every word that a cut run's true length could overturn is withheld, so that given a cut run a
wrong word has the rate 0, and all other words are those of trials without any. Negative control on the same draws: runs
that their limit ended are left out, as before.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.data.matrix import CutOff, PerformanceMatrix
from analysis.methods.multilevel.compare import multilevel
from analysis.stats.arguments import stream
from analysis.verdict.gate import gate

pytestmark = pytest.mark.calibration
spot_check = pytest.mark.spot_check

LIMIT = 10.0


def side(name, times):
    """Give a side of which runs of the limit and more were cut."""
    s, r = np.nonzero(times < LIMIT)
    lost, block = np.nonzero(times >= LIMIT)
    made = PerformanceMatrix.from_samples(
        name,
        {"b": times[s, r]},
        better="lower",
        sessions={"b": s},
        blocks={"b": s * 99 + r},
        failed={"b": {int(k): int((lost == k).sum()) for k in set(lost.tolist())}},
        cut={},
        metric="wall",
    )
    if not lost.size:
        return made
    bounds = np.full(lost.size, LIMIT)
    return replace(made, cut={"b": CutOff(lost.size, LIMIT, bounds, lost, lost * 99 + block)})


def rates(label, shares, hangs, sessions, runs, trials):
    """Give how often it is faster, slower, passes: by the rule, by the old one, and how often no run was cut."""
    found = np.zeros((2, 3))
    clean = 0
    for k in range(trials):
        rng = stream(2026, label, str(k))
        sides = []
        for share, chance in zip(shares, hangs, strict=True):
            noise = 0.01 * (
                rng.standard_normal((sessions, 1)) + rng.standard_normal((sessions, runs))
            )
            times = share * np.exp(noise)
            sides.append(np.where(rng.random((sessions, runs)) < chance, 20 * times, times))
        cut = any((times >= LIMIT).any() for times in sides)
        clean += not cut
        ours, theirs = (side(name, t) for name, t in zip(("new", "old"), sides, strict=True))
        for rule, pair in enumerate(((ours, theirs), [replace(x, cut={}) for x in (ours, theirs)])):
            result = multilevel(*pair)
            said = [
                result.word == "faster",
                result.word == "slower",
                gate(result, "slower>2%").exit_code == 0,
            ]
            found[rule] += said
    return (*(found / trials), clean / trials)


@spot_check
def test_in_short():
    new, old, clean = rates("short", (0.97, 1.0), (0.1, 0.0), 6, 8, 60)
    assert max(new[0], new[2]) <= clean
    assert min(old[0], old[2]) >= 0.6


@pytest.mark.parametrize(
    ("hang", "sessions", "runs", "least"),
    [(0.1, 3, 8, 0.3), (0.1, 6, 8, 0.8), (0.1, 10, 1, 0.6), (0.3, 3, 8, 0.35), (0.02, 6, 8, 0.85)],
)
def test_a_candidate_that_hangs_is_not_faster_and_passes_nothing(hang, sessions, runs, least):
    label = f"{hang} {sessions} {runs}"
    new, old, clean = rates(label, (0.97, 1.0), (hang, 0.0), sessions, runs, 400)
    assert max(new[0], new[2]) <= clean
    assert max(old[0], old[2]) >= least


def test_a_baseline_that_hangs_makes_nobody_slower():
    new, old, clean = rates("baseline", (1.03, 1.0), (0.0, 0.1), 6, 8, 400)
    assert new[1] <= clean
    assert old[1] >= 0.8


def test_the_price_is_a_faster_candidate_beside_a_baseline_that_hangs():
    few, old, _ = rates("price", (0.97, 1.0), (0.0, 0.1), 6, 8, 400)
    many, _, _ = rates("price 20", (0.97, 1.0), (0.0, 0.1), 20, 8, 200)
    assert 0.4 <= few[0] <= 0.65
    assert old[0] >= 0.8
    assert many[0] >= 0.95


def test_where_nothing_hangs_nothing_changes():
    for share in (1.0, 0.97):
        new, old, clean = rates(f"none {share}", (share, 1.0), (0.0, 0.0), 6, 8, 200)
        assert (new == old).all()
        assert clean == 1.0
