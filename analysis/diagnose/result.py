"""What a diagnosis holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..pages import number_format as figures
from ..pages.model import Caution, ShortSentence, plain
from ..pages.result import Result

if TYPE_CHECKING:
    from ..record.run_numbers import Better
    from .host_tests import HostSpeeds
    from .movers import Movers

REFERENCES = (
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoBinaries:
    """A variant whose programs were not the same in all sessions."""

    variant: str
    benchmarks: tuple[str, ...]
    hashes: tuple[str, ...]
    sessions: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Diagnosis(Result):
    """What the runs of a trial, a file or a list of values look like.

    Attributes
    ----------
    name : str
        The trial, or what the values are called.
    metric, unit, better : str
        What was measured; `metric` is None for a file.
    confidence : float
        1 - this is the share of clean trials that show any finding, at most.
    variants, benchmarks : tuple of str
        What was looked at.
    sessions, runs : int
        How many.
    tests : int
        p-values that were corrected together.
    findings : tuple of Finding
        Those of the host first, then tested ones by their p-values, then recorded ones.
    host : tuple of Finding
        Every test of the whole host, whether it found something or not.
    speeds : HostSpeeds or None
        The levels of the whole host, or of the `movers`; None where no test of it found anything.
    movers : Movers or None
        Who moves where it is not the whole host; None where all programs do, and where no test of the host
        found anything.
    cells : tuple of CellLine
        Every cell.
    not_tested : tuple of Untested
        Cells with fewer than 10 runs.
    far_runs : tuple of FarRun
        The farthest first.
    two_binaries : tuple of TwoBinaries
        Variants that must not be averaged over sessions without a word.
    in_order : bool
        Whether the order of the runs is known; otherwise no test that looks at it was made.
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


# --- The sentences and the cautions of a diagnosis.


_SHOWN = 4


def in_sessions(sessions: Sequence[int | str], total: int) -> str:
    """Say in which sessions: ``in session 3``, ``in sessions 2, 3``, ``in 7 of 10 sessions``."""
    if not sessions:
        return ""
    if len(sessions) == total > 1:
        return "in both sessions" if total == 2 else f"in all {total} sessions"
    if len(sessions) > _SHOWN and len(sessions) != total:
        return f"in {len(sessions)} of {total} sessions"
    return f"in session{'s' * (len(sessions) > 1)} {', '.join(map(str, sessions))}"


def _moves(size: float | None, end: str) -> str:
    if size is None:
        return f"values change {end}"
    return f"values {'rise' if size > 0 else 'fall'} by {figures.percent(size)} {end}"


def cell_text(
    code: str, size: float | None, *, session: int | str | None = None, place: int | None = None
) -> str:
    """Say what a test of one cell found."""
    lag = "" if size is None else f": autocorrelation {size:.2f}"
    match code:
        case "order":
            return _moves(size, "from the first to the last run of a session")
        case "change-point":
            return _moves(size, f"after run {place} of session {session}")
        case "warm-up" if size is not None:
            where = "above" if size > 0 else "below"
            return f"the first run of a session lies {figures.percent(size)} {where} the others"
        case "warm-up":
            return "the first run of a session is unlike the others"
        case "lag-1" if size is not None and size < 0:
            return f"consecutive runs alternate{lag}"
        case "lag-1":
            return f"consecutive runs are alike{lag}"
        case "ljung-box":
            return f"runs a few places apart depend on each other{lag} at lag 1"
        case "runs-test":
            return f"runs above and below the median do not mix at random{lag}"
    spread = "" if size is None else f" by {figures.percent(size)} (standard deviation)"
    return f"sessions differ{spread} more than runs within them explain"


def host_text(
    code: str,
    size: float | None,
    *,
    session: int | str | None = None,
    when: str = "",
    movers: Movers | None = None,
) -> str:
    """Say what a test of the whole host found: of all programs, or of those that move."""
    said = "" if size is None else f": correlation {size:.2f}"
    who = "all programs" if movers is None else movers_text(movers)
    match code:
        case "host-blocks":
            return f"{who} are slow in the same blocks{said}"
        case "host-neighbours":
            return f"consecutive runs of different programs are alike{said}"
        case "host-sessions":
            return f"{who} are slow in the same sessions{said}"
        case "host-trend":
            way = "rise" if size is None or size > 0 else "fall"
            return f"values of {who} {way} within sessions: rank{said.removeprefix(':')}"
        case "host-warm-up":
            way = "above" if size is None or size > 0 else "below"
            return f"the first runs of a session lie {way} the others in {who}"
    return f"{_moves(size, f'in {who} {when}')} of session {session}"


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
    gap, share = figures.percent(speeds.ratio - 1), figures.percent(speeds.share)
    there = [one.session for one in speeds.sessions if one.share >= 0.1]
    where = in_sessions(there, total)
    who, runs, others, its = "the whole host", "runs", "", "its"
    if movers is not None:
        its = "their" if movers.cell is None else "its"
        who, runs = movers_text(movers), f"{its} runs" if movers.variants else "runs"
        if movers.variants and movers.others:
            others = f"; nothing shows it of {figures.listed(movers.others, _SHOWN)}"
    if speeds.two:
        return (
            f"{who} changed between two speeds, {gap} apart, {where}: {share} of {runs} have "
            f"the higher values{others}"
        )
    rest = "the values of all programs" if movers is None else f"{its} values"
    together = "" if movers is not None and movers.cell is not None else " together"
    return f"{who} did not keep {its} speed: {rest} rise and fall{together}, by about {gap}{others}"


_NAMED = 3
# what is certain among many runs may be too small to matter: least sizes of a caution
_CORRELATED, _MOVED = 0.1, 0.005
_LEAST: dict[str, float] = {
    **dict.fromkeys(("host-blocks", "host-neighbours", "host-trend"), _CORRELATED),
    **dict.fromkeys(("lag-1", "ljung-box", "runs-test"), _CORRELATED),
    **dict.fromkeys(("host-change", "order", "change-point", "warm-up"), _MOVED),
    "host-warm-up": 0.3,  # mean standardised rank
}
_MOVES = ("host-blocks", "host-neighbours", "host-trend", "host-warm-up", "host-change")
# what is found in single cells: the caution, and the tests that lead to it. A shift between sessions
# is none: sessions are what a verdict takes as its unit
_OF_CELLS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("drift-within-sessions", ("order", "change-point")),
    ("dependent-runs", ("lag-1", "ljung-box", "runs-test")),
    ("first-run-apart", ("warm-up",)),
)
_DRIFTS = "values drift within sessions: {}"
_LOST_TIME = ("cpu-lost", "disturbed-runs", "host-stolen")


def cautions_of(found: Diagnosis, *, waits: bool = True) -> Iterator[Caution]:
    """Give the cautions: recorded things, and tested ones that are beyond doubt."""
    yield from (one for one in _all(found) if waits or one.code not in _LOST_TIME)


def _all(found: Diagnosis) -> Iterator[Caution]:
    if not found.in_order:
        yield Caution(
            "order-unknown",
            "in which order the runs were made is not known: no test of drift, trend, dependence, first "
            "runs or changes was made",
            short=ShortSentence.of("drift would not be seen: the order of the runs is not known"),
        )
    yield from _binaries(found)
    yield from _recorded(found)
    certain = [
        one
        for one in found.findings
        if one.certain and (one.size is None or abs(one.size) >= _LEAST.get(one.code, 0.0))
    ]
    moves = [one for one in certain if one.code in _MOVES]
    if moves:
        yield _host(found, moves)
    else:
        # where the whole host moves, single cells only repeat it
        for code, tests in _OF_CELLS:
            if one := [f for f in certain if f.code in tests]:
                drifts = code == "drift-within-sessions"
                short = ShortSentence.of(_DRIFTS, _benchmarks(one)) if drifts else None
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


def _host(found: Diagnosis, moves: Sequence[Finding]) -> Caution:
    speeds, movers = found.speeds, found.movers
    about = () if movers is None else (*movers.variants, *movers.benchmarks)
    if speeds is not None and speeds.two and speeds.ratio >= 1 + _MOVED:
        told = speeds_text(speeds, found.sessions, movers)
        apart = f"had two speeds, {figures.percent(speeds.ratio - 1)} apart"
        if movers is None:
            where = in_sessions(
                [x.session for x in speeds.sessions if x.share >= 0.1], found.sessions
            )
            short = ShortSentence.of(plain(f"the host {apart}, {where}"))
            return Caution("host-two-speeds", told, short=short)
        return Caution("variant-two-speeds", told, about, _of_movers(movers, apart))
    first = min(moves, key=lambda one: one.pvalue or 0.0)
    if movers is None:
        text = f"the whole host did not keep its speed: {first.text}"
        short = ShortSentence.of(f"the host did not keep its speed: {_HOW[first.code]}")
        return Caution("host-changes", text, short=short)
    its = "their" if movers.cell is None else "its"
    return Caution(
        "variant-changes",
        f"{movers_text(movers)} did not keep {its} speed: {first.text}",
        about,
        _of_movers(movers, f"did not keep {its} speed"),
    )


# how all programs move together, in few words
_HOW = {
    "host-blocks": "blocks are slow together",
    "host-neighbours": "runs in a row are alike",
    "host-trend": "values drift within sessions",
    "host-warm-up": "first runs of sessions stand out",
    "host-change": "values change in a session",
}


def _of_movers(movers: Movers, said: str) -> ShortSentence:
    """Say it of the variants whose programs move, where these are known."""
    if not movers.variants:
        return ShortSentence.of(f"some programs {said}")
    if movers.cell is not None:
        return ShortSentence.of(f"{{}} / {{}} {said}", *movers.cell)
    if not movers.others:
        return ShortSentence.of(f"{{}} {said}", tuple(movers.benchmarks))
    return ShortSentence.of(f"programs of {{}} {said}", tuple(movers.variants))


def _of_cells(findings: Sequence[Finding]) -> str:
    """Tell of the surest cell what was found, and name some others."""
    cells = list(dict.fromkeys(f"{one.benchmark} / {one.variant}" for one in findings))
    first = f"{cells[0]}: {findings[0].text}"
    rest = cells[1:]
    return f"{first}; also {figures.listed(rest, _NAMED)}" if rest else first


def _benchmarks(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.benchmark for one in findings if one.benchmark is not None))


def _binaries(found: Diagnosis) -> Iterator[Caution]:
    for one in found.two_binaries:
        where = figures.listed(one.benchmarks, _NAMED)
        parts = "; ".join(
            f"{sha256[:8]} in session{'s' * (len(sessions) > 1)} {', '.join(map(str, sessions))}"
            for sha256, sessions in zip(one.hashes, one.sessions, strict=True)
        )
        yield Caution(
            "two-binaries",
            f"{one.variant} was {len(one.hashes)} different programs ({where}): {parts}",
            (one.variant, *one.benchmarks),
            ShortSentence.of(
                f"{{}} was {len(one.hashes)} different programs, taken for one: {{}}",
                one.variant,
                tuple(one.benchmarks),
            ),
        )


def _recorded(found: Diagnosis) -> Iterator[Caution]:
    noted = [one for one in found.findings if one.pvalue is None]

    def of(*codes: str) -> list[Finding]:
        return [one for one in noted if one.code in codes]

    for codes, code, said in _OF_HOST:
        if one := of(*codes):
            what = one[0].text.rpartition(", in ")[0] or one[0].text  # without its sessions
            load = what.partition(",")[0]
            load = f"load {load}" if load[:1].isdigit() else load
            text = said.format(what=what, load=load) + _when(found, one)
            yield Caution(code, text, short=_in_short(code, what, _when(found, one)))
    if one := of("disturbed-runs"):
        runs = sum(int(f.size or 0) for f in one)
        lost = f"{figures.counted(runs, 'run')} lost time to the hypervisor or the disk{_when(found, one)}"
        said = f"{lost}: {_of_cells(one)}"
        short = ShortSentence.of(
            "runs lost time to the hypervisor or the disk: {}", _benchmarks(one)
        )
        many = runs > _MANY * found.runs
        yield Caution("disturbed-runs", said, _benchmarks(one), short if many else None)
    if one := of("environment"):
        more = f", and {len(one) - 1} more changes" if len(one) > 1 else ""
        short = ShortSentence.of("not all sessions ran under the same settings of the host")
        yield Caution("environment-changed", f"sessions differ: {one[0].text}{more}", short=short)
    if one := of("input"):
        short = ShortSentence.of("an input changed while it was measured: runs are not alike")
        yield Caution("input-changed", f"an input changed: {one[0].text}", short=short)
    for check, code in (("output", "outputs-differ"), ("threads", "threads-pinned")):
        if one := of(check):
            more = f"; and {len(one) - 1} more cells" if len(one) > 1 else ""
            differ = ShortSentence.of(_WRITE, _benchmarks(one)) if check == "output" else None
            yield Caution(code, f"{one[0].text}{more}", _benchmarks(one), differ)


_WRITE = "runs of one program do not all write the same: {}"
_MANY = 0.05  # share of disturbed runs above which a first screen tells of them

# what the checks of the host saw: their codes, the caution's, and what it says of the first of them
_OF_HOST: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("load", "other-trials"), "host-busy", "the host was busy ({load})"),
    (("gaps",), "cpu-lost", "{what}"),
    (("steal",), "host-stolen", "{what}"),
    (("throttle", "temperature"), "host-throttled", "heat slowed the host down: {what}"),
    (
        ("swap", "kernel_log", "clock", "placement"),
        "host-disturbed",
        "the host was disturbed: {what}",
    ),
)


_LOAD = re.compile(r"(?P<load>\d+\.\d+) over 1 min on (?P<cpus>\d+ CPUs?)")
_LOST = re.compile(r"(?P<cpu>cpu\d+) lost (?P<share>\d+\.\d+) % of")
_SHORT = {
    "cpu-lost": "others took time from the measured CPU",
    "host-stolen": "the hypervisor took time from the measured CPUs",
    "host-throttled": "heat slowed the host down",
    "host-disturbed": "the host was disturbed",
    "host-busy": "the host was busy",
}


def _in_short(code: str, what: str, when: str) -> ShortSentence:
    """Say what a check of the host saw, with its number where that is known."""
    said = _SHORT[code]
    if load := _LOAD.match(what):
        said += f" (load {float(load['load']):.1f} on {load['cpus']})"
    elif lost := _LOST.match(what):
        said = f"others took {float(lost['share']):.1f} % of the time of {lost['cpu']}"
    return ShortSentence.of(plain(said + when))


def _when(found: Diagnosis, findings: Sequence[Finding]) -> str:
    sessions = sorted(
        {s for one in findings for s in one.sessions},
        key=lambda s: (isinstance(s, str), s if isinstance(s, int) else 0, str(s)),
    )
    where = in_sessions(sessions, found.sessions)
    return f" {where}" if where else ""
