"""What a person watches while a trial runs: one moving line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import bisect
import contextlib
import math
import os
import re
import shutil
import time
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from analysis.announcing import about, away, cells
from analysis.record.printer import printer_on
from analysis.record.run_numbers import Measurement
from analysis.record.trial_files import Finding, PlannedRun, SessionEnd
from analysis.words import WIDTH, Name, apart, shown

from ..errors import clock, counted, duration, size, took, wrapped
from ..host.checks import CHECK_NAMES
from ..trial.ending import runs_with_warmups

if TYPE_CHECKING:
    from pathlib import Path

    from rich.progress import BarColumn, Progress

    from analysis.plan.compare_looks import CandidateLook, Look

    from ..campaign.model import Campaign
    from ..trial.preparation import Prepared
    from .options import WantedCommand

_BAR_REDRAW_S, _LINE_REDRAW_S = 0.2, 0.1
_PLAIN_S = 30.0  # until the next line elsewhere than on a terminal
_NARROW = 80
_BAR, _NARROW_BAR = 26, 10
_CELL, _LEAST_NAME = 56, 8
_ROOM = 30  # columns that a name and its value should have next to the bar
_FAILURES_SHOWN = 2
_OF_THE_HOST = frozenset(CHECK_NAMES) - {"counters", "energy"}  # those a campaign asks for


class View:
    """Writes to `err`; `quiet` leaves only what must be said."""

    def __init__(self, err: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
        self._err = printer_on(err)
        self._quiet = quiet
        self._verbose = verbose
        self._bar: Progress | None = None
        self._strip: BarColumn | None = None
        self._walls: dict[tuple[str, str], array[float]] = defaultdict(lambda: array("d"))
        self._failures: Counter[str] = Counter()
        self._said: set[tuple[str, str]] = set()
        self._total = 0
        self._done = 0
        self._first = 0
        self._sessions = 1
        self._started = time.monotonic()
        self._opening: str | None = None
        self._disturbing: dict[str, Finding] = {}
        self._took_s: float | None = None
        self._drawn = 0.0
        self._now: PlannedRun | Measurement | None = None
        self._session = 1

    def say(self, text: str) -> None:
        """Write a line, unless quiet."""
        if not self._quiet:
            self.insist(text)

    def begin_with(self, text: str | None) -> None:
        """Say this first where a trial is opened."""
        self._opening = text

    def findings(self, findings: Iterable[Finding]) -> None:
        """Write the findings that need a person, with their remedy; each kind once.

        Those of the host are counted, and said one by one only if `verbose`; that what the campaign asks for
        cannot be had is always said.
        """
        for finding in findings:
            key = _key(finding)
            if finding.check in _OF_THE_HOST and not self._verbose:
                if finding.status in {"warn", "fail"} and key not in self._said:
                    self._disturbing[finding.check] = finding
                continue
            if finding.status in {"warn", "fail"} and key not in self._said:
                self._said.add(key)
                head = f"  {finding.status} {finding.check}: "
                for paragraph in (head + finding.what).split("\n"):
                    self.say("\n".join(wrapped(paragraph, "", " " * 7, WIDTH)))
                if finding.fix:
                    self.say(f"       fix: {finding.fix}")  # a command is never broken

    def opened(self, trial: Path, campaign: Campaign, prepared: Prepared) -> None:
        """Write the head: what is going to be executed, where, and on which host.

        What the checks found is counted; `verbose` says each.
        """
        if self._opening is not None:
            self.say("\n".join(wrapped(self._opening, "", " " * 4, WIDTH)))
        self.say(f"trial   {trial} ({size(prepared.free_bytes)} free)")
        for line in heading(campaign, prepared):
            self.say(line)
        self.findings(prepared.findings)
        self._disturbing.clear()
        self._said.update(map(_key, prepared.findings))
        self.say("")

    def begin(self, total: int, done: int, sessions: int) -> None:
        """Start the progress of `total` planned runs; `done` of them are there already."""
        self._total, self._done, self._first, self._sessions = total, done, done, sessions
        self._started = time.monotonic()
        self._drawn = self._started
        if self._err.isatty() and not self._quiet:
            away()
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            self._strip = BarColumn(bar_width=_NARROW_BAR)
            self._bar = Progress(
                TextColumn("{task.fields[session]}"),
                self._strip,
                TextColumn("{task.fields[text]}", markup=False),
                console=Console(file=self._err.beneath),
                auto_refresh=False,  # no thread: nothing may compete with the loop
                transient=True,
            )
            self._bar.add_task("", total=total, completed=done, session="", text="")
            self._bar.start()

    def run_started(self, run: PlannedRun) -> None:
        """Show which cell is being executed."""
        self._session = run.session
        self._now = run
        self.tick()

    def run_done(self, measurement: Measurement) -> None:
        """Count a run and show its value with the spread of its cell so far."""
        if measurement.position >= 0:
            self._done += 1
        self._now = measurement
        key = (measurement.benchmark, measurement.variant)
        if measurement.outcome != "ok":
            self._failed(measurement, f"{Name(' / '.join(key)):.36}")
        elif measurement.wall_ns is not None and not (measurement.warmup or measurement.counted):
            bisect.insort(self._walls[key], measurement.wall_ns / 1e9)
        if measurement.outcome == "ok" and self._verbose:
            waited = "  disturbed" if measurement.disturbed else ""
            self.say(f"  run {_which(measurement)}: {self._cell_text(_CELL)}{waited}")
        self.tick()

    def session_ended(self, end: SessionEnd, total: int) -> None:
        """Say why a session under a stopping rule ended; `total` runs are now the most."""
        self.total_changed(total)
        self.say(f"session {end.session}: {end.text}")

    def total_changed(self, total: int) -> None:
        """Show that `total` runs are now the most."""
        self._total = total
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], total=total)

    def _cell(self) -> tuple[str, str, str]:
        """Name what is being executed, or came out last; with its value, and the spread of its cell."""
        now = self._now
        if now is None:
            return "", "", ""
        name = f"{now.benchmark} / {now.variant}"
        if isinstance(now, PlannedRun):
            return name, " (warm-up)" if now.warmup else " (again)" if now.position < 0 else "", ""
        if now.outcome != "ok" or now.wall_ns is None:
            return name, f"  {now.outcome}", ""
        spread = "" if now.warmup else _spread(self._walls[now.benchmark, now.variant])
        return name, f"  {duration(now.wall_ns / 1e9)}", spread

    def _cell_text(self, room: int) -> str:
        """Say what is executed, or came out last: its value stays, and the spread goes first."""
        name, value, spread = self._cell()
        if cells(name) + len(value) + len(spread) > room:
            spread = ""
        left = room - len(value) - len(spread)
        if left < _LEAST_NAME:
            return value.strip() if len(value.strip()) <= room else ""
        cut = (f"{Name(name):.{width}}" for width in range(left, 0, -1))
        return f"{next(text for text in cut if cells(text) <= left)}{value}{spread}"

    def _failed(self, measurement: Measurement, label: str) -> None:
        self._failures[label] += 1
        if self._failures[label] <= _FAILURES_SHOWN or self._verbose:
            self.say(f"  run {_which(measurement)} of {label}: {measurement.detail}")
        if self._failures[label] == _FAILURES_SHOWN and not self._verbose:
            self.say(f"       further failures of {label} are counted")

    def tick(self) -> None:
        """Redraw when it is time."""
        now = time.monotonic()
        if self._bar is not None:
            if now - self._drawn >= _BAR_REDRAW_S:
                self._drawn = now
                assert self._strip is not None
                session, self._strip.bar_width, text = self._parts(self._bar.console.width)
                with contextlib.suppress(OSError):  # the terminal may be gone; the trial goes on
                    self._bar.update(
                        self._bar.task_ids[0],
                        completed=self._done,
                        session=session,
                        text=self._err.clean(text),
                    )
                    self._bar.refresh()
        elif self._total and now - self._drawn >= _PLAIN_S:
            self._drawn = now
            so_far = f"{self._done}/{self._total} runs, {self._times()}, "
            head = f"session {self._session} of {self._sessions}: {so_far}"
            self.say(head + self._cell_text(max(_CELL, WIDTH - len(head))))

    @property
    def took_s(self) -> float | None:
        """How long runs were executed, in seconds; None where none were."""
        return self._took_s

    @property
    def fresh(self) -> int:
        """How many planned runs were executed."""
        return self._done - self._first

    def end(self) -> None:
        """Take the progress line away."""
        if self._total:
            self._took_s = time.monotonic() - self._started
        self._count_disturbing()
        if self._bar is not None:
            with contextlib.suppress(OSError):
                self._bar.stop()
            self._bar = None
        self._total = 0

    def _count_disturbing(self) -> None:
        found, self._disturbing = self._disturbing, {}
        if found:
            text = f"{counts_of_checks(found.values())} while it ran ({', '.join(found)})"
            self.say("\n".join(wrapped(text, "checks  ", " " * 8, WIDTH)))

    def _parts(self, width: int) -> tuple[str, int, str]:
        """Give label, width of the bar and text; count and times go first where room is short."""
        text = f"{self._done}/{self._total}  {self._times()}"
        room = width - len(text) - 2  # one blank on either side of the bar
        if room < 1:
            text = text.replace("about ", "")
            room = width - len(text) - 2
        session = f"session {self._session} of {self._sessions}"
        if width < _NARROW or room < len(session) + _NARROW_BAR:
            session = ""
        room -= len(session)
        bar = max(1, min(room, max(_NARROW_BAR, min(_BAR, room - _ROOM - 3))))
        room -= bar + 3
        cell = self._cell_text(room)
        return session, bar, f"{text}   {cell}" if cell else text

    def _times(self) -> str:
        elapsed = time.monotonic() - self._started
        fresh = self._done - self._first
        if not fresh:
            return clock(elapsed)
        left = elapsed / fresh * (self._total - self._done)
        return f"{clock(elapsed)}, about {clock(left)} left"

    def insist(self, text: str) -> None:
        """Write a line, quiet or not."""
        with contextlib.suppress(OSError):  # after SIGHUP there may be nobody to read it
            if self._bar is not None:
                self._bar.console.print(
                    self._err.clean(text), markup=False, highlight=False, soft_wrap=True
                )
            else:
                self._err.write(text + "\n")
                self._err.flush()


class PartView(View):
    """Follows trials that are a part of something, and counts their runs; what they tell of themselves is said if verbose."""

    def __init__(self, err: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
        super().__init__(err, quiet=quiet, verbose=verbose)
        self._runs = self._planned = 0

    def run_started(self, run: PlannedRun) -> None:  # noqa: ARG002 - a Watcher's
        """Take the time to draw."""
        self.tick()

    def session_ended(self, end: SessionEnd, total: int) -> None:
        """Nothing: who asked for the session says what it gave."""

    def total_changed(self, total: int) -> None:
        """Hear the new highest number of runs."""
        self._planned = max(self._runs, total)

    def opened(self, trial: Path, campaign: Campaign, prepared: Prepared) -> None:
        """Say what is measured where, if verbose."""
        if self._verbose:
            super().opened(trial, campaign, prepared)

    def findings(self, findings: Iterable[Finding]) -> None:
        """Say what was found on the host, if verbose."""
        if self._verbose:
            super().findings(findings)


class OneLineView(View):
    """A view with one line of its own that is rewritten in place, on a terminal."""

    def __init__(self, err: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
        super().__init__(err, quiet=quiet, verbose=verbose)
        self._moving = self._err.isatty() and os.environ.get("TERM") != "dumb" and not quiet
        self._shown = False

    def insist(self, text: str) -> None:
        """Write a line, quiet or not, in the place of the moving one."""
        self._clear()
        super().insist(text)

    def _paint(self, text: str) -> None:
        with contextlib.suppress(OSError):  # the terminal may be gone; the trial goes on
            self._err.paint(f"\r\x1b[K{self._err.clean(shown(text))}")
            self._err.flush()
            self._shown = True

    def _clear(self) -> None:
        if self._shown:
            self._shown = False
            with contextlib.suppress(OSError):
                self._err.paint("\r\x1b[K")
                self._err.flush()


def scale(campaign: Campaign, sessions: int, seconds: float | None) -> str:
    """Say how large a campaign is, in one line."""
    protocol = campaign.protocol
    pairs = len(campaign.cells)
    warmups = pairs * protocol.warmups(sessions)
    variants = counted(len(campaign.variants), "variant")
    benchmarks = counted(len(campaign.benchmarks), "benchmark")
    runs, most = str(protocol.runs), ""
    if protocol.stop is not None:
        runs, most = f"{protocol.stop.min_runs} to {protocol.runs}", "at most "
    planned = runs_with_warmups(sessions * pairs * protocol.runs + warmups, warmups)
    text = (
        f"{campaign.name} · {variants} x {benchmarks}"
        f" x {runs} run{'s' * (runs != '1')} x {counted(sessions, 'session')} = {most}{planned}"
    )
    text = text if seconds is None else f"{text}, {most}{about(seconds)}"
    return "\n".join(wrapped(text, "", " " * 4, WIDTH))


def heading(campaign: Campaign, prepared: Prepared) -> list[str]:
    """Say which CPUs are used and what the checks found."""
    lines = []
    for note in campaign.notes:
        lines += wrapped(note, "note    ", " " * 8, WIDTH)
    lines += wrapped(prepared.cpus.text, "cpus    ", " " * 8, WIDTH)
    return [
        *lines,
        f"checks  {counts_of_checks(prepared.findings)}    'fairtrial doctor' says which",
    ]


def counts_of_checks(findings: Iterable[Finding]) -> str:
    """Count what checks found, by status, in one order everywhere: ``8 ok, 5 warn, 1 fail``."""
    counts: Counter[str] = Counter(finding.status for finding in findings)
    known = ("ok", "warn", "fail", "unknown")
    order = [*known, *(status for status in counts if status not in known)]
    return ", ".join(f"{counts[name]} {name}" for name in order if counts[name])


def _which(measurement: Measurement) -> str:
    again = measurement.repeats
    return str(measurement.position) if again is None else f"{again} again"


def _key(finding: Finding) -> tuple[str, str]:
    return finding.check, re.sub(r"\d[\d.,]*", "#", finding.what)


def _spread(values: Sequence[float]) -> str:
    """Half the interquartile range relative to the median, from sorted values."""
    count = len(values)
    if count < 4:
        return ""
    median = values[count // 2]
    half = (values[(3 * count) // 4] - values[count // 4]) / 2
    return f" (± {100 * half / median:.1f} %)" if median > 0 else ""


# --- What a person watches while commands are compared: one line, rewritten, and gone at the end.

_FIRST_PLAIN_S = 5.0  # until the first line of a comparison there; the next at doubling times
_WIDTH = 79  # columns of the line at the most
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
        self._next_plain_s = _FIRST_PLAIN_S
        self._on = self._started_runs = False
        self.exit_codes: Counter[tuple[str, int]] = Counter()

    def of(self, wanted: Sequence[WantedCommand], tried: str, cap_s: float) -> None:
        """Hear what is compared, what the tries showed, and how long one measures at the most."""
        names = apart([one.name or one.command for one in wanted], 20)
        variants = (one.variant for one in wanted)
        self._names = {
            variant: f"{Name(name):.20}" for variant, name in zip(variants, names, strict=True)
        }
        self._tried, self._cap_s = tried, cap_s

    # ---- what the runner tells

    def opened(self, trial: Path, campaign: Campaign, prepared: Prepared) -> None:
        """Say what the tries showed and where commands are executed; all that was found only if verbose."""
        if self._verbose:
            super().opened(trial, campaign, prepared)
        if self._tried:
            cpus = prepared.cpus.targets
            where = f"CPU {', '.join(map(str, cpus))}" if cpus else "no CPU of their own"
            self.say(self._tried.replace("CPU", where, 1))

    def findings(self, findings: Iterable[Finding]) -> None:
        """Say which hooks failed, and the rest if verbose: what changes an answer stands below it."""
        super().findings(one for one in findings if self._verbose or one.check == "hook")

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
        if self._moving and now - self._drawn >= _LINE_REDRAW_S:
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
        runs, spent = counted(self._runs, "run"), took(passed)
        one = self._watched()
        if one is None:
            return f"measuring{', ' + runs if self._runs else ''}, {spent}"[:width]
        from analysis.commands.compared import look_text

        words = look_text(one)
        parts = [f"{self._name(one.variant)}: {words}", runs, spent]
        parts += filter(None, [self._left(passed)])
        while len(parts) > 1 and cells(_MARK.join(parts)) > width:
            parts.pop()
        text = _MARK.join(parts)
        return text if cells(text) <= width else words[:width]

    def _watched(self) -> CandidateLook | None:
        """Give the widest undecided candidate, or the leader of several, or the only one."""
        if self._look is None:
            return None
        known = [one for one in self._look.candidates if one.line is not None]
        leading = [one for one in known if one.variant == self._look.leader]
        undecided = [one for one in known if one.word == "undecided"]
        return max(undecided, key=_width, default=next(iter([*leading, *known]), None))

    def _so_far(self) -> str:
        found = () if self._look is None else self._look.candidates
        if len(found) < 2:
            return f"{found[0].word} so far" if found else "measuring"
        return f"{sum(one.word == 'undecided' for one in found)} of {len(found)} undecided so far"

    def _left(self, passed: float) -> str:
        """Say when it ends: at the look that decides with a chance of 80 %, or at the cap."""
        look = self._look
        cap = f"stops after {took(self._cap_s)}" if passed < self._cap_s < math.inf else ""
        if look is None or look.needed is None or not look.sessions or not self._looked_s:
            return cap
        rest = self._looked_s / look.sessions * look.needed - passed
        return cap if passed + rest > self._cap_s else f"decided in about {max(1, round(rest))} s"

    def _name(self, variant: str) -> str:
        return self._names.get(variant, variant)


def _width(one: CandidateLook) -> float:
    line = one.line
    if line is None or line.low is None or line.high is None or line.low <= 0:
        return math.inf
    return line.high / line.low
