"""Judging a series of variants: read, pool what is one program, test all places, correct, put into words."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from ..data.host_record import builds_each_session, not_judged, ordered_variants_of, settings_of
from ..data.trial import Trial
from ..errors import AnalysisError, InsufficientDataError, StoreError, UsageError
from ..methods.multilevel.exact import FEWEST, exact_values, identity_pvalue
from ..methods.multilevel.law import Looks
from ..pages import number_format as figures
from ..pages.model import Caution, merged
from ..record.environment import commits_of_all, neighbours_of_one_program, whole_targets
from ..record.shapes import records_of
from ..record.trial_files import ENVIRONMENT, EnvironmentShape, Manifest
from ..stats.arguments import checks_arguments, named
from ..stats.multiplicity import Correction, adjusted, check_correction, holm_steps
from ..stats.samples import Array, Integers
from .ordered_result import OrderedLine, OrderedPlace, OrderedStep, OrderedVariants, Outcome

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix

# --- The places of an ordered series, each tested: all variants from it on against all before it.
#
# A session gives one contrast a place: the mean log of the variants from the place on, less the mean of those
# before it. What moves the whole session cancels in it, so Student's t over sessions is exact for normal contrasts,
# whatever the variants of a session have in common, and however differently they vary. Places share their data;
# Bonferroni's bound holds whatever their correlation.
#
# Where a place is tested, the smallest p is that of the best one. If it counts, the step may still lie beside it:
# with a flat prior on place, size and log variance, errors alike, P(k) is in proportion to
# rss(k)^(-(S (n - 1) - 1) / 2), of S sessions, n variants and the residual sum of squares rss(k) of one step at k.
# What lies before and behind the places that hold 95 % is then searched in turn, each side at half of the level.


HELD = 0.95  # of the probability, by the places that are named
_FLAT = 1e-12  # a spread of logs that is none


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contrasts:
    """All places of a series of variants: `at` are the numbers of the first variant from each on.

    `difference` is positive where the later variants are slower, `error` its standard error with `freedom`
    degrees; `probability` is that of one step at each place, all together 1. `identity` is, of counts that vary in
    no variant, the chance that sessions fall apart so, nan where all are one number; None of everything else.
    """

    at: tuple[int, ...]
    difference: Array
    error: Array
    freedom: int
    probability: Array
    identity: Array | None = None

    @property
    def pvalue(self) -> Array:
        """Two-sided p of each place, nan where nothing varies that is measured."""
        if self.identity is not None:
            return self.identity
        return self._tail(np.abs(self.difference), 2.0)

    def pvalue_equivalent(self, margin: float) -> Array:
        """Give the larger p of the two tests that each difference lies within -margin to margin."""
        return self._tail(margin - np.abs(self.difference), 1.0)

    def same(self, margin: float) -> bool:
        """Tell whether these are counts that vary in no variant and differ by less than the margin."""
        near = np.abs(self.difference) < max(margin, _FLAT)
        return self.identity is not None and self.freedom + 1 >= FEWEST and bool(near.all())

    def half(self, risk: float) -> Array:
        """Give half the width of each place's interval, nan where nothing varies that is measured."""
        if self.identity is not None:
            return np.zeros(self.difference.shape)
        quantile = -float(stdtrit(self.freedom, risk / 2))
        return np.where(self.error > _FLAT, quantile * self.error, np.nan)

    def _tail(self, distance: Array, sides: float) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(self.error > _FLAT, distance / self.error, np.nan)
        return np.asarray(np.minimum(sides * stdtr(self.freedom, -t), 1.0))

    @property
    def least(self) -> float:
        """The smallest p of all places; nan where nothing varies."""
        p = self.pvalue
        return float(np.nanmin(p)) if not np.isnan(p).all() else math.nan

    @property
    def likeliest(self) -> int:
        """The number, among the places, of the likeliest one."""
        return int(np.argmax(self.probability))

    def likely(self) -> tuple[int, int]:
        """Give the shortest run of places with `HELD` of the probability: the first and last, as numbers among them."""
        sums = np.concatenate([[0.0], np.cumsum(self.probability)])
        count = self.probability.size
        runs = (
            (j - i, -(sums[j] - sums[i]), i, j - 1)
            for i in range(count)
            for j in range(i + 1, count + 1)
            if sums[j] - sums[i] >= HELD - 1e-12
        )
        _, _, first, last = min(runs, default=(count, 0.0, 0, count - 1))
        return first, last


def contrasts_of(table: Array, places: Sequence[int], *, exact: bool = False) -> Contrasts:
    """Test places of a table of logs, `exact` ones of counts: sessions x variants, without gaps; two sessions at least."""
    sessions, n = table.shape
    k = np.array(places, dtype=np.int64)
    sums = np.cumsum(table, axis=1)
    before, whole = sums[:, k - 1], sums[:, -1:]
    each = (whole - before) / (n - k) - before / k
    difference = each.mean(axis=0)
    error = each.std(axis=0, ddof=1) / math.sqrt(sessions)
    centred = table - table.mean(axis=1, keepdims=True)
    squares = float(np.square(centred).sum())
    explained = sessions * k * (n - k) / n * np.square(difference)
    residual = np.maximum(squares - explained, max(_FLAT**2, 1e-14 * squares))
    log = -(sessions * (n - 1) - 1) / 2 * np.log(residual)
    p = np.exp(log - log.max())
    return Contrasts(
        at=tuple(int(one) for one in k),
        difference=difference,
        error=error,
        freedom=sessions - 1,
        probability=p / p.sum(),
        identity=_identity(table, difference, k) if exact else None,
    )


def _identity(table: Array, difference: Array, places: Integers) -> Array | None:
    """Give the chance of each place, where no variant varies over sessions; None else."""
    sessions, n = table.shape
    if (np.ptp(table, axis=0) >= _FLAT).any():
        return None
    steps = 1 + np.flatnonzero(np.abs(np.diff(table.mean(axis=0))) >= _FLAT)
    alone = (steps.size == 1) & (places == steps.sum())
    # cells are the variants' sessions where each side of the place is one number, else whole sessions
    before, behind = (np.where(alone, sessions * count, sessions) for count in (places, n - places))
    p = np.where(np.abs(difference) < _FLAT, 1.0, identity_pvalue(before, behind))
    return p if steps.size else np.full(places.shape, np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundStep:
    """A step: `at` is likeliest the first variant from it on, which lies in `first` to `last` with 95 %.

    `difference` is that of the variants from `last` on, up to the next step, over those before `first`, since the one
    before; `half` is half of its interval.
    """

    at: int
    first: int
    last: int
    difference: float
    half: float


def steps_of(
    table: Array, places: Sequence[int], risk: float, level: float, *, exact: bool = False
) -> tuple[FoundStep, ...]:
    """Find steps one by one; a series without any has one at most with `risk`. `level` is the risk of an interval."""
    n = table.shape[1]
    found = sorted(_found(table, 0, n, tuple(places), risk, exact=exact))
    steps = []
    for number, (_first, _last) in enumerate(found):
        begin = found[number - 1][1] if number else 0
        end = found[number + 1][0] if number + 1 < len(found) else n
        inside = [k for k in places if begin < k < end]
        steps.append(_sized(table, begin, end, inside, level, exact=exact))
    return tuple(steps)


def _sized(
    table: Array, begin: int, end: int, inside: Sequence[int], level: float, *, exact: bool
) -> FoundStep:
    """Give the place and the size of one step among the variants from `begin` to before `end`."""
    tested = contrasts_of(table[:, begin:end], [k - begin for k in inside], exact=exact)
    low, high = tested.likely()
    first, last = inside[low], inside[high]
    sure = np.concatenate([table[:, begin:first], table[:, last:end]], axis=1)
    one = contrasts_of(sure, (first - begin,), exact=exact)
    return FoundStep(
        at=inside[tested.likeliest],
        first=first,
        last=last,
        difference=float(one.difference[0]),
        half=float(one.half(level)[0]),
    )


def _found(
    table: Array, begin: int, end: int, places: tuple[int, ...], risk: float, *, exact: bool
) -> Iterator[tuple[int, int]]:
    """Give the likely first and last place of each step that is found from `begin` to before `end`."""
    inside = tuple(k for k in places if begin < k < end)
    if not inside:
        return
    tested = contrasts_of(table[:, begin:end], [k - begin for k in inside], exact=exact)
    if not tested.least <= risk / len(inside):
        return
    low, high = tested.likely()
    yield inside[low], inside[high]
    yield from _found(table, begin, inside[low], places, risk / 2, exact=exact)
    yield from _found(table, inside[high], end, places, risk / 2, exact=exact)


# --- Which neighbours of a series are one program, by what its trial recorded.


def environment_rows(trial: Path) -> list[Mapping[str, Any]]:
    """Give the environment records of a trial, as far as they can be read."""
    found: list[Mapping[str, Any]] = []
    with contextlib.suppress(StoreError):  # a torn last line, or none: it pools nothing
        found.extend(row for _, row in records_of(trial / ENVIRONMENT, EnvironmentShape))
    return found


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
    found = neighbours_of_one_program(variants, cells if isinstance(cells, list) else (), programs)
    groups: list[list[str]] = []
    for group in found:
        if groups and any(same.get(b, b) == same.get(a, a) for a in groups[-1] for b in group):
            groups[-1].extend(group)
        else:
            groups.append([*group])
    return tuple(map(tuple, groups))


def starts_of(groups: Sequence[Sequence[str]], variants: Sequence[str]) -> list[int]:
    """Give the places of a series: the numbers of variants, but the first, with which another program begins."""
    program = {name: k for k, group in enumerate(groups) for name in group}
    return [
        k for k, (a, b) in enumerate(itertools.pairwise(variants), 1) if program[a] != program[b]
    ]


# --- The session values of a trial's variants: a table of logs for each benchmark, and one of their mean.


SUITE = "suite"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SessionTable:
    """Mean logs of runs, larger = slower: sessions x variants, without gaps.

    `left_out` are variants that lack a value in more than half of the sessions, `sessions_left_out` how many
    sessions lack one of the others; `exact` tells whether all runs are counts, `cut` whether
    their time limit ended some, so that nothing is decided.
    """

    name: str
    variants: tuple[str, ...]
    sessions: tuple[int, ...]
    logs: Array
    left_out: tuple[str, ...]
    sessions_left_out: int
    exact: bool = False
    cut: bool = False


def session_tables(
    trial: Trial, variants: Sequence[str], metric: str, benchmarks: Sequence[str]
) -> tuple[list[SessionTable], tuple[Caution, ...]]:
    """Give the tables of benchmarks, the suite's last where there are several, and what was said of the runs."""
    sides: dict[str, PerformanceMatrix] = {}
    for name in variants:
        try:
            sides[name] = trial.matrix(name, metric)
        except InsufficientDataError:
            continue  # it is left out of every table, which says so
    sign = -1.0 if trial.metric(metric).better == "higher" else 1.0
    sessions = [int(one) for one in np.unique(trial.session[trial.measured])]
    cells = {
        bench: np.stack([sign * _column(sides.get(name), bench, sessions) for name in variants], 1)
        for bench in benchmarks
    }
    if len(benchmarks) > 1:
        cells[SUITE] = np.mean([*cells.values()], axis=0)
    cut = {bench for side in sides.values() for bench in side.cut or ()} & {*benchmarks}
    tables = []
    for bench, logs in cells.items():
        those = benchmarks if bench == SUITE else (bench,)
        runs = [side.values(x) for side in sides.values() for x in those if x in side.benchmarks]
        there = ~np.isnan(logs)
        begun = there.any(axis=1)
        kept = 2 * there.sum(axis=0) >= max(1, int(begun.sum()))
        rows = np.asarray(there[:, kept].all(axis=1) & begun)
        table = SessionTable(
            name=bench,
            variants=tuple(itertools.compress(variants, kept)),
            sessions=tuple(itertools.compress(sessions, rows)),
            logs=logs[rows][:, kept],
            left_out=tuple(itertools.compress(variants, ~kept)),
            sessions_left_out=int((begun & ~rows).sum()),
            exact=exact_values(trial.metric(metric).unit, *runs),
            cut=not cut.isdisjoint(those),
        )
        tables.append(table)
    told = f"runs were stopped at their limit: {', '.join(sorted(cut))} undecided"
    cautions = merged(*(side.cautions for side in sides.values()))
    return tables, (*cautions, *([Caution("cut-off", told)] if cut else ()))


def _column(side: PerformanceMatrix | None, bench: str, sessions: Sequence[int]) -> Array:
    """Give the mean log of a benchmark's runs in each session, nan where there is none."""
    found = np.full(len(sessions), np.nan)
    if side is None or bench not in side.benchmarks or side.sessions is None:
        return found
    place = side.benchmarks.index(bench)
    logs, ids = np.log(side.samples[place]), side.sessions[place]
    for row, session in enumerate(sessions):
        if (mine := ids == session).any():
            found[row] = logs[mine].mean()
    return found


_SMALL = 0.01  # a step that may be one of layout


class _Tested(NamedTuple):
    """A table with its places, and p over all of them."""

    table: SessionTable
    contrasts: Contrasts
    pvalue: float
    pvalue_equivalent: float


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
    rows = environment_rows(trial.path)
    same = trial.manifest.same_program
    groups = one_programs(trial.path, names, rows, same)
    if len(groups) < 2:
        raise AnalysisError(
            f"the {len(names)} variants of the series are one program",
            str(trial.path),
            "there is nothing to compare: build each of them at a path of its own",
        )
    tables, said = session_tables(
        trial, [name for name in names if name not in same], chosen, wanted
    )
    tested = [_tested(one, groups, margin) for one in tables]
    missing = [one for one, found in zip(tables, tested, strict=True) if found is None]
    known = [one for one in tested if one is not None]
    if not known:
        raise InsufficientDataError(
            "no benchmark has two sessions in which two variants succeeded",
            str(trial.path),
            "measure more sessions",
            n=max(len(one.sessions) for one in tables),
            needed=2,
        )
    look = _look(trial.manifest)
    level = look.alpha(1.0 - risk)
    asked = _Asked(level, margin, correction, commits_of_all(rows))
    each = [one for one in known if one.table.name != SUITE or len(tables) == 1]
    whole = [one for one in known if one not in each]
    lines = _lines(each, asked)
    suite = _lines(whole, asked)
    return OrderedVariants(
        trial=str(trial.path),
        campaign=trial.manifest.campaign_name,
        campaign_path=trial.manifest.campaign_path,
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
            (not_judged(trial.unasked),) if metric is None and trial.unasked else (),
            said,
            _cautions(trial, tables, missing, (*lines, *suite)),
        ),
    )


class _Asked(NamedTuple):
    level: float
    margin: float
    correction: Correction
    commits: Mapping[str, str | None]


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
    return names


def _look(manifest: Manifest) -> Looks:
    if manifest.looks_plan is not None:
        return Looks.of_plan(manifest.looks_plan, manifest.sessions)
    return Looks.growing(manifest.sessions_at_looks)


def _tested(table: SessionTable, groups: Sequence[Sequence[str]], margin: float) -> _Tested | None:
    places = starts_of(groups, table.variants)
    if len(table.sessions) < 2 or not places:
        return None
    found = contrasts_of(table.logs, places, exact=table.exact)
    p, q = found.pvalue, found.pvalue_equivalent(math.log1p(margin))
    return _Tested(
        table,
        found,
        math.nan if np.isnan(p).all() else min(1.0, len(places) * found.least),
        math.nan if np.isnan(q).any() else float(q.max()),
    )


def _lines(tested: Sequence[_Tested], asked: _Asked) -> tuple[OrderedLine, ...]:
    """Correct over the lines of one family, and say what each comes to."""
    if not tested:
        return ()
    p = adjusted([one.pvalue for one in tested], asked.correction)
    q = adjusted([one.pvalue_equivalent for one in tested], asked.correction)
    factors = holm_steps([one.pvalue for one in tested], asked.correction)
    return tuple(
        _line(one, asked, float(p[k]), float(q[k]), asked.level / float(factors[k]))
        for k, one in enumerate(tested)
    )


def _line(one: _Tested, asked: _Asked, p: float, q: float, level: float) -> OrderedLine:
    table, found, most = one.table, one.contrasts, asked.level
    places = _places(table, found, most)
    steps: tuple[FoundStep, ...] = ()
    outcome: Outcome = "undecided"
    if not table.cut and (q <= most / 2 or found.same(math.log1p(asked.margin))):
        outcome = "equivalent"
    elif not table.cut and p <= most:
        steps = steps_of(table.logs, found.at, level, most, exact=table.exact)
        outcome = "step" if steps else "undecided"
    least = found.pvalue
    best = found.likeliest if np.isnan(least).all() else int(np.nanargmin(least))
    return OrderedLine(
        name=table.name,
        outcome=outcome,
        sessions=len(table.sessions),
        best=places[best],
        pvalue=_number(one.pvalue),
        pvalue_adjusted=_number(p),
        pvalue_equivalent=_number(one.pvalue_equivalent),
        pvalue_equivalent_adjusted=_number(q),
        steps=tuple(_step(table, step, asked.commits) for step in steps),
        places=places,
        left_out=table.left_out,
    )


def _places(table: SessionTable, found: Contrasts, level: float) -> tuple[OrderedPlace, ...]:
    half: Array = found.half(level / len(found.at))
    return tuple(
        OrderedPlace(
            variant=table.variants[at],
            speedup=math.exp(-found.difference[k]),
            low=_number(math.exp(-found.difference[k] - half[k])),
            high=_number(math.exp(-found.difference[k] + half[k])),
            pvalue=_number(found.pvalue[k]),
            probability=float(found.probability[k]),
        )
        for k, at in enumerate(found.at)
    )


def _step(table: SessionTable, step: FoundStep, commits: Mapping[str, str | None]) -> OrderedStep:
    name, after, upto = (table.variants[k] for k in (step.at, step.first - 1, step.last))
    return OrderedStep(
        variant=name,
        after=after,
        upto=upto,
        word="slower" if step.difference > 0 else "faster",
        speedup=math.exp(-step.difference),
        low=math.exp(-step.difference - step.half),
        high=math.exp(-step.difference + step.half),
        commit=commits.get(name),
        after_commit=commits.get(after),
        upto_commit=commits.get(upto),
    )


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _cautions(
    trial: Trial,
    tables: Sequence[SessionTable],
    missing: Sequence[SessionTable],
    lines: Sequence[OrderedLine],
) -> Iterator[Caution]:
    protocol = settings_of(trial.path).get("protocol")
    order = protocol.get("order") if isinstance(protocol, dict) else None
    if order != "shuffled":
        told = "unknown" if order is None else repr(order)
        yield Caution(
            "order-not-shuffled",
            f"the order of runs is {told}, not shuffled: what drifts inside a session looks like a step",
        )
    for one in tables:
        if one.left_out:
            text = (
                f"{figures.listed(one.left_out)} left out, without values in half of the sessions"
            )
            yield Caution("variant-incomplete", f"{one.name}: {text}", (one.name,))
        if one.sessions_left_out:
            count = figures.counted(one.sessions_left_out, "session")
            text = f"{count} left out, in which a variant has no value"
            yield Caution("sessions-incomplete", f"{one.name}: {text}", (one.name,))
    for one in missing:
        text = f"{one.name} is not judged: it has no two sessions with two variants"
        yield Caution("benchmark-left-out", text, (one.name,))
    small = dict.fromkeys(
        line.name for line in lines for step in line.steps if abs(math.log(step.speedup)) < _SMALL
    )
    varied = builds_each_session(trial.path).issuperset(x for one in tables for x in one.variants)
    if small and not varied:
        text = (
            f"{figures.listed([*small])}: a step below about 1 % may be one of layout, by which two builds of one "
            "source differ too"
        )
        yield Caution("build-noise", text, tuple(small))
    if any(line.outcome == "equivalent" for line in lines):
        yield Caution(
            "may-cancel", "steps that cancel each other are not seen where there is none else"
        )
