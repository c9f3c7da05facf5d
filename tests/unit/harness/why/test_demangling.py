"""Names of C++ and Rust that perf left mangled. Authority: the ABIs' own examples (Itanium C++, RFC 2603)."""

from __future__ import annotations

import shutil

import pytest

from harness.trial import perf as demangling
from harness.trial.perf import demangled

NAMES = {
    "_ZN3foo3barEi": "foo::bar(int)",
    "_RNvCs15kBYyAo9fc_7mycrate7example": "mycrate[ca63f166dbe9294]::example",
}


@pytest.mark.skipif(shutil.which("c++filt") is None, reason="c++filt is not installed")
def test_mangled_names_are_made_readable():
    assert demangled([*NAMES, "main", "_start", "_Zone", "std::sort", "_ZN3foo3barEi"]) == NAMES


def test_without_a_demangler_names_stay(monkeypatch, tmp_path):
    monkeypatch.setattr(demangling.shutil, "which", lambda _: None)
    assert demangled(NAMES) == {}
    monkeypatch.setattr(demangling.shutil, "which", lambda _: str(tmp_path / "gone"))
    assert demangled(NAMES) == {}
    monkeypatch.setattr(demangling.shutil, "which", lambda _: "/bin/false")
    assert demangled(NAMES) == {}
    monkeypatch.setattr(demangling.shutil, "which", lambda _: "/bin/true")  # answers nothing
    assert demangled(NAMES) == {}
    cut = tmp_path / "cut"
    cut.write_text("#!/bin/sh\ncat > /dev/null; printf 'one\\ntw'\n")
    cut.chmod(0o755)
    monkeypatch.setattr(demangling.shutil, "which", lambda _: str(cut))
    assert demangled(NAMES) == {}


def test_nothing_is_asked_where_nothing_is_mangled(monkeypatch):
    monkeypatch.setattr(demangling.shutil, "which", lambda _: pytest.fail("was asked"))
    assert demangled(["main", "std::sort(int*)"]) == {}
