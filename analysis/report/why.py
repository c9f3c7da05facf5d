"""Why it is slower: for each profile beside the trial, functions with intervals, counters, and who called whom."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from ..data.trial import read_trial
from ..diagnose.explain import explain
from ..diagnose.session_profiles import Stacks, stacks_of
from ..diagnose.why_result import Counter, Row, Why, resolved, sentence_of
from ..errors import FairtrialError, StoreError
from ..pages.difference import Difference
from ..pages.model import Block, Figure, Section, Sentence, Value, section, table_of
from ..pages.number_format import bare_pvalue, counted, outcome_word
from ..plots.axes import quantity_axis, quantity_scale, rows_down
from ..plots.chart import Sheet, arranged
from ..plots.marks import Style, style_of
from ..plots.paper import Picture
from ..record.fleet import is_fleet
from ..record.profiles import PROFILE, Profile, StoredProfile, profiles_of, read_profile
from ..record.trial_files import Manifest
from ..words import shown
from .figures import names_of, rows_high
from .page import Chapter, chapter_of
from .subject import Subject

# --- The profiles that lie beside a trial: those that are its own, and what is wrong with the others.


class Explained(NamedTuple):
    """What a profile says of one benchmark; `stacks` is None where it has no callers, or nothing may be named."""

    answer: Why
    stacks: Stacks | None


class Recorded(NamedTuple):
    """A profile of the trial's own, with an answer for each benchmark that is shown."""

    stored: StoredProfile
    explained: tuple[Explained, ...]


class Beside(NamedTuple):
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
        return Beside((), (f"{place.name} cannot be read: {error.strerror}",))
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
    for folder in (one for one in known if one.name in variants):
        where = f"{place.name}/{folder.name} is not shown"
        try:
            stored = read_profile(folder)
            if (fault := _foreign(stored.profile, manifest, folder.name)) is not None:
                raise StoreError(fault)
            timed = read_trial(stored.timed)
        except FairtrialError as error:
            faults.append(f"{where}: {error.what}")
            continue
        explained = []
        for name in stored.profile.benchmarks:
            if name in benchmarks:
                try:
                    found = explain(stored, timed=timed, benchmark=name, confidence=confidence)
                    called = found.rows and stored.profile.chains is not None
                    stacks = stacks_of(stored, found, timed) if called else None
                    explained.append(Explained(found, stacks))
                except FairtrialError as error:
                    faults.append(f"{where} on {name}: {error.what}")
        recorded += [Recorded(stored, tuple(explained))] if explained else []
    return Beside(tuple(recorded), tuple(faults)) if recorded or faults else None


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


# --- Functions as rows with intervals, in milliseconds a run.


_MOST = 20  # rows of functions; all that are named stand first
Write = Callable[..., Value]


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


def rows_of(why: Why) -> tuple[FunctionRow, ...]:
    """Give the total, the functions by evidence, what is left of them, and the time off the CPU."""
    write = _writer(why)
    return tuple(_row(*one, write, differs=resolved(why)) for one in _parts(why))


def _parts(why: Why) -> Iterator[tuple[Row, str, str]]:
    yield why.total, "total", "on the CPU, in all"
    yield from ((one, "function", one.name) for one in why.rows[:_MOST])
    if why.others is not None:
        yield why.others, "others", f"{counted(why.further, 'further function')}, together"
    if why.kernel_not_seen is not None:
        yield why.kernel_not_seen, "not-seen", "in the kernel, not seen"
    if why.asleep is None or why.cpu_wait is None:
        yield why.off_cpu, "off-cpu", "off the CPU: wall less CPU"
    else:
        yield why.asleep, "off-cpu", "asleep, or at input and output"
        yield why.cpu_wait, "off-cpu", "ready, without a CPU"


def _writer(why: Why) -> Write:
    """Give what writes milliseconds, with so many decimals that 1 % of the whole has two digits."""
    whole = max(why.total.baseline_ms, why.total.candidate_ms)
    decimals = min(6, max(0, 3 - math.floor(math.log10(whole)))) if whole > 0 else 2

    def write(ms: float | None, signs: str = "") -> Value:
        if ms is None:
            return Value("", None)
        text = f"{ms:{signs}.{decimals}f}"
        return Value(text.lstrip("+-") if float(text) == 0 else text, ms)

    return write


def _row(row: Row, kind: str, name: str, write: Write, *, differs: bool) -> FunctionRow:
    coloured = differs if kind == "total" else row.named
    p = row.pvalue_adjusted
    return FunctionRow(
        name=name,
        kind=kind,
        baseline=write(row.baseline_ms),
        candidate=write(row.candidate_ms),
        difference=write(row.difference_ms, "+"),
        low=write(row.low_ms, "+"),
        high=write(row.high_ms, "+"),
        pvalue=Value("" if p is None else bare_pvalue(p), p),
        named=row.named,
        presence=row.presence,
        style=("slower" if row.difference_ms > 0 else "faster") if coloured else "neither",
    )


_SHEET = Sheet(width=85.0)  # mm: a telephone's page
_BEYOND = 3.0  # times the largest difference that an interval may reach beyond it


def _picture(rows: Sequence[FunctionRow]) -> Picture:
    middles = [(one.difference.value or 0.0) / 1000 for one in rows]
    ends = [
        None if low is None or high is None else (low / 1000, high / 1000)
        for low, high in ((one.low.value, one.high.value) for one in rows)
    ]
    far = _BEYOND * (max(map(abs, middles)) or 1e-6)
    near = [min(max(end, -far), far) for pair in ends if pair is not None for end in pair]
    names = names_of([one.name for one in rows], _SHEET, 0.4)
    axes = rows_down([names[one.name] for one in rows], x_label="more in a run of the candidate")
    quantity_axis(axes, "x", quantity_scale((0.0, *middles, *near), log=False), "s")
    axes.upright(0.0, "one thin")
    for k, (row, middle, pair) in enumerate(zip(rows, middles, ends, strict=True)):
        axes.interval(k, middle, pair, row.style, hollow=row.style == "neither")
    return arranged(_SHEET, [[axes]], rows_high(_SHEET, len(rows), 1.5))


# --- The chapter.


_CALLS = 10  # stacks in their table
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
    variants = frozenset(one.variant for one in subject.candidates)
    confidence = subject.verdict.confidence
    found = beside(trial.path, trial.manifest, variants, subject.order, confidence)
    if found is None:
        return None
    values: dict[str, Any] = {
        "summary": _summary(found),
        "faults": [shown(one) for one in found.faults],
        "profiles": [
            {
                "variant": one.stored.profile.variant,
                "baseline": one.stored.profile.baseline,
                "recorded": one.stored.profile.started,
                "deck": list(_deck(one.stored.profile)),
                "answers": [_answer(*each) for each in one.explained],
            }
            for one in found.recorded
        ],
    }
    blocks, lead = partial(_sections, values), values["summary"]
    return chapter_of(subject, "why", "Why it differs", blocks, lead=lead, values=values)


def _summary(found: Beside) -> str:
    answers = [one.answer for each in found.recorded for one in each.explained]
    if not answers:
        return "nothing of what lies beside the trial can be shown"
    if len(answers) == 1:
        return _sentence(answers[0])
    named = sum(len(one.named) for one in answers)
    what = counted(named, "function") if named else "no function"
    return f"{what} named in {len(answers)} comparisons"


def _deck(profile: Profile) -> Iterator[str]:
    when = profile.started[:16].replace("T", " ")
    how = (
        f"{profile.event} at {profile.frequency_hz} Hz",
        f"with{'' if profile.sees_kernel else 'out'} the kernel's side",
        _CALLERS.get(profile.chains, f"callers by {profile.chains}"),
    )
    yield (
        f"Recorded {when} UTC: {counted(profile.sessions, 'session')} of {counted(profile.timed_runs, 'timed run')} and "
        f"{counted(profile.profiled_runs, 'profiled run')} of each variant ({', '.join(how)})."
    )
    yield "None of these runs is in the verdict, and nothing else on this page rests on them."


def _answer(why: Why, stacks: Stacks | None) -> Values:
    return {
        "told": why,
        "sentence": _sentence(why),
        "was": _was(why),
        "rows": list(rows_of(why)),
        "more": max(0, len(why.rows) - _MOST),
        "counters": [_counter(each) for each in why.counters],
        "calls": [] if stacks is None else _calls(why, stacks),
    }


def _sentence(why: Why) -> str:
    return shown(sentence_of(why, _LONG))


def _was(why: Why) -> str:
    """Say what the verdict was when the profile was asked for; "" where nobody knows."""
    was = why.verdict_was
    if was is None:
        return ""
    change = ""
    if was.speedup is not None:
        less = Difference(was.speedup and 1 / was.speedup, None, None).cell()
        change = f", {was.metric} {less}"
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


def _calls(why: Why, stacks: Stacks) -> list[Values]:
    write = _writer(why)
    stands = sorted(
        (candidate - baseline, path) for path, (baseline, candidate) in stacks.items() if path
    )
    return [
        {
            "function": path[-1],
            "callers": list(path[:-1]),
            "own_baseline": write(stacks[path][0]),
            "own_candidate": write(stacks[path][1]),
            "own_difference": write(difference, "+"),
        }
        for difference, path in sorted(stands, key=lambda one: -abs(one[0]))[:_CALLS]
    ]


def _sections(values: Values) -> Iterator[Section]:
    numbers = count(1)
    if values["faults"]:
        yield section(*values["faults"])
    many = sum(len(one["answers"]) for one in values["profiles"]) > _UNFOLDED
    for one in values["profiles"]:
        answers = (
            section(
                *_answered(answer, _name(answer["told"], next(numbers))),
                title=answer["sentence"],
                folded=many,
            )
            for answer in one["answers"]
        )
        title = f"{shown(one['variant'])} against {shown(one['baseline'])}"
        yield section(*one["deck"], *answers, _CANNOT, title=title)


def _name(why: Why, number: int) -> str:
    """Give the name of an answer's tables, by which a file of tables tells them apart."""
    readable = re.sub(r"[^a-z0-9]+", "-", f"{why.variant}-{why.benchmark}".casefold()).strip("-")
    return f"why-{number}-{readable[:40]}".rstrip("-")


def _answered(answer: Values, name: str) -> Iterator[Block]:
    found: Why = answer["told"]
    base, variant = shown(found.baseline), shown(found.variant)
    level = f"{100 * found.confidence:.4g} %"
    if answer["was"]:
        yield Sentence(f"When it was recorded, {answer['was']}.")
    yield Figure(name=f"{name}-rows", alt=_READING, draw=lambda: _picture(answer["rows"]))
    yield table_of(
        name,
        answer["rows"],
        ("<function", lambda row: shown(row.name)),
        (f"{base}, ms", "baseline"),
        (f"{variant}, ms", "candidate"),
        ("difference, ms", "difference"),
        (f"{level} from", "low"),
        ("to", "high"),
        ("p, Holm", "pvalue"),
        ("<named", lambda row: f"{'*' * row.named} {row.presence.replace('both', '')}".strip()),
    )
    if answer["more"]:
        more = counted(answer["more"], "more function")
        yield Sentence(f"{more}: fairtrial why --stored lists all.")
    yield from (Sentence(shown(caution.text)) for caution in found.cautions)
    if answer["counters"]:
        heads = {"<metric": "metric", "change": "change", f"{level} interval": "interval"}
        heads |= {"p, Holm": "pvalue", "<word": "word"}
        table = table_of(
            f"{name}-metrics",
            answer["counters"],
            *((head, itemgetter(key)) for head, key in heads.items()),
        )
        story = f": {found.story}" if found.story else ""
        yield section(table, title=f"Other metrics of the same sessions{story}", folded=True)
    elif found.story:
        yield Sentence(f"Other metrics of the timed runs: {found.story}")
    if answer["calls"]:

        def called_by(one: Values) -> str:
            nearest = one["callers"][: -_NEAREST - 1 : -1]
            return shown(" < ".join([*nearest, *["…"] * (len(one["callers"]) > _NEAREST)]))

        table = table_of(
            f"{name}-calls",
            answer["calls"],
            ("<function", lambda one: shown(one["function"])),
            ("<called by", called_by),
            (f"itself in {base}, ms", itemgetter("own_baseline")),
            (f"in {variant}, ms", itemgetter("own_candidate")),
            ("difference, ms", itemgetter("own_difference")),
        )
        yield section(table, title="What differs most by path of calls", folded=True)
