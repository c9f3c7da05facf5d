"""What a reader of the answer should know."""

from __future__ import annotations

from collections.abc import Iterator

from ..pages.model import Caution
from ..pages.number_format import counted, listed
from ..record.profiles import StoredProfile
from .names import PROGRAM, UNKNOWN, is_mangled
from .result import FEWEST_SAMPLES, FEWEST_SESSIONS, Row, Why
from .sentence import signed
from .session_table import SessionTable

_ON_CPU = {"wall", "user", "system", "tree_cpu", "task-clock"}  # what on-CPU time is a part of
_BLIND = 0.10  # of the time, from which on functions without a name are told
_SEVERAL = 0.05  # of the wall time, by which the processors' time is longer where several work


def cautions_of(told: Why, stored: StoredProfile, table: SessionTable) -> Iterator[Caution]:
    """Give the cautions in the order of their weight."""
    yield from _withheld(told)
    yield from _judged(told)
    yield from _opposite(told)
    yield from _seen(told, stored, table)
    yield from _names(told, table)
    yield from _pairs(told)


def _withheld(told: Why) -> Iterator[Caution]:
    if told.sessions < FEWEST_SESSIONS:
        yield Caution(
            "few-sessions",
            f"{counted(told.sessions, 'session')}: from {FEWEST_SESSIONS} on functions are named",
        )
    fewest = min(told.samples_baseline, told.samples_candidate)
    if fewest < FEWEST_SAMPLES:
        yield Caution(
            "few-samples",
            f"{counted(fewest, 'sample')} of a variant: from {FEWEST_SAMPLES} on functions are named",
        )
    if told.withheld == "total-not-resolved":
        yield Caution(
            "total-not-resolved",
            "no function is shown, because the whole difference did not appear in these sessions (--any shows them)",
        )


def _judged(told: Why) -> Iterator[Caution]:
    was = told.verdict_was
    if was is None:
        return
    if was.metric not in _ON_CPU:
        yield Caution(
            "judged-otherwise",
            f"the verdict is about {was.metric}; what is explained here is time on the CPU",
        )
    elif told.withheld is None and was.outcome in ("slower", "faster"):
        slower = told.total.difference_ms > 0
        if slower != (was.outcome == "slower"):
            yield Caution(
                "verdict-differs",
                f"the verdict was {was.outcome} ({was.metric}); here it takes {'more' if slower else 'less'} time on the CPU",
            )


def _opposite(told: Why) -> Iterator[Caution]:
    for pair in told.opposite[:1]:
        ends = (
            ""
            if pair.low_ms is None or pair.high_ms is None
            else f" [{signed(pair.low_ms)}, {signed(pair.high_ms)}]"
        )
        if_so = (
            "stand in one chain of calls"
            if pair.in_one_chain
            else "have opposite signs: if one calls the other"
        )
        yield Caution(
            "opposite-rows",
            f"{pair.rows[0]} and {pair.rows[1]} {if_so}, read them as their sum, {signed(pair.difference_ms)} ms{ends}",
            pair.rows,
        )


def _seen(told: Why, stored: StoredProfile, table: SessionTable) -> Iterator[Caution]:
    unseen = told.kernel_not_seen
    if unseen is not None:
        why = told.kernel.partition(": ")[2]
        yield Caution(
            "kernel-not-seen",
            f"kernel time was not seen ({why or told.kernel}): {unseen.baseline_ms:.3g} and "
            f"{unseen.candidate_ms:.3g} ms a run stand in one row",
        )
    if table.left_out:
        which = listed([str(one) for one in table.left_out])
        yield Caution(
            "sessions-left-out",
            f"session {which} left out: without samples or timed runs of a variant",
        )
    lost = {one.session: one.lost for one in stored.cells if one.session in table.sessions}
    if total := sum(lost.values()):
        yield Caution(
            "samples-lost",
            f"the kernel lost {counted(total, 'sample')}: shares are of those that arrived",
        )
    for side, found in told.runtimes.items():
        state, _, why = found.partition(": ")
        if state == "not-seen":
            yield Caution(
                "interpreter-not-seen",
                f"functions of {side}'s interpreted program are not seen: {why}",
                (side,),
            )
    for times, name in ((table.baseline, told.baseline), (table.candidate, told.variant)):
        if float(times.on_cpu.mean()) > float(times.wall.mean()) * (1 + _SEVERAL):
            yield Caution(
                "several-cpus",
                f"{name} works on several CPUs at a time: off-CPU time is no waiting",
                (name,),
            )
            break


def _names(told: Why, table: SessionTable) -> Iterator[Caution]:
    for row in _blind(told):
        yield Caution(
            "no-symbols",
            f"{'the program' if row.object == PROGRAM else row.object} has no symbols, so that its functions are one row, {UNKNOWN}: "
            "build it without -s and do not strip it",
            (row.object,),
        )
    mangled = [row.name for row in told.rows if is_mangled(row.function)]
    if mangled:
        yield Caution(
            "mangled-names",
            f"{counted(len(mangled), 'name')} as the compiler wrote {'it' if len(mangled) == 1 else 'them'}: install "
            "c++filt (binutils) and record again",
        )
    if table.unused:
        yield Caution(
            "rename-unused",
            f"neither name of {listed(list(table.unused))} has a sample in {told.benchmark}",
        )


def _blind(told: Why) -> list[Row]:
    most = max(told.total.baseline_ms, told.total.candidate_ms)
    return [
        row
        for row in told.rows
        if row.function == UNKNOWN and max(row.baseline_ms, row.candidate_ms) >= _BLIND * most
    ]


def _pairs(told: Why) -> Iterator[Caution]:
    if told.gone and told.new:
        yield Caution(
            "only-in-one",
            f"gone: {listed(list(told.gone), 2)}; new: {listed(list(told.new), 2)}. If one was renamed into the other, "
            "say so: --rename OLD=NEW",
        )
