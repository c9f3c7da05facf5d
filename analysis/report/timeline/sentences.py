"""The chapter in sentences: all of them from the runs and from what the diagnosis found."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...diagnose.wording import movers_text
from ...pages.number_format import counted, significant
from ..names import shortened
from .runs import Finding, speeds_of

if TYPE_CHECKING:
    from ...data.host_record import HostRecord
    from ...diagnose.host_speeds import HostSpeeds
    from ...diagnose.result import Diagnosis
    from .runs import Runs, Timeline

__all__ = [
    "alt_of",
    "apart",
    "change",
    "deck_of",
    "duration",
    "findings_of",
    "notes_of",
    "title_of",
]

_LONG = 3.0  # blocks in a state of the host: most pairs share it
_NAME = 24  # characters
_CHANGES = ("host-change", "host-trend", "host-warm-up")
# findings of the runner that are drawn, what they are called, and when their number is known
_WORDS = {
    "load": ("other work", "after"),
    "gaps": ("CPU lost", ""),
    "steal": ("time stolen", ""),
    "throttle": ("throttled", ""),
    "temperature": ("temperature", ""),
    "swap": ("swapping", ""),
    "kernel_log": ("kernel alarms", ""),
    "clock": ("clock set", ""),
    "other-trials": ("other trials", ""),
    "drift": ("changed", ""),
    "environment": ("environment changed", ""),
    "input": ("input changed", ""),
    "host-change": ("level changed", ""),
}


def findings_of(runs: Runs, diagnosis: Diagnosis | None, record: HostRecord) -> list[Finding]:
    """Give the findings that belong to sessions; those of several things under one word together."""
    told: dict[str, set[int | str]] = {}
    for one in () if diagnosis is None else diagnosis.findings:
        if one.benchmark is None and one.sessions and one.code in _WORDS:
            told.setdefault(one.code, set()).update(one.sessions)
    found = []
    for code in (code for code in _WORDS if code in told):
        words, when = _WORDS[code]
        values = {
            note.session: f"{note.value:.2f}"
            for note in record.notes
            if note.check == code and note.when == when and note.value is not None
        }
        sessions = enumerate(runs.clock.sessions.tolist())
        places = {k: values.get(number, "") for k, number in sessions if number in told[code]}
        if places:
            found.append(Finding(words, places))
    return found


def title_of(found: Sequence[Diagnosis | None], *, timed: bool) -> str:
    """Give the chapter's heading: it says what is to be seen only where that was found."""
    title = "The trial as it happened" if len(found) == 1 else "The trials as they happened"
    speeds = [speed for one in found if (speed := speeds_of(one)) is not None]
    if any(one.two for one in speeds):
        return f"{title}: a host with two {'speeds' if timed else 'levels'}"
    kept = f": a host that did not keep its {'speed' if timed else 'level'}" if speeds else ""
    return f"{title}{kept}"


def deck_of(
    looked: Sequence[tuple[Runs, Diagnosis | None]],
    *,
    opened: str | None,
    states: tuple[str, str],
    sessions: int,
) -> Iterator[str]:
    """Give the paragraphs above the picture; of two trials each has one of its own."""
    count = sum(runs.rows.size for runs, _ in looked)
    first = f"All {count:,} runs against the median of their own benchmark and variant"
    if opened is not None:
        first += f"; those of {shortened([opened], _NAME)[opened]} stand out"
    told = [
        "" if found is None else " ".join(_of_trial(runs, found, states[1], sessions))
        for runs, found in looked
    ]
    if len(looked) == 1:
        yield f"{first}. {told[0]}".rstrip()
        return
    yield f"{first}."
    for label, text in zip("AB", told, strict=True):
        if text:
            yield f"{label}: {text[0].lower()}{text[1:]}"


def _of_trial(runs: Runs, found: Diagnosis, higher: str, sessions: int) -> Iterator[str]:
    if found.speeds is not None:
        yield from _of_states(runs, found, found.speeds, higher)
    near = next((one for one in found.findings if one.code == "host-neighbours"), None)
    if near is not None:
        size = "" if near.size is None else f" (correlation {near.size:.2f})"
        why = ", which is why the intervals rest on sessions" if sessions > 1 else ""
        yield f"Neighbouring runs of different programs are alike{size}: they are not independent{why}."
    changes = [one for one in found.findings if one.code in _CHANGES]
    if changes:
        largest = max(changes, key=lambda one: (one.code == "host-change", abs(one.size or 0.0)))
        yield f"{_begun(largest.text)}.".replace(" %", "\u00a0%")
    if not any(one.code.startswith("host-") for one in found.findings):
        tested = any(one.pvalue is not None for one in found.host)
        yield (
            "No test of the whole host found that it changed."
            if tested
            else "Whether the host changed cannot be tested: there are too few runs, or they do not vary."
        )


def _of_states(runs: Runs, found: Diagnosis, speeds: HostSpeeds, higher: str) -> Iterator[str]:
    gap, total = apart(speeds.ratio), float(runs.clock.lengths.sum())
    named = None if found.movers is None else movers_text(found.movers)
    if not speeds.two:
        yield f"The values of {named or 'all programs'} rose and fell together, by about {gap}."
        return
    times = "once" if speeds.switches == 1 else f"{speeds.switches} times"
    when = (
        f"{times} in {duration(total)}" if speeds.switches else "only from one session to another"
    )
    yield (
        f"{_begun(named or 'the host')} had two states, {gap} apart, and changed between them {when}; "
        f"{100 * speeds.share:.0f}\u00a0% of {'their' if named else 'the'} runs were in the {higher}."
    )
    yield from _blocks(runs, total / (speeds.switches + len(speeds.sessions)))


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


def notes_of(told: Timeline, *, drawn: int | None, beyond: int) -> Iterator[str]:
    """Say what is to be known of the picture: thinning (`drawn` is None without it), clipping, gaps."""
    runs, scale = told.runs, told.scale
    if drawn is not None:
        yield (
            f"{drawn:,} of {runs.rows.size:,} runs are drawn: of those that fall on one place in "
            "time the lowest, the middle one and the highest."
        )
    if beyond:
        low, high = change(round(scale.low, 2)), change(round(scale.high, 2))
        verb = "run lies" if beyond == 1 else "runs lie"
        yield f"{beyond:,} {verb} beyond {low} or {high}: open ticks at the edge."
    pauses, total = runs.clock.pauses, float(runs.clock.lengths.sum())
    if told.hosts:  # they have no time in common
        return
    if math.isnan(pauses):
        yield "The axis is the time of measuring: the sessions are of several boots of the host."
    elif pauses > 0.05 * total:
        yield (
            "The axis is the time of measuring: pauses between sessions, "
            f"{duration(pauses)} in all, are closed."
        )


def alt_of(told: Timeline) -> str:
    """Say what the picture shows."""
    runs, (low, high), speeds = told.runs, told.states, speeds_of(told.diagnosis)
    where = f"{'on' if told.hosts else 'in'} {counted(len(runs.clock.sessions), told.noun)}"
    said = [
        f"{runs.rows.size:,} runs {where} against time, each against the median of its own benchmark "
        "and variant"
    ]
    if speeds is not None and speeds.two:
        above = f"the {high} lies {apart(speeds.ratio)} above the {low}"
        said.append(f"{above}, with {speeds.switches} changes between them")
    elif speeds is not None:
        said.append("all programs rise and fall together, without two clear levels")
    elif not told.hosts:
        said.append("no change of the whole host was found")
    for one in told.findings:
        figures = ", ".join(filter(None, one.sessions.values()))
        found = f"{one.words} in {counted(len(one.sessions), 'session')}"
        said.append(f"{found} ({figures})" if figures else found)
    if failed := sum(not one.warmup for one in runs.trial.failed):
        said.append(f"{counted(failed, 'run')} failed")
    return "; ".join(said) + "."


def change(ratio: float) -> str:
    """Write a ratio as a change: ``+25 %``, ``−20 %``; 1 is the median."""
    if ratio == 1:
        return "median"
    percent = 100 * (ratio - 1)
    return f"{'+' if percent > 0 else '−'}{abs(percent):,.4g}\u00a0%"


def apart(ratio: float) -> str:
    """Write how far apart two levels are: ``1.6 %``, ``75 %``."""
    return f"{significant(100 * abs(ratio - 1), 2)}\u00a0%"


def duration(seconds: float) -> str:
    """Write a duration in a sensible unit: ``72 s``, ``12 min``, ``5.2 h``, ``3.1 days``."""
    for size, unit, least in ((86400.0, "days", 2), (3600.0, "h", 2), (60.0, "min", 3)):
        if seconds >= least * size:
            return f"{significant(seconds / size, 2)}\u00a0{unit}"
    return f"{significant(seconds, 2)}\u00a0s"


def _begun(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"
