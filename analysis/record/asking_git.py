"""How git is asked: no program of a repository, no network, no lock, no other repository than the one that is named.

Sources: git(1), githooks(5), git-config(1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..words import shown

# fsmonitor is a program, and so are hooks
NO_PROGRAMS = ("core.hooksPath=/dev/null", "core.fsmonitor=false")
ALONE = {  # it asks nobody, and fetches nothing that nobody asked for
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C.UTF-8",
}
_TRUST = re.compile(r"^\s*(git config --global --add safe\.directory .+)$", re.MULTILINE)


def with_settings(*settings: str) -> list[str]:
    """Give the options of git for these settings, ``NAME=VALUE`` each."""
    return [part for one in settings for part in ("-c", one)]


def for_reading(variables: Mapping[str, str]) -> dict[str, str]:
    """Give the variables with which a repository is only read.

    None of git's own, such as ``GIT_DIR`` of a hook that starts fairtrial, leads elsewhere, and no
    protocol fetches what a partial clone lacks.
    """
    kept = {name: text for name, text in variables.items() if not name.startswith("GIT_")}
    return kept | ALONE | {"GIT_ALLOW_PROTOCOL": "none"}


def is_cut_off(said: str | bytes) -> bool:
    """Tell whether git's answer lacks its end: all that it lists has one, a newline or a null byte."""
    return said[-1:] not in {"", "\n", "\0", b"", b"\n", b"\0"}


def remedy_in(said: str) -> str | None:
    """Give the command with which git, as it says, reads a repository that another user owns."""
    found = _TRUST.search(said)
    return None if found is None else shown(found[1])
