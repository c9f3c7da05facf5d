"""The answer of `fairtrial compare`: the verdict on its trial, beside the commands and how long they took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ..methods.multilevel.failures import fisher
from ..pages import as_text
from ..pages.difference import Difference
from ..pages.model import Page, page_of
from ..pages.result import Result, plain
from .compare_sentences import (
    answer_lines,
    answer_sentence,
    next_step,
    numbered,
    page_at,
    quoted,
)
from .judging import judge
from .sides import VariantTimes, means_of, times_of

if TYPE_CHECKING:
    from ..data.trial import Trial
    from ..methods.multilevel.result import BenchmarkLine
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
    line: BenchmarkLine | None
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
        renamed = {"minimum": "min", "maximum": "max"}
        times = {renamed.get(key, key): value for key, value in plain(self.times).items()}
        means = {"means": dict(self.means)} if self.means else {}
        return {"command": self.command, "name": self.name, **times, **means}


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
        On the trial; all numbers of differences are its, and what to do next.
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
    notes : tuple of str
        Sentences about how it was measured, such as exit codes that counted.
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
    """Judge a comparison's trial, and put beside it what its commands took.

    Parameters
    ----------
    trial : Trial
        Of one benchmark.
    commands : sequence of NamedCommand
        All of the trial's variants.
    seconds : float
        Of measuring, in all sittings.
    counters : bool
        Whether the means of what was counted, and of memory, are columns.
    standing : Standing, optional
        Who leads of three and more.
    notes : sequence of str
        Sentences about how it was measured.
    units : str, optional
        As of a `CompareAnswer`.

    Raises
    ------
    InsufficientDataError
        If no run of any command counts.
    """
    plan = trial.manifest.looks_plan
    verdict = judge(trial, metric="wall", margin=0.01 if plan is None else plan.margin)
    benchmark, times = trial.manifest.benchmarks[0], times_of(trial)
    base = times.get((benchmark, verdict.baseline))
    counted = [*filter(trial.is_counter, trial.manifest.metrics)]  # also of an earlier sitting
    metrics = [*counted, "max_rss"] if counters or counted else []
    means = {metric: means_of(trial, metric) for metric in metrics}
    lines = {
        one.variant: one.multilevel.benchmarks[0]
        for one in verdict.candidates
        if one.multilevel is not None and one.multilevel.benchmarks
    }
    found = []
    for one, name in zip(commands, numbered([x.name or x.command for x in commands]), strict=True):
        cell = (benchmark, one.variant)
        number = name.removeprefix(one.command)  # that tells it from one like it
        found.append(
            ComparedCommand(
                command=one.command,
                variant=one.variant,
                name=name,
                shown=name if one.name else f"{quoted(one.command)}{number}",
                times=times.get(cell, VariantTimes()),
                line=lines.get(one.variant),
                how=_how(trial, one.variant),
                answered=_answers(times.get(cell), base),
                parameters=one.parameters,
                means={metric: of[cell] for metric, of in means.items() if cell in of},
            )
        )
    return CompareAnswer(
        verdict=verdict,
        commands=tuple(found),
        baseline=[one.variant for one in commands].index(verdict.baseline),
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
    if any(side.failed > _FEW * (side.runs + side.failed) for side in (mine, base)):
        return False
    sides = (mine.failed, mine.runs + mine.failed, base.failed, base.runs + base.failed)
    return not (mine.failed or base.failed) or fisher(*sides) >= _RISK


@page_of.register(CompareAnswer)
def _page(answer: CompareAnswer) -> Page:
    return page_at(answer)


def screen_of(
    answer: CompareAnswer, width: int = 80, notes: Sequence[str] = (), *, short: bool = False
) -> str:
    """Set the answer as text of so many columns, `short` its sentence alone; `notes` are further ones."""
    width = max(width, _LEAST_WIDTH)
    if short:
        return "\n".join(answer_lines(answer, width))
    return as_text.render(page_at(answer, width, notes), width=width)
