"""The subcommand ``plan``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import UsageError
from ..options import command
from .options import BothSides, metric_of, show

if TYPE_CHECKING:
    from ..data.trial import Trial
    from ..importers.reader import Sides
    from ..pages.result import Result

_GOAL = ("width", "effect", "power", "confidence", "max_runs")
# options of one of the two plans only: they have no default, so that one that is not taken is seen
_ONLY_WITHIN = ("interval", "simulations")
_ONLY_SESSIONS = ("on", "max_sessions")


class _Asked(BothSides):
    width: float | None
    effect: float | None
    power: float
    confidence: float
    on: str | None
    max_sessions: int | None
    max_hosts: int | None
    max_runs: int | None
    within_session: bool
    interval: str | None
    simulations: int | None
    seed: int

    def wanted(self, *names: str) -> dict[str, Any]:
        """Give those of these options that are not left to the plan's own defaults."""
        return {name: value for name, value in self.some(*names).items() if value is not None}


@command("plan")
def plan(*, args: _Asked, json: bool, out: TextIO) -> int:
    """Find out how many sessions and runs a comparison of CANDIDATE with BASELINE needs.

    Both are from a pilot, a trial of two or more sessions. Without BASELINE, the baseline of the
    candidate's campaign is used. The cheapest plan is printed, with the lines to paste into the
    campaign; for a fleet, also the number of hosts.
    """
    what, others, left = "the runs of one session", _ONLY_WITHIN, "add"
    if args.within_session:
        what, others, left = "sessions", _ONLY_SESSIONS, "leave out"
    for option in args.given(*others):
        fix = f"leave it out, or {left} --within-session"
        raise UsageError(f"{option} belongs to a plan of {what}", fix=fix)
    fleet = _fleet_of(args)
    if fleet is not None:
        found, metric = _hosts(*fleet, args)
        show(found, out, as_json=json, metric=None if metric == "wall" else metric)
        return 0
    if args.max_hosts is not None:
        raise UsageError("--max-hosts is for fleets", args.candidate, "leave it out")
    sides = args.read()
    found = _within(sides, args) if args.within_session else _sessions(sides, args)
    show(found, out, as_json=json, metric=metric_of(sides.candidate, sides.baseline))
    return 0


def _fleet_of(args: _Asked) -> tuple[Path, str | None] | None:
    """Give the fleet whose hosts are planned, and its variant; None where something else is."""
    from ..importers.reader import trial_and_variant
    from ..record.fleet import is_fleet

    named = trial_and_variant(args.candidate)
    whole = named is not None and is_fleet(named[0]) and args.baseline is None
    return named if whole and not args.within_session else None


def _hosts(path: Path, variant: str | None, args: _Asked) -> tuple[Result, str]:
    """Plan hosts: what each tells of its own sessions and runs, one at a time; with the metric."""
    from dataclasses import replace

    from ..data.fleet import host_cautions, nothing_to_judge, open_fleet
    from ..errors import InsufficientDataError
    from ..pages.model import Caution, merged
    from ..plan.components import trial_costs, variance_components
    from ..plan.hosts import HostPilot, plan_hosts

    hosts, pilots, without = [], {}, []
    fleet = open_fleet(path)
    metric = args.metric or fleet.question()
    for one in fleet.hosts():
        hosts.append(one.progress)
        if not one.judgeable or one.trial is None:
            continue
        trial = one.trial
        name = _candidate(trial, variant, path)
        try:
            found = variance_components(
                trial.matrix(name, metric, skip_zeros=True),
                trial.matrix(trial.manifest.baseline, metric, skip_zeros=True),
            )
        except InsufficientDataError:
            without.append(one.progress.host)
            continue
        pilots[one.progress.host] = HostPilot(components=found, costs=trial_costs(trial))
    if not pilots and not without:
        raise nothing_to_judge(path, hosts)
    plan = plan_hosts(pilots, **args.wanted(*_GOAL, *_ONLY_SESSIONS, "max_hosts"))
    told = []
    if without:
        what = f"left out, with fewer than two sessions: {', '.join(without[:6])}"
        told.append(Caution("host-left-out", what, tuple(without)))
    return replace(plan, cautions=merged(host_cautions(hosts), told, plan.cautions)), metric


def _candidate(trial: Trial, variant: str | None, path: Path) -> str:
    """Name the candidate of a fleet: the one that is named, or the only one."""
    manifest = trial.manifest
    candidates = [name for name in manifest.variants if name != manifest.baseline]
    if variant is not None and variant in candidates:
        return variant
    if variant is None and len(candidates) == 1:
        return candidates[0]
    raise UsageError(
        f"the fleet has no candidate {variant!r}"
        if variant is not None
        else f"the fleet has {len(candidates)} candidates for its baseline {manifest.baseline}",
        str(path),
        f"candidates here: {', '.join(candidates) or 'none'}; write {path}:VARIANT",
    )


def _sessions(sides: Sides, args: _Asked) -> Result:
    from ..plan.components import trial_costs
    from ..plan.sessions import plan_sessions

    trial, costs = sides.trial, None
    if trial is not None and trial.manifest.origin != "imported":  # whose file does not say it
        costs = trial_costs(trial)
    asked = args.wanted(*_GOAL, *_ONLY_SESSIONS)
    return plan_sessions(sides.candidate, sides.baseline, **asked, costs=costs)


def _within(sides: Sides, args: _Asked) -> Result:
    from ..plan.runs import plan_runs
    from ..stats.arguments import stream

    asked, rng = args.wanted(*_GOAL, *_ONLY_WITHIN), stream(args.seed, "plan")
    return plan_runs(sides.candidate, sides.baseline, **asked, rng=rng, seed=args.seed)
