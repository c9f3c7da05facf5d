"""The files that the cells of a campaign read, as far as the campaign says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from analysis.record import Finding

from ...campaign import Campaign, Cell
from ...environment import digest_of, signature_of

_MOST_BYTES = 64 * 1024 * 1024  # of an argument that is hashed unasked

Programs = Mapping[tuple[str, str], Path]


def declared_inputs(cell: Cell) -> Iterator[tuple[str, Path]]:
    """Give the files that the campaign names as inputs of a cell, each with what it is."""
    if cell.stdin is not None:
        yield "the stdin", cell.stdin
    if cell.expect.stdout_file is not None:
        yield "the expected output", cell.expect.stdout_file
    for path in cell.inputs:
        yield "an input", path


def argument_files(cell: Cell) -> Iterator[Path]:
    """Give the files among the arguments of a cell's command, `--name=FILE` too.

    What stands in a text for the shell is not looked into.
    """
    for argument in cell.command.argv[1:]:
        for text in dict.fromkeys((argument, argument.partition("=")[2])):
            if text and _is_file(cell.cwd / text):
                yield cell.cwd / text


def every_input(campaign: Campaign, programs: Programs) -> Iterator[tuple[str, Path]]:
    """Give every file that the campaign and its cells read, each with what it is, in words.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    programs : mapping
        (benchmark, variant) -> the file that is executed, as far as they are there by now.
    """
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
        for path in argument_files(cell):
            yield f"an argument {of}", path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # too long for a name, or in a folder that is closed to us
        return False


class ArgumentFiles:
    """Follows the files among the commands' arguments that no run writes.

    Which of them are inputs nobody says; those are taken for it that the first run of every cell left
    as they were. A change of one is told, not refused.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    known : mapping of str to str
        Path -> SHA-256 of those that earlier sessions of the trial found.
    """

    def __init__(self, campaign: Campaign, known: Mapping[str, str]) -> None:
        self._campaign = campaign
        self.known = dict(known)
        self._candidates: dict[Path, tuple[tuple[int, ...], str]] = {}
        self._left: set[tuple[str, str]] = set()

    def look(self) -> tuple[Finding, ...]:
        """Say before a session which of the known ones have changed, and note the others."""
        told = tuple(self._changes())
        self._candidates = {
            path: (signature, digest)
            for path in self._unknown()
            if (signature := signature_of(path)) and signature[2] <= _MOST_BYTES
            if (digest := digest_of(path)[0])
        }
        if self._candidates:
            self._left = {(cell.benchmark, cell.variant) for cell in self._campaign.cells}
        return told

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
                yield Finding(
                    check="input",
                    status="warn",
                    what=f"the file {name}, an argument of a command, has changed since it was used",
                    where=f"{before} -> {now}",
                    fix="name it under 'inputs', then a resumed trial refuses other content",
                    reason="runs before and after a change are not samples of the same thing",
                )

    def _unknown(self) -> Iterator[Path]:
        seen = {Path(name) for name in self.known}
        for cell in self._campaign.cells:
            seen.update(path for _, path in declared_inputs(cell))
            seen.update(rule.source for rule in cell.metrics if isinstance(rule.source, Path))
        for cell in self._campaign.cells:
            for path in argument_files(cell):
                if path not in seen:
                    seen.add(path)
                    yield path
