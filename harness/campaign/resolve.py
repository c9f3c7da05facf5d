"""From a checked document to the campaign: builds, counted events, the question, and what only they can show."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.errors import CampaignError, UsageError
from analysis.record.run_numbers import METRIC_NUMBERS, PEAK, PEAK_SINCE_START, metrics_of
from analysis.record.trial_files import BUILD_METRICS, ENERGY_METRICS
from analysis.record.yaml_reader import Faults, Location, decoded, quote, read_bytes, read_document
from analysis.registry import shipped
from analysis.words import alike, normal

from ..host.counter_events import EVENTS, RawEventError, parse_raw
from .cells import MAX_CELLS, CampaignEntry, CellMaker, ServiceMaker, entries
from .distributions import built_files, stopping_by_builds, with_quantiles, written_by_others
from .model import (
    LAYOUT_SEED,
    Build,
    Campaign,
    Cell,
    CheckPolicy,
    CounterEvent,
    Counting,
    Hooks,
    Isolation,
    Protocol,
    Sink,
)
from .nested_kinds import chosen_cpus
from .scalar_kinds import (
    NAME,
    NAME_NEEDS,
    SEED_NAME,
    Filler,
    known_here,
    names_in,
    nearest,
)
from .schema import (
    CHECKS,
    COUNTERS,
    HOOKS,
    ISOLATION,
    PROTOCOL,
    Table,
    check_shape,
    completed,
    fields_of,
    known_keys,
    section_at,
    todays_defaults,
)

_NAMED = 3  # benchmarks that a message names
_TEMPLATES = (
    "build",
    "hooks",
    "inputs",
    "commit",
    "services",
)  # at the top, whose texts use values
_LEAST_SERIES = 3  # variants: two are a comparison
_COMMIT = re.compile(r"(?!-)[^\s\x00-\x1f\x7f]{1,200}")  # what git takes for the name of a commit


def judged_metrics(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Give the metrics that the key names, the first one first; none without it."""
    return (given,) if isinstance(given, str) else tuple(given or ())


def _lacking(without: Sequence[Cell], cells: Sequence[Cell]) -> str:
    names = list(dict.fromkeys(cell.benchmark for cell in without))
    text = ", ".join(quote(name) for name in names[:_NAMED])
    if len(names) > _NAMED:
        return f"benchmarks {text} and {len(names) - _NAMED} more have"
    if len(names) > 1:
        return f"benchmarks {text} have"
    all_of_it = [cell for cell in cells if cell.benchmark == names[0]]
    if len(without) == len(all_of_it):
        return f"benchmark {text} has"
    variants = ", ".join(quote(cell.variant) for cell in without[:_NAMED])
    more = f" and {len(without) - _NAMED} more" if len(without) > _NAMED else ""
    plural = "s" * (len(without) > 1)
    return f"benchmark {text} with variant{plural} {variants}{more} has"


class Resolver:
    """Resolves one campaign; all that is wrong is reported to its `faults`."""

    def __init__(
        self, given: Mapping[str, Any], faults: Faults, defaults: Table, own: Table
    ) -> None:
        self.faults, self.document = faults, faults.document
        self.defaults, self.own = defaults, own
        self.values = completed("", given, {**defaults, **own})
        self.filler = Filler(faults)
        self._before = len(faults.problems)
        self.variants = entries(faults, "variants", self.values["variants"])
        self.benchmarks = entries(faults, "benchmarks", self.values["benchmarks"])
        self.notes: list[str] = []

    def resolve(self, seed: int | None, text: bytes) -> Campaign | None:
        """Make the campaign; ``None`` when there are too many cells to look at each."""
        values, faults = self.values, self.faults
        if len(self.variants) * len(self.benchmarks) > MAX_CELLS:
            what = (
                f"{len(self.variants):,} variants x {len(self.benchmarks):,} benchmarks"
                f" are more than {MAX_CELLS:,} cells"
            )
            faults.key(("benchmarks",), what, "measure fewer at a time")
            return None
        maker = CellMaker(values, self.defaults, self.filler)
        serving = ServiceMaker(
            values["services"], self.variants, maker.root, self.defaults, self.filler
        )
        maker.ports = serving.ports
        cells = tuple(
            maker.cell(benchmark, variant)
            for benchmark in self.benchmarks
            for variant in self.variants
        )
        builds = tuple(self._builds(maker))
        protocol = self._protocol(values["protocol"])
        counting = self._counting(values["counters"], protocol)
        campaign = Campaign(
            name=values["name"],
            description=values["description"],
            seed=values["seed"] if seed is None else seed,
            baseline=self._baseline(),
            variants=tuple(entry.name for entry in self.variants),
            benchmarks=tuple(entry.name for entry in self.benchmarks),
            judge=judged_metrics(values["judge"]),
            series=values["series"],
            commit=self._commits(values["commit"]),
            cells=cells,
            builds=builds,
            services=serving.make(),
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
        self._short_series()
        self._unmeasured(cells, counting, builds)
        self._unused_values()
        # the values that are there, but wrong themselves
        self.filler.finish({str(place[-1]) for place in faults.places if place})
        if len(faults.problems) == self._before:  # else what is filled in may be wrong
            self._refuse_shared_files(builds)
            for one in built_files(cells, builds, maker.metric_places):
                faults.key(*one)
        self.notes += maker.notes + self.filler.notes + written_by_others(cells, builds)
        for part, those in (("variants", self.variants), ("benchmarks", self.benchmarks)):
            self.notes += [
                f"the {part} {quote(one)} and {quote(two)} look alike: rename one, or they will be mixed up"
                for one, two in alike(entry.name for entry in those)
            ]
        return campaign

    def _baseline(self) -> str:
        names = [entry.name for entry in self.variants]
        given: str | None = self.values["baseline"]
        if given is None:
            first = names[0] if names else ""
            if len(names) == 1:
                self.notes.append("there is one variant: it is measured, not compared")
            elif not self.faults.touch(("baseline",)):
                self.notes.append(
                    f"no baseline is named: the first variant, '{first}', is the baseline"
                )
            return first
        broken = any(
            place[:1] == ("variants",) and (len(place) <= 2 or place[2] == "matrix")
            for place in self.faults.places
        )
        if given not in names and not broken:
            fix = known_here(given, names, names[:20])
            self.faults.report(("baseline",), f"the baseline {quote(given)} is no variant", fix)
        return given

    def _commits(self, given: str | Mapping[str, str]) -> dict[str, str]:
        if not isinstance(given, str):
            return {}
        found = {}
        names = {*names_in(given)}
        for variant in self.variants:
            who = f"for variant {quote(variant.name)}"
            values = {**variant.values, "variant": variant.name}
            text = self.filler.text(("commit",), given, values, who)
            filled = names <= values.keys() if names else text != "-"  # else it is reported there
            if filled and _COMMIT.fullmatch(text) is None:
                what = f"{quote(text, 100)} names no commit {who}"
                fix = "write a hash or a tag: 1 to 200 signs without blanks, the first one no '-'"
                self.faults.report(("commit",), what, fix)
                break
            found[variant.name] = text
        return found

    def _short_series(self) -> None:
        """Refuse a series with too few variants to separate one place in it from another."""
        count = len(self.variants)
        if not self.values["series"] or count >= _LEAST_SERIES or self.faults.touch(("variants",)):
            return
        there = "is" if count == 1 else "are"
        what = f"a series has {_LEAST_SERIES} variants or more, and here {there} {count}"
        self.faults.report(("series",), what, "name more variants, or leave 'series' out")

    def _builds(self, maker: CellMaker) -> Iterator[Build]:
        for variant in self.variants:
            own = "build" in variant.given
            path: Location = (*variant.path, "build") if own else ("build",)
            given = variant.given["build"] if own else self.values["build"]
            values = {**variant.values, "variant": variant.name}
            who = f"in the build of variant {quote(variant.name)}"
            longer = isinstance(given, Mapping) and "run" in given
            found = completed("build.", given if longer else {"run": given}, self.defaults)
            artifacts = maker.artifacts((*path, "artifacts"), found["artifacts"], values, who)
            path = (*path, "run") if longer else path
            if found["each"] == "session":
                self._refuse_own_seed(variant)
                values[SEED_NAME] = LAYOUT_SEED
            steps = self.filler.steps(path, found["run"], values, who)
            if steps:
                env = maker.build_environment(variant, values, who)
                yield Build(
                    variant=variant.name,
                    steps=steps,
                    cwd=maker.root,
                    env=env,
                    each=found["each"],
                    artifacts=artifacts,
                )

    def _refuse_shared_files(self, builds: Sequence[Build]) -> None:
        for build in builds:
            others = [one for one in builds if one.variant != build.variant]
            for path in build.artifacts if build.each == "session" else ():
                other = next((one.variant for one in others if path in one.artifacts), None)
                if other is None:
                    continue
                variant = next(one for one in self.variants if one.name == build.variant)
                own = "build" in variant.given
                place: Location = (
                    (*variant.path, "build", "artifacts") if own else ("build", "artifacts")
                )
                name = path.relative_to(build.cwd) if path.is_relative_to(build.cwd) else path
                what = f"the builds of {quote(build.variant)} and {quote(other)} make one file, {quote(str(name))}"
                fix = "in each session one would overwrite it for the other: put {variant} into its name"
                self.faults.report(place, what, fix)
                return

    def _refuse_own_seed(self, variant: CampaignEntry) -> None:
        if SEED_NAME in variant.values:
            what = f"'{SEED_NAME}' is the seed of each session's build (each: session)"
            place = variant.places[SEED_NAME]
            self.faults.report(place, what, "choose another name for the value", key=True)

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
            self.faults.report(
                ("protocol", "stop", name), what, "raise max_runs, or lower min_runs"
            )
        return dataclasses.replace(protocol, runs=rule.max_runs)

    def _counting(self, given: Any, protocol: Protocol) -> Counting | None:  # noqa: ANN401 - a list or a mapping
        if given is None:
            return None
        at: Location = ("counters",) if isinstance(given, list) else ("counters", "events")
        values = {"events": given} if isinstance(given, list) else given
        fields = fields_of(COUNTERS, completed("counters.", values, self.defaults))
        known = {name: value for name, value in fields.items() if value is not None}
        events = tuple(self._events(known.pop("events"), at))
        counting = Counting(events=events, **known)
        self._uncounted_metrics({event.name for event in events})
        self._blocks(counting, protocol)
        return counting

    def _events(self, given: Iterable[Any], at: Location) -> Iterator[CounterEvent]:
        names: set[str] = set()
        for index, one in enumerate(given):
            place: Location = (*at, index)
            event = CounterEvent(name=one) if isinstance(one, str) else CounterEvent(**one)
            if event.raw is not None:
                try:
                    parse_raw(event.raw or "")
                except RawEventError as error:
                    what = f"the event {quote(event.raw or '')} {error.what}"
                    self.faults.report((*place, "raw"), what, error.fix)
                if event.name in EVENTS:
                    what = f"{quote(event.name)} is an event that is known by this name"
                    fix = f"write '- {event.name}' in place of the mapping, or choose another name"
                    self.faults.report((*place, "name"), what, fix)
                elif event.name in METRIC_NUMBERS:
                    what = f"{quote(event.name)} is a metric that is always measured"
                    self.faults.report((*place, "name"), what, "choose another name")
                elif event.name in ENERGY_METRICS:
                    what = f"{quote(event.name)} is what 'energy: on' measures"
                    self.faults.report((*place, "name"), what, "choose another name")
                place = (*place, "name")
            if event.name in names:
                self.faults.report(
                    place, f"the event {quote(event.name)} stands here twice", "delete one"
                )
            names.add(event.name)
            yield event

    def _uncounted_metrics(self, names: set[str]) -> None:
        texts: set[Location] = set()
        for entry in (*self.variants, *self.benchmarks):
            for name in entry.given.get("metrics", ()):
                place: Location = (*entry.path, "metrics", name)
                if name in names and place not in texts:
                    texts.add(place)
                    what = f"the metric {quote(name)} is counted in this campaign (key 'counters')"
                    fix = "choose another name, or leave the event out there"
                    self.faults.report(place, what, fix, key=True)

    def _blocks(self, counting: Counting, protocol: Protocol) -> None:
        """Refuse what would count nothing, or leave a stopping rule too little to look at."""
        place: Location = ("counters", "every")
        rule = protocol.stop
        if counting.every > protocol.runs:
            what = f"a session has {protocol.runs} blocks: with every: {counting.every} none is counted"
            self.faults.report(place, what, "lower it, or give more runs")
        elif rule is not None and counting.uncounted(rule.max_runs) < rule.min_runs:
            left = counting.uncounted(rule.max_runs)
            what = (
                f"{left} of at most {rule.max_runs} blocks are not counted, and 'stop' looks at no fewer"
                f" than {rule.min_runs} of those"
            )
            self.faults.report(place, what, "raise 'every' or stop.max_runs")

    def _unmeasured(
        self, cells: Sequence[Cell], counting: Counting | None, builds: Sequence[Build]
    ) -> None:
        """Report the metrics to judge that some benchmark will not have, and name it."""
        if any(map(self.faults.touch, (("variants",), ("benchmarks",), ("counters",)))):
            return
        given = self.values["judge"]
        everywhere = [*METRIC_NUMBERS, *(ENERGY_METRICS if self.values["energy"] else ())]
        everywhere += [] if counting is None else [event.name for event in counting.events]
        for service in self.values["services"] or ():
            everywhere += [name for name, _ in metrics_of(service, PEAK, PEAK_SINCE_START)]
        everywhere += BUILD_METRICS if len(builds) == len(self.variants) else ()
        if self.values["protocol"].get("stop"):
            for one in stopping_by_builds(cells, judged_metrics(given)[:1]):
                self.faults.key(*one)
        for index, metric in enumerate(judged_metrics(given)):
            without = [cell for cell in cells if metric not in dict(with_quantiles(cell.metrics))]
            if metric in everywhere or not without:
                continue
            declared = {name: rule for cell in cells for name, rule in with_quantiles(cell.metrics)}
            fix = known_here(metric, known := list(dict.fromkeys((*declared, *everywhere))))
            if metric in declared:
                fix = "declare it there under 'metrics', or judge one that all benchmarks have: "
                fix += ", ".join(name for name in known if name != metric)
            place: Location = ("judge",) if isinstance(given, str) else ("judge", index)
            what = f"{_lacking(without, cells)} no metric {quote(metric)}, which is to be judged"
            self.faults.report(place, what, fix)

    def _isolation(self, values: Mapping[str, Any]) -> Isolation:
        cpus = chosen_cpus(values["cpus"], ("isolation", "cpus"), self.faults)
        padding = 0 if values["padding"] == "off" else values["padding"]
        return Isolation(**fields_of(ISOLATION, values) | {"cpus": cpus, "padding": padding})

    def _checks(self, values: Mapping[str, Any]) -> CheckPolicy:
        for index, name in enumerate(values["warn"]):
            if name in values["require"]:
                what = f"the check '{name}' is both required and only warning"
                self.faults.report(("checks", "warn", index), what, "delete it in one of the lists")
        return CheckPolicy(**fields_of(CHECKS, values))

    def _unused_values(self) -> None:
        """Report the values that no template uses: they are typing errors, or left over."""
        shared = set().union(*(self._names((part,)) for part in _TEMPLATES))
        own: dict[Location, set[str]] = {}
        for entry in [*self.variants, *self.benchmarks]:
            if entry.path not in own:
                own[entry.path] = self._names(entry.path)
        of_part = {
            part: {name for path, names in own.items() if path[0] == part for name in names}
            for part in ("variants", "benchmarks")
        }
        plain = {("protocol",), ("isolation",), ("counters",), ("judge",), ("series",)}
        if any(place[:1] not in plain for place in self.faults.places):
            # What was left out may hold the template that uses a value: look at all texts.
            shared |= {*names_in(self.document.value)}
        done: set[Location] = set()
        for entry in [*self.variants, *self.benchmarks]:
            other = "benchmarks" if entry.path[0] == "variants" else "variants"
            uses = (shared, own[entry.path], of_part[other])
            for name, place in entry.places.items():
                if place not in done and not any(name in used for used in uses):
                    done.add(place)
                    self._unused(entry, name, place, set().union(*uses))

    def _unused(self, entry: CampaignEntry, name: str, place: Location, used: set[str]) -> None:
        missing = sorted(used - entry.values.keys() - {"variant", "benchmark", SEED_NAME})
        if len(place) == 3 and not nearest(name, missing) and nearest(name, known_keys(entry.path)):
            section_at(place[:-1]).unknown(self.faults, place)
            return
        near = nearest(name, missing)
        fix = f"did you mean '{near}'?" if near else f"use it as {{{name}}}, or delete it"
        what = f"no template uses the value {quote(name)} of {entry.path[0]}.{entry.path[1]}"
        self.faults.key(place, what, fix)

    def _names(self, path: Location) -> set[str]:
        value: Any = self.document.value
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        if path[0] not in _TEMPLATES:  # it has values, too; an unknown key may be a misspelt one
            known, given = known_keys(path), value if isinstance(value, dict) else {}
            value = [
                item
                for key, item in given.items()
                if key not in {"matrix", "timeout", "stdout", "stderr"}
                and (key in known or nearest(key, known))
            ]
        return set(names_in(value))


# --- Read a campaign file, choose a part of it, or write a first one.


def one_cell(campaign: Campaign, named: str) -> Campaign:
    """Give a campaign of one cell, executed once after one warm-up, its output kept."""
    benchmark, colon, variant = named.partition(":")
    if not colon:
        raise UsageError(f"'{named}' names no cell", "--only", "write --only BENCHMARK:VARIANT")
    for kind, name, names in (
        ("benchmark", benchmark, campaign.benchmarks),
        ("variant", variant, campaign.variants),
    ):
        if name not in names:
            fix = known_here(name, names, names[:20])
            raise UsageError(f"there is no {kind} '{name}'", "--only", fix)
    cell = campaign.cell(benchmark, variant)
    return _part(
        campaign,
        warmup=1,
        benchmarks=(benchmark,),
        variants=(variant,),
        baseline=variant,
        builds=tuple(build for build in campaign.builds if build.variant == variant),
        services=tuple(service for service in campaign.services if service.serves(variant)),
        cells=(dataclasses.replace(cell, stdout=_kept(cell.stdout), stderr=_kept(cell.stderr)),),
    )


def one_block(campaign: Campaign) -> Campaign:
    """Give a campaign of the first block alone: each cell once."""
    return _part(campaign, warmup=0)


def _kept(sink: Sink) -> Sink:
    return "keep" if sink == "file" else sink


def _part(campaign: Campaign, *, warmup: int, **changes: object) -> Campaign:
    protocol = dataclasses.replace(
        campaign.protocol,
        sessions=1,
        runs=1,
        warmup=warmup,
        stop=None,
        max_runs=None,
        max_time_s=None,
        disturbed="keep",
        never_ok="go_on",
    )
    hooks = dataclasses.replace(campaign.hooks, finish=())
    counters = campaign.counters and dataclasses.replace(campaign.counters, every=1)
    parts = {"protocol": protocol, "hooks": hooks, "counters": counters} | changes
    return dataclasses.replace(campaign, **parts)  # type: ignore[arg-type]  # each is its field's


def starter_text(name: str) -> str:
    """Give the text of a commented campaign to start from."""
    if not NAME.fullmatch(name):
        raise UsageError(
            f"a campaign cannot be named {quote(name)}",
            fix=f"use {NAME_NEEDS}",
        )
    text = shipped("harness/campaign/starter.yaml").read_text(encoding="utf-8")
    # In quotes, so that a name such as 'null' stays a text.
    return text.replace("name: starter ", f'name: "{name}" ', 1)


MAX_SEED = 2**63 - 1


def load_campaign(
    path: Path,
    *,
    seed: int | None = None,
    defaults: Table | None = None,
    own: Table | None = None,
    text: bytes | None = None,
) -> Campaign:
    """Read, check and resolve a campaign file; with `text`, as if that stood in it, whether it is there or not.

    `defaults` are those of the version that began a trial, `own` those of the person.
    """
    if seed is not None and not 0 <= seed <= MAX_SEED:
        raise UsageError(f"the seed must be from 0 to {MAX_SEED}, not {seed}")
    data = read_bytes(path) if text is None else text
    document = read_document(decoded(data, path), str(path))
    given, faults = check_shape(document)
    campaign = None
    if given is not None:
        table = {**todays_defaults(), **(defaults or {})}
        resolver = Resolver(given, faults, table, own or {})
        campaign = resolver.resolve(seed, data)
    if faults.problems or campaign is None:
        raise CampaignError(sorted(faults.problems, key=lambda one: one.place))
    return dataclasses.replace(campaign, notes=tuple(dict.fromkeys(resolver.notes)))


def campaign_name(path: Path) -> str:
    """Read only the name of a campaign, by which its trials are found."""
    document = read_document(decoded(read_bytes(path), path), str(path))
    given = document.value.get("name") if isinstance(document.value, dict) else None
    if isinstance(given, str) and NAME.fullmatch(given):
        return normal(str(given))
    raise CampaignError(check_shape(document)[1].problems)
