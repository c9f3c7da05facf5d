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


def test_clocks_that_go_together_are_no_finding(clocks):
    watch = clocks.watch()
    clocks.go_on(3600)
    assert watch.findings() == ()


@pytest.mark.parametrize(("step", "says"), [(7200.0, "+7200.0 s"), (-3.5, "-3.5 s")])
def test_step_of_the_wall_clock_is_found_once(clocks, step, says):
    watch = clocks.watch()
    clocks.go_on(1, step=step)
    (finding,) = watch.findings()
    assert (finding.check, finding.status) == ("clock", "warn")
    assert says in finding.what
    clocks.go_on(1)
    assert watch.findings() == ()


def test_slewing_is_no_step(clocks):
    watch = clocks.watch()
    for _ in range(100):
        clocks.go_on(60, step=0.03)
        assert watch.findings() == ()


def test_sleep_of_the_host_is_no_step(clocks):
    watch = clocks.watch()
    clocks.go_on(1, slept=600)
    (finding,) = watch.findings()
    assert "slept for 600.0 s" in finding.what


def test_step_and_sleep_are_told_apart(clocks):
    watch = clocks.watch()
    clocks.go_on(1, step=-60, slept=600)
    step, slept = watch.findings()
    assert "-60.0 s" in step.what
    assert "600.0 s" in slept.what


def test_real_clocks_go_together():
    assert ClockWatch().findings() == ()
