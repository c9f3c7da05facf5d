"""What is asked of a packer, and what the one who takes names out answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..archive import MOST_BYTES
from ..contents import RedactionRecord

__all__ = ["CLAIMS", "Redacted", "Request"]

CLAIMS = "claims.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """What taking names out of a bundle's folder came to.

    Attributes
    ----------
    record : RedactionRecord
        What the bundle says of it, but for what is left.
    scrub : callable
        Takes the same names out of a text that is written later.
    left : callable
        Says where names are left: in the bundle's folder, and in texts that lie in no file yet.
    """

    record: RedactionRecord
    scrub: Callable[[str], str]
    left: Callable[[Path, Mapping[str, bytes]], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be packed.

    Attributes
    ----------
    sources : sequence of str
        As on the command line.
    claims : Path or None
        ``claims.yaml``.
    about : Path or None
        A ``bundle.yaml``; None looks beside each campaign.
    campaign : Path or None
        Where the campaign file lies now; None looks where the trial says that it lay.
    binaries : bool
        Whether programs are packed.
    seed : int
        Of results with random draws.
    max_bytes : int
        The most that all files may have.
    redact : callable or None
        Takes names out of all files of a folder, before anything is computed or hashed.
    tell : callable
        Takes lines that say what is under way.
    """

    sources: Sequence[str]
    claims: Path | None = None
    about: Path | None = None
    campaign: Path | None = None
    binaries: bool = False
    seed: int = 0
    max_bytes: int = MOST_BYTES
    redact: Callable[[Path], Redacted] | None = None
    tell: Callable[[str], None] = field(default=lambda _: None)
