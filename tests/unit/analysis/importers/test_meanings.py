"""One metric has one unit and one direction; who contradicts a file is told so.

Authority: the units and directions written into the cells.
"""

from __future__ import annotations

import pytest

from analysis.errors import UsageError
from analysis.importers.gathering import ReadingChoices, gather
from analysis.importers.importing import import_files


def test_one_metric_in_two_units_is_two_metrics(cell, file, imported) -> None:
    """A benchmark in ops/ms beside one in ops/s: neither is compared with the other."""
    fast = cell("a", metric="throughput", unit="ops/s", better="higher")
    slow = cell("b", metric="throughput", unit="ops/ms", better="higher")
    found = gather([file(fast, slow)], ReadingChoices())
    assert found.metrics == ("throughput", "throughput [ops/ms]")
    assert [c.code for c in found.cautions] == ["units-apart"]
    trial = imported(file(fast, slow))
    assert trial.metric("throughput [ops/ms]").unit == "ops/ms"


def test_one_metric_with_two_directions_is_two_metrics(cell, file, imported) -> None:
    """The first direction for both would call the slower program the faster one."""
    low = cell("a", metric="value", unit="", better="lower")
    high = cell("b", metric="value", unit="", better="higher")
    found = gather([file(low, high)], ReadingChoices())
    assert found.metrics == ("value", "value [higher]")
    assert [c.code for c in found.cautions] == ["directions-apart"]
    trial = imported(file(low, high))
    assert trial.metric("value").better == "lower"
    assert trial.metric("value [higher]").better == "higher"
    assert gather([file(low, high)], ReadingChoices(metric="value [higher]")).benchmarks == ("b",)


def test_a_metric_of_that_very_name_stays_what_it_is(cell, file) -> None:
    cells = [
        cell("a", metric="m [B]", unit="s"),
        cell("a", metric="m", unit="s"),
        cell("b", metric="m", unit="B"),
    ]
    assert gather([file(*cells)], ReadingChoices()).metrics == ("m [B]", "m", "m [B]*")


def test_who_does_not_say_it_means_what_the_others_say(cell, file) -> None:
    said = cell("a", metric="value", unit="", better="higher")
    unwritten = cell("b", metric="value", unit="", better=None)
    found = gather([file(unwritten, said)], ReadingChoices())
    assert {one.cell.better for one in found.cells} == {"higher"}
    assert found.cautions == ()
    with pytest.raises(UsageError, match=r"higher values of value are better.*says lower"):
        gather([file(unwritten, said)], ReadingChoices(better="lower"))


def test_beside_two_directions_a_third_cell_has_none(cell, file) -> None:
    cells = [
        cell(name, metric="value", unit="", better=better)
        for name, better in (("a", "lower"), ("b", "higher"), ("c", None))
    ]
    assert gather([file(*cells)], ReadingChoices()).metrics == (
        "value", "value [higher]", "value [direction unknown]",
    )  # fmt: skip
    found = gather([file(*cells)], ReadingChoices(better="higher"))
    assert found.metrics == ("value", "value [higher]")
    assert {o.benchmark for o in found.cells if o.cell.better == "higher"} == {"b", "c"}


def test_a_direction_that_contradicts_the_files_is_refused(cell, file, tmp_path) -> None:
    times = file(cell())
    with pytest.raises(UsageError, match="lower values of time are better") as told:
        gather([times], ReadingChoices(better="higher"))
    assert "leave out --better higher" in str(told.value)
    with pytest.raises(UsageError, match="lower values of time"):
        import_files(gather([times], ReadingChoices()), tmp_path / "t", better="higher")
    assert list(tmp_path.iterdir()) == []
    # the controls: it agrees, it is of another metric, or of one that does not say it
    rates = cell(metric="ops", unit="ops/s", better="higher")
    counts = cell(metric="k", unit="", better=None)
    gather([times], ReadingChoices(better="lower"))
    gather([file(cell(), rates)], ReadingChoices(better="higher"))
    gather([file(cell(), counts)], ReadingChoices(better="higher"))
    with pytest.raises(UsageError, match="lower values of time"):
        gather([file(cell(), rates)], ReadingChoices(better="higher", metric="time"))


def test_a_direction_is_never_guessed(cell, file, imported) -> None:
    made = file(cell(better=None, metric="k"))
    with pytest.raises(UsageError, match="which direction of k"):
        imported(made)
    assert imported(made, better="higher").metric("k").better == "higher"
