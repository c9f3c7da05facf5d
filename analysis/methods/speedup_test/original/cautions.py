"""What a reader of a configuration's results should know beside what holds for every suite."""

from __future__ import annotations

from collections.abc import Iterator

from ....report import Caution, figures
from .config import SpeedupConfig

__all__ = ["coefficient_cautions", "config_cautions"]


def config_cautions(config: SpeedupConfig) -> Iterator[Caution]:
    """Say which benchmarks are left out, and what was doubtful in the configuration."""
    out = config.left_out
    if out:
        first = out[0]
        said = "1 benchmark of the configuration was left out: "
        if len(out) > 1:
            said = f"{len(out)} benchmarks of the configuration were left out: the first is "
        yield Caution(
            "benchmarks-left-out",
            f"{said}{first.name!r} (line {first.line}): {'; '.join(first.reasons)}. The warnings "
            "file has all of them",
            tuple(one.name for one in out),
        )
    yield from config.cautions


def coefficient_cautions(config: SpeedupConfig) -> Iterator[Caution]:
    """Say which coefficients were asked for and are missing."""
    missing = tuple(name for name, value in config.coefficients.items() if value is None)
    if len(missing) == len(config.coefficients):
        yield Caution(
            "no-coefficients",
            "the configuration gives no Coef, so all benchmarks weigh the same",
        )
    elif missing:
        yield Caution(
            "coefficient-missing",
            f"without a Coef of its own, 1 was taken: {figures.listed(missing, 3)}",
            missing,
        )
