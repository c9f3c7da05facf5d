"""What a reader must know of energy: how long runs have to be, and on what the net energy rests.

The counters move about once a millisecond, so each end of a run is known to one such step and its energy
to 0.4 of what a millisecond takes (the difference of two uniform errors: 1/sqrt(6)). From 0.1 s on that is
below half a percent of it. The sum over k runs of a shorter program has sqrt(k) times that error and k times
the energy: it is known like that of one run sqrt(k) times as long.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import AnalysisError
from ..record import ENERGY, ENERGY_METRICS, NET_ENERGY, RESOLUTION_S, STEADY, IdlePower, is_steady
from ..report import Caution
from .trial_columns import TrialColumns

__all__ = ["energy_cautions", "require_steady"]

Flags = NDArray[np.bool_]
_Segment = tuple[int, int]  # session and segment
_Around = tuple[IdlePower, IdlePower | None]  # before its runs, and after them


def is_counted(trial: TrialColumns, metric: str) -> bool:
    """Tell whether a metric is energy that fairtrial counted; a program may print one of that name."""
    about = trial.manifest.metrics.get(metric)
    return metric in ENERGY_METRICS and about is not None and "source" in about


def require_steady(trial: TrialColumns, metric: str, used: Flags) -> None:
    """Refuse a net energy where the idle power before and after runs is not one.

    Parameters
    ----------
    trial : TrialColumns
        The trial.
    metric : str
        What is judged: nothing but the net energy is refused.
    used : array of bool
        The runs that are judged.

    Raises
    ------
    AnalysisError
        If the idle powers around some of these runs differ by more than 5 %.
    """
    if metric != NET_ENERGY or not is_counted(trial, metric):
        return
    unsteady = [
        (before, after)
        for before, after in _around(trial, used).values()
        if after is not None and not is_steady(before, after)
    ]
    if not unsteady:
        return
    before, after = max(unsteady, key=lambda pair: _drift(*pair))
    others = f", and {len(unsteady) - 1} more" if len(unsteady) > 1 else ""
    raise AnalysisError(
        f"{NET_ENERGY} cannot be judged: idle, the machine used {before.watts:.2f} W before session "
        f"{before.session} and {after.watts:.2f} W after it, more than {STEADY:.0%} apart{others}",
        str(trial.path),
        f"judge {ENERGY}, or measure again on a machine that has settled",
    )


def _drift(before: IdlePower, after: IdlePower) -> float:
    """Give by what part of it the idle power has changed."""
    return abs(after.watts / before.watts - 1) if before.watts else math.inf


def energy_cautions(trial: TrialColumns, metric: str, used: Flags) -> Iterator[Caution]:
    """Say what the energies of some runs cannot tell.

    Parameters
    ----------
    trial, metric, used
        As of `require_steady`.
    """
    if not is_counted(trial, metric) or not used.any():
        return
    yield from _below_resolution(trial, metric, used)
    if metric == NET_ENERGY:
        yield from _idle(trial, used)


def _below_resolution(trial: TrialColumns, metric: str, used: Flags) -> Iterator[Caution]:
    """Mark runs that are too short, and say whether a session's runs are long enough together."""
    wall = trial.numbers["wall_ns"] / 1e9
    short = used & (wall < RESOLUTION_S)
    if not short.any():
        return
    cells = np.stack([trial.benchmark[short], trial.session[short]])
    _, cell, runs = np.unique(cells, axis=1, return_inverse=True, return_counts=True)
    total = np.bincount(cell.reshape(-1), weights=wall[short])
    # 1e-9: a hundred runs of 10 ms are enough
    enough = (total / np.sqrt(runs) >= RESOLUTION_S * (1 - 1e-9)).all()
    names = [trial.manifest.benchmarks[k] for k in np.unique(trial.benchmark[short])]
    count = int(short.sum())
    said = f"{count} run{'s' * (count > 1)} of less than {RESOLUTION_S:g} s: too short to be known "
    if enough:
        said += f"one by one; the mean {metric} of a session's runs is known"
    else:
        most = float((total / np.sqrt(runs)).min())
        said += (
            f"({metric}), and so is the mean of a session's runs, which is known like one run of {most:.2g} "
            "s: let the program repeat its work, or measure more runs a session"
        )
    yield Caution("short-for-energy", said, tuple(names))


def _idle(trial: TrialColumns, used: Flags) -> Iterator[Caution]:
    """Say how well the idle power is known, and what that makes of the net energy."""
    around = _around(trial, used)
    alone = sorted(segment for segment, (_, after) in around.items() if after is None)
    if alone:
        told = ", ".join(str(session) for session in dict.fromkeys(one for one, _ in alone))
        said = (
            f"the idle power after session {told} was not measured, so nobody knows whether it stayed "
            "what was taken off"
        )
        yield Caution("idle-unconfirmed", said)
    error = np.full(len(trial), np.nan)
    for (session, segment), (before, after) in around.items():
        drift = 0.0 if after is None else abs(after.watts - before.watts) / 2
        mine = used & (trial.session == session) & (trial.segment == segment)
        error[mine] = math.hypot(before.error_w, drift)
    joules = error * trial.numbers["wall_ns"] / 1e9
    values = trial.values(NET_ENERGY)
    worst: dict[str, float] = {}
    for number, name in enumerate(trial.manifest.benchmarks):
        rows = used & (trial.benchmark == number) & np.isfinite(joules)
        if rows.any():
            middle = abs(float(np.median(values[rows])))
            worst[name] = float(np.max(joules[rows])) / middle if middle > 0 else math.inf
    if not worst:
        return
    name = max(worst, key=lambda bench: worst[bench])
    share = f"{worst[name]:.2g}" if math.isinf(worst[name]) else f"{worst[name] * 100:.2g} %"
    said = (
        f"the idle power is known to {float(np.nanmax(error)):.2g} W: up to {share} of {NET_ENERGY} ({name}), "
        "the same way in all runs of a session"
    )
    yield Caution("idle-uncertainty", said, (name,))


def _around(trial: TrialColumns, used: Flags) -> dict[_Segment, _Around]:
    """Find the idle powers around the segments of these runs."""
    known: dict[Any, IdlePower] = {
        (one.session, one.segment, one.when): one for one in trial.manifest.idle_power
    }
    pairs = np.unique(np.stack([trial.session[used], trial.segment[used]]), axis=1).T.tolist()
    return {
        (session, segment): (before, known.get((session, segment, "after")))
        for session, segment in pairs
        if (before := known.get((session, segment, "before"))) is not None
    }
