"""The judge: performance matrices in, verdicts out. It never imports the runner.

This module stays light. The names of the Python contract are handed on lazily, so that
``import analysis`` costs no numpy.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "PerformanceMatrix": "analysis.matrix",
    "Trial": "analysis.trial",
    "Verdict": "analysis.verdict",
    "hpt": "analysis.methods.hpt",
    "HptResult": "analysis.methods.hpt",
    "hpt_speedup": "analysis.methods.hpt_speedup",
    "HptSpeedup": "analysis.methods.hpt_speedup",
    "hpt_context": "analysis.methods.hpt_context",
    "hpt_report": "analysis.methods.hpt_report",
    "speedup_test": "analysis.methods.speedup_test",
    "speedup_test_suite": "analysis.methods.speedup_test",
    "SpeedupTest": "analysis.methods.speedup_result",
    "SpeedupSuite": "analysis.methods.speedup_result",
    "normality": "analysis.assumptions",
    "randomization_test": "analysis.methods.resampling_test",
    "RandomizationTest": "analysis.methods.resampling_test",
    "bootstrap_speedup": "analysis.methods.resampling_interval",
    "BootstrapInterval": "analysis.methods.resampling_interval_result",
    "estimator_spread": "analysis.estimators",
    "EstimatorSpread": "analysis.estimators",
    "normal_spread": "analysis.normal_estimators",
    "central_limit_study": "analysis.central_limit",
    "CentralLimitStudy": "analysis.central_limit",
    "empirical_distribution": "analysis.methods.resampling_distribution",
    "EmpiricalDistribution": "analysis.methods.resampling_distribution",
    "compare_distributions": "analysis.methods.resampling_distribution",
    "biplot": "analysis.methods.biplot",
    "Biplot": "analysis.methods.biplot",
    "plan_runs": "analysis.planning",
    "width_loop": "analysis.planning",
    "power_study": "analysis.studies",
    "type1_study": "analysis.studies",
    "coverage_study": "analysis.studies",
    "read_trial": "analysis.trial",
    "fit_mixture": "analysis.methods.mixture",
    "ks_fit": "analysis.methods.mixture_fit_test",
    "FitTest": "analysis.methods.mixture_fit_test",
    "Mixture": "analysis.methods.mixture_model",
    "fit_mixture_2d": "analysis.methods.mixture_plane",
    "Mixture2d": "analysis.methods.mixture_plane_model",
    "pairs_of_runs": "analysis.methods.mixture_plane_pairs",
    "mean_difference": "analysis.methods.mixture_metrics",
    "probability_faster": "analysis.methods.mixture_metrics",
    "probability_fastest": "analysis.methods.mixture_metrics",
    "variability_level": "analysis.methods.mixture_metrics",
    "mode_evidence": "analysis.methods.mixture_evidence",
    "fitted_sample": "analysis.methods.mixture_intervals",
    "metric_interval": "analysis.methods.mixture_intervals",
    "faster_estimate": "analysis.methods.mixture_intervals",
    "rank_share": "analysis.methods.mixture_rank_share",
    "dip_test": "analysis.methods.mixture_mode_tests",
    "bandwidth_test": "analysis.methods.mixture_mode_tests",
    "skewed_families": "analysis.methods.mixture_families",
    "fit_corpus": "analysis.methods.mixture_corpus",
    "CorpusFit": "analysis.methods.mixture_corpus",
    "FairtrialError": "analysis.errors",
    "UsageError": "analysis.errors",
    "StoreError": "analysis.errors",
    "AnalysisError": "analysis.errors",
    "InsufficientDataError": "analysis.errors",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - the table above is the one list of public names


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute may be anything
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)
