from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from analysis.pages.model import Caution, merged, page_of
from analysis.pages.result import Result, plain
from analysis.version import VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Result):
    method: ClassVar[str] = "an-answer"
    unlisted: ClassVar[frozenset[str]] = frozenset({"hidden"})

    parts: tuple[Part, ...]
    hidden: int = 1
    inner: Answer | None = None


def test_the_head_comes_first_and_only_once() -> None:
    inner = Answer(parts=(), cautions=(Caution("a", "A."),))
    answer = Answer(parts=(Part(value=1.5),), inner=inner, references=("r",))
    data = answer.to_dict()
    assert list(data)[:3] == ["schema", "method", "tool_version"]
    assert (data["schema"], data["method"], data["tool_version"]) == (1, "an-answer", VERSION)
    assert list(data)[-3:] == ["cautions", "caution_codes", "references"]
    assert "hidden" not in data
    assert data["parts"] == [{"value": 1.5}]
    assert data["inner"] == {
        "parts": [],
        "inner": None,
        "cautions": ["A."],
        "caution_codes": ["a"],
        "references": [],
    }
    assert json.loads(json.dumps(data, allow_nan=False)) == data


@pytest.mark.parametrize(
    ("value", "want"),
    [
        (np.array([[1.0, np.nan]]), [[1.0, None]]),
        (np.float64(2.5), 2.5),
        (np.int64(3), 3),
        (float("nan"), None),
        ({1: (2, 3)}, {"1": [2, 3]}),
        (Caution("c", "text"), "text"),
        ("word", "word"),
        (True, True),
        (None, None),
    ],
)
def test_values_as_json_types(value: Any, want: Any) -> None:
    assert plain(value) == want


def test_a_caution_is_known_by_its_code_and_what_it_is_about() -> None:
    said = Caution("few", "too few", ("a",))
    assert said == Caution("few", "reworded", ("a",))
    assert said != Caution("few", "too few", ("b",))
    assert said != Caution("many", "too few", ("a",))
    assert [
        str(c) for c in merged([said], [Caution("few", "again", ("a",)), Caution("x", "X")])
    ] == ["too few", "X"]
    assert "too" in said
    assert "few" not in Caution("few", "text")
    of = said.of("v")
    assert (of.text, of.about, of.code) == ("v: too few", ("v", "a"), "few")


def test_a_result_without_a_page_is_a_mistake_of_ours() -> None:
    with pytest.raises((TypeError, ModuleNotFoundError)):
        page_of(Answer(parts=()))
