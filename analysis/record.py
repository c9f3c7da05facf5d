"""The records of a trial directory, schema 1. Standard library only.

The runner writes them and the judge reads them: one definition for both. Each record is a frozen
dataclass with `to_dict` (JSON types only, keys in the stored order). A line of
``measurements.jsonl`` ends with the key ``crc32``: the unsigned CRC-32 of the line's bytes
without that key (that is, of ``{...}`` with ``,"crc32":N`` taken out, and without the newline).
"""

from __future__ import annotations

import functools
import json
import zlib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Self, cast, get_args

from .errors import StoreError
from .run_numbers import (
    BUILTIN_METRICS as BUILTIN_METRICS,
    Better as Better,
    Measurement as Measurement,
    MetricInfo as MetricInfo,
    Outcome as Outcome,
)

SCHEMA = 1

MANIFEST = "manifest.json"
CAMPAIGN = "campaign.yaml"
RESOLVED = "resolved.json"
ENVIRONMENT = "environment.jsonl"
PLAN = "plan.jsonl"
MEASUREMENTS = "measurements.jsonl"
FINDINGS = "findings.jsonl"
OUTPUTS = "outputs"

CheckStatus = Literal["ok", "warn", "fail", "unknown"]
TrialStatus = Literal["running", "complete", "interrupted", "stopped"]
StopReason = Literal["width", "max_runs", "max_time"]

_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_CRC_KEY = b',"crc32":'


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one host check found.

    `check` is the check's stable name, `what` a sentence, `where` the file that was read with its
    value, `fix` the command that mends it, `reason` why it matters to a measurement.
    """

    check: str
    status: CheckStatus
    what: str
    where: str | None = None
    fix: str | None = None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give the finding as JSON types."""
        return _plain(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """One planned run: a line of ``plan.jsonl``. `block` is 0 for warm-up runs, else from 1."""

    position: int
    session: int
    block: int
    benchmark: str
    variant: str
    warmup: bool

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Self:
        """Read a stored line, of this version or a later one.

        Raises
        ------
        TypeError
            If it lacks a key.
        """
        return cls(**_known(cls, row))

    def to_dict(self) -> dict[str, Any]:
        """Give the planned run as JSON types."""
        return _plain(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule:
    """When a session has enough runs: ``protocol.stop`` of a campaign.

    `width` is the largest relative width of the 95 % interval of each variant's speedup over the
    suite; `min_runs` and `max_runs` count runs of each cell in a session; `max_time_s` is a cap on
    the time of a session, or None.
    """

    width: float
    min_runs: int = 5
    max_runs: int = 50
    max_time_s: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give the rule as JSON types."""
        return _plain(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnd:
    """How a session under a `StopRule` ended: after `runs` runs of each cell, and why.

    `width` is that of the interval then, None when it could not be told; `text` says it in words.
    """

    session: int
    runs: int
    why: StopReason
    width: float | None
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Give the end as JSON types."""
        return _plain(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """``manifest.json``: what a trial is and how it ended.

    `campaign_sha256` is the campaign's identity: the SHA-256 of its parsed content, made by the rule
    `campaign_identity`; a trial of the first version, which had one rule only, does not say it.
    `sessions` is how many sessions are planned (the campaign's, or more after ``--sessions``).
    `metrics` holds the metrics parsed from output: name -> {"unit", "better"}.
    `targets` maps each executable's path to its SHA-256 when the trial began.
    `files` maps each file's name to its SHA-256 once the trial is no longer running, else it is empty.
    `stop` is the stopping rule, if there is one: then `runs` and `planned` are the most that there
    may be, and `session_ends` says how many runs each session needed that has ended.
    `further` holds the keys of a later version: they are kept when the manifest is written again.
    """

    schema: int = SCHEMA
    trial: str
    tool_version: str
    campaign_name: str
    campaign_sha256: str
    campaign_identity: int = 1
    campaign_path: str
    baseline: str
    variants: tuple[str, ...]
    benchmarks: tuple[str, ...]
    metrics: Mapping[str, Mapping[str, str]]
    seed: int
    sessions: int
    runs: int
    warmup: int
    planned: int
    host: str
    host_id: str
    cpu_model: str | None = None
    targets: Mapping[str, str]
    started: str
    finished: str | None = None
    status: TrialStatus
    reason: str | None = None
    files: Mapping[str, str]
    stop: StopRule | None = None
    session_ends: tuple[SessionEnd, ...] = ()
    further: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sequential(self) -> bool:
        """Whether values decided how many runs there are, in some session at least."""
        return self.stop is not None or bool(self.session_ends)

    @property
    def needed(self) -> int:
        """The planned runs without those that ended sessions turned out not to need."""
        cells = len(self.benchmarks) * len(self.variants)
        return self.planned - sum((self.runs - end.runs) * cells for end in self.session_ends)

    def to_dict(self) -> dict[str, Any]:
        """Give the manifest as JSON types."""
        data = _plain(self)
        data["stop"] = None if self.stop is None else self.stop.to_dict()
        data["session_ends"] = [end.to_dict() for end in self.session_ends]
        data["variants"] = list(self.variants)
        data["benchmarks"] = list(self.benchmarks)
        data["metrics"] = {name: dict(info) for name, info in self.metrics.items()}
        data["targets"] = dict(self.targets)
        data["files"] = dict(self.files)
        del data["further"]
        data.update(self.further)
        return data


@functools.cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _plain(record: Any) -> dict[str, Any]:  # noqa: ANN401 - any of the dataclasses above
    return {name: getattr(record, name) for name in _names(type(record))}  # type: ignore[arg-type]  # a class is hashable


def encode(data: Mapping[str, Any]) -> bytes:
    """Write one JSON object as compact bytes without a newline.

    Raises
    ------
    ValueError
        If a number is not finite.
    """
    return _ENCODER.encode(data).encode("ascii")


def encode_checked(data: Mapping[str, Any]) -> bytes:
    """Write one JSON object with ``crc32``, of the bytes without it, as its last key."""
    body = encode(data)
    return body[:-1] + _CRC_KEY + b"%d}" % zlib.crc32(body)


def checksum_holds(line: bytes) -> bool:
    """Tell whether the line of ``measurements.jsonl`` (no newline) carries its right checksum."""
    cut = line.rfind(_CRC_KEY)
    if cut < 0 or not line.endswith(b"}"):
        return False
    number = line[cut + len(_CRC_KEY) : -1]
    return number.isdigit() and zlib.crc32(b"}", zlib.crc32(line[:cut])) == int(number)


def read_manifest(trial: Path) -> Manifest:
    """Read ``manifest.json`` of the trial directory `trial`.

    Raises
    ------
    StoreError
        If it is missing, is no manifest, or has a newer schema.
    """
    path = trial / MANIFEST
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise StoreError(
            "this is no trial directory: it has no manifest.json",
            str(trial),
            "name a directory that 'fairtrial run' wrote, such as runs/NAME",
        ) from None
    except (OSError, ValueError) as error:
        raise StoreError(f"the manifest cannot be read: {error}", str(path)) from error
    if not isinstance(data, dict) or not isinstance(data.get("schema"), int):
        raise StoreError("the manifest has no schema number", str(path))
    if data["schema"] > SCHEMA:
        raise StoreError(
            f"the trial has schema {data['schema']}, newer than {SCHEMA}, the newest known here",
            str(path),
            "use the fairtrial version that wrote it, or a newer one",
        )
    return _manifest(data, path)


def _manifest(data: dict[str, Any], path: Path) -> Manifest:
    missing = _required(Manifest) - data.keys()
    if missing:
        raise StoreError(f"the manifest lacks {', '.join(sorted(missing))}", str(path))
    kept = _known(Manifest, data)
    kept["further"] = {name: value for name, value in data.items() if name not in kept}
    try:
        if kept.get("stop") is not None:
            kept["stop"] = _stop_rule(kept["stop"])
        kept["session_ends"] = _session_ends(
            kept.get("session_ends", []), kept["sessions"], kept["runs"]
        )
    except (TypeError, AttributeError, ValueError) as error:
        raise StoreError(f"the manifest's stopping rule is damaged: {error}", str(path)) from None
    kept["variants"] = tuple(cast("list[str]", kept["variants"]))
    kept["benchmarks"] = tuple(cast("list[str]", kept["benchmarks"]))
    return Manifest(**kept)


def _stop_rule(data: Mapping[str, Any]) -> StopRule:
    rule = StopRule(**_known(StopRule, data))
    for name, value in _plain(rule).items():
        absent = name == "max_time_s" and value is None
        if not absent and (not isinstance(value, int | float) or value <= 0):
            raise ValueError(f"{name} is {value!r}")
    return rule


def _session_ends(given: list[dict[str, Any]], sessions: int, most: int) -> tuple[SessionEnd, ...]:
    ends = tuple(SessionEnd(**_known(SessionEnd, end)) for end in given)
    for end in ends:
        for name, value, right in (
            ("session", end.session, end.session in range(1, sessions + 1)),
            ("runs", end.runs, end.runs in range(1, most + 1)),
            ("why", end.why, end.why in get_args(StopReason)),
            ("width", end.width, end.width is None or isinstance(end.width, int | float)),
        ):
            if not right:
                raise ValueError(f"{name} of an ended session is {value!r}")
    if len({end.session for end in ends}) < len(ends):
        raise ValueError("a session ended twice")
    return ends


def _known(kind: type, data: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the keys that a later version has added."""
    return {name: value for name, value in data.items() if name in _names(kind)}


def _required(kind: type) -> set[str]:
    """Name the keys that every version wrote: what was added since has a default, as has null."""
    return {
        part.name
        for part in fields(kind)
        if part.default is MISSING and part.default_factory is MISSING
    }
