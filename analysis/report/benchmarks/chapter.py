"""The benchmarks: the one that matters most unfolded, all others as a line that unfolds to the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ...pages.model import Cell, Column, Section, Sentence, Table, Value
from ...words import shorten, shortened, shown
from ..page import Chapter
from ..runs import Grounds, Modes, cells_of, modes_of
from . import against, pictures
from .benchmarks import Benchmark, Known

if TYPE_CHECKING:
    from ..subject import Subject

__all__ = ["chapter", "focus_of", "listed_benchmarks", "opened"]

_VALUES = 2000  # runs of which mixtures are tried, in all: the test of one takes a while
_MOST = 3  # benchmarks that are told in full
_NAME = 24
_MANY = 60  # folded benchmarks that are grouped by word
_WORDS = ("faster", "better", "slower", "worse", "equivalent", "undecided")
_NUMBERS = ("runs", "sessions", "mean", "median", "least", "most", "spread", "far", "failed")


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None where there is no run."""
    every = ((name, cells_of(subject, name)) for name in listed_benchmarks(subject))
    cells = {name: found for name, found in every if found}
    names = tuple(cells)
    if not names:
        return None
    known, full = Known(subject), opened(subject, names)
    left = _VALUES
    found = []
    for name in names:
        mine = {v: cells[name][v] for v in known.variants if v in cells[name]}
        modes: dict[str, Modes] = {}
        for variant, cell in mine.items() if name in full else ():
            left -= cell.values.size
            of = modes_of(cell, known.seed, f"{name}/{variant}") if left >= 0 else None
            modes |= {variant: of} if of else {}
        found.append(Benchmark(known, name, mine, modes, opened=name in full))
    metric, anchor = subject.verdict.metric, subject.anchor("parts")
    title = f"Benchmarks: {metric}" if subject.prefix else "Benchmarks"
    focus = focus_of(subject, names)
    return Chapter(
        name="parts",
        folder="benchmarks",
        anchor=anchor,
        title=title,
        values={"metric": metric, "benchmarks": [one.values for one in found]},
        sections=lambda: (Section(tuple(_blocks(found, anchor)), title=title),),
        drawn=lambda: _drawn(found, focus, anchor),
    )


# ---- which benchmarks there are, and which matter most


def listed_benchmarks(subject: Subject) -> tuple[str, ...]:
    """Name the benchmarks of the page in its order; those that nobody asked for are left out."""
    asked = subject.options.get("benchmarks")
    names = dict.fromkeys(subject.order)
    for matrix in subject.matrices.values():
        if matrix.with_zeros is not None:
            names |= dict.fromkeys(matrix.with_zeros.benchmarks)
    return tuple(name for name in names if asked is None or name in asked)


def opened(subject: Subject, benchmarks: Sequence[str]) -> frozenset[str]:
    """Name those that are told in full: that cautions name, the gravest first, at most three.

    All of few benchmarks; where no caution names any, the one that matters most.
    """
    if len(benchmarks) <= _MOST:
        return frozenset(benchmarks)
    return frozenset(_cautioned(subject, benchmarks)[:_MOST] or [focus_of(subject, benchmarks)])


def focus_of(subject: Subject, benchmarks: Sequence[str]) -> str:
    """Name the one that stands open on the page: a reader should see it first.

    That is the first that a caution names; else the one whose speedup is farthest from 1, of those
    that are faster or slower, whichever the candidate; else the first of the page.
    """
    if cautioned := _cautioned(subject, benchmarks):
        return cautioned[0]
    effects = dict.fromkeys(benchmarks, 0.0)
    for one in subject.candidates:
        for line in () if one.multilevel is None else one.multilevel.benchmarks:
            if line.outcome in ("faster", "slower") and line.speedup and line.name in effects:
                effects[line.name] = max(effects[line.name], abs(math.log(line.speedup)))
    return max(effects, key=effects.__getitem__)


def _cautioned(subject: Subject, benchmarks: Sequence[str]) -> list[str]:
    """Name those that cautions are about, the gravest first."""
    there = set(benchmarks)
    about = (name for caution in subject.verdict.cautions for name in caution.about)
    return list(dict.fromkeys(name for name in about if name in there))


# ---- in words and tables, for all forms but HTML


def _blocks(benchmarks: Sequence[Benchmark], anchor: str) -> Iterator[Table | Sentence]:
    """Give a line for each benchmark and variant: it can be searched. More of those told in full."""
    prefix = anchor.removesuffix("parts")
    full = [
        (shown(one.name), told)
        for one in benchmarks
        if one.opened
        for told in one.candidates.values()
    ]
    yield _table(
        f"{prefix}parts-runs",
        ("benchmark", "variant"),
        _NUMBERS,
        [
            (shown(one.name), shown(told["variant"]), *_cells(told))
            for one in benchmarks
            for told in one.variants.values()
        ],
    )
    for one in benchmarks:
        if one.opened and one.remarks:
            yield Sentence(f"{shown(one.name)}: {' '.join(each.text for each in one.remarks)}")
        elif one.finding is not None:
            yield Sentence(f"{shown(one.name)}: {one.finding.text}.")
    by_session = [
        (name, shown(told["variant"]), told["unit"], shown(at["session"]), at["speedup"])
        for name, told in full
        for at in told["by_session"]
    ]
    if by_session:
        names = ("benchmark", "candidate", "unit", "which")
        yield _table(f"{prefix}parts-sessions", names, ("speedup",), by_session)
    quantiles = [
        (
            name,
            shown(told["variant"]),
            Value(f"{100 * at['share']:g}\u00a0%", at["share"]),
            *(at[number] for number in ("speedup", "low", "high")),
        )
        for name, told in full
        for at in told["shift"]
    ]
    if quantiles:
        numbers = ("share of runs", "speedup", "low", "high")
        yield _table(f"{prefix}parts-quantiles", ("benchmark", "candidate"), numbers, quantiles)


def _table(
    name: str, words: Sequence[str], numbers: Sequence[str], rows: Sequence[tuple[Cell, ...]]
) -> Table:
    columns = (*(Column(word, "left") for word in words), *map(Column, numbers))
    return Table(name=name, columns=columns, rows=tuple(rows))


def _cells(told: Mapping[str, Any]) -> Iterator[Value]:
    for key in ("runs", "sessions", "mean", "median", "minimum", "maximum", "spread", "far"):
        yield told[key] if isinstance(told[key], Value) else Value(str(told[key]), told[key])
    yield Value(str(told["failed"]), told["failed"])


# ---- on the page


def _drawn(benchmarks: Sequence[Benchmark], focus: str, anchor: str) -> dict[str, Any]:
    """Give what the template takes: pictures are drawn one after the other, as it meets them."""
    others = [one for one in benchmarks if one.name != focus]
    cells = [cell for one in others for cell in one.cells.values()]
    return {
        "focus": next(one for one in benchmarks if one.name == focus),
        "groups": _groups(others),
        "each": max(map(pictures.strip_each, cells), default=1),
        "count": len(others),
        "grounds": Grounds(anchor),
        "cut": _cutting(benchmarks),
        "against": against,
        "pictures": pictures,
    }


def _cutting(benchmarks: Sequence[Benchmark]) -> Callable[..., Markup]:
    """Give what sets names that are not ours: safely, apart from the text around, whole in their title."""
    variants = tuple(dict.fromkeys(name for one in benchmarks for name in one.variants))
    kinds = tuple(one.name for one in benchmarks), variants

    @cache
    def short(width: int) -> dict[str, str]:
        return {name: brief for of in kinds for name, brief in shortened(of, width).items()}

    def cut(text: str, width: int = _NAME) -> Markup:
        whole = shown(text)
        brief = short(width).get(text) or shorten(whole, width)
        title = Markup(' title="{}"').format(whole) if brief != whole else ""
        return Markup("<bdi{}>{}</bdi>").format(title, brief)

    return cut


def _groups(folded: Sequence[Benchmark]) -> list[tuple[str, list[Benchmark]]]:
    """Divide many folded ones by the first candidate's word; few stand as they are, under ""."""
    if len(folded) <= _MANY:
        return [("", list(folded))] if folded else []

    def place(one: Benchmark) -> int:
        word = one.values["word"]
        return _WORDS.index(word) if word in _WORDS else len(_WORDS)

    groups = groupby(sorted(folded, key=place), key=lambda one: one.values["word"])
    return [(word or "not compared", list(some)) for word, some in groups]
