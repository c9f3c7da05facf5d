"""The pages of plans and loops: every cell says the number that it stands for."""

from __future__ import annotations

import math

import pytest

from analysis.pages.model import Sentence, Table, Value, page_of
from analysis.plan.page import range_text
from analysis.plan.runs import plan_runs
from analysis.plan.width import width_loop


def tables(page):
    return [b for section in page.sections for b in section.blocks if isinstance(b, Table)]


def sentences(page):
    return [b.text for section in page.sections for b in section.blocks if isinstance(b, Sentence)]


def column(table, heading):
    (place,) = (k for k, c in enumerate(table.columns) if c.heading == heading)
    return [row[place] for row in table.rows]


def test_the_table_of_a_plan_holds_its_numbers(pair, rng):
    plan = plan_runs(*pair(m=8), width=0.05, effect=1.02, rng=rng)
    (table,) = tables(page_of(plan))
    numbers = {
        "runs": [row.runs for row in plan.table],
        "width": [row.width for row in plan.table],
        "chance <= 0.05": [row.chance for row in plan.table],
        "detectable": [row.detectable for row in plan.table],
        "power at 1.02x": [row.power for row in plan.table],
        "RMSE": [math.sqrt(row.mse) for row in plan.table],
        "MSE sd": [row.mse_sd for row in plan.table],
        "coverage": [row.coverage for row in plan.table],
    }
    assert [c.heading for c in table.columns] == list(numbers)
    for heading, want in numbers.items():
        cells = column(table, heading)
        assert [cell.value for cell in cells] == want
        for cell, value in zip(cells, want, strict=True):
            written = float(cell.text.partition(" ")[0].rstrip("x"))
            assert written == pytest.approx(value, rel=0.01, abs=0.0006)
    first = column(table, "width")[0].text.partition(" ± ")[2]
    assert float(first) == pytest.approx(plan.table[0].width_sd, rel=0.06)


def test_what_was_not_asked_for_has_no_column(pair, rng):
    (table,) = tables(page_of(plan_runs(*pair(m=8), rng=rng)))
    assert [c.heading for c in table.columns] == [
        "runs",
        "width",
        "detectable",
        "RMSE",
        "MSE sd",
        "coverage",
    ]


def test_a_plan_says_what_it_rests_on(pair, rng):
    x, y = pair(m=20)
    few = {name: y.values(name)[: 7 + k] for k, name in enumerate(y.benchmarks)}
    ragged = type(y).from_samples("y", few, better="lower")
    plan = plan_runs(x, ragged, rng=rng, simulations=2000)
    assert plan.pilot_runs == (7, 20)
    (basis,) = (text for text in sentences(page_of(plan)) if text.startswith("by "))
    assert basis == (
        "by 2,000 simulated trials for each number of runs, from 7 to 20 pilot runs of 4 "
        f"benchmarks a side; speedup {plan.speedup:.4g}x"
    )
    even = plan_runs(*pair(m=8), rng=rng, simulations=100)
    assert even.pilot_runs == (8, 8)
    assert "from 8 pilot runs of 4 benchmarks" in " ".join(str(even).split())


def test_a_speedup_that_is_detectable_only_when_huge_is_left_out(matrix, rng):
    noisy = [[0.0, 4.0, -4.0]]
    plan = plan_runs(matrix("x", noisy), matrix("y", noisy), grid=(3,), rng=rng)
    (cell,) = column(tables(page_of(plan))[0], "detectable")
    assert cell == Value("-", plan.table[0].detectable)


def test_the_looks_of_a_loop(pair):
    loop = width_loop(*pair(sd=0.05), width=0.05)
    (table,) = tables(page_of(loop))
    assert [cell.value for cell in column(table, "runs")] == [step.runs for step in loop.steps]
    for heading in ("speedup", "width"):
        for cell, step in zip(column(table, heading), loop.steps, strict=True):
            assert cell.value == getattr(step, heading)
            assert float(cell.text.rstrip("x")) == pytest.approx(cell.value, rel=0.01)
    for text, step in zip(column(table, "interval"), loop.steps, strict=True):
        low, high = (float(end) for end in text.strip("[]").split(", "))
        assert (low, high) == pytest.approx((step.low, step.high), rel=1e-3)


def test_a_plan_says_the_cautions_of_its_loop_once(pair, rng):
    plan = plan_runs(*pair(m=5), width=0.05, rng=rng)
    cautions = page_of(plan).cautions
    assert set(cautions) == {*plan.cautions, *plan.loop.cautions}
    assert len(cautions) == len(set(cautions))


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (3, 7, "3 to 7"),
        (4, 4, "4"),
        (9, None, "9 to more than 20"),
        (None, None, "more than 20"),
    ],
)
def test_a_range_of_numbers(low, high, text):
    assert range_text(low, high, 20) == text
