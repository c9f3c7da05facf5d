"""A configuration of the original Speedup-Test tool, judged as that tool does."""

from __future__ import annotations

from dataclasses import replace

from ..compare import speedup_test_suite
from ..result import SpeedupSuite, Weighting
from ..suite import Weights
from .cautions import coefficient_cautions, config_cautions
from .config import SpeedupConfig

__all__ = ["speedup_test_config"]


def speedup_test_config(
    config: SpeedupConfig,
    *,
    confidence: float | None = None,
    weighting: Weighting | None = None,
    precision: float = 0.05,
    compatible: bool = False,
) -> SpeedupSuite:
    """Test every benchmark of a configuration, and give the figures of the suite (section 6.2).

    Parameters
    ----------
    config : SpeedupConfig
        What `read_speedup_config` gives.
    confidence : float, optional
        The level of the benchmarks whose ConfLevel is missing; None searches. It is the level of the
        proportions' intervals too (0.95 when None), whatever the benchmarks' own are (section 6.2.4).
    weighting : {"custom", "equal", "fraction"}, optional
        "custom" takes the configuration's coefficients: 1 where one is missing, equal weights where
        all are. None is the same, but takes a configuration without any as one that wants none.
    precision, compatible
        As in `speedup_test_suite`.

    Raises
    ------
    UsageError
        If an argument is out of its range.
    AnalysisError
        If times, or times and weights, lie so far apart that no ratio can be given.
    """
    given = any(value is not None for value in config.coefficients.values())
    custom = weighting == "custom" or (weighting is None and given)
    suite = speedup_test_suite(
        baseline=config.baseline,
        candidate=config.candidate,
        confidence={
            name: confidence if own is None else own for name, own in config.confidences.items()
        },
        weights=_coefficients(config) if custom else weighting or "equal",
        precision=precision,
        proportion_confidence=confidence,
        compatible=compatible,
    )
    told = (*config_cautions(config), *(coefficient_cautions(config) if custom else ()))
    return replace(suite, cautions=(*told, *suite.cautions))


def _coefficients(config: SpeedupConfig) -> Weights:
    known = config.coefficients
    if all(value is None for value in known.values()):
        return "equal"
    return {name: 1.0 if value is None else value for name, value in known.items()}
