"""Judging a series of variants: read, pool what is one program, test all places, correct, put into words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...data.protocol import builds_each_session, ordered_variants_of, settings_of
from ...data.question import not_judged
from ...data.trial import Trial
from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...methods.multilevel.law import Looks
from ...pages import number_format as figures
from ...pages.model import Caution, merged
from ...record.environment_records import commits_of_all
from ...record.trial_files import Manifest
from ...stats.arguments import door
from ...stats.multiplicity import Correction, adjusted, check_correction, holm_steps
from ...stats.samples import Array
from .contrasts import Contrasts, FoundStep, contrasts_of, steps_of
from .one_program import environment_rows, one_programs, starts_of
from .result import OrderedLine, OrderedPlace, OrderedStep, OrderedVariants, Outcome
from .session_tables import SUITE, SessionTable, session_tables

_SMALL = 0.01  # a step that may be one of layout
_ORDER = "shuffled"


class _Tested(NamedTuple):
    """A table with its places, and p over all of them."""

    table: SessionTable
    contrasts: Contrasts
    pvalue: float
    pvalue_equivalent: float


@door
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
    wanted = _known("benchmark", benchmarks, trial.manifest.benchmarks, str(trial.path))
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
        names = _known("variant", variants, trial.manifest.variants, where)
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


def _known(
    kind: str, asked: Sequence[str] | None, known: Sequence[str], where: str
) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(known if asked is None else asked))
    if not names:
        raise UsageError(f"no {kind} is named", where, f"known here: {figures.listed([*known])}")
    for name in names:
        if name not in known:
            raise UsageError(
                f"there is no {kind} {name!r}", where, f"known here: {figures.listed([*known])}"
            )
    return names


def _look(manifest: Manifest) -> Looks:
    """Give the look at the trial that this is, as a verdict has it."""
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
    table, found = one.table, one.contrasts
    places = _places(table, found, asked.level)
    steps: tuple[FoundStep, ...] = ()
    outcome: Outcome = "undecided"
    if table.cut:
        pass
    elif q <= asked.level / 2 or found.same(math.log1p(asked.margin)):
        outcome = "equivalent"
    elif p <= asked.level:
        steps = steps_of(table.logs, found.at, level, asked.level, exact=table.exact)
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
            low=_exp(-found.difference[k] - half[k]),
            high=_exp(-found.difference[k] + half[k]),
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


def _exp(value: float) -> float | None:
    return None if math.isnan(value) else math.exp(value)


def _cautions(
    trial: Trial,
    tables: Sequence[SessionTable],
    missing: Sequence[SessionTable],
    lines: Sequence[OrderedLine],
) -> Iterator[Caution]:
    protocol = settings_of(trial.path).get("protocol")
    order = protocol.get("order") if isinstance(protocol, dict) else None
    if order != _ORDER:
        told = "unknown" if order is None else repr(order)
        yield Caution(
            "order-not-shuffled",
            f"the order of runs is {told}, not shuffled: what drifts inside a session looks like a step",
        )
    for one in tables:
        if one.left_out:
            said = f"{one.name}: {figures.listed(one.left_out)} left out, without values in half of the sessions"
            yield Caution("variant-incomplete", said, (one.name,))
        if one.sessions_left_out:
            count = figures.counted(one.sessions_left_out, "session")
            yield Caution(
                "sessions-incomplete",
                f"{one.name}: {count} left out, in which a variant has no value",
                (one.name,),
            )
    for one in missing:
        said = f"{one.name} is not judged: it has no two sessions with two variants"
        yield Caution("benchmark-left-out", said, (one.name,))
    small = [
        line.name for line in lines for step in line.steps if abs(math.log(step.speedup)) < _SMALL
    ]
    in_the_interval = builds_each_session(trial.path).issuperset(
        name for one in tables for name in one.variants
    )
    if small and not in_the_interval:
        said = (
            f"{figures.listed(list(dict.fromkeys(small)))}: a step below about 1 % may be one of layout, "
            "by which two builds of one source differ too"
        )
        yield Caution("build-noise", said, tuple(dict.fromkeys(small)))
    if any(line.outcome == "equivalent" for line in lines):
        yield Caution(
            "may-cancel", "steps that cancel each other are not seen where there is none else"
        )
