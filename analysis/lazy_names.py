"""How a package hands on its public names without importing the rooms that hold them.

Every package has its face in ``__init__``: the names that others may use. A type checker reads them
as plain imports; at run time a room is imported when one of its names is first asked for.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from typing import Any


def hands_on(
    package: str, rooms: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Give the ``__getattr__`` and ``__dir__`` of a package."""
    homes = {name: room for room, names in rooms.items() for name in names.split()}

    def find(name: str) -> Any:  # noqa: ANN401 - a module attribute may be anything
        room = homes.get(name)
        if room is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(f"{package}.{room}"), name)
        setattr(sys.modules[package], name, found)  # asked once
        return found

    return find, lambda: sorted(homes)


def put_off(*names: str) -> None:
    """Let modules of a package wait until something of theirs is used, whoever imports them first."""
    for name in names:
        spec = None if name in sys.modules else importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            continue
        spec.loader = loader = importlib.util.LazyLoader(spec.loader)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        loader.exec_module(module)
        package, _, own = name.rpartition(".")
        setattr(sys.modules[package], own, module)
