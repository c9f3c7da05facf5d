"""Trials of several hosts put together: the fleet that is made, and what is refused.

Authority: the trials that went in, and docs/fleet.md.
"""

import io
import json
from pathlib import Path

import pytest

from analysis.data.fleet import merge_hosts, named_trials, way_of
from analysis.errors import StoreError, UsageError
from analysis.importers.reader import open_trial
from analysis.record.fleet import read_fleet, read_hosts
from analysis.verdict.fleet import judge_fleet
from harness.cli import main

CAMPAIGN = {"name": "synthetic", "seed": 1, "protocol": {"sessions": 2, "runs": 2}}


@pytest.fixture
def trial(tmp_path, synthetic):
    """Write a trial of a host."""

    def make(name, host="lab1", host_id="a", *, campaign=None, shift=0.0, program=None, **manifest):
        times = {
            "old": {"x": [0.010, 0.011, 0.012, 0.013]},
            "new": {"x": [t * (1 + shift) for t in (0.005, 0.006, 0.007, 0.008)]},
        }
        made = synthetic(
            times,
            sessions=2,
            **{"trial": name, "host": host, "host_id": host_id, "cpu_model": "M", **manifest},
        )
        record = {"host": {"name": host, "machine_id_sha256": host_id}, "cpu": {"model": "M"}}
        if program is not None:
            about = program if isinstance(program, dict) else {"sha256": program}
            record["targets"] = {"x/old": {"sha256": "1"}, "x/new": about}
        lines = [{"session": k, "segment": 0, **record} for k in (1, 2)]
        made.extra = {
            "environment.jsonl": b"".join(json.dumps(line).encode() + b"\n" for line in lines),
            "findings.jsonl": b"",
            "resolved.json": json.dumps({"campaign": campaign or CAMPAIGN}).encode() + b"\n",
            "outputs/0001.stdout": b"said",
        }
        return made.write(tmp_path / name)

    return make


def merge(*words):
    out, err = io.StringIO(), io.StringIO()
    code = main(["merge", *map(str, words)], out, err)
    return code, out.getvalue(), err.getvalue()


def test_trials_of_several_hosts_become_a_fleet_of_copies(trial, tmp_path):
    paths = [trial("one"), trial("two", "lab2", "b"), trial("three", "lab3", "c")]
    code, told, _ = merge(*paths, "-o", tmp_path / "fleet")
    assert code == 0
    assert "a fleet of 3 hosts" in told
    fleet = read_fleet(tmp_path / "fleet")
    assert (fleet.names, fleet.identity, fleet.submitted_at) == (
        ("lab1", "lab2", "lab3"),
        "0" * 64,
        None,
    )
    for path, name in zip(paths, fleet.names, strict=True):
        for file in path.rglob("*"):
            if file.is_file():
                copy = tmp_path / "fleet" / name / file.relative_to(path)
                assert copy.read_bytes() == file.read_bytes()
    assert judge_fleet(tmp_path / "fleet").candidates[0].hosts.hosts == fleet.names


@pytest.mark.parametrize(("commits", "odd"), [("aaa", ()), ("aab", ("lab3",)), ((None,) * 3, ())])
def test_what_each_session_builds_is_told_apart_by_its_commit(trial, tmp_path, commits, odd):
    # authority: docs/layouts.md; the hashes differ on every host, as layouts do
    paths = [
        trial(
            f"t{k}",
            f"lab{k}",
            "abc"[k - 1],
            program={"sha256": f"{k}", "built": "session", "commit": commits[k - 1]},
        )
        for k in (1, 2, 3)
    ]
    fleet = merge_hosts(named_trials(paths), tmp_path / "fleet")
    told = [one for one in judge_fleet(fleet.fleet).cautions if one.code == "binary-differs"]
    assert [one.about for one in told] == ([odd] if odd else [])


def test_two_trials_of_a_host_become_its_sessions_in_the_fleet(trial, tmp_path):
    paths = [trial("one"), trial("two"), trial("three", "lab2", "b")]
    code, told, _ = merge(*paths, "-o", tmp_path / "fleet", "--json")
    assert code == 0
    hosts = json.loads(told)["hosts"]
    assert [(one["host"], one["sessions"], len(one["trials"])) for one in hosts] == [
        ("lab1", 4, 2),
        ("lab2", 2, 1),
    ]
    assert [
        one.state for one in read_hosts(tmp_path / "fleet", read_fleet(tmp_path / "fleet"))
    ] == ["complete", "complete"]


def test_one_id_with_two_names_is_decided_by_whoever_merges(trial, tmp_path):
    # cloned images share an id; a host may have been renamed
    paths = [trial("one", "lab1"), trial("two", "lab2")]
    code, _, err = merge(*paths, "-o", tmp_path / "all")
    assert code == 2
    assert "--as fleet" in err
    assert merge(*paths, "-o", tmp_path / "all", "--as", "sessions")[0] == 0
    assert merge(*paths, "-o", tmp_path / "fleet", "--as", "fleet")[0] == 0
    assert read_fleet(tmp_path / "fleet").names == ("lab1", "lab2")


def test_two_hosts_of_one_name_are_told_apart_by_their_ids(trial, tmp_path):
    paths = [trial("one", "node", "aaaaaaaaaa"), trial("two", "node", "bbbbbbbbbb")]
    merge_hosts(named_trials(paths), tmp_path / "fleet")
    assert read_fleet(tmp_path / "fleet").names == ("node-aaaaaaaa", "node-bbbbbbbb")


def test_hosts_without_an_id_are_told_apart_by_name_or_refused(trial, tmp_path):
    paths = [trial("one", "lab1", "unknown"), trial("two", "lab2", "unknown")]
    merge_hosts(named_trials(paths), tmp_path / "fleet")
    same = [trial("three", "lab3", "unknown"), trial("four", "lab3", "unknown")]
    with pytest.raises(StoreError, match="is unknown"):
        merge_hosts(named_trials(same), tmp_path / "other")
    code, _, err = merge(*same, "-o", tmp_path / "other")
    assert code == 5
    assert not (tmp_path / "other").exists()
    assert "machine id" in err


def test_several_hosts_are_no_sessions(trial, tmp_path):
    paths = [trial("one"), trial("two", "lab2", "b")]
    code, _, err = merge(*paths, "-o", tmp_path / "all", "--as", "sessions")
    assert code == 5
    assert "--as fleet" in err


def test_another_campaign_is_refused_with_what_differs(trial, tmp_path):
    other = {**CAMPAIGN, "protocol": {"sessions": 2, "runs": 3}}
    paths = [trial("one"), trial("two", "lab2", "b", campaign=other, campaign_sha256="1" * 64)]
    code, _, err = merge(*paths, "-o", tmp_path / "fleet")
    assert code == 5
    assert "protocol.runs is 2 and 3" in err
    assert list(tmp_path.glob("*fleet*")) == []


def test_another_seed_is_the_same_campaign_and_every_reader_knows(trial, tmp_path):
    other = trial("two", "lab2", "b", campaign={**CAMPAIGN, "seed": 2}, campaign_sha256="1" * 64)
    merge_hosts(named_trials([trial("one"), other]), tmp_path / "fleet")
    fleet = read_fleet(tmp_path / "fleet")
    assert fleet.identities == ("1" * 64,)
    assert [one.state for one in read_hosts(tmp_path / "fleet", fleet)] == ["complete"] * 2


def test_an_unfinished_trial_is_a_host_that_is_not_finished(trial, tmp_path):
    paths = [trial("one"), trial("two", "lab2", "b", status="interrupted")]
    assert merge(*paths, "-o", tmp_path / "fleet")[0] == 0
    states = read_hosts(tmp_path / "fleet", read_fleet(tmp_path / "fleet"))
    assert [one.state for one in states] == ["complete", "partial"]


def test_a_fleet_grows_by_merging_it_with_a_trial(trial, tmp_path):
    merge(trial("one"), trial("two", "lab2", "b"), "-o", tmp_path / "small")
    code, _, _ = merge(tmp_path / "small", trial("three", "lab3", "c"), "-o", tmp_path / "large")
    assert code == 0
    assert read_fleet(tmp_path / "large").names == ("lab1", "lab2", "lab3")
    code, _, err = merge(tmp_path / "small", tmp_path / "large", "-o", tmp_path / "twice")
    assert code == 2
    assert "name each trial once" in err


def test_one_trial_is_a_fleet_of_one_host_where_it_is_asked_for(trial, tmp_path):
    path = trial("one")
    assert merge(path, "-o", tmp_path / "all")[0] == 2
    assert merge(path, "-o", tmp_path / "fleet", "--as", "fleet")[0] == 0
    assert "one-host" in [c.code for c in judge_fleet(tmp_path / "fleet").cautions]


def test_links_stay_behind_and_names_become_folders(trial, tmp_path):
    path = trial("one", "../lab 1/x", "a")
    (path / "outputs" / "link").symlink_to("/etc/passwd")
    merge_hosts(named_trials([path, trial("two", "lab2", "b")]), tmp_path / "fleet")
    assert read_fleet(tmp_path / "fleet").names == ("lab-1-x", "lab2")
    assert not (tmp_path / "fleet" / "lab-1-x" / "outputs" / "link").exists()


def test_a_damaged_trial_leaves_nothing(trial, tmp_path):
    path = trial("one")
    file = path / "measurements.jsonl"
    file.write_bytes(file.read_bytes().replace(b"ok", b"OK", 1))
    with pytest.raises(StoreError):
        merge_hosts(named_trials([path, trial("two", "lab2", "b")]), tmp_path / "fleet")
    assert list(tmp_path.glob("*fleet*")) == []
    with pytest.raises(UsageError, match="there already"):
        merge_hosts(named_trials([trial("three")]), Path(path))


def test_fleets_make_a_fleet_whatever_their_ids(trial, tmp_path):
    merge(trial("one"), "-o", tmp_path / "a", "--as", "fleet")
    trials = named_trials([tmp_path / "a", trial("two")])
    assert way_of(trials, asked=None, fleets=True) == "fleet"
    assert way_of(trials, asked=None, fleets=False) == "sessions"


def test_nodes_of_one_machine_are_told_apart_by_the_names_that_the_scheduler_gives(trial, tmp_path):
    paths = [trial("one", node="n1"), trial("two", node="n2")]  # one host name, one id
    code, _, said = merge(*paths, "-o", tmp_path / "x")
    assert code == 2
    assert "the names n1, n2" in said
    assert "--as sessions" in said
    code, _, _ = merge(*paths, "-o", tmp_path / "fleet", "--as", "fleet")
    assert code == 0
    assert read_fleet(tmp_path / "fleet").names == ("n1", "n2")
    assert merge(*paths, "-o", tmp_path / "trial", "--as", "sessions")[0] == 0


@pytest.mark.parametrize(
    ("host", "ids"),
    [("node", ("a" * 64, "b" * 64)), ("lab/1", ("a" * 64,)), ("lab/1", ("a" * 64, "b" * 64))],
)
def test_a_fleet_that_a_trial_is_put_to_later_is_the_one_of_all_at_once(trial, tmp_path, host, ids):
    # the folder of a host is named otherwise than it where names meet, or hold what no folder's may
    first = [trial(f"first-{k}", host, one) for k, one in enumerate((*ids, "c" * 64))]
    first[-1] = trial("else", "lab9", "c" * 64)
    later = trial("later", host, ids[0], started="2026-11-22T04:12:00Z")
    merge_hosts(named_trials([*first, later]), tmp_path / "all")
    merge_hosts(named_trials(first), tmp_path / "some")
    merge_hosts(named_trials([tmp_path / "some", later]), tmp_path / "steps")
    found, expected = (
        {one.host: one.done for one in read_hosts(folder, read_fleet(folder))}
        for folder in (tmp_path / "steps", tmp_path / "all")
    )
    assert found == expected
    assert len(found) == len(ids) + 1


def test_a_host_of_a_fleet_keeps_the_name_that_somebody_gave_it(trial, tmp_path):
    merge_hosts(named_trials([trial("one"), trial("two", "lab2", "b")]), tmp_path / "some")
    record = json.loads((tmp_path / "some" / "fleet.json").read_text())
    record["hosts"][0]["host"] = "left"
    (tmp_path / "some" / "fleet.json").write_text(json.dumps(record))
    merge_hosts(named_trials([tmp_path / "some", trial("three", "lab3", "c")]), tmp_path / "all")
    assert read_fleet(tmp_path / "all").names == ("left", "lab2", "lab3")


def test_no_host_takes_the_place_of_the_fleets_own_record(trial, tmp_path):
    paths = [trial("one", "fleet.json"), trial("two", "lab2", "b")]
    merge_hosts(named_trials(paths), tmp_path / "fleet")
    assert [
        one.state for one in read_hosts(tmp_path / "fleet", read_fleet(tmp_path / "fleet"))
    ] == ["complete", "complete"]


def test_another_program_is_no_drift_that_is_accepted_unasked(trial, tmp_path):
    paths = [trial("one", program="1"), trial("two", program="2"), trial("three", "lab2", "b")]
    with pytest.raises(StoreError, match="x/new"):
        merge_hosts(named_trials(paths), tmp_path / "fleet")
    assert not (tmp_path / "fleet").exists()
    merge_hosts(named_trials(paths), tmp_path / "fleet", accept_drift=True)
    assert read_fleet(tmp_path / "fleet").names == ("lab1", "lab2")


@pytest.mark.parametrize("status", ["complete", "interrupted"])
def test_a_fleet_is_complete_where_each_host_is(trial, tmp_path, status):
    paths = [trial("one"), trial("two", "lab2", "b", status=status)]
    merge_hosts(named_trials(paths), tmp_path / "fleet")
    assert open_trial(tmp_path / "fleet").manifest.status == status
