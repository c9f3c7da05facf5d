"""Randomization test, bootstrap intervals and empirical distributions of suite means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .distribution.compare import (
        compare_distributions as compare_distributions,
        empirical_distribution as empirical_distribution,
    )
    from .distribution.result import EmpiricalDistribution as EmpiricalDistribution
    from .interval.compare import bootstrap_speedup as bootstrap_speedup
    from .interval.result import BootstrapInterval as BootstrapInterval
    from .plots import resampling_figure as resampling_figure
    from .randomization.compare import randomization_test as randomization_test
    from .randomization.result import RandomizationTest as RandomizationTest
    from .report import resampling_report as resampling_report
    from .units import (
        Unit as Unit,
        exchangeable_units as exchangeable_units,
        set_apart as set_apart,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "distribution.compare": "compare_distributions empirical_distribution",
            "distribution.result": "EmpiricalDistribution",
            "interval.compare": "bootstrap_speedup",
            "interval.result": "BootstrapInterval",
            "plots": "resampling_figure",
            "randomization.compare": "randomization_test",
            "randomization.result": "RandomizationTest",
            "report": "resampling_report",
            "units": "Unit exchangeable_units set_apart",
        },
    )
