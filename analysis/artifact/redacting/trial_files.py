"""Names taken out of the files of a trial, so that it still holds together.

A line of measurements gets a new checksum, a run whose output was altered no hash of it, and the
manifest the hashes of its files as they are now.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ...record import (
    CAMPAIGN,
    ENVIRONMENT,
    FINDINGS,
    IMPORT,
    MANIFEST,
    MEASUREMENTS,
    OUTPUTS,
    PLAN,
    RESOLVED,
    checksum_holds,
    encode,
    encode_checked,
)
from .documents import decoded, encoded, json_text, plain_text, values, yaml_text
from .scrubber import Scrubber

__all__ = ["kept_names", "learn_trial", "redact_fleet", "redact_trial"]

Row = dict[str, Any]
_USERS = {"USER", "LOGNAME", "USERNAME", "SUDO_USER", "SLURM_JOB_USER"}
_HOSTS = {"HOSTNAME", "HOST", "COMPUTERNAME", "SLURMD_NODENAME", "SLURM_SUBMIT_HOST"}
_FOLDERS = {"PWD", "OLDPWD", "TMPDIR"}
_UNKNOWN = "unknown"
_OUTPUT = re.compile(r"(?:.*/)?(?P<again>[wr]?)(?P<number>\d+)\.stdout")


def kept_names(trial: Path) -> set[str]:
    """Give what the trial calls its things: variants, benchmarks, metrics, itself, its campaign."""
    manifest = _object(trial / MANIFEST)
    names: set[str] = set()
    for key in ("trial", "campaign_name", "baseline"):
        if isinstance(manifest.get(key), str) and not (key == "trial" and _is_host(manifest)):
            names.add(manifest[key])
    variants, benchmarks = (
        [one for one in manifest.get(key) or () if isinstance(one, str)]
        for key in ("variants", "benchmarks")
    )
    names |= {*variants, *benchmarks, *(manifest.get("metrics") or {})}
    names |= {metric for metric in _asked(manifest) if isinstance(metric, str)}
    return names | {f"{bench}/{variant}" for bench in benchmarks for variant in variants}


def _asked(manifest: Row) -> Iterator[object]:
    """Give the metrics that are the trial's question."""
    for one in manifest.get("judge") or ():
        if isinstance(one, dict):
            yield from one.get("metrics") or ()


def learn_trial(scrubber: Scrubber, trial: Path) -> None:
    """Take note of the names that stand in fields of their own."""
    manifest = _object(trial / MANIFEST)
    _own_manifest(scrubber, manifest)
    folder = str(manifest.get("campaign_path") or "").rpartition("/")[0]
    scrubber.learn_folder(folder)
    for row in _rows(trial / ENVIRONMENT):
        _own_environment(scrubber, row)
        process, variables = (_part(row, name) for name in ("process", "variables"))
        scrubber.learn_folder(str(process.get("cwd") or ""))
        for name in _FOLDERS & variables.keys():
            scrubber.learn_folder(str(variables[name]))


def redact_trial(scrubber: Scrubber, trial: Path, write: Callable[[Path, bytes], None]) -> None:
    """Take all names out of a trial.

    Parameters
    ----------
    scrubber : Scrubber
        Which knows them.
    trial : Path
        Its folder.
    write : callable
        Writes a file that changed.
    """
    altered = set()
    for path in sorted((trial / OUTPUTS).rglob("*")):
        if not path.is_file():
            continue
        before = path.read_bytes()
        text = decoded(before)
        if text is None:
            continue
        after = encoded(plain_text(scrubber, text))
        if after != before:
            write(path, after)
            match = _OUTPUT.fullmatch(path.relative_to(trial / OUTPUTS).as_posix())
            if match is not None:
                altered.add(int(match["number"]) * (-1 if match["again"] else 1))
    rules: dict[str, Callable[[Row], Row]] = {
        ENVIRONMENT: lambda row: values(_own_environment(scrubber, row), scrubber.text),
        FINDINGS: lambda row: values(row, scrubber.text),
        PLAN: lambda row: row,
    }
    for name, rule in rules.items():
        _rewrite_lines(trial / name, rule, write)
    _rewrite_measurements(scrubber, trial / MEASUREMENTS, altered, write)
    for name in (RESOLVED, IMPORT):
        _rewrite_text(trial / name, lambda text: json_text(scrubber, text), write)
    _rewrite_text(trial / CAMPAIGN, lambda text: yaml_text(scrubber, text), write)
    _rewrite_manifest(scrubber, trial, write)


# ---- fields of their own


def _own_manifest(scrubber: Scrubber, manifest: Row) -> Row:
    found = dict(manifest)
    own = [("host", None), ("node", None), *[("trial", None)] * _is_host(manifest)]
    for key, sort in (*own, ("host_id", "machine")):
        value = found.get(key)
        if isinstance(value, str) and value != _UNKNOWN:
            found[key] = scrubber.field("host", value, sort=sort)
    return found


def _is_host(manifest: Row) -> bool:
    """Tell whether a trial is called after its host, as those of a fleet are."""
    return manifest.get("trial") in (manifest.get("node"), manifest.get("host"))


def redact_fleet(scrubber: Scrubber, path: Path, write: Callable[[Path, bytes], None]) -> None:
    """Take the names of hosts out of ``fleet.json``."""
    found = _object(path)
    for host in found.get("hosts") or ():
        host["host"] = scrubber.field("host", host["host"])
    after = (json.dumps(found, indent=2) + "\n").encode()
    if after != path.read_bytes():
        write(path, after)


def _own_environment(scrubber: Scrubber, row: Row) -> Row:
    found = dict(row)
    host = dict(_part(row, "host"))
    for key, sort in (("name", None), ("machine_id_sha256", "machine"), ("boot_id", "boot")):
        if isinstance(host.get(key), str):
            host[key] = scrubber.field("host", host[key], sort=sort)
    if host:
        found["host"] = host
    variables = dict(_part(row, "variables"))
    for name, value in variables.items():
        if isinstance(value, str):
            variables[name] = _own_variable(scrubber, name, value)
    if variables:
        found["variables"] = variables
    kernel = dict(_part(row, "kernel"))
    if isinstance(kernel.get("boot_arguments"), str):
        kernel["boot_arguments"] = scrubber.field("env", kernel["boot_arguments"], sort="arguments")
        found["kernel"] = kernel
    hidden = _part(row, "hidden_variables")
    if hidden:
        found["hidden_variables"] = values(
            hidden, lambda value: scrubber.field("env", value, sort="hash")
        )
    return found


def _own_variable(scrubber: Scrubber, name: str, value: str) -> str:
    """Give the value of a variable; those of users and hosts are learned whatever else is wanted."""
    if name in _USERS:
        scrubber.learn("user", value)
        value = scrubber.field("user", value)
    if name in _HOSTS:
        scrubber.learn("host", value)
        value = scrubber.field("host", value)
    scrubber.learn_homes(value)
    return scrubber.field("env", value, sort="value")


# ---- files


def _rewrite_lines(
    path: Path, rule: Callable[[Row], Row], write: Callable[[Path, bytes], None]
) -> None:
    if not path.is_file():
        return
    before = path.read_bytes()
    after = b"".join(_changed(line, rule, encode) for line in before.splitlines(keepends=True))
    if after != before:
        write(path, after)


def _rewrite_measurements(
    scrubber: Scrubber, path: Path, altered: set[int], write: Callable[[Path, bytes], None]
) -> None:
    if not path.is_file():
        return

    def rule(row: Row) -> Row:
        found: Row = values(row, scrubber.text)
        if found.get("position") in altered and "stdout_sha256" in found:
            found["stdout_sha256"] = None
        found.pop("crc32", None)
        return found

    before = path.read_bytes()
    lines = []
    for line in before.splitlines(keepends=True):
        wanted = scrubber.touches(line.decode("utf-8", "replace")) or (
            bool(altered) and _position(line) in altered
        )
        if wanted and checksum_holds(line.rstrip(b"\n")):  # a torn line is the reader's to tell
            line = _changed(line, rule, encode_checked)  # noqa: PLW2901 - the line as it is stored
        lines.append(line)
    after = b"".join(lines)
    if after != before:
        write(path, after)


def _changed(line: bytes, rule: Callable[[Row], Row], written: Callable[[Row], bytes]) -> bytes:
    """Give a line anew, or as it was where nothing in it changed or it is no record."""
    row = _parsed(line)
    if row is None:
        return line
    try:
        found = rule(row)
    except RecursionError:
        return line  # nobody nests so deeply but to be difficult; what is left is listed
    if found == {key: value for key, value in row.items() if key in found}:
        return line
    return written(found) + (b"\n" if line.endswith(b"\n") else b"")


def _position(line: bytes) -> int | None:
    match = re.match(rb'\{"position":(-?\d+),', line)
    return None if match is None else int(match.group(1))


def _rewrite_text(
    path: Path, rule: Callable[[str], str], write: Callable[[Path, bytes], None]
) -> None:
    if not path.is_file():
        return
    before = path.read_bytes()
    text = decoded(before)
    if text is None:
        return
    after = encoded(rule(text))
    if after != before:
        write(path, after)


def _rewrite_manifest(
    scrubber: Scrubber, trial: Path, write: Callable[[Path, bytes], None]
) -> None:
    path = trial / MANIFEST
    before = path.read_bytes()
    manifest = _object(path)
    found: Row = values(_own_manifest(scrubber, manifest), scrubber.text)
    stated = manifest.get("files")
    if isinstance(stated, dict):
        found["files"] = {name: _hash(trial / name) or sha256 for name, sha256 in stated.items()}
    if found != manifest:
        after = (json.dumps(found, indent=2) + "\n").encode()
        if after != before:
            write(path, after)


def _hash(path: Path) -> str | None:
    """Give a file's hash; a file that is not there keeps the one that the manifest says."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


# ---- reading, where a damaged file says nothing


def _part(row: Row, name: str) -> Row:
    part = row.get(name)
    return part if isinstance(part, dict) else {}


def _object(path: Path) -> Row:
    return _parsed(path.read_bytes()) or {}


def _rows(path: Path) -> Iterator[Row]:
    if path.is_file():
        for line in path.read_bytes().splitlines():
            row = _parsed(line)
            if row is not None:
                yield row


def _parsed(data: bytes) -> Row | None:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
