"""What the published methods say of the same runs: a row for each, the reasons, the decision paths."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from ...pages.model import Block, Cell, CommandLine, Section, Sentence, Table, Value, columns_of
from ...plots.palette import style_of
from ...record.warmup_iterations import asked_words
from ...verdict.panel import ONE_VALUE
from ...words import shown
from ..chapter import Chapter
from ..names import shortened
from ..spoken import Span, name_html, sentence_html, spoken_html
from ..written import written_of
from .answers import METHODS, Asked, MethodAnswer, Piece, Ratio, asked_of
from .paths import path_of
from .pictures import axis_of, histogram_plot, reliability_plot
from .reasons import reasons_of

if TYPE_CHECKING:
    from ..subject import Subject

__all__ = ["chapter"]

_ALL_PATHS = 4  # candidates up to which all have their paths on the page
_COLUMNS = 4  # candidates up to which each has a column
_NAME = 24
_LONG = 1100  # letters: more reasons are folded
_OPEN = 25  # rows up to which a table of a path is unfolded
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]\d+)?")

Row = Mapping[str, Any]


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None where nothing was compared."""
    lines = written_of(subject)
    found = (asked_of(one, lines.get(one.variant, {})) for one in subject.candidates)
    asked = [one for one in found if one is not None]
    if not asked:
        return None
    reasons = reasons_of(asked, subject.anchor)
    shown_here = asked if len(asked) <= _ALL_PATHS else asked[:1]
    differ = " Where their answers differ, the reason stands below." if reasons else ""
    anchor = subject.anchor("panel")
    values = {
        "lead": f"They ask different questions.{_one_value(subject)}{differ}",
        "baseline": subject.baseline,
        "candidates": tuple(one.variant for one in subject.candidates),
        "rows": tuple(_rows(subject, asked, reasons)),
        "reasons": reasons,
        "paths": tuple(path_of(subject, one, k) for k, one in enumerate(shown_here, 1)),
        "on_request": tuple(_commands(subject, asked[len(shown_here) :])),
    }
    title = "What the published methods say of the same runs"
    return Chapter(
        name="panel",
        folder="published",
        anchor=anchor,
        title=title,
        values=values,
        sections=lambda: (Section(tuple(_blocks(anchor, values)), title),),
        drawn=lambda: _drawn(values),
    )


def _one_value(subject: Subject) -> str:
    """Say what a run is to the methods where each session has one value."""
    quantile = subject.verdict.quantile
    merged = quantile is not None and quantile.level == "session"
    return f" {ONE_VALUE[0].upper()}{ONE_VALUE[1:]}." if merged else ""


def _rows(subject: Subject, asked: Sequence[Asked], reasons: Sequence[Row]) -> Iterator[Row]:
    """Give each method's question, what it takes as an independent draw, and all its answers."""
    refusals = {
        one.name: MethodAnswer(candidate=one.name, first=(one.told["all"].answer,))
        for one in asked
        if "all" in one.told
    }
    rows = [("all", "All methods", "ratios of runs", "run", refusals)]
    n = max(len(one.found.benchmarks) for one in asked)
    for key, method in METHODS.items():
        question = method.question.format(n=n) if n > 1 else method.of_one
        unit = method.unit if isinstance(method.unit, str) else method.unit(asked)
        answers = {
            one.name: replace(method.answer(one), reasons=_reasons_on(key, one.name, reasons))
            for one in asked
            if _answered(key, one)
        }
        rows.append((key, method.name, question, unit, answers))
    for key, name, question, unit, answers in rows:
        if answers:
            yield {
                "key": key,
                "anchor": subject.anchor(f"panel-{key}"),
                "method": name,
                "question": question,
                "unit": unit,
                "answers": tuple(
                    answers.get(one.variant)
                    or MethodAnswer(candidate=one.variant, first=("nothing to compare",))
                    for one in subject.candidates
                ),
            }


def _answered(key: str, one: Asked) -> bool:
    """Tell whether a method answered on a candidate, if only that it cannot."""
    if key == "similar":
        return one.found.similar is not None and one.found.similar.low is not None
    return any(name.startswith(METHODS[key].told) for name in one.told)


def _reasons_on(key: str, candidate: str, reasons: Sequence[Row]) -> tuple[str, ...]:
    """Give the anchors of the sentences on a method's answer."""
    return tuple(
        why["anchor"]
        for why in reasons
        if why["method"] == key
        and any(one["candidate"] in ("", candidate) for one in why["questions"])
    )


def _commands(subject: Subject, others: Sequence[Asked]) -> Iterator[str]:
    """Give the commands that print the paths of candidates that have none on the page."""
    if others:
        metric = () if subject.verdict.usual else ("--metric", subject.verdict.metric)
        of = f"{subject.sources[0]}:{others[0].name}"
        for command in ("hpt", "speedup-test", "resample"):
            yield shlex.join(["fairtrial", command, of, *metric, *asked_words()])


def _blocks(anchor: str, values: Row) -> Iterator[Block]:
    """Give the same as sentences and tables."""
    yield Sentence(values["lead"])
    for k, candidate in enumerate(values["candidates"]):
        headings = "<question", "<unit", "<answer", "value", "low", "high", "p", "<p of"
        yield Table(
            name=f"{anchor}-{k + 1}",
            columns=columns_of(f"<{candidate}", *headings, "chance or reliability"),
            rows=tuple(
                (row["method"], row["question"], row["unit"], *_cells(row["answers"][k]))
                for row in values["rows"]
            ),
        )
    if values["reasons"]:
        yield Section(tuple(map(_why, values["reasons"])), title="why they differ")
    for path in values["paths"]:
        ways = tuple(Section(tuple(_told(way)), title=way["title"]) for way in path["methods"])
        yield Section(ways, title=f"how they came to it: {path['candidate']}")
    yield from map(CommandLine, values["on_request"])


def _cells(answer: MethodAnswer) -> Iterator[Cell]:
    second = _text(answer.second)
    yield f"{answer.said}{_text(answer.first)}".strip() + (f" ({second})" if second else "")
    for number in (answer.value, answer.low, answer.high, answer.pvalue):
        yield number or Value("", None)
    yield answer.pvalue_of
    yield answer.share or Value("", None)


def _text(pieces: Iterable[Piece]) -> str:
    return "".join(
        piece if isinstance(piece, str) else f"{piece.text}{'x' * isinstance(piece, Ratio)}"
        for piece in pieces
    )


def _why(reason: Row) -> Sentence:
    named = ((one["candidate"], _text(one["text"])) for one in reason["questions"])
    asked = (f"{candidate}: {text}" if candidate else text for candidate, text in named)
    return Sentence(" ".join([*asked, reason["text"]]))


def _told(way: Row) -> Iterator[Block]:
    yield from map(Sentence, way["sentences"])
    for found in way["tables"]:
        yield found["table"]
        if found["note"]:
            yield Sentence(found["note"])


def _drawn(values: Row) -> Row:
    """Give what the template takes beside the values: which candidates it shows, and pictures."""
    rows, candidates = values["rows"], values["candidates"]
    wide = len(candidates) > _COLUMNS
    known = ({k for k, one in enumerate(row["answers"]) if one.value is not None} for row in rows)
    first = min(set().union(*known), default=0)
    head, marks = axis_of({row["key"]: row["answers"][first] for row in rows})
    ways = (way for path in values["paths"] for way in path["methods"])
    benchmarks = [row[0] for way in ways for found in way["tables"] for row in found["table"].rows]
    names = {**shortened(benchmarks, _NAME), **shortened([values["baseline"], *candidates], _NAME)}
    return {
        "first": first,
        "columns": [first] if wide else range(len(candidates)),
        "wide": wide,
        "several": len(candidates) > 1,
        "head": head,
        "marks": marks,
        "long": sum(len(why["text"]) for why in values["reasons"]) > _LONG,
        "name": lambda name: name_html(name, names),
        "line": _line_html,
        "sentence": _sentence_with(names),
        "histogram": histogram_plot,
        "reliability": reliability_plot,
        "is_number": _NUMBER.fullmatch,
        "style_of": style_of,
        "open": _OPEN,
    }


def _sentence_with(names: Mapping[str, str]) -> Callable[[str], Markup]:
    """Give what sets a sentence in which long names stand: each is cut in its middle."""
    long = sorted((name for name in names if len(name) > _NAME), key=len, reverse=True)
    if not long:
        return sentence_html
    cut = re.compile(f"({'|'.join(map(re.escape, long))})")
    return lambda text: spoken_html(
        [Span(part, foreign=k % 2 == 1) for k, part in enumerate(cut.split(text))], names
    )


def _line_html(pieces: Iterable[Piece]) -> Markup:
    """Set a line: the sign of a ratio, no break within a number or behind ``p``."""
    return Markup("").join(
        escape(f"{piece.text}×")
        if isinstance(piece, Ratio)
        else escape(shown(piece.text).replace(" ", "\u00a0"))
        if isinstance(piece, Value)
        else sentence_html(re.sub(r"p $", "p\u00a0", piece))
        for piece in pieces
    )
