from __future__ import annotations

import math
import re
from dataclasses import dataclass

import pytest
from hypothesis import assume, given, strategies as st

from analysis.pages import number_format as figures
from analysis.pages.number_format import Difference, outcome_word, word_of
from analysis.words import shorten


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.234e-9, "s", "1.23 ns"),
        (4.5e-10, "s", "0.450 ns"),
        (8.42e-2, "s", "84.2 ms"),
        (0.9999, "s", "1.00 s"),
        (9.994e-4, "s", "999 µs"),
        (9.996e-4, "s", "1.00 ms"),
        (3725.4, "s", "3725 s"),
        (512, "B", "512 B"),
        (50 * 2**20, "B", "50.0 MiB"),
        (9.45e8, "B/s", "945 MB/s"),  # the bytes_per_second of Google Benchmark: 9.45e+08 B/s
        (1234567, "items/s", "1234567 items/s"),
        (0.000012345, "1/s", "1.23e-05 1/s"),
    ],
)
def test_quantities(value: float, unit: str, text: str) -> None:
    assert figures.quantity(value, unit) == text


@pytest.mark.parametrize(
    ("value", "text"), [(2.414, "2.41x"), (0.5, "0.50x"), (9.999, "10.0x"), (0.0123, "0.0123x")]
)
def test_ratios(value: float, text: str) -> None:
    assert figures.ratio(value) == text


@pytest.mark.parametrize(
    ("p", "text"), [(0.045288, "= 0.0453"), (1e-9, "= 1.00e-09"), (0.0, "< 1e-300"), (1.0, "= 1")]
)
def test_pvalues(p: float, text: str) -> None:
    assert figures.pvalue(p) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.954712, "0.955"),
        (0.94962, "0.9496"),  # 0.950 would look like enough
        (0.99999, "> 0.999"),
        (1.0, "> 0.999"),
        (0.0, "0.000"),
    ],
)
def test_reliabilities_stay_on_their_side_of_the_level(value: float, text: str) -> None:
    assert figures.reliability(value, 0.95) == text


def test_long_names_lose_their_middle() -> None:
    assert shorten("abcdefghij", 10) == "abcdefghij"
    assert shorten("abcdefghijk", 10) == "abcde…hijk"


def test_long_lists_of_names_are_counted() -> None:
    assert figures.listed(["a", "b"], 2) == "a, b"
    assert figures.listed(["a", "b", "c", "d"], 2) == "a, b and 2 more"


@pytest.mark.parametrize(
    ("value", "lower", "upper"),
    [(1.7776, "1.777", "1.778"), (0.99996, "0.9999", "1.000"), (1.5, "1.500", "1.500")],
)
def test_a_bound_is_rounded_away_from_what_it_claims(value, lower, upper):
    # authority: HPT claims 1.7776 with 0.95, and 1.778 not any more
    assert (figures.bound(value, 4), figures.bound(value, 4, upper=True)) == (lower, upper)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1.0216, 1.0333, "[1.02, 1.04]"),
        (1.02, 1.04, "[1.02, 1.04]"),  # what is written exactly stays
        (1.0061, 1.0333, "[1.006, 1.034]"),  # two decimals would reach 1
        (0.9968, 1.0043, "[0.996, 1.005]"),
        (0.98, 0.99996, "[0.98000, 0.99996]"),  # so would four
        (1.000031, 1.000039, "[1.00003, 1.00004]"),
        (0.99996, 1.2, "[0.9999, 1.2000]"),
        (12.342, 15.61, "[12.3, 15.7]"),
        (0.0, math.inf, "[0, inf]"),
    ],
)
def test_an_interval_is_rounded_outward_and_not_across_1(low, high, text):
    assert figures.ends(low, high) == text


# --- One vocabulary for programs; better and worse are words of screens


@pytest.mark.parametrize(
    ("side", "timed", "word", "screen"),
    [
        ("candidate", True, "faster", "faster"),
        ("baseline", True, "slower", "slower"),
        ("candidate", False, "faster", "better"),
        ("baseline", False, "slower", "worse"),
        ("tie", False, "tie", "tie"),
        ("undecided", False, "undecided", "undecided"),
    ],
)
def test_the_words_of_a_side(side, timed, word, screen):
    assert word_of(side) == word
    assert outcome_word(word, timed=timed) == screen
    assert outcome_word("equivalent", timed=timed) == "the same"


@pytest.mark.parametrize(
    ("unit", "timed"),
    [
        *((unit, True) for unit in ("s", "ms", "MB/s", "req/min", "score")),
        *((unit, False) for unit in ("1", "", "B", "%", "KiB/run")),
    ],
)
def test_times_rates_and_scores_are_fast_and_nothing_else(unit, timed):
    assert figures.timed(unit) is timed


def test_what_has_no_unit_is_a_bare_number():
    # first use: a compression ratio was printed as "3.69 1"
    assert figures.quantity(3.69, "1") == "3.69"


# --- How a difference is said: the rules and examples of the first minute's screens, by hand


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
    one = Difference.of(Line(1 / 1.1, 1 / 1.1, 1 / 1.1))
    assert (one.cell(), one.cell_interval(), one.interval()) == ("+10 %", "-", "")


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
    assert of_ratio(208.0, 2.4, 17_445.0).cell_interval() == "+140 to +1744400 %"  # it decides
    assert "between" in of_ratio(1.1, 0.05, 40.0).answer("undecided", "a", "b", margin=0.01)


@pytest.mark.parametrize("ends", [(5e-8, 2e-7), (-2e-7, -5e-8), (1e-9, 0.04), (None, None)])
def test_what_is_not_0_and_decides_is_not_written_as_0(ends):
    low, high = (None if one is None else 1 + one for one in ends)
    gap = Difference(
        1 - 1e-7 if ends[0] and ends[0] < 0 else 1 + 1e-7, low, high, "wall", "s", "lower"
    )
    for text in (gap.phrase(), gap.interval(), gap.cell(), gap.cell_interval()):
        assert all(float(number) for number in re.findall(r"[0-9.]+", text))
