"""Read a campaign file: YAML text to a `Campaign`, or all that is wrong with it."""

from __future__ import annotations

import codecs
import dataclasses
from pathlib import Path

from ..errors import CampaignError, Problem, UsageError
from .model import Campaign
from .resolve.campaign import Resolver
from .schema.check import check_shape
from .schema.defaults import Table, todays_defaults
from .schema.kinds import NAME
from .source.yaml_marks import Document, read_document

MAX_BYTES = 1024 * 1024
MAX_SEED = 2**63 - 1


def load_campaign(
    path: Path, *, seed: int | None = None, defaults: Table | None = None
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
    data = _read(path)
    document = read_document(_decode(data, path), str(path))
    shape = check_shape(document)
    problems = [*document.problems, *shape.problems]
    campaign = None
    if shape.given is not None:
        resolver = Resolver(document, shape, {**todays_defaults(), **(defaults or {})})
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
    document = read_document(_decode(_read(path), path), str(path))
    given = document.value.get("name") if isinstance(document.value, dict) else None
    if isinstance(given, str) and NAME.fullmatch(given):
        return str(given)
    raise CampaignError([*document.problems, *check_shape(document).problems])


def _read(path: Path) -> bytes:
    """Read the file's bytes, and no more than a campaign can have."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _unusable(path, "there is no such file", "'fairtrial init' writes one") from None
    except IsADirectoryError:
        raise _unusable(path, "this is a directory", "name the campaign file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _unusable(path, f"the file cannot be read: {reason}", None) from None
    if len(data) > MAX_BYTES:
        raise _unusable(path, "the file is larger than 1 MiB", "no campaign needs that")
    return data


def _decode(data: bytes, path: Path) -> str:
    """Give the text; a UTF-8 byte order mark is no part of it."""
    data = data.removeprefix(codecs.BOM_UTF8)  # so that an error counts from where the text begins
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        good = data[: error.start].decode("utf-8")
        document = Document(name=str(path), text=good)
        mark = document.mark_of(len(good), len(good))
        utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        what = f"byte 0x{data[error.start]:02X} is not UTF-8"
        fix = f"save the file as UTF-8{', not as UTF-16' if utf16 else ''}"
        raise CampaignError([document.problem_at(mark, what, fix)]) from None


def _unusable(path: Path, what: str, fix: str | None) -> CampaignError:
    return CampaignError([Problem(what=what, where=str(path), fix=fix)])


def _place(problem: Problem) -> tuple[int, int]:
    line, column = problem.where.rsplit(":", 2)[-2:]
    return int(line), int(column)
