"""The answers of ``why``: explained from stored profiles, and written in the form that is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError

if TYPE_CHECKING:
    from ...why.result import WhyAnswer

NOTHING_NAMED, NOT_RESOLVED = 1, 3  # exit codes


@dataclass(frozen=True, slots=True, kw_only=True)
class Explaining:
    """How profiles are explained.

    `benchmarks` are those that are named, all where none is. `renames` has new names of functions by their old ones.
    With `any_total` functions are named although the whole difference is not there again.
    """

    benchmarks: tuple[str, ...] = ()
    renames: Mapping[str, str] = field(default_factory=dict)
    any_total: bool = False


def explained(profiles: Sequence[Path], how: Explaining) -> WhyAnswer:
    """Explain stored profiles, benchmark by benchmark.

    Raises
    ------
    UsageError
        If a benchmark is named of which nothing is stored.
    StoreError
        If a profile is damaged.
    """
    from ...announcing import doing
    from ...data.trial import read_trial
    from ...record.profiles import read_profile
    from ...why.explain import explain_by
    from ...why.result import WhyAnswer

    doing("explaining")
    stored = [read_profile(place) for place in profiles]
    known = dict.fromkeys(name for one in stored for name in one.profile.benchmarks)
    for name in how.benchmarks:
        if name not in known:
            what = f"no profile of the benchmark {name!r} is stored"
            raise UsageError(what, str(profiles[0].parent), f"stored: {', '.join(known)}")
    return WhyAnswer(
        answers=tuple(
            explain_by(one, trial, benchmark=name, renames=how.renames, any_total=how.any_total)
            for one in stored
            for trial in (read_trial(one.timed),)
            for name in one.profile.benchmarks
            if name in (how.benchmarks or known)
        )
    )


def exit_code_of(answer: WhyAnswer, *, require: bool) -> int:
    """Give 3 where no benchmark differs again, 1 where a name is required and there is none, else 0."""
    if all(one.withheld == "total-not-resolved" for one in answer.answers):
        return NOT_RESOLVED
    return NOTHING_NAMED if require and not any(one.named for one in answer.answers) else 0


def check_folded(text: str) -> None:
    """Refuse a file that cannot be written, before anything is executed."""
    from ..files import check_file

    check_file(Path(text))


def write_folded(profiles: Sequence[Path], answer: WhyAnswer, path: str) -> None:
    """Write the stacks of all answers into one file."""
    from ...record.profiles import read_profile
    from ...why.folded import folded
    from ..files import write_file

    stored = {one.profile.variant: one for one in map(read_profile, profiles)}
    write_file(Path(path), folded([(stored[one.variant], one) for one in answer.answers]))
