"""Jobs as every version of Slurm writes them.

Authority: the recorded answer of 22.05, and the documented layouts of 23.11 and 24.11
(tests/golden/squeue/source).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.errors import UsageError
from harness.campaign.resolve import load_campaign
from harness.campaign.schema import identity_of
from harness.errors import HostError
from harness.fleet.slurm import (
    Job,
    Scheduler,
    SlurmPartition,
    jobs_of_json,
    jobs_of_lines,
    membership_of,
)
from harness.trial.plan import PlannedSession

GOLDEN = Path(__file__).resolve().parents[3] / "golden" / "squeue"
WHOSE = {"user": "root", "comment": "fairtrial:x", "cluster": "lab"}
RUNNING = Job(id="1", state="RUNNING", reason=None, nodes="lab2", wanted="lab2", **WHOSE)
WAITING = Job(
    id="2",
    state="PENDING",
    reason="ReqNodeNotAvail, UnavailableNodes:lab3",
    nodes=None,
    wanted="lab3",
    **WHOSE,
)


@pytest.mark.parametrize("version", ["22.05", "23.11", "24.11"])
def test_every_version_says_the_same_of_the_same_jobs(version):
    assert jobs_of_json((GOLDEN / f"{version}.json").read_text()) == (RUNNING, WAITING)


def test_lines_say_the_same():
    assert jobs_of_lines((GOLDEN / "lines.txt").read_text(), "lab") == (RUNNING, WAITING)


def test_a_comment_may_hold_the_separator():
    (job,) = jobs_of_lines("1|RUNNING|a|a|me|x|y|None\n", "lab")
    assert job.comment == "x|y"


@pytest.mark.parametrize(
    ("written", "state", "live"),
    [
        (["CANCELLED", "COMPLETING"], "COMPLETING", True),
        (["COMPLETING", "CANCELLED"], "COMPLETING", True),
        (["PENDING", "REQUEUED"], "REQUEUED", True),
        ("COMPLETING", "COMPLETING", True),
        (["CANCELLED"], "CANCELLED", False),
        ("NODE_FAIL", "NODE_FAIL", False),
        ("A_STATE_OF_TOMORROW", "A_STATE_OF_TOMORROW", True),  # unknown: it may still run
    ],
)
def test_a_job_that_is_ending_is_still_in_the_queue(written, state, live):
    text = json.dumps({"jobs": [{"job_id": 3, "job_state": written}]})
    (job,) = jobs_of_json(text)
    assert (job.state, job.live) == (state, live)


def test_numbers_may_be_objects_and_comments_too():
    entry = {
        "job_id": {"set": True, "infinite": False, "number": 7},
        "job_state": ["PENDING"],
        "comment": {"administrator": "", "job": "fairtrial:x", "system": ""},
    }
    (job,) = jobs_of_json(json.dumps({"jobs": [entry]}))
    assert (job.id, job.comment, job.user) == ("7", "fairtrial:x", None)


ERRORS = '{"jobs": [], "errors": [{"error": "Unable to contact slurm controller"}]}'


@pytest.mark.parametrize(
    "text", ["", "squeue: error: no plugin", "[]", "{}", '{"jobs": 1}', "null", ERRORS]
)
def test_what_is_no_list_of_jobs_is_none(text):
    assert jobs_of_json(text) is None


@pytest.mark.parametrize("entry", [None, 1, {}, {"job_id": 1}, {"job_id": "1", "job_state": []}])
def test_what_is_no_job_is_passed_over(entry):
    assert jobs_of_json(json.dumps({"jobs": [entry]})) == ()


# --- What Slurm's commands may answer. Authority: the answers that are played by files


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """Let a command of Slurm answer a text."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def answer(command, text):
        (tmp_path / f"{command}.txt").write_text(text)
        path = tmp_path / command
        path.write_text(f"#!/bin/sh\nexec /bin/cat {tmp_path}/{command}.txt\n")
        path.chmod(0o755)
        return Scheduler()

    return answer


def test_a_reason_of_several_lines_hides_no_node(answers):
    slurm = answers("sinfo", "lab1|down*|fan | power\nsee the ticket\n\nlab2|idle|none\n")
    nodes = slurm.nodes()
    assert set(nodes) == {"lab1", "lab2"}
    assert (nodes["lab1"].state, nodes["lab1"].reason) == ("down*", "fan | power")
    assert nodes["lab2"].reason is None


def test_a_cluster_may_have_no_partition(answers):
    assert answers("scontrol", "No partitions in the system\n\n").partitions() == {}


def test_partitions_are_what_scontrol_writes_of_them(answers):
    said = (
        "PartitionName=batch AllowGroups=ALL Default=YES MaxTime=1-00:00:00 OverSubscribe=NO Nodes=n[1-2]\n"
        "PartitionName=old Default=NO MaxTime=UNLIMITED Shared=FORCE:4\n"
        "PartitionName=bare\n"
    )
    batch = SlurmPartition(name="batch", default=True, max_time="1-00:00:00", oversubscribe="NO")
    old = SlurmPartition(name="old", default=False, max_time="UNLIMITED", oversubscribe="FORCE:4")
    bare = SlurmPartition(name="bare", default=False, max_time="UNLIMITED", oversubscribe="NO")
    expected = {"batch": batch, "old": old, "bare": bare}
    assert answers("scontrol", said).partitions() == expected


def test_a_part_of_an_answer_is_an_error_and_hides_no_job(answers):
    with pytest.raises(HostError, match="cut off"):
        answers("sinfo", "lab1|idle|none\nlab2|idle|no").nodes()
    answers("scontrol", "ClusterName = lab\n")
    job = '{"job_id": 7, "job_state": "RUNNING", "user_name": "anna"}'
    for part in (f'{{"jobs": [{job}, {job[:9]}', f'{{"jobs": [{job}], "errors": ["the rest"]}}'):
        with pytest.raises(HostError, match="cut off"):
            answers("squeue", f"8|RUNNING|lab1|lab1|anna|x|None\n{part}").jobs("anna")


@pytest.mark.parametrize("user", ["an\0na", "an\ud800na"])
def test_an_edited_name_that_no_command_takes_is_said(answers, user):
    with pytest.raises(HostError, match="cannot be executed"):
        answers("squeue", "").jobs(user)


def test_a_job_of_a_user_without_a_name_is_asked_for_once_more(tmp_path, monkeypatch):
    entry = '{"job_id": 7, "job_state": "RUNNING", "user_name": "", "comment": "x"}'
    (tmp_path / "squeue").write_text(
        "#!/bin/sh\n"
        f"case $* in *--json) echo '{{\"jobs\": [{entry}]}}';; "
        "*) echo '7|RUNNING|lab1|lab1|anna|x|None';; esac\n"
    )
    (tmp_path / "scontrol").write_text("#!/bin/sh\necho 'ClusterName = lab'\n")
    for name in ("squeue", "scontrol"):
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    (job,) = Scheduler().jobs("anna").values()
    assert (job.id, job.user, job.cluster, job.comment) == ("7", "anna", "lab", "x")


# --- A trial of a fleet: whose it is, and in which order. Authority: the contract of fleets


@pytest.fixture
def campaign(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        "name: c\nvariants: {a: {}, b: {}}\n"
        "benchmarks: {x: {command: [/bin/true]}, y: {command: [/bin/true]}, z: {command: [/bin/true]}}\n"
    )
    return load_campaign(path)


def test_a_trial_that_is_not_there_yet_belongs_to_its_fleet(fleet, tmp_path):
    assert membership_of(fleet / "lab2").node == "lab2"
    assert membership_of(tmp_path / "alone") is None
    with pytest.raises(UsageError, match="no host whose trial is 'lab3'") as caught:
        membership_of(fleet / "lab3")
    assert caught.value.fix == "its hosts are: lab1, lab2"
    with pytest.raises(UsageError, match="this is a fleet, not a trial"):
        membership_of(fleet)


def test_another_campaign_or_another_node_is_refused(fleet, campaign):
    member = membership_of(fleet / "lab1")
    with pytest.raises(UsageError, match="not the one that the fleet was submitted with"):
        member.require(campaign, {})
    text = json.loads((fleet / "fleet.json").read_text())
    text["identity"] = identity_of(campaign)
    (fleet / "fleet.json").write_text(json.dumps(text))
    member = membership_of(fleet / "lab1")
    assert member.require(campaign, {}) == "lab1"  # by hand, without Slurm
    assert member.require(campaign, {"SLURMD_NODENAME": "lab1"}) == "lab1"
    with pytest.raises(HostError, match="this is node lab2"):
        member.require(campaign, {"SLURMD_NODENAME": "lab2"})


def test_each_node_has_an_order_of_its_own_and_always_the_same(campaign):
    def order(node, session=1):
        return [(run.benchmark, run.variant) for run in PlannedSession(campaign, 1, session, node)]

    nodes = [None, "lab1", "lab2", "lab11"]
    orders = [order(node) for node in nodes]
    assert len({tuple(each) for each in orders}) == len(nodes)
    assert len({tuple(sorted(each)) for each in orders}) == 1
    assert order("lab1") == orders[1]
    # "lab1" in session 11 is not "lab11" in session 1
    assert order("lab1", 11)[:12] != order("lab11", 1)[:12]
