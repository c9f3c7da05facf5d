"""A verdict on a screen: the answer as a sentence, a table for each candidate, what to note, what to do next."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ..methods.multilevel.page import (
    advice_text,
    chance_heading,
    interval_text,
    level_text,
    looks_text,
    mean_cell,
    reason_text,
    speedup_text,
)
from ..methods.multilevel.result import MOST_SHOWN, Line, Multilevel, leading
from ..pages import as_text, number_format as figures
from ..pages.model import (
    Block,
    Caution,
    Cell,
    Note,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    section,
    table_of,
    value_of,
)
from ..pages.number_format import Word, outcome_word, stuff_of
from ..words import WIDTH, Name, apart, shortened
from .cautions import layouts_sentences, shown_cautions
from .result import CandidateVerdict, Verdict, difference, heading, next_of
from .sentence import (
    OF_RUNS,
    corrected,
    family,
    quantile_sentences,
    unanswered,
    with_whole_interval,
    word,
)

if TYPE_CHECKING:
    from .sides import VariantSummary

ROWS = 12  # that a first screen shows where it has room for them
LINES, LINES_OF_SEVERAL = 24, 30  # of a first screen, by how many candidates it has
_FEWEST = 3  # rows that a table shows, however much else there is to say
_TABLES = 3  # candidates with a table each; more have a row each
_OTHERS = "others like them"
_REASONS = 3  # rows whose reason is said below the table
_Place = tuple[str, str]  # of a row: its candidate, and its benchmark


# --- What stands in cells.


def as_ratio(verdict: Verdict) -> bool:
    """Tell whether tables give speedups: where they are asked for, and of what is better when it is more."""
    return verdict.ratio or verdict.data.better == "higher"


def change_heading(verdict: Verdict) -> str:
    """Name the column of the differences."""
    if as_ratio(verdict):
        return "speedup"
    if figures.is_time(verdict.data.unit):
        return "time"
    return "memory" if stuff_of(verdict.data.metric, verdict.data.unit) == "memory" else "change"


def change(line: Line, verdict: Verdict) -> Value:
    """Give a cell with a line's difference, per cent of what the baseline takes, or its speedup."""
    if as_ratio(verdict):
        return Value(speedup_text(line), line.speedup)
    found = difference(line, verdict)
    return Value(found.cell(), None if found.ratio is None else found.ratio - 1)


def change_interval(line: Line, verdict: Verdict) -> str:
    """Give a cell with its interval, in the same unit."""
    if as_ratio(verdict):
        return interval_text(line) or "-"
    return difference(line, verdict).cell_interval()


# --- The table of a candidate: of a fleet the differences on these hosts, and on hosts like these.


class _Row(NamedTuple):
    """A line with its name, and of a fleet the same on its very hosts, with how much these differ."""

    name: str
    line: Line
    own: Line | None = None
    differ: float | None = None
    mark: str = ""

    @property
    def spread(self) -> Cell:
        if self.line.of_suite:
            return ""
        sides = self.line.spread_candidate, self.line.spread_baseline
        return value_of(max((s for s in sides if s is not None), default=None), figures.spread)

    def these_hosts(self, verdict: Verdict) -> str:
        """Give the interval on these hosts, with a mark if that decides nothing."""
        if self.own is None:
            return "-"
        mark = "? " if self.own.outcome == "undecided" else ""
        return f"{mark}{change_interval(self.own, verdict)}"

    @property
    def differing(self) -> Cell:
        if self.line.of_suite:
            return ""
        return value_of(self.differ, lambda share: f"{figures.significant(100 * share, 2)} %")


def candidate_blocks(
    verdict: Verdict,
    one: CandidateVerdict,
    marked: Mapping[_Place, str],
    *,
    number: int = 1,
    most: int = ROWS,
) -> Iterator[Table | Sentence]:
    """Set one candidate: its table, and what stands directly below it."""
    result, several = _in_rows(verdict, one), len(verdict.candidates) > 1
    if result is None:
        why = "nothing could be" if one.multilevel is None else "one host only can be"
        if several:  # of a single one the answer says so
            yield Sentence(f"{one.variant:.28}: {why} compared")
        return
    marks = {name: mark for (variant, name), mark in marked.items() if variant == one.variant}
    kept, hidden = _kept(verdict, result, marks, most)
    table = _table(verdict, one, result, marks, kept=kept, number=number)
    if as_text.natural_width(table) > WIDTH:  # the last line of the suite in one word
        rows = (("others", *row[1:]) if row[0] == _OTHERS else row for row in table.rows)
        table = replace(table, rows=tuple(rows))
    yield table
    if one.hosts is None and any(corrected(x) for x in result.benchmarks if x.name in kept):
        yield Sentence(
            f"* the interval alone would decide; {figures.counted(*family(result))} share the risk"
        )
    if hidden:
        yield Sentence(f"and {hidden} more (--all)")
    if result.occasions:
        yield Sentence(result.occasions)
    texts = [
        f"{line.name:.28}: {text}"
        for line in result.benchmarks
        if line.name in kept and (line.reason or line.fails_proven) and not marks.get(line.name)
        if (text := reason_text(line))
        if len(result.benchmarks) > 1 or not unanswered(result, line, "")
    ]
    yield from map(Sentence, texts[:_REASONS] if one.hosts is None else ())


def _in_rows(verdict: Verdict, one: CandidateVerdict) -> Multilevel | None:
    """Give what a candidate's table shows; None where it has none."""
    lone = verdict.hosts and one.hosts is None and len(verdict.candidates) > 1
    return None if lone else one.multilevel


def _kept(
    verdict: Verdict, result: Multilevel, marked: Collection[str], most: int
) -> tuple[tuple[str, ...], int]:
    speedups = {line.name: line.speedup for line in result.benchmarks}
    return chosen(speedups, marked, whole=verdict.whole, most=most)


def _table(
    verdict: Verdict,
    one: CandidateVerdict,
    result: Multilevel,
    marks: Mapping[str, str],
    *,
    kept: Collection[str],
    number: int,
) -> Table:
    on, unit = one.hosts, verdict.data.unit
    own = {} if on is None else {line.name: line for line in on.benchmarks}
    rows = [
        _Row(
            Name(line.name),
            line,
            own.get(line.name),
            None if on is None else on.spread.get(line.name),
            marks.get(line.name, ""),
        )
        for line in result.benchmarks
        if line.name in kept
    ]
    suite = (
        (f"these {result.together}", result.these, None if on is None else on.these),
        (_OTHERS, result.similar, None if on is None else on.similar),
    )
    rows += [_Row(name, line, here) for name, line, here in suite if line is not None]
    theirs, ours = Name(result.baseline), Name(result.candidate)
    several = len(verdict.candidates) > 1
    title = f"<{one.variant:.28}" if several and on is not None else "<"
    level = level_text(verdict.look.alpha)
    plain = on is None
    return table_of(
        f"{'benchmarks' if plain else 'hosts'}-{number}",
        rows,
        (title, "name"),
        (theirs, lambda row: mean_cell(row.line, 1, unit)) if plain else None,
        (ours, lambda row: mean_cell(row.line, 0, unit)) if plain else None,
        (change_heading(verdict), lambda row: change(row.line, verdict)),
        None if plain else ("these hosts", lambda row: row.these_hosts(verdict)),
        (
            level if plain else f"like these, {level}",
            lambda row: change_interval(row.line, verdict),
        ),
        ("spread", "spread") if plain else None,
        ("<", lambda row: f"{word(row.line, unit)}{'*' * (plain and corrected(row.line))}"),
        None if plain else ("differ", "differing"),
        ("<", "mark"),
    )


def chosen(
    speedups: Mapping[str, float | None],
    cautioned: Collection[str],
    *,
    whole: bool,
    most: int = ROWS,
) -> tuple[tuple[str, ...], int]:
    """Choose the rows of a screen, in the trial's order, and count those that are not shown.

    Of more than `most` both ends are shown, the slowest and the fastest; a third of the room is for what has
    cautions.
    """
    if whole or len(speedups) <= most:
        return tuple(speedups), 0
    known = [(value, bench) for bench, value in speedups.items() if value is not None]
    known.sort(key=lambda pair: pair[0])
    each = max(most // 3, 1)
    ends = {bench for _, bench in (*known[:each], *known[-each:])}
    marked = [bench for bench in speedups if bench in cautioned and bench not in ends]
    kept = ends | set(marked[: most - 2 * each])
    shown = tuple(bench for bench in speedups if bench in kept)
    return shown, len(speedups) - len(shown)


# --- Many candidates, or one benchmark: a row each, with how many benchmarks say what.


_OF = {"equivalent": "same", "undecided": "open"}
_WORDS: tuple[Word, ...] = ("faster", "slower", "equivalent", "undecided")


def _listed(verdict: Verdict, known: Mapping[str, Multilevel]) -> Iterator[Table | Sentence]:
    unit, timed = verdict.data.unit, figures.timed(verdict.data.unit)
    suite = any(result.these is not None for result in known.values())
    counts = {name: Counter(x.outcome for x in one.benchmarks) for name, one in known.items()}
    outcomes = [each for each in _WORDS if suite and any(one[each] for one in counts.values())]
    called = shortened([*known], 28)

    yield table_of(
        "candidates-1",
        [(name, leading(result)) for name, result in known.items()],
        ("@", lambda row: row[0]),
        None if suite else ("mean", lambda row: mean_cell(row[1], 0, unit) or "-"),
        (change_heading(verdict), lambda row: change(row[1], verdict) if row[1] else "-"),
        (
            level_text(verdict.look.alpha),
            lambda row: change_interval(row[1], verdict) if row[1] else "-",
        ),
        ("<", lambda row: word(row[1], unit) if row[1] else "undecided"),
        *(
            (
                _OF.get(each, "") or outcome_word(each, timed=timed),
                partial(lambda row, each: counts[row[0]][each], each=each),
            )
            for each in outcomes
        ),
    )
    marked = {name: sum(map(corrected, one.benchmarks)) for name, one in known.items()}
    if texts := [f"{called[name]} {n}" for name, n in marked.items() if n]:
        listed = figures.listed(texts, 4)
        over = figures.counted(*family(*known.values()))
        yield Sentence(
            f"undecided only because {over} share the risk: {listed} (--variant V says which)"
        )


# --- What ``--explain`` adds to a verdict: what it rests on, what would settle it, and what
# other methods say.


_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini and Hochberg"}


def _explained(verdict: Verdict) -> Iterator[Section]:
    """Give what the answer rests on, then each candidate's other methods."""
    from .panel import ONE_VALUE, methods_table, reasons_section, sessions_are_runs

    yield section(*_rests_on(verdict), title="what it rests on")
    note = (ONE_VALUE,) if sessions_are_runs(verdict) else ()
    for number, one in enumerate(verdict.candidates, 1):
        if one.panel is not None:
            ours, theirs = apart((one.variant, verdict.data.baseline), 24)
            yield section(
                *note,
                methods_table(f"methods-{number}", one.panel.methods),
                reasons_section(one.panel.disagreements),
                title=f"the published methods on the same data, {ours} against {theirs}",
            )
        if one.hosts is not None and one.hosts.disagreements:
            from .fleet import disagreeing_sentences

            texts = tuple(disagreeing_sentences(verdict, one.hosts))
            yield Section(texts, title="hosts that disagree")


def _rests_on(verdict: Verdict) -> Iterator[str]:
    counts = verdict.counts
    left_out = [f"{counts.warmups} warm-up runs"] if counts.warmups else []
    left_out += [figures.counted(counts.failed, "failed run")] if counts.failed else []
    without = f"; left out: {', '.join(left_out)}" if left_out else ""
    yield f"{figures.counted(counts.runs, 'run')} count{without}"
    if words := looks_text(verdict.look):
        yield words
    rule, (many, what) = _CORRECTIONS.get(verdict.question.correction), family(*verdict.compared)
    if rule and many > 1:
        over = figures.counted(many, what)
        yield f"words of benchmarks are corrected for {over} (after {rule}); intervals are not"
    for one in verdict.candidates:
        if (result := one.multilevel) is None:
            continue
        name = f"{one.variant:.28}: " if len(verdict.candidates) > 1 else ""
        yield from (f"{name}{text}" for text in (*_would_settle(result), *_more_hosts(one)))
    if verdict.certificate is not None:
        yield verdict.certificate.sentence


def _more_hosts(one: CandidateVerdict) -> Iterator[str]:
    """Say how many more hosts would decide what is undecided on hosts like these."""
    if (level := one.hosts) is None:
        return
    texts = []
    for more in level.more_hosts:
        name = f"these {len(level.benchmarks)}" if more.benchmark is None else more.benchmark
        count = f"> {MOST_SHOWN:,} more hosts"
        if more.hosts is not None and more.hosts <= MOST_SHOWN:
            count = figures.counted(more.hosts, "more host")
        texts.append(f"{name:.20}: {count}")
    if texts:
        yield f"would decide in 3 of 4 cases at least: {'; '.join(texts)}"


def _would_settle(result: Multilevel) -> Iterator[str]:
    """Say of each undecided line how much more would settle it, and whether runs alone would."""
    texts = []
    for line in result.lines:
        advice = advice_text(line, result.outermost)
        if line.reason and line.law != "identity":
            continue
        if advice:
            name = f"these {result.together}" if line is result.these else line.name
            texts.append(f"{name:.28}: {advice}")
    if texts:
        head = chance_heading(result.lines)
        yield f"{head}: {'; '.join(texts)}" if head else "; ".join(texts)
    undecided = [line.more_sessions for line in result.benchmarks if line.outcome == "undecided"]
    suffice = [more.runs_suffice for more in undecided if more is not None]
    if False in suffice:
        of = f": {suffice.count(False)} of {len(suffice)} undecided benchmarks"
        yield f"more runs alone would not do{of * (len(suffice) > 1)}"


# --- The page.


def screen(verdict: Verdict) -> Page:
    """Set the whole verdict where that is asked for, else as many rows as a terminal has room for."""
    if verdict.question.explain or verdict.whole:
        return _whole(verdict)
    most = ROWS
    lines = LINES_OF_SEVERAL if len(verdict.candidates) > 1 else LINES
    page = _first_screen(verdict, most)
    while most > _FEWEST and (over := len(as_text.render(page).splitlines()) - lines) > 0:
        most = max(_FEWEST, most - over)
        page = _first_screen(verdict, most)
    return page


def _first_screen(verdict: Verdict, most: int) -> Page:
    """Fill a page that fits a terminal: up to `most` rows, and the cautions that change what they mean."""
    noted = shown_cautions(verdict, without=(OF_RUNS,))  # said below the table
    marks = {row: "" for caution in noted.cautions for row in _rows_about(verdict, caution)}
    rows = {
        (one.variant, name)
        for one in (verdict.candidates if _with_tables(verdict) else ())
        if (result := _in_rows(verdict, one)) is not None
        for name in _kept(verdict, result, [n for v, n in marks if v == one.variant], most)[0]
    }
    notes, number = [], 0
    for caution in noted.cautions:
        those = [row for row in _rows_about(verdict, caution) if row in rows]
        number += bool(those)
        for row in those:
            marks[row] += f"[{number}]"
        notes.append(f"[{number}] {caution.text}" if those else caution.text)
    notes += [noted.more] if noted.more else []
    return _page(verdict, marks, most, notes=notes)


def _rows_about(verdict: Verdict, caution: Caution) -> list[_Place]:
    """Name the rows that a caution is about: those of one candidate where it names that first, else of all."""
    candidates, names = [one.variant for one in verdict.candidates], caution.about
    if names[1:] and names[0] in candidates:
        candidates, names = [names[0]], names[1:]
    return [(candidate, name) for candidate in candidates for name in names]


def _whole(verdict: Verdict) -> Page:
    """Fill a page with everything: all cautions, and what was asked to be explained."""
    # that there is one variant only is the answer already
    cautions = tuple(c for c in verdict.cautions if c.code != "one-variant")
    marks: dict[_Place, str] = {}
    for number, caution in enumerate(cautions, 1):
        for row in _rows_about(verdict, caution):
            marks[row] = f"{marks.get(row, '')}[{number}]"
    if not verdict.question.explain:
        return _page(verdict, marks, ROWS, cautions=cautions)
    return _page(verdict, marks, ROWS, more=tuple(_explained(verdict)), cautions=cautions)


def _page(
    verdict: Verdict,
    marks: Mapping[_Place, str],
    most: int,
    *,
    more: Sequence[Section] = (),
    cautions: tuple[Caution, ...] = (),
    notes: Sequence[str] = (),
) -> Page:
    """Say the answer, of a fleet also what holds beyond its hosts, and how these stand; then the evidence."""
    names = (verdict.data.baseline, *(one.variant for one in verdict.candidates))
    found = layouts_sentences(verdict.layouts, names)
    found += quantile_sentences(verdict.data.metric, verdict.quantile)
    command = next_of(verdict)
    last: tuple[Block, ...] = (*map(Note, notes), *(() if command is None else (command,)))
    answer: list[str | Block] = [with_whole_interval(verdict.sentence)]
    if verdict.hosts:
        from .fleet import on_hosts_sentences, standing_sentences

        answer += on_hosts_sentences(verdict)
        answer += standing_sentences(verdict.hosts, whole=verdict.whole)
    return Page(
        title=f"Verdict on {verdict.data.trial or (*names[1:], *names)[0]}",
        sections=(
            section(*answer),
            section(heading(verdict)),
            *_evidence(verdict, marks, most),
            *((section(*found),) if found else ()),
            *more,
        ),
        cautions=cautions,
        following=(Section(last),) if last or not cautions else (),
    )


def _evidence(verdict: Verdict, marks: Mapping[_Place, str], most: int) -> tuple[Section, ...]:
    if not verdict.candidates:
        return (section(_alone_table(verdict)),)
    if not _with_tables(verdict):
        known = {one.candidate: one for one in verdict.compared}
        return (section(*_listed(verdict, known)),) if known else ()
    return tuple(
        section(*candidate_blocks(verdict, one, marks, number=number, most=most))
        for number, one in enumerate(verdict.candidates, 1)
    )


def _with_tables(verdict: Verdict) -> bool:
    """Tell whether each candidate has a table; else there is one, with a row each."""
    known = verdict.compared
    of_several = len(known) <= _TABLES and any(len(one.benchmarks) > 1 for one in known)
    return len(verdict.candidates) == 1 or of_several or any(x.hosts for x in verdict.candidates)


def _alone_table(verdict: Verdict) -> Table:
    unit, level = verdict.data.unit, f"{100 * verdict.question.confidence:g} %"
    if verdict.look.rule == "repeated":
        level = level_text(verdict.look.alpha)

    def by(one: VariantSummary) -> str:
        if one.unit == "session":
            return f"{one.sessions} {verdict.data.outermost}s"
        return f"{one.unit}s of one {verdict.data.outermost}"

    def ends(one: VariantSummary) -> str:
        return f"{figures.quantity(one.minimum, unit)} to {figures.quantity(one.maximum, unit)}"

    return table_of(
        "alone",
        verdict.alone,
        ("@", "benchmark"),
        ("mean", "mean", partial(figures.quantity, unit=unit)),
        (level, _half_width),
        ("<by", by),
        ("range", ends),
        ("runs", "runs"),
    )


def _half_width(one: VariantSummary) -> str:
    """Write an interval as a share: its ends often agree in the digits of the mean."""
    if one.low is None or one.high is None:
        return "-"
    return f"± {figures.significant(100 * (math.sqrt(one.high / one.low) - 1), 2)} %"
