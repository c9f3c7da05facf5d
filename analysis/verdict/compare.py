"""The answer of `fairtrial compare`: the verdict on its trial, with the commands and how long they took.

In words it is one sentence, a row for each command, notes, and what comes next.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from os.path import commonprefix
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ..methods.multilevel.failures import fisher
from ..pages import as_text
from ..pages.model import Column, Next, Note, Page, Table, section
from ..pages.number_format import (
    Difference,
    counted,
    listed,
    quantity,
    significant,
    spread,
    time_span,
)
from ..pages.result import Result, plain
from ..words import Name, apart, shown
from .judging import judge
from .result import next_of, next_of_failing
from .sentence import REASONS
from .sides import VariantTimes, means_of, times_of

if TYPE_CHECKING:
    from ..data.trial import Trial
    from ..methods.multilevel.result import Line
    from ..pages.number_format import Word
    from .result import Verdict

_RISK = 0.05  # of Fisher's test on failed runs
_LEAST_WIDTH = 24
_FEW = 0.1  # so large a share of failed runs is left out, and the rest answers


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCommand:
    """A command as it was typed, and the variant that it is in the trial.

    `name`: What it is called instead, where the user said so or it has parameters. `parameters`: Their values.
    """

    command: str
    variant: str
    name: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComparedCommand:
    """One command: how it is called, its times, and its line against the baseline.

    `shown`: What a sentence calls it, quotes included. `line`: None of the baseline, and where nothing can be
    judged. `how`: How most of its failed runs ended, such as ``exit code 137``. `answered`: Whether its failed
    runs leave an answer. `means`: Of further metrics that were asked for, in their units. `parameters`: The
    values that fill it.
    """

    command: str
    variant: str
    name: str
    shown: str
    times: VariantTimes
    line: Line | None
    how: str = ""
    answered: bool = True
    means: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def word(self) -> Word | None:
        """The word that its line gives; None where there is no line, or failed runs withhold it."""
        return None if self.line is None or not self.answered else self.line.outcome

    @property
    def difference(self) -> Difference | None:
        """What it takes more or less than the baseline."""
        return None if self.line is None else Difference.of(self.line)

    @property
    def failed(self) -> str:
        """How many of its runs failed: ``9 of 24``."""
        return f"{self.times.failed} of {self.times.runs + self.times.failed}"

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON has it: times in seconds."""
        means = {"means": dict(self.means)} if self.means else {}
        return {"command": self.command, "name": self.name, **plain(self.times), **means}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Who leads of several: the fastest, and who is not decided against it.

    `beside`: Undecided against the leader. `alike`: Proven to take the same time within the margin.
    """

    leader: str
    beside: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompareAnswer(Result):
    """What commands take, and whether that is decided.

    `verdict`: On the trial; all numbers of differences are its, and what to do next. `commands`: In the order in
    which they were typed. `baseline`: Which of them is it. `standing`: Who leads of three and more.
    `stopped_because`: Why no more was measured, as in the trial's plan of looks. `looked_at`: The numbers of sessions
    at which one has looked. `seconds`: Of measuring, in all sittings. `notes`: Sentences about how it was measured,
    such as exit codes that counted. `units`: The unit of time in the table, ``s``, ``ms`` or ``us``; None to choose.
    """

    method: ClassVar[str] = "compare"
    schema: ClassVar[int] = 2

    verdict: Verdict
    commands: tuple[ComparedCommand, ...]
    baseline: int
    standing: Standing | None = None
    stopped_because: str | None = None
    looked_at: tuple[int, ...] = ()
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    units: str | None = None

    @property
    def base(self) -> ComparedCommand:
        """The command that the others are held against."""
        return self.commands[self.baseline]

    @property
    def others(self) -> tuple[ComparedCommand, ...]:
        """The commands that are held against it."""
        return tuple(one for k, one in enumerate(self.commands) if k != self.baseline)

    @property
    def answered(self) -> bool:
        """Whether failed runs leave an answer to any question that was asked."""
        return self.base.answered and (
            not self.others or any(one.answered and one.line for one in self.others)
        )

    @property
    def possible(self) -> tuple[str, ...]:
        """The variants that no other one is decided to be faster than, against the baseline or the leader."""
        slower = {one.variant for one in self.others if one.word == "slower"}
        if any(one.word == "faster" for one in self.others):
            slower.add(self.base.variant)
        if self.standing is not None:
            kept = {self.standing.leader, *self.standing.beside, *self.standing.alike}
            slower |= {one.variant for one in self.commands if one.variant not in kept}
        return tuple(one.variant for one in self.commands if one.variant not in slower)

    def to_dict(self) -> dict[str, Any]:
        """Give the verdict's keys and what `compare` adds."""
        found, step = self.verdict.to_dict(), next_step(self)
        by_name = {one.variant: one for one in self.commands}
        candidates = [one | by_name[one["variant"]].to_dict() for one in found["candidates"]]
        return found | {
            "method": self.method,
            "candidates": candidates,
            "sentence": answer_sentence(self),
            "next": [] if step is None else [step.line],
            "commands": [one.command for one in self.commands],
            "baseline_times": self.base.to_dict(),
            "stopped_because": self.stopped_because,
            "looked_at": list(self.looked_at),
            "measuring_s": self.seconds,
            "leader": None if self.standing is None else self.standing.leader,
            "standing": self.standing and plain(self.standing) | {"possible": list(self.possible)},
            "notes": list(self.notes),
        }

    def screen(self, width: int = 80, notes: Sequence[str] = ()) -> Page:
        """Set the answer for a screen of `width` columns; `notes` are further ones, such as cautions."""
        sections = [section(*answer_lines(self, width)), section(_table(self, width))]
        found = [*_notes(self), *self.notes, *notes][:_MOST_NOTES]
        step = next_step(self)
        if found or step:
            sections.append(section(*map(Note, found), *([step] if step else [])))
        return Page(title="compare", sections=tuple(sections))


def answer_of(
    trial: Trial,
    commands: Sequence[NamedCommand],
    *,
    seconds: float,
    counters: bool = False,
    standing: Standing | None = None,
    notes: Sequence[str] = (),
    units: str | None = None,
) -> CompareAnswer:
    """Judge a comparison's trial of one benchmark, and add what its commands, all its variants, took.

    With `counters` the means of what was counted, and of memory, are columns. The rest is that of a `CompareAnswer`.
    Raises InsufficientDataError if no run of any command counts.
    """
    plan = trial.manifest.looks_plan
    verdict = judge(trial, metric="wall", margin=0.01 if plan is None else plan.margin)
    times = times_of(trial)
    # also of an earlier sitting
    there = [one for one in trial.manifest.metrics if trial.kind(one).counted]
    metrics = [*there, "max_rss"] if counters or there else []
    means = {metric: means_of(trial, metric) for metric in metrics}
    lines = {one.candidate: one.benchmarks for one in verdict.compared}
    names = numbered([one.name or one.command for one in commands])
    return CompareAnswer(
        verdict=verdict,
        commands=tuple(
            ComparedCommand(
                command=one.command,
                variant=one.variant,
                parameters=one.parameters,
                name=name,
                # with the number that tells it from one like it
                shown=name if one.name else quoted(one.command) + name.removeprefix(one.command),
                times=times.get(one.variant) or VariantTimes(),
                line=next(iter(lines.get(one.variant, ())), None),
                how=_how(trial, one.variant),
                answered=_answers(times.get(one.variant), times.get(verdict.data.baseline)),
                means={x: of[one.variant] for x, of in means.items() if one.variant in of},
            )
            for one, name in zip(commands, names, strict=True)
        ),
        baseline=[one.variant for one in commands].index(verdict.data.baseline),
        standing=standing,
        stopped_because=None if plan is None else plan.stopped_because,
        looked_at=tuple(look for look in plan.looks if look <= trial.sessions) if plan else (),
        seconds=seconds,
        notes=tuple(notes),
        units=units,
        cautions=verdict.cautions,
        references=verdict.references,
    )


def _how(trial: Trial, variant: str) -> str:
    ways: Counter[str] = Counter()
    for run in trial.failed:
        if run.variant == variant and not run.warmup:
            known = {"exit": f"exit code {run.exit_code}", "signal": f"signal {run.signal}"}
            ways[known.get(run.outcome, run.outcome)] += 1
    return ways.most_common(1)[0][0] if ways else "unknown"


def _answers(mine: VariantTimes | None, base: VariantTimes | None) -> bool:
    """Tell whether failed runs leave an answer: few failed, and no more of one side than by chance."""
    if mine is None or not mine.runs or base is None:
        return False
    sides = [(side.failed, side.runs + side.failed) for side in (mine, base)]
    if any(failed > _FEW * runs for failed, runs in sides):
        return False
    return not (mine.failed or base.failed) or fisher(*sides[0], *sides[1]) >= _RISK


# --- How commands are called, and how times are written in a column.

_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
_ROUND = 0.9995  # of a unit: what rounds to 1.00 of it


def numbered(names: Sequence[str]) -> list[str]:
    """Put a number behind each name that stands there before: ``sort a`` and ``sort a [2]``."""
    before = (names[:k].count(name) for k, name in enumerate(names))
    return [f"{name} [{n + 1}]" if n else name for name, n in zip(names, before, strict=True)]


def quoted(name: str) -> str:
    """Put a command into quotes, those that it does not hold itself."""
    sign = '"' if "'" in name and '"' not in name else "'"
    return f"{sign}{name}{sign}"


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Give names of at most `width` columns, separated where that is possible.

    Where one is too long, the trailing words that all share go first: ``gzip -6 …``.
    """
    whole = numbered(names)
    words = [name.split() for name in whole]
    shared = len(commonprefix([one[::-1] for one in words]))  # noqa: RUF071 - words are meant
    if max(map(len, whole)) > width and 0 < shared < min(map(len, words)):
        whole = [f"{' '.join(one[:-shared])} …" for one in words]
    return [f"{Name(name):.{width}}" for name in apart(whole, width)]


class RowUnit(NamedTuple):
    """The unit of a row, how many seconds it is, and the decimals of all numbers in the row."""

    name: str
    factor: float
    decimals: int

    def time(self, *seconds: float | None) -> str:
        """Write a time with its unit, or a range of them: ``91 … 124 ms``; ``-`` where it is unknown."""
        numbers = [f"{one / self.factor:.{self.decimals}f}" for one in seconds if one is not None]
        return f"{' … '.join(numbers)} {self.name}" if len(numbers) == len(seconds) else "-"


def row_unit(mean: float | None, wanted: str | None = None) -> RowUnit:
    """Choose the unit of a row by its mean, or take ``s``, ``ms`` or ``us``; as many digits as that deserves."""
    value = 0.0 if mean is None else mean
    fitting = [one for one in _UNITS if wanted is None and value >= _ROUND * one[1]]
    fitting += [one for one in _UNITS if one[0].replace("µ", "u") == wanted]
    name, factor = (*fitting, _UNITS[-1])[0]
    number = value / factor
    if number >= 20 or not number:
        return RowUnit(name, factor, 0)
    return RowUnit(name, factor, 1 if number >= 2 else 2 if number >= 0.2 else 4)


def _time(seconds: float) -> str:
    """Write a measured time by itself, such as ``100 ms`` or ``8.13 ms``."""
    unit = row_unit(seconds)
    return f"{significant(seconds / unit.factor, 3)} {unit.name}"


# --- The sentence, and what it rests on in brackets.

_NAMED = 3  # commands that a sentence about several names
_LEAST_NAME = 8
_Called = Callable[[ComparedCommand], str]


def answer_lines(answer: CompareAnswer, width: int) -> list[str]:
    """Say the answer, and what it rests on, in lines of at most `width` columns.

    Where it takes more than a line, long commands are shortened. What a terminal would obey is written out.
    """
    text = answer_sentence(answer, lambda one: shown(one.shown))
    if len(text) > width:
        names = [one.name for one in answer.commands]
        short = short_names(names, max(_LEAST_NAME, width // 2 - 8))
        called = {
            one.variant: quoted(name) if one.shown != one.name else name
            for one, name in zip(answer.commands, short, strict=True)
        }
        text = answer_sentence(answer, lambda one: called[one.variant])
    return [*_filled(text, width), *_filled(f"({_grounds(answer)})", width)]


def answer_sentence(answer: CompareAnswer, called: _Called = attrgetter("shown")) -> str:
    """Say the answer in one line, without what stands in brackets; `called`: what each command is."""
    if not answer.answered:
        return _no_answer(answer, called)
    base = answer.base
    if len(answer.others) > 1:
        return _of_several(answer, called)
    if not answer.others:
        mean, name = base.times.mean, called(base)
        return f"no run of {name} counts" if mean is None else f"{name} takes {_time(mean)}"
    (one,) = answer.others
    assert one.difference is not None
    if one.line is not None and one.line.reason == "cut-off":
        return f"no answer for {called(one)} against {called(base)}: {REASONS['cut-off']}"
    word, margin = one.word or "undecided", answer.verdict.question.margin
    return one.difference.answer(word, called(one), called(base), margin=margin)


def _of_several(answer: CompareAnswer, called: _Called) -> str:
    """Name the fastest, if each of the others is decided against it, or who may be it."""
    count, standing = len(answer.commands), answer.standing
    possible = [one for one in answer.commands if one.variant in answer.possible]
    if standing is None or (len(possible) == count and standing.beside):
        return f"no fastest of {count}: nothing is decided between them"
    within = f"within {100 * answer.verdict.question.margin:g} %"
    if len(possible) == count:
        return f"all {count} take the same time, {within}"
    leader = next(one for one in answer.commands if one.variant == standing.leader)
    if len(possible) > 1:
        tied = [called(leader), *(called(one) for one in possible if one is not leader)]
        alike = {one.variant for one in possible} <= {leader.variant, *standing.alike}
        few = len(tied) <= _NAMED and not alike
        named = " or ".join(tied) if few else f"{'' if alike else 'one of '}{listed(tied, _NAMED)}"
        why = f"the same {within}" if alike else "undecided between them"
        return f"fastest of {count}: {named} ({why}){_losers(answer, called)}"
    found = leader.difference
    if leader is answer.base or found is None:
        return f"{called(leader)} is the fastest of {count}"
    phrase = re.sub("^(is|takes) ", "", found.phrase())
    interval = f" ({found.interval()})" if found.interval() else ""
    against = f"{phrase} {found.link} {called(answer.base)}{interval}"
    return f"{called(leader)} is the fastest of {count}: {against}"


def _losers(answer: CompareAnswer, called: _Called) -> str:
    losers = [one for one in answer.commands if one.variant not in answer.possible]
    if len(losers) > _NAMED:
        return f"; {len(losers)} others are slower than one of them"
    faster = next((one for one in answer.others if one.word == "faster"), None)
    text = ""
    for one in losers:
        if one.word == "slower" and one.difference is not None:
            text += f"; {one.difference.sentence(called(one), called(answer.base))}"
        elif one is answer.base and faster is not None and faster.difference is not None:
            text += f"; {faster.difference.turned().sentence(called(one), called(faster))}"
        else:
            text += f"; {called(one)} is slower than one of them"
    return text


def _no_answer(answer: CompareAnswer, called: _Called) -> str:
    failing = [one for one in answer.commands if one.times.failed and not one.answered]
    if answer.base.times.failed and answer.base not in failing:
        failing.insert(0, answer.base)
    if not failing:
        return "no answer: no run counts"
    worst = max(failing, key=lambda one: one.times.failed / (one.times.runs + one.times.failed))
    text = f"no answer: {worst.failed} runs of {called(worst)} failed ({worst.how})"
    if len(answer.others) != 1:
        return text
    other = answer.base if worst is answer.others[0] else answer.others[0]
    return f"{text}, {other.failed} of {called(other)}"


def _grounds(answer: CompareAnswer) -> str:
    """Give what stands in brackets: the interval, runs, sessions, and the time of measuring."""
    interval = ""
    if answer.answered and len(answer.others) < 2:
        interval = (
            _interval(*answer.others) if answer.others else _interval_of_times(answer.verdict)
        )
    runs = [one.times.runs for one in answer.commands]
    sessions = max(one.times.sessions for one in answer.commands)
    text = counted(sum(runs), "run")
    if len(runs) > 1 and len(set(runs)) == 1:
        text = f"{counted(runs[0], 'run')} each"
    spent = f"{text} in {counted(sessions, 'session')}, {time_span(answer.seconds)}"
    return f"{interval}; {spent}" if interval else spent


def _interval(one: ComparedCommand) -> str:
    """Give the interval; of what takes the same time it has a side, which the sentence does not say."""
    gap = one.difference
    if gap is None or one.word == "undecided":  # whose sentence holds it
        return ""
    found = gap.interval()
    if one.word != "equivalent" or gap.ratio is None or "less" in found or "more" in found:
        return found
    return f"{found} {'less' if gap.ratio < 1 else 'more'}"


def _interval_of_times(verdict: Verdict) -> str:
    """Give the interval of one command's time in its unit: ``97 to 103``; "" where there is none."""
    one = verdict.alone[0] if verdict.alone else None
    if one is None or one.low is None or one.high is None:
        return ""
    if Difference(1.0, one.low, one.high).too_few:
        return "too few to say between what and what"
    factor = row_unit(one.mean).factor
    width = (one.high - one.low) / factor
    decimals = 0 if width >= 9.5 else 1 if width >= 0.95 else 2 if width >= 0.095 else 3
    return f"{one.low / factor:.{decimals}f} to {one.high / factor:.{decimals}f}"


def _filled(text: str, width: int) -> list[str]:
    """Break a sentence into lines; nothing is wider, and ``5 %`` and ``5 s`` stay together."""
    whole = re.sub(r"(?<=\d) (?=(?:%|[mµn]?s|min|h)(?!\w))", "\N{NO-BREAK SPACE}", text)
    lines = textwrap.wrap(whole, width, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


# --- The page: the sentence, a row for each command, what to note, what comes next.

_GAP = 2
_MOST_NOTES = 3
_SHORT_S = 0.005  # below it, starting a process may be much of a run
_RANGE = "min … max"
_DISPENSABLE = ("system", "user", "spread", _RANGE)  # what goes first where a row is too wide
_METRIC_UNITS = {"max_rss": "B", "peak_memory_tree": "B"}
_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def next_step(answer: CompareAnswer) -> Next | None:
    """Give what comes after the verdict; where failed runs withhold it, which of them failed."""
    verdict = answer.verdict
    trial = verdict.data.path or verdict.data.trial or ""
    if not answer.answered:
        return next_of_failing(trial)
    undecided = any(one.word == "undecided" for one in answer.others)
    if undecided and len(answer.others) > 1 and not verdict.way_on.closed:
        return Next(("fairtrial", "compare", "--resume", trial), "goes on with what is undecided")
    return next_of(verdict)


def _notes(answer: CompareAnswer) -> Iterator[str]:
    """Give the sentences that a reader needs with the numbers, those that change them most first."""
    for one in answer.commands:
        if one.times.failed and (one.answered or one is answer.base):
            left = f"{'is' if one.times.failed == 1 else 'are'} left out"
            if one.times.cut:
                left = f"{one.times.cut} of them count with their limit, as at least that"
            yield f"{one.failed} runs of {one.shown} failed and {left} ({one.how})"
        elif one.times.failed and len(answer.others) > 1:
            yield f"no answer for {one.shown}: {one.failed} runs failed ({one.how})"
    base = answer.base.times
    for one in answer.others:
        gap, there = (one.times.mean or 0.0) - (base.mean or 0.0), one.times.sessions
        if there < base.sessions and {"faster": gap > 0, "slower": gap < 0}.get(one.word or ""):
            text = f"{one.shown} has runs in {there} of {counted(base.sessions, 'session')}"
            yield f"{text}: the last column compares in these, the means do not"
    least = min((one.times.mean for one in answer.commands if one.times.mean), default=_SHORT_S)
    if least < _SHORT_S:
        yield f"a run is {_time(least)}: much of it may be starting a process"
    if (count := len(answer.others)) > 1:
        sure = answer.verdict.question.confidence
        level = 100 * (1 - (1 - sure) / count)
        yield f"each interval is at {level:.4g} %, and they hold together in {100 * sure:g} %"


def _table(answer: CompareAnswer, width: int) -> Table:
    several = len(answer.others) > 1
    columns = _columns(answer)
    last = [_last(one, answer) for one in answer.commands]
    rest = _GAP + max(map(len, last)) if answer.others else 0

    def room() -> int:
        taken = sum(_GAP + max(map(len, (head, *cells))) for head, cells in columns.items())
        return width - taken - rest

    for heading in _DISPENSABLE:
        if room() < _GAP + _LEAST_NAME:
            columns.pop(heading, None)
    head, names = "", [one.name for one in answer.commands]
    if max(map(len, names)) > max(
        _LEAST_NAME, room()
    ):  # parameters' names stand above their values
        head, names = _heading_of(names)
    names = short_names(names, max(_LEAST_NAME, room(), len(head)))
    left = room() + rest - _GAP - max(map(len, (head, *names)))
    heads = (f"against {names[answer.baseline]}", "against 1st") if several else ()
    columns = {head: names, **columns}
    if answer.others:
        columns[next((one for one in heads if len(one) <= left), " ")] = last
    return Table(
        name="times",
        columns=tuple(
            Column(head.strip(), "left" if cells in (names, last) else "right")
            for head, cells in columns.items()
        ),
        rows=tuple(zip(*columns.values(), strict=True)),
    )


def _heading_of(names: Sequence[str]) -> tuple[str, list[str]]:
    """Take the heads that all words share out of names like ``size=1 mode=a``; "" where they are no such names."""
    words = [[word.partition("=") for word in name.split()] for name in names]
    heads = {tuple(head if sign else "" for head, sign, _ in each) for each in words}
    if len(heads) > 1 or "" in (found := heads.pop()):
        return "", [*names]
    return " ".join(found), [" ".join(value for *_, value in each) for each in words]


def _columns(answer: CompareAnswer) -> dict[str, list[str]]:
    """Give the columns of numbers: heading -> a cell for each command."""
    metrics = dict.fromkeys(metric for one in answer.commands for metric in one.means)
    headings = ("mean", "spread", "user", "system", _RANGE, *metrics)
    rows = []
    for one in answer.commands:
        times, unit = one.times, row_unit(one.times.mean, answer.units)
        rows.append(
            (
                f"{'≥ ' * bool(times.cut)}{_told_apart(one, unit, answer).time(times.mean)}",
                "-" if times.spread is None else spread(times.spread),
                unit.time(times.user),
                unit.time(times.system),
                unit.time(times.minimum, times.maximum),
                *(_mean(one.means.get(metric), metric) for metric in metrics),
            )
        )
    return dict(zip(headings, map(list, zip(*rows, strict=True)), strict=True))


def _told_apart(one: ComparedCommand, unit: RowUnit, answer: CompareAnswer) -> RowUnit:
    """Give a row's unit with the decimals that its mean needs where it is decided to differ."""
    others = answer.others if one is answer.base else (one,)
    decided = [other.times.mean for other in others if other.word in ("faster", "slower")]
    base = answer.base.times.mean or 0.0
    gaps = [abs(mean - base) / unit.factor for mean in decided if mean and mean != base]
    needed = [math.ceil(-math.log10(gap)) for gap in gaps]
    return unit._replace(decimals=max([unit.decimals, *needed]))


def _mean(value: float | None, metric: str) -> str:
    if value is None:
        return "-"
    if metric in _METRIC_UNITS:
        return quantity(value, _METRIC_UNITS[metric])
    factor, sign = next((one for one in _SCALES if value >= 0.9995 * one[0]), (1.0, ""))
    return f"{value / factor:.3g} {sign}".strip()


def _last(one: ComparedCommand, answer: CompareAnswer) -> str:
    several, found = len(answer.others) > 1, one.difference
    if one is answer.base:
        return "-" if several else ""
    if not one.answered and one.times.failed:
        return f"{one.failed} failed"
    if found is None or not one.answered:
        return "no answer"
    if one.word == "undecided":
        return f"? {found.cell_interval()}" if several and found.low is not None else "undecided"
    if one.word == "equivalent":
        return f"same within {100 * answer.verdict.question.margin:g} %"
    return re.sub("^(is|takes) ", "", found.phrase()).removesuffix(" as")


def screen_of(
    answer: CompareAnswer, width: int = 80, notes: Sequence[str] = (), *, short: bool = False
) -> str:
    """Set the answer as text of `width` columns, `short` its sentence alone; `notes` are further ones."""
    width = max(width, _LEAST_WIDTH)
    if short:
        return "\n".join(answer_lines(answer, width))
    return as_text.render(answer.screen(width, notes), width=width)
