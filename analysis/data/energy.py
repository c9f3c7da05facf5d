"""What the energies of runs can tell, and when none of them can be judged.

The counters move about once a millisecond, so each end of a run is known to one such step and its energy
to 0.4 of what a millisecond takes (the difference of two uniform errors: 1/sqrt(6)). From 0.1 s on that is
below half a percent of it. The sum over k runs of a shorter program has sqrt(k) times that error and k times
the energy: it is known like that of one run sqrt(k) times as long.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import AnalysisError
from ..pages import number_format as figures
from ..pages.model import Caution
from ..record.trial_files import ENERGY, NET_ENERGY, RESOLUTION_S, STEADY, IdlePower, is_steady
from .iterations import values_of
from .metrics import kind_of

if TYPE_CHECKING:
    from ..stats.samples import Flags
    from .runs import Runs


def require_steady(runs: Runs, metric: str, used: Flags) -> None:
    """Refuse a net energy where the idle power before and after runs is not one."""
    if metric != NET_ENERGY or not kind_of(runs.manifest, metric).energy:
        return
    unsteady = [
        (before, after)
        for before, after in _around(runs, used).values()
        if after is not None and not is_steady(before, after)
    ]
    if not unsteady:
        return
    before, after = max(
        unsteady,
        key=lambda pair: abs(pair[1].watts / pair[0].watts - 1) if pair[0].watts else math.inf,
    )
    others = f", and {len(unsteady) - 1} more" if len(unsteady) > 1 else ""
    raise AnalysisError(
        f"{NET_ENERGY} cannot be judged: idle, the machine used {before.watts:.2f} W before session "
        f"{before.session} and {after.watts:.2f} W after it, more than {STEADY:.0%} apart{others}",
        str(runs.path),
        f"judge {ENERGY}, or measure again on a machine that has settled",
    )


def energy_cautions(runs: Runs, metric: str, used: Flags) -> Iterator[Caution]:
    """Say what the energies of some runs cannot tell."""
    if not kind_of(runs.manifest, metric).energy or not used.any():
        return
    wall = runs.numbers["wall_ns"] / 1e9
    short = used & (wall < RESOLUTION_S)
    if short.any():
        cells = np.stack([runs.benchmark[short], runs.session[short]])
        _, cell, count = np.unique(cells, axis=1, return_inverse=True, return_counts=True)
        # together a session's runs are known like one that lasts so long
        alike = float((np.bincount(cell.reshape(-1), weights=wall[short]) / np.sqrt(count)).min())
        told = f"one by one; the mean {metric} of a session's runs is known"
        if alike < RESOLUTION_S * (1 - 1e-9):  # a hundred runs of 10 ms are enough
            told = (
                f"({metric}), and so is the mean of a session's runs, which is known like one run of {alike:.2g} "
                "s: let the program repeat its work, or measure more runs a session"
            )
        some = figures.counted(int(short.sum()), "run")
        yield Caution(
            "short-for-energy",
            f"{some} of less than {RESOLUTION_S:g} s: too short to be known {told}",
            tuple(runs.manifest.benchmarks[k] for k in np.unique(runs.benchmark[short])),
        )
    if metric == NET_ENERGY:
        yield from _idle(runs, used, wall)


def _idle(runs: Runs, used: Flags, wall: Any) -> Iterator[Caution]:  # noqa: ANN401 - an array
    """Say how well the idle power is known, and what that makes of the net energy."""
    around = _around(runs, used)
    alone = sorted({session for (session, _), (_, after) in around.items() if after is None})
    if alone:
        yield Caution(
            "idle-unconfirmed",
            f"the idle power after session {', '.join(map(str, alone))} was not measured, so it is unknown whether "
            "it stayed at the value that was subtracted",
        )
    error = np.full(len(runs), np.nan)
    for (session, segment), (before, after) in around.items():
        drift = 0.0 if after is None else abs(after.watts - before.watts) / 2
        mine = used & (runs.session == session) & (runs.segment == segment)
        error[mine] = math.hypot(before.error_w, drift)
    joules, values = error * wall, values_of(runs, NET_ENERGY)
    worst: dict[str, float] = {}
    for number, name in enumerate(runs.manifest.benchmarks):
        rows = used & (runs.benchmark == number) & np.isfinite(joules)
        if rows.any():
            middle = abs(float(np.median(values[rows])))
            worst[name] = float(np.max(joules[rows])) / middle if middle > 0 else math.inf
    if worst:
        name = max(worst, key=lambda bench: worst[bench])
        share = f"{worst[name]:.2g}" if math.isinf(worst[name]) else f"{worst[name] * 100:.2g} %"
        yield Caution(
            "idle-uncertainty",
            f"the idle power is known to {float(np.nanmax(error)):.2g} W: up to {share} of {NET_ENERGY} ({name}), "
            "the same way in all runs of a session",
            (name,),
        )


def _around(runs: Runs, used: Flags) -> dict[tuple[int, int], tuple[IdlePower, IdlePower | None]]:
    """Find the idle powers before and after the segments of these runs, by session and segment."""
    known = {(one.session, one.segment, one.when): one for one in runs.manifest.idle_power}
    places = np.unique(np.stack([runs.session[used], runs.segment[used]]), axis=1).T.tolist()
    return {
        (session, segment): (before, known.get((session, segment, "after")))
        for session, segment in places
        if (before := known.get((session, segment, "before"))) is not None
    }
