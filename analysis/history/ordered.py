"""Judging a series of variants: read, pool what is one program, test all places, correct, put into words."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from ..data.host_record import builds_each_session, not_judged, ordered_variants_of, settings_of
from ..data.matrix import PerformanceMatrix
from ..data.trial import Trial
from ..errors import AnalysisError, InsufficientDataError, StoreError, UsageError
from ..methods.multilevel.estimates import exact_values
from ..methods.multilevel.law import Looks
from ..methods.multilevel.values import HIDDEN, spread_of_runs, steps_in
from ..pages import number_format as figures
from ..pages.model import (
    Caution,
    Next,
    Page,
    Table,
    Value,
    columns_of,
    first_notes,
    merged,
    section,
)
from ..pages.number_format import Compared, Difference
from ..pages.result import Result
from ..record.environment import commits_of_all, neighbours_of_one_program, whole_targets
from ..record.manifest import is_here, judge_words, resume_words
from ..record.shapes import records_of
from ..record.trial_files import ENVIRONMENT, EnvironmentShape
from ..stats.arguments import checks_arguments, named
from ..stats.multiplicity import Correction, adjusted, check_correction, holm_steps
from ..stats.samples import Array
from ..words import Name
from .places import Contrasts, FoundStep, Rounding, contrasts_of, steps_of

# --- What a series of variants in one trial shows: its places, its steps, and a word for each benchmark.

Outcome = Literal["step", "equivalent", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedPlace:
    """All variants from `variant` on against all before it: the speedup of the later ones.

    `low` and `high` hold for all places at once; None where nothing varies. `pvalue` is this place's alone;
    `probability` is that of one step here, if there is one.
    """

    variant: str
    speedup: float
    low: float | None
    high: float | None
    pvalue: float | None
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedStep:
    """A step: likeliest at `variant`; with 95 % behind `after` and at `upto` at the latest.

    `speedup` is that of the variants from `upto` on, up to the next step, over those up to `after`, since the step
    before, with its interval. Commits are None where they are not known.
    """

    variant: str
    after: str
    upto: str
    word: Literal["faster", "slower"]
    speedup: float
    low: float
    high: float
    commit: str | None
    after_commit: str | None
    upto_commit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedLine:
    """One benchmark, or the mean of all (`suite`).

    `pvalue` is that of the best place, times the places; `pvalue_equivalent` the largest of all places. The
    adjusted ones are corrected over the benchmarks too; None where nothing varies. `best` is the place with the
    least p, the likeliest where nothing varies.
    """

    name: str
    outcome: Outcome
    sessions: int
    best: OrderedPlace
    pvalue: float | None
    pvalue_adjusted: float | None
    pvalue_equivalent: float | None
    pvalue_equivalent_adjusted: float | None
    steps: tuple[OrderedStep, ...]
    places: tuple[OrderedPlace, ...]
    left_out: tuple[str, ...]

    @property
    def largest(self) -> OrderedStep:
        """The largest of its steps; there is one at least."""
        return max(self.steps, key=lambda one: max(one.speedup, 1 / one.speedup))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrderedVariants(Result):
    """Where an ordered series of variants changes.

    `trial`, `campaign`, `campaign_path`: The trial's folder, its campaign's name, and where that stood. `metric`, `unit`,
    `better`: What was judged. `risk`, `margin`, `correction`: As asked; `level` is the risk at this look at the trial,
    and `looks_rule` how that was shared. `variants`: In their order. `pooled`: Neighbours that are one program, as far as
    there are such. `benchmarks`: One each. `suite`: The mean over all benchmarks; None of one benchmark.
    """

    method: ClassVar[str] = "ordered-variants"
    derived: ClassVar[tuple[str, ...]] = ("sentence", "next")

    trial: str
    campaign: str
    campaign_path: str
    metric: str
    unit: str
    better: str
    risk: float
    level: float
    looks_rule: str
    margin: float
    correction: Correction
    variants: tuple[str, ...]
    pooled: tuple[tuple[str, ...], ...]
    benchmarks: tuple[OrderedLine, ...]
    suite: OrderedLine | None

    @property
    def answering(self) -> OrderedLine:
        """The line that the answer is about: the suite's, or the surest step of a benchmark where that has none."""
        whole = self.suite or self.benchmarks[0]
        stepped = [one for one in self.benchmarks if one.steps]
        if whole.outcome == "step" or not stepped:
            return whole
        return min(stepped, key=lambda one: one.pvalue_adjusted or 0.0)

    @property
    def sentence(self) -> str:
        """The answer: from which variant on it is slower or faster, or that there is no such step, or that nobody knows."""
        line, where = self.answering, ""
        if self.suite is not None:
            these = f" over these {len(self.benchmarks)} benchmarks"
            where = these if line is self.suite else f" on {line.name:.24}"
        if line.steps:
            step, more = line.largest, len(line.steps)
            found = self.difference(step)
            text = f"from {step.variant:.24} on it {found.phrase()} {found.link} before"
            many = "" if more == 1 else f"{more} steps{where}, the largest: "
            return f"{many}{text}{where if more == 1 else ''} ({found.interval()})"
        found, head = self.difference(line.best), f"among {len(self.variants)} variants{where}"
        if line.outcome == "equivalent":
            within = f"within {100 * self.margin:g} %"
            return f"no step {head}: before and behind each it {found.same()}, {within}"
        between = found.between()
        return f"no step found {head}{f': if one is at {line.best.variant:.24}, it lies {between}' if between else ''}"

    @property
    def following(self) -> Next:
        """What to do next: the commits to search, the two variants to compare, or more sessions."""
        line, campaign = self.answering, self.campaign_path
        metric = (*(() if self.metric == "wall" else ("--metric", self.metric)), *judge_words())
        if line.steps:
            step = line.largest
            if step.after_commit and step.upto_commit and is_here(campaign):
                whole = line is self.suite or not self.suite
                benchmark = () if whole else ("--benchmark", line.name)
                ends = (step.after_commit, step.upto_commit, "--campaign", campaign)
                words = ("fairtrial", "bisect", *ends, *benchmark, *metric)
                return Next(words, "proves it on fresh sessions")
            sides = [f"{self.trial}:" + name for name in (step.upto, step.after)]
            return Next(("fairtrial", "verdict", *sides, *metric), "compares these two")
        if line.outcome == "undecided":
            more = resume_words(self.trial, campaign, max(line.sessions, 4))
            return Next(more, "more sessions tell")
        words = ("fairtrial", "report", self.trial, *metric, "-o", "report.html")
        return Next(words, "every run, as a page")

    @property
    def next(self) -> tuple[str, ...]:
        """What to do next: command lines, ready to be pasted."""
        return (self.following.line,)

    def difference(self, line: Compared) -> Difference:
        """Give the difference that a speedup of the metric stands for."""
        return Difference.of(line, metric=self.metric, unit=self.unit, better=self.better)

    def screen(self) -> Page:
        """Set what changes along the variants, and the places of the changes."""
        lines = sorted(self.benchmarks, key=lambda one: _FIRST.index(one.outcome))
        lines = lines if self.suite is None else [self.suite, *lines]
        rows = [row for line in lines for row in _rows(self, line)]
        columns = columns_of("<", "<from", "change", f"{100 * (1 - self.level):.4g} %", "<")
        table = Table(name="places", columns=columns, rows=tuple(rows[:_MOST]))
        more = []
        if (hidden := len(rows) - _MOST) > 0:
            more = [f"and {figures.counted(hidden, 'row')} more (--json has all)"]
        found = self.sentence
        return Page(
            title="Ordered variants",
            sections=(section(found[:1].upper() + found[1:]), section(table, *more)),
            following=(section(*first_notes(_notes(self)), self.following),),
        )


# --- Which neighbours of a series are one program, by what its trial recorded.


def one_programs(
    trial: Path,
    variants: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    same: Mapping[str, str],
) -> tuple[tuple[str, ...], ...]:
    """Give the variants as runs of neighbours that are one program on every benchmark.

    `same` are those that the trial did not measure for that reason, and in whose place which was.
    """
    cells = settings_of(trial).get("cells")
    programs = [whole_targets(row.get("targets")) for row in rows]
    groups: list[list[str]] = []
    for group in neighbours_of_one_program(
        variants, cells if isinstance(cells, list) else (), programs
    ):
        if groups and any(same.get(b, b) == same.get(a, a) for a in groups[-1] for b in group):
            groups[-1].extend(group)
        else:
            groups.append([*group])
    return tuple(map(tuple, groups))


def starts_of(groups: Sequence[Sequence[str]], variants: Sequence[str]) -> tuple[int, ...]:
    """Give the places of a series: the numbers of variants, but the first, with which another program begins."""
    program = {name: k for k, group in enumerate(groups) for name in group}
    numbers = [program[name] for name in variants]
    return tuple(k for k, (a, b) in enumerate(itertools.pairwise(numbers), 1) if a != b)


# --- The session values of a trial's variants: a table of logs for each benchmark, and one of their mean.


SUITE = "suite"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SessionTable:
    """Mean logs of runs, larger = slower: sessions x variants, without gaps.

    `left_out` are variants that lack a value in more than half of the sessions, `sessions_left_out` how many
    sessions lack one of the others; `rounding` is what a step of the values leaves open, `cut` tells whether
    their time limit ended some, so that nothing is decided. `places`: The numbers of variants that may begin a step.
    """

    name: str
    variants: tuple[str, ...]
    logs: Array
    left_out: tuple[str, ...]
    sessions_left_out: int
    rounding: Rounding
    cut: bool
    places: tuple[int, ...]

    @property
    def judged(self) -> bool:
        """Whether there are two sessions, in which two programs succeeded."""
        return len(self.logs) > 1 and bool(self.places)


def session_tables(
    trial: Trial,
    variants: Sequence[str],
    metric: str,
    benchmarks: Sequence[str],
    groups: Sequence[Sequence[str]],
) -> tuple[list[SessionTable], tuple[Caution, ...]]:
    """Give the tables of benchmarks, the suite's last where there are several, and what was said of the runs.

    `groups`: Neighbours that are one program.
    """
    sides: dict[str, PerformanceMatrix] = {}
    for name in variants:
        # without values it is left out of every table, which says so
        with contextlib.suppress(InsufficientDataError):
            sides[name] = trial.matrix(name, metric)
    sign = -1.0 if trial.metric(metric).better == "higher" else 1.0
    sessions = np.unique(trial.session[trial.measured]).tolist()

    def column(side: PerformanceMatrix | None, bench: str) -> Array:
        """Give the mean log of a benchmark's runs in each session and the share of each run, nan where there is none."""
        if side is None or bench not in side.benchmarks or side.sessions is None:
            return np.full((2, len(sessions)), np.nan)
        place = side.benchmarks.index(bench)
        logs, ids = sign * np.log(side.samples[place]), side.sessions[place]
        mine = (logs[ids == session] for session in sessions)
        return np.array([(x.mean(), 1 / x.size) if x.size else (np.nan, np.nan) for x in mine]).T

    steps = _steps_of([*sides.values()], trial.metric(metric).unit, benchmarks)
    cells: list[tuple[tuple[str, ...], Array, Rounding]] = []
    for bench, (exact, step, added) in zip(benchmarks, steps, strict=True):
        logs, share = np.stack([column(sides.get(name), bench) for name in variants], 2)
        cells.append(((bench,), logs, Rounding(exact, step**2 / 12 * share, added)))
    if len(benchmarks) > 1:
        _, every, each = zip(*cells, strict=True)
        whole = (all(one.exact for one in each), sum(one.variance for one in each) / len(each) ** 2)
        added = math.fsum(one.added for one in each) / len(each)
        cells.append((tuple(benchmarks), np.mean(every, axis=0), Rounding(*whole, added)))
    cut = {bench for side in sides.values() for bench in side.cut or ()} & {*benchmarks}
    tables = []
    for those, logs, rounding in cells:
        there = ~np.isnan(logs)
        begun = there.any(axis=1)
        kept = 2 * there.sum(axis=0) >= max(1, int(begun.sum()))
        rows = there[:, kept].all(axis=1) & begun
        known = tuple(itertools.compress(variants, kept))
        table = SessionTable(
            name=those[0] if len(those) == 1 else SUITE,
            variants=known,
            logs=logs[np.ix_(rows, kept)],
            left_out=tuple(itertools.compress(variants, ~kept)),
            sessions_left_out=int((begun & ~rows).sum()),
            rounding=rounding.of(np.ix_(rows, kept)),
            cut=not cut.isdisjoint(those),
            places=starts_of(groups, known),
        )
        tables.append(table)
    text = f"runs were stopped at their limit: {', '.join(sorted(cut))} undecided"
    cautions = merged(*(side.cautions for side in sides.values()))
    return tables, (*cautions, *([Caution("cut-off", text)] if cut else ()))


def _steps_of(
    sides: Sequence[PerformanceMatrix], unit: str, benchmarks: Sequence[str]
) -> Iterator[tuple[bool, float, float]]:
    """Give of each benchmark whether runs are counts, the log of their step, 0 where it is unknown, and what that adds."""
    samples = [
        [side.values(name) for side in sides if name in side.benchmarks] or [np.ones(1)]
        for name in benchmarks
    ]
    exact = np.array([exact_values(unit, *runs) for runs in samples])
    for step, counted, runs in zip(
        steps_in(samples, exact)[0], exact.tolist(), samples, strict=True
    ):
        least = math.exp(min(np.log(one).mean() for one in runs))
        log = float(np.nan_to_num(math.log1p(step / least)))
        yield counted, log, log if not counted and spread_of_runs(runs) < HIDDEN * log else 0.0


_SMALL = 0.01  # a step that may be one of layout


@checks_arguments
def ordered_variants(
    trial: Trial,
    *,
    variants: Sequence[str] | None = None,
    metric: str | None = None,
    benchmarks: Sequence[str] | None = None,
    risk: float = 0.05,
    margin: float = 0.01,
    correction: Correction = "holm",
) -> OrderedVariants:
    """Find from which variant of an ordered series on a trial is slower, or faster.

    Parameters
    ----------
    trial : Trial
        From `read_trial`.
    variants : sequence of str, optional
        The series in its order; by default all, where the campaign says ``series: on``.
    metric : str, optional
        As for `judge`.
    benchmarks : sequence of str, optional
        Those to judge; all by default.
    risk : float
        That a step is stated where there is none: over all places, and with Holm's correction over the benchmarks;
        the suite has it once more for itself.
    margin : float
        The largest step, as a ratio less 1, that counts as none.
    correction : {"holm", "bh", "none"}
        Over the benchmarks.

    Returns
    -------
    OrderedVariants

    Raises
    ------
    UsageError
        If a name is unknown, an argument is out of its range, or nothing says that the variants are a series.
    AnalysisError
        If all variants are one program, or a value is not positive.
    InsufficientDataError
        If fewer than two sessions, or than two variants, have values.

    Notes
    -----
    H0 of `pvalue`: no variant differs from another. Sessions are the unit; within them the order of runs
    must be shuffled, or what drifts inside a session looks like a step.
    """
    if not 0 < risk < 0.5:
        raise UsageError(f"risk must lie between 0 and 0.5, not {risk!r}")
    if not (math.isfinite(margin) and margin >= 0):
        raise UsageError(f"margin must be a number of at least 0, not {margin!r}", fix="0.01")
    check_correction(correction)
    names = _series(trial, variants)
    chosen = trial.default_metric if metric is None else metric
    about = trial.metric(chosen)
    there = trial.manifest.benchmarks
    wanted = named("benchmark", there if benchmarks is None else benchmarks, there)
    rows: list[Mapping[str, Any]] = []
    with contextlib.suppress(StoreError):  # a torn last line, or none: it pools nothing
        rows.extend(row for _, row in records_of(trial.path / ENVIRONMENT, EnvironmentShape))
    same = trial.manifest.same_program
    groups = one_programs(trial.path, names, rows, same)
    if len(groups) < 2:
        what = f"the {len(names)} variants of the series are one program"
        fix = "there is nothing to compare: build each of them at a path of its own"
        raise AnalysisError(what, str(trial.path), fix)
    tables, cautions = session_tables(
        trial, [name for name in names if name not in same], chosen, wanted, groups
    )
    if not any(one.judged for one in tables):
        what = "no benchmark has two sessions in which two variants succeeded"
        n = max(len(one.logs) for one in tables)
        raise InsufficientDataError(what, str(trial.path), "measure more sessions", n=n, needed=2)
    manifest, look = trial.manifest, Looks.growing(trial.manifest.sessions_at_looks)
    if manifest.looks_plan is not None:
        look = Looks.of_plan(manifest.looks_plan, manifest.sessions)
    level = look.alpha(1.0 - risk)
    judging = _Judging(float(level), math.log1p(margin), correction, commits_of_all(rows))
    own = tables[: len(wanted)]  # behind them stands the suite's
    lines = judging.lines([one for one in own if one.judged])
    suite = judging.lines([one for one in tables[len(wanted) :] if one.judged])
    return OrderedVariants(
        trial=str(trial.path),
        campaign=manifest.campaign_name,
        campaign_path=manifest.campaign_path,
        metric=chosen,
        unit=about.unit,
        better=about.better,
        risk=float(risk),
        level=float(level),
        looks_rule=look.rule,
        margin=float(margin),
        correction=correction,
        variants=names,
        pooled=tuple(group for group in groups if len(group) > 1),
        benchmarks=lines,
        suite=suite[0] if suite else None,
        cautions=merged(
            trial.cautions,
            not_judged(trial.unnamed) if metric is None else (),
            cautions,
            _cautions(trial, tables, (*lines, *suite)),
        ),
    )


def _series(trial: Trial, variants: Sequence[str] | None) -> tuple[str, ...]:
    where = str(trial.path)
    if variants is not None:
        names = named("variant", variants, trial.manifest.variants)
    else:
        found = ordered_variants_of(trial.path)
        if found is None:
            raise UsageError(
                "the campaign does not call its variants a series",
                where,
                "write 'series: on' into the campaign; or ask 'fairtrial verdict' about each of them",
            )
        names = tuple(name for name in found if name in trial.manifest.variants)
    if len(names) < 2:
        raise UsageError("a series has two variants or more", where, "measure more variants")
    return tuple(map(Name, names))


@dataclass(frozen=True, slots=True)
class _Judging:
    """How the lines of a family are judged: at which `level`, and from which `margin` of logs on."""

    level: float
    margin: float
    correction: Correction
    commits: Mapping[str, str | None]

    def lines(self, family: Sequence[SessionTable]) -> tuple[OrderedLine, ...]:
        """Test the places of tables, correct over the lines of one family, and say what each comes to."""
        if not family:
            return ()
        found = [contrasts_of(one.logs, one.places, one.rounding) for one in family]
        q = [one.pvalue_equivalent(self.margin) for one in found]
        alone = (
            # nan where nothing varies
            [min(1.0, len(one.at) * p) if (p := one.least) == p else p for one in found],
            [math.nan if np.isnan(one).any() else float(one.max()) for one in q],
        )
        raised = [adjusted(one, self.correction).tolist() for one in alone]
        levels = self.level / holm_steps(alone[0], self.correction)
        columns = zip(family, found, zip(*alone, *raised, strict=True), levels, strict=True)
        return tuple(self._line(*one) for one in columns)

    def _line(
        self,
        table: SessionTable,
        found: Contrasts,
        pvalues: Sequence[float],
        level: float,
    ) -> OrderedLine:
        p, q, raised_p, raised_q = pvalues
        steps: tuple[FoundStep, ...] = ()
        outcome: Outcome = "undecided"
        if not table.cut and (raised_q <= self.level / 2 or found.same(self.margin)):
            outcome = "equivalent"
        elif not table.cut and raised_p <= self.level:
            steps = steps_of(table.logs, found.at, level, self.level, table.rounding)
            outcome = "step" if steps else "undecided"
        least, half = found.pvalue, found.half(self.level / len(found.at))
        places = tuple(
            OrderedPlace(
                variant=table.variants[at],
                speedup=math.exp(-found.difference[k]),
                low=_number(math.exp(-found.difference[k] - half[k])),
                high=_number(math.exp(-found.difference[k] + half[k])),
                pvalue=_number(least[k]),
                probability=float(found.probability[k]),
            )
            for k, at in enumerate(found.at)
        )
        best = found.likeliest if np.isnan(least).all() else int(np.nanargmin(least))
        return OrderedLine(
            name=Name(table.name),
            outcome=outcome,
            sessions=len(table.logs),
            best=places[best],
            pvalue=_number(p),
            pvalue_adjusted=_number(raised_p),
            pvalue_equivalent=_number(q),
            pvalue_equivalent_adjusted=_number(raised_q),
            steps=tuple(self._step(table, one) for one in steps),
            places=places,
            left_out=table.left_out,
        )

    def _step(self, table: SessionTable, step: FoundStep) -> OrderedStep:
        name, after, upto = (table.variants[k] for k in (step.at, step.first - 1, step.last))
        return OrderedStep(
            variant=name,
            after=after,
            upto=upto,
            word="slower" if step.difference > 0 else "faster",
            speedup=math.exp(-step.difference),
            low=math.exp(-step.difference - step.half),
            high=math.exp(-step.difference + step.half),
            commit=self.commits.get(name),
            after_commit=self.commits.get(after),
            upto_commit=self.commits.get(upto),
        )


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _cautions(
    trial: Trial, tables: Sequence[SessionTable], lines: Sequence[OrderedLine]
) -> Iterator[Caution]:
    protocol = settings_of(trial.path).get("protocol")
    order = protocol.get("order") if isinstance(protocol, dict) else None
    if order != "shuffled":
        words = "unknown" if order is None else repr(order)
        text = f"the order of runs is {words}, not shuffled: what drifts inside a session looks like a step"
        yield Caution("order-not-shuffled", text)
    for one in tables:
        if one.left_out:
            names = figures.listed(one.left_out)
            text = f"{one.name}: {names} left out, without values in half of the sessions"
            yield Caution("variant-incomplete", text, (one.name,))
        if one.sessions_left_out:
            count = figures.counted(one.sessions_left_out, "session")
            text = f"{one.name}: {count} left out, in which a variant has no value"
            yield Caution("sessions-incomplete", text, (one.name,))
    for name in (one.name for one in tables if not one.judged):
        text = f"{name} is not judged: it has no two sessions with two variants"
        yield Caution("benchmark-left-out", text, (name,))
    steps = ((line.name, step) for line in lines for step in line.steps)
    small = dict.fromkeys(name for name, step in steps if abs(math.log(step.speedup)) < _SMALL)
    varied = builds_each_session(trial.path).issuperset(x for one in tables for x in one.variants)
    if small and not varied:
        text = "a step below about 1 % may be one of layout, by which two builds of one source differ too"
        yield Caution("build-noise", f"{figures.listed([*small])}: {text}", tuple(small))
    if any(line.outcome == "equivalent" for line in lines):
        text = "steps that cancel each other are not seen where there is none else"
        yield Caution("may-cancel", text)


# --- The screen of a series of variants: the answer, a row for each step or benchmark,
# notes, what comes next.


_MOST = 14  # rows
_FIRST = ("step", "undecided", "equivalent")


def _rows(result: OrderedVariants, line: OrderedLine) -> Iterator[tuple[str, str, Value, str, str]]:
    name = line.name if line is result.suite else Name(line.name)
    if line.outcome == "equivalent":
        yield name, "-", Value("-", None), "-", "the same"
        return
    timed = figures.timed(result.unit)
    found: tuple[OrderedPlace | OrderedStep, ...] = line.steps or (line.best,)
    for one in found:
        gap = result.difference(one)
        word = "undecided"
        if isinstance(one, OrderedStep):
            word = figures.outcome_word(one.word, timed=timed)
        cell = Value(gap.cell(), None if gap.ratio is None else gap.ratio - 1)
        yield name, Name(one.variant), cell, gap.cell_interval(), word
        name = ""


def _notes(result: OrderedVariants) -> Iterator[Caution | str]:
    names = list(result.variants)
    for line in ((result.suite,) if result.suite else ()) + result.benchmarks:
        for step in line.steps:
            if names.index(step.upto) - names.index(step.after) > 1:
                yield (
                    f"{line.name}: the step lies behind {step.after}, and at "
                    f"{step.upto} at the latest, with 95 %"
                )
    if result.pooled:
        many = sum(map(len, result.pooled))
        yield (
            f"{many} of {len(names)} variants are the same program as a neighbour: "
            f"{figures.listed([' = '.join(one) for one in result.pooled], 2)}"
        )
    yield from result.cautions
