"""One benchmark of the report: its runs, what is said of each variant, each candidate's speedups."""

from __future__ import annotations

import math
import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.host_record import read_host_record
from ...data.protocol import read_commands
from ...pages.model import Value
from ...pages.number_format import is_time, quantity, said, significant, timed
from ...plots.palette import style_of
from ..fleet import hosts_of
from ..names import shortened
from ..runs import failed_of, frame_of, ran_together, shift_between
from ..written import written_of
from .axes import row_scales
from .findings import finding_of, marks_of, medians_part, notes_of, remarks_of

if TYPE_CHECKING:
    from ...methods.multilevel.result import BenchmarkLine
    from ...plots.scale import Scale
    from ..runs import Cell, Frame
    from ..subject import Subject
    from ..written import Written
    from .modes import Modes

__all__ = ["Benchmark", "Known"]

_SEED = 20_261_122  # of tests that draw samples, where no trial names one
_NAME = 14  # characters of a name beside a curve
_UNKNOWN = Value("", None)
_WIDEST = 700.0  # logs whose exponential is a number
_PLAIN = (0.0995, 9999.5)  # ratios that are written with the line's decimals


class Known:
    """What all benchmarks of a subject look into, read once."""

    def __init__(self, subject: Subject) -> None:
        trial, verdict = subject.trial, subject.verdict
        names = (subject.baseline, *(one.variant for one in subject.candidates), *subject.matrices)
        self.subject = subject
        self.unit = verdict.unit
        self.timed, self.is_time = timed(verdict.unit), is_time(verdict.unit)
        self.variants = tuple(dict.fromkeys(names))
        self.short = shortened(self.variants, _NAME)
        self.results = {one.variant: one.multilevel for one in subject.candidates if one.multilevel}
        self.lines = {
            (name, line.name): line
            for name, result in self.results.items()
            for line in result.benchmarks
        }
        self.written = written_of(subject)
        self.failures = failed_of(subject)
        self.diagnosis = verdict.diagnosis
        found = self.diagnosis
        self.far = defaultdict(list)
        for run in () if found is None else found.far_runs:
            self.far[run.benchmark, run.variant].append(run)
        self.found = {(c.benchmark, c.variant): c for c in (() if found is None else found.cells)}
        self.notes = notes_of(None if trial is None else read_host_record(trial.path))
        self.commands = {} if trial is None else read_commands(trial.path)
        happened = trial is not None and not subject.prefix and bool((trial.start_ns >= 0).any())
        self.happened = subject.anchor("happened") if happened else ""
        self.hosts = hosts_of(verdict)
        self.together = ran_together(subject)
        self.seed = _SEED if trial is None else trial.manifest.seed


class Benchmark:
    """One benchmark: `values` is what JSON shows of it, all else is for sentences and pictures.

    `cells` and `styles` (the roles of colours) are by variant, of those with runs, the baseline first;
    `lines` and `shifts` (None where sessions have too few runs) by candidate with runs on both sides;
    `modes` by variant whose modes were looked at.
    """

    def __init__(
        self,
        known: Known,
        name: str,
        cells: Mapping[str, Cell],
        modes: Mapping[str, Modes],
        *,
        opened: bool,
    ) -> None:
        self.known, self.name, self.cells, self.modes = known, name, cells, modes
        self.anchor = known.subject.anchor("benchmark", name)
        self.opened = opened
        base, verdict = known.subject.baseline, known.subject.verdict
        lines = {v: line for v in known.results if (line := known.lines.get((v, name)))}
        self.lines = {v: line for v, line in lines.items() if v in cells and base in cells}
        self.variants = {v: _variant(self, v, lines) for v in cells}  # what JSON shows of each
        self.styles = {
            v: "baseline" if v == base else style_of(one["word"] or "undecided")
            for v, one in self.variants.items()
        }
        self.shifts = {
            v: shift_between(known.results[v], cells[v], cells[base]) for v in self.lines
        }
        self.candidates = {v: _candidate(self, v) for v in self.lines}
        self.missing = tuple(v for v in known.variants if v not in cells)
        self.parting = [  # of which medians say something else than means
            v
            for v, line in self.lines.items()
            if medians_part(line, known.results[v], cells[v], cells[base], len(known.lines))
        ]
        self.marks = marks_of(known.diagnosis, name, known.notes)
        self.remarks, self.finding = remarks_of(self), finding_of(self)
        self.values: dict[str, Any] = {
            "name": name,
            "anchor": self.anchor,
            "opened": opened,
            "word": next((one["word"] for one in self.candidates.values()), ""),
            "unit": verdict.unit,
            "better": verdict.better,
            "commands": _commands(known, name, tuple(cells)),
            "marks": self.marks,
            "finding": None if self.finding is None else self.finding.text,
            "remarks": [one.text for one in self.remarks],
            "variants": list(self.variants.values()),
            "candidates": list(self.candidates.values()),
        }

    @cached_property
    def frame(self) -> Frame:
        """Where each run stands."""
        failures = {v: self.known.failures.get((self.name, v), ()) for v in self.cells}
        return frame_of(self.cells, failures, together=self.known.together)

    @cached_property
    def scales(self) -> Mapping[str, Scale]:
        """Each variant's axis."""
        centres = {v: one["mean"].value or 0.0 for v, one in self.variants.items()}
        return row_scales(self.cells, centres)

    @property
    def merged(self) -> bool:
        """Whether each session has one value, the quantile of all that its runs printed, and not one a run."""
        quantile = self.known.subject.verdict.quantile
        return quantile is not None and quantile.level == "session"

    @property
    def noun(self) -> str:
        """What a panel of its runs is."""
        return "host" if self.known.hosts else "session"


def _variant(one: Benchmark, variant: str, lines: Mapping[str, BenchmarkLine]) -> dict[str, Any]:
    """Give what is said of one variant.

    ``mean`` is the geometric one, sessions weighing equally: what the speedup rests on (arithmetic
    where runs are 0); ``spread`` the relative standard deviation within a session; ``interval`` that
    of the speedup, or of the mean where there is one variant only. Texts are "" where nobody knows.
    """
    known, cell = one.known, one.cells[variant]
    unit, values = known.unit, cell.values
    line = lines.get(variant)
    alone = next((a for a in known.subject.verdict.alone if a.benchmark == one.name), None)
    if variant == known.subject.baseline:
        first = next(iter(lines.values()), None)
        mean = None if first is None else first.mean_baseline
        spread = first.spread_baseline if first else alone.spread if alone else None
    else:
        mean = None if line is None else line.mean_candidate
        spread = None if line is None else line.spread_candidate
    if mean is None:
        log = cell.positive
        levels = [float((np.log(runs) if log else runs).mean()) for runs in cell.by_session]
        centre = sum(levels) / len(levels)
        mean = math.exp(centre) if log else centre
    told = known.written.get(variant, {}).get(one.name)
    interval = told.interval if told else ""
    if alone and alone.low is not None and alone.high is not None and not known.results:
        interval = f"[{quantity(alone.low, unit)}, {quantity(alone.high, unit)}]"
    found = known.found.get((one.name, variant))
    share = "" if spread is None else f"{significant(100 * spread, 2)}\u00a0%"

    def value(number: float) -> Value:
        return Value(quantity(number, unit), number)

    return {
        "variant": variant,
        "word": "" if line is None else said(line.outcome, timed=known.timed),
        "runs": values.size,
        "sessions": len(cell.labels),
        "failed": len(known.failures.get((one.name, variant), ())),
        "far": 0 if found is None else found.far,
        "mean": value(mean),
        "median": value(float(np.median(values))),
        "minimum": value(cell.ends[0]),
        "maximum": value(cell.ends[1]),
        "spread": Value(share, spread),
        **{key: getattr(told, key, _UNKNOWN) for key in ("speedup", "low", "high")},
        "interval": interval,
    }


def _candidate(one: Benchmark, variant: str) -> dict[str, Any]:
    """Give one candidate's speedups against the baseline, with the decimals of its line.

    ``unit`` is "session", or "block" within one session; it is "" and ``by_session`` is empty where
    sides are not paired. ``shift`` holds the speedup at each quantile, above 1 is better.
    """
    result, line = one.known.results[variant], one.lines[variant]
    told: Written = one.known.written[variant][one.name]
    # at least two decimals: single sessions have no interval that is rough
    digits = max(2, len(told.speedup.text.partition(".")[2]))
    shift = one.shifts[variant]
    quantiles = () if shift is None else zip(shift.shares, shift.logs, shift.half, strict=True)
    units = {"paired": result.outermost, "hosts": result.outermost, "one session, blocks": "block"}
    return {
        "variant": variant,
        "word": one.variants[variant]["word"],
        "unit": units.get(result.design, ""),
        "by_session": [
            {"session": label, "speedup": _ratio(log, digits)}
            for label, log in zip(line.session_ids, line.differences, strict=False)
        ],
        "shift": [
            {
                "share": share,
                "speedup": _ratio(float(log), digits),
                "low": _ratio(float(log) - float(half), digits),
                "high": _ratio(float(log) + float(half), digits),
            }
            for share, log, half in quantiles
        ],
    }


def _ratio(log: float, digits: int) -> Value:
    """Write a ratio with so many decimals, or three significant digits far from 1."""
    if not math.isfinite(log):
        return _UNKNOWN
    ratio = math.exp(min(max(log, -_WIDEST), _WIDEST))
    plain = _PLAIN[0] <= ratio < _PLAIN[1]
    return Value(f"{ratio:.{digits}f}" if plain else significant(ratio), ratio)


def _commands(known: Known, benchmark: str, variants: Sequence[str]) -> tuple[str, ...]:
    """Give what was executed: one line with alternatives where variants differ in a few words."""
    given = [known.commands[benchmark, v] for v in variants if (benchmark, v) in known.commands]
    if len({len(words) for words in given}) > 1:
        return tuple(dict.fromkeys(shlex.join(words) for words in given))
    columns = [tuple(map(shlex.quote, dict.fromkeys(c))) for c in zip(*given, strict=True)]
    words = (c[0] if len(c) == 1 else f"{{{' | '.join(c)}}}" for c in columns)
    return (" ".join(words),) if given else ()
