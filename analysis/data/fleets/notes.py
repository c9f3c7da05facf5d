"""What a reader of a fleet should know of its hosts, whatever is computed from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from ...record import HostProgress
from ...report import Caution, figures

__all__ = ["host_cautions", "standing"]

_NAMED = 6


class Standing(Protocol):
    """What is known of how far a host is."""

    @property
    def host(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def done(self) -> int: ...
    @property
    def planned(self) -> int | None: ...
    @property
    def why(self) -> str | None: ...


def standing(one: Standing) -> str:
    """Say of a host that is not complete how it stands: ``missing: lab3 (its trial has not begun)``."""
    why = f" ({one.why})" if one.why else ""
    rows = "" if one.state == "missing" else f", {one.done} of {_planned(one)} runs"
    return f"{one.state}: {one.host}{rows}{why}"


def host_cautions(hosts: Sequence[HostProgress]) -> Iterator[Caution]:
    """Say which hosts are missing, failed or unfinished, and whether there is one to judge only."""
    by_state: dict[str, list[HostProgress]] = {}
    for one in hosts:
        by_state.setdefault(one.state, []).append(one)
    if missing := by_state.get("missing"):
        names = _names(missing)
        yield Caution(
            "host-missing",
            f"missing: {figures.listed(names, _NAMED)}: no run is measured there, and nothing is said "
            f"of {'it' if len(names) == 1 else 'them'}",
            names,
        )
    if failed := by_state.get("failed"):
        told = "; ".join(f"{one.host} ({one.why})" for one in failed[:3])
        more = f" and {len(failed) - 3} more" if len(failed) > 3 else ""
        yield Caution(
            "host-failed",
            f"failed: {told}{more}: left out, and nothing is said of "
            f"{'it' if len(failed) == 1 else 'them'}",
            _names(failed),
        )
    if unfinished := [*by_state.get("running", []), *by_state.get("partial", [])]:
        told = ", ".join(
            f"{one.host} {one.state} ({one.done} of {_planned(one)} runs)" for one in unfinished[:3]
        )
        more = f" and {len(unfinished) - 3} more" if len(unfinished) > 3 else ""
        some = any(one.counting for one in unfinished)
        yield Caution(
            "host-unfinished",
            f"not finished: {told}{more}: "
            f"{'what is there is judged' if some else 'no run counts there yet'}",
            _names(unfinished),
        )
    if len(hosts) and sum(one.counting > 0 for one in hosts) == 1:
        only = next(one.host for one in hosts if one.counting > 0)
        yield Caution(
            "one-host",
            f"one host only ({only}): nothing is said of other hosts, and its own oddities cannot be "
            "told from the programs'",
            (only,),
        )


def _names(hosts: Sequence[HostProgress]) -> tuple[str, ...]:
    return tuple(one.host for one in hosts)


def _planned(one: Standing) -> str:
    return "an unknown number of" if one.planned is None else str(one.planned)
