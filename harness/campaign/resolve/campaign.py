"""From the model of a campaign file to the campaign: cells, builds, and what only they can show."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...errors import Problem
from ..model import Build, Campaign, CheckPolicy, Hooks, Isolation, Protocol
from ..schema.check import Shape, known_keys, unknown_key
from ..schema.defaults import Table, completed, fields_of
from ..schema.kinds import nearest
from ..schema.sections import CHECKS, HOOKS, ISOLATION, PROTOCOL
from ..source.excerpt import quote
from ..source.templates import TemplateError, parse_template
from ..source.yaml_marks import Document, Location
from .cells import CellMaker
from .counting import CountingMaker
from .cpus import FIX, cpu_numbers, said_of_range, wrong_range
from .filler import Filler
from .matrix import MAX_CELLS, Entry, entries
from .question import judged_metrics, unmeasured


class Resolver:
    """Resolves one campaign; `problems` collects everything that is wrong.

    Parameters
    ----------
    document : Document
        The file's values and marks.
    shape : Shape
        The document held against the shape of a campaign; what it gives must not be ``None``.
    defaults : Table
        What holds for keys that are left out.
    own : Table
        What holds in place of some of them, as if it stood in the file.
    """

    def __init__(self, document: Document, shape: Shape, defaults: Table, own: Table) -> None:
        assert shape.given is not None
        self.document = document
        self.shape = shape
        self.defaults = defaults
        self.own = own
        self.values = completed("", shape.given, {**defaults, **own})
        self.filler = Filler(document)
        self.variants, problems = entries(document, "variants", self.values["variants"])
        self.benchmarks, more = entries(document, "benchmarks", self.values["benchmarks"])
        self.problems: list[Problem] = problems + more
        self.notes: list[str] = []

    def resolve(self, seed: int | None, text: bytes) -> Campaign | None:
        """Make the campaign; ``None`` when there are too many cells to look at each."""
        if len(self.variants) * len(self.benchmarks) > MAX_CELLS:
            what = (
                f"{len(self.variants):,} variants x {len(self.benchmarks):,} benchmarks"
                f" are more than {MAX_CELLS:,} cells"
            )
            self._problem(("benchmarks",), what, "measure fewer at a time", key=True)
            return None
        values = self.values
        maker = CellMaker(self.document, self.shape, values, self.defaults, self.filler)
        cells = tuple(
            maker.cell(benchmark, variant)
            for benchmark in self.benchmarks
            for variant in self.variants
        )
        protocol = self._protocol(values["protocol"])
        counts = CountingMaker(self.document, self.defaults, (*self.variants, *self.benchmarks))
        counting = counts.counting(values["counters"], protocol)
        campaign = Campaign(
            name=values["name"],
            description=values["description"],
            seed=values["seed"] if seed is None else seed,
            baseline=self._baseline(),
            variants=tuple(entry.name for entry in self.variants),
            benchmarks=tuple(entry.name for entry in self.benchmarks),
            judge=judged_metrics(values["judge"]),
            cells=cells,
            builds=tuple(self._builds(maker)),
            hooks=self._hooks(values["hooks"]),
            protocol=protocol,
            isolation=self._isolation(values["isolation"]),
            checks=self._checks(values["checks"]),
            counters=counting,
            energy=values["energy"],
            share=values["share"],
            notes=(),
            source=maker.source,
            text=text,
            defaults=self.defaults,
            own_defaults=self.own,
        )
        self.problems += unmeasured(
            self.document, self.shape, values["judge"], cells, counting, energy=values["energy"]
        )
        self._unused_values()
        self.filler.finish(self._broken_values())
        self.problems += maker.problems + counts.problems + self.filler.problems
        self.notes += maker.notes + self.filler.notes
        return campaign

    def _baseline(self) -> str:
        names = [entry.name for entry in self.variants]
        given: str | None = self.values["baseline"]
        if given is None:
            first = names[0] if names else ""
            if len(names) == 1:
                self.notes.append("there is one variant: it is measured, not compared")
            elif not self.shape.touches(("baseline",)):
                self.notes.append(f"no baseline is named: the first variant, '{first}', is it")
            return first
        broken = any(
            place[:1] == ("variants",) and (len(place) <= 2 or place[2] == "matrix")
            for place in self.shape.broken
        )
        if given not in names and not broken:
            near = nearest(given, names)
            fix = f"did you mean '{near}'? Known here: " if near else "known here: "
            fix += ", ".join(names[:20])
            self._problem(("baseline",), f"the baseline {quote(given)} is no variant", fix)
        return given

    def _builds(self, maker: CellMaker) -> Iterator[Build]:
        for variant in self.variants:
            own = "build" in variant.given
            path: Location = (*variant.path, "build") if own else ("build",)
            given = variant.given["build"] if own else self.values["build"]
            values = {**variant.values, "variant": variant.name}
            who = f"in the build of variant {quote(variant.name)}"
            steps = self.filler.steps(path, given, values, who)
            if steps:
                env = maker.build_environment(variant, values, who)
                yield Build(variant=variant.name, steps=steps, cwd=maker.root, env=env)

    def _hooks(self, values: Mapping[str, Any]) -> Hooks:
        commands = {
            name: self.filler.steps(("hooks", name), values[name], {}, "")
            for name in ("setup", "cleanup", "finish")
        }
        return Hooks(**fields_of(HOOKS, values) | commands)

    def _protocol(self, values: Mapping[str, Any]) -> Protocol:
        if values["order"] == "sequential":
            self.notes.append(
                "order 'sequential': what drifts on the host during the trial looks like a"
                " difference between variants; 'shuffled' avoids that"
            )
        protocol = Protocol(**fields_of(PROTOCOL, values))
        rule = protocol.stop
        if rule is None:
            return protocol
        if rule.min_runs > rule.max_runs:
            there = ("protocol", "stop", "max_runs") in self.document.keys
            name = "max_runs" if there else "min_runs"
            what = (
                f"'{name}' makes the least of {rule.min_runs} runs more than the most,"
                f" {rule.max_runs}"
            )
            self._problem(("protocol", "stop", name), what, "raise max_runs, or lower min_runs")
        return dataclasses.replace(protocol, runs=rule.max_runs)

    def _isolation(self, values: Mapping[str, Any]) -> Isolation:
        made = {"cpus": self._cpus(values["cpus"]), "padding": _padding(values["padding"])}
        return Isolation(**fields_of(ISOLATION, values) | made)

    def _cpus(self, given: Any) -> Any:  # noqa: ANN401 - "auto", "none", or numbers in a form
        if given in {"auto", "none"} if isinstance(given, str) else False:
            return given
        if isinstance(given, int):
            return (given,)
        if isinstance(given, list):
            return tuple(given)
        wrong = wrong_range(given)
        if wrong is not None:
            self._problem(("isolation", "cpus"), said_of_range(wrong), FIX, part=wrong)
            return ()
        return cpu_numbers(given)

    def _checks(self, values: Mapping[str, Any]) -> CheckPolicy:
        for index, name in enumerate(values["warn"]):
            if name in values["require"]:
                what = f"the check '{name}' is both required and only warning"
                self._problem(("checks", "warn", index), what, "delete it in one of the lists")
        return CheckPolicy(**fields_of(CHECKS, values))

    def _unused_values(self) -> None:
        """Report the values that no template uses: they are typing errors, or left over."""
        shared = self._names(("build",)) | self._names(("hooks",)) | self._names(("inputs",))
        own: dict[Location, set[str]] = {}
        for entry in [*self.variants, *self.benchmarks]:
            if entry.path not in own:
                own[entry.path] = self._names(entry.path)
        of_part = {
            part: {name for path, names in own.items() if path[0] == part for name in names}
            for part in ("variants", "benchmarks")
        }
        plain = {("protocol",), ("isolation",), ("counters",), ("judge",)}
        if any(place[:1] not in plain for place in self.shape.broken):
            # What was left out may hold the template that uses a value: look at all texts.
            shared |= _names(_texts(self.document.value, whole=True))
        done: set[Location] = set()
        for entry in [*self.variants, *self.benchmarks]:
            other = "benchmarks" if entry.path[0] == "variants" else "variants"
            uses = (shared, own[entry.path], of_part[other])
            for name, place in entry.places.items():
                if place not in done and not any(name in used for used in uses):
                    done.add(place)
                    self.problems.append(self._unused(entry, name, place, set().union(*uses)))

    def _unused(self, entry: Entry, name: str, place: Location, used: set[str]) -> Problem:
        missing = sorted(used - entry.values.keys() - {"variant", "benchmark"})
        if len(place) == 3 and not nearest(name, missing) and nearest(name, known_keys(entry.path)):
            return unknown_key(self.document, place)
        near = nearest(name, missing)
        fix = f"did you mean '{near}'?" if near else f"use it as {{{name}}}, or delete it"
        what = f"no template uses the value {quote(name)} of {entry.path[0]}.{entry.path[1]}"
        return self.document.problem(place, what, fix, key=True)

    def _names(self, path: Location) -> set[str]:
        """Give the placeholders in all templates of the file at or below `path`."""
        value: Any = self.document.value
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        if path[0] in {"build", "hooks", "inputs"}:
            return _names(_texts(value, whole=True))
        return _names(_texts(value, whole=False, known=known_keys(path)))

    def _broken_values(self) -> set[str]:
        """Give the names of the values that are there, but wrong themselves."""
        return {str(place[-1]) for place in self.shape.broken if place}

    def _problem(
        self,
        path: Location,
        what: str,
        fix: str,
        *,
        key: bool = False,
        part: str | None = None,
    ) -> None:
        self.problems.append(self.document.problem(path, what, fix, key=key, part=part))


def _padding(given: int | str) -> Any:  # noqa: ANN401 - "random" or a number
    return 0 if given == "off" else given


def _texts(
    value: Any,  # noqa: ANN401 - any values
    *,
    whole: bool,
    known: Sequence[str] = (),
) -> Iterator[str]:
    """Give the texts that are templates: all, or those of a variant or benchmark with its keys."""
    if isinstance(value, str) and whole:
        yield str(value)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, whole=whole)
    elif isinstance(value, dict) and whole:
        for item in value.values():
            yield from _texts(item, whole=True)
    elif isinstance(value, dict):
        for key, item in value.items():
            # A key that is unknown may be a misspelt one.
            free = key not in known and not nearest(key, known)
            if key not in {"matrix", "timeout", "stdout", "stderr"} and not free:
                yield from _texts(item, whole=True)


def _names(texts: Iterable[str]) -> set[str]:
    names: set[str] = set()
    for text in texts:
        try:
            names.update(parse_template(text).names)
        except TemplateError:
            continue  # reported where it is filled in
    return names
