"""What ``fairtrial compare`` measures: a small campaign, written as a person would write it.

The campaign is stored in the trial like any other. Its description is the command line that measured it, so
that a later sitting knows the commands as they were typed.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import shlex
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from analysis.errors import CampaignError, UsageError
from analysis.words import shown

from ..campaign.resolve import MAX_SEED, load_campaign
from ..campaign.scalar_kinds import MAX_SECONDS
from ..errors import counted
from ..launch.commands import check_stdin
from .comparing import Manner, argv_of, check_programs, shell_sign, spelled
from .live_view import OneLineView
from .options import EVENTS, Comparing, WantedCommand, output_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analysis.plan.compare_looks import CandidateLook, Look
    from analysis.record.run_numbers import Measurement
    from analysis.record.trial_files import Finding, PlannedRun, SessionEnd

    from ..campaign.model import Campaign
    from ..trial.preparation import Prepared

_LEAST_S = 0.001  # the launcher counts a timeout in milliseconds
_MOST_CODE = 255
_CPUS = re.compile(r"auto|none|[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*")
_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")


def manner_of(options: Comparing, wanted: Sequence[WantedCommand], folder: Path) -> Manner:
    """Check the options about executing, and say how each command is executed in `folder`.

    Raises
    ------
    UsageError
        If an option is out of its bounds, or a text is not UTF-8.
    LaunchError
        If a program is not there, or the standard input is none.
    """
    _check_texts(options, wanted, folder)
    _check_bounds(options)
    for path in filter(None, {one.stdin: None for one in wanted}):
        check_stdin(path)
    if options.cpus is not None and not _CPUS.fullmatch(options.cpus):
        raise UsageError(
            f"'{options.cpus}' names no CPUs", "--cpus", "write auto, none, or a list such as 2,3"
        )
    manner = Manner(
        folder=folder,
        timeout_s=options.timeout,
        codes=tuple(range(_MOST_CODE + 1)) if options.ignore_failure else _exit_codes(options),
        output=output_of(options.output),
    )
    check_programs(wanted, folder)
    return manner


def campaign_of(
    options: Comparing, wanted: Sequence[WantedCommand], manner: Manner, place: Path, *, runs: int
) -> Campaign:
    """Make a campaign of one benchmark whose variants are the commands; the first is the baseline.

    `runs` are those of each command in a session.
    """
    path = place / "campaign.yaml"
    path.write_text("\n".join(_yaml(options, wanted, manner, runs)) + "\n", encoding="utf-8")
    try:
        campaign = load_campaign(path)
    except CampaignError as error:  # the file is ours: what it is about is what was typed
        raise UsageError(error.what, "fairtrial compare", error.fix) from None
    typed = {one.variant: one.command for one in wanted}
    cells = tuple(
        dataclasses.replace(
            cell, command=dataclasses.replace(cell.command, mark=shlex.quote(typed[cell.variant]))
        )
        for cell in campaign.cells
    )
    return dataclasses.replace(campaign, cells=cells)


def shell_notes(wanted: Sequence[WantedCommand]) -> Iterator[str]:
    """Say of each command what in it only a shell would understand, where there is none."""
    for one in wanted:
        sign = None if one.shell else shell_sign(one.command)
        if sign:
            yield f"in {one.command!r}, {sign}"


def again_words(options: Comparing, wanted: Sequence[WantedCommand]) -> tuple[str, ...]:
    """Give the words behind ``fairtrial compare`` that measure the same commands in the same way."""
    words: list[str] = []
    if any(one.shell for one in wanted):
        words += [f"--shell={shell}" for shell in _once([one.shell or "none" for one in wanted])]
    words += [] if options.output is None else [f"--output={options.output}"]
    words += ["-i"] if options.ignore_failure else []
    words += [part for code in options.exit or () for part in ("--exit", str(code))]
    for name in ("prepare", "stdin"):
        given = _once([getattr(one, name) for one in wanted])
        words += [part for one in given if one is not None for part in (f"--{name}", str(one))]
    for name in ("setup", "cleanup", "timeout", "cpus"):
        value = getattr(options, name)
        words += [] if value is None else [f"--{name}", str(value)]
    if options.counters is not None:
        words += [f"--counters={options.counters}" if options.counters else "--counters"]
    if all(one.name is not None for one in wanted):
        words += [part for one in wanted for part in ("-n", one.name or "")]
    words += ["--"] if any(one.command.startswith("-") for one in wanted) else []
    return (*words, *(one.command for one in wanted))


def _once(given: list[Any]) -> list[Any]:
    """Give what is the same for all commands once."""
    return given[:1] if len(set(given)) == 1 else given


def _check_texts(options: Comparing, wanted: Sequence[WantedCommand], folder: Path) -> None:
    """Refuse what cannot be written to the campaign, which is a UTF-8 text."""
    texts = [("the argument", one.command) for one in wanted]
    texts += [("the argument", one.name) for one in wanted if one.name is not None]
    for name in ("setup", "cleanup"):
        texts += [(f"--{name}", text) for text in (getattr(options, name),) if text is not None]
    texts += [("--prepare", one.prepare) for one in wanted if one.prepare is not None]
    texts += [("--stdin", str(one.stdin.resolve())) for one in wanted if one.stdin is not None]
    texts += [("the folder", str(folder))]
    for what, text in texts:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            # Bytes that are none of UTF-8 come from the command line as lone surrogates.
            shown = re.sub("[\udc80-\udcff]", lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02x}", text)
            raise UsageError(
                f"{what} is not UTF-8 and cannot be written to a campaign",
                shown.encode("utf-8", "backslashreplace").decode("utf-8"),
                "write it in UTF-8, or put the command into a script and compare scripts"
                if what != "the folder"
                else "begin in a folder whose name is UTF-8",
            ) from None


def _exit_codes(options: Comparing) -> tuple[int, ...]:
    return tuple(options.exit or (0,))


def _check_bounds(options: Comparing) -> None:
    seconds = options.timeout
    if seconds is not None and not (math.isfinite(seconds) and _LEAST_S <= seconds <= MAX_SECONDS):
        raise UsageError(
            f"a timeout must be from {_LEAST_S:g} s to {MAX_SECONDS:,} s, not {spelled(seconds)}",
            "--timeout",
            "give seconds such as 60 or 0.5",
        )
    if not 0 <= options.seed <= MAX_SEED:
        raise UsageError(
            f"a seed is a whole number from 0 to {MAX_SEED}, not {options.seed}", "--seed"
        )
    for code in _exit_codes(options):
        if not 0 <= code <= _MOST_CODE:
            raise UsageError(
                f"an exit code is a whole number from 0 to {_MOST_CODE}, not {code}", "--exit"
            )


def _quoted(text: str) -> str:
    """Write a text as YAML: JSON strings are, and a brace that is none of ours is doubled."""
    return json.dumps(text.replace("{", "{{").replace("}", "}}"), ensure_ascii=False)


def _yaml(
    options: Comparing, wanted: Sequence[WantedCommand], manner: Manner, runs: int
) -> Iterator[str]:
    """Write the campaign, a line each."""
    folder = manner.folder
    prepared = _once([one.prepare for one in wanted])
    inputs = _once([one.stdin for one in wanted])
    yield "name: compare"
    words = ("fairtrial", "compare", *again_words(options, wanted))
    yield f"description: {json.dumps(shlex.join(words), ensure_ascii=False)}"
    yield f"seed: {options.seed}"
    yield "variants:"
    for one in wanted:
        argv = ", ".join(_quoted(part) for part in argv_of(one))
        values = f", stdin: {_stdin(one.stdin)}" if len(inputs) > 1 and one.stdin else ""
        if len(prepared) > 1:
            values += f", prepare: {json.dumps(one.prepare, ensure_ascii=False)}"
        yield f"  {json.dumps(one.variant)}: {{command: [{argv}]{values}}}"
    yield f"baseline: {json.dumps(wanted[0].variant)}"
    yield "benchmarks:"
    codes = ", ".join(map(str, manner.codes))
    stdin = f", stdin: {_stdin(inputs[0])}" if len(inputs) == 1 and inputs[0] else ""
    output = json.dumps(manner.output or "discard", ensure_ascii=False)
    yield (
        f"  command: {{cwd: {_quoted(str(folder))}, stdout: {output}, expect: {{exit: [{codes}]}}{stdin}}}"
    )
    yield "protocol:"
    yield f"  runs: {runs}"
    yield f"  order: {'drawn-start' if len(wanted) == 2 else 'shuffled'}"
    yield f"  warmup: {options.warmup or 0}"
    if options.warmup:
        yield "  warmup_sessions: first"
    if options.timeout is not None:
        yield f"  timeout: {spelled(options.timeout)}"
    yield from _hooks(options, folder, prepared, set(wanted[0].parameters))
    if options.cpus is not None:
        yield "isolation:"
        yield f"  cpus: {options.cpus}"
    if options.counters is not None:
        events = options.counters or ",".join(EVENTS)
        yield f"counters: [{', '.join(json.dumps(one.strip()) for one in events.split(','))}]"


def _stdin(path: Path) -> str:
    return _quoted(str(path.resolve()))


def _hooks(
    options: Comparing, folder: Path, prepared: Sequence[str | None], named: set[str]
) -> Iterator[str]:
    """Write what is executed around runs and sessions, each in the folder of the commands."""
    known = {"before": prepared[0], "setup": options.setup, "cleanup": options.cleanup}
    if any(text is not None for text in known.values()):
        yield "hooks:"
    for hook, text in known.items():
        if text is None:
            continue
        places = named & set(_PLACE.findall(text))
        if hook != "before" and places:
            raise UsageError(
                f"--{hook} has the parameter {{{min(places)}}}, but is executed for all commands",
                f"--{hook}",
                "use --prepare, which is executed before each run",
            )
        begins = f"cd {shlex.quote(str(folder))} || exit\n"
        each = hook == "before" and len(prepared) > 1
        line = _quoted(begins)[:-1] + '{prepare}"' if each else _quoted(begins + text)
        yield f"  {hook}: [{{shell: {line}}}]"


# --- What a person watches while commands are compared: one line, rewritten, and gone at the end.
#
# Without a terminal a plain line stands after 5 s and then at doubling times. Nothing here knows a
# number that the looks have not given.


REDRAW_S = 0.1
WIDTH = 79  # columns of the line at the most
_PLAIN_S = 5.0
_MARK = " · "


class CompareView(OneLineView):
    """Writes to `err`: what is tried, one line while it lasts, and what must be said."""

    def __init__(self, err: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
        super().__init__(err, quiet=quiet, verbose=verbose)
        self._names: dict[str, str] = {}
        self._tried = ""
        self._cap_s = 0.0
        self._runs = 0
        self._look: Look | None = None
        self._looked_s = 0.0
        self._began = time.monotonic()
        self._next_plain_s = _PLAIN_S
        self._on = self._started_runs = False
        self.exit_codes: Counter[tuple[str, int]] = Counter()

    def of(self, wanted: Sequence[WantedCommand], tried: str, cap_s: float) -> None:
        """Hear what is compared, what the tries told, and how long one measures at the most."""
        from analysis.commands.compared import names_in_short

        short = names_in_short([one.name or one.command for one in wanted], 20)
        self._names = {one.variant: name for one, name in zip(wanted, short, strict=True)}
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
        """Draw the line anew where it is time: ten times a second at the most."""
        now = time.monotonic()
        if not self._on or self._quiet:
            return
        if self._moving:
            if now - self._drawn >= REDRAW_S:
                self._drawn = now
                self._paint(self.line(now - self._began))
        elif now - self._began >= self._next_plain_s:
            passed = now - self._began
            while self._next_plain_s <= passed:
                self._next_plain_s *= 2
            self.say(f"compare: {counted(self._runs, 'run')}, {passed:.0f} s, {self._so_far()}")

    def end(self) -> None:
        """Take the line away."""
        self._clear()
        self._on = False

    def line(self, passed: float) -> str:
        """Give the moving line: the interval never falls away, what stands on its right does."""
        width = min(WIDTH, shutil.get_terminal_size().columns - 1)
        runs, spent = counted(self._runs, "run"), _seconds(passed)
        one = self._watched()
        if one is None:
            return f"measuring{', ' + runs if self._runs else ''}, {spent}"[:width]
        head = f"{self._name(one.variant)}: {_told(one)}"
        parts = [head, runs, spent, self._left(passed)]
        while len(parts) > 1 and len(_MARK.join(parts)) > width:
            parts.pop()
        text = _MARK.join(parts)
        return text if len(text) <= width else _told(one)[:width]

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
        look = self._look
        if look is None or not look.candidates:
            return "measuring"
        open_ = sum(one.word == "undecided" for one in look.candidates)
        if len(look.candidates) == 1:
            return f"{look.candidates[0].word} so far"
        return f"{open_} of {len(look.candidates)} undecided so far"

    def _left(self, passed: float) -> str:
        """Say when it ends: at the look that decides with a chance of 80 %, or at the cap."""
        look = self._look
        cap = (
            ""
            if self._cap_s == float("inf")
            else f"stops after {_seconds(self._cap_s, whole=True)}"
        )
        if look is None or look.needed is None or not look.sessions or not self._looked_s:
            return cap
        rest = self._looked_s / look.sessions * look.needed - passed
        if passed + rest > self._cap_s:
            return cap
        return f"decided in about {max(1, round(rest))} s"

    def _name(self, variant: str) -> str:
        return self._names.get(variant, shown(variant))


def _told(one: CandidateLook) -> str:
    from analysis.commands.compared import told_of

    return told_of(one)


def _width(one: CandidateLook) -> float:
    line = one.line
    if line is None or line.low is None or line.high is None or line.low <= 0:
        return float("inf")
    return line.high / line.low


def _seconds(seconds: float, *, whole: bool = False) -> str:
    if seconds >= 120:
        return f"{seconds / 60:.1f} min"
    return f"{seconds:.0f} s" if whole or seconds >= 10 else f"{seconds:.1f} s"
