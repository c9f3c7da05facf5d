"""Several variants on one benchmark: who wins when each is executed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations

from ....record import Better
from ..metrics.intervals import estimated, faster_estimate
from ..metrics.rank_share import rank_share
from ..metrics.result import FasterEstimate, MetricInterval
from ..metrics.single_run import mean_difference, probability_faster, probability_fastest
from ..model.mixture import Mixture
from .cautions import contest_cautions
from .options import MixtureOptions
from .result import MixtureCell, MixtureContest, MixturePair

__all__ = ["mixture_contest"]

_ALL_PAIRS = 8  # variants up to which all pairs are compared


def mixture_contest(
    cells: Sequence[MixtureCell],
    *,
    better: Better,
    unit: str,
    options: MixtureOptions,
    pairs: bool = True,
) -> MixtureContest | None:
    """Compare the cells of one benchmark; None when fewer than two have a mixture.

    Parameters
    ----------
    cells : sequence of MixtureCell
        One for each variant, all of the same benchmark, in one unit.
    better : {"lower", "higher"}
        Which direction wins.
    unit : str
        Of the values.
    options : MixtureOptions
        Shift and confidence.
    pairs : bool
        Whether the variants are compared pair by pair too.
    """
    fitted = [cell for cell in cells if cell.mixture is not None]
    if len(fitted) < 2:
        return None
    chances = tuple(_chance(fitted, k, better, options) for k in range(len(fitted)))
    best = max(range(len(fitted)), key=lambda k: chances[k].estimate)
    wanted = list(combinations(range(len(fitted)), 2)) if pairs else []
    all_pairs = len(fitted) <= _ALL_PAIRS
    if not all_pairs:
        wanted = [(j, k) for j, k in wanted if best in (j, k)]
    compared = tuple(_pair(fitted[j], fitted[k], better, options) for j, k in wanted)
    left_out = tuple(cell.variant for cell in cells if cell.mixture is None)
    return MixtureContest(
        variants=tuple(cell.variant for cell in fitted),
        better=better,
        unit=unit,
        chances=chances,
        pairs=compared,
        left_out=left_out,
        cautions=tuple(
            contest_cautions(fitted, fitted[best], compared, all_pairs=all_pairs, left_out=left_out)
        ),
    )


def _chance(
    cells: Sequence[MixtureCell], first: int, better: Better, options: MixtureOptions
) -> MetricInterval:
    """Give I3 of one variant against all others."""
    order = [cells[first], *(cell for k, cell in enumerate(cells) if k != first)]

    def wins(*mixtures: Mixture) -> float:
        compared = [_mirrored(one) for one in mixtures] if better == "higher" else mixtures
        mine, *others = compared
        if len(others) == 1:  # I3 of two is I2, which has a closed form
            return probability_faster(mine, others[0])
        return probability_fastest(mine, *others)

    return _estimated(wins, order, "I3", options)


def _pair(x: MixtureCell, y: MixtureCell, better: Better, options: MixtureOptions) -> MixturePair:
    return MixturePair(
        first=x.variant,
        second=y.variant,
        forward=_beats(x, y, better, options),
        backward=_beats(y, x, better, options),
        mean_difference=_estimated(mean_difference, [x, y], "I1", options),
    )


def _beats(
    x: MixtureCell, y: MixtureCell, better: Better, options: MixtureOptions
) -> FasterEstimate:
    """Give P[X < Y + shift], or P[X > Y - shift] = P[Y < X + shift] where higher is better."""
    low, high = (x, y) if better == "lower" else (y, x)
    shift, confidence = options.shift, options.confidence
    if low.refits is not None and high.refits is not None:
        return faster_estimate(low.refits, high.refits, shift=shift, confidence=confidence)
    return FasterEstimate(
        shift=shift,
        mixture=_estimated(partial(probability_faster, shift=shift), [low, high], "I2", options),
        ranks=rank_share(low.values, high.values, shift=shift, confidence=confidence),
    )


def _estimated(
    metric: Callable[..., float],
    cells: Sequence[MixtureCell],
    name: str,
    options: MixtureOptions,
) -> MetricInterval:
    fits = [(cell.fitted, cell.refits) for cell in cells]
    return estimated(metric, *fits, name=name, confidence=options.confidence)


def _mirrored(mixture: Mixture) -> Mixture:
    """Give the mixture of -x, or of 1 / x on the log scale: then the largest is the smallest."""
    return Mixture.from_parameters(
        weights=mixture.weights, means=-mixture.means, sds=mixture.sds, scale=mixture.scale
    )
