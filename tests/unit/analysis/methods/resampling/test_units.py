from dataclasses import replace

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.data.pair import match, set_apart
from analysis.errors import UsageError
from analysis.methods.resampling.assignments import exchangeable_units, unit_cautions


def matrix(name: str, blocks=None, sessions=None, runs: int = 3) -> PerformanceMatrix:
    def ids(given):
        if given is None or isinstance(given, dict):
            return given
        return {"a": given, "b": given}

    blocks, sessions = ids(blocks), ids(sessions)
    known = blocks or sessions or {"a": range(runs), "b": range(runs)}
    return PerformanceMatrix.from_samples(
        name,
        {bench: [1.0] * len(row) for bench, row in known.items()},
        better="lower",
        blocks=blocks,
        sessions=sessions,
    )


def cautions(ours: PerformanceMatrix, theirs: PerformanceMatrix, unit=None) -> list[str]:
    units = exchangeable_units(ours, theirs, unit)
    return [str(caution) for caution in unit_cautions(match(ours, theirs), units)]


def test_without_ids_single_runs() -> None:
    pair = matrix("c", runs=2), matrix("b", runs=3)
    units = exchangeable_units(*pair)
    assert (units.unit, units.chosen, units.sessions) == ("run", True, None)
    assert [row.tolist() for row in units.candidate] == [[0, 1], [0, 1]]
    assert [row.tolist() for row in units.baseline] == [[2, 3, 4], [2, 3, 4]]
    assert units.sides.size == 0
    text = " ".join(cautions(*pair))
    assert "is not known" in text
    assert "within one session only" in text
    assert (units.words, units.counts) == ("single runs, each benchmark on its own", "")


def test_the_default_is_block_where_both_sides_know_it() -> None:
    units = exchangeable_units(matrix("c", [1, 2, 3]), matrix("b", [4, 5, 6]))
    assert (units.unit, units.only_candidate, units.only_baseline, units.both) == ("block", 3, 3, 0)
    one = matrix("c", [1, 2, 3]), matrix("b")
    assert exchangeable_units(*one).unit == "run"
    assert "(for 'c' alone they are)" in cautions(*one)[0]


def test_the_default_is_session_where_both_sides_have_five_of_them() -> None:
    def of(ours: object, theirs: object, blocks: object = None) -> str:
        units = exchangeable_units(matrix("c", blocks, ours), matrix("b", blocks, theirs))
        assert units.chosen
        return units.unit

    five, four = [1, 2, 3, 4, 5], [1, 2, 3, 4, 4]
    assert of(five, five) == of(five, five, five) == "session"
    assert of(five, four) == of(four, five) == "run"
    assert of(five, four, five) == of(five, [6, 7, 8, 9, 10], five) == "block"
    assert of(five, ["1", "2", "3", "4", "5"], five) == "block"
    # known on one side only
    one = matrix("c", five, five), matrix("b", five)
    assert exchangeable_units(*one).unit == "block"


def test_equal_ids_are_one_round_with_both_variants() -> None:
    units = exchangeable_units(matrix("c", [1, 2, 3]), matrix("b", [2, 3, 4]))
    assert (units.both, units.only_candidate, units.only_baseline) == (2, 1, 1)
    assert units.sides.tolist() == [0, 2, 2, 1]
    assert units.candidate[0].tolist() == [0, 1, 2]
    assert units.baseline[0].tolist() == [1, 2, 3]
    assert units.words == "whole rounds, jointly over all benchmarks"
    assert units.counts == (
        "2 with both variants, 1 with the candidate only, 1 with the baseline only"
    )


def test_numbers_and_names_are_different_ids() -> None:
    units = exchangeable_units(matrix("c", [1, 2]), matrix("b", ["1", "2"]))
    assert (units.both, units.only_candidate, units.only_baseline) == (0, 2, 2)


def test_rounds_that_lack_benchmarks_or_hold_several_runs() -> None:
    ours = {"a": [7, 7, 9], "b": [9]}
    theirs = {"a": [9], "b": [11, 7]}
    units = exchangeable_units(matrix("c", ours), matrix("b", theirs))
    assert units.candidate[0].tolist() == [0, 0, 1]
    assert units.candidate[1].tolist() == [1]
    assert units.baseline[0].tolist() == [1]
    assert units.baseline[1].tolist() == [2, 0]
    assert units.sides.tolist() == [2, 2, 1]


def test_blocks_numbered_anew_in_each_session_are_told_apart() -> None:
    ours = matrix("c", [1, 2, 1, 2], [1, 1, 2, 2])
    theirs = matrix("b", [1, 2, 1, 2], [3, 3, 4, 4])
    units = exchangeable_units(ours, theirs)
    assert (units.only_candidate, units.only_baseline, units.both) == (4, 4, 0)
    same = exchangeable_units(ours, matrix("b", [1, 2, 1, 2], [1, 1, 2, 2]))
    assert same.both == 4


def test_the_numbers_depend_on_ids_only() -> None:
    ours = matrix("c", {"a": [3, 1], "b": [2, 1]})
    theirs = matrix("b", {"a": [5, 4], "b": [5, 6]})
    there = exchangeable_units(ours, theirs)
    back = exchangeable_units(ours.select(["b", "a"]), theirs.select(["b", "a"]))
    assert [row.tolist() for row in there.candidate] == [
        row.tolist() for row in back.candidate[::-1]
    ]
    assert there.sides.tolist() == back.sides.tolist()


def test_sessions() -> None:
    ours, theirs = matrix("c", [1, 2, 3], [1, 1, 2]), matrix("b", [4, 5, 6], [3, 3, 4])
    units = exchangeable_units(ours, theirs, "session")
    assert (units.unit, units.chosen, units.sessions) == ("session", False, 4)
    assert units.candidate[0].tolist() == [0, 0, 1]
    assert cautions(ours, theirs, "session") == []
    assert units.noun == "session"


@pytest.mark.parametrize(
    ("ours", "theirs", "says"),
    [
        ([1, 1, 1], [1, 1, 1], "stem from one session"),
        ([1, 1, 1], [2, 2, 2], "no session holds both variants"),
        ([1, 1, 2], [1, 2, 2], "not independent replications"),
        (None, [1, 1, 1], "(for 'b' alone they are)"),
    ],
)
def test_what_sessions_leave_open(ours, theirs, says: str) -> None:
    pair = matrix("c", [1, 2, 3], ours), matrix("b", [4, 5, 6], theirs)
    assert says in " ".join(cautions(*pair, "block"))


def test_single_runs_asked_for_although_rounds_are_known() -> None:
    pair = matrix("c", [1, 2, 3]), matrix("b", [1, 2, 3])
    assert not exchangeable_units(*pair, "run").chosen
    assert "rounds are known" in cautions(*pair, "run")[0]


def test_refusals() -> None:
    with pytest.raises(UsageError, match="unit must be"):
        exchangeable_units(matrix("c"), matrix("b"), "night")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"'block' needs to know each run's block.*'b'"):
        exchangeable_units(matrix("c", [1, 2, 3]), matrix("b"), "block")
    with pytest.raises(UsageError, match="'c' and 'b'"):
        exchangeable_units(matrix("c"), matrix("b"), "session")


def test_trials_set_apart_share_no_id() -> None:
    ours, theirs = (
        set_apart(matrix(name, [1, 2], [1, 2]), trial) for name, trial in (("c", "x"), ("b", "y"))
    )
    for unit in ("block", "session"):
        assert exchangeable_units(ours, theirs, unit).both == 0
    same = set_apart(matrix("b", [1, 2], [1, 2]), "x")
    assert exchangeable_units(ours, same).both == 2
    assert set_apart(matrix("c"), "x").blocks is None
    assert ours.samples[0].tolist() == [1.0, 1.0]


def test_arrays_are_read_only() -> None:
    for unit in ("run", "block"):
        units = exchangeable_units(matrix("c", [1, 2]), matrix("b", [1, 2]), unit)
        for array in (*units.candidate, *units.baseline, units.sides):
            assert isinstance(array, np.ndarray)
            assert not array.flags.writeable


@pytest.mark.parametrize(
    ("of", "noun"), [(("host", "host"), "host"), (("host", "session"), "session")]
)
def test_hosts_that_are_sessions_are_called_hosts(of: tuple[str, str], noun: str) -> None:
    sides = (
        replace(matrix(name, sessions=[1, 2, 3]), outermost=one)
        for name, one in zip("xy", of, strict=True)
    )
    units = exchangeable_units(*sides, "session")
    assert units.unit == "session"
    assert units.words == f"whole {noun}s, jointly over all benchmarks"
