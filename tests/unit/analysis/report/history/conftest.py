"""Histories of made-up nights."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

TESTS = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="session")
def histories() -> SimpleNamespace:
    """Give what makes histories of which it is known what happens in them."""
    return SimpleNamespace(**runpy.run_path(str(TESTS / "nightly" / "browser" / "histories.py")))
