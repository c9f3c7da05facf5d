"""The answer of `fairtrial compare`: the verdict on its trial, beside the commands and how long they took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ...methods.multilevel.failures import fisher
from ...pages.difference import Difference
from ...pages.result import Result, plain
from ..judging import judge
from ..times import VariantTimes, means_of, times_of
from .names import numbered, quoted

if TYPE_CHECKING:
    from ...data.trial import Trial
    from ...methods.multilevel.result import BenchmarkLine
    from ...pages.number_format import Word
    from ..result import Verdict

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
    def said(self) -> str:
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
    said : tuple of str
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
    said: tuple[str, ...] = ()
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
        from .following import next_step
        from .sentences import answer_sentence

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
            "notes": list(self.said),
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
