"""Which metric is judged where nobody names one, and what is said where the campaign does not say it.

Authority: the page on a load generator that runs for a fixed time: its wall time is "as fast as" and
"equivalent" while its throughput falls to a third.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from analysis.data.fleet import joined_trial, open_fleet
from analysis.data.merging import merge_trials
from analysis.data.trial import read_trial
from analysis.diagnose.examine import diagnose_fleet, diagnose_trial
from analysis.diagnose.modes import sources
from analysis.errors import StoreError, UsageError
from analysis.importers.reader import Reading, read_each, read_one, read_sides, read_sources
from analysis.record.shapes import encode
from analysis.record.trial_files import ENVIRONMENT, FINDINGS, JudgedMetrics, judged_since
from analysis.stats.arguments import stream
from analysis.verdict.comparison import compare_trials
from analysis.verdict.fleet import judge_fleet
from analysis.verdict.judging import judge, judge_sources
from analysis.verdict.ranking import rank_variants

CODE = "metric-not-asked"
RPS = {"rps": {"unit": "1/s", "better": "higher"}, "p50": {"unit": "s", "better": "lower"}}
SAID = "declares rps, p50; judged is wall: --metric rps"


def asked(*metrics, at="2026-11-21T04:12:00Z"):
    return (JudgedMetrics(at=at, metrics=metrics),)


@pytest.fixture
def load_of(synthetic, tmp_path):
    """Write a trial of a load generator of one second, whose throughput falls to a third."""

    def write(name="fixed", *, metrics=RPS, **manifest):
        walls = [1 + k / 10_000 for k in (1, 3, 2, 4, 2, 1, 3, 2, 4, 1, 2, 3)]
        made = synthetic(
            {"fast": {"load": walls, "more": walls}, "slow": {"load": walls, "more": walls}},
            sessions=4,
            trial=name,
            metrics=metrics,
            **manifest,
        )
        factors = {"rps": {"fast": 1000, "slow": 300}}
        made.rows = [
            replace(
                row,
                metrics={
                    name: (factors.get(name, {}).get(row.variant, 1) * row.wall_ns / 1e9,)
                    for name in metrics
                },
            )
            for row in made.rows
        ]
        records = (encode({"session": k}) + b"\n" for k in range(1, 5))
        made.extra |= {ENVIRONMENT: b"".join(records), FINDINGS: b""}
        return made.write(tmp_path / name)

    return write


def codes(result):
    return [one.code for one in result.cautions]


def test_without_the_key_it_is_said_first_that_declared_metrics_were_not_judged(load_of):
    trial = read_trial(load_of())
    answer = judge(trial)
    assert answer.data.metric == "wall"
    assert codes(answer)[0] == CODE
    assert answer.cautions[0].text == SAID
    assert re.search(
        "(?m)^note  judged is wall, although rps is declared: --metric rps$", str(answer)
    )
    assert answer.to_dict()["caution_codes"][0] == CODE
    assert rank_variants(trial).cautions[0].text == SAID
    assert CODE in codes(compare_trials(trial, trial))
    assert CODE in codes(sources(trial, rng=stream(1, "s")))


def test_who_names_a_metric_is_told_nothing(load_of):
    trial = read_trial(load_of())
    for metric in ("wall", "rps"):
        assert CODE not in codes(judge(trial, metric=metric))
        assert CODE not in codes(compare_trials(trial, trial, metric=metric))
    assert judge(trial, metric="rps").candidates[0].multilevel.these.outcome == "slower"
    assert judge(trial, metric="wall").candidates[0].multilevel.these.outcome == "equivalent"


def test_the_campaigns_question_is_what_everything_judges(load_of):
    trial = read_trial(load_of(judge=asked("rps", "p50")))
    assert trial.judge == ("rps", "p50")
    answer = judge(trial)
    assert answer.data.metric == "rps"
    assert "(rps)" in str(answer).splitlines()[0]
    assert answer.candidates[0].multilevel.these.outcome == "slower"
    assert CODE not in codes(answer)
    assert diagnose_trial(trial).metric == "rps"
    assert compare_trials(trial, trial).metric == "rps"
    assert sources(trial, rng=stream(1, "s")).response == "rps"
    assert rank_variants(trial).metric == "rps"


def test_the_last_question_holds(load_of):
    history = judged_since(asked("wall"), ("rps",), "2026-11-22T04:12:00Z")
    assert [one.metrics for one in history] == [("wall",), ("rps",)]
    assert judged_since(history, ("rps",), "2026-11-23T04:12:00Z") == history
    assert read_trial(load_of(judge=history)).default_metric == "rps"
    withdrawn = judged_since(history, (), "2026-11-23T04:12:00Z")
    trial = read_trial(load_of("again", judge=withdrawn))
    assert trial.unnamed == ("rps", "p50")
    assert trial.default_metric == "wall"


def test_a_manifest_without_a_question_is_written_as_before(load_of):
    assert "judge" not in json.loads((load_of() / "manifest.json").read_text())
    stored = json.loads((load_of("asked", judge=asked("rps")) / "manifest.json").read_text())
    assert stored["judge"] == [{"at": "2026-11-21T04:12:00Z", "metrics": ["rps"]}]


@pytest.mark.parametrize("wrong", [3, [3], [{"at": "x"}], [{"at": "x", "metrics": "rps"}], "rps"])
def test_a_damaged_question_is_refused(load_of, wrong):
    path = load_of() / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"judge": wrong}))
    with pytest.raises(StoreError, match="manifest is damaged"):
        read_trial(path.parent)


def test_what_meters_count_is_not_declared(load_of):
    counted = {"instructions": {"unit": "1", "better": "lower", "source": "counters"}}
    trial = read_trial(load_of(metrics=counted))
    assert trial.unnamed == ()
    assert CODE not in codes(judge(trial))


def test_an_imported_trial_is_judged_by_its_first_metric_as_ever(load_of):
    path = load_of(origin="imported")
    report = {"format": "x", "cannot_recover": [], "caution_codes": [], "cautions": []}
    (path / "import.json").write_text(json.dumps(report))
    trial = read_trial(path)
    assert trial.unnamed == ()
    answer = judge(trial)
    assert answer.data.metric == "rps"
    assert CODE not in codes(answer)


@pytest.mark.parametrize("judged", [(), ("rps",)])
def test_the_reader_of_sources_follows(load_of, judged):
    path = load_of(judge=asked(*judged) if judged else ())
    sides = read_sides(f"{path}:slow", f"{path}:fast", Reading())
    assert sides.candidate.metric == sides.baseline.metric == (judged or ("wall",))[0]
    found = [
        sides.candidate,
        read_one(f"{path}:slow", Reading()),
        read_each([f"{path}:slow"], Reading())[0],
        read_sources([str(path)], Reading()),
    ]
    for one in found:
        assert (CODE in codes(one)) == (not judged)
    assert CODE not in codes(sides.baseline)  # it is said once
    assert CODE not in codes(read_one(f"{path}:slow", Reading(metric="wall")))


def test_two_sides_say_it_once_and_first(load_of):
    path, other = load_of(), load_of("other")
    for baseline in (f"{path}:fast", f"{other}:fast"):
        told = judge_sources(f"{path}:slow", baseline, Reading()).verdict.cautions
        assert [one.text for one in told if one.code == CODE] == [SAID]
        assert told[0].code == CODE


def test_sides_of_different_questions_are_refused(load_of):
    rps, wall, none = (
        load_of("a", judge=asked("rps")),
        load_of("b", judge=asked("wall")),
        load_of("c"),
    )
    for old in (wall, none):
        with pytest.raises(UsageError, match="key 'judge'") as caught:
            judge_sources(f"{rps}:slow", f"{old}:fast", Reading())
        assert "--metric rps" in str(caught.value)
        with pytest.raises(UsageError, match="key 'judge'"):
            compare_trials(read_trial(rps), read_trial(old))
        with pytest.raises(UsageError, match="key 'judge'"):
            sources([read_trial(rps), read_trial(old)], rng=stream(1, "s"))
        named = judge_sources(f"{rps}:slow", f"{old}:fast", Reading(metric="rps"))
        assert named.verdict.data.metric == "rps"
    same = load_of("d", judge=asked("rps", at="2026-11-25T04:12:00Z"))
    assert judge_sources(f"{rps}:slow", f"{same}:fast", Reading()).verdict.data.metric == "rps"


def test_a_trial_beside_a_file_may_be_told_its_metric(load_of, tmp_path):
    path, file = load_of(), tmp_path / "old.csv"
    file.write_text("load,1000,1001,1002\nmore,1000,1001,1002\n")
    how = Reading(metric="rps", better="higher")
    assert read_sides(f"{path}:slow", str(file), how).candidate.metric == "rps"
    with pytest.raises(UsageError, match="a file has one metric"):
        read_one(str(file), how)


def test_trials_of_one_question_keep_it_when_they_are_merged(load_of, tmp_path):
    parts = [load_of("one", judge=asked("rps")), load_of("two", judge=asked("rps"))]
    merged = read_trial(merge_trials(parts, tmp_path / "all").trial)
    assert merged.judge == ("rps",)
    assert [one.trial for one in merged.manifest.judge] == ["one", "two"]
    third = load_of("three", judge=asked("rps"))
    again = read_trial(merge_trials([tmp_path / "all", third], tmp_path / "more").trial)
    assert [one.trial for one in again.manifest.judge] == ["one", "two", "three"]


@pytest.mark.parametrize("other", [(), asked("wall")])
def test_merged_trials_of_different_questions_ask_for_the_metric(load_of, tmp_path, other):
    """They are merged, for it is no part of the experiment; who judges them says by which."""
    parts = [load_of("one", judge=asked("rps")), load_of("two", judge=other)]
    merged = read_trial(merge_trials(parts, tmp_path / "all").trial)
    with pytest.raises(UsageError, match="one: rps; two: ") as caught:
        judge(merged)
    assert "--metric rps" in str(caught.value)
    with pytest.raises(UsageError, match="key 'judge'"):
        read_sides(f"{tmp_path / 'all'}:slow", None, Reading())
    assert judge(merged, metric="rps").data.metric == "rps"
    told = str(judge(merged, metric="rps")).replace("\\\n", "").split()
    assert "--metric rps" in " ".join(told)  # of the next command too


def test_hosts_of_a_fleet_are_held_to_one_question(load_of, fleet_folder):
    def fleet(*judged):
        folder = fleet_folder(["lab1", "lab2"])
        for name, one in zip(("lab1", "lab2"), judged, strict=True):
            load_of(f"{folder.name}/{name}", judge=one, node=name, host=name, host_id=name)
        return folder

    folder = fleet(asked("rps"), asked("rps"))
    assert judge_fleet(folder).data.metric == diagnose_fleet(folder).metric == "rps"
    assert joined_trial(open_fleet(folder)).judge == ("rps",)
    for answer in (judge_fleet(folder), diagnose_fleet(folder)):
        assert "rps" in str(answer).splitlines()[0]


@pytest.mark.parametrize(
    ("judged", "says"), [((asked("rps"), ()), "differs"), (((), ()), "not asked")]
)
def test_hosts_that_differ_are_refused_and_those_that_do_not_say_it_cautioned(
    load_of, fleet_folder, judged, says
):
    folder = fleet_folder(["lab1", "lab2"])
    for name, one in zip(("lab1", "lab2"), judged, strict=True):
        load_of(f"{folder.name}/{name}", judge=one, node=name, host=name, host_id=name)
    if says == "not asked":
        answer = judge_fleet(folder)
        assert answer.data.metric == "wall"
        assert answer.cautions[0].text == SAID
        return
    for asking in (
        lambda: judge_fleet(folder),
        lambda: diagnose_fleet(folder),
        lambda: judge(joined_trial(open_fleet(folder))),
    ):
        with pytest.raises(UsageError, match="lab1: rps; lab2: nothing"):
            asking()
    answer = judge_fleet(folder, metric="rps")
    assert (answer.data.metric, answer.question.usual) == ("rps", False)


def test_the_next_command_names_a_metric_that_is_not_the_question(load_of):
    trial = read_trial(load_of(judge=asked("rps")))
    assert "--metric" not in judge(trial).next[0]
    assert "--metric wall" in judge(trial, metric="wall").next[0]
