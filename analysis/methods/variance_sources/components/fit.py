"""How much of the variance lies between benchmarks, hosts, trials, sessions, blocks and runs.

References
----------
.. [1] H. D. Patterson, R. Thompson, "Recovery of inter-block information when block sizes are unequal",
   Biometrika 58, 1971.
.. [2] A. R. Gilmour, R. Thompson, B. R. Cullis, "Average Information REML", Biometrics 51, 1995.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from ....errors import AnalysisError
from ....stats import one_way, random_effects
from ..result import Component, Source
from ..runs import Iterations, Runs

__all__ = ["components_of", "nested"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_ORDER: tuple[Source, ...] = (
    "benchmark",
    "host",
    "trial",
    "session",
    "benchmark:session",
    "block",
    "run",
    "iteration",
)
_MOST_LEVELS = 4000  # of all effects together: what the likelihood takes
_ROUNDING = 1e-12  # logs nearer to each other are one value


def components_of(runs: Runs) -> tuple[Component, ...]:
    """Give the components of each benchmark and variant, and of all benchmarks of a variant together.

    Parameters
    ----------
    runs : Runs
        The runs.

    Returns
    -------
    tuple of Component
        Of each variant, that of all benchmarks first, where there are two or more.

    Notes
    -----
    The model of a logarithm is a mean and independent random effects, one for each source that the data
    can tell from the others; their variances are those of the largest restricted likelihood, in closed
    form of the ratio for one source [1]_, by average information for several [2]_. What is left is
    ``run``. Where runs consist of iterations, the runs' variance is freed of what the mean of so many
    iterations would vary anyway.
    """
    found: list[Component] = []
    for k, variant in enumerate(runs.variants):
        rows = np.flatnonzero(runs.variant == k)
        if np.unique(runs.benchmark[rows]).size > 1:
            variances = _together(runs, rows)
            if variances is not None:
                found += _lines(variances, None, variant)
        for bench, name, mine in runs.cells():
            if name == variant:
                found += _lines(_of_cell(runs, mine), bench, variant)
    return tuple(found)


def nested(values: Floats, chain: Mapping[str, Codes]) -> dict[str, tuple[int, float]]:
    """Give the variances of groups within groups, and of what is left ("rest").

    Parameters
    ----------
    values : array, shape (n,)
        Logarithms.
    chain : mapping of str to int array, shape (n,)
        The groups of each value, the largest first; each level divides those of the one before.

    Returns
    -------
    dict of str to (int, float)
        How many groups there are, and the variance between them. A level that divides nothing is left
        out.

    Raises
    ------
    AnalysisError
        If the search for the largest likelihood does not settle.
    """
    codes = _told_apart(values.size, chain)
    if float(np.ptp(values)) < _ROUNDING:
        return {name: (_count(code), 0.0) for name, code in codes.items()} | {
            "rest": (values.size, 0.0)
        }
    if not codes:
        return {"rest": (values.size, float(values.var(ddof=1)) if values.size > 1 else 0.0)}
    if len(codes) == 1:
        ((name, code),) = codes.items()
        fit = one_way(values, code)
        return {
            name: (fit.groups, fit.between),
            "rest": (values.size, 0.0 if fit.within is None else fit.within),
        }
    *_, smallest = codes
    if sum(map(_count, codes.values())) > _MOST_LEVELS:  # its part stays in what is left
        return nested(values, {name: code for name, code in codes.items() if name != smallest})
    means = _means(values, codes[smallest])
    if float(np.abs(values - means[codes[smallest]]).max()) < _ROUNDING:
        upper = nested(means, _without(codes, smallest))
        return {
            **{name: part for name, part in upper.items() if name != "rest"},
            smallest: upper["rest"],
            "rest": (values.size, 0.0),
        }
    several = random_effects(values, codes)
    if several is None:
        raise AnalysisError(
            f"the components of {', '.join(codes)} could not be estimated: the search did not settle",
            fix="look at fewer trials at once",
        )
    return {name: (_count(code), several.variances[name]) for name, code in codes.items()} | {
        "rest": (values.size, several.variances["rest"])
    }


def _means(values: Floats, code: Codes) -> Floats:
    found: Floats = np.bincount(code, weights=values) / np.bincount(code)
    return found


def _without(codes: Mapping[str, Codes], smallest: str) -> dict[str, Codes]:
    """Give the groups of the groups of the smallest level."""
    first = np.unique(codes[smallest], return_index=True)[1]
    return {name: code[first] for name, code in codes.items() if name != smallest}


def _count(code: Codes) -> int:
    return int(np.unique(code).size)


def _told_apart(size: int, chain: Mapping[str, Codes]) -> dict[str, Codes]:
    """Keep the levels that the values can tell: more groups than the one before, fewer than values."""
    kept: dict[str, Codes] = {}
    before = 1
    for name, code in chain.items():
        groups, dense = np.unique(code, return_inverse=True)
        if before < groups.size < size:
            kept[name] = dense.reshape(-1).astype(np.int64)
            before = groups.size
    return kept


def _of_cell(runs: Runs, rows: Codes) -> dict[Source, tuple[int, float]]:
    chain = {"host": runs.host[rows], "trial": runs.trial[rows], "session": runs.session[rows]}
    found = nested(runs.logs[rows], chain)
    return _with_iterations(found, runs.iterations, rows)


def _together(runs: Runs, rows: Codes) -> dict[Source, tuple[int, float]] | None:
    """Fit all benchmarks of a variant in one model; None where that cannot be done."""
    logs = runs.logs[rows]
    if float(np.ptp(logs)) < _ROUNDING:
        return None
    session, bench = runs.session[rows], runs.benchmark[rows]
    codes: dict[str, Codes] = {"benchmark": np.unique(bench, return_inverse=True)[1]}
    codes |= _told_apart(
        rows.size, {"host": runs.host[rows], "trial": runs.trial[rows], "session": session}
    )
    cells = np.unique(bench * (int(session.max()) + 1) + session, return_inverse=True)[1]
    if "session" in codes and _count(codes["session"]) < _count(cells) < rows.size:
        codes["benchmark:session"] = cells
    block = runs.block[rows]
    if (block >= 0).all() and _count(session) < _count(block) < rows.size:
        codes["block"] = np.unique(block, return_inverse=True)[1]
    for name in ("block", "benchmark:session"):  # the largest, where there are too many
        if sum(map(_count, codes.values())) > _MOST_LEVELS:
            codes.pop(name, None)
    fit = random_effects(logs, {name: code.astype(np.int64) for name, code in codes.items()})
    if fit is None:
        return None
    found = {name: (_count(code), fit.variances[name]) for name, code in codes.items()}
    found["rest"] = (rows.size, fit.variances["rest"])
    return _with_iterations(found, runs.iterations, rows)


def _with_iterations(
    found: Mapping[str, tuple[int, float]], iterations: Iterations | None, rows: Codes
) -> dict[Source, tuple[int, float]]:
    """Divide what is left into runs and their iterations."""
    told: dict[str, tuple[int, float]] = {k: v for k, v in found.items() if k != "rest"}
    count, rest = found["rest"]
    inside = None if iterations is None else _within_runs(iterations, rows)
    if inside is None:
        told["run"] = (count, rest)
    else:
        size, variance, per_run = inside
        told["run"] = (count, max(rest - variance / per_run, 0.0))
        told["iteration"] = (size, variance)
    return {name: told[name] for name in _ORDER if name in told}


def _within_runs(iterations: Iterations, rows: Codes) -> tuple[int, float, float] | None:
    """Give how many iterations these runs have, their variance, and how many a run has."""
    place = np.full(int(max(iterations.run.max(), rows.max())) + 1, -1)
    place[rows] = np.arange(rows.size)
    mine = place[iterations.run]
    logs, run = iterations.logs[mine >= 0], mine[mine >= 0]
    counts = np.bincount(run, minlength=rows.size)
    if logs.size <= rows.size:
        return None
    means = np.bincount(run, weights=logs, minlength=rows.size) / counts
    variance = float(((logs - means[run]) ** 2).sum()) / (logs.size - rows.size)
    return int(logs.size), variance, float(1 / np.mean(1 / counts))


def _lines(
    variances: Mapping[Source, tuple[int, float]], bench: str | None, variant: str
) -> Iterator[Component]:
    total = sum(variance for _, variance in variances.values())
    for source, (levels, variance) in variances.items():
        yield Component(
            benchmark=bench,
            variant=variant,
            source=source,
            levels=levels,
            sd=math.sqrt(variance),
            share=variance / total if total > 0 else None,
        )
