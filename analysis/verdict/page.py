"""A verdict in words: the answer first, cautions below, the next command last."""

from __future__ import annotations

import math
import shlex
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..methods.multilevel.page import looks_text
from ..pages import number_format as figures
from ..pages.model import (
    Block,
    Caution,
    CommandLine,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    columns_of,
    page_of,
    value_of,
)
from ..words import shorten
from .page_table import single
from .result import Verdict

if TYPE_CHECKING:
    from ..calibrate.result import Certificate
    from ..data.levels import Unit
    from ..methods.multilevel.host_effects import HostLevel
    from .result import CandidateVerdict

_WIDTH = 90  # columns of a caution beside its number
_NEXT = {"no-certificate": "fairtrial calibrate"}
_SESSIONS_ARE = {True: "are sound", False: "are doubtful", None: "could not be checked"}


def cited(certificate: Certificate) -> str:
    """Give a certificate in one line: how pooled runs err here, and what speaks against sessions."""
    pooled = next((one.rate for one in certificate.methods if one.name == "welch"), None)
    told = "" if pooled is None else f"run-level tests err in {100 * pooled:.0f} %; "
    return (
        f"A/A certificate of {certificate.created[:10]}: {told}"
        f"session-level ones {_SESSIONS_ARE[certificate.sound]}"
    )


def _short(caution: Caution) -> Caution:
    """Cut a caution to one line."""
    text = textwrap.shorten(caution.text, _WIDTH, placeholder=" …")
    command = _NEXT.get(caution.code)
    return Caution(caution.code, f"{text}: {command}" if command else text, caution.about)


def _following(verdict: Verdict, hidden: int) -> tuple[Section, ...]:
    """Name the next command: how far it is, measure more, or why."""
    if verdict.path is None or verdict.trial is None:
        return ()
    compared = [one for one in verdict.candidates if one.multilevel is not None]
    words: tuple[str, ...]
    if not verdict.finished:
        why, words = "how far it is", ("status", verdict.path)
    elif not compared:
        why, words = "measure more", ("run", verdict.campaign_path or "campaign.yaml")
    elif compared[0].hosts is not None:
        why, words = "how much of the variation is between hosts", ("sources", verdict.path)
    elif compared[0].panel is not None or verdict.hosts:
        return ()
    else:
        metric = () if verdict.usual else ("--metric", verdict.metric)
        more = f", {hidden} more caution{'s' * (hidden > 1)}" if hidden else ""
        why = f"why{more}, and what the published methods say"
        words = ("verdict", verdict.path, *metric, "--explain")
    return (Section((CommandLine(f"{shlex.join(['fairtrial', *words])}   # {why}"),)),)


_NAME = 28  # columns for the baseline's name
_DESIGNS: dict[Unit, dict[str, str]] = {
    "session": {
        "paired": "paired",
        "separate": "sides measured in separate sessions",
        "one session, blocks": "within one session",
        "one session, runs": "within one session",
        "confounded": "one session a side: session and variant cannot be told apart",
    },
    "host": {
        "paired": "paired",
        "separate": "sides measured apart",
        "one session, blocks": "on one host",
        "one session, runs": "on one host",
        "confounded": "one host a side: host and variant cannot be told apart",
    },
}


def heading(verdict: Verdict) -> Sentence:
    """Give the heading."""
    parts = [_measured(verdict), "wall time" if verdict.metric == "wall" else verdict.metric]
    if verdict.better == "higher":
        parts[-1] += ", higher is better"
    if verdict.candidates and verdict.campaign is not None:
        parts.append(f"baseline {shorten(verdict.baseline, _NAME)}")
    parts.append(_amount(verdict))
    if verdict.candidates:
        parts.append(f"margin {100 * verdict.margin:g} %")
    if verdict.always_valid:
        parts.append("valid at every look")
    elif told := looks_text(verdict):
        parts.append(told)
    return Sentence(" · ".join(parts))


def _measured(verdict: Verdict) -> str:
    """Name what was measured: a campaign on its host, or two sides."""
    if verdict.campaign is None:
        names = (verdict.candidates[0].variant, verdict.baseline)
        return " against ".join(shorten(name, _NAME) for name in names)
    if verdict.hosts:
        judged = [one.host for one in verdict.hosts if one.judged]
        of = f"{len(judged)} of " if len(judged) < len(verdict.hosts) else ""
        return (
            f"{verdict.campaign} on {of}{len(verdict.hosts)} host{'s' * (len(verdict.hosts) != 1)}"
        )
    if verdict.host is None:
        return verdict.campaign
    # files from which a trial was imported may name none
    return (
        f"{verdict.campaign} on {'an unknown host' if verdict.host == 'unknown' else verdict.host}"
    )


def _amount(verdict: Verdict) -> str:
    """Say how many sessions and runs there are, and how the sides go together."""
    levels = [one.hosts for one in verdict.candidates if one.hosts is not None]
    if levels:
        return amount_on_hosts(levels[0], verdict.session_runs)
    amount = _counted((verdict.sessions, verdict.sessions), verdict.outermost)
    if verdict.session_runs is None:
        amount = f"{verdict.runs} runs"
    else:
        low, high = verdict.session_runs
        amount += f" x {low} run{'s' * (high != 1)}" if low == high else f" x {low} to {high} runs"
    designs = dict.fromkeys(
        _DESIGNS[one.multilevel.outermost][one.multilevel.design]
        for one in verdict.candidates
        if one.multilevel is not None
    )
    return ", ".join([amount, *designs])


def amount_on_hosts(level: HostLevel, session_runs: tuple[int, int] | None) -> str:
    """Say how much was measured on several hosts: ``4 hosts x 5 sessions x 10 runs``."""
    parts = [_counted((len(level.hosts),) * 2, "host"), _counted(level.sessions_each, "session")]
    if session_runs is not None:
        parts.append(_counted(session_runs, "run"))
    return " x ".join(parts)


def _counted(ends: tuple[int, int], noun: str) -> str:
    low, high = ends
    return f"{low if low == high else f'{low} to {high}'} {noun}{'s' * (high != 1)}"


_LINES = 25  # of a first screen of one candidate
_LINE_WIDTH = 96


@page_of.register(Verdict)
def _verdict_page(verdict: Verdict) -> Page:
    explained = [one for one in verdict.candidates if one.panel is not None]
    # that there is one variant only is the answer already
    cautions = tuple(c for c in verdict.cautions if c.code != "one-variant")
    shown = cautions
    if not explained and not verdict.whole:
        answer = _answer(verdict, _marks(cautions, ()))
        free = _LINES - _height(heading(verdict), answer, cautions)
        shown = tuple(map(_short, cautions[: max(free, 1)]))
    marks = _marks(cautions, shown)
    return Page(
        title=f"Verdict on {verdict.trial or verdict.candidates[0].variant}",
        sections=(
            Section((heading(verdict), _answer(verdict, marks))),
            *(
                _panel(one, verdict.baseline, number)
                for number, one in enumerate(verdict.candidates, 1)
                if one.panel is not None
            ),
        ),
        cautions=shown,
        following=_following(verdict, len(cautions) - len(shown)),
    )


def _answer(verdict: Verdict, marks: dict[str, str]) -> Section:
    """Set the candidates, or the only variant; then the hosts, and the certificate."""
    if not verdict.candidates:
        alone = Sentence("one variant only: there is nothing to compare")
        blocks: tuple[Block, ...] = (alone, _alone_table(verdict))
    elif len(verdict.candidates) == 1 and verdict.candidates[0].hosts is None:
        blocks = single(verdict, verdict.candidates[0], 1, marks).blocks
    else:
        from .page_several import several_blocks

        blocks = several_blocks(verdict, marks)
    if verdict.hosts:
        from .page_several import standing_sentences

        blocks = (*blocks, *standing_sentences(verdict.hosts, whole=verdict.whole))
    certificate = verdict.certificate
    if certificate is None:
        return Section(blocks)
    whole = verdict.candidates[0].panel is not None or verdict.whole
    return Section((*blocks, Sentence(certificate.sentence if whole else cited(certificate))))


def _panel(one: CandidateVerdict, baseline: str, number: int) -> Section:
    from .panel import panel_section

    assert one.panel is not None  # who calls has looked
    return panel_section(one.variant, baseline, one.panel, number)


def _height(head: Sentence, answer: Section, cautions: Sequence[Caution]) -> int:
    """Count the lines of everything but the cautions themselves."""
    lines = 3 + (2 if cautions else 0)  # two empty lines and the next command
    for block in (head, *answer.blocks):
        if isinstance(block, Table):
            lines += len(block.rows) + 1
        elif isinstance(block, Sentence):
            lines += len(textwrap.wrap(block.text, _LINE_WIDTH))
    return lines


def _marks(cautions: Sequence[Caution], shown: Sequence[Caution]) -> dict[str, str]:
    """Give all names that cautions are about, each with the numbers of those that are shown."""
    found = {name: "" for caution in cautions for name in caution.about}
    for number, caution in enumerate(shown, 1):
        for name in caution.about:
            found[name] = f"{found.get(name, '')}[{number}]"
    return found


def _alone_table(verdict: Verdict) -> Table:
    unit = verdict.unit

    def between(low: float, high: float) -> str:
        return f"{figures.quantity(low, unit)} to {figures.quantity(high, unit)}"

    return Table(
        name="alone",
        columns=columns_of("<", "mean", f"{100 * verdict.confidence:g} %", "<by", "range", "runs"),
        rows=tuple(
            (
                shorten(one.benchmark, _NAME),
                Value(figures.quantity(one.mean, unit), one.mean),
                _half_width(one.low, one.high),
                f"{one.sessions} {verdict.outermost}s"
                if one.unit == "session"
                else f"{one.unit}s of one {verdict.outermost}",
                between(one.minimum, one.maximum),
                value_of(one.runs),
            )
            for one in verdict.alone
        ),
    )


def _half_width(low: float | None, high: float | None) -> str:
    """Write an interval as a share: its ends often agree in the digits of the mean."""
    if low is None or high is None:
        return "-"
    return f"± {figures.significant(100 * (math.sqrt(high / low) - 1), 2)} %"
