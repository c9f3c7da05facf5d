"""``bundle.json``: what a bundle says of itself, written by who packs and read by who checks."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ..errors import StoreError
from ..record.shapes import ShapeError, parse, shaped
from ..words import shown


def steps_of(campaign: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Give every command of a resolved campaign with its folder, in the order in which they come."""
    hooks = campaign.get("hooks", {})
    for build in campaign.get("builds", ()):
        yield from ((step, build.get("cwd") or ".") for step in build["steps"])
    yield from ((step, ".") for step in hooks.get("setup", ()))
    for service in campaign.get("services", ()):
        for step in (service["command"], service.get("ready", {}).get("command")):
            if step is not None:
                yield step, service.get("cwd") or "."
    for cell in campaign.get("cells", ()):
        for step in (*cell.get("before", ()), cell["command"], *cell.get("after", ())):
            yield step, cell.get("cwd") or "."
    yield from ((step, ".") for kind in ("cleanup", "finish") for step in hooks.get(kind, ()))


def line_of(argv: Iterable[str]) -> str:
    """Write a command as one line, as a shell would take it; a line feed in it becomes its picture."""
    return shown(shlex.join(argv))


BUNDLE = "bundle.json"
FLEET_PLACE = "trials"  # the folder of all trials is that of the fleet, if there is one
SUMS = "SHA256SUMS"
KIND = "fairtrial-bundle"
SCHEMA = 3  # of older bundles 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleSource:
    """A SOURCE of the bundle."""

    name: str  # as it is called in sentences: the trial's name, or the file's
    kind: Literal["trial", "fleet", "file"]  # what it is
    path: str  # its folder, or its file, in the bundle
    trial: str | None = None  # the name that the trial's manifest says
    # the campaign file in the bundle; None where there is none, or it could not be packed
    campaign: str | None = None
    # SHA-256 of the manifest (of the file) before anything was redacted
    identity: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """A stored result: what was asked, and where the answer lies."""

    name: str  # short, unique in the bundle
    # arguments of ``fairtrial``, executed in the root of the unpacked bundle
    command: tuple[str, ...]
    seed: int | None  # of its random draws; None where it has none
    result: str  # the file with the exact bytes that it printed
    exit_code: int = 0  # how it ended: 0, or the answer of a gate (1, 7)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportMade:
    """The report: the arguments of ``fairtrial`` that print it, and its file."""

    command: tuple[str, ...]
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SmokeRun:
    """A small run that shows whether everything is there."""

    # arguments of ``fairtrial``, executed in the root of the unpacked bundle
    command: tuple[str, ...]
    time_s: float | None = None  # about how long it takes, as the trial's times say


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a rerun takes; None is unknown."""

    disk_bytes: int  # of the unpacked bundle
    run_s: float | None = None  # how long the trials took, builds and pauses included, in seconds
    cpus: int | None = None  # how many CPUs the host had online
    memory_bytes: int | None = None  # the host's memory
    max_rss_bytes: int | None = None  # the largest resident memory of a run
    cpu_model: str | None = None  # of the host
    architecture: str | None = None
    kernel: str | None = None
    distribution: str | None = None
    compilers: Mapping[str, str]  # as each said of itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """What a reader might look for in the bundle, and does not find."""

    what: str  # the file, as the campaign or the command line names it, or the thing in words
    why: str  # why it is not there
    sha256: str | None = None  # of the file, where it is known
    bytes: int | None = None  # its size, where it is known


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """A person who is responsible for the work."""

    name: str
    orcid: str | None = None
    affiliation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What a ``bundle.yaml`` says of the work; None and nothing where it does not."""

    title: str | None = None
    authors: tuple[Author, ...] = ()
    license: str | None = None
    doi: str | None = None
    date: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionRecord:
    """What was taken out before the hashes were made."""

    what: tuple[str, ...]  # the kinds: ``user``, ``host``, ``paths``, ``env``
    replaced: Mapping[str, int]  # how often each kind was replaced
    files: Mapping[str, str]  # each altered file -> the SHA-256 that it had before
    left: tuple[str, ...] = ()  # where names were left on purpose, in words


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRecord:
    """A file of the bundle: its size and its SHA-256."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """All that ``bundle.json`` holds; docs/artifacts.md explains every key."""

    schema: int
    kind: str
    tool_version: str
    python: str
    libraries: Mapping[str, str]
    sources: tuple[BundleSource, ...]
    analyses: tuple[Analysis, ...]
    report: ReportMade | None
    claims: str | None
    smoke: SmokeRun | None
    needs: Needs
    missing: tuple[Missing, ...]
    redacted: RedactionRecord | None
    metadata: Metadata
    files: Mapping[str, FileRecord]


def contents_text(contents: Contents) -> bytes:
    """Give the bytes of ``bundle.json``."""
    text = json.dumps(asdict(contents), indent=1, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"  # halves of pairs become JSON's escapes


def read_contents(data: bytes, where: str) -> Contents:
    """Read ``bundle.json``."""
    try:
        value = parse(data.strip(), BUNDLE)
        if not isinstance(value, dict) or value.get("kind") != KIND:
            raise ShapeError(f"{BUNDLE} does not say that this is a bundle of fairtrial")
        schema = value.get("schema")
        if type(schema) is int and schema > SCHEMA:
            raise StoreError(
                f"the bundle has schema {schema}, newer than {SCHEMA}, the newest known here",
                where,
                "use the fairtrial version that packed it (its wheel is in software/), or a "
                "newer one",
            )
        return shaped(Contents, value, BUNDLE)
    except ShapeError as error:
        raise StoreError(
            f"{BUNDLE} is not a description of a bundle: {error}", where, "fetch the bundle again"
        ) from None
