"""The sessions that a search asks for, each one session of an ordinary trial; what is stored is not measured again."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import FairtrialError, StoreError
from analysis.record.trial_files import MEASUREMENTS, LooksPlan

from ..launch.interrupts import Interrupted
from ..trial.execution import Options
from .adding import add_session, whole_sessions
from .built import Built, NotBuilt
from .commit_campaign import campaign_of
from .journal import Journal, MeasuredSession

if TYPE_CHECKING:
    from analysis.history.search_events import Phase

    from ..campaign.model import Campaign
    from ..trial.preparation import Watcher
    from .commits import Commit, CommitRange
    from .recipe import Recipe
    from .workshop import Workshop

CAMPAIGNS = "campaigns"  # the folder of the campaigns that were made for the trials


class EndNotBuiltError(FairtrialError):
    """GOOD or BAD does not build."""

    exit_code = 4

    def __init__(self, place: int, built: NotBuilt) -> None:
        super().__init__(
            f"{built.commit.short} does not build: {built.why}",
            str(built.log),
            "name another commit, or mend the build; its output is in that file",
        )
        self.place = place


class CappedError(FairtrialError):
    """A session could not be measured to its end."""

    exit_code = 6


def trial_of(phase: Phase, places: tuple[int, ...], commits: tuple[Commit, ...]) -> str:
    """Name the trial of a session: its folder below that of the bisection."""
    if phase.kind == "step0":
        return "step0"
    if phase.kind == "proof":
        return f"proof-{phase.number}"
    (probe,) = set(places) - {phase.lower, phase.upper}
    whole = (phase.lower, phase.upper) == (0, len(commits) - 1)
    inside = "" if whole else f"-in-{phase.lower:04d}-{phase.upper:04d}"
    return f"search/{commits[probe].name}{inside}"


@dataclass(slots=True, kw_only=True)
class Sessions:
    """Gives `find_steps` what it asks for: which commits build, what they build to, and their sessions.

    It hears of the phases as a watcher does, before their sessions. `options` are those of every trial. Of
    the stored sessions none is measured again: they come first, in their order.
    """

    journal: Journal
    commits: CommitRange
    recipe: Recipe
    workshop: Workshop
    options: Options
    watcher: Watcher
    on_build: Callable[[Commit], object] = lambda _: None
    on_built: Callable[[Built | NotBuilt], object] = lambda _: None
    built: dict[int, Built | NotBuilt] = field(default_factory=dict)
    _phase: Phase | None = None
    _next: int = 0
    _campaigns: dict[str, Campaign] = field(default_factory=dict)

    def phase(self, phase: Phase) -> None:
        """Hear what the next sessions are for."""
        self._phase = phase

    @property
    def replaying(self) -> bool:
        """Whether the next session is a stored one."""
        return self._next < len(self.journal.sessions)

    def builds(self, place: int) -> bool:
        """Tell whether a commit builds; it is built if that is not known yet.

        Raises
        ------
        EndNotBuiltError
            If it is GOOD or BAD, and does not.
        """
        if place not in self.built:
            commit = self.commits.commits[place]
            self.on_build(commit)
            end = place in (0, self.commits.last)  # of these a failure may have been the host's
            self.built[place] = self.workshop.build(commit, again=end)
            self.on_built(self.built[place])
        found = self.built[place]
        if isinstance(found, NotBuilt) and place in (0, self.commits.last):
            raise EndNotBuiltError(place, found)
        return isinstance(found, Built)

    def program(self, place: int) -> str:
        """Name what a commit builds to: two of one name are one program."""
        return self._built(place).identity

    def measure(self, places: tuple[int, ...]) -> Mapping[int, float | list[float]]:
        """Give the log values of one session with these commits: a stored one, else one that is measured now."""
        assert self._phase is not None, "a search tells its phase before the first session"
        name = trial_of(self._phase, places, self.commits.commits)
        number = self._next
        if number < len(self.journal.sessions):
            stored = self.journal.sessions[number]
            if (stored.trial, stored.places) != (name, places):
                raise StoreError(
                    f"session {number + 1} stands in {stored.trial} with the places "
                    f"{_listed(stored.places)}, and the search now asks for {name} with {_listed(places)}",
                    str(self.journal.folder),
                    "programs or stored values are not those of then: begin a new bisection, or go on with the "
                    "version that began this one",
                )
        else:
            stored = self._measured(name, places)
            self.journal.append(stored)
        self._next += 1
        return self._values(stored)

    def _measured(self, name: str, places: tuple[int, ...]) -> MeasuredSession:
        listed = sum(one.trial == name for one in self.journal.sessions)
        trial = self.journal.folder / name
        found = MeasuredSession(trial=name, session=listed + 1, places=places)
        if whole_sessions(trial) > listed:
            return found  # a kill came between its last run and the list
        options = Options(
            folder=trial.parent,
            name=trial.name,
            strict=self.options.strict,
            share=self.options.share,
            wait_s=self.options.wait_s,
            built=True,
        )
        ending = add_session(self._campaign(name, places), options, self.watcher, self._looks())
        if ending.status == "interrupted":
            raise Interrupted(_signal(ending.reason))
        if ending.status != "complete":
            what = f"a session was not measured to its end: {ending.reason or ending.status}"
            fix = "take the cap out of the campaign, or raise it, and begin anew"
            raise CappedError(what, str(trial), fix)
        return found

    def _looks(self) -> LooksPlan | None:
        """Give the plan by which step 0 and the proofs are judged; a search trial has none."""
        phase, asked = self._phase, self.journal.asked
        if phase is None or phase.level is None:
            return None
        return LooksPlan(rule="planned", looks=asked.looks, risk=phase.level, margin=asked.margin)

    def _campaign(self, name: str, places: tuple[int, ...]) -> Campaign:
        if name not in self._campaigns:
            assert self._phase is not None
            folder = self.journal.folder / CAMPAIGNS
            folder.mkdir(exist_ok=True)
            built = [self._built(place) for place in places]
            self._campaigns[name] = campaign_of(
                self.recipe,
                built,
                folder / f"{name.replace('/', '-')}.yaml",
                baseline=self._built(self._phase.lower),
                trial=name,
            )
        return self._campaigns[name]

    def _built(self, place: int) -> Built:
        found = self.built[place]
        assert isinstance(found, Built), "a search measures only what builds"
        return found

    # ---- what is stored

    def _values(self, stored: MeasuredSession) -> dict[int, float | list[float]]:
        from analysis.history.session_value import session_values

        asked = self.journal.asked
        trial = self.trial(stored.trial)
        found = session_values(trial, stored.session, asked.metric, asked.benchmarks)
        return {place: found[self.commits.commits[place].name] for place in stored.places}

    def trial(self, name: str) -> Any:  # noqa: ANN401 - what analysis.history reads
        """Read one of the bisection's trials."""
        path = self.journal.folder / name
        return _read(path, (path / MEASUREMENTS).stat().st_size)

    @property
    def trials(self) -> tuple[str, ...]:
        """The names of the trials that have a listed session, in the order of their first one."""
        return tuple(dict.fromkeys(one.trial for one in self.journal.sessions))


@functools.lru_cache(maxsize=4)
def _read(path: Path, size: int) -> Any:  # noqa: ANN401 - as above
    """Read a trial once for as long as no row was added."""
    from analysis.history.session_value import stored_trial

    del size
    return stored_trial(path)


def _listed(places: tuple[int, ...]) -> str:
    return ", ".join(map(str, places))


def _signal(reason: str | None) -> int:
    """Give the number in the reason of an interrupted trial, ``signal 2``."""
    return int((reason or "signal 2").rpartition(" ")[2])
