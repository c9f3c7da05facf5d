"""What was found on the hosts of a fleet, in words."""

from __future__ import annotations

from ...report import Column, Page, Section, Sentence, Table, Value, figures, page_of
from .result import FleetDiagnosis, SharedFinding

__all__: list[str] = []

_NAMED = 4  # hosts that a sentence names
_SHOWN = 20  # hosts that the table shows


@page_of.register
def _(found: FleetDiagnosis) -> Page:
    looked = [one for one in found.hosts if one.runs]
    told = f"nothing stands out on {len(looked)} hosts"
    if found.findings:
        some = sum(bool(one.codes) for one in looked)
        told = f"something stands out on {some} of {len(looked)} hosts"
    if found.metric != "wall":
        told = f"{found.metric}: {told}"
    return Page(
        title=f"Diagnosis of {found.name}",
        sections=(
            Section(
                (
                    Sentence(f"{told}; 'fairtrial diagnose FLEET/HOST' says it of one"),
                    *(Sentence(_said(one, len(looked))) for one in found.findings),
                )
            ),
            Section(_hosts(found)),
        ),
        cautions=found.cautions,
    )


def _said(one: SharedFinding, hosts: int) -> str:
    where = "all hosts" if len(one.hosts) == hosts else figures.listed(one.hosts, _NAMED)
    such = "" if len(one.hosts) == 1 else f", such as {one.hosts[0]}"
    return f"{where}{such}: {one.text}"


def _hosts(found: FleetDiagnosis) -> tuple[Table | Sentence, ...]:
    # those with most findings first: they are what a reader looks for
    ordered = sorted(found.hosts, key=lambda one: -len(one.codes))
    table = Table(
        name="hosts",
        columns=(
            Column("host", "left"),
            Column("state", "left"),
            *map(Column, ("sessions", "runs", "tests")),
            Column("found", "left"),
        ),
        rows=tuple(
            (
                figures.shorten(one.host, 28),
                one.state,
                Value(str(one.sessions), one.sessions),
                Value(str(one.runs), one.runs),
                Value(str(one.tests), one.tests),
                figures.listed(one.codes, 4),
            )
            for one in ordered[:_SHOWN]
        ),
    )
    if len(ordered) <= _SHOWN:
        return (table,)
    return (table, Sentence(f"and {len(ordered) - _SHOWN} more hosts (--json)"))
