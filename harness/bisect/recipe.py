"""What of a campaign holds for every commit: one variant's keys, its place in the repository, its inputs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from analysis.errors import UsageError
from analysis.words import shown

from ..campaign.model import LAYOUT_SEED, texts_of
from ..campaign.scalar_kinds import known_here
from ..errors import LaunchError
from ..host.executables import describe_target, read_elf, sha256_file, sha256_of
from ..launch.commands import resolve
from .commits import GitError, git

if TYPE_CHECKING:
    from ..campaign.model import Build, Campaign, Cell
    from .commits import CommitRange

_NAMED = 3  # files that a note names


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How each commit is built and measured: as the campaign's `variant`, at the campaign's `place`.

    `place` is the campaign's folder, relative to `root`, the top of the repository; `cells` are those of the
    variant, one a benchmark. `inputs` are files that GOOD or BAD does not hold, by their place in the repository, and
    their SHA-256: they are taken from the work tree, the same for all commits. `notes` tell what is taken otherwise
    than somebody may think.
    """

    campaign: Campaign
    variant: str
    root: Path
    place: PurePosixPath
    cells: tuple[Cell, ...]
    build: Build | None
    inputs: Mapping[PurePosixPath, str]
    notes: tuple[str, ...]

    @property
    def draws_layouts(self) -> bool:
        """Whether a session is measured with seeds of its own, so that two trials must not have the same ones."""
        return any(LAYOUT_SEED in text for text in texts_of(self.cells))

    def in_repository(self, path: Path) -> PurePosixPath | None:
        """Give the place of a file or folder in the repository; None of what lies outside of it.

        Links are not followed: what a commit has at that place counts.
        """
        return place_in(self.campaign, self.root, path)


def place_in(campaign: Campaign, root: Path, path: Path) -> PurePosixPath | None:
    """Give the place of a path of a campaign in its repository; None of what lies outside."""
    folder = campaign.source.parent
    if path.is_relative_to(folder):  # the campaign may have been named through a link
        path = folder.resolve() / path.relative_to(folder)
    found = Path(os.path.normpath(path))
    return PurePosixPath(found.relative_to(root)) if found.is_relative_to(root) else None


def recipe_of(
    campaign: Campaign,
    commits: CommitRange,
    *,
    variant: str | None = None,
    benchmarks: Sequence[str] = (),
) -> Recipe:
    """Give what holds for every commit: the keys of `variant`, else of the campaign's baseline.

    Without `benchmarks` all of the campaign are measured.

    Raises
    ------
    UsageError
        If the campaign lies outside of the repository, has no such variant or benchmark, builds in each session,
        or would execute one and the same program for every commit.
    """
    if campaign.services:
        what = f"a bisection starts no services, and the campaign has some: {campaign.services[0].name}"
        fix = "write a campaign without the key 'services' for it; a hook 'setup' may start what it needs"
        raise UsageError(what, str(campaign.source), fix)
    root = commits.root.resolve()
    place = place_in(campaign, root, campaign.source.parent)
    if place is None:
        what = f"the campaign lies outside of the repository {shown(str(root))}"
        fix = "put it into the repository (it need not be committed), and begin there"
        raise UsageError(what, str(campaign.source), fix)
    named = campaign.baseline if variant is None else variant
    _known("variant", named, campaign.variants, "--variant")
    for benchmark in benchmarks:
        _known("benchmark", benchmark, campaign.benchmarks, "--benchmark")
    cells = tuple(
        campaign.cell(benchmark, named)
        for benchmark in campaign.benchmarks
        if not benchmarks or benchmark in benchmarks
    )
    build = next((one for one in campaign.builds if one.variant == named), None)
    if build is not None and build.each == "session":
        what = f"the build of variant '{shown(named)}' belongs to each session (each: session), and a bisection builds each commit once"
        fix = "write a campaign for it whose build has no 'each' and no {layout_seed}, or name another --variant"
        raise UsageError(what, build.steps[0].mark, fix)
    for cell in cells:
        _check(campaign, root, cell)
    inputs, notes = _inputs(campaign, commits, root, cells)
    if len(campaign.variants) > 1:
        told = f"every commit is measured as the campaign's variant '{named}'"
        notes.insert(0, f"{told}; --variant takes another" if variant is None else told)
    notes += _absolute(root, cells, build)
    return Recipe(
        campaign=campaign,
        variant=named,
        root=root,
        place=place,
        cells=cells,
        build=build,
        inputs=inputs,
        notes=tuple(dict.fromkeys(notes)),
    )


def _known(kind: str, name: str, names: Sequence[str], option: str) -> None:
    if name not in names:
        fix = known_here(name, names, names[:20])
        raise UsageError(f"the campaign has no {kind} '{shown(name)}'", option, fix)


def files_of(cell: Cell) -> Iterator[Path]:
    """Give the files that a cell reads by its campaign: input, standard input, expected output."""
    yield from cell.inputs
    if cell.stdin is not None:
        yield cell.stdin
    if cell.expect.stdout_file is not None:
        yield cell.expect.stdout_file


def _check(campaign: Campaign, root: Path, cell: Cell) -> None:
    program = cell.command.argv[0]
    inside = place_in(campaign, root, cell.cwd) is not None
    if Path(program).is_absolute() and place_in(campaign, root, Path(program)) is not None:
        what = f"'{shown(program)}' is a file of your work tree: every commit would execute it"
        fix = "name it by a path relative to 'cwd', which is then the commit's own"
        raise UsageError(what, cell.command.mark, fix)
    if not inside and not any(place_in(campaign, root, path) for path in files_of(cell)):
        what = f"benchmark '{cell.benchmark}' is executed in {shown(str(cell.cwd))}, outside of the repository"
        fix = "give a 'cwd' in the repository: nothing of a commit would be measured"
        raise UsageError(what, cell.command.mark, fix)


def _inputs(
    campaign: Campaign, commits: CommitRange, root: Path, cells: Sequence[Cell]
) -> tuple[dict[PurePosixPath, str], list[str]]:
    """Find the inputs that GOOD or BAD does not hold, and say where they are taken from."""
    ends = (("GOOD", commits.commits[0]), ("BAD", commits.commits[-1]))
    taken: dict[PurePosixPath, str] = {}
    notes: list[str] = []
    for path in (path for cell in cells for path in files_of(cell)):
        place = place_in(campaign, root, path)
        if place is None or place in taken:
            continue
        without = [name for name, commit in ends if not _holds(root, commit.commit, place)]
        if not without or not (root / place).is_file():
            continue  # the build may make it; whoever misses it says so
        taken[place] = sha256_file(root / place)
        notes.append(
            f"{shown(str(place))} is not in {' and '.join(without)}: unless the build makes it, it is "
            f"taken from the work tree, the same for all commits (sha256 {taken[place][:12]})"
        )
    return taken, notes


def _holds(root: Path, sha: str, place: PurePosixPath) -> bool:
    try:
        git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{sha}:{place}")
    except GitError:
        return False
    return True


def _absolute(root: Path, cells: Sequence[Cell], build: Build | None) -> Iterator[str]:
    """Tell of texts that name the work tree, whatever the commit."""
    texts = [(text, "the command") for cell in cells for text in cell.command.argv[1:]]
    texts += [(text, f"variable {name}") for cell in cells for name, text in cell.env.items()]
    texts += [(text, "the build") for step in (build.steps if build else ()) for text in step.argv]
    found = [one for one in dict.fromkeys(texts) if str(root) in one[0] and str(root) != "/"]
    for text, where in found[:_NAMED]:
        yield f"{where} names your work tree ({shown(text)}): that is the same for all commits"


# --- Which files of a built tree are the program, and when two commits are one program. A built ELF file is known by its
# bytes, with its libraries of the tree. What a script imports, or a program that lies elsewhere reads, cannot be seen:
# then the program is the whole tree, as git names it.

SEARCH = "LD_LIBRARY_PATH"
_ROUNDS = 10  # libraries that need libraries


class NoProgramError(Exception):
    """The tree lacks what the campaign executes or reads; the text says what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The files of a tree that count, with their SHA-256, and the folders that its loader has to search."""

    programs: Mapping[str, str]
    identity: str
    libraries: tuple[Path, ...] = ()


def find_programs(
    recipe: Recipe, tree: Path, git_tree: str, built_at: Path, environment: Mapping[str, str]
) -> Found:
    """Find the programs of a tree that was built at the path `built_at`.

    `git_tree` is git's name of the commit's files; every command starts from the variables `environment`.

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
        place = self.recipe.in_repository(cell.cwd)
        cwd = cell.cwd if place is None else self.tree / place
        if not cwd.is_dir():
            inside = cwd.relative_to(self.tree) if cwd.is_relative_to(self.tree) else cwd
            raise NoProgramError(f"the folder '{shown(str(inside))}' is not there")
        program = cell.command.argv[0]
        variables = {**self.environment, **cell.env}
        try:
            path = resolve(program, cwd, variables)
        except LaunchError as error:
            there = "there is" if self.recipe.build is None else "the build made"
            reason = "" if "not found" in error.what else f": {shown(error.what)}"
            raise NoProgramError(f"{there} no program '{shown(program)}'{reason}") from None
        self._executable(path, variables)
        for file in files_of(cell):
            self._input(file)
        for text in cell.command.argv[1:]:
            self._argument(cwd, text)

    def _executable(self, path: Path, variables: Mapping[str, str]) -> None:
        real, elf = path.resolve(), None
        if real.is_relative_to(self.tree):
            with contextlib.suppress(OSError):
                elf = read_elf(real)
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
        own = ":".join([*map(str, self.libraries), *filter(None, [variables.get(SEARCH)])])
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
            built = "neither the commit nor its build has"
            what = built if self.recipe.build else "it does not have"
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
