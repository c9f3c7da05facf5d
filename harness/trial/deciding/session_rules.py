"""What decides which runs of a session are executed: failures in a row, the stopping rule, repeats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from analysis.record import Finding, GivenUp, Measurement, PlannedRun, SessionEnd

from ...campaign import Campaign
from ...store import Store
from ..order import SessionPlan
from .hopeless import Hopeless
from .repeating import (
    Repeats,
    repeats_left,
    repeats_of,
    said_of_repeats,
    still_to_do,
    stored_repeats,
)
from .session_stop import SessionStop, stored_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What the rules must know of the stored rows of a trial that is gone on with, by session."""

    runs: Mapping[int, list[Measurement]] = field(default_factory=dict)
    repeats: Mapping[int, Repeats] = field(default_factory=dict)
    said: frozenset[tuple[int | None, str]] = frozenset()  # session, and what a finding told

    @classmethod
    def of_trial(cls, store: Store, campaign: Campaign) -> Earlier:
        """Read it; nothing is read where no rule needs it."""
        if not store.done:
            return cls()
        ended = (end.session for end in store.manifest.session_ends)
        protocol = campaign.protocol
        return cls(
            runs={} if protocol.stop is None else stored_runs(store.path, ended),
            repeats=stored_repeats(store.path, campaign) if protocol.repeating else {},
            said=said_of_repeats(store.path) if protocol.repeating else frozenset(),
        )


class SessionRules:
    """Applies the rules of a campaign to one session, from the plan, the stored rows and each new one.

    Parameters
    ----------
    campaign : Campaign
        Whose rules they are.
    store : Store
        Says what is done.
    session : int
        The session's number, from 1.
    earlier : Earlier
        The stored rows.
    """

    def __init__(self, campaign: Campaign, store: Store, session: int, earlier: Earlier) -> None:
        protocol, manifest = campaign.protocol, store.manifest
        self.session = session
        self.runs = SessionPlan(campaign, manifest.seed, session, manifest.node)
        self._done = store.done
        self._said = earlier.said
        self._ended = any(end.session == session for end in manifest.session_ends)
        self._hopeless = Hopeless(
            protocol.give_up, self.runs, store.done, manifest.given_up, session
        )
        self._repeats = None
        if protocol.repeating:
            self._repeats = earlier.repeats.get(session) or Repeats(campaign)
        self._stop = None
        if protocol.stop is not None and not self._ended:
            self._stop = SessionStop(protocol.stop, campaign, session)
            for measurement in earlier.runs.get(session, ()):
                self._stop.add(measurement)
            for cell in self._hopeless.cells:
                self._stop.give_up(*cell)
        self._passed = self._pass_over_again()
        if self._passed and not self.is_left():
            for _ in self.due():  # no cell is left to execute: the rule looks at blocks without any
                pass

    @property
    def given_up_unrecorded(self) -> tuple[GivenUp, ...]:
        """The cells that the session goes on without, which a kill kept from being recorded."""
        return self._hopeless.unrecorded

    @property
    def unsaid(self) -> tuple[Finding, ...]:
        """What findings would say of the stored rows' repeats, which a kill kept from being recorded."""
        if self._repeats is None:
            return ()
        found = (*self._repeats.in_vain, *(() if self.is_left() else self.findings()))
        return tuple(one for one in found if (self.session, one.what) not in self._said)

    def end(self) -> SessionEnd | None:
        """Say why the session needs no more runs, by the stopping rule; None where it goes on.

        None also of one that has ended, which stays as it was recorded, and as long as runs of its last
        block are to be repeated.
        """
        found = None if self._stop is None else self._stop.end()
        return None if found is not None and self._repeats_left() else found

    def is_left(self) -> bool:
        """Tell whether any run of the session is to be executed."""
        if self._ended:
            return False
        left = (run for run in self.runs if run.position not in self._done)
        return not all(map(self._hopeless.without, left)) or self._repeats_left()

    def _pass_over_again(self) -> int:
        """Let the stopping rule count what the stored blocks went without; give the last of these blocks."""
        if self._stop is None or not self._done:
            return 0
        last = max((run.block for run in self.runs if run.position in self._done), default=0)
        for run in self.runs:
            passed = run.position not in self._done and self._hopeless.without(run)
            if passed and not run.warmup and run.block <= last:
                self._stop.pass_over()
        return last

    def _repeats_left(self) -> bool:
        rule, without = self._repeats, self._hopeless.without
        return rule is not None and repeats_left(self.runs, self._done, rule, without)

    def due(self) -> Iterator[PlannedRun]:
        """Give the runs to execute, one after the other, while `add` hears of each."""
        block = self._passed  # what stored blocks still lack is made in any case
        for run in still_to_do(self.runs, self._done, self._repeats, self._hopeless.without):
            if run.block > block:
                if self._stop is not None and self._stop.end() is not None:
                    return
                block = run.block
            if not self._hopeless.without(run):
                yield run
            elif self._stop is not None and run.block > self._passed:
                self._stop.pass_over()

    def add(self, run: PlannedRun, row: Measurement) -> tuple[GivenUp | None, Finding | None]:
        """Count what came of a run; say whether its cell is given up, and what is repeated in vain."""
        if self._stop is not None:
            self._stop.add(row)
        in_vain = None if self._repeats is None else self._repeats.add(row)
        if repeats_of(run) is not None:  # failures in a row are those of the plan
            return None, in_vain
        given_up = self._hopeless.add(run, row.outcome)
        if given_up is not None and self._stop is not None:
            self._stop.give_up(run.benchmark, run.variant)
        return given_up, in_vain

    def findings(self) -> tuple[Finding, ...]:
        """Say at the session's end what of it was not repeated because nobody could tell."""
        found = None if self._repeats is None else self._repeats.finding()
        return () if found is None else (found,)
