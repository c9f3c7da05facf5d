"""The campaign that ``fairtrial init`` writes."""

from __future__ import annotations

from pathlib import Path

from ..errors import UsageError
from .schema.letters import NAME, NAME_NEEDS
from .source.excerpt import quote

_FILE = Path(__file__).with_name("starter.yaml")


def starter_text(name: str) -> str:
    """Give the text of a commented campaign to start from.

    Parameters
    ----------
    name : str
        The campaign's name.

    Raises
    ------
    UsageError
        If a campaign cannot have that name.
    """
    if not NAME.fullmatch(name):
        raise UsageError(
            f"a campaign cannot be named {quote(name)}",
            fix=f"use {NAME_NEEDS}",
        )
    text = _FILE.read_text(encoding="utf-8")
    # In quotes, so that a name such as 'null' stays a text.
    return text.replace("name: starter ", f'name: "{name}" ', 1)
