"""A campaign from its text, and the one mistake in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from analysis.errors import CampaignError, Problem
from harness.campaign.model import Campaign
from harness.campaign.resolve import load_campaign


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Campaign]:
    """Give what loads a text, written into a file of the test's folder."""

    def read(text: str, **options) -> Campaign:
        path = tmp_path / "c.yaml"
        path.write_text(dedent(text), encoding="utf-8")
        return load_campaign(path, **options)

    return read


@pytest.fixture
def problem(load) -> Callable[[str], Problem]:
    """Give what tells the only mistake in a text."""

    def read(text: str) -> Problem:
        with pytest.raises(CampaignError) as caught:
            load(text)
        (one,) = caught.value.problems
        return one

    return read


@pytest.fixture
def mistake(problem) -> Callable[[str, str, str, str], None]:
    """Give what holds the only mistake in a text: the end of its place, words of it and of its remedy."""

    def holds(text: str, where: str, what: str, fix: str) -> None:
        found = problem(text)
        assert found.where.endswith(where)
        assert what in found.what
        assert fix in (found.fix or "")

    return holds
