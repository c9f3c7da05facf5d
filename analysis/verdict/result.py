"""What a verdict holds: nothing that `multilevel` and HPT do not say, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..pages import number_format as figures
from ..pages.model import Caution, ShortSentence
from ..pages.result import Result
from ..record.trial_files import layouts_by_session, read_builds
from ..words import shorten, shown

if TYPE_CHECKING:
    from ..data.iterations import IterationsOfCell, QuantileBasis
    from ..data.runs import Unit
    from ..data.trial import Trial
    from ..diagnose.result import Diagnosis
    from ..methods.multilevel.host_effects import HostLevel
    from ..methods.multilevel.law import LooksRule
    from ..methods.multilevel.result import Multilevel
    from ..plan.certificate import Certificate
    from .hosts import FleetHostStanding
    from .panel import Panel
    from .sides import VariantSummary

# --- How many layouts the sessions of a trial had, where each session builds its own, and
# for what its intervals speak.


Layout = tuple[tuple[str, str], ...]
_NAMED = 3
_NAME = 28  # columns of a variant's name
_FEWEST = 2  # sessions, and layouts: of one nothing is known of others


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantLayouts:
    """Of a variant that each session builds: `layouts` different ones, in so many `sessions` that are judged."""

    variant: str
    layouts: int
    sessions: int


def drawn_layouts(trial: Trial, variants: Iterable[str]) -> dict[str, tuple[Layout, ...]]:
    """Give for each of these variants that each session builds the layout of every judged session.

    Raises
    ------
    StoreError
        If the record of the builds is damaged.
    """
    judged = np.unique(trial.session[trial.measured]).tolist()
    builds = layouts_by_session(read_builds(trial.path))
    return {
        name: tuple(builds[name][session].layout for session in judged if session in builds[name])
        for name in variants
        if name in builds
    }


def counted_layouts(each: Iterable[Mapping[str, Sequence[Layout]]]) -> tuple[VariantLayouts, ...]:
    """Count the layouts of one trial, or of the hosts of a fleet together; of builds without a hashed file nobody can."""
    found: dict[str, list[Layout]] = {}
    for drawn in each:
        for name, layouts in drawn.items():
            found.setdefault(name, []).extend(layouts)
    return tuple(
        VariantLayouts(variant=name, layouts=len(set(layouts)), sessions=len(layouts))
        for name, layouts in found.items()
        if layouts and all(layouts)
    )


def layout_cautions(drawn: Mapping[str, Sequence[Layout]]) -> Iterator[Caution]:
    """Name the variants of which two sessions had the same bytes, or nobody can tell, though each builds its own."""
    for name, layouts in drawn.items():
        if not all(layouts):
            yield Caution(
                "layout-not-varied",
                f"whether sessions had layouts of their own of {name} is not known: none of the files that they "
                "built is hashed; name them under 'artifacts'",
                (name,),
                ShortSentence.of("whether the layouts of {} differ is not known", name),
            )
    for one in counted_layouts([drawn]):
        if one.layouts < one.sessions:
            count = figures.counted(one.layouts, "layout")
            yield Caution(
                "layout-not-varied",
                f"{one.variant} has {count} in {one.sessions} sessions, by the SHA-256 of what they built: "
                "{layout_seed} does not reach the linker, or the linker does not use it",
                (one.variant,),
                ShortSentence.of(
                    f"{{}} has {count} in {one.sessions} sessions, though each builds its own",
                    one.variant,
                ),
            )


def layouts_sentences(found: Sequence[VariantLayouts], variants: Sequence[str]) -> tuple[str, ...]:
    """Say how many layouts the judged variants have, and for what their intervals speak; nothing where of one build."""
    varied = {one.variant: one.layouts for one in found if one.layouts >= _FEWEST}
    if not varied:
        return ()
    fixed = [name for name in variants if name not in varied]
    low, high = min(varied.values()), max(varied.values())
    count = f"{low}" if low == high else f"{low} to {high}"
    of = _listed([*varied]) if fixed else "each variant"
    but = f"but for one build of {_listed(fixed)}" if fixed else "not for one build"
    return (
        f"{count} layouts of {of}:",
        f"the interval speaks for layouts that the linker may draw, {but}",
    )


def _listed(names: Sequence[str]) -> str:
    return figures.listed([shorten(shown(name), _NAME) for name in names], _NAMED)


@dataclass(frozen=True, slots=True, kw_only=True)
class HptBound:
    """The largest speedup that HPT claims with a reliability."""

    required: float
    value: float | None
    attained_confidence: float | None
    below_one: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateVerdict:
    """One candidate against the baseline."""

    variant: str
    multilevel: Multilevel | None
    hpt_speedup: HptBound | None = None
    panel: Panel | None = None
    hosts: HostLevel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Result):
    """The verdict on a trial, or on two sides.

    Attributes
    ----------
    trial, path, campaign, campaign_path, host : str or None
        Where the runs stem from; None for sides that are files or of different trials.
    sessions, runs, warmups, failed : int
        Sessions with runs that count, runs that count, warm-up runs, failed runs.
    session_runs : (int, int) or None
        The fewest and the most runs of a cell in a session; None where sessions are unknown.
    candidates : tuple of CandidateVerdict
        In the trial's order.
    alone : tuple of VariantSummary
        Filled where there is one variant only: its own interval on each benchmark.
    diagnosis : Diagnosis or None
        What the runs look like; None where it was not looked at.
    certificate : Certificate or None
        The A/A certificate that fits; None where there is none.
    looks, look_alpha, looks_rule, risk_total
        Which look this is, its risk, by which rule, and the most that all looks together may risk; as
        of `Multilevel`.
    hosts : tuple of FleetHostStanding
        Of a fleet, all its hosts, judged or not; empty for a trial.
    layouts : tuple of VariantLayouts
        Of the judged variants that each session builds, how many layouts they had; empty where none is.
    iterations : tuple of IterationsOfCell
        What became of the iterations of runs, cell by cell, where some are not judged; of a fleet each host's.
    quantile : QuantileBasis or None
        Of a metric that is a quantile of another, of which values it is one: those of a session together, or of a run.
    whole : bool
        Whether a screen shows all benchmarks.
    usual : bool
        Whether the metric is the one that is judged where nobody names one.
    outermost : {"session", "host"}
        What `sessions` counts: "host" where each host of a fleet is taken as one session.
    explained : bool
        Whether a screen also says what the answer rests on, and what other methods say.
    ratio : bool
        Whether a screen shows speedups instead of per cent.
    closed : bool
        Whether no more can be measured of the trial: it is made of another tool's files, or its looks are used.
    in_vain : bool
        Whether the campaign has to be changed before more can be measured.
    explainable : bool
        Whether functions of the programs may explain the metric: it is one of runs that the trial's own campaign measured,
        which can be executed again, and no service took a part of their time.
    session_s : float or None
        The seconds that a session took, on average; None where nobody knows.
    sources : tuple of str
        The two sides as a command named them; empty for a trial.
    """

    method: ClassVar[str] = "verdict"
    schema: ClassVar[int] = 2
    unlisted: ClassVar[frozenset[str]] = frozenset(
        {"closed", "explained", "explainable", "in_vain", "outermost", "ratio"}
        | {"session_s", "sources", "usual", "whole"}
    )
    derived: ClassVar[tuple[str, ...]] = ("sentence", "next")

    trial: str | None
    path: str | None
    campaign: str | None
    campaign_path: str | None
    host: str | None
    metric: str
    unit: str
    better: str
    baseline: str
    sessions: int
    session_runs: tuple[int, int] | None
    runs: int
    warmups: int
    failed: int
    confidence: float
    margin: float
    correction: str
    looks: int
    look_alpha: float
    looks_rule: LooksRule
    risk_total: float
    always_valid: bool
    finished: bool
    candidates: tuple[CandidateVerdict, ...]
    alone: tuple[VariantSummary, ...]
    diagnosis: Diagnosis | None = None
    certificate: Certificate | None = None
    hosts: tuple[FleetHostStanding, ...] = ()
    layouts: tuple[VariantLayouts, ...] = ()
    iterations: tuple[IterationsOfCell, ...] = ()
    quantile: QuantileBasis | None = None
    whole: bool = False
    usual: bool = True
    outermost: Unit = "session"
    explained: bool = False
    ratio: bool = False
    closed: bool = False
    in_vain: bool = False
    explainable: bool = False
    session_s: float | None = None
    sources: tuple[str, ...] = ()

    def body(self) -> dict[str, Any]:
        """Give what stands below the head; iterations and quantile as ``docs/json.md`` names their keys."""
        return Result.body(self) | {
            "iterations": [one.to_dict() for one in self.iterations],
            "quantile": None if self.quantile is None else self.quantile.to_dict(),
        }

    @property
    def sentence(self) -> str:
        """The answer in one sentence, as screens and the report say it."""
        from .sentence import sentence_of

        return sentence_of(self)

    @property
    def next(self) -> tuple[str, ...]:
        """What to do next, as command lines that can be pasted."""
        from .next_command import next_of

        found = next_of(self)
        return () if found is None else (found.line,)
