"""The screen of `why`: the answer, the rows with their intervals, what other metrics say, notes, what comes next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..pages import number_format as figures
from ..pages.difference import Difference
from ..pages.model import (
    Block,
    Caution,
    Cell,
    Column,
    Next,
    Note,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    merged,
    page_of,
    text_of,
)
from ..words import WIDTH, shorten, shown
from .why_counters import INSTRUCTIONS, PER_CYCLE
from .why_result import Counter, Row, Why, WhyAnswer, next_of, sentence_of

_ROWS = 8  # functions that are shown, and all that are named
_COUNTERS = 6
_NOTES = 3
_WIDE = WIDTH - 2  # columns of a table that stands below a title
_LEAST_NAME, _VARIANT, _METRIC = 16, 10, 24
_DIGITS = 3  # decimals of a total of 1 to 9 ms; of ten times as much one less
_NOTHING = 5e-5  # of a ratio, below which a change is written as 0
_MEANS = "rows say where time is, not what was changed; a stall may count for its caller"


@page_of.register(Why)
def _why_page(told: Why) -> Page:
    return Page(
        title=f"Why: {told.variant} against {told.baseline} on {told.benchmark}",
        sections=(Section((Sentence(sentence_of(told)),)), *sections_of(told)),
        following=_following((told,)),
    )


@page_of.register(WhyAnswer)
def _answer_page(answer: WhyAnswer) -> Page:
    told = answer.answers
    if len(told) == 1:
        alone = _why_page(told[0])
        return Page(
            title=alone.title, sections=alone.sections, following=_following(told, answer.cautions)
        )
    first = Section(tuple(Sentence(sentence_of(one, WIDTH)) for one in told))
    each = [
        Section(
            _blocks(one),
            title=f"{shown(one.benchmark)}: {shown(one.variant)} against {shown(one.baseline)}",
        )
        for one in told
    ]
    return Page(title="Why", sections=(first, *each), following=_following(told, answer.cautions))


def sections_of(told: Why) -> tuple[Section, ...]:
    """Give the evidence: how it was measured, the rows, and the other metrics."""
    blocks = _blocks(told)
    return tuple(Section((one,)) if not isinstance(one, Section) else one for one in blocks)


def _blocks(told: Why) -> tuple[Block, ...]:
    found: list[Block] = [Section((Sentence(_how(told)), *map(Sentence, _verdict(told))))]
    below = () if told.withheld == "total-not-resolved" else (*_stars(told), _MEANS)
    found.append(Section((_table(told), *map(Sentence, below))))
    if told.counters:
        found.append(_counters(told))
    return tuple(found)


def _how(told: Why) -> str:
    samples = told.samples_baseline + told.samples_candidate
    return (
        f"{figures.counted(told.sessions, 'session')} of {told.timed_runs} timed and {told.profiled_runs} "
        f"profiled runs; {told.event} {told.frequency_hz} Hz, {samples} samples"
    )


def _verdict(told: Why) -> Iterator[str]:
    was = told.verdict_was
    if was is not None:
        found = Difference.of(was, metric=was.metric)
        ends = f" ({found.interval()})" if found.interval() else ""
        change = was.outcome if was.speedup is None else f"{found.phrase()}{ends}"
        yield f"the verdict was: {change}, by {shown(was.metric)}"


def _stars(told: Why) -> Iterator[str]:
    level = f"intervals are {100 * told.confidence:g} %, each row's own"
    if told.withheld is None and any(row.named for row in _family(told)):
        yield f"* named: p <= {1 - told.confidence:.2g} by Holm over {told.family} rows; {level}"
    else:
        yield f"no row is named; {level}"


def _family(told: Why) -> list[Row]:
    rest = [row for row in (told.others, told.kernel_not_seen) if row is not None]
    return [*told.rows, *rest]


@dataclass(frozen=True, slots=True)
class _Written:
    """How the milliseconds of one table are written: with so many decimals, differences with one less."""

    digits: int

    def time(self, value: float) -> Value:
        return Value(f"{value:.{self.digits}f}", value)

    def difference(self, value: float) -> Value:
        return Value(self._signed(value), value)

    def ends(self, row: Row) -> str:
        if row.low_ms is None or row.high_ms is None:
            return "-"
        return f"{self._signed(row.low_ms)} to {self._signed(row.high_ms)}"

    def _signed(self, value: float) -> str:
        text = f"{value:+.{max(self.digits - 1, 0)}f}"
        return text[1:] if float(text) == 0 else text


def _table(told: Why) -> Table:
    largest = max(told.total.baseline_ms, told.total.candidate_ms)
    written = _Written(min(max(_DIGITS - math.floor(math.log10(max(largest, 1e-6))), 0), 6))
    variants = [shorten(shown(name), _VARIANT) for name in (told.baseline, told.variant)]
    if variants[0] == variants[1]:
        variants = ["baseline", "candidate"]
    headings = (f"{variants[0]}, ms", variants[1], "more", "interval", "Holm p")
    rows = [_row(row, written) for row in _shown(told)]
    numbers = [
        max(len(heading), *(len(text_of(row[k])) for _, row in rows))
        for k, heading in enumerate(headings)
    ]
    room = max(_WIDE - sum(numbers) - 2 * len(numbers) - 2, _LEAST_NAME)
    return Table(
        name="functions",
        columns=(Column("  function", "left"), *map(Column, headings)),
        rows=tuple(
            (f"{'*' if row.named else ' '} {_name(row, room)}", *cells) for row, cells in rows
        ),
    )


def _row(row: Row, written: _Written) -> tuple[Row, tuple[Cell, ...]]:
    p = row.pvalue_adjusted
    return row, (
        written.time(row.baseline_ms),
        written.time(row.candidate_ms),
        written.difference(row.difference_ms),
        written.ends(row),
        Value("-" if p is None else _pvalue(p), p),
    )


def _pvalue(p: float) -> str:
    return "1" if p >= 0.995 else figures.significant(p, 2) if p >= 1e-4 else "< 0.0001"


def _name(row: Row, room: int) -> str:
    mark = "" if row.presence == "both" else f" {row.presence}"
    mark = mark if row.was is None else " renamed"
    function, file = shown(row.function), shown(row.object)
    inside = f" ({shorten(file, _LEAST_NAME // 2)})" if file else ""
    if room - len(inside) - len(mark) < _LEAST_NAME // 2:  # else nobody knows the function
        inside = ""
    return f"{shorten(function, room - len(inside) - len(mark))}{inside}{mark}"


def _shown(told: Why) -> Iterator[Row]:
    if told.withheld != "total-not-resolved":
        rows = list(told.rows)
        most = max(_ROWS, sum(row.named for row in rows))
        first = [row for row in rows if row.named]
        first += [row for row in rows if not row.named][: most - len(first)]
        rest = [row for row in rows if row not in first]
        yield from first
        others = told.others
        if others is not None and (others.named or not rest):
            yield _called(others, f"{told.further} others")
            others = None
        if rest:
            yield _together(rest, others, told.further if others is not None else 0)
        if told.kernel_not_seen is not None:
            yield told.kernel_not_seen
    yield _called(told.total, "all, on the CPU")
    yield _called(told.off_cpu, "off the CPU")
    for row, name in (
        (told.asleep, "of it, asleep or I/O"),
        (told.cpu_wait, "of it, ready to run"),
    ):
        if row is not None:
            yield _called(row, name)


def _called(row: Row, name: str) -> Row:
    return replace(row, function=name)


def _together(rows: Sequence[Row], others: Row | None, further: int) -> Row:
    """Give rows that are not shown, and the others, as one row without an interval."""
    parts = [*rows, *([] if others is None else [others])]
    before, after = (
        math.fsum(getattr(row, key) for row in parts) for key in ("baseline_ms", "candidate_ms")
    )
    return Row(
        function=f"{len(rows) + further} others, none named",
        baseline_ms=before,
        candidate_ms=after,
        difference_ms=after - before,
        low_ms=None,
        high_ms=None,
        pvalue=None,
    )


def _counters(told: Why) -> Section:
    plain = [one for one in told.counters if one.word != "undecided"]
    open_ = [one for one in told.counters if one.word == "undecided"]
    first = [*plain, *open_][:_COUNTERS]
    left = len(told.counters) - len(first)
    heading = "other metrics of these runs"
    if told.story is not None:
        heading += f": {told.story}"
    elif all(one.metric != INSTRUCTIONS for one in told.counters):
        heading += "; instructions are not counted"
    table = Table(
        name="counters",
        columns=(
            Column("  metric", "left"),
            Column("change"),
            Column("interval"),
            Column("", "left"),
        ),
        rows=tuple(_counter(one) for one in first),
    )
    more = (Sentence(f"  and {left} more: --json"),) if left else ()
    return Section((Sentence(heading), table, *more))


def _counter(one: Counter) -> tuple[Cell, ...]:
    found = Difference(one.ratio, one.low, one.high, one.metric, one.unit, one.better)
    word = {"equivalent": "the same, within 1 %", "undecided": "undecided"}.get(
        one.word, "more" if one.ratio > 1 else "less"
    )
    nothing = max(abs(end - 1) for end in (one.ratio, one.low, one.high)) < _NOTHING
    return (
        f"  {shorten(shown(one.metric), _METRIC)}",
        Value("0 %" if nothing else found.cell(), one.ratio),
        "0 to 0 %" if nothing else found.cell_interval(),
        word,
    )


def _following(told: Sequence[Why], more: Sequence[Caution] = ()) -> tuple[Section, ...]:
    """Give at most three notes and the next command of the first answer that has one."""
    several = len(told) > 1
    every = merged(
        more,
        *(tuple(_about(one, c) if several else c for c in one.cautions) for one in told),
    )
    texts = [one.text for one in every]
    if len(texts) > _NOTES:
        texts = [*texts[: _NOTES - 1], f"and {len(texts) - _NOTES + 1} more: --json has all"]
    blocks: list[Note | Next] = [Note(text) for text in texts]
    command = next((found for one in told if (found := next_of(one)) is not None), None)
    if command is not None:
        blocks.append(command)
    return (Section(tuple(blocks)),) if blocks else ()


def _about(told: Why, caution: Caution) -> Caution:
    return caution.of(told.benchmark)


# --- What the counters carry, in a few words: each is said only where its interval says it.
#
# Work: instructions differ where their word does, after Holm; they are the same where they
# are equivalent, within
# 1 %. Instructions per cycle likewise. Waiting: the time off the processors, without that
# in which the program was
# ready and had none, differs after Holm, and not by less than 1 % of the wall time. What is
# undecided is never said
# to be the same.


# (instructions, instructions per cycle) -> what is said; "slower" is more instructions, and fewer per cycle
_WORK: dict[tuple[str, str | None], str] = {
    ("slower", "slower"): "more instructions, and fewer per cycle",
    ("slower", "faster"): "more instructions, but more per cycle",
    ("slower", "equivalent"): "more instructions",
    ("slower", "undecided"): "more instructions",
    ("slower", None): "more instructions",
    ("faster", "faster"): "fewer instructions, and more per cycle",
    ("faster", "slower"): "fewer instructions, but fewer per cycle",
    ("faster", "equivalent"): "fewer instructions",
    ("faster", "undecided"): "fewer instructions",
    ("faster", None): "fewer instructions",
    ("equivalent", "slower"): "same instructions, fewer per cycle",
    ("equivalent", "faster"): "same instructions, more per cycle",
    ("undecided", "slower"): "fewer instructions per cycle",
    ("undecided", "faster"): "more instructions per cycle",
}


def story_of(
    counters: Sequence[Counter], waits: Sequence[Row], *, risk: float, negligible_ms: float = 0.0
) -> str | None:
    """Say what the intervals carry; None where they carry nothing.

    Parameters
    ----------
    counters : sequence of Counter
        With their words.
    waits : sequence of Row
        The time asleep, and that without a processor, where they are known apart; p-values are adjusted together
        with the counters'.
    risk : float
        Of any false part.
    negligible_ms : float
        Waiting whose whole interval is nearer to 0 counts as none.
    """
    return ", and ".join(_parts(counters, waits, risk, negligible_ms)) or None


def _parts(
    counters: Sequence[Counter], waits: Sequence[Row], risk: float, negligible_ms: float
) -> Iterator[str]:
    words: dict[str, str] = {one.metric: one.word for one in counters}
    instructions = words.get(INSTRUCTIONS)
    if instructions is not None:
        work = _WORK.get((instructions, words.get(PER_CYCLE)))
        if work is not None:
            yield work
    for row, more, less in zip(
        waits, ("waits", "waits for a CPU"), ("waits less", "waits less for a CPU"), strict=False
    ):
        if _differs(row, risk, negligible_ms) and min(row.baseline_ms, row.candidate_ms) >= 0:
            yield more if row.difference_ms > 0 else less


def _differs(row: Row, risk: float, negligible_ms: float) -> bool:
    if row.pvalue_adjusted is None or row.pvalue_adjusted > risk:
        return False
    ends = row.low_ms, row.high_ms
    return any(end is not None and abs(end) > negligible_ms for end in ends)
