"""Write anew the files, and the parts of pages, that are made from the code.

python tests/contract/generate.py        `make generated` does it
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import NamedTuple

from docs.distribution.json_answers.schemas import files, keys_of_methods
from docs.draw_floors import picture
from harness.campaign.nested_kinds import Key, Section
from harness.campaign.schema import SECTIONS, editor_schema
from harness.host.checks import CHECKS

ROOT = Path(__file__).resolve().parents[2]


def checks_table() -> str:
    """Give every check with its reason, as a Markdown table."""
    rows = [f"| [`{check.name}`](#{check.name}) | {check.reason} |" for check in CHECKS]
    return "\n".join(["| check | why it matters |", "|---|---|", *rows])


def keys_table() -> str:
    """Give every key of a campaign with its default and its meaning, as a Markdown table."""
    rows = [
        f"| `{prefix}{name}` | {_default(key)} | {key.meaning} |"
        for prefix, section in SECTIONS.items()
        for name, key in section.keys.items()
        if not isinstance(key.kind, Section) or key.otherwise
    ]
    return "\n".join(["| key | default | meaning |", "|---|---|---|", *rows])


def _default(key: Key) -> str:
    """Say what holds without a key, as it would be written."""
    if key.required:
        return "required"
    plain = "none" if key.default in (None, [], {}, "") else f"`{key.kind.spelled(key.default)}`"
    return key.otherwise or plain


class Item(NamedTuple):
    """An item: where it stands, what it is, and the test and command that show it, or why none can."""

    place: str
    what: str
    test: str = ""
    command: str = ""
    why: str = ""


class Source(NamedTuple):
    """A source: how it is cited, and its items."""

    name: str
    cited: str
    items: tuple[Item, ...]


def sources() -> list[Source]:
    """Read the items of the five published sources, in the order of their pages."""
    found = []
    for path in sorted((ROOT / "tests" / "golden" / "sources").glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        items = tuple(Item(**one) for one in data["item"])
        found.append(Source(path.stem, data["cited"], items))
    return found


def sources_text() -> str:
    """Give the tables as Markdown: a section for each source."""
    parts = []
    for source in sources():
        rows = [
            f"| {one.place} | {_cell(one.what)} | {_shown(one)} |".replace("\n", " ")
            for one in source.items
        ]
        head = ["| place | item | shown by |", "|---|---|---|"]
        parts.append("\n".join([f"## {source.cited}", "", *head, *rows]))
    return "\n\n".join(parts)


def _shown(item: Item) -> str:
    if item.why:
        return f"cannot be had: {_cell(item.why)}"
    path, _, name = item.test.partition("::")
    test = f"[{name}](../../{path})"
    return f"`{_cell(item.command)}`; {test}" if item.command else test


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def with_part(page: str, name: str, part: str) -> str:
    """Give the page with a generated part of it made anew."""
    begin, end = f"<!-- {name}: made by 'make generated' -->", f"<!-- end of {name} -->"
    head, found, rest = page.partition(f"{begin}\n")
    _, closed, tail = rest.partition(f"\n{end}")
    if not (found and closed):
        raise ValueError(f"the page has no part {begin} ... {end}")
    return f"{head}{begin}\n{part}\n{end}{tail}"


def generated() -> dict[Path, str]:
    """Give each file that is made from the code, wholly or in part, with the text that it needs."""
    checks, campaign = ROOT / "docs" / "checks.md", ROOT / "docs" / "campaign.md"
    methods, answers = ROOT / "docs" / "methods" / "sources.md", ROOT / "docs" / "json.md"
    return {
        ROOT / "configs" / "campaign.schema.json": json.dumps(
            editor_schema(), indent=2, sort_keys=True
        )
        + "\n",
        checks: with_part(checks.read_text(encoding="utf-8"), "checks", checks_table()),
        campaign: with_part(campaign.read_text(encoding="utf-8"), "keys", keys_table()),
        **files(ROOT),
        answers: with_part(answers.read_text(encoding="utf-8"), "methods", keys_of_methods()),
        methods: with_part(methods.read_text(encoding="utf-8"), "items", sources_text()),
    }


def prose(page: str) -> str:
    """Give a page without its generated parts."""
    return re.sub(r"^<!-- (\w+): made by .*?^<!-- end of \1 -->$", "", page, flags=re.M | re.S)


if __name__ == "__main__":
    floors = {ROOT / "docs" / "floors.svg": picture()}  # not one of `generated`: it takes seconds
    for path, text in (generated() | floors).items():
        path.write_text(text, encoding="utf-8")
