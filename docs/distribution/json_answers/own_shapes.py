"""What classes write otherwise than a key for each field; `tests/contract` holds it against all outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import analysis.methods.hpt.compare as hpt_result
import analysis.methods.hpt.page as hpt
import analysis.methods.mixture.metrics_page as plane
import analysis.methods.mixture.report as mixture
import analysis.methods.multilevel.result as multilevel
import analysis.report.assembling as report
import analysis.verdict.result as verdict
import harness.commands.doctor_page as doctor
import harness.fleet.status as fleet
from analysis.artifact import bundle, claims
from analysis.data import iterations, merging as trials
from analysis.diagnose import normality
from analysis.diagnose.why_result import WhyAnswer
from analysis.history import bisection
from analysis.methods.mixture import goodness, modality, refits
from analysis.methods.resampling import (
    bootstrap,
    distribution,
    randomization,
    report as resampling_report,
)
from analysis.pages.number_format import Word
from analysis.plan import sessions as decidable
from analysis.record import fleet as fleet_progress, trial_files
from analysis.record.environment import Change
from analysis.verdict import compare, comparison_effects, comparison_result as comparison
from harness.commands import dry_run
from harness.fleet import submission
from harness.host import placement, snapshot, state
from harness.trial import progress
from harness.tune import proposal, tuner, tuner as changes

from .json_types import Definitions, Own, Told, hints_of

CAUTIONS = {"cautions": tuple[str, ...], "caution_codes": tuple[str, ...]}
PAIRS = [{"from": str, "to": str, "changes": tuple[Change, ...]}]
OPEN = dict[str, Any]


def added(*left: str, maybe: tuple[str, ...] = (), **keys: Any) -> Own:  # noqa: ANN401 - types
    """Give the fields without `left`, and further keys."""
    return Own(keys, frozenset(left), frozenset(maybe))


def only(keys: Mapping[str, Any], maybe: tuple[str, ...] = ()) -> Own:
    """Give these keys alone."""
    return Own(keys, maybe=frozenset(maybe), fields=False)


def keys_of(kind: type, *without: str) -> dict[str, Any]:
    """Give the keys of a tuple with names, or of a class, where it is written as an object."""
    return {name: hint for name, hint in hints_of(kind).items() if name not in without}


class BenchmarkLine(multilevel.Line):
    """The line of one benchmark; `outcome` is its word after the correction."""

    unlisted = multilevel.UNLISTED
    outcome_uncorrected: Word


class _Line(multilevel.Line):
    """One speedup with its interval and its word."""

    unlisted = multilevel.UNLISTED | multilevel.OF_A_BENCHMARK


_LINES = {"benchmarks": tuple[BenchmarkLine, ...], "these": _Line | None, "similar": _Line | None}


def keys_of_result(kind: type) -> dict[str, Any]:
    """Give the keys of a result that another one is written into."""
    return Definitions({}).keys(kind, Own())


# of the report, as JSON names them
_CHAPTERS = (
    "answer",
    "parts",
    "why",
    "panel",
    "suite",
    "iterations",
    "variation",
    "happened",
    "conditions",
    "paper",
)
_HPT_WORDS = ("confidence", "pvalue", "pvalue_baseline")
_NULL = {name: float for name in ("minimum", *randomization._QUANTILES, "maximum")}
_CPUS = tuple[int, ...] | None

_COMMAND = {"command": str, "name": str} | {
    {"minimum": "min", "maximum": "max"}.get(name, name): hint
    for name, hint in keys_of(hints_of(compare.ComparedCommand)["times"], "renamed").items()
}

OWN: dict[type, Own] = {
    claims.StoredClaim: only(
        {"text": str, "command": tuple[str, ...], "value": str, "is": str, "expected": Any}
        | {"digits": int | None, "result": str, "found": Any, "holds": bool}
    ),
    bundle.Bundled: added(
        entries=int,
        claims=tuple[claims.StoredClaim, ...],
        **{
            name: hint
            for name, hint in hints_of(hints_of(bundle.Bundled)["contents"]).items()
            if name in bundle._PARTS and name != "claims"
        },
    ),
    trials.Merged: added("seams", pairs=PAIRS),
    iterations.IterationsOfCell: added(left_out={"least": int, "median": float, "most": int}),
    iterations.QuantileBasis: added("metric", "share", of=str, quantile=float),
    normality.CentralLimitStudy: added(enough=dict[str, dict[str, int | None]]),
    bisection.Bisection: added(maybe=("why",), why=Told(WhyAnswer, known=False)),
    hpt_result.HptResult: added(maybe=("alternative", "pvalue_two_sided"), pvalue_two_sided=float),
    mixture.Mixture: added(components=int, mean=float, modes=tuple[float, ...]),
    plane.MixtureOfMetrics: added(
        components=int,
        correlations=list,
        within_correlation=float,
        mixture_correlation=float,
    ),
    modality.FamilyFit: added(name=str),
    plane.PlaneCell: added(n=int, classification=tuple[int, ...] | None),
    goodness.FitTest: added(rejected=bool, components=int),
    refits.ModeEvidence: added(multimodal=bool, conclusion=str, mixture_components=int),
    mixture.MixtureCell: added(
        maybe=("clusters",), n=int, classification=tuple[int, ...] | None, clusters=list
    ),
    mixture.MixtureContest: added(best=str, best_in_a_single_run=dict[str, mixture.MetricInterval]),
    mixture.MixtureReport: added(
        detailed=bool,
        corpus=mixture.CorpusSummary | None,
        options=keys_of(hints_of(mixture.MixtureReport)["options"], "workers", "clusters"),
        benchmarks=[
            {
                "benchmark": str,
                "variants": tuple[mixture.MixtureCell, ...],
                "contest": mixture.MixtureContest | None,
            }
        ],
    ),
    multilevel.MoreSessions: added("target", **{"for": str}),
    multilevel.Multilevel: added(**_LINES),
    multilevel.HostLevel: added(**_LINES),
    randomization.RandomizationTest: added(null={"count": int} | _NULL),
    bootstrap.BootstrapInterval: added(
        replicates={"count": int, "minimum": float, "maximum": float, "quantiles": dict[str, float]}
    ),
    distribution.EmpiricalDistribution: added(
        density=distribution.Density | None, boxplot=distribution.BoxPlot
    ),
    distribution.DistributionComparison: added(conclusion=str),
    trial_files.JudgedMetrics: added(maybe=("trial",)),
    trial_files.GivenUp: added(maybe=("never_ok", "warmups")),
    fleet_progress.HostProgress: only(
        {"host": str, "state": str, "done": int, "planned": int | None, "why": str | None}
    ),
    comparison_effects.More: only({"sessions": int | None, "for": str}),
    comparison.TrialComparison: added(pairs=PAIRS),
    doctor.Checkup: only(
        {"host": state.HostState, "findings": tuple[trial_files.Finding, ...]}
        | {"counts": dict[str, int], "cpus": placement.CpuPlan | None}
    ),
    progress.TrialProgress: added("way_on_words", "before", next=tuple[str, ...]),
    placement.CpuPlan: added("text", "services"),
    fleet.HostStanding: added("in_queue", "queue_known"),
    fleet.FleetStanding: added("fleet", fleet=str, campaign=str, identity=str, submitted_at=str),
    fleet.Cancelled: only(
        {name: tuple[str, ...] for name in ("cancelled", "ending", "others")}
        | {"fleet": str, "path": str}
    ),
    submission.Submission: only(
        {name: str for name in ("fleet", "path", "campaign", "identity", "script")}
        | {"time": str | None, "partition": str | None, "notes": tuple[str, ...]}
        | {"hosts": [{"host": str, "job": str | None, "command": tuple[str, ...]}]}
    ),
    snapshot.EnvironmentDifferences: only({"pairs": PAIRS}),
    proposal.Proposal: added(partition=_CPUS, left=[keys_of(proposal.Left)]),
    changes.Undone: added("settings", undone=[keys_of(changes.Restored)], settled=bool),
    tuner.Tuned: added("code", command_exit=int | None),
    dry_run.Preview: only(
        {"campaign": str, "campaign_sha256": str, "sessions": int, "planned": int}
        | {"repeats_at_most": int, "stop": trial_files.StopRule | None, "seconds": float}
        | {"at_most_seconds": float, "cpus": _CPUS, "housekeeping": tuple[int, ...]}
        | {"services": dict[str, tuple[int, ...]], "missing": str | None}
        | {"findings": tuple[trial_files.Finding, ...], "set_aside": tuple[str, ...]}
        | {"executed": str | None, "resumed": str | None, "decides": decidable.Decidable | None}
        | {"session_1": tuple[trial_files.PlannedRun, ...]},
        maybe=("services",),
    ),
    compare.Standing: added(possible=tuple[str, ...]),
    compare.ComparedCommand: only(_COMMAND | {"means": dict[str, float]}, maybe=("means",)),
    compare.CompareAnswer: Own(
        keys_of_result(verdict.Verdict)
        | {"commands": tuple[str, ...], "baseline_times": compare.ComparedCommand}
        | {"stopped_because": str | None, "looked_at": tuple[int, ...], "measuring_s": float}
        | {"leader": str | None, "notes": tuple[str, ...], "standing": compare.Standing | None}
        | {
            "candidates": [
                keys_of_result(verdict.CandidateVerdict) | _COMMAND | {"means?": dict[str, float]}
            ]
        },
        fields=False,
    ),
    hpt.HptReport: Own(
        keys_of_result(hpt_result.HptResult)
        | {"conclusions": tuple[str, ...], "context": hpt.HptContext}
        | {
            "without_speedup": {name: float for name in _HPT_WORDS}
            | {name: str for name in ("pvalue_of", "outcome", "word")}
        }
        | {
            "r_speedup": hpt.HptSpeedup,
            "others": tuple[hpt.OtherRule, ...],
            "pvalue_two_sided": float,
        },
        maybe=frozenset({"alternative", "pvalue_two_sided", "others"}),
        fields=False,
    ),
    resampling_report.ResamplingReport: Own(
        keys_of_result(randomization.RandomizationTest)
        | {"null": {"count": int} | _NULL, "word": str, "conclusions": tuple[str, ...]}
        | {"interval": bootstrap.BootstrapInterval | None, "no_interval": str | None}
        | {"seed": int | None, "distributions": distribution.DistributionComparison},
        fields=False,
    ),
    report.Report: only(
        {"title": str, "headline": str, "metrics": tuple[str, ...], "brief": tuple[OPEN, ...]}
        | dict.fromkeys(_CHAPTERS, tuple[OPEN, ...])
        | {"written": tuple[str, ...]}
        | CAUTIONS,
        maybe=(*_CHAPTERS, "written"),
    ),
}
