"""A group below the own one, made and removed by the test: what the kernel really does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.host.activity import Host
from harness.host.cgroups import empty, remove


@pytest.fixture
def own(own_group):
    """Put the test process into a group below its own, where no other one makes or removes any.

    It is back there at the end of the test.
    """
    above = Path(own_group.path)
    place = above / f"test-own-{os.getpid()}"
    place.mkdir()
    (place / "cgroup.procs").write_text("0")
    with Host() as host:
        found = host.own_group()
    assert found.path == str(place)
    yield found
    with Host() as host:
        back = host.own_group().path
    (above / "cgroup.procs").write_text("0")
    assert remove(place)
    assert back == found.path


@pytest.fixture
def group(own):
    """Give a fresh group below the own one."""
    path = Path(own.path) / f"test-{os.getpid()}"
    path.mkdir()
    yield path
    empty(path)
    assert remove(path)
