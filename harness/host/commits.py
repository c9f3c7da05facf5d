"""Finds of which commit programs are, by asking git for the work trees in which they lie.

Nothing is executed but git, without hooks, and nothing is written: no lock, no index, no fetch.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.record.commits import (
    NO_PROGRAMS,
    for_reading,
    is_cut_off,
    remedy_in,
    with_settings,
)

from .executables import digest_of
from .variables import redact_text

_PATIENCE_S = 10.0
_AT_ONCE = 500  # paths of one call: a command line holds so many
# a path is a path, whatever signs are in it
_PLAIN = ("--literal-pathspecs", *with_settings(*NO_PROGRAMS))
NO_GIT = "git is not installed"
NO_TREE = "its program lies in no git work tree"


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantCommit:
    """The commit of a variant, or of a program.

    Where it is not known (None), `unknown` says why, and `fix` the command that mends it; `another` where git says
    that the program is another one than the commit's.
    """

    commit: str | None = None
    unknown: str | None = None
    fix: str | None = None
    another: bool = False

    def to_dict(self) -> dict[str, str | None]:
        """Give it as the keys of a target; the reason only where there is one."""
        return {"commit": self.commit} | (
            {"commit_unknown": self.unknown} if self.commit is None else {}
        )


class _GitError(Exception):
    """Git gave no answer; its text says why, and `fix` what mends it."""

    fix: str | None = None


def commits_of_programs(
    programs: Mapping[tuple[str, str], Path], environment: Mapping[str, str] = os.environ
) -> dict[str, VariantCommit]:
    """Find the commit of each variant from the programs of its cells, (benchmark, variant) -> path.

    It is that of the work tree in which a program lies, links followed. It is unknown of a program that lies in
    none, or that git tracks there as another file than this one; of a variant whose programs are of
    several commits; and of all where one commit would be that of different programs.
    """
    files = {path: Path(os.path.realpath(path)) for path in programs.values()}
    answers = dict(_ask(dict.fromkeys(files.values()), environment))
    found: dict[str, VariantCommit] = {}
    for variant in dict.fromkeys(variant for _, variant in programs):
        own = [answers[files[path]] for (_, name), path in programs.items() if name == variant]
        found[variant] = _of_variant(own)
    commits = {one.commit for one in found.values()}
    if len(found) > 1 and len(commits) == 1 and None not in commits and _differ(programs, files):
        why = "the programs of all variants lie in a work tree of one commit, and they differ"
        return dict.fromkeys(found, VariantCommit(unknown=why))
    return found


def _of_variant(answers: Sequence[VariantCommit]) -> VariantCommit:
    commits = {one.commit for one in answers if one.commit is not None}
    for one in answers:
        if one.another:
            return one
    if len(commits) > 1:
        return VariantCommit(unknown=f"its programs are of {len(commits)} commits")
    if commits:
        return VariantCommit(commit=commits.pop())
    return next((one for one in answers if one.fix is not None), answers[0])


def _differ(programs: Mapping[tuple[str, str], Path], files: Mapping[Path, Path]) -> bool:
    """Tell whether some benchmark executes different programs; of a file that cannot be read it is its place."""
    of_benchmark: dict[str, set[str]] = {}
    for (benchmark, _), path in programs.items():
        digest, _ = digest_of(files[path])
        of_benchmark.setdefault(benchmark, set()).add(digest or str(files[path]))
    return any(len(digests) > 1 for digests in of_benchmark.values())


def _ask(
    files: Iterable[Path], environment: Mapping[str, str]
) -> Iterator[tuple[Path, VariantCommit]]:
    """Give the answer of each file, asking git once for all files of a work tree."""
    of_tree: dict[Path | None, list[Path]] = {}
    for file in files:
        of_tree.setdefault(_tree_of(file), []).append(file)
    nowhere = of_tree.pop(None, [])
    yield from ((file, VariantCommit(unknown=NO_TREE)) for file in nowhere)
    git = shutil.which("git", path=environment.get("PATH", os.defpath)) if of_tree else None
    for folder, inside in of_tree.items():
        if git is None or folder is None:
            yield from ((file, VariantCommit(unknown=NO_GIT)) for file in inside)
            continue
        try:
            yield from _Tree(git, folder, environment).answers(inside)
        except _GitError as error:
            yield from ((file, VariantCommit(unknown=str(error), fix=error.fix)) for file in inside)


def _tree_of(file: Path) -> Path | None:
    """Find the nearest folder above a file with a `.git`, as git does; None where there is none."""
    for folder in file.parents:
        if os.path.lexists(folder / ".git"):
            return folder
    return None


class _Tree:
    """One work tree, as git tells of it."""

    def __init__(self, git: str, folder: Path, environment: Mapping[str, str]) -> None:
        self._git = git
        self._folder = folder
        self._environment = for_reading(environment)
        self._home = environment.get("HOME")

    def answers(self, files: Sequence[Path]) -> Iterator[tuple[Path, VariantCommit]]:
        """Give the answer of each of the files, which lie in this folder."""
        told = self._call("rev-parse", "--show-toplevel", "--verify", "HEAD^{commit}")
        place, _, commit = told.decode("utf-8", "surrogateescape").rstrip("\n").rpartition("\n")
        root = Path(place)
        inside = [one for one in files if one.is_relative_to(root)]
        inside = [one for one in inside if ".git" not in one.relative_to(root).parts]
        names = {file: os.fsencode(file.relative_to(root)) for file in inside}
        listed = dict(self._tracked(names.values(), "ls-files", "-z", "--stage", "--"))
        held = dict(self._tracked(names.values(), "ls-tree", "-z", commit, "--"))
        for file in files:
            if file not in names:
                yield file, VariantCommit(unknown="its program lies outside of the work tree")
                continue
            blob = held.get(names[file])
            built = blob is None and names[file] not in listed
            if built or (blob is not None and is_blob(file, blob)):
                yield file, VariantCommit(commit=commit)
            else:
                name = redact_text(str(file), self._home)
                why = f"git tracks its program {name}, and the commit has another file there"
                yield file, VariantCommit(unknown=why, another=True)

    def _tracked(self, names: Iterable[bytes], *words: str) -> Iterator[tuple[bytes, str]]:
        """Give the names of files that git lists, each with the hash of its content."""
        left = list(names)
        while left:
            some, left = left[:_AT_ONCE], left[_AT_ONCE:]
            for entry in self._call(*words, *some).split(b"\0"):
                about, tab, name = entry.partition(b"\t")
                fields = about.split(b" ")
                if tab:  # MODE HASH STAGE of the index, MODE TYPE HASH of a commit
                    yield name, fields[2 if words[0] == "ls-tree" else 1].decode("ascii")

    def _call(self, *words: str | bytes) -> bytes:
        try:
            done = subprocess.run(
                [self._git, *_PLAIN, "-C", self._folder, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PATIENCE_S,
                check=False,
                env=self._environment,
            )
        except subprocess.TimeoutExpired:
            raise _GitError(f"git gave no answer within {_PATIENCE_S:g} s") from None
        except OSError as error:
            raise _GitError(f"git cannot be executed: {error.strerror or error}") from None
        if done.returncode == 0:
            if is_cut_off(done.stdout):
                raise _GitError("git's answer is cut off")
            return done.stdout
        errors = done.stderr.decode("utf-8", "replace")
        lines = errors.strip().splitlines() or ["nothing"]
        said = redact_text(lines[0].removeprefix("fatal: "), self._home)
        if said == "Needed a single revision":
            said = "there is no commit yet"
        refused = _GitError(f"git says of its work tree: {said}")
        refused.fix = remedy_in(errors)
        raise refused


def is_blob(file: Path, name: str) -> bool:
    """Tell whether a file has the content that git calls by this name, without any of its filters."""
    algorithm = "sha1" if len(name) == 40 else "sha256"
    digest = hashlib.new(algorithm, usedforsecurity=False)
    try:
        with file.open("rb") as opened:
            size = os.fstat(opened.fileno()).st_size
            digest.update(b"blob %d\0" % size)
            while block := opened.read(1 << 20):
                digest.update(block)
    except OSError:
        return False
    return digest.hexdigest() == name
