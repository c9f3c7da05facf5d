"""Two trials compared: what becomes of each effect, what differs around them, and the screen of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from ..data.host_record import setting_text
from ..methods.multilevel.page import looks_text, needed_text
from ..pages import number_format as figures
from ..pages.model import Page, Section, Sentence, Table, Value, section, table_of
from ..pages.number_format import Word, counted, outcome_word
from ..pages.result import Result
from ..record.environment import Change
from ..words import Name, apart, command_line
from .comparison_effects import (
    Agreement,
    CandidateComparison,
    Effect,
    EffectComparison,
    Reproduction,
)
from .sentence import short_name

if TYPE_CHECKING:
    from ..data.runs import Unit
    from ..methods.multilevel.result import LookRisk

_REFERENCES = (
    "B. L. Welch, The generalization of 'Student's' problem when several different population "
    "variances are involved, Biometrika 34, 1947",
    "S. K. Banerjee, Approximate confidence interval for linear functions of means of k populations "
    "when the population variances are not equal, Sankhya 22, 1960",
    "S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of "
    "Statistics 6, 1979",
    "N. Schenker, J. F. Gentleman, On judging the significance of differences by examining the "
    "overlap between confidence intervals, The American Statistician 55, 2001",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantLevel:
    """How fast a variant's runs are in the new trial, compared with the old one."""

    variant: str
    benchmark: str | None
    mean_old: float | None
    mean_new: float | None
    ratio: float | None
    low: float | None
    high: float | None
    outcome: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSide:
    """One of the two trials: what it is, and how it was measured."""

    unlisted: ClassVar[frozenset[str]] = frozenset({"look", "outermost"})
    derived: ClassVar[tuple[str, ...]] = ("look.*",)

    label: str
    trial: str
    path: str
    campaign: str
    identity: str
    identity_rule: int
    host: str
    host_id: str | None
    cpu_model: str | None
    baseline: str
    variants: tuple[str, ...]
    benchmarks: tuple[str, ...]
    seed: int
    planned_sessions: int
    runs: int
    warmup: int
    order: str | None
    stop: str | None
    sessions: int
    executed: int
    failed: int
    status: str
    started: str
    finished: str | None
    tool_version: str
    look: LookRisk
    outermost: Unit = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignChange:
    """A key of the resolved campaign that differs, with its values; None where a side lacks it."""

    key: str
    old: Any
    new: Any
    only: str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrialComparison(Result):
    """Two trials compared.

    Attributes
    ----------
    old, new : TrialSide
        The trials.
    metric, unit, better : str
        What is compared.
    confidence, margin : float
        Of the intervals; the largest factor less 1 that counts as equivalent.
    word : {"reproduced", "partly", "not", "cannot tell"}
        What becomes of the old trial's conclusions in the new one, over all candidates.
    same_trial : bool
        Whether both are one and the same trial.
    same_campaign : bool or None
        Whether the campaigns have one identity; None where two rules made them and nothing else
        tells, and where a trial was imported and had none.
    same_host : bool or None
        Whether one machine measured both; None where that is unknown, also where one machine id has
        two names.
    candidates : tuple of CandidateComparison
        The variants that both compare with their baseline.
    levels : tuple of Level
        Each variant's own runs in both trials; of no part in `word`.
    campaign : tuple of CampaignChange
        What differs between the campaigns, key by key.
    plan : tuple of CampaignChange
        What differs between the plans.
    environment : tuple of Change or None
        What differs between the environments of their first sessions; None where one is unknown.
    drift_old, drift_new : int or None
        How many changes the environment of each trial saw between its own sessions.
    only_old, only_new : mapping
        "variants" and "benchmarks" that one trial has only.
    """

    method: ClassVar[str] = "diff"
    unlisted: ClassVar[frozenset[str]] = frozenset({"environment"})
    derived: ClassVar[tuple[str, ...]] = ("pairs",)

    old: TrialSide
    new: TrialSide
    metric: str
    unit: str
    better: str
    confidence: float
    margin: float
    word: Reproduction
    same_trial: bool
    same_campaign: bool | None
    same_host: bool | None
    candidates: tuple[CandidateComparison, ...]
    levels: tuple[VariantLevel, ...]
    campaign: tuple[CampaignChange, ...]
    plan: tuple[CampaignChange, ...]
    environment: tuple[Change, ...] | None
    drift_old: int | None
    drift_new: int | None
    only_old: dict[str, tuple[str, ...]]
    only_new: dict[str, tuple[str, ...]]
    references: tuple[str, ...] = _REFERENCES

    @property
    def exit_code(self) -> int:
        """What a script may go by: 0 reproduced, 1 partly or not, 7 cannot tell."""
        return {"reproduced": 0, "cannot tell": 7}.get(self.word, 1)

    @property
    def pairs(self) -> list[dict[str, Any]]:
        """The changes of the environment, in the form of those between a trial's sessions."""
        if self.environment is None:
            return []
        changes = [change.to_dict() for change in self.environment]
        return [{"from": self.old.label, "to": self.new.label, "changes": changes}]

    def spoken(self, outcome: Word) -> str:
        """Give the word of an outcome as people say it of this metric."""
        return outcome_word(outcome, timed=figures.timed(self.unit))

    def screen(self) -> Page:
        """Set how the trials differ, each candidate's effects, and looks or levels."""
        sections = [section(" ".join(_sentences(self)))]
        several = len(self.candidates) > 1
        for number, one in enumerate(self.candidates, 1):
            title = f"{one.variant} against {one.baseline}" if several else ""
            sections.append(section(*_effects(self, one, number), title=title))
        sides = (self.old, self.new)
        looks = [f"{side.label}: {text}" for side in sides if (text := looks_text(side.look))]
        if looks:
            sections.append(section(*looks))
        if not (self.candidates or self.same_trial) and self.levels:
            title = "levels of the runs; above 1 the second is better"
            sections.append(section(*_levels(self), title=title))
        return Page(
            title=f"{self.old.label} and {self.new.label} compared",
            sections=(*sections, *_around(self)),
            cautions=self.cautions,
        )


# --- The screen: one sentence, a row for each effect, and what differs around the trials.

_NAME = 24  # columns of a name
_LONG = 60  # of a value of the campaign
_MOST = 16  # benchmarks shown of a candidate; those that differ come first
_ORDER = {"differs": 0, "cannot tell": 1, "compatible": 2, "agrees": 3}
_SAID = {"partly": "partly reproduced", "not": "not reproduced"}
_COUNTED: Mapping[Agreement, tuple[str, str]] = {
    "agrees": ("agrees", "agree"),
    "compatible": ("is compatible", "are compatible"),
    "differs": ("differs", "differ"),
    "cannot tell": ("is unclear", "are unclear"),
}
_REASONS = {
    "one-session": "{the} has fewer than two {noun}s",
    "no-value": "{the} has no value",
    "no-spread": "the sessions of {the} do not differ, and its clock's step is unknown",
    "depends": "the sessions of {the} resemble the ones before them",
    "no-steady-state": "in {the} too many runs reach no steady state",
    "unequal-values": "in {the} one side has more than twice as many values",
    "cut-off": "runs of {the} were stopped at their limit",
    "fails-more": "in {the} the candidate fails more often than the baseline",
    "too-wide": "the second is too short to see it",
}
_CAMPAIGN = {
    True: "The campaign is the same",
    False: "The campaigns differ",
    None: "Whether the campaigns are the same is not known",
}


def _sentences(result: TrialComparison) -> Iterator[str]:
    yield f"{result.old.label} -> {result.new.label}: {_SAID.get(result.word, result.word)}."
    if result.same_trial:
        yield "Both are one trial."
    elif not result.candidates:
        yield "No speedup of one trial has a partner in the other."
    for one in () if result.same_trial else result.candidates:
        sides = " against ".join(apart((one.variant, one.baseline), _NAME))
        word = f"{_SAID.get(one.word, one.word)}; " * (len(result.candidates) > 1)
        yield f"{sides}: {word}{_counts(one)}."
    names = f"{result.old.host}, {result.new.host}"
    host = "whether one machine measured both is not known"
    if result.same_host:
        host = f"one machine measured both ({result.new.host})"
    elif result.same_host is not None:
        host = f"two machines measured them ({names})"
    elif result.old.host_id == result.new.host_id is not None:
        host += f": one machine id has two names ({names}), as after renaming or cloning a machine"
    around = "the environment of at least one is not known"
    if result.environment is not None:
        count = len(result.environment)
        things = counted(count, "thing") if count else "nothing"
        around = f"{things} {'differs' if count < 2 else 'differ'} between their environments"
    yield f"{_CAMPAIGN[result.same_campaign]}; {host}; {around}."


def _counts(one: CandidateComparison) -> str:
    agreements = [line.agreement for line in one.benchmarks]
    if len(agreements) == 1:
        return f"{short_name(one.benchmarks[0].name)} {_COUNTED[agreements[0]][0]}"
    differing = [short_name(line.name) for line in one.benchmarks if line.agreement == "differs"]
    texts = [
        f"{count} {text[count > 1]}"
        + (f" ({figures.listed(differing, 5)})" if agreement == "differs" else "")
        for agreement, text in _COUNTED.items()
        if (count := agreements.count(agreement))
    ]
    return f"of {len(agreements)} benchmarks {', '.join(texts)}"


def _effects(
    result: TrialComparison, one: CandidateComparison, number: int
) -> Iterator[Table | Sentence]:
    kept = sorted(one.benchmarks, key=lambda line: _ORDER[line.agreement])[:_MOST]
    rows = [line for line in one.benchmarks if line in kept]
    these = ""
    if one.these is not None:
        rows.append(one.these)
        these = f"these {sum(line.ratio is not None for line in one.benchmarks)}"
    notes = tuple(why(result, line) for line in rows)
    table = table_of(
        f"effects-{number}",
        rows,
        ("<", lambda line: these if line is one.these else Name(line.name)),
        ("<first", lambda line: _interval(line.old.speedup, line.old)),
        ("<second", lambda line: _interval(line.new.speedup, line.new)),
        ("<second / first", lambda line: _interval(line.ratio, line)),
        ("adjusted p", "pvalue_adjusted", figures.bare_pvalue),
        ("<", lambda line: _agreement(result, line)),
    )
    if len(rows) > 1 and len(set(notes)) == 1:
        yield from (table, Sentence(notes[0])) if notes[0] else (table,)
    else:
        yield replace(table, notes=notes if any(notes) else ())
    if len(kept) < len(one.benchmarks):
        yield Sentence(f"and {len(one.benchmarks) - len(kept)} more benchmarks (--json has all)")


def _interval(ratio: float | None, ends: Effect | EffectComparison | VariantLevel) -> Value:
    """Write a ratio with its interval, such as ``1.25x [1.24, 1.26]``; "-" without one."""
    if ratio is None:
        return Value("-", None)
    if ends.low is None or ends.high is None:
        return Value(figures.ratio(ratio), ratio)
    within = figures.ratio_within(ratio, ends.low, ends.high)
    return Value(f"{within} {figures.ends(ends.low, ends.high)}", ratio)


def _agreement(result: TrialComparison, line: EffectComparison) -> str:
    """Write what became of a word, and the words: ``differs: faster -> slower``."""
    words = dict.fromkeys(result.spoken(effect.outcome) for effect in (line.old, line.new))
    return f"{line.agreement}: {' -> '.join(words)}"


def why(result: TrialComparison, line: EffectComparison) -> str:
    """Say why an effect stays open, and what would help; empty where its words say so."""
    reason = (line.reason or "").removesuffix("-old").removesuffix("-new")
    old = (line.reason or "").endswith("-old")
    side, the = (result.old, "the first") if old else (result.new, "the second")
    text = _REASONS.get(reason, "").format(the=the, noun=side.outermost)
    more = line.more_sessions
    if more is None:
        return text
    noun = result.new.outermost
    needed = (
        f"more than 100 more {noun}s" if more.sessions is None else needed_text(more.sessions, noun)
    )
    return f"{text}; {needed} of the second would show whether it is {result.spoken(more.target)}"


def _levels(result: TrialComparison) -> Iterator[Table | Sentence]:
    write = partial(figures.quantity, unit=result.unit)
    yield table_of(
        "levels",
        result.levels[:_MOST],
        ("@", "variant"),
        ("<", lambda one: Name(one.benchmark) if one.benchmark else "the suite"),
        ("first", "mean_old", write, ""),
        ("second", "mean_new", write, ""),
        ("<ratio", lambda one: _interval(one.ratio, one)),
        ("<", lambda one: result.spoken(one.outcome)),
    )
    if len(result.levels) > _MOST:
        yield Sentence(f"and {len(result.levels) - _MOST} more (--json has all)")


def _around(result: TrialComparison) -> Iterator[Section]:
    for title, changes in (("campaign", result.campaign), ("plan", result.plan)):
        if changes:
            yield section(*(_change(one, result) for one in changes), title=title)
    if result.environment:
        title = f"environment: {counted(len(result.environment), 'change')}"
        yield section(*(change.what for change in result.environment), title=title)
    drifts = [
        f"within {side.label} the environment changed as well ({counted(count, 'change')}): "
        + command_line(("fairtrial", "status", side.path, "--diff"))
        for side, count in ((result.old, result.drift_old), (result.new, result.drift_new))
        if count
    ]
    if drifts:
        yield section(*drifts)


def _change(change: CampaignChange, result: TrialComparison) -> str:
    values = apart([setting_text(change.key, value) for value in (change.old, change.new)], _LONG)
    if change.only is None:
        return f"{change.key}: {' -> '.join(values)}"
    side, value = (result.old, values[0]) if change.only == "old" else (result.new, values[1])
    return f"{change.key} stands only in {side.label}: {value}"
