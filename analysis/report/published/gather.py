"""Gathers the panel's values: a row for each method, the reasons, the decision paths."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..written import written_of
from .answering import ANSWERS, Asked, asked_of, missing
from .deciding import path_of
from .differing import reasons_of
from .result import MethodAnswer, MethodRow, MethodsPanel, Reason

if TYPE_CHECKING:
    from ..chapter import OldChapter
    from ..subject import Subject

__all__ = ["gather"]

_ALL_PATHS = 4  # candidates up to which all have their paths on the page
_NAMES = {
    "these": "fairtrial",
    "similar": "fairtrial, others",
    "hpt": "HPT",
    "speedup-test": "Speedup-Test",
    "randomization": "Randomization",
    "bootstrap": "Bootstrap",
    "mixtures": "Mixtures",
    "friedman": "Friedman",
}
_TOLD = {"hpt": "HPT", "randomization": "randomization", "bootstrap": "bootstrap"} | {
    "mixtures": "mixtures",
    "friedman": "Friedman",
}
_UNITS = {  # with what is outermost
    "one session, blocks": "block of one {}",
    "one session, runs": "run of one {}",
    "confounded": "none, as no {} holds both variants",
}


def gather(subject: Subject) -> OldChapter | None:
    """Give the chapter; None where nothing was compared."""
    lines = written_of(subject)
    asked = [
        found
        for one in subject.candidates
        if (found := asked_of(one, lines.get(one.variant, {}))) is not None
        and (found.found.these is not None or found.found.benchmarks)
    ]
    if not asked:
        return None
    reasons = reasons_of(asked, subject.anchor)
    names = tuple(one.variant for one in subject.candidates)
    shown = asked if len(asked) <= _ALL_PATHS else asked[:1]
    differ = "Where their answers differ, the reason stands below." if reasons else ""
    return MethodsPanel(
        anchor=subject.anchor("panel"),
        title="What the published methods say of the same runs",
        lead=f"They ask different questions. {differ}".rstrip(),
        baseline=subject.baseline,
        candidates=names,
        rows=tuple(_rows(subject, asked, names, reasons)),
        reasons=reasons,
        paths=tuple(path_of(subject, one, number) for number, one in enumerate(shown, 1)),
        on_request=tuple(_commands(subject, asked[len(shown) :])),
    )


def _rows(
    subject: Subject, asked: Sequence[Asked], names: Sequence[str], reasons: Sequence[Reason]
) -> Iterator[MethodRow]:
    by_name = {one.name: one for one in asked}
    if any("all" in one.told for one in asked):
        yield MethodRow(
            key="all",
            anchor=subject.anchor("panel-all"),
            method="All methods",
            question="ratios of runs",
            unit="run",
            answers=tuple(_refusal(name, by_name.get(name)) for name in names),
        )
    for key, answer in ANSWERS.items():
        if not any(_asked_for(key, one) for one in asked):
            continue
        answers = [
            answer(by_name[name])
            if name in by_name and _asked_for(key, by_name[name])
            else missing(name)
            for name in names
        ]
        yield MethodRow(
            key=key,
            anchor=subject.anchor(f"panel-{key}"),
            method=_NAMES[key],
            question=_question(key, asked),
            unit=_unit(key, asked),
            answers=tuple(_linked(one, key, reasons) for one in answers),
        )


def _asked_for(key: str, one: Asked) -> bool:
    """Tell whether a method answered on a candidate, if only that it cannot."""
    if key == "these":
        return True
    if key == "similar":
        return one.found.similar is not None and one.found.similar.low is not None
    if key == "speedup-test":
        return any(method.startswith("Speedup-Test") for method in one.told)
    return _TOLD[key] in one.told


def _refusal(name: str, one: Asked | None) -> MethodAnswer:
    told = None if one is None else one.told.get("all")
    return missing(name) if told is None else MethodAnswer(candidate=name, first=(told.answer,))


def _linked(answer: MethodAnswer, key: str, reasons: Sequence[Reason]) -> MethodAnswer:
    anchors = tuple(
        reason.anchor
        for reason in reasons
        if reason.method == key
        and any(one.candidate in ("", answer.candidate) for one in reason.questions)
    )
    return replace(answer, reasons=anchors)


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
        return _joined(
            _UNITS.get(one.found.design, "{}").format(one.found.outermost) for one in asked
        )
    if key == "similar":
        return _joined(f"{_own(one, 'session')} and benchmark" for one in asked)
    if key == "hpt":
        return "run, then benchmark"
    if key == "friedman":
        return "benchmark; false alarms in 31 to 41\u00a0% of trials of one program"
    if key == "randomization":
        drawn = ((one, one.panel.answers.randomized) for one in asked)
        return _joined(_own(one, its.unit) for one, its in drawn if its is not None) or "none"
    if key == "bootstrap":
        found = [one.panel.answers.bootstrap for one in asked]
        both = zip(asked, found, strict=True)
        units = _joined(_own(one, its.unit) for one, its in both if its is not None) or "none"
        held = {one.known_coverage for one in found if one is not None} - {None}
        if not held:
            return units
        span = " to ".join(f"{100 * share:.1f}" for share in sorted({min(held), max(held)}))  # type: ignore[type-var, operator]
        return f"{units}; held {span}\u00a0% in simulation"
    return "run"


def _own(asked: Asked, unit: str) -> str:
    """Say host where a method took each host of a fleet for a session."""
    return asked.found.outermost if unit == "session" else unit


def _joined(words: Iterator[str]) -> str:
    return " or ".join(dict.fromkeys(words))


def _commands(subject: Subject, others: Sequence[Asked]) -> Iterator[str]:
    """Give the commands that print the paths of candidates that have none on the page."""
    if not others:
        return
    source = subject.sources[0]
    metric = () if subject.verdict.usual else ("--metric", subject.verdict.metric)
    for command in ("hpt", "speedup-test", "resample"):
        yield shlex.join(["fairtrial", command, f"{source}:{others[0].name}", *metric])
