"""What a reader of a mixture report should know, each thing said once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ....data import PerformanceMatrix
from ....report import Caution
from ..fitting.cautions import FEW_VALUES
from .result import MixtureCell, MixturePair, MixtureReport

__all__ = ["contest_cautions", "report_cautions", "unfitted"]


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
        yield from _few(report)
    if report.options.resamples == 0:
        yield Caution(
            "nothing-resampled",
            "nothing was resampled: no fit test, no evidence for modes, no intervals",
        )


def _few(report: MixtureReport) -> Iterator[Caution]:
    """Warn of samples that say little; the detail says so of each."""
    sizes = [cell.values.size for cell in report.cells]
    few = sum(size < FEW_VALUES for size in sizes)
    if few:
        yield Caution(
            "few-values",
            f"{few} of {len(sizes)} samples have fewer than {FEW_VALUES} values, which hardly "
            "determine a number of components",
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
    return Caution(
        caution.code,
        f"{separator.join(names)}: {caution.text}",
        (*names, *caution.about),
    )
