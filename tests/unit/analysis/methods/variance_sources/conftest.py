"""Trials with planted factors, from the module that calibrations use too."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

_PATH = Path(__file__).parents[4] / "planted.py"


@pytest.fixture(scope="session")
def planted() -> ModuleType:
    if "planted" not in sys.modules:
        spec = importlib.util.spec_from_file_location("planted", _PATH)
        module = importlib.util.module_from_spec(spec)
        sys.modules["planted"] = module
        spec.loader.exec_module(module)
    return sys.modules["planted"]
