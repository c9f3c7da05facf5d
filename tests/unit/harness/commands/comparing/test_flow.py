"""What ``compare`` does once the trial is there: the verdict, and whose exit code counts."""

from __future__ import annotations

import io

import pytest

from analysis.errors import InsufficientDataError
from analysis.record.trial_files import TrialStatus
from harness.cli import main
from harness.trial.ending import Ending


class Judge:
    """Stands in for the judge's door; `error` is raised instead of an answer."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.asked: list[tuple[object, bool]] = []

    def write_verdict(self, trial, out, *, as_json):
        self.asked.append((trial, as_json))
        if self.error is not None:
            raise self.error
        out.write("the verdict\n")


@pytest.fixture
def judge(monkeypatch):
    stand_in = Judge()
    monkeypatch.setattr("analysis.commands.verdict.write_verdict", stand_in.write_verdict)
    return stand_in


@pytest.fixture
def compare(monkeypatch, tmp_path, judge):
    def execute(status: TrialStatus = "complete", done=4, failed=0, words=(), out=None):
        ending = Ending(
            trial=tmp_path, status=status, reason=None, done=done, planned=4, failed=failed
        )
        monkeypatch.setattr("harness.trial.execution.start", lambda campaign, options, view: ending)
        monkeypatch.chdir(tmp_path)
        out, err = out or io.StringIO(), io.StringIO()
        code = main(["compare", "true", "false", "--runs", "2", *words], out, err)
        return code, out.getvalue(), err.getvalue()

    return execute


def test_the_judge_is_asked_once_and_the_answer_is_the_result(compare, judge, tmp_path):
    assert compare()[:2] == (0, "the verdict\n")
    assert judge.asked == [(tmp_path, False)]
    assert compare(words=["--json"])[0] == 0
    assert judge.asked[1:] == [(tmp_path, True)]


def test_too_few_runs_are_not_judged(compare, judge):
    assert compare("interrupted", done=3)[:2] == (130, "")
    assert judge.asked == []


def test_failed_runs_and_an_interruption_keep_their_exit_codes(compare):
    assert compare(failed=1)[:2] == (1, "the verdict\n")
    assert compare("interrupted")[:2] == (130, "the verdict\n")


def test_what_the_judge_cannot_say_is_said_and_the_larger_code_counts(compare, judge):
    judge.error = InsufficientDataError("two runs are needed", n=1, needed=2)
    for status, failed, expected in (
        ("complete", 0, 6),
        ("complete", 2, 6),
        ("interrupted", 0, 130),
    ):
        code, said, complaint = compare(status, failed=failed)
        assert (code, said) == (expected, "")
        assert complaint.count("fairtrial: two runs are needed") == 1


def test_a_reader_who_has_gone_changes_no_exit_code(compare, judge):
    class Gone(io.StringIO):
        def fileno(self):
            raise OSError

        def flush(self):
            raise BrokenPipeError

    judge.error = BrokenPipeError()
    assert compare(failed=1, out=Gone())[0] == 1
