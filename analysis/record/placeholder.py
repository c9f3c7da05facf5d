"""What stands for a name that was taken out of a trial before it was given away."""

from __future__ import annotations

import re

__all__ = ["PLACEHOLDER", "placeholder_of"]

# the last part, of machines, tells one redaction from another: equal numbers of two say nothing
PLACEHOLDER = re.compile(
    r"redacted-(?P<sort>[a-z]+)-(?P<number>\d+)(?:-(?P<tag>[0-9a-f]{8}))?(?![\w-])"
)


def placeholder_of(sort: str, number: int, tag: str | None = None) -> str:
    """Give the placeholder of the name of this number, such as ``redacted-host-1``."""
    return f"redacted-{sort}-{number}" + ("" if tag is None else f"-{tag}")
