"""What a line of a comparison says in words: its answer, or why there is none; the values that a quantile summarises; what is undecided."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from ..methods.multilevel.law import AT_LOOKS, ErrorLaw, sessions_needed
from ..methods.multilevel.lines import TAKEN_BACK
from ..methods.multilevel.page import (
    ROW_REASONS,
    advice_text,
    count_text,
    failed_of,
    few_sessions_text,
    reason_text,
)
from ..methods.multilevel.result import Line, Multilevel
from ..pages import number_format as figures
from ..pages.model import Caution, ShortSentence, plain
from ..pages.number_format import Difference, Word, outcome_word
from ..record.trial_files import OPEN_LOOKS
from ..words import Name

if TYPE_CHECKING:
    from ..data.iterations import QuantileBasis, Why
    from ..data.matrix import PerformanceMatrix
    from ..data.trial import Trial

# --- Which quantiles are judged, in words: those of all values of a session, or those that
# runs have each for itself.


OF_RUNS: Final = "quantiles-of-runs"  # the caution's code
_WHY: Final[dict[Why, str]] = {
    "one-session": "there is one session",
    "printed": "percentiles that were printed cannot be put together",
    "not-kept": "not all values were kept, or their place is not known",
    "own": "the values behind it are not there",
}


def basis_of(each: Iterable[QuantileBasis | None]) -> QuantileBasis | None:
    """Give the basis of several trials that are judged together: that of single runs where one has no other."""
    found = [one for one in each if one is not None]
    return next((one for one in found if one.level == "run"), next(iter(found), None))


def with_numbers(
    basis: QuantileBasis | None, sides: Iterable[tuple[PerformanceMatrix, PerformanceMatrix]]
) -> QuantileBasis | None:
    """Say how many values the sessions of the candidate have, and of the baseline: where these differ most."""
    pairs = [
        (one.values_of[bench], base.values_of[bench])
        for one, base in sides
        for bench in one.values_of.keys() & base.values_of.keys()
    ]
    if basis is None or not pairs:
        return basis
    a, b = max(pairs, key=lambda pair: abs(math.log(pair[0].mean / pair[1].mean)))
    values = (round(a.mean), round(b.mean))
    at = (
        None
        if a.compared_at is None or b.compared_at is None
        else min(a.compared_at, b.compared_at)
    )
    return replace(basis, values=values, compared_at=at)


def quantile_sentences(metric: str, basis: QuantileBasis | None) -> tuple[str, ...]:
    """Say which values a metric is the quantile of; nothing of another metric."""
    if basis is None:
        return ()
    name = f"{Name(metric):.24}"
    if basis.level == "session":
        return (f"{name} is that of all values of a session together",)
    text = f"{name} is each run's own, and their geometric mean is judged"
    return (text,) if basis.why is None else (f"{text}:", _WHY[basis.why])


def quantile_cautions(trial: Trial, metric: str) -> Iterator[Caution]:
    """Say that the quantiles of runs are judged, which are not those of the session."""
    basis = trial.quantile_basis(metric)
    if basis is None or basis.level == "session" or basis.why is None:
        return
    text = (
        f"{metric} is each run's own, and the geometric mean of runs is judged, not the quantile of all values of a session: "
        f"{_WHY[basis.why]}"
    )
    short = ShortSentence.of(plain(f"judged is the mean of each run's own {metric}"))
    yield Caution(OF_RUNS, text, short=short)


# --- A line.

_NO_BREAK = "\N{NO-BREAK SPACE}"
REASONS = ROW_REASONS | {
    "no-steady-state": "too many runs reach no steady state",
    "unequal-values": "one side has more than twice as many values as the other",
}


def short_name(name: str) -> str:
    """Give a variant's name as a sentence says it."""
    return f"{Name(name):.28}"


def with_whole_interval(text: str) -> str:
    """Keep the interval at a sentence's end on one line."""
    head, mark, tail = text.rpartition(" (")
    if not mark or not tail.endswith(")"):
        return text
    return f"{head}{mark}{tail.replace(' ', _NO_BREAK)}"


def counted_sentence(
    line: Line, diff: Difference, names: tuple[str, str], word: Word, where: str
) -> str:
    """Say what is counted in its unit, where a ratio says less or nothing; else ""."""
    (ours, base), low, high = names, line.difference_low, line.difference_high
    if line.identity is not None:
        one = line.identity
        a, b = (count_text(value, diff.unit) for value in (one.candidate, one.baseline))
        runs = f"in all {one.runs} runs"
        if one.candidate == one.baseline:
            return f"{ours} {diff.same()} as {base}{where}: {a} {runs}"
        side = "more" if one.candidate > one.baseline else "less"
        side += ", within the margin" * (word == "equivalent")
        each = f" of {figures.counted(one.sessions, 'session')} each"
        return f"{ours} {diff.verb} {a}, {base} {b}{diff.label}{where}, {runs}{each}: {side}"
    if low is None or high is None or line.low is not None:
        return ""
    sides = [
        f"{count_text(float(f'{abs(end):.3g}'), diff.unit)} {'less' if end < 0 else 'more'}"
        for end in (low, high)
    ]
    if word == "undecided":
        head = f"no difference found between {ours} and {base}{where}"
        return f"{head}: if there is one, it lies between {' and '.join(sides)}{diff.label}"
    return f"{ours} {diff.verb} {' to '.join(sides)}{diff.label} than {base}{where}"


def unanswered(result: Multilevel, line: Line | None, name: str) -> str:
    """Say why nothing can be said of a candidate, whatever its interval is; "" where something can."""
    if result.design == "confounded":
        return f"{result.outermost} and variant cannot be separated"
    if line is None or line.outcome != "undecided":
        return ""
    if any(one.code == "one-build" for one in result.cautions):
        return "each was built once, and one value has no interval"
    if not line.of_suite:
        if line.reason in ("fails-more", "fails-always"):
            (failed, runs), (others, of) = failed_of(line)
            return f"{failed} of {runs} runs of {name} failed, {others} of {of} of the other"
        found = few_sessions_text(line, result.unit, result.outermost) or REASONS.get(
            line.reason or "", ""
        )
        if found or line.difference_low is not None:
            return found
    elif taken := [one.reason for one in result.benchmarks if one.reason in TAKEN_BACK]:
        return REASONS[taken[0]]
    elif line.cut and (line.cut.known or not (line.low or 0) <= 1 <= (line.high or 2)):
        return REASONS["cut-off"]
    if line.low is None or line.high is None:
        flat = next((one for one in result.benchmarks if one.reason == "no-spread"), None)
        if flat is None:
            return f"there are too few {result.outermost}s for an interval"
        few = few_sessions_text(flat, result.unit, result.outermost)
        return f"{flat.name}: {few}" if few else REASONS["no-spread"]
    if line.low <= 1 <= line.high:
        return ""
    fails = f"runs of {name} failed where those of the other did not"
    return REASONS["depends"] if result.withheld else fails


# ---- in a table


def word(line: Line, unit: str) -> str:
    """Say what the candidate is: of a metric that is neither time nor rate, better or worse."""
    return outcome_word(line.outcome, timed=figures.timed(unit))


def corrected(line: Line) -> bool:
    """Tell whether only the number of benchmarks makes a line undecided."""
    return line.reason is None and line.outcome == "undecided" != line.word_of_interval


def family(*results: Multilevel) -> tuple[int, str]:
    """Give how much words are corrected for, and what it is: benchmarks, or of several candidates comparisons."""
    found = ((len(x.benchmarks) * x.candidates, x.candidates) for x in results)
    count, candidates = max(found, default=(0, 1))
    return count, "benchmark" if candidates == 1 else "comparison"


def advice(line: Line, result: Multilevel) -> str:
    """Say why a line is undecided, or what would settle it."""
    words = advice_text(line, result.outermost)
    if corrected(line):
        words = f"after correction for {figures.counted(*family(result))}"
    return "; ".join(text for text in (words, reason_text(line)) if text)


def suite_lines(result: Multilevel) -> tuple[tuple[str, Line], ...]:
    """Name the lines of the suite that are there."""
    names = (f"these {result.together}", "others like them")
    lines = zip(names, (result.these, result.similar), strict=True)
    return tuple((name, line) for name, line in lines if line is not None)


# --- What is undecided, and what would decide it.


class OpenLine(NamedTuple):
    """An undecided line: its name, and how many more sessions would decide it, None beyond 1,000 or if not `known`."""

    name: str
    sessions: int | None
    known: bool = True


def open_lines(result: Multilevel) -> Iterator[OpenLine]:
    """Give the undecided lines of a candidate that more sessions might decide."""
    if result.design == "confounded":
        return
    for line in result.lines:
        if line.outcome != "undecided":
            continue
        counted = line.law == "identity" and line.more_sessions is not None
        if not counted and (line.speedup is None or line.reason is not None):
            continue
        if result.look.rule == "repeated" and not line.of_suite:
            yield _at_a_later_look(line, result)
            continue
        name = f"these {result.together}" if line is result.these else line.name
        more = line.more_sessions
        if more is None:
            yield OpenLine(name, None, known=False)
        else:
            yield OpenLine(name, more.worthwhile)


def _at_a_later_look(line: Line, result: Multilevel) -> OpenLine:
    """Give how many more sessions would decide a command that is looked at again and again: at one of the looks."""
    law, most = ErrorLaw(alpha=result.look.alpha), OPEN_LOOKS[-1] - line.sessions
    margin, more = math.log1p(result.margin), None
    if most > 0:
        more = sessions_needed(line, law, margin, limit=most, chance=AT_LOOKS)
    if more is not None:
        last = line.sessions + more
        more = next((n for n in OPEN_LOOKS if n >= last), last) - line.sessions
    return OpenLine(result.candidate, more)
