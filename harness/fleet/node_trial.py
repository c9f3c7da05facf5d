"""One host's trial of a fleet: what it is held against, and measured on the node's own disk.

A network file system answers late, so rows may be written below a folder of the node (``--scratch``) and
copied at the end of each session and of the trial. Both copies only grow: the longer one is gone on with.
The disk may be everybody's: the place there has a name that nobody can guess, for this user alone.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analysis.errors import StoreError, UsageError
from analysis.record.fleet import Fleet, is_fleet, read_fleet, trial_place
from analysis.record.manifest import read_manifest
from analysis.record.shapes import opened
from analysis.record.trial_files import MANIFEST, MEASUREMENTS

from ..campaign.identity import identity_of
from ..errors import HostError
from ..trial.folder import RESERVE, remove_left, storing

if TYPE_CHECKING:
    from ..campaign.model import Campaign


class Membership(NamedTuple):
    """The fleet that a trial belongs to, and the node whose trial it is."""

    folder: Path
    fleet: Fleet
    node: str

    def require(self, campaign: Campaign, environment: Mapping[str, str] = os.environ) -> str:
        """Refuse what would make the fleet's trials no samples of one campaign; give the node."""
        if identity_of(campaign) != self.fleet.identity:
            raise UsageError(
                "the campaign is not the one that the fleet was submitted with: the file, or your "
                "own defaults, have changed since, and its hosts must measure the same",
                str(campaign.source),
                f"put it back as it was, or submit a new fleet (this one: {self.folder})",
            )
        here = environment.get("SLURMD_NODENAME")
        if here is not None and here != self.node:
            what = f"this is node {here}, and the trial is that of {self.node}"
            fix = "submit a job for the node: fairtrial submit FLEET --resume"
            raise HostError(what, str(self.folder / self.node), fix)
        return self.node


def membership_of(trial: Path) -> Membership | None:
    """Tell to which fleet a trial's folder belongs, which need not be there yet."""
    if is_fleet(trial):
        raise UsageError(
            "this is a fleet, not a trial",
            str(trial),
            f"submit jobs for what is missing: fairtrial submit {shlex.quote(str(trial))} --resume; or "
            "name the trial of one host, below it",
        )
    folder = trial.absolute().parent
    if not is_fleet(folder):
        return None
    fleet = read_fleet(folder)
    for host in fleet.hosts:
        if trial_place(folder, host).resolve() == trial.resolve():
            return Membership(folder=folder, fleet=fleet, node=host.host)
    what = f"the fleet has no host whose trial is '{trial.name}'"
    raise UsageError(what, str(folder), f"its hosts are: {', '.join(fleet.names)}")


_PIECE = 1 << 20


class Scratch:
    """A trial's two places: it is read in `shared`, and measured in `local`, once it was fetched."""

    local: Path

    def __init__(self, folder: Path, trial: Path) -> None:
        self.shared = trial.absolute()
        self._folder = folder.absolute()

    def fetch(self) -> None:
        """Bring what is measured already to the node's disk, where that has less of it."""
        with storing(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            self.local = self._place()
        fresh = _fresh(self.local)
        shutil.rmtree(fresh, ignore_errors=True)
        here, there = self.local / MEASUREMENTS, self.shared / MEASUREMENTS
        if not _begins_alike(here, there):
            what = f"the rows of this trial on the node are not those of {self.shared}"
            fix = "find out which of the two is right, and move the other one away"
            raise StoreError(what, str(self.local), fix)
        begun = (self.shared / MANIFEST).exists() or there.exists()
        if not begun or (here.exists() and _size(here) >= _size(there)):
            return  # a node that died had no time to copy: it has more
        _copy_new(self.shared, fresh)
        with storing(
            self.local
        ):  # whole or not at all: half of it would pass for what was measured
            if self.local.exists():
                remove_left(self.local)
            fresh.rename(self.local)

    def _place(self) -> Path:
        """Find the trial on the node's disk, the longest of it; or make a place that only we enter."""
        begin, name = f"fairtrial-{self.shared.parent.name}-", self.shared.name
        ours = [
            Path(one.path) / name
            for one in os.scandir(self._folder)
            if one.name.startswith(begin) and _is_ours(one)
        ]
        found = [trial for trial in ours if trial.is_dir() or _fresh(trial).is_dir()]
        if found:
            return max(found, key=lambda trial: (_size(trial / MEASUREMENTS), str(trial)))
        return Path(tempfile.mkdtemp(prefix=begin, dir=self._folder)) / name

    def copy_out(self) -> None:
        """Copy what is new to where the trial is read."""
        if (self.local / MANIFEST).exists():
            try:
                _copy_new(self.local, self.shared)
            except StoreError as error:
                what = f"{error.what}; all that was measured is in {self.local} on this node"
                raise StoreError(what, error.where, error.fix) from error

    def settle(self) -> None:
        """Copy for the last time, and remove the node's copy of a trial that is complete."""
        self.copy_out()
        if (self.local / MANIFEST).exists() and read_manifest(self.local).status == "complete":
            shutil.rmtree(self.local, ignore_errors=True)
        with contextlib.suppress(OSError):  # it holds a trial that goes on
            self.local.parent.rmdir()


def _fresh(local: Path) -> Path:
    return local.with_name(f".{local.name}.new")


def _is_ours(place: os.DirEntry[str]) -> bool:
    """Tell whether a folder, and no link to one, is this user's, and nobody else may enter it."""
    try:
        status = place.stat(follow_symlinks=False)
    except FileNotFoundError:  # another job has just removed its own
        return False
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.geteuid()
        and not stat.S_IMODE(status.st_mode) & 0o077
    )


def _begins_alike(one: Path, other: Path) -> bool:
    """Tell whether one of two files is how the other begins; a missing one is empty."""
    if not (one.exists() and other.exists()):
        return True
    left = min(_size(one), _size(other))
    with opened(one) as first, opened(other) as second:
        while left > 0:
            size = min(_PIECE, left)
            if first.read(size) != second.read(size):
                return False
            left -= size
    return True


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else -1


def _copy_new(source: Path, target: Path) -> None:
    """Copy the files of a trial that are new or changed, each whole or not at all.

    The manifest of a trial under way goes first, that of an ended one last: its hashes hold for
    files that are there.
    """
    with storing(target):
        target.mkdir(mode=source.stat().st_mode & 0o777, exist_ok=True)
        files = [path for path in sorted(source.rglob("*")) if path.name != RESERVE]
        running = read_manifest(source).status == "running"
        files.sort(key=lambda path: (path.name == MANIFEST) != running)
        for path in files:
            place = target / path.relative_to(source)
            if path.is_dir():
                place.mkdir(parents=True, exist_ok=True, mode=path.stat().st_mode & 0o777)
            elif path.is_file() and not path.is_symlink() and _stamp(path) != _stamp(place):
                place.parent.mkdir(parents=True, exist_ok=True)
                _replace(path, place)


def _stamp(path: Path) -> tuple[int, int] | None:
    return (path.stat().st_size, path.stat().st_mtime_ns) if path.exists() else None


def _replace(path: Path, place: Path) -> None:
    fd, fresh = tempfile.mkstemp(prefix=f".{place.name[:60]}.", dir=place.parent)
    try:
        with os.fdopen(fd, "wb") as file, path.open("rb") as original:
            shutil.copyfileobj(original, file)
            file.flush()
            os.fsync(file.fileno())
        shutil.copystat(path, fresh)
        Path(fresh).replace(place)
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise
