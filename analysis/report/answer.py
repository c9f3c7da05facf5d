"""The first screen: the verdict in words, the forest of speedups, the cautions that matter."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..pages import number_format as figures
from ..pages.model import Column, Section, Sentence, Table, Value
from ..verdict.cautions import shown_cautions
from ..words import shortened, shown
from . import answer_forest as drawing
from .answer_forest import DENSE, NOTHING, columns_of
from .answer_headline import about, headline, level, measured, reading, text_of
from .page import Chapter
from .subject import Name, abridging, names_of
from .written import few_sessions

if TYPE_CHECKING:
    from ..pages.model import Caution
    from .subject import Subject

__all__ = ["chapter"]

_SOURCE = 36  # characters of a source's name
_BESIDE = 3  # candidates that stand beside each other
_FAILED = {
    *("failed-left-out", "failures-without-sessions"),
    *("fails-more", "fails-always", "fails-in-one-session"),
}
_HAPPENED = {  # the chapter on the trial as it happened shows them
    *("waited-for-cpu", "waited-unequally", "suspended-runs"),
    *("disturbed-runs", "drift-within-sessions", "dependent-runs", "first-run-apart"),
    *("environment-changed", "input-changed", "sessions-left-out", "sessions-missing"),
}
_HOSTS = {
    *("hosts-disagree", "one-host", "binary-differs", "few-hosts"),
    *("host-missing", "host-failed", "host-unfinished", "host-left-out"),
}
_SILENT = {"one-variant"}  # the headline says it
_FEW = 3  # benchmarks of which each is marked, however few there are


def chapter(subject: Subject) -> Chapter:
    """Give the first screen."""
    verdict = subject.verdict
    spoken = headline(verdict)
    lines = (
        line.name
        for one in subject.candidates
        if one.multilevel
        for line in one.multilevel.benchmarks
    )
    names = names_of(tuple(dict.fromkeys((*subject.order, *lines))))
    variants = names_of((subject.baseline, *(one.variant for one in subject.candidates)))
    columns = columns_of(subject, names, variants, _marked(subject))
    form = "alone"
    if columns:
        form = "columns" if len(columns) <= _BESIDE else "matrix"
    rows = [row for one in columns for row in (*one["rows"], *one["suite"]) if "counts" not in row]
    cautions = _cautions(subject)
    values: dict[str, Any] = {
        "headline": text_of(spoken),
        "spoken": spoken,
        "kicker": about(subject),
        "deck": measured(subject),
        "baseline": variants[subject.baseline] if columns else None,
        "metric": verdict.metric,
        "form": form,
        "dense": len(subject.order) > DENSE,
        "columns": columns,
        "alone": _alone(subject, names),
        "sources": _sources(subject),
        "level": level(verdict),
        "order": _order(subject),
        "reading": reading(verdict, rows, beside=len(columns) if form == "columns" else 1),
        "doubts": cautions,
        "shown": len(shown_cautions(verdict).cautions),
        "certificate": "" if verdict.certificate is None else verdict.certificate.sentence,
        "panel": subject.anchor("panel") if any(one.panel for one in subject.candidates) else "",
    }
    anchor = subject.anchor("answer")
    return Chapter(
        name="answer",
        folder="answer",
        anchor=anchor,
        title="",
        values=values,
        sections=lambda: tuple(_sections(anchor, values)),
        drawn=lambda: {
            "cell": partial(drawing.cell, dense=values["dense"]),
            "axis": drawing.axis,
            "key": drawing.key(strokes=any(row["sessions"] for row in rows)),
            # the first stands last: where another is the target, it hides the one after it
            "fulls": (*columns[1:], *columns[:1]),
        },
        headline=values["headline"],
    )


def _alone(subject: Subject, names: Mapping[str, Name]) -> list[dict[str, Any]]:
    """Give the times of the only variant; none where variants are compared."""
    verdict = subject.verdict
    found = []
    for one in verdict.alone:
        ends = (one.mean, one.low, one.high, one.minimum, one.maximum)
        mean, low, high, lowest, highest = (_quantity(value, verdict.unit) for value in ends)
        by = f"{one.unit}s of one {verdict.outermost}"
        found.append(
            {
                "name": names.get(one.benchmark)
                or Name(one.benchmark, *2 * (shown(one.benchmark),)),
                "link": subject.anchor("benchmark", one.benchmark),
                "mean": mean,
                "low": low,
                "high": high,
                "half": NOTHING if few_sessions(verdict) else _half(one.low, one.high),
                "lowest": lowest,
                "highest": highest,
                "runs": Value(f"{one.runs}", one.runs),
                "by": f"{one.sessions} {verdict.outermost}s" if one.unit == "session" else by,
            }
        )
    return found


def _quantity(value: float | None, unit: str) -> Value:
    return NOTHING if value is None else Value(figures.quantity(value, unit), value)


def _half(low: float | None, high: float | None) -> Value:
    """Give half the width of an interval that is symmetric in logs, in percent of its middle."""
    if low is None or high is None:
        return NOTHING
    half = 100 * (math.sqrt(high / low) - 1)
    return Value(f"±\N{NO-BREAK SPACE}{figures.significant(half, 2)}\N{NO-BREAK SPACE}%", half)


def _sources(subject: Subject) -> list[Name]:
    """Give two sources, the candidate's first; none where the variants' names say it."""
    given = subject.sources
    called = {subject.baseline, *(one.variant for one in subject.candidates)}
    if len(given) != 2 or set(given) <= called:
        return []
    return list(names_of(given, _SOURCE, narrow=24).values())


def _order(subject: Subject) -> str:
    """Say by what the lines are sorted; "" where there is one, or none is compared."""
    compared = subject.candidates
    if len(subject.order) < 2 or not compared or compared[0].multilevel is None:
        return ""
    if len(compared) == 1:
        return "Sorted by speedup."
    first = compared[0].variant
    name = shortened([one.variant for one in compared], 24)[first]
    return f"Sorted by the speedup of {name}, in each column alike."


# ---- in all forms but HTML


def _sections(anchor: str, values: Mapping[str, Any]) -> Iterator[Section]:
    """Give one table for each candidate, all benchmarks in it."""
    told = [Sentence(values["headline"])] if anchor != "answer" else []
    told += [Sentence(text_of(paragraph)) for paragraph in values["deck"]]
    for side, name in zip(("candidate", "baseline"), values["sources"], strict=False):
        told.append(Sentence(f"{side}: {name.text}"))
    yield Section(tuple(told))
    if values["alone"]:
        numbers = ("mean", "low", "high", "half-width", "lowest", "highest", "runs")
        rows = (
            (
                one["name"].whole,
                *(one[number.removesuffix("-width")] for number in numbers),
                one["by"],
            )
            for one in values["alone"]
        )
        yield Section((_table(f"{anchor}-alone", ("", *numbers, "by"), rows, left={0, 8}),))
    for column in values["columns"]:
        yield _column(column, "" if values["baseline"] is None else values["baseline"].whole)
    if values["certificate"]:
        yield Section((Sentence(values["certificate"]),))


def _column(column: Mapping[str, Any], base: str) -> Section:
    name = column["candidate"].whole
    if column["axis"] is None:
        return Section((), title=f"{name}: {column['over']}")
    answer = f"{column['lead']['word']} " if column["lead"] else ""
    numbers = ("baseline", "candidate", "speedup", "low", "high", "word")
    rows = (
        (
            row["name"].whole,
            *(row[number] for number in numbers),
            "; ".join(text for text in (row["note"], row["advice"]) if text),
        )
        for row in (*(column["every"] or column["rows"]), *column["suite"])
    )
    headings = ("", base, name, "speedup", "low", "high", "", "")
    table = _table(column["anchor"], headings, rows, left={0, 6, 7})
    remark = (Sentence(column["remark"]),) if column["remark"] else ()
    return Section((table, *remark), title=f"{name} against {base}: {answer}{column['over']}")


def _table(
    name: str, headings: Sequence[str], rows: Iterator[tuple[str | Value, ...]], left: set[int]
) -> Table:
    columns = (
        Column(heading, "left" if k in left else "right") for k, heading in enumerate(headings)
    )
    return Table(name=name, columns=tuple(columns), rows=tuple(rows))


# ---- cautions


def _cautions(subject: Subject) -> list[dict[str, Any]]:
    """Give the cautions with their numbers, the gravest first, and the place that shows each."""
    names = (subject.baseline, *(one.variant for one in subject.candidates), *subject.order)
    brief = abridging(names)

    def written(text: str) -> str:
        return _sentence(shown(brief(text)).replace(" %", "\N{NO-BREAK SPACE}%"), names)

    whole = {one: written(one.text) for one in subject.verdict.cautions}
    found = []
    for number, one in enumerate(_told(subject), 1):
        link, look = _leads_to(subject, one)
        doubt = {"number": number, "code": one.code, "text": written(one.text)}
        found.append({**doubt, "whole": whole[one], "link": link, "look": look})
    return found


def _marked(subject: Subject) -> Mapping[tuple[str, str], tuple[int, ...]]:
    """Give the numbers that a line bears: under (candidate, benchmark), or ("", benchmark).

    A caution about most benchmarks touches no line more than another, and marks none. What names no
    candidate stands at the benchmark's name, under "".
    """
    found: dict[tuple[str, str], tuple[int, ...]] = {}
    candidates = {one.variant for one in subject.candidates}
    for number, one in enumerate(_told(subject), 1):
        for variant in [name for name in one.about if name in candidates] or [""]:
            for bench in _benchmarks(subject, one):
                found[variant, bench] = (*found.get((variant, bench), ()), number)
    return found


def _told(subject: Subject) -> list[Caution]:
    """Give those of a first screen in their short words, then all others."""
    first = shown_cautions(subject.verdict).cautions
    return [
        *first,
        *(x for x in subject.verdict.cautions if x not in first and x.code not in _SILENT),
    ]


def _benchmarks(subject: Subject, caution: Caution) -> tuple[str, ...]:
    """Give the benchmarks that a caution marks."""
    known = set(subject.order)
    about = tuple(name for name in caution.about if name in known)
    return about if len(about) <= max(_FEW, len(known) // 2) and len(about) < len(known) else ()


def _leads_to(subject: Subject, caution: Caution) -> tuple[str, str]:
    """Give the id of the place that shows it, and the words of the link; both "" for none."""
    if subject.verdict.hosts and caution.code in _HOSTS:
        return subject.anchor("conditions").removeprefix(subject.prefix), "see the hosts"
    if caution.code in _FAILED and subject.trials:
        return subject.anchor("failed"), "see the failed runs"
    benches = _benchmarks(subject, caution)
    if caution.code not in _HAPPENED and benches:
        return subject.anchor("benchmark", benches[0]), "look at the runs"
    if (caution.code.startswith("host-") or caution.code in _HAPPENED) and subject.trials:
        return subject.anchor("happened"), "see when"
    return "", ""


def _sentence(text: str, names: tuple[str, ...]) -> str:
    """Begin with a capital, unless the first word is a name; the full stop is the page's."""
    first = text.split(" ", 1)[0]
    capital = first.isalpha() and first.islower() and first not in names
    text = text.rstrip(".")
    return f"{text[:1].upper()}{text[1:]}" if capital else text
