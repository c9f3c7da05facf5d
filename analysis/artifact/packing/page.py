"""A bundle in words: what it holds, whether its claims hold, and what is not in it."""

from __future__ import annotations

import shlex

from ...report import (
    Block,
    Cell,
    Column,
    Command,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    figures,
    page_of,
)
from ..claims import said_of
from ..contents import RedactionRecord
from .result import Bundled

__all__: list[str] = []

_MOST_LEFT = 12
_MOST_MISSING = 30  # lines of a screen


@page_of.register
def _(bundled: Bundled) -> Page:
    contents = bundled.contents
    trials = sum(one.kind == "trial" for one in contents.sources)
    fleets = sum(one.kind == "fleet" for one in contents.sources)
    files = len(contents.sources) - trials - fleets
    what = [_counted(fleets, "fleet")] * (fleets > 0)
    what += [_counted(trials, "trial")] * (trials > 0) + [_counted(files, "file")] * (files > 0)
    first = (
        f"{bundled.output} holds {' and '.join(what)} in {len(contents.files) + 2} files, "
        f"{figures.quantity(float(bundled.bytes), 'B')}, with {_counted(len(contents.analyses), 'result')}"
    )
    sections = [Section((Sentence(first), Sentence(f"SHA-256 {bundled.sha256}")))]
    if bundled.claims:
        sections.append(_claims(bundled))
    if contents.redacted is not None:
        sections.append(_redacted(contents.redacted))
    if contents.missing:
        sections.append(_missing(bundled))
    return Page(
        title="Bundle",
        sections=tuple(sections),
        cautions=bundled.cautions,
        following=(
            Section(
                (
                    Sentence("Whoever has it checks it, and computes every number again, with"),
                    Command(f"fairtrial reproduce {shlex.quote(bundled.output)}"),
                )
            ),
        ),
    )


def _claims(bundled: Bundled) -> Section:
    count = sum(one.holds for one in bundled.claims)
    total = len(bundled.claims)
    said = "all claims hold" if count == total else f"{total - count} of {total} claims do not hold"
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            Value(str(k), k),
            "holds" if one.holds else "FAILS",
            figures.shorten(one.claim.text, 44),
            said_of(one.claim),
            _value(one.found),
        )
        for k, one in enumerate(bundled.claims, 1)
    )
    columns = (
        Column("claim"),
        Column("", "left"),
        Column("sentence", "left"),
        Column("must be", "left"),
        Column("found"),
    )
    return Section((Sentence(said), Table(name="claims", columns=columns, rows=rows)), "Claims")


def _value(found: object) -> Cell:
    if isinstance(found, int) and not isinstance(found, bool):
        return Value(figures.shorten(str(found), 24), found)  # a count has no decimals
    if isinstance(found, float):
        return Value(figures.significant(found, 4), found)
    return figures.shorten(str(found), 24)


def _missing(bundled: Bundled) -> Section:
    missing = bundled.contents.missing
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (figures.shorten(one.what, 40), one.why) for one in missing[:_MOST_MISSING]
    )
    more = len(missing) - len(rows)
    blocks: tuple[Block, ...] = (
        Sentence(f"{_counted(len(missing), 'thing')} that a reader might look for:"),
        Table(
            name="missing",
            columns=(Column("not in it", "left"), Column("why", "left")),
            rows=rows,
        ),
        *([Sentence(f"and {more} more (README.md and --json have all)")] if more else []),
    )
    return Section(blocks, "What is not in it")


def _redacted(record: RedactionRecord) -> Section:
    counts = ", ".join(f"{kind} {_counted(n, 'time')}" for kind, n in record.replaced.items())
    said = f"replaced: {counts}; {_counted(len(record.files), 'file')} altered"
    blocks: list[Block] = [Sentence(said)]
    if record.left:
        blocks.append(Sentence("left, because only a person can tell what may be altered there:"))
        blocks += [Sentence(text) for text in record.left[:_MOST_LEFT]]
        more = len(record.left) - _MOST_LEFT
        if more > 0:
            blocks.append(Sentence(f"and {more} more places (--json has all)"))
    return Section(tuple(blocks), "Names taken out")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
