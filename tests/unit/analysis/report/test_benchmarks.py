"""Subjects of two or more variants with known runs, and of trials that are written for a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from analysis.data.iterations import pooled
from analysis.data.matrix import PerformanceMatrix
from analysis.pages.model import Caution, CommandLine, Figure, Sentence, Table, Value
from analysis.report.answer import chapter as answer_of
from analysis.report.assembling import chapter_html
from analysis.report.benchmarks import chapter, distribution, drawn_of, iterations, published
from analysis.report.figures import cells_of
from analysis.report.methods_text import paragraph_of
from analysis.report.subject import Subject
from analysis.verdict.judging import judge, judge_sides
from tests.planted_values import NAME, with_values
from tests.unit.analysis.data.iterations.test_warmup import restless, trial, warming
from tests.unit.analysis.report.test_figures import printed_by

SESSIONS, RUNS = 5, 8


def matrix_of(
    name: str,
    factors: Mapping[str, float],
    *,
    seed: int = 1,
    sessions: int = SESSIONS,
    runs: int = RUNS,
    known: bool = True,
    **more,
) -> PerformanceMatrix:
    rng = np.random.default_rng(seed)
    shifts = {bench: rng.normal(0, 0.01, sessions) for bench in factors}
    samples = {
        bench: factor
        * np.exp(np.repeat(shifts[bench], runs) + rng.normal(0, 0.02, sessions * runs))
        for bench, factor in factors.items()
    }
    ids = np.repeat(np.arange(1, sessions + 1), runs)
    blocks = np.arange(sessions * runs)
    options = {"better": "lower", **more}
    if known:
        options |= {
            "sessions": dict.fromkeys(factors, ids),
            "blocks": dict.fromkeys(factors, blocks),
        }
    return PerformanceMatrix.from_samples(name, samples, **options)


def subject_of(candidate: PerformanceMatrix, baseline: PerformanceMatrix, **asked) -> Subject:
    verdict = judge_sides(candidate, baseline, metric="wall", **asked)
    result = verdict.candidates[0].multilevel
    lines = {line.name: line.speedup or 0.0 for line in result.benchmarks} if result else {}
    names = dict.fromkeys((*lines, *candidate.benchmarks, *baseline.benchmarks))
    return Subject(
        sources=("a", "b"),
        title="a and b",
        trials=(),
        verdict=verdict,
        matrices={baseline.name: baseline, candidate.name: candidate},
        order=tuple(sorted(names, key=lambda bench: -lines.get(bench, 0.0))),
        prefix="",
        options=asked,
    )


@pytest.fixture
def matrix():
    return matrix_of


@pytest.fixture
def subject():
    return subject_of


# --- The benchmarks: numbers of their runs, sentences, pictures


NAMES = {name: float(k + 1) for k, name in enumerate("abcdefgh")}


@pytest.fixture
def plain(matrix, subject):
    return subject(matrix("new", NAMES, seed=2), matrix("old", NAMES))


def blocks(subject, kind: type, of=chapter):
    sections = of(subject).sections()
    return [block for one in sections for block in one.blocks if isinstance(block, kind)]


def test_a_line_for_each_benchmark_and_variant(plain) -> None:
    (table,) = blocks(plain, Table)
    assert table.name == "parts-runs"
    assert [row[:2] for row in table.rows] == [
        (name, variant) for name in plain.order for variant in ("old", "new")
    ]
    assert all(row[2] == Value("40", 40) for row in table.rows)
    lines = {line.name: line for line in plain.candidates[0].multilevel.benchmarks}
    assert [row[7].value for row in table.rows[:2]] == [
        lines[plain.order[0]].spread_baseline,
        lines[plain.order[0]].spread_candidate,
    ]


def with_cautions(given, *about: tuple[str, ...]):
    cautions = tuple(Caution(f"c{k}", "said", names) for k, names in enumerate(about))
    return replace(given, verdict=replace(given.verdict, cautions=cautions))


def test_what_cautions_name_and_the_largest_effects_are_drawn(matrix, subject) -> None:
    same = dict.fromkeys(NAMES, 1.0)
    new = matrix("new", same | {"c": 0.5, "d": 2.0}, seed=2)
    given = with_cautions(subject(new, matrix("old", same)), ("h", "g"))
    drawn = drawn_of(given)
    assert {"c", "d", "g", "h"} <= set(drawn)
    assert len(drawn) == 6
    assert [name for name in given.order if name in drawn] == list(drawn)


def test_each_that_is_drawn_has_an_id_its_runs_deciles_and_distribution(plain) -> None:
    found = [one for one in chapter(plain).sections() if one.anchor]
    assert [one.anchor for one in found] == [plain.anchor("benchmark", one.title) for one in found]
    for one in found:
        assert len([block for block in one.blocks if isinstance(block, Figure)]) == 3
    html = chapter_html(chapter(plain))
    assert html.count("<svg") == 18
    (command,) = blocks(plain, CommandLine)  # two have no picture
    assert command.line.startswith("fairtrial plot strip a b --benchmark ")


def test_few_runs_have_no_deciles(matrix, subject) -> None:
    sides = (matrix(n, {"x": 1.0}, seed=k, runs=2) for k, n in enumerate(("new", "old")))
    assert len(blocks(subject(*sides), Figure)) == 2


@pytest.mark.parametrize(
    ("factor", "said"),
    [
        # per cent are of what the baseline takes, as in the headline: 10 % less is 11 % ahead
        (0.9, "new is ahead in all 5 sessions: takes 10 % less time."),
        (0.2, "new is ahead in all 5 sessions: is 5.0 times as fast."),
        (1.4, "new is behind in all 5 sessions: takes 40 % more time."),
        (1.0, "new equals the baseline in all 5 sessions."),
    ],
)
def test_a_sentence_says_how_sessions_agree(matrix, subject, factor: float, said: str) -> None:
    old = matrix("old", {"x": 1.0})
    new = replace(matrix("new", {"x": factor}), name="new")
    (told,) = (one.text for one in blocks(subject(new, old), Sentence))
    assert told.startswith(said)
    assert f"<p>{said}" in chapter_html(chapter(subject(new, old))).replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_sessions_that_do_not_agree_are_counted(matrix, subject) -> None:
    old, new = matrix("old", {"x": 1.0}), matrix("new", {"x": 1.0}, seed=3)
    (told,) = (one.text for one in blocks(subject(new, old), Sentence))
    differences = subject(new, old).candidates[0].multilevel.benchmarks[0].differences
    ahead = sum(log > 0 for log in differences)
    assert 0 < ahead < 5
    assert told.startswith(f"new is ahead in {ahead} of 5 sessions, which range from ")


def test_a_side_without_runs_is_named(matrix, subject) -> None:
    given = subject(matrix("new", {"x": 1.0, "y": 1.0}), matrix("old", {"x": 1.0}))
    assert "No run counts of old." in [one.text for one in blocks(given, Sentence)]


def test_sessions_are_the_matrixs(matrix, subject) -> None:
    a, b = matrix("a", {"x": 1.0, "y": 2.0}, seed=2), matrix("b", {"x": 1.0, "y": 2.0})
    judged = subject(a, b)
    assert list(cells_of(judged, "x")) == ["b", "a"]  # the baseline first
    found = cells_of(judged, "y")["a"]
    assert found.values.tolist() == a.values("y").tolist()
    assert found.labels == ("1", "2", "3", "4", "5")
    assert found.of(2).tolist() == a.values("y")[16:24].tolist()


def test_unknown_sessions_are_one_without_a_name(matrix, subject) -> None:
    a, b = (matrix(name, {"x": 1.0}, known=False) for name in "ab")
    found = cells_of(subject(a, b), "x")["a"]
    assert found.labels == ("",)


def test_named_sessions_keep_the_order_in_which_they_are_met(matrix, subject) -> None:
    a, b = (matrix(name, {"x": 1.0}) for name in "ab")
    names = np.repeat(["night", "morning", "noon", "evening", "dusk"], 8)
    a, b = (replace(one, sessions=(names,)) for one in (a, b))
    assert cells_of(subject(a, b), "x")["a"].labels == (
        "night",
        "morning",
        "noon",
        "evening",
        "dusk",
    )


def test_benchmarks_with_runs_of_zero_are_cells_too(matrix, subject) -> None:
    a, b = (matrix(name, {"x": 1.0, "y": 1.0}) for name in "ab")

    def zeroed(one: PerformanceMatrix) -> PerformanceMatrix:
        values = one.values("y").copy()
        values[3] = 0
        return replace(one.select(["x"]), with_zeros=replace(one.select(["y"]), samples=(values,)))

    judged = subject(zeroed(a), zeroed(b))
    assert cells_of(judged, "y")["a"].values.min() == 0
    assert list(cells_of(judged, "x")) == ["b", "a"]
    assert cells_of(judged, "z") == {}


# --- The chapter on the distribution behind a judged quantile.


def together(trial, values, variant):
    return np.concatenate([values[row] for row in np.flatnonzero(trial.variant == variant)])


@pytest.mark.parametrize("sessions", [3, 1])
def test_the_table_has_the_quantiles_of_all_values_as_far_as_there_are_enough(sessions):
    trial, values = with_values(sessions=sessions, runs=2, each=150)
    found = distribution(printed_by(trial, NAME))
    (section,) = found.sections()
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    headings = [column.heading for column in table.columns]
    assert headings[2:] == ["values", "p50", "p90", "p99", "largest"]  # none has a p99.9
    for number, (_, _, values_of, *quantiles, most) in enumerate(table.rows):
        every = together(trial, values, number)
        assert values_of.value == every.size
        assert [one.value for one in quantiles] == [
            np.quantile(every, share, method="inverted_cdf") for share in (0.5, 0.9, 0.99)
        ]
        assert most.value == every.max()
    assert ("of all values of a session together" in found.lead) == (sessions > 1)
    assert chapter_html(found).count("<svg") == 1


def test_there_is_none_of_another_metric_or_where_the_values_are_not_there():
    trial, _ = with_values()
    assert distribution(printed_by(trial, "wall")) is None
    assert distribution(replace(printed_by(trial, NAME), trials=())) is None
    own, _ = with_values(own=[1.5] * 12)
    assert distribution(printed_by(own, NAME)) is None


def test_pooled_values_of_a_warm_up_are_left_out():
    trial, values = with_values(warmup="5")
    found = pooled(trial, "t", np.array([0, 1]))
    assert found.total == 70
    assert found.values.tolist() == sorted([*values[0][5:], *values[1][5:]])


@pytest.mark.parametrize("sessions", [3, 1])
def test_the_rest_of_the_report_knows_that_a_session_has_one_value(sessions):
    subject = printed_by(with_values(sessions=sessions, runs=2, each=150)[0], NAME)
    merged = sessions > 1
    first, *_ = answer_of(subject).sections()
    assert "2 runs a cell" in first.blocks[0].text
    explained = replace(subject, verdict=judge(subject.trial, metric=NAME, explain=True))
    assert ("to them a session is a run" in published(explained).values["lead"]) == merged
    assert ("to them a session is a run" in str(explained.verdict)) == merged
    told = "".join(one.text for one in paragraph_of(subject, {}))
    assert ("The value of a session is the quantile of all values of t" in told) == merged


# --- The chapter on iterations: what the verdict says of them, and a picture of the runs that it is about.


def test_the_table_is_what_the_verdict_says():
    subject = printed_by(trial(warming, override="auto"))
    (table,) = blocks(subject, Table, iterations)
    assert [(row[1], row[3].text, row[4]) for row in table.rows] == [
        ("v0", "20", "24 warm-up"),
        ("v1", "0", "24 flat"),
    ]
    assert iterations(subject).lead == "Not judged: those before a run becomes steady."


def test_cells_without_a_word_stand_first():
    subject = printed_by(trial(restless(0.5), override="auto"))
    (table,) = blocks(subject, Table, iterations)
    assert [row[1] for row in table.rows] == ["v1", "v0"]
    assert "No word on 1 of 2 cells" in iterations(subject).lead


@pytest.mark.parametrize("setting", [None, 0])
def test_there_is_none_where_all_iterations_are_judged(setting):
    assert iterations(printed_by(trial(warming, override=setting))) is None


def test_a_picture_for_each_benchmark_and_none_of_sides_that_are_no_trial():
    subject = printed_by(trial(warming, override=20))
    (picture,) = blocks(subject, Figure, iterations)
    assert "24 runs, 20 iterations not judged" in picture.alt
    assert chapter_html(iterations(subject)).count("<svg") == 1
    assert blocks(replace(subject, trials=()), Figure, iterations) == []
