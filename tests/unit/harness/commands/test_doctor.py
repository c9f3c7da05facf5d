"""`doctor --probe`: how long it looks at the measured CPU, and what it takes for a time."""

from __future__ import annotations

import json
import re
import shutil
from functools import cache, partial
from types import SimpleNamespace

import pytest

from analysis.record.trial_files import Finding
from harness.commands.doctor_page import Checkup, headline
from harness.errors import HostError
from harness.host.activity import Host
from harness.host.checks import CHECK_NAMES, check_before
from harness.host.placement import choose_cpus
from harness.host.state import CountedEvent, CounterLook, GapLook, Gaps, Situation
from tests.hosts import trees as hosts
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
        assert (code, "this trial may need 50.8 MB" in " ".join(err.split())) == (5, True)


@cache
def examine(name):
    with Host(hosts.lent(hosts.TREES[name]())) as host:
        state = host.read()
        try:
            plan = choose_cpus("auto", state.topology, usable=state.usable, isolated=state.isolated)
        except HostError:
            plan = None
        cpus = (plan.targets if plan else None) or (0,)
        events = CounterLook(counted=(CountedEvent("cycles", "1", user_only=False),), missing=())
        state, counters = host.read(cpus), host.counters(cpus)
    situation = Situation(state=state, counters=counters, cpus=cpus, gaps=GapLook(), events=events)
    return state, check_before(situation), plan


def checkup(state, findings, *, plan=None, fatal=None, strict=False):
    return Checkup(
        state=state,
        plan=plan,
        findings=findings,
        fatal=fatal or (),
        strict=strict,
        for_campaign=fatal is not None,
    )


def checkup_text(state, findings, *, plan=None, fatal=None, strict=False, **shown):
    return checkup(state, findings, plan=plan, fatal=fatal, strict=strict).text(**shown)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("intel_pstate", "lab07 · Intel(R) Core(TM) i7-8565U CPU @ 1.80GHz, 4 cores with 8 CPUs, "
         "SMT on, 1 node · Linux 6.1.0 · virtual machine: no"),
        ("vm_no_cpufreq", "lab07 · AMD EPYC, 2 cores, SMT not shown, 1 node · Linux 6.1.0 · "
         "virtual machine: kvm or qemu"),
        ("container", "lab07 · Intel(R) Xeon(R) Gold 6248, cores unknown with 8 CPUs, SMT unknown, "
         "nodes unknown, usable here 2-3 · Linux 6.1.0 · virtual machine: no · container: podman"),
        ("bare", "unnamed host · unknown processor, cores unknown with 0 CPUs, SMT unknown, nodes "
         "unknown, usable here none · Linux of unknown version · virtual machine: unknown"),
    ],
)  # fmt: skip
def test_the_host_is_named_in_one_line(name, text):
    if name == "bare":
        text = text.replace(", usable here none", "")
    assert headline(examine(name)[0]) == text


@pytest.mark.parametrize("name", sorted(hosts.TREES))
@pytest.mark.parametrize("width", [80, 100])
def test_every_host_has_a_screen_of_bounded_width(name, width):
    state, findings, plan = examine(name)
    text = checkup_text(state, findings, plan=plan, width=width)
    for check in CHECK_NAMES:
        assert re.search(rf"^  (ok|warn|fail|unknown) +{check} ", text, re.MULTILINE), check
    for line in text.splitlines():
        # Only one path and one command, which are there to be copied, may be longer.
        alone = len(line.split()) <= 2 or "sudo " in line
        assert len(line) <= width or alone, line
        assert line == line.rstrip()
    assert "\x1b" not in text
    assert "None" not in text


@pytest.mark.parametrize(
    ("fix", "lines"),
    [
        ("sudo sysctl kernel.numa_balancing=0", ["fix   sudo sysctl kernel.numa_balancing=0"]),
        (
            "stop what runs there, see load, irq and steal, or keep it off: sudo fairtrial tune",
            ["fix   stop what runs there, see load, irq and steal, or", "keep it off:",
             "sudo fairtrial tune"],
        ),
        (
            "echo performance | sudo tee /sys/firmware/acpi/platform_profile_of_this_machine",
            ["fix   echo performance |", "sudo tee /sys/firmware/acpi/platform_profile_of_this_machine"],
        ),
    ],
)  # fmt: skip
def test_a_command_to_copy_is_broken_only_where_a_shell_goes_on(fix, lines):
    state, _, _ = examine("amd")
    text = checkup_text(state, (Finding(check="load", status="warn", what="x", fix=fix),), width=80)
    shown = [line.strip() for line in text.splitlines()]
    start = next(k for k, line in enumerate(shown) if line.startswith("fix"))
    assert shown[start : start + len(lines)] == lines


def test_what_is_to_mend_comes_last_with_the_command():
    state, findings, plan = examine("intel_pstate")
    text = checkup_text(state, findings, plan=plan)
    order = re.findall(r"^  (ok|unknown|warn|fail) ", text, re.MULTILINE)
    assert order == sorted(order, key=["ok", "unknown", "warn", "fail"].index)
    assert "  cpus     targets on 3 (whole core, node 0), fairtrial on 0-2,4-6\n" in text
    mended = re.search(r"governor +cpu3 runs 'powersave'.*?fix +(.*?)\n", text, re.DOTALL)
    assert mended.group(1) == "sudo cpupower -c 3 frequency-set -g performance"


@pytest.mark.parametrize(
    ("statuses", "strict", "last"),
    [
        (["ok"], False, "nothing to fix before an overnight campaign"),
        (["ok", "unknown"], False, "nothing to fix before an overnight campaign; 1 thing cannot be " "known here"),
        (["warn"], False, "1 problem to fix before an overnight campaign; --strict makes it fatal"),
        (["warn", "warn"], False, "2 problems to fix before an overnight campaign; --strict makes them fatal"),
        (["warn", "fail"], False, "2 problems to fix before an overnight campaign; --strict makes the warning " "fatal too"),
        (["fail"], False, "1 problem to fix before an overnight campaign"),
        (["warn", "fail", "unknown", "unknown"], True,
         "2 problems to fix, and --strict makes them fatal; 2 things cannot be known here"),
    ],
)  # fmt: skip
def test_the_last_line_counts_what_to_mend(statuses, strict, last):
    state, _, _ = examine("amd")
    findings = tuple(Finding(check="load", status=status, what="x") for status in statuses)
    assert checkup_text(state, findings, strict=strict, width=200).splitlines()[-1] == last


@pytest.mark.parametrize(
    ("statuses", "fatal", "last"),
    [
        (["ok"], 0, "nothing to fix before an overnight campaign"),
        (["warn", "fail"], 0, "2 problems to fix before an overnight campaign; this one requires none of it, " "and goes on"),
        (["fail", "fail"], 1, "2 problems to fix before an overnight campaign; this one stops at load"),
        (["unknown"], 1, "nothing to fix before an overnight campaign; this one stops at load; "
         "1 thing cannot be known here"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("strict", [False, True])
def test_the_last_line_says_what_becomes_of_a_campaign(statuses, fatal, last, strict):
    state, _, _ = examine("amd")
    found = tuple(Finding(check="load", status=status, what="x") for status in statuses)
    text = checkup_text(state, found, fatal=found[:fatal], strict=strict, width=200)
    assert text.splitlines()[-1] == last


@pytest.mark.parametrize("status", ["ok", "unknown", "warn", "fail"])
def test_why_it_matters_is_said_of_what_is_to_mend(status):
    state, _, _ = examine("amd")
    found = Finding(
        check="load",
        status=status,
        what="6.0",
        where="/proc/loadavg",
        reason="others work",
        fix="wait",
    )
    lines = [line.split(maxsplit=2) for line in checkup_text(state, (found,)).splitlines()]
    details = [
        (words[0], words[1]) for words in lines if words and words[0] in {"read", "why", "fix"}
    ]
    mend = status in {"warn", "fail"}
    expected = [("read", "/proc/loadavg"), ("why", "others"), ("fix", "wait")]
    kept = {"read": status != "ok", "why": mend, "fix": True}
    assert details == [one for one in expected if kept[one[0]]]


def test_verbose_says_where_good_values_were_read():
    state, findings, _ = examine("amd")
    where = "read  /proc/sys/kernel/randomize_va_space = 2"
    assert where not in checkup_text(state, findings)
    assert where in checkup_text(state, findings, verbose=True)


@pytest.mark.parametrize("name", sorted(hosts.TREES))
def test_the_screen_as_json_says_the_same(name):
    state, findings, plan = examine(name)
    data = checkup(state, findings, plan=plan).to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert sum(data["counts"].values()) == len(CHECK_NAMES) == len(data["findings"])
    assert (data["cpus"] is None) == (name == "bare")
