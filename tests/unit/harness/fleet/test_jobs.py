"""Jobs as every version of Slurm writes them.

Authority: the recorded answer of 22.05, and the documented layouts of 23.11 and 24.11
(tests/golden/squeue/source).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.fleet.slurm import Job, jobs_of_json, jobs_of_lines

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
