"""The clone in which all commits are built, one after the other, at one and the same path.

It borrows the objects of the user's repository and writes nothing to it. Its hooks are off, its submodules are
its own, and git's defaults say which protocols those may use. Filters of the user's own configuration work there
as in every checkout; settings of the repository alone (``.git/config``) are no part of a clone.
Source: git-clone(1), git-submodule(1), gitattributes(5).
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..campaign.model import Command
from .git_calls import NO_HOOKS, GitError, git

if TYPE_CHECKING:
    from .commits import Commit, CommitRange

NAME = "build"  # of the folder; debug information and __FILE__ hold its path
_TRIES, _PAUSE_S = 20, 0.05  # to delete a folder in which somebody ends
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

        Raises
        ------
        GitError
            If git cannot.
        """
        if self._made:
            return
        self.remove()
        source = str(self._commits.git_dir)
        words = ("clone", "--quiet", "--shared", "--no-checkout", "--template=")
        write(self.path.parent, *words, "--", source, str(self.path))
        origin = self._origin()
        if origin is not None:  # what submodules' relative addresses begin from
            write(self.path, "config", "remote.origin.url", origin)
        for setting in NO_HOOKS:  # also for what a build asks of git
            write(self.path, "config", *setting.split("=", 1))
        shutil.copytree(self.path / ".git", self._as_made, symlinks=True)
        self._made = True

    def check_out(self, commit: Commit, write: Write, execute: Execute) -> None:
        """Put the files of a commit there, and nothing else.

        Raises
        ------
        GitError
            If git cannot.
        LaunchError
            If the submodules cannot be had; `execute` says so.
        """
        try:
            self._restore()
            write(self.path, *_CHECKOUT, commit.sha)
        except (GitError, OSError):  # a build may have left anything, also where submodules lie
            self.remove()
            self.make(write)
            write(self.path, *_CHECKOUT, commit.sha)
        if (self.path / ".gitmodules").is_file():
            settings = (part for one in (*NO_HOOKS, *_BORROWED) for part in ("-c", one))
            update = ("submodule", "--quiet", "update", "--init", "--recursive", "--force")
            execute(Command(argv=("git", *settings, *update), mark=commit.name), self.path)

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

    def _origin(self) -> str | None:
        try:
            found = git(self._commits.root, "config", "--get", "remote.origin.url")
        except GitError:
            return None
        return found.removesuffix("\n") or None


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
    for _ in range(_TRIES):
        try:
            shutil.rmtree(path)
        except OSError as error:  # who is being killed may end a call of the system first
            if error.errno != errno.ENOTEMPTY:
                raise
            time.sleep(_PAUSE_S)
        else:
            return
    shutil.rmtree(path)
