"""What a look at growing data may risk: each look has its share, and the shares have a known sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self, TypedDict

from ...errors import UsageError
from ...stats import counted

__all__ = ["LookFields", "Looks", "LooksRule"]

LooksRule = Literal["single", "planned", "growing", "always-valid"]

_MOST = 1000  # looks that may be planned
_FEWEST = 2  # sessions without which nothing can be decided, so that no risk is taken


class LookFields(TypedDict):
    """What a result says of its look, by the names of its fields."""

    looks: int
    look_alpha: float
    looks_rule: LooksRule
    risk_total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """Which look at the data this is, and by what the risk alpha = 1 - confidence is divided for it.

    Of a trial that grows, nobody said beforehand how often it would be looked at. Its i-th look has
    alpha / (i (i + 1)), which sum to alpha however many there are. The first look at a trial that was
    never appended to has alpha itself, because nobody knew that others would follow: of a trial that
    began with two sessions or more all looks together have at most 1.5 alpha. Looks at fewer than two
    sessions cannot decide anything; they spend nothing and are not counted.

    Attributes
    ----------
    count : int
        This look's number, or how many are planned.
    rule : {"single", "planned", "growing", "always-valid"}
        How the risk is shared.
    division : int
        By what alpha is divided at this look.
    next_division : int
        The same at the next look, for advice on how much more to measure.
    total : float
        The risk of all looks together, as a multiple of alpha: no more than that.
    """

    count: int = 1
    rule: LooksRule = "single"
    division: int = 1
    next_division: int = 1
    total: float = 1.0

    @classmethod
    def planned(cls, count: int) -> Self:
        """Give one of so many looks that were planned: alpha / count each.

        Raises
        ------
        UsageError
            If `count` is no whole number of 1 to 1000.
        """
        counted("looks", count, most=_MOST)
        if count == 1:
            return cls()
        return cls(count=int(count), rule="planned", division=int(count), next_division=int(count))

    @classmethod
    def always_valid(cls) -> Self:
        """Give a look by bounds that hold at all looks at once."""
        return cls(rule="always-valid")

    @classmethod
    def growing(cls, sessions: Sequence[int]) -> Self:
        """Give the latest look at a trial that grew as nobody planned.

        Parameters
        ----------
        sessions : sequence of int
            How many sessions there were at each look, this one last.
        """
        count = max(1, sum(one >= _FEWEST for one in sessions))
        begun = sessions[0] >= _FEWEST
        if len(sessions) == 1:
            return cls(next_division=_spending(2 if begun else 1))
        return cls(
            count=count,
            rule="growing",
            division=_spending(count),
            next_division=_spending(count + 1),
            total=1.5 if begun else 1.0,
        )

    @classmethod
    def of(cls, looks: int | Looks, *, always_valid: bool) -> Looks:
        """Give what the two options of a comparison come to.

        Raises
        ------
        UsageError
            If both are asked for, or the number is out of its range.
        """
        found = looks if isinstance(looks, Looks) else cls.planned(looks)
        if not always_valid or found.rule == "always-valid":
            return found
        if found.rule != "single":
            raise UsageError(
                "looks and always_valid exclude each other",
                fix="always_valid holds however often one looks; looks divides the level",
            )
        return cls.always_valid()

    def alpha(self, confidence: float) -> float:
        """Give the risk of this look."""
        return (1.0 - confidence) / self.division

    def next_alpha(self, confidence: float) -> float:
        """Give the risk that the next look will have."""
        return (1.0 - confidence) / self.next_division

    def fields(self, confidence: float) -> LookFields:
        """Give what a result says of it."""
        return {
            "looks": self.count,
            "look_alpha": round(self.alpha(confidence), 15),
            "looks_rule": self.rule,
            "risk_total": round(self.total * (1.0 - confidence), 15),
        }


def _spending(look: int) -> int:
    return look * (look + 1)
