"""How each host of a fleet stands, as a verdict names it."""

from __future__ import annotations

from dataclasses import dataclass

from ..record import HostProgress, HostState

__all__ = ["FleetHostStanding", "HostDifference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostDifference:
    """What a host has, and what most hosts have: `key` with dots, as in ``docs/environment.md``.

    `program` tells whether it is the content of an executable or of an input.
    """

    key: str
    here: str
    most: str
    program: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetHostStanding:
    """One host of a fleet.

    Attributes
    ----------
    host : str
        The node's name.
    state : {"complete", "running", "partial", "failed", "missing"}
        As `analysis.record.HostProgress` has it.
    done, planned : int, int or None
        Positions with a row, and those of the plan, warm-ups among them.
    why : str or None
        What is wrong with it, or how its trial ended.
    judged : bool
        Whether its runs are in the answer.
    host_id : str or None
        The machine id that its trial stored; hosts of one image may share it.
    trial : str
        The trial's folder.
    differs : tuple of HostDifference
        In what its environment is not that of most hosts that are judged.
    """

    host: str
    state: HostState
    done: int
    planned: int | None
    why: str | None
    judged: bool
    host_id: str | None
    trial: str
    differs: tuple[HostDifference, ...] = ()

    @classmethod
    def of(
        cls, one: HostProgress, *, judged: bool, differs: tuple[HostDifference, ...] = ()
    ) -> FleetHostStanding:
        """Make one of how far a host is."""
        manifest = one.manifest
        return cls(
            host=one.host,
            state=one.state,
            done=one.done,
            planned=one.planned,
            why=one.why,
            judged=judged,
            host_id=None if manifest is None else manifest.host_id,
            trial=str(one.trial),
            differs=differs,
        )
