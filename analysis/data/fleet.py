"""A fleet, read one host at a time, and what its readers should know of its hosts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..errors import StoreError
from ..pages import number_format as figures
from ..pages.model import Caution
from ..record.fleet import Fleet, FleetHost, read_fleet, trial_place
from ..record.fleet_progress import (
    HostProgress,
    host_state,
    is_held,
    read_host,
    require_campaign,
    why_so,
)
from ..record.manifest import read_manifest
from ..record.trial_files import Manifest, asked_now, one_question, questions_of
from .question import differing
from .trial import Trial, read_trial

_NAMED = 6


def host_cautions(hosts: Sequence[HostProgress]) -> Iterator[Caution]:
    """Say which hosts are missing, failed or unfinished, and whether there is one to judge only."""
    by_state: dict[str, list[HostProgress]] = {}
    for one in hosts:
        by_state.setdefault(one.state, []).append(one)
    if missing := by_state.get("missing"):
        names = _names(missing)
        yield Caution(
            "host-missing",
            f"missing: {figures.listed(names, _NAMED)}: no run was measured there, and nothing is "
            f"claimed about {'it' if len(names) == 1 else 'them'}",
            names,
        )
    if failed := by_state.get("failed"):
        told = figures.listed([f"{one.host} ({one.why})" for one in failed], 3, mark="; ")
        yield Caution(
            "host-failed",
            f"failed: {told}: left out, and nothing is claimed about "
            f"{'it' if len(failed) == 1 else 'them'}",
            _names(failed),
        )
    if unfinished := [*by_state.get("running", []), *by_state.get("partial", [])]:
        told = figures.listed(
            [f"{one.host} {one.state} ({one.done} of {_planned(one)} runs)" for one in unfinished],
            3,
        )
        some = any(one.counting for one in unfinished)
        yield Caution(
            "host-unfinished",
            f"not finished: {told}: "
            f"{'what is there is judged' if some else 'no run counts there yet'}",
            _names(unfinished),
        )
    if len(hosts) and sum(one.counting > 0 for one in hosts) == 1:
        only = next(one.host for one in hosts if one.counting > 0)
        yield Caution(
            "one-host",
            f"one host only ({only}): nothing is claimed about other hosts, and its peculiarities "
            "cannot be separated from those of the programs",
            (only,),
        )


def _names(hosts: Sequence[HostProgress]) -> tuple[str, ...]:
    return tuple(one.host for one in hosts)


def _planned(one: HostProgress) -> str:
    return "an unknown number of" if one.planned is None else str(one.planned)


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
        """Give the metrics that the campaign's `judge` names, the first one first; none without the key."""
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
        for one in self.fleet.hosts:
            with contextlib.suppress(StoreError):
                yield one.host, read_manifest(trial_place(self.path, one))


def open_fleet(path: Path) -> OpenedFleet:
    """Open a fleet; its trials are read when they are asked for."""
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
        failed = replace(found, state="failed", counting=0, why=error.what)
        return HostTrial(progress=failed, trial=None)
    manifest = trial.manifest
    counting = int(trial.measured.sum())
    state = host_state(
        manifest.status,
        rows=len(trial) > 0,
        tried=not trial.warmup.all(),
        counting=counting,
        held=is_held(trial.path) if trial.running else None,
        in_vain=manifest.must_raise is not None,
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
