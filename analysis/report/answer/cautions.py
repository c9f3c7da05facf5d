"""The cautions with their numbers: where they lead to, and which lines they touch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...words import shown
from ..names import abridging

if TYPE_CHECKING:
    from ...pages.model import Caution
    from ..subject import Subject

__all__ = ["OPEN", "cautions_of", "marked_lines"]

OPEN = 6  # cautions that stand open; the others are folded
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


def cautions_of(subject: Subject) -> list[dict[str, Any]]:
    """Give the cautions with their numbers, the gravest first, and the place that shows each."""
    names = (subject.baseline, *(one.variant for one in subject.candidates), *subject.order)
    brief = abridging(names)
    found = []
    for number, one in enumerate(_told(subject), 1):
        link, look = _leads_to(subject, one)
        text = shown(brief(one.text)).replace(" %", "\N{NO-BREAK SPACE}%")
        text = _sentence(text, names)
        found.append({"number": number, "code": one.code, "text": text, "link": link, "look": look})
    return found


def marked_lines(subject: Subject) -> Mapping[tuple[str, str], tuple[int, ...]]:
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
    return [one for one in subject.verdict.cautions if one.code not in _SILENT]


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
