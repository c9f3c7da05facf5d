"""The panel on a page."""

from __future__ import annotations

from ...report import Column, Section, Sentence, Table, figures
from .result import Panel

__all__ = ["panel_section"]

_NAME = 24


def panel_section(variant: str, baseline: str, panel: Panel, number: int) -> Section:
    """Set what the methods say of one candidate, the trial's `number`-th, and why they differ."""
    ours, theirs = (figures.shorten(name, _NAME) for name in (variant, baseline))
    table = Table(
        name=f"methods-{number}",
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
