"""Every kind of figure: what it shows are the verdict's numbers, and no two of its texts touch."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.importers.reader import Reading
from analysis.methods.hpt.speedup import hpt_speedup
from analysis.methods.resampling.biplot import biplot
from analysis.plots.chart import Sheet, picture_bytes
from analysis.plots.marks import Curve
from analysis.registry import FIGURES
from analysis.report.figures import draw, draw_table, kind_of
from analysis.report.subject import Subject, subject_of
from analysis.report.written import written_of
from analysis.verdict.judging import judge
from tests.planted_values import NAME, with_values
from tests.unit.analysis.data.iterations.test_warmup import trial, warming

BENCHES = ("a", "b", "c")
NARROW, WIDE = Sheet(width=85, font_size=7), Sheet(width=178, font_size=8)
LONG = {"base": 1.0, "a/very/long/name/of/a/variant-" + "x" * 200: 0.5, "<i>\x07\u202e": 1.1}


def texts_of(picture):
    """Give the texts of a picture with their boxes in points, and its size."""
    drawn = [(text, (box.left, box.top, box.right, box.bottom)) for text, box in picture.texts()]
    return drawn, (picture.width, picture.height)


def marks_of(axes, kind):
    return [mark for mark in axes.marks if isinstance(mark, kind)]


def touching(drawn):
    """List the pairs of texts that share more than a point in both directions."""
    return [
        (a, b)
        for k, (a, one) in enumerate(drawn)
        for b, two in drawn[k + 1 :]
        if min(one[2], two[2]) - max(one[0], two[0]) > 1
        and min(one[3], two[3]) - max(one[1], two[1]) > 1
    ]


# the runs of these trials have one value each (test_iterations.py)
DRAWN = [name for name in FIGURES if name != "iterations"]


@pytest.mark.parametrize("kind", DRAWN)
def test_no_texts_touch_or_leave_the_sheet_and_what_a_figure_has_beside_it(kind, measured):
    subject = measured(("base", "fast", "same", "slow"))
    bench = "b" if kind_of(kind).each else None
    drawings = [draw(kind, subject, sheet, benchmark=bench) for sheet in (NARROW, WIDE, WIDE)]
    for sheet, drawing in zip((NARROW, WIDE), drawings, strict=False):
        drawn, (wide, high) = texts_of(drawing.picture)
        assert touching(drawn) == []
        assert len(drawn) >= 4
        for text, box in drawn:
            assert box[0] >= -2, text
            assert box[2] <= wide + 2, text
            assert box[1] >= -2, text
            assert box[3] <= high + 2, text
        assert wide == pytest.approx(sheet.width / 25.4 * 72)
        assert drawing.name == subject.anchor(kind, bench or "")
        assert drawing.alt.endswith(".")
        assert drawing.title
        assert drawing.rows
        assert {len(row) for row in drawing.rows} == {len(drawing.columns)}
    one, two = (picture_bytes(drawing.picture, "svg") for drawing in drawings[1:])
    assert one == two


@pytest.mark.parametrize("kind", DRAWN)
def test_long_and_hostile_names_stay_in_their_place(kind, measured):
    benches = ("<script>" + "y" * 90, "\u2066b")
    subject = measured(LONG, benches=benches)
    bench = subject.order[0] if kind_of(kind).each else None
    drawing = draw(kind, subject, NARROW, benchmark=bench)
    drawn, (wide, _) = texts_of(drawing.picture)
    assert touching(drawn) == []
    for text, box in drawn:
        assert "\x07" not in text
        assert "\u202e" not in text
        assert box[0] >= -2, text
        assert box[2] <= wide + 2, text
    assert not set(drawing.alt) & set("\x07\u202e\u2066")


@pytest.mark.parametrize("kind", [name for name in DRAWN if FIGURES[name].each])
def test_one_benchmark_is_named_or_the_only_one(kind, measured):
    with pytest.raises(UsageError, match="shows one benchmark, and there are 3"):
        draw(kind, measured(), NARROW)
    with pytest.raises(UsageError, match="no benchmark 'd'"):
        draw(kind, measured(), NARROW, benchmark="d")
    alone = measured(benches=("only",))
    assert draw(kind, alone, NARROW).name == alone.anchor(kind, "only")


def test_a_kind_that_is_not_there():
    with pytest.raises(UsageError, match="no kind of figure 'pie'"):
        kind_of("pie")


# ---- the numbers


def test_a_forest_shows_the_verdict(measured):
    subject = measured(("base", "fast", "slow"))
    drawing = draw("forest", subject, NARROW)
    rows = {(row[0], row[2]): row for row in drawing.rows}
    for one in subject.candidates:
        result = one.multilevel
        for line in (*result.benchmarks, result.these, result.similar):
            row = rows[one.variant, line.name]
            assert row[3:6] == (line.speedup, line.low, line.high)
            assert row[7] == line.outcome
        kept = rows[one.variant, "a"][9].split()
        assert [float(text) for text in kept] == [
            math.exp(d) for d in result.benchmarks[0].differences
        ]
    text = written_of(subject)["fast"]["these"]
    assert f"fast: {text.speedup.text} times over 3 benchmarks" in drawing.alt
    assert text.interval in drawing.alt
    shown = [t for t, _ in texts_of(drawing.picture)[0]]
    assert f"{text.speedup.text}× {text.interval}  faster" in shown


def test_a_forest_of_many_benchmarks_says_how_many_are_left_out(measured):
    subject = measured(benches=tuple(f"b{k}" for k in range(60)), runs=12, sessions=2)
    drawing = draw("forest", subject, NARROW)
    shown = [t for t, _ in texts_of(drawing.picture)[0]]
    rows = sum(t in subject.order for t in shown)
    assert 30 <= rows < 60
    assert f"{60 - rows} benchmarks between the first and the last are not drawn" in shown
    assert len(drawing.rows) == 62  # the data hold all
    assert drawing.picture.height / 72 * 25.4 <= 240


def test_an_ecdf_is_the_share_of_runs(measured):
    subject = measured()
    drawing = draw("ecdf", subject, NARROW, benchmark="a")
    for name, matrix in subject.matrices.items():
        found = [row[1:] for row in drawing.rows if row[0] == name]
        values = np.sort(matrix.values("a"))
        assert [value for value, _ in found] == values.tolist()
        assert found[-1][1] == 1.0
        assert found[23][1] == pytest.approx(0.5)
    (axes,) = drawing.picture.axes
    x, y = marks_of(axes, Curve)[1].points.T  # the second of the keys
    assert axes.keys[1].text.startswith("fast")
    assert y[-1] == 1.0
    assert x[1] == subject.matrices["fast"].values("a").min()


def test_a_shift_function_of_a_pure_factor_is_flat(measured):
    # 0.5 of the time at each decile: a speedup of 2, within the scatter of the runs
    drawing = draw("shift", measured(), NARROW, benchmark="a")
    speedups = [row[2] for row in drawing.rows]
    assert len(speedups) == 9
    assert speedups == pytest.approx([2.0] * 9, rel=0.03)
    assert all(low < value < high for _, _, value, low, high, _ in drawing.rows)


@pytest.mark.parametrize(("runs", "points", "few"), [(48, 9, False), (24, 3, True)])
def test_where_runs_are_few_a_shift_function_has_quartiles_and_says_so(measured, runs, points, few):
    drawing = draw("shift", measured(runs=runs), NARROW, benchmark="a")
    assert len(drawing.rows) == points
    told = " ".join(text for text, _ in drawing.picture.texts())
    for text in (told, drawing.alt):
        assert ("quartiles, for lack of runs" in text) is few


def test_lognormal_runs_lie_on_the_line_and_two_speeds_do_not(measured, synthetic, tmp_path):
    rows = draw("qq", measured(), NARROW, benchmark="a").rows
    assert max(abs(x - y) for _, x, y in rows) < 1.0
    # residuals of 48 runs in 6 sessions: 42 degrees of freedom
    fast = [y for name, _, y in rows if name == "fast"]
    assert sum(y * y for y in fast) == pytest.approx(42)
    assert fast == sorted(fast)
    rng = np.random.default_rng(2)
    two = np.where(rng.random(48) < 0.1, 2.0, 1.0) * np.exp(rng.normal(0, 0.01, 48))
    trial = synthetic({"base": {"a": two.tolist()}}, sessions=2).write(tmp_path / "two")
    subject = subject_of([str(trial)], Reading(), explain=False)
    rows = draw("qq", subject, NARROW).rows
    assert max(abs(x - y) for _, x, y in rows) > 1.0


def test_boxes_are_the_quantiles(measured):
    subject = measured()
    rows = {row[:2]: row for row in draw("box", subject, NARROW).rows}
    values = subject.matrices["fast"].values("b")
    assert rows["fast", "b"][3:8] == pytest.approx(
        (values.min(), *np.quantile(values, [0.25, 0.5, 0.75]), values.max())
    )


@pytest.mark.parametrize("variants", [("base", "fast"), ("base", "fast", "same", "slow")])
def test_each_benchmark_of_a_box_figure_has_its_name(measured, variants):
    benches = ("one", "two", "three", "four")
    picture = draw("box", measured(variants, benches=benches), NARROW).picture
    names = [text for text, _ in picture.texts() if text in benches]
    rows = len({round(box.top) for text, box in picture.texts() if text == "one"})
    assert sorted(names) == sorted(benches * rows)


def test_the_curve_is_hpt_s(measured):
    subject = measured()
    best = hpt_speedup(subject.matrices["fast"], subject.matrices["base"])
    drawing = draw("curve", subject, NARROW)
    assert [row[1] for row in drawing.rows] == best.curve.speedups.tolist()
    assert best.conclusion in drawing.alt


def test_modes_of_few_runs_carry_their_caution(measured):
    drawing = draw("modes", measured(runs=10, sessions=2), NARROW, benchmark="a")
    shown = " ".join(t for t, _ in texts_of(drawing.picture)[0]).replace("\n", " ")
    assert "base: 10 values hardly determine a number of components" in shown
    assert "hardly determine" in drawing.alt
    many = draw("modes", measured(), NARROW, benchmark="a")
    assert "hardly determine" not in many.alt


# ---- what is refused


def test_shares_are_bars_as_high_as_the_components_of_the_biplot(measured):
    subject = measured(("base", "fast", "same", "slow"))
    values = np.array([matrix.medians() for matrix in subject.matrices.values()])
    logs = np.log(values) - np.log(values).mean(axis=0)
    roots = np.linalg.eigvalsh(logs @ logs.T)[::-1]  # of the other matrix than the product takes
    want = (roots / roots.sum())[:3]
    drawing = draw("shares", subject, NARROW)
    assert drawing.columns == ("component", "share", "together")
    assert [row[1] for row in drawing.rows] == pytest.approx(want.tolist(), abs=1e-9)
    assert [row[2] for row in drawing.rows] == pytest.approx(np.cumsum(want).tolist(), abs=1e-9)
    texts = [text for text, _ in texts_of(drawing.picture)[0]]
    assert {f"{100 * share:.1f}" for share in want} < set(texts)


def test_runs_of_zero_have_no_modes(synthetic, tmp_path):
    times = [0.02, 0.03, 0.04, 0.05]
    made = synthetic({name: {"a": times, "b": times} for name in ("base", "fast")}, sessions=2)
    made.rows[:] = [
        replace(row, user_s=0.01 * (k // 4 % 4) if row.benchmark == "a" else 0.1 + k / 1000)
        for k, row in enumerate(made.rows)
    ]
    subject = subject_of([str(made.write(tmp_path / "t"))], Reading(metric="user"), explain=False)
    with pytest.raises(InsufficientDataError, match="no variant has a mixture"):
        draw("modes", subject, NARROW, benchmark="a")
    assert draw("modes", subject, NARROW, benchmark="b").rows


@pytest.mark.parametrize("kind", ["biplot", "shares"])
def test_below_three_variants_there_is_nothing_to_see(kind, measured, files):
    for subject in (measured(), files()):
        with pytest.raises(InsufficientDataError, match="three"):
            draw(kind, subject, NARROW)


@pytest.mark.parametrize(
    "kind", ["forest", "strip", "ecdf", "shift", "qq", "box", "curve", "modes"]
)
def test_files_have_the_other_kinds(kind, files):
    subject = files()
    bench = "b0" if kind_of(kind).each else None
    drawing = draw(kind, subject, NARROW, benchmark=bench)
    assert touching(texts_of(drawing.picture)[0]) == []


def test_of_one_variant_nothing_is_compared(measured):
    subject = measured(("base",))
    for kind in ("forest", "curve", "biplot", "shares"):
        with pytest.raises(InsufficientDataError):
            draw(kind, subject, NARROW)
    with pytest.raises(InsufficientDataError):
        draw("shift", subject, NARROW, benchmark="a")
    for kind in ("strip", "ecdf", "qq", "modes"):
        assert draw(kind, subject, NARROW, benchmark="a").rows
    assert draw("box", subject, NARROW).rows


def test_few_and_equal_runs(measured, synthetic, tmp_path):
    data = {"base": {"a": [0.02, 0.02]}, "fast": {"a": [0.01]}}
    trial = synthetic(data).write(tmp_path / "few")
    subject = subject_of([str(trial)], Reading(), explain=False)
    for kind in ("forest", "box"):
        assert draw(kind, subject, NARROW).rows
    for kind in ("strip", "ecdf"):
        assert draw(kind, subject, NARROW, benchmark="a").rows
    for kind in ("shift", "qq", "curve"):
        with pytest.raises(InsufficientDataError):
            draw(kind, subject, NARROW, benchmark="a")


def test_a_table_of_systems_is_drawn_as_those_of_a_verdict_are(measured):
    subject = measured(("base", "fast", "slow"))
    names = list(subject.matrices)
    medians = np.array([one.select(list(BENCHES)).medians() for one in subject.matrices.values()])
    drawing = draw_table(biplot(medians, names, list(BENCHES)), NARROW)
    expected = draw("biplot", subject, NARROW)
    assert drawing.name == "biplot"
    assert {text for text, _ in drawing.picture.texts()} >= {*names, *BENCHES}
    assert drawing.columns == expected.columns
    places = {row[:2]: row[2:] for row in expected.rows}
    assert {row[:2] for row in drawing.rows} == places.keys()


# --- The picture of iterations: all of them, which are not judged, and where there are none.

SHEET = Sheet(width=85.0)


def printed_by(made, metric="t") -> Subject:
    return Subject(
        sources=("t",),
        title="t",
        trials=(made,),
        verdict=judge(made, metric=metric),
        matrices={name: made.matrix(name, metric) for name in made.manifest.variants},
        order=("b0",),
        prefix="",
        options={},
        how=Reading(),
    )


def test_all_iterations_are_there_and_those_before_the_change_are_not_judged():
    made = trial(warming, override="auto")
    drawing = draw("iterations", printed_by(made), SHEET)
    assert len(drawing.rows) == len(made) * 120
    assert sorted(row[5] for row in drawing.rows) == sorted(made.metrics["t"].values.tolist())
    judged = {"v0": 0, "v1": 0}
    for row in drawing.rows:
        judged[row[0]] += row[4]
    assert judged == {"v0": 24 * 100, "v1": 24 * 120}
    assert "v0: 24 runs, 20 iterations not judged; v1: 24 runs, 0 iterations" in drawing.alt
    assert drawing.alt.startswith("t of b0, iteration by iteration. ")
    assert picture_bytes(drawing.picture, "svg").startswith(b"<svg")


def test_a_metric_of_every_run_has_none():
    with pytest.raises(AnalysisError, match="no run has several iterations"):
        draw("iterations", printed_by(trial(), "wall"), SHEET)


def test_of_a_quantile_those_that_it_is_a_quantile_of_are_drawn():
    made, values = with_values(sessions=3, runs=2, each=200, warmup="20")
    drawing = draw("iterations", printed_by(made, NAME), SHEET)
    assert sorted(row[5] for row in drawing.rows) == sorted(np.concatenate(values).tolist())
    assert sum(row[4] for row in drawing.rows) == len(made) * 180
    assert drawing.columns[-1] == "t_ms"
