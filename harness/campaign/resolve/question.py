"""Which metrics are the question of a campaign: the key `judge`, held against what runs will have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.record import ENERGY_METRICS
from analysis.run_numbers import METRIC_NUMBERS

from ...errors import Problem
from ..model import Cell, Counting
from ..schema.check import Shape
from ..schema.kinds import nearest
from ..source.excerpt import quote
from ..source.yaml_marks import Document, Location

_KEY = "judge"
_NAMED = 3  # benchmarks that a message names


def judged_metrics(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Give the metrics that the key names, the first one first; none without it."""
    return (given,) if isinstance(given, str) else tuple(given or ())


def unmeasured(
    document: Document,
    shape: Shape,
    given: str | Sequence[str] | None,
    cells: Sequence[Cell],
    counting: Counting | None,
    *,
    energy: bool,
) -> Iterator[Problem]:
    """Report the metrics that some benchmark will not have, and name it.

    Parameters
    ----------
    document, shape : Document, Shape
        The file; nothing is said of benchmarks and variants that are wrong themselves.
    given : str, sequence of str or None
        The value of the key.
    cells : sequence of Cell
        Each with the metrics that its output is parsed for.
    counting : Counting or None
        What is counted during runs.
    energy : bool
        Whether energy is measured.
    """
    if any(map(shape.touches, (("variants",), ("benchmarks",), ("counters",)))):
        return
    everywhere = [*METRIC_NUMBERS, *(ENERGY_METRICS if energy else ())]
    everywhere += [] if counting is None else [event.name for event in counting.events]
    for index, metric in enumerate(judged_metrics(given)):
        if metric in everywhere:
            continue
        without = [cell for cell in cells if all(rule.name != metric for rule in cell.metrics)]
        if not without:
            continue
        declared = dict.fromkeys(rule.name for cell in cells for rule in cell.metrics)
        known = list(dict.fromkeys((*declared, *everywhere)))
        near = None if metric in declared else nearest(metric, known)
        fix = f"did you mean '{near}'? Known here: " if near else "known here: "
        if metric in declared:
            fix = "declare it there under 'metrics', or judge one that all benchmarks have: "
            known = [name for name in known if name != metric]
        place: Location = (_KEY,) if isinstance(given, str) else (_KEY, index)
        what = f"{_said(without, cells)} no metric {quote(metric)}, which is to be judged"
        yield document.problem(place, what, fix + ", ".join(known))


def _said(without: Sequence[Cell], cells: Sequence[Cell]) -> str:
    """Name the benchmarks that lack a metric, and the variants where it is not all of them."""
    names = list(dict.fromkeys(cell.benchmark for cell in without))
    told = ", ".join(quote(name) for name in names[:_NAMED])
    if len(names) > _NAMED:
        return f"benchmarks {told} and {len(names) - _NAMED} more have"
    if len(names) > 1:
        return f"benchmarks {told} have"
    all_of_it = [cell for cell in cells if cell.benchmark == names[0]]
    if len(without) == len(all_of_it):
        return f"benchmark {told} has"
    variants = ", ".join(quote(cell.variant) for cell in without[:_NAMED])
    more = f" and {len(without) - _NAMED} more" if len(without) > _NAMED else ""
    plural = "s" * (len(without) > 1)
    return f"benchmark {told} with variant{plural} {variants}{more} has"
