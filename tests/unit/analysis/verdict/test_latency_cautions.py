"""Whether a load generator waited for answers is told from its rate, where a latency is judged.

Authority: at a constant rate all variants are sent equally much by design (the negative control); a rate that is made to follow
the latencies, as a closed loop's does, differs.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.data.runs import StoredRun
from analysis.record.shapes import StoredSamples
from analysis.verdict.cautions import latency_cautions
from analysis.verdict.judging import judge
from tests.planted import filled, frame

UNITS = {
    "p99": {"unit": "ms", "better": "lower"},
    "rate": {"unit": "requests/s", "better": "higher"},
    "heap": {"unit": "MB", "better": "lower"},
}


def loaded(rate, *, seed=1, units=UNITS, **design):
    """Give a trial in which v1's latencies are half of v0's; `rate` gives its rate from its latency and a noise."""
    rng = np.random.default_rng(seed)
    trial = frame(rng, **{"sessions": 5, "runs": 4, "variants": 2, "benchmarks": 2} | design)
    latency = np.where(trial.variant == 1, 5.0, 10.0) * np.exp(
        0.02 * rng.standard_normal(len(trial))
    )
    sent = rate(latency, np.exp(0.001 * rng.standard_normal(len(trial))))
    values = {"p99": latency, "rate": sent, "heap": latency}
    trial = filled(trial, np.log(latency), metrics=values)
    return replace(trial, manifest=replace(trial.manifest, metrics=units))


def closed(latency, noise):
    return 64_000 / latency * noise


def constant(latency, noise):
    return 2000 * noise + 0 * latency


def told(trial, metric="p99", benchmarks=None):
    return list(latency_cautions(trial, trial.manifest.variants, metric, benchmarks))


def test_a_closed_loop_is_told_with_its_rates():
    (caution,) = told(loaded(closed))
    assert caution.code == "closed-loop"
    assert "rate differs from v0's (2x for v1 on b0, " in caution.text.replace(
        "1.99x", "2x"
    ).replace("2.01x", "2x")
    assert caution.text.endswith(
        "too good above all of v0; a constant rate below what each can serve, such as wrk2's -R, asks all alike"
    )
    assert str(caution.short) == "rate differs too: a closed loop hides waits from p99"
    assert caution.about == ("v1", "b0", "b1")


def test_it_is_told_of_the_benchmarks_that_are_judged():
    (caution,) = told(loaded(closed), benchmarks=["b1"])
    assert "b0" not in caution.text


def test_at_a_constant_rate_nothing_is_told_in_nineteen_of_twenty_trials():
    wrong = sum(bool(told(loaded(constant, seed=seed))) for seed in range(40))
    assert (
        wrong <= 4
    )  # of 40 at 5 %: more than 4 in 5 % of such tests; here differences are also below 1 %


def test_differences_below_a_percent_are_a_constant_rates():
    assert not told(loaded(lambda latency, noise: 2000 * noise**0.01 * (1 + 0.0005 * latency)))


@pytest.mark.parametrize("metric", ["wall", "heap", "rate"])
def test_only_a_latency_that_was_printed_is_asked(metric):
    assert not told(loaded(closed), metric)


@pytest.mark.parametrize(
    "change",
    [
        {"rate": {"unit": "requests", "better": "higher"}},
        {"rate": {"unit": "1/s", "better": "lower"}},
    ],
)
def test_a_rate_is_a_number_a_second_of_which_more_is_better(change):
    assert not told(loaded(closed, units=UNITS | change))


def test_a_rate_without_values_tells_nothing():
    assert not told(loaded(lambda latency, noise: np.nan * latency))


def test_a_quantile_is_a_latency():
    units = UNITS | {
        "p99": {
            "unit": "s",
            "better": "lower",
            "source": "quantiles",
            "of": "t",
            "quantile": "0.99",
        }
    }
    assert told(loaded(closed, units=units))


def test_the_verdict_says_it():
    assert "closed-loop" in {one.code for one in judge(loaded(closed), metric="p99").cautions}
    assert "closed-loop" not in {one.code for one in judge(loaded(closed)).cautions}


def test_a_rate_whose_values_are_gone_tells_nothing_and_stops_no_verdict(tmp_path):
    trial = loaded(closed)
    units = {**UNITS, "rate": {**UNITS["rate"], "warmup_iterations": "5"}}
    about = StoredSamples(count=2000, sha256="0" * 64)
    gone = {row: StoredRun(tmp_path / f"{row}", about) for row in range(len(trial))}
    trial = replace(trial, manifest=replace(trial.manifest, metrics=units), stored={"rate": gone})
    assert told(trial) == []
    assert judge(trial, metric="p99").candidates
