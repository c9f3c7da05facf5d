"""Under which conditions the runs were executed: facts, what differed between sessions, failed runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from signal import Signals
from typing import TYPE_CHECKING, Any

from ..data.host_record import campaign_text, read_excerpt
from ..pages import number_format as figures
from ..pages.model import Block, Section, Sentence, Table, Value, columns_of
from ..verdict.sentence import amount_on_hosts
from ..words import shorten, shortened, shown
from .condition_records import UNKNOWN, between, differed_of, facts_of, source_of
from .page import Chapter
from .subject import first_host, level_of

if TYPE_CHECKING:
    from ..data.columns import FailedRun
    from ..data.trial import Trial
    from ..methods.multilevel.host_effects import HostLevel
    from ..verdict.hosts import FleetHostStanding
    from ..verdict.result import Verdict
    from .subject import Subject

__all__ = ["EACH_METRIC", "brief_outcome", "chapter", "outcome_words"]

EACH_METRIC = False  # host, campaign and failed runs are the trial's, whatever was judged
_TITLE = "Where and how it was measured"
_CITED = ("no-certificate", "certificate-differs")
_HOSTS = 60  # that have a line
_DIFFERENCES = 4  # of a host
_FAILED = 30  # runs that are listed
_NAME = 24  # characters
_LINES = 2  # of standard error, the last ones
_LINE = 160  # characters of these

Values = Mapping[str, Any]


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None of files, which say nothing of where they stem from."""
    if not subject.trials:
        return None
    level = level_of(subject.verdict)
    told = _of_trials(subject) if level is None else _of_fleet(subject, level)
    values = {"failed_anchor": subject.anchor("failed"), **told}
    facts = _facts_table(values)
    failed = sum(len(trial.failed) for trial in subject.trials) if level is None else 0
    return Chapter(
        name="conditions",
        folder="conditions",
        anchor=subject.anchor("conditions"),
        title=_TITLE,
        values=values,
        sections=lambda: (
            Section(tuple(_measured(values, facts)), title=_TITLE),
            Section(tuple(_failed(values["hosts"])), title="Failed runs"),
        ),
        drawn=lambda: {
            "facts_table": facts,
            "differed": _differed_table,
            "failures": _failed_table,
            "failed_sentence": _failed_sentence,
            "count": figures.counted(failed, "failed run") if failed else "no run failed",
        },
    )


# --- How a run failed, in words.


_WORDS = {
    "hook-failed": "its hook failed",
    "service-failed": "its service failed",
    "timeout": "killed by its timeout",
    "output-limit": "wrote too much",
    "output-mismatch": "wrote another output than expected",
    "unparsable": "a metric could not be read from its output",
}


def brief_outcome(run: FailedRun) -> str:
    """Say in a word or two how a run failed: ``SIGSEGV``, ``exit 3``, ``timeout``."""
    if run.outcome == "signal":
        return _signal(run.signal)
    if run.outcome == "exit":
        return "exit ?" if run.exit_code is None else f"exit {run.exit_code}"
    return shown(run.outcome.replace("-", " "))


def outcome_words(run: FailedRun, wall_s: float | None) -> str:
    """Say how a run failed and after how many seconds, if that is known: ``ended by SIGSEGV after 8.5 ms``."""
    if run.outcome == "signal":
        said = f"ended by {_signal(run.signal)}"
    elif run.outcome == "exit":
        said = f"exit code {UNKNOWN if run.exit_code is None else run.exit_code}"
    else:
        said = _WORDS.get(run.outcome, shown(run.outcome))
    return said if wall_s is None else f"{said} after {figures.quantity(wall_s, 's')}"


def _signal(number: int | None) -> str:
    if number is None:
        return "a signal"
    try:
        return Signals(number).name
    except ValueError:  # such as a real-time signal
        return f"signal {number}"


# --- The values: of one trial or two, and of a fleet.


def _of_trials(subject: Subject) -> Values:
    sources = [source_of(trial) for trial in subject.trials]
    found = [facts_of(source) for source in sources]
    facts = [{"name": name, "texts": [one[name] for one in found]} for name in found[0]]
    if len(sources) > 1:
        facts += [{"name": key, "texts": pair} for key, pair in between(*sources[:2]).items()]
    return {
        # what differs between two trials first
        "facts": sorted(facts, key=lambda fact: len(set(fact["texts"])) == 1),
        "certificate": _certificate(subject.verdict),
        "hosts": [
            _host(source.trial, campaign_text(source.trial.path), differed_of(source), label)
            for label, source in zip("AB" if len(sources) > 1 else [""], sources, strict=False)
        ],
    }


def _of_fleet(subject: Subject, level: HostLevel) -> Values:
    """Give a line for each host, those that are not as most first."""
    verdict, place = subject.verdict, first_host(subject.verdict)
    host = shown(str(Path(verdict.path or "") / "HOST"))
    differed = {
        "sessions": (),
        "differed": (),
        "same": "What was recorded of each host, session by session, stands in its own report: "
        f"fairtrial report {host} -o host.html.",
    }
    told = _host(subject.trials[0], None if place is None else campaign_text(place), differed)
    return {
        "facts": [{"name": name, "texts": (text,)} for name, text in _standings(verdict, level)],
        "certificate": "a certificate is of one machine, and a fleet has none.",
        "hosts": [told],
    }


def _host(trial: Trial, campaign: str | None, differed: Values, label: str = "") -> Values:
    """Give what one trial says of its sessions and its campaign; of two, `label` tells which it is."""
    return {
        "label": label,
        "trial": shown(trial.manifest.trial),
        **differed,
        "campaign": None if campaign is None else "\n".join(map(shown, campaign.splitlines())),
        "failed": list(_failures(trial)),
        "more_failed": max(0, len(trial.failed) - _FAILED),
    }


def _certificate(verdict: Verdict) -> str:
    told = [] if verdict.certificate is None else [verdict.certificate.sentence]
    told += [caution.text for caution in verdict.cautions if caution.code in _CITED]
    return shown("; ".join(told)).rstrip(".") + "." if told else "not looked for."


def _standings(verdict: Verdict, level: HostLevel) -> Iterator[tuple[str, str]]:
    yield "measured", amount_on_hosts(level, verdict.session_runs)
    judged = sum(one.judged for one in verdict.hosts)
    yield "hosts", f"{judged} of {len(verdict.hosts)} judged"
    odd = {one.host for one in level.disagreements}
    hosts = sorted(verdict.hosts, key=lambda one: _usual(one) and one.host not in odd)
    for one in hosts[:_HOSTS]:
        yield shown(one.host), shown("; ".join(_standing(one, odd=one.host in odd)))
    if more := hosts[_HOSTS:]:
        every = "all complete, as most are; " if all(map(_usual, more)) else ""
        yield f"and {len(more)} more", f"{every}verdict --json names them"


def _usual(one: FleetHostStanding) -> bool:
    return one.state == "complete" and not one.differs


def _standing(one: FleetHostStanding, *, odd: bool) -> Iterator[str]:
    planned = "an unknown number" if one.planned is None else f"{one.planned:,}"
    yield f"{one.state}, {one.done:,} of {planned} runs"
    if one.why:
        yield one.why
    if odd:
        yield "disagrees with the rest"
    for each in one.differs[:_DIFFERENCES]:
        yield f"{each.key} is {shorten(each.here, 24)} there, {shorten(each.most, 24)} on most"
    if (left := len(one.differs) - _DIFFERENCES) > 0:
        yield f"and {figures.counted(left, 'more difference')}"


def _failures(trial: Trial) -> Iterator[Values]:
    """Give the first failed runs, warm-ups among them, with the end of their standard error."""
    names = shortened([*trial.manifest.benchmarks, *trial.manifest.variants], _NAME)
    row_of = {position: row for row, position in enumerate(trial.position.tolist())}
    for run in trial.failed[:_FAILED]:
        row = row_of[run.position]
        wall, block = float(trial.numbers["wall_ns"][row]) / 1e9, int(trial.block[row])
        found = read_excerpt(trial.path, run.position)
        yield {
            "run": Value(str(run.position), run.position),
            "session": Value(str(run.session), run.session),
            "block": Value(str(block), block),
            "cell": f"{names[run.benchmark]} / {names[run.variant]}{' (warm-up)' * run.warmup}",
            "outcome": outcome_words(run, wall if math.isfinite(wall) else None),
            "stderr": None if found is None else tuple(map(shown, found.lines)),
        }


# --- As sentences and tables.


def _measured(values: Values, facts: Table) -> Iterator[Block]:
    yield facts
    yield Sentence(f"A/A certificate: {values['certificate']}")
    for host in values["hosts"]:
        if host["label"]:
            yield Sentence(f"{host['label']}: {host['trial']}")
        if host["differed"]:
            yield _differed_table(host)
        yield Sentence(host["same"])


def _failed(hosts: Sequence[Values]) -> Iterator[Block]:
    for host in hosts:
        if host["failed"]:
            yield _failed_table(host)
        yield Sentence(_failed_sentence(host))


def _facts_table(values: Values) -> Table:
    """Give the facts, a column for each trial."""
    labels = [f"<{host['label']}" for host in values["hosts"]]
    several = len(labels) > 1
    return Table(
        name="conditions",
        columns=columns_of("<about", *(labels if several else ["<what is known"])),
        rows=tuple((fact["name"], *fact["texts"]) for fact in values["facts"]),
        headed=several,
    )


def _differed_table(host: Values) -> Table:
    return Table(
        name=_named("differed", host),
        columns=columns_of("<what differed by session", *host["sessions"]),
        rows=tuple((row["name"], *row["cells"]) for row in host["differed"]),
    )


def _failed_table(host: Values) -> Table:
    heads = ("run", "session", "block", "<cell", "<outcome", "<end of standard error")
    return Table(
        name=_named("failed", host),
        columns=columns_of(*heads),
        rows=tuple(
            (*(run[head.removeprefix("<")] for head in heads[:-1]), _written(run["stderr"]))
            for run in host["failed"]
        ),
    )


def _written(lines: Sequence[str] | None) -> str:
    """Quote the end of a failed run's standard error."""
    if lines is None:
        return "not kept"
    return shorten(" | ".join(lines[-_LINES:]), _LINE) or "empty"


def _named(name: str, host: Values) -> str:
    return "-".join(filter(None, (name, host["label"].lower())))


def _failed_sentence(host: Values) -> str:
    """Say how many failed runs are not in the table, or that there is none."""
    whose, more = f" of {host['label']}" * bool(host["label"]), host["more_failed"]
    if not host["failed"]:
        return f"No run{whose} failed."
    if not more:
        return f"These are all failed runs{whose}; a judge leaves them out of every comparison."
    return (
        f"{more:,} more failed run{'s' * (more != 1)}{whose}: measurements.jsonl and outputs/ of the "
        "trial hold them all."
    )
