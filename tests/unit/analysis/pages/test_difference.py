"""How a difference is said: the rules and examples of the first minute's screens, by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from hypothesis import assume, given, strategies as st

from analysis.pages.difference import Difference


@dataclass
class Line:
    speedup: float | None
    low: float | None
    high: float | None


def of_ratio(ratio: float, low: float, high: float, **what: str) -> Difference:
    return Difference(ratio, low, high, **what)


RSS, PEAK, SIZE, DISK = (
    {"metric": name, "unit": "B"}
    for name in ("max_rss", "service.db.peak_memory", "program_bytes", "service.db.disk_written")
)
RPS = {"metric": "rps", "unit": "1/s", "better": "higher"}


@pytest.mark.parametrize(
    ("told", "phrase", "interval"),
    [
        (of_ratio(0.55, 0.51, 0.59), "takes 45 % less time", "41 to 49 %"),
        (of_ratio(1.40, 1.20, 1.64), "takes 40 % more time", "20 to 64 %"),
        (of_ratio(0.219, 0.2128, 0.2222), "is 4.6 times as fast", "4.5 to 4.7"),
        (of_ratio(0.5, 0.48, 0.52), "is 2.0 times as fast", "1.9 to 2.1"),
        (of_ratio(4.6, 4.5, 4.7), "takes 4.6 times as long", "4.5 to 4.7"),
        (of_ratio(0.925, 0.914, 0.935), "takes 7.5 % less time", "6.5 to 8.6 %"),  # 2.1 points
        (of_ratio(0.55, 0.51, 0.59, metric="user"), "takes 45 % less time (user)", "41 to 49 %"),
        (of_ratio(0.88, 0.85, 0.91, **RSS), "uses 12 % less memory (max_rss)", "9 to 15 %"),
        (
            of_ratio(0.88, 0.85, 0.91, **PEAK),
            "uses 12 % less memory (service.db.peak_memory)",
            "9 to 15 %",
        ),
        # bytes on a disk, or of a file, are no memory
        (of_ratio(0.88, 0.85, 0.91, **SIZE), "has 12 % less (program_bytes)", "9 to 15 %"),
        (
            of_ratio(10.1, 10.0, 10.2, **DISK),
            "has 10.1 times as much (service.db.disk_written)",
            "10.0 to 10.2",
        ),
        (of_ratio(1.45, 1.4, 1.5, **RPS), "does 45 % more (rps)", "40 to 50 %"),
        (of_ratio(2.5, 2.4, 2.6, **RPS), "does 2.5 times as much (rps)", "2.4 to 2.6"),
        (of_ratio(0.3, 0.28, 0.32, **RPS), "does 70 % less (rps)", "68 to 72 %"),
        (
            of_ratio(1.1, 1.05, 1.15, metric="misses", unit="1"),
            "has 10 % more (misses)",
            "5 to 15 %",
        ),
    ],
)
def test_phrase_and_interval_are_in_one_unit(told: Difference, phrase: str, interval: str) -> None:
    assert told.phrase() == phrase
    assert told.interval() == interval


def test_whole_sentences() -> None:
    less, same = of_ratio(0.55, 0.51, 0.59), of_ratio(1.001, 0.994, 1.008)
    unclear = of_ratio(1.004, 0.983, 1.026)
    assert less.answer("faster", "A", "B", margin=0.01) == "A takes 45 % less time than B"
    assert of_ratio(0.2, 0.19, 0.21).sentence("A", "B") == "A is 5.0 times as fast as B"
    assert (
        same.answer("equivalent", "A", "B", margin=0.01) == "A takes the same time as B, within 1 %"
    )
    assert same.interval() == "0.6 % less to 0.8 % more"
    assert less.ranged("B") == "takes 41 to 49 % less time than B"
    assert unclear.ranged("B") == "takes between 2 % less and 3 % more time than B"
    assert of_ratio(4.6, 4.5, 4.7).ranged("B") == "takes 4.5 to 4.7 times as long as B"
    assert of_ratio(0.2, 0.19, 0.21).ranged() == "is 4.7 to 5.3 times as fast"
    assert Difference(1.2, None, None).ranged("B") == "takes 20 % more time than B"
    assert unclear.answer("undecided", "A", "B", margin=0.01) == (
        "no difference found between A and B: if there is one, it lies between 2 % less and 3 % more time"
    )
    assert Difference(1.2, None, None).answer("undecided", "A", "B", margin=0.01) == (
        "no difference found between A and B"
    )


def test_cells_are_always_per_cent() -> None:
    assert of_ratio(0.22, 0.2, 0.24).cell() == "-78 %"
    assert of_ratio(0.22, 0.2, 0.24).cell_interval() == "-80 to -76 %"
    assert of_ratio(4.6, 4.5, 4.7).cell() == "+360 %"
    assert of_ratio(0.99, 0.97, 1.01).cell_interval() == "-3 to +1 %"
    assert Difference(None, None, None).cell() == "-"
    assert Difference(None, None, None).cell_interval() == "-"


def test_an_end_that_is_not_zero_is_not_written_as_zero() -> None:
    assert of_ratio(0.9, 0.8, 0.997).interval() == "0.3 to 20.0 %"
    assert of_ratio(0.9, 0.8, 0.9996).interval() == "0.04 to 20.00 %"


def test_it_is_the_inverse_of_a_speedup_of_times_and_the_speedup_of_rates() -> None:
    # gate slower>2%: speedup 0.7129 [0.6106, 0.8322] is 40 % more time (20 to 64 %)
    told = Difference.of(Line(0.7129, 0.6106, 0.8322))
    assert (told.phrase(), told.interval()) == ("takes 40 % more time", "20 to 64 %")
    rate = Difference.of(Line(1.45, 1.4, 1.5), metric="rps", unit="1/s", better="higher")
    assert rate.phrase() == "does 45 % more (rps)"


@given(
    middle=st.floats(-3, 3),
    below=st.floats(0.0001, 2),
    above=st.floats(0.0001, 2),
    better=st.sampled_from(["lower", "higher"]),
)
def test_words_never_contradict_the_interval(
    middle: float, below: float, above: float, better: str
) -> None:
    line = Line(math.exp(middle), math.exp(middle - below), math.exp(middle + above))
    told = Difference.of(line, better=better)
    assert told.low is not None
    assert told.high is not None
    assume(1 not in (told.low, told.high))
    spans = told.low < 1 < told.high
    assert ("less" in told.between() and "more" in told.between()) == spans
    if not spans and told.ratio is not None:
        numbers = [float(one) for one in told.interval().replace(" %", "").split(" to ")]
        assert numbers == sorted(numbers)
        assert numbers[0] > 0
        assert told.too_few or told.interval() in told.ranged()


def test_an_interval_of_two_runs_tells_nothing():
    # authority: "between 100 % less and 5894357 % more time" helps nobody
    found = of_ratio(1.1, 1e-5, 58_944.0)
    assert found.answer("undecided", "a", "b", margin=0.01) == (
        "no difference found between a and b: too few values to say more"
    )
    assert found.cell_interval() == "too few to say"
    assert "between" in of_ratio(1.1, 0.05, 40.0).answer("undecided", "a", "b", margin=0.01)
