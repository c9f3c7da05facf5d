"""What Slurm's commands may answer. Authority: the answers that are played by files."""

from __future__ import annotations

import pytest

from harness.errors import HostError
from harness.fleet.slurm import Scheduler, SlurmPartition


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
