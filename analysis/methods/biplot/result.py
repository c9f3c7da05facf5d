"""What a biplot says: explained variance, scores, loadings and correlations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ...report import Result, figures

__all__ = ["SCALES", "Biplot", "Scale"]

Scale = Literal["log", "covariance", "correlation"]
Array = NDArray[np.float64]

SCALES = {
    "log": "logarithms, centred",
    "covariance": "values as they are, centred (covariance, as published)",
    "correlation": "values divided by their spread (correlation)",
}
REFERENCES = (
    "S. Irving et al., Computer comparisons in the presence of performance variation, Frontiers of "
    "Computer Science 2018, section 11",
    "K. R. Gabriel, The biplot graphic display of matrices with application to principal component "
    "analysis, Biometrika 58(3), 1971",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Biplot(Result):
    """Principal components of a table of systems x benchmarks.

    Attributes
    ----------
    scale : {"log", "covariance", "correlation"}
        What was analysed.
    scores : read-only array, shape (systems, components)
        The systems' coordinates, in the unit of what was analysed.
    loadings : read-only array, shape (benchmarks, components)
        The components as unit vectors; the loading of each that is largest in size is positive.
    explained : read-only array, shape (components,)
        The components' shares of the variance; they sum to 1.
    sds : read-only array, shape (components,)
        The standard deviations of the scores (divisor n - 1).
    rank : int
        How many components hold variance.
    correlations : read-only array, shape (benchmarks, benchmarks)
        Of the values as given; nan for a benchmark that does not vary.
    """

    method: ClassVar[str] = "biplot"

    systems: tuple[str, ...]
    benchmarks: tuple[str, ...]
    scale: Scale
    scores: Array
    loadings: Array
    explained: Array
    sds: Array
    rank: int
    correlations: Array
    references: tuple[str, ...] = REFERENCES

    @property
    def conclusion(self) -> str:
        """How much the first two components hold, and what the first one follows."""
        n, p = len(self.systems), len(self.benchmarks)
        held = f"PC1 holds {_share(self.explained[0])}"
        if self.rank > 1:
            both = float(self.explained[:2].sum())
            held += f" and PC2 {_share(self.explained[1])} (together {_share(both)})"
        return (
            f"{held} of the variance of {n} systems over {p} benchmark{'s' * (p > 1)}, by "
            f"{SCALES[self.scale]}; PC1 follows {self._strongest(0)}"
            + (f", PC2 {self._strongest(1)}" if self.rank > 1 else "")
        )

    def body(self) -> dict[str, Any]:
        """Give the fields and the conclusion; components beyond the rank have no axis to tell."""
        axes = {
            name: [
                [value if k < self.rank else None for k, value in enumerate(row)]
                for row in getattr(self, name).tolist()
            ]
            for name in ("scores", "loadings")
        }
        return {**Result.body(self), **axes, "conclusion": self.conclusion}

    def _strongest(self, component: int) -> str:
        """Name the benchmarks with the largest loadings that make half of the component."""
        column = self.loadings[:, component]
        order = np.argsort(-np.abs(column), kind="stable")
        count = int(np.searchsorted(np.cumsum(column[order] ** 2), 0.5)) + 1
        named = [
            f"{figures.shorten(self.benchmarks[k], 20)} ({column[k]:+.2f})" for k in order[:count]
        ]
        if count <= 3:
            return " and ".join([", ".join(named[:-1]), named[-1]] if count > 1 else named)
        return f"{count} benchmarks, most of all {named[0]}"


def _share(share: float) -> str:
    """Write a share; what is not all, or not nothing, is not written as such."""
    text = f"{100 * share:.1f}"
    if text == "0.0" and share > 0:
        return "less than 0.1 %"
    return f"{'99.9' if text == '100.0' and share < 1 - 1e-12 else text.removesuffix('.0')} %"
