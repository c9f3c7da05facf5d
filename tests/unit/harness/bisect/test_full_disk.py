"""A disk that is full is told, nothing half-built is taken for whole, and more space is all that is needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

BUILD = """
import contextlib, os, sys
from pathlib import Path
from analysis.errors import StoreError
from harness.bisect.commits import commits_between
from harness.bisect.recipe import recipe_of
from harness.bisect.workshop import Workshop
from harness.campaign.resolve import load_campaign
from harness.launch.matching import Interrupts
top, folder = map(Path, sys.argv[1:])
commits = commits_between(top, "HEAD~1", "HEAD")
recipe = recipe_of(load_campaign(top / "campaign.yaml"), commits)
with contextlib.suppress(OSError), open("disk/ballast", "wb", buffering=0) as ballast:
    while ballast.write(bytes(1 << 16)): pass
for kilobytes in (16384, 13824, 12288, 0):
    os.truncate("disk/ballast", min(kilobytes << 10, os.stat("disk/ballast").st_size))
    try:
        with Workshop(commits, recipe, Interrupts(), folder=folder) as workshop:
            print([type(workshop.build(commit)).__name__ for commit in commits.commits])
    except StoreError as error:
        print(error)
    print(sorted(path.name for path in folder.glob("kept/*")), (folder / "build").exists())
"""
DISK = 'mount -t tmpfs -o size=16m none disk && exec "$@"'
CAMPAIGN = """\
name: app
variants: {a: }
build: {shell: "head -c 1500000 /dev/zero > large; head -c 1500000 /dev/zero > larger && chmod +x larger"}
benchmarks: {run: {command: [./larger]}}
"""


def test_a_full_disk(repository, tmp_path):
    if not (shutil.which("unshare") and shutil.which("mount")):
        pytest.skip("unshare or mount (util-linux) is not installed")
    (tmp_path / "disk").mkdir()
    (repository.path / "campaign.yaml").write_text(CAMPAIGN)
    command = [sys.executable, "-c", BUILD, str(repository.path), "disk/work"]
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", DISK, "sh", *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 32 or "unshare failed" in done.stderr:
        pytest.skip(f"no user namespace with mounts is to be had here: {done.stderr.strip()}")
    assert "Traceback" not in done.stderr
    lines = done.stdout.splitlines()
    assert "what is built cannot be stored: No space left on device" in lines[0]
    assert "free some space, or name another folder: --work-dir DIR" in lines[1]
    assert lines[2] == "[] False"
    assert "a build failed on a full disk" in lines[3]
    assert lines[5] == "[] False"
    # there is room for one of the two: what was kept of it stays
    assert "a build failed on a full disk" in lines[6]
    assert lines[8].count(".json") == 1
    assert lines[8].endswith("False")
    assert lines[9] == "['Built', 'Built']"
