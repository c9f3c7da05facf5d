"""Hold a document against the model of a campaign file, and report every difference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from analysis.run_numbers import RESERVED_METRICS

from ...errors import Problem
from ..source.excerpt import quote
from ..source.templates import VALUE_NAME
from ..source.yaml_marks import Document, Location
from .kinds import described, nearest
from .sections import CampaignSection, HooksSection
from .target import (
    LIST,
    MAPPING,
    PREDEFINED,
    TEXT,
    BenchmarkSection,
    ExpectSection,
    MetricSection,
    Shell,
    VariantSection,
)

_MAX_ROUNDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What became of a document.

    `section` holds all that is right; it is ``None`` when too little of it is. `broken` are the
    paths of the values that were left out of it because they are wrong.
    """

    section: CampaignSection | None
    problems: tuple[Problem, ...]
    broken: tuple[Location, ...]
    _touched: frozenset[Location] = field(init=False)

    def __post_init__(self) -> None:
        touched = {place[:end] for place in self.broken for end in range(len(place) + 1)}
        object.__setattr__(self, "_touched", frozenset(touched))

    def touches(self, path: Location) -> bool:
        """Tell whether something at or below `path` was left out."""
        return path in self._touched


def check_shape(document: Document) -> Shape:
    """Hold the document against the model.

    Returns
    -------
    Shape
        With every problem that is a matter of keys, types and ranges. What is right is given too,
        so that its own problems can be found in the same pass.
    """
    if not isinstance(document.value, dict):
        what = f"a campaign is a mapping of keys, not {described(document.value)}"
        problem = document.problem((), what, "begin with 'name: ...'; 'fairtrial init' writes one")
        return Shape(section=None, problems=(problem,), broken=((),))
    problems: list[Problem] = []
    broken: list[Location] = []
    value = _copied(document.value)
    for problem, place in [*_value_names(document)]:
        problems.append(problem)
        broken.append(place)
        _leave_out(value, place)
    for round_ in range(_MAX_ROUNDS):
        section, errors = _validate(value)
        if not errors:
            return Shape(section=section, problems=tuple(problems), broken=tuple(broken))
        paths = [_path(value, error) for error in errors]
        misspelt = _misspelt(errors)
        for error, path in zip(errors, paths, strict=True):
            if round_ == 0 and path not in misspelt:
                problems.append(_problem(document, path, error))
            broken.append(_mended(path, error))
            _leave_out(value, broken[-1])
    return Shape(section=None, problems=tuple(problems), broken=tuple(broken))


def _validate(value: object) -> tuple[CampaignSection | None, list[ErrorDetails]]:
    try:
        return CampaignSection.model_validate(value), []
    except ValidationError as error:
        return None, error.errors(include_url=False)


def _path(value: object, error: ErrorDetails) -> Location:
    """Turn pydantic's path into one of the document: without tags, with the key as last."""
    path: list[str | int] = []
    here: Any = value
    for step in error["loc"]:
        if isinstance(here, dict) and step in here:
            here = here[step]
        elif isinstance(here, list):
            if not isinstance(step, int):
                continue  # a tag
            here = here[step]
        elif step in {LIST, TEXT, MAPPING, "[key]"}:
            continue
        path.append(step)
    inner: Sequence[str | int] = error.get("ctx", {}).get("path", ())
    return (*path, *inner)


def _mended(path: Location, error: ErrorDetails) -> Location:
    """Choose what to leave out so that the rest can be read: an entry of a mapping."""
    if error["type"] == "missing":
        path = path[:-1]
    while path and isinstance(path[-1], int):
        path = path[:-1]
    return path


def _copied(value: Any) -> Any:  # noqa: ANN401 - any part of a document
    """Copy the mappings, which `_leave_out` changes."""
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return value


def _leave_out(value: dict[str, Any], place: Location) -> None:
    """Delete the entry at `place`; a missing or wrong name is made up."""
    inside: Any = value
    for step in place[:-1]:
        inside = inside.get(step) if isinstance(inside, dict) else None
    if place and isinstance(inside, dict):
        inside.pop(place[-1], None)
        if not inside and place[-2:-1] == ("matrix",):
            _leave_out(value, place[:-1])  # empty for no fault of its own
    value.setdefault("name", "campaign")


def _problem(document: Document, path: Location, error: ErrorDetails) -> Problem:
    """Say what pydantic found, in the words of the campaign file."""
    context = error.get("ctx", {})
    kind = error["type"]
    found = described(error["input"])
    name = _label(path)
    if kind == "missing":
        what = f"{quote(str(path[-1]))} is missing{_inside(path[:-1])}"
        return document.problem(path[:-1], what, "add it", key=len(path) > 1)
    if kind == "extra_forbidden" or _is_unknown(path, kind):
        return unknown_key(document, path)
    if error["loc"][-1:] == ("[key]",):
        what = f"{quote(str(path[-1]))} {context['what'].rpartition(', not ')[0]}"
        return document.problem(path, what, "choose another name", key=True)
    fix: str | None = None
    if kind == "campaign":
        what, fix = f"{name} {context['what']}", context["fix"]
    elif kind == "form":
        what, fix = f"{name} must be {error['msg']}, not {found}", _form_fix(path, error["input"])
    elif kind == "too_short":
        what, fix = f"{name} must not be empty", "give a value, or delete the key"
    elif kind == "list_type":
        what, fix = f"{name} must be a list, not {found}", None
        if isinstance(error["input"], str):
            fix = f"write [{error['input']}]"
    else:
        what = f"{name} must be a mapping of keys, not {found}"
        fix = "write it as {key: value}, or as indented lines 'key: value'"
    if error["input"] is None and kind != "campaign":
        fix = "give a value, or delete the key"
    return document.problem(path, what, fix)


def unknown_key(document: Document, path: Location) -> Problem:
    """Make the problem of a key that nothing knows, with those that may stand there."""
    key = str(path[-1])
    known = known_keys(path[:-1])
    near = nearest(key, known)
    fix = f"did you mean '{near}'? Known here: " if near else "known here: "
    if key == "build" and path[0] == "benchmarks":
        fix = "build steps belong to the campaign or to a variant; known here: "
    what = f"unknown key {quote(key)}{_inside(path[:-1], word='in')}"
    return document.problem(path, what, fix + ", ".join(known), key=True)


def known_keys(path: Location) -> tuple[str, ...]:
    """Give the keys that may stand in the mapping at `path`."""
    model = _model(path)
    return tuple(field.alias or name for name, field in model.model_fields.items())


def _model(path: Location) -> type[BaseModel]:
    """Find the model of the mapping at `path`."""
    if path[:1] in {("variants",), ("benchmarks",)}:
        if len(path) > 2:
            inner: dict[object, type[BaseModel]] = {
                "expect": ExpectSection,
                "metrics": MetricSection,
            }
            return inner.get(path[2], Shell)
        return VariantSection if path[0] == "variants" else BenchmarkSection
    model: type[BaseModel] = CampaignSection
    for depth, step in enumerate(path):
        if (depth and model is HooksSection) or step == "build":
            return Shell
        field = next(f for n, f in model.model_fields.items() if step in {n, f.alias})
        for kind in (field.annotation, *get_args(field.annotation)):  # a section may be optional
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                model = kind
    return model


def _is_unknown(path: Location, kind: str) -> bool:
    """Tell whether a list or mapping stands where only a value for templates could."""
    free = len(path) == 3 and path[0] in {"variants", "benchmarks"}
    return free and kind == "campaign" and path[2] not in known_keys(path[:2])


def _misspelt(errors: Sequence[ErrorDetails]) -> set[Location]:
    """Find the missing keys that are there, but misspelt: as unknown keys they are reported."""
    unknown = [error["loc"] for error in errors if error["type"] == "extra_forbidden"]
    found: set[Location] = set()
    for loc in unknown:
        path = tuple(step for step in loc if step not in {LIST, TEXT, MAPPING})
        near = nearest(str(path[-1]), known_keys(path[:-1]))
        if near:
            found.add((*path[:-1], near))
    return found - {error["loc"] for error in errors if error["type"] != "missing"}


def _value_names(document: Document) -> Iterable[tuple[Problem, Location]]:
    """Find the keys that cannot be names: of values, or of metrics."""
    root = document.value
    assert isinstance(root, dict)
    for part in ("variants", "benchmarks"):
        entries = root.get(part)
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            if not isinstance(entry, dict):
                continue
            here: Location = (part, name)
            known = known_keys(here)
            matrix = entry.get("matrix")
            places = [(*here, key) for key in entry if key not in known]
            if isinstance(matrix, dict):
                places += [(*here, "matrix", key) for key in matrix]
            for place in places:
                problem = _value_name(document, place)
                if problem:
                    yield problem, place
            metrics = entry.get("metrics")
            for metric in metrics if isinstance(metrics, dict) else ():
                if metric in RESERVED_METRICS:
                    place = (*here, "metrics", metric)
                    what = f"the metric '{metric}' is always measured"
                    yield document.problem(place, what, "choose another name", key=True), place


def _value_name(document: Document, place: Location) -> Problem | None:
    """Find what is wrong with the name of a value for templates."""
    name = str(place[-1])
    value: Any = document.value
    for step in place:
        value = value[step]
    if "matrix" not in place and not isinstance(value, str | None):
        return None  # an unknown key: the model reports it
    if name in PREDEFINED:
        what = f"'{name}' cannot be a value: it is the name of the {name}"
        return document.problem(place, what, "choose another name", key=True)
    if "matrix" not in place and name == "build":
        return unknown_key(document, place)
    if not VALUE_NAME.fullmatch(name):
        what = f"{quote(name)} cannot be the name of a value"
        fix = "use letters, digits, _ and -, beginning with a letter or _"
        return document.problem(place, what, fix, key=True)
    return None


def _label(path: Location) -> str:
    """Name the value at `path`: its key, with the places in lists."""
    label = ""
    for step in path:
        label = f"{label}[{step}]" if isinstance(step, int) else step
    return quote(label, 60)


def _inside(path: Location, word: str = "in") -> str:
    parts = ""
    for step in path:
        parts += f"[{step}]" if isinstance(step, int) else f".{step}"
    return f" {word} {parts[1:]}" if path else ""


def _form_fix(path: Location, found: object) -> str | None:
    """Give the remedy for a command that is written in a form that is not read here."""
    if isinstance(found, str) and isinstance(path[-1], int):
        return f"write a command of a list as a list of arguments: [[{found}]]"
    if isinstance(found, list) and all(isinstance(item, str) for item in found):
        return f"write one command with its arguments as [[{', '.join(found)}]]"
    return None
