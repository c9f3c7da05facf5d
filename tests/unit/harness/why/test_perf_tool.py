"""What perf may sample (Documentation/admin-guide/sysctl/kernel.rst, perf_event_paranoid), and what is said where it cannot."""

from __future__ import annotations

import os
import runpy
import stat
from pathlib import Path

import pytest

from harness.errors import HostError
from harness.host.state import Tree
from harness.trial.perf import Perf, complaint, find_perf, permission_of, plain_environment

TREES = runpy.run_path(str(Path(__file__).parents[3] / "hosts" / "trees.py"))
LEVEL = "proc/sys/kernel/perf_event_paranoid"
RATE = "proc/sys/kernel/perf_event_max_sample_rate"
STATUS = "proc/self/status"
NONE, PERFMON = "CapEff:\t0000000000000000\n", "CapEff:\t0000004000000000\n"


def host(**files: str) -> Tree:
    names = {"level": LEVEL, "rate": RATE, "status": STATUS}
    tree = {names[key]: text for key, text in files.items()}
    return Tree(TREES["lent"]({STATUS: NONE} | tree))


@pytest.mark.parametrize("level", ["-1", "0", "1"])
def test_an_ordinary_user_sees_the_kernel_up_to_1(level):
    assert permission_of(host(level=level, rate="63000")).kernel == "seen"


def test_at_2_the_kernel_is_not_seen_and_that_is_said():
    allowed = permission_of(host(level="2", rate="63000"))
    assert (
        allowed.kernel
        == "not-seen: perf_event_paranoid is 2, and this process has no rights beyond it"
    )
    assert allowed.most_hz == 63000


@pytest.mark.parametrize("level", ["3", "4"])
def test_above_that_nothing_may_be_sampled(level):
    with pytest.raises(HostError, match=f"perf_event_paranoid is {level}") as refused:
        permission_of(host(level=level))
    assert "sudo sysctl kernel.perf_event_paranoid=2" in refused.value.fix
    assert refused.value.where == "/proc/sys/kernel/perf_event_paranoid"


def test_whoever_has_the_right_is_not_asked():
    assert permission_of(host(level="3", status=PERFMON)).kernel == "seen"


def test_a_kernel_without_events_is_refused():
    with pytest.raises(HostError, match="no performance events"):
        permission_of(host())


def planted_perf(folder: Path, monkeypatch, text: str) -> Path:
    path = folder / "perf"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return path


def test_without_perf_the_remedy_is_named(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(HostError, match="there is no perf") as refused:
        find_perf(host(level="1"))
    assert "apt install linux-perf" in refused.value.fix


def test_a_perf_of_another_kernel_is_no_perf(tmp_path, monkeypatch):
    # Ubuntu's /usr/bin/perf is a script that looks for the one of the kernel
    planted_perf(tmp_path, monkeypatch, 'echo "WARNING: perf not found for kernel 6.5" >&2; exit 2')
    with pytest.raises(HostError, match="perf not found for kernel") as refused:
        find_perf(host(level="1"))
    assert "linux-tools" in refused.value.fix


def test_what_perf_says_of_a_refusal_is_handed_on(tmp_path, monkeypatch):
    planted_perf(
        tmp_path,
        monkeypatch,
        'case $1 in version) echo perf version 6.8;; *) echo "Error:" >&2; echo "Access limited." >&2; exit 255;; esac',
    )
    with pytest.raises(
        HostError, match="does not sample a program here: Access limited"
    ) as refused:
        find_perf(host(level="1"))
    assert "--cap-add PERFMON" in refused.value.fix


@pytest.mark.parametrize(
    ("held", "event"), [("cycles", "cycles"), ("cpu-clock", "cpu-clock"), ("cycles:u", "cycles")]
)
def test_a_counter_is_used_where_there_is_one(tmp_path, monkeypatch, held, event):
    # perf takes cpu-clock in the place of a counter that is missing, without a word
    text = f'case $1 in version) echo perf version 6.8;; evlist) echo "{held}";; esac'
    planted_perf(tmp_path, monkeypatch, text)
    found = find_perf(host(level="2"))
    assert (found.event, found.version) == (event, "6.8")
    assert found.selector == f"{event}:u"


def test_where_perf_falls_back_to_the_users_side_the_kernel_is_not_seen(tmp_path, monkeypatch):
    # root in a container: it has the right by name, and the kernel refuses it all the same
    text = 'case $1 in version) echo perf version 6.8;; evlist) echo "cpu-clock:u";; esac'
    planted_perf(tmp_path, monkeypatch, text)
    found = find_perf(host(level="2", status=PERFMON))
    assert found.kernel.startswith("not-seen: ")
    assert found.selector == "cpu-clock:u"


PERF = Perf(path="/p", version="6.8", event="cpu-clock", kernel="seen", most_hz=None)


def test_the_users_caches_and_settings_are_left_alone(tmp_path):
    command = PERF.recording(tmp_path / "perf.data", 999, "dwarf")
    assert command[-1] == "--"
    assert {"-N", "--no-bpf-event"} < set(command)
    assert command[command.index("-e") + 1] == "cpu-clock"
    assert command[command.index("--call-graph") + 1].startswith("dwarf")
    assert "--call-graph" not in PERF.recording(tmp_path / "perf.data", 999, None)
    assert "--buildid-dir" in PERF.script(tmp_path / "perf.data")
    given = plain_environment({"PERF_CONFIG": "mine", "HOME": "/home/me"})
    assert given["PERF_CONFIG"] == "/dev/null"
    assert given["HOME"] == "/home/me"


def test_the_first_line_that_says_something_is_quoted():
    assert (
        complaint(b"Error:\n\nfailed to open it: no room.\nmore\n") == "failed to open it: no room"
    )
    assert complaint(b"") == ""
