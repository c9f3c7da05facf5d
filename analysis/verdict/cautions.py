"""What a reader of a verdict should know, each thing said once, the gravest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..data.trial import Trial, not_judged
from ..methods.multilevel.failures import fisher
from ..pages.model import Caution

if TYPE_CHECKING:
    from .result import CandidateVerdict
    from .sides import Side

_RISK = 0.05
_SHOWN = 4  # variants that are named


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    """The measured runs of a variant: `known` of which it is known, `disturbed` of those.

    `judged` and `waited` are the same of the rows that are judged, which differ where runs were repeated.
    """

    variant: str
    known: int
    disturbed: int
    unknown: int
    judged: int
    waited: int
    repeats: int


def waiting_cautions(trial: Trial, variants: Collection[str], metric: str) -> Iterator[Caution]:
    """Say how many runs of these variants were disturbed, and whether more of one than of another."""
    if not trial.holds_waiting(metric):
        return
    found = [_of(trial, name) for name in trial.manifest.variants if name in variants]
    disturbed = sum(one.disturbed for one in found)
    if disturbed:
        yield Caution("waited-for-cpu", _said(trial, found, disturbed))
    base = next((one for one in found if one.variant == trial.manifest.baseline), None)
    for one in found:
        if base is None or one is base or not _unequal(one, base):
            continue
        yield Caution(
            "waited-unequally",
            f"{one.waited} of {one.judged} judged runs of {one.variant} waited for a CPU, and {base.waited} "
            f"of {base.judged} of {base.variant}: that is part of their difference, unless one waits more "
            "only because it takes longer",
            (one.variant,),
        )


def suspended_cautions(trial: Trial, variants: Collection[str]) -> Iterator[Caution]:
    """Say how many executions of these variants were discarded because something stood still."""
    executions = np.nan_to_num(trial.numbers["suspended"])
    counts = {
        name: int(executions[trial.variant == number].sum())
        for number, name in enumerate(trial.manifest.variants)
        if name in variants
    }
    found = {name: count for name, count in counts.items() if count}
    if not found:
        return
    total = sum(found.values())
    worst = sorted(found.items(), key=lambda one: -one[1])[:_SHOWN]
    told = ", ".join(f"{name} {count}" for name, count in worst)
    more = ", …" if len(found) > _SHOWN else ""
    yield Caution(
        "suspended-runs",
        f"{total} execution{'s were' if total > 1 else ' was'} discarded because the launcher, fairtrial or the "
        f"machine stood still, and made again: {told}{more}",
    )


def _of(trial: Trial, variant: str) -> _Waiting:
    mine = ~trial.warmup & (trial.outcome == 0)
    mine &= trial.variant == trial.manifest.variants.index(variant)
    first = mine & (trial.repeats < 0)
    judged = mine & trial.chosen & (trial.disturbed >= 0)
    return _Waiting(
        variant=variant,
        known=int((first & (trial.disturbed >= 0)).sum()),
        disturbed=int((first & (trial.disturbed == 1)).sum()),
        unknown=int((first & (trial.disturbed < 0)).sum()),
        judged=int(judged.sum()),
        waited=int((judged & (trial.disturbed == 1)).sum()),
        repeats=int((mine & (trial.repeats >= 0)).sum()),
    )


def _said(trial: Trial, found: list[_Waiting], disturbed: int) -> str:
    """Say how many of which variant, and what was done about them."""
    known, unknown = sum(one.known for one in found), sum(one.unknown for one in found)
    those = [one for one in found if one.known]  # of a variant that only fails nothing is known
    worst = sorted(those, key=lambda one: -one.disturbed)[:_SHOWN]
    told = ", ".join(f"{one.variant} {one.disturbed} of {one.known}" for one in worst)
    more = ", …" if len(those) > _SHOWN else ""
    text = f"{disturbed} of {known} runs waited for a CPU"
    rest = f"; of {unknown} more it is not known" if unknown else ""
    if not trial.manifest.repeating:
        return f"{text} and are judged like the others: {told}{more}{rest}"
    repeats, waited = (sum(getattr(one, key) for one in found) for key in ("repeats", "waited"))
    left = f"still {waited}" if waited else "none"
    return f"{text} ({told}{more}), after {repeats} repeat{'s' * (repeats != 1)} {left}{rest}"


def _unequal(one: _Waiting, other: _Waiting) -> bool:
    """Tell whether two variants' judged runs waited in shares that chance does not explain."""
    if not one.judged or not other.judged:
        return False
    return fisher(one.waited, one.judged, other.waited, other.judged) < _RISK


# said of the whole trial, so not of each variant again
_OF_THE_TRIAL = {"warm-up-left-out", "failed-left-out", "sequential"}
_WORST = 3  # cells with failed runs that are named


def question_cautions(unasked: Sequence[str]) -> Iterator[Caution]:
    """Say first of all that benchmarks declare metrics, and that nobody asked for the one judged."""
    if unasked:
        yield not_judged(unasked)


def run_cautions(trial: Trial, sides: Collection[Side], metric: str) -> Iterator[Caution]:
    """Say what holds for the trial's runs, whatever is computed from this metric of them."""
    if len(trial.manifest.variants) == 1:
        yield Caution("one-variant", "one variant only: there is nothing to compare")
    yield from trial.cautions
    yield from _failed(trial, {one.name for one in sides})
    yield from waiting_cautions(trial, {one.name for one in sides}, metric)
    yield from suspended_cautions(trial, {one.name for one in sides})
    for one in sides:
        yield from (caution for caution in one.cautions if caution.code not in _OF_THE_TRIAL)


def _failed(trial: Trial, variants: Collection[str]) -> Iterator[Caution]:
    failed = [run for run in trial.failures() if not run.warmup and run.variant in variants]
    if not failed:
        return
    kinds = ", ".join(f"{n} {kind}" for kind, n in Counter(r.outcome for r in failed).items())
    cells = Counter((run.benchmark, run.variant) for run in failed)
    worst = ", ".join(f"{b} / {v} ({n})" for (b, v), n in cells.most_common(_WORST))
    more = f" and {len(cells) - _WORST} more cells" if len(cells) > _WORST else ""
    yield Caution(
        "failed-left-out",
        f"{len(failed)} run{'s' * (len(failed) > 1)} failed ({kinds}) and "
        f"{'are' if len(failed) > 1 else 'is'} left out: {worst}{more}",
        tuple(dict.fromkeys(bench for bench, _ in cells)),
    )


def method_cautions(candidates: Iterable[CandidateVerdict]) -> Iterator[Caution]:
    """Say what `multilevel` says, each thing once, with the candidates that it is about."""
    results = [one.multilevel for one in candidates if one.multilevel is not None]
    about: dict[tuple[Caution, str], list[str]] = {}
    for result in results:
        for caution in result.cautions:
            about.setdefault((caution, caution.text), []).append(result.candidate)
    for (caution, text), names in about.items():
        if len(names) == len(results):
            yield caution
        else:
            told = f"{', '.join(names)}: {text}"
            yield Caution(caution.code, told, (*names, *caution.about))
