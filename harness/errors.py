"""The runner's branch of the error tree; the whole tree is drawn in `analysis.errors`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.errors import FairtrialError, StoreError, UsageError
from analysis.record import Finding

__all__ = [
    "CampaignError",
    "FairtrialError",
    "HostError",
    "LaunchError",
    "LauncherDiedError",
    "Problem",
    "StoreError",
    "UsageError",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake in a campaign file.

    `where` is ``file:line:column``; `excerpt` is the offending line with a caret line below it.
    """

    what: str
    where: str
    excerpt: str | None = None
    fix: str | None = None

    def __str__(self) -> str:
        parts = [f"{self.where}: {self.what}"]
        if self.excerpt:
            parts.append(self.excerpt)
        if self.fix:
            parts.append(f"  fix: {self.fix}")
        return "\n".join(parts)


class CampaignError(FairtrialError):
    """A campaign file is wrong; carries every problem found in it."""

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


class HostError(FairtrialError):
    """The host is not fit to measure: a required check failed, or a setting is not permitted."""

    exit_code = 3

    def __init__(
        self,
        what: str,
        where: str | None = None,
        fix: str | None = None,
        findings: Sequence[Finding] = (),
    ) -> None:
        super().__init__(what, where, fix)
        self.findings = tuple(findings)


class LaunchError(FairtrialError):
    """A program, a build step or the launcher itself could not be started."""

    exit_code = 4


class LauncherDiedError(LaunchError):
    """A launcher was killed or crashed while it was needed."""
