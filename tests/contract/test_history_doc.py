"""docs/history.md: its screen is what the command prints of the nights that it describes."""

from __future__ import annotations

import re
from pathlib import Path

from analysis.history.judged import CAUSES
from tests.unit.analysis.history.judged.made_nights import example

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "history.md").read_text(encoding="utf-8")


def test_the_screen_is_that_of_its_nights():
    blocks = re.findall(r"(?ms)^```\n(.*?)^```$", PAGE)
    assert str(example()) in [block.rstrip("\n") for block in blocks]


def test_every_cause_is_explained():
    assert all(f"`{words}`" in PAGE for words in CAUSES.values())


def test_the_steps_of_the_story_are_those_of_the_nights():
    told = example()
    places = {one.benchmark: [i.place[-8:] for i in one.intervals] for one in told.series}
    assert places == {"text": ["20261031"], "logs": [], "json": ["20261014"], "table": []}
    (host,) = told.host_changes
    assert host.trial.endswith("20261018")
