"""The chapter in sentences: all of them from the runs and from what the diagnosis found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...diagnose.result import Diagnosis
from ...diagnose.wording import movers_text
from ..names import shortened
from .axis import apart, duration
from .timeline import Runs

__all__ = ["deck_of", "title_of"]

_LONG = 3.0  # blocks in a state of the host: most pairs share it
_NAME = 24  # characters
_CHANGES = ("host-change", "host-trend", "host-warm-up")

Looked = tuple[Runs, Diagnosis | None]


def title_of(found: Sequence[Diagnosis | None], *, timed: bool) -> str:
    """Give the chapter's heading: it says what is to be seen only where that was found."""
    title = "The trial as it happened" if len(found) == 1 else "The trials as they happened"
    whole = [one for one in found if one is not None and one.movers is None]
    speeds = [one.speeds for one in whole if one.speeds is not None]
    if any(one.two for one in speeds):
        return f"{title}: a host with two {'speeds' if timed else 'levels'}"
    return (
        f"{title}: a host that did not keep its {'speed' if timed else 'level'}"
        if speeds
        else title
    )


def deck_of(
    looked: Sequence[Looked], *, opened: str | None, states: tuple[str, str], sessions: int
) -> Iterator[str]:
    """Give the paragraphs above the picture; of two trials each has one of its own."""
    count = sum(runs.rows.size for runs, _ in looked)
    first = f"All {count:,} runs against the median of their own benchmark and variant"
    if opened is not None:
        first += f"; those of {shortened([opened], _NAME)[opened]} stand out"
    told = [" ".join(_of_trial(runs, found, states, sessions)) for runs, found in looked]
    if len(looked) == 1:
        yield f"{first}. {told[0]}".rstrip()
        return
    yield f"{first}."
    for label, text in zip("AB", told, strict=True):
        if text:
            yield f"{label}: {text[0].lower()}{text[1:]}"


def _of_trial(
    runs: Runs, diagnosis: Diagnosis | None, states: tuple[str, str], sessions: int
) -> Iterator[str]:
    if diagnosis is None:
        return
    speeds = diagnosis.speeds
    total = float(runs.clock.lengths.sum())
    if speeds is not None:
        gap = apart(speeds.ratio)
        if speeds.two:
            share = f"{100 * speeds.share:.0f}\u00a0%"
            times = "once" if speeds.switches == 1 else f"{speeds.switches} times"
            changed = f"changed between them {times} in {duration(total)}"
            if not speeds.switches:
                changed = "changed between them only from one session to another"
            who, of = "The host", "the runs"
            if diagnosis.movers is not None:
                named = movers_text(diagnosis.movers)
                who, of = f"{named[0].upper()}{named[1:]}", "their runs"
            yield (
                f"{who} had two states, {gap} apart, and {changed}; {share} of {of} were "
                f"in the {states[1]}."
            )
            yield from _blocks(runs, total / (speeds.switches + len(speeds.sessions)))
        else:
            who = "all programs" if diagnosis.movers is None else movers_text(diagnosis.movers)
            yield f"The values of {who} rose and fell together, by about {gap}."
    near = [one for one in diagnosis.findings if one.code == "host-neighbours"]
    for one in near[:1]:
        size = "" if one.size is None else f" (correlation {one.size:.2f})"
        why = ", which is why the intervals rest on sessions" if sessions > 1 else ""
        yield f"Neighbouring runs of different programs are alike{size}: they are not independent{why}."
    changes = [one for one in diagnosis.findings if one.code in _CHANGES]
    if changes:
        largest = max(changes, key=lambda one: (one.code == "host-change", abs(one.size or 0.0)))
        text = largest.text.replace(" %", "\u00a0%")
        yield f"{text[0].upper()}{text[1:]}."
    tested = any(one.pvalue is not None for one in diagnosis.host)
    if not any(one.code.startswith("host-") for one in diagnosis.findings):
        yield (
            "No test of the whole host found that it changed."
            if tested
            else "Whether the host changed cannot be tested: there are too few runs, or they do not vary."
        )


def _blocks(runs: Runs, state_s: float) -> Iterator[str]:
    """Say whether the runs of a block mostly met the same state of the host."""
    trial, clock = runs.trial, runs.clock
    if len(runs.variants) < 2:
        return
    key = clock.place * (int(trial.block.max()) + 1) + trial.block
    measured = np.flatnonzero(trial.candidates)
    order = measured[np.argsort(key[measured], kind="stable")]
    _, first, counts = np.unique(key[order], return_index=True, return_counts=True)
    whole = counts > 1
    if not whole.any():
        return
    begin, end = order[first[whole]], order[first[whole] + counts[whole] - 1]
    block_s = float(np.median(clock.seconds[end] - clock.seconds[begin]))
    if state_s >= _LONG * block_s:
        yield "A block is short beside a state, so both sides of a pair mostly share it."
    elif block_s > state_s:
        yield "A block is longer than a state, so the sides of a pair may have met different ones."
