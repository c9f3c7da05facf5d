"""The stored results of a bundle: each command is executed where evaluators will, and its bytes kept."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import FairtrialError, UsageError
from ..claims import Claim, StoredClaim, pointed, weigh_claim
from ..contents import Analysis, ReportMade
from ..limited import Commands
from ..recomputing import Recomputed, recompute
from .commands import bound, default_commands, seed_of
from .gathering import Gathered
from .staging import Staging

__all__ = ["Answered", "answer"]

_MOST_WORKERS = 4
REPORT = "report.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What was computed for a bundle.

    Attributes
    ----------
    analyses : tuple of Analysis
        The stored results.
    report : ReportMade or None
        Of the first source.
    claims : tuple of StoredClaim
        In the author's order.
    silent : tuple of str
        Names of the sources on which no analysis gives an answer.
    whys : tuple of str
        For each claim why it does not hold; "" where it does.
    """

    analyses: tuple[Analysis, ...]
    report: ReportMade | None
    claims: tuple[StoredClaim, ...] = ()
    whys: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()


def answer(
    found: Sequence[Gathered],
    claims: Sequence[Claim],
    staging: Staging,
    *,
    seed: int,
    claims_file: str,
    commands: Commands,
    tell: Callable[[str], None],
) -> Answered:
    """Execute the commands of a bundle in its folder, and store what they print.

    Parameters
    ----------
    found : sequence of Gathered
        The bundle's sources.
    claims : sequence of Claim
        With the author's paths.
    staging : Staging
        The bundle's folder.
    seed : int
        For commands with random draws that say none.
    claims_file : str
        The file of the claims, as messages call it.
    commands : Commands
        Executes them.
    tell : callable
        Takes a line that says what is under way.

    Raises
    ------
    UsageError
        If the command of a claim reads what is not in the bundle, or gives no single JSON document:
        with all such claims.
    """
    claims = _bound_claims(claims, found, seed, claims_file)
    wanted = dict.fromkeys(command for _, command in default_commands(found, seed))
    names = {command: name for name, command in default_commands(found, seed)}
    for claim in claims:
        wanted.setdefault(claim.command)
    reports = {one: _report_command(one) for one in found}
    tell(f"computing {len(wanted) + len(reports)} results ...")
    printed = _printed([*wanted, *reports.values()], staging.root, commands)
    documents = _documents(claims, printed, claims_file)
    results: dict[tuple[str, ...], Analysis] = {}
    numbers = {"of a claim": 0}
    for command in wanted:
        told = printed[command]
        if isinstance(told, FairtrialError):
            staging.miss(f"fairtrial {shlex.join(command)}", f"it gives no answer: {_first(told)}")
            continue
        name = names.get(command)
        if name is None:
            numbers["of a claim"] += 1
            name = f"claim-{numbers['of a claim']}-{command[0]}"
        results[command] = _stored(name, command, told, len(results) + 1, staging)
    report = _reports(reports, printed, results, staging)
    stored, whys = [], []
    for claim in claims:
        weighed = weigh_claim(claim, documents[claim.command])
        stored.append(
            StoredClaim(
                claim=claim,
                result=results[claim.command].result,
                found=weighed.found,
                holds=weighed.holds,
            )
        )
        whys.append(weighed.why)
    return Answered(
        analyses=tuple(results.values()),
        report=report,
        claims=tuple(stored),
        whys=tuple(whys),
        silent=tuple(one.source.name for one in found if not _answers(one, results)),
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


def _answers(one: Gathered, results: Mapping[tuple[str, ...], Analysis]) -> bool:
    path = one.source.path
    return any(word.partition(":")[0] == path for command in results for word in command)


def _report_command(one: Gathered) -> tuple[str, ...]:
    return ("report", one.source.path, "--format", "html", "-o", "-")


def _reports(
    reports: Mapping[Gathered, tuple[str, ...]],
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

    return dict(zip(wanted, commands.each(one, wanted, most=_MOST_WORKERS), strict=True))


def _bound_claims(
    claims: Sequence[Claim], found: Sequence[Gathered], seed: int, file: str
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
        return f"{claim.value} is no single value; it holds {inside or 'nothing'}"
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
