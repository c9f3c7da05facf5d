"""Why it is slower: for each profile beside the trial, functions with intervals, counters, and who called whom."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from ...pages.difference import Difference
from ...pages.model import Block, Section, Sentence, Table, Value
from ...pages.number_format import bare_pvalue, counted, said
from ...plots.palette import style_of
from ...record.fleet import is_fleet
from ...record.profiles import profiles_of
from ...words import shown
from ..chapter import Chapter, table_of
from ..names import abridging, shortened
from .rows import Milliseconds, axis_of, axis_picture, left_out, row_picture, rows_of

if TYPE_CHECKING:
    from ...record.profiles import Profile
    from ...why.folded import Stacks
    from ...why.result import Counter, Why
    from ..subject import Subject
    from .beside import Beside, Explained, Recorded
    from .rows import FunctionRow

__all__ = ["EACH_METRIC", "chapter"]

EACH_METRIC = False  # it explains the time on the CPU, whatever is judged
_CALLS = 10  # stacks in their table
_NAME = 24  # letters of a variant's or benchmark's name
_UNFOLDED = 2  # comparisons whose rows stand open; more are a line each
_LONG = 240  # letters of a sentence
_NOTHING = 5e-7  # shares that no decimal shows
_NEAREST = 3  # callers that are named there
_CALLERS: Mapping[str | None, str] = {
    "fp": "callers by frame pointers",
    "dwarf": "callers by unwinding",
    None: "without callers",
}
_READING = (
    "Dot: how much more or less a run of the candidate takes in the function itself. Line: its interval, of this row alone. Filled, "
    "with a star: named, so that all names together are right at this level. Hollow: not proven."
)
_CANNOT = (
    "A row says where the time is, not what was changed: a stall may be charged to the caller, and rows of opposite "
    "signs in one path of calls belong together."
)

Values = Mapping[str, Any]


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None where no profile lies beside the trial."""
    trial = subject.trial
    if trial is None or not os.path.lexists(profiles_of(trial.path)) or is_fleet(trial.path):
        return None
    from .beside import beside

    shown_ones = frozenset(one.variant for one in subject.candidates)
    confidence = subject.verdict.confidence
    found = beside(trial.path, trial.manifest, shown_ones, subject.order, confidence)
    if found is None:
        return None
    values: dict[str, Any] = {
        "summary": _summary(found),
        "faults": [shown(one) for one in found.faults],
        "profiles": [_values(one) for one in found.recorded],
    }
    return Chapter(
        name="why",
        folder="why/functions",
        anchor=subject.anchor("why"),
        title="Why it differs",
        values=values,
        sections=lambda: tuple(_sections(values)),
        drawn=lambda: {
            "drawings": _drawings(found, values, subject.anchor("why")),
            "reading": _READING,
            "cannot": _CANNOT,
            "more_of": _more,
            "many": sum(len(one.explained) for one in found.recorded) > _UNFOLDED,
            "names": shortened(_names_of(subject), _NAME),
            "brief": abridging(_names_of(subject), _NAME),
        },
    )


def _names_of(subject: Subject) -> list[str]:
    """Give the names that are shortened: variants and benchmarks."""
    return [subject.baseline, *(one.variant for one in subject.candidates), *subject.order]


def _summary(found: Beside) -> str:
    answers = [one.told for each in found.recorded for one in each.explained]
    if not answers:
        return "nothing of what lies beside the trial can be shown"
    if len(answers) == 1:
        return _sentence(answers[0])
    named = sum(len(one.named) for one in answers)
    what = counted(named, "function") if named else "no function"
    return f"{what} named in {len(answers)} comparisons"


def _values(one: Recorded) -> Values:
    profile = one.stored.profile
    return {
        "variant": profile.variant,
        "baseline": profile.baseline,
        "recorded": profile.started,
        "deck": list(_deck(profile)),
        "answers": [_answer(each) for each in one.explained],
    }


def _deck(profile: Profile) -> Iterator[str]:
    """Say when and how it was recorded, and what it is no part of."""
    when = profile.started[:16].replace("T", " ")
    how = [f"{profile.event} at {profile.frequency_hz} Hz"]
    how.append("with the kernel's side" if profile.sees_kernel else "without the kernel's side")
    how.append(_CALLERS.get(profile.chains, f"callers by {profile.chains}"))
    yield (
        f"Recorded {when} UTC: {counted(profile.sessions, 'session')} of {counted(profile.timed_runs, 'timed run')} and "
        f"{counted(profile.profiled_runs, 'profiled run')} of each variant ({', '.join(how)})."
    )
    yield "None of these runs is in the verdict, and nothing else on this page rests on them."


def _answer(one: Explained) -> Values:
    told = one.told
    return {
        "told": told,
        "sentence": _sentence(told),
        "was": _was(told),
        "rows": list(rows_of(told)),
        "more": left_out(told),
        "counters": [_counter(each) for each in told.counters],
        "calls": [] if one.stacks is None else _calls(told, one.stacks),
    }


def _sentence(told: Why) -> str:
    """Give the answer in one sentence: on a page it may take two lines."""
    from ...why.sentence import sentence_of

    return shown(sentence_of(told, _LONG))


def _was(told: Why) -> str:
    """Say what the verdict was when the profile was asked for; "" where nobody knows."""
    was = told.verdict_was
    if was is None:
        return ""
    change = (
        ""
        if was.speedup is None
        else f", {was.metric} {Difference(was.speedup and 1 / was.speedup, None, None).cell()}"
    )
    return f"the verdict was {was.outcome}{change}"


def _counter(one: Counter) -> Values:
    found = Difference(one.ratio, one.low, one.high, one.metric, one.unit, one.better)
    nothing = max(abs(one.low - 1), abs(one.high - 1)) < _NOTHING
    word = said(one.word, timed=found.timed)
    return {
        "metric": one.metric,
        "change": "0 %" if nothing else found.cell(),
        "interval": "0 %" if nothing else found.cell_interval(),
        "pvalue": Value(bare_pvalue(one.pvalue_adjusted), one.pvalue_adjusted),
        "word": word,
        "style": style_of(word),
    }


def _calls(told: Why, stacks: Stacks) -> list[Values]:
    """Give the stacks that differ most themselves."""
    write = Milliseconds.of(told).value
    stands = sorted(
        (candidate - baseline, path) for path, (baseline, candidate) in stacks.items() if path
    )
    return [
        {
            "function": path[-1],
            "callers": list(path[:-1]),
            "own_baseline": write(stacks[path][0]),
            "own_candidate": write(stacks[path][1]),
            "own_difference": write(difference, signs=True),
        }
        for difference, path in sorted(stands, key=lambda one: -abs(one[0]))[:_CALLS]
    ]


# --- as sentences and tables


def _sections(values: Values) -> Iterator[Section]:
    numbers = count(1)
    if values["faults"]:
        yield Section(tuple(map(Sentence, values["faults"])))
    for one in values["profiles"]:
        blocks: list[Block] = [Sentence(text) for text in one["deck"]]
        for answer in one["answers"]:
            blocks += _answered(answer, _name(answer["told"], next(numbers)))
        title = f"{shown(one['variant'])} against {shown(one['baseline'])}"
        yield Section((*blocks, Sentence(_CANNOT)), title)


def _name(told: Why, number: int) -> str:
    """Give the name of an answer's tables, by which a file of tables tells them apart."""
    readable = re.sub(r"[^a-z0-9]+", "-", f"{told.variant}-{told.benchmark}".casefold()).strip("-")
    return f"why-{number}-{readable[:40]}".rstrip("-")


def _answered(answer: Values, name: str) -> Iterator[Block]:
    told: Why = answer["told"]
    yield Sentence(answer["sentence"])
    if answer["was"]:
        yield Sentence(f"When it was recorded, {answer['was']}.")
    yield _functions(answer["rows"], told, name)
    if answer["more"]:
        yield Sentence(_more(answer["more"]))
    if told.story:
        yield Sentence(f"Other metrics of the timed runs: {told.story}")
    if answer["counters"]:
        yield table_of(
            f"{name}-metrics",
            "<metric; change; 95 % interval; p, Holm; <word".replace(
                "95", f"{100 * told.confidence:.4g}"
            ),
            (
                (c["metric"], c["change"], c["interval"], c["pvalue"], c["word"])
                for c in answer["counters"]
            ),
        )
    if answer["calls"]:
        yield _calls_table(answer["calls"], told, f"{name}-calls")
    yield from (Sentence(shown(caution.text)) for caution in told.cautions)


def _functions(rows: Sequence[FunctionRow], told: Why, name: str) -> Table:
    level = f"{100 * told.confidence:.4g} %"
    heads = f"<function; {told.baseline}, ms; {told.variant}, ms; difference, ms; {level} from; to; p, Holm; <named"
    columns = heads.replace(told.baseline, shown(told.baseline)).replace(
        told.variant, shown(told.variant)
    )
    cells = (
        (
            shown(r.name),
            r.baseline,
            r.candidate,
            r.difference,
            r.low,
            r.high,
            r.pvalue,
            "*" if r.named else "",
        )
        for r in rows
    )
    return table_of(name, columns, cells)


def _calls_table(calls: Sequence[Values], told: Why, name: str) -> Table:
    """Give the table of what differs most, by path of calls."""
    heads = f"<function; <called by; itself in {shown(told.baseline)}, ms; in {shown(told.variant)}, ms; difference, ms"
    return table_of(
        name,
        heads,
        (
            (
                shown(one["function"]),
                shown(_path(one["callers"])),
                one["own_baseline"],
                one["own_candidate"],
                one["own_difference"],
            )
            for one in calls
        ),
    )


def _path(callers: Sequence[str]) -> str:
    """Name the nearest callers, the nearest first."""
    return " < ".join([*reversed(callers)][:_NEAREST]) + (" < …" if len(callers) > _NEAREST else "")


def _more(more: int) -> str:
    return f"{counted(more, 'more function')}: fairtrial why --stored lists all."


# --- for the page


def _drawings(found: Beside, values: Values, anchor: str) -> list[list[Values]]:
    """Give for each answer the pictures of its rows, their axis, and the table of calls."""
    number = count(1)
    return [
        [
            _drawn(each, answer, f"{anchor}-ground-{next(number)}")
            for each, answer in zip(one.explained, of["answers"], strict=True)
        ]
        for one, of in zip(found.recorded, values["profiles"], strict=True)
    ]


def _drawn(one: Explained, answer: Values, ground: str) -> Values:
    rows: Sequence[FunctionRow] = answer["rows"]
    axis = axis_of(rows)
    return {
        "rows": [row_picture(axis, row, ground, first=not k) for k, row in enumerate(rows)],
        "axis": axis_picture(axis),
        "calls": _calls_table(answer["calls"], one.told, ground) if answer["calls"] else None,
    }
