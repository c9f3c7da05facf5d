"""The check `counters`: fails for a campaign that cannot have what it asks for, is unknown in general."""

from __future__ import annotations

from harness.host.checks import check_before, fatal_findings
from harness.host.state import (
    CountedEvent,
    CounterLook,
    HostCounters,
    HostState,
    MissingEvent,
    Situation,
    Topology,
)

CYCLES = CountedEvent(name="cycles", unit="1", user_only=False)
FAULTS = CountedEvent(name="page-faults", unit="1", user_only=True)
GONE = MissingEvent(name="slots", what="not here", where="/sys/x", fix="measure elsewhere")
ALSO = MissingEvent(name="loads", what="not here", where="/sys/x", fix="measure elsewhere")
FORBIDDEN = MissingEvent(name="misses", what="not you", where="/proc/y", fix="sysctl")


def finding(events):
    state = HostState(cpus=(0,), topology=Topology(cpus=()), usable=(0,))
    situation = Situation(state=state, counters=HostCounters(cpus=(0,)), cpus=(0,), events=events)
    return next(one for one in check_before(situation) if one.check == "counters")


def look(*, counted=(), missing=(), wanted=True):
    return CounterLook(counted=counted, missing=missing, wanted=wanted, paranoid=2)


def test_what_can_be_had_is_ok_and_says_what_is_left_out():
    one = finding(look(counted=(CYCLES, FAULTS)))
    assert one.status == "ok"
    assert one.what == "counted: cycles; counted without what the kernel does: page-faults"
    assert one.where == "/proc/sys/kernel/perf_event_paranoid = 2"


def test_a_campaign_that_cannot_have_an_event_fails_with_each_reason_once():
    one = finding(look(counted=(CYCLES,), missing=(GONE, ALSO, FORBIDDEN)))
    assert one.status == "fail"
    assert one.what == "slots, loads: not here; misses: not you; counted: cycles"
    assert (one.where, one.fix) == ("/sys/x", "measure elsewhere; sysctl")


def test_without_a_campaign_what_is_missing_is_unknown():
    assert finding(look(missing=(GONE,), wanted=False)).status == "unknown"
    assert finding(look(counted=(CYCLES,), wanted=False)).status == "ok"


def test_where_nobody_looked_it_is_unknown():
    assert finding(None).status == "unknown"


def test_only_who_requires_it_is_stopped():
    failed = (finding(look(missing=(GONE,))),)
    assert fatal_findings(failed, ("counters",), strict=False) == failed
    assert not fatal_findings(failed, ("load",), strict=True)
    general = (finding(look(missing=(GONE,), wanted=False)),)
    assert not fatal_findings(general, None, strict=True)
