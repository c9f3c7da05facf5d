"""A fleet on one screen: what holds on its hosts, what on hosts like these, who disagrees and who is missing."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import StoreError, UsageError
from ..methods.multilevel.result import MOST_SHOWN, Line, Multilevel
from ..pages import number_format as figures
from ..pages.difference import Difference
from ..pages.model import Sentence
from ..record.environment import diff
from ..record.shapes import records_of
from ..record.trial_files import ENVIRONMENT, EnvironmentShape
from ..words import quoted, shorten, shown
from .sentence import difference, leading, unanswered

if TYPE_CHECKING:
    from ..methods.multilevel.host_effects import Disagreement, HostEffect, HostLevel
    from ..record.fleet import HostState
    from .result import CandidateVerdict, Verdict

# --- The hosts of a fleet: how each stands, in what it differs, what failed on it, what
# cannot be asked of it.
#
# Only differences are kept of each environment, so that a fleet of a thousand hosts costs what its hosts
# differ in.


@dataclass(frozen=True, slots=True, kw_only=True)
class HostDifference:
    """What a host has, and what most hosts have: `key` with dots, as in ``docs/environment.md``."""

    key: str
    here: str
    most: str
    program: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetHostStanding:
    """One host of a fleet."""

    host: str
    state: HostState
    done: int
    planned: int | None
    why: str | None
    judged: bool
    host_id: str | None
    trial: str
    differs: tuple[HostDifference, ...] = ()


# what is another on every host, or with every login, and says nothing of how it measures
_OWN = {"host.name", "host.machine_id_sha256", "host.boot_id", "process.cwd"}
_OWN_VARIABLES = ("HOSTNAME", "HOST", "SLURM", "PWD", "TMPDIR", "XDG_")
_LONGEST = 80


@dataclass(slots=True)
class HostEnvironments:
    """The environments of hosts, gathered one at a time as differences to the first."""

    _reference: Mapping[str, Any] | None = None
    _hosts: dict[str, dict[str, tuple[str, str, bool]]] = field(default_factory=dict)

    def add(self, host: str, trial: Path) -> None:
        """Read the environment of a trial's first session; what cannot be read tells nothing."""
        record = _first(trial)
        if record is None:
            return
        if self._reference is None:
            self._reference = record
        self._hosts[host] = {
            change.key: (_cut(change.old), _cut(change.new), change.identity)
            for change in diff(self._reference, record)
            if change.key not in _OWN and change.kind != "variable-key" and not _is_own(change.key)
        }

    def differences(self) -> dict[str, tuple[HostDifference, ...]]:
        """Give for each host what it has otherwise than most; where all differ, than the first."""
        keys: dict[str, str] = {}  # to the value of the first host
        programs = set()
        for changes in self._hosts.values():
            for key, (old, _, identity) in changes.items():
                keys[key] = old
                if identity:
                    programs.add(key)
        usual = {}
        for key, old in keys.items():
            values = Counter(
                changes[key][1] if key in changes else old for changes in self._hosts.values()
            )
            most, count = values.most_common(1)[0]
            usual[key] = most if 2 * count > len(self._hosts) or len(self._hosts) < 3 else old
        return {
            host: tuple(
                HostDifference(key=key, here=here, most=most, program=key in programs)
                for key, most in usual.items()
                if (here := changes[key][1] if key in changes else keys[key]) != most
            )
            for host, changes in self._hosts.items()
        }


def _first(trial: Path) -> Mapping[str, Any] | None:
    try:
        return next((row for _, row in records_of(trial / ENVIRONMENT, EnvironmentShape)), None)
    except StoreError:  # being written, or of files of another tool
        return None


def _is_own(key: str) -> bool:
    section, _, name = key.partition(".")
    return section == "variables" and name.startswith(_OWN_VARIABLES)


def _cut(value: Any) -> str:  # noqa: ANN401 - JSON types
    if value is None:
        return "unknown"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def undecided_by(result: Multilevel, failed: Mapping[str, int]) -> Multilevel:
    """Take a candidate's words back, as of a trial in which it fails and the baseline does not."""

    def opened(line: Line | None) -> Line | None:
        return None if line is None else replace(line, outcome="undecided")

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
        these=opened(result.these),
        similar=opened(result.similar),
    )


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
        "or leave it out: a fleet's own error rates are told by fairtrial calibrate {fleet}",
    ),
    "--level iteration": ("hosts are compared by their processes", "or leave it out"),
}


def refuse_of_fleet(fleet: Path, options: Iterable[str], command: str = "verdict") -> None:
    """Refuse the first of these options, if there is one."""
    for option in options:
        if option in _WHY:
            why, instead = _WHY[option]
            raise UsageError(
                f"{option} is for the trial of one host: {why}",
                str(fleet),
                f"name a host, such as fairtrial {command} {quoted(str(fleet / 'HOST'))} {option}, "
                + instead.format(fleet=quoted(str(fleet))),
            )


_NAME = 20
_HOST = 24
_MISSING = 12  # missing hosts that a line names
_LINES = 4  # hosts in another state, and hosts that disagree
_NAMED = 2  # hosts that disagree, on a first screen
_DIFFERENCES = 3
_HASH = re.compile("[0-9a-f]{64}")


def on_hosts_sentences(verdict: Verdict) -> Iterator[Sentence]:
    """Say below a fleet's sentence what holds on hosts like these, and which hosts disagree with the others."""
    several = len(verdict.candidates) > 1
    for one in verdict.candidates:
        if one.hosts is None or one.multilevel is None:
            continue
        parts = [like_these_text(one, verdict), *_disagreeing(one, verdict)]
        name = f"{shorten(shown(one.variant), _NAME)} " if several else ""
        yield Sentence(f"{name}on hosts like these: {'; '.join(parts)}")


def like_these_text(one: CandidateVerdict, verdict: Verdict) -> str:
    """Say what holds on hosts like these: ``3 to 13 % less time``."""
    result = one.multilevel
    line = None if result is None else leading(result)
    if result is None or line is None:
        return "unknown"
    if why := unanswered(result, line, shorten(shown(one.variant), _NAME)):
        return f"no answer: {why}"
    found = difference(line, verdict)
    if line.outcome == "equivalent":
        return f"the same within {100 * verdict.margin:g} % ({found.interval()})"
    if line.outcome == "undecided":
        return f"undecided, {found.between()}"
    if found.link == "as":
        return f"{found.interval()} {found.phrase().partition(' ')[2].partition(' ')[2]}"
    return f"{found.interval()} {found.amount().partition(' % ')[2]}"


def _disagreeing(one: CandidateVerdict, verdict: Verdict) -> Iterator[str]:
    """Name the hosts that disagree with the others, with what each says by itself."""
    level = one.hosts
    if level is None:
        return
    by_host: dict[str, list[str]] = {}
    for each in level.disagreements:
        by_host.setdefault(each.host, []).append(each.benchmark)
    effects = {(each.host, each.benchmark): each for each in level.effects}
    for host, those in [*by_host.items()][:_NAMED]:
        only = those[0] if len(those) == 1 < len(level.benchmarks) else None
        effect = effects.get((host, only)) or effects.get((host, those[0]))
        text = f" ({_effect_text(effect, verdict)})" if effect is not None else ""
        on = f" on {shorten(shown(only), _NAME)}" if only is not None else ""
        yield f"{shorten(shown(host), _HOST)} disagrees{on}{text}"
    if len(by_host) > _NAMED:
        yield f"{len(by_host) - _NAMED} more hosts disagree (--explain)"


def _effect_text(effect: HostEffect, verdict: Verdict) -> str:
    found = Difference.of(effect, metric=verdict.metric, unit=verdict.unit, better=verdict.better)
    amount = (
        found.phrase().partition(" ")[2]
        if found.link == "as"
        else found.amount().removesuffix(found.label)
    )
    amount = amount.removesuffix(" time").removesuffix(" memory")
    return f"{amount}, {found.interval()}" if found.interval() else amount


def more_hosts_text(result: Multilevel, level: HostLevel) -> str:
    """Say how many more hosts would decide what is undecided on hosts like these; "" for nothing."""
    texts = []
    for one in level.more_hosts:
        name = f"these {len(result.benchmarks)}" if one.benchmark is None else one.benchmark
        count = f"> {MOST_SHOWN:,} more hosts"
        if one.hosts is not None and one.hosts <= MOST_SHOWN:
            count = figures.counted(one.hosts, "more host")
        texts.append(f"{shorten(shown(name), _NAME)}: {count}")
    return f"would decide in 3 of 4 cases at least: {'; '.join(texts)}" if texts else ""


# ---- each host in its own sentence, for --explain and the report


def disagreeing_sentences(verdict: Verdict, level: HostLevel) -> Iterator[Sentence]:
    """Say which hosts disagree with the rest, on what, and what is otherwise there."""
    by_host: dict[str, list[Disagreement]] = {}
    for one in level.disagreements:
        by_host.setdefault(one.host, []).append(one)
    standings = {one.host: one for one in verdict.hosts}
    for host, those in [*by_host.items()][:_LINES]:
        text = "; ".join(
            f"{one.benchmark} {figures.ratio(one.speedup)} against {figures.ratio(one.rest)}"
            for one in those[:3]
        )
        left = len(those) - 3
        more = f" and {left} more benchmark{'s' * (left > 1)}" if left > 0 else ""
        yield Sentence(
            f"{host} disagrees with the rest: {text}{more}{_differences(standings[host])}"
        )
    if len(by_host) > _LINES:
        yield Sentence(f"and {len(by_host) - _LINES} more hosts disagree with the rest (--json)")


def _differences(host: FleetHostStanding) -> str:
    if not host.differs:
        return "; nothing in its environment differs from most hosts'"
    text = "; ".join(
        f"{one.key} is {_short_value(one.here)} there, {_short_value(one.most)} on most"
        for one in host.differs[:_DIFFERENCES]
    )
    left = len(host.differs) - _DIFFERENCES
    return f"; {text}{f'; and {left} more differences (--json)' if left > 0 else ''}"


def _short_value(value: str) -> str:
    """Cut a hash, of which the begin tells it from another."""
    return f"{value[:8]}…" if _HASH.fullmatch(value) else value


def standing_sentences(hosts: Sequence[FleetHostStanding], *, whole: bool) -> tuple[Sentence, ...]:
    """Say which hosts are missing, by their reasons, and how each other one stands that is not complete."""
    missing = [one for one in hosts if one.state == "missing"]
    others = [one for one in hosts if one.state not in ("missing", "complete")]
    by_why: dict[str | None, list[str]] = {}
    for one in missing:
        by_why.setdefault(one.why, []).append(one.host)
    groups = [
        f"{figures.listed(names, len(names) if whole else _MISSING)}{f' ({why})' if why else ''}"
        for why, names in by_why.items()
    ]
    texts = [Sentence(f"missing: {'; '.join(groups)}")] if groups else []
    listed = others if whole else others[:_LINES]
    for one in listed:
        rows = (
            f"{one.done} of {'an unknown number of' if one.planned is None else one.planned} runs"
        )
        reason = f" ({one.why})" if one.why else ""
        texts.append(Sentence(f"{one.state}: {one.host}, {rows}{reason}"))
    if len(listed) < len(others):
        texts.append(Sentence(f"and {len(others) - len(listed)} more hosts not complete (--all)"))
    return tuple(texts)
