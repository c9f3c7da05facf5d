"""The picture of all runs against time: relative changes upwards, sessions beside each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.host_record import read_host_record
from ..diagnose.examine import diagnose_trial
from ..errors import AnalysisError, UsageError
from ..pages import number_format as figures
from ..pages.model import Block, Section, Sentence, Table, Value, columns_of, value_of
from ..plots.axes import Scale, read_out
from ..plots.labels import InRow, RowLabel, in_rows, text_width
from ..plots.marks import Mark, band, cross, dots, label, line, stroke
from ..plots.svg import plot
from ..words import shortened, shown
from .conditions import brief_outcome
from .page import Chapter
from .subject import hosts_of, level_of
from .timeline_runs import (
    Runs,
    Timeline,
    alt_of,
    change,
    change_scale,
    clock_of,
    deck_of,
    findings_of,
    notes_of,
    runs_of,
    title_of,
)

if TYPE_CHECKING:
    from markupsafe import Markup

    from ..data.trial import Trial
    from ..diagnose.result import Diagnosis
    from .subject import Subject
    from .timeline_runs import Floats

__all__ = ["change_marks", "chapter", "drawn_of", "panel_places", "picture", "time_marks"]

HEIGHT = 190.0  # CSS pixels of a panel
_MOST_DOTS = 6000  # above, they are thinned
_COLUMNS = 1000  # of a thinned picture
_NUMBERS, _LANE, _BAR = 15.0, 20.0, 3.0
_TIMES, _WORDS, _CROSS = 18.0, 18.0, 4.0
_DOWN = 27.0  # from the panels to the crosses
_ROWS = 2  # of crosses' words
_LANES = 3  # findings that are drawn
_LINES = 12  # failed runs above which no lines are drawn through the panels
_LETTER, _HOST = 7.0, 8  # pixels of a letter of a name, and letters that it is not cut below
_NAME = 14  # characters of a name beside a cross
_LEGIBLE = 15.0  # CSS pixels between two lines of text
_APART = 26.0  # and between two ticks
_UP = (1.01, 1.02, 1.05, 1.1, 1.25, 1.6, 2.5, 4.0, 10.0, 100.0, 1000.0)
_DOWNWARDS = (0.99, 0.98, 0.95, 0.9, 0.8, 0.6, 0.4, 0.25, 0.1, 0.01, 0.001)
_CLOCK = {"s": {15.0, 30.0}, "min": {15.0, 30.0}, "h": {3.0, 6.0, 12.0}}  # round on a clock
_UNITS = ((86400.0, "d", 2), (3600.0, "h", 2), (60.0, "min", 3), (1.0, "s", 0), (1e-3, "ms", 0))
_MOST = 5  # ticks of time
_NARROWEST = 0.25  # of the width that an equal share would give

Tick = tuple[float, str]  # its place as a share of the axis, and its text
Places = Sequence[tuple[float, float]]  # the left edge and the width of each panel, as shares


class _Width(NamedTuple):
    """A set of labels, of which the style sheet shows one: for the least width, in CSS pixels."""

    css: str
    width: float
    left: float  # free room beside the picture
    right: float


_SETS = (_Width("happened-wide", 515.0, 52.0, 74.0), _Width("happened-narrow", 200.0, 46.0, 66.0))


def picture(told: Timeline) -> Markup:
    """Draw the runs of a trial."""
    findings, lengths = told.findings[:_LANES], told.runs.clock.lengths
    places = panel_places(lengths)
    top = _NUMBERS + len(findings) * _LANE + (4.0 if findings else 2.0)
    bottom = top + HEIGHT
    ticks = [(top + (1 - at) * HEIGHT, text) for at, text in change_marks(told.scale, HEIGHT)]
    failed, below = _failed(told, places, top, bottom)
    marks: list[Mark] = [band(left, left + width, top, bottom, "panel") for left, width in places]
    marks += [line(0, y, 1, y, "one" if text == "median" else "grid") for y, text in ticks]
    marks += _dots(told, places, top)
    marks += _heads(told, places)
    for k, one in enumerate(findings):
        bars = [(*places[j], figure) for j, figure in one.sessions.items()]
        marks += _lane(one.words, bars, _NUMBERS + (k + 1) * _LANE - _BAR)
    marks += [label(0, y + 4, text, "", anchor="end", dx=-6) for y, text in ticks]
    marks += _levels(told, top)
    # the last one bears the unit, and matters most
    times = [RowLabel(at, text) for at, text in reversed(time_marks(lengths, places))]
    marks += _in_rows(lambda _: times, bottom + 14)
    return plot(bottom + below, [*marks, *failed], alt_of(told), css="happened-plot")


def drawn_of(told: Timeline) -> int | None:
    """Count the runs that are drawn where they are too many for all; None where all are."""
    many = told.runs.rows.size > _MOST_DOTS
    return sum(y.size for *_, y in _clouds(told)) if many else None


def _clouds(told: Timeline) -> list[tuple[str, int, Floats, Floats]]:
    """Give the runs that are drawn: role, panel, and their places in it; above so many not all.

    Of those that fall on one place in time the lowest, the middle one and the highest stay.
    """
    runs, y, opened = told.runs, told.heights, told.opened
    clock, names = runs.clock, runs.trial.manifest.benchmarks
    panel, x = clock.place[runs.rows], clock.shares[runs.rows]
    ink = runs.trial.benchmark[runs.rows] == (names.index(opened) if opened in names else -1)
    found = []
    for k, (_, width) in enumerate(panel_places(clock.lengths)):
        inside = (panel == k) & (y >= 0) & (y <= 1)
        for chosen, css in ((inside & ~ink, "happened-run"), (inside & ink, "happened-opened")):
            rows = np.flatnonzero(chosen)
            if runs.rows.size > _MOST_DOTS and rows.size:
                rows = _ends_and_middle(rows, x, y, max(1, round(_COLUMNS * width)))
            found.append((css, k, x[rows], y[rows]))
    return found


def _ends_and_middle(
    rows: NDArray[np.int64], x: Floats, y: Floats, columns: int
) -> NDArray[np.int64]:
    column = np.minimum((x[rows] * columns).astype(np.int64), columns - 1)
    order = np.lexsort((y[rows], column))
    first = np.flatnonzero(np.diff(column[order], prepend=-1))
    last = np.append(first[1:], order.size) - 1
    return np.sort(rows[order[np.unique(np.concatenate((first, (first + last) // 2, last)))]])


# --- axes


def change_marks(scale: Scale, height: float) -> list[Tick]:
    """Give the ticks that have room on `height` CSS pixels: the median, then the farthest first."""
    found = [(scale.at(1.0), change(1.0))]
    for ratio in (*reversed(_UP), *reversed(_DOWNWARDS)):
        at = scale.at(ratio)
        if 0.03 <= at <= 0.97 and all(abs(at - other) * height >= _APART for other, _ in found):
            found.append((at, change(ratio)))
    return sorted(found)


def panel_places(lengths: Floats) -> Places:
    """Give the left edge and the width of each session's panel, as shares of the picture.

    Widths go by duration, but none is narrower than a quarter of an equal share.
    """
    count = lengths.size
    gap = 0.0 if count < 2 else min(0.006, 0.12 / count)
    room = 1 - gap * (count - 1)
    least = _NARROWEST * room / count
    width = lengths / lengths.sum() * room
    fixed = np.zeros(count, dtype=np.bool_)
    while ((width < least) & ~fixed).any():
        fixed |= width < least
        free = room - least * fixed.sum()
        width = np.where(fixed, least, lengths / lengths[~fixed].sum() * free)
    left = np.concatenate(([0.0], np.cumsum(width + gap)[:-1]))
    return list(zip(left.tolist(), width.tolist(), strict=True))


def time_marks(lengths: Floats, places: Places) -> list[Tick]:
    """Give ticks of the measuring time; the unit stands at the last one."""
    total = float(lengths.sum())
    factor, unit = next(
        ((f, name) for f, name, least in _UNITS if total >= max(least, 1) * f), _UNITS[-1][:2]
    )
    begins = np.concatenate(([0.0], np.cumsum(lengths)))
    step = _step(total / factor, unit) * factor
    found = []
    for k in range(math.floor(total / step * (1 + 1e-9)) + 1):
        at = k * step
        panel = min(int(np.searchsorted(begins, at, side="right")) - 1, len(places) - 1)
        left, width = places[panel]
        share = (at - float(begins[panel])) / float(lengths[panel])
        found.append((left + width * min(1.0, share), f"{at / factor:g}"))
    place, text = found[-1]
    return [*found[:-1], (place, f"{text}\u00a0{unit}")]


def _step(total: float, unit: str) -> float:
    """Give the smallest round step of which at most four fit."""
    steps = {digit * 10.0**power for power in range(-3, 7) for digit in (1, 2, 5)}
    steps |= _CLOCK.get(unit, set())
    return min((step for step in steps if total / step < _MOST), default=total)


# --- marks


def _dots(told: Timeline, places: Places, top: float) -> Iterator[Mark]:
    clock, rows, y = told.runs.clock, told.runs.rows, told.heights
    panel, axis, clouds = clock.place[rows], read_out(told.scale, "×"), _clouds(told)
    x = clock.shares[rows].round(3)
    for k, (left, width) in enumerate(places):
        area = {"top": top, "height": HEIGHT, "left": left, "width": width}
        for css, where, across, up in clouds:
            if where == k and across.size:
                points = list(zip(across.round(4).tolist(), up.round(4).tolist(), strict=True))
                yield dots(points, css, axis=axis, **area)
        mine = panel == k
        for out, edge, end in ((y > 1, top, -5.0), (y < 0, top + HEIGHT, 5.0)):
            for share in np.unique(x[mine & out]).tolist():  # several runs may share one
                yield stroke(left + share * width, edge, edge + end, "happened-beyond")


def _heads(told: Timeline, places: Places) -> Iterator[Mark]:
    """Give the sessions' numbers, or the hosts' names; the word stands once, at the left."""
    yield label(0, 11, told.noun, "", anchor="end", dx=-6)
    names = told.names

    def labels(one: _Width) -> list[RowLabel]:
        cut = shortened(names, max(_HOST, int(one.width / len(places) / _LETTER) - 1))
        found = [RowLabel(left, cut[name]) for (left, _), name in zip(places, names, strict=True)]
        if not told.hosts:
            return found
        # before its place a name would be another host's
        return [each for each in found if each.at * one.width + text_width(each.text) <= one.width]

    yield from _in_rows(labels, 11, right=True)


def _lane(words: str, bars: Sequence[tuple[float, float, str]], y: float) -> Iterator[Mark]:
    """Give a finding: a bar above each of its sessions, its words once, the sessions' figures."""
    for left, width, _ in bars:
        yield band(left, left + width, y, y + _BAR, "ink")
    (first, _, figure), *others = bars
    labels = [RowLabel(first, f"{words} {figure}".rstrip(), bold=True)]
    labels += [RowLabel(left, text, bold=True) for left, _, text in others if text]
    yield from _in_rows(lambda _: labels, y - 4, " happened-strong", left=True, right=True)


def _levels(told: Timeline, top: float) -> Iterator[Mark]:
    if told.levels is None:
        return
    ratios = (told.levels.lower, told.levels.lower * told.levels.ratio)
    low, high = (top + (1 - told.scale.clipped(ratio)) * HEIGHT for ratio in ratios)
    if low - high < _LEGIBLE:
        low, high = ((low + high + apart) / 2 for apart in (_LEGIBLE, -_LEGIBLE))
    for text, y in zip(told.states, (low, high), strict=True):
        yield label(1, y + 4, text, "happened-strong", anchor="start", dx=5)


def _failed(told: Timeline, places: Places, top: float, bottom: float) -> tuple[list[Mark], float]:
    """Give a cross for each failed run, words beside those that have room, and the height of all."""
    trial, clock, failed = told.runs.trial, told.runs.clock, told.failed
    if not failed:
        return [], _TIMES
    row_of = {position: row for row, position in enumerate(trial.position.tolist())}
    names = shortened([*trial.manifest.benchmarks, *trial.manifest.variants], _NAME)
    rows = [row_of[one.position] for one in failed]
    at = []
    for panel, share in zip(clock.place[rows].tolist(), clock.shares[rows].tolist(), strict=True):
        left, width = places[panel]
        at.append(left + width * min(1.0, share))
    y = bottom + _DOWN
    marks: list[Mark] = []
    for x in at:
        if len(at) <= _LINES:
            marks.append(line(x, top, x, bottom, "happened-line"))
        marks.append(line(x, bottom + _TIMES, x, y - 6, "happened-line"))
        marks.append(cross(x, y, "happened-cross", r=_CROSS))
    deepest = 0
    for css, size, left, right in _SETS:
        labels = []
        for x, one in zip(at, failed, strict=True):
            cell = f"{names[one.benchmark]} / {names[one.variant]} " if css.endswith("wide") else ""
            labels.append(RowLabel(x, f"{cell}{brief_outcome(one)}", dx=8.0, bold=True))
        for word in in_rows(labels, size, rows=_ROWS, left=left, right=right):
            if not word.row and not _clear(word, at, size):
                continue
            end = y + word.row * _WORDS
            deepest = max(deepest, word.row)
            marks.append(_text(word, end + 4, f"{css} happened-strong"))
            if word.row:
                marks.append(line(word.label.at, y, word.label.at, end, f"happened-line {css}"))
    return marks, _DOWN + 8.0 + deepest * _WORDS


def _clear(word: InRow, at: Sequence[float], width: float) -> bool:
    """Whether no other cross stands where the word does."""
    size = text_width(word.label.text, bold=True)
    x = word.label.at * width
    begin, end = (x + 6, x + 10 + size) if word.anchor == "start" else (x - 10 - size, x - 6)
    return not any(begin <= one * width <= end for one in at)


def _in_rows(
    labels: Callable[[_Width], Sequence[RowLabel]],
    y: float,
    css: str = "",
    *,
    left: bool = False,
    right: bool = False,
) -> Iterator[Mark]:
    """Give the labels of one row that have room, for each width; `left`, `right`: also beside it."""
    for one in _SETS:
        free_left, free_right = one.left * left, one.right * right
        for each in in_rows(labels(one), one.width, left=free_left, right=free_right):
            yield _text(each, y, f"{one.css}{css}")


def _text(one: InRow, y: float, css: str) -> Mark:
    dx = -one.label.dx if one.anchor == "end" else one.label.dx
    return label(one.label.at, y, one.label.text, css, anchor=one.anchor, dx=dx)


# --- The trial as it happened: all runs against time, and what was found of the host.


_MOST_FINDINGS = 25  # findings in the table
_HOSTS = 12  # that are named
_PLAIN = ("lower level", "higher level")

Values = Mapping[str, Any]


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None where nothing tells when runs were executed."""
    looked = [one for trial in subject.trials if (one := _looked(subject, trial)) is not None]
    if not looked:
        return None
    verdict, level = subject.verdict, level_of(subject.verdict)
    opened, states = _opened(subject), _states(subject)
    scale = change_scale(np.concatenate([runs.logs for runs, _ in looked]))
    timelines = [
        Timeline(
            runs=runs,
            diagnosis=diagnosis,
            label="AB"[subject.trials.index(runs.trial)] if len(subject.trials) > 1 else "",
            scale=scale,
            opened=opened,
            states=states,
            hosts={} if level is None else hosts_of(verdict),
            findings=findings_of(runs, diagnosis, read_host_record(runs.trial.path)),
        )
        for runs, diagnosis in looked
    ]
    deck = list(deck_of(timelines, verdict.sessions))
    title = title_of(timelines, timed=states != _PLAIN)
    if level is not None:
        title = "The runs, host by host"
        deck.append(
            "Each panel is a host, with all its sessions: "
            f"{shown(figures.listed(level.hosts, _HOSTS))}, in this order. What each host by itself "
            f"looks like: fairtrial diagnose {shown(str(verdict.path))}."
        )
    found = [row for one in timelines for row in _found(one)]
    more = max(0, len(found) - _MOST_FINDINGS)
    values: dict[str, Any] = {
        "deck": deck,
        "higher": states[1],
        "timelines": [_values(one) for one in timelines],
        "found": found[:_MOST_FINDINGS],
        "more_found": more,
        "failed": sum(not one.warmup for trial in subject.trials for one in trial.failed),
        # failed runs are the trial's, and are listed once: with the first metric
        "failed_anchor": subject.anchor("failed").removeprefix(subject.prefix),
    }
    noun = timelines[0].noun
    said = f"{more:,} more finding{'s' * (more > 1)}: fairtrial diagnose lists all." if more else ""
    return Chapter(
        name="happened",
        folder="timeline",
        anchor=subject.anchor("happened"),
        title=title,
        values=values,
        sections=lambda: (Section(tuple(_blocks(values, noun, said)), title=title),),
        drawn=lambda: {
            "noun": noun,
            "drawings": [(picture(one), one.levels, one.failed) for one in timelines],
            "tables": list(_tables(values, noun)),
            "more": said,
        },
    )


def _looked(subject: Subject, trial: Trial) -> tuple[Runs, Diagnosis | None] | None:
    """Give the runs of a trial with its diagnosis, if there is anything to draw."""
    verdict, clock = subject.verdict, clock_of(trial)
    if clock is None:
        return None
    of_hosts = level_of(verdict) is not None  # several hosts are no host that changed
    judged = verdict.diagnosis if len(subject.trials) == 1 and not of_hosts else None
    variants = trial.manifest.variants if judged is None else judged.variants
    runs = None
    with suppress(UsageError):  # this trial has no such metric
        runs = runs_of(trial, clock, verdict.metric, variants)
    if runs is not None and judged is None and not of_hosts:
        with suppress(AnalysisError):  # else nothing of it can be tested
            judged = diagnose_trial(trial, metric=verdict.metric)
    return None if runs is None else (runs, judged)


def _opened(subject: Subject) -> str | None:
    """Give the first benchmark that a caution names, whose part stands open; else the first."""
    named = (name for caution in subject.verdict.cautions for name in caution.about)
    return next((name for name in (*named, *subject.order) if name in subject.order), None)


def _states(subject: Subject) -> tuple[str, str]:
    """Say what the lower and the higher level of a host are called."""
    if not figures.timed(subject.verdict.unit):
        return _PLAIN
    slow, fast = "slow state", "fast state"
    return (slow, fast) if subject.verdict.better == "higher" else (fast, slow)


def _values(told: Timeline) -> Values:
    """Give what is said of a trial."""
    sessions = list(_sessions(told))
    beyond = sum(one["beyond_scale"] for one in sessions)
    return {
        "label": told.label,
        "trial": shown(told.runs.trial.manifest.trial),
        "alt": alt_of(told),
        "notes": list(notes_of(told, drawn=drawn_of(told), beyond=beyond)),
        "sessions": sessions,
        "findings": [{"text": one.words, "sessions": len(one.sessions)} for one in told.findings],
    }


def _sessions(told: Timeline) -> Iterator[Values]:
    """Give each session, or host: how long it took, and where its runs lie."""
    runs, y = told.runs, told.heights
    clock = runs.clock
    shares = {} if told.levels is None else {one.session: one.share for one in told.levels.sessions}
    for k, (session, name) in enumerate(zip(clock.sessions.tolist(), told.names, strict=True)):
        mine = clock.place[runs.rows] == k
        count, seconds = int(mine.sum()), float(clock.lengths[k])
        level = math.exp(float(np.median(runs.logs[mine]))) if count else None
        yield {
            "session": name,
            "seconds": Value(figures.significant(seconds), seconds),
            "runs": Value(f"{count:,}", count),
            "level": value_of(level, "{:.3f}".format, ""),
            "higher": value_of(shares.get(session), lambda share: f"{100 * share:.0f}\u00a0%", ""),
            "beyond_scale": int((mine & ((y < 0) | (y > 1))).sum()),
        }


def _found(told: Timeline) -> Iterator[Values]:
    """Give what the diagnosis found."""
    for one in () if told.diagnosis is None else told.diagnosis.findings:
        names = [shown(name) for name in (one.benchmark, one.variant) if name is not None]
        yield {
            "trial": told.label,
            "cell": " / ".join(names) or "all",
            "text": shown(one.text).replace(" %", "\u00a0%"),
            "pvalue": value_of(one.pvalue_adjusted, figures.bare_pvalue, ""),
        }


# --- as sentences and tables


def _blocks(values: Values, noun: str, more: str) -> Iterator[Block]:
    notes = " ".join(note for one in values["timelines"] for note in one["notes"])
    yield from (Sentence(text) for text in (*values["deck"], notes) if text)
    yield from _tables(values, noun)
    if more:
        yield Sentence(more)


def _tables(values: Values, noun: str) -> Iterator[Table]:
    """Give the sessions, and what the diagnosis found; of two trials each row says of which."""
    timelines = values["timelines"]
    sessions = [{"trial": one["label"], **row} for one in timelines for row in one["sessions"]]
    of_sessions = {
        "session": f"<{noun}",
        "seconds": "seconds",
        "runs": "runs",
        "level": "their median",
    }
    if any(row["higher"].text for row in sessions):
        of_sessions["higher"] = f"in the {values['higher']}"
    of_found = {"cell": "<benchmark / variant", "text": "<finding", "pvalue": "p, adjusted"}
    first = {"trial": "<trial"} if len(timelines) > 1 else {}
    for name, heads, rows in (
        ("sessions", first | of_sessions, sessions),
        ("found", first | of_found, values["found"]),
    ):
        if rows:
            cells = tuple(tuple(row[key] for key in heads) for row in rows)
            yield Table(name=f"happened-{name}", columns=columns_of(*heads.values()), rows=cells)
