"""Variation across systems in words: how well it is predicted, by what, and what that does not say."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import partial

from ....report import (
    Block,
    Cell,
    Column,
    Figure,
    Section,
    Sentence,
    Table,
    Value,
    figures,
)
from ..result import Sources
from .plots import systems_figure
from .result import Across, Agreement, Dependence

__all__ = ["sections", "systems_said"]

_IMPORTANT = 12  # covariates in the table
_NAME = 40


def sections(found: Sources) -> tuple[Section, ...]:
    """Give what is to be said; nothing where there is nothing."""
    return tuple(
        part
        for number, one in enumerate(found.systems, 1)
        for part in _of_response(one, number, several=len(found.systems) > 1)
    )


def systems_said(responses: Sequence[Across]) -> str:
    """Give the answers in one line, for who does not see the picture."""
    return " ".join(text for one in responses for text in _answers(one))


def _of_response(found: Across, number: int, *, several: bool) -> tuple[Section, ...]:
    end = f"-{number}" if number > 1 else ""
    name = figures.shorten(found.response, 60)
    answer: list[Block] = [Sentence(text) for text in _answers(found)]
    return (
        Section((*answer, _agreement(found, end)), title=f"predicting {name}" if several else ""),
        Section(
            (Sentence(_importance_said(found)), _importance(found, end), *_rest(found)),
            title="what the predictions rest on",
        ),
        *_curves(found, end),
        Section((_picture(found, end),)),
    )


# --- the answer ------------------------------------------------------------------------------------


def _answers(found: Across) -> list[str]:
    name = figures.shorten(found.response, 60)
    random = f"of systems held out at random, predicted and measured {name} correlate by "
    said = [f"{random}{_correlation(found.random)}"]
    if found.grouped is not None:
        said[0] += (
            f"; of families held out as a whole ({found.families:,} by "
            f"{figures.shorten(found.group or '', _NAME)!r}), by {_correlation(found.grouped)}"
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
    rows: list[tuple[Cell, ...]] = []
    for label, one in both:
        relative = one.relative_error
        rows.append(
            (
                label,
                "-"
                if one.correlation is None
                else Value(f"{one.correlation:.3f}", one.correlation),
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
            Column("held out", "left"),
            Column("correlation"),
            Column(f"{100 * found.random.confidence:g} % interval"),
            Column("RMSE"),
            Column("median error"),
            Column("explained"),
            Column("trees"),
        ),
        rows=tuple(rows),
    )


# --- what it rests on ------------------------------------------------------------------------------


def _importance_said(found: Across) -> str:
    out = "families" if found.importance_of == "grouped" else "rows"
    return (
        f"Importance: the squared error that predictions of held-out {out} gain when a covariate is "
        "shuffled, as a share of the response's variance (mean and sd of the repeats). It tells what "
        "predicts, not what causes."
    )


def _importance(found: Across, end: str) -> Table:
    return Table(
        name=f"importance{end}",
        columns=(Column("covariate", "left"), Column("importance"), Column("sd")),
        rows=tuple(
            (
                figures.shorten(one.factor, _NAME),
                Value(f"{100 * one.mean:z.2f} %", one.mean),
                Value(f"{100 * one.sd:.2f} %", one.sd),
            )
            for one in found.importance[:_IMPORTANT]
        ),
    )


def _rest(found: Across) -> tuple[Block, ...]:
    rest = found.importance[_IMPORTANT:]
    if not rest:
        return ()
    return (
        Sentence(
            f"and {len(rest)} more, each at most {100 * max(rest[0].mean, 0):.2f} % (--json gives all)"
        ),
    )


def _curves(found: Across, end: str) -> tuple[Section, ...]:
    if not found.dependence:
        return ()
    table = Table(
        name=f"dependence{end}",
        columns=(
            Column("covariate", "left"),
            Column("least at", "left"),
            Column("predicted"),
            Column("most at", "left"),
            Column("predicted"),
        ),
        rows=tuple(_ends(one) for one in found.dependence),
    )
    said = Sentence(
        "Mean prediction when every row is given one value of a covariate, all others as they are; "
        "--json gives the curves."
    )
    return (Section((said, table), title="partial dependence"),)


def _ends(one: Dependence) -> tuple[Cell, ...]:
    low = min(one.points, key=lambda point: point.mean)
    high = max(one.points, key=lambda point: point.mean)
    cells: list[Cell] = [figures.shorten(one.factor, _NAME)]
    for point in (low, high):
        at = point.at if isinstance(point.at, str) else f"{point.at:.6g}"
        cells += [figures.shorten(at, 24), Value(figures.significant(point.mean, 4), point.mean)]
    return tuple(cells)


def _picture(found: Across, end: str) -> Figure:
    parts = "predicted against measured values of held-out rows"
    if found.grouped is not None:
        parts += " and of held-out families"
    return Figure(
        name=f"systems{end}",
        alt=f"{figures.shorten(found.response, 60)}: {parts}, bars of the importance of each "
        "covariate, and curves of the mean prediction over the most important ones. The tables give "
        "the numbers",
        draw=partial(systems_figure, (found,)),
    )
