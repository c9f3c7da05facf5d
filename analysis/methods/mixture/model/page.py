"""A mixture in words: what it describes, its modes, its components."""

from __future__ import annotations

from ....report import Block, Column, Page, Section, Sentence, Table, Value, figures, page_of
from .mixture import Mixture

__all__ = ["likelihood_and_bic"]


@page_of.register
def _(mixture: Mixture) -> Page:
    return Page(
        title="Gaussian mixture",
        sections=(
            Section((Sentence(_headline(mixture)), Sentence(_modes(mixture)))),
            Section(_components(mixture)),
        ),
        cautions=mixture.cautions,
    )


def likelihood_and_bic(log_likelihood: float, bic: float) -> str:
    """Say how well a mixture describes its values."""
    return f"log-likelihood {log_likelihood:.6g}, BIC {bic:.6g} (larger is better)"


def _headline(mixture: Mixture) -> str:
    k, logs = mixture.components, "the logarithms of " if mixture.scale == "log" else ""
    spread = "one common" if mixture.equal_variance else "each its own"
    what = "one Gaussian" if k == 1 else f"{k} Gaussians ({spread} standard deviation)"
    if mixture.n is None:
        return f"a mixture of {logs and 'logarithms: '}{what}"
    verb = "describes" if k == 1 else "describe"
    return f"{what} {verb} {logs}these {mixture.n} values best"


def _modes(mixture: Mixture) -> str:
    modes = mixture.modes()
    shown = ", ".join(f"{mode:.6g}" for mode in modes)
    said = f"the density has {modes.size} mode{'s' * (modes.size != 1)}: {shown}"
    if modes.size > 1:
        said += " (of the curve; skew alone can make several, so see the evidence for modes)"
    return said


def _components(mixture: Mixture) -> tuple[Block, ...]:
    table = Table(
        name="components",
        columns=(Column("component"), Column("weight"), Column("mean"), Column("sd")),
        rows=tuple(
            (
                Value(f"{k}", k),
                Value(f"{w:.4f}", w),
                Value(f"{m:.7g}", m),
                Value(figures.significant(s, 4), s),
            )
            for k, (w, m, s) in enumerate(
                zip(
                    mixture.weights.tolist(),
                    mixture.means.tolist(),
                    mixture.sds.tolist(),
                    strict=True,
                )
            )
        ),
    )
    if mixture.bic is None or mixture.log_likelihood is None:
        return (table,)
    return (table, Sentence(likelihood_and_bic(mixture.log_likelihood, mixture.bic)))
