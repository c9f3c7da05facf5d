"""Runs that are repeated because they were disturbed: the speedup that is read off them has no bias.

The runner's own rule is at work (`harness.trial.outcomes`) on simulated sessions of 8 blocks of two
variants, and the reader's (`judged_row`) chooses. Disturbances come at a constant rate, so that a longer
run meets more of them, and cost an exponential time, a tenth of a run in the mean. What a variant's own
processes take from it is part of its length: the truth has it. True ratios are 1.00, 1.05 and 1.30; the
bound, 0.2 % of the ratio, is the specification's. Rules that look at values, or leave runs out, break it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.record.run_numbers import Measurement, judged_row
from analysis.record.trial_files import PlannedRun
from analysis.stats.arguments import stream
from harness.trial.outcomes import Repeats, repeats_of, still_to_do

pytestmark = pytest.mark.calibration

BLOCKS = 8
NOISE = 0.01  # of the logarithms of lengths
COST = 0.1  # of a disturbance, in the mean, where the baseline takes 1
SHARE = 0.005
COMPLETE = 0.02  # of its processor time in other processes, and nothing is known of a run
BOUND = 0.002
SHUFFLED = SimpleNamespace(protocol=SimpleNamespace(order="shuffled"))

Rows = list[tuple[float, bool | None]]  # of a run: length, and whether it was disturbed


class Unguarded(Repeats):
    """The same rule without its guards: each run is repeated whatever becomes of the others."""

    def add(self, row):
        super().add(row)
        self._unknown.clear()
        self._kept.clear()


def planned(rng):
    """Give a session: a warm-up of each variant, then blocks in an order of their own."""
    turns = [("a", "b"), *(rng.permutation(["a", "b"]).tolist() for _ in range(BLOCKS))]
    cells = [(block, variant) for block, turn in enumerate(turns) for variant in turn]
    return [
        PlannedRun(
            position=k,
            session=1,
            block=block,
            benchmark="x",
            variant=variant,
            warmup=block == 0,
        )
        for k, (block, variant) in enumerate(cells)
    ]


def world(rng, ratio, rate, own, spread):
    """Give what executes a run: `own` is the most that the candidate's own processes delay it."""

    def execute(variant: str) -> tuple[float, bool | None]:
        length = (ratio if variant == "b" else 1.0) * math.exp(NOISE * rng.standard_normal())
        taken = rng.exponential(COST, rng.poisson(rate * length)).sum()
        share = own if variant == "b" else 0.0
        mine = share * length * (rng.random() if spread else 0.5)
        wall = length + taken + mine
        return wall, None if share > COMPLETE else bool(taken + mine > SHARE * wall)

    return execute


def session(rng, execute, rule) -> list[tuple[str, Rows]]:
    """Execute a session by the runner's rule; give the rows of each measured run."""
    repeats, done, rows = rule(SHUFFLED), {}, {}
    for run in still_to_do(planned(rng), done, repeats):
        wall, flag = execute(run.variant)
        again = repeats_of(run)
        repeats.add(
            Measurement(
                position=run.position,
                session=1,
                segment=0,
                block=run.block,
                benchmark=run.benchmark,
                variant=run.variant,
                warmup=run.warmup,
                repeats=again,
                disturbed=flag,
                outcome="ok",
                metrics={},
            )
        )
        done[run.position] = "ok"
        if not run.warmup:
            of = run.position if again is None else again
            rows.setdefault(of, (run.variant, []))[1].append((wall, flag))
    return list(rows.values())


def judged(rows: Rows) -> float | None:
    return rows[judged_row(flag for _, flag in rows)][0]


def fastest(rows: Rows) -> float | None:
    return min(wall for wall, _ in rows)


def dropped(rows: Rows) -> float | None:
    """Leave disturbed runs out, without a repeat."""
    wall, flag = rows[0]
    return None if flag else wall


def bias(
    choose: Callable[[Rows], float | None],
    *,
    ratio: float = 1.0,
    rate: float = 0.15,
    own: float = 0.0,
    spread: bool = True,
    rule: type[Repeats] = Repeats,
    sessions: int = 2500,
) -> tuple[float, float]:
    """Give the bias of the logarithm of the ratio, and its standard error by the simulation."""
    rng = stream(20261122, "disturbed", f"{ratio} {rate} {own} {spread}")
    execute = world(rng, ratio, rate, own, spread)
    grid = (np.arange(10_000) + 0.5) / 10_000 if spread else np.array([0.5])
    truth = math.log(ratio) + float(np.log1p(own * grid).mean())
    found = []
    for _ in range(sessions):
        logs = {"a": [], "b": []}
        for variant, rows in session(rng, execute, rule):
            wall = choose(rows)
            if wall is not None:
                logs[variant].append(math.log(wall))
        if logs["a"] and logs["b"]:
            found.append(float(np.mean(logs["b"]) - np.mean(logs["a"])) - truth)
    if not found:
        return math.nan, math.nan
    return float(np.mean(found)), float(np.std(found) / math.sqrt(len(found)))


@pytest.mark.parametrize("ratio", [1.0, 1.05, 1.3])
@pytest.mark.parametrize("rate", [0.05, 0.15])
def test_what_rises_with_length_leaves_no_bias(ratio, rate):
    found, error = bias(judged, ratio=ratio, rate=rate)
    assert error < BOUND / 8
    assert abs(found) < BOUND


@pytest.mark.spot_check
def test_a_few_sessions_show_no_bias_either():
    found, error = bias(judged, ratio=1.3, sessions=150)
    assert abs(found) < BOUND + 4 * error


@pytest.mark.parametrize("ratio", [1.0, 1.3])
@pytest.mark.parametrize(
    ("own", "spread"),
    [
        (0.10, True),  # the kernel's account of it is not complete: nothing is known
        (0.10, False),
        (0.019, True),  # the most of which an account is taken for complete
        (0.012, True),
        (0.008, True),
        (0.016, False),  # it disturbs itself in each run
    ],
)
def test_a_variant_whose_own_processes_share_its_cpu_leaves_no_bias(ratio, own, spread):
    found, error = bias(judged, ratio=ratio, rate=0.05, own=own, spread=spread)
    assert error < BOUND / 5
    assert abs(found) < BOUND


@pytest.mark.parametrize(
    ("choose", "own", "rate", "rule"),
    [
        (fastest, 0.016, 0.05, Repeats),  # more rows to choose from where more is disturbed
        (dropped, 0.016, 0.05, Repeats),  # leaves out what is slow by its own doing
        (judged, 0.019, 0.0, Unguarded),  # repeats until it is not itself
        (judged, 0.10, 0.05, Unguarded),  # one variant alone is spared the waiting
    ],
    ids=["fastest", "dropped", "unguarded", "unguarded-unknown"],
)
def test_other_rules_are_biased(choose, own, rate, rule):
    # the negative controls: the same simulation finds them
    found, error = bias(choose, ratio=1.05, rate=rate, own=own, rule=rule)
    assert abs(found) - 4 * error > BOUND


def test_dropping_leaves_nothing_of_a_program_that_disturbs_itself():
    found, _ = bias(dropped, own=0.016, spread=False, sessions=50)
    assert math.isnan(found)
