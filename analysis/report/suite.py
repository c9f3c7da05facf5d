"""The suite as a whole: the runs of each benchmark as boxes, the ranking of the variants, the biplot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..errors import AnalysisError, InsufficientDataError
from ..pages.model import CommandLine, Section, Table, Value, section, table_of
from ..pages.number_format import span
from ..verdict.ranking import Ranking, RankRange, rank_variants
from ..words import shown
from .page import Chapter, picture_of

if TYPE_CHECKING:
    from .subject import Subject

__all__ = ["chapter"]

_FEWEST, _MOST = 3, 24  # variants that are ranked on a page


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None where there is one benchmark only, or the baseline has no runs."""
    base = subject.matrices.get(subject.baseline)
    if base is None or len(base.benchmarks) < 2:
        return None
    return Chapter(
        name="suite",
        anchor=subject.anchor("suite"),
        title="The suite as a whole",
        lead="boxes of all runs, ranking, biplot",
        sections=lambda: tuple(_sections(subject)),
    )


def _sections(subject: Subject) -> Iterator[Section]:
    """Give what these sources have, and say why the rest is missing."""
    yield section(picture_of("box", subject), title="All runs of each benchmark")
    missing = []
    if len(subject.matrices) < _FEWEST:
        missing.append("A ranking and a biplot need three variants or more.")
    else:
        try:
            yield _ranking(subject)
        except AnalysisError as error:
            missing.append(f"No ranking: {error.what}.")
        try:
            yield section(picture_of("biplot", subject), title="Biplot")
        except AnalysisError as error:
            missing.append(f"No biplot: {error.what}.")
    yield section(
        *missing,
        "The boxes with their numbers:",
        CommandLine(subject.command("plot box", "-o", "box.svg")),
    )


def _ranking(subject: Subject) -> Section:
    """Rank the variants of a trial, best first.

    Raises
    ------
    AnalysisError
        If there is no trial, or they cannot be compared.
    """
    trial, asked, verdict = subject.trial, subject.options, subject.verdict
    variants = tuple(subject.matrices)
    if trial is None or len(variants) > _MOST:
        raise InsufficientDataError(
            f"a page ranks up to {_MOST} variants of one trial", n=len(variants), needed=_FEWEST
        )
    found = rank_variants(
        trial,
        metric=verdict.metric,
        confidence=verdict.confidence,
        variants=variants,
        benchmarks=asked.get("benchmarks"),
        margin=verdict.margin,
        weights=asked.get("weights"),
        looks=1 if verdict.always_valid else asked.get("looks"),
        ranked=False,
    )
    said = (
        f"Each of {len(found.pairs)} pairs is compared over the suite by its {found.sessions} sessions "
        f"(t, {100 * found.confidence:g} %, corrected after Holm)."
    )
    if verdict.always_valid:
        said += " These intervals are those of one look, not the ones that hold at every look."
    return section(_ranks(f"{subject.anchor('suite')}-ranks", found), said, title="Ranking")


def _ranks(name: str, found: Ranking) -> Table:
    order = [place.variant for place in found.places]
    alike = {
        frozenset((pair.candidate, pair.baseline))
        for pair in found.pairs
        if pair.outcome not in ("faster", "slower")
    }

    def told(place: RankRange) -> str:
        others = (other for other in order if frozenset((place.variant, other)) in alike)
        return ", ".join(map(shown, others))

    return table_of(
        name,
        found.places,
        ("<rank", lambda place: Value(span((place.best, place.worst)), place.best)),
        ("<variant", lambda place: shown(place.variant)),
        ("<not told apart from", told),
    )
