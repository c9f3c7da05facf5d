"""Where the output of a run is caught, and what is kept of it."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Container
from pathlib import Path

from analysis.record import Finding

from ...errors import StoreError
from ...store import mode_of_files, open_inside

# What is kept of single runs: "0042.stdout", "w1.stderr", "r2.stdout", "0042.before.log".
_KEPT = re.compile(r"([wr])?((?(1)[0-9]+|[0-9]{4,}))\.(?:stdout|stderr|before\.log|after\.log)")


class Spools:
    """The files of one session that its runs write to, in the folder `outputs` of its trial.

    What is done with them is done in the folder that was there when the session began, and through
    no symbolic link, whatever the programs that are measured make of it.

    Parameters
    ----------
    outputs : Path
        The folder.
    most_bytes : int
        The cap on what is kept of the trial's runs, all together.

    Raises
    ------
    StoreError
        If the folder is a symbolic link.
    """

    def __init__(self, outputs: Path, most_bytes: int) -> None:
        self.outputs = outputs
        self.stdout = outputs / "current.stdout"
        self.stderr = outputs / "current.stderr"
        self.log = outputs / "current.log"
        self._most = most_bytes
        self._kept = kept_bytes(outputs)
        self._dropped: list[int] = []
        self._at = open_inside(outputs.parent, outputs.name, os.O_RDONLY | os.O_DIRECTORY)

    def caught(self, path: Path) -> None:
        """Make sure that a file is there and nothing else, before it is read.

        A program that deletes what it writes to, or puts something in its place, has written nothing.

        Raises
        ------
        StoreError
            If the folder is not the one that it was.
        """
        there, ours = self.outputs.stat(follow_symlinks=False), os.fstat(self._at)
        if (there.st_dev, there.st_ino) != (ours.st_dev, ours.st_ino):
            raise StoreError(
                "the folder was replaced while a run lasted",
                str(self.outputs),
                "put back what was there, find out who moved it, then continue with --resume",
            )
        with contextlib.suppress(FileNotFoundError):
            mode = os.stat(path.name, dir_fd=self._at, follow_symlinks=False).st_mode
            if stat.S_ISREG(mode):
                return
            os.unlink(path.name, dir_fd=self._at)
        making = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        os.close(os.open(path.name, making, mode_of_files(self._at), dir_fd=self._at))

    def keep(self, path: Path, name: str, limit: int) -> bool:
        """Keep what was caught as `name`, cut to `limit` bytes; tell whether there was room for it."""
        fd = os.open(path.name, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self._at)
        try:
            size = os.fstat(fd).st_size
            if size > limit:
                os.ftruncate(fd, limit)
                size = limit
        finally:
            os.close(fd)
        if size and self._kept + size > self._most:
            os.unlink(path.name, dir_fd=self._at)
            self._dropped.append(size)
            return False
        os.rename(path.name, name, src_dir_fd=self._at, dst_dir_fd=self._at)
        self._kept += size
        return True

    def finding(self) -> Finding | None:
        """Say how much was not kept, if anything was not."""
        if not self._dropped:
            return None
        count, size = len(self._dropped), sum(self._dropped)
        return Finding(
            check="kept-outputs",
            status="warn",
            what=f"{count} output{'s' * (count > 1)} of runs ({size / 1e6:.1f} MB) "
            f"{'were' if count > 1 else 'was'} not kept: the cap of {self._most / 1e6:g} MB is reached",
            where="isolation.kept_outputs",
            fix="look at those that are kept first; for more, raise isolation.kept_outputs",
            reason="what failing runs write would fill the disk",
        )

    def close(self) -> None:
        """Remove what was caught last."""
        for path in (self.stdout, self.stderr, self.log):
            path.unlink(missing_ok=True)
        if self._at >= 0:
            os.close(self._at)
            self._at = -1


def kept_bytes(outputs: Path) -> int:
    """Give the size of what is kept of runs in a trial's folder `outputs`."""
    with contextlib.suppress(OSError), os.scandir(outputs) as entries:
        return sum(
            entry.stat(follow_symlinks=False).st_size
            for entry in entries
            if _KEPT.fullmatch(entry.name)
        )
    return 0


def remove_discarded(outputs: Path, done: Container[int]) -> None:
    """Remove what was kept of runs that have no row: they are executed again, and may keep nothing.

    Parameters
    ----------
    outputs : Path
        The folder.
    done : container of int
        The positions of the rows that there are.
    """
    for path in outputs.iterdir():
        kept = _KEPT.fullmatch(path.name)
        position = kept and (-int(kept[2]) if kept[1] else int(kept[2]))
        if position is not None and position not in done and not path.is_dir():
            path.unlink()
