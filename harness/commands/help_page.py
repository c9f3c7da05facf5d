"""What ``fairtrial``, ``fairtrial --help`` and ``fairtrial help exit-codes`` say.

The first screen of a person who does not know the tool, so nothing heavy is imported for it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.options import Command
    from analysis.record.trial_files import Manifest

GROUPS = ("measure", "judge", "understand", "share")

PROMISE = (
    "Measure programs repeatedly and independently, and claim only the speedups\n"
    "that the evidence supports."
)

EXIT_CODES = {
    0: "done",
    1: "done, but runs failed or are missing, a gate said no, or a bundle differs",
    2: "the command line or the campaign is wrong",
    3: "this host cannot measure as it was asked to, or why finds no difference",
    4: "a program could not be started or built",
    5: "a trial or a bundle is damaged, newer than this version, or changed",
    6: "the data do not allow this analysis",
    7: "undecided: a gate, or a rerun, needs more runs",
    70: "a bug in fairtrial",
    130: "interrupted; everything measured is kept",
}

_FIRST = """\
Is it faster? Measure it, and get an answer that holds.

two commands, now
  fairtrial compare 'gzip -6 -k -c data' 'gzip -1 -k -c data'
a suite of benchmarks
  fairtrial init campaign.yaml    write a campaign to start from
  fairtrial run campaign.yaml     measure it
  fairtrial verdict               see what the evidence supports
everything else
  fairtrial --help
"""


def whole_help(commands: Mapping[str, Command]) -> str:
    """Give what ``fairtrial --help`` prints: the commands in four groups."""
    width = max(map(len, commands))
    lines = ["usage: fairtrial COMMAND ...", "", *PROMISE.splitlines()]
    for group in GROUPS:
        lines += ["", group]
        lines += [
            f"  {name:<{width}}  {command.summary}"
            for name, command in commands.items()
            if command.group == group
        ]
    lines += [
        "",
        "fairtrial COMMAND --help     what a command takes, with examples",
        "fairtrial help exit-codes    what the exit codes mean",
        "fairtrial help json COMMAND  the JSON Schema of what its --json prints",
        "fairtrial --version          the version",
    ]
    return "\n".join(lines) + "\n"


def exit_codes() -> str:
    """Give what ``fairtrial help exit-codes`` prints."""
    return "exit codes\n" + "".join(f"{code:>5}  {text}\n" for code, text in EXIT_CODES.items())


def first_screen(folder: Path) -> str:
    """Give what ``fairtrial`` alone prints: three ways in, and the newest trial of a folder."""
    return _FIRST + _newest(folder)


def _newest(folder: Path) -> str:
    """Name the newest trial and what comes next with it; nothing where none can be read."""
    places = sorted(folder.glob("*/manifest.json"))
    if not places:
        return ""
    from analysis.errors import StoreError
    from analysis.record.manifest import read_manifest
    from analysis.words import next_lines

    found = []
    for place in places:
        with contextlib.suppress(StoreError, OSError):
            manifest = read_manifest(place.parent)
            found.append((manifest.started, manifest.trial, place.parent, manifest))
    if not found:
        return ""
    *_, trial, manifest = max(found, key=lambda one: one[:2])
    state, command = _way_on(trial, manifest)
    return "\n".join((f"newest trial: {trial}, {state}", *next_lines(command))) + "\n"


def _way_on(trial: Path, manifest: Manifest) -> tuple[str, tuple[str, ...]]:
    """Give the state of a trial in a word, and the words of the command that comes next."""
    from ..trial.ending import command_to_continue
    from ..trial.folder import is_written_now

    if manifest.status == "complete" or manifest.origin == "imported":
        return "complete", ("fairtrial", "verdict", str(trial))
    if manifest.status == "running" and is_written_now(trial):
        return "measuring", ("fairtrial", "status", str(trial))
    state = "killed" if manifest.status == "running" else manifest.status
    return state, command_to_continue(manifest, trial)
