"""``fleet.json``: what is written comes back, and what cannot be trusted is refused.

Authority: the format's page (docs/fleet.md), and the trials that are written here row by row.
"""

from __future__ import annotations

import fcntl
import json
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from analysis.errors import StoreError
from analysis.record.fleet import (
    Fleet,
    FleetHost,
    fleet_text,
    is_fleet,
    read_fleet,
    read_hosts,
    trial_place,
    write_fleet,
)
from analysis.record.shapes import parse, shaped

TIMES = {"a": {"x": [0.01, 0.02, 0.03, 0.04]}, "b": {"x": [0.02, 0.03, 0.04, 0.05]}}
names = st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), min_size=1, max_size=8)


def fleet_of(*hosts, **changes):
    given = {
        "campaign": "synthetic",
        "identity": "0" * 64,
        "submitted_at": "2026-11-22T10:00:00.000000Z",
        "script": "#!/bin/sh\n",
        "hosts": tuple(FleetHost(host=name, jobs=("17",), trial=name) for name in hosts),
    }
    return Fleet(**(given | changes))


@given(
    st.lists(names, min_size=1, max_size=4, unique=True),
    st.dictionaries(st.sampled_from(["later", "sooner"]), st.integers(0, 9)),
    st.one_of(st.none(), names),
)
def test_a_fleet_comes_back_whole_with_the_keys_of_a_later_version(found, further, script):
    hosts = tuple(
        FleetHost(host=name, jobs=(str(k), "9"), trial=f"h{k}", further=further)
        for k, name in enumerate(found)
    )
    fleet = fleet_of(hosts=hosts, script=script, further=further)
    assert shaped(Fleet, parse(fleet_text(fleet).strip())) == fleet


@pytest.mark.parametrize(("mode", "file"), [(0o700, 0o600), (0o755, 0o644), (0o770, 0o660)])
def test_whoever_may_read_the_folder_may_read_it(tmp_path, mode, file):
    tmp_path.chmod(mode)
    write_fleet(tmp_path, fleet_of("lab1"))
    assert (tmp_path / "fleet.json").stat().st_mode & 0o777 == file


def test_it_is_written_whole_and_read_again(tmp_path):
    fleet = fleet_of("lab1", "lab2")
    assert not is_fleet(tmp_path)
    write_fleet(tmp_path, fleet)
    assert is_fleet(tmp_path)
    assert read_fleet(tmp_path) == fleet
    write_fleet(tmp_path, fleet.with_job("lab2", "18"))
    assert [one.jobs for one in read_fleet(tmp_path).hosts] == [("17",), ("17", "18")]
    assert [one.name for one in tmp_path.iterdir()] == ["fleet.json"]  # nothing half written stays
    stored = json.loads((tmp_path / "fleet.json").read_text())
    assert list(stored) == ["schema", "campaign", "identity", "submitted_at", "script", "hosts"]
    assert stored["hosts"][1] == {"host": "lab2", "jobs": ["17", "18"], "trial": "lab2"}
    with pytest.raises(KeyError):
        fleet.with_job("lab3", "1")


@pytest.mark.parametrize("trial", ["/etc", "../lab2", "a/../../b", "", "."])
def test_a_trial_that_leaves_the_folder_is_refused(tmp_path, trial):
    stored = fleet_of("lab1").to_dict()
    stored["hosts"][0]["trial"] = trial
    (tmp_path / "fleet.json").write_text(json.dumps(stored))
    with pytest.raises(StoreError, match="lies outside of the fleet"):
        read_fleet(tmp_path)
    with pytest.raises(StoreError, match="lies outside of the fleet"):
        trial_place(tmp_path, FleetHost(host="lab1", jobs=(), trial=trial))


def test_a_link_does_not_lead_out_of_the_folder(tmp_path):
    fleet, elsewhere = tmp_path / "fleet", tmp_path / "elsewhere"
    fleet.mkdir()
    elsewhere.mkdir()
    (fleet / "lab1").symlink_to(elsewhere)
    (fleet / "lab2").symlink_to("lab2")  # a circle
    (fleet / "lab3").mkdir()
    (fleet / "lab4").symlink_to("lab3")
    for name in ("lab1", "lab2"):
        with pytest.raises(StoreError, match="outside"):
            trial_place(fleet, FleetHost(host=name, jobs=(), trial=name))
    assert trial_place(fleet, FleetHost(host="l", jobs=(), trial="lab4")) == fleet / "lab4"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": 2}, "newer schema"),
        ({"schema": "1"}, "no schema number"),
        ({"schema": 0}, "schema is 0"),
        ({"hosts": []}, "names no host"),
        ({"hosts": [{"host": "a", "jobs": [], "trial": "a"}] * 2}, "is there twice"),
        (
            {"hosts": [{"host": h, "jobs": [], "trial": t} for h, t in (("a", "x"), ("b", "./x"))]},
            "two hosts have one trial",
        ),
        ({"hosts": [{"host": "a", "jobs": [7], "trial": "a"}]}, "must be a text"),
        ({"hosts": [{"host": "a", "jobs": [""], "trial": "a"}]}, "a job has no id"),
        ({"hosts": [{"host": "", "jobs": [], "trial": "a"}]}, "a host has no name"),
        ({"hosts": [{"host": "a\nb", "jobs": [], "trial": "a"}]}, "not text that can be written"),
        ({"hosts": [{"host": "\ud800", "jobs": [], "trial": "a"}]}, "not text that can be written"),
        ({"hosts": [{"host": "a", "trial": "a"}]}, "lacks jobs"),
        ({"identity": None}, "identity"),
    ],
)
def test_what_is_no_fleet_is_refused_with_a_reason(tmp_path, change, said):
    (tmp_path / "fleet.json").write_text(json.dumps(fleet_of("lab1").to_dict() | change))
    with pytest.raises(StoreError, match=said) as caught:
        read_fleet(tmp_path)
    assert caught.value.fix


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\ufeff{}", "[" * 100_000])
def test_damage_is_an_error_that_names_the_file(tmp_path, text):
    (tmp_path / "fleet.json").write_text(text)
    with pytest.raises(StoreError) as caught:
        read_fleet(tmp_path)
    assert str(tmp_path / "fleet.json") in str(caught.value)


def test_no_fleet_and_no_place_to_write_one(tmp_path):
    with pytest.raises(StoreError, match=r"not a fleet: it has no fleet\.json"):
        read_fleet(tmp_path)
    with pytest.raises(StoreError, match="cannot be written"):
        write_fleet(tmp_path / "gone", fleet_of("lab1"))
    with pytest.raises(StoreError, match="cannot be written"):
        write_fleet(tmp_path, fleet_of("lab1", "lab1"))
    assert not is_fleet("a\0b")
    assert not list(tmp_path.iterdir())


def test_each_host_is_what_its_trial_shows(tmp_path, synthetic):
    def write(name, rows=None, **about):
        made = synthetic(TIMES, warmup=1, trial=name, **about)
        made.rows = made.rows[:rows]
        return made.write(tmp_path / name)

    running = {"status": "running", "finished": None}
    write("whole")
    write("killed", 5, **running)
    write("stopped", 4, status="interrupted")
    write("warming", 1, status="interrupted", reason="SIGTERM")
    write("begun", 0, **running, stage="the build of a")
    synthetic(TIMES, warmup=1, trial="failing").fail().write(tmp_path / "failing")
    damaged = write("damaged") / "measurements.jsonl"
    text = damaged.read_bytes()
    damaged.write_bytes(text[:50] + b"9" + text[51:])
    synthetic(TIMES, campaign_sha256="f" * 64).write(tmp_path / "other")
    hosts = [
        *("whole", "killed", "stopped", "warming", "begun", "failing", "damaged"),
        *("other", "absent"),
    ]
    found = {one.host: one for one in read_hosts(tmp_path, fleet_of(*hosts))}
    told = {name: (one.state, one.done, one.planned) for name, one in found.items()}
    assert told == {
        "whole": ("complete", 10, 10),
        "killed": ("partial", 5, 10),
        "stopped": ("partial", 4, 10),
        "warming": ("partial", 1, 10),  # nothing has failed: no measured run was tried
        "begun": ("missing", 0, 10),
        "failing": ("failed", 10, 10),
        "damaged": ("failed", 0, 10),
        "other": ("failed", 8, 10),
        "absent": ("missing", 0, 10),
    }
    assert found["whole"].counting == 8
    assert found["whole"].why is None
    assert found["begun"].why == "the build of a"
    assert "another campaign" in found["other"].why
    assert "checksum" in found["damaged"].why
    assert list(found["whole"].to_dict()) == ["host", "state", "done", "planned", "why"]
    (alone,) = read_hosts(tmp_path, fleet_of("absent"))
    assert alone.planned is None  # nobody knows


@pytest.mark.powerless
@pytest.mark.parametrize("barred", ["a file", "a folder of others"])
def test_what_cannot_be_looked_into_is_no_host_that_has_not_begun(
    tmp_path, synthetic, barred, request
):
    synthetic(TIMES).write(tmp_path / "lab1")
    place = tmp_path / "lab2"
    if barred == "a file":
        place.write_text("x")
        said = "Not a directory"
    else:
        request.getfixturevalue("unreadable_files")
        synthetic(TIMES).write(place).chmod(0)
        said = "Permission denied"
    try:
        other, found = read_hosts(tmp_path, fleet_of("lab1", "lab2"))
    finally:
        place.chmod(0o700)
    assert (other.state, other.counting) == ("complete", 8)
    assert (found.state, found.done, found.counting) == ("failed", 0, 0)
    assert said in found.why


def test_a_trial_that_is_being_written_is_running_and_a_torn_line_is_no_row(tmp_path, synthetic):
    made = synthetic(TIMES, status="running", finished=None)
    made.rows = made.rows[:3]
    place = made.write(tmp_path / "lab1") / "measurements.jsonl"
    with place.open("ab") as file:
        file.write(b'{"position": 3, "sess')
    with place.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        (held,) = read_hosts(tmp_path, fleet_of("lab1"))
    assert (held.state, held.done) == ("running", 3)
    (killed,) = read_hosts(tmp_path, fleet_of("lab1"))
    assert (killed.state, killed.why) == ("partial", "its runner was killed")


def test_repeated_warm_ups_are_no_positions(tmp_path, synthetic):
    made = synthetic(TIMES, warmup=1)
    made.rows.insert(2, replace(made.rows[0], position=-1, segment=1))
    made.write(tmp_path / "lab1")
    (found,) = read_hosts(tmp_path, fleet_of("lab1"))
    assert (found.done, found.planned, found.state) == (10, 10, "complete")
