"""Gathers the chapter's values from the subject."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...data.host_record import read_host_record
from ...diagnose.examine import diagnose_trial
from ...errors import AnalysisError, UsageError
from ...pages import number_format as figures
from ...pages.model import Value
from ...words import shown
from ..fleet import hosts_of, level_of
from .axis import change_scale
from .clock import clock_of
from .result import Found, Happened, Timeline
from .sentences import deck_of, title_of
from .timeline import Runs, drawn, runs_of

if TYPE_CHECKING:
    from ...data.trial import Trial
    from ...diagnose.result import Diagnosis
    from ..chapter import OldChapter
    from ..subject import Subject

__all__ = ["gather"]

_MOST = 25  # findings in the table
_HOSTS = 12  # that are named
_UNCHANGED = "; no change of the whole host was found"


def gather(subject: Subject) -> OldChapter | None:
    """Give the chapter; None where nothing tells when runs were executed."""
    pictured = [
        (runs, found) for trial in subject.trials for runs, found in _looked(subject, trial)
    ]
    if not pictured:
        return None
    scale = change_scale(np.concatenate([runs.logs for runs, _ in pictured]))
    opened = _opened(subject)
    states = _states(subject)
    two = len(subject.trials) > 1
    timelines: list[Timeline] = []
    told: list[Found] = []
    for runs, diagnosis in pictured:
        label = "AB"[subject.trials.index(runs.trial)] if two else ""
        timelines.append(
            drawn(
                runs,
                scale,
                label=label,
                opened=opened,
                states=states,
                diagnosis=diagnosis,
                record=read_host_record(runs.trial.path),
            )
        )
        told += _found(diagnosis, label)
    level = level_of(subject.verdict)
    if level is not None:
        timelines = [_of_hosts(one, hosts_of(subject.verdict)) for one in timelines]
    failed = sum(not one.warmup for trial in subject.trials for one in trial.failed)
    return Happened(
        anchor=subject.anchor("happened"),
        title="The runs, host by host"
        if level is not None
        else title_of([found for _, found in pictured], timed=states[0] != _PLAIN[0]),
        deck=(
            *deck_of(pictured, opened=opened, states=states, sessions=subject.verdict.sessions),
            *(() if level is None else (_panels(level.hosts, subject.verdict.path),)),
        ),
        higher=states[1],
        timelines=tuple(timelines),
        found=tuple(told[:_MOST]),
        more_found=max(0, len(told) - _MOST),
        failed=failed,
        # failed runs are the trial's, and are listed once: with the first metric
        failed_anchor=subject.anchor("failed").removeprefix(subject.prefix),
    )


_PLAIN = ("lower level", "higher level")


def _looked(subject: Subject, trial: Trial) -> Iterator[tuple[Runs, Diagnosis | None]]:
    """Give the runs of a trial with its diagnosis, if there is anything to draw."""
    metric = subject.verdict.metric
    clock = clock_of(trial)
    if clock is None:
        return
    if level_of(subject.verdict) is not None:  # several hosts are no host that changed
        of_hosts = runs_of(trial, clock, metric, trial.manifest.variants)
        if of_hosts is not None:
            yield of_hosts, None
        return
    judged = subject.verdict.diagnosis if len(subject.trials) == 1 else None
    variants: Sequence[str] = trial.manifest.variants if judged is None else judged.variants
    try:
        runs = runs_of(trial, clock, metric, variants)
        if runs is None:
            return
        yield runs, judged or diagnose_trial(trial, metric=metric)
    except UsageError:  # this trial has no such metric
        return
    except AnalysisError:  # nothing of it can be tested
        if runs is not None:
            yield runs, None


def _of_hosts(timeline: Timeline, hosts: Mapping[str, str]) -> Timeline:
    """Name the hosts, and leave out what would be said of one host's time axis."""
    notes = tuple(note for note in timeline.notes if not note.startswith("The axis is"))
    return replace(
        timeline,
        notes=notes,
        noun="host",
        alt=timeline.alt.replace(_UNCHANGED, "").replace(
            f" in {len(timeline.panels)} sessions ", f" on {len(timeline.panels)} hosts ", 1
        ),
        panels=tuple(
            replace(panel, session=shown(hosts.get(panel.session, panel.session)))
            for panel in timeline.panels
        ),
    )


def _panels(hosts: Sequence[str], fleet: str | None) -> str:
    """Say which panel is which host, and who looks at each host by itself."""
    listed = shown(figures.listed(hosts, _HOSTS))
    return (
        f"Each panel is a host, with all its sessions: {listed}, in this order. What each "
        f"host by itself looks like: fairtrial diagnose {shown(str(fleet))}."
    )


def _opened(subject: Subject) -> str | None:
    """Give the first benchmark that a caution names, whose part stands open; else the first."""
    named = (name for caution in subject.verdict.cautions for name in caution.about)
    return next((name for name in (*named, *subject.order) if name in subject.order), None)


def _states(subject: Subject) -> tuple[str, str]:
    """Say what the lower and the higher level of a host are called."""
    if not figures.timed(subject.verdict.unit):
        return _PLAIN
    if subject.verdict.better == "higher":
        return ("slow state", "fast state")
    return ("fast state", "slow state")


def _found(diagnosis: Diagnosis | None, label: str) -> Iterator[Found]:
    for one in () if diagnosis is None else diagnosis.findings:
        names = [shown(name) for name in (one.benchmark, one.variant) if name is not None]
        p = one.pvalue_adjusted
        yield Found(
            trial=label,
            cell=" / ".join(names) or "all",
            text=shown(one.text).replace(" %", "\u00a0%"),
            pvalue=Value("" if p is None else figures.pvalue(p).removeprefix("= "), p),
        )
