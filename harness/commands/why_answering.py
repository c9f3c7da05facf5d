"""How profiles are recorded for an answer, and what a person watches meanwhile: one line about all of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.announcing import doing
from analysis.record.manifest import read_manifest
from analysis.words import shown

from ..errors import counted as number_of
from ..trial.execution import Options
from ..trial.profiles import SESSIONS, Chains, ProfileRequest, campaign_then, record_profile
from .live_view import PartView

if TYPE_CHECKING:
    from analysis.commands.why import Target
    from analysis.record.run_numbers import Measurement


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
            name = shown(f"{measurement.benchmark} / {measurement.variant}")
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
    where = shown(benchmarks[0]) if len(benchmarks) == 1 else f"{len(benchmarks)} benchmarks"
    return f"{shown(variant)} against {shown(baseline)} on {where}: {how} (Ctrl-C ends it)"


def recorded(
    targets: Sequence[Target],
    view: WhyView,
    *,
    sessions: int | None = None,
    frequency_hz: int | None = None,
    chains: Chains | None = None,
    wait_s: float = 0.0,
) -> tuple[Path, ...]:
    """Record the profile of each target beside its trial, in the usual way where nothing else is said; give their folders.

    Raises
    ------
    HostError
        If nothing can be recorded here, or host and programs are not those of the trial.
    Interrupted
        If a signal came.
    """
    sessions = sessions or SESSIONS
    places = []
    for target in targets:
        manifest = read_manifest(target.trial)
        how = number_of(sessions, "session")
        view.about(said_of(target.variant, manifest.baseline, target.benchmarks, how))
        asked = ProfileRequest(
            variant=target.variant,
            benchmarks=target.benchmarks,
            sessions=sessions,
            frequency_hz=frequency_hz,
            chains=chains,
            verdict_was=target.verdict_was,
        )
        options = Options(folder=target.trial.parent, wait_s=wait_s)
        campaign = campaign_then(target.trial, manifest)
        places.append(record_profile(campaign, target.trial, asked, options, view))
    return tuple(places)
