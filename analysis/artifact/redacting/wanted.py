"""What is to be taken out: ``user,host,paths,env``, and names that a trial does not say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ...errors import UsageError

__all__ = ["KINDS", "Kind", "Wanted", "wanted_of"]

Kind = Literal["user", "host", "paths", "env"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_FIX = "write --redact user,host,paths,env, or name one: --redact user=jane,host=lab07"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be taken out.

    `kinds` in their own order; `named` holds names that were given with their kind, because nothing
    that is packed says that they are such.
    """

    kinds: tuple[Kind, ...]
    named: tuple[tuple[Kind, str], ...] = ()


def wanted_of(text: str) -> Wanted:
    """Read the argument of ``--redact``: kinds with commas between, each perhaps with ``=NAME``.

    Raises
    ------
    UsageError
        If a kind is unknown, a name is empty, or a kind can have none.
    """
    found: dict[Kind, None] = {}
    named: list[tuple[Kind, str]] = []
    for part in text.split(","):
        word, equals, name = part.strip().partition("=")
        kind = next((one for one in KINDS if one == word.strip()), None)
        if kind is None:
            what = f"--redact knows {', '.join(KINDS)}, and not {word.strip()!r}"
            raise UsageError(what, None, _FIX)
        found[kind] = None
        if equals:
            name = name.strip()
            if kind == "env":
                raise UsageError("env takes no name: all variables are meant", part, _FIX)
            if not name or (kind == "paths" and not (name.startswith("/") and name.strip("/"))):
                what = "is empty" if not name else "is no absolute path of a folder"
                raise UsageError(f"the name behind {kind}= {what}", part, _FIX)
            named.append((kind, name))
    return Wanted(kinds=tuple(kind for kind in KINDS if kind in found), named=tuple(named))
