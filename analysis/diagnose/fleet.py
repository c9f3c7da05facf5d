"""The diagnosis of a fleet: that of each host."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ..data.fleet import host_cautions, nothing_to_judge, open_fleet
from ..errors import InsufficientDataError
from ..pages import number_format as figures
from ..pages.model import Page, page, page_of, section, table_of
from ..pages.result import Result
from ..record.fleet import HostProgress, HostState, with_plans
from ..stats.arguments import checks_arguments
from ..words import shorten
from .examine import diagnose_trial


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosedHost:
    """One host: how it stands, what was looked at, and the codes of what was found."""

    host: str
    state: HostState
    sessions: int
    runs: int
    tests: int
    codes: tuple[str, ...]
    told: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFinding:
    """A finding by its code: on which hosts, and how the first of them says it."""

    code: str
    hosts: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FleetDiagnosis(Result):
    """What the runs of a fleet look like."""

    method: ClassVar[str] = "diagnose-fleet"

    name: str
    metric: str
    confidence: float
    hosts: tuple[DiagnosedHost, ...]
    findings: tuple[SharedFinding, ...]


@checks_arguments
def diagnose_fleet(
    fleet: str | Path,
    *,
    metric: str | None = None,
    variants: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> FleetDiagnosis:
    """Look at the runs of each host, as `diagnose_trial` does, and at what hosts have in common."""
    opened = open_fleet(Path(fleet))
    metric = opened.question() if metric is None else metric
    risk = (1 - confidence) / len(opened.fleet.hosts)
    progress: list[HostProgress] = []
    hosts: list[DiagnosedHost] = []
    shared: dict[str, list[tuple[str, str]]] = {}
    for one in opened.hosts():
        progress.append(one.progress)
        diagnosis = None
        if one.judgeable and one.trial is not None:
            with suppress(InsufficientDataError):  # no run has a value of this metric
                diagnosis = diagnose_trial(
                    one.trial, metric=metric, variants=variants, confidence=1 - risk
                )
        found = () if diagnosis is None else diagnosis.cautions
        for caution in found:
            shared.setdefault(caution.code, []).append((one.progress.host, caution.text))
        hosts.append(
            DiagnosedHost(
                host=one.progress.host,
                state=one.progress.state,
                **{name: getattr(diagnosis, name, 0) for name in ("sessions", "runs", "tests")},
                codes=tuple(dict.fromkeys(caution.code for caution in found)),
                told=tuple(caution.text for caution in found),
            )
        )
    told = with_plans(progress)
    if not any(one.runs for one in hosts):
        raise nothing_to_judge(opened.path, told)
    findings = [
        SharedFinding(code=code, hosts=tuple(dict(those)), text=those[0][1])
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


_NAMED, _SHOWN = 4, 20  # hosts that a sentence names, and that the table shows


@page_of.register(FleetDiagnosis)
def _page(found: FleetDiagnosis) -> Page:
    looked = [one for one in found.hosts if one.runs]
    told = f"nothing stands out on {len(looked)} hosts"
    if found.findings:
        some = sum(bool(one.codes) for one in looked)
        told = f"something stands out on {some} of {len(looked)} hosts"
    if found.metric != "wall":
        told = f"{found.metric}: {told}"
    said = [f"{told}; 'fairtrial diagnose FLEET/HOST' says it of one"]
    for one in found.findings:
        every = len(one.hosts) == len(looked)
        where = "all hosts" if every else figures.listed(one.hosts, _NAMED)
        such = "" if len(one.hosts) == 1 else f", such as {one.hosts[0]}"
        said.append(f"{where}{such}: {one.text}")
    # those with most findings first: they are what a reader looks for
    ordered = sorted(found.hosts, key=lambda one: -len(one.codes))
    table = table_of(
        "hosts",
        ordered[:_SHOWN],
        ("<host", lambda one: shorten(one.host, 28)),
        ("<state", "state"),
        ("sessions", "sessions"),
        ("runs", "runs"),
        ("tests", "tests"),
        ("<found", lambda one: figures.listed(one.codes, 4)),
    )
    rest = len(ordered) - _SHOWN
    more = [f"and {rest} more hosts (--json)"] if rest > 0 else []
    return page(found, f"Diagnosis of {found.name}", section(*said), section(table, *more))
