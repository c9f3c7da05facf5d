"""Judging a fleet, and telling it: each host is one draw of the hosts like these.

Of a host nothing is kept but its verdicts, which hold the values of sessions: a fleet of a thousand
hosts needs no more memory than its sessions do. Of each environment only differences are kept.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..data.fleet import (
    FleetHostStanding,
    HostDifference,
    OpenedFleet,
    host_cautions,
    joined_trial,
    nothing_to_judge,
    open_fleet,
    said_of_hosts,
)
from ..data.host_record import not_judged
from ..errors import InsufficientDataError, StoreError, UsageError
from ..methods.multilevel.hosts import over_hosts
from ..methods.multilevel.law import Looks
from ..methods.multilevel.result import HostEffect, HostLevel, Multilevel, leading
from ..pages import number_format as figures
from ..pages.model import Caution, Sentence, ShortSentence, merged
from ..record.environment import diff
from ..record.shapes import records_of
from ..record.trial_files import ENVIRONMENT, EnvironmentShape
from ..stats.arguments import checks_arguments, counted
from ..stats.multiplicity import Correction
from ..words import quoted
from .cautions import Layout, counted_layouts, drawn_layouts, method_cautions
from .judging import in_one_family, judge_host, panel_of, verdict_of_runs
from .result import CandidateVerdict, Verdict, difference
from .sentence import basis_of, unanswered
from .sides import Question, all_failed, comparable, looks_at_hosts, sides_of, summed

if TYPE_CHECKING:
    from ..data.trial import Trial
    from ..record.trial_files import Manifest

# --- The hosts of a fleet: how each stands, in what it differs, what failed on it.


# what is another on every host, or with every login, and says nothing of how it measures
_OWN = {"host.name", "host.machine_id_sha256", "host.boot_id", "process.cwd"}
_VARIABLES = ("HOSTNAME", "HOST", "SLURM", "PWD", "TMPDIR", "XDG_")
_OWN_VARIABLES = tuple(f"variables.{name}" for name in _VARIABLES)
_LONGEST = 80
_FEW = 3  # hosts from which on "most" are more than half of them


@dataclass(slots=True)
class HostEnvironments:
    """The environments of hosts, gathered one at a time as differences to the first."""

    _reference: Mapping[str, Any] | None = None
    _hosts: dict[str, dict[str, tuple[str, str, bool]]] = field(default_factory=dict)

    def add(self, host: str, trial: Path) -> None:
        """Read the environment of a trial's first session; what cannot be read tells nothing."""
        try:
            rows = records_of(trial / ENVIRONMENT, EnvironmentShape)
            record: Mapping[str, Any] = next((row for _, row in rows), {})
        except StoreError:  # being written, or of files of another tool
            return
        if not record:
            return
        if self._reference is None:
            self._reference = record
        self._hosts[host] = {
            change.key: (_cut(change.old), _cut(change.new), change.identity)
            for change in diff(self._reference, record)
            if change.key not in _OWN and change.kind != "variable-key"
            if not change.key.startswith(_OWN_VARIABLES)
        }

    def differences(self) -> dict[str, tuple[HostDifference, ...]]:
        """Give for each host what it has otherwise than most; where all differ, than the first."""
        found: dict[str, list[HostDifference]] = {host: [] for host in self._hosts}
        of_first = {key: old for one in self._hosts.values() for key, (old, _, _) in one.items()}
        for key, old in of_first.items():
            changes = {host: one.get(key, (old, old, False)) for host, one in self._hosts.items()}
            most, count = Counter(new for _, new, _ in changes.values()).most_common(1)[0]
            if 2 * count <= len(changes) >= _FEW:
                most = old
            program = any(identity for _, _, identity in changes.values())
            for host, (_, here, _) in changes.items():
                if here != most:
                    one = HostDifference(key=key, here=here, most=most, program=program)
                    found[host].append(one)
        return {host: tuple(those) for host, those in found.items()}


def _cut(value: Any) -> str:  # noqa: ANN401 - JSON types
    text = "unknown" if value is None else value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def undecided_by(result: Multilevel, failed: Mapping[str, int]) -> Multilevel:
    """Take a candidate's words back, as of a trial in which it fails and the baseline does not."""
    return replace(
        result,
        benchmarks=tuple(
            replace(
                line,
                outcome="undecided",
                reason="fails-always",
                failed_candidate=line.failed_candidate + failed.get(line.name, 0),
                fails=None,  # the test of the other hosts says nothing of those
                pvalue_fails=None,
                pvalue_fails_adjusted=None,
                fails_proven=True,
            )
            for line in result.benchmarks
        ),
        these=result.these and replace(result.these, outcome="undecided"),
        similar=result.similar and replace(result.similar, outcome="undecided"),
    )


_NAMED = 3
_STANDING = ("host", "state", "done", "planned", "why")
_OF_HOSTS = {"still-running", "ended-early", "runs-missing", "one-variant"}  # said of hosts


class _JudgedHost(NamedTuple):
    """What is kept of a host that was judged by itself.

    `crashed` counts by variant the failed runs of each benchmark, where all runs failed.
    """

    host: str
    manifest: Manifest
    verdict: Verdict
    layouts: Mapping[str, Sequence[Layout]]
    crashed: dict[str, Counter[str]]

    @property
    def results(self) -> dict[str, Multilevel]:
        """Its comparisons, by candidate."""
        each = ((one.variant, one.multilevel) for one in self.verdict.candidates)
        return {name: one for name, one in each if one is not None}


@dataclass(slots=True)
class _Hosts:
    """The hosts that were read: `left_out` are those that are not judged, by the reason."""

    fleet: OpenedFleet
    question: Question
    judged: list[_JudgedHost] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    environments: HostEnvironments = field(default_factory=HostEnvironments)
    chosen: tuple[str, ...] = ()
    unknown: UsageError | None = None

    def add(self, name: str, trial: Trial) -> None:
        """Judge a host by itself, and keep what it says."""
        question, baseline = self.question, trial.manifest.baseline
        self.chosen = question.chosen_in(trial)
        try:
            trial.metric(question.metric)
            sides = sides_of(trial, question.metric, self.chosen, question.benchmarks)
        except UsageError as error:  # which counters there are is the host's
            self.unknown = self.unknown or error
            self._leave_out(name, f"no metric {question.metric!r} is known there")
            return
        except InsufficientDataError as error:
            self._leave_out(name, error.what)
            return
        judged, crashed = [], {}
        base = sides[baseline]
        for variant, side in sides.items():
            if variant == baseline:
                continue
            if (both := comparable(side, base)) is not None:
                result = question.compare(*both)
                if result.design == "confounded":
                    self._leave_out(name, "session and variant cannot be separated there")
                else:
                    judged.append(CandidateVerdict(variant=variant, multilevel=result))
            elif base.matrix is not None and all_failed(trial, variant):
                failed = (r for r in trial.failed if r.variant == variant and not r.warmup)
                crashed[variant] = Counter(run.benchmark for run in failed)
        answer = verdict_of_runs(trial, question, sides, Looks(), judged, host=name)
        layouts = drawn_layouts(trial, self.chosen)
        self.judged.append(_JudgedHost(name, trial.manifest, answer, layouts, crashed))
        self.environments.add(name, trial.path)

    def _leave_out(self, name: str, why: str) -> None:
        self.left_out.setdefault(why, []).append(name)

    def left_out_cautions(self) -> Iterator[Caution]:
        """Say which hosts, or variants on them, are not judged."""
        for why, names in self.left_out.items():
            text = f"left out: {figures.listed(names, _NAMED)}: {why}"
            yield Caution("host-left-out", text, tuple(dict.fromkeys(names)))

    def standing(self) -> tuple[FleetHostStanding, ...]:
        """Say how each host stands, judged or not."""
        differs, judged = self.environments.differences(), {one.host for one in self.judged}
        return tuple(
            FleetHostStanding(
                **{name: getattr(one, name) for name in _STANDING},
                judged=one.host in judged,
                host_id=None if one.manifest is None else one.manifest.host_id,
                trial=str(one.trial),
                differs=differs.get(one.host, ()),
            )
            for one in self.fleet.progress
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
    question = Question.of(
        opened,
        metric,
        confidence=confidence,
        benchmarks=benchmarks,
        variants=variants,
        margin=margin,
        correction=correction,
        weights=weights,
        looks=None if looks is None else counted("looks", looks, most=1000),
        explain=explain,
    )
    found = _Hosts(opened, question)
    for name, trial in opened.trials():
        found.add(name, trial)
    if not found.judged:
        raise found.unknown or nothing_to_judge(opened)
    if len(found.judged) == 1:  # the only host that can be judged
        only = next(trial for name, trial in opened.trials() if name == found.judged[0].host)
        answer = judge_host(only, question)
        answer = replace(answer, cautions=merged(found.left_out_cautions(), answer.cautions))
    elif len(found.chosen) == 1:  # the only variant, by the hosts
        answer = judge_host(joined_trial(opened), question)
    else:
        answer = _together(found)
    known = merged(not_judged(question.unnamed), _host_cautions(found), answer.cautions)
    host = answer.data.host if len(found.judged) == 1 else None
    data = replace(answer.data, path=str(opened.path), host=host)
    return replace(answer, data=data, hosts=found.standing(), cautions=known)


def _together(found: _Hosts) -> Verdict:
    opened, question, each = found.fleet, found.question, [one.verdict for one in found.judged]
    manifests = [one.manifest for one in found.judged]
    looks = looks_at_hosts(manifests, question.looks)
    names = [variant for variant in found.chosen if variant != manifests[0].baseline]
    compared = {
        name: partial(_over_hosts, name, found, looks)
        for name in names
        if any(name in one.results for one in found.judged)
    }
    results = in_one_family(compared, planned=any(one.looks_plan for one in manifests))
    candidates = tuple(CandidateVerdict(variant=x, multilevel=results.get(x)) for x in names)
    texts: tuple[Caution, ...] = ()
    if question.explain:
        candidates, texts = _explained(candidates, found)
    return replace(
        each[0],
        data=replace(each[0].data, trial=opened.path.absolute().name),
        counts=summed([one.counts for one in each]),
        look=looks.at(question.confidence),
        layouts=counted_layouts(one.layouts for one in found.judged),
        iterations=tuple(cell for one in each for cell in one.iterations),
        quantile=basis_of(one.quantile for one in each),
        finished=all(one.state != "running" for one in found.fleet.progress),
        candidates=candidates,
        cautions=merged(
            _partly(candidates, found),
            _disagreement_cautions(candidates),
            texts,
            method_cautions(candidates),
            found.left_out_cautions(),
            said_of_hosts(
                {one.host: one.verdict.cautions for one in found.judged}, without=_OF_HOSTS
            ),
        ),
    )


def _over_hosts(
    variant: str, found: _Hosts, looks: Looks, beside: Sequence[Multilevel]
) -> Multilevel:
    """Compare a candidate over the hosts that can; what crashes on another one is not decided."""
    results = {one.host: one.results[variant] for one in found.judged if variant in one.results}
    (whole, *others) = results.values()
    if others:
        whole = over_hosts(results, weights=found.question.weights, looks=looks, beside=beside)
    crashed = [one.crashed[variant] for one in found.judged if variant in one.crashed]
    return undecided_by(whole, sum(crashed, Counter())) if crashed else whole


def _explained(
    candidates: Sequence[CandidateVerdict], found: _Hosts
) -> tuple[tuple[CandidateVerdict, ...], tuple[Caution]]:
    opened, judged = found.fleet, [one.host for one in found.judged]
    hosts = tuple(one for one in opened.fleet.hosts if one.host in judged)
    joined = joined_trial(replace(opened, fleet=replace(opened.fleet, hosts=hosts)))
    base = joined.manifest.baseline
    names = (base, *(one.variant for one in candidates))
    sides = sides_of(joined, found.question.metric, names, found.question.benchmarks)
    asked = []
    for one in candidates:
        result, both = one.multilevel, comparable(sides[one.variant], sides[base])
        panel = None if result is None or both is None else panel_of(result, both)
        asked.append(replace(one, panel=panel))
    listed = figures.listed([one.host for one in hosts], _NAMED)
    caution = Caution(
        "hosts-as-sessions",
        f"the published methods, and pictures of single runs, take each of {len(hosts)} hosts "
        f"({listed}) as one session, in this order; the answer does not",
    )
    return tuple(asked), (caution,)


def _host_cautions(found: _Hosts) -> Iterator[Caution]:
    yield from host_cautions(found.fleet.progress)
    if len(found.judged) == 1 < sum(one.counting > 0 for one in found.fleet.progress):
        name = found.judged[0].host
        text = f"one host only ({name}) can be judged: nothing is said of others"
        yield Caution("one-host", text, (name,))
    programs = {
        host: differing
        for host, those in found.environments.differences().items()
        if (differing := [one.key for one in those if one.program])
    }
    if programs:
        texts = [f"{host}: {figures.listed(keys, 2)}" for host, keys in programs.items()][:3]
        texts += [f"and {len(programs) - 3} more hosts"] * (len(programs) > 3)
        names = tuple(programs)
        yield Caution(
            "binary-differs",
            "what was executed is not the same on all hosts (by its SHA-256, or its commit where each "
            "session builds it), so that hosts and "
            f"programs are compared together: {'; '.join(texts)}",
            names,
            ShortSentence.of("not all hosts executed the same programs: {} differ", names),
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
            text = f"{one.variant} can be compared on one host only ({hosts[0]})"
            yield Caution("one-host", f"{text}: nothing is said of others", (one.variant, *hosts))


def _disagreement_cautions(candidates: Sequence[CandidateVerdict]) -> Iterator[Caution]:
    for one in candidates:
        names = () if one.hosts is None else tuple(one.hosts.disagreeing)
        if not names:
            continue
        whose = f"{one.variant}: " * (len(candidates) > 1) + figures.listed(names, 4)
        text = f"{whose} disagree{'s' * (len(names) == 1)} with the other hosts"
        yield Caution("hosts-disagree", text, (one.variant, *names))


# --- What cannot be asked of a fleet, and what is said of it on a screen.

_TWO = "or compare two variants over all hosts: fairtrial verdict {fleet}:ONE {fleet}:OTHER"
# option -> why it is for one host, and what else there is
_WHY = {
    "--pairs": ("its family of pairs is over the sessions of one trial", _TWO),
    "--rank": ("ranks rest on pairs, whose family is over the sessions of one trial", _TWO),
    "--always-valid": (
        "confidence sequences are known for sessions, not for hosts",
        "or say how often the fleet is looked at: --looks N",
    ),
    "--certificate": (
        "a certificate is of one machine and its design",
        "or leave it out: fairtrial calibrate {fleet} prints the fleet's own error rates",
    ),
    "--level iteration": ("hosts are compared by their processes", "or leave it out"),
}


def refuse_of_fleet(
    fleet: Path, options: Iterable[str], command: str = "verdict", *, level: str
) -> None:
    """Refuse the first of these options, if there is one, and any level but processes."""
    for option in (*options, f"--level {level}"):
        if option in _WHY:
            why, instead = _WHY[option]
            raise UsageError(
                f"{option} is for the trial of one host: {why}",
                str(fleet),
                f"name a host, such as fairtrial {command} {quoted(str(fleet / 'HOST'))} {option}, "
                + instead.format(fleet=quoted(str(fleet))),
            )


_MISSING = 12  # missing hosts that a line names
_LINES = 4  # hosts in another state, and hosts that disagree
_TOLD = 2  # hosts that disagree, on a first screen
_DIFFERENCES = 3
_HASH = re.compile("[0-9a-f]{64}")


def on_hosts_sentences(verdict: Verdict) -> Iterator[Sentence]:
    """Say below a fleet's sentence what holds on hosts like these, and which hosts disagree with the others."""
    several = len(verdict.candidates) > 1
    for one in verdict.candidates:
        if one.hosts is None or one.multilevel is None:
            continue
        parts = [like_these_text(one, verdict), *_disagreeing(one.hosts, verdict)]
        name = f"{one.variant:.20} " if several else ""
        yield Sentence(f"{name}on hosts like these: {'; '.join(parts)}")


def like_these_text(one: CandidateVerdict, verdict: Verdict) -> str:
    """Say what holds on hosts like these: ``3 to 13 % less time``."""
    result = one.multilevel
    line = None if result is None else leading(result)
    if result is None or line is None:
        return "unknown"
    if why := unanswered(result, line, f"{one.variant:.20}"):
        return f"no answer: {why}"
    found = difference(line, verdict)
    ends = found.interval()
    if line.outcome == "equivalent":
        return f"the same within {100 * verdict.question.margin:g} %{ends and f' ({ends})'}"
    if line.outcome == "undecided":
        return f"undecided, {found.between()}"
    if not ends:
        return found.amount()
    if found.link == "as":
        return f"{ends} {found.phrase().partition(' ')[2].partition(' ')[2]}"
    return f"{ends} {found.amount().partition(' % ')[2]}"


def _disagreeing(level: HostLevel, verdict: Verdict) -> Iterator[str]:
    """Name the hosts that disagree with the others, with what each says by itself."""
    effects = {(each.host, each.benchmark): each for each in level.effects}
    for host, those in [*level.disagreeing.items()][:_TOLD]:
        name = those[0].benchmark
        only = name if len(those) == 1 < len(level.benchmarks) else None
        effect = effects.get((host, only)) or effects.get((host, name))
        text = f" ({_effect_text(effect, verdict)})" if effect is not None else ""
        on = f" on {only:.20}" if only is not None else ""
        yield f"{host:.24} disagrees{on}{text}"
    if len(level.disagreeing) > _TOLD:
        yield f"{len(level.disagreeing) - _TOLD} more hosts disagree (--explain)"


def _effect_text(effect: HostEffect, verdict: Verdict) -> str:
    found = difference(effect, verdict)
    amount = found.amount().removesuffix(found.label)
    if found.link == "as":
        amount = found.phrase().partition(" ")[2]
    amount = amount.removesuffix(" time").removesuffix(" memory")
    return f"{amount}, {found.interval()}" if found.interval() else amount


# ---- each host in its own sentence, for --explain and the report


def disagreeing_sentences(verdict: Verdict, level: HostLevel) -> Iterator[Sentence]:
    """Say which hosts disagree with the rest, on what, and what is otherwise there."""
    differs = {one.host: one.differs for one in verdict.hosts}
    for host, those in [*level.disagreeing.items()][:_LINES]:
        text = "; ".join(
            f"{one.benchmark} {figures.ratio(one.speedup)} against {figures.ratio(one.rest)}"
            for one in those[:3]
        )
        if (left := len(those) - 3) > 0:
            text += f" and {left} more benchmark{'s' * (left > 1)}"
        texts = [
            f"{one.key} is {_short_value(one.here)} there, {_short_value(one.most)} on most"
            for one in differs[host]
        ] or ["nothing in its environment differs from most hosts'"]
        if (left := len(texts) - _DIFFERENCES) > 0:
            texts[_DIFFERENCES:] = [f"and {left} more differences (--json)"]
        yield Sentence(f"{host} disagrees with the rest: {'; '.join([text, *texts])}")
    if (left := len(level.disagreeing) - _LINES) > 0:
        yield Sentence(f"and {left} more hosts disagree with the rest (--json)")


def _short_value(value: str) -> str:
    """Cut a hash: its beginning separates it from another."""
    return f"{value[:8]}…" if _HASH.fullmatch(value) else value


def standing_sentences(hosts: Sequence[FleetHostStanding], *, whole: bool) -> tuple[Sentence, ...]:
    """Say which hosts are missing, by their reasons, and how each other one stands that is not complete."""
    others = [one for one in hosts if one.state not in ("missing", "complete")]
    by_why: dict[str | None, list[str]] = {}
    for one in hosts:
        if one.state == "missing":
            by_why.setdefault(one.why, []).append(one.host)
    groups = [
        f"{figures.listed(names, len(names) if whole else _MISSING)}{f' ({why})' if why else ''}"
        for why, names in by_why.items()
    ]
    texts = [Sentence(f"missing: {'; '.join(groups)}")] if groups else []
    listed = others if whole else others[:_LINES]
    for one in listed:
        planned = "an unknown number of" if one.planned is None else one.planned
        reason = f" ({one.why})" if one.why else ""
        texts.append(Sentence(f"{one.state}: {one.host}, {one.done} of {planned} runs{reason}"))
    if len(listed) < len(others):
        texts.append(Sentence(f"and {len(others) - len(listed)} more hosts not complete (--all)"))
    return tuple(texts)
