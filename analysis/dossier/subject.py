"""What a report is about: the sources as read, judged once, with the names that the page uses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data import PerformanceMatrix, Trial
from ..errors import AnalysisError
from ..formats import Reading, open_trial, read_sides, sessions_apart, trial_and_variant
from ..verdict import CandidateVerdict, Verdict, judge, judge_sides

__all__ = ["Subject", "subject_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subject:
    """One metric of the sources, judged.

    Attributes
    ----------
    sources : tuple of str
        As they were given.
    title : str
        The campaign, or the files.
    trials : tuple of Trial
        None for files, one, or two that are compared.
    verdict : Verdict
        With the published methods' panel; every estimate of the page stems from here.
    matrices : mapping of str to PerformanceMatrix
        The runs that count by variant, the baseline first; without variants of which none counts.
    order : tuple of str
        The benchmarks as the page lists them: by the first candidate's speedup, fastest first, then
        those without one.
    prefix : str
        What ids of this metric begin with: "" for the first metric of the page.
    asked : mapping of str to object
        The options with which it was judged, as `judge` takes them.
    """

    sources: tuple[str, ...]
    title: str
    trials: tuple[Trial, ...]
    verdict: Verdict
    matrices: Mapping[str, PerformanceMatrix]
    order: tuple[str, ...]
    prefix: str
    asked: Mapping[str, Any]

    @property
    def trial(self) -> Trial | None:
        """The trial, if there is exactly one."""
        return self.trials[0] if len(self.trials) == 1 else None

    @property
    def baseline(self) -> str:
        """The baseline's name."""
        return self.verdict.baseline

    @property
    def candidates(self) -> tuple[CandidateVerdict, ...]:
        """The candidates in the trial's order."""
        return self.verdict.candidates

    def anchor(self, kind: str, name: str = "") -> str:
        """Give an id for this metric: the kind ("benchmark", "methods", ...), and a name's place.

        A benchmark's id holds a readable part of its name and its place in `order`, so that two
        names that look alike have different ids.
        """
        if not name:
            return f"{self.prefix}{kind}"
        readable = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:40]
        place = self.order.index(name) + 1 if name in self.order else 0
        return f"{self.prefix}{kind}-{place}-{readable}".rstrip("-")


def subject_of(
    sources: Sequence[str], how: Reading, *, number: int = 0, **asked: object
) -> Subject:
    """Read the sources and judge one metric of them.

    Parameters
    ----------
    sources : sequence of str
        A trial, a variant of one, or two sides (each a variant of a trial, or a file).
    how : Reading
        How they are read; its metric is the one that is judged.
    number : int
        The metric's place among those of the page, from 0.
    **asked
        ``confidence``, ``margin``, ``correction``, ``weights``, ``looks``, ``always_valid``,
        ``benchmarks``, and for one trial ``variants`` and ``certificate``: as `judge` takes them.

    Raises
    ------
    FairtrialError
        If the sources cannot be read, or cannot be judged.
    """
    options: dict[str, Any] = dict(asked)
    first = trial_and_variant(sources[0])
    if len(sources) == 1:
        folder, variant = first or (Path(sources[0]), None)
        trial = open_trial(folder)
        if variant is not None:
            options["variants"] = tuple(dict.fromkeys((variant, *(options.get("variants") or ()))))
        metric = how.metric or trial.default_metric
        verdict = judge(trial, metric=metric, explain=True, **options)
        trials: tuple[Trial, ...] = (trial,)
        matrices = dict(_matrices(trial, verdict))
        title = trial.manifest.campaign_name
    else:
        sides = sessions_apart(read_sides(sources[0], sources[1], how))
        folders = dict.fromkeys(
            named[0] for text in sources if (named := trial_and_variant(text)) is not None
        )
        trials = tuple(open_trial(folder) for folder in folders)
        for name in ("variants", "certificate"):
            options.pop(name, None)
        named_metric = how.metric or (trials[0].default_metric if trials else "values")
        verdict = judge_sides(
            sides.candidate, sides.baseline, metric=named_metric, explain=True, **options
        )
        matrices = {one.name: one for one in (sides.baseline, sides.candidate)}
        title = f"{sides.candidate.name} and {sides.baseline.name}"
    return Subject(
        sources=tuple(sources),
        title=title,
        trials=trials,
        verdict=verdict,
        matrices=matrices,
        order=tuple(_order(verdict, matrices)),
        prefix=f"metric-{number + 1}-" if number else "",
        asked=options,
    )


def _matrices(trial: Trial, verdict: Verdict) -> Iterator[tuple[str, PerformanceMatrix]]:
    """Read the runs that count: the baseline's first."""
    names = [one.variant for one in verdict.candidates] or [one.variant for one in verdict.alone][
        :1
    ]
    for name in dict.fromkeys((verdict.baseline, *names)):
        try:
            yield name, trial.matrix(name, verdict.metric, carry_zeros=True)
        except AnalysisError:  # no run counts: the verdict says so
            continue


def _order(verdict: Verdict, matrices: Mapping[str, PerformanceMatrix]) -> list[str]:
    """Sort by the first candidate's speedup; those without one come last, in the trial's order."""
    every = [bench for matrix in matrices.values() for bench in matrix.benchmarks]
    lines = {}
    if verdict.candidates and verdict.candidates[0].multilevel is not None:
        found = verdict.candidates[0].multilevel.benchmarks
        lines = {line.name: line.speedup for line in found}
        every = [*lines, *every]
    known = dict.fromkeys(every)
    return sorted(known, key=lambda bench: -(lines.get(bench) or 0.0))
