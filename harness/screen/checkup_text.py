"""The screen of ``fairtrial doctor``: plain text, and the same as JSON types."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from analysis.printer import clean
from analysis.record import CheckStatus, Finding

from ..host import CpuPlan, HostState, format_cpus
from ..wording import counted

# What is in order comes first, what is to mend last: on a terminal the end is what one sees.
_ORDER: tuple[CheckStatus, ...] = ("ok", "unknown", "warn", "fail")
_COLOURS: Mapping[CheckStatus, str] = {"ok": "32", "unknown": "36", "warn": "33", "fail": "31"}
_STATUS, _NAME, _LABEL = 9, 13, 6
_COPIED = ("/", "sudo ", " | ")  # what only paths and commands hold


def checkup_text(
    state: HostState,
    findings: tuple[Finding, ...],
    *,
    plan: CpuPlan | None = None,
    fatal: tuple[Finding, ...] | None = None,
    width: int = 96,
    strict: bool = False,
    verbose: bool = False,
    colour: bool = False,
    quiet: bool = False,
) -> str:
    """Write the doctor's screen.

    Parameters
    ----------
    state, findings : HostState, tuple of Finding
        The host and what the checks found.
    plan : CpuPlan, optional
        The CPUs that a trial would use.
    fatal : tuple of Finding, optional
        At which of them the trials of a campaign stop; without a campaign None, and every check counts.
    width : int, optional
        Columns; long sentences are wrapped, paths and commands are never broken.
    strict : bool, optional
        Whether warnings are fatal here, for the last line.
    verbose : bool, optional
        Say also where the values that are in order were read.
    colour : bool, optional
        Colour the status words (they say the same without).
    quiet : bool, optional
        Write only what is not in order.
    """
    if quiet:
        findings = tuple(finding for finding in findings if finding.status != "ok")
    shown = [
        line
        for status in _ORDER
        for finding in findings
        if finding.status == status
        for line in _finding(finding, width, verbose=verbose, colour=colour)
    ]
    if quiet:
        return "\n".join(shown) + "\n" * bool(shown)
    lines = _wrapped(headline(state), "", "  ", width)
    if plan is not None:
        lines += _wrapped(plan.text, "  cpus     ", "           ", width)
        for caution in plan.cautions:
            lines += _wrapped(caution, "           ", "           ", width)
    lines += ["", *shown, "", *_wrapped(_last(findings, fatal, strict=strict), "", "", width)]
    return "\n".join(lines) + "\n"


def checkup_dict(
    state: HostState, findings: tuple[Finding, ...], *, plan: CpuPlan | None = None
) -> dict[str, Any]:
    """Give the doctor's screen as JSON types: host, cpus, findings and how many there are of each."""
    return {
        "host": state.to_dict(),
        "cpus": None
        if plan is None
        else {
            "targets": None if plan.targets is None else list(plan.targets),
            "reserved": list(plan.reserved),
            "housekeeping": list(plan.housekeeping),
            "cautions": list(plan.cautions),
        },
        "findings": [finding.to_dict() for finding in findings],
        "counts": {status: _count(findings, status) for status in _ORDER},
    }


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


def _finding(finding: Finding, width: int, *, verbose: bool, colour: bool) -> list[str]:
    indent = " " * (2 + _STATUS + _NAME)
    label = f"  {finding.status:<{_STATUS}}{finding.check:<{_NAME}}"
    lines = _wrapped(finding.what, label, indent, width)
    details = [("read", finding.where)] if verbose or finding.status != "ok" else []
    if finding.status in {"warn", "fail"}:
        details.append(("why", finding.reason))
    details.append(("fix", finding.fix))
    for name, value in details:
        head = f"{indent}{name:<{_LABEL}}"
        if value and any(mark in value for mark in _COPIED):
            lines.append(
                clean(head + value)
            )  # a path or a command is there to be copied: never broken
        elif value:
            lines += _wrapped(value, head, indent + " " * _LABEL, width)
    if colour:
        code = _COLOURS[finding.status]
        painted = f"  \x1b[{code}m{finding.status}\x1b[0m{' ' * (_STATUS - len(finding.status))}"
        lines[0] = painted + lines[0][2 + _STATUS :]
    return lines


def _last(findings: tuple[Finding, ...], fatal: tuple[Finding, ...] | None, *, strict: bool) -> str:
    mend = _count(findings, "warn") + _count(findings, "fail")
    unknown = _count(findings, "unknown")
    if not mend:
        text = "nothing to mend before an overnight campaign"
    elif fatal is not None:
        text = f"{mend} to mend before an overnight campaign"
    elif strict:
        text = f"{mend} to mend, and --strict makes {'it' if mend == 1 else 'them'} fatal"
    else:
        text = f"{mend} to mend before an overnight campaign"
        warned = _count(findings, "warn")
        if warned == mend:
            text += f"; --strict makes {'it' if mend == 1 else 'them'} fatal"
        elif warned:  # a failure is fatal without it
            text += f"; --strict makes {'the warning' if warned == 1 else 'warnings'} fatal too"
    if fatal:
        names = ", ".join(dict.fromkeys(finding.check for finding in fatal))
        text += f"; this one stops at {names}"
    elif fatal is not None and mend:
        text += "; this one requires none of it, and goes on"
    if unknown:
        cannot = "1 thing" if unknown == 1 else f"{unknown} things"
        text += f"; {cannot} cannot be known here"
    return text


def _count(findings: tuple[Finding, ...], status: CheckStatus) -> int:
    return sum(1 for finding in findings if finding.status == status)


def _wrapped(text: str, first: str, further: str, width: int) -> list[str]:
    return textwrap.wrap(
        clean(text),
        width=max(width, 60),
        initial_indent=first,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )
