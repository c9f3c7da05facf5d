"""A verdict in words: the answer as a sentence, the evidence as a table, what to note, what to do next."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..methods.multilevel.page import level_text, mean_cell
from ..methods.multilevel.result import BenchmarkLine, Line, Multilevel
from ..pages import as_text, number_format as figures
from ..pages.model import (
    Block,
    Caution,
    Cell,
    Column,
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
from ..pages.number_format import outcome_word
from ..words import apart, shorten, shortened, shown
from .cautions import shown_cautions
from .hosts import hosts_tables, on_hosts_sentences, standing_sentences
from .next_command import next_of
from .one_candidate import (
    ROWS,
    change,
    change_heading,
    change_interval,
    chosen,
    corrected,
    single,
    word,
)
from .panel import explained_sections
from .result import Verdict, layouts_sentences
from .sentence import (
    OF_RUNS,
    heading,
    leading,
    quantile_sentences,
    sentence_of,
    with_whole_interval,
)

if TYPE_CHECKING:
    from .cautions import ShownCautions
    from .result import CandidateVerdict

# --- Several candidates on one screen: up to three side by side with their times, more as a list.


SIDE_BY_SIDE = 3  # candidates with a column each
_SHORT_NAME = 14
_LONG_NAME = 20  # of a variant that has a row
_MARKS = {"equivalent": "= ", "undecided": "? "}
_Known = Sequence[tuple["CandidateVerdict", Multilevel]]


def several(
    verdict: Verdict, marks: Mapping[str, str], *, most: int = ROWS
) -> tuple[Table | Sentence, ...]:
    """Set all candidates: side by side, benchmark by benchmark, or a row each for the suite."""
    known = [(one, one.multilevel) for one in verdict.candidates if one.multilevel is not None]
    if not known:
        return ()
    if len(known) > SIDE_BY_SIDE:
        return (_listed(verdict, known), *_corrected(known))
    names, hidden = _names(verdict, known, marks, most)
    blocks: list[Table | Sentence] = [_side_by_side(verdict, known, names, marks)]
    if any(line.outcome in _MARKS for _, result in known for line in result.benchmarks):
        blocks.append(Sentence(f"= the same within {100 * verdict.margin:g} %, ? undecided"))
    if hidden:
        blocks.append(Sentence(f"and {hidden} more (--all)"))
    return (*blocks, *_corrected(known))


def _corrected(known: _Known) -> Iterator[Sentence]:
    """Say why a word may be "undecided" beside an interval that decides: there is no column for it."""
    counts = {one.variant: sum(map(corrected, result.benchmarks)) for one, result in known}
    called = shortened([*counts], _SHORT_NAME)
    told = [f"{called[name]} {n}" for name, n in counts.items() if n]
    if told:
        most = max(len(result.benchmarks) for _, result in known)
        yield Sentence(
            f"undecided only because {most} benchmarks share the risk: {figures.listed(told, 4)} "
            "(--variant V says which)"
        )


def _names(
    verdict: Verdict, known: _Known, marks: Mapping[str, str], most: int
) -> tuple[tuple[str, ...], int]:
    """Choose the rows by the candidates' mean."""
    names = tuple(dict.fromkeys(line.name for _, result in known for line in result.benchmarks))
    logs: dict[str, list[float]] = {name: [] for name in names}
    for _, result in known:
        for line in result.benchmarks:
            if line.speedup is not None:
                logs[line.name].append(float(np.log(line.speedup)))
    means = {name: float(np.mean(found)) if found else None for name, found in logs.items()}
    return chosen(names, means, marks.keys(), whole=verdict.whole, most=most)


# ---- side by side


def _side_by_side(
    verdict: Verdict, known: _Known, names: Sequence[str], marks: Mapping[str, str]
) -> Table:
    """Set a row for each benchmark: the baseline's time, and of each candidate its time and the difference."""
    rows: list[tuple[Cell, ...]] = []
    called = shortened(names, _SHORT_NAME)
    for name in names:
        lines = [_line(result, name) for _, result in known]
        first = next((line for line in lines if line is not None), None)
        base = Value("-", None) if first is None else mean_cell(first, 1, verdict.unit)
        cells: list[Cell] = [called[name], base]
        for line in lines:
            if line is None:
                cells += ["-", ""]
            else:
                cells += [mean_cell(line, 0, verdict.unit), _marked(line, verdict)]
        rows.append((*cells, marks.get(name, "")))
    most = max(len(result.benchmarks) for _, result in known)
    for label, suite in (
        (f"these {most}", [result.these for _, result in known]),
        ("others", [result.similar for _, result in known]),
    ):
        if any(line is not None for line in suite):
            told = [_suite_cells(line, verdict) for line in suite]
            rows.append((label, "", *(cell for pair in told for cell in pair), ""))
    theirs, *each = apart([verdict.baseline, *(one.variant for one, _ in known)], _SHORT_NAME)
    columns = [Column("", "left"), Column(theirs)]
    for ours in each:
        columns += [Column(ours), Column("")]
    return Table(name="candidates-1", columns=(*columns, Column("", "left")), rows=tuple(rows))


def _line(result: Multilevel, name: str) -> BenchmarkLine | None:
    return next((line for line in result.benchmarks if line.name == name), None)


def _marked(line: Line, verdict: Verdict) -> Value:
    """Give a difference with the mark of its word: "=" is the same, "?" undecided."""
    cell = change(line, verdict)
    return Value(f"{_MARKS.get(line.outcome, '')}{cell.text}", cell.value)


def _suite_cells(line: Line | None, verdict: Verdict) -> tuple[Cell, Cell]:
    if line is None:
        return "-", ""
    return change(line, verdict), word(line, verdict.unit)


# ---- a row each


def _listed(verdict: Verdict, known: _Known) -> Table:
    """Set a row for each candidate: the suite's difference, and how many benchmarks say what."""
    suite = any(result.these is not None for _, result in known)
    words = [*dict.fromkeys(line.outcome for _, result in known for line in result.benchmarks)]
    words = [each for each in ("faster", "slower", "equivalent", "undecided") if each in words]
    timed = figures.timed(verdict.unit)
    rows = []
    called = shortened([one.variant for one, _ in known], _LONG_NAME)
    for one, result in known:
        line = leading(result)
        cells: list[Cell] = [called[one.variant]]
        if not suite:
            mean = line.mean_candidate if isinstance(line, BenchmarkLine) else None
            cells.append(value_of(mean, partial(figures.quantity, unit=verdict.unit)))
        if line is None:
            cells += ["-", "-", "undecided"]
        else:
            cells += [
                change(line, verdict),
                change_interval(line, verdict),
                word(line, verdict.unit),
            ]
        if suite:
            counts = Counter(each.outcome for each in result.benchmarks)
            cells += [Value(f"{counts[each]}", counts[each]) for each in words]
        rows.append(tuple(cells))
    columns = [
        *([] if suite else ["mean"]),
        change_heading(verdict),
        level_text(verdict.look_alpha),
        "<",
        *(
            []
            if not suite
            else [_OF[each] if each in _OF else outcome_word(each, timed=timed) for each in words]
        ),
    ]
    return Table(name="candidates-1", columns=columns_of("<", *columns), rows=tuple(rows))


_OF = {"equivalent": "same", "undecided": "open"}


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
    each = [
        line.name
        for one in verdict.candidates
        if one.multilevel
        for line in one.multilevel.benchmarks
    ]
    called = shortened(each, _NAME)
    plain = _evidence(verdict, about, most)
    rows = {str(row[0]) for block in plain if isinstance(block, Table) for row in block.rows}
    marks = dict(about)
    marked = []
    number = 0
    for caution in cautions:
        mark = ""
        if those := [
            name for name in caution.about if called.get(name, shorten(shown(name), _NAME)) in rows
        ]:
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
