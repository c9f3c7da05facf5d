"""What is said of events that cannot be had: why, where that was read, and the exact command."""

from __future__ import annotations

import ctypes
import errno
import runpy
import struct
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from harness.host.counter_events import EVENTS, parse_raw
from harness.host.counters import (
    MACHINES,
    CounterPlan,
    CounterTally,
    EventAnswer,
    Pmus,
    Resolved,
    event_attributes,
    look_of,
    plan_of,
    resolve_event,
)
from harness.host.state import MissingEvent, Tree

CYCLES = Resolved(name="cycles", unit="1", kind=0, words=(0, 0, 0, 0), on_processor=True)
MISSES = Resolved(name="cache-misses", unit="1", kind=0, words=(3, 0, 0, 0), on_processor=True)
FAULTS = Resolved(
    name="page-faults", unit="1", kind=1, words=(2, 0, 0, 0), on_processor=False, may_be_still=True
)
SWITCHES = Resolved(
    name="context-switches",
    unit="1",
    kind=1,
    words=(3, 0, 0, 0),
    on_processor=False,
    needs_kernel=True,
)
GOOD = EventAnswer(0, 0, fits=True)


def plan(*events, **facts):
    return CounterPlan(events=events, machine=facts.pop("machine", "x86_64"), **facts)


def refused(number):
    return EventAnswer(number, 0, fits=False)


def missing(event, answer, **facts):
    look = look_of(plan(event, **facts), [answer])
    assert not look.counted
    (one,) = look.missing
    return one


def test_what_can_be_had_is_a_metric():
    look = look_of(plan(CYCLES, FAULTS), [GOOD, EventAnswer(0, 1, fits=True)])
    assert look.metrics == {
        name: {"unit": "1", "better": "lower", "source": "counters"}
        for name in ("cycles", "page-faults")
    }
    assert [one.user_only for one in look.counted] == [False, True]
    assert look.to_dict() == {"cycles": "all", "page-faults": "user"}


def test_no_hardware_counters_is_a_virtual_machine():
    one = missing(CYCLES, refused(errno.ENOENT), virtual="kvm")
    assert one.what == "this machine shows no hardware counters: it is a virtual machine (kvm)"
    assert "ENOENT" in one.where
    assert "vPMU" in one.fix
    open_question = missing(CYCLES, refused(errno.ENOENT), virtual=None)
    assert open_question.what == "this machine shows no hardware counters (a virtual machine?)"


def test_an_event_that_this_processor_lacks_is_another_matter():
    one = missing(CYCLES, refused(errno.EOPNOTSUPP), has_processor=True)
    assert one.what == "this processor does not count it"
    assert "ENOTSUP" in one.where  # the other name of the same number
    assert "perf list" in one.fix


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM])
@pytest.mark.parametrize("level", [3, 4])
def test_a_strict_kernel_is_told_with_its_command(number, level):
    one = missing(CYCLES, refused(number), paranoid=level)
    assert one.where == f"/proc/sys/kernel/perf_event_paranoid = {level}"
    assert one.fix.startswith(
        "sudo sysctl kernel.perf_event_paranoid=2, or: sudo setcap cap_perfmon"
    )


def test_a_python_with_a_strange_name_is_one_word(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/a b$(x)/python")
    one = missing(CYCLES, refused(errno.EPERM), paranoid=3)
    assert one.fix.endswith(" '/a b$(x)/python'")


def test_what_needs_the_kernels_part_is_not_taken_without_it():
    one = missing(SWITCHES, refused(errno.EACCES), paranoid=2)
    assert "falsely read 0" in one.what
    assert one.fix.startswith("sudo sysctl kernel.perf_event_paranoid=1, or: ")


def test_a_container_that_forbids_it_is_not_the_kernels_setting():
    one = missing(CYCLES, refused(errno.EPERM), paranoid=1)
    assert "a container's rules?" in one.what
    assert "--cap-add PERFMON" in one.fix


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSYS, "CONFIG_PERF_EVENTS"),
        (errno.EMFILE, "Too many open files"),
        (errno.EINVAL, "shows no hardware counters"),
        (errno.EIO, "the kernel does not open it"),
    ],
)
def test_other_refusals_are_told(number, words):
    assert words in missing(CYCLES, refused(number)).what


def test_events_beyond_the_processors_places_name_those_that_have_them():
    look = look_of(
        plan(CYCLES, FAULTS, MISSES, watchdog=True), [GOOD, GOOD, EventAnswer(0, 0, fits=False)]
    )
    (one,) = look.missing
    assert one.what == (
        "the processor has no counter left for it after cycles; the kernel's watchdog takes one"
    )
    assert "multiplex: allow" in one.fix
    assert "nmi_watchdog=0" in one.fix


def test_what_was_not_there_before_the_kernel_was_asked_stays_in_its_place():
    gone = MissingEvent(name="x", what="there is no PMU 'gpu' on this host", where="/sys")
    look = look_of(plan(gone, FAULTS), [GOOD])
    assert [one.name for one in look.counted] == ["page-faults"]
    assert look.missing[0].what == "there is no PMU 'gpu' on this host"
    assert look.to_dict() == {"page-faults": "all", "x": "none: there is no PMU 'gpu' on this host"}


def test_what_the_kernel_does_not_count_for_a_program_is_no_matter_of_the_processor():
    one = missing(FAULTS, refused(errno.ENOENT), has_processor=True, virtual="kvm")
    assert one == MissingEvent(
        "page-faults", "the kernel does not count it for a program", "perf_event_open: ENOENT"
    )


def test_a_launcher_is_told_of_each_event_and_of_each_way_to_open_it():
    told = plan(CYCLES, MissingEvent("x", "gone"), SWITCHES, share=True).message
    assert (told["call"], told["share"]) == (298, True)  # of x86_64: asm/unistd_64.h
    assert [one["on_processor"] for one in told["events"]] == [True, False]
    # with the kernel's part, and without: but not where that would falsely read 0
    assert [len(one["ways"]) for one in told["events"]] == [2, 1]
    # include/uapi/linux/perf_event.h: the type, the size, then the config
    ways = [way for one in told["events"] for way in one["ways"]]
    assert [struct.unpack_from("<I4xQ", way["count"]) for way in ways] == [(0, 0), (0, 0), (1, 3)]
    assert struct.unpack_from("<I4xQ", told["ours"]) == (1, 9)  # PERF_COUNT_SW_DUMMY
    assert plan(MissingEvent("x", "gone")).message is None


def test_a_machine_of_an_unknown_kind_is_asked_nothing():
    wanted = plan(CYCLES, machine="pdp11")
    assert wanted.message is None
    (one,) = look_of(wanted, None).missing
    assert "'pdp11' is not known here" in one.what


# --- What the kernel's PMUs make of an event
#
# Authority: Documentation/ABI/testing/sysfs-bus-event_source-devices-format and -events: a term's bits lie
# where its file says, from the lowest one on; and for processors with cores of two kinds
# tools/perf/Documentation/intel-hybrid.txt: the PMU's type stands in the upper half of config.


plant = runpy.run_path(str(Path(__file__).parents[3] / "hosts" / "trees.py"))["plant"]
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


# --- From what was read around a run to its metrics
#
# Authority: perf_event_open(2): an event that was counted for a part of the time is estimated as value x
# enabled / running; one that was never counted has no value.


def event(name, unit="1", **more):
    return Resolved(name=name, unit=unit, kind=0, words=(0, 0, 0, 0), on_processor=True, **more)


TALLY_CYCLES, RAW = event("cycles"), event("halts")
TALLY_FAULTS = event("page-faults", may_be_still=True)
CLOCK = event("task-clock", "s", may_be_still=True)


def tally(*events, share=False, answers=None):
    plan = CounterPlan(events=events, share=share, machine="x86_64")
    return CounterTally(plan, look_of(plan, answers or [GOOD] * len(events)))


def said(one):
    return [finding.what for finding in one.findings()]


def test_a_count_stays_whole_and_time_is_in_seconds():
    one = tally(TALLY_CYCLES, CLOCK)
    found = one.metrics([(2**60 + 1, 50, 50), (1_500_000_000, 50, 50)])
    assert found == {"cycles": (2**60 + 1,), "task-clock": (1.5,)}
    assert isinstance(found["cycles"][0], int)
    assert not said(one)


def test_a_run_that_was_not_counted_has_none():
    assert tally(TALLY_CYCLES).metrics(None) == {}


def test_an_event_that_was_never_on_the_processor_has_no_value():
    one = tally(TALLY_CYCLES, RAW)
    assert one.metrics([(0, 100, 0), None]) == {}
    assert one.metrics([(7, 100, 100), (0, 9, 9)]) == {"cycles": (7,), "halts": (0,)}
    assert said(one) == [
        "cycles was not counted in 1 of 2 runs: these rows are without it",
        "halts was not counted in 1 of 2 runs: these rows are without it",
    ]


def test_a_count_that_went_back_is_none():
    # what is enabled at an exec only grows: whatever this is, it is not what the run did
    one = tally(TALLY_CYCLES, CLOCK)
    assert one.metrics([(-7, 100, 100), (-1, 100, 100)]) == {}
    assert len(said(one)) == 2


def test_an_event_that_shared_its_counter_is_refused_or_scaled():
    refusing = tally(TALLY_CYCLES)
    assert refusing.metrics([(50, 100, 25)]) == {}
    assert refusing.metrics([(50, 100, 100)]) == {"cycles": (50,)}
    assert "a part of the time only in 1 of 2 runs (least: 25%): these rows" in said(refusing)[0]
    allowing = tally(TALLY_CYCLES, share=True)
    assert allowing.metrics([(50, 100, 25)]) == {"cycles": (200.0,)}
    assert "its values there are scaled up, and estimates" in said(allowing)[0]


def test_two_clocks_read_one_after_the_other_are_the_same_time():
    one = tally(TALLY_CYCLES)
    assert one.metrics([(50, 1_000_000, 999_950)]) == {"cycles": (50,)}
    assert not said(one)


def test_what_moves_in_every_run_is_unknown_where_it_stands():
    # a virtual machine may open the events of a processor that it does not have
    one = tally(TALLY_CYCLES, TALLY_FAULTS)
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


def test_a_raw_event_may_be_0_but_not_always():
    one = tally(RAW)
    assert one.metrics([(0, 9, 9)]) == {"halts": (0,)}
    assert "halts read 0 in all 1 runs" in said(one)[0]
    one.metrics([(4, 9, 9)])
    assert not said(one)


def test_events_that_the_trial_did_not_begin_with_are_no_metrics():
    # a row may hold only what its manifest declares, whatever a later launcher can open
    one = tally(TALLY_CYCLES, TALLY_FAULTS, answers=[EventAnswer(13, 0, fits=False), GOOD])
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


# --- perf_event_open(2): the layout is that of the kernel's header. Authority: include/uapi/linux/perf_event.h


class _Header(ctypes.Structure):
    """The beginning of struct perf_event_attr, laid out by the C rules of this machine."""

    _fields_ = (
        ("type", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("config", ctypes.c_uint64),
        ("sample_period", ctypes.c_uint64),
        ("sample_type", ctypes.c_uint64),
        ("read_format", ctypes.c_uint64),
        ("disabled", ctypes.c_uint64, 1),
        ("inherit", ctypes.c_uint64, 1),
        ("pinned", ctypes.c_uint64, 1),
        ("exclusive", ctypes.c_uint64, 1),
        ("exclude_user", ctypes.c_uint64, 1),
        ("exclude_kernel", ctypes.c_uint64, 1),
        ("exclude_hv", ctypes.c_uint64, 1),
        ("exclude_idle", ctypes.c_uint64, 1),
        ("mmap", ctypes.c_uint64, 1),
        ("comm", ctypes.c_uint64, 1),
        ("freq", ctypes.c_uint64, 1),
        ("inherit_stat", ctypes.c_uint64, 1),
        ("enable_on_exec", ctypes.c_uint64, 1),
        ("further", ctypes.c_uint64, 51),
        ("wakeup_events", ctypes.c_uint32),
        ("bp_type", ctypes.c_uint32),
        ("config1", ctypes.c_uint64),
        ("config2", ctypes.c_uint64),
        ("between", ctypes.c_uint8 * 56),
        ("config3", ctypes.c_uint64),
    )


def test_the_attributes_lie_where_the_kernel_reads_them():
    given = event_attributes(4, (5, 6, 7, 8), disabled=True, on_exec=True)
    laid = _Header.from_buffer_copy(given)
    assert ctypes.sizeof(_Header) == laid.size == len(given) == 136
    assert (laid.type, laid.config, laid.config1, laid.config2, laid.config3) == (4, 5, 6, 7, 8)
    assert (laid.disabled, laid.inherit, laid.pinned, laid.enable_on_exec) == (1, 0, 0, 1)
    assert (laid.exclude_user, laid.exclude_kernel, laid.exclude_hv) == (0, 0, 0)
    assert laid.read_format == 3
    assert not any((laid.sample_period, laid.sample_type, laid.further, *laid.between))


@pytest.mark.parametrize(
    ("option", "bits"),
    [
        ("inherit", ("inherit",)),
        ("pinned", ("pinned",)),
        ("user_only", ("exclude_kernel", "exclude_hv")),
    ],
)
def test_each_option_is_its_bit_and_no_other(option, bits):
    laid = _Header.from_buffer_copy(event_attributes(1, (1, 0, 0, 0), **{option: True}))
    flags = [name for name, *rest in _Header._fields_ if len(rest) == 2]
    assert {name for name in flags if getattr(laid, name)} == set(bits)


def test_the_numbers_are_those_of_the_kernels_tables():
    assert {name: call for name, (call, _) in MACHINES.items()} == {
        "x86_64": 298,
        "aarch64": 241,
        "riscv64": 241,
        "loongarch64": 241,
        "ppc64le": 319,
    }
