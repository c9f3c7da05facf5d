"""The sound verdict in words: numbers and advice of each line, and what they rest on."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...pages import number_format as figures
from ...pages.model import (
    Caution,
    Cell,
    Page,
    ShortSentence,
    Value,
    page,
    plain,
    section,
    table_of,
)
from ...pages.number_format import Compared, outcome_word
from ...words import Name, apart
from .failures import fisher
from .lines import UNEQUAL_VALUES, WIDEST, LineParts, is_printed, spread_of, times_as_many
from .result import MOST_SHOWN, Line, Multilevel
from .values import SessionDependence, speeds_of

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...data.runs import Unit
    from ...stats.samples import Flags
    from .design import Layout, Tables
    from .result import LookRisk, LooksRule


def failed_text(line: Line, *, short: bool = False) -> str:
    """Say how many runs of both sides failed, with p; empty where none did.

    Such as ``failed 14 of 48, baseline 0 of 48; p .001, adjusted .009``.
    """
    if not line.failed_candidate and not line.failed_baseline:
        return ""
    ours, theirs = (f"{failed} of {runs}" for failed, runs in failed_of(line))
    text = f"failed {ours}, baseline {theirs}"
    p, place = line.pvalue_fails, line.pvalue_fails_adjusted
    if short or p is None or place is None:
        return text
    return f"{text}; p {_short(p)}, adjusted {_short(place)}"


def failed_of(line: Line) -> tuple[tuple[int, int], tuple[int, int]]:
    """Give of the candidate, and of the baseline, how many runs failed, of how many."""
    ours, theirs = line.failed_candidate, line.failed_baseline
    return (ours, ours + line.runs_candidate), (theirs, theirs + line.runs_baseline)


def _short(p: float) -> str:
    return figures.significant(p, 2).removeprefix("0") if p < 0.995 else "1"


_BEYOND = "> 1,000"  # of a number that nobody would go on to
ROW_REASONS = {
    "below-resolution": "all runs of a session are 0",
    "no-spread": "sessions do not differ, and the clock's step is unknown",
    "depends": "sessions resemble the ones before them",
    "no-steady-state": "runs without a steady state",
    "unequal-values": "one side has more than twice as many values",
    "cut-off": "runs that failed, or were stopped at their limit, could overturn it",
}
_MANY = 4  # looks from which on a trial that grows had better have bounds for every look


def level_text(risk: float) -> str:
    """Write the confidence of the intervals at a look of this risk, such as ``99.17 %``."""
    return f"{100.0 * (1.0 - risk):.4g} %"


def looks_text(look: LookRisk) -> str:
    """Say which look this is and what it risks; empty of a single one."""
    if look.rule == "single":
        return ""
    if look.always_valid:
        return "intervals hold however often one looks (a confidence sequence)"
    here, total = _percent(look.alpha), f"all looks together at most {_percent(look.total)}"
    if look.rule == "repeated":
        return f"look {look.count} by a plan: judged at {here}; {total}"
    if look.rule == "planned" and look.count == 1 and look.alpha == look.total:
        return f"one look was planned: judged at {here}"
    if look.rule == "planned" and look.count == 1:
        return f"all candidates share the risk: each is judged at {here}"
    if look.rule == "planned":
        each = f"{look.count} looks are planned, each judged at {here}"
        return f"{each} (alpha/{look.count}); {total}"
    share = f"alpha/{look.count * (look.count + 1)}"
    text = f"look {look.count} of a growing trial: judged at {here} ({share}); {total}"
    if look.count < _MANY:
        return text
    return f"{text}. For many looks plan --always-valid before the first: narrower from look 5 on"


def _percent(risk: float) -> str:
    """Write a risk, such as ``7.5 %`` and ``.42 %``."""
    return f"{100 * risk:.2g} %".removeprefix("0")


def speedup_text(line: Compared) -> str:
    """Write the speedup with as many decimals as its interval deserves."""
    ratio = line.speedup
    return "-" if ratio is None else figures.ratio_within(ratio, line.low, line.high)


def interval_text(line: Compared) -> str:
    """Write the interval, such as ``[1.02, 1.05]``; empty where there is none."""
    return "" if line.low is None or line.high is None else figures.ends(line.low, line.high)


def reason_text(line: Line) -> str:
    """Say why a benchmark is undecided whatever its interval is, and how many runs failed.

    Empty without either, and where sides are confounded: that is said of all of them.
    """
    if line.fails_proven:
        return f"gate stops: {failed_text(line)}"
    if line.reason == "fails-always":
        return f"no run succeeds: {failed_text(line)}"
    texts = few_sessions_text(line) or ROW_REASONS.get(line.reason or "", ""), failed_text(line)
    return "; ".join(text for text in texts if text)


def advice_text(line: Line, noun: Unit) -> str:
    """Write how much more would decide, such as ``about 4 more sessions (3 to 9)``; "" where nothing is advised."""
    more = line.more_sessions
    if line.outcome != "undecided" or more is None:
        return ""
    if more.worthwhile is None:
        return f"{_BEYOND} more {noun}s: measure differently"
    text = needed_text(more.worthwhile, noun)
    if more.high is not None and more.worthwhile > more.high:
        return text  # with so few sessions the chance is one of unlikely spreads
    counts = (more.low, more.high)
    ends = (_BEYOND if end is None or end > MOST_SHOWN else str(end) for end in counts)
    return f"{text} ({' to '.join(ends)})"


def chance_heading(lines: Iterable[Line]) -> str:
    """Say above short advice how likely it decides; empty where no number is advised."""
    found = any(one.more_sessions and one.more_sessions.worthwhile is not None for one in lines)
    return "would decide in 3 of 4 cases at least" if found else ""


def needed_text(count: int, noun: Unit) -> str:
    """Write a number of further sessions, or hosts, such as ``about 4 more sessions``."""
    return f"about {figures.counted(count, f'more {noun}')}"


def screen(result: Multilevel) -> Page:
    """Set the word over the suite, then a line for each benchmark."""
    ours, theirs = apart((result.candidate, result.baseline), 20)
    known = [line for line in result.benchmarks if line.speedup is not None]
    rows: list[tuple[str, Line]] = [(Name(line.name), line) for line in result.benchmarks]
    suite = ((f"these {result.together}", result.these), ("others like them", result.similar))
    rows += [(name, line) for name, line in suite if line is not None]
    line = result.these or next(iter(known), None)
    number = "" if line is None else f", {speedup_text(line)} {interval_text(line)}".rstrip()
    basis = f"{figures.counted(result.sessions, result.outermost)}, {result.design}"
    answer = f"{ours} against {theirs}: {outcome_word(result.word, timed=result.timed)}{number}"
    table = table_of(
        "benchmarks",
        rows,
        ("<", lambda row: row[0]),
        (Name(result.baseline), lambda row: mean_cell(row[1], 1, result.unit)),
        (Name(result.candidate), lambda row: mean_cell(row[1], 0, result.unit)),
        ("speedup", lambda row: Value(speedup_text(row[1]), row[1].speedup)),
        (f"<{level_text(result.look.alpha)}", lambda row: interval_text(row[1])),
        ("<", lambda row: outcome_word(row[1].outcome, timed=result.timed)),
        ("<", lambda row: _remark(result, row[1])),
    )
    notes = [text for text in (result.occasions, looks_text(result.look)) if text]
    return page(
        result,
        f"verdict: {result.candidate} against {result.baseline}",
        f"{answer}; {basis}; margin {100 * result.margin:g} %",
        section(table, *notes),
    )


def _remark(result: Multilevel, line: Line) -> str:
    notes = [advice_text(line, result.outermost), reason_text(line)]
    if line.word_of_interval != line.outcome and not line.reason:
        count = sum(one.low is not None for one in result.benchmarks)
        notes.insert(0, f"after correction for {count * result.candidates}")
    return "; ".join(text for text in notes if text)


def mean_cell(line: Line | None, side: int, unit: str) -> Cell:
    """Give the mean of the candidate (0) or the baseline (1), "" of a suite; one with cut runs is a lower bound."""
    if line is None or line.of_suite:
        return ""
    mean = (line.mean_candidate, line.mean_baseline)[side]
    mark = "" if line.cut is None else line.cut.mark(side)
    return Value("-" if mean is None else f"{mark}{figures.quantity(mean, unit)}", mean)


def count_text(value: float, unit: str) -> str:
    """Write a count in full, with its unit."""
    text = "" if unit in ("count", "counts") else figures.unit_text(unit)
    return f"{value:.16g} {text}".strip()


def few_sessions_text(line: Line, unit: str = "count", noun: str = "session") -> str:
    """Say what is not decided yet: ``2 against 1 in all runs, but 2 sessions: 1 more decides``; else ""."""
    one, more = line.identity, line.more_sessions
    if one is None or line.reason not in ("no-spread", "few-sessions"):
        return ""
    a, b = (count_text(value, unit) for value in (one.candidate, one.baseline))
    more_text = "" if more is None else f": {more.sessions} more decide{'s' * (more.sessions == 1)}"
    return f"{a} against {b} in all runs, but {figures.counted(one.sessions, noun)}{more_text}"


# --- What a reader of the sound verdict should know.


def failing_cautions(lines: Sequence[Line]) -> Iterator[Caution]:
    """Say where failures decide, and what verdict and gate make of them; where they cannot, and why."""
    for line in lines:
        if (found := _failures(line)) is not None:
            (code, text), name = found, line.name
            yield Caution(code, f"{name}: {text}", (name,), ShortSentence.of(_SHORT[code], name))
    some = [line for line in lines if line.failed_candidate or line.failed_baseline]
    yield from _of_some(
        "failures-without-sessions",
        [line.name for line in some if line.fails is None],
        "{}: it is not known in which sessions runs failed, so nothing tells whether the candidate fails more",
        "{}: whether the candidate fails more is not known",
    )


_SHORT = {
    "fails-always": "{} has no speed: no run of the candidate succeeded",
    "fails-more": "{} has no speed: the candidate fails more often",
    "fails-in-one-session": "{}: one session cannot show whether it fails more often",
}


def _failures(line: Line) -> tuple[str, str] | None:
    """Give the code and the sentence of what is said of a line's failures."""
    if line.reason == "fails-always":
        none = f"not one of {line.failed_candidate} runs of the candidate succeeded"
        if line.runs_candidate:
            none = "on a host no run of the candidate succeeded"
        ends = (
            "no gate passes; to stop one it takes 3 sessions in which no run of the baseline fails"
        )
        if line.fails_proven:
            ends = "a gate stops (exit 1)"
        return line.reason, f"{none} ({failed_text(line)}): there is no speed to judge, and {ends}"
    if line.reason == "fails-more":
        text = f"the candidate {failed_text(line)}: it fails more often, so what is left is no fair sample"
        return line.reason, f"{text}: the speed stays undecided, and a gate stops (exit 1)"
    alone = line.fails is not None and min(len(line.fails.candidate), len(line.fails.baseline)) < 2
    (failed, runs), (others, of) = failed_of(line)
    if not alone or failed * of <= others * runs:
        return None
    p = figures.pvalue(fisher(failed, runs, others, of))
    text = f"{failed_text(line, short=True)}, a side in one session only (Fisher's p {p} of single runs)"
    return "fails-in-one-session", (
        f"{text}: runs of one session are no repetition, so nothing tells whether the candidate fails more. "
        "Measure 6 sessions or more"
    )


_FEW_SESSIONS = 3  # sessions
_ENOUGH = 6


def session_cautions(
    layout: Layout,
    tables: Tables,
    *,
    zeroed: Flags,
    lines: Sequence[Line],
    these: Line | None,
    dependence: SessionDependence | None,
    looks_rule: LooksRule = "single",
) -> Iterator[Caution]:
    """Say where session values are no such values as t takes them for."""
    if layout.design not in ("paired", "separate"):
        return
    ours, theirs = ((~np.isnan(table)).sum(axis=0) for table in (tables.ours, tables.theirs))
    least = np.minimum(ours, theirs).tolist()
    yield from _two_speeds(layout, zeroed, lines, (ours + theirs).tolist())
    yield from _few(layout, lines, these, least)
    if dependence is not None and dependence.warned:
        if looks_rule == "repeated":
            said = "no word is safe: sessions resemble the ones before; measure later"
            yield Caution(
                "sessions-depend",
                "sessions resemble the ones before them: measure again later, with fairtrial compare --resume "
                f"(lag 1 = {dependence.lag1:.2f}, p {figures.pvalue(dependence.pvalue)}); until then no word "
                "is given that the interval alone would give",
                short=ShortSentence.of(said),
            )
            return
        whose = "" if dependence.side is None else f" of the {dependence.side}"
        yield Caution(
            "sessions-depend",
            f"sessions{whose} resemble the ones before them (lag 1 = {dependence.lag1:.2f}, p "
            f"{figures.pvalue(dependence.pvalue)}): intervals are too narrow, by a factor of about "
            f"{figures.significant(dependence.factor, 2)}, and words come too easily. Spread the sessions over days",
            short=ShortSentence.of("words come too easily: sessions resemble the ones before them"),
        )


def _two_speeds(
    layout: Layout, zeroed: Flags, lines: Sequence[Line], cells: Sequence[int]
) -> Iterator[Caution]:
    found = speeds_of(layout, zeroed)
    if not found:
        return
    texts = []
    for by_side in (False, True):
        those = {k: one.distance for k, one in found.items() if one.by_side == by_side}
        if those:
            named = figures.listed([lines[k].name for k in those])
            fewest = min(cells[k] for k in those)
            texts.append(_by_chance(named, _apart(those.values()), fewest, by_side))
    between = {k: one.distance for k, one in found.items() if not one.by_side}
    text, rows = "each variant keeps one speed, which may be chance: {}", tuple(found)
    if between:
        text = f"sessions lie at one of two speeds, {_apart(between.values())} % apart: {{}}"
        rows = tuple(between)
    short = ShortSentence.of(text, tuple(lines[k].name for k in rows))
    yield Caution("two-speeds", "; ".join(texts), tuple(lines[k].name for k in found), short)


def _apart(distances: Collection[float]) -> str:
    shares = [100 * math.expm1(min(one, WIDEST)) for one in (min(distances), max(distances))]
    apart = [f"{one:.0f}" if one >= 10 else f"{one:.2g}" for one in shares]
    return apart[0] if apart[0] == apart[1] else f"{apart[0]} to {apart[1]}"


def _by_chance(named: str, apart: str, cells: int, by_side: bool) -> str:  # noqa: FBT001 - a fact
    chance = f"{100 * 2.0 ** (1 - cells):.3g} % of trials"
    more = f"Measure {_ENOUGH} sessions or more"
    if by_side:
        return (
            f"{named}: each variant keeps one speed ({apart} % apart), and so few sessions would show that "
            f"in {chance} too if every session and variant had one of two speeds by chance. {more}"
        )
    text = f"{named}: sessions lie at one of two speeds ({apart} % apart), between which their runs do not change"
    if cells >= 2 * _ENOUGH:
        return f"{text}; fairtrial diagnose shows which"
    return f"{text}: by chance all of one variant are at one of them in {chance}. {more}"


def _few(
    layout: Layout, lines: Sequence[Line], these: Line | None, least: Sequence[int]
) -> Iterator[Caution]:
    judged = [n for n in least if n >= 2]
    names = tuple(
        line.name
        for line, n in zip(lines, least, strict=False)
        if 2 <= n <= _FEW_SESSIONS and line.outcome != "undecided"
    )
    decided = these is not None and these.outcome != "undecided"
    suite = decided and min(judged, default=9) <= _FEW_SESSIONS
    if names or suite:
        noun = layout.outermost
        text = f"{min(judged)} {noun}s: what is decided rests on {noun} values being about normal"
        # of all benchmarks none is named
        about = names if max(judged) > _FEW_SESSIONS else ()
        yield Caution("few-sessions", f"{text}. Measure {_ENOUGH} or more", about)


_FEW_BENCHMARKS = 5  # benchmarks below which a law of others like them is little known
_PRINTED = 1.05  # times as many values as the other side
_NUMBERS = 3  # pairs of unequal numbers that are shown one by one
_AT: dict[Unit, str] = {"session": "in", "host": "on"}


ONE_BUILD = Caution(
    "one-build",
    "each variant was built once, and one value has no interval: how much another build would differ is not "
    "known. 'build: {each: session}' gives one value a session",
    short=ShortSentence.of("each variant was built once: build each session for an interval"),
)
# more runs change nothing
_OF_RUNS = frozenset({"one-session", "too-few-sessions", "few-benchmarks"})


def of_one_build(layout: Layout, cautions: tuple[Caution, ...]) -> tuple[Caution, ...]:
    """Say of a number of builds that there is one, in place of what more runs or sessions would bring."""
    if not layout.design.startswith("one session"):
        return cautions
    return (ONE_BUILD, *(one for one in cautions if one.code not in _OF_RUNS))


def design_cautions(layout: Layout) -> Iterator[Caution]:
    """Say how far the design carries."""
    a, b = layout.ours.sessions, layout.theirs.sessions
    noun = layout.outermost
    if layout.design == "confounded":
        yield Caution(
            "confounded",
            f"{noun} and variant cannot be separated: the candidate has runs {_in(a.size, noun)}, "
            f"the baseline {_in(b.size, noun)}, {layout.common.size} in common. "
            f"Measure both variants {_AT[noun]} the same {noun}s",
            short=ShortSentence.of(f"{noun} and variant cannot be separated: nothing is decided"),
        )
    elif layout.design.startswith("one session"):
        said = f"another {noun} may give another answer: all runs stem from one"
        yield Caution(
            "one-session",
            "within one session: all runs share its memory layout, frequencies and neighbours, and "
            "another session may give another answer. Measure 5 or more sessions"
            if noun == "session"
            else "on one host: all runs share its processor, system and neighbours, and another host "
            "may give another answer. Measure on 5 or more hosts",
            short=ShortSentence.of(said),
        )
    elif layout.design == "paired":
        left = np.setdiff1d(np.union1d(a, b), layout.common)
        if left.size:
            names = tuple(layout.labels[k] for k in left)
            yield Caution(
                "sessions-left-out",
                f"{figures.counted(left.size, noun)} left out, because only one side has runs {_AT[noun]} "
                f"{'it' if left.size == 1 else 'them'}: {figures.listed(names)}",
                names,
            )


def benchmark_cautions(
    judged: LineParts, lines: Sequence[Line], sessions: int, noun: Unit
) -> Iterator[Caution]:
    """Say what holds for single benchmarks."""
    flat = [line.name for line in lines if line.reason == "no-spread" and line.identity is None]
    where = _in(sessions, noun) if judged.design in ("paired", "separate") else "at all"
    yield from _of_some(
        "no-spread",
        flat,
        f"no spread {where}, and the clock's step is not known, so that equal readings prove nothing: {{}}. "
        "Make the runs longer, or take more of them",
    )
    clocks = zip(lines, judged.each.error.tolist(), judged.exact.flags.tolist(), strict=False)
    for line, error, counted in clocks:  # failed ones follow; what is counted has no clock
        if line.resolution is None or line.step_log is None or line.low is None or counted:
            continue
        if line.step_added or error <= (line.error_floor or 0.0):
            share = figures.significant(100 * (spread_of(line.step_log) or 0.0), 2)
            yield Caution(
                "coarse-clock",
                f"{line.name}: the clock's step ({figures.quantity(line.resolution, judged.unit)}) is "
                f"{share} % of a run; the interval is widened by it. Make the runs longer",
                (line.name,),
            )
    lonely = [
        line.name
        for line in lines
        if line.low is None is line.difference_low and line.identity is None
        if line.reason is None and line.runs_candidate and not judged.law.always_valid
    ]
    yield from _of_some(
        "too-few-sessions",
        lonely,
        "too few values for an interval, and for one of the suite: {}. Measure more, or leave the benchmark out",
    )
    yield from _of_some(
        "sessions-missing",
        [x.name for x in lines if 2 <= x.sessions < sessions and judged.design == "paired"],
        f"judged by fewer than the {figures.counted(sessions, noun)} of the others: {{}}",
    )
    yield from failing_cautions(lines)
    yield from _of_some(
        "below-resolution",
        [line.name for line in lines if line.reason == "below-resolution"],
        "0 has no ratio, and all runs of a session are 0: {}. Make the runs longer, or name another metric",
        "no ratio where all runs of a session are 0: {}",
    )
    zeroed = np.flatnonzero(judged.zeroed & ~np.isnan(judged.each.estimate)).tolist()
    yield from _of_some(
        "means-of-zeros",
        [lines[k].name for k in zeroed],
        "some runs are 0, so arithmetic means of whole sessions are compared: {}",
        "arithmetic means are compared, as some runs are 0: {}",
    )
    counts = np.flatnonzero(judged.exact.arithmetic).tolist()
    yield from _of_some(
        "without-ratio",
        [lines[k].name for k in counts] if len(judged.each.estimate) > 1 else [],
        "with a 0 there is no ratio, so no mean over benchmarks holds: {}",
        "in no mean, as runs are 0: {}",
    )


def _of_some(code: str, names: Sequence[str], text: str, short: str = "") -> Iterator[Caution]:
    """Say it of these benchmarks, if there are any; ``{}`` stands for their names."""
    if names:
        known = ShortSentence.of(short, tuple(names)) if short else None
        yield Caution(code, text.replace("{}", figures.listed(names)), tuple(names), known)


def unequal_cautions(lines: Sequence[Line], sides: tuple[str, str], noun: str) -> Iterator[Caution]:
    """Say where sides have unequal numbers of sessions, or runs, and what would make them equal."""
    known = [line for line in lines if line.law is not None]
    unequal: dict[tuple[int, int], list[str]] = {}
    for line in known:
        if line.law == "banerjee" and line.freedoms is not None:
            ours, theirs = (round(freedom) + 1 for freedom in line.freedoms)
            unequal.setdefault((ours, theirs), []).append(line.name)
    often = sorted(unequal.items(), key=lambda one: -len(one[1]))
    for (ours, theirs), names in often[:_NUMBERS]:
        all_of_them = len(names) == len(known)
        where = "" if all_of_them else f"{figures.listed(names)}: "
        lacking = sides[0] if ours < theirs else sides[1]
        yield Caution(
            "unequal-sessions",
            f"{where}{figures.counted(ours, noun)} against {theirs}: the bound for unequal numbers is taken; "
            f"{abs(ours - theirs)} more of {lacking} would make them equal, and narrow it",
            () if all_of_them else tuple(names),
        )
    rest = tuple(name for _, names in often[_NUMBERS:] for name in names)
    if rest:
        yield Caution(
            "unequal-sessions",
            f"{figures.listed(rest)}: other unequal numbers of {noun}s, with the same bound",
            rest,
        )


def values_cautions(
    lines: Sequence[Line], ours: PerformanceMatrix, theirs: PerformanceMatrix
) -> Iterator[Caution]:
    """Say of quantiles of unequal numbers of values at which they are compared, or that they are not."""
    for line in lines:
        printed = is_printed(ours, line.name)
        if times_as_many(ours, theirs, line.name) <= (_PRINTED if printed else 1.0):
            continue
        sides = [(round(one.values_of[line.name].mean), one) for one in (ours, theirs)]
        (few, lean), (many, rich) = sorted(sides, key=lambda pair: pair[0])
        where = f"{line.name}: " * (len(lines) > 1)
        text = f"compared at the smaller number of values ({few:,} of {many:,})"
        if line.reason == UNEQUAL_VALUES:
            text = f"{many:,} values of {rich.name} against {few:,} of {lean.name}: measure both for equally many"
        if printed:
            text = f"printed of {many:,} values of {rich.name} and {few:,} of {lean.name}: the larger number alone makes its side look slower"
        short = ShortSentence.of(plain(f"{where}{text}"))
        yield Caution(UNEQUAL_VALUES, f"{where}{text}", (line.name,), short)


def suite_cautions(judged: LineParts) -> Iterator[Caution]:
    """Say how far the suite's lines carry."""
    if 2 <= (benchmarks := judged.in_suite) < _FEW_BENCHMARKS:
        yield Caution(
            "few-benchmarks",
            f"{benchmarks} benchmarks say little about others like them",
        )


def _in(count: int, noun: Unit) -> str:
    return f"{_AT[noun]} {figures.counted(count, noun)}"
