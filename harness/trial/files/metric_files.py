"""The files that metrics are read from: whose they are, and what is removed when.

What a run wrote there is the trial's: it is removed before the next run, which must not be told by
an earlier one's numbers, and once it was read. What lay there before the trial's first run is
somebody's: an input of the campaign is refused, anything else gets another name. Files of the kernel
(below /proc and /sys) are live and stay.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from analysis.record import ENVIRONMENT, Finding

from ...campaign import Campaign, Cell
from ...errors import CampaignError, Problem, StoreError
from .inputs import Programs, every_input


def files_to_set_aside(
    campaign: Campaign, programs: Programs, trial: Path | None = None
) -> tuple[Path, ...]:
    """List the metrics' files that are there although no run of the trial can have written them.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    programs : mapping
        (benchmark, variant) -> the file that is executed, as far as they are there by now.
    trial : Path, optional
        A trial that is gone on with. Once a session of it has begun, what lies there is a run's.

    Raises
    ------
    CampaignError
        If a metric would be read from an input of a cell, which would be removed.
    """
    if trial is not None and _has_begun(trial):
        return ()
    problems = list(_inputs_among(campaign, programs))
    if problems:
        raise CampaignError(problems)
    return tuple(path for path in _all_files(campaign) if os.path.lexists(path))


def set_aside(campaign: Campaign, programs: Programs, trial: Path) -> Finding | None:
    """Rename what lies in the place of a metric's file, before the first run of a trial.

    Raises
    ------
    CampaignError
        If such a file is an input of a cell.
    StoreError
        If one cannot be renamed; then none is.
    """
    pairs = {
        path: path.with_name(f"{path.name}.before-{trial.name}")
        for path in files_to_set_aside(campaign, programs, trial)
    }
    for path, place in pairs.items():
        _refuse_odd(path, place)
    done: list[Path] = []
    try:
        for path, place in pairs.items():
            path.rename(place)
            done.append(path)
    except OSError as error:
        for path in done:
            with contextlib.suppress(OSError):
                pairs[path].rename(path)
        raise _cannot(path, f"cannot be renamed to {place.name}: {error.strerror}") from error
    if not pairs:
        return None
    names = "; ".join(f"{path} is now {place.name}" for path, place in pairs.items())
    return Finding(
        check="metric-file",
        status="warn",
        what=f"what lay in the place of a metric's file was set aside: {names}",
        where=str(campaign.source),
        reason="a run's metric must not be read from what was there before it",
    )


def clear(cell: Cell) -> frozenset[Path]:
    """Remove the files that the metrics of a cell are read from.

    Gives those that stay although they should not, because they may not be removed.
    """
    kept = set()
    for path in _files(cell):
        try:
            path.unlink(missing_ok=True)
        except OSError:
            kept.add(path)
    return frozenset(path for path in kept if path.is_file())


def _files(cell: Cell) -> Iterator[Path]:
    for rule in cell.metrics:
        if isinstance(rule.source, Path) and not _is_live(rule.source):
            yield rule.source


def _all_files(campaign: Campaign) -> Iterable[Path]:
    return dict.fromkeys(path for cell in campaign.cells for path in _files(cell))


def _is_live(path: Path) -> bool:
    real = os.path.realpath(path)
    return real.startswith(("/proc/", "/sys/"))


def _inputs_among(campaign: Campaign, programs: Programs) -> Iterator[Problem]:
    """Tell of the metrics' files that are inputs, under whatever name."""
    files: dict[object, tuple[Cell, str, Path]] = {}
    for cell in campaign.cells:
        for rule in cell.metrics:
            if isinstance(rule.source, Path) and not _is_live(rule.source):
                files.setdefault(_identity(rule.source), (cell, rule.name, rule.source))
    if not files:
        return
    told = set()
    for what, path in every_input(campaign, programs):
        key = _identity(path)
        if key not in files or key in told:
            continue
        told.add(key)
        cell, metric, source = files[key]
        yield Problem(
            what=f"the metric '{metric}' is read from {source}, which is removed before each run, "
            f"and that is {what}",
            where=cell.command.mark,
            fix="name another file under 'from'; if runs write this one, move away what is there",
        )


def _identity(path: Path) -> object:
    """Tell files apart whatever their names; what is not there yet has only its name."""
    try:
        found = path.stat()
    except OSError:
        return os.path.realpath(path)
    return found.st_dev, found.st_ino


def _refuse_odd(path: Path, place: Path) -> None:
    """Refuse what is no file of its own, and a name that is taken."""
    mode = path.lstat().st_mode
    if path.is_dir() or not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        raise _cannot(path, "is no regular file, so no metric can be read from it")
    if os.path.lexists(place):
        raise _cannot(path, f"cannot be set aside: {place.name} is there already")
    if not os.access(path.parent, os.W_OK):
        raise _cannot(path, f"cannot be renamed to {place.name}: its folder may not be written")


def _cannot(path: Path, what: str) -> StoreError:
    return StoreError(
        f"a metric is read from there, and what lies there {what}",
        str(path),
        "move it away, or name another file under 'from'",
    )


def _has_begun(trial: Path) -> bool:
    try:
        return (trial / ENVIRONMENT).stat().st_size > 0
    except OSError:
        return False
