"""Whether performance values look normal: the studies of section 3 of the HPT paper, on any matrix.

Lilliefors' and Shapiro's tests per benchmark and over the suite, the fitted normal against a kernel
density, the normal probability plot, and how large a sample must be before its mean looks normal.
A test that does not reject shows no normality: with few runs it can hardly reject.

References
----------
.. [1] H. W. Lilliefors, "On the Kolmogorov-Smirnov test for normality with mean and variance
   unknown", Journal of the American Statistical Association 62, 1967.
.. [2] G. E. Dallal, L. Wilkinson, "An analytic approximation to the distribution of Lilliefors's
   test statistic for normality", The American Statistician 40, 1986.
.. [3] M. A. Stephens, "EDF statistics for goodness of fit and some comparisons", Journal of the
   American Statistical Association 69, 1974.
.. [4] T. Chen et al., "Statistical performance comparisons of computers", HPCA 2012, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...data import PerformanceMatrix
from ...errors import AnalysisError, UsageError
from ...report import as_text, figures
from ...stats import stream
from .curves import Curves, checked, normal_curves

__all__ = [
    "MeanTrial",
    "NormalityRow",
    "NormalityStudy",
    "NormalityTest",
    "lilliefors",
    "mean_sample_size",
    "normality",
    "shapiro",
]

LILLIEFORS_LEAST = 5
SHAPIRO_LEAST, SHAPIRO_MOST = 3, 5000
MEAN_SIZES = (10, *range(20, 281, 20))  # [4] section 3.2: fifteen trials
MEANS = 150  # means in each trial, as there
Array = NDArray[np.float64]

# Stephens' polynomials in the modified distance, as R's nortest has them: for p above 0.1 only.
_POLYNOMIALS = (
    (0.302, (1.0,)),
    (0.5, (2.76773, -19.828315, 80.709644, -138.55152, 81.218052)),
    (0.9, (-4.901232, 40.662806, -97.490286, 94.029866, -32.355711)),
    (1.31, (6.198765, -19.558097, 23.186922, -12.234627, 2.423045)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalityTest:
    """A test of normality; `pvalue` is small when the values do not look normal."""

    method: str
    n: int
    statistic: float
    pvalue: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NormalityRow:
    """One benchmark's runs, or the medians of all: what is None could not be done (`why`)."""

    name: str
    n: int
    lilliefors: NormalityTest | None
    shapiro: NormalityTest | None
    curves: Curves | None
    why: str | None

    def to_dict(self) -> dict[str, Any]:
        """Give the row as JSON types."""
        return {
            "name": self.name,
            "n": self.n,
            "lilliefors": None if self.lilliefors is None else _fields(self.lilliefors),
            "shapiro": None if self.shapiro is None else _fields(self.shapiro),
            "curves": None if self.curves is None else self.curves.to_dict(),
            "why": self.why,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanTrial:
    """Means of samples of one size, drawn from the values with replacement, and their test."""

    size: int
    means: int
    statistic: float
    pvalue: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NormalityStudy:
    """The studies on one matrix.

    `mean_trials` draw from all runs, each relative to its benchmark's median; `enough` is the
    smallest size from which on no trial rejects at `risk`; None when the largest size still does.
    """

    name: str
    risk: float
    benchmarks: tuple[NormalityRow, ...]
    suite: NormalityRow
    mean_trials: tuple[MeanTrial, ...]
    enough: int | None
    seed: int
    cautions: tuple[str, ...]
    references: tuple[str, ...] = (
        "H. W. Lilliefors, JASA 62, 1967; G. E. Dallal and L. Wilkinson, Am. Statistician 40, 1986",
        "T. Chen et al., Statistical performance comparisons of computers, HPCA 2012, section 3",
    )

    def to_dict(self) -> dict[str, Any]:
        """Give the result as JSON types."""
        return {
            "name": self.name,
            "risk": self.risk,
            "benchmarks": [row.to_dict() for row in self.benchmarks],
            "suite": self.suite.to_dict(),
            "mean_trials": [_fields(row) for row in self.mean_trials],
            "enough": self.enough,
            "seed": self.seed,
            "cautions": list(self.cautions),
            "references": list(self.references),
        }

    def __str__(self) -> str:
        return "\n".join(_text(self))


def lilliefors(values: ArrayLike) -> NormalityTest:
    """Test normality with mean and variance estimated, by the Kolmogorov-Smirnov distance.

    The p-value is Dallal's and Wilkinson's [2]_ up to 0.1 and a polynomial in Stephens' [3]_
    modified distance above, as R's ``nortest::lillie.test`` has it.

    Raises
    ------
    InsufficientDataError
        With fewer than 5 values.
    AnalysisError
        If all values are equal, or one is not finite.
    """
    from scipy.special import ndtr

    x = np.sort(checked(values, LILLIEFORS_LEAST, "Lilliefors' test"))
    n = x.size
    x = np.ldexp(x, -np.frexp(np.abs(x).max())[1])  # exact, and no square overflows
    p = ndtr((x - x.mean()) / x.std(ddof=1))
    steps = np.arange(1, n + 1)
    distance = float(max((steps / n - p).max(), (p - (steps - 1) / n).max()))
    return NormalityTest(
        method="Lilliefors", n=n, statistic=distance, pvalue=_lilliefors_pvalue(distance, n)
    )


def _lilliefors_pvalue(distance: float, n: int) -> float:
    d, m = (distance, n) if n <= 100 else (distance * (n / 100) ** 0.49, 100)
    p = math.exp(
        -7.01256 * d**2 * (m + 2.78019)
        + 2.99587 * d * math.sqrt(m + 2.78019)
        - 0.122119
        + 0.974598 / math.sqrt(m)
        + 1.67997 / m
    )
    if p <= 0.1:
        return p
    modified = (math.sqrt(n) - 0.01 + 0.85 / math.sqrt(n)) * distance
    for end, coefficients in _POLYNOMIALS:
        if modified <= end:
            return float(sum(c * modified**k for k, c in enumerate(coefficients)))
    return 0.0


def shapiro(values: ArrayLike) -> NormalityTest:
    """Test normality by Shapiro's and Wilk's W.

    Raises
    ------
    InsufficientDataError
        With fewer than 3 values.
    AnalysisError
        With more than 5000 values (p is not known there), equal values, or one not finite.
    """
    from scipy.stats import shapiro as wilk

    x = checked(values, SHAPIRO_LEAST, "Shapiro's test")
    if x.size > SHAPIRO_MOST:
        raise AnalysisError(
            f"Shapiro's p is not known for {x.size} values",
            fix=f"take at most {SHAPIRO_MOST}, or Lilliefors' test",
        )
    done = wilk(x / np.abs(x).max())
    return NormalityTest(
        method="Shapiro-Wilk", n=x.size, statistic=float(done.statistic), pvalue=float(done.pvalue)
    )


def mean_sample_size(
    values: ArrayLike,
    *,
    sizes: Sequence[int] = MEAN_SIZES,
    means: int = MEANS,
    rng: np.random.Generator,
) -> tuple[MeanTrial, ...]:
    """Draw samples of growing size and test whether their means look normal.

    Parameters
    ----------
    values : array_like
        What is drawn from, with replacement.
    sizes : sequence of int
        The sizes of the samples, one trial each.
    means : int
        How many means each trial tests: more of them see smaller departures.
    rng : numpy.random.Generator
        Where the draws come from.

    Raises
    ------
    InsufficientDataError
        With fewer than 5 values or means.
    AnalysisError
        If all values are equal, or one is not finite.
    """
    x = checked(values, LILLIEFORS_LEAST, "a study of means")
    trials = []
    for size in sizes:
        drawn = x[rng.integers(0, x.size, (means, size))].mean(axis=1)
        test = lilliefors(drawn)
        trials.append(
            MeanTrial(size=size, means=means, statistic=test.statistic, pvalue=test.pvalue)
        )
    return tuple(trials)


def normality(matrix: PerformanceMatrix, *, risk: float = 0.05, seed: int = 0) -> NormalityStudy:
    """Study whether the values of a matrix look normal.

    Parameters
    ----------
    matrix : PerformanceMatrix
        The runs of one variant.
    risk : float
        Below which p a trial of means counts as not normal.
    seed : int
        For the draws of the study of means.

    Raises
    ------
    UsageError
        If the risk does not lie between 0 and 1.
    """
    if not 0 < risk < 1:
        raise UsageError(f"risk must lie between 0 and 1, not {risk!r}")
    rows = tuple(
        _row(name, values) for name, values in zip(matrix.benchmarks, matrix.samples, strict=True)
    )
    suite = _row("medians", matrix.medians())
    pooled = np.concatenate([values / np.median(values) for values in matrix.samples])
    rng = stream(seed, "mean sample size")
    cautions = list(matrix.cautions)
    try:
        trials = mean_sample_size(pooled, rng=rng)
    except AnalysisError as error:
        trials = ()
        cautions.append(f"no study of means: {error.what}")
    few = [row.name for row in rows if row.n < 20]
    if few:
        cautions.append(
            f"{len(few)} of {len(rows)} benchmarks have fewer than 20 runs: tests that do not "
            "reject there say little"
        )
    enough = None
    for trial in reversed(trials):
        if trial.pvalue <= risk:
            break
        enough = trial.size
    return NormalityStudy(
        name=matrix.name,
        risk=risk,
        benchmarks=rows,
        suite=suite,
        mean_trials=trials,
        enough=enough,
        seed=seed,
        cautions=tuple(cautions),
    )


def _row(name: str, values: Array) -> NormalityRow:
    done: dict[str, Any] = {"lilliefors": None, "shapiro": None, "curves": None}
    why = None
    for key, study in (("curves", normal_curves), ("shapiro", shapiro), ("lilliefors", lilliefors)):
        try:
            done[key] = study(values)
        except AnalysisError as error:
            why = why or error.what
    return NormalityRow(name=name, n=values.size, why=why, **done)


def _fields(test: NormalityTest | MeanTrial) -> dict[str, Any]:
    return {name: getattr(test, name) for name in test.__slots__}


def _text(study: NormalityStudy) -> list[str]:
    def cell(test: NormalityTest | None) -> str:
        return "-" if test is None else figures.pvalue(test.pvalue).removeprefix("= ")

    def says(row: NormalityRow) -> str:
        ps = [test.pvalue for test in (row.lilliefors, row.shapiro) if test is not None]
        if not ps:
            return row.why or "not tested"
        return "not normal" if min(ps) <= study.risk else "no departure seen"

    table = [["", "n", "Lilliefors p", "Shapiro p", "line", f"at {study.risk:g}"]]
    table += [
        [
            figures.shorten(row.name, 28),
            str(row.n),
            cell(row.lilliefors),
            cell(row.shapiro),
            "-" if row.curves is None else f"{row.curves.straightness:.3f}",
            says(row),
        ]
        for row in (*study.benchmarks, study.suite)
    ]
    tested = [row for row in study.benchmarks if row.shapiro is not None]
    off = sum(says(row) == "not normal" for row in tested)
    lines = as_text.wrapped(
        f"{off} of {len(tested)} benchmarks of {study.name} do not look normal; of the medians over "
        f"the suite: {says(study.suite)}"
    )
    lines += ["", *as_text.grid(table, "<>>>><")]
    lines.append("line: correlation of the normal probability plot, 1 when straight")
    if study.mean_trials:
        last = study.mean_trials[-1]
        found = (
            f"look normal from samples of {study.enough} on"
            if study.enough is not None
            else f"do not look normal up to samples of {last.size}"
        )
        lines += as_text.wrapped(
            f"means of runs (relative to their benchmark's median, {last.means} means a trial, "
            f"seed {study.seed}) {found}"
        )
    return lines + as_text.numbered(study.cautions)
