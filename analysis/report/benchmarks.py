"""The benchmarks, one by one and together: runs in numbers and pictures, what is in them, published methods, where variation comes from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..data.fleet import open_fleet, trials_apart
from ..data.iterations import IterationsOfCell, Pooled, pooled
from ..data.trial import Trial
from ..diagnose.modes import sources
from ..errors import AnalysisError, InsufficientDataError, UsageError
from ..methods.multilevel.lines import ratio_of
from ..methods.multilevel.result import Line, Multilevel
from ..pages.model import (
    Block,
    CommandLine,
    Figure,
    Section,
    Sentence,
    Table,
    Value,
    merged,
    section,
    table_of,
    value_of,
)
from ..pages.number_format import counted, listed, quantity, significant, span
from ..plots.axes import (
    Axes,
    Key,
    Picture,
    Scale,
    Sheet,
    Tick,
    quantity_axis,
    quantity_scale,
    ratio_axis,
    ratio_scale,
    rows_down,
)
from ..plots.chart import arranged
from ..plots.marks import COLOURS, style_of
from ..record.fleet import is_fleet
from ..record.manifest import needed, quantile_about
from ..stats.arguments import stream
from ..stats.samples import Array
from ..verdict.panel import ONE_VALUE, methods_table, reasons_section, sessions_are_runs
from ..verdict.ranking import Ranking, RankRange, rank_variants
from ..verdict.result import MethodRow, Verdict, difference
from ..verdict.sentence import quantile_sentences, word
from .assembling import Chapter, chapter_of, picture_of
from .figures import Cell, cells_of, line_of, rows_high
from .subject import Subject, Written, hosts_of, written_of

_DRAWN = 6  # benchmarks that have pictures
_TOLD = 4  # candidates that have a sentence each
# all runs session by session, the speedup at each decile, both sides' distributions: mm
_KINDS = {"strip": 110.0, "shift": 85.0, "ecdf": 85.0}
_EQUAL = 1e-9  # session values that are 1


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None where there is no run."""
    every = {name: cells_of(subject, name) for name in subject.order}
    cells = {name: found for name, found in every.items() if found}
    if not cells:
        return None
    title = f"Benchmarks: {subject.data.metric}" if subject.prefix else "Benchmarks"
    return chapter_of(subject, "parts", title, partial(_sections, subject, cells))


def drawn_of(subject: Subject) -> tuple[str, ...]:
    """Name the benchmarks that have pictures: those that a caution is about, then the largest effects."""
    about = Counter(name for caution in subject.verdict.cautions for name in caution.about)
    effects = dict.fromkeys(subject.order, 0.0)
    for one in subject.results:
        for line in one.benchmarks:
            if line.outcome in ("faster", "slower") and line.speedup and line.name in effects:
                effects[line.name] = max(effects[line.name], abs(math.log(line.speedup)))
    ranked = sorted(effects, key=lambda name: (name not in about, -effects[name]))
    return tuple(name for name in subject.order if name in ranked[:_DRAWN])


def _sections(subject: Subject, cells: Mapping[str, Mapping[str, Cell]]) -> Iterator[Section]:
    drawn = [name for name in drawn_of(subject) if name in cells]
    rows = list(_rows(subject, cells))
    value = partial(quantity, unit=subject.data.unit)
    yield section(
        table_of(
            subject.anchor("parts-runs"),
            rows,
            ("@benchmark", "benchmark"),
            ("@variant", "variant"),
            ("runs", "runs"),
            ("hosts" if hosts_of(subject.verdict) else "sessions", "sessions"),
            ("median", "median", value),
            ("least", "least", value),
            ("most", "most", value),
            ("spread", "spread", lambda share: f"{significant(100 * share, 2)}\u00a0%"),
            ("far", "far") if any(row.far for row in rows) else None,
            ("failed", "failed") if any(row.failed for row in rows) else None,
        )
    )
    for name in drawn:
        blocks: list[Block | str] = list(_remarks(subject, name, cells[name]))
        for kind, width in _KINDS.items():
            with suppress(AnalysisError):  # too few runs
                blocks.append(picture_of(kind, subject, name, width=width))
        yield section(*blocks, title=name, anchor=subject.anchor("benchmark", name))
    if left := len(cells) - len(drawn):
        other = next(name for name in cells if name not in drawn)
        line = subject.command("plot strip", "--benchmark", other, "-o", "strip.svg")
        yield section(f"Pictures of the other {counted(left, 'benchmark')}:", CommandLine(line))


# ---- the numbers of a variant


class _Row(NamedTuple):
    """What the table says of one variant on one benchmark; `spread` is the relative one within a session."""

    benchmark: str
    variant: str
    median: float
    least: float
    most: float
    spread: float | None
    runs: int
    sessions: int
    far: int
    failed: int


def _rows(subject: Subject, cells: Mapping[str, Mapping[str, Cell]]) -> Iterator[_Row]:
    spreads = {(subject.baseline, one.benchmark): one.spread for one in subject.verdict.alone}
    for one in subject.results:
        for line in one.benchmarks:
            spreads[one.candidate, line.name] = line.spread_candidate
            spreads.setdefault((subject.baseline, line.name), line.spread_baseline)
    found = subject.verdict.diagnosis
    far = Counter((run.variant, run.benchmark) for run in (found.far_runs if found else ()))
    failures = _failures(subject)
    for name, of in cells.items():
        for variant, cell in of.items():
            counts = {"runs": cell.values.size, "sessions": len(cell.labels)}
            counts |= {"far": far[variant, name], "failed": failures[name, variant]}
            median, spread = float(np.median(cell.values)), spreads.get((variant, name))
            least, most = cell.ends
            yield _Row(name, variant, median, least, most, spread, **counts)


def _failures(subject: Subject) -> Counter[tuple[str, str]]:
    """Count the measured runs of each benchmark and variant that failed; none where no trial says so."""
    runs = () if subject.trial is None else subject.trial.failures()
    return Counter((run.benchmark, run.variant) for run in runs if not run.warmup)


# ---- a sentence or two


def _remarks(subject: Subject, name: str, cells: Mapping[str, Cell]) -> Iterator[str]:
    for one in subject.candidates[:_TOLD]:
        line, result = line_of(subject, one.variant, name), one.multilevel
        if result is not None and line is not None and len(line.differences) > 1:
            yield f"{one.variant} {_ahead(line, result, subject.verdict)}"
    variants = (subject.baseline, *(one.variant for one in subject.candidates))
    if missing := [variant for variant in variants if variant not in cells]:
        yield f"No run counts of {listed(missing)}."
    failures = {variant: _failures(subject)[name, variant] for variant in cells}
    if failing := [f"{count} of {variant}" for variant, count in failures.items() if count]:
        yield f"Runs failed, and are left out of every number here: {listed(failing)}."


def _ahead(line: Line, result: Multilevel, verdict: Verdict) -> str:
    noun = "block" if result.design == "one session, blocks" else result.outermost
    count, ahead = len(line.differences), sum(log > 0 for log in line.differences)
    every = f"both {noun}s" if count == 2 else f"all {count} {noun}s"
    low, high = map(ratio_of, (min(line.differences), max(line.differences)))
    if max(map(abs, line.differences)) < _EQUAL:
        return f"equals the baseline in {every}."
    if 0 < ahead < count:
        between = f"from {significant(low)} to {significant(high)} times"
        return f"is ahead in {ahead} of {count} {noun}s, which range {between}."
    top = high if high > low * (1 + _EQUAL) else None  # sessions of one value have no range
    found = difference(replace(line, low=low, high=top), verdict)
    return f"is {'ahead' if ahead else 'behind'} in {every}: {found.ranged()}."


# --- The values behind a judged quantile: by variant their quantiles and distribution functions.
#
# Both axes of a picture are logarithmic: values to the right, and up the share that lies above, each step a tenth of the one before. A
# curve ends where its values are too few for a quantile.


_CURVES = 5  # of variants in a picture
_USUAL = (0.5, 0.9, 0.99, 0.999)
_POINTS = 160  # of a curve
_SHEET, _HIGH = Sheet(width=85.0), 62.0  # mm: a telephone's page

Cells = Mapping[str, Mapping[str, Pooled]]  # by benchmark and variant


def distribution(subject: Subject) -> Chapter | None:
    """Give the chapter on a quantile's values; None where none is judged, or its values are not there."""
    basis, trial = subject.verdict.quantile, subject.trial
    if basis is None or trial is None or basis.why in {"printed", "not-kept", "own"}:
        return None
    cells = _cells(subject, trial, basis.metric)
    if not cells:
        return None
    declared = map(quantile_about, trial.manifest.metrics.values())
    asked = {text[1] for text in declared if text is not None and text[0] == basis.metric}
    most = max(one.total for found in cells.values() for one in found.values())
    asked |= {share for share in _USUAL if needed(share) <= most}
    lead = " ".join(quantile_sentences(subject.data.metric, basis))
    title = f"Distribution of {basis.metric}"

    def sections() -> Iterator[Section]:
        yield section(lead, *_blocks(subject, cells, sorted(asked)))

    return chapter_of(subject, "distribution", title, sections, lead=lead)


def _cells(subject: Subject, trial: Trial, metric: str) -> dict[str, dict[str, Pooled]]:
    """Give the values of the first benchmarks, by variant; none where they are not there, or too many."""
    found: dict[str, dict[str, Pooled]] = {}
    used, manifest = trial.judged(subject.data.metric), trial.manifest
    for bench in subject.order[:_DRAWN]:
        mine = used & (trial.benchmark == manifest.benchmarks.index(bench))
        for name in subject.matrices:
            rows = np.flatnonzero(mine & trial.of_variant(name))
            try:
                one = pooled(trial, metric, rows)
            except AnalysisError:
                return {}
            if isinstance(one, str):
                return {}
            if one.total and one.values[0] > 0:
                found.setdefault(bench, {})[name] = one
    return found


def _blocks(subject: Subject, cells: Cells, asked: Sequence[float]) -> Iterator[Block]:
    unit = subject.data.unit

    def quantile(share: float) -> tuple[object, ...]:
        def of(row: tuple[str, str, Pooled]) -> Value:
            return value_of(row[2].quantile(share), lambda value: quantity(value, unit))

        return _percent(share), of

    yield table_of(
        f"{subject.anchor('distribution')}-cells",
        [(bench, name, one) for bench, found in cells.items() for name, one in found.items()],
        ("@benchmark", lambda row: row[0]),
        ("@variant", lambda row: row[1]),
        ("values", lambda row: Value(f"{row[2].total:,}", row[2].total)),
        *map(quantile, asked),
        ("largest", lambda row: row[2].at(row[2].total), lambda value: quantity(value, unit)),
    )
    for bench, found in cells.items():
        few = dict(list(found.items())[:_CURVES])
        yield Figure(
            name=subject.anchor("distribution", bench),
            alt=f"{bench}: {'; '.join(_quantiles(name, one, unit) for name, one in few.items())}",
            draw=lambda few=few: _picture(few, unit),  # type: ignore[misc]
        )
    yield Sentence(
        "The vertical axis is the share of the values that are no larger; both axes are logarithmic, and "
        "a curve ends where its values do."
    )


def _percent(share: float) -> str:
    return f"p{100 * share:.10g}"


def _quantiles(name: str, one: Pooled, unit: str) -> str:
    known = ((share, one.quantile(share)) for share in _USUAL)
    texts = (f"{_percent(share)} {quantity(x, unit)}" for share, x in known if x is not None)
    return f"{name}, {one.total:,} values: {', '.join(texts) or 'too few'}"


def _picture(found: Mapping[str, Pooled], unit: str) -> Picture:
    curves = [_curve(one) for one in found.values()]
    top = max(1, *(math.ceil(up[-1]) for _, up in curves))
    axes = Axes(
        y=Scale(0.0, top + 0.1),
        y_ticks=[Tick(float(k), f"{100 * (1 - 10.0**-k):.10g} %") for k in range(top + 1)],
    )
    quantity_axis(axes, "x", quantity_scale(end for x, _ in curves for end in (x[0], x[-1])), unit)
    for k, (x, up) in enumerate(curves):
        axes.curve(x, up, f"c{k % len(COLOURS)} d{k} curve")
    axes.keys = [Key(name, f"c{k} d{k} curve") for k, name in enumerate(found)]
    return arranged(_SHEET, [[axes]], _HIGH)


def _curve(one: Pooled) -> tuple[Array, Array]:
    """Give values and how many factors of ten below 1 the share above them lies, up to one value in all."""
    top = math.log10(max(one.total, 2))
    up = np.linspace(0.0, top, _POINTS)
    ranks = np.clip(np.ceil((1 - 10.0**-up) * one.total), 1, one.total).astype(np.int64)
    return np.array([one.at(int(rank)) for rank in ranks]), up


# --- Which iterations of runs are judged, what the runs are called, and the iterations of some as pictures.


def iterations(subject: Subject) -> Chapter | None:
    """Give the chapter on iterations; None where every one is judged, and nobody asked otherwise."""
    place = {name: k for k, name in enumerate(subject.order)}
    cells = sorted(
        subject.verdict.iterations,
        key=lambda one: (not one.unsteady, place.get(one.benchmark, len(place))),
    )
    if not cells:
        return None
    setting, lost = cells[0].setting, sum(one.unsteady for one in cells)
    first = f"the first {setting} of a run"
    lead = f"Not judged: {'those before a run becomes steady' if setting == 'auto' else first}."
    if lost:
        lead += f" No word on {lost} of {len(cells)} cells: too many of their runs reach no steady state."

    def sections() -> Iterator[Section]:
        yield section(lead, *_of_iterations(subject, cells))

    return chapter_of(subject, "iterations", "Iterations of the runs", sections, lead=lead)


def _of_iterations(subject: Subject, cells: Sequence[IterationsOfCell]) -> Iterator[Block]:
    hosts = any(one.host is not None for one in cells)
    yield table_of(
        f"{subject.anchor('iterations')}-cells",
        cells,
        ("<host", "host") if hosts else None,
        ("<benchmark", "benchmark"),
        ("<variant", "variant"),
        ("runs", "runs"),
        ("not judged", lambda one: Value(span(one.left_out.values()), one.left_out["median"])),
        ("<called", _called),
    )
    for benchmark in list(dict.fromkeys(one.benchmark for one in cells))[:_DRAWN]:
        try:
            yield picture_of("iterations", subject, benchmark)
        except AnalysisError:  # sides that are no trial
            return


def _called(one: IterationsOfCell) -> str:
    return ", ".join(f"{count} {state}" for state, count in (one.states or {}).items() if count)


# --- The published methods: the table of ``verdict --explain``, and a picture of it.


_UNITS = {"one session, blocks": "block", "one session, runs": "run"}  # of designs within a session
_NO_RATIO = ("mixtures", "Friedman")  # whose numbers are chances and ranks
_COMMANDS = ("hpt", "speedup-test", "resample", "mixture")  # that show how a method came to it


def published(subject: Subject) -> Chapter | None:
    """Give the chapter on the published methods; None where nothing was compared."""
    lines = written_of(subject)
    candidates: list[dict[str, Any]] = [
        {
            "variant": one.variant,
            "methods": (
                _ours(found, lines[one.variant], subject.data.unit),
                *one.panel.methods,
            ),
            "disagreements": one.panel.disagreements,
        }
        for one in subject.candidates
        if one.panel is not None and (found := one.multilevel) is not None and found.benchmarks
    ]
    if not candidates:
        return None
    source = [f"{subject.sources[0]}:" + candidates[0]["variant"]] if subject.trial else ()
    note = f"; {ONE_VALUE}" if sessions_are_runs(subject.verdict) else ""
    lead = f"They ask different questions of the same runs{note}."
    values = {
        "lead": lead,
        "baseline": subject.baseline,
        "candidates": candidates,
        "commands": [subject.command(one, of=source) for one in _COMMANDS],
    }
    title = "What the published methods say of the same runs"
    blocks = partial(_by_method, subject.anchor("panel"), values)
    return chapter_of(subject, "panel", title, blocks, lead=lead, values=values)


def _ours(found: Multilevel, lines: Mapping[str, Written], unit: str) -> MethodRow:
    """Give the session interval as a method's answer, with the numbers as the first screen writes them."""
    line = found.these if found.these is not None else found.benchmarks[0]
    row = lines[line.name]
    answer = f"{word(line, unit)}, {row.speedup.text}x {row.interval}".rstrip()
    return MethodRow(
        method="fairtrial",
        unit=_UNITS.get(found.design, found.outermost),
        estimand="ratio of geometric means",
        word=line.outcome,
        value=line.speedup,
        low=line.low,
        high=line.high,
        answer=answer if row.speedup.text else "no estimate",
    )


def _by_method(anchor: str, values: Mapping[str, Any]) -> Iterator[Section]:
    yield section(values["lead"])
    for number, one in enumerate(values["candidates"], 1):
        name, pair = f"{anchor}-{number}", f"{one['variant']} over {values['baseline']}"
        alt = f"speedup of {pair}, by each method that gives one"
        texts = [text for text in one["methods"] if text.method not in _NO_RATIO and text.value]
        picture = Figure(name=f"{name}-ratios", alt=alt, draw=partial(_ratios, texts))
        yield section(
            *([picture] if texts else []),
            methods_table(name, one["methods"]),
            reasons_section(one["disagreements"]),
            title=one["variant"],
        )
    yield section(*map(CommandLine, values["commands"]), title="How each came to its answer")


def _ratios(texts: Sequence[MethodRow]) -> Picture:
    ratios = [n for one in texts for n in (one.value, one.low, one.high) if n is not None and n > 0]
    axes = rows_down([one.method for one in texts])
    ratio_axis(axes, "x", ratio_scale(filter(math.isfinite, ratios)))
    for k, one in enumerate(texts):
        ends = None if one.low is None or one.high is None else (one.low, one.high)
        style = style_of(one.word or "undecided")
        axes.interval(k, one.value or axes.x.low, ends, style, hollow=style == "neither")
    return arranged(_SHEET, [[axes]], rows_high(_SHEET, len(texts), 1.5))


# --- The suite as a whole: the runs of each benchmark as boxes, the ranking of the variants, the biplot.


_FEWEST, _MOST = 3, 24  # variants that are ranked on a page


def suite(subject: Subject) -> Chapter | None:
    """Give the chapter on the suite; None where there is one benchmark only, or the baseline has no runs."""
    base = subject.matrices.get(subject.baseline)
    if base is None or len(base.benchmarks) < 2:
        return None
    blocks, lead = partial(_of_suite, subject), "boxes of all runs, ranking, biplot"
    return chapter_of(subject, "suite", "The suite as a whole", blocks, lead=lead)


def _of_suite(subject: Subject) -> Iterator[Section]:
    yield section(picture_of("box", subject), title="All runs of each benchmark")
    missing = []
    if len(subject.matrices) < _FEWEST:
        missing.append("A ranking and a biplot need three variants or more.")
    else:
        try:
            yield _ranking(subject)
        except AnalysisError as error:
            missing.append(f"No ranking: {error.what}.")
        try:
            yield section(picture_of("biplot", subject), title="Biplot")
        except AnalysisError as error:
            missing.append(f"No biplot: {error.what}.")
    again = CommandLine(subject.command("plot box", "-o", "box.svg"))
    yield section(*missing, "The boxes with their numbers:", again)


def _ranking(subject: Subject) -> Section:
    """Rank the variants of a trial, best first; raises an `AnalysisError` where they cannot be compared."""
    trial, asked, verdict = subject.trial, subject.options, subject.verdict
    variants = tuple(subject.matrices)
    if trial is None or len(variants) > _MOST:
        raise InsufficientDataError(
            f"a page ranks up to {_MOST} variants of one trial", n=len(variants), needed=_FEWEST
        )
    found = rank_variants(
        trial,
        metric=verdict.data.metric,
        confidence=verdict.question.confidence,
        variants=variants,
        benchmarks=asked.get("benchmarks"),
        margin=verdict.question.margin,
        weights=asked.get("weights"),
        looks=1 if verdict.look.always_valid else asked.get("looks"),
        ranked=False,
    )
    text = (
        f"Each of {len(found.pairs)} pairs is compared over the suite by its {found.sessions} sessions "
        f"(t, {100 * found.confidence:g} %, corrected after Holm)."
    )
    if verdict.look.always_valid:
        text += " These intervals are those of one look, not the ones that hold at every look."
    return section(_ranks(f"{subject.anchor('suite')}-ranks", found), text, title="Ranking")


def _ranks(name: str, found: Ranking) -> Table:
    alike = {
        frozenset((pair.candidate, pair.baseline))
        for pair in found.pairs
        if pair.outcome not in ("faster", "slower")
    }

    def not_apart(place: RankRange) -> str:
        others = (other.variant for other in found.places)
        return ", ".join(one for one in others if frozenset((place.variant, one)) in alike)

    return table_of(
        name,
        found.places,
        ("<rank", lambda place: Value(span((place.best, place.worst)), place.best)),
        ("@variant", "variant"),
        ("<not separated from", not_apart),
    )


# --- Where the variation of one trial comes from: what ``fairtrial sources`` says.


_SEED = 0  # that of the command, which gives the same numbers
_CONFIDENCE = 0.95  # likewise


def variation(subject: Subject) -> Chapter | None:
    """Give the chapter on the sources of variation; None where there are too few runs for it.

    Raises
    ------
    UsageError
        If the report is not on one trial or fleet.
    """
    trial = subject.trial
    if trial is None:
        what = "the sources of variation are those of one trial"
        fix = "leave out --sources, or name one trial: fairtrial sources takes several"
        raise UsageError(what, " ".join(subject.sources), fix)
    # the trial of a fleet takes each host as one session; the sources of variation have both
    fleet = is_fleet(trial.path)
    trials, known = trials_apart(open_fleet(trial.path)) if fleet else ((trial,), ())
    metric, confidence = subject.data.metric, subject.verdict.question.confidence
    rng = stream(_SEED, "sources")
    with suppress(InsufficientDataError):
        found = sources(trials, metric=metric, confidence=confidence, rng=rng, seed=_SEED)
        page = replace(found, cautions=merged(known, found.cautions)).screen()
        anchor = subject.anchor("variation")

        def own(block: Block) -> Block:
            """Name a table so that those of two metrics differ."""
            if isinstance(block, Section):
                return replace(block, blocks=tuple(map(own, block.blocks)))
            if isinstance(block, Table):
                return replace(block, name=f"{anchor}-{block.name}")
            return block

        asked = [] if confidence == _CONFIDENCE else ["--confidence", f"{confidence:g}"]
        command = CommandLine(subject.command("sources", *asked, of=[str(trial.path)]))

        def sections() -> Iterator[Section]:
            yield from (replace(one, blocks=tuple(map(own, one.blocks))) for one in page.sections)
            if doubts := [one.text for one in page.cautions]:
                yield section(*doubts, title="What this cannot show")
            yield section(command, title="The same alone")

        return chapter_of(subject, "variation", "Where the variation comes from", sections)
    return None
