"""Subjects of trials whose laws are known."""

from __future__ import annotations

import csv
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.diagnose.normality import (
    MEAN_SIZES,
    grown_bandwidth,
    mean_sample_size,
    normal_curves,
    runs_of,
)
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.importers.reader import Reading
from analysis.methods.biplot import biplot
from analysis.methods.hpt.speedup import hpt_speedup
from analysis.plots.axes import Sheet
from analysis.plots.chart import picture_bytes
from analysis.plots.marks import Curve
from analysis.registry import FIGURES
from analysis.report import figures as files_files
from analysis.report.figures import draw, draw_table, kind_of, write_all, write_drawing
from analysis.report.subject import Subject, subject_of, written_of
from analysis.stats.arguments import stream
from analysis.stats.samples import kernel_density
from analysis.verdict.judging import judge
from tests.planted_values import NAME, with_values
from tests.unit.analysis.data.iterations.test_warmup import trial, warming

BENCHES = ("a", "b", "c")
FACTORS = {"base": 1.0, "fast": 0.5, "same": 1.0, "slow": 1.3}


@pytest.fixture(scope="module")
def measured(synthetic, tmp_path_factory, once):
    """Write a trial of lognormal runs and judge it; variants are those of FACTORS by name."""

    def judged(variants=("base", "fast"), *, runs=48, sessions=6, benches=BENCHES, **asked):
        rng = np.random.default_rng(5)
        names = variants if isinstance(variants, dict) else {v: FACTORS[v] for v in variants}
        times = {
            name: {
                bench: (0.02 * (k + 1) * factor * np.exp(rng.normal(0, 0.02, runs))).tolist()
                for k, bench in enumerate(benches)
            }
            for name, factor in names.items()
        }
        built = synthetic(times, sessions=sessions)
        trial = built.write(tmp_path_factory.mktemp("trials") / "runs" / "one")
        return subject_of([str(trial)], Reading(), explain=False, **asked)

    return once(judged)


@pytest.fixture
def files(tmp_path):
    """Judge two matrix files, which say nothing of sessions."""

    def judged(runs=20):
        rng = np.random.default_rng(6)
        for name, factor in (("new", 0.8), ("old", 1.0)):
            rows = [
                ",".join(
                    [f"b{k}", *map(repr, (factor * np.exp(rng.normal(0, 0.02, runs))).tolist())]
                )
                for k in range(3)
            ]
            (tmp_path / f"{name}.csv").write_text("\n".join(rows) + "\n")
        sources = [str(tmp_path / f"{name}.csv") for name in ("new", "old")]
        return subject_of(sources, Reading(better="lower"), explain=False)

    return judged


# --- Every kind of figure: what it shows are the verdict's numbers, and no two of its texts touch


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
    subject = measured(("base", "fast", "slow"), looks=2)  # it said 95 % of intervals at 97.5 %
    drawing = draw("forest", subject, NARROW)
    rows = {(row[0], row[2]): row for row in drawing.rows}
    for one in subject.candidates:
        result = one.multilevel
        for line in (*result.benchmarks, result.these, result.similar):
            row = rows[one.variant, line.name]
            assert row[3:7] == (line.speedup, line.low, line.high, 0.975)
            assert row[7] == line.outcome
        kept = [float(text) for text in rows[one.variant, "a"][9].split()]
        assert kept == [math.exp(d) for d in result.benchmarks[0].differences]
    text = written_of(subject)["fast"]["these"]
    begin = f"fast: {text.speedup.text} times over 3 benchmarks"
    assert f"{begin}, 97.5 % interval {text.interval}" in drawing.alt
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


# --- Writing figures: each kind that applies in three forms, with data that read back as they were


FILES_SHEET = Sheet(width=85, font_size=7)


def test_all_kinds_that_apply(measured, tmp_path, monkeypatch):
    # a picture of each kind is made in test_kinds.py
    monkeypatch.setattr(files_files, "write_picture", lambda _, path, **__: path.write_text("x"))
    said = []
    subject = measured(benches=("only", "two"), runs=12, sessions=2)
    found = write_all(subject, tmp_path / "new" / "p", FILES_SHEET, tell=said.append)
    refused = {line.split(":")[0].removeprefix("no ").partition(" of ")[0] for line in said}
    assert refused == {"biplot", "shares", "iterations"}
    assert "three" in said[0]
    stems = {path.stem for path in found}
    assert stems == {
        subject.anchor(name, bench)
        for name, kind in FIGURES.items()
        for bench in (("only", "two") if kind.each else ("",))
        if name not in refused
    }
    assert len(found) == 4 * len(stems)
    assert {path.suffix for path in found} == {".svg", ".pdf", ".png", ".csv"}
    assert sorted(found) == sorted((tmp_path / "new" / "p").iterdir())
    assert all(path.stat().st_size for path in found)


def test_of_many_benchmarks_the_first_of_the_page_have_figures_of_their_own(
    measured, tmp_path, monkeypatch
):
    asked = []

    def refused(name, *_, benchmark):
        asked.append((name, benchmark))
        raise AnalysisError("not drawn")

    monkeypatch.setattr(files_files, "draw", refused)
    subject = measured(benches=tuple(f"b{k}" for k in range(9)), runs=12, sessions=2)
    write_all(subject, tmp_path, FILES_SHEET)
    chosen = {bench for name, bench in asked if kind_of(name).each}
    assert len(chosen) == 3
    assert chosen <= set(subject.order)


def test_the_data_read_back(measured, tmp_path):
    subject = measured()
    drawing = draw("forest", subject, FILES_SHEET)
    write_drawing(drawing, tmp_path / "f.svg")
    with (tmp_path / "f.csv").open(encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text))
    line = subject.candidates[0].multilevel.benchmarks[0]
    assert float(rows[0]["speedup"]) == line.speedup
    assert float(rows[0]["low"]) == line.low
    assert rows[0]["line"] == line.name


@pytest.mark.parametrize("ending", [".pdf", ".png"])
def test_the_same_files_each_time(ending, measured, tmp_path):
    subject = measured()
    for name in ("one", "two"):
        write_drawing(draw("forest", subject, FILES_SHEET), tmp_path / f"{name}{ending}")
    for last in (ending, ".csv"):
        assert (tmp_path / f"one{last}").read_bytes() == (tmp_path / f"two{last}").read_bytes()


def test_a_folder_that_cannot_be(measured, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be made"):
        write_all(measured(), tmp_path / "file" / "p", FILES_SHEET)


# --- Densities of runs and of means beside their normal laws: figures 2 and 4 of the HPT paper


NORMAL_LAWS_WIDE = Sheet(width=178, font_size=8)


def single(synthetic, tmp_path, values):
    trial = synthetic({"base": {"a": values.tolist()}}, sessions=2).write(tmp_path / "one")
    return subject_of([str(trial)], Reading(), explain=False)


def outside(drawing):
    return int(drawing.alt.split("base: ")[1].split(" %")[0])


def test_a_density_stands_against_its_normal_law(synthetic, tmp_path):
    # authorities: scipy's Gaussian kernels and normal law; two speeds are no normal law, normal runs are
    rng = np.random.default_rng(7)
    normal = rng.normal(1, 0.02, 400)
    drawing = draw("density", single(synthetic, tmp_path / "n", normal), NORMAL_LAWS_WIDE)
    stored = np.round(normal, 9)  # in ns
    at, kernel, law = np.array([row[1:] for row in drawing.rows]).T
    width = normal_curves(stored).bandwidth / stored.std(ddof=1)
    assert kernel == pytest.approx(stats.gaussian_kde(stored, width)(at), rel=1e-6)
    assert law == pytest.approx(stats.norm(stored.mean(), stored.std(ddof=1)).pdf(at), rel=1e-9)
    assert outside(drawing) <= 8
    two = np.where(rng.random(400) < 0.5, 1.3, 1.0) * normal
    assert outside(draw("density", single(synthetic, tmp_path / "t", two), NORMAL_LAWS_WIDE)) > 25


def test_means_of_skewed_runs_look_normal_late_and_those_of_normal_runs_from_the_first(
    synthetic, tmp_path
):
    # the central limit: the skewness of a mean of n lognormal runs falls as 1 / sqrt(n)
    rng = np.random.default_rng(3)
    skewed = draw(
        "means",
        single(synthetic, tmp_path / "s", np.exp(rng.normal(0, 1.2, 600))),
        NORMAL_LAWS_WIDE,
    )
    normal = draw(
        "means", single(synthetic, tmp_path / "n", rng.normal(1, 0.02, 600)), NORMAL_LAWS_WIDE
    )
    assert [row[1:3] for row in skewed.rows] == [(n, 150) for n in MEAN_SIZES]
    small = [row[3] for row in skewed.rows if row[1] <= 60]
    assert max(small) <= 0.05
    assert sum(row[3] <= 0.05 for row in normal.rows) <= 3  # of 15: at most so many in 99.5 %
    # the numbers are those of the study on the same stream
    matrix = single(synthetic, tmp_path / "n2", rng.normal(1, 0.02, 50)).matrices["base"]
    study = mean_sample_size(runs_of(matrix), rng=stream(0, "mean sample size", "base"))
    drawn = draw("means", single(synthetic, tmp_path / "n3", matrix.samples[0]), NORMAL_LAWS_WIDE)
    assert [row[3] for row in drawn.rows] == pytest.approx([one.pvalue for one in study], rel=1e-6)


def test_the_window_grows_until_one_peak_is_left():
    # two points: one peak from half of their distance on (the mixture of two equal normal laws)
    assert grown_bandwidth(np.array([0.0, 2.0])) == pytest.approx(1.0, rel=0.03)
    x = np.random.default_rng(1).normal(size=150)
    window = grown_bandwidth(x)
    grid = np.linspace(-5, 5, 2000)
    peaks = [
        np.count_nonzero(np.diff(np.sign(np.diff(kernel_density(x, grid, w)))) < 0)
        for w in (window, window / 1.1)
    ]
    assert peaks[0] == 1 < peaks[1]


@pytest.mark.parametrize("seed", range(6))
def test_halving_finds_what_growing_step_by_step_finds(seed):
    # authority: Silverman 1981; the rule itself, from the smallest window on
    rng = np.random.default_rng(seed)
    x = rng.lognormal(0, 0.5, 60) if seed % 2 else rng.normal(rng.choice([0, 4], 60))
    reach = float(np.ptp(x))
    grid = np.linspace(x.min() - reach / 4, x.max() + reach / 4, 256)
    window = reach / 100
    while np.count_nonzero(np.diff(np.sign(np.diff(kernel_density(x, grid, window)))) < 0) > 1:
        window *= 1.02
    assert grown_bandwidth(x) == window
