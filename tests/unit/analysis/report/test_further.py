"""Trials for the panel: three variants, sessions that move, runs drawn with a fixed seed."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import UsageError
from analysis.importers.reader import Reading
from analysis.methods.hpt.compare import hpt
from analysis.methods.hpt.speedup import hpt_speedup
from analysis.pages.model import CommandLine, Figure, Sentence, Table, text_of
from analysis.report.assembling import assemble, chapter_html
from analysis.report.benchmarks import published, suite, variation
from analysis.report.subject import Subject, subject_of, subjects_of, written_of
from harness.cli import main

BENCHMARKS = ("text", "logs", "json", "table", "source", "binary")
# how many times as fast as the baseline, benchmark by benchmark
FACTORS: dict[str, tuple[float, ...]] = {
    "base": (1.0,) * 6,
    "quick": (4.0, 2.5, 2.0, 5.0, 1.2, 1.1),
    "again": (1.0,) * 6,
}


def drawn(
    factors: Mapping[str, tuple[float, ...]],
    names: tuple[str, ...] = BENCHMARKS,
    *,
    sessions: int = 5,
    runs: int = 6,
    noise: float = 0.02,
) -> dict[str, dict[str, list[float]]]:
    """Draw runs of variants; each session moves a variant by about half of the noise."""
    rng = np.random.default_rng(20261122)
    found: dict[str, dict[str, list[float]]] = {}
    for variant, faster in factors.items():
        moved = np.repeat(rng.normal(0, noise / 2, sessions), runs)
        found[variant] = {
            name: (
                0.02 * (k + 1) / factor * np.exp(moved + rng.normal(0, noise, sessions * runs))
            ).tolist()
            for k, (name, factor) in enumerate(zip(names, faster, strict=True))
        }
    return found


@pytest.fixture(scope="module")
def judged(
    synthetic: Callable, tmp_path_factory: pytest.TempPathFactory, once: Callable
) -> Callable[..., Subject]:
    """Judge what `drawn` draws, or times that are given."""

    def judge(
        times: Mapping | None = None,
        *,
        sessions: int = 5,
        metric: str | None = None,
        change: Callable | None = None,
        **asked: object,
    ) -> Subject:
        given = drawn(FACTORS, sessions=sessions) if times is None else times
        made = synthetic(given, sessions=sessions)
        if change is not None:
            change(made)
        path = made.write(tmp_path_factory.mktemp("trials") / "trial")
        return subject_of(
            [str(path)], Reading(metric=metric), **{"confidence": 0.95, "margin": 0.01, **asked}
        )

    return once(judge)


@pytest.fixture
def draw() -> Callable[..., dict[str, dict[str, list[float]]]]:
    return drawn


# --- The published methods on the page. Authorities: the verdict's panel, `written_of` (the page's strings)


def answers(chapter, which=0):
    return {one.method: one for one in chapter["candidates"][which]["methods"]}


def test_the_table_is_that_of_explain_below_the_first_screens_own_line(judged):
    subject = judged()
    chapter, lines = published(subject), written_of(subject)
    assert [one["variant"] for one in chapter["candidates"]] == ["quick", "again"]
    for told, one in zip(chapter["candidates"], subject.candidates, strict=True):
        ours, *others = told["methods"]
        assert tuple(others) == one.panel.methods
        assert told["disagreements"] == one.panel.disagreements
        line = lines[one.variant]["these"]
        assert ours.answer.endswith(f"{line.speedup.text}x {line.interval}")
        assert (ours.word, ours.value) == (one.multilevel.these.outcome, line.speedup.value)
    tables = [b for s in chapter.sections() for b in s.blocks if isinstance(b, Table)]
    assert [table.rows[1][2] for table in tables] == [
        answers(chapter, k)["HPT"].answer for k in (0, 1)
    ]


def test_the_page_has_each_answer_and_each_reason(judged):
    chapter = published(judged())
    text = unescape(re.sub(r"<[^>]*>", "", chapter_html(chapter)))
    text = text.replace("\u00a0", " ").replace("×", "x")
    for one in chapter["candidates"]:
        assert all(said.answer in text for said in one["methods"])
        assert all(why.text[1:] in text for why in one["disagreements"])


def test_the_bound_of_hpt_is_rounded_down(judged):
    subject = judged()
    (bound,) = re.findall(r"at least ([\d.]+)x", answers(published(subject))["HPT"].answer)
    ours, theirs = (subject.matrices[name] for name in ("quick", "base"))
    assert float(bound) <= hpt_speedup(ours, theirs, confidence=0.95).value
    assert hpt(ours, theirs, speedup=float(bound), confidence=0.95).word == "faster"


def test_a_metric_that_is_no_time_is_better_and_not_faster(judged):
    def smaller(made):
        for k, run in enumerate(made.rows):
            size = (50 << 20) + 4096 * (k % 7)
            less = size // 2 if run.variant == "quick" else size
            made.rows[k] = replace(run, max_rss_bytes=less)

    chapter = published(judged(metric="max_rss", change=smaller))
    told = [one.answer for each in chapter["candidates"] for one in each["methods"]]
    assert told[0].startswith("better, ")
    assert not re.search("faster|slower", " ".join(told))


def test_what_was_not_compared_has_no_table(judged, draw):
    assert published(judged(draw({"only": (1.0,) * 6}))) is None
    chapter = published(judged(change=lambda made: made.fail(lambda row: row.variant == "quick")))
    assert [one["variant"] for one in chapter["candidates"]] == ["again"]


@pytest.mark.parametrize("names", [("text",), ("text", "logs")])
def test_one_benchmark_has_its_own_line(judged, draw, names):
    factors = {"base": (1.0,) * len(names), "quick": (2.0,) * len(names)}
    subject = judged(draw(factors, names))
    line = written_of(subject)["quick"]["text" if len(names) == 1 else "these"]
    assert line.speedup.text in answers(published(subject))["fairtrial"].answer


# --- The suite as a whole: the pictures of `plot`, and the ranking of three and more variants


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


def titles(subject) -> list[str]:
    return [section.title for section in suite(subject).sections()]


def ranks(subject) -> list[tuple[str, str, str]]:
    (table,) = (b for s in suite(subject).sections() for b in s.blocks if isinstance(b, Table))
    return [(row[0].text, *row[1:]) for row in table.rows]


def test_three_variants_have_boxes_a_ranking_and_a_biplot(three) -> None:
    assert titles(three) == ["All runs of each benchmark", "Ranking", "Biplot", ""]
    figures = [b for s in suite(three).sections() for b in s.blocks if isinstance(b, Figure)]
    assert [one.name for one in figures] == ["box", "biplot"]


def test_the_ranking_tells_apart_what_differs_and_joins_what_does_not(three) -> None:
    first, *others = ranks(three)
    assert first == ("1", "new", "")
    assert {(rank, *sorted(pair)) for rank, *pair in others} == {("2 to 3", "again", "old")}


def test_one_program_under_three_names_has_no_order(subject) -> None:
    """The negative control: nothing differs, so no pair may be separated."""
    found = ranks(subject(runs({"a": 1.0, "b": 1.0, "c": 1.0}, seed=5)))
    assert [rank for rank, _, _ in found] == ["1 to 3"] * 3
    assert all({variant, *alike.split(", ")} == {"a", "b", "c"} for _, variant, alike in found)


def test_with_two_variants_the_page_says_why_there_is_no_ranking(subject) -> None:
    two = subject(runs({"old": 1.0, "new": 0.5}))
    assert titles(two) == ["All runs of each benchmark", ""]
    said = [b.text for s in suite(two).sections() for b in s.blocks if isinstance(b, Sentence)]
    assert said[0] == "A ranking and a biplot need three variants or more."


def test_there_is_no_chapter_on_a_single_benchmark(subject) -> None:
    assert suite(subject(runs({"old": 1.0, "new": 0.5}, benches=("text",)))) is None


# --- The chapter on the sources of variation, where it was asked for.

SAMPLE = str(Path(__file__).resolve().parents[4] / "tests" / "data" / "sample-0.2.0")


@pytest.fixture(scope="module")
def report():
    return assemble(subjects_of([SAMPLE], Reading(), explain=False), sources=True)


@pytest.fixture(scope="module")
def chapter(report):
    (found,) = (one for one in report.chapters if one.name == "variation")
    return found


def test_the_tables_are_those_of_the_command(chapter):
    out = io.StringIO()
    assert main(["sources", SAMPLE], out, io.StringIO()) == 0
    told = " ".join(out.getvalue().split())
    tables = [b for s in chapter.sections() for b in s.blocks if isinstance(b, Table)]
    assert "variation-components" in [table.name for table in tables]
    for table in tables:
        for row in table.rows:
            assert all(" ".join(text_of(cell).split()) in told for cell in row)
    (command,) = (b for s in chapter.sections() for b in s.blocks if isinstance(b, CommandLine))
    assert command.line == f"fairtrial sources {SAMPLE}"


def test_two_metrics_have_a_chapter_each_if_that_is_asked_for():
    subjects = subjects_of([SAMPLE], Reading(), ["wall", "user"], explain=False)
    both = assemble(subjects, sources=True)
    told = [one for one in both.chapters if one.name == "variation"]
    assert [one.anchor for one in told] == ["variation", "metric-2-variation"]
    (command,) = (b for s in told[1].sections() for b in s.blocks if isinstance(b, CommandLine))
    assert command.line.endswith("--metric user")
    assert both.screen()
    assert "variation" not in [one.name for one in assemble(subjects).chapters]


def test_a_file_has_none(tmp_path):
    (tmp_path / "m.csv").write_text("a,1.0,1.1,0.9,1.2\nb,2.0,2.1,2.2,1.9\n")
    subjects = subjects_of([str(tmp_path / "m.csv")], Reading(better="lower"), explain=False)
    with pytest.raises(UsageError, match="one trial"):
        assemble(subjects, sources=True)


def test_too_few_runs_leave_it_out(tmp_path, synthetic):
    path = synthetic({"a": {"x": [1.0, 1.1, 1.2]}, "b": {"x": [1.0, 1.2, 1.1]}}).write(
        tmp_path / "t"
    )
    (subject,) = subjects_of([str(path)], Reading(), explain=False)
    assert variation(subject) is None
