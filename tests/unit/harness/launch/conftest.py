from __future__ import annotations

import os

import pytest

from harness.campaign.model import Isolation
from harness.launch.client import LauncherClient
from harness.launch.exchange import LaunchRequest
from harness.launch.matching import Interrupts


@pytest.fixture(params=["auto", "none"])
def containment(request):
    return request.param


@pytest.fixture
def open_launcher():
    """Open launchers that are closed at the end, whatever happened to them."""
    opened = []

    def open_one(cpus=None, interrupts=None, **isolation):
        launcher = LauncherClient(Isolation(**isolation), cpus, interrupts or Interrupts())
        opened.append(launcher)
        return launcher

    yield open_one
    for launcher in opened:
        launcher.close()


@pytest.fixture
def request_for(tmp_path, marker):
    """Make a request whose argument list carries the marker at its end."""

    def make(*command, argv0=None, **changes):
        path, *rest = command
        fields = {
            "path": path,
            "argv": (argv0 or path, *rest, marker),
            "env": {b"PATH": os.fsencode(os.environ["PATH"]), b"LC_ALL": b"C.UTF-8"},
            "cwd": tmp_path,
            "stdout": tmp_path / "stdout",
            "stderr": tmp_path / "stderr",
        }
        return LaunchRequest(**(fields | changes))

    return make
