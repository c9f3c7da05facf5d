"""Under which conditions the runs were executed: hosts, programs, protocol, campaign, failed runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from signal import Signals
from typing import TYPE_CHECKING, Any

from ..data.protocol import campaign_text, read_excerpt
from ..pages import number_format as figures
from ..pages.model import Block, Cell, Section, Sentence, Table, Value, columns_of
from ..record.environment import diff
from ..verdict.sentence import amount_on_hosts
from ..words import shorten, shortened, shown
from .condition_records import UNKNOWN, Source, facts_of, recorded, sessions_told, source_of
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
    """Say how a run failed and after what time: ``ended by SIGSEGV after 8.5 ms``.

    Parameters
    ----------
    run : FailedRun
        The run.
    wall_s : float or None
        How long it took, in seconds; None if that is not known.
    """
    if run.outcome == "signal":
        said = f"ended by {_signal(run.signal)}"
    elif run.outcome == "exit":
        code = "unknown" if run.exit_code is None else f"{run.exit_code}"
        said = f"exit code {code}"
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


EACH_METRIC = False  # host, campaign and failed runs are the trial's, whatever was judged
_CHANGES = 20  # between two trials
_CELLS = 4  # that are named
_CITED = ("no-certificate", "certificate-differs")
_HOSTS = 60  # that have a line
_DIFFERENCES = 4  # of a host
_FAILED = 30  # runs that are listed
_NAME = 24  # characters
_LINES = 2  # of standard error, the last ones, in forms other than HTML
_FOLDED = 60  # characters of a line of standard error that is folded
_EMPTY = "empty"

Values = Mapping[str, Any]


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None of files, which say nothing of where they stem from."""
    if not subject.trials:
        return None
    level = level_of(subject.verdict)
    told = _of_trials(subject) if level is None else _of_fleet(subject, level)
    values = {"failed_anchor": subject.anchor("failed"), **told}
    title = "Where and how it was measured"
    return Chapter(
        name="conditions",
        folder="conditions",
        anchor=subject.anchor("conditions"),
        title=title,
        values=values,
        sections=lambda: (
            Section(tuple(_measured(values)), title=title),
            Section(tuple(_failed(values["hosts"])), title="Failed runs"),
        ),
        drawn=lambda: {
            "facts_table": _facts_table(values, "facts", "conditions"),
            "everything_table": _facts_table(values, "everything", "environment"),
            "answers_table": _answers_table,
            "failed_sentence": _failed_sentence,
            "short": lambda line: shorten(line, _FOLDED),
        },
    )


# --- the values


def _of_trials(subject: Subject) -> Values:
    sources = [source_of(trial) for trial in subject.trials]
    return {
        "between": _between(sources),
        "facts": _aligned([facts_of(source) for source in sources]),
        "everything": _aligned([recorded(source) for source in sources]),
        "certificate": _certificate(subject.verdict),
        "hosts": [
            _host(source.trial, campaign_text(source.trial.path), sessions_told(source), label)
            for label, source in zip("AB" if len(sources) > 1 else [""], sources, strict=False)
        ],
    }


def _of_fleet(subject: Subject, level: HostLevel) -> Values:
    """Give a line for each host, those that are not as most first."""
    verdict, place = subject.verdict, first_host(subject.verdict)
    host = shown(str(Path(verdict.path or "") / "HOST"))
    sessions = {
        "sessions": (),
        "differed": (),
        "same": "What was recorded of each host, session by session, stands in its own report: "
        f"fairtrial report {host} -o host.html.",
        "answers": (),
        "well": "The answers of checks stand in each host's own report.",
    }
    told = _host(subject.trials[0], None if place is None else campaign_text(place), sessions)
    return {
        "between": (),
        "facts": [{"name": name, "texts": (text,)} for name, text in _standings(verdict, level)],
        "everything": (),
        "certificate": "a certificate is of one machine, and a fleet has none.",
        "hosts": [told if told["failed"] else {**told, "more_failed": Value("", None)}],
    }


def _host(trial: Trial, campaign: str | None, sessions: Values, label: str = "") -> Values:
    """Give what one trial says of its host and its campaign; of two, `label` tells which it is."""
    more = max(0, len(trial.failed) - _FAILED)
    return {
        "label": label,
        "trial": shown(trial.manifest.trial),
        **sessions,
        "campaign": None if campaign is None else "\n".join(map(shown, campaign.splitlines())),
        "identity": trial.manifest.campaign_sha256,
        "failed": list(_failures(trial)),
        "more_failed": Value(f"{more:,}", more),
    }


def _aligned(found: Sequence[Mapping[str, str]]) -> list[Values]:
    """Put what is known of each trial side by side, what differs between them first."""
    names = dict.fromkeys(name for one in found for name in one)
    facts = [{"name": name, "texts": [one.get(name, UNKNOWN) for one in found]} for name in names]
    return sorted(facts, key=lambda fact: len(set(fact["texts"])) == 1)


def _between(sources: Sequence[Source]) -> Sequence[str]:
    """Say what differs from the first trial's environment to the second's."""
    if len(sources) < 2:
        return ()
    pair = [source.sections for source in sources[:2]]
    if not all(pair):
        return ("One of the trials has no record of its host: what differs is unknown.",)
    # of another campaign's programs a list of what is gone and new would tell nothing
    targets = [sections.get("targets", {}) for sections in pair]
    shared = [
        {name: own[name] for name in own if all(name in one for one in targets)} for own in targets
    ]
    changes = diff(*({**one, "targets": own} for one, own in zip(pair, shared, strict=True)))
    keys = dict.fromkeys(one.key.split(".")[1] for one in changes if one.kind == "targets")
    cells = figures.listed(list(map(shown, keys)), _CELLS)
    told = [f"The programs, or libraries that they need, differ for {cells}."] if keys else []
    told += [f"From A to B {shown(one.what)}." for one in changes if one.kind != "targets"]
    if (more := len(told) - _CHANGES) > 0:
        return [*told[:_CHANGES], f"And {more} more differences."]
    return told or ["Nothing that was recorded of the host differs between A and B."]


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
    met: dict[tuple[str, ...], int] = {}  # what was written -> the first run that wrote it
    for run in trial.failed[:_FAILED]:
        row = row_of[run.position]
        wall, block = float(trial.numbers["wall_ns"][row]) / 1e9, int(trial.block[row])
        lines, note = _stderr(trial, run)
        if len(lines) > 1 and met.setdefault(lines, run.position) != run.position:
            lines, note = (), f"as of run {met[lines]}"
        yield {
            "run": Value(str(run.position), run.position),
            "session": Value(str(run.session), run.session),
            "block": Value(str(block), block),
            "cell": f"{names[run.benchmark]} / {names[run.variant]}{' (warm-up)' * run.warmup}",
            "outcome": outcome_words(run, wall if math.isfinite(wall) else None),
            "stderr": lines,
            "note": note,
        }


def _stderr(trial: Trial, run: FailedRun) -> tuple[tuple[str, ...], str]:
    """Give the last lines that a run wrote there, and what is to be known of them."""
    found = read_excerpt(trial.path, run.position)
    if found is None or not found.size:
        return (), "not kept" if found is None else _EMPTY
    count = len(found.lines)
    end = f"the last {count} lines" if count > 1 else "the last line"
    note = f"{end} of {figures.quantity(found.size, 'B')}" if found.cut else ""
    return tuple(map(shown, found.lines)), note


# --- as sentences and tables


def _measured(values: Values) -> Iterator[Block]:
    yield from map(Sentence, values["between"])
    yield _facts_table(values, "facts", "conditions")
    yield Sentence(f"A/A certificate: {values['certificate']}")
    for host in values["hosts"]:
        if host["label"]:
            yield Sentence(f"{host['label']}: {host['trial']}")
        if host["differed"]:
            rows = ((row["name"], *row["cells"]) for row in host["differed"])
            yield _table("differed", host, rows, "<what differed", *host["sessions"])
        yield Sentence(host["same"])
        if host["answers"]:
            yield _answers_table(host)
        yield Sentence(host["well"])


def _failed(hosts: Sequence[Values]) -> Iterator[Block]:
    heads = {
        "run": "run",
        "session": "session",
        "block": "block",
        "cell": "<benchmark / variant",
        "outcome": "<outcome",
    }
    for host in hosts:
        if host["failed"]:
            rows = (tuple(run[key] for key in heads) for run in host["failed"])
            table = _table("failed", host, rows, *heads.values())
            yield replace(table, notes=tuple(map(_written, host["failed"])))
        yield Sentence(_failed_sentence(host))


def _written(run: Values) -> str:
    """Quote the end of a failed run's standard error."""
    lines = run["stderr"]
    text = " | ".join(lines[-_LINES:]) or run["note"]
    more = "… | " if len(lines) > _LINES else ""
    return "" if text == _EMPTY else f"standard error: {more}{text}"


def _facts_table(values: Values, key: str, name: str) -> Table:
    """Give facts, a column for each trial."""
    labels = [f"<{host['label']}" for host in values["hosts"]]
    several = len(labels) > 1
    return Table(
        name=name,
        columns=columns_of("<about", *(labels if several else ["<what is known"])),
        rows=tuple((fact["name"], *fact["texts"]) for fact in values[key]),
        headed=several,
    )


def _answers_table(host: Values) -> Table:
    """Give the answers of the checks that are not "ok"."""
    rows = (tuple(one.values()) for one in host["answers"])
    return _table("checks", host, rows, "<check", "<answer", "<sessions", "<what was found")


def _table(name: str, host: Values, rows: Iterable[tuple[Cell, ...]], *heads: str) -> Table:
    """Give a table of one trial, whose label its name bears."""
    named = "-".join(filter(None, (name, host["label"].lower())))
    return Table(name=named, columns=columns_of(*heads), rows=tuple(rows))


def _failed_sentence(host: Values) -> str:
    """Say how many failed runs are not in the table, or that there is none."""
    whose = f" of {host['label']}" if host["label"] else ""
    more = host["more_failed"]
    if not host["failed"]:
        return f"No run{whose} failed."
    if not more.value:
        return f"These are all failed runs{whose}; a judge leaves them out of every comparison."
    return (
        f"{more.text} more failed run{'s' * (more.value != 1)}{whose}: measurements.jsonl and "
        "outputs/ of the trial hold them all."
    )
