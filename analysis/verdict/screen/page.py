"""A verdict in words: the answer as a sentence, the evidence as a table, what to note, what to do next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...methods.multilevel.page import level_text
from ...pages import as_text, number_format as figures
from ...pages.model import (
    Block,
    Caution,
    Note,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    columns_of,
    page_of,
    value_of,
)
from ...words import shorten, shown
from ..cautions import shown_cautions
from ..layouts import layouts_sentences
from ..quantile_words import OF_RUNS, quantile_sentences
from ..result import Verdict
from .explained import explained_sections
from .heading import heading
from .hosts import hosts_tables, on_hosts_sentences, standing_sentences
from .next_command import next_of
from .one_candidate import ROWS, single
from .sentence import sentence_of, with_whole_interval
from .several_candidates import several

if TYPE_CHECKING:
    from ..cautions import ShownCautions

LINES, LINES_OF_SEVERAL = 24, 30  # of a first screen, by how many candidates it has
_FEWEST = 3  # rows that a screen shows, however much else there is to say
_NAME = 28


@page_of.register(Verdict)
def _verdict_page(verdict: Verdict) -> Page:
    if verdict.explained or verdict.whole:
        return _whole(verdict)
    noted = shown_cautions(verdict, without=(OF_RUNS,))  # said below the table
    most = ROWS
    lines = LINES_OF_SEVERAL if len(verdict.candidates) > 1 else LINES
    page = _first_screen(verdict, noted, most)
    while most > _FEWEST and (over := _height(page) - lines) > 0:
        most = max(_FEWEST, most - over)
        page = _first_screen(verdict, noted, most)
    return page


def _height(page: Page) -> int:
    return len(as_text.render(page).splitlines())


def _title(verdict: Verdict) -> str:
    return f"Verdict on {verdict.trial or verdict.candidates[0].variant}"


def _first_screen(verdict: Verdict, noted: ShownCautions, most: int) -> Page:
    """Fill a page that fits a terminal: up to so many rows, and the cautions that change what they mean."""
    evidence, marked = _numbered(verdict, noted.cautions, most)
    notes: list[Block] = [Note(f"{mark}{one.text}") for mark, one in marked]
    notes += [Note(noted.more)] if noted.more else []
    command = next_of(verdict)
    notes += [command] if command is not None else []
    return Page(
        title=_title(verdict),
        sections=(_answer(verdict), Section((heading(verdict),)), evidence, *_told_below(verdict)),
        following=(Section(tuple(notes)),),
    )


def _whole(verdict: Verdict) -> Page:
    """Fill a page with everything: all cautions, and what was asked to be explained."""
    # that there is one variant only is the answer already
    cautions = tuple(c for c in verdict.cautions if c.code != "one-variant")
    marks: dict[str, str] = {}
    for number, caution in enumerate(cautions, 1):
        for name in caution.about:
            marks[name] = f"{marks.get(name, '')}[{number}]"
    command = next_of(verdict)
    return Page(
        title=_title(verdict),
        sections=(
            _answer(verdict),
            Section((heading(verdict),)),
            Section(_evidence(verdict, marks, ROWS)),
            *_told_below(verdict),
            *(explained_sections(verdict) if verdict.explained else ()),
        ),
        cautions=cautions,
        following=() if command is None else (Section((command,)),),
    )


def _answer(verdict: Verdict) -> Section:
    """Say the answer; of a fleet also what holds beyond its hosts, and how these stand."""
    return Section(
        (
            Sentence(with_whole_interval(sentence_of(verdict))),
            *on_hosts_sentences(verdict),
            *standing_sentences(verdict.hosts, whole=verdict.whole),
        )
    )


def _told_below(verdict: Verdict) -> tuple[Section, ...]:
    """Say below the table for what its numbers speak, where that is not plain."""
    names = (verdict.baseline, *(one.variant for one in verdict.candidates))
    told = layouts_sentences(verdict.layouts, names)
    told += quantile_sentences(verdict.metric, verdict.quantile)
    return (Section(tuple(map(Sentence, told))),) if told else ()


def _evidence(verdict: Verdict, marks: dict[str, str], most: int) -> tuple[Block, ...]:
    if not verdict.candidates:
        return (_alone_table(verdict),)
    if any(one.hosts is not None for one in verdict.candidates):
        return tuple(hosts_tables(verdict, marks, most=most))
    if len(verdict.candidates) == 1:
        return single(verdict, verdict.candidates[0], marks, most=most)
    return several(verdict, marks, most=most)


def _numbered(
    verdict: Verdict, cautions: Sequence[Caution], most: int
) -> tuple[Section, list[tuple[str, Caution]]]:
    """Set the evidence, and number the cautions that are about a row of it."""
    about = {name: "" for caution in cautions for name in caution.about}
    plain = _evidence(verdict, about, most)
    rows = {str(row[0]) for block in plain if isinstance(block, Table) for row in block.rows}
    marks = dict(about)
    marked = []
    number = 0
    for caution in cautions:
        mark = ""
        if those := [name for name in caution.about if shorten(shown(name), _NAME) in rows]:
            number += 1
            mark = f"[{number}] "
            for name in those:
                marks[name] = f"{marks[name]}[{number}]"
        marked.append((mark, caution))
    return Section(_evidence(verdict, marks, most)), marked


def _alone_table(verdict: Verdict) -> Table:
    unit = verdict.unit
    planned = verdict.looks_rule == "repeated"
    level = level_text(verdict.look_alpha) if planned else f"{100 * verdict.confidence:g} %"

    def between(low: float, high: float) -> str:
        return f"{figures.quantity(low, unit)} to {figures.quantity(high, unit)}"

    return Table(
        name="alone",
        columns=columns_of("<", "mean", level, "<by", "range", "runs"),
        rows=tuple(
            (
                shorten(shown(one.benchmark), _NAME),
                Value(figures.quantity(one.mean, unit), one.mean),
                _half_width(one.low, one.high),
                f"{one.sessions} {verdict.outermost}s"
                if one.unit == "session"
                else f"{one.unit}s of one {verdict.outermost}",
                between(one.minimum, one.maximum),
                value_of(one.runs),
            )
            for one in verdict.alone
        ),
    )


def _half_width(low: float | None, high: float | None) -> str:
    """Write an interval as a share: its ends often agree in the digits of the mean."""
    if low is None or high is None:
        return "-"
    return f"± {figures.significant(100 * (math.sqrt(high / low) - 1), 2)} %"
