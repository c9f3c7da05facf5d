"""Judging a fleet: each host is one draw of the hosts like these.

Of a host nothing is kept but its verdicts, which hold the values of sessions: a fleet of a thousand
hosts needs no more memory than its sessions do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..data.fleet import OpenedFleet, host_cautions, joined_trial, nothing_to_judge, open_fleet
from ..errors import InsufficientDataError, UsageError
from ..methods.multilevel.hosts import over_hosts
from ..pages import number_format as figures
from ..pages.model import Caution, ShortSentence, merged
from ..record.fleet import HostProgress, with_plans
from ..stats.arguments import checks_arguments, counted
from ..stats.multiplicity import Correction
from .cautions import method_cautions, question_cautions, run_cautions
from .hosts import FleetHostStanding, HostEnvironments, undecided_by
from .judging import Question, judge_host, panel_of
from .result import CandidateVerdict, Layout, Verdict, counted_layouts, drawn_layouts
from .sentence import basis_of
from .sides import all_failed, comparable, counts_of, looks_at_hosts, sides_of, summed

if TYPE_CHECKING:
    from ..data.iterations import IterationsOfCell, QuantileBasis
    from ..data.trial import Trial
    from ..methods.multilevel.host_effects import HostLevel
    from ..methods.multilevel.law import Looks
    from ..methods.multilevel.result import Multilevel
    from ..record.run_numbers import MetricInfo
    from ..record.trial_files import Manifest
    from .panel import Panel

_NAMED = 3
_OF_HOSTS = {"still-running", "ended-early", "runs-missing", "one-variant"}  # said of hosts


class _JudgedHost(NamedTuple):
    """What is kept of a host that was judged by itself.

    `results` and `crashed`, the failed runs by benchmark where all failed, are by variant.
    """

    host: str
    manifest: Manifest
    counts: dict[str, Any]
    layouts: Mapping[str, Sequence[Layout]]
    quantile: QuantileBasis | None
    results: dict[str, Multilevel]
    crashed: dict[str, Counter[str]]
    iterations: tuple[IterationsOfCell, ...]
    cautions: tuple[Caution, ...]


@dataclass(slots=True)
class _Hosts:
    """The hosts that were read: `left_out` are those that are not judged, by the reason."""

    question: Question
    progress: list[HostProgress] = field(default_factory=list)
    judged: list[_JudgedHost] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    environments: HostEnvironments = field(default_factory=HostEnvironments)
    chosen: tuple[str, ...] = ()
    info: MetricInfo | None = None
    unknown: UsageError | None = None

    def add(self, name: str, trial: Trial) -> None:
        """Judge a host by itself, and keep what it says."""
        question, baseline = self.question, trial.manifest.baseline
        self.chosen = question.chosen_in(trial)
        try:
            self.info = trial.metric(question.metric)
            sides = sides_of(trial, question.metric, self.chosen, question.benchmarks)
        except UsageError as error:  # which counters there are is the host's
            self.unknown = self.unknown or error
            self._leave_out(name, f"no metric {question.metric!r} is known there")
            return
        except InsufficientDataError as error:
            self._leave_out(name, error.what)
            return
        results: dict[str, Multilevel] = {}
        crashed = {}
        for variant, side in sides.items():
            both = None if variant == baseline else comparable(side, sides[baseline])
            if both is not None:
                result = question.compare(*both)
                if result.design == "confounded":
                    self._leave_out(name, "session and variant cannot be separated there")
                else:
                    results[variant] = result
            elif (
                variant != baseline
                and sides[baseline].matrix is not None
                and all_failed(trial, variant)
            ):
                failed = (run for run in trial.failures() if not run.warmup)
                crashed[variant] = Counter(r.benchmark for r in failed if r.variant == variant)
        found = run_cautions(
            trial,
            sides.values(),
            question.metric,
            asked=question.benchmarks,
            rows={line.name for one in results.values() for line in one.benchmarks},
        )
        counts = counts_of(trial, question.metric, self.chosen, sides.values())
        own = tuple(caution for caution in found if caution.code not in _OF_HOSTS)
        drawn = drawn_layouts(trial, self.chosen)
        matrices = [side.matrix for side in sides.values() if side.matrix is not None]
        iterations = tuple(
            replace(one, host=name) for m in matrices for one in m.judged_iterations.values()
        )
        self.judged.append(
            _JudgedHost(
                host=name,
                manifest=trial.manifest,
                counts=counts,
                layouts=drawn,
                quantile=trial.quantile_basis(question.metric),
                results=results,
                crashed=crashed,
                iterations=iterations,
                cautions=own,
            )
        )
        self.environments.add(name, trial.path)

    def _leave_out(self, name: str, why: str) -> None:
        self.left_out.setdefault(why, []).append(name)

    def left_out_cautions(self) -> Iterator[Caution]:
        """Say which hosts, or variants on them, are not judged."""
        for why, names in self.left_out.items():
            text = f"left out: {figures.listed(names, _NAMED)}: {why}"
            yield Caution("host-left-out", text, tuple(dict.fromkeys(names)))

    def run_cautions(self) -> Iterator[Caution]:
        """Say what holds for hosts' own runs, each thing once, with the hosts."""
        parts: dict[Caution, dict[str, str]] = {}
        for one in self.judged:
            for caution in one.cautions:
                parts.setdefault(caution, {})[one.host] = caution.text
        for caution, texts in parts.items():
            short = None if caution.short is None else caution.short.about(*texts)
            names = list(texts)
            where = "all hosts" if len(names) == len(self.judged) else figures.listed(names, _NAMED)
            text = f"on {where}: {caution.text}"
            if len(set(texts.values())) > 1:
                text = f"on {where}, such as {names[0]}: {texts[names[0]]}"
            yield Caution(caution.code, text, (*names[:_NAMED], *caution.about), short)

    def standing(self) -> tuple[FleetHostStanding, ...]:
        """Say how each host stands, judged or not."""
        differs, judged = self.environments.differences(), {one.host for one in self.judged}
        return tuple(
            FleetHostStanding(
                host=one.host,
                state=one.state,
                done=one.done,
                planned=one.planned,
                why=one.why,
                judged=one.host in judged,
                host_id=None if one.manifest is None else one.manifest.host_id,
                trial=str(one.trial),
                differs=differs.get(one.host, ()),
            )
            for one in self.progress
        )


@checks_arguments
def judge_fleet(
    fleet: str | Path,
    *,
    metric: str | None = None,
    confidence: float = 0.95,
    variants: Sequence[str] | None = None,
    benchmarks: Sequence[str] | None = None,
    margin: float = 0.01,
    correction: Correction = "holm",
    weights: Mapping[str, float] | None = None,
    looks: int | None = None,
    explain: bool = False,
) -> Verdict:
    """Compare variants on all hosts of a fleet.

    Parameters
    ----------
    fleet : str or Path
        A folder with ``fleet.json``.
    metric, confidence, variants, benchmarks, margin, correction, weights
        As for `judge`.
    looks : int, optional
        How many looks are planned, this one included; by default the host that was appended to most
        tells which one this is (`looks_at_hosts`).
    explain : bool
        Also ask the published methods, which take each host as one session, and say why they differ.

    Returns
    -------
    Verdict
        Its `candidates` are judged on hosts like these, in the design ``hosts``, and hold in `hosts`
        what is known of these hosts. Where one host only can be judged it is that host's verdict.
        Missing and failed hosts are named in `hosts` and in cautions, and never averaged over.

    Raises
    ------
    StoreError
        If it is no fleet, or its record cannot be trusted.
    UsageError
        If a name is unknown, or an option is out of its range.
    InsufficientDataError
        If no host has a run that counts.
    """
    opened = open_fleet(Path(fleet))
    unnamed = opened.unnamed() if metric is None else ()
    usual = metric is None or opened.is_usual(metric)
    question = Question(
        metric=opened.question() if metric is None else metric,
        confidence=confidence,
        benchmarks=benchmarks,
        variants=variants,
        margin=margin,
        correction=correction,
        weights=weights,
        looks=None if looks is None else counted("looks", looks, most=1000),
        explain=explain,
    )
    found = _Hosts(question)
    for one in opened.hosts():
        found.progress.append(one.progress)
        if one.judgeable and one.trial is not None:
            found.add(one.progress.host, one.trial)
    found.progress = [*with_plans(found.progress)]
    if not found.judged:
        raise found.unknown or nothing_to_judge(opened.path, found.progress)
    several = len(found.judged) > 1 and len(found.chosen) > 1
    answer = _together(opened, found) if several else _as_one_trial(opened, found)
    known = merged(question_cautions(unnamed), _host_cautions(found), answer.cautions)
    return replace(answer, usual=usual, hosts=found.standing(), cautions=known)


def _as_one_trial(opened: OpenedFleet, found: _Hosts) -> Verdict:
    """Judge the only host that can be; or the only variant, by the hosts."""
    if len(found.judged) > 1:
        return replace(judge_host(joined_trial(opened), found.question), host=None)
    trial = next(
        one.trial
        for one in opened.hosts()
        if one.trial is not None and one.progress.host == found.judged[0].host
    )
    answer = judge_host(trial, found.question)
    known = merged(found.left_out_cautions(), answer.cautions)
    return replace(answer, path=str(opened.path), cautions=known)


def _together(opened: OpenedFleet, found: _Hosts) -> Verdict:
    info, first, question = found.info, found.judged[0].manifest, found.question
    assert info is not None  # a host was judged
    looks = looks_at_hosts([one.manifest for one in found.judged], question.looks)
    names = [variant for variant in found.chosen if variant != first.baseline]
    candidates = tuple(_candidate(name, found, looks) for name in names)
    known = [(one.variant, one.multilevel, one.hosts) for one in candidates if one.multilevel]
    by_plan = any(
        one.manifest.looks_plan for one in found.judged
    )  # then they share the risk already
    if len(known) > 1 and not by_plan:
        candidates = tuple(
            _candidate(name, found, looks, [(one, on) for x, one, on in known if x != name])
            for name in names
        )
    texts: tuple[Caution, ...] = ()
    if question.explain:
        candidates, texts = _explained(candidates, opened, found)
    return question.verdict(
        summed([one.counts for one in found.judged]),
        looks,
        first,
        trial=opened.path.absolute().name,
        path=str(opened.path),
        host=None,
        unit=info.unit,
        better=info.better,
        baseline=first.baseline,
        layouts=counted_layouts(one.layouts for one in found.judged),
        quantile=basis_of(one.quantile for one in found.judged),
        finished=all(one.state != "running" for one in found.progress),
        candidates=candidates,
        iterations=tuple(one for host in found.judged for one in host.iterations),
        cautions=merged(
            _partly(candidates, found),
            _disagreeing(candidates),
            texts,
            method_cautions(candidates),
            found.left_out_cautions(),
            found.run_cautions(),
        ),
    )


def _candidate(
    variant: str,
    found: _Hosts,
    looks: Looks,
    beside: Sequence[tuple[Multilevel, HostLevel | None]] = (),
) -> CandidateVerdict:
    results = {one.host: one.results[variant] for one in found.judged if variant in one.results}
    whole: Multilevel | None = next(iter(results.values()), None)
    level: HostLevel | None = None
    if len(results) > 1:
        whole, level = over_hosts(
            results, weights=found.question.weights, looks=looks, beside=beside
        )
    crashed = [one.crashed[variant] for one in found.judged if variant in one.crashed]
    if whole is not None and crashed:
        whole = undecided_by(whole, sum(crashed, Counter()))
    return CandidateVerdict(variant=variant, multilevel=whole, hosts=level)


def _explained(
    candidates: Sequence[CandidateVerdict], opened: OpenedFleet, found: _Hosts
) -> tuple[tuple[CandidateVerdict, ...], tuple[Caution]]:
    judged = [one.host for one in found.judged]
    hosts = tuple(one for one in opened.fleet.hosts if one.host in judged)
    joined = joined_trial(replace(opened, fleet=replace(opened.fleet, hosts=hosts)))
    base = joined.manifest.baseline
    names = (base, *(one.variant for one in candidates))
    sides = sides_of(joined, found.question.metric, names, found.question.benchmarks)

    def panel(one: CandidateVerdict) -> Panel | None:
        both = comparable(sides[one.variant], sides[base])
        return None if one.multilevel is None or both is None else panel_of(one.multilevel, both)

    listed = figures.listed([one.host for one in hosts], _NAMED)
    caution = Caution(
        "hosts-as-sessions",
        f"the published methods, and pictures of single runs, take each of {len(hosts)} hosts "
        f"({listed}) as one session, in this order; the answer does not",
    )
    return tuple(replace(one, panel=panel(one)) for one in candidates), (caution,)


def _host_cautions(found: _Hosts) -> Iterator[Caution]:
    yield from host_cautions(found.progress)
    counting = sum(one.counting > 0 for one in found.progress)
    if len(found.judged) == 1 < counting:
        name = found.judged[0].host
        yield Caution(
            "one-host", f"one host only ({name}) can be judged: nothing is said of others", (name,)
        )
    programs = {
        host: differing
        for host, those in found.environments.differences().items()
        if (differing := [one.key for one in those if one.program])
    }
    if programs:
        text = "; ".join(
            f"{host}: {figures.listed(keys, 2)}" for host, keys in [*programs.items()][:3]
        )
        more = f"; and {len(programs) - 3} more hosts" if len(programs) > 3 else ""
        yield Caution(
            "binary-differs",
            "what was executed is not the same on all hosts (by its SHA-256, or its commit where each "
            "session builds it), so that hosts and "
            f"programs are compared together: {text}{more}",
            tuple(programs),
            ShortSentence.of(
                "not all hosts executed the same programs: {} differ", tuple(programs)
            ),
        )


def _partly(candidates: Sequence[CandidateVerdict], found: _Hosts) -> Iterator[Caution]:
    """Say which candidates fail altogether on some hosts, or can be compared on one only."""
    for one in candidates:
        crashed = tuple(host.host for host in found.judged if one.variant in host.crashed)
        if crashed:
            yield Caution(
                "fails-always",
                f"every run of {one.variant} failed on {figures.listed(crashed, _NAMED)}, where the "
                "baseline did not: whatever the other hosts say, nothing is decided, and a gate stops (exit 1)",
                (one.variant, *crashed),
                ShortSentence.of(
                    "nothing is decided of {}: all runs failed on {}", one.variant, crashed
                ),
            )
        hosts = tuple(host.host for host in found.judged if one.variant in host.results)
        if len(hosts) == 1:
            yield Caution(
                "one-host",
                f"{one.variant} can be compared on one host only ({hosts[0]}): nothing is said of others",
                (one.variant, *hosts),
            )


def _disagreeing(candidates: Sequence[CandidateVerdict]) -> Iterator[Caution]:
    for one in candidates:
        if one.hosts is None or not one.hosts.disagreements:
            continue
        names = tuple(dict.fromkeys(each.host for each in one.hosts.disagreements))
        several = f"{one.variant}: " if len(candidates) > 1 else ""
        yield Caution(
            "hosts-disagree",
            f"{several}{figures.listed(names, 4)} disagree{'s' * (len(names) == 1)} with the other "
            "hosts",
            (one.variant, *names),
        )
