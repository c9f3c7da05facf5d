"""The pictures hold the verdict's numbers on the forest's orientation; runs, rings, means at their height."""

from __future__ import annotations

import dataclasses
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.diagnose.result import FarRun
from analysis.pages.model import Value
from analysis.report.benchmarks.against import ecdf, sessions, shift, steps
from analysis.report.benchmarks.benchmarks import Benchmark, Known, Mark
from analysis.report.benchmarks.pictures import panels_of, run_rows
from analysis.report.runs import Cell, Failed, Grounds, cells_of, frame_of, row_scales

FACTORS = {"x": 1.0, "y": 2.0}


def cell(*values: float) -> Cell:
    return Cell(
        values=np.array(values),
        labels=("1", "2"),
        session=np.array([0, 0, 0, 1, 1, 1]),
        block=np.array([1, 2, 3, 5, 6, 7]),
    )


OLD, NEW = cell(1, 2, 4, 1, 1, 1), cell(2, 2, 2, 3, 3, 3)


def drawn(cells, *, far=None, failures=None, marks=()):
    """Draw the runs of a benchmark of which only the cells are known."""
    failures = failures or {}
    means = {name: float(np.exp(np.log(c.values).mean())) for name, c in cells.items()}
    told = {
        name: {"runs": 6, "sessions": 2, "mean": Value("x", mean), "speedup": Value("", None),
               "word": "", "far": len((far or {}).get(("x", name), ())), "failed": len(failures.get(name, ()))}
        for name, mean in means.items()
    }  # fmt: skip
    return run_rows(
        SimpleNamespace(
            name="x",
            cells=cells,
            frame=frame_of(cells, failures),
            scales=row_scales(cells, means),
            styles={name: name for name in cells},
            variants=told,
            modes={},
            marks=marks,
            noun="session",
            merged=False,
            known=SimpleNamespace(
                unit="s", hosts={}, far=far or {}, subject=SimpleNamespace(baseline="old")
            ),
        ),
        Grounds("g"),
    )


def path(svg: str, css: str) -> list[list[int]]:
    """Give the numbers of each stroke of a path, down from the upper edge in thousandths."""
    (d,) = re.findall(rf'<path class="{css}" d="([^"]*)"', svg)
    return [[int(n) for n in re.findall(r"-?\d+", one)] for one in d.split("M")[1:]]


def dots(svg: str, css: str) -> list[tuple[int, int]]:
    """Give the places of dots, each of which is written as seen from the one before."""
    (d,) = re.findall(rf'<path class="dots {css}" d="([^"]*)"', svg)
    steps = np.array(re.findall(r"m(-?\d+) ?(-?\d+)h0", d), dtype=int)
    return [tuple(place) for place in steps.cumsum(axis=0).tolist()]


def test_means_stand_at_the_height_of_runs_of_their_value() -> None:
    rows = drawn({"old": OLD, "new": NEW}).rows
    old, new = rows["old"][0], rows["new"][0]
    means = path(old, "old parts-mean")
    assert means[0][1] == dots(old, "old")[1][1]  # geometric mean of 1, 2, 4
    assert path(new, "baseline line") == means
    assert path(new, "new parts-mean")[1][1] == dots(new, "new")[5][1]
    assert "baseline line" not in old


def test_variants_far_apart_repeat_no_mean() -> None:
    found = drawn({"old": OLD, "new": cell(20, 20, 21, 30, 30, 30)})
    assert "baseline line" not in "".join(found.rows["new"])
    assert (found.apart, found.repeated) == (True, False)
    found = drawn({"old": OLD, "new": NEW})
    assert (found.apart, found.repeated) == (False, True)


def test_a_ring_is_at_the_run_that_is_far() -> None:
    run = FarRun(benchmark="x", variant="new", session=2, run=3, ratio=2.0)
    found = drawn({"old": OLD, "new": NEW}, far={("x", "new"): [run]})
    (x, y) = re.search(r'"parts-ring" cx="([\d.]+)%" cy="([\d.]+)"', found.rows["new"][0]).groups()
    across, down = dots(found.rows["new"][0], "new")[5]
    assert float(x) * 10 == pytest.approx(across, abs=0.6)
    assert float(y) / 96 * 1000 == pytest.approx(down, abs=0.6)
    assert found.rings == 1
    said = "; 1 far from the others of their session"
    assert [said in found.rows[name][0] for name in ("old", "new")] == [False, True]


def test_a_failed_run_is_a_cross_in_its_own_row() -> None:
    failures = {"new": (Failed(session="2", block=8),)}
    found = drawn({"old": OLD, "new": NEW}, failures=failures)
    new = found.rows["new"][0]
    (x,) = re.findall(r'<svg class="at" x="([\d.]+)%" y="4', new)
    assert '<svg class="at"' not in found.rows["old"][0]
    assert float(x) * 10 > dots(new, "new")[5][0]
    assert "1 failed" in new


# ---- what stands above the panels


def mark(word: str, sessions: dict[str, str], *, everywhere: bool = False) -> Mark:
    return Mark(code=word, word=word, variant="", sessions=tuple(sessions),
                figures=tuple(sessions.values()), everywhere=everywhere, text=word)  # fmt: skip


def panels(count: int, *marks: Mark):
    labels = [str(k) for k in range(1, count + 1)]
    return panels_of(labels, marks, {})


def test_findings_stand_in_words_above_their_sessions_and_words_are_not_repeated() -> None:
    load = mark("load", {"1": "0.74", "2": "0.97"})
    everywhere = mark("steal", {"1": "", "2": ""}, everywhere=True)
    found = panels(2, load, everywhere)
    assert [one.long for one in found] == ["load 0.74", "0.97"]
    assert [one.short for one in found] == ["0.74", "0.97"]
    assert not any(one.found for one in panels(2, everywhere))


def test_words_without_room_give_way_to_figures_and_those_to_a_bar() -> None:
    found = panels(10, mark("environment", {"3": "", "4": "-25 %"}))
    assert (found[2].found, found[2].long, found[2].short) == (True, "", "")
    assert (found[3].long, found[3].short) == ("-25 %", "")


def test_a_bar_stands_over_each_panel_with_a_finding() -> None:
    ruled = "ink parts-bar"
    wide = 1000 / 2
    for found, bars in (
        ({}, []),
        ({"2": ""}, [(wide, 1000)]),
        ({"1": "", "2": ""}, [(0, wide), (wide, 1000)]),
    ):
        head = drawn({"old": OLD, "new": NEW}, marks=(mark("load", found),)).head
        assert re.findall(ruled, head) == [ruled] * bool(bars)
        assert ">load</text>" in head or not found
        strokes = path(head, ruled) if bars else []
        assert [(one[0], one[2]) for one in strokes] == [
            (pytest.approx(left, abs=10), pytest.approx(right, abs=10)) for left, right in bars
        ]


def test_many_panels_have_few_labels() -> None:
    labels = [panel.label for panel in panels(60) if panel.label]
    assert 5 <= len(labels) <= 12
    assert labels[0] == "1"


# ---- a candidate beside the baseline


def only(subject) -> Benchmark:
    return Benchmark(Known(subject), "x", cells_of(subject, "x"), {}, opened=True)


def test_session_values_are_the_verdicts(matrix, subject) -> None:
    given = subject(matrix("new", {"x": 0.9, "y": 2.0}, seed=2), matrix("old", FACTORS))
    one = only(given)
    told = one.candidates["new"]["by_session"]
    result = given.verdict.candidates[0].multilevel
    line = next(line for line in result.benchmarks if line.name == "x")
    assert [r["session"] for r in told] == list(line.session_ids)
    assert [r["speedup"].value for r in told] == pytest.approx(
        [math.exp(log) for log in line.differences]
    )
    assert math.exp(np.mean(line.differences)) == pytest.approx(line.speedup)
    picture = sessions(one, "new", Grounds("g"))
    assert "hollow" not in picture
    assert "above 1 in 5 of 5 sessions" in picture
    assert len(dots(picture, "faster parts-value")) == 5


@pytest.mark.parametrize(("better", "side"), [("lower", 1), ("higher", -1)])
def test_better_is_up_in_the_shift_function(matrix, subject, better: str, side: int) -> None:
    given = subject(
        matrix("new", {"x": 0.8}, seed=2, better=better), matrix("old", {"x": 1.0}, better=better)
    )
    one = only(given)
    quantiles = one.candidates["new"]["shift"]
    assert len(quantiles) == 9
    assert all((at["speedup"].value - 1) * side > 0 for at in quantiles)
    picture = shift(one, "new", Grounds("g"))
    ((_, middle, _),) = path(picture, "one")
    places = dots(picture, f"{one.styles['new']} parts-quantile")
    assert len(places) == 9
    assert all((middle - down) * side > 0 for _, down in places)


def test_a_distribution_function_rises_from_nothing_to_all_by_equal_steps() -> None:
    values = np.random.default_rng(1).uniform(0.05, 0.95, 40)
    xs, shares = zip(*steps(values), strict=True)
    assert (xs[0], shares[0], xs[-1], shares[-1]) == (0, 0, 1, 1)
    assert list(xs) == sorted(xs)
    assert list(shares) == sorted(shares)
    assert np.allclose(np.array(shares) * 40, np.round(np.array(shares) * 40))


def test_a_distribution_function_of_many_runs_has_no_more_corners_than_pixels() -> None:
    values = np.sort(np.random.default_rng(1).normal(0.5, 0.08, 20_000).clip(0.01, 0.99))
    curve = steps(values)
    assert len(curve) < 152
    xs, shares = np.array(curve[1:-1]).T
    exact = np.searchsorted(values, xs, side="right") / values.size
    assert np.abs(shares - exact).max() < 0.02  # what rises within a pixel does so at its left edge


def test_both_curves_are_named_and_said(matrix, subject) -> None:
    picture = ecdf(
        only(subject(matrix("a", {"x": 1.1}, seed=2), matrix("b", {"x": 1.0}))), "a", Grounds("g")
    )
    assert re.search("half of the runs of a are at most 1.[01]. s, of b (1.0|9..)", picture)
    assert ">a</text>" in picture
    assert ">b</text>" in picture


def test_few_runs_have_quartiles_fewer_nothing(matrix, subject) -> None:
    for runs, count in ((4, 3), (2, 0)):
        one = only(
            subject(matrix("a", {"x": 1.0}, seed=2, runs=runs), matrix("b", {"x": 1.0}, runs=runs))
        )
        assert len(one.candidates["a"]["shift"]) == count
        assert (one.shifts["a"] is None) == (count == 0)
        assert bool(shift(one, "a", Grounds("g"))) == (count > 0)


def test_sides_of_other_sessions_have_no_session_by_session(matrix, subject) -> None:
    one = only(
        subject(
            matrix("a", {"x": 1.0}, seed=2, trial="/one"), matrix("b", {"x": 1.0}, trial="/other")
        )
    )
    told = one.candidates["a"]
    assert told["by_session"] == []
    assert told["unit"] == ""
    assert "interval" in sessions(one, "a", Grounds("g"))


def test_an_interval_that_leaves_its_picture_says_so(matrix, subject) -> None:
    a, b = matrix("a", {"x": 1.0}, seed=2, sessions=2), matrix("b", {"x": 1.0}, sessions=2)
    wild = a.values("x") * np.repeat([0.94, 1.07], 8)
    picture = sessions(only(subject(dataclasses.replace(a, samples=(wild,)), b)), "a", Grounds("g"))
    assert picture.count('<svg class="at"') == 2
    assert re.search(r'interval" x1="0%" y1="\d+" x2="100%"', picture)
