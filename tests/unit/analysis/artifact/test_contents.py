"""bundle.json: written and read back; what is none is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from analysis.artifact.archive import (
    Analysis,
    Author,
    BundleSource,
    Contents,
    FileRecord,
    Metadata,
    Missing,
    Needs,
    RedactionRecord,
    ReportMade,
    SmokeRun,
    contents_text,
    read_contents,
)
from analysis.errors import StoreError

CONTENTS = Contents(
    schema=3,
    kind="fairtrial-bundle",
    tool_version="0.2.0",
    python="3.11.7",
    libraries={"numpy": "2.0"},
    sources=(BundleSource(name="x", kind="trial", path="trials/x", trial="x", identity="0" * 64),),
    analyses=(
        Analysis(name="verdict", command=("verdict", "trials/x"), seed=None, result="analyses/1"),
    ),
    report=ReportMade(command=("report", "trials/x"), result="report.html"),
    claims=None,
    smoke=SmokeRun(command=("run", "campaigns/x/campaign.yaml"), time_s=1.5),
    needs=Needs(disk_bytes=1, compilers={"cc": "cc 12"}),
    missing=(Missing(what="data/\u00fc", why="too large", bytes=5),),
    redacted=RedactionRecord(what=("user",), replaced={"user": 2}, files={"a": "0" * 64}),
    metadata=Metadata(title="T", authors=(Author(name="A"),)),
    files={"README.md": FileRecord(bytes=1, sha256="0" * 64)},
)


@pytest.mark.parametrize("contents", [CONTENTS, replace(CONTENTS, report=None, redacted=None)])
def test_what_was_written_is_read_back(contents):
    assert read_contents(contents_text(contents), "a.zip") == contents


def test_later_keys_are_passed_over():
    value = json.loads(contents_text(CONTENTS))
    value["later"] = {"x": 1}
    assert read_contents(json.dumps(value).encode(), "a.zip") == CONTENTS


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"kind": "other"}, "does not say that this is a bundle"),
        ({"schema": 4}, "newer than 3"),
        ({"sources": None}, "must be a list"),
        ({"files": {"a": {"bytes": "1", "sha256": ""}}}, "whole number"),
        ({"needs": {}}, "lacks compilers, disk_bytes"),
    ],
)
def test_what_is_no_description_is_refused(change, what):
    value = json.loads(contents_text(CONTENTS)) | change
    with pytest.raises(StoreError, match=what):
        read_contents(json.dumps(value).encode(), "a.zip")


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"[" * 10**5, b'{"kind": NaN}'])
def test_other_bytes_are_refused(data):
    with pytest.raises(StoreError, match="not a description"):
        read_contents(data, "a.zip")
