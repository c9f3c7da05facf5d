"""``CITATION.cff`` and ``LICENSE`` of a bundle, made of what its authors say.

Source: Citation File Format, version 1.2.0, its schema guide. A name is taken apart as BibTeX does: "Given
Family", or "Family, Given" for a family name of several words.
"""

from __future__ import annotations

import json

from ...contents import Author, Metadata

__all__ = ["LICENSES", "citation_text", "family_and_given", "license_text"]

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
        lines += _person(author)
    if metadata.license in LICENSES:
        lines.append(f"license: {metadata.license}")
    if metadata.doi is not None:
        lines.append(f"doi: {_quoted(metadata.doi)}")
    if metadata.date is not None:
        lines.append(f"date-released: {_quoted(metadata.date)}")
    return "\n".join(lines) + "\n"


def _person(author: Author) -> list[str]:
    family, given = family_and_given(author.name)
    fields = {
        "family-names": family,
        "given-names": given,
        "affiliation": author.affiliation,
        "orcid": None if author.orcid is None else f"https://orcid.org/{author.orcid}",
    }
    lines = [f"{name}: {_quoted(value)}" for name, value in fields.items() if value is not None]
    return [f"  {'-' if k == 0 else ' '} {line}" for k, line in enumerate(lines)]


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
