"""What is explained: a trial, some of its candidates, and for each of them the benchmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import FairtrialError, UsageError
from ..record.fleet import is_fleet
from ..record.profiles import JudgedThen, profiles_of, read_profile
from ..words import command_line

if TYPE_CHECKING:
    from ..diagnose.why_result import WhyAnswer

# --- The answers of ``why``: explained from stored profiles, and written in the form that is wanted.


NOTHING_NAMED, NOT_RESOLVED = 1, 3  # exit codes


def explained(
    profiles: Sequence[Path],
    benchmarks: Sequence[str] = (),
    *,
    renames: Mapping[str, str] | None = None,
    any_total: bool = False,
) -> WhyAnswer:
    """Explain stored profiles, benchmark by benchmark: those that are named, all where none is.

    `renames` has new names of functions by their old ones. With `any_total` functions are named although the whole
    difference is not there again.

    Raises UsageError if nothing is stored of a named benchmark; StoreError if a profile is damaged.
    """
    from ..announcing import doing
    from ..data.trial import read_trial
    from ..diagnose.explain import explain
    from ..diagnose.why_result import WhyAnswer

    doing("explaining")
    stored = [read_profile(place) for place in profiles]
    known = dict.fromkeys(name for one in stored for name in one.profile.benchmarks)
    for name in benchmarks:
        if name not in known:
            what = f"no profile of the benchmark {name!r} is stored"
            fix = f"stored: {', '.join(map(format, known))}"
            raise UsageError(what, str(profiles[0].parent), fix)
    return WhyAnswer(
        answers=tuple(
            explain(one, timed=trial, benchmark=name, renames=renames or {}, any_total=any_total)
            for one in stored
            for trial in (read_trial(one.timed),)
            for name in one.profile.benchmarks
            if name in (benchmarks or known)
        )
    )


def exit_code_of(answer: WhyAnswer, *, require: bool) -> int:
    """Give 3 where no benchmark differs again, on or off the CPU, 1 where a name is required and there is none, else 0."""
    again = [one for one in answer.answers if one.withheld != "total-not-resolved"]
    if not again and not any(x.code == "waits" for one in answer.answers for x in one.cautions):
        return NOT_RESOLVED
    return NOTHING_NAMED if require and not any(one.named for one in answer.answers) else 0


def write_folded(profiles: Sequence[Path], answer: WhyAnswer, path: str) -> None:
    """Write the stacks of all answers into one file."""
    from ..diagnose.session_profiles import folded
    from ..record.printer import write_file

    stored = {one.profile.variant: one for one in map(read_profile, profiles)}
    each = [(stored[one.variant], one.benchmark, one.renames) for one in answer.answers]
    write_file(Path(path), folded(each))


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A candidate of a trial, on some of its benchmarks; `verdict_was` says what the verdict says of these."""

    trial: Path
    variant: str
    benchmarks: tuple[str, ...]
    verdict_was: Mapping[str, JudgedThen] = field(default_factory=dict)


def place_of(source: str | None) -> tuple[Path, str | None]:
    """Split TRIAL:VARIANT; the newest trial in ``runs/`` where nothing is named.

    Raises UsageError if it names no trial, or a fleet, which is many.
    """
    from ..importers.reader import newest_trial, trial_and_variant

    named = trial_and_variant(str(newest_trial()) if source is None else source)
    if named is None or not named[0].is_dir():
        fix = "name a trial, such as runs/NAME, or a variant of it: runs/NAME:VARIANT"
        raise UsageError("this is no trial", source, fix)
    folder, variant = named
    if is_fleet(folder):
        what = "this is a fleet: programs are executed on one host only, on this one"
        raise UsageError(what, source, f"name its trial on this host: {folder}/HOST")
    return folder, variant


def targets_of(
    folder: Path,
    variant: str | None,
    benchmarks: Sequence[str] = (),
    *,
    metric: str | None = None,
) -> tuple[Target, ...]:
    """Choose what to explain by the trial's verdict; a name that was given holds whatever the verdict says.

    Without a variant these are all that the verdict calls slower, each on the benchmarks on which it is; of a variant
    those on which it is decided, and all where none is. `metric` is what the verdict is about, by default the trial's own.

    Raises UsageError if a name is unknown, or nothing is slower; FairtrialError if nothing is named and no verdict
    can be given.
    """
    from ..data.trial import read_trial
    from ..verdict.judging import judge
    from ..verdict.sides import candidates_in, known_names

    trial = read_trial(folder)
    manifest = trial.manifest
    known_names("benchmark", benchmarks or None, manifest.benchmarks, str(folder))
    if variant is not None:
        candidates_in(trial, [variant])
    asked = None if variant is None else [variant]
    was: dict[str, dict[str, JudgedThen]] = {name: {} for name in asked or ()}
    try:
        verdict = judge(trial, metric=metric, variants=asked)
        for one in verdict.candidates:
            was[one.variant] = {
                line.name: JudgedThen(
                    outcome=line.outcome,
                    speedup=line.speedup,
                    low=line.low,
                    high=line.high,
                    metric=verdict.data.metric,
                )
                for line in (() if one.multilevel is None else one.multilevel.benchmarks)
                if not benchmarks or line.name in benchmarks
            }
    except FairtrialError:
        if asked is None:
            raise
    targets = []
    for name, known in was.items():
        decided = ("slower",) if asked is None else ("slower", "faster")
        chosen = tuple(k for k, one in known.items() if one.outcome in decided)
        if asked is not None:
            chosen = tuple(benchmarks) or chosen or manifest.benchmarks
        if chosen:
            then = known if asked is None else {k: known[k] for k in chosen if k in known}
            targets.append(Target(trial=folder, variant=name, benchmarks=chosen, verdict_was=then))
    if targets:
        return tuple(targets)
    others = [name for name in manifest.variants if name != manifest.baseline]
    if not others:
        raise UsageError("the trial has one variant: there is no difference", str(trial.path))
    what = "the verdict calls no candidate slower than the baseline"
    words = command_line(("fairtrial", "why", f"{trial.path}:" + others[0]))
    raise UsageError(what, str(trial.path), f"name one: {words}")


def stored_profiles(folder: Path, variant: str | None) -> tuple[Path, ...]:
    """Give the folders of a trial's stored profiles; of one variant where it is named.

    Raises UsageError if there are none.
    """
    place = profiles_of(folder)
    there = sorted(path for path in place.glob("[!.]*") if path.is_dir()) if place.is_dir() else []
    if variant is not None:
        there = [path for path in there if path.name == variant]
    if not there:
        source = str(folder) if variant is None else f"{folder}:{variant}"
        what = "nothing is stored: it was not yet asked why"
        raise UsageError(what, source, f"record it: {command_line(('fairtrial', 'why', source))}")
    return tuple(there)
