"""Where commits are built: a clone beside the user's repository, and the programs that are kept of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from ..launch.interrupts import Interrupts
    from .commits import Commit, CommitRange
    from .recipe import Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A commit that was built: its files are kept in `tree`, for as long as its trials need them.

    `programs` are what the campaign executes and reads in it, relative to `tree`, with their SHA-256. Two
    commits with one `identity` are one program. `seconds` is what the build took; `env` is what its runs need
    to find its own libraries; `reused` tells that it was built earlier.
    """

    commit: Commit
    tree: Path
    programs: Mapping[str, str]
    identity: str
    seconds: float
    env: Mapping[str, str] = field(default_factory=dict)
    reused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NotBuilt:
    """A commit that cannot be measured: `why`, in words, and the output of its build."""

    commit: Commit
    why: str
    log: Path


class Workshop:
    """Builds commits in a clone, all at one path, and keeps what comes out.

    A context manager: the clone goes at its end, or at the next beginning after a kill; what is kept stays.
    """

    def __init__(
        self,
        commits: CommitRange,
        recipe: Recipe,
        interrupts: Interrupts,
        *,
        folder: Path | None = None,
        cpus: tuple[int, ...] | None = None,
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        """Take `folder`, or one for this campaign and repository in ``$XDG_CACHE_HOME/fairtrial``.

        `say` hears of what begins, such as a build.
        """
        raise NotImplementedError

    def __enter__(self) -> Self:
        """Lock the folder, remove what a killed bisection left, and make the clone when it is needed."""
        raise NotImplementedError

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the clone."""

    @property
    def notes(self) -> Sequence[str]:
        """What the builds met that somebody may take otherwise."""
        raise NotImplementedError

    def build(self, commit: Commit, *, again: bool = False) -> Built | NotBuilt:
        """Build a commit, or give what is kept of it.

        A build that failed is known too: it is not tried anew, except with `again`.

        Raises
        ------
        StoreError
            If the disk is full, or the folder may not be written.
        Interrupted
            If a signal came.
        """
        raise NotImplementedError
