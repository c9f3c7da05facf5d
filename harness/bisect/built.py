"""What becomes of a commit: a tree with its programs, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .commits import Commit


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A commit that was built: its files are kept in `tree`, for as long as its trials need them.

    `programs` are the files in it that the campaign executes and reads, relative to `tree`, with their
    SHA-256. Two commits with one `identity` are one program. `seconds` is what the build took; `libraries` are
    the folders in which the loader finds its own libraries; `reused` tells that it was built earlier.
    """

    commit: Commit
    tree: Path
    programs: Mapping[str, str]
    identity: str
    seconds: float
    libraries: tuple[Path, ...] = field(default=())
    reused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NotBuilt:
    """A commit that cannot be measured: `why`, in words, and where its build's output is (a file or folder)."""

    commit: Commit
    why: str
    log: Path
