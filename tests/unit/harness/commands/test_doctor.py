"""`doctor --probe`: how long it looks at the measured CPU, and what it takes for a time."""

from __future__ import annotations

import json
import shutil
from functools import partial
from types import SimpleNamespace

import pytest

from analysis.record.trial_files import Finding
from harness.host.activity import Host
from harness.host.state import GapLook, Gaps
from tests.unit.harness.commands.conftest import execute


@pytest.fixture
def looks(monkeypatch):
    asked = []

    def gaps(_host, cpus, seconds, **_how):
        asked.append(seconds)
        return GapLook(
            gaps=(Gaps(cpu=cpus[0], looked_s=seconds, lost_s=0.0, count=0, longest_s=0.0),)
        )

    monkeypatch.setattr(Host, "gaps", gaps)
    monkeypatch.setattr("harness.commands.doctor_page._LOOK_S", 0.01)
    monkeypatch.setattr("harness.trial.plan.cpus_in_use", lambda: ())
    return asked


doctor = partial(execute, "doctor")


@pytest.mark.parametrize(
    ("words", "seconds"),
    [((), 0.2), (("--probe", "2s"), 2.0), (("--probe", "50ms"), 0.05), (("--probe", "1min"), 60.0)],
)
def test_it_looks_as_long_as_it_is_told(looks, words, seconds):
    _, out, _ = doctor("--json", *words)
    assert looks == [seconds]
    (finding,) = (one for one in json.loads(out)["findings"] if one["check"] == "gaps")
    assert finding["status"] == "ok"


@pytest.mark.parametrize("text", ["0s", "-1s", "61s", "2min", "x", "", "1e9", "nan", "2 s"])
def test_what_is_no_short_time_is_refused(looks, text):
    code, _, err = doctor(f"--probe={text}")
    assert code == 2
    assert "such as 500ms or 2s, at most 60s" in err
    assert looks == []


def test_a_campaign_may_have_no_look_and_the_option_still_looks(looks, tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        "name: c\nvariants: {a: {}}\nbenchmarks: {b: {command: ['true']}}\nchecks: {probe: 0s}\n"
    )
    _, out, _ = doctor(str(path))
    assert looks == []
    assert "checks.probe = 0s" in out
    doctor(str(path), "--probe", "1s")
    assert looks == [1.0]


@pytest.mark.parametrize(
    ("check", "words", "code", "last"),
    [
        ("load", (), 0, "this one requires none of it, and goes on"),
        ("load", ("--strict",), 0, "this one requires none of it, and goes on"),
        ("swap", (), 3, "this one stops at swap"),
        # a limit that nothing can hold: no trial begins, whatever is required
        ("cgroup", (), 3, "this one stops at cgroup"),
    ],
)
def test_a_campaign_is_told_what_its_trials_would_do(
    looks, monkeypatch, tmp_path, check, words, code, last
):
    path = tmp_path / "c.yaml"
    path.write_text(
        "name: c\nvariants: {a: {}}\nbenchmarks: {b: {command: ['true']}}\nchecks: {require: [swap]}\n"
    )
    found = (Finding(check=check, status="fail", what="x"),)
    monkeypatch.setattr("harness.commands.doctor_page.check_before", lambda _: found)
    monkeypatch.setattr("harness.commands.doctor_page.check_between", lambda *_, **__: ())
    done, out, _ = doctor(str(path), *words)
    assert done == code
    assert " ".join(out.split()).endswith(last)  # a long line is broken
    assert doctor(*words)[0] == 3  # in general every check counts


@pytest.mark.host  # the one that fails locks a CPU first
@pytest.mark.parametrize(
    ("free", "status"),
    [(20_000_000, "fail"), (90_000_000, "warn"), (3_000_000_000, "ok")],  # 51 MB may be needed
)
def test_a_campaign_is_told_whether_the_disk_has_room_for_it(
    looks, monkeypatch, tmp_path, free, status
):
    # 2 sessions x 10 runs x 2 outputs of 1 MB, as many as failing runs may keep, beside 17 MB for rows
    path = tmp_path / "c.yaml"
    path.write_text(
        "name: c\nvariants: {a: {}}\nbenchmarks: {b: {command: ['true']}}\n"
        "protocol: {sessions: 2, runs: 10, warmup: 0}\n"
        "isolation: {output_limit: 1MB, kept_outputs: 34MB}\n"
    )
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    code, out, _ = doctor(str(path), "--json")
    (disk,) = (one for one in json.loads(out)["findings"] if one["check"] == "disk")
    assert disk["status"] == status
    assert code == (3 if status == "fail" else 0)
    code, out, _ = execute("run", path, "--dry-run", "--json")
    assert code == 0
    (shown,) = (one for one in json.loads(out)["findings"] if one["check"] == "disk")
    assert (shown["status"], shown["what"]) == (status, disk["what"])
    if status == "fail":
        assert disk["what"] == "20 MB free, but the trial may need 50.8 MB"
        assert "this one stops at disk" in " ".join(doctor(str(path))[1].split())
        code, _, err = execute("run", path, "--dir", tmp_path / "runs")
        assert (code, "this trial may need 51 MB" in " ".join(err.split())) == (5, True)
