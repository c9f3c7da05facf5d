"""The verdict on two sources, each a variant of a trial or a file, as a command line names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.question import NOT_ASKED
from ..data.trial import Trial
from ..data.trial_cautions import CHANGED, DEFINITIONS
from ..errors import AnalysisError
from ..importers.sources import Reading, Sides, read_sides, sessions_apart
from ..importers.trials import open_trial, trial_and_variant
from ..pages.model import Caution, merged
from ..pages.short_sentence import ShortSentence, plain
from .judging import judge_sides
from .layouts import Layout, counted_layouts, drawn_layouts, layout_cautions
from .quantile_words import basis_of
from .sides import looks_at, without

if TYPE_CHECKING:
    from .result import Verdict


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sourced:
    """A verdict with what it rests on: both sides, and the trials that they stem from."""

    verdict: Verdict
    sides: Sides
    trials: tuple[Trial, ...]


def judge_sources(
    candidate: str,
    baseline: str | None,
    how: Reading,
    *,
    looks: int | None = None,
    always_valid: bool = False,
    **asked: Any,  # noqa: ANN401 - the further options of `judge_sides`, which checks them
) -> Sourced:
    """Read two sources and judge them."""
    sides = sessions_apart(read_sides(candidate, baseline, how))
    named = [trial_and_variant(text) for text in (candidate, baseline or "")]
    folders = dict.fromkeys(one[0] for one in named if one is not None)
    trials = tuple(
        open_trial(folder, how.level, how.better, decimal=how.decimal) for folder in folders
    )
    sides, changed = _measured_alike(sides, trials)
    answer = judge_sides(
        sides.candidate,
        sides.baseline,
        metric=how.metric or sides.candidate.metric or sides.baseline.metric or "values",
        looks=looks_at([one.manifest for one in trials], looks, always_valid=always_valid),
        **asked,
    )
    drawn = _drawn(sides, named, dict(zip(folders, trials, strict=True)))
    first = [one for one in sides.candidate.cautions if one.code == NOT_ASKED]
    others = [one for one in answer.cautions if one.code != NOT_ASKED]
    usual = how.metric is None or all(trial.is_usual(how.metric) for trial in trials)
    known = merged(first, changed, *_once(sides, trials, others), layout_cautions(drawn))
    return Sourced(
        verdict=replace(
            answer,
            usual=usual,
            cautions=known,
            layouts=counted_layouts([drawn]),
            quantile=basis_of(trial.quantile_basis(answer.metric) for trial in trials),
            sources=tuple(name for name in (candidate, baseline) if name is not None),
        ),
        sides=sides,
        trials=trials,
    )


def _measured_alike(sides: Sides, trials: Sequence[Trial]) -> tuple[Sides, tuple[Caution, ...]]:
    """Take benchmarks from the candidate that the baseline's trial measured in another way: each is another one."""
    ways, others = [*(trial.manifest.further.get(DEFINITIONS, {}) for trial in trials), {}, {}][:2]
    changed = {
        name: f"{name} was measured in another way, and is not compared: {way} against {others[name]}"
        for name, way in ways.items()
        if others.get(name, way) != way
    }
    if not changed:
        return sides, ()
    ours = sides.candidate
    if not set(ours.benchmarks) & set(sides.baseline.benchmarks) - set(changed):
        raise AnalysisError("; ".join(changed.values()), ours.name, "measure both in one way")
    told = (
        Caution(CHANGED, text, (name,), ShortSentence.of(plain(text)))
        for name, text in changed.items()
    )
    return replace(sides, candidate=without(ours, [*changed])), tuple(told)


def _drawn(
    sides: Sides, named: Sequence[tuple[Path, str | None] | None], trials: Mapping[Path, Trial]
) -> dict[str, tuple[Layout, ...]]:
    """Give the layouts of the sides that are variants of trials whose sessions built them, the baseline's first."""
    found: dict[str, tuple[Layout, ...]] = {}
    for side, one in zip((sides.baseline, sides.candidate), reversed(named), strict=True):
        if one is None:
            continue
        folder, variant = one
        name = variant or trials[folder].manifest.baseline  # the only one, where none is named
        drawn = drawn_layouts(trials[folder], [name])
        if name in drawn:
            found[side.name] = drawn[name]
    return found


def _once(
    sides: Sides, trials: Sequence[Trial], told: Sequence[Caution]
) -> tuple[Iterable[Caution], ...]:
    """Give what is known of the trials and of the sides, each thing once."""
    of_trials = [caution for trial in trials for caution in trial.cautions]
    both = (sides.candidate, sides.baseline)
    if len({one.trial for one in both}) == 1 and len(trials) == 1:
        twice = {known.of(side.name) for side in both for known in of_trials}
        return of_trials, (one for one in told if one.code != "imported" and one not in twice)
    said = {known for side in both for known in side.cautions if known.code != "imported"}
    return (
        (known for known in of_trials if known not in said),
        (one for one in told if one.code != "imported"),
    )
