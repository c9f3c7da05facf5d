"""Several variants on one benchmark: who wins when each is executed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ....errors import AnalysisError
from ....record import Better
from ..metrics.intervals import FasterEstimate, MetricInterval, faster_estimate, metric_interval
from ..metrics.rank_share import rank_share
from ..metrics.single_run import mean_difference, probability_faster, probability_fastest
from ..model.mixture import Mixture
from .cell import MixtureCell, without_interval
from .options import MixtureOptions

__all__ = ["MixtureContest", "MixturePair", "mixture_contest"]

_ALL_PAIRS = 8  # variants up to which all pairs are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class MixturePair:
    """Two variants: both chances to win (I2), and how far single runs lie apart (I1).

    `forward` is the chance that a run of `first` beats one of `second`, `backward` the other way.
    """

    first: str
    second: str
    forward: FasterEstimate
    backward: FasterEstimate
    distance: MetricInterval

    def to_dict(self) -> dict[str, Any]:
        """Give the pair as JSON types."""
        return {
            "first": self.first,
            "second": self.second,
            "forward": self.forward.to_dict(),
            "backward": self.backward.to_dict(),
            "mean_difference": self.distance.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MixtureContest:
    """One run of each variant: `chances` (I3) that it is the best of all, which sum to 1.

    `variants` and `chances` stand in the same order, that of the sources. `left_out` could not be
    fitted. With more than eight variants `pairs` holds those with the likeliest winner only.
    """

    variants: tuple[str, ...]
    better: Better
    chances: tuple[MetricInterval, ...]
    pairs: tuple[MixturePair, ...]
    left_out: tuple[str, ...]
    cautions: tuple[str, ...]

    @property
    def best(self) -> int:
        """The place of the likeliest winner in `variants`."""
        return max(range(len(self.variants)), key=lambda k: self.chances[k].estimate)

    def to_dict(self) -> dict[str, Any]:
        """Give the contest as JSON types."""
        return {
            "better": self.better,
            "best": self.variants[self.best],
            "best_in_a_single_run": {
                name: found.to_dict()
                for name, found in zip(self.variants, self.chances, strict=True)
            },
            "pairs": [pair.to_dict() for pair in self.pairs],
            "left_out": list(self.left_out),
            "cautions": list(self.cautions),
        }


def mixture_contest(
    cells: Sequence[MixtureCell], *, better: Better, options: MixtureOptions, pairs: bool = True
) -> MixtureContest | None:
    """Compare the cells of one benchmark; None when fewer than two have a mixture.

    Parameters
    ----------
    cells : sequence of MixtureCell
        One for each variant, all of the same benchmark, in one unit.
    better : {"lower", "higher"}
        Which direction wins.
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
    cautions = []
    if len(fitted) > _ALL_PAIRS:
        wanted = [(j, k) for j, k in wanted if best in (j, k)]
        cautions.append(
            f"of {len(fitted)} variants only the pairs with {fitted[best].variant!r} are compared"
        )
    compared = tuple(_pair(fitted[j], fitted[k], better, options) for j, k in wanted)
    said: dict[str, list[str]] = {}
    for pair in compared:
        for text in dict.fromkeys((*pair.forward.cautions, *pair.distance.cautions)):
            said.setdefault(text, []).append(f"{pair.first} and {pair.second}")
    for text, pairs_of in said.items():
        everywhere = len(pairs_of) == len(compared) > 1
        cautions.append(text if everywhere else f"{'; '.join(pairs_of)}: {text}")
    left_out = tuple(cell.variant for cell in cells if cell.mixture is None)
    if left_out:
        cautions.append(f"not compared, because no mixture fits: {', '.join(left_out)}")
    return MixtureContest(
        variants=tuple(cell.variant for cell in fitted),
        better=better,
        chances=chances,
        pairs=compared,
        left_out=left_out,
        cautions=tuple(cautions),
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
        distance=_estimated(mean_difference, [x, y], "I1", options),
    )


def _beats(
    x: MixtureCell, y: MixtureCell, better: Better, options: MixtureOptions
) -> FasterEstimate:
    """Give P[X < Y + shift], or P[X > Y - shift] = P[Y < X + shift] where higher is better."""
    low, high = (x, y) if better == "lower" else (y, x)
    shift, confidence = options.shift, options.confidence
    if low.refits is not None and high.refits is not None:
        return faster_estimate(low.refits, high.refits, shift=shift, confidence=confidence)
    chance = probability_faster(_mixture(low), _mixture(high), shift=shift)
    return FasterEstimate(
        shift=shift,
        mixture=without_interval("I2", chance, confidence),
        ranks=rank_share(low.values, high.values, shift=shift, confidence=confidence),
        cautions=(),
    )


def _estimated(
    metric: Any,  # noqa: ANN401 - of as many mixtures as there are cells
    cells: Sequence[MixtureCell],
    name: str,
    options: MixtureOptions,
) -> MetricInterval:
    samples = [cell.refits for cell in cells if cell.refits is not None]
    if len(samples) == len(cells):
        return metric_interval(metric, *samples, name=name, confidence=options.confidence)
    estimate = float(metric(*(_mixture(cell) for cell in cells)))
    return without_interval(name, estimate, options.confidence)


def _mixture(cell: MixtureCell) -> Mixture:
    if cell.mixture is None:
        raise AnalysisError(f"{cell.variant!r} has no mixture", cell.benchmark)
    return cell.mixture


def _mirrored(mixture: Mixture) -> Mixture:
    """Give the mixture of -x, or of 1 / x on the log scale: then the largest is the smallest."""
    return Mixture.from_parameters(
        weights=mixture.weights, means=-mixture.means, sds=mixture.sds, scale=mixture.scale
    )
