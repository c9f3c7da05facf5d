"""A caution: what a reader should know before trusting an answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

__all__ = ["Caution", "merged"]


@dataclass(frozen=True, slots=True)
class Caution:
    """What a reader should know before trusting an answer.

    Two cautions are the same when `code` and `about` are: a sentence may be reworded at any time.

    Attributes
    ----------
    code : str
        What it is, in small letters with hyphens; ``docs/json.md`` lists all codes.
    text : str
        One sentence for a person.
    about : tuple of str
        The variants, benchmarks or files that it is about; empty where it is about everything.
    """

    code: str
    text: str = field(compare=False)
    about: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text

    def __contains__(self, words: object) -> bool:
        return isinstance(words, str) and words in self.text

    def of(self, name: str) -> Caution:
        """Give the same caution, said of a variant or a file."""
        return replace(self, text=f"{name}: {self.text}", about=(name, *self.about))


def merged(*groups: Iterable[Caution]) -> tuple[Caution, ...]:
    """Give the cautions of all groups in their order, each once."""
    return tuple(dict.fromkeys(caution for group in groups for caution in group))
