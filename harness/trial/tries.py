"""Executions of a run of which nothing is kept: why, and what is said of them."""

from __future__ import annotations

from analysis.record import Finding, PlannedRun

from ..launch import Standstill


class RunDied(Exception):  # noqa: N818 - not an error yet: it may be the machine's
    """The launcher died while a run was under way."""


class RunStoodStill(Exception):  # noqa: N818 - likewise
    """What a run's times are made of stood still while it was under way."""

    def __init__(self, stood: Standstill) -> None:
        super().__init__(str(stood))


def finding_of_standstill(run: PlannedRun, stood: RunStoodStill, *, again: bool) -> Finding:
    """Say what stood still while a run was under way, and whether it is executed again."""
    what = "discarded and executed again" if again else "given up: so it was in each earlier try"
    return Finding(
        check="suspended",
        status="warn",
        what=f"{run.benchmark} / {run.variant}, position {run.position}: {stood}; the run is {what}",
        where="SIGCONT, the launcher's state, waits and clocks of the runner",
        fix="let nobody stop a trial: no batch system, no debugger, and not the program itself",
        reason="a program that stood still, or whose end was noticed late, has no wall time",
    )
