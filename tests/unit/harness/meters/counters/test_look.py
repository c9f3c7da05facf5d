"""What is said of events that cannot be had: why, where that was read, and the exact command."""

import errno
import struct

import pytest

from harness.host.counters import CounterPlan, EventAnswer, Resolved, look_of
from harness.host.state import MissingEvent

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
        "the processor has no counter left for it beside cycles; the kernel's watchdog takes one"
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
