"""The HPT report as one HTML page that needs nothing else: no script, no outside request."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ...report import figures
from .curve import HptCurve
from .page import hpt_pvalues
from .report import HptReport

__all__ = ["hpt_page"]

_WIDTH, _HEIGHT = 720, 300  # of the curve's drawing area, in SVG units
_SHOWN = 5e-4  # confidences nearer to 0 or 1 are flat to the eye


def hpt_page(report: HptReport) -> str:
    """Give the page; every name in it is escaped."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["number"] = lambda value: figures.significant(value, 4)
    tested = report.tested
    names = {"candidate": tested.candidate, "baseline": tested.baseline, "tie": "tie"}
    return environment.get_template("page.html.jinja").render(
        report=report,
        tested=tested,
        names=names,
        pvalues=hpt_pvalues(tested),
        context=str(report.context).splitlines(),
        drawing=_drawing(report.best.curve, report),
        width=_WIDTH,
        height=_HEIGHT,
    )


def _drawing(curve: HptCurve, report: HptReport) -> dict[str, object]:
    """Give the curve's polyline and marks in SVG coordinates, over the speedups that matter."""
    inside = (np.minimum(curve.between[:-1], curve.between[1:]) < 1 - _SHOWN) & (
        np.maximum(curve.between[:-1], curve.between[1:]) > _SHOWN
    )
    shown = curve.speedups[inside].tolist()
    tested = report.tested.speedup_under_test
    marks = [(f"tested {tested:g}", tested)]
    if report.best.value is not None:
        marks.append((f"largest {report.best.printed}", report.best.value))
    every = [*shown, *(g for _, g in marks)]
    low, high = min(every) / 1.03, max(every) * 1.03

    def x(g: float) -> float:
        return round(float((g - low) / (high - low) * _WIDTH), 2)

    def y(confidence: float) -> float:
        return round(float((1 - confidence) * _HEIGHT), 2)

    steps = curve.speedups[(curve.speedups > low) & (curve.speedups < high)]
    first = int(np.searchsorted(curve.speedups, low, side="right"))
    level = float(curve.between[first])
    points = [f"0,{y(level)}"]
    for k, g in enumerate(steps.tolist(), first):
        points += [f"{x(g)},{y(level)}", f"{x(g)},{y(float(curve.between[k + 1]))}"]
        level = float(curve.between[k + 1])
    points.append(f"{_WIDTH},{y(level)}")
    step = float(10 ** np.floor(np.log10(high - low)))
    step = next(s for s in (step / 10, step / 5, step / 2, step, 2 * step) if (high - low) / s <= 9)
    ticks = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
    return {
        "points": " ".join(points),
        "marks": [(x(g), text) for text, g in marks],
        "required": (y(report.tested.required), f"{report.tested.required:g}"),
        "ticks": [(x(g), f"{g:.4g}") for g in ticks.tolist()],
        "levels": [(y(c), f"{c:g}") for c in (0.0, 0.25, 0.5, 0.75, 1.0)],
    }
