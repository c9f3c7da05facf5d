"""Files that runs read and write: inputs, metric files, caught outputs, and whether outputs agree.

What a metric is read from is removed before each run, and once it was read. What lay there before the trial
is somebody's: an input is refused, anything else gets another name. Files of the kernel are live and stay.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import CampaignError, Problem, StoreError
from analysis.record.manifest import needed
from analysis.record.run_numbers import Outcome
from analysis.record.shapes import (
    FRESH,
    MOST_IN_ROW,
    SAMPLES,
    StoredSamples,
    lines_of,
    packed,
    position_in,
    sample_file,
)
from analysis.record.trial_files import ENVIRONMENT, MEASUREMENTS, Finding, PlannedRun, warning

from ..campaign.distributions import Distribution, is_distribution, quantiles_of
from ..errors import counted, size
from ..host.executables import digest_of, signature_of
from .folder import give_to_owner, mode_of_files, open_inside, storing

if TYPE_CHECKING:
    from ..campaign.model import Campaign, Cell


# --- The values of a run on their way to its row: many of them go into a file of ``samples/`` before.


class RunValues:
    """Stores the values of a session's runs, within the cap of all that is kept of runs."""

    def __init__(self, trial: Path, spools: Spools) -> None:
        self._trial, self._spools = trial, spools
        self._dropped: list[int] = []
        # the values of each run that has too few, None where only their distribution is known
        self._few: defaultdict[tuple[str, str, str, float], list[int | None]] = defaultdict(list)

    def stored(
        self,
        run: PlannedRun,
        metrics: Mapping[str, Sequence[float]],
        distributions: Mapping[str, Distribution] | None = None,
    ) -> tuple[dict[str, tuple[float, ...]], dict[str, StoredSamples]]:
        """Write the values that are too many for a row into files, and histograms.

        Gives what the row says of the values, and of those that stand in files. The files are on the disk when this returns: the row comes after them.
        """
        found: dict[str, tuple[float, ...]] = {}
        samples = {}
        for name, values in metrics.items():
            found[name] = tuple(values)
            if len(values) > MOST_IN_ROW:
                found[name] = (_mean(values),)
                samples[name] = self._kept(run, name, values)
        for name, one in (distributions or {}).items():
            if one.counts is None:
                samples[name] = StoredSamples(count=one.requests, form="percentiles")
            else:
                pairs = [number for pair in one.counts for number in pair]
                samples[name] = replace(self._kept(run, name, pairs), form="counts")
        return found, samples

    def follow(self, cell: Cell, metrics: Mapping[str, Sequence[float]]) -> None:
        """Count the quantiles of an ok run for which it has too few values."""
        for name, rule, share in quantiles_of(cell.metrics):
            if name in metrics and not metrics[name]:
                known = None if is_distribution(rule) else len(metrics[rule.name])
                self._few[cell.benchmark, cell.variant, name, share].append(known)

    def findings(self) -> list[Finding]:
        """Say what was not kept, and which quantiles runs have too few values for."""
        found = [
            warning(
                "quantiles",
                f"{benchmark} / {variant}: {name} is unknown in {len(few)} run{'s' * (len(few) > 1)}: it "
                f"needs {needed(share)} values, and a run had "
                f"{min((one for one in few if one is not None), default='fewer')}",
                f"metrics.{name}",
                "let a run print more values, or ask for a quantile nearer to the middle",
                "no value of so few would lie beyond that quantile",
            )
            for (benchmark, variant, name, share), few in self._few.items()
        ]
        if self._dropped:
            runs = counted(len(self._dropped), "run")
            found.append(
                warning(
                    "kept-samples",
                    f"the values of {runs} ({size(sum(self._dropped))}) were not kept: the "
                    "cap of isolation.kept_outputs is reached; their means and quantiles are stored",
                    "isolation.kept_outputs",
                    "raise isolation.kept_outputs, if more than the mean and the quantiles of each run is wanted",
                    "they cannot be merged, nor judged iteration by iteration",
                )
            )
        return found

    def _kept(self, run: PlannedRun, metric: str, values: Sequence[float]) -> StoredSamples:
        data, about = packed(values)
        if not self._spools.takes(len(data)):
            self._dropped.append(len(data))
            return StoredSamples(count=about.count)
        place = self._trial / sample_file(run.position, metric, warmup=run.warmup)
        with storing(place):
            self._write(place.name, data)
        return about

    def _write(self, name: str, data: bytes) -> None:
        folder = _folder(self._trial)
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(FRESH, dir_fd=folder)
            making = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(FRESH, making, mode_of_files(folder), dir_fd=folder)
            try:
                give_to_owner(fd, folder)
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(fd, rest) :]
                os.fdatasync(fd)
            finally:
                os.close(fd)
            os.rename(FRESH, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(FRESH, dir_fd=folder)
            raise
        finally:
            os.close(folder)


def _folder(trial: Path) -> int:
    """Open the folder of samples, which is there from the first file on, through no link."""
    flags = os.O_RDONLY | os.O_DIRECTORY
    try:
        return open_inside(trial, SAMPLES, flags)
    except FileNotFoundError:
        (trial / SAMPLES).mkdir(mode=trial.stat().st_mode & 0o777)
        return open_inside(trial, SAMPLES, flags)


def remove_unfinished(trial: Path, done: Container[int]) -> None:
    """Remove the values of runs that have no row: they are executed again."""
    folder = trial / SAMPLES
    try:
        paths = list(folder.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"cannot be read: {error.strerror}", str(folder)) from error
    for path in paths:
        position = position_in(path.name)
        if path.name == FRESH or (position is not None and position not in done):
            path.unlink()


def _mean(values: Sequence[float]) -> float:
    """Give the mean as the reader of rows does: that of equal values is their value."""
    first = values[0]
    return first + sum(value - first for value in values) / len(values)


# --- The files themselves.


_MOST_BYTES = 64 * 1024 * 1024  # of an argument that is hashed unnamed

Programs = Mapping[tuple[str, str], Path]


def declared_inputs(cell: Cell) -> Iterator[tuple[str, Path]]:
    """Give the files that the campaign names as inputs of a cell, each with what it is."""
    if cell.stdin is not None:
        yield "the stdin", cell.stdin
    if cell.expect.stdout_file is not None:
        yield "the expected output", cell.expect.stdout_file
    for path in cell.inputs:
        yield "an input", path


def argument_files(argv: Sequence[str], cwd: Path) -> Iterator[Path]:
    """Give the files among the arguments of a command, `--name=FILE` too.

    What stands in a text for the shell is not looked into.
    """
    for argument in argv[1:]:
        for text in dict.fromkeys((argument, argument.partition("=")[2])):
            with contextlib.suppress(OSError):  # too long for a name, or in a folder closed to us
                if text and (cwd / text).is_file():
                    yield cwd / text


def every_input(campaign: Campaign, programs: Programs) -> Iterator[tuple[str, Path]]:
    """Give every file that the campaign and its cells read, each with what it is, in words."""
    yield "the campaign file", campaign.source
    for cell in campaign.cells:
        of = f"of {cell.benchmark} / {cell.variant}"
        for what, path in declared_inputs(cell):
            yield f"{what} {of}", path
        program = programs.get((cell.benchmark, cell.variant))
        name = cell.command.argv[0]
        if program is None and "/" in name:  # it may be built later, at this place
            program = cell.cwd / name
        if program is not None:
            yield f"the program {of}", program
        for path in argument_files(cell.command.argv, cell.cwd):
            yield f"an argument {of}", path


class ArgumentFiles:
    """Follows the files among the commands' arguments that no run writes.

    Nobody says which of them are inputs: a file is taken for one if the first run of every cell left
    it as it was. A change of one is reported, not refused.
    """

    def __init__(self, campaign: Campaign, known: Mapping[str, str]) -> None:
        self._campaign = campaign
        self.known = dict(known)
        self._candidates: dict[Path, tuple[tuple[int, ...], str]] = {}
        self._left: set[tuple[str, str]] = set()

    def look(self) -> tuple[Finding, ...]:
        """Say before a session which of the known ones have changed, and note the others."""
        findings = tuple(self._changes())
        self._candidates = {
            path: (signature, digest)
            for path in self._unknown()
            if (signature := signature_of(path)) and signature[2] <= _MOST_BYTES
            if (digest := digest_of(path)[0])
        }
        if self._candidates:
            self._left = {(cell.benchmark, cell.variant) for cell in self._campaign.cells}
        return findings

    def executed(self, benchmark: str, variant: str) -> bool:
        """Count a run in; tell whether it was the last first one, and `known` has grown."""
        if not self._candidates:
            return False
        self._left.discard((benchmark, variant))
        if self._left:
            return False
        found = {
            str(path): digest
            for path, (signature, digest) in self._candidates.items()
            if signature_of(path) == signature
        }
        self._candidates = {}
        self.known |= found
        return bool(found)

    def _changes(self) -> Iterator[Finding]:
        for name, before in list(self.known.items()):
            now = digest_of(Path(name))[0] or "gone, or not to be read"
            if now != before:
                self.known[name] = now
                yield warning(
                    "input",
                    f"the file {name}, an argument of a command, has changed since it was used",
                    f"{before} -> {now}",
                    "name it under 'inputs', then a resumed trial refuses other content",
                    "runs before and after a change are not samples of the same thing",
                )

    def _unknown(self) -> Iterator[Path]:
        seen = {Path(name) for name in self.known}
        for build in self._campaign.builds:
            if build.each == "session":  # another file in each: its hashes are those of the builds
                seen.update(build.artifacts)
        for cell in self._campaign.cells:
            seen.update(path for _, path in declared_inputs(cell))
            seen.update(rule.source for rule in cell.metrics if isinstance(rule.source, Path))
        given = [(cell.command, cell.cwd) for cell in self._campaign.cells]
        given += [(service.command, service.cwd) for service in self._campaign.services]
        for command, cwd in given:
            for path in argument_files(command.argv, cwd):
                if path not in seen:
                    seen.add(path)
                    yield path


def files_to_set_aside(
    campaign: Campaign, programs: Programs, trial: Path | None = None
) -> tuple[Path, ...]:
    """List the metrics' files that are there although no run of the trial can have written them."""
    if trial is not None and _has_begun(trial):
        return ()
    problems = list(_inputs_among(campaign, programs))
    if problems:
        raise CampaignError(problems)
    files = dict.fromkeys(path for cell in campaign.cells for _, path in _files(cell))
    return tuple(path for path in files if os.path.lexists(path))


def set_aside(campaign: Campaign, programs: Programs, trial: Path) -> Finding | None:
    """Rename what lies in the place of a metric's file, before the first run of a trial."""
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
    return warning(
        "metric-file",
        f"what lay in the place of a metric's file was set aside: {names}",
        str(campaign.source),
        reason="a run's metric must not be read from what was there before it",
    )


def clear(cell: Cell) -> frozenset[Path]:
    """Remove the files that the metrics of a cell are read from.

    Gives those that stay although they should not, because they may not be removed.
    """
    kept = set()
    for _, path in _files(cell):
        try:
            path.unlink(missing_ok=True)
        except OSError:
            kept.add(path)
    return frozenset(path for path in kept if path.is_file())


def _files(cell: Cell) -> Iterator[tuple[str, Path]]:
    """Give the files that metrics of runs are read from, each with the metric; none of the kernel's.

    What a build writes stays for all runs.
    """
    for rule in cell.metrics:
        live = ("/proc/", "/sys/")
        if rule.when == "build":
            continue
        if isinstance(rule.source, Path) and not os.path.realpath(rule.source).startswith(live):
            yield rule.name, rule.source


def _inputs_among(campaign: Campaign, programs: Programs) -> Iterator[Problem]:
    files: dict[object, tuple[Cell, str, Path]] = {}
    for cell in campaign.cells:
        for metric, source in _files(cell):
            files.setdefault(_identity(source), (cell, metric, source))
    if not files:
        return
    found = set()
    for what, path in every_input(campaign, programs):
        key = _identity(path)
        if key not in files or key in found:
            continue
        found.add(key)
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
        why = "is no regular file, so no metric can be read from it"
    elif os.path.lexists(place):
        why = f"cannot be set aside: {place.name} is there already"
    elif not os.access(path.parent, os.W_OK):
        why = f"cannot be renamed to {place.name}: its folder may not be written"
    else:
        return
    raise _cannot(path, why)


def _cannot(path: Path, what: str) -> StoreError:
    what = f"a metric is read from there, and what lies there {what}"
    return StoreError(what, str(path), "move it away, or name another file under 'from'")


def _has_begun(trial: Path) -> bool:
    with contextlib.suppress(OSError):
        return (trial / ENVIRONMENT).stat().st_size > 0
    return False


# What is kept of single runs: "0042.stdout", "w1.stderr", "r2.stdout", "0042.before.log".
_KEPT = re.compile(r"([wr])?((?(1)[0-9]+|[0-9]{4,}))\.(?:stdout|stderr|before\.log|after\.log)")


class Spools:
    """The files of one session that its runs write to, in the folder `outputs` of its trial.

    What is done with them is done in the folder that was there when the session began, and through
    no symbolic link, whatever the programs that are measured make of it.
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
        """
        there, ours = self.outputs.stat(follow_symlinks=False), os.fstat(self._at)
        if (there.st_dev, there.st_ino) != (ours.st_dev, ours.st_ino):
            fix = "put back what was there, find out who moved it, then continue with --resume"
            raise StoreError("the folder was replaced while a run lasted", str(self.outputs), fix)
        with contextlib.suppress(FileNotFoundError):
            mode = os.stat(path.name, dir_fd=self._at, follow_symlinks=False).st_mode
            if stat.S_ISREG(mode):
                return
            os.unlink(path.name, dir_fd=self._at)
        making = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        os.close(os.open(path.name, making, mode_of_files(self._at), dir_fd=self._at))

    def keep(self, path: Path, name: str, limit: int) -> bool:
        """Keep what was caught as `name`, cut to `limit` bytes; tell whether there was room for it."""
        flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(path.name, flags, dir_fd=self._at), "wb") as file:
            give_to_owner(file.fileno(), self._at)
            size = os.fstat(file.fileno()).st_size
            if size > limit:
                size = file.truncate(limit)
        if size and not self.takes(size):
            os.unlink(path.name, dir_fd=self._at)
            self._dropped.append(size)
            return False
        os.rename(path.name, name, src_dir_fd=self._at, dst_dir_fd=self._at)
        return True

    def takes(self, size: int) -> bool:
        """Tell whether `size` bytes more of a run may be kept, and count them then."""
        if self._kept + size > self._most:
            return False
        self._kept += size
        return True

    def finding(self) -> Finding | None:
        """Say how much was not kept, if anything was not."""
        if not self._dropped:
            return None
        outputs, verb = (
            counted(len(self._dropped), "output"),
            "were" if self._dropped[1:] else "was",
        )
        return warning(
            "kept-outputs",
            f"{outputs} of runs ({size(sum(self._dropped))}) {verb} not kept: the cap of {size(self._most)} is reached",
            "isolation.kept_outputs",
            "look at those that are kept first; for more, raise isolation.kept_outputs",
            "what failing runs write would fill the disk",
        )

    def close(self) -> None:
        """Remove what was caught last."""
        for path in (self.stdout, self.stderr, self.log):
            path.unlink(missing_ok=True)
        if self._at >= 0:
            os.close(self._at)
            self._at = -1


def kept_bytes(outputs: Path) -> int:
    """Give the size of what is kept of runs in a trial's folder `outputs`, and of their values next to it."""
    total = 0
    for folder, is_kept in (
        (outputs, _KEPT.fullmatch),
        (outputs.parent / SAMPLES, lambda name: position_in(name) is not None),
    ):
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            kept = (entry for entry in entries if is_kept(entry.name))
            total += sum(entry.stat(follow_symlinks=False).st_size for entry in kept)
    return total


def remove_discarded(outputs: Path, done: Container[int]) -> None:
    """Remove what was kept of runs that have no row: they are executed again, and may keep nothing."""
    for path in outputs.iterdir():
        kept = _KEPT.fullmatch(path.name)
        position = kept and (-int(kept[2]) if kept[1] else int(kept[2]))
        if position is not None and position not in done and not path.is_dir():
            path.unlink()
    remove_unfinished(outputs.parent, done)


_AGREED = 3  # runs in a row, before another output is news


@dataclass(slots=True)
class _CellHashes:
    digest: str
    runs: int = 1
    announced: bool = False


class OutputAgreement:
    """Follows the hashes of what the runs of each cell write, in the order of the runs.

    Outputs that always differ, such as times, are nothing to tell of. Once runs in a row agreed and
    one does not, something else is measured than before: its input changed, or it fails silently.
    """

    def __init__(self) -> None:
        self._cells: dict[tuple[str, str], _CellHashes] = {}

    @classmethod
    def of_trial(cls, trial: Path) -> OutputAgreement:
        """Follow a trial from its stored runs on; the store has checked the lines."""
        made = cls()
        for _, line in lines_of(trial / MEASUREMENTS):
            row = json.loads(line)
            made.add(row["benchmark"], row["variant"], row["outcome"], row.get("stdout_sha256"))
        return made

    def add(
        self, benchmark: str, variant: str, outcome: Outcome, digest: str | None
    ) -> Finding | None:
        """Count a run in; say so if it is the first of its cell that breaks an agreement."""
        if outcome != "ok" or digest is None:
            return None
        cell = self._cells.get((benchmark, variant))
        if cell is None:
            self._cells[benchmark, variant] = _CellHashes(digest)
            return None
        if digest == cell.digest:
            cell.runs += 1
            return None
        agreed, cell.digest, cell.runs = cell.runs, digest, 1
        if agreed < _AGREED or cell.announced:
            return None
        cell.announced = True
        return warning(
            "output",
            f"{benchmark} / {variant} wrote another output than in its {agreed} runs before",
            "stdout_sha256",
            "look whether its input or its program changed; 'stdout: keep' keeps what it writes",
            "runs that give other results are not samples of the same thing",
        )
