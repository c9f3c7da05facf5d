"""A bundle made with --redact: no name in the archive, the same numbers, every hash right."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile

import pytest

from analysis.artifact.archive import open_archive
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


@pytest.mark.usefixtures("quick_start")
def test_no_name_is_left_in_the_archive(named, tmp_path):
    claims = tmp_path / "claims.yaml"
    claims.write_text(CLAIMS.replace("TRIAL", str(named.trial)))
    archive = tmp_path / "a.zip"
    words = ["bundle", str(named.trial), "-o", str(archive), "--claims", str(claims)]
    assert "Names taken out" in printed(*words, "--redact", "user,host,paths,env")
    redacted = contents(archive)
    names = (USER, HOST, "lab07", "/home/", "sample-host", "3eae1594-2102-46e0-abf1-a359893b5082")
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
        if name.endswith(".whl"):
            continue
        assert hashlib.sha256(redacted[name]).hexdigest() == record["sha256"]
    with open_archive(archive):
        pass  # it is canonical
    # what was computed are the same numbers
    before = json.loads(printed("verdict", str(named.trial), "--json"))
    after = json.loads(redacted["analyses/01-verdict.json"])
    assert after["candidates"] == before["candidates"]
    assert (before["host"], after["host"]) == (HOST, "redacted-host-1")


def printed(*words):
    out, err = io.StringIO(), io.StringIO()
    assert main(list(words), out, err) == 0, err.getvalue()
    return out.getvalue()


def test_a_wrong_kind_is_refused_before_anything_is_read(tmp_path):
    out, err = io.StringIO(), io.StringIO()
    words = ["bundle", "none", "-o", str(tmp_path / "a.zip"), "--redact", "names"]
    assert main(words, out, err) == 2
    assert "--redact knows user, host, paths, env" in err.getvalue()


def contents(path):
    """Give the files of an archive, those in its tar archives beside them."""
    with zipfile.ZipFile(path) as file:
        # our own wheel speaks of /home/, too
        names = [name for name in file.namelist() if not name.endswith(".whl")]
        found = {name: file.read(name) for name in names}
    for name in [one for one in found if one.endswith(".tar")]:
        with tarfile.open(fileobj=io.BytesIO(found[name])) as tar:
            found |= {f"{name}/{one.name}": tar.extractfile(one).read() for one in tar}
    return found
