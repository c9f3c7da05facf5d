"""A part of a campaign, to be tried before the whole is measured."""

from __future__ import annotations

import dataclasses

from ..errors import UsageError
from .model import Campaign, Sink
from .schema.kinds import nearest


def one_cell(campaign: Campaign, named: str) -> Campaign:
    """Give a campaign of one cell, executed once after one warm-up, its output kept.

    Parameters
    ----------
    campaign : Campaign
        The whole.
    named : str
        ``BENCHMARK:VARIANT``.

    Raises
    ------
    UsageError
        If there is no such cell.
    """
    benchmark, colon, variant = named.partition(":")
    if not colon:
        what = f"'{named}' names no cell"
        raise UsageError(what, "--only", "write --only BENCHMARK:VARIANT")
    for kind, name, names in (
        ("benchmark", benchmark, campaign.benchmarks),
        ("variant", variant, campaign.variants),
    ):
        if name not in names:
            near = nearest(name, names)
            fix = f"did you mean '{near}'? Known here: " if near else "known here: "
            what = f"there is no {kind} '{name}'"
            raise UsageError(what, "--only", fix + ", ".join(names[:20]))
    cell = campaign.cell(benchmark, variant)
    return _part(
        campaign,
        warmup=1,
        benchmarks=(benchmark,),
        variants=(variant,),
        baseline=variant,
        builds=tuple(build for build in campaign.builds if build.variant == variant),
        cells=(dataclasses.replace(cell, stdout=_kept(cell.stdout), stderr=_kept(cell.stderr)),),
    )


def one_block(campaign: Campaign) -> Campaign:
    """Give a campaign of the first block alone: each cell once."""
    return _part(campaign, warmup=0)


def _kept(sink: Sink) -> Sink:
    return "keep" if sink == "file" else sink


def _part(campaign: Campaign, *, warmup: int, **changes: object) -> Campaign:
    """Leave out what belongs to a whole trial: sessions, caps, and the hook that tells of its end."""
    protocol = dataclasses.replace(
        campaign.protocol,
        sessions=1,
        runs=1,
        warmup=warmup,
        stop=None,
        max_runs=None,
        max_time_s=None,
        disturbed="keep",
    )
    hooks = dataclasses.replace(campaign.hooks, finish=())
    counters = campaign.counters and dataclasses.replace(campaign.counters, every=1)
    parts = {"protocol": protocol, "hooks": hooks, "counters": counters} | changes
    return dataclasses.replace(campaign, **parts)  # type: ignore[arg-type]  # each is its field's
