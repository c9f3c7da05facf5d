"""The editor schema and the loader, held against each other on campaigns that are bent at random.

A JSON document is YAML, so the same text goes to both: to the loader as it is, to the schema as
`json.loads` reads it.
"""

from __future__ import annotations

import copy
import json
import re
import tempfile
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings, strategies as st

from analysis.record.yaml_reader import read_document
from harness.bisect.commits import Commit
from harness.bisect.recipe import Built, Recipe, campaign_of
from harness.campaign.resolve import load_campaign
from harness.campaign.schema import check_shape, editor_schema
from tests.examples import examples

# Every form that a key may have; keys that nothing is said of here are added below.
FORMS: dict[str, Any] = {
    "name": "full",
    "description": "every key",
    "seed": 3,
    "build": [["make", "{variant}"], {"shell": "true"}],
    "variants": {
        "a": {"level": 6, "build": "make clean", "env": {"CC": "gcc"}},
        "b": {"command": "b {level}", "matrix": {"level": [1, "two"]}},
        "c": {
            "build": {"run": [["make"], {"shell": "x"}], "each": "session", "artifacts": ["a/b", 3]}
        },
        "d": None,
    },
    "baseline": "a",
    "benchmarks": {
        "text": {
            "command": ["gzip", "-{level}"],
            "cwd": "data",
            "env": {"A": 1},
            "stdin": "in",
            "stdout": "file",
            "stderr": "keep",
            "timeout": "2min",
            "expect": {
                "exit": [0, 1],
                "sha256": "0" * 64,
                "regex": "x",
                "file": "ref",
                "metrics": {"t": {"at_most": 5, "at_least": "1ms"}},
            },
            "metrics": {
                "t": {
                    "regex": "(x)",
                    "unit": "s",
                    "better": "lower",
                    "from": "stderr",
                    "when": "run",
                },
                "u": {
                    "json": "a[*]",
                    "unit": "s",
                    "better": "higher",
                    "warmup_iterations": "auto",
                    "quantiles": [0.5, 0.999],
                },
                "v": {"hlog": "us", "tag": "a", "unit": "ms", "better": "lower"},
                "w": {"percentiles": "wrk", "unit": "ms", "better": "lower"},
            },
            "matrix": {"n": [1]},
            "free": True,
        },
        "shell": {"command": {"shell": "ls"}},
    },
    "hooks": {
        "setup": [["a"]],
        "cleanup": {"shell": "a"},
        "before": "sync",
        "after": [],
        "finish": [{"shell": "x"}],
        "timeout": 5,
    },
    "protocol": {
        "sessions": 3,
        "runs": 10,
        "warmup": 0,
        "order": "sequential",
        "cooldown": "500ms",
        "pause": 0,
        "timeout": "60s",
        "grace": 0.5,
        "max_runs": 5,
        "max_time": "1h",
    },
    "counters": {
        "events": ["instructions", {"raw": "cpu/event=0x3c/", "name": "halts"}],
        "every": 2,
        "multiplex": "allow",
    },
    "isolation": {
        "cpus": [2, 3],
        "nice": -5,
        "scheduling": "fifo",
        "priority": 3,
        "aslr": "off",
        "padding": 64,
        "environment": {"keep": ["PATH", "LC_*"], "set": {"A": "b"}},
        "limits": {
            "as": "1GiB",
            "core": 0,
            "cpu": 10,
            "data": "64MB",
            "fsize": 1,
            "memlock": 1,
            "nofile": 64,
            "nproc": 10,
            "stack": "8MiB",
        },
        "containment": "none",
        "output_limit": "1kB",
    },
    "checks": {"require": ["load"], "warn": ["turbo"]},
    "services": {
        "db": {
            "command": ["db", "{level}"],
            "env": {"SYNC": "x"},
            "cpus": [2, 3],
            "ready": {"port": 6471, "output": "up", "timeout": "2s"},
            "stop": "INT",
            "cwd": "x",
            "share_cpus": "on",
            "grace": 3,
            "each": "run",
        }
    },
}

EDITOR = editor_schema()
SCHEMA = jsonschema.Draft202012Validator(EDITOR)

TEXTS = (
    *("", "x", "a b", "ten", "null", "auto", "none", "all", "on", "off", "true", "2-3", "2", "2,x"),
    *("0s", "1s", "1.5h", "01s", "1 s", "1000000s", "269h", "270h", "0.0ms", "1d", "5%", "-1s"),
    *("1kB", "0.5MiB", "0MB", "1KB", "64 MB", "10", "1_000", "lower", "higher", "fifo", "other"),
    *(
        "shuffled",
        "discard",
        "keep",
        "load",
        "loud",
        "0" * 64,
        "g" * 64,
        "stdout",
        "build",
        "variant",
        "go_on",
    ),
)
EDGES = (2**63 - 1, 2**63, 10**6, 10**6 + 1, 10**9, 10**30, 4095, 4096, 65536, 65537)
FRACTIONS = (0.5, 1.0, 1e6, 1e-9, 1.5e300, -0.5, 3e2)


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """Give the part of the schema that another one refers to."""
    return EDITOR["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def completed(value: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Add each key that `value` lacks, with the first value that the schema takes for it."""
    keys = described(schema)["properties"]
    added = {}
    for name, key in keys.items():
        inner = described(key)
        if isinstance(value.get(name), dict) and "properties" in inner:
            added[name] = completed(value[name], inner)
        elif name not in value and name != "stop":  # it cannot stand beside 'runs'
            takes = jsonschema.Draft202012Validator(key | {"$defs": EDITOR["$defs"]})
            tries = (*TEXTS, *range(-30, 200), *EDGES, *FRACTIONS, True, [], ["x"], {})
            added[name] = next(trial for trial in tries if takes.is_valid(trial))
    return value | added


FULL = completed(FORMS, EDITOR)
FULL["benchmarks"]["text"] |= completed(
    FULL["benchmarks"]["text"], EDITOR["$defs"]["BenchmarkSection"]
)

SCALARS = st.one_of(
    st.sampled_from(TEXTS),
    st.integers(-30, 200),
    st.sampled_from(EDGES),
    st.sampled_from(FRACTIONS),
    st.booleans(),
    st.none(),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["shell", "a", "regex", "exit", "x y"]), inner, max_size=2),
    ),
    max_leaves=4,
)
KEYS = st.sampled_from(
    ["comand", "level", "build", "variant", "x y", "A=B", "wall", "_x", "1", "shell", "priority"]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if not isinstance(value, dict | list):
        return [path]
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [path, *(p for key, item in items for p in places(item, (*path, key)))]


PLACES = sorted((place for place in places(FULL) if place), key=str)


@st.composite
def bent(draw: st.DrawFn) -> dict[str, Any]:
    campaign: Any = copy.deepcopy(FULL)
    for _ in range(draw(st.integers(1, 2))):
        *path, last = draw(st.sampled_from(PLACES))
        inside = campaign
        for step in path:
            inside = inside[step] if _has(inside, step) else None
        if not _has(inside, last):
            continue
        how = draw(st.sampled_from(["replace", "delete", "add"]))
        if how == "replace":
            inside[last] = draw(VALUES)
        elif how == "delete":
            del inside[last]
        elif isinstance(inside, dict):
            inside[draw(KEYS)] = draw(VALUES)
    return campaign


def _has(value: Any, step: Any) -> bool:
    if isinstance(value, dict):
        return step in value
    return isinstance(value, list) and isinstance(step, int) and step < len(value)


def loader_accepts(campaign: object) -> bool:
    return not check_shape(read_document(json.dumps(campaign), "x.yaml"))[1].problems


def test_the_full_campaign_has_every_key():
    sections = {name: one for name, one in EDITOR["$defs"].items() if name != "Name"}
    for name, section in sections.items():
        where = {
            "VariantSection": FULL["variants"]["a"] | FULL["variants"]["b"],
            "BenchmarkSection": FULL["benchmarks"]["text"],
            "ExpectSection": FULL["benchmarks"]["text"]["expect"],
            "BoundSection": FULL["benchmarks"]["text"]["expect"]["metrics"]["t"],
            "MetricSection": {
                key: value
                for rule in FULL["benchmarks"]["text"]["metrics"].values()
                for key, value in rule.items()
            },
            "Shell": FULL["benchmarks"]["shell"]["command"],
            "KeptEnvironment": FULL["isolation"]["environment"],
            "LimitsSection": FULL["isolation"]["limits"],
            "StopSection": section["properties"],
            "RawEvent": FULL["counters"]["events"][1],
            "BuildSection": FULL["variants"]["c"]["build"],
            "ServiceSection": FULL["services"]["db"],
            "ReadySection": {**FULL["services"]["db"]["ready"], "command": ""},
        }.get(name) or FULL[name.removesuffix("Section").lower()]
        if name == "VariantSection":
            where = {**FULL["benchmarks"]["text"], **where}
        assert section["properties"].keys() - where.keys() <= {"stop"}, name
    assert EDITOR["properties"].keys() == FULL.keys()


def test_a_key_that_nobody_wrote_down_is_added():
    section = {"properties": {"x": {"type": "integer", "minimum": 199}, "y": {"const": 1}}}
    assert completed({"y": 1}, section) == {"y": 1, "x": 199}


def test_the_full_campaign_is_accepted_by_both():
    assert loader_accepts(FULL)
    assert SCHEMA.is_valid(FULL)


@settings(max_examples=examples(400), deadline=None)
@given(bent())
def test_the_schema_accepts_exactly_what_the_loader_accepts(campaign: dict[str, Any]):
    assert SCHEMA.is_valid(campaign) == loader_accepts(campaign)


TABLE: tuple[Any, ...] = (
    *("", "x", "null", "auto", "on", "true", "2-3", "2", "1s", "0.0ms", "0.5MiB", "0MB", "10"),
    *(None, True, 0, -1, 2.5, 1.0, 10**30, [], {}, [[]], ["x"], {"a": "b"}, {"shell": "x"}),
)


NEEDED: dict[str, Any] = {
    "name": "x",
    "variants": {"a": None},
    "benchmarks": {"x": {"command": "x"}},
}
# each value of the table is read once, and each section with what every campaign needs: to judge all
# of the full campaign for each value at each place took most of this test
ROWS = [(value, read_document(json.dumps([value]), "x.yaml").value[0]) for value in TABLE]
SECTIONS = {name: NEEDED | {name: section} for name, section in FULL.items()}
# the whole schema says no more than that of each section: a document is held against it once for a place
PARTS = {
    name: jsonschema.Draft202012Validator(part | {"$defs": EDITOR["$defs"]})
    for name, part in EDITOR["properties"].items()
}
READ = {name: read_document(json.dumps(part), "x.yaml") for name, part in SECTIONS.items()}


def put(inside: Any, place: tuple[Any, ...], value: Any) -> Any:
    """Give a copy with another value at a place."""
    if not place:
        return value
    copied = inside.copy()
    copied[place[0]] = put(inside[place[0]], place[1:], value)
    return copied


@pytest.mark.parametrize("place", PLACES, ids=lambda p: ".".join(map(str, p)))
def test_both_judge_each_place_alike(place: tuple[Any, ...]):
    part, read = SECTIONS[place[0]], READ[place[0]]
    whole = PLACES.index(place) % len(TABLE)  # this one is read as the text of a file
    for k, (value, as_read) in enumerate(ROWS):
        campaign = put(part, place, value)
        changed = replace(read, value=put(read.value, place, as_read), problems=[])
        accepted = not check_shape(changed)[1].problems
        assert PARTS[place[0]].is_valid(campaign[place[0]]) == accepted, value
        if k == whole:
            assert SCHEMA.is_valid(campaign) == accepted
            assert read_document(json.dumps(campaign), "x.yaml").value == changed.value
            assert loader_accepts(campaign) == accepted


def test_each_section_is_accepted_beside_what_every_campaign_needs():
    assert all(map(SCHEMA.is_valid, SECTIONS.values()))
    assert all(map(loader_accepts, SECTIONS.values()))


@settings(max_examples=examples(200), deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_with_its_place(text: str):
    from analysis.errors import CampaignError

    try:
        check_shape(read_document(text, "x.yaml"))
    except CampaignError as error:
        for problem in error.problems:
            name, line, column = problem.where.split(":")
            assert name == "x.yaml"
            assert int(line) >= 1
            assert int(column) >= 1


# --- Whatever texts a campaign holds, the campaign of its commits gives each cell the same ones


# what YAML takes in quotes; null bytes and lone surrogates are in no argument
CAMPAIGN_OF_COMMITS_TEXTS = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12
) | st.sampled_from(["{", "}}", "null", "~", "true", "0x1", "1_0", "- a", "# b", "'", '"', "\x85"])


def quoted(text: str) -> str:
    """Write every sign as its number: nothing in YAML's quotes can be mistaken."""
    return '"' + "".join(f"\\U{ord(sign):08X}" for sign in text) + '"'


def quoted_template(text: str) -> str:
    return quoted(text.replace("{", "{{").replace("}", "}}"))


@settings(max_examples=examples(100))
@given(
    words=st.lists(CAMPAIGN_OF_COMMITS_TEXTS, max_size=4),
    value=CAMPAIGN_OF_COMMITS_TEXTS,
    note=CAMPAIGN_OF_COMMITS_TEXTS,
    folder=st.text("abc {}.é", min_size=1, max_size=8).filter(lambda text: text.strip(" .")),
)
def test_every_text_comes_through(words, value, note, folder):
    with tempfile.TemporaryDirectory() as place:
        root = Path(place).resolve()
        text = f"""\
name: app
description: {quoted(note)}
variants: {{a: {{free: {quoted(value)}}}}}
benchmarks:
  b:
    command: [run, {", ".join([*map(quoted_template, words), '"{free}"'])}]
    cwd: {quoted_template(folder)}
    env: {{X: {quoted_template(value)}}}
    expect: {{regex: {quoted(re.escape(note))}}}
"""
        path = root / "campaign.yaml"
        path.write_text(text, encoding="utf-8")
        template = load_campaign(path)
        recipe = Recipe(
            campaign=template,
            variant="a",
            root=root,
            place=PurePosixPath(),
            cells=template.cells,
            build=None,
            inputs={},
            notes=(),
        )
        commit = Commit(
            place=1, commit="e" * 40, tree="e", subject="s", author="a", date="2026-11-01"
        )
        built = Built(
            commit=commit, tree=root / "kept" / folder, programs={}, identity="x", seconds=1.0
        )
        made = campaign_of(recipe, [built], root / "made.yaml", baseline=built)
        before, (cell,) = template.cells[0], made.cells
        assert cell.command.argv == before.command.argv == ("run", *words, value)
        assert (cell.env, cell.expect) == (before.env, before.expect)
        assert made.description == template.description
        assert cell.cwd == built.tree / folder
        assert made.commit == {commit.variant: commit.commit}
