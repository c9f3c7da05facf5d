"""Each command stands once in the list, each option once in the table; all else is made of them.

Authority: `analysis.options`: an option touches its row and the function that reads it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from analysis import options, registry
from analysis.options import FUNCTIONS, options_of

ROOT = Path(__file__).parents[2]
ASKED = """
import sys
from docs.distribution.completion import script
from docs.distribution.man_pages import pages
from harness.cli import main
main(["init", "--help"], sys.stdout, sys.stdout)
print("==")
print(pages()["fairtrial-init.1"].replace("\\\\", ""), *map(script, ("bash", "zsh", "fish")), sep="\\n==\\n")
print("==")
main(["init", "--loud", "3", "c.yaml"], sys.stdout, sys.stdout)
"""
MODULES = {name: registry.load(one.module).__name__ for name, one in registry.commands().items()}


def test_the_list_names_the_module_of_each_command_that_is_made():
    assert {name: one.function.__module__ for name, one in FUNCTIONS.items()} == MODULES
    found = {one.file for one in registry.commands().values() if one.file}  # each such file is one
    assert found == {*registry.shipped("analysis/methods").glob("[!_]*.py")}


def test_every_parameter_has_a_row_and_every_row_a_parameter():
    named = {name: [one.names for one in options_of(name)] for name in registry.commands()}
    assert all(len(set(each)) == len(each) for each in named.values())  # and no LookupError
    common = set(options._rows(""))
    for name in registry.commands():
        taken = {one for *_, each in options._parts(FUNCTIONS[name].function) for one in each}
        assert set(options._rows(name)) <= taken, name
        common -= taken - set(options._rows(name))
    assert common == set()  # a row of several commands that none has is one too many


def notes_of(function):
    """Give the annotation of each parameter of a command, those in its classes too."""
    notes = dict(function.__annotations__)
    for _, kind, _ in options._parts(function):
        for home in reversed(kind.__mro__ if kind else ()):
            notes |= vars(home).get("__annotations__", {})
    return notes


def test_every_command_prints_json_and_can_be_quiet():
    # seen: report, plot, init and completion had no --json, commands that judge no --quiet
    for name in registry.commands():
        assert {"--json", "--quiet"} <= {word for one in options_of(name) for word in one.names}


@pytest.mark.parametrize("name", registry.commands())
def test_a_parameter_is_annotated_as_its_row_reads_words(name):
    notes = {"quiet": "bool"} | notes_of(FUNCTIONS[name].function)
    for names, settings, *_ in options_of(name):
        read = settings.get("type")
        returned = getattr(read, "__annotations__", {}).get("return")
        note = notes[settings.get("dest", names[0])]
        several = settings.get("nargs", "?") != "?" or settings.get("action") == "append"
        assert ("list" in note) == several, names
        assert (note == "bool") == (settings.get("action") == "store_true"), names
        assert ("Path" in note) == (read is Path or returned == "Path"), names
        assert read is not int or "int" in note, names


def test_an_option_touches_its_row_and_the_function_that_reads_it(tmp_path):
    for folder in ("analysis", "harness", "docs/distribution"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for place, old, new in (
        ("analysis/option_rows.py", "[init]\n", "[init]\n--loud N  int = 1\n    say it N times\n"),
        ("harness/commands/first_steps.py", "path: Path, json", "path: Path, loud: int, json"),
        (
            "harness/commands/first_steps.py",
            "    from analysis.errors",
            '    err.write("hear! " * loud)\n    from analysis.errors',
        ),
    ):
        text = (tmp_path / place).read_text()
        assert old in text
        (tmp_path / place).write_text(text.replace(old, new, 1))
    asked = [sys.executable, "-c", ASKED]
    env = {"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        asked, cwd=tmp_path, env=env, check=True, stdout=subprocess.PIPE, text=True
    )
    helped, *scripts, told = done.stdout.split("==\n")
    assert "--loud N" in helped
    assert "say it N times (default: 1)" in helped
    assert len(scripts) == 4
    assert all("loud" in one for one in scripts)
    assert told.startswith("hear! hear! hear! wrote c.yaml")
