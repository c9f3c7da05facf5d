"""What changed under a trial: the runner's findings `drift`, which it records where it goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...record import FINDINGS
from ...report import Caution
from ..beside import readable_rows

_NAMED = 3


def drift_cautions(trial: Path) -> Iterator[Caution]:
    """Say that runs of before and after a change are judged together, and what changed.

    Parameters
    ----------
    trial : Path
        The trial directory. What cannot be read of its findings tells nothing: the hashes of an
        ended trial are verified before, and the last line of another may be torn.
    """
    changes = list(dict.fromkeys(_changes(trial)))
    if not changes:
        return
    named = "; ".join(changes[:_NAMED])
    more = f"; and {len(changes) - _NAMED} more" if len(changes) > _NAMED else ""
    yield Caution(
        "drift",
        f"something changed under the trial, and runs of before and after are taken together: {named}"
        f"{more}",
    )


def _changes(trial: Path) -> Iterator[str]:
    for row in readable_rows(trial / FINDINGS):
        what = row.get("what")
        if row.get("check") == "drift" and isinstance(what, str):
            yield what.splitlines()[0].rstrip(":") if what else "what is not said"
