"""What a reader of a fit test should know."""

from __future__ import annotations

from collections.abc import Iterator

from ....report import Caution
from ..model.mixture import Mixture
from .result import FitTest

__all__ = ["PUBLISHED_LEAST", "ks_cautions"]

PUBLISHED_LEAST = 200
_BORNE = 0.5  # of the critical distance at 5 %: what ties may make by themselves


def ks_cautions(test: FitTest, given: Mixture) -> Iterator[Caution]:
    """Say what limits a test of the values to which the mixture `given` was fitted."""
    yield from _ties(test)
    yield from _other_fit(test, given)
    if test.resamples < PUBLISHED_LEAST:
        yield Caution(
            "few-replicates",
            f"few samples were drawn ({test.resamples}): p cannot be less than "
            f"1/{test.resamples + 1}, and the authors ask for {PUBLISHED_LEAST} at least",
        )
    if test.failed_fits:
        yield Caution(
            "replicates-without-fit",
            f"no candidate fits {test.failed_fits} of {test.resamples} replicates; they count as "
            "further away than the values",
        )


def _ties(test: FitTest) -> Iterator[Caution]:
    """Say when ties decide, and what jitter did."""
    if test.ties == "jitter":
        if test.resolution is None:
            yield Caution(
                "nothing-moved",
                "the values have neither ties nor a common step: nothing was moved",
            )
        else:
            yield Caution(
                "moved-at-random",
                f"every value was moved at random within the clock's step of {test.resolution:.6g}: "
                "another seed gives another p",
            )
        return
    # a continuous function must miss one end of a step by half its height
    least = test.largest_tie / (2 * test.n)
    critical = test.critical[0.05]
    if test.largest_tie > 1 and not least < _BORNE * critical:
        yield Caution(
            "ties-make-distance",
            f"{test.largest_tie} of {test.n} values are equal, which alone makes a distance of "
            f"{least:.4f} (critical at 5 %: {critical:.4f}): the test rejects clocks, not mixtures; "
            'take ties="jitter", or measure with a finer clock',
        )


def _other_fit(test: FitTest, given: Mixture) -> Iterator[Caution]:
    """Say where the mixture was not fitted as the replicates are."""
    if given.n is not None and given.n != test.n:
        yield Caution(
            "fitted-to-others",
            f"the mixture was fitted to {given.n} values and these are {test.n}: the test is "
            "calibrated for the values of the fit",
        )
    tried = 0 if given.bic_table is None else len(given.bic_table["V"])
    if given.bic_table is not None and tried != test.max_components:
        yield Caution(
            "components-differ",
            f"the mixture was chosen from up to {tried} components, the replicates' from up to "
            f"{test.max_components}",
        )
