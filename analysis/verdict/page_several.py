"""Several candidates, and several hosts, on the page of a verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..methods.multilevel.page import level_text
from ..methods.multilevel.result import Line, Multilevel
from ..pages import number_format as figures
from ..pages.model import Cell, Column, Sentence, Table, Value, columns_of, text_of
from ..words import shorten
from .page_table import chosen, hpt_text, interval_text, ratio_text, speedup, word
from .result import CandidateVerdict, Verdict

if TYPE_CHECKING:
    from ..methods.multilevel.host_effects import Disagreement, HostLevel
    from .fleet_hosts import FleetHostStanding

_SIDE_BY_SIDE = 3
_ACROSS = 6  # columns of words in one table
_NAME = 24
_VARIANT = 14


def several_blocks(verdict: Verdict, marks: Mapping[str, str]) -> tuple[Table | Sentence, ...]:
    """Set several candidates, or a candidate on several hosts."""
    if all(one.hosts is None for one in verdict.candidates):
        return _side_by_side(verdict, marks)
    return tuple(
        block
        for number, one in enumerate(verdict.candidates, 1)
        for block in _on_hosts(verdict, one, number, marks)
    )


def _side_by_side(verdict: Verdict, marks: Mapping[str, str]) -> tuple[Table | Sentence, ...]:
    """Set all candidates, one column or group of columns each."""
    known = [(one, one.multilevel) for one in verdict.candidates if one.multilevel is not None]
    without = [one.variant for one in verdict.candidates if one.multilevel is None]
    blocks: list[Table | Sentence] = []
    names, hidden = _names(verdict, [result for _, result in known], marks)
    narrow = len(known) > _SIDE_BY_SIDE
    step = _ACROSS if narrow else _SIDE_BY_SIDE
    for number, start in enumerate(range(0, len(known), step), 1):
        part = known[start : start + step]
        fill = _words if narrow else _full
        blocks.append(fill(verdict, part, names, number, marks))
    if hidden:
        blocks.append(Sentence(f"and {hidden} more (--all)"))
    if without:
        blocks.append(Sentence(f"nothing could be compared: {', '.join(without)}"))
    blocks += _corrected(known)
    told = [
        f"{shorten(one.variant, _VARIANT)}: {hpt_text(one.hpt_speedup).removeprefix('HPT: ')}"
        for one, _ in known
        if one.hpt_speedup is not None
    ]
    if told and not narrow:
        blocks.append(Sentence(f"HPT: {'; '.join(told)}"))
    return tuple(blocks)


_Known = Sequence[tuple[CandidateVerdict, Multilevel]]


def _corrected(known: _Known) -> Iterator[Sentence]:
    """Say why a word may be "undecided" beside an interval that decides: there is no column for it."""
    counts = {
        one.variant: sum(
            line.outcome == "undecided" != line.outcome_uncorrected for line in result.benchmarks
        )
        for one, result in known
    }
    told = [f"{shorten(name, _VARIANT)} {n}" for name, n in counts.items() if n]
    if told:
        most = max(len(result.benchmarks) for _, result in known)
        yield Sentence(
            f"undecided after correction for {most}, though the interval alone would decide: "
            f"{', '.join(told)} (--variant V says which)"
        )


def _names(
    verdict: Verdict, results: Sequence[Multilevel], marks: Mapping[str, str]
) -> tuple[tuple[str, ...], int]:
    """Choose the rows by the candidates' mean."""
    names = tuple(dict.fromkeys(line.name for result in results for line in result.benchmarks))
    logs: dict[str, list[float]] = {name: [] for name in names}
    for result in results:
        for line in result.benchmarks:
            if line.speedup is not None:
                logs[line.name].append(float(np.log(line.speedup)))
    means = {name: float(np.mean(found)) if found else None for name, found in logs.items()}
    return chosen(names, means, marks.keys(), whole=verdict.whole)


def _rows(part: _Known, names: Sequence[str]) -> Iterator[tuple[str, list[Line | None]]]:
    for name in names:
        found = [{line.name: line for line in result.benchmarks}.get(name) for _, result in part]
        yield name, list(found)
    most = max(len(result.benchmarks) for _, result in part)
    for text, found_lines in (
        (f"these {most}", [result.these for _, result in part]),
        ("others like them", [result.similar for _, result in part]),
    ):
        if any(line is not None for line in found_lines):
            yield text, found_lines


def _full(
    verdict: Verdict, part: _Known, names: Sequence[str], number: int, marks: Mapping[str, str]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, lines in _rows(part, names):
        cells: list[Cell] = [shorten(name, _NAME)]
        for line in lines:
            if line is None:
                cells += ["-", "", ""]
            else:
                cells += [word(line, verdict.unit), speedup(line), interval_text(line)]
        rows.append((*cells, marks.get(name, "")))
    columns = [Column("", "left")]
    for one, _ in part:
        name = shorten(one.variant, _VARIANT)
        columns += [
            Column(name, "left"),
            Column("speedup"),
            Column(level_text(verdict.look_alpha), "left"),
        ]
    columns.append(Column("", "left"))
    return Table(name=f"candidates-{number}", columns=tuple(columns), rows=tuple(rows))


def _words(
    verdict: Verdict, part: _Known, names: Sequence[str], number: int, marks: Mapping[str, str]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, lines in _rows(part, names):
        told = [
            "-" if line is None else f"{_short(line, verdict.unit)} {ratio_text(line)}"
            for line in lines
        ]
        rows.append((shorten(name, _NAME), *told, marks.get(name, "")))
    columns = (
        Column("", "left"),
        *(Column(shorten(one.variant, _VARIANT), "left") for one, _ in part),
        Column("", "left"),
    )
    return Table(name=f"candidates-{number}", columns=columns, rows=tuple(rows))


def _short(line: Line, unit: str) -> str:
    """Give a word that a narrow column holds: "=" is equivalent, "?" undecided."""
    return {"equivalent": "=", "undecided": "?"}.get(line.outcome, word(line, unit))


_NARROWEST = 10  # letters of a name, where the numbers take the room
_WIDTH = 100  # of a table
_MISSING = 12  # missing hosts that a line names
_LINES = 4  # hosts in another state, and hosts that disagree
_DIFFERENCES = 3
_HASH = re.compile("[0-9a-f]{64}")


def _on_hosts(
    verdict: Verdict, one: CandidateVerdict, number: int, marks: Mapping[str, str]
) -> Iterator[Table | Sentence]:
    """Set a candidate's table, and the hosts that disagree."""
    name = shorten(one.variant, _NAME)
    result, level = one.multilevel, one.hosts
    if result is None:
        yield Sentence(f"{name}: nothing could be compared")
        return
    if level is None:
        yield Sentence(f"{name}: one host only can be compared: --json holds its numbers")
        return
    names = [line.name for line in result.benchmarks]
    speedups = {line.name: line.speedup for line in result.benchmarks}
    shown, hidden = chosen(names, speedups, marks.keys(), whole=verdict.whole)
    rows = _host_rows(verdict, result, level, shown, marks)
    columns = columns_of(
        "speedup",
        f"<these {len(level.hosts)} hosts",
        "<",
        f"<like these, {level_text(verdict.look_alpha)}",
        "<",
        "differ",
        f"<{'needs' if any(str(row[-1])[:1] in '+>' for row in rows if row[-1]) else ''}",
    )
    room = _room(columns, [row[1:] for row in rows])
    yield Table(
        name=f"hosts-{number}",
        columns=(Column(shorten(result.candidate, room), "left"), *columns),
        rows=tuple((shorten(str(text), room), *row) for text, *row in rows),
    )
    if hidden:
        yield Sentence(f"and {hidden} more (--all)")
    yield from disagreeing_sentences(verdict, level)


def _host_rows(
    verdict: Verdict,
    result: Multilevel,
    level: HostLevel,
    shown: Sequence[str],
    marks: Mapping[str, str],
) -> list[tuple[Cell, ...]]:
    more = {one.benchmark: one.hosts for one in level.more_hosts}
    rows: list[tuple[Cell, ...]] = []
    for own, wide in zip(level.benchmarks, result.benchmarks, strict=True):
        if wide.name not in shown:
            continue
        spread = level.spread.get(wide.name)
        told = "-" if spread is None else f"{figures.significant(100 * spread, 2)} %"
        note = _note(wide.reason, more, wide.name, marks.get(wide.name, ""))
        rows.append(_row(wide.name, own, wide, verdict.unit, spread=Value(told, spread), note=note))
    common = len(result.benchmarks) - len(level.left_out)
    for text, mine, whole in (
        (f"these {common}", level.these, result.these),
        ("others like them", level.similar, result.similar),
    ):
        if mine is not None and whole is not None:
            note = _note(None, more if whole.name == "these" else {}, None, "")
            rows.append(_row(text, mine, whole, verdict.unit, spread="", note=note))
    return rows


def _room(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> int:
    """Give the letters that are left for a name: the numbers are shown whole."""
    taken = sum(
        2 + max(len(text) for text in (column.heading, *(text_of(row[k]) for row in rows)))
        for k, column in enumerate(columns)
    )
    return min(_NAME, max(_NARROWEST, _WIDTH - taken))


def _row(
    name: str, own: Line, wide: Line, unit: str, *, spread: Cell, note: str
) -> tuple[Cell, ...]:
    return (
        name,
        speedup(wide),
        interval_text(own),
        word(own, unit),
        interval_text(wide),
        word(wide, unit),
        spread,
        note,
    )


def _note(
    reason: str | None, more: Mapping[str | None, int | None], name: str | None, mark: str
) -> str:
    told = ""
    if reason is not None:
        told = reason.replace("-", " ")
    elif name in more:
        count = more[name]
        told = f"+{count} host{'s' * (count != 1)}" if count else "> 100 hosts"
    return " ".join(text for text in (told, mark) if text)


def disagreeing_sentences(verdict: Verdict, level: HostLevel) -> Iterator[Sentence]:
    """Say which hosts disagree with the rest, on what, and what is otherwise there."""
    by_host: dict[str, list[Disagreement]] = {}
    for one in level.disagreements:
        by_host.setdefault(one.host, []).append(one)
    standings = {one.host: one for one in verdict.hosts}
    for host, those in [*by_host.items()][:_LINES]:
        told = "; ".join(
            f"{one.benchmark} {figures.ratio(one.speedup)} against {figures.ratio(one.rest)}"
            for one in those[:3]
        )
        left = len(those) - 3
        more = f" and {left} more benchmark{'s' * (left > 1)}" if left > 0 else ""
        yield Sentence(
            f"{host} disagrees with the rest: {told}{more}{_differences(standings[host])}"
        )
    if len(by_host) > _LINES:
        yield Sentence(f"and {len(by_host) - _LINES} more hosts disagree with the rest (--json)")


def _differences(host: FleetHostStanding) -> str:
    if not host.differs:
        return "; nothing in its environment differs from most hosts'"
    told = "; ".join(
        f"{one.key} is {_short_value(one.here)} there, {_short_value(one.most)} on most"
        for one in host.differs[:_DIFFERENCES]
    )
    left = len(host.differs) - _DIFFERENCES
    return f"; {told}{f'; and {left} more differences (--json)' if left > 0 else ''}"


def _short_value(value: str) -> str:
    """Cut a hash, of which the begin tells it from another."""
    return f"{value[:8]}…" if _HASH.fullmatch(value) else value


def standing_sentences(hosts: Sequence[FleetHostStanding], *, whole: bool) -> tuple[Sentence, ...]:
    """Say which hosts are missing, on one line for each reason, and how each other one stands that is not complete."""
    missing = [one for one in hosts if one.state == "missing"]
    others = [one for one in hosts if one.state not in ("missing", "complete")]
    told = []
    by_why: dict[str | None, list[str]] = {}
    for one in missing:
        by_why.setdefault(one.why, []).append(one.host)
    for why, names in by_why.items():
        listed = figures.listed(names, len(names) if whole else _MISSING)
        told.append(Sentence(f"missing: {listed}{f' ({why})' if why else ''}"))
    shown = others if whole else others[:_LINES]
    for one in shown:
        rows = (
            f"{one.done} of {'an unknown number of' if one.planned is None else one.planned} runs"
        )
        reason = f" ({one.why})" if one.why else ""
        told.append(Sentence(f"{one.state}: {one.host}, {rows}{reason}"))
    if len(shown) < len(others):
        told.append(Sentence(f"and {len(others) - len(shown)} more hosts not complete (--all)"))
    return tuple(told)
