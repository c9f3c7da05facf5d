"""How the hosts of a fleet stand, and in what each is not as most are: what a report tells of conditions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ...data.protocol import campaign_text
from ...pages.model import Value
from ...verdict.page import amount_on_hosts
from ...words import shorten, shown
from ..fleet import first_host
from .failures import failures_of
from .result import Conditions, Fact, Host

if TYPE_CHECKING:
    from ...methods.multilevel.host_effects import HostLevel
    from ...verdict.fleet_hosts import FleetHostStanding
    from ...verdict.result import Verdict
    from ..subject import Subject

__all__ = ["conditions_of_hosts"]

_MOST = 60  # hosts that have a line
_DIFFERENCES = 4


def conditions_of_hosts(subject: Subject, level: HostLevel) -> Conditions:
    """Give the chapter of a fleet: a line for each host, those that are not as most first."""
    verdict, trial = subject.verdict, subject.trials[0]
    place = first_host(verdict)
    text = None if place is None else campaign_text(place)
    failed, more = failures_of(trial)
    return Conditions(
        anchor=subject.anchor("conditions"),
        title="Where and how it was measured",
        failed_anchor=subject.anchor("failed"),
        between=(),
        facts=tuple(_facts(verdict, level)),
        everything=(),
        certificate="a certificate is of one machine, and a fleet has none.",
        hosts=(
            Host(
                label="",
                trial=shown(trial.manifest.trial),
                sessions=(),
                differed=(),
                same="What was recorded of each host, session by session, stands in its own report: "
                f"fairtrial report {shown(str(Path(verdict.path or '') / 'HOST'))} -o host.html.",
                answers=(),
                well="The answers of checks stand in each host's own report.",
                campaign=None if text is None else "\n".join(map(shown, text.splitlines())),
                identity=trial.manifest.campaign_sha256,
                failed=failed,
                more_failed=more if failed else Value("", None),
            ),
        ),
    )


def _facts(verdict: Verdict, level: HostLevel) -> Iterator[Fact]:
    yield _fact("measured", amount_on_hosts(level, verdict.session_runs))
    judged = sum(one.judged for one in verdict.hosts)
    yield _fact("hosts", f"{judged} of {len(verdict.hosts)} judged")
    odd = {one.host for one in level.disagreements}
    hosts = sorted(verdict.hosts, key=lambda one: _usual(one, odd=one.host in odd))
    for one in hosts[:_MOST]:
        yield _fact(shown(one.host), _standing(one, odd=one.host in odd))
    more = hosts[_MOST:]
    if more:
        every = " all complete, as most are" if all(_usual(one, odd=False) for one in more) else ""
        yield _fact(f"and {len(more)} more", f"{every}; verdict --json names them".lstrip(" ;"))


def _usual(one: FleetHostStanding, *, odd: bool) -> bool:
    return one.state == "complete" and not one.differs and not odd


def _standing(one: FleetHostStanding, *, odd: bool) -> str:
    planned = "an unknown number" if one.planned is None else f"{one.planned:,}"
    parts = [f"{one.state}, {one.done:,} of {planned} runs"]
    if one.why:
        parts.append(one.why)
    if odd:
        parts.append("disagrees with the rest")
    parts += [
        f"{each.key} is {shorten(each.here, 24)} there, {shorten(each.most, 24)} on most"
        for each in one.differs[:_DIFFERENCES]
    ]
    left = len(one.differs) - _DIFFERENCES
    if left > 0:
        parts.append(f"and {left} more difference{'s' * (left > 1)}")
    return shown("; ".join(parts))


def _fact(name: str, text: str) -> Fact:
    return Fact(name=name, texts=(text,))
