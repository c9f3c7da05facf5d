"""What a person watches while commands are compared: one line, rewritten, and gone at the end.

Nothing here knows a number that the looks have not given.
"""

from __future__ import annotations

import math
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from analysis.words import apart, shorten, shown

from ..errors import counted
from .live_view import OneLineView

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.plan.compare_looks import CandidateLook, Look
    from analysis.record.run_numbers import Measurement
    from analysis.record.trial_files import Finding, PlannedRun, SessionEnd

    from ..campaign.model import Campaign
    from ..trial.preparation import Prepared
    from .options import WantedCommand

_REDRAW_S = 0.1
_PLAIN_S = 5.0  # until the first line elsewhere than on a terminal; the next at doubling times
_WIDTH = 79  # columns of the line at the most
_NAME = 20
_MARK = " · "


class CompareView(OneLineView):
    """Writes to `err`: what is tried, one line while it lasts, and what must be said."""

    def __init__(self, err: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
        super().__init__(err, quiet=quiet, verbose=verbose)
        self._names: dict[str, str] = {}
        self._tried = ""
        self._cap_s = math.inf
        self._runs = 0
        self._look: Look | None = None
        self._looked_s = 0.0
        self._began = time.monotonic()
        self._next_plain_s = _PLAIN_S
        self._on = self._started_runs = False
        self.exit_codes: Counter[tuple[str, int]] = Counter()

    def of(self, wanted: Sequence[WantedCommand], tried: str, cap_s: float) -> None:
        """Hear what is compared, what the tries told, and how long one measures at the most."""
        names = apart([one.name or one.command for one in wanted], _NAME)
        variants = (one.variant for one in wanted)
        self._names = {
            variant: shorten(name, _NAME) for variant, name in zip(variants, names, strict=True)
        }
        self._tried, self._cap_s = tried, cap_s

    # ---- what the runner tells

    def opened(self, trial: Path, campaign: Campaign, prepared: Prepared) -> None:
        """Say what the tries told and where commands are executed; all that was found only if verbose."""
        if self._verbose:
            super().opened(trial, campaign, prepared)
        if self._tried:
            cpus = prepared.cpus.targets
            where = f"CPU {', '.join(map(str, cpus))}" if cpus else "no CPU of their own"
            self.say(self._tried.replace("CPU", where, 1))

    def findings(self, findings: Iterable[Finding]) -> None:
        """Say what was found only if verbose: what changes an answer stands below it."""
        if self._verbose:
            super().findings(findings)

    def begin(self, total: int, done: int, sessions: int) -> None:  # noqa: ARG002 - a Watcher's
        """Begin to draw; time counts from the first run on."""
        self._began = self._drawn = time.monotonic()
        self._on, self._started_runs = True, False

    def run_started(self, run: PlannedRun) -> None:  # noqa: ARG002 - likewise
        """Take the time to draw."""
        if not self._started_runs:
            self._started_runs, self._began = True, time.monotonic()
        self.tick()

    def run_done(self, measurement: Measurement) -> None:
        """Count a run, and the exit code of one that counts."""
        if not measurement.warmup:
            self._runs += 1
            if measurement.outcome == "ok" and measurement.exit_code:
                self.exit_codes[measurement.variant, measurement.exit_code] += 1
        if measurement.outcome != "ok" and self._verbose:
            self.say(f"  {self._name(measurement.variant)}: {measurement.detail}")
        self.tick()

    def looked(self, look: Look, runs: int, elapsed_s: float) -> None:
        """Hear what a look found; it is shown until the next one."""
        self._look, self._runs, self._looked_s = look, runs, elapsed_s
        self.tick()

    def session_ended(self, end: SessionEnd, total: int) -> None:
        """Nothing: a sitting has looks instead."""

    def total_changed(self, total: int) -> None:
        """Nothing: how many runs are planned is not shown."""

    # ---- what is shown

    def tick(self) -> None:
        """Draw the line anew where it is time."""
        now = time.monotonic()
        passed = now - self._began
        if not self._on or self._quiet:
            return
        if self._moving and now - self._drawn >= _REDRAW_S:
            self._drawn = now
            self._paint(self.line(passed))
        elif not self._moving and passed >= self._next_plain_s:
            while self._next_plain_s <= passed:
                self._next_plain_s *= 2
            self.say(f"compare: {counted(self._runs, 'run')}, {passed:.0f} s, {self._so_far()}")

    def end(self) -> None:
        """Take the line away."""
        self._clear()
        self._on = False

    def line(self, passed: float) -> str:
        """Give the moving line: the interval never falls away, what stands on its right does."""
        width = min(_WIDTH, shutil.get_terminal_size().columns - 1)
        runs, spent = counted(self._runs, "run"), _seconds(passed)
        one = self._watched()
        if one is None:
            return f"measuring{', ' + runs if self._runs else ''}, {spent}"[:width]
        from analysis.commands.compared import look_text

        told = look_text(one)
        parts = [f"{self._name(one.variant)}: {told}", runs, spent, self._left(passed)]
        while len(parts) > 1 and len(_MARK.join(parts)) > width:
            parts.pop()
        text = _MARK.join(parts)
        return text if len(text) <= width else told[:width]

    def _watched(self) -> CandidateLook | None:
        """Give the widest undecided candidate, or the leader of several, or the only one."""
        look = self._look
        known = [] if look is None else [one for one in look.candidates if one.line is not None]
        if look is None or not known:
            return None
        open_ = [one for one in known if one.word == "undecided"]
        if open_:
            return max(open_, key=_width)
        return next((one for one in known if one.variant == look.leader), known[0])

    def _so_far(self) -> str:
        found = () if self._look is None else self._look.candidates
        if len(found) < 2:
            return f"{found[0].word} so far" if found else "measuring"
        return f"{sum(one.word == 'undecided' for one in found)} of {len(found)} undecided so far"

    def _left(self, passed: float) -> str:
        """Say when it ends: at the look that decides with a chance of 80 %, or at the cap."""
        look = self._look
        cap = "" if math.isinf(self._cap_s) else f"stops after {_seconds(self._cap_s, whole=True)}"
        if look is None or look.needed is None or not look.sessions or not self._looked_s:
            return cap
        rest = self._looked_s / look.sessions * look.needed - passed
        return cap if passed + rest > self._cap_s else f"decided in about {max(1, round(rest))} s"

    def _name(self, variant: str) -> str:
        return self._names.get(variant, shown(variant))


def _width(one: CandidateLook) -> float:
    line = one.line
    if line is None or line.low is None or line.high is None or line.low <= 0:
        return math.inf
    return line.high / line.low


def _seconds(seconds: float, *, whole: bool = False) -> str:
    if seconds >= 120:
        return f"{seconds / 60:.1f} min"
    return f"{seconds:.0f} s" if whole or seconds >= 10 else f"{seconds:.1f} s"
