"""One look at commands that are measured by sessions until the answer is certain.

A look compares each candidate with the baseline by `multilevel` itself, at the nominal risk of the plan,
so that its numbers are those of the verdict on the stored trial. It says whether to measure on, and whom.

With several candidates the best of all variants so far is the leader; each candidate is held against the
baseline and against the leader, over the sessions that both have, and needs to be measured no more once
both comparisons have a word. Sessions that resemble the ones before them (from eight on, by exchanging
them) give no word: the measurement then goes on to its cap.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Literal

import numpy as np

from ..data.matrix import CutOff, PerformanceMatrix
from ..methods.multilevel.compare import multilevel
from ..methods.multilevel.law import AT_LOOKS, ErrorLaw, Looks, sessions_needed
from ..methods.multilevel.result import Line, Multilevel
from ..pages.number_format import Word
from ..record.run_numbers import Better
from ..record.trial_files import LooksPlan, next_look

Stop = Literal["decided", "equivalent", "depends"]
Runs = Mapping[str, Mapping[int, Sequence[float | None]]]  # variant -> session -> a value a block

CLOSE_ENOUGH = 0.02  # of the mean of a single command: half the width of its interval
_MOST = 100_000  # sessions at most: lazy_advice finds whether they decide
_BLOCKS = 2**20  # more than any session has
_BENCHMARK = "command"
_Mean = tuple[float, float, float] | tuple[None, None, None]  # with the ends of its interval


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateLook:
    """One candidate at a look.

    `result`: The whole comparison with the baseline, as the verdict has it; None without a run on
    both sides. `against_leader`: The same of this candidate with the leader as baseline; None for
    the leader itself, where the leader is the baseline, and without a common run. `needed`: With
    how many sessions in all it would be decided against the baseline, and against the leader, in 80
    of 100 cases each, rounded up to a look of the plan if there is one; None where it is decided or
    has left, and where 100,000 more do not suffice.
    """

    variant: str
    result: Multilevel | None
    against_leader: Multilevel | None = None
    needed: int | None = None

    @property
    def line(self) -> Line | None:
        """The line of the comparison with the baseline: speedup, interval, word."""
        return None if self.result is None else self.result.benchmarks[0]

    @property
    def word(self) -> Word:
        """Faster, slower, equivalent or undecided, of the baseline."""
        return "undecided" if self.line is None else self.line.outcome

    @property
    def depends(self) -> bool:
        """Whether there would be a word, did sessions not resemble the ones before them."""
        return self.line is not None and self.line.reason == "depends"

    @property
    def settled(self) -> bool:
        """Whether it is decided against the baseline and against the leader."""
        ahead = self.against_leader
        settled = ahead is None or ahead.benchmarks[0].outcome != "undecided"
        return settled and self.word != "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a look found, and what it means for the measurement.

    `sessions`: Those of the baseline. `leader`: The variant with the least time so far, the
    baseline perhaps; None before anything is known. `stop`: Why to measure no more; "depends" at
    the last look only: there would be a word, but sessions resemble the ones before them. `leave`:
    Candidates that need to be measured no more, where others go on. `next`: Sessions at the next
    look; None after the last one. `needed`: The most that any candidate needs; None where nobody is
    open, or of one nobody knows. `mean`, `low`, `high`: Of a single command: geometric mean of its
    sessions' means, and its interval; else None.
    """

    sessions: int
    candidates: tuple[CandidateLook, ...]
    leader: str | None
    stop: Stop | None
    leave: tuple[str, ...]
    next: int | None
    needed: int | None
    mean: float | None = None
    low: float | None = None
    high: float | None = None


def look_at(
    values: Runs,
    plan: LooksPlan,
    *,
    baseline: str,
    final: bool = False,
    margin: float | None = None,
    least_sessions: int = 0,
    better: Better = "lower",
    unit: str = "s",
) -> Look:
    """Look at what was measured so far.

    `values`: Variant -> session -> its runs, in `unit`: the k-th run of a session belongs to the
    session's k-th block. None where a run failed: its block is left out of the comparison; minus
    its limit where that ended it. `plan`: How the trial is looked at; `left` are those that left at
    earlier looks. `final`: Whether nothing more will be measured, whatever this look finds.
    `margin`: The largest speedup less 1 that counts as equivalent; by default the plan's.
    `least_sessions`: Before this number of sessions nothing stops and nobody leaves.
    """
    margin = plan.margin if margin is None else margin
    made = {name: _side(name, runs, better, unit) for name, runs in values.items()}
    sides = {name: side for name, side in made.items() if side is not None}
    sessions = len(values.get(baseline, ()))
    look, confidence = Looks.of_plan(plan, sessions), 1.0 - plan.risk
    names = [name for name in values if name != baseline]

    def against(name: str, other: str) -> Multilevel | None:
        if name not in sides or other not in sides:
            return None
        pair = sides[name], sides[other]
        return multilevel(*pair, confidence=confidence, margin=margin, looks=look)

    found = [CandidateLook(variant=name, result=against(name, baseline)) for name in names]
    known = {  # one that was cut off may be far slower
        one.variant: line.speedup
        for one in found
        if (line := one.line) is not None and line.speedup is not None
        if line.cut is None or not line.cut.candidate
    }
    leader = max({baseline: 1.0, **known}.items(), key=itemgetter(1))[0] if known else None
    if leader is not None and leader != baseline:
        others = (None if one.variant == leader else against(one.variant, leader) for one in found)
        found = [replace(one, against_leader=x) for one, x in zip(found, others, strict=True)]
    law = ErrorLaw(alpha=look.next_alpha(confidence))
    found = [replace(one, needed=_needed(one, plan, law, margin)) for one in found]
    mean, low, high = None, None, None
    if not names and sides:
        mean, low, high = _alone(sides[baseline], look.alpha(confidence))
    may_stop = sessions >= least_sessions and (sessions in plan.looks or final)
    stop: Stop | None = None
    if may_stop and found:
        stop = _stop(found, plan.left, final=final)
    elif may_stop and mean is not None and low is not None and high is not None:
        stop = "decided" if max(mean - low, high - mean) <= CLOSE_ENOUGH * mean else None
    here = [one for one in found if one.variant not in plan.left]
    gone = [one.variant for one in here if one.settled and one.variant != leader]
    needed = [one.needed for one in here if not one.settled]
    most = [one for one in needed if one is not None]
    return Look(
        sessions=sessions,
        candidates=tuple(found),
        leader=leader,
        stop=stop,
        leave=tuple(gone) if may_stop and not stop else (),
        next=next_look(plan, sessions),
        needed=max(most) if most and len(most) == len(needed) else None,
        mean=mean,
        low=low,
        high=high,
    )


def _side(
    name: str, sessions: Mapping[int, Sequence[float | None]], better: Better, unit: str
) -> PerformanceMatrix | None:
    """Put the runs of a variant into a matrix, as a trial does; None without one that counts."""
    runs, blocks, of = [], [], []
    failed: dict[int, int] = {}
    cut: list[tuple[float, int, int]] = []
    for session, row in sessions.items():
        for block, value in enumerate(row, 1):
            if value is None or value < 0:
                failed[session] = failed.get(session, 0) + 1
                if value is not None:
                    cut.append((-value, session, session * _BLOCKS + block))
                continue
            runs.append(value)
            of.append(session)
            blocks.append(session * _BLOCKS + block)
    if not runs:
        return None
    made = PerformanceMatrix.from_samples(
        name,
        {_BENCHMARK: runs},
        better=better,
        unit=unit,
        sessions={_BENCHMARK: of},
        blocks={_BENCHMARK: blocks},
        failed={_BENCHMARK: failed} if failed else None,
        cut={},
        metric="wall",
    )
    if not cut:
        return made
    bounds, sessions_of, blocks_of = map(np.array, zip(*cut, strict=True))
    found = CutOff(len(cut), float(bounds.min()), bounds, sessions_of, blocks_of)
    return replace(made, cut={_BENCHMARK: found})


def _stop(found: Sequence[CandidateLook], left: Collection[str], *, final: bool) -> Stop | None:
    if all(one.settled or one.variant in left for one in found):
        return "equivalent" if all(one.word == "equivalent" for one in found) else "decided"
    return "depends" if final and any(one.depends for one in found) else None


def _needed(one: CandidateLook, plan: LooksPlan, law: ErrorLaw, margin: float) -> int | None:
    """Give the look at which the candidate is decided with a chance of 80 %."""
    if plan.rule == "planned" or one.variant in plan.left:
        return None
    most = 0
    for result in (one.result, one.against_leader):
        line = None if result is None else result.benchmarks[0]
        if line is None or line.outcome != "undecided":
            continue
        more = sessions_needed(line, law, math.log1p(margin), limit=_MOST, chance=AT_LOOKS)
        if more is None or line.reason:
            return None
        most = max(most, line.sessions + more)
    return (next_look(plan, most - 1) or most) if most else None


def _alone(side: PerformanceMatrix, risk: float) -> _Mean:
    from scipy.special import stdtrit

    logs, of = np.log(side.samples[0]), side.sessions
    _, where, counts = np.unique(of[0] if of else (), return_inverse=True, return_counts=True)
    if counts.size < 2:
        return None, None, None
    means = np.bincount(where, weights=logs) / counts
    half = -float(stdtrit(means.size - 1, risk / 2)) * float(means.std(ddof=1)) / means.size**0.5
    centre = float(means.mean())
    return math.exp(centre), math.exp(centre - half), math.exp(centre + half)
