"""The pictures of a bisection. Authorities: the made-up commits (each probability, probe, skipped commit and
interval is drawn, in its place), `docs/report.md` (what is blue, orange, grey)."""

from __future__ import annotations

import dataclasses
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.report.bisection.proofs import axis_of, pair_picture, pairs_of
from analysis.report.bisection.search_picture import HEIGHT, most_of, picture, place_at

TESTS = Path(__file__).resolve().parents[4]
made = SimpleNamespace(**runpy.run_path(str(TESTS / "nightly" / "browser" / "bisections.py")))
NAMES = ("v1.4.0", "v1.5.0")


@pytest.fixture(scope="module")
def proven():
    return made.proven()


def strokes(svg: str, css: str) -> list[tuple[float, float]]:
    """Give each upright line's place (a share of the width) and height in pixels."""
    found = re.findall(
        rf'<line class="{css}" x1="([\d.]+)%" y1="([\d.]+)" x2="[\d.]+%" y2="([\d.]+)"', svg
    )
    return [(float(x) / 100, abs(float(a) - float(b))) for x, a, b in found]


def test_each_probability_stands_at_its_commit(proven):
    svg = str(picture(proven, NAMES))
    drawn = strokes(svg, "bisection-likely [a-z]+")
    expected = [
        (place_at(one.place, proven.commits), one.probability * HEIGHT / most_of(proven))
        for one in proven.posterior
    ]
    assert drawn == [pytest.approx(one, abs=0.02) for one in expected]
    assert sum(one.probability for one in proven.posterior) == pytest.approx(1, abs=0.02)


def test_the_culprit_is_coloured_and_named_and_no_other(proven):
    (culprit,) = proven.culprits
    svg = str(picture(proven, NAMES))
    (place,) = (x for x, _ in strokes(svg, "bisection-likely slower"))
    assert place == pytest.approx(place_at(45, 128), abs=1e-4)
    assert culprit.upto[:7] in svg
    assert "bisection-likely slower" not in str(picture(made.spent(), NAMES))


def test_each_probe_has_its_sessions(proven):
    svg = str(picture(proven, NAMES))
    drawn = strokes(svg, "bisection-sessions")
    most = max(one.sessions for one in proven.probes)
    assert [x for x, _ in drawn] == [
        pytest.approx(place_at(one.place, 128), abs=1e-4) for one in proven.probes
    ]
    assert [high for _, high in drawn] == [
        pytest.approx(30 * one.sessions / most, abs=0.02) for one in proven.probes
    ]


def test_each_skipped_commit_has_a_cross(proven):
    assert str(picture(proven, NAMES)).count("bisection-skipped") == 3
    assert "bisection-skipped" not in str(picture(made.two(), NAMES))


def test_what_is_open_is_shaded(proven):
    told = made.spent()
    (left,) = told.open
    svg = str(picture(told, NAMES))
    ((x, width),) = re.findall(
        r'class="bisection-open" x="([\d.]+)%" y="18" width="([\d.]+)%"', svg
    )
    assert float(x) == pytest.approx(100 * left.first / 129, abs=0.01)
    assert float(width) == pytest.approx(100 * (left.last - left.first + 1) / 129, abs=0.01)
    assert "bisection-open" not in str(picture(proven, NAMES))


def test_small_probabilities_have_a_scale_of_their_own(proven):
    told = made.spent()
    assert max(one.probability for one in told.posterior) <= most_of(told) < 1
    assert most_of(proven) == 1
    assert f"{100 * most_of(told):g}\N{NO-BREAK SPACE}%" in str(picture(told, NAMES))


def test_the_picture_says_its_result_in_words(proven):
    (said,) = re.findall(r'aria-label="([^"]*)"', str(picture(proven, NAMES)))
    assert proven.culprits[0].upto[:7] in said
    assert "3 skipped" in said


# --- the numbers


def test_every_pair_that_was_judged_is_a_row():
    told = made.two()
    pairs = pairs_of(told)
    assert pairs[0].ratio == pytest.approx(1 / told.first.speedup)
    claims = [one for one in pairs if one.lead]
    assert len(claims) == 1 + len(told.culprits) + len(told.refuted)
    for one, pair in zip(told.culprits, claims[1:], strict=False):
        assert (pair.low, pair.high) == pytest.approx((1 / one.high, 1 / one.low))
        assert pair.sessions == one.sessions
    assert len(pairs) - len(claims) == 2 * len(told.culprits)  # none at an end


def test_nothing_is_left_beside_a_culprit_at_an_end():
    told = made.found([(1, 0.05)], last=2, seed=4)
    assert [one.what.partition(":")[0] for one in pairs_of(told) if not one.lead] == ["behind it"]


def test_an_interval_lies_where_it_is(proven):
    pairs = pairs_of(proven)
    axis = axis_of(pairs, proven.margin)
    svg = str(pair_picture(axis, pairs[1], 1))
    ((left, right),) = re.findall(
        r'<line class="interval slower" x1="([\d.]+)%" y1="12" x2="([\d.]+)%"', svg
    )
    ends = (axis.scale.at(pairs[1].low), axis.scale.at(pairs[1].high))
    assert (float(left) / 100, float(right) / 100) == pytest.approx(ends, abs=1e-3)
    assert "hollow" not in svg
    aside = next(k for k, one in enumerate(pairs) if one.word == "undecided")
    assert "hollow" in str(pair_picture(axis, pairs[aside], aside))


def test_an_interval_far_beyond_all_differences_leaves_the_scale(proven):
    (one,) = proven.culprits
    wide = dataclasses.replace(proven, culprits=(dataclasses.replace(one, before=made.far()),))
    pairs = pairs_of(wide)
    axis = axis_of(pairs, wide.margin)
    assert axis.scale.high < 1.3
    rows = [str(pair_picture(axis, pair, k)) for k, pair in enumerate(pairs)]
    assert [row.count("bisection-beyond") for row in rows].count(2) == 1


def test_the_margin_and_same_are_on_the_axis(proven):
    axis = axis_of(pairs_of(proven), proven.margin)
    assert (1.0, "same") in axis.ticks
    assert all(axis.scale.holds(end) for end in axis.margin)


def test_of_nothing_measured_there_is_no_row():
    assert pairs_of(made.under_way()) == ()
