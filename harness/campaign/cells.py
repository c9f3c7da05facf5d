"""The cells of a campaign: variants and benchmarks, matrices written out, every template filled in."""

from __future__ import annotations

import hashlib
import math
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from analysis.record.json_paths import JsonPathError, parse_path
from analysis.record.manifest import WarmupIterations, quantile_metric
from analysis.record.run_numbers import Better
from analysis.record.trial_files import ENERGY_METRICS
from analysis.record.yaml_reader import Faults, Location, quote

from .distributions import UnitError, not_a_distribution, number_in, quantiles_of
from .model import (
    LAYOUT_SEED,
    SEEN_SINKS,
    Bound,
    Campaign,
    Cell,
    Each,
    Expect,
    MetricRule,
    Ready,
    Service,
    Sink,
    When,
    port_mark,
    texts_of,
)
from .nested_kinds import chosen_cpus
from .scalar_kinds import (
    NAME,
    SEED_NAME,
    Filler,
    known_here,
    names_in,
    nearest,
)
from .schema import Table, completed, fields_of
from .target_schema import EXPECT, METRIC, SERVICE, VARIANT

MAX_CELLS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignEntry:
    """One variant or benchmark: the keys that it gives, and its values for templates."""

    name: str
    path: Location
    given: Mapping[str, Any]
    values: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, Location] = field(default_factory=dict)


def entries(
    faults: Faults, part: str, sections: Mapping[str, Mapping[str, Any] | None]
) -> list[CampaignEntry]:
    """Write out every matrix of one part of the campaign, "variants" or "benchmarks"."""
    found: dict[str, CampaignEntry] = {}
    for name, section in sections.items():
        given = section or {}
        path: Location = (part, name)
        values = {key: text for key, text in given.items() if key not in VARIANT.keys}
        matrix: Mapping[str, list[str]] = given.get("matrix", {})
        for key in matrix.keys() & values.keys():
            faults.key(
                (*path, key), f"{quote(key)} is a value and a parameter of the matrix", "delete one"
            )
        if math.prod(len(items) for items in matrix.values()) > MAX_CELLS:
            what = f"the matrix has more than {MAX_CELLS:,} combinations"
            faults.key((*path, "matrix"), what, "measure fewer at a time")
            continue
        for combination in product(*matrix.values()):
            chosen = dict(zip(matrix, combination, strict=True))
            suffixes = [re.sub(r"[^A-Za-z0-9._+-]+", "_", text) for text in chosen.values()]
            places: dict[str, Location] = {key: (*path, key) for key in values}
            places |= {key: (*path, "matrix", key) for key in chosen}
            entry = CampaignEntry(
                name="-".join([str(path[1]), *suffixes]),
                path=path,
                given=given,
                values={**values, **chosen},
                places=places,
            )
            if not _refused(faults, entry, found.get(entry.name)):
                found[entry.name] = entry
    return list(found.values())


def _refused(faults: Faults, entry: CampaignEntry, other: CampaignEntry | None) -> bool:
    place = (*entry.path, "matrix") if "matrix" in entry.given else entry.path
    if other is not None:
        what = f"the name {quote(entry.name, 100)} is taken by {other.path[0]}.{other.path[1]}"
        faults.key(
            place, what, "let the values of the matrix differ in letters, digits and . _ + -"
        )
        return True
    if not NAME.fullmatch(entry.name):
        what = f"the matrix makes the name {quote(entry.name, 60)}, which is longer than 100 (50 where not all are ASCII)"
        faults.key(place, what, "use shorter names or values")
        return True
    return False


# The fields of a cell that are not simply what its variant or benchmark says, and those that are.
_MADE = ("command", "cwd", "stdin", "inputs", "env", "expect", "metrics")
_PLAIN = {
    name: key.field for name, key in VARIANT.keys.items() if key.field and key.field not in _MADE
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scope:
    """Who gives something (the later one wins), the values for templates, and for messages who."""

    entries: tuple[CampaignEntry, ...]
    values: Mapping[str, str]
    who: str

    def pick(self, key: str) -> tuple[Any, Location]:
        """Find what `key` is here, and where it stands; None when nobody gives it."""
        for entry in reversed(self.entries):
            if key in entry.given:
                return entry.given[key], (*entry.path, key)
        return None, (*self.entries[0].path, key)

    def merged(self, key: str) -> dict[str, tuple[Any, Location]]:
        """Merge the mappings that are given as `key`, by name."""
        merged: dict[str, tuple[Any, Location]] = {}
        for entry in self.entries:
            given: Mapping[str, Any] = entry.given.get(key, {})
            merged |= {name: (value, (*entry.path, key, name)) for name, value in given.items()}
        return merged


class CellMaker:
    """Makes cells; where both give something, the variant takes precedence over its benchmark."""

    def __init__(self, values: Mapping[str, Any], defaults: Table, filler: Filler) -> None:
        self.faults = filler.faults
        self.hooks: Mapping[str, Any] = values["hooks"]
        self.inputs: list[str] = values["inputs"] or []
        self.build: Any = values["build"]
        self.counts_energy: bool = values["energy"]
        self.timeout_s: float | None = values["protocol"]["timeout"]
        self.defaults = defaults
        self.filler = filler
        self.source = Path(self.faults.document.name).absolute()
        self.root = self.source.parent
        self.notes: list[str] = []
        self.ports: Mapping[str, str] = {}  # of services, for commands, variables and hooks
        self._without_command: set[Location] = set()
        self._kinds: dict[str, tuple[str, Better]] = {}
        self._warmups: dict[str, WarmupIterations] = {}
        self._without_build: set[Location] = set()
        self._whens: dict[str, When] = {}
        self.metric_places: dict[tuple[str, str, str], Location] = {}
        self._regexes: dict[Location, re.Pattern[str] | None] = {}

    def cell(self, benchmark: CampaignEntry, variant: CampaignEntry) -> Cell:
        """Make one cell."""
        values = {
            **benchmark.values,
            **variant.values,
            "variant": variant.name,
            "benchmark": benchmark.name,
        }
        who = f"for variant {quote(variant.name)} with benchmark {quote(benchmark.name)}"
        scope = _Scope(entries=(benchmark, variant), values=values, who=who)
        command, command_path = scope.pick("command")
        if command is None:
            command = []
            self._no_command(benchmark, variant)
        cwd = self._path(scope, "cwd") or self.root
        values = {**values, **self.ports}
        plain = self._plain(scope)
        sinks: dict[str, Sink] = {name: plain[name] for name in ("stdout", "stderr")}
        if plain["timeout_s"] is None:
            plain["timeout_s"] = self.timeout_s
        return Cell(
            benchmark=benchmark.name,
            variant=variant.name,
            command=self.filler.command(command_path, command, values, who),
            cwd=cwd,
            stdin=self._path(scope, "stdin"),
            inputs=self._inputs(scope),
            env=self._environment(scope),
            expect=self._expect(scope, sinks["stdout"]),
            metrics=self._metrics(scope, cwd, sinks),
            before=self.filler.steps(("hooks", "before"), self.hooks["before"], values, who),
            after=self.filler.steps(("hooks", "after"), self.hooks["after"], values, who),
            **plain,
        )

    def _plain(self, scope: _Scope) -> dict[str, Any]:
        """Give the fields of a cell that are what the file says, with no template in them."""
        fields = {}
        for name, kept in _PLAIN.items():
            given, _ = scope.pick(name)
            fields[kept] = self.defaults[f"variants.*.{name}"] if given is None else given
        return fields

    def build_environment(
        self, variant: CampaignEntry, values: Mapping[str, str], who: str
    ) -> dict[str, str]:
        """Give the variant's variables for its build, without those that need a benchmark or a session."""
        scope = _Scope(entries=(variant,), values=values, who=who)
        kept = {}
        for name, (text, path) in scope.merged("env").items():
            missing = {*names_in(text)} - values.keys()
            if not missing:
                kept[name] = self.filler.text(path, text, values, who)
            else:
                on = "session" if missing <= {SEED_NAME, *self.ports} else "benchmark"
                self.notes.append(
                    f"the build of '{variant.name}' is executed without the variable"
                    f" '{name}': its value depends on the {on}"
                )
        return kept

    def _no_command(self, benchmark: CampaignEntry, variant: CampaignEntry) -> None:
        for entry in (benchmark, variant):
            misspelt = any(nearest(key, ("command",)) for key in entry.values)
            if misspelt or self.faults.touch(entry.path):
                return  # that is, or may be, the same mistake
        if benchmark.path in self._without_command:
            return
        self._without_command.add(benchmark.path)
        name = quote(str(benchmark.path[1]))
        what = f"benchmark {name} has no command for variant {quote(variant.name)}"
        fix = "give 'command' in the benchmark, or in every variant"
        self.faults.report(benchmark.path, what, fix, key=True)

    def _path(self, scope: _Scope, key: str) -> Path | None:
        text, place = scope.pick(key)
        return None if text is None else self.root / self._file(place, text, scope)

    def _file(self, place: Location, text: str, scope: _Scope) -> str:
        if not text:
            self.faults.report(place, "a path must not be empty", "name a file or folder")
        return self.filler.text(place, text, scope.values, scope.who)

    def _inputs(self, scope: _Scope) -> tuple[Path, ...]:
        given: list[tuple[Location, list[str]]] = [(("inputs",), self.inputs)]
        given += [
            ((*entry.path, "inputs"), entry.given.get("inputs", [])) for entry in scope.entries
        ]
        return self._files(given, scope)

    def artifacts(
        self, path: Location, given: list[str], values: Mapping[str, str], who: str
    ) -> tuple[Path, ...]:
        """Give the files that a build makes, each once."""
        return self._files([(path, given)], _Scope(entries=(), values=values, who=who))

    def _files(self, given: list[tuple[Location, list[str]]], scope: _Scope) -> tuple[Path, ...]:
        return tuple(
            dict.fromkeys(
                self.root / self._file((*place, index), text, scope)
                for place, texts in given
                for index, text in enumerate(texts)
            )
        )

    def _environment(self, scope: _Scope) -> dict[str, str]:
        own = {**scope.values, **self.ports}  # a value of that name is the file's
        values = own if SEED_NAME in own else {**own, SEED_NAME: LAYOUT_SEED}
        return {
            name: self.filler.text(path, text, values, scope.who)
            for name, (text, path) in scope.merged("env").items()
        }

    def _expect(self, scope: _Scope, stdout: Sink) -> Expect:
        given, path = scope.pick("expect")
        values = completed("expect.", given or {}, self.defaults)
        for key in ("sha256", "regex", "file"):
            if values[key] is not None and stdout not in SEEN_SINKS:
                self._discarded((*path, key), f"'{key}'", "stdout")
        if values["regex"] is not None:
            self._regex((*path, "regex"), values["regex"])
        if values["file"] is not None:
            values["file"] = self.root / self._file((*path, "file"), values["file"], scope)
        if values["sha256"] is not None:
            values["sha256"] = values["sha256"].lower()
        if not isinstance(values["exit"], list):
            values["exit"] = [values["exit"]]
        values["metrics"] = list(self._bounds(scope, (*path, "metrics"), values["metrics"] or {}))
        return Expect(**fields_of(EXPECT, values))

    def _bounds(
        self, scope: _Scope, path: Location, given: Mapping[str, Mapping[str, str]]
    ) -> Iterator[Bound]:
        rules = {name: rule for name, (rule, _) in scope.merged("metrics").items()}
        rules = {
            quantile_metric(name, share): rule
            for name, rule in rules.items()
            for share in rule.get("quantiles", ())
        } | rules
        for name, words in given.items():
            place: Location = (*path, name)
            if name not in rules:
                what = f"{quote(name)} is no metric that is declared there"
                fix = known_here(name, list(rules)) if rules else "declare it under 'metrics'"
                self.faults.report(place, what, fix, key=True)
                continue
            rule = rules[name]
            if rule.get("when") == "build":
                what = (
                    f"the metric {quote(name)} is a number of the build, and no run can keep to it"
                )
                self.faults.report(place, what, "let a build step fail instead", key=True)
                continue
            bounds = {}
            for key, text in words.items():
                try:
                    bounds[key] = number_in(text, rule["unit"])
                except UnitError as error:
                    fix = f"write it in {rule['unit']}"
                    self.faults.report((*place, key), str(error), fix)
            if len(bounds) == 2 and bounds["at_least"] > bounds["at_most"]:
                what = f"'at_least' is more than 'at_most': no value of {quote(name)} keeps to both"
                self.faults.report((*place, "at_least"), what, "exchange them")
            yield Bound(metric=name, **bounds)

    def _metrics(
        self, scope: _Scope, cwd: Path, sinks: Mapping[str, Sink]
    ) -> tuple[MetricRule, ...]:
        given = scope.merged("metrics")
        rules = tuple(self._metric(scope, name, cwd, sinks) for name in given)
        for name, rule, _ in quantiles_of(rules):
            kind = (rule.unit, rule.better)
            first = self._kinds.setdefault(name, kind)
            if first != kind:
                what = f"the metric {quote(name)} is in {first[0]}, {first[1]} is better, elsewhere"
                place: Location = (*given[rule.name][1], "quantiles")
                self.faults.report(place, what, "leave it out here, or rename that metric")
        return rules

    def _metric(self, scope: _Scope, name: str, cwd: Path, sinks: Mapping[str, Sink]) -> MetricRule:
        given, path = scope.merged("metrics")[name]
        rule = completed("metrics.*.", given, self.defaults)
        kind = (rule["unit"], rule["better"])
        if self.counts_energy and name in ENERGY_METRICS:
            what = f"the metric '{name}' is measured, by 'energy: on'"
            self.faults.report(path, what, "choose another name", key=True)
        first = self._kinds.setdefault(name, kind)
        if first != kind:
            what = f"the metric {quote(name)} is in {first[0]}, {first[1]} is better, elsewhere"
            self.faults.report(path, what, "give one unit and one direction to a name", key=True)
        warmup = self._warmups.setdefault(name, rule["warmup_iterations"])
        if warmup != rule["warmup_iterations"]:
            what = f"the metric {quote(name)} has 'warmup_iterations: {warmup}' elsewhere"
            self.faults.report(path, what, "write the same wherever the name stands", key=True)
        when = self._whens.setdefault(name, rule["when"])
        if when != rule["when"] and "build" in {when, rule["when"]}:
            what = f"the metric {quote(name)} has 'when: {when}' elsewhere"
            fix = "choose another name, or write the same: builds and runs share no metric"
            self.faults.report(path, what, fix, key=True)
        if rule["regex"] is not None:
            self._metric_regex((*path, "regex"), rule["regex"])
        if rule["json"] is not None:
            try:
                parse_path(rule["json"])
            except JsonPathError as error:
                what = f"the JSON path is wrong: {error}"
                self.faults.report((*path, "json"), what, "write it as in results[*].time")
        for key, what, fix in not_a_distribution(rule):
            self.faults.report((*path, key), what, fix)
        self.metric_places[scope.values["benchmark"], scope.values["variant"], name] = path
        source = rule["from"]
        if rule["when"] != "run":
            self._when(scope, path, rule)
        if source in sinks:
            if rule["when"] == "run" and sinks[source] not in SEEN_SINKS:
                self._discarded(path, f"the metric {quote(name)}", source, key=True)
        else:
            rule["from"] = cwd / self._file((*path, "from"), source, scope)
        return MetricRule(name=name, **fields_of(METRIC, rule))

    def _when(self, scope: _Scope, path: Location, rule: Mapping[str, Any]) -> None:
        """Refuse a place that says nothing new at the time when it is read, and iterations of builds."""
        place: Location = (*path, "when")
        for key in ("warmup_iterations", "quantiles") if rule["when"] == "build" else ():
            if rule[key]:
                what = f"the metric {quote(str(path[-1]))} is a number of the build, which has no iterations"
                self.faults.report((*path, key), what, f"leave '{key}' out")
        if rule["when"] == "after":
            if rule["from"] in {"stdout", "stderr"}:
                what = (
                    f"no hook changes what the run wrote to {rule['from']}: 'after' is for a file"
                )
                fix = "name the file that a hook writes under 'from', or leave 'when' out"
                self.faults.report(place, what, fix)
        elif not scope.entries[-1].given.get("build", self.build):
            if place not in self._without_build:  # of several variants the first is named
                what = f"the variant {quote(scope.values['variant'])} has no build"
                fix = "give it one, or declare the metric in the variants that have one"
                self.faults.report(place, what, fix)
            self._without_build.add(place)
        elif rule["from"] == "stderr":
            what = "what the steps of a build write is one text"
            self.faults.report((*path, "from"), what, "write from: stdout, which holds both")

    def _metric_regex(self, path: Location, text: str) -> None:
        pattern = self._regex(path, text)
        if pattern and pattern.groups != 1 and "value" not in pattern.groupindex:
            what = f"the regex needs one group for the value, and has {pattern.groups}"
            fix = (
                "put (...) around the number, (?:...) around other parts, or name it (?P<value>...)"
            )
            self.faults.report(path, what, fix)

    def _regex(self, path: Location, text: str) -> re.Pattern[str] | None:
        if path not in self._regexes:
            try:
                with warnings.catch_warnings():  # of what a later Python may read otherwise
                    warnings.simplefilter("ignore", FutureWarning)
                    self._regexes[path] = re.compile(text, re.MULTILINE)
            except (re.error, OverflowError, RecursionError) as error:
                self._regexes[path] = None
                fix = "Python's 're' reads it; put the text in single quotes, which keep '\\'"
                self.faults.report(path, f"the regex is wrong: {error}", fix)
        return self._regexes[path]

    def _discarded(self, path: Location, what: str, stream: str, *, key: bool = False) -> None:
        self.faults.report(
            path,
            f"{what} looks at {stream}, which is discarded",
            f"set '{stream}: file' there, or delete this",
            key=key,
        )


# --- The seed by which a session's own build draws its layout, and where ``{layout_seed}``
# stands in a campaign.
#
# A loaded campaign keeps the placeholder, as a mark that no file can hold: a literal
# ``{{layout_seed}}`` stays what
# it is, and a command whose seed was forgotten cannot be executed. Each session fills in its own.


_MOST = 2**31 - 1  # what linkers take; 0 and negative numbers have meanings of their own there


def layout_seed(seed: int, session: int, variant: str, node: str | None = None) -> int:
    """Give the seed of a variant's layout in a session, from the campaign's seed: 1 to 2^31 - 1.

    `node` is the host's name in a fleet, whose hosts draw layouts of their own.
    """
    text = f"layout:{seed}:{session}:{variant}"
    if node is not None:
        text += f":{node}"
    drawn = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return 1 + drawn % _MOST


# --- Which files the builds of sessions make, as far as their campaign tells: they are
# others in each session.


@dataclass(frozen=True, slots=True)
class SessionBuilds:
    """Of each variant that each session builds: the files and folders in which lies what its build makes.

    That are its `artifacts`, the programs that its commands name by a path of the campaign (``build/prog``), and
    all below the campaign's folder and the build's. A program of the host (``/usr/bin/python3``) is made by nobody.
    """

    places: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, campaign: Campaign, each: Each = "session") -> SessionBuilds:
        """Take them from a loaded campaign; nothing is looked for on the disk but where links lead.

        With `each` "campaign" they are those of the builds that are made once for all sessions.
        """
        found: dict[str, set[Path]] = {}
        for build in campaign.builds:
            if build.each == each:
                found[build.variant] = {campaign.source.parent, build.cwd, *build.artifacts}
        for cell in campaign.cells:
            name = cell.command.argv[0]
            if cell.variant in found and "/" in name and not Path(name).is_absolute():
                found[cell.variant].add(cell.cwd / name)
        return cls({variant: frozenset(map(_real, paths)) for variant, paths in found.items()})

    def made(self, path: Path, variant: str) -> bool:
        """Tell whether the build of a variant makes the file, in each session anew."""
        real = Path(_real(path))
        places = self.places.get(variant, frozenset())
        return any(str(place) in places for place in (real, *real.parents))


def _real(path: Path) -> str:
    return os.path.realpath(path)


# --- The services of a campaign: one for all variants or one for each, and the ports in texts that
# name them.


_MOST_PORT = 65535
_PLACES = "it may stand in commands, 'env', the hooks 'before' and 'after', and in services"


class _Given(NamedTuple):
    """One service as the file has it; `names` are those that its texts use."""

    name: str
    path: Location
    section: Mapping[str, Any]
    names: frozenset[str]

    @property
    def knows_its_port(self) -> bool:
        return f"{self.name}.port" in self.names or self.section["ready"]["port"] is not None


class ServiceMaker:
    """Makes the services; `ports` are the values that the texts of cells may use then."""

    def __init__(
        self,
        given: Mapping[str, Mapping[str, Any]] | None,
        variants: Sequence[CampaignEntry],
        root: Path,
        defaults: Table,
        filler: Filler,
    ) -> None:
        self._variants, self._root, self._filler = variants, root, filler
        self._given = [self._read(name, one, defaults) for name, one in (given or {}).items()]
        self.ports = {
            f"{one.name}.port": port_mark(one.name) for one in self._given if one.knows_its_port
        }
        for one in self._given:
            what = f"'{{{one.name}.port}}' is the port of a service, and cannot stand here"
            fix = _PLACES
            if not one.knows_its_port:
                what = f"'{{{one.name}.port}}' is a port that the service {quote(one.name)} never hears of"
                fix = f"put {{{one.name}.port}} into its own command, or fix the port: ready: {{port: ...}}"
            filler.misplaced[f"{one.name}.port"] = (what, fix)

    def make(self) -> tuple[Service, ...]:
        """Make them, in the order in which they stand."""
        made: list[Service] = []
        own: set[str] = set()  # that exist once for each variant
        for number, one in enumerate(self._given):
            self._look_at_ports(one, self._given[:number])
            shared = {f"{other.name}.port" for other in self._given if other.name not in own}
            if one.names - shared:  # an unknown name is reported with those of the variants
                own.add(one.name)
            variants = self._variants if one.name in own else (None,)
            made += (self._service(one, variant) for variant in variants)
        self._refuse_one_port_for_two(made)
        return tuple(made)

    def _read(self, name: str, given: Mapping[str, Any], defaults: Table) -> _Given:
        found = completed("services.*.", given, defaults)
        ready = {**found["ready"], "output": None}  # a regex is no template
        names = names_in([found["command"], found["cwd"], found["env"], ready])
        return _Given(name, ("services", name), found, frozenset(names))

    def _look_at_ports(self, one: _Given, before: Sequence[_Given]) -> None:
        """Refuse ports of services that have none yet, and a service that is ready nobody knows when."""
        earlier = {other.name: other for other in before}
        for other in self._given:
            if f"{other.name}.port" not in one.names or other.name == one.name:
                continue
            if other.name not in earlier:
                what = f"the service {quote(one.name)} uses the port of {quote(other.name)}, which starts after it"
                self._problem(
                    one.path,
                    what,
                    f"write {quote(other.name)} first: services start in their order",
                )
            elif one.section["each"] == "session" and other.section["each"] == "run":
                what = f"{quote(one.name)} stands during a session and uses the port of {quote(other.name)}, which does not"
                self._problem(one.path, what, "write 'each: run' for both, or for none of them")
        ready = one.section["ready"]
        if ready["output"] is None and ready["command"] is None and not one.knows_its_port:
            what = f"nothing tells when the service {quote(one.name)} is ready"
            fix = f"put {{{one.name}.port}} into its command, or write ready: {{output: REGEX}}, {{command: ...}} or {{port: ...}}"
            self._problem(one.path, what, fix)

    def _service(self, one: _Given, variant: CampaignEntry | None) -> Service:
        values = dict(self.ports)
        who = f"in the service {quote(one.name)}"
        if variant is not None:
            values = {**variant.values, "variant": variant.name, **values}
            who += f" of variant {quote(variant.name)}"
        found, fill = one.section, self._filler
        cwd = self._root
        if found["cwd"] is not None:
            plain = {name: text for name, text in values.items() if name not in self.ports}
            cwd /= fill.text((*one.path, "cwd"), found["cwd"], plain, who)
        made = {
            "command": fill.command((*one.path, "command"), found["command"], values, who),
            "cwd": cwd,
            "env": {
                name: fill.text((*one.path, "env", name), text, values, who)
                for name, text in (found["env"] or {}).items()
            },
            "cpus": chosen_cpus(found["cpus"], (*one.path, "cpus"), fill.faults),
            "ready": self._ready((*one.path, "ready"), found["ready"], values, who),
        }
        fields = fields_of(SERVICE, {**found, "ready": {**found["ready"], "port": None}}) | made
        return Service(name=one.name, variant=None if variant is None else variant.name, **fields)

    def _ready(
        self, path: Location, texts: Mapping[str, Any], values: Mapping[str, str], who: str
    ) -> Ready:
        port = command = None
        if texts["port"] is not None:
            text = self._filler.text((*path, "port"), texts["port"], values, who)
            port = int(text) if text.isdecimal() and text.isascii() and len(text) < 6 else 0
            if not (1 <= port <= _MOST_PORT or text == "-" != texts["port"]):  # '-': reported there
                what = f"'port' must be a number from 1 to {_MOST_PORT}, not {quote(text)}"
                self._problem((*path, "port"), what, "leave it out for one that is free")
        if texts["output"] is not None:
            try:
                re.compile(texts["output"])
            except (re.error, OverflowError, RecursionError) as error:
                fix = "Python's 're' reads it; put the text in single quotes, which keep '\\'"
                self._problem((*path, "output"), f"the regex is wrong: {error}", fix)
        if texts["command"] is not None:
            command = self._filler.command((*path, "command"), texts["command"], values, who)
        return Ready(port=port, output=texts["output"], command=command, timeout_s=texts["timeout"])

    def _refuse_one_port_for_two(self, made: Sequence[Service]) -> None:
        for number, one in enumerate(made):
            for other in made[:number]:
                apart = "run" in (one.each, other.each) and not (
                    one.variant is None or other.variant is None or one.variant == other.variant
                )
                apart = apart and one.each == other.each
                # 0: a wrong one, which is reported
                if one.ready.port and one.ready.port == other.ready.port and not apart:
                    what = f"the services {quote(other.label)} and {quote(one.label)} want one port, {one.ready.port}"
                    fix = "give each its own, or leave 'port' out: each gets one that is free"
                    self._problem(("services", one.name, "ready", "port"), what, fix)
                    return

    def _problem(self, path: Location, what: str, fix: str) -> None:
        self._filler.faults.report(path, what, fix, key=len(path) == 2)


def has_port(service: Service) -> bool:
    """Tell whether a service has a port: a fixed one, or one that its texts name."""
    mark = port_mark(service.name)
    return service.ready.port is not None or any(mark in text for text in texts_of(service))
