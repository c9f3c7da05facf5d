"""The screen of a bisection: the answer, whose commits they are, the numbers of each proof, what is left, notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...announcing import cells, cut
from ...pages.difference import Difference
from ...pages.model import (
    Block,
    Note,
    Page,
    Section,
    Sentence,
    Table,
    columns_of,
    page_of,
)
from ...pages.number_format import counted, listed, significant
from ...words import WIDTH, normal, shown
from .result import Bisection, OpenStep, OtherMetric, ProvenStep
from .sentence import difference_of, name_of, next_of, parent_of, sentence_of, with_interval

if TYPE_CHECKING:
    from ..search_result import PairWord

_NOTES = 3
_STEPS = 4  # culprits with their evidence
_COMMITS = 4  # of one culprit that may be any of several
_ROWS = 3  # of what is open, refuted, skipped
_ODD_SHARE = 2.0  # from there on steps take each other back
_AUTHOR = 18
_SUBJECT = 60
_BESIDE = 7 + 10 + 3 * 2  # columns of SHA and date, and between the four
_TEXT = 68  # columns of a line of evidence that cannot be broken by its signs
_PHASES = {"step0": "is there a difference", "search": "search", "proof": "proof"}


@page_of.register(Bisection)
def _bisection_page(told: Bisection) -> Page:
    blocks: list[Block] = []
    if told.culprits:
        blocks.append(_who(told))
    rows = [(label, _narrow(text)) for label, text in _evidence(told)]
    sections = [Section((Sentence(sentence_of(told)),)), Section(tuple(blocks))]
    if rows:
        sections.append(
            Section(
                (
                    Table(
                        name="evidence",
                        columns=columns_of("<", "<"),
                        rows=tuple(rows),
                        headed=False,
                    ),
                )
            )
        )
    sections.append(Section(tuple(map(Sentence, _took(told)))))
    below: list[Block] = [Note(text) for text in _notes(told)]
    command = next_of(told)
    below += [command] if command is not None else []
    return Page(
        title=f"Bisection of {name_of(told.good)}..{name_of(told.bad)}",
        sections=tuple(sections),
        following=(Section(tuple(below)),) if below else (),
    )


def _narrow(text: str) -> str:
    """Make a text harmless; where signs are wide or joined it is cut to one line, as lines are broken by signs."""
    plain = shown(text)
    return plain if cells(plain) == len(plain) else cut(plain, _TEXT)


def _who(told: Bisection) -> Table:
    commits = [commit for one in told.culprits[:_STEPS] for commit in one.commits[-_COMMITS:]]
    authors = [_fit(one.author, _AUTHOR) for one in commits]
    room = (
        WIDTH
        - _BESIDE
        - max(map(len, authors))
        - max(0, *(cells(one) - len(one) for one in authors))
    )
    rows = tuple(
        (one.short, one.date[:10], author, _fit(one.subject, min(room, _SUBJECT)))
        for one, author in zip(commits, authors, strict=True)
    )
    return Table(name="culprits", columns=columns_of("<", "<", "<", "<"), rows=rows, headed=False)


def _fit(text: str, width: int) -> str:
    """Cut a text of others to so many columns, and to as many signs: joined ones take no column."""
    short = cut(shown(normal(text)), width)
    return short if len(short) <= width else f"{short[: width - 1]}…"


def _evidence(told: Bisection) -> Iterator[tuple[str, str]]:
    good, bad = name_of(told.good), name_of(told.bad)
    first = told.first
    if told.answer not in (None, "not-built") and first.speedup is not None and first.sessions:
        yield "whole", f"{bad} {_pair(told, first, good)}, {counted(first.sessions, 'session')}"
    for one in told.culprits[:_STEPS]:
        yield from _proof(told, one, several=len(told.culprits) > 1)
    if len(told.culprits) > _STEPS:
        more = len(told.culprits) - _STEPS
        yield "", f"and {counted(more, 'more commit')}: --json has all"
    for left in told.open[:_ROWS]:
        yield "open", _open(left)
    if len(told.open) > _ROWS:
        yield "open", f"and {len(told.open) - _ROWS} more"
    for refuted in told.refuted[:_ROWS]:
        yield (
            "refuted",
            f"{refuted.upto[:7]} {_pair(told, refuted, parent_of(refuted))}, {_fresh(refuted)}",
        )
    if told.other_metrics:
        yield "other", _others(told)
    if told.skipped and told.answer != "not-built":
        names = [f"{one.short} {_why(one.why)}" for one in told.skipped]
        yield "skipped", listed(names, 2, mark="; ")
    elif told.answer == "not-built":
        for end in told.skipped:
            yield end.short, _why(end.why)
    if told.answer is None and told.phase is not None:
        yield "now", _PHASES[told.phase]


def _proof(told: Bisection, one: ProvenStep, *, several: bool) -> Iterator[tuple[str, str]]:
    parts = [_fresh(one)]
    if one.share is not None and 0 < one.share < _ODD_SHARE:
        parts.append(f"{significant(100 * one.share, 2)} % of the whole")
    if several:
        yield one.upto[:7], with_interval(told, one, parent_of(one))
    yield "proof", "; ".join(parts)
    sides = (("before it", one.before), ("behind it", one.behind))
    left = [f"{side} {_rest(told, pair)}" for side, pair in sides if pair.speedup is not None]
    if left:
        yield "left", "; ".join(left)


def _fresh(one: ProvenStep) -> str:
    return f"{one.sessions} fresh sessions at a risk of {significant(100 * one.risk, 2)} %"


def _pair(told: Bisection, line: PairWord | ProvenStep, than: str) -> str:
    """Say how a later commit differs from an earlier one, as its word allows."""
    found = difference_of(told, line)
    if line.word in ("faster", "slower"):
        return with_interval(told, line, than)
    ends = f" ({found.interval()})" if found.interval() else ""
    if line.word == "equivalent":
        return f"{found.same()} as {than}{ends}"
    return f"against {than}: undecided{ends}"


def _rest(told: Bisection, pair: PairWord) -> str:
    """Say what is left on one side of a culprit."""
    found = difference_of(told, pair)
    return f"{found.cell()} ({found.cell_interval()})"


def _others(told: Bisection) -> str:
    return listed([f"{cut(shown(one.metric), 24)} {_change(one)}" for one in told.other_metrics], 3)


def _change(one: OtherMetric) -> str:
    """Say how bad has another metric: ``+31 %``, ``the same``, ``undecided``."""
    if one.word == "equivalent":
        return "the same"
    found = Difference.of(one, metric=one.metric, unit=one.unit, better=one.better)
    return found.cell() if one.word in ("faster", "slower") else "undecided"


def _open(left: OpenStep) -> str:
    many = left.last - left.first + 1
    where = (
        left.upto[:7]
        if many == 1
        else f"one of {many} commits behind {left.after[:7]} up to {left.upto[:7]}"
    )
    return f"{where}, with probability {left.probability:.2f} ({left.why})"


def _why(text: str) -> str:
    return cut(" ".join(shown(text.replace("\n", " ")).split()), 50)


def _took(told: Bisection) -> Iterator[str]:
    parts = [counted(told.sessions, "session")]
    if told.answer is not None:  # runs are counted at the end
        parts.append(counted(told.runs, "run"))
    parts.append(counted(told.builds, "commit") + " built")
    if told.skipped and told.answer != "not-built":
        parts.append(f"{len(told.skipped)} skipped")
    if told.seconds:
        parts.append(_time(told.seconds))
    yield f"{', '.join(parts)}; {counted(told.commits, 'commit')} in all"
    if told.path is not None:
        yield f"stored in {told.path}"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _notes(told: Bisection) -> Iterator[str]:
    noted = [
        one
        for one in told.cautions
        if one.code != "other-metric" or told.first.word not in ("faster", "slower")
    ]  # beside a difference that is found, the line of other metrics is enough
    shown_, rest = noted[:_NOTES], noted[_NOTES:]
    if rest:
        shown_, rest = noted[: _NOTES - 1], noted[_NOTES - 1 :]
    for one in shown_:
        yield one.text
    if rest:
        yield f"and {len(rest)} more: --json has all"
