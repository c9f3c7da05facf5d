"""Packs a bundle: gather, redact, compute, describe, hash, write; and says what was written."""

from __future__ import annotations

import hashlib
import os
import shlex
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import StoreError, UsageError
from ...pages import number_format as figures
from ...pages.model import (
    Block,
    Caution,
    Cell,
    Column,
    CommandLine,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    page_of,
)
from ...pages.result import Result, plain
from ...record.yaml_reader import read_bytes
from ...words import shorten
from ..archive import MOST_BYTES, MOST_ENTRIES, Weighed, write_archive
from ..claims import Claim, StoredClaim, claims_text, coarse_words, is_coarse, read_claims, said_of
from ..contents import SUMS
from ..recomputing import Commands, passing_folder
from .answers import Answered, answer
from .campaign import pack_campaigns
from .describing import described, write_software, write_texts
from .gathering import Staging, gather, pack_profiles
from .request import CLAIMS, PackingRequest, read_about

if TYPE_CHECKING:
    from ..contents import Contents, RedactionRecord


_PARTS = (
    "sources", "analyses", "report", "claims", "smoke", "needs", "container", "missing",
    "redacted", "metadata",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bundled(Result):
    """An archive that was written."""

    method: ClassVar[str] = "bundle"
    unlisted: ClassVar[frozenset[str]] = frozenset({"contents", "claims"})

    output: str  # the file
    bytes: int  # its size
    sha256: str  # of the file
    # SHA-256 of its ``SHA256SUMS``, the hashes of its contents: to be published beside it
    identity: str
    contents: Contents  # what stands in its ``bundle.json``
    claims: tuple[StoredClaim, ...] = ()  # in the author's order, with what was found

    @property
    def all_hold(self) -> bool:
        """Whether no claim fails."""
        return all(one.holds for one in self.claims)

    @property
    def whole(self) -> bool:
        """Whether the trials in it have all the records with which they ended."""
        return all(one.code != "record-missing" for one in self.cautions)

    def body(self) -> dict[str, Any]:
        """Give what stands below the head: the archive, and the parts of ``bundle.json`` but its files."""
        found = Result.body(self)
        last = {key: found.pop(key) for key in ("cautions", "caution_codes", "references")}
        parts = {key: plain(getattr(self.contents, key)) for key in _PARTS}
        parts["claims"] = [one.to_dict() for one in self.claims]
        return {**found, "entries": len(self.contents.files) + 2, **parts, **last}


_MOST_LEFT = 12
_MOST_MISSING = 30  # lines of a screen


@page_of.register(Bundled)
def _bundled_page(bundled: Bundled) -> Page:
    contents = bundled.contents
    kinds: Counter[str] = Counter(one.kind for one in contents.sources)
    nouns = [noun for noun in ("fleet", "trial", "file") if noun in kinds]
    what = [figures.counted(kinds[noun], noun) for noun in nouns]
    results = figures.counted(len(contents.analyses), "result")
    first = (
        f"{bundled.output} holds {' and '.join(what)} in {len(contents.files) + 2} files, "
        f"{figures.quantity(float(bundled.bytes), 'B')}, with {results}"
    )
    sections = [Section((Sentence(first), Sentence(f"identity {bundled.identity}")))]
    if bundled.claims:
        sections.append(_claims(bundled))
    if contents.redacted is not None:
        sections.append(_redacted(contents.redacted))
    if contents.missing:
        sections.append(_missing(bundled))
    return Page(
        title="Bundle",
        sections=tuple(sections),
        cautions=bundled.cautions,
        following=(
            Section(
                (
                    Sentence("Whoever has it checks it, and computes every number again, with"),
                    CommandLine(f"fairtrial reproduce {shlex.quote(bundled.output)}"),
                )
            ),
        ),
    )


def _claims(bundled: Bundled) -> Section:
    count = sum(one.holds for one in bundled.claims)
    total = len(bundled.claims)
    said = "all claims hold" if count == total else f"{total - count} of {total} claims do not hold"
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            Value(str(k), k),
            "holds" if one.holds else "FAILS",
            shorten(one.claim.text, 44),
            said_of(one.claim),
            _value(one.found),
        )
        for k, one in enumerate(bundled.claims, 1)
    )
    left = (Column(heading, "left") for heading in ("", "sentence", "must be"))
    columns = (Column("claim"), *left, Column("found"))
    return Section((Sentence(said), Table(name="claims", columns=columns, rows=rows)), "Claims")


def _value(found: object) -> Cell:
    if isinstance(found, int) and not isinstance(found, bool):
        return Value(shorten(str(found), 24), found)  # a count has no decimals
    if isinstance(found, float):
        return Value(figures.significant(found, 4), found)
    return shorten(str(found), 24)


def _missing(bundled: Bundled) -> Section:
    missing = bundled.contents.missing
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (shorten(one.what, 40), one.why) for one in missing[:_MOST_MISSING]
    )
    more = len(missing) - len(rows)
    said = Sentence(f"{figures.counted(len(missing), 'thing')} that a reader might look for:")
    columns = (Column("not in it", "left"), Column("why", "left"))
    table = Table(name="missing", columns=columns, rows=rows)
    last = [Sentence(f"and {more} more (README.md and --json have all)")] * (more > 0)
    return Section((said, table, *last), "What is not in it")


def _redacted(record: RedactionRecord) -> Section:
    counts = ", ".join(
        f"{kind} {figures.counted(n, 'time')}" for kind, n in record.replaced.items()
    )
    said = f"replaced: {counts}; {figures.counted(len(record.files), 'file')} altered"
    blocks: list[Block] = [Sentence(said)]
    if record.left:
        blocks.append(Sentence("left, because only a person can tell what may be altered there:"))
        blocks += [Sentence(text) for text in record.left[:_MOST_LEFT]]
        more = len(record.left) - _MOST_LEFT
        if more > 0:
            blocks.append(Sentence(f"and {more} more places (--json has all)"))
    return Section(tuple(blocks), "Names taken out")


_NEW = 0o666  # what a new file may be at most; the umask says what it is


def pack_bundle(request: PackingRequest, output: Path) -> Bundled:
    """Pack sources, their campaigns, and what is concluded from them into one archive.

    The same input gives the same contents, whoever packs it: nothing of the clock, of the user or of where
    things lie goes into it.
    """
    claims: tuple[Claim, ...] = ()
    if request.claims is not None:
        claims = read_claims(read_bytes(request.claims, "name another"), str(request.claims))
    named = None if request.about is None else read_about(request.about)
    _accept_place(output)
    with passing_folder() as place, Commands(place.homes, place.lock) as commands:
        staging = Staging(place.content, request.max_bytes)
        found = gather(request.sources, staging, hide_hosts=request.redact is not None)
        found = pack_profiles(found, staging, wanted=request.why)
        found, about, cautions = pack_campaigns(request, found, staging, named=named, output=output)
        # names go before anything is computed or hashed: results and hashes are of what is packed
        redacted = None if request.redact is None else request.redact(staging.root)
        if redacted is not None:
            claims = tuple(replace(one, text=redacted.scrub(one.text)) for one in claims)
            if about.description is not None:
                about = replace(about, description=redacted.scrub(about.description))
        write_software(staging)
        write_texts(about, staging)
        answered = answer(
            found,
            claims,
            staging,
            seed=request.seed,
            claims_file=str(request.claims),
            commands=commands,
        )
        if answered.claims:
            staging.write(CLAIMS, claims_text(answered.claims))
        contents, files = described(found, about, answered, redacted, staging)
        size, sha256 = _written(files, output)
    return Bundled(
        output=str(output),
        bytes=size,
        sha256=sha256,
        identity=next(one.sha256 for one in files if one.name == SUMS),
        contents=contents,
        claims=answered.claims,
        cautions=(*cautions, *_cautions(answered, contents, staging)),
    )


def _cautions(answered: Answered, contents: Contents, staging: Staging) -> Iterator[Caution]:
    """Say what does not hold or gives no answer, what a reader must allow, and what is gone."""
    for name in answered.silent:
        what = f"{name}: no analysis gives an answer on it"
        yield Caution("source-without-result", what, (name,))
    for k, why in enumerate(answered.whys, 1):
        if why:
            yield Caution("claim-fails", f"claim {k} does not hold: {why}", (str(k),))
    numbers = [str(k) for k, one in enumerate(answered.claims, 1) if is_coarse(one.claim)]
    if numbers:
        yield Caution("claim-coarse", coarse_words(numbers), tuple(numbers))
    entries = len(contents.files) + 2
    size = sum(one.bytes for one in contents.files.values())
    options = [f"--max-entries {entries}"] * (entries > MOST_ENTRIES)
    options += [f"--max-bytes {size}"] * (size > MOST_BYTES)
    if options:
        what = f"{entries:,} files of {size:,} bytes are accepted only with {' '.join(options)}"
        yield Caution("bundle-over-limits", what)
    for name in staging.gone:
        what = f"{name} is gone since the trial ended: no analysis can be made of it"
        yield Caution("record-missing", what, (name,))


def _accept_place(output: Path) -> None:
    """Refuse to replace what is no archive: a trial's file, or a text, by a slip of the hand."""
    try:
        with output.open("rb") as file:
            start = file.read(2)
    except OSError:
        return  # nothing is there, or writing will say why not
    if start not in {b"", b"PK"}:
        raise UsageError(
            "there is another file, which is not an archive",
            str(output),
            "name another file with -o",
        )


def _written(files: Sequence[Weighed], output: Path) -> tuple[int, str]:
    """Write the archive beside its place, and give its size and SHA-256; then it takes the place."""
    place = Path(os.path.realpath(output))
    fresh: Path | None = None
    try:
        fd, name = tempfile.mkstemp(prefix=f".{place.name[:60]}.", dir=place.parent)
        fresh = Path(name)
        with os.fdopen(fd, "w+b") as file:
            write_archive(file, files)
            file.flush()
            os.fsync(file.fileno())
            mask = os.umask(0)
            os.umask(mask)
            os.fchmod(file.fileno(), _NEW & ~mask)
            size = file.tell()
            file.seek(0)
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        fresh.replace(place)
    except OSError as error:
        raise StoreError(
            f"the bundle cannot be written: {error.strerror or error}",
            str(output),
            "name another file with -o, or free some space",
        ) from error
    finally:
        if fresh is not None:
            fresh.unlink(missing_ok=True)
    return size, sha256
