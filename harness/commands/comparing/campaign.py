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
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import UsageError

from ...campaign.defaults import own_defaults
from ...campaign.load import MAX_SEED, load_campaign
from ...campaign.scalar_kinds import MAX_SECONDS
from ...errors import CampaignError
from ...launch.commands import check_stdin
from .options import EVENTS, shell_of
from .scan import WantedCommand
from .tries import Manner, check_programs, shell_sign, spelled

if TYPE_CHECKING:
    from ...campaign.model import Campaign

_LEAST_S = 0.001  # the launcher counts a timeout in milliseconds
_MOST_CODE = 255
_CPUS = re.compile(r"auto|none|[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*")
_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")


def manner_of(options: Namespace, wanted: Sequence[WantedCommand], folder: Path) -> Manner:
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
    if options.stdin is not None:
        check_stdin(options.stdin)
    if options.cpus is not None and not _CPUS.fullmatch(options.cpus):
        raise UsageError(
            f"'{options.cpus}' names no CPUs", "--cpus", "write auto, none, or a list such as 2,3"
        )
    manner = Manner(
        folder=folder,
        shell=shell_of(options),
        stdin=options.stdin,
        timeout_s=options.timeout,
        codes=tuple(range(_MOST_CODE + 1)) if options.ignore_failure else _exit_codes(options),
        prepare=options.prepare,
    )
    check_programs([one.command for one in wanted], manner)
    return manner


def campaign_of(
    options: Namespace, wanted: Sequence[WantedCommand], manner: Manner, place: Path, *, runs: int
) -> Campaign:
    """Make a campaign of one benchmark whose variants are the commands; the first is the baseline.

    `runs` are those of each command in a session.
    """
    path = place / "campaign.yaml"
    path.write_text("\n".join(_yaml(options, wanted, manner, runs)) + "\n", encoding="utf-8")
    try:
        campaign = load_campaign(path, own=own_defaults())
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


def shell_notes(wanted: Sequence[WantedCommand], manner: Manner) -> Iterator[str]:
    """Say of each command what in it only a shell would understand, where there is none."""
    for one in wanted if manner.shell is None else ():
        sign = shell_sign(one.command)
        if sign:
            yield f"in {one.command!r}, {sign}"


def again_words(options: Namespace, wanted: Sequence[WantedCommand]) -> tuple[str, ...]:
    """Give the words behind ``fairtrial compare`` that measure the same commands in the same way."""
    words: list[str] = []
    shell = shell_of(options)
    words += [] if shell is None else [f"--shell={shell}"]
    words += ["-i"] if options.ignore_failure else []
    words += [part for code in options.exit or () for part in ("--exit", str(code))]
    for name in ("prepare", "setup", "cleanup", "stdin", "timeout", "cpus"):
        value = getattr(options, name)
        words += [] if value is None else [f"--{name}", str(value)]
    if options.counters is not None:
        words += [f"--counters={options.counters}" if options.counters else "--counters"]
    if all(one.name is not None for one in wanted):
        words += [part for one in wanted for part in ("-n", one.name or "")]
    words += ["--"] if any(one.command.startswith("-") for one in wanted) else []
    return (*words, *(one.command for one in wanted))


def _check_texts(options: Namespace, wanted: Sequence[WantedCommand], folder: Path) -> None:
    """Refuse what cannot be written to the campaign, which is a UTF-8 text."""
    texts = [("the argument", one.command) for one in wanted]
    texts += [("the argument", one.name) for one in wanted if one.name is not None]
    for name in ("prepare", "setup", "cleanup"):
        texts += [(f"--{name}", text) for text in (getattr(options, name),) if text is not None]
    texts += [("--stdin", str(path.resolve())) for path in (options.stdin,) if path is not None]
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


def _exit_codes(options: Namespace) -> tuple[int, ...]:
    return tuple(options.exit or (0,))


def _check_bounds(options: Namespace) -> None:
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
    options: Namespace, wanted: Sequence[WantedCommand], manner: Manner, runs: int
) -> Iterator[str]:
    """Write the campaign, a line each."""
    folder = manner.folder
    named = set(wanted[0].parameters)
    used = named & set(_PLACE.findall(options.prepare or ""))
    yield "name: compare"
    words = ("fairtrial", "compare", *again_words(options, wanted))
    yield f"description: {json.dumps(shlex.join(words), ensure_ascii=False)}"
    yield f"seed: {options.seed}"
    yield "variants:"
    for one in wanted:
        argv = ", ".join(_quoted(part) for part in manner.argv(one.command))
        values = "".join(f", {name}: {json.dumps(one.parameters[name])}" for name in sorted(used))
        yield f"  {json.dumps(one.variant)}: {{command: [{argv}]{values}}}"
    yield f"baseline: {json.dumps(wanted[0].variant)}"
    yield "benchmarks:"
    codes = ", ".join(map(str, manner.codes))
    stdin = f", stdin: {_quoted(str(manner.stdin.resolve()))}" if manner.stdin else ""
    yield (
        f"  command: {{cwd: {_quoted(str(folder))}, stdout: discard, expect: {{exit: [{codes}]}}{stdin}}}"
    )
    yield "protocol:"
    yield f"  runs: {runs}"
    yield f"  order: {'drawn-start' if len(wanted) == 2 else 'shuffled'}"
    yield f"  warmup: {options.warmup or 0}"
    if options.warmup:
        yield "  warmup_sessions: first"
    if options.timeout is not None:
        yield f"  timeout: {spelled(options.timeout)}"
    yield from _hooks(options, folder, named, used)
    if options.cpus is not None:
        yield "isolation:"
        yield f"  cpus: {options.cpus}"
    if options.counters is not None:
        events = options.counters or ",".join(EVENTS)
        yield f"counters: [{', '.join(json.dumps(one.strip()) for one in events.split(','))}]"


def _hooks(options: Namespace, folder: Path, named: set[str], used: set[str]) -> Iterator[str]:
    """Write what is executed around runs and sessions, each in the folder of the commands."""
    known = {"before": options.prepare, "setup": options.setup, "cleanup": options.cleanup}
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
        line = _quoted(f"cd {shlex.quote(str(folder))} || exit\n{text}")
        for name in used if hook == "before" else ():
            line = line.replace(f"{{{{{name}}}}}", f"{{{name}}}")
        yield f"  {hook}: [{{shell: {line}}}]"
