"""Settings are changed, shown, and put back: the tree before is the tree after, whatever came between."""

from __future__ import annotations

import json
import os
import pwd
import signal
import subprocess
import sys
from dataclasses import asdict

import pytest

from analysis.errors import UsageError
from analysis.record.shapes import encode_checked
from harness.errors import HostError, LaunchError
from harness.tune.journal import NAME, finding_of_tuning
from harness.tune.tuner import Knobs, caller_of, lines_of, tune, undo_tuning
from tests.unit.harness.tune.conftest import CPU, CgroupKnobs, contents, hosts

GOVERNOR = f"{CPU}/cpu3/cpufreq/scaling_governor"
THP = "sys/kernel/mm/transparent_hugepage/enabled"
SHOW = "import sys; print(open(sys.argv[1]).read().strip())"


class Refusing(Knobs):
    """A kernel that refuses one path, and accepts another without obeying."""

    def __init__(self, root, refuses=(), ignores=(), turns=()):
        super().__init__(root)
        self.refuses, self.ignores, self.turns = refuses, ignores, dict(turns)

    def write(self, path, value):
        if path in self.refuses:
            raise OSError(5, "Input/output error")
        if path not in self.ignores:
            super().write(path, self.turns.get(path, value))


@pytest.fixture
def journal(laptop):
    return laptop / "run" / "fairtrial" / NAME


def fates(undone):
    return {one.path: one.fate for one in undone.settings}


def test_settings_stay_until_they_are_put_back(laptop, proposed, journal):
    before = contents(laptop)
    proposal = proposed(offline_sibling=True)
    done = tune(proposal, laptop)
    assert {one.result for one in done.applied} == {"changed"}
    assert (done.undone, done.code, done.stopped) == (None, None, None)
    assert {one.path: one.after for one in proposal.changes}.items() <= contents(laptop).items()
    assert journal.exists()
    undone = undo_tuning(laptop)
    assert set(fates(undone).values()) == {"restored"}
    assert [one.path for one in undone.settings] == [c.path for c in reversed(proposal.changes)]
    assert contents(laptop) == before
    assert not journal.parent.exists()
    assert undo_tuning(laptop) is None


def test_a_command_is_executed_in_between(laptop, proposed, journal, tmp_path):
    before = contents(laptop)
    argv = [sys.executable, "-c", f"{SHOW}; sys.exit(5)".replace("print(", "open(sys.argv[2],'w').write("),
            str(laptop / GOVERNOR), str(tmp_path / "seen")]  # fmt: skip
    done = tune(proposed(), laptop, argv=argv)
    assert (tmp_path / "seen").read_text() == "performance"
    assert (done.code, done.undone.settled) == (5, True)
    assert contents(laptop) == before
    assert not journal.parent.exists()
    written = json.loads(json.dumps(done.to_dict()))
    assert written == done.to_dict()
    assert (written["command_exit"], written["stopped"]) == (5, None)
    assert [one["path"] for one in written["applied"]] == [one.path for one in done.applied]
    assert written["undone"] == done.undone.to_dict()


def test_nothing_undone_and_no_command_are_null(laptop, proposed):
    done = tune(proposed(), laptop)
    assert done.to_dict() == {
        "applied": [asdict(one) for one in done.applied],
        "undone": None,
        "command_exit": None,
        "stopped": None,
    }
    assert undo_tuning(laptop).settled


def test_each_change_is_told_as_it_is_made_and_then_each_that_is_put_back(laptop, proposed):
    told = []
    done = tune(proposed(), laptop, argv=["true"], tell=told.append)
    assert len(done.applied) == 6
    assert told == [*map(str, done.applied), *lines_of(done.undone)]


def test_a_command_that_a_signal_ends_gives_its_code(laptop, proposed):
    argv = [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]
    assert tune(proposed(), laptop, argv=argv).code == 137


def test_a_command_that_cannot_be_executed_leaves_nothing_changed(
    laptop, proposed, journal, monkeypatch
):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # a folder of it may be closed to us
    before = contents(laptop)
    with pytest.raises(LaunchError, match="No such file") as caught:
        tune(proposed(), laptop, argv=["no-such-command-at-all"])
    assert caught.value.what == "it cannot be executed: No such file or directory"
    assert "sudo has its own PATH" in caught.value.fix
    with pytest.raises(LaunchError) as caught:
        tune(proposed(), laptop, argv=["true", "no\0argument"])
    assert caught.value.what == "it cannot be executed: embedded null byte"
    assert caught.value.fix is None
    assert contents(laptop) == before
    assert not journal.exists()


def test_nothing_to_change_needs_no_journal(proposed):
    root = hosts.lent(hosts.vm_no_cpufreq())
    done = tune(proposed(root), root, argv=[sys.executable, "-c", "raise SystemExit(3)"])
    assert (done.code, done.applied) == (3, ())
    assert not (root / "run").exists()


def test_what_the_kernel_refuses_is_a_line_and_no_failure(laptop, proposed):
    before = contents(laptop)
    irq, turbo, perf = (
        "/proc/irq/25/smp_affinity_list",
        f"/{CPU}/intel_pstate/no_turbo",
        "/proc/sys/kernel/perf_event_max_sample_rate",
    )
    knobs = Refusing(laptop, refuses=(irq,), ignores=(turbo,), turns={perf: "7"})
    done = tune(proposed(), laptop, knobs=knobs)
    told = {one.path: str(one) for one in done.applied}
    assert told[irq].endswith("refused: Input/output error")
    assert told[turbo].endswith("did not take 1, shows 0")
    assert told[perf].endswith("did not take 1, shows 7")
    # what took another value is put back as well: the journal has what was shown
    assert fates(undo_tuning(laptop)) == {
        irq: "as before",
        turbo: "as before",
        perf: "restored",
        f"/{GOVERNOR}": "restored",
        f"/{THP}": "restored",
        f"/{CPU}/cpu3/cpufreq/energy_performance_preference": "restored",
    }
    assert contents(laptop) == before


def test_what_somebody_else_changed_is_left_alone_and_said(laptop, proposed, journal):
    tune(proposed(), laptop)
    (laptop / GOVERNOR).write_text("schedutil\n")
    (laptop / "proc/irq/25/smp_affinity_list").unlink()
    undone = undo_tuning(laptop)
    assert fates(undone)[f"/{GOVERNOR}"] == "left alone"
    assert fates(undone)["/proc/irq/25/smp_affinity_list"] == "gone"
    assert (laptop / GOVERNOR).read_text() == "schedutil\n"
    assert any(
        "changed by someone else to schedutil: left alone" in line for line in lines_of(undone)
    )
    assert undone.settled
    assert not journal.exists()


def test_what_was_changed_just_before_is_not_changed_again(laptop, proposed):
    proposal = proposed()
    (laptop / GOVERNOR).write_text("performance\n")  # while somebody was asked
    (laptop / THP).unlink()
    done = tune(proposal, laptop)
    results = {one.path: one.result for one in done.applied}
    assert (results[f"/{GOVERNOR}"], results[f"/{THP}"]) == ("already", "gone")
    undone = undo_tuning(laptop)
    assert f"/{GOVERNOR}" not in fates(undone)
    assert (laptop / GOVERNOR).read_text() == "performance\n"


def test_a_setting_that_cannot_be_put_back_keeps_the_journal(laptop, proposed, journal):
    before = contents(laptop)
    tune(proposed(), laptop)
    undone = undo_tuning(laptop, knobs=Refusing(laptop, refuses=(f"/{THP}",)))
    assert not undone.settled
    assert fates(undone)[f"/{THP}"] == "refused"
    assert journal.exists()
    found = finding_of_tuning(laptop)
    assert (found.status, found.what[:31]) == ("warn", "not all could be put back of 6 ")
    again = undo_tuning(laptop)
    assert again.settled
    assert sorted(set(fates(again).values())) == ["as before", "restored"]
    assert contents(laptop) == before


def test_a_restart_of_the_host_has_put_everything_back(laptop, proposed, journal):
    tune(proposed(), laptop)
    (laptop / "proc/sys/kernel/random/boot_id").write_text("another\n")
    tuned = contents(laptop)
    undone = undo_tuning(laptop)
    assert undone.rebooted
    assert lines_of(undone) == ["the host was restarted since then: all its settings are back"]
    assert contents(laptop) == tuned
    assert not journal.exists()


@pytest.mark.parametrize(
    "line",
    [
        {"change": 0, "path": "/etc/passwd", "before": "root::0:0", "after": "x"},
        {"change": 0, "path": f"/{CPU}/../../../etc/passwd", "before": "1", "after": "0"},
        {"change": 0, "path": f"/{GOVERNOR}", "before": "a b; c", "after": "powersave"},
        {"change": 0, "path": f"/{CPU}/intel_pstate/no_turbo", "before": "7", "after": "0"},
        {"change": 0, "path": 5, "before": "1", "after": "0"},
        {"change": 0},
    ],
)
def test_a_journal_writes_nothing_but_settings_of_the_list(laptop, journal, line):
    (laptop / "etc").mkdir(exist_ok=True)
    (laptop / "etc/passwd").write_text("x\n")
    before = contents(laptop)
    journal.parent.mkdir(mode=0o700)
    journal.write_bytes(encode_checked({"journal": 1}) + b"\n" + encode_checked(line) + b"\n")
    undone = undo_tuning(laptop)
    assert [one.fate for one in undone.settings] == ["not believed"]
    assert not undone.settled
    assert contents(laptop) == before
    assert journal.exists()


@pytest.mark.parametrize("damaged", [False, True])
def test_a_line_that_cannot_be_read_is_said_and_the_others_are_put_back(
    laptop, proposed, journal, damaged
):
    tune(proposed(), laptop)
    if damaged:
        lines = journal.read_bytes().splitlines(keepends=True)
        (third,) = (k for k, line in enumerate(lines) if b'"change":2' in line)
        lines[third] = b"garbage\n"
        journal.write_bytes(b"".join(lines))
    undone = undo_tuning(laptop)
    assert set(fates(undone).values()) == {"restored"}
    said = "some lines of the journal cannot be read: what they name is not put back"
    assert (said == lines_of(undone)[-1]) is damaged
    assert len(lines_of(undone)) == 6


def test_a_link_in_the_place_of_a_setting_is_not_followed(laptop, proposed, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("always\n")
    proposal = proposed()
    (laptop / THP).unlink()
    (laptop / THP).symlink_to(victim)
    done = tune(proposal, laptop)
    assert next(one for one in done.applied if one.path == f"/{THP}").result == "refused"
    assert victim.read_text() == "always\n"
    undo_tuning(laptop)


def test_a_signal_while_settings_change_puts_back_what_was_changed(laptop, proposed, journal):
    before = contents(laptop)

    class Signalling(Knobs):
        def write(self, path, value):
            super().write(path, value)
            if path.endswith("no_turbo") and value == "1":
                os.kill(os.getpid(), signal.SIGTERM)

    done = tune(proposed(), laptop, argv=["never"], knobs=Signalling(laptop))
    assert (done.stopped, done.code, len(done.applied)) == (signal.SIGTERM, None, 3)
    assert contents(laptop) == before
    assert not journal.exists()
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_nobody_who_listens_is_no_reason_to_leave_settings_changed(laptop, proposed):
    before = contents(laptop)

    def gone(_line):
        raise BrokenPipeError

    assert tune(proposed(), laptop, argv=["true"], tell=gone).undone.settled
    assert contents(laptop) == before


def test_a_write_that_complains_and_takes_has_taken(laptop, proposed):
    class Complaining(Knobs):
        def write(self, path, value):
            super().write(path, value)
            if path.endswith("no_turbo") and value == "1":
                raise OSError(5, "Input/output error")

    done = tune(proposed(), laptop, knobs=Complaining(laptop))
    assert {one.result for one in done.applied} == {"changed"}
    assert undo_tuning(laptop).settled


def test_a_journal_that_cannot_be_written_changes_nothing_more(laptop, proposed, monkeypatch):
    before = contents(laptop)
    from harness.tune.journal import Desk

    add = Desk.add

    def full(self, line):
        if line.get("change") == 2:
            raise HostError("the journal cannot be written: no space is left")
        add(self, line)

    monkeypatch.setattr(Desk, "add", full)
    with pytest.raises(HostError, match="no space is left"):
        tune(proposed(), laptop)
    assert contents(laptop) == before
    assert not (laptop / "run/fairtrial").exists()


def test_without_a_guardian_nothing_is_changed(laptop, proposed, journal, monkeypatch):
    before = contents(laptop)

    def none(_after_death):
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("harness.tune.tuner.Guardian", none)
    with pytest.raises(HostError) as caught:
        tune(proposed(), laptop, argv=["true"])
    assert caught.value.what == (
        "the guardian cannot be started, so nothing is changed: Resource temporarily unavailable"
    )
    assert contents(laptop) == before
    assert not journal.parent.exists()


def test_tuning_twice_asks_to_undo_first_and_harms_nothing(laptop, proposed, journal):
    tune(proposed(), laptop)
    tuned, kept = contents(laptop), journal.read_bytes()
    (laptop / GOVERNOR).write_text("powersave\n")
    with pytest.raises(HostError, match="tuned already"):
        tune(proposed(), laptop, argv=["true"])
    (laptop / GOVERNOR).write_text("performance\n")
    assert (contents(laptop), journal.read_bytes()) == (tuned, kept)
    assert undo_tuning(laptop).settled


# --- the partition -----------------------------------------------------------------------------


def test_a_command_is_inside_the_partition_and_it_goes_with_it(laptop, proposed):
    before = contents(laptop)
    procs = "/sys/fs/cgroup/fairtrial-tune/cgroup.procs"
    entered = []

    class Seeing(CgroupKnobs):
        def write(self, path, value):
            super().write(path, value)
            if path == procs:
                entered.append(
                    self.tree.text(path.replace("cgroup.procs", "cpuset.cpus.partition"))
                )

    knobs = Seeing(laptop)
    done = tune(proposed(inside=True), laptop, argv=["true"], knobs=knobs)
    last = done.applied[-1]
    assert (last.item, last.result) == ("partition", "changed")
    assert entered == ["isolated"]
    assert done.undone.settled
    after = contents(laptop)
    home = "/sys/fs/cgroup/user.slice/session.scope/cgroup.procs"
    assert after.pop(home) == str(os.getpid())
    before.pop(home)
    assert after.pop("/sys/fs/cgroup/cgroup.subtree_control") == "-cpuset"
    before.pop("/sys/fs/cgroup/cgroup.subtree_control")
    assert after == before


def test_a_controller_that_somebody_came_to_need_stays(laptop, proposed):
    other = laptop / "sys/fs/cgroup/user.slice/cpuset.cpus"

    class Meanwhile(CgroupKnobs):
        def make_folder(self, path):
            super().make_folder(path)
            other.write_text("0-5\n")

    done = tune(proposed(inside=True), laptop, argv=["true"], knobs=Meanwhile(laptop))
    assert done.undone.settled
    assert (laptop / "sys/fs/cgroup/cgroup.subtree_control").read_text() == "+cpuset\n"


def test_a_trial_that_began_while_somebody_thought_is_not_spoilt(proposed, monkeypatch):
    # nothing of this machine is touched: it is refused before
    monkeypatch.setattr("harness.tune.tuner.cpus_in_use", lambda: (1, 5))
    monkeypatch.setattr("harness.tune.tuner.Desk", None)
    with pytest.raises(HostError, match="a trial measures on CPU 1, 5"):
        tune(proposed())


def test_a_partition_that_the_kernel_does_not_make_is_taken_back(laptop, proposed):
    knobs = CgroupKnobs(laptop)
    knobs.answer = "isolated invalid (Cpu list in cpuset.cpus not exclusive)"
    done = tune(proposed(inside=True), laptop, argv=["true"], knobs=knobs)
    assert done.applied[-1].result == "did not take"
    assert "not exclusive" in str(done.applied[-1])
    assert (done.code, done.undone.settled) == (0, True)
    assert not (laptop / "sys/fs/cgroup/fairtrial-tune").exists()


@pytest.mark.parametrize("removable", [True, False])
def test_who_is_left_in_the_partition_is_moved_home(laptop, journal, removable):
    root_procs, group = (
        laptop / "sys/fs/cgroup/cgroup.procs",
        laptop / "sys/fs/cgroup/fairtrial-tune",
    )
    knobs = CgroupKnobs(laptop)
    knobs.make_folder("/sys/fs/cgroup/fairtrial-tune")
    if removable:
        (group / "cgroup.procs").write_text("4711\n")
    else:
        (group / "inner").mkdir()
    journal.parent.mkdir(mode=0o700)
    home = "/../../../../tmp" if removable else "/"  # a home with dots is none
    line = {"partition": "3", "home": home, "branch": False}
    journal.write_bytes(encode_checked({"journal": 1}) + b"\n" + encode_checked(line) + b"\n")
    undone = undo_tuning(laptop, knobs=knobs)
    assert undone.settled is removable
    if removable:
        assert root_procs.read_text() == "4711\n"
    else:  # the journal is kept
        assert "cannot be removed" in lines_of(undone)[0]
        assert journal.exists()


# --- Who called: authority is what sudo, pkexec and doas document of their variables


ANN = pwd.struct_passwd(("ann", "x", 1234, 1235, "", "/home/ann", "/bin/zsh"))


@pytest.fixture
def accounts(monkeypatch):
    """Root asks, and there is one account."""

    def by_uid(uid):
        if uid != ANN.pw_uid:
            raise KeyError(uid)
        return ANN

    def by_name(name):
        if name != ANN.pw_name:
            raise KeyError(name)
        return ANN

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwuid", by_uid)
    monkeypatch.setattr(pwd, "getpwnam", by_name)
    monkeypatch.setattr(os, "getgrouplist", lambda name, gid: [gid, 27, len(name)])


@pytest.mark.parametrize(
    "variables",
    [
        {"SUDO_UID": "1234", "SUDO_GID": "1235", "SUDO_USER": "ann"},
        {"SUDO_UID": "1234"},
        {"PKEXEC_UID": "1234"},
        {"DOAS_USER": "ann"},
    ],
)
def test_the_caller_has_its_account_and_its_groups(accounts, variables):
    caller = caller_of(variables)
    assert (caller.uid, caller.gid, caller.groups) == (1234, 1235, (1235, 27, 3))
    assert (caller.name, caller.home, caller.shell) == ("ann", "/home/ann", "/bin/zsh")


def test_the_name_that_sudo_gives_is_not_what_counts(accounts):
    assert caller_of({"SUDO_UID": "1234", "SUDO_GID": "1235", "SUDO_USER": "root"}).name == "ann"


def test_a_user_without_an_account_has_its_group_only(accounts):
    caller = caller_of({"SUDO_UID": "777", "SUDO_GID": "778"})
    assert (caller.uid, caller.gid, caller.groups, caller.name) == (777, 778, (778,), None)
    with pytest.raises(UsageError, match="has no account"):
        caller_of({"SUDO_UID": "777"})


@pytest.mark.parametrize(
    "variables",
    [
        {"SUDO_UID": ""},
        {"SUDO_UID": "-1"},
        {"SUDO_UID": "4294967295"},
        {"SUDO_UID": "root"},
        {"SUDO_UID": "١٢٣٤"},
        {"SUDO_UID": "1234", "SUDO_GID": "x"},
        {"PKEXEC_UID": "x"},
        {"DOAS_USER": "bob"},
    ],
)
def test_who_names_nobody_gets_no_root_in_their_place(accounts, variables):
    with pytest.raises(UsageError, match=r"names nobody|has no account"):
        caller_of(variables)


def test_root_itself_and_others_are_their_own_callers(accounts, monkeypatch):
    assert caller_of({}) is None
    assert caller_of({"SUDO_UID": "0", "SUDO_GID": "0"}) is None
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    assert caller_of({"SUDO_UID": "777", "SUDO_GID": "778"}) is None


def test_the_variables_are_those_of_the_account(accounts):
    given = {"PATH": "/bin", "HOME": "/root", "USER": "root", "LOGNAME": "root", "MAIL": "/m",
             "SUDO_UID": "1234", "SUDO_GID": "1235", "SUDO_COMMAND": "x", "LANG": "C"}  # fmt: skip
    kept = caller_of(given).environment(given)
    assert kept == {
        "PATH": "/bin",
        "LANG": "C",
        "HOME": "/home/ann",
        "USER": "ann",
        "LOGNAME": "ann",
        "SHELL": "/bin/zsh",
    }


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may execute as another user")
def test_a_command_is_executed_as_the_caller_and_never_as_root():
    command = ["/usr/bin/env", "grep", "-E", "^(Uid|Gid|Groups):", "/proc/self/status"]
    script = (
        "import os\nfrom harness.tune.tuner import Caller\n"
        "from harness.tune.tuner import Signals, spawn\n"
        "caller = Caller(uid=65534, gid=65533, groups=(65533, 65532))\n"
        f"with Signals() as s: print(s.wait(spawn({command}, os.environ, caller)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd="/"
    )
    uids, gids, groups, last = (line.split() for line in done.stdout.splitlines())
    assert (uids, gids) == (["Uid:", *["65534"] * 4], ["Gid:", *["65533"] * 4])
    assert (groups, last) == (["Groups:", "65532", "65533"], ["0"])


def test_an_ignored_child_signal_takes_no_exit_code_away_and_a_hangup_that_nohup_ignores_ends_nothing():
    code = (
        "import os, sys\nfrom harness.tune.tuner import Signals, spawn\n"
        "with Signals() as s: code = s.wait(spawn(['sh', '-c', 'kill -1 $PPID; exit 9'], os.environ, None))\n"
        "sys.exit(s.number or code)"
    )
    words = ["env", "--ignore-signal=CHLD,HUP", sys.executable, "-c", code]
    assert subprocess.run(words, check=False).returncode == 9


def test_ctrl_c_is_for_the_command():
    # the terminal tells both; the one who waits does not die of it, and hands nothing on twice
    code = "import signal, sys, time\nsignal.signal(2, lambda *_: sys.exit(7))\nprint(flush=True)\ntime.sleep(60)"
    script = (
        "import os, sys, subprocess\nfrom harness.tune.tuner import Signals, spawn\n"
        f"with Signals() as s: code = s.wait(spawn([sys.executable, '-c', {code!r}], os.environ, None))\n"
        "sys.exit(code)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        process.stdout.readline()
        os.killpg(process.pid, 2)
        assert process.wait(30) == 7
