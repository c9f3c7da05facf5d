"""The key `counters`: both forms, the identity, and what it cannot stand beside, each in its place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from analysis.errors import CampaignError
from harness.campaign.model import CounterEvent, Counting
from harness.campaign.resolve import load_campaign, one_block, one_cell
from harness.campaign.schema import identity_of

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
     "of 8 blocks at most, 4 are not counted, and 'stop' looks at 5 of those at least",
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
