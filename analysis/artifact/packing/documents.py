"""The documents of a bundle: CITATION.cff, LICENSE, README.md and the crate for machines.

Source: Citation File Format, version 1.2.0, its schema guide. A name is taken apart as BibTeX does: "Given
Family", or "Family, Given" for a family name of several words.

Source: RO-Crate Metadata Specification 1.1, "Root Data Entity", "Data Entities", "Contextual Entities" and
"Provenance of entities".
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import quote

from ...pages import number_format as figures
from ...record.fleet import FLEET
from ...version import VERSION
from ..claims import StoredClaim, said_of
from ..contents import (
    FLEET_PLACE,
    SUMS,
    Analysis,
    Contents,
    FileRecord,
    Metadata,
)
from .requirements import WHEEL

# The licences that works of research usually have, by their SPDX names.
LICENSES = frozenset(
    """0BSD AFL-3.0 AGPL-3.0-only AGPL-3.0-or-later Apache-2.0 Artistic-2.0 BSD-2-Clause BSD-3-Clause
    BSD-3-Clause-Clear BSL-1.0 CC-BY-3.0 CC-BY-4.0 CC-BY-NC-4.0 CC-BY-NC-ND-4.0 CC-BY-NC-SA-4.0
    CC-BY-ND-4.0 CC-BY-SA-3.0 CC-BY-SA-4.0 CC0-1.0 CECILL-2.1 CECILL-B CECILL-C ECL-2.0 EPL-1.0 EPL-2.0
    EUPL-1.1 EUPL-1.2 GPL-2.0-only GPL-2.0-or-later GPL-3.0-only GPL-3.0-or-later ISC LGPL-2.1-only
    LGPL-2.1-or-later LGPL-3.0-only LGPL-3.0-or-later LPPL-1.3c MIT MIT-0 MPL-2.0 MS-PL NCSA ODC-By-1.0
    ODbL-1.0 OFL-1.1 OSL-3.0 PDDL-1.0 PostgreSQL Unlicense UPL-1.0 WTFPL Zlib""".split()  # noqa: SIM905 - a table of words
)


def family_and_given(name: str) -> tuple[str, str | None]:
    """Take a name apart: its family part and its given part."""
    if "," in name:
        family, _, given = name.partition(",")
        return family.strip(), given.strip() or None
    given, _, family = name.rpartition(" ")
    return family, given or None


def citation_text(metadata: Metadata) -> str | None:
    """Give the text of ``CITATION.cff``; None without a title or without authors, which it must have."""
    if metadata.title is None or not metadata.authors:
        return None
    lines = [
        "cff-version: 1.2.0",
        "message: If you use this artifact, please cite it as below.",
        "type: dataset",
        f"title: {_quoted(metadata.title)}",
        "authors:",
    ]
    for author in metadata.authors:
        family, given = family_and_given(author.name)
        fields = {
            "family-names": family,
            "given-names": given,
            "affiliation": author.affiliation,
            "orcid": None if author.orcid is None else f"https://orcid.org/{author.orcid}",
        }
        known = [f"{name}: {_quoted(text)}" for name, text in fields.items() if text is not None]
        lines += [f"  {'-' if k == 0 else ' '} {line}" for k, line in enumerate(known)]
    if metadata.license in LICENSES:
        lines.append(f"license: {metadata.license}")
    further = {"doi": metadata.doi, "date-released": metadata.date}
    lines += [f"{name}: {_quoted(text)}" for name, text in further.items() if text is not None]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Write a text as JSON does, which YAML reads likewise."""
    return json.dumps(text, ensure_ascii=False)


def license_text(metadata: Metadata) -> str | None:
    """Give a short ``LICENSE`` that names the licence, for who has not put its text beside."""
    if metadata.license is None:
        return None
    names = ", ".join(author.name for author in metadata.authors)
    head = " by ".join(text for text in (metadata.title, names) if text)
    return (
        f"{head or 'This artifact'}\n\nSPDX-License-Identifier: {metadata.license}\n\n"
        f"The licence's text: https://spdx.org/licenses/{metadata.license}.html\n"
    )


CRATE = "ro-crate-metadata.json"

_FORMATS = {
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".html": "text/html",
    ".md": "text/markdown",
    ".txt": "text/plain",
    ".csv": "text/csv",
    ".yaml": "application/yaml",
    ".cff": "application/yaml",
    ".tar": "application/x-tar",
    ".whl": "application/zip",
    ".py": "text/x-python",
    ".log": "text/plain",
}
_SOFTWARE = "#fairtrial"
_WHEEL = f"software/{WHEEL}"


def crate_text(contents: Contents, description: str | None, date: str | None) -> bytes:
    """Give the bytes of ``ro-crate-metadata.json``, with words of its own where the authors have none."""
    metadata, wheel = contents.metadata, wheel_in(contents)
    names = ", ".join(one.name for one in contents.sources)
    license_id = f"https://spdx.org/licenses/{metadata.license}"
    doi = None if metadata.doi is None else f"https://doi.org/{metadata.doi}"
    persons = [
        {
            "@id": f"https://orcid.org/{one.orcid}" if one.orcid else f"#author-{k}",
            "@type": "Person",
            "name": one.name,
            "affiliation": one.affiliation,
        }
        for k, one in enumerate(metadata.authors, 1)
    ]
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": metadata.title or f"Artifact: {names}",
        "description": description
        or "Raw measurements, what was measured, and every result with the command that gives it.",
        "datePublished": date,
        "license": None if metadata.license is None else {"@id": license_id},
        "identifier": doi,
        "author": [{"@id": one["@id"]} for one in persons],
        "hasPart": [{"@id": quote(path)} for path in sorted(contents.files)],
        "mentions": [{"@id": f"#{one.name}"} for one in contents.analyses],
    }
    graph: list[dict[str, Any]] = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
            "about": {"@id": "./"},
        },
        {key: value for key, value in root.items() if value != []},
        *(_file(path, record) for path, record in sorted(contents.files.items())),
        {
            "@id": _SOFTWARE,
            "@type": "SoftwareApplication",
            "name": "fairtrial",
            "version": VERSION,
            "softwareRequirements": f"Python {contents.python}",
            "installUrl": None if wheel is None else {"@id": quote(wheel)},
        },
        *(_action(one) for one in contents.analyses),
        *persons,
    ]
    if metadata.license is not None:
        graph.append({"@id": license_id, "@type": "CreativeWork", "name": metadata.license})
    known = [{key: value for key, value in one.items() if value is not None} for one in graph]
    document = {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": known}
    text = json.dumps(document, indent=1, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _file(path: str, record: FileRecord) -> dict[str, Any]:
    return {
        "@id": quote(path),
        "@type": "File",
        "name": path,
        "contentSize": str(record.bytes),
        "sha256": record.sha256,
        "encodingFormat": _FORMATS.get(path[path.rfind(".") :]) if "." in path else None,
    }


def _action(one: Analysis) -> dict[str, Any]:
    words = one.command[1:]
    places = [(word, word.partition(":")[0]) for word in words]
    read = [word for word in words if word.startswith("sources/")]
    read += [f"{at}/measurements.jsonl" for word, at in places if word.startswith("trials/")]
    read += [f"{FLEET_PLACE}/{FLEET}" for _, at in places if at == FLEET_PLACE]
    return {
        "@id": f"#{one.name}",
        "@type": "CreateAction",
        "name": shlex.join(("fairtrial", *one.command)),
        "instrument": {"@id": _SOFTWARE},
        "object": [{"@id": quote(path)} for path in read],
        "result": {"@id": quote(one.result)},
    }


UNPACK_OUTPUTS = 'for tar in trials/*/outputs.tar; do mkdir "${tar%.tar}" && tar -xf "$tar" -C "${tar%.tar}"; done'


def readme_text(
    contents: Contents,
    description: str | None,
    claims: Sequence[StoredClaim],
    whole: Sequence[Sequence[str]],
    executed: Sequence[str],
) -> str:
    """Give the page in Markdown.

    `whole` holds the arguments of `fairtrial` that measure all of it again, `executed` every command
    of the campaigns, as `executed_lines` writes it.
    """
    blocks = (
        *_head(contents, description),
        *_first_steps(contents),
        *_claims(claims),
        *_results(contents),
        *_needs(contents),
        *_rerun(contents, whole, executed),
        *_without(contents),
        *_missing(contents),
    )
    return "\n\n".join(blocks) + "\n"


def wheel_in(contents: Contents) -> str | None:
    """Give the place of our own code in the bundle, where it was packed."""
    return _WHEEL if _WHEEL in contents.files else None


def _head(contents: Contents, description: str | None) -> Iterator[str]:
    metadata = contents.metadata
    names = ", ".join(one.name for one in contents.sources)
    yield f"# {_safe(metadata.title or f'Artifact: {names}')}"
    if metadata.authors:
        yield _safe(
            "; ".join(
                one.name if one.affiliation is None else f"{one.name} ({one.affiliation})"
                for one in metadata.authors
            )
        )
    if description is not None:
        yield _safe(description)
    for name, value in (("Licence", metadata.license), ("DOI", metadata.doi)):
        if value is not None:
            yield f"{name}: {_safe(value)}"
    yield (
        f"Packed by fairtrial {VERSION} on Python {contents.python}. It holds the raw measurements, what was "
        "measured, on what, and every result that was computed from them with its command line."
    )


def _first_steps(contents: Contents) -> Iterator[str]:
    wheel = wheel_in(contents)
    yield "## Check it in one command"
    yield "With fairtrial installed, this checks every hash and computes every result again:"
    # released bundles have one more empty line here without the wheel
    yield _code("fairtrial reproduce artifact.zip") + ("\n" if wheel is None else "")
    if wheel is not None:
        yield (
            "Without it: unpack this archive, and install the fairtrial that made it, with the same "
            "libraries (from the Python Package Index):"
        )
        yield _code(
            "python3 -m venv env",
            f"env/bin/pip install -r software/requirements.txt {wheel}",
            "env/bin/fairtrial reproduce artifact.zip",
        )
    if contents.report is not None:
        yield f"`{contents.report.result}` is the report on the first source: open it in any browser."


def _claims(claims: Sequence[StoredClaim]) -> Iterator[str]:
    if not claims:
        return
    yield "## Claims"
    yield "Each sentence rests on one value of what a command prints, here and on your machine:"
    rows = (
        (
            str(k),
            _safe(one.claim.text),
            _ticked(f"fairtrial {shlex.join(one.claim.command)}"),
            _ticked(one.claim.value),
            _safe(said_of(one.claim)),
            _ticked(json.dumps(one.found, ensure_ascii=False)),
            "yes" if one.holds else "**no**",
        )
        for k, one in enumerate(claims, 1)
    )
    head = (
        "| # | claim | command | value | must be | found | holds |\n|--:|---|---|---|---|---|---|"
    )
    yield _table(head, rows)


def _results(contents: Contents) -> Iterator[str]:
    yield "## Results and their commands"
    yield (
        "Executed in the folder of the unpacked archive, each prints its file, byte for byte. What the "
        "programs wrote is packed once more, and belongs beside the measurements:"
    )
    yield _code(UNPACK_OUTPUTS)
    made = [(one.result, one.command, one.seed) for one in contents.analyses]
    if contents.report is not None:
        made.append((contents.report.result, contents.report.command, None))
    rows = (
        (
            _ticked(result),
            _ticked(f"fairtrial {shlex.join(command)}"),
            "none" if seed is None else str(seed),
        )
        for result, command, seed in made
    )
    yield _table("| result | command | seed |\n|---|---|---|", rows)
    yield (
        "Other versions of the libraries, or another processor, may change the last digits of a number; "
        "`fairtrial reproduce` says which differ, and by how much."
    )


def _needs(contents: Contents) -> Iterator[str]:
    needs = contents.needs
    yield "## What it takes"
    lines = [
        f"Disk: {_size(needs.disk_bytes)} unpacked.",
        "Computing all results again: any machine with Python 3.11 or newer; nothing is measured.",
    ]
    if needs.run_s is not None:
        lines.append(f"Measuring again: {_time(needs.run_s)}, as here; less with `--sessions`.")
    host = (
        needs.cpu_model,
        None if needs.cpus is None else f"{needs.cpus} CPUs online",
        None if needs.memory_bytes is None else f"{_size(needs.memory_bytes)} of memory",
        needs.architecture,
        needs.distribution,
        None if needs.kernel is None else f"Linux {needs.kernel}",
    )
    told = [text for text in host if text is not None]
    if told:
        lines.append(f"Measured on: {_safe('; '.join(told))}.")
    if needs.max_rss_bytes is not None:
        lines.append(f"Largest memory of a run: {_size(needs.max_rss_bytes)}.")
    lines += [f"{_safe(name)}: {_safe(text)}" for name, text in needs.compilers.items()]
    lines += [
        f"Container, {_safe(name)}: {_ticked(str(value))}"
        for name, value in (contents.container or {}).items()
    ]
    yield "\n".join(f"- {line}" for line in lines)


def _rerun(
    contents: Contents, whole: Sequence[Sequence[str]], executed: Sequence[str]
) -> Iterator[str]:
    if all(one.campaign is None for one in contents.sources):
        return
    smoke = contents.smoke
    end = "" if executed else "\n"  # released bundles have one more empty line here
    yield "## Measure again"
    yield (
        "This executes programs of the bundle: builds, hooks and benchmarks. The first command shows them, "
        "executes them only with `--yes-execute`, and compares the conclusions with those here:"
    )
    rerun = _code("fairtrial reproduce --rerun artifact.zip --sessions 2")
    yield rerun + (end if smoke is None else "")
    if smoke is not None:
        took = "" if smoke.time_s is None else f" ({_time(smoke.time_s)})"
        yield f"By hand, in the unpacked folder: a small run{took} that shows whether all is there,"
        small = shlex.join(("fairtrial", *smoke.command))
        again = (f"fairtrial {shlex.join(words)}   # as it was measured" for words in whole)
        yield _code(small, *again) + end
    if executed:
        yield "These commands are executed, and no others; a rerun refuses a campaign with further ones:"
        yield _code(*executed)


def _without(contents: Contents) -> Iterator[str]:
    yield "## Check it without fairtrial"
    yield "In the unpacked folder, with coreutils and tar:"
    yield _code(f"sha256sum -c {SUMS}")
    yield (
        "`trials/*/measurements.jsonl` holds one JSON object a run; what the programs wrote lies in "
        "`trials/*/outputs.tar`. `bundle.json` lists every file with its hash and every result with its "
        "command; `ro-crate-metadata.json` says the same in the terms of RO-Crate 1.1."
    )
    if contents.redacted is not None:
        counts = ", ".join(f"{name} {n} times" for name, n in contents.redacted.replaced.items())
        yield (
            f"Names were taken out before the hashes were made ({counts or 'nothing was found'}); "
            "`redacted` in `bundle.json` lists the files and the hashes that they had."
        )


def _missing(contents: Contents) -> Iterator[str]:
    if not contents.missing:
        return
    yield "## What is not here"
    rows = (
        (_safe(one.what), _safe(one.why), "" if one.sha256 is None else f"`{one.sha256}`")
        for one in contents.missing
    )
    yield _table("| what | why | SHA-256 |\n|---|---|---|", rows)


def _code(*lines: str) -> str:
    return "\n".join(("```sh", *lines, "```"))


def _table(head: str, rows: Iterable[Sequence[str]]) -> str:
    return "\n".join((head, *(f"| {' | '.join(cells)} |" for cells in rows)))


_SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>#|&~"})
_AT_START = re.compile(
    r"^(|\d+(?=[.)](?: |$)))([-+=.)])"
)  # where a paragraph begins, these make a list or a line


def _safe(text: str) -> str:
    """Write a foreign text so that Markdown takes it for text, on one line."""
    return _AT_START.sub(r"\1\\\2", " ".join(text.split()).translate(_SPECIAL))


def _ticked(text: str) -> str:
    """Write a foreign text as code; a bar would end the cell of a table."""
    plain = " ".join(text.split()).replace("|", "\\|")
    longest = max(map(len, re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    inside = f" {plain} " if longest or not plain else plain
    return f"{fence}{inside}{fence}"


def _size(size: int) -> str:
    return figures.quantity(float(size), "B")


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
