"""What the Speedup-Test says: the decision path of each benchmark, the figures of the suite.

References
----------
.. [1] S. Touati, J. Worms, S. Briais, "The Speedup Test", technical report inria-00443839v2, 2010,
   sections 5 and 6.2.4.
.. [2] E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
   Journal of the American Statistical Association 22, 1927.
.. [3] R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in
   Medicine 17, 1998 (method 4: the continuity correction).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from ...errors import UsageError
from ...pages import model as pages, number_format as figures
from ...pages.result import Result
from ...stats.arguments import between
from ...words import apart

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...data.pair import Match
    from ...pages.number_format import Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Proportion:
    """How many of the benchmarks are accelerated, and what that says about others like them.

    `low` and `high` are Wilson's interval with Yates' continuity correction, as published (R's
    ``prop.test``); `low_plain` and `high_plain` without. `low_wald` and `high_wald` are C - r and
    C + r, the formula of section 5, which may leave [0, 1]. `accurate` is the report's condition
    a - a^2 / b > 5. `needed_benchmarks` are those that make the interval C ± `precision`; None when
    none or all are accelerated, because then the formula gives 0.
    """

    accelerated: int
    total: int
    share: float
    low: float
    high: float
    low_plain: float
    high_plain: float
    low_wald: float
    high_wald: float
    accurate: bool
    needed_benchmarks: int | None
    confidence: float
    precision: float


def proportion(
    accelerated: int, total: int, *, confidence: float = 0.95, precision: float = 0.05
) -> Proportion:
    """Estimate the share of accelerated benchmarks.

    The interval printed in the report is not Wald's formula of its section 5 but the one that R's
    ``prop.test`` gives, with Yates' correction min(1/2, abs(a - b/2)).
    """
    from scipy.special import ndtri

    if not 0 <= accelerated <= total or total < 1:
        raise UsageError(f"{accelerated} of {total} benchmarks is not a proportion")
    between("confidence", confidence)
    between("precision", precision)
    a, b = accelerated, total
    z = -float(ndtri((1 - confidence) / 2))
    yates = min(0.5, abs(a - b / 2))
    low, high = _wilson(a, b, z, yates)
    low_plain, high_plain = _wilson(a, b, z, 0.0)
    share = a / b
    wald = z * math.sqrt(share * (1 - share) / b)
    raw = z**2 * share * (1 - share) / precision**2
    return Proportion(
        accelerated=a,
        total=b,
        share=share,
        low=low,
        high=high,
        low_plain=low_plain,
        high_plain=high_plain,
        low_wald=share - wald,
        high_wald=share + wald,
        accurate=a * (b - a) > 5 * b,  # the rule of thumb of section 5: a - a^2 / b must be larger
        needed_benchmarks=math.ceil(raw - 1e-9) if 0 < a < b else None,
        confidence=confidence,
        precision=precision,
    )


def _wilson(a: int, b: int, z: float, yates: float) -> tuple[float, float]:
    half = z**2 / (2 * b)

    def end(shifted: float, sign: int) -> float:
        root = math.sqrt(shifted * (1 - shifted) / b + half / (2 * b))
        return (shifted + half + sign * z * root) / (1 + 2 * half)

    below, above = (a - yates) / b, (a + yates) / b
    low = 0.0 if below <= 0 else max(0.0, end(below, -1))
    high = 1.0 if above >= 1 else min(1.0, end(above, 1))
    return low, high


Side = Literal["candidate", "baseline"]
Outcome = Literal["rejected", "not rejected", "not tested"]
Centre = Literal["min", "mean", "median"]
Weighting = Literal["equal", "fraction", "custom"]

Tested = Literal["mean", "median"]
CENTRES: tuple[Centre, ...] = ("min", "mean", "median")
TESTED: tuple[Tested, ...] = ("mean", "median")  # the centres to which a test belongs
WORDS: Mapping[Centre, str] = {"min": "minimum", "mean": "mean", "median": "median"}
SURE = 0.95  # from where on a level that was searched is an answer
LARGE = 30  # a sample is large when it has more runs (section 4.1 and appendix C of the report)

# The names of the tests in `Step.test`.
SHAPIRO = "Shapiro-Wilk"
F_TEST = "F"
STUDENT = "Student t"
WELCH = "Welch t"
KOLMOGOROV = "Kolmogorov-Smirnov"
WILCOXON = "Wilcoxon-Mann-Whitney"

REFERENCES = (
    "S. Touati, J. Worms, S. Briais, The Speedup Test, technical report inria-00443839v2, 2010, "
    "sections 3 to 6",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One test on the way to a decision.

    `test` is one of the names above, `hypothesis` what the test can reject, `sample` the side that
    it looks at (None: both), `risk` the one that its p is held against. `statistic` and `pvalue` are
    None where the outcome is "not tested"; `consequence` says what follows, or why there is no test.
    `low` and `high` bound what the statistic estimates, at confidence 1 - `risk`: the ratio of the
    variances, baseline's by candidate's; None for other tests.
    """

    test: str
    hypothesis: str
    sample: Side | None
    statistic: float | None
    pvalue: float | None
    risk: float
    outcome: Outcome
    consequence: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Swapped:
    """The same protocol with the sides swapped: whether the candidate is significantly slower.

    `significant`, `confidence` and `pvalue` are as in `Decision`, of the opposite claim.
    """

    derived: ClassVar[tuple[str, ...]] = ("pvalue_of",)
    pvalue_of: ClassVar[str] = "baseline better"

    significant: bool | None
    confidence: float | None
    pvalue: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Whether the speedup of the mean, or of the median, is significant.

    `significant` is None where the protocol cannot conclude; a search that finds no level gives False.
    `confidence` is the level asked for, or the highest that the search accepts (None: none). `pvalue`
    belongs to the last test of the protocol and is None when the checks did not let it be done; after
    a search without a level it is the one at the lowest level whose checks pass, and `steps`, the way
    to the decision, are those at 0.51. `needed_runs` are those that the side(s) with a failed check
    must have for a conclusion; `swapped` is what the same protocol says with the sides swapped.
    """

    derived: ClassVar[tuple[str, ...]] = ("word", "pvalue_of")
    pvalue_of: ClassVar[str] = "candidate better"

    significant: bool | None
    confidence: float | None
    pvalue: float | None
    steps: tuple[Step, ...]
    needed_runs: int | None
    searched: bool
    swapped: Swapped

    @property
    def word(self) -> Word:
        """What the candidate is. A level that was searched counts from 0.95 on."""
        ours, theirs = (
            one.significant is True and (not self.searched or (one.confidence or 0) >= SURE)
            for one in (self, self.swapped)
        )
        if ours == theirs:
            return "undecided"
        return "faster" if ours else "slower"

    @property
    def answer(self) -> str:
        """Significant, not significant or cannot conclude."""
        if self.significant is None:
            return "cannot conclude"
        return "significant" if self.significant else "not significant"

    @property
    def stopped(self) -> bool:
        """Whether a failed check is what stands against a conclusion."""
        if self.significant is None:
            return True
        if self.needed_runs is None:
            return False
        return self.pvalue is None or self.pvalue <= self.steps[0].risk


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedupTest(Result):
    """What the Speedup-Test says about one benchmark.

    Speedups are baseline time / candidate time, of the minimum, the mean and the median; the first
    is a description only, no test belongs to it. `required` is the confidence asked for, None
    when the highest was searched.
    """

    method: ClassVar[str] = "speedup-test"
    derived: ClassVar[tuple[str, ...]] = ("word",)

    name: str | None
    runs_baseline: int
    runs_candidate: int
    minimum_baseline: float
    minimum_candidate: float
    mean_baseline: float
    mean_candidate: float
    median_baseline: float
    median_candidate: float
    speedup_min: float
    speedup_mean: float
    speedup_median: float
    mean: Decision
    median: Decision
    required: float | None
    references: tuple[str, ...] = REFERENCES

    @property
    def word(self) -> Word:
        """What the candidate is, by mean or median; undecided where the two contradict each other."""
        outcomes = {self.mean.word, self.median.word} - {"undecided"}
        return outcomes.pop() if len(outcomes) == 1 else "undecided"

    @property
    def accelerated(self) -> bool:
        """Whether the speedup of the mean or of the median is significant (section 6.3.2)."""
        return self.mean.significant is True or self.median.significant is True

    def times(self, centre: Centre) -> tuple[float, float]:
        """Give the baseline's and the candidate's time, as minimum, mean or median."""
        word = WORDS[centre]
        return getattr(self, f"{word}_baseline"), getattr(self, f"{word}_candidate")

    def of(self, centre: Tested) -> Decision:
        """Give the decision on the mean or the median."""
        return self.mean if centre == "mean" else self.median

    def screen(self, *, named: bool = True) -> pages.Page:
        """Set one benchmark, with its name in the first line or without."""
        answers = [self.name] if named and self.name is not None else []
        for centre, value in zip(TESTED, (self.speedup_mean, self.speedup_median), strict=True):
            answers.append(f"speedup of the {centre} {_times(value)}: {_answer(self.of(centre))}")
        least = _times(self.speedup_min)
        answers.append(f"speedup of the minimum {least}: a description, no test belongs to it")
        times = pages.table_of(
            "times",
            [
                ("runs", str, self.runs_baseline, self.runs_candidate),
                *((WORDS[centre], _time, *self.times(centre)) for centre in CENTRES),
            ],
            ("<", lambda row: row[0]),
            ("baseline", lambda row: pages.Value(row[1](row[2]), row[2])),
            ("candidate", lambda row: pages.Value(row[1](row[3]), row[3])),
        )
        title = "Speedup-Test" if self.name is None else f"Speedup-Test: {self.name}"
        paths = (_path(centre, self.of(centre)) for centre in TESTED)
        return pages.page(self, title, pages.section(*answers), times, *paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedupSuite(Result):
    """What the Speedup-Test says about a suite.

    Attributes
    ----------
    baseline, candidate : str
        The variants' names.
    benchmarks : tuple of SpeedupTest
        One for each benchmark that both sides have.
    weighting : {"equal", "fraction", "custom"}
        How the benchmarks were weighted.
    coefficients, weights : dict of dict
        ``[centre][benchmark]``, centre "min", "mean" or "median": the coefficient (1 when equal, the
        share of the baseline's time when by fraction, else as given), and normalised to sum to 1.
    gain, speedup : dict
        Overall gain G (equation 2) and speedup S (equation 3) of "min", "mean", "median", over all
        benchmarks.
    gain_accelerated, speedup_accelerated : dict
        The same over the accelerated ones only: "mean" over those whose mean, "median" over those
        whose median is significantly better, "min" over those of either; None when there is none.
    proportion_mean, proportion_median : Proportion
        The share of benchmarks with a significant speedup of the mean, of the median.
    """

    method: ClassVar[str] = "speedup-test-suite"
    derived: ClassVar[tuple[str, ...]] = ("word", "slower")

    baseline: str
    candidate: str
    benchmarks: tuple[SpeedupTest, ...]
    weighting: Weighting
    coefficients: Mapping[Centre, Mapping[str, float]]
    weights: Mapping[Centre, Mapping[str, float]]
    gain: Mapping[Centre, float]
    speedup: Mapping[Centre, float]
    gain_accelerated: Mapping[Centre, float | None]
    speedup_accelerated: Mapping[Centre, float | None]
    proportion_mean: Proportion
    proportion_median: Proportion
    references: tuple[str, ...] = REFERENCES

    @property
    def word(self) -> Word:
        """What the candidate is on every single benchmark; undecided where they differ.

        That all are faster needs no correction for their number: each must be significant.
        """
        outcomes = {test.word for test in self.benchmarks}
        return outcomes.pop() if len(outcomes) == 1 else "undecided"

    @property
    def slower(self) -> dict[Tested, int]:
        """On how many benchmarks the candidate's mean, median is significantly slower."""
        return {
            centre: sum(test.of(centre).word == "slower" for test in self.benchmarks)
            for centre in TESTED
        }

    def screen(self) -> pages.Page:
        """Set on how many benchmarks a speedup is significant, a line for each, and the overall gain."""
        weights = {"equal": "equal", "fraction": "by the baseline's time", "custom": "as given"}
        ours, theirs = apart((self.candidate, self.baseline), 30)
        n, slower = len(self.benchmarks), self.slower
        text = (
            f"{ours} against {theirs}: the speedup of the mean is significant on "
            f"{self.proportion_mean.accelerated} of {n} benchmarks, that of the median on "
            f"{self.proportion_median.accelerated} of {n}"
        )
        levels = {test.required for test in self.benchmarks}
        if levels == {None}:
            text += ", each at the best level that a search finds"
        else:
            one = len(levels) == 1
            text += f" at confidence {levels.pop():g}" if one else ", each at its own level"
        if any(slower.values()):
            text += (
                f"; significantly slower with the sides swapped on {slower['mean']} by the mean, on "
                f"{slower['median']} by the median"
            )
        searched = any(test.required is None for test in self.benchmarks)
        head = "<best level" if searched else "<significant"
        benchmarks = pages.table_of(
            "benchmarks",
            self.benchmarks,
            ("@", lambda test: test.name or ""),
            ("runs", lambda test: f"{test.runs_baseline}/{test.runs_candidate}"),
            ("min", "speedup_min", _times),
            ("mean", "speedup_mean", _times),
            (head, lambda test: _decided(test.mean)),
            ("median", "speedup_median", _times),
            (head, lambda test: _decided(test.median)),
        )
        overall = pages.table_of(
            "overall",
            CENTRES,
            ("<", lambda centre: f"overall, by {WORDS[centre]}"),
            ("gain, all", self.gain.get, _percent),
            ("speedup, all", self.speedup.get, _times),
            ("gain, accelerated", self.gain_accelerated.get, _percent),
            ("speedup, accelerated", self.speedup_accelerated.get, _times),
        )
        title = f"Speedup-Test: {self.candidate} against {self.baseline}"
        means = pages.section(overall, f"weights: {weights[self.weighting]}")
        return pages.page(self, title, text, benchmarks, means, pages.section(*_shares(self)))


# --- What a reader of the Speedup-Test should know, with the error rates that simulations give.
#
# The rates are those of the method as published, at risk 0.05; `tests/calibration` repeats them.


_SESSIONS = (
    "all runs count as independent. Runs of one session are not: with a common shift in each session "
    "the same program was declared faster in 23 % (mean) and 30 % (median) of cases instead of 5 %"
)


def data_cautions(both: Match) -> tuple[pages.Caution, ...]:
    """Say what became of the data before any test."""
    unit = both.candidate.unit
    texts = {
        "rates-as-times": both.candidate.better == "higher"
        and f"more is better here{unit and f' ({unit})'}, so the reciprocals were judged as times: the "
        "mean is the harmonic mean of the values",
    }
    known = (both.cautions, both.baseline.cautions, both.candidate.cautions)
    return (*pages.cautions_of(texts), *pages.merged(*known))


def benchmark_cautions(mean: Decision, median: Decision) -> tuple[pages.Caution, ...]:
    """Say what is special about one benchmark."""
    sides = _not_normal(mean)
    texts = {
        "mean-approximate": sides != []
        and f"the {' and the '.join(sides)} {'do' if len(sides) > 1 else 'does'} not look normal: the "
        "confidence for the mean is approximate",
        "median-approximate": _not_shifted(median)
        and "the two samples do not differ by a shift only: the confidence for the median is "
        "approximate",
    }
    return pages.cautions_of(texts)


def suite_cautions(tests: Sequence[SpeedupTest]) -> Iterator[pages.Caution]:
    """Say on which benchmarks of a suite there is no conclusion, or an approximate one."""
    stopped = "a check did not hold, so that nothing can be concluded about the {} of {}: {}"
    doubtful = "the confidence for the {} is approximate on {}, because their large samples "
    not_normal = doubtful + "do not look normal: {}"
    not_shifted = doubtful + "differ by more than a shift: {}"
    for code, centre, text, flags in (
        ("mean-not-concluded", "mean", stopped, [test.mean.stopped for test in tests]),
        ("median-not-concluded", "median", stopped, [test.median.stopped for test in tests]),
        ("mean-approximate", "mean", not_normal, [bool(_not_normal(test.mean)) for test in tests]),
        (
            "median-approximate",
            "median",
            not_shifted,
            [_not_shifted(test.median) for test in tests],
        ),
    ):
        names = tuple(test.name or "" for test, yes in zip(tests, flags, strict=True) if yes)
        if names:
            count = f"{len(names)} of {len(tests)} benchmarks"
            words = text.format(centre, count, figures.listed(names))
            yield pages.Caution(code, words, names)


def _not_normal(mean: Decision) -> list[str]:
    """Give the sides whose normality is rejected where the t-test was used all the same."""
    steps = mean.steps if len(mean.steps) > 2 else ()  # else the path ends with Shapiro's tests
    rejected = (step for step in steps if step.outcome == "rejected")
    return [str(step.sample) for step in rejected if step.test == SHAPIRO]


def _not_shifted(median: Decision) -> bool:
    """Tell whether the shapes differ where the rank-sum test was used all the same."""
    return len(median.steps) > 1 and median.steps[0].outcome == "rejected"


def general_cautions(
    tests: Sequence[SpeedupTest],
    matrices: Sequence[PerformanceMatrix] = (),
    weighting: Weighting | None = None,
) -> tuple[pages.Caution, ...]:
    """Say what is known of the protocols, how far runs are independent, and of overall gains."""
    known = [matrix.sessions for matrix in matrices if matrix.sessions is not None]
    count = len({ids for rows in known for row in rows for ids in row.tolist()})
    unknown = not known or len(known) < len(matrices)
    texts = {
        "level-searched": any(test.mean.searched for test in tests)
        and "the confidence was searched, not asked for: when nothing differs such a search still finds "
        "a level above 0.50 for about half of all benchmarks (47 to 50 % by simulation). Look at p",
        "two-directions": any("slower" in (test.mean.word, test.median.word) for test in tests)
        and "the slowdowns are those of a second test with the sides swapped: with both, a false "
        "outcome on a benchmark has up to twice the risk of one test",
        "not-corrected": len(tests) > 1
        and f"each of the {len(tests)} benchmarks has its own risk, none is corrected for their number: "
        "of suites of 12 without any difference, 31 to 47 % showed at least one false speedup",
        "f-before-t": any(test.mean.pvalue is not None for test in tests)
        and "F before t does not keep the risk: with equal means, 5 runs of sd 2 against 20 of sd 1, "
        "0.05 became 0.087 (Student's t alone 0.134, Welch's alone 0.054). Welch's t without a "
        "pre-test is sounder",
        "no-test-of-medians": any(test.median.pvalue is not None for test in tests)
        and "the protocol for the median is no test of medians where the shapes differ: equal medians, "
        "bimodal against unimodal times, were declared a speedup in 13 % (15 runs) and 17 % (40 "
        "runs) of cases",
        "sessions-unknown": unknown and _SESSIONS,
        "one-session": not unknown
        and count == 1
        and f"all runs stem from one session, and the outcome holds within it only; {_SESSIONS}",
        "sessions-pooled": not unknown and count != 1 and _SESSIONS,
        "time-counts-twice": weighting == "fraction"
        and "weights by time let the time count twice: the gain is governed by the squares of the times",
        "accelerated-selected": weighting is not None
        and "gain and speedup of the accelerated benchmarks leave the slowdowns out: they are larger "
        "by selection; read them together with the proportion and the figures of all",
    }
    return pages.cautions_of(texts)


# --- In words: the answer first, then the path, then the figures of the suite.


_SIGNS = dict(zip((SHAPIRO, F_TEST, STUDENT, WELCH, KOLMOGOROV, WILCOXON), "WFttDW", strict=True))
_time = partial(figures.significant, digits=5)


def _times(speedup: float | None) -> str:
    return "-" if speedup is None else f"{figures.significant(speedup, 4)}x"


def _percent(gain: float) -> str:
    """Write a gain: two decimals; of huge losses, four digits."""
    if gain < -100:
        return f"{figures.significant(100 * gain, 4)} %"
    return f"{100 * gain:z.2f} %"


def _answer(decision: Decision) -> str:
    p = "" if decision.pvalue is None else f" (p {figures.pvalue(decision.pvalue)})"
    if decision.searched and decision.confidence is not None:
        return f"significant up to confidence {decision.confidence:g}, by search{p}"
    text = "no confidence above 0.50 declares it"
    if not decision.searched:
        text = f"{decision.answer} at {decision.confidence:g}"
    text += p
    if decision.needed_runs is not None and decision.stopped:
        text += f"; {decision.needed_runs} runs are needed where a check failed"
    swapped = decision.swapped.pvalue
    if decision.word == "slower" and swapped is not None:
        text += f"; significantly slower with the sides swapped (p {figures.pvalue(swapped)})"
    return text


def _path(word: str, decision: Decision) -> pages.Section:
    rows, notes = [], []
    for step in decision.steps:
        statistic = p = pages.Value("", None)
        if step.pvalue is not None and step.statistic is not None:
            sign = f"{_SIGNS[step.test]} = {figures.significant(step.statistic, 4)}"
            statistic, p = (
                pages.Value(sign, step.statistic),
                pages.Value(f"p {figures.pvalue(step.pvalue)}", step.pvalue),
            )
        rows.append((step.test, step.sample or "both", statistic, p, step.outcome))
        note = step.consequence
        if step.low is not None and step.high is not None:
            low, high = (figures.significant(one, 4) for one in (step.low, step.high))
            note += f" (ratio {low} to {high} at confidence {1 - step.risk:.4g})"
        notes.append(note)
    steps = pages.Table(
        name=f"steps-{word}",
        columns=pages.columns_of("<test", "<sample", "<statistic", "<p", "<outcome"),
        rows=tuple(rows),
        headed=False,
        notes=tuple(notes),
    )
    return pages.section(steps, title=f"the way to it, {word}, at risk {decision.steps[0].risk:g}")


def _decided(decision: Decision) -> pages.Value:
    if decision.pvalue is None:
        needed = decision.needed_runs
        return pages.Value("cannot conclude" if needed is None else f"needs {needed} runs", None)
    swapped = decision.swapped.pvalue
    if decision.word == "slower" and swapped is not None:
        return pages.Value(f"slower, swapped p {figures.pvalue(swapped)}", swapped)
    word = "yes" if decision.significant else "no"
    if decision.searched:
        word = "none" if decision.confidence is None else f"{decision.confidence:g}"
    return pages.Value(f"{word}, p {figures.pvalue(decision.pvalue)}", decision.pvalue)


def _shares(suite: SpeedupSuite) -> Iterator[str]:
    for word, share in (("mean", suite.proportion_mean), ("median", suite.proportion_median)):
        text = (
            f"accelerated in {word}: {share.accelerated} of {share.total} = {share.share:.3g}, "
            f"{100 * share.confidence:g} % interval [{share.low:.3f}, {share.high:.3f}], without continuity "
            f"correction [{share.low_plain:.3f}, {share.high_plain:.3f}], by Wald's formula "
            f"[{share.low_wald:.3f}, {share.high_wald:.3f}]"
        )
        if not share.accurate:
            text += "; it may not be accurate, because a (1 - a/b) > 5 does not hold"
        if share.needed_benchmarks is not None:
            text += f"; {share.needed_benchmarks} benchmarks would give ± {share.precision:g}"
        yield text
    n = len(suite.benchmarks)
    yield (
        "remark: these intervals speak of other benchmarks only if "
        f"{'this one was' if n == 1 else f'these {n} were'} chosen at random from a large set of "
        "representative ones"
    )
