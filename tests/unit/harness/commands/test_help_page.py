"""The first screens: `fairtrial` alone, `--help` in four groups, the exit codes.

Authority: the rules of the first minute: at most 14 lines for the bare command, a line of at most 72
columns for each command, no list of all commands in one line.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from analysis.record.trial_files import Finding
from analysis.registry import commands
from harness.commands import doctor_page
from harness.commands.command_parser import EXIT_CODES, GROUPS, parser_of as parser_with
from tests.unit.harness.commands.conftest import execute

MEASURING = [name for name, one in commands().items() if one.module.startswith("harness")]
SAMPLE = Path(__file__).parents[3] / "data" / "sample-0.2.0"


def test_help_has_four_groups_and_each_command_once_in_a_line_of_its_own():
    code, said, err = execute("--help")
    assert (code, err) == (0, "")
    assert said == execute("help")[1] == execute("-h")[1]
    lines = said.splitlines()
    assert [line for line in lines if line in GROUPS] == list(GROUPS)
    listed = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(listed) == sorted(commands())
    assert listed[:3] == ["compare", "init", "run"]
    assert max(len(line) for line in lines if line.startswith("  ")) <= 72
    assert max(map(len, lines)) <= 80
    assert "130" not in said
    assert "fairtrial help exit-codes" in said


def test_the_exit_codes_have_a_page_of_their_own():
    code, said, err = execute("help", "exit-codes")
    assert (code, err) == (0, "")
    assert [int(line.split()[0]) for line in said.splitlines()[1:]] == list(EXIT_CODES)
    assert max(map(len, said.splitlines())) <= 80


def test_json_names_the_campaign_that_was_written(tmp_path, monkeypatch, full_disk):
    monkeypatch.chdir(tmp_path)
    with full_disk():  # nothing is left of a half
        assert "File too large" in execute("init", "--json")[2]
    code, said, err = execute("init", "--json")
    assert (code, err, json.loads(said)["written"]) == (0, "", ["campaign.yaml"])
    assert shlex.split(json.loads(said)["next"][0])[:3] == ["fairtrial", "run", "campaign.yaml"]
    assert execute("init", "-q", "c.yaml") == (0, "", "")


def test_help_with_a_command_is_the_help_of_that_command(capsys):
    assert execute("help", "verdict")[0] == 0
    asked = capsys.readouterr().out
    assert execute("verdict", "--help")[0] == 0
    assert capsys.readouterr().out == asked
    assert asked.startswith("usage: fairtrial verdict ")


def test_the_bare_command_shows_three_ways_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, said, err = execute()
    assert (code, err) == (0, "")
    for words in ("compare '", "init ", "run ", "verdict", "--help"):
        assert f"  fairtrial {words}" in said
    assert len(said.splitlines()) <= 14
    assert "next" not in said


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Be in a folder with trials, of which one is damaged and one no trial at all."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(SAMPLE, tmp_path / "runs" / "one")
    (tmp_path / "runs" / "odd").mkdir()
    (tmp_path / "runs" / "odd" / "manifest.json").write_text("{")
    (tmp_path / "runs" / "zz.html").touch()
    return tmp_path / "runs"


def changed(trial, old, new):
    text = (trial / "manifest.json").read_text()
    assert old in text
    (trial / "manifest.json").write_text(text.replace(old, new))


def test_the_bare_command_names_the_newest_trial_and_what_comes_next(runs):
    _, said, _ = execute()
    assert said.endswith("newest trial: runs/one, complete\nnext  fairtrial verdict runs/one\n")
    assert len(said.splitlines()) <= 14
    shutil.copytree(SAMPLE, runs / "a b")
    changed(runs / "a b", '"started": "20', '"started": "29')
    _, said, _ = execute()
    assert said.endswith("newest trial: runs/a b, complete\nnext  fairtrial verdict 'runs/a b'\n")


def test_an_unfinished_trial_is_gone_on_with(runs):
    changed(runs / "one", '"status": "complete"', '"status": "interrupted"')
    _, said, _ = execute()
    head, following = said.splitlines()[-2:]
    assert head == "newest trial: runs/one, interrupted"
    assert following.startswith("next  fairtrial run ")
    assert "--resume --trial runs/one" in following
    changed(runs / "one", '"status": "interrupted"', '"status": "running"')
    assert execute()[1].splitlines()[-2] == "newest trial: runs/one, killed"


def test_where_every_trial_is_damaged_none_is_named(runs):
    shutil.rmtree(runs / "one")
    assert "newest" not in execute()[1]


# --- a command


def parser_of(name):
    return parser_with([name]).commands[name]


@pytest.mark.parametrize("name", MEASURING)
def test_help_has_a_description_an_example_and_every_default(name):
    # first use: no description, no example, no defaults
    parser = parser_of(name)
    assert len(parser.description) > 40
    assert f"fairtrial {name}" in parser.epilog
    for action in parser._actions:
        assert action.help, action.dest
        if action.default not in (None, False, [], argparse.SUPPRESS):
            told = re.search(r"\(default: (.*?)\)", action.help)
            assert (action.type or str)(told[1]) == action.default, action.dest


@pytest.mark.parametrize("name", MEASURING)
def test_examples_are_accepted_by_the_parser(name, capsys):
    lines = re.findall(rf"^  fairtrial {name} ?(.*)$", parser_of(name).epilog, re.MULTILINE)
    assert lines
    for line in lines:
        words = shlex.split(re.split(r"   +| > ", " " + line if line.startswith(" ") else line)[0])
        assert vars(parser_of(name).parse_args(words)), line


# --- doctor -q ----------------------------------------------------------------------------------


def test_a_quiet_doctor_tells_only_what_is_not_in_order(monkeypatch):
    once = doctor_page.check_up(None, Path(), strict=False, probe_s=0.001)
    fine, wrong = (Finding(check=name, status=name, what="x") for name in ("ok", "fail"))
    once = dataclasses.replace(once, findings=(*once.findings, fine, wrong))
    monkeypatch.setattr(doctor_page, "check_up", lambda *_, **__: once)  # two looks may differ
    _, whole, _ = execute("doctor")
    _, quiet, _ = execute("doctor", "-q")
    found = re.findall(r"^  (ok|warn|fail|unknown) ", quiet, re.MULTILINE)
    assert len(found) == sum(one.status != "ok" for one in once.findings) > 0
    assert "ok" not in found
    assert quiet.startswith("  ")  # no head, no last line
    assert set(quiet.splitlines()) < set(whole.splitlines())


# --- status --diff ------------------------------------------------------------------------------


@pytest.fixture
def two(tmp_path):
    for name in "AB":
        shutil.copytree("tests/data/sample-0.2.0", tmp_path / name)
    return tmp_path / "A", tmp_path / "B"


@pytest.mark.parametrize("order", [("--diff", 0), (0, "--diff")])
def test_one_trial_is_compared_from_session_to_session(two, order):
    words = [str(two[word]) if isinstance(word, int) else word for word in order]
    code, said, _ = execute("status", *words)
    assert (code, said.startswith("session 1 -> session 2: ")) == (0, True)


def test_two_trials_are_for_another_command(two):
    assert execute("status", "--diff", *map(str, two))[0] == 2
    assert execute("status", "--diff")[0] == 2
