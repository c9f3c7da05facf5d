"""What a reader should know before trusting a comparison of two trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..data import Trial
from ..report import Caution, figures
from .result import TrialSide

__all__ = ["hidden_cautions", "lone_pair", "side_cautions", "structure_cautions"]

_OF_ONE = {"variants": "variants-of-one-trial", "benchmarks": "benchmarks-of-one-trial"}


def structure_cautions(
    old: Trial,
    new: Trial,
    sides: tuple[TrialSide, TrialSide],
    only: Sequence[Mapping[str, tuple[str, ...]]],
    *,
    same: bool,
) -> Iterator[Caution]:
    """Say where the trials are one, share runs, or have not the same things to compare."""
    if same:
        yield Caution("same-trial", "both are one trial, which always agrees with itself")
    else:
        shared = sorted(_names(old) & _names(new))
        if shared:
            yield Caution(
                "runs-shared",
                f"both hold runs of trial {figures.listed(shared)}: their sessions are not "
                "independent, and a difference looks smaller than it is",
                tuple(shared),
            )
    if sides[0].baseline != sides[1].baseline and lone_pair(*sides) is None:
        used = next((one.baseline for one in sides if _in_both(one.baseline, sides)), None)
        said = "no variant is the baseline of both" if used is None else f"{used} is taken in both"
        yield Caution(
            "baselines-differ",
            f"the baseline is {sides[0].baseline} in {sides[0].label} and {sides[1].baseline} in "
            f"{sides[1].label}: {said}",
            (sides[0].baseline, sides[1].baseline),
        )
    lone = lone_pair(*sides)
    if lone is not None:
        yield Caution(
            "variants-renamed",
            f"each trial has one variant, {lone[0]} and {lone[1]}: they are taken for the same, and "
            "only how fast their runs were is compared",
            lone,
        )
    for side, rest in zip(sides, only, strict=True):
        for what, names in rest.items():
            if names and not (lone is not None and what == "variants"):
                yield Caution(
                    _OF_ONE[what],
                    f"only {side.label} has the {_counted(what, names)}: "
                    f"{figures.listed(names, 8)} take{'s' * (len(names) == 1)} no part",
                    (side.label, *names),
                )
    common = [name for name in sides[0].variants if name in sides[1].variants]
    if len(common) == 1:
        yield Caution(
            "one-variant",
            f"both trials have one variant in common, {common[0]}: there is no speedup to compare, "
            "only how fast its runs were",
            (common[0],),
        )
    if not common and lone is None:
        yield Caution("no-common-results", "the trials have no variant in common")
    elif not set(sides[0].benchmarks) & set(sides[1].benchmarks):
        yield Caution("no-common-results", "the trials have no benchmark in common")
    if (common or lone) and not same:
        yield Caution(
            "levels-confounded",
            "the levels of two trials differ by all that differed between them, such as host, hour "
            "and kernel: they tell nothing of a program by itself",
        )


def lone_pair(old: TrialSide, new: TrialSide) -> tuple[str, str] | None:
    """Give the variants of two trials that have one each, of different names; else None."""
    if len(old.variants) == len(new.variants) == 1 and old.variants != new.variants:
        return old.variants[0], new.variants[0]
    return None


def _in_both(name: str, sides: tuple[TrialSide, TrialSide]) -> bool:
    return all(name in side.variants for side in sides)


def _counted(what: str, names: tuple[str, ...]) -> str:
    return what if len(names) > 1 else what.removesuffix("s")


def _names(trial: Trial) -> set[str]:
    """Give the names of the trials in which the runs were measured."""
    own = {trial.manifest.trial}
    return {part.trial for part in trial.manifest.merged_from} or own


def hidden_cautions(count: int) -> Iterator[Caution]:
    """Say how much of the environments cannot be compared, because names were taken out."""
    if count:
        several = "things" if count > 1 else "thing"
        yield Caution(
            "environment-redacted",
            f"names were taken out of a trial: of {count} {several} in the environments nobody can tell "
            "whether they differ",
        )


def side_cautions(old: Trial, new: Trial, labels: tuple[str, str]) -> Iterator[Caution]:
    """Say what holds for the runs of each trial; what holds for both is said once."""
    theirs = {(caution, caution.text) for caution in new.cautions}
    shared = [caution for caution in old.cautions if (caution, caution.text) in theirs]
    yield from shared
    for trial, label in ((old, labels[0]), (new, labels[1])):
        yield from (caution.of(label) for caution in trial.cautions if caution not in shared)
