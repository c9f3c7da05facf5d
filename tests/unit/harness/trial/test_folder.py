"""No write follows a symbolic link inside a trial's folder.

Authority: a link planted as `outputs/current.stdout`, or in a folder that somebody else gave, let fairtrial
overwrite the file that it names.
"""

from __future__ import annotations

import os

import pytest

from analysis.errors import StoreError
from harness.trial.folder import (
    append_synced,
    clear_unused,
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
        "measurements.jsonl",
        "findings.jsonl",
        "plan.jsonl",
        "environment.jsonl",
        "manifest.json",
        ".manifest.json.new",
        ".reserve",
        "outputs",
        "outputs/current.stdout",
        "outputs/0007.stderr",
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
