"""What ``fairtrial doctor`` does and shows: look at the host twice, a moment apart, and check."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.record.printer import clean
from analysis.record.trial_files import CheckStatus, Finding
from analysis.words import WIDTH

from ..campaign.model import Campaign, CheckPolicy
from ..errors import counted, wrapped
from ..host.activity import Host
from ..host.checks import check_before, check_between, fatal_findings
from ..host.placement import CpuPlan, choose_cpus
from ..host.state import GapLook, HostState, format_cpus
from ..trial.metering import look_at_counters
from ..trial.plan import look_at_cpus, room_needed, situation_of
from ..tune.journal import finding_of_tuning

# What is in order comes first, what is to mend last: on a terminal the end is what one sees.
_ORDER: tuple[CheckStatus, ...] = ("ok", "unknown", "warn", "fail")
_STATUS, _NAME, _LABEL = 9, 13, 6
_LEFT = " " * 6
_COMMAND = ("sudo ", " | ")  # what only commands hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """A host, what was found, and which of it is fatal under the rules that were asked for.

    `for_campaign` tells rules of a campaign from the general ones.
    """

    state: HostState
    plan: CpuPlan | None
    findings: tuple[Finding, ...]
    fatal: tuple[Finding, ...]
    strict: bool
    for_campaign: bool

    def text(self, *, width: int = WIDTH, verbose: bool = False, quiet: bool = False) -> str:
        """Write the doctor's screen; `quiet` leaves only what is not in order."""
        shown = [
            line
            for status in _ORDER[quiet:]
            for finding in self.findings
            if finding.status == status
            for line in _finding(finding, width, verbose=verbose)
        ]
        if quiet:
            return "\n".join(shown) + "\n" * bool(shown)
        lines = _wrapped(headline(self.state), "", "  ", width)
        if self.plan is not None:
            lines += _wrapped(self.plan.text, "  cpus     ", "           ", width)
            for caution in self.plan.cautions:
                lines += _wrapped(caution, "           ", "           ", width)
        lines += ["", *shown, "", *_wrapped(self._last(), "", "", width)]
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types: host, cpus, findings and how many there are of each."""
        named = ("targets", "reserved", "housekeeping", "cautions")
        cpus = {name: getattr(self.plan, name, None) for name in named}
        listed = {name: None if one is None else list(one) for name, one in cpus.items()}
        return {
            "host": self.state.to_dict(),
            "cpus": None if self.plan is None else listed,
            "findings": [finding.to_dict() for finding in self.findings],
            "counts": {status: self._count(status) for status in _ORDER},
        }

    def _last(self) -> str:
        mend, unknown = self._count("warn") + self._count("fail"), self._count("unknown")
        text = f"{counted(mend, 'problem')} to fix before an overnight campaign"
        fatal = f"--strict makes {'it' if mend == 1 else 'them'} fatal"
        if not mend:
            text = "nothing to fix before an overnight campaign"
        elif not self.for_campaign and self.strict:
            text = f"{counted(mend, 'problem')} to fix, and {fatal}"
        elif not self.for_campaign:
            warned = self._count("warn")
            if warned == mend:
                text += f"; {fatal}"
            elif warned:  # a failure is fatal without it
                text += f"; --strict makes {'the warning' if warned == 1 else 'warnings'} fatal too"
        if self.for_campaign and self.fatal:
            text += f"; this one stops at {', '.join(dict.fromkeys(f.check for f in self.fatal))}"
        elif self.for_campaign and mend:
            text += "; this one requires none of it, and goes on"
        if unknown:
            cannot = "1 thing" if unknown == 1 else f"{unknown} things"
            text += f"; {cannot} cannot be known here"
        return text

    def _count(self, status: CheckStatus) -> int:
        return sum(finding.status == status for finding in self.findings)


def headline(state: HostState) -> str:
    """Name the host in one line: host, processor, cores, SMT, nodes, kernel, virtual machine."""
    topology = state.topology
    cores = topology.cores
    total = len(topology.numbers)
    size = counted(cores, "core") if cores is not None else "cores unknown"
    if cores != total:
        size += f" with {counted(total, 'CPU')}"
    smt = {True: "SMT on", False: "SMT off", None: "SMT unknown"}[state.smt_active]
    if not state.smt_active and state.virtual not in {None, "none"}:
        smt = "SMT not shown"  # the machine below may well have it
    nodes = counted(len(topology.nodes), "node") if topology.nodes else "nodes unknown"
    processor = f"{state.cpu_model or 'unknown processor'}, {size}, {smt}, {nodes}"
    if state.usable != topology.numbers:
        processor += f", usable here {format_cpus(state.usable) or 'none'}"
    virtual = {"none": "no", None: "unknown"}.get(state.virtual, state.virtual)
    parts = [
        state.hostname or "unnamed host",
        processor,
        f"Linux {state.kernel or 'of unknown version'}",
        f"virtual machine: {virtual}",
    ]
    if state.container not in {None, "none"}:
        parts.append(f"container: {state.container}")
    return " · ".join(parts)


def _finding(finding: Finding, width: int, *, verbose: bool) -> list[str]:
    indent = " " * (2 + _STATUS + _NAME)
    label = f"  {finding.status:<{_STATUS}}{finding.check:<{_NAME}}"
    lines = _wrapped(finding.what, label, indent, width)
    details = [("read", finding.where)] if verbose or finding.status != "ok" else []
    if finding.status in {"warn", "fail"}:
        details.append(("why", finding.reason))
    details.append(("fix", finding.fix))
    for name, value in details:
        head = f"{indent}{name:<{_LABEL}}"
        if value:
            lines += _detail(value, head, indent + " " * _LABEL, width)
    return lines


def _detail(value: str, first: str, further: str, width: int) -> list[str]:
    """Set a detail; a command is there to be copied, so it is broken only behind a pipe, where a shell goes on."""
    before, colon, command = value.rpartition(": ")
    if not any(mark in command for mark in _COMMAND) or len(clean(first + value)) <= width:
        lines = _wrapped(value, first, further, width)
        if max(map(len, lines)) > width:  # a long path begins further to the left
            lines = [first.rstrip(), *_wrapped(value, _LEFT, _LEFT, width)]
        return lines
    lines = _wrapped(before + ":", first, further, width) if colon else []
    parts = command.split(" | ")
    if len(clean(further + command)) <= width:
        parts = [command]
    for number, part in enumerate(parts):
        head = further if lines else first
        lines.append(clean(head + part + " |" * (number < len(parts) - 1)))
    return lines


def _wrapped(text: str, first: str, further: str, width: int) -> list[str]:
    return wrapped(clean(text), first, further, max(width, 60))


_LOOK_S = 0.5


def check_up(
    campaign_path: Path | None, folder: Path, *, strict: bool, probe_s: float | None = None
) -> Checkup:
    """Check the host, for a campaign or in general."""
    campaign: Campaign | None = None
    if campaign_path is not None:
        from ..campaign.resolve import load_campaign

        campaign = load_campaign(campaign_path)
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
    moving = {f.check: f for f in check_between(before, situation.counters, _LOOK_S, cpus=measured)}
    # what was seen happening is preferred, if it is worse than what stands still
    findings = tuple(
        max(finding, moving.get(finding.check, finding), key=lambda one: _ORDER.index(one.status))
        for finding in check_before(situation)
    )
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
