"""A fleet, read one host at a time: nothing of a trial is kept but what the reader keeps."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...errors import StoreError
from ...record import (
    Fleet,
    FleetHost,
    HostProgress,
    Manifest,
    asked_now,
    host_state,
    is_held,
    one_question,
    questions_of,
    read_fleet,
    read_host,
    read_manifest,
    require_campaign,
    trial_place,
    why_so,
)
from ..question import differing
from ..trial import Trial, read_trial

__all__ = ["HostTrial", "OpenedFleet", "open_fleet"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostTrial:
    """A host of a fleet: how far it is, and its trial; None where there is none that can be read."""

    progress: HostProgress
    trial: Trial | None

    @property
    def judgeable(self) -> bool:
        """Whether it has a run that counts."""
        return self.trial is not None and self.progress.counting > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedFleet:
    """A fleet's record, and the way to its trials."""

    path: Path
    fleet: Fleet

    def hosts(self) -> Iterator[HostTrial]:
        """Read the hosts in their order, each when it is asked for.

        A host whose trial is damaged, of another campaign, or not there, hides no other: it comes
        without a trial, and its progress says why. Its `planned` is None where it has no plan yet.
        """
        for one in self.fleet.hosts:
            yield _read(self.path, self.fleet, one)

    def asked(self) -> tuple[str, ...]:
        """Give the metrics that the campaign's `judge` names, the first one first; none without the key.

        Raises
        ------
        UsageError
            If hosts name others.
        """
        found = questions_of(self._manifests())
        metrics = one_question(found)
        if metrics is None:
            raise differing(str(self.path), asked_now(found))
        return metrics

    def question(self) -> str:
        """Give the metric that is judged where nobody names one. Raises what `asked` does."""
        return next(iter(self.asked()), "wall")

    def is_usual(self, metric: str) -> bool:
        """Tell whether a metric is the one that is judged where nobody names one."""
        metrics = one_question(questions_of(self._manifests()))
        return metrics is not None and metric == next(iter(metrics), "wall")

    def unasked(self) -> tuple[str, ...]:
        """Give the metrics that benchmarks declare, where the campaign says of none that it is the question."""
        if self.asked():
            return ()
        declared = (name for _, manifest in self._manifests() for name in manifest.declared)
        return tuple(dict.fromkeys(declared))

    def _manifests(self) -> Iterator[tuple[str, Manifest]]:
        """Read the manifests of all hosts that have one."""
        for one in self.fleet.hosts:
            with contextlib.suppress(StoreError):
                yield one.host, read_manifest(trial_place(self.path, one))


def open_fleet(path: Path) -> OpenedFleet:
    """Open a fleet; its trials are read when they are asked for.

    Raises
    ------
    StoreError
        If it is none, or its record cannot be trusted.
    """
    return OpenedFleet(path=path, fleet=read_fleet(path))


def _read(path: Path, fleet: Fleet, host: FleetHost) -> HostTrial:
    try:
        trial = read_trial(trial_place(path, host))
        require_campaign(fleet, trial.manifest, trial.path)
    except StoreError as error:
        found = read_host(path, fleet, host)
        if found.state in ("missing", "failed"):
            return HostTrial(progress=found, trial=None)
        # whoever counts rows reads less than a trial's reader, who found it damaged
        failed = HostProgress(
            host=found.host,
            state="failed",
            done=found.done,
            planned=found.planned,
            counting=0,
            why=error.what,
            trial=found.trial,
            manifest=found.manifest,
        )
        return HostTrial(progress=failed, trial=None)
    manifest = trial.manifest
    counting = int(trial.measured.sum())
    state = host_state(
        manifest.status,
        rows=len(trial) > 0,
        tried=not trial.warmup.all(),
        counting=counting,
        held=is_held(trial.path) if trial.running else None,
    )
    progress = HostProgress(
        host=host.host,
        state=state,
        done=int(np.unique(trial.planned_position[trial.planned_position >= 0]).size),
        planned=manifest.needed,
        counting=counting,
        why=why_so(state, manifest),
        trial=trial.path,
        manifest=manifest,
    )
    return HostTrial(progress=progress, trial=trial)
