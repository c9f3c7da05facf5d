"""A bisection from its question to its answer: the search of `find_steps`, on commits that are built and measured here."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import math
import shlex
import time
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from analysis.errors import StoreError, UsageError
from analysis.record.run_numbers import BUILTIN_METRICS, METRIC_NUMBERS, MetricInfo
from analysis.record.trial_files import MANIFEST, Manifest
from analysis.words import WIDTH, next_lines, shown

from ..campaign.distributions import with_quantiles
from ..campaign.model import shown as with_placeholders
from ..campaign.resolve import load_campaign
from ..errors import about, counted, wrapped
from ..launch.matching import Interrupts
from ..trial.execution import Options
from ..trial.progress import read_progress, trials_in
from ..trial.writer import new_trial_name
from .commits import CommitRange, commits_between
from .journal import Asked, Journal, read_state
from .measuring import EndNotBuiltError, Sessions
from .recipe import Recipe, recipe_of
from .workshop import Built, NotBuilt, Workshop

if TYPE_CHECKING:
    from analysis.history.bisection import Bisection
    from analysis.history.bisection_filling import Heard
    from analysis.history.posterior import Posterior
    from analysis.history.step_search import PairWord, Phase, SearchWatcher, StepSearch
    from analysis.record.manifest import WarmupIterations

    from ..campaign.model import Campaign
    from ..trial.preparation import Watcher
    from .commits import Commit

    class Listener(SearchWatcher, Protocol):
        """Follows a bisection: what a search tells, and the builds between its sessions."""

        def say(self, text: str) -> None:
            """Hear of something in words."""

        def begins(self, question: Question, folder: Path) -> None:
            """Hear what is asked, and where it is stored."""

        def building(self, commit: Commit) -> None:
            """Hear that a commit is about to be built, or looked for among those that were."""

        def built(self, found: Built | NotBuilt) -> None:
            """Hear what came of it."""


CAMPAIGN_FILE = Path("campaign.yaml")


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


def question_of(request: Request) -> Question:
    """Find what a request names; nothing is built or written.

    Raises
    ------
    UsageError
        If commits, campaign, benchmarks or metric are none, or another question was asked of the bisection that is
        to go on.
    """
    then = None if request.resume is None else read_state(request.resume).asked

    def chosen(name: str, usual: Any = None) -> Any:  # noqa: ANN401 - any option
        now = getattr(request, name)
        before = None if then is None else getattr(then, name)
        return now if now not in (None, "", ()) else usual if before is None else before

    good, bad = chosen("good"), chosen("bad")
    if not good or not bad:
        what = "GOOD and BAD are missing" if not good else "BAD is missing"
        ends = (good or "").split("..")  # as git writes a range
        two = ends if len(ends) == 2 and all(ends) else [good or "GOOD", "BAD"]
        raise UsageError(what, good or None, shlex.join(["fairtrial", "bisect", *two]))
    campaign = load_campaign(Path(chosen("campaign", CAMPAIGN_FILE)))
    every = request.every or bool(then and then.every)
    # a branch may have moved on since then
    again = then is not None and request.good is None
    revisions = (then.good_sha, then.bad_sha) if then and again else (good, bad)
    commits = commits_between(campaign.source.parent, *revisions, every=every)
    benchmarks = chosen("benchmarks", campaign.benchmarks)
    variant, metric = chosen("variant"), chosen("metric", next(iter(campaign.judge), "wall"))
    recipe = recipe_of(campaign, commits, variant=variant, benchmarks=benchmarks)
    work = chosen("work_dir")
    asked = Asked(
        good=then.good if then and again else good,
        bad=then.bad if then and again else bad,
        good_sha=commits.commits[0].commit,
        bad_sha=commits.commits[-1].commit,
        root=str(commits.root),
        campaign=str(campaign.source),
        campaign_sha256=hashlib.sha256(campaign.text).hexdigest(),
        variant=variant,
        benchmarks=tuple(benchmarks),
        metric=metric,
        margin=chosen("margin", 0.01),
        risk=chosen("risk", 0.05),
        looks=chosen("looks", (6, 12, 24)),
        work_dir=None if work is None else str(Path(work).absolute()),
        sessions_max=chosen("sessions_max"),
        every=every,
        warmup_iterations=chosen("warmup_iterations"),
    )
    inside = any(
        one.name == metric and one.when == "run" for cell in campaign.cells for one in cell.metrics
    )
    if asked.warmup_iterations is not None and not inside:
        what = f"{metric} has one value a run, and no iterations"
        raise UsageError(what, "--warmup-iterations", "leave it out, or name another --metric")
    if asked.sessions_max is not None and asked.sessions_max < asked.looks[0]:
        what = f"{asked.sessions_max} sessions end before the first look, which is after {asked.looks[0]}"
        raise UsageError(what, "--sessions-max", f"--sessions-max {asked.looks[0]} or more")
    if then is not None and request.resume is not None:
        then.refuse_another(asked, request.resume)
    return Question(
        asked=asked,
        campaign=campaign,
        commits=commits,
        recipe=recipe,
        info=_metric(campaign, metric),
    )


def _metric(campaign: Campaign, name: str) -> MetricInfo:
    cells = reversed(campaign.cells)  # the first one that has it says what it is
    rules = {k: rule for cell in cells for k, rule in with_quantiles(cell.metrics)}
    if name in rules:
        return MetricInfo(unit=rules[name].unit, better=rules[name].better)
    if name in METRIC_NUMBERS:
        return BUILTIN_METRICS[name]
    if campaign.counters is not None or campaign.energy:
        return MetricInfo(unit="", better="lower")  # the first session says what this host counts
    known = ", ".join(dict.fromkeys([*rules, *METRIC_NUMBERS]))
    raise UsageError(f"the runs have no metric {name!r}", str(campaign.source), f"known: {known}")


# --- What a bisection is expected to take, before anything is done.


BOTH_ENDS = 12  # sessions of step 0 and of the proof, six each, where a step is large
PER_HALVING = (1.0, 2.2)  # sessions of search, measured: large steps, and 2 % steps at 2 % noise
_BUILDS = 3  # beside one a halving: both ends, and a parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a bisection is expected to take; None where nobody knows.

    `sessions` and `seconds` are (least, most) for a step that stands out; a small step takes up to
    `sessions_at_most`. `build` are the commands that each build executes; `run_s` is what one run takes, of all benchmarks
    together, by an earlier trial.
    """

    good: str
    bad: str
    first: str
    last: str
    commits: int
    campaign: str
    variant: str
    benchmarks: tuple[str, ...]
    metric: str
    runs: int
    builds: int
    sessions: tuple[int, int]
    sessions_at_most: int
    build: tuple[str, ...]
    run_s: float | None
    seconds: tuple[float, float] | None
    notes: tuple[str, ...]
    next: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return asdict(self)

    def __str__(self) -> str:
        """Write it for a person."""
        low, high = self.sessions
        ends = f"{shown(self.good)}..{shown(self.bad)}"
        lines = [
            f"a bisection of {ends} would take {low} to {high} sessions and about {counted(self.builds, 'build')}",
            "",
            f"commits  {counted(self.commits, 'commit')} behind {self.first}, up to {self.last}",
            f"measure  {self.metric} of {', '.join(map(shown, self.benchmarks))}, {self.runs} runs a commit and session",
            f"session  GOOD, one commit between and BAD; {low} to {high} of them where a step stands out "
            f"from the noise, up to {self.sessions_at_most} where it hardly does",
            f"build    {'; '.join(map(shown, self.build)) or 'nothing: the programs are files of the commits'}",
            "time     unknown: no earlier trial of this campaign says what a run takes; nor what a build takes",
        ]
        if self.seconds is not None:
            low_s, high_s = (about(one) for one in self.seconds)
            lines[-1] = (
                f"time     {low_s} to {high_s.removeprefix('about ')} of runs, by an earlier trial; "
                "what builds take is unknown"
            )
        texts = [part for line in lines for part in (wrapped(line, "", " " * 9, WIDTH) or [""])]
        texts.append("")
        for note in self.notes:
            texts += wrapped(f"note  {note}", "", " " * 6, WIDTH)
        texts += next_lines(tuple(shlex.split(self.next[0])), "nothing was executed")
        return "\n".join(texts)


def expected(question: Question, request: Request) -> Expected:
    """Compute what a bisection is expected to take; nothing is executed or written."""
    campaign, asked, commits = question.campaign, question.asked, question.commits
    halvings = math.log2(max(1, commits.last))
    low, high = (BOTH_ENDS + math.ceil(one * halvings) for one in PER_HALVING)
    most = 2 * max(asked.looks) + 10 * max(1, math.ceil(halvings))
    if asked.sessions_max is not None:
        low, high, most = (min(one, asked.sessions_max) for one in (low, high, most))
    recipe = question.recipe
    protocol = campaign.protocol
    run_s = _run_seconds(request.folder, campaign.name, recipe.variant, asked.benchmarks)
    seconds = None
    if run_s is not None:
        passes = protocol.runs + protocol.warmup
        session = 3 * passes * (run_s + protocol.cooldown_s * len(asked.benchmarks))
        seconds = (low * session, high * session)
    build = () if recipe.build is None else recipe.build.steps
    notes = ["builds execute what the commits contain, with your rights", *question.notes]
    return Expected(
        good=asked.good,
        bad=asked.bad,
        first=commits.commits[0].short,
        last=commits.commits[-1].short,
        commits=commits.last,
        campaign=campaign.name,
        variant=recipe.variant,
        benchmarks=asked.benchmarks,
        metric=asked.metric,
        runs=protocol.runs,
        builds=min(commits.last + 1, _BUILDS + math.ceil(halvings)),
        sessions=(low, high),
        sessions_at_most=most,
        build=tuple(with_placeholders(" ".join(step.argv)) for step in build),
        run_s=run_s,
        seconds=seconds,
        notes=tuple(notes),
        next=(shlex.join(_words(request, asked.good, asked.bad)),),
    )


def _words(request: Request, good: str, bad: str) -> list[str]:
    """Give the command line that carries it out: what was said, without ``--dry-run``."""
    if request.resume is not None:
        return ["fairtrial", "bisect", "--resume", str(request.resume)]
    options: dict[str, object] = {
        "--campaign": request.campaign,
        "--metric": request.metric,
        "--margin": request.margin,
        "--risk": request.risk,
        "--looks": None if request.looks is None else ",".join(map(str, request.looks)),
        "--sessions-max": request.sessions_max,
        "--dir": None if request.folder == Request().folder else request.folder,
        "--work-dir": request.work_dir,
        "--variant": request.variant,
        "--warmup-iterations": request.warmup_iterations,
    }
    words = ["fairtrial", "bisect", good, bad]
    for name in request.benchmarks:
        words += ["--benchmark", name]
    for option, value in options.items():
        words += [] if value is None else [option, str(value)]
    words += ["--all"] * request.every + ["--strict"] * request.strict + ["--share"] * request.share
    return words


def _run_seconds(
    folder: Path, campaign: str, variant: str, benchmarks: tuple[str, ...]
) -> float | None:
    """Look in the earlier trials of the campaign what one run of each benchmark takes, added up."""
    earlier: tuple[tuple[Path, Manifest], ...] = ()
    with contextlib.suppress(StoreError):
        earlier = trials_in(folder, campaign).found
    for path, _ in earlier:
        with contextlib.suppress(StoreError):
            known = read_progress(path).seconds
            found = [known.get(f"{name}/{variant}") for name in benchmarks]
            there = [one for one in found if one is not None]
            if len(there) == len(found):
                return math.fsum(there)
    return None


# --- It is carried out.


def bisect(question: Question, request: Request, listener: Listener, watcher: Watcher) -> Bisection:
    """Carry a bisection out, or go on with it.

    Raises
    ------
    Interrupted
        If a signal came: everything that was measured is kept, and the clone is removed.
    FairtrialError
        If the host does not allow it, a disk is full, or GOOD or BAD fails in every run.
    """
    from analysis.history.bisection_filling import Heard

    work = question.asked.work_dir
    with Interrupts() as interrupts, _journal(question, request) as journal:
        before_s = read_state(journal.folder).seconds or 0.0
        listener.begins(question, journal.folder)
        with Workshop(
            question.commits,
            question.recipe,
            interrupts,
            folder=None if work is None else Path(work),
            bisection=str(journal.folder.absolute()),
            say=listener.say,
        ) as workshop:
            found = _UnderWay(
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
                question=question,
                interrupts=interrupts,
                listener=listener,
                began=time.monotonic() - before_s,
                heard=Heard(),
            ).carried_out()
            for note in workshop.notes:
                listener.say(f"note  {note}")
            return found


def _journal(question: Question, request: Request) -> Journal:
    if request.resume is None:
        name = new_trial_name(f"bisect-{question.campaign.name}")
        return Journal.begin(request.folder / name, question.asked, share=request.share)
    journal = Journal.reopen(request.resume)
    journal.asked = question.asked  # more sessions may be allowed now
    return journal


@dataclass(kw_only=True)
class _UnderWay(Sessions):
    """The sessions of a bisection, and the search's watcher: after each session it stores what is known so far."""

    question: Question
    interrupts: Interrupts
    listener: Listener
    began: float
    heard: Heard
    cut_places: set[int] = field(default_factory=set)

    def carried_out(self) -> Bisection:
        from analysis.history.step_search import watched_steps

        asked = self.journal.asked
        if not self.journal.sessions:
            self._store(None)
        try:
            search = watched_steps(
                self.measure,
                self.commits.last,
                watcher=self,
                builds=self.builds,
                programs=self.program,
                looks=asked.looks,
                risk=asked.risk,
                margin=asked.margin,
                sessions_max=asked.sessions_max,
                unit=self.question.info.unit,
                cut=self._cut,
            )
        except EndNotBuiltError:
            return self._store(None)
        return self._store(search)

    def measure(self, places: tuple[int, ...]) -> Mapping[int, float | list[float]]:
        self.interrupts.check()
        return super().measure(places)

    def _build(self, commit: Commit, *, again: bool) -> Built | NotBuilt:
        self.interrupts.check()
        self.listener.building(commit)
        found = super()._build(commit, again=again)
        self.listener.built(found)
        return found

    # ---- what the search tells

    def phase(self, phase: Phase) -> None:
        super().phase(phase)
        self.heard.phase(phase)
        self.listener.phase(phase)

    def session(
        self, places: tuple[int, ...], values: Mapping[int, float], posterior: Posterior | None
    ) -> None:
        self.heard.session(places, values, posterior)
        self.listener.session(places, values, posterior)
        if not self.replaying:
            self._store(None)

    def word(self, phase: Phase, word: PairWord) -> None:
        self.heard.word(phase, word)
        self.listener.word(phase, word)

    def skipped(self, place: int) -> None:
        self.heard.skipped(place)
        self.listener.skipped(place)

    # ---- what is known so far

    def _store(self, search: StepSearch | None) -> Bisection:
        from analysis.history.bisection_filling import bisection_of, fails_more

        asked, built = self.journal.asked, self.built
        named = ("good", "bad", "metric", "benchmarks", "margin", "risk", "looks")
        counts = {} if search is None else self._counts()
        found = bisection_of(
            search,
            self.commits.commits,
            self.heard,
            **{name: getattr(asked, name) for name in named},
            unit=self.question.info.unit,
            better=self.question.info.better,
            path=str(self.journal.folder),
            host=self._host(),
            campaign=self.question.campaign.name,
            campaign_path=asked.campaign,
            skipped={place: one.why for place, one in built.items() if isinstance(one, NotBuilt)},
            fails_more=fails_more(counts, self.commits.last),
            unsteady=() if search is None else self._unsteady(),
            cut=sorted(self.cut_places),
            same_program=same_programs(built, self.heard.measured),
            one_program=search is not None
            and search.answer == "no-difference"
            and not search.sessions,
            other_metrics=() if search is None else self._other_metrics(),
            proofs={
                int(name.rpartition("-")[2]): str(self.journal.folder / name)
                for name in self.trials
                if name.startswith("proof-")
            },
            runs=sum(made for _, made in counts.values()),
            seconds=time.monotonic() - self.began,
        )
        self.journal.store(found.to_dict())
        return found

    def _host(self) -> str | None:
        from analysis.record.manifest import read_manifest

        trials = (self.journal.folder / name for name in self.trials)
        return next((read_manifest(one).host for one in trials if (one / MANIFEST).exists()), None)

    def _counts(self) -> dict[int, tuple[int, int]]:
        from analysis.history.session_value import runs_of_variants

        counts: dict[int, tuple[int, int]] = {}
        for name in self.trials:
            found = runs_of_variants(self.trial(name), self.journal.asked.benchmarks)
            for variant, (failed, made) in found.items():
                before = counts.get(_place(variant), (0, 0))
                counts[_place(variant)] = (before[0] + failed, before[1] + made)
        return counts

    def _cut(self, earlier: int, later: int) -> Any:  # noqa: ANN401 - what analysis.history counts
        """Count the runs of two places that their time limit ended, over all trials."""
        from analysis.history.session_value import cut_in

        asked, commits = self.journal.asked, self.commits.commits
        trials = map(self.trial, self.trials)
        sides = commits[later].variant, commits[earlier].variant
        found = cut_in(trials, *sides, asked.metric, asked.benchmarks)
        if found is not None:
            self.cut_places |= {later} if found.candidate else set()
            self.cut_places |= {earlier} if found.baseline else set()
        return found

    def _unsteady(self) -> list[int]:
        """Give the places of which too many runs reach no steady state, in one of the trials."""
        from analysis.history.bisection_filling import unsteady_variants

        asked = self.journal.asked
        trials = map(self.trial, self.trials)
        found = (unsteady_variants(one, asked.metric, asked.benchmarks) for one in trials)
        return sorted({_place(variant) for variants in found for variant in variants})

    def _other_metrics(self) -> tuple[Any, ...]:
        """Judge the other metrics on the sessions of step 0."""
        from analysis.history.session_value import words_of_metrics

        asked, commits = self.journal.asked, self.commits.commits
        if "step0" not in self.trials:
            return ()
        return words_of_metrics(
            self.trial("step0"),
            commits[-1].variant,
            baseline=commits[0].variant,
            without=asked.metric,
            risk=asked.risk / len(asked.looks),
            margin=asked.margin,
            benchmarks=asked.benchmarks,
        )


def _place(variant: str) -> int:
    return int(variant.partition("-")[0])


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
