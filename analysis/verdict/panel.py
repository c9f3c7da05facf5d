"""What the published methods say of the same runs, and where they disagree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..methods.multilevel.page import advice_text, chance_heading, looks_text
from ..methods.multilevel.result import BenchmarkLine, Line, Multilevel
from ..pages import number_format as figures
from ..pages.model import Section, Table, section, table_of
from ..pages.number_format import Word
from ..words import apart, shorten, shown
from .hosts import disagreeing_sentences, more_hosts_text

if TYPE_CHECKING:
    from .result import Verdict

ONE_VALUE = "to them a session is a run, as each session has one value here"  # of its quantile
_NAME = 24
_LONG_NAME = 28
_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini and Hochberg"}

Reason = Literal[
    "estimand", "unit", "zeroing", "replication", "failed-assumption", "too-few-runs", "family"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodRow:
    """What one method says."""

    method: str
    unit: str
    estimand: str
    word: Word | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    pvalue: float | None = None
    pvalue_of: str = "two-sided"
    reliability: float | None = None
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodDisagreement:
    """Why one method says something else than the first screen."""

    of: str
    reason: Reason
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """All methods on the same two sides."""

    methods: tuple[MethodRow, ...]
    disagreements: tuple[MethodDisagreement, ...]


def methods_table(name: str, methods: Sequence[MethodRow]) -> Table:
    """Give a row for each method: its unit and what its number is of, and its answer."""
    return table_of(
        name,
        methods,
        ("<method", "method"),
        ("<unit; estimand", lambda one: f"{one.unit}s; {one.estimand}"),
        ("<answer", "answer"),
    )


def reasons_section(disagreements: Sequence[MethodDisagreement]) -> Section:
    """Say why methods have another answer than the session intervals."""
    reasons = [one.text for one in disagreements]
    return section(*(reasons or ["they do not differ"]), title="why they differ")


def sessions_are_runs(verdict: Verdict) -> bool:
    """Tell whether each session has one value: a quantile of all that its runs printed."""
    return verdict.quantile is not None and verdict.quantile.level == "session"


# --- What ``--explain`` adds to a verdict: what it rests on, what would settle it, and what
# other methods say.


def explained_sections(verdict: Verdict) -> Iterator[Section]:
    """Give what the answer rests on, then each candidate's other methods."""
    yield section(*_rests_on(verdict), title="what it rests on")
    note = (ONE_VALUE,) if sessions_are_runs(verdict) else ()
    for number, one in enumerate(verdict.candidates, 1):
        if one.panel is not None:
            ours, theirs = apart((one.variant, verdict.baseline), _NAME)
            yield section(
                *note,
                methods_table(f"methods-{number}", one.panel.methods),
                reasons_section(one.panel.disagreements),
                title=f"the published methods on the same data, {ours} against {theirs}",
            )
        if one.hosts is not None and (texts := tuple(disagreeing_sentences(verdict, one.hosts))):
            yield Section(texts, title="hosts that disagree")


def _rests_on(verdict: Verdict) -> Iterator[str]:
    left_out = [f"{verdict.warmups} warm-up runs"] if verdict.warmups else []
    left_out += [figures.counted(verdict.failed, "failed run")] if verdict.failed else []
    without = f"; left out: {', '.join(left_out)}" if left_out else ""
    yield f"{figures.counted(verdict.runs, 'run')} count{without}"
    if words := looks_text(verdict):
        yield words
    known = [one.multilevel for one in verdict.candidates if one.multilevel is not None]
    most = max((len(result.benchmarks) for result in known), default=0)
    if most > 1 and verdict.correction in _CORRECTIONS:
        yield (
            f"words of benchmarks are corrected for {most} of them (after "
            f"{_CORRECTIONS[verdict.correction]}); intervals are not"
        )
    for one in verdict.candidates:
        if (result := one.multilevel) is None:
            continue
        name = f"{shorten(shown(one.variant), _LONG_NAME)}: " if len(verdict.candidates) > 1 else ""
        hosts = "" if one.hosts is None else more_hosts_text(result, one.hosts)
        yield from (f"{name}{text}" for text in (*_would_settle(result), hosts) if text)
    if verdict.certificate is not None:
        yield verdict.certificate.sentence


def _would_settle(result: Multilevel) -> Iterator[str]:
    """Say of each undecided line how much more would settle it, and whether runs alone would."""
    lines: list[Line] = [*result.benchmarks, *([result.these] if result.these else [])]
    texts = []
    for line in lines:
        advice = advice_text(line, result.outermost)
        if isinstance(line, BenchmarkLine) and line.reason and line.law != "identity":
            continue
        if advice:
            name = f"these {len(result.benchmarks)}" if line is result.these else line.name
            texts.append(f"{shorten(shown(name), _LONG_NAME)}: {advice}")
    if texts:
        heading = chance_heading(lines)
        yield f"{heading}: {'; '.join(texts)}" if heading else "; ".join(texts)
    undecided = [line.more_sessions for line in result.benchmarks if line.outcome == "undecided"]
    suffice = [more.runs_suffice for more in undecided if more is not None]
    if False in suffice:
        of = f": {suffice.count(False)} of {len(suffice)} undecided benchmarks"
        yield f"more runs alone would not do{of * (len(suffice) > 1)}"
