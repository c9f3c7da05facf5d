"""The judge: performance matrices in, verdicts out. It never imports the runner.

This module stays light. The names of the Python contract are handed on lazily, so that
``import analysis`` costs no numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .faces import hands_on

if TYPE_CHECKING:
    from .calibration import Certificate as Certificate, calibrate_trial as calibrate_trial
    from .comparison import (
        TrialComparison as TrialComparison,
        compare_trials as compare_trials,
    )
    from .data import (
        PerformanceMatrix as PerformanceMatrix,
        Trial as Trial,
        read_trial as read_trial,
    )
    from .diagnosis.audit import (
        Diagnosis as Diagnosis,
        diagnose_matrix as diagnose_matrix,
        diagnose_runs as diagnose_runs,
        diagnose_trial as diagnose_trial,
    )
    from .diagnosis.central_limit import (
        CentralLimitStudy as CentralLimitStudy,
        central_limit_study as central_limit_study,
    )
    from .diagnosis.estimators import (
        EstimatorSpread as EstimatorSpread,
        estimator_spread as estimator_spread,
        normal_spread as normal_spread,
    )
    from .diagnosis.normality import normality as normality
    from .errors import (
        AnalysisError as AnalysisError,
        FairtrialError as FairtrialError,
        InsufficientDataError as InsufficientDataError,
        SidesWarning as SidesWarning,
        StoreError as StoreError,
        UsageError as UsageError,
    )
    from .explaining import sources as sources
    from .methods.biplot import Biplot as Biplot, biplot as biplot
    from .methods.hpt import (
        HptResult as HptResult,
        HptSpeedup as HptSpeedup,
        hpt as hpt,
        hpt_context as hpt_context,
        hpt_report as hpt_report,
        hpt_speedup as hpt_speedup,
    )
    from .methods.mixture import (
        CorpusFit as CorpusFit,
        FitTest as FitTest,
        Mixture as Mixture,
        Mixture2d as Mixture2d,
        bandwidth_test as bandwidth_test,
        dip_test as dip_test,
        faster_estimate as faster_estimate,
        fit_corpus as fit_corpus,
        fit_mixture as fit_mixture,
        fit_mixture_2d as fit_mixture_2d,
        fitted_sample as fitted_sample,
        ks_fit as ks_fit,
        mean_difference as mean_difference,
        metric_interval as metric_interval,
        mode_evidence as mode_evidence,
        pairs_of_runs as pairs_of_runs,
        probability_faster as probability_faster,
        probability_fastest as probability_fastest,
        rank_share as rank_share,
        skewed_families as skewed_families,
        variability_level as variability_level,
    )
    from .methods.multilevel import Multilevel as Multilevel, multilevel as multilevel
    from .methods.resampling import (
        BootstrapInterval as BootstrapInterval,
        EmpiricalDistribution as EmpiricalDistribution,
        RandomizationTest as RandomizationTest,
        bootstrap_speedup as bootstrap_speedup,
        compare_distributions as compare_distributions,
        empirical_distribution as empirical_distribution,
        randomization_test as randomization_test,
    )
    from .methods.speedup_test import (
        SpeedupSuite as SpeedupSuite,
        SpeedupTest as SpeedupTest,
        speedup_test as speedup_test,
        speedup_test_suite as speedup_test_suite,
    )
    from .methods.variance_sources import (
        Sources as Sources,
        sources_of_table as sources_of_table,
    )
    from .planning import (
        SessionPlan as SessionPlan,
        VarianceComponents as VarianceComponents,
        plan_runs as plan_runs,
        plan_sessions as plan_sessions,
        trial_costs as trial_costs,
        variance_components as variance_components,
        width_loop as width_loop,
    )
    from .stats import stream as stream
    from .studies import (
        coverage_study as coverage_study,
        power_study as power_study,
        type1_study as type1_study,
    )
    from .verdict import (
        Verdict as Verdict,
        judge as judge,
        judge_fleet as judge_fleet,
        judge_sides as judge_sides,
    )
    from .verdict.gate import Gate as Gate, gate as gate

_ROOMS = {
    "data": "PerformanceMatrix Trial read_trial",
    "methods.multilevel": "multilevel Multilevel",
    "methods.hpt": "hpt HptResult hpt_speedup HptSpeedup hpt_context hpt_report",
    "methods.speedup_test": "speedup_test speedup_test_suite SpeedupTest SpeedupSuite",
    "methods.resampling": "randomization_test RandomizationTest bootstrap_speedup BootstrapInterval empirical_distribution EmpiricalDistribution compare_distributions",
    "methods.mixture": "fit_mixture ks_fit FitTest Mixture fit_mixture_2d Mixture2d pairs_of_runs mean_difference probability_faster probability_fastest variability_level mode_evidence fitted_sample metric_interval faster_estimate rank_share dip_test bandwidth_test skewed_families fit_corpus CorpusFit",
    "methods.biplot": "biplot Biplot",
    "methods.variance_sources": "Sources sources_of_table",
    "explaining": "sources",
    "verdict": "Verdict judge judge_fleet judge_sides",
    "verdict.gate": "Gate gate",
    "comparison": "compare_trials TrialComparison",
    "diagnosis.audit": "diagnose_trial diagnose_matrix diagnose_runs Diagnosis",
    "calibration": "calibrate_trial Certificate",
    "diagnosis.normality": "normality",
    "diagnosis.estimators": "estimator_spread EstimatorSpread normal_spread",
    "diagnosis.central_limit": "central_limit_study CentralLimitStudy",
    "planning": "plan_runs plan_sessions SessionPlan trial_costs variance_components VarianceComponents width_loop",
    "stats": "stream",
    "studies": "power_study type1_study coverage_study",
    "errors": "FairtrialError UsageError StoreError AnalysisError InsufficientDataError SidesWarning",
}

# the table above is the one list of public names
__all__ = sorted(name for names in _ROOMS.values() for name in names.split())  # noqa: PLE0605

if not TYPE_CHECKING:
    __getattr__, __dir__ = hands_on(__name__, _ROOMS)
