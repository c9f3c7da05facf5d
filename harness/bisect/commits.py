"""The commits of a bisection: those of BAD's first-parent line behind GOOD, oldest first.

Source: git-rev-list(1), ``--first-parent``.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from analysis.errors import StoreError, UsageError
from analysis.words import shown

from ..errors import counted
from ..host.commits import is_blob
from .git_calls import GitError, git

MOST = 1000  # commits, unless all are asked for
_FORMAT = "%x00%P%x00%s%x00%an%x00%aI%x00"
_SHORT = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit of the range.

    `place` counts from 0, GOOD. Subject and author are texts that can be shown: control characters became
    visible ones. `date` is the author's, RFC 3339. `tree` is git's name of all its files.
    """

    place: int
    sha: str
    tree: str
    subject: str
    author: str
    date: str

    @property
    def short(self) -> str:
        """Its first seven signs, as people write it."""
        return self.sha[:_SHORT]

    @property
    def name(self) -> str:
        """What its variant and its folders are called: the place and the short name."""
        return f"{self.place:04d}-{self.short}"


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
    notes: tuple[str, ...] = field(default=())

    @property
    def last(self) -> int:
        """N: the place of BAD."""
        return len(self.commits) - 1


def commits_between(where: Path, good: str, bad: str, *, every: bool = False) -> CommitRange:
    """Give the commits from GOOD to BAD of the repository that holds the folder `where`.

    Parameters
    ----------
    where : Path
        A folder of the work tree.
    good, bad : str
        Revisions as git takes them: names of branches and tags, SHAs, ``HEAD~5``.
    every : bool
        Whether more than 1,000 commits are taken.

    Raises
    ------
    UsageError
        If there is no git or no repository, a revision is unknown, GOOD is not on BAD's first-parent line
        (then the commit that could be GOOD is named), or there is no commit or there are too many between them.
    """
    root, git_dir = repository_of(where)
    first, last = (_resolved(root, name, word) for name, word in (("GOOD", good), ("BAD", bad)))
    if first == last:
        what = f"GOOD and BAD are one commit, {first[:_SHORT]}"
        raise UsageError(what, None, "name two commits: GOOD is the older one")
    listed = _listed(root, "--first-parent", "--reverse", f"{first}..{last}")
    if not listed:
        what = f"there is no commit between {shown(good)} and {shown(bad)}: BAD is the older one"
        raise UsageError(what, None, f"fairtrial bisect {shlex.quote(bad)} {shlex.quote(good)}")
    if listed[-1][0] != last:
        raise StoreError("git's list of commits is cut off", str(root))
    before = listed[0][1][:1]
    if before != [first]:
        raise _not_on_the_line(root, good, bad, before)
    if len(listed) > MOST and not every:
        what = f"there are {counted(len(listed), 'commit')} between {shown(good)} and {shown(bad)}"
        raise UsageError(f"{what}, more than {MOST:,}", None, "name a later GOOD, or add --all")
    begin = _listed(root, "--no-walk", first)
    return CommitRange(
        root=root,
        git_dir=git_dir,
        good=good,
        bad=bad,
        commits=tuple(
            Commit(place=place, sha=sha, tree=tree, subject=subject, author=author, date=date)
            for place, (sha, _, tree, subject, author, date) in enumerate([*begin, *listed])
        ),
        notes=_notes(root),
    )


def repository_of(where: Path) -> tuple[Path, Path]:
    """Give the top of the work tree that holds a folder, and its repository.

    Raises
    ------
    UsageError
        If the folder lies in no work tree of git.
    """
    fix = "begin in a work tree of git, or name a campaign that lies in one"
    try:
        top = _line(git(where, "rev-parse", "--show-toplevel"))
        common = _line(git(where, "rev-parse", "--git-common-dir"))
    except GitError as error:
        what = f"there is no work tree of git: {error.what}"
        if error.fix is not None:
            what, fix = f"git refuses this work tree: {error.what}", error.fix
        raise UsageError(what, str(where), fix) from None
    return Path(top), (where / common).resolve()


def _line(text: str) -> str:
    return text.removesuffix("\n")


def _resolved(root: Path, name: str, word: str) -> str:
    """Give the SHA of the commit that a revision names."""
    try:
        if word:
            asked = f"{word}^{{commit}}"
            found = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", asked)
            sha = _line(found).split("\n")[-1]
            if re.fullmatch(r"[0-9a-f]{40}([0-9a-f]{24})?", sha):
                return sha
    except GitError:
        pass
    what = f"{name} is no commit of this repository: '{shown(word)}'"
    fix = "name a branch, a tag or a SHA; git log --oneline shows them"
    if _is_shallow(root):
        fix += "; this clone is shallow: git fetch --unshallow brings the older ones"
    raise UsageError(what, str(root), fix)


def _is_shallow(root: Path) -> bool:
    return _line(git(root, "rev-parse", "--is-shallow-repository")) == "true"


_Listed = tuple[str, list[str], str, str, str, str]


def _listed(root: Path, *words: str) -> list[_Listed]:
    """Give SHA, parents, tree, subject, author and date of commits."""
    form = f"--format=%x00%T{_FORMAT}"
    text = git(root, "rev-list", "--encoding=UTF-8", form, *words)
    # each: the line "commit SHA", then the texts, an empty one before the next line
    parts = text.split("\0")
    found: list[_Listed] = []
    for at in range(0, len(parts) - 1, 6):
        head, tree, parents, subject, author, date = parts[at : at + 6]
        sha = head.strip().removeprefix("commit ")
        found.append((sha, parents.split(), tree, shown(subject), shown(author), date))
    return found


def _not_on_the_line(root: Path, good: str, bad: str, before: list[str]) -> UsageError:
    """Say that GOOD is none of BAD's first parents, and which commit could be GOOD."""
    what = f"{shown(good)} is not on the first-parent line of {shown(bad)}"
    if before:
        words = shlex.join([before[0][:12], bad])
        fix = f"the newest commit of that line that GOOD has too: fairtrial bisect {words}"
    elif _is_shallow(root):
        fix = "this clone is shallow: git fetch --unshallow brings the older commits"
    else:
        fix = "they have no commit in common: name a GOOD that BAD was made from"
    return UsageError(what, str(root), fix)


def _notes(root: Path) -> tuple[str, ...]:
    """Tell what is in the work tree and in no commit, and what the repository lacks."""
    notes = []
    if _is_changed(root):
        notes.append(
            "the work tree has changes that are not committed: commits are measured as they are, "
            "the campaign as it is in the work tree"
        )
    if _said(root, "config", "--get-regexp", r"^remote\..*\.promisor$", "true"):
        notes.append(
            "this clone is partial: commits whose files were never fetched do not build here; "
            "git fetch --refetch --no-filter brings them all"
        )
    return tuple(notes)


def _is_changed(root: Path) -> bool:
    """Tell whether the index, or a file as it lies there, differs from HEAD; `git status` would execute filters."""
    if _said(root, "diff-index", "--cached", "--name-only", "-z", "HEAD", "--"):
        return True
    # by the times of files alone: ":MODE MODE BLOB ..." and the name
    entries = _said(root, "diff-files", "-z", "--ignore-submodules=dirty").split("\0")
    return any(
        not is_blob(root / name, about.split(" ")[2])
        for about, name in zip(entries[::2], entries[1::2], strict=False)
    )


def _said(root: Path, *words: str) -> str:
    try:
        return git(root, *words)
    except GitError:
        return ""
