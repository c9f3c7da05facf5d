"""``claims.yaml``: what an author writes; all its mistakes are told at once, each with its line."""

from __future__ import annotations

import shlex
from decimal import Decimal
from typing import TYPE_CHECKING, cast, get_args

from .claims import Claim, Expected, Relation
from .recomputing import fault_of_command
from .yaml_file import YamlFile

if TYPE_CHECKING:
    import yaml

__all__ = ["read_claims"]

_KEYS = ("text", "command", "value", "is", "expected", "digits")
_FIX = "see the claims of docs/artifacts.md: text, command, value, is, expected, digits"


def read_claims(data: bytes, where: str) -> tuple[Claim, ...]:
    """Read ``claims.yaml``.

    Parameters
    ----------
    data : bytes
        Its bytes.
    where : str
        The file, as messages call it.

    Raises
    ------
    UsageError
        If something in it is wrong: with all mistakes, and their lines.
    """
    file = YamlFile(data, where)
    top = file.keys(file.root, ("claims",), ("claims",))
    found: list[Claim | None] = []
    if "claims" in top:
        items = file.items(top["claims"], "claims")
        if not items:
            file.fault(top["claims"], "there is no claim")
        found = [_claim(file, item) for item in items]
    file.finish(_FIX)
    return tuple(one for one in found if one is not None)


def _claim(file: YamlFile, node: yaml.Node) -> Claim | None:
    keys = file.keys(node, _KEYS, ("text", "command", "value", "is", "expected"))
    if not {"text", "command", "value", "is", "expected"} <= keys.keys():
        return None
    text = file.text(keys["text"], "text")
    command = _command(file, keys["command"])
    value = file.text(keys["value"], "value")
    if value is not None and not value.startswith("/"):
        file.fault(
            keys["value"],
            "value must be a JSON pointer, which begins with a slash, such as "
            "/candidates/0/multilevel/these/speedup",
        )
    relation = _relation(file, keys["is"])
    if relation is None:
        return None
    digits = file.whole(keys["digits"], "digits", 0, 15) if "digits" in keys else None
    written = keys["expected"]
    expected: Expected
    if relation == "word":
        expected = file.text(written, "expected")
    else:
        raw = (
            file.scalar(written, "expected")
            if relation == "equals"
            else file.number(written, "expected")
        )
        expected = _plain(raw)
        if isinstance(raw, Decimal) and relation == "equals" and digits is None:
            digits = _decimals(raw) or None  # 1.50 is meant to two decimals, 2 to the last digit
    if digits is not None and (isinstance(expected, str | bool) or expected is None):
        file.fault(keys.get("digits", written), "digits are for numbers")
    if text is None or command is None or value is None:
        return None
    return Claim(
        text=" ".join(text.split()),
        command=command,
        value=value,
        relation=relation,
        expected=expected,
        digits=digits,
        line=file.line(node),
    )


def _command(file: YamlFile, node: yaml.Node) -> tuple[str, ...] | None:
    from yaml import SequenceNode

    if isinstance(node, SequenceNode):
        words = file.texts(node, "command")
    else:
        text = file.text(node, "command")
        if text is None:
            return None
        try:
            words = shlex.split(text)
        except ValueError as error:
            file.fault(node, f"command cannot be split into words: {error}")
            return None
    if words[:1] == ["fairtrial"]:
        words = words[1:]
    if words[:1] == ["report"]:
        if "--format" not in words:
            words += ["--format", "json"]
    elif "--json" not in words:
        words.append("--json")
    # where its paths lead is known when they are those of the bundle
    fault = fault_of_command([word.lstrip("/~") or "." for word in words if ".." not in word])
    if fault is not None:
        file.fault(node, f"command cannot be one of a bundle: {fault}")
        return None
    return tuple(words)


def _relation(file: YamlFile, node: yaml.Node) -> Relation | None:
    word = file.text(node, "is")
    known = get_args(Relation)
    if word is not None and word not in known:
        file.fault(node, f"is must be one of {', '.join(known)}, not {word!r}")
        return None
    return cast("Relation | None", word)


def _plain(value: Decimal | str | bool | None) -> Expected:  # noqa: FBT001 - a value of a file
    if not isinstance(value, Decimal):
        return value
    return int(value) if _decimals(value) == 0 and abs(value) < 2**53 else float(value)


def _decimals(value: Decimal) -> int:
    """How many decimals a number is written with, as far as they can be meant."""
    exponent = value.as_tuple().exponent
    return min(15, max(0, -exponent)) if isinstance(exponent, int) else 0
