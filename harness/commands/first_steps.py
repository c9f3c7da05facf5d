"""The subcommands ``init``, ``doctor`` and ``completion``: what one does before the first trial."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError
from pathlib import Path
from typing import TextIO

from analysis.options import command
from analysis.record.printer import check_folder, write_file, write_json
from analysis.registry import commands
from analysis.words import command_line, next_lines

from .options import Talk

_SHORT_S = 60.0


@command("init")
def init(*, path: Path, json: bool, quiet: bool, out: TextIO, err: TextIO) -> int:
    """Write a campaign with comments that can be run without changes.

    It has gzip at two levels, on data that it makes. An existing file is never overwritten.

    Examples
    --------
    compressors.yaml
    """
    from analysis.errors import UsageError

    from ..campaign.resolve import starter_text

    if os.path.isdir(path):  # noqa: PTH112 - a name too long is no error here
        path = path / "campaign.yaml"
    if os.path.lexists(path):
        raise UsageError("there is a file already", str(path), "choose another name")
    check_folder(path.parent, named=path)
    write_file(path, starter_text(path.stem))
    words = ("fairtrial", "run", str(path), "--dry-run")
    if json:
        write_json({"written": [str(path)], "next": [command_line(words)]}, out)
    elif not quiet:
        lines = next_lines(words, "shows what it would do")
        err.write("\n".join((f"wrote {path}", *lines)) + "\n")
    return 0


def short_time(text: str) -> float:
    """Read a duration as campaigns spell it, above 0 and at most a minute, in seconds."""
    from ..campaign.scalar_kinds import seconds_of

    seconds = seconds_of(text)
    if seconds is None or not 0 < seconds <= _SHORT_S:
        what = f"must be a duration such as 500ms or 2s, at most {_SHORT_S:g}s, not {text!r}"
        raise ArgumentTypeError(what)
    return seconds


@command("doctor")
def doctor(
    *,
    campaign: Path | None,
    strict: bool,
    probe: float | None,
    dir: Path,
    talk: Talk,
    out: TextIO,
) -> int:
    """Check whether this host is fit for measuring, and say how to fix what is not.

    Nothing is changed.

    Examples
    --------
                     everything, in general
    campaign.yaml    the CPUs and checks of this campaign
    -q               only the problems
    --probe 2s       watch for 2 s whether the CPU is taken
    """
    from .doctor_page import check_up

    checkup = check_up(campaign, dir, strict=strict, probe_s=probe)
    if talk.json:
        write_json(checkup.to_dict(), out)
    else:
        text = checkup.text(verbose=talk.verbose, quiet=talk.quiet)
        out.write(text + "\n" * (not talk.quiet))
    return 3 if checkup.fatal else 0


# --- What is installed with the packages and printed: scripts of ``completion``, and JSON Schemas.

# where each shell looks for it, below share/
PLACES = {
    "bash": "bash-completion/completions/fairtrial",
    "zsh": "zsh/site-functions/_fairtrial",
    "fish": "fish/vendor_completions.d/fairtrial.fish",
}
SCHEMAS = "fairtrial/json"  # the folder of what `fairtrial help json` prints, likewise


@command("completion")
def completion(*, shell: str, json: bool, out: TextIO) -> int:
    """Print the script with which a shell completes commands, options and the names of trials.

    It was made when fairtrial was built. Where fairtrial is installed below /usr or /usr/local, shells
    find it by themselves.

    Examples
    --------
    bash > fairtrial.bash    then: source fairtrial.bash
    zsh > _fairtrial         in a folder of fpath
    fish > ~/.config/fish/completions/fairtrial.fish
    """
    script = installed(PLACES[shell], f"the script of {shell}")
    write_json({"shell": shell, "script": script}, out) if json else out.write(script)
    return 0


def schema(command: str) -> str:
    """Give the JSON Schema of what a command prints with ``--json``.

    Raises UsageError if the command prints no JSON, or fairtrial is not installed as a package.
    """
    from analysis.errors import UsageError

    if command not in commands():
        raise UsageError(f"no command {command!r} prints JSON", fix="fairtrial help json verdict")
    return installed(f"{SCHEMAS}/{command}.schema.json", f"the schema of {command}")


def installed(place: str, called: str) -> str:
    """Give the text of a file that was installed below share/; `called` is what messages call it."""
    from importlib.metadata import PackageNotFoundError, files

    from analysis.errors import UsageError

    try:
        listed = files("fairtrial") or ()
    except PackageNotFoundError:
        listed = ()
    for one in listed:
        if one.as_posix().endswith(f"share/{place}"):
            try:
                return one.read_text(encoding="utf-8")
            except OSError as error:
                what = f"cannot be read: {error.strerror}"
                fix = "install fairtrial again"
                raise UsageError(what, str(one.locate()), fix) from error
    raise UsageError(
        f"{called} is not there: fairtrial is not installed as a package",
        fix="install it (docs/install.md); in a clone: pip install .",
    )
