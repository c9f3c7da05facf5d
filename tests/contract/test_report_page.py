"""What docs/report.md says of the report is so: its commands, its endings, its commands of LaTeX."""

from __future__ import annotations

import io
import re
import shlex
import shutil
from pathlib import Path

import pytest

from analysis.commands.report import _ENDINGS, _FORMATS
from harness.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
COMMANDS = [
    line.partition("#")[0].strip()
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "tests" / "data" / "sample-0.2.0", tmp_path / "runs" / "sample")
    (tmp_path / "paper").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_of_the_page_writes_what_it_says(command, here):
    out, err = io.StringIO(), io.StringIO()
    words = shlex.split(command)
    assert words[:2] == ["fairtrial", "report"]
    assert main(words[1:], out, err) == 0, err.getvalue()
    named = words[words.index("-o") + 1] if "-o" in words else None
    written = [name for name in out.getvalue().splitlines() if (here / name).is_file()]
    assert (named in written) if named else ("faster" in out.getvalue())


def test_there_are_commands():
    assert len(COMMANDS) >= 6


def test_each_form_and_each_ending_is_in_the_table():
    rows = dict(re.findall(r"^\| `(\w+)` \| ((?:`\.\w+`(?:, )?)+) \|", PAGE, re.MULTILINE))
    assert tuple(rows) == _FORMATS
    told = {ending: form for form, cell in rows.items() for ending in re.findall(r"\.\w+", cell)}
    assert told == _ENDINGS


def test_the_commands_of_latex_are_there(here):
    assert main(["report", "runs/sample", "-o", "r.tex"], io.StringIO(), io.StringIO()) == 0
    numbers = (here / "numbers.tex").read_text("utf-8")
    named = set(re.findall(r"\\(ft[A-Za-z]+)", PAGE))
    assert len(named) >= 4
    for name in named:
        assert f"\\newcommand{{\\{name}}}" in numbers


def test_every_option_of_the_command_is_named(capsys):
    main(["report", "--help"], io.StringIO(), io.StringIO())
    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help"}
    assert {name for name in options if name not in PAGE} == {"--output", "--quiet"}
