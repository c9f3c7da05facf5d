"""Modes and what separates them in words."""

from __future__ import annotations

from ....report import Block, Column, Section, Sentence, Table, Value, figures
from ..result import Mode, Sources

__all__ = ["sections"]

_NAME = 24
_CLASSES = 4  # modes whose means are written out


def sections(found: Sources) -> tuple[Section, ...]:
    """Give a sentence for each benchmark and variant whose modes are separated, and all in a table."""
    if not found.modes:
        return ()
    told: list[Block] = [
        Sentence(f"{_cell(one, found)}: {one.sentence}") for one in found.modes if one.sentence
    ]
    return (Section((*told, Section((_table(found),))), title="modes"),)


def _cell(mode: Mode, found: Sources) -> str:
    name = f"{figures.shorten(mode.benchmark, _NAME)} / {figures.shorten(mode.variant, _NAME)}"
    return name if len(found.of) == 1 else f"{name} in {mode.trial}"


def _table(found: Sources) -> Table:
    several = len(found.of) > 1
    columns = (
        *((Column("trial", "left"),) if several else ()),
        Column("benchmark", "left"),
        Column("variant", "left"),
        Column("modes", "left"),
        Column("separated by", "left"),
        Column("told rightly"),
        Column("by chance"),
        Column("p, adjusted"),
    )
    return Table(
        name="modes",
        columns=columns,
        rows=tuple(
            (
                *((mode.trial,) if several else ()),
                figures.shorten(mode.benchmark, _NAME),
                figures.shorten(mode.variant, _NAME),
                _classes(mode, found.unit),
                _factor(mode),
                _share(mode.accuracy),
                _share(mode.chance),
                Value("-", None)
                if mode.pvalue is None
                else Value(figures.significant(mode.pvalue), mode.pvalue),
            )
            for mode in found.modes
        ),
        notes=tuple(_note(mode) for mode in found.modes),
    )


def _classes(mode: Mode, unit: str) -> str:
    told = [f"{figures.quantity(one.mean, unit)} ({100 * one.share:.0f} %)" for one in mode.classes]
    return figures.listed(told, _CLASSES)


def _factor(mode: Mode) -> str:
    if mode.factor is None:
        return "nothing recorded"
    return f"{mode.factor}, which may follow" if mode.may_follow else mode.factor


def _note(mode: Mode) -> str:
    said = []
    if mode.classes_by == "order":
        said.append("told apart by the order: the level changes within sessions")
    if mode.aside:
        said.append(f"{mode.aside} run{'s' * (mode.aside != 1)} lie far from these and are of none")
    if mode.others:
        said.append(f"as separating, by the same rules: {figures.listed(mode.others)}")
    return "; ".join(said)


def _share(share: float | None) -> Value:
    return Value("-", None) if share is None else Value(f"{100 * share:.0f} %", share)
