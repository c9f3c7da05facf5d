"""How many runs a mean needs until its distribution is normal.

The protocol calls a sample large above 30 runs, and its authors looked at where the central limit
theorem shows in measured programs. This is their study on any matrix: samples of growing size n, the
mean and the median of each, and Shapiro's test on the N means and on the N medians.

References
----------
.. [1] S. Touati, J. Worms, S. Briais, "The Speedup Test", technical report, 2010, appendix C.
.. [2] S. S. Shapiro, M. B. Wilk, "An analysis of variance test for normality", Biometrika 52, 1965.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..data.matrix import PerformanceMatrix
from ..errors import AnalysisError, InsufficientDataError
from ..pages import number_format as figures
from ..pages.model import Caution, Page, Value, cautions_of, page, page_of, section, table_of
from ..pages.result import Result
from ..stats.arguments import between, checks_arguments, stream
from .normality import NormalityTest, checked_sizes, shapiro

Draws = Literal["disjoint", "with replacement"]
Estimates = Literal["means", "medians"]
DRAWS: tuple[Draws, ...] = ("disjoint", "with replacement")
ESTIMATES: tuple[Estimates, ...] = ("means", "medians")
_REFERENCES = (
    "S. Touati, J. Worms, S. Briais, The Speedup Test, technical report, 2010, appendix C",
    "S. S. Shapiro and M. B. Wilk, Biometrika 52, 1965",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralLimitCell:
    """One benchmark at one size: Shapiro's test on the means and on the medians of N samples."""

    size: int
    samples: int
    draws: Draws
    mean: NormalityTest | None
    median: NormalityTest | None
    why: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralLimitRow:
    """One benchmark; without cells where it has fewer than 5 runs."""

    name: str
    runs: int
    cells: tuple[CentralLimitCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralLimitCount:
    """On how many benchmarks means and medians of n runs do not look normal, of how many tested.

    Samples drawn in different ways are never counted together. `by_chance` is the most rejections that
    tests of normal values would show, with a chance of 95 %; the first is for the means.
    """

    size: int
    draws: Draws
    benchmarks: int
    samples_least: int
    samples_most: int
    means_tested: int
    means_not_normal: int
    means_by_chance: int
    medians_tested: int
    medians_not_normal: int
    medians_by_chance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralLimitStudy(Result):
    """The study on one matrix: each benchmark's tests, and their counts by size and drawing.

    `seed` is the whole number drawn from `rng` that every benchmark's stream derives from.
    """

    method: ClassVar[str] = "central-limit-study"

    name: str
    risk: float
    benchmarks: tuple[CentralLimitRow, ...]
    counts: tuple[CentralLimitCount, ...]
    seed: int
    references: tuple[str, ...] = _REFERENCES

    def enough(self, draws: Draws, of: Estimates) -> int | None:
        """Give the smallest size from which on no count exceeds what chance gives; None if none is.

        `draws` says which samples count, `of` which estimates.
        """
        found = None
        for count in reversed([count for count in self.counts if count.draws == draws]):
            if getattr(count, f"{of}_not_normal") > getattr(count, f"{of}_by_chance"):
                break
            if getattr(count, f"{of}_tested"):
                found = count.size
        return found

    def body(self) -> dict[str, Any]:
        """Add the answer: by drawing and estimate, from which size on chance is enough."""
        tried = [draws for draws in DRAWS if any(count.draws == draws for count in self.counts)]
        return Result.body(self) | {
            "enough": {draws: {of: self.enough(draws, of) for of in ESTIMATES} for draws in tried},
        }


SIZES = tuple(range(5, 101, 5))  # [1] appendix C, as the numbers below
_SAMPLES_LEAST, _SAMPLES_MOST = 10, 500
_RUNS_LEAST = 5


@checks_arguments
def central_limit_study(
    matrix: PerformanceMatrix,
    *,
    sizes: Sequence[int] = SIZES,
    risk: float = 0.05,
    rng: np.random.Generator,
) -> CentralLimitStudy:
    """Test whether means and medians of n runs look normal, for growing n ([1]_, appendix C).

    Where a benchmark has 10 n runs or more, N = min(500, runs // n) disjoint samples of n consecutive
    runs are taken, in the order in which the matrix holds them. With fewer, samples of n runs are drawn
    with replacement, as many as the published limit n N = 1000 allows; they are marked and counted
    apart, because they show how means of these very runs behave, not means of new ones.

    Parameters
    ----------
    matrix : PerformanceMatrix
        The runs of one variant.
    sizes : sequence of int
        The sample sizes n; by default 5, 10, 15 ... 100.
    risk : float
        At or below which p a test rejects.
    rng : numpy.random.Generator
        Where the draws with replacement come from. Each benchmark and size has a stream of its own.

    Raises
    ------
    UsageError
        If the sizes are not whole numbers from 2 on, or the risk does not lie between 0 and 1.
    InsufficientDataError
        If no benchmark has 5 runs.
    """
    between("risk", risk)
    chosen = checked_sizes(sizes)
    if max(matrix.runs) < _RUNS_LEAST:
        what = f"no benchmark has the {_RUNS_LEAST} runs that a study of means needs"
        fix = f"measure {_RUNS_LEAST} runs or more; {_SAMPLES_LEAST * chosen[0]} allow disjoint samples"
        most = max(matrix.runs)
        raise InsufficientDataError(what, matrix.name, fix, n=most, needed=_RUNS_LEAST)
    root = int(rng.integers(2**53))  # so that JSON holds it exactly
    rows = []
    for name, values in zip(matrix.benchmarks, matrix.samples, strict=True):
        sizes = chosen if values.size >= _RUNS_LEAST else ()
        cells = tuple(_cell(values, size, stream(root, name, str(size))) for size in sizes)
        rows.append(CentralLimitRow(name=name, runs=values.size, cells=cells))
    every = [cell for row in rows for cell in row.cells]
    found = (_count(every, size, draws, risk) for size in chosen for draws in DRAWS)
    counts = tuple(count for count in found if count is not None)
    return CentralLimitStudy(
        name=matrix.name,
        risk=risk,
        benchmarks=tuple(rows),
        counts=counts,
        seed=root,
        cautions=(*matrix.cautions, *_cautions(rows, counts, chosen)),
    )


def _cell(values: NDArray[np.float64], size: int, rng: np.random.Generator) -> CentralLimitCell:
    draws: Draws = "disjoint"
    values = values / values.max()  # so that no sum overflows
    samples = min(_SAMPLES_MOST, values.size // size)
    drawn = values[: samples * size].reshape(samples, size)
    if samples < _SAMPLES_LEAST:
        draws = "with replacement"
        samples = min(_SAMPLES_MOST, max(_SAMPLES_LEAST, 1000 // size))  # n N as published
        drawn = values[rng.integers(0, values.size, (samples, size))]
    tests: dict[str, NormalityTest | None] = {"mean": None, "median": None}
    why: str | None = None
    for name, estimates in (("mean", drawn.mean(axis=1)), ("median", np.median(drawn, axis=1))):
        try:
            tests[name] = shapiro(estimates)
        except AnalysisError as error:
            why = why or f"{name}s: {error.what}"
    return CentralLimitCell(size=size, samples=samples, draws=draws, **tests, why=why)


def _count(
    cells: Sequence[CentralLimitCell], size: int, draws: Draws, risk: float
) -> CentralLimitCount | None:
    here = [cell for cell in cells if cell.size == size and cell.draws == draws]
    if not here:
        return None
    samples = [cell.samples for cell in here]
    counts = {"samples_least": min(samples), "samples_most": max(samples)}
    for of in ("mean", "median"):
        ps = [test.pvalue for cell in here if (test := getattr(cell, of)) is not None]
        counts[f"{of}s_tested"] = len(ps)
        counts[f"{of}s_not_normal"] = sum(p <= risk for p in ps)
        counts[f"{of}s_by_chance"] = _by_chance(len(ps), risk)
    return CentralLimitCount(size=size, draws=draws, benchmarks=len(here), **counts)


def _by_chance(tested: int, risk: float) -> int:
    from scipy.special import bdtr

    # The allowance keeps one benchmark at 0.05, where P(0) is 0.95 itself, at 0.
    upto = bdtr(np.arange(tested + 1), tested, risk)
    return int(np.searchsorted(upto, 0.95 - 1e-9)) if tested else 0


def _cautions(
    rows: Sequence[CentralLimitRow], counts: Sequence[CentralLimitCount], sizes: Sequence[int]
) -> tuple[Caution, ...]:
    left = tuple(row.name for row in rows if not row.cells)
    again = [count for count in counts if count.draws == "with replacement"]
    disjoint = [count for count in counts if count.draws == "disjoint"]
    untested = sum(cell.why is not None for row in rows for cell in row.cells)
    return cautions_of(
        {
            "few-runs-left-out": left
            and (
                f"left out with fewer than {_RUNS_LEAST} runs: {len(left)} of {len(rows)}",
                *left,
            ),
            "drawn-with-replacement": again != []
            and f"too few runs for {_SAMPLES_LEAST} disjoint samples of n from n = {again[0].size} on "
            f"({_SAMPLES_LEAST * sizes[-1]} runs allow all sizes): drawn with replacement there. Such "
            "samples share the same few runs, and many medians are the same run: they show how means "
            "of these runs behave, not means of new ones",
            "power-falls": len(disjoint) > 1
            and disjoint[0].samples_most > disjoint[-1].samples_least
            and f"N falls from {disjoint[0].samples_most} to {disjoint[-1].samples_least} as n grows, "
            "and fewer means show less: part of the fall of the counts is lost power, not normality",
            "consecutive-runs": disjoint != []
            and "disjoint samples are consecutive runs: drift and sessions count as departures too",
            "equal-estimates": untested > 0
            and f"{untested} times a test could not be done, as means or medians are equal; these do "
            "not count",
        }
    )


@page_of.register(CentralLimitStudy)
def _central_limit_study_page(study: CentralLimitStudy) -> Page:
    def not_normal(of: str, one: CentralLimitCount) -> Value:
        found = getattr(one, f"{of}_not_normal")
        return Value(f"{found} of {getattr(one, f'{of}_tested')}", found)

    answers, sections = [], []
    told = (
        ("", "disjoint samples"),
        (" drawn with replacement", "drawn WITH REPLACEMENT, for want of runs"),
    )
    for draws, (kind, where) in zip(DRAWS, told, strict=True):
        counts = [count for count in study.counts if count.draws == draws]
        if not counts:
            continue
        first, last = counts[0].size, counts[-1].size
        looks = []
        for of in ESTIMATES:
            enough = study.enough(draws, of)
            no, yes = f"{of} do not, up to n = {last}", f"{of} do from n = {enough} on"
            looks.append(no if enough is None else yes)
        tried = f"n = {first} to {last}" if len(counts) > 1 else f"n = {first}"
        asked = f"do samples of n runs{kind} ({tried}) look normal?"
        answers.append(f"{study.name}: {asked} {', '.join(looks)}")
        table = table_of(
            draws.replace(" ", "-"),
            counts,
            ("n", "size"),
            (
                "N",
                lambda one: figures.span((one.samples_least, one.samples_most)).replace(
                    " to ", "-"
                ),
            ),
            ("means", partial(not_normal, "means")),
            ("chance", "means_by_chance"),
            ("medians", partial(not_normal, "medians")),
            ("chance", "medians_by_chance"),
        )
        title = f"{where}: where they do not look normal at {study.risk:g}"
        sections.append(section(table, title=title))
    chance = f"as many among normal means at most, 19 times in 20, by the risk {study.risk:g} alone"
    title = f"Central limit theorem on {study.name}"
    return page(study, title, section(*answers), *sections, f"chance: {chance}")
