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
from typing import TYPE_CHECKING, Any

from analysis.errors import CampaignError, UsageError

from ...campaign.defaults import own_defaults
from ...campaign.load import MAX_SEED, load_campaign
from ...campaign.scalar_kinds import MAX_SECONDS
from ...launch.commands import check_stdin
from .options import EVENTS, output_of
from .scan import WantedCommand
from .tries import Manner, argv_of, check_programs, shell_sign, spelled

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


def shell_notes(wanted: Sequence[WantedCommand]) -> Iterator[str]:
    """Say of each command what in it only a shell would understand, where there is none."""
    for one in wanted:
        sign = None if one.shell else shell_sign(one.command)
        if sign:
            yield f"in {one.command!r}, {sign}"


def again_words(options: Namespace, wanted: Sequence[WantedCommand]) -> tuple[str, ...]:
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


def _check_texts(options: Namespace, wanted: Sequence[WantedCommand], folder: Path) -> None:
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
    options: Namespace, folder: Path, prepared: Sequence[str | None], named: set[str]
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
