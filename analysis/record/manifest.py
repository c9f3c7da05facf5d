"""``manifest.json``: its text, its shape, and what its parts say of each other."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from ..errors import StoreError
from ..run_numbers import Better
from ..shapes import ShapeError, parse, shaped
from .energy import When
from .kinds import MANIFEST, SCHEMA, Manifest, StopReason, StopRule
from .lines import RESTORE, opened

_MANY = 2**31 - 1  # sessions, and runs in each: no trial has more


def utc_now() -> str:
    """Give the time as RFC 3339, UTC."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds")
    return now.replace("+00:00", "Z")


def manifest_text(manifest: Manifest) -> bytes:
    """Give the bytes of ``manifest.json``."""
    return json.dumps(manifest.to_dict(), indent=2, allow_nan=False).encode() + b"\n"


def read_manifest(trial: Path) -> Manifest:
    """Read ``manifest.json`` of the trial directory `trial`.

    Raises
    ------
    StoreError
        If it is missing, is no manifest, or has a newer schema.
    """
    path = trial / MANIFEST
    if os.path.isfile(trial):  # noqa: PTH113 - Path.is_file() raises on a name that is too long
        raise StoreError(
            "this is a file, and no trial directory",
            str(trial),
            "a file of another tool becomes a trial with 'fairtrial import FILE -o runs/NAME'; verdict, "
            "report and diagnose read it where it lies",
        )
    if not os.path.lexists(path):
        raise StoreError(
            "this is no trial directory: it has no manifest.json",
            str(trial),
            "name a directory that 'fairtrial run' wrote, such as runs/NAME; "
            "what ended before it had a manifest measured nothing, and may be removed; a folder of "
            "another tool becomes a trial with 'fairtrial import FOLDER -o runs/NAME'",
        )
    try:
        with opened(path) as file:
            data = parse(file.read().strip())
    except (OSError, ShapeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StoreError(f"the manifest cannot be read: {reason}", str(path), RESTORE) from None
    if not isinstance(data, dict) or type(data.get("schema")) is not int:
        raise StoreError("the manifest has no schema number", str(path), RESTORE)
    if data["schema"] > SCHEMA:
        raise StoreError(
            f"the trial has schema {data['schema']}, newer than {SCHEMA}, the newest known here"
            if data["schema"] < 2**63
            else "the trial has a schema of another kind",
            str(path),
            "use the fairtrial version that wrote it, or a newer one",
        )
    try:
        manifest = shaped(Manifest, data)
        _check(manifest)
    except ShapeError as error:
        raise StoreError(f"the manifest is damaged: {error}", str(path), RESTORE) from None
    return manifest


def _check(manifest: Manifest) -> None:
    """Hold the parts of a manifest against each other: readers count and divide by them."""
    sessions, most = manifest.sessions, manifest.runs
    rule = manifest.stop
    ends = manifest.session_ends
    given_up = manifest.given_up
    imported = manifest.origin == "imported"  # nothing was planned
    for what, right in (
        ("there are no benchmarks", manifest.benchmarks),
        ("there are no variants", manifest.variants),
        ("a benchmark stands there twice", _distinct(manifest.benchmarks)),
        ("a variant stands there twice", _distinct(manifest.variants)),
        ("a name is no text that can be written", _writable(manifest)),
        ("the baseline is none of the variants", manifest.baseline in manifest.variants),
        ("a metric has no unit, or no direction", all(map(_directed, manifest.metrics.values()))),
        (f"sessions is {sessions}", 1 <= sessions <= _MANY),
        (f"runs is {most}", 1 <= most <= _MANY),
        (f"warmup is {manifest.warmup}", manifest.warmup >= 0),
        (f"planned is {manifest.planned}", manifest.planned >= (0 if imported else sessions)),
        ("a bound of its stopping rule is not positive", rule is None or _positive(rule)),
        ("a session ended twice", _distinct([end.session for end in ends])),
        ("a session ended that was not planned", all(1 <= end.session <= sessions for end in ends)),
        (
            "an ended session has more runs than were planned, or none",
            all(1 <= end.runs <= most for end in ends),
        ),
        (
            "a cell was given up that is none, or in a session that was not planned",
            all(
                one.benchmark in manifest.benchmarks
                and one.variant in manifest.variants
                and 1 <= one.session <= sessions
                and 1 <= one.runs <= most
                for one in given_up
            ),
        ),
        (
            "a cell was given up twice in a session",
            _distinct([(one.session, one.benchmark, one.variant) for one in given_up]),
        ),
        (
            "sessions were appended, or merged, that were not planned",
            all(
                1 <= first <= last <= sessions
                for first, last in (
                    *((one.first, one.last) for one in manifest.appended),
                    *((one.first, one.last) for one in manifest.merged_from),
                )
            ),
        ),
        (
            "an idle power is none, or of a session that was not planned",
            all(
                1 <= idle.session <= sessions
                and idle.when in get_args(When)
                and min(idle.watts, idle.error_w) >= 0
                for idle in manifest.idle_power
            ),
        ),
        (
            "an idle power stands there twice",
            _distinct([(one.session, one.segment, one.when) for one in manifest.idle_power]),
        ),
        (
            "why a session ended is not said",
            all(end.why in get_args(StopReason) for end in ends),
        ),
    ):
        if not right:
            raise ShapeError(what)


def _distinct(items: Sequence[object]) -> bool:
    return len(set(items)) == len(items)


def _directed(metric: Mapping[str, str]) -> bool:
    return "unit" in metric and metric.get("better") in get_args(Better)


def _positive(rule: StopRule) -> bool:
    return all(value is None or value > 0 for value in rule.to_dict().values())


def _writable(manifest: Manifest) -> bool:
    """Tell whether its names can be written: a text of JSON may hold halves of characters."""
    names = (manifest.trial, manifest.campaign_name, *manifest.benchmarks, *manifest.variants)
    try:
        asked = (metric for one in manifest.judge for metric in one.metrics)
        "".join((*names, *manifest.metrics, *asked)).encode()
    except UnicodeEncodeError:
        return False
    return True
