"""What the runner recorded of the host is read line by line; what is no such line tells nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.data.host_record import (
    ABSENT,
    HostNote,
    builds_each_session,
    campaign_text,
    kept_from,
    pinned_cpus,
    read_environments,
    read_excerpt,
    read_notes,
    setting_changes,
    setting_text,
    settings_of,
    without_homes,
)
from analysis.data.trial import read_trial
from analysis.record.trial_files import CAMPAIGN, ENVIRONMENT, FINDINGS, OUTPUTS, RESOLVED


def test_findings_and_programs(tmp_path):
    finding = {"session": 2, "when": "after", "check": "load", "status": "warn", "what": "busy"}
    begins = {
        "session": 1,
        "segment": 0,
        "targets": {"x/a": {"sha256": "11"}, "y/a": {"sha256": None}, "odd": {}, "z/a": 3}
        | {"x/b": {"sha256": "22", "built": "session"}, "y/b": {"same_as": "x/b"}},
    }
    (tmp_path / FINDINGS).write_text(json.dumps(finding) + "\n[1]\n{torn")
    (tmp_path / ENVIRONMENT).write_text(
        json.dumps(begins) + '\n{"session": "1", "segment": 0, "targets": {}}\n'
    )
    assert [*read_notes(tmp_path)] == [HostNote(**finding)]
    (found,) = read_environments(tmp_path)
    assert (found.session, found.segment) == (1, 0)
    targets = found.sections["targets"]
    assert targets["x/b"] == targets["y/b"] == {"sha256": "22", "built": "session"}
    assert [targets[name]["sha256"] for name in ("x/a", "y/a")] == ["11", None]


def test_values_of_other_types_are_unknown(tmp_path):
    (tmp_path / FINDINGS).write_text('{"session": true, "check": 3, "what": "one:\\ntwo"}\n')
    (note,) = read_notes(tmp_path)
    assert note == HostNote(session=None, when="", check="", status="", what="one")


def test_a_folder_without_files_has_no_record(tmp_path):
    assert [*read_notes(tmp_path), *read_environments(tmp_path)] == []


def test_the_finding_that_tells_why_a_metric_is_not_there(tmp_path):
    counters = {
        "check": "counters",
        "status": "fail",
        "what": "slots, L1-dcache-loads: not here; misses: not you; counted: cycles",
    }
    energy = {"check": "energy", "status": "fail", "what": "no counters of energy"}
    (tmp_path / FINDINGS).write_text(
        "".join(
            json.dumps({"session": 1, "when": "before", **row}) + "\n" for row in (counters, energy)
        )
    )
    names = ("slots", "L1-dcache-loads", "misses", "cycles", "dcache", "energy_net_j", "nothing")
    why = {name: found.check for name in names if (found := kept_from(tmp_path, name))}
    assert why == {
        "slots": "counters",
        "L1-dcache-loads": "counters",
        "misses": "counters",
        "energy_net_j": "energy",
    }


# --- The environment records as a report may show them; docs/environment.md says what they hold


RECORD = {
    "session": 2,
    "segment": 1,
    "at": "2026-11-22T07:00:00Z",
    "containment": "pid",
    "host": {"name": "lab07", "cpu_quota": None},
    "kernel": {"release": "6.1", "boot_arguments": "quiet --secret-host=10.0.0.1"},
    "process": {"cwd": "/data/jane", "nice": 0},
    "targets": {"a/x": {"path": "/home/jane/bin/a", "libraries": {"/root/l.so": None}}},
    "variables": {"PATH": "/home/jane/bin", "LANG": "C", "CFLAGS": "-I/Users/jane/x"},
    "hidden_variables": {"hashes": {"SECRET_PLACE": "00"}},
}


def test_infrastructure_and_people_are_left_out(tmp_path):
    (tmp_path / ENVIRONMENT).write_text(json.dumps(RECORD) + "\n")
    (one,) = read_environments(tmp_path)
    assert (one.session, one.segment, one.at) == (2, 1, "2026-11-22T07:00:00Z")
    text = json.dumps(dict(one.sections))
    for secret in ("boot_arguments", "10.0.0.1", "jane", "SECRET_PLACE", "PATH", "/root"):
        assert secret not in text
    assert one.sections["host"] == {"name": "lab07", "cpu_quota": None}
    assert one.sections["process"] == {"nice": 0, "containment": "pid"}
    assert one.sections["variables"] == {"LANG": "C", "CFLAGS": "-I~/x"}


def test_a_sitting_s_record_is_that_of_each_session(tmp_path, synthetic):
    runs = [1.0] * 10
    tmp_path = synthetic({"a": {"x": runs}}, sessions=5).write(tmp_path / "trial")
    first = {**RECORD, "session": 1, "segment": 0, "sessions": [1, 2], "moment": {"load_1min": 1}}
    second = {**first, "session": 3, "sessions": [3, None]}  # killed: to the last one
    (tmp_path / ENVIRONMENT).write_text("".join(json.dumps(one) + "\n" for one in (first, second)))
    found = read_environments(tmp_path)
    assert [(one.session, one.segment) for one in found] == [(k, 0) for k in (1, 2, 3, 4, 5)]
    assert [bool(one.at) for one in found] == ["moment" in one.sections for one in found]
    assert [one.session for one in found if one.at] == [1, 3]
    assert {one.sections["host"]["name"] for one in found} == {"lab07"}


def test_what_is_no_record_tells_nothing(tmp_path):
    lines = ("{torn", "[1]", '{"session": "1"}', '{"session": 1, "host": 3, "variables": [2]}')
    (tmp_path / ENVIRONMENT).write_text("\n".join(lines) + "\n")
    (one,) = read_environments(tmp_path)
    assert (one.session, one.segment, one.at, dict(one.sections)) == (1, 0, "", {})
    assert read_environments(tmp_path / "no trial") == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/home/jane/x.so: not found", "~/x.so: not found"),
        ("open '/Users/j.doe/a'", "open '~/a'"),
        ("at /root/x and /root", "at ~/x and ~"),
        ("-L/root/lib /root end", "-L~/lib ~ end"),
        ("/home/jane", "~"),
        ("/srv/home/jane/x", "/srv/home/jane/x"),
        ("/rooted/x /my/root/x", "/rooted/x /my/root/x"),
    ],
)
def test_homes_are_written_as_the_environment_record_does(text, said):
    assert without_homes(text) == said


def test_a_changed_boot_argument_is_told_without_the_arguments(tmp_path):
    finding = {
        "session": 2,
        "when": "before",
        "check": "environment",
        "status": "warn",
        "what": "kernel.boot_arguments changed from quiet addr=10.0.0.1 to quiet",
        "where": "kernel.boot_arguments",
    }
    (tmp_path / FINDINGS).write_text(json.dumps(finding) + "\n")
    (note,) = read_notes(tmp_path)
    assert note.what == "the list of boot arguments changed"


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("/proc/loadavg = 1.39", 1.39),
        ("/proc/stat = 0.02 s", 0.02),
        ("/proc/stat", None),
        ("/proc/interrupts = 36 virtio1-req.0: 1358519", None),
        ("/sys/x = (none)", None),
        (None, None),
    ],
)
def test_the_number_that_was_read(tmp_path, where, value):
    row = {"check": "load", "status": "ok", "when": "after", "what": "x", "where": where}
    (tmp_path / FINDINGS).write_text(json.dumps(row) + "\n")
    (note,) = read_notes(tmp_path)
    assert note.value == value


# --- The end of what a run wrote; docs/trial-format.md says where it is kept


def kept(trial: Path, name: str, content: bytes) -> None:
    (trial / OUTPUTS).mkdir(exist_ok=True)
    (trial / OUTPUTS / name).write_bytes(content)


def excerpt_of(trial, name, content, run):
    kept(trial, name, content)
    found = read_excerpt(trial, run)
    assert found is not None
    return found


def test_the_last_lines(tmp_path):
    written = b"".join(b"line %d\r\n" % k for k in range(14))
    found = excerpt_of(tmp_path, "0042.stderr", written, 42)
    assert found == tuple(f"line {k}" for k in range(4, 14))


def test_a_short_output_is_whole(tmp_path):
    found = excerpt_of(tmp_path, "w1.stderr", b"\x1b[31mred\xff\x00\n\nend", -1)
    assert found == ("\x1b[31mred\ufffd\x00", "", "end")


def test_of_a_huge_output_only_the_end_is_read(tmp_path):
    found = excerpt_of(tmp_path, "0001.stderr", b"x" * 100_000 + b"\nlast\n", 1)
    assert found == ("last",)
    found = excerpt_of(tmp_path, "0002.stderr", b"y" * 100_000, 2)
    assert len(found) == 1
    assert len(found[0]) == 300


def test_empty_is_not_the_same_as_not_kept(tmp_path):
    found = excerpt_of(tmp_path, "0003.stderr", b"", 3)
    assert found == ()
    assert read_excerpt(tmp_path, 4) is None


def test_nothing_outside_the_trial_is_read(tmp_path):
    (tmp_path / "secret").write_text("outside\n")
    trial = tmp_path / "trial"
    trial.mkdir()
    kept(trial, "0006.stderr", b"inside\n")
    (trial / OUTPUTS / "0005.stderr").symlink_to(tmp_path / "secret")
    assert read_excerpt(trial, 5) is None
    assert read_excerpt(trial, 6) is not None
    (trial / OUTPUTS).rename(tmp_path / "elsewhere")
    (trial / OUTPUTS).symlink_to(tmp_path / "elsewhere")
    assert read_excerpt(trial, 6) is None


def test_homes_are_not_quoted(tmp_path):
    found = excerpt_of(tmp_path, "0007.stderr", b"no /home/jane/x.so\n", 7)
    assert found == ("no ~/x.so",)


def test_a_run_that_was_repeated_has_a_file_of_its_own(tmp_path):
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "r2.stderr").write_text("again\n")
    (tmp_path / "outputs" / "w1.stderr").write_text("warm\n")
    assert read_excerpt(tmp_path, -2) == ("again",)
    assert read_excerpt(tmp_path, -1) == ("warm",)


# --- What a trial says of its campaign; docs/trial-format.md has the files and their keys


def test_text_and_settings(tmp_path):
    (tmp_path / CAMPAIGN).write_bytes(b"name: x # \xff\n")
    (tmp_path / RESOLVED).write_text(json.dumps({"campaign": {"protocol": {"runs": 3}}}))
    assert campaign_text(tmp_path) == "name: x # \ufffd\n"
    assert settings_of(tmp_path) == {"protocol": {"runs": 3}}


def test_files_that_are_missing_or_damaged_tell_nothing(tmp_path):
    assert campaign_text(tmp_path) is None
    assert settings_of(tmp_path) == {}
    for text in ("{torn", "[]", '{"campaign": 3}'):
        (tmp_path / RESOLVED).write_text(text)
        assert settings_of(tmp_path) == {}


def test_cpus_are_those_of_each_session(tmp_path, synthetic):
    trial = synthetic({"a": {"x": [1.0] * 6}}, sessions=3)
    chosen = {1: (3,), 2: None, 3: (3,)}
    trial.rows = [replace(row, cpus=chosen[row.session]) for row in trial.rows]
    assert pinned_cpus(read_trial(trial.write(tmp_path / "t"))) == ((3,), None)


def test_the_variants_that_each_session_builds(tmp_path):
    builds = [
        {"variant": "a", "each": "session"},
        {"variant": "b"},
        {"variant": "c", "each": "campaign"},
    ]
    (tmp_path / RESOLVED).write_text(json.dumps({"campaign": {"builds": builds}}))
    assert builds_each_session(tmp_path) == {"a"}
    for odd in ({}, {"builds": 3}, {"builds": [3, {"each": "session"}]}):
        (tmp_path / RESOLVED).write_text(json.dumps({"campaign": odd}))
        assert builds_each_session(tmp_path) == frozenset()


def test_settings_that_differ_are_named_by_cell_and_key():
    def campaign(tip, **more):
        both = {"old": ["a", "b c"], "tip": tip}
        cells = [{"benchmark": "x", "variant": v, "argv": argv} for v, argv in both.items()]
        return {"cells": cells, "judge": ["wall"], "energy": False} | more

    second = campaign(["a", "d"], energy=True, builds=[{"variant": "tip"}])
    found = list(setting_changes(campaign(["a", "b c"]), second))
    assert found == [
        ("cells.x / tip.argv", ["a", "b c"], ["a", "d"]),
        ("energy", False, True),
        ("builds", ABSENT, {"tip": {"variant": "tip"}}),
    ]
    texts = [setting_text(key, old) for key, old, _ in found[:2]]
    assert texts == ["a 'b c'", "false"]
    assert (setting_text("judge", ["wall", "user"]), setting_text("stop", None)) == (
        "wall, user",
        "none",
    )
