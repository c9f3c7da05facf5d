"""What ``fairtrial doctor`` does: look at the host twice, a moment apart, and check."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.record import Finding

from ..campaign import Campaign, CheckPolicy
from ..checks import check_before, check_between, fatal_findings
from ..host import CpuPlan, GapLook, Host, HostState, choose_cpus
from ..trial import look_at_counters, look_at_cpus, room_needed, situation_of
from ..tuning import finding_of_tuning
from .checkup_text import checkup_dict, checkup_text

_LOOK_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """A host, what was found, and which of it is fatal under the rules that were asked for.

    `for_campaign` tells rules of a campaign from the general ones.
    """

    state: HostState
    plan: CpuPlan
    findings: tuple[Finding, ...]
    fatal: tuple[Finding, ...]
    strict: bool
    for_campaign: bool

    def text(self, *, colour: bool, verbose: bool, quiet: bool = False) -> str:
        """Write the doctor's screen; `quiet` leaves only what is not in order."""
        return checkup_text(
            self.state,
            self.findings,
            plan=self.plan,
            fatal=self.fatal if self.for_campaign else None,
            strict=self.strict,
            verbose=verbose,
            colour=colour,
            quiet=quiet,
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the checkup as JSON types."""
        return checkup_dict(self.state, self.findings, plan=self.plan)


def check_up(
    campaign_path: Path | None, folder: Path, *, strict: bool, probe_s: float | None = None
) -> Checkup:
    """Check the host, for a campaign or in general.

    Parameters
    ----------
    campaign_path : Path or None
        Its CPUs, scheduling and required checks count; without it every check is required.
    folder : Path
        The folder of trials; the nearest one that exists is asked for its free space.
    strict : bool
        Whether warnings are fatal.
    probe_s : float, optional
        How long it is looked what takes the measured CPUs away; as before a session by default.

    Raises
    ------
    FairtrialError
        If the campaign is wrong or its CPUs cannot be used.
    """
    campaign: Campaign | None = None
    if campaign_path is not None:
        from ..campaign import load_campaign, own_defaults

        campaign = load_campaign(campaign_path, own=own_defaults())
    with Host() as host:
        first = host.read()
        setting = campaign.isolation.cpus if campaign else "auto"
        plan = choose_cpus(setting, first.topology, usable=first.usable, isolated=first.isolated)
        measured = plan.targets or first.usable
        seconds = probe_s or (campaign.checks if campaign else CheckPolicy()).probe_s
        gaps = (
            look_at_cpus(campaign, host, plan.targets, seconds)
            if seconds
            else GapLook(problem="not looked for: checks.probe = 0s")
        )
        events = look_at_counters(campaign, host, first, plan.targets)
        before = host.counters(measured)
        time.sleep(_LOOK_S)
        situation = situation_of(
            campaign,
            host,
            measured,
            folder,
            needed_bytes=room_needed(campaign, campaign.protocol.sessions) if campaign else 0,
            gaps=gaps,
            events=events,
        )
    findings = tuple(
        finding
        for finding in check_before(situation)
        if finding.check != "counters" or events is not None  # a campaign may count nothing
    )
    moving = {f.check: f for f in check_between(before, situation.counters, _LOOK_S, cpus=measured)}
    findings = tuple(_worse(finding, moving.get(finding.check)) for finding in findings)
    tuned = finding_of_tuning()
    findings += () if tuned is None else (tuned,)
    required = campaign.checks.require if campaign else None
    fatal = fatal_findings(findings, required, strict=strict)
    if campaign is not None:  # without room no trial begins, whatever is required
        fatal += tuple(
            one
            for one in findings
            if (one.check, one.status) == ("disk", "fail") and one not in fatal
        )
    return Checkup(
        state=situation.state,
        plan=plan,
        findings=findings,
        fatal=fatal,
        strict=strict,
        for_campaign=campaign is not None,
    )


def _worse(still: Finding, moving: Finding | None) -> Finding:
    """Prefer what was seen happening, if it is worse than what stands still."""
    bad = ("ok", "unknown", "warn", "fail")
    if moving is None or bad.index(moving.status) <= bad.index(still.status):
        return still
    return moving
