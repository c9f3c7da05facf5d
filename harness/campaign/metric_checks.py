"""Numbers that a program prints with their unit, such as ``980us`` or ``95 %``, in the unit that a metric is declared in.

Prefixes of bytes are powers of 1000, and of 1024 with an ``i``. ``KB`` is either, depending on who writes it, and is not known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from analysis.record.manifest import quantile_metric
from analysis.record.trial_files import BUILD_METRICS
from analysis.record.yaml_reader import Location, quote

if TYPE_CHECKING:
    from .model import Build, Cell, Command, MetricRule

# --- What a campaign says of metrics that only its builds and its protocol show to be wrong.


# where a metric stands: by benchmark, variant and name
Places = Mapping[tuple[str, str, str], Location]


Told = tuple[Location, str, str]  # what is wrong at a key, and the remedy


def built_files(cells: Iterable[Cell], builds: Sequence[Build], places: Places) -> Iterator[Told]:
    """Find a file that a build makes in the place of one that each run writes anew."""
    made = {build.variant: frozenset(build.artifacts) for build in builds}
    told = set()
    for cell in cells:
        for rule in cell.metrics:
            place = places[cell.benchmark, cell.variant, rule.name]
            if rule.when == "build" or rule.source not in made.get(cell.variant, ()):
                continue
            if place not in told:
                what = f"the metric {quote(rule.name)} is read from a file that the build makes ('artifacts'), and that would be removed before each run"
                yield place, what, "write 'when: build'"
            told.add(place)


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


def stopping_by_builds(cells: Iterable[Cell], decides: Iterable[str]) -> Iterator[Told]:
    """Find a stopping rule that would look at a number of the builds: more runs change nothing of it."""
    own = {rule.name: rule.when for cell in cells for rule in cell.metrics}
    for name in decides:
        if own.get(name, "build" if name in BUILD_METRICS else "run") == "build":
            what = (
                f"'stop' counts runs, and {quote(name)}, which is judged, is a number of the builds"
            )
            fix = "leave 'stop' out, or judge a metric of the runs"
            yield ("protocol", "stop"), what, fix


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

    Raises
    ------
    UnitError
        If it is no finite number, or its unit is not known or measures something else.
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
