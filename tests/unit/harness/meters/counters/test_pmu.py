"""What the kernel's PMUs make of an event.

Authority: Documentation/ABI/testing/sysfs-bus-event_source-devices-format and -events: a term's bits lie
where its file says, from the lowest one on; and for processors with cores of two kinds
tools/perf/Documentation/intel-hybrid.txt: the PMU's type stands in the upper half of config.
"""

import runpy
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from harness.host.counter_events import EVENTS, parse_raw
from harness.host.counters import Pmus, Resolved, plan_of, resolve_event
from harness.host.state import MissingEvent, Tree

plant = runpy.run_path(str(Path(__file__).parents[4] / "hosts" / "trees.py"))["plant"]
DEVICES = "sys/bus/event_source/devices"
PLAIN = {
    f"{DEVICES}/software/type": "1\n",
    f"{DEVICES}/cpu/type": "4\n",
    f"{DEVICES}/cpu/format/event": "config:0-7\n",
    f"{DEVICES}/cpu/format/umask": "config:8-15\n",
    f"{DEVICES}/cpu/format/edge": "config:18\n",
    f"{DEVICES}/cpu/format/split": "config:0-7,32-35\n",
    f"{DEVICES}/cpu/format/ldlat": "config1:0-15\n",
    f"{DEVICES}/cpu/format/odd": "config9:0-15\n",
    f"{DEVICES}/cpu/events/cpu-cycles": "event=0x3c\n",
    f"{DEVICES}/cpu/events/mem-loads": "event=0xcd,umask=0x1,ldlat=3\n",
    f"{DEVICES}/cpu/events/needs-more": "event=0xcd,ldlat=?\n",
    f"{DEVICES}/power/type": "9\n",
    f"{DEVICES}/power/cpumask": "0\n",
    f"{DEVICES}/power/events/energy-psys": "event=0x05\n",
    f"{DEVICES}/power/format/event": "config:0-7\n",
    f"{DEVICES}/silent/format/event": "config:0-7\n",
}
HYBRID = {
    f"{DEVICES}/software/type": "1\n",
    f"{DEVICES}/cpu_core/type": "4\n",
    f"{DEVICES}/cpu_core/cpus": "0-15\n",
    f"{DEVICES}/cpu_core/format/event": "config:0-7\n",
    f"{DEVICES}/cpu_atom/type": "10\n",
    f"{DEVICES}/cpu_atom/cpus": "16-23\n",
    f"{DEVICES}/cpu_atom/format/event": "config:0-7\n",
}


def pmus(root, tree=PLAIN, cpus=(0,)):
    return Pmus(Tree(plant(root, tree)), cpus)


@pytest.mark.parametrize(
    ("raw", "kind", "words"),
    [
        ("cpu/event=0x3c/", 4, (0x3C, 0, 0, 0)),
        ("cpu/event=0x3c,umask=0x1,edge/", 4, (0x4013C, 0, 0, 0)),
        ("cpu/split=0xabc/", 4, (0xA_0000_00BC, 0, 0, 0)),
        ("cpu/cpu-cycles/", 4, (0x3C, 0, 0, 0)),
        ("cpu/mem-loads/", 4, (0x1CD, 3, 0, 0)),
        ("cpu/mem-loads,ldlat=30/", 4, (0x1CD, 30, 0, 0)),
        ("cpu/config=0x1234,config2=5/", 4, (0x1234, 0, 5, 0)),
    ],
)
def test_terms_lie_where_the_format_says(tmp_path, raw, kind, words):
    found = resolve_event("x", raw, pmus(tmp_path))
    assert isinstance(found, Resolved), found
    assert (found.kind, found.words, found.on_processor) == (kind, words, True)


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        ("gpu/event=1/", "there is no PMU 'gpu' on this host"),
        ("cpu/events=1/", "no term and no event 'events'"),
        ("cpu/odd=1/", "no term and no event 'odd'"),
        ("cpu/umask=0x100/", "0x100 does not fit into the term 'umask'"),
        ("cpu/needs-more/", "needs more terms"),
        ("power/energy-psys/", "counts for the whole machine, not for one program"),
        ("silent/event=1/", "does not say its type"),
    ],
)
def test_what_no_pmu_counts_is_told_with_the_file(tmp_path, raw, what):
    found = resolve_event("x", raw, pmus(tmp_path))
    assert isinstance(found, MissingEvent), found
    assert what in found.what
    assert found.where.startswith(f"/{DEVICES}")


def test_events_of_the_list_need_no_pmu_where_there_is_one_kind_of_core(tmp_path):
    for root, tree in ((tmp_path / "plain", PLAIN), (tmp_path / "none", {})):
        root.mkdir()
        for name, event in EVENTS.items():
            found = resolve_event(name, None, pmus(root, tree, None))
            assert isinstance(found, Resolved), name
            assert (found.kind, found.words) == (event.kind, (event.config, 0, 0, 0))


def test_on_cores_of_two_kinds_the_kind_of_the_targets_is_named(tmp_path):
    pinned = {(3,): 4, (0, 15): 4, (20,): 10}
    for cpus, kind in pinned.items():
        found = resolve_event("cycles", None, pmus(tmp_path / str(cpus), HYBRID, cpus))
        assert found.words[0] == kind << 32
        misses = resolve_event(
            "L1-dcache-load-misses", None, pmus(tmp_path / f"c{cpus}", HYBRID, cpus)
        )
        assert misses.words[0] == kind << 32 | 0x10000
        # what the kernel counts itself has no kind
        faults = resolve_event("page-faults", None, pmus(tmp_path / f"f{cpus}", HYBRID, cpus))
        assert faults.words[0] == 2


@pytest.mark.parametrize("cpus", [None, (15, 16), (30,)])
def test_targets_that_may_change_between_kinds_are_not_counted(tmp_path, cpus):
    found = resolve_event("cycles", None, pmus(tmp_path, HYBRID, cpus))
    assert isinstance(found, MissingEvent)
    assert "cores of several kinds" in found.what
    assert "cpu_core: CPUs 0-15, cpu_atom: CPUs 16-23" in found.where or "cpu_atom" in found.where
    assert "isolation.cpus" in found.fix


def test_a_raw_event_of_one_kind_needs_targets_on_it(tmp_path):
    right = resolve_event("x", "cpu_atom/event=1/", pmus(tmp_path / "a", HYBRID, (16, 17)))
    assert (right.kind, right.on_processor) == (10, True)
    wrong = resolve_event("x", "cpu_atom/event=1/", pmus(tmp_path / "b", HYBRID, (3,)))
    assert "counts on CPUs 16-23 only" in wrong.what


def test_garbage_in_the_files_is_never_a_wrong_event(tmp_path):
    for number, word in enumerate(
        ["", "config", "config:9-1", "config:99", "x" * 5000, "config:0-7x"]
    ):
        tree = PLAIN | {f"{DEVICES}/cpu/format/event": word}
        found = resolve_event("x", "cpu/event=0x3c/", pmus(tmp_path / str(number), tree))
        assert isinstance(found, MissingEvent), word


@given(st.integers(0, 2**12 - 1))
def test_the_bits_of_a_split_term_come_back(value):
    class Planted:
        def names(self, path):
            return ("cpu",)

        def cpus(self, path):
            return None

        def number(self, path):
            return 4

        def text(self, path):
            return "config:0-7,32-35" if path.endswith("format/split") else None

    found = Pmus(Planted(), (0,)).resolved("x", parse_raw(f"cpu/split={value}/")).words[0]
    assert (found & 0xFF) | (found >> 32) << 8 == value


def test_a_plan_says_what_explains_refusals(tmp_path):
    tree = PLAIN | {
        "proc/sys/kernel/perf_event_paranoid": "3\n",
        "proc/sys/kernel/nmi_watchdog": "1\n",
    }
    plan = plan_of([("cycles", None), ("x", "gpu/a=1/")], Tree(plant(tmp_path, tree)), (0,))
    assert (plan.paranoid, plan.watchdog, plan.has_processor) == (3, True, True)
    assert [one.name for one in plan.resolved] == ["cycles"]
    bare = plan_of([("x", "gpu/a=1/")], Tree(tmp_path / "nothing"), None)
    assert (bare.paranoid, bare.message) == (None, None)
