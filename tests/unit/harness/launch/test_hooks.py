"""Builds: their timeout, that nothing of them lives on, and what they took."""

from __future__ import annotations

import sys

import pytest

from harness.campaign.model import Build, Command
from harness.launch.commands import CommandFailedError, SideCommands
from harness.launch.matching import Interrupts


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


def test_what_a_build_took_is_the_sum_of_its_steps_and_the_peak_of_any_process(side, tmp_path):
    # 40 MB in a child that the shell waits for: far above the launcher's own peak
    hungry = f"{sys.executable} -S -c 'bytes([7]) * 40_000_000'; sleep 0.02"
    steps = tuple(
        Command(argv=("/bin/sh", "-c", text), mark="campaign.yaml:3:1")
        for text in ("sleep 0.03; echo said", hungry)
    )
    build = Build(variant="v", steps=steps, cwd=tmp_path, env={})
    cost = side.build(build, {"PATH": "/usr/bin:/bin"}, tmp_path, timeout_s=60.0)
    assert cost.seconds >= 0.05
    assert cost.max_rss_bytes > 40_000_000 > cost.max_rss_floor_bytes > 0
    assert [log.name for log in cost.logs] == ["build-v-1.log", "build-v-2.log"]
    assert cost.logs[0].read_text() == "said\n"
    again = side.build(build, {"PATH": "/usr/bin:/bin"}, tmp_path, timeout_s=60.0)
    assert [log.name for log in again.logs] == ["build-v-again1-1.log", "build-v-again1-2.log"]
