"""Why it is slower: for each profile beside the trial, functions with intervals, counters, and who called whom."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.trial import read_trial
from ..diagnose.explain import explain_by
from ..diagnose.session_profiles import stacks_of
from ..diagnose.why_result import resolved
from ..errors import FairtrialError
from ..pages.difference import Difference
from ..pages.model import Block, Section, Sentence, Table, Value
from ..pages.number_format import bare_pvalue, counted, outcome_word
from ..plots.axes import Scale, quantity_ticks
from ..plots.labels import kept_in_row
from ..plots.marks import Mark, again, arrow, dot, line, shared, style_of, upright
from ..plots.svg import cell, ticks_below
from ..record.fleet import is_fleet
from ..record.profiles import PROFILE, StoredProfile, profiles_of, read_profile
from ..words import shortened, shown
from .page import Chapter, table_of
from .subject import abridging

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markupsafe import Markup

    from ..data.trial import Trial
    from ..diagnose.session_profiles import Stacks
    from ..diagnose.why_result import Counter, Row, Why
    from ..plots.marks import Style
    from ..record.profiles import Profile
    from ..record.trial_files import Manifest
    from .subject import Subject

__all__ = [
    "EACH_METRIC",
    "Axis",
    "Beside",
    "Explained",
    "FunctionRow",
    "Milliseconds",
    "Recorded",
    "axis_of",
    "axis_picture",
    "beside",
    "chapter",
    "left_out",
    "row_picture",
    "rows_of",
]

# --- The profiles that lie beside a trial: those that are its own, and what is wrong with the others.


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """What a profile says of one benchmark; `stacks` is None where it has no callers, or nothing may be named."""

    answer: Why
    stacks: Stacks | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A profile of the trial's own, with an answer for each benchmark that is shown."""

    stored: StoredProfile
    explained: tuple[Explained, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What lies beside a trial; `faults` are sentences on what is not shown."""

    recorded: tuple[Recorded, ...]
    faults: tuple[str, ...]


def beside(
    path: Path,
    manifest: Manifest,
    variants: frozenset[str],
    benchmarks: tuple[str, ...],
    confidence: float,
) -> Beside | None:
    """Read the profiles of a trial; None where it has none.

    Parameters
    ----------
    path, manifest
        The trial.
    variants, benchmarks
        Of which something is shown; those of others are left alone.
    confidence : float
        Of each interval.
    """
    place = profiles_of(path)
    try:
        inside = sorted(one for one in place.iterdir() if not one.name.startswith("."))
    except FileNotFoundError:
        return None
    except OSError as error:
        return Beside(recorded=(), faults=(f"{place.name} cannot be read: {error.strerror}",))
    folders = [one for one in inside if one.is_dir()]
    known = [one for one in folders if one.name in manifest.variants]
    known.sort(key=lambda one: manifest.variants.index(one.name))
    recorded: list[Recorded] = []
    faults = [
        f"{place.name}/{one.name} is not shown: the trial has no variant of this name"
        for one in folders
        if one not in known
    ]
    if not folders:
        faults.append(f"{place.name} holds no finished profile")
    for folder in known:
        if folder.name not in variants:
            continue
        where = f"{place.name}/{folder.name}"
        try:
            stored = read_profile(folder)
            fault = _foreign(stored.profile, manifest, folder.name)
            timed = None if fault is not None else read_trial(stored.timed)
        except FairtrialError as error:
            fault = error.what
        if fault is not None:
            faults.append(f"{where} is not shown: {fault}")
        elif timed is not None:
            explained = []
            for name in stored.profile.benchmarks:
                if name in benchmarks:
                    try:
                        explained.append(_explained(stored, timed, name, confidence))
                    except FairtrialError as error:
                        faults.append(f"{where} is not shown on {name}: {error.what}")
            recorded += [Recorded(stored=stored, explained=tuple(explained))] if explained else []
    return Beside(recorded=tuple(recorded), faults=tuple(faults)) if recorded or faults else None


def _explained(stored: StoredProfile, timed: Trial, name: str, confidence: float) -> Explained:
    told = explain_by(stored, timed, benchmark=name, confidence=confidence)
    called = told.rows and stored.profile.chains is not None
    return Explained(answer=told, stacks=stacks_of(stored, told, timed) if called else None)


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


# --- Functions as rows with intervals: the table's texts, and a picture of each row on one
# axis of milliseconds.


_MIDDLE = 12.0  # y of a line in its cell
_BEYOND = 3.0  # times the largest difference that an interval may reach beyond it
_NARROWEST = 150.0  # CSS pixels of a row's picture, as in the style sheet
_MOST = 20  # rows of functions; all that are named stand first


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionRow:
    """A row of the table as it is written: milliseconds a run.

    `kind` is ``function``, or what else the row is: ``total``, ``others``, ``off-cpu``, ``not-seen``. `named` says
    whether it is told as a part of the difference; `style` is its colour's role, which of functions only those that are named have.
    """

    name: str
    kind: str
    baseline: Value
    candidate: Value
    difference: Value
    low: Value
    high: Value
    pvalue: Value
    named: bool
    presence: str
    style: Style


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What all rows share: its scale in milliseconds, and its ticks."""

    scale: Scale
    ticks: tuple[tuple[float, str], ...]


def rows_of(told: Why) -> tuple[FunctionRow, ...]:
    """Give the total, the functions by evidence, what is left of them, and the time off the CPU."""
    write = Milliseconds.of(told)
    found = [_row(told.total, "total", "on the CPU, in all", write, coloured=resolved(told))]
    for one in told.rows[:_MOST]:
        found.append(_row(one, "function", one.name, write, coloured=one.named))
    for row, kind, name in _rest(told):
        found.append(_row(row, kind, name, write, coloured=row.named))
    return tuple(found)


def left_out(told: Why) -> int:
    """Count the functions that have rows of their own and are not in the table."""
    return max(0, len(told.rows) - _MOST)


def _rest(told: Why) -> Iterator[tuple[Row, str, str]]:
    if told.others is not None:
        name = f"{counted(told.further, 'further function')}, together"
        yield told.others, "others", name
    if told.kernel_not_seen is not None:
        yield told.kernel_not_seen, "not-seen", "in the kernel, not seen"
    if told.asleep is None or told.cpu_wait is None:
        yield told.off_cpu, "off-cpu", "off the CPU: wall less CPU"
    else:
        yield told.asleep, "off-cpu", "asleep, or at input and output"
        yield told.cpu_wait, "off-cpu", "ready, without a CPU"


@dataclass(frozen=True, slots=True)
class Milliseconds:
    """Writes a table's milliseconds with so many decimals that 1 % of the whole has two digits."""

    decimals: int

    @classmethod
    def of(cls, told: Why) -> Milliseconds:
        """Give the writer for the tables of an answer."""
        whole = max(told.total.baseline_ms, told.total.candidate_ms)
        return cls(min(6, max(0, 3 - math.floor(math.log10(whole)))) if whole > 0 else 2)

    def value(self, ms: float | None, *, signs: bool = False) -> Value:
        """Write a time, or with `signs` a difference; "" where nobody knows it."""
        if ms is None:
            return Value("", None)
        text = f"{ms:.{self.decimals}f}"
        if float(text) == 0:
            text = text.removeprefix("-")
        elif signs and ms > 0:
            text = f"+{text}"
        return Value(text, ms)


def _row(row: Row, kind: str, name: str, write: Milliseconds, *, coloured: bool) -> FunctionRow:
    style: Style = "neither"
    if coloured:
        style = "slower" if row.difference_ms > 0 else "faster"
    return FunctionRow(
        name=name,
        kind=kind,
        baseline=write.value(row.baseline_ms),
        candidate=write.value(row.candidate_ms),
        difference=write.value(row.difference_ms, signs=True),
        low=write.value(row.low_ms, signs=True),
        high=write.value(row.high_ms, signs=True),
        pvalue=Value(
            "" if row.pvalue_adjusted is None else bare_pvalue(row.pvalue_adjusted),
            row.pvalue_adjusted,
        ),
        named=row.named,
        presence=row.presence,
        style=style,
    )


def axis_of(rows: Sequence[FunctionRow]) -> Axis:
    """Give the axis that holds all differences and 0; an interval much wider leaves it."""
    middles = [one.difference.value or 0.0 for one in rows]
    far = max(map(abs, middles), default=0.0) or 0.001
    ends = [
        min(max(end.value, -_BEYOND * far), _BEYOND * far)
        for one in rows
        for end in (one.low, one.high)
        if end.value is not None
    ]
    low, high = min([0.0, *middles, *ends]), max([0.0, *middles, *ends])
    room = 0.06 * (high - low)
    scale = Scale(low - room, high + room)
    found = quantity_ticks(Scale(scale.low / 1000, scale.high / 1000), "s", 5)
    ticks = [(1000 * one.value, one.text.replace("-", "\N{MINUS SIGN}")) for one in found]
    kept = kept_in_row(
        [scale.at(value) for value, _ in ticks],
        [text for _, text in ticks],
        _NARROWEST,
        importance=[1.0 if value == 0 else 0.0 for value, _ in ticks],
    )
    return Axis(
        scale=scale, ticks=tuple(tick for tick, stays in zip(ticks, kept, strict=True) if stays)
    )


def row_picture(axis: Axis, row: FunctionRow, ground: str, *, first: bool) -> Markup:
    """Draw a row; the first holds the background of all, whose id is `ground`."""
    back = shared(ground, _ground(axis)) if first else again(ground)
    words = f"{shown(row.name)}: {row.difference.text} ms"
    if row.low.text:
        words += f", {row.low.text} to {row.high.text}"
    return cell([back, *_marks(axis, row)], words)


def axis_picture(axis: Axis) -> Markup:
    """Draw the axis below the rows."""
    return ticks_below(axis.scale, axis.ticks)


def _ground(axis: Axis) -> Iterator[Mark]:
    for value, _ in axis.ticks:
        if value:
            yield upright(axis.scale.at(value), "grid")
    yield upright(axis.scale.at(0.0), "one")


def _marks(axis: Axis, row: FunctionRow) -> Iterable[Mark]:
    scale, css = axis.scale, row.style
    if row.low.value is not None and row.high.value is not None:
        low, high = scale.at(row.low.value), scale.at(row.high.value)
        yield line(max(0.0, low), _MIDDLE, min(1.0, high), _MIDDLE, f"interval {css}")
        if low < 0:
            yield arrow(0.0, _MIDDLE, "left", f"why-beyond interval {css}", r=5)
        if high > 1:
            yield arrow(1.0, _MIDDLE, "right", f"why-beyond interval {css}", r=5)
    hollow = "" if row.style != "neither" else " hollow"
    yield dot(scale.clipped(row.difference.value or 0.0), _MIDDLE, f"{css}{hollow}", r=4.0)


EACH_METRIC = False  # it explains the time on the CPU, whatever is judged
_CALLS = 10  # stacks in their table
_NAME = 24  # letters of a variant's or benchmark's name
_UNFOLDED = 2  # comparisons whose rows stand open; more are a line each
_LONG = 240  # letters of a sentence
_NOTHING = 5e-7  # shares that no decimal shows
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
_CANNOT = (
    "A row says where the time is, not what was changed: a stall may be charged to the caller, and rows of opposite "
    "signs in one path of calls belong together."
)

Values = Mapping[str, Any]


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None where no profile lies beside the trial."""
    trial = subject.trial
    if trial is None or not os.path.lexists(profiles_of(trial.path)) or is_fleet(trial.path):
        return None

    shown_ones = frozenset(one.variant for one in subject.candidates)
    confidence = subject.verdict.confidence
    found = beside(trial.path, trial.manifest, shown_ones, subject.order, confidence)
    if found is None:
        return None
    values: dict[str, Any] = {
        "summary": _summary(found),
        "faults": [shown(one) for one in found.faults],
        "profiles": [_values(one) for one in found.recorded],
    }
    return Chapter(
        name="why",
        folder="why/functions",
        anchor=subject.anchor("why"),
        title="Why it differs",
        values=values,
        sections=lambda: tuple(_sections(values)),
        drawn=lambda: {
            "drawings": _drawings(found, values, subject.anchor("why")),
            "reading": _READING,
            "cannot": _CANNOT,
            "more_of": _more,
            "many": sum(len(one.explained) for one in found.recorded) > _UNFOLDED,
            "names": shortened(_names_of(subject), _NAME),
            "brief": abridging(_names_of(subject), _NAME),
        },
    )


def _names_of(subject: Subject) -> list[str]:
    """Give the names that are shortened: variants and benchmarks."""
    return [subject.baseline, *(one.variant for one in subject.candidates), *subject.order]


def _summary(found: Beside) -> str:
    answers = [one.answer for each in found.recorded for one in each.explained]
    if not answers:
        return "nothing of what lies beside the trial can be shown"
    if len(answers) == 1:
        return _sentence(answers[0])
    named = sum(len(one.named) for one in answers)
    what = counted(named, "function") if named else "no function"
    return f"{what} named in {len(answers)} comparisons"


def _values(one: Recorded) -> Values:
    profile = one.stored.profile
    return {
        "variant": profile.variant,
        "baseline": profile.baseline,
        "recorded": profile.started,
        "deck": list(_deck(profile)),
        "answers": [_answer(each) for each in one.explained],
    }


def _deck(profile: Profile) -> Iterator[str]:
    """Say when and how it was recorded, and what it is no part of."""
    when = profile.started[:16].replace("T", " ")
    how = [f"{profile.event} at {profile.frequency_hz} Hz"]
    how.append("with the kernel's side" if profile.sees_kernel else "without the kernel's side")
    how.append(_CALLERS.get(profile.chains, f"callers by {profile.chains}"))
    yield (
        f"Recorded {when} UTC: {counted(profile.sessions, 'session')} of {counted(profile.timed_runs, 'timed run')} and "
        f"{counted(profile.profiled_runs, 'profiled run')} of each variant ({', '.join(how)})."
    )
    yield "None of these runs is in the verdict, and nothing else on this page rests on them."


def _answer(one: Explained) -> Values:
    told = one.answer
    return {
        "told": told,
        "sentence": _sentence(told),
        "was": _was(told),
        "rows": list(rows_of(told)),
        "more": left_out(told),
        "counters": [_counter(each) for each in told.counters],
        "calls": [] if one.stacks is None else _calls(told, one.stacks),
    }


def _sentence(told: Why) -> str:
    """Give the answer in one sentence: on a page it may take two lines."""
    from ..diagnose.why_result import sentence_of

    return shown(sentence_of(told, _LONG))


def _was(told: Why) -> str:
    """Say what the verdict was when the profile was asked for; "" where nobody knows."""
    was = told.verdict_was
    if was is None:
        return ""
    change = (
        ""
        if was.speedup is None
        else f", {was.metric} {Difference(was.speedup and 1 / was.speedup, None, None).cell()}"
    )
    return f"the verdict was {was.outcome}{change}"


def _counter(one: Counter) -> Values:
    found = Difference(one.ratio, one.low, one.high, one.metric, one.unit, one.better)
    nothing = max(abs(one.low - 1), abs(one.high - 1)) < _NOTHING
    word = outcome_word(one.word, timed=found.timed)
    return {
        "metric": one.metric,
        "change": "0 %" if nothing else found.cell(),
        "interval": "0 %" if nothing else found.cell_interval(),
        "pvalue": Value(bare_pvalue(one.pvalue_adjusted), one.pvalue_adjusted),
        "word": word,
        "style": style_of(word),
    }


def _calls(told: Why, stacks: Stacks) -> list[Values]:
    """Give the stacks that differ most themselves."""
    write = Milliseconds.of(told).value
    stands = sorted(
        (candidate - baseline, path) for path, (baseline, candidate) in stacks.items() if path
    )
    return [
        {
            "function": path[-1],
            "callers": list(path[:-1]),
            "own_baseline": write(stacks[path][0]),
            "own_candidate": write(stacks[path][1]),
            "own_difference": write(difference, signs=True),
        }
        for difference, path in sorted(stands, key=lambda one: -abs(one[0]))[:_CALLS]
    ]


# --- as sentences and tables


def _sections(values: Values) -> Iterator[Section]:
    numbers = count(1)
    if values["faults"]:
        yield Section(tuple(map(Sentence, values["faults"])))
    for one in values["profiles"]:
        blocks: list[Block] = [Sentence(text) for text in one["deck"]]
        for answer in one["answers"]:
            blocks += _answered(answer, _name(answer["told"], next(numbers)))
        title = f"{shown(one['variant'])} against {shown(one['baseline'])}"
        yield Section((*blocks, Sentence(_CANNOT)), title)


def _name(told: Why, number: int) -> str:
    """Give the name of an answer's tables, by which a file of tables tells them apart."""
    readable = re.sub(r"[^a-z0-9]+", "-", f"{told.variant}-{told.benchmark}".casefold()).strip("-")
    return f"why-{number}-{readable[:40]}".rstrip("-")


def _answered(answer: Values, name: str) -> Iterator[Block]:
    told: Why = answer["told"]
    yield Sentence(answer["sentence"])
    if answer["was"]:
        yield Sentence(f"When it was recorded, {answer['was']}.")
    yield _functions(answer["rows"], told, name)
    if answer["more"]:
        yield Sentence(_more(answer["more"]))
    if told.story:
        yield Sentence(f"Other metrics of the timed runs: {told.story}")
    if answer["counters"]:
        yield table_of(
            f"{name}-metrics",
            "<metric; change; 95 % interval; p, Holm; <word".replace(
                "95", f"{100 * told.confidence:.4g}"
            ),
            (
                (c["metric"], c["change"], c["interval"], c["pvalue"], c["word"])
                for c in answer["counters"]
            ),
        )
    if answer["calls"]:
        yield _calls_table(answer["calls"], told, f"{name}-calls")
    yield from (Sentence(shown(caution.text)) for caution in told.cautions)


def _functions(rows: Sequence[FunctionRow], told: Why, name: str) -> Table:
    level = f"{100 * told.confidence:.4g} %"
    heads = f"<function; {told.baseline}, ms; {told.variant}, ms; difference, ms; {level} from; to; p, Holm; <named"
    columns = heads.replace(told.baseline, shown(told.baseline)).replace(
        told.variant, shown(told.variant)
    )
    cells = (
        (
            shown(r.name),
            r.baseline,
            r.candidate,
            r.difference,
            r.low,
            r.high,
            r.pvalue,
            "*" if r.named else "",
        )
        for r in rows
    )
    return table_of(name, columns, cells)


def _calls_table(calls: Sequence[Values], told: Why, name: str) -> Table:
    """Give the table of what differs most, by path of calls."""
    heads = f"<function; <called by; itself in {shown(told.baseline)}, ms; in {shown(told.variant)}, ms; difference, ms"
    return table_of(
        name,
        heads,
        (
            (
                shown(one["function"]),
                shown(_path(one["callers"])),
                one["own_baseline"],
                one["own_candidate"],
                one["own_difference"],
            )
            for one in calls
        ),
    )


def _path(callers: Sequence[str]) -> str:
    """Name the nearest callers, the nearest first."""
    return " < ".join([*reversed(callers)][:_NEAREST]) + (" < …" if len(callers) > _NEAREST else "")


def _more(more: int) -> str:
    return f"{counted(more, 'more function')}: fairtrial why --stored lists all."


# --- for the page


def _drawings(found: Beside, values: Values, anchor: str) -> list[list[Values]]:
    """Give for each answer the pictures of its rows, their axis, and the table of calls."""
    number = count(1)
    return [
        [
            _drawn(each, answer, f"{anchor}-ground-{next(number)}")
            for each, answer in zip(one.explained, of["answers"], strict=True)
        ]
        for one, of in zip(found.recorded, values["profiles"], strict=True)
    ]


def _drawn(one: Explained, answer: Values, ground: str) -> Values:
    rows: Sequence[FunctionRow] = answer["rows"]
    axis = axis_of(rows)
    return {
        "rows": [row_picture(axis, row, ground, first=not k) for k, row in enumerate(rows)],
        "axis": axis_picture(axis),
        "calls": _calls_table(answer["calls"], one.answer, ground) if answer["calls"] else None,
    }
