"""A bisection from its question to its answer: the search of `find_steps`, on commits that are built and measured here."""

from __future__ import annotations

import hashlib
import itertools
import math
import shlex
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from analysis.errors import UsageError
from analysis.record.run_numbers import BUILTIN_METRICS, METRIC_NUMBERS, MetricInfo
from analysis.record.trial_files import MANIFEST

from ..campaign.defaults import own_defaults
from ..campaign.metric_checks import with_quantiles
from ..campaign.resolve import load_campaign
from ..launch.matching import Interrupts
from ..trial.execution import Options
from ..trial.writer import new_trial_name
from .commits import CommitRange, commits_between
from .journal import Asked, Journal, read_state
from .measuring import EndNotBuiltError, Sessions
from .recipe import Recipe, recipe_of
from .workshop import Built, NotBuilt, Workshop

if TYPE_CHECKING:
    from analysis.history.bisection import Bisection
    from analysis.history.bisection_filling import Heard, Surroundings
    from analysis.history.posterior import Posterior
    from analysis.history.step_search import PairWord, Phase, StepSearch
    from analysis.record.manifest import WarmupIterations

    from ..campaign.model import Campaign
    from ..trial.preparation import Watcher
    from .commits import Commit

CAMPAIGN_FILE = Path("campaign.yaml")
MARGIN, RISK, LOOKS = 0.01, 0.05, (6, 12, 24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the command line asks; None where it does not say: then the default, or what was asked before.

    `folder` holds the bisections; `resume` is the one to go on with.
    """

    good: str | None = None
    bad: str | None = None
    campaign: Path | None = None
    benchmarks: tuple[str, ...] = ()
    metric: str | None = None
    margin: float | None = None
    risk: float | None = None
    looks: tuple[int, ...] | None = None
    sessions_max: int | None = None
    folder: Path = Path("runs")
    work_dir: Path | None = None
    variant: str | None = None
    every: bool = False
    resume: Path | None = None
    strict: bool = False
    share: bool = False
    wait_s: float = math.inf
    warmup_iterations: WarmupIterations | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request with everything found that it names: the commits, the campaign, and how commits are measured."""

    asked: Asked
    campaign: Campaign
    commits: CommitRange
    recipe: Recipe
    info: MetricInfo

    @property
    def notes(self) -> tuple[str, ...]:
        """What somebody may take otherwise."""
        return (*self.commits.notes, *self.recipe.notes)


class Listener(Protocol):
    """Follows a bisection: what a search tells, and the builds between its sessions."""

    def begins(self, question: Question, folder: Path) -> None:
        """Hear what is asked, and where it is stored."""

    def building(self, commit: Commit) -> None:
        """Hear that a commit is about to be built, or looked for among those that were."""

    def built(self, found: Built | NotBuilt) -> None:
        """Hear what came of it."""

    def say(self, text: str) -> None:
        """Hear of something in words."""

    def phase(self, phase: Phase) -> None:
        """Hear what the next sessions are for."""

    def session(
        self, places: tuple[int, ...], values: Mapping[int, float], posterior: Posterior | None
    ) -> None:
        """Hear what a session gave."""

    def word(self, phase: Phase, word: PairWord) -> None:
        """Hear what a look says."""

    def skipped(self, place: int) -> None:
        """Hear that a place cannot be measured."""


def question_of(request: Request) -> Question:
    """Find what a request names; nothing is built or written.

    Raises
    ------
    UsageError
        If commits, campaign, benchmarks or metric are none, or another question was asked of the bisection that is
        to go on.
    """
    then = None
    if request.resume is not None:
        then = read_state(request.resume).asked
    good = request.good or (then.good if then else None)
    bad = request.bad or (then.bad if then else None)
    if not good or not bad:
        what = "GOOD and BAD are missing" if not good else "BAD is missing"
        ends = (good or "").split("..")  # as git writes a range
        two = ends if len(ends) == 2 and all(ends) else [good or "GOOD", "BAD"]
        raise UsageError(what, good or None, shlex.join(["fairtrial", "bisect", *two]))
    file = request.campaign or (Path(then.campaign) if then else CAMPAIGN_FILE)
    campaign = load_campaign(file, own=own_defaults())
    if then is not None and request.good is None:
        good, bad = then.good_sha, then.bad_sha  # a branch may have moved on
    every = request.every or bool(then and then.every)
    commits = commits_between(file.absolute().parent, good, bad, every=every)
    benchmarks = request.benchmarks or (then.benchmarks if then else campaign.benchmarks)
    variant = request.variant or (then.variant if then else None)
    recipe = recipe_of(campaign, commits, variant=variant, benchmarks=benchmarks)
    first = next(iter(campaign.judge), "wall")
    metric = request.metric or (then.metric if then else first)
    work = None if request.work_dir is None else str(request.work_dir.absolute())
    asked = Asked(
        good=then.good if then and request.good is None else good,
        bad=then.bad if then and request.bad is None else bad,
        good_sha=commits.commits[0].sha,
        bad_sha=commits.commits[-1].sha,
        root=str(commits.root),
        campaign=str(campaign.source),
        campaign_sha256=hashlib.sha256(campaign.text).hexdigest(),
        variant=variant,
        benchmarks=tuple(benchmarks),
        metric=metric,
        margin=_chosen(request.margin, then and then.margin, MARGIN),
        risk=_chosen(request.risk, then and then.risk, RISK),
        looks=_chosen(request.looks, then and then.looks, LOOKS),
        work_dir=work or (then.work_dir if then else None),
        sessions_max=_chosen(request.sessions_max, then and then.sessions_max, None),
        every=every,
        warmup_iterations=_chosen(request.warmup_iterations, then and then.warmup_iterations, None),
    )
    if asked.warmup_iterations is not None and not _is_timed_inside(campaign, metric):
        what = f"{metric} has one value a run, and no iterations"
        raise UsageError(what, "--warmup-iterations", "leave it out, or name another --metric")
    if asked.sessions_max is not None and asked.sessions_max < asked.looks[0]:
        what = f"{asked.sessions_max} sessions end before the first look, which is after {asked.looks[0]}"
        raise UsageError(what, "--sessions-max", f"--sessions-max {asked.looks[0]} or more")
    if then is not None:
        assert request.resume is not None
        then.refuse_another(asked, request.resume)
    return Question(
        asked=asked,
        campaign=campaign,
        commits=commits,
        recipe=recipe,
        info=_metric(campaign, metric),
    )


def _chosen(asked: Any, then: Any, usual: Any) -> Any:  # noqa: ANN401 - any option
    return asked if asked is not None else then if then is not None else usual


def _is_timed_inside(campaign: Campaign, name: str) -> bool:
    """Tell whether the runs print values of a metric, which may be several."""
    return any(
        rule.name == name and rule.when == "run" for cell in campaign.cells for rule in cell.metrics
    )


def _metric(campaign: Campaign, name: str) -> MetricInfo:
    """Give unit and direction of a metric that the runs of a campaign have."""
    for cell in campaign.cells:
        for metric, rule in with_quantiles(cell.metrics):
            if metric == name:
                return MetricInfo(unit=rule.unit, better=rule.better)
    if name in METRIC_NUMBERS:
        return BUILTIN_METRICS[name]
    if campaign.counters is not None or campaign.energy:
        return MetricInfo(unit="", better="lower")  # the first session says what this host counts
    declared = (known for cell in campaign.cells for known, _ in with_quantiles(cell.metrics))
    known = ", ".join(dict.fromkeys([*declared, *METRIC_NUMBERS]))
    raise UsageError(f"the runs have no metric {name!r}", str(campaign.source), f"known: {known}")


def bisect(question: Question, request: Request, listener: Listener, watcher: Watcher) -> Bisection:
    """Carry a bisection out, or go on with it.

    Raises
    ------
    Interrupted
        If a signal came: everything that was measured is kept, and the clone is removed.
    FairtrialError
        If the host does not allow it, a disk is full, or GOOD or BAD fails in every run.
    """
    with Interrupts() as interrupts, _journal(question, request) as journal:
        listener.begins(question, journal.folder)
        asked = journal.asked
        with Workshop(
            question.commits,
            question.recipe,
            interrupts,
            folder=None if asked.work_dir is None else Path(asked.work_dir),
            bisection=str(journal.folder.absolute()),
            say=listener.say,
        ) as workshop:
            under_way = UnderWay(question, journal, listener)
            sessions = Sessions(
                journal=journal,
                commits=question.commits,
                recipe=question.recipe,
                workshop=workshop,
                options=Options(
                    folder=journal.folder,
                    strict=request.strict,
                    share=request.share,
                    wait_s=request.wait_s,
                ),
                watcher=watcher,
                on_build=_before_build(interrupts, listener),
                on_built=listener.built,
            )
            found = under_way.carried_out(sessions, interrupts)
            for note in workshop.notes:
                listener.say(f"note  {note}")
            return found


def _before_build(interrupts: Interrupts, listener: Listener) -> Any:  # noqa: ANN401 - a function of a commit
    def tell(commit: Commit) -> None:
        interrupts.check()
        listener.building(commit)

    return tell


def _journal(question: Question, request: Request) -> Journal:
    if request.resume is None:
        name = new_trial_name(f"bisect-{question.campaign.name}")
        return Journal.begin(request.folder / name, question.asked, share=request.share)
    journal = Journal.reopen(request.resume)
    journal.asked = question.asked  # more sessions may be allowed now
    return journal


class UnderWay:
    """One bisection while it is carried out: the search's watcher, and what is stored after each session."""

    def __init__(self, question: Question, journal: Journal, listener: Listener) -> None:
        from analysis.history.bisection_filling import Heard

        self._question, self._journal, self._listener = question, journal, listener
        self._heard: Heard = Heard()
        self._began = time.monotonic()
        self._before_s = read_state(journal.folder).seconds or 0.0
        self._sessions: Sessions | None = None
        self._cut_places: set[int] = set()

    def carried_out(self, sessions: Sessions, interrupts: Interrupts) -> Bisection:
        """Search, store what was found, and give it."""
        from analysis.history.step_search import watched_steps

        self._sessions = sessions
        asked = self._journal.asked
        if not self._journal.sessions:
            self._journal.store(self._told(None).to_dict())

        def measure(places: tuple[int, ...]) -> Mapping[int, float | list[float]]:
            interrupts.check()
            return sessions.measure(places)

        try:
            search = watched_steps(
                measure,
                self._question.commits.last,
                watcher=self,
                builds=sessions.builds,
                programs=sessions.program,
                looks=asked.looks,
                risk=asked.risk,
                margin=asked.margin,
                sessions_max=asked.sessions_max,
                unit=self._question.info.unit,
                cut=self._cut,
            )
        except EndNotBuiltError:
            found = self._told(None)
        else:
            found = self._told(search)
        self._journal.store(found.to_dict())
        return found

    # ---- what the search tells

    def phase(self, phase: Phase) -> None:
        """Tell it those who need it before the phase's sessions."""
        for one in self._watchers():
            one.phase(phase)

    def session(
        self, places: tuple[int, ...], values: Mapping[int, float], posterior: Posterior | None
    ) -> None:
        """Tell it, and store what is known so far."""
        for one in self._watchers()[1:]:
            one.session(places, values, posterior)
        assert self._sessions is not None
        if not self._sessions.replaying:
            self._journal.store(self._told(None).to_dict())

    def word(self, phase: Phase, word: PairWord) -> None:
        """Tell it."""
        for one in self._watchers()[1:]:
            one.word(phase, word)

    def skipped(self, place: int) -> None:
        """Tell it."""
        for one in self._watchers()[1:]:
            one.skipped(place)

    def _watchers(self) -> tuple[Any, ...]:
        return (self._sessions, self._heard, self._listener)

    # ---- what is known so far

    def _told(self, search: StepSearch | None) -> Bisection:
        from analysis.history.bisection_filling import bisection_of

        return bisection_of(
            search, self._question.commits.commits, self._about(search), self._heard
        )

    def _about(self, search: StepSearch | None) -> Surroundings:
        from analysis.history.bisection_filling import Surroundings, fails_more

        sessions, question, asked = self._sessions, self._question, self._journal.asked
        assert sessions is not None
        folder = self._journal.folder
        built = sessions.built
        ended = search is not None
        counts = self._counts() if ended else {}
        return Surroundings(
            good=asked.good,
            bad=asked.bad,
            metric=asked.metric,
            unit=question.info.unit,
            better=question.info.better,
            benchmarks=asked.benchmarks,
            path=str(folder),
            host=self._host(),
            campaign=question.campaign.name,
            campaign_path=asked.campaign,
            margin=asked.margin,
            risk=asked.risk,
            looks=asked.looks,
            skipped={
                place: found.why for place, found in built.items() if isinstance(found, NotBuilt)
            },
            fails_more=fails_more(counts, question.commits.last),
            unsteady=self._unsteady() if ended else (),
            cut=tuple(sorted(self._cut_places)),
            same_program=same_programs(built, self._heard.measured),
            one_program=search is not None
            and search.answer == "no-difference"
            and not search.sessions,
            other_metrics=self._other_metrics() if ended else (),
            proofs={
                int(name.rpartition("-")[2]): str(folder / name)
                for name in sessions.trials
                if name.startswith("proof-")
            },
            runs=sum(made for _, made in counts.values()),
            seconds=self._before_s + time.monotonic() - self._began,
        )

    def _host(self) -> str | None:
        from analysis.record.manifest import read_manifest

        for name in self._sessions.trials if self._sessions else ():
            if (self._journal.folder / name / MANIFEST).exists():
                return read_manifest(self._journal.folder / name).host
        return None

    def _counts(self) -> dict[int, tuple[int, int]]:
        """Count failed runs and all runs of each place, over all trials."""
        from analysis.history.session_value import runs_of_variants

        sessions = self._sessions
        assert sessions is not None
        places = {one.name: one.place for one in self._question.commits.commits}
        counts: dict[int, tuple[int, int]] = {}
        for name in sessions.trials:
            found = runs_of_variants(sessions.trial(name), self._journal.asked.benchmarks)
            for variant, (failed, made) in found.items():
                before = counts.get(places[variant], (0, 0))
                counts[places[variant]] = (before[0] + failed, before[1] + made)
        return counts

    def _cut(self, earlier: int, later: int) -> Any:  # noqa: ANN401 - what analysis.history counts
        """Count the runs of two places that their time limit ended, over all trials."""
        from analysis.history.session_value import cut_in

        sessions, asked = self._sessions, self._journal.asked
        assert sessions is not None
        names = [self._question.commits.commits[place].name for place in (later, earlier)]
        trials = map(sessions.trial, sessions.trials)
        found = cut_in(trials, names[0], names[1], asked.metric, asked.benchmarks)
        if found is not None:
            self._cut_places |= {later} if found.candidate else set()
            self._cut_places |= {earlier} if found.baseline else set()
        return found

    def _unsteady(self) -> tuple[int, ...]:
        """Give the places of which too many runs reach no steady state, in one of the trials."""
        from analysis.history.bisection_filling import unsteady_variants

        sessions, asked = self._sessions, self._journal.asked
        assert sessions is not None
        places = {one.name: one.place for one in self._question.commits.commits}
        found: set[str] = set()
        for name in sessions.trials:
            found |= unsteady_variants(sessions.trial(name), asked.metric, asked.benchmarks)
        return tuple(sorted(places[one] for one in found))

    def _other_metrics(self) -> tuple[Any, ...]:
        """Judge the other metrics on the sessions of step 0."""
        from analysis.history.session_value import words_of_metrics

        sessions, asked = self._sessions, self._journal.asked
        if sessions is None or "step0" not in sessions.trials:
            return ()
        commits = self._question.commits.commits
        return words_of_metrics(
            sessions.trial("step0"),
            commits[-1].name,
            baseline=commits[0].name,
            without=asked.metric,
            risk=asked.risk / len(asked.looks),
            margin=asked.margin,
            benchmarks=asked.benchmarks,
        )


def same_programs(
    built: Mapping[int, Built | NotBuilt], measured: Collection[int]
) -> tuple[int, ...]:
    """Give the places that were not measured because they build to the program right before.

    Only places that do not build may lie between the two.
    """
    there = [(place, one) for place, one in sorted(built.items()) if isinstance(one, Built)]
    return tuple(
        place
        for (older, before), (place, one) in itertools.pairwise(there)
        if before.identity == one.identity
        and place not in measured
        and all(between in built for between in range(older + 1, place))
    )
