"""What of a campaign holds for every commit: one variant's keys, its place, its inputs; and the campaign of commits made of it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from analysis.errors import UsageError
from analysis.record.yaml_reader import Document, Plain, Value, decoded, read_document
from analysis.words import Name

from ..campaign.cells import entries
from ..campaign.model import LAYOUT_SEED, Build, Campaign, Cell, texts_of
from ..campaign.resolve import MAX_SEED, load_campaign
from ..campaign.scalar_kinds import SEED_NAME, known_here, parse_template, words_of
from ..campaign.schema import check_shape
from ..errors import LaunchError
from ..host.executables import describe_target, read_elf, sha256_file, sha256_of
from ..launch.commands import base_environment, resolve
from .commits import NAMED, Commit, CommitRange, output_or_nothing

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

    Raises UsageError if the campaign lies outside of the repository, has no such variant or benchmark, builds in each
    session, or would execute one and the same program for every commit.
    """
    if campaign.services:
        what = f"a bisection starts no services, and the campaign has some: {campaign.services[0].name}"
        fix = "write a campaign without the key 'services' for it; a hook 'setup' may start what it needs"
        raise UsageError(what, str(campaign.source), fix)
    root = commits.root.resolve()
    place = place_in(campaign, root, campaign.source.parent)
    if place is None:
        what = f"the campaign lies outside of the repository {Name(root)}"
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
        what = f"the build of variant '{named}' belongs to each session (each: session), and a bisection builds each commit once"
        fix = "write a campaign for it whose build has no 'each' and no {layout_seed}, or name another --variant"
        raise UsageError(what, build.steps[0].mark, fix)
    for cell in cells:
        _check(campaign, root, cell)
    inputs, notes = _inputs(campaign, commits, root, cells)
    if len(campaign.variants) > 1:
        text = f"every commit is measured as the campaign's variant '{named}'"
        notes.insert(0, f"{text}; --variant takes another" if variant is None else text)
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
        raise UsageError(f"the campaign has no {kind} '{Name(name)}'", option, fix)


def files_of(cell: Cell) -> Iterator[Path]:
    """Give the files that a cell reads by its campaign: input, standard input, expected output."""
    yield from cell.inputs
    if cell.stdin is not None:
        yield cell.stdin
    if cell.expect.stdout_file is not None:
        yield cell.expect.stdout_file


def _check(campaign: Campaign, root: Path, cell: Cell) -> None:
    program, places = Path(cell.command.argv[0]), (cell.cwd, *files_of(cell))
    if program.is_absolute() and place_in(campaign, root, program) is not None:
        what = f"'{Name(program)}' is a file of your work tree: every commit would execute it"
        fix = "name it by a path relative to 'cwd', which is then the commit's own"
        raise UsageError(what, cell.command.mark, fix)
    if all(place_in(campaign, root, path) is None for path in places):
        what = f"benchmark '{cell.benchmark}' is executed in {Name(cell.cwd)}, outside of the repository"
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
        without = [k for k, x in ends if not output_or_nothing(root, *NAMED, f"{x.commit}:{place}")]
        if not without or not (root / place).is_file():
            continue  # the build may make it; whoever misses it says so
        taken[place] = sha256_file(root / place)
        notes.append(
            f"{Name(place)} is not in {' and '.join(without)}: unless the build makes it, it is "
            f"taken from the work tree, the same for all commits (sha256 {taken[place][:12]})"
        )
    return taken, notes


def _absolute(root: Path, cells: Sequence[Cell], build: Build | None) -> Iterator[str]:
    """Tell of texts that name the work tree, whatever the commit."""
    texts = [(text, "the command") for cell in cells for text in cell.command.argv[1:]]
    texts += [(text, f"variable {name}") for cell in cells for name, text in cell.env.items()]
    texts += [(text, "the build") for step in (build.steps if build else ()) for text in step.argv]
    found = [one for one in dict.fromkeys(texts) if str(root) in one[0] and str(root) != "/"]
    for text, where in found[:_NAMED]:
        yield f"{where} names your work tree ({Name(text)}): that is the same for all commits"


# --- Which files of a built tree are the program, and when two commits are one program. A built ELF file is known by its
# bytes, with its libraries of the tree. What a script imports, or a program that lies elsewhere reads, cannot be seen:
# then the program is the whole tree, as git names it.

SEARCH = "LD_LIBRARY_PATH"
_ROUNDS = 10  # libraries that need libraries


class NoProgramError(Exception):
    """The tree lacks what the campaign executes or reads; the text says what."""


@dataclass(frozen=True, slots=True)
class Built:
    """A commit that was built: its files are kept in `tree`, for as long as its trials need them.

    The files that count have their SHA-256 in `programs`; `libraries` are the folders that its loader has to search.

    `seconds` is what the build took; `reused` tells that it was built earlier.
    """

    commit: Commit
    tree: Path
    programs: Mapping[str, str]
    identity: str
    libraries: tuple[Path, ...] = ()
    seconds: float = 0.0
    reused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NotBuilt:
    """A commit that cannot be measured: `why`, in words, and where its build's output is (a file or folder)."""

    commit: Commit
    why: str
    log: Path


def find_programs(
    recipe: Recipe, commit: Commit, tree: Path, built_at: Path, environment: Mapping[str, str]
) -> Built:
    """Find the programs of the tree of a commit that was built at the path `built_at`.

    Every command starts from the variables `environment`.

    Raises NoProgramError if a program, a working folder or an input is not there.
    """
    search = _Search(recipe, tree, built_at, environment)
    for cell in recipe.cells:
        search.add(cell)
    programs = dict(sorted(search.programs.items()))
    if search.opaque:
        identity = f"tree:{commit.tree}"
    else:
        text = json.dumps(programs, sort_keys=True)
        identity = f"programs:{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()}"
    return Built(commit, tree, programs, identity, tuple(search.libraries))


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
            raise NoProgramError(f"the folder '{inside}' is not there")
        program = cell.command.argv[0]
        variables = {**self.environment, **cell.env}
        try:
            path = resolve(program, cwd, variables)
        except LaunchError as error:
            there = "there is" if self.recipe.build is None else "the build made"
            reason = "" if "not found" in error.what else f": {error.what}"
            raise NoProgramError(f"{there} no program '{program}'{reason}") from None
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
            raise NoProgramError(f"{what} the input '{place}'")
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
        total.update(f"{name}\0{kind}\0{content}\0".encode("utf-8", "surrogateescape"))
    return total.hexdigest()


# --- The campaign that measures commits: an ordinary file, made from the user's. All that is no path stands as the user
# wrote it. What the campaign's baseline (or ``--variant``) gives is filled in, so that ``{variant}`` in a build or a
# command means the same file in every commit; each path in the repository begins with ``{commit_tree}``, a value of
# each variant.

_TREE, _LIBRARIES, _COMMIT = "commit_tree", "commit_libraries", "commit_sha"
# Made anew, or without a meaning for commits: what is built is kept, and commits are no series of the user's.
_REPLACED = ("variants", "baseline", "benchmarks", "inputs", "build", "hooks", "commit", "series")
_BARE = re.compile("[A-Za-z0-9+-][A-Za-z0-9._+-]*")  # means the same without quotes in any place
_WORD = re.compile(r"(?!(?i:null)$)[A-Za-z_][A-Za-z0-9_-]*")
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def campaign_of(
    recipe: Recipe, built: Sequence[Built], file: Path, *, baseline: Built, trial: str = ""
) -> Campaign:
    """Write the campaign whose variants are these commits to `file`, and load it.

    Its variants are called as the commits (`Commit.name`), in the given order. Where sessions draw layouts, the
    seed is that of its `trial`: a proof in the layouts of the search would repeat their luck.

    Raises UsageError if a path is not UTF-8, or a value has a name that is needed here.
    """
    seed = recipe.campaign.seed
    if recipe.draws_layouts:
        digest = hashlib.sha256(f"{seed}:{trial}".encode()).digest()
        seed = int.from_bytes(digest[:8], "big") % (MAX_SEED + 1)
    text = campaign_text(recipe, built, baseline=baseline, seed=seed)
    try:
        file.write_text(text, encoding="utf-8")
    except UnicodeEncodeError:
        what = "a path of the campaign is not UTF-8 and cannot be written to a campaign"
        raise UsageError(what, str(file), "rename it") from None
    # a commit that fails is one of the answers
    defaults = {**recipe.campaign.defaults, "protocol.never_ok": "go_on"}
    return load_campaign(file, seed=seed, defaults=defaults, own=recipe.campaign.own_defaults)


def campaign_text(
    recipe: Recipe, built: Sequence[Built], *, baseline: Built, seed: int | None = None
) -> str:
    """Give the text of the campaign whose variants are these commits; `seed` is another than the template's."""
    template = recipe.campaign
    document = read_document(decoded(template.text, template.source), str(template.source))
    maker = _Maker(recipe, document, with_libraries=any(one.libraries for one in built))
    parts: dict[str, dict[str, Any]] = {
        "variants": {},  # they stand first, and need to know whether the others name the tree
        "benchmarks": {name: maker.benchmark(name) for name in maker.benchmarks},
        "hooks": maker.hooks(),
    }
    parts["variants"] = {one.commit.variant: maker.variant(one) for one in built}
    given = {name: value for name, value in maker.given.items() if name not in _REPLACED}
    if isinstance(given.get("protocol"), dict):
        given["protocol"] = {k: one for k, one in given["protocol"].items() if k != "never_ok"}
    if seed not in {None, template.seed}:
        given["seed"] = Plain(seed)
    lines = ["# commits of a bisection: each is measured in the tree that is kept of it"]
    lines += [f"{_key(name)}: {_flow(value)}" for name, value in given.items()]
    lines += [f"baseline: {_flow(baseline.commit.variant)}", f'commit: "{{{_COMMIT}}}"']
    for part, entry in parts.items():
        lines += [f"{part}:"] * bool(entry)
        lines += [f"  {_key(name)}: {_flow(value)}" for name, value in entry.items()]
    return "\n".join(lines) + "\n"


class _Maker:
    """Makes the parts of the campaign that are not as the user wrote them."""

    def __init__(self, recipe: Recipe, document: Document, *, with_libraries: bool) -> None:
        shape, faults = check_shape(document)
        assert shape is not None, "it was loaded before"
        assert isinstance(document.value, dict), "it was loaded before"
        self.recipe = recipe
        self.given: Mapping[str, Any] = document.value
        variants = entries(faults, "variants", shape["variants"])
        benchmarks = entries(faults, "benchmarks", shape["benchmarks"])
        self._variant = next(entry for entry in variants if entry.name == recipe.variant)
        self._entries = {entry.name: entry for entry in benchmarks}
        self.benchmarks: Mapping[str, Cell] = {cell.benchmark: cell for cell in recipe.cells}
        self.with_libraries = with_libraries
        self._used = self._used_by_hooks()
        clash = self._used & {_TREE, _LIBRARIES, _COMMIT}
        if clash:
            what = f"a hook uses the value '{min(clash)}', whose name is needed for commits"
            raise UsageError(what, str(recipe.campaign.source), "rename it in the campaign")
        self._in_tree = False

    def variant(self, built: Built) -> dict[str, Any]:
        values: dict[str, Any] = {_COMMIT: built.commit.commit}
        if self._in_tree:
            values[_TREE] = str(built.tree)
        if self.with_libraries:
            values[_LIBRARIES] = ":".join(map(str, built.libraries or (built.tree,)))
        return values

    def benchmark(self, name: str) -> dict[str, Any]:
        """Give one benchmark with all that the variant says of it."""
        cell, entry = self.benchmarks[name], self._entries[name]
        # what the file says of the benchmark, then of the variant, which wins
        sections = [
            self.given[str(one.path[0])][str(one.path[1])] or {} for one in (entry, self._variant)
        ]
        made: dict[str, Any] = {"command": [_literal(text) for text in cell.command.argv]}
        made["cwd"] = self._path(cell.cwd)
        if cell.stdin is not None:
            made["stdin"] = self._path(cell.stdin)
        if cell.inputs:
            made["inputs"] = [self._path(path) for path in cell.inputs]
        env = {key: _literal(text) for key, text in cell.env.items()}
        if self.with_libraries:
            variables = base_environment(self.recipe.campaign.isolation, os.environ)
            rest = env.get(SEARCH) or _literal(variables.get(SEARCH, ""))
            env[SEARCH] = f"{{{_LIBRARIES}}}{':' if rest else ''}{rest}"
        if env:
            made["env"] = env
        for section in sections:
            plain = ("stdout", "stderr", "timeout", "expect")
            made |= {key: section[key] for key in plain if key in section}
        if cell.expect.stdout_file is not None:
            made["expect"] = {**made["expect"], "file": self._path(cell.expect.stdout_file)}
        metrics = {
            key: rule for section in sections for key, rule in section.get("metrics", {}).items()
        }
        for rule in cell.metrics:
            if isinstance(rule.source, Path):
                metrics[rule.name] = {**metrics[rule.name], "from": self._path(rule.source)}
        if metrics:
            made["metrics"] = metrics
        values = {**entry.values, **self._variant.values}
        return made | {key: text for key, text in values.items() if key in self._used}

    def hooks(self) -> dict[str, Any]:
        """Give the hooks: those of runs in the commit's folder, those of sessions in the user's."""
        made, home = dict(self.given.get("hooks") or {}), self.recipe.campaign.source.parent
        for name in made.keys() & {"before", "after", "setup", "cleanup", "finish"}:
            of_runs = name in {"before", "after"}
            folder = self._path(home) if of_runs else _literal(str(home))
            start = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', folder]
            made[name] = [[*start, *self._words(step)] for step in _steps(made[name])]
        return made

    def _path(self, path: Path) -> str:
        place = self.recipe.in_repository(path)
        if place is None:
            return _literal(str(path))
        self._in_tree = True
        inside = "" if str(place) == "." else f"/{_literal(str(place))}"
        return f"{{{_TREE}}}{inside}"

    def _words(self, step: Any) -> list[str]:  # noqa: ANN401 - a command in one of its forms
        if isinstance(step, Mapping):
            words = ["/bin/sh", "-c", str(step["shell"])]
        else:
            words = words_of(step) if isinstance(step, str) else list(step)
        return [self._with_variant(text) for text in words]

    def _with_variant(self, text: str) -> str:
        template = parse_template(text)
        parts = [_literal(template.texts[0])]
        for name, rest in zip(template.names, template.texts[1:], strict=True):
            parts += [self.recipe.variant if name == "variant" else f"{{{name}}}", _literal(rest)]
        return "".join(parts)

    def _used_by_hooks(self) -> set[str]:
        hooks = self.given.get("hooks") or {}
        steps = [step for name in ("before", "after") for step in _steps(hooks.get(name))]
        found = [parse_template(text) for step in steps for text in self._words(step)]
        return {name for one in found for name in one.names} - {"variant", "benchmark"}


def _steps(value: Any) -> list[Any]:  # noqa: ANN401 - one command, a list of them, or none
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def _literal(text: str) -> str:
    """Give the template that stands for a text as it is; the seed of a layout is each session's own."""
    return text.replace("{", "{{").replace("}", "}}").replace(LAYOUT_SEED, f"{{{SEED_NAME}}}")


def _flow(value: Value) -> str:
    """Write a value as YAML on one line; what was written without quotes stays so where it can."""
    if value is None:
        return "null"
    if isinstance(value, Plain) and _BARE.fullmatch(value):
        return str(value)
    if isinstance(value, str):
        quoted = json.dumps(str(value), ensure_ascii=False)
        return _ESCAPED.sub(lambda sign: f"\\u{ord(sign.group()):04x}", quoted)
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return f"{{{', '.join(f'{_key(key)}: {_flow(item)}' for key, item in value.items())}}}"


def _key(name: str) -> str:
    return name if _WORD.fullmatch(name) else _flow(str(name))
