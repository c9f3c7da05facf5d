"""From an author's folder to an evaluator's answer, by the installed command alone."""

from __future__ import annotations

import json
import os
import random
import runpy
import shutil
import stat
import subprocess
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.artifact.archive import open_archive
from analysis.artifact.reproduce import check_archive
from analysis.errors import StoreError

handmade = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).resolve().parents[1] / "handmade_bundle.py"))
)
# to compile them takes a minute
KERNELS = os.environ.get("FAIRTRIAL_CACHE", str(Path("~/.cache/fairtrial/kernels").expanduser()))
MAKE = """#!/bin/sh
cp "$(command -v cat)" "tool-$1"
"""
CLAIMS = """
claims:
  - text: No run failed.
    command: fairtrial verdict runs/TRIAL
    value: /failed
    is: equals
    expected: 0
  - text: Both benchmarks were measured in two sessions.
    command: fairtrial verdict runs/TRIAL
    value: /sessions
    is: at_least
    expected: 2
"""


@pytest.fixture(scope="module")
def author(make_lab, tmp_path_factory):
    """Measure programs that a build makes, and pack them with claims."""
    lab = make_lab(tmp_path_factory.mktemp("author") / "lab")
    lab.script("make.sh", MAKE)
    for name, size in (("one", 100_000), ("two", 300_000)):
        (lab.folder / f"{name}.txt").write_text("x" * size)
    lab.write_campaign(
        "loops",
        build=[["sh", "make.sh", "{variant}"]],
        benchmarks={
            name: {"command": ["./tool-{variant}", f"{name}.txt"]} for name in ("one", "two")
        },
        protocol={"sessions": 2, "runs": 3, "warmup": 1},
    )
    done = lab.run_fairtrial("run", "loops.yaml", "-q")
    assert done.returncode == 0, done.stderr
    (lab.folder / "claims.yaml").write_text(CLAIMS.replace("TRIAL", lab.trial().name))
    words = ("bundle", lab.trial(), "-o", "artifact.zip", "--claims", "claims.yaml")
    done = lab.run_fairtrial(*words)
    assert done.returncode == 0, done.stderr
    return lab


@pytest.fixture
def evaluator(lab, author, tmp_path):
    """Give a folder elsewhere with nothing but the artifact, an empty home and no surroundings."""
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(author.folder / "artifact.zip", lab.folder)
    lab.environment = {"HOME": str(home), "PATH": os.defpath, "FAIRTRIAL_CACHE": KERNELS}
    return lab


@pytest.mark.powerless
def test_all_numbers_are_the_same_bytes_where_nothing_is_and_nothing_may_be_written(evaluator):
    del evaluator.environment["FAIRTRIAL_CACHE"]  # nothing at all is there
    (evaluator.folder / "artifact.zip").chmod(stat.S_IRUSR)
    evaluator.folder.chmod(0o500)
    before = {path for path in evaluator.folder.rglob("*")}
    try:
        done = evaluator.run_fairtrial("reproduce", "artifact.zip", "-q", "--json", fresh=True)
    finally:
        evaluator.folder.chmod(0o700)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    answer = json.loads(done.stdout)
    assert answer["outcome"] == "same bytes"
    assert {one["standing"] for one in answer["analyses"]} == {"same bytes"}
    assert answer["report"]["standing"] == "same bytes"
    assert answer["numbers"]["same"] == answer["numbers"]["numbers"] > 300
    assert [one["holds"] for one in answer["claims"]] == [True, True]
    assert {path for path in evaluator.folder.rglob("*")} == before


def test_a_build_makes_the_programs_and_the_rerun_is_compared(evaluator):
    shown = evaluator.run_fairtrial("reproduce", "--rerun", "artifact.zip")
    assert shown.returncode == 2, shown.stderr
    assert "./tool-a: made by the build; SHA-256" in shown.stdout
    assert "make.sh: bundle" in shown.stdout
    done = evaluator.run_fairtrial(
        "reproduce", "--rerun", "artifact.zip", "--yes-execute", "--json"
    )
    answer = json.loads(done.stdout)
    # what is measured is noise: form and exit code are all that can be asserted
    assert done.returncode == answer["exit_code"], done.stderr
    assert answer["exit_code"] == {"reproduced": 0, "cannot tell": 7}.get(answer["word"], 1)
    comparison = answer["trials"][0]["comparison"]
    assert comparison["same_campaign"] is True
    assert comparison["new"]["sessions"] == comparison["old"]["sessions"] == 2
    assert {one["name"] for one in comparison["candidates"][0]["benchmarks"]} == {"one", "two"}
    folder = evaluator.folder / "artifact-rerun"
    checked = subprocess.run(
        ["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=folder, check=False, capture_output=True
    )
    assert checked.returncode == 0, checked.stdout


def test_flipped_bits_are_found_and_the_file_named_or_change_no_content(author, tmp_path):
    whole = (author.folder / "artifact.zip").read_bytes()
    with zipfile.ZipFile(author.folder / "artifact.zip") as archive:
        infos = [one for one in archive.infolist() if one.file_size]
        files = {one.filename: archive.read(one) for one in infos}
    places = {
        one.filename: whole.index(files[one.filename], one.header_offset + 30 + len(one.filename))
        for one in infos
    }
    draw, broken = random.Random(20261122), tmp_path / "broken.zip"
    # half of them anywhere, half in files drawn alike: the wheel is most of the bytes
    drawn = [draw.randrange(len(whole)) for _ in range(50)]
    chosen = [draw.choice(list(files)) for _ in range(50)]
    for at in drawn + [places[one] + draw.randrange(len(files[one])) for one in chosen]:
        changed = bytearray(whole)
        changed[at] ^= 1 << draw.randrange(8)
        broken.write_bytes(changed)
        inside = [name for name, start in places.items() if 0 <= at - start < len(files[name])]
        try:
            with open_archive(broken) as archive:
                check_archive(archive)
                assert archive.read("SHA256SUMS") == files["SHA256SUMS"]
            refused = ""
        except StoreError as error:
            refused = str(error)
        assert all(name in refused for name in inside)
    done = author.run_fairtrial("reproduce", broken)
    assert done.returncode == 5
    assert inside[0] in done.stderr
