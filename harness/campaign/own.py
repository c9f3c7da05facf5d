"""A person's own defaults for `isolation` and `checks`: what suits the machine, not the experiment.

They hold for keys that a campaign leaves out, count as if they stood there, and are stored with
every trial, which goes on with them whatever the file says later.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import CampaignError
from .resolve.cpus import FIX, said_of_range, wrong_range
from .schema.defaults import Table
from .schema.faults import Faults
from .schema.section import Section
from .schema.sections import CHECKS, ISOLATION
from .source.text_file import decoded, read_bytes
from .source.yaml_marks import read_document

VARIABLE = "FAIRTRIAL_DEFAULTS"
_SECTIONS: Mapping[str, Section] = {"isolation": ISOLATION, "checks": CHECKS}
_NOT_HERE = "isolation.environment.set"  # part of what is measured, and may hold templates


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnDefaults:
    """Values by the key's name in the documentation, such as ``isolation.cpus``, and their file.

    `problem` says why nobody can tell whether there is such a file.
    """

    values: Table = field(default_factory=dict)
    path: Path | None = None
    problem: str | None = None

    def notes(self, given: Mapping[str, Any]) -> list[str]:
        """Say of each that the campaign leaves out what it is, and where it comes from."""
        if self.problem is not None:
            return [self.problem]
        there = {
            key
            for name, section in _SECTIONS.items()
            for key, _ in _flat(f"{name}.", section, given.get(name, {}))
        }
        where = "as the trial began" if self.path is None else f"own default, {self.path}"
        return [
            f"{key} = {value} ({where})" for key, value in self.values.items() if key not in there
        ]


def own_defaults(environment: Mapping[str, str] = os.environ) -> OwnDefaults:
    """Read the file of own defaults; nothing where there is none.

    Parameters
    ----------
    environment : mapping of str to str
        ``FAIRTRIAL_DEFAULTS`` names the file, or none when it is empty; else it is
        ``fairtrial/defaults.yaml`` below ``XDG_CONFIG_HOME`` or ``~/.config``.

    Raises
    ------
    CampaignError
        With every mistake in it, or if the file that the variable names is not there.
    """
    path, named = _place(environment)
    if path is None:
        return OwnDefaults()
    try:
        if not named and not path.is_file():
            return OwnDefaults()
    except OSError as error:  # such as the home of who called sudo
        why = f"no own defaults hold: {path} cannot be looked for ({error.strerror})"
        return OwnDefaults(path=path, problem=why)
    text = decoded(read_bytes(path), path)
    if all(line.lstrip()[:1] in {"", "#"} for line in text.splitlines()):
        return OwnDefaults(path=path)
    document = read_document(text, str(path))
    faults = Faults(document)
    given = document.value or {}
    if not isinstance(given, dict):
        what = "own defaults are a mapping of the keys 'isolation' and 'checks'"
        raise CampaignError([document.problem((), what, "begin with 'isolation:'")])
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in _SECTIONS:
            what = f"'{name}' is no section of own defaults"
            fix = "write 'isolation' or 'checks'; all else belongs into the campaign"
            faults.key((name,), what, fix)
            continue
        found = _SECTIONS[name].read(value, (name,), faults)
        if isinstance(found, dict):
            values |= dict(_flat(f"{name}.", _SECTIONS[name], found))
    if _NOT_HERE in values:
        what = "variables belong into the campaign: they are part of what is measured"
        faults.key(("isolation", "environment", "set"), what, "move them there")
    cpus = values.get("isolation.cpus")
    wrong = wrong_range(cpus) if isinstance(cpus, str) else None
    if wrong is not None:
        at = ("isolation", "cpus")
        faults.problems.append(document.problem(at, said_of_range(wrong), FIX, part=wrong))
    problems = [*document.problems, *faults.problems]
    if problems:
        raise CampaignError(problems)
    return OwnDefaults(values=values, path=path)


def _place(environment: Mapping[str, str]) -> tuple[Path | None, bool]:
    """Give the file's path, and whether it was named."""
    named = environment.get(VARIABLE)
    if named is not None:
        return (Path(named) if named else None), True
    base, home = environment.get("XDG_CONFIG_HOME"), environment.get("HOME")
    if base and base.startswith("/"):
        return Path(base, "fairtrial", "defaults.yaml"), False
    if home and home.startswith("/"):
        return Path(home, ".config", "fairtrial", "defaults.yaml"), False
    return None, False


def _flat(prefix: str, section: Section, given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in given.items():
        kind = section.keys[name].kind
        if isinstance(kind, Section) and isinstance(value, dict):
            yield from _flat(f"{prefix}{name}.", kind, value)
        else:
            yield f"{prefix}{name}", value
