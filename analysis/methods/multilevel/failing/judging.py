"""Of each benchmark: whether the candidate fails more, at which p, and whether that is proven.

Three things are told apart. `fails-more` is proven: by the permutation of whole sessions, with Holm's
correction over the benchmarks, at the risk of one side of the verdict's level. `fails-always`: no run of
the candidate succeeds; that is proven where no run of the baseline fails, in three sessions or more of
both, whatever the permutation can show in so few. And failures that prove nothing are told with their p.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypedDict

from ....data import Cells, PerformanceMatrix, cells_of
from ....stats import adjusted
from .permutation import SidesCells, cell_pvalue

if TYPE_CHECKING:
    from ..result import BenchmarkLine

__all__ = ["Failing", "Fails", "failing_of", "failing_over_hosts"]

_LEAST_ALWAYS = 3  # sessions in which a candidate that never succeeds is proven to fail
_LEAST_MORE = 2  # cells of each side: one session is no repetition
_TIE = 1 + 1e-9  # a p-value that is the risk but for its last digits is at most the risk


@dataclass(frozen=True, slots=True, kw_only=True)
class Fails:
    """Failed runs by session.

    Attributes
    ----------
    candidate, baseline : tuple of int
        How many runs failed in each session that the side has runs of, in the order of the sessions'
        ids; of several hosts one host after the other.
    candidate_runs, baseline_runs : tuple of int
        How many runs there were in each, failed ones included.
    """

    candidate: tuple[int, ...]
    baseline: tuple[int, ...]
    candidate_runs: tuple[int, ...]
    baseline_runs: tuple[int, ...]

    @property
    def cells(self) -> SidesCells:
        """Both sides' cells."""
        return SidesCells(
            Cells(self.candidate, self.candidate_runs), Cells(self.baseline, self.baseline_runs)
        )


class Numbers(TypedDict):
    """What a benchmark's line has of its failures, by the names of its fields."""

    fails: Fails | None
    pvalue_fails: float | None
    pvalue_fails_adjusted: float | None
    fails_proven: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """What is known of a benchmark's failures.

    Attributes
    ----------
    fails : Fails or None
        None where it is not known in which sessions runs failed.
    pvalue, pvalue_adjusted : float or None
        One-sided, of "the candidate does not fail more", and after Holm's correction; None without
        sessions.
    reason : {"fails-more", "fails-always"} or None
        Why the word is undecided whatever the speed.
    proven : bool
        Whether that stops a gate.
    """

    fails: Fails | None = None
    pvalue: float | None = None
    pvalue_adjusted: float | None = None
    reason: Literal["fails-more", "fails-always"] | None = None
    proven: bool = False

    @property
    def numbers(self) -> Numbers:
        """What a benchmark's line has of it."""
        return {
            "fails": self.fails,
            "pvalue_fails": self.pvalue,
            "pvalue_fails_adjusted": self.pvalue_adjusted,
            "fails_proven": self.proven,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counts:
    """Runs that failed and that did not, of both sides, and the fewest sessions that either has."""

    failed: tuple[int, int]
    good: tuple[int, int]
    sessions: int
    hosts: tuple[SidesCells, ...] | None

    @property
    def fails(self) -> Fails | None:
        if self.hosts is None:
            return None
        ours, theirs = (
            [part for host in self.hosts for part in zip(*host[side], strict=True)]
            for side in (0, 1)
        )
        return Fails(
            candidate=tuple(n for n, _ in ours),
            baseline=tuple(n for n, _ in theirs),
            candidate_runs=tuple(n for _, n in ours),
            baseline_runs=tuple(n for _, n in theirs),
        )


def failing_of(
    candidate: PerformanceMatrix, baseline: PerformanceMatrix, *, risk: float, always_valid: bool
) -> dict[str, Failing]:
    """Judge the failures of every benchmark that both sides have runs of, failed ones included.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        Both sides, with all their benchmarks.
    risk : float
        One-sided, of the family of benchmarks.
    always_valid : bool
        Whether the answer is to hold at every number of sessions: with n sessions the risk is then
        divided by n (n + 1), which adds up to the whole.
    """
    names = dict.fromkeys((*candidate.benchmarks, *candidate.failed))
    there = {*baseline.benchmarks, *baseline.failed}
    counts = {
        name: found
        for name in names
        if name in there and (found := _counts(candidate, baseline, name)) is not None
    }
    if always_valid:
        most = max((len(side) for one in counts.values() for side in _cells(one.hosts)), default=1)
        risk /= most * (most + 1)
    return _judged(counts, risk)


def _cells(hosts: Iterable[SidesCells] | None) -> list[tuple[int, ...]]:
    return [side.runs for host in hosts or () for side in host]


def _counts(ours: PerformanceMatrix, theirs: PerformanceMatrix, name: str) -> _Counts | None:
    """Count a benchmark's runs; None where a side has none."""
    sides = (ours, theirs)
    failed = ours.failed.get(name, 0), theirs.failed.get(name, 0)
    good = _good(ours, name), _good(theirs, name)
    if not all(a + b for a, b in zip(failed, good, strict=True)):
        return None
    cells = [cells_of(side, name) for side in sides]
    known = [
        _sessions(side, name) if one is None else len(one.runs)
        for side, one in zip(sides, cells, strict=True)
    ]
    a, b = cells
    return _Counts(
        failed=failed,
        good=good,
        sessions=min(known),
        hosts=None if a is None or b is None else (SidesCells(a, b),),
    )


def _good(matrix: PerformanceMatrix, name: str) -> int:
    return len(matrix.values(name)) if name in matrix.benchmarks else 0


def _sessions(matrix: PerformanceMatrix, name: str) -> int:
    """Count the sessions of a side of which only the number of failures is known.

    A benchmark without a good run was measured with the others, in their sessions.
    """
    if matrix.sessions is None:
        return 1
    rows = [
        row
        for bench, row in zip(matrix.benchmarks, matrix.sessions, strict=True)
        if bench == name or name not in matrix.benchmarks
    ]
    return len({label for row in rows for label in row.tolist()})


def failing_over_hosts(
    hosts: Sequence[Mapping[str, BenchmarkLine]], *, risk: float
) -> dict[str, Failing]:
    """Judge the failures on all hosts together, cells dealt out within each host.

    A candidate that never succeeds on one of the hosts never succeeds on hosts like these: what that
    host's own line says stands, whatever the others say.

    Parameters
    ----------
    hosts : sequence of mapping
        Of each host, benchmark -> its line.
    risk : float
        One-sided, of the family of benchmarks.
    """
    lines = {
        name: [host[name] for host in hosts if name in host]
        for name in dict.fromkeys(name for host in hosts for name in host)
    }
    found = _judged({name: _counts_of(those) for name, those in lines.items()}, risk)
    return {
        name: _with_dead_hosts(one, [x for x in lines[name] if x.reason == "fails-always"])
        for name, one in found.items()
    }


def _counts_of(lines: Sequence[BenchmarkLine]) -> _Counts:
    fails = [line.fails for line in lines if line.fails is not None]
    return _Counts(
        failed=(sum(x.failed_candidate for x in lines), sum(x.failed_baseline for x in lines)),
        good=(sum(x.runs_candidate for x in lines), sum(x.runs_baseline for x in lines)),
        sessions=min(
            sum(len(one.candidate) for one in fails), sum(len(one.baseline) for one in fails)
        ),
        hosts=tuple(one.cells for one in fails) if len(fails) == len(lines) else None,
    )


def _with_dead_hosts(one: Failing, dead: Sequence[BenchmarkLine]) -> Failing:
    if not dead:
        return one
    # what is proven with failures of the baseline too is one host's test, in no family with the others
    proven = one.proven or any(x.fails_proven and not x.failed_baseline for x in dead)
    return replace(one, reason="fails-always", proven=proven)


def _judged(counts: Mapping[str, _Counts], risk: float) -> dict[str, Failing]:
    """Judge one family; a benchmark of which no test can be made counts as one that has no failure."""
    pvalues = {name: _pvalue(one) for name, one in counts.items()}
    family = adjusted([1.0 if p is None else p for p in pvalues.values()], "holm").tolist()
    return {
        name: _failing(one, pvalues[name], place, risk)
        for (name, one), place in zip(counts.items(), family, strict=True)
    }


def _pvalue(one: _Counts) -> float | None:
    if one.hosts is None:
        return None
    return cell_pvalue(one.hosts) if any(one.failed) else 1.0


def _failing(one: _Counts, p: float | None, place: float, risk: float) -> Failing:
    more = p is not None and one.sessions >= _LEAST_MORE and place <= risk * _TIE
    never = bool(one.failed[0]) and not one.good[0] and one.good[1] > 0
    clean = never and not one.failed[1] and one.sessions >= _LEAST_ALWAYS
    return Failing(
        fails=one.fails,
        pvalue=p,
        pvalue_adjusted=None if p is None else place,
        reason="fails-always" if never else "fails-more" if more else None,
        proven=clean or more,
    )
