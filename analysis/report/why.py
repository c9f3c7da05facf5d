"""Why it is slower: for each profile of the trial, functions with intervals, counters, and who called whom."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import Any

from ..data.trial import read_trial
from ..diagnose.explain import explain
from ..diagnose.session_profiles import Stacks, stacks_of
from ..diagnose.why_result import (
    MOST,
    ON_CPU,
    Why,
    change_text,
    evidence,
    resolved,
    rows_of,
    sentence_of,
    time_text,
)
from ..errors import FairtrialError, StoreError
from ..pages.model import Block, Figure, Section, Sentence, Value, section, table_of
from ..pages.number_format import counted
from ..plots.axes import Picture, Sheet, quantity_axis, quantity_scale, rows_down
from ..plots.chart import arranged
from ..plots.marks import Style
from ..record.fleet import is_fleet
from ..record.profiles import PROFILE, Profile, profiles_of, read_profile
from ..record.trial_files import Manifest
from .assembling import Chapter, chapter_of
from .figures import names_of, rows_high
from .subject import Subject

# --- The profiles of a trial: those that are its own, and what is wrong with the others.


Values = Mapping[str, Any]


def profiles_beside(
    path: Path,
    manifest: Manifest,
    variants: frozenset[str],
    benchmarks: tuple[str, ...],
    confidence: float,
) -> dict[str, list[Any]] | None:
    """Read the profiles of a trial; None where it has none. Profiles of others than `variants` are left alone.

    ``profiles`` has those of its own, with an answer for each benchmark that is shown; ``faults`` are sentences on what is not shown.
    """
    place = profiles_of(path)
    try:
        inside = sorted(one for one in place.iterdir() if not one.name.startswith("."))
    except FileNotFoundError:
        return None
    except OSError as error:
        return {"profiles": [], "faults": [f"{place.name} cannot be read: {error.strerror}"]}
    folders = [one for one in inside if one.is_dir()]
    known = [one for one in folders if one.name in manifest.variants]
    known.sort(key=lambda one: manifest.variants.index(one.name))
    profiles: list[Values] = []
    faults = [
        f"{place.name}/{one.name} is not shown: the trial has no variant of this name"
        for one in folders
        if one not in known
    ]
    if not folders:
        faults.append(f"{place.name} holds no finished profile")
    for folder in (one for one in known if one.name in variants):
        where = f"{place.name}/{folder.name} is not shown"
        try:
            stored = read_profile(folder)
            profile = stored.profile
            if (fault := _foreign(profile, manifest, folder.name)) is not None:
                raise StoreError(fault)
            timed = read_trial(stored.timed)
        except FairtrialError as error:
            faults.append(f"{where}: {error.what}")
            continue
        answers: list[Values] = []
        for name in profile.benchmarks:
            if name in benchmarks:
                try:
                    found = explain(stored, timed=timed, benchmark=name, confidence=confidence)
                    called = found.rows and profile.chains is not None
                    stacks = stacks_of(stored, name, found.renames, timed) if called else {}
                    answers.append({"told": found, "calls": _calls(found, stacks)})
                except FairtrialError as error:
                    faults.append(f"{where} on {name}: {error.what}")
        about: dict[str, Any] = {"variant": profile.variant, "baseline": profile.baseline}
        about |= {"recorded": profile.started, "deck": list(_deck(profile)), "answers": answers}
        profiles += [about] if answers else []
    return {"faults": faults, "profiles": profiles} if profiles or faults else None


def _foreign(profile: Profile, manifest: Manifest, name: str) -> str | None:
    """Say why a profile is not one of this trial's; None where it is."""
    if profile.trial != manifest.trial:
        return f"it is of the trial {profile.trial}, and not of {manifest.trial}"
    if profile.campaign_sha256 != manifest.campaign_sha256:
        return "it is of another campaign than the trial"
    if profile.host_id != manifest.host_id:
        return "it was recorded on another host than the trial"
    if (profile.variant, profile.baseline) != (name, manifest.baseline):
        return f"it compares {profile.variant} with {profile.baseline}"
    try:
        early = datetime.fromisoformat(profile.started) < datetime.fromisoformat(manifest.started)
    except (ValueError, TypeError):
        return f"{PROFILE} does not say when it was recorded"
    return "it was recorded before the trial began" if early else None


# --- The chapter: of each profile the answers of `why`, each with its rows in a picture.


_SHEET = Sheet(width=85.0)  # mm: a telephone's page
_BEYOND = 3.0  # times the largest difference that an interval may reach beyond it


def _picture(why: Why) -> Picture:
    rows = [*rows_of(why, MOST)]
    middles = [row.difference_ms / 1000 for row in rows]
    ends = [
        None
        if row.low_ms is None or row.high_ms is None
        else (row.low_ms / 1000, row.high_ms / 1000)
        for row in rows
    ]
    far = _BEYOND * (max(map(abs, middles)) or 1e-6)
    near = [min(max(end, -far), far) for pair in ends if pair is not None for end in pair]
    names = names_of([row.name for row in rows], _SHEET, 0.4)
    axes = rows_down([names[row.name] for row in rows], x_label="more in a run of the candidate")
    quantity_axis(axes, "x", quantity_scale((0.0, *middles, *near), log=False), "s")
    axes.upright(0.0, "one thin")
    for k, (row, middle, pair) in enumerate(zip(rows, middles, ends, strict=True)):
        proven = row.named or (row.function == ON_CPU and resolved(why))
        style: Style = ("slower" if middle > 0 else "faster") if proven else "neither"
        axes.interval(k, middle, pair, style, hollow=not proven)
    return arranged(_SHEET, [[axes]], rows_high(_SHEET, len(rows), 1.5))


_CALLS = 10  # stacks in their table
_UNFOLDED = 2  # comparisons whose rows stand open; more are a line each
_LONG = 240  # letters of a sentence
_NEAREST = 3  # callers that are named there
_CALLERS: Mapping[str | None, str] = {
    "fp": "callers by frame pointers",
    "dwarf": "callers by unwinding",
    None: "without callers",
}
_READING = (
    "Dot: how much more or less a run of the candidate takes in the function itself. Line: its interval, of this row alone. Filled, "
    "with a star: named, so that all names together are right at this level. Hollow: not proven."
)


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None where the trial has no profile."""
    trial = subject.trial
    if trial is None or not os.path.lexists(profiles_of(trial.path)) or is_fleet(trial.path):
        return None
    variants = frozenset(one.variant for one in subject.candidates)
    confidence = subject.verdict.question.confidence
    found = profiles_beside(trial.path, trial.manifest, variants, subject.order, confidence)
    if found is None:
        return None
    lead = _summary(found["profiles"])
    values = {"summary": lead, **found}
    blocks = partial(_sections, values)
    return chapter_of(subject, "why", "Why it differs", blocks, lead=lead, values=values)


def _summary(profiles: Sequence[Values]) -> str:
    answers = [one["told"] for each in profiles for one in each["answers"]]
    if not answers:
        return "none of the trial's profiles can be shown"
    if len(answers) == 1:
        return sentence_of(answers[0], _LONG)
    named = sum(len(one.named) for one in answers)
    return f"{counted(named, 'function') if named else 'no function'} named in {len(answers)} comparisons"


def _deck(profile: Profile) -> Iterator[str]:
    kernel = f"with{'' if profile.sees_kernel else 'out'} the kernel's side"
    callers = _CALLERS.get(profile.chains, f"callers by {profile.chains}")
    yield f"Recorded {profile.started[:16].replace('T', ' ')} UTC, {kernel}, {callers}."
    yield "None of these runs is in the verdict, and nothing else on this page rests on them."


def _calls(answer: Why, stacks: Stacks) -> list[Values]:
    """Give the stacks that differ most themselves, in milliseconds a run."""
    each = ((after - before, before, after, path) for path, (before, after) in stacks.items())
    most = sorted((one for one in each if one[-1]), key=lambda one: (-abs(one[0]), one))[:_CALLS]
    return [
        {
            "function": path[-1],
            "callers": list(path[:-1]),
            "own_baseline": Value(time_text(answer, before), before),
            "own_candidate": Value(time_text(answer, after), after),
            "own_difference": Value(change_text(answer, difference), difference),
        }
        for difference, before, after, path in most
    ]


def _sections(values: Values) -> Iterator[Section]:
    numbers = count(1)
    if values["faults"]:
        yield section(*values["faults"])
    many = sum(len(one["answers"]) for one in values["profiles"]) > _UNFOLDED
    for one in values["profiles"]:
        answers = (
            section(
                *_answered(answer["told"], answer["calls"], next(numbers)),
                title=sentence_of(answer["told"], _LONG),
                folded=many,
            )
            for answer in one["answers"]
        )
        title = f"{one['variant']} against {one['baseline']}"
        yield section(*one["deck"], *answers, title=title)


def _answered(why: Why, calls: Sequence[Values], number: int) -> Iterator[Block]:
    # by its name a file of tables tells an answer from others
    readable = re.sub(r"[^a-z0-9]+", "-", f"{why.variant}-{why.benchmark}".casefold()).strip("-")
    name = f"{f'why-{number}-{readable[:40]}'.rstrip('-')}-"
    yield Figure(name=f"{name}rows", alt=_READING, draw=lambda: _picture(why))
    yield from evidence(why, whole=name)
    yield from (Sentence(caution.text) for caution in why.cautions)
    if calls:

        def called_by(one: Values) -> str:
            nearest = one["callers"][: -_NEAREST - 1 : -1]
            return " < ".join([*nearest, *["…"] * (len(one["callers"]) > _NEAREST)])

        table = table_of(
            f"{name}calls",
            calls,
            ("@function", itemgetter("function")),
            ("<called by", called_by),
            (f"itself in {why.baseline}, ms", itemgetter("own_baseline")),
            (f"in {why.variant}, ms", itemgetter("own_candidate")),
            ("difference, ms", itemgetter("own_difference")),
        )
        yield section(table, title="What differs most by path of calls", folded=True)
