"""All methods for one pair in one table: HPT, t, randomization and bootstrap, by one mean or by three.

[1]_ sets them side by side in Tables 6 and 8: the ratio of the geometric means, HPT's confidence and
0.95-speedup, the t interval of the ratios over the benchmarks and its confidence, that of the randomization
test, and the bootstrap interval; in Table 14 the last two by three means. The t there is two-sided: its
confidence is that of the interval which ends at 1.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, sections 6.4 and 9.
"""

from __future__ import annotations

import csv
import io
import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from ..data.pair import MEANS
from ..data.trial import read_trial
from ..errors import UsageError
from ..importers.export import write_hyperfine
from ..importers.export_data import exported_trial
from ..methods.hpt.page import hpt_report
from ..methods.resampling.page import ResamplingReport, resampling_report
from ..pages import number_format as figures
from ..pages.as_markup import render_markdown
from ..pages.difference import Difference
from ..pages.model import (
    Caution,
    Cell,
    Column,
    Page,
    Section,
    Sentence,
    Table,
    merged,
    page_of,
    value_of,
)
from ..pages.number_format import counted, listed, significant
from ..pages.result import Result
from ..stats.arguments import stream
from ..words import apart, shorten, shown
from .sentence import REASONS

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix
    from ..data.pair import Mean
    from ..methods.hpt.page import HptReport
    from .compare import CompareAnswer, ComparedCommand
    from .result import Verdict

# --- The files that hyperfine's users read: its JSON and CSV of the runs, and the answer as Markdown.


_COLUMNS = ("command", "mean", "stddev", "median", "user", "system", "min", "max")


def write_exports(answer: CompareAnswer, files: Mapping[str, str]) -> None:
    """Write files: kind (``json``, ``csv``, ``markdown``) -> path.

    Raises
    ------
    UsageError
        If one cannot be written; the trial is kept in any case.
    """
    for kind, path in files.items():
        data = _KINDS[kind](answer)
        try:
            Path(path).write_bytes(data)
        except OSError as error:
            raise UsageError(
                f"the file cannot be written: {error.strerror}",
                path,
                "name another one; 'fairtrial export' writes it from the trial, which is kept",
            ) from None


def _json(answer: CompareAnswer) -> bytes:
    """Give all runs as hyperfine writes them, each command by what was typed."""
    path = answer.verdict.path
    assert path is not None
    data = exported_trial(read_trial(path))
    called = {one.variant: one.command for one in answer.commands}
    samples = tuple(replace(one, variant=called[one.variant]) for one in data.samples)
    told = json.loads(write_hyperfine(replace(data, samples=samples)).data)
    filled = {one.command: dict(one.parameters) for one in answer.commands}
    for result in told["results"]:
        result.pop("parameters")
        if values := filled.get(result["command"]):
            result["parameters"] = values
    return f"{json.dumps(told, indent=2, ensure_ascii=False)}\n".encode()


def _csv(answer: CompareAnswer) -> bytes:
    """Give a row a command with the columns of hyperfine, in seconds."""
    results = json.loads(_json(answer))["results"]
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(_COLUMNS)
    table.writerows([one[name] for name in _COLUMNS] for one in results)
    return text.getvalue().encode()


def _markdown(answer: CompareAnswer) -> bytes:
    """Give the answer, its table and its notes."""
    return f"{render_markdown(page_of(answer))}\n".encode()


_KINDS = {"json": _json, "csv": _csv, "markdown": _markdown}


# --- How commands are called where room is short: by what tells them apart.
#
# A command that is too long loses first the trailing words that all share (``gzip -6 …``),
# then the leading ones,
# then its middle. Two that would look alike keep a number.


MARK = "…"
_LEAST = 4  # columns of a name, below which nothing can be told apart


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Give each name in at most `width` columns (4 at least), and no two alike.

    `names` are as they were typed; what a terminal would obey is written out.
    """
    width = max(width, _LEAST)
    whole = numbered([shown(name) for name in names])
    for found in _ways(whole):
        if max(map(len, found), default=0) <= width and len(set(found)) == len(found):
            return found
    *_, last = _ways(whole)
    return _apart([shorten(name, width) for name in last], width)


def numbered(names: Sequence[str]) -> list[str]:
    """Put a number behind each name that stands there before: ``sort a`` and ``sort a [2]``."""
    seen: dict[str, int] = {}
    found: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} [{seen[name]}]")
    return found


def quoted(name: str) -> str:
    """Put a command into quotes, those that it does not hold itself."""
    sign = '"' if "'" in name and '"' not in name else "'"
    return f"{sign}{name}{sign}"


def _ways(names: list[str]) -> Iterator[list[str]]:
    """Give the names whole, without the trailing words that they share, and without the leading ones too."""
    yield names
    words = [name.split() for name in names]
    tail = _shared([list(reversed(one)) for one in words])
    cut = [one[: len(one) - tail] for one in words]
    if tail:
        yield [f"{' '.join(one)} {MARK}" for one in cut]
    head = _shared(cut)
    if head:
        yield [" ".join((MARK, *one[head:], *((MARK,) if tail else ()))) for one in cut]


def _shared(words: list[list[str]]) -> int:
    """Count the leading words that all have; each keeps one of its own."""
    if len(words) < 2:
        return 0
    most = min(map(len, words)) - 1
    count = 0
    while count < most and len({one[count] for one in words}) == 1:
        count += 1
    return max(count, 0)


def _apart(names: list[str], width: int) -> list[str]:
    """Put a number into each name that looks like another, in the same width."""
    found: list[str] = []
    for number, name in enumerate(names, 1):
        mark = f"{MARK}{number}" if names.count(name) > 1 else ""
        found.append(f"{name[: max(0, width - len(mark))]}{mark}" if mark else name)
    return found


# --- How times are written beside each other: one unit a row, and as many digits as its mean deserves.


_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
_ROUND = 0.9995  # of a unit: what rounds to 1.00 of it


class RowUnit(NamedTuple):
    """The unit of a row, how many seconds it is, and the decimals of all numbers in the row."""

    name: str
    factor: float
    decimals: int

    def number(self, seconds: float | None) -> str:
        """Write a time without its unit; ``-`` where it is unknown."""
        return "-" if seconds is None else f"{seconds / self.factor:.{self.decimals}f}"

    def time(self, seconds: float | None) -> str:
        """Write a time with its unit."""
        return "-" if seconds is None else f"{self.number(seconds)} {self.name}"

    def range(self, low: float | None, high: float | None) -> str:
        """Write ``91 … 124 ms``."""
        if low is None or high is None:
            return "-"
        return f"{self.number(low)} … {self.number(high)} {self.name}"


def row_unit(mean: float | None, wanted: str | None = None) -> RowUnit:
    """Choose the unit of a row by its mean, or take the one that is wanted: ``s``, ``ms`` or ``us``."""
    wanted = "µs" if wanted == "us" else wanted
    value = 0.0 if mean is None else mean
    for name, factor in _UNITS:
        if name == wanted or (wanted is None and value >= _ROUND * factor):
            break
    number = value / factor
    if number >= 20 or not number:
        return RowUnit(name, factor, 0)
    if number >= 2:
        return RowUnit(name, factor, 1)
    return RowUnit(name, factor, 2 if number >= 0.2 else 4)


def time_text(seconds: float) -> str:
    """Write a measured time by itself, such as ``100 ms`` or ``8.13 ms``."""
    unit = row_unit(seconds)
    return f"{significant(seconds / unit.factor, 3)} {unit.name}"


def seconds_text(seconds: float) -> str:
    """Write how long one measured: ``1.2 s``, ``20 s``, ``4.5 min``."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.1f} min" if minutes < 9.95 else f"{minutes:.0f} min"


def interval_of_times(verdict: Verdict) -> str:
    """Give the interval of one command's time in its unit: ``97 to 103``; "" where there is none."""
    if not verdict.alone or verdict.alone[0].low is None or verdict.alone[0].high is None:
        return ""
    one = verdict.alone[0]
    assert one.low is not None
    assert one.high is not None
    factor = row_unit(one.mean).factor
    if Difference(1.0, one.low, one.high).too_few:
        return "too few to say between what and what"
    width = (one.high - one.low) / factor
    decimals = 0 if width >= 9.5 else 1 if width >= 0.95 else 2 if width >= 0.095 else 3
    return f"{one.low / factor:.{decimals}f} to {one.high / factor:.{decimals}f}"


# --- The answer of `fairtrial compare` in one sentence, and what it rests on in brackets.


_LEAST_NAME = 16
_NAMED = 3  # commands that a sentence about several names

Called = Callable[["ComparedCommand"], str]


def answer_sentence(answer: CompareAnswer) -> str:
    """Say the answer in one line, with the commands whole and without what stands in brackets."""
    return " ".join(_parts(answer, lambda one: one.shown))


def answer_lines(answer: CompareAnswer, width: int) -> list[str]:
    """Say the answer and what it rests on in lines of at most `width` columns.

    A sentence that does not fit goes on in a second line at its verb; commands that are too long for a
    line are shortened. What a terminal would obey is written out.
    """
    head, *rest = _parts(answer, lambda one: shown(one.shown))
    if rest and len(" ".join((head, *rest))) <= width:
        head, rest = " ".join((head, *rest)), []
    if max(len(part) for part in (head, *rest)) > width and not _flows(answer):
        called = _short(answer, width)
        head, *rest = _parts(answer, called)
        if len(" ".join((head, *rest))) <= width:
            head, rest = " ".join((head, *rest)), []
    brackets = f"({_grounds(answer)})"
    if _flows(answer):
        called = _short(answer, width)
        return _filled(" ".join((*_parts(answer, called), brackets)), width)
    lines = [line for part in (head, *rest) for line in _filled(part, width)]
    return [*lines, *_filled(brackets, width)]


def _flows(answer: CompareAnswer) -> bool:
    """Tell whether the sentence is one that goes on over lines: that of no difference found."""
    one = _single(answer)
    return answer.answered and one is not None and one.word == "undecided"


def _single(answer: CompareAnswer) -> ComparedCommand | None:
    """Give the one command that is held against the baseline; None of several, or of none."""
    return answer.others[0] if len(answer.others) == 1 else None


def _parts(answer: CompareAnswer, called: Called) -> tuple[str, ...]:
    """Give the sentence, in two parts where it may go on at its verb."""
    if not answer.answered:
        return (_no_answer(answer, called),)
    if not answer.others:
        return _alone(answer, called)
    one = _single(answer)
    if one is None:
        return _of_several(answer, called)
    assert one.difference is not None
    ours, base = called(one), called(answer.base)
    word = one.word or "undecided"
    if one.line is not None and one.line.reason == "cut-off":
        return (f"no answer for {ours} against {base}: {REASONS['cut-off']}",)
    said = one.difference.answer(word, ours, base, margin=answer.verdict.margin)
    if word == "undecided" or not said.startswith(ours):
        return (said,)
    return ours, said[len(ours) + 1 :]


def _alone(answer: CompareAnswer, called: Called) -> tuple[str, ...]:
    base = answer.base
    if base.times.mean is None:
        return (f"no run of {called(base)} counts",)
    return called(base), f"takes {time_text(base.times.mean)}"


def _of_several(answer: CompareAnswer, called: Called) -> tuple[str, ...]:
    """Name the fastest, if each of the others is decided against it, or who may be it."""
    count = len(answer.commands)
    standing = answer.standing
    possible = [one for one in answer.commands if one.variant in answer.possible]
    if standing is None or (len(possible) == count and standing.beside):
        return (f"no fastest of {count}: nothing is decided between them",)
    within = f"within {100 * answer.verdict.margin:g} %"
    if len(possible) == count:
        return (f"all {count} take the same time, {within}",)
    leader = next(one for one in answer.commands if one.variant == standing.leader)
    if len(possible) > 1:
        tied = [called(leader), *(called(one) for one in possible if one is not leader)]
        alike = {one.variant for one in possible} <= {leader.variant, *standing.alike}
        few = len(tied) <= _NAMED and not alike
        named = " or ".join(tied) if few else f"{'' if alike else 'one of '}{listed(tied, _NAMED)}"
        why = f"the same {within}" if alike else "undecided between them"
        return f"fastest of {count}: {named}", f"({why}){_losers(answer, called)}"
    if leader is answer.base or leader.difference is None:
        return (called(leader), f"is the fastest of {count}")
    told = leader.difference
    phrase = told.phrase()
    for verb in ("is ", "takes "):
        phrase = phrase.removeprefix(verb)
    interval = f" ({told.interval()})" if told.interval() else ""
    against = f"{phrase} {told.link} {called(answer.base)}{interval}"
    return called(leader), f"is the fastest of {count}: {against}"


def _losers(answer: CompareAnswer, called: Called) -> str:
    """Say of each that cannot be the fastest what it takes more; of many how many they are."""
    losers = [one for one in answer.commands if one.variant not in answer.possible]
    if len(losers) > _NAMED:
        return f"; {len(losers)} others are slower than one of them"
    faster = next((one for one in answer.others if one.word == "faster"), None)
    told = []
    for one in losers:
        if one.word == "slower" and one.difference is not None:
            told.append(one.difference.sentence(called(one), called(answer.base)))
        elif one is answer.base and faster is not None and faster.difference is not None:
            told.append(faster.difference.turned().sentence(called(one), called(faster)))
        else:
            told.append(f"{called(one)} is slower than one of them")
    return "".join(f"; {text}" for text in told)


def _no_answer(answer: CompareAnswer, called: Called) -> str:
    """Say whose runs failed, and how many of the others' did."""
    failing = [one for one in answer.commands if one.failing is not None and not one.answered]
    if answer.base.failing is not None and answer.base not in failing:
        failing.insert(0, answer.base)
    if not failing:
        return "no answer: no run counts"
    worst = max(
        failing, key=lambda one: one.failing.failed / one.failing.runs if one.failing else 0
    )
    assert worst.failing is not None
    said = f"no answer: {worst.failing.share} of {called(worst)} failed ({worst.failing.how})"
    one = _single(answer)
    if one is None:
        return said
    other = answer.base if worst is one else one
    share = (
        f"0 of {other.times.runs}"
        if other.failing is None
        else f"{other.failing.failed} of {other.failing.runs}"
    )
    return f"{said}, {share} of {called(other)}"


def _grounds(answer: CompareAnswer) -> str:
    """Give what stands in brackets: the interval, runs, sessions, and the time of measuring."""
    one = _single(answer)
    interval = ""
    if answer.answered and not answer.others:
        interval = interval_of_times(answer.verdict)
    elif answer.answered and one is not None and one.difference is not None:
        interval = "" if one.word == "undecided" else _interval(one, one.difference)
    runs = {each.times.runs for each in answer.commands}
    sessions = max(each.times.sessions for each in answer.commands)
    each = " each" if len(answer.commands) > 1 else ""
    if len(runs) == 1:
        told = f"{counted(runs.pop(), 'run')}{each}"
    else:
        told = counted(sum(each.times.runs for each in answer.commands), "run")
    spent = f"{told} in {counted(sessions, 'session')}, {seconds_text(answer.seconds)}"
    return f"{interval}; {spent}" if interval else spent


def _interval(one: ComparedCommand, told: Difference) -> str:
    """Give the interval; of what takes the same time it has a side, which the sentence does not say."""
    said = told.interval()
    if one.word != "equivalent" or told.ratio is None or "less" in said or "more" in said:
        return said
    return f"{said} {'less' if told.ratio < 1 else 'more'}"


def _short(answer: CompareAnswer, width: int) -> Called:
    """Shorten what the commands are called so that each, with the longest words beside it, fits a line."""
    bare = _parts(answer, lambda _: "")
    names = [one.name for one in answer.commands]
    quotes = 2
    several = len(answer.others) > 1
    within = max(map(len, bare)) if not _flows(answer) else 0
    room = width - within - quotes if not several else min(width - within, 30) - quotes
    if not answer.answered:
        room = (width - quotes) // 2
    if _flows(answer):
        room = (width - len("no difference found between and :")) // 2 - quotes
    short = short_names(names, max(room, min(_LEAST_NAME, width - quotes)))
    found = {
        one.variant: one.shown
        if name == one.name
        else quoted(name)
        if one.shown != one.name
        else name
        for one, name in zip(answer.commands, short, strict=True)
    }
    return lambda one: found[one.variant]


def _filled(text: str, width: int) -> list[str]:
    """Break a sentence into lines; nothing is wider, and ``5 %`` and ``5 s`` stay together."""
    whole = re.sub(r"(?<=\d) (?=(?:%|[mµn]?s|min|h)(?!\w))", "\N{NO-BREAK SPACE}", text)
    lines = textwrap.wrap(whole, width, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


_NAME = 32
REFERENCES = (
    "S. Irving et al., Computer comparisons in the presence of performance variation, Frontiers of "
    "Computer Science 2018, sections 6.4 and 9",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLine:
    """What one rule says of the pair; above 1 the candidate is better.

    `speedup`: of "hpt" the largest with the confidence asked for, else the ratio of means. `low`, `high`:
    the interval with that confidence. `confidence`: of "hpt" in "the candidate is better", else 1 - p;
    `pvalue` is that p. `mean` is that over the benchmarks. None where there is none.
    """

    rule: Literal["hpt", "t", "resampling"]
    mean: Mean | None
    speedup: float | None
    low: float | None
    high: float | None
    confidence: float | None
    pvalue: float | None
    pvalue_of: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTable(Result):
    """All rules for one pair; `required` is the level of HPT's speedup and of the intervals."""

    method: ClassVar[str] = "resample-compare"

    candidate: str
    baseline: str
    required: float
    benchmarks: tuple[str, ...]
    lines: tuple[PairLine, ...]
    resamples: int
    seed: int | None
    references: tuple[str, ...] = REFERENCES


def pair_table(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    means: Sequence[Mean] = MEANS,
    compared: bool = False,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    **asked: Any,  # noqa: ANN401 - arguments of `resampling_report`
) -> PairTable:
    """Set the answers about one pair side by side.

    Parameters
    ----------
    candidate, baseline
        The two sides.
    means
        A line of resampling for each; the same numbers as a call with that mean and seed alone.
    compared
        Whether HPT and the t interval have lines too.
    confidence
        The level of HPT's speedup and of all intervals.
    resamples, seed
        Of the randomization test and the bootstrap.
    asked
        Further arguments of `resampling_report`: centre, alternative, unit, interval, sides.

    Raises
    ------
    UsageError, AnalysisError
        As the methods do.
    """
    context = hpt_report(candidate, baseline, confidence=confidence) if compared else None
    reports = [
        resampling_report(
            candidate,
            baseline,
            mean=mean,
            confidence=confidence,
            resamples=resamples,
            rng=stream(seed, "resample"),
            seed=seed,
            **asked,
        )
        for mean in means
    ]
    test = reports[0].test
    said: list[tuple[Caution, ...]] = []  # the passes over the suite are not shown
    for report in reports:
        said += [part.cautions for part in (report.test, report.interval) if part is not None]
    if context is not None:
        said.append(context.cautions)
    for report in reports:
        if report.no_interval is not None:
            what = f"no bootstrap interval: {report.no_interval}"
            said.append((Caution("no-interval", what),))
            break
    return PairTable(
        candidate=test.candidate,
        baseline=test.baseline,
        required=confidence,
        benchmarks=test.benchmarks,
        lines=(*_of_hpt(context), *map(_of_resampling, reports)),
        resamples=resamples,
        seed=seed,
        cautions=merged(*said),
    )


def _of_hpt(report: HptReport | None) -> Iterator[PairLine]:
    if report is None:
        return
    plain, logs = report.plain, report.context.paired_t[1]
    yield PairLine(
        rule="hpt",
        mean=None,
        speedup=report.best.value,
        low=None,
        high=None,
        confidence=plain.confidence,
        pvalue=plain.pvalue,
        pvalue_of=plain.pvalue_of,
    )
    p = logs.pvalue_two_sided
    yield PairLine(
        rule="t",
        mean="geometric",
        speedup=logs.mean,
        low=logs.low,
        high=logs.high,
        confidence=None if p is None else 1 - p,
        pvalue=p,
        pvalue_of="two-sided",
    )


def _of_resampling(report: ResamplingReport) -> PairLine:
    test, interval = report.test, report.interval
    sides = None if interval is None else interval.sides
    return PairLine(
        rule="resampling",
        mean=test.mean,
        speedup=test.ratio,
        low=None if interval is None or sides == "upper" else interval.low,
        high=None if interval is None or sides == "lower" else interval.high,
        confidence=1 - test.pvalue,
        pvalue=test.pvalue,
        pvalue_of=test.pvalue_of,
    )


@page_of.register(PairTable)
def _pair_table_page(result: PairTable) -> Page:
    ours, theirs = apart((result.candidate, result.baseline), _NAME)
    n, r = len(result.benchmarks), f"{result.required:g}"
    columns = ("speedup", f"{r} interval", "confidence", "of")
    table = Table(
        name="one-pair",
        columns=(Column("", "left"), *map(Column, columns[:3]), Column(columns[3], "left")),
        rows=tuple(_row(line, r, result.required) for line in result.lines),
    )
    over = f"these {n} benchmarks" if n > 1 else "this benchmark"
    head = f"{ours} against {theirs} over {over}; above 1 {ours} is better"
    told = "confidence is 1 - p, not the chance of being right"
    if result.lines[0].rule == "hpt":
        told += f"; HPT's speedup is the largest that it claims with {r}; t needs normal log ratios"
    seed = f"{result.resamples:,} resamples, seed {result.seed}"
    return Page(
        title=f"one pair: {result.candidate} against {result.baseline}",
        sections=(
            Section((Sentence(head),)),
            Section((table, Sentence(told))),
            Section((Sentence(seed),)),
        ),
        cautions=result.cautions,
    )


def _row(line: PairLine, level: str, required: float) -> tuple[Cell, ...]:
    name = {
        "hpt": f"HPT, {level}-speedup",
        "t": "t on log ratios of medians",
        "resampling": f"resampling, {line.mean} means",
    }[line.rule]
    low = "0" if line.low is None else figures.bound(line.low, 4)
    high = "inf" if line.high is None else figures.bound(line.high, 4, upper=True)
    told = figures.bound if line.rule == "hpt" else figures.significant  # a limit
    between = "none" if line.low is line.high is None else f"[{low}, {high}]"
    return (
        name,
        value_of(line.speedup, lambda x: told(x, 4), "none"),
        "-" if line.rule == "hpt" else between,
        value_of(line.confidence, lambda x: figures.reliability(x, required), "none"),
        line.pvalue_of,
    )
