"""Where commits are built: a clone next to the user's repository, and the programs that are kept of each.

Equal sources give equal programs: every commit is built at one path, in files that git has just written, with
the same variables; ``SOURCE_DATE_EPOCH`` stands still, so that compilers write one date.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Self

from analysis.errors import StoreError, UsageError
from analysis.record.shapes import ShapeError, is_writable, opened, parse
from analysis.words import Name, shown

from ..campaign.cells import layout_seed
from ..campaign.model import LAYOUT_SEED, Command, filled
from ..errors import HostError, LauncherDiedError, LaunchError
from ..host.executables import sha256_file, sha256_of
from ..launch.client import kept_locks
from ..launch.commands import SideCommands, base_environment
from ..launch.matching import Interrupts, last_output
from ..trial.folder import lock_or_holder, open_inside, write_synced
from .commits import (
    ALONE,
    Clone,
    Commit,
    CommitRange,
    GitError,
    git,
    remove_tree,
    without_repository,
    writing_git,
)
from .recipe import (
    Built,
    NoProgramError,
    NotBuilt,
    Recipe,
    digest_of_sources,
    find_programs,
)

# --- The trees that are kept of built commits, each with a record that says what it holds.
# A tree counts once its record is there, which is written last and at once; anything else is the rest of a bisection
# that was killed. Trees stay until somebody asks for those that no trial names.

_ELSEWHERE = "or name another folder: --work-dir DIR; what is kept already stays"
SCHEMA = 1


class Record(NamedTuple):
    """What is known of a commit: a tree with its programs and sources, or why it was not built.

    A reason is known to the `bisection` that met it, and to no other: it may have gone since.
    """

    commit: str
    seconds: float
    programs: Mapping[str, str] = {}
    sources: str = ""
    why: str | None = None
    log: str | None = None
    bisection: str = ""


class KeptTrees:
    """The folder ``kept`` of a workshop. `key` names commit and recipe."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "kept"

    def make(self) -> None:
        """Make the folder, and delete trees without a record."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        for path in self.folder.iterdir():
            known = path.suffix == ".json" or path.with_name(f"{path.name}.json").is_file()
            if path.suffix == ".new" or not known:
                remove_tree(path)

    def read(self, key: str) -> Record | None:
        """Give the record of a commit; None where there is none that can be read."""
        with contextlib.suppress(OSError, StoreError, ShapeError, TypeError, AttributeError):
            with opened(self.folder / f"{key}.json") as file:
                data = parse(file.read())
            data.pop("size_bytes", None)  # of earlier versions
            if data.pop("schema", None) == SCHEMA:
                return Record(**data)
        return None

    def write(self, key: str, record: Record) -> None:
        """Write a record at once; with it its tree counts."""
        text = json.dumps({"schema": SCHEMA, **record._asdict()}, indent=1, sort_keys=True)
        write_synced(self.folder, f"{key}.new", f"{text}\n".encode())
        (self.folder / f"{key}.new").replace(self.folder / f"{key}.json")

    def forget(self, key: str) -> None:
        """Delete a record, and then its tree."""
        (self.folder / f"{key}.json").unlink(missing_ok=True)
        remove_tree(self.folder / key)


@contextlib.contextmanager
def stored(folder: Path) -> Iterator[None]:
    """Let errors of the file system be those of the workshop's folder."""
    try:
        yield
    except OSError as error:
        what = f"what is built cannot be stored: {os.strerror(error.errno or 0)}"
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        need = "free some space" if full else "give yourself the right to write"
        raise StoreError(what, str(error.filename or folder), f"{need}, {_ELSEWHERE}") from error


_MARKER, _LOCK, _GIT_LOG = "workshop.json", "lock", "git.log"
_ENDING_S = 20.0  # what launchers of a killed bisection may need to end what they started
_LEAST_FREE = 2**20  # bytes: a build that fails with less on the disk says nothing of its commit
# What compilers take for the time, unless the environment says another.
_TIME = {"SOURCE_DATE_EPOCH": "1000000000"}
_FULL = re.compile("No space left on device|Disk quota exceeded")
_KILLED = re.compile(r" (?:signal 9|exit code 137):|\bKilled\b|\bsignal: (?:9|killed)\b")
# What of the environment decides how compilers work.
_COMPILERS = (
    *("CC", "CXX", "CPP", "LD", "AR", "FC", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "FFLAGS", "LDFLAGS"),
    *("LIBS", "MAKEFLAGS", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH"),
    *("PKG_CONFIG_PATH", "LD_LIBRARY_PATH", "RUSTFLAGS", "CARGO_BUILD_FLAGS", "GOFLAGS", "PATH"),
)


def default_folder(name: str, root: Path) -> Path:
    """Give where the builds of a campaign and repository are kept when nobody says where."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(cache) if Path(cache).is_absolute() else Path.home() / ".cache"
    mark = hashlib.sha256(os.fsencode(root)).hexdigest()[:8]
    return base / "fairtrial" / f"bisect-{name}-{mark}"


class Workshop:
    """Builds commits in a clone, all at one path, and keeps what comes out.

    A context manager: the clone goes at its end, or at the next beginning after a kill; what is kept stays.
    """

    def __init__(
        self,
        commits: CommitRange,
        recipe: Recipe,
        interrupts: Interrupts,
        *,
        folder: Path | None = None,
        bisection: str = "",
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        """Take `folder`, or one for this campaign and repository in ``$XDG_CACHE_HOME/fairtrial``.

        Builds that failed are known again to the `bisection` of that name, and to no other. `say` hears of
        what begins, such as a build.

        Raises UsageError if the folder lies in the work tree, holds something else, or has a name that no campaign
        can hold.
        """
        self._commits, self._recipe, self._interrupts = commits, recipe, interrupts
        self._bisection, self._say = bisection, say
        chosen = folder or default_folder(recipe.campaign.name, recipe.root)
        self.folder = chosen.absolute().resolve()
        self._check_folder()
        self._kept = KeptTrees(self.folder)
        self._clone = Clone(commits, self.folder)
        self._environment = base_environment(
            recipe.campaign.isolation, without_repository(os.environ)
        )
        self._lock: int | None = None
        self.notes: tuple[str, ...] = ()  # what somebody may take otherwise
        self._recipe_key = self._digest()

    def __enter__(self) -> Self:
        """Lock the folder, and remove what a killed bisection left.

        Raises StoreError if another bisection uses the folder, or it cannot be written.
        """
        with stored(self.folder):
            self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.folder.mkdir(mode=0o700, exist_ok=True)
            self._lock = open_inside(self.folder, _LOCK, os.O_RDWR | os.O_CREAT)
            try:
                self._wait_for_lock(self._lock)
                text = json.dumps({"schema": 1, "repository": os.fsencode(self._recipe.root).hex()})
                write_synced(self.folder, _MARKER, f"{text}\n".encode())
                self._clone.remove()
                self._kept.make()
            except BaseException:
                self._unlock()
                raise
        return self

    def _wait_for_lock(self, lock: int) -> None:
        """Take the lock, which the launchers of a killed bisection have until nothing of it writes any more."""
        until = time.monotonic() + _ENDING_S
        while (holder := lock_or_holder(lock)) is not None:
            self._interrupts.check()
            what = "another bisection builds there right now"
            lives = not holder or Path("/proc", holder).exists()
            if not lives:
                what = f"what a killed bisection started (process {holder}) still writes there"
            if lives or time.monotonic() > until:
                fix = "let it end, or name another folder: --work-dir DIR"
                raise StoreError(what, str(self.folder), fix)
            time.sleep(0.02)
        kept_locks.add(lock)

    def __exit__(self, *_: object) -> None:
        try:
            with stored(self.folder):
                self._clone.remove()
        finally:
            self._unlock()

    def build(self, commit: Commit, *, again: bool = False) -> Built | NotBuilt:
        """Build a commit, or give what is kept of it.

        A build that failed in this bisection is known too: it is not tried anew, except with `again`.

        Raises StoreError if the disk is full, or the folder may not be written; FairtrialError if the clone cannot be
        made, or what executes builds was killed itself; Interrupted if a signal came.
        """
        key = f"{commit.commit[:12]}-{self._recipe_key}"
        with stored(self.folder):
            known = self._known(commit, key, again=again)
            if known is not None:
                return known
            self._kept.forget(key)
            logs = self.folder / "logs" / key
            logs.mkdir(mode=0o700, parents=True, exist_ok=True)
            for path in logs.iterdir():
                path.unlink()
            limit = self._recipe.campaign.isolation.output_limit_bytes
            commands = SideCommands(None, self._interrupts, limit)
            try:
                self._clone.make(writing_git(commands, logs / _GIT_LOG))
                return self._built(commit, key, commands, logs)
            except GitError as error:
                self._interrupts.check()
                self._refuse_full(error.what, self.folder)
                raise
            finally:
                commands.close()

    def _known(self, commit: Commit, key: str, *, again: bool) -> Built | NotBuilt | None:
        """Give what is kept of a commit, where it is as it was recorded."""
        record = self._kept.read(key)
        if record is None or record.commit != commit.commit:
            return None
        if record.why is not None:
            log = Path(record.log or self.folder)
            again = again or record.bisection != self._bisection
            return None if again else NotBuilt(commit=commit, why=record.why, log=log)
        with contextlib.suppress(OSError, NoProgramError):
            tree = self._kept.folder / key
            if record.sources == digest_of_sources(tree, self._tracked(commit)) and all(
                sha256_file(tree / name) == digest for name, digest in record.programs.items()
            ):
                return self._found(commit, tree, record.seconds, reused=True)
        return None

    def _built(
        self, commit: Commit, key: str, commands: SideCommands, logs: Path
    ) -> Built | NotBuilt:
        began = time.monotonic()
        try:
            self._make(commit, commands, logs)
        except (GitError, LaunchError) as error:
            self._interrupts.check()
            if isinstance(error.__cause__, LauncherDiedError):
                raise  # of memory or by somebody's hand: that says nothing of the commit
            return self._failed(commit, key, error.what, logs, time.monotonic() - began)
        finally:
            commands.close()  # with whatever a build left behind
        seconds = time.monotonic() - began
        tree = self._kept.folder / key
        self._clone.hand_over(tree)
        self._put_inputs(tree)
        try:
            found = self._found(commit, tree, seconds)
        except NoProgramError as error:
            return self._failed(commit, key, str(error), logs, seconds)
        sources = digest_of_sources(tree, self._tracked(commit))
        self._kept.write(key, Record(commit.commit, seconds, found.programs, sources))
        return found

    def _found(self, commit: Commit, tree: Path, seconds: float, *, reused: bool = False) -> Built:
        args = (self._recipe, commit, tree, self._clone.path, self._environment)
        return dataclasses.replace(find_programs(*args), seconds=seconds, reused=reused)

    def _make(self, commit: Commit, commands: SideCommands, logs: Path) -> None:
        limit = self._recipe.campaign.protocol.build_timeout_s

        def execute(command: Command, cwd: Path) -> None:
            try:
                commands.execute(
                    "the update of submodules",
                    command,
                    cwd=cwd,
                    env={**self._environment, **ALONE},
                    log=logs / "submodules.log",
                    timeout_s=limit,
                )
            except LaunchError as error:
                commands.sweep()
                why = shown(error.what.splitlines()[-1].strip())
                raise LaunchError(f"its submodules cannot be had: {why}") from error

        self._clone.check_out(commit, writing_git(commands, logs / _GIT_LOG), execute)
        self._note_lfs(commit)
        place = self._clone.path / self._recipe.place
        place.mkdir(parents=True, exist_ok=True)
        build = self._recipe.build
        if build is None:
            return
        self._say(f"build   {commit.variant}  {commit.subject}")
        seed = layout_seed(self._recipe.campaign.seed, 0, commit.variant)
        named = dataclasses.replace(build, variant=commit.variant, cwd=place)
        named = filled(named, {LAYOUT_SEED: str(seed)})
        commands.build(named, _TIME | self._environment, logs, timeout_s=limit)

    def _failed(self, commit: Commit, key: str, what: str, logs: Path, seconds: float) -> NotBuilt:
        """Keep why a commit was not built; a full disk and a kill are no properties of a commit."""
        newest = sorted(logs.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        log = newest[-1] if newest else logs
        self._refuse_full(what, log)
        if _KILLED.search(what):
            fix = "of memory, perhaps: give builds more, or let them take less, and go on: --resume"
            raise HostError(f"the build of {commit.short} was killed", str(log), fix)
        lines = [line.strip() for line in what.replace(f" of '{commit.variant}'", "").splitlines()]
        why = "; ".join(shown(line) for line in (lines[0], *lines[-1:][: len(lines) > 1]))
        record = Record(commit.commit, seconds, why=why, log=str(log), bisection=self._bisection)
        self._kept.forget(key)
        self._kept.write(key, record)
        return NotBuilt(commit=commit, why=why, log=log)

    def _refuse_full(self, what: str, log: Path) -> None:
        output = what + last_output(log, 65536)
        if shutil.disk_usage(self.folder).free < _LEAST_FREE or _FULL.search(output):
            fix = f"free some space, {_ELSEWHERE}"
            raise StoreError("a build failed on a full disk", str(self.folder), fix)

    def _put_inputs(self, tree: Path) -> None:
        """Put the inputs that no end of the range holds where the build did not make them."""
        for place, digest in self._recipe.inputs.items():
            path, source = tree / place, self._recipe.root / place
            if os.path.lexists(path):
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if sha256_of(source) == digest:
                shutil.copy2(source, path)
            if sha256_of(path) != digest:
                what = "the input has changed since the bisection began"
                raise StoreError(what, str(source), "put it back as it was, or begin anew")

    def _tracked(self, commit: Commit) -> list[str]:
        words = ("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit.commit)
        return [name for name in git(self._commits.root, *words).split("\0") if name]

    def _note_lfs(self, commit: Commit) -> None:
        words = ("grep", "-q", "-e", "filter=lfs", commit.commit, "--", "*.gitattributes")
        note = "files that Git LFS keeps are not fetched: builds see what git itself holds of them"
        with contextlib.suppress(GitError):
            git(self._clone.path, *words)
            self.notes = (note,)

    def _digest(self) -> str:
        """Give a short name of everything but the commit that decides what is built."""
        recipe = self._recipe
        build = recipe.build
        parts = {
            "steps": [step.argv for step in build.steps] if build else [],
            "env": dict(build.env) if build else {},
            "place": str(recipe.place),
            "inputs": [[str(place), digest] for place, digest in recipe.inputs.items()],
            "compilers": {name: self._environment.get(name) for name in _COMPILERS},
            "folder": str(self.folder),
        }
        text = json.dumps(parts, sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]

    def _check_folder(self) -> None:
        folder, roots = self.folder, (self._recipe.root, self._commits.git_dir)
        inside, fix = set[str](), "name another: --work-dir DIR"
        with contextlib.suppress(FileNotFoundError, PermissionError, NotADirectoryError):
            inside = {path.name for path in folder.iterdir()} - {_LOCK}
        what = None
        if any(map(folder.is_relative_to, roots)):
            what = "builds cannot lie in the work tree, where other tools would find them"
            fix = "name a folder outside of it: --work-dir DIR"
        elif not is_writable(str(folder)):
            what = "the folder is not UTF-8 and cannot be written to a campaign"
        elif ":" in str(folder):
            what = "the folder's name has a colon, which ends a folder where programs are searched"
        elif folder.exists() and not folder.is_dir():
            what = "a file is in the place of the folder"
        elif inside and _MARKER not in inside:
            what = "the folder holds something else"
            fix = "name an empty one, or one of an earlier bisection"
        if what is not None:
            raise UsageError(what, f"--work-dir {Name(folder)}", fix)

    def _unlock(self) -> None:
        if self._lock is not None:
            kept_locks.discard(self._lock)
            os.close(self._lock)
            self._lock = None
