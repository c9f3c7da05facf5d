"""Every kind of figure: what it shows are the verdict's numbers, and no two of its texts touch."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from analysis.diagnose.result import Finding
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.importers.reader import Reading
from analysis.methods.hpt.speedup import hpt_speedup
from analysis.methods.resampling.biplot import biplot
from analysis.plots.chart import Sheet, picture_bytes
from analysis.plots.marks import Curve, Dots, Line, Rect
from analysis.report.figures.kinds import KINDS, draw, draw_table, kind_of
from analysis.report.subject import subject_of
from analysis.report.written import written_of

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
DRAWN = [name for name in KINDS if name != "iterations"]


@pytest.mark.parametrize("kind", DRAWN)
def test_no_texts_touch_or_leave_the_sheet_and_what_a_figure_has_beside_it(kind, measured):
    subject = measured(("base", "fast", "same", "slow"), modal=kind == "causes")
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
    subject = measured(LONG, benches=benches, modal=kind == "causes")
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


@pytest.mark.parametrize("kind", [name for name in DRAWN if KINDS[name].each])
def test_one_benchmark_is_named_or_the_only_one(kind, measured):
    with pytest.raises(UsageError, match="shows one benchmark, and there are 3"):
        draw(kind, measured(), NARROW)
    with pytest.raises(UsageError, match="no benchmark 'd'"):
        draw(kind, measured(), NARROW, benchmark="d")
    alone = measured(benches=("only",), modal=kind == "causes")
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


def test_runs_in_their_order_are_those_of_the_trial(measured):
    subject = measured()
    drawing = draw("order", subject, NARROW, benchmark="c")
    for name, matrix in subject.matrices.items():
        found = [row for row in drawing.rows if row[0] == name]
        assert [row[3] for row in found] == matrix.values("c").tolist()
        assert [row[1] for row in found] == sorted(row[1] for row in found)
    assert "48 runs in 6 sessions" in drawing.alt


def test_a_failed_run_is_a_cross_where_it_stood(synthetic, tmp_path):
    values = np.exp(0.01 * np.random.default_rng(1).normal(0, 1, 24)).tolist()
    built = synthetic({"base": {"a": values}, "new": {"a": values}}, sessions=2)
    gone = [row for row in built.rows if row.variant == "new" and row.session == 2][4]
    at = built.rows.index(gone)
    built.rows[at] = replace(gone, outcome="crashed", exit_code=None, signal=9)
    subject = subject_of([str(built.write(tmp_path / "t"))], Reading(), explain=False)
    drawing = draw("order", subject, NARROW, benchmark="a")
    base, new = (marks_of(axes, Dots) for axes in drawing.picture.axes)
    assert all(not len(one.points) for one in base if one.shape == "cross")
    ((x, _),) = (place for one in new if one.shape == "cross" for place in one.points)
    # four runs of the second session stand left of it
    left, right = drawing.picture.axes[1].x_ticks[1].value + np.array([-0.25, 0.25])
    (runs,) = [one for one in new if len(one.points) == 23]
    second = [place for place, _ in runs.points if left < place < right]
    assert len(second) == 11
    assert sum(place < x for place in second) == 4
    assert "cross: failed" in [t for t, _ in texts_of(drawing.picture)[0]]


def test_a_finding_is_a_bar_over_its_sessions(measured):
    subject = measured()
    found = Finding(code="steal", sessions=(3, 5), text="the hypervisor took 9 % of a CPU")
    whole = replace(found, sessions=(1, 2, 3, 4, 5, 6))
    other = replace(found, benchmark="b")
    diagnosis = replace(subject.verdict.diagnosis, findings=(found, whole, other), far_runs=())
    changed = replace(subject, verdict=replace(subject.verdict, diagnosis=diagnosis))
    drawing = draw("order", changed, NARROW, benchmark="a")
    head = drawing.picture.axes[0]
    bars = [(line.x1, line.x2) for line in marks_of(head, Line)]
    assert len(bars) == 2  # what is of all sessions, or of another benchmark, is no mark here
    means = [(line.x1, line.x2) for line in marks_of(drawing.picture.axes[1], Line)]
    assert [means.index(bar) + 1 for bar in bars] == [3, 5]
    assert "Found: the hypervisor took 9 % of a CPU." in drawing.alt


def test_lag_pairs_stay_in_their_session(measured):
    drawing = draw("lag", measured(), NARROW, benchmark="a")
    assert len(drawing.rows) == 2 * 6 * 7  # 8 runs in a session have 7 neighbours


def test_dependent_runs_have_a_correlation_and_independent_ones_none(synthetic, tmp_path):
    # an autoregressive series of coefficient 0.9 against white noise
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 1, 400)
    walk = np.zeros(400)
    for k in range(1, 400):
        walk[k] = 0.9 * walk[k - 1] + noise[k]
    data = {"base": {"a": np.exp(0.01 * noise).tolist()}, "ar": {"a": np.exp(0.01 * walk).tolist()}}
    trial = synthetic(data, sessions=2).write(tmp_path / "t")
    drawing = draw("lag", subject_of([str(trial)], Reading(), explain=False), NARROW)
    found = dict(part.split(": autocorrelation ") for part in drawing.alt[:-1].split(". ")[1:])
    assert float(found["ar"].split()[0]) > 0.8
    assert abs(float(found["base"].split()[0])) < 0.2


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


def test_ranks_join_what_is_not_told_apart(measured):
    drawing = draw("ranks", measured(("base", "fast", "same", "slow")), NARROW)
    assert "fast: place 1." in drawing.alt
    assert "Not told apart: base, same." in drawing.alt.replace("same, base", "base, same")
    assert "slow: place 4" in drawing.alt


def test_a_critical_difference_diagram_carries_its_false_alarms(measured):
    drawing = draw("cd", measured(("base", "fast", "slow")), NARROW)
    shown = " ".join(t for t, _ in texts_of(drawing.picture)[0])
    assert "31 to 41 %" in " ".join(shown.split())
    assert "31 to 41 %" in drawing.alt
    ranks = dict(row[:2] for row in drawing.rows)
    assert ranks == {"fast": 1.0, "base": 2.0, "slow": 3.0}


def test_modes_of_few_runs_carry_their_caution(measured):
    drawing = draw("modes", measured(runs=10, sessions=2), NARROW, benchmark="a")
    shown = " ".join(t for t, _ in texts_of(drawing.picture)[0]).replace("\n", " ")
    assert "base: 10 values hardly determine a number of components" in shown
    assert "hardly determine" in drawing.alt
    many = draw("modes", measured(), NARROW, benchmark="a")
    assert "hardly determine" not in many.alt


def test_causes_are_the_runs_by_mode_against_what_separates_them(measured):
    subject = measured(modal=True)
    drawing = draw("causes", subject, NARROW, benchmark="a")
    trial = subject.trial
    for name, matrix in subject.matrices.items():
        found = [row for row in drawing.rows if row[0] == name]
        assert [row[3] for row in found] == matrix.values("a").tolist()
        mine = (trial.variant == trial.manifest.variants.index(name)) & (trial.benchmark == 0)
        places = np.mod(trial.numbers["padding_bytes"][mine], 64)
        assert [row[6] for row in found] == places.tolist()
        assert {row[5] for row in found} == {"padding_bytes mod 64"}
        assert [row[4] == 2 for row in found] == ((places >= 16) & (places < 40)).tolist()
        assert f"{name}, 48 runs, modes at " in drawing.alt
    assert "environment padding of" in drawing.alt
    shaded, *_ = marks_of(drawing.picture.axes[1], Rect)
    assert (shaded.x1, shaded.x2) == pytest.approx((16, 40), abs=4)


@pytest.mark.parametrize(
    ("low", "high", "shaded"),
    [
        (50.0, 10.0, [(0, 10), (50, 64)]),
        (10.0, 50.0, [(10, 50)]),
        (16.0, 16.0, [(16, 16)]),
        (None, 16.0, [(0, 16)]),
        (16.0, None, [(16, 64)]),
    ],
)
def test_what_the_rule_says_is_shaded_an_arc_through_zero_at_both_ends(
    measured, monkeypatch, low, high, shaded
):
    from analysis.report.figures import distributions as modes

    subject = measured(modal=True)
    (one, *_) = modes._explained(subject)
    turned = replace(one, rule=replace(one.rule, low=low, high=high))
    monkeypatch.setattr(modes, "_explained", lambda _: (turned,))
    axes = draw("causes", subject, NARROW, benchmark="a").picture.axes[1]
    ends = sorted((band.x1, band.x2) for band in marks_of(axes, Rect))
    assert ends == shaded


def test_modes_that_nothing_separates_are_drawn_in_their_order(measured, synthetic, tmp_path):
    rng = np.random.default_rng(4)
    two = np.where(rng.random(60) < 0.4, 0.03, 0.02) * np.exp(rng.normal(0, 0.01, 60))
    trial = synthetic({"base": {"a": two.tolist()}}, sessions=3).write(tmp_path / "two")
    drawing = draw("causes", subject_of([str(trial)], Reading(), explain=False), NARROW)
    assert "nothing that was recorded separates them" in drawing.alt
    assert {row[5] for row in drawing.rows} == {None}
    assert len(drawing.picture.axes) == 1


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


def test_causes_need_modes_and_one_trial(measured, files):
    with pytest.raises(InsufficientDataError, match="no variant have several modes"):
        draw("causes", measured(), NARROW, benchmark="a")
    with pytest.raises(AnalysisError, match="within one trial"):
        draw("causes", files(), NARROW, benchmark="b0")


@pytest.mark.parametrize("kind", ["biplot", "shares", "ranks", "cd"])
def test_below_three_variants_there_is_nothing_to_see(kind, measured, files):
    for subject in (measured(), files()):
        with pytest.raises(InsufficientDataError, match="three"):
            draw(kind, subject, NARROW)


@pytest.mark.parametrize("kind", ["order", "lag"])
def test_files_do_not_say_the_order(kind, files):
    with pytest.raises(AnalysisError, match="order of these runs is unknown"):
        draw(kind, files(), NARROW, benchmark="b0")


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
    for kind in ("forest", "curve", "ranks", "cd", "biplot", "shares"):
        with pytest.raises(InsufficientDataError):
            draw(kind, subject, NARROW)
    with pytest.raises(InsufficientDataError):
        draw("shift", subject, NARROW, benchmark="a")
    for kind in ("strip", "order", "ecdf", "lag", "qq", "modes"):
        assert draw(kind, subject, NARROW, benchmark="a").rows
    assert draw("box", subject, NARROW).rows


def test_few_and_equal_runs(measured, synthetic, tmp_path):
    data = {"base": {"a": [0.02, 0.02]}, "fast": {"a": [0.01]}}
    trial = synthetic(data).write(tmp_path / "few")
    subject = subject_of([str(trial)], Reading(), explain=False)
    for kind in ("forest", "box"):
        assert draw(kind, subject, NARROW).rows
    for kind in ("strip", "order", "ecdf"):
        assert draw(kind, subject, NARROW, benchmark="a").rows
    for kind in ("shift", "lag", "qq", "curve"):
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
