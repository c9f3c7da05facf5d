"""What a report says of several hosts: the fleet's own verdict, and how each host stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..methods.multilevel.result import MoreSessions, Multilevel
from ..verdict.fleet import judge_fleet
from ..verdict.fleet_hosts import refuse_of_fleet
from ..verdict.screen.hosts import disagreeing_sentences, standing_sentences

if TYPE_CHECKING:
    from ..methods.multilevel.host_effects import HostLevel
    from ..pages.model import Sentence
    from ..verdict.result import CandidateVerdict, Verdict

__all__ = ["first_host", "hosts_of", "judged_fleet", "level_of", "only_host", "standing_of"]


def judged_fleet(
    folder: Path, asked: Mapping[str, Any], *, level: str, metric: str | None, explain: bool
) -> Verdict:
    """Judge a fleet for a page, whose rows say with a line how much more would decide it.

    Raises `UsageError` if an option (`asked` holds them as `judge` takes them) is for the trial of
    one host.
    """
    options = dict(asked)
    given = {
        "--always-valid": bool(options.pop("always_valid", False)),
        "--certificate": options.pop("certificate", None) is not None,
        "--level iteration": level == "iteration",
    }
    refuse_of_fleet(folder, (name for name, yes in given.items() if yes), "report")
    verdict = judge_fleet(folder, metric=metric, explain=explain, **options)
    return replace(verdict, candidates=tuple(map(_advised, verdict.candidates)))


def level_of(verdict: Verdict) -> HostLevel | None:
    """Give what the hosts say of the first candidate that several of them judge; None without one."""
    return next((one.hosts for one in verdict.candidates if one.hosts is not None), None)


def hosts_of(verdict: Verdict) -> Mapping[str, str]:
    """Give the host that each session of the joined trial is; empty without several hosts."""
    judged = [one.host for one in verdict.hosts if one.judged]
    return {str(k): host for k, host in enumerate(judged, 1)} if len(judged) > 1 else {}


def first_host(verdict: Verdict) -> Path | None:
    """Give the trial of the first host of a fleet that is judged; None where there is no fleet."""
    return next((Path(one.trial) for one in verdict.hosts if one.judged), None)


def only_host(verdict: Verdict) -> Path | None:
    """Give the trial of the only host of a fleet that is judged; None of several, or of no fleet."""
    judged = [one for one in verdict.hosts if one.judged]
    return Path(judged[0].trial) if len(judged) == 1 else None


def standing_of(verdict: Verdict) -> Iterator[str]:
    """Say which hosts disagree with the rest, on what, and which are missing or not complete."""
    several = len(verdict.candidates) > 1
    for one in verdict.candidates:
        if one.hosts is not None:
            for sentence in disagreeing_sentences(verdict, one.hosts):
                yield f"{one.variant}: {sentence.text}" if several else sentence.text
    told: tuple[Sentence, ...] = standing_sentences(verdict.hosts, whole=True)
    yield from (sentence.text for sentence in told)


def _advised(one: CandidateVerdict) -> CandidateVerdict:
    """Put the advice on hosts into the lines, where that on sessions stands for a trial."""
    result, level = one.multilevel, one.hosts
    if result is None or level is None:
        return one
    more = {
        each.benchmark: MoreSessions(
            sessions=each.hosts,
            low=each.low,
            high=each.high,
            chance=each.chance,
            target=each.target,
            runs_suffice=None,
        )
        for each in level.more_hosts
    }
    these = result.these
    told: Multilevel = replace(
        result,
        benchmarks=tuple(
            replace(line, more_sessions=more.get(line.name)) for line in result.benchmarks
        ),
        these=None if these is None else replace(these, more_sessions=more.get(None)),
    )
    return replace(one, multilevel=told)
