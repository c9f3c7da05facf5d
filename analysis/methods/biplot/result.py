"""What a biplot says: explained variance, scores, loadings and correlations, as text and as JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...report import as_text, figures

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
_ROWS = 30  # of a printed table
_CORRELATED = 9  # benchmarks, up to which all correlations are printed
_NAME = 32


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Biplot:
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

    systems: tuple[str, ...]
    benchmarks: tuple[str, ...]
    scale: Scale
    scores: Array
    loadings: Array
    explained: Array
    sds: Array
    rank: int
    correlations: Array
    cautions: tuple[str, ...]
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

    def to_dict(self) -> dict[str, Any]:
        """Give the result as JSON types; nan becomes null."""
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        for key, value in data.items():
            if isinstance(value, tuple):
                data[key] = list(value)
            elif isinstance(value, np.ndarray):
                data[key] = value.tolist()
        data["correlations"] = [
            [None if math.isnan(r) else r for r in row] for row in data["correlations"]
        ]
        data["conclusion"] = self.conclusion
        return data

    def __str__(self) -> str:
        lines = [*as_text.wrapped(self.conclusion), "", *self._components()]
        lines += ["", *self._coordinates("system", self.systems, self.scores, "scores")]
        lines += ["", *self._coordinates("benchmark", self.benchmarks, self.loadings, "loadings")]
        if len(self.benchmarks) > 1:
            lines += ["", *self._correlation_lines()]
        return "\n".join([*lines, *as_text.numbered(self.cautions)])

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

    def _components(self) -> list[str]:
        count = min(self.rank, 8)
        heads = ["", *(f"PC{k + 1}" for k in range(count))]
        shares = [f"{100 * share:.2f} %" for share in self.explained[:count]]
        upto = [f"{100 * share:.2f} %" for share in np.cumsum(self.explained)[:count]]
        rows = [heads, ["share of the variance", *shares], ["together", *upto]]
        return as_text.grid(rows, "<" + ">" * count)

    def _coordinates(self, kind: str, names: tuple[str, ...], table: Array, what: str) -> list[str]:
        count = min(self.rank, 2)
        # where there are too many, those that lie farthest from the middle of the picture
        order = list(range(len(names)))
        if len(order) > _ROWS:
            far = np.hypot(table[:, 0], table[:, count - 1])
            order = sorted(np.argsort(-far, kind="stable")[:_ROWS].tolist())
        write = _three_decimals if what == "loadings" else _four_digits
        columns = [write(table[:, k].tolist()) for k in range(count)]
        rows = [[kind, *(f"PC{k + 1}" for k in range(count))]]
        for k in order:
            rows.append([figures.shorten(names[k], _NAME), *(column[k] for column in columns)])
        more = len(names) - len(order)
        left = [f"  and {more} {kind}s nearer to the middle (--json gives all)"] if more else []
        return [f"{what}", *as_text.grid(rows, "<" + ">" * count, "  "), *left]

    def _correlation_lines(self) -> list[str]:
        p = len(self.benchmarks)
        if p <= _CORRELATED:
            short = [figures.shorten(name, 7) for name in self.benchmarks]
            rows = [["", *short]]
            for name, row in zip(self.benchmarks, self.correlations, strict=True):
                cells = ["-" if math.isnan(r) else f"{r:.2f}" for r in row]
                rows.append([figures.shorten(name, 16), *cells])
            return ["correlations of the benchmarks", *as_text.grid(rows, "<" + ">" * p, "  ")]
        upper = np.triu_indices(p, 1)
        r = self.correlations[upper]
        known = np.flatnonzero(~np.isnan(r))
        if not known.size:
            return ["correlations: fewer than two benchmarks vary"]
        r = r[known]

        def pair(k: int) -> str:
            i, j = (int(index[known[k]]) for index in upper)
            return " and ".join(figures.shorten(self.benchmarks[q], 24) for q in (i, j))

        low, high = int(r.argmin()), int(r.argmax())
        return [
            f"correlations of the {len(r):,} pairs of benchmarks: median {np.median(r):.2f}",
            f"  least  {r[low]:+.2f}  {pair(low)}",
            f"  most   {r[high]:+.2f}  {pair(high)}",
        ]


def _share(share: float) -> str:
    """Write a share; what is not all, or not nothing, is not written as such."""
    text = f"{100 * share:.1f}"
    if text == "0.0" and share > 0:
        return "less than 0.1 %"
    return f"{'99.9' if text == '100.0' and share < 1 - 1e-12 else text.removesuffix('.0')} %"


def _three_decimals(values: list[float]) -> list[str]:
    return [f"{round(value, 3) + 0.0:+.3f}" for value in values]


def _four_digits(values: list[float]) -> list[str]:
    """Write four digits of the largest value, and all others with as many decimals."""
    top = math.floor(math.log10(max(map(abs, values))))
    if not -4 <= top < 7:
        return [f"{value:+.3e}" for value in values]
    decimals = max(0, 3 - top)
    return [f"{round(value, decimals) + 0.0:+.{decimals}f}" for value in values]
