"""The panel on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...report import Column, Section, Sentence, Table, figures
from .result import Panel

if TYPE_CHECKING:
    from ..result import Verdict

__all__ = ["panel_section"]

_NAME = 24


def panel_section(verdict: Verdict, variant: str, panel: Panel) -> Section:
    """Set what the methods say of one candidate, and why they differ."""
    ours, theirs = (figures.shorten(name, _NAME) for name in (variant, verdict.baseline))
    places = [one.variant for one in verdict.candidates]
    table = Table(
        name=f"methods-{places.index(variant) + 1}",
        columns=(
            Column("method", "left"),
            Column("unit; estimand", "left"),
            Column("answer", "left"),
        ),
        rows=tuple(
            (one.method, f"{one.unit}s; {one.estimand}", one.answer) for one in panel.methods
        ),
    )
    told = [Sentence(one.text) for one in panel.disagreements]
    reasons = Section(tuple(told) or (Sentence("they do not differ"),), title="why they differ")
    return Section(
        (table, reasons),
        title=f"the published methods on the same data, {ours} against {theirs}",
    )
