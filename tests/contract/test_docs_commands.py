"""Every command that a page tells exists, with every option that it is told with."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import pytest

from harness.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "runs" / "README.md"])
# pages that also tell what there was
HISTORIES = {"docs/migrating.md"}
COMMAND = re.compile(r"^(?:\$ |exec |sudo )?fairtrial ([a-z][a-z-]*)((?:[^\n#]|\\\n)*)", re.M)
# what the parser takes and does not show: options of the original tool
HIDDEN = {"speedup-test --conf-level"}


def fences_and_ticks(text: str) -> str:
    pairs = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    fences = [block for language, block in pairs if language in {"", "sh"}]
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    indented = re.findall(r"^ {4}\$ (fairtrial .*)$", prose, re.M)
    return "\n".join([*fences, *indented, *re.findall(r"`(fairtrial [^`]+)`", prose)])


@cache
def help_of(command: str) -> str | None:
    out = io.StringIO()
    with redirect_stdout(out):
        code = main([command, "--help"], out, io.StringIO())
    return out.getvalue() if code == 0 else None


def unknown(text: str) -> list[str]:
    """List commands and options that a page tells and that there are not."""
    found = []
    for command, rest in COMMAND.findall(fences_and_ticks(text)):
        known = "" if command == "help" else help_of(command)
        if known is None:
            found.append(command)
            continue
        own = re.sub(r"'[^']*'|\"[^\"]*\"", "", rest).partition(" -- ")[0]
        for option in re.findall(r"(?<=\s)(--?[a-zA-Z][\w-]*)", own):
            if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", known):
                found.append(f"{command} {option}")
    return [one for one in found if one not in HIDDEN]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_tells_to_type_exists(page):
    if str(page.relative_to(ROOT)) not in HISTORIES:
        assert unknown(page.read_text(encoding="utf-8")) == []


def test_what_does_not_exist_is_found():
    text = "`fairtrial verdct runs/x`\n```\nfairtrial verdict --colour\nfairtrial hpt A B --speedup 2\n```\n"
    assert unknown(text) == ["verdict --colour", "verdct"]


def test_what_went_is_gone_and_what_takes_its_place_exists():
    text = (ROOT / "docs" / "migrating.md").read_text(encoding="utf-8")
    table = text.partition("| gone | instead |\n|---|---|\n")[2].partition("\n\n")[0]
    for line in table.splitlines():
        gone, instead = line.strip("| ").split(" | ")
        assert len(unknown(gone)) == len(COMMAND.findall(fences_and_ticks(gone)))
        assert unknown(instead) == []
