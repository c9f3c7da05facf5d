"""Packs a bundle: gather, redact, compute, describe, hash, write. Each step sees what the last one left."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import StoreError, UsageError
from ...report import Caution
from ..archive import MOST_BYTES, MOST_ENTRIES, Weighed, write_archive
from ..claims import Claim, claims_text, coarse_words, is_coarse
from ..claims_file import read_claims
from ..contents import Contents
from ..limited import Commands
from ..passing import passing_folder
from .about import read_about
from .answers import Answered, answer
from .describing import described
from .gathering import gather
from .origins import pack_campaigns
from .request import CLAIMS, Request
from .result import Bundled
from .staging import Staging
from .texts import write_software, write_texts

__all__ = ["pack_bundle"]

_NEW = 0o666  # what a new file may be at most; the umask says what it is


def pack_bundle(request: Request, output: Path) -> Bundled:
    """Pack sources, their campaigns, and what is concluded from them into one archive.

    The same input gives the same bytes, whoever packs it: nothing of the clock, of the user or of where
    things lie goes into it.

    Parameters
    ----------
    request : Request
        What is to be packed.
    output : Path
        The archive; it appears whole or not at all, in place of one that is there.

    Raises
    ------
    UsageError
        If a source, ``claims.yaml`` or ``bundle.yaml`` is wrong, or the bundle would be too large.
    StoreError
        If a trial is damaged or being measured, or something cannot be read or written.
    """
    claims: tuple[Claim, ...] = ()
    if request.claims is not None:
        claims = read_claims(_read(request.claims), str(request.claims))
    named = None if request.about is None else read_about(request.about)
    _accept_place(output)
    with passing_folder() as place, Commands(place.homes, place.lock) as commands:
        staging = Staging(place.content, request.max_bytes)
        found = gather(request.sources, staging, hide_hosts=request.redact is not None)
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
            tell=request.tell,
        )
        if answered.claims:
            staging.write(CLAIMS, claims_text(answered.claims))
        contents, files = described(found, about, answered, redacted, staging)
        size, sha256 = _written(files, output)
    return Bundled(
        output=str(output),
        bytes=size,
        sha256=sha256,
        contents=contents,
        claims=answered.claims,
        cautions=(
            *cautions,
            *_silent(answered),
            *_failing(answered),
            *_coarse(answered),
            *_over_limits(contents),
            *_gone(staging),
        ),
    )


def _gone(staging: Staging) -> list[Caution]:
    """Say which records of trials that have ended are gone."""
    return [
        Caution(
            "record-missing",
            f"{name} is gone since the trial ended: no analysis can be made of it",
            (name,),
        )
        for name in staging.gone
    ]


def _failing(answered: Answered) -> list[Caution]:
    return [
        Caution("claim-fails", f"claim {k} does not hold: {why}", (str(k),))
        for k, why in enumerate(answered.whys, 1)
        if why
    ]


def _coarse(answered: Answered) -> list[Caution]:
    numbers = [str(k) for k, one in enumerate(answered.claims, 1) if is_coarse(one.claim)]
    if not numbers:
        return []
    return [Caution("claim-coarse", coarse_words(numbers), tuple(numbers))]


def _silent(answered: Answered) -> list[Caution]:
    return [
        Caution("source-without-result", f"{name}: no analysis gives an answer on it", (name,))
        for name in answered.silent
    ]


def _over_limits(contents: Contents) -> list[Caution]:
    """Say what a reader must allow: more than is accepted without being asked."""
    entries = len(contents.files) + 2
    size = sum(one.bytes for one in contents.files.values())
    options = [f"--max-entries {entries}"] * (entries > MOST_ENTRIES)
    options += [f"--max-bytes {size}"] * (size > MOST_BYTES)
    if not options:
        return []
    what = f"{entries:,} files of {size:,} bytes are accepted only with {' '.join(options)}"
    return [Caution("bundle-over-limits", what)]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"the file cannot be read: {reason}", str(path), "name another") from None


def _accept_place(output: Path) -> None:
    """Refuse to replace what is no archive: a trial's file, or a text, by a slip of the hand."""
    try:
        with output.open("rb") as file:
            start = file.read(2)
    except OSError:
        return  # nothing is there, or writing will say why not
    if start not in {b"", b"PK"}:
        raise UsageError(
            "another file is there, which is no archive", str(output), "name another file with -o"
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
