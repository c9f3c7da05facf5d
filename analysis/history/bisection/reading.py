"""A bisection read back from its JSON, as ``bisect.json`` holds it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...errors import StoreError
from ...record.bisections import BISECTION
from ...record.shapes import ShapeError, document_of, refuse_other_words, shaped
from ..search_result import PairWord
from .result import Bisection, OtherMetric, ProvenStep


def bisection_in(folder: Path) -> Bisection:
    """Read the bisection that a folder holds.

    Raises
    ------
    StoreError
        If there is none, or its file is no JSON or lacks what a bisection has.
    """
    path = folder / BISECTION
    fix = "name the folder that fairtrial bisect made"
    if not os.path.lexists(path):
        raise StoreError("the bisection cannot be read: it is not there", str(path), fix)
    return bisection_from(document_of(path, "bisection", fix), path)


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
        told = shaped(_Cautions, found)
        pairs = zip(told.caution_codes, told.cautions, strict=True)
        cautions = [{"code": code, "text": text} for code, text in pairs]
        bisection = shaped(Bisection, {**found, "cautions": cautions})
        refuse_other_words(bisection)
        steps = (*bisection.culprits, *bisection.refuted)
        sides = [side for one in steps for side in (one.before, one.behind)]
        rated: list[PairWord | OtherMetric | ProvenStep] = [
            bisection.first,
            *bisection.other_metrics,
            *steps,
            *sides,
        ]
        for one in rated:
            if any(ratio is not None and ratio <= 0 for ratio in (one.speedup, one.low, one.high)):
                raise ShapeError("a ratio is not above 0")
    except ValueError as error:  # a ShapeError, or one more of the one than of the other
        raise _damaged(str(error), path) from None
    return bisection


@dataclass(frozen=True, slots=True)
class _Cautions:
    """They stand in two lists, as in every answer."""

    caution_codes: tuple[str, ...]
    cautions: tuple[str, ...]


def _damaged(what: str, path: Path | None) -> StoreError:
    fix = "take the folder's copy, or search anew: its trials can be read by themselves"
    return StoreError(f"the bisection is damaged: {what}", None if path is None else str(path), fix)
