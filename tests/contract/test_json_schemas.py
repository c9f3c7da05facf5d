"""The schemas of what ``--json`` prints: made from the code, installed, and there for every command.

That outputs fit them is held wherever a test executes a command with ``--json`` (`tests/json_schemas.py`),
and here against the stored answers of all methods. Authority for the dialect: its own meta-schema.
"""

from __future__ import annotations

import io
import json
import subprocess

import pytest
from answers import ANSWERS as GOLDEN, stored
from jsonschema import Draft202012Validator

from analysis.registry import commands
from docs.distribution.json_answers.json_types import Definitions, UnknownTypeError
from docs.distribution.json_answers.schemas import ANSWERS, files
from docs.distribution.shared_files import shared_files
from harness.cli import main
from harness.commands.command_parser import parser_of
from tests.json_schemas import FILES, ROOT, held, misfits, schema


def test_every_command_that_prints_json_has_a_schema_which_is_installed():
    parsers = parser_of(list(commands())).commands
    printing = {name for name, parser in parsers.items() if "json" in parser.format_help()}
    assert printing == set(ANSWERS)
    assert {f"share/fairtrial/json/{name}.schema.json" for name in printing} <= set(shared_files())


def test_the_files_are_those_that_the_code_gives():
    assert {path.name for path in FILES.iterdir()} == {path.name for path in files(ROOT)}
    assert {p.name for p, text in files(ROOT).items() if p.read_text("utf-8") != text} == set()


@pytest.mark.parametrize("command", ANSWERS)
def test_each_is_a_schema_that_allows_further_keys(command):
    Draft202012Validator.check_schema(schema(command))
    assert 'additionalProperties": false' not in json.dumps(schema(command))


def test_stored_answers_fit():
    told = {k: text for path in GOLDEN.glob("*.txt") for k, text in stored(path).items()}
    asked = {k: text for k, text in told.items() if "--json" in k.split() and "{" in text}
    printed = {k: text.partition("\n[")[0] for k, text in asked.items()}
    assert len(printed) >= 9
    found = {k: misfits(k.split(), text) for k, text in printed.items()}
    assert not any(found.values()), found


def test_a_key_that_is_missing_new_or_of_another_type_is_found():
    kept = {"fleet": "f", "path": "p", "cancelled": ["1"], "ending": [], "others": []}
    words = ["cancel", "f", "--json"]
    assert misfits(words, json.dumps(kept)) == []
    assert misfits(words, json.dumps(kept | {"new": 1})) == ["$: not in the schema: ['new']"]
    assert misfits(words, json.dumps(kept | {"path": 3}))[0].startswith("$.path: 3 is not of type")
    del kept["ending"]
    assert misfits(words, json.dumps(kept)) == ["$: 'ending' is a required property (required)"]
    wrong = subprocess.CompletedProcess(words, 0, json.dumps(kept), "")
    with pytest.raises(AssertionError):
        held(words, wrong)


def test_each_command_that_a_test_executes_is_looked_at(monkeypatch):
    monkeypatch.setattr("tests.json_schemas.misfits", lambda words, text: [text[:1]])
    with pytest.raises(AssertionError):
        main(["doctor", "--json"], io.StringIO(), io.StringIO())


def test_an_alternative_is_judged_by_the_method_it_has():
    found = misfits(["verdict", "--json"], json.dumps({"method": "ranking", "schema": 1}))
    assert "$: 'friedman' is a required property (required)" in found


def test_a_type_that_becomes_no_known_json_is_refused():
    with pytest.raises(UnknownTypeError):
        Definitions({}).of(complex)


def test_a_command_prints_its_schema_and_none_where_there_is_no_json(capsys):
    import sys

    assert main(["help", "json", "verdict"], sys.stdout, sys.stderr) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "fairtrial verdict --json"
    for words in (["nothing"], []):  # seen of none: no command 'json'
        assert main(["help", "json", *words], sys.stdout, sys.stderr) == 2
        assert f"no command {''.join(words)!r} prints JSON" in capsys.readouterr().err
