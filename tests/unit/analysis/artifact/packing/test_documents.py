"""The documents of a bundle. Authorities: RO-Crate 1.1, and markdown-it, a reader of CommonMark."""

from __future__ import annotations

import json
from urllib.parse import unquote

import jsonschema
import pytest
from hypothesis import example, given, settings, strategies as st
from markdown_it import MarkdownIt

from analysis.artifact.documents import _safe, _ticked
from tests.examples import examples

# RO-Crate Metadata Specification 1.1: "RO-Crate Metadata File Descriptor", "Direct properties of the Root Data
# Entity", "Data Entities", "People", "Provenance of entities"
REFERENCE = {
    "type": "object",
    "required": ["@id"],
    "properties": {"@id": {"type": "string", "minLength": 1}},
    "additionalProperties": False,
}
REFERENCES = {"type": "array", "items": REFERENCE, "minItems": 1, "uniqueItems": True}


def entity(kind, required=(), **properties):
    return {
        "if": {"properties": {"@type": {"const": kind}}},
        "then": {"required": list(required), "properties": properties},
    }


SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["@context", "@graph"],
    "additionalProperties": False,
    "properties": {
        "@context": {"const": "https://w3id.org/ro/crate/1.1/context"},
        "@graph": {
            "type": "array",
            "prefixItems": [
                {
                    "const": {
                        "@id": "ro-crate-metadata.json",
                        "@type": "CreativeWork",
                        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
                        "about": {"@id": "./"},
                    }
                },
                {
                    "type": "object",
                    "required": ["name", "description", "datePublished", "hasPart"],
                    "properties": {
                        "@id": {"const": "./"},
                        "@type": {"const": "Dataset"},
                        "datePublished": {"pattern": r"^\d{4}-\d{2}-\d{2}$"},
                        "license": REFERENCE,
                        "author": REFERENCES,
                        "hasPart": REFERENCES,
                        "mentions": REFERENCES,
                    },
                },
            ],
            "items": {
                "type": "object",
                "required": ["@id", "@type"],
                "properties": {
                    # a relative URI without characters that must be written out, or a web address
                    "@id": {
                        "pattern": r"^(https://|#|\./$|[A-Za-z0-9])[A-Za-z0-9._~%/:,;=@!$&'()*+#-]*$"
                    },
                    "@type": {
                        "enum": [
                            "File",
                            "SoftwareApplication",
                            "CreateAction",
                            "Person",
                            "CreativeWork",
                        ]
                    },
                },
                "allOf": [
                    entity(
                        "File",
                        ["name", "contentSize", "sha256"],
                        contentSize={"pattern": r"^\d+$"},
                        sha256={"pattern": "^[0-9a-f]{64}$"},
                    ),
                    entity("SoftwareApplication", ["name", "version"]),
                    entity(
                        "CreateAction",
                        ["instrument", "object", "result"],
                        instrument=REFERENCE,
                        object=REFERENCES,
                        result=REFERENCE,
                    ),
                    entity("Person", ["name"]),
                ],
            },
        },
    },
}
ABOUT = """\
title: A title
authors: [{name: Ada Lovelace, orcid: 0000-0002-1825-0097, affiliation: X}, {name: B}]
license: MIT
doi: 10.5281/zenodo.1234567
files: ["odd names/"]
"""


@pytest.fixture
def made(campaign, pack, quick):
    (campaign.folder / "bundle.yaml").write_text(ABOUT)
    (campaign.folder / "odd names").mkdir()
    (campaign.folder / "odd names" / "\u00fcber #1 100%.txt").write_text("x")
    return pack(campaign.trial, campaign=campaign.file)


def test_it_is_a_crate_by_the_schema(made):
    crate = json.loads(made.files["ro-crate-metadata.json"])
    jsonschema.Draft202012Validator(SCHEMA).validate(crate)
    # the negative control: the schema can fail
    del crate["@graph"][2]["sha256"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(crate)


def test_every_reference_leads_to_an_entity_and_every_file_is_there(made):
    graph = json.loads(made.files["ro-crate-metadata.json"])["@graph"]
    ids = [one["@id"] for one in graph]
    assert len(ids) == len(set(ids))

    def references(value):
        if isinstance(value, dict) and set(value) == {"@id"}:
            yield value["@id"]
        elif isinstance(value, dict | list):
            for item in value.values() if isinstance(value, dict) else value:
                yield from references(item)

    assert set(references(graph)) - set(ids) <= {"https://w3id.org/ro/crate/1.1"}
    listed = {unquote(one["@id"]) for one in graph if one["@type"] == "File"}
    own = {"ro-crate-metadata.json", "bundle.json", "SHA256SUMS"}
    assert listed == set(made.files) - own


@pytest.mark.usefixtures("quick")
def test_without_a_trial_the_day_is_what_the_authors_say(pack, tmp_path):
    (tmp_path / "x.csv").write_text("a,1,2\n")
    (tmp_path / "bundle.yaml").write_text("date: 2026-11-22\n")
    made = pack(tmp_path / "x.csv", about=tmp_path / "bundle.yaml")
    crate = json.loads(made.files["ro-crate-metadata.json"])
    jsonschema.Draft202012Validator(SCHEMA).validate(crate)
    assert crate["@graph"][1]["datePublished"] == "2026-11-22"


TEXTS = st.text(
    st.one_of(
        st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]),
        st.sampled_from("`*_[]<>#|&;\\!-+1.)~=: \"'("),
    ),
    max_size=30,
)
READER = MarkdownIt("commonmark").enable("table")


def words(tokens) -> str:
    found = []
    for token in tokens:
        if token.type in {"text", "code_inline"}:
            found.append(token.content)
        found.append(words(token.children or []))
    return "".join(found)


def kinds(tokens) -> set[str]:
    return {t.type for t in tokens}.union(*(kinds(t.children or []) for t in tokens))


@given(TEXTS)
@example("&lt;b&gt; &copy;")
@example("- no list")
@example("1. no list")
@example("+ no list")
@example("# no heading")
@example("> no quote")
@example("<b>no tag</b>")
@example("![no](picture)")
@example("---")
@example("~~~")
@example("a | b")
@settings(max_examples=examples(300), deadline=None)
def test_a_paragraph_of_a_foreign_text_is_that_text(text):
    plain = " ".join(text.split())
    tokens = READER.parse(_safe(text))
    assert words(tokens) == plain
    assert kinds(tokens) <= {"paragraph_open", "inline", "text", "text_special", "paragraph_close"}


@pytest.mark.parametrize("write", [_safe, _ticked])
@given(text=TEXTS)
@settings(max_examples=examples(300), deadline=None)
def test_a_cell_of_a_foreign_text_is_that_text(write, text):
    plain = " ".join(text.split())
    table = f"| a | b |\n|---|---|\n| {write(text)} | end |"
    tokens = READER.parse(table)
    cells = [t for t in tokens if t.type == "inline"][2:]
    assert [words([cell]).strip() for cell in cells] == [plain, "end"]
    assert not kinds(tokens) & {"html_inline", "link_open", "image", "em_open", "strong_open"}
