"""What a campaign says of metrics that only its builds and its protocol show to be wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from analysis.record.builds import BUILD_METRICS
from analysis.record.yaml_reader import Location, quote

if TYPE_CHECKING:
    from ..model import Build, Cell, Command

# where a metric stands: by benchmark, variant and name
Places = Mapping[tuple[str, str, str], Location]


class MetricProblem(NamedTuple):
    """What is wrong at a key, and the remedy."""

    place: Location
    what: str
    fix: str


def built_files(
    cells: Iterable[Cell], builds: Sequence[Build], places: Places
) -> Iterator[MetricProblem]:
    """Find a file that a build makes in the place of one that each run writes anew."""
    made = {build.variant: frozenset(build.artifacts) for build in builds}
    told = set()
    for cell in cells:
        for rule in cell.metrics:
            place = places[cell.benchmark, cell.variant, rule.name]
            if rule.when == "build" or rule.source not in made.get(cell.variant, ()):
                continue
            if place not in told:
                what = f"the metric {quote(rule.name)} is read from a file that the build makes ('artifacts'), and that would be removed before each run"
                yield MetricProblem(place, what, "write 'when: build'")
            told.add(place)


def written_by_others(cells: Iterable[Cell], builds: Iterable[Build]) -> list[str]:
    """Note a metric of runs whose file a hook 'after' or a build names, and the run's own command does not.

    What a shell writes cannot be known, so it is a note.
    """
    steps = {build.variant: build.steps for build in builds}
    notes: dict[str, None] = {}
    for cell in cells:
        for rule in cell.metrics:
            if rule.when != "run" or isinstance(rule.source, str):
                continue
            name = rule.source.name
            if _names(name, (cell.command, *cell.before)):
                continue
            for who, when, commands in (
                ("a hook 'after'", "after", cell.after),
                ("the build", "build", steps.get(cell.variant, ())),
            ):
                if _names(name, commands):
                    text = f"the metric {quote(rule.name)} is read from {name} directly after each run, and {who} names that file"
                    notes[f"{text}: if it is written there, add 'when: {when}' to the metric"] = (
                        None
                    )
    return list(notes)


def _names(file: str, commands: Iterable[Command]) -> bool:
    word = re.compile(rf"(?<![\w.-]){re.escape(file)}(?![\w-]|\.\w)")
    return any(word.search(text) for command in commands for text in command.argv)


def stopping_by_builds(cells: Iterable[Cell], decides: Iterable[str]) -> Iterator[MetricProblem]:
    """Find a stopping rule that would look at a number of the builds: more runs change nothing of it."""
    own = {rule.name: rule.when for cell in cells for rule in cell.metrics}
    for name in decides:
        if own.get(name, "build" if name in BUILD_METRICS else "run") == "build":
            what = (
                f"'stop' counts runs, and {quote(name)}, which is judged, is a number of the builds"
            )
            fix = "leave 'stop' out, or judge a metric of the runs"
            yield MetricProblem(("protocol", "stop"), what, fix)
