"""Trials that were measured again, beside those that came in a bundle, and the report on both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from ..data.trial import read_trial
from ..errors import AnalysisError
from ..pages import as_markup as as_html
from ..pages.model import Caution, page_of
from ..pages.result import Result
from ..verdict.comparison import compare_trials
from ..verdict.comparison_effects import overall
from ..verdict.judging import judge
from ..words import shown

if TYPE_CHECKING:
    from ..verdict.comparison_result import TrialComparison

# no request at all: what is in the bundle may be hostile
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:0 auto;padding:1rem}
table{border-collapse:collapse;display:block;overflow-x:auto;margin:1rem 0}
td:not(:last-child){white-space:nowrap}
th,td{padding:.15rem .7rem;border-bottom:1px solid #8886;font-variant-numeric:tabular-nums}
pre{overflow-x:auto}"""


def joint_report(found: Rerun) -> str:
    """Give the page: the answer, then each trial's comparison, and both verdicts."""
    title = shown(f"{found.bundle}, measured again: {found.word}")
    body = "\n".join(line for one in found.trials for line in _trial(one, found.metric))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{escape(title)}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _trial(one: RerunTrial, metric: str | None) -> Iterator[str]:
    yield f"<h2>{escape(shown(one.name))}: {one.word}</h2>"
    if one.comparison is None:
        yield f"<p>{escape(shown(one.reason or ''))}</p>"
    else:
        yield as_html.render_html(page_of(one.comparison))
        metric = one.comparison.metric
    for said, path in (("as it was received", one.old), ("as it was measured here", one.new)):
        yield f"<h3>The verdict on the trial {said}</h3>"
        try:
            trial = read_trial(Path(path))
            yield as_html.render_html(page_of(judge(trial, metric=metric)))
        except AnalysisError as error:
            yield f"<p>{escape(shown(str(error)))}</p>"


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
        """How many more sessions would probably tell, where it cannot be told and that is known."""
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
