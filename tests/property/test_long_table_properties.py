"""Headings and words of long tables: whatever a person writes has one meaning, or none."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings, strategies as st

from analysis.data.opening import Opened
from analysis.errors import FairtrialError
from analysis.importers import long_csv
from analysis.importers.headings import mapped, summaries
from analysis.importers.parsing import is_good, is_warmup
from analysis.importers.registry import read_foreign
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


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b"]), st.sampled_from(["x", "y", ""]), st.sampled_from(["1", "2", "8"]),
        st.sampled_from(["ok", "failed", "timeout"]), st.sampled_from(["", "true"]),
        st.sampled_from(["1.5", "2", "NA", ""]),
    ),
    min_size=1, max_size=30,
)  # fmt: skip


@settings(max_examples=examples(200))
@given(ROWS, st.sampled_from(",;\t"))
def test_each_cell_of_the_value_column_is_a_value_failed_a_warm_up_or_empty(
    rows, separator
) -> None:
    out = io.StringIO()
    headings = ["benchmark", "flavour", "threads", "state", "warmup", "time_ms"]
    csv.writer(out, delimiter=separator).writerows([headings, *rows])
    found = [row for row in csv.DictReader(io.StringIO(out.getvalue()), delimiter=separator)]
    counted = [row for row in found if row["state"] == "ok" and not row["warmup"]]
    values = [row["time_ms"] for row in counted if row["time_ms"] not in ("", "NA")]
    failed = sum(row["state"] != "ok" and not row["warmup"] for row in found)
    if not values and len(counted) == len(found):
        return  # there is no row of values
    data = out.getvalue().encode()
    cells = read_foreign(Opened(source="r", name="r", path=None, data=data), "long-csv").cells
    assert sorted(v for c in cells for v in c.values) == sorted(float(v) / 1000 for v in values)
    assert sum(c.failed or 0 for c in cells) == failed
    assert sum(c.warmups or 0 for c in cells) == sum(row["warmup"] != "" for row in found)


CELLS = st.floats(0, allow_infinity=False).map(repr) | st.sampled_from(
    [" 2.5", "+1", "1e400", "1e-400", "1_0", "\u0661", "nan", "1.", ".5", "", " ", "NA", "\ufeffx", "failed", "1,5"]
)  # fmt: skip


@settings(max_examples=examples(200))
@given(st.lists(st.lists(CELLS, min_size=1, max_size=3), max_size=9), st.sampled_from(",;\t|"))
def test_pyarrow_parts_lines_as_python_does(rows, separator) -> None:
    text = "\n".join(map(separator.join, [["benchmark", "time_ms"], ["a", "1"], *rows]))
    opened, found = Opened(source="r", name="r", path=None, data=text.encode()), []
    for large in (0, 2**40):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(long_csv, "_LARGE", large)
            try:
                found.append(repr(read_foreign(opened, "long-csv")))
            except FairtrialError as error:
                found.append(str(error))
    assert found[0] == found[1]
