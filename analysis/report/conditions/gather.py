"""Gathers the chapter's values from the subject."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...data.protocol import campaign_text
from ...pages import number_format as figures
from ...record.environment_changes import diff
from ...words import shown
from ..fleet import level_of
from .facts import UNKNOWN, Source, facts_of, recorded, source_of
from .failures import failures_of
from .hosts import conditions_of_hosts
from .result import Conditions, Fact, Host
from .sessions import answers_of, differed, sessions_of, the_same, well

if TYPE_CHECKING:
    from ..chapter import OldChapter
    from ..subject import Subject

__all__ = ["EACH_METRIC", "gather"]

EACH_METRIC = False  # host, campaign and failed runs are the trial's, whatever was judged
_CHANGES = 20  # between two trials
_NAMED = 4
_CITED = ("no-certificate", "certificate-differs")


def gather(subject: Subject) -> OldChapter | None:
    """Give the chapter; None of files, which say nothing of where they stem from."""
    if not subject.trials:
        return None
    level = level_of(subject.verdict)
    if level is not None:
        return conditions_of_hosts(subject, level)
    sources = [source_of(trial) for trial in subject.trials]
    return Conditions(
        anchor=subject.anchor("conditions"),
        title="Where and how it was measured",
        failed_anchor=subject.anchor("failed"),
        between=_between(sources),
        facts=_aligned([facts_of(source) for source in sources]),
        everything=_aligned([recorded(source) for source in sources]),
        certificate=_certificate(subject),
        hosts=tuple(
            _host(source, "AB"[k] if len(sources) > 1 else "") for k, source in enumerate(sources)
        ),
    )


def _host(source: Source, label: str) -> Host:
    trial = source.trial
    failed, more = failures_of(trial)
    text = campaign_text(trial.path)
    return Host(
        label=label,
        trial=shown(trial.manifest.trial),
        sessions=tuple(map(str, sessions_of(source))),
        differed=differed(source),
        same=the_same(source),
        answers=answers_of(source),
        well=well(source),
        campaign=None if text is None else "\n".join(map(shown, text.splitlines())),
        identity=trial.manifest.campaign_sha256,
        failed=failed,
        more_failed=more,
    )


def _aligned(found: Sequence[dict[str, str]]) -> tuple[Fact, ...]:
    """Put what is known of each trial side by side, what differs between them first."""
    names = dict.fromkeys(name for one in found for name in one)
    facts = [
        Fact(name=name, texts=tuple(one.get(name, UNKNOWN) for one in found)) for name in names
    ]
    return tuple(sorted(facts, key=lambda fact: len(set(fact.texts)) == 1))


def _between(sources: Sequence[Source]) -> tuple[str, ...]:
    """Say what differs from the first trial's environment to the second's."""
    if len(sources) < 2:
        return ()
    first, second = (source.first for source in sources[:2])
    if not first or not second:
        return ("One of the trials has no record of its host: what differs is unknown.",)
    # of another campaign's programs a list of what is gone and new would tell nothing
    shared = first.get("targets", {}).keys() & second.get("targets", {}).keys()
    changes = diff(
        *({**one, "targets": _of(one.get("targets", {}), shared)} for one in (first, second))
    )
    programs = [change for change in changes if change.kind == "targets"]
    told = [f"From A to B {shown(change.what)}." for change in changes if change.kind != "targets"]
    if programs:
        keys = dict.fromkeys(change.key.split(".")[1] for change in programs)
        cells = figures.listed([shown(key) for key in keys], _NAMED)
        told.insert(0, f"The programs, or libraries that they need, differ for {cells}.")
    if not told:
        told.append("Nothing that was recorded of the host differs between A and B.")
    more = len(told) - _CHANGES
    return (*told[:_CHANGES], *((f"And {more} more differences.",) if more > 0 else ()))


def _of(targets: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: about for name, about in targets.items() if name in names}


def _certificate(subject: Subject) -> str:
    verdict = subject.verdict
    told = [] if verdict.certificate is None else [verdict.certificate.sentence]
    told += [caution.text for caution in verdict.cautions if caution.code in _CITED]
    return shown("; ".join(told)).rstrip(".") + "." if told else "not looked for."
