"""Whatever texts a campaign holds, the campaign of its commits gives each cell the same ones."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path, PurePosixPath

from hypothesis import given, settings, strategies as st

from harness.bisect.commits import Commit
from harness.bisect.recipe import Recipe, campaign_of
from harness.bisect.workshop import Built
from harness.campaign.resolve import load_campaign
from tests.examples import examples

# what YAML takes in quotes; null bytes and lone surrogates are in no argument
TEXTS = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12
) | st.sampled_from(["{", "}}", "null", "~", "true", "0x1", "1_0", "- a", "# b", "'", '"', "\x85"])


def quoted(text: str) -> str:
    """Write every sign as its number: nothing in YAML's quotes can be mistaken."""
    return '"' + "".join(f"\\U{ord(sign):08X}" for sign in text) + '"'


def quoted_template(text: str) -> str:
    return quoted(text.replace("{", "{{").replace("}", "}}"))


@settings(max_examples=examples(100))
@given(
    words=st.lists(TEXTS, max_size=4),
    value=TEXTS,
    note=TEXTS,
    folder=st.text("abc {}.é", min_size=1, max_size=8).filter(lambda text: text.strip(" .")),
)
def test_every_text_comes_through(words, value, note, folder):
    with tempfile.TemporaryDirectory() as place:
        root = Path(place).resolve()
        text = f"""\
name: app
description: {quoted(note)}
variants: {{a: {{free: {quoted(value)}}}}}
benchmarks:
  b:
    command: [run, {", ".join([*map(quoted_template, words), '"{free}"'])}]
    cwd: {quoted_template(folder)}
    env: {{X: {quoted_template(value)}}}
    expect: {{regex: {quoted(re.escape(note))}}}
"""
        path = root / "campaign.yaml"
        path.write_text(text, encoding="utf-8")
        template = load_campaign(path)
        recipe = Recipe(
            campaign=template,
            variant="a",
            root=root,
            place=PurePosixPath(),
            cells=template.cells,
            build=None,
            inputs={},
            notes=(),
        )
        commit = Commit(
            place=1, commit="e" * 40, tree="e", subject="s", author="a", date="2026-11-01"
        )
        built = Built(
            commit=commit, tree=root / "kept" / folder, programs={}, identity="x", seconds=1.0
        )
        made = campaign_of(recipe, [built], root / "made.yaml", baseline=built)
        before, (cell,) = template.cells[0], made.cells
        assert cell.command.argv == before.command.argv == ("run", *words, value)
        assert (cell.env, cell.expect) == (before.env, before.expect)
        assert made.description == template.description
        assert cell.cwd == built.tree / folder
        assert made.commit == {commit.variant: commit.commit}
