"""The documents of a bundle. Authorities: RO-Crate 1.1, and markdown-it, a reader of CommonMark."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from urllib.parse import unquote

import jsonschema
import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from markdown_it import MarkdownIt

from analysis.artifact.archive import Author
from analysis.artifact.describing import _safe, _ticked, family_and_given, read_about
from analysis.artifact.packed_campaign import NamedPath, files_matching, named_files
from analysis.errors import CampaignError
from analysis.record.fleet import FleetHost, read_fleet, write_fleet
from analysis.verdict.fleet import judge_fleet
from harness.cli import main
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


# --- bundle.yaml: what is read, and that all its mistakes are told at once. ORCID's own page is the authority


GOOD = """\
title: "Compressors: a comparison"
description: Six levels of effort.
authors:
  - name: Ada Lovelace
    orcid: https://orcid.org/0000-0002-1825-0097
    affiliation: Analytical Society
  - {name: "van der Berg, Jan", orcid: 0000-0002-1694-233X}
license: MIT
doi: https://doi.org/10.5281/zenodo.1234567
files: [src/, "**/*.h"]
"""


def test_all_that_authors_say_is_read(tmp_path):
    (tmp_path / "bundle.yaml").write_text(GOOD)
    about = read_about(tmp_path / "bundle.yaml")
    assert about.metadata.title == "Compressors: a comparison"
    assert about.metadata.authors == (
        Author(name="Ada Lovelace", orcid="0000-0002-1825-0097", affiliation="Analytical Society"),
        # ORCID's documentation of the check digit has both iDs
        Author(name="van der Berg, Jan", orcid="0000-0002-1694-233X"),
    )
    assert about.metadata.license == "MIT"
    assert about.metadata.doi == "10.5281/zenodo.1234567"
    assert about.files == ("src/", "**/*.h")


def test_a_title_that_yaml_takes_for_a_number_is_a_text(tmp_path):
    (tmp_path / "bundle.yaml").write_text("title: 2026\nlicense: no\n")
    about = read_about(tmp_path / "bundle.yaml")
    assert (about.metadata.title, about.metadata.license) == ("2026", "no")


def test_all_mistakes_are_told_at_once(tmp_path):
    (tmp_path / "bundle.yaml").write_text(
        "titel: x\n"
        "authors:\n  - {orcid: 0000-0002-1825-0098, name: A}\n  - {affiliation: X}\n"
        "license: MIT or Apache\n"
        "doi: 11.1/x\n"
        "date: 2026-11-31\n"
        "files: [../secret, /etc/passwd, 3]\n"
    )
    with pytest.raises(CampaignError) as raised:
        read_about(tmp_path / "bundle.yaml")
    told = str(raised.value)
    for words in (
        "8 problems",
        "bundle.yaml:1:1: there is no key 'titel' here; did you mean title?",
        ":3:13: 'orcid' is none: its last digit does not fit",
        ":4:5: 'name' is missing",
        ":5:10: 'license' must be the name of one SPDX licence",
        ":6:6: 'doi' must be one such as 10.5281/zenodo.1234567",
        "'date' must be a day",
        "'../secret', which leads out",
        "'/etc/passwd', which leads out",
    ):
        assert words in told, words


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(CampaignError, match="there is no such file"):
        read_about(tmp_path / "bundle.yaml")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        # as BibTeX takes names apart
        ("Ada Lovelace", ("Lovelace", "Ada")),
        ("van der Berg, Jan", ("van der Berg", "Jan")),
        ("Donald E. Knuth", ("Knuth", "Donald E.")),
        ("Aristotle", ("Aristotle", None)),
        ("Group,", ("Group", None)),
    ],
)
def test_names_are_taken_apart_as_bibtex_does(name, parts):
    assert family_and_given(name) == parts


@pytest.mark.parametrize(
    ("pattern", "fits", "not_"),
    [
        ("src/", ["src/a.c", "src/b/c.h"], ["a.c", "xsrc/a.c", "src/.git/x", "src/__pycache__/a"]),
        ("src/.git/*", ["src/.git/x"], ["src/a.c"]),
        ("*.c", ["a.c", "b.c"], ["src/a.c", "a.cc", "acc"]),
        ("**/*.c", ["a.c", "src/x/a.c"], ["src/a.h"]),
        ("src/**", ["src/a", "src/b/c"], ["srcs/a"]),
        ("**.c", [], ["a.c"]),
        ("a?c[0-9]", ["abc1"], ["a/c1", "abcx"]),
        ("[!a]*", ["b", "bc"], ["a", "d/c"]),
        ("./Makefile", ["Makefile"], ["src/Makefile"]),
        ("a+(b).{1}", ["a+(b).{1}"], ["aab."]),
        ("x[", ["x["], ["x"]),
    ],
)
def test_patterns_choose_files(pattern, fits, not_, tmp_path):
    for name in (*fits, *not_):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = {str(one.relative_to(tmp_path)) for one in files_matching(tmp_path, pattern)}
    assert found == set(fits)


# --- Which files a campaign names: the campaign's documentation is the authority for where it may


def test_every_place_of_a_campaign_that_may_name_a_file_is_looked_at():
    campaign = {
        "cells": [
            {
                "command": {"argv": ["./run.sh", "--data=in/a", "-Iinclude", "@args", "3"]},
                "cwd": "work",
                "stdin": "in/std",
                "inputs": ["in/more"],
                "expect": {"stdout_file": "want.txt"},
                "before": [{"argv": ["python3", "before.py"]}],
                "after": [{"argv": ["./after"]}],
            }
        ],
        "builds": [{"steps": [{"argv": ["make", "OUT=build/a"]}], "cwd": "src"}],
        "hooks": {"setup": [{"argv": ["sh", "setup.sh"]}], "cleanup": [], "finish": []},
    }
    found = set(named_files(campaign))
    assert found >= {
        NamedPath(path="./run.sh", cwd="work", role="program"),
        NamedPath(path="in/a", cwd="work", role="word"),
        NamedPath(path="include", cwd="work", role="word"),
        NamedPath(path="args", cwd="work", role="word"),
        NamedPath(path="in/std", role="input"),
        NamedPath(path="in/more", role="input"),
        NamedPath(path="want.txt", role="input"),
        NamedPath(path="before.py", cwd="work", role="word"),
        NamedPath(path="./after", cwd="work", role="program"),
        NamedPath(path="build/a", cwd="src", role="word"),
        NamedPath(path="Makefile", cwd="src", role="word"),
        NamedPath(path="setup.sh", role="word"),
    }
    # a program that is looked up on the PATH is no file of the campaign
    assert not {one.path for one in found} & {"make", "python3", "sh"}


@pytest.mark.parametrize(
    "stored", ["", "[]", '{"campaign": {"cells": 3}}', '{"campaign": {"builds": [3]}}', "[" * 10**5]
)
def test_what_no_campaign_came_to_is_not_known(stored):
    with pytest.raises((ValueError, LookupError, TypeError, AttributeError, RecursionError)):
        list(named_files(json.loads(stored)["campaign"]))


# --- A fleet comes out of the archive as a fleet. Authority: `judge_fleet` of what was packed and unpacked


HOSTS = ("labnode1", "labnode2", "labnode3")
SLURM = {"slurm": {"fleet": "c-1", "user": "annabel", "folder": "/home/annabel/runs/c-1"}}
CLAIMS = """\
claims:
  - {text: both, command: verdict FLEET, value: /hosts/2/state, is: equals, expected: missing}
"""


@pytest.fixture
def fleet(fleet_folder, synthetic):
    """Two hosts that are measured, and one that is missing, as submitted through Slurm."""
    folder = fleet_folder(HOSTS)
    hosts = tuple(FleetHost(host=name, jobs=("7",), trial=name) for name in HOSTS)
    record = replace(read_fleet(folder), script="job.sh", hosts=hosts, further=SLURM)
    write_fleet(folder, record)
    for k, name in enumerate(HOSTS[:2]):
        rng = np.random.default_rng(k)
        times = {
            variant: {"x": (0.02 * np.exp(moved + rng.normal(0, 0.01, 6))).tolist()}
            for variant, moved in (("old", 0.0), ("new", -0.1))
        }
        made = synthetic(times, sessions=3, host=f"{name}.example.org", trial=name, node=name)
        made.write(folder / name)
    return folder


def run(*words):
    out, err = io.StringIO(), io.StringIO()
    code = main([str(word) for word in words], out, err)
    assert code == 0, err.getvalue()
    return out.getvalue()


def bundled(fleet, tmp_path, *options):
    """Pack a fleet; give where its archive was unpacked."""
    run("bundle", fleet, "-o", tmp_path / "a.zip", *options)
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        archive.extractall(tmp_path / "there")
    return tmp_path / "there"


@pytest.mark.usefixtures("quick_answers")
def test_it_is_the_same_fleet_and_claims_on_it_are_of_all_its_hosts(fleet, tmp_path):
    claims = tmp_path / "claims.yaml"
    claims.write_text(CLAIMS.replace("FLEET", str(fleet)))
    there = bundled(fleet, tmp_path, "--claims", claims)
    found = read_fleet(there / "trials")
    assert found.names == HOSTS
    assert found.further == {}  # what only the author's Slurm understands
    assert not any(host.jobs for host in found.hosts)
    before, after = judge_fleet(fleet), judge_fleet(there / "trials")
    assert after.to_dict()["candidates"] == before.to_dict()["candidates"]
    assert [one.state for one in after.hosts] == ["complete", "complete", "missing"]
    told = json.loads((there / "bundle.json").read_text())
    assert [(one["kind"], one["path"]) for one in told["sources"]] == [
        ("fleet", "trials"),
        ("trial", "trials/labnode1"),
        ("trial", "trials/labnode2"),
    ]
    assert any("labnode3" in one["what"] for one in told["missing"])
    (claim,) = json.loads((there / "claims.json").read_text())["claims"]
    assert claim["holds"]
    assert claim["command"] == ["verdict", "trials", "--json"]
    assert "holds" in run("reproduce", tmp_path / "a.zip")


@pytest.mark.usefixtures("quick_answers")
def test_without_names_of_hosts_it_is_a_fleet_all_the_same(fleet, tmp_path):
    there = bundled(fleet, tmp_path, "--redact", "user,host,paths")
    for path in there.rglob("*"):
        assert "labnode" not in path.name
        if path.is_file() and path.suffix != ".whl":
            data = path.read_bytes()
            assert b"labnode" not in data, path
            assert b"annabel" not in data, path
    after = judge_fleet(there / "trials")
    assert len({one.host for one in after.hosts}) == 3
    told = after.candidates[0].multilevel.benchmarks[0]
    assert told.low == judge_fleet(fleet).candidates[0].multilevel.benchmarks[0].low


@pytest.mark.usefixtures("quick_answers")
def test_one_fleet_a_bundle_and_each_trial_once(fleet, tmp_path):
    other = tmp_path / "c-2"
    other.mkdir()
    write_fleet(other, read_fleet(fleet))
    for words, said in (
        ((fleet, other), "holds one fleet"),
        ((fleet, fleet), "is there twice"),
        ((fleet / "labnode1", fleet), "packed already"),
        ((other,), "no host of this fleet has a trial"),
    ):
        err = io.StringIO()
        made = ["bundle", *map(str, words), "-o", str(tmp_path / "b.zip")]
        assert main(made, io.StringIO(), err) == 2
        assert said in err.getvalue()
        assert not (tmp_path / "b.zip").exists()
