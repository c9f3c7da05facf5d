"""Copies are no measurements: files given twice, variants under two names, results that were kept.

Authority: the same cells in one file, without the copy.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from analysis.importers.gathering import ReadingChoices, gather
from analysis.importers.parsing import ForeignCell, ForeignFile
from analysis.verdict.judging import judge
from tests.examples import examples


def codes(found) -> list[str]:
    return [caution.code for caution in found.cautions]


def pair(cell):
    return (cell("b", 1.0, 1.25, 1.5, variant="old"), cell("b", 2.0, 2.25, 2.5, variant="new"))


@pytest.mark.parametrize(
    "chosen", [ReadingChoices(), ReadingChoices(session="file"), ReadingChoices(session="folder")]
)
def test_a_copied_file_is_no_further_session(cell, file, chosen) -> None:
    files = [file(*pair(cell), source=f"{place}/r.json") for place in ("day1", "backup")]
    found = gather(files, chosen)
    assert len(found.files) == 1
    assert len({one.occasion for one in found.cells}) == 1
    assert [c.code for c in found.cautions] == ["one-source-twice"]
    assert found.cautions[0].about == ("backup/r.json", "day1/r.json")


def test_a_file_that_is_named_twice_is_taken_once(cell, file) -> None:
    """However it is named; even where it holds failed runs only."""
    for cells in (pair(cell), (cell("b", processes=(), failed=3),)):
        files = [file(*cells, source=source) for source in ("r/a.json", "./r/../r/a.json")]
        found = gather(files, ReadingChoices())
        assert (len(found.files), codes(found)) == (1, ["one-source-twice"])


def test_a_copy_does_not_change_the_verdict(cell, file, imported) -> None:
    first = file(*pair(cell), source="day1/r.json")
    other = file(
        cell("b", 1.1, 1.3, 1.6, variant="old"),
        cell("b", 2.1, 2.3, 2.6, variant="new"),
        source="day2/r.json",
    )
    alone = judge(imported(first, other), metric="time").to_dict()
    copied = judge(
        imported(first, other, replace(first, source="copy.json")), metric="time"
    ).to_dict()
    assert copied["sessions"] == alone["sessions"] == 2
    assert copied["candidates"] == alone["candidates"]


def test_second_measurements_stay(cell, file) -> None:
    """The control: one other value, and it is a session of its own."""
    old, new = pair(cell)
    files = [
        file(old, new, source="day1/r.json"),
        file(old, cell("b", 2.0, 2.25, 2.75, variant="new"), source="day2/r.json"),
    ]
    found = gather(files, ReadingChoices())
    assert len({one.occasion for one in found.cells}) == 2
    assert codes(found) == []


def test_few_coarse_values_that_are_equal_are_no_copy_for_sure(cell, file) -> None:
    """A run of 0.52 s on two days: leaving one out would take away what is most frequent."""
    coarse = [file(cell("b", 0.52, variant="v"), source=f"{k}.csv") for k in (1, 2)]
    found = gather(coarse, ReadingChoices())
    assert len({one.occasion for one in found.cells}) == 2
    assert codes(found) == ["sources-alike"]
    # nor is a further file that begins with such a value one that holds more
    more = file(cell("b", 0.52, 0.53, variant="v"), source="3.csv")
    assert codes(gather([coarse[0], more], ReadingChoices())) == []
    # the control: so many digits do not come twice
    fine = [file(cell("b", 0.5234567, variant="v"), source=f"{k}.csv") for k in (1, 2)]
    assert codes(gather(fine, ReadingChoices())) == ["one-source-twice"]


def test_a_file_that_is_a_part_of_another_is_told(cell, file) -> None:
    more = cell("c", 5.0, 6.0, variant="old")
    files = [file(*pair(cell), source="1.json"), file(*pair(cell), more, source="2.json")]
    found = gather(files, ReadingChoices())
    assert (len(found.files), codes(found)) == (2, ["sources-alike"])
    assert found.cautions[0].about == ("1.json", "2.json")


def test_a_copy_under_another_name_is_no_further_benchmark(cell, file) -> None:
    """Authority: hyperfine names no benchmark, so that the file's name is taken for it."""

    def of(name: str, *values: float):
        cells = [cell(name, *(v + k for v in values), variant=f"v{k}") for k in (1, 2)]
        return file(*cells, source=f"{name}.json")

    found = gather([of("sort", *FINE), of("copy", *FINE)], ReadingChoices())
    assert (found.benchmarks, codes(found)) == (("sort",), ["one-source-twice"])
    # the control: few coarse values may be those of another benchmark
    found = gather([of("sort", 1.0, 2.0), of("copy", 1.0, 2.0)], ReadingChoices())
    assert (found.benchmarks, codes(found)) == (("sort", "copy"), ["sources-alike"])
    # and of benchmarks that the files name, equal values are left as they are
    named = [file(cell(name, *FINE, variant="v"), source=f"{name}1.json") for name in "ab"]
    assert (gather(named, ReadingChoices()).benchmarks, codes(gather(named, ReadingChoices()))) == (
        ("a", "b"),
        [],
    )


@pytest.mark.parametrize("known", [True, False])
def test_a_file_that_was_appended_to_holds_its_earlier_copy(cell, file, known) -> None:
    """Authority: ReBench adds a day's runs to the file of the days before."""

    def of(*values: float):
        processes = tuple((v,) for v in values) if known else (values,)
        return cell("b", variant="v", processes=processes, known=known)

    early, late = (1.2345678, 1.3456789), (1.2345678, 1.3456789, 1.4567891)
    other = cell("c", 1.1234567, 1.2345678, variant="v")
    for first, second in ((early, late), (late, early)):
        files = [file(of(*first), source="1.data"), file(of(*second), other, source="2.data")]
        found = gather(files, ReadingChoices())
        if second == late:
            assert [one.source for one in found.files] == ["2.data"]
            assert codes(found) == ["one-source-twice"]
        else:  # the control: each has what the other has not
            assert len(found.files) == 2
            assert codes(found) == []


def test_files_that_are_variants_by_their_names_are_one_variant(cell, file) -> None:
    files = [file(cell(), source="r/old.json"), file(cell(), source="r/new.json")]
    found = gather(files, ReadingChoices())
    assert (found.variants, codes(found)) == (("old",), ["one-variant-twice"])
    # under one name in two folders it is a copy
    files = [file(cell(), source="r/old.json"), file(cell(), source="s/old.json")]
    found = gather(files, ReadingChoices())
    assert (found.variants, codes(found)) == (("old",), ["one-source-twice"])


def test_identical_values_are_one_variant(cell, file) -> None:
    """criterion keeps the last result twice: never a false "equivalent"."""
    new = cell("b", 1.0, 2.0, variant="new")
    found = gather([file(replace(new, variant="base"), new)], ReadingChoices())
    assert found.variants == ("base",)
    assert codes(found) == ["one-variant-twice"]
    # the control: one other value
    other = cell("b", 1.0, 2.5, variant="new")
    assert gather([file(replace(new, variant="base"), other)], ReadingChoices()).variants == (
        "base",
        "new",
    )


@pytest.mark.parametrize(
    ("values", "more"),
    [((7.0,), {"metric": "allocs", "unit": ""}), ((7.0, 7.0), {"metric": "size", "unit": "B"}),
     ((0.0, 0.0), {}), ((0.01, 0.01), {})],
)  # fmt: skip
def test_equal_counts_and_coarse_times_make_no_copy(cell, file, values, more) -> None:
    """What each run gives alike says nothing of where it stems from."""
    cells = [cell("b", *values, variant=variant, **more) for variant in ("old", "new")]
    found = gather([file(*cells)], ReadingChoices())
    assert (found.variants, codes(found)) == (("old", "new"), [])


def test_a_result_that_was_kept_under_a_second_name_is_no_result_of_it(cell, file) -> None:
    """Authority: criterion's folders of a benchmark that was not measured again hold one result."""
    kept = cell("kept", 1.0, 1.5, variant="base")
    cells = [
        kept,
        cell("again", 2.0, 2.5, variant="base"),
        replace(kept, variant="new"),
        cell("again", 2.25, 2.75, variant="new"),
    ]
    found = gather([file(*cells)], ReadingChoices())
    assert [(one.variant, one.benchmark) for one in found.cells] == [
        ("base", "kept"),
        ("base", "again"),
        ("new", "again"),
    ]
    (said,) = found.cautions
    assert (said.code, said.about) == ("one-result-twice", ("new", "base", "kept"))


def test_a_benchmark_is_no_copy_while_one_of_its_metrics_differs(cell, file) -> None:
    def both(variant: str, *times: float):
        return (
            cell("b", *times, variant=variant),
            cell("b", 5.0, 6.0, variant=variant, metric="rss", unit="B"),
            cell("c", times[0] + 3.125, variant=variant),
        )

    found = gather([file(*both("old", 1.0, 2.0), *both("new", 1.0, 2.5))], ReadingChoices())
    assert codes(found) == ["one-result-twice"]  # that is c
    assert {one.benchmark for one in found.cells if one.variant == "new"} == {"b"}
    # the control: the same fails of c alone are no result
    failed = [cell("c", processes=(), failed=1, variant=v) for v in ("old", "new")]
    found = gather(
        [file(*both("old", 1.0, 2.0)[:2], *both("new", 1.0, 2.5)[:2], *failed)], ReadingChoices()
    )
    assert codes(found) == []


FINE = (1.2345678, 1.3456789)


def test_a_result_that_was_kept_for_a_second_day_is_no_second_session(cell, file) -> None:
    """A folder of results is copied each day, but some benchmarks were not measured again."""
    days = [
        file(
            cell("kept", *FINE, variant="v"),
            cell("again", day + 0.1234567, day + 0.2345678, variant="v"),
            source=f"day{day}",
        )
        for day in (1, 2)
    ]
    found = gather(days, ReadingChoices())
    assert [(one.source, one.benchmark) for one in found.cells] == [
        ("day1", "kept"), ("day1", "again"), ("day2", "again"),
    ]  # fmt: skip
    (said,) = found.cautions
    assert (said.code, said.about) == ("one-result-twice", ("v in day2", "v in day1", "kept"))


def test_a_result_that_was_kept_on_one_of_two_days_is_left_out_on_that_day(cell, file) -> None:
    day1 = file(cell("b", *FINE, variant="base"), cell("b", *FINE, variant="new"), source="day1")
    day2 = file(
        cell("b", 2.1234567, 2.3, variant="base"), cell("b", 2.4, 2.2, variant="new"), source="day2"
    )
    found = gather([day1, day2], ReadingChoices())
    assert [(one.variant, one.source) for one in found.cells] == [
        ("base", "day1"), ("base", "day2"), ("new", "day2"),
    ]  # fmt: skip


@pytest.mark.parametrize("values", [(5.0, 6.0), (1.2345678,)])
def test_some_of_many_sessions_may_be_alike(cell, file, values) -> None:
    """The control: a coarse clock gives two runs twice, and a simulator one value every day."""
    days = [
        file(cell("b", *values, variant="v"), cell("c", float(day), variant="v"), source=f"{day}")
        for day in (1, 2, 3)
    ]
    assert [c.code for c in gather(days, ReadingChoices()).cautions] == []
    assert len(gather(days, ReadingChoices()).cells) == 6


values = st.lists(st.floats(0.001, 1e3), min_size=2, max_size=4, unique=True).map(tuple)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.dictionaries(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), values, min_size=1),
    st.integers(1, 3),
)
def test_any_number_of_copies_is_as_good_as_none(results, copies) -> None:
    cells = tuple(
        ForeignCell(benchmark=b, variant=v, processes=(of,)) for (b, v), of in results.items()
    )

    def gathered(count: int):
        files = [ForeignFile(format="f", source=f"{k}.json", cells=cells) for k in range(count)]
        return gather(files, ReadingChoices())

    alone, together = gathered(1), gathered(1 + copies)
    assert together.cells == alone.cells
    assert codes(together).count("one-source-twice") == copies
