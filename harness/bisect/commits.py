"""The commits of a bisection: those of BAD's first-parent line behind GOOD, oldest first.

Source: git-rev-list(1), ``--first-parent``.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import FairtrialError, StoreError, UsageError
from analysis.record.manifest import (
    ALONE as GIT_ALONE,
    NO_PROGRAMS,
    NamedCommit,
    is_cut_off,
    remedy_in,
    with_settings,
)
from analysis.words import Name, command_line, shown

from ..campaign.model import Command
from ..errors import counted
from ..host.executables import is_blob
from ..launch.commands import CommandFailedError, HooksLauncherDiedError, SideCommands
from ..launch.matching import last_output

# --- Calls of git that read a repository, or write to a clone of ours, and never write to the user's repository.
# What writes has a launcher above it, as a build has: it ends when fairtrial is killed. No hook is executed, no
# index is refreshed, no object is fetched, and no variable that git sets for its own children (``GIT_DIR``) leads
# elsewhere. Sources: git(1), githooks(5), git-config(1).

# what git says belongs to one repository (git rev-parse --local-env-vars), and what it does on its own
_OF_ONE_REPOSITORY = {
    *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT"),
    *("GIT_CONFIG_PARAMETERS", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE"),
    *("GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_NO_REPLACE_OBJECTS"),
    *("GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_QUARANTINE_PATH", "GIT_REPLACE_REF_BASE"),
    *("GIT_SHALLOW_FILE", "GIT_WORK_TREE"),
}
# a checkout would fetch what may be gigabytes
ALONE = GIT_ALONE | {"GIT_LFS_SKIP_SMUDGE": "1"}
NO_HOOKS = (*NO_PROGRAMS, "gc.auto=0", "maintenance.auto=0")
_SETTINGS = (*NO_HOOKS, "submodule.recurse=false", "advice.detachedHead=false")


class GitError(FairtrialError):
    """A call of git failed: `what` is what git said, in one line."""

    exit_code = 2


def without_repository(variables: Mapping[str, str]) -> dict[str, str]:
    """Give the variables without those that tell git which repository is meant."""
    return {name: text for name, text in variables.items() if name not in _OF_ONE_REPOSITORY}


def _call_of(*words: str) -> tuple[tuple[str, ...], dict[str, str]]:
    call = ("git", *with_settings(*_SETTINGS), *words)
    return call, without_repository(os.environ) | ALONE


def writing_git(commands: SideCommands, log: Path) -> Callable[..., None]:
    """Give what executes git in a folder as a build step, with its output in `log`; it raises as `git` does."""

    def write(where: Path, *words: str) -> None:
        argv, env = _call_of(*words)
        command = Command(argv=argv, mark=f"git {words[0]}")
        try:
            commands.execute("git", command, cwd=where, env=env, log=log, timeout_s=None)
        except HooksLauncherDiedError:
            raise
        except CommandFailedError as error:
            raise GitError(_complaint(last_output(log), words), str(where)) from error
        log.unlink()  # it says nothing of a build

    return write


def git(where: Path, *words: str) -> str:
    """Execute git in a folder and give what it writes; odd bytes become surrogates.

    Raises GitError if git fails (its last line is the message); UsageError if there is no git; StoreError if its
    answer is cut off.
    """
    argv, env = _call_of(*words)
    try:
        done = subprocess.run(
            argv, cwd=where, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False
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
        raise GitError(_complaint(errors, words), str(where), remedy_in(errors))
    if is_cut_off(done.stdout):
        raise StoreError(f"the answer of git {words[0]} is cut off", str(where))
    return os.fsdecode(done.stdout)


def _complaint(errors: str, words: tuple[str, ...]) -> str:
    """Give the lines in which git says why, without hints, as one."""
    lines = [line for line in errors.splitlines() if line and not line.startswith("hint:")]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return shown("; ".join((fatal or lines)[-2:])) or f"git {words[0]} failed"


# --- The clone in which all commits are built, one after the other, at one and the same path.
# It borrows the objects of the user's repository and writes nothing to it. Its hooks are off, its submodules are its
# own, and git's defaults say which protocols those may use. Filters of the user's own configuration work there as in
# every checkout; settings of the repository alone (``.git/config``) are no part of a clone.
# Source: git-clone(1), git-submodule(1), gitattributes(5).

NAME = "build"  # of the folder; debug information and __FILE__ hold its path
_TRIES, _PAUSE_S = 21, 0.05  # to delete a folder in which somebody ends
# Objects that the user's own submodules have are borrowed too, where they have them.
_BORROWED = ("submodule.alternateLocation=superproject", "submodule.alternateErrorStrategy=info")

_CHECKOUT = ("checkout", "--quiet", "--force", "--detach")

# Executes a command in a folder, as a build step; and git with some words.
Execute = Callable[[Command, Path], object]
Write = Callable[..., None]


class Clone:
    """The clone in `path`; what is git's own there is as it was made before each commit, whatever builds did to it."""

    def __init__(self, commits: CommitRange, folder: Path) -> None:
        self._commits = commits
        self.path = folder / NAME
        self._as_made = folder / f"{NAME}.git"  # a shared clone has no objects of its own
        self._made = False

    def remove(self) -> None:
        """Delete the clone, whatever became of it."""
        for path in (self.path, self._as_made):
            remove_tree(path)
        self._made = False

    def make(self, write: Write) -> None:
        """Make the clone by `write`, where it is not there yet.

        Raises GitError if git cannot.
        """
        if self._made:
            return
        self.remove()
        source = str(self._commits.git_dir)
        words = ("clone", "--quiet", "--shared", "--no-checkout", "--template=")
        write(self.path.parent, *words, "--", source, str(self.path))
        origin = output_or_nothing(self._commits.root, "config", "--get", "remote.origin.url")
        if origin.strip("\n"):  # what submodules' relative addresses begin from
            write(self.path, "config", "remote.origin.url", origin.removesuffix("\n"))
        for setting in NO_HOOKS:  # also for what a build asks of git
            write(self.path, "config", *setting.split("=", 1))
        shutil.copytree(self.path / ".git", self._as_made, symlinks=True)
        self._made = True

    def check_out(self, commit: Commit, write: Write, execute: Execute) -> None:
        """Put the files of a commit there, and nothing else.

        Raises GitError if git cannot; LaunchError if the submodules cannot be had (`execute` says so).
        """
        try:
            self._restore()
            write(self.path, *_CHECKOUT, commit.commit)
        except (GitError, OSError):  # a build may have left anything, also where submodules lie
            self.remove()
            self.make(write)
            write(self.path, *_CHECKOUT, commit.commit)
        if (self.path / ".gitmodules").is_file():
            settings = with_settings(*NO_HOOKS, *_BORROWED)
            update = ("submodule", "--quiet", "update", "--init", "--recursive", "--force")
            execute(Command(argv=("git", *settings, *update), mark=commit.variant), self.path)

    def _restore(self) -> None:
        """Take out what a build left: its files, and whatever it did to git's own."""
        for entry in self.path.iterdir():
            if entry.name != ".git":
                remove_tree(entry)
        own = self.path / ".git"
        if own.is_symlink():
            raise NotADirectoryError(own)
        for entry in own.iterdir():
            if entry.name not in {"objects", "modules"}:
                remove_tree(entry)
        shutil.copytree(self._as_made, own, symlinks=True, dirs_exist_ok=True)

    def hand_over(self, tree: Path) -> None:
        """Give away the files, without what is git's own; the clone is empty then."""
        self.path.rename(tree)
        self.path.mkdir(mode=0o700)
        own = tree / ".git"
        if os.path.lexists(own):  # packaging may take it away
            own.rename(self.path / ".git")
        _make_a_tree_of_its_own(tree, self.path)


def _make_a_tree_of_its_own(tree: Path, before: Path) -> None:
    """Take out the submodules' ways to git, and let links into the former folder lead into `tree`."""
    for folder, folders, files in os.walk(tree):
        here = Path(folder)
        if ".git" in files:
            (here / ".git").unlink()
        for name in (*folders, *files):
            path = here / name
            if path.is_symlink():
                target = path.readlink()
                if target.is_absolute() and target.is_relative_to(before):
                    path.unlink()
                    path.symlink_to(os.path.relpath(tree / target.relative_to(before), here))


def remove_tree(path: Path) -> None:
    """Delete a file or folder, also one that holds folders without a right to write."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    for folder, folders, _ in os.walk(path):
        for name in (".", *folders):
            inside = Path(folder, name)
            if not inside.is_symlink():
                mode = inside.stat().st_mode
                if mode & stat.S_IRWXU != stat.S_IRWXU:
                    inside.chmod(mode | stat.S_IRWXU)
    for left in reversed(range(_TRIES)):
        try:
            shutil.rmtree(path)
            break
        except OSError as error:  # who is being killed may end a call of the system first
            if error.errno != errno.ENOTEMPTY or not left:
                raise
            time.sleep(_PAUSE_S)


MOST = 1000  # commits, unless all are asked for
_FORMAT = "--format=%x00%P%x00%T%x00%s%x00%an%x00%aI%x00"
_SHORT = 7
NAMED = ("rev-parse", "--verify", "--quiet", "--end-of-options")  # gives the SHA of what is named


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit(NamedCommit):
    """A commit of the range: place 0 is GOOD. Control characters of its texts became visible ones.

    `tree` is git's name of all its files.
    """

    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRange:
    """GOOD and what followed on BAD's first-parent line, oldest first.

    `root` is the top of the work tree, `git_dir` the repository; `good` and `bad` are the words that the user
    gave. `notes` tell what somebody may take otherwise, such as changes that are not committed.
    """

    root: Path
    git_dir: Path
    good: str
    bad: str
    commits: tuple[Commit, ...]
    notes: tuple[str, ...] = ()

    @property
    def last(self) -> int:
        """N: the place of BAD."""
        return len(self.commits) - 1


def commits_between(where: Path, good: str, bad: str, *, every: bool = False) -> CommitRange:
    """Give the commits from GOOD to BAD of the repository that holds the folder `where`.

    `good` and `bad` are revisions as git takes them. More than 1,000 commits are taken only with `every`.

    Raises UsageError if there is no git or no repository, a revision is unknown, GOOD is not on BAD's first-parent
    line (then the commit that could be GOOD is named), or there is no commit or there are too many between them.
    """
    (root, git_dir), good, bad = _repository_of(where), Name(good), Name(bad)
    first, last = (_resolved(root, name, word) for name, word in (("GOOD", good), ("BAD", bad)))
    if first == last:
        what = f"GOOD and BAD are one commit, {first[:_SHORT]}"
        raise UsageError(what, None, "name two commits: GOOD is the older one")
    listed = _listed(root, "--first-parent", "--reverse", f"{first}..{last}")
    if not listed:
        what = f"there is no commit between {good} and {bad}: BAD is the older one"
        raise UsageError(what, None, command_line(("fairtrial", "bisect", bad, good)))
    if listed[-1][0] != last:
        raise StoreError("git's list of commits is cut off", str(root))
    before = listed[0][1].split()[:1]
    if before != [first]:
        raise _not_on_the_line(root, good, bad, before)
    if len(listed) > MOST and not every:
        what = f"there are {counted(len(listed), 'commit')} between {good} and {bad}"
        raise UsageError(f"{what}, more than {MOST:,}", None, "name a later GOOD, or add --all")
    begin = _listed(root, "--no-walk", first)
    return CommitRange(
        root=root,
        git_dir=git_dir,
        good=good,
        bad=bad,
        commits=tuple(
            Commit(
                place=place,
                commit=sha,
                tree=tree,
                subject=Name(subject),
                author=Name(author),
                date=date,
            )
            for place, (sha, _, tree, subject, author, date) in enumerate([*begin, *listed])
        ),
        notes=tuple(_notes(root)),
    )


def _repository_of(where: Path) -> tuple[Path, Path]:
    fix = "begin in a work tree of git, or name a campaign that lies in one"
    try:
        top = git(where, "rev-parse", "--show-toplevel").removesuffix("\n")
        common = git(where, "rev-parse", "--git-common-dir").removesuffix("\n")
    except GitError as error:
        begins = "git refuses this work tree" if error.fix else "there is no work tree of git"
        raise UsageError(f"{begins}: {error.what}", str(where), error.fix or fix) from None
    if "\n" in top + common:
        what = "a line feed is in the repository's path, and git can borrow no objects from there"
        raise UsageError(what, str(where), "move the repository to a folder without one")
    return Path(top), (where / common).resolve()


def _resolved(root: Path, name: str, word: str) -> str:
    sha = output_or_nothing(root, *NAMED, f"{word}^{{commit}}").removesuffix("\n").split("\n")[-1]
    if word and re.fullmatch(r"[0-9a-f]{40}([0-9a-f]{24})?", sha):
        return sha
    what = f"{name} is no commit of this repository: '{Name(word)}'"
    fix = "name a branch, a tag or a SHA; git log --oneline shows them"
    if output_or_nothing(root, "rev-parse", "--is-shallow-repository") == "true\n":
        fix += "; this clone is shallow: git fetch --unshallow brings the older ones"
    raise UsageError(what, str(root), fix)


def _listed(root: Path, *words: str) -> list[list[str]]:
    text = git(root, "rev-list", "--encoding=UTF-8", _FORMAT, *words)
    parts = text.split("\0")  # each: the line "commit SHA", then five texts, and an empty line
    return [
        [parts[at].strip().removeprefix("commit "), *parts[at + 1 : at + 6]]
        for at in range(0, len(parts) - 1, 6)
    ]


def _not_on_the_line(root: Path, good: str, bad: str, before: list[str]) -> UsageError:
    """Say that GOOD is none of BAD's first parents, and which commit could be GOOD."""
    what = f"{good} is not on the first-parent line of {bad}"
    if before:
        words = shlex.join([before[0][:12], bad])
        fix = f"the newest commit of that line that GOOD has too: fairtrial bisect {words}"
    elif output_or_nothing(root, "rev-parse", "--is-shallow-repository") == "true\n":
        fix = "this clone is shallow: git fetch --unshallow brings the older commits"
    else:
        fix = "they have no commit in common: name a GOOD that BAD was made from"
    return UsageError(what, str(root), fix)


def _notes(root: Path) -> Iterator[str]:
    """Tell what is in the work tree and in no commit, and what the repository lacks."""
    if _is_changed(root):
        yield (
            "the work tree has changes that are not committed: commits are measured as they are, "
            "the campaign as it is in the work tree"
        )
    if output_or_nothing(root, "config", "--get-regexp", r"^remote\..*\.promisor$", "true"):
        yield (
            "this clone is partial: commits whose files were never fetched do not build here; "
            "git fetch --refetch --no-filter brings them all"
        )


def _is_changed(root: Path) -> bool:
    """Tell whether the index, or a file as it lies there, differs from HEAD; `git status` would execute filters."""
    if output_or_nothing(root, "diff-index", "--cached", "--name-only", "-z", "HEAD", "--"):
        return True
    # by the times of files alone: ":MODE MODE BLOB ..." and the name
    entries = output_or_nothing(root, "diff-files", "-z", "--ignore-submodules=dirty").split("\0")
    return any(
        not is_blob(root / name, about.split(" ")[2])
        for about, name in zip(entries[::2], entries[1::2], strict=False)
    )


def output_or_nothing(root: Path, *words: str) -> str:
    """Give what git writes; an empty text where it fails."""
    try:
        return git(root, *words)
    except GitError:
        return ""
