"""A study of two measured systems: the same comparison, drawn again and again.

[1]_, section 6.3 (Table 5, figure 8) and section 10 (studies 1 and 2): of the many runs of each of two
computers a few are drawn, the methods are asked, and that is repeated. [2]_, section 5.2, does so for a
stated speedup. Nobody knows the truth here; what is counted is how often each method says what.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, sections 6.3 and 10.
.. [2] T. Chen, Y. Chen, Q. Guo, O. Temam, Y. Wu, W. Hu, "Statistical performance comparisons of
   computers", 18th International Symposium on High Performance Computer Architecture, 2012, section
   5.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..data.matrix import PerformanceMatrix
from ..errors import UsageError
from ..methods.hpt.page import PairedT, hpt_report
from ..methods.resampling.bootstrap import bootstrap_speedup
from ..pages import number_format as figures
from ..pages.model import Caution, Page, cautions_of, merged, page, section, table_of
from ..pages.result import Result
from ..plots.axes import Axes, Key, Picture, Scale, Sheet, quantity_scale, quantity_ticks
from ..plots.chart import arranged
from ..stats import classical
from ..stats.arguments import checks_arguments, chosen, counted, named
from ..stats.classical import Alternative
from ..stats.workers import Progress
from . import study as shared
from .components import against, check_positive, matched
from .error_rates import log_ratios, paired_ends, pvalue_of
from .stop_rule import exponential
from .study import Covered, Drawing, DrawnPair, Draws, Ends, Question

TESTS_OF_DRAWS = ("hpt", "t", "t-scores", "interval", "randomization", "bootstrap")

_OF_ALL_DRAWS = ("known-coverage", "coverage-unknown", "few-resamples")
_MUCH = 0.1  # share of the runs there are, from which draws without replacement are alike


@dataclass(frozen=True, slots=True)
class DrawnTest:
    """How often one test rejected, at each level.

    `rejected`: Counts, in the order of the study's `alphas`.
    `confidence`: Mean of 1 - p over the draws; None for the bootstrap, which has no p.
    """

    derived: ClassVar[tuple[str, ...]] = ("rates", "errors")

    test: str
    rejected: tuple[int, ...]
    simulations: int
    confidence: float | None

    @property
    def rates(self) -> list[float]:
        """The shares of draws that were rejected."""
        return [count / self.simulations for count in self.rejected]

    @property
    def errors(self) -> list[float]:
        """Their Monte Carlo errors."""
        return [shared.monte_carlo_error(count, self.simulations) for count in self.rejected]


@dataclass(frozen=True, slots=True)
class OneDraw:
    """What one draw gave: the ratio of geometric means, p by test, and intervals of the ratio.

    A p is None where t has no spread to judge by: whether it rejects is then plain. `hpt` is its
    largest speedup (None where it claims none); `paired_t` and `bootstrap` are ends.
    """

    ratio: float
    pvalues: dict[str, float | None]
    hpt: float | None
    paired_t: tuple[float, float] | None
    bootstrap: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawStudy(Result):
    """How often each test rejects on draws from two systems, and the intervals of each draw."""

    method: ClassVar[str] = "draw-study"

    candidate: str
    baseline: str
    benchmarks: int
    values: tuple[int, int]
    runs: int
    ratio: float
    speedup: float
    alphas: tuple[float, ...]
    alternative: Alternative
    confidence: float
    draws: Draws
    replace: bool
    resamples: int
    tests: tuple[DrawnTest, ...]
    intervals: tuple[Covered, ...]
    each: tuple[OneDraw, ...]
    seed: int | None
    references: tuple[str, ...] = (
        "Irving et al., Computer comparisons in the presence of performance variation, 2018, sections "
        "6.3 and 10",
        "Chen et al., Statistical performance comparisons of computers, 2012, section 5.2",
    )

    def rejected(self, test: str, alpha: float) -> int:
        """Give how many draws one test rejected at one of the levels."""
        (found,) = (one for one in self.tests if one.test == test)
        return found.rejected[self.alphas.index(alpha)]

    def picture(self) -> Picture:
        """Draw HPT's speedup and both intervals of each draw, around the measured ratios."""
        n = len(self.each)
        at = np.arange(1, n + 1)
        boot = np.array([draw.bootstrap for draw in self.each])
        ratios = np.array([draw.ratio for draw in self.each])
        paired = np.array([draw.paired_t or (np.nan, np.nan) for draw in self.each])
        claims = np.array([np.nan if draw.hpt is None else draw.hpt for draw in self.each])
        known = np.concatenate([boot.ravel(), ratios, paired.ravel(), claims, [self.ratio]])
        if self.speedup != 1:
            known = np.append(known, self.speedup)
        scale = quantity_scale(known[np.isfinite(known)].tolist(), log=False, room=0.04)
        axes = Axes(x=Scale(0.5, n + 0.5), y=scale)
        axes.curve([*at, *at[::-1]], [*boot[:, 0], *boot[::-1, 1]], "c0 pale", closed=True)
        for side in (0, 1):
            axes.curve(at, boot[:, side], "c0 line")
            if np.isfinite(paired).all():
                axes.curve(at, paired[:, side], "c2 d2 curve")
        axes.curve(at, ratios, "ink curve")
        there = np.isfinite(claims)
        if there.all():
            axes.curve(at, claims, "c1 d1 curve")
        else:
            axes.spots(at[there], claims[there], "c1", r=1.4)
        axes.level(self.ratio, "one line dashed")
        if self.speedup != 1:
            axes.level(self.speedup, "one thin")
            axes.beside.append((self.speedup, f"{self.speedup:g}×", "second"))
        share = f"{100 * self.confidence:g} %"
        axes.keys = [
            Key(f"bootstrap {share}", "c0 line"),
            Key("measured ratio", "ink curve"),
            Key(f"paired t {share}", "c2 d2 curve"),
            Key(f"HPT {self.confidence:g}-speedup", "c1 d1 curve"),
        ]
        axes.x_label, axes.y_label = "draw", "candidate over baseline, above 1: better"
        axes.x_ticks = quantity_ticks(Scale(0.0, float(n)), "1", 6)[1:]
        axes.y_ticks = quantity_ticks(scale, "1", 6)
        text = f"dashed: the ratio of all runs, {self.ratio:.4g}"
        missing = int((~there).sum())
        if missing:
            text += f"; HPT claims no speedup in {missing} of {n} draws"
        title = f"{against(self.candidate, self.baseline)}: {n} draws of {self.runs} runs"
        return arranged(Sheet(width=178.0), [[axes]], 90.0, title=title, notes=[text])

    def screen(self) -> Page:
        """Set how often each test rejects, and how often intervals hold the ratio of all runs."""
        names = against(self.candidate, self.baseline, width=40)
        trials = self.tests[0].simulations
        unit = "blocks" if self.draws == "block" else "runs"
        count, again = figures.counted(self.benchmarks, "benchmark"), "" if self.replace else "out"
        text = (
            f"{names}: {trials:,} draws of {self.runs} {unit} of each of {count}, with{again} "
            f"replacement; the ratio of geometric means of all runs is {self.ratio:.4g}"
        )
        claim = "the two differ"
        if self.alternative == "candidate":
            claim = f"the candidate is more than {self.speedup:g} times better"
        elif self.speedup != 1:
            claim = f"the candidate is not {self.speedup:g} times as good as the baseline"

        of_all = f"{{}} of {trials}".format
        tests = table_of(
            "tests",
            self.tests,
            ("<test", lambda one: shared.NAMES[one.test]),
            *(
                (f"rejects at {level:g}", lambda one, k=k: one.rejected[k], of_all)
                for k, level in enumerate(self.alphas)
            ),
            ("mean confidence", "confidence", "{:.3f}".format),
        )
        covered = f"how often {100 * self.confidence:g} % intervals of a draw hold the ratio of all"
        covered += " runs; HPT's speedup is a lower bound"
        first = section(f"how often each test says that {claim}", tests)
        second = section(covered, shared.covered_table("intervals", self.intervals))
        return page(self, f"Draws from {names}", text, first, second)


@checks_arguments
def draw_study(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    runs: int = 5,
    tests: Sequence[str] = TESTS_OF_DRAWS,
    speedup: float = 1.0,
    alternative: Alternative | None = None,
    alphas: Sequence[float] = (0.01, 0.05),
    draws: Draws = "run",
    replace: bool = True,
    simulations: int = 100,
    resamples: int = 999,
    rng: np.random.Generator,
    seed: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> DrawStudy:
    """Draw a few runs of two systems many times, and count what each method says of them.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        What the two sides are drawn from; benchmarks of only one of them are left out.
    runs : int
        Runs of each benchmark and side in one draw.
    tests : sequence of {"hpt", "t", "t-scores", "interval", "randomization", "bootstrap"}
        HPT; the paired t-test over the benchmarks' log ratios; the same on the differences of HPT's
        scores; the interval technique, which is the two-sided interval of these differences
        (`analysis.stats.classical`); the randomization test; the percentile interval of the
        bootstrap, which rejects where it excludes the speedup.
    speedup : float
        Under test: the candidate's scores are divided by it (HPT, t-scores), or its values.
    alternative : {"candidate", "two-sided"}, optional
        That the candidate is more than `speedup` times better, or that it is not that. Two-sided by
        default at a speedup of 1, as published; else "candidate".
    alphas : sequence of float
        Levels. The intervals have the confidence 1 - the largest of them.
    draws : {"run", "block"}
        What is drawn, on each side by itself.
    replace : bool
        Whether runs are drawn with replacement; without, as published.
    simulations, resamples, rng, seed, workers, progress
        As in `power_study`.

    Returns
    -------
    DrawStudy
        Rejections of each test by level, the intervals' place, and every single draw.

    Raises
    ------
    UsageError
        If an argument is out of range.
    InsufficientDataError
        If there is one run, or fewer than are drawn without replacement.
    AnalysisError
        If the matrices do not go together.
    """
    ours, theirs, known = matched(candidate, baseline)
    levels = tuple(dict.fromkeys(float(alpha) for alpha in alphas))
    if not levels:
        raise UsageError("there must be a level", fix="give alphas, such as 0.01 and 0.05")
    drawing = Drawing(simulations, draws, replace, workers, progress)
    for alpha in levels:
        drawing.check(ours, theirs, runs=(runs,), confidence=1 - alpha, factor=speedup)
        if alpha == 0.5:
            raise UsageError("alpha must lie below 0.5")
    check_positive("speedup", speedup)
    names = named("test", tests, TESTS_OF_DRAWS)
    counted("resamples", resamples, least=2)
    asked = alternative or ("two-sided" if speedup == 1 else "candidate")
    chosen("alternative", asked, ("two-sided", "candidate"))
    root, fewest = int(rng.integers(2**63)), min(*ours.runs, *theirs.runs)

    def drawn(runs: int) -> Iterator[DrawnPair]:
        return drawing.pairs(ours, root, runs, baseline=theirs)

    question = Question(names, asked, levels, speedup, resamples=resamples)
    (found,) = drawing.answers(partial(_judge, question), drawn, (runs,))
    each = tuple(draw for draw, _, _ in found)
    counts = np.array([rejections for _, rejections, _ in found]).sum(axis=0).tolist()
    # 1 - p on the average; None for the bootstrap, and where a draw has no p
    known_p = [[p for one in each if (p := one.pvalues.get(x)) is not None] for x in names]
    sure = [float(np.mean([1 - p for p in x])) if len(x) == len(each) else None for x in known_p]
    rejected = zip(names, map(tuple, counts), sure, strict=True)
    ratio = exponential(float(log_ratios((ours, theirs)).mean()))
    alike = f"{runs} of {fewest} runs are drawn without replacement: draws share runs, and vary"
    alike += " less than new measurements would"
    few = {"draws-alike": not replace and runs > _MUCH * fewest and alike}
    intervals: dict[str, Sequence[Ends | None]] = {
        "hpt": [None if draw.hpt is None else (draw.hpt, math.inf) for draw in each],
        "paired-t": [draw.paired_t for draw in each],
        "percentile": [draw.bootstrap for draw in each],
    }
    return DrawStudy(
        candidate=ours.name,
        baseline=theirs.name,
        **drawing.answered(ours, theirs),
        runs=runs,
        ratio=ratio,
        speedup=float(speedup),
        alphas=levels,
        alternative=asked,
        confidence=1 - max(levels),
        resamples=resamples,
        tests=tuple(DrawnTest(*one[:2], simulations, one[2]) for one in rejected),
        intervals=tuple(shared.covered(name, runs, x, ratio) for name, x in intervals.items()),
        each=each,
        seed=seed,
        cautions=merged(
            known,
            *(shared.population_cautions(side, draws, replace=replace) for side in (ours, theirs)),
            cautions_of(few),
            shared.few_benchmarks_cautions(names, len(ours.benchmarks), asked, levels),
            found[0][2],
        ),
    )


def _judge(
    asked: Question, drawn: DrawnPair, _going_on: Progress
) -> tuple[OneDraw, list[list[bool]], tuple[Caution, ...]]:
    """Ask all methods about one draw; tell for each test and level whether it rejects.

    With it come the cautions of the bootstrap that hold for all draws.
    """
    pair = drawn.sides()
    logs = log_ratios(pair)
    how: dict[str, Any] = {"confidence": asked.confidence}
    alternative, speedup, resamples = asked.alternative, asked.speedup, asked.resamples
    report = hpt_report(*pair, speedup=speedup, **how)
    own = drawn.stream("interval", "percentile")
    boot = bootstrap_speedup(*pair, **how, resamples=resamples, rng=own)
    tested, scores = report.tested, report.context.paired_t[0]
    one, both = _on_scores(scores, "candidate"), _on_scores(scores, "two-sided")
    t = classical.paired_pvalue(logs - math.log(speedup), alternative)
    found = {"hpt": tested.pvalue_two_sided, "t": t, "t-scores": both, "interval": both}
    if alternative == "candidate":
        found |= {"hpt": tested.pvalue, "t-scores": one, "interval": min(1.0, 2 * one)}
    if "randomization" in asked.names:
        factor = speedup if drawn.better == "lower" else 1 / speedup
        scaled = drawn._replace(candidate=drawn.candidate * factor).sides()
        own = drawn.stream("test", "randomization")
        found["randomization"] = pvalue_of(scaled, "randomization", alternative, resamples, own)

    def rejects(test: str, alpha: float) -> bool:
        if test != "bootstrap":
            return shared.rejects(found[test], alpha)
        # where the percentile interval, or its lower bound, excludes the speedup
        slack = 1e-12 * speedup
        if alternative == "candidate":
            return bool(np.quantile(boot.replicates, alpha) > speedup + slack)
        low, high = np.quantile(boot.replicates, [alpha / 2, 1 - alpha / 2])
        return bool(low > speedup + slack or high < speedup - slack)

    draw = OneDraw(
        ratio=exponential(float(logs.mean())),
        pvalues={name: p if p > 0 else None for name, p in found.items() if name in asked.names},
        hpt=report.best.value,
        paired_t=paired_ends(pair, asked.confidence),
        bootstrap=(boot.low, boot.high),
    )
    said = tuple(one for one in boot.cautions if one.code in _OF_ALL_DRAWS)
    return draw, [[rejects(test, alpha) for alpha in asked.levels] for test in asked.names], said


def _on_scores(found: PairedT, alternative: Alternative) -> float:
    """Give the p of the paired t on scores; 1 with one benchmark."""
    if found.sd is None:
        return 1.0
    if found.pvalue is None or found.pvalue_two_sided is None:
        return classical.student_pvalue(found.mean, 0.0, found.df, alternative)
    return found.pvalue if alternative == "candidate" else found.pvalue_two_sided
