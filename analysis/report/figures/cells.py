"""The runs of one benchmark, variant by variant, as figures draw and count them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...errors import AnalysisError, InsufficientDataError
from ...pages.number_format import quantity
from ...plots.palette import COLOURS, style_of
from ..runs import Cell, cells_of

if TYPE_CHECKING:
    from ...methods.multilevel.result import BenchmarkLine
    from ..subject import Subject
    from .layout import Number

__all__ = ["cells_and_styles", "check_order", "line_of", "numbers_of", "told_of"]


def line_of(subject: Subject, variant: str, benchmark: str) -> BenchmarkLine | None:
    """Give what the verdict says of a candidate on a benchmark."""
    for one in subject.candidates:
        if one.variant == variant and one.multilevel is not None:
            lines = (line for line in one.multilevel.benchmarks if line.name == benchmark)
            return next(lines, None)
    return None


def cells_and_styles(
    subject: Subject, benchmark: str
) -> tuple[Mapping[str, Cell], Mapping[str, str]]:
    """Give each variant's runs, the baseline's first, and the roles that they are drawn in.

    These are the baseline's, its word's of one candidate, colours and dashes of their own of several.
    """
    cells = cells_of(subject, benchmark)
    if not cells:
        raise InsufficientDataError(f"no run of {benchmark!r} counts", n=0, needed=1)
    candidates = [name for name in subject.matrices if name != subject.baseline]
    styles = {subject.baseline: "baseline"}
    for k, name in enumerate(candidates):
        line = line_of(subject, name, benchmark)
        place = k % len(COLOURS)
        word = "undecided" if line is None else line.outcome
        styles[name] = f"c{place} d{place}" if len(candidates) > 1 else style_of(word)
    return cells, styles


def word_styles(subject: Subject, benchmark: str) -> dict[str, str]:
    """Give the role that each variant is drawn in on a page: the baseline's, or its word's."""
    lines = {name: line_of(subject, name, benchmark) for name in subject.matrices}
    return {
        name: style_of(
            None if name == subject.baseline else "undecided" if line is None else line.outcome
        )
        for name, line in lines.items()
    }


def check_order(
    subject: Subject, cells: Mapping[str, Cell], benchmark: str, fix: str = "give a trial"
) -> None:
    """Refuse runs of which nobody knows the order."""
    if not subject.trials and any(cell.block is None for cell in cells.values()):
        raise AnalysisError(
            "the order of these runs is unknown: the files name no blocks", benchmark, fix
        )


def told_of(subject: Subject, benchmark: str, cells: Mapping[str, Cell]) -> str:
    """Say of each variant how many runs there are, where their middle is, and how far they reach."""
    unit = subject.verdict.unit
    told = []
    for variant, cell in cells.items():
        sessions = "" if cell.labels == ("",) else f" in {len(cell.labels)} sessions"
        median, low, high = (quantity(v, unit) for v in (float(np.median(cell.values)), *cell.ends))
        told.append(
            f"{variant}: {cell.values.size} runs{sessions}, median {median}, {low} to {high}"
        )
    return f"{subject.verdict.metric} of {benchmark}, {subject.verdict.better} is better. {'. '.join(told)}."


def numbers_of(cells: Mapping[str, Cell]) -> tuple[tuple[Number, ...], ...]:
    """Give each run with its variant, session and block."""
    return tuple(
        (variant, cell.labels[session] or None, block, value)
        for variant, cell in cells.items()
        for session, block, value in zip(
            cell.session.tolist(),
            [None] * cell.values.size if cell.block is None else cell.block.tolist(),
            cell.values.tolist(),
            strict=True,
        )
    )
