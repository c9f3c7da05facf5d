"""What a diagnosis holds, its cautions, and its screen."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..pages import number_format as figures
from ..pages.model import (
    Caution,
    Page,
    Section,
    ShortSentence,
    page,
    plain,
    section,
    table_of,
)
from ..pages.result import Result

if TYPE_CHECKING:
    from ..record.run_numbers import Better
    from .host_tests import HostSpeeds, Movers

_REFERENCES = (
    "Y. Benjamini, Y. Hochberg, Journal of the Royal Statistical Society B 57, 1995",
    "A. Wald, J. Wolfowitz, Annals of Mathematical Statistics 11 (1940) and 14 (1943)",
    "G. M. Ljung, G. E. P. Box, Biometrika 65, 1978",
    "A. N. Pettitt, Applied Statistics 28, 1979",
    "W. H. Kruskal, W. A. Wallis, Journal of the American Statistical Association 47, 1952",
    "M. Friedman, Journal of the American Statistical Association 32, 1937",
    "E. B. Page, Journal of the American Statistical Association 58, 1963",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was found; ``docs/methods/diagnosis.md`` lists the codes."""

    code: str
    benchmark: str | None = None
    variant: str | None = None
    sessions: tuple[int | str, ...] = ()
    pvalue: float | None = None
    pvalue_adjusted: float | None = None
    size: float | None = None
    certain: bool = True
    text: str = ""

    @property
    def cell(self) -> str:
        """The benchmark and the variant that it is about; empty of the whole host."""
        return "" if self.benchmark is None else f"{self.benchmark} / {self.variant}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellLine:
    """One cell: what was counted, and the p-value of each test (None where not possible)."""

    benchmark: str
    variant: str
    runs: int
    sessions: int
    spread: float | None
    session_sd: float | None
    lag_1: float | None
    effective: float | None
    ties: float
    resolution: float | None
    far: int
    pvalues: Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FarRun:
    """A run far from the others of its cell and session; it is flagged, never left out."""

    benchmark: str
    variant: str
    session: int | str
    run: int
    ratio: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Untested:
    """A cell with too few runs for any test."""

    benchmark: str
    variant: str
    runs: int


@dataclass(frozen=True, slots=True)
class TwoBinaries:
    """A variant whose programs were not the same in all sessions."""

    variant: str
    benchmarks: tuple[str, ...]
    hashes: tuple[str, ...]
    sessions: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Diagnosis(Result):
    """What the runs of a trial, a file or a list of values look like.

    `name`: The trial, or what the values are called. `metric`, `unit`, `better`: What was measured;
    `metric` is None for a file. `confidence`: 1 - this is the share of clean trials that show any
    finding, at most. `variants`, `benchmarks`: What was looked at. `sessions`, `runs`: How many.
    `tests`: p-values that were corrected together. `findings`: Those of the host first, then tested
    ones by their p-values, then recorded ones. `host`: Every test of the whole host, whether it found
    something or not. `speeds`: The levels of the whole host, or of the `movers`; None where no test of
    it found anything. `movers`: Who moves where it is not the whole host; None where all programs do,
    and where no test of the host found anything. `cells`: Every cell. `not_tested`: Cells with fewer
    than 10 runs. `far_runs`: The farthest first. `two_binaries`: Variants that must not be averaged
    over sessions without a word. `in_order`: Whether the order of the runs is known; otherwise no test
    that looks at it was made.
    """

    method: ClassVar[str] = "diagnose"

    name: str
    metric: str | None
    unit: str
    better: Better
    confidence: float
    variants: tuple[str, ...]
    benchmarks: tuple[str, ...]
    sessions: int
    runs: int
    tests: int
    findings: tuple[Finding, ...]
    host: tuple[Finding, ...]
    speeds: HostSpeeds | None
    cells: tuple[CellLine, ...]
    not_tested: tuple[Untested, ...]
    far_runs: tuple[FarRun, ...]
    two_binaries: tuple[TwoBinaries, ...] = ()
    movers: Movers | None = None
    in_order: bool = True
    references: tuple[str, ...] = _REFERENCES

    def screen(self) -> Page:
        """Set what stands out of the host and of single cells, then all cells and far runs."""
        tested = [one for one in self.findings if one.pvalue is not None]
        metric = "" if self.metric is None else f" · {self.metric}"
        heading = (
            f"{self.name}{metric} · {figures.counted(self.runs, 'run')} of "
            f"{figures.counted(len(self.cells), 'cell')} in {figures.counted(self.sessions, 'session')}"
        )
        together = "the whole host" if self.movers is None else "programs together"
        sections = [section(heading, section(_answer(self, tested, together)))]
        if self.host:
            sections.append(_host(self, together))
        if cells := [one for one in tested if one.benchmark is not None]:
            table = table_of("findings", cells[:_FINDINGS], *_NAMES, ("<found", "text"), _ADJUSTED)
            sections.append(section(table, *_more(len(cells) - _FINDINGS), title="single cells"))
        if noted := [*_noted(self)]:
            shown = (*noted[:_FINDINGS], *_more(len(noted) - _FINDINGS))
            sections.append(section(*shown, title="recorded and counted"))
        lines: Sequence[CellLine] = self.cells
        if len(lines) > _CELLS:  # those with the least that is left of their runs
            lines = sorted(lines, key=lambda one: (one.effective or one.runs) / one.runs)
        table = table_of(
            "cells",
            lines[:_CELLS],
            *_NAMES,
            ("runs", "runs"),
            ("effective", "effective", "{:.0f}".format, ""),
            ("spread", "spread", figures.percent, ""),
            ("of sessions", "session_sd", figures.percent, ""),
            ("lag 1", "lag_1", "{:.2f}".format, ""),
            ("ties", "ties", figures.percent, ""),
            ("far", "far"),
        )
        title = "cells: as many independent runs as effective would tell the mean as well; spread of runs"
        title += " in a session, and of sessions"
        sections.append(section(table, *_more(len(lines) - _CELLS), title=title))
        if far := [*map(_far, self.far_runs)]:
            title = f"far runs: {len(far)}, flagged and never left out"
            sections.append(section(*far[:_FAR], *_more(len(far) - _FAR), title=title))
        if few := [f"{one.benchmark} / {one.variant} ({one.runs})" for one in self.not_tested]:
            sections.append(section(f"not tested, under 10 runs: {figures.listed(few)}"))
        return page(self, f"Diagnosis of {self.name}", *sections)


_SHOWN = 4  # sessions and names that a sentence names
# what is certain among many runs may be too small to matter: the least size of a caution comes third
_CELL = {  # a test of a cell: in the answer, the caution that it leads to
    "order": ("drift in sessions", "drift-within-sessions", 0.005),
    "change-point": ("change point", "drift-within-sessions", 0.005),
    "lag-1": ("lag-1 autocorrelation", "dependent-runs", 0.1),
    "ljung-box": ("Ljung-Box", "dependent-runs", 0.1),
    "runs-test": ("runs test", "dependent-runs", 0.1),
    "warm-up": ("warm-up", "first-run-apart", 0.005),
    # no caution: sessions are what a verdict takes as its unit
    "session-shift": ("session shift", "", 0.0),
}
_HOST = {  # a test of the host: in the table, and how all programs move together, in few words
    "host-blocks": ("blocks (Friedman)", "blocks are slow together", 0.1),
    "host-neighbours": ("consecutive runs", "runs in a row are alike", 0.1),
    "host-trend": ("trend within sessions (Page)", "values drift within sessions", 0.1),
    # of a mean standardised rank
    "host-warm-up": ("first runs of sessions", "first runs of sessions stand out", 0.3),
    "host-change": ("change in session", "values change in a session", 0.005),
    "host-sessions": ("sessions (Friedman)", "", 0.0),
}
_TESTS = {**_CELL, **_HOST}


def in_sessions(sessions: Sequence[int | str], total: int) -> str:
    """Say in which sessions: ``in session 3``, ``in sessions 2, 3``, ``in 7 of 10 sessions``."""
    count = len(sessions)
    if not count:
        return ""
    if count == total > 1:
        return "in both sessions" if total == 2 else f"in all {total} sessions"
    if count > _SHOWN:
        return f"in {count} of {total} sessions"
    return f"in {_numbered(sessions)}"


def _numbered(sessions: Sequence[int | str]) -> str:
    return f"session{'s' * (len(sessions) > 1)} {', '.join(map(str, sessions))}"


def _moves(size: float | None, end: str) -> str:
    if size is None:
        return f"values change {end}"
    return f"values {'rise' if size > 0 else 'fall'} by {figures.percent(size)} {end}"


def cell_text(
    code: str, size: float | None, *, session: int | str | None = None, place: int | None = None
) -> str:
    """Say what a test of one cell found."""
    lag = "" if size is None else f": autocorrelation {size:.2f}"
    first, spread = "is unlike", ""
    if size is not None:
        first = f"lies {figures.percent(size)} {'above' if size > 0 else 'below'}"
        spread = f" by {figures.percent(size)} (standard deviation)"
    texts = {
        "order": _moves(size, "from the first to the last run of a session"),
        "change-point": _moves(size, f"after run {place} of session {session}"),
        "warm-up": f"the first run of a session {first} the others",
        "lag-1": f"consecutive runs {'alternate' if (size or 0) < 0 else 'are alike'}{lag}",
        "ljung-box": f"runs a few places apart depend on each other{lag} at lag 1",
        "runs-test": f"runs above and below the median do not mix at random{lag}",
        "session-shift": f"sessions differ{spread} more than runs within them explain",
    }
    return texts[code]


def host_text(
    code: str,
    size: float | None,
    *,
    session: int | str | None = None,
    when: str = "",
    movers: Movers | None = None,
) -> str:
    """Say what a test of the whole host found: of all programs, or of those that move."""
    how, up = "" if size is None else f"correlation {size:.2f}", size is None or size > 0
    end = f": {how}" if how else ""
    who = "all programs" if movers is None else movers_text(movers)
    rises, lies = ("rise", "above") if up else ("fall", "below")
    texts = {
        "host-blocks": f"{who} are slow in the same blocks{end}",
        "host-neighbours": f"consecutive runs of different programs are alike{end}",
        "host-sessions": f"{who} are slow in the same sessions{end}",
        "host-trend": f"values of {who} {rises} within sessions: rank {how}".rstrip(),
        "host-warm-up": f"the first runs of a session lie {lies} the others in {who}",
        "host-change": f"{_moves(size, f'in {who} {when}')} of session {session}",
    }
    return texts[code]


def movers_text(movers: Movers) -> str:
    """Name the programs that move: ``programs of always (redis-set, redis-incr)``, or ``the program redis-set / always``."""
    if not movers.variants:
        return "some programs"
    if movers.cell is not None:
        return f"the program {' / '.join(movers.cell)}"
    where = figures.listed(movers.benchmarks, _SHOWN)
    if not movers.others and len(movers.variants) > 1:
        return f"programs of all variants ({where})"
    names = figures.listed(movers.variants, _SHOWN)
    return f"programs of {names} ({where})" if where else f"programs of {names}"


def speeds_text(speeds: HostSpeeds, total: int, movers: Movers | None = None) -> str:
    """Say what the levels of the whole host, or of those that move, are."""
    gap, its, others = figures.percent(speeds.ratio - 1), _its(movers), ""
    who, runs = "the whole host", "runs"
    values, together = "the values of all programs", " together"
    if movers is not None:
        who, values = movers_text(movers), f"{its} values"
        runs = f"{its} runs" if movers.variants else "runs"
        together = " together" if movers.cell is None else ""
        if movers.variants and movers.others:
            others = f"; nothing shows it of {figures.listed(movers.others, _SHOWN)}"
    if speeds.two:
        return (
            f"{who} changed between two speeds, {gap} apart, {_slow(speeds, total)}: "
            f"{figures.percent(speeds.share)} of {runs} have the higher values{others}"
        )
    text = f"{who} did not keep {its} speed: {values} rise and fall{together}"
    return f"{text}, by about {gap}{others}"


def _its(movers: Movers | None) -> str:
    return "its" if movers is None or movers.cell is not None else "their"


def _slow(speeds: HostSpeeds, total: int) -> str:
    return in_sessions([one.session for one in speeds.sessions if one.share >= 0.1], total)


# --- Cautions: recorded things, and tested ones that are beyond doubt.

_NAMED = 3
_MANY = 0.05  # share of disturbed runs above which a first screen tells of them
_LOST_TIME = ("cpu-lost", "disturbed-runs", "host-stolen")
# what the checks of the host saw: the caution, their codes, what it says in short, and of the first of them
_CHECKS = (
    ("host-busy", "load other-trials", "the host was busy", " ({load})"),
    ("cpu-lost", "gaps", "others took time from the measured CPU", ""),
    ("host-stolen", "steal", "the hypervisor took time from the measured CPUs", ""),
    ("host-throttled", "throttle temperature", "heat slowed the host down", ": {what}"),
    ("host-disturbed", "swap kernel_log clock placement", "the host was disturbed", ": {what}"),
)
_SESSIONS = re.compile(r", in (?:sessions? |both |all \d|\d+ of \d)[^;%]*$")
_LOAD = re.compile(r"(?P<load>\d+\.\d+) over 1 min on (?P<cpus>\d+ CPUs?)")
_LOST = re.compile(r"(?P<cpu>cpu\d+) lost (?P<share>\d+\.\d+) % of")


def cautions_of(found: Diagnosis, *, waits: bool = True) -> Iterator[Caution]:
    """Give the cautions: recorded things, and tested ones that are beyond doubt."""
    every = (*_untested(found), *_recorded(found), *_tested(found))
    yield from (one for one in every if waits or one.code not in _LOST_TIME)


def _untested(found: Diagnosis) -> Iterator[Caution]:
    if not found.in_order:
        text = "the order of the runs is not known: no test of drift, trend, dependence,"
        text += " first runs or changes was made"
        short = ShortSentence.of("drift would not be seen: the order of the runs is not known")
        yield Caution("order-unknown", text, short=short)
    for one in found.two_binaries:
        were = f"was {len(one.hashes)} different programs"
        each = zip(one.hashes, one.sessions, strict=True)
        parts = "; ".join(f"{sha256[:8]} in {_numbered(those)}" for sha256, those in each)
        text = f"{one.variant} {were} ({figures.listed(one.benchmarks, _NAMED)}): {parts}"
        short = ShortSentence.of(f"{{}} {were}, taken for one: {{}}", one.variant, one.benchmarks)
        yield Caution("two-binaries", text, (one.variant, *one.benchmarks), short)


def _recorded(found: Diagnosis) -> Iterator[Caution]:
    def of(*codes: str) -> list[Finding]:
        return [one for one in found.findings if one.pvalue is None and one.code in codes]

    for code, checks, brief, end in _CHECKS:
        if one := of(*checks.split()):
            what, _, busy = _SESSIONS.sub("", one[0].text).partition("; busiest")
            load = re.sub(r"^(?=\d)", "load ", what.partition(",")[0])
            text = (brief + end if end else "{what}").format(what=what, load=load)
            words = brief
            if at := _LOAD.match(what):
                words += f" (load {float(at['load']):.1f} on {at['cpus']})"
            elif at := _LOST.match(what):
                words = f"others took {float(at['share']):.1f} % of the time of {at['cpu']}"
            when = _when(found, one)
            text += when + f"; busiest{busy}" * bool(busy and not end)
            yield Caution(code, text, short=ShortSentence.of(plain(words + when)))
    if one := of("disturbed-runs"):
        runs, about = sum(int(f.size or 0) for f in one), _benchmarks(one)
        lost = "lost time to the hypervisor or the disk"
        words = f"{figures.counted(runs, 'run')} {lost}{_when(found, one)}: {_of_cells(one)}"
        many = ShortSentence.of(f"runs {lost}: {{}}", about) if runs > _MANY * found.runs else None
        yield Caution("disturbed-runs", words, about, many)
    if one := of("environment"):
        more = f", and {len(one) - 1} more changes" if len(one) > 1 else ""
        said = f"sessions differ: {one[0].text}{more}"
        short = ShortSentence.of(plain(textwrap.shorten(said, 72, placeholder=" ...")))
        yield Caution("environment-changed", said, short=short)
    if one := of("input"):
        short = ShortSentence.of("an input changed while it was measured: runs are not alike")
        yield Caution("input-changed", f"an input changed: {one[0].text}", short=short)
    for check, code in (("output", "outputs-differ"), ("threads", "threads-pinned")):
        if one := of(check):
            more = f"; and {len(one) - 1} more cells" if len(one) > 1 else ""
            differ = "runs of one program do not all write the same: {}"
            value = ShortSentence.of(differ, _benchmarks(one)) if check == "output" else None
            yield Caution(code, f"{one[0].text}{more}", _benchmarks(one), value)


def _tested(found: Diagnosis) -> Iterator[Caution]:
    def matters(one: Finding) -> bool:
        least = _TESTS.get(one.code, ("", "", 0.0))[2]
        return one.certain and (one.size is None or abs(one.size) >= least)

    certain = list(filter(matters, found.findings))
    if moves := [one for one in certain if _HOST.get(one.code, ("", ""))[1]]:
        yield _of_host(found, min(moves, key=lambda one: one.pvalue or 0.0))
    else:
        # where the whole host moves, single cells only repeat it
        for code in dict.fromkeys(code for _, code, _ in _CELL.values() if code):
            if one := [f for f in certain if _CELL.get(f.code, ("", ""))[1] == code]:
                drifts = ShortSentence.of("values drift within sessions: {}", _benchmarks(one))
                short = drifts if code == "drift-within-sessions" else None
                yield Caution(code, _of_cells(one), _benchmarks(one), short)
    modes = [one for one in certain if one.code == "modes"]
    if modes and not (found.speeds is not None and found.speeds.two):  # else they are the host's
        first = modes[0]
        names = [first.benchmark or "", first.variant or ""][len(found.benchmarks) == 1 :]
        short = ShortSentence.of(f"{' / '.join(['{}'] * len(names))}: {plain(first.text)}", *names)
        yield Caution("modes", f"{_of_cells(modes)}: a mean says little", _benchmarks(modes), short)
    # what is counted, such as memory, may well be the same in each run
    if figures.is_time(found.unit) and (ties := [one for one in certain if one.code == "ties"]):
        yield Caution("coarse-clock", _of_cells(ties), _benchmarks(ties))


def _of_host(found: Diagnosis, first: Finding) -> Caution:
    speeds, movers, its = found.speeds, found.movers, _its(found.movers)
    codes = "host-changes", "variant-changes"
    words = f"did not keep {its} speed"
    text = f"{'the whole host' if movers is None else movers_text(movers)} {words}: {first.text}"
    end = f": {_HOST[first.code][1]}"
    if speeds is not None and speeds.two and speeds.ratio >= 1.005:
        codes = "host-two-speeds", "variant-two-speeds"
        text = speeds_text(speeds, found.sessions, movers)
        words = f"had two speeds, {figures.percent(speeds.ratio - 1)} apart"
        end = f", {_slow(speeds, found.sessions)}"
    if movers is None:
        return Caution(codes[0], text, short=ShortSentence.of(plain(f"the host {words}{end}")))
    if not movers.variants:
        short = ShortSentence.of(f"some programs {words}")
    elif movers.cell is not None:
        short = ShortSentence.of(f"{{}} / {{}} {words}", *movers.cell)
    elif not movers.others:
        short = ShortSentence.of(f"{{}} {words}", movers.benchmarks)
    else:
        short = ShortSentence.of(f"programs of {{}} {words}", movers.variants)
    return Caution(codes[1], text, (*movers.variants, *movers.benchmarks), short)


def _of_cells(findings: Sequence[Finding]) -> str:
    """Tell of the surest cell what was found, and name some others."""
    first, *rest = dict.fromkeys(one.cell for one in findings)
    also = f"; also {figures.listed(rest, _NAMED)}" if rest else ""
    return f"{first}: {findings[0].text}{also}"


def _benchmarks(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.benchmark for one in findings if one.benchmark is not None))


def _when(found: Diagnosis, findings: Sequence[Finding]) -> str:
    sessions = {session for one in findings for session in one.sessions}
    where = in_sessions(sorted(sessions, key=lambda one: (len(str(one)), one)), found.sessions)
    return f" {where}" if where else ""


# --- The screen.

_FINDINGS, _CELLS, _FAR = 20, 16, 5  # rows that are shown
_NAMES = ("@benchmark", "benchmark"), ("@variant", "variant")
_ADJUSTED = ("adjusted p", "pvalue_adjusted", figures.bare_pvalue, "")


def _more(rest: int) -> list[str]:
    return [f"and {rest} more (--json has them all)"] if rest > 0 else []


def _far(one: FarRun) -> str:
    ratio = "" if one.ratio is None else f": {figures.ratio(one.ratio)} the median"
    return f"{one.benchmark} / {one.variant}, session {one.session}, run {one.run}{ratio}"


def _answer(found: Diagnosis, tested: Sequence[Finding], together: str) -> str:
    share = figures.percent(1 - found.confidence)
    if not found.tests:
        return "nothing could be tested: a cell needs 10 runs"
    if not tested:
        clean = f"at most {share} of clean trials show a finding"
        text = f"nothing found by {figures.counted(found.tests, 'test')} ({clean})"
        return f"{text}; that is no proof that there is nothing"
    counts = Counter(_CELL.get(one.code, (together,))[0] for one in tested)
    kinds = ", ".join(f"{word} {n}" for word, n in counts.most_common())
    many = figures.counted(len(tested), "finding")
    return f"{many} by {found.tests} tests, corrected together at {share}: {kinds}"


def _host(found: Diagnosis, title: str) -> Section:
    def said(one: Finding) -> str:
        seen = one.pvalue_adjusted is not None and one.pvalue_adjusted <= 1 - found.confidence
        return "not tested" if one.pvalue is None else one.text if seen else "nothing found"

    def label(one: Finding) -> str:
        return " ".join((_HOST[one.code][0], *map(str, one.sessions[:1])))

    columns = (("<all programs at once", label), ("<", said), _ADJUSTED)
    table = table_of("host", found.host, *columns)
    speeds = [] if found.speeds is None else [found.speeds]
    texts = (speeds_text(one, found.sessions, found.movers) for one in speeds)
    return section(*texts, table, title=title)


def _noted(found: Diagnosis) -> Iterator[str]:
    for one in found.findings:
        if one.pvalue is None:
            # the runner's sentences of cells begin with their names
            named = not one.cell or one.text.startswith(f"{one.cell} ")
            yield f"{one.code}: {'' if named else f'{one.cell}: '}{one.text}"
