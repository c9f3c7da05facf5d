"""The suite as a whole: boxes, ranking, biplot, and the page that shows them."""

from __future__ import annotations

import itertools
import re
import statistics

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.importers.reader import Reading
from analysis.methods.resampling.biplot import biplot
from analysis.report.assembling import chapter_html
from analysis.report.subject import subject_of
from analysis.report.suite import bars_of, bars_plot, chapter as suite, plane_of
from analysis.report.suite_boxes import boxes_plots, five_numbers
from analysis.report.written import written_of

BENCHES = ("text", "logs", "json")


def runs(factors, *, seed=1, benches=BENCHES, sessions=4, count=6):
    rng = np.random.default_rng(seed)
    return {
        name: {
            bench: ((k + 1) * factor * np.exp(rng.normal(0, 0.01, sessions * count))).tolist()
            for k, bench in enumerate(benches)
        }
        for name, factor in factors.items()
    }


@pytest.fixture(scope="module")
def subject(synthetic, tmp_path_factory, once):
    def make(data, how=None, **asked):
        path = synthetic(data, sessions=4).write(
            tmp_path_factory.mktemp("trials") / "runs" / f"t{len(data)}"
        )
        return subject_of([str(path)], how or Reading(), **{"explain": False} | asked)

    return once(make)


@pytest.fixture
def three(subject):
    return subject(runs({"old": 1.0, "new": 0.5, "again": 1.0}))


# --- boxes


@settings(deadline=None)
@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=40))
def test_the_quartiles_are_those_of_linear_interpolation(values: list[float]) -> None:
    """Authority: the standard library's inclusive method, which is definition 7."""
    found = five_numbers(np.array(values))
    expected = statistics.quantiles(values, n=4, method="inclusive")
    assert found.numbers == pytest.approx((min(values), *expected, max(values)))
    assert found.runs == len(values)
    turned = five_numbers(np.array(values), 2.0, better="lower")
    assert turned.numbers == pytest.approx([2 / value for value in reversed(found.numbers)])


@pytest.mark.parametrize(("better", "sign"), [("lower", 1), ("higher", -1)])
def test_boxes_lie_on_the_side_of_the_better_variant(tmp_path, better, sign) -> None:
    (tmp_path / "new.csv").write_text("text,0.5,0.6,0.4,0.5\nlogs,1,1.1,0.9,1\n")
    (tmp_path / "old.csv").write_text("text,1,1.1,0.9,1\nlogs,2,2.1,1.9,2\n")
    sources = [str(tmp_path / "new.csv"), str(tmp_path / "old.csv")]
    chapter = suite(subject_of(sources, Reading(better=better), explain=False))
    (column,) = chapter["boxes"]
    for row in column["rows"]:
        assert row["candidate"].median.value == pytest.approx(2.0**sign, rel=1e-9)
        assert row["baseline"].median.value == 1.0
        assert list(row["candidate"].numbers) == sorted(row["candidate"].numbers)
    assert (column["apart"], column["compared"]) == (2, 2)


def test_the_margin_is_shaded_and_the_published_ranks_carry_their_false_alarms(three) -> None:
    chapter = suite(three)
    assert chapter["margin"] == 0.01
    for column in chapter["boxes"]:
        head = str(boxes_plots(column, chapter, "ground")["head"])
        (area,) = re.findall(r'<rect class="margin" x="([\d.]+)%" y="0" width="([\d.]+)%"', head)
        (one,) = re.findall(r'<line class="one" x1="([\d.]+)%"', head)
        left, width = map(float, area)
        assert width > 0
        # 1 / 1.01 and 1.01 lie equally far from 1 on a log scale
        assert left + width / 2 == pytest.approx(float(one), abs=0.02)
    assert "31 to 41 %" in chapter["friedman"]


def test_however_far_single_runs_lie_boxes_fill_half_of_the_axis(tmp_path) -> None:
    def row(name: str, middle: float) -> str:
        values = [middle * (1 + k / 1000) for k in range(-4, 5)]
        return ",".join([name, *map(repr, [values[0] / 1e3, *values, values[-1] * 1e3])])

    (tmp_path / "new.csv").write_text(f"{row('text', 0.5)}\n{row('logs', 2.0)}\n")
    (tmp_path / "old.csv").write_text(f"{row('text', 1.0)}\n{row('logs', 1.0)}\n")
    sources = [str(tmp_path / "new.csv"), str(tmp_path / "old.csv")]
    chapter = suite(subject_of(sources, Reading(better="lower"), explain=False))
    (column,) = chapter["boxes"]
    rows = boxes_plots(column, chapter, "ground")["rows"]
    places = []
    for markup in rows.values():
        (d,) = re.findall(r'class="suite-median (?!baseline)[^"]*" d="M(\d+) ', str(markup))
        places.append(int(d) / 1000)
    assert max(places) - min(places) == pytest.approx(0.5, abs=0.05)


def test_one_program_under_two_names_has_boxes_that_touch(three) -> None:
    columns = {one["candidate"]: one for one in suite(three)["boxes"]}
    assert columns["again"]["apart"] == 0
    assert columns["new"]["apart"] == 3


def test_of_many_benchmarks_the_ends_and_the_cautioned_are_listed_and_the_others_grouped(
    tmp_path,
) -> None:
    rng = np.random.default_rng(3)
    for name, factor in (("new", 0.9), ("old", 1.0)):
        rows = [
            f"b{k},"
            + ",".join(
                f"{v:.6f}"
                for v in factor
                * (1 + k * 0.002) ** (name == "old")
                * np.exp(rng.normal(0, 0.01, 5))
            )
            for k in range(200)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(rows) + "\n")
    found = subject_of(
        [str(tmp_path / "new.csv"), str(tmp_path / "old.csv")],
        Reading(better="lower"),
        explain=False,
    )
    (column,) = suite(found)["boxes"]
    about = {name for caution in found.verdict.cautions for name in caution.about}
    names = [row["benchmark"] for row in column["rows"]]
    assert len(names) == 200
    assert {*names[:15], *names[-15:]} <= set(column["listed"])
    assert set(column["listed"]) - {*names[:15], *names[-15:]} <= about
    assert sum(band["benchmarks"] for band in column["bands"]) == 200 - len(column["listed"])
    assert len(column["bands"]) == 24
    html = chapter_html(suite(found))
    assert html.count('role="img"') == len(column["listed"]) + 1
    assert html.count('<table class="suite-boxes"') == 3  # beside each other, on one scale


def test_there_is_no_chapter_on_a_single_benchmark(subject) -> None:
    assert suite(subject(runs({"old": 1.0, "new": 0.5}, benches=("text",)))) is None


def test_a_variant_alone_is_shown_over_its_own_medians(subject) -> None:
    (column,) = (chapter := suite(subject(runs({"old": 1.0}))))["boxes"]
    assert [row["candidate"] for row in column["rows"]] == [None] * 3
    assert [row["baseline"].median.text for row in column["rows"]] == ["1.000"] * 3
    assert chapter["missing"] == ()


# --- ranking


@given(st.integers(2, 7), st.data())
def test_bars_are_the_longest_runs_of_neighbours_without_a_pair_told_apart(size, data) -> None:
    """Authority: all intervals, enumerated."""
    order = [f"v{k}" for k in range(size)]
    pairs = list(itertools.combinations(order, 2))
    told = {frozenset(pair) for pair in data.draw(st.lists(st.sampled_from(pairs), unique=True))}
    whole = {
        (a, b)
        for a in range(size)
        for b in range(a + 1, size)
        if not any(frozenset(p) in told for p in itertools.combinations(order[a : b + 1], 2))
    }
    longest = {
        (a, b)
        for a, b in whole
        if not any((c, d) != (a, b) and c <= a and b <= d for c, d in whole)
    }
    assert set(bars_of(order, told)) == longest


def test_bars_stand_side_by_side_from_their_first_row_to_their_last() -> None:
    bars = ((0, 1), (1, 3))
    rows = [
        re.findall(
            r'<line [^>]*?x1="([\d.]+)%" y1="([\d.]+)" x2="[\d.]+%" y2="([\d.]+)"',
            bars_plot(bars, k),
        )
        for k in range(5)
    ]
    left, right = "25", "75"
    assert rows == [
        [(left, "11", "26")],
        [(left, "0", "15"), (right, "11", "26")],
        [(right, "0", "26")],
        [(right, "0", "15")],
        [],
    ]


def test_the_ranking_tells_apart_what_differs_and_joins_what_does_not(three) -> None:
    ranks = suite(three)["ranks"]
    assert ranks["rows"][0]["variant"] == "new"
    assert [row["rank"].text for row in ranks["rows"]] == ["1", "2 to 3", "2 to 3"]
    assert ranks["bars"] == ((1, 2),)
    assert set(ranks["rows"][1]["alike"]) | set(ranks["rows"][2]["alike"]) == {"old", "again"}
    assert (
        "".join(one.text for one in ranks["lead"])
        == "new comes first. 2 of 3 pairs are told apart."
    )


def test_one_program_under_three_names_has_no_order(subject) -> None:
    """The negative control: nothing differs, so no pair may be told apart."""
    ranks = suite(subject(runs({"a": 1.0, "b": 1.0, "c": 1.0}, seed=5)))["ranks"]
    assert ranks["bars"] == ((0, 2),)
    assert "".join(one.text for one in ranks["lead"]) == "No pair is told apart: there is no order."


def test_a_pair_with_the_baseline_is_written_as_on_the_first_screen(three) -> None:
    chapter, texts = suite(three), written_of(three)
    line = texts["new"]["these"]
    (pair,) = [
        p for p in chapter["ranks"]["pairs"] if {p["candidate"], p["baseline"]} == {"new", "old"}
    ]
    (row,) = [row for row in chapter["ranks"]["rows"] if row["variant"] == "new"]
    for one in (pair, row):
        assert (one["speedup"], one["low"], one["high"]) == (line.speedup, line.low, line.high)
    ratios = [
        one for one in chapter["ranks"]["pairs"] if "again" in {one["candidate"], one["baseline"]}
    ]
    assert all(
        one.text == f"{one.value:.{len(one.text) - 2}f}"
        for one in (pair["speedup"] for pair in ratios)
    )


def test_with_two_variants_the_page_says_why_there_is_no_ranking(subject) -> None:
    chapter = suite(subject(runs({"old": 1.0, "new": 0.5})))
    assert chapter["ranks"] is None
    assert chapter["plane"] is None
    assert chapter["missing"] == ("A biplot and a ranking need three variants or more.",)
    assert chapter["friedman"] == ""
    assert plane_of(subject(runs({"old": 1.0, "new": 0.5})), {}).startswith(
        "A biplot needs three variants or more"
    )


# --- biplot


def test_the_biplot_is_that_of_the_medians(three) -> None:
    plane = suite(three)["plane"]
    names = list(three.matrices)
    table = np.array([three.matrices[name].select(list(three.order)).medians() for name in names])
    expected = biplot(table, names, list(three.order))
    assert [mark["x"].value for mark in plane["variants"]] == expected.scores[:, 0].tolist()
    assert [mark["y"].value for mark in plane["benchmarks"]] == expected.loadings[:, 1].tolist()
    assert plane["conclusion"] == expected.conclusion
    assert plane["shares"][0].value == pytest.approx(100 * expected.explained[0])


# --- the page


def test_points_that_lie_on_each_other_have_one_label_with_both_names(subject) -> None:
    data = runs({"old": 1.0, "new": 0.2, "slow": 3.0})
    data["again"] = {bench: list(values) for bench, values in data["old"].items()}
    html = chapter_html(suite(subject(data)))
    assert re.search(r"<text[^>]*>old, again</text>", html)
    assert not re.search(r"<text[^>]*>(old|again)</text>", html)
