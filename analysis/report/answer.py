"""The first screen: the verdict in words, what was measured, the forest of speedups, the table of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from typing import Any

from ..data.host_record import settings_of
from ..data.trial import Trial
from ..errors import AnalysisError
from ..methods.multilevel.page import looks_text
from ..methods.multilevel.result import Multilevel
from ..pages.model import Section, section
from ..pages.number_format import counted, is_time
from ..verdict.cautions import layouts_sentences
from ..verdict.fleet import like_these_text
from ..verdict.result import Verdict, amount_on_hosts
from ..verdict.sentence import family, word
from ..words import Name
from .assembling import Chapter, chapter_of, picture_of
from .subject import (
    Subject,
    brief_of,
    brief_sections,
    column_of,
    few_sessions,
    level_of,
    level_text,
    standing_of,
    written,
)

_WIDE = 110.0  # mm
_DESCRIPTION = 200  # characters of a campaign's description
_ORDERS = {
    "shuffled": "interleaved, each block in a new order",
    "interleaved": "interleaved, each block in the same order",
    "alternating": "interleaved, the order turned round from block to block",
    "drawn-start": "interleaved, the order turned round from block to block, the first drawn",
    "sequential": "one variant after the other",
}
_RULES = {"holm": "Holm's", "bh": "Benjamini and Hochberg's"}


def chapter(subject: Subject) -> Chapter:
    """Give the first screen; what it is about stands in `lead`, the line above the headline."""
    text, lead = headline(subject.verdict), _about(subject)
    return chapter_of(subject, "answer", "", partial(_sections, subject), headline=text, lead=lead)


def headline(verdict: Verdict) -> str:
    """Say the verdict's sentence, of a fleet also what holds on hosts like these."""
    first = verdict.candidates[0] if len(verdict.candidates) == 1 else None
    if first is None or first.hosts is None:
        return verdict.sentence
    return f"{verdict.sentence}; on hosts like these: {like_these_text(first, verdict)}"


def _sections(subject: Subject) -> Iterator[Section]:
    verdict = subject.verdict
    again = [headline(verdict)] * bool(subject.prefix)
    yield section(*again, *_measured(subject))
    with suppress(AnalysisError):  # nothing is compared
        yield section(picture_of("forest", subject, width=_WIDE))
    yield from brief_sections(brief_of(subject))
    yield section(*filter(None, [" ".join(_reading(verdict, subject.results))]))
    if verdict.certificate is not None:
        yield section(verdict.certificate.sentence)


# ---- above and below the headline


def _about(subject: Subject) -> str:
    verdict, manifests = subject.verdict, [trial.manifest for trial in subject.trials]
    days = dict.fromkeys(_day(one.started) for one in manifests if one.origin != "imported")
    metric = f"{Name(' '.join(verdict.data.metric.split())):.28}"
    metric = "wall time" if verdict.data.metric == "wall" else metric
    parts = (
        "fairtrial report",
        subject.title,
        " and ".join(filter(None, days)),
        metric + ", higher is better" * (verdict.data.better == "higher"),
        _hosts(subject),
        _sessions(subject),
    )
    return " · ".join(filter(None, parts))


def _day(started: str) -> str:
    try:
        found = date.fromisoformat(started[:10])
    except ValueError:
        return ""
    return f"{found.day} {found:%B %Y}"


def _hosts(subject: Subject) -> str:
    level = level_of(subject.verdict)
    if level is not None:
        return amount_on_hosts(level, subject.verdict.counts.session_runs)
    hosts = {trial.manifest.host_id or trial.manifest.host for trial in subject.trials}
    if subject.data.outermost == "host" or not hosts:  # hosts are counted with the runs
        return ""
    return "one host" if len(hosts) == 1 else f"{len(hosts)} hosts"


def _sessions(subject: Subject) -> str:
    verdict = subject.verdict
    known = any(one.sessions is not None for one in subject.matrices.values())
    if level_of(verdict) is not None or not known or not verdict.counts.sessions:
        return ""
    return counted(verdict.counts.sessions, verdict.data.outermost)


def _measured(subject: Subject) -> Iterator[str]:
    verdict = subject.verdict
    description = " ".join(_stored(subject.trial, "description").split()).rstrip(" .:")
    amount = _amount(subject)
    if description:
        yield f"{Name(description):.{_DESCRIPTION}}: {amount}"
    else:
        yield f"{amount[0].upper()}{amount[1:]}"
    if verdict.candidates:
        yield _rests_on(verdict, subject.results)
        yield from _on_these(verdict)
    yield from (text if text.endswith(".") else f"{text}." for text in standing_of(verdict))
    if verdict.data.trial is not None and not verdict.finished:
        yield "The trial is not finished: this is what its runs say so far."


def _stored(trial: Trial | None, *keys: str) -> str:
    found: Any = {} if trial is None else settings_of(trial.path)
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""


def _amount(subject: Subject) -> str:
    verdict = subject.verdict
    order = _stored(subject.trial, "protocol", "order")
    parts = [
        f"{counted(verdict.counts.runs, 'run')} of {counted(len(subject.matrices), 'variant')} on "
        f"{counted(len(subject.order), 'benchmark')}"
    ]
    level = level_of(verdict)
    if level is not None:
        parts.append(amount_on_hosts(level, verdict.counts.session_runs))
    elif sessions := _sessions(subject):
        where, of = ("on", "with") if verdict.data.outermost == "host" else ("in", "of")
        each = _runs_each(subject, blocks=order in _ORDERS and order != "sequential")
        parts.append(f"{where} {sessions}{f' {of} {each}' if each else ''}")
    if order in _ORDERS:
        parts.append(_ORDERS[order])
    if verdict.counts.failed:
        verb = "is" if verdict.counts.failed == 1 else "are"
        parts[-1] += f"; {counted(verdict.counts.failed, 'more run')} failed and {verb} left out"
    return f"{', '.join(parts)}."


def _runs_each(subject: Subject, *, blocks: bool) -> str:
    """Say how many runs of a cell a session holds, where that is known: in blocks there is one of each."""
    quantile, runs = subject.verdict.quantile, subject.verdict.counts.session_runs
    if quantile is not None and quantile.level == "session":  # it has one value, of all its runs
        manifest = None if subject.trial is None else subject.trial.manifest
        runs = None
        if manifest is not None and not manifest.sequential:
            runs = (manifest.runs, manifest.runs)
    low, high = runs or (0, 0)
    if not high:
        return ""
    s = "s" * (high != 1)
    if low != high:
        return f"{low} to {high} run{s} a cell"
    return f"{low} block{s}" if blocks else f"{low} run{s} a cell"


def _rests_on(verdict: Verdict, results: Sequence[Multilevel]) -> str:
    if not results:
        return f"Nothing can be said of a difference from {verdict.data.baseline}."
    designs = {result.design: _design(result, verdict) for result in reversed(results)}
    text = ", or ".join(dict.fromkeys(reversed(designs.values())))
    within = f"{'' if few_sessions(verdict) else '±'}{100 * verdict.question.margin:g} %"
    none = "" if set(designs) == {"confounded"} else f"; differences within {within} count as none"
    what, better = "Speedups", ""
    if not results[0].timed:
        what, better = "Ratios", ", above 1 where the candidate is better"
    return f"{what} are over {verdict.data.baseline}{better}, {text}{none}."


def _design(result: Multilevel, verdict: Verdict) -> str:
    intervals, noun = f"with {level_text(verdict)} intervals", result.outermost
    if result.design == "paired":
        return f"{intervals} from the {counted(result.sessions, noun)}"
    if result.design == "separate":
        return (
            f"{intervals} from {result.sessions_candidate} {noun}s of the candidate and "
            f"{result.sessions_baseline} of the baseline, measured apart"
        )
    if result.design == "hosts":
        hosts = max(line.sessions for line in result.benchmarks)
        return f"{intervals} for hosts like these, from {counted(hosts, 'host')}"
    if result.design.startswith("one session"):
        unit = result.design.rpartition(" ")[2]
        return f"{intervals} from the {unit} of one {noun}, so of that {noun} only"
    return f"without intervals, because {noun} and variant cannot be separated"


def _on_these(verdict: Verdict) -> Iterator[str]:
    for one in verdict.candidates:
        if one.multilevel is None or one.hosts is None:
            continue
        line = one.hosts.these or one.hosts.benchmarks[0]
        over = line.name if one.hosts.these is None else f"these {one.multilevel.together}"
        found = written(line, column_of(one.multilevel))
        numbers = f"{found.speedup.text}x {found.interval}".rstrip()
        says = f"{one.variant} {numbers}, {word(line, one.multilevel.unit)}"
        yield f"On these {len(one.hosts.hosts)} hosts alone, over {over}: {says}."


# ---- below the forest


def _reading(verdict: Verdict, results: Sequence[Multilevel]) -> Iterator[str]:
    if not results:
        return
    what = "times" if is_time(verdict.data.unit) else "values"
    yield f"Dot: ratio of the geometric means of the {what}; line: {level_text(verdict)} interval."
    yield "Hollow: undecided. Small strokes: what it rests on."
    judged = (verdict.data.baseline, *(one.variant for one in verdict.candidates))
    if layouts := layouts_sentences(verdict.layouts, judged):
        yield f"{' '.join(layouts)}."
    if verdict.look.always_valid:
        yield "Intervals hold however often one looks."
    elif text := looks_text(verdict.look):
        yield f"{text[0].upper()}{text[1:]}."
    rule, (many, what) = _RULES.get(verdict.question.correction), family(*results)
    if rule and many > 1:
        over = counted(many, what)
        yield f"Words hold after {rule} correction for {over}; intervals are not corrected."
