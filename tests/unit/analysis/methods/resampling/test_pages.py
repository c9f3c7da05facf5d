"""The pages: every number that a person reads is the result's, and the report holds its parts' own."""

import json

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.resampling.bootstrap import bootstrap_speedup
from analysis.methods.resampling.distribution import compare_distributions, empirical_distribution
from analysis.methods.resampling.randomization import randomization_test
from analysis.methods.resampling.report import resampling_report
from analysis.pages.model import Caution, Page, Sentence, Table, page_of
from analysis.stats.arguments import stream


def matrix(name="A", factor=1.0, *, runs=5, cautions=(), **more):
    generator = np.random.default_rng(len(name))
    samples = {f"b{k}": factor * generator.lognormal(k, 0.02, runs) for k in range(4)}
    return PerformanceMatrix.from_samples(name, samples, better="lower", cautions=cautions, **more)


def in_rounds(name, factor=1.0):
    ids = {f"b{k}": list(range(5)) for k in range(4)}
    return matrix(name, factor, blocks=ids)


def report(*pair, seed=3, **options):
    pair = pair or (matrix(), matrix("BB", 1.1))
    return resampling_report(*pair, rng=stream(seed, "resample"), seed=seed, **options)


def blocks(page: Page, kind):
    """Give all blocks of a kind, in their order, with the titles of their sections."""
    return [
        (section.title, block)
        for section in page.sections
        for block in section.blocks
        if isinstance(block, kind)
    ]


def only_table(page: Page) -> Table:
    ((_, table),) = blocks(page, Table)
    return table


def labelled(table: Table):
    """Give the rows of a table without headings by their labels."""
    assert not table.headed
    return {row[0]: row[1] for row in table.rows}


def rng():
    return np.random.default_rng(1)


# ---- the parts


def test_rounds_are_counted():
    pair = in_rounds("A"), in_rounds("BB", 1.1)
    for found in (randomization_test(*pair, rng=rng()), bootstrap_speedup(*pair, rng=rng())):
        rows = labelled(only_table(page_of(found)))
        assert rows[""] == found.unit_counts == "5 with both variants"


def test_five_numbers_are_the_distributions():
    found = empirical_distribution(matrix(), resamples=500, rng=rng())
    table = only_table(page_of(found))
    assert [column.heading for column in table.columns] == [
        "", "minimum", "Q1", "median", "Q3", "maximum", "mean", "IQR",
    ]  # fmt: skip
    ((name, *cells),) = table.rows
    assert name == "A"
    numbers = [*found.five, found.observed]
    assert [cell.value for cell in cells] == [*numbers, found.consistency]
    decimals = {len(cell.text.partition(".")[2]) for cell in cells[:-1]}
    assert len(decimals) == 1
    for cell, number in zip(cells, numbers, strict=False):
        # two digits of the interquartile range are seen
        assert float(cell.text) == pytest.approx(number, abs=(found.q3 - found.q1) / 20)
    assert float(cells[-1].text.removesuffix(" %")) == pytest.approx(
        100 * found.consistency, rel=0.06
    )


@pytest.mark.parametrize(("count", "tables"), [(2, 1), (3, 2), (12, 2), (13, 1)])
def test_who_beats_whom_is_told_of_three_to_twelve_systems(count, tables):
    found = compare_distributions(
        [matrix("x" * k) for k in range(1, count + 1)], resamples=50, rng=rng()
    )
    assert len(blocks(page_of(found), Table)) == tables


# ---- the report


def test_the_report_is_composed_of_its_parts_sections():
    found = report()
    page = page_of(found)
    assert page.sections[0].blocks == tuple(Sentence(text) for text in found.conclusions)
    tables = blocks(page, Table)
    assert [title for title, _ in tables[:2]] == ["test", "interval"]
    parts = (found.test, found.interval, found.distributions)
    assert [table for _, table in tables] == [only_table(page_of(part)) for part in parts]
    assert page.sections[-1].blocks == (Sentence("seed 3"),)
    assert page.cautions == found.cautions


def test_each_caution_once_but_those_of_two_sides_with_one_name():
    ours = matrix("same", cautions=[Caution("failed-left-out", "3 failed runs left out")])
    theirs = matrix("same", 1.1, cautions=[Caution("failed-left-out", "40 failed runs left out")])
    found = report(ours, theirs)
    said = [str(caution) for caution in found.cautions]
    assert said[:2] == ["same: 3 failed runs left out", "same: 40 failed runs left out"]
    assert len(said) == len(set(said))
    # one session, what the runs share: told by the test and by the interval
    assert [caution.code for caution in found.cautions].count("sessions-unknown") == 1


def test_two_systems_of_one_name_are_told_apart_in_what_is_said_of_their_passes():
    systems = [
        matrix("A", runs=1, cautions=[Caution("noted", "taken at night")]),
        matrix("A", runs=2, cautions=[Caution("noted", "taken at night")]),
        matrix("B", runs=1),
    ]
    found = compare_distributions(systems, resamples=20, rng=rng())
    assert [(caution.code, caution.about) for caution in found.cautions] == [
        ("noted", ("A",)),
        ("passes-equal", ("A",)),
        ("few-passes", ("A", "system 2")),
        ("passes-equal", ("B",)),
        ("extremes-grow", ()),
    ]
    twice = compare_distributions([systems[0], systems[0]], resamples=20, rng=rng())
    assert [caution.code for caution in twice.cautions] == ["noted", "passes-equal", "passes-equal"]


# --- The report of `fairtrial resample`: three answers from one root, and what is missing said.


def test_three_answers_that_agree():
    found = report(resamples=2000)
    assert found.test.ratio == found.interval.ratio
    assert found.interval.low < found.test.ratio < found.interval.high
    first, second = found.distributions.systems
    assert second.observed / first.observed == pytest.approx(found.test.ratio)
    assert first.resamples == found.test.resamples == found.interval.resamples == 2000
    assert len(found.conclusions) == 3


def test_same_seed_same_answer():
    assert report().to_dict() == report().to_dict()
    assert report(seed=4).to_dict() != report().to_dict()


def test_one_run_of_each_gives_no_interval_and_says_so():
    found = report(matrix(runs=1), matrix("BB", 1.1, runs=1))
    assert found.interval is None
    assert "no interval: there is one run" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["interval"] is None
    assert found.test.exact


def test_further_systems_are_described_beside_the_two():
    alone = report()
    found = report(others=[matrix("CCC", 1.2)])
    assert (found.test.pvalue, found.interval.low) == (alone.test.pvalue, alone.interval.low)
    names = [system.name for system in found.distributions.systems]
    assert names == ["A", "BB", "CCC"]
    # what is drawn for the two does not depend on the others
    assert found.distributions.systems[0].q1 == alone.distributions.systems[0].q1
    assert "share of pairs of passes in which the row beats the column" in str(found)
    assert "beats the column" not in str(alone)
