"""Names as a target can hold them: changed where they must be, and never two made one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ...errors import UsageError
from ...report import figures
from ..cells import Loss

__all__ = ["names_lost", "renamed"]


def renamed(names: Iterable[str], change: Callable[[str], str], where: str) -> dict[str, str]:
    """Give each name as the target holds it.

    Raises
    ------
    UsageError
        If two would have one name; `where` is the source.
    """
    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    for name in names:
        told = change(name)
        if told in taken:
            raise UsageError(
                f"the file would hold {taken[told]!r} and {name!r} under one name, {told!r}",
                where,
                "rename one of them, or write a table: --to long-csv",
            )
        found[name], taken[told] = told, name
    return found


def names_lost(why: str, *changed: Mapping[str, str]) -> Iterator[Loss]:
    """Say which names were changed, and why."""
    told = tuple(
        f"{ours!r} becomes {theirs!r}"
        for names in changed
        for ours, theirs in names.items()
        if ours != theirs
    )
    if told:
        yield Loss(code="names-changed", text=f"names, {why}: {figures.listed(told, 3)}")
