"""What is said where nobody can tell which metric is the question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..report import Caution

if TYPE_CHECKING:
    from .trial_columns import TrialColumns

__all__ = ["NOT_ASKED", "differing", "not_judged", "question_of", "refuse_unasked"]

NOT_ASKED = "metric-not-asked"  # the caution's code
_JUDGED = "wall"  # what is judged where nobody names anything

_NAMED = 4


def differing(where: str, asked: Mapping[str, tuple[str, ...]]) -> UsageError:
    """Give the error for trials, or parts of one, that were declared to answer different questions.

    Parameters
    ----------
    where : str
        What is judged.
    asked : mapping of str to tuple of str
        By the name of each part, the metrics that its campaign names.
    """
    told = "; ".join(
        f"{name}: {', '.join(metrics) or 'nothing'}" for name, metrics in [*asked.items()][:_NAMED]
    )
    more = f"; and {len(asked) - _NAMED} more" if len(asked) > _NAMED else ""
    metrics = dict.fromkeys(metrics[0] for metrics in asked.values() if metrics)
    return UsageError(
        f"the campaigns name different metrics as their question (key 'judge'): {told}{more}",
        where,
        f"say which is meant: {' or '.join(f'--metric {name}' for name in metrics)}",
    )


def question_of(trials: Sequence[TrialColumns]) -> str:
    """Give the metric that is judged of trials beside each other, where nobody names one.

    It is the first that their campaigns name; where none does, what is judged of the first trial. What
    an imported trial would be asked is not its own, so it takes the question of the others.

    Raises
    ------
    UsageError
        If the campaigns name different ones.
    """
    asked = {str(one.path): one.asked for one in trials if one.manifest.origin != "imported"}
    if len(set(asked.values())) > 1:
        raise differing(" and ".join(asked), asked)
    declared = next(iter(asked.values()), ())
    return declared[0] if declared else trials[0].default_metric


def not_judged(declared: Sequence[str]) -> Caution:
    """Caution that benchmarks declare metrics, and none of them is what was judged."""
    names = ", ".join(declared[:_NAMED])
    more = f" and {len(declared) - _NAMED} more" if len(declared) > _NAMED else ""
    said = f"declares {names}{more}; judged is {_JUDGED}: --metric {declared[0]}"
    return Caution(NOT_ASKED, said)


def refuse_unasked(declared: Iterable[str], where: str) -> None:
    """Refuse to decide by a metric that nobody named, where benchmarks declare others.

    Raises
    ------
    UsageError
        If there are any.
    """
    names = list(dict.fromkeys(declared))
    if names:
        told = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        raise UsageError(
            f"it declares {told}; judged would be {_JUDGED}: nothing says which of them the gate is for",
            where,
            f"add --metric {names[0]}, or --metric {_JUDGED}; or write 'judge: {names[0]}' into the "
            "campaign, and let its trial know with 'fairtrial run CAMPAIGN --resume'",
        )
