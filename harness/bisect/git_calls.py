"""Calls of git that read a repository, or write to a clone of ours, and never write to the user's repository.

What writes has a launcher above it, as a build has: it ends when fairtrial is killed.

No hook is executed, no index is refreshed, no object is fetched, and no variable that git sets for its own
children (``GIT_DIR``, ``GIT_INDEX_FILE``) leads elsewhere. Sources: git(1), githooks(5), git-config(1).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from analysis.errors import FairtrialError, StoreError, UsageError
from analysis.record import asking_git
from analysis.words import shown

from ..campaign.model import Command
from ..launch.commands import CommandFailedError, HooksLauncherDiedError, SideCommands
from ..launch.matching import last_output

# What git says belongs to one repository (``git rev-parse --local-env-vars``), and what it does on its own.
_OF_ONE_REPOSITORY = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NAMESPACE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)
# a checkout would fetch what may be gigabytes
ALONE = asking_git.ALONE | {"GIT_LFS_SKIP_SMUDGE": "1"}
NO_HOOKS = (*asking_git.NO_PROGRAMS, "gc.auto=0", "maintenance.auto=0")
_SETTINGS = (*NO_HOOKS, "submodule.recurse=false", "advice.detachedHead=false")


class GitError(FairtrialError):
    """A call of git failed: `what` is what git said, in one line."""

    exit_code = 2


def without_repository(variables: Mapping[str, str]) -> dict[str, str]:
    """Give the variables without those that tell git which repository is meant."""
    return {name: text for name, text in variables.items() if name not in _OF_ONE_REPOSITORY}


def call_of(*words: str, settings: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Give the command line of a call."""
    return ("git", *asking_git.with_settings(*_SETTINGS, *settings), *words)


def variables_of_calls() -> dict[str, str]:
    """Give the variables that every call has."""
    return without_repository(os.environ) | ALONE


def writing_git(commands: SideCommands, log: Path) -> Callable[..., None]:
    """Give what executes git in a folder as a build step, with its output in `log`; it raises as `git` does."""

    def write(where: Path, *words: str) -> None:
        command = Command(argv=call_of(*words), mark=f"git {words[0]}")
        env = variables_of_calls()
        try:
            commands.execute("git", command, cwd=where, env=env, log=log, timeout_s=None)
        except HooksLauncherDiedError:
            raise
        except CommandFailedError as error:
            raise GitError(
                _said(last_output(log)) or f"git {words[0]} failed", str(where)
            ) from error
        log.unlink()  # it says nothing of a build

    return write


def git(
    where: Path, *words: str, settings: tuple[str, ...] = (), timeout_s: float | None = None
) -> str:
    """Execute git in a folder and give what it writes; odd bytes become surrogates.

    Raises
    ------
    GitError
        If git fails; its last line is the message.
    UsageError
        If there is no git.
    StoreError
        If its answer is cut off.
    """
    try:
        done = subprocess.run(
            call_of(*words, settings=settings),
            cwd=where,
            env=variables_of_calls(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=timeout_s,
        )
    except FileNotFoundError as error:
        if not where.is_dir():
            raise UsageError("there is no such folder", str(where)) from None
        fix = "install it (apt install git), or put it on the PATH"
        raise UsageError("git is not installed", None, fix) from error
    except ValueError:  # a null byte in a word
        raise UsageError("a null byte is in what git is asked for") from None
    if done.returncode:
        errors = os.fsdecode(done.stderr)
        what = _said(errors) or f"git {words[0]} failed"
        raise GitError(what, str(where), asking_git.remedy_in(errors))
    if asking_git.is_cut_off(done.stdout):
        raise StoreError(f"the answer of git {words[0]} is cut off", str(where))
    return os.fsdecode(done.stdout)


def _said(errors: str) -> str:
    """Give the lines in which git says why, without hints, as one."""
    lines = [line for line in errors.splitlines() if line and not line.startswith("hint:")]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return shown("; ".join((fatal or lines)[-2:]))
