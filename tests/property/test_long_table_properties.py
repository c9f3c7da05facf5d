"""Headings and words of long tables: whatever a person writes has one meaning, or none."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from analysis.importers.headings import is_good, is_warmup, mapped, summaries
from tests.examples import examples

WORDS = st.sampled_from(
    ["benchmark", "time", "run", "mean", "min", "max", "ms", "s", "h", "per", "(ms)", "[B]", "cpu", "ok",
     "memory", "value", "unit", "seconds", "iteration", "timeout", "std_dev", ""]
)  # fmt: skip
HEADINGS = st.lists(
    st.one_of(st.text(max_size=12), st.lists(WORDS, min_size=1, max_size=4).map("_".join)),
    max_size=8,
)
OUTCOMES = st.sampled_from(
    ["true", "Yes", " t", "false", "no", "F", "ok", "failed", "1", "0", "1.0"]
)


@settings(max_examples=examples(400))
@given(HEADINGS)
def test_each_column_has_one_role(headings: list[str]) -> None:
    found = mapped(headings)
    summed = summaries(headings)
    assert set(summed) <= set(headings)
    if found is None:
        return
    values = [place for place, _, _ in found.values]
    roles = [
        place
        for place in (
            *found.benchmark, *found.variant, found.session, found.block, found.process, found.iteration,
            found.unit, found.metric, found.better, *found.ok, found.warmup,
        )
        if place is not None
    ]  # fmt: skip
    assert sorted([*values, *roles, *found.rest]) == list(range(len(headings)))
    assert values
    assert not {headings[place] for place in values} & set(summed)


@settings(max_examples=examples(400))
@given(OUTCOMES)
def test_a_failure_is_the_opposite_of_a_success(text: str) -> None:
    if text.strip().lower() in ("ok", "failed"):  # words of outcomes, whatever the heading
        assert is_good("failed", text) is is_good("ok", text)
    else:
        assert is_good("failed", text) is not is_good("ok", text)


@given(st.sampled_from(["ok", "status", "failed", "outcome", "exit_code"]), st.text(max_size=12))
def test_a_word_that_nobody_knows_is_unknown(heading: str, text: str) -> None:
    assert is_good(heading, text) in (True, False, None)
    assert is_good(heading, f"?{text}") is None
    assert is_warmup(f"?{text}") is None


@given(st.integers(-(10**6), 10**6))
def test_numbers_are_codes_or_yes_and_no(number: int) -> None:
    assert is_good("exit_code", str(number)) is (number == 0)
    assert is_good("exit_code", f"{number}.0") is (number == 0)
    assert is_good("failed", str(number)) is (number == 0)
    assert is_good("ok", str(number)) is {0: False, 1: True}.get(number)
    assert is_good("outcome", str(number)) is None
