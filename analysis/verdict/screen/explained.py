"""What ``--explain`` adds to a verdict: what it rests on, what would settle it, and what other methods say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...methods.multilevel.page import advice_text, chance_heading, looks_text
from ...methods.multilevel.result import BenchmarkLine, Line, Multilevel
from ...pages import number_format as figures
from ...pages.model import Section, Sentence
from ...words import shorten, shown
from ..panel import ONE_VALUE, panel_section
from .hosts import disagreeing_sentences, more_hosts_text

if TYPE_CHECKING:
    from ..result import HptBound, Verdict

_NAME = 28
_NEAR_ONE = 0.1  # ratios so near 1 need a third decimal
_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini and Hochberg"}


def explained_sections(verdict: Verdict) -> Iterator[Section]:
    """Give what the answer rests on, then each candidate's other methods."""
    yield Section(tuple(Sentence(text) for text in _rests_on(verdict)), title="what it rests on")
    merged = verdict.quantile is not None and verdict.quantile.level == "session"
    note = ONE_VALUE if merged else ""
    for number, one in enumerate(verdict.candidates, 1):
        if one.panel is not None:
            yield panel_section(one.variant, verdict.baseline, one.panel, number, note)
        if one.hosts is not None and (told := tuple(disagreeing_sentences(verdict, one.hosts))):
            yield Section(told, title="hosts that disagree")


def _rests_on(verdict: Verdict) -> Iterator[str]:
    left_out = [f"{verdict.warmups} warm-up runs"] if verdict.warmups else []
    left_out += [f"{figures.counted(verdict.failed, 'failed run')}"] if verdict.failed else []
    yield f"{figures.counted(verdict.runs, 'run')} count" + (
        f"; left out: {', '.join(left_out)}" if left_out else ""
    )
    if told := looks_text(verdict):
        yield told
    known = [one.multilevel for one in verdict.candidates if one.multilevel is not None]
    most = max((len(result.benchmarks) for result in known), default=0)
    if most > 1 and verdict.correction in _CORRECTIONS:
        yield (
            f"words of benchmarks are corrected for {most} of them (after "
            f"{_CORRECTIONS[verdict.correction]}); intervals are not"
        )
    for one in verdict.candidates:
        name = f"{shorten(shown(one.variant), _NAME)}: " if len(verdict.candidates) > 1 else ""
        if one.multilevel is not None:
            yield from (f"{name}{text}" for text in _would_settle(one.multilevel))
        if one.hosts is not None and one.multilevel is not None:
            more = more_hosts_text(one.multilevel, one.hosts)
            yield from (f"{name}{more}",) if more else ()
        if one.hpt_speedup is not None:
            yield f"{name}{hpt_text(one.hpt_speedup)}"
    if verdict.certificate is not None:
        yield verdict.certificate.sentence


def _would_settle(result: Multilevel) -> Iterator[str]:
    """Say of each undecided line how much more would settle it, and whether runs alone would."""
    lines: list[Line] = [*result.benchmarks, *([result.these] if result.these else [])]
    told = []
    for line in lines:
        advice = advice_text(line, result.outermost, short=True)
        if isinstance(line, BenchmarkLine) and line.reason and line.law != "identity":
            continue
        if advice:
            name = f"these {len(result.benchmarks)}" if line is result.these else line.name
            told.append(f"{shorten(shown(name), _NAME)}: {advice}")
    if told:
        heading = chance_heading(lines)
        yield f"{heading}: {'; '.join(told)}" if heading else "; ".join(told)
    if text := runs_text(result):
        yield text


def runs_text(result: Multilevel) -> str:
    """Say of undecided benchmarks that more runs alone would not settle them."""
    known = [line.more_sessions for line in result.benchmarks if line.outcome == "undecided"]
    told = [more.runs_suffice for more in known if more is not None]
    never = sum(one is False for one in told)
    if not never:
        return ""
    if len(told) == 1:
        return "more runs alone would not do"
    return f"more runs alone would not do: {never} of {len(told)} undecided benchmarks"


def hpt_text(bound: HptBound) -> str:
    """Say what HPT claims; of a candidate that may be slower, that its speedup is at least so much."""
    level = f"{bound.required:g}"
    if bound.value is None:
        return f"HPT: no speedup has reliability {level}"
    return f"HPT: a speedup of at least {_down(bound.value)}x has reliability {level}"


def _down(value: float) -> str:
    """Write a lower bound; rounding up would claim more."""
    digits = 3 if abs(value - 1) < _NEAR_ONE else 2
    if not 0.095 <= value < 9.995:
        return figures.significant(value * (1 - 5e-4), 3)
    return f"{math.floor(value * 10**digits * (1 + 1e-12)) / 10**digits:.{digits}f}"
