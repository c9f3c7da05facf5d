"""The metric that is the question: which it is where nobody names one, and what is said or refused where nothing says it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..pages import number_format as figures
from ..pages.model import Caution
from ..pages.short_sentence import LONGEST, ShortSentence, plain

if TYPE_CHECKING:
    from .trial import Trial

NOT_ASKED = "metric-not-asked"  # the caution's code
_JUDGED = "wall"  # what is judged where nobody names anything

_NAMED = 4


def differing(where: str, asked: Mapping[str, tuple[str, ...]]) -> UsageError:
    """Give the error for trials, or parts of one, that were declared to answer different questions."""
    parts = [f"{name}: {', '.join(metrics) or 'nothing'}" for name, metrics in asked.items()]
    told = figures.listed(parts, _NAMED, mark="; ", last="; and")
    metrics = dict.fromkeys(metrics[0] for metrics in asked.values() if metrics)
    return UsageError(
        f"the campaigns name different metrics as their question (key 'judge'): {told}",
        where,
        f"say which is meant: {' or '.join(f'--metric {name}' for name in metrics)}",
    )


def question_of(trials: Sequence[Trial]) -> str:
    """Give the metric that is judged of trials beside each other, where nobody names one.

    It is the first that their campaigns name; where none does, what is judged of the first trial. What
    an imported trial would be asked is not its own, so it takes the question of the others.
    """
    asked = {str(one.path): one.asked for one in trials if one.manifest.origin != "imported"}
    if len(set(asked.values())) > 1:
        raise differing(" and ".join(asked), asked)
    declared = next(iter(asked.values()), ())
    return declared[0] if declared else trials[0].default_metric


def not_judged(declared: Sequence[str]) -> Caution:
    """Caution that benchmarks declare metrics, and none of them is what was judged."""
    said = (
        f"declares {figures.listed(declared, _NAMED)}; judged is {_JUDGED}: --metric {declared[0]}"
    )
    first = declared[0]
    short = f"judged is {_JUDGED}, although {first} is declared: --metric {first}"
    if len(short) > LONGEST:
        short = f"judged is {_JUDGED}, although others are declared: --metric names one"
    told = ShortSentence.of(plain(short))
    return Caution(NOT_ASKED, said, short=told)


def refuse_unasked(declared: Iterable[str], where: str) -> None:
    """Refuse to decide by a metric that nobody named, where benchmarks declare others."""
    names = list(dict.fromkeys(declared))
    if names:
        told = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        raise UsageError(
            f"it declares {told}; judged would be {_JUDGED}: nothing says which of them the gate is for",
            where,
            f"add --metric {names[0]}, or --metric {_JUDGED}; or write 'judge: {names[0]}' into the "
            "campaign, and let its trial know with 'fairtrial run CAMPAIGN --resume'",
        )
