"""What every answer says of the trial behind it: damage, drift, cells given up, imported or merged parts."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import StoreError
from ..pages import number_format as figures
from ..pages.model import Caution, ShortSentence, plain
from ..record.shapes import opened, readable_rows
from ..record.trial_files import CAMPAIGN, ENVIRONMENT, FINDINGS, IMPORT, MEASUREMENTS, Manifest
from ..words import alike
from .columns import OUTCOMES
from .host_record import builds_each_session
from .runs import Runs

if TYPE_CHECKING:
    from numpy.typing import NDArray


READ_AS = "read-as"  # the code of what the columns of a table were guessed to be
UNREAD = "columns-unread"  # and of those that no role is known of
HOSTS = "several-hosts"  # and of runs of several hosts that are taken as those of one
SINGLE = "single"  # and of values that are the only one of their benchmark
CHANGED = "benchmark-changed"  # the code of a benchmark that was measured in several ways
DIFFER = "settings-differ"  # and of sides that were measured with other settings
_SHOWN = (CHANGED, DIFFER, READ_AS, UNREAD, HOSTS)  # of an import, on a first screen
SETTINGS = "settings"  # key of an imported trial's manifest: what its table says in all rows
DEFINITIONS = "definitions"  # key of an imported trial's manifest: benchmark -> how it was measured
_BESIDE = (CAMPAIGN, ENVIRONMENT, FINDINGS)  # files that the judge does not read
_OF_FLEETS = {
    *("host-missing", "host-failed", "host-unfinished", "one-host"),
    *("hosts-as-sessions", "sessions-of-hosts"),
}


def cautions_of_trial(
    path: Path, manifest: Manifest, arrays: Mapping[str, NDArray[Any]], planned: int
) -> Iterator[Caution]:
    """Say what a reader should know of a trial; raises StoreError where an import's loss report cannot be read."""
    yield from _damaged(path, manifest, arrays)
    yield from _unfinished(manifest, arrays, planned)
    yield from _drift(path)
    yield from given_up_cautions(manifest)
    if names := tuple(part.trial for part in manifest.merged_from):
        words = (
            f"put together from {len(names)} trials ({figures.listed(names)}): what differed between "
            "their environments stands in its findings.jsonl"
        )
        yield Caution("merged", words, names)
    if manifest.same_program:
        pairs = [f"{name} (as {other})" for name, other in manifest.same_program.items()]
        count = figures.counted(len(pairs), "variant")
        text = f"the same program as a neighbour, and not measured: {figures.listed(pairs, 4)}"
        short = ShortSentence.of(f"{count} not measured: the same program as a neighbour")
        yield Caution("measured-once", text, short=short)
    yield from name_cautions(manifest)
    if manifest.origin == "imported":
        yield from imported_cautions(path)
    if manifest.sequential:
        yield _sequential(manifest)


def _damaged(
    path: Path, manifest: Manifest, arrays: Mapping[str, NDArray[Any]]
) -> Iterator[Caution]:
    """Say what no checksum shows: rows in another order, unknown outcomes, other lengths of sessions, files that are gone."""
    planned = arrays["position"][arrays["position"] >= 0]
    if (np.diff(planned) < 0).any():
        text = "the rows of {} are not in the order of execution: the file was changed"
        yield _also_short("rows-reordered", text.format(MEASUREMENTS))
    strange = int((arrays["outcome"] == OUTCOMES.index("unknown")).sum())
    if strange:
        some = figures.counted(strange, "run")
        yield _also_short(
            "outcome-unknown",
            f"{some} with an outcome that this version does not know: counted as failed",
        )
    gone = [] if manifest.files else [name for name in _BESIDE if not (path / name).exists()]
    if gone:
        yield Caution("files-missing", f"missing in the trial: {', '.join(gone)}", tuple(gone))
    for end in manifest.session_ends:
        mine = (arrays["session"] == end.session) & ~arrays["warmup"]
        blocks = int(arrays["block"][mine].max(initial=0))
        if blocks != end.runs:
            yield Caution(
                "session-misstated",
                f"the manifest says that session {end.session} ended after {end.runs} runs a cell, "
                f"and its runs go to {blocks}",
                (str(end.session),),
                ShortSentence.of("the manifest and the runs differ about the length of a session"),
            )


def _also_short(code: str, text: str) -> Caution:
    return Caution(code, text, short=ShortSentence.of(plain(text)))


def _unfinished(
    manifest: Manifest, arrays: Mapping[str, NDArray[Any]], planned: int
) -> Iterator[Caution]:
    """Say how far a trial is that is not complete; a first screen names the missing runs."""
    done = int((arrays["position"] >= 0).sum())
    # what ended sessions did not need under a stopping rule is not missing
    needed = planned - (manifest.planned - manifest.needed)
    text = "the trial is still running, or its runner was killed"
    code, rest = "still-running", ""
    if manifest.status != "running":
        code, text = "ended-early", f"the trial was {manifest.status}"
        rest = f": {manifest.reason}" if manifest.reason else ""
    if manifest.status != "complete":
        found = None if done < needed else ShortSentence.of(text)
        yield Caution(code, text + rest, short=found)
    if done < needed:
        most = "" if manifest.stop is None else "at most "
        text = f"{done} of {most}{needed} planned runs are there"
        found = ShortSentence.of(f"the trial is not finished: {text}")
        yield Caution("runs-missing", text, short=found)


def _drift(trial: Path) -> Iterator[Caution]:
    """Say that runs of before and after a change are judged together, and what changed."""
    changes: dict[str, None] = {}
    for row in readable_rows(trial / FINDINGS):
        what = row.get("what")
        if row.get("check") == "drift" and isinstance(what, str):
            changes[what.splitlines()[0].rstrip(":") if what else "what is not said"] = None
    if changes:
        text = figures.listed([*changes], 3, mark="; ", last="; and")
        short = f"{figures.counted(len(changes), 'thing')} changed under the trial"
        if len(changes) == 1 and len(text) <= 36:
            short = text
        yield Caution(
            "drift",
            f"something changed under the trial, and runs of before and after are taken together: {text}",
            short=ShortSentence.of(plain(f"runs are judged together, though {short}")),
        )


def _sequential(manifest: Manifest) -> Caution:
    """Say what a reader of intervals must know when the values decided how many runs there are."""
    ends = manifest.session_ends
    capped = sum(end.why != "width" for end in ends)
    texts = [] if manifest.stop is None else [f"width {manifest.stop.width:g}"]
    if ends:
        texts.append(f"{figures.span(end.runs for end in ends)} runs a cell and session")
    if capped:
        texts.append(f"{capped} of {len(ends)} sessions ended at a cap before they were as narrow")
    return Caution(
        "sequential",
        "sequential: by the stopping rule the number of runs depends on the values "
        f"({'; '.join(texts)}); methods that take it as fixed are only nearly right: in simulation, t "
        "intervals on logs then covered 94 to 95 % where 95 % is nominal, percentile bootstraps 90 "
        "to 92 %",
    )


def given_up_cautions(
    manifest: Manifest, benchmarks: Collection[str] | None = None
) -> Iterator[Caution]:
    """Say which cells were given up after failures, and in how many sessions, or were never ok.

    A screen that shows only these `benchmarks` gets only theirs.
    """
    sessions: dict[tuple[str, str], list[int]] = {}
    never: dict[tuple[str, str], None] = {}
    for one in manifest.given_up:
        sessions.setdefault((one.benchmark, one.variant), []).append(one.session)
        if one.never_ok:
            never[one.benchmark, one.variant] = None
    if not sessions:
        return
    words = {
        cell: f"{' / '.join(cell)} in {len(found)} of {manifest.sessions} sessions"
        for cell, found in sessions.items()
    }
    parts = (
        ("given up after failures in a row", [cell for cell in sessions if cell not in never]),
        ("left out, because it was never ok when it was tried", never),
    )
    texts = [
        f"{what}: {figures.listed([words[cell] for cell in cells], 3)}"
        for what, cells in parts
        if cells
    ]
    names = tuple(dict.fromkeys(benchmark for benchmark, _ in sessions))
    shown = [cell for cell in sessions if not benchmarks or cell[0] in benchmarks]
    short = None
    if shown:  # those that were never ok first, then the most often
        cell = max(shown, key=lambda one: (one in never, len(sessions[one])))
        more = f", and {figures.counted(len(shown) - 1, 'more cell')}" if len(shown) > 1 else ""
        times = figures.counted(len(sessions[cell]), "session")
        why = (
            f"left out of {times}, as no run was ok" if cell in never else "given up after failures"
        )
        short = ShortSentence.of(f"{why}: {{}} / {{}}{more}", *cell)
    yield Caution("given-up", "; ".join(texts), names, short)


def imported_cautions(trial: Path) -> Iterator[Caution]:
    """Say what the files that a trial was imported from cannot tell."""
    path = trial / IMPORT
    try:
        with opened(path) as file:
            found = tuple(import_cautions(json.loads(file.read())))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"the loss report of the imported trial cannot be read: {error}"
        fix = "restore the file, or import again"
        raise StoreError(what, str(path), fix) from None
    yield from found


def import_cautions(found: Mapping[str, Any]) -> Iterator[Caution]:
    """Give what the loss report of an import says."""
    texts = [str(text) for text in found["cannot_recover"]]
    texts = [f"imported from {found['format']} files", *(["; ".join(texts)] if texts else [])]
    yield Caution("imported", ": ".join(texts))
    for code, text in zip(found["caution_codes"], found["cautions"], strict=True):
        short = ShortSentence.of(plain(str(text))) if code in _SHOWN else None
        yield Caution(str(code), str(text), short=short)


def settings_differ(files: Iterable[tuple[str, Mapping[str, str]]]) -> tuple[Caution, ...]:
    """Say which settings are the same in all rows of each file, but not in all files."""
    found: dict[str, dict[str, list[str]]] = {}
    for name, settings in files:
        for key, text in settings.items():
            found.setdefault(key, {}).setdefault(text, []).append(name)
    texts = [
        f"{key} is {figures.listed([f'{text} in {names[0]}' for text, names in of.items()], 3)}"
        for key, of in found.items()
        if len(of.keys() - {"unknown"}) > 1
    ]
    text = f"{'; '.join(texts)}: a difference of the sides may be that of the setting"
    return (Caution(DIFFER, text, short=ShortSentence.of(plain(text))),) if texts else ()


def name_cautions(manifest: Manifest) -> Iterator[Caution]:
    """Say which variants, and which benchmarks, are called alike: but for case, width or form the same."""
    for part, names in (("variants", manifest.variants), ("benchmarks", manifest.benchmarks)):
        if pairs := alike(names):
            texts = [f"{_spelt(one)} and {_spelt(two)}" for one, two in pairs]
            listed = figures.listed(texts, 5, mark="; ", last=" and") + " pairs" * (len(pairs) > 5)
            text = f"{part} that look alike, and are not the same: {listed}"
            yield Caution("names-alike", text, tuple(name for pair in pairs for name in pair))


def _spelt(name: str) -> str:
    """Give a name, with the numbers of its signs where these are not ASCII: they may look the same."""
    if name.isascii():
        return name
    signs = " ".join(f"U+{ord(sign):04X}" for sign in name if not sign.isascii())
    return f"{name} ({signs})"


def constant_cautions(runs: Runs, cautions: Iterable[Caution] = ()) -> Iterator[Caution]:
    """Give what every answer must say.

    What an imported trial cannot tell, which hosts of a fleet are not there and what stands for a
    session of it, that sessions have layouts of their own, and pooled iterations.
    """
    imported = runs.manifest.origin == "imported"
    yield from (one for one in runs.cautions if imported or one.code in _OF_FLEETS)
    built = builds_each_session(runs.path)
    names = tuple(name for name in runs.manifest.variants if name in built)
    if names and runs.sessions > 1:
        yield Caution(
            "layouts-in-sessions",
            f"each session builds {figures.listed(names, 3)} anew: what differs between sessions, and their "
            "share of the variance, has layouts in it; a session and its layouts cannot be separated",
            names,
        )
    yield from (one for one in cautions if one.code == "iterations-pooled")
