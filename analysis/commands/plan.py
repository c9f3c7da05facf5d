"""The subcommands about measurements to come: ``plan``, ``study`` and ``calibrate``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..announcing import doing
from ..errors import InsufficientDataError, UsageError
from ..option_groups import BothSides, Drawn, Metric, Source, Workers, metric_of, show
from ..options import command, number

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix
    from ..data.trial import Trial
    from ..importers.reader import Sides
    from ..pages.result import Result


_GOAL = ("width", "effect", "power", "confidence", "max_runs")
# options of one of the two plans only: they have no default, so that one that is not taken is seen
_ONLY_WITHIN = ("interval", "simulations")
_ONLY_SESSIONS = ("on", "max_sessions")


class _Options(BothSides):
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
def plan(*, args: _Options, json: bool, out: TextIO) -> int:
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


def _fleet_of(args: _Options) -> tuple[Path, str | None] | None:
    """Give the fleet whose hosts are planned, and its variant; None where something else is."""
    from ..importers.reader import trial_and_variant
    from ..record.fleet import is_fleet

    named = trial_and_variant(args.candidate)
    whole = named is not None and is_fleet(named[0]) and args.baseline is None
    return named if whole and not args.within_session else None


def _hosts(path: Path, variant: str | None, args: _Options) -> tuple[Result, str]:
    """Plan hosts: what each tells of its own sessions and runs, of the benchmarks that all have; with the metric."""
    from dataclasses import replace

    from ..data.fleet import host_cautions, open_fleet
    from ..pages.model import Caution, merged
    from ..plan.components import trial_costs, variance_components
    from ..plan.hosts import HostPilot, plan_hosts

    pilots, sides, without = {}, {}, []
    fleet = open_fleet(path)
    metric = args.metric or fleet.default_metric
    for host, trial in fleet.trials():
        names = _candidate(trial, variant, path), trial.manifest.baseline
        sides[host] = [trial.matrix(name, metric, skip_zeros=True) for name in names]
        try:
            found = variance_components(*sides[host])
        except InsufficientDataError:
            without.append(host)
            continue
        pilots[host] = HostPilot(components=found, costs=trial_costs(trial))
    known = [[line.name for line in one.components.benchmarks] for one in pilots.values()]
    common = [name for name in known[0] if all(name in x for x in known)] if known else []
    for host, one in pilots.items() if common else ():
        if len(one.components.benchmarks) > len(common):
            found = variance_components(*(side.select(common) for side in sides[host]))
            pilots[host] = one._replace(components=found)
    plan = plan_hosts(pilots, **args.wanted(*_GOAL, *_ONLY_SESSIONS, "max_hosts"))
    texts = []
    if without:
        what = f"left out, with fewer than two sessions: {', '.join(without[:6])}"
        texts.append(Caution("host-left-out", what, tuple(without)))
    return replace(
        plan, cautions=merged(host_cautions(fleet.progress), texts, plan.cautions)
    ), metric


def _candidate(trial: Trial, variant: str | None, path: Path) -> str:
    manifest = trial.manifest
    candidates = [name for name in manifest.variants if name != manifest.baseline]
    if variant is not None and variant in candidates:
        return variant
    if variant is None and len(candidates) == 1:
        return candidates[0]
    what = f"the fleet has {len(candidates)} candidates for its baseline {manifest.baseline}"
    what = what if variant is None else f"the fleet has no candidate {variant!r}"
    fix = f"candidates here: {', '.join(map(format, candidates)) or 'none'}; write {path}:VARIANT"
    raise UsageError(what, str(path), fix)


def _sessions(sides: Sides, args: _Options) -> Result:
    from ..plan.components import trial_costs
    from ..plan.sessions import plan_sessions

    trial, costs = sides.trial, None
    if trial is not None and trial.manifest.origin != "imported":  # whose file does not say it
        costs = trial_costs(trial)
    asked = args.wanted(*_GOAL, *_ONLY_SESSIONS)
    return plan_sessions(sides.candidate, sides.baseline, **asked, costs=costs)


def _within(sides: Sides, args: _Options) -> Result:
    from ..plan.runs import plan_runs
    from ..stats.arguments import stream

    asked, rng = args.wanted(*_GOAL, *_ONLY_WITHIN), stream(args.seed, "plan")
    return plan_runs(sides.candidate, sides.baseline, **asked, rng=rng, seed=args.seed)


# --- The subcommand ``study``.


class _StudyOptions(Source, Workers, Drawn):
    kind: str
    matrix: str
    baseline: str | None
    runs: tuple[int, ...] | None
    shift: float | None
    shift_by: float | None
    shifted: tuple[int, ...] | None
    speedup: float | None
    alternative: str | None
    alpha: tuple[float, ...] | None
    mean: str | None
    unit: str
    without_replacement: bool
    simulations: int | None
    resamples: int
    seed: int


def numbers(text: str) -> tuple[int, ...]:
    """Read whole numbers between commas."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers") from None


def levels(text: str) -> tuple[float, ...]:
    """Read numbers between commas."""
    return tuple(number(part) for part in text.split(","))


# options of some kinds only: they have no default, so that one that is not taken is seen
_OF_SOME = {
    "shift": ("power",),
    "shift_by": ("power",),
    "shifted": ("power",),
    "speedup": ("draw",),
    "alternative": ("power", "type1", "draw"),
    "mean": ("coverage",),
    "plot": ("power", "type1", "draw"),
}


@command("study")
def study(*, args: _StudyOptions, json: bool, out: TextIO) -> int:
    """Simulate many comparisons by drawing both sides from the runs of MATRIX, and count.

    power: how often does each test find a shift of some benchmarks? type1: how often does it find a
    shift that is not there? coverage: how often do intervals contain the truth? draw: MATRIX is the
    candidate, and the other side is drawn from BASELINE: how often does each test tell the two apart,
    and where are the intervals?
    """
    for name, kinds in _OF_SOME.items():
        for option in args.given(name) if args.kind not in kinds else ():
            known = " and ".join(part for part in (", ".join(kinds[:-1]), kinds[-1]) if part)
            what = f"{option} is for 'study {known}'"
            raise UsageError(what, f"study {args.kind}", "leave it out")
    of_draws = args.kind == "draw"
    if of_draws and len(args.runs or ()) > 1:
        raise UsageError("a study of draws has one number of runs", fix="write --runs 5")
    if not of_draws and args.baseline is not None:
        what = f"'study {args.kind}' draws both sides from one matrix"
        raise UsageError(what, args.baseline, "leave it out, or write 'study draw'")
    if not of_draws and len(args.alpha or ()) > 1:
        raise UsageError(f"'study {args.kind}' has one level", fix="write --alpha 0.05")
    if args.shift is not None and args.shift_by is not None:
        what = "--shift and --shift-by are two ways to shift"
        raise UsageError(what, fix="leave one of them out")
    picture = args.picture()
    from ..importers.reader import read_one, read_sides

    with args.working() as workers:
        if of_draws:
            both = read_sides(args.matrix, args.baseline, args.reading())
            sides = [both.candidate, both.baseline]
        else:
            sides = [read_one(args.matrix, args.reading())]
        result = _made(sides, args, workers)
    if picture is not None:
        from ..plots.chart import write_picture

        title, words = str(result).split("\n", 1)
        write_picture(result.picture(), picture, title=title, alt=words)
    show(result, out, as_json=json, metric=metric_of(*sides))
    return 0


def _made(sides: list[PerformanceMatrix], args: _StudyOptions, workers: int | None) -> Any:  # noqa: ANN401
    from ..plan.draw import draw_study
    from ..plan.error_rates import coverage_study, power_study, type1_study
    from ..stats.arguments import stream

    given = args.some("simulations", "mean", "alternative", "speedup", "resamples", "seed", "runs")
    given |= {"alphas": args.alpha} if args.kind == "draw" else {}
    shared: dict[str, Any] = {
        **{name: value for name, value in given.items() if value is not None},
        "draws": args.unit,
        "replace": not args.without_replacement,
        "rng": stream(args.seed, "study", args.kind),
        "workers": workers,
        "progress": lambda done, total: doing("simulating", done, total, "comparisons"),
    }
    if args.kind == "draw":
        shared |= {} if args.runs is None else {"runs": args.runs[0]}
        return draw_study(*sides, **shared)
    (population,) = sides
    alpha = 0.05 if args.alpha is None else args.alpha[0]
    if args.kind == "coverage":
        return coverage_study(population, confidence=1 - alpha, **shared)
    if args.kind == "type1":
        return type1_study(population, alpha=alpha, **shared)
    shift = 1 + (1.0 if args.shift is None else args.shift) / 100
    how = args.some("shift_by", "shifted")
    return power_study(population, shift=shift, alpha=alpha, **how, **shared)


# --- The subcommand ``calibrate``.


class _CalibrateOptions(Metric):
    confidence: float
    power: float
    seed: int


@command("calibrate")
def calibrate(
    *,
    trial: str,
    pair: str | None,
    methods: str | None,
    asked: _CalibrateOptions,
    dir: str | None,
    no_certificate: bool,
    workers: Workers,
    json: bool,
    out: TextIO,
    err: TextIO,
) -> int:
    """Find out how often each method finds a difference where there is none.

    TRIAL has two variants that execute the same program. Their labels are swapped in whole sessions,
    and each answer that names a winner is a false alarm. The result is kept as a certificate, which
    later verdicts on this machine cite.
    """
    from ..importers.reader import open_trial
    from ..plan.calibration import calibrate_trial
    from ..plan.certificate import write_certificate
    from ..record.fleet import is_fleet
    from ..record.trial_files import CERTIFICATES
    from ..stats.arguments import stream

    path = Path(trial)
    opened = open_trial(path)
    with workers.working() as count:
        certificate = calibrate_trial(
            opened,
            pair=_pair(pair),
            methods=None if methods is None else methods.split(","),
            **asked.some("metric", "confidence", "power", "seed"),
            rng=stream(asked.seed, "calibrate"),
            workers=count,
        )
    if is_fleet(path) and dir is None:
        err.write("no certificate is kept: one is for the sessions of one machine\n")
    elif not no_certificate:
        folder = path.resolve().parent / CERTIFICATES if dir is None else Path(dir)
        err.write(f"certificate kept as {write_certificate(certificate, folder)}\n")
    show(certificate, out, as_json=json)
    return 0


def _pair(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    first, _, second = text.partition(",")
    if not (first and second) or "," in second:
        fix = "write them with a comma: --pair A,B"
        raise UsageError(f"--pair names two variants, not {text!r}", fix=fix)
    return first, second
