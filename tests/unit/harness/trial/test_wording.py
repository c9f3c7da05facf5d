"""What is said of cells that a trial goes on without: each named once, those of one reason together."""

from __future__ import annotations

from analysis.record.trial_files import GivenUp
from harness.trial.ending import given_up_lines


def cell(variant, session, why="exit", *, never_ok=False):
    return GivenUp(
        benchmark="t", variant=variant, session=session, position=1, runs=0, why=why, never_ok=never_ok
    )  # fmt: skip


def test_cells_of_one_reason_stand_together_and_each_once() -> None:
    left = [cell("a", k, never_ok=True) for k in (1, 2)] + [cell("b", 1, never_ok=True)]
    assert given_up_lines([*left, cell("c", 1), cell("c", 2), cell("d", 2, "timeout")]) == [
        "  left out: t / a, t / b (exit)",
        "  given up in session 1: t / c (exit)",
        "  given up in session 2: t / c (exit)",
        "  given up in session 2: t / d (timeout)",
    ]


def test_the_last_reasons_are_shown_and_the_other_cells_counted() -> None:
    many = [cell(name, session) for session in range(1, 11) for name in ("a", "b")]
    told = given_up_lines(many)
    assert told[0] == "  4 more given up: see given_up in manifest.json"
    assert told[1:] == [f"  given up in session {k}: t / a, t / b (exit)" for k in range(3, 11)]
    (one,) = given_up_lines([cell(f"v{k}", 1) for k in range(10)])
    assert one.endswith("t / v7 and 2 more cells (exit)")
