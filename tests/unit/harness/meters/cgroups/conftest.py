"""A group below the own one, made and removed by the test: what the kernel really does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.host import Host
from harness.meters.cgroups.removal import empty, remove

NONE = "no cgroup of version 2 can be had here"


@pytest.fixture
def own():
    """Give the own group; the test process is back in it at the end."""
    with Host() as host:
        found = host.own_group()
    if found is None or not found.writable:
        pytest.skip(NONE)
    yield found
    with Host() as host:
        assert host.own_group().path == found.path


@pytest.fixture
def group(own):
    """Give a fresh group below the own one."""
    path = Path(own.path) / f"test-{os.getpid()}"
    path.mkdir()
    yield path
    empty(path)
    assert remove(path)
