"""The answer of `fairtrial compare`: the verdict on its trial, beside the commands and how long they took."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ..methods.multilevel.failures import fisher
from ..pages import as_text
from ..pages.difference import Difference
from ..pages.model import Column, Next, Note, Page, Section, Sentence, Table, page_of
from ..pages.number_format import listed, quantity
from ..pages.result import Result, plain
from .compare_sentences import (
    MARK,
    answer_lines,
    numbered,
    quoted,
    row_unit,
    short_names,
    time_text,
)
from .judging import judge
from .sides import VariantTimes, means_of, times_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..data.trial import Trial
    from ..methods.multilevel.result import BenchmarkLine
    from ..pages.number_format import Word
    from .result import Verdict

_RISK = 0.05  # of Fisher's test on failed runs
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """How many of a command's runs failed, and how most of them ended, such as ``exit code 137``."""

    failed: int
    runs: int
    how: str

    @property
    def share(self) -> str:
        """So many of so many: ``9 of 24 runs``."""
        return f"{self.failed} of {self.runs} run{'s' * (self.runs != 1)}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComparedCommand:
    """One command: how it is called, its times, and its line against the baseline.

    `shown`: What a sentence calls it, quotes included. `line`: None of the baseline, and where nothing can be
    judged. `failing`: None where no run failed. `answered`: Whether its failed runs leave an answer.
    `means`: Of further metrics that were asked for, in their units. `parameters`: The values that fill it.
    """

    command: str
    variant: str
    name: str
    shown: str
    times: VariantTimes
    line: BenchmarkLine | None
    failing: Failing | None = None
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

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON has it: times in seconds."""
        known = plain(self.times)
        renamed = {"minimum": "min", "maximum": "max"}
        return {
            "command": self.command,
            "name": self.name,
            **{renamed.get(key, key): value for key, value in known.items()},
            **({"means": dict(self.means)} if self.means else {}),
        }


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

    Attributes
    ----------
    verdict : Verdict
        On the trial; all numbers of differences are its.
    commands : tuple of ComparedCommand
        In the order in which they were typed.
    baseline : int
        Which of them is the baseline.
    standing : Standing or None
        Who leads of three and more.
    stopped_because : str or None
        Why no more was measured, as in the trial's plan of looks.
    looked_at : tuple of int
        The numbers of sessions at which one has looked.
    seconds : float
        Of measuring, in all sittings.
    wanted_s : float or None
        How many more seconds would decide with a chance of 80 %, what is undecided; None where nobody knows.
    notes : tuple of str
        Sentences about how it was measured, such as exit codes that counted.
    folder : str
        The folder of the trial's name, where it is not the one that commands look in by themselves; else "".
    again : tuple of str
        The words of the command line that measured it, commands and names last, for a new comparison.
    units : str or None
        The unit of time in the table, ``s``, ``ms`` or ``us``; chosen row by row where None.
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
    wanted_s: float | None = None
    notes: tuple[str, ...] = ()
    folder: str = ""
    again: tuple[str, ...] = ()
    units: str | None = None
    open_list: bool = False

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
    def open(self) -> tuple[ComparedCommand, ...]:
        """The commands that are undecided against the baseline."""
        return tuple(one for one in self.others if one.word in {"undecided", None})

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

    @property
    def failed(self) -> int:
        """How many runs failed, of all commands."""
        return sum(one.times.failed for one in self.commands)

    def to_dict(self) -> dict[str, Any]:
        """Give the verdict's keys and what `compare` adds."""
        from .compare_sentences import answer_sentence

        told = self.verdict.to_dict()
        by_name = {one.variant: one for one in self.commands}
        candidates = [one | by_name[one["variant"]].to_dict() for one in told["candidates"]]
        return told | {
            "method": self.method,
            "candidates": candidates,
            "sentence": answer_sentence(self),
            "next": [step.line for step in (next_step(self),) if step],
            "commands": [one.command for one in self.commands],
            "baseline_times": self.base.to_dict(),
            "stopped_because": self.stopped_because,
            "looked_at": list(self.looked_at),
            "measuring_s": self.seconds,
            "leader": None if self.standing is None else self.standing.leader,
            "standing": self.standing and plain(self.standing) | {"possible": list(self.possible)},
            "notes": list(self.notes),
        }


def answer_of(
    trial: Trial,
    commands: Sequence[NamedCommand],
    *,
    seconds: float,
    counted: Sequence[str] = (),
    **known: Any,  # noqa: ANN401 - the further fields of a CompareAnswer
) -> CompareAnswer:
    """Judge a comparison's trial, and put beside it what its commands took.

    Parameters
    ----------
    trial : Trial
        Of one benchmark.
    commands : sequence of NamedCommand
        All of the trial's variants.
    seconds : float
        Of measuring, in all sittings.
    counted : sequence of str
        Further metrics whose means are shown.

    Raises
    ------
    InsufficientDataError
        If no run of any command counts.
    UsageError
        If a metric is unknown.
    """
    plan = trial.manifest.looks_plan
    verdict = judge(trial, metric="wall", margin=0.01 if plan is None else plan.margin)
    benchmark = trial.manifest.benchmarks[0]
    times = times_of(trial)
    means = {metric: means_of(trial, metric) for metric in counted}
    lines = {
        one.variant: one.multilevel.benchmarks[0]
        for one in verdict.candidates
        if one.multilevel is not None and one.multilevel.benchmarks
    }
    baseline = next(k for k, one in enumerate(commands) if one.variant == verdict.baseline)
    failing = {one.variant: _failing(trial, one.variant, times) for one in commands}
    called = numbered([one.name or one.command for one in commands])
    found = []
    for one, name in zip(commands, called, strict=True):
        cell = (benchmark, one.variant)
        found.append(
            ComparedCommand(
                command=one.command,
                variant=one.variant,
                name=name,
                shown=name if one.name else _quoted(one.command, name),
                times=times.get(cell) or _NOTHING,
                line=lines.get(one.variant),
                failing=failing[one.variant],
                answered=_answers(times.get(cell), times.get((benchmark, verdict.baseline))),
                parameters=one.parameters,
                means={metric: of[cell] for metric, of in means.items() if cell in of},
            )
        )
    looks = () if plan is None else plan.looks
    usual: dict[str, Any] = {
        "stopped_because": None if plan is None else plan.stopped_because,
        "looked_at": tuple(look for look in looks if look <= trial.sessions),
        "open_list": plan is not None and plan.open,
        "cautions": verdict.cautions,
        "references": verdict.references,
    }
    return CompareAnswer(
        verdict=verdict,
        commands=tuple(found),
        baseline=baseline,
        seconds=seconds,
        **usual | known,
    )


_NOTHING = VariantTimes(
    mean=None,
    spread=None,
    user=None,
    system=None,
    minimum=None,
    maximum=None,
    max_rss=None,
    runs=0,
    sessions=0,
    failed=0,
)


def _quoted(command: str, name: str) -> str:
    """Quote a command; the number that tells it from one like it stands behind the quotes."""
    return quoted(command) + name.removeprefix(command)


def _failing(
    trial: Trial, variant: str, times: Mapping[tuple[str, str], VariantTimes]
) -> Failing | None:
    one = times.get((trial.manifest.benchmarks[0], variant))
    if one is None or not one.failed:
        return None
    ways = Counter(
        _way(run.outcome, run.exit_code, run.signal)
        for run in trial.failed
        if run.variant == variant and not run.warmup
    )
    how = ways.most_common(1)[0][0] if ways else "unknown"
    return Failing(failed=one.failed, runs=one.runs + one.failed, how=how)


def _way(outcome: str, code: int | None, signal: int | None) -> str:
    if outcome == "exit":
        return f"exit code {code}"
    return f"signal {signal}" if outcome == "signal" else outcome


def _answers(mine: VariantTimes | None, base: VariantTimes | None) -> bool:
    """Tell whether failed runs leave an answer: few failed, and no more of one side than by chance."""
    if mine is None or not mine.runs or base is None:
        return False
    if any(side.failed > _FEW * (side.runs + side.failed) for side in (mine, base)):
        return False
    sides = (mine.failed, mine.runs + mine.failed, base.failed, base.runs + base.failed)
    return not (mine.failed or base.failed) or fisher(*sides) >= _RISK


# --- What a comparison's reader should note, and the one command that comes next.


MOST_NOTES = 3
_SHORT_S = 0.005  # below it, starting a process is most of a run
_HOPELESS = 100  # times the time that was spent
_HOUR_S = 3600.0
_MOST_MARGIN = 10  # per cent; a wider one answers no question
_STEPS_S = (20, 30, 45, 60, 90, 120, 180, 240, 300, 420, 600, 900, 1200, 1800, 2700, 3600)
_LAST_LOOK = 108
_SESSIONS = 2  # fewer say nothing about a difference


def notes_of(answer: CompareAnswer) -> list[str]:
    """Give the sentences that a reader needs beside the numbers, those that change them most first."""
    found: list[str] = []
    for one in answer.commands:
        if one.failing is not None and (one.answered or one is answer.base):
            left = f"and {'is' if one.failing.failed == 1 else 'are'} left out"
            if one.times.cut:
                left = f"and {one.times.cut} of them count with their limit, as at least that"
            found.append(f"{one.failing.share} of {one.shown} failed {left} ({one.failing.how})")
        elif one.failing is not None and len(answer.others) > 1:
            found.append(
                f"no answer for {one.shown}: {one.failing.share} failed ({one.failing.how})"
            )
    found += answer.notes
    if answer.stopped_because == "depends":
        found.append("sessions resemble their neighbours: no word is safe; measure again later")
    if answer.stopped_because == "interrupted":
        found.append("stopped by you: this is what was measured until then")
    if not answer.looked_at and answer.others and answer.verdict.sessions < _SESSIONS:
        found.append("one session tells nothing of another: times, and no word")
    short = [one for one in answer.commands if one.times.mean and one.times.mean < _SHORT_S]
    if short:
        least = min(one.times.mean for one in short if one.times.mean)
        found.append(f"a run is {time_text(least)}: starting a process is most of it")
    count = len(answer.others)
    if count > 1:
        level = 100 * (1 - (1 - answer.verdict.confidence) / count)
        found.append(
            f"{len(answer.commands)} commands: each interval is at {level:.4g} %, so {_number(count)} "
            f"hold together in {100 * answer.verdict.confidence:g} %"
        )
    return found


def next_step(answer: CompareAnswer) -> Next | None:
    """Give the command that comes next, and what it is for; None where nothing was measured."""
    trial = answer.verdict.path or answer.verdict.trial or ""
    if not answer.answered:
        return Next(("fairtrial", "status", trial), "which runs failed, and how")
    if answer.stopped_because == "interrupted" and (_unsettled(answer) or not answer.others):
        return Next(_resume(answer), "goes on")
    unsettled = _unsettled(answer)
    if not unsettled:
        where = (trial,) if answer.folder else ()
        return Next(("fairtrial", "report", *where, "-o", "report.html"), "every run, as a page")
    names = listed([one.shown for one in unsettled], 2)
    if answer.stopped_because == "depends":
        return Next(_resume(answer), "later: adds sessions of another time")
    if answer.stopped_because == "runs":
        return Next(_anew(answer), "looks until it is certain")
    wanted = answer.wanted_s
    if wanted is not None and (wanted > _HOPELESS * answer.seconds or wanted > _HOUR_S):
        percent = _margin_percent(answer)
        if percent > _MOST_MARGIN:
            why = "nothing within an hour would settle it: "
            if any(one.code == "modes" for one in answer.verdict.cautions):  # no host's fault
                return Next(("fairtrial", "sources", trial), f"{why}what makes the modes")
            return Next(("fairtrial", "doctor"), f"{why}a quieter host, or longer runs")
        return Next(
            _anew(answer, "--margin", f"{percent}%"),
            "nothing within an hour would settle it: a wider margin, or longer runs",
        )
    last = answer.looked_at[-1] if answer.looked_at else 0
    if last >= _LAST_LOOK and not answer.open_list:
        return Next(_anew(answer, "--open"), "this list has no more looks: a new compare")
    if wanted is None:
        return Next((*_resume(answer), "--for", "60s"), f"more sessions for {names}")
    settles = (
        "settles it with a chance of 80 %" if len(answer.others) == 1 else f"would settle {names}"
    )
    return Next((*_resume(answer), "--for", duration_text(wanted)), settles)


def _unsettled(answer: CompareAnswer) -> list[ComparedCommand]:
    """List the commands that are undecided against the baseline, or that may be the fastest."""
    tied: set[str] = set()
    if answer.standing is not None and answer.standing.beside:
        tied = {answer.standing.leader, *answer.standing.beside}
    return [one for one in answer.commands if one in answer.open or one.variant in tied]


def duration_text(seconds: float) -> str:
    """Round a time up to one that a person would type: ``90s``, ``2m``, ``45m``."""
    step = next((one for one in _STEPS_S if one >= seconds), None)
    if step is None:
        return f"{math.ceil(seconds / _HOUR_S)}h"
    return f"{step}s" if step < 120 else f"{step // 60}m"


def _resume(answer: CompareAnswer) -> tuple[str, ...]:
    named = (answer.verdict.path or "",) if answer.folder else ()
    return ("fairtrial", "compare", "--resume", *named)


def _anew(answer: CompareAnswer, *options: str) -> tuple[str, ...]:
    words = answer.again or tuple(one.command for one in answer.commands)
    return ("fairtrial", "compare", *options, *words)


def _margin_percent(answer: CompareAnswer) -> int:
    """Give the per cent within which both ends of every undecided interval lie, rounded up."""
    ends = [
        abs(end - 1)
        for one in answer.open
        if (told := one.difference) is not None
        for end in (told.low, told.high)
        if end is not None
    ]
    return max(
        math.ceil(100 * max(ends, default=0.01)), math.floor(100 * answer.verdict.margin) + 1
    )


def _number(count: int) -> str:
    words = {2: "both", 3: "all three", 4: "all four", 5: "all five", 6: "all six"}
    return words.get(count, f"all {count}")


# --- The page of a comparison: the sentence, a row for each command, what to note, what comes next.


WIDTH = 80
_GAP = 2
_LEAST_NAME = 8
_LEAST_WIDTH = 24
_LARGE = 0.0095  # a spread that needs no decimal
# what goes first where a row is too wide
_DISPENSABLE = ("system", "user", "spread", f"min {MARK} max")
_BETTER, _WORSE = "34", "33"  # blue, orange: told apart by whoever does not see red and green
_COLOURS: dict[Word, str] = {"faster": _BETTER, "slower": _WORSE}


def page_at(answer: CompareAnswer, width: int = WIDTH, notes: Sequence[str] = ()) -> Page:
    """Give the page for a screen of so many columns; `notes` are further ones, such as cautions."""
    width = max(width, _LEAST_WIDTH)
    sections = [
        Section(tuple(Sentence(line) for line in answer_lines(answer, width))),
        Section((_table(answer, width),)),
    ]
    said = [*notes_of(answer), *notes][:MOST_NOTES]
    step = next_step(answer)
    below: tuple[Note | Next, ...] = tuple(Note(text) for text in said)
    below += () if step is None else (step,)
    if below:
        sections.append(Section(below))
    return Page(title="compare", sections=tuple(sections))


def screen_of(
    answer: CompareAnswer,
    width: int = WIDTH,
    notes: Sequence[str] = (),
    *,
    short: bool = False,
    coloured: bool = False,
) -> str:
    """Set the answer as text, `short` its sentence alone; `coloured` repeats words in colour."""
    if short:
        return "\n".join(answer_lines(answer, max(width, _LEAST_WIDTH)))
    text = as_text.render(page_at(answer, width, notes), width=max(width, _LEAST_WIDTH))
    return "\n".join(_painted(text.split("\n"), answer)) if coloured else text


@page_of.register(CompareAnswer)
def _(answer: CompareAnswer) -> Page:
    return page_at(answer)


def _table(answer: CompareAnswer, width: int) -> Table:
    """Give the rows with what fits into the width."""
    several = len(answer.others) > 1
    columns = _columns(answer)
    last = [] if not answer.others else _last(answer, several=several, narrow=False)
    if last:
        wide = _width(columns) + _GAP + max(map(len, last)) + _GAP + _LEAST_NAME
        if wide > width:
            last = _last(answer, several=several, narrow=True)
    rest = _GAP + max(map(len, last)) if last else 0
    for heading in _DISPENSABLE:
        if _width(columns) + rest + _GAP + _LEAST_NAME > width:
            columns.pop(heading, None)
    room = width - _width(columns) - rest
    names = short_names([one.name for one in answer.commands], room)
    taken = _width(columns) + max(map(len, names)) + _GAP
    headings = (f"against {names[answer.baseline]}", "against 1st") if several else ()
    heading = next((one for one in headings if taken + len(one) <= width), "")
    rows = []
    for k, name in enumerate(names):
        row = [name, *(cells[k] for cells in columns.values())]
        rows.append(tuple([*row, last[k]] if last else row))
    heads = [Column("", "left"), *(Column(one) for one in columns)]
    if last:
        heads.append(Column(heading, "left"))
    return Table(name="times", columns=tuple(heads), rows=tuple(rows))


def _columns(answer: CompareAnswer) -> dict[str, list[str]]:
    """Give the columns of numbers: heading -> a cell for each command."""
    found: dict[str, list[str]] = {
        name: [] for name in ("mean", "spread", "user", "system", f"min {MARK} max")
    }
    for one in answer.commands:
        times = one.times
        unit = row_unit(times.mean, answer.units)
        cells = (
            f"{'≥ ' * bool(times.cut)}{unit.time(times.mean)}",
            _spread(times.spread),
            unit.time(times.user),
            unit.time(times.system),
            unit.range(times.minimum, times.maximum),
        )
        for column, cell in zip(found.values(), cells, strict=True):
            column.append(cell)
    for metric in dict.fromkeys(metric for one in answer.commands for metric in one.means):
        found[metric] = [_mean(one, metric) for one in answer.commands]
    return found


def _spread(share: float | None) -> str:
    if share is None:
        return "-"
    return f"{100 * share:.0f} %" if share >= _LARGE or not share else f"{100 * share:.1f} %"


_METRIC_UNITS = {"max_rss": "B", "peak_memory_tree": "B"}
_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def _mean(one: ComparedCommand, metric: str) -> str:
    value = one.means.get(metric)
    if value is None:
        return "-"
    if metric in _METRIC_UNITS:
        return quantity(value, _METRIC_UNITS[metric])
    for factor, sign in _SCALES:
        if value >= 0.9995 * factor:
            return f"{value / factor:.3g} {sign}"
    return f"{value:.3g}"


def _width(columns: dict[str, list[str]]) -> int:
    return sum(_GAP + max(len(head), *map(len, cells)) for head, cells in columns.items())


def _last(answer: CompareAnswer, *, several: bool, narrow: bool) -> list[str]:
    """Give the last column: what each command takes more or less than the baseline."""
    return [
        ("-" if several else "")
        if one is answer.base
        else _word(one, answer, several=several, narrow=narrow)
        for one in answer.commands
    ]


def _word(one: ComparedCommand, answer: CompareAnswer, *, several: bool, narrow: bool) -> str:
    told = one.difference
    if not one.answered and one.failing is not None:
        return f"{one.failing.failed} of {one.failing.runs} failed"
    if told is None or not one.answered:
        return "no answer"
    if one.word == "undecided":
        if not several or told.low is None:
            return "undecided"
        return (
            f"? {told.cell_interval()}" if narrow or told.too_few else f"? {_ends(told.interval())}"
        )
    if one.word == "equivalent":
        return "same" if narrow else f"same within {100 * answer.verdict.margin:g} %"
    if narrow:
        return f"{told.cell()} {one.word}"
    return re.sub(r"^(is|takes) ", "", told.phrase()).removesuffix(" as")


def _ends(interval: str) -> str:
    """Shorten ``12 % less to 14 % more`` by its second sign: ``12 % less to 14 more``."""
    head, sep, tail = interval.rpartition(" to ")
    return f"{head}{sep}{tail.replace(' %', '')}" if "%" in head else interval


def _painted(lines: list[str], answer: CompareAnswer) -> Iterator[str]:
    """Colour the last cell of each row that is decided: what it says is said in words too."""
    table = next(
        block
        for section in page_at(answer).sections
        for block in section.blocks
        if isinstance(block, Table)
    )
    start = next(k for k, line in enumerate(lines) if line == "") + 2  # a blank line, then headings
    for k, line in enumerate(lines):
        number = k - start
        if not 0 <= number < len(table.rows) or not answer.others:
            yield line
            continue
        colour = _COLOURS.get(answer.commands[number].word or "undecided")
        head, gap, word = line.rpartition("  ")
        yield line if colour is None else f"{head}{gap}\x1b[{colour}m{word}\x1b[0m"
