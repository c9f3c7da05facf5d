"""The command lines of a bundle: which are stored, and how an author's paths become the bundle's."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...data.fleets import open_fleet
from ...errors import FairtrialError, UsageError
from ...formats import is_foreign
from ..contents import FLEET_PLACE
from ..recomputing import fault_of_command
from .gathering import Gathered

__all__ = ["bound", "default_commands", "seed_of"]

SEEDED = frozenset({"resample", "mixture", "diagnose", "plan", "study", "sources"})


def default_commands(found: Iterable[Gathered], seed: int) -> list[tuple[str, tuple[str, ...]]]:
    """Give the analyses that every bundle holds, each with a name: what is concluded, why, how sound."""
    commands: list[tuple[str, tuple[str, ...]]] = []
    many = len(list(found)) > 1
    for one in found:
        path = one.source.path
        end = f"-{one.source.name}" if many else ""
        if one.source.kind == "fleet" or one.manifest is not None or is_foreign(one.origin):
            asked = _asked(one)
            several = asked if len(asked) > 1 else ()  # a result is one document
            first = ("--metric", asked[0]) if several else ()
            commands.append((f"verdict{end}", ("verdict", path, *first, "--json")))
            commands += [
                (f"verdict{end}-{metric}", ("verdict", path, "--metric", metric, "--json"))
                for metric in several[1:]
            ]
            if one.source.kind != "fleet":
                words = ("verdict", path, *first, "--explain", "--json")
                commands.append((f"explained{end}", words))
        commands.append(
            (f"diagnosis{end}", ("diagnose", path, "--json", *_seeded("diagnose", seed)))
        )
    return commands


def _asked(one: Gathered) -> Sequence[str]:
    """Give the metrics that the campaign names as its question; none without it, or where parts differ."""
    if one.source.kind == "fleet":
        with contextlib.suppress(FairtrialError):
            return open_fleet(one.origin).asked()
        return ()
    return (one.manifest.questions or ()) if one.manifest is not None else ()


def _seeded(name: str, seed: int) -> tuple[str, ...]:
    return ("--seed", str(seed)) if seed and name in SEEDED else ()


def seed_of(command: Sequence[str]) -> int | None:
    """Give the seed of a command's random draws; None where it makes none."""
    if command[0] not in SEEDED:
        return None
    for k, word in enumerate(command):
        value = word.partition("=")[2] if word.startswith("--seed=") else None
        if word == "--seed" and k + 1 < len(command):
            value = command[k + 1]
        if value is not None and value.isdigit():
            return int(value)
    return 0


def bound(
    command: Sequence[str], found: Sequence[Gathered], seed: int, where: str
) -> tuple[str, ...]:
    """Give a command with the bundle's paths in place of the author's.

    Parameters
    ----------
    command : sequence of str
        As the author wrote it.
    found : sequence of Gathered
        The bundle's sources.
    seed : int
        For its random draws, where it has some and says no seed.
    where : str
        What messages call it, such as ``claims.yaml:3``.

    Raises
    ------
    UsageError
        If it names something that is not in the bundle, or is none that a bundle may ask for.
    """
    words = [command[0], *(_bound(word, found, where) for word in command[1:])]
    if command[0] == "verdict" and not any(_in_bundle(word) for word in words[1:]):
        raise UsageError(
            "the command names no source; the newest trial is another one tomorrow",
            where,
            f"name a source: fairtrial {' '.join(command)} {found[0].source.path}",
        )
    if "--seed" not in words and not any(word.startswith("--seed=") for word in words):
        words += _seeded(command[0], seed)
    fault = fault_of_command(words)
    if fault is not None:
        raise UsageError(
            f"the command cannot be one of a bundle: {fault}",
            where,
            "name sources of the bundle, and options that print",
        )
    return tuple(words)


def _only(one: Gathered, found: Sequence[Gathered]) -> bool:
    """Tell whether the campaign's name means this trial, and no other."""
    names = [other.manifest.campaign_name for other in found if other.manifest is not None]
    return one.manifest is not None and names.count(one.manifest.campaign_name) == 1


def _in_bundle(word: str) -> bool:
    fleet = word == FLEET_PLACE or word.startswith(f"{FLEET_PLACE}:")
    return fleet or word.startswith(("trials/", "sources/"))


def _bound(word: str, found: Sequence[Gathered], where: str) -> str:
    if word.startswith("-"):
        return word
    for one in found:
        names = {*one.given, str(one.origin), one.source.path, one.source.name}
        if one.source.trial is not None:
            names.add(one.source.trial)
        if one.manifest is not None and _only(one, found):
            names.add(one.manifest.campaign_name)
        for name in sorted(names, key=len, reverse=True):
            plain = name.rstrip("/")
            if word.rstrip("/") == plain:
                return one.source.path
            if word.startswith(f"{plain}:"):
                return one.source.path + word[len(plain) :]
    path, _, variant = word.rpartition(":")
    for text, rest in ((word, ""), (path, f":{variant}")):
        for one in found:
            if text and os.path.exists(text) and Path(text).samefile(one.origin):  # noqa: PTH110 - any text
                return one.source.path + rest
    if ("/" in word or os.path.isfile(word)) and os.path.exists(path or word):  # noqa: PTH110, PTH113
        raise UsageError(
            f"the command reads {word}, which is not in the bundle",
            where,
            "name it as a SOURCE of the bundle too",
        )
    return word
