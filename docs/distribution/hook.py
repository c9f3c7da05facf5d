"""The hook of the build: puts completion scripts, manual pages and JSON Schemas into wheel and sdist.

Scripts and pages are made from the parsers of this very source, so they cannot be outdated, and are no
part of the repository. Building needs shtab (`build-system.requires`); using fairtrial does not.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SharedFiles(BuildHookInterface):
    """Adds the files below share/ to a source distribution and a wheel, an editable one too.

    A wheel that is built of a source distribution gets new ones, which are the same.
    """

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's own
        """Make the files before the archive is put together."""
        self.made = tempfile.TemporaryDirectory(prefix="fairtrial-share-")
        known, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # the source stays as it is
        sys.path.insert(0, self.root)
        try:
            from docs.distribution.shared_files import shared_files

            files = shared_files()
        finally:
            sys.path.remove(self.root)
            sys.dont_write_bytecode = known
        of_target = {"sdist": "force_include", "wheel": "shared_data"}[self.target_name]
        for place, text in files.items():
            path = Path(self.made.name) / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            build_data[of_target][str(path)] = place

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - hatchling's own
        """Remove them once the archive holds them."""
        self.made.cleanup()
