"""``bundle.yaml`` and ``claims.yaml``, by the reader of campaigns: all their mistakes are told at once.

A value is what was written, not what YAML makes of it: a title ``2026`` or ``no`` is a text.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection
from decimal import Decimal
from pathlib import Path
from typing import Any

from ..errors import CampaignError
from ..record.yaml_reader import (
    Faults,
    Location,
    Plain,
    decoded,
    quote,
    read_document,
)

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_SWITCHES = {"true": True, "false": False}


class YamlFile(Faults):
    """A file that was read, and what was found to be wrong in it; a value is named by its path."""

    def __init__(self, data: bytes, where: str) -> None:
        super().__init__(read_document(decoded(data, Path(where)), where))

    def finish(self) -> None:
        """Raise a `CampaignError` with all mistakes that were noted, if there are any."""
        if self.problems:
            raise CampaignError(sorted(self.problems, key=lambda one: one.place))

    def at(self, path: Location) -> Any:  # noqa: ANN401 - a value of YAML
        """Give the value at a path."""
        found: Any = self.document.value
        for step in path:
            found = found[step]
        return found

    def line(self, path: Location) -> int:
        """Give the line on which a value begins."""
        return self.document.mark(path).line

    def keys(
        self, path: Location, known: Collection[str], required: Collection[str] = ()
    ) -> dict[str, Location]:
        """Give the paths of a mapping's values by its keys; what is unknown or lacking is noted."""
        value = self.at(path)
        if not isinstance(value, dict):
            self.value(path, f"must be a mapping with the keys {', '.join(known)}", None)
            return {}
        for name in value.keys() - set(known):
            near = difflib.get_close_matches(name, known, 1)
            meant = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
            self.key((*path, name), f"there is no key {quote(name)} here; {meant}", "mend it")
        for name in required:
            if name not in value:
                self.missing(name, path)
        return {name: (*path, name) for name in value if name in known}

    def items(self, path: Location) -> list[Location]:
        """Give the paths of a list's values."""
        value = self.at(path)
        if isinstance(value, list):
            return [(*path, k) for k in range(len(value))]
        self.value(path, "must be a list", None)
        return []

    def text(self, path: Location) -> str | None:
        """Give a text that is not empty, and has no control characters but line ends."""
        value = self.at(path)
        if not isinstance(value, str) or not value.strip():
            self.value(path, "must be a text", None)
        elif re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", value.strip()):
            self.value(path, "holds a control character", None)
        else:
            return str(value).strip()
        return None

    def texts(self, path: Location) -> list[str]:
        """Give a list of texts."""
        return [text for one in self.items(path) if (text := self.text(one)) is not None]

    def number(self, path: Location) -> Decimal | None:
        """Give a number as it is written."""
        value = self.at(path)
        if _is_number(value):
            return Decimal(value)
        self.value(path, "must be a number", None)
        return None

    def whole(self, path: Location, least: int, most: int) -> int | None:
        """Give a whole number between two bounds."""
        value = self.at(path)
        if (
            isinstance(value, str)
            and re.fullmatch(r"\d{1,9}", value)
            and least <= int(value) <= most
        ):
            return int(value)
        self.value(path, f"must be a whole number from {least} to {most}", None)
        return None

    def scalar(self, path: Location) -> Decimal | str | bool | None:
        """Give a number, true, false, null or a text: what is quoted is a text."""
        value = self.at(path)
        if isinstance(value, dict | list):
            self.value(path, "must be one value", None)
            return None
        if not isinstance(value, Plain):
            return None if value is None else str(value)
        return Decimal(value) if _is_number(value) else _SWITCHES.get(value, str(value))


def _is_number(value: object) -> bool:
    written = isinstance(value, Plain) and _NUMBER.fullmatch(value)
    return bool(written) and math.isfinite(float(str(value)))
