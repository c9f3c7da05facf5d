"""What of a campaign holds for every commit: one variant's keys, its place in the repository, its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..campaign.model import Build, Campaign, Cell
    from .commits import CommitRange
    from .workshop import Built


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenInput:
    """A file that GOOD or BAD does not hold: it is taken from the work tree, the same for all commits.

    `path` is relative to the top of the repository.
    """

    path: PurePosixPath
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How each commit is built and measured: as the campaign's `variant`, at the campaign's `place`.

    `place` is the campaign's folder, relative to the top of the repository; `cells` are those of the variant,
    one a benchmark. `notes` tell what is taken otherwise than somebody may think.
    """

    campaign: Campaign
    variant: str
    root: Path
    place: PurePosixPath
    cells: tuple[Cell, ...]
    build: Build | None
    inputs: tuple[TakenInput, ...]
    notes: tuple[str, ...]


def recipe_of(
    campaign: Campaign,
    commits: CommitRange,
    *,
    variant: str | None = None,
    benchmarks: Sequence[str] = (),
) -> Recipe:
    """Give what holds for every commit: the keys of `variant`, else of the campaign's baseline.

    Raises
    ------
    UsageError
        If the campaign lies outside of the repository, has no such variant or benchmark, or would execute
        one and the same program for every commit.
    """
    raise NotImplementedError


def campaign_of(recipe: Recipe, built: Sequence[Built], file: Path, *, baseline: Built) -> Campaign:
    """Write the campaign whose variants are these commits to `file`, and load it.

    Its variants are called as the commits (`Commit.name`), in the given order.
    """
    raise NotImplementedError
