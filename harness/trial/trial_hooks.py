"""The hooks around a trial and its sessions: setup, cleanup and finish, each with a log of its own."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, count
from pathlib import Path

from analysis.record import OUTPUTS, Finding

from ..campaign import Campaign, Command
from ..launch import CommandFailedError, Interrupted, Interrupts, SideCommands
from ..store import Store
from .watcher import Watcher


class TrialHooks:
    """Executes the hooks of a trial that are not around runs.

    Parameters
    ----------
    campaign : Campaign
        Whose hooks they are.
    store : Store
        Takes their logs, and what failed.
    environment : mapping of str to str
        The variables that they start from.
    commands : SideCommands
        Executes them.
    interrupts : Interrupts
        Are set aside while hooks clean up.
    watcher : Watcher
        Hears of what failed.
    """

    def __init__(
        self,
        *,
        campaign: Campaign,
        store: Store,
        environment: Mapping[str, str],
        commands: SideCommands,
        interrupts: Interrupts,
        watcher: Watcher,
    ) -> None:
        self._campaign = campaign
        self._store = store
        self._environment = {**environment, "FAIRTRIAL_TRIAL": str(store.path.resolve())}
        self._commands = commands
        self._interrupts = interrupts
        self._watcher = watcher

    def setup(self, session: int) -> None:
        """Execute what comes before a session.

        Raises
        ------
        CommandFailedError
            If one fails: the session cannot begin.
        """
        for number, command in enumerate(self._campaign.hooks.setup, 1):
            self._execute("setup", number, command, {"FAIRTRIAL_SESSION": str(session)})

    def cleanup(self, session: int) -> None:
        """Execute what ends a session, whatever has become of it."""
        self._last("cleanup", self._campaign.hooks.cleanup, {"FAIRTRIAL_SESSION": str(session)})

    def finish(self, status: str) -> None:
        """Execute what ends the trial."""
        self._last("finish", self._campaign.hooks.finish, {"FAIRTRIAL_STATUS": status})

    def _last(self, name: str, commands: tuple[Command, ...], extra: Mapping[str, str]) -> None:
        """Execute hooks that come last: a failure is a finding, the measurements stand."""
        with self._interrupts.set_aside():
            for number, command in enumerate(commands, 1):
                try:
                    self._execute(name, number, command, extra)
                except (CommandFailedError, Interrupted) as error:
                    what = "interrupted"
                    if isinstance(error, CommandFailedError):  # what it wrote stays in its log
                        what = error.what.splitlines()[0]
                    finding = Finding(check="hook", status="warn", what=f"hook '{name}': {what}")
                    self._store.append_findings("after", [finding])
                    self._watcher.findings((finding,))

    def _execute(self, name: str, number: int, command: Command, extra: Mapping[str, str]) -> None:
        self._commands.execute(
            f"hook '{name}'",
            command,
            cwd=self._campaign.source.parent,
            env={**self._environment, **extra},
            log=self._log(name, extra.get("FAIRTRIAL_SESSION"), number),
            timeout_s=self._campaign.hooks.timeout_s,
        )

    def _log(self, name: str, session: str | None, number: int) -> Path:
        """Name a hook's log; a session that is resumed adds logs and overwrites none."""
        stem = name if session is None else f"{name}-session{session}"
        folder = self._store.path / OUTPUTS
        repeats = chain([""], (f"-again{n}" for n in count(1)))
        paths = (folder / f"{stem}{again}-{number}.log" for again in repeats)
        return next(path for path in paths if not path.exists())
