"""A package index in a folder (PEP 503): pip and uv install from it by name, and nothing listens.

python docs/distribution/local_index.py DIST [FOLDER]     of the archives in DIST; FOLDER is DIST/simple

Their hashes stand in its links, which are relative: DIST can be moved as a whole.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from html import escape
from pathlib import Path

SUMS = "SHA256SUMS"
_PAGE = (
    "<!DOCTYPE html>\n<html><head><title>{title}</title></head>\n<body>\n{links}\n</body></html>\n"
)


def archives(dist: Path) -> list[Path]:
    """Give the wheels and source distributions of a folder."""
    return sorted((*dist.glob("*.whl"), *dist.glob("*.tar.gz")))


def write_sums(dist: Path) -> Path:
    """Write the SHA-256 of each archive as ``sha256sum -c`` reads them."""
    path = dist / SUMS
    lines = (f"{_sha256(archive)}  {archive.name}\n" for archive in archives(dist))
    path.write_text("".join(lines), encoding="ascii")
    return path


def write_index(dist: Path, folder: Path) -> Path:
    """Write the index of a folder's archives; its address is ``folder.as_uri()``."""
    packages: dict[str, list[str]] = {}
    for archive in archives(dist):
        name = re.sub(r"[-_.]+", "-", archive.name.split("-")[0]).lower()
        place = os.path.relpath(archive, folder / name)
        link = f'<a href="{escape(place)}#sha256={_sha256(archive)}">{escape(archive.name)}</a><br>'
        packages.setdefault(name, []).append(link)
    for name, links in packages.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        page = _PAGE.format(title=name, links="\n".join(links))
        (folder / name / "index.html").write_text(page, encoding="utf-8")
    links = [f'<a href="{name}/">{name}</a><br>' for name in packages]
    (folder / "index.html").write_text(
        _PAGE.format(title="packages", links="\n".join(links)), encoding="utf-8"
    )
    return folder


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    given = [Path(word) for word in sys.argv[1:]]
    sys.exit(0 if write_index(given[0], given[-1] if given[1:] else given[0] / "simple") else 1)
