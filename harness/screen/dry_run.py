"""What ``run --dry-run`` shows: the plan, the CPUs, the checks and the expected time."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from analysis.record import OUTPUTS, Finding, Manifest, PlannedRun

from ..campaign import Campaign, Counting, identity_of
from ..checks import check_before
from ..errors import LaunchError, StoreError
from ..host import CpuPlan, Host
from ..launch import base_environment, resolve_all
from ..trial import (
    Options,
    cpus_for,
    expected_seconds,
    files_to_set_aside,
    has_energy,
    idle_seconds,
    kept_bytes,
    look_at_counters,
    plan_session,
    planned_runs,
    room_needed,
    situation_of,
    trials_in,
)
from ..wording import about, counted, said_of_rule
from .progress import read_progress
from .view import scale

_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A campaign as it would be executed here. `seconds` is ``None`` when nothing is known.

    `executed` says what was, to know them.
    """

    campaign: Campaign
    sessions: int
    plan: CpuPlan
    findings: tuple[Finding, ...]
    first: tuple[PlannedRun, ...]
    seconds: float | None
    at_most_s: float | None
    missing: str | None
    set_aside: tuple[Path, ...]
    executed: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give the preview as JSON types."""
        rule = self.campaign.protocol.stop
        return {
            "campaign": self.campaign.name,
            "campaign_sha256": identity_of(self.campaign),
            "sessions": self.sessions,
            "planned": planned_runs(self.campaign, self.sessions),
            "repeats_at_most": self.repeats_at_most,
            "stop": None if rule is None else rule.to_dict(),
            "seconds": self.seconds,
            "at_most_seconds": self.at_most_s,
            "cpus": None if self.plan.targets is None else list(self.plan.targets),
            "housekeeping": list(self.plan.housekeeping),
            "findings": [finding.to_dict() for finding in self.findings],
            "missing": self.missing,
            "set_aside": [str(path) for path in self.set_aside],
            "executed": self.executed,
            "session_1": [run.to_dict() for run in self.first],
        }

    @property
    def repeats_at_most(self) -> int:
        """How many runs may be repeated, should all be disturbed."""
        protocol = self.campaign.protocol
        passes = protocol.passes_at_most(self.sessions) - protocol.passes(self.sessions)
        return len(self.campaign.cells) * passes

    def __str__(self) -> str:
        """Write it for a person."""
        campaign = self.campaign
        lines = [scale(campaign, self.sessions, self.seconds)]
        lines += [f"note    {note}" for note in campaign.notes]
        if campaign.protocol.stop is not None:
            lines.append(f"stop    {said_of_rule(campaign.protocol.stop)}")
        if campaign.protocol.repeating:
            lines.append(
                "repeat  a run that is disturbed, at most twice: "
                f"{counted(self.repeats_at_most, 'run')} more at most"
            )
        lines.append(f"time    {self._time()}")
        lines.append(f"cpus    {self.plan.text}")
        lines += [f"        {caution}" for caution in self.plan.cautions]
        counts = Counter(finding.status for finding in self.findings)
        lines.append("checks  " + ", ".join(f"{n} {status}" for status, n in counts.items()))
        for finding in self.findings:
            if finding.status in {"warn", "fail"}:
                lines.append(f"        {finding.status} {finding.check}: {finding.what}")
        if campaign.counters is not None:
            lost = any(one.check == "counters" and one.status == "fail" for one in self.findings)
            some = "; those that cannot be had are left out, see the check counters" if lost else ""
            lines.append(f"counts  {_said_of(campaign.counters)}{some}")
        for build in campaign.builds:
            steps = "; ".join(" ".join(step.argv) for step in build.steps)
            lines.append(f"build   {build.variant}: {steps}")
        lines.append(f"plan    order {campaign.protocol.order}, seed {campaign.seed}; session 1:")
        for run in self.first[:_SHOWN]:
            kind = "warm-up" if run.warmup else f"block {run.block}"
            lines.append(f"        {run.position:>4}  {kind:<9} {run.benchmark} / {run.variant}")
        left = planned_runs(campaign, self.sessions) - len(self.first[:_SHOWN])
        if left > 0:
            lines.append(f"        and {left} more")
        if self.missing:
            lines.append(f"missing {self.missing}")
        for path in self.set_aside:
            lines.append(f"aside   {path} is there, and a metric is read from it: it would be")
            lines.append(f"        renamed to {path.name}.before-TRIAL")
        lines.append(f"executed: {self.executed}" if self.executed else "nothing was executed.")
        return "\n".join(lines)

    def _time(self) -> str:
        if self.seconds is not None:
            most = "" if self.campaign.protocol.stop is None else "at most "
            known = "the first block" if self.executed else "an earlier trial of this campaign"
            besides = " without repeats" if self.campaign.protocol.repeating else ""
            return f"{most}{about(self.seconds)}{besides}, from {known}"
        if self.at_most_s is not None:
            return f"unknown before the first trial; its limits end it after {about(self.at_most_s)[6:]}"
        return "unknown before the first trial, and no timeout limits it"


def _said_of(counting: Counting) -> str:
    """Say what is counted, and in which blocks."""
    names = ", ".join(event.name for event in counting.events)
    if not counting.apart:
        return names
    return f"{names}, in one of {counting.every} blocks; times are those of the others"


class Probed(Protocol):
    """One block that was executed to know its time."""

    @property
    def seconds(self) -> Mapping[str, float]:
        """Seconds of a run, for each cell by its name "benchmark/variant"."""


def preview(
    campaign: Campaign,
    options: Options,
    trial: Path | None = None,
    *,
    probed: Probed | None = None,
) -> Preview:
    """Look at what a campaign would do on this host; nothing is executed or written.

    Parameters
    ----------
    campaign : Campaign
        What would be executed.
    options : Options
        What the command line adds.
    trial : Path, optional
        The trial that would be gone on with.
    probed : Probed, optional
        A block that was executed; otherwise earlier trials tell how long runs take.

    Raises
    ------
    CampaignError
        If a metric would be read from an input.
    HostError
        If the campaign's CPUs cannot be used here.
    """
    sessions = options.sessions or campaign.protocol.sessions
    programs, missing = _programs(campaign)
    aside = files_to_set_aside(campaign, programs, trial)
    with Host() as host:
        first = host.read()
        plan = cpus_for(campaign, first)
        measured = plan.targets or first.usable
        events = look_at_counters(campaign, host, first, plan.targets)
        energy = has_energy(campaign, host, first)
        kept = 0 if trial is None else kept_bytes(trial / OUTPUTS)
        needed = room_needed(campaign, sessions, kept_bytes=kept)
        situation = situation_of(
            campaign, host, measured, options.folder, events=events, needed_bytes=needed
        )
    findings = tuple(
        finding
        for finding in check_before(situation)
        if finding.check != "counters" or events is not None
    )
    return Preview(
        campaign=campaign,
        sessions=sessions,
        plan=plan,
        findings=findings,
        first=tuple(islice(plan_session(campaign, campaign.seed, 1), 1000)),
        seconds=_known(campaign, options, sessions, energy=energy)
        if probed is None
        else expected_seconds(campaign, sessions, probed.seconds, energy=energy),
        at_most_s=_limit(campaign, sessions, energy=energy),
        missing=missing,
        set_aside=aside,
        executed=None if probed is None else str(probed),
    )


def _known(campaign: Campaign, options: Options, sessions: int, *, energy: bool) -> float | None:
    """Look at the earlier trials; of those that cannot be read ``fairtrial status`` tells."""
    earlier: tuple[tuple[Path, Manifest], ...] = ()
    with contextlib.suppress(StoreError):  # a folder that is none is told where it is written to
        earlier = trials_in(options.folder, campaign.name).found
    for path, _ in earlier:
        with contextlib.suppress(StoreError):
            known = read_progress(path).seconds
            seconds = expected_seconds(campaign, sessions, known, energy=energy)
            if seconds is not None:
                return seconds
    return None


def _limit(campaign: Campaign, sessions: int, *, energy: bool) -> float | None:
    """Give the longest time that timeouts and caps allow."""
    protocol = campaign.protocol
    limits = [cell.timeout_s for cell in campaign.cells]
    known = [limit for limit in limits if limit is not None]
    total = None
    if len(known) == len(limits):
        block = sum(known)
        total = protocol.passes_at_most(sessions) * block
        if protocol.stop is not None and protocol.stop.max_time_s is not None:
            # it is looked at after whole blocks, and after the first one at the earliest
            last = block * (2 if protocol.repeating else 1)  # with its repeats
            late = max(protocol.stop.max_time_s, protocol.warmup * block) + last
            total = min(total, sessions * late)
        total += protocol.pause_s * (sessions - 1)
        total += idle_seconds(campaign, sessions, energy=energy)
    if protocol.max_time_s is not None:
        return protocol.max_time_s if total is None else min(total, protocol.max_time_s)
    return total


def _programs(campaign: Campaign) -> tuple[dict[tuple[str, str], Path], str | None]:
    """Find the programs, or say which are not there; what a build makes may be missing now."""
    try:
        return resolve_all(campaign, base_environment(campaign.isolation, os.environ)), None
    except LaunchError as error:
        return {}, None if campaign.builds else str(error)
