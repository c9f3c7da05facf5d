"""Evidence for modes in words: the answer, the tests behind it, the laws that rival the mixture."""

from __future__ import annotations

from ....report import Column, Page, Section, Sentence, Table, Value, figures, page_of
from .dip_and_bandwidth import BandwidthTest, DipTest
from .families import FamilyFit
from .result import ModeEvidence
from .rule import STABLE

__all__: list[str] = []


@page_of.register
def _(found: ModeEvidence) -> Page:
    return Page(
        title="Evidence for modes",
        sections=(Section((Sentence(found.conclusion),)), _tests(found), Section((_laws(found),))),
        cautions=found.cautions,
    )


@page_of.register
def _(test: DipTest) -> Page:
    said = (
        f"dip test of {test.n} values: dip {test.statistic:.4g}, p {figures.pvalue(test.pvalue)} "
        f"from {test.resamples} uniform samples"
    )
    return Page(title="Dip test", sections=(Section((Sentence(said),)),))


@page_of.register
def _(test: BandwidthTest) -> Page:
    width = "no bandwidth shows two modes"
    if test.bandwidth is not None:
        width = f"smallest bandwidth with one mode {test.bandwidth:.4g}"
    said = (
        f"bandwidth test of {test.n} values: {width}, p {figures.pvalue(test.pvalue)} from "
        f"{test.resamples} smoothed samples"
    )
    return Page(title="Bandwidth test", sections=(Section((Sentence(said),)),))


@page_of.register
def _(fit: FamilyFit) -> Page:
    said = (
        f"{fit.name}: BIC {fit.bic:.2f}, log-likelihood {fit.log_likelihood:.3f}, "
        f"{fit.parameters} parameters"
    )
    return Page(title=fit.name, sections=(Section((Sentence(said),)),))


def _tests(found: ModeEvidence) -> Section:
    half = f"needs p <= {found.risk / 2:g}"
    s = found.stability
    table = Table(
        name="tests",
        columns=(Column("what", "left"), Column("found", "left"), Column("needed", "left")),
        rows=(
            *(
                (name, Value(f"p {figures.pvalue(test.pvalue)}", test.pvalue), half)
                for name, test in (("dip test", found.dip), ("bandwidth test", found.bandwidth))
            ),
            (
                "several modes again",
                Value(f"{100 * s.several:.0f} %", s.several),
                f"needs {100 * STABLE:.0f} %",
            ),
        ),
        headed=False,
    )
    modes, components = (
        ", ".join(f"{key}: {share:.2f}" for key, share in shares.items())
        for shares in (s.modes, s.components)
    )
    return Section(
        (
            table,
            Sentence(f"modes in {s.resamples} refitted halves of the values, by share: {modes}"),
            Sentence(f"components in them, by share: {components}"),
        )
    )


def _laws(found: ModeEvidence) -> Table:
    return Table(
        name="laws",
        columns=(
            Column("law", "left"),
            *(Column("BIC"), Column("log-likelihood"), Column("parameters")),
        ),
        rows=tuple(
            (
                law.name,
                Value(f"{law.bic:.2f}", law.bic),
                Value(f"{law.log_likelihood:.3f}", law.log_likelihood),
                Value(f"{law.parameters}", law.parameters),
            )
            for law in found.laws
        ),
    )
