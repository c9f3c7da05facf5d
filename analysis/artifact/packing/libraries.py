"""The lock: exact versions of every library that the judge builds on, as pip and uv install them."""

from __future__ import annotations

import importlib.metadata
import platform
import re
from collections.abc import Iterable, Mapping

__all__ = ["libraries_of_this", "lock_text"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA = re.compile(r"\bextra\b")
_READERS = {".zst": "zstandard", ".zstd": "zstandard", ".parquet": "pyarrow"}  # of sources


def libraries_of_this(sources: Iterable[str] = ()) -> dict[str, str]:
    """Give the versions of what fairtrial needs, and of what that needs, as installed here.

    Parameters
    ----------
    sources : iterable of str
        Names of files in the bundle; some take a further library to be read.
    """
    found: dict[str, str] = {}
    waiting = ["fairtrial"]
    for name in sources:
        waiting += [library for ending, library in _READERS.items() if name.endswith(ending)]
    while waiting:
        name = waiting.pop()
        plain = re.sub(r"[-_.]+", "-", name).lower()
        if plain in found:
            continue
        try:
            installed = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # for another system or Python: none of ours uses it here
        found[plain] = installed.version
        for line in installed.requires or ():
            requirement, _, marker = line.partition(";")
            named = _NAME.match(requirement.strip())
            if named is not None and not _EXTRA.search(marker):
                waiting.append(named.group())
    found.pop("fairtrial", None)
    return dict(sorted(found.items()))


def lock_text(libraries: Mapping[str, str]) -> str:
    """Give ``requirements.txt``."""
    head = (
        f"# Python {platform.python_version()}; what 'fairtrial' used here. Install with\n"
        "#   pip install -r requirements.txt ./fairtrial-*.whl\n"
        "#   uv pip install -r requirements.txt ./fairtrial-*.whl\n"
    )
    return head + "".join(f"{name}=={version}\n" for name, version in libraries.items())
