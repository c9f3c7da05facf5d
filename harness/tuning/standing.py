"""What the doctor says of a host whose settings are tuned, or were left so by a tune that died."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from analysis.record import CheckStatus, Finding

from ..errors import HostError
from ..wording import counted
from .journal import FOLDER, NAME, Desk, TuneAtWorkError

_REASON = "settings that are forgotten wear the machine, and are no longer what its owner chose"
_UNDO = "sudo fairtrial tune --undo"


def finding_of_tuning(root: Path = Path("/")) -> Finding | None:
    """Look whether there is a journal; None when there is nothing to say.

    Parameters
    ----------
    root : Path, optional
        Where /run is found.
    """
    folder = root / FOLDER.lstrip("/")
    if not os.path.lexists(folder):
        return None
    where = f"{FOLDER}/{NAME}"
    if not os.access(folder, os.R_OK | os.X_OK):
        what = "settings of this host were changed by 'fairtrial tune': only root can see which"
        return _found("unknown", what, FOLDER, "sudo fairtrial doctor")
    try:
        with contextlib.closing(Desk(root, make=False)) as desk:
            story = desk.read()
    except TuneAtWorkError:
        return _found("ok", "a 'fairtrial tune' is at work, and puts its settings back", where)
    except HostError as error:
        return _found("warn", error.what, error.where or where, error.fix)
    if story is None:
        return None
    begun = f"{counted(story.changes, 'setting')} of this host since {story.head.get('started')}"
    if story.kept:
        return _found("ok", f"'fairtrial tune' changed {begun}, to be kept", where, _UNDO)
    if story.undo_failed:
        return _found("warn", f"not all could be put back of {begun}", where, _UNDO)
    return _found("warn", f"a 'fairtrial tune' died and left changed {begun}", where, _UNDO)


def _found(status: CheckStatus, what: str, where: str, fix: str | None = None) -> Finding:
    return Finding(check="tune", status=status, what=what, where=where, fix=fix, reason=_REASON)
