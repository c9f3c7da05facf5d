"""All values of a history in tables: a night a row, a benchmark a column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...pages.number_format import significant, unit_text
from ...words import shown
from ..chapter import Chapter
from .benchmarks import ratio_of

if TYPE_CHECKING:
    from ...history.judged.result import SeriesHistory, SeriesValue
    from .benchmarks import Benchmark
    from .places import Places

__all__ = ["values_chapter"]

_BESIDE = 8  # benchmarks of a table
_SHA = 7


class _Row(NamedTuple):
    night: str
    commit: str
    cells: Sequence[str]


def values_chapter(
    benchmarks: Sequence[Benchmark], places: Places, names: Mapping[str, str]
) -> Chapter:
    """Give all values that the strips draw, in the unit of their scales."""
    groups = [benchmarks[k : k + _BESIDE] for k in range(0, len(benchmarks), _BESIDE)]
    values: dict[str, Any] = {
        "names": names,
        "tables": [
            {
                "benchmarks": [(one.name, _unit(one.newest)) for one in group],
                "commits": any(row.commit for row in rows),
                "rows": rows,
            }
            for group in groups
            for rows in [list(_rows(group, places))]
        ],
    }
    return Chapter(
        name="values",
        folder="history/values",
        anchor="values",
        title="All values",
        values=values,
        sections=tuple,
    )


def _unit(series: SeriesHistory) -> str:
    return "%" if series.paired else unit_text(series.unit)


def _rows(group: Sequence[Benchmark], places: Places) -> Iterator[_Row]:
    columns = [
        {
            places.of[value.started_at or "", value.trial]: (series, value)
            for series in one.series
            for value in series.values
        }
        for one in group
    ]
    for place in places.of.values():
        found = [column.get(place) for column in columns]
        known = [value for one in found if one is not None for value in one[1:]]
        if not known:
            continue
        commits = {value.commit for value in known}
        commit = commits.pop() if len(commits) == 1 else None
        yield _Row(
            night=shown(places.names[place]),
            commit=shown(commit[:_SHA]) if commit else "",
            cells=["" if one is None else _written(*one) for one in found],
        )


def _written(series: SeriesHistory, value: SeriesValue) -> str:
    if value.metric_value is not None:
        return significant(value.metric_value, 4)
    if value.speedup is None:
        return ""
    change = 100 * (ratio_of(series, value.speedup) - 1)
    return f"{change:+.2f}".replace("-", "\N{MINUS SIGN}")
