"""Read a campaign file, choose a part of it, or write a first one."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import CampaignError, UsageError
from analysis.record.yaml_reader import decoded, quote, read_bytes, read_document
from analysis.registry import shipped
from analysis.words import normal

from .defaults import OwnDefaults, Table, todays_defaults
from .resolve import Resolver
from .scalar_kinds import NAME, NAME_NEEDS, known_here
from .schema import check_shape

if TYPE_CHECKING:
    from .model import Campaign, Sink


def one_cell(campaign: Campaign, named: str) -> Campaign:
    """Give a campaign of one cell, executed once after one warm-up, its output kept."""
    benchmark, colon, variant = named.partition(":")
    if not colon:
        what = f"'{named}' names no cell"
        raise UsageError(what, "--only", "write --only BENCHMARK:VARIANT")
    for kind, name, names in (
        ("benchmark", benchmark, campaign.benchmarks),
        ("variant", variant, campaign.variants),
    ):
        if name not in names:
            fix = known_here(name, names, names[:20])
            raise UsageError(f"there is no {kind} '{name}'", "--only", fix)
    cell = campaign.cell(benchmark, variant)
    return _part(
        campaign,
        warmup=1,
        benchmarks=(benchmark,),
        variants=(variant,),
        baseline=variant,
        builds=tuple(build for build in campaign.builds if build.variant == variant),
        services=tuple(service for service in campaign.services if service.serves(variant)),
        cells=(dataclasses.replace(cell, stdout=_kept(cell.stdout), stderr=_kept(cell.stderr)),),
    )


def one_block(campaign: Campaign) -> Campaign:
    """Give a campaign of the first block alone: each cell once."""
    return _part(campaign, warmup=0)


def _kept(sink: Sink) -> Sink:
    return "keep" if sink == "file" else sink


def _part(campaign: Campaign, *, warmup: int, **changes: object) -> Campaign:
    protocol = dataclasses.replace(
        campaign.protocol,
        sessions=1,
        runs=1,
        warmup=warmup,
        stop=None,
        max_runs=None,
        max_time_s=None,
        disturbed="keep",
        never_ok="go_on",
    )
    hooks = dataclasses.replace(campaign.hooks, finish=())
    counters = campaign.counters and dataclasses.replace(campaign.counters, every=1)
    parts = {"protocol": protocol, "hooks": hooks, "counters": counters} | changes
    return dataclasses.replace(campaign, **parts)  # type: ignore[arg-type]  # each is its field's


def starter_text(name: str) -> str:
    """Give the text of a commented campaign to start from."""
    if not NAME.fullmatch(name):
        raise UsageError(
            f"a campaign cannot be named {quote(name)}",
            fix=f"use {NAME_NEEDS}",
        )
    text = shipped("harness/campaign/starter.yaml").read_text(encoding="utf-8")
    # In quotes, so that a name such as 'null' stays a text.
    return text.replace("name: starter ", f'name: "{name}" ', 1)


MAX_SEED = 2**63 - 1


def load_campaign(
    path: Path,
    *,
    seed: int | None = None,
    defaults: Table | None = None,
    own: OwnDefaults | None = None,
    text: bytes | None = None,
) -> Campaign:
    """Read, check and resolve a campaign file; with `text`, as if that stood in it, whether it is there or not."""
    if seed is not None and not 0 <= seed <= MAX_SEED:
        raise UsageError(f"the seed must be from 0 to {MAX_SEED}, not {seed}")
    data = read_bytes(path) if text is None else text
    document = read_document(decoded(data, path), str(path))
    given, faults = check_shape(document)
    problems = [*document.problems, *faults.problems]
    campaign = None
    if given is not None:
        mine = own or OwnDefaults()
        table = {**todays_defaults(), **(defaults or {})}
        resolver = Resolver(document, given, faults, table, mine.values)
        resolver.notes += mine.notes(given)
        campaign = resolver.resolve(seed, data)
        problems += resolver.problems
    if problems or campaign is None:
        raise CampaignError(sorted(problems, key=lambda one: one.place))
    return dataclasses.replace(campaign, notes=tuple(dict.fromkeys(resolver.notes)))


def campaign_name(path: Path) -> str:
    """Read only the name of a campaign, by which its trials are found."""
    document = read_document(decoded(read_bytes(path), path), str(path))
    given = document.value.get("name") if isinstance(document.value, dict) else None
    if isinstance(given, str) and NAME.fullmatch(given):
        return normal(str(given))
    raise CampaignError([*document.problems, *check_shape(document)[1].problems])
