"""What a bundle says of itself: its documents, bundle.json and the list of hashes.

The packer writes it, and whoever checks a bundle makes it anew. Its documents are what a rerun takes,
CITATION.cff, README.md and the crate for machines.

Source: Citation File Format, version 1.2.0, its schema guide. A name is taken apart as BibTeX does: "Given
Family", or "Family, Given" for a family name of several words.

Source: RO-Crate Metadata Specification 1.1, "Root Data Entity", "Data Entities" and "Provenance of entities".
"""

from __future__ import annotations

import base64
import contextlib
import datetime
import functools
import importlib.metadata
import io
import json
import os.path
import platform
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import quote

import jinja2

from ..data.host_record import read_environments
from ..errors import FairtrialError, StoreError, UsageError
from ..pages import number_format as figures
from ..record.fleet import FLEET
from ..record.manifest import read_manifest
from ..record.shapes import opened
from ..record.trial_files import MEASUREMENTS, RESOLVED, Manifest
from ..record.yaml_reader import Location, read_bytes
from ..registry import shipped
from ..version import VERSION
from .archive import (
    BUNDLE,
    FLEET_PLACE,
    KIND,
    MOST_BYTES,
    SCHEMA,
    SUMS,
    Analysis,
    Author,
    Contents,
    FileRecord,
    Metadata,
    Needs,
    RedactionRecord,
    ReportMade,
    SmokeRun,
    Weighed,
    contents_text,
    steps_of,
    tar_of,
    weigh,
    write_archive,
)
from .claims import StoredClaim, YamlFile, said_of

if TYPE_CHECKING:
    from .gathering import CopiedSource, Staging

# --- What a rerun takes: libraries in exact versions, fairtrial's wheel, time, disk, memory and host.
#
# Source: the binary distribution format, PyPA specifications, version 1.0; the recording of
# installed projects for ``RECORD``.


T = TypeVar("T")

_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")
_READERS = {".zst": "zstandard", ".zstd": "zstandard", ".parquet": "pyarrow"}  # of sources


def libraries_of_this(sources: Iterable[str] = ()) -> dict[str, str]:
    """Give the versions of what fairtrial requires, and of what reads these sources, as installed here."""
    endings = {PurePath(name).suffix for name in sources}
    names = [library for ending, library in _READERS.items() if ending in endings]
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        lines = importlib.metadata.requires("fairtrial") or ()
        names += [name for line in lines if "extra" not in line for name in _NAME.findall(line)]
    found = {}
    for name in names:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[re.sub(r"[-_.]+", "-", name).lower()] = importlib.metadata.version(name)
    return dict(sorted(found.items()))


def lock_text(libraries: Mapping[str, str]) -> str:
    """Give ``requirements.txt``."""
    head = (
        f"# Python {platform.python_version()}; what 'fairtrial' used here. Install with\n"
        "#   pip install -r requirements.txt ./fairtrial-*.whl\n"
        "#   uv pip install -r requirements.txt ./fairtrial-*.whl\n"
    )
    return head + "".join(f"{name}=={version}\n" for name, version in libraries.items())


WHEEL = f"fairtrial-{VERSION}-py3-none-any.whl"

_PACKAGES = ("analysis", "harness")
_INFO = f"fairtrial-{VERSION}.dist-info"
_TAGS = """\
Wheel-Version: 1.0
Generator: fairtrial bundle
Root-Is-Purelib: true
Tag: py3-none-any
"""
_COPIED = ("METADATA", "entry_points.txt")


def wheel_of_this() -> bytes:
    """Pack the two packages as they are executed here, with what their installation says of them.

    The same files give the same bytes.
    """
    files = {**_code(), **_metadata(), f"{_INFO}/WHEEL": _TAGS.encode()}
    record = f"{_INFO}/RECORD"
    weighed = [weigh(name, data) for name, data in files.items()]
    lines = []
    for one in sorted(weighed, key=lambda one: one.name.encode()):
        digest = base64.urlsafe_b64encode(bytes.fromhex(one.sha256)).rstrip(b"=").decode()
        lines.append(f"{one.name},sha256={digest},{one.bytes}")
    raw = "\n".join([*lines, f"{record},,", ""]).encode()
    weighed.append(weigh(record, raw))
    out = io.BytesIO()
    write_archive(out, weighed)
    return out.getvalue()


def _code() -> Mapping[str, bytes]:
    root = shipped("")
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for package in _PACKAGES
        for path in sorted((root / package).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }


def _metadata() -> Mapping[str, bytes]:
    try:
        installed = importlib.metadata.distribution("fairtrial")
    except importlib.metadata.PackageNotFoundError:
        installed = None
    if installed is None or installed.version != VERSION:
        text = "it is not installed" if installed is None else f"version {installed.version} is"
        raise StoreError(
            f"fairtrial {VERSION} is executed, and {text}",
            fix="install it: pip install fairtrial, or pip install -e . in its source",
        )
    found = {f"{_INFO}/{name}": (installed.read_text(name) or "").encode() for name in _COPIED}
    for file in installed.files or ():
        parts = file.parts
        if len(parts) > 2 and parts[0].endswith(".dist-info") and parts[1] == "licenses":
            found["/".join((_INFO, *parts[1:]))] = Path(str(file.locate())).read_bytes()
    return found


_PEAK = re.compile(rb'"max_rss_bytes":(\d{1,18})')


def times_of(manifest: Manifest) -> float | None:
    """Give how long a trial took, in seconds; pauses between resumed parts count as well."""
    if manifest.origin == "imported":
        return None
    total = 0.0
    for part in manifest.merged_from or (manifest,):
        try:  # a part that has not finished has no text there
            end = datetime.datetime.fromisoformat(part.finished or "")
            total += (end - datetime.datetime.fromisoformat(part.started)).total_seconds()
        except (ValueError, TypeError):
            return None
    return round(total, 3)


def needs_of(found: Sequence[CopiedSource], root: Path, disk_bytes: int) -> Needs:
    """Give what a rerun of all trials takes."""
    trials = [one for one in found if one.manifest is not None]
    times = [times_of(one.manifest) for one in trials if one.manifest is not None]
    known = [time for time in times if time is not None]
    paths = [root / one.source.path for one in trials]
    first = next((records[0] for path in paths if (records := read_environments(path))), None)

    def value(section: str, key: str, kind: type[T]) -> T | None:
        found = None if first is None else first.sections.get(section, {}).get(key)
        return found if type(found) is kind else None

    compilers = value("tools", "compilers", dict) or {}
    return Needs(
        disk_bytes=disk_bytes,
        run_s=round(sum(known), 3) if known and len(known) == len(times) else None,
        cpus=_cpus(value("cpu", "online", str) or ""),
        memory_bytes=value("memory", "total_bytes", int),
        max_rss_bytes=max((peak for peak in map(_peak, paths) if peak is not None), default=None),
        cpu_model=value("cpu", "model", str),
        architecture=value("kernel", "architecture", str),
        kernel=value("kernel", "release", str),
        distribution=value("kernel", "distribution", str),
        compilers={name: one for name, one in sorted(compilers.items()) if isinstance(one, str)},
    )


def _cpus(online: str) -> int | None:
    """Count a list of CPUs such as ``0-3,6``."""
    if not re.fullmatch(r"\d{1,6}(-\d{1,6})?(,\d{1,6}(-\d{1,6})?)*", online):
        return None
    parts = (part.partition("-") for part in online.split(","))
    return sum(int(last or first) - int(first) + 1 for first, _, last in parts)


def _peak(trial: Path) -> int | None:
    """Give the largest resident memory of any run; the rows are not parsed for it."""
    with opened(trial / MEASUREMENTS) as file:
        return max((int(found[1]) for found in map(_PEAK.search, file) if found), default=None)


# --- CITATION.cff, README.md and the crate for machines, by a template each.


# The licences that works of research usually have, by their SPDX names.
LICENSES = frozenset(
    """0BSD AFL-3.0 AGPL-3.0-only AGPL-3.0-or-later Apache-2.0 Artistic-2.0 BSD-2-Clause BSD-3-Clause
    BSD-3-Clause-Clear BSL-1.0 CC-BY-3.0 CC-BY-4.0 CC-BY-NC-4.0 CC-BY-NC-ND-4.0 CC-BY-NC-SA-4.0
    CC-BY-ND-4.0 CC-BY-SA-3.0 CC-BY-SA-4.0 CC0-1.0 CECILL-2.1 CECILL-B CECILL-C ECL-2.0 EPL-1.0 EPL-2.0
    EUPL-1.1 EUPL-1.2 GPL-2.0-only GPL-2.0-or-later GPL-3.0-only GPL-3.0-or-later ISC LGPL-2.1-only
    LGPL-2.1-or-later LGPL-3.0-only LGPL-3.0-or-later LPPL-1.3c MIT MIT-0 MPL-2.0 MS-PL NCSA ODC-By-1.0
    ODbL-1.0 OFL-1.1 OSL-3.0 PDDL-1.0 PostgreSQL Unlicense UPL-1.0 WTFPL Zlib""".split()  # noqa: SIM905 - a table of words
)


def family_and_given(name: str) -> tuple[str, str | None]:
    """Take a name apart: its family part and its given part."""
    if "," in name:
        family, _, given = name.partition(",")
        return family.strip(), given.strip() or None
    given, _, family = name.rpartition(" ")
    return family, given or None


def citation_text(metadata: Metadata) -> str | None:
    """Give the text of ``CITATION.cff``; None without a title or without authors, which it must have."""
    if metadata.title is None or not metadata.authors:
        return None
    return _rendered("CITATION.cff", metadata=metadata, licenses=LICENSES)


def license_text(metadata: Metadata) -> str | None:
    """Give a short ``LICENSE`` that names the licence, for who has put no text of it there."""
    if metadata.license is None:
        return None
    names = ", ".join(author.name for author in metadata.authors)
    head = " by ".join(text for text in (metadata.title, names) if text)
    return (
        f"{head or 'This artifact'}\n\nSPDX-License-Identifier: {metadata.license}\n\n"
        f"The licence's text: https://spdx.org/licenses/{metadata.license}.html\n"
    )


CRATE = "ro-crate-metadata.json"


def crate_text(contents: Contents, description: str | None, date: str | None) -> bytes:
    """Give the bytes of ``ro-crate-metadata.json``; what nobody said is left out."""
    license_name = contents.metadata.license
    text = _rendered(
        CRATE,
        **_common(contents),
        description=description,
        date=date,
        crate=CRATE,
        files=sorted(contents.files),
        license_id=license_name and f"https://spdx.org/licenses/{license_name}",
        persons=[
            {"@id": f"https://orcid.org/{one.orcid}" if one.orcid else f"#author-{k}"}
            for k, one in enumerate(contents.metadata.authors, 1)
        ],
    )
    document = json.loads(text)
    document["@graph"] = [
        {key: value for key, value in one.items() if value not in (None, [])}
        for one in document["@graph"]
    ]
    return json.dumps(document, indent=1, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _read_by(command: Sequence[str]) -> Iterator[str]:
    for word in command[1:]:
        place = word.partition(":")[0]
        if word.startswith("sources/"):
            yield word
        elif place == FLEET_PLACE:
            yield f"{FLEET_PLACE}/{FLEET}"
        elif word.startswith("trials/"):
            yield f"{place}/measurements.jsonl"


README = "README.md"


def works_outside(contents: Contents, root: Path) -> dict[str, str]:
    """Say of each trial that no rerun takes, as it was merged or works outside of the bundle, what to do instead."""
    found = {}
    damaged = (FairtrialError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
    for one, place in [(one, one.campaign) for one in contents.sources if one.campaign]:
        why = ""
        with contextlib.suppress(*damaged), opened(root / one.path / RESOLVED) as file:
            manifest, campaign = read_manifest(root / one.path), json.load(file)["campaign"]
            home = PurePath(manifest.campaign_path).parent
            if f"{home}/".encode() in read_bytes(root / place):
                why = f"names files by their way from {home}"
            if manifest.origin != "measured":
                why = f"was {manifest.origin}"
            rules = (rule for cell in campaign["cells"] for rule in cell.get("metrics", ()))
            read = (rule["source"] for rule in rules if rule["source"][:6] != "/proc/")
            for path in (*read, *(cwd for _, cwd in steps_of(campaign))):
                if os.path.normpath(PurePath(place).parent / path).startswith(("/", "..")):
                    why = f"works in {path}, outside of the bundle"
        if why:
            text = f"{one.name} {why}, so --rerun refuses it: execute {place} of the unpacked bundle as {README} says, "
            found[one.name] = f"{text}with your own 'cwd' and files where it names the authors'"
    return found


def readme_text(
    contents: Contents, description: str | None, claims: Sequence[StoredClaim], root: Path
) -> bytes:
    """Give the bytes of ``README.md``; `root` is the folder with the trials."""
    needs, redacted = contents.needs, contents.redacted
    host = (
        needs.cpu_model,
        None if needs.cpus is None else f"{needs.cpus} CPUs online",
        None if needs.memory_bytes is None else f"{_size(needs.memory_bytes)} of memory",
        needs.architecture,
        needs.distribution,
        None if needs.kernel is None else f"Linux {needs.kernel}",
    )
    whole = []  # the arguments of `fairtrial` that measure all of it again
    for one in contents.sources:
        if one.kind == "trial" and one.campaign is not None:
            manifest = read_manifest(root / one.path)
            numbers = ("--sessions", str(manifest.sessions), "--seed", str(manifest.seed))
            whole.append(("run", one.campaign, *numbers))
    text = _rendered(
        README,
        **_common(contents),
        description=description,
        claims=claims,
        whole=whole,
        outside=works_outside(contents, root),
        authors="; ".join(
            one.name if one.affiliation is None else f"{one.name} ({one.affiliation})"
            for one in contents.metadata.authors
        ),
        needs=needs,
        host="; ".join(text for text in host if text is not None),
        smoke=contents.smoke,
        counts=redacted and ", ".join(f"{name} {n} times" for name, n in redacted.replaced.items()),
    )
    return (text.rstrip("\n") + "\n").encode("utf-8", "backslashreplace")


def _common(contents: Contents) -> dict[str, Any]:
    names, wheel = ", ".join(one.name for one in contents.sources), f"software/{WHEEL}"
    return {
        "contents": contents,
        "metadata": contents.metadata,
        "heading": contents.metadata.title or f"Artifact: {names}",
        "version": VERSION,
        "wheel": wheel if wheel in contents.files else None,
    }


def _rendered(name: str, **values: Any) -> str:  # noqa: ANN401 - whatever a template sets
    return _templates().get_template(f"{name}.jinja").render(values)


@functools.cache
def _templates() -> jinja2.Environment:
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(shipped("analysis/artifact/packing")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - Markdown, YAML and JSON
    )
    found.filters |= {
        "json": functools.partial(json.dumps, ensure_ascii=False),
        "id": lambda path: {"@id": quote(path)},
        "anchor": lambda name: {"@id": f"#{name}"},
        "quote": quote,
        "read_by": _read_by,
        "shell": lambda words: shlex.join(("fairtrial", *words)),
        "family_and_given": family_and_given,
        "said": said_of,
        "md": _safe,
        "ticked": _ticked,
        "size": _size,
        "time": figures.time_span,
    }
    return found


_SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>#|&~"})
# where a paragraph begins, these make a list or a line
_AT_START = re.compile(r"^(|\d+(?=[.)](?: |$)))([-+=.)])")


def _safe(text: str) -> str:
    return _AT_START.sub(r"\1\\\2", " ".join(text.split()).translate(_SPECIAL))


def _ticked(text: str) -> str:
    """Write a foreign text as code; a bar would end the cell of a table."""
    plain = " ".join(text.split()).replace("|", "\\|")
    longest = max(map(len, re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    inside = f" {plain} " if longest or not plain else plain
    return f"{fence}{inside}{fence}"


def _size(size: int) -> str:
    return figures.quantity(float(size), "B")


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
