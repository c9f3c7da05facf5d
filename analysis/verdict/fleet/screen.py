"""The first screen of a fleet: what holds on these hosts, and what on hosts like these."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ...data.fleets import standing
from ...methods.multilevel import Disagreement, HostLevel, Line, Multilevel, level_text
from ...report import Cell, Column, Section, Sentence, Table, Value, figures
from ..host_standing import FleetHostStanding
from ..result import CandidateVerdict, Verdict
from ..screen import chosen, interval_text, speedup, word

__all__ = ["disagreeing_sentences", "fleet_section", "standing_sentences"]

_NAME = 24
_NARROWEST = 10  # letters of a name, where the numbers take the room
_WIDTH = 100  # of a table
_MISSING = 12  # missing hosts that a line names
_LINES = 4  # hosts in another state, and hosts that disagree
_DIFFERENCES = 3
_HASH = re.compile("[0-9a-f]{64}")


def fleet_section(verdict: Verdict, marks: Mapping[str, str]) -> Section:
    """Set each candidate's table, the hosts that disagree, and those that are not complete.

    Parameters
    ----------
    verdict : Verdict
        Of two hosts at least.
    marks : mapping of str to str
        What cautions are about -> their numbers, such as ``[1]``.
    """
    blocks: list[Table | Sentence] = []
    for number, one in enumerate(verdict.candidates, 1):
        blocks += _candidate(verdict, one, number, marks)
    return Section((*blocks, *standing_sentences(verdict.hosts, whole=verdict.whole)))


def _candidate(
    verdict: Verdict, one: CandidateVerdict, number: int, marks: Mapping[str, str]
) -> Iterator[Table | Sentence]:
    name = figures.shorten(one.variant, _NAME)
    result, level = one.multilevel, one.hosts
    if result is None:
        yield Sentence(f"{name}: nothing could be compared")
        return
    if level is None:
        yield Sentence(f"{name}: one host only can be compared: --json holds its numbers")
        return
    names = [line.name for line in result.benchmarks]
    speedups = {line.name: line.speedup for line in result.benchmarks}
    choice = chosen(names, speedups, marks.keys(), whole=verdict.whole)
    yield _table(verdict, result, level, number=number, shown=choice.shown, marks=marks)
    if choice.hidden:
        yield Sentence(f"and {choice.hidden} more (--all)")
    yield from disagreeing_sentences(verdict, level)


def _table(
    verdict: Verdict,
    result: Multilevel,
    level: HostLevel,
    *,
    number: int,
    shown: Sequence[str],
    marks: Mapping[str, str],
) -> Table:
    more = {one.benchmark: one.hosts for one in level.more_hosts}
    names: list[str] = []
    rows: list[tuple[Cell, ...]] = []
    for own, wide in zip(level.benchmarks, result.benchmarks, strict=True):
        if wide.name not in shown:
            continue
        spread = level.spread.get(wide.name)
        told = "-" if spread is None else f"{figures.significant(100 * spread, 2)} %"
        note = _note(wide.reason, more, wide.name, marks.get(wide.name, ""))
        names.append(wide.name)
        rows.append(_row(own, wide, verdict.unit, spread=Value(told, spread), note=note))
    common = len(result.benchmarks) - len(level.left_out)
    for text, mine, whole in (
        (f"these {common}", level.these, result.these),
        ("others like them", level.similar, result.similar),
    ):
        if mine is not None and whole is not None:
            note = _note(None, more if whole.name == "these" else {}, None, "")
            names.append(text)
            rows.append(_row(mine, whole, verdict.unit, spread="", note=note))
    columns = (
        Column("speedup"),
        Column(f"these {len(level.hosts)} hosts", "left"),
        Column("", "left"),
        Column(f"like these, {level_text(verdict.look_alpha)}", "left"),
        Column("", "left"),
        Column("differ"),
        Column("needs" if any(str(row[-1])[:1] in "+>" for row in rows if row[-1]) else "", "left"),
    )
    room = _room(columns, rows)
    return Table(
        name=f"hosts-{number}",
        columns=(Column(figures.shorten(result.candidate, room), "left"), *columns),
        rows=tuple(
            (figures.shorten(name, room), *row) for name, row in zip(names, rows, strict=True)
        ),
    )


def _room(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> int:
    """Give the letters that are left for a name: the numbers are shown whole."""
    taken = sum(
        2 + max(len(text) for text in (column.heading, *(_text(row[k]) for row in rows)))
        for k, column in enumerate(columns)
    )
    return min(_NAME, max(_NARROWEST, _WIDTH - taken))


def _text(cell: Cell) -> str:
    return cell.text if isinstance(cell, Value) else str(cell)


def _row(own: Line, wide: Line, unit: str, *, spread: Cell, note: str) -> tuple[Cell, ...]:
    return (
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
    if reason == "fails-more":
        told = "fails more"
    elif reason is not None:
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
        f"{one.key} is {_short(one.here)} there, {_short(one.most)} on most"
        for one in host.differs[:_DIFFERENCES]
    )
    left = len(host.differs) - _DIFFERENCES
    return f"; {told}{f'; and {left} more differences (--json)' if left > 0 else ''}"


def _short(value: str) -> str:
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
    told += [Sentence(standing(one)) for one in shown]
    if len(shown) < len(others):
        told.append(Sentence(f"and {len(others) - len(shown)} more hosts not complete (--all)"))
    return tuple(told)
