"""What comes next after a verdict: exact commands, and only those that can be executed.

Authority: the page of the first minute ("decided: report; undecided: go on; failed: correct").
"""

from __future__ import annotations

import io
import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.pages.number_format import time_span
from analysis.record.trial_files import LOOKS, LooksPlan
from analysis.verdict.gate import gate_verdict, next_of_gate
from analysis.verdict.judging import judge
from analysis.verdict.result import WayOn, next_of
from harness.cli import main


@pytest.fixture
def judged(synthetic, tmp_path, monkeypatch):
    """Judge a trial whose campaign lies where it is asked."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "campaign.yaml").touch()

    def judge_it(data, *, name="a b", change=None, sessions=4, **options):
        made = synthetic(data, sessions=sessions)
        if change is not None:
            change(made)
        return judge(read_trial(made.write(tmp_path / name)), **options)

    return judge_it


def unusual(found):
    return replace(found, question=replace(found.question, usual=False))


def command(verdict) -> str:
    (line,) = replace(verdict, data=replace(verdict.data, path="runs/a b")).next
    return line


def test_what_is_decided_leads_to_the_report(judged, three):
    found = judged(three(gzip_1=(0.217, 0.382, 0.8)))
    assert command(found) == "fairtrial report 'runs/a b' -o report.html"
    assert command(unusual(found)) == ("fairtrial report 'runs/a b' --metric wall -o report.html")


def test_what_is_slower_leads_to_why(judged, three):
    slower = three(gzip_1=(1.2, 1.3, 1.4))
    found = judged(slower)
    assert command(found) == "fairtrial why 'runs/a b:gzip-1'"
    assert command(unusual(found)) == "fairtrial why 'runs/a b:gzip-1'"
    for other in (
        judged(slower, name="memory", metric="max_rss"),  # functions take time
        replace(found, way_on=WayOn()),  # nothing could be executed, or servers took the time
        replace(found, way_on=WayOn(explainable=True, closed=True)),
        replace(found, data=replace(found.data, unit="MB")),
        judged(three(gzip_1=(0.217, 0.382, 1.3)), name="faster"),  # in all, though one is slower
    ):
        assert "fairtrial why" not in command(other)


def test_time_that_a_server_took_is_not_looked_for_in_functions_of_its_client(
    synthetic, tmp_path, three
):
    made = synthetic(three(gzip_1=(1.2, 1.3, 1.4)), sessions=4)
    path = made.write(tmp_path / "served")
    assert "fairtrial why" in str(judge(read_trial(path)))
    resolved = path / "resolved.json"
    stored = json.loads(resolved.read_text()) if resolved.exists() else {}
    settings = {**stored.get("campaign", {}), "services": [{"name": "redis"}]}
    resolved.write_text(json.dumps({**stored, "campaign": settings}))
    assert "fairtrial why" not in str(judge(read_trial(path)))
    assert "fairtrial why" in str(judge(read_trial(path), metric="user"))  # the client's own


def test_of_several_that_are_slower_why_finds_them_itself(judged, three):
    data = three(gzip_1=(1.2, 1.3, 1.4))
    both = data | {
        "gzip-9": {name: [1.5 * v for v in values] for name, values in data["gzip-1"].items()}
    }
    found = judged(both)
    assert command(found) == "fairtrial why 'runs/a b'"
    assert command(unusual(found)) == "fairtrial why 'runs/a b:gzip-1'"


def test_what_is_undecided_leads_to_the_sessions_that_it_needs(judged, three):
    found = judged(three(gzip_1=(0.217, 0.382, 0.999)))
    (more,) = (
        line.more_sessions.sessions
        for line in found.candidates[0].multilevel.benchmarks
        if line.outcome == "undecided"
    )
    assert more is not None
    assert command(found) == (
        f"fairtrial run campaign.yaml --resume --trial 'runs/a b' --sessions +{more}"
    )


@pytest.mark.parametrize(
    ("session", "length"), [(0.5, ""), (30.0, "12 min"), (400.0, "2.6 h"), (60_000.0, "16 days")]
)
def test_how_long_more_sessions_take_stands_beside_the_command(judged, three, session, length):
    found = judged(three(gzip_1=(0.217, 0.382, 0.999)))
    found = replace(found, way_on=WayOn(session_s=session))
    gated = gate_verdict(found, "worse>0.05%", on="benchmarks")
    for one in (
        next_of(found),
        next_of_gate(gated, found, read_trial(found.data.path).manifest)[0],
    ):
        seconds = int(one.words[-1]) * (session + 0.05)  # a launcher's start is a part of each
        assert one.why.startswith(f"about {time_span(seconds)}: ") == (seconds >= 60)
    assert (f"about {length}: would" if length else "random") in next_of(found).why
    # a campaign that is not here is named in no command
    Path("campaign.yaml").unlink()
    assert command(found) == "fairtrial status 'runs/a b'"  # which says what has to be put back
    assert next_of(found).why.endswith("; the campaign is not here")


def test_what_does_not_vary_gets_the_sessions_that_decide_it_at_the_gate_too(tmp_path):
    # seen: 6 sessions in all, as a trial has by default; Holm over 60 benchmarks asks for 7
    def gated(sessions, risk=0.05):
        rows = ["benchmark,variant,session,run,value,metric,unit,better"]
        for k, s in itertools.product(range(60), range(sessions)):
            rows += [
                f"b{k},{v},{s},1,{n},loads,count,lower" for v, n in (("old", 100), ("new", 120))
            ]
        (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
        trial = str(tmp_path / str(sessions))
        words = ["import", f"{tmp_path}/t.csv", "-o", trial, "--baseline", "old"]
        assert main(words, io.StringIO(), io.StringIO()) == 0
        found = judge(read_trial(trial), confidence=1 - risk)
        answer = gate_verdict(found, "slower>2%", on="benchmarks")
        manifest = replace(read_trial(trial).manifest, origin="measured")
        return answer.outcome, next_of_gate(answer, found, manifest)[0].words[-1]

    outcome, more = gated(4)
    second = gated(4 + int(more), 0.05 / 6)[0]  # a second look has a sixth of the risk
    assert (outcome, second) == ("undecided", "proven")


@pytest.mark.parametrize(("level", "shares"), [(1.05, True), (0.97, False)])
def test_a_proof_at_a_gate_of_several_gets_the_sessions_of_its_share(judged, level, shares):
    """Of what lies beyond the limit Holm leaves an eighth of the risk; to pass takes no correction."""
    noise = np.repeat([0.99, 1.01, 1.04, 0.97], 2).tolist()

    def asked(count, confidence):
        times = {f"b{k}": [level * x for x in noise] for k in range(count)}
        base = {name: [1.0] * 8 for name in times}
        found = judged(
            {"old": base, "new": times}, name=f"{count} {confidence}", confidence=confidence
        )
        answer = gate_verdict(found, "slower>1%", on="benchmarks")
        assert answer.outcome == "undecided"
        return next_of_gate(answer, found, read_trial(found.data.path).manifest)[0].words[-1]

    of_one, of_eight, at_its_share = asked(1, 0.95), asked(8, 0.95), asked(1, 1 - 0.05 / 8)
    assert of_eight == (at_its_share if shares else of_one) != (of_one if shares else at_its_share)


def test_what_ended_early_goes_on_and_what_is_running_is_looked_at(judged, three):
    def cut(status, **more):
        def change(made):
            made.rows = made.rows[:60]
            made.manifest = replace(made.manifest, status=status, finished=None, **more)

        return change

    data = three(gzip_1=(0.217, 0.382, 0.8))
    found = judged(data, change=cut("interrupted"))
    assert command(found) == "fairtrial run campaign.yaml --resume --trial 'runs/a b'"
    assert command(judged(data, name="b", change=cut("running"))) == "fairtrial status 'runs/a b'"
    merged = judged(data, name="c", change=cut("interrupted", origin="merged"))
    assert command(merged) == "fairtrial report 'runs/a b' -o report.html"  # run would refuse it
    full = cut("stopped", must_raise="protocol.never_ok")  # it would stop again at once
    assert command(judged(data, name="c", change=full)) == "fairtrial status 'runs/a b'"


def test_where_every_run_failed_it_is_the_status(judged, three):
    def fail(made):
        made.fail(lambda row: row.variant == "gzip-1")

    found = judged(three(gzip_1=(0.217, 0.382, 0.8)), change=fail)
    assert command(found) == "fairtrial status 'runs/a b'"
    assert found.sentence == "nothing could be compared with gzip-6"


def test_of_four_candidates_one_is_looked_at(judged, many):
    found = judged(many(3, a=0.02, b=0.01, c=0.03, d=0.5))
    assert command(found) == "fairtrial verdict 'runs/a b' --variant d"


def looked(rule: str, looks: tuple[int, ...], sessions: int = 4):
    def change(made):
        plan = LooksPlan(rule=rule, looks=looks, stopped_because="cap")
        made.manifest = replace(made.manifest, looks_plan=plan, sessions=sessions)

    return change


def one_benchmark(three, factor: float):
    """Give two commands on one benchmark."""
    made = three(gzip_1=(1, 1, factor))
    return {variant: {"random": values["random"]} for variant, values in made.items()}


def test_a_comparison_goes_on_in_its_list_of_looks_for_so_long(judged, three):
    found = judged(one_benchmark(three, 0.999), change=looked("repeated", LOOKS))
    assert found.look.rule == "repeated"
    head, _, time = command(found).partition(" --for ")
    assert head == "fairtrial compare --resume 'runs/a b'"
    assert time.endswith(("s", "m"))


@pytest.mark.parametrize(("rule", "looks"), [("planned", (4,)), ("repeated", (3, 4))])
def test_a_comparison_whose_looks_are_used_does_not_go_on(judged, three, rule, looks):
    # the negative control: its one look, or the last of the list, has all the risk
    found = judged(one_benchmark(three, 0.999), change=looked(rule, looks))
    assert found.candidates[0].multilevel.benchmarks[0].outcome == "undecided"
    assert command(found) == "fairtrial report 'runs/a b' -o report.html"
