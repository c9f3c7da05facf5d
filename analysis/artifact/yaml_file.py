"""A small YAML file, read by the declared type of each key; all its mistakes are told at once.

Duplicate keys, aliases, tags and further documents are refused. A value is what was written, not what
YAML makes of it: a title ``2026`` or ``no`` is a text.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING

from ..errors import UsageError

if TYPE_CHECKING:
    import yaml


_MOST = 256 * 1024
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_SWITCHES = {"true": True, "false": False}


class YamlFile:
    """A parsed file, and what was found to be wrong in it."""

    def __init__(self, data: bytes, where: str) -> None:
        self._where = where
        self._faults: list[tuple[int, int, str]] = []
        self.root = self._composed(data)

    def fault(self, node: yaml.Node, what: str) -> None:
        """Note a mistake."""
        mark = node.start_mark
        self._faults.append((mark.line + 1, mark.column + 1, what))

    def finish(self, fix: str) -> None:
        """Raise a `UsageError` with all mistakes that were noted, if there are any."""
        if not self._faults:
            return
        told = [
            f"{self._where}:{line}:{column}: {what}"
            for line, column, what in sorted(set(self._faults))
        ]
        if len(told) == 1:
            raise UsageError(
                what=told[0].partition(": ")[2], where=told[0].partition(": ")[0], fix=fix
            )
        raise UsageError("\n  ".join([f"{len(told)} mistakes:", *told]), self._where, fix)

    def line(self, node: yaml.Node) -> int:
        """Give the line on which a value begins."""
        return int(node.start_mark.line) + 1

    def keys(
        self, node: yaml.Node, known: Iterable[str], required: Iterable[str] = ()
    ) -> dict[str, yaml.Node]:
        """Give the values of a mapping by its keys; what is unknown, doubled or lacking is noted."""
        from yaml import MappingNode, ScalarNode

        found: dict[str, yaml.Node] = {}
        known = tuple(known)
        if not isinstance(node, MappingNode):
            self.fault(node, f"this must be a mapping with the keys {', '.join(known)}")
            return found
        for key, value in node.value:
            name = key.value if isinstance(key, ScalarNode) else "?"
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                meant = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
                self.fault(key, f"there is no key {name!r} here; {meant}")
            elif name in found:
                self.fault(key, f"{name} is there twice")
            else:
                found[name] = value
        for name in required:
            if name not in found:
                self.fault(node, f"{name} is missing")
        return found

    def items(self, node: yaml.Node, name: str) -> list[yaml.Node]:
        """Give the values of a list."""
        from yaml import SequenceNode

        if not isinstance(node, SequenceNode):
            self.fault(node, f"{name} must be a list")
            return []
        return list(node.value)

    def text(self, node: yaml.Node, name: str) -> str | None:
        """Give a text that is not empty, and has no control characters but line ends."""
        from yaml import ScalarNode

        if not isinstance(node, ScalarNode) or not node.value.strip() or _is_null(node):
            self.fault(node, f"{name} must be a text")
            return None
        value = str(node.value).strip()
        if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", value):
            self.fault(node, f"{name} holds a control character")
            return None
        return value

    def texts(self, node: yaml.Node, name: str) -> list[str]:
        """Give a list of texts."""
        found = (self.text(item, f"an item of {name}") for item in self.items(node, name))
        return [text for text in found if text is not None]

    def number(self, node: yaml.Node, name: str) -> Decimal | None:
        """Give a number as it is written."""
        from yaml import ScalarNode

        if isinstance(node, ScalarNode) and _is_number(node):
            return Decimal(node.value)
        self.fault(node, f"{name} must be a number")
        return None

    def whole(self, node: yaml.Node, name: str, least: int, most: int) -> int | None:
        """Give a whole number between two bounds."""
        from yaml import ScalarNode

        if isinstance(node, ScalarNode) and re.fullmatch(r"\d{1,9}", node.value):
            value = int(node.value)
            if least <= value <= most:
                return value
        self.fault(node, f"{name} must be a whole number from {least} to {most}")
        return None

    def scalar(self, node: yaml.Node, name: str) -> Decimal | str | bool | None:
        """Give a number, true, false, null or a text: what is quoted is a text."""
        from yaml import ScalarNode

        if not isinstance(node, ScalarNode):
            self.fault(node, f"{name} must be one value")
            return None
        if node.style is None:
            if _is_number(node):
                return Decimal(node.value)
            if node.value in _SWITCHES:
                return _SWITCHES[node.value]
            if _is_null(node):
                return None
        return str(node.value)

    def _composed(self, data: bytes) -> yaml.Node:
        import yaml

        if len(data) > _MOST:
            raise UsageError(f"it has more than {_MOST:,} bytes", self._where, "make it shorter")
        try:
            text = data.decode("utf-8-sig")
            for token in yaml.scan(text, Loader=yaml.SafeLoader):
                if isinstance(token, yaml.AliasToken | yaml.AnchorToken | yaml.TagToken):
                    mark = token.start_mark
                    self._faults.append(
                        (mark.line + 1, mark.column + 1, "aliases, anchors and tags are not read")
                    )
            self.finish("write the value itself")
            node = yaml.compose(text, Loader=yaml.SafeLoader)
        except UnicodeDecodeError as error:
            raise UsageError(
                f"byte {error.start + 1} is not UTF-8", self._where, "save it as UTF-8"
            ) from None
        except RecursionError:
            raise UsageError("it is nested too deeply", self._where, "write it flat") from None
        except yaml.YAMLError as error:
            marks = getattr(error, "problem_mark", None)
            place = f":{marks.line + 1}:{marks.column + 1}" if marks else ""
            what = getattr(error, "problem", None) or str(error).splitlines()[0]
            raise UsageError(
                f"it is no YAML: {what}", f"{self._where}{place}", "mend that line"
            ) from None
        if node is None:
            raise UsageError("it is empty", self._where, "fill it, or leave it out")
        return node


def _is_number(node: yaml.ScalarNode) -> bool:
    written = node.style is None and _NUMBER.fullmatch(node.value)
    return bool(written) and math.isfinite(float(node.value))


def _is_null(node: yaml.ScalarNode) -> bool:
    return node.style is None and node.value in {"", "~", "null", "Null", "NULL"}
