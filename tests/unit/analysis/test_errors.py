"""What an error tells, also when it comes from another process."""

from __future__ import annotations

import copy
import pickle

import pytest

from analysis.errors import (
    AnalysisError,
    FairtrialError,
    InsufficientDataError,
    StoreError,
    UsageError,
    library_needed,
)

ERRORS = [
    FairtrialError("it failed"),
    UsageError("no such benchmark", "a.toml:3:1", "name one of 'x' and 'y'"),
    StoreError("a file was changed", fix="take a copy"),
    InsufficientDataError("too few runs", "benchmark 'x'", "measure more", n=1, needed=2),
]


@pytest.mark.parametrize(
    ("kind", "code"), [(FairtrialError, 70), (UsageError, 2), (StoreError, 5), (AnalysisError, 6)]
)
def test_every_kind_has_its_exit_code(kind: type[FairtrialError], code: int) -> None:
    assert kind("x").exit_code == code


def test_too_few_values_end_as_every_failed_analysis_and_are_counted() -> None:
    error = InsufficientDataError("too few", n=3, needed=5)
    assert (error.exit_code, error.n, error.needed) == (6, 3, 5)


def test_it_is_written_with_its_place_before_it_and_its_remedy_below() -> None:
    assert str(ERRORS[0]) == "it failed"
    assert str(ERRORS[1]) == "a.toml:3:1: no such benchmark\n  fix: name one of 'x' and 'y'"
    assert str(ERRORS[2]) == "a file was changed\n  fix: take a copy"


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (ModuleNotFoundError("No module named 'pyarrow'"), "is not installed"),
        (
            ImportError("pyarrow requires NumPy 2.0 or newer"),
            "cannot be imported: pyarrow requires NumPy 2.0 or newer",
        ),
    ],
)
def test_an_optional_library_is_absent_or_does_not_suit(error, why) -> None:
    told = library_needed("a Parquet file", "pyarrow", error, "t.parquet", fix="pip install it")
    assert str(told) == (
        f"t.parquet: a Parquet file needs the library pyarrow, which {why}\n  fix: pip install it"
    )
    assert told.exit_code == 2


def test_it_is_repeated_as_it_was_raised() -> None:
    assert repr(UsageError("what", "where", "fix")) == "UsageError('what', 'where', 'fix')"


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy])
def test_from_another_process_it_comes_as_it_was(error, again) -> None:
    found = again(error)
    assert type(found) is type(error)
    assert found.args == error.args
    assert vars(found) == vars(error)
    assert str(found) == str(error)
