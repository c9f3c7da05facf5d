"""The stored results of a bundle: which commands, executed where evaluators will, their bytes kept."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...data.fleet import open_fleet
from ...errors import FairtrialError, UsageError
from ...importers.trials import is_foreign
from ..claims import Claim, StoredClaim, pointed, weigh_claim
from ..contents import FLEET_PLACE, Analysis, ReportMade
from ..recomputing import Commands, Recomputed, fault_of_command, recompute

if TYPE_CHECKING:
    from .gathering import CopiedSource, Staging

SEEDED = frozenset({"resample", "mixture", "diagnose", "plan", "study", "sources"})


def default_commands(found: Iterable[CopiedSource], seed: int) -> list[tuple[str, tuple[str, ...]]]:
    """Give the analyses that every bundle holds, each with a name: what is concluded, why, how sound."""
    commands: list[tuple[str, tuple[str, ...]]] = []
    many = len(list(found)) > 1
    for one in found:
        path = one.source.path
        end = f"-{one.source.name}" if many else ""
        if one.source.kind == "fleet" or one.manifest is not None or is_foreign(one.origin):
            asked = _asked(one)
            several = asked if len(asked) > 1 else ()  # a result is one document
            first = ("--metric", asked[0]) if several else ()
            commands.append((f"verdict{end}", ("verdict", path, *first, "--json")))
            commands += [
                (f"verdict{end}-{metric}", ("verdict", path, "--metric", metric, "--json"))
                for metric in several[1:]
            ]
            if one.source.kind != "fleet":
                words = ("verdict", path, *first, "--explain", "--json")
                commands.append((f"explained{end}", words))
        if one.profiled:
            commands.append((f"why{end}", ("why", path, "--stored", "--json")))
        commands.append(
            (f"diagnosis{end}", ("diagnose", path, "--json", *_seeded("diagnose", seed)))
        )
    return commands


def _asked(one: CopiedSource) -> Sequence[str]:
    """Give the metrics that the campaign names as its question; none without it, or where parts differ."""
    if one.source.kind == "fleet":
        with contextlib.suppress(FairtrialError):
            return open_fleet(one.origin).asked()
        return ()
    return (one.manifest.questions or ()) if one.manifest is not None else ()


def _seeded(name: str, seed: int) -> tuple[str, ...]:
    return ("--seed", str(seed)) if seed and name in SEEDED else ()


def seed_of(command: Sequence[str]) -> int | None:
    """Give the seed of a command's random draws; None where it makes none."""
    if command[0] not in SEEDED:
        return None
    for k, word in enumerate(command):
        value = word.partition("=")[2] if word.startswith("--seed=") else None
        if word == "--seed" and k + 1 < len(command):
            value = command[k + 1]
        if value is not None and value.isdigit():
            return int(value)
    return 0


def bound(
    command: Sequence[str], found: Sequence[CopiedSource], seed: int, where: str
) -> tuple[str, ...]:
    """Give a command with the bundle's paths in place of the author's."""
    words = [command[0], *(_bound(word, found, where) for word in command[1:])]
    if command[0] == "verdict" and not any(_in_bundle(word) for word in words[1:]):
        raise UsageError(
            "the command names no source; the newest trial is another one tomorrow",
            where,
            f"name a source: fairtrial {' '.join(command)} {found[0].source.path}",
        )
    if "--seed" not in words and not any(word.startswith("--seed=") for word in words):
        words += _seeded(command[0], seed)
    fault = fault_of_command(words)
    if fault is not None:
        raise UsageError(
            f"the command cannot be one of a bundle: {fault}",
            where,
            "name sources of the bundle, and options that print",
        )
    return tuple(words)


def _only(one: CopiedSource, found: Sequence[CopiedSource]) -> bool:
    """Tell whether the campaign's name means this trial, and no other."""
    names = [other.manifest.campaign_name for other in found if other.manifest is not None]
    return one.manifest is not None and names.count(one.manifest.campaign_name) == 1


def _in_bundle(word: str) -> bool:
    fleet = word == FLEET_PLACE or word.startswith(f"{FLEET_PLACE}:")
    return fleet or word.startswith(("trials/", "sources/"))


def _bound(word: str, found: Sequence[CopiedSource], where: str) -> str:
    if word.startswith("-"):
        return word
    for one in found:
        names = {*one.given, str(one.origin), one.source.path, one.source.name}
        if one.source.trial is not None:
            names.add(one.source.trial)
        if one.manifest is not None and _only(one, found):
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
        raise UsageError(
            f"the command reads {word}, which is not in the bundle",
            where,
            "name it as a SOURCE of the bundle too",
        )
    return word


_MOST_WORKERS = 4
REPORT = "report.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What was computed for a bundle."""

    analyses: tuple[Analysis, ...]  # the stored results
    report: ReportMade | None  # of the first source
    claims: tuple[StoredClaim, ...] = ()  # in the author's order
    whys: tuple[str, ...] = ()  # for each claim why it does not hold; "" where it does
    silent: tuple[str, ...] = ()  # names of the sources on which no analysis gives an answer


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
    claims = _bound_claims(claims, found, seed, claims_file)
    names = {command: name for name, command in default_commands(found, seed)}
    wanted = dict.fromkeys([*names, *(claim.command for claim in claims)])
    reports = {one: ("report", one.source.path, "--format", "html", "-o", "-") for one in found}
    printed = _printed([*wanted, *reports.values()], staging.root, commands)
    documents = _documents(claims, printed, claims_file)
    results: dict[tuple[str, ...], Analysis] = {}
    numbers = itertools.count(1)
    for command in wanted:
        told = printed[command]
        if isinstance(told, FairtrialError):
            staging.miss(f"fairtrial {shlex.join(command)}", f"it gives no answer: {_first(told)}")
            continue
        name = names.get(command) or f"claim-{next(numbers)}-{command[0]}"
        results[command] = _stored(name, command, told, len(results) + 1, staging)
    report = _reports(reports, printed, results, staging)
    stored, whys = [], []
    for claim in claims:
        now, result = weigh_claim(claim, documents[claim.command]), results[claim.command].result
        stored.append(StoredClaim(claim=claim, result=result, found=now.found, holds=now.holds))
        whys.append(now.why)
    answered = {word.partition(":")[0] for command in results for word in command}
    return Answered(
        analyses=tuple(results.values()),
        report=report,
        claims=tuple(stored),
        whys=tuple(whys),
        silent=tuple(one.source.name for one in found if one.source.path not in answered),
    )


def _stored(
    name: str, command: tuple[str, ...], told: Recomputed, number: int, staging: Staging
) -> Analysis:
    ending = "html" if command[0] == "report" and "html" in command else "json"
    result = f"analyses/{number:02d}-{name}.{ending}"
    staging.write(result, told.stdout)
    return Analysis(
        name=name, command=command, seed=seed_of(command), result=result, exit_code=told.exit_code
    )


def _reports(
    reports: Mapping[CopiedSource, tuple[str, ...]],
    printed: Mapping[tuple[str, ...], Recomputed | FairtrialError],
    results: dict[tuple[str, ...], Analysis],
    staging: Staging,
) -> ReportMade | None:
    """Store the reports: that of the first source is the bundle's, others are results like any other."""
    first = None
    for one, command in reports.items():
        told = printed[command]
        if isinstance(told, FairtrialError):
            staging.miss(f"the report on {one.source.name}", f"it cannot be made: {_first(told)}")
        elif first is None:
            staging.write(REPORT, told.stdout)
            first = ReportMade(command=command, result=REPORT)
        else:
            name = f"report-{one.source.name}"
            results[command] = _stored(name, command, told, len(results) + 1, staging)
    return first


def _printed(
    wanted: Sequence[tuple[str, ...]], root: Path, commands: Commands
) -> dict[tuple[str, ...], Recomputed | FairtrialError]:
    """Execute commands beside each other; an error is an answer too."""

    def one(command: tuple[str, ...]) -> Recomputed | FairtrialError:
        try:
            return recompute(command, root, commands)
        except FairtrialError as error:
            return error

    return dict(
        zip(wanted, commands.each(one, wanted, most=_MOST_WORKERS, what="results"), strict=True)
    )


def _bound_claims(
    claims: Sequence[Claim], found: Sequence[CopiedSource], seed: int, file: str
) -> list[Claim]:
    made, faults = [], []
    for claim in claims:
        try:
            command = bound(claim.command, found, seed, f"{file}:{claim.line}")
        except UsageError as error:
            faults.append(error)
        else:
            made.append(replace(claim, command=command))
    _raise(faults, file)
    return made


def _documents(
    claims: Sequence[Claim],
    printed: Mapping[tuple[str, ...], Recomputed | FairtrialError],
    file: str,
) -> dict[tuple[str, ...], object]:
    """Parse what the claims look at."""
    documents: dict[tuple[str, ...], object] = {}
    faults = []
    for claim in claims:
        told, where = printed[claim.command], f"{file}:{claim.line}"
        if isinstance(told, FairtrialError):
            what = f"the command gives no answer: {_first(told)}"
            faults.append(UsageError(what, where, "execute it yourself, and mend it"))
            continue
        try:
            documents[claim.command] = json.loads(told.stdout)
        except (ValueError, RecursionError):
            what = "the command does not print one JSON document"
            faults.append(UsageError(what, where, "ask for one metric, with --json"))
            continue
        fault = _fault_of_value(claim, documents[claim.command])
        if fault is not None:
            faults.append(UsageError(fault, where, "execute the command, and follow its keys"))
    _raise(faults, file)
    return documents


def _fault_of_value(claim: Claim, document: object) -> str | None:
    """Say why a pointer is a mistake: what it names is not there, or no single value."""
    try:
        value = pointed(document, claim.value)
    except UsageError as error:
        return f"{claim.value}: {error.what}"
    if isinstance(value, dict | list):
        inside = ", ".join(list(value)[:12]) if isinstance(value, dict) else f"{len(value)} items"
        return f"{claim.value} is not a single value; it holds {inside or 'nothing'}"
    return None


def _raise(faults: Sequence[UsageError], file: str) -> None:
    if len(faults) == 1:
        raise faults[0]
    if faults:
        told = "\n  ".join(f"{one.where}: {one.what}" for one in faults)
        raise UsageError(f"{len(faults)} mistakes:\n  {told}", file, faults[0].fix)


def _first(error: FairtrialError) -> str:
    """Give the first line of what an error says, without our own head of it."""
    _, _, said = error.what.partition("): ")
    return (said or error.what).strip().splitlines()[0].removeprefix("fairtrial: ")
