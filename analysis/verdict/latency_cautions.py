"""Whether a latency was judged of requests that the load generator sent as fast as they were answered.

Such a generator is closed-loop: while one answer is late it sends nothing, so that of the requests that would have come meanwhile,
and waited too, none is in the latencies (Tene's "coordinated omission"; Schroeder, Wierman and Harchol-Balter, "Open versus
closed: a cautionary tale", NSDI 2006). At a constant rate both variants are sent equally much.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from ..errors import AnalysisError, StoreError
from ..methods.multilevel.compare import multilevel
from ..pages import number_format as figures
from ..pages.model import Caution
from ..pages.short_sentence import ShortSentence, plain
from ..record.builds import is_of_builds
from ..record.quantiles import SOURCE
from .sides import comparable, sides_of

if TYPE_CHECKING:
    from ..data.trial import Trial

_TIMES = frozenset(("ns", "nsec", "us", "µs", "μs", "usec", "ms", "msec", "s", "sec", "min"))
_RATES = frozenset(("rps", "qps", "tps", "Hz"))
_OVER = ("/s", "/sec", "/second", "/min")
_MARGIN = 0.01  # a constant rate is kept more exactly
_NAMED = 3


def latency_cautions(
    trial: Trial, variants: Collection[str], metric: str, benchmarks: Collection[str] | None
) -> Iterator[Caution]:
    """Say of a latency that the rate of a variant differs from the baseline's by more than 1 %, beyond chance.

    A latency is a time that a program printed and of which less is better; a rate a number a second of which more is.
    Differences are those of `multilevel` at 95 %, corrected for the number of benchmarks.
    """
    metrics, base = trial.manifest.metrics, trial.manifest.baseline
    if base not in variants or not _is_printed(metrics.get(metric, {}), "lower", _is_time):
        return
    rates = (name for name, about in metrics.items() if _is_printed(about, "higher", _is_rate))
    for rate in rates:
        found = _differing(trial, variants, rate, benchmarks)
        if found:
            yield _closed_loop(found, base, rate, metric)
            return


def _is_time(unit: str) -> bool:
    return unit in _TIMES


def _is_rate(unit: str) -> bool:
    return unit in _RATES or unit.endswith(_OVER)


def _is_printed(about: Mapping[str, str], better: str, kind: Callable[[str], bool]) -> bool:
    """Tell of what a manifest says of a metric whether programs print it, or it is a quantile of that."""
    known = about.get("source") in {None, SOURCE} and not is_of_builds(about)
    return known and about.get("better") == better and kind(about.get("unit", ""))


def _differing(
    trial: Trial, variants: Collection[str], rate: str, benchmarks: Collection[str] | None
) -> dict[tuple[str, str], float]:
    """Give by variant and benchmark how many times the baseline's a rate is, where it differs."""
    base, found = trial.manifest.baseline, {}
    asked = None if benchmarks is None else list(benchmarks)
    try:
        sides = sides_of(trial, rate, tuple(variants), asked)
        for variant, side in sides.items():
            both = None if variant == base else comparable(side, sides[base])
            for line in () if both is None else multilevel(*both, margin=_MARGIN).benchmarks:
                ratio = line.speedup
                differs = line.outcome in {"faster", "slower"}
                if ratio is not None and differs and abs(ratio - 1) > _MARGIN:
                    found[variant, line.name] = ratio
    except (
        AnalysisError,
        StoreError,
    ):  # nobody asked for it: what cannot be compared tells nothing
        return {}
    return found


def _closed_loop(
    found: Mapping[tuple[str, str], float], base: str, rate: str, metric: str
) -> Caution:
    told = [f"{ratio:.3g}x for {variant} on {bench}" for (variant, bench), ratio in found.items()]
    slower = (base if ratio > 1 else variant for (variant, _), ratio in found.items())
    text = (
        f"closed-loop: {rate} differs from {base}'s ({figures.listed(told, _NAMED)}), so the load generator waited for "
        f"answers, or did not keep its rate: what would have come meanwhile was not sent, and is not in {metric}, which is too good above all of "
        f"{figures.listed(list(dict.fromkeys(slower)), _NAMED)}; a constant rate below what each can serve, such as wrk2's -R, "
        "asks all alike"
    )
    short = ShortSentence.of(plain(f"{rate} differs too: a closed loop hides waits from {metric}"))
    names = dict.fromkeys(name for pair in found for name in pair)
    return Caution("closed-loop", text, tuple(names), short)
