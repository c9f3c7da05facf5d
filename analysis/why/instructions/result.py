"""What ``why --instructions`` answers: the instructions of each function in both variants, as counted twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ...pages.model import Caution
from ...pages.result import Result
from ..names import PROGRAM, plain_name, plain_object

REFERENCES = (
    "N. Nethercote and J. Seward, Valgrind: a framework for heavyweight dynamic binary "
    "instrumentation, PLDI 2007",
    "J. Weidendorfer, M. Kowarschik and C. Trinitis, A tool suite for simulation based analysis "
    "of memory access behavior, ICCS 2004",
)
Counts = Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedFunction:
    """The instructions of a function itself, without those that it called; of all functions where it has no object.

    Attributes
    ----------
    function, object : str
        Its name, and the file that holds it without the folder.
    baseline, candidate : int
        In the first of two executions.
    baseline_again, candidate_again : int
        In the second.
    """

    derived: ClassVar[tuple[str, ...]] = ("difference", "same_twice")

    function: str
    object: str
    baseline: int
    candidate: int
    baseline_again: int
    candidate_again: int

    @property
    def difference(self) -> int:
        """How many more the candidate executes, in the first execution."""
        return self.candidate - self.baseline

    @property
    def same_twice(self) -> bool:
        """Whether both executions of each variant came to the same number."""
        first, second = (self.baseline, self.candidate), (self.baseline_again, self.candidate_again)
        return first == second

    @property
    def varies(self) -> int:
        """By how much two executions of one variant differ, the larger of both."""
        return max(
            abs(self.baseline - self.baseline_again), abs(self.candidate - self.candidate_again)
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Instructions(Result):
    """Instructions of one benchmark, baseline and candidate; they are counts, not samples: there are no intervals.

    Attributes
    ----------
    trial : str
        The trial that is explained.
    benchmark, baseline, variant : str
        What was counted.
    valgrind : str
        Its version.
    total : CountedFunction
        Of all functions.
    rows : tuple of CountedFunction
        By the size of the difference.
    """

    method: ClassVar[str] = "instructions"

    trial: str
    benchmark: str
    baseline: str
    variant: str
    valgrind: str
    total: CountedFunction
    rows: tuple[CountedFunction, ...]
    references: tuple[str, ...] = REFERENCES


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InstructionsAnswer(Result):
    """The answers of one command, a benchmark and candidate each."""

    method: ClassVar[str] = "why-instructions"

    answers: tuple[Instructions, ...]


def compare_counts(
    baseline: tuple[Counts, Counts],
    candidate: tuple[Counts, Counts],
    *,
    trial: str,
    benchmark: str,
    names: tuple[str, str],
    valgrind: str,
    renames: Mapping[str, str] | None = None,
    programs: tuple[str, str] = ("", ""),
) -> Instructions:
    """Compare the counts of a baseline and a candidate, each of two executions; `names` are theirs.

    `renames` has what the candidate calls a function by what the baseline calls it, `programs` the names of both
    programs' files: where these differ, what they hold is held against each other all the same.
    """
    told = dict(renames or {})
    own = programs if programs[0] != programs[1] else ("", "")
    sides = (
        *(_by_name(one, told, own[0]) for one in baseline),
        *(_by_name(one, {}, own[1]) for one in candidate),
    )
    keys = sorted({key for counts in sides for key in counts})

    def row(function: str, place: str, numbers: list[int]) -> CountedFunction:
        return CountedFunction(
            function=function,
            object=place,
            baseline=numbers[0],
            baseline_again=numbers[1],
            candidate=numbers[2],
            candidate_again=numbers[3],
        )

    rows = [row(*key, [counts.get(key, 0) for counts in sides]) for key in keys]
    rows.sort(key=lambda one: -abs(one.difference))
    total = row("all functions", "", [sum(counts.values()) for counts in sides])
    return Instructions(
        trial=trial,
        benchmark=benchmark,
        baseline=names[0],
        variant=names[1],
        valgrind=valgrind,
        total=total,
        rows=tuple(rows),
        cautions=tuple(_cautions(total, rows)),
    )


def _by_name(counts: Counts, renames: Mapping[str, str], program: str) -> Counts:
    """Add up what is one function once compilers' suffixes are off and it has its new name."""
    found: Counter[tuple[str, str]] = Counter()
    for (function, place), many in counts.items():
        name = plain_name(function)
        where = PROGRAM if program and place == program else plain_object(place)
        found[renames.get(name, name), where] += many
    return found


def _cautions(total: CountedFunction, rows: list[CountedFunction]) -> list[Caution]:
    other = [one for one in rows if not one.same_twice]
    if not other:
        return []
    most = max(other, key=lambda one: one.varies)
    if total.varies * 2 < abs(total.difference):
        weight = "less than the difference"
    else:
        weight = "as much as the difference: nothing can be concluded"
    text = (
        f"two executions of one variant differ in {len(other)} of {len(rows)} functions, most in "
        f"{most.function} by {most.varies:,}, in all by {total.varies:,} instructions, {weight}"
    )
    return [Caution("counts-differ", text)]
