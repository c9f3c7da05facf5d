"""Two files of one experiment have one identity, whichever version of fairtrial reads them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

import harness.campaign.schema
from analysis.errors import CampaignError
from harness.campaign.model import Bound, CounterEvent, Counting, Isolation
from harness.campaign.resolve import campaign_name, load_campaign, one_block, one_cell
from harness.campaign.schema import (
    ISOLATION,
    PROTOCOL,
    RULE,
    first_defaults,
    identity_of,
    resolved_text,
    stored_defaults,
    todays_defaults,
)
from harness.campaign.target_schema import VARIANT
from harness.trial.plan import PlannedSession

ROOT = Path(__file__).resolve().parents[4]
GOLDEN = json.loads((ROOT / "tests/golden/campaign_identity/first_version.json").read_text())
FROZEN = Path(harness.campaign.schema.__file__).with_name("first_version.json")
SMALL = "name: n\nvariants: {a: , b: }\nbaseline: a\nbenchmarks: {x: {command: [p]}}\n"


def change_default(monkeypatch, section, name, value):
    monkeypatch.setitem(section.keys, name, dataclasses.replace(section.keys[name], default=value))


# --- the first version's ----------------------------------------------------------------------


def test_what_the_first_version_had_is_frozen():
    # Its trials are held against these values for ever: no later version may change this file.
    digest = hashlib.sha256(FROZEN.read_bytes()).hexdigest()
    assert digest == "4236c5fa2c38f32df83dc93e93c763bcd1f8cba08969df1a468a99a7c43f4c56"
    defaults = first_defaults()
    assert len(defaults) == 61
    assert (defaults["protocol.sessions"], defaults["protocol.runs"]) == (3, 10)
    assert (defaults["protocol.warmup"], defaults["protocol.order"]) == (1, "shuffled")
    assert (defaults["protocol.timeout"], defaults["protocol.grace"]) == (None, 1.0)
    assert (defaults["isolation.cpus"], defaults["isolation.padding"]) == ("auto", "random")
    assert defaults["isolation.output_limit"] == 64 * 2**20
    assert (defaults["checks.require"], defaults["checks.warn"]) == ([], [])


@pytest.mark.parametrize("name", GOLDEN)
def test_the_first_versions_identity_is_still_computed(load, name):
    campaign = load(GOLDEN[name]["text"], defaults=first_defaults())
    assert identity_of(campaign, 1) == GOLDEN[name]["sha256"]


@pytest.mark.parametrize("folder", ["tests/data/sample-0.2.0", "tests/golden/schemas/1-unfinished"])
def test_the_first_versions_trials_have_their_identity(folder):
    manifest = json.loads((ROOT / folder / "manifest.json").read_text())
    campaign = load_campaign(ROOT / folder / "campaign.yaml", defaults=first_defaults())
    assert identity_of(campaign, 1) == manifest["campaign_sha256"]


def test_changed_defaults_leave_the_first_versions_identity(load, monkeypatch):
    change_default(monkeypatch, PROTOCOL, "sessions", 5)
    change_default(monkeypatch, PROTOCOL, "timeout", 60.0)
    change_default(monkeypatch, ISOLATION, "cpus", "none")
    change_default(monkeypatch, VARIANT, "stdout", "discard")
    for known in GOLDEN.values():
        campaign = load(known["text"], defaults=first_defaults())
        assert identity_of(campaign, 1) == known["sha256"]


def test_the_first_versions_identity_sees_every_change(load):
    known = GOLDEN["stop.yaml"]
    for old, new in (("width: 0.02", "width: 0.03"), ("batch", "other"), ("steal", "smt")):
        changed = load(known["text"].replace(old, new), defaults=first_defaults())
        assert identity_of(changed, 1) != known["sha256"]


# --- today's ----------------------------------------------------------------------------------


def test_a_changed_default_leaves_the_identity_of_a_campaign_under_its_own(load, monkeypatch):
    then = dict(todays_defaults())
    before = load(SMALL)
    change_default(monkeypatch, PROTOCOL, "sessions", 5)
    change_default(monkeypatch, VARIANT, "stdout", "discard")
    today, again = load(SMALL), load(SMALL, defaults=then)
    assert (today.protocol.sessions, today.cells[0].stdout) == (5, "discard")
    assert (again.protocol.sessions, again.cells[0].stdout) == (6, "file")
    assert identity_of(again) == identity_of(before)
    assert again.to_dict() == before.to_dict()


def test_what_is_written_out_counts_whatever_the_default_became(load, monkeypatch):
    then = dict(todays_defaults())
    before = load(SMALL)
    change_default(monkeypatch, PROTOCOL, "sessions", 5)
    assert identity_of(load(SMALL + "protocol: {sessions: 6}\n", defaults=then)) == identity_of(
        before
    )
    assert identity_of(load(SMALL + "protocol: {sessions: 5}\n", defaults=then)) != identity_of(
        before
    )


def test_a_default_that_a_table_lacks_is_todays(load):
    older = {key: value for key, value in todays_defaults().items() if key != "isolation.aslr"}
    campaign = load(SMALL, defaults=older)
    assert campaign.isolation.aslr
    assert identity_of(campaign) == identity_of(load(SMALL))


def test_a_limit_by_default_is_no_part_of_the_identity(load):
    then = {**todays_defaults(), "isolation.limits.core": 0}
    campaign = load(SMALL, defaults=then)
    assert campaign.isolation.limits == {"core": 0}
    assert identity_of(campaign) == identity_of(load(SMALL))
    more = load(SMALL + "isolation: {limits: {nofile: 5}}\n", defaults=then)
    assert more.isolation.limits == {"core": 0, "nofile": 5}
    assert identity_of(more) != identity_of(campaign)


def test_each_setting_is_part_of_the_identity(load):
    settings = [
        *("protocol: {grace: 2s}", "isolation: {environment: {set: {A: b}}}", "seed: 2"),
        *("checks: {warn: [load]}", "hooks: {timeout: 5}", "description: x", "baseline: b"),
        *("isolation: {limits: {core: 0}}", "hooks: {finish: [[x]]}", "hooks: {before: [[x]]}"),
        *("protocol: {stop: {width: 0.1}}", "protocol: {stop: {width: 0.1, min_runs: 6}}"),
        "build: make",
    ]
    texts = [SMALL, *(SMALL.replace("baseline: a\n", "") + setting for setting in settings)]
    texts += [
        SMALL.replace("command: [p]", f"command: [p], {setting}")
        for setting in (
            "env: {A: b}",
            "stdin: f",
            "inputs: [f]",
            "timeout: 1s",
            "expect: {exit: 1}",
        )
    ]
    assert len({identity_of(load(text)) for text in texts}) == len(texts)


def test_two_rules_give_two_identities(load):
    campaign = load(SMALL)
    assert identity_of(campaign) == identity_of(campaign, RULE) != identity_of(campaign, 1)


def test_a_part_of_which_nothing_is_left_is_left_out(load, monkeypatch):
    # as a later version's whole new section, of which an earlier campaign uses nothing
    hashed = []
    monkeypatch.setattr(hashlib, "sha256", lambda text: hashed.append(text) or _Digest())
    identity_of(load(SMALL))
    content = json.loads(hashed[0])
    assert content.keys() == {"name", "baseline", "variants", "benchmarks", "cells", "builds"}
    assert content["cells"][0].keys() == {"benchmark", "variant", "command", "cwd"}


class _Digest:
    def hexdigest(self):
        return ""


# --- what a trial stores ----------------------------------------------------------------------


def test_the_stored_campaign_has_its_defaults_and_its_content(load):
    campaign = load(SMALL + "isolation: {cpus: 2-3}\n")
    stored = json.loads(resolved_text(campaign))
    assert stored["defaults"] == dict(todays_defaults())
    assert stored["campaign"] == campaign.to_dict()
    assert stored["campaign"]["isolation"]["cpus"] == [2, 3]
    assert stored["campaign"]["protocol"]["sessions"] == 6
    assert stored_defaults(resolved_text(campaign)) == (dict(todays_defaults()), {})


def test_stored_defaults_bring_back_every_value_with_its_type(load):
    defaults, _ = stored_defaults(resolved_text(load(SMALL)))
    campaign = load(SMALL, defaults=defaults)
    assert campaign == load(SMALL)
    assert campaign.isolation == Isolation()
    assert campaign.cells[0].expect.exit_codes == (0,)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"{}", b'{"defaults": 3}'])
def test_a_text_without_defaults_is_refused(text):
    with pytest.raises(ValueError, match=r".+"):
        stored_defaults(text)


def test_a_damaged_default_is_named_and_one_of_a_key_that_is_not_known_is_kept():
    kept = b'{"defaults": {"protocol.runs": 7, "protocol.of_a_later_version": [1]}}'
    assert stored_defaults(kept)[0] == {"protocol.runs": 7, "protocol.of_a_later_version": [1]}
    damaged = b'{"defaults": {"protocol.sessions": 3, "protocol.runs": "many"}}'
    with pytest.raises(ValueError, match=r"^protocol\.runs cannot have had the default"):
        stored_defaults(damaged)
    own = b'{"defaults": {}, "own_defaults": {"isolation.nice": "low"}}'
    with pytest.raises(ValueError, match=r"^isolation\.nice cannot have had the default"):
        stored_defaults(own)


# --- the name alone ---------------------------------------------------------------------------


def test_the_name_is_read_from_a_campaign_with_other_mistakes(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("name: n.1\nprotocol: {runs: x}\n")
    assert campaign_name(path) == "n.1"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("variants: {a: }\n", "'name' is missing"),
        ("name: a b\n", "'name' must be a name"),
        ("name: [a]\n", "'name' must be a name"),
        ("- name\n", "a campaign is a mapping of keys"),
    ],
)
def test_a_campaign_without_a_name_is_told_so(tmp_path, text, what):
    path = tmp_path / "c.yaml"
    path.write_text(text)
    with pytest.raises(CampaignError, match=what):
        campaign_name(path)


def test_who_may_read_a_trial_is_no_part_of_the_identity(load):
    plain, shared = load(SMALL), load(SMALL + "share: true\n")
    assert (plain.share, shared.share) == (False, True)
    for rule in (1, RULE):
        assert identity_of(plain, rule) == identity_of(shared, rule)


# --- The key `counters`: both forms, the identity, and what it cannot stand beside, each in its place


HEAD = """\
name: n
variants: {a: {}, b: {}}
benchmarks:
  x: {command: [p], metrics: {loops: {regex: "(x)", unit: "1", better: lower}}}
"""


def load(tmp_path: Path, text: str):
    path = tmp_path / "c.yaml"
    path.write_text(HEAD + dedent(text))
    return load_campaign(path)


def told(tmp_path: Path, text: str) -> list[tuple[str, str, str]]:
    """Give of each problem its line and column behind the head, what is wrong, and the remedy."""
    with pytest.raises(CampaignError) as caught:
        load(tmp_path, text)
    assert caught.value.exit_code == 2
    found = []
    for problem in caught.value.problems:
        line, column = map(int, problem.where.rsplit(":", 2)[1:])
        found.append((f"{line - HEAD.count(chr(10))}:{column}", problem.what, problem.fix or ""))
    return found


def test_a_list_is_short_for_events(tmp_path):
    short = load(tmp_path, "counters: [instructions, page-faults]\n")
    long = load(tmp_path, "counters: {events: [instructions, page-faults]}\n")
    spelled = load(
        tmp_path, "counters: {events: [instructions, page-faults], every: 1, multiplex: refuse}\n"
    )
    events = (CounterEvent(name="instructions"), CounterEvent(name="page-faults"))
    assert short.counters == long.counters == spelled.counters == Counting(events=events)
    assert identity_of(short) == identity_of(long) == identity_of(spelled)


def test_a_campaign_without_the_key_keeps_its_identity(tmp_path):
    without = load(tmp_path, "")
    assert without.counters is None
    assert identity_of(without) == identity_of(replace(without, counters=None))
    assert identity_of(without) != identity_of(load(tmp_path, "counters: [cycles]\n"))
    # what is counted is a part of the experiment, and so is in which blocks
    one, two = (load(tmp_path, f"counters: {{events: [cycles], every: {k}}}\n") for k in (2, 3))
    assert identity_of(one) != identity_of(two)


def test_a_raw_event_has_a_name(tmp_path):
    text = """\
        counters:
          events: [{raw: "cpu/event=0x3c,umask=0x1/", name: halts}, task-clock]
          multiplex: allow
        """
    counting = load(tmp_path, text).counters
    assert counting == Counting(
        events=(
            CounterEvent(name="halts", raw="cpu/event=0x3c,umask=0x1/"),
            CounterEvent(name="task-clock"),
        ),
        multiplex="allow",
    )


def test_a_part_that_is_tried_is_counted_in_its_only_block(tmp_path):
    campaign = load(tmp_path, "counters: {events: [cycles], every: 4}\n")
    for part in (one_block(campaign), one_cell(campaign, "x:a")):
        assert part.counters == replace(campaign.counters, every=1)
    assert one_block(replace(campaign, counters=None)).counters is None


@pytest.mark.parametrize(
    ("every", "counted"), [(1, [0, 1, 2, 3, 4, 5, 6]), (2, [2, 4, 6]), (3, [3, 6]), (6, [6])]
)
def test_each_so_many_th_block_is_counted(every, counted):
    counting = Counting(events=(), every=every)
    assert [block for block in range(7) if counting.counts(block)] == counted
    assert counting.uncounted(6) == (6 if every == 1 else 6 - len(counted))


def test_there_may_be_as_many_events_as_the_message_of_one_too_many_says(tmp_path):
    named = [f"{{raw: cpu/event={number}/, name: e{number}}}" for number in range(33)]
    most = load(tmp_path, f"counters: [{', '.join(named[:32])}]\n").counters
    assert [event.name for event in most.events] == [f"e{number}" for number in range(32)]
    [(_, what, _)] = told(tmp_path, f"counters: [{', '.join(named)}]\n")
    assert what == "'counters' must not have more than 32 entries"


WRONG = [
    ("counters: []", "1:11", "'counters' must not be empty", "give a value"),
    ("counters: {}", "1:1", "'events' is missing in counters", "add it"),
    ("counters: cycles", "1:11", "'counters' must be a list of events or a mapping with 'events'", ""),
    ("counters: [cycels]", "1:12", "'counters[0]' must be a known name, not 'cycels'", "did you mean 'cycles'?"),
    ("counters: [cycles, cycles]", "1:20", "the event 'cycles' stands here twice", "delete one"),
    ("counters: {events: [cycles], every: 0}", "1:37", "'every' must be a whole number", ""),
    ("counters: {events: [cycles], every: 9}", "1:37",
     "a session has 8 blocks: with every: 9 none is counted", "lower it, or give more runs"),
    ("counters: {events: [cycles], evry: 2}", "1:30", "unknown key 'evry' in counters", "'every'"),
    ("counters: {events: [cycles], multiplex: maybe}", "1:41", "'multiplex' must be refuse or allow", ""),
    ("counters: [{raw: cycles, name: x}]", "1:18",
     "the event 'cycles' is not PMU/.../ with two slashes", "write it as PMU/event=0x3c"),
    ("counters: [{raw: cpu/event=0x3c/u, name: x}]", "1:18",
     "the event 'cpu/event=0x3c/u' has 'u' behind its last slash", "delete that"),
    ("counters: [{raw: cpu/event=zz/, name: x}]", "1:18",
     "the event 'cpu/event=zz/' gives 'event' the value 'zz', which is not a number", ""),
    ("counters: [{raw: cpu/a=1/, name: energy_net_j}]", "1:34",
     "'energy_net_j' is what 'energy: on' measures", "another name"),
    ("counters: [{raw: cpu/a=1/, name: wall}]", "1:34", "'wall' is a metric that is always measured",
     "choose another name"),
    ("counters: [{raw: cpu/a=1/, name: cycles}]", "1:34",
     "'cycles' is an event that is known by this name", "write '- cycles'"),
    ("counters: [cycles, {raw: cpu/a=1/, name: a}, {raw: cpu/a=2/, name: a}]", "1:68",
     "the event 'a' stands here twice", "delete one"),
    ("counters: [{raw: cpu/a=1/}]", "1:12", "'name' is missing in counters[0]", "add it"),
    ("counters: [" + ", ".join(["cycles"] * 33) + "]", "1:11",
     "'counters' must not have more than 32 entries", "delete some"),
    ("counters: {events: [cycles], every: 2}\nprotocol: {stop: {width: 0.1, max_runs: 8}}", "1:37",
     "4 of at most 8 blocks are not counted, and 'stop' looks at no fewer than 5 of those",
     "raise 'every' or stop.max_runs"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "where", "what", "fix"), WRONG)
def test_a_wrong_one_is_told_in_its_place(tmp_path, text, where, what, fix):
    found = told(tmp_path, text + "\n")
    assert [place for place, _, _ in found] == [where], found
    assert found[0][1].startswith(what)
    assert fix in found[0][2]


@pytest.mark.parametrize(
    "counters", ["[{raw: cpu/a=1/, name: loops}]", "{events: [{raw: cpu/a=1/, name: loops}]}"]
)
def test_a_metric_of_the_user_cannot_have_the_name_of_an_event(tmp_path, counters):
    found = told(tmp_path, f"counters: {counters}\n")
    assert found == [
        (
            "0:31",
            "the metric 'loops' is counted in this campaign (key 'counters')",
            "choose another name, or leave the event out there",
        )
    ]


def test_only_events_that_are_counted_take_their_names(tmp_path):
    # campaigns that parse the output of perf stat were there before
    text = HEAD.replace("loops", "instructions") + "counters: [cycles]\n"
    path = tmp_path / "c.yaml"
    path.write_text(text)
    assert load_campaign(path).cell("x", "a").metrics[0].name == "instructions"
    path.write_text(text.replace("[cycles]", "[instructions]"))
    with pytest.raises(CampaignError, match="the metric 'instructions' is counted"):
        load_campaign(path)


# --- When a metric is read, and what a run's value must keep to: forms, mistakes, and what stays as it was
#
# Authority: the contract of keys to come: absent means the plan, the bytes and the identity of before.


TEXT = """\
name: read
build: make
variants: {a: , b: }
benchmarks:
  x:
    command: [run]
    metrics:
      m: {regex: '(.+)', unit: ms, better: lower%s}
"""
EXPECT = TEXT % "" + "    expect: {metrics: %s}\n"


def test_it_is_read_after_the_run_the_hooks_or_the_build(load, tmp_path):
    for said, when in (("", "run"), (", when: run", "run"), (", when: build", "build")):
        (rule,) = load(TEXT % said).cells[0].metrics
        assert (rule.when, rule.source) == (when, "stdout")
    (rule,) = load(TEXT % ", when: after, from: 'cost-{variant}'").cells[0].metrics
    assert (rule.when, rule.source) == ("after", tmp_path / "cost-a")


def test_absent_is_the_campaign_of_before(load):
    plain, said = load(TEXT % ""), load(TEXT % ", when: run")
    assert identity_of(plain) == identity_of(said) == identity_of(load(EXPECT % "{}"))
    assert plain.to_dict() == said.to_dict() == load(EXPECT % "{}").to_dict()
    stored = json.loads(resolved_text(plain))
    cell = stored["campaign"]["cells"][0]
    assert "when" not in cell["metrics"][0]
    assert "bounds" not in cell["expect"]
    assert stored["defaults"]["metrics.*.when"] == "run"


def test_each_is_another_experiment_with_the_same_plan(load):
    texts = [
        TEXT % "",
        TEXT % ", when: build",
        TEXT % ", from: f",
        TEXT % ", from: f, when: build",
        TEXT % ", from: f, when: after",
        EXPECT % "{m: {at_most: 5}}",
        EXPECT % "{m: {at_least: 5}}",
        EXPECT % "{m: {at_most: 6}}",
    ]
    assert len({identity_of(load(text)) for text in texts}) == len(texts)
    plans = [list(PlannedSession(load(text), 7, 1, None)) for text in texts]
    assert all(plan == plans[0] for plan in plans)
    stored = json.loads(resolved_text(load(texts[4])))["campaign"]["cells"][0]["metrics"][0]
    assert stored["when"] == "after"


@pytest.mark.parametrize(
    ("said", "what", "fix"),
    [
        ("builds", "'when' must be run, after or build, not 'builds'", "did you mean 'build'?"),
        ("[run]", "'when' must be run, after or build, not a list", ""),
        ("", "'when' must be run, after or build, not an empty value", ""),
        ("after", "no hook changes what the run wrote to stdout", "name the file that a hook writes"),
        ("after, from: stderr", "no hook changes what the run wrote to stderr", "under 'from'"),
        ("build, from: stderr", "what the steps of a build write is one text", "write from: stdout, which holds both"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_line(problem, said, what, fix):
    found = problem(TEXT % f", when: {said}")
    assert (found.where.split(":")[1], what in found.what) == ("8", True)
    assert fix in (found.fix or "")


@pytest.mark.parametrize("many", ["3", "auto"])
def test_a_build_has_no_iterations_to_warm_up(problem, load, many):
    found = problem(TEXT % f", when: build, warmup_iterations: {many}")
    assert found.what == "the metric 'm' is a number of the build, which has no iterations"
    assert (found.where.split(":")[1], found.fix) == ("8", "leave 'warmup_iterations' out")
    load(TEXT % ", when: build, warmup_iterations: 0")


def test_a_number_of_a_build_needs_one(problem, load):
    text = TEXT % ", when: build"
    found = problem(text.replace("b: }", "b: {build: []}}"))
    assert found.what == "the variant 'b' has no build"
    assert found.where.split(":")[1] == "8"
    assert "in the variants that have one" in found.fix
    found = problem(text.replace("build: make\n", ""))
    assert found.what == "the variant 'a' has no build"
    load(text.replace("build: make\n", "").replace("a: , b: ", "a: {build: m}, b: {build: n}"))


def test_what_a_build_prints_is_read_whatever_becomes_of_the_runs_output(load, problem):
    text = (TEXT % ", when: build") + "    stdout: discard\n"
    assert load(text).cells[0].metrics[0].when == "build"
    assert "discarded" in problem(text.replace(", when: build", "")).what


def test_a_file_that_the_build_makes_is_none_that_each_run_writes(problem, load):
    text = (TEXT % ", from: 'm-{variant}'%s").replace(
        "build: make", "build: {run: make, artifacts: ['m-{variant}']}"
    )
    for when in ("", ", when: after"):
        found = problem(text % when)
        assert found.what.startswith("the metric 'm' is read from a file that the build makes")
        assert (found.where.split(":")[1], found.fix) == ("8", "write 'when: build'")
    load(text % ", when: build")


def test_a_name_is_a_number_of_builds_or_of_runs(problem):
    other = "  y: {command: [run], metrics: {m: {regex: '(.)', unit: ms, better: lower%s}}}\n"
    found = problem((TEXT % ", when: build") + other % "")
    assert found.what == "the metric 'm' has 'when: build' elsewhere"
    assert found.where.split(":")[1] == "9"


@pytest.mark.parametrize("name", ["build_seconds", "build_max_rss", "program_bytes"])
def test_what_is_known_of_every_build_can_be_the_question(load, problem, name):
    load(TEXT % "" + f"judge: {name}\n")
    found = problem((TEXT % "").replace("b: }", "b: {build: []}}") + f"judge: {name}\n")
    assert f"no metric '{name}'" in found.what
    found = problem(TEXT % "" + f"judge: {name}\nprotocol: {{stop: {{width: 0.02}}}}\n")
    assert (
        found.what
        == f"'stop' counts runs, and '{name}', which is judged, is a number of the builds"
    )
    own = (TEXT % "").replace("m: {", f"{name}: {{")  # a declared metric of that name wins
    load(own + f"judge: {name}\nprotocol: {{stop: {{width: 0.02}}}}\n")


# ---- bounds


@pytest.mark.parametrize(
    ("said", "bound"),
    [
        ("{m: {at_most: 5}}", Bound(metric="m", at_most=5.0)),
        ("{m: {at_most: 980us}}", Bound(metric="m", at_most=0.98)),
        ("{m: {at_most: 1 s, at_least: 0}}", Bound(metric="m", at_most=1000.0, at_least=0.0)),
        ("{m: {at_least: -1.5e3}}", Bound(metric="m", at_least=-1500.0)),
    ],
)
def test_a_bound_is_in_the_metrics_unit(load, said, bound):
    campaign = load(EXPECT % said)
    assert [cell.expect.bounds for cell in campaign.cells] == [(bound,), (bound,)]
    stored = json.loads(resolved_text(campaign))["campaign"]["cells"][0]["expect"]["bounds"]
    assert stored == [{"metric": "m", "at_most": bound.at_most, "at_least": bound.at_least}]


def test_a_share_may_be_written_as_the_program_prints_it(load):
    text = (EXPECT % "{m: {at_most: 0.1 %}}").replace("unit: ms", "unit: '1'")
    assert load(text).cells[0].expect.bounds == (Bound(metric="m", at_most=0.001),)
    text = text.replace("unit: '1'", "unit: '%'")
    assert load(text).cells[0].expect.bounds == (Bound(metric="m", at_most=0.1),)


@pytest.mark.parametrize(
    ("said", "what", "fix"),
    [
        ("{n: {at_most: 5}}", "'n' is no metric that is declared there", "known here: m"),
        ("{wall: {at_most: 5}}", "'wall' is no metric that is declared", "known here: m"),
        ("{m: {}}", "needs 'at_most' or 'at_least'", ""),
        ("{m: 5}", "must be a mapping", ""),
        ("{m: {atmost: 5}}", "unknown key 'atmost'", "did you mean 'at_most'?"),
        ("{m: {at_most: few}}", "must be a number, such as 5, 20ms or 0.1 %, not 'few'", ""),
        ("{m: {at_most: 5 fortnights}}", "'5 fortnights' is in 'fortnights', which is not known", "write it in ms"),
        ("{m: {at_most: 5MB}}", "'5MB' is in 'MB', which cannot be converted to ms", "write it in ms"),
        ("{m: {at_most: 1, at_least: 2}}", "no value of 'm' keeps to both", "exchange them"),
        ("[m]", "must be a mapping", ""),
    ],
)  # fmt: skip
def test_a_mistake_in_a_bound_is_told_with_its_place(problem, said, what, fix):
    found = problem(EXPECT % said)
    assert found.where.split(":")[1] == "9"
    assert what in found.what
    assert fix in (found.fix or "")


def test_no_run_can_keep_to_a_number_of_the_build(problem):
    found = problem((EXPECT % "{m: {at_most: 5}}").replace("lower}", "lower, when: build}"))
    assert found.what == "the metric 'm' is a number of the build, and no run can keep to it"


@pytest.mark.parametrize(
    ("build", "after", "command", "word"),
    [
        ("echo 1 > m.txt", "true", "run", "build"),
        ("true", "echo 1 > m.txt", "run", "after"),
        ("true", "true", "run", None),
        ("true", "cat m.txt", "run > m.txt", None),  # the run may write it
        ("echo 1 > old-m.txt", "echo 1 > m.txt.gz; echo 1 > m.txt-2", "run", None),  # other files
    ],
)
def test_a_file_that_a_build_or_a_hook_names_and_no_run_is_noted(load, build, after, command, word):
    text = TEXT.replace(
        "build: make", f"build: {{shell: '{build}'}}\nhooks: {{after: {{shell: '{after}'}}}}"
    )
    text = text.replace("command: [run]", f"command: {{shell: '{command}'}}")
    found = [one for one in load(text % ", from: m.txt").notes if "the metric" in one]
    assert len(found) == (word is not None)
    assert all(one.endswith(f"add 'when: {word}' to the metric") for one in found)
    if word:
        there = load(text % f", from: m.txt, when: {word}").notes
        assert not any("the metric" in one for one in there)
