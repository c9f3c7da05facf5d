"""Judges a fleet: each host by itself, one at a time, then all of them together.

Of a host nothing is kept but its verdicts, which hold the values of sessions: a fleet of a thousand
hosts needs no more memory than its sessions do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...data import Trial
from ...data.fleets import (
    OpenedFleet,
    host_cautions,
    joined_trial,
    nothing_to_judge,
    open_fleet,
)
from ...errors import InsufficientDataError, UsageError
from ...methods.multilevel import HostLevel, Looks, Multilevel, multilevel, over_hosts
from ...record import HostProgress, Manifest, MetricInfo, with_plans
from ...report import Caution, figures, merged
from ...stats import Correction, counted, door
from ..cautions import method_cautions, question_cautions, run_cautions
from ..counts import RunCounts, counts_of, summed
from ..host_standing import FleetHostStanding
from ..judging import judge
from ..looking import looks_at_hosts
from ..names import candidates_in, known_names
from ..result import CandidateVerdict, Verdict
from ..sides import Side, all_failed, comparable, sides_of
from .crashing import failed_of, undecided_by
from .differing import Environments
from .explaining import explained

__all__ = ["judge_fleet"]

_NAMED = 3
_OF_HOSTS = {"still-running", "ended-early", "runs-missing", "one-variant"}  # said of hosts


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """How hosts are judged."""

    metric: str
    confidence: float
    variants: Sequence[str] | None
    benchmarks: Sequence[str] | None
    margin: float
    correction: Correction
    weights: Mapping[str, float] | None
    looks: int | None
    explain: bool


@dataclass(slots=True)
class _Gathered:
    """What is kept of the hosts that were read: `results` by variant and host, `told` by caution."""

    asked: _Asked
    hosts: list[HostProgress] = field(default_factory=list)
    judged: list[str] = field(default_factory=list)
    results: dict[str, dict[str, Multilevel]] = field(default_factory=dict)
    told: dict[Caution, dict[str, str]] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    crashed: dict[str, dict[str, Counter[str]]] = field(default_factory=dict)
    counts: list[RunCounts] = field(default_factory=list)
    environments: Environments = field(default_factory=Environments)
    chosen: tuple[str, ...] = ()
    info: MetricInfo | None = None
    first: Manifest | None = None
    unknown: UsageError | None = None
    manifests: list[Manifest] = field(default_factory=list)

    def add(self, name: str, trial: Trial) -> None:
        """Judge a host by itself, and keep what it says."""
        asked, manifest = self.asked, trial.manifest
        self.chosen = candidates_in(trial, asked.variants)
        known_names("benchmark", asked.benchmarks, manifest.benchmarks, str(trial.path))
        try:
            info = trial.metric(asked.metric)
        except UsageError as error:  # which counters there are is the host's
            self.unknown = self.unknown or error
            what = f"no metric {asked.metric!r} is known there"
            self.left_out.setdefault(what, []).append(name)
            return
        self.info = info
        try:
            sides = sides_of(trial, asked.metric, self.chosen, asked.benchmarks)
        except InsufficientDataError as error:
            self.left_out.setdefault(error.what, []).append(name)
            return
        self.first = self.first or manifest
        self.judged.append(name)
        for caution in run_cautions(trial, sides.values(), asked.metric):
            if caution.code not in _OF_HOSTS:
                self.told.setdefault(caution, {})[name] = caution.text
        self.manifests.append(manifest)
        self._compare(name, trial, sides)
        self.counts.append(counts_of(trial, asked.metric, self.chosen, sides.values()))
        self.environments.add(name, trial.path)

    def _compare(self, name: str, trial: Trial, sides: Mapping[str, Side]) -> None:
        asked, baseline = self.asked, trial.manifest.baseline
        for variant, side in sides.items():
            both = None if variant == baseline else comparable(side, sides[baseline])
            if both is None:
                if sides[baseline].matrix is not None and all_failed(trial, variant):
                    self.crashed.setdefault(variant, {})[name] = failed_of(trial, variant)
                continue
            result = multilevel(
                *both,
                confidence=asked.confidence,
                margin=asked.margin,
                correction=asked.correction,
                weights=asked.weights,
            )
            if result.design == "confounded":
                why = "session and variant cannot be told apart there"
                self.left_out.setdefault(why, []).append(name)
            else:
                self.results.setdefault(variant, {})[name] = result

    def cautions(self) -> Iterator[Caution]:
        """Say what holds for hosts' own runs, each thing once, with the hosts."""
        for why, names in self.left_out.items():
            text = f"left out: {figures.listed(names, _NAMED)}: {why}"
            yield Caution("host-left-out", text, tuple(dict.fromkeys(names)))
        for caution, texts in self.told.items():
            names = list(texts)
            where = "all hosts" if len(names) == len(self.judged) else figures.listed(names, _NAMED)
            one = len(set(texts.values())) == 1
            said = f"on {where}: {caution.text}"
            if not one:
                said = f"on {where}, such as {names[0]}: {texts[names[0]]}"
            yield Caution(caution.code, said, (*names[:_NAMED], *caution.about))


@door
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
    unasked = opened.unasked() if metric is None else ()
    usual = metric is None or opened.is_usual(metric)
    asked = _Asked(
        metric=opened.question() if metric is None else metric,
        confidence=confidence,
        variants=variants,
        benchmarks=benchmarks,
        margin=margin,
        correction=correction,
        weights=weights,
        looks=None if looks is None else counted("looks", looks, most=1000),
        explain=explain,
    )
    found = _Gathered(asked=asked)
    for one in opened.hosts():
        found.hosts.append(one.progress)
        if one.judgeable and one.trial is not None:
            found.add(one.progress.host, one.trial)
    hosts = with_plans(found.hosts)
    if found.first is None and found.unknown is not None:
        raise found.unknown
    if found.first is None:
        raise nothing_to_judge(opened.path, hosts)
    alone = len(found.judged) == 1
    way = _alone if alone else _one_variant if len(found.chosen) < 2 else _together
    answer = way(opened, found, hosts)
    told = merged(question_cautions(unasked), answer.cautions)
    return replace(answer, usual=usual, cautions=told)


def _alone(opened: OpenedFleet, found: _Gathered, hosts: Sequence[HostProgress]) -> Verdict:
    """Give the verdict on the only host that can be judged."""
    trial = next(
        one.trial
        for one in opened.hosts()
        if one.trial is not None and one.progress.host == found.judged[0]
    )
    asked = found.asked
    answer = judge(
        trial,
        metric=asked.metric,
        confidence=asked.confidence,
        variants=asked.variants,
        benchmarks=asked.benchmarks,
        margin=asked.margin,
        correction=asked.correction,
        weights=asked.weights,
        looks=asked.looks,
        explain=asked.explain,
    )
    found.told.clear()  # the answer says it, of the same host
    told = merged(_host_cautions(found, hosts), found.cautions(), answer.cautions)
    return replace(answer, path=str(opened.path), hosts=_standing(found, hosts), cautions=told)


def _one_variant(opened: OpenedFleet, found: _Gathered, hosts: Sequence[HostProgress]) -> Verdict:
    """Give the only variant's own intervals, by the hosts: there is nothing to compare."""
    asked = found.asked
    answer = judge(
        joined_trial(opened),
        metric=asked.metric,
        confidence=asked.confidence,
        benchmarks=asked.benchmarks,
        margin=asked.margin,
        correction=asked.correction,
        weights=asked.weights,
        looks=asked.looks,
    )
    told = merged(_host_cautions(found, hosts), answer.cautions)
    return replace(answer, host=None, hosts=_standing(found, hosts), cautions=told)


def _together(opened: OpenedFleet, found: _Gathered, hosts: Sequence[HostProgress]) -> Verdict:
    asked, info, first = found.asked, found.info, found.first
    assert info is not None and first is not None  # noqa: PT018 - a host was judged
    looks = looks_at_hosts(found.manifests, asked.looks)
    candidates = tuple(
        _candidate(variant, found.results.get(variant, {}), found, looks)
        for variant in found.chosen
        if variant != first.baseline
    )
    told: tuple[Caution, ...] = ()
    if asked.explain:
        candidates, how = explained(
            candidates,
            opened,
            judged=found.judged,
            metric=asked.metric,
            benchmarks=asked.benchmarks,
        )
        told = (how,)
    standing = _standing(found, hosts)
    counts = summed(found.counts)
    return Verdict(
        trial=opened.path.absolute().name,
        path=str(opened.path),
        campaign=first.campaign_name,
        campaign_path=first.campaign_path,
        host=None,
        metric=asked.metric,
        unit=info.unit,
        better=info.better,
        baseline=first.baseline,
        sessions=counts.sessions,
        session_runs=counts.session_runs,
        runs=counts.runs,
        warmups=counts.warmups,
        failed=counts.failed,
        confidence=asked.confidence,
        margin=asked.margin,
        correction=asked.correction,
        **looks.fields(asked.confidence),
        always_valid=False,
        finished=all(one.state != "running" for one in hosts),
        candidates=candidates,
        alone=(),
        hosts=standing,
        cautions=merged(
            _host_cautions(found, hosts),
            _partly(candidates, found),
            _disagreeing(candidates),
            told,
            method_cautions(candidates),
            found.cautions(),
        ),
    )


def _candidate(
    variant: str, results: Mapping[str, Multilevel], found: _Gathered, looks: Looks
) -> CandidateVerdict:
    whole: Multilevel | None = next(iter(results.values()), None)
    level: HostLevel | None = None
    if len(results) > 1:
        whole, level = over_hosts(results, weights=found.asked.weights, looks=looks)
    crashed = found.crashed.get(variant, {})
    if whole is not None and crashed:
        whole = undecided_by(whole, sum(crashed.values(), Counter()))
    return CandidateVerdict(
        variant=variant, multilevel=whole, hpt_speedup=None, panel=None, hosts=level
    )


def _standing(found: _Gathered, hosts: Sequence[HostProgress]) -> tuple[FleetHostStanding, ...]:
    differs = found.environments.differences()
    return tuple(
        FleetHostStanding.of(
            one, judged=one.host in found.judged, differs=differs.get(one.host, ())
        )
        for one in hosts
    )


def _host_cautions(found: _Gathered, hosts: Sequence[HostProgress]) -> Iterator[Caution]:
    yield from host_cautions(hosts)
    counting = sum(one.counting > 0 for one in hosts)
    if len(found.judged) == 1 < counting:
        name = found.judged[0]
        yield Caution(
            "one-host", f"one host only ({name}) can be judged: nothing is said of others", (name,)
        )
    programs = {
        host: differing
        for host, those in found.environments.differences().items()
        if (differing := [one.key for one in those if one.program])
    }
    if programs:
        told = "; ".join(
            f"{host}: {figures.listed(keys, 2)}" for host, keys in [*programs.items()][:3]
        )
        more = f"; and {len(programs) - 3} more hosts" if len(programs) > 3 else ""
        yield Caution(
            "binary-differs",
            "what was executed is not the same on all hosts (by its SHA-256), so that hosts and "
            f"programs are compared together: {told}{more}",
            tuple(programs),
        )


def _partly(candidates: Sequence[CandidateVerdict], found: _Gathered) -> Iterator[Caution]:
    """Say which candidates fail altogether on some hosts, or can be compared on one only."""
    for one in candidates:
        crashed = tuple(found.crashed.get(one.variant, {}))
        if crashed:
            yield Caution(
                "fails-more",
                f"every run of {one.variant} failed on {figures.listed(crashed, _NAMED)}, where the "
                "baseline did not: whatever the other hosts say, nothing is decided",
                (one.variant, *crashed),
            )
        hosts = tuple(found.results.get(one.variant, {}))
        if len(hosts) == 1:
            yield Caution(
                "one-host",
                f"{one.variant} can be compared on one host only ({hosts[0]}): nothing is said of others",
                (one.variant, *hosts),
            )


def _disagreeing(candidates: Sequence[CandidateVerdict]) -> Iterator[Caution]:
    """Name the hosts that disagree with the rest, of each candidate."""
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
