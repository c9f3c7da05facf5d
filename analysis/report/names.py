"""How a name that is not ours is shown: nothing in it moves, hides or reorders what stands around it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..words import shorten, shown

__all__ = [
    "Name",
    "abridging",
    "in_short",
    "kicker",
    "metric_said",
    "names_of",
    "shortened",
    "shown",
]


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it is, as it is shown, and as it is shown where there is little room."""

    whole: str
    text: str
    narrow: str


def names_of(names: Sequence[str], wide: int = 24, narrow: int = 14) -> Mapping[str, Name]:
    """Give names that stand beside each other in two widths, as `shortened` does."""
    texts, narrows = shortened(names, wide), shortened(names, narrow)
    return {name: Name(name, texts[name], narrows[name]) for name in names}


def abridging(names: Sequence[str], width: int = 24) -> Callable[[str], str]:
    """Give what shortens these names in a text, as `shortened` does."""
    short = {name: brief for name, brief in shortened(names, width).items() if brief != name}
    short |= {shown(name): brief for name, brief in short.items()}
    if not short:
        return str
    longest_first = sorted(short, key=len, reverse=True)
    known = re.compile("|".join(map(re.escape, longest_first)))
    return lambda text: known.sub(lambda found: short[found[0]], text)


def shortened(names: Sequence[str], width: int) -> Mapping[str, str]:
    """Give each name as it is shown where there is room for `width` characters.

    A longer one loses its middle. Two that would look alike show where they differ instead, and are
    whole if that does not tell them apart either; only then one is longer than `width`.

    Parameters
    ----------
    names : sequence of str
        All that stand beside each other, as they are; each may be there more than once.
    width : int
        At least 8 for names to be told apart within it.

    Returns
    -------
    mapping of str to str
        Under the name as it is. Names of which `shown` says the same stay alike.
    """
    whole = {name: shown(name) for name in names}
    found = {name: shorten(text, width) for name, text in whole.items()}
    for alike in _alike(found, whole):
        texts = [whole[name] for name in alike]
        first = _shared(texts)
        last = _shared([text[first:][::-1] for text in texts])
        for name in alike:
            found[name] = _around(whole[name], first, last, width)
    for alike in _alike(found, whole):
        found.update((name, whole[name]) for name in alike)
    return found


def _alike(found: Mapping[str, str], whole: Mapping[str, str]) -> list[list[str]]:
    """Group the names that look alike though they are not."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name, text in found.items():
        groups[text].append(name)
    return [group for group in groups.values() if len({whole[name] for name in group}) > 1]


def _around(text: str, first: int, last: int, width: int) -> str:
    """Keep both ends, and what stands between the `first` and the `last` shared characters."""
    end = max(1, (width - 2) // 4)
    middle = width - 2 - 2 * end
    start = max(end, min(first - middle // 3, len(text) - end - middle))
    different = len(text) - last - first
    stop = min(start + max(middle, 0), len(text) - end)
    if different <= 0 or start >= stop:
        return shorten(text, width)
    left = "" if start == end else "…"
    right = "" if stop == len(text) - end else "…"
    return f"{text[:end]}{left}{text[start:stop]}{right}{text[len(text) - end :]}"


def _shared(texts: Iterable[str]) -> int:
    """Count the characters with which all begin."""
    count = 0
    for letters in zip(*texts, strict=False):
        if len(set(letters)) > 1:
            break
        count += 1
    return count


def in_short(text: str, width: int = 28) -> str:
    """Give a text that is not ours, so short that it fits a line or a few."""
    return shorten(shown(" ".join(text.split())), width)


def metric_said(metric: str, better: str) -> str:
    """Name a metric as the line above a page's title does."""
    name = "wall time" if metric == "wall" else in_short(metric)
    return f"{name}, higher is better" if better == "higher" else name


def kicker(command: str, campaign: str | None, *parts: str) -> tuple[str, str]:
    """Give both sides of the line above a page's title: which command of what, and the facts that there are."""
    named = f" · {in_short(campaign)}" if campaign else ""
    return f"fairtrial {command}{named}", " · ".join(filter(None, parts))
