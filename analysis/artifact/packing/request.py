"""What a packer is asked: its options, and ``bundle.yaml``, what authors say of their work."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...record.yaml_reader import Location, read_bytes
from ..archive import MOST_BYTES
from ..contents import Author, Metadata, RedactionRecord
from ..yaml_file import YamlFile

ABOUT = "bundle.yaml"

_KEYS = ("title", "description", "authors", "license", "doi", "date", "files", "container")
_CONTAINER = ("recipe", "image", "digest")
_SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>]+")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a ``bundle.yaml`` says."""

    path: Path | None = None  # the file; None where there is none
    # title, authors, license, doi, date of publication
    metadata: Metadata = field(default_factory=Metadata)
    description: str | None = None  # a paragraph
    files: tuple[str, ...] = ()  # patterns of further files, relative to its folder
    # ``recipe`` (a file), ``image`` and ``digest``, as far as they are said
    container: Mapping[str, str] = field(default_factory=dict)


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
    found = About(
        path=path,
        metadata=Metadata(authors=_authors(file, keys), **about),
        description=_text(file, keys, "description"),
        files=_files(file, keys),
        container=_container(file, keys),
    )
    file.finish()
    return found


def _text(file: YamlFile, keys: Mapping[str, Location], name: str) -> str | None:
    text = file.text(keys[name]) if name in keys else None
    return None if text is None else " ".join(text.split())


def _is_date(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _authors(file: YamlFile, keys: Mapping[str, Location]) -> tuple[Author, ...]:
    found = []
    for item in file.items(keys["authors"]) if "authors" in keys else ():
        of = file.keys(item, ("name", "orcid", "affiliation"), ("name",))
        name = _text(file, of, "name")
        orcid = _text(file, of, "orcid")
        if orcid is not None:
            orcid = re.sub(r"^https?://orcid\.org/", "", orcid)
            if not _is_orcid(orcid):
                file.value(of["orcid"], "is none: its last digit does not fit the others", None)
        if name is not None:
            found.append(Author(name=name, orcid=orcid, affiliation=_text(file, of, "affiliation")))
    return tuple(found)


def _is_orcid(text: str) -> bool:
    """Tell whether an ORCID iD has its form and its check digit (ISO 7064, MOD 11-2)."""
    if not re.fullmatch(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]", text, re.ASCII):
        return False
    total = 0
    digits = text.replace("-", "")
    for digit in digits[:-1]:
        total = (total + int(digit)) * 2
    return digits[-1] == "0123456789X"[(12 - total % 11) % 11]


def _files(file: YamlFile, keys: Mapping[str, Location]) -> tuple[str, ...]:
    if "files" not in keys:
        return ()
    found = file.texts(keys["files"])
    for pattern in found:
        if pattern.startswith(("/", "~")) or ".." in pattern.split("/"):
            what = f"holds the pattern {pattern!r}, which leads out of the folder of {ABOUT}"
            file.value(keys["files"], what, None)
    return tuple(found)


def _container(file: YamlFile, keys: Mapping[str, Location]) -> dict[str, str]:
    if "container" not in keys:
        return {}
    of = file.keys(keys["container"], _CONTAINER)
    found = {name: text for name in of if (text := _text(file, of, name)) is not None}
    if "digest" in found and not _DIGEST.fullmatch(found["digest"]):
        file.value(of["digest"], "must be sha256: and 64 hexadecimal digits", None)
    recipe = found.get("recipe", "")
    if recipe.startswith(("/", "~")) or ".." in recipe.split("/"):
        file.value(of["recipe"], f"must lie in the folder of {ABOUT}, or below", None)
    return found


CLAIMS = "claims.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """What taking names out of a bundle's folder came to."""

    record: RedactionRecord  # what the bundle says of it, but for what is left
    scrub: Callable[[str], str]  # takes the same names out of a text that is written later
    # says where names are left: in the bundle's folder, and in texts that lie in no file yet
    left: Callable[[Path, Mapping[str, bytes]], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackingRequest:
    """What is to be packed."""

    sources: Sequence[str]  # as on the command line
    claims: Path | None = None  # ``claims.yaml``
    about: Path | None = None  # a ``bundle.yaml``; None looks beside each campaign
    # where the campaign file lies now; None looks where the trial says that it lay
    campaign: Path | None = None
    binaries: bool = False  # whether programs are packed
    why: bool = False  # whether the profiles are packed that lie beside trials
    seed: int = 0  # of results with random draws
    max_bytes: int = MOST_BYTES  # the most that all files may have
    # takes names out of all files of a folder, before anything is computed or hashed
    redact: Callable[[Path], Redacted] | None = None
    # takes lines that say what is under way
