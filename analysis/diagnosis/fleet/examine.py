"""Looks at each host of a fleet by itself, one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...data.fleets import host_cautions, nothing_to_judge, open_fleet
from ...errors import InsufficientDataError
from ...record import HostProgress, with_plans
from ...report import Caution
from ...stats import door
from ..audit import diagnose_trial
from .result import DiagnosedHost, FleetDiagnosis, SharedFinding

__all__ = ["diagnose_fleet"]


@door
def diagnose_fleet(
    fleet: str | Path,
    *,
    metric: str | None = None,
    variants: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> FleetDiagnosis:
    """Look at the runs of each host, as `diagnose_trial` does, and at what hosts have in common.

    Parameters
    ----------
    fleet : str or Path
        A folder with ``fleet.json``.
    metric, variants
        As for `diagnose_trial`.
    confidence : float
        1 - this is the share of clean fleets with a tested finding, at most (Bonferroni over hosts).

    Raises
    ------
    StoreError
        If it is no fleet.
    UsageError
        If the metric or a variant is unknown, or the confidence out of range.
    InsufficientDataError
        If no host has a run that counts.
    """
    opened = open_fleet(Path(fleet))
    metric = opened.question() if metric is None else metric
    risk = (1 - confidence) / len(opened.fleet.hosts)
    progress: list[HostProgress] = []
    hosts: list[DiagnosedHost] = []
    shared: dict[str, list[tuple[str, str]]] = {}
    for one in opened.hosts():
        progress.append(one.progress)
        sessions, runs, tests = 0, 0, 0
        found: tuple[Caution, ...] = ()
        if one.judgeable and one.trial is not None:
            try:
                diagnosis = diagnose_trial(
                    one.trial, metric=metric, variants=variants, confidence=1 - risk
                )
            except InsufficientDataError:  # no run has a value of this metric
                diagnosis = None
            if diagnosis is not None:
                sessions, runs, tests = diagnosis.sessions, diagnosis.runs, diagnosis.tests
                found = diagnosis.cautions
        for caution in found:
            shared.setdefault(caution.code, []).append((one.progress.host, caution.text))
        hosts.append(
            DiagnosedHost(
                host=one.progress.host,
                state=one.progress.state,
                sessions=sessions,
                runs=runs,
                tests=tests,
                codes=tuple(dict.fromkeys(caution.code for caution in found)),
                told=tuple(caution.text for caution in found),
            )
        )
    told = with_plans(progress)
    if not any(one.runs for one in hosts):
        raise nothing_to_judge(opened.path, told)
    findings = [
        SharedFinding(
            code=code, hosts=tuple(dict.fromkeys(host for host, _ in those)), text=those[0][1]
        )
        for code, those in shared.items()
    ]
    return FleetDiagnosis(
        name=opened.path.absolute().name,
        metric=metric,
        confidence=confidence,
        hosts=tuple(hosts),
        findings=tuple(sorted(findings, key=lambda one: -len(one.hosts))),
        cautions=tuple(host_cautions(told)),
    )
