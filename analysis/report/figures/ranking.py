"""Several variants over the suite: ranks by pairs of sessions, and Friedman's published diagram."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...errors import InsufficientDataError
from ...methods.multilevel.result import BenchmarkLine, Line, Multilevel
from ...pages.number_format import outcome_word
from ...plots.axes import Axes, Scale, Tick, ratio_axis, ratio_scale, rows_down
from ...plots.chart import arranged
from ...plots.marks import style_of
from ...verdict.ranking import PairLine, Ranking, rank_variants
from ..subject import level_of
from ..written import Written, written_of
from .panels import (
    Drawing,
    broad,
    columns_of,
    counted,
    few_of,
    in_columns,
    name_of,
    names_of,
    rows_high,
)

if TYPE_CHECKING:
    from ...plots.chart import Sheet
    from ..subject import Subject

__all__ = ["draw_cd", "draw_forest", "draw_ranks"]

# --- Speedups with their intervals, session values and margin: the answer in one picture.


_STROKES = 20  # rows, of which each may show its sessions
_SUITE = {"these": "these {n}", "similar": "others like them"}
_BESIDE = 7.2  # mm of width for each point of a letter's size, that a panel beside another needs


def draw_forest(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw a panel for each candidate: beside each other where there is room, else below."""
    told = [one.multilevel for one in subject.candidates if one.multilevel is not None]
    if not told:
        raise InsufficientDataError(
            "a forest shows speedups, and nothing was compared",
            fix="name two sides, or a trial with two variants that have runs",
            n=0,
            needed=1,
        )
    known = {line.name for result in told for line in result.benchmarks}
    suite = dict.fromkeys(line.name for result in told for line in _suite(result))
    every = [*(name for name in subject.order if name in known), *suite]
    named = {name for caution in subject.verdict.cautions for name in caution.about}
    rows, notes = few_of(every, named, last=2)
    across = columns_of(sheet, len(told), _BESIDE)
    down = -(-len(told) // across)
    strokes = len(rows) <= _STROKES and any(one.differences for one in told[0].benchmarks)
    height = rows_high(
        sheet, down * max(len(rows) + 1.2, 5.0), 2.3 if strokes else 1.5, around=2.0 + 3.2 * down
    )
    texts = written_of(subject)
    names = names_of(rows, sheet, 0.2 / across + 0.06)
    titles = names_of([one.candidate for one in told], sheet, 0.62 / across, bold=True)
    base = name_of(subject.baseline, sheet, 0.22 / across)
    panels = []
    for k, result in enumerate(told):
        count = sum(line.speedup is not None for line in result.benchmarks)
        labels = [_SUITE[one].format(n=count) if one in _SUITE else names[one] for one in rows]
        axes = _panel(
            result, rows, texts[result.candidate], labels, strokes=strokes, brief=across > 1
        )
        axes.y_texts = k % across == 0
        axes.title, axes.title_css = (titles[result.candidate] if len(told) > 1 else ""), "ink bold"
        one = f" of {name_of(result.candidate, sheet, 0.2)}" if len(told) == 1 else ""
        if k + across >= len(told):
            axes.x_label = f"speedup{one} over {base}"
        panels.append(axes)
    return Drawing(
        name=subject.anchor("forest"),
        title=f"speedups over {subject.baseline}",
        alt=_alt(subject, told, texts),
        picture=in_columns(sheet, panels, across, height, notes),
        columns=(
            "candidate", "baseline", "line", "speedup", "low", "high", "confidence", "word",
            "sessions", "session_speedups",
        ),
        rows=tuple(
            _numbers(result, line)
            for result in told
            for line in (*result.benchmarks, *_suite(result))
        ),
    )  # fmt: skip


def _suite(result: Multilevel) -> tuple[Line, ...]:
    return tuple(line for line in (result.these, result.similar) if line is not None)


def _panel(
    result: Multilevel, rows: Sequence[str], texts: Mapping[str, Written], labels: Sequence[str],
    *, strokes: bool, brief: bool,
) -> Axes:  # fmt: skip
    lines: dict[str, Line] = {
        line.name: line for line in (*result.benchmarks, *_suite(result)) if line.name in rows
    }
    axes = rows_down(labels)
    scale = ratio_scale(_extent(list(lines.values())), result.margin)
    axes.x = scale
    axes.margin(result.margin)
    ratio_axis(axes, "x", scale)
    for y, name in enumerate(rows):
        line = lines.get(name)
        if line is None or line.speedup is None:
            axes.beside.append((y, "no speedup", "second"))
            continue
        word = line.outcome
        if strokes and isinstance(line, BenchmarkLine):
            inside = [math.exp(d) for d in line.differences if scale.holds(math.exp(d))]
            axes.segments(inside, y + 0.2, inside, y + 0.42, "baseline thin")
        ends = None if line.low is None or line.high is None else (line.low, line.high)
        axes.interval(
            y, line.speedup, ends, style_of(word), hollow=word == "undecided", suite=name in _SUITE
        )
        text = texts[name]
        numbers = f"{text.speedup.text}× {'' if brief else text.interval}".strip()
        axes.beside.append((y, f"{numbers}  {outcome_word(word, timed=result.timed)}", "ink"))
    return axes


def _extent(lines: Sequence[Line]) -> list[float]:
    """Give what the axis must hold: all estimates, and ends as far as they leave room for these."""
    known = [line.speedup for line in lines if line.speedup is not None]
    if not known:
        return [1.0]
    low, high = min(known), max(known)
    room = max(1.5, (high / low) ** 0.8)
    ends = [end for line in lines for end in (line.low, line.high) if end is not None]
    return [*known, *(min(max(end, low / room), high * room) for end in ends)]


def _alt(
    subject: Subject, told: Sequence[Multilevel], texts: Mapping[str, Mapping[str, Written]]
) -> str:
    parts = []
    for result in told:
        line = result.these if result.these is not None else result.benchmarks[0]
        text = texts[result.candidate][line.name]
        many = len(result.benchmarks)
        what = f"{many} benchmarks" if many > 1 else repr(line.name)
        between = f" {result.confidence:.0%} interval {text.interval}".replace("%", " %")
        parts.append(
            f"{result.candidate}: {text.speedup.text} times over {what},"
            f"{between if text.interval else ' no interval'}, {outcome_word(line.outcome, timed=result.timed)}"
            + (f"; {counted(result)}" if many > 1 else "")
        )
    return (
        f"Speedups over {subject.baseline}, {_amount(subject)} with "
        f"{subject.verdict.runs} runs. {'. '.join(parts)}."
    )


def _amount(subject: Subject) -> str:
    level = level_of(subject.verdict)
    if level is not None:
        return f"on hosts like these {len(level.hosts)}, in {level.sessions} sessions of theirs"
    return f"in {subject.verdict.sessions} sessions"


def _numbers(result: Multilevel, line: Line) -> tuple[str | float | int | None, ...]:
    sessions = line.sessions if isinstance(line, BenchmarkLine) else result.sessions
    values = line.differences if isinstance(line, BenchmarkLine) else ()
    return (
        result.candidate, result.baseline, line.name, line.speedup, line.low, line.high,
        result.confidence, outcome_word(line.outcome, timed=result.timed), sessions,
        " ".join(repr(math.exp(d)) for d in values),
    )  # fmt: skip


_FEWEST = 3  # variants
_ROUNDING = 1e-9  # ranks


def draw_ranks(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw the variants from the best down, with bars that join what is not told apart."""
    found = _ranking(subject)
    names = [place.variant for place in found.places]
    shown = names_of(names, sheet)
    against = {name: _against(found, name, subject.baseline) for name in names}
    known = [value for line in against.values() if line is not None for value in line[:3] if value]
    axes = rows_down([shown[name] for name in names], (0.5, 0.5))
    ratio_axis(axes, "x", ratio_scale(known, found.margin))
    for y, (name, place) in enumerate(zip(names, found.places, strict=True)):
        line = against[name]
        if line is not None and line[0] is not None:
            ends = None if line[1] is None or line[2] is None else (line[1], line[2])
            axes.interval(y, line[0], ends, style_of(line[3]), hollow=line[3] == "undecided")
        elif name == subject.baseline:
            axes.spots(1, y, "baseline", r=2.2)
        axes.beside.append((y, _place(place.best, place.worst), "ink"))
    axes.x_label = f"speedup over {name_of(subject.baseline, sheet)}"
    bars = _cliques(names, found.pairs)
    side = Axes(x=Scale(-0.7, max(len(bars), 3) - 0.3), y=axes.y, sides="")
    for k, (first, last) in enumerate(bars):  # stretches that overlap stand beside each other
        side.line(k, first - 0.3, k, last + 0.3, "ink bar")
    picture = arranged(
        sheet,
        [[axes, side]],
        rows_high(sheet, len(names), 2.0, 4.2),
        widths=(8, 1),
        notes=["a bar joins variants of which no pair is told apart"] if bars else [],
    )
    told = [
        f"{name}: {_place(p.best, p.worst)}" for name, p in zip(names, found.places, strict=True)
    ]
    joined = [f"{', '.join(names[first : last + 1])}" for first, last in bars]
    return Drawing(
        name=subject.anchor("ranks"),
        title="variants by rank",
        alt=f"Ranks over the suite by pairwise session t with Holm's correction, {found.sessions} "
        f"sessions. {'. '.join(told)}. "
        + (f"Not told apart: {'; '.join(joined)}." if joined else "All are told apart."),
        picture=picture,
        columns=(
            "candidate", "baseline", "speedup", "low", "high", "p", "p_holm", "word",
        ),
        rows=tuple(
            (
                pair.candidate, pair.baseline, pair.speedup, pair.low, pair.high, pair.pvalue,
                pair.pvalue_adjusted, pair.outcome,
            )
            for pair in found.pairs
        ),
    )  # fmt: skip


def draw_cd(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw Friedman's mean ranks with Nemenyi's critical difference, and how often that is wrong."""
    found = _ranking(subject)
    if found.friedman is None or found.nemenyi is None:
        raise InsufficientDataError(
            "Friedman's ranks need two benchmarks that all variants have", n=1, needed=2
        )
    ranks = sorted(zip(found.friedman.ranks, found.variants, strict=True), key=lambda pair: pair[0])
    shown = names_of([name for _, name in ranks], sheet)
    k, width = len(ranks), found.nemenyi
    half = (k + 1) // 2
    share = min(0.4, max(broad(f"{name} 0.00 ", sheet) for name in shown.values()))
    aside = (k - 1) * share / (1 - 2 * share)
    low, high = 1 - aside, k + aside
    axes = Axes(
        x=Scale(low, high),
        y=Scale(half + 0.5, -2.4),
        x_ticks=[Tick(float(rank), f"{rank}") for rank in range(1, k + 1)],
        x_label=f"mean rank over {found.friedman.benchmarks} benchmarks (1 is best)",
        sides="",
        top=True,
    )
    axes.line(1, -2.4, k, -2.4, "one thin")
    for tick in axes.x_ticks:
        axes.line(tick.value, -2.4, tick.value, -2.2, "one thin")
    for place, (rank, name) in enumerate(ranks):
        left = place < half
        y = (place if left else k - 1 - place) + 1.2
        edge = low if left else high
        axes.curve([rank, rank, edge], [-2.4, y, y], "baseline")
        text = f"{shown[name]} {rank:.2f}" if left else f"{rank:.2f} {shown[name]}"
        axes.text(edge, y, text, anchor="start" if left else "end", dy=-0.62 * sheet.font_size)
    for level, (first, last) in enumerate(_groups([rank for rank, _ in ranks], width)):
        y = -0.7 + 0.3 * (level % 3)
        axes.line(ranks[first][0] - 0.03, y, ranks[last][0] + 0.03, y, "ink bar")
    axes.line(1, -1.6, 1 + width, -1.6, "ink")
    axes.spots([1, 1 + width], -1.6, "ink", r=2.5, shape="upright")
    said = f"critical difference {width:.2f}"
    axes.text(1, -1.6, said, "ink small hollow", dx=3, dy=-0.7 * sheet.font_size)
    warnings = [caution.text for caution in found.cautions]
    height = rows_high(sheet, half + 3.4, 1.9, 3.4)
    told = "; ".join(f"{name} {rank:.2f}" for rank, name in ranks)
    return Drawing(
        name=subject.anchor("cd"),
        title="Friedman's mean ranks with Nemenyi's critical difference",
        alt=f"Mean ranks: {told}. Critical difference {width:.2f}, p of Friedman's test "
        f"{found.friedman.pvalue:.3g}. {' '.join(warnings)}.",
        picture=arranged(sheet, [[axes]], height, notes=warnings),
        columns=("variant", "mean_rank", "benchmarks", "critical_difference"),
        rows=tuple((name, rank, found.friedman.benchmarks, width) for rank, name in ranks),
    )


@functools.lru_cache(maxsize=1)
def _ranking(subject: Subject) -> Ranking:
    """Rank the variants that were judged, as they were judged; once, whichever is drawn."""
    names = tuple(subject.matrices)
    if subject.trial is None or len(names) < _FEWEST:
        raise InsufficientDataError(
            f"ranks need a trial with three variants or more, and here are {len(names)}",
            fix="draw a forest: of two variants it shows which is better",
            n=len(names),
            needed=_FEWEST,
        )
    verdict = subject.verdict
    return rank_variants(
        subject.trial,
        metric=verdict.metric,
        confidence=verdict.confidence,
        variants=names,
        benchmarks=subject.options.get("benchmarks"),
        margin=verdict.margin,
        weights=subject.options.get("weights"),
        looks=1 if verdict.always_valid else subject.options.get("looks"),
    )


def _place(best: int, worst: int) -> str:
    return f"place {best}" if best == worst else f"place {best} to {worst}"


def _against(
    found: Ranking, name: str, baseline: str
) -> tuple[float | None, float | None, float | None, str] | None:
    """Give a variant's speedup over the baseline with its interval and word, however the pair stands."""
    opposite = {"faster": "slower", "slower": "faster"}
    for pair in found.pairs:
        if (pair.candidate, pair.baseline) == (name, baseline):
            return (pair.speedup, pair.low, pair.high, pair.outcome)
        if (pair.candidate, pair.baseline) == (baseline, name):
            turned = [None if v is None else 1 / v for v in (pair.speedup, pair.high, pair.low)]
            return (turned[0], turned[1], turned[2], opposite.get(pair.outcome, pair.outcome))
    return None


def _cliques(names: Sequence[str], pairs: Sequence[PairLine]) -> list[tuple[int, int]]:
    """Give the largest stretches of neighbours in rank of which no pair is told apart."""
    apart = {
        frozenset((pair.candidate, pair.baseline))
        for pair in pairs
        if pair.outcome in ("faster", "slower")
    }

    def alike(first: int, last: int) -> bool:
        inside = names[first : last + 1]
        return not any(
            frozenset((a, b)) in apart for i, a in enumerate(inside) for b in inside[i + 1 :]
        )

    return _longest(len(names), alike)


def _groups(ranks: Sequence[float], width: float) -> list[tuple[int, int]]:
    """Give the largest stretches of ranks within the critical difference."""
    return _longest(len(ranks), lambda first, last: ranks[last] - ranks[first] < width + _ROUNDING)


def _longest(count: int, holds: Callable[[int, int], bool]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for first in range(count):
        last = first
        while last + 1 < count and holds(first, last + 1):
            last += 1
        if last > first and not any(a <= first and last <= b for a, b in found):
            found.append((first, last))
    return found
