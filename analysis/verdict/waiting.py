"""Runs that waited for a CPU, or stood still: how many of which variant, and what became of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from ..data import Trial
from ..methods.multilevel import fisher
from ..report import Caution

__all__ = ["suspended_cautions", "waiting_cautions"]

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
    """Say how many runs of these variants were disturbed, and whether more of one than of another.

    Parameters
    ----------
    trial : Trial
        The trial; nothing is said of one of a version that does not know it.
    variants : collection of str
        Those that are judged.
    metric : str
        What of them is judged; nothing is said where waiting is no part of it.
    """
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
    """Say how many executions of these variants were discarded because something stood still.

    Parameters
    ----------
    trial : Trial
        The trial; nothing is said of one of a version that does not know it.
    variants : collection of str
        Those that are judged.
    """
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
