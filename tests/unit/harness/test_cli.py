"""The one way in and out: exit codes, what is said of an error, streams that are closed or in the way."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shutil
import signal
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.announcing import about
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
from harness.commands.command_parser import EXIT_CODES, CommandParser
from harness.errors import (
    HostError,
    LauncherDiedError,
    LaunchError,
    clock,
    counted,
    duration,
    moment,
    size,
    wrapped,
)
from harness.launch.matching import Interrupted

ROOT = Path(__file__).parents[3]
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
    """Put streams of one's own in the place of the three; the handlers of signals stay pytest's."""
    monkeypatch.setattr("signal.signal", lambda *_: None)

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
NO_FILES = (
    OSError(errno.EMFILE, FULL),
    OSError(errno.ENFILE, os.strerror(errno.ENFILE)),
    ImportError(f"libfoo.so: cannot open shared object file: {FULL}"),
)
NO_MEMORY = (
    *(MemoryError(), OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))),
    ImportError("libfoo.so: failed to map segment from shared object"),
)
NO_ROOM = (
    OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']"),
)


@pytest.mark.parametrize(
    ("error", "lack"),
    [
        *((error, f"no more files can be opened: {error}") for error in NO_FILES),
        *((error, "there is no more memory") for error in NO_MEMORY),
        *((error, f"a temporary file cannot be written: {error}") for error in NO_ROOM),
    ],
    ids=repr,
)
def test_what_the_process_has_no_more_of_is_said(does, monkeypatch, streams, error, lack):
    does(raising(error))
    streams(io.StringIO(), of_bytes(), of_bytes())
    assert console(monkeypatch, "x") == 3
    said = written(sys.stderr)
    assert said.startswith(f"fairtrial: {lack}\n  fix: ")
    assert "--resume" in said


def test_a_folder_that_is_gone_and_a_umask_that_takes_all_rights_are_no_bugs(
    does, monkeypatch, streams, tmp_path
):
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()
    before = os.umask(0o777)
    try:
        for act, lack in (
            (lambda _out: os.getcwd(), "the current folder was removed"),  # noqa: PTH109
            (raising(PermissionError(errno.EACCES, "no")), "the umask 777 takes the rights of new"),
        ):
            does(act)
            streams(io.StringIO(), of_bytes(), of_bytes())
            assert console(monkeypatch, "x") == 3
            assert written(sys.stderr).startswith(f"fairtrial: {lack}")
    finally:
        os.umask(before)


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(
    ("main", "code"),
    [
        ("lambda *_: exec(kill)", 130),  # inside a text that is executed, as by dataclasses
        ("(signal.signal(NUMBER, signal.SIG_IGN), lambda *_: exec(kill) or 5)[1]", 5),  # nohup
        ("lambda *_: sys.modules.update(last=Last()) or 5", 5),  # while Python ends
    ],
)
def test_a_signal_asks_every_command_to_stop(tmp_path, main, code, number):
    text = f"""if True:
    import os, signal, sys
    from harness import cli
    NUMBER = {number:d}
    kill = f"os.kill({{os.getpid()}}, {{NUMBER}})"
    class Last:
        def __del__(self, kill=os.kill, pid=os.getpid(), number=NUMBER):
            kill(pid, number)
    cli.main = {main}
    cli.console()"""
    (tmp_path / "planted.py").write_text(text)
    command = [sys.executable, "-m", "planted"]
    done = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, "")


def test_a_limit_of_files_leaves_no_half_of_a_module_for_the_next_start(tmp_path):
    for room in ("harness", "analysis"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    start = [sys.executable, "-m", "harness", "run", ROOT / "configs/quickstart.yaml", "--dry-run"]
    own = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    for limit in ("40", "unlimited"):  # of half a kB, or a whole one
        command = ["sh", "-c", f'ulimit -f {limit}; exec "$@"', "sh", *start]
        done = subprocess.run(command, check=False, cwd=tmp_path, env=own, capture_output=True)
        assert done.returncode == 0, done.stderr


WRITTEN = {
    duration: (
        *((0.0, "0 ns"), (2.5e-8, "25 ns"), (1e-6, "1.00 µs"), (0.0123, "12.3 ms")),
        *((0.123456, "123 ms"), (1.0, "1.00 s"), (59.94, "59.9 s"), (3600.0, "3600 s")),
        # Rounding must not invent a fourth digit or an overfull unit.
        *((0.0099996, "10.0 ms"), (0.9999, "1.00 s"), (0.99949, "999 ms"), (99.96, "100 s")),
        (9.997e-7, "1.00 µs"),
    ),
    clock: (
        *((0, "0:00"), (59.6, "1:00"), (61, "1:01"), (3599, "59:59"), (3600, "1:00:00")),
        (90000, "25:00:00"),
    ),
    about: ((0.2, "about 1 s"), (89, "about 89 s"), (90, "about 2 min"), (5400, "about 1.5 h")),
    size: (
        *((0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (82e9, "82 GB"), (3e12, "3 TB")),
        *((81_234_567_890, "81.2 GB"), (999_600, "1 MB"), (999_700_000_000, "1 TB")),
        # 999.5 is the least that three digits round to 1000
        *((999_499, "999 kB"), (999_499_000, "999 MB"), (999_499_000_000, "999 GB")),
        *((999_500, "1 MB"), (999_500_000, "1 GB"), (999_500_000_000, "1 TB")),
    ),
    moment: (
        ("2026-11-21T08:43:55.502375Z", "2026-11-21 08:43:55 UTC"),
        ("2026-11-21T08:43:55Z", "2026-11-21 08:43:55 UTC"),
        # of a time without a zone, or of another one, nothing is claimed
        *((one, one) for one in ("2026-11-21T08:43:55", "2026-11-21T08:43:55+01:00", "junk", "")),
    ),
}


@pytest.mark.parametrize(
    ("write", "value", "text"), [(one, *pair) for one, pairs in WRITTEN.items() for pair in pairs]
)
def test_times_and_sizes_are_written_with_a_fitting_unit(write, value, text):
    assert write(value) == text


def test_nouns_follow_their_number():
    assert [counted(n, "page") for n in (0, 1, 2, 1200)] == [
        *("0 pages", "1 page", "2 pages", "1,200 pages")
    ]


def test_a_text_is_set_in_lines_and_no_word_is_broken():
    assert wrapped("a well-known unbreakable word", "- ", "  ", 9) == [
        *("- a", "  well-known", "  unbreakable", "  word")
    ]


# --- mistakes of a campaign -----------------------------------------------------------------------

SHORT = Problem(what="'name' is missing", where="c.yaml:1:1")
LONG = Problem(
    what="unknown key 'x'", where="c.yaml:2:1", excerpt="  x: 1\n  ^", fix="known here: y"
)


def test_a_problem_is_its_place_its_line_and_its_remedy_as_far_as_there_are_any():
    assert str(SHORT) == "c.yaml:1:1: 'name' is missing"
    assert str(LONG).splitlines() == [
        *("c.yaml:2:1: unknown key 'x'", "  x: 1", "  ^", "  fix: known here: y")
    ]


def test_an_error_of_a_campaign_tells_every_problem_and_its_number():
    assert str(CampaignError([LONG, SHORT])).splitlines() == [
        *(*str(LONG).splitlines(), str(SHORT), "2 problems; nothing was executed.")
    ]
    assert str(CampaignError([SHORT])).endswith("\n1 problem; nothing was executed.")


def test_an_error_of_a_campaign_is_its_first_problem_to_who_shows_one():
    error = CampaignError([LONG, SHORT])
    assert (error.what, error.where, error.fix) == (LONG.what, LONG.where, LONG.fix)
    assert error.problems == (LONG, SHORT)


def test_the_errors_have_the_exit_codes_of_the_help():
    assert EXIT_CODES[CampaignError.exit_code] == "the command line or the campaign is wrong"
    assert EXIT_CODES[HostError.exit_code].startswith("this host ")
    assert EXIT_CODES[LaunchError.exit_code].startswith("a program could not be started")
    assert LauncherDiedError.exit_code == LaunchError.exit_code


def test_a_number_and_its_per_cent_stay_on_one_line():
    lines = wrapped("so it is at a spread of 5 % of all", "", "  ", 26)
    assert lines == ["so it is at a spread of", "  5 % of all"]
