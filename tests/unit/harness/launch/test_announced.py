"""What a launcher has been told: once for each program, again when something of it changed."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from harness.launch.client import _MOST, Announced
from harness.launch.exchange import LaunchRequest


def request(number=0):
    return LaunchRequest(path=f"/bin/{number}", argv=("x",), env={b"A": b"1"}, cwd=Path("/"))


@pytest.fixture
def announced():
    return Announced()


def test_a_program_is_announced_once(announced):
    one, other = request(), request()
    handle, message = announced.handle(one)
    assert (message["op"], message["handle"], message["path"]) == ("prepare", handle, b"/bin/0")
    assert message["env"] == [b"A=1"]
    assert announced.handle(one) == (handle, None)
    number, again = announced.handle(other)  # equal, but another one
    assert number != handle
    assert again is not None
    assert announced.handle(one) == (handle, None)


def test_a_changed_environment_is_announced_under_the_same_handle(announced):
    one = request()
    handle, _ = announced.handle(one)
    one.env[b"A"] = b"2"
    again, message = announced.handle(one)
    assert (again, message["env"]) == (handle, [b"A=2"])
    assert announced.handle(one) == (handle, None)
    del one.env[b"A"]
    assert announced.handle(one)[1]["env"] == []


def test_a_request_that_is_gone_does_not_lend_its_id(announced):
    seen = set()
    for number in range(200):  # without a reference of its own, ids would come again
        _, message = announced.handle(request(number))
        seen.add(message["path"])
        gc.collect(0)
    assert len(seen) == 200


def test_the_oldest_makes_room(announced):
    first = request()
    handle, _ = announced.handle(first)
    others = [request(k) for k in range(1, _MOST)]
    numbers = {announced.handle(one)[0] for one in others}
    assert len(numbers | {handle}) == _MOST
    assert announced.handle(first) == (handle, None)
    assert announced.handle(request(_MOST))[0] == handle  # what comes now has its place
    number, message = announced.handle(first)
    assert message is not None
    assert 0 <= number < _MOST
