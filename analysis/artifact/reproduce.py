"""Checks a bundle, unpacks it, and computes every stored result anew; compares trials measured again with its own.

Nothing of the bundle is executed: only commands of this installation, which read and print. So what
comes out is what these raw rows give here, whoever packed them.

Until 0.2.0 the wall time was judged without a word, also where benchmarks declare metrics; since then
such an answer says so, and a gate refuses. A bundle of that time is held against what it asked then.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from ..announcing import doing
from ..data.fleet import open_fleet
from ..data.trial import read_trial
from ..errors import AnalysisError, FairtrialError, StoreError, UsageError
from ..pages.model import Block, Caution, CommandLine, Page, Section, Sentence, section
from ..pages.number_format import listed
from ..pages.result import Result
from ..record.fleet import FLEET, is_fleet
from ..record.manifest import read_manifest, refuse_existing
from ..record.trial_files import MANIFEST, OUTPUTS
from ..verdict.comparison import compare_trials
from ..verdict.comparison_effects import overall
from ..verdict.comparison_result import TrialComparison
from ..version import VERSION
from ..words import Name, command_line
from .archive import (
    BUNDLE,
    MOST_BYTES,
    MOST_ENTRIES,
    SUMS,
    Analysis,
    Archive,
    Contents,
    open_archive,
    read_contents,
    read_tar,
    unpack_tar,
)
from .claims import (
    StoredClaim,
    claims_text,
    coarse_cautions,
    is_coarse,
    read_stored_claims,
    weigh_claim,
)
from .describing import CRATE, README, citation_text, crate_text, readme_text, works_outside
from .recomputing import (
    Commands,
    LimitReachedError,
    Limits,
    fault_of_command,
    passing_folder,
    recompute,
)
from .reproduction import (
    ClaimCheck,
    OtherVersion,
    Recomputation,
    Reproduction,
    compare_documents,
    document_of,
    other_versions,
)

Word = Literal["reproduced", "partly", "not", "cannot tell"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunTrial:
    """A trial that was measured again."""

    unlisted: ClassVar[frozenset[str]] = frozenset({"comparison", "reason"})  # JSON has them last
    derived: ClassVar[tuple[str, ...]] = ("word", "reason", "more_sessions", "comparison")

    name: str  # as the bundle calls it
    old: str  # the folders of both trials
    new: str
    campaign: str  # the campaign's file in the new folder
    comparison: TrialComparison | None  # both compared; None where they cannot be
    reason: str | None = None  # why not

    @property
    def word(self) -> Word:
        """What became of the first trial's conclusions."""
        return "cannot tell" if self.comparison is None else self.comparison.word

    @property
    def more_sessions(self) -> int | None:
        """How many more sessions would probably decide, where it is undecided and that is known."""
        if self.comparison is None or self.word != "cannot tell":
            return None
        lines = [one for each in self.comparison.candidates if (one := each.lead) is not None]
        wanted = [one.more_sessions.sessions for one in lines if one.more_sessions is not None]
        known = [count for count in wanted if count is not None]
        return max(known, default=None)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Rerun(Result):
    """What measuring an artifact's trials again has shown."""

    method: ClassVar[str] = "rerun"
    unlisted: ClassVar[frozenset[str]] = frozenset({"trials"})
    derived: ClassVar[tuple[str, ...]] = ("word", "exit_code", "trials")

    bundle: str  # the file, and the new folder with both trials
    folder: str
    metric: str | None  # what was asked for; None for what each old trial's verdict judges
    confidence: float  # of the intervals
    trials: tuple[RerunTrial, ...]  # each trial that was measured again

    @property
    def word(self) -> Word:
        """What became of the conclusions over all trials, as over the candidates of one."""
        return overall([one.word for one in self.trials])

    @property
    def exit_code(self) -> int:
        """What the command ends with: 0 reproduced, 1 partly or not, 7 cannot tell."""
        return {"reproduced": 0, "cannot tell": 7}.get(self.word, 1)

    def screen(self) -> Page:
        """Set what each trial says now; of several the words of all come first."""
        several = len(self.trials) > 1
        sections: list[Section] = []
        following: list[Section] = []
        if several:
            words = "; ".join(f"{one.name} {one.word}" for one in self.trials)
            sections.append(section(f"{self.word}: {words}"))
        for one in self.trials:
            title = one.name if several else ""
            if one.comparison is None:
                sections.append(section(f"cannot tell: {one.reason or ''}", title=title))
                continue
            page = one.comparison.screen()
            sections += [Section(page.sections, title)] if several else page.sections
            following += page.following
        following += [section(*_more(one)) for one in self.trials if one.word == "cannot tell"]
        where = f"this answer is stored in {self.folder}/rerun.md, with both trials"
        return Page(
            title=f"{self.bundle}, measured again",
            sections=tuple(sections),
            cautions=self.cautions,
            following=(*following, section(where)),
        )


def judge_reruns(
    bundle: str,
    folder: Path,
    pairs: Sequence[tuple[str, Path, Path, Path]],
    *,
    metric: str | None = None,
    confidence: float = 0.95,
) -> Rerun:
    """Compare trials of a bundle with those that were measured again."""
    trials: list[RerunTrial] = []
    cautions: list[Caution] = []
    references: tuple[str, ...] = ()
    for name, old, new, campaign in pairs:
        comparison, reason = None, None
        try:
            before = read_trial(old)
            judged = before.default_metric if metric is None else metric
            comparison = compare_trials(
                before, read_trial(new), metric=judged, confidence=confidence
            )
        except AnalysisError as error:
            reason = error.what
            cautions.append(Caution("rerun-not-compared", f"{name}: {reason}", (name,)))
        else:
            cautions += [one.of(name) if len(pairs) > 1 else one for one in comparison.cautions]
            references = comparison.references
            fewer, all_of = comparison.new.sessions, comparison.old.sessions
            if fewer < all_of:
                text = f"{name}: {fewer} of {all_of} sessions were measured again: it can tell less"
                cautions.append(Caution("rerun-shortened", text, (name,)))
        trials.append(
            RerunTrial(
                name=name,
                old=str(old),
                new=str(new),
                campaign=str(campaign),
                comparison=comparison,
                reason=reason,
            )
        )
    return Rerun(
        bundle=bundle,
        folder=str(folder),
        metric=metric,
        confidence=float(confidence),
        trials=tuple(trials),
        cautions=tuple(cautions),
        references=references,
    )


def _more(one: RerunTrial) -> Iterator[Block]:
    more = one.more_sessions
    known = "more sessions may tell" if more is None else f"{more} more would probably tell"
    yield Sentence(f"to add sessions ({known}), and compare again:")
    run = ("fairtrial", "run", one.campaign, "--resume", "--trial", one.new)
    yield CommandLine(command_line((*run, "--sessions", f"+{more or 2}")))
    yield CommandLine(command_line(("fairtrial", "diff", one.old, one.new)))


# --- Is an artifact whole, and may it be unpacked: every file what the list says, nothing that acts.
#
# All damage is found before anything is written, and each damaged file is named.


_NAMED = 20  # damaged files that a message names
# Commands are executed in the bundle's root. Nothing else may lie there: libraries look for their
# settings in the current folder (matplotlibrc, .numba_config.yaml).
_MADE = ("CITATION.cff", "LICENSE", "README.md", "claims.json", "report.html")
_FILES = frozenset({BUNDLE, SUMS, *_MADE, "ro-crate-metadata.json"})
_FOLDERS = frozenset({"analyses", "campaigns", "container", "software", "sources", "trials"})
_TAR = f"{OUTPUTS}.tar"


def check_archive(archive: Archive) -> Contents:
    """Hold every file of an archive against its checksums and against the list in ``bundle.json``."""
    where = str(archive.path)
    contents = read_contents(archive.read(BUNDLE), where)
    faults: list[str] = []
    digests: dict[str, str] = {}
    for number, name in enumerate(archive.entries, 1):
        doing("hashing", number, len(archive.entries), "files")
        try:
            digests[name] = archive.sha256(name)
        except StoreError as error:
            faults.append(error.what)
    faults += _not_as_listed(archive, contents, digests)
    if SUMS not in archive.entries:
        faults.append(f"{SUMS} is not there")
    elif not faults:
        lines = archive.read(SUMS).decode("utf-8", "replace").splitlines()
        texts = sorted(line.partition("  ")[::2] for line in lines)
        if texts != sorted((digest, name) for name, digest in digests.items() if name != SUMS):
            faults.append(f"{SUMS} does not say the hashes that the files have")
    if faults:
        more = len(faults) - _NAMED
        text = "; ".join(faults[:_NAMED] + [f"and {more} more"] * (more > 0))
        what = f"the bundle is damaged, or was changed after it was packed: {text}"
        raise StoreError(what, where, "fetch it again; if it stays so, ask who made it")
    for fault in _acts(archive, contents):
        what = f"the bundle is refused, nothing was executed: {fault}"
        raise StoreError(what, where, "ask who made it")
    for name, trial in _tars(archive):
        if [other for other in archive.entries if other.startswith(f"{trial}/{OUTPUTS}")] != [name]:
            what = f"it holds the outputs of {trial} twice, packed and not"
            raise StoreError(what, where, "ask who made it")
        with archive.stream(name) as file:
            for _ in read_tar(file, name, max_bytes=archive.entries[name]):
                pass  # it raises where something is not as it should be
    return contents


def unpack_bundle(archive: Archive, folder: Path) -> None:
    """Write a checked bundle into a new folder, the outputs of its trials at their places.

    The folder appears whole or not at all.
    """
    refuse_existing(folder, "-C")
    place = folder.absolute()
    try:
        fresh = Path(tempfile.mkdtemp(prefix=f".{place.name[:60]}.", dir=place.parent))
    except OSError as error:
        what = f"no folder can be made here: {error.strerror}"
        raise UsageError(what, str(folder), "name another place, whose folder is there") from None
    try:
        unpack_into(archive, fresh)
        fresh.rename(place)
    except OSError as error:
        what = f"the folder cannot be made: {error.strerror}"
        raise UsageError(what, str(folder), "name another one") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)  # after it was renamed there is none


def unpack_into(archive: Archive, folder: Path) -> None:
    """Write a checked bundle into an empty folder; raises as `unpack_bundle` does."""
    archive.unpack(folder)
    for name, trial in _tars(archive):
        place = folder / trial / OUTPUTS
        try:
            place.mkdir(exist_ok=True)
        except OSError as error:
            what = f"the outputs cannot be unpacked: {error.strerror}"
            raise StoreError(what, f"{archive.path}: {name}", "free some space") from None
        with archive.stream(name) as file:
            unpack_tar(file, place, name, max_bytes=archive.entries[name])


def _tars(archive: Archive) -> Iterator[tuple[str, str]]:
    for name in archive.entries:
        trial, _, last = name.rpartition("/")
        if last == _TAR and trial.startswith("trials/") and trial.count("/") == 1:
            yield name, trial


def _not_as_listed(archive: Archive, contents: Contents, digests: dict[str, str]) -> Iterator[str]:
    for name, digest in digests.items():
        listed = contents.files.get(name)
        if listed is None:
            if name not in {BUNDLE, SUMS}:
                yield f"{name} is not listed in {BUNDLE}"
        elif (listed.bytes, listed.sha256) != (archive.entries[name], digest):
            yield f"{name} does not have the hash that {BUNDLE} says"
    for name in (name for name in contents.files if name not in archive.entries):
        yield f"{name} is listed in {BUNDLE} and not there"


def _acts(archive: Archive, contents: Contents) -> Iterator[str]:
    """Say what the bundle holds or asks for that could act here, or point out of it."""
    for name in archive.entries:
        first, slash, _ = name.partition("/")
        if first not in (_FOLDERS if slash else _FILES):
            yield f"{name} does not belong into a bundle"
    names = {analysis.name for analysis in contents.analyses}
    if len(names) < len(contents.analyses):
        yield "two of its analyses have one name"
    asked = [(analysis.command, analysis.result) for analysis in contents.analyses]
    if contents.report is not None:
        asked.append((contents.report.command, contents.report.result))
    for command, result in asked:
        fault = fault_of_command(command)
        if fault is not None:
            yield f"'fairtrial {' '.join(command)[:200]}' is asked for; {fault}"
        if result not in archive.entries:
            yield f"the stored result {result!r} is not there"
    if contents.claims is not None and contents.claims not in archive.entries:
        yield f"the claims {contents.claims!r} are not there"
    folders = {  # another tool's results may be a folder
        f"sources/{name.split('/')[1]}/" for name in archive.entries if name.count("/") > 1
    }
    for source in contents.sources:
        inside = {"trial": MANIFEST, "fleet": FLEET}.get(source.kind)
        held = source.path if inside is None else f"{source.path}/{inside}"
        if held not in archive.entries and f"{source.path}/" not in folders:
            yield f"the source {source.path!r} is not there"
        if source.campaign is not None and source.campaign not in archive.entries:
            yield f"the campaign {source.campaign!r} is not there"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedTrial:
    """A trial that came with its campaign: its name, its folder and the campaign's file."""

    name: str
    path: Path
    campaign: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """An unpacked bundle."""

    folder: Path  # where it lies now, without links in its path
    trials: tuple[ReceivedTrial, ...]  # those that can be measured again
    redacted: bool  # whether names were replaced in it


def receive_bundle(
    path: Path,
    folder: Path,
    *,
    names: tuple[str, ...] = (),
    max_entries: int = MOST_ENTRIES,
    max_bytes: int = MOST_BYTES,
) -> Received:
    """Check a bundle and unpack it into a new folder, to measure its trials again."""
    with open_archive(path, max_entries=max_entries, max_bytes=max_bytes) as archive:
        contents = check_archive(archive)
        trials = (one for one in contents.sources if one.kind == "trial")
        there = {one.name: one for one in trials if one.campaign is not None}
        if not there:
            what = "no trial of the bundle came with its campaign: nothing can be measured again"
            raise StoreError(what, str(path), "check it without --rerun")
        for name in names:
            if name not in there:
                what = f"the bundle has no trial {name!r} with a campaign"
                raise UsageError(what, str(path), f"it has {', '.join(there)}")
        unpack_bundle(archive, folder)
    root = folder.resolve()
    received = tuple(
        ReceivedTrial(name=name, path=root / one.path, campaign=root / (one.campaign or ""))
        for name, one in there.items()
        if not names or name in names
    )
    redacted = contents.redacted is not None
    return Received(folder=root, trials=received, redacted=redacted)


_OF_ANALYSIS = ("name", "command", "result", "exit_code")
_OF_CLAIM = ("text", "command", "value", "relation", "expected", "digits")
_METRIC = "--metric"
_SAID = b"judged is wall"  # what answers say since then, a page as a sentence


def with_packed_question(command: Sequence[str], folder: Path, stored: bytes) -> tuple[str, ...]:
    """Give a command of a bundle so that it asks what it asked when it was packed."""
    named = any(word == _METRIC or word.startswith(f"{_METRIC}=") for word in command)
    if named or _SAID in stored.lower():
        return tuple(command)
    sources = dict.fromkeys(word.partition(":")[0] for word in command[1:] if word[:1] != "-")
    if any(_without_question(folder / source) for source in sources if source):
        return (*command, _METRIC, "wall")
    return tuple(command)


def _without_question(path: Path) -> bool:
    """Tell whether this is a trial, or a fleet, that declares metrics and does not say which is judged."""
    with contextlib.suppress(FairtrialError, OSError):
        if is_fleet(path):
            return bool(open_fleet(path).unnamed)
        manifest = read_manifest(path)
        return manifest.origin != "imported" and not manifest.judge and bool(manifest.declared)
    return False


_CITATION = "CITATION.cff"


def held_documents(
    archive: Archive, contents: Contents, folder: Path, checks: Sequence[ClaimCheck]
) -> Iterator[Recomputation]:
    """Give each file about the results with what it would be here: who edits one can repair its hash.

    The page and the crate of another version of fairtrial are other texts.
    """
    claims: list[StoredClaim] = []
    if contents.claims is not None:
        stored = read_stored_claims(archive.read(contents.claims), str(archive.path))
        for one, check in zip(stored, checks, strict=True):  # as it was, where no value came out
            holds = check.holds
            claims.append(one if holds is None else replace(one, found=check.now, holds=holds))
        yield _held(archive, contents.claims, claims_text(claims))
    if _CITATION in archive.entries:
        yield _held(archive, _CITATION, (citation_text(contents.metadata) or "").encode())
    if contents.tool_version != VERSION:
        return
    root = _root(archive) if CRATE in archive.entries else {}
    texts = (root.get(key) for key in ("description", "datePublished"))
    words, day = (text if isinstance(text, str) else None for text in texts)
    if CRATE in archive.entries:
        own = (CRATE, BUNDLE, SUMS)
        files = {name: one for name, one in contents.files.items() if name not in own}
        yield _held(archive, CRATE, crate_text(replace(contents, files=files), words, day))
    if README in archive.entries:
        try:
            # the crate has a description also where the authors gave none; the page has none then
            pages = [readme_text(contents, one, claims, folder) for one in (None, words)]
        except (FairtrialError, OSError) as error:
            yield Recomputation(name=README, result=README, reason=str(error))
            return
        both = [_held(archive, README, page) for page in pages]
        yield both[0] if both[0].holds else both[1]


def _root(archive: Archive) -> dict[str, Any]:
    """Give what the crate says of the whole; nothing where it is none."""
    try:
        graph = json.loads(archive.read(CRATE))["@graph"]
        return next(dict(one) for one in graph if one.get("@id") == "./")
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, StopIteration):
        return {}


def _held(archive: Archive, name: str, fresh: bytes) -> Recomputation:
    found = compare_documents(archive.read(name), fresh, same_tool=True)
    return replace(found, name=name, result=name)


USUAL = Limits(total_s=600, memory_bytes=4 * 2**30)  # an archive of anybody may ask for any work
_MOST_WORKERS = 2  # commands at a time; each may use all cores
_MOST_SAID = 200  # characters of a command, which may be of any length
_MOST_RESULT = 256 * 1024**2  # bytes of a stored result

Say = Callable[[str], None]


def reproduce(
    path: Path,
    *,
    folder: Path | None = None,
    max_entries: int = MOST_ENTRIES,
    max_bytes: int = MOST_BYTES,
    limits: Limits = USUAL,
    say: Say = lambda _: None,
) -> Reproduction:
    """Check an artifact, and compute what it says anew."""
    with open_archive(path, max_entries=max_entries, max_bytes=max_bytes) as archive:
        say(f"checking {len(archive.entries):,} files of {path}")
        contents = check_archive(archive)
        others = other_versions(contents)
        with passing_folder() as left, Commands(left.homes, left.lock, limits) as commands:
            place = folder or left.content  # a folder that is named stays
            if folder is not None:
                unpack_bundle(archive, folder)
            else:
                unpack_into(archive, place)
            recomputing = _Recomputing(archive, contents, others, place, commands, say)
            results = recomputing.results()
            claims = tuple(recomputing.claims())
            documents = tuple(held_documents(archive, contents, place, claims))
            outside = works_outside(contents, place)
        campaigns = (one.name for one in contents.sources if one.campaign is not None)
        report = None if contents.report is None else results[-1]
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return Reproduction(
            bundle=str(path),
            sha256=sha256,
            identity=archive.sha256(SUMS),
            title=contents.metadata.title,
            doi=contents.metadata.doi,
            license=contents.metadata.license,
            packed_by=contents.tool_version,
            tool_here=VERSION,
            files=len(archive.entries),
            bytes=sum(archive.entries.values()),
            other_versions=others,
            analyses=results if report is None else results[:-1],
            report=report,
            claims=claims,
            documents=documents,
            missing=contents.missing,
            redacted=contents.redacted,
            measurable=tuple(name for name in campaigns if name not in outside),
            cautions=tuple(_cautions(contents, results, claims, others, outside)),
        )


def _cautions(
    contents: Contents,
    results: Sequence[Recomputation],
    claims: Sequence[ClaimCheck],
    others: Sequence[OtherVersion],
    outside: Mapping[str, str],
) -> Iterator[Caution]:
    if others and not all(one.standing == "same bytes" for one in results):
        names = ", ".join(f"{one.name} {one.packed} -> {one.here or 'none'}" for one in others)
        what = f"other versions than those that it was packed with ({names}): to have the same "
        what += "bytes, install software/requirements.txt of the bundle"
        yield Caution("bundle-other-versions", what)
    stopped = [one.name for one in results if one.standing == "stopped"]
    if stopped:
        what = f"{len(stopped)} of {len(results)} results were not computed: a limit was reached"
        yield Caution("bundle-limit", what, tuple(stopped))
    unheld = [name for name in (README, CRATE) if name in contents.files]
    if contents.tool_version != VERSION and unheld:
        what = f"{' and '.join(unheld)} are of fairtrial {contents.tool_version}, and were not held against the results"
        yield Caution("bundle-page-not-held", what, tuple(unheld))
    yield from coarse_cautions(one.number for one in claims if one.is_coarse)
    if contents.redacted is not None:
        kinds = ", ".join(contents.redacted.what)
        files = f"{len(contents.redacted.files)} files are not the bytes that were measured"
        what = f"names were replaced before it was packed ({kinds}): {files}"
        yield Caution("bundle-redacted", what)
    if contents.missing:
        lacking = tuple(one.what for one in contents.missing)
        what = f"the bundle says what it lacks: {listed(lacking, 3)}"
        yield Caution("bundle-incomplete", what, lacking)
    for name, text in outside.items():
        yield Caution("bundle-outside", text, (name,))


@dataclass(frozen=True, slots=True)
class _Recomputing:
    """The commands of a checked and unpacked bundle, executed one after the other."""

    _archive: Archive
    _contents: Contents
    _others: Sequence[OtherVersion]
    _folder: Path
    _commands: Commands
    _say: Say
    _printed: dict[str, bytes] = field(default_factory=dict)  # by the file with the stored result

    def results(self) -> tuple[Recomputation, ...]:
        """Give each stored result with what comes out now, the report last."""
        asked = list(self._contents.analyses)
        if (report := self._contents.report) is not None:
            asked.append(Analysis(name="report", seed=None, **asdict(report)))
        return tuple(self._commands.each(self._result, asked, most=_MOST_WORKERS, what="results"))

    def _result(self, one: Analysis) -> Recomputation:
        stored = self._archive.read(one.result, most=_MOST_RESULT)
        about: dict[str, Any] = {key: getattr(one, key) for key in _OF_ANALYSIS}
        try:
            self._commands.hold()
            text = f"{Name(' '.join(one.command)):.{_MOST_SAID}}"
            self._say(f"computing {Name(one.name)}: fairtrial {text}")
            command = with_packed_question(one.command, self._folder, stored)
            fresh = recompute(command, self._folder, self._commands)
            self._commands.hold()  # to compare two long documents takes its time too
        except LimitReachedError as error:
            return Recomputation(**about, standing="stopped", reason=error.what)
        except FairtrialError as error:
            return Recomputation(**about, standing="failed", reason=error.what)
        self._printed[one.result] = fresh.stdout
        same_tool = self._contents.tool_version == VERSION
        found = compare_documents(stored, fresh.stdout, same_tool=same_tool, others=self._others)
        if one.exit_code != fresh.exit_code:
            reason = f"it ends with {fresh.exit_code}, not {one.exit_code}"
            about |= {"standing": "different", "reason": reason}
        return replace(found, **about, exit_code_now=fresh.exit_code)

    def claims(self) -> Iterator[ClaimCheck]:
        """Hold each claim against what its command prints now."""
        name = self._contents.claims
        if name is None:
            return
        asked = {one.result: one.command for one in self._contents.analyses}
        every = read_stored_claims(self._archive.read(name), str(self._archive.path))
        for number, stored in enumerate(every, 1):
            claim = stored.claim
            about = {key: getattr(claim, key) for key in _OF_CLAIM} | {"packed": stored.found}
            check = ClaimCheck(number=number, **about, is_coarse=is_coarse(claim))
            printed = self._printed.get(stored.result)
            if asked.get(stored.result) != claim.command:
                text = f"its command is not the one whose result {stored.result} is"
                yield replace(check, reason=text)
            elif printed is None:
                yield replace(check, reason="its command gave no answer here")
            else:
                now = weigh_claim(claim, document_of(printed))
                yield replace(check, now=now.found, holds=now.holds, reason=now.why or None)
