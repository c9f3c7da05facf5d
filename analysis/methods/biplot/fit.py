"""Biplot of systems x benchmarks: principal components, scores, loadings and correlations.

[1]_, section 11: the principal components of the table of medians, with the systems' scores as
points and the benchmarks' loadings as arrows in one picture. The paper takes the covariance matrix
of the values as they are, in which the slowest benchmark weighs most; logarithms are the default
here, so that equal ratios weigh equally.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, section 11.
.. [2] K. R. Gabriel, "The biplot graphic display of matrices with application to principal
   component analysis", Biometrika 58(3), 1971.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...pages import number_format as figures
from ...pages.model import Caution
from ...pages.result import Result
from ...stats.arguments import door, numbers
from ...stats.samples import Array, Flags, read_only
from ...words import shorten

Scale = Literal["log", "covariance", "correlation"]

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
        named = [f"{shorten(self.benchmarks[k], 20)} ({column[k]:+.2f})" for k in order[:count]]
        if count <= 3:
            return " and ".join([", ".join(named[:-1]), named[-1]] if count > 1 else named)
        return f"{count} benchmarks, most of all {named[0]}"


def _share(share: float) -> str:
    """Round a share; what is not all, or not nothing, is not written as such."""
    text = f"{100 * share:.1f}"
    if text == "0.0" and share > 0:
        return "less than 0.1 %"
    if text == "100.0" and share < 1 - 1e-12:
        text = f"{100 * share:.2f}"
        return "more than 99.99 %" if text == "100.00" else f"{text} %"
    return f"{text.removesuffix('.0')} %"


def component_cautions(
    benchmarks: Sequence[str], scale: Scale, *, leading: Array, shares: Array
) -> Iterator[Caution]:
    """Say what decides the components; `leading` are the first one's loadings."""
    squares = leading**2
    top = int(squares.argmax())
    if len(benchmarks) > 2 and squares[top] > 0.5:
        name = benchmarks[top]
        fix = (
            "unscaled, the benchmark whose values spread most decides, and that is often just the "
            "slowest: scale 'log' lets equal ratios weigh equally"
            if scale == "covariance"
            else "the systems differ most on it: look whether it belongs to the others"
        )
        yield Caution(
            "one-benchmark-dominates",
            f"{shorten(name, 40)!r} alone makes {100 * squares[top]:.0f} % of PC1: {fix}",
            (name,),
        )
    if scale == "covariance":
        said = "covariances are in the units of the values: all benchmarks must share one"
        yield Caution("unit-decides", said)
    if shares[:2].sum() < 0.7:
        yield Caution(
            "picture-holds-little",
            f"a picture of PC1 and PC2 shows {100 * shares[:2].sum():.0f} % of the variance: "
            "points that lie together there may lie apart",
        )


def size_cautions(systems: int, benchmarks: int) -> Iterator[Caution]:
    """Say what so many systems and benchmarks can show."""
    if systems == 2:
        yield Caution(
            "two-systems",
            "two systems lie on a line whatever they are: there is one component, and every "
            "correlation is 1 or -1",
        )
        return
    if benchmarks == 1:
        return
    from scipy.special import stdtrit

    level = 0.05
    quantile = float(stdtrit(systems - 2, 1 - level / 2))
    least = quantile / math.sqrt(systems - 2 + quantile**2)
    yield Caution(
        "correlations-by-chance",
        f"from {systems} systems: a correlation between -{least:.3f} and {least:.3f} is no "
        f"evidence of one (level {level:g}, one pair)",
    )
    if benchmarks >= systems:
        yield Caution(
            "more-benchmarks-than-systems",
            f"{benchmarks} benchmarks and {systems} systems: at most {systems - 1} components hold "
            "variance, so that some of it is shared by construction",
        )


def value_cautions(constant: Sequence[str]) -> Iterator[Caution]:
    """Say what single values hide; `constant` are the benchmarks that do not vary."""
    if constant:
        some = figures.listed([shorten(name, 30) for name in constant], 3)
        said = f"the same value on all systems, and so no arrow: {some}"
        yield Caution("benchmark-constant", said, tuple(constant))
    yield Caution(
        "one-value-each",
        "each system and benchmark has one value: the picture does not show how much it would "
        "change in another measurement",
    )


_SAME = 1e-12  # values within this of each other, relatively, are one value
_TIE = 1e-12  # loadings within this of the largest, relatively, are as large


@door
def biplot(
    values: ArrayLike, systems: Sequence[str], benchmarks: Sequence[str], *, scale: Scale = "log"
) -> Biplot:
    """Find the principal components of a table of systems x benchmarks.

    Parameters
    ----------
    values : array_like, shape (systems, benchmarks)
        One value for each system and benchmark, such as the median of its runs.
    systems, benchmarks : sequence of str
        Their names, each once.
    scale : {"log", "covariance", "correlation"}
        What is analysed, always centred by benchmark: the logarithms; the values as they are, as
        published; or the values divided by their standard deviation.

    Returns
    -------
    Biplot
        ``.scores`` (systems x components), ``.loadings`` (benchmarks x components, each of length
        1, the one largest in size positive), ``.explained`` (shares of the variance) and
        ``.correlations`` of the benchmarks' values. There are min(systems, benchmarks) components;
        those beyond ``.rank`` hold no variance and their loadings mean nothing.

    Raises
    ------
    UsageError
        If `scale` is unknown, or the names do not fit the values.
    InsufficientDataError
        If there are fewer than two systems, or no benchmark.
    AnalysisError
        If a value is missing, not finite, or not positive where logarithms are taken; if a
        benchmark does not vary where it is divided by its spread; if nothing varies.

    Notes
    -----
    Variances and covariances divide by n - 1, n the number of systems. `correlations` are those of
    Table 18: Pearson's, of the values as given, whatever the scale.
    """
    if scale not in get_args(Scale):
        raise UsageError(f"scale must be 'log', 'covariance' or 'correlation', not {scale!r}")
    rows, columns = _names("systems", systems), _names("benchmarks", benchmarks)
    table = _checked(values, rows, columns, positive=scale == "log")
    same = np.ptp(table / _magnitudes(table), axis=0) <= _SAME
    unit, x, rounding = _scaled(table, same, scale, columns)
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    # centring takes one dimension; what rounding leaves of it, and of others, is no variance
    least = max(s[0] * np.finfo(np.float64).eps, rounding)
    rank = max(1, int((s[: len(rows) - 1] > least).sum()))
    s[rank:] = 0.0
    components, signs = _oriented(vt)
    squares = (s / s[0]) ** 2
    explained = squares / squares.sum()
    loadings = components.T + 0.0  # no negative zeros
    return Biplot(
        systems=rows,
        benchmarks=columns,
        scale=scale,
        scores=read_only(u * signs * s * unit + 0.0),
        loadings=read_only(loadings),
        explained=read_only(explained),
        sds=read_only(s / math.sqrt(len(rows) - 1) * unit),
        rank=rank,
        correlations=read_only(_correlations(table, same)),
        cautions=(
            *component_cautions(columns, scale, leading=loadings[:, 0], shares=explained),
            *size_cautions(len(rows), len(columns)),
            *value_cautions([name for name, flag in zip(columns, same, strict=True) if flag]),
        ),
    )


def _names(kind: str, names: Sequence[str]) -> tuple[str, ...]:
    found = tuple(str(name) for name in names)
    twice = next((name for k, name in enumerate(found) if name in found[:k]), None)
    if twice is not None:
        raise UsageError(f"{kind} must have names of their own, and {twice!r} is there twice")
    return found


def _checked(
    values: ArrayLike, systems: tuple[str, ...], benchmarks: tuple[str, ...], *, positive: bool
) -> Array:
    table = numbers(values, "the values", dimensions=None, wrong=AnalysisError)
    if table.shape != (len(systems), len(benchmarks)):
        raise UsageError(
            f"values of shape {table.shape} do not fit {len(systems)} systems x "
            f"{len(benchmarks)} benchmarks"
        )
    if not benchmarks:
        raise InsufficientDataError("there is no benchmark", n=0, needed=1)
    if len(systems) < 2:
        raise InsufficientDataError(
            f"a biplot shows how systems differ, and there {'is one' if systems else 'is none'}",
            fix="give 3 or more systems",
            n=len(systems),
            needed=2,
        )
    good = np.isfinite(table)
    if positive:
        with np.errstate(invalid="ignore"):
            good &= table > 0
    if not good.all():
        i, j = (int(k) for k in np.argwhere(~good)[0])
        raise AnalysisError(
            f"the value is {float(table[i, j])!r}",
            f"system {systems[i]!r}, benchmark {benchmarks[j]!r}",
            "logarithms need positive finite values"
            if positive
            else "give a finite value, or leave the system or the benchmark out",
        )
    return table


def _magnitudes(table: Array) -> Array:
    """Give the largest size in each column, 1 where all are 0."""
    sizes = np.abs(table).max(axis=0)
    return np.asarray(np.where(sizes > 0, sizes, 1.0))


def _scaled(
    table: Array, same: Flags, scale: Scale, benchmarks: tuple[str, ...]
) -> tuple[float, Array, float]:
    """Give the centred table that is decomposed, its unit, and the rounding in its size."""
    if same.all():
        raise AnalysisError(
            "no benchmark differs between the systems: there is nothing to show",
            fix="look whether the same file was given twice",
        )
    unit = 1.0
    if scale == "log":
        x = np.log(table)
    elif scale == "covariance":
        unit = float(np.abs(table).max())  # squares of huge or tiny values leave the range
        x = table / unit
    else:
        if same.any():
            constant = [name for name, flag in zip(benchmarks, same, strict=True) if flag]
            raise AnalysisError(
                f"benchmark {constant[0]!r} has one value on all systems, and correlation divides "
                "by the spread" + (f" ({len(constant) - 1} more)" if len(constant) > 1 else ""),
                fix="leave it out, or take scale 'log' or 'covariance'",
            )
        x = table / _magnitudes(table)
    epsilons = np.abs(x).max(axis=0) * np.finfo(np.float64).eps
    x = x - x.mean(axis=0)
    x[:, same] = epsilons[same] = 0.0
    if scale == "correlation":
        spreads = x.std(axis=0, ddof=1)
        x /= spreads
        epsilons /= spreads
    return unit, x, float(np.linalg.norm(epsilons)) * math.sqrt(len(table))


def _oriented(components: Array) -> tuple[Array, Array]:
    """Turn each component (a row) so that its largest loading is positive; also give the signs.

    Loadings that differ from the largest by rounding only are made as large, so that the first of
    them decides on every machine.
    """
    sizes = np.abs(components)
    largest = sizes.max(axis=1, keepdims=True)
    level = np.where(sizes >= largest * (1 - _TIE), np.copysign(largest, components), components)
    first = np.abs(level).argmax(axis=1)[:, None]
    signs = np.where(np.take_along_axis(level, first, axis=1) < 0, -1.0, 1.0)
    return level * signs, signs[:, 0]


def _correlations(table: Array, same: Flags) -> Array:
    """Give Pearson's correlations of the benchmarks; nan for those that do not vary."""
    x = table / _magnitudes(table)
    x = x - x.mean(axis=0)
    x[:, same] = np.nan
    x /= np.sqrt((x**2).sum(axis=0))
    found = np.clip(x.T @ x, -1, 1)
    np.fill_diagonal(found, np.where(same, np.nan, 1.0))
    return np.asarray((found + found.T) / 2)
