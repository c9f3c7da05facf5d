"""How a run failed, in words; docs/trial-format.md lists the outcomes."""

from __future__ import annotations

import pytest

from analysis.data.columns import FailedRun
from analysis.record.run_numbers import Outcome
from analysis.report.conditions import outcome_words


def run(outcome, **more):
    where = {"position": 1, "session": 1, "benchmark": "x", "variant": "a", "warmup": False}
    return FailedRun(**where, outcome=outcome, **more)


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (run("signal", signal=9), "ended by SIGKILL"),
        (run("signal", signal=63), "ended by signal 63"),
        (run("signal"), "ended by a signal"),
        (run("exit", exit_code=3), "exit code 3"),
        (run("exit"), "exit code unknown"),
        (run("timeout"), "killed by its timeout"),
        (run("of a later\x1b version"), "of a later␛ version"),
    ],
)
def test_words(one, words):
    assert outcome_words(one, None) == words
    assert outcome_words(one, 0.0085) == f"{words} after 8.50 ms"


def test_every_outcome_of_a_failed_run_has_words():
    for outcome in Outcome.__args__:
        if outcome != "ok":
            assert outcome_words(run(outcome, exit_code=1, signal=6), None) != outcome
