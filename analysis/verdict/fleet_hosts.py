"""The hosts of a fleet: how each stands, in what it differs, what failed on it, what cannot be asked of it.

Only differences are kept of each environment, so that a fleet of a thousand hosts costs what its hosts
differ in.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import StoreError, UsageError
from ..record.environment_changes import diff
from ..record.shapes import records_of
from ..record.trial_files import ENVIRONMENT, EnvironmentShape

if TYPE_CHECKING:
    from ..methods.multilevel.result import Line, Multilevel
    from ..record.fleet_progress import HostState


@dataclass(frozen=True, slots=True, kw_only=True)
class HostDifference:
    """What a host has, and what most hosts have: `key` with dots, as in ``docs/environment.md``."""

    key: str
    here: str
    most: str
    program: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetHostStanding:
    """One host of a fleet."""

    host: str
    state: HostState
    done: int
    planned: int | None
    why: str | None
    judged: bool
    host_id: str | None
    trial: str
    differs: tuple[HostDifference, ...] = ()


# what is another on every host, or with every login, and says nothing of how it measures
_OWN = {"host.name", "host.machine_id_sha256", "host.boot_id", "process.cwd"}
_OWN_VARIABLES = ("HOSTNAME", "HOST", "SLURM", "PWD", "TMPDIR", "XDG_")
_LONGEST = 80


@dataclass(slots=True)
class HostEnvironments:
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


def undecided_by(result: Multilevel, failed: Mapping[str, int]) -> Multilevel:
    """Take a candidate's words back, as of a trial in which it fails and the baseline does not."""

    def opened(line: Line | None) -> Line | None:
        return None if line is None else replace(line, outcome="undecided")

    return replace(
        result,
        benchmarks=tuple(
            replace(
                line,
                outcome="undecided",
                reason="fails-always",
                failed_candidate=line.failed_candidate + failed.get(line.name, 0),
                fails=None,  # the test of the other hosts says nothing of those
                pvalue_fails=None,
                pvalue_fails_adjusted=None,
                fails_proven=True,
            )
            for line in result.benchmarks
        ),
        these=opened(result.these),
        similar=opened(result.similar),
    )


_TWO = "or compare two variants over all hosts: fairtrial verdict {fleet}:ONE {fleet}:OTHER"
# option -> why it is for one host, and what else there is
_WHY = {
    "--pairs": ("its family of pairs is over the sessions of one trial", _TWO),
    "--rank": ("ranks rest on pairs, whose family is over the sessions of one trial", _TWO),
    "--best-of": ("the best of some runs is another on each host", "or leave it out"),
    "--always-valid": (
        "confidence sequences are known for sessions, not for hosts",
        "or say how often the fleet is looked at: --looks N",
    ),
    "--certificate": (
        "a certificate is of one machine and its design",
        "or leave it out: a fleet's own error rates are told by fairtrial calibrate {fleet}",
    ),
    "--level iteration": ("hosts are compared by their processes", "or leave it out"),
}


def refuse_of_fleet(fleet: Path, options: Iterable[str], command: str = "verdict") -> None:
    """Refuse the first of these options, if there is one."""
    for option in options:
        if option in _WHY:
            why, instead = _WHY[option]
            raise UsageError(
                f"{option} is for the trial of one host: {why}",
                str(fleet),
                f"name a host, such as fairtrial {command} {fleet / 'HOST'} {option}, "
                + instead.format(fleet=fleet),
            )
