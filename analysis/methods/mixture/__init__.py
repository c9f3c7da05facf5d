"""Gaussian mixtures of run times: VARCORE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .fitting.fit import fit_mixture as fit_mixture
    from .goodness.corpus import fit_corpus as fit_corpus
    from .goodness.fit_test import ks_fit as ks_fit
    from .goodness.result import CorpusFit as CorpusFit, FitTest as FitTest
    from .metrics.intervals import (
        faster_estimate as faster_estimate,
        metric_interval as metric_interval,
    )
    from .metrics.rank_share import rank_share as rank_share
    from .metrics.single_run import (
        mean_difference as mean_difference,
        probability_faster as probability_faster,
        probability_fastest as probability_fastest,
        variability_level as variability_level,
    )
    from .modality.dip_and_bandwidth import bandwidth_test as bandwidth_test, dip_test as dip_test
    from .modality.evidence import mode_evidence as mode_evidence
    from .modality.families import skewed_families as skewed_families
    from .modality.rule import calls_multimodal as calls_multimodal
    from .model.mixture import Mixture as Mixture
    from .plane.fit import fit_mixture_2d as fit_mixture_2d
    from .plane.model import Mixture2d as Mixture2d
    from .plane.pairs import pairs_of_runs as pairs_of_runs
    from .plane.plots import plane_figure as plane_figure
    from .plane.report import plane_report as plane_report
    from .refits import fitted_sample as fitted_sample
    from .report.answer import mixture_report as mixture_report
    from .report.options import MixtureOptions as MixtureOptions
    from .report.page import mixture_page as mixture_page
    from .report.plots import (
        draw_density as draw_density,
        mixture_alt as mixture_alt,
        mixture_figure as mixture_figure,
        window_of as window_of,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "fitting.fit": "fit_mixture",
            "goodness.corpus": "fit_corpus",
            "goodness.fit_test": "ks_fit",
            "goodness.result": "CorpusFit FitTest",
            "metrics.intervals": "faster_estimate metric_interval",
            "metrics.rank_share": "rank_share",
            "metrics.single_run": "mean_difference probability_faster probability_fastest variability_level",
            "modality.dip_and_bandwidth": "bandwidth_test dip_test",
            "modality.evidence": "mode_evidence",
            "modality.families": "skewed_families",
            "modality.rule": "calls_multimodal",
            "model.mixture": "Mixture",
            "plane.fit": "fit_mixture_2d",
            "plane.model": "Mixture2d",
            "plane.pairs": "pairs_of_runs",
            "plane.plots": "plane_figure",
            "plane.report": "plane_report",
            "refits": "fitted_sample",
            "report.answer": "mixture_report",
            "report.options": "MixtureOptions",
            "report.page": "mixture_page",
            "report.plots": "draw_density mixture_alt mixture_figure window_of",
        },
    )
