"""The page around the chapters: one file, one policy, one style sheet, one small script."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ..plots import DARK, LIGHT, PRINT
from ..version import VERSION
from .chapter import html_of
from .model import Dossier

__all__ = ["html_page", "template"]

_HERE = Path(__file__).parent


def template(name: str) -> Environment:
    """Give the environment of the templates in a chapter's folder; everything in them is escaped."""
    return Environment(
        loader=FileSystemLoader(_HERE / name if name else _HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def html_page(dossier: Dossier) -> str:
    """Give the report as one HTML file that needs nothing else.

    The policy allows no request at all, and only the script whose hash it names.
    """
    script = "".join(path.read_text("utf-8") for path in sorted(_HERE.rglob("*.js")))
    styles = [path.read_text("utf-8") for path in sorted(_HERE.rglob("*.css"))]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    colours = (
        f":root{{{LIGHT.css()}}}"
        f"@media (prefers-color-scheme:dark){{:root{{{DARK.css()}}}}}"
        f"@media print{{:root{{{PRINT.css()}}}}}"
    )
    return (
        template("")
        .get_template("page.html.jinja")
        .render(
            dossier=dossier,
            version=VERSION,
            script=Markup(script),  # noqa: S704 - our own file
            policy=f"sha256-{digest}",
            style=Markup(colours + "".join(styles)),  # noqa: S704 - our own files
            chapters=[html_of(chapter) for chapter in dossier.chapters],
        )
    )
