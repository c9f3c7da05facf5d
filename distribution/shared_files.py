"""What is installed below share/ beside the packages: completion scripts and manual pages."""

from __future__ import annotations

from harness.commands.completion import PLACES

from .completion import script
from .man_pages import pages


def shared_files() -> dict[str, str]:
    """Give each file by its place in the environment, such as ``share/man/man1/fairtrial.1``."""
    scripts = {f"share/{place}": script(shell) for shell, place in PLACES.items()}
    return scripts | {f"share/man/man1/{name}": text for name, text in pages().items()}
