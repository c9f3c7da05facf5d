"""Read a campaign file: YAML text to a `Campaign`, or all that is wrong with it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from analysis.words import normal

from ..errors import CampaignError, Problem, UsageError
from .model import Campaign
from .own import OwnDefaults
from .resolve.campaign import Resolver
from .schema.check import check_shape
from .schema.defaults import Table, todays_defaults
from .schema.letters import NAME
from .source.text_file import decoded, read_bytes
from .source.yaml_marks import read_document

MAX_SEED = 2**63 - 1


def load_campaign(
    path: Path,
    *,
    seed: int | None = None,
    defaults: Table | None = None,
    own: OwnDefaults | None = None,
) -> Campaign:
    """Read, check and resolve a campaign file.

    Parameters
    ----------
    path : Path
        The YAML file. Its folder is where relative paths in it begin.
    seed : int, optional
        Takes the place of the file's seed.
    defaults : Table, optional
        What holds for keys that the file leaves out, in place of today's defaults. A key that the
        table lacks is younger than it, and has today's.
    own : OwnDefaults, optional
        What holds in place of some of them, as if it stood in the file.

    Returns
    -------
    Campaign
        With every default and template filled in, and every matrix written out.

    Raises
    ------
    CampaignError
        With the first mistake in the YAML, or else with every mistake in what it says, in the
        order of the file.
    UsageError
        If `seed` is no seed.
    """
    if seed is not None and not 0 <= seed <= MAX_SEED:
        raise UsageError(f"the seed must be from 0 to {MAX_SEED}, not {seed}")
    data = read_bytes(path)
    document = read_document(decoded(data, path), str(path))
    shape = check_shape(document)
    problems = [*document.problems, *shape.problems]
    campaign = None
    if shape.given is not None:
        mine = own or OwnDefaults()
        table = {**todays_defaults(), **(defaults or {})}
        resolver = Resolver(document, shape, table, mine.values)
        resolver.notes += mine.notes(shape.given)
        campaign = resolver.resolve(seed, data)
        problems += resolver.problems
    if problems or campaign is None:
        raise CampaignError(sorted(problems, key=_place))
    return dataclasses.replace(campaign, notes=tuple(dict.fromkeys(resolver.notes)))


def campaign_name(path: Path) -> str:
    """Read only the name of a campaign, by which its trials are found.

    Raises
    ------
    CampaignError
        If the file cannot be read, or has no name.
    """
    document = read_document(decoded(read_bytes(path), path), str(path))
    given = document.value.get("name") if isinstance(document.value, dict) else None
    if isinstance(given, str) and NAME.fullmatch(given):
        return normal(str(given))
    raise CampaignError([*document.problems, *check_shape(document).problems])


def _place(problem: Problem) -> tuple[int, int]:
    line, column = problem.where.rsplit(":", 2)[-2:]
    return int(line), int(column)
