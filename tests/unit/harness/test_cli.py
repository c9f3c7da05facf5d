"""The one way in and out: exit codes, what is said of an error, streams that are closed or in the way."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from importlib.machinery import PathFinder
from types import SimpleNamespace

import pytest

from analysis.errors import (
    AnalysisError,
    CampaignError,
    FairtrialError,
    Problem,
    StoreError,
    UsageError,
)
from harness import cli
from harness.commands import command_parser
from harness.commands.command_parser import CommandParser
from harness.errors import HostError, LaunchError
from harness.launch.matching import Interrupted

WRONG = Problem(what="unknown key 'x'", where="c.yaml:1:1")


@pytest.fixture
def does(monkeypatch):
    """Put a command in the place of all others: it does what it is told to."""

    def set_up(act):
        def run(args, out, err):
            del args, err
            return act(out)

        parser = CommandParser()
        parser.add_argument("words", nargs="*")
        parser.set_defaults(run=run)
        monkeypatch.setattr(command_parser, "parser_for", lambda word: parser)

    return set_up


def execute(*words):
    out, err = io.StringIO(), io.StringIO()
    return cli.main(words, out, err), out.getvalue(), err.getvalue()


def raising(error):
    def act(out):
        raise error

    return act


# --- how a command ends ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code"),
    [
        # the codes that the help promises
        *((UsageError("w"), 2), (CampaignError([WRONG]), 2), (HostError("w"), 3)),
        *((LaunchError("w"), 4), (StoreError("w"), 5), (AnalysisError("w"), 6)),
        *((FairtrialError("w"), 70), (KeyboardInterrupt(), 130), (Interrupted(15), 130)),
        *((ZeroDivisionError(), 70), (SystemExit(5), 5), (SystemExit("in words"), 2)),
        (BrokenPipeError(), 0),  # the reader went before there was a code
    ],
    ids=repr,
)
def test_every_kind_of_error_has_its_exit_code(does, error, code):
    does(raising(error))
    assert execute("x")[0] == code


def test_what_a_command_answers_is_the_exit_code_and_its_output_is_out(does):
    does(lambda out: out.write("seen\n"))  # of five characters
    beneath = io.BytesIO()
    out = io.TextIOWrapper(beneath, encoding="utf-8", newline="\n")
    assert cli.main(["x"], out, io.StringIO()) == 5
    assert beneath.getvalue() == b"seen\n"


def test_a_usage_error_stands_alone_and_others_name_the_program(does):
    does(raising(UsageError("no such thing", "here", "look")))
    assert execute("x")[2] == "here: no such thing\n  fix: look\n"
    does(raising(StoreError("no such thing", "here", "look")))
    assert execute("x")[2] == "fairtrial: here: no such thing\n  fix: look\n"
    does(raising(UsageError("max_runs must lie between 1 and 9")))  # seen of --max-runs
    assert execute("x", "--", "--max-runs=0")[2] == "--max-runs must lie between 1 and 9\n"


def test_further_findings_are_told_each_with_its_remedy(does):
    error = HostError("the first thing", "host", "do it")
    error.findings = tuple(
        SimpleNamespace(status="fail", check=check, what=f"is {check}", fix=fix)
        for check, fix in (("first", "do it"), ("second", "do more"), ("third", None))
    )
    does(raising(error))
    assert execute("x")[2].splitlines() == [
        *("fairtrial: host: the first thing", "  fix: do it"),
        *("  fail second: is second", "       fix: do more", "  fail third: is third"),
    ]


def test_a_bug_says_where_it_is(does):
    does(raising(ZeroDivisionError("over nothing")))
    lines = execute("x")[2].splitlines()
    assert lines[0].startswith("Traceback")
    assert lines[-2:] == [
        "ZeroDivisionError: over nothing",
        "fairtrial: this is a bug in fairtrial; please report the lines above",
    ]


@pytest.fixture
def unread():
    """Give a stream into a pipe that nobody reads, as behind `| head`."""
    reading, writing = os.pipe()
    os.close(reading)
    stream = os.fdopen(writing, "w", encoding="utf-8")
    yield stream
    with contextlib.suppress(BrokenPipeError):
        stream.close()


def test_a_reader_that_has_gone_is_no_error_and_the_code_stays(does, unread):
    def act(out):
        out.write("much")
        return 7

    does(act)
    err = io.StringIO()
    assert cli.main(["x"], unread, err) == 7
    assert err.getvalue() == ""
    unread.flush()  # as Python does at its end: this goes nowhere


def test_after_an_error_nothing_is_left_for_a_reader_that_has_gone(does, unread):
    def act(out):
        out.write("much")
        raise StoreError("w")

    does(act)
    assert cli.main(["x"], unread, io.StringIO()) == 5
    unread.flush()


def test_another_package_of_our_name_is_refused_with_its_place(monkeypatch, tmp_path):
    assert cli._other_analysis() is None
    (tmp_path / "analysis").mkdir()
    foreign = tmp_path / "analysis" / "__init__.py"
    foreign.touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert PathFinder.find_spec("analysis").origin == str(foreign)
    code, out, err = execute("--version")
    assert (code, out) == (2, "")
    assert err.splitlines()[0] == (
        f"fairtrial: another package named 'analysis' is found first: {foreign}"
    )
    assert "  fix: use the 'fairtrial' command" in err


# --- the installed command ------------------------------------------------------------------------


def console(monkeypatch, *words):
    """Be the installed command; give its exit code."""
    monkeypatch.setattr(sys, "argv", ["fairtrial", *words])
    with pytest.raises(SystemExit) as ended:
        cli.console()
    return ended.value.code


def of_bytes(encoding="ascii"):
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")


def written(stream):
    stream.flush()
    return stream.buffer.getvalue().decode("ascii")


@pytest.fixture
def streams(monkeypatch):
    """Put streams of one's own in the place of the three."""

    def put(stdin, stdout, stderr):
        for name, stream in (("stdin", stdin), ("stdout", stdout), ("stderr", stderr)):
            monkeypatch.setattr(sys, name, stream)

    return put


def test_the_first_word_of_the_command_line_is_the_command(monkeypatch, streams):
    streams(io.StringIO(), of_bytes(), of_bytes())
    assert console(monkeypatch, "--version") == 0
    assert written(sys.stdout).startswith("fairtrial ")


def test_streams_that_were_closed_are_replaced_and_others_stay(monkeypatch, streams):
    out = of_bytes()
    streams(None, out, None)
    assert console(monkeypatch, "--version") == 0
    assert sys.stdout is out
    with sys.stdin as stdin, sys.stderr as stderr:
        assert stdin.read() == ""
        assert stderr.write("to nobody") == 9


def test_a_terminal_that_cannot_show_a_sign_gets_it_written_out(monkeypatch, streams):
    def main(argv, out, err):
        out.write("2 × 3")
        err.write("a · b")
        return 0

    monkeypatch.setattr(cli, "main", main)
    streams(io.StringIO(), of_bytes(), of_bytes())
    assert console(monkeypatch) == 0
    assert (written(sys.stdout), written(sys.stderr)) == (r"2 \xd7 3", r"a \xb7 b")
    streams(io.StringIO(), io.StringIO(), io.StringIO())  # no bytes, and nothing to set
    assert console(monkeypatch) == 0
    assert sys.stdout.getvalue() == "2 × 3"


FULL = os.strerror(errno.EMFILE)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EMFILE, FULL),
        OSError(errno.ENFILE, os.strerror(errno.ENFILE)),
        ImportError(f"libfoo.so: cannot open shared object file: {FULL}"),
    ],
    ids=repr,
)
def test_where_no_more_files_can_be_opened_that_is_said(does, monkeypatch, streams, error):
    does(raising(error))
    streams(io.StringIO(), of_bytes(), of_bytes())
    assert console(monkeypatch, "x") == 3
    said = written(sys.stderr)
    assert said.startswith(f"fairtrial: no more files can be opened: {error}\n")
    assert "--resume" in said


@pytest.mark.parametrize("error", [OSError(errno.EIO, "bad disk"), ImportError("no module x")])
def test_another_error_of_the_start_is_not_hidden(monkeypatch, streams, error):
    def main(argv, out, err):
        raise error

    monkeypatch.setattr(cli, "main", main)
    monkeypatch.setattr(sys, "argv", ["fairtrial"])
    streams(io.StringIO(), io.StringIO(), io.StringIO())
    with pytest.raises(type(error), match=str(error.args[-1])):
        cli.console()
    assert sys.stderr.getvalue() == ""


def test_ctrl_c_before_anything_began_is_an_interruption(monkeypatch, streams):
    def main(argv, out, err):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", main)
    streams(io.StringIO(), io.StringIO(), io.StringIO())
    assert console(monkeypatch) == 130
