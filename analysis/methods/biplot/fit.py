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
from collections.abc import Sequence
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...stats import door, numbers, read_only
from .cautions import component_cautions, size_cautions, value_cautions
from .result import Biplot, Scale

__all__ = ["biplot"]

Array = NDArray[np.float64]

_SAME = 1e-12  # values within this of each other, relatively, are one value
_TIE = 1e-12  # loadings within this of the largest, relatively, are as large


@door
def biplot(
    values: ArrayLike,
    systems: Sequence[str],
    benchmarks: Sequence[str],
    *,
    scale: Scale = "log",
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
    told = tuple(str(name) for name in names)
    seen: set[str] = set()
    for name in told:
        if name in seen:
            raise UsageError(
                f"{kind} must have names of their own, and {name!r} stands there twice"
            )
        seen.add(name)
    return told


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
    table: Array, same: NDArray[np.bool_], scale: Scale, benchmarks: tuple[str, ...]
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


def _correlations(table: Array, same: NDArray[np.bool_]) -> Array:
    """Give Pearson's correlations of the benchmarks; nan for those that do not vary."""
    x = table / _magnitudes(table)
    x = x - x.mean(axis=0)
    x[:, same] = np.nan
    x /= np.sqrt((x**2).sum(axis=0))
    found = np.clip(x.T @ x, -1, 1)
    np.fill_diagonal(found, np.where(same, np.nan, 1.0))
    return np.asarray((found + found.T) / 2)
