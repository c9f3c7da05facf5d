"""What a bundle says of itself: its documents, bundle.json and the list of hashes.

The packer writes it, and whoever checks a bundle makes it anew.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import FairtrialError, StoreError, UsageError
from ...record.manifest import read_manifest
from ...record.trial_files import RESOLVED
from ...version import VERSION
from ..archive import Weighed, of_bytes, of_file, tar_of, weigh
from ..contents import (
    BUNDLE,
    KIND,
    SCHEMA,
    SUMS,
    BundleSource,
    Contents,
    FileRecord,
    SmokeRun,
    contents_text,
    executed_lines,
)
from .documents import CRATE, LICENSES, citation_text, crate_text, license_text, readme_text
from .request import ABOUT, CLAIMS, About, Redacted
from .requirements import (
    WHEEL,
    container_kind,
    libraries_of_this,
    lock_text,
    needs_of,
    times_of,
    wheel_of_this,
)

if TYPE_CHECKING:
    from ..claims import StoredClaim
    from .answers import Answered
    from .gathering import CopiedSource, Staging

_LICENSE, _CITATION = "LICENSE", "CITATION.cff"
_TEXTS_OF_LICENCES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING", "COPYING.txt")


def write_software(staging: Staging) -> None:
    """Pack the lock, and the code that judges here."""
    lock = lock_text(libraries_of_this(staging.names))
    staging.write("software/requirements.txt", lock.encode())
    try:
        code = wheel_of_this()
    except FairtrialError as error:
        staging.miss(f"software/{WHEEL}", error.what)
        return
    try:  # it may be too large; a full disk is no property of the bundle, and ends it
        staging.write(f"software/{WHEEL}", code)
    except UsageError as error:
        staging.miss(f"software/{WHEEL}", error.what)


def write_texts(about: About, staging: Staging) -> None:
    """Write LICENSE and CITATION.cff, and list what they lack."""
    metadata = about.metadata
    if about.path is None:
        return
    for name in ("title", "authors", "license", "doi"):
        if not getattr(metadata, name):
            staging.miss(f"{ABOUT}: {name}", "it is not said there")
    beside = [about.path.parent / name for name in _TEXTS_OF_LICENCES]
    text = next((path for path in beside if path.is_file()), None)
    if text is not None:
        staging.copy_if_possible(_LICENSE, text, _LICENSE)
    elif (short := license_text(metadata)) is not None:
        staging.write(_LICENSE, short.encode())
        staging.miss(
            "the licence's text", f"there is no file {_LICENSE} next to {ABOUT}; its name is given"
        )
    if metadata.license is not None and metadata.license not in LICENSES:
        staging.miss(
            f"{_CITATION}: license",
            f"{metadata.license} is not an SPDX name of a licence that is usual here",
        )
    citation = citation_text(metadata)
    if citation is None:
        staging.miss(_CITATION, f"it needs a title and authors, in {ABOUT}")
    else:
        staging.write(_CITATION, citation.encode())


README = "README.md"


def page_of_bundle(
    contents: Contents, claims: Sequence[StoredClaim], description: str | None, root: Path
) -> bytes:
    """Give the bytes of ``README.md``."""
    found: list[tuple[str, ...]] = []
    for one in contents.sources:
        if one.kind == "trial" and one.campaign is not None:
            manifest = read_manifest(root / one.path)
            numbers = ("--sessions", str(manifest.sessions), "--seed", str(manifest.seed))
            found.append(("run", one.campaign, *numbers))
    executed = _executed(contents.sources, root)
    text = readme_text(contents, description, claims, found, executed)
    return text.encode("utf-8", "backslashreplace")


def _executed(sources: Sequence[BundleSource], root: Path) -> list[str]:
    """Give the commands of all campaigns that can be measured again, each once."""
    found: dict[str, None] = {}
    for source in sources:
        resolved = root / source.path / RESOLVED
        if source.campaign is not None and resolved.is_file():  # the first version stored none
            try:
                stored = json.loads(resolved.read_bytes())
                found |= dict.fromkeys(executed_lines(stored["campaign"]))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise StoreError(
                    "what the campaign came to cannot be read",
                    f"{source.name}/{RESOLVED}",
                    "restore the file from a copy of the trial",
                ) from error
    return list(found)


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
    smoke = _smoke(found)
    container = _container(found, about, staging)
    weighed = {one.name: one for one in _packed(staging)}
    day = _day(found, about, staging)
    needs = needs_of(found, root, sum(one.bytes for one in weighed.values()))
    scrub = str if redacted is None else redacted.scrub
    missing = tuple(replace(m, what=scrub(m.what), why=scrub(m.why)) for m in staging.missing)
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
        smoke=smoke,
        needs=needs,
        container=container,
        missing=missing,
        redacted=None if redacted is None else redacted.record,
        metadata=about.metadata,
        files=_records(weighed),
    )
    page = page_of_bundle(contents, answered.claims, about.description, root)
    contents = replace(contents, files=_add(weighed, README, page))
    crate = crate_text(contents, about.description, day)
    contents = replace(contents, files=_add(weighed, CRATE, crate))
    if redacted is not None:
        told = {README: page, CRATE: crate, BUNDLE: contents_text(contents)}
        record = replace(redacted.record, left=redacted.left(root, told))
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
            yield weigh(name, of_file(path), executable=executable)
    for name, files in outputs.items():
        yield weigh(name, tar_of(files))


def _add(weighed: dict[str, Weighed], name: str, data: bytes) -> dict[str, FileRecord]:
    """Add a file of our own; give the records of all that there are by now."""
    weighed[name] = weigh(name, of_bytes(data))
    return _records(weighed)


def _records(weighed: Mapping[str, Weighed]) -> dict[str, FileRecord]:
    return {
        name: FileRecord(bytes=weighed[name].bytes, sha256=weighed[name].sha256)
        for name in sorted(weighed, key=str.encode)
    }


def _smoke(found: Sequence[CopiedSource]) -> SmokeRun | None:
    """Choose a small run of the first campaign: a session, or one cell where that takes long."""
    for one in found:
        manifest, campaign = one.manifest, one.source.campaign
        if manifest is None or campaign is None:
            continue
        whole = times_of(manifest)
        session = None if whole is None else round(whole / manifest.sessions, 1)
        if session is None or session > _LONG_SESSION_S:
            cell = f"{manifest.benchmarks[0]}:{manifest.baseline}"
            return SmokeRun(command=("run", campaign, "--only", cell))
        return SmokeRun(command=("run", campaign, "--sessions", "1"), time_s=session)
    return None


def _container(
    found: Sequence[CopiedSource], about: About, staging: Staging
) -> Mapping[str, Any] | None:
    """Say which container was used, by the trials' environment and by the authors."""
    kind = container_kind(found, staging.root)
    if kind is None and not about.container:
        return None
    if kind is not None:
        lacking = [name for name in ("recipe", "image", "digest") if name not in about.container]
        if lacking:
            staging.miss(
                f"the container's {', '.join(lacking)}",
                f"the trial was measured in one ({kind}), and 'container' of {ABOUT} does not say it",
            )
    told: dict[str, Any] = {"kind": kind, **about.container}
    recipe = about.container.get("recipe")
    if recipe is not None:
        places = [name for name in staging.names if name.startswith("campaigns/")]
        told["recipe"] = next((name for name in places if name.endswith(f"/{recipe}")), None)
    return told


def _day(found: Sequence[CopiedSource], about: About, staging: Staging) -> str | None:
    """Give the day that the authors say, or that on which the last trial ended."""
    if about.metadata.date:
        return about.metadata.date
    days = [(one.manifest.finished or one.manifest.started)[:10] for one in found if one.manifest]
    if not days:
        staging.miss(f"{CRATE}: datePublished", f"'date' of {ABOUT} does not say it")
    return max(days, default=None)
