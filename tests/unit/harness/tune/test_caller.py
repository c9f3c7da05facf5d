"""Who called: authority is what sudo, pkexec and doas document of their variables."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys

import pytest

from analysis.errors import UsageError
from harness.tune.tuner import caller_of

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


def test_an_ignored_child_signal_takes_no_exit_code_away():
    code = (
        "import os, sys\nfrom harness.tune.tuner import Signals, spawn\n"
        "with Signals() as s: sys.exit(s.wait(spawn(['sh', '-c', 'exit 9'], os.environ, None)))"
    )
    words = ["env", "--ignore-signal=CHLD", sys.executable, "-c", code]
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
