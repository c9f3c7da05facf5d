from __future__ import annotations

import pytest

from harness.trial.measure import ClockWatch

SECOND = 10**9


class Clocks:
    """Three clocks that a test moves."""

    def __init__(self):
        self.wall_ns, self.monotonic_ns, self.boot_ns = 1_700_000_000 * SECOND, 5, 5

    def go_on(self, seconds, *, step=0.0, slept=0.0):
        self.monotonic_ns += round(seconds * SECOND)
        self.boot_ns += round((seconds + slept) * SECOND)
        self.wall_ns += round((seconds + slept + step) * SECOND)

    def watch(self):
        return ClockWatch(lambda: self.wall_ns, lambda: self.monotonic_ns, lambda: self.boot_ns)


@pytest.fixture
def clocks():
    return Clocks()


@pytest.mark.parametrize(
    ("moves", "says"),
    [
        ({}, []),
        ({"step": 7200.0}, ["+7200.0 s"]),
        ({"step": -3.5}, ["-3.5 s"]),
        ({"slept": 600}, ["slept for 600.0 s"]),
        ({"step": -60, "slept": 600}, ["-60.0 s", "600.0 s"]),
    ],
)
def test_steps_of_the_wall_clock_and_sleep_are_found_once_each(clocks, moves, says):
    watch = clocks.watch()
    clocks.go_on(3600, **moves)
    found = watch.findings()
    assert {(one.check, one.status) for one in found} <= {("clock", "warn")}
    assert all(text in one.what for text, one in zip(says, found, strict=True))
    clocks.go_on(1)
    assert watch.findings() == ()


def test_slewing_is_no_step(clocks):
    watch = clocks.watch()
    for _ in range(100):
        clocks.go_on(60, step=0.03)
        assert watch.findings() == ()


def test_real_clocks_go_together():
    assert ClockWatch().findings() == ()
