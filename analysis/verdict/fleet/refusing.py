"""What a fleet cannot be asked, each with its reason and with what to ask instead."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...errors import UsageError

__all__ = ["refuse_of_fleet"]

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
    """Refuse the first of these options, if there is one.

    Parameters
    ----------
    fleet : Path
        Its folder.
    options : iterable of str
        Options that were given, as they are typed; one that a fleet knows is passed over.
    command : str
        The subcommand that was given.

    Raises
    ------
    UsageError
        If one of them is for the trial of one host.
    """
    for option in options:
        if option in _WHY:
            why, instead = _WHY[option]
            raise UsageError(
                f"{option} is for the trial of one host: {why}",
                str(fleet),
                f"name a host, such as fairtrial {command} {fleet / 'HOST'} {option}, "
                + instead.format(fleet=fleet),
            )
