"""The subcommand ``plan``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import UsageError
from .options import (
    add_confidence,
    add_interval,
    add_json,
    add_seed,
    add_sides,
    add_value,
    metric_of,
    number,
    reading,
    show,
)

if TYPE_CHECKING:
    from ..data.trial import Trial
    from ..importers.reader import Sides
    from ..plan.components import TrialCosts
    from ..plan.result import HostPlan, RunPlan, SessionPlan
    from .options import Subparsers


_MAX_SESSIONS = 100
_MAX_RUNS = 100
_MAX_HOSTS, _MAX_SESSIONS_OF_A_HOST = 100, 20
_MAX_RUNS_WITHIN = 1000
_SIMULATIONS = 1000
# options of one of the two plans only: they have no default, so that one that is not taken is seen
_ONLY_WITHIN = ("interval", "simulations")
_ONLY_SESSIONS = ("on", "max_sessions")


def add(subparsers: Subparsers) -> None:
    """Add ``plan``."""
    parser = subparsers.add_parser(
        "plan",
        description="Find out how many sessions and runs a comparison of CANDIDATE with BASELINE needs. Both "
        "are from a pilot, a trial of two or more sessions. Without BASELINE, the baseline of the "
        "candidate's campaign is used. The cheapest plan is printed, with the lines to paste into the "
        "campaign; for a fleet, also the number of hosts.",
    )
    add_sides(parser)
    parser.add_argument(
        "--width",
        type=number,
        metavar="W",
        help="largest width of the speedup's interval, relative to it: 0.02 is about 1 %% to either "
        "side (default: 0.02, where there is no --effect)",
    )
    add_value(parser, "--effect", "E", "the speedup to be found, such as 1.02")
    parser.add_argument(
        "--on",
        choices=("suite", "benchmarks"),
        help="what has to reach --width and --effect: the mean over the benchmarks (default), or each "
        "benchmark",
    )
    add_value(parser, "--power", "P", "probability of finding the effect", 0.8)
    parser.add_argument(
        "--max-sessions",
        type=int,
        metavar="M",
        help=f"the most sessions to consider (default: {_MAX_SESSIONS}; for each host of a fleet: "
        f"{_MAX_SESSIONS_OF_A_HOST})",
    )
    parser.add_argument(
        "--max-hosts",
        type=int,
        metavar="M",
        help=f"for a fleet: the most hosts to consider (default: {_MAX_HOSTS})",
    )
    parser.add_argument(
        "--max-runs",
        type=int,
        metavar="M",
        help=f"the most runs of a session to consider (default: {_MAX_RUNS}; with --within-session: "
        f"{_MAX_RUNS_WITHIN})",
    )
    add_confidence(parser, "of the interval")
    parser.add_argument(
        "--within-session",
        action="store_true",
        help="plan the runs of a single session, by trials that are simulated from the pilot's runs; "
        "differences between sessions are not part of that. --power is then also the power of the width",
    )
    add_interval(
        parser,
        ("t", "studentized", "percentile"),
        "t",
        "with --within-session: the interval of the loop on the pilot's own runs; the 95 % interval of "
        "percentile covers about 87 %",
    )
    parser.set_defaults(interval=None)
    parser.add_argument(
        "--simulations",
        type=int,
        metavar="N",
        help="with --within-session: simulated trials for each number of runs (default: "
        f"{_SIMULATIONS})",
    )
    add_seed(parser)
    add_json(parser)
    parser.set_defaults(run=_plan)


def _plan(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    from ..importers.reader import read_sides

    others, fix = (
        (_ONLY_SESSIONS, "leave it out, or leave out --within-session")
        if args.within_session
        else (_ONLY_WITHIN, "leave it out, or add --within-session")
    )
    for name in others:
        if getattr(args, name) is not None:
            option = f"--{name.replace('_', '-')}"
            what = "sessions" if args.within_session else "the runs of one session"
            raise UsageError(f"{option} belongs to a plan of {what}", fix=fix)
    fleet = _fleet_of(args)
    if fleet is not None:
        plan, metric = _hosts(*fleet, args)
        show(plan, out, as_json=args.json, metric=None if metric == "wall" else metric)
        return 0
    if args.max_hosts is not None:
        raise UsageError("--max-hosts is for fleets", args.candidate, "leave it out")
    sides = read_sides(args.candidate, args.baseline, reading(args))
    planned = _runs if args.within_session else _sessions
    named = metric_of(sides.candidate, sides.baseline)
    show(planned(sides, args), out, as_json=args.json, metric=named)
    return 0


def _fleet_of(args: argparse.Namespace) -> tuple[Path, str | None] | None:
    """Give the fleet whose hosts are planned, and its variant; None where something else is."""
    from ..importers.reader import trial_and_variant
    from ..record.fleet import is_fleet

    named = trial_and_variant(args.candidate)
    whole = named is not None and is_fleet(named[0]) and args.baseline is None
    return named if whole and not args.within_session else None


def _hosts(path: Path, variant: str | None, args: argparse.Namespace) -> tuple[HostPlan, str]:
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
    plan = plan_hosts(
        pilots,
        **_goal(args),
        on=args.on or "suite",
        max_hosts=_MAX_HOSTS if args.max_hosts is None else args.max_hosts,
        max_sessions=_MAX_SESSIONS_OF_A_HOST if args.max_sessions is None else args.max_sessions,
        max_runs=_MAX_RUNS if args.max_runs is None else args.max_runs,
    )
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


def _goal(args: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(args, name) for name in ("width", "effect", "power", "confidence")}


def _sessions(sides: Sides, args: argparse.Namespace) -> SessionPlan:
    from ..plan.sessions import plan_sessions

    return plan_sessions(
        sides.candidate,
        sides.baseline,
        **_goal(args),
        on=args.on or "suite",
        max_sessions=_MAX_SESSIONS if args.max_sessions is None else args.max_sessions,
        max_runs=_MAX_RUNS if args.max_runs is None else args.max_runs,
        costs=_costs(sides.trial),
    )


def _costs(trial: Trial | None) -> TrialCosts | None:
    """Tell what sessions and runs take; another tool's file does not say it."""
    from ..plan.components import trial_costs

    return None if trial is None or trial.manifest.origin == "imported" else trial_costs(trial)


def _runs(sides: Sides, args: argparse.Namespace) -> RunPlan:
    from ..plan.runs import plan_runs
    from ..stats.arguments import stream

    return plan_runs(
        sides.candidate,
        sides.baseline,
        **_goal(args),
        max_runs=_MAX_RUNS_WITHIN if args.max_runs is None else args.max_runs,
        interval=args.interval or "t",
        simulations=_SIMULATIONS if args.simulations is None else args.simulations,
        rng=stream(args.seed, "plan"),
        seed=args.seed,
    )
