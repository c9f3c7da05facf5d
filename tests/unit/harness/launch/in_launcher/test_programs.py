"""Programs that were announced: named by a handle, converted once, their errors kept, spawned with their files."""

from __future__ import annotations

import errno
import os

import pytest

from harness.launch.in_launcher.serving import Programs, SpawnCall, spawn_attributes


def announced(handle=0, **changes):
    message = {"handle": handle, "path": b"/bin/true", "argv": [b"true"], "env": [b"A=1"]}
    return message | {"padded": b"PAD"} | changes


@pytest.fixture
def programs():
    return Programs()


def test_a_program_is_found_by_its_handle(programs):
    programs.add(announced(0))
    programs.add(announced(7, path=b"/bin/false", argv=[b"no", b"x"]))
    assert (programs[0].path, programs[7].path) == (b"/bin/true", b"/bin/false")
    assert list(programs[7].argv) == [b"no", b"x", None]
    assert programs[0].failure is None


def test_a_handle_that_comes_again_names_another(programs):
    programs.add(announced(0))
    programs.add(announced(0, path=b"/bin/false"))
    assert programs[0].path == b"/bin/false"


def test_an_unknown_handle_is_an_error(programs):
    with pytest.raises(KeyError):
        programs[3]


def test_the_same_variables_are_kept_once(programs):
    for handle, variables in enumerate([[b"A=1"], [b"A=1"], [b"A=2"]]):
        programs.add(announced(handle, env=variables))
    programs.add(announced(3, padded=None))
    first, second, third, fourth = (programs[k].environment for k in range(4))
    assert first is second
    assert len({id(one) for one in (first, third, fourth)}) == 3


@pytest.mark.parametrize("changes", [{"argv": [b"a\0b"]}, {"env": [b"A=\0"]}])
def test_what_cannot_be_converted_fails_when_it_is_executed(programs, changes):
    programs.add(announced(0, **changes))
    assert programs[0].failure.errno == errno.EINVAL
    programs.add(announced(0))
    assert programs[0].failure is None


def test_many_programs_with_variables_of_their_own(programs):
    for handle in range(1200):
        programs.add(announced(handle % 512, env=[b"A=%d" % handle]))
    assert programs[1199 % 512].environment.strings[0] == b"A=1199"
    assert len(programs._environments) <= 512


def test_each_program_writes_to_the_files_of_its_run(programs, tmp_path):
    names = ("first", "second", "first again")
    for handle, name in enumerate(names):
        argv = [b"sh", b"-c", b'echo "$1 $A"; echo bad >&2', b"sh", name.encode()]
        programs.add(announced(handle, path=b"/bin/sh", argv=argv, padded=None))
    call = SpawnCall(spawn_attributes({"scheduling": "other"}))
    nothing = os.open("/dev/null", os.O_RDWR)
    places = [os.open(tmp_path / name, os.O_WRONLY | os.O_CREAT) for name in ("a", "b")]
    for handle, place in enumerate((places[0], places[1], places[0])):
        call.prepare(programs[handle], (nothing, place, nothing), 0)
        assert call.spawn(b"/nonexistent/program") == errno.ENOENT
        assert call.spawn(programs[handle].path) == 0
        assert os.waitpid(call.pid.value, 0)[1] == 0
    for fd in (nothing, *places):
        os.close(fd)
    assert (tmp_path / "a").read_text() == "first 1\nfirst again 1\n"
    assert (tmp_path / "b").read_text() == "second 1\n"
