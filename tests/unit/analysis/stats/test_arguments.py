"""What a public function takes for a list: authority is what the message of a refusal says."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from analysis.errors import UsageError
from analysis.stats.arguments import checks_arguments, stream


@checks_arguments
def named(names: Sequence[str]) -> list[str]:
    return list(names)


@checks_arguments
def also_named(names: Iterable[str]) -> list[str]:
    return list(names)


@checks_arguments
def totalled(values: Sequence[float]) -> float:
    return sum(values)


def test_a_text_is_a_list_of_texts_and_of_nothing_else() -> None:
    assert named("ab") == also_named("ab") == ["a", "b"]
    assert named("") == []
    for text in ("", "12"):
        with pytest.raises(UsageError, match=r"^values must be a list of numbers, not '"):
            totalled(text)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [[1.5, 2], (1.5, 2), np.array([1.5, 2.0])])
def test_lists_of_numbers(values: Any) -> None:
    assert totalled(values) == 3.5


@pytest.mark.parametrize("values", [[1.5, "2"], np.ones((1, 2)), {1.5: 2}, b"ab", 3.5])
def test_what_is_no_list_of_numbers(values: Any) -> None:
    with pytest.raises(UsageError, match="values must be a list of numbers"):
        totalled(values)


# ---


def test_the_same_seed_and_labels_give_the_same_stream():
    assert stream(7, "bootstrap", "gzip").random() == stream(7, "bootstrap", "gzip").random()


@pytest.mark.parametrize(
    "other", [(7, "bootstrap", "xz"), (7, "test", "gzip"), (8, "bootstrap", "gzip"), (7,)]
)
def test_another_seed_or_label_gives_another_stream(other):
    assert stream(7, "bootstrap", "gzip").random() != stream(*other).random()


def test_streams_of_neighbouring_labels_are_uncorrelated():
    rows = np.array([stream(1, f"benchmark {k}").standard_normal(4000) for k in range(20)])
    off = np.corrcoef(rows)[~np.eye(20, dtype=bool)]
    assert np.abs(off).max() < 5 / np.sqrt(4000)


def test_a_negative_seed_is_refused():
    with pytest.raises(UsageError, match="negative"):
        stream(-1)
