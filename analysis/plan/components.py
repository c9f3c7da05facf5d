"""Components of variance of a pair: between sessions, within them.

The model of a logarithm is mean + benchmark + session + benchmark:session + block + rest, all but the
mean random and independent. An effect that the data cannot tell from the rest is left out of it.

A plan for a comparison needs those of the differences: a shift that both variants share in a session
cancels in them, and one that moves a variant more than the other does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ..data.matrix import PerformanceMatrix
from ..data.pair import match
from ..data.trial import Trial
from ..errors import InsufficientDataError, UsageError
from ..pages import number_format as figures
from ..pages.model import Caution, Page, cautions_of, page, section, table_of
from ..pages.result import Result
from ..stats.arguments import between, checks_arguments, chosen
from ..stats.variance_components import RandomEffects, one_way, random_effects
from ..words import Name
from .stop_rule import Floats

BENCHMARK = ("@benchmark", "name")
WIDTH_COLUMN = ("width", "width", figures.significant)
# no speedup from 10 on is worth four decimals
DETECTABLE = ("detectable", "detectable", lambda x: f"{x:.4f}x" if x < 10 else "-")
Of = Literal["differences", "values"]
On = Literal["suite", "benchmarks"]


def against(*names: str | None, width: int = 30) -> str:
    """Name one side, or both: ``new against old``."""
    return " against ".join(f"{Name(name):.{width}}" for name in names if name is not None)


@dataclass(frozen=True, slots=True)
class ComponentLine:
    """The two components of one benchmark, or of the mean over all of them."""

    name: str
    mean: float
    session_sd: float
    run_sd: float | None
    deviance: float | None
    sessions: int
    blocks: int

    @property
    def variances(self) -> tuple[float, float]:
        """Between sessions, and within one for a single block; what the session hides stays with it."""
        return self.session_sd**2, (self.run_sd or 0.0) ** 2


@dataclass(frozen=True, slots=True)
class Crossed:
    """Standard deviations of logarithms by effect, over all benchmarks together."""

    benchmark_sd: float | None
    session_sd: float | None
    benchmark_session_sd: float | None
    block_sd: float | None
    run_sd: float
    deviance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceComponents(Result):
    """Components of variance of one variant's values, or of the differences of two.

    `benchmarks` are taken one by one, `suite` is the mean over them (None for one benchmark, or where
    fewer than two sessions have a block with all), `crossed` the model of all of them together (None
    for one benchmark, or where it cannot be fitted).
    """

    method: ClassVar[str] = "variance-components"

    of: Of
    candidate: str
    baseline: str | None
    sessions: int
    benchmarks: tuple[ComponentLine, ...]
    suite: ComponentLine | None
    crossed: Crossed | None
    references: tuple[str, ...] = (
        "Patterson and Thompson 1971 (restricted likelihood)",
        "Gilmour, Thompson and Cullis 1995 (average information)",
    )

    def screen(self) -> Page:
        """Set how much sessions and runs vary, of the suite and of each benchmark."""
        head, crossed = against(self.candidate, self.baseline), self.crossed
        line = self.suite or (self.benchmarks[0] if len(self.benchmarks) == 1 else None)
        what = "values" if self.baseline is None else "differences"
        text = f"how {what} vary, by benchmark"
        if line is not None:
            over = "of the suite's mean" if self.suite else "of the benchmark"
            rest = ", runs included: with one run a session the two cannot be separated"
            if line.run_sd is not None:
                rest = f" and by {figures.percent(line.run_sd)} between the runs of one"
            text = f"the {what} {over} vary by {figures.percent(line.session_sd)} between sessions{rest}"
        rows = table_of(
            "components",
            (*self.benchmarks, *((self.suite,) if self.suite else ())),
            BENCHMARK,
            ("sessions", "sessions"),
            ("blocks", "blocks"),
            ("between sessions", "session_sd", figures.percent),
            ("between runs", "run_sd", figures.percent),
        )
        below = []
        if crossed is not None:
            parts = (
                ("between benchmarks", crossed.benchmark_sd),
                ("between sessions, in all benchmarks alike", crossed.session_sd),
                ("between sessions, in each benchmark by itself", crossed.benchmark_session_sd),
                ("between the blocks of a session", crossed.block_sd),
                ("between runs", crossed.run_sd),
            )
            known = (f"{figures.percent(sd)} {where}" for where, sd in parts if sd is not None)
            below = [f"all benchmarks together: {'; '.join(known)}"]
        title = f"Between sessions and between runs: {head}"
        return page(self, title, f"{head}: {text}", section(rows, *below))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sized(Result):
    """What a plan of sessions and one of hosts are asked: of what, and how sure."""

    candidate: str
    baseline: str
    on: On
    confidence: float
    power: float
    width: float | None
    effect: float | None
    speedup: float

    def goal(self, lines: int) -> str:
        """Say what is asked for, and whether each of `lines` lines has to reach it."""
        goals = []
        if self.width is not None:
            goals.append(f"a {100 * self.confidence:g} % interval of width {self.width:g}")
        if self.effect is not None:
            goals.append(f"to tell a speedup of {self.effect:g}x with probability {self.power:g}")
        each = "" if self.on == "suite" or lines == 1 else " for every benchmark"
        return f"{' and '.join(goals)}{each}"

    def sure(self, noun: str, variance: str) -> str:
        """Say how many it would be with the variance of the pilot at its quartiles."""
        names = (f"{noun}_low", f"{noun}_high", f"max_{noun}", f"pilot_{noun}")
        low, high, most, pilot = (getattr(self, name) for name in names)
        span = f"more than {most}" if high is None else f"{high}"
        span = span if low in (None, high) else f"{low} to {span}"
        text = f"that is as well as {pilot} {noun} tell: with {variance} at its quartiles"
        return f"{text} it would be {span} {noun}"


def enough(rows: tuple[Any, ...]) -> list[Any]:
    """Leave out the numbers that are not enough, but for the last of them."""
    short = [row for row in rows if row.runs is None]
    return [*short[-1:], *(row for row in rows if row.runs is not None)]


WIDTH = 0.02  # that is asked for where nothing is: an interval of about 1 % to either side
COSTS_UNKNOWN = (
    "what a session costs before its first run is not known, and counts as nothing: such a plan has "
    "more sessions than one from a trial directory"
)
ASSUMED_ALIKE = (
    "of the pilot differ no more than their {} explain, and the plan assumes that this is true: {}"
)
_BILLION = 1e9
_APART_S = 3600.0  # no trial spends that between two sessions that it executes in one go
Codes = NDArray[np.int64]
_ROUNDING = 1e-12  # logs nearer to each other are one value
_LEAST = 2  # sessions


def matched(
    candidate: PerformanceMatrix, baseline: PerformanceMatrix
) -> tuple[PerformanceMatrix, PerformanceMatrix, tuple[Caution, ...]]:
    """Give the two with the benchmarks that both have, and what to know about their values."""
    pair = match(candidate, baseline)
    own = (caution.of(m.name) for m in (candidate, baseline) for caution in m.cautions)
    return pair.candidate, pair.baseline, (*own, *pair.cautions)


def sign_of(matrix: PerformanceMatrix) -> int:
    """Orient the log ratio of candidate to baseline: above 0 when the candidate is better."""
    return 1 if matrix.better == "higher" else -1


def check_runs(ours: PerformanceMatrix, theirs: PerformanceMatrix, needed: int) -> None:
    """Raise InsufficientDataError where a benchmark has fewer runs than needed."""
    for matrix in (ours, theirs):
        for bench, runs in zip(matrix.benchmarks, matrix.runs, strict=True):
            if runs < needed:
                what = f"the benchmark has {figures.counted(runs, 'run')}, and {needed} are needed"
                where = f"{matrix.name}, benchmark {bench!r}"
                fix = "measure more runs of it, or leave it out"
                raise InsufficientDataError(what, where, fix, n=runs, needed=needed)


def check_positive(name: str, value: float) -> None:
    """Raise UsageError unless the value is a finite number above 0."""
    if not (math.isfinite(value) and value > 0):
        raise UsageError(f"{name} must be a number above 0, and is {value!r}")


class Goal(NamedTuple):
    """What is to be reached; None where it is not asked for."""

    half: float | None
    effect: float | None
    power: float
    alpha: float


def goal_of(
    width: float | None, effect: float | None, on: On, power: float, sure: float
) -> tuple[Goal, dict[str, Any]]:
    """Give the goal of an interval's relative width, and of a speedup to be found with a power.

    With it come the fields of a result that repeat it; a width is asked for where nothing else is.
    """
    width = WIDTH if width is None and effect is None else width
    chosen("on", on, get_args(On))
    between("confidence", sure)
    between("power", power)
    if power <= 1 - sure:
        what = f"power must lie above the risk, {1 - sure:.4g}, and is {power!r}"
        raise UsageError(what, fix="ask for 0.8, or for another confidence")
    check_wanted(width, effect)
    half, log = width and math.asinh(width / 2), effect and abs(math.log(effect))
    asked = {"confidence": sure, "power": power, "width": width, "effect": effect}
    return Goal(half, log, power, 1 - sure), asked


def check_wanted(width: float | None, effect: float | None) -> None:
    """Raise UsageError unless what is asked for are a width, and a speedup other than 1."""
    if width is not None:
        check_positive("width", width)
    if effect is not None:
        check_positive("effect", effect)
        if effect == 1:
            raise UsageError("an effect of 1 is none", fix="give a speedup, such as 1.02")


@dataclass(frozen=True, slots=True)
class TrialCosts:
    """Seconds of a trial's parts."""

    block_s: float
    warmup_s: float
    between_s: float | None
    sessions: int
    blocks: int

    @property
    def text(self) -> str:
        """Say what a pilot took, after what it is."""
        run, warmup = figures.time_span(self.block_s), figures.time_span(self.warmup_s)
        return f"; a run of every cell took {run}, a session's warm-up {warmup}"

    def seconds(self, sessions: Any, runs: Any) -> Any:  # noqa: ANN401 - numbers, or arrays of them
        """Give the time of `sessions` sessions with `runs` runs of each cell."""
        between = (sessions - 1) * (self.between_s or 0.0)
        return sessions * (self.warmup_s + runs * self.block_s) + between


@checks_arguments
def trial_costs(trial: Trial) -> TrialCosts:
    """Measure what a trial's sessions and runs cost, from the starts of its runs.

    A run costs the time until the next one of its session starts; the last one of a session, and
    one before an interruption, the time that it took and what others needed besides.

    Parameters
    ----------
    trial : Trial
        With one measured run at least.

    Raises
    ------
    InsufficientDataError
        If the trial has no run with a known time.
    """
    wall = trial.numbers["wall_ns"] / _BILLION
    known = np.isfinite(wall)
    if not (known & ~trial.warmup).any():
        what = "the trial has no run whose time is known"
        raise InsufficientDataError(what, str(trial.path), n=0, needed=1)
    spent = _spent(trial, np.where(known, wall, 0.0))
    measured = ~trial.warmup
    blocks = np.unique(np.stack([trial.session[measured], trial.block[measured]]), axis=1).shape[1]
    sessions = int(np.unique(trial.session[measured]).size)
    warmup_s = float(spent[trial.warmup & (trial.position >= 0)].sum()) / sessions
    block_s = float(spent[measured].sum()) / blocks
    return TrialCosts(block_s, warmup_s, _between(trial, wall), sessions, blocks)


def _spent(trial: Trial, wall: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the seconds of each run with what followed it."""
    start = trial.start_ns / _BILLION
    together = (np.diff(trial.session) == 0) & (np.diff(trial.segment) == 0)
    together &= (trial.start_ns[1:] >= 0) & (trial.start_ns[:-1] >= 0)
    until = np.append(np.diff(start), np.nan)
    until[:-1][~together] = np.nan
    besides = until - wall
    usual = float(np.median(besides[np.isfinite(besides)])) if np.isfinite(besides).any() else 0.0
    return np.maximum(np.where(np.isfinite(until), until, wall + max(usual, 0.0)), wall)


def _between(trial: Trial, wall: NDArray[np.float64]) -> float | None:
    """Give the time between two sessions; a resumed one, or another boot, says nothing."""
    step = np.flatnonzero((np.diff(trial.session) == 1) & (trial.segment[1:] == 0))
    known = (trial.start_ns[step] >= 0) & (trial.start_ns[step + 1] >= 0)
    step = step[known & np.isfinite(wall[step])]
    gaps = (trial.start_ns[step + 1] - trial.start_ns[step]) / _BILLION - wall[step]
    gaps = gaps[(gaps >= 0) & (gaps <= _APART_S)]
    return float(gaps.min()) if gaps.size else None


class Observations(NamedTuple):
    """One logarithm for each benchmark and block, in the order of benchmark, session and block.

    No two sessions share the number of a block. Of the runs of one side `runs` are how many there are
    of each, and `centres` their geometric means.
    """

    names: tuple[str, ...]
    values: Floats
    benchmark: Codes
    session: Codes
    block: Codes
    blocks_known: bool
    runs: Codes = np.empty(0, dtype=np.int64)
    centres: Floats = np.empty(0)

    @property
    def sessions(self) -> int:
        """How many sessions there are."""
        return int(np.unique(self.session).size)

    def of(self, benchmark: int) -> tuple[Floats, Codes]:
        """Give the values of one benchmark, and their sessions."""
        mine = self.benchmark == benchmark
        return self.values[mine], self.session[mine]

    def only(self, kept: Sequence[int]) -> Observations:
        """Give the observations of these benchmarks."""
        mine = np.flatnonzero(np.isin(self.benchmark, kept))
        found = self.at(mine, self.values[mine])
        codes = np.searchsorted(kept, found.benchmark).astype(np.int64)
        return found._replace(names=tuple(self.names[k] for k in kept), benchmark=codes)

    def at(self, places: NDArray[np.intp], values: Floats) -> Observations:
        """Give values at some places, whose sessions and blocks are numbered anew."""
        session, block = (
            np.unique(row[places], return_inverse=True)[1].astype(np.int64)
            for row in (self.session, self.block)
        )
        benchmark = self.benchmark[places]
        return Observations(self.names, values, benchmark, session, block, self.blocks_known)

    def shared(self, other: Observations) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Give the places on either side of what both have, where they are numbered together."""
        blocks = 1 + max(int(side.block.max()) for side in (self, other))
        ours, theirs = (side.benchmark * blocks + side.block for side in (self, other))
        _, here, there = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
        return here, there

    def suite(self) -> tuple[Floats, Codes]:
        """Give the mean over all benchmarks in each block that has them all, and its session."""
        blocks, place = np.unique(self.block, return_inverse=True)
        counts = np.bincount(place, minlength=blocks.size)
        sums = np.bincount(place, weights=self.values, minlength=blocks.size)
        session = np.zeros(blocks.size, dtype=np.int64)
        session[place] = self.session
        whole = counts == len(self.names)
        return sums[whole] / len(self.names), session[whole]


def values_of(matrix: PerformanceMatrix) -> Observations:
    """Take one variant's runs, the mean of those of one block."""
    (side,) = numbered(matrix)
    return side.at(np.arange(side.values.size), side.values)


def differences(candidate: PerformanceMatrix, baseline: PerformanceMatrix) -> Observations:
    """Take the log ratio in each block that both sides have."""
    ours, theirs = numbered(candidate, baseline)
    here, there = ours.shared(theirs)
    ratio = sign_of(candidate) * (ours.values[here] - theirs.values[there])
    ratio[np.abs(ratio) < _ROUNDING] = 0.0
    return ours.at(here, ratio)


def numbered(*matrices: PerformanceMatrix) -> list[Observations]:
    """Take the runs of each matrix by blocks; the same sessions and blocks have the same numbers in all."""
    sessions = _codes([matrix.sessions for matrix in matrices], matrices)
    known = all(matrix.blocks is not None for matrix in matrices)
    numbers = [np.repeat(np.arange(len(m.benchmarks)), m.runs).astype(np.int64) for m in matrices]
    if known:
        blocks = _codes([matrix.blocks for matrix in matrices], matrices)
    else:
        blocks = [_turns(b, s) for b, s in zip(numbers, sessions, strict=True)]
    many, turns = (1 + max(int(row.max()) for row in rows) for rows in (sessions, blocks))
    sides = []
    for matrix, bench, session, block in zip(matrices, numbers, sessions, blocks, strict=True):
        key = (bench * many + session) * turns + block
        found, first, place, runs = np.unique(
            key, return_index=True, return_inverse=True, return_counts=True
        )
        values = np.concatenate(matrix.samples)
        logs = np.bincount(place, weights=np.log(values)) / runs
        centres = np.where(runs == 1, values[first], np.exp(logs))
        benchmark, number = np.divmod(found, many * turns)
        columns = (logs, benchmark, number // turns, number, known, runs, centres)
        sides.append(Observations(matrix.benchmarks, *columns))
    return sides


def _codes(
    rows: Sequence[tuple[NDArray[Any], ...] | None], matrices: Sequence[PerformanceMatrix]
) -> list[Codes]:
    """Turn labels into numbers; sides without labels share one."""
    flat = [
        np.full(sum(matrix.runs), "-") if row is None else np.concatenate(row)
        for row, matrix in zip(rows, matrices, strict=True)
    ]
    if len({labels.dtype.kind for labels in flat}) > 1:
        flat = [labels.astype(np.str_) for labels in flat]
    codes = np.unique(np.concatenate(flat), return_inverse=True)[1].astype(np.int64)
    return np.split(codes, np.cumsum([labels.size for labels in flat])[:-1])


def _turns(benchmark: Codes, session: Codes) -> Codes:
    cell = benchmark * (int(session.max()) + 1) + session
    counts, turns = np.bincount(cell), np.empty_like(cell)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    turns[np.argsort(cell, kind="stable")] = np.arange(cell.size) - starts
    return turns


def crossed(seen: Observations) -> RandomEffects | None:
    """Fit the model to logarithms; None where it cannot be fitted, or nothing is left over."""
    cells = seen.benchmark * (int(seen.session.max()) + 1) + seen.session
    codes = {
        "benchmark": seen.benchmark,
        "session": seen.session,
        "benchmark:session": np.unique(cells, return_inverse=True)[1].astype(np.int64),
        "block": seen.block,
    }
    levels = {name: np.unique(code).size for name, code in codes.items()}
    if min(levels["benchmark"], levels["session"]) < 2:
        return None
    if levels["benchmark:session"] >= seen.values.size:
        del codes["benchmark:session"]
    if not levels["session"] < levels["block"] < seen.values.size:
        del codes["block"]
    return random_effects(seen.values, codes)


@checks_arguments
def variance_components(
    candidate: PerformanceMatrix, baseline: PerformanceMatrix | None = None
) -> VarianceComponents:
    """Tell what lies between sessions from what lies between the blocks of one.

    Parameters
    ----------
    candidate : PerformanceMatrix
        The variant.
    baseline : PerformanceMatrix, optional
        With it, the differences are looked at: log(candidate / baseline) in each block that both
        have, the sign turned so that more is better. Without, the logarithms of the values.

    Returns
    -------
    VarianceComponents
        Standard deviations of logarithms (shares, without a unit).

    Raises
    ------
    InsufficientDataError
        If fewer than two sessions have the values; a variance between sessions needs two.
    AnalysisError
        If the two do not compare.

    Notes
    -----
    Each benchmark, and the mean over all, by restricted likelihood [1]_; all together by average
    information [2]_. For sessions of one size the first is the analysis of variance, cut at 0.
    Blocks that a source does not know are taken to be the k-th runs of a session. A benchmark with
    fewer than two sessions is left out, and a caution names it.

    References
    ----------
    .. [1] H. D. Patterson, R. Thompson, "Recovery of inter-block information when block sizes are
       unequal", Biometrika 58, 1971.
    .. [2] A. R. Gilmour, R. Thompson, B. R. Cullis, "Average Information REML", Biometrics 51, 1995.
    """
    if baseline is None:
        seen, known = values_of(candidate), candidate.cautions
    else:
        ours, theirs, known = matched(candidate, baseline)
        seen = differences(ours, theirs)
    sessions = seen.sessions
    if sessions < _LEAST:
        where, none = candidate.name, "no session"
        if baseline is not None:
            where, none = f"{where} and {baseline.name}", f"{none} that both sides have"
        what = f"the pilot has {'one session' if sessions else none}, and {_LEAST} are needed"
        fix = "measure two sessions or more, such as 'fairtrial run --sessions 3'"
        raise InsufficientDataError(what, where, fix, n=sessions, needed=_LEAST)
    lines, suite = component_lines(seen)
    absent = [name for name, line in zip(seen.names, lines, strict=True) if line is None]
    if absent and len(absent) < len(lines):
        seen = seen.only([k for k, line in enumerate(lines) if line is not None])
        suite = component_lines(seen)[1]
    left = f"left out, because fewer than two sessions have it: {figures.listed(absent)}"
    table = {
        "benchmark-in-one-session": absent and (left, *absent),
        "blocks-unknown": not seen.blocks_known
        and "the sources do not say which runs share a block: the first runs of a session are "
        "compared with each other, then the second ones, and so on",
    }
    return VarianceComponents(
        of="values" if baseline is None else "differences",
        candidate=candidate.name,
        baseline=None if baseline is None else baseline.name,
        sessions=sessions,
        benchmarks=tuple(line for line in lines if line is not None),
        suite=suite,
        crossed=_crossed(seen),
        cautions=(*known, *cautions_of(table)),
    )


def component_lines(seen: Observations) -> tuple[list[ComponentLine | None], ComponentLine | None]:
    """Give each benchmark's components and those of the mean over all of them."""
    lines = [_line(name, *seen.of(k)) for k, name in enumerate(seen.names)]
    return lines, _line("these", *seen.suite()) if len(seen.names) > 1 else None


def _line(name: str, values: Floats, session: Codes) -> ComponentLine | None:
    if np.unique(session).size < _LEAST:
        return None
    one = one_way(values, session)
    spreads = math.sqrt(one.between), one.within and math.sqrt(one.within)
    return ComponentLine(name, one.mean, *spreads, one.deviance, one.groups, one.values)


def _crossed(seen: Observations) -> Crossed | None:
    if len(seen.names) < 2 or (found := crossed(seen)) is None:
        return None
    sd = {name: math.sqrt(value) for name, value in found.variances.items()}
    names = ("benchmark", "session", "benchmark:session", "block")
    benchmark, session, both, block = (sd.get(name) for name in names)
    return Crossed(benchmark, session, both, block, sd["rest"], found.deviance)
