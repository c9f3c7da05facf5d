"""The closed list of events. Authority: include/uapi/linux/perf_event.h, and `perf list` for the names."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from analysis.methods.variance_sources.covariates import is_counter
from harness.campaign.scalar_kinds import NAME
from harness.host.counter_events import EVENTS, RawEventError, parse_raw

PAGE = Path(__file__).resolve().parents[4] / "docs" / "counters.md"
SOFTWARE = [
    "cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults",
    "major-faults", "alignment-faults", "emulation-faults",
]  # fmt: skip
HARDWARE = [
    "cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses",
    "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
]  # fmt: skip


def test_events_have_the_kernels_numbers():
    for kind, names in ((1, SOFTWARE), (0, HARDWARE)):
        for number, name in enumerate(names):
            if name in EVENTS:
                assert (EVENTS[name].kind, EVENTS[name].config) == (kind, number), name
    # PERF_COUNT_HW_CACHE_L1D 0, L1I 1, LL 2, DTLB 3, ITLB 4; read 0, write 1; access 0, miss 1
    assert EVENTS["L1-dcache-loads"].config == 0
    assert EVENTS["L1-dcache-load-misses"].config == 0x10000
    assert EVENTS["L1-dcache-stores"].config == 0x100
    assert EVENTS["LLC-store-misses"].config == 0x10102
    assert EVENTS["iTLB-load-misses"].config == 0x10004


def test_no_two_names_are_one_event():
    assert len({(one.kind, one.config) for one in EVENTS.values()}) == len(EVENTS)


def test_the_page_lists_them_with_unit_and_meaning():
    rows = re.findall(r"^\| `([^`]+)` \| (1|s) \| (.+) \|$", PAGE.read_text(), re.M)
    assert rows == [(name, one.unit, one.what) for name, one in EVENTS.items()]


def test_only_time_has_a_unit_and_only_switches_need_the_kernel():
    assert {name for name, one in EVENTS.items() if one.unit != "1"} == {"task-clock"}
    assert {name for name, one in EVENTS.items() if one.needs_kernel} == {
        "context-switches",
        "cpu-migrations",
    }


def test_each_is_a_name_of_a_metric_and_known_as_a_counter_to_the_sources():
    for name, one in EVENTS.items():
        assert NAME.fullmatch(name)
        assert is_counter(name) or one.unit == "s", name


# --- Raw events as perf(1) writes them. Authority: perf-list(1), "PMU/term=value,.../"


TERM = st.from_regex(r"[a-z_][a-z0-9_]{0,9}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "pmu", "terms"),
    [
        ("cpu/event=0x3c/", "cpu", (("event", 0x3C),)),
        ("cpu/event=0x3c,umask=0X1,edge/", "cpu", (("event", 0x3C), ("umask", 1), ("edge", None))),
        (" armv8_pmuv3_0/l1d_cache/ ", "armv8_pmuv3_0", (("l1d_cache", None),)),
        ("msr/config=18446744073709551615/", "msr", (("config", 2**64 - 1),)),
        ("cpu/mem-loads , ldlat = 30/", "cpu", (("mem-loads", None), ("ldlat", 30))),
    ],
)
def test_a_raw_event_is_read(text, pmu, terms):
    event = parse_raw(text)
    assert (event.pmu, event.terms) == (pmu, terms)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "is not PMU"),
        ("cycles", "is not PMU"),
        ("r003c", "is not PMU"),
        ("cpu/event=0x3c", "is not PMU"),
        ("cpu/event=0x3c/u", "has 'u' behind its last slash"),
        ("/event=1/", "names no PMU"),
        ("../event=1/", "names no PMU"),
        ("cpu//", "which has no name"),
        ("cpu/event=/", "which is not a number"),
        ("cpu/event=0x/", "which is not a number"),
        ("cpu/event=1_0/", "which is not a number"),
        ("cpu/event=-1/", "which is not a number"),
        ("cpu/event=1,event=2/", "has the term 'event' twice"),
        ("cpu/event=18446744073709551616/", "of more than 64 bits"),
        ("cpu/a/b=1/", "which has no name"),
    ],
)
def test_what_is_none_is_told(text, what):
    with pytest.raises(RawEventError) as caught:
        parse_raw(text)
    assert what in caught.value.what
    assert caught.value.fix


@given(TERM, st.dictionaries(TERM, st.none() | st.integers(0, 2**64 - 1), min_size=1, max_size=5))
def test_what_is_written_is_what_is_read(pmu, terms):
    text = ",".join(
        name if value is None else f"{name}={value:#x}" for name, value in terms.items()
    )
    assert parse_raw(f"{pmu}/{text}/").terms == tuple(terms.items())


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(RawEventError):
        assert parse_raw(text).terms
