"""The whole answer of mixtures: sources, cells, contests, and their words."""

import json
import math
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.data.trial import read_trial
from analysis.errors import AnalysisError, StoreError, UsageError
from analysis.importers.reader import Reading, read_sources, trials_of
from analysis.methods.mixture.goodness import ks_fit
from analysis.methods.mixture.metrics_page import plane_report
from analysis.methods.mixture.report import MixtureOptions, mixture_report
from analysis.pages.as_text import render
from analysis.pages.model import Caution, Figure, Section, Table
from analysis.stats.arguments import stream

GOLDEN = Path(__file__).parents[4] / "golden" / "varcore_ammp"
SAMPLE = Path(__file__).parents[5] / "tests" / "data" / "sample-0.2.0"
QUICK = MixtureOptions(resamples=8, max_components=4)
NONE = MixtureOptions(resamples=0)


def matrix(name, better="lower", unit="s", **samples):
    return PerformanceMatrix.from_samples(name, samples, better=better, unit=unit)


def made(*matrices, options=NONE, **more):
    return mixture_report(matrices, options=options, rng=stream(1, "test"), seed=1, **more)


def normal(mean, sd, n, seed=0):
    return np.random.default_rng(seed).normal(mean, sd, n)


@pytest.fixture(scope="module")
def ammp():
    rows = (GOLDEN / "times.csv").read_text().splitlines()[1:]
    return np.array([float(row.split(",")[0]) for row in rows])


@pytest.fixture(scope="module")
def two():
    """Give a report of two variants, one of which is nearly always better."""
    clusters = np.concatenate((normal(10, 0.1, 40, 1), normal(11, 0.1, 40, 2)))
    return made(
        matrix("new", b=normal(9.5, 0.3, 60)),
        matrix("old", b=clusters),
        options=MixtureOptions(resamples=30, quantiles=(0.9,), below=(10.0,), max_components=5),
    )


# ---- one sample


def test_published_example_prints_all_its_digits(ammp):
    published = json.loads((GOLDEN / "expected.json").read_text())["published"]
    text = render(made(matrix("ammp", b=ammp)).screen(digits=10))
    rows = [
        line.split()
        for line in text.splitlines()
        if line.startswith("        ") and line.split()[0].isdigit()
    ]
    assert len(rows) == published["n_clusters"] == 5
    for row, weight, mean, sd in zip(
        rows, published["weights"], published["means"], published["sds"], strict=True
    ):
        for cell, digits in zip(row[1:4], (weight, mean, sd), strict=True):
            places = len(repr(digits).partition(".")[2])
            assert f"{float(cell):.{places}f}" == f"{digits:.{places}f}"
    assert [row[4] for row in rows] == ["3", "5", "14", "5", "4"]  # the published clusters' sizes
    assert text.count("92.2133, 93.4159, 94.218, 94.9961") == 1


def test_cell_tells_members_evidence_and_runner_up(ammp):
    expected = json.loads((GOLDEN / "expected.json").read_text())["computed_R"]["chosen"]
    report = made(matrix("ammp", b=ammp), options=MixtureOptions(resamples=50))
    cell = report.benchmarks[0].cells[0]
    data = report.to_dict()["benchmarks"][0]["variants"][0]
    assert [k + 1 for k in sorted(data["classification"])] == expected["classification"]
    assert cell.fit_test.statistic == pytest.approx(0.0923259, abs=5e-8)
    assert cell.runner_up == ("V4", pytest.approx(-76.68, abs=0.005))
    assert "not shown to be multimodal: 4 modes by the model" in str(report)
    assert "best single peak: lognormal" in str(report)


@pytest.fixture(scope="module")
def alone(ammp):
    return made(matrix("x", b=ammp), options=QUICK)


def test_cells_do_not_depend_on_their_neighbours(ammp, alone):
    beside = made(matrix("y", b=ammp + 1), matrix("x", b=ammp), options=QUICK)
    assert (
        alone.to_dict()["benchmarks"][0]["variants"][0]
        == beside.to_dict()["benchmarks"][0]["variants"][1]
    )


def test_fit_test_is_the_one_of_the_library(ammp, alone):
    cell = alone.benchmarks[0].cells[0]
    root = int(stream(1, "test").integers(2**63))
    again = ks_fit(
        ammp,
        cell.mixture,
        resamples=8,
        max_components=4,
        rng=stream(root, "b", "x", "fit test"),
        workers=1,
    )
    assert again.pvalue == cell.fit_test.pvalue


@pytest.mark.parametrize("n", [2, 3, 4])
def test_few_values(n):
    values = [1.0, 2.0, 4.0, 7.0][:n]
    text = " ".join(str(made(matrix("x", b=values), options=MixtureOptions(resamples=5))).split())
    assert f"{n} values hardly determine" in text
    assert ("neither evidence" in text) == (n < 4)


def test_constant_values():
    with pytest.raises(AnalysisError, match="all 5 values are equal"):
        made(matrix("x", b=[2.0] * 5))
    beside = made(matrix("x", b=[2.0] * 5), matrix("y", b=normal(3, 0.1, 20)), options=QUICK)
    assert "x: no mixture: all 5 values are equal" in str(beside)
    assert beside.benchmarks[0].contest is None
    assert "nothing is compared" in beside.cautions[-1]
    floor = made(matrix("x", b=[2.0] * 5), options=MixtureOptions(resamples=5, resolution=0.1))
    assert floor.benchmarks[0].cells[0].mixture.sds[0] == pytest.approx(0.1 / math.sqrt(12))


def test_log_scale_and_starts(ammp):
    options = MixtureOptions(resamples=3, scale="log", starts=2, jitter=True)
    report = made(matrix("x", b=ammp), matrix("y", b=ammp * 2), options=options)
    text = str(report)
    assert "the logarithms of 31 values" in text
    assert "mean of ln" in text
    assert "fit test after jitter" in text
    assert report.benchmarks[0].contest.chances[0].estimate > 0.999


# ---- several variants


def test_contest_agrees_with_counting(two):
    contest = two.benchmarks[0].contest
    pair = contest.pairs[0]
    forward, backward = pair.forward.mixture.estimate, pair.backward.mixture.estimate
    assert forward + backward == pytest.approx(1, abs=1e-12)
    assert forward == pytest.approx(pair.forward.ranks.estimate, abs=0.03)
    assert contest.chances[0].estimate == forward
    assert pair.forward.mixture.low <= forward <= pair.forward.mixture.high
    new, old = (cell.values for cell in two.benchmarks[0].cells)
    counted = np.abs(np.subtract.outer(new, old)).mean()
    assert pair.mean_difference.estimate == pytest.approx(counted, rel=0.02)


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("better", ["lower", "higher"])
def test_best_of_three_follows_the_direction(better, scale):
    values = {name: normal(mean, 1.0, 80, k) for k, (name, mean) in enumerate(
        (("small", 10), ("middle", 10.5), ("large", 12))
    )}  # fmt: skip
    report = made(
        *(matrix(name, better=better, unit="ops", b=x) for name, x in values.items()),
        options=MixtureOptions(resamples=0, scale=scale),
    )
    contest = report.benchmarks[0].contest
    chances = [chance.estimate for chance in contest.chances]
    assert sum(chances) == pytest.approx(1, abs=1e-7)
    assert contest.variants[contest.best] == ("small" if better == "lower" else "large")
    draws = np.random.default_rng(0)
    drawn = np.array([draws.choice(x, 200_000) for x in values.values()])
    winners = drawn.argmin(axis=0) if better == "lower" else drawn.argmax(axis=0)
    assert chances == pytest.approx(np.bincount(winners) / winners.size, abs=0.03)
    assert ("smaller" if better == "lower" else "larger") in str(report).splitlines()[0]
    assert "fastest" not in str(report)  # rates and unknown units are better, not faster


def test_shift_forgives_in_either_direction():
    near = normal(10, 1.0, 50), normal(10.2, 1.0, 50, 1)
    for better, sign in (("lower", 1), ("higher", -1)):
        options = MixtureOptions(resamples=0, shift=0.5)
        report = made(
            *(matrix(n, better=better, b=x) for n, x in zip("xy", near, strict=True)),
            options=options,
        )
        pair = report.benchmarks[0].contest.pairs[0]
        for found, (x, y) in ((pair.forward, near), (pair.backward, near[::-1])):
            counted = (sign * np.subtract.outer(x, y) < 0.5).mean()
            assert found.mixture.estimate == pytest.approx(counted, abs=0.03)
            assert found.ranks.estimate == pytest.approx(counted, abs=1e-12)
        assert "behind by less than 0.5" in str(report)
    strict = MixtureOptions(resamples=0, shift=-0.5)
    assert "smaller by more than 0.5 s" in str(
        made(matrix("x", b=near[0]), matrix("y", b=near[1]), options=strict)
    )


def test_many_variants_compare_with_the_winner_only():
    report = made(*(matrix(f"v{k}", b=normal(10 + k, 1, 20, k)) for k in range(10)))
    contest = report.benchmarks[0].contest
    assert len(contest.pairs) == 9
    assert all("v0" in {pair.first, pair.second} for pair in contest.pairs)
    assert sum(chance.estimate for chance in contest.chances) == pytest.approx(1, abs=1e-7)


def test_shared_cautions_are_said_once():
    report = made(matrix("x", b=[1, 2, 3, 5, 9.0]), matrix("y", b=[1, 2, 3, 5, 8.0]), options=QUICK)
    few = [caution for caution in report.cautions if "5 values hardly determine" in caution]
    assert few == [Caution("few-values", "", ("x", "y"))]
    assert str(few[0]) == "x, y: 5 values hardly determine a number of components"
    assert len(set(map(str, report.cautions))) == len(report.cautions)
    assert len(set(report.cautions)) == len(report.cautions)


def test_differing_matrices_are_refused(ammp):
    with pytest.raises(AnalysisError, match="differ in 'unit'"):
        made(matrix("x", b=ammp), matrix("y", unit="B", b=ammp))
    with pytest.raises(AnalysisError, match="differ in 'better'"):
        made(matrix("x", b=ammp), matrix("y", better="higher", b=ammp))
    with pytest.raises(UsageError, match="two variants have the name"):
        made(matrix("x", b=ammp), matrix("x", b=ammp))
    with pytest.raises(UsageError, match="no benchmark 'c'"):
        made(matrix("x", b=ammp), benchmark="c")
    with pytest.raises(UsageError, match="nothing to fit"):
        made()


# ---- many benchmarks


def test_overview_has_a_line_each_and_reports_progress():
    names = [f"bench{k}" for k in range(8)] + ["long " + "x" * 100]
    rows = {name: normal(10, 1, 10, k) for k, name in enumerate(names)}
    rows["flat"] = [1.0] * 6
    seen = []
    report = made(
        matrix("new", **rows),
        matrix("old", bench0=normal(12, 1, 10), bench1=normal(5, 1, 10)),
        options=MixtureOptions(resamples=3, max_components=3),
        progress=lambda done, total, name: seen.append((done, total, name)),
    )
    lines = str(report).splitlines()
    assert max(map(len, lines)) <= 96
    assert lines[0].startswith("10 benchmarks, 12 samples: ")
    assert "most likely the fastest in a single run: " in str(report)
    assert sum(line.startswith("bench") for line in lines) == 9  # the heading too
    assert any("> 0.9" in line or "0.9" in line for line in lines)
    assert "flat: all 6 values are equal" in str(report)
    assert "11 of 12 samples have fewer than 20 values" in str(report) or "12 of 12" in str(report)
    assert seen[0] == (0, 12, "bench0 / new")
    assert seen[-1][:2] == (12, 12)
    assert all(a[0] <= b[0] for a, b in pairwise(seen))
    data = report.to_dict()
    assert json.dumps(data, allow_nan=False)
    assert not data["detailed"]
    assert data["benchmarks"][0]["variants"][0]["evidence"] is None


def test_overview_and_detail_test_the_fit_alike(ammp):
    both = made(matrix("x", a=ammp, b=ammp * 2), options=QUICK)
    one = made(matrix("x", a=ammp, b=ammp * 2), options=QUICK, benchmark="b")
    assert both.benchmarks[1].cells[0].fit_test.pvalue == one.benchmarks[0].cells[0].fit_test.pvalue


# ---- options


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_components", 0),
        ("max_components", 65),
        ("starts", 0),
        ("resamples", -1),
        ("workers", 0),
        ("resolution", 0.0),
        ("resolution", math.nan),
        ("confidence", 1.0),
        ("confidence", math.nan),
        ("shift", math.inf),
        ("quantiles", (0.5, 1.0)),
        ("below", (math.nan,)),
        ("scale", "sqrt"),
    ],
)
def test_options_out_of_range(name, value):
    with pytest.raises(UsageError):
        MixtureOptions(**{name: value})


# ---- sources


def read(sources, **how):
    return read_sources(sources, Reading(**how))


def test_plain_lists(tmp_path):
    (tmp_path / "a.dat").write_text("# seconds\n1.5\n\n2.5 # second run\n3e0\n")
    (tmp_path / "b.txt").write_text("1\n2\n4\n")
    (tmp_path / "c.csv").write_text("time\n1\n2\n4\n")
    found = read([str(tmp_path / name) for name in ("a.dat", "b.txt", "c.csv")])
    assert [one.name for one in found.matrices] == ["a", "b", "c"]
    assert [one.benchmarks for one in found.matrices] == [("values",)] * 3
    assert found.matrices[0].samples[0].tolist() == [1.5, 2.5, 3.0]
    assert found.matrices[2].samples[0].tolist() == [1.0, 2.0, 4.0]
    assert "smaller values were taken as better" in found.cautions[0]
    sure = read([str(tmp_path / "a.dat"), str(tmp_path / "b.txt")], better="higher")
    assert {one.better for one in sure.matrices} == {"higher"}
    assert sure.cautions == ()


def test_trials_and_their_variants(tmp_path):
    found = read([str(SAMPLE)])
    assert [one.name for one in found.matrices] == ["gzip-6", "gzip-1"]
    one = read([f"{SAMPLE}:gzip-1"], metric="max_rss")
    assert [matrix.name for matrix in one.matrices] == ["gzip-1"]
    assert one.matrices[0].unit == "B"
    (tmp_path / "mine.dat").write_text("0.1\n0.2\n0.3\n")
    mixed = read([f"{SAMPLE}:gzip-1", str(tmp_path / "mine.dat")])
    assert {matrix.unit for matrix in mixed.matrices} == {"s"}
    other = shutil.copytree(SAMPLE, tmp_path / "other")
    twice = read([str(SAMPLE), f"{other}:gzip-1"])
    assert len({matrix.name for matrix in twice.matrices}) == 3


def test_wrong_sources(tmp_path):
    with pytest.raises(UsageError, match="no variant 'nix'"):
        read([f"{SAMPLE}:nix"])
    with pytest.raises(UsageError, match="no variant 'nix'"):
        trials_of([f"{SAMPLE}:nix"], Reading())
    with pytest.raises(UsageError, match="in this trial lower values are better"):
        read([str(SAMPLE)], better="higher")
    with pytest.raises(UsageError, match="--metric is for trials"):
        read([str(GOLDEN / "times.csv")], metric="user")
    with pytest.raises(StoreError):
        read([str(tmp_path)])


# ---- two metrics


def test_two_metrics_of_the_same_runs():
    trial = read_trial(SAMPLE)
    chosen = [(trial, ("gzip-6", "gzip-1"))]
    report = plane_report(chosen, ("wall", "user"), benchmark="text", max_components=2)
    assert [cell.variant for cell in report.cells] == ["gzip-6", "gzip-1"]
    assert "text / gzip-1" in str(report)
    assert json.dumps(report.to_dict(), allow_nan=False)
    seen = []
    short = plane_report(
        chosen, ("wall", "max_rss"), max_components=1, progress=lambda *now: seen.append(now)
    )
    assert len(short.cells) == len(seen) == 12
    assert max(map(len, str(short).splitlines())) <= 96
    with pytest.raises(UsageError, match="no benchmark"):
        plane_report(chosen, ("wall", "user"), benchmark="nix")
    with pytest.raises(UsageError, match="no metric"):
        plane_report(chosen, ("wall", "nix"))


# ---- pages and cautions


def tables(section: Section) -> list[Table]:
    found = []
    for block in section.blocks:
        if isinstance(block, Table):
            found.append(block)
        elif isinstance(block, Section):
            found += tables(block)
    return found


def test_a_page_holds_the_numbers_behind_its_cells(two):
    page = two.screen()
    by_name = {table.name: table for section in page.sections for table in tables(section)}
    assert list(by_name) == [
        *("best-in-a-single-run", "one-run-against-one"),
        *("parameters-1", "asked-for-1", "parameters-2", "asked-for-2"),
    ]
    contest, cells = two.benchmarks[0].contest, two.cells
    assert [[cell.value for cell in row[1:]] for row in by_name["best-in-a-single-run"].rows] == [
        [chance.estimate, chance.low, chance.high] for chance in contest.chances
    ]
    pair = contest.pairs[0]
    assert [[cell.value for cell in row[1:]] for row in by_name["one-run-against-one"].rows] == [
        [found.mixture.estimate, found.ranks.estimate] for found in (pair.forward, pair.backward)
    ]
    for place, cell in enumerate(cells, 1):
        of = cell.mixture.classify(cell.values).tolist()
        assert [[one.value for one in row] for row in by_name[f"parameters-{place}"].rows] == [
            [k, w, m, s, of.count(k)]
            for k, (w, m, s) in enumerate(
                zip(cell.mixture.weights, cell.mixture.means, cell.mixture.sds, strict=True)
            )
        ]
        asked = [row[1].value for row in by_name[f"asked-for-{place}"].rows]
        assert asked == [cell.quantiles[0].estimate, cell.below[0].estimate]


def test_a_page_of_the_overview_holds_its_numbers(ammp):
    report = made(matrix("x", a=ammp, b=ammp * 2), options=QUICK)
    (table,) = tables(report.screen().sections[1])
    for row, cell in zip(table.rows, report.cells, strict=True):
        k, modes = cell.mixture.components, cell.mixture.modes().size
        assert [one.value for one in row[1:]] == [31, k, modes, cell.fit_test.pvalue]
    assert [column.heading for column in table.columns][:2] == ["benchmark", "runs"]


def test_a_picture_is_offered_where_there_is_one_benchmark(two, ammp):
    (picture,) = two.screen().sections[-1].blocks
    assert isinstance(picture, Figure)
    assert picture.draw().axes
    assert "mixture of each variant on b" in picture.alt
    several = made(matrix("x", a=ammp, b=ammp)).screen()
    assert not any(isinstance(b, Figure) for section in several.sections for b in section.blocks)


def test_parts_of_a_report_have_pages_of_their_own(two):
    cell, contest = two.cells[0], two.benchmarks[0].contest
    assert str(cell).splitlines()[0].endswith("several)") or "modes" in str(cell).splitlines()[0]
    assert str(contest).startswith("in a single run new is the fastest of 2")
    assert set(cell.to_dict()) >= {"n", "classification", "variant", "caution_codes"}
    assert set(contest.to_dict()) >= {"best", "best_in_a_single_run", "pairs", "left_out"}
    assert "unit" not in contest.to_dict()
    flat = made(matrix("x", b=[2.0] * 5), matrix("y", b=normal(3, 0.1, 20)))
    assert str(flat.cells[0]).startswith("no mixture: all 5 values are equal")


def test_digits_are_those_that_are_asked_for(ammp):
    report = made(matrix("x", b=ammp))
    assert "0.09677359 " in render(report.screen(digits=8))
    assert render(report.screen()) == render(report.screen(digits=4)) == str(report)


def test_what_samples_say_themselves_is_not_said_of_their_pairs():
    samples = matrix("x", b=normal(10, 1, 12)), matrix("y", b=normal(10.5, 1, 12, 1))
    plain = made(*samples, options=QUICK)
    asked = made(*samples, options=replace(QUICK, quantiles=(0.5,)))
    for code in ("few-resamples", "interval-too-narrow"):
        (of_pair,) = (caution for caution in plain.cautions if caution.code == code)
        assert of_pair.about == ("x and y",)
        (of_samples,) = (caution for caution in asked.cautions if caution.code == code)
        assert of_samples.about == ("x", "y")  # said of the quantiles of both already
    codes = asked.to_dict()["caution_codes"]
    assert len(codes) == len(asked.cautions) == len(asked.to_dict()["cautions"])


def test_cautions_of_one_code_with_other_numbers_are_all_said():
    report = made(matrix("x", b=normal(10, 1, 5)), matrix("y", b=normal(10, 1, 6)), options=NONE)
    few = [str(caution) for caution in report.cautions if caution.code == "few-values"]
    assert few == [
        "x: 5 values hardly determine a number of components",
        "y: 6 values hardly determine a number of components",
    ]


def test_pairs_say_of_whom_and_all_pairs_say_it_once():
    names = ("x", "y", "z")
    far = [matrix(name, b=normal(10 + 50 * k, 0.1, 30, k)) for k, name in enumerate(names)]
    options = MixtureOptions(resamples=2, max_components=1)
    everywhere = made(*far, options=options)
    (apart,) = (c for c in everywhere.cautions if c.code == "no-overlap")
    assert str(apart).startswith("the samples do not overlap")
    near = [*far[:2], matrix("z", b=normal(10.05, 0.1, 30, 5))]
    some = made(*near, options=options)
    (apart,) = (c for c in some.cautions if c.code == "no-overlap")
    assert str(apart).startswith("x and y; y and z: the samples do not overlap")
    assert apart.about == ("x and y", "y and z")


def test_what_could_not_be_fitted_is_a_caution_of_the_page():
    flat = {f"flat{k}": [float(k + 1)] * 4 for k in range(8)}
    report = made(matrix("x", good=normal(10, 1, 30), **flat))
    told = [caution for caution in report.screen().cautions if caution.code == "no-mixture"]
    assert len(told) == 7
    assert str(told[0]).startswith("flat0: all 4 values are equal")
    assert str(told[-1]) == "2 more could not be fitted"
    assert not any(caution.code == "no-mixture" for caution in report.cautions)


def test_two_trials_of_two_metrics_are_told_apart(tmp_path):
    other = shutil.copytree(SAMPLE, tmp_path / "other")
    trials = [(read_trial(path), ("gzip-1",)) for path in (SAMPLE, other)]
    options = {"benchmark": "text", "max_components": 1}
    both = plane_report(trials, ("wall", "max_rss"), **options)
    alone = plane_report(trials[:1], ("wall", "max_rss"), **options)
    named = [f"{path.name}: {text}" for path in (SAMPLE, other) for text in alone.cautions]
    assert sorted(map(str, both.cautions)) == sorted(named)
    again = plane_report([trials[0], trials[0]], ("wall", "max_rss"), **options)
    assert again.cautions == alone.cautions
    assert "warm-up-left-out" in {caution.code for caution in alone.cautions}
    short = plane_report(trials[:1], ("wall", "max_rss"), max_components=1)
    assert "warm-up-left-out" not in {caution.code for caution in short.cautions}


def test_two_metrics_in_detail_keep_the_cautions_of_each_fit():
    chosen = [(read_trial(SAMPLE), ("gzip-6", "gzip-1"))]
    report = plane_report(chosen, ("wall", "user"), benchmark="text", max_components=2)
    said = [str(caution) for caution in report.screen().cautions]
    assert "text / gzip-1: 10 pairs hardly determine clusters in the plane" in said
    assert not any("hardly determine" in caution for caution in report.cautions)
    pictures = [
        block
        for section in report.screen().sections
        for block in section.blocks
        if isinstance(block, Figure)
    ]
    assert [picture.name for picture in pictures] == ["plane-1", "plane-2"]
    assert pictures[1].draw().axes[0].x_label == "wall"
    cell = report.cells[1]
    assert str(cell).startswith("text / gzip-1\n  ")
    assert cell.to_dict()["n"] == 10
    assert "hardly determine" in str(cell)
