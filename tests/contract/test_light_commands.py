"""Who measures loads no numbers library: `run`, `status` and `doctor` import neither numpy nor scipy.

The stopping rule is the exception, for it judges while it measures; it shows that the test sees an import.
Options and help need the standard library alone: a wheel is built, with the pages made of them, where nothing is installed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CAMPAIGN = {
    "name": "light",
    "variants": {"a": {}, "b": {}},
    "benchmarks": {"one": {"command": ["true"]}},
    "protocol": {"sessions": 1, "runs": 3, "warmup": 0},
    "isolation": {"cpus": "none"},
}
HEAVY = ("numpy", "scipy", "numba", "matplotlib", "jinja2", "joblib")
CODE = f"""
import sys
from harness.cli import main
code = max(main(words.split(), sys.stdout, sys.stderr) for words in sys.argv[1:])
print(code, *[name for name in {HEAVY} if name in sys.modules])
"""
HELP = """
import argparse, sys; sys.path.insert(0, sys.argv[1])
from harness.cli import main
from analysis.registry import commands
from harness.commands.command_parser import parser_of
main(["--help"], sys.stderr, sys.stderr)
waiting = [parser_of([name]) for name in commands()]
print(len(waiting))
for parser in waiting:
    parser.format_help()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            waiting += action.choices.values()
"""


def imported(folder, *commands):
    """Execute commands in a new interpreter; give the largest exit code and what is imported at its end."""
    command = [sys.executable, "-c", CODE, *commands]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    code, *names = done.stdout.splitlines()[-1].split()
    return int(code), names


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("light")
    stop = {"stop": {"width": 0.5, "min_runs": 3, "max_runs": 4}}
    protocol = {"sessions": 1, "warmup": 0} | stop
    (folder / "c.yaml").write_text(json.dumps(CAMPAIGN))
    (folder / "stop.yaml").write_text(json.dumps(CAMPAIGN | {"protocol": protocol}))
    return folder


def test_measuring_and_looking_at_it_import_nothing_heavy(lab):
    code, names = imported(lab, "run c.yaml", "status", "doctor c.yaml")
    assert code in {0, 3}  # of doctor
    assert names == []


def test_the_stopping_rule_does(lab):
    code, names = imported(lab, "run stop.yaml --dir stopped")
    assert code == 0
    assert "numpy" in names


def test_options_and_help_of_all_commands_need_the_standard_library_alone():
    command = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        HELP,
        str(Path(__file__).parents[2]),
    ]  # nothing that is installed
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) > 25
