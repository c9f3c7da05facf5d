"""`fairtrial bisect --why` with perf on this machine."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.errors import HostError
from harness.trial.perf import find_perf

made = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "bisect_lab.py")))


def bisect(lab, *words, **own):
    return lab.run_fairtrial("bisect", *words, "--wait-for-lock", **own)


@pytest.fixture(scope="module")
def planted(make_lab, tmp_path_factory):
    """Give a lab with a repository in which the second commit is half slower, bisected once."""
    lab = make_lab(tmp_path_factory.mktemp("bisect") / "lab")
    lab.shas = made.repository(lab.folder / "app", [0.1, 0.1, 0.15, 0.15])
    made.campaign(lab.folder / "app")
    words = ("HEAD~3", "HEAD", "--campaign", "app/campaign.yaml", "--work-dir", "work", "--json")
    lab.done = bisect(lab, *words)
    return lab


def test_why_is_asked_of_the_culprit_against_its_parent(planted):
    """The made-up metric is 5 % slower and the processors do the same work: no function is named."""
    try:
        find_perf()
    except HostError:
        pytest.skip("there is no perf that samples here")
    folder = made.bisection(planted)
    before = made.bytes_of(folder)
    name = f"{2:04d}-{planted.shas[2][:7]}"
    found = json.loads(planted.done.stdout)
    (line,) = found["next"]
    assert line == f"fairtrial why {found['path']}/proof-1:{name}"
    done = bisect(planted, "--resume", folder.relative_to(planted.folder), "--why", "--json")
    assert done.returncode == 0, done.stderr
    (answer,) = json.loads(done.stdout)["why"]["answers"]
    parent = f"{1:04d}-{planted.shas[1][:7]}"
    assert (answer["variant"], answer["baseline"]) == (name, parent)
    assert answer["verdict_was"]["metric"] == "work"
    after = made.bytes_of(folder)
    trials = {path for path in before if len(path.parts) > 1}
    assert {path: after[path] for path in trials} == {path: before[path] for path in trials}
    assert {path.parts[0] for path in after.keys() - before.keys()} == {"proof-1.why"}


def test_why_without_the_trees_of_the_commits_says_so_and_keeps_the_answer(planted):
    folder = made.bisection(planted).relative_to(planted.folder)
    (kept,) = (planted.folder / "work").glob("**/kept")
    away = kept.with_name("away")
    kept.rename(away)
    try:
        told = planted.run_fairtrial("why", f"{folder}/proof-1:{2:04d}-{planted.shas[2][:7]}")
    finally:
        away.rename(kept)
    assert told.returncode in (3, 4), told.stderr
    assert "fix:" in told.stderr
