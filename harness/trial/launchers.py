"""The launcher of a session, and a new one where it died."""

from __future__ import annotations

from collections.abc import Callable

from analysis.record import Finding

from ..launch import Execution, LauncherClient, Request


class SessionLauncher:
    """Hands runs to a launcher; `renew` replaces one that died.

    Parameters
    ----------
    make : callable
        Starts a launcher; a `LaunchError` of it ends the trial.
    tell : callable
        Hears of a death, as a finding.
    """

    def __init__(self, make: Callable[[], LauncherClient], tell: Callable[[Finding], None]) -> None:
        self._make = make
        self._tell = tell
        self._client = make()

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
        self._tell(
            Finding(
                check="launcher",
                status="warn",
                what=what,
                reason="the run may have killed it: it is executed once more, under a new launcher",
            )
        )
        self._client = self._make()

    def close(self) -> None:
        """End the launcher; it sweeps before it exits."""
        self._client.close()
