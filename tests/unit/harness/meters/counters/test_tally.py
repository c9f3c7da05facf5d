"""From what was read around a run to its metrics.

Authority: perf_event_open(2): an event that was counted for a part of the time is estimated as value x
enabled / running; one that was never counted has no value.
"""

import pytest
from hypothesis import given, strategies as st

from harness.host.counters import CounterPlan, CounterTally, EventAnswer, Resolved, look_of

GOOD = EventAnswer(0, 0, fits=True)


def event(name, unit="1", **more):
    return Resolved(name=name, unit=unit, kind=0, words=(0, 0, 0, 0), on_processor=True, **more)


CYCLES, RAW = event("cycles"), event("halts")
FAULTS = event("page-faults", may_be_still=True)
CLOCK = event("task-clock", "s", may_be_still=True)


def tally(*events, share=False, answers=None):
    plan = CounterPlan(events=events, share=share, machine="x86_64")
    return CounterTally(plan, look_of(plan, answers or [GOOD] * len(events)))


def said(one):
    return [finding.what for finding in one.findings()]


def test_a_count_stays_whole_and_time_is_in_seconds():
    one = tally(CYCLES, CLOCK)
    found = one.metrics([(2**60 + 1, 50, 50), (1_500_000_000, 50, 50)])
    assert found == {"cycles": (2**60 + 1,), "task-clock": (1.5,)}
    assert isinstance(found["cycles"][0], int)
    assert not said(one)


def test_a_run_that_was_not_counted_has_none():
    assert tally(CYCLES).metrics(None) == {}


def test_an_event_that_was_never_on_the_processor_has_no_value():
    one = tally(CYCLES, RAW)
    assert one.metrics([(0, 100, 0), None]) == {}
    assert one.metrics([(7, 100, 100), (0, 9, 9)]) == {"cycles": (7,), "halts": (0,)}
    assert said(one) == [
        "cycles was not counted in 1 of 2 runs: these rows are without it",
        "halts was not counted in 1 of 2 runs: these rows are without it",
    ]


def test_a_count_that_went_back_is_none():
    # what is enabled at an exec only grows: whatever this is, it is not what the run did
    one = tally(CYCLES, CLOCK)
    assert one.metrics([(-7, 100, 100), (-1, 100, 100)]) == {}
    assert len(said(one)) == 2


def test_an_event_that_shared_its_counter_is_refused_or_scaled():
    refusing = tally(CYCLES)
    assert refusing.metrics([(50, 100, 25)]) == {}
    assert refusing.metrics([(50, 100, 100)]) == {"cycles": (50,)}
    assert "a part of the time only in 1 of 2 runs (least: 25%): these rows" in said(refusing)[0]
    allowing = tally(CYCLES, share=True)
    assert allowing.metrics([(50, 100, 25)]) == {"cycles": (200.0,)}
    assert "its values there are scaled up, and estimates" in said(allowing)[0]


def test_two_clocks_read_one_after_the_other_are_the_same_time():
    one = tally(CYCLES)
    assert one.metrics([(50, 1_000_000, 999_950)]) == {"cycles": (50,)}
    assert not said(one)


def test_what_moves_in_every_run_is_unknown_where_it_stands():
    # a virtual machine may open the events of a processor that it does not have
    one = tally(CYCLES, FAULTS)
    for _ in range(3):
        assert one.metrics([(0, 9, 9), (5, 9, 9)]) == {"page-faults": (5,)}
    assert said(one) == [
        "cycles read 0 in all 3 runs: it does not seem to be counted on this machine"
    ]


@pytest.mark.parametrize(
    "name", ["instructions", "cycles", "branches", "task-clock", "page-faults", "minor-faults"]
)
def test_what_every_program_has_is_unknown_where_it_reads_0(name):
    # docs/counters.md; the first touch of a page is a minor fault
    one = tally(event(name, may_be_still=True))
    assert one.metrics([(0, 9, 9)]) == {}
    assert one.metrics([(3, 9, 9)]) == {name: (3,)}
    assert said(one) == [f"{name} was not counted in 1 of 2 runs: these rows are without it"]


# seen of a setuid program as a user without rights: 5 µs of 1.2 ms, 0 faults; of any other but its start
@pytest.mark.parametrize(
    ("enabled", "cpu_s", "spawn_ns", "whole"),
    [
        (4_824, 1.28e-3, 75_605, False),
        (30_891, 1.12e-3, 12_300_034, False),  # its start waited for a processor
        (693_595, 0.838e-3, 9_216_355, True),
        (590_136, 0.664e-3, 71_378, True),
        (820_372, 0.901e-3, 70_372, True),
        (400_000_000, 1.0, 100_000, False),  # a child of it that took 0.6 s
        (35_869_285, 42.931e-3, 81_320, True),  # two children in turns on a busy processor
        (990_000_000, 1.0, 100_000, True),
        (2_000_000, 0.0, 0, True),
    ],
)
def test_a_run_whose_counting_the_kernel_ended_has_no_value(enabled, cpu_s, spawn_ns, whole):
    one = tally(CLOCK)
    found = one.metrics([(enabled, enabled, enabled)], cpu_s=cpu_s, spawn_ns=spawn_ns)
    assert bool(found) == whole
    assert bool(said(one)) != whole
    if not whole:
        assert "for a small part of 1 of 1 runs" in said(one)[0]


def test_what_stood_in_some_runs_is_not_counted_there():
    one = tally(CYCLES)
    one.metrics([(0, 9, 9)])
    assert one.metrics([(3, 9, 9)]) == {"cycles": (3,)}
    assert said(one) == ["cycles was not counted in 1 of 2 runs: these rows are without it"]


def test_a_raw_event_may_be_0_but_not_always():
    one = tally(RAW)
    assert one.metrics([(0, 9, 9)]) == {"halts": (0,)}
    assert "halts read 0 in all 1 runs" in said(one)[0]
    one.metrics([(4, 9, 9)])
    assert not said(one)


def test_events_that_the_trial_did_not_begin_with_are_no_metrics():
    # a row may hold only what its manifest declares, whatever a later launcher can open
    one = tally(CYCLES, FAULTS, answers=[EventAnswer(13, 0, fits=False), GOOD])
    assert one.metrics([(7, 9, 9), (8, 9, 9)]) == {"page-faults": (8,)}
    assert not said(one)


def test_findings_are_warnings_with_a_remedy():
    one = tally(RAW)
    one.metrics([None])
    (finding,) = one.findings()
    assert (finding.check, finding.status) == ("counters", "warn")
    assert finding.fix
    assert finding.reason


@given(st.integers(1, 2**50), st.integers(1, 2**40), st.integers(1, 2**40))
def test_scaling_never_makes_less(value, enabled, running):
    running = min(running, enabled)
    found = tally(RAW, share=True).metrics([(value, enabled, running)])["halts"][0]
    assert found >= value * 0.999
    assert found == pytest.approx(value * max(1.0, enabled / running), rel=2e-4)
