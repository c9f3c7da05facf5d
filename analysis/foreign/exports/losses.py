"""What targets cannot hold, computed from what leaves: a loss is told only where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...errors import UsageError
from ...report import figures
from ..cells import Loss
from .leaving import Leaving, Metric

__all__ = [
    "WALL",
    "kept_apart",
    "lost",
    "mean_of",
    "metrics_lost",
    "never_held",
    "one_variant",
    "time_of",
]

_LONGEST = 1e100  # s; the squares of longer times are beyond all numbers
# names of a wall time: read back, each is the tool's own name of it
WALL = frozenset(("wall", "time", "real_time", "value", "elapsed"))


def lost(leaving: Leaving, metric: str, *holds: str) -> Iterator[Loss]:
    """Say what a target loses that holds only `holds` beyond values.

    Parameters
    ----------
    leaving : Leaving
        What leaves.
    metric : str
        The metric that is written.
    *holds : str
        Of ``failed``, ``warm-ups``, ``sessions``, ``blocks`` and ``processes``.
    """
    told: dict[str, Callable[[Leaving, str], str | None]] = {
        "failed": _failed,
        "warm-ups": _warmups,
        "sessions": _sessions,
        "blocks": _blocks,
        "processes": _processes,
    }
    for what, of in told.items():
        if what not in holds and (text := of(leaving, metric)) is not None:
            yield Loss(code=f"{what}-lost", text=text)


def never_held(leaving: Leaving) -> Iterator[Loss]:
    """Say what no target has a place for, and a verdict on the file cannot know."""
    if leaving.appended:
        yield Loss(
            code="looks-lost",
            text=f"that sessions were appended, {leaving.appended} time{'s' * (leaving.appended > 1)}: a "
            "verdict on the file takes it for the first look",
        )
    if leaving.hosts:
        yield Loss(code="hosts-lost", text="which session was measured on which host")
    if leaving.unjudged:
        yield Loss(
            code="repeats-lost",
            text=f"{_runs(leaving.unjudged)} that no method takes, because disturbed ones were repeated: "
            "left out",
        )


def _failed(leaving: Leaving, _metric: str) -> str | None:
    count = sum(len(sample.failed) for sample in leaving.samples)
    return f"{_runs(count)} that failed: left out" if count else None


def _warmups(leaving: Leaving, _metric: str) -> str | None:
    count = sum(sample.warmups for sample in leaving.samples)
    return f"{_runs(count)} that warmed up: left out" if count else None


def _sessions(leaving: Leaving, _metric: str) -> str | None:
    count = len({run.session for sample in leaving.samples for run in sample.runs})
    return f"which run belongs to which of the {count} sessions" if count > 1 else None


def _blocks(leaving: Leaving, _metric: str) -> str | None:
    found = {run.block for sample in leaving.samples for run in sample.runs}
    return "which runs belong to one block" if len(found - {None}) > 1 else None


def _processes(leaving: Leaving, metric: str) -> str | None:
    shapes = [sample.processes(metric) for sample in leaving.samples]
    if max((len(shape) for shape in shapes), default=0) <= 1:
        return None
    if any(len(process) > 1 for shape in shapes for process in shape):
        return "the iterations of each process: their mean is written"
    return "that each value stems from a process of its own"


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


def kept_apart(processes: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    """Give the values for a target that knows one process only.

    One process keeps its iterations. Of several each gives its mean: their iterations in one row
    would be taken for independent of each other.
    """
    if len(processes) == 1:
        return processes[0]
    return tuple(mean_of(process) for process in processes)


def mean_of(values: tuple[float, ...]) -> float:
    """Give the arithmetic mean."""
    first = values[0]  # added to the first value: equal iterations have exactly it as the mean
    return first + sum(value - first for value in values) / len(values)


def metrics_lost(leaving: Leaving, written: tuple[str, ...]) -> Iterator[Loss]:
    """Say which metrics are left out."""
    rest = tuple(one.name for one in leaving.metrics if one.name not in written)
    if rest:
        yield Loss(code="metrics-lost", text=f"the metrics {figures.listed(rest)}: left out")


def one_variant(leaving: Leaving, said: str) -> str:
    """Give the only variant, or refuse several.

    Raises
    ------
    UsageError
        If there are several; `said` names the target.
    """
    if len(leaving.variants) > 1:
        raise UsageError(
            f"{said} holds one variant, and here are {len(leaving.variants)}",
            leaving.name,
            f"write a file for each: SOURCE:VARIANT, with {', '.join(leaving.variants)}",
        )
    return leaving.variants[0]


def time_of(leaving: Leaving, said: str) -> tuple[Metric, tuple[Loss, ...]]:
    """Give the metric for a target of times in seconds, and what is lost of its name.

    Raises
    ------
    UsageError
        If the first metric is no time of which less is better, or a time is beyond all measure.
    """
    first = leaving.metrics[0]
    longest = max(
        (v for sample in leaving.samples for of in sample.processes(first.name) for v in of),
        default=0.0,
    )
    if longest > _LONGEST:
        raise UsageError(
            f"{said} holds means and deviations, and {longest:.3g} s are too long for them",
            leaving.name,
            "is the value right? a table holds it: --to long-csv",
        )
    if first.unit != "s" or first.better != "lower":
        raise UsageError(
            f"{said} holds times in seconds; {first.name!r} has the unit {first.unit or 'none'!r}, "
            f"{first.better} is better",
            leaving.name,
            "name a time with --metric, or write a table: --to long-csv",
        )
    if first.name in WALL:
        return first, ()
    text = f"that the values are {first.name!r}: the file calls them its time"
    return first, (Loss(code="metric-name-lost", text=text),)
