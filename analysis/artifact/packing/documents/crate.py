"""``ro-crate-metadata.json``: what is in a bundle, for machines that know research data.

Source: RO-Crate Metadata Specification 1.1, "Root Data Entity", "Data Entities", "Contextual Entities" and
"Provenance of entities".
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from ....record import FLEET
from ....version import VERSION
from ...contents import FLEET_PLACE, Analysis, Author, FileRecord, Metadata

__all__ = ["CRATE", "crate_text"]

CRATE = "ro-crate-metadata.json"

_FORMATS = {
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".html": "text/html",
    ".md": "text/markdown",
    ".txt": "text/plain",
    ".csv": "text/csv",
    ".yaml": "application/yaml",
    ".cff": "application/yaml",
    ".tar": "application/x-tar",
    ".whl": "application/zip",
    ".py": "text/x-python",
    ".log": "text/plain",
}
_SOFTWARE = "#fairtrial"


def crate_text(
    *,
    name: str,
    description: str,
    date: str | None,
    metadata: Metadata,
    files: Mapping[str, FileRecord],
    analyses: Sequence[Analysis],
    wheel: str | None,
    python: str,
) -> bytes:
    """Give the bytes of ``ro-crate-metadata.json``.

    Parameters
    ----------
    name, description : str
        Of the whole.
    date : str or None
        When the last trial ended, as an ISO date: what the specification asks for as the date of
        publication, without looking at a clock.
    metadata : Metadata
        What the authors say.
    files : mapping of str to FileRecord
        Every file that is listed.
    analyses : sequence of Analysis
        How the results were made.
    wheel : str or None
        The file that installs fairtrial.
    python : str
        The version of Python.
    """
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "name": name,
        "description": description,
        **({} if date is None else {"datePublished": date}),
        **_license(metadata),
        **({} if metadata.doi is None else {"identifier": f"https://doi.org/{metadata.doi}"}),
        "author": [{"@id": _person_id(k, one)} for k, one in enumerate(metadata.authors, 1)],
        "hasPart": [{"@id": _id(path)} for path in sorted(files)],
        "mentions": [{"@id": f"#{one.name}"} for one in analyses],
    }
    graph = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
            "about": {"@id": "./"},
        },
        {key: value for key, value in root.items() if value != []},
        *(_file(path, record) for path, record in sorted(files.items())),
        {
            "@id": _SOFTWARE,
            "@type": "SoftwareApplication",
            "name": "fairtrial",
            "version": VERSION,
            "softwareRequirements": f"Python {python}",
            **({} if wheel is None else {"installUrl": {"@id": _id(wheel)}}),
        },
        *(_action(one) for one in analyses),
        *(_person(k, one) for k, one in enumerate(metadata.authors, 1)),
        *_license_entity(metadata),
    ]
    document = {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph}
    return (
        json.dumps(document, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace")
        + b"\n"
    )


def _id(path: str) -> str:
    return quote(path)


def _file(path: str, record: FileRecord) -> dict[str, Any]:
    ending = path[path.rfind(".") :] if "." in path else ""
    found: dict[str, Any] = {
        "@id": _id(path),
        "@type": "File",
        "name": path,
        "contentSize": str(record.bytes),
        "sha256": record.sha256,
    }
    if ending in _FORMATS:
        found["encodingFormat"] = _FORMATS[ending]
    return found


def _action(one: Analysis) -> dict[str, Any]:
    """Say how a result was made."""
    read = [word for word in one.command[1:] if word.startswith("sources/")]
    read += [
        f"{word.partition(':')[0]}/measurements.jsonl"
        for word in one.command[1:]
        if word.startswith("trials/")
    ]
    read += [
        f"{FLEET_PLACE}/{FLEET}"
        for word in one.command[1:]
        if word.partition(":")[0] == FLEET_PLACE
    ]
    return {
        "@id": f"#{one.name}",
        "@type": "CreateAction",
        "name": shlex.join(("fairtrial", *one.command)),
        "instrument": {"@id": _SOFTWARE},
        "object": [{"@id": _id(path)} for path in read],
        "result": {"@id": _id(one.result)},
    }


def _person_id(number: int, author: Author) -> str:
    return f"https://orcid.org/{author.orcid}" if author.orcid else f"#author-{number}"


def _person(number: int, author: Author) -> dict[str, Any]:
    found: dict[str, Any] = {
        "@id": _person_id(number, author),
        "@type": "Person",
        "name": author.name,
    }
    if author.affiliation is not None:
        found["affiliation"] = author.affiliation
    return found


def _license(metadata: Metadata) -> dict[str, Any]:
    if metadata.license is None:
        return {}
    return {"license": {"@id": f"https://spdx.org/licenses/{metadata.license}"}}


def _license_entity(metadata: Metadata) -> list[dict[str, Any]]:
    if metadata.license is None:
        return []
    return [
        {
            "@id": f"https://spdx.org/licenses/{metadata.license}",
            "@type": "CreativeWork",
            "name": metadata.license,
        }
    ]
