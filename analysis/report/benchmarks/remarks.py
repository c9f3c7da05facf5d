"""What is to be seen in a part: the finding in its heading, and a sentence or two, by rules."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from ...pages import number_format as figures
from ...stats.multiplicity import adjusted
from ...words import shorten, shown
from .result import Against, Remark, VariantRuns

if TYPE_CHECKING:
    from ...diagnose.result import Diagnosis
    from ...methods.multilevel.result import BenchmarkLine, Multilevel
    from .cells import Cell
    from .curves import Modes

__all__ = ["Seen", "finding_of", "medians_part", "remarks_of"]

_OPEN, _CLOSE = "\u2068", "\u2069"  # isolate a name while a sentence is put together
_RISK = 0.05
_TOLD = 4  # candidates that have a sentence each
_MEDIAN = 5  # runs of a session whose median says something else than their mean
_DRIFTS = ("order", "change-point")
_WIDE = 24  # characters of a name
_EQUAL = 1e-9  # session values that are 1
_PERCENT = 1.5  # larger speedups are no percentages any longer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Seen:
    """What is known of a benchmark when its sentences are written.

    `lines` holds the verdict's line of each candidate with its result, `modes` what was looked at,
    `missing` names variants without a run that counts, `parting` candidates of which medians say
    something else than means.
    """

    benchmark: str
    unit: str
    cells: Mapping[str, Cell]
    told: Sequence[VariantRuns]
    candidates: Sequence[Against]
    lines: Mapping[str, tuple[BenchmarkLine, Multilevel]]
    modes: Mapping[str, Modes]
    diagnosis: Diagnosis | None
    missing: tuple[str, ...]
    parting: tuple[str, ...]
    happened: str


def medians_part(
    line: BenchmarkLine, result: Multilevel, ours: Cell, theirs: Cell, tests: int
) -> bool:
    """Tell whether medians and means of this benchmark surely give different speedups.

    The sessions' log ratios of medians, less those of geometric means, are held against 0 by
    Student's t at 5 % over the number of tests (Bonferroni), and against the margin.

    Parameters
    ----------
    line, result : BenchmarkLine, Multilevel
        What is compared; only sessions that both sides share count.
    ours, theirs : Cell
        The runs.
    tests : int
        How many lines are asked on the page.
    """
    if result.design != "paired" or line.speedup is None:
        return False
    apart = []
    for label in ours.labels:
        if label not in theirs.labels:
            continue
        sides = [cell.of(cell.labels.index(label)) for cell in (ours, theirs)]
        if min(side.size for side in sides) < _MEDIAN or min(s.min() for s in sides) <= 0:
            continue
        of = [float(np.median(np.log(side)) - np.log(side).mean()) for side in sides]
        apart.append(of[0] - of[1])
    if len(apart) < 3:
        return False
    values = np.array(apart)
    centre = float(values.mean())
    half = float(
        stdtrit(values.size - 1, 1 - _RISK / tests / 2)
        * values.std(ddof=1)
        / math.sqrt(values.size)
    )
    return abs(centre) > max(half, math.log1p(result.margin))


def finding_of(seen: Seen) -> Remark | None:
    """Give what the heading says beside the name; None where no rule found anything."""
    found = _finding(seen)
    return _remark(found) if found else None


def _finding(seen: Seen) -> str:
    failing = [one for one in seen.told if one.failed]
    if failing:
        worst = max(failing, key=lambda one: one.failed / (one.failed + one.runs))
        total = worst.failed + worst.runs
        return f"{_name(worst.variant)} fails {worst.failed} of {total} runs"
    if seen.missing:
        return f"no runs of {_names(seen.missing)}"
    if seen.parting:
        return "where means and medians part"
    if several := _several(seen):
        counts = {len(seen.modes[name].at) for name in several}
        return "two modes" if counts == {2} else "several modes"
    if _drifts(seen):
        return "values drift within sessions"
    return ""


def remarks_of(seen: Seen) -> tuple[Remark, ...]:
    """Give the sentences below the pictures."""
    found = _of_candidates(seen)
    if seen.parting:
        found.append(
            f"Medians of {_names(seen.parting)} give another speedup than means: the slow runs "
            "differ, or the runs fall into groups."
        )
    found += _of_drift(seen)
    if seen.missing:
        has = "have" if len(seen.missing) > 1 else "has"
        found.append(f"{_names(seen.missing)} {has} no run that counts here.")
    found += _of_failures(seen)
    return (*_of_modes(seen), *map(_remark, found))


def _name(name: str) -> str:
    """Mark a name that is not ours."""
    return f"{_OPEN}{shorten(shown(name), _WIDE)}{_CLOSE}"


def _names(names: Sequence[str]) -> str:
    return _and([_name(name) for name in names])


def _remark(text: str, link: str = "", linked: str = "") -> Remark:
    """Divide a text at the marks around names."""
    pieces = tuple(text.replace(_CLOSE, _OPEN).split(_OPEN))
    return Remark(pieces=pieces, link=link, linked=linked)


# ---- modes


def _several(seen: Seen) -> list[str]:
    """Name the variants with several modes: by the dip test with Holm's correction, and by a fit."""
    names = list(seen.modes)
    if not names:
        return []
    pvalues = adjusted([seen.modes[name].dip for name in names], "holm").tolist()
    return [
        name
        for name, p in zip(names, pvalues, strict=True)
        if p <= _RISK and len(seen.modes[name].at) > 1
    ]


def _of_modes(seen: Seen) -> list[Remark]:
    several = _several(seen)
    if not several:
        return []
    first = seen.modes[several[0]].at
    near = _and([figures.quantity(mode, seen.unit) for mode in first[:4]])
    if len(several) == len(seen.cells) > 1:
        text = f"All variants have several modes, {_name(several[0])} near {near}"
    elif len(several) > 1:
        text = f"{_names(several)} have several modes, the first near {near}"
    else:
        text = f"{_name(several[0])} has several modes, near {near}"
    found = seen.diagnosis
    if found is not None and found.movers is None and found.speeds is not None and found.speeds.two:
        text += ": the whole host changes between two speeds"
        if seen.happened:
            return [_remark(text, seen.happened, "the trial as it happened")]
    return [_remark(f"{text}.")]


# ---- candidates


def _of_candidates(seen: Seen) -> list[str]:
    found = []
    for one in seen.candidates[:_TOLD]:
        values = [ratio.speedup.value or 1.0 for ratio in one.by_session]
        if len(values) < 2:
            continue
        noun = f"{one.unit}s"
        ahead = sum(value > 1 for value in values)
        low, high = min(values), max(values)
        every = "both" if len(values) == 2 else f"all {len(values)}"
        if max(abs(value - 1) for value in values) < _EQUAL:
            found.append(f"{_name(one.variant)} equals the baseline in {every} {noun}.")
        elif ahead in (0, len(values)):
            side = "ahead" if ahead else "behind"
            if ahead and high <= _PERCENT:
                by = f"by {_range(_percent(low), _percent(high))}\u00a0%"
            elif not ahead and low >= 1 / _PERCENT:
                by = f"by {_range(_percent(high), _percent(low))}\u00a0%"
            else:
                by = f"at {_range(_times(low), _times(high))} times"
            found.append(f"{_name(one.variant)} is {side} in {every} {noun}, {by}.")
        else:
            found.append(
                f"{_name(one.variant)} is ahead in {ahead} of {len(values)} {noun}, which range "
                f"from {_times(low)} to {_times(high)} times."
            )
    return found


def _percent(ratio: float) -> str:
    return figures.significant(100 * abs(ratio - 1), 2)


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _times(ratio: float) -> str:
    return figures.significant(ratio)


# ---- the rest


def _drifts(seen: Seen) -> list[tuple[str, str]]:
    if seen.diagnosis is None:
        return []
    return [
        (one.variant or "", one.text)
        for one in seen.diagnosis.findings
        if one.certain and one.code in _DRIFTS and one.benchmark == seen.benchmark
    ]


def _of_drift(seen: Seen) -> list[str]:
    return [f"{_name(variant)}: {text}." for variant, text in _drifts(seen)[:2]]


def _of_failures(seen: Seen) -> list[str]:
    failing = [one for one in seen.told if one.failed]
    if not failing:
        return []
    each = [f"{one.failed} of {one.failed + one.runs} of {_name(one.variant)}" for one in failing]
    return [f"Runs failed: {_and(each)}. They are left out of every number here."]


def _and(names: Sequence[str]) -> str:
    names = list(names)
    if len(names) > 5:
        return f"{', '.join(names[:4])} and {len(names) - 4} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
