"""Variation across systems in words and as a picture."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...pages import number_format as figures
from ...pages.model import (
    Block,
    Cell,
    Column,
    Figure as PageFigure,
    Section,
    Sentence,
    Table,
    Value,
)
from ...words import shorten

if TYPE_CHECKING:
    from .result import Across, Agreement, Sources
from .systems_picture import systems_picture

_IMPORTANT, _INFLUENTIAL = 12, 10  # covariates in the tables
_NAME_IN_TEXT = 40


def system_sections(found: Sources) -> tuple[Section, ...]:
    """Give what is to be said; nothing where there is nothing."""
    several = len(found.systems) > 1
    return tuple(
        part
        for number, one in enumerate(found.systems, 1)
        for part in _of_response(one, f"-{number}" if number > 1 else "", several=several)
    )


def systems_said(responses: Sequence[Across]) -> str:
    """Give the answers in one line, for who does not see the picture."""
    return " ".join(text for one in responses for text in _answers(one))


def _of_response(found: Across, end: str, *, several: bool) -> Iterator[Section]:
    name = shorten(found.response, 60)
    answer = map(Sentence, _answers(found))
    yield Section((*answer, _agreement(found, end)), title=f"predicting {name}" if several else "")
    yield _importance(found, end)
    if found.influence:
        yield _influence(found, end)
    if found.dependence:
        rows: list[tuple[Cell, ...]] = []
        for one in found.dependence:
            cells: list[Cell] = [shorten(one.factor, _NAME_IN_TEXT)]
            for chosen in (min, max):
                point = chosen(one.points, key=lambda point: point.mean)
                at = point.at if isinstance(point.at, str) else f"{point.at:.6g}"
                cells += [shorten(at, 24), Value(figures.significant(point.mean, 4), point.mean)]
            rows.append(tuple(cells))
        table = Table(
            name=f"dependence{end}",
            columns=(
                *(Column("covariate", "left"), Column("least at", "left"), Column("predicted")),
                *(Column("most at", "left"), Column("predicted")),
            ),
            rows=tuple(rows),
        )
        said = Sentence(
            "Mean prediction when every row is given one value of a covariate, all others as they are; "
            "--json gives the curves."
        )
        yield Section((said, table), title="partial dependence")
    parts = "predicted against measured values of held-out rows"
    if found.grouped is not None:
        parts += " and of held-out families"
    alt = (
        f"{name}: {parts}, bars of the importance of each covariate, a histogram of the systems, and "
        "curves of the mean prediction over the most important covariates. The tables give the numbers"
    )
    draw = partial(systems_picture, (found,))
    yield Section((PageFigure(name=f"systems{end}", alt=alt, draw=draw),))


# --- the answer ------------------------------------------------------------------------------------


def _answers(found: Across) -> list[str]:
    name = shorten(found.response, 60)
    once = "" if found.test_share is None else f" ({100 * found.test_share:g} %, once)"
    random = f"of systems held out at random{once}, predicted and measured {name} correlate by "
    said = [f"{random}{_correlation(found.random)}"]
    if found.grouped is not None:
        said[0] += (
            f"; of families held out as a whole ({found.families:,} by "
            f"{shorten(found.group or '', _NAME_IN_TEXT)!r}), by {_correlation(found.grouped)}"
        )
    said[0] = f"{said[0][0].upper()}{said[0][1:]}."
    if found.ceiling is not None:
        share = f"{100 * found.ceiling.noise_share:.3g} %"
        said.append(
            f"No prediction can pass a correlation of {found.ceiling.correlation:.3f}, but by "
            f"chance: {share} of the variance is the noise of the measurement itself."
        )
    if found.strictest.explained <= 0:
        said.append(
            "The mean of all systems predicts as well as these covariates do: they tell nothing "
            "of systems like those held out."
        )
    return said


def _correlation(agreement: Agreement) -> str:
    if agreement.correlation is None:
        return "nothing that can be told (no prediction differs)"
    text = f"{agreement.correlation:.3f}"
    if agreement.low is None or agreement.high is None:
        return text
    return f"{text} [{agreement.low:.3f}, {agreement.high:.3f}]"


def _agreement(found: Across, end: str) -> Table:
    both = [("rows at random", found.random)]
    if found.grouped is not None:
        both.append(("whole families", found.grouped))
    if found.test_share is not None:
        both = [(f"{label}: {one.rows:,}", one) for label, one in both]
    rows: list[tuple[Cell, ...]] = []
    for label, one in both:
        r, relative = one.correlation, one.relative_error
        rows.append(
            (
                label,
                "-" if r is None else Value(f"{r:.3f}", r),
                "-" if one.low is None or one.high is None else f"[{one.low:.3f}, {one.high:.3f}]",
                Value(figures.significant(one.rmse), one.rmse),
                "-" if relative is None else Value(f"{100 * relative:.2g} %", relative),
                Value(f"{100 * one.explained:.1f} %", one.explained),
                Value(f"{statistics.median(one.trees):.0f}", statistics.median(one.trees)),
            )
        )
    return Table(
        name=f"agreement{end}",
        columns=(
            *(Column("held out", "left"), Column("correlation")),
            Column(f"{100 * found.random.confidence:g} % interval"),
            *map(Column, ("RMSE", "median error", "explained", "trees")),
        ),
        rows=tuple(rows),
    )


# --- what it rests on ------------------------------------------------------------------------------


def _importance(found: Across, end: str) -> Section:
    out = "families" if found.importance_of == "grouped" else "rows"
    said = (
        f"Importance: the squared error that predictions of held-out {out} gain when a covariate is "
        "shuffled, as a share of the response's variance (mean and sd of the repeats). It tells what "
        "predicts, not what causes."
    )
    table = Table(
        name=f"importance{end}",
        columns=(Column("covariate", "left"), Column("importance"), Column("sd")),
        rows=tuple(
            (
                shorten(one.factor, _NAME_IN_TEXT),
                Value(f"{100 * one.mean:z.2f} %", one.mean),
                Value(f"{100 * one.sd:.2f} %", one.sd),
            )
            for one in found.importance[:_IMPORTANT]
        ),
    )
    blocks: list[Block] = [Sentence(said), table]
    if rest := found.importance[_IMPORTANT:]:
        most = f"{100 * max(rest[0].mean, 0):.2f} %"
        blocks.append(Sentence(f"and {len(rest)} more, each at most {most} (--json gives all)"))
    return Section(tuple(blocks), title="what the predictions rest on")


def _influence(found: Across, end: str) -> Section:
    lost = {one.factor: one.mean for one in found.importance}
    said = (
        "Relative influence (Friedman 2001; published as such): what the splits by a covariate took from "
        "the squared error of the rows that were learned from, in shares of 100 %, however well others "
        "are predicted. Beside it the importance from above."
    )
    top, rest = found.influence[:_INFLUENTIAL], found.influence[_INFLUENTIAL:]
    table = Table(
        name=f"influence{end}",
        columns=(Column("covariate", "left"), Column("influence"), Column("importance")),
        rows=tuple(
            (
                shorten(one.factor, _NAME_IN_TEXT),
                Value(f"{100 * one.share:.2f} %", one.share),
                Value(f"{100 * lost[one.factor]:z.2f} %", lost[one.factor]),
            )
            for one in top
        ),
    )
    blocks: list[Block] = [Sentence(said), table]
    if rest:
        together = f"{100 * sum(one.share for one in rest):.2f} %"
        blocks.append(Sentence(f"and {len(rest)} more, together {together} (--json gives all)"))
    return Section(tuple(blocks), title="relative influence")
