from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

from harness.campaign.model import Build, Command, Isolation
from harness.errors import LaunchError
from harness.launch.commands import (
    CommandFailedError,
    SideCommands,
    base_environment,
    hashes,
    resolve,
    resolve_all,
)
from harness.launch.matching import Interrupts


def program(path: Path, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


INHERITED = {"PATH": "/bin", "HOME": "/home/me", "LC_ALL": "C", "LC_TIME": "de", "SECRET": "s"}


@pytest.mark.parametrize(
    ("keep", "names"),
    [
        ("all", set(INHERITED)),
        ("none", set()),
        (("PATH", "LC_*", "ABSENT"), {"PATH", "LC_ALL", "LC_TIME"}),
        (("*",), set(INHERITED)),
        (("LC",), set()),
    ],
)
def test_environment_keeps_what_is_named(keep, names):
    kept = base_environment(Isolation(keep_environment=keep), INHERITED)
    assert set(kept) == names
    assert all(INHERITED[name] == text for name, text in kept.items())


def test_set_variables_win_over_kept_ones():
    isolation = Isolation(set_environment={"HOME": "/", "NEW": ""})
    assert base_environment(isolation, INHERITED) == INHERITED | {"HOME": "/", "NEW": ""}


def test_path_is_taken_from_the_working_folder(tmp_path):
    wanted = program(tmp_path / "bin" / "tool")
    assert resolve("bin/tool", tmp_path, {}) == wanted
    assert resolve("./bin/tool", tmp_path, {}).samefile(wanted)
    assert resolve(str(wanted), Path("/"), {}) == wanted


def test_name_is_looked_up_on_the_commands_own_path(tmp_path):
    program(tmp_path / "one" / "tool", 0o644)  # not executable: passed over
    second = program(tmp_path / "two" / "tool")
    path = f"{tmp_path}/one:{tmp_path}/two"
    assert resolve("tool", Path("/"), {"PATH": path}) == second


def test_missing_command_says_where_it_was_sought(tmp_path):
    with pytest.raises(LaunchError, match="command 'tool' not found") as caught:
        resolve("tool", tmp_path, {"PATH": "/nowhere"})
    assert caught.value.where == "PATH=/nowhere"
    with pytest.raises(LaunchError, match="not found") as caught:
        resolve("./tool", tmp_path, {"PATH": "/nowhere"})
    assert caught.value.where == f"{tmp_path}/tool"


def test_what_is_not_executable_is_refused_with_the_remedy(tmp_path):
    program(tmp_path / "tool", 0o644)
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, what, fix in (
        ("./pipe", "is no program", "name one"),
        ("./tool", "is not executable", "chmod +x"),
        ("./folder", "is a folder", "the program in it"),
        ("~/tool", "not found", "only a shell"),
    ):
        with pytest.raises(LaunchError, match=what) as caught:
            resolve(name, tmp_path, {})
        assert fix in caught.value.fix


def test_all_missing_commands_are_named_at_once(make_campaign, make_cell):
    cells = tuple(
        make_cell("x", name, command=Command(argv=(f"absent-{name}",), mark=f"c.yaml:{name}:1"))
        for name in ("a", "b")
    )
    campaign = make_campaign(("x",), ("a", "b"), cells=cells)
    with pytest.raises(LaunchError, match="2 commands cannot be executed") as caught:
        resolve_all(campaign, {"PATH": "/nowhere"})
    assert "c.yaml:a:1" in str(caught.value)
    assert "absent-b" in str(caught.value)


def test_one_mistake_in_many_cells_is_named_once(make_campaign, make_cell):
    command = Command(argv=("absent",), mark="c.yaml:4:12")
    cells = tuple(make_cell(b, "a", command=command) for b in "xyz")
    campaign = make_campaign(("x", "y", "z"), ("a",), cells=cells)
    with pytest.raises(LaunchError) as caught:
        resolve_all(campaign, {"PATH": "/nowhere"})
    assert str(caught.value).count("absent") == 1
    assert caught.value.where.startswith("c.yaml:4:12")


@pytest.mark.parametrize(
    ("field", "name", "says"),
    [
        ("cwd", "absent", r"working folder does not exist\n  fix: create it"),
        ("cwd", "file", r"working folder is no folder\n  fix: name one"),
        ("stdin", "absent", r"stdin file cannot be read\n  fix: create it"),
        ("stdin", "file", r"stdin file cannot be read\n  fix: give yourself the right"),
    ],
)
def test_missing_folder_and_input_are_found_before_anything_runs(
    make_campaign, make_cell, tmp_path, monkeypatch, field, name, says
):
    (tmp_path / "file").touch()
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read everything
    cell = make_cell("x", "a", **{field: tmp_path / name})
    campaign = make_campaign(("x",), ("a",), cells=(cell,))
    with pytest.raises(LaunchError, match=says):
        resolve_all(campaign, dict(os.environ))


def test_cell_is_looked_up_on_its_own_path(make_campaign, make_cell, tmp_path):
    wanted = program(tmp_path / "own" / "tool")
    cell = make_cell(
        "x", "a", command=Command(argv=("tool",), mark="m"), env={"PATH": str(wanted.parent)}
    )
    campaign = make_campaign(("x",), ("a",), cells=(cell,))
    assert resolve_all(campaign, {"PATH": "/nowhere"}) == {("x", "a"): wanted}


def test_hashes_are_of_the_content(tmp_path):
    one, two = program(tmp_path / "one"), program(tmp_path / "two")
    digest = hashlib.sha256(b"#!/bin/sh\n").hexdigest()
    assert hashes([two, one, one]) == {str(one): digest, str(two): digest}


def test_program_that_cannot_be_read_is_said_to_be_so(tmp_path):
    found = hashes([tmp_path / "absent"])
    assert found == {str(tmp_path / "absent"): "unreadable: No such file or directory"}


def test_absolute_path_needs_no_search():
    assert resolve("/bin/sh", Path("/nowhere"), {}) == Path("/bin/sh")


@pytest.mark.parametrize("entry", ["bin", "./bin", ""])
def test_relative_path_entry_means_the_commands_folder(tmp_path, monkeypatch, entry):
    here, there = tmp_path / "here", tmp_path / "the:re"
    program(here / entry / "tool")  # in fairtrial's own folder: not meant
    wanted = program(there / entry / "tool")
    monkeypatch.chdir(here)
    assert resolve("tool", there, {"PATH": f"/nowhere:{entry}"}) == wanted
    wanted.unlink()
    with pytest.raises(LaunchError, match="'tool' not found"):
        resolve("tool", there, {"PATH": f"/nowhere:{entry}"})


def test_empty_search_path_finds_nothing(tmp_path):
    program(tmp_path / "tool")
    with pytest.raises(LaunchError, match="not found"):
        resolve("tool", tmp_path, {"PATH": ""})


@pytest.mark.parametrize("kind", ["fifo", "folder"])
def test_stdin_that_is_no_file_is_refused(make_campaign, make_cell, tmp_path, kind):
    path = tmp_path / "input"
    os.mkfifo(path) if kind == "fifo" else path.mkdir()
    campaign = make_campaign(("x",), ("a",), cells=(make_cell("x", "a", stdin=path),))
    with pytest.raises(LaunchError, match="neither a regular file") as caught:
        resolve_all(campaign, dict(os.environ))
    assert str(path) in caught.value.where
    assert caught.value.fix


@pytest.mark.parametrize("path", ["/dev/null", __file__])
def test_files_and_character_devices_can_be_stdin(make_campaign, make_cell, path):
    campaign = make_campaign(("x",), ("a",), cells=(make_cell("x", "a", stdin=Path(path)),))
    assert set(resolve_all(campaign, dict(os.environ))) == {("x", "a")}


# --- Builds: their timeout, that nothing of them lives on, and what they took


@pytest.fixture
def side():
    made = SideCommands(None, Interrupts())
    yield made
    made.close()


@pytest.mark.parametrize("escapes", ["", "setsid "])
def test_a_build_that_takes_too_long_dies_with_all_that_it_started(
    side, tmp_path, marker, processes, escapes
):
    # make ends at a TERM while its compilers, stubborn or in groups of their own, would go on
    stubborn = f"{escapes}sh -c \"trap '' TERM; while :; do sleep 0.05; done\" {marker} & wait"
    step = Command(argv=("/bin/sh", "-c", stubborn), mark="campaign.yaml:3:1")
    build = Build(variant="v", steps=(step,), cwd=tmp_path, env={})
    with pytest.raises(CommandFailedError, match=r"was ended after 0\.3 s") as caught:
        side.build(build, {"PATH": "/usr/bin:/bin"}, tmp_path, timeout_s=0.3)
    assert "raise protocol.build_timeout" in caught.value.fix
    assert caught.value.where == "campaign.yaml:3:1"
    assert processes.processes_with(marker) == []


def test_what_a_build_took_is_the_sum_of_its_steps_and_the_peak_of_any_process(side, tmp_path):
    # 40 MB in a child that the shell waits for: far above the launcher's own peak
    hungry = f"{sys.executable} -S -c 'bytes([7]) * 40_000_000'; sleep 0.02"
    steps = tuple(
        Command(argv=("/bin/sh", "-c", text), mark="campaign.yaml:3:1")
        for text in ("sleep 0.03; echo said", hungry)
    )
    build = Build(variant="v", steps=steps, cwd=tmp_path, env={})
    cost = side.build(build, {"PATH": "/usr/bin:/bin"}, tmp_path, timeout_s=60.0)
    assert cost.seconds >= 0.05
    assert cost.max_rss_bytes > 40_000_000 > cost.max_rss_floor_bytes > 0
    assert [log.name for log in cost.logs] == ["build-v-1.log", "build-v-2.log"]
    assert cost.logs[0].read_text() == "said\n"
    again = side.build(build, {"PATH": "/usr/bin:/bin"}, tmp_path, timeout_s=60.0)
    assert [log.name for log in again.logs] == ["build-v-again1-1.log", "build-v-again1-2.log"]
