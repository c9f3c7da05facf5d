"""The commits of variants, as `run` stores them: by the campaign's key, or as git knows them.

Authority: `git rev-parse HEAD` in the work trees of the programs.
"""

from __future__ import annotations

import json

import pytest

from analysis.data.host_record import ordered_variants_of
from analysis.record.environment import commits_of_all
from analysis.record.shapes import readable_rows
from analysis.record.trial_files import ENVIRONMENT
from tests.bisect_lab import git

VARIANTS = {"old": {"tree": "old"}, "new": {"tree": "new"}}
BENCHMARKS = {name: {"command": ["{tree}/build/app", name]} for name in ("one", "two")}


@pytest.fixture
def trees(lab):
    """Make two work trees, each with a program that was built in it; give their commits."""
    lab.environment["HOME"] = str(lab.folder)
    found = {}
    for name in VARIANTS:
        folder = lab.folder / name
        (folder / "build").mkdir(parents=True)
        git(folder, "init", "-q")
        git(folder, "commit", "-q", "--allow-empty", "-m", name)
        app = folder / "build/app"
        app.write_text(f"#!/bin/sh\n: {name}\n")
        app.chmod(0o755)
        found[name] = git(folder, "rev-parse", "HEAD")
    return found


def commits(trial):
    return [commits_of_all([record]) for record in readable_rows(trial / ENVIRONMENT)]


def campaign(lab, **sections):
    return lab.write_campaign(
        **{"variants": VARIANTS, "baseline": "old", "benchmarks": BENCHMARKS, **sections}
    )


def test_the_campaigns_key_comes_first(lab, trees):
    variants = {name: {"tree": name, "rev": f"v-{name}"} for name in VARIANTS}
    path = campaign(lab, variants=variants, commit="{rev}")
    assert lab.run_fairtrial("run", path, "-q").returncode == 0
    assert commits(lab.trial()) == [{"old": "v-old", "new": "v-new"}]
    resolved = json.loads((lab.trial() / "resolved.json").read_text())
    assert resolved["campaign"]["commit"] == {"old": "v-old", "new": "v-new"}


def test_a_commit_that_changes_no_program_stops_no_trial(lab, trees):
    path = campaign(lab)
    assert lab.run_fairtrial("run", path, "-q").returncode == 0
    git(lab.folder / "new", "commit", "-q", "--allow-empty", "-m", "words alone")
    later = git(lab.folder / "new", "rev-parse", "HEAD")
    more = ("run", path, "--resume", "--sessions", "+1", "-q")
    done = lab.run_fairtrial(*more)
    assert done.returncode == 0, done.stderr
    assert commits(lab.trial()) == [trees, trees | {"new": later}]
    assert "drift" not in {one["check"] for one in lab.findings()}
    # a key that is added, or says another thing, is no other campaign; another program is
    path = campaign(lab, commit="of-{variant}")
    assert lab.run_fairtrial(*more).returncode == 0
    assert commits(lab.trial())[-1] == {"old": "of-old", "new": "of-new"}
    (lab.folder / "new/build/app").write_text("#!/bin/sh\n: another\n")
    done = lab.run_fairtrial(*more)
    assert done.returncode == 5
    assert done.stderr.startswith("fairtrial: not resumed: the program")


def test_without_git_a_trial_is_measured_and_says_why_it_knows_no_commit(lab, trees):
    bare = lab.folder / "bin"
    bare.mkdir()
    lab.environment["PATH"] = str(bare)
    done = lab.run_fairtrial("run", campaign(lab), "-q")
    assert done.returncode == 0, done.stderr
    (record,) = readable_rows(lab.trial() / ENVIRONMENT)
    assert record["targets"]["one/new"]["commit"] is None
    assert record["targets"]["one/new"]["commit_unknown"] == "git is not installed"


def test_a_repository_of_another_user_is_a_finding_with_its_remedy(lab, trees):
    """Authority: git's own refusal, as its own tests ask for it."""
    (lab.folder / "bin").mkdir()
    real = "/usr/bin/env PATH=/usr/bin:/bin GIT_TEST_ASSUME_DIFFERENT_OWNER=1 git"
    lab.script("bin/git", f'#!/bin/sh\nexec {real} "$@"\n')
    lab.environment["PATH"] = f"{lab.folder}/bin:{lab.environment['PATH']}"
    protocol = {"sessions": 2, "runs": 1, "warmup": 0}
    done = lab.run_fairtrial("run", campaign(lab, protocol=protocol))
    assert done.returncode == 0, done.stderr
    found = [one for one in lab.findings() if one["check"] == "commit"]
    fixes = [f"git config --global --add safe.directory {lab.folder}/{name}" for name in VARIANTS]
    assert [one["fix"] for one in found] == fixes
    assert all(fix in done.stderr for fix in fixes)


def test_a_series_is_kept_in_its_written_order(lab, trees):
    variants = {f"c{k}": {"tree": tree} for k, tree in enumerate(("new", "old", "new", "old"))}
    path = campaign(lab, variants=variants, baseline="c1", series=True)
    assert lab.run_fairtrial("run", path, "-q").returncode == 0
    assert ordered_variants_of(lab.trial()) == ("c0", "c1", "c2", "c3")


def test_git_is_asked_once_however_many_sessions_there_are(lab, trees):
    place = lab.folder / "bin"
    place.mkdir()
    lab.script(
        "bin/git",
        f'#!/bin/sh\necho call >> {place}/calls\nexec /usr/bin/env -i PATH=/usr/bin:/bin HOME={lab.folder} git "$@"\n',
    )
    lab.environment["PATH"] = f"{place}:{lab.environment['PATH']}"
    path = campaign(lab, protocol={"sessions": 4, "runs": 1, "warmup": 0})
    assert lab.run_fairtrial("run", path, "-q").returncode == 0
    assert commits(lab.trial()) == [trees] * 4
    assert len((place / "calls").read_text().split()) == 6  # three of each work tree
