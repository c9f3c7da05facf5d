"""Which cell is which variant of which benchmark, for all formats alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.errors import AnalysisError, UsageError
from analysis.foreign import Chosen, ForeignCell, ForeignFile, gather, matrices_of
from analysis.foreign.gathered import occasions


def cell(benchmark: str = "b", *values: float, **more: object) -> ForeignCell:
    given: dict = {"processes": tuple((v,) for v in values or (1.0, 2.0)), "known": True} | more
    return ForeignCell(benchmark=benchmark, **given)


def file(*cells: ForeignCell, source: str = "r/old.json") -> ForeignFile:
    return ForeignFile(format="made", source=source, cells=cells)


def test_the_file_is_the_variant_where_the_format_has_none() -> None:
    found = gather([file(cell()), file(cell("b", 3.0), source="r/new.json.gz")], Chosen())
    assert found.variants == ("old", "new")
    assert "the file's name" in found.rule
    assert dict(occasions(found)) == {"r/old.json": 1, "r/new.json.gz": 2}


def test_the_formats_own_variant_wins_over_the_file() -> None:
    found = gather([file(cell(variant="x"), cell("b", 3.0, variant="y"))], Chosen())
    assert found.variants == ("x", "y")


def test_keys_choose_variant_benchmark_and_session() -> None:
    one = cell(keys={"gc": "on", "n": "10", "night": "3"})
    two = cell("b", 5.0, keys={"gc": "off", "n": "20", "night": "4"})
    chosen = Chosen(variant="gc", benchmark="n", session="night")
    found = gather([file(one, two)], chosen)
    assert found.variants == ("on", "off")
    assert found.benchmarks == ("10", "20")
    assert [o for o, _ in occasions(found)] == ["3", "4"]
    assert gather([file(one)], Chosen(variant="folder")).variants == ("r",)
    with pytest.raises(UsageError, match="no key 'gx'") as told:
        gather([file(one)], Chosen(variant="gx"))
    assert "gc, n, night, file, folder" in str(told.value)


def test_files_of_one_folder_are_one_occasion_if_asked() -> None:
    files = [
        file(cell("b", float(k)), source=f"night{k}/{name}.json")
        for k in (1, 2)
        for name in ("old", "new")
    ]
    files = [
        replace(one, cells=(replace(one.cells[0], processes=((k + 1.0,),)),))
        for k, one in enumerate(files)
    ]
    found = gather(files, Chosen(session="folder"))
    assert found.variants == ("old", "new")
    matrices = matrices_of(found)
    for matrix in matrices.values():
        assert matrix.sessions is not None
        assert matrix.sessions[0].tolist() == [1, 2]


def test_identical_values_are_one_variant() -> None:
    """criterion keeps the last result twice: never a false "equivalent"."""
    new = cell("b", 1.0, 2.0, variant="new")
    found = gather([file(replace(new, variant="base"), new)], Chosen())
    assert found.variants == ("base",)
    assert [c.code for c in found.cautions] == ["one-variant-twice"]
    # the control: one other value
    other = cell("b", 1.0, 2.5, variant="new")
    assert gather([file(replace(new, variant="base"), other)], Chosen()).variants == ("base", "new")


def test_cells_of_one_name_are_kept_apart_and_told() -> None:
    found = gather([file(cell(), cell("b", 7.0))], Chosen())
    assert found.benchmarks == ("b", "b (2)")
    assert [c.code for c in found.cautions] == ["equal-names"]


def test_one_metric_can_be_chosen() -> None:
    both = file(cell(), cell(metric="max_rss", unit="B"))
    assert gather([both], Chosen()).metrics == ("time", "max_rss")
    assert gather([both], Chosen(metric="max_rss")).metrics == ("max_rss",)
    with pytest.raises(UsageError, match="no metric 'x'"):
        gather([both], Chosen(metric="x"))


def test_matrices_know_processes_and_failures() -> None:
    some = cell("b", processes=((1.0, 3.0), (5.0,)), failed=2, variant="v")
    (matrix,) = matrices_of(gather([file(some)], Chosen())).values()
    assert matrix.values("b").tolist() == [2.0, 5.0]
    assert matrix.at_level("iteration").values("b").tolist() == [1.0, 3.0, 5.0]
    assert matrix.failed == {"b": 2}
    assert matrix.origin == "r/old.json"


def test_where_processes_are_unknown_each_value_is_a_run() -> None:
    some = cell("b", processes=((1.0, 3.0, 5.0),), known=False)
    (matrix,) = matrices_of(gather([file(some)], Chosen())).values()
    assert matrix.values("b").tolist() == [1.0, 3.0, 5.0]
    with pytest.raises(UsageError, match="nothing is known of iterations"):
        matrix.at_level("iteration")


def test_a_direction_is_never_guessed() -> None:
    made = gather([file(cell(better=None, metric="k"))], Chosen())
    with pytest.raises(UsageError, match="which direction of 'k'"):
        matrices_of(made)
    (matrix,) = matrices_of(made, better="higher").values()
    assert matrix.better == "higher"
    with pytest.raises(UsageError, match="lower values of 'time' are better"):
        matrices_of(gather([file(cell())], Chosen()), better="higher")


def test_zeros_have_no_ratio_and_are_left_out_with_a_caution() -> None:
    made = gather([file(cell("a", 0.0, 1.0), cell("b"))], Chosen())
    (matrix,) = matrices_of(made).values()
    assert matrix.benchmarks == ("b",)
    assert "not-positive" in {c.code for c in matrix.cautions}


def test_the_source_of_a_file_in_the_working_folder_has_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = gather([file(cell(), source="x.json")], Chosen(variant="folder"))
    assert found.variants == (tmp_path.name,)


def test_one_metric_in_two_units_is_two_metrics() -> None:
    """A benchmark in ops/ms beside one in ops/s: neither is compared with the other."""
    fast = cell("a", metric="throughput", unit="ops/s", better="higher")
    slow = cell("b", metric="throughput", unit="ops/ms", better="higher")
    found = gather([file(fast, slow)], Chosen())
    assert found.metrics == ("throughput", "throughput [ops/ms]")
    assert [c.code for c in found.cautions] == ["units-apart"]
    assert {m.unit for m in matrices_of(found, "throughput [ops/ms]").values()} == {"ops/ms"}


def test_an_absurd_count_of_failures_is_refused() -> None:
    """Each failed run would be a row: a damaged count must not fill a disk."""
    assert gather([file(cell(failed=1000))], Chosen()).cells[0].cell.failed == 1000
    with pytest.raises(AnalysisError, match="2,147,483,648 failed runs"):
        gather([file(cell(failed=2**31))], Chosen())


def test_a_value_too_large_for_seconds_is_refused() -> None:
    with pytest.raises(AnalysisError, match="too large"):
        gather([file(cell("b", float("inf")))], Chosen())
