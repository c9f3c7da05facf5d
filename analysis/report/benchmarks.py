"""The benchmarks: the runs of each variant in numbers, and of those that matter most as pictures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np

from ..errors import AnalysisError
from ..methods.multilevel.result import BenchmarkLine, Multilevel
from ..pages.model import Block, CommandLine, Section, section, table_of
from ..pages.number_format import counted, listed, quantity, significant
from ..words import shown
from .page import Chapter, chapter_of, picture_of
from .panels import Cell, cells_of, line_of
from .subject import Subject, hosts_of

_DRAWN = 6  # benchmarks that have pictures
_TOLD = 4  # candidates that have a sentence each
# all runs session by session, the speedup at each decile, both sides' distributions: mm
_KINDS = {"strip": 110.0, "shift": 85.0, "ecdf": 85.0}
_EQUAL = 1e-9  # session values that are 1
_PERCENT = 1.5  # larger speedups are no percentages any longer


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None where there is no run."""
    every = {name: cells_of(subject, name) for name in subject.order}
    cells = {name: found for name, found in every.items() if found}
    if not cells:
        return None
    title = f"Benchmarks: {subject.verdict.metric}" if subject.prefix else "Benchmarks"
    return chapter_of(subject, "parts", title, partial(_sections, subject, cells))


def drawn_of(subject: Subject) -> tuple[str, ...]:
    """Name the benchmarks that have pictures: those that a caution is about, then the largest effects."""
    about = Counter(name for caution in subject.verdict.cautions for name in caution.about)
    effects = dict.fromkeys(subject.order, 0.0)
    for one in subject.results:
        for line in one.benchmarks:
            if line.outcome in ("faster", "slower") and line.speedup and line.name in effects:
                effects[line.name] = max(effects[line.name], abs(math.log(line.speedup)))
    ranked = sorted(effects, key=lambda name: (name not in about, -effects[name]))
    return tuple(name for name in subject.order if name in ranked[:_DRAWN])


def _sections(subject: Subject, cells: Mapping[str, Mapping[str, Cell]]) -> Iterator[Section]:
    drawn = [name for name in drawn_of(subject) if name in cells]
    rows = list(_rows(subject, cells))
    unit = subject.verdict.unit

    def value(number: float) -> str:
        return quantity(number, unit)

    yield section(
        table_of(
            subject.anchor("parts-runs"),
            rows,
            ("<benchmark", lambda row: shown(row.benchmark)),
            ("<variant", lambda row: shown(row.variant)),
            ("runs", "runs"),
            ("hosts" if hosts_of(subject.verdict) else "sessions", "sessions"),
            ("median", "median", value),
            ("least", "least", value),
            ("most", "most", value),
            ("spread", "spread", lambda share: f"{significant(100 * share, 2)}\u00a0%"),
            ("far", "far") if any(row.far for row in rows) else None,
            ("failed", "failed") if any(row.failed for row in rows) else None,
        )
    )
    for name in drawn:
        blocks: list[Block | str] = list(_remarks(subject, name, cells[name]))
        for kind, width in _KINDS.items():
            with suppress(AnalysisError):  # too few runs
                blocks.append(picture_of(kind, subject, name, width=width))
        yield section(*blocks, title=name, anchor=subject.anchor("benchmark", name))
    left = len(cells) - len(drawn)
    if left:
        other = next(name for name in cells if name not in drawn)
        line = subject.command("plot strip", "--benchmark", other, "-o", "strip.svg")
        yield section(f"Pictures of the other {counted(left, 'benchmark')}:", CommandLine(line))


# ---- the numbers of a variant


class _Row(NamedTuple):
    """What the table says of one variant on one benchmark; `spread` is the relative one within a session."""

    benchmark: str
    variant: str
    median: float
    least: float
    most: float
    spread: float | None
    runs: int
    sessions: int
    far: int
    failed: int


def _rows(subject: Subject, cells: Mapping[str, Mapping[str, Cell]]) -> Iterator[_Row]:
    spreads = {(subject.baseline, one.benchmark): one.spread for one in subject.verdict.alone}
    for one in subject.results:
        for line in one.benchmarks:
            spreads[one.candidate, line.name] = line.spread_candidate
            spreads.setdefault((subject.baseline, line.name), line.spread_baseline)
    found = subject.verdict.diagnosis
    far = Counter((run.variant, run.benchmark) for run in (found.far_runs if found else ()))
    failures = _failures(subject)
    for name, of in cells.items():
        for variant, cell in of.items():
            counts = {"runs": cell.values.size, "sessions": len(cell.labels)}
            counts |= {"far": far[variant, name], "failed": failures[name, variant]}
            median, spread = float(np.median(cell.values)), spreads.get((variant, name))
            least, most = cell.ends
            yield _Row(name, variant, median, least, most, spread, **counts)


def _failures(subject: Subject) -> Counter[tuple[str, str]]:
    """Count the measured runs of each benchmark and variant that failed; none where no trial says so."""
    runs = () if subject.trial is None else subject.trial.failures()
    return Counter((run.benchmark, run.variant) for run in runs if not run.warmup)


# ---- a sentence or two


def _remarks(subject: Subject, name: str, cells: Mapping[str, Cell]) -> Iterator[str]:
    for one in subject.candidates[:_TOLD]:
        line, result = line_of(subject, one.variant, name), one.multilevel
        if result is not None and line is not None and len(line.differences) > 1:
            yield f"{one.variant} {_ahead(line, result)}"
    variants = (subject.baseline, *(one.variant for one in subject.candidates))
    if missing := [variant for variant in variants if variant not in cells]:
        yield f"No run counts of {listed(missing)}."
    failures = {variant: _failures(subject)[name, variant] for variant in cells}
    if failing := [f"{count} of {variant}" for variant, count in failures.items() if count]:
        yield f"Runs failed, and are left out of every number here: {listed(failing)}."


def _ahead(line: BenchmarkLine, result: Multilevel) -> str:
    """Say how the sessions agree, such as ``is ahead in all 8 sessions, by 2.1 to 3.4 %``."""
    noun = "block" if result.design == "one session, blocks" else result.outermost
    count, ahead = len(line.differences), sum(log > 0 for log in line.differences)
    every = f"both {noun}s" if count == 2 else f"all {count} {noun}s"
    low, high = (math.exp(end) for end in (min(line.differences), max(line.differences)))
    if max(map(abs, line.differences)) < _EQUAL:
        return f"equals the baseline in {every}."
    if 0 < ahead < count:
        between = f"from {significant(low)} to {significant(high)} times"
        return f"is ahead in {ahead} of {count} {noun}s, which range {between}."
    near, far = (low, high) if ahead else (high, low)
    if 1 / _PERCENT <= far <= _PERCENT:
        ends = dict.fromkeys(significant(100 * abs(end - 1), 2) for end in (near, far))
        by = f"by {' to '.join(ends)} %"
    else:
        by = f"at {' to '.join(dict.fromkeys((significant(low), significant(high))))} times"
    return f"is {'ahead' if ahead else 'behind'} in {every}, {by}."
