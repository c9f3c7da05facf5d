"""What a reader of mixtures should know, each thing said once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...pages.model import Caution
from ...stats.samples import clock_step
from .model import BIC_MARGIN, START_VALUES, Mixture

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ...data.matrix import PerformanceMatrix
    from ...stats.samples import Array
    from .fit import ScaledValues
    from .result import (
        FitTest,
        MetricInterval,
        MixtureCell,
        MixturePair,
        MixtureReport,
        ModeEvidence,
        RankShare,
    )

FEW_VALUES = 20  # below, the number of components is hardly determined
_UNIT_LIMIT = 2.0**-26  # the square root of mclust's limit on a variance


def fit_cautions(
    sample: ScaledValues, table: Array, k: int, *, floored: int, further: int
) -> Iterator[Caution]:
    """Say what limits a fit."""
    x, floor = sample.values, sample.floor
    n, most = x.size, table.shape[1]
    if n < FEW_VALUES:
        yield Caution("few-values", f"{n} values hardly determine a number of components")
    yield from at_limit(k, most, n)
    distinct = int(np.count_nonzero(np.diff(x))) + 1
    if distinct < n * 0.5:
        yield Caution(
            "many-ties",
            f"only {distinct} of {n} values are distinct: components may describe the clock's "
            "steps instead of the program",
        )
    lost = int(np.isnan(table[:, : min(most, n)]).sum())
    if floor == 0 and lost and x[-1] - x[0] < 2 * _UNIT_LIMIT:
        yield Caution(
            "spread-too-small",
            "the spread is so small in this unit that only one Gaussian is allowed (variances "
            "up to 2.2e-16 are refused): fit in a smaller unit",
        )
    else:
        yield from discarded(lost, 2 * min(most, n))
    if floored:
        yield Caution(
            "variance-at-floor",
            f"{floored} of {k} components have the least variance allowed: see the floor",
        )
    if n > START_VALUES:
        yield Caution(
            "start-of-some",
            f"the start takes {START_VALUES} evenly spaced order statistics of {n} values; mclust "
            "draws them at random, so its result may differ",
        )
    if further and floor == 0:
        yield Caution(
            "starts-without-floor",
            "many starts without a floor favour components that sit on a few tied values",
        )


_READING = 1.0 + 1e-6  # steps within which two values are one reading: rounding may part them
_CHANCE = 1e-4  # that readings anywhere stand so close to a grid


def coarser_grid(values: ArrayLike, resolution: float) -> Iterator[Caution]:
    """Say when tied values stand on a coarser grid than the step that was given for the clock."""
    x = np.sort(np.asarray(values, dtype=float))
    found = _rough_grid(x, resolution)
    step, count = found or (clock_step(x), np.unique(x).size)
    if step is None or step < 2 * resolution or count == x.size:
        return
    said = f"{step:.2g}" if found else f"{step:.6g}"
    yield Caution(
        "grid-coarser",
        f"the values stand {'some ' if found else ''}{said} apart ({count} readings for {x.size} values), "
        f"on a coarser grid than the resolution of {resolution:g}: components may be its steps; try a "
        f"resolution of {said}",
    )


def _rough_grid(x: Array, resolution: float) -> tuple[float, int] | None:
    """Give the step and the readings of a grid that is blurred by less than the resolution.

    Values within `resolution` of their neighbour are one reading: a grid of 0.2 printed with two digits
    shows 93.41 and 93.42. A grid is one where readings are half as many as values at most, none is
    wider than two resolutions, and readings at random places would hardly be as close to multiples
    of one width: the chance is the share of places so close, to the power of the readings that are free.
    """
    group = np.concatenate(([0], np.cumsum(np.diff(x) > resolution * _READING)))
    count = int(group[-1]) + 1
    if not 3 <= count <= 0.5 * x.size:
        return None
    first = np.searchsorted(group, np.arange(count))
    last = np.append(first[1:], x.size) - 1
    centres = np.bincount(group, x - x[0]) / np.bincount(group)
    gaps = np.diff(centres)
    places = np.concatenate(([0.0], np.cumsum(np.rint(gaps / gaps.min()))))
    step, start = (float(one) for one in np.polyfit(places, centres, 1))
    away = max(float(np.abs(start + step * places - centres).max()), resolution / 2)
    known = (2 * away / step) ** (count - 2) <= _CHANCE
    return (step, count) if known and (x[last] - x[first]).max() <= 2 * resolution else None


def at_limit(k: int, most: int, n: int) -> Iterator[Caution]:
    """Say that a fit of n values has as many components as were tried."""
    if k == most < n:
        said = f"the best K is the largest that was tried, {most}: try more"
        yield Caution("components-at-limit", said)


def discarded(lost: int, tried: int) -> Iterator[Caution]:
    """Say how many candidates have no fit."""
    if lost:
        why = "(an empty class or a vanishing variance)"
        yield Caution("candidates-discarded", f"{lost} of {tried} candidates were discarded {why}")


def ks_cautions(test: FitTest, given: Mixture) -> Iterator[Caution]:
    """Say what limits a test of the values to which the mixture `given` was fitted."""
    yield from _ties(test)
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
    if test.resamples < 200:
        yield Caution(
            "few-replicates",
            f"few samples were drawn ({test.resamples}): p cannot be less than "
            f"1/{test.resamples + 1}, and the authors ask for 200 at least",
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
            said = "the values have neither ties nor a common step: nothing was moved"
            yield Caution("nothing-moved", said)
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
    if test.largest_tie > 1 and not least < 0.5 * critical:
        yield Caution(
            "ties-make-distance",
            f"{test.largest_tie} of {test.n} values are equal, which alone makes a distance of "
            f"{least:.4f} (critical at 5 %: {critical:.4f}): the test rejects clocks, not mixtures; "
            'take ties="jitter", or measure with a finer clock',
        )


_TAIL = 5  # resamples beyond each end that an interval should rest on


def interval_cautions(
    confidence: float, count: int, *, failed: int, least: int
) -> Iterator[Caution]:
    """Say what limits an interval of `count` resamples, of samples of `least` values or more."""
    if count * (1 - confidence) / 2 < _TAIL:
        needed = math.ceil(2 * _TAIL / (1 - confidence) - 1e-9)
        said = f"{count} resamples are few for {100 * confidence:g} %: take {needed} or more"
        yield Caution("few-resamples", said)
    if failed > 0.05 * (count + failed):
        yield Caution(
            "resamples-left-out",
            f"{failed} resamples could not be fitted; the interval belongs to the others",
        )
    if least < FEW_VALUES:
        yield Caution(
            "interval-too-narrow",
            f"with {least} values the interval is too narrow: percentiles of resamples know no "
            "value beyond the smallest and largest seen",
        )


def faster_cautions(mixture: MetricInterval, ranks: RankShare) -> Iterator[Caution]:
    """Say where mixtures and ranks tell different stories."""
    if not (ranks.low <= mixture.estimate <= ranks.high):
        yield Caution(
            "mixtures-against-ranks",
            "mixtures and ranks disagree: the interval of the ranks does not contain I2, so the "
            "mixtures do not describe these values well",
        )
    if mixture.high - mixture.low < 1e-6:
        yield Caution(
            "no-overlap",
            "the samples do not overlap, so resampling shows no spread: the interval of the ranks "
            "is the honest one",
        )


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
    if found.rejected and dip.pvalue > 0.25:  # no hint of a second mode
        yield Caution(
            "bandwidth-test-alone",
            "only the bandwidth test rejects, not the dip: look at the second mode, it holds few "
            "of the values",
        )
    if dip.n < 15:
        yield Caution(
            "few-values-for-modes",
            f"with {dip.n} values the tests find only modes that lie far apart: no evidence for "
            "several modes is no evidence for one",
        )
    if dip.levels is not None and dip.levels < 10:
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


def report_cautions(
    report: MixtureReport, matrices: Sequence[PerformanceMatrix]
) -> Iterator[Caution]:
    """Gather what is known of the sources, the cells and their contest."""
    cells = report.benchmarks[0].cells if report.detailed else ()
    contest = report.benchmarks[0].contest if report.detailed else None
    said = [
        *((matrix.name, caution) for matrix in matrices for caution in matrix.cautions),
        *((cell.variant, caution) for cell in cells for caution in cell.cautions),
    ]
    several = len(matrices) > 1
    for caution, names in _gathered(said):
        yield _of(names, caution, ", ") if several else caution
    if contest is not None:  # what the samples said themselves is not said of their pairs again
        known = {caution.code for _, caution in said}
        yield from (caution for caution in contest.cautions if caution.code not in known)
    if report.detailed and contest is None and several:
        yield Caution(
            "nothing-compared", "nothing is compared: fewer than two variants have a mixture"
        )
    if not report.detailed:
        sizes = [cell.values.size for cell in report.cells]
        if few := sum(size < FEW_VALUES for size in sizes):
            yield Caution(
                "few-values",
                f"{few} of {len(sizes)} samples have fewer than {FEW_VALUES} values, which hardly "
                "determine a number of components",
            )
        codes = [{caution.code for caution in cell.cautions} for cell in report.cells]
        if coarse := sum("grid-coarser" in found for found in codes):
            yield Caution(
                "grid-coarser",
                f"the values of {coarse} of {len(sizes)} samples stand on a coarser grid than the "
                f"resolution of {report.options.resolution:g}: components may be its steps; "
                "--benchmark NAME says which step",
            )
        if floored := sum("variance-at-floor" in found for found in codes):
            yield Caution(
                "variance-at-floor",
                f"in {floored} of {len(sizes)} samples components have the least variance that the "
                "resolution allows: without a resolution such fits are discarded",
            )
    if report.options.resamples == 0:
        yield Caution(
            "nothing-resampled",
            "nothing was resampled: no fit test, no evidence for modes, no intervals",
        )


def contest_cautions(
    fitted: Sequence[MixtureCell],
    best: MixtureCell,
    pairs: Sequence[MixturePair],
    *,
    all_pairs: bool,
    left_out: Sequence[str],
) -> Iterator[Caution]:
    """Say which variants and pairs a contest leaves out, and what limits its pairs."""
    if not all_pairs:
        yield Caution(
            "pairs-of-best-only",
            f"of {len(fitted)} variants only the pairs with {best.variant!r} are compared",
        )
    said = [
        (f"{pair.first} and {pair.second}", caution)
        for pair in pairs
        for caution in (*pair.forward.cautions, *pair.mean_difference.cautions)
    ]
    for caution, names in _gathered(said):
        everywhere = len(names) == len(pairs) > 1
        yield caution if everywhere else _of(names, caution, "; ")
    if left_out:
        yield Caution(
            "not-compared",
            f"not compared, because no mixture fits: {', '.join(left_out)}",
            tuple(left_out),
        )


def unfitted(problems: Iterable[str], most: int) -> Iterator[Caution]:
    """Say what could not be fitted."""
    told = list(dict.fromkeys(problems))
    for problem in told[:most]:
        yield Caution("no-mixture", problem)
    if len(told) > most:
        yield Caution("no-mixture", f"{len(told) - most} more could not be fitted")


def _gathered(said: Iterable[tuple[str, Caution]]) -> list[tuple[Caution, tuple[str, ...]]]:
    """Set together of whom the same is said, number by number."""
    found: dict[tuple[str, str], tuple[Caution, dict[str, None]]] = {}
    for name, caution in said:
        found.setdefault((caution.code, caution.text), (caution, {}))[1][name] = None
    return [(caution, tuple(names)) for caution, names in found.values()]


def _of(names: Sequence[str], caution: Caution, separator: str) -> Caution:
    said = f"{separator.join(names)}: {caution.text}"
    return Caution(caution.code, said, (*names, *caution.about))
