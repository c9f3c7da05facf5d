"""Every command and option stands in its help, in the completion scripts and on its manual page.

Authority: the parsers themselves; ``man --warnings`` and ``groff -ww`` for the form of a page.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess

import pytest

from analysis.registry import commands
from docs.distribution.completion import SHELLS, script
from docs.distribution.man_pages import pages
from harness.commands.command_parser import EXIT_CODES, parser_of
from harness.commands.first_steps import PLACES

PARSERS = parser_of(list(commands())).commands
PAGES = pages()


def options_of(name):
    """List the options of a command that are no secret."""
    shown = (one for one in PARSERS[name]._actions if one.help is not argparse.SUPPRESS)
    return {option for action in shown for option in action.option_strings}


@pytest.fixture(scope="module")
def scripts():
    return {shell: script(shell) for shell in SHELLS}


def completed(shell, text, name):
    """List the options that a script completes after a command."""
    word = re.escape(name.replace("-", "_"))
    if shell == "bash":
        (line,) = re.findall(rf"^_shtab_fairtrial_{word}_option_strings=\((.*)\)$", text, re.M)
        return {one.strip("'") for one in line.split()}
    if shell == "zsh":
        (part,) = re.findall(rf"^_shtab_fairtrial_{word}_options=\(\n(.*?)^\)$", text, re.M | re.S)
        first = r'^  (?:"\(- : \*\)")?"?\*?"?(?:\{(-[^}]*)\}|(-[^"\[]*))'
        heads = re.findall(first, part, re.M)
        return {option for pair in heads for one in pair if one for option in one.split(",")}
    lines = re.findall(
        rf"^complete -c fairtrial -n '_shtab_fairtrial_using {name}' (.*)", text, re.M
    )
    pairs = [
        pair
        for line in lines
        for pair in re.findall(r"(?:^| )-([ls]) (\S+)", line.split(" -d ")[0])
    ]
    return {f"{'--' if kind == 'l' else '-'}{option}" for kind, option in pairs}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", PARSERS)
def test_every_option_is_completed_and_none_that_is_hidden(scripts, shell, name):
    assert completed(shell, scripts[shell], name) == options_of(name)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_is_completed_with_its_line_of_the_help(scripts, shell):
    text = scripts[shell]
    if shell == "bash":
        (line,) = re.findall(r"^_shtab_fairtrial_subparsers=\((.*)\)$", text, re.M)
        assert set(line.split()) == {*commands(), "help"}
        return
    for name, command in commands().items():
        (found,) = {line for line in text.splitlines() if command.summary.split("'")[0] in line}
        assert name in found


def test_what_was_left_out_would_be_noticed(scripts):
    bash = scripts["bash"].replace(" --metric", "", 1)
    first = next(name for name in PARSERS if "--metric" not in completed("bash", bash, name))
    assert completed("bash", bash, first) != options_of(first) or "--metric" not in options_of(
        first
    )
    assert any(completed("bash", bash, name) != options_of(name) for name in PARSERS)


def test_every_argument_has_a_line_of_help():
    for name, parser in PARSERS.items():
        assert parser.description, name
        for action in parser._actions:
            assert action.help, f"{name} {action.option_strings or action.dest}"


def plain(troff):
    """Give a page's text without what sets it."""
    text = re.sub(r"\\f[BIR]", "", troff)
    for sign, written in ((r"\-", "-"), (r"\(aq", "'"), (r"\e", "\\"), (r"\&", ""), (r"\(ti", "~")):
        text = text.replace(sign, written)
    return text


def test_every_command_has_a_page_and_stands_on_the_first_one():
    assert set(PAGES) == {"fairtrial.1", *(f"fairtrial-{name}.1" for name in commands())}
    first = plain(PAGES["fairtrial.1"])
    for name, command in commands().items():
        assert f"fairtrial-{name}(1)\n{command.summary}\n" in first
    for code, said in EXIT_CODES.items():
        assert f"{code}\n{said}\n" in first


@pytest.mark.parametrize("name", PARSERS)
def test_every_option_stands_on_the_page_and_in_the_help(name):
    page, text = plain(PAGES[f"fairtrial-{name}.1"]), PARSERS[name].format_help()
    heads = [line for before, line in zip(page.splitlines(), page.splitlines()[1:], strict=False)
             if before == ".TP"]  # fmt: skip
    listed = {one for head in heads for one in re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", head)}
    assert options_of(name) <= listed
    for option in options_of(name):
        assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text)
    for words in re.findall(r"^  (fairtrial .*?)(?:   .*)?(?: \\)?$", text, re.M):
        assert words in page


def test_the_same_version_gives_the_same_bytes():
    assert pages() == PAGES
    assert not any(re.search(r"\b20\d\d-\d\d", text) for text in PAGES.values())
    assert all(text.isascii() for text in PAGES.values())


def test_signs_of_the_setter_are_shown_as_they_are():
    from docs.distribution.man_pages import _text

    assert _text(".it's a\\b - ~^`µ") == r"\&.it\(aqs a\eb \- \(ti\(ha\(ga\[u00B5]"


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
def test_man_reads_the_first_page_and_the_longest_without_a_warning(tmp_path):
    for name in ("fairtrial.1", max(PAGES, key=lambda name: len(PAGES[name]))):
        path = tmp_path / name
        path.write_text(PAGES[name])
        done = subprocess.run(
            ["man", "--warnings", "-E", "UTF-8", "-l", path],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == "", name
        assert "NAME" in done.stdout


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_sets_every_page_without_a_warning_and_finds_a_wrong_one(tmp_path):
    def said(text):
        command = ["groff", "-man", "-ww", "-z", "-Tutf8"]
        return subprocess.run(
            command, input=text, capture_output=True, text=True, check=True
        ).stderr

    assert {name: said(text) for name, text in PAGES.items() if said(text)} == {}
    assert said(PAGES["fairtrial.1"] + ".nosuchmacro x\n") != ""


def test_each_shell_finds_its_script_where_it_looks():
    assert set(PLACES) == set(SHELLS)
