"""perf_event_open(2): the layout is that of the kernel's header. Authority: include/uapi/linux/perf_event.h."""

import ctypes

import pytest

from harness.host.counters import MACHINES, event_attributes


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
    assert {name: machine.call for name, machine in MACHINES.items()} == {
        "x86_64": 298,
        "aarch64": 241,
        "riscv64": 241,
        "loongarch64": 241,
        "ppc64le": 319,
    }
