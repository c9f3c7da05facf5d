"""Variables as execve wants them.

Authority: execve(2): a list of strings NAME=VALUE that ends with NULL, each with a NUL at its end.
"""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given, strategies as st

from harness.launch.in_launcher.serving import Environment, Padding, strings


def read(environment: Environment) -> list[bytes]:
    """Read it as the kernel does: up to the first NULL."""
    array = ctypes.cast(environment.strings, ctypes.POINTER(ctypes.c_char_p))
    found = []
    while array[len(found)] is not None:
        found.append(array[len(found)])
    return found


def test_a_list_ends_with_null_and_keeps_its_order():
    assert list(strings([b"b", b"a", b""])) == [b"b", b"a", b"", None]
    assert list(strings([b"a"], room=2)) == [b"a", None, None, None]


@pytest.mark.parametrize("part", [b"\0", b"a\0b", b"a\0"])
def test_a_nul_inside_is_refused(part):
    with pytest.raises(OSError, match="Invalid argument"):
        strings([b"fine", part])


# Lengths go up and down, beyond the page that the text begins with, and through 0, which is no variable.
@given(st.lists(st.integers(0, 5000) | st.sampled_from([0, 1, 4095, 4096, 4097]), max_size=30))
def test_each_run_has_its_own_length(lengths):
    environment = Environment([b"A=1", b"B=2"], Padding(b"PAD"))
    for length in lengths:
        environment.pad(length)
        padded = [b"PAD=" + b"x" * length] if length else []
        assert read(environment) == [b"A=1", b"B=2", *padded]


def test_programs_may_share_a_padding():
    padding = Padding(b"PAD")
    first, second = Environment([b"A=1"], padding), Environment([], padding)
    first.pad(3)
    second.pad(5000)  # the text moves
    second.pad(2)
    assert read(second) == [b"PAD=xx"]
    first.pad(4)
    assert read(first) == [b"A=1", b"PAD=xxxx"]


def test_without_a_padding_nothing_is_set():
    environment = Environment([b"A=1"], None)
    environment.pad(100)
    assert read(environment) == [b"A=1"]
