"""A whole sentence for a first screen, in which names are shortened where it would be too long, and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ..words import shorten, shown

LONGEST = 70  # columns: of 80, after "note  [1] "
_NAMED = 3  # names of a list that are told, at the most
_LEAST = 5  # columns that a name keeps


@dataclass(frozen=True, slots=True)
class ShortSentence:
    """What a first screen says of one thing, the conclusion first.

    `pattern`: The sentence, with ``{}`` in the place of each name (see `plain` for what else may hold braces).
    `slots`: The names in each place: one, or several that are listed.
    """

    pattern: str
    slots: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, pattern: str, *slots: str | tuple[str, ...]) -> ShortSentence:
        """Make a sentence of its pattern and what stands in it."""
        return cls(pattern, tuple((one,) if isinstance(one, str) else one for one in slots))

    def about(self, *names: str) -> ShortSentence:
        """Give the same sentence, said of variants, hosts or files."""
        return ShortSentence(f"{{}}: {self.pattern}", (names, *self.slots))

    def __str__(self) -> str:
        return self.fitted()

    def on(self, shown: Collection[str]) -> ShortSentence | None:
        """Give it for a screen that shows these names, without the others; None where a place is left without any."""
        slots = tuple(tuple(name for name in slot if name in shown) for slot in self.slots)
        return ShortSentence(self.pattern, slots) if all(slots) else None

    def fitted(self, called: Mapping[str, str] | None = None, *, longest: int = LONGEST) -> str:
        """Write it in so many columns: of lists fewer are named and the rest is counted, then names are shortened.

        `called` gives what a screen calls a name, where that is not the name itself.
        """
        text = ""
        for text in self._ever_shorter(called or {}):
            if len(text) <= longest:
                break
        return text

    def _ever_shorter(self, called: Mapping[str, str]) -> Iterator[str]:
        whole = [[shown(called.get(name, name)) for name in names] for names in self.slots]
        most = max((len(names) for names in whole), default=1)
        for count in range(min(most, _NAMED), 0, -1):
            yield self._with(whole, count)
        longest = max((len(name) for names in whole for name in names), default=0)
        for width in range(longest - 1, _LEAST - 1, -1):
            yield self._with([[shorten(name, width) for name in names] for names in whole], 1)

    def _with(self, slots: list[list[str]], count: int) -> str:
        return self.pattern.format(*(_listed(names, count) for names in slots))


def _listed(names: list[str], count: int) -> str:
    """List names as people do: ``a, b and c``, or ``a and 4 more``."""
    if len(names) <= count:
        return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
    return f"{', '.join(names[:count])} and {len(names) - count} more"


def plain(text: str) -> str:
    """Give a text as a part of a pattern: its braces are no places of names."""
    return text.replace("{", "{{").replace("}", "}}")
