"""What else is said of the same runs: by the published methods, of the suite as a whole, and where the variation comes from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from ..data.fleet import open_fleet, trials_apart
from ..diagnose.modes import sources
from ..errors import AnalysisError, InsufficientDataError, UsageError
from ..methods.multilevel.result import Multilevel
from ..pages.model import (
    Block,
    CommandLine,
    Figure,
    Section,
    Table,
    Value,
    merged,
    section,
    table_of,
)
from ..pages.number_format import span
from ..plots.axes import Picture, Sheet, ratio_axis, ratio_scale, rows_down
from ..plots.chart import arranged
from ..plots.marks import style_of
from ..record.fleet import is_fleet
from ..stats.arguments import stream
from ..verdict.panel import ONE_VALUE, methods_table, reasons_section, sessions_are_runs
from ..verdict.ranking import Ranking, RankRange, rank_variants
from ..verdict.result import MethodRow
from ..verdict.sentence import word
from .assembling import Chapter, chapter_of, picture_of
from .figures import rows_high
from .subject import Subject
from .written import Written, written_of

# --- The published methods: the table of ``verdict --explain``, and a picture of it.


_SHEET = Sheet(width=85.0)  # mm: a telephone's page
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
_USUAL = 0.95


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

        asked = [] if confidence == _USUAL else ["--confidence", f"{confidence:g}"]
        command = CommandLine(subject.command("sources", *asked, of=[str(trial.path)]))

        def sections() -> Iterator[Section]:
            yield from (replace(one, blocks=tuple(map(own, one.blocks))) for one in page.sections)
            if doubts := [one.text for one in page.cautions]:
                yield section(*doubts, title="What this cannot show")
            yield section(command, title="The same alone")

        return chapter_of(subject, "variation", "Where the variation comes from", sections)
    return None
