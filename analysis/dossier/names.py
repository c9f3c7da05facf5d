"""How a name that is not ours is shown: nothing in it moves, hides or reorders what stands around it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ..words import shorten

__all__ = ["shortened", "shown"]

# What has no glyph of its own but an effect: controls, marks and overrides of direction (UAX 9),
# separators of lines, invisible and deprecated formats, tags, halves of surrogate pairs (they come
# from file names that are no UTF-8, and cannot be written as UTF-8) and noncharacters. The joiners
# U+200C and U+200D stay: scripts and emoji are spelt with them, and `<bdi>` bounds their effect.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ufdd0-\ufdef\ud800-\udfff\U000e0000-\U000e007f"
    f"{''.join(chr(plane + last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF))}]"
)


def shown(text: str) -> str:
    """Give a whole name as it may be shown; it is still to be escaped.

    ASCII controls become their pictures (a line feed ``␊``), other characters without a glyph their
    number, such as ``U+202E``. What is left says the same and can be written as UTF-8.
    """
    return _UNSEEN.sub(_picture, text)


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


def _picture(found: re.Match[str]) -> str:
    number = ord(found.group())
    if number < 0x20:
        return chr(0x2400 + number)
    return "\u2421" if number == 0x7F else f"U+{number:04X}"


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
