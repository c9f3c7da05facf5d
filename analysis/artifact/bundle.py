"""Packs a bundle: gather, redact, compute, describe, hash, write; and says what was written."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
import shlex
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from ..data.fleet import open_fleet
from ..errors import FairtrialError, StoreError, UsageError
from ..importers.reader import is_foreign
from ..pages import number_format as figures
from ..pages.model import (
    Caution,
    Cell,
    CommandLine,
    Page,
    Section,
    Value,
    section,
    table_of,
)
from ..pages.result import Result, plain
from ..record.yaml_reader import read_bytes
from ..words import command_line, shorten
from .archive import (
    FLEET_PLACE,
    MOST_BYTES,
    MOST_ENTRIES,
    SUMS,
    Analysis,
    Contents,
    RedactionRecord,
    ReportMade,
    Weighed,
    write_archive,
)
from .claims import (
    Claim,
    StoredClaim,
    claims_text,
    coarse_cautions,
    is_coarse,
    pointed,
    read_claims,
    said_of,
    weigh_claim,
)
from .describing import (
    CLAIMS,
    Answered,
    PackingRequest,
    described,
    read_about,
    write_software,
    write_texts,
)
from .gathering import CopiedSource, Staging, gather
from .packed_campaign import pack_campaigns
from .recomputing import Commands, Recomputed, fault_of_command, passing_folder, recompute

# --- The stored results of a bundle: which commands, executed where evaluators will, their bytes kept.


T = TypeVar("T")
SEEDED = frozenset({"resample", "mixture", "diagnose", "plan", "study", "sources"})


def default_commands(found: Iterable[CopiedSource], seed: int) -> list[tuple[str, tuple[str, ...]]]:
    """Give the analyses that every bundle holds, each with a name: what is concluded, why, how sound."""
    commands: list[tuple[str, tuple[str, ...]]] = []
    many = len(list(found)) > 1
    for one in found:
        path = one.source.path
        end = f"-{one.source.name}" if many else ""
        is_trial = one.manifest is not None or is_foreign(one.origin)
        if is_trial or one.source.kind == "fleet":
            asked = _questions(one)
            several = asked if len(asked) > 1 else ()  # a result is one document
            first = ("--metric", asked[0]) if several else ()
            commands.append((f"verdict{end}", ("verdict", path, *first, "--json")))
            commands += [
                (f"verdict{end}-{metric}", ("verdict", path, "--metric", metric, "--json"))
                for metric in several[1:]
            ]
        if is_trial:
            commands.append((f"explained{end}", ("verdict", path, *first, "--explain", "--json")))
        commands.append(
            (f"diagnosis{end}", ("diagnose", path, "--json", *_seeded("diagnose", seed)))
        )
    return commands


def _questions(one: CopiedSource) -> Sequence[str]:
    """Give the metrics that the campaign names as its question; none without it, or where parts differ."""
    if one.source.kind == "fleet":
        with contextlib.suppress(FairtrialError):
            return open_fleet(one.origin).judge
        return ()
    return (one.manifest.questions or ()) if one.manifest is not None else ()


def _seeded(name: str, seed: int) -> tuple[str, ...]:
    return ("--seed", str(seed)) if seed and name in SEEDED else ()


def seed_of(command: Sequence[str]) -> int | None:
    """Give the seed of a command's random draws; None where it makes none."""
    if command[0] not in SEEDED:
        return None
    found = re.search(r"\0--seed[=\0](\d+)(?:\0|$)", "\0".join(command))
    return 0 if found is None else int(found[1])


def bound(
    command: Sequence[str], found: Sequence[CopiedSource], seed: int, where: str
) -> tuple[str, ...]:
    """Give a command with the bundle's paths in place of the author's."""
    words = [command[0], *(_bound(word, found, where) for word in command[1:])]
    if command[0] == "verdict" and not any(
        word == FLEET_PLACE or word.startswith((f"{FLEET_PLACE}:", "trials/", "sources/"))
        for word in words[1:]
    ):
        what = "the command names no source; the newest trial is another one tomorrow"
        fix = f"name a source: {command_line(('fairtrial', *command, str(found[0].source.path)))}"
        raise UsageError(what, where, fix)
    if "--seed" not in words and not any(word.startswith("--seed=") for word in words):
        words += _seeded(command[0], seed)
    fault = fault_of_command(words)
    if fault is not None:
        what = f"the command cannot be one of a bundle: {fault}"
        raise UsageError(what, where, "name sources of the bundle, and options that print")
    return tuple(words)


def _bound(word: str, found: Sequence[CopiedSource], where: str) -> str:
    if word.startswith("-"):
        return word
    campaigns = [one.manifest.campaign_name for one in found if one.manifest is not None]
    for one in found:
        names = {*one.given, str(one.origin), one.source.path, one.source.name}
        if one.source.trial is not None:
            names.add(one.source.trial)
        # the campaign's name where it means this trial, and no other
        if one.manifest is not None and campaigns.count(one.manifest.campaign_name) == 1:
            names.add(one.manifest.campaign_name)
        for name in sorted(names, key=len, reverse=True):
            plain = name.rstrip("/")
            if word.rstrip("/") == plain:
                return one.source.path
            if word.startswith(f"{plain}:"):
                return one.source.path + word[len(plain) :]
    path, _, variant = word.rpartition(":")
    for text, rest in ((word, ""), (path, f":{variant}")):
        for one in found:
            if text and os.path.exists(text) and Path(text).samefile(one.origin):  # noqa: PTH110 - any text
                return one.source.path + rest
    if ("/" in word or os.path.isfile(word)) and os.path.exists(path or word):  # noqa: PTH110, PTH113
        what = f"the command reads {word}, which is not in the bundle"
        raise UsageError(what, where, "name it as a SOURCE of the bundle too")
    return word


_MOST_WORKERS = 4
REPORT = "report.html"


def answer(
    found: Sequence[CopiedSource],
    claims: Sequence[Claim],
    staging: Staging,
    *,
    seed: int,
    claims_file: str,
    commands: Commands,
) -> Answered:
    """Execute the commands of a bundle in its folder, and store what they print."""

    def with_command(claim: Claim) -> Claim:
        command = bound(claim.command, found, seed, f"{claims_file}:{claim.line}")
        return replace(claim, command=command)

    claims = _of_each(claims, claims_file, with_command)
    names = {command: name for name, command in default_commands(found, seed)}
    wanted = dict.fromkeys([*names, *(claim.command for claim in claims)])
    reports = {
        ("report", one.source.path, "--format", "html", "-o", "-"): f"report-{one.source.name}"
        for one in found
    }

    def print_one(command: tuple[str, ...]) -> Recomputed | FairtrialError:
        try:
            return recompute(command, staging.root, commands)
        except FairtrialError as error:  # an answer too
            return error

    every = [*wanted, *reports]
    each = commands.each(print_one, every, most=_MOST_WORKERS, what="results")
    printed = dict(zip(every, each, strict=True))
    documents = _of_each(
        claims,
        claims_file,
        lambda one: _document(one, printed[one.command], f"{claims_file}:{one.line}"),
    )
    results: dict[tuple[str, ...], Analysis] = {}
    report = None
    numbers = itertools.count(1)
    for command in every:
        known = printed[command]
        is_report = command in reports
        if isinstance(known, FairtrialError):
            staging.miss(f"fairtrial {shlex.join(command)}", f"it gives no answer: {_first(known)}")
            continue
        if is_report and report is None:
            staging.write(REPORT, known.stdout)
            report = ReportMade(command=command, result=REPORT)
            continue
        name = (names | reports).get(command) or f"claim-{next(numbers)}-{command[0]}"
        result = f"analyses/{len(results) + 1:02d}-{name}.{'html' if is_report else 'json'}"
        staging.write(result, known.stdout)
        drawn, code = seed_of(command), known.exit_code
        results[command] = Analysis(
            name=name, command=command, seed=drawn, result=result, exit_code=code
        )
    stored = []
    for claim, document in zip(claims, documents, strict=True):
        now, result = weigh_claim(claim, document), results[claim.command].result
        stored.append(StoredClaim(claim=claim, result=result, found=now.found, holds=now.holds))
    return Answered(tuple(results.values()), report, tuple(stored))


def _of_each(claims: Sequence[Claim], file: str, work: Callable[[Claim], T]) -> list[T]:
    """Do some work for each claim of a file; raises a `UsageError` with all that this raises."""
    made, faults = [], []
    for claim in claims:
        try:
            made.append(work(claim))
        except UsageError as error:
            faults.append(error)
    if len(faults) == 1:
        raise faults[0]
    if faults:
        text = "\n  ".join(f"{one.where}: {one.what}" for one in faults)
        raise UsageError(f"{len(faults)} mistakes:\n  {text}", file, faults[0].fix)
    return made


def _document(claim: Claim, found: Recomputed | FairtrialError, where: str) -> object:
    if isinstance(found, FairtrialError):
        what = f"the command gives no answer: {_first(found)}"
        raise UsageError(what, where, "execute it yourself, and mend it")
    try:
        document = json.loads(found.stdout)
    except (ValueError, RecursionError):
        what = "the command does not print one JSON document"
        raise UsageError(what, where, "ask for one metric, with --json") from None
    fix = "execute the command, and follow its keys"
    try:
        value = pointed(document, claim.value)
    except UsageError as error:
        raise UsageError(f"{claim.value}: {error.what}", where, fix) from None
    if isinstance(value, dict | list):
        inside = ", ".join(list(value)[:12]) if isinstance(value, dict) else f"{len(value)} items"
        what = f"{claim.value} is not a single value; it holds {inside or 'nothing'}"
        raise UsageError(what, where, fix)
    return document


def _first(error: FairtrialError) -> str:
    """Give the first line of what an error says, without our own head of it."""
    _, _, text = error.what.partition("): ")
    return (text or error.what).strip().splitlines()[0].removeprefix("fairtrial: ")


_PARTS = ("sources", "analyses", "report", "smoke", "needs", "missing", "redacted", "metadata")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bundled(Result):
    """An archive that was written."""

    method: ClassVar[str] = "bundle"
    unlisted: ClassVar[frozenset[str]] = frozenset({"contents", "claims"})

    output: str  # the file
    bytes: int  # its size
    sha256: str  # of the file
    # SHA-256 of its ``SHA256SUMS``, the hashes of its contents: to be published with it
    identity: str
    contents: Contents  # what stands in its ``bundle.json``
    claims: tuple[StoredClaim, ...] = ()  # in the author's order, with what was found

    @property
    def all_hold(self) -> bool:
        """Whether no claim fails."""
        return all(one.holds for one in self.claims)

    @property
    def whole(self) -> bool:
        """Whether the trials in it have all the records with which they ended."""
        return all(one.code != "record-missing" for one in self.cautions)

    def body(self) -> dict[str, Any]:
        """Give what stands below the head: the archive, and the parts of ``bundle.json`` but its files."""
        parts = {key: plain(getattr(self.contents, key)) for key in _PARTS}
        parts["claims"] = [one.to_dict() for one in self.claims]
        return {**Result.body(self), "entries": len(self.contents.files) + 2, **parts}

    def screen(self) -> Page:
        """Set what the bundle holds and what it lacks, its claims, and how it is checked."""
        contents = self.contents
        kinds = Counter(one.kind for one in contents.sources)
        what = [figures.counted(number, kind) for kind, number in sorted(kinds.items())]
        results = figures.counted(len(contents.analyses), "result")
        first = (
            f"{self.output} holds {' and '.join(what)} in {len(contents.files) + 2} files, "
            f"{figures.quantity(float(self.bytes), 'B')}, with {results}"
        )
        sections = [section(first, f"identity {self.identity}")]
        if self.claims:
            failed, total = sum(not one.holds for one in self.claims), len(self.claims)
            text = f"{failed} of {total} claims do not hold" if failed else "all claims hold"
            table = table_of(
                "claims",
                enumerate(self.claims, 1),
                ("claim", lambda one: one[0]),
                ("<", lambda one: "holds" if one[1].holds else "FAILS"),
                ("<sentence", lambda one: one[1].claim.text),
                ("<must be", lambda one: said_of(one[1].claim)),
                ("found", lambda one: _value(one[1].found)),
            )
            sections.append(section(text, table, title="Claims"))
        if contents.redacted is not None:
            sections.append(_redacted(contents.redacted))
        if contents.missing:
            listed = contents.missing[:_MOST_MISSING]
            more = len(contents.missing) - len(listed)
            last = [f"and {more} more (README.md and --json have all)"] * (more > 0)
            table = table_of("missing", listed, ("<not in it", "what"), ("<why", "why"))
            sections.append(section(table, *last, title="What is not in it"))
        check = section(
            "Whoever has it checks it, and computes every number again, with",
            CommandLine(command_line(("fairtrial", "reproduce", self.output))),
        )
        return Page(
            title="Bundle", sections=tuple(sections), cautions=self.cautions, following=(check,)
        )


_MOST_LEFT = 12
_MOST_MISSING = 30  # lines of a screen


def _value(found: object) -> Cell:
    if isinstance(found, int) and not isinstance(found, bool):
        return Value(shorten(str(found), 24), found)  # a count has no decimals
    if isinstance(found, float):
        return Value(figures.significant(found, 4), found)
    return shorten(str(found), 24)


def _redacted(record: RedactionRecord) -> Section:
    counts = ", ".join(
        f"{kind} {figures.counted(n, 'time')}" for kind, n in record.replaced.items()
    )
    lines = [f"replaced: {counts}; {figures.counted(len(record.files), 'file')} altered"]
    if record.left:
        lines.append("left, because only a person can tell what may be altered there:")
        lines += record.left[:_MOST_LEFT]
        more = len(record.left) - _MOST_LEFT
        lines += [f"and {more} more places (--json has all)"] * (more > 0)
    return section(*lines, title="Names taken out")


_NEW = 0o666  # what a new file may be at most; the umask says what it is


def pack_bundle(request: PackingRequest, output: Path) -> Bundled:
    """Pack sources, their campaigns, and what is concluded from them into one archive.

    The same input gives the same contents, whoever packs it: nothing of the clock, of the user or of where
    things lie goes into it.
    """
    claims: tuple[Claim, ...] = ()
    if request.claims is not None:
        claims = read_claims(read_bytes(request.claims, "name another"), str(request.claims))
    named = None if request.about is None else read_about(request.about)
    _accept_place(output)
    with passing_folder() as place, Commands(place.homes, place.lock) as commands:
        staging = Staging(place.content, request.max_bytes)
        found = gather(request.sources, staging, hide_hosts=request.redact is not None)
        found, about, cautions = pack_campaigns(request, found, staging, named=named, output=output)
        # names go before anything is computed or hashed: results and hashes are of what is packed
        redacted = None if request.redact is None else request.redact(staging.root)
        if redacted is not None:
            claims = tuple(replace(one, text=redacted.scrub(one.text)) for one in claims)
            if about.description is not None:
                about = replace(about, description=redacted.scrub(about.description))
        write_software(staging)
        write_texts(about, staging)
        file, seed = str(request.claims), request.seed
        answered = answer(found, claims, staging, seed=seed, claims_file=file, commands=commands)
        if answered.claims:
            staging.write(CLAIMS, claims_text(answered.claims))
        contents, files = described(found, about, answered, redacted, staging)
        size, sha256 = _written(files, output)
    return Bundled(
        output=str(output),
        bytes=size,
        sha256=sha256,
        identity=next(one.sha256 for one in files if one.name == SUMS),
        contents=contents,
        claims=answered.claims,
        cautions=(*cautions, *_cautions(contents, answered.claims, staging.gone)),
    )


def _cautions(
    contents: Contents, claims: Sequence[StoredClaim], gone: Sequence[str]
) -> Iterator[Caution]:
    """Say what a reader must allow, which claims say little, and what is gone."""
    yield from coarse_cautions(k for k, one in enumerate(claims, 1) if is_coarse(one.claim))
    entries = len(contents.files) + 2
    size = sum(one.bytes for one in contents.files.values())
    options = [f"--max-entries {entries}"] * (entries > MOST_ENTRIES)
    options += [f"--max-bytes {size}"] * (size > MOST_BYTES)
    if options:
        what = f"{entries:,} files of {size:,} bytes are accepted only with {' '.join(options)}"
        yield Caution("bundle-over-limits", what)
    for name in gone:
        what = f"{name} is gone since the trial ended: no analysis can be made of it"
        yield Caution("record-missing", what, (name,))


def _accept_place(output: Path) -> None:
    """Refuse to replace what is no archive: a trial's file, or a text, by a slip of the hand."""
    try:
        with output.open("rb") as file:
            start = file.read(2)
    except OSError:
        return  # nothing is there, or writing will say why not
    if start not in {b"", b"PK"}:
        what = "there is another file, which is not an archive"
        raise UsageError(what, str(output), "name another file with -o")


def _written(files: Sequence[Weighed], output: Path) -> tuple[int, str]:
    """Write the archive next to its place, and give its size and SHA-256; then it takes the place."""
    place = Path(os.path.realpath(output))
    fresh: Path | None = None
    try:
        fd, name = tempfile.mkstemp(prefix=f".{place.name[:60]}.", dir=place.parent)
        fresh = Path(name)
        with os.fdopen(fd, "w+b") as file:
            write_archive(file, files)
            file.flush()
            os.fsync(file.fileno())
            mask = os.umask(0)
            os.umask(mask)
            os.fchmod(file.fileno(), _NEW & ~mask)
            size = file.tell()
            file.seek(0)
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        fresh.replace(place)
    except OSError as error:
        what = f"the bundle cannot be written: {error.strerror or error}"
        fix = "name another file with -o, or free some space"
        raise StoreError(what, str(output), fix) from error
    finally:
        if fresh is not None:
            fresh.unlink(missing_ok=True)
    return size, sha256
