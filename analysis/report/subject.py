"""What a report is about: the sources as read, judged once, with the names that the page uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

from ..data.matrix import PerformanceMatrix
from ..data.trial import Trial
from ..errors import AnalysisError, UsageError
from ..importers.reader import Reading, is_file, open_trial, read_one, trial_and_variant
from ..methods.multilevel.result import HostLevel, MoreSessions, Multilevel
from ..pages.model import Column, Section, Sentence, Table
from ..record.fleet import is_fleet
from ..record.manifest import judge_words
from ..verdict.fleet import (
    disagreeing_sentences,
    judge_fleet,
    refuse_of_fleet,
    standing_sentences,
)
from ..verdict.judging import judge, judge_alone, judge_sources
from ..verdict.result import CandidateVerdict, JudgedData, Verdict
from ..verdict.sides import only
from ..words import Name, command_line, shortened, shown

# --- What a report says of several hosts: the fleet's own verdict, and how each host stands.


def judged_fleet(
    folder: Path, asked: Mapping[str, Any], *, level: str, metric: str | None, explain: bool
) -> Verdict:
    """Judge a fleet for a page, whose rows say with a line how much more would decide it.

    Raises `UsageError` if an option (`asked` holds them as `judge` takes them) is for the trial of
    one host.
    """
    options = dict(asked)
    given = ["--always-valid"] * bool(options.pop("always_valid", False))
    given += ["--certificate"] * (options.pop("certificate", None) is not None)
    refuse_of_fleet(folder, given, "report", level=level)
    verdict = judge_fleet(folder, metric=metric, explain=explain, **options)
    return replace(verdict, candidates=tuple(map(_advised, verdict.candidates)))


def level_of(verdict: Verdict) -> HostLevel | None:
    """Give what the hosts say of the first candidate that several of them judge; None without one."""
    return next((one.hosts for one in verdict.candidates if one.hosts is not None), None)


def hosts_of(verdict: Verdict) -> Mapping[str, str]:
    """Give the host that each session of the joined trial is; empty without several hosts."""
    judged = [one.host for one in verdict.hosts if one.judged]
    return {str(k): host for k, host in enumerate(judged, 1)} if len(judged) > 1 else {}


def ours_of(subject: Subject) -> list[Trial]:
    """Give the trials that fairtrial measured: no command measures those of another tool again."""
    return [trial for trial in subject.trials if trial.manifest.origin != "imported"]


def first_host(verdict: Verdict) -> Path | None:
    """Give the trial of the first host of a fleet that is judged; None where there is no fleet."""
    return next((Path(one.trial) for one in verdict.hosts if one.judged), None)


def only_host(verdict: Verdict) -> Path | None:
    """Give the trial of the only host of a fleet that is judged; None of several, or of no fleet."""
    judged = [one for one in verdict.hosts if one.judged]
    return Path(judged[0].trial) if len(judged) == 1 else None


def standing_of(verdict: Verdict) -> Iterator[str]:
    """Say which hosts disagree with the rest, on what, and which are missing or not complete."""
    several = len(verdict.candidates) > 1
    for one in verdict.candidates:
        if one.hosts is not None:
            for sentence in disagreeing_sentences(verdict, one.hosts):
                yield f"{one.variant}: {sentence.text}" if several else sentence.text
    found: tuple[Sentence, ...] = standing_sentences(verdict.hosts, whole=True)
    yield from (sentence.text for sentence in found)


def _advised(one: CandidateVerdict) -> CandidateVerdict:
    """Put the advice on hosts into the lines, where that on sessions stands for a trial."""
    result, level = one.multilevel, one.hosts
    if result is None or level is None:
        return one
    same = ("low", "high", "chance", "target")
    more = {
        each.benchmark: MoreSessions(
            sessions=each.hosts, runs_suffice=None, **{key: getattr(each, key) for key in same}
        )
        for each in level.more_hosts
    }
    lines = (replace(line, more_sessions=more.get(line.name)) for line in result.benchmarks)
    these = result.these and replace(result.these, more_sessions=more.get(None))
    text: Multilevel = replace(result, benchmarks=tuple(lines), these=these)
    return replace(one, multilevel=text)


# --- How a name that is not ours is shown: nothing in it moves, hides or reorders what stands around it.


def abridging(names: Sequence[str], width: int = 24) -> Callable[[str], str]:
    """Give what shortens these names in a text, as `shortened` does."""
    short = {name: brief for name, brief in shortened(names, width).items() if brief != name}
    short |= {shown(name): brief for name, brief in short.items()}
    if not short:
        return str
    longest_first = sorted(short, key=len, reverse=True)
    known = re.compile("|".join(map(re.escape, longest_first)))
    return lambda text: known.sub(lambda found: short[found[0]], text)


def abridged(part: Any, brief: Callable[[str], str]) -> Any:  # noqa: ANN401 - a section, or what is in it
    """Shorten names in titles and tables: no cell needs more room than on the screen."""
    if isinstance(part, str):
        return brief(part)
    if isinstance(part, tuple):
        return tuple(abridged(one, brief) for one in part)
    if not isinstance(part, Section | Table | Column):
        return part
    inside = {one.name: abridged(getattr(part, one.name), brief) for one in fields(part)}
    return replace(part, **inside)


def metric_label(metric: str, better: str) -> str:
    """Name a metric as the line above a page's title does."""
    name = "wall time" if metric == "wall" else f"{Name(' '.join(metric.split())):.28}"
    return f"{name}, higher is better" if better == "higher" else name


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subject:
    """One metric of the sources, judged; every estimate of the page stems from its verdict."""

    sources: tuple[str, ...]  # as they were given
    title: str  # the campaign, or the files
    trials: tuple[Trial, ...]  # of a fleet one, whose sessions are its hosts; none for files
    verdict: Verdict  # with the published methods' panel
    # the runs that count by variant, the baseline first; without variants that have none
    matrices: Mapping[str, PerformanceMatrix]
    order: tuple[str, ...]  # benchmarks: by the first candidate's speedup, those without one last
    prefix: str  # what ids of this metric begin with: "" for the first metric of the page
    options: Mapping[str, Any]  # the options with which it was judged, as `judge` takes them
    how: Reading = field(default_factory=Reading)

    @property
    def trial(self) -> Trial | None:
        """The trial, if there is exactly one."""
        return self.trials[0] if len(self.trials) == 1 else None

    @property
    def data(self) -> JudgedData:
        """What was judged."""
        return self.verdict.data

    @property
    def baseline(self) -> str:
        """The baseline's name."""
        return self.data.baseline

    @property
    def candidates(self) -> tuple[CandidateVerdict, ...]:
        """The candidates in the trial's order."""
        return self.verdict.candidates

    @property
    def results(self) -> tuple[Multilevel, ...]:
        """What the comparisons of the candidates say that were compared."""
        return self.verdict.compared

    def command(self, words: str, *more: str, of: Sequence[str] = ()) -> str:
        """Give a command on these sources, or on some `of` them, with this metric."""
        metric = () if self.verdict.question.usual else ("--metric", self.verdict.data.metric)
        asked = (*(of or self.sources), *metric, *judge_words(words.split(maxsplit=1)[0]), *more)
        return command_line(["fairtrial", *words.split(), *asked])

    def anchor(self, kind: str, name: str = "") -> str:
        """Give an id for this metric: the kind ("benchmark", "methods", ...), and a name's place.

        A benchmark's id holds a readable part of its name and its place in `order`, so that two
        names that look alike have different ids.
        """
        if not name:
            return f"{self.prefix}{kind}"
        readable = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:40]
        place = self.order.index(name) + 1 if name in self.order else 0
        return f"{self.prefix}{kind}-{place}-{readable}".rstrip("-")


def subject_of(sources: Sequence[str], how: Reading, **asked: object) -> Subject:
    """Read the sources and judge one metric of them, that of `how`; all else is as for `subjects_of`."""
    return subjects_of(sources, how, (), **asked)[0]


def subjects_of(
    sources: Sequence[str], how: Reading, metrics: Sequence[str] = (), **asked: object
) -> tuple[Subject, ...]:
    """Read the sources once and judge several metrics of them, the first metric first.

    Parameters
    ----------
    sources : sequence of str
        A trial or a fleet, a variant of one, two sides (each a variant of a trial, or a file), or one file,
        where nothing is compared.
    how : Reading
        How they are read.
    metrics : sequence of str
        Their names, each once; the metric of `how` where none is named.
    **asked
        ``confidence``, ``margin``, ``correction``, ``weights``, ``looks``, ``always_valid``,
        ``benchmarks``, and for one trial ``variants`` and ``certificate``: as `judge` takes them;
        ``explain`` (default: True): whether the published methods are asked, which takes longest.

    Raises
    ------
    FairtrialError
        If the sources cannot be read, or cannot be judged.
    """
    if len(sources) > 2:
        what = f"a report is on one trial or on two sides, not on {len(sources)} sources"
        fix = "name a trial; its variants are all compared with its baseline"
        raise UsageError(what, " ".join(sources), fix)
    hows = [replace(how, metric=metric) for metric in dict.fromkeys(metrics)] or [how]
    opened: dict[Path, Trial] = {}
    found = []
    for number, one in enumerate(hows, 1):
        if len(sources) == 2:
            read = _of_two(sources, one, asked)
        elif (first := trial_and_variant(sources[0])) is None and is_file(sources[0]):
            read = _of_one_file(sources[0], one, asked)
        else:
            read = _of_one_trial(*(first or (Path(sources[0]), None)), one, asked, opened)
        order = tuple(_order(read["verdict"], read["matrices"]))
        prefix = f"metric-{number}-" if number > 1 else ""
        found.append(Subject(sources=tuple(sources), order=order, prefix=prefix, how=one, **read))
    return tuple(found)


_Read: TypeAlias = dict[str, Any]  # what a subject has of its sources


def _of_one_trial(
    folder: Path,
    variant: str | None,
    how: Reading,
    asked: Mapping[str, Any],
    opened: dict[Path, Trial],
) -> _Read:
    trial = opened.get(folder)
    if trial is None:
        trial = opened[folder] = open_trial(folder, how.level, how.better, decimal=how.decimal)
    better = trial.metric(how.metric or trial.default_metric).better
    if how.better not in {None, better}:
        what = f"in this trial {better} values are better"
        raise UsageError(what, str(folder), f"leave out --better {how.better}")
    options = dict(asked)
    explain = bool(options.pop("explain", True))
    if variant is not None and trial.manifest.variants != (variant,):
        options["variants"] = tuple(dict.fromkeys((variant, *(options.get("variants") or ()))))
    if is_fleet(folder):
        verdict = judged_fleet(folder, options, level=how.level, metric=how.metric, explain=explain)
        if (only := only_host(verdict)) is not None:
            trial = opened[folder] = open_trial(only, how.level)
    else:
        verdict = judge(trial, metric=how.metric, explain=explain, **options)
    matrices = dict(_matrices(trial, verdict, options.get("benchmarks")))
    title = trial.manifest.campaign_name
    return dict(title=title, trials=(trial,), verdict=verdict, matrices=matrices, options=options)


def _of_two(sources: Sequence[str], how: Reading, asked: Mapping[str, Any]) -> _Read:
    options = _without_trial(sources[0], asked)
    explain = bool(options.pop("explain", True))
    found = judge_sources(sources[0], sources[1], how, explain=explain, **options)
    sides = (found.sides.baseline, found.sides.candidate)
    matrices = {one.name: only(one, options.get("benchmarks")) for one in sides}
    return dict(
        title=f"{found.sides.candidate.name} and {found.sides.baseline.name}",
        trials=found.trials,
        verdict=found.verdict,
        matrices=matrices,
        options=options,
    )


def _of_one_file(source: str, how: Reading, asked: Mapping[str, Any]) -> _Read:
    options = _without_trial(source, asked)
    options.pop("explain", None)
    matrix = read_one(source, how)
    chosen = options.get("benchmarks")
    confidence = options.get("confidence", 0.95)
    verdict = judge_alone(
        matrix, metric=how.metric or "values", confidence=confidence, benchmarks=chosen
    )
    matrices = {matrix.name: only(matrix, chosen)}
    return dict(title=matrix.name, trials=(), verdict=verdict, matrices=matrices, options=options)


def _without_trial(source: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    for name, option in (("variants", "--variant"), ("certificate", "--certificate")):
        if asked.get(name) is not None:
            raise UsageError(f"{option} is for one trial", source, f"leave out {option}")
    return {name: value for name, value in asked.items() if name not in {"variants", "certificate"}}


def _matrices(
    trial: Trial, verdict: Verdict, benchmarks: Sequence[str] | None
) -> Iterator[tuple[str, PerformanceMatrix]]:
    names = [one.variant for one in verdict.candidates]
    names += [one.variant for one in verdict.alone]
    for name in dict.fromkeys((verdict.data.baseline, *names)):
        try:
            matrix = trial.matrix(name, verdict.data.metric, carry_zeros=True)
        except AnalysisError:  # no run counts: the verdict says so
            continue
        matrix = only(matrix, benchmarks)
        if matrix.benchmarks:
            yield name, matrix


def _order(verdict: Verdict, matrices: Mapping[str, PerformanceMatrix]) -> list[str]:
    known = [line.name for found in verdict.compared for line in found.benchmarks]
    for matrix in matrices.values():
        zeros = () if matrix.with_zeros is None else matrix.with_zeros.benchmarks
        known += [*matrix.benchmarks, *zeros]
    first = verdict.candidates[0].multilevel if verdict.candidates else None
    lines = {} if first is None else {line.name: line.speedup for line in first.benchmarks}
    return sorted(dict.fromkeys(known), key=lambda bench: -(lines.get(bench) or 0.0))
