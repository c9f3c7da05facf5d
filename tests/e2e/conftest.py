"""Labs whose trials take virtual times: programs are executed, and take what they print, or the same on every machine."""

from __future__ import annotations

import pytest

from tests.virtual import Times


@pytest.fixture(scope="session")
def make_lab(make_lab):
    def make(folder):
        made = make_lab(folder)
        made.virtual = Times(performs=True, says=r"takes ([0-9.]+) s")
        return made

    return make
