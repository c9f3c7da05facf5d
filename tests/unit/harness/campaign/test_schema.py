"""The schema for editors, and the documentation, held against the model of the loader."""

from __future__ import annotations

import dataclasses
import json
import re
from contextlib import nullcontext
from pathlib import Path
from textwrap import dedent
from typing import Any

import jsonschema
import pytest

from analysis.errors import CampaignError
from analysis.record.yaml_reader import Plain
from harness.campaign.model import Isolation
from harness.campaign.nested_kinds import Key, Section
from harness.campaign.resolve import load_campaign, starter_text
from harness.campaign.scalar_kinds import switch
from harness.campaign.schema import (
    SECTIONS,
    editor_schema,
    identity_of,
    known_keys,
    resolved_text,
    todays_defaults,
)
from harness.campaign.target_schema import _ARGUMENTS
from harness.trial.plan import PlannedSession

ROOT = Path(__file__).resolve().parents[4]
SCHEMA_FILE = ROOT / "configs/campaign.schema.json"
DOCS = ROOT / "docs/campaign.md"


def test_the_schema_file_is_current():
    # Otherwise: make generated
    assert json.loads(SCHEMA_FILE.read_text()) == editor_schema()


def faults(value: Any, schema: Any) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(value)]


def test_the_schema_is_one():
    assert faults(editor_schema(), jsonschema.Draft202012Validator.META_SCHEMA) == []
    assert editor_schema()["$schema"] == jsonschema.Draft202012Validator.META_SCHEMA["$id"]


def test_a_switch_is_for_an_editor_what_it_is_for_us():
    kind = switch()
    for given in ("on", "off", Plain("true"), Plain("false")):
        read = kind.parse(given)
        for value in (read, kind.spelled(read)):
            assert faults(value, kind.schema({})) == []
    for wrong in ("true", "maybe", 1.5, None):
        assert faults(wrong, kind.schema({}))


def test_a_command_is_a_list_of_one_word_or_more():
    form = _ARGUMENTS.schema({})
    assert faults([], form)
    assert faults(["true"], form) == faults(["test", "-e", "x"], form) == []


def as_an_editor_reads(text: str) -> Any:
    """Read YAML as editors do, by the core schema of YAML 1.2."""
    import yaml

    class Core(yaml.SafeLoader):
        pass

    Core.yaml_implicit_resolvers = {}
    number = r"-?(0|[1-9][0-9]*)"
    for tag, pattern, first in (
        ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
        ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
        ("int", number, list("-0123456789")),
        ("float", number + r"(\.[0-9]+)?([eE][-+]?[0-9]+)?", list("-0123456789")),
    ):
        Core.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^({pattern})$"), first)
    return yaml.load(text, Loader=Core)


def configs() -> list[Path]:
    return sorted((ROOT / "configs").glob("*.yaml"))


@pytest.mark.parametrize("path", configs(), ids=lambda path: path.name)
def test_the_schema_accepts_every_campaign_of_ours(path):
    assert load_campaign(path).cells
    assert faults(as_an_editor_reads(path.read_text()), editor_schema()) == []


def test_the_schema_accepts_the_starter():
    assert faults(as_an_editor_reads(starter_text("x")), editor_schema()) == []


def of_metric(expect: object = None, **rule: object) -> dict[str, Any]:
    one = {"regex": "(.)", "unit": "ms", "better": "lower"} | rule
    kept = {name: value for name, value in one.items() if value is not None}
    bench = {"command": ["true"], "metrics": {"m": kept}, "expect": {"metrics": expect or {}}}
    return {"benchmarks": {"y": bench}}


def of_service(name: str = "s", **keys: object) -> dict[str, Any]:
    return {"services": {name: {"command": ["redis", f"{{{name}.port}}"]} | keys}}


def of_stop(rest: object = None, **stop: object) -> dict[str, Any]:
    return {"protocol": {"stop": stop} | (rest or {})}


TAKEN = [
    *({"build": build} for build in (
        "make", {"shell": "make"}, {"run": "make"}, {"run": [["make"]], "each": "campaign", "artifacts": []},
        {"run": {"shell": "make"}, "each": "session", "artifacts": ["{variant}"]}, {"run": [["make"]], "artifacts": ["a", "a", 3]},
    )),
    {"variants": {"a": {"build": {"run": "make"}}}}, {"series": True}, {"series": False, "commit": "v1"}, {"commit": "{variant}"},
    of_metric() | {"judge": "m"}, of_metric() | {"judge": ["m", "wall"]}, of_metric(when="build"), of_metric({"m": {"at_most": 5}}),
    of_metric({"m": {"at_most": "0.1 s", "at_least": 0}}), of_metric(quantiles=[0.5, 0.99]),
    of_metric(regex=None, hlog="us", tag="get"), of_metric(regex=None, percentiles="wrk"),
    *(of_metric(warmup_iterations=count) for count in (0, 25, "auto", 100_000)),
    of_service(), of_service(ready={"output": "x", "timeout": "2s"}, cpus=[2, 3]),
    of_stop(width=0.015, min_runs=5, max_runs=50, max_time="2h"),
]  # fmt: skip
REFUSED = [
    *({"build": build} for build in (
        {}, {"each": "session"}, {"run": []}, {"run": ["make"]}, {"run": {"run": "make"}}, {"run": "make", "shell": "make"},
        {"shell": "make", "each": "session"}, {"run": "make", "each": "block"}, {"run": "make", "artifacts": "a"},
        {"run": "make", "artifacts": [""]}, {"run": "make", "artifacts": None},
    )),
    {"variants": {"a": {"build": {"run": []}}}}, {"series": "yes please"}, {"commit": {"a": "b"}}, {"commit": ["a"]},
    *({"judge": judge} for judge in ([], ["a", "a"], {"rps": 1}, "two words")),
    of_metric(when="never"), of_metric({"m": {}}), of_metric({"m": {"at_most": "few"}}), of_metric({"m": {"most": 5}}),
    *(of_metric(quantiles=wrong) for wrong in ([], [0], [1], [0.5, 0.5], 0.5, ["0.5"])),
    of_metric(regex=None, percentiles="wrk", tag="get"), of_metric(hlog="us"), of_metric(regex=None, hlog="hours"),
    of_service(ready={"output": "x", "command": "y"}), of_service(stop="KILL"), of_service("r.s"), of_service(comand=["x"]),
    of_stop({"runs": 9}, width=0.015), of_stop({"order": "sequential"}, width=0.015), of_stop(width=0.015, min_runs=2),
    of_stop(width=0), of_stop(),
]  # fmt: skip


@pytest.fixture(scope="module")
def editor():
    return jsonschema.Draft202012Validator(editor_schema())


@pytest.mark.parametrize(
    ("change", "taken"), [*((one, True) for one in TAKEN), *((one, False) for one in REFUSED)]
)
def test_the_editor_takes_what_the_loader_takes(tmp_path, editor, change, taken):
    base = {"name": "x", "build": "make", "variants": dict.fromkeys("abc"), "baseline": "a"}
    campaign = base | {"benchmarks": {"y": {"command": ["true"]}}} | change
    assert editor.is_valid(campaign) == taken
    path = tmp_path / "c.yaml"
    path.write_text(json.dumps(campaign))
    with nullcontext() if taken else pytest.raises(CampaignError):
        load_campaign(path)


def test_every_key_is_described_for_the_editor():
    schema = editor_schema()
    sections = [schema, *schema["$defs"].values()]
    for section in sections:
        for name, key in section.get("properties", {}).items():
            assert "$ref" in key or key.get("description"), name


def documented() -> dict[str, str]:
    """Read the table of all keys: key -> default, as written."""
    table = DOCS.read_text().partition("<!-- keys:")[2].partition("<!-- end of keys")[0]
    rows = re.findall(r"^\| `([a-zA-Z0-9_.*]+)` \| (.+?) \|", table, re.M)
    assert len(rows) == len({key for key, _ in rows}), "a key stands twice in the table"
    return dict(rows)


def keys_of_the_schema() -> dict[str, Any]:
    """List every key of the schema with its own schema, as `section.key`."""
    schema = editor_schema()

    def walk(prefix: str, section: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, key in section["properties"].items():
            inner = schema["$defs"].get(key.get("$ref", "").rpartition("/")[2])
            if inner is not None and "properties" in inner and name not in {"expect"}:
                found |= walk(f"{prefix}{name}.", inner)
            else:
                found[f"{prefix}{name}"] = key
        return found

    parts = schema["$defs"]
    return {
        **walk("", schema),
        **walk("variants.*.", parts["VariantSection"]),
        **walk("benchmarks.*.", parts["BenchmarkSection"]),
        **walk("expect.", parts["ExpectSection"]),
        **walk("expect.metrics.*.", parts["BoundSection"]),
        **walk("metrics.*.", parts["MetricSection"]),
        **walk("counters.", parts["CountersSection"]),
        **walk("build.", parts["BuildSection"]),
        **walk("services.*.", parts["ServiceSection"]),
    }


def test_every_key_stands_in_the_table_of_the_documentation():
    both = {key.replace("benchmarks.*.", "variants.*.") for key in keys_of_the_schema()}
    assert set(documented()) == both


def test_the_defaults_of_the_documentation_are_those_of_the_schema():
    table = documented()
    told = {key: part["default"] for key, part in keys_of_the_schema().items() if "default" in part}
    assert told["protocol.sessions"] == 6
    for key, default in told.items():
        assert table[key.replace("benchmarks.*.", "variants.*.")].startswith(f"`{default}`"), key


def test_every_key_comes_to_a_field_of_the_model():
    # but for those that the resolver reads by themselves, and the limits, which stay a mapping
    alone = {
        "build",
        "inputs",
        "hooks.before",
        "hooks.after",
        "variants.*.matrix",
        "variants.*.build",
    }
    lost = {
        f"{prefix}{name}"
        for prefix, part in SECTIONS.items()
        for name, key in part.keys.items()
        if part.model is not None and key.field is None
    }
    assert lost == alone | {"isolation.environment"}


def test_a_key_that_names_a_field_which_is_none_is_a_mistake_of_ours():
    key = Key(kind=SECTIONS[""].keys["description"].kind, meaning="", field="nobody")
    with pytest.raises(LookupError, match="no field 'nobody', which 'x' names"):
        Section("S", "", {"x": key}, model=Isolation)


# those that a file can spell, whatever else is in it
WRITABLE = [
    key
    for key, default in todays_defaults().items()
    if default not in (None, [], {}, "") and key != "isolation.priority"
]


@pytest.mark.parametrize("key", WRITABLE)
def test_a_default_written_out_means_what_is_left_out(tmp_path, key):
    prefix, _, name = key.rpartition(".")
    kind = SECTIONS[f"{prefix}." if prefix else ""].keys[name].kind
    rule = {"json": "a", "unit": "s", "better": "lower"}
    campaign: dict[str, Any] = {
        "name": "n",
        "variants": {"v": None},
        "benchmarks": {"x": {"command": "p", "metrics": {"t": rule}, "expect": {}}},
        "protocol": {"stop": {"width": 0.1}} if key.startswith("protocol.stop") else {},
    }
    if key.startswith("counters."):
        campaign["counters"] = {"events": ["cycles"]}
    if key.startswith("build."):
        campaign["build"] = {"run": "make"}
    if key.startswith("services."):
        campaign["services"] = {"s": {"command": ["p", "{s.port}"], "ready": {}}}
    path = tmp_path / "c.yaml"
    path.write_text(json.dumps(campaign))
    plain = load_campaign(path)
    inside: Any = campaign
    for step in {
        "variants.*": ["benchmarks", "x"],
        "metrics.*": ["benchmarks", "x", "metrics", "t"],
        "expect": ["benchmarks", "x", "expect"],
        "services.*": ["services", "s"],
        "services.*.ready": ["services", "s", "ready"],
    }.get(prefix, prefix.split(".") if prefix else []):
        inside = inside.setdefault(step, {})
    inside[name] = kind.spelled(todays_defaults()[key])
    path.write_text(json.dumps(campaign))
    again = load_campaign(path)
    assert again.to_dict() == plain.to_dict()
    assert identity_of(again) == identity_of(plain)


def examples() -> list[str]:
    if not DOCS.exists():
        return []
    found = re.findall(r"^```yaml\n(.*?)^```", DOCS.read_text(), re.M | re.S)
    return [text for text in found if text.startswith("name:")]


@pytest.mark.parametrize("text", examples(), ids=lambda text: text.splitlines()[0])
def test_every_whole_example_of_the_documentation_loads(tmp_path, text):
    path = tmp_path / "c.yaml"
    path.write_text(text)
    assert load_campaign(path).cells
    assert faults(as_an_editor_reads(text), editor_schema()) == []


def test_the_documentation_has_examples():
    assert len(examples()) >= 3


def test_an_unknown_key_at_any_level_is_told_the_known_ones():
    assert "command" in known_keys(("benchmarks", "x"))
    assert "build" in known_keys(("variants", "x"))
    assert "build" not in known_keys(("benchmarks", "x"))
    assert known_keys(("benchmarks", "x", "metrics", "t")) == (
        *(
            "regex",
            "json",
            "hlog",
            "tag",
            "percentiles",
            "from",
            "when",
            "unit",
            "better",
            "warmup_iterations",
            "quantiles",
        ),
    )
    assert known_keys(("isolation", "environment")) == ("keep", "set")
    assert known_keys(("build", 0)) == ("shell",)


# --- The key `judge`: what it may name, what it is no part of, and how a mistake is told
#
# Authority: a load generator of fixed duration was judged by its duration, while its throughput fell to 0.35.


HEAD = """\
name: fixed
variants: {fast: {n: "1000"}, slow: {n: "300"}}
"""
LOAD = """\
benchmarks:
  load:
    command: ["echo", "rps {n}"]
    metrics: {rps: {regex: 'rps (.+)', unit: 1/s, better: higher}, p50: {regex: '(.+)', unit: s, better: lower}}
"""
OTHER = """\
  other: {command: ["true"]}
"""


@pytest.mark.parametrize(
    ("judge", "metrics"),
    [
        ("rps", ("rps",)),
        ("[rps]", ("rps",)),
        ("[p50, rps]", ("p50", "rps")),
        ("wall", ("wall",)),
        ("max_rss", ("max_rss",)),
    ],
)
def test_it_names_one_metric_or_several(load, judge, metrics):
    campaign = load(f"{HEAD}{LOAD}judge: {judge}\n")
    assert campaign.judge == metrics
    stored = json.loads(resolved_text(campaign))
    assert stored["campaign"]["judge"] == list(metrics)
    assert stored["defaults"]["judge"] == []


def test_what_meters_count_may_be_the_question(load):
    counted = "counters: [instructions, {raw: cpu/event=0x3c/, name: mine}]\n"
    campaign = load(f"{HEAD}{LOAD}{OTHER}{counted}energy: on\njudge: [mine, energy_package_j]\n")
    assert campaign.judge == ("mine", "energy_package_j")


@pytest.mark.parametrize(
    ("text", "where", "what", "fix"),
    [
        (
            f"{HEAD}{LOAD}{OTHER}judge: rps\n",
            ":8:8",
            "benchmark 'other' has no metric 'rps', which is to be judged",
            "declare it there under 'metrics'",
        ),
        (
            f"{HEAD}{LOAD}judge: [rps, p5]\n",
            ":7:14",
            "benchmark 'load' has no metric 'p5'",
            "did you mean 'p50'? Known here: rps, p50, wall",
        ),
        (
            f"{HEAD}{LOAD}judge: instructions\n",
            ":7:8",
            "benchmark 'load' has no metric 'instructions'",
            "known here: rps, p50, wall",
        ),
        (f"{HEAD}{LOAD}judge: [rps, rps]\n", ":7:14", "names rps a second time", "delete one"),
        (f"{HEAD}{LOAD}judge: []\n", ":7:8", "must not be empty", ""),
        (f"{HEAD}{LOAD}judge: {{rps: 1}}\n", ":7:8", "the name of a metric or a list of them", ""),
        (f"{HEAD}{LOAD}jugde: rps\n", ":7:1", "unknown key 'jugde'", "did you mean 'judge'?"),
    ],
)
def test_a_mistake_is_told_with_its_place(mistake, text, where, what, fix):
    mistake(text, where, what, fix)


def test_a_variant_whose_cell_lacks_it_is_named(problem):
    text = """\
    name: fixed
    variants:
      fast: {metrics: {rps: {regex: '(.+)', unit: 1/s, better: higher}}}
      slow:
    benchmarks: {load: {command: ["true"]}}
    judge: rps
    """
    assert "benchmark 'load' with variant 'slow' has no metric 'rps'" in problem(text).what


def test_many_benchmarks_are_counted(problem):
    others = "".join(f"  b{k}: {{command: ['true']}}\n" for k in range(5))
    found = problem(f"{HEAD}{LOAD}{others}judge: rps\n")
    assert "benchmarks 'b0', 'b1', 'b2' and 2 more have no metric 'rps'" in found.what


def test_a_benchmark_that_is_wrong_itself_is_told_alone(load):
    with pytest.raises(CampaignError) as caught:
        load(HEAD + LOAD.replace("unit: 1/s", "unti: 1/s") + "judge: rps\n")
    assert "judged" not in str(caught.value)


def test_what_a_service_uses_can_be_judged_and_no_other_service(load):
    text = HEAD + LOAD + "services: {s: {command: [s], ready: {output: up}}}\njudge: service."
    assert load(text + "s.cpu").judge == ("service.s.cpu",)
    with pytest.raises(CampaignError, match=r"no metric 'service\.t\.cpu', which is to be judged"):
        load(text + "t.cpu")


# --- The keys `commit` and `series`: what they may say, what they are no part of, and how a mistake is told
#
# Authority: the contract of keys to come: absent means the plan, the bytes and the identity of before.


PLAIN = """\
name: versions
variants: {a: {rev: v1.0}, b: {rev: 4f0c2a1}, c: {rev: 9b77e02}}
benchmarks: {x: {command: ["echo", "{rev}"]}}
"""
UNUSED = PLAIN.replace("{rev}", "on")


@pytest.mark.parametrize(
    ("text", "commits"),
    [
        ("commit: '{rev}'", {"a": "v1.0", "b": "4f0c2a1", "c": "9b77e02"}),
        ("commit: 4f0c2a1", dict.fromkeys("abc", "4f0c2a1")),
        ("commit: 1234567", dict.fromkeys("abc", "1234567")),
        ("commit: 'nightly/{variant}'", {name: f"nightly/{name}" for name in "abc"}),
    ],
)
def test_each_variant_has_a_commit_of_its_own(load, text, commits):
    campaign = load(f"{PLAIN}{text}\n")
    assert campaign.commit == commits
    stored = json.loads(resolved_text(campaign))
    assert stored["campaign"]["commit"] == commits
    assert stored["defaults"]["commit"] == {}


def test_a_value_that_only_the_commit_uses_is_used(load, problem):
    assert load(f"{UNUSED}commit: '{{rev}}'\n").commit["b"] == "4f0c2a1"
    with pytest.raises(CampaignError, match="no template uses the value 'rev'"):
        load(UNUSED)  # so that it is this key that uses it


def test_a_series_keeps_the_variants_as_they_are_written(load):
    assert load(PLAIN).series is False
    assert load(f"{PLAIN}series: off\n").series is False
    campaign = load(f"{PLAIN}series: on\n")
    assert campaign.series is True
    assert campaign.variants == ("a", "b", "c")
    stored = json.loads(resolved_text(campaign))
    assert stored["campaign"]["series"] is True
    assert stored["defaults"]["series"] is False


def test_a_matrix_is_a_series_where_it_is_said(load):
    text = """\
    name: versions
    variants: {app: {matrix: {rev: [v1, v2, v3]}}}
    benchmarks: {x: {command: ["echo", "{rev}"]}}
    """
    assert load(text).series is False
    assert load(dedent(text) + "series: on\n").variants == ("app-v1", "app-v2", "app-v3")


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (HEAD + LOAD, "judge: rps"),
        *(
            (PLAIN, keys)
            for keys in ("series: on", "commit: '{rev}'", "series: on\ncommit: '{rev}'")
        ),
    ],
)
def test_they_are_no_part_of_the_identity_and_of_the_plan(load, text, keys):
    """Absent means the plan, the bytes and the identity of before."""
    without, with_it = load(text), load(f"{text}{keys}\n")
    assert identity_of(without) == identity_of(with_it)
    assert identity_of(without, 1) == identity_of(with_it, 1)
    plans = [list(PlannedSession(one, 7, 1, None)) for one in (without, with_it)]
    assert plans[0] == plans[1]
    changed = dataclasses.replace(with_it, baseline=with_it.variants[1])
    assert identity_of(changed) != identity_of(without)  # so that what is left out is these alone


@pytest.mark.parametrize(
    ("text", "where", "what", "fix"),
    [
        ("commit: '{rov}'", ":4:10", "unknown placeholder '{rov}'", "known here: rev, variant"),
        ("commit: '{benchmark}'", ":4:10", "unknown placeholder '{benchmark}'", "variant"),
        ("commit: '{rev'", ":4:10", "the brace '{' stands alone", "write '{{'"),
        ("commit: [a, b, c]", ":4:9", "a text", ""),
        ("commit: ''", ":4:9", "'' names no commit for variant 'a'", "a hash or a tag"),
        ("commit: '--force'", ":4:9", "'--force' names no commit for variant 'a'", "a hash or a"),
        ("commit: 'a b'", ":4:9", "'a b' names no commit for variant 'a'", "a hash or a tag"),
        ("comit: '{rev}'", ":4:1", "unknown key 'comit'", "did you mean 'commit'?"),
        ("series: 3", ":4:9", "on or off", ""),
        ("series: [a, b, c]", ":4:9", "on or off", ""),
        ("serie: on", ":4:1", "unknown key 'serie'", "did you mean 'series'?"),
    ],
)
def test_a_mistake_is_told_with_its_place_commit_and_series(mistake, text, where, what, fix):
    mistake(f"{PLAIN}{text}\n", where, what, fix)


def test_a_variant_without_the_value_is_named(problem):
    found = problem(UNUSED.replace("b: {rev: 4f0c2a1}", "b: {}") + "commit: '{rev}'\n")
    assert found.where.endswith(":4:10")
    assert found.what == "'{rev}' has no value for variant 'b'"


@pytest.mark.parametrize(
    ("variants", "said"), [("{a: {}}", "and here is 1"), ("{a: {}, b: {}}", "and here are 2")]
)
def test_two_variants_are_no_series(problem, variants, said):
    text = f"name: n\nvariants: {variants}\nbenchmarks: {{x: {{command: ['true']}}}}\nseries: on\n"
    found = problem(text)
    assert found.where.endswith(":4:9")
    assert found.what == f"a series has 3 variants or more, {said}"
    assert found.fix == "name more variants, or leave 'series' out"
