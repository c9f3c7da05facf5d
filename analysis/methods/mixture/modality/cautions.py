"""What a reader of the evidence for modes should know."""

from __future__ import annotations

from collections.abc import Iterator

from ....report import Caution
from ..model.gaussians import BIC_MARGIN
from .result import ModeEvidence

__all__ = ["mode_cautions"]

_FEW = 15
_COARSE = 10  # clock readings over the range
_UNMOVED = 0.25  # a dip's p-value that gives no hint of a second mode


def mode_cautions(found: ModeEvidence) -> Iterator[Caution]:
    """Say what speaks against the outcome, and what limits it."""
    yield from _single_peak(found)
    dip = found.dip
    if len(found.modes) == 1 and found.rejected:
        yield Caution(
            "rejected-with-one-mode",
            "a test rejects a single mode although the mixture has one: its components overlap, "
            "or the density has a flat top",
        )
    if found.rejected and dip.pvalue > _UNMOVED:
        yield Caution(
            "bandwidth-test-alone",
            "only the bandwidth test rejects, not the dip: look at the second mode, it holds few "
            "of the values",
        )
    if dip.n < _FEW:
        yield Caution(
            "few-values-for-modes",
            f"with {dip.n} values the tests find only modes that lie far apart: no evidence for "
            "several modes is no evidence for one",
        )
    if dip.levels is not None and dip.levels < _COARSE:
        yield Caution(
            "coarse-clock",
            f"the clock has only {dip.levels} readings over the range of the values: measure with "
            "a finer one before speaking of modes",
        )
    if found.stability.failed:
        yield Caution(
            "resamples-not-counted",
            f"{found.stability.failed} resamples could not be fitted and are not counted",
        )


def _single_peak(found: ModeEvidence) -> Iterator[Caution]:
    """Say when skew alone explains the values of a mixture with several modes."""
    if len(found.modes) < 2 or not found.families or found.mixture_bic is None:
        return
    best, bic = found.families[0], found.mixture_bic
    lead = best.bic - bic
    if lead > -BIC_MARGIN:
        how_well = "better than" if lead > BIC_MARGIN else "about as well as"
        yield Caution(
            "single-peak-as-good",
            f"a single peak describes the values {how_well} the mixture: "
            f"{best.name}, BIC {best.bic:.2f} against {bic:.2f}",
        )
