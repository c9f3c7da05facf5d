"""The page of what `judge_nights` says of nights. Authority: the nights, of which it is known what happens."""

from __future__ import annotations

import re
from datetime import date

import numpy as np
import pytest

from analysis.history.judging import judge_nights
from analysis.report.history import history_html
from tests.unit.analysis.history.judged import made_nights as made
from tests.unit.analysis.report.history.test_history_page import text_of

STEP = np.where(np.arange(60) < 36, 0.0, 0.05)
NEWER = {"kernel": {"release": "6.12"}}


@pytest.fixture(scope="module")
def page() -> str:
    commits = [f"{k:040x}"[::-1] for k in range(60)]
    nights = made.nights_of(
        made.series(made.noise(60, 1) + STEP, commits=commits, skipped=(20, 21)),
        made.series(made.noise(60, 2), "logs", own=made.noise(60, 3, 0.002) - STEP, facts={36: NEWER}),
    )  # fmt: skip
    return history_html(judge_nights(nights, gate="slower>2%"))


def strip(page: str, number: int) -> str:
    return page.partition(f'<section id="strip-{number}"')[2].partition("</section>")[0]


def test_the_program_that_changed_is_shaded_between_its_commits(page):
    told = strip(page, 1)
    assert told.count('class="history-slower"') == 1
    assert "history-host" not in told
    assert "fairtrial bisect " in told
    (place,) = re.findall(r"most likely on ([\d-]+)", told)
    night = (date.fromisoformat(place) - date(2026, 9, 24)).days - 2  # two are missing
    assert abs(night - 36) <= 3


def test_the_host_that_changed_is_marked_and_no_program(page):
    told = strip(page, 2)
    assert "history-slower" not in told
    assert told.count('class="history-host"') == 1
    assert "v1.0 itself takes" in text_of(f"<main>{told}</main>")
