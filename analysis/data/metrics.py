"""The kinds of metrics: what has a value of each, where it is stored, and how it is judged.

A metric is a row of `KINDS`, and the place where it is measured. One that every run has is a number of
`analysis.record.run_numbers`; a manifest describes all others by unit, direction and source.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, cast

import numpy as np

from ..errors import UsageError
from ..record.manifest import SOURCE as QUANTILES
from ..record.run_numbers import (
    BUILTIN_METRICS,
    METRIC_NUMBERS,
    NUMBERS,
    SERVICES,
    Better,
    MetricInfo,
)
from ..record.trial_files import ENERGY, NET_ENERGY, Manifest, is_of_builds
from ..stats.samples import Flags
from .host_record import kept_from
from .runs import Runs

Of = Literal["run", "session", "build"]


class Kind(NamedTuple):
    """What is known of a kind of metrics.

    `of`: What has a value of it. `waits`: Whether the time that a run waits, or that others take from it, goes into it, as far as
    anybody knows. `grows`: Whether a run that lasts longer has more of it: one that was cut off tells a lower bound.
    `iterations`: Whether a run may have several values, the first perhaps warm-up. `counted`: Whether a campaign
    may count it in some blocks only, and take the times from the others: a run that is counted is a little slower.
    `energy`: Whether fairtrial counted it as energy (`analysis.data.trial`).
    """

    of: Of = "run"
    waits: bool = False
    grows: bool = False
    iterations: bool = False
    counted: bool = False
    energy: bool = False


KINDS: Final[Mapping[str, Kind]] = {
    "wall": Kind(waits=True, grows=True),
    "number": Kind(grows=True),  # processor time and memory, which every run has
    "printed": Kind(waits=True, iterations=True),
    QUANTILES: Kind("session", waits=True),
    "counters": Kind(grows=True, counted=True),
    SERVICES: Kind(grows=True),
    ENERGY: Kind(waits=True, grows=True, energy=True),
    NET_ENERGY: Kind(waits=True, energy=True),
    "builds": Kind("build"),
    "meter": Kind(waits=True),  # of a source that a later version reads
}


def kind_of(manifest: Manifest, metric: str) -> Kind:
    """Give the kind of a metric; a program's own keeps its name, whatever fairtrial measures by it."""
    about = manifest.metrics.get(metric)
    if about is None:
        return KINDS["wall" if metric == "wall" else "number"]
    if is_of_builds(about):
        return KINDS["builds"]
    if "source" not in about:
        return KINDS["printed"]
    if metric in (ENERGY, NET_ENERGY):
        return KINDS[metric]
    return KINDS.get(about["source"], KINDS["meter"])


def info_of(runs: Runs, metric: str) -> MetricInfo:
    """Give the unit and the direction of a metric; raises UsageError where the trial has none of that name."""
    info = runs.manifest.metrics.get(metric)
    if info is not None:
        return MetricInfo(unit=info["unit"], better=cast("Better", info["better"]))
    number = METRIC_NUMBERS.get(metric)
    if number is not None and number not in runs.absent:
        return BUILTIN_METRICS[metric]
    what = f"the trial has no metric {metric!r}"
    if number is not None:
        what += (
            f": fairtrial records it since version {NUMBERS[number].since}, "
            f"and {runs.manifest.tool_version} began this trial"
        )
    elif why := kept_from(runs.path, metric):
        what += f", and the check {why.check!r} said why: {why.what}"
    measured = runs.manifest.origin != "imported"  # of other tools' runs they are all unknown
    there = [one for one, key in METRIC_NUMBERS.items() if measured and key not in runs.absent]
    known = ", ".join(dict.fromkeys([*there, *runs.manifest.metrics]))
    left_out = [one.text for one in runs.cautions if one.code == "metric-left-out"]
    raise UsageError(what, str(runs.path), "; ".join((f"known here: {known}", *left_out)))


def apart_of(runs: Runs, metric: str) -> Flags:
    """Tell which runs have no value of a metric by design.

    Where a campaign counts in some blocks only, the counters are those of these blocks, and all
    else is taken from the others. A number of builds has one value for each build.
    """
    kind = kind_of(runs.manifest, metric)
    if kind.of == "build":
        return np.isnan(runs.metrics[metric].per_run())
    if runs.counted is None:
        return np.zeros(len(runs), dtype=np.bool_)
    return cast("Flags", runs.counted == (0 if kind.counted else 1))


def floor_of(runs: Runs, metric: str) -> Flags:
    """Tell of each run whether its value of a metric only says "at most the floor"."""
    number = None if metric in runs.metrics else METRIC_NUMBERS.get(metric)
    floor = None if number is None else NUMBERS[number].floor
    if number is None or floor is None:
        return np.zeros(len(runs), dtype=np.bool_)
    return runs.numbers[number] <= runs.numbers[floor]
