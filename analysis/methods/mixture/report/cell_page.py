"""One variant in words: its modes, its mixture, whether that fits, and what was asked of it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ....report import Block, Column, Page, Section, Sentence, Table, Value, figures, page_of
from ..metrics.result import MetricInterval
from ..model.gaussians import BIC_MARGIN
from ..model.mixture import Mixture
from .contest_page import chance
from .result import MixtureCell

__all__ = ["DIGITS", "cell_section", "told_modes"]

DIGITS = 4  # of weights and parameters
_PLACES = 6  # modes named before the rest is counted


@page_of.register
def _(cell: MixtureCell) -> Page:
    return Page(
        title=f"Gaussian mixture: {cell.variant} on {cell.benchmark}",
        sections=(cell_section(cell),),
        cautions=cell.cautions,
    )


def cell_section(cell: MixtureCell, *, digits: int = DIGITS, place: int = 0) -> Section:
    """Set a variant; `place` counts those of one page, from 1, and is 0 where there is one."""
    if cell.mixture is None:
        return Section((Sentence(told_modes(cell)),))
    number = f"-{place}" if place else ""
    said = (told_modes(cell), _places(cell.mixture), _model(cell, cell.mixture), *_judgements(cell))
    blocks: list[Block] = [Sentence(text) for text in said]
    blocks.append(Section((_parameters(cell, cell.mixture, digits, f"parameters{number}"),)))
    if cell.quantiles or cell.below:
        blocks.append(Section((_asked(cell, digits, f"asked-for{number}"),)))
    return Section(tuple(blocks))


def told_modes(cell: MixtureCell) -> str:
    """Say how many modes there are, and what speaks for more than one."""
    mixture, found = cell.mixture, cell.evidence
    if mixture is None:
        return f"no mixture: {cell.problem}"
    modes = mixture.modes()
    count = f"{modes.size} mode{'s' * (modes.size != 1)}"
    if found is None:
        hint = "" if modes.size == 1 else "; no evidence was weighed, and skew alone makes several"
        return f"{count} by the model{hint}"
    share = f"{100 * found.stability.several:.0f} %"
    if modes.size == 1:
        return f"one mode ({share} of the refitted halves have several)"
    evidence = (
        f"evidence for more than one: dip p {figures.pvalue(found.dip.pvalue)}, bandwidth p "
        f"{figures.pvalue(found.bandwidth.pvalue)}; several in {share} of the refitted halves"
    )
    verdict = "multimodal" if found.multimodal else "not shown to be multimodal"
    return f"{verdict}: {count} by the model; {evidence}"


def _places(mixture: Mixture) -> str:
    modes = mixture.modes()
    shown = figures.listed([f"{mode:.6g}" for mode in modes], _PLACES)
    return f"mode{'s' * (modes.size != 1)} at {shown}"


def _model(cell: MixtureCell, mixture: Mixture) -> str:
    k, n = mixture.components, cell.values.size
    spread = "one common standard deviation" if mixture.equal_variance else "a deviation each"
    logs = "the logarithms of " if mixture.scale == "log" else ""
    kind = "one Gaussian" if k == 1 else f"{k} Gaussians with {spread}"
    said = f"{kind} for {logs}{n} values"
    if mixture.bic is not None:
        said += f" (BIC {mixture.bic:.2f}"
        if cell.runner_up is not None:
            said += f"; next {cell.runner_up[0]} {cell.runner_up[1]:.2f}"
        said += ", larger is better)"
    return said


def _judgements(cell: MixtureCell) -> Iterator[str]:
    """Say whether the mixture fits, and what a single skewed peak would do instead."""
    test = cell.fit_test
    if test is not None:
        word = "the mixture does not fit" if test.rejected() else "no departure from the mixture"
        moved = " after jitter" if test.ties == "jitter" else ""
        yield (
            f"fit test{moved}: distance {test.statistic:.7f}, p {figures.pvalue(test.pvalue)} from "
            f"{test.resamples} resample{'s' * (test.resamples != 1)} ({word})"
        )
    found = cell.evidence
    if found is not None and found.families and found.mixture_bic is not None:
        best = found.families[0]
        behind = found.mixture_bic - best.bic
        if best.family == "normal" and found.mixture.components == 1:
            yield "of single-peaked laws the normal is best: no sign of skew"
            return
        word = "as good as"
        if abs(behind) > BIC_MARGIN:
            word = "worse than" if behind > 0 else "better than"
        yield (
            f"best single peak: {best.name}, BIC {best.bic:.2f}, {word} the mixture's "
            f"{found.mixture_bic:.2f}"
        )


def _parameters(cell: MixtureCell, mixture: Mixture, digits: int, name: str) -> Table:
    of = mixture.classify(cell.values)
    of_what = " of ln" if mixture.scale == "log" else ""
    parameters = zip(
        mixture.weights.tolist(), mixture.means.tolist(), mixture.sds.tolist(), strict=True
    )
    rows = []
    for k, (w, m, s) in enumerate(parameters):
        size = int((of == k).sum())
        # digits below the spread of the component say nothing
        places = min(max(digits, digits + _magnitude(m) - _magnitude(s)), max(digits, 10))
        rows.append(
            (
                Value(f"{k}", k),
                Value(f"{w:.{digits}f}", w),
                Value(figures.significant(m, places), m),
                Value(figures.significant(s, digits), s),
                Value(f"{size}", size),
            )
        )
    headings = ("component", "weight", f"mean{of_what}", f"sd{of_what}", "runs")
    return Table(
        name=name, columns=tuple(Column(heading) for heading in headings), rows=tuple(rows)
    )


def _magnitude(value: float) -> int:
    return math.floor(math.log10(abs(value))) if value else 0


def _asked(cell: MixtureCell, digits: int, name: str) -> Table:
    """Set the quantiles and the chances to stay below a value."""
    told = [
        *((found, f"{found.estimate:.{max(digits, 6)}g}", "{:.6g}") for found in cell.quantiles),
        *((found, chance(found.estimate), "{:.3f}") for found in cell.below),
    ]
    return Table(
        name=name,
        columns=(Column("of one run", "left"), Column("estimate"), Column("interval", "left")),
        rows=tuple(
            (found.metric, Value(text, found.estimate), _range(found, form))
            for found, text, form in told
        ),
        headed=False,
    )


def _range(found: MetricInterval, form: str) -> str:
    if not found.replicates:
        return ""
    ends = ", ".join(form.format(end) for end in (found.low, found.high))
    return f"{100 * found.confidence:g} % interval [{ends}]"
