"""The page of a bisection: the answer and whose it is, the search, the numbers of the proofs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...history.bisection.sentence import name_of, next_of, with_interval
from ...pages.difference import Difference
from ...pages.number_format import counted, listed, said, significant, timed
from ...words import shown
from ..chapter import Chapter
from ..model import Report
from ..names import in_short, kicker, metric_said
from ..shell import html_page
from .proofs import axis_of, axis_picture, pair_picture, pairs_of
from .search_picture import picture

if TYPE_CHECKING:
    from ...history.bisection.result import Bisection, NamedCommit, OtherMetric, ProvenStep

__all__ = ["bisection_html"]

_SUBJECT, _AUTHOR, _WHY = 90, 40, 140
_ROWS = 200  # of a table of commits


def bisection_html(bisection: Bisection) -> str:
    """Give a bisection as one HTML file that needs nothing else.

    Parameters
    ----------
    bisection : Bisection
        What was found, or has been found so far.

    Returns
    -------
    str
        The page: the same bytes for the same bisection.
    """
    chapters = [_answer(bisection)]
    if pairs_of(bisection):
        chapters.append(_proof(bisection))
    if bisection.posterior or bisection.probes or bisection.skipped or bisection.open:
        chapters.append(_search(bisection))
    title = f"{name_of(bisection.good)}..{name_of(bisection.bad)}"
    return html_page(
        Report(
            title=title,
            headline=bisection.sentence,
            metrics=(bisection.metric,),
            chapters=tuple(chapters),
            cautions=bisection.cautions,
        )
    )


# --- the answer


def _answer(told: Bisection) -> Chapter:
    following = next_of(told)
    values: dict[str, Any] = {
        "kicker": kicker(
            "bisect",
            told.campaign,
            metric_said(told.metric, told.better),
            in_short(told.host or ""),
            counted(told.commits, "commit"),
        ),
        "headline": told.sentence,
        "deck": list(_deck(told)),
        "culprits": [_culprit(told, one) for one in told.culprits],
        "cautions": [one.text for one in told.cautions],
        "following": None if following is None else (following.line, following.why),
    }
    return Chapter(
        name="answer",
        folder="bisection/answer",
        anchor="answer",
        title="",
        values=values,
        sections=tuple,
        headline=told.sentence,
    )


def _deck(told: Bisection) -> Iterator[str]:
    good, bad = name_of(told.good), name_of(told.bad)
    over = f", the mean over {len(told.benchmarks)} benchmarks" if len(told.benchmarks) > 1 else ""
    if len(told.benchmarks) == 1:
        over = f", on {in_short(told.benchmarks[0])}"
    yield (
        f"{told.commits} commits from {good} to {bad}{over}; differences within "
        f"{100 * told.margin:g} % count as none."
    )
    took = [counted(told.sessions, "session")]
    if told.answer is not None:  # runs are counted at the end
        took.append(counted(told.runs, "run"))
    took.append(f"{counted(told.builds, 'commit')} built")
    if told.skipped:
        took.append(f"{len(told.skipped)} skipped")
    if told.seconds:
        took.append(_time(told.seconds))
    yield f"{', '.join(took)}. A commit is named only after a proof on sessions of its own."
    if told.state == "under-way":
        yield "The search is not finished: this is what it has found so far."
    for one in told.open:
        many = one.last - one.first + 1
        where = _short(one.upto) if many == 1 else f"one of {many} commits up to {_short(one.upto)}"
        yield f"Open: {where}, with probability {one.probability:.2f} ({in_short(one.why, _WHY)})."
    if told.other_metrics:
        words = [f"{in_short(one.metric)} {_change(one)}" for one in told.other_metrics]
        yield f"On the same sessions: {listed(words, 6)}."


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _change(one: OtherMetric) -> str:
    if one.word == "equivalent":
        return "the same"
    if one.word not in ("faster", "slower"):
        return "undecided"
    found = Difference.of(one, metric=one.metric, unit=one.unit, better=one.better)
    return f"{found.cell()} ({said(one.word, timed=timed(one.unit))})"


def _culprit(told: Bisection, one: ProvenStep) -> Mapping[str, Any]:
    share = ""
    if one.share is not None and 0 < one.share < 2:
        share = f"{significant(100 * one.share, 2)} % of the whole"
    than = "its parent" if len(one.commits) == 1 else _short(one.after)
    return {
        "style": "faster" if one.word == "faster" else "slower",
        "several": len(one.commits) > 1,
        "commits": [_commit(commit) for commit in reversed(one.commits)],
        "text": with_interval(told, one, than),
        "evidence": ", ".join(
            filter(
                None,
                (
                    f"{counted(one.sessions, 'fresh session')} at a risk of "
                    f"{significant(100 * one.risk, 2)} %",
                    share,
                ),
            )
        ),
        "trial": one.trial or "",
    }


def _commit(one: NamedCommit) -> Mapping[str, Any]:
    return {
        "place": one.place,
        "short": _short(one.commit),
        "sha": shown(one.commit),
        "date": shown(one.date[:10]),
        "author": in_short(one.author, _AUTHOR),
        "subject": in_short(one.subject, _SUBJECT),
    }


def _short(sha: str) -> str:
    return shown(sha[:7])


# --- the search


def _search(told: Bisection) -> Chapter:
    names = (name_of(told.good), name_of(told.bad))
    probable = sorted(told.posterior, key=lambda one: -one.probability)
    values: dict[str, Any] = {
        "picture": picture(told, names),
        "reading": list(_reading(told)),
        "probes": [
            {
                **_commit(one),
                "sessions": one.sessions,
                "slow": "" if one.slow_already is None else f"{one.slow_already:.2f}",
            }
            for one in told.probes[:_ROWS]
        ],
        "more_probes": max(0, len(told.probes) - _ROWS),
        "posterior": [
            {**_commit(one), "probability": f"{one.probability:.3f}"} for one in probable[:_ROWS]
        ],
        "more_posterior": max(0, len(probable) - _ROWS),
        "skipped": [
            {**_commit(one), "why": in_short(one.why, _WHY)} for one in told.skipped[:_ROWS]
        ],
        "more_skipped": max(0, len(told.skipped) - _ROWS),
    }
    return Chapter(
        name="search",
        folder="bisection/search",
        anchor="search",
        title="The search",
        values=values,
        sections=tuple,
    )


def _reading(told: Bisection) -> Iterator[str]:
    if told.posterior:
        yield "Above: how likely the step is each commit's, by the newest sessions that looked for it there."
        if told.culprits:
            yield "Coloured: it was proven."
    if told.open:
        yield "Shaded: commits that hold a step which is not proven."
    if told.probes:
        yield "Below: the sessions in which a commit was measured between both ends."
    if told.skipped:
        yield "Cross: it cannot be measured."


# --- the proofs


def _proof(told: Bisection) -> Chapter:
    pairs = pairs_of(told)
    axis = axis_of(pairs, told.margin)
    return Chapter(
        name="proof",
        folder="bisection/proof",
        anchor="proof",
        title="The numbers",
        values={"pairs": pairs, "margin": f"{100 * told.margin:g} %"},
        sections=tuple,
        drawn=lambda: {
            "pictures": [pair_picture(axis, one, k) for k, one in enumerate(pairs)],
            "axis": axis_picture(axis),
        },
    )
