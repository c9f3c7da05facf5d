"""The answer in one sentence, and the command that follows it."""

from __future__ import annotations

import math
from pathlib import Path

from ..pages.model import Next
from ..pages.short_sentence import ShortSentence
from ..record.profiles import BESIDE
from ..words import WIDTH
from .names import UNKNOWN
from .result import FEWEST_SAMPLES, FEWEST_SESSIONS, Row, Why

_NAMELESS = "code without symbols"
_MOST = 48  # sessions that are proposed
_TWO_LINES = 2 * WIDTH - 10  # letters; the second one is indented


def milliseconds(value: float, digits: int = 2) -> str:
    """Write milliseconds with so many significant digits, and no digit of a whole number cut."""
    if value == 0:
        return "0"
    rounded = abs(float(f"{value:.{digits - 1}e}"))
    places = digits - 1 - math.floor(math.log10(rounded))
    return f"{value:.{min(max(places, 0), 6)}f}"


def signed(value: float, digits: int = 2) -> str:
    """Write a difference in milliseconds with its sign: ``+6.6``, ``-2.1``."""
    text = milliseconds(value, digits)
    return f"+{text}" if value > 0 else text


def resolved(told: Why) -> bool:
    """Tell whether the total differs in these sessions."""
    p = told.total.pvalue
    return p is not None and p <= 1 - told.confidence


def sentence_of(told: Why, longest: int = _TWO_LINES) -> str:
    """Say the answer in one sentence; names are shortened where it would be longer than so many letters."""
    total = told.total
    ends = "" if total.low_ms is None else f" ({_between(total)} ms)"
    if told.withheld == "total-not-resolved":
        pattern = f"{{}}: no difference of CPU time appeared in these sessions{ends}"
        return ShortSentence.of(pattern, told.benchmark).fitted(longest=longest)
    if resolved(told):
        side = "more" if total.difference_ms > 0 else "less"
        amount = f"{milliseconds(abs(total.difference_ms))} ms {side} CPU time"
        pattern, names = f"{{}}: {{}} takes {amount} than {{}}", [told.variant, told.baseline]
    else:
        pattern, names = f"{{}}: a difference of CPU time is not resolved{ends}", []
    rest = {
        None: "; no function can be named",
        "few-sessions": "; too few sessions to name functions",
        "few-samples": "; too few samples to name functions",
    }[told.withheld]
    if told.named:
        first, others = told.named[0], len(told.named) - 1
        rest = f"; {{}} {signed(first.difference_ms)} ms" + (f", {others} more" if others else "")
        names.append(_NAMELESS if first.function == UNKNOWN else first.function)
    return ShortSentence.of(pattern + rest, told.benchmark, *names).fitted(longest=longest)


def _between(row: Row) -> str:
    return f"{signed(row.low_ms or 0.0)} to {signed(row.high_ms or 0.0)}"


def source_of(told: Why) -> str:
    """Give the path of the trial that was explained."""
    beside = Path(told.path).parent
    return str(beside.with_name(beside.name.removesuffix(BESIDE)))


def next_of(told: Why) -> Next | None:
    """Give the command that is worth its time now; None where more of the same would hardly help."""
    source = source_of(told)
    head = ("fairtrial", "why", f"{source}:{told.variant}", "--benchmark", told.benchmark)
    more = max(2 * told.sessions, FEWEST_SESSIONS)
    if told.withheld == "few-samples":
        seen = max(min(told.samples_baseline, told.samples_candidate), 1)
        more = max(math.ceil(1.2 * told.sessions * FEWEST_SAMPLES / seen), FEWEST_SESSIONS)
    if told.withheld is not None or not told.named:
        if more > _MOST:
            return None
        chains = () if told.chains is None else ("--chains", told.chains)
        return Next((*head, *chains, "--sessions", str(more)), "more sessions, narrower intervals")
    if told.gone and told.new:
        pair = "=".join(_function(names[0]) for names in (told.gone, told.new))
        return Next((*head, "--stored", "--rename", pair), "if these two are one function")
    return Next(("fairtrial", "report", source, "-o", "report.html"), "a page with these rows")


def _function(name: str) -> str:
    return name.rpartition(" (")[0]
