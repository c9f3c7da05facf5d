"""A bundle made with --redact: no name in the archive, the same numbers, every hash right."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile

import pytest

from analysis.artifact import open_archive
from harness.cli import main

HOST, USER = "lab07.example.org", "jdoe"
CLAIMS = f"""\
claims:
  - text: on {HOST} gzip-1 is faster
    command: verdict TRIAL --json
    value: /candidates/0/multilevel/these/speedup
    is: at_least
    expected: 1.2
"""


@pytest.fixture
def named(folder):
    """Plant names in a trial that lies in somebody's folder."""
    folder.manifest(host=HOST, campaign_path=f"/home/{USER}/c.yaml")
    folder.put("trials/sample/outputs/setup-1.log", f"{USER}@{HOST}:/home/{USER}/build\n")
    return folder


def test_no_name_is_left_in_the_archive(named, tmp_path):
    claims = tmp_path / "claims.yaml"
    claims.write_text(CLAIMS.replace("TRIAL", str(named.trial)))
    archives = []
    for more in ((), ("--redact", "user,host,paths,env")):
        archives.append(tmp_path / f"{len(more)}.zip")
        out, err = io.StringIO(), io.StringIO()
        words = ["bundle", str(named.trial), "-o", str(archives[-1]), "--claims", str(claims)]
        assert main([*words, *more], out, err) == 0, err.getvalue()
    assert "Names taken out" in out.getvalue()
    plain, redacted = map(contents, archives)
    names = (USER, HOST, "lab07", "/home/", "sample-host", "3eae1594-2102-46e0-abf1-a359893b5082")
    assert [n for n in names[:-1] if any(n.encode() in data for data in plain.values())] == [
        USER,
        HOST,
        "lab07",
        "/home/",
        "sample-host",
    ]
    for name in names:
        assert [file for file, data in redacted.items() if name.encode() in data] == []
    told = json.loads(redacted["bundle.json"])
    assert told["redacted"]["what"] == ["user", "host", "paths", "env"]
    manifest = (named.trial / "manifest.json").read_bytes()
    assert told["sources"][0]["identity"] == hashlib.sha256(manifest).hexdigest()
    altered = told["redacted"]["files"]
    (root,) = {name.rpartition("/")[0] for name in altered if name.endswith("/manifest.json")}
    assert altered[f"{root}/manifest.json"] == told["sources"][0]["identity"]
    for name, record in told["files"].items():
        assert hashlib.sha256(redacted[name]).hexdigest() == record["sha256"]
    with open_archive(archives[1]):
        pass  # it is canonical
    # what was computed are the same numbers
    for name in ("analyses/01-verdict.json", "analyses/02-explained.json"):
        both = [json.loads(one[name]) for one in (plain, redacted)]
        assert both[0]["candidates"] == both[1]["candidates"]
        assert [one["host"] for one in both] == [HOST, "redacted-host-1"]


def contents(path):
    """Give the files of an archive, those in its tar archives beside them."""
    with zipfile.ZipFile(path) as file:
        found = {name: file.read(name) for name in file.namelist()}
    for name in [one for one in found if one.endswith(".tar")]:
        with tarfile.open(fileobj=io.BytesIO(found[name])) as tar:
            found |= {f"{name}/{one.name}": tar.extractfile(one).read() for one in tar}
    return found
