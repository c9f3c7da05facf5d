"""Mixtures of normal laws over the histogram of the runs, with what limits them in the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...data.matrix import PerformanceMatrix
from ...errors import InsufficientDataError
from ...methods.mixture.benchmark_page import draw_density, window_of
from ...methods.mixture.report import MixtureOptions, mixture_report
from ...plots.palette import PRINT
from ...plots.paper import quantity_axis
from ...plots.scale import Scale
from ...stats.arguments import stream
from .cells import cells_of
from .layout import fresh, name_of, names_of, note, panels, rows_high
from .result import Drawing

if TYPE_CHECKING:
    from ...plots.drawing import Sheet
    from ..subject import Subject

__all__ = ["draw_modes"]

_SEED = 0
_MOST = 6  # variants


def draw_modes(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a row for each variant.

    Raises
    ------
    InsufficientDataError
        If no variant has a mixture.
    """
    cells = cells_of(subject, benchmark)[:_MOST]
    matrices = [
        PerformanceMatrix.from_samples(
            cell.variant,
            {benchmark: cell.values},
            better=subject.matrices[cell.variant].better,
            unit=subject.verdict.unit,
        )
        for cell in cells
        if (cell.values > 0).all()
    ]
    fitted = []
    if matrices:
        report = mixture_report(
            matrices,
            benchmark=benchmark,
            options=MixtureOptions(resamples=0),
            rng=stream(_SEED, "mixture"),
        )
        fitted = [one for one in report.benchmarks[0].cells if one.mixture is not None]
    if not fitted:
        raise InsufficientDataError("no variant has a mixture", benchmark, n=0, needed=3)
    colours = {cell.variant: cell.colour for cell in cells}
    unit, window = subject.verdict.unit, window_of(fitted)
    figure = fresh(sheet, rows_high(sheet, len(fitted), 9.5, 3.5))
    names = names_of([one.variant for one in fitted], sheet)
    told, cautions, beyond = [], [], False
    for axes, one in zip(panels(figure, len(fitted), 1, sharex=True), fitted, strict=True):
        draw_density(axes, one, colours[one.variant], window, unit=unit)
        k, modes = one.fitted.components, one.fitted.modes().size
        said = (
            f"{one.values.size} runs, {k} component{'s' * (k > 1)}, {modes} mode{'s' * (modes > 1)}"
        )
        figure.supylabel(axes.get_ylabel(), color=PRINT.second, fontsize=sheet.font_size)
        axes.set_ylabel("")
        beyond |= any(line.get_marker() == "^" for line in axes.lines)
        axes.set_title(f"{names[one.variant]}: {said}", color=PRINT.ink)
        told.append(f"{one.variant}: {said}")
        cautions += [(one.variant, caution.text) for caution in one.cautions]
    quantity_axis(figure.axes[0], "x", Scale(*window), unit)
    figure.axes[-1].set_xlabel(
        f"{name_of(subject.verdict.metric, sheet)} of a run ({subject.verdict.better} is better)"
    )
    high = ["a triangle: there the density goes on above the picture"] if beyond else []
    note(figure, sheet, [*high, *(f"{names[name]}: {text}" for name, text in cautions)])
    return Drawing(
        name=subject.anchor("modes", benchmark),
        title=f"mixtures of the runs of {benchmark}",
        alt=f"Gaussian mixtures by BIC of the runs of {benchmark}. {'. '.join([*told, *(f'{name}: {text}' for name, text in cautions)])}.",
        figure=figure,
        columns=("variant", "component", "weight", "mean", "sd", "unit"),
        rows=tuple(
            (one.variant, k, weight, mean, sd, unit)
            for one in fitted
            for k, (weight, mean, sd) in enumerate(
                zip(
                    one.fitted.weights.tolist(), one.fitted.means.tolist(), one.fitted.sds.tolist(),
                    strict=True,
                ),
                1,
            )
        ),
    )  # fmt: skip
