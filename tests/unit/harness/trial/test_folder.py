"""No write follows a symbolic link inside a trial's folder.

Authority: a link planted as `outputs/current.stdout`, or in a folder that somebody else gave, let fairtrial
overwrite the file that it names.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.errors import StoreError
from harness.errors import HostError
from harness.trial.folder import (
    CpuLock,
    append_synced,
    clear_unused,
    cpus_in_use,
    cut,
    open_inside,
    refuse_links,
    write_synced,
)
from harness.trial.writer import Store

WRITES = {
    "append": lambda trial, name: append_synced(trial, name, b"x"),
    "write": lambda trial, name: write_synced(trial, name, b"x"),
    "cut": lambda trial, name: cut(trial, name, 0),
}


@pytest.fixture
def victim(tmp_path):
    path = tmp_path / "victim"
    path.write_text("precious")
    return path


@pytest.mark.parametrize("how", WRITES)
@pytest.mark.parametrize("deep", [False, True])
def test_a_write_through_a_link_is_refused_and_the_victim_stays(tmp_path, victim, how, deep):
    trial = tmp_path / "trial"
    (trial / "outputs").mkdir(parents=True)
    name = "outputs/file" if deep else "file"
    (trial / name).symlink_to(victim)
    with pytest.raises(StoreError, match="symbolic link") as caught:
        WRITES[how](trial, name)
    assert caught.value.where == str(trial / name)
    assert "remove the link" in caught.value.fix
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("how", WRITES)
def test_a_folder_that_is_a_link_is_not_entered(tmp_path, victim, how):
    trial, elsewhere = tmp_path / "trial", tmp_path / "elsewhere"
    trial.mkdir()
    elsewhere.mkdir()
    victim.rename(elsewhere / "file")
    (trial / "outputs").symlink_to(elsewhere)
    with pytest.raises(StoreError, match="symbolic link"):
        WRITES[how](trial, "outputs/file")
    assert (elsewhere / "file").read_text() == "precious"


def test_a_trial_itself_may_be_reached_through_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "trial").symlink_to(tmp_path / "there")
    write_synced(tmp_path / "trial", "file", b"x")
    append_synced(tmp_path / "trial", "file", b"y")
    assert (tmp_path / "there" / "file").read_bytes() == b"xy"
    refuse_links(tmp_path / "trial")


@pytest.mark.parametrize("how", WRITES)
@pytest.mark.parametrize("read", [False, True])
def test_a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(tmp_path, how, read):
    os.mkfifo(tmp_path / "file")
    reader = os.open(tmp_path / "file", os.O_RDONLY | os.O_NONBLOCK) if read else None
    with pytest.raises(StoreError, match="not a regular file"):
        WRITES[how](tmp_path, "file")
    if reader is not None:
        assert os.read(reader, 1) == b""
        os.close(reader)


def test_a_dangling_link_makes_no_file(tmp_path):
    (tmp_path / "file").symlink_to(tmp_path / "made")
    with pytest.raises(StoreError):
        os.close(open_inside(tmp_path, "file", os.O_WRONLY | os.O_CREAT))
    assert not (tmp_path / "made").exists()


def test_what_is_missing_is_an_ordinary_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        open_inside(tmp_path, "outputs/file", os.O_WRONLY)
    (tmp_path / "outputs").write_text("")
    with pytest.raises(NotADirectoryError):
        open_inside(tmp_path, "outputs/file", os.O_WRONLY)


@pytest.mark.parametrize(
    "name",
    [
        *("measurements.jsonl", "findings.jsonl", "plan.jsonl", "environment.jsonl"),
        *("manifest.json", ".manifest.json.new", ".reserve", "outputs"),
        *("outputs/current.stdout", "outputs/0007.stderr"),
    ],
)
def test_a_trial_with_planted_links_is_not_gone_on_with(tmp_path, make_manifest, victim, name):
    store = Store.create(make_manifest(), tmp_path / "runs", b"name: c\n")
    store.release()
    planted = store.path / name
    if name == "outputs":
        planted.rmdir()
        planted.symlink_to(tmp_path)
    else:
        if planted.exists():
            planted.rename(tmp_path / "moved")
        planted.symlink_to(victim if name != "manifest.json" else tmp_path / "moved")
    with pytest.raises(StoreError, match="symbolic links lie in this trial") as caught:
        Store.reopen(store.path)
    assert str(planted) in caught.value.what
    assert "remove them" in caught.value.fix
    assert victim.read_text() == "precious"


def test_a_link_deep_in_a_folder_of_a_hook_is_left_alone(tmp_path, make_manifest, victim):
    store = Store.create(make_manifest(), tmp_path / "runs", b"name: c\n")
    store.release()
    (store.path / "outputs" / "mine").mkdir()
    (store.path / "outputs" / "mine" / "link").symlink_to(victim)
    Store.reopen(store.path).finish("stopped", None)
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("what", ["nothing", "a row", "a file of somebody"])
def test_only_a_folder_without_runs_is_cleared(tmp_path, make_manifest, what):
    store = Store.create(make_manifest(), tmp_path / "runs", b"name: c\n")
    store.release()
    (store.path / "outputs" / "log").write_text("of the build")
    if what == "a row":
        (store.path / "measurements.jsonl").write_text("{}\n")
    elif what == "a file of somebody":
        (store.path / "notes").write_text("precious")
    before = sorted(store.path.rglob("*"))
    if what == "nothing":
        clear_unused(store.path)
        assert list(store.path.iterdir()) == []
        return
    with pytest.raises(StoreError, match="more than the start of a trial") as caught:
        clear_unused(store.path)
    assert caught.value.where == str(store.path)
    assert sorted(store.path.rglob("*")) == before


def test_the_next_manifest_is_not_written_through_a_link(tmp_path, make_manifest, victim):
    store = Store.create(make_manifest(), tmp_path / "runs", b"name: c\n")
    (store.path / ".manifest.json.new").symlink_to(victim)
    with pytest.raises(StoreError, match="symbolic link"):
        store.update(reason="x")
    store.release()
    assert victim.read_text() == "precious"


ROOT = Path(__file__).parents[4]
# Numbers that no host of a test has: a real trial may hold the real ones.
CPU = 3900 + os.getpid() % 90


def holder(code, processes=None, *, other_user=False):
    command = [sys.executable, "-c", f"from harness.trial.folder import *\nimport sys\n{code}"]
    if other_user:
        command = processes.as_other_user(command)
    return subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


HOLD = f"lock = CpuLock(({CPU},))\nprint('held', flush=True)\nsys.stdin.read()"
TRY = f"try:\n    CpuLock(({CPU},))\nexcept HostError as error:\n    print(error)"


@pytest.mark.host
def test_free_cpus_are_held_and_given_back():
    with CpuLock((CPU, CPU + 1)):
        assert {CPU, CPU + 1} <= set(cpus_in_use())
    assert not {CPU, CPU + 1} & set(cpus_in_use())


@pytest.mark.host
def test_no_cpus_need_no_lock():
    with CpuLock(()):
        assert CPU not in cpus_in_use()


@pytest.mark.host
def test_second_trial_is_refused_with_the_holders_process_however_many_were_refused():
    # first use: after a few refusals the holder was "unknown", since each used up a place in a queue
    with CpuLock((CPU,)):
        for _ in range(50):
            with pytest.raises(HostError, match=f"another trial measures on CPU {CPU}") as caught:
                CpuLock((CPU,))
            assert f"process {os.getpid()}, yours" in str(caught.value)
            assert caught.value.exit_code == 3


@pytest.mark.host
def test_holder_of_another_container_is_named_as_such(monkeypatch):
    with CpuLock((CPU,)):
        monkeypatch.setattr("harness.trial.folder._namespace", lambda: 1)
        with pytest.raises(HostError, match=f"process {os.getpid()}, yours, in another container"):
            CpuLock((CPU,))


@pytest.mark.host
def test_refused_lock_holds_nothing():
    with CpuLock((CPU + 1,)):
        with pytest.raises(HostError):
            CpuLock((CPU, CPU + 1))
        with CpuLock((CPU,)):
            pass


@pytest.mark.host
def test_death_releases_the_lock():
    with holder(HOLD) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(HostError, match=f"process {other.pid}, yours"):
            CpuLock((CPU,))
        other.kill()
    with CpuLock((CPU,)):
        pass


@pytest.fixture
def needs_other_user(processes):
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    reason = processes.why_no_other_user()
    if reason:
        pytest.skip(reason)


@pytest.mark.host
@pytest.mark.usefixtures("needs_other_user")
def test_lock_of_another_user_is_seen(processes):
    with holder(HOLD, processes, other_user=True) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(HostError, match=f"of user {processes.OTHER_UID}"):
            CpuLock((CPU,))
        other.kill()


@pytest.mark.host
@pytest.mark.usefixtures("needs_other_user")
def test_another_user_sees_our_lock(processes):
    with CpuLock((CPU,)), holder(TRY, processes, other_user=True) as other:
        said = other.communicate()[0]
    assert f"process {os.getpid()}, of user {os.geteuid()}" in said


@pytest.mark.host
@pytest.mark.parametrize("number", ["²", "٣"])
def test_a_name_that_somebody_else_made_up_is_no_cpu(number):
    # abstract names are anybody's; "²" is a digit for Python, and no number
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(f"\0fairtrial-cpu-{number}".encode())
        assert cpus_in_use() is not None
