"""Gathers a part for each benchmark from the subject."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...data.host_record import read_host_record
from ...data.protocol import read_commands
from ...pages import number_format as figures
from ...pages.model import Value
from ...pages.number_format import said
from ...plots.palette import style_of
from ..fleet import hosts_of
from ..names import shortened
from ..written import Written, written_of
from .against import against
from .cells import Cell, Failed, cells_of, failed_of
from .curves import Modes, modes_of
from .folded import folded_plots
from .frame import frame_of
from .marks import FoundRuns, Notes, marks_of
from .opening import listed_benchmarks, opened
from .remarks import Seen, finding_of, medians_part, remarks_of
from .result import Against, Part, Parts, VariantRuns
from .run_rows import run_plot
from .strips import strips_of

if TYPE_CHECKING:
    from ...methods.multilevel.result import BenchmarkLine, Multilevel
    from ..chapter import OldChapter
    from ..subject import Subject

__all__ = ["gather"]

_SEED = 20_261_122  # of tests that draw samples, where no trial names one
_VALUES = 2000  # runs of which mixtures are tried, in all: the test of one takes a while
_NAME = 14  # characters of a name beside a curve
_UNKNOWN = Value("", None)


def gather(subject: Subject) -> OldChapter | None:
    """Give the parts; None where there is no run."""
    cells = cells_of(subject)
    names = tuple(name for name in listed_benchmarks(subject) if name in cells)
    if not names:
        return None
    shared = _Shared.of(subject)
    open_ones = opened(subject, names)
    budget = _VALUES
    parts = []
    for name in names:
        mine = {v: cells[name][v] for v in shared.variants if v in cells[name]}
        modes: dict[str, Modes] = {}
        if name in open_ones:
            for variant, cell in mine.items():
                budget -= cell.values.size
                found = modes_of(cell, shared.seed, f"{name}/{variant}") if budget >= 0 else None
                modes |= {} if found is None else {variant: found}
        parts.append(_part(shared, name, mine, modes, is_open=name in open_ones))
    verdict = subject.verdict
    title = "Benchmarks" if not subject.prefix else f"Benchmarks: {verdict.metric}"
    return Parts(
        anchor=subject.anchor("parts"),
        title=title,
        metric=verdict.metric,
        first=not subject.prefix,
        baseline=subject.baseline,
        confidence=verdict.confidence,
        margin=verdict.margin,
        benchmarks=tuple(parts),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Shared:
    """What all parts look into."""

    subject: Subject
    variants: tuple[str, ...]
    short: Mapping[str, str]
    lines: Mapping[str, Mapping[str, BenchmarkLine]]
    results: Mapping[str, Multilevel]
    written: Mapping[str, Mapping[str, Written]]
    failures: Mapping[tuple[str, str], tuple[Failed, ...]]
    found: FoundRuns
    notes: Notes
    commands: Mapping[tuple[str, str], tuple[str, ...]]
    happened: str
    hosts: Mapping[str, str]
    together: bool
    seed: int

    @classmethod
    def of(cls, subject: Subject) -> _Shared:
        trial = subject.trial
        results = {
            one.variant: one.multilevel for one in subject.candidates if one.multilevel is not None
        }
        variants = tuple(
            dict.fromkeys(
                (subject.baseline, *(one.variant for one in subject.candidates), *subject.matrices)
            )
        )
        timed = trial is not None and bool((trial.start_ns >= 0).any())
        return cls(
            subject=subject,
            variants=variants,
            short=shortened(variants, _NAME),
            lines={
                name: {line.name: line for line in result.benchmarks}
                for name, result in results.items()
            },
            results=results,
            written=written_of(subject),
            failures=failed_of(subject),
            found=FoundRuns(subject.verdict.diagnosis),
            notes=Notes(None if trial is None else read_host_record(trial.path)),
            commands={} if trial is None else read_commands(trial.path),
            happened=subject.anchor("happened") if timed and not subject.prefix else "",
            hosts=hosts_of(subject.verdict),
            together=trial is not None
            or not any(r.design in ("separate", "confounded") for r in results.values()),
            seed=_SEED if trial is None else trial.manifest.seed,
        )

    def line(self, variant: str, benchmark: str) -> BenchmarkLine | None:
        """Give the verdict's line; None where there is none, or for the baseline."""
        return self.lines.get(variant, {}).get(benchmark)


def _part(
    shared: _Shared,
    name: str,
    cells: Mapping[str, Cell],
    modes: Mapping[str, Modes],
    *,
    is_open: bool,
) -> Part:
    subject, verdict = shared.subject, shared.subject.verdict
    failures = {v: shared.failures.get((name, v), ()) for v in cells}
    frame = frame_of(cells, failures, together=shared.together)
    told = {v: _variant(shared, name, v, cell) for v, cell in cells.items()}
    marks = marks_of(verdict.diagnosis, name, shared.notes)
    styles = {v: one.style for v, one in told.items()}
    centres = {v: one.mean.value or 0.0 for v, one in told.items()}
    candidates = tuple(_candidates(shared, name, cells, told))
    missing = tuple(v for v in shared.variants if v not in cells)
    seen = Seen(
        benchmark=name,
        unit=verdict.unit,
        cells=cells,
        told=tuple(told.values()),
        candidates=candidates,
        lines={
            v: (line, shared.results[v])
            for v in cells
            if (line := shared.line(v, name)) is not None
        },
        modes=modes,
        diagnosis=verdict.diagnosis,
        missing=missing,
        parting=tuple(_parting(shared, name, cells)),
        happened=shared.happened,
    )
    first = next((one.word for one in candidates), "")
    return Part(
        name=name,
        anchor=subject.anchor("benchmark", name),
        finding=finding_of(seen),
        opened=is_open,
        word=first,
        unit=verdict.unit,
        better=verdict.better,
        timed=figures.timed(verdict.unit),
        commands=_commands(shared, name, tuple(cells)),
        variants=tuple(told.values()),
        candidates=candidates,
        marks=marks,
        remarks=remarks_of(seen),
        run_plot=run_plot(
            cells,
            frame,
            told,
            unit=verdict.unit,
            baseline=subject.baseline,
            marks=marks,
            far=shared.found.far(name),
            modes=modes,
            hosts=shared.hosts,
        ),
        strips=strips_of(cells, frame, styles, verdict.unit),
        folded=folded_plots(
            cells, styles, centres, {v: shared.found.lag_1(name, v) for v in cells}, verdict.unit
        ),
    )


def _variant(shared: _Shared, benchmark: str, variant: str, cell: Cell) -> VariantRuns:
    unit = shared.subject.verdict.unit
    line = shared.line(variant, benchmark)
    is_base = variant == shared.subject.baseline
    word = "" if line is None else said(line.outcome, timed=figures.timed(unit))
    written = shared.written.get(variant, {}).get(benchmark)
    mean = _mean(shared, benchmark, variant, cell)
    spread = _spread(shared, benchmark, variant)
    values = cell.values
    interval = "" if written is None else written.interval
    if not shared.results:
        interval = _alone(shared, benchmark)

    def value(number: float) -> Value:
        return Value(figures.quantity(number, unit), number)

    return VariantRuns(
        variant=variant,
        word=word,
        style="baseline" if is_base else style_of(word or "undecided"),
        runs=values.size,
        sessions=len(cell.labels) if cell.labels != ("",) else 1,
        failed=len(shared.failures.get((benchmark, variant), ())),
        far=shared.found.count(benchmark, variant),
        mean=value(mean),
        median=value(float(np.median(values))),
        minimum=value(float(values.min())),
        maximum=value(float(values.max())),
        spread=_UNKNOWN
        if spread is None
        else Value(f"{figures.significant(100 * spread, 2)}\u00a0%", spread),
        speedup=_UNKNOWN if written is None else written.speedup,
        low=_UNKNOWN if written is None else written.low,
        high=_UNKNOWN if written is None else written.high,
        interval=interval,
    )


def _mean(shared: _Shared, benchmark: str, variant: str, cell: Cell) -> float:
    """Give the mean that the speedup rests on, or of all runs where there is no speedup."""
    if variant == shared.subject.baseline:
        lines = (shared.line(v, benchmark) for v in shared.results)
        known = next((line.mean_baseline for line in lines if line is not None), None)
    else:
        line = shared.line(variant, benchmark)
        known = None if line is None else line.mean_candidate
    if known is not None:
        return known
    log = bool((cell.values > 0).all())
    levels = [float((np.log(runs) if log else runs).mean()) for runs in cell.by_session]
    centre = sum(levels) / len(levels)
    return math.exp(centre) if log else centre


def _spread(shared: _Shared, benchmark: str, variant: str) -> float | None:
    if variant == shared.subject.baseline:
        for name in shared.results:
            line = shared.line(name, benchmark)
            if line is not None:
                return line.spread_baseline
        found = (one for one in shared.subject.verdict.alone if one.benchmark == benchmark)
        return next((one.spread for one in found), None)
    line = shared.line(variant, benchmark)
    return None if line is None else line.spread_candidate


def _alone(shared: _Shared, benchmark: str) -> str:
    """Give the interval of the only variant's mean, where there is nothing to compare."""
    unit = shared.subject.verdict.unit
    for one in shared.subject.verdict.alone:
        if one.benchmark == benchmark and one.low is not None and one.high is not None:
            return f"[{figures.quantity(one.low, unit)}, {figures.quantity(one.high, unit)}]"
    return ""


def _candidates(
    shared: _Shared, benchmark: str, cells: Mapping[str, Cell], told: Mapping[str, VariantRuns]
) -> Sequence[Against]:
    base = shared.subject.baseline
    found = []
    for variant, result in shared.results.items():
        line = shared.line(variant, benchmark)
        if line is None or variant not in cells or base not in cells:
            continue
        found.append(
            against(
                line,
                result,
                cells[variant],
                cells[base],
                told=shared.written[variant][benchmark],
                word=told[variant].word,
                style=told[variant].style,
                names=(shared.short[variant], shared.short[base]),
            )
        )
    return found


def _parting(shared: _Shared, benchmark: str, cells: Mapping[str, Cell]) -> Sequence[str]:
    base = shared.subject.baseline
    tests = max(1, sum(len(lines) for lines in shared.lines.values()))
    return [
        variant
        for variant, result in shared.results.items()
        if (line := shared.line(variant, benchmark)) is not None
        and variant in cells
        and base in cells
        and medians_part(line, result, cells[variant], cells[base], tests)
    ]


def _commands(shared: _Shared, benchmark: str, variants: Sequence[str]) -> tuple[str, ...]:
    """Give what was executed: one line with alternatives where variants differ in a few words."""
    known = [shared.commands[benchmark, v] for v in variants if (benchmark, v) in shared.commands]
    if not known:
        return ()
    if len({len(words) for words in known}) > 1:
        return tuple(dict.fromkeys(shlex.join(words) for words in known))
    columns = [tuple(dict.fromkeys(column)) for column in zip(*known, strict=True)]
    return (
        " ".join(
            shlex.quote(column[0])
            if len(column) == 1
            else f"{{{' | '.join(shlex.quote(word) for word in column)}}}"
            for column in columns
        ),
    )
