"""The documents of a bundle, by a template each: CITATION.cff, README.md and the crate for machines.

Source: Citation File Format, version 1.2.0, its schema guide. A name is taken apart as BibTeX does: "Given
Family", or "Family, Given" for a family name of several words.

Source: RO-Crate Metadata Specification 1.1, "Root Data Entity", "Data Entities" and "Provenance of entities".
"""

from __future__ import annotations

import functools
import json
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

import jinja2

from ..pages import number_format as figures
from ..record.fleet import FLEET
from ..registry import shipped
from ..version import VERSION
from .claims import StoredClaim, said_of
from .contents import FLEET_PLACE, Contents, Metadata
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
    return _rendered("CITATION.cff", metadata=metadata, licenses=LICENSES)


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


def crate_text(contents: Contents, description: str | None, date: str | None) -> bytes:
    """Give the bytes of ``ro-crate-metadata.json``; what nobody said is left out."""
    license_name = contents.metadata.license
    text = _rendered(
        CRATE,
        **_common(contents),
        description=description,
        date=date,
        crate=CRATE,
        files=sorted(contents.files),
        license_id=license_name and f"https://spdx.org/licenses/{license_name}",
        persons=[
            {"@id": f"https://orcid.org/{one.orcid}" if one.orcid else f"#author-{k}"}
            for k, one in enumerate(contents.metadata.authors, 1)
        ],
    )
    document = json.loads(text)
    document["@graph"] = [
        {key: value for key, value in one.items() if value not in (None, [])}
        for one in document["@graph"]
    ]
    return json.dumps(document, indent=1, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _read_by(command: Sequence[str]) -> Iterator[str]:
    """Name the files that a command reads."""
    for word in command[1:]:
        place = word.partition(":")[0]
        if word.startswith("sources/"):
            yield word
        elif place == FLEET_PLACE:
            yield f"{FLEET_PLACE}/{FLEET}"
        elif word.startswith("trials/"):
            yield f"{place}/measurements.jsonl"


def readme_text(
    contents: Contents,
    description: str | None,
    claims: Sequence[StoredClaim],
    whole: Sequence[Sequence[str]],
) -> bytes:
    """Give the page in Markdown; `whole` holds the arguments of `fairtrial` that measure all of it again."""
    needs, redacted = contents.needs, contents.redacted
    host = (
        needs.cpu_model,
        None if needs.cpus is None else f"{needs.cpus} CPUs online",
        None if needs.memory_bytes is None else f"{_size(needs.memory_bytes)} of memory",
        needs.architecture,
        needs.distribution,
        None if needs.kernel is None else f"Linux {needs.kernel}",
    )
    text = _rendered(
        "README.md",
        **_common(contents),
        description=description,
        claims=claims,
        whole=whole,
        authors="; ".join(
            one.name if one.affiliation is None else f"{one.name} ({one.affiliation})"
            for one in contents.metadata.authors
        ),
        needs=needs,
        host="; ".join(text for text in host if text is not None),
        smoke=contents.smoke,
        counts=redacted and ", ".join(f"{name} {n} times" for name, n in redacted.replaced.items()),
    )
    return (text.rstrip("\n") + "\n").encode("utf-8", "backslashreplace")


def _common(contents: Contents) -> dict[str, Any]:
    names, wheel = ", ".join(one.name for one in contents.sources), f"software/{WHEEL}"
    return {
        "contents": contents,
        "metadata": contents.metadata,
        "heading": contents.metadata.title or f"Artifact: {names}",
        "version": VERSION,
        "wheel": wheel if wheel in contents.files else None,
    }


def _rendered(name: str, **values: Any) -> str:  # noqa: ANN401 - whatever a template sets
    return _templates().get_template(f"{name}.jinja").render(values)


@functools.cache
def _templates() -> jinja2.Environment:
    """Give the templates; nothing is escaped but by their filters."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(shipped("analysis/artifact/packing")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - Markdown, YAML and JSON
    )
    found.filters |= {
        "json": functools.partial(json.dumps, ensure_ascii=False),
        "id": lambda path: {"@id": quote(path)},
        "anchor": lambda name: {"@id": f"#{name}"},
        "quote": quote,
        "read_by": _read_by,
        "shell": lambda words: shlex.join(("fairtrial", *words)),
        "family_and_given": family_and_given,
        "said": said_of,
        "md": _safe,
        "ticked": _ticked,
        "size": _size,
        "time": _time,
    }
    return found


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
