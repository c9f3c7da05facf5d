"""What a reader of a verdict should know, each thing said once, the gravest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from ..data import Trial, not_judged
from ..report import Caution
from .result import CandidateVerdict
from .sides import Side
from .waiting import waiting_cautions

__all__ = ["method_cautions", "question_cautions", "run_cautions"]

# said of the whole trial, so not of each variant again
_OF_THE_TRIAL = {"warm-up-left-out", "failed-left-out", "sequential"}
_WORST = 3  # cells with failed runs that are named


def question_cautions(unasked: Sequence[str]) -> Iterator[Caution]:
    """Say first of all that benchmarks declare metrics, and that nobody asked for the one judged."""
    if unasked:
        yield not_judged(unasked)


def run_cautions(trial: Trial, sides: Collection[Side], metric: str) -> Iterator[Caution]:
    """Say what holds for the trial's runs, whatever is computed from this metric of them."""
    if len(trial.manifest.variants) == 1:
        yield Caution("one-variant", "one variant only: there is nothing to compare")
    yield from trial.cautions
    yield from _failed(trial, {one.name for one in sides})
    yield from waiting_cautions(trial, {one.name for one in sides}, metric)
    for one in sides:
        yield from (caution for caution in one.cautions if caution.code not in _OF_THE_TRIAL)


def _failed(trial: Trial, variants: Collection[str]) -> Iterator[Caution]:
    failed = [run for run in trial.failures() if not run.warmup and run.variant in variants]
    if not failed:
        return
    kinds = ", ".join(f"{n} {kind}" for kind, n in Counter(r.outcome for r in failed).items())
    cells = Counter((run.benchmark, run.variant) for run in failed)
    worst = ", ".join(f"{b} / {v} ({n})" for (b, v), n in cells.most_common(_WORST))
    more = f" and {len(cells) - _WORST} more cells" if len(cells) > _WORST else ""
    yield Caution(
        "failed-left-out",
        f"{len(failed)} run{'s' * (len(failed) > 1)} failed ({kinds}) and "
        f"{'are' if len(failed) > 1 else 'is'} left out: {worst}{more}",
        tuple(dict.fromkeys(bench for bench, _ in cells)),
    )


def method_cautions(candidates: Iterable[CandidateVerdict]) -> Iterator[Caution]:
    """Say what `multilevel` says, each thing once, with the candidates that it is about.

    What is said of all of them needs no names; what says other numbers of each is said of each.
    """
    results = [one.multilevel for one in candidates if one.multilevel is not None]
    about: dict[tuple[Caution, str], list[str]] = {}
    for result in results:
        for caution in result.cautions:
            about.setdefault((caution, caution.text), []).append(result.candidate)
    for (caution, text), names in about.items():
        if len(names) == len(results):
            yield caution
        else:
            told = f"{', '.join(names)}: {text}"
            yield Caution(caution.code, told, (*names, *caution.about))
