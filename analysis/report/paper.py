"""What gives these results again: commands, seeds, versions, hashes, and the runs themselves."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ..data.host_record import read_environments, without_homes
from ..data.matrix import PerformanceMatrix
from ..data.trial import Trial
from ..errors import StoreError
from ..importers.reader import trial_and_variant
from ..methods.multilevel.result import HostLevel
from ..pages.model import CommandLine, Listing, Section, section, table_of
from ..record.fleet import FLEET, read_fleet
from ..record.manifest import judge_words, read_manifest
from ..record.shapes import file_hash
from ..record.trial_files import (
    BUILDS,
    CAMPAIGN,
    ENVIRONMENT,
    MANIFEST,
    MEASUREMENTS,
    PLAN,
    RESOLVED,
)
from ..version import VERSION
from ..words import command_line
from .assembling import Chapter, chapter_of
from .methods_text import citations_of, paragraph_of, spoken_text, works_used
from .subject import Subject, first_host, level_of, ours_of

_FILES = (CAMPAIGN, RESOLVED, PLAN, MEASUREMENTS, ENVIRONMENT)
_LIBRARIES = ("numpy", "scipy", "numba")
_USUAL = dict(confidence=0.95, margin=0.01, correction="holm", looks=None, certificate=None)
_OCCASIONS = {"candidate", "baseline"}  # what `sessions_apart` calls the session of a file

Facts = Iterator[tuple[str, str | None]]  # a name; what is known, None where nobody knows it


def commands_of(subject: Subject) -> list[str]:
    """Give the command lines that measure and judge the same again, as they would be typed."""
    level, options, words = level_of(subject.verdict), [*_options(subject)], judge_words()
    for option, value in zip(words[::2], words[1::2], strict=True):
        options += [] if option in options else [option, value]
    lines = [words for trial in ours_of(subject) for words in _measuring(trial, level)]
    if subject.trials or len(subject.sources) > 1:  # one file alone is only reported on
        lines.append(["verdict", *subject.sources, "--explain", *options])
    lines.append(["report", *subject.sources, *options, "-o", "report.html"])
    return [command_line(["fairtrial", *words]) for words in lines]


def notes_of(subject: Subject) -> Iterator[str]:
    """Say what the commands cannot repeat."""
    if ours_of(subject):
        yield (
            "The seed fixes the order of the runs and everything else that is random, not their times."
        )
    appended = [one for trial in subject.trials for one in trial.manifest.appended]
    for first, last in dict.fromkeys((one.first, one.last) for one in appended):
        which = f"Sessions {first} to {last} were" if last > first else f"Session {first} was"
        yield f"{which} appended after the first ones had been judged."
    if len(subject.trials) < len(subject.sources):
        yield "How the values of the files were measured is not known here."


def facts_of(subject: Subject) -> dict[str, list[dict[str, str | None]]]:
    """Give seeds, versions and hashes: each with its name, and None where it is not known."""
    groups = {"seeds": _seeds, "versions": _versions, "hashes": _hashes}
    return {
        group: [{"name": name, "text": text} for name, text in facts(subject)]
        for group, facts in groups.items()
    }


def _seeds(subject: Subject) -> Facts:
    for trial in ours_of(subject):
        manifest = trial.manifest
        for one in manifest.merged_from:
            yield f"plan of {one.trial}", f"{one.seed}"
        if not manifest.merged_from:
            of = "" if len(subject.trials) == 1 else f" of {manifest.trial}"
            yield f"plan{of}", f"{manifest.seed}"
    if any(one.panel is not None for one in subject.candidates):
        yield "random draws of the published methods", "0"


def _versions(subject: Subject) -> Facts:
    host = first_host(subject.verdict) if level_of(subject.verdict) is not None else None
    for trial in ours_of(subject):
        of = "" if len(subject.trials) == 1 else f" {trial.manifest.trial}"
        if host is not None:
            of = f" on {host.name}"
        yield f"measured{of} with fairtrial", trial.manifest.tool_version or None
        records = read_environments(host or trial.path)
        tools = records[0].sections.get("tools", {}) if records else {}
        parts = [str(tools[key]) for key in ("python", "libc") if tools.get(key)]
        yield f"measured{of} under", f"Python {', '.join(parts)}" if parts else None
    yield "judged with fairtrial", VERSION
    yield "judged under", f"Python {platform.python_version()}"
    for name in _LIBRARIES:
        try:
            yield name, importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield name, None


def _hashes(subject: Subject) -> Facts:
    """Give the SHA-256 of what was read: files of trials as their manifests say, others as they are."""
    of_hosts = level_of(subject.verdict) is not None
    for trial in subject.trials:
        manifest = trial.manifest
        if manifest.origin == "imported" and not manifest.files:  # it was read where it lies
            yield without_homes(f"{trial.path}"), file_hash(trial.path)
            continue
        of = "" if len(subject.trials) == 1 else f"{manifest.trial}: "
        yield f"{of}campaign (its content)", manifest.campaign_sha256 or None
        if of_hosts:  # each host's manifest holds the hashes of its other files
            yield FLEET, file_hash(Path(subject.data.path or ".") / FLEET)
            for one in subject.verdict.hosts:
                if one.judged:
                    yield f"{one.host}: {MANIFEST}", file_hash(Path(one.trial) / MANIFEST)
            continue
        yield f"{of}{MANIFEST}", file_hash(trial.path / MANIFEST)
        built = [BUILDS] if BUILDS in manifest.files else []
        yield from ((f"{of}{name}", manifest.files.get(name)) for name in (*_FILES, *built))
        for path, digest in sorted(manifest.targets.items()):
            yield f"{of}{without_homes(path)}", digest or None
    for source in subject.sources:
        if trial_and_variant(source) is None:
            yield without_homes(source), file_hash(Path(source))


def _measuring(trial: Trial, level: HostLevel | None) -> Iterator[list[str]]:
    """Give what measured a trial: each part of a merged one, each host of a fleet, or all at once."""
    manifest = trial.manifest
    written = Path(manifest.campaign_path)
    own = written.parent.name == manifest.trial  # as `compare` writes it, into the trial itself
    campaign = without_homes(f"{trial.path / CAMPAIGN}") if own else written.name or CAMPAIGN

    def run(seed: int, sessions: int | None) -> list[str]:
        more = [] if sessions is None else ["--sessions", f"{sessions}"]
        return ["run", campaign, "--seed", f"{seed}", *more]

    if trial.outermost == "host":
        fleet = read_fleet(trial.path)
        if fleet.submitted_at is not None:
            yield ["submit", campaign, "--hosts", ",".join(fleet.names)]
            return
        each = None if level is None else level.sessions_each[1]
        for one in fleet.hosts if level is None else ():  # the first that has a trial
            with contextlib.suppress(StoreError):
                each = read_manifest(trial.path / one.trial).sessions
                break
        yield run(manifest.seed, each)
        yield ["merge", *fleet.names, "-o", trial.path.name]
    elif parts := manifest.merged_from:
        yield from (run(one.seed, one.last - one.first + 1) for one in parts)
        yield ["merge", *(f"runs/{one.trial}" for one in parts), "-o", "runs/" + manifest.trial]
    else:
        yield run(manifest.seed, manifest.sessions)


def _options(subject: Subject) -> Iterator[str]:
    asked, how, verdict = subject.options, subject.how, subject.verdict
    named = {pair[1] for text in subject.sources if (pair := trial_and_variant(text)) is not None}
    given: dict[str, Iterable[object]] = {
        "variant": [name for name in asked.get("variants") or () if name not in named],
        "benchmark": asked.get("benchmarks") or (),
        "metric": () if verdict.question.usual else (verdict.data.metric,),
        **{name: (getattr(how, name),) for name in ("better", "layout", "decimal")},
        **{name: (asked.get(name),) for name, usual in _USUAL.items() if asked.get(name) != usual},
        "weight": [name + f"={weight}" for name, weight in (asked.get("weights") or {}).items()],
    }
    for option, values in given.items():
        for value in values:
            if value is not None:
                yield from (f"--{option}", f"{value}")
    if asked.get("always_valid"):
        yield "--always-valid"


# --- The runs themselves.


def raw_runs(subject: Subject) -> dict[str, Any]:
    """Give the runs that count of what was judged, a cell at a time: by session, in the order of blocks.

    ``sessions`` holds an id for each value, or is None where nobody knows them.
    """
    data = subject.verdict.data
    cells: list[dict[str, Any]] = []
    for variant, matrix in subject.matrices.items():
        for name in subject.order:
            for side in (matrix, matrix.with_zeros):
                if side is not None and name in side.benchmarks:
                    place = side.benchmarks.index(name)
                    known = None if _made_up(side) else side.sessions
                    sessions = None if known is None else known[place].tolist()
                    values = side.samples[place].tolist()
                    cell = {"variant": variant, "benchmark": name}
                    cells.append({**cell, "sessions": sessions, "values": values})
    return {"metric": data.metric, "unit": data.unit, "better": data.better, "cells": cells}


def _made_up(matrix: PerformanceMatrix) -> bool:
    """Whether a file's runs only got a session so that they count as an occasion of their own."""
    if matrix.trial is not None or matrix.sessions is None:
        return False
    found = {str(key) for ids in matrix.sessions for key in ids.tolist()}
    return len(found) == 1 and found <= _OCCASIONS


# --- For a paper, and for whoever repeats the work: the method in words, commands, hashes,
# the runs themselves.


_FILE = re.compile(r"[^A-Za-z0-9_.-]+")
_KINDS = {"seeds": "seed", "versions": "version", "hashes": "SHA-256"}


def chapter(subject: Subject) -> Chapter:
    """Give the chapter; what is the same for all metrics stands with the first only."""
    first, metric = not subject.prefix, subject.data.metric
    cited = citations_of(works_used(subject)) if first else []
    values: dict[str, Any] = {
        "paragraph": paragraph_of(subject, {one["key"]: k for k, one in enumerate(cited, 1)}),
        "citations": cited,
        "commands": commands_of(subject),
        "notes": list(notes_of(subject)) if first else [],
        **(facts_of(subject) if first else {kind: [] for kind in _KINDS}),
        "raw": raw_runs(subject),
    }
    title = "For a paper" if first else f"For a paper: {metric}"
    lead = "the methods as a paragraph, what it cites, the commands, the values"
    found = partial(_sections, subject.anchor("paper"), values)
    return chapter_of(subject, "paper", title, found, lead=lead, values=values, whole=True)


def _sections(anchor: str, values: Mapping[str, Any]) -> Iterator[Section]:
    yield section(spoken_text(values["paragraph"]), title="Method")
    again = map(CommandLine, values["commands"])
    yield section(*again, *values["notes"], title="To do it again", anchor=f"{anchor}-commands")
    facts = [(kind, fact) for key, kind in _KINDS.items() for fact in values[key]]
    if facts:
        table = table_of(
            "provenance",
            facts,
            ("<kind", lambda row: row[0]),
            ("@of", lambda row: row[1]["name"]),
            ("<value", lambda row: row[1]["text"] or "unknown"),
        )
        title = "Seeds, versions, hashes"
        yield section(table, title=title, anchor=f"{anchor}-hashes", folded=True)
    if cited := values["citations"]:
        lines = (f"[{k}] {one['text']}" for k, one in enumerate(cited, 1))
        bibtex = Listing("\n\n".join(one["bibtex"] for one in cited))
        yield section(*lines, bibtex, title="To cite", anchor=f"{anchor}-citations", folded=True)
    raw = values["raw"]
    count = f"{sum(len(cell['values']) for cell in raw['cells']):,}"
    of = raw["metric"] + (f" in {raw['unit']}" if raw["unit"] != "1" else "")
    about = (
        f"All {count} values of {of} that count are in this file, as JSON in the element with the id "
        f"{anchor}-values: for each variant and benchmark the values, and the session of each."
    )
    text = json.dumps(raw, separators=(",", ":"), allow_nan=False)
    file = f"{_FILE.sub('-', raw['metric'])}-runs.json"
    title = f"The runs themselves: {count} value{'s' * (count != '1')}"
    listing = Listing(text, about, file, f"{anchor}-values")
    yield section(listing, title=title, anchor=f"{anchor}-raw", folded=True)
