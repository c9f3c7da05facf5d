"""What is installed below share/ with the packages: completion scripts, manual pages, JSON Schemas."""

from __future__ import annotations

from pathlib import Path

from harness.commands.first_steps import PLACES, SCHEMAS

from .completion import script
from .man_pages import pages


def shared_files() -> dict[str, str]:
    """Give each file by its place in the environment, such as ``share/man/man1/fairtrial.1``."""
    scripts = {f"share/{place}": script(shell) for shell, place in PLACES.items()}
    manual = {f"share/man/man1/{name}": text for name, text in pages().items()}
    made = (Path(__file__).parent / "json_answers" / "files").glob("*.json")
    schemas = {f"share/{SCHEMAS}/{path.name}": path.read_text(encoding="utf-8") for path in made}
    return scripts | manual | dict(sorted(schemas.items()))
