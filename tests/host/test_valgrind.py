"""What valgrind counts of programs whose loops are known."""

from __future__ import annotations

import runpy
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.why.counting import counts_in, find_valgrind

programs = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "why_programs.py")))


@pytest.fixture(scope="module")
def programs_folder(tmp_path_factory):
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    if not programs.has_compiler():
        pytest.skip("no C compiler is installed")
    folder = tmp_path_factory.mktemp("programs")
    source = folder / "program.c"
    source.write_text(programs.SOURCE)
    flags = ("-O2", "-DVISITS=1000", "-DPARSED=30", "-DWEIGHED=20")
    subprocess.run(["cc", *flags, "-o", str(folder / "app"), str(source)], check=True)
    return folder


def counted(folder, *argv):
    into = folder / f"counts-{len(list(folder.iterdir()))}"
    into.mkdir()
    words = find_valgrind().around([str(folder / "app"), *argv], into)
    subprocess.run(words, check=True, capture_output=True)
    return counts_in(into)


def test_a_loop_is_counted_exactly_and_alike_twice(programs_folder):
    first, second = counted(programs_folder), counted(programs_folder)
    assert first == second
    # the loop of weigh is one instruction more or less than that of parse, a few times each
    assert 1000 * 20 * 3 <= first["weigh", "app"] <= 1000 * 20 * 8
    assert 1000 * 30 * 3 <= first["parse", "app"] <= 1000 * 30 * 8


def test_a_child_is_counted_and_what_was_done_before_it_is_not_counted_twice(programs_folder):
    plain, forked = counted(programs_folder), counted(programs_folder, "fork")
    for name in ("weigh", "parse", "visit"):
        assert forked[name, "app"] == plain[name, "app"]
    before = sum(many for (_, place), many in plain.items() if place != "app")
    twice = sum(many for (_, place), many in forked.items() if place != "app")
    assert twice < 1.2 * before  # that of the start would be there twice
