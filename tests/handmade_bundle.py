"""Bundles made by hand: what a bundle is, whoever packs one, and however badly."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from analysis.artifact.archive import tar_of, weigh, write_archive
from analysis.version import VERSION

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "tests" / "data" / "sample-0.2.0"
COMMANDS = {
    "verdict": ["verdict", "trials/sample", "--json"],
    "hpt": ["hpt", "trials/sample:gzip-1", "trials/sample:gzip-6", "--json"],
}


def files_of(trial: Path, name: str = "sample") -> dict[str, bytes]:
    """Give the files of a trial as a bundle holds them, and its campaign."""
    plain = {
        f"trials/{name}/{path.name}": path.read_bytes()
        for path in trial.iterdir()
        if path.is_file()
    }
    outputs = {path.name: path for path in (trial / "outputs").iterdir()}
    plain[f"trials/{name}/outputs.tar"] = b"".join(tar_of(outputs)())
    plain[f"campaigns/{name}/campaign.yaml"] = plain[f"trials/{name}/campaign.yaml"]
    return plain


def sealed(files: Mapping[str, bytes], **changes: object) -> dict[str, bytes]:
    """Add the list of the files and their sums, all consistent."""
    whole = {**files, "bundle.json": json.dumps(manifest_of(files, **changes)).encode()}
    return {**whole, "SHA256SUMS": sums_of(whole)}


def source_of(name: str, trial: str) -> dict[str, str | None]:
    """Give what a bundle says of a trial in it."""
    places = {"path": f"trials/{name}", "campaign": f"campaigns/{name}/campaign.yaml"}
    return {"name": name, "kind": "trial", "trial": trial, "identity": None} | places


def manifest_of(files: Mapping[str, bytes], **changes: object) -> dict[str, object]:
    """Give a bundle's description of itself, its hashes those of the files."""
    given = {
        "schema": 3,
        "kind": "fairtrial-bundle",
        "tool_version": VERSION,
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in ("numpy", "scipy")},
        "sources": [source_of("sample", "sample-20261121-084355-da5a")],
        "analyses": [
            {
                "name": name,
                "command": words,
                "seed": None,
                "result": f"analyses/{name}.json",
                "exit_code": 0,
            }
            for name, words in COMMANDS.items()
        ],
        "report": None,
        "claims": None,
        "smoke": None,
        "needs": {"disk_bytes": 1, "compilers": {}},
        "container": None,
        "missing": [],
        "redacted": None,
        "metadata": {"title": "A sample", "authors": [], "license": "MIT", "doi": None},
    } | changes
    listed = {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in files.items()
        if name not in {"bundle.json", "SHA256SUMS"}
    }
    return {**given, "files": listed}


def write_bundle(path: Path, files: Mapping[str, bytes]) -> Path:
    with path.open("wb") as file:
        write_archive(file, [weigh(name, data) for name, data in files.items()])
    return path


def sums_of(files: Mapping[str, bytes]) -> bytes:
    lines = (
        f"{hashlib.sha256(data).hexdigest()}  {name}\n"
        for name, data in sorted(files.items(), key=lambda one: one[0].encode())
    )
    return "".join(lines).encode()
