"""The closed list of events. Authority: include/uapi/linux/perf_event.h, and `perf list` for the names."""

import re
from pathlib import Path

from analysis.methods.variance_sources.covariates import is_counter
from harness.campaign.scalar_kinds import NAME
from harness.host.counter_events import EVENTS

PAGE = Path(__file__).resolve().parents[5] / "docs" / "counters.md"
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
