"""The answer as a table of one line a benchmark: for a terminal, a pull request and a paper.

Its strings are those of the page. A brief is a mapping as JSON has it; ``docs/json.md`` explains its keys.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..pages import number_format as figures
from ..pages.model import Cell, Column, Section, Sentence, Table, Value
from ..verdict.judging import judge_alone
from ..verdict.screen.heading import heading
from ..verdict.screen.one_candidate import advice, word
from ..words import shorten, shown
from .names import shortened
from .written import all_written, column_of, few_sessions

if TYPE_CHECKING:
    from ..verdict.result import CandidateVerdict
    from .subject import Subject

__all__ = ["brief_of", "brief_sections"]

_NAME = 24
_ADVICE = 48
_NONE = Value("", None)
_NO_SIDE = {"mean": _NONE, "half": _NONE}
Brief = Mapping[str, Any]
Halves = Mapping[str, float | None]


def brief_of(subject: Subject) -> Brief:
    """Give the compact table of one metric."""
    verdict = subject.verdict
    level = 1 - verdict.look_alpha
    few = few_sessions(verdict)
    halves: dict[str, Halves] = {}
    units = set()
    for name, matrix in () if few else subject.matrices.items():
        found = judge_alone(matrix, confidence=level)
        halves[name] = {one.benchmark: _half(one.low, one.high) for one in found.alone}
        # a host where each host was taken as one session
        each = {one.unit for one in found.alone if one.low is not None}
        units |= {found.outermost if unit == "session" else unit for unit in each}
    return {
        "heading": shown(heading(verdict).text) if verdict.candidates or verdict.campaign else "",
        "metric": verdict.metric,
        "unit": verdict.unit,
        "baseline": verdict.baseline,
        "level": Value(f"{100 * level:.4g}\N{NO-BREAK SPACE}%", level),
        "rests_on": f"{units.pop()}s" if len(units) == 1 else "",
        "candidates": [
            {"variant": one.variant, "rows": _rows(subject, one, halves)}
            for one in verdict.candidates
        ],
        "alone": [
            (
                one.benchmark,
                _side(one.mean, None if few else _half(one.low, one.high), verdict.unit),
                Value(f"{one.runs}", one.runs),
            )
            for one in verdict.alone
        ],
    }


def _half(low: float | None, high: float | None) -> float | None:
    """Give half the width of an interval that is symmetric in logs, as a share of its middle."""
    return None if low is None or high is None else math.sqrt(high / low) - 1


def _rows(
    subject: Subject, one: CandidateVerdict, halves: Mapping[str, Halves]
) -> list[dict[str, Any]]:
    """Give a row for each benchmark as the report lists them, then the suite's lines."""
    found, unit = one.multilevel, subject.verdict.unit
    if found is None:
        return []
    column = column_of(found)
    lines = {line.name: line for line in found.benchmarks}
    listed = [(lines[name], name) for name in subject.order if name in lines]
    suite = (
        (found.these, f"these\N{NO-BREAK SPACE}{len(lines)}"),
        (found.similar, "others like them"),
    )
    listed += [(line, label) for line, label in suite if line is not None]  # type: ignore[misc]
    texts = {id(line): text for line, text in zip(column, all_written(column), strict=True)}
    rows = []
    for line, label in listed:
        told = texts[id(line)]
        ours: dict[str, Any] = {"candidate": None, "baseline": None}
        if label in lines and line is lines[label]:
            for side, name in (("candidate", one.variant), ("baseline", subject.baseline)):
                half = halves.get(name, {}).get(line.name)
                ours[side] = _side(getattr(line, f"mean_{side}"), half, unit)
        numbers: dict[str, Any] = {"speedup": told.speedup, "low": told.low, "high": told.high}
        said: dict[str, Any] = {
            "outcome": line.outcome,
            "word": word(line, unit),
            "advice": advice(line, found),
        }
        rows.append({"name": line.name, "label": shown(label)} | ours | numbers | said)
    return rows


def _side(mean: float | None, half: float | None, unit: str) -> dict[str, Value]:
    """Write one side on one benchmark: its geometric mean, and half of its own interval."""
    share = "" if half is None else f"{figures.significant(100 * half, 2)}\N{NO-BREAK SPACE}%"
    return {
        "mean": _NONE if mean is None else Value(figures.quantity(mean, unit), mean),
        "half": Value(share, half),
    }


# ---- in words and cells


def brief_sections(brief: Brief, *, whole: bool = False) -> tuple[Section, ...]:
    """Give the heading, and a table for each candidate, or of one side alone.

    Names are shortened as on the page, or `whole` for what takes tables as data.
    """
    head = (Sentence(brief["heading"]),) if brief["heading"] else ()
    base = brief["baseline"]
    if not brief["candidates"]:
        return (Section((*head, _alone(brief, whole=whole), *_half_said(brief))),)
    names = _names([base, *(one["variant"] for one in brief["candidates"])], whole=whole)
    tables: list[Section | Sentence] = []
    for number, one in enumerate(brief["candidates"], 1):
        name = names[one["variant"]]
        if one["rows"]:
            table = _against(brief, one["rows"], (names[base], name), number, whole=whole)
            tables.append(Section((table,), f"{name} against {names[base]}"))
        else:
            tables.append(Sentence(f"{name}: nothing could be compared with {names[base]}"))
    compared = any(one["rows"] for one in brief["candidates"])
    return (Section((*head, *tables, *(_half_said(brief) if compared else ()))),)


def _names(names: Sequence[str], *, whole: bool) -> Mapping[str, str]:
    return {name: shown(name) for name in names} if whole else shortened(names, _NAME)


def _half_said(brief: Brief) -> tuple[Sentence, ...]:
    """Say what a bare ± would leave open."""
    on = brief["rests_on"]
    if not on:
        return ()
    each = "each side's" if brief["candidates"] else "its"
    text = f"±: half the width of {each} own {brief['level'].text} interval, over its {on}"
    if brief["candidates"] and on in ("sessions", "hosts"):
        text += f"; what {on} do to both sides alike is no part of the speedup's interval"
    return (Sentence(text),)


def _against(
    brief: Brief, rows: Sequence[Brief], names: tuple[str, str], number: int, *, whole: bool
) -> Table:
    """Set a candidate's rows as a table; without any half-width it has no columns for them."""
    labels = _names([row["label"] for row in rows], whole=whole)
    sides = [[row[side] or _NO_SIDE for side in ("baseline", "candidate")] for row in rows]
    keys = ["mean", "half"] if any(one["half"].text for row in sides for one in row) else ["mean"]
    columns = [Column("", "left")]
    for name in names:
        columns += [Column(name), Column("±")][: len(keys)]
    columns += [Column("speedup"), Column(f"{brief['level'].text} from"), Column("to")]
    columns += [Column("word", "left"), Column("to decide", "left")]
    cells: list[tuple[Cell, ...]] = [
        (
            labels[row["label"]],
            *(one[key] for one in side for key in keys),
            *(row[key] for key in ("speedup", "low", "high", "word")),
            shorten(row["advice"], _ADVICE),
        )
        for row, side in zip(rows, sides, strict=True)
    ]
    return Table(name=f"speedups-{number}", columns=tuple(columns), rows=tuple(cells))


def _alone(brief: Brief, *, whole: bool) -> Table:
    alone = brief["alone"]
    names = _names([brief["baseline"], *(name for name, _, _ in alone)], whole=whole)
    keys = ["mean", "half"] if any(side["half"].text for _, side, _ in alone) else ["mean"]
    headings = [names[brief["baseline"]], "±"][: len(keys)]
    return Table(
        name="alone",
        columns=(Column("", "left"), *map(Column, headings), Column("runs")),
        rows=tuple((names[name], *(side[key] for key in keys), runs) for name, side, runs in alone),
    )
