"""``bundle.json``: what a bundle says of itself, written by who packs and read by who checks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ..errors import StoreError
from ..shapes import ShapeError, parse, shaped

__all__ = [
    "BUNDLE",
    "FLEET_PLACE",
    "KIND",
    "SCHEMA",
    "SUMS",
    "Analysis",
    "Author",
    "BundleSource",
    "Contents",
    "FileRecord",
    "Metadata",
    "Missing",
    "Needs",
    "RedactionRecord",
    "ReportMade",
    "SmokeRun",
    "contents_text",
    "read_contents",
]

BUNDLE = "bundle.json"
FLEET_PLACE = "trials"  # the folder of all trials is that of the fleet, if there is one
SUMS = "SHA256SUMS"
KIND = "fairtrial-bundle"
SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleSource:
    """A SOURCE of the bundle.

    Attributes
    ----------
    name : str
        As it is called in sentences: the trial's name, or the file's.
    kind : {"trial", "fleet", "file"}
        What it is.
    path : str
        Its folder, or its file, in the bundle.
    trial : str or None
        The name that the trial's manifest says.
    campaign : str or None
        The campaign file in the bundle; None where there is none, or it could not be packed.
    identity : str or None
        SHA-256 of the manifest (of the file) before anything was redacted.
    """

    name: str
    kind: Literal["trial", "fleet", "file"]
    path: str
    trial: str | None = None
    campaign: str | None = None
    identity: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """A stored result: what was asked, and where the answer lies.

    Attributes
    ----------
    name : str
        Short, unique in the bundle.
    command : tuple of str
        Arguments of ``fairtrial``, executed in the root of the unpacked bundle.
    seed : int or None
        Of its random draws; None where it has none.
    result : str
        The file with the exact bytes that it printed.
    exit_code : int
        How it ended: 0, or the answer of a gate (1, 7).
    """

    name: str
    command: tuple[str, ...]
    seed: int | None
    result: str
    exit_code: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportMade:
    """The report: the arguments of ``fairtrial`` that print it, and its file."""

    command: tuple[str, ...]
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SmokeRun:
    """A small run that shows whether everything is there.

    Attributes
    ----------
    command : tuple of str
        Arguments of ``fairtrial``, executed in the root of the unpacked bundle.
    time_s : float or None
        About how long it takes, as the trial's times say.
    """

    command: tuple[str, ...]
    time_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a rerun takes; None is unknown.

    Attributes
    ----------
    disk_bytes : int
        Of the unpacked bundle.
    run_s : float or None
        How long the trials took, builds and pauses included, in seconds.
    cpus : int or None
        How many CPUs the host had online.
    memory_bytes : int or None
        The host's memory.
    max_rss_bytes : int or None
        The largest resident memory of a run.
    cpu_model, architecture, kernel, distribution : str or None
        Of the host.
    compilers : mapping of str to str
        As each said of itself.
    """

    disk_bytes: int
    run_s: float | None = None
    cpus: int | None = None
    memory_bytes: int | None = None
    max_rss_bytes: int | None = None
    cpu_model: str | None = None
    architecture: str | None = None
    kernel: str | None = None
    distribution: str | None = None
    compilers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """What a reader might look for in the bundle, and does not find.

    Attributes
    ----------
    what : str
        The file, as the campaign or the command line names it, or the thing in words.
    why : str
        Why it is not there.
    sha256 : str or None
        Of the file, where it is known.
    bytes : int or None
        Its size, where it is known.
    """

    what: str
    why: str
    sha256: str | None = None
    bytes: int | None = None


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
    """What was taken out before the hashes were made.

    Attributes
    ----------
    what : tuple of str
        The kinds: ``user``, ``host``, ``paths``, ``env``.
    replaced : mapping of str to int
        How often each kind was replaced.
    files : mapping of str to str
        Each altered file -> the SHA-256 that it had before.
    left : tuple of str
        Where names were left on purpose, in words.
    """

    what: tuple[str, ...]
    replaced: Mapping[str, int]
    files: Mapping[str, str]
    left: tuple[str, ...] = ()


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
    container: Mapping[str, Any] | None
    missing: tuple[Missing, ...]
    redacted: RedactionRecord | None
    metadata: Metadata
    files: Mapping[str, FileRecord]


def contents_text(contents: Contents) -> bytes:
    """Give the bytes of ``bundle.json``."""
    text = json.dumps(asdict(contents), indent=1, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"  # halves of pairs become JSON's escapes


def read_contents(data: bytes, where: str) -> Contents:
    """Read ``bundle.json``.

    Parameters
    ----------
    data : bytes
        Its bytes.
    where : str
        What messages call the bundle.

    Raises
    ------
    StoreError
        If it is none, or has a newer schema.
    """
    try:
        value = parse(data.strip(), BUNDLE)
        if not isinstance(value, dict) or value.get("kind") != KIND:
            raise ShapeError(f"{BUNDLE} does not say that this is a bundle of fairtrial")
        schema = value.get("schema")
        if type(schema) is int and schema > SCHEMA:
            raise StoreError(
                f"the bundle has schema {schema}, newer than {SCHEMA}, the newest known here",
                where,
                "use the fairtrial version that packed it (its wheel lies in software/), or a newer one",
            )
        return shaped(Contents, value, BUNDLE)
    except ShapeError as error:
        raise StoreError(
            f"{BUNDLE} is no description of a bundle: {error}", where, "fetch the bundle again"
        ) from None
