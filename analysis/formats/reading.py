"""How sources are read, and what the campaigns of the trials among them name as their question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..data import Decimal, Layout, question_of
from ..record import Better
from .trials import OpenedTrials, is_foreign, trial_and_variant

__all__ = ["Reading", "asked_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How sources are read.

    Attributes
    ----------
    metric : str or None
        Of trials; by default the first that their campaigns' `judge` names, else the wall time.
    better : {"lower", "higher"} or None
        Which direction is better in files.
    layout : {"rows", "columns"} or None
        Whether each row, or each column, of a matrix file is one benchmark; None for rows, but lines of
        one number each are one benchmark.
    decimal : {"comma", "point"} or None
        The decimal sign in files; None for what their numbers tell.
    level : {"process", "iteration"}
        What is one run: a process, or each iteration that it measured of itself.
    command : str
        The command line up to its sources, for remedies.
    question : str or None
        What the campaigns of the trials among the sources name, where `metric` does not: found out by
        who reads them.
    unasked : tuple of str
        The metrics that these trials declare, where nothing names one: found out likewise.
    beside : bool
        Whether a trial is among the sources, so that `metric` is said of it: found out likewise.
    """

    metric: str | None = None
    better: Better | None = None
    layout: Layout | None = None
    decimal: Decimal | None = None
    level: str = "process"
    command: str = "fairtrial COMMAND"
    question: str | None = None
    unasked: tuple[str, ...] = ()
    beside: bool = False

    def opened(self) -> OpenedTrials:
        """Give what reads trials so, each once."""
        return OpenedTrials(self.better, self.decimal)


def asked_of(sources: Sequence[str], how: Reading, opened: OpenedTrials | None = None) -> Reading:
    """Find out what the campaigns of all trials among the sources name as their question.

    Raises
    ------
    UsageError
        If they name different ones, and the call does not say which is meant.
    """
    folders = [named[0] for text in sources if (named := trial_and_variant(text)) is not None]
    ours = [path for path in dict.fromkeys(folders) if path.is_dir() and not is_foreign(path)]
    how = replace(how, beside=bool(folders))
    if how.metric is not None:
        return how
    opened = how.opened() if opened is None else opened
    trials = [opened.read(path) for path in ours]
    if not trials:
        return how
    question = question_of(trials) if any(one.asked for one in trials) else None
    declared = dict.fromkeys(name for trial in trials for name in trial.unasked)
    return replace(how, question=question, unasked=tuple(declared))
