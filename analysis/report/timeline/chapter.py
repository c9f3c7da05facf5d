"""The trial as it happened: all runs against time, and what was found of the host."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.host_record import read_host_record
from ...diagnose.examine import diagnose_trial
from ...errors import AnalysisError, UsageError
from ...pages import number_format as figures
from ...pages.model import Block, Section, Sentence, Table, Value, columns_of, value_of
from ...words import shown
from ..chapter import Chapter
from ..fleet import hosts_of, level_of
from .picture import drawn_of, picture
from .runs import (
    Runs,
    Timeline,
    alt_of,
    change_scale,
    clock_of,
    deck_of,
    findings_of,
    notes_of,
    runs_of,
    title_of,
)

if TYPE_CHECKING:
    from ...data.trial import Trial
    from ...diagnose.result import Diagnosis
    from ..subject import Subject

__all__ = ["chapter"]

_MOST = 25  # findings in the table
_HOSTS = 12  # that are named
_PLAIN = ("lower level", "higher level")

Values = Mapping[str, Any]


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None where nothing tells when runs were executed."""
    looked = [one for trial in subject.trials if (one := _looked(subject, trial)) is not None]
    if not looked:
        return None
    verdict, level = subject.verdict, level_of(subject.verdict)
    opened, states = _opened(subject), _states(subject)
    scale = change_scale(np.concatenate([runs.logs for runs, _ in looked]))
    timelines = [
        Timeline(
            runs=runs,
            diagnosis=diagnosis,
            label="AB"[subject.trials.index(runs.trial)] if len(subject.trials) > 1 else "",
            scale=scale,
            opened=opened,
            states=states,
            hosts={} if level is None else hosts_of(verdict),
            findings=findings_of(runs, diagnosis, read_host_record(runs.trial.path)),
        )
        for runs, diagnosis in looked
    ]
    deck = list(deck_of(timelines, verdict.sessions))
    title = title_of(timelines, timed=states != _PLAIN)
    if level is not None:
        title = "The runs, host by host"
        deck.append(
            "Each panel is a host, with all its sessions: "
            f"{shown(figures.listed(level.hosts, _HOSTS))}, in this order. What each host by itself "
            f"looks like: fairtrial diagnose {shown(str(verdict.path))}."
        )
    found = [row for one in timelines for row in _found(one)]
    more = max(0, len(found) - _MOST)
    values: dict[str, Any] = {
        "deck": deck,
        "higher": states[1],
        "timelines": [_values(one) for one in timelines],
        "found": found[:_MOST],
        "more_found": more,
        "failed": sum(not one.warmup for trial in subject.trials for one in trial.failed),
        # failed runs are the trial's, and are listed once: with the first metric
        "failed_anchor": subject.anchor("failed").removeprefix(subject.prefix),
    }
    noun = timelines[0].noun
    said = f"{more:,} more finding{'s' * (more > 1)}: fairtrial diagnose lists all." if more else ""
    return Chapter(
        name="happened",
        folder="timeline",
        anchor=subject.anchor("happened"),
        title=title,
        values=values,
        sections=lambda: (Section(tuple(_blocks(values, noun, said)), title=title),),
        drawn=lambda: {
            "noun": noun,
            "drawings": [(picture(one), one.levels, one.failed) for one in timelines],
            "tables": list(_tables(values, noun)),
            "more": said,
        },
    )


def _looked(subject: Subject, trial: Trial) -> tuple[Runs, Diagnosis | None] | None:
    """Give the runs of a trial with its diagnosis, if there is anything to draw."""
    verdict, clock = subject.verdict, clock_of(trial)
    if clock is None:
        return None
    of_hosts = level_of(verdict) is not None  # several hosts are no host that changed
    judged = verdict.diagnosis if len(subject.trials) == 1 and not of_hosts else None
    variants = trial.manifest.variants if judged is None else judged.variants
    runs = None
    with suppress(UsageError):  # this trial has no such metric
        runs = runs_of(trial, clock, verdict.metric, variants)
    if runs is not None and judged is None and not of_hosts:
        with suppress(AnalysisError):  # else nothing of it can be tested
            judged = diagnose_trial(trial, metric=verdict.metric)
    return None if runs is None else (runs, judged)


def _opened(subject: Subject) -> str | None:
    """Give the first benchmark that a caution names, whose part stands open; else the first."""
    named = (name for caution in subject.verdict.cautions for name in caution.about)
    return next((name for name in (*named, *subject.order) if name in subject.order), None)


def _states(subject: Subject) -> tuple[str, str]:
    """Say what the lower and the higher level of a host are called."""
    if not figures.timed(subject.verdict.unit):
        return _PLAIN
    slow, fast = "slow state", "fast state"
    return (slow, fast) if subject.verdict.better == "higher" else (fast, slow)


def _values(told: Timeline) -> Values:
    """Give what is said of a trial."""
    sessions = list(_sessions(told))
    beyond = sum(one["beyond_scale"] for one in sessions)
    return {
        "label": told.label,
        "trial": shown(told.runs.trial.manifest.trial),
        "alt": alt_of(told),
        "notes": list(notes_of(told, drawn=drawn_of(told), beyond=beyond)),
        "sessions": sessions,
        "findings": [{"text": one.words, "sessions": len(one.sessions)} for one in told.findings],
    }


def _sessions(told: Timeline) -> Iterator[Values]:
    """Give each session, or host: how long it took, and where its runs lie."""
    runs, y = told.runs, told.heights
    clock = runs.clock
    shares = {} if told.levels is None else {one.session: one.share for one in told.levels.sessions}
    for k, (session, name) in enumerate(zip(clock.sessions.tolist(), told.names, strict=True)):
        mine = clock.place[runs.rows] == k
        count, seconds = int(mine.sum()), float(clock.lengths[k])
        level = math.exp(float(np.median(runs.logs[mine]))) if count else None
        yield {
            "session": name,
            "seconds": Value(figures.significant(seconds), seconds),
            "runs": Value(f"{count:,}", count),
            "level": value_of(level, "{:.3f}".format, ""),
            "higher": value_of(shares.get(session), lambda share: f"{100 * share:.0f}\u00a0%", ""),
            "beyond_scale": int((mine & ((y < 0) | (y > 1))).sum()),
        }


def _found(told: Timeline) -> Iterator[Values]:
    """Give what the diagnosis found."""
    for one in () if told.diagnosis is None else told.diagnosis.findings:
        names = [shown(name) for name in (one.benchmark, one.variant) if name is not None]
        yield {
            "trial": told.label,
            "cell": " / ".join(names) or "all",
            "text": shown(one.text).replace(" %", "\u00a0%"),
            "pvalue": value_of(one.pvalue_adjusted, figures.bare_pvalue, ""),
        }


# --- as sentences and tables


def _blocks(values: Values, noun: str, more: str) -> Iterator[Block]:
    notes = " ".join(note for one in values["timelines"] for note in one["notes"])
    yield from (Sentence(text) for text in (*values["deck"], notes) if text)
    yield from _tables(values, noun)
    if more:
        yield Sentence(more)


def _tables(values: Values, noun: str) -> Iterator[Table]:
    """Give the sessions, and what the diagnosis found; of two trials each row says of which."""
    timelines = values["timelines"]
    sessions = [{"trial": one["label"], **row} for one in timelines for row in one["sessions"]]
    of_sessions = {
        "session": f"<{noun}",
        "seconds": "seconds",
        "runs": "runs",
        "level": "their median",
    }
    if any(row["higher"].text for row in sessions):
        of_sessions["higher"] = f"in the {values['higher']}"
    of_found = {"cell": "<benchmark / variant", "text": "<finding", "pvalue": "p, adjusted"}
    first = {"trial": "<trial"} if len(timelines) > 1 else {}
    for name, heads, rows in (
        ("sessions", first | of_sessions, sessions),
        ("found", first | of_found, values["found"]),
    ):
        if rows:
            cells = tuple(tuple(row[key] for key in heads) for row in rows)
            yield Table(name=f"happened-{name}", columns=columns_of(*heads.values()), rows=cells)
