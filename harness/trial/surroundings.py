"""The environment of each session: captured, stored, and held against that of the session before."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from analysis.record import Finding, diff, findings_of, utc_now

from ..environment import VariableKey, variable_key
from ..store import Store
from .files.inputs import ArgumentFiles
from .preparation import Prepared


class Surroundings:
    """Records the environments of a trial's sessions.

    Parameters
    ----------
    store : Store
        The open trial.
    prepared : Prepared
        The host as it was found.
    executables : mapping
        (benchmark, variant) -> the file that is executed.
    environment : mapping of str to str
        The variables that every command starts from.
    arguments : ArgumentFiles
        The files among the commands' arguments.
    """

    def __init__(
        self,
        store: Store,
        prepared: Prepared,
        executables: Mapping[tuple[str, str], Path],
        environment: Mapping[str, str],
        arguments: ArgumentFiles,
    ) -> None:
        self._store = store
        self._arguments = arguments
        self._prepared = prepared
        self._executables = executables
        self._environment = environment
        self._key = variable_key(os.environ)
        self._unsaid = _without_key(self._key)
        earlier = store.environments()
        self._last = earlier[-1] if earlier else None
        self._segments: dict[int, int] = {
            record["session"]: record.get("segment", 0) for record in earlier
        }

    def next_segment(self, session: int) -> int:
        """Give 0, or how many times the session will have been resumed."""
        return self._segments.get(session, -1) + 1

    def record(self, session: int, segment: int) -> list[Finding]:
        """Store the environment; give, and store, what has changed since the last session."""
        record = self._prepared.describe(self._executables, self._environment, self._key)
        before, self._last = self._last, record
        head = {"session": session, "segment": segment, "at": utc_now()}
        self._store.append_environment(head | record)
        changes = diff(before, record) if before else ()
        found = list(findings_of(changes))
        found += self._unsaid
        self._unsaid = ()  # once is enough
        changed = self._arguments.look()
        if changed:
            self._store.update(arguments=self._arguments.known)
            found += changed
        self._store.append_findings("before", found, session)
        return found


def _without_key(key: VariableKey) -> tuple[Finding, ...]:
    """Make the finding that there is no key, where there is none."""
    if key.problem is None:
        return ()
    return (
        Finding(
            check="variables",
            status="warn",
            what="a change in variables whose values are not stored will not be noticed: the key of "
            f"their hashes cannot be used, {key.problem}",
            where=key.where,
            fix=key.fix,
            reason="a variable may change how fast a program is",
        ),
    )
