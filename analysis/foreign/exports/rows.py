"""The long table that CSV, JSON, Parquet and SQLite share: a row for each value, all that is known."""

from __future__ import annotations

from collections.abc import Iterator

from .leaving import Leaving

__all__ = ["HEADINGS", "Row", "rows_of"]

HEADINGS = (
    "benchmark", "variant", "session", "block", "run", "iteration", "metric", "value", "unit",
    "better", "ok", "warmup",
)  # fmt: skip

Row = tuple[
    str, str, int | str | None, int | None, int, int, str, float | None, str, str, bool, bool
]


def rows_of(leaving: Leaving) -> Iterator[Row]:
    """Give the rows, sample by sample.

    A failed run without values has one row for each metric, with the value None.
    """
    for sample in leaving.samples:
        for run in sample.runs:
            for metric in leaving.metrics:
                values: tuple[float | None, ...] = run.values.get(metric.name, ())
                if not values and not run.ok:
                    values = (None,)
                for k, value in enumerate(values, 1):
                    yield (
                        sample.benchmark,
                        sample.variant,
                        run.session,
                        run.block,
                        run.number,
                        k,
                        metric.name,
                        value,
                        metric.unit,
                        metric.better,
                        run.ok,
                        run.warmup,
                    )
