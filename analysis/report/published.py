"""What the published methods say of the same runs: a row for each, the reasons, the decision paths."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from markupsafe import Markup, escape

from ..pages import number_format as figures
from ..pages.model import (
    Block,
    Cell,
    CommandLine,
    Section,
    Sentence,
    Table,
    Value,
    columns_of,
    value_of,
)
from ..plots.marks import style_of
from ..record.manifest import asked_words
from ..verdict.panel import ONE_VALUE
from ..words import shortened, shown
from .methods_text import Span, name_html, sentence_html, spoken_html
from .page import Chapter
from .published_answers import (
    METHODS,
    Asked,
    MethodAnswer,
    Piece,
    Ratio,
    asked_of,
    axis_of,
    histogram_plot,
    reliability_plot,
)
from .published_paths import path_of
from .written import written_of

if TYPE_CHECKING:
    from ..verdict.panel import MethodDisagreement
    from .subject import Subject

__all__ = ["chapter", "reasons_of"]

# --- Where answers differ: their numbers as a question, and the sentence that says why.


_SHORT = 0.01  # simulated coverage that lies farther below the confidence is worth a word
_KEYS = {method.told: key for key, method in METHODS.items() if method.told}


# method, code ("" where the words agree, and only numbers differ), question, and what answers it
_Difference: TypeAlias = tuple[str, str, tuple[Piece, ...], str]


def reasons_of(
    asked: Sequence[Asked], anchor: Callable[[str], str]
) -> tuple[Mapping[str, Any], ...]:
    """Give a sentence for each difference; those that are alike for several candidates are one.

    Each has an ``anchor``, the ``method`` of its row, the ``code`` of its kind, the ``questions``
    (``candidate``, "" of the only one, and ``text`` in pieces) and the ``text`` that answers them.
    """
    merged: dict[tuple[str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for one in asked:
        named = one.name if len(asked) > 1 else ""
        for method, code, question, text in _differences(one):
            merged[method, code, text].append({"candidate": named, "text": question})
    order = [*_KEYS.values(), "similar"]
    ranked = sorted(merged.items(), key=lambda item: order.index(item[0][0]))
    return tuple(
        {
            "anchor": anchor(f"panel-why-{number}"),
            "method": method,
            "code": code,
            "questions": tuple(questions),
            "text": text,
        }
        for number, ((method, code, text), questions) in enumerate(ranked, 1)
    )


def _differences(asked: Asked) -> Iterator[_Difference]:
    by_method: dict[str, list[MethodDisagreement]] = defaultdict(list)
    for one in asked.panel.disagreements:
        by_method[one.of].append(one)
    yield from _hpt(asked, by_method.pop("HPT", []))
    yield from _weights(asked)
    yield from _similar(asked)
    yield from _bootstrap(asked)
    for method, told in by_method.items():
        text = " ".join(_sentence(asked, one.text) for one in told)
        yield (_KEYS.get(method, method), _codes(told), _question(asked, method), text)


def _codes(told: Sequence[MethodDisagreement]) -> str:
    return ", ".join(dict.fromkeys(one.reason for one in told))


def _sentence(asked: Asked, text: str) -> str:
    """Make a sentence of a reason, with the speedup as the first screen writes it."""
    line = asked.line
    if line.speedup is not None:
        theirs = figures.ratio_within(line.speedup, line.low, line.high)
        text = text.replace(f"of {theirs} ", f"of {_ours(asked).text}x ")
    if text.startswith("bootstrap "):
        text = f"the {text}"
    return f"{text[:1].upper()}{text[1:]}."


def _ours(asked: Asked) -> Value:
    return asked.lines[asked.line.name].speedup


def _question(asked: Asked, method: str) -> tuple[Piece, ...]:
    """Set the two answers side by side."""
    line, answers = asked.line, asked.panel.answers
    ours = asked.word(line.outcome)
    if method == "mixtures":
        chance = value_of(asked.told[method].value, "{:.2f}".format, "")
        return (f"{ours}, and a chance of ", chance, " in a single run?")
    if method == "Speedup-Test":
        return (_other_words(asked),)
    if method == "randomization" and answers.randomized is not None and line.speedup is not None:
        p = value_of(answers.randomized.pvalue, figures.pvalue)
        return ("p ", p, " for a factor of ", _ours(asked), "?")
    theirs = asked.word(asked.told[method].word if method in asked.told else None)
    return (f"{ours} or {theirs}?",)


def _other_words(asked: Asked) -> str:
    """Name the benchmark, or count those, where the Speedup-Test has another word."""
    suite = asked.panel.answers.suite
    tests = () if suite is None else suite.benchmarks
    lines = {one.name: one for one in asked.found.benchmarks}
    differing = [
        test for test in tests if test.name in lines and test.word != lines[test.name].outcome
    ]
    if len(differing) == 1:
        name = differing[0].name or ""
        ours, theirs = asked.word(lines[name].outcome), asked.word(differing[0].word)
        return f"{name}: {ours} or {theirs}?"
    if differing:
        return f"Another word on {len(differing)} of {len(lines)} benchmarks?"
    stopped = sum(test.mean.significant is None for test in tests)
    return f"No conclusion on {stopped} of {len(tests)} means?"


def _hpt(asked: Asked, told: Sequence[MethodDisagreement]) -> Iterator[_Difference]:
    """Set the mean beside the largest speedup that HPT claims, then what else it says."""
    bound = asked.verdict.hpt_speedup
    said = asked.told.get("HPT")  # absent where no method could be asked
    text = " ".join(_sentence(asked, one.text) for one in told)
    if said is not None and said.word == "slower":  # whose row has the other reliability
        text = text.replace(" belongs to 1x", f" (for '{asked.word('faster')}') belongs to 1x")
    if bound is None or bound.value is None or asked.line.speedup is None:
        if text:
            yield ("hpt", _codes(told), _question(asked, "HPT"), text)
        return
    ours, claimed = _ours(asked), asked.bound(bound.value)
    known = {one.name: one.speedup for one in asked.found.benchmarks if one.speedup is not None}
    least, most = (asked.lines[by(known, key=known.__getitem__)] for by in (min, max))
    mean = (
        f"{ours.text}x is the mean of these {len(asked.found.benchmarks)}, by "
        f"{asked.found.outermost}s. {claimed.text}x is the largest speedup that HPT claims with "
        f"reliability {bound.required:g}: it asks what most benchmarks reach, and single ones lie "
        f"between {least.speedup.text}x and {most.speedup.text}x."
    )
    yield ("hpt", _codes(told), _either(ours, claimed), f"{mean} {text}".rstrip())


def _either(ours: Value, theirs: Value) -> tuple[Piece, ...]:
    return (ours, " or ", Value(theirs.text, theirs.value), "?")


def _alike(one: Value, other: Value) -> bool:
    """Whether two numbers are the same as far as the rougher one is written."""
    digits = min(len(value.text.partition(".")[2]) for value in (one, other))
    return round(one.value or 0.0, digits) == round(other.value or 0.0, digits)


def _weights(asked: Asked) -> Iterator[_Difference]:
    """Say what the overall speedups weigh, where they are written otherwise than the mean."""
    suite = asked.panel.answers.suite
    if suite is None or asked.line.speedup is None:
        return
    ours, overall = _ours(asked), asked.ends(suite.speedup["mean"])[0]
    if not _alike(ours, overall):
        text = (
            "The Speedup-Test divides sums of mean values, so benchmarks with large ones weigh most; "
            "the geometric mean weighs all ratios alike."
            if len(suite.benchmarks) > 1
            else "The Speedup-Test divides arithmetic means of all runs, which a few slow runs move; "
            f"the interval is of geometric means, {asked.found.outermost} by {asked.found.outermost}."
        )
        yield ("speedup-test", "", _either(ours, overall), text)


def _similar(asked: Asked) -> Iterator[_Difference]:
    """Say how the interval for other benchmarks differs from the first."""
    line, similar = asked.line, asked.found.similar
    if line.low is None or similar is None or similar.low is None:
        return
    these, others = (asked.lines[one.name].interval for one in (line, similar))
    if others != these:
        text = (
            f"The first is for these {len(asked.found.benchmarks)}, the second for others like them: "
            "it also holds how much benchmarks differ among each other."
        )
        yield ("similar", "", (f"{these} or {others}?",), text)


def _bootstrap(asked: Asked) -> Iterator[_Difference]:
    """Say how the bootstrap's interval, and its estimate, differ from the first."""
    line, result = asked.line, asked.panel.answers.bootstrap
    if line.low is None or result is None:
        return
    outermost, these = asked.found.outermost, asked.lines[line.name].interval
    value, low, high = asked.ends(result.ratio, result.low, result.high)
    ends, known = f"[{low.text}, {high.text}]", result.known_coverage
    if ends != these and known is not None and known < result.confidence - _SHORT:
        text = (
            f"With so few {asked.unit(result.unit)}s the bootstrap draws too little: in simulation such intervals held "
            f"the truth in {100 * known:.1f} % of suites and not in {100 * result.confidence:g} %."
        )
        yield ("bootstrap", "", (f"{these} or {ends}?",), text)
    ours = _ours(asked)
    if not _alike(ours, value):
        text = (
            f"The bootstrap weighs all runs that count alike; the {outermost} interval weighs "
            f"{outermost}s alike, and takes only what both sides have."
        )
        yield ("bootstrap", "", _either(ours, value), text)


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
