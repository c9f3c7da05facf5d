"""Commits taken out of a bundle with the paths: they tell of which repository a program is."""

from __future__ import annotations

import json

import yaml
from hypothesis import HealthCheck, given, settings, strategies as st

from analysis.data.trial import read_trial
from analysis.record.environment import commits_of_all
from analysis.record.trial_files import ENVIRONMENT
from analysis.verdict.judging import judge
from tests.examples import examples

SHA = "4f0c2a19b77e02c0ffee4f0c2a19b77e02c0ffee"


def committed(folder, old=SHA, new="v1.5.0-rc1"):
    """Plant the commits of two variants where a trial has them."""

    def change(_, row):
        for name, about in row["targets"].items():
            about["commit"] = old if name.endswith("gzip-6") else new

    folder.lines(ENVIRONMENT, change)
    resolved = {"campaign": {"commit": {"gzip-6": old, "gzip-1": new}}}
    folder.put("trials/sample/resolved.json", json.dumps(resolved, indent=2) + "\n")
    text = folder.read("trials/sample/campaign.yaml") + f"# {old} and {new}\n"
    folder.put("trials/sample/campaign.yaml", f"{text}commit: {old}\n")
    folder.put("trials/sample/outputs/setup-1.log", f"HEAD is now at {old}\ncd w_{old}\n")
    return folder


def test_commits_go_with_the_paths(folder):
    done = committed(folder).redact("paths")
    whole = folder.whole()
    assert SHA not in whole
    assert "v1.5.0-rc1" not in whole
    assert done.record.left == ()
    rows = [json.loads(line) for line in folder.read(f"trials/sample/{ENVIRONMENT}").splitlines()]
    for row in rows:  # what was one commit still is one, and nobody takes it for a name
        told = {name.partition("/")[2]: one["commit"] for name, one in row["targets"].items()}
        assert sorted(told.values()) == ["redacted-commit-1", "redacted-commit-2"]
        assert commits_of_all([row]) == {"gzip-1": None, "gzip-6": None}
    campaign = yaml.safe_load(folder.read("trials/sample/campaign.yaml"))
    assert campaign["commit"] == told["gzip-6"]
    resolved = json.loads(folder.read("trials/sample/resolved.json"))
    assert resolved["campaign"]["commit"] == told
    assert judge(read_trial(folder.trial)).cautions is not None  # it holds together


def test_commits_stay_where_nobody_asks_for_paths(folder):
    before = committed(folder).whole()
    folder.redact("user,host,env")
    assert folder.whole().count(SHA) == before.count(SHA)


def test_a_short_commit_goes_from_its_fields_and_is_listed_elsewhere(folder):
    done = committed(folder, old="v1", new="main").redact("paths")
    resolved = json.loads(folder.read("trials/sample/resolved.json"))
    assert set(resolved["campaign"]["commit"].values()) == {
        "redacted-commit-1",
        "redacted-commit-2",
    }
    assert (
        yaml.safe_load(folder.read("trials/sample/campaign.yaml"))["commit"]
        in resolved["campaign"]["commit"].values()
    )
    assert any("campaign.yaml: redacted-commit-" in one for one in done.record.left)  # the comment


HASHES = st.text("0123456789abcdef", min_size=7, max_size=64).filter(
    lambda text: not text.isdigit()
)
TAGS = st.from_regex(r"[a-z]{2,5}/?v[0-9]{1,2}\.[0-9]{1,2}-(rc|beta)[0-9]", fullmatch=True)


@given(st.lists(HASHES | TAGS, min_size=2, max_size=2, unique=True), st.booleans())
@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_no_file_of_a_trial_holds_a_commit_afterwards(staged, commits, template):
    old, new = commits
    folder = staged()
    committed(folder, old, new)
    if template:
        text = folder.read("trials/sample/campaign.yaml").replace(
            f"commit: {old}", "commit: '{rev}'"
        )
        folder.put(
            "trials/sample/campaign.yaml", f"{text}a: {{rev: '{old}'}}\nb: {{rev: '{new}'}}\n"
        )
    folder.redact("paths")
    whole = folder.whole()
    assert old not in whole
    assert new not in whole
