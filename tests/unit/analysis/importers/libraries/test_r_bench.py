"""CSV of R's microbenchmark and bench. Authority: files that R wrote, and their documentation."""

from __future__ import annotations

import pytest

from analysis.errors import AnalysisError, UsageError

ROW = '"sort(x)",1µs,2µs,3,1KB,0,8,0,9µs,{},"none"\n'
HEAD = '"expression","min","median","itr/sec","mem_alloc","gc/sec","n_itr","n_gc","total_time","time","gc"\n'


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("250ns", 250e-9), ("4.5us", 4.5e-6), ("4.5µs", 4.5e-6), ("4.5μs", 4.5e-6), ("  1.25ms", 1.25e-3),
        ("2.5s", 2.5), ("1.5m", 90.0), ("2h", 7200.0), ("1d", 86400.0), ("1w", 604800.0), ("0.125", 0.125),
        ("1.5e-05", 1.5e-5), ("0s", 0.0),
    ],
)  # fmt: skip
def test_units_of_bench(foreign, text, seconds) -> None:
    """bench:::format.bench_time: m are minutes."""
    (cell,) = foreign(HEAD + ROW.format(text), "b.csv").cells
    assert cell.values == pytest.approx((seconds,), rel=1e-12, abs=0)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("numbered", [True, False])
def test_ways_to_write_a_data_frame(foreign, separator, numbered) -> None:
    rows = [("expr", "time"), ("a", "1500"), ("b", "2500,5" if separator == ";" else "2500.5")]
    lines = [
        separator.join(([f'"{k or ""}"'] if numbered else []) + [f'"{row[0]}"', row[1]])
        for k, row in enumerate(rows)
    ]
    first, second = foreign("\n".join(lines) + "\n", "m.csv").cells
    assert (first.values, second.values) == ((1.5e-6,), pytest.approx((2.5005e-6,)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"expr","min","lq","mean","median","uq","max","neval"\n"a",1,2,3,4,5,6,100\n', "(?s)summaries only.*unnest"),
        (HEAD + ROW.format("1.5 parsec"), ":2: '1.5 parsec' is no number"),
        (HEAD + ROW.format("NA"), ":2: 'NA' is no number"),
        (HEAD + ROW.format("-1"), ":2: the value -1.0 is negative"),
        (HEAD + '"sort(x)",1µs,2µs,3,\n', "(?s):2: the line has 5 of 11 columns.*without the columns"),
        (HEAD, "no row of values"),
        ('"expr","time"\n"",1\n', "an expression has no name"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_line(foreign, text, said) -> None:
    with pytest.raises(AnalysisError, match=said):
        foreign(text, "b.csv")


def test_a_table_of_ones_own_is_none_of_these(foreign) -> None:
    with pytest.raises(UsageError, match="no tool is known"):
        foreign("expr,seconds spent\na,1\n", "t.csv")
