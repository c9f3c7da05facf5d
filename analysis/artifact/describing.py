"""What a bundle says of itself: its documents, bundle.json and the list of hashes.

The packer writes it, and whoever checks a bundle makes it anew.
"""

from __future__ import annotations

import datetime
import platform
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import FairtrialError, UsageError
from ..record.yaml_reader import Location, read_bytes
from ..version import VERSION
from .archive import (
    BUNDLE,
    KIND,
    MOST_BYTES,
    SCHEMA,
    SUMS,
    Analysis,
    Author,
    Contents,
    FileRecord,
    Metadata,
    RedactionRecord,
    ReportMade,
    SmokeRun,
    Weighed,
    contents_text,
    tar_of,
    weigh,
)
from .claims import StoredClaim, YamlFile
from .documents import (
    CRATE,
    LICENSES,
    README,
    WHEEL,
    citation_text,
    crate_text,
    libraries_of_this,
    license_text,
    lock_text,
    needs_of,
    readme_text,
    times_of,
    wheel_of_this,
)

if TYPE_CHECKING:
    from .gathering import CopiedSource, Staging

# --- What a packer is asked: its options, and ``bundle.yaml``, what authors say of their work.


ABOUT = "bundle.yaml"

_KEYS = ("title", "description", "authors", "license", "doi", "date", "files")
_SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a ``bundle.yaml`` says."""

    path: Path | None = None  # the file; None where there is none
    # title, authors, license, doi, date of publication
    metadata: Metadata = field(default_factory=Metadata)
    description: str | None = None  # a paragraph
    files: tuple[str, ...] = ()  # patterns of further files, relative to its folder


def read_about(path: Path) -> About:
    """Read a ``bundle.yaml``."""
    file = YamlFile(read_bytes(path, "name another with --about FILE"), str(path))
    keys = file.keys((), _KEYS)
    about = {name: _text(file, keys, name) for name in ("title", "license", "doi", "date")}
    if about["doi"] is not None:
        about["doi"] = re.sub(r"^(https?://(dx\.)?doi\.org/|doi:)", "", about["doi"])
    for name, is_good, what in (
        ("license", _SPDX.fullmatch, "the name of one SPDX licence, such as MIT or CC-BY-4.0"),
        ("doi", _DOI.fullmatch, "one such as 10.5281/zenodo.1234567"),
        ("date", _is_date, "a day, such as 2026-11-22"),
    ):
        text = about[name]
        if text is not None and not is_good(text):
            file.value(keys[name], f"must be {what}", None)
    metadata = Metadata(authors=tuple(_authors(file, keys)), **about)
    description = _text(file, keys, "description")
    files = tuple(file.texts(keys["files"])) if "files" in keys else ()
    for pattern in files:
        if pattern.startswith(("/", "~")) or ".." in pattern.split("/"):
            what = f"holds the pattern {pattern!r}, which leads out of the folder of {ABOUT}"
            file.value(keys["files"], what, None)
    file.finish()
    return About(path=path, metadata=metadata, description=description, files=files)


def _text(file: YamlFile, keys: Mapping[str, Location], name: str) -> str | None:
    text = file.text(keys[name]) if name in keys else None
    return None if text is None else " ".join(text.split())


def _is_date(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _authors(file: YamlFile, keys: Mapping[str, Location]) -> Iterator[Author]:
    for item in file.items(keys["authors"]) if "authors" in keys else ():
        of = file.keys(item, ("name", "orcid", "affiliation"), ("name",))
        name = _text(file, of, "name")
        orcid = _text(file, of, "orcid")
        if orcid is not None:
            orcid = re.sub(r"^https?://orcid\.org/", "", orcid)
            if not _is_orcid(orcid):
                file.value(of["orcid"], "is none: its last digit does not fit the others", None)
        if name is not None:
            yield Author(name=name, orcid=orcid, affiliation=_text(file, of, "affiliation"))


def _is_orcid(text: str) -> bool:
    """Tell whether an ORCID iD has its form and its check digit (ISO 7064, MOD 11-2)."""
    if not re.fullmatch(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]", text, re.ASCII):
        return False
    total = 0
    digits = text.replace("-", "")
    for digit in digits[:-1]:
        total = (total + int(digit)) * 2
    return digits[-1] == "0123456789X"[(12 - total % 11) % 11]


CLAIMS = "claims.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """What taking names out of a bundle's folder came to."""

    record: RedactionRecord  # what the bundle says of it, but for what is left
    scrub: Callable[[str], str]  # takes the same names out of a text that is written later
    # says where names are left: in the bundle's folder, and in texts that lie in no file yet
    left: Callable[[Path, Mapping[str, bytes]], tuple[str, ...]]


class Answered(NamedTuple):
    """What was computed for a bundle: the stored results, the first source's report, the claims in order."""

    analyses: tuple[Analysis, ...]
    report: ReportMade | None
    claims: tuple[StoredClaim, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackingRequest:
    """What is to be packed."""

    sources: Sequence[str]  # as on the command line
    claims: Path | None = None  # ``claims.yaml``
    about: Path | None = None  # a ``bundle.yaml``; None looks in each campaign's folder
    # where the campaign file lies now; None looks where the trial says that it lay
    campaign: Path | None = None
    binaries: bool = False  # whether programs are packed
    seed: int = 0  # of results with random draws
    max_bytes: int = MOST_BYTES  # the most that all files may have
    # takes names out of all files of a folder, before anything is computed or hashed
    redact: Callable[[Path], Redacted] | None = None


_LICENSE, _CITATION = "LICENSE", "CITATION.cff"
_TEXTS_OF_LICENCES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING", "COPYING.txt")


def write_software(staging: Staging) -> None:
    """Pack the lock, and the code that judges here."""
    lock = lock_text(libraries_of_this(staging.names))
    staging.write("software/requirements.txt", lock.encode())
    code = None
    try:  # it may be too large; a full disk is no property of the bundle, and ends it
        code = wheel_of_this()
        staging.write(f"software/{WHEEL}", code)
    except FairtrialError as error:
        if code is not None and not isinstance(error, UsageError):
            raise
        staging.miss(f"software/{WHEEL}", error.what)


def write_texts(about: About, staging: Staging) -> None:
    """Write LICENSE and CITATION.cff, and list what they lack."""
    metadata = about.metadata
    if about.path is None:
        return
    for name in ("title", "authors", "license", "doi"):
        if not getattr(metadata, name):
            staging.miss(f"{ABOUT}: {name}", "it is not said there")
    texts = [about.path.parent / name for name in _TEXTS_OF_LICENCES]
    place = next((path for path in texts if path.is_file()), None)
    if place is not None:
        staging.copy(_LICENSE, place, missed=_LICENSE)
    elif (short := license_text(metadata)) is not None:
        staging.write(_LICENSE, short.encode())
        why = f"there is no file {_LICENSE} next to {ABOUT}; its name is given"
        staging.miss("the licence's text", why)
    if metadata.license is not None and metadata.license not in LICENSES:
        why = f"{metadata.license} is not an SPDX name of a licence that is usual here"
        staging.miss(f"{_CITATION}: license", why)
    citation = citation_text(metadata)
    if citation is None:
        staging.miss(_CITATION, f"it needs a title and authors, in {ABOUT}")
    else:
        staging.write(_CITATION, citation.encode())


_LONG_SESSION_S = 600  # a small run takes one cell only, where a session takes longer


def described(
    found: Sequence[CopiedSource],
    about: About,
    answered: Answered,
    redacted: Redacted | None,
    staging: Staging,
) -> tuple[Contents, list[Weighed]]:
    """Describe what is there, and hash it; give all files of the archive."""
    root = staging.root
    weighed = {one.name: one for one in _packed(staging)}
    scrub = str if redacted is None else redacted.scrub
    contents = Contents(
        schema=SCHEMA,
        kind=KIND,
        tool_version=VERSION,
        python=platform.python_version(),
        libraries=libraries_of_this(staging.names),
        sources=tuple(one.source for one in found),
        analyses=answered.analyses,
        report=answered.report,
        claims=CLAIMS if answered.claims else None,
        smoke=_smoke(found),
        needs=needs_of(found, root, sum(one.bytes for one in weighed.values())),
        missing=tuple(replace(m, what=scrub(m.what), why=scrub(m.why)) for m in staging.missing),
        redacted=None if redacted is None else redacted.record,
        metadata=about.metadata,
        files=_records(weighed),
    )
    page = readme_text(contents, about.description, answered.claims, root)
    contents = replace(contents, files=_add(weighed, README, page))
    days = [(m.finished or m.started)[:10] for one in found if (m := one.manifest)]
    crate = crate_text(contents, about.description, about.metadata.date or max(days, default=None))
    contents = replace(contents, files=_add(weighed, CRATE, crate))
    if redacted is not None:
        texts = {README: page, CRATE: crate, BUNDLE: contents_text(contents)}
        record = replace(redacted.record, left=redacted.left(root, texts))
        contents = replace(contents, redacted=record)
    _add(weighed, BUNDLE, contents_text(contents))
    sums = "".join(f"{weighed[name].sha256}  {name}\n" for name in sorted(weighed, key=str.encode))
    _add(weighed, SUMS, sums.encode())
    return contents, list(weighed.values())


def _packed(staging: Staging) -> Iterator[Weighed]:
    """Give the files of the archive: those of the folder, with each trial's outputs as one."""
    outputs: dict[str, dict[str, Path]] = {}
    for name in staging.names:
        path = staging.root / name
        parts = name.split("/", 3)
        if parts[0] == "trials" and len(parts) == 4 and parts[2] == "outputs":
            outputs.setdefault(f"trials/{parts[1]}/outputs.tar", {})[parts[3]] = path
        else:
            executable = bool(path.stat().st_mode & 0o100) and parts[0] == "campaigns"
            yield weigh(name, path, executable=executable)
    for name, files in outputs.items():
        yield weigh(name, tar_of(files))


def _add(weighed: dict[str, Weighed], name: str, data: bytes) -> dict[str, FileRecord]:
    weighed[name] = weigh(name, data)
    return _records(weighed)


def _records(weighed: Mapping[str, Weighed]) -> dict[str, FileRecord]:
    return {
        name: FileRecord(bytes=weighed[name].bytes, sha256=weighed[name].sha256)
        for name in sorted(weighed, key=str.encode)
    }


def _smoke(found: Sequence[CopiedSource]) -> SmokeRun | None:
    for one in found:
        manifest, campaign = one.manifest, one.source.campaign
        if manifest is None or campaign is None:
            continue
        whole = times_of(manifest)
        session = None if whole is None else round(whole / manifest.sessions, 1)
        if session is None or session > _LONG_SESSION_S:
            cell = ":".join((manifest.benchmarks[0], manifest.baseline))
            return SmokeRun(command=("run", campaign, "--only", cell))
        return SmokeRun(command=("run", campaign, "--sessions", "1"), time_s=session)
    return None
