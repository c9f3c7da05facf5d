"""The services of a campaign: one for all variants or one for each, and the ports in texts that name them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.record.yaml_reader import Location, quote

from .defaults import Table, completed, fields_of
from .model import Ready, Service, port_mark, texts_of
from .nested_kinds import chosen_cpus
from .target_schema import SERVICE
from .templates import Filler, TemplateError, parse_template

if TYPE_CHECKING:
    from .cells import CampaignEntry

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
            if one.names - shared:  # a name that is unknown is told with those of the variants
                own.add(one.name)
            variants = self._variants if one.name in own else (None,)
            made += (self._service(one, variant) for variant in variants)
        self._refuse_one_port_for_two(made)
        return tuple(made)

    def _read(self, name: str, given: Mapping[str, Any], defaults: Table) -> _Given:
        said = completed("services.*.", given, defaults)
        names = frozenset(_names([said["command"], said["cwd"], said["env"], said["ready"]]))
        return _Given(name, ("services", name), said, names)

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
        said, fill = one.section, self._filler
        cwd = self._root
        if said["cwd"] is not None:
            plain = {name: text for name, text in values.items() if name not in self.ports}
            cwd /= fill.text((*one.path, "cwd"), said["cwd"], plain, who)
        made = {
            "command": fill.command((*one.path, "command"), said["command"], values, who),
            "cwd": cwd,
            "env": {
                name: fill.text((*one.path, "env", name), text, values, who)
                for name, text in (said["env"] or {}).items()
            },
            "cpus": chosen_cpus(said["cpus"], (*one.path, "cpus"), fill.faults),
            "ready": self._ready((*one.path, "ready"), said["ready"], values, who),
        }
        fields = fields_of(SERVICE, {**said, "ready": {**said["ready"], "port": None}}) | made
        return Service(name=one.name, variant=None if variant is None else variant.name, **fields)

    def _ready(
        self, path: Location, said: Mapping[str, Any], values: Mapping[str, str], who: str
    ) -> Ready:
        port = command = None
        if said["port"] is not None:
            text = self._filler.text((*path, "port"), said["port"], values, who)
            port = int(text) if text.isdecimal() and text.isascii() and len(text) < 6 else 0
            if not 1 <= port <= _MOST_PORT:
                what = f"'port' must be a number from 1 to {_MOST_PORT}, not {quote(text)}"
                self._problem((*path, "port"), what, "leave it out for one that is free")
        if said["output"] is not None:
            try:
                re.compile(said["output"])
            except (re.error, OverflowError, RecursionError) as error:
                fix = "Python's 're' reads it; put the text in single quotes, which keep '\\'"
                self._problem((*path, "output"), f"the regex is wrong: {error}", fix)
        if said["command"] is not None:
            command = self._filler.command((*path, "command"), said["command"], values, who)
        return Ready(port=port, output=said["output"], command=command, timeout_s=said["timeout"])

    def _refuse_one_port_for_two(self, made: Sequence[Service]) -> None:
        for number, one in enumerate(made):
            for other in made[:number]:
                apart = "run" in (one.each, other.each) and not (
                    one.variant is None or other.variant is None or one.variant == other.variant
                )
                apart = apart and one.each == other.each
                # 0: a wrong one, which is told
                if one.ready.port and one.ready.port == other.ready.port and not apart:
                    what = f"the services {quote(other.label)} and {quote(one.label)} want one port, {one.ready.port}"
                    fix = "give each its own, or leave 'port' out: each gets one that is free"
                    self._problem(("services", one.name, "ready", "port"), what, fix)
                    return

    def _problem(self, path: Location, what: str, fix: str) -> None:
        self._filler.faults.report(path, what, fix, key=len(path) == 2)


def _names(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            try:
                yield from parse_template(value).names
            except TemplateError:
                continue  # reported where it is filled in
        elif isinstance(value, Mapping):
            # a regex is no template
            yield from _names(item for key, item in value.items() if key != "output")
        elif isinstance(value, list):
            yield from _names(value)


def has_port(service: Service) -> bool:
    """Tell whether a service has a port: a fixed one, or one that its texts name."""
    mark = port_mark(service.name)
    return service.ready.port is not None or any(mark in text for text in texts_of(service))
