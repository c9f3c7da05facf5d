"""What other metrics of the timed runs say, and what is made of it in words.

Authority: `multilevel` on the same matrices, Holm's correction, and docs/why.md, "The words"; each word has a negative
control, where the intervals do not carry it.
"""

from dataclasses import replace

import numpy as np
import pytest

from analysis.data.trial import Trial
from analysis.diagnose.explain import holm, judged_counters
from analysis.diagnose.why_result import Counter, Row, story_of
from analysis.methods.multilevel.compare import multilevel
from tests.unit.analysis.why.made_profiles import timed

MS = 30 + 0.2 * np.random.default_rng(1).standard_normal(6)
NEAR = np.exp(1e-4 * np.random.default_rng(2).standard_normal((4, 6)))


def counted(instructions=(1e8, 1e8), cycles=(1e8, 1e8), **numbers) -> Trial:
    """Give a trial whose counters differ by 0.01 % between sessions."""
    trial = timed(
        MS,
        MS[::-1],
        metrics={
            "instructions": (instructions[0] * NEAR[0], instructions[1] * NEAR[1]),
            "cycles": (cycles[0] * NEAR[2], cycles[1] * NEAR[3]),
        },
        **numbers,
    )
    metrics = {name: {**one, "source": "counters"} for name, one in trial.manifest.metrics.items()}
    return replace(trial, manifest=replace(trial.manifest, metrics=metrics))


def judged(trial: Trial, waits=()) -> tuple[dict[str, Counter], tuple[Row, ...]]:
    counters, rows = judged_counters(trial, "b0", "v0", "v1", confidence=0.95, waits=waits)
    return {one.metric: one for one in counters}, rows


def waiting(
    difference: float, p: float | None = 1e-6, *, before: float = 1.0, reach: float = 0.1
) -> Row:
    return Row(
        function="asleep",
        baseline_ms=before,
        candidate_ms=before + difference,
        difference_ms=difference,
        low_ms=difference - reach,
        high_ms=difference + reach,
        pvalue=p,
        pvalue_adjusted=p,
    )


def test_a_counter_has_the_interval_that_a_verdict_gives_it():
    trial = counted(instructions=(1e8, 1.2e8))
    found, _ = judged(trial)
    line = multilevel(
        trial.matrix("v1", "instructions"), trial.matrix("v0", "instructions"), correction="none"
    ).benchmarks[0]
    told = found["instructions"]
    assert told.ratio == pytest.approx(1 / line.speedup, rel=1e-12)
    assert (told.low, told.high) == pytest.approx((1 / line.high, 1 / line.low), rel=1e-12)
    assert told.pvalue == line.pvalue
    assert told.word == "slower"


def test_counters_are_corrected_together_with_the_time_off_the_processors():
    trial = counted()
    found, (row,) = judged(trial, [waiting(0.5, 0.001)])
    plain = [one.pvalue for one in found.values()]
    adjusted = holm([*plain, 0.001])
    assert [one.pvalue_adjusted for one in found.values()] == pytest.approx(adjusted[:-1])
    assert row.pvalue_adjusted == pytest.approx(adjusted[-1])


def test_counters_stand_by_evidence():
    counters, _ = judged_counters(
        counted(instructions=(1e8, 1.2e8), cycles=(1e8, 1.05e8)), "b0", "v0", "v1", confidence=0.95
    )
    assert [one.pvalue for one in counters] == sorted(one.pvalue for one in counters)
    assert {one.metric for one in counters[:3]} == {
        "instructions",
        "cycles",
        "instructions_per_cycle",
    }


def test_numbers_that_are_no_metrics_elsewhere_are_judged_too():
    rng = np.random.default_rng(4)
    trial = timed(MS, MS, jitter=0.01)
    faults = np.where(trial.variant == 1, 400, 200) + rng.integers(0, 5, len(trial))
    trial = replace(trial, numbers={**trial.numbers, "minor_faults": faults.astype(float)})
    found, _ = judged(trial)
    assert found["minor_faults"].word == "slower"
    assert found["minor_faults"].ratio == pytest.approx(2.0, abs=0.05)
    assert "major_faults" not in found  # nobody knows them here
    # the campaign's own counter of the same stands alone
    metrics = {"page-faults": {"unit": "1", "better": "lower", "source": "counters"}}
    column = counted().metrics["instructions"]
    own = replace(
        trial, manifest=replace(trial.manifest, metrics=metrics), metrics={"page-faults": column}
    )
    found, _ = judged(own)
    assert "minor_faults" not in found
    assert "page-faults" in found


def test_what_is_0_in_some_runs_has_a_ratio_and_in_all_of_them_none():
    rng = np.random.default_rng(4)
    trial = timed(MS, MS, jitter=0.01)
    some = rng.integers(0, 4, len(trial)).astype(float)
    trial = replace(
        trial,
        numbers={
            **trial.numbers,
            "involuntary_switches": some,
            "major_faults": np.zeros(len(trial)),
        },
    )
    found, _ = judged(trial)
    assert "involuntary_switches" in found
    assert "major_faults" not in found


def test_a_metric_without_values_is_left_out():
    found, _ = judged(timed(MS, MS, jitter=0.01))
    assert set(found) == {"wall", "user", "system"}


@pytest.mark.parametrize(
    ("instructions", "cycles", "story"),
    [
        ((1e8, 1.2e8), (1e8, 1.2e8), "more instructions"),
        ((1e8, 1.2e8), (1e8, 1.4e8), "more instructions, and fewer per cycle"),
        ((1e8, 1.2e8), (1e8, 1.1e8), "more instructions, but more per cycle"),
        ((1e8, 1e8), (1e8, 1.2e8), "same instructions, fewer per cycle"),
        ((1e8, 1e8), (1.2e8, 1e8), "same instructions, more per cycle"),
        ((1.2e8, 1e8), (1.2e8, 1e8), "fewer instructions"),
        ((1.2e8, 1e8), (1e8, 1e8), "fewer instructions, but fewer per cycle"),
        # the negative control: nothing differs
        ((1e8, 1e8), (1e8, 1e8), None),
        # and what differs by less than 1 % is the same
        ((1e8, 1.002e8), (1e8, 1.002e8), None),
    ],
)
def test_work_is_told_by_instructions_and_instructions_per_cycle(instructions, cycles, story):
    found, _ = judged(counted(instructions, cycles))
    assert story_of([*found.values()], (), risk=0.05) == story


def counter(metric: str, word: str) -> Counter:
    return Counter(
        metric=metric,
        unit="1",
        better="lower",
        word=word,
        ratio=1.0,
        low=0.9,
        high=1.1,
        pvalue=0.5,
        pvalue_adjusted=1.0,
    )


@pytest.mark.parametrize(
    ("instructions", "per_cycle", "story"),
    [
        ("undecided", "slower", "fewer instructions per cycle"),
        ("undecided", "faster", "more instructions per cycle"),
        ("undecided", "undecided", None),
        ("undecided", "equivalent", None),
        ("equivalent", "undecided", None),
        ("equivalent", "equivalent", None),
        ("slower", "undecided", "more instructions"),
        ("slower", None, "more instructions"),
        ("faster", None, "fewer instructions"),
        ("equivalent", None, None),
        (None, "slower", None),
    ],
)
def test_what_is_undecided_is_never_said_to_be_the_same(instructions, per_cycle, story):
    counters = [
        counter(metric, word)
        for metric, word in (("instructions", instructions), ("instructions_per_cycle", per_cycle))
        if word is not None
    ]
    assert story_of(counters, (), risk=0.05) == story


@pytest.mark.parametrize(
    ("rows", "story"),
    [
        ([waiting(2.0)], "waits"),
        ([waiting(-0.5)], "waits less"),
        ([waiting(2.0), waiting(3.0)], "waits, and waits for a CPU"),
        ([waiting(0.0, 0.9), waiting(3.0)], "waits for a CPU"),
        ([waiting(0.0, 0.9), waiting(-0.5)], "waits less for a CPU"),
        # controls: not resolved, unknown, too little of the wall time, no waiting but several processors
        ([waiting(2.0, 0.06)], None),
        ([waiting(2.0, None)], None),
        ([waiting(0.15)], None),
        ([waiting(2.0, before=-9.0)], None),
        ([], None),
    ],
)
def test_waiting_is_told_by_its_own_row(rows, story):
    assert story_of([], rows, risk=0.05, negligible_ms=0.3) == story


def test_work_and_waiting_are_told_together():
    told = story_of([counter("instructions", "slower")], [waiting(2.0)], risk=0.05)
    assert told == "more instructions, and waits"
