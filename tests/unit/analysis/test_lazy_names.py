"""Modules that wait until something of theirs is used."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from analysis.registry import put_off


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give the name of an imported package with a module `late`, which tells when it is run."""
    name = "fairtrial_waits_for_its_parts"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text("ran = []\n", encoding="utf-8")
    (folder / "late.py").write_text(
        f"import {name}\n{name}.ran.append('late')\nanswer = 42\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    # set before they are taken out, so that what the test imports goes again
    for each in (name, f"{name}.late"):
        monkeypatch.setitem(sys.modules, each, sys)
        del sys.modules[each]
    importlib.invalidate_caches()
    importlib.import_module(name)
    return name


def test_a_module_put_off_runs_once_when_something_of_it_is_used(package: str) -> None:
    put_off(f"{package}.late")
    home = sys.modules[package]
    assert home.late is sys.modules[f"{package}.late"]
    assert home.ran == []
    assert home.late.answer == 42
    assert importlib.import_module(f"{package}.late") is home.late
    assert home.ran == ["late"]


def test_a_module_that_is_there_already_stays(package: str) -> None:
    late = importlib.import_module(f"{package}.late")
    put_off(f"{package}.late")
    assert sys.modules[f"{package}.late"] is late
    assert sys.modules[package].late is late
    assert sys.modules[package].ran == ["late"]


def test_a_module_that_is_nowhere_is_left_out(package: str) -> None:
    put_off(f"{package}.nowhere")
    assert f"{package}.nowhere" not in sys.modules
