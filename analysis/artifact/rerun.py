"""Trials that were measured again, compared with those that came in a bundle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from ..data.trial import read_trial
from ..errors import AnalysisError
from ..pages.model import Block, Caution, CommandLine, Page, Section, Sentence, section
from ..pages.result import Result
from ..verdict.comparison import compare_trials
from ..verdict.comparison_effects import overall
from ..verdict.comparison_result import TrialComparison
from ..words import command_line

Word = Literal["reproduced", "partly", "not", "cannot tell"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunTrial:
    """A trial that was measured again."""

    unlisted: ClassVar[frozenset[str]] = frozenset({"comparison", "reason"})  # JSON has them last
    derived: ClassVar[tuple[str, ...]] = ("word", "reason", "more_sessions", "comparison")

    name: str  # as the bundle calls it
    old: str  # the folders of both trials
    new: str
    campaign: str  # the campaign's file in the new folder
    comparison: TrialComparison | None  # both compared; None where they cannot be
    reason: str | None = None  # why not

    @property
    def word(self) -> Word:
        """What became of the first trial's conclusions."""
        return "cannot tell" if self.comparison is None else self.comparison.word

    @property
    def more_sessions(self) -> int | None:
        """How many more sessions would probably decide, where it is undecided and that is known."""
        if self.comparison is None or self.word != "cannot tell":
            return None
        lines = [one for each in self.comparison.candidates if (one := each.lead) is not None]
        wanted = [one.more_sessions.sessions for one in lines if one.more_sessions is not None]
        known = [count for count in wanted if count is not None]
        return max(known, default=None)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Rerun(Result):
    """What measuring an artifact's trials again has shown."""

    method: ClassVar[str] = "rerun"
    unlisted: ClassVar[frozenset[str]] = frozenset({"trials"})
    derived: ClassVar[tuple[str, ...]] = ("word", "exit_code", "trials")

    bundle: str  # the file, and the new folder with both trials
    folder: str
    metric: str | None  # what was asked for; None for what each old trial's verdict judges
    confidence: float  # of the intervals
    trials: tuple[RerunTrial, ...]  # each trial that was measured again

    @property
    def word(self) -> Word:
        """What became of the conclusions over all trials, as over the candidates of one."""
        return overall([one.word for one in self.trials])

    @property
    def exit_code(self) -> int:
        """What the command ends with: 0 reproduced, 1 partly or not, 7 cannot tell."""
        return {"reproduced": 0, "cannot tell": 7}.get(self.word, 1)

    def screen(self) -> Page:
        """Set what each trial says now; of several the words of all come first."""
        several = len(self.trials) > 1
        sections: list[Section] = []
        following: list[Section] = []
        if several:
            words = "; ".join(f"{one.name} {one.word}" for one in self.trials)
            sections.append(section(f"{self.word}: {words}"))
        for one in self.trials:
            title = one.name if several else ""
            if one.comparison is None:
                sections.append(section(f"cannot tell: {one.reason or ''}", title=title))
                continue
            page = one.comparison.screen()
            sections += [Section(page.sections, title)] if several else page.sections
            following += page.following
        following += [section(*_more(one)) for one in self.trials if one.word == "cannot tell"]
        where = f"this answer is stored in {self.folder}/rerun.md, with both trials"
        return Page(
            title=f"{self.bundle}, measured again",
            sections=tuple(sections),
            cautions=self.cautions,
            following=(*following, section(where)),
        )


def judge_reruns(
    bundle: str,
    folder: Path,
    pairs: Sequence[tuple[str, Path, Path, Path]],
    *,
    metric: str | None = None,
    confidence: float = 0.95,
) -> Rerun:
    """Compare trials of a bundle with those that were measured again."""
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
                text = f"{name}: {fewer} of {all_of} sessions were measured again: it can tell less"
                cautions.append(Caution("rerun-shortened", text, (name,)))
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


def _more(one: RerunTrial) -> Iterator[Block]:
    more = one.more_sessions
    known = "more sessions may tell" if more is None else f"{more} more would probably tell"
    yield Sentence(f"to add sessions ({known}), and compare again:")
    run = ("fairtrial", "run", one.campaign, "--resume", "--trial", one.new)
    yield CommandLine(command_line((*run, "--sessions", f"+{more or 2}")))
    yield CommandLine(command_line(("fairtrial", "diff", one.old, one.new)))
