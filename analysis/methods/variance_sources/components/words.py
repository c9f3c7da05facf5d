"""Components of variance in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
_READ = (
    "each: the standard deviation as a share of the value, in brackets its share of the variance"
)
_SHORT: Mapping[Source, str] = {**_SOURCES, "benchmark:session": "own sessions"}


def sections(found: Sources) -> tuple[Section, ...]:
    """Say how much lies between what; nothing where nothing was divided."""
    if not found.components:
        return ()
    groups = _grouped(found.components)
    shown = dict(list(groups.items())[:_ROWS])
    blocks: list[Sentence | Table] = [*map(Sentence, _said(groups)), Sentence(_READ), _table(shown)]
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


def _table(groups: Mapping[tuple[str | None, str], Mapping[Source, Component]]) -> Table:
    there = [name for name in _SOURCES if any(name in parts for parts in groups.values())]
    return Table(
        name="components",
        columns=(
            Column("benchmark", "left"),
            Column("variant", "left"),
            *(Column(_SHORT[name]) for name in there),
        ),
        rows=tuple(
            (
                "all together" if bench is None else figures.shorten(bench, _NAME),
                figures.shorten(variant, _NAME),
                *(_cell(parts.get(name)) for name in there),
            )
            for (bench, variant), parts in groups.items()
        ),
    )


def _cell(one: Component | None) -> Cell:
    if one is None:
        return "-"
    sd = f"{figures.significant(100 * one.sd, 2)} %"
    return Value(sd if one.share is None else f"{sd} ({_percent(one.share)})", one.sd)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.005 or share == 0 else "< 1 %"
