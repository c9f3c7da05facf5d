"""A comparison at one sitting: its sessions are planned when they begin, and one looks between them.

A session is a new launcher and a few runs of each command, nothing else: the host is looked at, and the
programs are hashed, once a sitting. Its looks stand in the manifest (`looks_plan`), so that a sitting on
another day goes on in the same list.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from analysis.errors import StoreError, UsageError
from analysis.record.bisections import bisection_of_trial
from analysis.record.looks import LOOKS, OPEN_LOOKS
from analysis.record.manifest import read_manifest
from analysis.record.trial_files import CAMPAIGN, OUTPUTS, LooksPlan, Manifest

from ..campaign.load import load_campaign
from .ending import way_on_of
from .execution import Options, opened_new, readied
from .locks import is_written_now, written_by_another
from .preparation import Watcher
from .progress import trials_in
from .resume import AS_BEGUN, defaults_of, reopened
from .run_files import kept_bytes
from .sitting_run import SittingRun, Values

if TYPE_CHECKING:
    from ..campaign.model import Campaign
    from .context import TrialContext
    from .ending import Ending

SESSION_S = 0.1  # so long each command runs in a session, the slowest at least
MOST_RUNS = 20  # of a command in a session
SHORT_S = 1.0  # a session that takes less is one of at least six
LEAST_SESSIONS, LEAST_LONG_SESSIONS = 6, 3
CAP_S = 20.0  # of measuring, for two commands
OPEN_CAP_S = 300.0  # who gives more time than this gets the list of looks that is open
NAME = "compare"  # of the campaign of a comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class SittingPlan:
    """How a comparison is measured: its looks, `runs` of each command in a session, and when it ends.

    It ends when `cap_s` seconds of measuring are over, but not before `least_sessions`, nor behind
    `most_sessions`. `noted` says where numbers that were asked for were rounded, in words. `threads`
    holds how many threads a command had when it was tried, by variant, where it was more than one.
    """

    looks_plan: LooksPlan
    runs: int
    cap_s: float
    least_sessions: int = LEAST_SESSIONS
    most_sessions: int | None = None
    noted: tuple[str, ...] = ()
    threads: Mapping[str, int] = field(default_factory=dict)


def plan_sitting(
    seconds: Sequence[float],
    *,
    runs: int | None = None,
    sessions: int | None = None,
    least_runs: int | None = None,
    most_runs: int | None = None,
    for_s: float | None = None,
    open_list: bool = False,
    margin: float = 0.01,
    threads: Mapping[str, int] | None = None,
) -> SittingPlan:
    """Plan a sitting for commands that took so many seconds when they were tried.

    Parameters
    ----------
    seconds : sequence of float
        Of one run of each command, the baseline's first.
    runs : int, optional
        Of each command in all (``-r``): one look behind them, and no stopping. With `sessions` it
        counts the runs of each session.
    sessions : int, optional
        Their number: one look behind them.
    least_runs, most_runs : int, optional
        Of each command in all (``-m``, ``-M``).
    for_s : float, optional
        The cap, in seconds of measuring.
    open_list : bool
        Whether looks go on beyond 108 sessions.
    margin : float
        The largest difference that counts as none.

    Raises
    ------
    UsageError
        If options contradict each other.
    """
    commands = len(seconds)
    each = min(max(1, math.ceil(SESSION_S / max(*seconds, 1e-4))), MOST_RUNS)
    if most_runs is not None:
        each = min(each, max(1, most_runs // LEAST_SESSIONS))
    noted: tuple[str, ...] = ()
    number = None
    if runs is not None or sessions is not None:
        _refuse_a_cap(runs, for_s, least_runs, most_runs, open_list=open_list)
        each, number = runs or each, sessions
        if number is None:
            number = min(each, LEAST_SESSIONS)
            each = math.ceil(each / number)
            if each * number != runs:
                noted = (
                    f"--runs {runs}: measured as {number} sessions of {each}, {each * number} runs",
                )
    if least_runs is not None and most_runs is not None and least_runs > most_runs:
        what = f"at least {least_runs} runs are more than at most {most_runs}"
        raise UsageError(what, "-m, -M", "give -m a number up to that of -M")
    listed = OPEN_LOOKS if open_list or (for_s or 0.0) > OPEN_CAP_S else LOOKS
    least, most = least_and_most(sum(seconds) * each, each, least_runs, most_runs)
    return SittingPlan(
        looks_plan=LooksPlan(
            rule="repeated" if number is None else "planned",
            looks=listed if number is None else (number,),
            candidates=max(1, commands - 1),
            open=number is None and listed is OPEN_LOOKS,
            margin=margin,
        ),
        runs=each,
        cap_s=math.inf if number is not None else for_s or CAP_S * commands / 2,
        least_sessions=least if number is None else number,
        most_sessions=most if number is None else number,
        noted=noted,
        threads=threads or {},
    )


def least_and_most(
    session_s: float, each: int, least_runs: int | None, most_runs: int | None
) -> tuple[int, int | None]:
    """Give the fewest and the most sessions, where one of `each` runs a command takes `session_s`."""
    least = LEAST_SESSIONS if session_s < SHORT_S else LEAST_LONG_SESSIONS
    least = max(least, math.ceil((least_runs or 0) / each))
    most = None if most_runs is None else max(1, most_runs // each)
    return (least if most is None else min(least, most)), most


def _refuse_a_cap(
    runs: int | None,
    for_s: float | None,
    least_runs: int | None,
    most_runs: int | None,
    *,
    open_list: bool,
) -> None:
    """Refuse what says when to stop beside a number of runs or sessions, which is measured whole."""
    asked = {
        "--for": for_s is not None,
        "-m": least_runs is not None,
        "-M": most_runs is not None,
        "--open": open_list,
    }
    if any(asked.values()):
        named = "--sessions" if runs is None else "--runs"
        given = ", ".join(name for name, there in asked.items() if there)
        what = f"{named} says how much is measured, so {given} has nothing to say"
        raise UsageError(what, None, f"leave out {named}, or {given}")


class SittingWatcher(Watcher, Protocol):
    """Follows a sitting as a trial is followed, and hears of its looks."""

    def looked(self, look: Any, runs: int, elapsed_s: float) -> None:  # noqa: ANN401 - until looks land
        """Hear what a look found, after `runs` measured runs and so many seconds of measuring."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SittingEnding:
    """How a sitting ended: the trial's `ending`, its looks as they are stored now, and the last look.

    `sessions` counts the trial's whole sessions, of all its sittings; `measured_s` are the seconds of
    measuring of this one. `look` is None where there was none.
    """

    ending: Ending
    looks_plan: LooksPlan
    look: Any
    sessions: int
    measured_s: float


def measure(
    campaign: Campaign, sitting: SittingPlan, options: Options, watcher: SittingWatcher
) -> SittingEnding:
    """Measure a new comparison; `campaign` has one benchmark, and `sitting.runs` runs a session."""
    plan = sitting.looks_plan
    with readied(campaign, options, plan.looks[-1], watcher) as context:
        ended = opened_new(context, options, 1, plan)
        return _sat(context, sitting, options, watcher, ended)


def _sat(
    context: TrialContext,
    sitting: SittingPlan,
    options: Options,
    watcher: SittingWatcher,
    ended: Ending | None,
) -> SittingEnding:
    if ended is not None:
        return SittingEnding(
            ending=ended,
            looks_plan=sitting.looks_plan,
            look=None,
            sessions=0,
            measured_s=0.0,
        )
    run = SittingRun(context, sitting, watcher, options.after_session)
    manifest = context.store.manifest
    watcher.begin(manifest.needed, context.store.rows.counted, manifest.sessions)
    ending = run.execute()
    return SittingEnding(
        ending=ending,
        looks_plan=run.plan,
        look=run.look,
        sessions=run.whole,
        measured_s=run.measured_s,
    )


def comparison_to_resume(folder: Path, named: Path | None) -> Path:
    """Give the comparison to go on with: the one that was named, else the newest in the folder.

    Raises
    ------
    StoreError
        If its looks are over, or it planned one look only; the fix says what to do.
    UsageError
        If there is none.
    """
    path = named
    if path is None:
        found = [one for one in trials_in(folder, NAME).found if one[1].looks_plan is not None]
        if not found:
            what = "there is no comparison to go on with"
            fix = "name its folder (--resume TRIAL), or leave out --resume to measure a new one"
            raise UsageError(what, str(folder), fix)
        path = found[0][0]
    _goes_on(path, read_manifest(path))
    return path


def _goes_on(path: Path, manifest: Manifest) -> LooksPlan:
    """Refuse what is no comparison, or has had all its looks; give the plan of the looks."""
    plan = manifest.looks_plan
    if plan is None or bisection_of_trial(path) is not None:
        what = "this trial was not measured by 'fairtrial compare'"
        raise StoreError(what, str(path), way_on_of(manifest, path))
    if manifest.origin != "measured":
        what = f"this trial is {manifest.origin}: nothing can be measured into it"
        raise StoreError(what, str(path), "measure a new comparison")
    if is_written_now(path):
        raise written_by_another(path)
    anew = "measure anew, without --resume"
    if plan.rule == "planned":
        raise StoreError(
            "its number of runs was chosen beforehand (-r, or --sessions), and one look at the end "
            "spent its whole risk of 5 %: more runs would not keep it",
            str(path),
            f"{anew} and without -r, which goes on until the answer is certain",
        )
    if manifest.sessions >= plan.looks[-1] and manifest.status == "complete":
        raise StoreError(
            f"no more looks: it was looked at after {plan.looks[-1]} sessions, the last of its list",
            str(path),
            f"{anew}; with --open the list has 1,024",
        )
    return plan


def resume_sitting(
    trial: Path,
    options: Options,
    watcher: SittingWatcher,
    *,
    for_s: float | None = None,
    least_runs: int | None = None,
    most_runs: int | None = None,
) -> SittingEnding:
    """Go on with a comparison in its list of looks, with a new cap; drift is refused as by ``run``."""
    manifest = read_manifest(trial)
    plan = _goes_on(trial, manifest)
    defaults, own = defaults_of(trial, manifest)
    campaign = load_campaign(trial / CAMPAIGN, seed=manifest.seed, defaults=defaults, own=own)
    options = replace(options, folder=trial.parent, name=trial.name)
    kept = kept_bytes(trial / OUTPUTS)
    with readied(campaign, options, plan.looks[-1], watcher, kept) as context:
        ended = reopened(context, trial, manifest, options)
        store = context.store
        each = manifest.runs
        least, most = least_and_most(Values.of_trial(trial).seconds(), each, least_runs, most_runs)
        sitting = SittingPlan(
            looks_plan=plan,
            runs=each,
            cap_s=for_s or CAP_S * len(campaign.variants) / 2,
            least_sessions=least,
            most_sessions=most,
        )
        if ended is None:
            store.update(**AS_BEGUN, looks_plan=replace(plan, stopped_because=None))
            watcher.opened(store.path, campaign, context.prepared)
        return _sat(context, sitting, options, watcher, ended)
