"""Builds: their timeout, and that nothing of them lives on."""

from __future__ import annotations

import pytest

from harness.campaign.model import Build, Command
from harness.launch.commands import CommandFailedError, SideCommands
from harness.launch.interrupts import Interrupts


@pytest.fixture
def side():
    made = SideCommands(None, Interrupts())
    yield made
    made.close()


@pytest.mark.parametrize("escapes", ["", "setsid "])
def test_a_build_that_takes_too_long_dies_with_all_that_it_started(
    side, tmp_path, marker, processes, escapes
):
    # make ends at a TERM while its compilers, stubborn or in groups of their own, would go on
    stubborn = f"{escapes}sh -c \"trap '' TERM; while :; do sleep 0.05; done\" {marker} & wait"
    step = Command(argv=("/bin/sh", "-c", stubborn), mark="campaign.yaml:3:1")
    build = Build(variant="v", steps=(step,), cwd=tmp_path, env={})
    with pytest.raises(CommandFailedError, match=r"was ended after 0\.3 s") as caught:
        side.build(build, {"PATH": "/usr/bin:/bin"}, tmp_path, timeout_s=0.3)
    assert "raise protocol.build_timeout" in caught.value.fix
    assert caught.value.where == "campaign.yaml:3:1"
    assert processes.processes_with(marker) == []
