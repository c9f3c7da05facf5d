"""A bundle with profiles: what is packed answers again, byte for byte, also after names were taken out."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from harness.cli import main
from tests.profiled import profile_beside


def told(*words):
    out, err = io.StringIO(), io.StringIO()
    assert main(list(words), out, err) == 0, err.getvalue()
    return out.getvalue()


@pytest.mark.usefixtures("quick_answers")
def test_the_packed_profile_answers_again_and_stands_on_the_report(tmp_path, synthetic):
    cells = {"keys": [0.030, 0.031, 0.030, 0.031]}
    trial = synthetic({"base": cells, "slow": cells}, sessions=2, host="lab07.example.org")
    place = trial.write(tmp_path / "runs" / "sort")
    profile_beside(place, synthetic, variant="slow", benchmarks=("keys",))
    archive = tmp_path / "a.zip"
    words = ("--why", "--redact", "user,host,paths", "--json")
    packed = json.loads(told("bundle", str(place), "-o", str(archive), *words))
    commands = {one["name"]: one["command"] for one in packed["analyses"]}
    assert commands["why"] == ["why", "trials/synthetic-20261121-0412", "--stored", "--json"]
    with zipfile.ZipFile(archive) as file:
        files = {name: file.read(name) for name in file.namelist()}
    assert not [name for name, data in files.items() if b"lab07" in data and name[-4:] != ".whl"]
    (name,) = (name for name in files if name.endswith("-why.json"))
    (answer,) = json.loads(files[name])["answers"]
    assert answer["rows"][0]["function"] == "qsort_cmp"
    assert b"by path of calls" in files["report.html"]
    found = json.loads(told("reproduce", str(archive), "--json"))
    standings = {one["name"]: one["standing"] for one in (*found["analyses"], found["report"])}
    assert standings["why"] == "same bytes"
    assert set(standings.values()) == {"same bytes"}
