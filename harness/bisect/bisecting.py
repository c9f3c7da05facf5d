"""A bisection from its question to its answer: the search of `find_steps`, on commits that are built and measured here."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import math
import re
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from analysis.announcing import about
from analysis.errors import AnalysisError, StoreError, UsageError
from analysis.record.manifest import is_here, read_manifest
from analysis.record.run_numbers import BUILTIN_METRICS, METRIC_NUMBERS, MetricInfo
from analysis.record.trial_files import MANIFEST, MEASUREMENTS, LooksPlan
from analysis.words import WIDTH, command_line, next_lines, shown

from ..campaign.distributions import with_quantiles
from ..campaign.model import Campaign, shown as with_placeholders
from ..campaign.resolve import load_campaign
from ..errors import DriftError, counted, wrapped
from ..launch.matching import Interrupted, Interrupts
from ..trial.execution import Options
from ..trial.progress import read_progress, trials_in
from ..trial.writer import new_trial_name
from .commits import Commit, CommitRange, commits_between
from .journal import Journal, MeasuredSession, Terms, add_session, read_state, whole_sessions
from .recipe import Built, NotBuilt, Recipe, campaign_of, recipe_of
from .workshop import Workshop

if TYPE_CHECKING:
    from analysis.history.bisection import Bisection, OtherMetric
    from analysis.history.step_search import Phase, SearchWatcher

    from ..trial.preparation import Watcher

    class View(SearchWatcher, Watcher, Protocol):
        """Follows a bisection: what a search and its trials tell, and the builds between its sessions."""

        def begins(self, question: Question, folder: Path) -> None:
            """Hear what is asked, and where it is stored."""

        def building(self, commit: Commit) -> None:
            """Hear that a commit is about to be built, or looked for among those that were."""

        def built(self, found: Built | NotBuilt) -> None:
            """Hear what came of it."""


_USUAL: Mapping[str, Any]
_USUAL = {
    "campaign": "campaign.yaml",
    "margin": 0.01,
    "risk": 0.05,
    "looks": (6, 12, 24),
    "every": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the command line asks.

    `terms`: What it says of `Terms`, by their names; of the others the default holds, or what was asked before.
    `folder` holds the bisections; `resume` is the one to go on with.
    """

    terms: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path("runs")
    resume: Path | None = None
    strict: bool = False
    share: bool = False
    wait_s: float = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request with everything found that it names: the commits, the campaign, and how commits are measured."""

    request: Request
    asked: Terms
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

    Raises UsageError if commits, campaign, benchmarks or metric are none, or another question was asked of the
    bisection that is to go on.
    """
    then = None if request.resume is None else read_state(request.resume).asked

    before = {} if then is None else {k: one for k, one in asdict(then).items() if one is not None}
    said = {**_USUAL, **before, **request.terms}
    good, bad = said.get("good"), said.get("bad")
    if not good or not bad:
        what = "GOOD and BAD are missing" if not good else "BAD is missing"
        ends = re.split(r"\.{2,3}", good or "")  # as git writes a range
        two = ends if len(ends) == 2 and all(ends) else [good or "GOOD", "BAD"]
        raise UsageError(what, good or None, command_line(("fairtrial", "bisect", *two)))
    if then is not None and "campaign" not in request.terms and not is_here(then.campaign):
        what = "the campaign of this bisection was moved or removed"
        fix = "put it back with its repository, or begin a new bisection without --resume"
        raise UsageError(what, then.campaign, fix)
    campaign = load_campaign(Path(said["campaign"]))
    # a branch may have moved on since then
    again = then is not None and "good" not in request.terms
    revisions = (said["good_sha"], said["bad_sha"]) if again else (good, bad)
    commits = commits_between(campaign.source.parent, *revisions, every=said["every"])
    said = {"benchmarks": campaign.benchmarks, "metric": next(iter(campaign.judge), "wall")} | said
    benchmarks, metric, work = said["benchmarks"], said["metric"], said.get("work_dir")
    recipe = recipe_of(campaign, commits, variant=said.get("variant"), benchmarks=benchmarks)
    found = {
        "good_sha": commits.commits[0].commit,
        "bad_sha": commits.commits[-1].commit,
        "root": str(commits.root),
        "campaign": str(campaign.source),
        "campaign_sha256": hashlib.sha256(campaign.text).hexdigest(),
        "work_dir": None if work is None else str(Path(work).absolute()),
    }
    asked = Terms(**{"variant": None, **said, **found})
    inside = {one.name for cell in campaign.cells for one in cell.metrics if one.when == "run"}
    if asked.warmup_iterations is not None and metric not in inside:
        what = f"{metric} has one value a run, and no iterations"
        raise UsageError(what, "--warmup-iterations", "leave it out, or name another --metric")
    if asked.sessions_max is not None and asked.sessions_max < asked.looks[0]:
        what = f"{asked.sessions_max} sessions end before the first look, which is after {asked.looks[0]}"
        raise UsageError(what, "--sessions-max", f"--sessions-max {asked.looks[0]} or more")
    if then is not None and request.resume is not None:
        then.refuse_another(asked, request.resume)
    return Question(
        request=request,
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
_BUILDS = 3  # more than one a halving: both ends, and a parent
_SAID = (  # options that a request may have, in the order in which they are written
    *("campaign", "metric", "margin", "risk", "looks", "sessions_max", "dir", "work_dir"),
    *("variant", "warmup_iterations", "all", "strict", "share"),
)


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
    words: tuple[str, ...]
    unlisted: ClassVar[frozenset[str]] = frozenset({"words"})  # by JSON
    derived: ClassVar[tuple[str, ...]] = ("next",)  # which it adds

    @property
    def next(self) -> list[str]:
        """The command that carries it out."""
        return [command_line(self.words)]

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        known = {name: value for name, value in asdict(self).items() if name != "words"}
        return known | {"next": self.next}

    def __str__(self) -> str:
        low, high = self.sessions
        builds = f" and about {counted(self.builds, 'build')}" if self.build else ""
        lines = [
            f"a bisection of {self.good}..{self.bad} would take {low} to {high} sessions{builds}",
            "",
            f"commits  {counted(self.commits, 'commit')} behind {self.first}, up to {self.last}",
            f"measure  {self.metric} of {', '.join(self.benchmarks)}, {self.runs} runs a commit and session",
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
        texts += next_lines(self.words, "nothing was executed")
        return "\n".join(texts)


def expected(question: Question) -> Expected:
    """Compute what a bisection is expected to take; nothing is executed or written."""
    request, campaign = question.request, question.campaign
    asked, commits = question.asked, question.commits
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
    build = recipe.build.steps if recipe.build else ()
    return Expected(
        **{name: getattr(asked, name) for name in ("good", "bad", "benchmarks", "metric")},
        first=commits.commits[0].short,
        last=commits.commits[-1].short,
        commits=commits.last,
        campaign=campaign.name,
        variant=recipe.variant,
        runs=protocol.runs,
        builds=min(commits.last + 1, _BUILDS + math.ceil(halvings)) if build else 0,
        sessions=(low, high),
        sessions_at_most=most,
        build=tuple(with_placeholders(" ".join(step.argv)) for step in build),
        run_s=run_s,
        seconds=seconds,
        notes=("builds execute what the commits contain, with your rights", *question.notes),
        words=tuple(_words(question)),
    )


def _words(question: Question) -> Iterator[str]:
    """Give the command line that carries it out: what was said, without ``--dry-run``."""
    request, terms = question.request, question.request.terms
    yield from ("fairtrial", "bisect")
    if request.resume is not None and "good" not in terms:
        yield from ("--resume", str(request.resume))
    else:
        yield from (question.asked.good, question.asked.bad)
        yield from (f"--resume={one}" for one in (request.resume,) if one is not None)
    for name in terms.get("benchmarks", ()):
        yield from ("--benchmark", name)
    folder = None if request.folder == Request().folder else request.folder
    own = {"dir": folder, "all": terms.get("every")}
    own |= {"strict": request.strict, "share": request.share}
    for name in _SAID:
        value = own.get(name, terms.get(name))
        if value is None or value is False:
            continue
        yield f"--{name.replace('_', '-')}"
        if value is not True:
            yield ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _run_seconds(
    folder: Path, campaign: str, variant: str, benchmarks: tuple[str, ...]
) -> float | None:
    """Look in the earlier trials of the campaign what one run of each benchmark takes, added up."""
    with contextlib.suppress(StoreError):
        for path, _ in trials_in(folder, campaign).found:
            with contextlib.suppress(StoreError, KeyError):
                known = read_progress(path).seconds
                return math.fsum(known[f"{name}/{variant}"] for name in benchmarks)
    return None


# --- It is carried out.


CAMPAIGNS = "campaigns"  # the folder of the campaigns that were made for the trials


class EndNotBuiltError(Exception):
    """GOOD or BAD does not build, which is an answer."""


def bisect(question: Question, view: View) -> Bisection:
    """Carry a bisection out, or go on with it.

    Raises Interrupted if a signal came: everything that was measured is kept, and the clone is removed;
    FairtrialError if the host does not allow it, a disk is full, or GOOD or BAD fails in every run.
    """
    request, asked = question.request, question.asked
    folder = request.resume or request.folder / new_trial_name(f"bisect-{question.campaign.name}")
    with Interrupts() as interrupts:
        workshop = Workshop(  # it refuses its folder before anything is written
            question.commits,
            question.recipe,
            interrupts,
            folder=None if asked.work_dir is None else Path(asked.work_dir),
            bisection=str(folder.absolute()),
            say=view.say,
        )
        begin = partial(Journal.begin, asked=asked, share=request.share)
        with (Journal.reopen if request.resume else begin)(folder) as journal:
            journal.asked = asked  # more sessions may be allowed now
            before_s = read_state(folder).seconds or 0.0
            view.begins(question, folder)
            with workshop:
                found = Sessions(
                    question=question,
                    journal=journal,
                    workshop=workshop,
                    view=view,
                    interrupts=interrupts,
                    began=time.monotonic() - before_s,
                ).carried_out()
                for note in workshop.notes:
                    view.say(f"note  {note}")
                return found


def trial_of(phase: Phase, places: tuple[int, ...], commits: tuple[Commit, ...]) -> str:
    """Name the trial of a session: its folder below that of the bisection."""
    if phase.kind == "step0":
        return "step0"
    if phase.kind == "proof":
        return f"proof-{phase.number}"
    (probe,) = set(places) - {phase.lower, phase.upper}
    whole = (phase.lower, phase.upper) == (0, len(commits) - 1)
    inside = "" if whole else f"-in-{phase.lower:04d}-{phase.upper:04d}"
    return f"search/{commits[probe].variant}{inside}"


@dataclass(kw_only=True)
class Sessions:
    """Gives a search what it asks for: which commits build, what they build to, and their sessions.

    Of the stored sessions none is measured again: they come first, in their order. After each new one what is known
    so far is stored.
    """

    question: Question
    journal: Journal
    workshop: Workshop
    view: View
    interrupts: Interrupts
    began: float = 0.0
    built: dict[int, Built | NotBuilt] = field(default_factory=dict)
    cut_places: set[int] = field(default_factory=set)
    _next: int = 0
    _campaigns: dict[str, Campaign] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from analysis.history.step_search import Search

        asked = self.journal.asked
        self.commits = self.question.commits.commits
        self.search = Search(
            self.measure,
            self.question.commits.last,
            watcher=self.view,
            after=self._after,
            builds=self.builds,
            programs=lambda place: self._built(place).identity,
            looks=asked.looks,
            risk=asked.risk,
            margin=asked.margin,
            sessions_max=asked.sessions_max,
            unit=self.question.info.unit,
            cut=self._cut,
        )

    def carried_out(self) -> Bisection:
        """Search, and give what was found."""
        if not self.journal.sessions:
            self._store()
        with contextlib.suppress(EndNotBuiltError):
            self.search.result()
        return self._store()

    def _after(self) -> None:
        if self._next >= len(self.journal.sessions):  # else the next session is a stored one
            self._store()

    def builds(self, place: int) -> bool:
        """Tell whether a commit builds; it is built if that is not known yet.

        Raises EndNotBuiltError if it is GOOD or BAD, and does not.
        """
        end = place in (0, len(self.commits) - 1)  # of these a failure may have been the host's
        if place not in self.built:
            self.interrupts.check()
            self.view.building(self.commits[place])
            self.built[place] = self.workshop.build(self.commits[place], again=end)
            self.view.built(self.built[place])
        found = self.built[place]
        if isinstance(found, NotBuilt) and end:
            raise EndNotBuiltError
        return isinstance(found, Built)

    def _built(self, place: int) -> Built:
        found = self.built[place]
        assert isinstance(found, Built), "a search measures only what builds"
        return found

    def measure(self, places: tuple[int, ...]) -> Mapping[int, float | list[float]]:
        """Give the log values of one session with these commits: a stored one, else one that is measured now."""
        self.interrupts.check()
        phase = self.search.phase
        assert phase is not None, "a search tells its phase before the first session"
        name = trial_of(phase, places, self.commits)
        if self._next < len(self.journal.sessions):
            stored = self.journal.sessions[self._next]
            if (stored.trial, stored.places) != (name, places):
                then, now = (", ".join(map(str, one)) for one in (stored.places, places))
                raise StoreError(
                    f"session {self._next + 1} stands in {stored.trial} with the places {then}, and the search now "
                    f"asks for {name} with {now}",
                    str(self.journal.folder),
                    "programs or stored values are not those of then: begin a new bisection, or go on with the "
                    "version that began this one",
                )
        else:
            stored = self._measured(name, places, phase)
            self.journal.append(stored)
        self._next += 1
        values = self._values(stored)
        for end in {0, self.question.commits.last} & {*places}:
            value = values[end]
            if self.search.failures.get(end) and isinstance(value, float) and math.isnan(value):
                what = f"{self.commits[end].short} fails in every run of two sessions in a row"
                fix = "its output lies there in 'outputs': name another commit, or mend what it needs, and begin anew"
                raise AnalysisError(what, str(self.journal.folder / name), fix)
        return values

    def _values(self, stored: MeasuredSession) -> dict[int, float | list[float]]:
        from analysis.history.places import session_values

        trial, asked = self.trial(stored.trial), self.journal.asked
        found = session_values(trial, stored.session, asked.metric, asked.benchmarks)
        return {place: found[self.commits[place].variant] for place in stored.places}

    def _measured(self, name: str, places: tuple[int, ...], phase: Phase) -> MeasuredSession:
        listed = sum(one.trial == name for one in self.journal.sessions)
        trial = self.journal.folder / name
        found = MeasuredSession(trial=name, session=listed + 1, places=places)
        if whole_sessions(trial) > listed:
            return found  # a kill came between its last run and the list
        request = self.question.request
        options = Options(
            folder=trial.parent,
            name=trial.name,
            built=True,
            strict=request.strict,
            share=request.share,
            wait_s=request.wait_s,
        )
        asked, level = self.journal.asked, phase.level
        plan = None  # a search trial has none
        if level is not None:
            plan = LooksPlan(rule="planned", looks=asked.looks, risk=level, margin=asked.margin)
        try:
            ending = add_session(self._campaign(name, places, phase), options, self.view, plan)
        except DriftError as error:  # a search takes no change, and its trials are parts of it
            about = (str(trial), error.drifts, self._again())
            raise DriftError(*about, complete=False, accepts=False) from None
        if ending.status == "interrupted":
            raise Interrupted(int((ending.reason or "signal 2").rpartition(" ")[2]))
        if ending.status != "complete":
            what = f"a session was not measured to its end: {ending.reason or ending.status}"
            fix = "take the cap out of the campaign, or raise it, and begin anew"
            raise AnalysisError(what, str(trial), fix)
        return found

    def _again(self) -> tuple[str, ...]:
        """Give the command that asks the same anew."""
        asked, folder = self.journal.asked, self.journal.folder.parent
        terms = {k: one for k, one in asdict(asked).items() if one not in (None, _USUAL.get(k))}
        if asked.benchmarks == self.question.campaign.benchmarks:
            del terms["benchmarks"]
        request = Request(terms=terms, folder=folder)
        return tuple(_words(replace(self.question, request=request)))

    def _campaign(self, name: str, places: tuple[int, ...], phase: Phase) -> Campaign:
        if name not in self._campaigns:
            folder = self.journal.folder / CAMPAIGNS
            folder.mkdir(exist_ok=True)
            self._campaigns[name] = campaign_of(
                self.question.recipe,
                [self._built(place) for place in places],
                folder / f"{name.replace('/', '-')}.yaml",
                baseline=self._built(phase.lower),
                trial=name,
            )
        return self._campaigns[name]

    def trial(self, name: str) -> Any:  # noqa: ANN401 - what analysis.history reads
        """Read one of the bisection's trials."""
        path = self.journal.folder / name
        return _read(path, (path / MEASUREMENTS).stat().st_size)

    def _store(self) -> Bisection:
        from analysis.history.bisection import bisection_of, words_of_metrics
        from analysis.history.places import fails_more, runs_of_variants, unsteady_variants

        asked, built, found = self.journal.asked, self.built, self.search.found
        folder, commits = self.journal.folder, self.commits
        names = [*dict.fromkeys(one.trial for one in self.journal.sessions)]
        counts: dict[int, tuple[int, int]] = {}
        unsteady: set[str] = set()
        others: tuple[OtherMetric, ...] = ()
        for trial in map(self.trial, names if found is not None else ()):
            unsteady |= unsteady_variants(trial, asked.metric, asked.benchmarks)
            for variant, (failed, made) in runs_of_variants(trial, asked.benchmarks).items():
                before = counts.get(_place(variant), (0, 0))
                counts[_place(variant)] = (before[0] + failed, before[1] + made)
        if found is not None and "step0" in names:
            others = words_of_metrics(
                self.trial("step0"),
                commits[-1].variant,
                baseline=commits[0].variant,
                without=asked.metric,
                risk=asked.risk / len(asked.looks),
                margin=asked.margin,
                benchmarks=asked.benchmarks,
            )
        proofs = [name for name in names if name.startswith("proof-")]
        manifests = (folder / name for name in names if (folder / name / MANIFEST).exists())
        bisection = bisection_of(
            self.search,
            commits,
            **{name: getattr(asked, name) for name in ("good", "bad", "benchmarks", "metric")},
            unit=self.question.info.unit,
            better=self.question.info.better,
            path=str(folder),
            host=next((read_manifest(one).host for one in manifests), None),
            campaign=self.question.campaign.name,
            campaign_path=asked.campaign,
            skipped={place: one.why for place, one in built.items() if isinstance(one, NotBuilt)},
            cut=sorted(self.cut_places),
            same_program=same_programs(built, {k for one in self.search.measured for k in one}),
            one_program=found is not None
            and found.answer == "no-difference"
            and not found.sessions,
            proofs={int(name.rpartition("-")[2]): str(folder / name) for name in proofs},
            runs=sum(made for _, made in counts.values()),
            seconds=time.monotonic() - self.began,
            unsteady=sorted(map(_place, unsteady)),
            fails_more=fails_more(counts, len(commits) - 1),
            other_metrics=others,
        )
        if self.question.recipe.build is None:
            bisection = replace(bisection, builds=0)
        self.journal.store(bisection.to_dict())
        return bisection

    def _cut(self, earlier: int, later: int) -> Any:  # noqa: ANN401 - what analysis.history counts
        """Count the runs of two places that their time limit ended, over all trials."""
        from analysis.history.places import cut_in

        asked = self.journal.asked
        trials = map(self.trial, dict.fromkeys(one.trial for one in self.journal.sessions))
        sides = self.commits[later].variant, self.commits[earlier].variant
        found = cut_in(trials, *sides, asked.metric, asked.benchmarks)
        if found is not None:
            self.cut_places |= {later} if found.candidate else set()
            self.cut_places |= {earlier} if found.baseline else set()
        return found


@lru_cache(maxsize=4)
def _read(path: Path, size: int) -> Any:  # noqa: ANN401 - what analysis.history reads
    """Read a trial once for as long as no row was added."""
    from analysis import read_trial

    del size
    return read_trial(path)


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
