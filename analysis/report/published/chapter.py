"""What the published methods say of the same runs: a row for each, the reasons, the decision paths."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from ...methods.hpt.html_page import reliability_plot
from ...pages.model import Block, Cell, CommandLine, Section, Sentence, Table, Value, columns_of
from ...plots.palette import style_of
from ...words import shown
from ..chapter import Chapter
from ..names import shortened
from ..spoken import Span, name_html, sentence_html, spoken_html
from ..written import written_of
from .answers import METHODS, Asked, MethodAnswer, Piece, Ratio, asked_of
from .paths import path_of
from .pictures import axis_of, histogram_plot
from .reasons import reasons_of

if TYPE_CHECKING:
    from ..subject import Subject

__all__ = ["chapter"]

_ALL_PATHS = 4  # candidates up to which all have their paths on the page
_COLUMNS = 4  # candidates up to which each has a column
_NAME = 24
_LONG = 1100  # letters: more reasons are folded
_OPEN = 25  # rows up to which a table of a path is unfolded
_UNITS = {  # with what is outermost
    "one session, blocks": "block of one {}",
    "one session, runs": "run of one {}",
    "confounded": "none, as no {} holds both variants",
}
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
        "lead": f"They ask different questions.{differ}",
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


def _rows(subject: Subject, asked: Sequence[Asked], reasons: Sequence[Row]) -> Iterator[Row]:
    """Give each method's question, what it takes as an independent draw, and all its answers."""

    def row(
        key: str, method: str, question: str, unit: str, answers: Mapping[str, MethodAnswer]
    ) -> Row:
        nothing = ("nothing to compare",)
        return {
            "key": key,
            "anchor": subject.anchor(f"panel-{key}"),
            "method": method,
            "question": question,
            "unit": unit,
            "answers": tuple(
                answers.get(one.variant) or MethodAnswer(candidate=one.variant, first=nothing)
                for one in subject.candidates
            ),
        }

    refusals = {
        one.name: MethodAnswer(candidate=one.name, first=(one.told["all"].answer,))
        for one in asked
        if "all" in one.told
    }
    if refusals:
        yield row("all", "All methods", "ratios of runs", "run", refusals)
    for key, method in METHODS.items():
        answers = {
            one.name: _linked(key, method.answer(one), reasons)
            for one in asked
            if _answered(key, one)
        }
        if answers:
            yield row(key, method.name, _question(key, asked), _unit(key, asked), answers)


def _answered(key: str, one: Asked) -> bool:
    """Tell whether a method answered on a candidate, if only that it cannot."""
    if key == "similar":
        return one.found.similar is not None and one.found.similar.low is not None
    return any(name.startswith(METHODS[key].told) for name in one.told)


def _linked(key: str, answer: MethodAnswer, reasons: Sequence[Row]) -> MethodAnswer:
    """Lead from an answer to the sentences on it."""
    whose = ("", answer.candidate)
    return replace(
        answer,
        reasons=tuple(
            reason["anchor"]
            for reason in reasons
            if reason["method"] == key
            and any(one["candidate"] in whose for one in reason["questions"])
        ),
    )


def _question(key: str, asked: Sequence[Asked]) -> str:
    n = max(len(one.found.benchmarks) for one in asked)
    these = f", these {n}" if n > 1 else ""
    return {
        "these": f"ratio of geometric means{these}",
        "similar": "the same, for others like them",
        "hpt": "better over the suite, and by how much",
        "speedup-test": "each benchmark’s mean and median" if n > 1 else "mean and median",
        "randomization": f"any difference on these {n}" if n > 1 else "any difference",
        "bootstrap": f"ratio of geometric means{these}",
        "mixtures": "one run against one run",
        "friedman": "mean ranks over the benchmarks",
    }[key]


def _unit(key: str, asked: Sequence[Asked]) -> str:
    if key == "these":
        named = (_UNITS.get(one.found.design, "{}") for one in asked)
        both = zip(named, asked, strict=True)
        return _joined(unit.format(one.found.outermost) for unit, one in both)
    if key == "similar":
        return _joined(f"{one.found.outermost} and benchmark" for one in asked)
    if key == "randomization":
        tests = ((one, one.panel.answers.randomized) for one in asked)
        return _joined(_own(one, its.unit) for one, its in tests if its is not None) or "none"
    if key == "bootstrap":
        drawn = [(one, its) for one in asked if (its := one.panel.answers.bootstrap) is not None]
        units = _joined(_own(one, its.unit) for one, its in drawn) or "none"
        held = [its.known_coverage for _, its in drawn if its.known_coverage is not None]
        if not held:
            return units
        span = " to ".join(f"{100 * share:.1f}" for share in sorted({min(held), max(held)}))
        return f"{units}; held {span}\u00a0% in simulation"
    return {
        "hpt": "run, then benchmark",
        "friedman": "benchmark; false alarms in 31 to 41\u00a0% of trials of one program",
    }.get(key, "run")


def _own(asked: Asked, unit: str) -> str:
    """Say host where a method took each host of a fleet for a session."""
    return asked.found.outermost if unit == "session" else unit


def _joined(words: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(words))


def _commands(subject: Subject, others: Sequence[Asked]) -> Iterator[str]:
    """Give the commands that print the paths of candidates that have none on the page."""
    if others:
        metric = () if subject.verdict.usual else ("--metric", subject.verdict.metric)
        of = f"{subject.sources[0]}:{others[0].name}"
        for command in ("hpt", "speedup-test", "resample"):
            yield shlex.join(["fairtrial", command, of, *metric])


def _blocks(anchor: str, values: Row) -> Iterator[Block]:
    """Give the same as sentences and tables."""
    yield Sentence(values["lead"])
    for k, candidate in enumerate(values["candidates"]):
        yield Table(
            name=f"{anchor}-{k + 1}",
            columns=columns_of(
                f"<{candidate}",
                *("<question", "<unit", "<answer", "value", "low", "high", "p", "<p of"),
                "chance or reliability",
            ),
            rows=tuple(
                (row["method"], row["question"], row["unit"], *_cells(row["answers"][k]))
                for row in values["rows"]
            ),
        )
    if values["reasons"]:
        whys = tuple(
            Sentence(" ".join([*map(_asked_text, why["questions"]), why["text"]]))
            for why in values["reasons"]
        )
        yield Section(whys, title="why they differ")
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


def _asked_text(one: Row) -> str:
    return f"{one['candidate']}: {_text(one['text'])}" if one["candidate"] else _text(one["text"])


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
    valued = (
        k
        for k, _ in enumerate(candidates)
        if any(row["answers"][k].value is not None for row in rows)
    )
    first = next(valued, 0)
    head, marks = axis_of({row["key"]: row["answers"][first] for row in rows})
    tables = [
        found for path in values["paths"] for way in path["methods"] for found in way["tables"]
    ]
    benchmarks = [str(row[0]) for found in tables for row in found["table"].rows]
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
        "sort_key": _sort_key,
        "word_style": lambda cell: f" {style}" if (style := style_of(cell)) != "neither" else "",
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


def _sort_key(cell: Value) -> Markup:
    """Say what a cell sorts by; a bare number sorts as it stands."""
    if _NUMBER.fullmatch(cell.text):
        return Markup("")
    return Markup(' data-sort="{}"').format("" if cell.value is None else f"{cell.value:.6g}")
