"""What --json prints is documented, key by key, and stays what the first version printed.

`GONE` lists the keys that have gone since, with the reason.
"""

from __future__ import annotations

import ast
import io
import json
import math
import os
import re
import runpy
import shutil
import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from analysis.registry import commands
from harness.cli import main
from tests.forks import Forks
from tests.json_schemas import ANSWERS, schema
from tests.profiled import profile_beside

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "json.md").read_text()
FIRST = ROOT / "tests" / "golden" / "first_version_json"
ANYTHING = 9  # levels of names

# section of the page, command line; the answers of the first version stand in FIRST/NUMBER.json
COMMANDS = json.loads((FIRST / "commands.json").read_text())


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    monkeypatch.chdir(ROOT)


def answer(command: str, codes: Collection[int] = (0,)) -> list[Any]:
    """Give what a command prints: one object, or several one after the other."""
    out, err = io.StringIO(), io.StringIO()
    code = main([*command.split(), "--json"], out, err)
    assert code in codes, err.getvalue()
    return objects(out.getvalue())


def answer_of(forks: Forks, command: str, code: int) -> list[Any]:
    """Give what a command prints that has others executed: they are forks, too."""
    words = [*command.split(), "--json"]
    done = forks.run(words, cwd=ROOT, environment=os.environ, seconds=300)
    assert done.returncode == code, done.stderr
    return objects(done.stdout)


def objects(text: str) -> list[Any]:
    found = []
    while text.strip():
        value, end = json.JSONDecoder().raw_decode(text.lstrip())
        found.append(value)
        text = text.lstrip()[end:]
    return found


def keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*(keys(item) for item in value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*(keys(item) for item in value)) if value else set()
    return set()


SECTIONS = {part.splitlines()[0]: part for part in re.split(r"(?m)^##+ ", PAGE)[1:]}
SECTIONS["bundle.json"] = re.split(
    r"(?m)^### ",
    (ROOT / "docs" / "artifacts.md").read_text("utf-8").partition("\n### bundle.json\n")[2],
)[0]
INSIDE = {
    "verdict": ("multilevel", "diagnose", "calibrate", "gate"),
    "compare": ("verdict", "multilevel", "diagnose", "calibrate"),
    "gate": ("verdict",),
    "report": ("sources", "why"),
    "history": ("ordered-variants",),
    "bisect": ("why",),
    "reproduce": ("diff",),
    "doctor": ("run",),
    "status": ("run", "bisect", "why"),
    "bundle": ("bundle.json",),
}  # answers that hold those of another section


def said_of(command: str) -> str:
    """Give the sections of a command, and of what its answer holds."""
    named = {command, *INSIDE.get(command, ())}
    return "".join(text for title, text in SECTIONS.items() if named & {*re.split(",? ", title)})


@cache
def documented(command: str) -> frozenset[str]:
    return frozenset(documented_in(said_of(command) + SECTIONS["The head of every result"]))


def documented_in(text: str) -> set[str]:
    return {
        name.removesuffix("[]").partition(".<")[0]
        for name in re.findall(r"`([A-Za-z0-9_.<>-]+(?:\[\])?)`", text)
    }


@pytest.fixture(scope="module")
def printed_now():
    """Give what a command of the first version prints now; each is executed once for its tests."""
    known: dict[str, list[Any]] = {}

    def of(number: str) -> list[Any]:
        if number not in known:
            known[number] = answer(COMMANDS[number][1])
        return known[number]

    return of


def data_of(command: str) -> dict[str, int]:
    return data_in(said_of(command))


def data_in(text: str) -> dict[str, int]:
    """Give the mappings whose keys are data, such as names, and how many levels of them.

    The section marks such a mapping as `key.<what>`, or `key.<what>.<what>`; `key.<anything>` is a
    value of any shape.
    """
    marks = re.findall(r"`(\w+)((?:\.<[a-z ]+>)+)`", text)
    return {key: ANYTHING if "<anything>" in levels else levels.count("<") for key, levels in marks}


def without_data(value: Any, data: dict[str, int]) -> Any:
    """Leave out keys that are data."""
    if isinstance(value, dict):
        return {
            key: without_data(below(item, data.get(key, 0)), data) for key, item in value.items()
        }
    if isinstance(value, list):
        return [without_data(item, data) for item in value]
    return value


def below(value: Any, levels: int) -> Any:
    if levels and isinstance(value, dict):
        return [below(item, levels - 1) for item in value.values()]
    if levels > 1 and isinstance(value, list):
        return [below(item, levels) for item in value]
    return value


@pytest.mark.parametrize(
    "command",
    [
        "report tests/data/sample-0.2.0:gzip-1 --metric wall,user",
        "report tests/data/sample-0.2.0 --sources",
        "diagnose tests/data/sample-0.2.0:gzip-1 --clt",
        "doctor",
    ],
)
def test_every_key_inside_what_a_schema_leaves_open_is_documented(command):
    name = command.partition(" ")[0]
    (value,) = answer(command, codes={0, 3})
    assert keys(without_data(value, data_of(name))) - documented(name) == set()


def test_every_key_of_the_reports_part_on_why_is_documented(tmp_path):
    trial = Path(shutil.copytree(ROOT / "tests" / "data" / "sample-0.2.0", tmp_path / "sample"))
    build = runpy.run_path(str(ROOT / "tests" / "unit" / "analysis" / "conftest.py"))["build"]
    profile_beside(trial, build, variant="gzip-1", benchmarks=("text",))
    ((value, *_),) = ([*one["why"]] for one in answer(f"report {trial}"))
    assert value["profiles"][0]["answers"][0]["calls"]
    assert keys(without_data(value, data_of("report"))) - documented("report") == set()


def keys_of(part: Any, whole: dict[str, Any], known: set[str]) -> Iterator[str]:
    """Give the keys of a schema, `known` definitions and what may be anything left out."""
    if isinstance(part, list):
        for item in part:
            yield from keys_of(item, whole, known)
    if isinstance(part, dict):
        name = part.get("$ref", "").rpartition("/")[2]
        if name and name not in known:
            known.add(name)
            yield from keys_of(whole["$defs"][name], whole, known)
        for key, inside in part.get("properties", {}).items():
            yield key
            if key not in known:
                yield from keys_of(inside, whole, known)
        for key in part.keys() - {"$ref", "$defs", "properties"}:
            yield from keys_of(part[key], whole, known)


@pytest.mark.parametrize("command", sorted(ANSWERS))
def test_every_key_of_a_schema_is_documented(command):
    """What is printed fits its schema wherever a test executes a command: tests/json_schemas.py."""
    whole = schema(command)
    anything = {key for key, levels in data_of(command).items() if levels == ANYTHING}
    found = set(keys_of(whole, whole, anything))
    assert found
    assert found - documented(command) == set()


@pytest.fixture
def artifact(tmp_path):
    """Pack the sample trial by hand, with whatever an artifact may say."""
    handmade = runpy.run_path(str(ROOT / "tests" / "handmade_bundle.py"))
    claim = {"text": "t", "command": ["verdict", "trials/sample", "--json"], "is": "equals"}
    claim |= {"value": "/these", "expected": 1, "digits": None, "found": 1, "holds": True}
    claims = {"schema": 1, "claims": [claim | {"result": "analyses/verdict.json"}]}
    stored = {"analyses/verdict.json": b'{"schema": 2}', "analyses/hpt.json": b"{}"}
    stored["claims.json"] = json.dumps(claims).encode()
    script = (ROOT / "configs" / "quickstart_data.py").read_bytes()
    stored["campaigns/sample/quickstart_data.py"] = script
    missing = {"what": "a", "why": "b", "sha256": None, "bytes": 1}
    redacted = {"what": ["user"], "replaced": {"user": 2}, "files": {"x": "0"}, "left": []}
    files = handmade["sealed"](
        handmade["files_of"](handmade["SAMPLE"]) | stored,
        claims="claims.json",
        missing=[missing],
        redacted=redacted,
        python="3.8.0",
    )
    return handmade["write_bundle"](tmp_path / "artifact.zip", files)


def test_names_that_were_taken_out_and_what_a_bundle_lacks_are_told(artifact, forks):
    (value,) = answer_of(forks, f"reproduce {artifact}", 1)
    assert set(value["caution_codes"]) >= {"bundle-redacted", "bundle-incomplete"}


@pytest.mark.host
def test_a_rerun_in_fewer_sessions_says_so(tmp_path):
    handmade = runpy.run_path(str(ROOT / "tests" / "handmade_bundle.py"))
    files = handmade["files_of"](handmade["SAMPLE"])
    files["campaigns/sample/quickstart_data.py"] = (
        ROOT / "configs/quickstart_data.py"
    ).read_bytes()
    whole = handmade["write_bundle"](tmp_path / "whole.zip", handmade["sealed"](files, analyses=[]))
    into = f"-C {tmp_path / 'new'} --sessions 1 --yes-execute"
    (value,) = answer(f"reproduce --rerun {whole} {into}", codes={7})
    assert "rerun-shortened" in value["caution_codes"]


# what of the first version's JSON has gone: command, where, what took its place, and why
FLAG = "a flag for a word read like an answer; `word` is the answer"
NAME = "a hypothesis bore the name of the estimate beside it"
SESSIONS = (
    "two truths on one screen: medians of pooled runs; `multilevel` is the only one (schema 2)"
)
ALONE = "quartiles of pooled runs; `alone` has each benchmark's session interval (schema 2)"
SAID = "those of the pooled runs went with them; the key is there, with what sessions leave to say"
KEPT = ("cautions", "enough")  # keys that are still there with another content
GONE: tuple[tuple[str, str, str | None, str], ...] = (
    ("hpt", r"\$(\.r_speedup)?\.faster", None, FLAG),
    ("resample", r"\$(\.interval)?\.faster", None, FLAG),
    ("hpt", r"\$(\.context)?\.speedup", "speedup_under_test", NAME),
    ("verdict", r"\$\.candidates\[\d+\]\.(benchmarks|speedup|hpt)", None, SESSIONS),
    ("verdict", r"\$\.spreads", None, ALONE),
    ("verdict", r"\$\.cautions", None, SAID),
    (
        "diagnose",
        r"\$\.enough",
        None,
        "one draw at 5 % said another size with each seed; now of eleven",
    ),
)
# sentences for a person, which may be reworded; these could not be explained, or hold no longer
REWORDED = (
    ("hpt", r"\$(\.\w+)?\.cautions\[\d\]", "'A verdict by sessions is not part of this version'"),
    ("hpt", r"\$\.conclusions\[\d\]", "'there or just below'"),
    ("hpt", r"\$(\.r_speedup)?\.cautions\[\d\]", "'with its scores divided by less than'"),
    ("biplot", r"\$\.cautions\[\d\]", "'one value stands for each system and benchmark'"),
    ("speedup-test", r"\$\.cautions\[\d\]", "'mean something only beside'"),
)


def taken(where: str, title: str) -> tuple[bool, str | None]:
    """Tell whether a key has gone, and which took its place."""
    for command, pattern, now, _why in GONE:
        if command == title and re.fullmatch(pattern, where):
            return True, now
    return False, None


def reworded(where: str, title: str) -> bool:
    return any(
        command == title and re.fullmatch(pattern, where) for command, pattern, _why in REWORDED
    )


def same(ours: Any, first: Any, title: str, where: str = "$") -> None:
    """Compare with the first version's answer: its keys and numbers must all be there."""
    if isinstance(first, dict):
        assert isinstance(ours, dict), where
        for key, value in first.items():
            gone, now = taken(f"{where}.{key}", title)
            if gone:
                assert (key in KEPT) == (key in ours), f"{where}.{key}"
                if now is not None:
                    same(ours[now], value, title, f"{where}.{now}")
            elif key != "tool_version":
                assert key in ours, f"{where}.{key}"
                same(ours[key], value, title, f"{where}.{key}")
    elif isinstance(first, list):
        assert isinstance(ours, list), where
        assert len(ours) == len(first), where
        for k, (a, b) in enumerate(zip(ours, first, strict=True)):
            same(a, b, title, f"{where}[{k}]")
    elif isinstance(first, float):
        # the last digits belong to the processor and the versions of the libraries
        assert math.isclose(ours, first, rel_tol=1e-7, abs_tol=1e-12), f"{where}: {ours} {first}"
    elif reworded(where, title):
        assert isinstance(ours, str), where
    else:
        assert ours == first, where


@pytest.mark.parametrize("number", sorted(COMMANDS))
def test_numbers_are_those_of_the_first_version(number, printed_now):
    first = objects((FIRST / f"{number}.json").read_text())
    found = printed_now(number)
    assert len(found) == len(first)
    for ours, theirs in zip(found, first, strict=True):
        same(ours, theirs, COMMANDS[number][0])


def named(text, name):
    """Give what is assigned to a name in a source."""
    parts = (one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Assign))
    return [one.value for one in parts if getattr(one.targets[0], "id", "") == name]


def test_every_caution_code_is_documented_and_used():
    cells = re.findall(r"(?m)^\| (`[^|]*`) \|", SECTIONS["Cautions"])
    told = {code for cell in cells for code in re.findall(r"`([a-z0-9-]+)`", cell)}
    texts = {path: path.read_text() for path in (ROOT / "analysis").rglob("*.py")}
    code = "\n".join(texts.values())
    table = (ROOT / "analysis" / "importers" / "json_rows.toml").read_text()
    formats = tomllib.loads((ROOT / "analysis" / "importers" / "formats.toml").read_text())
    words = re.findall(r"(?m)^losses\.([a-z-]+)", table)
    words += [word for lost in formats["losses"].values() for word in lost]
    code += "".join(f'"{word}"' for word in words)
    # what a target cannot hold has codes of its own: those of `cannot_hold`
    given = [text for path, text in texts.items() if path.stem != "export"]
    used = set(re.findall(r'Caution\(\s*"([a-z0-9-]+)"', "\n".join(given)))
    used |= {
        key.value
        for text in given
        if "cautions_of(" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "cautions_of"
        for rows in (node.args[0], *named(text, getattr(node.args[0], "id", None)))
        for key in getattr(rows, "keys", ())
        if isinstance(key, ast.Constant)
    }
    of_methods = "".join(SECTIONS[name] for name, one in commands().items() if one.file)
    assert {code for code in used - told if f"`{code}`" not in of_methods} == set()
    assert {word for word in told if f'"{word}"' not in code} == set()
    assert 2 * len(told) == "".join(cells).count("`")  # each once
