"""How much of what varies lies between sessions, and how much between runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ...report import Result

__all__ = ["ComponentLine", "Crossed", "Of", "VarianceComponents"]

Of = Literal["differences", "values"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentLine:
    """The two components of one benchmark, or of the mean over all of them.

    `session_sd` and `run_sd` are standard deviations of logarithms, so shares of the value: 0.01 is
    1 %. `run_sd` is that of one block of a session; None where no session has two, and then
    `session_sd` holds both. `mean` is that of the logs (of differences: of the log speedup),
    `deviance` minus twice the restricted log likelihood, `sessions` and `blocks` how many there are.
    """

    name: str
    mean: float
    session_sd: float
    run_sd: float | None
    deviance: float | None
    sessions: int
    blocks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossed:
    """Standard deviations of logarithms by effect, over all benchmarks together.

    One that the data cannot tell from the others is None; `run_sd` is what the others leave.
    """

    benchmark_sd: float | None
    session_sd: float | None
    benchmark_session_sd: float | None
    block_sd: float | None
    run_sd: float
    deviance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceComponents(Result):
    """Components of variance of one variant's values, or of the differences of two.

    `benchmarks` are taken one by one, `suite` is the mean over them (None for one benchmark, or where
    fewer than two sessions have a block with all), `crossed` the model of all of them together (None
    for one benchmark, or where it cannot be fitted).
    """

    method: ClassVar[str] = "variance-components"

    of: Of
    candidate: str
    baseline: str | None
    sessions: int
    benchmarks: tuple[ComponentLine, ...]
    suite: ComponentLine | None
    crossed: Crossed | None
    references: tuple[str, ...] = (
        "Patterson and Thompson 1971 (restricted likelihood)",
        "Gilmour, Thompson and Cullis 1995 (average information)",
    )
