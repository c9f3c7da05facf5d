"""Trials that were measured again, beside those that came in a bundle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from ...comparison import TrialComparison, compare_trials, overall
from ...data import read_trial
from ...errors import AnalysisError
from ...report import Caution, Result

__all__ = ["Rerun", "RerunTrial", "judge_reruns"]

Word = Literal["reproduced", "partly", "not", "cannot tell"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunTrial:
    """A trial that was measured again.

    Attributes
    ----------
    name : str
        As the bundle calls it.
    old, new : str
        The folders of both trials.
    campaign : str
        The campaign's file in the new folder.
    comparison : TrialComparison or None
        Both compared; None where they cannot be.
    reason : str or None
        Why not.
    """

    name: str
    old: str
    new: str
    campaign: str
    comparison: TrialComparison | None
    reason: str | None = None

    @property
    def word(self) -> Word:
        """What became of the first trial's conclusions."""
        return "cannot tell" if self.comparison is None else self.comparison.word

    @property
    def more_sessions(self) -> int | None:
        """How many more sessions would probably tell, where it cannot be told and that is known."""
        if self.comparison is None or self.word != "cannot tell":
            return None
        lines = [one for each in self.comparison.candidates if (one := each.lead) is not None]
        wanted = [one.more_sessions.sessions for one in lines if one.more_sessions is not None]
        known = [count for count in wanted if count is not None]
        return max(known, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {
            "name": self.name,
            "old": self.old,
            "new": self.new,
            "campaign": self.campaign,
            "word": self.word,
            "reason": self.reason,
            "more_sessions": self.more_sessions,
            "comparison": None if self.comparison is None else self.comparison.body(),
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Rerun(Result):
    """What measuring an artifact's trials again has shown.

    Attributes
    ----------
    bundle, folder : str
        The file, and the new folder with both trials.
    metric : str or None
        What was asked for; None for what each old trial's verdict judges.
    confidence : float
        Of the intervals.
    trials : tuple of RerunTrial
        Each trial that was measured again.
    """

    method: ClassVar[str] = "rerun"
    unlisted: ClassVar[frozenset[str]] = frozenset({"trials"})
    derived: ClassVar[tuple[str, ...]] = ("word", "exit_code")

    bundle: str
    folder: str
    metric: str | None
    confidence: float
    trials: tuple[RerunTrial, ...]

    @property
    def word(self) -> Word:
        """What became of the conclusions over all trials, as over the candidates of one."""
        return overall([one.word for one in self.trials])

    @property
    def exit_code(self) -> int:
        """What the command ends with: 0 reproduced, 1 partly or not, 7 cannot tell."""
        return {"reproduced": 0, "cannot tell": 7}.get(self.word, 1)

    def body(self) -> dict[str, Any]:
        """Give what stands below the head."""
        found = Result.body(self)
        tail = {key: found.pop(key) for key in ("cautions", "caution_codes", "references")}
        return {**found, "trials": [one.to_dict() for one in self.trials], **tail}


def judge_reruns(
    bundle: str,
    folder: Path,
    pairs: Sequence[tuple[str, Path, Path, Path]],
    *,
    metric: str | None = None,
    confidence: float = 0.95,
) -> Rerun:
    """Compare trials of a bundle with those that were measured again.

    Parameters
    ----------
    bundle : str
        The bundle's file.
    folder : Path
        The new folder.
    pairs : sequence of (str, Path, Path, Path)
        Name, old trial, new trial and the campaign's file.
    metric : str, optional
        What is compared; by default what the old trial's verdict judges.
    confidence : float
        Of the intervals.

    Returns
    -------
    Rerun
        Trials that cannot be compared say why, and count as "cannot tell".

    Raises
    ------
    UsageError
        If there is no such metric, or no such confidence.
    StoreError
        If a trial cannot be read.
    """
    trials: list[RerunTrial] = []
    cautions: list[Caution] = []
    references: tuple[str, ...] = ()
    for name, old, new, campaign in pairs:
        comparison, reason = None, None
        try:
            before = read_trial(old)
            judged = before.default_metric if metric is None else metric
            comparison = compare_trials(
                before, read_trial(new), metric=judged, confidence=confidence
            )
        except AnalysisError as error:
            reason = error.what
            cautions.append(Caution("rerun-not-compared", f"{name}: {reason}", (name,)))
        else:
            cautions += [one.of(name) if len(pairs) > 1 else one for one in comparison.cautions]
            references = comparison.references
            fewer, all_of = comparison.new.sessions, comparison.old.sessions
            if fewer < all_of:
                told = f"{name}: {fewer} of {all_of} sessions were measured again: it can tell less"
                cautions.append(Caution("rerun-shortened", told, (name,)))
        trials.append(
            RerunTrial(
                name=name,
                old=str(old),
                new=str(new),
                campaign=str(campaign),
                comparison=comparison,
                reason=reason,
            )
        )
    return Rerun(
        bundle=bundle,
        folder=str(folder),
        metric=metric,
        confidence=float(confidence),
        trials=tuple(trials),
        cautions=tuple(cautions),
        references=references,
    )
