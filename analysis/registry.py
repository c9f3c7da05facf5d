"""What is found by its name instead of by an import: modules that are loaded when they are wanted.

Every such name stands here in full, or in a row of a table of formats and figures that `load` is
given; `tests/contract/test_registry.py` resolves them all. So whoever moves a file finds each place
that names it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

# the packages stand beside each other, be it in a checkout, a wheel, or below a further name
_HOME = __name__.removesuffix("analysis.registry")
_FOLDER = Path(__file__).parents[1]


class Command(NamedTuple):
    """A subcommand: what adds it (``module:function``), its group in the help, and its line there."""

    place: str
    group: Literal["measure", "judge", "understand", "share"]
    summary: str


# the subcommands of the judge, in the order of the help
COMMANDS: dict[str, Command] = {
    "verdict": Command(
        "analysis.commands.verdict:add", "judge", "which variants are faster, and by how much"
    ),
    "gate": Command(
        "analysis.commands.gate:add", "judge", "stop a build on a proven regression: 'slower>2%'"
    ),
    "diff": Command(
        "analysis.commands.diff:add",
        "judge",
        "do the conclusions of one trial hold in another?",
    ),
    "history": Command(
        "analysis.commands.history:add",
        "judge",
        "many nights: what changed, when, and program or host",
    ),
    "hpt": Command(
        "analysis.commands.hpt:add", "judge", "hierarchical performance testing over a suite"
    ),
    "speedup-test": Command(
        "analysis.commands.speedup_protocols:add",
        "judge",
        "the Speedup-Test: gains of means and medians",
    ),
    "resample": Command(
        "analysis.commands.resample:add", "judge", "randomization test and bootstrap over a suite"
    ),
    "mixture": Command(
        "analysis.commands.mixture:add",
        "judge",
        "Gaussian mixtures: modes, and who is best in one run",
    ),
    "diagnose": Command(
        "analysis.commands.diagnose:add",
        "understand",
        "look at runs, sessions and host before judging them",
    ),
    "sources": Command(
        "analysis.commands.sources:add", "understand", "where the variation comes from"
    ),
    "plan": Command(
        "analysis.commands.plan:add", "understand", "how many sessions and runs a comparison needs"
    ),
    "calibrate": Command(
        "analysis.commands.calibrate:add", "understand", "how often the methods err on this machine"
    ),
    "study": Command(
        "analysis.commands.study:add",
        "understand",
        "how often tests and intervals are right, simulated",
    ),
    "biplot": Command(
        "analysis.commands.biplot:add", "understand", "systems and benchmarks in one picture"
    ),
    "report": Command(
        "analysis.commands.report:add",
        "share",
        "one page with the answer, its evidence and its doubts",
    ),
    "plot": Command("analysis.commands.plot:add", "share", "one figure for a paper, with its data"),
    "bundle": Command(
        "analysis.commands.bundle:add",
        "share",
        "pack trials and results so that others can check them",
    ),
    "import": Command(
        "analysis.commands.exchange:add_import", "share", "make a trial of another tool's files"
    ),
    "export": Command(
        "analysis.commands.exchange:add_export", "share", "write runs as another tool's file"
    ),
    "merge": Command(
        "analysis.commands.exchange:add_merge", "share", "put trials of one campaign together"
    ),
}

# the class of a result -> where its words are registered (`page_of.register`)
PAGES = {
    "Bundled": "analysis.artifact.bundle",
    "Reproduction": "analysis.artifact.reproduction",
    "Rerun": "analysis.artifact.reproduction",
    "Certificate": "analysis.calibrate.certificate",
    "TrialComparison": "analysis.verdict.comparison",
    "PerformanceMatrix": "analysis.data.trial",
    "Trial": "analysis.data.trial",
    "Diagnosis": "analysis.diagnose.page",
    "CentralLimitStudy": "analysis.diagnose.page",
    "EstimatorSpread": "analysis.diagnose.page",
    "FleetDiagnosis": "analysis.diagnose.fleet",
    "NormalityStudy": "analysis.diagnose.page",
    "Report": "analysis.report.page",
    "Inspected": "analysis.importers.importing",
    "Changes": "analysis.history.page",
    "StepSearch": "analysis.history.page",
    "OrderedVariants": "analysis.history.ordered_result",
    "History": "analysis.history.page",
    "Bisection": "analysis.history.bisection",
    "Biplot": "analysis.methods.biplot.fit",
    "HptResult": "analysis.methods.hpt.page",
    "HptSpeedup": "analysis.methods.hpt.page",
    "HptContext": "analysis.methods.hpt.page",
    "HptReport": "analysis.methods.hpt.page",
    "FitTest": "analysis.methods.mixture.page",
    "CorpusFit": "analysis.methods.mixture.page",
    "MetricInterval": "analysis.methods.mixture.page",
    "RankShare": "analysis.methods.mixture.page",
    "FasterEstimate": "analysis.methods.mixture.page",
    "ModeEvidence": "analysis.methods.mixture.page",
    "DipTest": "analysis.methods.mixture.page",
    "BandwidthTest": "analysis.methods.mixture.page",
    "FamilyFit": "analysis.methods.mixture.page",
    "Mixture": "analysis.methods.mixture.page",
    "MixtureOfMetrics": "analysis.methods.mixture.metrics_page",
    "PlaneCell": "analysis.methods.mixture.metrics_page",
    "PlaneReport": "analysis.methods.mixture.metrics_page",
    "MixtureCell": "analysis.methods.mixture.benchmark_page",
    "MixtureContest": "analysis.methods.mixture.benchmark_page",
    "MixtureReport": "analysis.methods.mixture.page",
    "Multilevel": "analysis.methods.multilevel.page",
    "EmpiricalDistribution": "analysis.methods.resampling.page",
    "DistributionComparison": "analysis.methods.resampling.page",
    "BootstrapInterval": "analysis.methods.resampling.page",
    "ResamplingReport": "analysis.methods.resampling.page",
    "PassesReport": "analysis.methods.resampling.page",
    "RandomizationTest": "analysis.methods.resampling.page",
    "SpeedupTest": "analysis.methods.speedup_test.page",
    "SpeedupSuite": "analysis.methods.speedup_test.page",
    "Sources": "analysis.methods.variance_sources.page",
    "VarianceComponents": "analysis.plan.page",
    "HostPlan": "analysis.plan.page",
    "WidthLoop": "analysis.plan.page",
    "RunPlan": "analysis.plan.page",
    "SessionPlan": "analysis.plan.page",
    "RejectionStudy": "analysis.plan.study_page",
    "CoverageStudy": "analysis.plan.study_page",
    "DrawStudy": "analysis.plan.study_page",
    "Why": "analysis.why.page",
    "WhyAnswer": "analysis.why.page",
    "Gate": "analysis.verdict.gate_answer",
    "Verdict": "analysis.verdict.screen",
    "CompareAnswer": "analysis.verdict.compare",
    "PairTable": "analysis.verdict.compare_sentences",
    "Ranking": "analysis.verdict.ranking",
    "BestOf": "analysis.verdict.ranking",
}

# a chapter of the report, in the order of the page -> the module of its function ``chapter``
CHAPTERS = {
    "answer": "analysis.report.answer",
    "benchmarks": "analysis.report.benchmarks.chapter",
    "distribution": "analysis.report.distribution",
    "iterations": "analysis.report.iterations",
    "why": "analysis.report.why",
    "published": "analysis.report.published",
    "suite": "analysis.report.suite",
    "variation": "analysis.report.variation",
    "timeline": "analysis.report.timeline",
    "conditions": "analysis.report.conditions",
    "paper": "analysis.report.paper",
}


def load(name: str) -> ModuleType:
    """Import a module by its full name, such as ``analysis.commands.verdict``."""
    return importlib.import_module(f"{_HOME}{name}")


def function(place: str) -> Callable[..., Any]:
    """Give what a place such as ``analysis.commands.verdict:add`` names."""
    module, _, name = place.partition(":")
    found: Callable[..., Any] = getattr(load(module), name)
    return found


def shipped(name: str) -> Path:
    """Give a file or folder of the packages by its place, such as ``analysis/methods/hpt``."""
    return _FOLDER / name
