"""What callgrind writes is read; formats are those of valgrind's manual."""

from __future__ import annotations

import os
import shutil

import pytest

from harness.errors import HostError
from harness.why.counting import counts_in, find_valgrind

WRITTEN = """\
# callgrind format
positions: line
events: Ir
summary: 130

ob=/usr/bin/app
fl=app.c
fn=visit
10 3
cfn=weigh
calls=2 20
10 100
fi=inlined.h
11 7
fn=0x0000000000001150
0 5
ob=/lib/libc.so.6
fn=_IO_puts
9 15

totals: 30
"""


def test_costs_are_a_functions_own_and_files_of_processes_add_up(tmp_path):
    (tmp_path / "counts.17").write_text(WRITTEN)
    (tmp_path / "counts.17.1").write_text(WRITTEN)
    assert counts_in(tmp_path) == {
        ("visit", "app"): 20,
        ("[unknown]", "app"): 10,
        ("_IO_puts", "libc.so.6"): 30,
    }


@pytest.mark.parametrize("kept", [0, 60, 150, len(WRITTEN) - 1])
def test_what_is_cut_off_is_no_count(tmp_path, kept):
    """Authority: on a full disk 4,800,511 of 4,923,250 instructions were told, the same twice, with exit 0."""
    (tmp_path / "counts.17").write_text(WRITTEN[:kept])
    with pytest.raises(HostError, match="cut off or damaged"):
        counts_in(tmp_path)


def test_nothing_is_no_count(tmp_path):
    with pytest.raises(HostError, match="it wrote nothing"):
        counts_in(tmp_path)


@pytest.mark.skipif(shutil.which("c++filt") is None, reason="c++filt is not installed")
def test_names_that_valgrind_cannot_read_are_made_readable(tmp_path):
    mangled = "_RNvCs1234_3app5weigh"  # Rust's newer form (RFC 2603)
    (tmp_path / "counts.17").write_text(WRITTEN.replace("fn=_IO_puts", f"fn={mangled}"))
    ((name, _),) = (key for key in counts_in(tmp_path) if "weigh" in key[0])
    assert name.endswith("::weigh")
    assert name != mangled


def test_without_valgrind_the_remedy_is_told(tmp_path):
    with pytest.raises(HostError, match="not installed") as caught:
        find_valgrind(str(tmp_path))
    assert "apt install valgrind" in (caught.value.fix or "")


def test_a_valgrind_that_does_not_start_is_told(tmp_path):
    broken = tmp_path / "valgrind"
    broken.write_text("#!/bin/sh\necho no >&2; exit 3\n")
    broken.chmod(0o755)
    with pytest.raises(HostError, match="cannot be executed"):
        find_valgrind(f"{tmp_path}{os.pathsep}/bin")
