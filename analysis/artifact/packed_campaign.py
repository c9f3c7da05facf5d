"""Campaigns in a bundle: where they lie, and every file that they name, at its place."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from ..data.host_record import read_environments, settings_of
from ..errors import UsageError
from ..pages.model import Caution
from ..record.shapes import file_hash
from ..record.trial_files import ALL_SESSIONS, BUILDS, CAMPAIGN, Manifest, read_builds
from .archive import steps_of
from .describing import ABOUT, About, PackingRequest, read_about
from .gathering import CopiedSource, Staging

Role = Literal["program", "word", "input"]
_BEHIND_OPTION = re.compile(r"-[A-Za-z](.+)")
_MAKERS = {  # programs that read a file which no argument names
    "make": ("GNUmakefile", "makefile", "Makefile"),
    "gmake": ("GNUmakefile", "makefile", "Makefile"),
    "cmake": ("CMakeLists.txt",),
    "ninja": ("build.ninja",),
    "meson": ("meson.build", "meson_options.txt"),
    "cargo": ("Cargo.toml", "Cargo.lock"),
    "go": ("go.mod", "go.sum"),
    "mvn": ("pom.xml",),
    "npm": ("package.json", "package-lock.json"),
}


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class NamedPath:
    """A path that a campaign names."""

    path: str  # as it is written; relative to `cwd`
    cwd: str = "."  # the folder that it starts at, relative to the campaign's, or absolute
    # a program that is executed; a word of a command line, which need not be a path at all; a file
    # that is read (standard input, an expected output, an input)
    role: Role


def named_files(campaign: Mapping[str, Any]) -> Iterator[NamedPath]:
    """Give what a resolved campaign names, perhaps more than once."""
    for step, cwd in steps_of(campaign):
        first, *words = step["argv"]
        if "/" in first:
            yield NamedPath(path=first, cwd=cwd, role="program")
        for text in _MAKERS.get(PurePosixPath(first).name, ()):
            yield NamedPath(path=text, cwd=cwd, role="word")
        for word in words:
            for part in _parts(word):
                yield NamedPath(path=part, cwd=cwd, role="word")
    for cell in campaign.get("cells", ()):
        wanted = (cell.get("expect") or {}).get("stdout_file")
        for path in (cell.get("stdin"), wanted, *(cell.get("inputs") or ())):
            if path is not None:
                yield NamedPath(path=path, role="input")


def _parts(word: str) -> Iterator[str]:
    """Give what of an argument may be a path: all of it, what stands behind ``=``, ``-I`` or ``@``."""
    yield word
    if "=" in word:
        yield word.partition("=")[2]
    behind = _BEHIND_OPTION.fullmatch(word)
    if behind is not None:
        yield behind.group(1)
    if word.startswith("@"):
        yield word[1:]


_MOST_HASHED = 256 * 1024**2  # bytes of a file that is read for its hash, though it is not packed


@dataclass(frozen=True, slots=True, kw_only=True)
class _PackedCampaign:
    """A campaign that is packed, file by file."""

    trial: Path  # the trial that stores it
    manifest: Manifest  # the trial's
    # where the campaign lies with its files; None where that is not known, or gone
    folder: Path | None
    root: str  # its folder in the bundle
    about: About  # what the authors say
    binaries: bool  # whether programs are packed too, and not only hashed
    # real paths that no pattern chooses: the archive itself, and trials that are packed anyway
    avoid: frozenset[str]
    staging: Staging
    packed: set[str] = field(default_factory=set)  # names below its folder

    def pack(self) -> str | None:
        """Pack it; give its file's path in the bundle, None where the trial stores none."""
        stored, place = self.trial / CAMPAIGN, f"{self.root}/{CAMPAIGN}"
        if not stored.is_file():
            if self.manifest.origin != "imported":
                self.staging.miss(place, "the trial does not hold it")
            return None
        self.staging.copy(place, stored)
        if self.about.path is not None:
            self.staging.copy(f"{self.root}/{ABOUT}", self.about.path)
            self.packed.add(ABOUT)
        if self.folder is None:
            why = f"the campaign's folder is not there any more: {self.manifest.campaign_path}"
            self.staging.miss(f"the files that {place} names", why)
            for path, sha256 in sorted(self._recorded().items()):
                self.staging.miss(
                    path, "the campaign's folder is not there any more", sha256=sha256
                )
            return place
        named: Sequence[NamedPath] = ()
        try:
            resolved = settings_of(self.trial)
            named = sorted(set(named_files(resolved)))
            if not resolved:
                raise LookupError
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            why = (
                "the trial does not store its resolved campaign, so that they are not known; name "
                f"them under 'files' of {ABOUT}"
            )
            self.staging.miss(f"the files that {place} names", why)
        self._pack_files(Path(os.path.realpath(self.folder)), named)
        return place

    def _pack_files(self, base: Path, paths: Sequence[NamedPath]) -> None:
        if file_hash(base / CAMPAIGN) == file_hash(self.trial / CAMPAIGN):
            # else another file of that name is listed: its place is taken
            self.packed.add(CAMPAIGN)
        chosen = sorted(self._matching(base))
        recorded = self._recorded()
        built: dict[str, set[str]] = {}  # what sessions built, and all hashes that it had
        for one in read_builds(self.trial):
            for name, digest in one.hashes.items() if one.session != ALL_SESSIONS else ():
                built.setdefault(name, set()).add(digest)
        for name, hashes in built.items():
            if len(hashes) == 1:
                recorded[str(base / name)] = min(hashes)
            else:
                self.packed.add(name)
                self.staging.miss(name, f"each session built its own; {BUILDS} has their hashes")
        for path in self.manifest.targets:
            if path in recorded and _below(base, Path(path)) is None:
                self.staging.miss(path, "a program of the host", sha256=recorded[path])
        folders = {folder for named in paths if (folder := self._pack(named, base, recorded))}
        for name in chosen:
            if name not in self.packed:
                self.packed.add(name)
                self.staging.copy(f"{self.root}/{name}", base / name, missed=name)
        for name in sorted(folders):
            if not any(one.startswith(f"{name}/") for one in self.packed):
                why = (
                    "a command names this folder, and what it reads of it is not known; name the "
                    f"files under 'files' of {ABOUT}"
                )
                self.staging.miss(f"{name}/", why)

    def _pack(self, named: NamedPath, base: Path, recorded: Mapping[str, str]) -> str | None:
        if "\0" in named.path or not named.path:
            return None
        given = Path(os.path.normpath(base / named.cwd / named.path))
        local, known = _below(base, given), recorded.get(str(given))
        try:
            is_file, is_dir = given.is_file(), given.is_dir()
        except PermissionError as error:
            self.staging.miss(named.path, f"it cannot be read: {error.strerror}", sha256=known)
            return None
        except OSError:  # a word that is no path
            return None
        if local is None:
            if is_file and str(given) not in self.manifest.targets:
                size = given.stat().st_size
                why = "it lies outside of the campaign's folder"
                if named.role == "program":
                    why = "a program of the host"
                sha256 = known or (file_hash(given) if size <= _MOST_HASHED else None)
                self.staging.miss(named.path, why, sha256=sha256, size=size)
        elif is_dir:
            return local if local != "." and named.role == "word" else None
        elif local not in self.packed:
            if is_file:
                self.packed.add(local)
                self._inside(named, given, local, known)
            elif known is not None or named.role != "word":
                self.staging.miss(local, "it is not there any more", sha256=known)
        return None

    def _inside(self, named: NamedPath, given: Path, local: str, known: str | None) -> None:
        left_out = False
        if named.role != "input" and not self.binaries:
            with contextlib.suppress(OSError), given.open("rb") as file:
                left_out = file.read(4) == b"\x7fELF"
        now = file_hash(given) if known is not None or left_out else None
        if known is not None and now != known:
            why = "it has changed since it was measured; the hash is that of the measured one"
            self.staging.miss(local, why, sha256=known)
        elif left_out:
            why = "a program; --binaries packs it"
            self.staging.miss(local, why, sha256=now, size=given.stat().st_size)
        else:
            self.staging.copy(f"{self.root}/{local}", given, missed=local)

    def _recorded(self) -> dict[str, str]:
        """Give the hashes that the trial stores of files, by their absolute paths."""
        then = Path(self.manifest.campaign_path).parent
        base = then if self.folder is None else Path(os.path.realpath(self.folder))
        found: dict[str, str] = {}
        for record in read_environments(self.trial):
            for path, of in record.sections.get("inputs", {}).items():
                sha256 = of.get("sha256") if isinstance(of, dict) else None
                if isinstance(sha256, str):
                    found[str(then / path)] = sha256
        found |= self.manifest.arguments
        found |= {
            path: sha256
            for path, sha256 in self.manifest.targets.items()
            if re.fullmatch("[0-9a-f]{64}", sha256)
        }
        real = Path(os.path.realpath(then))
        moved = {}
        for path, sha256 in found.items():
            plain = Path(os.path.normpath(path))
            local = _below(then, plain) or _below(real, plain)
            moved[str(base / local) if local is not None else path] = sha256
        return moved

    def _matching(self, base: Path) -> Iterator[str]:
        """Give the files that the patterns of ``bundle.yaml`` choose; one without any is listed."""
        for pattern in self.about.files:
            count = 0
            for place in files_matching(base, pattern):
                count += 1
                real = os.path.realpath(place)
                name = place.relative_to(base).as_posix()
                if any(real == one or real.startswith(f"{one}/") for one in self.avoid):
                    continue
                if _below(base, Path(real)) is None:
                    why = "it is a link that leads out of the campaign's folder"
                    self.staging.miss(name, why)
                else:
                    yield name
            if not count:
                self.staging.miss(pattern, f"no file fits this pattern of {ABOUT}")


def files_matching(base: Path, pattern: str) -> list[Path]:
    """Give the files below a folder that fit a pattern: ``*`` stays in a folder, ``**`` goes below.

    A pattern that names a folder, such as ``src/``, chooses everything below it. Hidden files fit only
    where the pattern names a dot at the beginning of a part.
    """
    whole = f"{pattern}**" if pattern.endswith("/") else pattern
    asked = whole.removeprefix("./").split("/")
    hidden = any(part.startswith(".") for part in asked)
    if any("**" in part and part != "**" for part in asked):
        return []  # Python 3.13 would take * for it
    try:
        found = list(base.glob(f"{whole}/*" if whole.endswith("**") else whole))
    except (ValueError, NotImplementedError):  # none of the patterns that are known
        return []
    parts = [(path, path.relative_to(base).parts) for path in found if path.is_file()]
    return [
        path
        for path, inside in parts
        if "__pycache__" not in inside
        and (hidden or not any(one.startswith(".") for one in inside))
    ]


def _below(base: Path, path: Path) -> str | None:
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else None


def pack_campaigns(
    request: PackingRequest,
    found: Sequence[CopiedSource],
    staging: Staging,
    *,
    named: About | None,
    output: Path,
) -> tuple[list[CopiedSource], About, list[Caution]]:
    """Pack the campaign of each trial, once where several trials share it."""
    campaigns = {one.manifest.campaign_sha256 for one in found if one.manifest is not None}
    if request.campaign is not None and len(campaigns) > 1:
        what = "the trials are of different campaigns, and one file is named for them"
        fix = "leave out --campaign, or pack each campaign's trials on their own"
        raise UsageError(what, str(request.campaign), fix)
    cautions: list[Caution] = []
    packed: dict[tuple[str, str], str | None] = {}
    about = named
    avoid = frozenset(os.path.realpath(path) for path in (output, *(one.origin for one in found)))
    texts: list[CopiedSource] = []
    for one in found:
        if one.manifest is None:
            texts.append(one)
            continue
        folder, caution = _folder_of(one, one.manifest, request)
        if caution is not None:
            cautions.append(caution)
        there = None if folder is None else folder / ABOUT
        its = named or (read_about(there) if there is not None and there.is_file() else About())
        about = about or its
        key = (str(folder), one.manifest.campaign_sha256)
        if key not in packed or folder is None:
            packed[key] = _PackedCampaign(
                trial=one.origin,
                manifest=one.manifest,
                folder=folder,
                root=f"campaigns/{one.source.name}",
                about=its,
                binaries=request.binaries,
                avoid=avoid,
                staging=staging,
            ).pack()
        texts.append(replace(one, source=replace(one.source, campaign=packed[key])))
    if about is None or about.path is None:
        where = "next to the campaign" if texts and any(one.manifest for one in texts) else "named"
        staging.miss(ABOUT, f"none is {where}: title, authors, licence and DOI are not known")
    return texts, about or About(), cautions


def _folder_of(
    one: CopiedSource, manifest: Manifest, request: PackingRequest
) -> tuple[Path | None, Caution | None]:
    """Find where a campaign lies with its files; say so if its file is another one by now."""
    file = request.campaign or Path(manifest.campaign_path)
    try:
        # where it lay is a whole path; another one would depend on who packs, and where
        there = file.is_file() and (file.is_absolute() or request.campaign is not None)
        stored = one.origin / CAMPAIGN
        same = there and stored.is_file() and file.read_bytes() == stored.read_bytes()
    except OSError:
        there = same = False
    if not there:
        if request.campaign is not None:
            raise UsageError("there is no such campaign", str(file), "name its file")
        return (None if request.about is None else request.about.parent), None
    if same:
        return file.parent, None
    what = f"{file} is not what was measured any more; the trial's own copy is packed"
    return file.parent, Caution("campaign-changed", what, (one.source.name,))
