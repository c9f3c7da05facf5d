"""The subcommand ``why``: profiles are recorded, and explained."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from analysis.announcing import doing
from analysis.options import command
from analysis.words import shown

from ..errors import counted as number_of
from .live_view import PartView
from .options import Talk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.commands.why import Target
    from analysis.record.run_numbers import Measurement
    from analysis.record.trial_files import PlannedRun, SessionEnd

    from ..trial.recording import Chains

_TO_EXECUTE = ("sessions", "frequency", "chains")
_INTERRUPTED = 130


class _Asked(Talk):
    trial: str | None
    benchmark: list[str] | None
    sessions: int | None
    frequency: int | None
    chains: Chains | None
    rename: list[tuple[str, str]] | None
    folded: str | None
    any: bool
    require: bool
    stored: bool
    wait_for_lock: float
    format: str


def rename(text: str) -> tuple[str, str]:
    """Read two names of a function."""
    old, equals, new = text.partition("=")
    if not (old and equals and new) or "=" in new:
        raise argparse.ArgumentTypeError(f"must be OLD=NEW, two names of functions, not {text!r}")
    return old, new


def _check(args: _Asked) -> None:
    """Refuse options that do not go together, before anything is executed."""
    from analysis.errors import UsageError

    if args.stored:
        for option in args.given(*_TO_EXECUTE):
            what = f"{option} is for programs that are executed, and --stored executes none"
            raise UsageError(what, None, f"leave --stored out, or {option}")
    if args.folded is not None:
        from analysis.commands.options import check_file

        check_file(Path(args.folded))


class WhyView(PartView):
    """Follows the runs of a small trial that nobody reads; what it tells of itself is said only if verbose."""

    def __init__(self, err: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
        super().__init__(err, quiet=quiet, verbose=verbose)
        self._runs = self._planned = 0

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

    def run_started(self, run: PlannedRun) -> None:  # noqa: ARG002 - likewise
        """Draw."""
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

    def session_ended(self, end: SessionEnd, total: int) -> None:
        """Nothing: sessions have no rule of their own."""

    def total_changed(self, total: int) -> None:
        """Hear that so many runs are the most."""
        self._planned = total

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
    from analysis.record.manifest import read_manifest

    from ..trial.execution import Options
    from ..trial.recording import SESSIONS, ProfileRequest, campaign_then, record_profile

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


@command("why", "json", "format")
def why(*, args: _Asked, out: TextIO, err: TextIO) -> int:
    """Execute two variants of a trial again under a profiler, and say which functions take longer.

    The answer has for each function how much longer it takes, with an interval over sessions. The trial
    is not changed; what is recorded lies beside it, in runs/TRIAL.why, and is part of no verdict. It
    needs Linux's perf.

    Examples
    --------
                                       the newest trial: all that its verdict calls slower
    runs/x:new --benchmark parse       one variant, one benchmark
    runs/x:new --stored                what was found last; executes nothing
    runs/x:new --stored --rename qsort_cmp=compare_keys
    """
    from analysis.commands.options import show
    from analysis.commands.why import (
        exit_code_of,
        explained,
        place_of,
        stored_profiles,
        targets_of,
        write_folded,
    )

    from ..launch.matching import Interrupted

    _check(args)
    folder, variant = place_of(args.trial)
    names = tuple(args.benchmark or ())
    if args.stored:
        profiles = stored_profiles(folder, variant)
    else:
        targets = targets_of(folder, variant, names)
        view = WhyView(err, quiet=args.quiet, verbose=args.verbose)
        try:
            profiles = recorded(
                targets,
                view,
                **args.some("sessions", "chains"),
                frequency_hz=args.frequency,
                wait_s=args.wait_for_lock,
            )
        except Interrupted:
            view.insist("stopped by you; nothing of it is kept, and the trial is as it was")
            return _INTERRUPTED
    answer = explained(profiles, names, renames=dict(args.rename or ()), any_total=args.any)
    show(answer, out, as_json=args.json, markdown=args.format == "md")
    if args.folded is not None:
        out.flush()
        write_folded(profiles, answer, args.folded)
        err.write(f"wrote {args.folded}\n")
    return exit_code_of(answer, require=args.require)
