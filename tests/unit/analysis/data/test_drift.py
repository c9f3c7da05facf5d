"""A change under a trial is said wherever its runs are judged.

Authority: a trial gone on with `--accept-drift` had 15 findings `drift`, and runs of both programs in one
median; verdict, hpt and resample said nothing of it.
"""

import json

import pytest

from analysis.data.trial import read_trial
from analysis.record.trial_files import FINDINGS
from analysis.verdict.judging import judge

TIMES = {"a": {"x": [1.0, 1.1, 1.2]}, "b": {"x": [2.0, 2.1, 2.2]}}


def finding(what: object, check: str = "drift") -> bytes:
    return json.dumps({"check": check, "status": "warn", "what": what}).encode() + b"\n"


@pytest.fixture
def cautions(synthetic, tmp_path):
    """Give the cautions `drift` of a trial with these lines of findings."""

    def make(*lines: bytes, **manifest):
        made = synthetic(TIMES, **manifest)
        made.extra[FINDINGS] = b"".join(lines)
        trial = read_trial(made.write(tmp_path / "trial"))
        return trial, [one.text for one in trial.cautions if one.code == "drift"]

    return make


def test_each_change_is_named_once(cautions):
    _, (said,) = cautions(finding("the program p has changed"), finding("q"), finding("q"))
    assert said.endswith("taken together: the program p has changed; q")


def test_many_changes_are_counted_and_a_long_one_is_cut(cautions):
    _, (said,) = cautions(
        finding("the campaign has changed:\n    -runs: 3\n    +runs: 4"), *map(finding, "abcd")
    )
    assert said.endswith("the campaign has changed; a; b; and 2 more")


def test_other_findings_are_no_drift(cautions):
    assert cautions(finding("busy", "load"), finding("swapped", "environment"))[1] == []
    assert cautions()[1] == []


@pytest.mark.parametrize(
    "line", [b"[]\n", b"5\n", b"{\n", b"[" * 100_000 + b"\n", finding(7), b"\xff\n"]
)
def test_a_damaged_line_is_passed_over(cautions, line):
    _, said = cautions(line, finding("q"), status="running")
    assert [text.rpartition(": ")[2] for text in said] == ["q"]


def test_a_trial_without_findings_has_none(synthetic, tmp_path):
    path = synthetic(TIMES, status="running").write(tmp_path / "trial")
    assert [one for one in read_trial(path).cautions if one.code == "drift"] == []


def test_the_verdict_says_it(cautions):
    trial, _ = cautions(finding("the program p has changed"))
    assert "drift" in {one.code for one in judge(trial).cautions}
