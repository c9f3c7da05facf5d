"""The command `tune`: the exact list, asked once, and its exit codes; on planted trees only."""

from __future__ import annotations

import io
import json
import re
import sys
from functools import partial

import pytest

from harness.cli import main
from harness.commands import tune as command
from harness.tune.tuner import Knobs
from tests.hosts import trees as hosts
from tests.unit.harness.commands import conftest

GOVERNOR = f"{hosts.CPU}/cpu3/cpufreq/scaling_governor"


@pytest.fixture
def root(monkeypatch):
    """A host of its own, where this process is root."""
    monkeypatch.setattr("harness.tune.tuner.LOOK_S", 0)
    monkeypatch.setattr("harness.tune.tuner.cpus_in_use", lambda: ())
    monkeypatch.setattr(command.os, "geteuid", lambda: 0)
    for name in ("SUDO_UID", "PKEXEC_UID", "DOAS_USER"):
        monkeypatch.delenv(name, raising=False)
    with hosts.borrowed(hosts.intel_pstate() | {"run": "EMPTY FOLDER"}) as place:
        monkeypatch.setattr(command, "_ROOT", place)
        yield place


@pytest.fixture
def answers(monkeypatch):
    """A person at a terminal."""

    def say(text):
        stdin = io.StringIO(text)
        stdin.isatty = lambda: True
        monkeypatch.setattr(sys, "stdin", stdin)
        return stdin

    return say


execute = partial(conftest.execute, "tune")


def governor(root):
    return (root / GOVERNOR).read_text().strip()


def test_a_dry_run_shows_the_exact_list_and_changes_nothing(root):
    code, out, err = execute("--dry-run")
    assert (code, err, governor(root)) == (0, "", "powersave")
    assert out.splitlines()[0] == "4 settings of lab07 to change, CPU 3:"
    assert f"governor /{GOVERNOR}: powersave -> performance" in " ".join(out.split())
    assert "  left       cpu 7 shares a measured core: --offline-sibling" in out
    assert not (root / "run/fairtrial").exists()


def test_a_person_is_asked_once(root, answers):
    stdin = answers("y\nn\n")
    code, out, err = execute()
    assert (code, out, governor(root)) == (0, "", "performance")
    assert err.count("change it? [y/N]") == 1
    assert stdin.readline() == "n\n"
    assert err.endswith("the settings stay until: sudo fairtrial tune --undo\n")
    code, out, _ = execute("--undo")
    assert (code, governor(root)) == (0, "powersave")
    assert f"restored    /{GOVERNOR}: performance -> powersave" in out
    assert execute("--undo") == (0, "there is nothing to put back\n", "")


@pytest.mark.parametrize("answer", ["n\n", "\n", "", "yes please\n"])
def test_anything_but_yes_changes_nothing_and_executes_nothing(root, answers, tmp_path, answer):
    answers(answer)
    code, _, err = execute("--", "touch", str(tmp_path / "made"))
    assert (code, governor(root), (tmp_path / "made").exists()) == (1, "powersave", False)
    assert err.endswith("nothing was changed\n")


def test_without_a_terminal_nobody_is_asked(root, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    code, _, err = execute()
    assert (code, governor(root)) == (2, "powersave")
    assert "there is no terminal" in err
    assert "--yes" in err
    assert execute("--yes")[0] == 0
    assert governor(root) == "performance"


def test_the_code_of_the_command_is_the_code(root, tmp_path):
    seen = tmp_path / "seen"
    code = f"open({str(seen)!r}, 'w').write(open({str(root / GOVERNOR)!r}).read()); raise SystemExit(6)"
    done, _, err = execute("--yes", "--", sys.executable, "-c", code)
    assert (done, seen.read_text(), governor(root)) == (6, "performance\n", "powersave")
    assert f"restored    /{GOVERNOR}" in err


def test_options_behind_the_dashes_belong_to_the_command(root, capfd):
    assert execute("--yes", "--", "echo", "--undo", "--", "--json")[0] == 0
    assert capfd.readouterr().out == "--undo -- --json\n"


def test_a_command_that_cannot_be_executed_gives_4(root):
    code, _, err = execute("--yes", "--", "no-such-command-at-all")
    assert (code, governor(root)) == (4, "powersave")
    assert "no-such-command-at-all" in err


def test_for_a_campaign_its_cpus_count(root, tmp_path):
    campaign = tmp_path / "c.yaml"
    campaign.write_text(
        "name: c\nvariants: {a: {}}\nbenchmarks: {b: {command: ['true']}}\nisolation: {cpus: 1-2}\n"
    )
    _, out, _ = execute("--for", str(campaign), "--dry-run")
    assert f"CPU 1-2 (for {campaign}):" in out
    assert "cpu1/cpufreq/scaling_governor" in out
    assert "cpu3/cpufreq" not in out
    assert execute("--for", str(tmp_path / "none.yaml"), "--dry-run")[0] == 2


def test_a_command_gets_cpus_for_itself_alone(root):
    tree = {
        "proc/cgroups": "#subsys_name\thierarchy\nnum\ncpuset\t0\t9\t1\n",
        "sys/fs/cgroup/cgroup.controllers": "cpuset cpu memory\n",
        "sys/fs/cgroup/cgroup.subtree_control": "cpu memory\n",
    }
    for name, text in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    _, out, _ = execute("--dry-run", "--", "true")
    line = next(line for line in out.splitlines() if line.startswith("  partition "))
    assert re.fullmatch(
        r"  partition  CPU [\d,-]*3[\d,-]* for the command only; nothing else runs there", line
    )
    assert out.endswith("each is put back when the command has ended\n")
    assert "for the command only" not in execute("--dry-run")[1]


def test_only_root_may(root, monkeypatch):
    monkeypatch.setattr(command.os, "geteuid", lambda: 1)
    for words in ((), ("--yes",), ("--undo",), ("--yes", "--", "true")):
        code, _, err = execute(*words)
        assert (code, governor(root)) == (3, "powersave")
        assert "sudo fairtrial tune" in err
    assert execute("--dry-run")[0] == 0


def test_the_trial_of_another_is_not_spoilt(root, monkeypatch):
    monkeypatch.setattr("harness.tune.tuner.cpus_in_use", lambda: (5,))
    code, _, err = execute("--yes")
    assert (code, governor(root)) == (3, "powersave")
    assert "a trial measures on CPU 5" in err
    code, out, _ = execute("--dry-run")
    assert code == 0
    assert "nothing is changed meanwhile" in out


def test_a_host_in_order_is_not_asked_about(root, monkeypatch):
    server = hosts.lent(hosts.amd() | {f"{hosts.CPU}/isolated": "7"})
    monkeypatch.setattr(command, "_ROOT", server)
    code, _, err = execute()
    assert (code, err) == (0, "nothing to change on lab07, CPU 7\n")
    assert execute("--yes", "--", "false")[0] == 1
    assert not (server / "run").exists()


def test_what_cannot_be_put_back_gives_3(root, monkeypatch):
    assert execute("--yes")[0] == 0

    def refuse(_self, _path, _value):
        raise OSError(1, "Operation not permitted")

    with monkeypatch.context() as patch:
        patch.setattr(Knobs, "write", refuse)
        code, out, err = execute("--undo")
    assert code == 3
    assert "refused     " in out
    assert "fix the cause, then fairtrial tune --undo" in err
    assert execute("--undo")[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        ("true",),
        ("--",),
        ("--undo", "--", "true"),
        ("--undo", "--yes"),
        ("--undo", "--dry-run"),
        ("--undo", "--offline-sibling"),
        ("--json", "--", "true"),
        ("--status",),
    ],
)
def test_what_cannot_be_meant_is_refused(root, words):
    code, _, _ = execute(*words)
    assert (code, governor(root)) == (2, "powersave")


def test_json_is_one_object(root):
    _, out, _ = execute("--dry-run", "--json")
    assert [one["item"] for one in json.loads(out)["changes"]] == [
        *("governor", "turbo", "thp", "perf_rate")
    ]
    _, out, err = execute("--yes", "--json", "--quiet")
    assert {one["result"] for one in json.loads(out)["applied"]} == {"changed"}
    assert "{" not in err
    _, out, _ = execute("--undo", "--json")
    assert json.loads(out)["settled"]
    assert json.loads(execute("--undo", "--json")[1]) == {"undone": None}


def test_the_doctor_tells_of_it(root, monkeypatch):
    from harness.commands import doctor_page as checkup
    from harness.tune.journal import finding_of_tuning

    monkeypatch.setattr(checkup, "_LOOK_S", 0.01)
    monkeypatch.setattr(checkup, "finding_of_tuning", lambda: finding_of_tuning(root))
    execute("--yes")
    out = io.StringIO()
    main(["doctor", "--probe", "1ms"], out, io.StringIO())
    said = " ".join(out.getvalue().split())
    assert "'fairtrial tune' changed 4 settings of this host since " in said
    assert "fix sudo fairtrial tune --undo" in said
    execute("--undo")
    assert list((root / "run").iterdir()) == []
