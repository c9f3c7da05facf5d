"""What ``fairtrial compare`` says of what it measured: on the screen, as JSON, in files, and while it lasts."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.trial import read_trial
from ..errors import UsageError
from ..importers.export import exported_trial, write_hyperfine
from ..pages.as_markup import render_markdown
from ..pages.number_format import Difference, counted
from ..record.printer import STDOUT, write_json
from ..verdict.cautions import shown_cautions
from ..verdict.compare import (
    CompareAnswer,
    ComparedCommand,
    Standing,
    answer_of,
    screen_of,
    short_names,
)
from ..verdict.sides import session_seconds

if TYPE_CHECKING:
    from ..plan.compare_looks import CandidateLook, Look
    from ..record.printer import Printer

_CALLED = 14  # columns of a command's name in a note
# cautions that the screen of a comparison says itself: of its commands, of how it ended
_SAID_OTHERWISE = (
    *("failed-left-out", "fails-more", "fails-always", "variant-left-out"),
    *("runs-missing", "still-running", "ended-early"),
)


def standing_of(look: Look | None, baseline: str) -> Standing | None:
    """Say who leads of three and more; None of fewer, and before anything is known."""
    if look is None or look.leader is None or len(look.candidates) < 2:
        return None
    words: dict[str, str] = {}
    for one in look.candidates:
        if look.leader == baseline:
            words[one.variant] = one.word
        elif one.variant == look.leader:
            words[baseline] = one.word
        elif one.against_leader is not None:
            words[one.variant] = one.against_leader.benchmarks[0].outcome
    return Standing(
        leader=look.leader,
        beside=tuple(name for name, word in words.items() if word == "undecided"),
        alike=tuple(name for name, word in words.items() if word == "equivalent"),
    )


def answered(
    path: Path,
    commands: Sequence[Any],
    look: Look | None,
    *,
    measured_s: float,
    earlier: int = 0,
    exit_codes: Mapping[tuple[str, int], int] | None = None,
    counters: bool = False,
    units: str | None = None,
) -> CompareAnswer:
    """Judge the trial of a sitting that ended with a look; `measured_s` is its time, `earlier` counts the sessions before.

    `commands` are all variants, the baseline first, each with the fields of a `NamedCommand`; `exit_codes` counts the
    runs of a variant that ended with a code other than 0. Raises InsufficientDataError if no run counts.
    """
    trial = read_trial(path)
    called = {one.variant: one.name or repr(one.command) for one in commands}
    return answer_of(
        trial,
        commands,
        seconds=measured_s + session_seconds(trial, earlier),
        counters=counters,
        units=units,
        standing=standing_of(look, trial.manifest.baseline),
        notes=[
            f"{counted(count, 'run')} of {called[variant]} ended with exit code {code}, and "
            f"count{'s' * (count == 1)} (-i, --exit)"
            for (variant, code), count in (exit_codes or {}).items()
        ],
    )


def look_text(one: CandidateLook) -> str:
    """Say what a look knows of a candidate: the difference with its interval, or between what it lies."""
    if one.line is None:
        return "no run counts yet"
    found = Difference.of(one.line)
    if one.word == "undecided":
        return found.between().removesuffix(" time") or "no interval yet"
    return f"{found.amount()} ({found.interval()})" if found.interval() else found.amount()


def write_answer(
    answer: CompareAnswer,
    out: Printer,
    *,
    as_json: bool = False,
    short: bool = False,
    width: int = 80,
) -> None:
    """Write the answer to `out`: as JSON, as its sentence alone, or as a screen of `width` columns."""
    if as_json:
        write_json(answer.to_dict(), out)
        return
    names = short_names([one.name for one in answer.commands], _CALLED)
    called = dict(zip((one.variant for one in answer.commands), names, strict=True))
    called.setdefault("command", names[0] if len(names) == 1 else "a command")  # the benchmark
    found = shown_cautions(answer.verdict, called=called, without=_SAID_OTHERWISE)
    notes = [one.text for one in found.cautions]
    out.write(f"{screen_of(answer, width, notes, short=short)}\n")


def write_exports(answer: CompareAnswer, files: Mapping[str, str], out: Printer) -> None:
    """Write files, or to `out` what goes to standard output: kind (``json``, ``csv``, ``markdown``) -> path.

    Raises UsageError if one cannot be written; the trial is kept in any case.
    """
    for kind, path in files.items():
        try:
            if path in STDOUT:
                out.write(_KINDS[kind](answer))
            else:
                Path(path).write_bytes(_KINDS[kind](answer).encode())
        except OSError as error:
            what = f"the file cannot be written: {error.strerror}"
            fix = "name another one; 'fairtrial export' writes it from the trial, which is kept"
            raise UsageError(what, path, fix) from None


def _json(answer: CompareAnswer) -> str:
    """Give all runs as hyperfine writes them, each command by its name, else by what was typed."""
    assert answer.verdict.data.path is not None
    exported = exported_trial(read_trial(answer.verdict.data.path))
    known = {one.variant: one for one in answer.commands}
    samples = tuple(
        replace(one, variant=_called_there(known[one.variant])) for one in exported.samples
    )
    found = json.loads(write_hyperfine(replace(exported, samples=samples)).data)
    filled = {_called_there(one): dict(one.parameters) for one in answer.commands}
    for result in found["results"]:
        result.pop("parameters")
        if values := filled.get(result["command"]):
            result["parameters"] = values
    return f"{json.dumps(found, indent=2, ensure_ascii=False)}\n"


def _called_there(one: ComparedCommand) -> str:
    """Call a command as hyperfine does: by the name that was given, not by one made of its parameters."""
    made = one.name.startswith(one.command)
    made |= any(f"{name}={value}" in one.name for name, value in one.parameters.items())
    return one.command if made else one.name


def _csv(answer: CompareAnswer) -> str:
    """Give a row for each command with the columns of hyperfine, in seconds."""
    file, rows = io.StringIO(), json.loads(_json(answer))["results"]
    for row in rows:
        row |= {f"parameter_{name}": value for name, value in row.get("parameters", {}).items()}
    names = dict.fromkeys(name for row in rows for name in row if name.startswith("parameter_"))
    columns = (*_COLUMNS, *names)
    table = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return file.getvalue()


_COLUMNS = ("command", "mean", "stddev", "median", "user", "system", "min", "max")
_KINDS: Mapping[str, Callable[[CompareAnswer], str]] = {
    "json": _json,
    "csv": _csv,
    "markdown": lambda answer: f"{render_markdown(answer.screen())}\n",
}
