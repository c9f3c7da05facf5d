"""What was found of a benchmark: marks above its sessions, the words in its heading, a sentence or two."""

from __future__ import annotations

import math
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from ...data.host_record import read_host_record
from ...data.protocol import read_commands
from ...pages.model import Value
from ...pages.number_format import is_time, outcome_word, quantity, significant, timed
from ...plots.marks import style_of
from ...stats.multiplicity import adjusted
from ...words import shorten, shortened, shown
from ..runs import failed_of, frame_of, ran_together, row_scales, shift_between
from ..subject import hosts_of
from ..written import written_of

if TYPE_CHECKING:
    from ...data.host_record import HostRecord
    from ...diagnose.result import Diagnosis, Finding
    from ...methods.multilevel.result import BenchmarkLine, Multilevel
    from ...plots.axes import Scale
    from ..runs import Cell, Frame, Modes
    from ..subject import Subject
    from ..written import Written

__all__ = [
    "Benchmark",
    "Known",
    "Mark",
    "Remark",
    "finding_of",
    "marks_of",
    "medians_part",
    "notes_of",
    "remarks_of",
]

_MOST = 8  # findings of one picture
_SHARE = re.compile(r"([0-9.]+) ?%")
_WORDS = {"order": "drift", "change-point": "step", "host-change": "host"}  # whose size is a share
_OF_RUNS = ("disturbed-runs", "waited-for-cpu")  # no matter of a session
Notes = Mapping[tuple[str, str], str]
_OPEN, _CLOSE = "\u2068", "\u2069"  # isolate a name while a sentence is put together
_RISK = 0.05
_TOLD = 4  # candidates that have a sentence each
_MEDIAN = 5  # runs of a session whose median says something else than their mean
_DRIFTS = ("order", "change-point")
_WIDE = 24  # characters of a name
_EQUAL = 1e-9  # session values that are 1
_PERCENT = 1.5  # larger speedups are no percentages any longer


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something found in some sessions."""

    code: str
    word: str  # or two
    variant: str  # the one that it is of; "" of all
    sessions: tuple[str, ...]
    figures: tuple[str, ...]  # what tells most of each session; "" where there is none
    everywhere: bool  # whether that are all sessions
    text: str


def notes_of(record: HostRecord | None) -> Notes:
    """Give what the runner noted of the host, by check and session: figures differ between sessions."""
    notes = () if record is None else record.notes
    return {
        (note.check, str(note.session)): note.what
        for note in reversed(notes)  # the first of a session stays
        if note.session is not None and note.status in ("warn", "fail")
    }


def _figure(finding: Finding, what: str) -> str:
    """Give the one figure that tells most of a finding in a session; "" where there is none."""
    if finding.code == "load":
        return what.split(" ", 1)[0] if what[:1].isdigit() else ""
    if found := _SHARE.search(what):
        return f"{found[1]}\u00a0%"
    if finding.code in _WORDS and finding.size is not None:
        return f"{100 * finding.size:+.0f}\u00a0%".replace("-", "\u2212")
    return ""


def marks_of(diagnosis: Diagnosis | None, benchmark: str, notes: Notes) -> tuple[Mark, ...]:
    """Give what is certain of a benchmark and of the whole host: what was recorded comes first."""
    if diagnosis is None:
        return ()
    found = [
        one
        for one in diagnosis.findings
        if one.certain
        and one.sessions
        and one.benchmark in (None, benchmark)
        and one.code not in _OF_RUNS
    ]
    found.sort(key=lambda one: (one.benchmark is not None, one.pvalue is not None))
    return tuple(
        Mark(
            code=one.code,
            word=_WORDS.get(one.code, one.code.replace("_", " ").replace("-", " ")),
            variant=one.variant or "",
            sessions=(sessions := tuple(map(str, one.sessions))),
            figures=tuple(_figure(one, notes.get((one.code, s), "")) for s in sessions),
            everywhere=len(sessions) == diagnosis.sessions,
            # of the load the runner's sentence has figures only
            text=f"{one.code} {one.text}" if one.text[:1].isdigit() else one.text,
        )
        for one in found[:_MOST]
    )


# ---- in words


class Remark(NamedTuple):
    """A sentence: words and names in turn, words first; names that are not ours are set apart.

    Behind it an anchor on this page (`link`), and the words that lead there; or "".
    """

    pieces: tuple[str, ...]
    link: str = ""
    linked: str = ""

    @property
    def text(self) -> str:
        """The sentence as one text."""
        return "".join(self.pieces) + (f" ({self.linked})." if self.linked else "")


def medians_part(
    line: BenchmarkLine, result: Multilevel, ours: Cell, theirs: Cell, tests: int
) -> bool:
    """Tell whether medians and means of this benchmark surely give different speedups.

    The sessions' log ratios of medians, less those of geometric means, are held against 0 by
    Student's t at 5 % over the number of lines on the page (`tests`; Bonferroni), and against the
    margin. Only sessions that both sides share count.
    """
    if result.design != "paired" or line.speedup is None:
        return False
    apart = []
    for label in ours.labels:
        if label not in theirs.labels:
            continue
        sides = [cell.of(cell.labels.index(label)) for cell in (ours, theirs)]
        if min(side.size for side in sides) >= _MEDIAN and min(s.min() for s in sides) > 0:
            logs = [np.log(side) for side in sides]
            a, b = (float(np.median(log) - log.mean()) for log in logs)
            apart.append(a - b)
    if len(apart) < 3:
        return False
    t = float(stdtrit(len(apart) - 1, 1 - _RISK / tests / 2))
    half = t * float(np.std(apart, ddof=1)) / math.sqrt(len(apart))
    return abs(float(np.mean(apart))) > max(half, math.log1p(result.margin))


def finding_of(one: Benchmark) -> Remark | None:
    """Give what the heading says beside the name; None where no rule found anything."""
    text = ""
    if failing := _failing(one):
        worst = max(failing, key=lambda told: told["failed"] / (told["failed"] + told["runs"]))
        total = worst["failed"] + worst["runs"]
        text = f"{_name(worst['variant'])} fails {worst['failed']} of {total} runs"
    elif one.missing:
        text = f"no runs of {_names(one.missing)}"
    elif one.parting:
        text = "where means and medians part"
    elif several := _several(one):
        counts = {len(one.modes[name].at) for name in several}
        text = "two modes" if counts == {2} else "several modes"
    elif _drifts(one):
        text = "values drift within sessions"
    return _remark(text) if text else None


def remarks_of(one: Benchmark) -> tuple[Remark, ...]:
    """Give the sentences below the pictures."""
    found = _of_candidates(one)
    if one.parting:
        found.append(
            f"Medians of {_names(one.parting)} give another speedup than means: the slow runs "
            "differ, or the runs fall into groups."
        )
    found += [f"{_name(variant)}: {text}." for variant, text in _drifts(one)[:2]]
    if one.missing:
        has = "have" if len(one.missing) > 1 else "has"
        found.append(f"{_names(one.missing)} {has} no run that counts here.")
    if failing := _failing(one):
        each = [
            f"{told['failed']} of {told['failed'] + told['runs']} of {_name(told['variant'])}"
            for told in failing
        ]
        found.append(f"Runs failed: {_and(each)}. They are left out of every number here.")
    return (*_of_modes(one), *map(_remark, found))


def _name(name: str) -> str:
    """Mark a name that is not ours."""
    return f"{_OPEN}{shorten(shown(name), _WIDE)}{_CLOSE}"


def _names(names: Sequence[str]) -> str:
    return _and([_name(name) for name in names])


def _and(names: Sequence[str]) -> str:
    if len(names) > 5:
        return f"{', '.join(names[:4])} and {len(names) - 4} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _remark(text: str, link: str = "", linked: str = "") -> Remark:
    """Divide a text at the marks around names."""
    return Remark(tuple(text.replace(_CLOSE, _OPEN).split(_OPEN)), link, linked)


def _failing(one: Benchmark) -> list[dict[str, Any]]:
    return [told for told in one.variants.values() if told["failed"]]


def _several(one: Benchmark) -> list[str]:
    """Name the variants with several modes: by the dip test with Holm's correction, and by a fit."""
    if not one.modes:
        return []
    pvalues = adjusted([modes.dip for modes in one.modes.values()], "holm").tolist()
    return [
        name
        for (name, modes), p in zip(one.modes.items(), pvalues, strict=True)
        if p <= _RISK and len(modes.at) > 1
    ]


def _drifts(one: Benchmark) -> list[tuple[str, str]]:
    found = one.known.diagnosis
    return [
        (each.variant or "", each.text)
        for each in (() if found is None else found.findings)
        if each.certain and each.code in _DRIFTS and each.benchmark == one.name
    ]


def _of_modes(one: Benchmark) -> Iterator[Remark]:
    several = _several(one)
    if not several:
        return
    first = _name(several[0])
    near = _and([quantity(mode, one.known.unit) for mode in one.modes[several[0]].at[:4]])
    if len(several) == len(one.cells) > 1:
        text = f"All variants have several modes, {first} near {near}"
    elif len(several) > 1:
        text = f"{_names(several)} have several modes, the first near {near}"
    else:
        text = f"{first} has several modes, near {near}"
    found = one.known.diagnosis
    if found is not None and found.movers is None and found.speeds is not None and found.speeds.two:
        text += ": the whole host changes between two speeds"
        if one.known.happened:
            yield _remark(text, one.known.happened, "the trial as it happened")
            return
    yield _remark(f"{text}.")


def _of_candidates(one: Benchmark) -> list[str]:
    found = []
    for variant, told in list(one.candidates.items())[:_TOLD]:
        values = [ratio["speedup"].value or 1.0 for ratio in told["by_session"]]
        if len(values) < 2:
            continue
        noun, ahead = f"{told['unit']}s", sum(value > 1 for value in values)
        low, high = min(values), max(values)
        every = "both" if len(values) == 2 else f"all {len(values)}"
        if max(abs(value - 1) for value in values) < _EQUAL:
            text = f"equals the baseline in {every} {noun}."
        elif 0 < ahead < len(values):
            text = (
                f"is ahead in {ahead} of {len(values)} {noun}, which range "
                f"from {significant(low)} to {significant(high)} times."
            )
        else:
            near, far = (low, high) if ahead else (high, low)
            if 1 / _PERCENT <= far <= _PERCENT:
                by = f"by {_range(_percent(near), _percent(far))}\u00a0%"
            else:
                by = f"at {_range(significant(low), significant(high))} times"
            text = f"is {'ahead' if ahead else 'behind'} in {every} {noun}, {by}."
        found.append(f"{_name(variant)} {text}")
    return found


def _percent(ratio: float) -> str:
    return significant(100 * abs(ratio - 1), 2)


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


# --- One benchmark of the report: its runs, what is said of each variant, each candidate's speedups.


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
        "word": "" if line is None else outcome_word(line.outcome, timed=known.timed),
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
