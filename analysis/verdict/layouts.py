"""How many layouts the sessions of a trial had, where each session builds its own, and for what its intervals speak."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..pages import number_format as figures
from ..pages.model import Caution
from ..pages.short_sentence import ShortSentence
from ..record.builds import layouts_by_session, read_builds
from ..words import shorten, shown

if TYPE_CHECKING:
    from ..data.trial import Trial

Layout = tuple[tuple[str, str], ...]
_NAMED = 3
_NAME = 28  # columns of a variant's name
_FEWEST = 2  # sessions, and layouts: of one nothing is known of others


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantLayouts:
    """Of a variant that each session builds: `layouts` different ones, in so many `sessions` that are judged."""

    variant: str
    layouts: int
    sessions: int


def drawn_layouts(trial: Trial, variants: Iterable[str]) -> dict[str, tuple[Layout, ...]]:
    """Give for each of these variants that each session builds the layout of every judged session.

    Raises
    ------
    StoreError
        If the record of the builds is damaged.
    """
    judged = np.unique(trial.session[trial.measured]).tolist()
    builds = layouts_by_session(read_builds(trial.path))
    return {
        name: tuple(builds[name][session].layout for session in judged if session in builds[name])
        for name in variants
        if name in builds
    }


def counted_layouts(each: Iterable[Mapping[str, Sequence[Layout]]]) -> tuple[VariantLayouts, ...]:
    """Count the layouts of one trial, or of the hosts of a fleet together; of builds without a hashed file nobody can."""
    found: dict[str, list[Layout]] = {}
    for drawn in each:
        for name, layouts in drawn.items():
            found.setdefault(name, []).extend(layouts)
    return tuple(
        VariantLayouts(variant=name, layouts=len(set(layouts)), sessions=len(layouts))
        for name, layouts in found.items()
        if layouts and all(layouts)
    )


def layout_cautions(drawn: Mapping[str, Sequence[Layout]]) -> Iterator[Caution]:
    """Name the variants of which two sessions had the same bytes, or nobody can tell, though each builds its own."""
    for name, layouts in drawn.items():
        if not all(layouts):
            yield Caution(
                "layout-not-varied",
                f"whether sessions had layouts of their own of {name} is not known: none of the files that they "
                "built is hashed; name them under 'artifacts'",
                (name,),
                ShortSentence.of("whether the layouts of {} differ is not known", name),
            )
    for one in counted_layouts([drawn]):
        if one.layouts < one.sessions:
            count = figures.counted(one.layouts, "layout")
            yield Caution(
                "layout-not-varied",
                f"{one.variant} has {count} in {one.sessions} sessions, by the SHA-256 of what they built: "
                "{layout_seed} does not reach the linker, or the linker does not use it",
                (one.variant,),
                ShortSentence.of(
                    f"{{}} has {count} in {one.sessions} sessions, though each builds its own",
                    one.variant,
                ),
            )


def layouts_sentences(found: Sequence[VariantLayouts], variants: Sequence[str]) -> tuple[str, ...]:
    """Say how many layouts the judged variants have, and for what their intervals speak; nothing where of one build."""
    varied = {one.variant: one.layouts for one in found if one.layouts >= _FEWEST}
    if not varied:
        return ()
    fixed = [name for name in variants if name not in varied]
    low, high = min(varied.values()), max(varied.values())
    count = f"{low}" if low == high else f"{low} to {high}"
    of = _listed([*varied]) if fixed else "each variant"
    but = f"but for one build of {_listed(fixed)}" if fixed else "not for one build"
    return (
        f"{count} layouts of {of}:",
        f"the interval speaks for layouts that the linker may draw, {but}",
    )


def _listed(names: Sequence[str]) -> str:
    return figures.listed([shorten(shown(name), _NAME) for name in names], _NAMED)
