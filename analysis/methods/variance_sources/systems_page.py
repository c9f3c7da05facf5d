"""Variation across systems in words and as a picture."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...pages import number_format as figures
from ...pages.model import (
    Block,
    Cell,
    Figure as PageFigure,
    Section,
    Sentence,
    Table,
    Value,
    columns_of,
    value_of,
)
from ...words import shorten
from .systems_picture import systems_picture

if TYPE_CHECKING:
    from .result import Across, Agreement, Dependence, DependencePoint, Sources

_SHOWN = 12  # covariates in a table
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
    out = "families" if found.importance_of == "grouped" else "rows"
    agreed = _table(
        f"agreement{end}",
        f"<held out; correlation; {100 * found.random.confidence:g} % interval; RMSE; median error; "
        "explained; trees",
        _agreement(found),
    )
    title = f"predicting {name}" if several else ""
    yield Section((*map(Sentence, _answers(found)), agreed), title=title)
    yield Section(
        _longest(
            f"Importance: the squared error that predictions of held-out {out} gain when a covariate is "
            "shuffled, as a share of the response's variance (mean and sd of the repeats). It tells what "
            "predicts, not what causes.",
            f"importance{end}",
            "<covariate; importance; sd",
            [
                (_name(one.factor), _share(one.mean), _share(one.sd, "{:.2f} %"))
                for one in found.importance
            ],
        ),
        title="what the predictions rest on",
    )
    if found.influence:
        lost = {one.factor: one.mean for one in found.importance}
        yield Section(
            _longest(
                "Relative influence (Friedman 2001; published as such): what the splits by a covariate took "
                "from the squared error of the rows that were learned from, in shares of 100 %, however "
                "well others are predicted. Beside it the importance from above.",
                f"influence{end}",
                "<covariate; influence; importance",
                [
                    (_name(one.factor), _share(one.share), _share(lost[one.factor]))
                    for one in found.influence
                ],
            ),
            title="relative influence",
        )
    if found.dependence:
        said = (
            "Mean prediction when every row is given one value of a covariate, all others as they are; "
            "--json gives the curves."
        )
        headings = "<covariate; <least at; predicted; <most at; predicted"
        rows = ((_name(one.factor), *_end(one, min), *_end(one, max)) for one in found.dependence)
        table = _table(f"dependence{end}", headings, rows)
        yield Section((Sentence(said), table), title="partial dependence")
    alt = (
        f"{name}: predicted against measured values of held-out rows"
        f"{'' if found.grouped is None else ' and of held-out families'}, bars of the importance of each "
        "covariate, a histogram of the systems, and curves of the mean prediction over the most "
        "important covariates. The tables give the numbers"
    )
    draw = partial(systems_picture, (found,))
    yield Section((PageFigure(name=f"systems{end}", alt=alt, draw=draw),))


def _answers(found: Across) -> list[str]:
    name = shorten(found.response, 60)
    once = "" if found.test_share is None else f" ({100 * found.test_share:g} %, once)"
    random = f"of systems held out at random{once}, predicted and measured {name} correlate by "
    said = [f"{random}{_correlation(found.random)}"]
    if found.grouped is not None:
        said[0] += (
            f"; of families held out as a whole ({found.families:,} by "
            f"{_name(found.group or '')!r}), by {_correlation(found.grouped)}"
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


def _agreement(found: Across) -> Iterator[tuple[Cell, ...]]:
    for label, one in (("rows at random", found.random), ("whole families", found.grouped)):
        if one is not None:
            r, relative = one.correlation, one.relative_error
            yield (
                label if found.test_share is None else f"{label}: {one.rows:,}",
                "-" if r is None else Value(f"{r:.3f}", r),
                "-" if one.low is None or one.high is None else f"[{one.low:.3f}, {one.high:.3f}]",
                Value(figures.significant(one.rmse), one.rmse),
                "-" if relative is None else Value(f"{100 * relative:.2g} %", relative),
                Value(f"{100 * one.explained:.1f} %", one.explained),
                value_of(statistics.median(one.trees), "{:.0f}".format),
            )


def _longest(
    said: str, name: str, headings: str, rows: Sequence[tuple[Cell, ...]]
) -> tuple[Block, ...]:
    """Give what is said, the first rows as a table, and the number of the others."""
    left = len(rows) - _SHOWN
    rest = (Sentence(f"and {left} more, each less (--json gives all)"),) if left > 0 else ()
    return (Sentence(said), _table(name, headings, rows[:_SHOWN]), *rest)


def _table(name: str, headings: str, rows: Iterable[tuple[Cell, ...]]) -> Table:
    return Table(name=name, columns=columns_of(*headings.split("; ")), rows=tuple(rows))


def _name(name: str) -> str:
    return shorten(name, _NAME_IN_TEXT)


def _share(share: float, form: str = "{:z.2f} %") -> Value:
    return Value(form.format(100 * share), share)


def _end(one: Dependence, chosen: Callable[..., DependencePoint]) -> tuple[Cell, Cell]:
    point = chosen(one.points, key=lambda point: point.mean)
    at = point.at if isinstance(point.at, str) else f"{point.at:.6g}"
    return shorten(at, 24), Value(figures.significant(point.mean, 4), point.mean)
