"""Components of variance in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from ....report import Cell, Column, Section, Sentence, Table, Value, figures
from ..result import Component, Source, Sources

__all__ = ["sections"]

_NAME = 24
_ROWS = 40
_SOURCES: Mapping[Source, str] = {
    "benchmark": "benchmarks",
    "host": "hosts",
    "trial": "trials",
    "session": "sessions",
    "benchmark:session": "sessions of single benchmarks",
    "block": "blocks",
    "run": "runs",
    "iteration": "iterations",
}
_SD, _SHARE = "the standard deviation as a share of the value", "its share of the variance"
_WIDE = 94  # columns of a screen, less the margin
_LEAST = 7  # columns that a variant's name is not cut below: its heading's
_ALL = "all together"
_SHORT: Mapping[Source, str] = {**_SOURCES, "benchmark:session": "own sessions"}


def sections(found: Sources) -> tuple[Section, ...]:
    """Say how much lies between what; nothing where nothing was divided."""
    if not found.components:
        return ()
    groups = _grouped(found.components)
    shown = dict(list(groups.items())[:_ROWS])
    blocks: list[Sentence | Table] = [*map(Sentence, _said(groups)), *_tables(shown)]
    if len(shown) < len(groups):
        blocks.append(Sentence(f"and {len(groups) - len(shown)} more rows (--json gives all)"))
    return (Section(tuple(blocks), title="components of variance"),)


def _grouped(
    components: tuple[Component, ...],
) -> dict[tuple[str | None, str], dict[Source, Component]]:
    groups: dict[tuple[str | None, str], dict[Source, Component]] = {}
    for one in components:
        groups.setdefault((one.benchmark, one.variant), {})[one.source] = one
    return groups


def _said(groups: Mapping[tuple[str | None, str], Mapping[Source, Component]]) -> Iterator[str]:
    """Say of each variant where its variance lies, benchmarks aside."""
    whole = {key: parts for key, parts in groups.items() if key[0] is None}
    for (bench, variant), parts in (whole or (groups if len(groups) == 1 else {})).items():
        inside = {name: one.sd**2 for name, one in parts.items() if name != "benchmark"}
        total = sum(inside.values())
        if not total:
            continue
        told = [
            f"{_percent(part / total)} between {_SOURCES[name]}" for name, part in inside.items()
        ]
        name = figures.shorten(variant, _NAME)
        some = f"{figures.shorten(bench or '', _NAME)} / {name}"
        if bench is None:
            some = f"{name}, benchmarks aside"
        yield f"{some}: of the variance lies {', '.join(told)}"


def _tables(
    groups: Mapping[tuple[str | None, str], Mapping[Source, Component]],
) -> tuple[Sentence | Table, ...]:
    """Give one table, or one of deviations and one of shares where a screen has no room for both."""
    whole = _table(groups, "components", _cell)
    if sum(_widths(whole)) + 2 * (len(whole.columns) - 1) <= _WIDE:
        return Sentence(f"each: {_SD}, in brackets {_SHARE}"), whole
    return (
        Sentence(f"each: {_SD}"),
        _fitted(_table(groups, "components", _sd)),
        Sentence(f"each: {_SHARE}"),
        _fitted(_table(groups, "components-shares", _share)),
    )


def _widths(table: Table) -> list[int]:
    rows = [[cell if isinstance(cell, str) else cell.text for cell in row] for row in table.rows]
    rows.append([column.heading for column in table.columns])
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def _fitted(table: Table) -> Table:
    """Cut the names to the room that the numbers leave; several sources leave little."""
    benchmark, variant, *numbers = _widths(table)
    room = _WIDE - sum(numbers) - 2 * (len(numbers) + 1)
    variant = min(variant, max(_LEAST, room // 2, room - benchmark))
    benchmark = max(len(_ALL), room - variant)
    return replace(
        table,
        rows=tuple(
            (figures.shorten(str(bench), benchmark), figures.shorten(str(name), variant), *cells)
            for bench, name, *cells in table.rows
        ),
    )


def _table(
    groups: Mapping[tuple[str | None, str], Mapping[Source, Component]],
    name: str,
    cell: Callable[[Component | None], Cell],
) -> Table:
    there = [source for source in _SOURCES if any(source in parts for parts in groups.values())]
    return Table(
        name=name,
        columns=(
            Column("benchmark", "left"),
            Column("variant", "left"),
            *(Column(_SHORT[source]) for source in there),
        ),
        rows=tuple(
            (
                _ALL if bench is None else figures.shorten(bench, _NAME),
                figures.shorten(variant, _NAME),
                *(cell(parts.get(source)) for source in there),
            )
            for (bench, variant), parts in groups.items()
        ),
    )


def _cell(one: Component | None) -> Cell:
    if one is None:
        return "-"
    sd = f"{figures.significant(100 * one.sd, 2)} %"
    return Value(sd if one.share is None else f"{sd} ({_percent(one.share)})", one.sd)


def _sd(one: Component | None) -> Cell:
    return "-" if one is None else Value(f"{figures.significant(100 * one.sd, 2)} %", one.sd)


def _share(one: Component | None) -> Cell:
    if one is None or one.share is None:
        return "-"
    return Value(_percent(one.share), one.share)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.005 or share == 0 else "< 1 %"
