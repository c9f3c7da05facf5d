"""A trial beside the one that came. Authority: a trial agrees with itself, and docs/diff.md for words."""

import json
import shutil

import pytest

from analysis.artifact.reproduce import Rerun, RerunTrial, judge_reruns, receive_bundle
from analysis.errors import UsageError

from .conftest import handmade, write_bundle

SAMPLE = handmade.SAMPLE
CAMPAIGN = SAMPLE / "campaign.yaml"


def rerun(*words):
    """Give a rerun of trials of which that was told; nothing of their comparison is looked at."""

    class Told:
        def __init__(self, word):
            self.word = word

    trials = tuple(
        RerunTrial(
            name=f"t{k}", old="o", new="n", campaign="c", comparison=Told(word) if word else None
        )
        for k, word in enumerate(words)
    )
    return Rerun(bundle="a.zip", folder="f", metric=None, confidence=0.95, trials=trials)


def test_trials_reproduce_themselves_and_are_told_one_by_one():
    hostile = "<script>alert(1)</script>\u202e"
    pairs = [(name, SAMPLE, SAMPLE, CAMPAIGN) for name in ("one", hostile)]
    found = judge_reruns(f"{hostile}.zip", SAMPLE, pairs)
    assert (found.word, found.exit_code) == ("reproduced", 0)
    assert found.to_dict()["trials"][0]["comparison"]["same_trial"] is True
    assert "method" not in found.to_dict()["trials"][0]["comparison"]
    json.dumps(found.to_dict(), allow_nan=False)
    assert "reproduced: one reproduced; <script>" in str(found)
    assert {code.about[0] for code in found.cautions} == {"one", hostile}


@pytest.mark.parametrize(
    ("words", "word", "code"),
    [
        (["reproduced"], "reproduced", 0),
        (["partly"], "partly", 1),
        (["not"], "not", 1),
        (["cannot tell"], "cannot tell", 7),
        ([None], "cannot tell", 7),  # they cannot be compared
        (["reproduced", "reproduced"], "reproduced", 0),
        (["reproduced", "not"], "partly", 1),
        (["reproduced", "cannot tell"], "partly", 1),
        (["not", None], "not", 1),
    ],
)
def test_the_word_and_the_exit_code_over_all_trials(words, word, code):
    found = rerun(*words)
    assert (found.word, found.exit_code) == (word, code)


def test_trials_that_cannot_be_compared_cannot_tell(tmp_path):
    # no run that counts: there is nothing to compare
    failed = tmp_path / "failed"
    shutil.copytree(SAMPLE, failed)
    (failed / "measurements.jsonl").write_bytes(b"")
    manifest = json.loads((failed / "manifest.json").read_text()) | {
        "files": {},
        "status": "stopped",
        "reason": "stopped by a test",
    }
    (failed / "manifest.json").write_text(json.dumps(manifest))
    found = judge_reruns("a.zip", tmp_path, [("sample", SAMPLE, failed, CAMPAIGN)])
    assert (found.word, found.exit_code) == ("cannot tell", 7)
    assert "cannot tell" in str(found)


def test_a_wrong_metric_is_the_users_mistake(tmp_path):
    with pytest.raises(UsageError, match="none-such"):
        judge_reruns("a.zip", tmp_path, [("sample", SAMPLE, SAMPLE, CAMPAIGN)], metric="none-such")


@pytest.fixture
def two_trials(tmp_path):
    """Write a bundle of two trials that came with their campaign, and of one that did not."""
    files: dict[str, bytes] = {}
    sources = []
    for name in ("one", "two", "bare"):
        files |= handmade.files_of(SAMPLE, name)
        sources.append(handmade.source_of(name, name))
    del files["campaigns/bare/campaign.yaml"]
    sources[2]["campaign"] = None
    whole = handmade.sealed(files, sources=sources, analyses=[])
    return write_bundle(tmp_path / "a.zip", whole)


@pytest.mark.parametrize(
    ("names", "found"),
    [((), ["one", "two"]), (("two",), ["two"]), (("two", "one"), ["one", "two"])],
)
def test_all_trials_with_a_campaign_are_received_or_those_that_are_named(
    two_trials, tmp_path, names, found
):
    got = receive_bundle(two_trials, tmp_path / "b", names=names)
    assert [one.name for one in got.trials] == found
    for one in got.trials:
        assert one.path == tmp_path / "b" / "trials" / one.name
        assert one.campaign.read_bytes() == CAMPAIGN.read_bytes()
    assert not got.redacted


@pytest.mark.parametrize("name", ["three", "bare"])
def test_a_trial_that_cannot_be_measured_again_is_refused_before_it_is_unpacked(
    two_trials, tmp_path, name
):
    with pytest.raises(UsageError, match=f"no trial {name!r} with a campaign") as raised:
        receive_bundle(two_trials, tmp_path / "b", names=("one", name))
    assert raised.value.fix == "it has one, two"
    assert not (tmp_path / "b").exists()
