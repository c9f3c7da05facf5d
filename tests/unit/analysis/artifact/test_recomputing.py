"""Commands of a bundle: which are executed, how they end, and that they end with their limits and with whoever started them."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.artifact import recomputing, recomputing as limited
from analysis.artifact.recomputing import (
    COMMANDS,
    OPTIONS,
    Commands,
    LimitReachedError,
    Limits,
    fault_of_command,
    recompute,
)
from analysis.errors import AnalysisError, UsageError
from harness.cli import main
from harness.commands.command_parser import parser_of
from tests import processes

ROOT = Path(__file__).resolve().parents[4]
# what writes a file, or gives no answer
OTHERS = {"--output", "-o", "--plot", "--plots", "--junit", "--summary", "--help", "-h"}
OTHERS |= {"--dask"}  # what leaves this host
# of programs that are executed, and of a command's own words about that
OTHERS |= {"--sessions", "--frequency", "--chains", "--wait-for-lock", "--folded"}
OTHERS |= {"--quiet", "-q", "-v"}
OTHERS |= {"--font-family", "--font-size"} - OPTIONS


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    found: set[str] = set()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found = found.union(*(options_of(one) for one in action.choices.values()))
        found |= set(action.option_strings)
    return found


def test_each_option_of_these_commands_is_known_as_reading_or_not():
    there = set().union(*(options_of(parser_of([name])) for name in COMMANDS)) - {"--version"}
    assert there - OTHERS == OPTIONS
    assert there >= OTHERS


def test_no_option_that_names_a_file_to_write_is_allowed():
    for name in COMMANDS:
        for action in parser_of([name]).commands[name]._actions:
            if action.metavar in {"FILE", "DIR", "FOLDER"} and action.option_strings:
                assert action.option_strings[-1] in OTHERS | {"--certificate"}


@pytest.mark.parametrize(
    "command",
    [
        "verdict trials/x --json",
        "verdict trials/x:a --explain --json --confidence 0.9 --margin=0.02",
        "diagnose trials/x --json",
        "resample sources/a.csv sources/b.csv --seed 3 --better lower",
        "study power sources/a.csv",
        "plan trials/x --effect -1",
        "sources trials/x trials/y --resamples 99 --seed 3 --json",
        "diff trials/x trials/y --exit-code --json",
        "why trials/x:a --stored --benchmark b --rename old=new --any --json",
        "sources sources/t.csv --response y --group vendor --ignore a,b --variation sd --runs 5",
    ],
)
def test_what_reads_and_prints_is_executed(command):
    assert fault_of_command(command.split()) is None


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("", "nothing"),
        ("run campaigns/x/campaign.yaml", "none of"),
        ("merge a b -o c", "none of"),
        ("import x -o y", "none of"),
        ("calibrate x", "none of"),
        ("why trials/x --json", "executes programs"),
        ("why trials/x --stored=1", "executes programs"),
        ("why trials/x --sto", "executes programs"),
        ("why trials/x --stored --folded x", "only read"),
        ("--version", "none of"),
        ("report trials/x -o ../../evil", "only read"),
        ("report trials/x -oevil", "only read"),
        ("report trials/x --output=evil", "only read"),
        ("report trials/x --outp evil", "only read"),
        ("report trials/x --plots .", "only read"),
        ("gate a --junit=x", "only read"),
        ("sources a.csv --response y --plot x.svg", "only read"),
        ("verdict /etc/passwd", "leads out"),
        ("verdict trials/../../x", "leads out"),
        ("verdict ..", "leads out"),
        ("verdict ~/x", "leads out"),
        ("verdict a --certificate=/x", "leads out"),
        ("verdict a:../b", "leads out"),
        ("verdict trials/\ud800", "not text"),
    ],
)
def test_everything_else_is_refused(command, what, commands):
    assert what in str(fault_of_command(command.split()))
    with pytest.raises(UsageError, match="not executed"):
        recompute(command.split(), Path(), commands)


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(ROOT / "tests" / "data" / "sample-0.2.0", tmp_path / "trials" / "sample")
    return tmp_path


def test_an_answer_is_what_the_command_prints_whoever_asks(folder, commands, monkeypatch):
    command = ("verdict", "trials/sample", "--json")
    monkeypatch.chdir(folder)
    out = io.StringIO()
    assert main(list(command), out, io.StringIO()) == 0
    monkeypatch.setenv("LC_ALL", "de_DE.ISO-8859-1")
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary"))
    monkeypatch.setenv("HOME", "/nowhere")
    monkeypatch.setenv("XDG_STATE_HOME", "/nowhere")
    answer = recompute(command, folder, commands)
    assert (answer.stdout.decode(), answer.stderr, answer.exit_code) == (out.getvalue(), b"", 0)
    assert str(folder) not in out.getvalue()


def test_the_code_of_linear_algebra_is_that_of_this_process(monkeypatch):
    # one processor gives other last digits with OPENBLAS_CORETYPE=Haswell than without
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setenv("OWN_SECRET", "x")
    passed = recomputing._surroundings(Path("/home/nobody"))
    assert passed["OPENBLAS_CORETYPE"] == "Haswell"
    assert "OWN_SECRET" not in passed


@pytest.mark.usefixtures("quick_start")
def test_a_command_without_an_answer_says_why(folder, commands):
    with pytest.raises(AnalysisError, match="no such trial"):
        recompute(("verdict", "trials/other", "--json"), folder, commands)


def test_what_the_system_does_not_execute_is_told(folder, commands):
    # one argument of more bytes than Linux passes on; a bundle of anybody may hold it
    with pytest.raises(AnalysisError, match="cannot be executed"):
        recompute(("verdict", "trials/" + "x" * 300_000, "--json"), folder, commands)


_SLEEPS = "import time; time.sleep(600)"


@contextlib.contextmanager
def _commands(place: Path, homes: Path, limits: Limits | None = None) -> Iterator[Commands]:
    with (place / "lock").open("wb") as lock, Commands(homes, lock.fileno(), limits) as commands:
        yield commands


@pytest.fixture
def program(monkeypatch):
    """Execute a text as Python where ``fairtrial`` would be executed."""
    monkeypatch.setattr(limited, "_START", "import sys; exec(sys.argv[2])")


@pytest.fixture
def under(tmp_path):
    """Execute a program under limits, and give how it ended."""
    homes = tmp_path / "homes"
    homes.mkdir()

    def make(text: str, limits: Limits | None = None):
        with _commands(tmp_path, homes, limits) as commands:
            return commands.run([text], tmp_path, lambda home: {"HOME": str(home)})

    return make


@pytest.mark.usefixtures("program")
def test_what_is_printed_and_how_it_ends_come_back(under, tmp_path):
    done = under("import os, sys; print(os.environ['HOME']); print('x', file=sys.stderr); exit(7)")
    home = Path(done.stdout.decode().strip())
    assert home.parent == tmp_path / "homes"
    assert not home.exists()
    assert (done.stderr, done.exit_code) == (b"x\n", 7)


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize(
    ("limits", "fix"),
    [(Limits(total_s=0.5), "--timeout"), (Limits(memory_bytes=1000), "--max-memory")],
)
@pytest.mark.parametrize("deaf", [False, True])
def test_a_limit_ends_a_command_and_all_that_it_started(under, limits, fix, deaf):
    marker = f"marker-{os.getpid()}-{deaf}-{fix}"
    child = f"{_SLEEPS}  # {marker}"
    if deaf:
        child = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {child}"
    text = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {child!r}])"
    with pytest.raises(LimitReachedError) as raised:
        under(text, limits)
    assert raised.value.fix.endswith(fix)
    processes.wait_until(lambda: not processes.processes_with(marker))


@pytest.mark.usefixtures("program")
def test_memory_is_counted_with_that_of_children_and_no_other_command_is_ended(tmp_path):
    fill = "x = b'1' * 150_000_000; import time; time.sleep(600)"
    large = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {fill!r}])"
    small = f"import pathlib, time\nwhile not pathlib.Path({str(tmp_path / 'go')!r}).exists(): time.sleep(.01)"
    limits = Limits(memory_bytes=150_000_000)
    ended = []

    def work(commands: Commands, text: str) -> object:
        try:
            return commands.run([text], tmp_path, lambda _: {})
        except LimitReachedError as error:
            (tmp_path / "go").touch()
            ended.append(error)
            return error

    with _commands(tmp_path, tmp_path, limits) as commands:
        threads = [threading.Thread(target=work, args=(commands, one)) for one in (large, small)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    (error,) = ended  # the small one came to its end
    assert "memory" in error.what


@pytest.mark.usefixtures("program")
def test_a_file_may_have_a_gigabyte(under):
    # authority: the table of limits in docs/artifacts.md
    done = under(
        "import resource, time\n"
        "told = lambda: resource.getrlimit(resource.RLIMIT_FSIZE)\n"
        "while told()[1] == resource.RLIM_INFINITY: time.sleep(.01)\n"
        "print(*told())"
    )
    assert done.stdout.split() == [b"1000000000"] * 2


@pytest.mark.usefixtures("program")
def test_a_file_cannot_grow_without_end(under, monkeypatch):
    monkeypatch.setattr(limited, "_MOST_WRITTEN", 10_000)
    done = under(
        "import resource, time\n"
        "while resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 10_000: time.sleep(.01)\n"
        "while True: print('x' * 1000, flush=True)"
    )
    assert done.exit_code
    assert b"too large" in done.stderr
    assert len(done.stdout) <= 10_000


@pytest.mark.usefixtures("program")
def test_what_goes_wrong_in_one_ends_the_others(tmp_path):
    marker = f"marker-{os.getpid()}-others"

    def work(text: str) -> None:
        if text:
            commands.run([f"{text}  # {marker}"], tmp_path, lambda _: {})
        else:
            processes.wait_until(lambda: processes.processes_with(marker))
            raise KeyError(marker)

    with _commands(tmp_path, tmp_path) as commands, pytest.raises(KeyError):
        commands.each(work, ["", _SLEEPS, _SLEEPS, _SLEEPS], most=2, what="results")
    assert processes.processes_with(marker) == []


def test_a_command_ends_with_a_parent_that_was_killed(tmp_path):
    """The real start, of a package that waits for ever."""
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "__main__.py").write_text(_SLEEPS)
    (tmp_path / "harness" / "__init__.py").touch()
    (tmp_path / "homes").mkdir()
    marker = f"marker-{os.getpid()}-orphan"
    text = (
        "import sys; from pathlib import Path; from analysis.artifact.recomputing import Commands\n"
        "place = Path(sys.argv[1]); lock = (place / 'lock').open('wb')\n"
        "with Commands(place / 'homes', lock.fileno()) as commands:\n"
        f"    commands.run([{marker!r}], place, lambda _: {{'PYTHONPATH': str(place)}})\n"
    )
    process = subprocess.Popen([sys.executable, "-c", text, str(tmp_path)])
    (child,) = processes.wait_until(lambda: processes.processes_with(marker))
    process.send_signal(signal.SIGKILL)
    process.wait()
    processes.wait_until(lambda: not processes.command_line(child))
