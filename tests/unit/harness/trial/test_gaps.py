"""The look at the measured CPUs before each session: when, at what, and what it stops."""

from __future__ import annotations

import pytest

from harness.campaign.model import CheckPolicy
from harness.errors import HostError
from harness.host.activity import Host
from harness.host.state import GapLook, Gaps
from harness.trial.folder import CpuLock
from harness.trial.plan import look_at_cpus


@pytest.fixture
def looks(monkeypatch):
    """What the host is asked for, and what it answers: a share of the time that is lost."""

    class Looks(list):
        share = 0.001

    asked = Looks()

    def gaps(_host, cpus, seconds, **how):
        asked.append((cpus, seconds, how))
        lost = seconds * asked.share
        return GapLook(gaps=(Gaps(cpu=1, looked_s=seconds, lost_s=lost, count=1, longest_s=lost),))

    monkeypatch.setattr(Host, "gaps", gaps)
    return asked


def stored(stage):
    return [row for row in stage.lines("findings.jsonl") if row["check"] == "gaps"]


def test_each_session_looks_once_before_its_first_run(stage, campaign, looks):
    stage.start(campaign(sessions=2, runs=1, warmup=0))
    assert [seconds for _, seconds, _ in looks] == [0.2, 0.2]
    assert [(row["when"], row["session"], row["status"]) for row in stored(stage)] == [
        ("before", 1, "ok"),
        ("before", 2, "ok"),
    ]
    assert stored(stage)[0]["where"].endswith(" = 0.10 %")


def test_a_resumed_session_looks_again(stage, campaign, looks):
    stage.target = stage.at(3, stage.interrupt)
    stage.start(campaign())
    stage.resume(campaign())
    assert [row["session"] for row in stored(stage)] == [1, 1]


def test_the_campaign_says_how_long_and_zero_is_not_at_all(stage, campaign, looks):
    stage.start(campaign(runs=1, warmup=0, checks=CheckPolicy(probe_s=0.0)))
    assert looks == []
    (row,) = stored(stage)
    assert (row["status"], row["what"]) == ("unknown", "not looked for: checks.probe = 0s")


def test_who_requires_it_is_stopped_before_there_is_a_trial(stage, campaign, looks):
    looks.share = 0.5
    with pytest.raises(HostError, match=r"required check 'gaps': cpu1 lost 50\.00 %"):
        stage.start(campaign(checks=CheckPolicy(require=("gaps",), probe_s=1.5)))
    assert [seconds for _, seconds, _ in looks] == [1.5]
    assert list(stage.runs.glob("*/manifest.json")) == []


def test_who_does_not_require_it_goes_on(stage, campaign, looks):
    looks.share = 0.5
    assert stage.start(campaign(runs=1, warmup=0)).status == "complete"
    assert stored(stage)[0]["status"] == "fail"


@pytest.mark.host
def test_the_cpu_of_another_trial_is_not_disturbed(looks, tmp_path):
    with Host(tmp_path) as host, CpuLock((1,)):
        look = look_at_cpus(None, host, (1,), 0.2)
        assert "another trial measures on cpu1" in look.problem
        assert looks == []
        assert look_at_cpus(None, host, (1,), 0.2, ours=(1,)).gaps
    assert looks == [((1,), 0.2, {"priority": 0, "nice": 0})]


def test_a_signal_during_the_look_ends_the_trial_before_anything_is_executed(
    stage, campaign, looks, monkeypatch
):
    gaps = Host.gaps

    def interrupted(*given, **how):
        stage.interrupt(None)
        return gaps(*given, **how)

    monkeypatch.setattr(Host, "gaps", interrupted)
    ending = stage.start(campaign())
    assert (ending.status, ending.done) == ("interrupted", 0)
    assert stage.executed == []
