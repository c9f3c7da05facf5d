"""From the types of what commands answer to JSON Schema, by the rules with which `to_dict` writes.

A dataclass is an object with a key for each field; what its class lists as `unlisted` is left out, and what
it lists as `derived` is added (`analysis.pages.result.plain`). What a class writes otherwise stands in
`own_shapes.OWN`.
"""

from __future__ import annotations

import ast
import collections.abc
import dataclasses
import functools
import importlib
import inspect
import operator
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from analysis.pages.model import Caution
from analysis.pages.result import Result

Schema = dict[str, Any]
NULL: Schema = {"type": "null"}
_PLAIN: Mapping[Any, Schema] = {
    types.NoneType: NULL,
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": ["number", "null"]},  # nan and infinity are null
    str: {"type": "string"},
    Path: {"type": "string"},
    Caution: {"type": "string"},
    Any: {},
    object: {},
}
_LISTS = (list, tuple, set, frozenset, collections.abc.Iterable)
_HEAD = ("schema", "method", "tool_version")


@dataclass(frozen=True)
class Own:
    """How an object differs from the fields of its class.

    `added` gives keys their types, `left` names fields that are not written, `maybe` keys that are
    written only where there is something to say. Without `fields` there are the added keys only.
    """

    added: Mapping[str, Any] = field(default_factory=dict)
    left: frozenset[str] = frozenset()
    maybe: frozenset[str] = frozenset()
    fields: bool = True


@dataclass(frozen=True)
class Told:
    """A result as it is printed, with the head that it lacks inside of another one; `known`: or null."""

    kind: type[Result]
    known: bool = True


class UnknownTypeError(TypeError):
    """A type whose JSON this module does not know."""


class Definitions:
    """The objects of one schema file, each under the name of its class."""

    def __init__(self, own: Mapping[type, Own]) -> None:
        self.own = own
        self.found: dict[str, Schema] = {}
        self._names: dict[str, type] = {}

    def of(self, hint: Any) -> Schema:  # noqa: ANN401 - whatever an annotation is
        """Give the schema of a type, or of an object or a list that has none."""
        if isinstance(hint, dict):  # a key that may be absent ends in a question mark
            known = {name.rstrip("?"): self.of(part) for name, part in hint.items()}
            return _object(known, frozenset(name[:-1] for name in hint if name.endswith("?")))
        if isinstance(hint, list):  # of things of several kinds
            return {"type": "array", "items": either([self.of(part) for part in hint])}
        if isinstance(hint, Told):
            made = {"$ref": f"#/$defs/{self.name(hint.kind, answer=True)}"}
            return made if hint.known else either([made, NULL])
        return self._of_type(types.NoneType if hint is None else hint)

    def _of_type(self, hint: Any) -> Schema:  # noqa: ANN401 - whatever an annotation is
        if isinstance(hint, typing.TypeVar):
            return self.of(hint.__bound__ or Any)
        if isinstance(hint, typing.NewType):
            return self.of(hint.__supertype__)
        origin, inner = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Annotated, typing.ClassVar):
            return self.of(inner[0])
        if origin is typing.Literal:
            return {"enum": list(inner)}
        if origin in (typing.Union, types.UnionType):
            return either([self.of(part) for part in inner])
        kind = origin or hint
        if hasattr(kind, "__value__"):  # an alias, as numpy's are from Python 3.12 on
            return self.of(kind.__value__)
        if kind in _PLAIN:
            return dict(_PLAIN[kind])
        if kind is np.ndarray:
            return {"type": "array"}
        if not isinstance(kind, type):
            raise UnknownTypeError(hint)
        return self._of_class(kind, inner)

    def _of_class(self, kind: type, inner: tuple[Any, ...]) -> Schema:
        if issubclass(kind, np.generic):
            return {"type": ["number", "null"]} if issubclass(kind, np.floating) else {}
        if issubclass(kind, collections.abc.Mapping):
            return {"type": "object", "additionalProperties": self.of(inner[1] if inner else Any)}
        if dataclasses.is_dataclass(kind):
            return {"$ref": f"#/$defs/{self.name(kind)}"}
        if hasattr(kind, "_fields"):  # a tuple with names
            return _row([self.of(part) for part in hints_of(kind).values()])
        if issubclass(kind, _LISTS):
            if kind is tuple and inner and inner[-1] is not Ellipsis:
                return _row([self.of(part) for part in inner])
            return {"type": "array", "items": self.of(inner[0] if inner else Any)}
        raise UnknownTypeError(kind)

    def name(self, kind: type, *, answer: bool = False) -> str:
        """Give the name under which a class is defined, and define it; `answer`: as it is printed."""
        name = kind.__name__.lstrip("_") + ".answer" * answer
        if self._names.get(name, kind) is not kind:
            name = f"{kind.__module__.rpartition('.')[2]}.{name}"
        if name not in self.found:
            self._names[name] = kind
            self.found[name] = {}  # for a class that holds its own kind
            self.found[name] = self.whole(kind, answer=answer)
        return name

    def whole(self, kind: type, *, answer: bool = False) -> Schema:
        """Give the object that a class becomes; `answer`: with the head of every result."""
        own = self.own.get(kind, Own())
        properties: dict[str, Schema] = {}
        if answer and issubclass(kind, Result):
            properties = {"schema": {"const": kind.schema}, "method": {"const": kind.method}}
            properties["tool_version"] = {"type": "string"}
        for name, hint in self.keys(kind, own).items():
            properties[name] = self.of(hint)
        said = (inspect.getdoc(kind) or "").partition("\n\n")[0].replace("\n", " ")
        return {"description": said} | _object(properties, without=own.maybe)

    def keys(self, kind: type, own: Own) -> dict[str, Any]:
        """Give the keys of a class with their types, in the order in which they are written."""
        found: dict[str, Any] = {}
        if own.fields:
            paths = getattr(kind, "listed", ())
            if paths and issubclass(kind, Result):
                paths = ("cautions", "references", *paths)
            elif not paths:
                unlisted = getattr(kind, "unlisted", frozenset())
                names = [one.name for one in dataclasses.fields(kind)]  # type: ignore[arg-type]  # it is a dataclass
                paths = (*(x for x in names if x not in unlisted), *getattr(kind, "derived", ()))
            for path in paths:
                if path == "cautions" and issubclass(kind, Result):
                    found |= {"cautions": tuple[str, ...], "caution_codes": tuple[str, ...]}
                elif path not in own.left:
                    found |= self._at(kind, path)
        renamed = getattr(kind, "renamed", {})
        return {renamed.get(name, name): hint for name, hint in found.items()} | dict(own.added)

    def _at(self, kind: type, path: str) -> dict[str, Any]:
        """Give the key, or the keys of a part, at a path of attributes."""
        first, _, rest = path.partition(".")
        hint = hints_of(kind).get(first) or _given(getattr(kind, first))
        if not rest:
            return {first: hint}
        parts = [one for one in typing.get_args(hint) or (hint,) if one is not types.NoneType]
        if rest == "*":
            return self.keys(parts[0], self.own.get(parts[0], Own()))
        found = [self._at(part, rest) for part in parts]
        return {
            name: functools.reduce(operator.or_, (one[name] for one in found)) for name in found[0]
        }


def _object(properties: dict[str, Schema], without: frozenset[str] = frozenset()) -> Schema:
    required = [name for name in properties if name not in without]
    return {"type": "object", "properties": properties, "required": required}


def _row(parts: list[Schema]) -> Schema:
    return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}


def either(parts: list[Schema]) -> Schema:
    """Give the schema of one of several kinds, as short as it may be."""
    plain: list[str] = []
    other: list[Schema] = []
    for part in parts:
        if part == {}:
            return {}
        if part.keys() == {"type"}:
            names = part["type"] if isinstance(part["type"], list) else [part["type"]]
            plain += [name for name in names if name not in plain]
        elif part not in other:
            other.append(part)
    if not other:
        return {"type": plain[0] if len(plain) == 1 else plain}
    if plain == ["null"] and len(other) == 1 and other[0].keys() == {"enum"}:
        return {"enum": [*other[0]["enum"], None]}
    joined = other + ([either([{"type": plain}])] if plain else [])
    return joined[0] if len(joined) == 1 else {"anyOf": joined}


def _given(accessor: Any) -> Any:  # noqa: ANN401 - an attribute of a class
    """Give the type of what a property gives, or of a constant."""
    if not isinstance(accessor, property):
        return type(accessor)
    read: Callable[..., Any] = accessor.fget
    namespace = _only_for_types(read.__module__)
    return typing.get_type_hints(read, localns=namespace)["return"]


@functools.cache
def hints_of(kind: type) -> dict[str, Any]:
    """Give the types of a class's fields, those of its parents too."""
    namespace: dict[str, Any] = {}
    for one in reversed(kind.__mro__):
        if one.__module__ in sys.modules:
            namespace |= _only_for_types(one.__module__)
    return typing.get_type_hints(kind, localns=namespace)


@functools.cache
def _only_for_types(module: str) -> dict[str, Any]:
    """Import what a module imports for the type checker only."""
    place = sys.modules[module]
    if not (getattr(place, "__file__", None) or "").startswith(str(Path(__file__).parents[3])):
        return {}
    found: dict[str, Any] = {}
    for node in ast.parse(inspect.getsource(place)).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for one in node.body:
                if isinstance(one, ast.ImportFrom):
                    name = "." * one.level + (one.module or "")
                    source = importlib.import_module(name, place.__package__)
                    for alias in one.names:
                        if hasattr(source, alias.name):
                            found[alias.asname or alias.name] = getattr(source, alias.name)
                        else:
                            part = importlib.import_module(f"{source.__name__}.{alias.name}")
                            found[alias.asname or alias.name] = part
                elif isinstance(one, ast.Import):
                    for alias in one.names:
                        imported = importlib.import_module(alias.name)
                        found[alias.asname or alias.name] = imported
    return found
