"""The answer of `fairtrial compare` in one sentence, and what it rests on in brackets."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...pages.number_format import counted, listed
from ...words import shown
from ..screen.sentence import REASONS
from .names import quoted, short_names
from .table_numbers import interval_of_times, seconds_text, time_text

if TYPE_CHECKING:
    from ...pages.difference import Difference
    from .answer import CompareAnswer, ComparedCommand

_LEAST_NAME = 16
_NAMED = 3  # commands that a sentence about several names

Called = Callable[["ComparedCommand"], str]


def answer_sentence(answer: CompareAnswer) -> str:
    """Say the answer in one line, with the commands whole and without what stands in brackets."""
    return " ".join(_parts(answer, lambda one: one.shown))


def answer_lines(answer: CompareAnswer, width: int) -> list[str]:
    """Say the answer and what it rests on in lines of at most `width` columns.

    A sentence that does not fit goes on in a second line at its verb; commands that are too long for a
    line are shortened. What a terminal would obey is written out.
    """
    head, *rest = _parts(answer, lambda one: shown(one.shown))
    if rest and len(" ".join((head, *rest))) <= width:
        head, rest = " ".join((head, *rest)), []
    if max(len(part) for part in (head, *rest)) > width and not _flows(answer):
        called = _short(answer, width)
        head, *rest = _parts(answer, called)
        if len(" ".join((head, *rest))) <= width:
            head, rest = " ".join((head, *rest)), []
    brackets = f"({_grounds(answer)})"
    if _flows(answer):
        called = _short(answer, width)
        return _filled(" ".join((*_parts(answer, called), brackets)), width)
    lines = [line for part in (head, *rest) for line in _filled(part, width)]
    return [*lines, *_filled(brackets, width)]


def _flows(answer: CompareAnswer) -> bool:
    """Tell whether the sentence is one that goes on over lines: that of no difference found."""
    one = _single(answer)
    return answer.answered and one is not None and one.word == "undecided"


def _single(answer: CompareAnswer) -> ComparedCommand | None:
    """Give the one command that is held against the baseline; None of several, or of none."""
    return answer.others[0] if len(answer.others) == 1 else None


def _parts(answer: CompareAnswer, called: Called) -> tuple[str, ...]:
    """Give the sentence, in two parts where it may go on at its verb."""
    if not answer.answered:
        return (_no_answer(answer, called),)
    if not answer.others:
        return _alone(answer, called)
    one = _single(answer)
    if one is None:
        return _of_several(answer, called)
    assert one.difference is not None
    ours, base = called(one), called(answer.base)
    word = one.word or "undecided"
    if one.line is not None and one.line.reason == "cut-off":
        return (f"no answer for {ours} against {base}: {REASONS['cut-off']}",)
    said = one.difference.answer(word, ours, base, margin=answer.verdict.margin)
    if word == "undecided" or not said.startswith(ours):
        return (said,)
    return ours, said[len(ours) + 1 :]


def _alone(answer: CompareAnswer, called: Called) -> tuple[str, ...]:
    base = answer.base
    if base.times.mean is None:
        return (f"no run of {called(base)} counts",)
    return called(base), f"takes {time_text(base.times.mean)}"


def _of_several(answer: CompareAnswer, called: Called) -> tuple[str, ...]:
    """Name the fastest, if each of the others is decided against it, or who may be it."""
    count = len(answer.commands)
    standing = answer.standing
    possible = [one for one in answer.commands if one.variant in answer.possible]
    if standing is None or (len(possible) == count and standing.beside):
        return (f"no fastest of {count}: nothing is decided between them",)
    within = f"within {100 * answer.verdict.margin:g} %"
    if len(possible) == count:
        return (f"all {count} take the same time, {within}",)
    leader = next(one for one in answer.commands if one.variant == standing.leader)
    if len(possible) > 1:
        tied = [called(leader), *(called(one) for one in possible if one is not leader)]
        alike = {one.variant for one in possible} <= {leader.variant, *standing.alike}
        few = len(tied) <= _NAMED and not alike
        named = " or ".join(tied) if few else f"{'' if alike else 'one of '}{listed(tied, _NAMED)}"
        why = f"the same {within}" if alike else "undecided between them"
        return f"fastest of {count}: {named}", f"({why}){_losers(answer, called)}"
    if leader is answer.base or leader.difference is None:
        return (called(leader), f"is the fastest of {count}")
    told = leader.difference
    phrase = told.phrase()
    for verb in ("is ", "takes "):
        phrase = phrase.removeprefix(verb)
    interval = f" ({told.interval()})" if told.interval() else ""
    against = f"{phrase} {told.link} {called(answer.base)}{interval}"
    return called(leader), f"is the fastest of {count}: {against}"


def _losers(answer: CompareAnswer, called: Called) -> str:
    """Say of each that cannot be the fastest what it takes more; of many how many they are."""
    losers = [one for one in answer.commands if one.variant not in answer.possible]
    if len(losers) > _NAMED:
        return f"; {len(losers)} others are slower than one of them"
    faster = next((one for one in answer.others if one.word == "faster"), None)
    told = []
    for one in losers:
        if one.word == "slower" and one.difference is not None:
            told.append(one.difference.sentence(called(one), called(answer.base)))
        elif one is answer.base and faster is not None and faster.difference is not None:
            told.append(faster.difference.turned().sentence(called(one), called(faster)))
        else:
            told.append(f"{called(one)} is slower than one of them")
    return "".join(f"; {text}" for text in told)


def _no_answer(answer: CompareAnswer, called: Called) -> str:
    """Say whose runs failed, and how many of the others' did."""
    failing = [one for one in answer.commands if one.failing is not None and not one.answered]
    if answer.base.failing is not None and answer.base not in failing:
        failing.insert(0, answer.base)
    if not failing:
        return "no answer: no run counts"
    worst = max(
        failing, key=lambda one: one.failing.failed / one.failing.runs if one.failing else 0
    )
    assert worst.failing is not None
    said = f"no answer: {worst.failing.said} of {called(worst)} failed ({worst.failing.how})"
    one = _single(answer)
    if one is None:
        return said
    other = answer.base if worst is one else one
    share = (
        f"0 of {other.times.runs}"
        if other.failing is None
        else f"{other.failing.failed} of {other.failing.runs}"
    )
    return f"{said}, {share} of {called(other)}"


def _grounds(answer: CompareAnswer) -> str:
    """Give what stands in brackets: the interval, runs, sessions, and the time of measuring."""
    one = _single(answer)
    interval = ""
    if answer.answered and not answer.others:
        interval = interval_of_times(answer.verdict)
    elif answer.answered and one is not None and one.difference is not None:
        interval = "" if one.word == "undecided" else _interval(one, one.difference)
    runs = {each.times.runs for each in answer.commands}
    sessions = max(each.times.sessions for each in answer.commands)
    each = " each" if len(answer.commands) > 1 else ""
    if len(runs) == 1:
        told = f"{counted(runs.pop(), 'run')}{each}"
    else:
        told = counted(sum(each.times.runs for each in answer.commands), "run")
    spent = f"{told} in {counted(sessions, 'session')}, {seconds_text(answer.seconds)}"
    return f"{interval}; {spent}" if interval else spent


def _interval(one: ComparedCommand, told: Difference) -> str:
    """Give the interval; of what takes the same time it has a side, which the sentence does not say."""
    said = told.interval()
    if one.word != "equivalent" or told.ratio is None or "less" in said or "more" in said:
        return said
    return f"{said} {'less' if told.ratio < 1 else 'more'}"


def _short(answer: CompareAnswer, width: int) -> Called:
    """Shorten what the commands are called so that each, with the longest words beside it, fits a line."""
    bare = _parts(answer, lambda _: "")
    names = [one.name for one in answer.commands]
    quotes = 2
    several = len(answer.others) > 1
    within = max(map(len, bare)) if not _flows(answer) else 0
    room = width - within - quotes if not several else min(width - within, 30) - quotes
    if not answer.answered:
        room = (width - quotes) // 2
    if _flows(answer):
        room = (width - len("no difference found between and :")) // 2 - quotes
    short = short_names(names, max(room, min(_LEAST_NAME, width - quotes)))
    found = {
        one.variant: one.shown
        if name == one.name
        else quoted(name)
        if one.shown != one.name
        else name
        for one, name in zip(answer.commands, short, strict=True)
    }
    return lambda one: found[one.variant]


def _filled(text: str, width: int) -> list[str]:
    """Break a sentence into lines; nothing is wider, and ``5 %`` and ``5 s`` stay together."""
    whole = re.sub(r"(?<=\d) (?=(?:%|[mµn]?s|min|h)(?!\w))", "\N{NO-BREAK SPACE}", text)
    lines = textwrap.wrap(whole, width, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
