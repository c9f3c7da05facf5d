"""In what the environment of a host is not that of most hosts: one reference, differences to it.

Only differences are kept of each environment, so that a fleet of a thousand hosts costs what its hosts
differ in.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import StoreError
from ...record import ENVIRONMENT, EnvironmentShape, diff, records_of
from ..host_standing import HostDifference

__all__ = ["Environments"]

# what is another on every host, or with every login, and says nothing of how it measures
_OWN = {"host.name", "host.machine_id_sha256", "host.boot_id", "process.cwd"}
_OWN_VARIABLES = ("HOSTNAME", "HOST", "SLURM", "PWD", "TMPDIR", "XDG_")
_LONGEST = 80


@dataclass(slots=True)
class Environments:
    """The environments of hosts, gathered one at a time as differences to the first."""

    _reference: Mapping[str, Any] | None = None
    _hosts: dict[str, dict[str, tuple[str, str, bool]]] = field(default_factory=dict)

    def add(self, host: str, trial: Path) -> None:
        """Read the environment of a trial's first session; what cannot be read tells nothing."""
        record = _first(trial)
        if record is None:
            return
        if self._reference is None:
            self._reference = record
        self._hosts[host] = {
            change.key: (_told(change.old), _told(change.new), change.identity)
            for change in diff(self._reference, record)
            if change.key not in _OWN and change.kind != "variable-key" and not _is_own(change.key)
        }

    def differences(self) -> dict[str, tuple[HostDifference, ...]]:
        """Give for each host what it has otherwise than most; where all differ, than the first."""
        keys: dict[str, str] = {}  # to the value of the first host
        programs = set()
        for changes in self._hosts.values():
            for key, (old, _, identity) in changes.items():
                keys[key] = old
                if identity:
                    programs.add(key)
        usual = {}
        for key, old in keys.items():
            values = Counter(
                changes[key][1] if key in changes else old for changes in self._hosts.values()
            )
            most, count = values.most_common(1)[0]
            usual[key] = most if 2 * count > len(self._hosts) or len(self._hosts) < 3 else old
        return {
            host: tuple(
                HostDifference(key=key, here=here, most=most, program=key in programs)
                for key, most in usual.items()
                if (here := changes[key][1] if key in changes else keys[key]) != most
            )
            for host, changes in self._hosts.items()
        }


def _first(trial: Path) -> Mapping[str, Any] | None:
    try:
        return next((row for _, row in records_of(trial / ENVIRONMENT, EnvironmentShape)), None)
    except StoreError:  # being written, or of files of another tool
        return None


def _is_own(key: str) -> bool:
    section, _, name = key.partition(".")
    return section == "variables" and name.startswith(_OWN_VARIABLES)


def _told(value: Any) -> str:  # noqa: ANN401 - JSON types
    if value is None:
        return "unknown"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
