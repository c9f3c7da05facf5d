"""What a person watches while commits are searched: a page that grows downwards, and one line that is rewritten.

The page has a line for each look, probe and skipped commit. On a terminal the last line says what is being built or
measured.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from analysis.announcing import cells, cut, doing
from analysis.record.manifest import read_manifest
from analysis.words import WIDTH, note_lines, shown, shown_lines

from ..errors import clock, counted
from ..trial.execution import Options
from ..trial.profiles import ProfileRequest, campaign_then, record_profile
from .live_view import OneLineView, PartView

if TYPE_CHECKING:
    from analysis.commands.why import Target
    from analysis.history.bisection import Bisection
    from analysis.history.places import Posterior
    from analysis.history.step_search import PairWord, Phase
    from analysis.record.run_numbers import Measurement

    from ..bisect.bisecting import Question
    from ..bisect.commits import Commit
    from ..bisect.recipe import Built, NotBuilt

# --- What ``bisect --why`` adds: in which functions each proven culprit differs from its parent.


def why_of(found: Bisection, err: TextIO, *, quiet: bool, verbose: bool, wait_s: float) -> Any:  # noqa: ANN401 - a result, or None
    """Record and explain the profile of each culprit in the trial of its proof; None where there is no culprit.

    Raises FairtrialError if that is not possible here; what is kept of a commit may have been deleted; Interrupted if
    a signal came.
    """
    from analysis.commands.why import explained, targets_of

    targets = tuple(
        target
        for one in found.culprits
        if one.trial is not None
        for target in targets_of(
            Path(one.trial), one.commits[-1].variant, found.benchmarks, metric=found.metric
        )
    )
    if not targets:
        return None
    view = WhyView(err, quiet=quiet, verbose=verbose)
    return explained(recorded(targets, view, wait_s=wait_s))


_REDRAW_S = 0.2
_SURE = 0.95  # of the places that are left
_NAME = WIDTH - 29  # columns of a commit, before its three numbers


class BisectView(PartView, OneLineView):
    """Writes to `err` what a bisection and its trials tell; the answer is not written here.

    `folder`: Where it is stored, once that is known. `sessions`: Those so far.
    """

    def __init__(self, err: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
        super().__init__(err, quiet=quiet, verbose=verbose)
        self.folder: Path | None = None
        self.sessions = 0
        self._commits: Sequence[Commit] = ()
        self._metric = ("wall", "s", "lower")
        self._ends = ("GOOD", "BAD")
        self._looks = 1
        self._phase: Phase | None = None
        self._searched: tuple[int, int] | None = None  # the ends whose heading stands already
        self._told: set[int] = set()  # places whose failed build was said
        self._probed: dict[int, int] = {}
        self._doing = ""
        self._building = False
        self._since = time.monotonic()

    # ---- what the bisection tells

    def begins(self, question: Question, folder: Path) -> None:
        """Say what is searched, by what, and that builds execute what commits contain."""
        asked, commits = question.asked, question.commits
        self.folder = folder
        self._commits = commits.commits
        self._looks = len(asked.looks)
        self._metric = (asked.metric, question.info.unit, question.info.better)
        last = len(self._commits) - 1
        self._ends = (_name(asked.good, self._commits[0]), _name(asked.bad, self._commits[last]))
        measured = f"{asked.metric} of {question.campaign.name}"
        what = f"{counted(last, 'commit')}, {measured}, margin {100 * asked.margin:g} %"
        head = f"{self._ends[0]}..{self._ends[1]}: {what}"
        self._put(cut(head, WIDTH))
        self._put("builds execute what these commits contain, with your rights")
        self._put(f"stored in {folder}")
        for line in (line for note in question.notes for line in note_lines(note)):
            self._put(line)

    def building(self, commit: Commit) -> None:
        """Show which commit is being built."""
        self._begin(f"building {commit.place} {commit.short}")
        self._building = True

    def built(self, found: Built | NotBuilt) -> None:
        """Say of a commit that it does not build, and why."""
        self._doing, self._building = "", False
        self._clear()
        why = getattr(found, "why", None)
        if why is not None:
            self._told.add(found.commit.place)
            self._put(self._skipped_line(found.commit.place, str(why)))
            self._put(f"{'':8}{getattr(found, 'log', '')}".rstrip())

    def phase(self, phase: Phase) -> None:
        """Begin a part of the page, where the next sessions are for something else."""
        self._phase = phase
        if phase.kind == "search":
            ends = (phase.lower, phase.upper)
            if self._searched != ends:
                self._put("")
                behind = f" behind {self._short(phase.lower)} up to {self._short(phase.upper)}"
                head = f"search{behind * (ends != (0, len(self._commits) - 1))}"
                self._put(f"{head:{_NAME}}{'sessions':>9}{'slow already':>14}{'left':>6}")
                self._searched = ends
            return
        self._searched = None
        self._put("")
        if phase.kind == "step0":
            self._put("is there a difference?")
            return
        risk = f"risk {100 * (phase.level or 0.0) / self._looks:.2g} % a look"
        pair = f"{self._short(phase.upper)} against {self._short(phase.lower)}"
        self._put(f"proof {phase.number}, fresh sessions: {pair}, {risk}")

    def session(
        self, places: tuple[int, ...], values: Mapping[int, float], posterior: Posterior | None
    ) -> None:
        """Write the line of a probe."""
        del values
        self.sessions += 1
        self._doing = ""
        if posterior is None or self._phase is None:
            return
        inner = [one for one in places if posterior.lower < one < posterior.upper]
        for place in inner:
            self._probed[place] = self._probed.get(place, 0) + 1
            first, last, _ = posterior.shortest(_SURE)
            slow, left = posterior.slow_already(place), last - first + 1
            numbers = f"{self._probed[place]:>9}{slow:>14.2f}{left:>6}"
            about = f"{place:6d}  {self._short(place)}  {self._commits[place].subject}"
            text = cut(about, _NAME - 1)
            self._put(f"{text}{' ' * (_NAME - cells(text))}{numbers}")

    def word(self, phase: Phase, word: PairWord) -> None:
        """Say what a look at a pair says."""
        from analysis.history.bisection import word_text

        later = self._ends[1] if phase.kind == "step0" else self._short(phase.upper)
        found = word_text(word, later, *self._metric)
        self._put(cut(f"  {counted(word.sessions, 'session')}: {found}", WIDTH))

    def skipped(self, place: int) -> None:
        """Say of a commit that it is skipped, where its build has not said so."""
        if place not in self._told:
            self._told.add(place)
            self._put(self._skipped_line(place, "fails in every run"))

    def close(self) -> None:
        """Take the moving line away, and set what follows apart."""
        self._clear()
        self._doing = ""
        if self.sessions:
            self._put("")

    # ---- what the trial of a session tells

    def say(self, text: str) -> None:
        """Write a line, unless quiet; while a commit is built, on a terminal, in the line that is rewritten."""
        if self._building and self._moving and not self._verbose:
            self._doing = text
            self.tick()
        else:
            self._put(text)

    def _put(self, text: str) -> None:
        self._clear()
        super().say(shown_lines(text))

    def begin(self, total: int, done: int, sessions: int) -> None:  # noqa: ARG002 - a Watcher's
        """Begin to draw the runs of a session."""
        self._planned, self._runs = total - done, 0
        self._begin(f"session {self.sessions + 1}")

    def run_done(self, measurement: Measurement) -> None:
        """Count a run; say of one that failed why, if verbose."""
        self._runs += 1
        if measurement.outcome != "ok" and self._verbose:
            self._put(f"  {measurement.variant}: {measurement.detail or ''}")
        self.tick()

    def tick(self) -> None:
        """Draw the moving line anew where it is time."""
        now = time.monotonic()
        if self._moving and self._doing and now - self._drawn >= _REDRAW_S:
            self._drawn = now
            runs = f": {self._runs} of {self._planned} runs" if self._planned else ""
            text = f"  {self._doing}{runs}, {clock(now - self._since)}"
            self._paint(cut(text, min(WIDTH, shutil.get_terminal_size().columns - 1)))

    def end(self) -> None:
        """Take the moving line away."""
        self._clear()
        self._planned = 0

    # ---- parts

    def _begin(self, what: str) -> None:
        self._doing, self._since, self._drawn = what, time.monotonic(), 0.0
        self.tick()

    def _short(self, place: int) -> str:
        return self._commits[place].short

    def _skipped_line(self, place: int, why: str) -> str:
        text = f"{place:6d}  {self._short(place)}  skipped: {' '.join(why.split())}"
        return cut(text, WIDTH)


def _name(word: str, commit: Commit) -> str:
    return commit.short if word == commit.commit else cut(word, 24)


# --- How profiles are recorded for an answer, and what a person watches meanwhile: one line about all of it.


class WhyView(PartView):
    """Follows the runs of a small trial that nobody reads; what it tells of itself is said only if verbose."""

    def about(self, what: str) -> None:
        """Say what is executed now, unless quiet."""
        super().say(what)

    def say(self, text: str) -> None:
        """Say what the small trial tells of itself, if verbose."""
        if self._verbose:
            super().say(text)

    def begin(self, total: int, done: int, sessions: int) -> None:  # noqa: ARG002 - a Watcher's
        """Begin to count."""
        self._planned, self._runs = total, done
        self.tick()

    def run_done(self, measurement: Measurement) -> None:
        """Count a run, and say of the first one of a program that failed why."""
        if measurement.position >= 0:
            self._runs += 1
        if measurement.outcome != "ok":
            name = f"{measurement.benchmark} / {measurement.variant}"
            self._failures[name] += 1
            if self._failures[name] == 1:
                super().say(f"a run of {name} failed: {shown(measurement.detail or '')}")
        self.tick()

    def tick(self) -> None:
        """Draw the line anew where it is time."""
        doing("executing", self._runs, self._planned, "runs")

    def end(self) -> None:
        """Nothing: the line goes when the answer is written."""


def said_of(variant: str, baseline: str, benchmarks: tuple[str, ...], how: str) -> str:
    """Say what is executed: ``why: new against old on text: 6 sessions``."""
    where = benchmarks[0] if len(benchmarks) == 1 else f"{len(benchmarks)} benchmarks"
    return f"{variant} against {baseline} on {where}: {how} (Ctrl-C ends it)"


def recorded(
    targets: Sequence[Target],
    view: WhyView,
    *,
    wait_s: float = 0.0,
    **asked: Any,  # noqa: ANN401 - further fields of the request
) -> tuple[Path, ...]:
    """Record the profile of each target next to its trial, in the usual way by default; give their folders.

    Raises HostError if nothing can be recorded here, or host and programs are not those of the trial; Interrupted if
    a signal came.
    """
    places = []
    for target in targets:
        request = ProfileRequest(
            variant=target.variant,
            benchmarks=target.benchmarks,
            verdict_was=target.verdict_was,
            **asked,
        )
        manifest = read_manifest(target.trial)
        how = counted(request.sessions, "session")
        view.about(said_of(target.variant, manifest.baseline, target.benchmarks, how))
        options = Options(folder=target.trial.parent, wait_s=wait_s)
        campaign = campaign_then(target.trial, manifest)
        places.append(record_profile(campaign, target.trial, request, options, view))
    return tuple(places)
