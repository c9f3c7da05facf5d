"""The campaign that measures commits: an ordinary file, made from the user's.

All that is no path stands as the user wrote it. What the campaign's baseline (or ``--variant``) gives is filled
in, so that ``{variant}`` in a build or a command means the same file in every commit; each path in the
repository begins with ``{commit_tree}``, a value of each variant.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import UsageError
from analysis.record.yaml_reader import Document, Plain, Value, decoded, read_document

from ..campaign.cells import CampaignEntry, entries
from ..campaign.defaults import OwnDefaults
from ..campaign.load import MAX_SEED, load_campaign
from ..campaign.model import LAYOUT_SEED
from ..campaign.schema import check_shape
from ..campaign.templates import SEED_NAME, parse_template
from ..launch.commands import base_environment
from .programs import SEARCH

if TYPE_CHECKING:
    from ..campaign.model import Campaign, Cell
    from .built import Built
    from .recipe import Recipe

_TREE, _LIBRARIES, _COMMIT = "commit_tree", "commit_libraries", "commit_sha"
_OURS = (_TREE, _LIBRARIES, _COMMIT)
_NEVER_OK = "protocol.never_ok"
# Made anew, or without a meaning for commits: what is built is kept, and commits are no series of the user's.
_REPLACED = ("variants", "baseline", "benchmarks", "inputs", "build", "hooks", "commit", "series")
_BARE = re.compile(
    r"[A-Za-z0-9+-][A-Za-z0-9._+-]*"
)  # what means the same without quotes in any place
_WORD = re.compile(r"(?!(?i:null)$)[A-Za-z_][A-Za-z0-9_-]*")
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_IN_FOLDER = 'cd "$0" && exec "$@"'


def campaign_of(
    recipe: Recipe, built: Sequence[Built], file: Path, *, baseline: Built, trial: str = ""
) -> Campaign:
    """Write the campaign whose variants are these commits to `file`, and load it.

    Its variants are called as the commits (`Commit.name`), in the given order. Where sessions draw layouts, the
    seed is that of its `trial`: a proof in the layouts of the search would repeat their luck.

    Raises
    ------
    UsageError
        If a path is not UTF-8, or a value has a name that is needed here.
    """
    seed = recipe.campaign.seed
    if recipe.draws_layouts:
        digest = hashlib.sha256(f"{seed}:{trial}".encode()).digest()
        seed = int.from_bytes(digest[:8], "big") % (MAX_SEED + 1)
    text = campaign_text(recipe, built, baseline=baseline, seed=seed)
    try:
        file.write_text(text, encoding="utf-8")
    except UnicodeEncodeError:
        what = "a path of the campaign is not UTF-8 and cannot be written to a campaign"
        raise UsageError(what, str(file), "rename it") from None
    template = recipe.campaign
    own = OwnDefaults(values=template.own_defaults)
    defaults = {
        **template.defaults,
        _NEVER_OK: "go_on",
    }  # a commit that fails is one of the answers
    return load_campaign(file, seed=seed, defaults=defaults, own=own)


def campaign_text(
    recipe: Recipe, built: Sequence[Built], *, baseline: Built, seed: int | None = None
) -> str:
    """Give the text of the campaign whose variants are these commits; `seed` is another than the template's."""
    template = recipe.campaign
    document = read_document(decoded(template.text, template.source), str(template.source))
    other = None if seed in {None, template.seed} else seed
    return "\n".join(_lines(_Maker(recipe, document), built, baseline, other)) + "\n"


def _lines(
    maker: _Maker, built: Sequence[Built], baseline: Built, seed: int | None
) -> Iterator[str]:
    maker.with_libraries = any(one.libraries for one in built)
    benchmarks = {name: maker.benchmark(name) for name in maker.benchmarks}
    hooks = maker.hooks()
    yield "# commits of a bisection: each is measured in the tree that is kept of it"
    for name, value in maker.given.items():
        if name not in _REPLACED and (name != "seed" or seed is None):
            yield f"{_key(name)}: {_flow(_without_never_ok(name, value))}"
    if seed is not None:
        yield f"seed: {seed}"
    yield f"baseline: {_flow(baseline.commit.name)}"
    yield f'commit: "{{{_COMMIT}}}"'
    variants = {one.commit.name: maker.variant(one) for one in built}
    for part, entry in (("variants", variants), ("benchmarks", benchmarks), ("hooks", hooks)):
        if entry:
            yield f"{part}:"
            for name, value in entry.items():
                yield f"  {_key(name)}: {_flow(value)}"


def _without_never_ok(name: str, value: Any) -> Any:  # noqa: ANN401 - any part of a campaign
    if name != "protocol" or not isinstance(value, dict):
        return value
    return {key: given for key, given in value.items() if f"protocol.{key}" != _NEVER_OK}


class _Maker:
    """Makes the parts of the campaign that are not as the user wrote them."""

    def __init__(self, recipe: Recipe, document: Document) -> None:
        shape, _ = check_shape(document)
        assert shape is not None, "it was loaded before"
        assert isinstance(document.value, dict), "it was loaded before"
        self.recipe = recipe
        self.given: Mapping[str, Any] = document.value
        variants, _ = entries(document, "variants", shape["variants"])
        benchmarks, _ = entries(document, "benchmarks", shape["benchmarks"])
        self._variant = next(entry for entry in variants if entry.name == recipe.variant)
        self._entries = {entry.name: entry for entry in benchmarks}
        self.benchmarks: Mapping[str, Cell] = {cell.benchmark: cell for cell in recipe.cells}
        self.with_libraries = False
        self._used = self._used_by_hooks()
        clash = self._used & set(_OURS)
        if clash:
            what = f"a hook uses the value '{min(clash)}', whose name is needed for commits"
            raise UsageError(what, str(recipe.campaign.source), "rename it in the campaign")
        self._in_tree = False

    def variant(self, built: Built) -> dict[str, Any]:
        """Give the values of one commit."""
        values: dict[str, Any] = {_COMMIT: built.commit.sha}
        if self._in_tree:
            values[_TREE] = str(built.tree)
        if self.with_libraries:
            folders = built.libraries or (built.tree,)
            values[_LIBRARIES] = ":".join(map(str, folders))
        return values

    def benchmark(self, name: str) -> dict[str, Any]:
        """Give one benchmark with all that the variant says of it."""
        cell, sections = self.benchmarks[name], self._sections(name)
        made: dict[str, Any] = {"command": [_literal(text) for text in cell.command.argv]}
        made["cwd"] = self._path(cell.cwd)
        if cell.stdin is not None:
            made["stdin"] = self._path(cell.stdin)
        if cell.inputs:
            made["inputs"] = [self._path(path) for path in cell.inputs]
        env = {key: _literal(text) for key, text in cell.env.items()}
        if self.with_libraries:
            rest = env.get(SEARCH) or _literal(self._inherited())
            env[SEARCH] = f"{{{_LIBRARIES}}}{':' if rest else ''}{rest}"
        if env:
            made["env"] = env
        for key in ("stdout", "stderr", "timeout", "expect"):
            for section in sections:
                if key in section:
                    made[key] = section[key]
        if cell.expect.stdout_file is not None:
            made["expect"] = {**made["expect"], "file": self._path(cell.expect.stdout_file)}
        metrics = {
            key: rule for section in sections for key, rule in section.get("metrics", {}).items()
        }
        for rule in cell.metrics:
            if isinstance(rule.source, Path):
                metrics[rule.name] = {**metrics[rule.name], "from": self._path(rule.source)}
        if metrics:
            made["metrics"] = metrics
        values = {**self._entries[name].values, **self._variant.values}
        return made | {key: text for key, text in values.items() if key in self._used}

    def hooks(self) -> dict[str, Any]:
        """Give the hooks: those of runs in the commit's folder, those of sessions in the user's."""
        given = self.given.get("hooks") or {}
        made: dict[str, Any] = {}
        for name, value in given.items():
            if name in {"before", "after"}:
                folder = self._path(self.recipe.campaign.source.parent)
            elif name in {"setup", "cleanup", "finish"}:
                folder = _literal(str(self.recipe.campaign.source.parent))
            else:
                made[name] = value
                continue
            steps = [self._words(step) for step in _steps(value)]
            made[name] = [["/bin/sh", "-c", _IN_FOLDER, folder, *words] for words in steps]
        return made

    def _sections(self, name: str) -> tuple[Mapping[str, Any], ...]:
        """Give what the file says of the benchmark, then of the variant, which wins."""
        return tuple(_section(self.given, entry) for entry in (self._entries[name], self._variant))

    def _path(self, path: Path) -> str:
        place = self.recipe.in_repository(path)
        if place is None:
            return _literal(str(path))
        self._in_tree = True
        inside = "" if str(place) == "." else f"/{_literal(str(place))}"
        return f"{{{_TREE}}}{inside}"

    def _inherited(self) -> str:
        """Give the search path that a run has without this one."""
        variables = base_environment(self.recipe.campaign.isolation, os.environ)
        return variables.get(SEARCH, "")

    def _words(self, step: Any) -> list[str]:  # noqa: ANN401 - a command in one of its forms
        """Give the words of a hook; the name of the variant is the campaign's."""
        if isinstance(step, Mapping):
            words = ["/bin/sh", "-c", str(step["shell"])]
        else:
            words = shlex.split(step) if isinstance(step, str) else list(step)
        return [self._with_variant(text) for text in words]

    def _with_variant(self, text: str) -> str:
        template = parse_template(text)
        parts = [_literal(template.texts[0])]
        for name, rest in zip(template.names, template.texts[1:], strict=True):
            parts += [self.recipe.variant if name == "variant" else f"{{{name}}}", _literal(rest)]
        return "".join(parts)

    def _used_by_hooks(self) -> set[str]:
        hooks = self.given.get("hooks") or {}
        steps = [step for name in ("before", "after") for step in _steps(hooks.get(name))]
        return {
            name
            for step in steps
            for text in self._words(step)
            for name in parse_template(text).names
        } - {"variant", "benchmark"}


def _section(given: Mapping[str, Any], entry: CampaignEntry) -> Mapping[str, Any]:
    """Give what the file says of a variant or benchmark."""
    part, name = map(str, entry.path)
    return given[part][name] or {}


def _steps(value: Any) -> list[Any]:  # noqa: ANN401 - one command, a list of them, or none
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def _literal(text: str) -> str:
    """Give the template that stands for a text as it is; the seed of a layout is each session's own."""
    return text.replace("{", "{{").replace("}", "}}").replace(LAYOUT_SEED, f"{{{SEED_NAME}}}")


def _flow(value: Value) -> str:
    """Write a value as YAML on one line; what was written without quotes stays so where it can."""
    if value is None:
        return "null"
    if isinstance(value, Plain) and _BARE.fullmatch(value):
        return str(value)
    if isinstance(value, str):
        quoted = json.dumps(str(value), ensure_ascii=False)
        return _ESCAPED.sub(lambda sign: f"\\u{ord(sign.group()):04x}", quoted)
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return f"{{{', '.join(f'{_key(key)}: {_flow(item)}' for key, item in value.items())}}}"


def _key(name: str) -> str:
    """Write a key, without quotes where it is a plain word."""
    return name if _WORD.fullmatch(name) else _flow(str(name))
