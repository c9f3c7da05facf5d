"""What a bundle says of itself: README.md, the crate, bundle.json and the list of hashes."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...version import VERSION
from ..archive import Content, Weighed, of_bytes, of_file, weigh
from ..contents import (
    BUNDLE,
    KIND,
    SCHEMA,
    SUMS,
    Contents,
    FileRecord,
    Missing,
    SmokeRun,
    contents_text,
)
from ..tarball import tar_of
from .about import ABOUT, About
from .answers import Answered
from .documents import CRATE
from .gathering import Gathered
from .libraries import libraries_of_this
from .needs import container_kind, needs_of, times_of
from .request import CLAIMS, Redacted
from .staging import Staging
from .telling import README, crate_of, page_of_bundle

__all__ = ["described"]

_LONG_SESSION_S = 600  # a small run takes one cell only, where a session takes longer


def described(
    found: Sequence[Gathered],
    about: About,
    answered: Answered,
    redacted: Redacted | None,
    staging: Staging,
) -> tuple[Contents, list[Weighed]]:
    """Describe what is there, and hash it; give all files of the archive."""
    root = staging.root
    smoke = _smoke(found)
    container = _container(found, about, staging)
    files = _packed(staging)
    weighed = {one.content.name: one for one in map(weigh, files)}
    day = _day(found, about, staging)
    needs = needs_of(found, root, sum(one.bytes for one in weighed.values()))
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
        missing=_scrubbed(staging.missing, redacted),
        redacted=None if redacted is None else redacted.record,
        metadata=about.metadata,
        files=_records(weighed),
    )
    page = page_of_bundle(contents, answered.claims, about.description, root)
    _add(weighed, README, page)
    contents = replace(contents, files=_records(weighed))
    crate = crate_of(contents, about.description, day)
    _add(weighed, CRATE, crate)
    contents = replace(contents, files=_records(weighed))
    if redacted is not None:
        told = {README: page, CRATE: crate, BUNDLE: contents_text(contents)}
        record = replace(redacted.record, left=redacted.left(root, told))
        contents = replace(contents, redacted=record)
    _add(weighed, BUNDLE, contents_text(contents))
    sums = "".join(f"{weighed[name].sha256}  {name}\n" for name in sorted(weighed, key=str.encode))
    _add(weighed, SUMS, sums.encode())
    return contents, list(weighed.values())


def _packed(staging: Staging) -> list[Content]:
    """Give the files of the archive: those of the folder, with each trial's outputs as one."""
    found: list[Content] = []
    outputs: dict[str, dict[str, Path]] = {}
    for name in staging.names:
        path = staging.root / name
        parts = name.split("/", 3)
        if parts[0] == "trials" and len(parts) == 4 and parts[2] == "outputs":
            outputs.setdefault(f"trials/{parts[1]}/outputs.tar", {})[parts[3]] = path
        else:
            executable = bool(path.stat().st_mode & 0o100) and parts[0] == "campaigns"
            found.append(Content(name=name, pieces=of_file(path), executable=executable))
    found += [Content(name=name, pieces=tar_of(files)) for name, files in outputs.items()]
    return found


def _add(weighed: dict[str, Weighed], name: str, data: bytes) -> None:
    weighed[name] = weigh(Content(name=name, pieces=of_bytes(data)))


def _records(weighed: Mapping[str, Weighed]) -> dict[str, FileRecord]:
    return {
        name: FileRecord(bytes=weighed[name].bytes, sha256=weighed[name].sha256)
        for name in sorted(weighed, key=str.encode)
    }


def _scrubbed(missing: Sequence[Missing], redacted: Redacted | None) -> tuple[Missing, ...]:
    if redacted is None:
        return tuple(missing)
    return tuple(
        replace(one, what=redacted.scrub(one.what), why=redacted.scrub(one.why)) for one in missing
    )


def _smoke(found: Sequence[Gathered]) -> SmokeRun | None:
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
    found: Sequence[Gathered], about: About, staging: Staging
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


def _day(found: Sequence[Gathered], about: About, staging: Staging) -> str | None:
    """Give the day that the authors say, or that on which the last trial ended."""
    if about.metadata.date:
        return about.metadata.date
    days = [(one.manifest.finished or one.manifest.started)[:10] for one in found if one.manifest]
    if not days:
        staging.miss(f"{CRATE}: datePublished", f"'date' of {ABOUT} does not say it")
    return max(days, default=None)
