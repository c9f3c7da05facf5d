"""What the published methods say of the same runs, and where they disagree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from ..pages.model import Section, Sentence, Table, columns_of
from ..words import shorten

if TYPE_CHECKING:
    from ..methods.hpt.result import HptResult
    from ..methods.hpt.speedup import HptSpeedup
    from ..methods.mixture.model import Mixture
    from ..methods.resampling.result import BootstrapInterval, RandomizationTest
    from ..methods.speedup_test.result import SpeedupSuite
    from ..pages.number_format import Word


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixturesOfBoth:
    """The mixtures of both sides on one benchmark."""

    benchmark: str
    candidate: Mixture
    baseline: Mixture


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MethodResults:
    """The methods' own results, None where one could not answer."""

    hpt: HptResult | None = None
    at_estimate: float | None = None
    best: HptSpeedup | None = None
    suite: SpeedupSuite | None = None
    randomized: RandomizationTest | None = None
    bootstrap: BootstrapInterval | None = None
    mixtures: tuple[MixturesOfBoth, ...] = ()
    chances: tuple[float, ...] = ()
    friedman: float | None = None


Reason = Literal[
    "estimand", "unit", "zeroing", "replication", "failed-assumption", "too-few-runs", "family"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one method says."""

    method: str
    unit: str
    estimand: str
    word: Word | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    pvalue: float | None = None
    pvalue_of: str = "two-sided"
    reliability: float | None = None
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodDisagreement:
    """Why one method says something else than the first screen."""

    of: str
    reason: Reason
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """All methods on the same two sides.

    `answers` holds the methods' own results, for whoever shows how they came to them.
    """

    unlisted: ClassVar[frozenset[str]] = frozenset({"answers"})

    methods: tuple[Said, ...]
    disagreements: tuple[MethodDisagreement, ...]
    answers: MethodResults = field(default_factory=MethodResults, repr=False, compare=False)


_NAME = 24


# of quantiles of sessions
ONE_VALUE = "to them a session is a run, as each session has one value here"


def panel_section(
    variant: str, baseline: str, panel: Panel, number: int, note: str = ""
) -> Section:
    """Set what the methods say of one candidate, the trial's `number`-th, and why they differ."""
    ours, theirs = (shorten(name, _NAME) for name in (variant, baseline))
    table = Table(
        name=f"methods-{number}",
        columns=columns_of("<method", "<unit; estimand", "<answer"),
        rows=tuple(
            (one.method, f"{one.unit}s; {one.estimand}", one.answer) for one in panel.methods
        ),
    )
    told = [Sentence(one.text) for one in panel.disagreements]
    reasons = Section(tuple(told) or (Sentence("they do not differ"),), title="why they differ")
    return Section(
        (*((Sentence(note),) if note else ()), table, reasons),
        title=f"the published methods on the same data, {ours} against {theirs}",
    )
