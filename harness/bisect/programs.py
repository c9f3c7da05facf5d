"""Which files of a built tree are the program, and when two commits are one program.

A built ELF file is known by its bytes, with its libraries of the tree. What a script imports, or a program that
lies elsewhere reads, cannot be seen: then the program is the whole tree, as git names it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from analysis.words import shown

from ..errors import LaunchError
from ..host.executables import describe_target, read_elf, sha256_of
from ..launch.commands import resolve
from .recipe import files_of

if TYPE_CHECKING:
    from ..campaign.model import Cell
    from .recipe import Recipe

SEARCH = "LD_LIBRARY_PATH"
_ROUNDS = 10  # libraries that need libraries


class NoProgramError(Exception):
    """The tree lacks what the campaign executes or reads; the text says what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The files of a tree that count, with their SHA-256, and the folders that its loader has to search."""

    programs: Mapping[str, str]
    identity: str
    libraries: tuple[Path, ...]


def find_programs(
    recipe: Recipe, tree: Path, git_tree: str, built_at: Path, environment: Mapping[str, str]
) -> Found:
    """Find the programs of a tree that was built at another path.

    Parameters
    ----------
    recipe : Recipe
        Whose cells are executed.
    tree, built_at : Path
        Where the files are, and where they were when they were built.
    git_tree : str
        Git's name of the commit's files.
    environment : mapping
        The variables that every command starts from.

    Raises
    ------
    NoProgramError
        If a program, a working folder or an input is not there.
    """
    search = _Search(recipe, tree, built_at, environment)
    for cell in recipe.cells:
        search.add(cell)
    programs = dict(sorted(search.programs.items()))
    if search.opaque:
        identity = f"tree:{git_tree}"
    else:
        text = json.dumps(programs, sort_keys=True)
        identity = f"programs:{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()}"
    return Found(programs=programs, identity=identity, libraries=tuple(search.libraries))


class _Search:
    def __init__(
        self, recipe: Recipe, tree: Path, built_at: Path, environment: Mapping[str, str]
    ) -> None:
        self.recipe, self.tree, self.built_at = recipe, tree, built_at
        self.environment = environment
        self.programs: dict[str, str] = {}
        self.libraries: dict[Path, None] = {}
        self.opaque = False

    def add(self, cell: Cell) -> None:
        """Look at what one cell executes and reads."""
        cwd = moved(self.recipe, cell.cwd, self.tree)
        if not cwd.is_dir():
            raise NoProgramError(f"the folder '{self._named(cwd)}' is not there")
        program = cell.command.argv[0]
        variables = {**self.environment, **cell.env}
        try:
            path = resolve(program, cwd, variables)
        except LaunchError as error:
            where = "" if self.recipe.build is None else "the build made "
            there = "no program" if where else "there is no program"
            reason = "" if "not found" in error.what else f": {shown(error.what)}"
            raise NoProgramError(f"{where}{there} '{shown(program)}'{reason}") from None
        self._executable(path, variables)
        for file in files_of(cell):
            self._input(file)
        for text in cell.command.argv[1:]:
            self._argument(cwd, text)

    def _named(self, path: Path) -> str:
        inside = path.is_relative_to(self.tree)
        return shown(str(path.relative_to(self.tree) if inside else path))

    def _executable(self, path: Path, variables: Mapping[str, str]) -> None:
        real = path.resolve()
        inside = real.is_relative_to(self.tree)
        try:
            elf = read_elf(real) if inside else None
        except OSError:
            elf = None
        if inside:
            self._keep(real)
        if elf is None:
            self.opaque = True
            return
        self._search_where_it_was_built(elf.search)
        for _ in range(_ROUNDS):
            known = len(self.libraries)
            for library in self._libraries(real, variables):
                self._keep(library)
                found = read_elf(library)
                self._search_where_it_was_built(found.search if found else ())
            if len(self.libraries) == known:
                return

    def _libraries(self, program: Path, variables: Mapping[str, str]) -> Iterator[Path]:
        """Give the program's libraries that lie in the tree."""
        own = search_path(self.libraries, variables.get(SEARCH))
        described = describe_target(program, {**variables, SEARCH: own} if own else variables)
        for library in described["libraries"].values():
            if library["path"] and Path(library["path"]).is_relative_to(self.tree):
                yield Path(library["path"])

    def _search_where_it_was_built(self, folders: Iterable[str]) -> None:
        """Search the folders of the tree where a program names those of the clone, which is empty now."""
        for folder in folders:
            path = Path(os.path.normpath(folder))
            if path.is_relative_to(self.built_at):
                self.libraries[self.tree / path.relative_to(self.built_at)] = None

    def _input(self, file: Path) -> None:
        place = self.recipe.in_repository(file)
        if place is None:
            return
        path = self.tree / place
        if not path.is_file():
            what = (
                "neither the commit nor its build has" if self.recipe.build else "it does not have"
            )
            raise NoProgramError(f"{what} the input '{shown(str(place))}'")
        self._keep(path)

    def _argument(self, cwd: Path, text: str) -> None:
        """Count a file that an argument names as an input; a folder may hold anything."""
        if not text or "\0" in text:
            return
        path = Path(os.path.normpath(cwd / text))
        try:
            if not path.is_relative_to(self.tree) or not path.exists():
                return
            if path.is_dir():
                self.opaque = True
            elif path.is_file():
                self._keep(path)
        except OSError:  # longer than a name may be
            return

    def _keep(self, path: Path) -> None:
        name = str(path.relative_to(self.tree))
        self.programs[name] = sha256_of(path) or "unreadable"


def search_path(folders: Iterable[Path], inherited: str | None) -> str:
    """Give the loader's search path: these folders, then what was searched anyway."""
    return ":".join([*map(str, folders), *filter(None, [inherited])])


def moved(recipe: Recipe, path: Path, tree: Path) -> Path:
    """Give the path in a commit's tree; one outside of the repository stays."""
    place = recipe.in_repository(path)
    return path if place is None else tree / place


def digest_of_sources(tree: Path, names: Sequence[str]) -> str:
    """Give one SHA-256 of the files that git tracks, as they are in a tree: names, kinds and contents."""
    total = hashlib.sha256()
    for name in sorted(names):
        path = tree / PurePosixPath(name)
        if path.is_symlink():
            kind, content = "link", os.fspath(path.readlink())
        elif path.is_file():
            kind = "program" if os.access(path, os.X_OK) else "file"
            content = sha256_of(path) or "unreadable"
        else:
            kind, content = "none", ""
        line = f"{name}\0{kind}\0{content}\0"
        total.update(line.encode("utf-8", "surrogateescape"))
    return total.hexdigest()
