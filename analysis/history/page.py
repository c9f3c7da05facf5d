"""Many nights in words: the answer, a line for each benchmark, and each change with what caused it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ..pages import number_format as figures
from ..pages.difference import Difference
from ..pages.model import (
    Block,
    Note,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    columns_of,
    page_of,
    value_of,
)
from ..words import shorten, shown
from .changes import Changes
from .judged import (
    History,
    HistoryInterval,
    HostInterval,
    SeriesHistory,
    newest_changes,
    short_commit,
)
from .sentences import (
    LABELS,
    alarm_alone,
    difference,
    label_of,
    measured,
    sentence_of,
    several_variants,
    short_names_of,
    sized,
    span_of,
)
from .step_search import Culprit, PairWord, StepSearch

PLAIN: Final = "host and program cannot be told apart: no value is paired with a baseline"
_LINES = 8  # benchmarks on the screen
_CHANGES = 4  # changes on the screen
_HOSTS = 2  # and of the baseline itself
_NOTES = 3
_COLUMNS = 5  # benchmarks whose nights are shown one by one
_RULES = {
    "holm": "{risk} risk that any does not (Holm)",
    "bh": "of the benchmarks named, {risk} may have one that does not, on average (Benjamini-Hochberg)",
    "none": "{risk} risk in each benchmark (uncorrected)",
}


@page_of.register(History)
def _history_page(history: History) -> Page:
    label = "" if history.outcome is None else f"{LABELS[history.outcome]}  "
    sections = [
        Section((Sentence(f"{label}{sentence_of(history)}"),)),
        Section(tuple(_heading(history))),
        Section((_benchmarks(history), *_hidden(history), *_values(history))),
    ]
    changes = newest_changes(history)
    if changes:
        sections.append(Section(tuple(_changes(history, changes))))
    if history.host_intervals:
        sections.append(Section(tuple(_hosts(history))))
    below: tuple[Block, ...] = (*map(Note, _notes(history)), *history.following)
    return Page(
        title="History",
        sections=tuple(sections),
        following=(Section(below),) if below else (),
    )


def _heading(history: History) -> Iterator[Sentence]:
    """Say what was read: nights, hosts, metric, baseline; and what an interval promises."""
    when = ""
    if history.first_at is not None and history.last_at is not None:
        when = f" {span_of(history.first_at, history.last_at)}"
    missing = f", {history.missing} missing" if history.missing else ""
    parts = [
        shorten(shown(measured(history)), 40),
        f"{figures.counted(history.nights, 'night')}{when}{missing}",
        figures.listed([shorten(shown(name), 24) for name in history.host], 2),
        shorten(shown(history.metric), 28),
        "" if history.baseline is None else f"baseline {shorten(shown(history.baseline), 28)}",
    ]
    yield Sentence(" · ".join(part for part in parts if part))
    if not any(one.paired for one in history.series):
        yield Sentence(PLAIN)
    if any(one.enough for one in history.newest):
        risk = f"{100 * history.risk:g} %"
        rule = (
            _RULES[history.correction]
            if len(history.series) > 1
            else "{risk} risk that any does not"
        )
        some = any(one.intervals for one in history.newest)
        sizes = "; sizes allow for the place being chosen" * some
        yield Sentence(f"each interval below holds a change: {rule.format(risk=risk)}{sizes}")
    alone = alarm_alone(history)
    if alone is not None:
        yield Sentence(alone)


def _benchmarks(history: History) -> Table:
    shown_ones = _shown_series(history)
    names = short_names_of(shown_ones, several=several_variants(history))
    return Table(
        name="benchmarks",
        columns=columns_of("<", "nights", _now_heading(history), "<since", "<changes"),
        rows=tuple(
            (
                name,
                Value(str(len(one.values)), len(one.values)),
                _now(one),
                label_of(one.values)(one.segments[-1].first_value),
                _counts(one),
            )
            for name, one in zip(names, shown_ones, strict=True)
        ),
    )


def _values(history: History) -> Iterator[Table]:
    """Show the values of each night, where no series has enough of them."""
    if any(one.enough for one in history.newest):
        return
    columns = _shown_series(history)[:_COLUMNS]
    rows: dict[str, dict[int, Value]] = {}
    for k, one in enumerate(columns):
        label = label_of(one.values)
        for number, value in enumerate(one.values):
            rows.setdefault(label(number), {})[k] = _amount(one, value.speedup, value.metric_value)
    names = short_names_of(columns, several=several_variants(history), width=12)
    yield Table(
        name="nights",
        columns=columns_of("<", *names),
        rows=tuple(
            (night, *(cells.get(k, Value("-", None)) for k in range(len(columns))))
            for night, cells in rows.items()
        ),
    )


def _now_heading(history: History) -> str:
    paired = [one for one in history.newest if one.paired]
    if not paired:
        return "now"
    bases = {one.baseline for one in paired}
    return (
        f"now against {shorten(shown(bases.pop() or 'baseline'), 16)}" if len(bases) == 1 else "now"
    )


def _shown_series(history: History) -> list[SeriesHistory]:
    """Give the series of the screen in their order; those that changed, or stop the gate, have a line before others."""
    newest = list(history.newest)
    weight = {"proven": 0, "undecided": 2, "passed": 3, None: 3}
    ordered = sorted(newest, key=lambda one: (weight[one.outcome], 0 if one.intervals else 1))
    kept = {id(one) for one in ordered[:_LINES]}
    return [one for one in newest if id(one) in kept]


def _hidden(history: History) -> Iterator[Sentence]:
    kept = {id(one) for one in _shown_series(history)}
    rest = [one for one in history.newest if id(one) not in kept]
    if rest:
        changed = sum(bool(one.intervals) for one in rest)
        told = f"{changed} of them changed" if changed else "none of them changed"
        yield Sentence(f"and {len(rest)} more, {told} (--json has all)")


def _now(one: SeriesHistory) -> Value:
    return _amount(one, one.segments[-1].speedup, one.segments[-1].metric_value)


def _amount(one: SeriesHistory, speedup: float | None, metric: float | None) -> Value:
    """Give what a candidate has more or less than its baseline; of a plain series the metric itself."""
    if speedup is None:
        return Value("-" if metric is None else figures.quantity(metric, one.unit), metric)
    ratio = speedup if one.better == "higher" else 1 / speedup
    told = Difference(ratio, None, None, one.metric, one.unit, one.better)
    return Value(told.cell(), 100 * (ratio - 1))


def _counts(one: SeriesHistory) -> str:
    if not one.enough:
        return "8 nights are needed"
    faster = sum(each.step.speedup > 1 for each in one.intervals)
    slower = len(one.intervals) - faster
    better, worse = ("faster", "slower") if figures.timed(one.unit) else ("better", "worse")
    parts = [f"{count} {word}" for count, word in ((slower, worse), (faster, better)) if count]
    return ", ".join(parts) or "none"


def _changes(
    history: History, changes: Sequence[tuple[SeriesHistory, HistoryInterval]]
) -> Iterator[Block]:
    told = changes[:_CHANGES]
    names = short_names_of([one for one, _ in told], several=several_variants(history))
    yield Table(
        name="changes",
        columns=columns_of("<", "<between", "<at least .. at most", "estimate"),
        rows=tuple(
            (
                name,
                between(series, one.first_value, one.last_value),
                difference(series, one.step).cell_interval(),
                _change(series, one),
            )
            for name, (series, one) in zip(names, told, strict=True)
        ),
        notes=tuple(_remark(series, one) for series, one in told),
    )
    if rest := len(changes) - len(told):
        yield Sentence(f"and {figures.counted(rest, 'change')} more (--json has all)")


def _change(series: SeriesHistory, one: HistoryInterval) -> Value:
    found = difference(series, one.step)
    return Value(found.cell(), None if found.ratio is None else 100 * (found.ratio - 1))


def between(series: SeriesHistory, first: int, last: int) -> str:
    """Name the nights at both ends of an interval."""
    label = label_of(series.values)
    return f"{label(first)} .. {label(last)}"


def _remark(series: SeriesHistory, one: HistoryInterval) -> str:
    """Say what changed, the likeliest night, what lacks inside, and the commits."""
    label = label_of(series.values)
    parts = [f"{one.words}, most likely on {label(one.place_value)}"]
    if one.environment:
        parts.append(_listed(one.environment))
    if one.missing:
        parts.append(f"{figures.counted(one.missing, 'night')} missing")
    if one.good is not None and one.bad is not None:
        parts.append(f"commits {_commit(one.good)}..{_commit(one.bad)}")
    return "; ".join(parts)


def _listed(environment: Sequence[str]) -> str:
    more = f", and {len(environment) - 1} more" if len(environment) > 1 else ""
    return f"{shorten(shown(environment[0]), 60)}{more}"


def _commit(name: str) -> str:
    return shorten(shown(short_commit(name, 7)), 24)


def _hosts(history: History) -> Iterator[Block]:
    told = sorted(history.host_intervals, key=lambda one: one.cause != "host")[:_HOSTS]
    for one in told:
        yield Sentence(_of_host(history, one))
    if rest := len(history.host_intervals) - len(told):
        yield Sentence(f"and {figures.counted(rest, 'change')} more of baselines (--json has all)")


def _of_host(history: History, one: HostInterval) -> str:
    """Say how a baseline changed, whose program did not."""
    series = next(
        each
        for each in history.series
        if each.benchmark == one.benchmark
        and len(each.values) > one.last_value
        and each.values[one.first_value].trial == one.first
    )
    what = f": {_listed(one.environment)}" if one.environment else ""
    holds = "; speedups are paired and hold" if one.cause == "host" else ""
    return (
        f"{shorten(shown(one.baseline), 24)} itself {sized(series, one.step)} on "
        f"{shorten(shown(one.benchmark), 24)}, between {between(series, one.first_value, one.last_value)}: "
        f"{one.words}{what}{holds}"
    )


def _notes(history: History) -> Iterator[str]:
    shown_on_top = {"no-baseline"} if not any(one.paired for one in history.series) else set()
    cautions = [one for one in history.cautions if one.code not in shown_on_top]
    kept = _NOTES if len(cautions) <= _NOTES else _NOTES - 1
    yield from (one.text if one.short is None else str(one.short) for one in cautions[:kept])
    if (rest := len(cautions) - kept) > 0:
        yield f"and {figures.counted(rest, 'caution')} more (--json has all)"


# --- Changes of a series, and a search for steps, in words.


def _said(line: PairWord | Culprit) -> str:
    """Say how the later side differs: ``takes 5 % more time (4 to 6 %)``."""
    found = Difference.of(line)
    ends = found.interval()
    return f"{found.phrase()} ({ends})" if ends else found.phrase()


@page_of.register(Changes)
def _changes_page(result: Changes) -> Page:
    count = result.values.size
    if result.p_star is None:
        told = f"{count} values: no interval is looked for"
    elif not result.intervals:
        told = f"no change in {count} values, at a risk of {100 * result.risk:g} % over all places"
    else:
        many = len(result.intervals)
        told = (
            f"{many} interval{'s' * (many > 1)} with a change in {count} values, "
            f"{100 * result.risk:g} % over all places"
        )
    blocks: list[Sentence | Table] = [Sentence(told)]
    if result.intervals:
        blocks.append(
            Table(
                name="changes",
                columns=columns_of("before value", "best place", "p", "<what changed"),
                rows=tuple(
                    (
                        f"{one.first} to {one.last}" if one.first < one.last else f"{one.first}",
                        value_of(place),
                        Value(figures.pvalue(one.pvalue), one.pvalue),
                        f"from there on it {Difference.of(step).ranged('before')}",
                    )
                    for one, place, step in zip(
                        result.intervals, result.places, result.steps, strict=True
                    )
                ),
            )
        )
    return Page(title="Changes", sections=(Section(tuple(blocks)),), cautions=result.cautions)


@page_of.register(StepSearch)
def _search_page(result: StepSearch) -> Page:
    return Page(
        title="Search for steps",
        sections=(Section(tuple(Sentence(text) for text in _sentences(result))),),
        cautions=result.cautions,
    )


def _sentences(result: StepSearch) -> Iterator[str]:
    first = result.first
    bad = f"place {result.commits}"
    if first.word == "equivalent":
        yield f"no difference: {bad} takes the same time as place 0, within {100 * result.margin:g} %"
    elif first.word == "undecided":
        found = Difference.of(first).between()
        yield "no difference found" + (f": if there is one, it lies {found}" if found else "")
    else:
        yield f"{bad} {_said(first)} than place 0"
    for one in result.culprits:
        after = one.after + 1
        where = f"place {one.upto}" if after == one.upto else f"one of places {after} to {one.upto}"
        yield f"proven: {where} {_said(one)} than place {one.after}, in {one.sessions} sessions"
    for left in result.open:
        yield (
            f"open: places {left.after + 1} to {left.upto} hold a step with probability "
            f"{left.probability:.2f} ({left.why})"
        )
    skipped = f", {len(result.skipped)} places skipped" if result.skipped else ""
    yield f"{result.sessions} sessions, {result.builds} places built{skipped}"
