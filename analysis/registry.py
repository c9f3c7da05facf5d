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
from typing import Any

# the packages stand beside each other, be it in a checkout, a wheel, or below a further name
_HOME = __name__.removesuffix("analysis.registry")
_FOLDER = Path(__file__).parents[1]

# the subcommands of the judge, in the order of the help: what adds each one, and its line there
COMMANDS = {
    "verdict": (
        "analysis.commands.verdict:add",
        "judge a trial: every variant against the baseline",
    ),
    "gate": ("analysis.commands.gate:add", "stop a build on a proven regression: 'slower>2%%'"),
    "hpt": (
        "analysis.commands.hpt:add",
        "hierarchical performance testing of two variants over a suite",
    ),
    "speedup-test": (
        "analysis.commands.speedup_protocols:add",
        "the Speedup-Test: is the speedup of the mean, of the median significant?",
    ),
    "resample": (
        "analysis.commands.resample:add",
        "randomization test, bootstrap interval and distributions over a suite",
    ),
    "mixture": (
        "analysis.commands.mixture:add",
        "Gaussian mixtures: clusters, modes, and who is best in a single run",
    ),
    "biplot": (
        "analysis.commands.biplot:add",
        "systems and benchmarks in one picture, by principal components",
    ),
    "diagnose": (
        "analysis.commands.diagnose:add",
        "look at runs, sessions and host before judging them",
    ),
    "calibrate": (
        "analysis.commands.calibrate:add",
        "how often the methods err on this machine, from one program under two names",
    ),
    "plan": (
        "analysis.commands.plan:add",
        "how many sessions and runs a comparison needs, from a pilot",
    ),
    "study": (
        "analysis.commands.study:add",
        "how often tests and intervals are right, by simulation from your own runs",
    ),
    "sources": (
        "analysis.commands.sources:add",
        "where variation comes from: between sessions, by suspected factors, across systems",
    ),
    "report": (
        "analysis.commands.report:add",
        "one file with the answer, the evidence, the doubt and the conditions",
    ),
    "plot": ("analysis.commands.plot:add", "one figure for a paper, with its data"),
    "diff": (
        "analysis.commands.compare:add",
        "compare two trials: do the conclusions of the first hold in the second?",
    ),
    "merge": (
        "analysis.commands.exchange:add_merge",
        "put trials of one campaign together: as sessions, or as hosts",
    ),
    "import": (
        "analysis.commands.exchange:add_import",
        "make a trial of another tool's files, and say what they cannot tell",
    ),
    "export": (
        "analysis.commands.exchange:add_export",
        "write runs as another tool's file, and say what that cannot hold",
    ),
    "bundle": (
        "analysis.commands.bundle:add",
        "pack trials, their campaign and all results into one file that others can check",
    ),
}

# the class of a result -> where its words are registered (`page_of.register`)
PAGES = {
    "Bundled": "analysis.artifact.packing.bundle",
    "Reproduction": "analysis.artifact.reproducing.page",
    "Rerun": "analysis.artifact.reproducing.page",
    "Certificate": "analysis.calibrate.page",
    "TrialComparison": "analysis.verdict.comparison.page",
    "PerformanceMatrix": "analysis.data.page",
    "Trial": "analysis.data.page",
    "Diagnosis": "analysis.diagnose.page",
    "CentralLimitStudy": "analysis.diagnose.page",
    "EstimatorSpread": "analysis.diagnose.page",
    "FleetDiagnosis": "analysis.diagnose.fleet",
    "NormalityStudy": "analysis.diagnose.page",
    "Report": "analysis.report.page",
    "Inspected": "analysis.importers.inspection",
    "Biplot": "analysis.methods.biplot.page",
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
    "Mixture2d": "analysis.methods.mixture.plane.page",
    "PlaneCell": "analysis.methods.mixture.plane.page",
    "PlaneReport": "analysis.methods.mixture.plane.page",
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
    "Gate": "analysis.verdict.gate_page",
    "Verdict": "analysis.verdict.screen.page",
    "PairTable": "analysis.verdict.one_pair",
    "Ranking": "analysis.verdict.screen.ranking",
    "BestOf": "analysis.verdict.screen.ranking",
}

# a chapter of the report, in the order of the page -> the module of its function ``chapter``
CHAPTERS = {
    "answer": "analysis.report.answer.chapter",
    "benchmarks": "analysis.report.benchmarks.chapter",
    "published": "analysis.report.published.chapter",
    "suite": "analysis.report.suite.chapter",
    "variation": "analysis.report.variation.chapter",
    "timeline": "analysis.report.timeline.chapter",
    "conditions": "analysis.report.conditions.chapter",
    "paper": "analysis.report.paper.chapter",
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
