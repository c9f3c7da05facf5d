"""Metrics whose runs write no values, but how they are distributed: histograms and printed percentiles.

Their one value of a run is its mean, as far as it is known; of a histogram the values are known as counts of buckets.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from analysis.record.manifest import counted_quantile, needed, quantile_metric
from analysis.record.trial_files import BUILD_METRICS
from analysis.record.yaml_reader import Location, quote

if TYPE_CHECKING:
    from .model import Build, Cell, Command, MetricRule


# --- Numbers that a program prints with their unit, such as ``980us`` or ``95 %``, in the unit that a
# metric is declared in.
#
# Prefixes of bytes are powers of 1000, and of 1024 with an ``i``. ``KB`` is either, depending on
# who writes it, and is not known.


# --- What a campaign says of metrics that only its builds and its protocol show to be wrong.


# where a metric stands: by benchmark, variant and name
Places = Mapping[tuple[str, str, str], Location]


Fault = tuple[Location, str, str]  # what is wrong at a key, and the remedy


def built_files(cells: Iterable[Cell], builds: Sequence[Build], places: Places) -> Iterator[Fault]:
    """Find a file that a build makes in the place of one that each run writes anew."""
    made = {build.variant: frozenset(build.artifacts) for build in builds}
    found = set()
    for cell in cells:
        for rule in cell.metrics:
            place = places[cell.benchmark, cell.variant, rule.name]
            if rule.when == "build" or rule.source not in made.get(cell.variant, ()):
                continue
            if place not in found:
                what = f"the metric {quote(rule.name)} is read from a file that the build makes ('artifacts'), and that would be removed before each run"
                yield place, what, "write 'when: build'"
            found.add(place)


def written_by_others(cells: Iterable[Cell], builds: Iterable[Build]) -> list[str]:
    """Note a metric of runs whose file a hook 'after' or a build names, and the run's own command does not.

    What a shell writes cannot be known, so it is a note.
    """
    steps = {build.variant: build.steps for build in builds}
    notes: dict[str, None] = {}
    for cell in cells:
        for rule in cell.metrics:
            if rule.when != "run" or isinstance(rule.source, str):
                continue
            name = rule.source.name
            if _names(name, (cell.command, *cell.before)):
                continue
            for who, when, commands in (
                ("a hook 'after'", "after", cell.after),
                ("the build", "build", steps.get(cell.variant, ())),
            ):
                if _names(name, commands):
                    text = f"the metric {quote(rule.name)} is read from {name} directly after each run, and {who} names that file"
                    notes[f"{text}: if it is written there, add 'when: {when}' to the metric"] = (
                        None
                    )
    return list(notes)


def _names(file: str, commands: Iterable[Command]) -> bool:
    word = re.compile(rf"(?<![\w.-]){re.escape(file)}(?![\w-]|\.\w)")
    return any(word.search(text) for command in commands for text in command.argv)


def stopping_by_builds(cells: Iterable[Cell], decides: Iterable[str]) -> Iterator[Fault]:
    """Find a stopping rule that would look at a number of the builds: more runs change nothing of it."""
    own = {rule.name: rule.when for cell in cells for rule in cell.metrics}
    for name in decides:
        if own.get(name, "build" if name in BUILD_METRICS else "run") == "build":
            what = (
                f"'stop' counts runs, and {quote(name)}, which is judged, is a number of the builds"
            )
            yield ("protocol", "stop"), what, "leave 'stop' out, or judge a metric of the runs"


# --- Metrics that are quantiles of another metric's values in a run: ``latency.p99``.


def quantiles_of(rules: Sequence[MetricRule]) -> Iterator[tuple[str, MetricRule, float]]:
    """Give the quantiles that a cell's metrics ask for: name, rule, share; a declared metric of that name wins."""
    declared = {rule.name for rule in rules}
    for rule in rules:
        for share in rule.quantiles:
            name = quantile_metric(rule.name, share)
            if name not in declared:
                yield name, rule, share


def with_quantiles(rules: Sequence[MetricRule]) -> Iterator[tuple[str, MetricRule]]:
    """Give all metrics of a cell by name: the declared ones and their quantiles, in the same unit."""
    for rule in rules:
        yield rule.name, rule
    yield from ((name, rule) for name, rule, _ in quantiles_of(rules))


NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"  # linear on any text
_UNIT = r"[^\s0-9+.,;:-]\S{0,19}"
WITH_UNIT = rf"{NUMBER}(?: *{_UNIT})?"
_BEHIND = re.compile(r" ?([A-Za-zµμ]{1,12})(?![A-Za-z0-9_-])")  # a number
_LONGEST = 1024  # characters; a double has at most 767 digits that count
_PARTS = re.compile(rf"\s*({NUMBER})\s*({_UNIT})\s*")

_TIMES = {
    **dict.fromkeys(("ns", "nsec"), Fraction(1, 10**9)),
    **dict.fromkeys(("us", "µs", "μs", "usec"), Fraction(1, 10**6)),
    **dict.fromkeys(("ms", "msec"), Fraction(1, 1000)),
    **dict.fromkeys(("s", "sec"), Fraction(1)),
    "min": Fraction(60),
    "h": Fraction(3600),
}
_PREFIXES = "kMGTP"
_BYTES = {
    "B": Fraction(1),
    **{f"{one}B": Fraction(1000 ** (k + 1)) for k, one in enumerate(_PREFIXES)},
    **{f"{one}iB": Fraction(1024 ** (k + 1)) for k, one in enumerate(_PREFIXES.upper())},
}
_FREQUENCIES = {"Hz": Fraction(1)} | {
    f"{one}Hz": Fraction(1000 ** (k + 1)) for k, one in enumerate(_PREFIXES[:3])
}
_SHARES = {"1": Fraction(1), "%": Fraction(1, 100), "‰": Fraction(1, 1000), "ppm": Fraction(1, 10**6)}  # fmt: skip
_FAMILIES: tuple[Mapping[str, Fraction], ...] = (_TIMES, _BYTES, _FREQUENCIES, _SHARES)


class UnitError(ValueError):
    """A text is no number in a unit that is known; it says why."""


def number_in(text: str, unit: str) -> float:
    """Give the number of a text in `unit`; one without a unit of its own is in that already.

    Raises UnitError if it is no finite number, or its unit is not known or measures something else.
    """
    parts = None
    if len(text) > _LONGEST:
        raise UnitError(f"{_shown(text)} is no number: it has {len(text)} characters")
    try:
        number = float(text)
    except ValueError:
        parts = _PARTS.fullmatch(text)
        number = math.nan if parts is None else float(parts[1])
    if not math.isfinite(number):
        raise UnitError(f"{_shown(text)} is not a finite number")
    if parts is None or parts[2] == unit:
        return number
    found = parts[2]
    factor = _factor(found, unit)
    if factor is None:
        raise UnitError(f"{_shown(text)} is in {_shown(found)}, which {_why(found, unit)}")
    if number == 0:
        return 0.0
    try:  # of the digits that stand there: 1.001 kB are 1001 B, and not a little less
        above, below = Decimal(parts[1]).as_integer_ratio()
        return above * factor.numerator / (below * factor.denominator)
    except OverflowError:
        raise UnitError(f"{_shown(text)} is not a finite number in {unit}") from None


def check_behind(text: str, start: int, end: int, unit: str) -> None:
    """Refuse a bare number of a text behind which another unit of what `unit` measures stands."""
    behind = _BEHIND.match(text, end)
    if behind is None or not start < end or _PARTS.fullmatch(text, start, end):
        return
    if _factor(behind[1], unit.partition("/")[0]) not in (None, 1):
        what = f"'{behind[1]}' follows {text[start:end]}, and the metric is in {unit}"
        raise UnitError(f"{what}: put the unit into the regex's group")


@lru_cache(maxsize=64)
def _factor(found: str, unit: str) -> Fraction | None:
    """Give what a number in one unit is multiplied with to be one in another; a rate's divisor is the same."""
    (one, _, per), (other, _, over) = found.partition("/"), unit.partition("/")
    if per != over:
        return None
    family = next((family for family in _FAMILIES if one in family and other in family), None)
    return None if family is None else family[one] / family[other]


def _why(found: str, unit: str) -> str:
    name = found.partition("/")[0]
    if any(name in family for family in _FAMILIES):
        return f"cannot be converted to {unit}"
    known = next((family for family in _FAMILIES if unit.partition("/")[0] in family), None)
    if known is None:
        return f"is not the metric's unit, {unit}"
    rate = unit[unit.find("/") :] if "/" in unit else ""
    return f"is not known; known are {', '.join(f'{name}{rate}' for name in known)}"


def _shown(text: str) -> str:
    return repr(text[:80])[:90]


# --- Logs of HdrHistogram, version 2 compressed, as load generators write them (``.hlog``): what
# was counted, interval by interval.
#
# A histogram counts values in buckets that are no wider than a set part of them; it knows a value
# as its bucket, and gives the bucket's largest as a quantile. Merging adds the counts of buckets,
# so that nothing is lost by it. The format: https://github.com/HdrHistogram/HdrHistogram,
# `HistogramLogWriter` and `AbstractHistogram.encodeIntoByteBuffer`.


_COMPRESSED = (
    0x1C849304  # what a payload begins with; the low byte's high half is the width of words
)
_PLAIN = 0x1C849303
_OLDER = {0x1C849302, 0x1C849309}  # compressed ones of versions 1 and 0
_DOUBLES = {0x0C72124E, 0x0C72124F}
_HEAD = struct.Struct(">iiiiqqd")
_MOST_BYTES = 1 << 26  # of one histogram, unpacked: the finest of 64 bits has less
_MOST_DIGITS = 5
_MOST_BUCKETS = 1 << 20  # that hold values, in a whole log


class DistributionError(ValueError):
    """What a run wrote cannot be read; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HdrHistogram:
    """How many values were counted in each bucket.

    `counts` go by the largest value of a bucket, ascending, and hold no zeros; `middles` is the sum of all values, each
    taken as the middle of its bucket. Values are in the unit of who recorded them.
    """

    counts: Mapping[int, int]
    middles: int

    @property
    def total(self) -> int:
        """How many values were counted."""
        return sum(self.counts.values())

    @property
    def mean(self) -> Fraction:
        """The mean of the values, each taken as the middle of its bucket; there must be some."""
        return Fraction(self.middles, self.total)


def read_log(text: str, tag: str | None = None) -> HdrHistogram:
    """Merge the histograms of all intervals of a log.

    Parameters
    ----------
    text : str
        The log.
    tag : str or None
        Takes the lines of this tag. Without one all lines must have the same, or none.

    Raises
    ------
    DistributionError
        If a line cannot be read, or none holds a value, or lines have several tags and none is named.
    """
    counts: Counter[int] = Counter()
    middles = 0
    tags: dict[str | None, None] = {}
    for number, line in enumerate(text.split("\n"), 1):
        try:
            found = _tag_and_payload(line.strip())
            if found is None:
                continue
            tags[found[0]] = None
            if tag is None or tag == found[0]:
                one = decoded(found[1])
                counts.update(one.counts)
                if len(counts) > _MOST_BUCKETS:
                    raise DistributionError(
                        f"more than {_MOST_BUCKETS} buckets hold values up to here"
                    )
                middles += one.middles
        except DistributionError as error:
            raise DistributionError(f"line {number}: {error}") from None
    if not tags:
        raise DistributionError("it holds no histogram")
    if (tag is None and len(tags) > 1) or (tag is not None and tag not in tags):
        named = ", ".join("none" if one is None else repr(one) for one in tags)
        what = "say which with 'tag'" if tag is None else f"and not {tag!r}"
        raise DistributionError(f"its lines have the tags {named}: {what}")
    if not counts:
        raise DistributionError("its histograms hold no value")
    return HdrHistogram(counts=dict(sorted(counts.items())), middles=middles)


def _tag_and_payload(line: str) -> tuple[str | None, str] | None:
    if not line or line.startswith(("#", '"')):
        return None
    tag = None
    if line.startswith("Tag="):
        tag, _, line = line.removeprefix("Tag=").partition(",")
    parts = line.split(",")
    if len(parts) != 4:
        raise DistributionError("it is no interval: start, length, maximum and histogram")
    return tag, parts[3].strip()


def decoded(payload: str) -> HdrHistogram:
    """Read one histogram: base64 of version 2, compressed.

    Raises DistributionError if it is none.
    """
    try:
        packed = base64.b64decode(payload, validate=True)
        cookie, length = struct.unpack_from(">Ii", packed)
    except (binascii.Error, struct.error, ValueError):
        raise DistributionError("its histogram is cut off, or no base64") from None
    kind = cookie & ~0xF0
    if kind != _COMPRESSED:
        known = {_PLAIN: "is not compressed"} | dict.fromkeys(_OLDER, "is of an older version")
        known |= dict.fromkeys(_DOUBLES, "is one of floating-point values")
        why = known.get(kind, known.get(cookie, "is of another kind"))
        what = f"its histogram {why}: known is version 2, compressed (HISTFAAA...)"
        raise DistributionError(what)
    unpacking = zlib.decompressobj()
    try:
        data = unpacking.decompress(packed[8 : 8 + length], _MOST_BYTES)
    except zlib.error as error:
        raise DistributionError(f"its histogram cannot be unpacked: {error}") from None
    if length < 0 or not unpacking.eof:
        raise DistributionError("its histogram is cut off, or larger than any")
    return _counted(data)


def _counted(data: bytes) -> HdrHistogram:
    try:
        cookie, length, shift, digits, lowest, highest, ratio = _HEAD.unpack_from(data)
    except struct.error:
        raise DistributionError("its histogram is cut off") from None
    body = data[_HEAD.size : _HEAD.size + length]
    if (cookie & ~0xF0) != _PLAIN or not 0 <= length == len(body):
        raise DistributionError("its histogram is damaged: its head does not fit the rest")
    if shift or ratio != 1.0:
        what = "its histogram is shifted or scaled, as those of floating-point values are"
        raise DistributionError(what)
    if not (0 <= digits <= _MOST_DIGITS and 1 <= lowest <= highest // 2):
        what = f"its histogram is damaged: {digits} digits of values from {lowest} to {highest}"
        raise DistributionError(what)
    unit = lowest.bit_length() - 1
    # a bucket of full resolution has as many steps as distinguish the digits asked for
    half = max((2 * 10**digits - 1).bit_length(), 1) - 1
    counts: dict[int, int] = {}
    middles = index = 0
    for number in _numbers(body):
        if number <= 0:
            index += -number
            continue
        octave, step = (index >> half) - 1, index & ((1 << half) - 1)
        octave, step = (0, step) if octave < 0 else (octave, step + (1 << half))
        width = octave + unit
        # looked at before it is shifted: a run of zeros may skip to any bucket
        if step.bit_length() + width > highest.bit_length() + 1 or step << width > 2 * highest:
            raise DistributionError(f"its histogram is damaged: it counts values beyond {highest}")
        if len(counts) == _MOST_BUCKETS:
            what = f"its histogram has more than {_MOST_BUCKETS} buckets with values"
            raise DistributionError(what)
        counts[((step + 1) << width) - 1] = number
        middles += number * ((step << width) + ((1 << width) >> 1))
        index += 1
    return HdrHistogram(counts=counts, middles=middles)


def _numbers(body: bytes) -> Iterator[int]:
    """Give the numbers of a payload: LEB128 of 64 bits in at most 9 bytes, the sign in the lowest bit; never 0."""
    value = shift = 0
    for byte in body:
        last = shift == 56  # the ninth byte holds eight bits
        value |= (byte if last else byte & 0x7F) << shift
        if byte & 0x80 and not last:
            shift += 7
            continue
        if value == 0:
            raise DistributionError("its histogram is damaged: a count of 0 stands for itself")
        yield (value >> 1) ^ -(value & 1)
        value = shift = 0
    if shift:
        raise DistributionError("its histogram is cut off")


# --- The latencies that wrk and wrk2 print: percentiles and their mean, of one run.
#
# Both print a table of percentiles under ``Latency Distribution``; wrk2 may print, below
# it, a finer one in milliseconds, and a
# second table ``Uncorrected``, without what delayed starts added. Times are with a unit, ``m`` for minutes.


# Every part has an end, so that no text of a program takes longer than its length.
_TABLE = re.compile(r"^[ \t]*Latency Distribution([^\n]*)\n((?:[ \t]*[0-9.]{1,24}%[ \t]+\S{1,24}[ \t]*(?:\r?\n|\Z))+)", re.M)  # fmt: skip
_ROW = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,14})?)%[ \t]+(\S+)")
_FINE = re.compile(r"^[ \t]*([0-9.]{1,24})[ \t]+([01]\.[0-9]{1,20})[ \t]+[0-9]{1,18}[ \t]+(?:[0-9.]{1,24}|inf)[ \t]*\r?$", re.M)  # fmt: skip
_MEAN = re.compile(r"^[ \t]*Latency[ \t]+([0-9.]{1,24}[a-z]{1,8})(?=[ \t])", re.M)
_REQUESTS = re.compile(r"^[ \t]*([0-9]{1,18}) requests in ", re.M)
_RECORDED = re.compile(
    r"Total count[ \t]{0,24}=[ \t]{0,24}([0-9]{1,18})\]"
)  # wrk2: without those of its calibration
_FINE_UNIT = "ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentiles:
    """What a table says: the values by their shares; mean and number of requests as far as they stand there."""

    values: Mapping[Fraction, float]
    mean: float | None
    requests: int | None


def read_percentiles(text: str, unit: str) -> Percentiles:
    """Read the table of a run, in `unit`.

    Raises DistributionError if there is none, or more than one, or a time cannot be read.
    """
    tables = [one for one in _TABLE.finditer(text) if "Uncorrected" not in one[1]]
    if len(tables) != 1:
        there = f"{len(tables)} tables" if tables else "no table"
        what = f"it holds {there} 'Latency Distribution' of wrk: it prints one with --latency"
        raise DistributionError(what)
    table = tables[0]
    behind = text[table.end() :]
    uncorrected = behind.find("Latency Distribution")
    fine = behind if uncorrected < 0 else behind[:uncorrected]
    try:
        values = {
            Fraction(share): number_in(f"{value} {_FINE_UNIT}", unit)
            for value, share in _FINE.findall(fine)
        }
        rows = {
            Fraction(share) / 100: _time(value, unit) for share, value in _ROW.findall(table[2])
        }
        mean = _MEAN.search(text)
        average = None if mean is None else _time(mean[1], unit)
    except UnitError as error:
        raise DistributionError(str(error)) from None
    requests = _RECORDED.search(fine) or _REQUESTS.search(text)
    return Percentiles(
        values={**values, **rows},
        mean=average,
        requests=None if requests is None else int(requests[1]),
    )


def _time(text: str, unit: str) -> float:
    minutes = re.fullmatch(r"([0-9.]+)m", text)
    return number_in(f"{minutes[1]}min" if minutes else text, unit)


_NAMED = 8


def not_a_distribution(rule: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Find keys that a metric's rule, as it is written with its defaults, cannot have with `hlog` or `percentiles`.

    Gives the key, what is wrong with it, and the remedy.
    """
    way = next((way for way in ("hlog", "percentiles") if rule[way] is not None), None)
    if way is None:
        return
    try:
        number_in(f"1{rule['hlog'] or 's'}", rule["unit"])
    except UnitError:
        what = f"'{way}' gives times, and the metric is in {rule['unit']}"
        yield "unit", what, "write one of time, such as ms"
    if rule["when"] == "build":
        yield "when", f"'{way}' is what a run wrote, and a build has no runs", "leave 'when' out"
    if rule["warmup_iterations"]:
        what = f"'{way}' does not tell which value came when: it has no iterations"
        yield "warmup_iterations", what, "leave it out, and let the load generator warm up first"


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """What a run wrote of a metric, in the metric's unit.

    `mean` is None where it does not say. `quantiles` holds those that were asked for, None where there are too few values.
    `counts` are the values of a histogram and how often each was counted, by value; None of printed percentiles, which
    cannot be put together with those of other runs: `requests` is how many values are behind them, 0 where nobody says.
    """

    mean: float | None
    quantiles: Mapping[float, float | None]
    counts: tuple[tuple[float, int], ...] | None
    requests: int = 0


def is_distribution(rule: MetricRule) -> bool:
    """Tell whether a run writes how a metric's values are distributed, and not the values."""
    return rule.hlog is not None or rule.percentiles is not None


def read_distribution(rule: MetricRule, text: str) -> Distribution:
    """Read a metric whose rule has `hlog` or `percentiles`.

    Raises DistributionError if the text is damaged, or does not hold what was asked for.
    """
    try:
        if rule.hlog is not None:
            return _of_histogram(read_log(text, rule.tag), rule.hlog, rule)
        return _of_table(read_percentiles(text, rule.unit), rule)
    except UnitError as error:
        raise DistributionError(str(error)) from None


def _of_histogram(found: HdrHistogram, unit: str, rule: MetricRule) -> Distribution:
    # whole numbers of nanoseconds; 0.001 times a whole number is not the double that its text stands for
    step = Fraction(number_in(f"1{unit}", "ns")) / Fraction(number_in(f"1{rule.unit}", "ns"))
    counts = tuple((float(value * step), count) for value, count in found.counts.items())
    return Distribution(
        mean=float(found.mean * step),
        quantiles={share: counted_quantile(counts, share) for share in rule.quantiles},
        counts=counts,
    )


def _of_table(table: Percentiles, rule: MetricRule) -> Distribution:
    quantiles: dict[float, float | None] = {}
    for share in rule.quantiles:
        exact = Fraction(repr(share))
        if table.requests is not None and table.requests < needed(share):
            quantiles[share] = None
        elif exact in table.values:
            quantiles[share] = table.values[exact]
        else:
            there = [f"{float(one * 100):g}" for one in sorted(table.values)]
            more = f" and {len(there) - _NAMED} more" if len(there) > _NAMED else ""
            text = ", ".join(there[:_NAMED]) + more
            raise DistributionError(f"the table has no {float(exact * 100):g} %: it has {text}")
    return Distribution(
        mean=table.mean, quantiles=quantiles, counts=None, requests=table.requests or 0
    )
