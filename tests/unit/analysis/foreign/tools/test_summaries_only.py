"""Catch2 and libtest keep no samples: their files are refused with the way out.

Layouts: Catch2's XML reporter of versions 2 and 3, libtest's pretty and JSON formats.
"""

from __future__ import annotations

import pytest

from analysis.errors import AnalysisError

CATCH = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<{0} name="t" rng-seed="1"><TestCase name="x">'
    '<BenchmarkResults name="b" samples="100" resamples="100000" iterations="5"><mean value="12.5" '
    'lowerBound="12" upperBound="13" ci="0.95"/></BenchmarkResults></TestCase></{0}>\n'
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CATCH.format("Catch2TestRun"), "Catch2"),
        (CATCH.format("Catch"), "Catch2"),
        ("running 1 test\ntest sort ... bench:       1,234 ns/iter (+/- 56)\n", "libtest"),
        ("running 1 test\ntest a::sort ... bench:         123.45 ns/iter (+/- 6.78)\n", "libtest"),
        ('{ "type": "bench", "name": "sort", "median": 12, "deviation": 3 }\n', "libtest"),
    ],
)
def test_summaries_are_refused_with_the_way_out(foreign, text, said) -> None:
    with pytest.raises(AnalysisError, match=said) as told:
        foreign(text, "r.out")
    assert "fairtrial run" in str(told.value)
