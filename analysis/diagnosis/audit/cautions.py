"""What of a diagnosis a reader of a verdict must know: few lines, each with what and when."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...report import Caution, figures
from .result import Diagnosis, Finding
from .sentences import in_sessions, speeds_text

__all__ = ["cautions_of"]

_NAMED = 3
# what is certain among many runs may be too small to matter: least sizes of a caution
_CORRELATED, _MOVED = 0.1, 0.005
_LEAST: dict[str, float] = {
    "host-blocks": _CORRELATED,
    "host-neighbours": _CORRELATED,
    "host-trend": _CORRELATED,
    "host-warm-up": 0.3,  # mean standardised rank
    "host-change": _MOVED,
    "order": _MOVED,
    "change-point": _MOVED,
    "warm-up": _MOVED,
    "lag-1": _CORRELATED,
    "ljung-box": _CORRELATED,
    "runs-test": _CORRELATED,
}
_MOVES = ("host-blocks", "host-neighbours", "host-trend", "host-warm-up", "host-change")
# what is found in single cells: the caution, and the tests that lead to it. A shift between sessions
# is none: sessions are what a verdict takes as its unit
_OF_CELLS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("drift-within-sessions", ("order", "change-point")),
    ("dependent-runs", ("lag-1", "ljung-box", "runs-test")),
    ("first-run-apart", ("warm-up",)),
)
_LOST_TIME = ("cpu-lost", "disturbed-runs", "host-stolen")


def cautions_of(found: Diagnosis, *, waits: bool = True) -> Iterator[Caution]:
    """Give the cautions: recorded things, and tested ones that are beyond doubt.

    A drift that the runner recorded is a caution of the trial already. Time that others took is one only
    of what it goes into (`waits`): a count of instructions is the same however long a run was held up.
    """
    yield from (one for one in _all(found) if waits or one.code not in _LOST_TIME)


def _all(found: Diagnosis) -> Iterator[Caution]:
    if not found.in_order:
        yield Caution(
            "order-unknown",
            "in which order the runs were made is not known: no test of drift, trend, dependence, first "
            "runs or changes was made",
        )
    yield from _binaries(found)
    yield from _recorded(found)
    certain = [one for one in found.findings if one.certain and _matters(one)]
    moves = [one for one in certain if one.code in _MOVES]
    if moves:
        yield _host(found, moves)
    else:
        # where the whole host moves, single cells only repeat it
        for code, tests in _OF_CELLS:
            if one := [f for f in certain if f.code in tests]:
                yield Caution(code, _of_cells(one), _benchmarks(one))
    # what is counted, such as memory, may well be the same in each run
    if figures.is_time(found.unit) and (ties := [one for one in certain if one.code == "ties"]):
        yield Caution("coarse-clock", _of_cells(ties), _benchmarks(ties))


def _matters(one: Finding) -> bool:
    return one.size is None or abs(one.size) >= _LEAST.get(one.code, 0.0)


def _host(found: Diagnosis, moves: Sequence[Finding]) -> Caution:
    speeds, movers = found.speeds, found.movers
    about = () if movers is None else (*movers.variants, *movers.benchmarks)
    if speeds is not None and speeds.two and speeds.ratio >= 1 + _MOVED:
        told = speeds_text(speeds, found.sessions, movers)
        return Caution("host-two-speeds" if movers is None else "variant-two-speeds", told, about)
    first = min(moves, key=lambda one: one.pvalue or 0.0)
    if movers is None:
        return Caution("host-changes", f"the whole host did not keep its speed: {first.text}")
    return Caution("variant-changes", f"not all programs kept their speed: {first.text}", about)


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
        )


def _recorded(found: Diagnosis) -> Iterator[Caution]:
    noted = [one for one in found.findings if one.pvalue is None]

    def of(*codes: str) -> list[Finding]:
        return [one for one in noted if one.code in codes]

    yield from _of_host(found, of)
    if one := of("disturbed-runs"):
        runs = sum(int(f.size or 0) for f in one)
        noun = "run" if runs == 1 else "runs"
        said = f"{runs} {noun} lost time to the hypervisor or the disk{_when(found, one)}: {_of_cells(one)}"
        yield Caution("disturbed-runs", said, _benchmarks(one))
    if one := of("environment"):
        more = f", and {len(one) - 1} more changes" if len(one) > 1 else ""
        yield Caution("environment-changed", f"sessions differ: {one[0].text}{more}")
    if one := of("input"):
        yield Caution("input-changed", f"an input changed: {one[0].text}")
    if one := of("output"):
        yield Caution("outputs-differ", _told(one), _benchmarks(one))
    if one := of("threads"):
        yield Caution("threads-pinned", _told(one), _benchmarks(one))


def _of_host(found: Diagnosis, of: Callable[..., list[Finding]]) -> Iterator[Caution]:
    """Say what the checks of the host saw, with the first of its figures."""
    if one := of("load", "other-trials"):
        load = _what(one).partition(",")[0]
        said = f"load {load}" if load[:1].isdigit() else load
        yield Caution("host-busy", f"the host was busy ({said}){_when(found, one)}")
    if one := of("gaps"):
        yield Caution("cpu-lost", f"{_what(one)}{_when(found, one)}")
    if one := of("steal"):
        yield Caution("host-stolen", f"{_what(one)}{_when(found, one)}")
    if one := of("throttle", "temperature"):
        said = f"heat slowed the host down: {_what(one)}{_when(found, one)}"
        yield Caution("host-throttled", said)
    if one := of("swap", "kernel_log", "clock"):
        yield Caution("host-disturbed", f"the host was disturbed: {_what(one)}{_when(found, one)}")


def _what(findings: Sequence[Finding]) -> str:
    """Give the first sentence without its sessions."""
    return findings[0].text.rpartition(", in ")[0] or findings[0].text


def _when(found: Diagnosis, findings: Sequence[Finding]) -> str:
    sessions = sorted({s for one in findings for s in one.sessions}, key=_number)
    where = in_sessions(sessions, found.sessions)
    return f" {where}" if where else ""


def _told(findings: Sequence[Finding]) -> str:
    more = f"; and {len(findings) - 1} more cells" if len(findings) > 1 else ""
    return f"{findings[0].text}{more}"


def _number(session: int | str) -> tuple[bool, int, str]:
    return isinstance(session, str), session if isinstance(session, int) else 0, str(session)
