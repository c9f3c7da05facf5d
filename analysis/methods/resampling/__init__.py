"""Randomization test, bootstrap intervals and empirical distributions of suite means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .distribution.compare import (
        EmpiricalDistribution as EmpiricalDistribution,
        compare_distributions as compare_distributions,
        empirical_distribution as empirical_distribution,
    )
    from .interval.compare import bootstrap_speedup as bootstrap_speedup
    from .interval.result import BootstrapInterval as BootstrapInterval
    from .plots import resampling_figure as resampling_figure
    from .randomization.compare import (
        RandomizationTest as RandomizationTest,
        randomization_test as randomization_test,
    )
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
            "distribution.compare": "EmpiricalDistribution compare_distributions empirical_distribution",
            "interval.compare": "bootstrap_speedup",
            "interval.result": "BootstrapInterval",
            "plots": "resampling_figure",
            "randomization.compare": "RandomizationTest randomization_test",
            "report": "resampling_report",
            "units": "Unit exchangeable_units set_apart",
        },
    )
