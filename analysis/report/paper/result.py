"""What a paper, and whoever repeats the work, needs: plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..chapter import OldChapter

if TYPE_CHECKING:
    from ..spoken import Span

__all__ = ["Citation", "Fact", "Paper", "RawRuns"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A work that the paragraph rests on: in one line, and as an entry of BibTeX."""

    key: str
    text: str
    bibtex: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A seed, a version or a hash; `text` is None where nobody knows it."""

    name: str
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RawRuns:
    """The runs of the judged metric that count, an entry a run.

    Attributes
    ----------
    order : str
        "execution", or "as read" where the order in which they were executed is not known.
    divide_by : int
        Each value is the number given here, divided by this; 1 for numbers that are given whole.
    variants, benchmarks : tuple of str
        The names that `variant` and `benchmark` count, from 0.
    variant, benchmark : tuple of int
        Of each run.
    sessions, blocks : tuple of (int or str or None, int), or None
        Ids, and how many runs in sequence have each; None where it is not known, of some runs or all.
    values : tuple of float or int
        Of each run.
    """

    metric: str
    unit: str
    better: str
    order: str
    divide_by: int
    variants: tuple[str, ...]
    benchmarks: tuple[str, ...]
    variant: tuple[int, ...]
    benchmark: tuple[int, ...]
    sessions: tuple[tuple[int | str | None, int], ...] | None
    blocks: tuple[tuple[int | str | None, int], ...] | None
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Paper(OldChapter):
    """For a paper, and for whoever repeats the work.

    Attributes
    ----------
    paragraph : tuple of Span
        The method as it was used, ready to be printed.
    citations : tuple of Citation
        What it cites, and the tool itself.
    commands : tuple of str
        What gives these results again.
    notes : tuple of str
        What the commands do not say.
    seeds, versions, hashes : tuple of Fact
        What fixes the results.
    raw : RawRuns
        The runs themselves.
    """

    name: ClassVar[str] = "paper"

    paragraph: tuple[Span, ...]
    citations: tuple[Citation, ...]
    commands: tuple[str, ...]
    notes: tuple[str, ...]
    seeds: tuple[Fact, ...]
    versions: tuple[Fact, ...]
    hashes: tuple[Fact, ...]
    raw: RawRuns

    @property
    def bibtex(self) -> str:
        """All entries, with an empty line between them."""
        return "\n\n".join(one.bibtex for one in self.citations)

    def raw_dict(self) -> Mapping[str, Any]:
        """Give the runs as the page embeds them."""
        found: Mapping[str, Any] = self.to_dict()["raw"]
        return found
