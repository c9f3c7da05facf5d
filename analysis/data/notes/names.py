"""Names that a reader may take for one another."""

from __future__ import annotations

from collections.abc import Iterator

from ...record import Manifest
from ...report import Caution
from ...words import alike, shown

__all__ = ["name_cautions"]


def name_cautions(manifest: Manifest) -> Iterator[Caution]:
    """Say which variants, and which benchmarks, are called alike: but for case, width or form the same."""
    for part, names in (("variants", manifest.variants), ("benchmarks", manifest.benchmarks)):
        pairs = alike(names)
        if pairs:
            said = "; ".join(f"{_spelt(one)} and {_spelt(two)}" for one, two in pairs[:5])
            more = f" and {len(pairs) - 5} more pairs" if len(pairs) > 5 else ""
            yield Caution(
                "names-alike",
                f"{part} that look alike, and are not the same: {said}{more}",
                tuple(name for pair in pairs for name in pair),
            )


def _spelt(name: str) -> str:
    """Give a name, with the numbers of its signs where these are not ASCII: they may look the same."""
    if name.isascii():
        return name
    return (
        f"{shown(name)} ({' '.join(f'U+{ord(sign):04X}' for sign in name if not sign.isascii())})"
    )
