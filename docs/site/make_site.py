"""Make the documentation a site that is read from a folder, without a network: ``make site``.

The pages are those of docs/ as they stand. Zensical makes them HTML: it succeeds Material for MkDocs, whose pages and
Markdown it keeps, is one wheel, checks links and anchors, and writes an index that a browser can search from a file.
What it leaves to a network, a worker for that search, is replaced by the worker itself.

Steps: copy docs/ to build/site/docs, with what its pages link to outside; navigation of docs/README.md, whose tables
name a page for each task; the report of the sample trial, as a live example; build to build/site/html.
"""

from __future__ import annotations

import html
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from harness.cli import main as fairtrial

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PLACE = ROOT / "build" / "site"
ELSEWHERE = {ROOT / "README.md": "index.md", ROOT / "runs" / "sample": "example/report.html"}
LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCKS = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
SHIM = re.compile(r'<script src="https://unpkg\.com/iframe-worker/shim"[^>]*></script>')
HOME = re.compile(r'href="(?:\./)?\.\.?(?:/\.\.)*"')
WORKER = "worker.js"
NAMES = {"README.md": "tasks.md"}  # the first page is docs/site/index.md
SETTINGS = """\
[project]
site_name = "fairtrial"
docs_dir = "docs"
site_dir = "html"
use_directory_urls = false
nav = {nav}
[project.theme]
language = "en"
font = false
features = ["content.code.copy", "navigation.footer", "navigation.sections", "search.highlight"]
[project.extra]
generator = false
[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
[project.plugins.search]
[project.plugins.offline]
[project.markdown_extensions.toc]
slugify = {{object = "pymdownx.slugs.slugify", kwds = {{case = "lower"}}}}
[project.markdown_extensions.tables]
[project.markdown_extensions.pymdownx.superfences]
[project.markdown_extensions.pymdownx.highlight]
"""


def main() -> None:
    """Make the site anew, and say where it is."""
    shutil.rmtree(PLACE, ignore_errors=True)
    staged = PLACE / "docs"
    for page in sorted(DOCS.rglob("*")):
        inside = page.relative_to(DOCS)
        if page.is_file() and page.suffix in {".md", ".png", ".svg"} and inside.parts[0] != "site":
            place = staged / NAMES.get(str(inside), inside)
            place.parent.mkdir(parents=True, exist_ok=True)
            if page.suffix == ".md":
                place.write_text(with_links(page, page, staged), "utf-8")
            else:
                shutil.copy(page, place)
    first = with_links(DOCS / "site" / "index.md", DOCS / "index.md", staged)
    (staged / "index.md").write_text(first, "utf-8")
    write_report(staged / ELSEWHERE[ROOT / "runs" / "sample"])
    (PLACE / "zensical.toml").write_text(
        SETTINGS.format(nav=as_toml(navigation())), encoding="utf-8"
    )
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(
        command,
        cwd=PLACE,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"NO_COLOR": "1", "RUST_BACKTRACE": "1"},
    )
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout}{done.stderr}")
    read_from_files(PLACE / "html")
    sys.stdout.write(f"{(PLACE / 'html' / 'index.html').relative_to(ROOT)}\n")


def with_links(page: Path, place: Path, staged: Path) -> str:
    """Give a page's text with links that hold at its place in the site; what lies outside docs/ is copied next to it."""

    def moved(found: re.Match[str]) -> str:
        link = found[1]
        name, mark, anchor = link.partition("#")
        if not name or re.match("[a-z]+:", link):
            return found[0]
        target = (page.parent / name).resolve()
        if target.is_relative_to(DOCS):
            renamed = DOCS / NAMES.get(str(target.relative_to(DOCS)), target.relative_to(DOCS))
            return f"]({_from(place, renamed)}{mark}{anchor})"
        if target in ELSEWHERE:
            return f"]({_from(place, DOCS / ELSEWHERE[target])})"
        return f"]({_from(place, DOCS / copied(target, staged))})"

    parts = BLOCKS.split(page.read_text("utf-8"))
    return "".join(part if part.startswith("```") else LINK.sub(moved, part) for part in parts)


def copied(target: Path, staged: Path) -> Path:
    """Copy a file, or the names in a folder, to where the site shows it; say where, from the site's root."""
    inside = Path("files") / target.relative_to(ROOT)
    inside = inside.with_name(f"{inside.name}.html")
    text = (
        "\n".join(sorted(one.name for one in target.iterdir()))
        if target.is_dir()
        else target.read_text("utf-8")
    )
    place = staged / inside
    place.parent.mkdir(parents=True, exist_ok=True)
    title = html.escape(str(target.relative_to(ROOT)))
    place.write_text(
        f'<!DOCTYPE html>\n<html lang="en"><meta charset="utf-8"><title>{title}</title>\n'
        f"<h1>{title}</h1>\n<pre>{html.escape(text)}</pre>\n</html>\n",
        "utf-8",
    )
    return inside


def _from(page: Path, target: Path) -> str:
    return os.path.relpath(target, page.parent)


def navigation() -> dict[str, list[str]]:
    """Give the pages of each heading of docs/README.md, in their order, and all methods."""
    found: dict[str, list[str]] = {"Home": ["index.md", "tasks.md"]}
    seen: set[str] = set()
    for part in re.split(r"^## ", (DOCS / "README.md").read_text("utf-8"), flags=re.MULTILINE)[1:]:
        heading = part.partition("\n")[0]
        links = [link.partition("#")[0] for link in LINK.findall(part)]
        found[heading] = [
            link
            for link in dict.fromkeys(links)
            if link not in seen and not link.startswith(("methods/", "../"))
        ]
        seen.update(links)
    methods = sorted(one.name for one in (DOCS / "methods").glob("*.md") if one.name != "README.md")
    found["Methods"] = [f"methods/{name}" for name in ("README.md", *methods)]
    return found


def as_toml(pages: dict[str, list[str]]) -> str:
    """Write navigation as TOML: strings and arrays are those of JSON."""
    sections = (f"{{{json.dumps(name)} = {json.dumps(links)}}}" for name, links in pages.items())
    return f"[{', '.join(sections)}]"


def write_report(place: Path) -> None:
    """Write the report of the sample trial."""
    place.parent.mkdir(parents=True, exist_ok=True)
    said = io.StringIO()
    words = ["report", str(ROOT / "runs" / "sample"), "-o", str(place)]
    if fairtrial(words, io.StringIO(), said) != 0:
        raise SystemExit(said.getvalue())


def read_from_files(site: Path) -> None:
    """Let pages search, and find home, without a server: a browser starts no worker of a file, but one of a text that it has."""
    (worker,) = site.glob("assets/javascripts/workers/search.*.js")
    code = json.dumps(worker.read_text("utf-8")).replace("</", "<\\/")
    (site / WORKER).write_text(
        "if (location.protocol === 'file:') {\n"
        f"  const code = URL.createObjectURL(new Blob([{code}], {{type: 'text/javascript'}}));\n"
        "  const Plain = window.Worker;\n"
        "  window.Worker = class extends Plain { constructor() { super(code); } };\n"
        "}\n",
        "utf-8",
    )
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        if SHIM.search(text):
            to_root = os.path.relpath(site, page.parent)
            text = SHIM.sub(f'<script src="{to_root}/{WORKER}"></script>', text)
            page.write_text(HOME.sub(f'href="{to_root}/index.html"', text), "utf-8")


if __name__ == "__main__":
    main()
