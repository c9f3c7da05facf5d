"""The verdict on a fleet: hosts above sessions, and what is said of hosts that are not there.

Authority: docs/fleet.md, `over_hosts` (held to its formulas in its own tests) and each host's own trial.
"""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest

from analysis.data.fleet import joined_trial, open_fleet
from analysis.data.trial import read_trial
from analysis.errors import InsufficientDataError, StoreError, UsageError
from analysis.importers.reader import open_trial
from analysis.methods.multilevel.hosts import over_hosts
from analysis.record.manifest import judging_with
from analysis.record.trial_files import GivenUp
from analysis.verdict.fleet import disagreeing_sentences, judge_fleet, standing_sentences
from analysis.verdict.judging import judge
from analysis.verdict.screen import candidate_blocks
from harness.cli import main

BENCHMARKS = ("text", "logs", "random")


@pytest.fixture
def fleet(fleet_folder, synthetic):
    """Write a fleet: a shift of the logs a host, and what its environment has."""

    def make(shifts, *, sessions=4, environments=None, absent=(), change=None, others=()):
        names = [f"lab{k}" for k in range(1, len(shifts) + 1)]
        folder = fleet_folder(names)
        rng = np.random.default_rng(20261122)
        for name, shift in zip(names, shifts, strict=True):
            if name in absent:
                continue
            times = {"old": {}, "new": {}}
            for bench in BENCHMARKS:
                moved = np.repeat(rng.normal(0, 0.004, sessions), 4) - shift
                times["old"][bench] = (0.02 * np.exp(rng.normal(0, 0.01, 4 * sessions))).tolist()
                times["new"][bench] = (
                    0.02 * np.exp(moved + rng.normal(0, 0.01, 4 * sessions))
                ).tolist()
            for other in others:
                times[other] = {
                    bench: (0.02 * np.exp(rng.normal(-shift, 0.01, 4 * sessions))).tolist()
                    for bench in BENCHMARKS
                }
            made = synthetic(times, sessions=sessions, warmup=1, host=name, trial=f"t-{name}")
            record = {
                "session": 1,
                "host": {"name": name, "machine_id_sha256": name},
                "cpu": {"model": "M", "governor": "performance"},
                "targets": {"text/new": {"path": "/bin/new", "sha256": "1" * 64}},
            }
            for section, values in (environments or {}).get(name, {}).items():
                record[section] = record[section] | values
            made.extra["environment.jsonl"] = json.dumps(record).encode() + b"\n"
            if change is not None:
                change(name, made)
            made.write(folder / name)
        return folder

    return make


def said(*words, code=0):
    """Give what a command says, which ends with this code: on stdout, or of an error on stderr."""
    out, err = io.StringIO(), io.StringIO()
    assert main([*map(str, words)], out, err) == code
    return out.getvalue() or err.getvalue()


def failing(*hosts, when=lambda row: row.variant == "new"):
    """Change hosts so that runs fail there: those of one variant, or those that are meant."""
    return lambda name, made: made.fail(when) if name in hosts else None


def test_it_is_the_hosts_own_verdicts_put_together(fleet):
    folder = fleet([0.1, 0.12, 0.09])
    answer = judge_fleet(folder)
    own = {name: judge(read_trial(folder / name)) for name in ("lab1", "lab2", "lab3")}
    results = {name: one.candidates[0].multilevel for name, one in own.items()}
    whole = over_hosts(results)
    assert answer.candidates[0].multilevel.to_dict() == whole.to_dict()
    assert answer.candidates[0].hosts == whole.hosts
    both = [sum(getattr(x.counts, k) for x in own.values()) for k in ("runs", "warmups")]
    counts = answer.counts
    assert [counts.sessions, counts.runs, counts.warmups] == [12, *both]
    assert [(one.host, one.state, one.done, one.planned) for one in answer.hosts] == [
        (name, "complete", 120, 120) for name in own
    ]
    (one,) = answer.candidates
    (table,) = candidate_blocks(answer, one, {})
    assert table.name == "hosts-1"
    rows = {row[0]: row for row in table.rows}
    assert list(rows) == [*BENCHMARKS, "these 3", "others like them"]
    for name, line in (
        ("these 3", one.multilevel.these),
        ("others like them", one.multilevel.similar),
    ):
        assert rows[name][1].value == pytest.approx(1 / line.speedup - 1)
        assert rows[name][4] == line.outcome
        assert "?" not in rows[name][2]  # on these hosts it is decided


def test_several_candidates_share_the_risk_over_hosts_too(fleet):
    # authority: rules-2, section 9, and Holm's method by hand; alone each has the whole risk
    folder = fleet([0.006, 0.008, 0.007], sessions=3, others=("other", "third"))
    whole = judge_fleet(folder, margin=0.0)
    alone = [
        judge_fleet(folder, margin=0.0, variants=[x.variant]).candidates[0]
        for x in whole.candidates
    ]
    words = set()
    for level in ("multilevel", "hosts"):
        apart, shared = (
            [line for x in those for line in getattr(x, level).benchmarks]
            for those in (alone, whole.candidates)
        )
        for name in ("pvalue", "pvalue_equivalent"):
            p = np.array([getattr(line, name) for line in apart])
            order = np.argsort(p)
            by_hand = np.empty(9)
            by_hand[order] = np.maximum.accumulate(np.minimum(p[order] * np.arange(9, 0, -1), 1))
            assert [getattr(line, name) for line in shared] == p.tolist()
            told = [getattr(line, f"{name}_adjusted") for line in shared]
            assert told == pytest.approx(by_hand.tolist(), rel=1e-12)
        suites = [
            (getattr(x, level), getattr(y, level))
            for x, y in zip(alone, whole.candidates, strict=True)
        ]
        for mine, ours in suites:
            assert replace(ours.these, outcome=mine.these.outcome) == mine.these  # not adjusted
            assert (ours.these.outcome == "faster") == (3 * mine.these.pvalue <= 0.05)
        words |= {
            (getattr(mine, name).outcome, getattr(ours, name).outcome)
            for mine, ours in suites
            for name in ("these", "similar")
        }
    assert ("faster", "undecided") in words
    assert ("undecided", "faster") not in words
    assert "shared-risk" in [one.code for one in whole.cautions]
    assert [x.multilevel.candidates for x in (*alone, *whole.candidates)] == [1] * 3 + [3] * 3


def test_the_json_has_every_host_and_missing_ones_are_never_averaged_over(fleet):
    folder = fleet([0.1, 0.12, 5.0, 0.09], absent=("lab3",))
    found = json.loads(said("verdict", folder, "--json"))
    states = {one["host"]: one["state"] for one in found["hosts"]}
    assert states == {"lab1": "complete", "lab2": "complete", "lab3": "missing", "lab4": "complete"}
    missing = found["hosts"][2]
    assert (missing["done"], missing["planned"], missing["judged"]) == (0, 120, False)
    (candidate,) = found["candidates"]
    assert candidate["hosts"]["hosts"] == ["lab1", "lab2", "lab4"]
    assert 1.08 < candidate["multilevel"]["these"]["speedup"] < 1.13
    assert "host-missing" in found["caution_codes"]


def test_a_person_reads_the_missing_host_on_a_line(fleet):
    text = str(judge_fleet(fleet([0.1, 0.12, 0.11], absent=("lab2",))))
    assert any("missing" in line and "lab2" in line for line in text.splitlines())
    assert "synthetic on 2 of 3 hosts" in text
    assert "2 hosts x 4 sessions x 4 runs" in " ".join(text.split())
    assert "on these 2 hosts" in " ".join(text.split("\n\n")[0].split())
    (head,) = (line for line in text.splitlines() if "like these, 95 %" in line)
    assert "these hosts" in head


@pytest.mark.parametrize("spread", [0.001, 0.02, 0.5])
def test_no_line_of_the_screen_is_wider_than_80_columns(fleet, monkeypatch, spread):
    long = ("a-benchmark-with-a-long-name-of-its-own", "another-of-them-that-is-as-long", "random")
    monkeypatch.setattr(sys.modules[__name__], "BENCHMARKS", long)
    shifts = [0.01 + spread * place for place in (-1, 0.6, 0.2, 1, -0.8)]
    found = judge_fleet(fleet(shifts, sessions=2))
    text = str(replace(found, data=replace(found.data, path="runs/fleet")))
    assert "on hosts like these: " in text
    assert max(map(len, text.splitlines())) <= 80
    assert len({line.split("  ")[0] for line in text.splitlines() if "…" in line}) >= 2


@pytest.mark.parametrize(
    ("grown", "text"), [(0, "the same within 1 %"), (5 << 20, "10 % more memory (max_rss)")]
)
def test_what_does_not_vary_on_any_host_has_no_interval_to_name(fleet, grown, text):
    def grow(_, made):
        rows = [(row, grown * (row.variant == "new")) for row in made.rows]
        made.rows[:] = [replace(row, max_rss_bytes=row.max_rss_bytes + by) for row, by in rows]

    told = str(judge_fleet(fleet([0.0] * 5, change=grow), metric="max_rss"))
    assert f"\non hosts like these: {text}\n" in told


def test_missing_hosts_stand_on_one_line_by_their_reasons(fleet, tmp_path):
    folder = fleet([0.1, 0.12, 0.11, 0.1], absent=("lab2", "lab3"))
    (folder / "lab3").symlink_to(tmp_path)
    answer = judge_fleet(folder)
    (said,) = standing_sentences(answer.hosts, whole=False)
    assert said.text == (
        "missing: lab2 (its trial has not begun); "
        "lab3 (the trial of host 'lab3' lies outside of the fleet: 'lab3')"
    )
    assert "\nmissing: lab2 (its trial has not begun); lab3 " in str(answer)
    assert str(answer).splitlines()[-1].strip() == "what is missing, and how to go on"


def test_a_host_that_is_not_finished_is_judged_with_a_caution(fleet):
    def cut(name, made):
        if name == "lab2":
            made.rows = made.rows[:60]
            made.manifest = replace(made.manifest, status="interrupted")
        if name == "lab3":
            made.rows = made.rows[:45]
            made.manifest = replace(made.manifest, status="running", finished=None)

    answer = judge_fleet(fleet([0.1, 0.12, 0.11], change=cut))
    assert [(one.state, one.done) for one in answer.hosts] == [
        ("complete", 120),
        ("partial", 60),
        ("partial", 45),
    ]
    assert all(one.judged for one in answer.hosts)
    caution = next(one for one in answer.cautions if one.code == "host-unfinished")
    assert caution.about == ("lab2", "lab3")
    assert "60 of 120" in caution.text


def test_a_failed_or_damaged_host_is_said_and_left_out(fleet):
    folder = fleet([0.1, 0.12, 0.11, 0.1], change=failing("lab1", when=bool))
    place = folder / "lab4" / "measurements.jsonl"
    place.write_bytes(place.read_bytes().replace(b'"ok"', b'"OK"', 1))
    answer = judge_fleet(folder)
    assert [one.state for one in answer.hosts] == ["failed", "complete", "complete", "failed"]
    assert answer.candidates[0].hosts.hosts == ("lab2", "lab3")
    assert next(c for c in answer.cautions if c.code == "host-failed").about == ("lab1", "lab4")


def test_one_host_alone_gives_its_trials_verdict_with_a_caution(fleet):
    folder = fleet([0.1, 0.12, 0.11], absent=("lab1", "lab3"))
    answer, own = judge_fleet(folder), judge(read_trial(folder / "lab2"))
    assert answer.candidates[0].multilevel.to_dict() == own.candidates[0].multilevel.to_dict()
    assert answer.candidates[0].hosts is None
    assert "one-host" in [one.code for one in answer.cautions]
    text = str(answer)
    assert "missing: lab1, lab3" in text
    told = [one.text for one in answer.cautions]
    assert not [one for one in told if "on all hosts" in one]  # the host says it already
    assert {one.text for one in own.cautions} <= set(told)


def test_no_host_at_all_is_an_error_that_says_how_each_stands(fleet):
    folder = fleet([0.1, 0.12], absent=("lab1", "lab2"))
    with pytest.raises(InsufficientDataError, match="lab1 is missing; lab2 is missing"):
        judge_fleet(folder)
    assert "fairtrial status" in said("verdict", folder, code=6)


def test_a_host_that_disagrees_is_named_with_what_differs_there(fleet):
    usual = {"governor": "performance", "model": "M", "turbo": "on", "smt": "on", "driver": "a"}
    other = {"governor": "powersave", "model": "N", "turbo": "off", "smt": "off", "driver": "b"}
    environments = {f"lab{k}": {"cpu": other if k == 3 else usual} for k in range(1, 6)}
    folder = fleet([0.1, 0.1, 0.3, 0.1, 0.1], sessions=6, environments=environments)
    answer = judge_fleet(folder)
    (level,) = (one.hosts for one in answer.candidates)
    assert {one.host for one in level.disagreements} == {"lab3"}
    differs = {one.key: (one.here, one.most) for one in answer.hosts[2].differs}
    assert differs == {f"cpu.{key}": (other[key], usual[key]) for key in usual}
    first = " ".join(str(answer).split())
    assert re.search(r"on hosts like these: [^;]+; lab3 disagrees \(\d+(\.\d)? % less, ", first)
    text = " ".join(str(judge_fleet(folder, explain=True)).split())
    assert "lab3 disagrees with the rest: " in text
    assert "cpu.governor is powersave there, performance on most" in text
    assert "hosts-disagree" in [one.code for one in answer.cautions]
    (said,) = disagreeing_sentences(answer, level)
    assert said.text.count(" on most") == 3
    assert said.text.endswith("; and 2 more differences (--json)")


def test_the_first_host_may_be_the_odd_one(fleet):
    folder = fleet([0.1] * 4, environments={"lab1": {"cpu": {"governor": "powersave"}}})
    answer = judge_fleet(folder)
    assert [len(one.differs) for one in answer.hosts] == [1, 0, 0, 0]
    assert answer.candidates[0].hosts.disagreements == ()  # the negative control


def test_another_binary_is_said(fleet):
    other = {"targets": {"text/new": {"path": "/bin/new", "sha256": "2" * 64}}}
    answer = judge_fleet(fleet([0.1, 0.1, 0.1], environments={"lab2": other}))
    caution = next(one for one in answer.cautions if one.code == "binary-differs")
    assert caution.about == ("lab2",)
    assert "text/new" in caution.text
    alike = [one.code for one in judge_fleet(answer.data.path).cautions]
    assert alike.count("binary-differs") == 1


def test_cloned_images_share_a_machine_id_and_are_two_hosts(fleet):
    def clone(name, made):
        made.manifest = replace(made.manifest, host="image", host_id="same")

    answer = judge_fleet(fleet([0.1, 0.12, 0.11], change=clone))
    assert answer.candidates[0].hosts.hosts == ("lab1", "lab2", "lab3")
    assert {one.host_id for one in answer.hosts} == {"same"}


def test_a_candidate_that_fails_on_one_host_only_is_said(fleet):
    fail = failing("lab2", when=lambda row: (row.variant, row.benchmark) == ("new", "text"))
    answer = judge_fleet(fleet([0.1, 0.12, 0.11], change=fail))
    line = answer.candidates[0].multilevel.benchmarks[0]
    assert (line.name, line.outcome, line.reason) == ("text", "undecided", "fails-always")
    assert line.fails_proven == (len(line.fails.candidate) >= 9)  # three sessions of that host
    assert line.session_ids == ("lab1", "lab3")
    assert answer.candidates[0].hosts.left_out == ("text",)


@pytest.mark.parametrize("lost", [("lab2",), ("lab1", "lab3", "lab4")])
def test_a_candidate_that_crashes_on_some_hosts_is_not_faster_by_the_others(fleet, lost):
    folder = fleet([0.1, 0.1, 0.1, 0.1], change=failing(*lost))
    answer = judge_fleet(folder)
    result = answer.candidates[0].multilevel
    words = {one.outcome for one in (*result.benchmarks, result.these, result.similar)}
    assert words == {"undecided"}
    assert {line.reason for line in result.benchmarks} == {"fails-always"}
    assert {line.failed_candidate for line in result.benchmarks} == {16 * len(lost)}
    told = [one for one in answer.cautions if one.code == "fails-always"]
    assert told[0].about == ("new", *lost)
    assert ("one-host" in [one.code for one in answer.cautions]) == (len(lost) == 3)
    said("gate", "slower>2%", folder, code=1)
    said("verdict", folder, "--gate", "slower>2%", code=1)


def test_a_gate_of_a_candidate_that_crashes_everywhere_is_no(fleet):
    folder = fleet([0.1, 0.1], change=failing("lab1", "lab2"))
    said("gate", "slower>2%", folder, code=1)
    said("verdict", folder, "--gate", "slower>2%", code=1)


@pytest.mark.parametrize(
    ("option", "why", "instead"),
    [
        ("--rank", "over the sessions of one trial", "fleet:ONE"),
        ("--pairs", "over the sessions of one trial", "fleet:OTHER"),
        ("--always-valid", "for sessions, not for hosts", "--looks N"),
        ("--certificate x", "of one machine", "fairtrial calibrate"),
        ("--level iteration", "by their processes", "leave it out"),
    ],
)
def test_what_is_for_one_host_is_refused_with_why_and_what_else(fleet, option, why, instead):
    folder = fleet([0.1, 0.1])
    for command in (["verdict"], ["gate", "slower>2%"])[: 1 + ("--level" in option)]:
        # seen: gate took --level, and judged processes
        told = said(*command, folder, *option.split(), code=2)
        assert "is for the trial of one host: " in told
        assert why in told
        assert instead in told
        assert f"{shlex.join(command)} {folder}/HOST" in told


def test_a_fleet_beside_a_trial_is_counted_in_what_both_have(fleet, synthetic, tmp_path):
    times = {
        name: {bench: [0.02, 0.021, 0.0205, 0.0195] * 4 for bench in BENCHMARKS}
        for name in ("old", "new")
    }
    trial = synthetic(times, sessions=4).write(tmp_path / "trial")
    folder = fleet([0.1, -0.1, 0.02])
    told = " ".join(said("verdict", f"{folder}:new", f"{trial}:old", "--explain").split())
    assert "7 sessions x 4 to 16 runs, sides measured in separate sessions" in told
    assert " more session" in told  # of the trial's side there are no more hosts
    assert "each of 3 hosts (lab1, lab2, lab3) is taken as one session" in told


def test_a_candidate_that_one_host_has_is_of_its_sessions_also_with_the_methods(fleet):
    folder = fleet([0.1, 0.1, 0.1], change=failing("lab1", "lab3"))
    head, asked = (str(judge_fleet(folder, explain=yes)).split("\n\n")[1] for yes in (False, True))
    assert "12 sessions x 4 runs" in head
    assert asked == head


@pytest.mark.parametrize("hosts", [3, 6])
def test_the_published_methods_take_each_host_as_one_session(fleet, hosts):
    folder = fleet([0.1 + 0.01 * k for k in range(hosts)])
    answer, plain = judge_fleet(folder, explain=True), judge_fleet(folder)
    (one,), (bare,) = answer.candidates, plain.candidates
    assert one.multilevel.to_dict() == bare.multilevel.to_dict()  # the answer stays the hosts'
    assert bare.panel is None
    joined = judge(open_trial(folder), explain=True).candidates[0].panel
    assert [(m.method, m.answer) for m in one.panel.methods] == [
        (m.method, m.answer) for m in joined.methods
    ]
    units = {m.method: m.unit for m in one.panel.methods}
    assert units["randomization"] == units["bootstrap"] == ("host" if hosts >= 5 else "block")
    told = [c for c in answer.cautions if c.code == "hosts-as-sessions"]
    assert len(told) == 1
    assert f"each of {hosts} hosts" in told[0].text
    assert "hosts-as-sessions" not in [c.code for c in plain.cautions]
    text = str(answer)
    assert "the published methods on the same data, new against old" in text
    assert "sessions" not in text.partition("why they differ")[2].partition("cautions")[0]


def test_the_published_methods_are_asked_of_judged_hosts_only(fleet):
    folder = fleet([0.1, 0.1, 0.12, 0.11], change=failing("lab2", when=bool), absent=("lab1",))
    answer = judge_fleet(folder, explain=True)
    told = next(c for c in answer.cautions if c.code == "hosts-as-sessions")
    assert "each of 2 hosts (lab3, lab4)" in told.text
    assert answer.candidates[0].panel is not None


def test_wrong_names_are_refused(fleet, tmp_path):
    folder = fleet([0.1, 0.1])
    with pytest.raises(UsageError, match="no variant 'gone'"):
        judge_fleet(folder, variants=["gone"])
    with pytest.raises(UsageError, match="no benchmark 'gone'"):
        judge_fleet(folder, benchmarks=["gone"])
    with pytest.raises(UsageError, match="no benchmark to weigh 'gone'"):
        judge_fleet(folder, weights={"gone": 2.0})
    with pytest.raises(UsageError, match="no benchmark to weigh 'logs'"):
        judge_fleet(folder, benchmarks=["text"], weights={"logs": 2.0})
    with pytest.raises(UsageError, match="no metric"):
        judge_fleet(folder, metric="gone")
    with pytest.raises(StoreError, match="no fleet"):
        judge_fleet(tmp_path)


def test_a_benchmark_that_fails_on_one_host_may_be_weighed(fleet):
    folder = fleet(
        [0.1, 0.1, 0.1], change=failing("lab2", when=lambda row: row.benchmark == "logs")
    )
    weights = {"logs": 5.0, "text": 3.0}
    one = judge_fleet(folder, weights=weights).candidates[0].multilevel
    text, random = (x.speedup for x in one.benchmarks if x.name != "logs")
    assert one.these.speedup == pytest.approx((text**3 * random) ** 0.25)
    alone = judge(read_trial(folder / "lab2"), weights=weights).candidates[0].multilevel
    assert [line.name for line in alone.benchmarks] == ["text", "random"]


def test_a_variant_or_a_benchmark_can_be_chosen_and_a_gate_decided(fleet):
    folder = fleet([0.1, 0.1, 0.1, 0.1, 0.1])
    answer = judge_fleet(folder, benchmarks=["text"])
    assert [line.name for line in answer.candidates[0].multilevel.benchmarks] == ["text"]
    assert "hosts" in said("gate", "slower>2%", f"{folder}:new")
    said("verdict", folder, "--gate", "faster<50%", code=1)


def test_the_newest_in_runs_may_be_a_fleet(fleet, tmp_path, monkeypatch):
    folder = fleet([0.1, 0.1])
    (tmp_path / "runs").mkdir()
    shutil.move(folder, tmp_path / "runs" / "fleet")
    monkeypatch.chdir(tmp_path)
    assert len(json.loads(said("verdict", "--json"))["hosts"]) == 2


def test_a_fleet_of_one_variant_gives_its_intervals_by_the_hosts(fleet):
    def keep_old(_, made):
        made.manifest = replace(made.manifest, variants=("old",))
        made.plan = [row for row in made.plan if row.variant == "old"]
        made.rows = [row for row in made.rows if row.variant == "old"]
        made.manifest = replace(made.manifest, planned=len(made.plan))

    answer = judge_fleet(fleet([0.1, 0.1, 0.1], change=keep_old))
    assert answer.candidates == ()
    assert [one.sessions for one in answer.alone] == [3, 3, 3]
    assert [one.judged for one in answer.hosts] == [True] * 3
    assert "old was measured alone" in str(answer)
    assert "3 hosts  " in str(answer)  # what the intervals are by
    assert "3 sessions" not in str(answer)


@pytest.mark.parametrize("hosts", [4, 6])
def test_two_variants_over_all_hosts_are_explained_and_gated_by_hosts(fleet, hosts):
    folder = fleet([0.1, -0.1, 0.02, 0.3, 0.05, -0.2][:hosts])
    words = ["verdict", f"{folder}:new", f"{folder}:old", "--explain"]
    told = said(*words)
    assert f"new against old · wall time · {hosts} hosts x 16 runs" in told
    assert " more host" in told
    assert " more session" not in told
    why = told.partition("the published methods")[2].partition("cautions")[0]
    assert "host" in why
    assert "session" not in why
    told = " ".join(said(*words[:3], "--gate", "slower>2%", code=7).split())
    assert "than old on hosts like these: 2 % is neither" in told


def test_iterations_are_told_host_by_host(fleet, monkeypatch):
    """Authority: the verdict of each host's own trial; on lab2 runs of new change at their end."""
    monkeypatch.setattr(sys.modules[__name__], "BENCHMARKS", ("text", "logs"))

    def change(name, made):
        rng = np.random.default_rng(5)

        def printed(row):
            values = 1e-9 * row.wall_ns * np.exp(0.001 * rng.standard_normal(120))
            values[:10] *= 3
            if (name, row.variant) == ("lab2", "new"):
                values[-20:] *= 1.5
            return replace(row, metrics={"t": tuple(values.tolist())})

        made.rows[:] = map(printed, made.rows)
        about = {"unit": "s", "better": "lower", "warmup_iterations": "auto"}
        made.manifest = replace(made.manifest, metrics={"t": about})

    folder = fleet([0.1, 0.12, 0.09], sessions=2, change=change)
    answer = judge_fleet(folder, metric="t")
    own = {name: judge(read_trial(folder / name), metric="t") for name in ("lab1", "lab2", "lab3")}
    assert list(answer.iterations) == [
        replace(one, host=name) for name, found in own.items() for one in found.iterations
    ]
    assert len(answer.iterations) == 3 * 2 * len(BENCHMARKS)
    lines = answer.candidates[0].multilevel.benchmarks
    assert {line.reason for line in lines} == {"no-steady-state"}
    with judging_with(10):  # negative control: a number leaves nothing open
        found = judge_fleet(folder, metric="t")
    assert {one.setting for one in found.iterations} == {10}
    assert {line.reason for line in found.candidates[0].multilevel.benchmarks} == {None}


def test_a_cell_that_was_never_ok_on_a_host_has_no_speed(fleet):
    def change(name, made):
        lost = [
            run.position for run in made.plan if (run.benchmark, run.variant) == ("text", "new")
        ]
        if name != "lab2":
            return
        made.rows[:] = [
            replace(row, outcome="exit", exit_code=1) if row.position == lost[0] else row
            for row in made.rows
            if row.position not in lost[1:]
        ]
        cell = {
            "benchmark": "text",
            "variant": "new",
            "position": lost[0],
            "runs": 0,
            "why": "exit",
        }
        one = GivenUp(**cell, session=1, never_ok=True)
        given_up = tuple(replace(one, session=k, warmups=int(k > 1)) for k in range(1, 5))
        made.manifest = replace(made.manifest, given_up=given_up)

    folder = fleet([0.1, 0.12, 0.09], change=change)
    answer = judge_fleet(folder)
    line = answer.candidates[0].multilevel.benchmarks[0]
    assert (line.name, line.outcome, line.reason) == ("text", "undecided", "fails-always")
    assert "lab2: left out of 4 sessions, as no run was ok: text / new" in str(answer)
    assert [one.planned for one in answer.hosts] == [one.done for one in answer.hosts]
    for by in ("host", "session"):  # whoever takes the hosts as one trial knows of the failure
        assert joined_trial(open_fleet(folder), by=by).matrix("new").failed == {"text": 1}
