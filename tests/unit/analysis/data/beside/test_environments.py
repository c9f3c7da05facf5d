"""The environment records as a report may show them; docs/environment.md says what they hold."""

import json

import pytest

from analysis.data.host_record import read_environments, read_host_record, without_homes
from analysis.record.trial_files import ENVIRONMENT, FINDINGS

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
    programs = read_host_record(tmp_path).programs
    assert [one.session for one in programs] == [1, 2, 3, 4, 5]


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
    (note,) = read_host_record(tmp_path).notes
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
    (note,) = read_host_record(tmp_path).notes
    assert note.value == value
