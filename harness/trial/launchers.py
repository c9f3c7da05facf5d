"""The launcher of a session: whether it stays awake, and a new one where it died."""

from __future__ import annotations

from collections.abc import Callable

from analysis.record import Finding

from ..campaign import Campaign
from ..host import CpuPlan, HostState
from ..launch import Execution, LauncherClient, Request


class SessionLauncher:
    """Hands runs to a launcher; `renew` replaces one that died.

    Parameters
    ----------
    make : callable
        Starts a launcher; a `LaunchError` of it ends the trial.
    tell : callable
        Hears of a death, and of what stood still, as a finding.
    """

    def __init__(self, make: Callable[[], LauncherClient], tell: Callable[[Finding], None]) -> None:
        self._make = make
        self.tell = tell
        self._client = make()
        self._placement = self._client.placement
        self._rows: list[int] = []  # executed since it was last looked at

    def execute(
        self,
        request: Request,
        watch: Callable[[], str | None],
        every_s: float,
        *,
        padding: int = 0,
        count: bool = False,
    ) -> Execution:
        """Execute one program; arguments and errors as of `LauncherClient.execute`."""
        return self._client.execute(request, watch, every_s, padding=padding, count=count)

    def targets(self) -> tuple[int, ...]:
        """List the processes that the launcher has as children right now."""
        return self._client.targets()

    def renew(self, what: str) -> None:
        """Start a new launcher in place of one that died, and say so.

        Raises
        ------
        LaunchError
            If there can be none.
        """
        self._client.close()
        self.tell(
            Finding(
                check="launcher",
                status="warn",
                what=what,
                reason="the run may have killed it: it is executed once more, under a new launcher",
            )
        )
        self._client = self._make()

    def executed(self, position: int) -> None:
        """Note a run whose row stands: what is found next touches it."""
        self._rows.append(position)

    def hold(self) -> None:
        """Look whether it still runs where and how it did at its start: once a block.

        A program with the rights for it may change its launcher, and all later ones inherit that. What was
        changed is put back; where that is not permitted a new launcher takes its place. The rows since
        the last look are named.

        Raises
        ------
        LaunchError
            If there can be no new one.
        """
        rows, self._rows = self._rows, []
        before, now = self._placement, self._client.placement
        if before is None or now is None or now == before or not rows:
            return
        self._client.place(before)
        what = "it was put back"
        if self._client.placement != before:
            self._client.close()
            self._client = self._make()
            what = "a new launcher took its place"
            if (found := self._client.placement) != before:
                self._placement = found  # said once
                what = "it cannot be put back, and stays"
        self.tell(
            Finding(
                check="placement",
                status="warn",
                what=f"the launcher was changed while it measured: {before.changes(now)}; {what}. Runs of the "
                f"rows from position {rows[0]} to {rows[-1]} may have inherited that, whatever the rows say",
                where="affinity, nice and scheduling of the launcher, looked at once a block",
                fix="find out which program changes its parent; measure those rows again",
                reason="a program inherits where it runs, and how it is scheduled, from its launcher",
            )
        )

    def close(self) -> None:
        """End the launcher; it sweeps before it exits."""
        self._client.close()


def stays(campaign: Campaign, cpus: CpuPlan, state: HostState) -> bool:
    """Tell whether a session's launcher stays awake for the next run: where it takes the CPU from nobody.

    It is the same for all runs of a session, so that no variant is measured another way than the
    others. Not where fairtrial itself may run on the targets' CPUs or beside them on their cores,
    nor where that is unknown: it would wait for the launcher. Not in the real-time class: a busy
    launcher would use up the share of time that the kernel leaves to it. Not where something is
    executed or waited for between the runs, on battery, or under a quota of processor time.
    """
    if cpus.targets is None or set(cpus.reserved) & set(cpus.housekeeping):
        return False
    if any(cpu.siblings is None for cpu in state.topology.only(cpus.targets)):
        return False
    if campaign.isolation.scheduling == "fifo" or campaign.protocol.cooldown_s > 0:
        return False
    if any(cell.before or cell.after for cell in campaign.cells):
        return False
    return not state.draining and state.quota_cpus is None
