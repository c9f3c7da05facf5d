"""A wide CSV: a row for each benchmark, a column for each run."""

from __future__ import annotations

import csv
import io

from ..cells import Loss
from .leaving import Leaving
from .losses import kept_apart, lost, metrics_lost, one_variant
from .names import names_lost, renamed
from .written import Written

__all__ = ["write"]


def write(leaving: Leaving) -> Written:
    """Make the file; rows of fewer runs end in empty cells.

    Raises
    ------
    UsageError
        If there are several variants.
    """
    one_variant(leaving, "a wide CSV")
    metric = leaving.metrics[0]
    names = renamed(leaving.benchmarks, _name, leaving.name)
    table = [
        (names[sample.benchmark], kept_apart(processes))
        for sample in leaving.samples
        if (processes := sample.processes(metric.name))
    ]
    most = max(len(values) for _, values in table)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("benchmark", *(f"run{k}" for k in range(1, most + 1))))
    quoting = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    for name, values in table:
        row = (name, *values, *[""] * (most - len(values)))
        (quoting if name.startswith("#") else writer).writerow(row)  # no comment
    text = (
        f"unit ({metric.unit or 'none'}), direction ({metric.better}) and the name {metric.name!r}"
    )
    return Written(
        data=out.getvalue().encode(),
        lost=(
            *lost(leaving, metric.name),
            *metrics_lost(leaving, (metric.name,)),
            *names_lost("in which blanks around them, and empty ones, are not kept", names),
            Loss(code="units-lost", text=text),
        ),
    )


def _name(name: str) -> str:
    return name.strip().strip('"').strip() or "unnamed"
