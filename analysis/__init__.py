"""The judge: performance matrices in, verdicts out. It never imports the runner.

This module stays light. The names of the Python contract are handed on lazily, so that
``import analysis`` costs no numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .registry import function

if TYPE_CHECKING:
    from .data.matrix import PerformanceMatrix as PerformanceMatrix
    from .data.trial import Trial as Trial, read_trial as read_trial
    from .diagnose.estimators import (
        EstimatorSpread as EstimatorSpread,
        estimator_spread as estimator_spread,
        normal_spread as normal_spread,
    )
    from .diagnose.examine import (
        diagnose_matrix as diagnose_matrix,
        diagnose_runs as diagnose_runs,
        diagnose_trial as diagnose_trial,
    )
    from .diagnose.explain import explain as explain
    from .diagnose.modes import sources as sources
    from .diagnose.normality import (
        CentralLimitStudy as CentralLimitStudy,
        central_limit_study as central_limit_study,
        normality as normality,
    )
    from .diagnose.result import Diagnosis as Diagnosis
    from .diagnose.why_result import Why as Why
    from .errors import (
        AnalysisError as AnalysisError,
        FairtrialError as FairtrialError,
        InsufficientDataError as InsufficientDataError,
        SidesWarning as SidesWarning,
        StoreError as StoreError,
        UsageError as UsageError,
    )
    from .history.changes import Changes as Changes, changes as changes
    from .history.ordered import (
        OrderedVariants as OrderedVariants,
        ordered_variants as ordered_variants,
    )
    from .history.step_search import StepSearch as StepSearch, find_steps as find_steps
    from .methods.biplot import Biplot as Biplot, biplot as biplot
    from .methods.hpt.compare import HptResult as HptResult, hpt as hpt
    from .methods.hpt.page import hpt_context as hpt_context, hpt_report as hpt_report
    from .methods.hpt.speedup import HptSpeedup as HptSpeedup, hpt_speedup as hpt_speedup
    from .methods.mixture.fit import fit_mixture as fit_mixture
    from .methods.mixture.goodness import (
        CorpusFit as CorpusFit,
        FitTest as FitTest,
        fit_corpus as fit_corpus,
        ks_fit as ks_fit,
    )
    from .methods.mixture.metrics_fit import (
        Mixture2d as Mixture2d,
        MixtureOfMetrics as MixtureOfMetrics,
        fit_mixture_2d as fit_mixture_2d,
        fit_mixture_of_metrics as fit_mixture_of_metrics,
    )
    from .methods.mixture.metrics_page import pairs_of_runs as pairs_of_runs
    from .methods.mixture.modality import (
        bandwidth_test as bandwidth_test,
        dip_test as dip_test,
        skewed_families as skewed_families,
    )
    from .methods.mixture.model import Mixture as Mixture
    from .methods.mixture.refits import (
        fitted_sample as fitted_sample,
        mode_evidence as mode_evidence,
    )
    from .methods.mixture.single_run import (
        faster_estimate as faster_estimate,
        mean_difference as mean_difference,
        metric_interval as metric_interval,
        probability_faster as probability_faster,
        probability_fastest as probability_fastest,
        rank_share as rank_share,
        variability_level as variability_level,
    )
    from .methods.multilevel.compare import multilevel as multilevel
    from .methods.multilevel.result import Multilevel as Multilevel
    from .methods.resampling.bootstrap import (
        BootstrapInterval as BootstrapInterval,
        bootstrap_speedup as bootstrap_speedup,
    )
    from .methods.resampling.distribution import (
        EmpiricalDistribution as EmpiricalDistribution,
        compare_distributions as compare_distributions,
        empirical_distribution as empirical_distribution,
    )
    from .methods.resampling.randomization import (
        RandomizationTest as RandomizationTest,
        randomization_test as randomization_test,
    )
    from .methods.speedup_test.compare import (
        speedup_test as speedup_test,
        speedup_test_suite as speedup_test_suite,
    )
    from .methods.speedup_test.result import (
        SpeedupSuite as SpeedupSuite,
        SpeedupTest as SpeedupTest,
    )
    from .methods.variance_sources.result import Sources as Sources
    from .methods.variance_sources.systems import sources_of_table as sources_of_table
    from .plan.calibration import calibrate_trial as calibrate_trial
    from .plan.certificate import Certificate as Certificate
    from .plan.components import (
        VarianceComponents as VarianceComponents,
        trial_costs as trial_costs,
        variance_components as variance_components,
    )
    from .plan.draw import draw_study as draw_study
    from .plan.error_rates import (
        coverage_study as coverage_study,
        power_study as power_study,
        type1_study as type1_study,
    )
    from .plan.runs import plan_runs as plan_runs, width_loop as width_loop
    from .plan.sessions import SessionPlan as SessionPlan, plan_sessions as plan_sessions
    from .stats.arguments import stream as stream
    from .verdict.comparison import compare_trials as compare_trials
    from .verdict.comparison_result import TrialComparison as TrialComparison
    from .verdict.fleet import judge_fleet as judge_fleet
    from .verdict.gate import Gate as Gate, gate as gate
    from .verdict.judging import judge as judge, judge_sides as judge_sides
    from .verdict.result import Verdict as Verdict

_ROOMS = {
    "data.matrix": "PerformanceMatrix",
    "data.trial": "Trial read_trial",
    "methods.multilevel.compare": "multilevel",
    "methods.multilevel.result": "Multilevel",
    "methods.hpt.compare": "hpt HptResult",
    "methods.hpt.speedup": "hpt_speedup HptSpeedup",
    "methods.hpt.page": "hpt_context hpt_report",
    "methods.speedup_test.compare": "speedup_test speedup_test_suite",
    "methods.speedup_test.result": "SpeedupTest SpeedupSuite",
    "methods.resampling.randomization": "RandomizationTest randomization_test",
    "methods.resampling.bootstrap": "BootstrapInterval bootstrap_speedup",
    "methods.resampling.distribution": "EmpiricalDistribution empirical_distribution compare_distributions",
    "methods.mixture.fit": "fit_mixture",
    "methods.mixture.goodness": "CorpusFit FitTest fit_corpus ks_fit",
    "methods.mixture.model": "Mixture",
    "methods.mixture.metrics_fit": "Mixture2d MixtureOfMetrics fit_mixture_2d fit_mixture_of_metrics",
    "methods.mixture.metrics_page": "pairs_of_runs",
    "methods.mixture.single_run": "mean_difference probability_faster probability_fastest variability_level rank_share faster_estimate metric_interval",
    "methods.mixture.refits": "mode_evidence fitted_sample",
    "methods.mixture.modality": "dip_test bandwidth_test skewed_families",
    "history.changes": "changes Changes",
    "history.step_search": "StepSearch find_steps",
    "history.ordered": "OrderedVariants ordered_variants",
    "diagnose.explain": "explain",
    "diagnose.why_result": "Why",
    "methods.biplot": "biplot Biplot",
    "methods.variance_sources.result": "Sources",
    "methods.variance_sources.systems": "sources_of_table",
    "diagnose.modes": "sources",
    "verdict.result": "Verdict",
    "verdict.judging": "judge judge_sides",
    "verdict.fleet": "judge_fleet",
    "verdict.gate": "Gate gate",
    "verdict.comparison": "compare_trials",
    "verdict.comparison_result": "TrialComparison",
    "diagnose.examine": "diagnose_trial diagnose_matrix diagnose_runs",
    "diagnose.result": "Diagnosis",
    "plan.calibration": "calibrate_trial",
    "plan.certificate": "Certificate",
    "diagnose.normality": "normality central_limit_study CentralLimitStudy",
    "diagnose.estimators": "estimator_spread EstimatorSpread normal_spread",
    "plan.runs": "plan_runs width_loop",
    "plan.sessions": "SessionPlan plan_sessions",
    "plan.components": "VarianceComponents trial_costs variance_components",
    "stats.arguments": "stream",
    "plan.error_rates": "power_study type1_study coverage_study",
    "plan.draw": "draw_study",
    "errors": "FairtrialError UsageError StoreError AnalysisError InsufficientDataError SidesWarning",
}

# the table above is the one list of public names
__all__ = sorted(name for names in _ROOMS.values() for name in names.split())  # noqa: PLE0605

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        room = next(room for room, names in _ROOMS.items() if name in names.split())
        found = globals()[name] = function(f"analysis.{room}:{name}")  # asked once
        return found

    def __dir__() -> list[str]:
        return __all__
