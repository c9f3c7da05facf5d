"""The verdicts of several hosts: what each says, as tables, and the test of their differences.

The law is that of sides measured in separate sessions (`estimates.of_sides`): Welch's t where both have
the same degrees of freedom, elsewhere Banerjee's bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...stats.samples import Array, Flags, Integers
from .design import PAIRS
from .estimates import ErrorParts, Estimates, number_of, of_sides, suite_of_differences
from .law import Decisions, ErrorLaw, decide
from .lines import end_of
from .result import HostEffect, Line, Multilevel, Shift

if TYPE_CHECKING:
    from ...pages.number_format import Word


_SHIFTS: dict[Word, Shift] = {
    "faster": "larger",
    "slower": "smaller",
    "equivalent": "equivalent",
    "undecided": "undecided",
}


class HostDifferences(NamedTuple):
    """Differences of logs: those that were `found`, and what is `decided` of them; arrays over the effects.

    A freedom is Satterthwaite's where Welch's t is taken, else nan. `shift` is what each is after Holm's correction,
    None where there is no test.
    """

    found: Estimates
    decided: Decisions
    shift: tuple[Shift | None, ...]


def differences_of(
    pairs: Estimates, *, alpha: float, margin: float, chance: Array | None = None
) -> HostDifferences:
    """Test one family of differences: of each row of `pairs` the second estimate less the first.

    As in the verdict: proven to lie within the margin wins over larger and smaller (each side at
    alpha / 2); a difference without spread has neither interval nor p, and takes part in Holm's steps
    as p = 1. `chance` is the p of rows whose estimates vary nowhere, nan of others.
    """
    first, second = (pairs.changed(partial(np.take, indices=k, axis=1)) for k in (0, 1))
    found = of_sides(second, first)
    unknown = np.isnan(found.error) | np.isnan(found.own_parts().freedoms).any(axis=1)
    error = np.where(unknown, np.nan, found.error)
    found = found._replace(error=error, step=pairs.widening.sum(axis=1), chance=chance)
    unknown &= True if chance is None else np.isnan(chance)
    d = decide(found, ErrorLaw(alpha=alpha), margin, "holm")
    words = zip(unknown.tolist(), d.outcome, strict=True)
    return HostDifferences(found, d, tuple(None if lost else _SHIFTS[word] for lost, word in words))


_NAN = math.nan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostTable:
    """Tables of the shape (hosts, benchmarks), on the log scale; nan where a host has no value.

    `lines` are the hosts' own, None where a host has none. `common` are the benchmarks for which all hosts
    have a ratio, `weights` are 0 of the others; `suite` is each host's mean over these, arrays of shape (hosts,). `sessions` are the values
    behind the error of each line, of the candidate and of the baseline, shape (hosts, benchmarks, 2),
    0 where there is none; `suite_sessions` the fewest of those behind the suite's, shape (hosts, 2).
    """

    hosts: tuple[str, ...]
    benchmarks: tuple[str, ...]
    lines: tuple[tuple[Line | None, ...], ...]
    each: Estimates
    common: Flags
    weights: Array
    suite: Estimates
    sessions: Integers
    suite_sessions: Integers

    @property
    def lacking(self) -> list[int]:
        """The columns of benchmarks that some host lacks."""
        return np.flatnonzero(np.isnan(self.each.estimate).any(axis=0)).tolist()

    def of(self, k: int) -> list[Line]:
        """Give the lines of the benchmark in column `k`."""
        return [line for row in self.lines if (line := row[k]) is not None]


def table_of(results: Mapping[str, Multilevel], weights: Mapping[str, float] | None) -> HostTable:
    """Put the results of hosts side by side."""
    names = tuple(dict.fromkeys(line.name for one in results.values() for line in one.benchmarks))
    rows = []
    for one in results.values():
        there = {line.name: line for line in one.benchmarks}
        rows.append(tuple(there.get(name) for name in names))
    estimate = np.array(
        [[_NAN if not x or x.speedup is None else math.log(x.speedup) for x in row] for row in rows]
    )
    ratios = [
        all(line is None or line.scale == "log" for line in x) for x in zip(*rows, strict=True)
    ]
    common: Flags = np.asarray(~np.isnan(estimate).any(axis=0) & ratios)
    given = weights or {}
    share = np.where(common, [float(given.get(name, 1.0)) for name in names], 0.0)
    sessions = np.array([[_values(line) for line in row] for row in rows])
    used = sessions[:, share > 0] if share.any() else np.zeros((len(rows), 1, 2), dtype=np.int64)
    return HostTable(
        hosts=tuple(results),
        benchmarks=names,
        lines=tuple(rows),
        each=estimates_of(
            estimate, rows, np.array([[x.sessions if x else 0 for x in row] for row in rows])
        ),
        common=common,
        weights=share,
        suite=_suites(tuple(results.values()), rows, estimate, share),
        sessions=sessions,
        suite_sessions=used.min(axis=1),
    )


def effects_of(table: HostTable, alpha: float) -> tuple[HostEffect, ...]:
    """Give each host's own speedups, benchmark by benchmark, and its mean over the common ones."""
    law = ErrorLaw(alpha=alpha)
    names: list[str | None] = list(table.benchmarks)
    each = table.each
    half = law.half(each.error, each.freedom, each.parts) + each.widening
    if int(table.common.sum()) > 1:
        names.append(None)
        suites = table.suite
        own = law.half(suites.error, suites.freedom, suites.parts) + suites.widening
        half = np.column_stack([half, own])
        both = zip(each[:4], suites[:4], strict=True)  # without parts and laws
        each = Estimates._make([*map(np.column_stack, both), None, ("t", "t"), None, None])
    return tuple(
        HostEffect(
            host=host,
            benchmark=name,
            speedup=math.exp(each.estimate[i, k]),
            low=end_of(each.estimate[i, k] - half[i, k]),
            high=end_of(each.estimate[i, k] + half[i, k]),
            error=number_of(each.error[i, k]),
            freedom=number_of(each.freedom[i, k]),
            sessions=int(each.values[i, k]),
        )
        for i, host in enumerate(table.hosts)
        for k, name in enumerate(names)
        if not math.isnan(each.estimate[i, k])
    )


def _parts(line: Line | None) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Give the errors and freedoms of the parts of a line's error; unknown without an interval."""
    if line is None or line.error is None:
        return (_NAN,), (_NAN,)
    freedom = _NAN if line.freedom is None else line.freedom
    return line.errors or (line.error,), line.freedoms or (freedom,)


def _values(line: Line | None) -> tuple[int, int]:
    """Give the values behind a line's error, on both sides; 0 where it is unknown."""
    freedoms = _parts(line)[1]
    known = line is not None and line.error is not None
    return (round(freedoms[0]) + 1, round(freedoms[-1]) + 1) if known else (0, 0)


def estimates_of(
    estimate: Array, lines: Sequence[Sequence[Line | None]], values: Integers
) -> Estimates:
    """Give estimates with the errors of lines of the same shape, and all their parts; None has none."""
    parts = [[_parts(line) for line in row] for row in lines]
    most = max(len(errors) for row in parts for errors, _ in row)
    errors, freedoms = (
        np.array([[(*x[k], *[rest] * (most - len(x[k]))) for x in row] for row in parts])
        for k, rest in ((0, 0.0), (1, np.inf))
    )

    def numbers(name: str) -> Array:
        return np.array([[getattr(x, name, None) for x in row] for row in lines], np.float64)

    error, step = numbers("error"), np.nan_to_num(numbers("step_added"))
    return Estimates(
        estimate=estimate,
        error=error,
        freedom=numbers("freedom"),
        values=values,
        parts=ErrorParts(errors, freedoms),
        step=np.where(np.isnan(error), 0.0, step),
    )


def _suites(
    results: Sequence[Multilevel],
    rows: Sequence[Sequence[Line | None]],
    estimate: Array,
    share: Array,
) -> Estimates:
    """Give each host's mean over the common benchmarks, with its error by the host's own sessions."""
    total = share.sum()
    some = share > 0
    lines = []
    for one, row in zip(results, rows, strict=True):
        used = [line for line, yes in zip(row, some.tolist(), strict=True) if yes and line]
        own = sum(line.speedup is not None and line.scale == "log" for line in one.benchmarks)
        mean: Line | None = None
        if len(used) == 1:
            mean = used[0]
        elif one.these is not None and own == len(used):
            mean = one.these
        elif used and one.design in PAIRS:  # a benchmark that another host lacks is left out
            floors = np.array([_NAN if x.error_floor is None else x.error_floor for x in used])
            found = suite_of_differences(_differences(used), share[some], floors)
            if found.error > 0:  # else nothing varies, and nobody knows the clock's step
                e, f = float(found.error), float(found.freedom)
                step = float(share[some] @ [x.step_added or 0.0 for x in used] / total)
                mean = Line(name="these", outcome="undecided", error=e, freedom=f, step_added=step)
        lines.append([mean])
    means = np.where(some, estimate, 0.0) @ share / total if total > 0 else np.full(len(rows), _NAN)
    values = np.array([one.sessions for one in results])
    found = estimates_of(means[:, None], lines, values[:, None])
    return found.changed(lambda part: part[:, 0])


def _differences(lines: Sequence[Line]) -> Array:
    """Give the sessions' differences of some benchmarks, shape (sessions, benchmarks)."""
    ids = list(dict.fromkeys(name for line in lines for name in line.session_ids))
    place = {name: k for k, name in enumerate(ids)}
    found = np.full((len(ids), len(lines)), np.nan)
    for k, line in enumerate(lines):
        found[[place[name] for name in line.session_ids], k] = line.differences
    return found
