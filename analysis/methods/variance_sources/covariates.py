"""The covariates of a trial's runs: what was drawn for each, and what was seen of it.

One place says of each how it is to be compared (as a number, on a circle, by levels), whether the runner
drew it, whether it was fixed before the run, and whether it may follow from the run's own length.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from ...data import Trial, segment_starts
from ...report import figures
from ...stats import read_only
from .counters import is_counter
from .result import Kind

__all__ = ["AS_LEVELS", "MOST_LEVELS", "Covariate", "Scale", "as_levels", "covariates_of", "spoken"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Scale = Literal["numeric", "circular", "levels"]

AS_LEVELS: Final = " (levels)"  # behind the name of a number that is taken by its values
MOST_LEVELS: Final = 16  # of whole numbers that are taken as categories too
_DAY_S: Final = 86_400.0
_PERIODS: Final = (64, 4096)  # bytes: a cache line, a page

_SPOKEN: Final[Mapping[str, str]] = {
    "padding_bytes": "environment padding",
    "position": "position in its block",
    "previous_benchmark": "benchmark of the run before",
    "previous_variant": "variant of the run before",
    "session": "session",
    "cpu": "CPU",
    "time_of_day": "time of day (UTC)",
}
# The numbers of a run that are covariates as they are: known after the run, and not by it.
_SEEN: Final[Mapping[str, str]] = {
    "frequency_khz": "frequency",
    "temperature_c": "temperature",
    "max_rss_bytes": "resident memory",
    "stdout_bytes": "size of the output",
    "before_s": "time of the hooks before the run",
}
# Those that grow with the run: a longer run has more of them, whatever made it long.
_GROWING: Final[Mapping[str, str]] = {
    "steal_s": "steal",
    "voluntary_switches": "voluntary switches",
    "involuntary_switches": "involuntary switches",
    "minor_faults": "minor faults",
    "major_faults": "major faults",
    "user_s": "time in the program",
    "system_s": "time in the kernel",
}
_METRIC_OF: Final = {"user_s": "user", "system_s": "system", "max_rss_bytes": "max_rss"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Covariate:
    """One covariate of all rows of a trial.

    Attributes
    ----------
    name : str
        As it is recorded, such as ``padding_bytes mod 64``.
    kind : {"randomized", "observed"}
        Whether the runner drew it.
    values : read-only float array, shape (rows,)
        One value a row; nan where it is unknown. Of ``levels``, codes into `labels`.
    scale : {"numeric", "circular", "levels"}
        How values are compared.
    period : float or None
        Of a circle, in the unit of the values.
    labels : tuple of str
        Of levels.
    unit : str
        Of the values; rates end with ``/s``.
    known_before : bool
        Whether it was fixed before the run.
    may_follow : bool
        Whether it may be a consequence of a long run.
    of_session : bool
        Whether it belongs to a session as a whole, whatever it does within one.
    count : read-only float array or None
        Of a rate, what grew: the value before it was divided by the run's time.
    spoken : str
        The name in a sentence, such as ``environment padding modulo 64``.
    """

    name: str
    kind: Kind
    values: Floats
    scale: Scale = "numeric"
    period: float | None = None
    labels: tuple[str, ...] = ()
    unit: str = ""
    known_before: bool = False
    may_follow: bool = False
    of_session: bool = False
    count: Floats | None = None
    spoken: str = ""

    def __post_init__(self) -> None:
        """Say the name as it is spoken everywhere, unless it was given."""
        if not self.spoken:
            object.__setattr__(self, "spoken", spoken(self.name))


def spoken(name: str) -> str:
    """Say the name of a covariate in a sentence: ``environment padding modulo 64``."""
    plain = name.removesuffix(AS_LEVELS)
    recorded, _, period = plain.partition(" mod ")
    if period.isdigit() and recorded in _SPOKEN:
        return f"{_SPOKEN[recorded]} modulo {int(period):,}"
    if plain in _GROWING:
        return f"{_GROWING[plain]} per second"
    return _SPOKEN.get(plain) or _SEEN.get(plain) or plain


def covariates_of(trial: Trial, metric: str = "wall") -> dict[str, Covariate]:
    """Give the covariates of a trial's rows by their names.

    Parameters
    ----------
    trial : Trial
        The trial.
    metric : str
        What is to be explained: it is no covariate of itself.

    Returns
    -------
    dict of str to Covariate
        Those of which at least one row knows a value: the randomized ones first, then those fixed
        before the run, then what was seen. A constant one is among them.

    Notes
    -----
    Padding and order are randomized where they differ from block to block in a trial that was
    measured here: a fixed padding and a fixed order are constant for each cell. In an imported trial
    nothing is. Counts that grow with the run are rates per second of its wall time.
    """
    found = (*_drawn(trial), *_circumstances(trial), *_seen(trial, metric), *_parsed(trial, metric))
    return {one.name: one for one in found if np.isfinite(one.values).any()}


def as_levels(covariate: Covariate) -> Covariate | None:
    """Take whole numbers of at most 16 values as categories; None where they are none."""
    if covariate.scale != "numeric" or covariate.count is not None:
        return None
    known = np.isfinite(covariate.values)
    levels = np.unique(covariate.values[known])
    if not 2 <= levels.size <= MOST_LEVELS or (levels != np.round(levels)).any():
        return None
    codes = np.full(covariate.values.shape, np.nan)
    codes[known] = np.searchsorted(levels, covariate.values[known])
    return replace(
        covariate,
        name=f"{covariate.name}{AS_LEVELS}",
        values=read_only(codes),
        scale="levels",
        labels=tuple(f"{level:.0f}" for level in levels.tolist()),
    )


# --- randomized ------------------------------------------------------------------------------------


def _drawn(trial: Trial) -> Iterator[Covariate]:
    measured = trial.manifest.origin != "imported"
    padding = trial.numbers["padding_bytes"]
    known = padding[np.isfinite(padding)]
    varied = measured and known.size > 0 and bool((known != known[0]).any())
    yield Covariate(
        name="padding_bytes",
        kind="randomized" if varied else "observed",
        values=padding,
        unit="B",
        known_before=True,
    )
    for period in _PERIODS:
        yield Covariate(
            name=f"padding_bytes mod {period}",
            kind="randomized" if varied else "observed",
            values=read_only(np.mod(padding, period)),
            scale="circular",
            period=float(period),
            unit="B",
            known_before=True,
        )
    if measured:
        yield from _order(trial)


def _order(trial: Trial) -> Iterator[Covariate]:
    """Give the place of each run in its block, and which program was executed before it."""
    place = _places(trial)
    shuffled: Kind = "randomized" if _is_shuffled(trial, place) else "observed"
    yield Covariate(
        name="position",
        kind=shuffled,
        values=read_only(place),
        known_before=True,
    )
    first = np.ones(len(trial), dtype=np.bool_)  # of a session, or after it was resumed
    if len(trial):
        first[1:] = (np.diff(trial.session) != 0) | (np.diff(trial.segment) != 0)
    for name, codes, labels in (
        ("benchmark", trial.benchmark, trial.manifest.benchmarks),
        ("variant", trial.variant, trial.manifest.variants),
    ):
        before = np.full(len(trial), np.nan)
        before[1:] = codes[:-1]
        before[first | (trial.repeats >= 0)] = (
            np.nan
        )  # what was repeated was not drawn to stand there
        yield Covariate(
            name=f"previous_{name}",
            kind=shuffled,
            values=read_only(before),
            scale="levels",
            labels=labels,
            known_before=True,
        )


def _places(trial: Trial) -> Floats:
    """Count the runs of each block in their planned order; nan of warm-ups."""
    place = np.full(len(trial), np.nan)
    rows = np.flatnonzero(~trial.warmup & (trial.position >= 0))
    order = rows[np.lexsort((trial.position[rows], trial.block[rows], trial.session[rows]))]
    if order.size:
        new = (np.diff(trial.session[order]) != 0) | (np.diff(trial.block[order]) != 0)
        begins = np.flatnonzero(np.r_[True, new])
        sizes = np.diff(np.r_[begins, order.size])
        place[order] = np.arange(order.size) - np.repeat(begins, sizes)
    return place


def _is_shuffled(trial: Trial, place: Floats) -> bool:
    """Tell whether two blocks of the same cells were executed in different orders."""
    cells = trial.benchmark * len(trial.manifest.variants) + trial.variant
    rows = np.flatnonzero(np.isfinite(place))
    order = rows[np.lexsort((place[rows], trial.block[rows], trial.session[rows]))]
    orders: dict[frozenset[int], tuple[int, ...]] = {}
    new = (np.diff(trial.session[order]) != 0) | (np.diff(trial.block[order]) != 0)
    for block in np.split(cells[order], np.flatnonzero(new) + 1):
        told = tuple(block.tolist())
        if orders.setdefault(frozenset(told), told) != told:
            return True
    return False


# --- fixed before the run --------------------------------------------------------------------------


def _circumstances(trial: Trial) -> Iterator[Covariate]:
    labels, codes = np.unique(trial.session, return_inverse=True)
    yield Covariate(
        name="session",
        kind="observed",
        values=read_only(codes.reshape(-1).astype(np.float64)),
        scale="levels",
        labels=tuple(map(str, labels.tolist())),
        known_before=True,
        of_session=True,
    )
    cpus, day_s = _cpus_and_time(trial)
    names = tuple(dict.fromkeys(name for name in cpus if name is not None))
    places = {name: float(k) for k, name in enumerate(names)}
    yield Covariate(
        name="cpu",
        kind="observed",
        values=read_only(
            np.array([np.nan if name is None else places[name] for name in cpus], dtype=np.float64)
        ),
        scale="levels",
        labels=names,
        known_before=True,
    )
    yield Covariate(
        name="time_of_day",
        kind="observed",
        values=read_only(day_s),
        scale="circular",
        period=_DAY_S,
        unit="s",
        known_before=True,
        of_session=True,
    )


def _cpus_and_time(trial: Trial) -> tuple[list[str | None], Floats]:
    """Give each row's CPUs, and the second of the day at which it started."""
    cpus: list[str | None] = [None] * len(trial)
    day_s = np.full(len(trial), np.nan)
    starts = segment_starts(trial)
    for k, start in enumerate(starts):
        end = starts[k + 1].row if k + 1 < len(starts) else len(trial)
        mine = slice(start.row, end)
        if start.cpus:
            cpus[mine] = [",".join(map(str, start.cpus))] * (end - start.row)
        clock, began = trial.start_ns[mine], _second_of_day(start.started_at)
        if began is not None and clock[0] >= 0:
            since = np.where(clock >= 0, clock - clock[0], np.nan) / 1e9
            day_s[mine] = np.mod(began + since, _DAY_S)
    return cpus, day_s


def _second_of_day(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        at = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    if at.tzinfo is None:
        return None
    at = at.astimezone(datetime.UTC)
    return at.hour * 3600 + at.minute * 60 + at.second + at.microsecond / 1e6


# --- seen of the run -------------------------------------------------------------------------------


def _seen(trial: Trial, metric: str) -> Iterator[Covariate]:
    for name in _SEEN:
        if _METRIC_OF.get(name) != metric:
            yield Covariate(
                name=name,
                kind="observed",
                values=_above_floor(trial, name),
                unit=name.rpartition("_")[2],
                known_before=name == "before_s",
            )
    for name in _GROWING:
        if _METRIC_OF.get(name) != metric:
            yield _rate(trial, trial.numbers[name], name=name)


def _above_floor(trial: Trial, name: str) -> Floats:
    """Give a number where it says more than that it is at most the launcher's own."""
    metric = _METRIC_OF.get(name)
    values = trial.numbers[name]
    if metric is None or metric in trial.metrics:
        return values
    return read_only(np.where(trial.at_floor(metric), np.nan, values))


def _parsed(trial: Trial, metric: str) -> Iterator[Covariate]:
    """Give the metrics beside the trial's own: times and counted events grow with the run."""
    for name in trial.metrics:
        if name == metric:
            continue
        unit, values = trial.metric(name).unit, trial.values(name)
        # a share of events, or events per second, is no count
        named = is_counter(name) and unit != "%" and not figures.timed(unit)
        if figures.is_time(unit) or trial.is_counter(name) or named:
            yield _rate(trial, values, name=name)
            continue
        yield Covariate(
            name=name,
            kind="observed",
            values=read_only(values),
            unit=unit,
            may_follow=figures.timed(unit),  # such as 1/s: what it made of its time
        )


def _rate(trial: Trial, count: Floats, *, name: str) -> Covariate:
    wall_s = trial.numbers["wall_ns"] / 1e9
    rate = np.full(len(trial), np.nan)
    np.divide(count, wall_s, out=rate, where=wall_s > 0)
    return Covariate(
        name=name,
        kind="observed",
        values=read_only(rate),
        unit="/s",
        may_follow=True,
        count=read_only(count),
    )
