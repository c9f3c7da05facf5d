"""Which cell is which variant of which benchmark, for all formats alike.

Authority: the values written into the cells.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.errors import AnalysisError, UsageError
from analysis.importers.gathering import ReadingChoices, gather


def test_the_file_is_the_variant_where_the_format_has_none(cell, file) -> None:
    found = gather([file(cell()), file(cell("b", 3.0), source="r/new.json.gz")], ReadingChoices())
    assert found.variants == ("old", "new")
    assert "the file's name" in found.rule
    assert {one.occasion for one in found.cells} == {"r/old.json", "r/new.json.gz"}


def test_the_formats_own_variant_wins_over_the_file(cell, file) -> None:
    found = gather([file(cell(variant="x"), cell("b", 3.0, variant="y"))], ReadingChoices())
    assert found.variants == ("x", "y")


def test_keys_choose_variant_benchmark_and_session(cell, file) -> None:
    one = cell(keys={"gc": "on", "n": "10", "night": "3"})
    two = cell("b", 5.0, keys={"gc": "off", "n": "20", "night": "4"})
    chosen = ReadingChoices(variant="gc", benchmark="n", session="night")
    found = gather([file(one, two)], chosen)
    assert found.variants == ("on", "off")
    assert found.benchmarks == ("10", "20")
    assert {one.occasion for one in found.cells} == {"3", "4"}
    assert gather([file(one)], ReadingChoices(variant="folder")).variants == ("r",)
    with pytest.raises(UsageError, match="no key 'gx'") as told:
        gather([file(one)], ReadingChoices(variant="gx"))
    assert "gc, n, night, file, folder" in str(told.value)


def test_files_of_one_folder_are_one_occasion_if_asked(cell, file, imported) -> None:
    files = [
        file(cell("b", float(k * n)), source=f"night{k}/{name}.json")
        for k in (1, 2)
        for n, name in ((3, "old"), (5, "new"))
    ]
    trial = imported(*files, session="folder")
    assert trial.manifest.variants == ("old", "new")
    for variant in ("old", "new"):
        assert trial.matrix(variant, "time").sessions[0].tolist() == [1, 2]


@pytest.mark.parametrize("session", ["file", "folder"])
def test_files_and_folders_of_one_name_in_two_places_are_two_occasions(cell, file, session) -> None:
    files = [file(cell("b", float(k), variant="v"), source=f"day{k}/out/r.json") for k in (1, 2)]
    assert len({one.occasion for one in gather(files, ReadingChoices(session=session)).cells}) == 2
    # the control: by another way to the same folder it is the same occasion
    near = [file(cell("b", 1.0, variant="v"), source="day1/out/r.json"),
            file(cell("b", 2.0, variant="v"), source="day1/../day1/out/s.json")]  # fmt: skip
    assert len({one.occasion for one in gather(near, ReadingChoices(session="folder")).cells}) == 1


def test_files_that_name_the_same_sessions_can_share_them(cell, file, imported) -> None:
    """One file a variant, measured in turns: the sessions' names join them, if that is asked for."""
    files = [
        file(
            *(cell("b", n * night + 0.5, session=f"night {night}") for night in (1, 2)),
            source=f"{name}.csv",
        )
        for n, name in ((3, "old"), (5, "new"))
    ]
    assert len({one.occasion for one in gather(files, ReadingChoices()).cells}) == 4
    trial = imported(*files, session="session")
    for variant in ("old", "new"):
        assert trial.matrix(variant, "time").sessions[0].tolist() == [1, 2]
    with pytest.raises(UsageError, match="no key 'session'"):
        gather([file(cell())], ReadingChoices(session="session"))


def test_a_linked_file_lies_where_its_link_does(cell, file, tmp_path: Path) -> None:
    """Large files are often links into a store of contents: the store is no occasion."""
    (tmp_path / "store").mkdir()
    files = []
    for k in (1, 2):
        (tmp_path / "store" / f"{k}.json").write_text("")
        (tmp_path / f"day{k}").mkdir()
        link = tmp_path / f"day{k}" / "r.json"
        link.symlink_to(tmp_path / "store" / f"{k}.json")
        files.append(file(cell("b", float(k), variant="v"), source=str(link)))
    assert len({one.occasion for one in gather(files, ReadingChoices(session="folder")).cells}) == 2
    assert gather(files, ReadingChoices(variant="folder")).variants == ("day1", "day2")


def test_further_files_of_one_occasion_hold_further_processes(cell, file, imported) -> None:
    files = [
        file(cell("b", float(k), k + 0.5, variant="v"), source=f"day1/{k}.json") for k in (1, 2, 3)
    ]
    trial = imported(*files, session="folder")
    matrix = trial.matrix("v", "time")
    assert matrix.benchmarks == ("b",)
    assert matrix.values("b").tolist() == [1.0, 1.5, 2.0, 2.5, 3.0, 3.5]
    assert set(matrix.sessions[0].tolist()) == {1}


def test_one_metric_can_be_chosen(cell, file) -> None:
    both = file(cell(), cell(metric="max_rss", unit="B"))
    assert gather([both], ReadingChoices()).metrics == ("time", "max_rss")
    assert gather([both], ReadingChoices(metric="max_rss")).metrics == ("max_rss",)
    with pytest.raises(UsageError, match="no metric 'x'") as told:
        gather([both], ReadingChoices(metric="x"))
    assert "time, max_rss" in str(told.value)


def test_a_metric_is_chosen_after_copies_were_looked_for(cell, file) -> None:
    """Two programs that allocate alike are two programs: their times say so."""
    cells = [
        cell("b", *values, variant=variant, **more)
        for variant, times in (("old", (1.0, 2.0)), ("new", (3.0, 4.0)))
        for values, more in ((times, {}), ((7.0, 8.0), {"metric": "allocs", "unit": ""}))
    ]
    found = gather([file(*cells)], ReadingChoices(metric="allocs"))
    assert found.variants == ("old", "new")
    assert found.cautions == ()


def test_failed_runs_stay_whichever_metric_is_chosen(cell, file, imported) -> None:
    memory = {"metric": "rss", "unit": "B"}
    cells = (
        cell("b", 1.0, failed=2, variant="v"),
        cell("b", 5.0, variant="v", **memory),
        cell("only failed", variant="v", processes=(), failed=3),
        cell("other", 2.0, variant="v"),
    )
    found = gather([file(*cells)], ReadingChoices(metric="rss"))
    assert [(one.benchmark, one.cell.failed, one.cell.values) for one in found.cells] == [
        ("b", 2, (5.0,)),
        ("only failed", 3, ()),
    ]
    assert {one.cell.metric for one in found.cells} == {"rss"}
    assert {one.cell.unit for one in found.cells} == {"B"}
    trial = imported(file(*cells), metric="rss")
    assert len(trial.failed) == 5


def test_a_cell_that_only_failed_has_no_blocks_of_another_one(cell, file, imported) -> None:
    """Its metric is that of the others: their blocks, names and iterations were taken with it, and fitted nothing."""
    whole = cell("a", 1.0, 2.0, blocks=(1, 2), labels=("p", "q"), warmups=4)
    lost = cell("b", metric="rss", processes=(), failed=2, blocks=(), labels=())
    kept = gather([file(whole, lost)], ReadingChoices(metric="time")).cells[1].cell
    assert (kept.metric, kept.values, kept.failed) == ("time", (), 2)
    assert (kept.blocks, kept.labels, kept.warmups) == (None,) * 3
    matrix = imported(file(whole, lost), metric="time").matrix("old", "time")
    assert dict(matrix.failed) == {"b": 2}


def test_an_absurd_count_of_failures_is_refused(cell, file) -> None:
    """Each failed run would be a row: a damaged count must not fill a disk."""
    assert gather([file(cell(failed=1000))], ReadingChoices()).cells[0].cell.failed == 1000
    with pytest.raises(AnalysisError, match="2,147,483,648 failed runs"):
        gather([file(cell(failed=2**31))], ReadingChoices())


def test_a_value_too_large_for_seconds_is_refused(cell, file) -> None:
    with pytest.raises(AnalysisError, match="too large"):
        gather([file(cell("b", float("inf")))], ReadingChoices())


def test_the_source_of_a_file_in_the_working_folder_has_a_name(
    cell, file, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")
    found = gather([file(cell(), source="x.json")], ReadingChoices(variant="folder"))
    assert found.variants == ("in",)
    above = gather([file(cell(), source="..")], ReadingChoices(variant="folder"))
    assert above.variants == (tmp_path.parent.name,)
