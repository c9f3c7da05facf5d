"""How commands are called where room is short: by what tells them apart.

A command that is too long loses first the trailing words that all share (``gzip -6 …``), then the leading ones,
then its middle. Two that would look alike keep a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...words import shorten, shown

MARK = "…"
_LEAST = 4  # columns of a name, below which nothing can be told apart


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Give each name in at most `width` columns (4 at least), and no two alike.

    `names` are as they were typed; what a terminal would obey is written out.
    """
    width = max(width, _LEAST)
    whole = numbered([shown(name) for name in names])
    for found in _ways(whole):
        if max(map(len, found), default=0) <= width and len(set(found)) == len(found):
            return found
    *_, last = _ways(whole)
    return _apart([shorten(name, width) for name in last], width)


def numbered(names: Sequence[str]) -> list[str]:
    """Put a number behind each name that stands there before: ``sort a`` and ``sort a [2]``."""
    seen: dict[str, int] = {}
    found: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} [{seen[name]}]")
    return found


def quoted(name: str) -> str:
    """Put a command into quotes, those that it does not hold itself."""
    sign = '"' if "'" in name and '"' not in name else "'"
    return f"{sign}{name}{sign}"


def _ways(names: list[str]) -> Iterator[list[str]]:
    """Give the names whole, without the trailing words that they share, and without the leading ones too."""
    yield names
    words = [name.split() for name in names]
    tail = _shared([list(reversed(one)) for one in words])
    cut = [one[: len(one) - tail] for one in words]
    if tail:
        yield [f"{' '.join(one)} {MARK}" for one in cut]
    head = _shared(cut)
    if head:
        yield [" ".join((MARK, *one[head:], *((MARK,) if tail else ()))) for one in cut]


def _shared(words: list[list[str]]) -> int:
    """Count the leading words that all have; each keeps one of its own."""
    if len(words) < 2:
        return 0
    most = min(map(len, words)) - 1
    count = 0
    while count < most and len({one[count] for one in words}) == 1:
        count += 1
    return max(count, 0)


def _apart(names: list[str], width: int) -> list[str]:
    """Put a number into each name that looks like another, in the same width."""
    found: list[str] = []
    for number, name in enumerate(names, 1):
        mark = f"{MARK}{number}" if names.count(name) > 1 else ""
        found.append(f"{name[: max(0, width - len(mark))]}{mark}" if mark else name)
    return found
