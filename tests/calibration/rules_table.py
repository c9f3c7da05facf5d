"""Print how often each corrected rule is wrong, and the rule before it, from the product's own code.

    python -m tests.calibration.rules_table                     every cell, 1,000 trials each: two hours
    python -m tests.calibration.rules_table 2 9 --trials 100    two rules, with fewer trials

`rules_table.tsv` has a line for each cell of rules-2: the rule's number there, what is counted, of which
arguments, and the rates there, old -> new. The calibrations of this folder draw the trials, by the seeds that
stand in each: a cell gives the same numbers each time. Rules 10 and 12 have no rate: they are sentences. In the
product a side that hangs often also fails more, which takes words that the old rule of rules-2 gave.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np

from analysis.stats import steady_state
from tests.calibration import (
    test_advice_calibration as advice,
    test_coarse_clock_calibration as clock,
    test_cut_off_calibration as cut,
    test_exact_calibration as exact,
    test_history_calibration as history,
    test_normality_calibration as normality,
    test_repeated_looks_calibration as looks,
    test_shared_risk_calibration as shared,
    test_totals_calibration as totals,
    test_unequal_values_calibration as quantiles,
    test_warmup_calibration as warmup,
)
from tests.calibration.made_pairs import lower, upper

# how many by the new rule and by the old one (None: it is not simulated); of how many, if not of all trials
Counts = tuple[float, float | None] | tuple[float, float | None, int]


def pair_of(function: Callable[..., tuple[int, ...]]) -> Callable[..., Counts]:
    return lambda n, *cell: function(*cell, n)[:2]


def hanging(*words: int) -> Callable[..., Counts]:
    def count(n: int, share: float, hang: float, theirs: float, *size: int) -> Counts:
        given = (share, 1.0), (hang, theirs), *size
        new, old, _ = cut.rates(f"table {given}", *given, n)
        return tuple(n * sum(one[k] for k in words) for one in (new, old))

    return count


def uncut(n: int, share: float, hang: float, theirs: float, *size: int) -> Counts:
    given = (share, 1.0), (hang, theirs), *size
    return n * cut.rates(f"table {given}", *given, n)[2], None


def noted(n: int, ours, theirs, *size: int) -> Counts:
    return totals.fires(ours, theirs, size, n, 100)[0], None


def nights(n: int, law: str | float, reference: int, newest: int, scatter: float, truth: float):
    draw = history.CENTRED.get(law) or history.autoregressive_of(law)
    return history.passed(draw, reference, newest, scatter=scatter, truth=truth, trials=n)


def drifting(n: int, rate: float, scatter: float) -> Counts:
    looked, passed, withheld = history.drifting(rate, scatter, -(-n // 10))
    return (passed, passed + withheld, looked) if rate else (withheld, None, looked)


def followed(n: int, sessions: int, sd: float, truth: float) -> Counts:
    advice.TRIALS[1] = n
    asked = {"sessions": (sessions,), "effect": truth / sd, "margin": 1 / sd, "step": 6.0}
    (new, of, *_), (old, of_old, *_) = (
        advice.followed(**asked, ask=ask) for ask in (advice.by_advice, advice.of_before)
    )
    return new, of * old / of_old if of_old else None, of


def on_ticks(n: int, *cell) -> Counts:
    with mock.patch.object(steady_state, "off_ticks", lambda values: values):
        old = warmup.on_ticks(*cell, n)
    return warmup.on_ticks(*cell, n), old


def sharing(**asked: float) -> Callable[..., Counts]:
    return lambda n, candidates, benchmarks, sessions: shared.rates(
        candidates, sessions, trials=n, **{"limit": 0.0, "benchmarks": benchmarks, **asked}
    )


COUNTED: dict[str, Callable[..., Counts]] = {
    "a false word of counts": lambda n, law, *size: exact.rates(
        law, *size, n, 4 if "pages" in law else 1
    ),
    "a false word of two values": lambda n, *cell: (
        exact.one_sided_constant(*cell, n),
        exact.without_the_others_spread(*cell, n),
    ),
    "seen": pair_of(exact.apart),
    "a gate at its limit stops": lambda n, *cell: (
        sharing(limit=np.log(1.02))(n, *cell) if cell[1:] else (exact.gates(*cell, n)[0], None)
    ),
    "a gate at its limit passes": lambda n, mean: (exact.gates(mean, n)[1], None),
    "a false word of four, on a clock": pair_of(clock.rates),
    "a bisection's interval without its step": lambda n, *cell: (exact.missed(*cell, n), None),
    "faster": hanging(0),
    "slower": hanging(1),
    "faster or slower": hanging(0, 1),
    "PASS": lambda n, *cell: (hanging(2) if cell[2:] else drifting)(n, *cell),
    "no run is cut": uncut,
    "a false word beside a neighbour": lambda n, *cell: looks.beside(*cell, n, -(-n // 4)),
    "a note of clean runs": lambda n, law, *size: noted(n, *[totals.CLEAN[law]] * 2, *size),
    "a note of slow runs of one side": lambda n, share, times, *size: noted(
        n, lambda rng, k: totals.slow(rng, k, share, times), totals.calm, *size
    ),
    "PASS of 11 % less, in all 6 % more": lambda n, *size: totals.passes(size, n)[:2],
    "a false word of a quantile": lambda n, *cell: n * quantiles.words(*cell, n),
    "PASS at 2 %": nights,
    "OPEN for a drift": drifting,
    "the interval of a told step holds it": lambda n, *c: history.steps_held("normal", *c, n),
    "decided, advice followed once": followed,
    "the right word": on_ticks,
    "a false word": sharing(),
    "a difference of 2 sd is seen": sharing(apart=0.02 * np.sqrt(2)),
    "normal runs do not look so": lambda n, size: normality.otherwise(size, n),
    "from samples of 10 on, of normal runs": lambda n: (
        *normality.ten_enough(-(-n // 10)),
        -(-n // 10),
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rules", nargs="*", help="all of them where none is named")
    parser.add_argument("--trials", type=int, default=1000, help="of each cell")
    asked = parser.parse_args()
    print("| rule | cell | old | new | rules-2 |\n|---|---|---|---|---|")
    for line in Path(__file__).with_suffix(".tsv").read_text().splitlines():
        rule, what, cell, told = line.split("\t")
        if asked.rules and rule not in asked.rules:
            continue
        count = COUNTED[what.partition(":")[0]]
        new, old, *of = count(asked.trials, *ast.literal_eval(f"({cell},)" if cell else "()"))
        total = of[0] if of else asked.trials
        rates = ["" if k is None or not total else f"{k / total:.3f}" for k in (old, new)]
        ends = ", ".join(f"{end(round(new), total, 0.025):.3f}" for end in (lower, upper))
        print(f"| {rule} | {what}: {cell} | {' | '.join(rates)} [{ends}] | {told} |", flush=True)


if __name__ == "__main__":
    main()
