"""The page of a comparison: the sentence, a row for each command, what to note, what comes next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...pages import as_text
from ...pages.model import Column, Next, Note, Page, Section, Sentence, Table, page_of
from ...pages.number_format import quantity
from .answer import CompareAnswer, ComparedCommand
from .following import MOST_NOTES, next_step, notes_of
from .names import MARK, short_names
from .sentences import answer_lines
from .table_numbers import row_unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...pages.number_format import Word

WIDTH = 80
_GAP = 2
_LEAST_NAME = 8
_LEAST_WIDTH = 24
_LARGE = 0.0095  # a spread that needs no decimal
# what goes first where a row is too wide
_DISPENSABLE = ("system", "user", "spread", f"min {MARK} max")
_BETTER, _WORSE = "34", "33"  # blue, orange: told apart by whoever does not see red and green
_COLOURS: dict[Word, str] = {"faster": _BETTER, "slower": _WORSE}


def page_at(answer: CompareAnswer, width: int = WIDTH, notes: Sequence[str] = ()) -> Page:
    """Give the page for a screen of so many columns; `notes` are further ones, such as cautions."""
    width = max(width, _LEAST_WIDTH)
    sections = [
        Section(tuple(Sentence(line) for line in answer_lines(answer, width))),
        Section((_table(answer, width),)),
    ]
    said = [*notes_of(answer), *notes][:MOST_NOTES]
    step = next_step(answer)
    below: tuple[Note | Next, ...] = tuple(Note(text) for text in said)
    below += () if step is None else (step,)
    if below:
        sections.append(Section(below))
    return Page(title="compare", sections=tuple(sections))


def screen_of(
    answer: CompareAnswer,
    width: int = WIDTH,
    notes: Sequence[str] = (),
    *,
    short: bool = False,
    coloured: bool = False,
) -> str:
    """Set the answer as text, `short` its sentence alone; `coloured` repeats words in colour."""
    if short:
        return "\n".join(answer_lines(answer, max(width, _LEAST_WIDTH)))
    text = as_text.render(page_at(answer, width, notes), width=max(width, _LEAST_WIDTH))
    return "\n".join(_painted(text.split("\n"), answer)) if coloured else text


@page_of.register(CompareAnswer)
def _(answer: CompareAnswer) -> Page:
    return page_at(answer)


def _table(answer: CompareAnswer, width: int) -> Table:
    """Give the rows with what fits into the width."""
    several = len(answer.others) > 1
    columns = _columns(answer)
    last = [] if not answer.others else _last(answer, several=several, narrow=False)
    if last:
        wide = _width(columns) + _GAP + max(map(len, last)) + _GAP + _LEAST_NAME
        if wide > width:
            last = _last(answer, several=several, narrow=True)
    rest = _GAP + max(map(len, last)) if last else 0
    for heading in _DISPENSABLE:
        if _width(columns) + rest + _GAP + _LEAST_NAME > width:
            columns.pop(heading, None)
    room = width - _width(columns) - rest
    names = short_names([one.name for one in answer.commands], room)
    taken = _width(columns) + max(map(len, names)) + _GAP
    headings = (f"against {names[answer.baseline]}", "against 1st") if several else ()
    heading = next((one for one in headings if taken + len(one) <= width), "")
    rows = []
    for k, name in enumerate(names):
        row = [name, *(cells[k] for cells in columns.values())]
        rows.append(tuple([*row, last[k]] if last else row))
    heads = [Column("", "left"), *(Column(one) for one in columns)]
    if last:
        heads.append(Column(heading, "left"))
    return Table(name="times", columns=tuple(heads), rows=tuple(rows))


def _columns(answer: CompareAnswer) -> dict[str, list[str]]:
    """Give the columns of numbers: heading -> a cell for each command."""
    found: dict[str, list[str]] = {
        name: [] for name in ("mean", "spread", "user", "system", f"min {MARK} max")
    }
    for one in answer.commands:
        times = one.times
        unit = row_unit(times.mean, answer.units)
        cells = (
            f"{'≥ ' * bool(times.cut)}{unit.time(times.mean)}",
            _spread(times.spread),
            unit.time(times.user),
            unit.time(times.system),
            unit.range(times.minimum, times.maximum),
        )
        for column, cell in zip(found.values(), cells, strict=True):
            column.append(cell)
    for metric in dict.fromkeys(metric for one in answer.commands for metric in one.means):
        found[metric] = [_mean(one, metric) for one in answer.commands]
    return found


def _spread(share: float | None) -> str:
    if share is None:
        return "-"
    return f"{100 * share:.0f} %" if share >= _LARGE or not share else f"{100 * share:.1f} %"


_METRIC_UNITS = {"max_rss": "B", "peak_memory_tree": "B"}
_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def _mean(one: ComparedCommand, metric: str) -> str:
    value = one.means.get(metric)
    if value is None:
        return "-"
    if metric in _METRIC_UNITS:
        return quantity(value, _METRIC_UNITS[metric])
    for factor, sign in _SCALES:
        if value >= 0.9995 * factor:
            return f"{value / factor:.3g} {sign}"
    return f"{value:.3g}"


def _width(columns: dict[str, list[str]]) -> int:
    return sum(_GAP + max(len(head), *map(len, cells)) for head, cells in columns.items())


def _last(answer: CompareAnswer, *, several: bool, narrow: bool) -> list[str]:
    """Give the last column: what each command takes more or less than the baseline."""
    return [
        ("-" if several else "")
        if one is answer.base
        else _word(one, answer, several=several, narrow=narrow)
        for one in answer.commands
    ]


def _word(one: ComparedCommand, answer: CompareAnswer, *, several: bool, narrow: bool) -> str:
    told = one.difference
    if not one.answered and one.failing is not None:
        return f"{one.failing.failed} of {one.failing.runs} failed"
    if told is None or not one.answered:
        return "no answer"
    if one.word == "undecided":
        if not several or told.low is None:
            return "undecided"
        return (
            f"? {told.cell_interval()}" if narrow or told.too_few else f"? {_ends(told.interval())}"
        )
    if one.word == "equivalent":
        return "same" if narrow else f"same within {100 * answer.verdict.margin:g} %"
    if narrow:
        return f"{told.cell()} {one.word}"
    return re.sub(r"^(is|takes) ", "", told.phrase()).removesuffix(" as")


def _ends(interval: str) -> str:
    """Shorten ``12 % less to 14 % more`` by its second sign: ``12 % less to 14 more``."""
    head, sep, tail = interval.rpartition(" to ")
    return f"{head}{sep}{tail.replace(' %', '')}" if "%" in head else interval


def _painted(lines: list[str], answer: CompareAnswer) -> Iterator[str]:
    """Colour the last cell of each row that is decided: what it says is said in words too."""
    table = next(
        block
        for section in page_at(answer).sections
        for block in section.blocks
        if isinstance(block, Table)
    )
    start = next(k for k, line in enumerate(lines) if line == "") + 2  # a blank line, then headings
    for k, line in enumerate(lines):
        number = k - start
        if not 0 <= number < len(table.rows) or not answer.others:
            yield line
            continue
        colour = _COLOURS.get(answer.commands[number].word or "undecided")
        head, gap, word = line.rpartition("  ")
        yield line if colour is None else f"{head}{gap}\x1b[{colour}m{word}\x1b[0m"
