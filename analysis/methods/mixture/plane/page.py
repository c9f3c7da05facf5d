"""What a person reads about a mixture in the plane."""

from __future__ import annotations

import math

import numpy as np

from ....report import as_text, figures
from .model import Mixture2d
from .models import MEANINGS

__all__ = ["told"]

_COUNTS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_SHOWN = 3  # candidates next to the best
_NAME = 20


def told(mixture: Mixture2d) -> str:
    """Give the answer, the table, and the cautions."""
    return "\n".join(
        [
            *as_text.wrapped(_headline(mixture)),
            *as_text.wrapped(_relation(mixture)),
            "",
            *_table(mixture),
            *_candidates(mixture),
            *as_text.numbered(mixture.cautions),
        ]
    )


def _count(k: int) -> str:
    return _COUNTS[k] if k < len(_COUNTS) else str(k)


def _names(mixture: Mixture2d) -> tuple[str, str]:
    first, second = (figures.shorten(name, _NAME) for name in mixture.names)
    return first, second


def _headline(mixture: Mixture2d) -> str:
    k, (first, second) = mixture.components, _names(mixture)
    clusters = f"{_count(k)} cluster{'s' * (k > 1)}"
    if mixture.n is None:
        return f"a mixture of {clusters} of {first} and {second}"
    verb = "describe" if k > 1 else "describes"
    kind = MEANINGS[mixture.model]
    if k == 1:
        kind = {"EII": "a circle", "EEI": "an ellipse, no tilt", "EEE": "an ellipse"}[mixture.model]
    return (
        f"{clusters} {verb} these {mixture.n} pairs of {first} and {second} best "
        f"(model {mixture.model}: {kind})"
    )


def _relation(mixture: Mixture2d) -> str:
    """Say how the metrics vary together: within the clusters, and over all."""
    first, second = _names(mixture)
    r = mixture.correlations
    where = "within the clusters " if mixture.components > 1 else ""
    if not mixture.correlated:
        said = f"{where}{first} and {second} are uncorrelated (r = 0 in this model)"
    else:
        alike = float(r.max() - r.min()) < 5e-4
        values = f"{r[0]:.3f}" if alike else ", ".join(f"{value:.3f}" for value in r)
        said = f"{where}{first} and {second} are correlated: r = {values}"
    lead = _lead(mixture)
    if lead is not None:
        other = "correlation" if not mixture.correlated else "no correlation"
        said += f"; BIC prefers this to {other} by {figures.significant(lead)}"
        if lead < 2:
            said += ", which is next to nothing"
    if mixture.components > 1:
        whole = mixture.overall_correlation
        if whole is None:
            whole = mixture.correlation()
        said += f"; over all clusters r = {whole:.3f}"
    return said


def _lead(mixture: Mixture2d) -> float | None:
    """Give how far the best model of the other kind, correlated or not, stays behind in BIC."""
    if mixture.bic_table is None or mixture.bic is None:
        return None
    others = [
        value
        for model, row in mixture.bic_table.items()
        if (model[2] != "I") != mixture.correlated
        for value in row
        if math.isfinite(value)
    ]
    return mixture.bic - max(others) if others else None


def _table(mixture: Mixture2d) -> list[str]:
    first, second = _names(mixture)
    rows = [
        ["cluster", "weight", f"mean {first}", f"sd {first}", f"mean {second}", f"sd {second}", "r"]
    ]
    spread = np.sqrt(np.diagonal(mixture.covariances, axis1=1, axis2=2))
    for k in range(mixture.components):
        (mx, my), (sx, sy) = mixture.means[k], spread[k]
        rows.append(
            [
                f"{k}",
                f"{mixture.weights[k]:.4f}",
                *(f"{mx:.7g}", figures.significant(float(sx), 4)),
                *(f"{my:.7g}", figures.significant(float(sy), 4)),
                f"{mixture.correlations[k]:.3f}" if mixture.correlated else "0",
            ]
        )
    lines = as_text.grid(rows, ">>>>>>>")
    if max(map(len, lines)) > as_text.WIDTH:
        rows[0] = ["cluster", "weight", "mean 1", "sd 1", "mean 2", "sd 2", "r"]
        lines = [f"1: {first}, 2: {second}", *as_text.grid(rows, ">>>>>>>")]
    return lines


def _candidates(mixture: Mixture2d) -> list[str]:
    if mixture.bic is None or mixture.bic_table is None or mixture.log_likelihood is None:
        return []
    said = f"log-likelihood {mixture.log_likelihood:.6g}, BIC {mixture.bic:.6g} (larger is better)"
    chosen = (mixture.components, mixture.model)
    ranked = sorted(
        (-value, k, model)
        for model, row in mixture.bic_table.items()
        for k, value in enumerate(row, 1)
        if math.isfinite(value) and (k, model) != chosen and (k > 1 or model in _SIMPLEST)
    )
    nearest = [f"{model} with {k} {-value:.6g}" for value, k, model in ranked[:_SHOWN]]
    return as_text.wrapped(f"{said}; next: {', '.join(nearest)}" if nearest else said)


_SIMPLEST = ("EII", "EEI", "EEE")  # of one Gaussian all models of a kind are the same
