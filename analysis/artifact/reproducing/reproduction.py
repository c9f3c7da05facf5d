"""Computes every stored result of an artifact anew from its raw rows.

Nothing of the bundle is executed: only commands of this installation, which read and print. So what
comes out is what these raw rows give here, whoever packed them.
"""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ...errors import FairtrialError, UsageError
from ...report import Caution
from ...version import VERSION
from ...words import shorten, shown
from ..archive import MOST_BYTES, MOST_ENTRIES, Archive, open_archive
from ..claims import read_stored_claims, weigh_claim
from ..contents import Analysis, Contents
from ..recomputing import Recomputed, recompute
from .asked_then import as_asked_then
from .badges import SOURCE, badges_of
from .checking import check_archive, unpack_bundle, unpack_into
from .documents import compare_documents, document_of
from .result import ClaimCheck, OtherVersion, Recomputation, Reproduction

__all__ = ["other_versions", "reproduce"]

_MOST_WORKERS = 2  # commands at a time; each may use all cores
_MOST_SAID = 200  # characters of a command, which may be of any length
_MOST_RESULT = 256 * 1024**2  # bytes of a stored result

Say = Callable[[str], None]


def reproduce(
    path: Path,
    *,
    folder: Path | None = None,
    max_entries: int = MOST_ENTRIES,
    max_bytes: int = MOST_BYTES,
    timeout_s: float | None = None,
    say: Say = lambda _: None,
) -> Reproduction:
    """Check an artifact, and compute what it says anew.

    Parameters
    ----------
    path : Path
        The file that ``fairtrial bundle`` wrote; it is only read.
    folder : Path, optional
        A new folder to unpack it in, which stays; without one nothing stays.
    max_entries, max_bytes : int
        The most files, and the most bytes of them all, that are accepted.
    timeout_s : float, optional
        The longest time of one command, in seconds.
    say : callable
        Is told what is under way, a line each.

    Returns
    -------
    Reproduction
        What came out; what differs is no error.

    Raises
    ------
    UsageError
        If the file cannot be read, or the folder is there.
    StoreError
        If the bundle is damaged, or none that can be trusted to be only read.
    """
    with open_archive(path, max_entries=max_entries, max_bytes=max_bytes) as archive:
        say(f"checking {len(archive.entries):,} files of {path}")
        contents = check_archive(archive)
        with _unpacked(archive, folder) as place:
            recomputing = _Recomputing(archive, contents, place, timeout_s, say)
            results = recomputing.results()
            claims = tuple(recomputing.claims())
        report = None if contents.report is None else results[-1]
        others = other_versions(contents)
        return Reproduction(
            bundle=str(path),
            sha256=_sha256(path),
            title=contents.metadata.title,
            doi=contents.metadata.doi,
            license=contents.metadata.license,
            packed_by=contents.tool_version,
            tool_here=VERSION,
            files=len(archive.entries),
            bytes=sum(entry.bytes for entry in archive.entries.values()),
            other_versions=others,
            analyses=results if report is None else results[:-1],
            report=report,
            claims=claims,
            missing=contents.missing,
            redacted=contents.redacted,
            measurable=tuple(one.name for one in contents.sources if one.campaign is not None),
            badges=badges_of(archive, contents, results, claims),
            cautions=tuple(_cautions(contents, results, others)),
            references=(SOURCE,),
        )


def _cautions(
    contents: Contents, results: Sequence[Recomputation], others: Sequence[OtherVersion]
) -> Iterator[Caution]:
    if not results:
        yield Caution(
            "bundle-nothing-stored", "the bundle stores no result: that it is whole is all there is"
        )
    if others and not all(one.standing == "same bytes" for one in results):
        names = ", ".join(f"{one.name} {one.here or 'not here'}" for one in others)
        yield Caution(
            "bundle-other-versions",
            f"other versions than those that it was packed with ({names}): to have the same bytes, "
            "install software/requirements.txt of the bundle",
        )
    if contents.redacted is not None:
        kinds = ", ".join(contents.redacted.what)
        yield Caution(
            "bundle-redacted",
            f"names were replaced before it was packed ({kinds}): {len(contents.redacted.files)} files "
            "are not the bytes that were measured",
        )
    if contents.missing:
        names = ", ".join(one.what for one in contents.missing[:3])
        more = len(contents.missing) - 3
        yield Caution(
            "bundle-incomplete",
            f"the bundle says what it lacks: {names}{f' and {more} more' if more > 0 else ''}",
            tuple(one.what for one in contents.missing),
        )


def other_versions(contents: Contents) -> tuple[OtherVersion, ...]:
    """Give what the bundle was packed with and is of another version here, or not there."""
    from importlib.metadata import PackageNotFoundError, version

    found = []
    if contents.tool_version != VERSION:
        found.append(OtherVersion(name="fairtrial", packed=contents.tool_version, here=VERSION))
    if contents.python != platform.python_version():
        here = platform.python_version()
        found.append(OtherVersion(name="Python", packed=contents.python, here=here))
    for name, packed in sorted(contents.libraries.items()):
        try:
            installed: str | None = version(name)
        except (PackageNotFoundError, ValueError):
            installed = None
        if installed != packed:
            found.append(OtherVersion(name=name, packed=packed, here=installed))
    return tuple(found)


@contextmanager
def _unpacked(archive: Archive, folder: Path | None) -> Iterator[Path]:
    """Unpack into a new folder: the one that is named, which stays, or a passing one."""
    if folder is not None:
        unpack_bundle(archive, folder)
        yield folder
        return
    try:
        passing = tempfile.TemporaryDirectory(prefix="fairtrial-")
    except OSError as error:
        raise UsageError(
            f"no temporary folder can be made: {error.strerror}",
            str(archive.path),
            "name a folder with -C, or set TMPDIR to one that can be written",
        ) from None
    with passing as place:
        unpack_into(archive, Path(place))
        yield Path(place)


class _Recomputing:
    """The commands of a checked and unpacked bundle, executed one after the other."""

    def __init__(
        self, archive: Archive, contents: Contents, folder: Path, timeout_s: float | None, say: Say
    ) -> None:
        self._archive = archive
        self._contents = contents
        self._folder = folder
        self._timeout_s = timeout_s
        self._say = say
        self._printed: dict[str, bytes] = {}  # by the file with the stored result

    def results(self) -> tuple[Recomputation, ...]:
        """Give each stored result beside what comes out now, the report last."""
        asked = list(self._contents.analyses)
        if (report := self._contents.report) is not None:
            asked.append(
                Analysis(name="report", command=report.command, seed=None, result=report.result)
            )
        workers = min(_MOST_WORKERS, len(os.sched_getaffinity(0)))
        with ThreadPoolExecutor(workers) as pool:
            return tuple(pool.map(self._result, asked))

    def _result(self, one: Analysis) -> Recomputation:
        said = shorten(shown(" ".join(one.command)), _MOST_SAID)
        self._say(f"computing {shown(one.name)}: fairtrial {said}")
        stored = self._archive.read(one.result, most=_MOST_RESULT)
        try:
            command = as_asked_then(one.command, self._folder, stored)
            fresh = recompute(command, self._folder, timeout_s=self._timeout_s)
        except FairtrialError as error:
            return Recomputation(
                name=one.name,
                command=one.command,
                result=one.result,
                standing="failed",
                exit_code=one.exit_code,
                reason=error.what,
            )
        self._printed[one.result] = fresh.stdout
        return self._held(one, stored, fresh)

    def claims(self) -> Iterator[ClaimCheck]:
        """Hold each claim against what its command prints now."""
        name = self._contents.claims
        if name is None:
            return
        asked = {one.result: one.command for one in self._contents.analyses}
        for number, stored in enumerate(
            read_stored_claims(self._archive.read(name), str(self._archive.path)), 1
        ):
            claim = stored.claim
            check = ClaimCheck(
                number=number,
                text=claim.text,
                command=claim.command,
                value=claim.value,
                relation=claim.relation,
                expected=claim.expected,
                digits=claim.digits,
                packed=stored.found,
            )
            printed = self._printed.get(stored.result)
            if asked.get(stored.result) != claim.command:
                told = f"its command is not the one whose result {stored.result} is"
                yield replace(check, reason=told)
            elif printed is None:
                yield replace(check, reason="its command gave no answer")
            else:
                weighing = weigh_claim(claim, document_of(printed))
                yield replace(
                    check,
                    now=weighing.found,
                    holds=weighing.holds,
                    reason=weighing.why or None,
                )

    def _held(self, one: Analysis, stored: bytes, fresh: Recomputed) -> Recomputation:
        """Compare a stored result with what its command printed."""
        same_tool = self._contents.tool_version == VERSION
        found = compare_documents(stored, fresh.stdout, same_tool=same_tool)
        other_end = one.exit_code != fresh.exit_code
        return Recomputation(
            name=one.name,
            command=one.command,
            result=one.result,
            standing="different" if other_end else found.grade,
            numbers=found.numbers,
            same=found.same,
            near=found.near,
            different=found.different,
            differences=found.differences,
            not_listed=found.not_listed,
            exit_code=one.exit_code,
            exit_code_now=fresh.exit_code,
            reason=f"it ends with {fresh.exit_code}, not {one.exit_code}" if other_end else None,
        )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
