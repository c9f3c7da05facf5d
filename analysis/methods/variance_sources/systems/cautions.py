"""What a reader of predictions across systems should know."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....formats import TableColumn
from ....report import Caution, figures
from .design import MOST_LEVELS, Design
from .responses import Response
from .result import Across

__all__ = ["across_cautions", "table_cautions"]

_FEW_FAMILIES = 10
_NAME = 30
_LEAKS = 0.01  # of a correlation, from which random and grouped splits are said to differ


def table_cautions(
    design: Design, *, group: str | None, families: int | None, without_family: int
) -> Iterator[Caution]:
    """Say what the table's columns allow."""
    yield Caution(
        "prediction-is-no-cause",
        "nothing was changed on purpose between these systems: what predicts the response need not "
        "cause it, and covariates that go together share their importance. A cause is shown by an "
        "experiment",
    )
    if group is None:
        yield Caution(
            "families-unknown",
            "rows were held out at random only: where sister systems stand in the table, they are "
            "predicted by looking up their sisters. Name what they share: --group COLUMN",
        )
    if families is not None and families < _FEW_FAMILIES:
        yield Caution(
            "few-families",
            f"there are {families} families only: the grouped correlation and its interval rest on "
            "few",
        )
    if without_family:
        yield Caution(
            "rows-without-family",
            f"{without_family:,} rows have no {figures.shorten(group or '', _NAME)!r}: they were "
            "held out together, as one family",
        )
    for column in design.columns:
        if _numbers_rows(column):
            yield Caution(
                "covariate-numbers-rows",
                f"the column {figures.shorten(column.name, _NAME)!r} holds each whole number of a "
                "range once: if it numbers the rows, --ignore it",
                (column.name,),
            )
    pooled = design.pooled()
    if pooled:
        named = figures.listed([repr(figures.shorten(name, _NAME)) for name in pooled], 4)
        yield Caution(
            "levels-pooled",
            f"more than {MOST_LEVELS} levels: {named}. In each fold the most frequent "
            f"{MOST_LEVELS} count, and the others as one",
            pooled,
        )


def across_cautions(found: Across, response: Response) -> Iterator[Caution]:
    """Say what one response's answer lacks."""
    about = (response.name,)
    said = figures.shorten(response.name, 60)
    if response.left_out:
        why = (
            "their runs are too few, or do not differ at all and have no logarithm"
            if response.kind == "variation"
            else "the cell is empty"
        )
        yield Caution(
            "rows-without-response",
            f"{response.left_out:,} of {response.left_out + len(response.rows):,} rows have no "
            f"{said}, and were left out: {why}",
            about,
        )
    if found.ceiling is None:
        yield Caution(
            "ceiling-unknown",
            f"how exactly {said} was measured is not known, and so not how well it could be "
            "predicted at best: name its runs (--response A,B,C), or the standard deviation and "
            "number of them (--variation COLUMN --runs N)",
            about,
        )
    elif found.ceiling.correlation == 0:
        yield Caution(
            "response-is-noise",
            f"{said} varies no more between the rows than its own noise explains: there is nothing "
            "to predict",
            about,
        )
    if found.grouped is not None and _far(found):
        yield Caution(
            "random-split-leaks",
            f"{said} of a row held out at random is predicted better than that of a family never "
            "seen: sister systems stand on both sides of a random split. The grouped correlation is "
            "the one for new systems",
            about,
        )


def _numbers_rows(column: TableColumn) -> bool:
    values = column.values
    if not column.numeric or not column.known.all():
        return False
    return bool(np.array_equal(np.sort(values), values.min() + np.arange(len(values))))


def _far(found: Across) -> bool:
    one = found.random.correlation
    two = None if found.grouped is None else found.grouped.correlation
    if one is None or two is None or one - two <= _LEAKS:
        return False
    return found.random.low is None or found.random.low > 0  # what is not predicted leaks nothing
