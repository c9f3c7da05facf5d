"""What ``compare`` does around a measurement: its first line, whose exit code counts, what it refuses."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace

import pytest

from analysis.errors import InsufficientDataError
from analysis.record.trial_files import TrialStatus
from harness.cli import main
from harness.errors import HostError
from harness.launch.commands import CommandFailedError
from harness.trial.ending import Ending


class Answering:
    """Stands in for the judge; `error` is raised instead of an answer."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.asked: list[object] = []

    def answered(self, trial, wanted, look, **known):
        self.asked.append(wanted)
        if self.error is not None:
            raise self.error
        return "the answer"

    def write_answer(self, answer, out, **how):
        out.write(f"{answer}\n")


@pytest.fixture
def judge(monkeypatch):
    stand_in = Answering()
    place = "analysis.commands.compared"
    monkeypatch.setattr(f"{place}.answered", stand_in.answered)
    monkeypatch.setattr(f"{place}.write_answer", stand_in.write_answer)
    return stand_in


@pytest.fixture
def compare(monkeypatch, tmp_path, judge):
    def execute(*words, status: TrialStatus = "complete", failed=0, out=None, error=None):
        ending = Ending(
            trial=tmp_path, status=status, reason=None, done=4, planned=4, failed=failed
        )

        def measure(campaign, sitting, options, watcher):
            if error is not None:
                raise error
            return SimpleNamespace(ending=ending, look=None, measured_s=1.0)

        monkeypatch.setattr("harness.trial.sitting.measure", measure)
        monkeypatch.chdir(tmp_path)
        out, err = out or io.StringIO(), io.StringIO()
        code = main(["compare", *(words or ("true", "true"))], out, err)
        return code, out.getvalue(), err.getvalue()

    return execute


def test_standard_output_holds_the_answer_alone(compare, judge):
    code, said, seen = compare()
    assert (code, said) == (0, "the answer\n")
    assert seen.startswith(
        "comparing 2 commands, at most about 20 s (Ctrl-C keeps what is there)\n"
    )
    (wanted,) = judge.asked
    assert [one.variant for one in wanted] == ["true", "true-2"]


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (("true",), "measuring 1 command, at most about 10 s (Ctrl-C keeps what is there)"),
        (("--for", "5m", "true", "true"), "comparing 2 commands, at most about 5 min (Ctrl-C"),
        # seen: 150 s were "about 2 min"
        (("--for", "150s", "true"), "measuring 1 command, at most about 2 min 30 s (Ctrl-C"),
        (("-r", "12", "true", "true"), "comparing 2 commands, 12 runs each (Ctrl-C"),
        (("--sessions", "3", "true", "true"), "comparing 2 commands, 3 sessions (Ctrl-C"),
        (("-L", "x", "1,2,3,4", "true {x}"), "comparing 4 commands, at most about 40 s (Ctrl-C"),
    ],
)
def test_the_first_line_says_what_and_for_how_long(compare, words, first):
    assert compare(*words)[2].startswith(first)


def test_quiet_says_nothing_beside_the_answer(compare):
    assert compare("-q", "-N", "--style", "full", "true", "true") == (0, "the answer\n", "")


def test_failed_runs_and_an_interruption_keep_their_exit_codes(compare):
    assert compare(failed=1)[:2] == (1, "the answer\n")
    assert compare(status="interrupted")[:2] == (130, "the answer\n")


def test_what_the_judge_cannot_say_is_said_and_the_larger_code_counts(compare, judge):
    judge.error = InsufficientDataError("two runs are needed", n=1, needed=2)
    for status, failed, expected in (("complete", 0, 6), ("complete", 2, 6)):
        code, said, complaint = compare(status=status, failed=failed)
        assert (code, said) == (expected, "")
        assert complaint.count("fairtrial: two runs are needed") == 1


def test_an_interruption_before_anything_is_known_keeps_what_is_there(compare, judge, tmp_path):
    judge.error = InsufficientDataError("two runs are needed", n=1, needed=2)
    code, said, complaint = compare(status="interrupted")
    assert (code, said) == (130, "")
    assert "stopped by you after 4 runs, before anything could be said; all are kept" in complaint
    words = " ".join(complaint.replace("\\", "").split())
    assert words.endswith(f"next fairtrial compare --resume {tmp_path} goes on")


def test_a_reader_who_has_gone_changes_no_exit_code(compare):
    class Gone(io.StringIO):
        def fileno(self):
            raise OSError

        def write(self, text=""):
            raise BrokenPipeError

        flush = write

    assert compare(failed=1, out=Gone())[0] == 1


def test_a_host_that_is_busy_is_told_by_the_option(compare):
    error = HostError(
        "another trial measures on CPU 1", "isolation.cpus", "name other CPUs under isolation.cpus"
    )
    code, _, complaint = compare(error=error)
    assert code == 3
    assert "--cpus: another trial measures" in complaint
    assert "isolation" not in complaint


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("-q",), "there is no command to measure"),
        (("--resume", "runs/x", "true"), "there is none to name"),
        (("--resume=runs/x", "true"), "there is none to name"),
        (("--resume", "--margin", "3%"), "--margin is chosen when a comparison begins"),
        # seen: each of these was taken, and did nothing
        (("--resume", "--timeout", "3"), "--timeout is chosen when a comparison begins"),
        (("--resume", "-L", "n", "1,2"), "--parameter-list is chosen when a comparison begins"),
        (("true", "-n", "a", "-n", "b"), "2 names for 1 command fix"),
        (("--resume", "-N"), "--no-shell is chosen when a comparison begins"),
        (("--resume", "--seed", "7"), "--seed is chosen when a comparison begins"),
        (("--try", "true", "--seed", "7"), "once, without --seed"),
        (("--try", "true", "--dir", "x"), "once, without --dir"),
        (("--try", "true", "--share"), "once, without --share"),
        (("--try", "true", "--wait-for-lock"), "once, without --wait-for-lock"),
        (("--try", "true", "false"), "--try executes one command once, without further commands"),
        (("--try", "true {n}", "-L", "n", "1,2"), "once, without --parameter-list"),  # a crash
        (("--try", "true", "--for", "5s"), "once, without --for fix"),
        (("--try", "sleep 9", "--timeout", "0.1"), "once, without --timeout"),
        (("--try", "true", "--json"), "once, without --json"),
        (("--for", "soon", "true"), "90s"),
        (("-r", "3", "--for", "5s", "true"), "--runs and --for cannot be combined"),
    ],
)
def test_what_contradicts_itself_is_refused(compare, words, says):
    code, said, complaint = compare(*words)
    assert (code, said) == (2, "")
    assert says in re.sub(r"\s+", " ", complaint)


def test_an_attempt_shows_what_a_command_prints(compare, judge, capfd, tmp_path):
    assert compare("--try", "sh -c 'echo out; echo err >&2; exit 3'")[:2] == (1, "")
    shown = capfd.readouterr()
    assert (shown.out, shown.err.splitlines()[0]) == ("out\n", "err")
    assert compare("--try", "sh -c 'exit 3'", "--exit", "3")[0] == 0
    code, _, complaint = compare("--output", str(tmp_path / "no" / "f"), "true")
    assert (code, "fix: make its folder" in complaint) == (4, True)  # there was no fix
    (tmp_path / "script").write_text("# no interpreter\n")
    (tmp_path / "script").chmod(0o755)
    code, said, complaint = compare("--try", "./script")  # a crash
    assert (code, said, "#!" in complaint) == (4, "", True)
    assert judge.asked == []


def test_a_hook_that_fails_is_told_by_what_was_typed(compare, tmp_path):
    # seen: a temporary campaign.yaml, line 15, and a line for a shell
    error = CommandFailedError(
        f"hook 'setup' failed with exit code 1: /bin/sh -c cd {tmp_path} || exit\nmake data",
        "--setup",
        "read LOG; if it needs more time, raise hooks.timeout",
    )
    code, _, complaint = compare(error=error)
    assert code == 4
    assert (
        "--setup: hook 'setup' failed with exit code 1: make data\n  fix: read LOG\n" in complaint
    )
