"""One stored result computed anew: a command line of the judge, executed in a bundle's folder.

A bundle comes from anybody. So only commands that read and print are executed, with no option that
writes, and with no path that leads out of the folder; the surroundings are the same everywhere: an
own home, no colour, one width, UTC and UTF-8.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import AnalysisError, UsageError
from .limited import Commands, LimitReachedError

__all__ = ["COMMANDS", "OPTIONS", "Recomputed", "fault_of_command", "recompute"]

COMMANDS = (
    "verdict",
    "gate",
    "hpt",
    "speedup-test",
    "resample",
    "mixture",
    "biplot",
    "diagnose",
    "plan",
    "study",
    "sources",
    "diff",
    "report",
)
ANSWERS = (0, 1, 7)  # exit codes of an answer: done, a gate said no, a gate could not tell
# every option of these commands that writes no file; they are taken in full only, not abbreviated
OPTIONS = frozenset(
    """--all --alpha --also --alternative --always-valid --and --annotations --backend --below --benchmark
    --best-of --better --centre --certificate --clt --compatible --conf-level --confidence
    --correction --decimal --digits --draws --effect --estimators --exit-code --explain --font-family
    --font-size --format --gate --group --ignore --interval --jitter --json --layout --level --looks
    --margin --max-components --max-hosts --max-runs --max-sessions --mean --metric --normality --on --pairs
    --power --precision --quantile --rank --resamples --resolution --response --risk --runs --scale
    --scores --search --seed --shift --shifted --sides --simulations --sources --speedup --starts
    --steps --ties --unit --variant --variation --verbose --weight --width --within-session
    --workers""".split()  # noqa: SIM905 - a table of words
)
_ARITHMETIC = ("BLIS_", "MKL_", "NPY_", "OMP_", "OPENBLAS_")  # variables of these libraries


@dataclass(frozen=True, slots=True, kw_only=True)
class Recomputed:
    """What a command printed, and how it ended."""

    stdout: bytes
    exit_code: int


def fault_of_command(command: Sequence[str]) -> str | None:
    """Say why a command line is not executed for a bundle; None where it is.

    Parameters
    ----------
    command : sequence of str
        Arguments of ``fairtrial``.
    """
    if not command or command[0] not in COMMANDS:
        named = repr(command[0]) if command else "nothing"
        return f"it is {named}, none of {', '.join(COMMANDS)}: those read and print"
    for argument in without_stdout(command[1:]):
        if "\0" in argument:
            return "an argument holds a zero byte"
        if any("\ud800" <= character <= "\udfff" for character in argument):
            return "an argument holds half a character, which is no text"
        name, _, value = argument.partition("=")
        if argument.startswith("--"):
            if name not in OPTIONS:
                return f"the option {name} is none of those that only read and print"
        elif argument[:1] == "-" and not argument[1:2].isdigit():
            return f"the option {argument} is none of those that only read and print"
        else:
            value = argument
        if value.startswith(("/", "~")) or ".." in value.replace(":", "/").split("/"):
            return f"the argument {argument!r} leads out of the bundle"
    return None


def without_stdout(words: Sequence[str]) -> list[str]:
    """Leave out ``-o -``, by which a report is printed like any other answer."""
    found: list[str] = []
    for word in words:
        if word == "-" and found[-1:] in (["-o"], ["--output"]):
            found.pop()
        else:
            found.append(word)
    return found


def recompute(command: Sequence[str], folder: Path, commands: Commands) -> Recomputed:
    """Execute a command of the judge in a folder, and give what it printed.

    Parameters
    ----------
    command : sequence of str
        Arguments of ``fairtrial``, with paths relative to `folder`.
    folder : Path
        The root of the unpacked bundle; it is only read.
    commands : Commands
        Executes it, within limits.

    Raises
    ------
    UsageError
        If the command is none that a bundle may ask for (`fault_of_command`).
    LimitReachedError
        If it took more than it may.
    AnalysisError
        If it gave no answer; the message quotes what it said.
    """
    fault = fault_of_command(command)
    said = " ".join(("fairtrial", *command))
    if fault is not None:
        raise UsageError(
            f"the command is not executed: {fault}", said, "ask who made the bundle what it is for"
        )
    try:
        done = commands.run(command, folder, _surroundings)
    except LimitReachedError as error:
        raise LimitReachedError(error.what, said, error.fix) from None
    except OSError as error:  # an argument of any length, a folder without permission
        raise AnalysisError(
            f"the command cannot be executed: {error.strerror or error}",
            f"{said[:200]} ...",
            "shorten its arguments, or see that this user may execute fairtrial",
        ) from error
    if done.exit_code not in ANSWERS:
        told = done.stderr.decode("utf-8", "replace").strip()
        raise AnalysisError(
            f"the command gave no answer (exit {done.exit_code}): {told[-2000:]}",
            said,
            "execute it in the unpacked bundle to see all of what it says",
        )
    return Recomputed(stdout=done.stdout, exit_code=done.exit_code)


def _surroundings(home: Path) -> Mapping[str, str]:
    """Give the environment of the command, with nothing of its user's.

    What remains is where compiled kernels are kept, and which code the libraries of linear algebra
    take: on one processor each gives other last digits.
    """
    user = os.environ
    cache = user.get("FAIRTRIAL_CACHE") or user.get("NUMBA_CACHE_DIR")
    if not cache:
        kept = user.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - Path.home() raises without a home
        cache = os.path.join(kept, "fairtrial", "kernels")  # noqa: PTH118
    passed = {
        name: value
        for name, value in user.items()
        if name in {"PATH", "LD_LIBRARY_PATH", "SYSTEMROOT"} or name.startswith(_ARITHMETIC)
    }
    return {
        **passed,
        "FAIRTRIAL_CACHE": str(Path(cache).absolute()),
        "PYTHONPATH": os.pathsep.join(str(Path(place).absolute()) for place in sys.path if place),
        "HOME": str(home),
        "TMPDIR": str(home),
        "JOBLIB_TEMP_FOLDER": str(home),
        "XDG_STATE_HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "MPLCONFIGDIR": str(home),
        "LC_ALL": "C.UTF-8",
        "PYTHONUTF8": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TZ": "UTC",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
