"""What the comparison of two trials says: what differs around them, and of each effect what holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ...pages import number_format as figures
from ...pages.result import Result, plain

if TYPE_CHECKING:
    from ...data.levels import Unit
    from ...methods.multilevel.host_effects import Shift
    from ...methods.multilevel.law import LooksRule
    from ...pages.number_format import Word
    from ...record.environment_changes import Change

Agreement = Literal["agrees", "compatible", "differs", "cannot tell"]
Reproduction = Literal["reproduced", "partly", "not", "cannot tell"]

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
class Effect:
    """What one trial says of a candidate against the baseline, as its verdict has it."""

    speedup: float | None
    low: float | None
    high: float | None
    error: float | None
    freedom: float | None
    sessions: int
    outcome: Word
    outcome_uncorrected: Word
    reason: str | None
    errors: tuple[float, ...] | None = None
    freedoms: tuple[float, ...] | None = None
    step_added: float | None = None

    @property
    def decided(self) -> bool:
        """Whether the verdict concludes something: a direction, or that both are equivalent."""
        return self.outcome != "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class More:
    """How many more sessions the second trial needs; `target` is what the first one concludes."""

    sessions: int | None
    target: Word

    def to_dict(self) -> dict[str, Any]:
        """Give the advice as JSON types."""
        return {"sessions": self.sessions, "for": self.target}


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectComparison:
    """One effect in both trials, and its difference."""

    name: str
    old: Effect
    new: Effect
    ratio: float | None
    low: float | None
    high: float | None
    error: float | None
    freedom: float | None
    pvalue: float | None
    pvalue_welch: float | None
    pvalue_adjusted: float | None
    law: Literal["welch", "banerjee"] | None
    difference: Shift | None
    agreement: Agreement
    reason: str | None
    more_sessions: More | None

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        found: dict[str, Any] = plain(self)
        found["more_sessions"] = (
            None if self.more_sessions is None else self.more_sessions.to_dict()
        )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateComparison:
    """One candidate against the baseline, in both trials."""

    variant: str
    baseline: str
    design_old: str | None
    design_new: str | None
    benchmarks: tuple[EffectComparison, ...]
    these: EffectComparison | None
    word: Reproduction

    @property
    def lead(self) -> EffectComparison | None:
        """The effect that the word hangs on: the suite's, or that of the only benchmark."""
        if self.these is not None:
            return self.these
        known = [one for one in self.benchmarks if one.ratio is not None]
        return known[0] if len(known) == 1 else None

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        found: dict[str, Any] = plain(self)
        found["benchmarks"] = [one.to_dict() for one in self.benchmarks]
        found["these"] = None if self.these is None else self.these.to_dict()
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantLevel:
    """How fast a variant's runs are in the new trial, beside the old one."""

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

    unlisted: ClassVar[frozenset[str]] = frozenset({"outermost"})

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
    looks: int
    look_alpha: float
    looks_rule: LooksRule
    risk_total: float
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
    def timed(self) -> bool:
        """Whether what is better is faster."""
        return figures.timed(self.unit)

    def body(self) -> dict[str, Any]:
        """Give what stands below the head."""
        found = Result.body(self)
        found["candidates"] = [one.to_dict() for one in self.candidates]
        # as 'status --diff' has always written them
        pairs = (
            []
            if self.environment is None
            else [
                {
                    "from": self.old.label,
                    "to": self.new.label,
                    "changes": [change.to_dict() for change in self.environment],
                }
            ]
        )
        return found | {"pairs": pairs}
