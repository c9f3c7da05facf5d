"""A verdict says of which values a quantile is.

Authority: the two definitions in docs/iterations.md: of all values of a session, or of each run by itself.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.data.iterations import QuantileBasis
from analysis.errors import InsufficientDataError
from analysis.verdict.judging import judge
from analysis.verdict.sentence import basis_of, quantile_sentences
from tests.planted_values import with_values


def basis(level, why=None):
    return QuantileBasis(metric="latency", share=0.99, level=level, why=why)


def test_in_words():
    assert quantile_sentences("wall", None) == ()
    assert quantile_sentences("latency.p99", basis("session")) == (
        "latency.p99 is that of all values of a session together",
    )
    assert quantile_sentences("latency.p99", basis("run", "printed")) == (
        "latency.p99 is each run's own, and their geometric mean is judged:",
        "percentiles that were printed cannot be put together",
    )


@pytest.mark.parametrize("why", ["one-session", "printed", "not-kept", "own"])
def test_lines_fit_a_screen(why):
    one = replace(basis("run", why), metric="m" * 90)
    assert all(len(line) <= 80 for line in quantile_sentences("m" * 90 + ".p99", one))
    assert all(
        len(line) <= 80 for line in quantile_sentences("m" * 90, replace(one, level="session"))
    )


def test_without_a_good_run_it_is_not_said_that_runs_print_too_little():
    trial, _ = with_values(sessions=2, each=60)
    with pytest.raises(InsufficientDataError) as told:
        replace(trial, outcome=np.ones_like(trial.outcome)).matrix("v0", "t.p90")
    assert told.value.fix == "measure more, or look at the failed runs"


def test_of_trials_together_that_of_runs_is_said():
    assert basis_of([None, None]) is None
    assert basis_of([None, basis("session"), basis("run", "printed")]) == basis("run", "printed")
    assert basis_of([basis("session"), None]) == basis("session")


@pytest.mark.parametrize(("sessions", "level"), [(4, "session"), (1, "run")])
def test_a_verdict_says_it_below_its_table_and_in_json(sessions, level):
    trial, _ = with_values(sessions=sessions, each=60)
    verdict = judge(trial, metric="t.p90")
    text = str(verdict)
    assert ("t.p90 is that of all values of a session together" in text) == (level == "session")
    assert ("t.p90 is each run's own" in text) == (level == "run")
    assert (f"{sessions} sessions, paired" in text) == (
        level == "session"
    )  # one value each: no runs
    assert text.count("each run's own") == (level == "run")  # not as a note again
    why = "one-session" if level == "run" else None
    told = {"of": "t", "quantile": 0.9, "level": level, "why": why}
    told |= (
        {"values": [120, 120], "compared_at": 120}
        if level == "session"
        else {"values": None, "compared_at": None}
    )
    assert verdict.to_dict()["quantile"] == told  # as docs/json.md names them
    assert ("quantiles-of-runs" in {one.code for one in verdict.cautions}) == (level == "run")
    assert judge(trial, metric="wall").to_dict()["quantile"] is None
