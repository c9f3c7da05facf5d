"""Commands of a bundle: only what reads and prints is executed. The command line is the authority."""

from __future__ import annotations

import argparse
import io
import shutil
from pathlib import Path

import pytest

from analysis.artifact import recomputing
from analysis.artifact.recomputing import COMMANDS, OPTIONS, fault_of_command, recompute
from analysis.errors import AnalysisError, UsageError
from harness.cli import main
from harness.commands.command_parser import parser_of

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
