"""Components of variance of a pilot: between sessions, and between the blocks of one.

A plan for a comparison needs those of the differences: a shift that both variants share in a session
cancels in them, and one that moves a variant more than the other does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...data import PerformanceMatrix
from ...errors import InsufficientDataError
from ...report import Caution, figures
from ...stats import door, one_way
from ..pair import matched
from .crossed import crossed
from .observations import Observations, differences, values_of
from .result import ComponentLine, Crossed, VarianceComponents

__all__ = ["component_lines", "variance_components"]

_LEAST = 2  # sessions


@door
def variance_components(
    candidate: PerformanceMatrix, baseline: PerformanceMatrix | None = None
) -> VarianceComponents:
    """Tell what lies between sessions from what lies between the blocks of one.

    Parameters
    ----------
    candidate : PerformanceMatrix
        The variant.
    baseline : PerformanceMatrix, optional
        With it, the differences are looked at: log(candidate / baseline) in each block that both
        have, the sign turned so that more is better. Without, the logarithms of the values.

    Returns
    -------
    VarianceComponents
        Standard deviations of logarithms (shares, without a unit).

    Raises
    ------
    InsufficientDataError
        If fewer than two sessions have the values; a variance between sessions needs two.
    AnalysisError
        If the two do not compare.

    Notes
    -----
    Each benchmark, and the mean over all, by restricted likelihood [1]_; all together by average
    information [2]_. For sessions of one size the first is the analysis of variance, cut at 0.
    Blocks that a source does not know are taken to be the k-th runs of a session. A benchmark with
    fewer than two sessions is left out, and a caution names it.

    References
    ----------
    .. [1] H. D. Patterson, R. Thompson, "Recovery of inter-block information when block sizes are
       unequal", Biometrika 58, 1971.
    .. [2] A. R. Gilmour, R. Thompson, B. R. Cullis, "Average Information REML", Biometrics 51, 1995.
    """
    if baseline is None:
        seen, known = values_of(candidate), candidate.cautions
    else:
        ours, theirs, known = matched(candidate, baseline)
        seen = differences(ours, theirs)
    sessions = seen.sessions
    if sessions < _LEAST:
        where = candidate.name if baseline is None else f"{candidate.name} and {baseline.name}"
        raise InsufficientDataError(
            f"the pilot has {_told(sessions, both=baseline is not None)}, and {_LEAST} are needed",
            where,
            "measure two sessions or more, such as 'fairtrial run --sessions 3'",
            n=sessions,
            needed=_LEAST,
        )
    lines, suite = component_lines(seen)
    absent = [name for name, line in zip(seen.names, lines, strict=True) if line is None]
    if absent and len(absent) < len(lines):
        seen = seen.only([k for k, line in enumerate(lines) if line is not None])
        suite = component_lines(seen)[1]
    return VarianceComponents(
        of="values" if baseline is None else "differences",
        candidate=candidate.name,
        baseline=None if baseline is None else baseline.name,
        sessions=sessions,
        benchmarks=tuple(line for line in lines if line is not None),
        suite=suite,
        crossed=_crossed(seen),
        cautions=(*known, *_cautions(seen, absent)),
    )


def component_lines(
    seen: Observations,
) -> tuple[list[ComponentLine | None], ComponentLine | None]:
    """Give each benchmark's components and those of the mean over all of them.

    One with fewer than two sessions is None, and so is the mean over a single benchmark.
    """
    lines = [_line(name, *seen.of(k)) for k, name in enumerate(seen.names)]
    return lines, _line("these", *seen.suite()) if len(seen.names) > 1 else None


def _told(sessions: int, *, both: bool) -> str:
    if sessions:
        return "one session"
    return "no session that both sides have" if both else "no session"


def _line(
    name: str, values: NDArray[np.float64], session: NDArray[np.int64]
) -> ComponentLine | None:
    if np.unique(session).size < _LEAST:
        return None
    found = one_way(values, session)
    return ComponentLine(
        name=name,
        mean=found.mean,
        session_sd=math.sqrt(found.between),
        run_sd=None if found.within is None else math.sqrt(found.within),
        deviance=found.deviance,
        sessions=found.groups,
        blocks=found.values,
    )


def _crossed(seen: Observations) -> Crossed | None:
    if len(seen.names) < 2 or (found := crossed(seen)) is None:
        return None
    sd = {name: math.sqrt(value) for name, value in found.variances.items()}
    return Crossed(
        benchmark_sd=sd.get("benchmark"),
        session_sd=sd.get("session"),
        benchmark_session_sd=sd.get("benchmark:session"),
        block_sd=sd.get("block"),
        run_sd=sd["rest"],
        deviance=found.deviance,
    )


def _cautions(seen: Observations, absent: list[str]) -> Iterator[Caution]:
    if absent:
        yield Caution(
            "benchmark-in-one-session",
            f"left out, because fewer than two sessions have it: {figures.listed(absent)}",
            tuple(absent),
        )
    if not seen.blocks_known:
        yield Caution(
            "blocks-unknown",
            "the sources do not say which runs share a block: the first runs of a session are "
            "compared with each other, then the second ones, and so on",
        )
