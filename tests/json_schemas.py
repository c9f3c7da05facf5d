"""Holds what a command printed with ``--json`` against its schema, as `distribution` makes it.

Readers must expect further keys; here a key that the schema lacks is a fault.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from functools import cache, wraps
from io import StringIO
from pathlib import Path
from typing import Any, TextIO

from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parents[1]
FILES = ROOT / "docs" / "distribution" / "json_answers" / "files"
_ANSWERED = {0, 1, 3, 7}  # exit codes of commands that have given their answer, or none
ANSWERS = {path.name.partition(".")[0] for path in FILES.iterdir()}


@cache
def schema(command: str) -> dict[str, Any]:
    """Read the schema of a command as it is installed."""
    return json.loads((FILES / f"{command}.schema.json").read_text(encoding="utf-8"))


@cache
def strict(command: str) -> Draft202012Validator:
    """Give what accepts the known keys only."""
    made = json.loads(json.dumps(schema(command)), object_hook=_closed)
    return Draft202012Validator(made)


def _closed(part: dict[str, Any]) -> dict[str, Any]:
    known = part.get("properties")
    named = isinstance(known, dict) and part.get("type") == "object"
    return part | {"additionalProperties": False} if named else part


def values_in(text: str) -> list[Any]:
    """Read the JSON values of a text, one after the other."""
    found, rest = [], text.strip()
    while rest:
        value, end = json.JSONDecoder().raw_decode(rest)
        found.append(value)
        rest = rest[end:].lstrip()
    return found


def misfits(words: Sequence[str], text: str) -> list[str]:
    """Say where what a command line printed does not fit its command's schema, the deepest reasons only.

    Nothing is said of a command line that asked for no JSON, or got none.
    """
    to_file = {"-o", "--output"} & set(words)
    words = list(map(str, words)) or [""]
    asked = "--json" in words or (" --format json" in " ".join(words) and not to_file)
    if not asked or not text.strip() or words[0] not in ANSWERS:
        return []
    errors = (error for value in values_in(text) for error in strict(words[0]).iter_errors(value))
    found = [leaf for error in errors for leaf in _leaves(error)]
    return [f"{error.json_path}: {_said(error)}" for error in found]


def held(
    words: Sequence[str], done: subprocess.CompletedProcess[str]
) -> subprocess.CompletedProcess[str]:
    """Give what a command line did, whose JSON must fit where it has given its answer."""
    if done.returncode in _ANSWERED:
        found = misfits(words, done.stdout)
        assert not found, "not as the schema of --json says:\n" + "\n".join(found)
    return done


def holding(main: Callable[..., int]) -> Callable[..., int]:
    """Give `harness.cli.main` so that what it writes into a text in memory must fit."""

    @wraps(main)
    def execute(argv: Sequence[str], out: TextIO, err: TextIO) -> int:
        begin = len(out.getvalue()) if isinstance(out, StringIO) else 0
        code = main(argv, out, err)
        if isinstance(out, StringIO):
            printed = out.getvalue()[begin:]
            held(argv, subprocess.CompletedProcess(list(argv), code, printed, ""))
        return code

    return execute


def _said(error: Any) -> str:
    if error.validator == "additionalProperties" and error.validator_value is False:
        return f"not in the schema: {sorted(error.instance.keys() - error.schema['properties'])}"
    return f"{error.message[:200]} ({error.validator})"


def _leaves(error: Any) -> list[Any]:
    """Give the reasons why the alternative fails that fits best."""
    if not error.context:
        return [error]
    branches: dict[Any, list[Any]] = {}
    for one in error.context:
        branches.setdefault(one.schema_path[0], []).append(one)
    best = min(branches.values(), key=lambda ones: (any(map(_of_another, ones)), len(ones)))
    return [leaf for one in best for leaf in _leaves(one)]


def _of_another(error: Any) -> bool:
    """Tell whether an alternative is of another kind: another type, or another method."""
    return error.validator == "type" or list(error.relative_path) == ["method"]
