"""The error tree. Libraries raise these; only the command line prints and exits.

::

    FairtrialError(what, where, fix)
    +- UsageError               wrong arguments                                   exit 2
    +- CampaignError            a campaign or another YAML file is wrong          exit 2
    +- HostError                (harness.errors) the host is not fit to measure   exit 3
    +- LaunchError              (harness.errors) a program could not be started   exit 4
    +- StoreError               a trial directory is damaged, newer, or changed   exit 5
    +- AnalysisError            the data do not allow the analysis                exit 6
       +- InsufficientDataError says how many values are needed
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class FairtrialError(Exception):
    """Root of every error that fairtrial raises on purpose.

    Parameters
    ----------
    what : str
        What is wrong, in one sentence without a full stop.
    where : str, optional
        File, ``file:line:column``, benchmark or host path concerned.
    fix : str, optional
        What the reader can do about it.
    """

    exit_code = 70

    def __init__(self, what: str, where: str | None = None, fix: str | None = None) -> None:
        super().__init__(what, where, fix)
        self.what = what
        self.where = where
        self.fix = fix

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are made again from their arguments; some of ours have more, by keyword only.
        return _made_again, (type(self), self.args, vars(self))

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}\n  fix: {self.fix}" if self.fix else head


def _made_again(
    kind: type[FairtrialError], args: tuple[Any, ...], state: dict[str, Any]
) -> FairtrialError:
    """Rebuild an error that comes from another process."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class UsageError(FairtrialError):
    """The command line or an argument of a function is wrong."""

    exit_code = 2


class Problem(NamedTuple):
    """One mistake in a YAML file.

    `where` is ``file:line:column``; `excerpt` is the offending line with a caret line below it.
    """

    what: str
    where: str
    excerpt: str | None = None
    fix: str | None = None

    @property
    def place(self) -> tuple[int, int]:
        """Line and column, by which problems are sorted."""
        line, column = self.where.rsplit(":", 2)[-2:]
        return int(line), int(column)

    def __str__(self) -> str:
        parts = [f"{self.where}: {self.what}"]
        if self.excerpt:
            parts.append(self.excerpt)
        if self.fix:
            parts.append(f"  fix: {self.fix}")
        return "\n".join(parts)


class CampaignError(FairtrialError):
    """A campaign, ``bundle.yaml`` or ``claims.yaml`` is wrong; carries every problem found in it."""

    exit_code = 2

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        first = self.problems[0]
        super().__init__(first.what, first.where, first.fix)

    def __str__(self) -> str:
        count = len(self.problems)
        lines = [str(problem) for problem in self.problems]
        noun = "problem" if count == 1 else "problems"
        lines.append(f"{count} {noun}; nothing was executed.")
        return "\n".join(lines)


def library_needed(
    purpose: str, library: str, error: ImportError, where: str | None = None, *, fix: str
) -> UsageError:
    """Make the error of an optional library that is not there, or that another one does not suit."""
    absent = isinstance(error, ModuleNotFoundError)
    why = "is not installed" if absent else f"cannot be imported: {error}"
    return UsageError(f"{purpose} needs the library {library}, which {why}", where, fix)


class StoreError(FairtrialError):
    """A trial directory cannot be written, or cannot be trusted."""

    exit_code = 5


class AnalysisError(FairtrialError):
    """The data do not allow the analysis that was asked for."""

    exit_code = 6


class InsufficientDataError(AnalysisError):
    """There are too few values.

    Parameters
    ----------
    what, where, fix : str
        As in `FairtrialError`.
    n, needed : int
        How many values there are, and how many are needed at least.
    """

    def __init__(
        self, what: str, where: str | None = None, fix: str | None = None, *, n: int, needed: int
    ) -> None:
        super().__init__(what, where, fix)
        self.n = n
        self.needed = needed


class SidesWarning(UserWarning):
    """Candidate and baseline were given by their places where the baseline comes first."""
