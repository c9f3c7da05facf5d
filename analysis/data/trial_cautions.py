"""What every answer says of the trial behind it: damage, drift, cells given up, imported or merged parts."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import StoreError
from ..pages import number_format as figures
from ..pages.model import Caution, ShortSentence, plain
from ..record.shapes import opened, readable_rows
from ..record.trial_files import CAMPAIGN, ENVIRONMENT, FINDINGS, IMPORT, MEASUREMENTS, Manifest
from ..words import alike, shown
from .columns import OUTCOMES
from .protocol import builds_each_session

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .trial import Trial

READ_AS = "read-as"  # the code of what the columns of a table were guessed to be
UNREAD = "columns-unread"  # and of those that no role is known of
SINGLE = "single"  # and of values that are the only one of their benchmark
CHANGED = "benchmark-changed"  # the code of a benchmark that was measured in several ways
_SHOWN = (CHANGED, READ_AS, UNREAD)  # of an import, on a first screen
DEFINITIONS = "definitions"  # key of an imported trial's manifest: benchmark -> how it was measured
_BESIDE = (CAMPAIGN, ENVIRONMENT, FINDINGS)  # files that the judge does not read


def misstated(manifest: Manifest, arrays: Mapping[str, NDArray[Any]]) -> Iterator[Caution]:
    """Say where the manifest names another number of runs than a session that ended has."""
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


def damaged(
    path: Path, manifest: Manifest, arrays: Mapping[str, NDArray[Any]]
) -> Iterator[Caution]:
    """Say what no checksum shows: rows in another order, outcomes nobody knows, files that are gone."""
    planned = arrays["position"][arrays["position"] >= 0]
    if (np.diff(planned) < 0).any():
        yield Caution(
            "rows-reordered",
            f"the rows of {MEASUREMENTS} are not in the order of execution: the file was changed",
            short=ShortSentence.of(
                "the file of the runs was changed: its rows are in another order"
            ),
        )
    strange = int((arrays["outcome"] == OUTCOMES.index("unknown")).sum())
    if strange:
        noun = "run has" if strange == 1 else "runs have"
        yield Caution(
            "outcome-unknown",
            f"{strange} {noun} an outcome that this version does not know, and count as failed",
            short=ShortSentence.of(f"{strange} {noun} an unknown outcome, and count as failed"),
        )
    gone = [] if manifest.files else [name for name in _BESIDE if not (path / name).exists()]
    if gone:
        yield Caution("files-missing", f"missing in the trial: {', '.join(gone)}", tuple(gone))


def sequential(manifest: Manifest) -> Caution:
    """Say what a reader of intervals must know when the values decided how many runs there are."""
    ends = manifest.session_ends
    capped = sum(end.why != "width" for end in ends)
    runs = [end.runs for end in ends]
    told = [] if manifest.stop is None else [f"width {manifest.stop.width:g}"]
    if runs:
        told.append(f"{figures.span(runs)} runs a cell and session")
    if capped:
        told.append(f"{capped} of {len(ends)} sessions ended at a cap before they were as narrow")
    return Caution(
        "sequential",
        "sequential: by the stopping rule the number of runs depends on the values "
        f"({'; '.join(told)}); methods that take it as fixed are only nearly right: in simulation, t "
        "intervals on logs then covered 94 to 95 % where 95 % is nominal, percentile bootstraps 90 "
        "to 92 %",
    )


def drift_cautions(trial: Path) -> Iterator[Caution]:
    """Say that runs of before and after a change are judged together, and what changed."""
    changes: dict[str, None] = {}
    for row in readable_rows(trial / FINDINGS):
        what = row.get("what")
        if row.get("check") == "drift" and isinstance(what, str):
            changes[what.splitlines()[0].rstrip(":") if what else "what is not said"] = None
    if changes:
        told = figures.listed([*changes], 3, mark="; ", last="; and")
        yield Caution(
            "drift",
            "something changed under the trial, and runs of before and after are taken together: "
            f"{told}",
            short=_changed([*changes]),
        )


_CHANGE = 36  # columns of a change that is told


def _changed(changes: Sequence[str]) -> ShortSentence:
    """Say what changed in few words: the change itself only where it is one, and fits whole."""
    what = changes[0] if len(changes) == 1 else f"{len(changes)} things changed"
    what = what if len(what) <= _CHANGE else "something changed under the trial"
    return ShortSentence.of(plain(f"runs are judged together, though {what}"))


def measured_once_cautions(manifest: Manifest) -> Iterator[Caution]:
    """Say which variants were not measured, because a neighbour is the same program."""
    if manifest.same_program:
        pairs = [f"{name} (as {other})" for name, other in manifest.same_program.items()]
        said = f"the same program as a neighbour, and not measured: {figures.listed(pairs, 4)}"
        count = figures.counted(len(pairs), "variant")
        told = ShortSentence.of(f"{count} not measured: the same program as a neighbour")
        yield Caution("measured-once", said, short=told)


def given_up_cautions(
    manifest: Manifest, benchmarks: Collection[str] | None = None
) -> Iterator[Caution]:
    """Say which cells were given up after failures, and in how many sessions, or were never ok.

    A screen that shows only these `benchmarks` is told of these.
    """
    sessions: dict[tuple[str, str], list[int]] = {}
    for one in manifest.given_up:
        sessions.setdefault((one.benchmark, one.variant), []).append(one.session)
    if not sessions:
        return
    never = _never_ok(manifest)
    told = [
        f"{benchmark} / {variant} in {len(found)} of {manifest.sessions} sessions"
        for (benchmark, variant), found in sessions.items()
        if (benchmark, variant) not in never
    ]
    said = [f"given up after failures in a row: {figures.listed(told, 3)}"] * bool(told)
    if never:
        names = [
            f"{cell[0]} / {cell[1]}"
            + ("" if whole else f" in {len(sessions[cell])} of {manifest.sessions} sessions")
            for cell, whole in never.items()
        ]
        said.append(
            f"left out, because it was never ok when it was tried: {figures.listed(names, 3)}"
        )
    yield Caution(
        "given-up",
        "; ".join(said),
        tuple(dict.fromkeys(benchmark for benchmark, _ in sessions)),
        _given_up(sessions, never, benchmarks),
    )


def _never_ok(manifest: Manifest) -> dict[tuple[str, str], bool]:
    """Tell of each cell that was left out whether it was in all of the trial: each merged part tried for itself."""
    parts = [range(part.first, part.last + 1) for part in manifest.merged_from]
    found: dict[tuple[str, str], set[int]] = {}
    for one in manifest.given_up:
        if one.never_ok:
            found.setdefault((one.benchmark, one.variant), set()).add(one.session)
    return {
        cell: all(not those.isdisjoint(part) for part in parts) for cell, those in found.items()
    }


def _given_up(
    sessions: Mapping[tuple[str, str], Sequence[int]],
    never: Mapping[tuple[str, str], bool],
    shown: Collection[str] | None,
) -> ShortSentence | None:
    """Say which cell was given up most often, those that were never ok first, and how many more were."""
    found = {cell: len(those) for cell, those in sessions.items() if not shown or cell[0] in shown}
    if not found:
        return None
    cell = max(found, key=lambda one: (one in never, found[one]))
    more = f", and {figures.counted(len(found) - 1, 'more cell')}" if len(found) > 1 else ""
    why = "given up after failures"
    if cell in never:
        why = "left out, as no run was ever ok"
        if not never[cell]:  # other parts of a merged trial have runs of it
            why = f"left out of {figures.counted(found[cell], 'session')}, as no run was ok there"
    said = f"{why}: {{}} / {{}}{more}"
    return ShortSentence.of(said, *cell)


_OF_FLEETS = {
    *("host-missing", "host-failed", "host-unfinished", "one-host"),
    *("hosts-as-sessions", "sessions-of-hosts"),
}


def always_said(trial: Trial, cautions: Iterable[Caution] = ()) -> Iterator[Caution]:
    """Give what every answer must say.

    What an imported trial cannot tell, which hosts of a fleet are not there and what stands for a
    session of it, that sessions have layouts of their own, and pooled iterations.
    """
    if trial.manifest.origin == "imported":
        yield from trial.cautions
    else:
        yield from (one for one in trial.cautions if one.code in _OF_FLEETS)
    yield from _layouts_in_sessions(trial)
    yield from (one for one in cautions if one.code == "iterations-pooled")


def _layouts_in_sessions(trial: Trial) -> Iterator[Caution]:
    built = builds_each_session(trial.path)
    names = tuple(name for name in trial.manifest.variants if name in built)
    if names and trial.sessions > 1:
        yield Caution(
            "layouts-in-sessions",
            f"each session builds {figures.listed(names, 3)} anew: what differs between sessions, and their "
            "share of the variance, has layouts in it; a session and its layouts cannot be told apart",
            names,
        )


def imported_cautions(trial: Path, manifest: Manifest) -> Iterator[Caution]:
    """Say what the files that a trial was imported from cannot tell."""
    if manifest.origin != "imported":
        return
    path = trial / IMPORT
    try:
        with opened(path) as file:
            found = tuple(imported_said(json.loads(file.read())))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(
            f"the loss report of the imported trial cannot be read: {error}",
            str(path),
            "restore the file, or import again",
        ) from None
    yield from found


def imported_said(found: Mapping[str, Any]) -> Iterator[Caution]:
    """Give what the loss report of an import says."""
    told = [str(text) for text in found["cannot_recover"]]
    told = [f"imported from {found['format']} files", *(["; ".join(told)] if told else [])]
    yield Caution("imported", ": ".join(told))
    for code, text in zip(found["caution_codes"], found["cautions"], strict=True):
        short = ShortSentence.of(plain(str(text))) if code in _SHOWN else None
        yield Caution(str(code), str(text), short=short)


def merged_cautions(manifest: Manifest) -> Iterator[Caution]:
    """Say which trials the sessions of a merged one were measured in."""
    names = tuple(part.trial for part in manifest.merged_from)
    if not names:
        return
    yield Caution(
        "merged",
        f"put together from {len(names)} trials ({figures.listed(names)}): what differed between "
        "their environments stands in its findings.jsonl",
        names,
    )


def name_cautions(manifest: Manifest) -> Iterator[Caution]:
    """Say which variants, and which benchmarks, are called alike: but for case, width or form the same."""
    for part, names in (("variants", manifest.variants), ("benchmarks", manifest.benchmarks)):
        pairs = alike(names)
        if pairs:
            said = "; ".join(f"{_spelt(one)} and {_spelt(two)}" for one, two in pairs[:5])
            more = f" and {len(pairs) - 5} more pairs" if len(pairs) > 5 else ""
            text = f"{part} that look alike, and are not the same: {said}{more}"
            yield Caution("names-alike", text, tuple(name for pair in pairs for name in pair))


def _spelt(name: str) -> str:
    """Give a name, with the numbers of its signs where these are not ASCII: they may look the same."""
    if name.isascii():
        return name
    signs = " ".join(f"U+{ord(sign):04X}" for sign in name if not sign.isascii())
    return f"{shown(name)} ({signs})"
