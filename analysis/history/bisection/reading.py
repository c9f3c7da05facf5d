"""A bisection read back from its JSON, as ``bisect.json`` holds it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from ...errors import StoreError
from ...pages.model import Caution
from ...record.bisections import BISECTION
from ..search_result import PairWord
from .result import (
    Bisection,
    End,
    NamedCommit,
    OpenStep,
    OtherMetric,
    PlaceProbability,
    Probe,
    ProvenStep,
    SkippedCommit,
)

_Kind = TypeVar("_Kind")
_LISTS: dict[str, type[Any]] = {
    "open": OpenStep,
    "skipped": SkippedCommit,
    "probes": Probe,
    "posterior": PlaceProbability,
    "other_metrics": OtherMetric,
}


def bisection_in(folder: Path) -> Bisection:
    """Read the bisection that a folder holds.

    Raises
    ------
    StoreError
        If there is none, or its file is no JSON or lacks what a bisection has.
    """
    path = folder / BISECTION
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise StoreError(
            f"the bisection cannot be read: {error.strerror}",
            str(path),
            "name the folder that fairtrial bisect made",
        ) from error
    except ValueError as error:
        raise _damaged(f"it is no JSON ({error})", path) from error
    return bisection_from(found, path)


def bisection_from(found: object, path: Path | None = None) -> Bisection:
    """Make a bisection of what `Bisection.to_dict` gave; keys that this version does not know are left out.

    `path` is named in errors.

    Raises
    ------
    StoreError
        If it is of a newer schema, or lacks what a bisection has.
    """
    if not isinstance(found, Mapping) or found.get("method") != Bisection.method:
        raise _damaged("it is not what fairtrial bisect writes", path)
    schema = found.get("schema")
    if not isinstance(schema, int) or schema > Bisection.schema:
        raise StoreError(
            f"the bisection has schema {schema!r}, this version reads up to {Bisection.schema}",
            None if path is None else str(path),
            "read it with the version that wrote it, or a newer one",
        )
    try:
        return _bisection(found)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _damaged(f"it lacks or misstates {error}", path) from error


def _damaged(what: str, path: Path | None) -> StoreError:
    fix = "take the folder's copy, or search anew: its trials can be read by themselves"
    return StoreError(f"the bisection is damaged: {what}", None if path is None else str(path), fix)


def _bisection(found: Mapping[str, Any]) -> Bisection:
    values = {name: found[name] for name in _names(Bisection) if name != "cautions"}
    for name, kind in _LISTS.items():
        values[name] = tuple(_made(kind, one) for one in values[name])
    values |= {name: tuple(map(_step, values[name])) for name in ("culprits", "refuted")}
    values |= {name: _made(End, values[name]) for name in ("good", "bad")}
    values |= {name: tuple(values[name]) for name in ("benchmarks", "looks", "references")}
    values["first"] = _made(PairWord, values["first"])
    codes = zip(found["caution_codes"], found["cautions"], strict=True)
    return Bisection(**values, cautions=tuple(Caution(code, text) for code, text in codes))


def _step(one: Mapping[str, Any]) -> ProvenStep:
    sides = {name: _made(PairWord, one[name]) for name in ("before", "behind")}
    commits = tuple(_made(NamedCommit, commit) for commit in one["commits"])
    return _made(ProvenStep, {**one, **sides, "commits": commits})


def _names(kind: type) -> list[str]:
    return [one.name for one in dataclasses.fields(kind)]


def _made(kind: type[_Kind], one: Mapping[str, Any]) -> _Kind:
    return kind(**{name: one[name] for name in _names(kind)})
