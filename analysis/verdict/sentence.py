"""A verdict in one sentence: the answer, in per cent of what the baseline takes, with its interval.

Screens, the report's first line and JSON say this sentence, and no other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

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
from ..pages.difference import Difference
from ..pages.model import Caution, ShortSentence, plain
from ..pages.number_format import Word, outcome_word
from ..words import WIDTH, shorten, shortened, shown

if TYPE_CHECKING:
    from ..data.iterations import QuantileBasis, Why
    from ..data.matrix import PerformanceMatrix
    from ..data.runs import Unit
    from ..data.trial import Trial
    from ..methods.multilevel.host_effects import HostLevel
    from .result import CandidateVerdict, Verdict

# --- Which quantiles are judged, in words: those of all values of a session, or those that
# runs have each for itself.


OF_RUNS: Final = "quantiles-of-runs"  # the caution's code
_SHORT_NAME = 24  # columns
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
    basis: QuantileBasis | None, sides: Iterable[PerformanceMatrix | None], baseline: str
) -> QuantileBasis | None:
    """Say how many values the sessions of the candidate have, and of the baseline: where these differ most."""
    each = [side for side in sides if side is not None]
    pairs = [
        (one.values_of[bench], base.values_of[bench])
        for base in each
        if base.name == baseline
        for one in each
        if one.name != baseline
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
    name = shorten(shown(metric), _SHORT_NAME)
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


# --- The heading of a verdict: what was measured, which metric, how much, and what counts as the same.


_NAME = 28  # columns of a name
_DESIGNS: dict[Unit, dict[str, str]] = {
    "session": {
        "paired": "paired",
        "separate": "sides measured in separate sessions",
        "one session, blocks": "within one session",
        "one session, runs": "within one session",
        "confounded": "one session a side",
    },
    "host": {
        "paired": "paired",
        "separate": "sides measured apart",
        "one session, blocks": "on one host",
        "one session, runs": "on one host",
        "confounded": "one host a side",
    },
}


def heading(verdict: Verdict) -> str:
    """Say what was measured, by which metric, how often, and what counts as the same."""
    metric = "wall time" if verdict.data.metric == "wall" else short_name(verdict.data.metric)
    metric += ", higher is better" * (verdict.data.better == "higher")
    margin = f"same within {100 * verdict.question.margin:g} %" if verdict.candidates else ""
    parts = [_measured(verdict), metric, _amount(verdict), margin, _look(verdict)]
    if len(" · ".join(filter(None, parts))) > WIDTH:  # on one line, if possible
        parts.remove(margin)
    return " · ".join(filter(None, parts))


def _look(verdict: Verdict) -> str:
    """Say which look this is, where a trial grows or looks are planned."""
    if verdict.look.always_valid:
        return "valid at every look"
    if verdict.look.rule == "planned" and verdict.look.count > 1:
        return f"one of {verdict.look.count} looks"
    return f"look {verdict.look.count}" if verdict.look.rule == "growing" else ""


def _measured(verdict: Verdict) -> str:
    """Name what was measured: a campaign on its host, or two sides."""
    if verdict.data.campaign is None:
        names = [*(one.variant for one in verdict.candidates[:1]), verdict.data.baseline]
        return " against ".join(map(short_name, names))
    campaign = short_name(verdict.data.campaign)
    if verdict.hosts:
        judged = [one.host for one in verdict.hosts if one.judged]
        of = f"{len(judged)} of " if len(judged) < len(verdict.hosts) else ""
        if not of and any(one.hosts is not None for one in verdict.candidates):
            return campaign  # how many there are is said with their sessions
        return f"{campaign} on {of}{figures.counted(len(verdict.hosts), 'host')}"
    if verdict.data.host is None:
        return campaign
    # files from which a trial was imported may name none
    name = "an unknown host" if verdict.data.host == "unknown" else short_name(verdict.data.host)
    return f"{campaign} on {name}"


def _amount(verdict: Verdict) -> str:
    """Say how many sessions and runs there are, and how the sides go together."""
    levels = [one.hosts for one in verdict.candidates if one.hosts is not None]
    if levels:
        return amount_on_hosts(levels[0], verdict.counts.session_runs)
    amount = figures.counted(verdict.counts.sessions, verdict.data.outermost)
    if verdict.quantile is not None and verdict.quantile.level == "session":
        pass  # one value each, of however many runs
    elif verdict.counts.session_runs is None:
        amount = f"{verdict.counts.runs} runs"
    else:
        amount += f" x {_counted(verdict.counts.session_runs, 'run')}"
    designs = dict.fromkeys(_DESIGNS[one.outermost][one.design] for one in verdict.compared)
    return ", ".join([amount, *designs])


def amount_on_hosts(level: HostLevel, session_runs: tuple[int, int] | None) -> str:
    """Say how much was measured on several hosts: ``4 hosts x 5 sessions x 10 runs``."""
    parts = [_counted((len(level.hosts),) * 2, "host"), _counted(level.sessions_each, "session")]
    if session_runs is not None:
        parts.append(_counted(session_runs, "run"))
    return " x ".join(parts)


def _counted(ends: tuple[int, int], noun: str) -> str:
    low, high = ends
    return f"{low if low == high else f'{low} to {high}'} {noun}{'s' * (high != 1)}"


NameOf = Callable[[str], str]
_NO_BREAK = "\N{NO-BREAK SPACE}"
_LISTED = 3  # names of those between which nothing is decided
_UNNAMED = "command"  # the only benchmark of commands that were compared: nobody named it
REASONS = ROW_REASONS | {
    "below-resolution": "the runs are below the clock's resolution",
    "no-steady-state": "too many runs reach no steady state",
    "unequal-values": "one side has more than twice as many values as the other",
}


def short_name(name: str) -> str:
    """Give a variant's name as a sentence says it."""
    return shorten(shown(name), _NAME)


def leading(result: Multilevel | HostLevel) -> Line | None:
    """Give the line that answers for a candidate: the suite's, or that of its only benchmark."""
    if result.these is not None:
        return result.these
    known = [line for line in result.benchmarks if line.speedup is not None]
    if not known and len(result.benchmarks) == 1:
        return result.benchmarks[0]
    return known[0] if len(known) == 1 else None


def answering(one: CandidateVerdict) -> Line | None:
    """Give the line that a candidate's sentence is about: of a fleet, that of its very hosts."""
    result = one.hosts or one.multilevel
    return None if result is None else leading(result)


def difference(line: Line, verdict: Verdict) -> Difference:
    """Give what a line of a verdict says, in per cent of the baseline."""
    data = verdict.data
    return Difference.of(line, metric=data.metric, unit=data.unit, better=data.better)


def sentence_of(verdict: Verdict, named: NameOf | None = None) -> str:
    """Say the answer in one sentence, without a full stop.

    Parameters
    ----------
    verdict : Verdict
        Of a trial, a fleet or two sides.
    named : function, optional
        How a variant is called.
    """
    if named is None:
        sides = [verdict.data.baseline, *(one.variant for one in verdict.candidates)]
        named = shortened(sides, _NAME).__getitem__
    if not verdict.candidates:
        return _alone(verdict, named)
    known = [one for one in verdict.candidates if one.multilevel is not None]
    lost = [named(one.variant) for one in verdict.candidates if one.multilevel is None]
    base = named(verdict.data.baseline)
    if not known:
        return f"nothing could be compared with {base}"
    found = (
        _of_one(known[0], verdict, named) if len(known) == 1 else _of_several(known, verdict, named)
    )
    if not lost:
        return found
    return f"{found}; nothing could be compared of {figures.listed(lost, _LISTED)}"


def with_whole_interval(text: str) -> str:
    """Keep the interval at a sentence's end on one line."""
    head, mark, tail = text.rpartition(" (")
    if not mark or not tail.endswith(")"):
        return text
    return f"{head}{mark}{tail.replace(' ', _NO_BREAK)}"


def _alone(verdict: Verdict, named: NameOf) -> str:
    """Say what the only variant takes."""
    ours = named(verdict.data.baseline)
    if len(verdict.alone) != 1:
        return f"{ours} was measured alone: there is nothing to compare"
    (only,) = verdict.alone
    data = verdict.data
    verb = Difference(None, None, None, data.metric, data.unit, data.better).verb
    text = f"{ours} {verb} {figures.quantity(only.mean, data.unit)}"
    if only.low is None or only.high is None:
        return f"{text}: there is nothing to compare"
    ends = (figures.quantity(end, data.unit) for end in (only.low, only.high))
    return f"{text} ({' to '.join(ends)}): there is nothing to compare"


def where_text(one: CandidateVerdict) -> str:
    """Say over what an answer holds: `` over these 8 benchmarks``, `` on text``."""
    result, line = one.multilevel, answering(one)
    if result is None:
        return ""
    parts = []
    if line is None or line.of_suite:
        lacking = 0 if one.hosts is None else len(one.hosts.left_out)
        parts.append(f" over these {len(result.benchmarks) - lacking} benchmarks")
    elif line.name != _UNNAMED:
        parts.append(f" on {short_name(line.name)}")
    if one.hosts is not None:
        comma = "," if parts and parts[0].startswith(" on ") else ""
        parts.append(f"{comma} on these {len(one.hosts.hosts)} hosts")
    return "".join(parts)


def _of_one(one: CandidateVerdict, verdict: Verdict, named: NameOf) -> str:
    result, line = one.multilevel, answering(one)
    assert result is not None  # who calls has looked
    ours, base, where = named(one.variant), named(verdict.data.baseline), where_text(one)
    why = unanswered(result, line, ours)
    if line is None or why:
        return f"no answer for {ours} against {base}{where}: {why or 'there is no common mean'}"
    found = difference(line, verdict)
    if counted := counted_sentence(line, found, (ours, base), line.outcome, where):
        return counted
    answer = found.answer(line.outcome, ours, base, margin=verdict.question.margin, where=where)
    if line.outcome == "undecided" or not (interval := found.interval()):
        return answer
    return f"{answer} ({interval})"


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
        found = few_sessions_text(line, result.unit) or REASONS.get(line.reason or "", "")
        if found or line.difference_low is not None:
            return found
    elif taken := [one.reason for one in result.benchmarks if one.reason in TAKEN_BACK]:
        return REASONS[taken[0]]
    elif line.cut and (line.cut.known or not (line.low or 0) <= 1 <= (line.high or 2)):
        return REASONS["cut-off"]
    if line.low is None or line.high is None:
        flat = any(one.reason == "no-spread" for one in result.benchmarks)
        few = f"there are too few {result.outermost}s for an interval"
        return REASONS["no-spread"] if flat else few
    if line.low <= 1 <= line.high:
        return ""
    fails = f"runs of {name} failed where those of the other did not"
    return REASONS["depends"] if result.withheld else fails


# ---- one line in a table


def word(line: Line, unit: str) -> str:
    """Say what the candidate is: of a metric that is neither time nor rate, better or worse."""
    found = outcome_word(line.outcome, timed=figures.timed(unit))
    return "the same" if found == "equivalent" else found


def corrected(line: Line) -> bool:
    """Tell whether only the number of benchmarks makes a line undecided."""
    return line.reason is None and line.outcome == "undecided" != line.word_of_interval


def family(result: Multilevel) -> str:
    """Count what words are corrected for: benchmarks, or their comparisons with several candidates."""
    count = len(result.benchmarks)
    if result.candidates == 1:
        return figures.counted(count, "benchmark")
    return figures.counted(count * result.candidates, "comparison")


def advice(line: Line, result: Multilevel) -> str:
    """Say why a line is undecided, or what would settle it."""
    words = advice_text(line, result.outermost)
    if corrected(line):
        words = f"after correction for {family(result)}"
    return "; ".join(text for text in (words, reason_text(line)) if text)


def suite_lines(result: Multilevel) -> tuple[tuple[str, Line], ...]:
    """Name the lines of the suite that are there."""
    names = (f"these {len(result.benchmarks)}", "others like them")
    lines = zip(names, (result.these, result.similar), strict=True)
    return tuple((name, line) for name, line in lines if line is not None)


# ---- several candidates


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A variant with the ends of its speedup over the baseline, which itself has 1; `alike`: it equals the baseline."""

    variant: str
    low: float
    high: float
    alike: bool = True
    one: CandidateVerdict | None = None


def _of_several(known: Sequence[CandidateVerdict], verdict: Verdict, named: NameOf) -> str:
    entries = [_Ranked(verdict.data.baseline, 1.0, 1.0), *(_ranked(one, named) for one in known)]
    # not behind any other, by intervals that do not meet
    first = [e for e in entries if not any(other.low > e.high for other in entries)]
    where, count = where_text(known[0]), len(entries)
    data = verdict.data
    timed = Difference(None, None, None, data.metric, data.unit, data.better).timed
    place = "fastest" if timed else "best"
    label = "" if timed else f" by {shorten(shown(data.metric), _NAME)}"
    names = [named(e.variant) for e in first]
    if len(first) == 1:
        return _leader(first[0], known, verdict, named, f"is the {place} of {count}")
    alike = all(e.alike for e in first) or len({end for e in first for end in (e.low, e.high)}) == 1
    within = f"{100 * verdict.question.margin:g} %"
    if len(first) < count:
        last, why = (
            ("and", f"the same within {within}") if alike else ("or", "undecided between them")
        )
        return f"{place} of {count}{where}{label}: {_series(names, last)} ({why})"
    if alike:
        others = _series(names[1:], "and")
        return f"{names[0]} and {others} do not differ{where}{label} by more than {within}"
    return f"no difference found between {_series(names, 'and')}{where}{label}"


def _ranked(one: CandidateVerdict, named: NameOf) -> _Ranked:
    line, low, high = answering(one), 0.0, math.inf
    result, word = one.multilevel, "undecided"
    if result and line and not unanswered(result, line, named(one.variant)):
        word = line.outcome
        if line.low and line.high:
            low = 0.0 if line.cut and line.cut.withholds("faster") else line.low
            high = math.inf if line.cut and line.cut.withholds("slower") else line.high
        elif line.speedup and line.law == "identity":
            low = high = line.speedup
        elif word != "undecided":  # by how much is unknown
            low = {"faster": math.nextafter(1.0, 2.0), "equivalent": 1.0}.get(word, low)
            high = {"slower": math.nextafter(1.0, 0.0), "equivalent": 1.0}.get(word, high)
    if word == "equivalent":
        low, high = min(low, 1.0), max(high, 1.0)
    return _Ranked(one.variant, low, high, word == "equivalent", one)


def _leader(
    first: _Ranked, known: Sequence[CandidateVerdict], verdict: Verdict, named: NameOf, place: str
) -> str:
    """Say who is before all others, and by how much: before the baseline, or as the baseline before the next."""
    base = named(verdict.data.baseline)
    # of the baseline the nearest: each is behind it
    one = first.one or max(known, key=lambda one: getattr(answering(one), "speedup", None) or 0.0)
    line, ours, where = answering(one), named(one.variant), where_text(one)
    assert line is not None  # it has an interval, or equals the baseline in no run
    found = difference(line, verdict)
    if counted := counted_sentence(line, found, (ours, base), line.outcome, where):
        return f"{named(first.variant)} {place}: {counted}"
    if first.one is None:
        return f"{base} {place}{where}: {ours} {found.clause()}"
    return f"{ours} {place}: {found.clause(f'{base}{where}').partition(' ')[2]}"


def _series(names: Sequence[str], last: str) -> str:
    if len(names) > _LISTED + 1:
        return figures.listed(names, _LISTED, last=f" {last}")
    return f"{', '.join(names[:-1])} {last} {names[-1]}"
