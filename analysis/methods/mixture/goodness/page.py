"""The fit test in words: whether a mixture fits, and how surely."""

from __future__ import annotations

import math

from ....report import Column, Page, Section, Sentence, Table, Value, figures, page_of
from .result import CorpusFit, FitTest

__all__: list[str] = []

_LABEL = 40  # columns for a sample's label


@page_of.register
def _(test: FitTest) -> Page:
    published = f"p as published, k/N: {test.pvalue_published:.4g}"
    return Page(
        title="Fit of a Gaussian mixture",
        sections=(
            Section(tuple(Sentence(text) for text in _answer(test))),
            Section((_critical(test), Sentence(published))),
        ),
        cautions=test.cautions,
    )


@page_of.register
def _(row: CorpusFit) -> Page:
    return Page(title="Gaussian mixture of a sample", sections=(Section((Sentence(_row(row)),)),))


def _answer(test: FitTest) -> list[str]:
    if test.rejected():
        head = f"no mixture of Gaussians fits these {test.n} values"
    else:
        head = f"these {test.n} values show no departure from a mixture of Gaussians"
    k = test.mixture.components
    said = [
        f"{head} (p {figures.pvalue(test.pvalue)})",
        f"the distance from the fitted {k} Gaussian{'s' * (k > 1)} is {test.statistic:.4f}; of "
        f"{test.resamples} samples drawn from the fit and fitted anew, {test.further} are as far "
        "or further",
    ]
    if not test.rejected():
        said.append(
            "this is weak evidence for the fit: of samples of 35 lognormal values the test tells "
            "about one in ten from a mixture"
        )
    return said


def _critical(test: FitTest) -> Table:
    return Table(
        name="critical-distances",
        columns=(Column("risk", "left"), *(Column(f"{risk:g}") for risk in test.critical)),
        rows=(("critical distance", *(_distance(found) for found in test.critical.values())),),
    )


def _distance(found: float) -> Value:
    return Value("-", None) if math.isnan(found) else Value(f"{found:.4f}", found)


def _row(row: CorpusFit) -> str:
    name = figures.shorten(row.label, _LABEL)
    if row.mixture is None or row.test is None:
        return f"{name}: {row.why}"
    k = row.mixture.components
    return (
        f"{name}: {k} Gaussian{'s' * (k > 1)}, distance {row.test.statistic:.4f}, "
        f"p {figures.pvalue(row.test.pvalue)}"
    )
